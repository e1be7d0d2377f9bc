"""`simulate` against one pass over memory, against `teach`, and what memory it takes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from tellapart.lab.bench.clock import turns, worked
from tellapart.lab.bench.measured import Limit, Measurement
from tellapart.learners import BaseLearner, CappedDFF, RobustDFF, StRoDFF
from tellapart.model import DecisionList
from tellapart.protocol import Lesson, teach
from tellapart.simulation import Words
from tellapart.simulation import simulate as run_simulate
from tellapart.worlds import MadeWorld


def against_memory(world: MadeWorld, bar: float | None) -> Iterator[Measurement]:
    """`simulate` without exceptions, against one AND pass over the columns of the final model.

    What is told round by round does not shrink with the stream, so short streams have no bar.
    """
    makers: dict[str, tuple[Callable[[], BaseLearner], float | None]] = {
        "CappedDFF": (lambda: CappedDFF(world.m), bar),
        "RobustDFF": (lambda: RobustDFF(world.m, 0, 0), bar),
        "StRoDFF, scale 0.01": (lambda: StRoDFF(world.m, 0, 0, 0.1, scale=0.01), None),
        "StRoDFF": (lambda: StRoDFF(world.m, 0.001, 0.001, 0.1), None),
    }
    for name, (make, least) in makers.items():
        learner = make()
        lesson = run_simulate(learner, world)
        columns = [world.truth(feature) for feature in learner.model.features]
        repeats, room = 25 if least else 5, np.empty_like(columns[0])
        ratio, mine, theirs = turns(
            lambda make=make: run_simulate(make(), world),  # type: ignore[misc]
            partial(and_pass, columns, room),
            repeats,
        )
        against = f"one AND pass over {len(columns)} columns"
        note = f"{world.name}, {lesson.mistakes:,} mistakes"
        yield Measurement(f"simulate, {name}", against, ratio, least, mine, theirs, repeats, note)


def learnt(learner: BaseLearner, world: MadeWorld) -> DecisionList:
    run_simulate(learner, world)
    return learner.model


def and_pass(columns: list[Words], room: Words) -> None:
    """Read every column once, whole, and AND them all: the least that can be asked of memory."""
    room[:] = columns[0]
    for column in columns[1:]:
        np.bitwise_and(room, column, out=room)


def memory(make_world: Callable[[], MadeWorld], limit: float | None) -> Iterator[Limit]:
    """What making a world and simulating takes, above the packed columns that are laid out."""
    makers: dict[str, Callable[[int], BaseLearner]] = {
        "CappedDFF": CappedDFF,
        "StRoDFF": lambda m: StRoDFF(m, 0.001, 0.001, 0.1),
        "StRoDFF, epsilon 0.05": lambda m: StRoDFF(m, 0.05, 0.05, 0.1),  # whose rules err much
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
            limit,
            f"{world.name}, {peak / 1e6:.1f} MB, of which {columns} columns {packed / 1e6:.1f} MB",
        )


def against_teach(world: MadeWorld, *, bars: bool) -> Iterator[Measurement]:
    """`simulate` with one item in a hundred an exception, against `teach`, once.

    In the processor's time: `teach` is too long to be repeated until nobody is in the way. Where it
    would take minutes it is given the beginning of the stream.
    """
    rate, short = 0.01, len(world) // 5
    makers: dict[str, tuple[Callable[[], BaseLearner], int, float]] = {
        "CappedDFF": (lambda: CappedDFF(world.m), len(world), 50),
        "RobustDFF told k and s": (lambda: RobustDFF(world.m, world.k, world.s), short, 20),
        "StRoDFF": (lambda: StRoDFF(world.m, rate, rate, 0.1), len(world), 50),
        "StRoDFF, scale 0.1": (lambda: StRoDFF(world.m, rate, rate, 0.1, 0.1), len(world), 50),
    }
    for name, (make, rounds, least) in makers.items():
        mine = min(worked(run_simulate, make(), world)[0] for _ in range(5))
        lesson = run_simulate(make(), world)
        items = world.items if rounds == len(world) else world.items[:rounds]
        theirs, taught = worked(teach, make(), world.teacher(), items)
        same = "the same lesson" if _alike(lesson, taught) else "ANOTHER LESSON"
        note = f"{world.name}, {lesson.mistakes:,} mistakes; {same}"
        if rounds < len(world):
            theirs *= len(world) / rounds
            note += f" as far as it was taught, {rounds:,} rounds, whose time was scaled up"
        bar = least if bars else None
        yield Measurement(f"simulate, {name}", "teach", theirs / mine, bar, mine, theirs, 1, note)


def _alike(lesson: Lesson, beginning: Lesson) -> bool:
    """Whether a lesson began like another, which may have been shorter."""
    if lesson.rounds == beginning.rounds:
        return lesson == beginning
    known = sum(number < beginning.rounds for number in lesson.mistake_rounds)
    return tuple(lesson.corrections[:known]) == tuple(beginning.corrections)
