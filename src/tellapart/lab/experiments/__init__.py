"""One experiment a file; `tellapart.lab.experiment.EXPERIMENTS` has their order.

This file has what several of them share: the learners compared, and the rows made of a lesson.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from math import log
from statistics import fmean
from typing import Any

import tellapart as ta
from tellapart.lab.experiment import Picture, Row
from tellapart.learners import BaseLearner
from tellapart.teachers import Hostile
from tellapart.worlds import World


def picture(
    caption: str, *, size: tuple[float, float] = (8.0, 4.5)
) -> Callable[[Callable[[Any], None]], Picture]:
    """Make a function that draws a picture, named like the experiment."""
    return lambda draw: Picture(draw.__module__.rpartition(".")[2], caption, draw, size)


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


def simulate_all(learners: dict[str, BaseLearner], world: World) -> list[Row]:
    """A row for each learner, all in the same world."""
    return [lesson_row(name, ta.simulate(one, world)) for name, one in learners.items()]


def teach_hostile(learners: dict[str, BaseLearner], m: int, k: int, s: int, seed: int) -> list[Row]:
    """A row for each learner in islands, under a hostile teacher with k lies.

    There are rounds enough to get the most out of each lie: each island meets a rule made from a
    lie once in m rounds, and the rule lives for at most about k meetings with its own island.
    """
    world = ta.worlds.islands(int(1.3 * k * m * (k + 4)) + 200 * m, m, seed)
    return [
        lesson_row(name, ta.teach(learner, Hostile.of(world.teacher(), k, s), world.items))
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


def exponent(xs: Iterable[float], ys: Iterable[float]) -> float:
    """The slope of the least-squares line through (log x, log y): p where y grows like x^p.

    >>> round(exponent([1, 2, 4], [3, 12, 48]), 2)
    2.0
    """
    points = [(log(x), log(y)) for x, y in zip(xs, ys, strict=True)]
    middle = fmean(x for x, _ in points), fmean(y for _, y in points)
    over = sum((x - middle[0]) * (y - middle[1]) for x, y in points)
    return over / sum((x - middle[0]) ** 2 for x, _ in points)
