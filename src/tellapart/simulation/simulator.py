"""`simulate`: what `teach` does, found by jumping from mistake to mistake."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

from tellapart.model import DecisionList, holds
from tellapart.protocol import Conversation, Learner, Lesson, Stopper
from tellapart.simulation.corrections import Corrections
from tellapart.simulation.mistake_batches import MistakeBatches
from tellapart.simulation.packed_columns import words_for
from tellapart.simulation.packed_rules import PackedRules, World
from tellapart.theory.representation import Representation

_SIZES = (16, 32, 64, 128, 256, 1024, 4096)
"""How many words are looked at together: few after a change, then more and more."""
_INTEGERS = 4
"""Up to this place in `_SIZES`, columns are looked at as Python integers; then, as arrays."""


def simulate(learner: Learner, world: World, *, until: Stopper | None = None) -> Lesson:
    """The same lesson as `teach(learner, world.teacher(), world.items, until=until)`, fast.

    Between two mistakes nothing changes. So the learner's rules are evaluated on packed columns, 64
    items a word, until a guess is wrong; that round is given to the learner; and so on. The learner
    is the same object, and ends in the same state.

    Learners jump when they can name the rules that decide (`BaseLearner.rule_lists`): all that keep
    a list of rules, and `Guarded` over such. These are given every round, as in `teach`: all other
    learners; learners with `remember=True`; learners that read features in another way than the
    world does (`holds=`); and, from there on, learners that are told a feature that cannot be read
    on every item.

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
    if jumps.batches is None or not jumps.batches.stretches:
        return conversation.lesson(number)
    told, stretches = conversation.corrections, jumps.batches.stretches
    return conversation.lesson(number, Corrections(told, stretches, world, conversation.teacher))


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
        self._learner, self._conversation = learner, conversation
        self._world: Any = world
        # (the class is asked: a wrapper may pass on an attribute, and guess in its own way)
        speaks = hasattr(type(learner), "rule_lists")
        self._lists: list[tuple[Any, bool]] = (learner.rule_lists() if speaks else None) or []
        reading = getattr(world, "reading", holds)
        self.possible = bool(self._lists) and all(r.holds is reading for r, _ in self._lists)
        self._alone = self._lists == [(learner, True)]
        self._packed: dict[Any, PackedRules] = {}
        self._examined, self._never_wrong = -1, False
        self.batches: MistakeBatches | None = None

    def run(self) -> int:
        """Go as far as jumps go; returns the first round not done."""
        number = 0
        if len(self._world) and self._learner.guess(self._world.items[0]).label is None:
            self._conversation.round(0, self._world.items[0])
            number = 1
        for rules, _ in self._lists:
            self._packed[rules] = PackedRules(self._world, rules.default.label, number - 1)
        if self._answers_known():
            packed = self._packed[self._learner]
            self.batches = MistakeBatches(self._learner, packed, self._world, self._conversation)
        try:
            for rules, packed in self._packed.items():
                rules.use(packed)
            return self._go_on(number)
        finally:
            for rules in self._packed:
                rules.use(None)

    def _answers_known(self) -> bool:
        """Whether the world computes the teacher's answers, and a batch of mistakes is enough."""
        if not self._alone or self._conversation.watched or not hasattr(self._world, "answers"):
            return False
        examples = [rule.example for rule in self._learner.rules]
        return all(map(self._world.has, [self._learner.default.example, *examples]))

    def _go_on(self, number: int) -> int:
        end, level = len(self._world), 0
        while number < end and not self._over():
            before = self._changes()
            if level <= _INTEGERS:
                number, given = self._look_at(number, _SIZES[level])
                level = min(level + 1, _INTEGERS) if given else level + 2
                if not given and self._settled():
                    number, level = self._next_exception(number), 0
            else:
                stop = min(end, (number >> 6) + _SIZES[level] << 6)
                number = self._pass_over(number, stop)
                level = level + 1 if number == stop else 0
            level = 0 if self._changes() != before else min(level, len(_SIZES) - 1)
        return number

    def _look_at(self, number: int, words: int) -> tuple[int, int]:
        """Go through a window of so many words.

        Returns the first round not done, and how often the learner was given a round. A window that
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
                event = self._packed[rules].find(number, event, shown, rules.spare_rounds(), quiet)
            self._skip(number, event, quiet)
            number = event
            if event < stop:
                number, given = self._give(event, end), given + 1
                if words > _SIZES[0] and self._changes() != before:
                    break
        return number, given

    def _give(self, number: int, end: int) -> int:
        """Give the learner a round; if that changes nothing, also the mistakes up to `end`."""
        changes = self._changes()
        slots = [packed.go_to(number) for packed in self._packed.values()]
        if self.batches is None:
            self._conversation.round(number, self._world.items[number])
            return number + 1
        self.batches.give(number, slots[0])
        unchanged = self._changes() == changes
        return self.batches.give_batch(number + 1, end) if unchanged else number + 1

    def _pass_over(self, number: int, stop: int) -> int:
        """Pass over rounds that change nothing; returns the first round not done."""
        stop = min(stop, number + self._conversation.left())
        quiet = self._quiet(number, stop)
        for rules, shown in self._shown():
            stop = self._packed[rules].pass_over(number, stop, shown, rules.spare_rounds(), quiet)
        self._skip(number, stop, quiet)
        return stop

    def _settled(self) -> bool:
        """Whether the rules can only err on exceptions."""
        if self._examined != self._changes():
            self._examined = self._changes()
            self._never_wrong = hasattr(self._world, "answers") and all(
                rules.spare_rounds() is None
                and never_wrong(rules.model, self._world.representation)
                for rules in self._packed
            )
        return self._never_wrong

    def _next_exception(self, number: int) -> int:
        """Go to the next exception; returns the first round not done."""
        exceptions = self._world.exceptions
        place = bisect_left(exceptions, number)
        stop = exceptions[place] if place < len(exceptions) else len(self._world)
        stop = min(stop, number + self._conversation.left())
        self._skip(number, stop, quiet=False)
        return int(stop)

    def _skip(self, start: int, stop: int, quiet: bool) -> None:
        """Let the clocks run over rounds that change nothing else."""
        if stop > start:
            self._learner.skip(stop - start, lambda rules: self._packed[rules].uncovered(stop))
            self._conversation.skip(stop - start)
            if self.batches is not None and quiet:
                self.batches.record_quiet(start, stop)

    def _quiet(self, start: int, stop: int) -> bool:
        return self.batches is not None and self.batches.quiet(start, stop)

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


def never_wrong(model: DecisionList, representation: Representation) -> bool:
    """Whether literals alone show that a model gives every item the label of its component.

    A clause that contradicts a literal of a component covers none of its items. A clause all of
    whose literals the component has covers all of them. Any other may cover some.

    >>> from tellapart.model import Clause, Literal
    >>> from tellapart.theory.representation import Component
    >>> model = DecisionList((Clause((Literal("fins", False),), "bird"),), Clause((), "fish"))
    >>> fish = Component("fish", (Literal("fins"),))
    >>> birds = Component("bird", (Literal("fins", False), Literal("wings")))
    >>> never_wrong(model, Representation((fish, birds)))
    True
    >>> penguins = Component("bird", (Literal("wings"),))  # may have fins, for all we know
    >>> never_wrong(model, Representation((fish, penguins)))
    False
    """
    for component in representation.components:
        known = dict(component.literals)
        for clause in model:
            if any(known.get(feature, wanted) != wanted for feature, wanted in clause.literals):
                continue
            if clause.label != component.label:
                return False
            if all(feature in known for feature, _ in clause.literals):
                break
    return True
