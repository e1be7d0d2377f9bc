"""What several experiments share: the learners compared, and rows made of lessons."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping

import tellapart as ta
from tellapart.lab.experiment import Row
from tellapart.learners import BaseLearner
from tellapart.teachers import Hostile
from tellapart.worlds import World


def bounded_learners(m: int, k: int, s: int) -> dict[str, BaseLearner]:
    """Fresh learners with a bound on mistakes, by their names in rows and figures."""
    return {
        "RobustDFF": ta.RobustDFF(m, k, s),
        "RobustDFF, patience 0": ta.RobustDFF(m, k, s, patience=0),
        "CappedDFF": ta.CappedDFF(m),
        "AdaptiveDFF growing": ta.AdaptiveDFF(),
        "AdaptiveDFF ruler": ta.AdaptiveDFF("ruler"),
    }


def lesson_row(name: str, lesson: ta.Lesson) -> Row:
    """What most experiments record of a lesson."""
    return {
        "learner": name,
        "rounds": lesson.rounds,
        "mistakes": lesson.mistakes,
        "bound": lesson.bound,
        "rules": lesson.rules_created,
    }


def simulate_all(learners: Mapping[str, BaseLearner], world: World) -> list[Row]:
    """A row for each learner, all in the same world."""
    return [lesson_row(name, ta.simulate(one, world)) for name, one in learners.items()]


def teach_hostile(
    learners: Mapping[str, BaseLearner], m: int, k: int, s: int, seed: int
) -> list[Row]:
    """A row for each learner in islands, under a hostile teacher with k lies.

    There are rounds enough to get the most out of each lie: each island meets a rule made from a
    lie once in m rounds, and the rule lives for at most about k meetings with its own island.
    """
    world = ta.worlds.islands(int(1.3 * k * m * (k + 4)) + 200 * m, m, seed)
    return [
        lesson_row(name, ta.teach(learner, Hostile(world.teacher(), k, s), world.items))
        for name, learner in learners.items()
    ]


def rate_rows(name: str, lesson: ta.Lesson) -> list[Row]:
    """The rate of mistakes in the first n rounds, for n = 100, 316, 1000, ... and the whole."""
    rounds = lesson.mistake_rounds
    lengths = [int(10 ** (half / 2)) for half in range(4, 20)]
    lengths = [n for n in lengths if n < 0.99 * lesson.rounds] + [lesson.rounds]
    return [
        {
            "learner": name,
            "n": n,
            "mistakes": (mistakes := bisect_left(rounds, n)),
            "rate": mistakes / n,
            "rules": lesson.rules_created,
            "deleted": lesson.rules_deleted,
        }
        for n in lengths
    ]
