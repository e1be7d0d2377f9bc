"""The silent teacher: the labels of another teacher, and some of the reasons."""

from __future__ import annotations

import pytest

import tellapart as ta
from tellapart.errors import ParameterError
from tellapart.teachers import Silent


def answers(rate: float, seed: int = 0) -> list[ta.Correction | None]:
    """To the same guess about every animal: it is like the first one."""
    world = ta.worlds.zoo()
    teacher = Silent(world.teacher(), rate, seed=seed)
    guess = ta.Guess(world.labels[0], world.items[0])
    return [teacher.answer(item, guess) for item in world.items]


def test_labels_are_those_of_the_other_teacher_and_reasons_too_if_given() -> None:
    for said, whole in zip(answers(0.5), answers(0.0), strict=True):
        if whole is None:
            assert said is None
        else:
            assert said in (whole, whole._replace(feature=None))
            assert whole.feature is not None


def test_rates() -> None:
    given = [
        sum(answer.feature is not None for answer in answers(rate) if answer)
        for rate in (0.0, 0.5, 1.0)
    ]
    assert given[0] == 60
    assert 20 < given[1] < 40
    assert given[2] == 0


def test_same_seed_same_silence() -> None:
    assert answers(0.5, 1) == answers(0.5, 1) != answers(0.5, 2)


@pytest.mark.parametrize("rate", [-0.1, 1.1, "often"])
def test_a_rate_is_from_0_to_1(rate: float) -> None:
    with pytest.raises(ParameterError, match="rate must be from 0 to 1"):
        Silent(ta.worlds.zoo().teacher(), rate)
