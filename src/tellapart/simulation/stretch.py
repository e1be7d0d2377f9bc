"""Long stretches: blocks of many columns at a time, and parts for two cores.

Who has a long stretch before him puts it on the desk (`columns.desk`), rings, and begins; the other
thread, which waits in compiled code without Python's lock, helps as soon as it is awake. Parts are
handed out in order, so all that come before an event are done by somebody. An offer that was not
taken up is taken back: where both cores are busy, it costs a byte in a pipe.
"""

# mypy: ignore-errors
# (Compiled code has no types that mypy knows.)

from __future__ import annotations

import numpy as np
from numba import njit

from tellapart.simulation.desk import (
    AWAKE,
    BEFORE,
    BEGAN,
    BEGIN,
    COUNT,
    DEFAULT,
    IDLE,
    KIND,
    LAST,
    LIMITED,
    LIST,
    MOST_PARTS,
    NEXT,
    OFFERED,
    QUIET,
    RESULT,
    RESULTS,
    RING,
    SHOWN,
    SILENT,
    SIZE,
    SPARE_PAD,
    STATE,
    TAKEN,
    TOTAL,
    WIDTH,
    WORTH,
)
from tellapart.simulation.glide import (
    ALONE,
    glide,
    glide_counting,
    glide_counting_two,
    glide_two,
)
from tellapart.simulation.signals import add_to, give_way, load, lower_to, ring, store, swap_if
from tellapart.simulation.strip import read_word, write_word
from tellapart.simulation.tape import KNOWN, KNOWN_COLUMNS, PAD, SEEN, STRIP
from tellapart.simulation.tolerance import grown

TWO, COUNTING = 1, 2
FEW = 16
"""Strips that may begin anywhere."""
_LEAST = 1 << 15  # words of columns and labels in which nothing happened before the rest is shared
_PART = 1024  # the least words of a part; a multiple of a strip
_WHILE = 1 << 13  # looks at the desk, a few milliseconds
_STREAMS = 20  # more columns than this are read block by block: the machine cannot foresee them
_CACHE = 1 << 17  # bytes of such blocks
_ANY = 1 << 62


@njit
def _touch(table, known, offset, words, pad):
    """Read a block of every column from end to end, which brings it into the cache."""
    seen = np.int64(0)
    for number in range(known):
        address = read_word(table + 8 * number) + offset
        for line in range((words + 7) >> 3):
            seen |= read_word(address + 64 * line)
    write_word(pad, seen)  # so that it is not left out as useless


@njit
def _glide(tape, pad, slots, stride, default, shown, word, far, room, silent, kind):
    if kind == TWO:
        return glide_two(tape, pad, slots, stride, default, True, word, far, 0, False)
    if kind == COUNTING:
        return glide_counting(tape, pad, slots, stride, default, shown, word, far, room, silent)
    if kind == COUNTING | TWO:
        return glide_counting_two(tape, pad, slots, stride, default, True, word, far, room, silent)
    return glide(tape, pad, slots, stride, default, shown, word, far, 0, False)


@njit
def walk(tape, pad, slots, stride, default, shown, word, far, room, silent, kind):
    """Go on while nothing happens; see `glide`."""
    known, block, uncovered = read_word(tape + 8 * KNOWN), FEW * STRIP, 0
    seen = read_word(pad + 8 * SEEN)
    while known > _STREAMS and word + STRIP <= far:
        if word + STRIP > seen:
            seen = min(word + block, far)
            _touch(tape + 8 * KNOWN_COLUMNS, known, 8 * word, seen - word, pad)
            write_word(pad + 8 * SEEN, seen)
            block = min(2 * block, STRIP * max(1, _CACHE // (8 * STRIP * known)))
        word, here, stopped = _glide(
            tape, pad, slots, stride, default, shown, word, min(seen, far), room, silent, kind
        )
        uncovered += here
        room -= here
        if stopped:
            return word, uncovered, stopped
    word, here, stopped = _glide(
        tape, pad, slots, stride, default, shown, word, far, room, silent, kind
    )
    return word, uncovered + here, stopped


@njit
def _quiet(desk, tape, word, uncovered):
    """How many may be uncovered when one comes to a word."""
    gone = 64 * word - read_word(desk + 8 * BEGAN)
    return grown(tape, read_word(desk + 8 * QUIET), gone, uncovered)


@njit
def work(desk, pad):
    """Do parts of what is on the desk, as long as there are any that matter."""
    tape, slots = read_word(desk + 8 * LIST), read_word(desk + 8 * COUNT)
    stride, default = read_word(desk + 8 * WIDTH), read_word(desk + 8 * DEFAULT)
    shown, silent = read_word(desk + 8 * SHOWN) != 0, read_word(desk + 8 * SILENT) != 0
    kind, limited = read_word(desk + 8 * KIND), read_word(desk + 8 * LIMITED)
    begin, size = read_word(desk + 8 * BEGIN), read_word(desk + 8 * SIZE)
    before = read_word(desk + 8 * BEFORE)
    write_word(pad + 8 * SEEN, 0)
    part = add_to(desk + 8 * NEXT, 1)
    while part <= load(desk + 8 * LAST):
        word = begin + size * part
        found, here, stopped = walk(
            tape, pad, slots, stride, default, shown, word, word + size, _ANY, silent, kind
        )
        result = desk + 8 * (RESULTS + RESULT * part)
        write_word(result, here)
        write_word(result + 8, found)
        write_word(result + 16, stopped)
        if stopped:
            lower_to(desk + 8 * LAST, part)
        elif limited:
            total = before + here + add_to(desk + 8 * TOTAL, here)
            if total > _quiet(desk, tape, found, total):  # what comes now is done for nothing
                lower_to(desk + 8 * LAST, load(desk + 8 * NEXT) - 1)
        part = add_to(desk + 8 * NEXT, 1)


@njit
def stand_by(desk):
    """Do what another thread offers, until it has offered nothing for a while."""
    store(desk + 8 * AWAKE, 1)
    idle = 0
    while idle < _WHILE:
        idle += 1
        if idle == _WHILE:
            store(desk + 8 * AWAKE, 0)  # it rings from now on; so look once more
        if load(desk + 8 * STATE) == OFFERED and swap_if(desk + 8 * STATE, OFFERED, TAKEN):
            store(desk + 8 * AWAKE, 1)
            work(desk, desk + 8 * SPARE_PAD)
            store(desk + 8 * STATE, IDLE)
            idle = 0
        give_way()


@njit
def probation(streams):
    """Words in which nothing must have happened before the rest is shared."""
    return max(_PART >> 1, _LEAST // streams)


@njit
def worth(desk, words, streams):
    """Whether so many words of so many columns are worth sharing."""
    return words >= 2 * _PART and words * streams >= read_word(desk + 8 * WORTH)


@njit
def offer(desk, tape, slots, stride, default, shown, silent, kind):
    """Put on the desk what `walk` needs."""
    write_word(desk + 8 * LIST, tape)
    write_word(desk + 8 * COUNT, slots)
    write_word(desk + 8 * WIDTH, stride)
    write_word(desk + 8 * DEFAULT, default)
    write_word(desk + 8 * SHOWN, np.int64(shown))
    write_word(desk + 8 * SILENT, np.int64(silent))
    write_word(desk + 8 * KIND, kind)


@njit
def limit(desk, limited, quiet, began, uncovered):
    """Put on the desk how many may be uncovered: see `tolerance.grown`."""
    write_word(desk + 8 * LIMITED, np.int64(limited))
    write_word(desk + 8 * QUIET, quiet)
    write_word(desk + 8 * BEGAN, began)
    write_word(desk + 8 * BEFORE, uncovered)
    write_word(desk + 8 * TOTAL, 0)


@njit
def share(desk, tape, word, far):
    """`walk`, by two, as far as parts go that end before too many are uncovered."""
    size = max(_PART, STRIP * -(-(far - word) // (STRIP * MOST_PARTS)))
    parts = (far - word) // size
    write_word(desk + 8 * NEXT, 0)
    write_word(desk + 8 * LAST, parts - 1)
    write_word(desk + 8 * SIZE, size)
    write_word(desk + 8 * BEGIN, word)
    store(desk + 8 * STATE, OFFERED)
    if not load(desk + 8 * AWAKE):
        ring(read_word(desk + 8 * RING))
    work(desk, tape + 8 * PAD)
    if not swap_if(desk + 8 * STATE, OFFERED, IDLE):
        while load(desk + 8 * STATE) != IDLE:
            give_way()
    limited, before = read_word(desk + 8 * LIMITED), read_word(desk + 8 * BEFORE)
    uncovered = 0
    last = read_word(desk + 8 * LAST)
    for part in range(last + 1):
        result = desk + 8 * (RESULTS + RESULT * part)
        here, found, stopped = read_word(result), read_word(result + 8), read_word(result + 16)
        begin = word + size * part
        enough = _quiet(desk, tape, begin, before + uncovered) if limited else _ANY
        if before + uncovered + here > enough:
            return begin, uncovered, ALONE
        uncovered += here
        if stopped:
            return found, uncovered, stopped
    return word + size * (last + 1), uncovered, 0
