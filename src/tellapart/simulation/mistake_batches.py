"""A lone learner in a made world is given its mistakes in batches, until a rule changes.

`RobustDFF` and `StRoDFF` count many mistakes before a rule changes. In a made world the teacher's
answers to many mistakes can be computed at once (`MadeWorld.answers`). So all mistakes of a window
are found together, and handed to the learner's own `_wrong` one after another. Those that changed
nothing are not recorded one by one: a `Stretch` of rounds says where they are.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, cast

import numpy as np

from tellapart.model import DecisionList
from tellapart.protocol import Conversation, Correction, Feature, Round
from tellapart.simulation.corrections import Stretch
from tellapart.simulation.packed_rules import PackedRules

_DEFAULT = -1  # in place of a slot


class MistakeBatches:
    """Gives mistakes to a learner whose rules alone decide, in a lesson that nobody watches.

    Parameters
    ----------
    learner : RuleLearner
        All its examples are items of the world.
    rules : PackedRules
        Its rules over the columns of the world.
    world : MadeWorld
        Computes what the teacher answers.
    conversation : Conversation
        Has the teacher, and takes the mistakes that change a rule.
    """

    def __init__(
        self, learner: Any, rules: PackedRules, world: Any, conversation: Conversation
    ) -> None:
        self._learner, self._rules, self._world = learner, rules, world
        self._corrections, self._teacher = conversation.corrections, conversation.teacher
        self.stretches: list[Stretch] = []
        """Where the mistakes are that changed nothing."""

    def give(self, number: int, slot: int | None) -> None:
        """Give the learner a round as `learn` would, without its checks: answers are sound here."""
        learner, item = self._learner, self._world.items[number]
        rule = None if slot is None else learner.rule(slot)
        guess = learner.default if rule is None else rule.guess
        correction = self._teacher.answer(item, guess)
        learner.rounds += 1
        if correction is not None:
            self._corrections.append(Round(number, item, guess, correction))
        if rule is None:
            learner._uncovered(item, guess.label if correction is None else correction.label)
        elif correction is not None:
            learner._wrong(rule, correction.feature)

    def give_batch(self, start: int, stop: int) -> int:
        """Give the learner all mistakes from `start` to `stop`, which are in the window.

        Returns the first round not done: after the mistake that changed a rule, or before an
        uncovered item of which a rule may be created.
        """
        learner, rules = self._learner, self._rules
        model, before, changes = learner.model, learner.rounds, rules.changes
        stop, found, by_default, uncovered = rules.all_mistakes(start, stop, learner.spare_rounds())
        rule_in = {slot: learner.rule(slot) for slot, _ in found}
        wrong, reason, ahead, decided = learner._wrong, self._world.reason, before + 1 - start, None
        for number, slot, code, against in self._answers(found, by_default, stop):
            known = code >= 0 > against
            feature = reason(code) if known else self._ask(number, slot, code, against)
            if slot != _DEFAULT:
                learner.rounds = number + ahead
                wrong(rule_in[slot], feature)
                if rules.changes != changes:
                    item, correction = self._world.items[number], self._world.labels[number]
                    guess = rule_in[slot].guess
                    decided = Round(number, item, guess, Correction(correction, feature))
                    stop = number
                    break
        mistakes = sum(rules.count(bits, stop) for bits in (by_default, *(b for _, b in found)))
        self._record(start, stop, mistakes, model)
        learner.rounds = before
        learner.skip(stop - start, lambda _: rules.count(uncovered, stop))
        if decided is None:
            return stop
        learner.rounds += 1
        self._corrections.append(decided)
        return stop + 1

    def _answers(
        self, found: list[tuple[int, int]], by_default: int, stop: int
    ) -> list[tuple[int, int, int, int]]:
        """Mistakes in order: items, slots, and what `MadeWorld.answers` says of them.

        The learner ignores answers to mistakes of the default. They are left out, unless the
        teacher will remember what he said.
        """
        learner = self._learner
        erred = [(slot, learner.rule(slot).example, bits) for slot, bits in found]
        if by_default:
            erred.append((_DEFAULT, learner.default.example, by_default))
        if not erred:
            return []
        parts = [self._rules.numbers(bits, stop) for _, _, bits in erred]
        sizes, items = list(map(len, parts)), np.concatenate(parts)
        order = np.argsort(items, kind="stable")  # fast, because each part is sorted
        items = items[order]
        slots = np.repeat([slot for slot, _, _ in erred], sizes)[order]
        examples = np.repeat([example.number for _, example, _ in erred], sizes)[order]
        codes, against = self._world.answers(items, examples)
        kept = (slots != _DEFAULT) | (against >= 0)
        columns = (each[kept].tolist() for each in (items, slots, codes, against))
        return list(zip(*columns, strict=True))

    def _ask(self, number: int, slot: int, code: int, against: int) -> Feature:
        """What the teacher says of an item, where `MadeWorld.answers` does not know it."""
        teacher: Any = self._teacher
        item, feature = self._world.items[number], None
        if code >= 0:
            feature = teacher.name(item, [self._world.reason(code)], against)
        if feature is None:
            learner = self._learner
            guess = learner.default if slot == _DEFAULT else learner.rule(slot).guess
            feature = teacher.answer(item, guess).feature
        return cast(Feature, feature)

    def quiet(self, start: int, stop: int) -> bool:
        """Whether mistakes of the default in these rounds need not be looked at one by one.

        The learner must only count them, and no round may hold an exception: the teacher remembers
        what he said of those.
        """
        exceptions = self._world.exceptions
        unseen = bisect_left(exceptions, start) == bisect_left(exceptions, stop)
        return unseen and self._learner.spare_rounds() is not None

    def record_quiet(self, start: int, stop: int) -> None:
        """Record the mistakes of the default in rounds that were passed over."""
        mistakes = self._rules.default_mistakes(stop)
        if mistakes:
            self._record(start, stop, mistakes, self._learner.model)

    def _record(self, start: int, stop: int, mistakes: int, model: DecisionList) -> None:
        last = self.stretches[-1] if self.stretches else None
        if last is not None and last.stop == start and last.model is model:
            self.stretches[-1] = Stretch(last.start, stop, last.mistakes + mistakes, model)
        elif mistakes:
            self.stretches.append(Stretch(start, stop, mistakes, model))
