"""Trials: with slips counted as bad rounds, every bound holds."""

from __future__ import annotations

import pytest

from tellapart import worlds
from tellapart.lab.trial import bad_rounds, run, told_parameters
from tellapart.learners.by_name import make_learner, world_facts

LEARNERS = ("CappedDFF", "AdaptiveDFF", "RobustDFF", "RobustDFF:patience=0", "Guarded")


@pytest.mark.parametrize("rate", [0.0, 0.03, 0.2])
@pytest.mark.parametrize("seed", range(4))
def test_no_learner_errs_beyond_its_bound(seed: int, rate: float) -> None:
    for world in (worlds.zoo(seed), worlds.tree(150, 12, 4, 3, 0.05, seed)):
        facts = world_facts(*told_parameters(world, rate, seed), len(world))
        for name in LEARNERS:
            trial = run(world, make_learner(name, facts=facts), slip_rate=rate, seed=seed)
            if rate == 0 or name != "RobustDFF":  # more slips may be alike than it was told
                assert trial.bound is not None
            assert trial.bound is None or trial.lesson.mistakes <= trial.bound


def test_slips_and_exceptions_are_the_bad_rounds() -> None:
    world = worlds.zoo(3)
    trial = run(world, make_learner("capped", {"m": 7}), slip_rate=0.1, seed=3)
    bad = {*world.exceptions, *(slip.round for slip in trial.slips)}
    k, s = bad_rounds(world, trial.lesson, trial.slips)
    assert k == len(bad) > world.k
    assert 1 <= s <= k


def test_the_past_can_be_asked() -> None:
    world = worlds.zoo(2)
    trial = run(world, make_learner("capped", {"m": 7}), slip_rate=0.05, seed=2)
    assert trial.guess_at(0) == (None, None)
    for corrected in trial.lesson.corrections[:5]:
        assert trial.guess_at(corrected.number) == corrected.guess
