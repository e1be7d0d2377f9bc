"""How many answers a table takes, by the order in which its items are asked about.

Real tables of `tellapart compare`, at most 300 rows of each, taught to AutoDFF in sessions by a
teacher who knows all labels and names the most telling feature. Counted are the answers until 90 %
and 95 % of the table are right: items that were answered, and items that the rules label rightly.
Printed are ratios to random order, and their geometric means.

    python benchmarks/orders.py [--seeds 2] [--orders mixed,...] [TABLE ...]
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from itertools import product
from pathlib import Path

import joblib

from tellapart.lab.real_tables import TABLES, real_table
from tellapart.sessions import Given, Session, Store
from tellapart.tables import Table
from tellapart.teachers import Informed

ROWS = 300
SHARES = 0.9, 0.95


def answers(name: str, order: str, seed: int) -> tuple[int, ...]:
    """How many answers it takes until each of SHARES of a table is right."""
    real = real_table(name, seed, ROWS, 0)
    columns = {name: [name in item for item in real.items] for name in real.features}
    table = Table(columns)
    items, labels = list(table.items), [str(label) for label in real.labels]
    teacher = Informed(items, labels, table.features())
    found: list[int] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        Store(Path(folder, "a.db")) as store,
        Session.new(store, "a", table, order=order, seed=seed) as session,
    ):
        for number in range(1, len(items) + 1):
            given = session.next("Ann")
            assert isinstance(given, Given)
            said = teacher.answer(given.item, given.guess)
            if said is None:
                session.answer("Ann", given.id, "right")
            else:
                feature = None if said.feature is None else str(said.feature)
                session.answer("Ann", given.id, "wrong", said.label, feature)
            guesses = session.model.predict(items)
            right = sum(
                session.label_of(item) is not None or guess == label
                for item, guess, label in zip(items, guesses, labels, strict=True)
            )
            while right >= SHARES[len(found)] * len(items):
                found.append(number)
                if len(found) == len(SHARES):
                    return tuple(found)
    raise AssertionError("a table that is answered is right")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tables", nargs="*", default=list(TABLES), metavar="TABLE")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--orders", default="mixed")
    given = parser.parse_args()
    orders = ["random", *given.orders.split(",")]
    cells = list(product(given.tables, orders, range(given.seeds)))
    counted = joblib.Parallel(2)(joblib.delayed(answers)(*cell) for cell in cells)
    needed = dict(zip(cells, counted, strict=True))
    for place, share in enumerate(SHARES):
        print(f"answers until {share:.0%} of a table is right, by order / random order")
        ratios: dict[tuple[str, str], list[float]] = {}
        for name in given.tables:
            sums = [sum(needed[name, o, s][place] for s in range(given.seeds)) for o in orders]
            line = [f"{name:28} {TABLES[name]:10} {sums[0] / given.seeds:6.0f}"]
            for order, total in zip(orders[1:], sums[1:], strict=True):
                ratios.setdefault((order, TABLES[name]), []).append(total / sums[0])
                line.append(f"{order} {total / sums[0]:.2f}")
            print("  ".join(line))
        for (order, group), found in ratios.items():
            mean = math.exp(sum(map(math.log, found)) / len(found))
            print(f"{order}, {group}: {mean:.2f} (worst {max(found):.2f}, {len(found)} tables)")


if __name__ == "__main__":
    sys.exit(main())
