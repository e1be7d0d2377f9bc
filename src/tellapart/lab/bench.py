"""`tellapart bench`: how fast we are, as ratios measured in one run.

Times depend on the machine and on who else uses it; ratios of times taken turn about much less. So
each measurement times ours and the yardstick alternately, and compares the best of each: what the
machine can do when nobody is in the way.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tellapart import __version__
from tellapart.columns import Words, predict, unpack
from tellapart.columns import simulate as run_simulate
from tellapart.columns.desk import alone
from tellapart.learners import BaseLearner, CappedDFF, RobustDFF, StRoDFF
from tellapart.learners.rules import Rule
from tellapart.model import DecisionList
from tellapart.protocol import Item, Lesson, teach
from tellapart.worlds import MadeWorld, dnf, tree

SEED = 1
LARGE = (1000, 96, 4)
"""Features, components and labels of a tree whose model uses more columns than any cache holds."""


@dataclass(frozen=True)
class Measurement:
    """How many times as fast as a yardstick something is."""

    what: str
    against: str
    ratio: float
    """The yardstick's time over ours: above 1, ours is faster."""
    bar: float | None
    """What it should reach; None where no promise was made."""
    seconds: float
    yardstick_seconds: float
    repeats: int
    note: str

    @property
    def reached(self) -> bool | None:
        """Whether it reaches its bar."""
        return None if self.bar is None else self.ratio >= self.bar


@dataclass(frozen=True)
class Limit:
    """Something that should stay small."""

    what: str
    value: float
    unit: str
    limit: float | None
    """What it should not exceed; None where no promise was made."""
    note: str

    @property
    def reached(self) -> bool | None:
        """Whether it stays below its limit."""
        return None if self.limit is None else self.value <= self.limit


@dataclass(frozen=True)
class Bench:
    """All measurements of a run, and where it ran."""

    machine: dict[str, str | int]
    measurements: tuple[Measurement, ...]
    limits: tuple[Limit, ...]

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON values."""
        return {
            "machine": self.machine,
            "measurements": [{**asdict(one), "reached": one.reached} for one in self.measurements],
            "limits": [{**asdict(one), "reached": one.reached} for one in self.limits],
        }


def bench(
    *, quick: bool = False, told: Callable[[Measurement | Limit], None] | None = None
) -> Bench:
    """Measure everything; `quick` with streams a tenth to a fiftieth as long.

    `told` hears of each measurement as it is made. What is not installed (scikit-learn, river) is
    left out.
    """
    made: list[Measurement | Limit] = []
    for measurement in _all(quick):
        made.append(measurement)
        if told is not None:
            told(measurement)
    ratios = tuple(one for one in made if isinstance(one, Measurement))
    return Bench(machine(), ratios, tuple(one for one in made if isinstance(one, Limit)))


def machine() -> dict[str, str | int]:
    """What the numbers depend on."""
    found: dict[str, str | int] = {
        "tellapart": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "seed": SEED,
    }
    for package in ("numpy", "numba", "scikit-learn", "river"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(line for line in lines if "model name" in line).split(": ", 1)[1].strip()
    except (OSError, StopIteration, IndexError):
        return platform.processor() or "unknown"


def _all(quick: bool) -> Iterator[Measurement | Limit]:
    long = 1_000_000 if quick else 10_000_000
    sizes = ((1000, 16, 4),) if quick else ((50, 4, 2), (200, 8, 3), (1000, 16, 4))
    cases = [(make, size) for make in (dnf, tree) for size in sizes]
    if not quick:
        cases.insert(0, (tree, LARGE))
    for make, (features, components, labels) in cases:
        quiet = make(long, features, components, labels, seed=SEED)
        yield from _against_memory(quiet, None if quick else 0.5)
    if _has("numba"):
        yield _compiled_pass(quiet)
    for make, sizes_of in cases:
        yield from _memory(partial(make, long, *sizes_of, seed=SEED))
    yield from _start_up()
    odd = tree(20_000 if quick else 1_000_000, 100, 8, 4, 0.01, seed=SEED)
    yield from _against_teach(odd, None if quick else 50)
    model = _learnt(CappedDFF(quiet.m), quiet)
    if _has("sklearn"):
        yield _against_sklearn(model, quiet)
    few = tree(2_000 if quick else 10_000, 50, 8, 4, 0.01, seed=SEED)
    yield _teach_against_naive(few)
    if _has("river"):
        yield from _against_river(few)


def _has(package: str) -> bool:
    return find_spec(package) is not None


def _learnt(learner: BaseLearner, world: MadeWorld) -> DecisionList:
    run_simulate(learner, world)
    return learner.model


def _turns(
    ours: Callable[[], object], yardstick: Callable[[], object], repeats: int
) -> tuple[float, float, float]:
    """The ratio of the best times, taken turn about, and these times: ours, the yardstick's."""
    times = [(_seconds(ours), _seconds(yardstick)) for _ in range(repeats)]
    mine, theirs = map(min, zip(*times, strict=True))
    return theirs / mine, mine, theirs


def _seconds(do: Callable[[], object]) -> float:
    start = time.perf_counter()
    do()
    return time.perf_counter() - start


def _worked(do: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """The seconds that the processor works to do something, and what comes of it."""
    start = time.process_time()
    result = do(*arguments)
    return time.process_time() - start, result


def _against_memory(world: MadeWorld, bar: float | None) -> Iterator[Measurement]:
    """`simulate` without exceptions, against one AND pass over the columns of the final model.

    What is told round by round does not shrink with the stream, so short streams have no bar.
    """
    makers: dict[str, Callable[[], BaseLearner]] = {
        "CappedDFF": lambda: CappedDFF(world.m),
        "RobustDFF": lambda: RobustDFF(world.m, 0, 0),
        "StRoDFF, scale 0.01": lambda: StRoDFF(world.m, 0, 0, 0.1, scale=0.01),
        "StRoDFF": lambda: StRoDFF(world.m, 0.001, 0.001, 0.1),
    }
    for name, make in makers.items():
        learner = make()
        lesson = run_simulate(learner, world)
        columns = [world.truth(feature) for feature in learner.model.features]
        room = np.empty_like(columns[0])
        repeats, passes = 25, partial(and_pass, columns, room)
        note = f"{world.name}, {lesson.mistakes:,} mistakes"
        against = f"one AND pass over {len(columns)} columns"
        for company, where in ((alone(), ", on one core"), (nullcontext(), "")):
            learners = [make() for _ in range(repeats)]
            with company:
                ratio, mine, theirs = _turns(
                    partial(_next_simulated, learners, world), passes, repeats
                )
            least = None if where else bar
            what = f"simulate, {name}{where}"
            yield Measurement(what, against, ratio, least, mine, theirs, repeats, note)
        if name == "CappedDFF":  # who errs can only be known by reading the labels, too
            planes = [*columns, *world.labels.codes.planes]
            both = partial(and_pass, planes, room)
            theirs = min(_seconds(both) for _ in range(repeats))
            against += " and the planes of the labels"
            yield Measurement(
                f"simulate, {name}", against, theirs / mine, None, mine, theirs, repeats, note
            )


def _next_simulated(learners: list[BaseLearner], world: MadeWorld) -> Lesson:
    return run_simulate(learners.pop(), world)


def _compiled_pass(world: MadeWorld) -> Measurement:
    """How far the yardstick itself is from what compiled code can do with these columns."""
    from tellapart.columns import kernel

    columns = [world.truth(feature) for feature in _learnt(CappedDFF(world.m), world).features]
    room, size = np.empty_like(columns[0]), len(columns[0])
    addresses = np.array([column.ctypes.data for column in columns], dtype=np.int64)
    kernel.meet(addresses, size)
    ratio, mine, theirs = _turns(
        lambda: and_pass(columns, room), lambda: kernel.meet(addresses, size), repeats := 25
    )
    return Measurement(
        f"one AND pass over {len(columns)} columns",
        "the same, compiled, with the result in registers",
        ratio,
        None,
        mine,
        theirs,
        repeats,
        world.name,
    )


def and_pass(columns: list[Words], room: Words) -> None:
    """Read every column once, whole, and AND them all: the least that can be asked of memory."""
    room[:] = columns[0]
    for column in columns[1:]:
        np.bitwise_and(room, column, out=room)


def _memory(make_world: Callable[[], MadeWorld]) -> Iterator[Limit]:
    """What making a world and simulating takes, above the packed columns that are laid out."""
    makers: dict[str, Callable[[int], BaseLearner]] = {
        "CappedDFF": CappedDFF,
        "StRoDFF": lambda m: StRoDFF(m, 0.001, 0.001, 0.1),
    }
    for name, make in makers.items():
        tracemalloc.start()
        world = make_world()
        run_simulate(make(world.m), world)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        columns = len(world.bits) + len(world.labels.codes.planes) + len(world.components.planes)
        packed = columns * len(world) / 8
        yield Limit(
            f"memory above the columns, {name}",
            peak / packed - 1,
            "of the packed columns",
            0.2,
            f"{world.name}, {peak / 1e6:.1f} MB, of which {columns} columns {packed / 1e6:.1f} MB",
        )


def _start_up() -> Iterator[Limit]:
    """Fresh processes: importing, the demo, the first simulation that is worth the kernel."""
    yield Limit("import tellapart", _fresh("import tellapart"), "seconds", 0.15, "best of 5")
    demo = "from tellapart.cli import main; main(['demo'])"
    demo += "; import sys; assert 'numba' not in sys.modules"
    yield Limit("tellapart demo", _fresh(demo), "seconds", None, "without numba; best of 5")
    if _has("numba"):
        first = (
            "import tellapart as ta; world = ta.worlds.tree(60_000, 20, 4, 2, seed=1);"
            " ta.simulate(ta.CappedDFF(4), world)"
        )
        note = "numba and a kernel compiled before; best of 5"
        yield Limit("the first simulation", _fresh(first), "seconds", None, note)


def _fresh(program: str) -> float:
    """The seconds that a program takes in a fresh process, once Python is up."""
    timed = f"import time; t = time.perf_counter(); {program}; t = time.perf_counter() - t"
    timed += "; import sys; print(t, file=sys.stderr)"
    command = [sys.executable, "-c", timed]
    with TemporaryDirectory() as place:  # the demo leaves a picture
        runs = [
            subprocess.run(command, capture_output=True, text=True, check=True, cwd=place)
            for _ in range(5)
        ]
    return min(float(run.stderr.split()[-1]) for run in runs)


def _against_teach(world: MadeWorld, bar: float | None) -> Iterator[Measurement]:
    """`simulate` with one item in a hundred an exception, against `teach`, once.

    In the processor's time: `teach` is too long to be repeated until nobody is in the way. Where it
    would take minutes it is given the beginning of the stream.
    """
    rate, short = 0.01, len(world) // 5
    makers: dict[str, tuple[Callable[[], BaseLearner], int]] = {
        "CappedDFF": (lambda: CappedDFF(world.m), len(world)),
        "RobustDFF told k and s": (lambda: RobustDFF(world.m, world.k, world.s), short),
        "StRoDFF": (lambda: StRoDFF(world.m, rate, rate, 0.1), len(world)),
        "StRoDFF, scale 0.1": (lambda: StRoDFF(world.m, rate, rate, 0.1, 0.1), len(world)),
    }
    for name, (make, rounds) in makers.items():
        mine = min(_worked(run_simulate, make(), world)[0] for _ in range(5))
        lesson = run_simulate(make(), world)
        items = world.items if rounds == len(world) else world.items[:rounds]
        theirs, taught = _worked(teach, make(), world.teacher(), items)
        same = "the same lesson" if _alike(lesson, taught) else "ANOTHER LESSON"
        note = f"{world.name}, {lesson.mistakes:,} mistakes; {same}"
        if rounds < len(world):
            theirs *= len(world) / rounds
            note += f" as far as it was taught, {rounds:,} rounds, whose time was scaled up"
        yield Measurement(f"simulate, {name}", "teach", theirs / mine, bar, mine, theirs, 1, note)


def _alike(lesson: Lesson, beginning: Lesson) -> bool:
    """Whether a lesson began like another, which may have been shorter."""
    if lesson.rounds == beginning.rounds:
        return lesson == beginning
    known = sum(number < beginning.rounds for number in lesson.mistake_rounds)
    return tuple(lesson.corrections[:known]) == tuple(beginning.corrections)


def _against_sklearn(model: DecisionList, world: MadeWorld) -> Measurement:
    """A decision list on columns, against a tree with as many leaves on the same rows."""
    from sklearn.tree import DecisionTreeClassifier

    used = list(model.features)
    rows = np.empty((len(world), len(used)), dtype=np.float32)
    for number, feature in enumerate(used):
        rows[:, number] = unpack(world.truth(feature), len(world))
    leaves = len(model.clauses) + 1
    classifier = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=SEED)
    classifier.fit(rows[:100_000], world.labels.codes.array()[:100_000])

    def codes() -> None:
        predict(model, world).codes.array()

    ratio, mine, theirs = _turns(codes, lambda: classifier.predict(rows), repeats := 3)
    return Measurement(
        "predict on columns",
        "DecisionTreeClassifier.predict",
        ratio,
        10,
        mine,
        theirs,
        repeats,
        f"{len(world):,} rows, {len(used)} columns, {leaves} clauses and leaves",
    )


class Naive(CappedDFF):
    """CappedDFF that finds the first rule by looking at one after another."""

    def _match(self, item: Item) -> Rule | None:
        return next((rule for rule in self.rules if rule.clause.covers(item, self.holds)), None)


del BaseLearner.kinds[Naive.__name__]  # a yardstick, no learner to be saved


def _teach_against_naive(world: MadeWorld) -> Measurement:
    ratio, mine, theirs = _turns(
        lambda: teach(CappedDFF(world.m), world.teacher(), world.items),
        lambda: teach(Naive(world.m), world.teacher(), world.items),
        repeats := 3,
    )
    note = f"{len(world):,} rounds, 1 % exceptions"
    return Measurement(
        "teach, CappedDFF", "a loop over rules", ratio, None, mine, theirs, repeats, note
    )


def _against_river(world: MadeWorld) -> Iterator[Measurement]:
    """Rounds, and updates alone, against river's Hoeffding tree on the same rows."""
    from river.tree import HoeffdingTreeClassifier

    hoeffding: Any = HoeffdingTreeClassifier
    names = list(world.features)
    rows = [{name: name in item for name in names} for item in world.items]
    labels = list(world.labels)

    def rounds() -> None:
        model = hoeffding(nominal_attributes=names)
        for row, label in zip(rows, labels, strict=True):
            model.predict_one(row)
            model.learn_one(row, label)

    def updates() -> None:
        model = hoeffding(nominal_attributes=names)
        for row, label in zip(rows, labels, strict=True):
            model.learn_one(row, label)

    for name, ours in (
        ("teach, CappedDFF", lambda: teach(CappedDFF(world.m), world.teacher(), world.items)),
        ("simulate, CappedDFF", lambda: run_simulate(CappedDFF(world.m), world)),
    ):
        note = f"{len(rows):,} rounds, {len(names)} features, 1 % exceptions"
        ratio, mine, theirs = _turns(ours, rounds, repeats := 3)
        yield Measurement(
            name, "river's HoeffdingTreeClassifier", ratio, None, mine, theirs, repeats, note
        )
    lesson = teach(CappedDFF(world.m), world.teacher(), world.items)
    first = world.items[0]

    def learn() -> None:
        learner = CappedDFF(world.m)
        learner.overhear(first, world.labels[0])
        for corrected in lesson.corrections:
            learner.learn(corrected.item, learner.guess(corrected.item), corrected.correction)

    ratio, mine, theirs = _turns(learn, updates, repeats := 3)
    each, theirs_each = mine / lesson.mistakes, theirs / len(rows)
    yield Measurement(
        "an update, CappedDFF",
        "learn_one of river's HoeffdingTreeClassifier",
        theirs_each / each,
        None,
        each,
        theirs_each,
        repeats,
        f"{lesson.mistakes:,} mistakes, each with the guess that it answers",
    )
