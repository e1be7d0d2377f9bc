"""How long it takes to start."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from tempfile import TemporaryDirectory

from tellapart.lab.bench.measured import Limit


def start_up() -> Iterator[Limit]:
    """Fresh processes: importing, the demo, the first simulation of a million rounds."""
    yield Limit("import tellapart", _fresh("import tellapart"), "seconds", 0.15, "best of 5")
    demo = "from tellapart.cli import main; main(['demo'])"
    yield Limit("tellapart demo", _fresh(demo), "seconds", None, "best of 5")
    for exceptions, limit in (("0", 0.3), ("0.01", None)):
        world = f"tree(1_000_000, 100, 8, 4, {exceptions}, seed=1)"
        first = f"import tellapart as ta; w = ta.worlds.{world}; ta.simulate(ta.CappedDFF(8), w)"
        note = f"CappedDFF, {world}, with importing and making the world; best of 5"
        yield Limit("the first simulation", _fresh(first), "seconds", limit, note)


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
