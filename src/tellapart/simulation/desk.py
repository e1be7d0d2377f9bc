"""A desk at which a second thread waits to help with long stretches; see `columns.stretch`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from threading import Thread
from typing import Any

import numpy as np

from tellapart.simulation.bits import blank
from tellapart.simulation.tape import PAD_CELLS

# Each group has cache lines of its own, over which two cores need not quarrel.
STATE, AWAKE, BELL, RING = range(4)
"""Who is at it; whether the second thread looks at it, else that wants a byte through this pipe."""
NEXT, TOTAL = 8, 9
"""The next part to be done, and how many are uncovered in those that are done."""
LAST = 16
"""The last part that matters."""
SIZE, BEGIN, WORTH = range(24, 27)
"""How many words a part has, and where the first begins; how much is worth sharing."""
LIST, COUNT, WIDTH, DEFAULT, SHOWN, SILENT, KIND = range(27, 34)
"""What `stretch.walk` needs: the tape, and so on."""
LIMITED, QUIET, BEGAN, BEFORE = range(34, 38)
"""Whether so many may be uncovered and no more (`tolerance.grown`): how many to begin with, from
which item on, and how many of them before this stretch."""
IDLE, OFFERED, TAKEN = range(3)
MOST_PARTS = 64
RESULTS, RESULT = 40, 8
"""Of each part: how many are uncovered, the word it got to, and why it stopped there."""
SPARE_PAD = RESULTS + RESULT * MOST_PARTS
_CELLS = SPARE_PAD + PAD_CELLS
_WORTH = 1 << 18  # words of columns and labels, some thirty microseconds
_called = [True]


@cache
def desk() -> tuple[int, Any]:
    """The address of the desk, 0 where there is no second core; and its cells.

    `NUMBA_NUM_THREADS=1` leaves the second core alone; joblib's processes have it set.
    """
    from numba import config

    from tellapart.simulation import kernel

    if os.name != "posix" or vars(config)["NUMBA_NUM_THREADS"] < 2:
        return 0, ()
    cells = blank(_CELLS).view(np.int64)
    cells.fill(0)
    bell, ring = os.pipe()
    os.set_blocking(ring, False)
    cells[BELL], cells[RING], cells[WORTH] = bell, ring, _WORTH
    address = int(kernel.address(cells))
    # not in the thread: a fork in the middle of it would leave the child numba's lock for good
    kernel.serve.compile("(int64,)")
    Thread(target=_help, args=(kernel.serve, cells, address), name="tellapart", daemon=True).start()
    return address, cells.data


@contextmanager
def alone() -> Iterator[None]:
    """Within this, nobody is called."""
    _called.append(False)
    try:
        yield
    finally:
        _called.pop()


def company() -> int:
    """Call the second thread to the desk; returns the address of that, 0 if there is nobody.

    A thread takes a while to wake, in which Python has much to do; then it stays a while.
    """
    address, cells = desk() if _called[-1] else (0, ())
    if address and not cells[AWAKE]:
        with suppress(BlockingIOError):
            os.write(cells[RING], b".")
    return address


def _help(serve: Callable[[int], Any], cells: Any, address: int) -> None:
    while True:
        serve(address)  # till it is interrupted
        os.fstat(int(cells[BELL]))  # raises when somebody closed it: no more help then


# a child has no second thread; until it has one of its own, its offers are not taken up
if hasattr(os, "register_at_fork"):  # (Windows has none)
    os.register_at_fork(after_in_child=desk.cache_clear)
