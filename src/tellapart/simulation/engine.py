"""Which of the two lists on columns to use: `Tape`, compiled, or `Plain`, in numpy."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module

from tellapart.simulation.plain import Plain
from tellapart.simulation.tape import Tape

WORTH_LOADING = 50_000
"""So many items pay for loading numba and the kernel, about half a second."""


def engine(items: int) -> type[Plain] | type[Tape]:
    """`Tape` where numba is installed (extra `lab`), may compile, and is worth it; else `Plain`.

    Both give the same answers. A kernel that is loaded already is always used.
    """
    loaded = "tellapart.simulation.kernel" in sys.modules
    return Tape if loaded or (items >= WORTH_LOADING and _loads()) else Plain


@cache
def _loads() -> bool:
    """Whether the kernel can be loaded; it is then."""
    try:
        config = import_module("numba").config
        if config.DISABLE_JIT:  # what the kernel is made of cannot be interpreted
            return False
        import_module("tellapart.simulation.kernel")
    except ImportError:
        return False
    return True
