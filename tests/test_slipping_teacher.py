"""The teacher who slips: when, how often, and what is kept of it."""

from __future__ import annotations

import pytest

from tellapart import DFF, CappedDFF, Correction, Guess, teach, worlds
from tellapart.errors import ParameterError
from tellapart.teachers import Slipping

LABELS = ("amphibian", "bird", "fish", "insect", "invertebrate", "mammal", "reptile")


def slipping(rate: float, seed: int = 0) -> Slipping:
    world = worlds.zoo(seed)
    return Slipping(world.teacher(), rate, labels=LABELS, features=world.features, seed=seed)


@pytest.mark.parametrize("seed", range(5))
def test_slips_fall_in_the_same_rounds_for_every_learner(seed: int) -> None:
    world = worlds.zoo(seed)
    for learner in (DFF(), CappedDFF(m=7)):
        teacher = slipping(0.1, seed)
        teach(learner, teacher, world.items)
        assert [slip.round for slip in teacher.made] == teacher.rounds(len(world))


def test_a_slip_is_recorded_as_said_and_as_meant() -> None:
    world = worlds.zoo(1)
    teacher, honest = slipping(0.3, 1), world.teacher()
    learner = CappedDFF(m=7)
    for number, item in enumerate(world.items):
        guess = learner.guess(item)
        answer, truth = teacher.answer(item, guess), honest.answer(item, guess)
        if teacher.made and teacher.made[-1].round == number:
            slip = teacher.made[-1]
            assert (slip.item, slip.meant, slip.said) == (item, truth, answer)
            assert slip.said != slip.meant
            assert slip.said.label != guess.label
        else:
            assert answer == truth
        learner.learn(item, guess, answer)
    assert 15 < teacher.slips < 50


def test_rates_of_nothing_and_everything() -> None:
    world = worlds.zoo()
    teacher = slipping(0.0)
    assert teach(CappedDFF(m=7), teacher, world.items).mistakes == 22
    assert not teacher.slips
    teacher = slipping(1.0)
    assert teach(CappedDFF(m=7), teacher, world.items).mistakes == 100
    assert teacher.slips == 101


def test_with_nothing_to_slip_to_it_does_not_slip() -> None:
    world = worlds.zoo()
    teacher = Slipping(world.teacher(), 1.0, labels=["mammal"])
    assert teacher.answer(world.items[0], Guess(None, None)) == Correction("mammal")
    assert not teacher.slips


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan"), "often"])
def test_a_rate_is_from_0_to_1(rate: float) -> None:
    with pytest.raises(ParameterError, match="rate must be from 0 to 1"):
        Slipping(worlds.zoo().teacher(), rate, labels=LABELS)
