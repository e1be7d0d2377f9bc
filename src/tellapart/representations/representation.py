"""Representations: labelled components and the features that separate them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from tellapart.errors import ParameterError
from tellapart.model import FirstMatch, Holds, Literal, Not, describe, holds, truth
from tellapart.protocol import Feature, Item, Label

_SHOWN = 20  # failures printed in full


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
        known, given = list(items or ()), list(labels or ())
        if labels is not None and items is None:
            raise ParameterError("check: labels were given without items; give both")
        if labels is not None and len(given) != len(known):
            raise ParameterError(
                f"check: {len(known)} items, but {len(given)} labels; give as many"
            )
        exceptions = [] if labels is None else self.exceptions(known, given)
        failures = [*self._strange_separators(), *self._bad_separators(known)]
        for n, item in enumerate(known):
            home = self.component(item)
            if home is None:
                failures.append(Failure(f"item {n}, {item!r}, lies in no component", item=item))
            elif given and given[n] != self.components[home].label and not allow_exceptions:
                lies = f"is {given[n]!r} but lies in component {self._name(home)}"
                failures.append(Failure(f"item {n}, {item!r}, {lies}", (home,), item=item))
        return Legality(tuple(failures), tuple(exceptions))

    def _name(self, number: int) -> str:
        return f"{number} ({self.components[number]})"

    def _strange_separators(self) -> Iterator[Failure]:
        """Separators of components that are not there."""
        for pair, feature in self.separators.items():
            if not all(0 <= number < self.m for number in pair):
                reason = (
                    f"separators[{pair}] names a component that is not there; they are numbered 0"
                    f" to {self.m - 1}"
                )
                yield Failure(reason, pair, feature)

    def _bad_separators(self, items: Sequence[Item]) -> Iterator[Failure]:
        """Pairs of components without a feature that separates them, or with one that does not."""
        members = [
            [n for n, item in enumerate(items) if part.contains(item, self.reading)]
            for part in self.components
        ]
        for i, j, found in self._both_ways():
            if found is None:
                reason = (
                    f"components {self._name(i)} and {self._name(j)} have no discriminating"
                    f" feature; give one in separators={{({i}, {j}): feature}}"
                )
                yield Failure(reason, (i, j))
                continue
            for number, wanted, what in ((i, True, "does not hold"), (j, False, "holds")):
                held = ((n, truth(found, items[n], self.reading)) for n in members[number])
                n = next((n for n, holds in held if holds != wanted), None)
                if n is not None:
                    pair = f"{self._name(i)} from {self._name(j)}"
                    where = f"item {n}, {items[n]!r}, which lies in {number}"
                    reason = f"{describe(found)!r} was to separate {pair}, but it {what} on {where}"
                    yield Failure(reason, (i, j), found, items[n])

    def _both_ways(self) -> Iterator[tuple[int, int, Feature | None]]:
        """`pairs`, and the other direction where that has a feature of its own."""
        for i, j, feature in self.pairs():
            yield i, j, feature
            back = None if feature is None else self.separator(j, i)
            if back is not None and back != Not(feature):
                yield j, i, back

    def __str__(self) -> str:
        return "\n".join(map(str, self.components))


class Failure(NamedTuple):
    """One thing that a legal representation would not have."""

    reason: str
    """What is wrong, in a sentence."""
    components: tuple[int, ...] = ()
    """The component, or the pair, it is wrong with."""
    feature: Feature | None = None
    """The feature that was to separate the pair."""
    item: Item = None
    """An item that shows it."""


@dataclass(frozen=True)
class Legality:
    """What a check found.

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
        odd = f", {_counted(len(self.exceptions), 'exception')}" if self.exceptions else ""
        if self.legal:
            return f"legal{odd}"
        lines = [f"not legal: {_counted(len(self.failures), 'failure')}{odd}"]
        lines += [f"- {failure.reason}" for failure in self.failures[:_SHOWN]]
        if len(self.failures) > _SHOWN:
            lines.append(f"- and {len(self.failures) - _SHOWN} more")
        return "\n".join(lines)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + "s" * (number != 1)
