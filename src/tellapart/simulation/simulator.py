"""`simulate`: what `teach` does, found by jumping from mistake to mistake."""

from __future__ import annotations

from typing import Any

from tellapart.model import holds
from tellapart.protocol import Conversation, Learner, Lesson, Stopper
from tellapart.simulation.bits import words_for
from tellapart.simulation.corrections import Corrections
from tellapart.simulation.counting import MistakeCounter
from tellapart.simulation.packed_rules import PackedRules, World

_SIZES = (16, 32, 64, 128, 256, 1024, 4096)
"""How many words are looked at together: few after a change, then more and more."""
_INTEGERS = 4
"""Up to this place in `_SIZES`, columns are looked at as Python integers; then, as arrays."""


def simulate(learner: Learner, world: World, *, until: Stopper | None = None) -> Lesson:
    """The same lesson as `teach(learner, world.teacher(), world.items, until=until)`, fast.

    Between two mistakes nothing changes. So the learner's rules are evaluated on packed columns, 64
    items a word, until a guess is wrong; that round is handed to the learner; and so on. The
    learner is the same object, and ends in the same state.

    Learners jump when they can name the rules that decide (`BaseLearner.rule_lists`): all that keep
    a list of rules, and `Guarded` over such. Others, learners with `remember=True`, learners that
    read features otherwise than the world does (`holds=`), and, from there on, those that are told
    of a feature that cannot be read on every item, are given every round, as `teach` does.

    >>> import tellapart as ta
    >>> world = ta.worlds.tree(1_000_000, 1000, 8, 4, seed=1)
    >>> lesson = ta.simulate(ta.CappedDFF(world.m), world)
    >>> lesson.rounds, lesson.mistakes, lesson.bound
    (1000000, 19, 35)
    """
    conversation = Conversation(learner, world.teacher(), until)
    jumps = Jumps(learner, world, conversation)
    number = jumps.run() if jumps.possible else 0
    while number < len(world) and not conversation.over:
        conversation.round(number, world.items[number])
        number += 1
    if jumps.counter is None or not jumps.counter.stretches:
        return conversation.lesson(number)
    corrections = Corrections(
        conversation.corrections, jumps.counter.stretches, world, conversation.teacher
    )
    return conversation.lesson(number, corrections)


class Jumps:
    """A learner on its way through a world, from one round that may change it to the next.

    Parameters
    ----------
    learner : Learner
        Jumps, if it names the rules that decide (`BaseLearner.rule_lists`).
    world : World
        Where it learns.
    conversation : Conversation
        Takes the rounds that are given to the learner.
    """

    def __init__(self, learner: Any, world: World, conversation: Conversation) -> None:
        self._learner, self._world, self._conversation = learner, world, conversation
        # (not what a wrapper passes on, which may guess and learn otherwise)
        speaks = hasattr(type(learner), "rule_lists")
        self._lists: list[tuple[Any, bool]] = (learner.rule_lists() if speaks else None) or []
        reading = getattr(world, "reading", holds)
        self.possible = bool(self._lists) and all(r.holds is reading for r, _ in self._lists)
        self._alone = self._lists == [(learner, True)]
        self._packed: dict[Any, PackedRules] = {}
        self.counter: MistakeCounter | None = None

    def run(self) -> int:
        """Go as far as jumps go; returns the first round not done."""
        number = 0
        if len(self._world) and self._learner.guess(self._world.items[0]).label is None:
            self._conversation.round(0, self._world.items[0])
            number = 1
        for rules, _ in self._lists:
            self._packed[rules] = PackedRules(self._world, rules.default.label, number - 1)
        if self._alone and not self._conversation.watched and hasattr(self._world, "answers"):
            rules = self._packed[self._learner]
            self.counter = MistakeCounter(self._learner, rules, self._world, self._conversation)
        try:
            for rules, packed in self._packed.items():
                rules.use(packed)
            return self._go_on(number)
        finally:
            for rules in self._packed:
                rules.use(None)

    def _go_on(self, number: int) -> int:
        end, level = len(self._world), 0
        while number < end and not self._over():
            before = self._changes()
            if level <= _INTEGERS:
                number, events = self._look_at(number, _SIZES[level])
                level = min(level + 1, _INTEGERS) if events else level + 2
            else:
                stop = min(end, (number >> 6) + _SIZES[level] << 6)
                number = self._pass_over(number, stop)
                level = level + 1 if number == stop else 0
            level = 0 if self._changes() != before else min(level, len(_SIZES) - 1)
        return number

    def _look_at(self, number: int, words: int) -> tuple[int, int]:
        """Go through a window of so many words.

        Returns the first round not done, and how many rounds the learner was given. A window that
        is not the shortest ends when a rule changes.
        """
        first = number >> 6
        last = min(first + words, words_for(len(self._world)))
        end, given, before = min(64 * last, len(self._world)), 0, self._changes()
        quiet = self._quiet(number, end)
        for packed in self._packed.values():
            packed.open(first, last)
        while number < end and not self._over():
            stop = event = min(end, number + self._conversation.left())
            for rules, shown in self._shown():
                event = self._packed[rules].find(number, event, shown, rules.spare(), quiet)
            self._skip(number, event, quiet)
            number = event
            if event < stop:
                number, given = self._give(event, end), given + 1
                if words > _SIZES[0] and self._changes() != before:
                    break
        return number, given

    def _give(self, number: int, end: int) -> int:
        """Give the learner a round, and after it those mistakes up to `end` that only count."""
        changes = self._changes()
        slots = [packed.arrive(number) for packed in self._packed.values()]
        if self.counter is None:
            self._conversation.round(number, self._world.items[number])
            return number + 1
        self.counter.give(number, slots[0])
        unchanged = self._changes() == changes
        return self.counter.run(number + 1, end) if unchanged else number + 1

    def _pass_over(self, number: int, stop: int) -> int:
        """Pass over rounds that change nothing; returns the first round not done."""
        stop = min(stop, number + self._conversation.left())
        quiet = self._quiet(number, stop)
        for rules, shown in self._shown():
            stop = self._packed[rules].pass_over(number, stop, shown, rules.spare(), quiet)
        self._skip(number, stop, quiet)
        return stop

    def _skip(self, start: int, stop: int, quiet: bool) -> None:
        """Let the clocks run over rounds that changed nothing else."""
        if stop > start:
            self._learner.skip(stop - start, lambda rules: self._packed[rules].uncovered(stop))
            self._conversation.skip(stop - start)
            if self.counter is not None and quiet:
                self.counter.note(start, stop)

    def _quiet(self, start: int, stop: int) -> bool:
        """Whether mistakes of the default that only count can be passed over."""
        return self.counter is not None and self.counter.knows_all(start, stop)

    def _shown(self) -> list[tuple[Any, bool]]:
        """The rules that decide, and whether their guess is shown."""
        return self._lists if self._alone else self._learner.rule_lists()

    def _changes(self) -> int:
        """How often rules have changed."""
        return sum(packed.changes for packed in self._packed.values())

    def _over(self) -> bool:
        """Whether the lesson ends here, or a feature cannot be read on every item."""
        unreadable = any(packed.unreadable for packed in self._packed.values())
        return unreadable or not self._conversation.left()
