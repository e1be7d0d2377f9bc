"""How fast is `teach`? Rounds per second, and whether the number of features costs anything.

    python benchmarks/teach.py [--json]

Items are frozensets of 20 features drawn from d; the teacher thinks in a few components, so rules
stay few. The bar is 100 000 rounds a second at d = 1000 (issue 2); the cost per round must not grow
with d. Times are the best of several runs in one process; ratios are what to look at.
"""

from __future__ import annotations

import json
import platform
import random
import sys
import time

import tellapart as ta

ROUNDS = 50_000
PRESENT = 20
COMPONENTS = 4
REPEATS = 5


def stream(d: int, seed: int = 1) -> list[frozenset[str]]:
    """Items with a feature of their component and others at random; four components."""
    generator = random.Random(seed)
    kinds = [f"kind{number}" for number in range(COMPONENTS)]
    names = [f"f{number}" for number in range(d - COMPONENTS)]
    items = [
        frozenset([generator.choice(kinds), *generator.sample(names, PRESENT - 1)])
        for _ in range(ROUNDS)
    ]
    return items


class FromKind:
    """The cheapest honest teacher: looks the label up and names the item's kind."""

    def __init__(self, items: list[frozenset[str]]) -> None:
        self.label = {item: next(f for f in item if f.startswith("kind")) for item in items}

    def answer(self, item: frozenset[str], guess: ta.Guess) -> ta.Correction | None:
        label = self.label[item]
        if guess.label == label:
            return None
        return ta.Correction(label, None if guess.label is None else label)


def rounds_per_second(make, d: int) -> float:
    items = stream(d)
    best = float("inf")
    for _ in range(REPEATS):
        learner, teacher = make(), FromKind(items)
        start = time.perf_counter()
        lesson = ta.teach(learner, teacher, items)
        best = min(best, time.perf_counter() - start)
        assert lesson.mistakes <= ta.theory.adaptive_bound(COMPONENTS, 0)
    return ROUNDS / best


LEARNERS = {
    "DFF": ta.DFF,
    "RobustDFF": lambda: ta.RobustDFF(COMPONENTS, 0, 0),
    "CappedDFF": lambda: ta.CappedDFF(COMPONENTS),
    "AdaptiveDFF": ta.AdaptiveDFF,
    "CappedDFF, remember": lambda: ta.CappedDFF(COMPONENTS, remember=True),
}


def main() -> None:
    sizes = (100, 1000, 10_000)
    table = {
        name: {d: rounds_per_second(make, d) for d in sizes} for name, make in LEARNERS.items()
    }
    if "--json" in sys.argv:
        print(json.dumps({"machine": platform.processor(), "rounds_per_second": table}))
        return
    print(f"Python {platform.python_version()}, {platform.machine()}, best of {REPEATS}")
    for name, speeds in table.items():
        shown = "  ".join(f"d={d}: {speed:>9,.0f}/s" for d, speed in speeds.items())
        print(
            f"{name:22}{shown}   slowest/fastest {min(speeds.values()) / max(speeds.values()):.2f}"
        )


if __name__ == "__main__":
    main()
