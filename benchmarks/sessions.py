"""How long a session takes to give and to take, and to undo.

    python benchmarks/sessions.py [--items 1000000] [--answers 10000] [--learner AdaptiveDFF]

The time of `next` and `answer` together, on a large table after many answers, beside that of a
fresh session on a hundred items; and of the candidate features for what was given. The bar: at most
twice as long, and a median under 50 ms.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import teaching
from tellapart.sessions import Given, Session, Store
from tellapart.tables import Row, Table

FEATURES = ["a", "b", "c", "NOT a", "NOT b", "NOT c", "n > 50", "n <= 50", "w > 5", "w <= 5"]


def made(items: int) -> Table:
    """A table of eight columns."""
    dice = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "id": np.arange(items),
            "a": dice.random(items) < 0.5,
            "b": dice.random(items) < 0.5,
            "c": dice.random(items) < 0.3,
            "n": dice.integers(0, 100, items),
            "w": dice.random(items) * 10,
            "colour": dice.choice(["red", "green", "blue"], items),
            "text": [f"number {n} of the {n % 7}th kind" for n in dice.integers(0, 500, items)],
        }
    )
    return Table(frame, id="id", name="made")


def truth(item: Row) -> str:
    """What an item is."""
    if item["a"] and item["n"] > 50:
        return "x"
    return "y" if item["b"] else "z"


def words(session: Session, given: Given, dice: random.Random) -> tuple[str, ...]:
    """A right answer, but for one in fifty."""
    label = truth(given.item) if dice.random() > 0.02 else dice.choice("xyz")
    return teaching.words(session, given, label, FEATURES)


def rounds(session: Session, count: int, *, look: bool = False) -> tuple[list[float], list[float]]:
    """Milliseconds of next and answer together, and of the candidates, round by round."""
    dice = random.Random(0)
    spent, looked = [], []
    for _ in range(count):
        start = time.perf_counter()
        given = session.next("Ann")
        middle = time.perf_counter()
        assert isinstance(given, Given)
        if look:
            session.candidates(given.id)
            looked.append(1e3 * (time.perf_counter() - middle))
        said = words(session, given, dice)
        again = time.perf_counter()
        session.answer("Ann", given.id, *said)
        spent.append(1e3 * (time.perf_counter() - again + middle - start))
    return spent, looked


def hot(items: int, answers: int, learner: str, order: str) -> None:
    """The large and the small session, in turns."""
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "a.db")) as store:
        new = partial(Session.new, store, learner=learner, order=order)
        large = new("large", made(items))
        start = time.perf_counter()
        rounds(large, answers)
        print(f"{answers:,} answers on {items:,} items: {time.perf_counter() - start:.1f} s")
        ours, theirs = [], []
        for number in range(5):
            small = new(f"small {number}", made(100))
            theirs.append(rounds(small, 90, look=True))
            ours.append(rounds(large, 90, look=True))
            small.close()
        for what, part in (("next + answer", 0), ("candidates", 1)):
            medians = [min(median(run[part]) for run in runs) for runs in (ours, theirs)]
            worst = max(max(run[part]) for run in ours)
            print(
                f"{what}, best median of 5 x 90: {medians[0]:.2f} ms; fresh on 100 items"
                f" {medians[1]:.2f} ms; ratio {medians[0] / medians[1]:.2f}; worst {worst:.0f} ms"
            )
        for way in ("undo", "redo"):
            times = []
            for _ in range(20):
                start = time.perf_counter()
                getattr(large, way)("Ann")
                times.append(1e3 * (time.perf_counter() - start))
            print(f"{way}: median {median(times):.0f} ms, worst {max(times):.0f} ms")
        large.close()


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--learner", default="AdaptiveDFF")
    parser.add_argument("--order", default="file")
    options = parser.parse_args()
    hot(options.items, options.answers, options.learner, options.order)


if __name__ == "__main__":
    main()
