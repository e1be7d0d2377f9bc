"""The true m, k and s of a data set under a representation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import NamedTuple

from tellapart import codec
from tellapart.errors import ParameterError
from tellapart.protocol import Feature, Item, Label
from tellapart.theory.representation import Representation


class Facts(NamedTuple):
    """What the bounds ask of a world."""

    m: int
    """Components."""
    k: int
    """Exceptions, as a set of items: one that comes twice counts once."""
    s: int
    """The most exceptions that name the same feature against the same item."""


def facts(
    representation: Representation,
    items: Iterable[Item],
    labels: Iterable[Label],
    feature_of: Callable[[Item, Item], Feature | None],
) -> Facts:
    """Count m, k (paper, Eq. 1) and s (Eq. 2).

    Parameters
    ----------
    items, labels
        The data set, exceptions included. An item that has its component's label in one place and
        another in the next is an exception.
    feature_of : (exception, x̂) -> feature
        What the teacher would say of an exception when x̂ is the shown example. Asked for every
        exception and every item that is none, unless they have the same label (then there is
        nothing to correct). None, no reason, is shared by nothing.

    >>> from tellapart.theory import Component, Representation
    >>> animals = [frozenset({"wings"}), frozenset({"fins"}), frozenset({"fins", "tail"})]
    >>> birds = Representation((Component("bird"),))
    >>> facts(birds, animals, ["bird", "fish", "fish"], lambda odd, shown: "fins")
    Facts(m=1, k=2, s=2)
    """
    known, given = list(items), list(labels)
    if len(known) != len(given):
        raise ParameterError(f"facts: {len(known)} items, but {len(given)} labels; give as many")
    plain: dict[Hashable, tuple[Item, Label]] = {}
    odd: dict[Hashable, tuple[Item, Label]] = {}
    for item, label in zip(known, given, strict=True):
        usual = representation.label(item)
        if usual is None:
            raise ParameterError(f"facts: {item!r} lies in no component; see representation.check")
        (plain if label == usual else odd)[codec.identity(item)] = (item, label)
    s = 0
    for shown, label in (pair for key, pair in plain.items() if key not in odd):
        named: Counter[Feature] = Counter()
        for item, said in odd.values():
            if said != label:
                feature = feature_of(item, shown)
                named[object() if feature is None else feature] += 1
        s = max(s, *named.values(), 0)
    return Facts(representation.m, len(odd), s)
