"""simulate: the lesson of `teach` in a world with packed columns, without its idle rounds.

A learner that says so (`idle`) changes only in rounds that it gets wrong. These are found on packed
columns, from the learner's model: a window of the stream keeps what each clause covers as the bits
of an integer, so that after a change only the clauses that changed are evaluated again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tellapart.columns import Words, column, pack, unpack, words_for
from tellapart.model import Clause, DecisionList
from tellapart.protocol import (
    Conversation,
    Feature,
    Label,
    Learner,
    Lesson,
    Stopper,
    Teacher,
    teach,
)
from tellapart.worlds.base import World

_SHORT, _LONG = 16, 4096  # words of the shortest and of the longest window


def simulate(
    learner: Learner, world: World, *, teacher: Teacher | None = None, until: Stopper | None = None
) -> Lesson:
    """The same lesson as `teach(learner, world.teacher(), world.items)`, only faster.

    Every round is given to the learner where none may be left out: if it does not say which are
    idle, has a reading of features of its own, or is watched by `until`; and where a `teacher` is
    given, who may say what the world does not know. If the learner counts `rounds`, those that are
    left out are added.

    >>> import tellapart as ta
    >>> world = ta.worlds.tree(1_000_000, 1000, components=8, labels=4, seed=1)
    >>> lesson = ta.simulate(ta.CappedDFF(m=8), world)
    >>> lesson.rounds, lesson.mistakes, lesson.bound
    (1000000, 19, 35)
    """
    talk = Conversation(learner, teacher or world.teacher())
    idle, reading = getattr(learner, "idle", None), learner.model.reading
    if idle is None or teacher or until or reading is not getattr(world, "reading", reading):
        return teach(learner, talk.teacher, world.items, until=until)
    items, number, words = world.items, 0, _SHORT
    columns: dict[Feature, Words] = {}
    if len(items) and learner.guess(items[0]).label is None:
        talk.round(0, items[0])
        number = 1
    while number < len(items):
        window = _Window(world, columns, number, words, uncovered_count=idle == "covered")
        before = learner.model
        for at in window.events(learner, number):
            _leave_out(learner, at - number)
            talk.round(at, items[at])
            number = at + 1
        _leave_out(learner, window.stop - number)
        number = window.stop
        words = min(_LONG, 4 * words) if learner.model is before else _SHORT
    return talk.lesson(len(items))


def _leave_out(learner: Any, rounds: int) -> None:
    if hasattr(learner, "rounds"):
        learner.rounds += rounds


class _Step(NamedTuple):
    """What a clause does in a window, after those before it."""

    clause: Clause
    left: int
    """The items that no clause so far covers."""
    wrong: int
    """Those that some clause so far gives a wrong label."""


class _Window:
    """Some words of the stream, as bits of integers, and what the clauses of a model do there."""

    def __init__(
        self,
        world: World,
        columns: dict[Feature, Words],
        start: int,
        words: int,
        *,
        uncovered_count: bool,
    ) -> None:
        first, last = start >> 6, min((start >> 6) + words, words_for(len(world)))
        self.world, self.columns, self.words = world, columns, slice(first, last)
        self.start, self.stop = 64 * first, min(64 * last, len(world))
        self.all = (1 << self.stop - self.start) - 1
        self.uncovered_count = uncovered_count
        self._steps: list[_Step] = []
        self._covered: dict[int, tuple[Clause, int]] = {}
        self._bits: dict[Feature, int] = {}
        self._others: dict[Label, int] = {}

    def events(self, learner: Learner, number: int) -> Iterator[int]:
        """The rounds from `number` on that may change a learner, who is given each before the
        next is looked for."""
        going = True
        while going:
            model, going = learner.model, False
            for at in self._wrong(model, number):
                yield at
                number = at + 1
                if learner.model is not model:
                    going = True
                    break

    def _wrong(self, model: DecisionList, number: int) -> Iterable[int]:
        """The rounds from `number` on in which `model` errs, in order.

        Where uncovered rounds count, these are among them.
        """
        try:
            left, wrong = self._go_through(model.clauses)
        except Exception:  # a feature that cannot be read on every item: so each is given
            return range(number, self.stop)
        wrong |= left if self.uncovered_count else left & self._other_than(model.default.label)
        return self._in_order(wrong >> number - self.start << number - self.start)

    def _go_through(self, clauses: Sequence[Clause]) -> tuple[int, int]:
        """What the clauses leave, and their errors; from the first that is another than before."""
        same = 0
        for clause, step in zip(clauses, self._steps, strict=False):
            if clause is not step.clause:
                break
            same += 1
        del self._steps[same:]
        left, wrong = self._steps[-1][1:] if same else (self.all, 0)
        for clause in clauses[same:]:
            covered = left & self._covers(clause)
            left ^= covered
            wrong |= covered & self._other_than(clause.label)
            self._steps.append(_Step(clause, left, wrong))
        return left, wrong

    def _in_order(self, bits: int) -> Iterator[int]:
        """The items of a set of bits. Most often only the first is looked at."""
        if not bits:
            return
        first = bits & -bits
        yield self.start + first.bit_length() - 1
        rest = np.frombuffer(
            (bits ^ first).to_bytes(8 * words_for(self.stop - self.start), "little"), np.uint64
        )
        yield from (self.start + np.flatnonzero(unpack(rest, self.stop - self.start))).tolist()

    def _covers(self, clause: Clause) -> int:
        known = self._covered.get(id(clause))
        if known is None:
            covered = self.all
            for feature, wanted in clause.literals:
                covered &= self._holds(feature) if wanted else ~self._holds(feature)
            known = self._covered[id(clause)] = clause, covered  # (which keeps its id in use)
        return known[1]

    def _holds(self, feature: Feature) -> int:
        if feature not in self._bits:
            if feature not in self.columns:
                self.columns[feature] = column(self.world, feature)
            self._bits[feature] = _integer(self.columns[feature][self.words])
        return self._bits[feature]

    def _other_than(self, label: Label) -> int:
        """The items of the window with another label."""
        if label not in self._others:
            items = slice(self.start, self.stop)
            self._others[label] = _integer(pack(self.world.packed_labels.other_than(label, items)))
        return self._others[label]


def _integer(words: Words) -> int:
    return int.from_bytes(words.tobytes(), "little")
