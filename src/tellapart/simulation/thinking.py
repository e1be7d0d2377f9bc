"""Thinking as the teacher of a made world does, compiled; in Python it is `MadeWorld._thoughts`.

What was counted of a reason that was thought of is in a hash table (open addressing, one entry
after another). Its head: how many entries there is room for, less one, and how many are in use.
An entry: a key (0: free), the address of a counter that is elsewhere (0: it is here), and a
counter (`columns.patience`). The key is whose it is and the code of the reason: a component,
against which exceptions name it, or a rule.
"""

# mypy: ignore-errors
# (Compiled code has no types that mypy knows.)

from __future__ import annotations

import numpy as np
from numba import njit

from tellapart.simulation.mind import DRAWS, FEATURES, FORCED, LIMIT, START, THOUGHTS
from tellapart.simulation.strip import read_word, write_word
from tellapart.simulation.tape import (
    AGAINST,
    COUNT,
    COUNTERS,
    ENTRIES,
    ENTRY,
    EXAMPLE,
    FIRST,
    KIND,
    LEFT,
    MIND,
    NEWS,
    OWNER,
    OWNERS,
    USED,
)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@njit
def _mix(z):
    """The finaliser of splitmix64, as in `worlds.made`."""
    z = (z ^ z >> np.uint64(30)) * _FIRST
    z = (z ^ z >> np.uint64(27)) * _SECOND
    return z ^ z >> np.uint64(31)


@njit
def _hash(start, step):
    return _mix(np.uint64(start) + np.uint64(step) * _GOLDEN)


@njit
def _bit(mind, column, item, component):
    """Whether a column holds on an item."""
    forced = mind + 8 * read_word(mind + 8 * (FORCED + component))
    for number in range(read_word(forced)):
        code = read_word(forced + 8 * (1 + number))
        if code >> 1 == column:
            return code & 1
    word = _hash(_hash(read_word(mind + 8 * START), column), item >> 6)
    return np.int64(word >> np.uint64(item & 63)) & 1


@njit
def _entry(counters, key):
    """The address of the entry with a key, or of the free one where it belongs."""
    last = read_word(counters)
    place = np.int64(_mix(np.uint64(key))) & last
    while True:
        entry = counters + 8 * (ENTRIES + ENTRY * place)
        there = read_word(entry)
        if there == key or there == 0:
            return entry
        place = (place + 1) & last


@njit
def _claim(counters, entry, key, counter, left):
    """Use a free entry."""
    write_word(entry, key)
    write_word(entry + 8, counter)
    write_word(entry + 8 * (2 + LEFT), left)
    write_word(entry + 8 * (2 + COUNT), 0)
    write_word(entry + 8 * (2 + NEWS), 0)
    write_word(counters + 8 * USED, read_word(counters + 8 * USED) + 1)


@njit
def keep_counter(counters, owner, code, counter, left, count, first):
    """Keep a counter, and what is in it; False when there is no room."""
    key = owner << OWNERS | code
    entry = _entry(counters, key)
    if read_word(entry) == 0:
        if 2 * read_word(counters + 8 * USED) > read_word(counters):
            return False
        _claim(counters, entry, key, counter, left)
    if read_word(entry + 8) == 0:
        write_word(entry + 8 * (2 + LEFT), left)
        write_word(entry + 8 * (2 + COUNT), count)
        write_word(entry + 8 * (2 + FIRST), first)
    return True


@njit
def think_of(tape, item, component, example, kind, against):
    """The code of the first reason that comes to mind and may be named; -1: none, or no room.

    `kind` is the component of the example; `against` is that in which it counts, numbered from 1.
    """
    mind, counters = read_word(tape + 8 * MIND), read_word(tape + 8 * COUNTERS)
    if 2 * read_word(counters + 8 * USED) > read_word(counters):
        return -1
    features = np.uint64(read_word(mind + 8 * FEATURES))
    start = _hash(read_word(mind + 8 * THOUGHTS), item)
    for step in range(read_word(mind + 8 * DRAWS)):
        column = np.int64(_hash(start, step) % features)
        holds = _bit(mind, column, item, component)
        if holds == _bit(mind, column, example, kind):
            continue
        code = 2 * column + 1 - holds
        if against == 0:
            return code
        entry = _entry(counters, against << OWNERS | code)
        if read_word(entry) == 0:
            if read_word(mind + 8 * LIMIT) > 0:
                return code
        elif read_word(entry + 16) > 0:
            return code
    return -1


@njit
def consider(tape, table, item, component, ordinary):
    """What the teacher thinks of, and its counter.

    Returns the code (-1: told by nobody but the teacher himself), the component against which it
    counts (0: none; numbered from 1), and the address of the counter (0: none is kept).
    """
    counters, example = read_word(tape + 8 * COUNTERS), read_word(table + 8 * EXAMPLE)
    if read_word(tape + 8 * MIND) == 0 or example < 0:
        return -1, 0, 0
    against = np.int64(0)
    if not ordinary:
        against = read_word(table + 8 * AGAINST)
    kind = read_word(table + 8 * KIND)
    code = think_of(tape, item, component, example, kind, against)
    owner = read_word(table + 8 * OWNER)
    if code < 0 or owner == 0:
        return code, against, 0
    key = owner << OWNERS | code
    entry = _entry(counters, key)
    if read_word(entry) == 0:
        _claim(counters, entry, key, 0, 0)
    counter = read_word(entry + 8)
    if counter == 0:
        counter = entry + 16
    return code, against, counter


@njit
def name_reason(tape, against, code):
    """An exception named a reason against a component."""
    counters = read_word(tape + 8 * COUNTERS)
    key = against << OWNERS | code
    entry = _entry(counters, key)
    if read_word(entry) == 0:
        limit = read_word(read_word(tape + 8 * MIND) + 8 * LIMIT)
        _claim(counters, entry, key, 0, limit)
    write_word(entry + 16, read_word(entry + 16) - 1)
