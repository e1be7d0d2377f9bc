"""How often the 95 % error interval is false at any round of a lesson.

    python benchmarks/estimates.py [--lessons 1000] [--finite]

Without --finite the rounds are independent and the error of the model drifts in four ways. The last
column is the interval of Clopper and Pearson for the last run of right guesses, looked at after
every round. With --finite a fixed model labels a table that is read once; the statement is about
the rows not yet seen.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable

from tellapart.review import Progress
from tellapart.review.progress import is_above, is_below

RISK = 0.05
ROUNDS = 1000
# The error after a mistake, from a generator, the error before and the number of models so far.
DRIFTS: dict[str, Callable[[random.Random, float, int], float]] = {
    "stays 5 %": lambda chance, error, models: 0.05,
    "falls by a tenth with each mistake, down to 1 %": lambda chance, error, models: max(
        0.01, 0.9 * error
    ),
    "jumps between 2, 5, 10 and 30 %": lambda chance, error, models: chance.choice(
        [0.02, 0.05, 0.1, 0.3]
    ),
    "falls slowly from 30 % to 3 %": lambda chance, error, models: max(0.03, 0.3 - 0.003 * models),
}
FINITE = [(100, 1), (200, 4), (1000, 10), (5000, 50)]


def drifting(drift: Callable[[random.Random, float, int], float], seed: int) -> tuple[bool, bool]:
    """Whether the interval, and the last run alone, were false at any round of one lesson."""
    chance = random.Random(seed)
    progress = Progress()
    error = drift(chance, 0.3, 1)
    false = false_alone = False
    for _ in range(ROUNDS):
        mistake = chance.random() < error
        progress.add(mistake)
        if mistake:
            error = drift(chance, error, progress.models)
        stretch = progress.model
        false |= is_below(error, stretch, RISK) or is_above(error, stretch, RISK)
        false_alone |= (1 - error) ** stretch.rounds < RISK
    return false, false_alone


def finite(rows: int, wrong: int, seed: int) -> bool:
    """Whether the upper bound was false at any round, for a model with so many wrong rows."""
    mistakes = [True] * wrong + [False] * (rows - wrong)
    random.Random(seed).shuffle(mistakes)
    progress = Progress()
    for number, mistake in enumerate(mistakes[:-1], 1):
        progress.add(mistake, changed=False)
        wrong -= mistake
        if is_below(wrong / (rows - number), progress.model, RISK):
            return True
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lessons", type=int, default=1000)
    parser.add_argument("--finite", action="store_true")
    chosen = parser.parse_args()
    seeds = range(chosen.lessons)
    if chosen.finite:
        for rows, wrong in FINITE:
            share = sum(finite(rows, wrong, seed) for seed in seeds) / len(seeds)
            print(f"{rows} rows, {wrong} wrong: {share:.1%}")
        return
    for name, drift in DRIFTS.items():
        lessons = [drifting(drift, seed) for seed in seeds]
        false, alone = (sum(column) / len(seeds) for column in zip(*lessons, strict=True))
        print(f"{name}: {false:.3f}, last run alone {alone:.3f}")


if __name__ == "__main__":
    main()
