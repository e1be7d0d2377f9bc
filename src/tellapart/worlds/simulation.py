"""simulate: the lesson of `teach` in a world with packed columns, without its idle rounds.

A learner that says so (`idle`) changes only in rounds that it gets wrong. These are found on packed
columns, from the learner's model: a window of the stream keeps what each clause covers as the bits
of an integer, so that after a change only the clauses that changed are evaluated again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from tellapart.columns import Words, column, words_for
from tellapart.model import Clause, DecisionList
from tellapart.protocol import (
    Conversation,
    Feature,
    Guess,
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
    return _Simulation(talk, world, uncovered_count=idle == "covered").run()


class _Simulation:
    """A lesson that goes from one round that may change the learner to the next."""

    def __init__(self, talk: Conversation, world: World, uncovered_count: bool) -> None:
        self.talk, self.learner = talk, talk.learner
        self.world, self.uncovered_count = world, uncovered_count
        self.counts_rounds = hasattr(talk.learner, "rounds")
        self.columns: dict[Feature, Words] = {}

    def run(self) -> Lesson:
        items, number, words = self.world.items, 0, _SHORT
        if len(items) and self.learner.guess(items[0]).label is None:
            self.talk.round(0, items[0])
            number = 1
        while number < len(items):
            window = _Window(self.world, self.columns, number, words)
            changed = self._pass(window, number)
            words = _SHORT if changed else min(_LONG, 4 * words)
            number = window.stop
        return self.talk.lesson(len(items))

    def _pass(self, window: _Window, number: int) -> bool:
        """Give the learner the rounds of a window that may change it; whether its model changed."""
        learner, items, changed = self.learner, self.world.items, False
        events: Iterable[tuple[int, Guess]]
        while True:
            model = learner.model
            try:
                events = window.events(model, number, self.uncovered_count)
            except Exception:  # a feature that cannot be read on every item: so each is given
                events = ((at, learner.guess(items[at])) for at in range(number, window.stop))
            for at, guess in events:
                self._leave_out(at - number)
                self.talk.round(at, items[at], guess)
                number = at + 1
                if learner.model is not model:
                    changed = True
                    break
            else:
                self._leave_out(window.stop - number)
                return changed

    def _leave_out(self, rounds: int) -> None:
        learner: Any = self.learner
        if self.counts_rounds:
            learner.rounds += rounds


class _Window:
    """Some words of the stream, and which of their items each clause covers."""

    def __init__(self, world: World, columns: dict[Feature, Words], start: int, words: int) -> None:
        first, last = start >> 6, min((start >> 6) + words, words_for(len(world)))
        self.world, self.columns, self.words = world, columns, slice(first, last)
        self.start, self.stop = 64 * first, min(64 * last, len(world))
        self.all = (1 << self.stop - self.start) - 1
        self._covered: dict[int, tuple[Clause, int]] = {}
        self._bits: dict[Feature, int] = {}
        self._others: dict[Label, int] = {}

    def events(
        self, model: DecisionList, number: int, uncovered_count: bool
    ) -> Iterator[tuple[int, Guess]]:
        """The rounds from `number` on in which `model` errs, in order, and its guesses there.

        Where uncovered rounds count, these are events, too.
        """
        left = self.all >> number - self.start << number - self.start
        erred: list[tuple[int, Guess]] = []
        for clause in model.clauses:
            covered = left & self._covers(clause)
            if covered:
                left ^= covered
                wrong = covered & self._other_than(clause.label)
                if wrong:
                    erred.append((wrong, clause.guess))
        if left:
            wrong = left if uncovered_count else left & self._other_than(model.default.label)
            if wrong:
                erred.append((wrong, model.default.guess))
        return self._in_order(erred)

    def _in_order(self, erred: list[tuple[int, Guess]]) -> Iterator[tuple[int, Guess]]:
        """The items of all these sets of bits. Most often only the first is looked at."""
        if not erred:
            return
        first, guess = min(((bits & -bits, guess) for bits, guess in erred), key=lambda one: one[0])
        yield self.start + first.bit_length() - 1, guess
        parts = [self._numbers(bits) for bits, _ in erred]
        numbers = np.concatenate(parts)
        order = np.argsort(numbers, kind="stable")
        which = np.repeat(np.arange(len(erred)), [len(part) for part in parts])[order].tolist()
        for at, place in zip(numbers[order][1:].tolist(), which[1:], strict=True):
            yield at, erred[place][1]

    def _numbers(self, bits: int) -> Any:
        words = np.frombuffer(
            bits.to_bytes(8 * (self.words.stop - self.words.start), "little"), np.uint8
        )
        return self.start + np.flatnonzero(np.unpackbits(words, bitorder="little"))

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
            self._bits[feature] = self._integer(self.columns[feature])
        return self._bits[feature]

    def _other_than(self, label: Label) -> int:
        """The items of the window with another label."""
        if label not in self._others:
            labels = self.world.packed_labels
            where = labels.codes.where(labels.code_or_other(label), self.words)
            self._others[label] = self.all & ~int.from_bytes(where.tobytes(), "little")
        return self._others[label]

    def _integer(self, words: Words) -> int:
        return int.from_bytes(words[self.words].tobytes(), "little")
