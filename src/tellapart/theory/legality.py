"""Whether a representation is legal, and what fails where it is not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tellapart.errors import ParameterError
from tellapart.features.phrasing import counted
from tellapart.model import Literal, Not, describe, truth
from tellapart.protocol import Feature, Item, Label

if TYPE_CHECKING:
    from tellapart.theory.representation import Representation

_SHOWN = 20  # failures printed in full


@dataclass(frozen=True)
class Failure:
    """One thing that a legal representation would not have."""

    reason: str
    """What is wrong, in a sentence."""
    components: tuple[int, ...] = ()
    """The component, or the pair, it is wrong with."""
    feature: Feature | None = None
    """The feature that was to separate the pair."""
    item: Item = None
    """An item that shows it."""

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True)
class Legality:
    """What a check found.

    >>> from tellapart.theory import Component, Representation
    >>> legality = Representation((Component("bird"), Component("fish"))).check()
    >>> legality.legal, len(legality.failures)
    (False, 1)
    >>> print(legality)
    not legal: 1 failure
    - components 0 (bird: everything) and 1 (fish: everything) have no discriminating feature; give
      one in separators={(0, 1): feature}
    """

    failures: tuple[Failure, ...] = ()
    exceptions: tuple[int, ...] = ()
    """Positions of the items whose label is not their component's, allowed or not."""

    @property
    def legal(self) -> bool:
        """Whether nothing failed."""
        return not self.failures

    def __bool__(self) -> bool:
        return self.legal

    def __str__(self) -> str:
        odd = f", {counted(len(self.exceptions), 'exception')}" if self.exceptions else ""
        if self.legal:
            return f"legal{odd}"
        lines = [f"not legal: {counted(len(self.failures), 'failure')}{odd}"]
        lines += [f"- {failure}" for failure in self.failures[:_SHOWN]]
        if len(self.failures) > _SHOWN:
            lines.append(f"- and {len(self.failures) - _SHOWN} more")
        return "\n".join(lines)


def examine(
    representation: Representation,
    items: Iterable[Item] | None,
    labels: Iterable[Label] | None,
    allow_exceptions: bool,
) -> Legality:
    """The work behind `Representation.check`."""
    known, given = list(items or ()), list(labels or ())
    if labels is not None and items is None:
        raise ParameterError("check: labels were given without items; give both")
    if labels is not None and len(given) != len(known):
        raise ParameterError(f"check: {len(known)} items, but {len(given)} labels; give as many")
    parts, everything = representation.components, set(range(len(known)))
    where: dict[Feature, set[int]] = {}
    failures: list[Failure] = []

    def satisfying(literal: Literal) -> set[int]:
        """The items that satisfy a literal; every feature is read once."""
        feature, wanted = literal
        if feature not in where:
            reading = representation.reading
            where[feature] = {n for n, item in enumerate(known) if truth(feature, item, reading)}
        return where[feature] if wanted else everything - where[feature]

    def name(number: int) -> str:
        return f"{number} ({parts[number]})"

    for pair, feature in representation.separators.items():
        if not all(0 <= number < len(parts) for number in pair):
            reason = (
                f"separators[{pair}] names a component that is not there; they are numbered 0 to"
                f" {len(parts) - 1}"
            )
            failures.append(Failure(reason, pair, feature))

    members = [everything.intersection(*map(satisfying, part.literals)) for part in parts]
    for n in sorted(everything.difference(*members)):
        reason = f"item {n}, {known[n]!r}, lies in no component"
        failures.append(Failure(reason, item=known[n]))

    for i, j, found in _separators(representation):
        if found is None:
            reason = (
                f"components {name(i)} and {name(j)} have no discriminating feature; give one in"
                f" separators={{({i}, {j}): feature}}"
            )
            failures.append(Failure(reason, (i, j)))
            continue
        held = satisfying(Literal.forbid(Not(found)))
        for number, offending, what in (
            (i, members[i] - held, "does not hold"),
            (j, members[j] & held, "holds"),
        ):
            if offending:
                n = min(offending)
                reason = (
                    f"{describe(found)!r} was to separate {name(i)} from {name(j)}, but it {what}"
                    f" on item {n}, {known[n]!r}, which lies in {number}"
                )
                failures.append(Failure(reason, (i, j), found, known[n]))

    exceptions = [] if labels is None else representation.exceptions(known, given)
    for n in exceptions if not allow_exceptions else ():
        home = representation.component(known[n])
        if home is not None:  # else it is reported above
            reason = f"item {n}, {known[n]!r}, is {given[n]!r} but lies in component {name(home)}"
            failures.append(Failure(reason, (home,), item=known[n]))
    return Legality(tuple(failures), tuple(exceptions))


def _separators(representation: Representation) -> Iterator[tuple[int, int, Feature | None]]:
    """The feature that is to hold on component i and not on j, for all pairs of other labels."""
    for i, j, feature in representation.pairs():
        yield i, j, feature
        back = None if feature is None else representation.separator(j, i)
        if back is not None and back != Not(feature):  # the other direction has its own feature
            yield j, i, back
