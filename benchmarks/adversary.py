"""How many mistakes the worst teacher found makes learners make that look back.

    python benchmarks/adversary.py [--positions 4000]

Prints the table of docs/measurements.md: for each learner and world the last level of lessons that
was searched completely (-1: not even all lessons without a right guess), the most mistakes found,
and the bound.
"""

from __future__ import annotations

import argparse
import time

import tellapart as ta

# learner, m, k, features (None: any number), whether the learner sees all features of an item
SEARCHES = [
    ("AutoDFF", 1, 0, None, False),
    ("AutoDFF", 1, 1, None, False),
    ("AutoDFF", 1, 1, 2, False),
    ("AutoDFF", 2, 0, None, False),
    ("AutoDFF", 2, 1, 1, False),
    ("AutoDFF", 2, 1, 2, False),
    ("AutoDFF", 2, 1, 3, False),
    ("AutoDFF", 1, 2, 2, False),
    ("AutoDFF", 3, 0, None, False),
    ("AutoDFF", 1, 1, 2, True),
    ("AutoDFF", 2, 0, 2, True),
    ("AutoDFF", 2, 1, 2, True),
    ("AutoDFF", 1, 1, 3, True),
    ("Guarded", 1, 1, 3, False),
    ("Guarded", 2, 0, 3, False),
    ("Guarded", 2, 1, 3, False),
    ("Guarded", 3, 0, 3, False),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--positions", type=int, default=4000)
    chosen = parser.parse_args()
    print("learner (m, k) features looks-into: searched, exact; mistakes of bound; seconds")
    for name, m, k, features, look_into in SEARCHES:
        learner: ta.learners.BaseLearner = (
            ta.AutoDFF() if name == "AutoDFF" else ta.Guarded(ta.Hindsight(), ta.CappedDFF(m))
        )
        begin = time.process_time()
        worst = ta.adversary.worst_case(
            learner, m, k, features=features, look_into=look_into, most_positions=chosen.positions
        )
        seconds = time.process_time() - begin
        print(
            f"{name} ({m}, {k}) {features or 'any'} {look_into}: {worst.searched}, {worst.exact};"
            f" {worst.mistakes} of {learner.bound(m=m, k=k)}; {seconds:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
