"""Mistakes that can do no more than count: told to the learner without asking the teacher.

`RobustDFF` and `StRoDFF` count many mistakes before a rule changes. In a made world the teacher's
answers can be computed for many items at once (`MadeWorld.answers`), so the mistakes of a window
are found together and handed to the learner's own `_wrong`, one after another, until a rule
changes. The teacher himself is asked only where his answer depends on what he said before.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, cast

import numpy as np

from tellapart.model import DecisionList
from tellapart.protocol import Conversation, Correction, Feature, Round
from tellapart.simulation.corrections import Stretch
from tellapart.simulation.packed_rules import PackedRules

_DEFAULT = -1  # in place of the slot of a rule


class MistakeCounter:
    """Counts mistakes for a learner that is alone, in a lesson that nobody watches.

    Parameters
    ----------
    learner : RuleLearner
        Told of the mistakes of its rules.
    rules : PackedRules
        Its rules over the columns of the world.
    world : MadeWorld
        Knows what the teacher answers.
    conversation : Conversation
        Has the teacher, and takes the mistakes that change a rule.
    """

    def __init__(
        self, learner: Any, rules: PackedRules, world: Any, conversation: Conversation
    ) -> None:
        self._learner, self._rules, self._world = learner, rules, world
        self._conversation = conversation
        self.stretches: list[Stretch] = []
        """Where the mistakes are that were only counted."""

    def give(self, number: int, slot: int | None) -> None:
        """Give the learner a round, as `learn` would, without its checks."""
        learner, item = self._learner, self._world.items[number]
        rule = None if slot is None else learner.rule(slot)
        guess = learner.default if rule is None else rule.guess
        if not self._world.has(guess.example):  # then the teacher's answer may be none
            self._conversation.round(number, item)
            return
        correction = self._conversation.teacher.answer(item, guess)
        learner.rounds += 1
        if rule is None:
            learner._uncovered(item, guess.label if correction is None else correction.label)
        elif correction is not None:
            learner._wrong(rule, correction.feature)
        if correction is not None:
            self._conversation.corrections.append(Round(number, item, guess, correction))

    def run(self, start: int, stop: int) -> int:
        """Go on from round `start`, at most to `stop`, all in the window of the rules.

        Returns the first round not done: after a mistake that changed a rule, or the first that
        only the teacher and the learner themselves can settle.
        """
        learner, rules, changes = self._learner, self._rules, self._rules.changes
        model, before = learner.model, learner.rounds
        stop, found, by_default, uncovered = rules.mistakes(start, stop, learner.spare())
        told, stop = self._told(found, by_default, stop)
        rule_in = {slot: learner.rule(slot) for slot, _ in found}
        ahead, reason, wrong, decided = before + 1 - start, self._world.reason, learner._wrong, None
        for item, slot, code, against in told:
            feature = reason(code)
            if against >= 0 or code < 0:
                feature = self._ask(item, slot, code, against)
            if slot != _DEFAULT:
                learner.rounds = item + ahead
                wrong(rule_in[slot], feature)
                if rules.changes != changes:
                    correction = Correction(self._world.labels[item], feature)
                    guess = rule_in[slot].guess
                    decided = Round(item, self._world.items[item], guess, correction)
                    stop = item
                    break
        mistakes = sum(rules.count(bits, stop) for _, bits in found)
        self._note(start, stop, mistakes + rules.count(by_default, stop), model)
        learner.rounds = before
        learner.skip(stop - start, lambda _: rules.count(uncovered, stop))
        if decided is None:
            return stop
        learner.rounds += 1
        self._conversation.corrections.append(decided)
        return stop + 1

    def _ask(self, number: int, slot: int, code: int, against: int) -> Feature:
        """What the teacher says of an item, if that is not known before."""
        teacher: Any = self._conversation.teacher
        item, feature = self._world.items[number], None
        if code >= 0:
            feature = teacher.name(item, [self._world.reason(code)], against)
        if feature is None:
            learner = self._learner
            guess = learner.default if slot == _DEFAULT else learner.rule(slot).guess
            feature = teacher.answer(item, guess).feature
        return cast(Feature, feature)

    def knows_all(self, start: int, stop: int) -> bool:
        """Whether mistakes of the default from `start` to before `stop` can be noted unseen.

        They can if the learner only counts them, and if no exception is among them: of those the
        teacher keeps in mind what he said.
        """
        world, learner = self._world, self._learner
        if learner.spare() is None or not world.has(learner.default.example):
            return False
        return bisect_left(world.exceptions, start) == bisect_left(world.exceptions, stop)

    def note(self, start: int, stop: int) -> None:
        """Keep where the default made mistakes that were passed over."""
        mistakes = self._rules.quiet_mistakes(stop)
        if mistakes:
            self._note(start, stop, mistakes, self._learner.model)

    def _note(self, start: int, stop: int, mistakes: int, model: DecisionList) -> None:
        if self.stretches and self.stretches[-1].stop == start:
            last = self.stretches[-1]
            if last.model is model:
                self.stretches[-1] = Stretch(last.start, stop, last.mistakes + mistakes, model)
                return
        if mistakes:
            self.stretches.append(Stretch(start, stop, mistakes, model))

    def _told(
        self, found: list[tuple[int, int]], by_default: int, stop: int
    ) -> tuple[list[tuple[int, int, int, int]], int]:
        """Who is told of what, in order: items, slots, and what `MadeWorld.answers` says of them.

        And where that ends: of an example of another world nothing is known, so at the first
        mistake of its rule.
        """
        learner, rules, world = self._learner, self._rules, self._world
        erred = [(slot, learner.rule(slot).guess.example, bits) for slot, bits in found]
        if by_default:
            erred.append((_DEFAULT, learner.default.example, by_default))
        for _, example, bits in erred:
            if not world.has(example):
                stop = min(stop, rules.first_of(bits))
        erred = [each for each in erred if world.has(each[1])]
        if not erred:
            return [], stop
        parts = [rules.items_of(bits, stop) for _, _, bits in erred]
        sizes, items = list(map(len, parts)), np.concatenate(parts)
        order = np.argsort(items, kind="stable")  # quick, for each part is in order
        items = items[order]
        slots = np.repeat([slot for slot, _, _ in erred], sizes)[order]
        examples = np.repeat([example.number for _, example, _ in erred], sizes)[order]
        codes, against = world.answers(items, examples)
        # of the default's mistakes the teacher keeps in mind what he said; the learner ignores it
        kept = (slots != _DEFAULT) | (against >= 0)
        told = (each[kept].tolist() for each in (items, slots, codes, against))
        return list(zip(*told, strict=True)), stop
