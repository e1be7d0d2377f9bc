"""Answers per minute: one by one against sweeps, with a scripted teacher.

    python benchmarks/sweep.py [--tables mushroom ...] [--first 200] [--answers 400] [--seeds 1]

The teacher is never wrong, and takes time as people do (Card, Moran and Newell's keystroke-level
model; a fixation of the eye as in reading):

- a fixation takes 0.3 s, a decision to act 1.35 s, a key 0.28 s;
- one by one, an item takes seven fixations (the guess, the names of the two items, two cells of
  each), a decision and a key; a correction takes one decision more, for the label, then two
  fixations on each of three candidates, a decision and a key;
- in a sweep, an item takes `--look` fixations (2: its name and the cell that the rule asks about);
  a marked one a decision, three arrows and the space bar, and then its correction, one by one; a
  page of up to 50 items one decision and one key.

To this comes the time the session needs (of the processor). Both ways begin with the same `--first`
answers, one by one; then comes a page of the label of which the largest part is left, again and
again. "error" is that of the rules on all rows of the table, at the end.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import TypeVar

from tellapart import Table
from tellapart.lab.real_tables import real_table
from tellapart.sessions import Given, Session, Store, Sweep

T = TypeVar("T")
KINGS = ("kr-vs-k-three_vs_eleven", "kr-vs-k-zero-one_vs_draw")
FIXATION, DECISION, KEY = 0.3, 1.35, 0.28
ONE = 7 * FIXATION + DECISION + KEY
CORRECTION = DECISION + KEY + 6 * FIXATION + DECISION + KEY
MARK = DECISION + 4 * KEY


class Teacher:
    """Answers rightly, and counts the seconds."""

    def __init__(self, session: Session, truth: dict[str, str], look: float) -> None:
        self.session, self.truth, self.look = session, truth, look * FIXATION
        self.seconds, self.answers = 0.0, 0

    def timed(self, work: Callable[[], T]) -> T:
        start = time.process_time()
        found = work()
        self.seconds += time.process_time() - start
        return found

    def one(self, *, known: bool = False) -> bool:
        """The next item; False if there is none. `known`: it was read already, in a sweep."""
        given = self.timed(lambda: self.session.next("Ann"))
        if not isinstance(given, Given):
            return False
        label = self.truth[str(given.item)]
        self.seconds += 0.0 if known else ONE
        if label == given.guess.label:
            said: tuple[str, ...] = ("right",)
        else:
            self.seconds += CORRECTION
            found = self.timed(lambda: self.session.candidates(given.id, label, limit=9))
            said = ("wrong", label, *(str(one.feature) for one in found[:1]))
        self.timed(lambda: self.session.answer("Ann", given.id, *said))
        self.answers += 1
        return True

    def sweep(self) -> bool:
        """A page of the label of which the largest part is left; False if nothing is left."""
        labels = Counter(map(str, self.session.model.predict(list(self.session.table.items))))
        sweeps = self.timed(lambda: [self.session.sweep("Ann", label=one) for one in labels])
        found = max(sweeps, key=lambda one: one.left / labels[one.label])
        if found.items:
            self.read(found)
        return bool(found.items)

    def read(self, found: Sweep) -> None:
        """Mark the wrong ones, accept the rest, correct what was marked."""
        wrong = [item for item in found.items if self.truth[str(item)] != found.label]
        right = [item for item in found.items if self.truth[str(item)] == found.label]
        self.seconds += len(found.items) * self.look + len(wrong) * MARK + DECISION + KEY
        done = self.timed(lambda: self.session.accept("Ann", found.label, right, wrong))
        self.answers += done.accepted
        for _ in wrong:
            self.one(known=True)

    def error(self) -> float:
        """The share of all rows that the rules call wrongly."""
        items = list(self.session.table.items)
        said = self.session.model.predict(items)
        return mean(label != self.truth[str(i)] for i, label in zip(items, said, strict=True))


def trial(
    name: str, seed: int, first: int, answers: int, look: float
) -> dict[str, tuple[float, float]]:
    """For each way: answers per minute, and the error at the end."""
    rows = real_table(name, seed, 4000)
    names = [f"row {n}" for n in range(len(rows.items))]
    columns = {feature: [feature in item for item in rows.items] for feature in rows.features}
    table = Table({"name": names, **columns}, id="name")
    truth = dict(zip(names, map(str, rows.labels), strict=True))
    found = {}
    for way in ("one by one", "sweep"):
        with (
            TemporaryDirectory() as folder,
            Store(Path(folder, "s.db")) as store,
            Session.new(store, "s", table, order="random", seed=seed) as session,
        ):
            teacher = Teacher(session, truth, look)
            while teacher.answers < first:
                teacher.one()
            teacher.seconds, teacher.answers = 0.0, 0
            step = teacher.one if way == "one by one" else teacher.sweep
            while teacher.answers < answers and step():
                pass
            found[way] = 60 * teacher.answers / teacher.seconds, teacher.error()
    return found


def main() -> None:
    """Print a line for each table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tables", nargs="+", default=["mushroom", *KINGS])
    parser.add_argument("--first", type=int, default=200)
    parser.add_argument("--answers", type=int, default=400)
    parser.add_argument("--look", type=float, default=2.0)
    parser.add_argument("--seeds", type=int, default=1)
    asked = parser.parse_args()
    for name in asked.tables:
        runs = [trial(name, s, asked.first, asked.answers, asked.look) for s in range(asked.seeds)]
        told = []
        for way in ("one by one", "sweep"):
            pace, error = (mean(run[way][n] for run in runs) for n in (0, 1))
            told.append(f"{way} {pace:.0f} a minute, error {error:.1%}")
        ratio = mean(run["sweep"][0] / run["one by one"][0] for run in runs)
        print(f"{name}: {'; '.join(told)}; {ratio:.1f} times", flush=True)


if __name__ == "__main__":
    main()
