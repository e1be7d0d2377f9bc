"""`FirstMatch` on packed columns: which rule covers each item of a world, and where one errs next.

It takes the place of a learner's own index while `simulate` runs, so that what the learner changes
reaches the columns as it happens, one literal at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from tellapart.model import Literal
from tellapart.protocol import Feature, Item, Label, Teacher
from tellapart.simulation.bits import Words
from tellapart.simulation.codes import Labels
from tellapart.simulation.engine import engine
from tellapart.simulation.source import Source, column
from tellapart.simulation.tape import Growth, Tape

NEVER = 1 << 62
"""Later than any item."""


class World(Source, Protocol):
    """What `simulate` needs of a world."""

    items: Sequence[Item]

    @property
    def packed_labels(self) -> Labels:
        """What the teacher calls each item."""
        ...

    @property
    def ordinary(self) -> Words | None:
        """Items on which the teacher's answer is sound and depends on nothing said before."""
        ...

    def teacher(self) -> Teacher:
        """A fresh teacher, who corrects every wrong guess and no other."""
        ...

    def places(self, feature: Feature) -> Sequence[int] | None:
        """The items on which a rare feature holds, in order; None when it may hold on many."""
        ...


class Unreadable(Exception):
    """A feature cannot be read on every item, so it has no column."""


class PackedMatch:
    """Conjunctions in slots, in order of creation, over the items of `world`.

    Parameters
    ----------
    default : label
        The label of items that no conjunction covers.
    ordinary : packed column, optional
        Where a mistake may change nothing but a count.
    """

    def __init__(self, world: World, default: Label, ordinary: Words | None = None) -> None:
        self.world, self.labels = world, world.packed_labels
        planes = self.labels.codes.planes
        # a label that no item has is wrong everywhere: it has a digit of its own
        self._stranger = 1 << len(planes)
        self.list: Any = engine(len(world))(planes, self._code(default), ordinary)
        known = getattr(world, "addresses", {}) if isinstance(self.list, Tape) else {}
        self._columns: dict[Feature, Any] = dict(known)
        self.pending: list[tuple[int, Literal]] = []
        """Literals whose columns are not known yet."""
        self.slot = -1
        """The slot of the first conjunction that covers the item at hand, or -1."""
        self.fired, self.counted = -1, 0
        """What `find` found besides: the event's slot, and how many were uncovered before it."""
        self._free, self._shown = 0, False  # no event before `_free`, of what is so `_shown`
        self._event, self._span = -1, (0, 0)  # the last one found, and what was searched

    # -- what a learner does to its index

    def clear(self) -> None:
        """Forget every conjunction."""
        self.list.clear()
        self.pending.clear()
        self._free, self._event = 0, -1

    def append(self, literals: Iterable[Literal] = (), label: Label = None) -> int:
        """A new conjunction after all others; returns its slot."""
        slot: int = self.list.append(self._code(label))
        for literal in literals:
            self.require(slot, literal)
        self._free, self._event = 0, -1
        return slot

    def require(self, slot: int, literal: Literal) -> None:
        """Add a literal to the conjunction in `slot`."""
        feature, wanted = literal
        known = self._columns.get(feature)
        if known is None:
            self.pending.append((slot, literal))
        else:
            self.list.require(slot, known, wanted)
        self._free, self._event = 0, -1

    def remove(self, slot: int) -> None:
        """Take the conjunction in `slot` out of the race."""
        self.list.remove(slot)
        self._free, self._event = 0, -1

    def first(self, item: Item) -> int | None:
        """The slot of the first conjunction that covers the item at hand, before it is learnt."""
        return None if self.slot < 0 else self.slot

    # -- what simulate asks

    def find(
        self,
        start: int,
        stop: int,
        shown: bool,
        quiet: int,
        wrong_only: bool,
        growth: Growth | None = None,
    ) -> int:
        """The next item from `start` on that may change the learner, or `stop`; see `Plain.find`.

        What was searched is not searched again while nothing changes.
        """
        if self.pending:
            self.settle(start)
        if quiet < 0 and shown == self._shown and self._free > start:
            start = self._free
            if start >= stop:
                return stop
        event: int
        event, self.fired, self.counted = self.list.find(
            start, stop, shown, quiet, wrong_only, growth
        )
        self._free, self._shown = event, shown
        self._event = event if event < stop else -1
        self._span = (start, event)
        return event

    def uncovered(self, start: int, stop: int) -> int:
        """How many items from `start` to before `stop`, free of events, are uncovered."""
        if self._span != (start, stop):
            self._span = (start, stop)
            self.counted = self.list.find(start, stop, False, NEVER)[2]
        return self.counted

    def arrive(self, item: int) -> None:
        """Make `item` the one at hand."""
        self.slot = self.fired if self._event == item else self.list.first(item)

    def settle(self, start: int) -> None:
        """Find the columns of new literals, as far as they matter from `start` on."""
        for slot, (feature, wanted) in self.pending:
            places = self.world.places(feature)
            if places is None or (len(places) and places[-1] >= start):
                self.list.require(slot, self._column(feature), wanted)
            elif wanted:
                self.list.remove(slot)
        self.pending.clear()

    # -- how

    def _column(self, feature: Feature) -> Any:
        if feature not in self._columns:
            try:
                self._columns[feature] = self.list.hold(column(self.world, feature))
            except Exception as error:
                raise Unreadable from error
        return self._columns[feature]

    def _code(self, label: Label) -> int:
        code = self.labels.code(label)
        return self._stranger if code is None else code
