"""Reasons of many mistakes at once: what the teacher would say, counted as the learner would."""

from __future__ import annotations

import random

import pytest

import tellapart as ta
from tellapart.protocol import Guess


def odd_world(seed: int, items: int = 700) -> ta.worlds.MadeWorld:
    """A world with many exceptions, where the teacher now and then runs out of reasons."""
    generator = random.Random(f"{seed}/odd")
    make = generator.choice([ta.worlds.tree, ta.worlds.dnf])
    m = generator.randrange(1, 6)
    return make(
        items,
        generator.choice([5, 12, 300] if make is ta.worlds.tree else [60, 300]),
        m,
        generator.randrange(1, m + 1),
        generator.choice([0.02, 0.1, 0.4]),
        seed,
        placement=generator.choice(["random", "burst", "early"]),
        similar=generator.choice([None, 0, 1, 3]),
    )


def odd_learner(seed: int, world: ta.worlds.MadeWorld) -> ta.learners.BaseLearner:
    """A learner that counts."""
    generator = random.Random(f"{seed}/learner")
    m = max(1, world.m + generator.randrange(-1, 2))
    kind = generator.randrange(4)
    if kind == 0:
        return ta.RobustDFF(world.m, max(1, world.k), max(1, world.s))
    if kind == 1:
        k = generator.randrange(1, 40)
        patience = generator.choice([None, 0, 5, 100])
        return ta.RobustDFF(m, k, generator.randrange(1, k + 1), patience)
    scale = generator.choice([0, 0.001, 0.01, 0.1, 1])
    return ta.StRoDFF(m, 0.1, generator.choice([0.1, 0.02, 0]), 0.1, scale, kind == 2)


def same(learners, world) -> ta.Lesson:
    """Teach one, simulate the other: all alike, also what is asked for afterwards."""
    expected = ta.teach(learners[0], world.teacher(), world.items)
    lesson = ta.simulate(learners[1], world)
    assert lesson.mistakes == expected.mistakes
    assert lesson.mistake_rounds == expected.mistake_rounds
    assert lesson == expected
    assert lesson == expected, "asked again, the teacher says the same"
    assert learners[1].to_json() == learners[0].to_json()
    assert learners[1].model == learners[0].model
    return lesson


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_exceptions_are_counted_as_they_would_be_told(part):
    for seed in range(part, 160, 8):
        world = odd_world(seed)
        same([odd_learner(seed, world) for _ in range(2)], world)


@pytest.mark.parametrize("seed", range(6))
def test_a_learner_that_counted_before_goes_on(seed):
    """Its counters and its examples are known; those of another world are strange."""
    world = ta.worlds.tree(900, 30, 4, 2, 0.1, seed)
    other = ta.worlds.tree(60, 30, 4, 2, 0.1, seed + 1)
    learners = [ta.RobustDFF(5, 60, 4), ta.RobustDFF(5, 60, 4)]
    for learner in learners:
        ta.teach(learner, other.teacher(), other.items)
        ta.teach(learner, world.teacher(), world.items[:300])
    same(learners, world)


def test_few_rounds_are_told():
    """A thousand exceptions and many more mistakes, of which the teacher is asked for few."""
    world = ta.worlds.tree(20_000, 100, 6, 3, 0.05, seed=4)
    asked = []
    honest = type(world.teacher()).answer

    class Counting(type(world.teacher())):
        def answer(self, item, guess):
            asked.append(item)
            return honest(self, item, guess)

    for learner in (
        ta.StRoDFF(world.m, 0.05, 0.05, 0.1, scale=0.1),
        ta.RobustDFF(world.m, world.k, world.s),
    ):
        asked.clear()
        teacher = world.teacher()
        teacher.__class__ = Counting
        world.teacher = lambda teacher=teacher: teacher
        lesson = ta.simulate(learner, world)
        assert lesson.mistakes > 2000
        assert len(asked) < 0.4 * lesson.mistakes, (learner, len(asked), lesson.mistakes)


@pytest.mark.parametrize("make", [ta.worlds.tree, ta.worlds.dnf])
def test_reasons_found_together_are_the_teachers(make):
    """One rule, whose mistakes are all taken at once: each with the reason that is said aloud."""
    world = make(3000, 40 if make is ta.worlds.tree else 90, 4, 4, 0.2, seed=8, similar=2)
    learner = ta.RobustDFF(4, 100_000, 100_000)
    lesson = ta.simulate(learner, world)
    teacher = world.teacher()
    for told in lesson.corrections:
        assert teacher.answer(told.item, told.guess) == told.correction
        assert isinstance(told.guess, Guess)
    assert lesson.mistakes > 400
