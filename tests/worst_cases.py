"""The worst case of a learner, checked to be a lesson that the rules allow."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import Any

import tellapart as ta
from tellapart.adversary.worst_case import WorstCase, worst_case
from tellapart.learners import (
    BaseLearner,
)
from tellapart.protocol import Correction, Guess, Item


class Transcript:
    """A teacher who says what was said, whatever the guess."""

    def __init__(self, worst: WorstCase) -> None:
        self.said = dict(zip(worst.items, worst.corrections, strict=True))

    def answer(self, item: Item, guess: Guess) -> Correction | None:
        return self.said[item]


def replay(learner: BaseLearner, worst: WorstCase) -> int:
    """The mistakes of a fresh learner in the lesson."""
    lesson = ta.teach(learner.clone(), Transcript(worst), worst.items)
    assert not lesson.inconsistencies
    return lesson.mistakes


def assert_legal(worst: WorstCase, *, same_feature: bool = False) -> None:
    """The lesson is one of a world with m components, k bad rounds and s alike among them."""
    home = dict(zip(worst.items, worst.homes, strict=True))
    labels = {}
    bad = 0
    alike: Counter[Any] = Counter()
    reasons = defaultdict(set)
    assert len(home) == len(worst.items), "an item came twice"
    for t, (item, guess, correction) in enumerate(
        zip(worst.items, worst.guesses, worst.corrections, strict=True)
    ):
        here = home[item]
        assert 0 <= here.component < worst.m
        bad += here.exception
        label = guess.label if correction is None else correction.label
        if here.exception:
            assert label not in labels.values()
        else:
            assert labels.setdefault(here.component, label) == label
        if correction is None:
            continue
        assert correction.label != guess.label
        if t == 0:
            assert guess == (None, None)
            continue
        there, feature = home[guess.example], correction.feature
        both_ordinary = not here.exception and not there.exception
        if feature is None:
            bad += both_ordinary and here.component != there.component
            continue
        assert feature in item
        assert feature not in guess.example
        if both_ordinary:
            reasons[here.component, there.component].add(feature)
            for other in worst.items:
                if home[other].component == here.component:
                    assert feature in other
                if home[other].component == there.component:
                    assert feature not in other
        if here.exception and not there.exception and guess.example != worst.items[0]:
            alike[feature, there.component] += 1
    assert bad <= worst.k
    assert len(set(labels.values())) == len(labels)
    assert max(alike.values(), default=0) <= worst.s
    if same_feature:
        assert all(len(features) == 1 for features in reasons.values())


def attack(learner: BaseLearner, m: int, k: int, s: int | None = None, **options: Any) -> WorstCase:
    """`worst_case`, its lesson checked and taught."""
    worst = worst_case(learner, m, k, s, **options)
    assert_legal(worst, same_feature=options.get("same_feature", False))
    if worst.mistakes < math.inf:
        assert replay(learner, worst) == worst.mistakes
    return worst
