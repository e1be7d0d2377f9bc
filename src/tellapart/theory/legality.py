"""Whether a representation is legal, and what fails where it is not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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
    failures = list(_foreign_separators(representation))
    if items is None:
        if labels is not None:
            raise ParameterError("check: labels were given without items; give both")
        failures += _separation(representation, lambda *_: iter(()))
        return Legality(tuple(failures))

    known = list(items)
    given = None if labels is None else list(labels)
    if given is not None and len(given) != len(known):
        raise ParameterError(f"check: {len(known)} items, but {len(given)} labels; give as many")
    everything = (1 << len(known)) - 1
    where: dict[Feature, int] = {}

    def holding(feature: Feature) -> int:
        """The set of items on which `feature` holds, as bits; every feature is read once."""
        if feature not in where:
            reading = representation.reading
            bits = ("1" if truth(feature, item, reading) else "0" for item in reversed(known))
            where[feature] = int("".join(bits) or "0", 2)
        return where[feature]

    def satisfying(literal: Literal) -> int:
        held = holding(literal.feature)
        return held if literal.wanted else everything & ~held

    members: list[int] = []
    for component in representation.components:
        inside = everything
        for literal in component.literals:
            inside &= satisfying(literal)
        members.append(inside)

    covered = 0
    for inside in members:
        covered |= inside
    for n in _positions(everything & ~covered):
        reason = f"item {n}, {known[n]!r}, lies in no component"
        failures.append(Failure(reason, item=known[n]))

    def offences(i: int, j: int, feature: Feature) -> Iterator[Failure]:
        held = satisfying(Literal.forbid(Not(feature)))
        for number, off, what in (
            (i, members[i] & ~held, "does not hold"),
            (j, members[j] & held, "holds"),
        ):
            for n in _positions(off & -off):
                yield Failure(
                    f"{describe(feature)!r} was to separate {_name(representation, i)} from"
                    f" {_name(representation, j)}, but it {what} on item {n}, {known[n]!r}, which"
                    f" lies in {number}",
                    (i, j),
                    feature,
                    known[n],
                )

    failures += _separation(representation, offences)

    exceptions: list[int] = []
    if given is not None:
        exceptions = representation.exceptions(known, given)
        for n in exceptions if not allow_exceptions else ():
            number = representation.component(known[n])
            if number is not None:  # else it is reported above
                failures.append(
                    Failure(
                        f"item {n}, {known[n]!r}, is {given[n]!r} but lies in component"
                        f" {_name(representation, number)}",
                        (number,),
                        item=known[n],
                    )
                )
    return Legality(tuple(failures), tuple(exceptions))


def _separation(
    representation: Representation, offences: Callable[[int, int, Feature], Iterator[Failure]]
) -> Iterator[Failure]:
    """A failure for each pair of different labels that nothing separates; else the `offences`."""
    for i, j, feature in representation.pairs():
        if feature is None:
            yield Failure(
                f"components {_name(representation, i)} and {_name(representation, j)} have no"
                f" discriminating feature; give one in separators={{({i}, {j}): feature}}",
                (i, j),
            )
            continue
        yield from offences(i, j, feature)
        back = representation.separator(j, i)  # the other direction may use another feature
        if back is not None and back != Not(feature):
            yield from offences(j, i, back)


def _foreign_separators(representation: Representation) -> Iterator[Failure]:
    for pair, feature in representation.separators.items():
        if not all(0 <= number < representation.m for number in pair):
            yield Failure(
                f"separators[{pair}] names a component that is not there; they are numbered 0 to"
                f" {representation.m - 1}",
                pair,
                feature,
            )


def _name(representation: Representation, number: int) -> str:
    return f"{number} ({representation.components[number]})"


def _positions(bits: int) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
