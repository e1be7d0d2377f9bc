"""`tellapart bench`: how fast we are, as ratios measured in one run.

Times depend on the machine and on who else uses it; ratios of times taken turn about much less. So
each measurement times ours and the yardstick alternately, and compares the best of each: what the
machine can do when nobody is in the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module

from tellapart.lab.bench.measured import SEED, Bench, Limit, Measurement, machine
from tellapart.lab.bench.peers import against_river, against_sklearn, teach_against_naive
from tellapart.lab.bench.simulating import against_memory, against_teach, learnt, memory
from tellapart.lab.bench.starting import start_up
from tellapart.learners import CappedDFF
from tellapart.worlds import dnf, tree

LARGE = (1000, 96, 4)
"""Features, components and labels of a tree whose model uses more columns than any cache holds."""


def bench(
    *, quick: bool = False, told: Callable[[Measurement | Limit], None] | None = None
) -> Bench:
    """Measure everything; `quick` with streams a tenth to a fiftieth as long.

    `told` hears of each measurement as it is made. What cannot be imported (scikit-learn, river)
    is left out.
    """
    made: list[Measurement | Limit] = []
    for measurement in _all(quick):
        made.append(measurement)
        if told is not None:
            told(measurement)
    ratios = tuple(one for one in made if isinstance(one, Measurement))
    return Bench(machine(), ratios, tuple(one for one in made if isinstance(one, Limit)))


def _all(quick: bool) -> Iterator[Measurement | Limit]:
    long = 1_000_000 if quick else 10_000_000
    sizes = ((1000, 16, 4),) if quick else ((50, 4, 2), (200, 8, 3), (1000, 16, 4))
    cases = [(make, size) for make in (dnf, tree) for size in sizes]
    if not quick:
        cases.insert(0, (tree, LARGE))
    for make, (features, components, labels) in cases:
        quiet = make(long, features, components, labels, seed=SEED)
        yield from against_memory(quiet, None if quick else 0.25)
    for make, sizes_of in cases:
        yield from memory(partial(make, long, *sizes_of, seed=SEED), None if quick else 0.2)
    yield from start_up()
    odd = tree(20_000 if quick else 1_000_000, 100, 8, 4, 0.01, seed=SEED)
    yield from against_teach(odd, bars=not quick)
    model = learnt(CappedDFF(quiet.m), quiet)
    if _has("sklearn"):
        yield against_sklearn(model, quiet)
    few = tree(2_000 if quick else 10_000, 50, 8, 4, 0.01, seed=SEED)
    yield teach_against_naive(few)
    if _has("river"):
        yield from against_river(few)


def _has(package: str) -> bool:
    """Whether a package is there, and in order."""
    try:
        import_module(package)
    except Exception:
        return False
    return True
