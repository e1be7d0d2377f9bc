"""Representations: labelled components and the features that separate them; the facts m, k, s."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from tellapart import codec
from tellapart.errors import ParameterError
from tellapart.model import FirstMatch, Holds, Literal, Not, holds, truth
from tellapart.protocol import Feature, Item, Label
from tellapart.theory.legality import Legality, examine


@dataclass(frozen=True)
class Component:
    """A group of items with one label: those that satisfy all `literals`.

    Any set of items is a component: a literal's feature may be any function.
    """

    label: Label
    literals: tuple[Literal, ...] = ()

    def contains(self, item: Item, reading: Holds = holds) -> bool:
        """Whether `item` belongs to the group."""
        return all(truth(f, item, reading) == wanted for f, wanted in self.literals)

    def __str__(self) -> str:
        return f"{self.label}: {' and '.join(map(str, self.literals)) or 'everything'}"


@dataclass(frozen=True)
class Representation:
    """The components of a teacher, G_1, ..., G_m, and a feature for every pair of other labels.

    Parameters
    ----------
    components
        In an order that fixes G(x): the first component that contains x.
    separators : {(i, j): feature}, optional
        A feature that holds on all of G_i and on none of G_j. Where none is given, one is read off
        the literals: a feature that one wants and the other forbids.

    >>> birds = Component("bird", (Literal("feathers"),))
    >>> mammals = Component("mammal", (Literal("feathers", False), Literal("milk")))
    >>> animals = Representation((birds, mammals))
    >>> animals.component({"milk"}), animals.separator(1, 0), animals.separator(0, 1)
    (1, Not('feathers'), 'feathers')
    """

    components: tuple[Component, ...]
    separators: Mapping[tuple[int, int], Feature] = field(default_factory=dict)
    reading: Holds = field(default=holds, compare=False, repr=False)

    @property
    def m(self) -> int:
        """How many components there are."""
        return len(self.components)

    @cached_property
    def _index(self) -> FirstMatch:
        index = FirstMatch(self.reading)
        for component in self.components:
            index.append(component.literals)
        return index

    def component(self, item: Item) -> int | None:
        """G(x): the number of the first component that contains `item`."""
        return self._index.first(item)

    def label(self, item: Item) -> Label | None:
        """The label of the item's component: what it would be if it were no exception."""
        number = self.component(item)
        return None if number is None else self.components[number].label

    def separator(self, i: int, j: int) -> Feature | None:
        """A feature that holds on all of component `i` and on none of component `j`."""
        if (i, j) not in self._found:
            self._found[i, j] = self._separate(i, j)
        return self._found[i, j]

    def pairs(self) -> Iterator[tuple[int, int, Feature | None]]:
        """All pairs of components of different labels, each with a separator if there is one."""
        for i, j in combinations(range(self.m), 2):
            if self.components[i].label != self.components[j].label:
                yield i, j, self.separator(i, j)

    @cached_property
    def _found(self) -> dict[tuple[int, int], Feature | None]:
        return dict(self.separators)

    def _separate(self, i: int, j: int) -> Feature | None:
        if (j, i) in self.separators:
            opposite: Feature = Not(self.separators[j, i])
            return opposite
        forbidden = {(f, not wanted) for f, wanted in self.components[j].literals}
        for feature, wanted in self.components[i].literals:
            if (feature, wanted) in forbidden:
                return feature if wanted else Not(feature)
        return None

    def exceptions(self, items: Iterable[Item], labels: Iterable[Label]) -> list[int]:
        """M (paper, Eq. 1): positions of the items whose label is not their component's.

        >>> birds = Representation((Component("bird"),))
        >>> birds.exceptions([{"wings"}, {"milk"}], ["bird", "mammal"])
        [1]
        """
        pairs: Sequence[tuple[Item, Label]] = list(zip(items, labels, strict=True))
        return [n for n, (item, label) in enumerate(pairs) if self.label(item) != label]

    def check(
        self,
        items: Iterable[Item] | None = None,
        labels: Iterable[Label] | None = None,
        *,
        allow_exceptions: bool = False,
    ) -> Legality:
        """Whether the representation is legal: a `Legality`, true if so, that says what fails.

        Legal means: every item lies in some component; every item has its component's label (the
        others are exceptions, fine only if `allow_exceptions`); and any two components of different
        labels have a discriminating feature, which holds on all items of the one and on none of the
        other. A component counts as the set of all items that satisfy it, also of those whose G(x)
        is another. Without items, only whether each such pair has a feature.

        >>> birds = Component("bird", (Literal("feathers"),))
        >>> fish = Component("fish", (Literal("fins"),))
        >>> animals = Representation((birds, fish), {(0, 1): "wings"})
        >>> bool(animals.check()), bool(animals.check([{"feathers", "wings"}, {"fins"}]))
        (True, True)
        >>> print(animals.check([{"feathers"}]))
        not legal: 1 failure
        - 'wings' was to separate 0 (bird: feathers) from 1 (fish: fins), but it does not hold on
          item 0, {'feathers'}, which lies in 0
        """
        return examine(self, items, labels, allow_exceptions)

    def __str__(self) -> str:
        return "\n".join(map(str, self.components))


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
