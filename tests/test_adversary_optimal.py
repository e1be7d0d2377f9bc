"""The value of the game, and the strategies that prove it."""

from __future__ import annotations

import pytest

from game_checker import Game
from tellapart import theory
from tellapart.adversary import OptimalCase, optimal_case
from tellapart.errors import ParameterError

slow = pytest.mark.slow
VALUES = [
    (1, 0, 0),
    (1, 1, 2),
    (1, 2, 4),
    (2, 0, 1),
    (3, 0, 3),
    pytest.param(1, 3, 6, marks=slow),
    pytest.param(2, 1, 4, marks=slow),
]


@pytest.mark.parametrize(("m", "k", "value"), VALUES)
def test_both_strategies_keep_what_they_promise(m: int, k: int, value: int) -> None:
    case, game = optimal_case(m, k), Game(m, k)
    assert case.mistakes == value <= theory.capped_bound(m, k)
    lessons = list(game.lines(case.item, case.answer, value))
    assert all(map(game.legal, lessons))
    assert game.most(case.guess) == value
    assert lessons


@pytest.mark.parametrize("m", [1, 2, 3])
def test_without_exceptions_it_is_the_bound_of_the_optimal_learner(m: int) -> None:
    assert optimal_case(m, 0).mistakes == theory.optimal_bound(m)


def test_the_checker_sees_a_learner_that_is_not_optimal() -> None:
    case, game = optimal_case(2, 0), Game(2, 0)
    assert game.most(case.guess) == 1
    assert game.most(lambda rounds, told: 0 if len(rounds) < 3 else case.guess(rounds, told)) == 3


def test_the_checker_sees_a_lesson_that_is_not_legal() -> None:
    """With a perfect teacher of two components, nobody errs twice who follows the feature."""
    game = Game(2, 0)
    first = ((), 0, 1, (False,))
    assert game.legal((first,))
    assert not game.legal((first, ((True,), 1, 0, (True, False))))
    assert Game(2, 1).legal((first, ((True,), 1, 0, (True, False))))


def test_the_strategies_end_with_their_value() -> None:
    case = optimal_case(2, 0)
    rounds = [case.answer([], (), 0)]
    with pytest.raises(ParameterError, match="no teacher can make a learner err again"):
        case.item(rounds)
    assert case.guess(rounds, (True,)) == 1


def test_a_large_game_is_given_up() -> None:
    with pytest.raises(ParameterError, match=r"more than 20 positions.*most_positions="):
        optimal_case(3, 1, most_positions=20)
    with pytest.raises(ParameterError, match="m must be an integer >= 1, got 0"):
        optimal_case(0, 1)
    assert repr(optimal_case(1, 1)) == "OptimalCase(m=1, k=1, mistakes=2)"
    assert isinstance(optimal_case(1, 0), OptimalCase)
