"""The rules of one learner over the packed columns of a world: which round must it be given next?

`simulate` puts a `PackedRules` in the place of the learner's own index (`FirstMatch`), so that all
changes of the rules arrive here at once. It looks at the stream through a window. In a short window
a column is one Python integer, a bit an item: on a few thousand bits integers are ten times as fast
as numpy. Long stretches are passed over with numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tellapart.model import Literal
from tellapart.protocol import Feature, Item, Label, Teacher
from tellapart.simulation.numpy_engine import ColumnRule, wrong_items
from tellapart.simulation.packed_columns import Source, Words, column, words_for
from tellapart.simulation.packed_labels import Labels


class World(Source, Protocol):
    """What `simulate` needs of a world."""

    items: Sequence[Item]

    @property
    def packed_labels(self) -> Labels:
        """What the teacher calls each item."""
        ...

    def teacher(self) -> Teacher:
        """A fresh teacher, who corrects every wrong guess and no other."""
        ...

    def places(self, feature: Feature) -> Sequence[int] | None:
        """The items on which a rare feature holds, in order; None when it may hold on many."""
        ...


class PackedRules:
    """Conjunctions in slots, in order of creation, over the items of a world.

    Sets of items are integers: bit i is item i of the window.

    Parameters
    ----------
    world : World
        Where the columns and the labels come from.
    default : label
        The label of items that no conjunction covers.
    position : int
        The current item. Only items after it matter.
    """

    def __init__(self, world: World, default: Label, position: int) -> None:
        self._world, self._labels, self._position = world, world.packed_labels, position
        self._default = self._labels.code_or_other(default)
        self._columns: dict[Feature, Words] = {}
        self.changes = 0
        """How often a conjunction was created, changed or removed."""
        self.unreadable = False
        """Whether a conjunction has a feature that cannot be read on every item."""
        self._event = -1  # the item that `find` found last
        self._slot: int | None = None  # the slot of that, or of the current item
        self._left: int | Words = 0  # the uncovered items that were looked at last
        self._live: list[int] = []
        self.open(0, 0)
        self.clear()

    # -- what a learner does to its index

    def clear(self) -> None:
        """Forget every conjunction."""
        self.changes += 1
        self._forbidden: list[list[Feature]] = []
        self._needed: list[list[Feature]] = []
        self._codes: list[int] = []
        self._live = []  # the slots in use
        self._unmet: list[int] = []  # the items that do not satisfy a conjunction
        self._wrong: list[int] = []  # those that satisfy it, and have another label

    def append(self, literals: Iterable[Literal] = (), label: Label = None) -> int:
        """Add a conjunction after all others; returns its slot."""
        self.changes += 1
        slot = len(self._codes)
        self._forbidden.append([])
        self._needed.append([])
        self._codes.append(self._labels.code_or_other(label))
        self._live.append(slot)
        self._unmet.append(0)
        self._wrong.append(self._others[self._codes[slot]])
        for literal in literals:
            self.require(slot, literal)
        return slot

    def require(self, slot: int, literal: Literal) -> None:
        """Add a literal to the conjunction in `slot`."""
        self.changes += 1
        feature, wanted = literal
        if feature not in self._columns:
            places = self._world.places(feature)
            if places is not None and not (len(places) and places[-1] > self._position):
                if wanted:  # it holds on no item to come
                    self.remove(slot)
                return
            try:
                self._columns[feature] = column(self._world, feature)
            except Exception:
                self.unreadable = True
                return
        (self._needed if wanted else self._forbidden)[slot].append(feature)
        unmet = self._bits[feature] ^ self._all if wanted else self._bits[feature]
        self._unmet[slot] |= unmet
        self._wrong[slot] &= ~unmet

    def remove(self, slot: int) -> None:
        """Remove the conjunction in `slot`."""
        self.changes += 1
        if slot in self._live:
            self._live.remove(slot)

    def first(self, item: Item) -> int | None:
        """The slot of the first conjunction that covers the current item."""
        return self._slot

    # -- one round

    def go_to(self, number: int) -> int | None:
        """Make an item of the window the current one; returns the slot that covers it first."""
        self._position = number
        if self._event != number:
            place = number - self._start
            covering = (slot for slot in self._live if not self._unmet[slot] >> place & 1)
            self._slot = next(covering, None)
        return self._slot

    # -- a short window

    def open(self, first: int, last: int) -> None:
        """Look at the words from `first` to before `last`."""
        self._words, self._start = slice(first, last), 64 * first
        self._all = (1 << 64 * (last - first)) - 1
        self._bits = _Made(lambda feature: self._integer(self._columns[feature]))
        self._others = _Made(self._others_than)
        for slot in self._live:
            unmet = 0
            for feature in self._forbidden[slot]:
                unmet |= self._bits[feature]
            for feature in self._needed[slot]:
                unmet |= self._bits[feature] ^ self._all
            self._unmet[slot] = unmet
            self._wrong[slot] = self._others[self._codes[slot]] & ~unmet

    def find(self, start: int, stop: int, shown: bool, spare: int | None, quiet: bool) -> int:
        """The first event from `start` to before `stop`, all in the window; else `stop`.

        An event is a round that may change the learner, so that it must be given:

        - a wrong guess of a rule, if this learner's guess is the one `shown`;
        - an uncovered item with another label than the default's;
        - with `spare`, the learner counts uncovered rounds, and only counts the first `spare` of
          them. Then all after these are events. Of these, those with another label are events only
          if the learner is shown, and not if it is `quiet`.
        """
        left = (1 << stop - self._start) - (1 << start - self._start)
        event = late = 0
        self._event, self._slot = -1, None
        for slot in self._live:
            if shown:
                wrong = left & self._wrong[slot]
                if wrong:  # from now on only what comes before it matters
                    event, self._slot = wrong & -wrong, slot
                    left &= event - 1
            left &= self._unmet[slot]
            if not left:
                break
        if left:
            if spare is None or (shown and not quiet):
                late = left & self._others[self._default]
            if spare is not None:
                late |= without_first(left, spare)
            if late:
                event, self._slot = late & -late, None
                left &= event - 1
        self._left = left
        if not event:
            return stop
        self._event = self._start + event.bit_length() - 1
        return self._event

    def all_mistakes(
        self, start: int, stop: int, spare: int | None
    ) -> tuple[int, list[tuple[int, int]], int, int]:
        """All mistakes from `start` to before `stop`, or to before a rule may be created.

        Returns where it stops; the slots with their mistakes; the mistakes of the default; and all
        uncovered items.
        """
        left = (1 << stop - self._start) - (1 << start - self._start)
        found = []
        for slot in self._live:
            wrong = left & self._wrong[slot]
            if wrong:
                found.append((slot, wrong))
            left &= self._unmet[slot]
        wrong = left & self._others[self._default]
        late = wrong if spare is None else without_first(left, spare)
        if late:
            before = (late & -late) - 1
            stop = self._start + before.bit_length()
            found = [(slot, bits & before) for slot, bits in found if bits & before]
            wrong, left = wrong & before, left & before
        return stop, found, wrong, left

    def count(self, bits: int, stop: int) -> int:
        """How many of these items come before `stop`."""
        return (bits & (1 << stop - self._start) - 1).bit_count()

    def numbers(self, bits: int, stop: int) -> npt.NDArray[np.int64]:
        """The numbers of those of these items that come before `stop`."""
        bits &= (1 << stop - self._start) - 1
        octets = bits.to_bytes(bits.bit_length() + 7 >> 3, "little")
        truths = np.unpackbits(np.frombuffer(octets, dtype=np.uint8), bitorder="little")
        return np.flatnonzero(truths) + self._start

    # -- a long stretch

    def pass_over(self, start: int, stop: int, shown: bool, spare: int | None, quiet: bool) -> int:
        """How far one can go from `start` towards `stop`, by whole words, without an event."""
        planes, rules = self._labels.codes.planes, self._column_rules()
        wrong, left = wrong_items(planes, rules, self._default, start, stop)
        self._first, self._left, self._wrong_words = start >> 6, left, wrong
        events = wrong
        if not shown:
            events = wrong & left if spare is None else np.zeros_like(left)
        elif quiet:
            events = wrong & ~left
        reached = int(np.argmax(events != 0)) if events.any() else len(events)
        if spare is not None:
            uncovered = np.cumsum(np.bitwise_count(left), dtype=np.int64)
            reached = min(reached, int(np.searchsorted(uncovered, spare, side="right")))
        return min(stop, max(start, 64 * (self._first + reached)))

    # -- what was looked at last, with `find` or `pass_over`

    def uncovered(self, stop: int) -> int:
        """How many uncovered items there were before `stop`."""
        if isinstance(self._left, int):
            return self.count(self._left, stop)
        return int(np.bitwise_count(self._left[: words_for(stop) - self._first]).sum())

    def default_mistakes(self, stop: int) -> int:
        """How many of these have another label than the default's."""
        if isinstance(self._left, int):
            return self.count(self._left & self._others[self._default], stop)
        words = slice(0, words_for(stop) - self._first)
        return int(np.bitwise_count(self._left[words] & self._wrong_words[words]).sum())

    # -- how

    def _column_rules(self) -> list[ColumnRule]:
        def columns(features: list[Feature]) -> list[Words]:
            return [self._columns[feature] for feature in features]

        return [
            ColumnRule(columns(self._forbidden[s]), columns(self._needed[s]), self._codes[s])
            for s in self._live
        ]

    def _integer(self, column: Words) -> int:
        """The window of a column."""
        return int.from_bytes(column[self._words].tobytes(), "little")

    def _others_than(self, code: int) -> int:
        """The items of the window whose label has another code."""
        planes = self._labels.codes.planes
        others = self._all if code >> len(planes) else 0
        for digit, plane in enumerate(planes):
            bits = self._integer(plane)
            others |= bits ^ self._all if code >> digit & 1 else bits
        return others


class _Made(dict[Any, int]):
    """Values that are made when they are first looked up."""

    def __init__(self, make: Callable[[Any], int]) -> None:
        self._make = make

    def __missing__(self, key: Any) -> int:
        value = self[key] = self._make(key)
        return value


def without_first(bits: int, n: int) -> int:
    """Bits without the lowest `n` of those that are set.

    >>> bin(without_first(0b101101, 2)), without_first(0b101101, 4)
    ('0b101000', 0)
    """
    if bits.bit_count() <= n:
        return 0
    low, high = n, bits.bit_length()  # the lowest place with n set bits before it
    while low < high:
        middle = (low + high) // 2
        if (bits & (1 << middle) - 1).bit_count() < n:
            low = middle + 1
        else:
            high = middle
    return bits >> low << low
