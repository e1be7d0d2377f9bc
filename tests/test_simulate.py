"""`simulate` against `teach`: the same lesson, round for round, and the same learner after it."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable

import pytest

import tellapart as ta
from tellapart.learners import BaseLearner, RuleList
from tellapart.learners.rule_list import Rule
from tellapart.model import Literal
from tellapart.representations import Component, Representation
from tellapart.teachers import Slipping
from tellapart.worlds import Listed, World

LEARNERS: dict[str, Callable[[World], BaseLearner]] = {
    "DFF": lambda w: ta.DFF(),
    "RobustDFF": lambda w: ta.RobustDFF(w.m, w.k, w.s),
    "RobustDFF, patient": lambda w: ta.RobustDFF(w.m, 2, 1, patience=0),
    "CappedDFF": lambda w: ta.CappedDFF(w.m),
    "CappedDFF, too small": lambda w: ta.CappedDFF(max(1, w.m - 2)),
    "AdaptiveDFF, growing": lambda w: ta.AdaptiveDFF(),
    "AdaptiveDFF, ruler": lambda w: ta.AdaptiveDFF("ruler"),
    "StRoDFF": lambda w: ta.StRoDFF(w.m, 0.05, 0.02, 0.1),
    "StRoDFF, scaled": lambda w: ta.StRoDFF(w.m, 0.05, 0.02, 0.1, scale=0.01),
    "StRoDFF, scale 0": lambda w: ta.StRoDFF(w.m, 0.0, 0.0, 0.1, scale=0),
    "StRoDFF, printed": lambda w: ta.StRoDFF(w.m, 0.05, 0.02, 0.1, 0.02, as_printed=True),
    "Guarded": lambda w: ta.Guarded(ta.DFF(), ta.CappedDFF(w.m)),
    "Guarded, with a clock": lambda w: ta.Guarded(
        ta.StRoDFF(w.m, 0.05, 0.05, 0.1, scale=0.01), ta.RobustDFF(w.m, w.k, w.s)
    ),
    "Guarded, nested": lambda w: ta.Guarded(
        ta.Guarded(ta.AdaptiveDFF(), ta.StRoDFF(w.m, 0.1, 0.1, 0.1, scale=0.005)),
        ta.CappedDFF(w.m),
    ),
    "CappedDFF, remembering": lambda w: ta.CappedDFF(w.m, remember=True),
    "StRoDFF, remembering": lambda w: ta.StRoDFF(w.m, 0.05, 0.05, 0.1, 0.01, remember=True),
    "Guarded, remembering": lambda w: ta.Guarded(
        ta.DFF(remember=True), ta.CappedDFF(w.m), remember=True
    ),
}


def random_world(seed: int) -> World:
    """A small world: made, or listed one by one."""
    generator = random.Random(f"{seed}/world")
    n = generator.choice([1, 2, 63, 64, 65, *[generator.randrange(3, 60) for _ in range(5)]])
    kind = generator.randrange(20)
    if kind == 0:
        return ta.worlds.zoo(seed)
    if kind == 1:
        return ta.worlds.lower_bound(generator.randrange(2, 8), seed)
    if kind == 2:
        explained = generator.random() < 0.5
        return ta.worlds.single_exception(
            generator.randrange(2, 40), explained=explained, seed=seed
        )
    if kind == 3:
        return ta.worlds.returning_exception(generator.randrange(1, 20))
    if kind < 6:
        return ta.worlds.quiet_majority(n, 0.2, 4, seed)
    m = generator.randrange(1, 9)
    make = ta.worlds.tree if kind < 18 else ta.worlds.dnf
    features = generator.choice([10, 100]) if kind < 18 else 200
    return make(
        n,
        features,
        m,
        generator.randrange(1, m + 1),
        generator.choice([0, 0, 0.05, 0.3]),
        seed,
        placement=generator.choice(["random", "burst", "early"]),
        similar=generator.choice([None, 1]),
    )


def assert_same(make: Callable[[World], BaseLearner], world: World) -> None:
    taught, simulated = make(world), make(world)
    expected = ta.teach(taught, world.teacher(), world.items)
    assert ta.simulate(simulated, world) == expected, (world, simulated)
    assert simulated.to_json() == taught.to_json()
    assert simulated.model == taught.model


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, 40))]
)
def test_every_learner_on_a_thousand_random_worlds(part):
    for seed in range(part, 1000, 40):
        world = random_world(seed)
        for make in LEARNERS.values():
            assert_same(make, world)


@pytest.mark.slow
@pytest.mark.parametrize(
    "world",
    [
        ta.worlds.tree(7000, 50, 5, 3, exceptions=4, seed=2),
        ta.worlds.tree(7001, 200, 6, 6, exceptions=0, seed=5),
        ta.worlds.dnf(6999, 200, 4, 2, exceptions=0.001, seed=3),
        ta.worlds.tree(30_000, 50, 6, 3, exceptions=0.002, seed=3),
        ta.worlds.quiet_majority(6000, 0.002, 5),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["CappedDFF", "RobustDFF", "StRoDFF, scaled", "StRoDFF, printed"])
def test_long_stretches_without_a_mistake(world, name):
    """Long enough for windows of all sizes."""
    assert_same(LEARNERS[name], world)


def test_a_learner_goes_on_where_it_was():
    """Taught before, and with a label that this world knows nothing of as its default."""
    world, other = ta.worlds.zoo(1), ta.worlds.zoo(2)
    learners = [ta.CappedDFF(7), ta.CappedDFF(7)]
    for learner in learners:
        learner.learn(other.items[0], ta.Guess(None, None), ta.Correction("stone"))
        ta.teach(learner, other.teacher(), other.items[:20])
    expected = ta.teach(learners[0], world.teacher(), world.items)
    assert ta.simulate(learners[1], world) == expected
    assert learners[1].to_json() == learners[0].to_json()
    again = ta.teach(learners[0], other.teacher(), other.items)
    assert ta.teach(learners[1], other.teacher(), other.items) == again


def test_a_feature_that_cannot_be_read_everywhere_is_read_where_it_is_met():
    """It is teach's business then, and so are its errors."""

    def heavy(item: dict[str, int]) -> bool:
        return item["weight"] > 3  # an error on the first items

    items = [{"n": n} | ({"weight": n} if n > 2 else {}) for n in range(40)]
    labels = ["heavy" if n > 3 else "light" for n in range(40)]
    light = Component("light", (Literal(lambda item: item["n"] > 3, False),))
    thick = Component("heavy", (Literal(lambda item: item["n"] > 3),))
    world = Listed("weights", items, labels, Representation((light, thick)), features=[])
    world.representation.separators[1, 0] = heavy
    world.representation.separators[0, 1] = ta.features.Named("light", lambda item: item["n"] <= 3)
    make = {"CappedDFF": lambda w: ta.CappedDFF(2), "DFF": lambda w: ta.DFF()}
    for learner in make.values():
        taught, simulated = learner(world), learner(world)
        outcomes = []
        for run in (
            lambda taught=taught: ta.teach(taught, world.teacher(), world.items),
            lambda simulated=simulated: ta.simulate(simulated, world),
        ):
            try:
                outcomes.append(run())
            except KeyError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]
        assert simulated.rounds == taught.rounds


def test_a_learner_with_its_own_reading_is_given_every_round():
    world = ta.worlds.zoo()
    seen: list[object] = []

    def reading(feature, item):
        seen.append(item)
        return ta.model.holds(feature, item)

    assert_same(lambda w: ta.CappedDFF(7, holds=ta.model.holds), world)
    lesson = ta.simulate(ta.CappedDFF(7, holds=reading), world)
    assert lesson == ta.teach(ta.CappedDFF(7), world.teacher(), world.items)
    assert any(item is world.items[-1] for item in seen)


class Counting(RuleList):
    """A learner of one's own that looks at every round, and says so."""

    idle = None

    def __init__(self, **keywords) -> None:
        super().__init__(**keywords)
        self.looked = 0

    def update(self, item, guess, correction) -> None:
        self.looked += 1
        super().update(item, guess, correction)

    def wrong(self, rule: Rule, feature) -> None:
        self.extend(rule, feature)


def test_a_learner_that_must_see_every_round_does():
    learner = Counting()
    ta.simulate(learner, ta.worlds.tree(500, 20, 4, 2, seed=1))
    assert learner.looked == learner.rounds == 499


class Bare:
    """The contract and nothing more: says what was said last."""

    def __init__(self) -> None:
        self.says = ta.Guess(None, None)

    def guess(self, item):
        return self.says

    def learn(self, item, guess, correction) -> None:
        if correction is not None:
            self.says = ta.Guess(correction.label, item)

    @property
    def model(self):
        return ta.DecisionList((), ta.Clause((), *self.says))


def test_a_learner_of_three_methods_is_enough():
    world = ta.worlds.zoo(3)
    lesson = ta.simulate(Bare(), world)
    assert lesson == ta.teach(Bare(), world.teacher(), world.items)
    assert (lesson.rounds, lesson.bound, lesson.rules_created) == (101, None, 0)


def test_a_teacher_of_ones_own_is_asked_in_every_round():
    world = ta.worlds.tree(600, 30, 4, 3, seed=2)
    labels = set(world.labels)

    def teacher():
        return Slipping(world.teacher(), 0.1, labels=labels, features=world.features, seed=1)

    taught, simulated = ta.CappedDFF(4), ta.CappedDFF(4)
    expected = ta.teach(taught, teacher(), world.items)
    assert ta.simulate(simulated, world, teacher=teacher()) == expected
    assert simulated.to_json() == taught.to_json()


@pytest.mark.parametrize("delta", [1e-300, 5e-324])
def test_a_delta_too_small_to_divide_by(delta: float) -> None:
    """8 t^3 / delta is no float then; the bound was no number, and two lessons were never equal."""
    world = ta.worlds.tree(2000, 4, 6, 3, 0.01, seed=108)
    for scale in (1.0, 0.0005):
        assert_same(lambda w, scale=scale: ta.StRoDFF(7, 0.01, 0.0, delta, scale), world)
    assert ta.theory.stochastic_bound(7, 0.01, 0.0, delta, 1000).total > 0


@pytest.mark.parametrize("make", [ta.worlds.tree, ta.worlds.dnf])
def test_worlds_lessons_and_learners_travel(make: Callable[..., World]) -> None:
    """To another process and back, as in a sweep of one's own; a world as what made it."""
    world = make(2000, 200, 5, 3, 0.02, seed=4, placement="burst", similar=2)
    learner = ta.StRoDFF(5, 0.02, 0.02, 0.1, scale=0.05)
    lesson = ta.simulate(learner, world)
    there = pickle.loads(pickle.dumps(world))
    assert len(pickle.dumps(world)) < 300
    assert list(there.labels) == list(world.labels)
    assert there.exceptions == world.exceptions
    assert pickle.loads(pickle.dumps(lesson)) == copy.deepcopy(lesson) == lesson
    for other in (pickle.loads(pickle.dumps(learner)), copy.deepcopy(learner)):
        assert other.to_json() == learner.to_json()
        assert ta.simulate(other, world) == ta.simulate(copy.deepcopy(learner), world)
    assert copy.deepcopy(learner).model.default.example.world is world
