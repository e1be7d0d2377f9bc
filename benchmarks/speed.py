"""How fast simulate, teach, predict and a fresh process are, as experiments of the lab.

    tellapart lab benchmarks/speed.py --workers 1 --out speed

Times are processor time, taken beside a yardstick, in turns, in the same process: ratios depend
much less on the machine and its load than seconds. Use one worker, and a new folder for new
numbers. `--quick` has streams a tenth as long, for which the bars are not made.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tellapart as ta
from tellapart.columns import predict, unpack
from tellapart.lab import Rows, experiment

SEED = 1


def seconds(do: Callable[[], object]) -> float:
    start = time.process_time()
    do()
    return time.process_time() - start


def row(ours: Callable[[], object], yardstick: Callable[[], object], **more: Any) -> dict[str, Any]:
    """Both times, and how many times as fast as the yardstick ours is."""
    mine, theirs = seconds(ours), seconds(yardstick)
    return {"seconds": mine, "yardstick": theirs, "times as fast": theirs / mine, **more}


def learners(m: int, k: int, s: int, rate: float) -> dict[str, Callable[[], Any]]:
    return {
        "CappedDFF": lambda: ta.CappedDFF(m),
        "RobustDFF": lambda: ta.RobustDFF(m, k, s),
        "StRoDFF": lambda: ta.StRoDFF(m, rate, rate, 0.1),
    }


@experiment(
    "simulate with 1 % exceptions, against teach",
    learner=tuple(learners(1, 0, 0, 0)),
    rounds=1_000_000,
    taught=50_000,
    repeat=range(3),
    quick={"rounds": 100_000, "taught": 10_000, "repeat": range(1)},
)
def noisy(learner: str, rounds: int, taught: int) -> Iterator[dict[str, Any]]:
    """`teach` runs the first rounds only, and its time is scaled up; the lessons must agree."""
    world = ta.worlds.tree(rounds, 100, 8, 4, 0.01, seed=SEED)
    make = learners(8, world.k, world.s, 0.01)[learner]
    found: list[Any] = []
    timed = row(
        lambda: found.append(ta.simulate(make(), world)),
        lambda: found.append(ta.teach(make(), world.teacher(), world.items[:taught])),
    )
    whole, part = found
    same = [n for n in whole.mistake_rounds if n < taught] == list(part.mistake_rounds)
    timed["times as fast"] *= rounds / taught
    yield timed | {"mistakes": whole.mistakes, "same": same}


@noisy.claims
def _(rows: Rows) -> Iterator[tuple[str, bool, str]]:
    for name, group in rows.by("learner").items():
        times = group.mean("times as fast")
        seen = (
            f"{times:.0f} times, {group.mean('seconds'):.2f} s, {group[0]['mistakes']:,} mistakes"
        )
        yield f"{name}: at least 20 times as fast as teach", times >= 20, seen
    yield "the same lesson", all(row["same"] for row in rows), f"{len(rows)} lessons"


noisy.figure("learner", "times as fast", limit=20)


@experiment(
    "simulate without exceptions, against one AND pass over the columns it reads",
    learner=tuple(learners(1, 0, 0, 0)),
    world=("tree", "dnf"),
    rounds=10_000_000,
    repeat=range(3),
    quick={"rounds": 1_000_000, "repeat": range(1)},
)
def clean(learner: str, world: str, rounds: int) -> Iterator[dict[str, Any]]:
    """The pass is the least work that memory allows: every column of the final model, once."""
    made = getattr(ta.worlds, world)(rounds, 200, 8, 3, seed=SEED)
    make = learners(8, 0, 0, 0.001)[learner]
    taught = make()
    ta.simulate(taught, made)
    columns = [made.truth(feature) for feature in taught.model.features]
    yield row(
        lambda: ta.simulate(make(), made),
        lambda: np.bitwise_and.reduce(columns),
        columns=len(columns),
    )


@clean.claims
def _(rows: Rows) -> Iterator[tuple[str, bool, str]]:
    took = max(rows.where(learner="CappedDFF").column("seconds"))
    yield "CappedDFF: below 0.2 s", took < 0.2, f"at most {took:.3f} s"


clean.figure("learner", "seconds", line="world", log="y")


@experiment("A fresh process", what=("import", "AutoDFF", "first simulation"), repeat=range(5))
def fresh(what: str) -> Iterator[dict[str, Any]]:
    """Seconds once Python has started; the simulation has a million rounds, and makes its world."""
    program = "import tellapart as ta"
    if what == "AutoDFF":
        program += "; ta.AutoDFF()"
    if what == "first simulation":
        program += "; ta.simulate(ta.CappedDFF(8), ta.worlds.tree(1_000_000, 100, 8, 4, seed=1))"
    timed = f"import time; t = time.perf_counter(); {program}; print(time.perf_counter() - t)"
    done = subprocess.run([sys.executable, "-c", timed], capture_output=True, check=True)
    yield {"seconds": float(done.stdout)}


@fresh.claims
def _(rows: Rows) -> Iterator[tuple[str, bool, str]]:
    for what, most in (("import", 0.15), ("AutoDFF", 0.25), ("first simulation", 0.3)):
        best = min(rows.where(what=what).column("seconds"))
        yield f"{what}: at most {most} s", best <= most, f"{best:.3f} s, best of 5"


fresh.figure("what", "seconds")


@experiment(
    "predict on packed columns, against scikit-learn's tree with as many leaves",
    rows=10_000_000,
    repeat=range(3),
    quick={"rows": 1_000_000},
)
def prediction(rows: int) -> Iterator[dict[str, Any]]:
    """The rules of CappedDFF on a made DNF."""
    from sklearn.tree import DecisionTreeClassifier

    world = ta.worlds.dnf(rows, 200, 8, 3, seed=SEED)
    learner = ta.CappedDFF(8)
    ta.simulate(learner, world)
    model = learner.model
    columns = [unpack(world.truth(feature), rows) for feature in model.features]
    table = np.stack(columns, axis=1).astype(np.float32)
    tree = DecisionTreeClassifier(max_leaf_nodes=len(model.clauses) + 1, random_state=SEED)
    tree.fit(table[:100_000], world.labels.codes[:100_000])

    def ours() -> object:
        return predict(model, world).codes

    yield row(ours, lambda: tree.predict(table))


@prediction.claims
def _(rows: Rows) -> Iterator[tuple[str, bool, str]]:
    times = rows.mean("times as fast")
    yield "at least 10 times as fast", times >= 10, f"{times:.0f} times"


prediction.figure("rows", "times as fast", limit=10)
