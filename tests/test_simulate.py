"""`simulate` against `teach`: the same lesson, round for round, and the same learner after it."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

import tellapart as ta
from tellapart.learners import BaseLearner
from tellapart.worlds import World

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
    n = generator.choice([1, 2, 63, 64, 65, generator.randrange(3, 150)])
    kind = generator.randrange(10)
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
        return ta.worlds.returning_exception(generator.randrange(1, 30))
    if kind == 4:
        return ta.worlds.quiet_majority(n, 0.2, 4, seed)
    m = generator.randrange(1, 9)
    make = ta.worlds.tree if kind < 9 else ta.worlds.dnf
    features = generator.choice([10, 100]) if kind < 9 else 200
    exceptions = generator.choice([0, 0, 0.05, 0.3])
    return make(
        n,
        features,
        m,
        generator.randrange(1, m + 1),
        exceptions,
        seed,
        placement=generator.choice(["random", "burst", "early"]),
        similar=generator.choice([None, 1]),
    )


def assert_same(make: Callable[[World], BaseLearner], world: World) -> None:
    taught, simulated = make(world), make(world)
    expected = ta.teach(taught, world.teacher(), world.items)
    assert ta.simulate(simulated, world) == expected
    assert simulated.to_json() == taught.to_json()
    assert simulated.model == taught.model


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("part", range(4))
def test_same_as_teach(name: str, part: int) -> None:
    for seed in range(part, 1000, 4):
        assert_same(LEARNERS[name], random_world(seed))
