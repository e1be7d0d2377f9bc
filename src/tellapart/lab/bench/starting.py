"""How long it takes to start."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from tempfile import TemporaryDirectory

from tellapart.lab.bench.measured import Limit


def start_up(*, compiled: bool) -> Iterator[Limit]:
    """Fresh processes: importing, the demo, the first simulation that is worth the kernel.

    `compiled`: whether there is a kernel.
    """
    yield Limit("import tellapart", _fresh("import tellapart"), "seconds", 0.15, "best of 5")
    demo = "from tellapart.cli import main; main(['demo'])"
    demo += "; import sys; assert 'numba' not in sys.modules"
    yield Limit("tellapart demo", _fresh(demo), "seconds", None, "without numba; best of 5")
    if compiled:
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
