"""The learners that experiments compare, under the names they have in rows and figures."""

from __future__ import annotations

from bisect import bisect_left

import tellapart as ta
from tellapart.lab.experiment import Row
from tellapart.learners import BaseLearner
from tellapart.teachers import Hostile
from tellapart.worlds import World


def robust(m: int, k: int, s: int) -> dict[str, BaseLearner]:
    """Fresh learners with a bound on mistakes; each is told what it asks for."""
    return {
        "RobustDFF": ta.RobustDFF(m, k, s),
        "RobustDFF, patience 0": ta.RobustDFF(m, k, s, patience=0),
        "CappedDFF": ta.CappedDFF(m),
        "AdaptiveDFF growing": ta.AdaptiveDFF(),
        "AdaptiveDFF ruler": ta.AdaptiveDFF("ruler"),
    }


def against_hostile(
    learners: dict[str, BaseLearner], m: int, k: int, s: int, seed: int
) -> list[Row]:
    """A row for each learner after islands, under a hostile teacher with k lies.

    There are rounds enough to get the worst out of each lie: a rule made from one is met by every
    island once in m rounds, and lives for at most about k meetings with its own.
    """
    world = ta.worlds.islands(int(1.3 * k * m * (k + 4)) + 200 * m, m, seed)
    rows = []
    for name, learner in learners.items():
        lesson = ta.teach(learner, Hostile.of(world.teacher(), k, s), world.items)
        rows.append(lesson_row(name, lesson))
    return rows


def lesson_row(name: str, lesson: ta.Lesson) -> Row:
    """What most experiments note down of a lesson."""
    return {
        "learner": name,
        "rounds": lesson.rounds,
        "mistakes": lesson.mistakes,
        "bound": lesson.bound,
        "rules": lesson.rules_created,
    }


def in_world(learners: dict[str, BaseLearner], world: World) -> list[Row]:
    """A row for each learner after the same world."""
    return [lesson_row(name, ta.simulate(one, world)) for name, one in learners.items()]


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
