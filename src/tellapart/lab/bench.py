"""`tellapart bench`: how fast tellapart is, as ratios measured in one run."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tellapart.lab.measurement import SEED, Bench, Limit, Measurement, compare_times, cpu_seconds
from tellapart.learners import BaseLearner, CappedDFF, RobustDFF, StRoDFF
from tellapart.learners.rule_list import Rule
from tellapart.protocol import Item, Lesson, teach
from tellapart.simulation import Words, predict, simulate, unpack
from tellapart.worlds import MadeWorld, dnf, tree

LARGE = (1000, 96, 4)
"""Features, components and labels of a tree whose model uses more columns than any cache holds."""


def bench(
    *, quick: bool = False, told: Callable[[Measurement | Limit], None] | None = None
) -> Bench:
    """Measure everything; `quick` with streams a tenth to a fiftieth as long.

    `told` is called with each measurement as it is made. Libraries that cannot be imported
    (scikit-learn, river) are left out.
    """
    made: list[Measurement | Limit] = []
    for measurement in _measure(quick):
        made.append(measurement)
        if told is not None:
            told(measurement)
    ratios = tuple(one for one in made if isinstance(one, Measurement))
    return Bench(ratios, tuple(one for one in made if isinstance(one, Limit)))


def _measure(quick: bool) -> Iterator[Measurement | Limit]:
    long = 1_000_000 if quick else 10_000_000
    sizes = ((1000, 16, 4),) if quick else ((50, 4, 2), (200, 8, 3), (1000, 16, 4))
    cases = [(make, size) for make in (dnf, tree) for size in sizes]
    if not quick:
        cases.insert(0, (tree, LARGE))
    for make, size in cases:
        clean = make(long, *size, seed=SEED)
        yield from against_memory(clean, None if quick else 0.25)
    for make, size in cases:
        yield from memory(partial(make, long, *size, seed=SEED), None if quick else 0.2)
    yield from start_up()
    noisy = tree(20_000 if quick else 1_000_000, 100, 8, 4, 0.01, seed=SEED)
    yield from against_teach(noisy, bars=not quick)
    if _can_import("sklearn"):
        yield against_sklearn(clean)
    short = tree(2_000 if quick else 10_000, 50, 8, 4, 0.01, seed=SEED)
    yield against_loop(short)
    if _can_import("river"):
        yield from against_river(short)


def _can_import(package: str) -> bool:
    try:
        import_module(package)
    except Exception:
        return False
    return True


# -- simulate


def against_memory(world: MadeWorld, bar: float | None) -> Iterator[Measurement]:
    """`simulate` without exceptions, against one AND pass over the columns of the final model.

    The cost of single rounds does not shrink with the stream, so short streams have no bar.
    """
    makers: dict[str, tuple[Callable[[], BaseLearner], float | None]] = {
        "CappedDFF": (lambda: CappedDFF(world.m), bar),
        "RobustDFF": (lambda: RobustDFF(world.m, 0, 0), bar),
        "StRoDFF, scale 0.01": (lambda: StRoDFF(world.m, 0, 0, 0.1, scale=0.01), None),
        "StRoDFF": (lambda: StRoDFF(world.m, 0.001, 0.001, 0.1), None),
    }
    for name, (make, least) in makers.items():
        learner = make()
        lesson = simulate(learner, world)
        columns = [world.truth(feature) for feature in learner.model.features]
        yield compare_times(
            f"simulate, {name}",
            f"one AND pass over {len(columns)} columns",
            partial(lambda fresh: simulate(fresh(), world), make),
            partial(and_pass, columns, np.empty_like(columns[0])),
            f"{world.name}, {lesson.mistakes:,} mistakes",
            repeats=25 if least else 5,
            bar=least,
        )


def and_pass(columns: list[Words], result: Words) -> None:
    """Read every column once and AND them all: the least work that memory allows."""
    result[:] = columns[0]
    for column in columns[1:]:
        np.bitwise_and(result, column, out=result)


def memory(make_world: Callable[[], MadeWorld], limit: float | None) -> Iterator[Limit]:
    """The memory of making a world and simulating, beyond the packed columns."""
    makers: dict[str, Callable[[int], BaseLearner]] = {
        "CappedDFF": CappedDFF,
        "StRoDFF": lambda m: StRoDFF(m, 0.001, 0.001, 0.1),
        "StRoDFF, epsilon 0.05": lambda m: StRoDFF(m, 0.05, 0.05, 0.1),  # its rules err often
    }
    for name, make in makers.items():
        tracemalloc.start()
        world = make_world()
        simulate(make(world.m), world)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        columns = len(world.bits) + len(world.labels.codes.planes) + len(world.components.planes)
        packed = columns * len(world) / 8
        yield Limit(
            f"memory above the columns, {name}",
            peak / packed - 1,
            "of the packed columns",
            limit,
            f"{world.name}, {peak / 1e6:.1f} MB, of which {columns} columns {packed / 1e6:.1f} MB",
        )


def against_teach(world: MadeWorld, *, bars: bool) -> Iterator[Measurement]:
    """`simulate` with 1 % exceptions against `teach`, in processor time.

    `teach` takes too long to be repeated, so it runs once. Where it would take minutes it gets only
    the beginning of the stream.
    """
    rate, short = 0.01, len(world) // 5
    makers: dict[str, tuple[Callable[[], BaseLearner], int, float]] = {
        "CappedDFF": (lambda: CappedDFF(world.m), len(world), 50),
        "RobustDFF told k and s": (lambda: RobustDFF(world.m, world.k, world.s), short, 20),
        "StRoDFF": (lambda: StRoDFF(world.m, rate, rate, 0.1), len(world), 50),
        "StRoDFF, scale 0.1": (lambda: StRoDFF(world.m, rate, rate, 0.1, 0.1), len(world), 50),
    }
    for name, (make, rounds, least) in makers.items():
        mine = min(cpu_seconds(simulate, make(), world)[0] for _ in range(5))
        lesson = simulate(make(), world)
        items = world.items if rounds == len(world) else world.items[:rounds]
        theirs, taught = cpu_seconds(teach, make(), world.teacher(), items)
        same = "the same lesson" if starts_like(lesson, taught) else "ANOTHER LESSON"
        note = f"{world.name}, {lesson.mistakes:,} mistakes; {same}"
        if rounds < len(world):
            theirs *= len(world) / rounds
            note += f" as far as it was taught, {rounds:,} rounds, whose time was scaled up"
        bar = least if bars else None
        yield Measurement(f"simulate, {name}", "teach", theirs / mine, bar, mine, theirs, 1, note)


def starts_like(lesson: Lesson, beginning: Lesson) -> bool:
    """Whether a lesson starts like another one, which may be shorter."""
    if lesson.rounds == beginning.rounds:
        return lesson == beginning
    known = sum(number < beginning.rounds for number in lesson.mistake_rounds)
    return tuple(lesson.corrections[:known]) == tuple(beginning.corrections)


# -- starting


def start_up() -> Iterator[Limit]:
    """In fresh processes: import, the demo, the first simulation of a million rounds."""
    yield Limit("import tellapart", _fresh("import tellapart"), "seconds", 0.15, "best of 5")
    demo = "from tellapart.cli import main; main(['demo'])"
    yield Limit("tellapart demo", _fresh(demo), "seconds", None, "best of 5")
    for exceptions, limit in (("0", 0.3), ("0.01", None)):
        world = f"tree(1_000_000, 100, 8, 4, {exceptions}, seed=1)"
        first = f"import tellapart as ta; w = ta.worlds.{world}; ta.simulate(ta.CappedDFF(8), w)"
        note = f"CappedDFF, {world}, with importing and making the world; best of 5"
        yield Limit("the first simulation", _fresh(first), "seconds", limit, note)


def _fresh(program: str) -> float:
    """The seconds that a program takes in a fresh process, once Python has started."""
    timed = f"import time; t = time.perf_counter(); {program}; t = time.perf_counter() - t"
    timed += "; import sys; print(t, file=sys.stderr)"
    command = [sys.executable, "-c", timed]
    with TemporaryDirectory() as folder:  # the demo writes a picture
        runs = [
            subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
            for _ in range(5)
        ]
    return min(float(run.stderr.split()[-1]) for run in runs)


# -- other libraries


def against_sklearn(world: MadeWorld) -> Measurement:
    """A decision list on columns, against a tree with as many leaves on the same rows."""
    from sklearn.tree import DecisionTreeClassifier

    learner = CappedDFF(world.m)
    simulate(learner, world)
    model = learner.model
    used = list(model.features)
    rows = np.empty((len(world), len(used)), dtype=np.float32)
    for number, feature in enumerate(used):
        rows[:, number] = unpack(world.truth(feature), len(world))
    leaves = len(model.clauses) + 1
    classifier = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=SEED)
    classifier.fit(rows[:100_000], world.labels.codes.array()[:100_000])

    def predict_codes() -> None:
        predict(model, world).codes.array()

    return compare_times(
        "predict on columns",
        "DecisionTreeClassifier.predict",
        predict_codes,
        lambda: classifier.predict(rows),
        f"{len(world):,} rows, {len(used)} columns, {leaves} clauses and leaves",
        bar=10,
    )


class LoopingCapped(CappedDFF):
    """CappedDFF that finds the first matching rule by trying one after another."""

    def _match(self, item: Item) -> Rule | None:
        return next((rule for rule in self.rules if rule.clause.covers(item, self.holds)), None)


del BaseLearner.kinds[LoopingCapped.__name__]  # only a yardstick, not a learner to save


def against_loop(world: MadeWorld) -> Measurement:
    """`teach` against the same learner without an index of its rules."""
    return compare_times(
        "teach, CappedDFF",
        "a loop over rules",
        lambda: teach(CappedDFF(world.m), world.teacher(), world.items),
        lambda: teach(LoopingCapped(world.m), world.teacher(), world.items),
        f"{len(world):,} rounds, 1 % exceptions",
    )


def against_river(world: MadeWorld) -> Iterator[Measurement]:
    """Rounds, and updates alone, against river's Hoeffding tree on the same rows."""
    from river.tree import HoeffdingTreeClassifier

    hoeffding: Any = HoeffdingTreeClassifier
    names = list(world.features)
    rows = [{name: name in item for name in names} for item in world.items]
    labels = list(world.labels)

    def train(*, guess: bool) -> None:
        model = hoeffding(nominal_attributes=names)
        for row, label in zip(rows, labels, strict=True):
            if guess:
                model.predict_one(row)
            model.learn_one(row, label)

    note = f"{len(rows):,} rounds, {len(names)} features, 1 % exceptions"
    for name, ours in (
        ("teach, CappedDFF", lambda: teach(CappedDFF(world.m), world.teacher(), world.items)),
        ("simulate, CappedDFF", lambda: simulate(CappedDFF(world.m), world)),
    ):
        against = "river's HoeffdingTreeClassifier"
        yield compare_times(name, against, ours, partial(train, guess=True), note)
    lesson = teach(CappedDFF(world.m), world.teacher(), world.items)

    def learn() -> None:
        learner = CappedDFF(world.m)
        learner.overhear(world.items[0], world.labels[0])
        for corrected in lesson.corrections:
            learner.learn(corrected.item, learner.guess(corrected.item), corrected.correction)

    yield compare_times(
        "an update, CappedDFF",
        "learn_one of river's HoeffdingTreeClassifier",
        learn,
        partial(train, guess=False),
        f"{lesson.mistakes:,} mistakes, each with the guess that it answers",
        parts=(lesson.mistakes, len(rows)),
    )
