"""`check_learner` says in words what is wrong with a learner."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

import tellapart as ta
from tellapart.checks import check_learner
from tellapart.learners import RuleList


class Latest:
    """The learner of docs/learners.md: the feature named last decides. Nothing is wrong with it."""

    idle: Any = "right"

    def __init__(self) -> None:
        self.rules: list[Any] = []
        self.first: Any = (None, None)

    def guess(self, item: Any) -> Any:
        return self.model.first_match(item)

    def learn(self, item: Any, guess: Any, correction: Any) -> None:
        item = self.keep(item)
        if guess.label is None:
            self.first = (correction.label, item)
        elif correction is not None and correction.feature is not None:
            self.rules.insert(0, (correction.feature, correction.label, item))

    def keep(self, item: Any) -> Any:
        return copy.copy(item)

    @property
    def model(self) -> Any:
        rules = (ta.Clause((ta.Literal(f),), label, item) for f, label, item in self.rules)
        return ta.DecisionList(tuple(rules), ta.Clause((), *self.first))


class KeepsTheItemItself(Latest):
    def keep(self, item: Any) -> Any:
        return item


class ChangesItems(Latest):
    def keep(self, item: Any) -> Any:
        kept = copy.copy(item)
        item["seen"] = True
        return kept


class GuessesAreTuples(Latest):
    def guess(self, item: Any) -> Any:
        return tuple(super().guess(item))


class CountsItsGuesses(Latest):
    guesses = 0

    def guess(self, item: Any) -> Any:
        self.guesses += 1
        return super().guess(item)


class ShowsTheItem(Latest):
    def guess(self, item: Any) -> Any:
        guess = super().guess(item)
        return guess if guess.label is None else ta.Guess(guess.label, item)


class ThrowsDice(Latest):
    def learn(self, item: Any, guess: Any, correction: Any) -> None:
        if guess.label is None or random.random() < 0.5:
            super().learn(item, guess, correction)


class KeepsDice(Latest):
    def __init__(self) -> None:
        super().__init__()
        self.dice = random.Random(1)


class ModelIsAMethod(Latest):
    def guess(self, item: Any) -> Any:
        return self.model().first_match(item)

    def model(self) -> Any:
        return super().model


class ModelIsAList(Latest):
    def guess(self, item: Any) -> Any:
        return super().model.first_match(item)

    @property
    def model(self) -> Any:
        return self.rules


class AnotherModel(Latest):
    idle = None

    def guess(self, item: Any) -> Any:
        return super().model.first_match(item)

    @property
    def model(self) -> Any:
        return ta.DecisionList((), ta.Clause((), *self.first))


class NoModel:
    def guess(self, item: Any) -> Any:
        return ta.Guess(None, None)

    def learn(self, item: Any, guess: Any, correction: Any) -> None:
        pass


class Believing(RuleList):
    """What DFF does. Nothing is wrong with it."""

    def wrong(self, rule: Any, feature: Any) -> None:
        self.extend(rule, feature)


class LearnsFromRightGuesses(Believing):
    def update(self, item: Any, guess: Any, correction: Any) -> None:
        super().update(item, guess, correction)
        if correction is None and self.rounds % 7 == 0 and self.rules:
            self.delete(self.rules[0])


class CountsRightGuesses(Believing):
    def __init__(self, **common: Any) -> None:
        super().__init__(**common)
        self.right = 0

    def update(self, item: Any, guess: Any, correction: Any) -> None:
        super().update(item, guess, correction)
        self.right += correction is None


class CountsInSecret(Believing):
    def __init__(self, **common: Any) -> None:
        super().__init__(**common)
        self._mistakes = 0

    def wrong(self, rule: Any, feature: Any) -> None:
        self._mistakes += 1
        self.extend(rule, feature)
        if self._mistakes % 3 == 0:
            self.delete(rule)


class NoCommonArguments(Believing):
    def __init__(self) -> None:
        super().__init__()


class RenamesItsArgument(Believing):
    def __init__(self, m: int = 3, **common: Any) -> None:
        super().__init__(**common)
        self.cap = m


class ForgetsSuper(Believing):
    def __init__(self, **common: Any) -> None:
        self.m = 3


class NeedsM(Believing):
    def __init__(self, m: int, **common: Any) -> None:
        super().__init__(**common)
        self.m = m


BROKEN: dict[Any, str] = {
    KeepsTheItemItself: "keep a copy",
    ChangesItems: "learn changed the item",
    GuessesAreTuples: r"guess must return a Guess\(label, example\), got \(None, None\)",
    CountsItsGuesses: "guessing changed the learner",
    ShowsTheItem: "because of .*, which was None",
    ThrowsDice: "the same answers led to another state",
    KeepsDice: "'dice' is a random generator, and is not saved.* Keep its seed",
    ModelIsAMethod: "model must be a property",
    ModelIsAList: r"model must be a DecisionList, got \[\]",
    AnotherModel: "and its model says",
    NoModel: "this has no model",
    LearnsFromRightGuesses: "another lesson than teach: `idle` is 'right', but such rounds change",
    CountsRightGuesses: "another state than teach: `idle` is 'right'",
    CountsInSecret: "begins with an underscore is not saved",
    NoCommonArguments: r"Take what every learner takes, and pass it on: def __init__",
    RenamesItsArgument: "has no attribute 'm'. Keep each argument of __init__ under its own name",
    ForgetsSuper: r"__init__ of ForgetsSuper must call super\(\).__init__\(\*\*common\)",
    NeedsM: r"argument: 'm'; give a function .* check_learner\(lambda: MyLearner\(m=7\)\)",
    Latest(): "cannot be called; give a function",
}


@pytest.mark.parametrize("make", BROKEN, ids=lambda made: getattr(made, "__name__", "object"))
def test_what_is_wrong_is_said_in_words(make: Any) -> None:
    with pytest.raises(AssertionError, match=f"(?s){BROKEN[make]}"):
        check_learner(make)


@pytest.mark.parametrize("make", [Latest, Believing])
def test_a_learner_of_ones_own_passes(make: Any) -> None:
    assert "check_idle" in check_learner(make)


def test_a_known_failure_must_fail() -> None:
    known = {"check_guess_is_first_match": "it shows another model"}
    assert "check_guess_is_first_match" not in check_learner(AnotherModel, known_failures=known)
    with pytest.raises(AssertionError, match="was expected to fail"):
        check_learner(Latest, known_failures=known)
