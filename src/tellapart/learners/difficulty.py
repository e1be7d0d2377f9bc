"""What corrections prove about a world: how many components and bad rounds it must have."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Hashable, Iterable
from typing import NamedTuple

from tellapart import codec
from tellapart.bounds import adaptive_bound
from tellapart.model import Holds, holds, truth
from tellapart.protocol import Feature, Item, Label

_POOL = 512  # corrections among which sets are looked for
_STARTS = 24  # sets tried in one search


class Told(NamedTuple):
    """A correction."""

    item: Item
    label: Label
    feature: Feature | None
    example: Item


class Difficulty:
    """What the corrections prove about m + k.

    A set of corrections of which no two items can share a component shows how large m + k is. Two
    corrected items cannot share a component

    - if their labels differ, or
    - if the feature named for the one does not hold on the other, since a feature named for x holds
      on the whole component of x (where none was named, take one that holds on nothing else),

    unless a round was bad. Let no item of the set be an example in it. An exception among the items
    takes one item out of the set. An exception among the examples makes the features named against
    it worthless, and its items still need a component for each of their labels. So if j of the
    examples are exceptions, m + k is at least j, plus the number of items with other examples, or
    plus the number of labels in the set, whichever is more. The least of this over all j is proven.

    >>> world = Difficulty()
    >>> world.add(Told({"milk"}, "mammal", "milk", {"eggs"}))
    >>> world.add(Told({"fins"}, "fish", "fins", {"eggs", "wings"}))
    >>> world.search()
    >>> world.least
    2
    """

    def __init__(self, reading: Holds = holds) -> None:
        self.reading = reading
        self.least = 1
        """The proven lower bound on m + k."""
        self.pool: list[Told] = []
        self._apart: list[int] = []  # for each correction, the bit set of those it is apart from
        self._clash: list[int] = []  # of those that must not be in one set with it
        self._same: list[int] = []  # and of those with the same example
        self._seen: dict[Hashable, tuple[int, int]] = {}  # as item, as example: bit sets
        self._searched = 0

    def __deepcopy__(self, memo: object) -> Difficulty:
        made = object.__new__(Difficulty)
        for name, value in vars(self).items():
            setattr(made, name, copy.copy(value))
        return made

    def add(self, told: Told) -> None:
        """Take in a correction."""
        number, bit = len(self.pool), 1 << len(self.pool)
        if number >= _POOL:
            return
        item, example = codec.identity(told.item), codec.identity(told.example)
        as_item, as_example = self._seen.get(item, (0, 0))
        other_item, same = self._seen.get(example, (0, 0))
        clash = as_item | as_example | other_item
        apart = 0
        for place, other in enumerate(self.pool):
            if self._separates(told, other) or self._separates(other, told):
                apart |= 1 << place
                self._apart[place] |= bit
            if clash >> place & 1:
                self._clash[place] |= bit
            if same >> place & 1:
                self._same[place] |= bit
        self.pool.append(told)
        self._apart.append(apart)
        self._clash.append(clash)
        self._same.append(same)
        self._see(told, bit)

    def _see(self, told: Told, bit: int) -> None:
        for one, (mark, other) in ((told.item, (bit, 0)), (told.example, (0, bit))):
            key = codec.identity(one)
            as_item, as_example = self._seen.get(key, (0, 0))
            self._seen[key] = (as_item | mark, as_example | other)

    def search(self) -> None:
        """Look for a set that proves more, if there is a new correction."""
        if self._searched == len(self.pool):
            return
        self._searched = len(self.pool)
        order = sorted(range(len(self.pool)), key=lambda n: (-self._apart[n].bit_count(), n))
        for start in [None, *order[1:_STARTS]]:
            chosen = self._choose(order if start is None else [start, *order])
            self.least = max(self.least, self._proven(chosen))

    def _choose(self, order: list[int]) -> list[int]:
        """A set whose items are all in different components: first items with their own
        examples."""
        chosen: list[int] = []
        fit, own = -1, -1  # bit sets of those that still fit
        for once in (True, False):
            for number in order:
                if fit >> number & 1 and (not once or own >> number & 1):
                    chosen.append(number)
                    fit &= self._apart[number] & ~self._clash[number]
                    own &= ~self._same[number]
        return chosen

    def _proven(self, chosen: list[int]) -> int:
        examples = Counter(codec.identity(self.pool[n].example) for n in chosen)
        labels = len({self.pool[n].label for n in chosen})
        sizes = sorted(examples.values())
        left = [sum(sizes[: len(sizes) - j]) for j in range(len(sizes) + 1)]
        return min(j + max(left[j], labels) for j in range(len(sizes) + 1))

    def _separates(self, told: Told, other: Told) -> bool:
        if told.label != other.label or told.feature is None:
            return True
        return not truth(told.feature, other.item, self.reading)


def allowance(least: int, labels: Iterable[int]) -> int:
    """The least bound of `AdaptiveDFF` in any world with m + k >= `least`.

    `labels` are the numbers of items of each label. A label without a component has exceptions
    only.

    >>> allowance(4, [20]), allowance(4, [20, 20]), allowance(4, [20, 1])
    (9, 11, 9)
    """
    counts = sorted(labels)
    bounds = (
        adaptive_bound(m, max(least - m, sum(counts[: len(counts) - m]), 0))
        for m in range(1, max(1, len(counts)) + 1)
    )
    return min(bounds)
