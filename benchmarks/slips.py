"""How many of the suspects are slips: precision at k against slips that were planted.

    python benchmarks/slips.py [--seeds 5]

k is the number of planted slips, of labels and features. "odd" counts the exceptions of the world
too, with k their number and that of the slips together: exceptions are as odd as slips, and nothing
but the teacher's word tells them apart. Beside it stand k rounds taken at random, the first k
mistakes, and the first k rounds of which the learner's final model says another label.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from statistics import mean

from tellapart import AdaptiveDFF, CappedDFF, teach, worlds
from tellapart.learners import BaseLearner
from tellapart.review import Listening, suspects
from tellapart.teachers import Slipping
from tellapart.worlds import World

WORLDS: dict[str, Callable[[int], World]] = {
    "tree, 1000 items": lambda seed: worlds.tree(1000, 100, 8, 4, seed=seed),
    "tree, 1000 items, 2 % exceptions": lambda seed: worlds.tree(1000, 100, 8, 4, 0.02, seed=seed),
    "tree, 300 items, m = 20": lambda seed: worlds.tree(300, 1000, 20, 5, 0.02, seed=seed),
    "dnf, 1000 items": lambda seed: worlds.dnf(1000, 100, 8, 4, seed=seed),
    "dnf, 1000 items, 2 % exceptions": lambda seed: worlds.dnf(1000, 100, 8, 4, 0.02, seed=seed),
    "dnf, 300 items, m = 15": lambda seed: worlds.dnf(300, 1000, 15, 5, 0.02, seed=seed),
    "zoo": worlds.zoo,
}


def precision(found: Iterable[int], true: set[int]) -> float:
    """The share of the first k that are true, k being how many are."""
    return sum(number in true for number in list(found)[: len(true)]) / len(true)


def trial(world: World, learner: BaseLearner, rate: float, seed: int) -> dict[str, float] | None:
    """One lesson under a slipping teacher, and what its suspects are worth."""
    labels = sorted(set(world.labels), key=str)
    slipping = Slipping(world.teacher(), rate, labels=labels, features=world.features, seed=seed)
    teacher = Listening(slipping)
    lesson = teach(learner, teacher, world.items)
    start = time.perf_counter()
    found = [suspect.round for suspect in suspects(teacher.history, learner)]
    seconds = time.perf_counter() - start
    slips = {slip.round for slip in slipping.made}
    if not slips:
        return None
    said = learner.model.predict(world.items)
    rounds = teacher.history.rounds
    return {
        "slips": len(slips),
        "precision": precision(found, slips),
        "odd": precision(found, slips | set(world.exceptions)),
        "random": len(slips) / len(world),
        "mistakes": precision(lesson.mistake_rounds, slips),
        "model": precision((n for n, y in enumerate(said) if y != rounds[n].label), slips),
        "seconds": seconds,
    }


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    seeds = parser.parse_args().seeds
    columns = ("slips", "precision", "odd", "random", "mistakes", "model", "seconds")
    print(f"{'world':36}{'learner':14}{'rate':>6}", *(f"{name:>10}" for name in columns))
    for name, make in WORLDS.items():
        for learner in (CappedDFF, AdaptiveDFF):
            for rate in (0.01, 0.03, 0.1):
                runs = []
                for seed in range(seeds):
                    world = make(seed)
                    taught = CappedDFF(world.m) if learner is CappedDFF else AdaptiveDFF()
                    runs.append(trial(world, taught, rate, seed))
                kept = [run for run in runs if run is not None]
                means = (mean(run[column] for run in kept) for column in columns)
                print(f"{name:36}{learner.__name__:14}{rate:6}", *(f"{m:10.2f}" for m in means))


if __name__ == "__main__":
    main()
