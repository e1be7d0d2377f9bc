"""What a learner must survive: odd items, odd answers, answers out of turn."""

import json
import math
import os
import random
import subprocess
import sys
from collections import OrderedDict

import numpy as np
import pytest

import tellapart as ta
from tellapart import Correction, Guess
from tellapart.checks import check_learner
from tellapart.errors import ParameterError, ProtocolError

LEARNERS = {
    "DFF": ta.DFF,
    "RobustDFF": lambda **kw: ta.RobustDFF(3, 2, 1, **kw),
    "StRoDFF": lambda **kw: ta.StRoDFF(3, 0.1, 0.1, 0.1, scale=0.01, **kw),
    "CappedDFF": lambda **kw: ta.CappedDFF(3, **kw),
    "AdaptiveDFF": ta.AdaptiveDFF,
    "Guarded": lambda **kw: ta.Guarded(ta.DFF(), ta.CappedDFF(3), **kw),
}
every_learner = pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)


def tell(learner, item, label, feature=None):
    """One round of a teacher who knows the label."""
    guess = learner.guess(item)
    right = guess.label == label
    learner.learn(item, guess, None if right else Correction(label, feature))


class Unhashable:
    __hash__ = None

    def __call__(self, item):
        return "c" in item


@every_learner
@pytest.mark.parametrize("remember", [False, True])
def test_a_guess_never_made_cannot_be_left_standing(make, remember):
    learner = make(remember=remember)
    tell(learner, {"a"}, "A")
    before = learner.to_json()
    with pytest.raises(ProtocolError, match="unknown round"):
        learner.learn({"b"}, Guess("nonsense", {"b"}), None)
    assert learner.to_json() == before


@every_learner
@pytest.mark.parametrize(
    "answer",
    ["B", ("B", "b"), Correction(["B"]), Correction("B", ["b"]), Correction("B", Unhashable())],
)
def test_an_answer_of_the_wrong_kind_changes_nothing(make, answer):
    learner = make()
    tell(learner, {"a"}, "A")
    tell(learner, {"b"}, "B", "b")
    before = learner.to_json()
    item = {"c"}
    answer = answer._replace(label="C") if getattr(answer, "label", None) == "B" else answer
    with pytest.raises(ProtocolError, match=r"must be hashable|an answer is"):
        learner.learn(item, learner.guess(item), answer)
    assert learner.to_json() == before
    with pytest.raises(ProtocolError, match="a Guess"):
        learner.learn(item, tuple(learner.guess(item)), Correction("C"))


@every_learner
def test_every_learner_reads_features_by_its_own_holds(make):
    learner = make(holds=lambda feature, number: number >= feature)
    for number in (1, 5, 9, 2, 6, 7, 1, 9):
        label = sum(number >= step for step in (3, 8))
        example = learner.guess(number).example
        steps = [s for s in (3, 8) if example is not None and example < s <= number]
        tell(learner, number, label, *steps[:1])
    assert learner.inconsistencies == []
    again = ta.load_learner(learner.to_json(), holds=learner.holds)
    assert [again.guess(n) for n in range(10)] == [learner.guess(n) for n in range(10)]


def test_a_guarded_part_keeps_a_holds_of_its_own():
    def own(feature, number):
        return number >= feature

    learner = ta.Guarded(ta.DFF(holds=own), ta.CappedDFF(2))
    assert learner.practical.holds is own
    assert learner.guaranteed.holds is ta.model.holds


@pytest.mark.parametrize("bad", [{"holds": "milk"}, {"remember": "yes"}, {"remember": 1}])
@every_learner
def test_keyword_arguments_are_checked(make, bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        make(**bad)


def test_whole_numbers_may_be_huge():
    assert ta.CappedDFF(10**400).m == 10**400


@every_learner
def test_a_missing_value_is_the_same_when_it_comes_again(make):
    learner = make(remember=True)
    tell(learner, {"a": 1, "x": math.nan}, "A")
    tell(learner, {"b": [1, {"y": float("nan")}]}, "B")
    item = {"b": [1, {"y": float("nan")}]}
    for reader in (learner, ta.load_learner(learner.to_json())):
        assert reader.guess(item) == Guess("B", item)


@pytest.mark.parametrize("item", [OrderedDict(a=1), {"a": [1]}, {"a": {"b": [1]}}, [1]])
def test_items_changed_by_their_owner_do_not_change_the_learner(item):
    learner = ta.DFF()
    learner.learn(item, learner.guess(item), Correction("A"))
    before = learner.to_json()
    if isinstance(item, list):
        item.append(2)
    else:
        inner = item["a"]["b"] if isinstance(item["a"], dict) else item["a"]
        inner.append(2) if isinstance(inner, list) else item.update(b=2)
    assert learner.to_json() == before


def test_numpy_numbers_as_labels():
    learner = ta.CappedDFF(3, remember=True)
    tell(learner, {"a"}, np.int64(0))
    tell(learner, {"b"}, np.int64(1), "b")
    again = ta.load_learner(learner.to_json())
    assert again.guess({"b"}) == learner.guess({"b"})
    assert json.loads(again.to_json()) == json.loads(learner.to_json())


FILE = """
learner = ta.CappedDFF(3, remember=True)
for number, label in enumerate("ABCDB"):
    item = {"milk", "eggs", f"f{number % 4}", ("legs", 4)}
    item = {"k": [{"x", "y", "z"}]} if number == 3 else item
    answer = ta.Correction(label, ta.Or("a", frozenset("bcd")))
    learner.learn(item, learner.guess(item), answer)
assert len(learner.inconsistencies) == 4, learner.inconsistencies
print(learner.to_json(), learner.model)
"""
SETS = """
import random
draw, learner = random.Random(5), ta.AutoDFF()
for _ in range(80):
    item = frozenset(draw.sample("abcdefghijklmnop", 6))
    label = "red" if {"a", "c"} & item else "green" if "k" in item else "blue"
    guess = learner.guess(item)
    correction = None if guess.label == label else ta.Correction(label)
    if correction and guess.example is not None and (apart := sorted(item - guess.example)):
        correction = ta.Correction(label, apart[0])
    learner.learn(item, guess, correction)
print(learner.to_json(), learner.model)
"""
WORDS = """
import random
draw = random.Random(7)
words = [f"{a}{b}{c}" for a in "bdfk" for b in "aeiou" for c in ("lt", "rm", "n", "st")]
texts = [" ".join(draw.choices(words, k=12)) + f"-v{n % 7}" for n in range(120)]
table = ta.Table({"text": texts, "path": [t.replace(" ", "/") for t in texts]})
print([str(one) for one in table.features(words=30)])  # most words are equally common
for n in range(6):
    pair = table.items[n], table.items[n + 6]
    print([str(one.feature) for one in table.candidates(*pair, limit=40)])
"""


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(FILE, id="file"),
        pytest.param(SETS, id="sets", marks=pytest.mark.slow),
        pytest.param(WORDS, id="words", marks=pytest.mark.slow),
    ],
)
def test_nothing_depends_on_the_order_of_a_set(program: str) -> None:
    printed = {
        subprocess.run(
            [sys.executable, "-c", f"import tellapart as ta\n{program}"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in "123"
    }
    assert len(printed) == 1
    assert printed.pop().strip()


class Chancy(ta.learners.RuleList):
    """Drops rules by chance."""

    def __init__(self, **common):
        super().__init__(**common)
        self._draw = random.Random(1)

    def wrong(self, rule, feature):
        self.extend(rule, feature)
        if self._draw.random() < 0.3:
            self.delete(rule)


def test_a_generator_that_is_not_saved_is_noticed():
    with pytest.raises(AssertionError, match="'_draw' is a random generator, and is not saved"):
        check_learner(Chancy)
