"""`simulate` with learners of one's own: what it does not know of them, it does not assume."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tellapart as ta
from tellapart.learners import BaseLearner


class Latest(ta.CappedDFF):
    """Takes the last rule that covers an item, not the first."""

    def _match(self, item):
        covering = [rule for rule in self.rules if rule.clause.covers(item, self.holds)]
        return covering[-1] if covering else None


class Partial(ta.CappedDFF):
    """Has a mind of its own about items with f1."""

    def _guess(self, item):
        return self._first if self.holds("f1", item) else super()._guess(item)

    def _learn(self, item, guess, correction):
        if self.holds("f1", item):
            self.rounds += 1
        else:
            super()._learn(item, guess, correction)


class Deaf(ta.CappedDFF):
    """Will not hear of f3."""

    def _fault(self, feature, item, example):
        return "no" if feature == "f3" else super()._fault(feature, item, example)


class Vague(ta.CappedDFF):
    """Takes f3 for no reason at all."""

    def _reason(self, feature):
        return super()._reason(None if feature == "f3" else feature)


class Credulous(ta.RobustDFF):
    """Believes the first witness."""

    def _wrong(self, rule, feature):
        self._extend(rule, feature)
        if len(rule.features) >= self.m:
            self._delete(rule)


class Touchy(ta.RobustDFF):
    """Counts every counter against a rule."""

    def _odd_counts(self, rule):
        return rule.counted


class Forgetful(ta.RobustDFF):
    """Drops all rules with the one that goes."""

    def _delete(self, rule):
        for each in list(self.rules):
            super()._delete(each)


class Steady(ta.StRoDFF):
    """Its thresholds do not grow."""

    def _q(self, rate, since):
        return 2.0


class Eager(ta.StRoDFF):
    """Makes a rule of the second item that is not covered."""

    def ready(self, t, uncovered):
        return uncovered >= 2


class Impatient(ta.StRoDFF):
    """Makes a rule of the third, and does not ask whether it is time."""

    def _uncovered(self, item, label):
        self._uncovered_rounds += 1
        if self._uncovered_rounds >= 3:
            self._create(item, label)
            self._uncovered_rounds, self._last_rule = 0, self.rounds


class Sleepy(ta.StRoDFF):
    """Does not count uncovered rounds whose guess was right."""

    needs_every_round = False


class Swapped(ta.Guarded):
    """Shows the guaranteed learner first."""

    @property
    def shown(self):
        return self.practical if self._charged[0] < self._charged[1] else self.guaranteed


OWN: dict[str, Callable[[], BaseLearner]] = {
    "Latest": lambda: Latest(5),
    "Partial": lambda: Partial(5),
    "Deaf": lambda: Deaf(5),
    "Vague": lambda: Vague(5),
    "Credulous": lambda: Credulous(5, 20, 4),
    "Touchy": lambda: Touchy(5, 20, 4),
    "Forgetful": lambda: Forgetful(5, 6, 2),
    "Steady": lambda: Steady(5, 0.01, 0.01, 0.1, 0.01),
    "Eager": lambda: Eager(5, 0.01, 0.01, 0.1),
    "Impatient": lambda: Impatient(5, 0.01, 0.01, 0.1),
    "Sleepy": lambda: Sleepy(5, 0.01, 0.01, 0.1, 0.01),
    "Swapped": lambda: Swapped(ta.DFF(), ta.CappedDFF(5)),
}


@pytest.mark.parametrize("name", OWN)
def test_a_learner_that_overrides_anything_is_simulated_as_it_is_taught(name: str) -> None:
    for exceptions in (0, 0.02):
        world = ta.worlds.tree(800, 10, 5, 3, exceptions, seed=3)
        for make in (OWN[name], lambda: ta.Guarded(OWN[name](), ta.CappedDFF(5))):
            taught, simulated = make(), make()
            lesson = ta.teach(taught, world.teacher(), world.items)
            assert ta.simulate(simulated, world) == lesson
            assert simulated.to_json() == taught.to_json()


class Talkative(ta.CappedDFF):
    """Does something else with a round."""

    def _learn(self, item, guess, correction) -> None:
        self.heard = [*getattr(self, "heard", ()), correction]
        super()._learn(item, guess, correction)


class Brief(ta.CappedDFF):
    """Does something else with a mistake of a rule, and says that only mistakes change it."""

    jumps = True

    def _wrong(self, rule, feature) -> None:
        self.heard = [*getattr(self, "heard", ()), feature]
        super()._wrong(rule, feature)


def test_a_learner_that_learns_in_its_own_way_hears_every_round_unless_it_says_otherwise() -> None:
    world = ta.worlds.tree(3000, 50, 6, 3, seed=3)
    taught, told = Talkative(6), Talkative(6)
    lesson = ta.teach(taught, world.teacher(), world.items)
    assert ta.simulate(told, world) == lesson
    assert told.heard == taught.heard
    assert len(told.heard) == 2999
    taught, told = Brief(6), Brief(6)
    assert ta.teach(taught, world.teacher(), world.items) == lesson
    assert ta.simulate(told, world) == lesson
    assert told.heard == taught.heard
    assert len(told.heard) > 5


class Heir(Brief):
    """Says nothing itself."""


def test_only_the_class_that_says_so_jumps() -> None:
    assert Brief(6).rule_lists() is not None
    assert Heir(6).rule_lists() is None
    assert ta.CappedDFF(6, remember=True).rule_lists() is None


def test_a_method_of_one_object_counts_as_an_override() -> None:
    world = ta.worlds.tree(3000, 10, 5, 3, 0.02, seed=3)
    learners = [ta.CappedDFF(5), ta.CappedDFF(5)]
    for learner in learners:
        own: Any = learner
        own._match = lambda item: None  # never uses a rule
    lesson = ta.teach(learners[0], world.teacher(), world.items)
    assert ta.simulate(learners[1], world) == lesson
    assert lesson.rules_created == lesson.mistakes > 500


class Contrary:
    """Wraps a learner, and passes on everything but the guess."""

    def __init__(self, inner: BaseLearner) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def guess(self, item: Any) -> ta.Guess:
        return self.inner.default if "f1" in item else self.inner.guess(item)

    def learn(self, item: Any, guess: ta.Guess, correction: ta.Correction | None) -> None:
        if "f1" not in item or guess.label is None:
            self.inner.learn(item, guess, correction)


def test_a_wrapper_is_given_every_round() -> None:
    world = ta.worlds.tree(500, 10, 5, 3, 0.02, seed=4)
    lesson = ta.teach(Contrary(ta.CappedDFF(5)), world.teacher(), world.items)
    assert ta.simulate(Contrary(ta.CappedDFF(5)), world) == lesson
