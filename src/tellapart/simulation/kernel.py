"""What Python calls of the inner loops, compiled by numba and kept: `columns.finding` and more."""

# mypy: ignore-errors
# (Compiled code has no types that mypy knows.)

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numba import njit

from tellapart.simulation.desk import BELL
from tellapart.simulation.finding import find_event, first_of
from tellapart.simulation.glide import three
from tellapart.simulation.signals import await_ring
from tellapart.simulation.stretch import stand_by
from tellapart.simulation.strip import (
    and_,
    any_set,
    filled,
    or_,
    read_strip,
    read_word,
    write_strip,
    write_word,
)
from tellapart.simulation.tape import CODE, DEFAULT, DIGITS, HEAD, PLANES, SLOTS, STRIDE, STRIP
from tellapart.simulation.thinking import keep_counter, name_reason, think_of


def _stamp() -> str:
    """A name for the contents of the files that compiled code is made of, besides this one."""
    here = Path(__file__).parent
    try:
        return f"{crc32(b''.join((here / f'{n}.py').read_bytes() for n in _PARTS)):x}"
    except OSError:  # they are in an archive, which does not change
        return ""


_PARTS = (
    "../theory/bounds",
    "absorbing",
    "desk",
    "finding",
    "glide",
    "mind",
    "signals",
    "stretch",
    "strip",
    "tape",
    "thinking",
    "tolerance",
)
_STAMP = _stamp()


def _compiled(function: Any, nogil: bool = False) -> Any:
    # numba keeps what it compiled under this name, until this very file changes
    function.__qualname__ += _STAMP
    try:
        return njit(cache=True, error_model="numpy", nogil=nogil)(function)
    except RuntimeError:  # there is no place to keep a cache
        return njit(error_model="numpy", nogil=nogil)(function)


@_compiled
def address(column):
    """Where a column is in memory; numpy takes longer to say so."""
    return column.ctypes.data


@_compiled
def first(tape, item):
    """The slot of the first conjunction that covers `item`, or -1."""
    return first_of(tape, read_word(tape + 8 * SLOTS), item)


@_compiled
def find(tape, start, stop, shown, quiet, wrong_only, began, uncovered):
    """`finding.find_event`, to be called from Python."""
    return find_event(tape, start, stop, shown, quiet, wrong_only, began, uncovered)


@partial(_compiled, nogil=True)
def serve(desk):
    """Stand by whenever another thread rings, until the bell fails."""
    while await_ring(read_word(desk + 8 * BELL)) == 1:
        stand_by(desk)


@_compiled
def keep(counters, owner, code, counter, left, count, first):
    """`thinking.keep_counter`, to be called from Python."""
    return keep_counter(counters, owner, code, counter, left, count, first)


@_compiled
def think(tape, item, component, example, kind, against):
    """`thinking.think_of`, to be called from Python."""
    return think_of(tape, item, component, example, kind, against)


@_compiled
def name(tape, against, code):
    """`thinking.name_reason`, to be called from Python."""
    name_reason(tape, against, code)


@_compiled
def say(tape, items):
    """Write the code of every item into the planes."""
    slots, stride = read_word(tape + 8 * SLOTS), 8 * read_word(tape + 8 * STRIDE)
    digits, default = read_word(tape + 8 * DIGITS), read_word(tape + 8 * DEFAULT)
    planes, body = tape + 8 * PLANES, tape + 8 * HEAD
    word, last = 0, (items + 63) >> 6
    while word + STRIP <= last:
        for shift in range(0, digits, 3):
            said_0, said_1, said_2 = three(body, slots, stride, default >> shift, shift, 8 * word)
            write_strip(read_word(planes + 8 * shift) + 8 * word, said_0)
            if shift + 1 < digits:
                write_strip(read_word(planes + 8 * (shift + 1)) + 8 * word, said_1)
            if shift + 2 < digits:
                write_strip(read_word(planes + 8 * (shift + 2)) + 8 * word, said_2)
        word += STRIP
    for item in range(64 * word, items):
        number = first(tape, item)
        code = default if number < 0 else read_word(body + number * stride + 8 * CODE)
        for digit in range(digits):
            plane = read_word(planes + 8 * digit) + 8 * (item >> 6)
            before = read_word(plane) & ((np.int64(1) << (item & 63)) - 1)
            write_word(plane, before | (code >> digit & 1) << (item & 63))


@_compiled
def meet(addresses, words):
    """AND columns, strip by strip, and see whether anything is left: a yardstick for `find`."""
    seen = filled(0)
    for strip in range(words // STRIP):
        left = filled(-1)
        for number in range(len(addresses)):
            left = and_(left, read_strip(addresses[number] + 8 * STRIP * strip))
        seen = or_(seen, left)
    return any_set(seen) != 0
