"""How long a round of AutoDFF takes on a table of 10,000 rows and 1,000 columns.

python benchmarks/short_list.py
python benchmarks/short_list.py --rounds 100
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import tellapart as ta
from tellapart.model import truth

ROWS, COLUMNS, TEXTS = 10_000, 500, 167


def table(seed: int = 0) -> tuple[ta.Table, list[str]]:
    """Bools, and texts of three values each; the labels follow the first few bools."""
    dice = np.random.default_rng(seed)
    held = dice.random((ROWS, COLUMNS)) < 0.3
    many = held[:, :5].sum(1) + (dice.random(ROWS) < 0.05) >= 2
    labels = np.where(many, "many", np.where(held[:, 7], "odd", "few"))
    columns: dict[str, list[object]] = {f"c{n}": held[:, n].tolist() for n in range(COLUMNS)}
    for n in range(TEXTS):
        columns[f"t{n}"] = [f"v{value}" for value in dice.integers(0, 3, ROWS)]
    return ta.Table(columns), labels.tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    rounds = parser.parse_args().rounds
    rows, labels = table()
    features = rows.features()
    learner, spent, mistakes = ta.AutoDFF(columns=features), [], 0
    for item, label in zip(list(rows.items[:rounds]), labels, strict=False):
        start = time.process_time()
        guess = learner.guess(item)
        correction = None
        if guess.label != label:
            mistakes += 1
            seen = guess.example
            told = [f for f in features[:8] if seen and truth(f, item) and not truth(f, seen)]
            correction = ta.Correction(label, told[0] if told else None)
        learner.learn(item, guess, correction)
        spent.append(1000 * (time.process_time() - start))
    print(
        f"{len(features)} columns, {rounds} rounds, {mistakes} mistakes; processor time of a round:"
        f" median {np.median(spent):.1f} ms, 95th percentile {np.percentile(spent, 95):.0f} ms"
    )


if __name__ == "__main__":
    main()
