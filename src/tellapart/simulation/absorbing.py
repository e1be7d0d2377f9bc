"""Mistakes that can do no more than count, counted where `finding` finds them; compiled.

What they may touch, `columns.patience` has laid out: the table of a rule, its counters, the log.
"""

# mypy: ignore-errors
# (Compiled code has no types that mypy knows.)

from __future__ import annotations

import numpy as np
from numba import njit

from tellapart.simulation.strip import read_word, write_word
from tellapart.simulation.tape import (
    AHEAD,
    COMPONENT_DIGITS,
    COMPONENTS,
    COUNT,
    EVERYWHERE,
    FIRST,
    LEFT,
    LOG,
    LOG_CELLS,
    LOGGED,
    LOGS,
    NEWS,
    NUMBER,
    ORDINARY,
    SAID,
    SEPARATORS,
    SLACK,
    SPENT,
    TOUCHABLE,
    TOUCHED,
    TOUCHES,
)
from tellapart.simulation.thinking import consider, name_reason
from tellapart.simulation.tolerance import patience, witnesses


@njit
def code_of(planes, digits, item):
    """The code of an item, from the planes of its digits."""
    offset, place = item >> 6 << 3, item & 63
    code = np.int64(0)
    for digit in range(digits):
        plane = read_word(planes + 8 * digit)
        if plane:
            code |= (read_word(plane + offset) >> place & 1) << digit
    return code


@njit
def _is_ordinary(tape, item):
    ordinary = read_word(tape + 8 * ORDINARY)
    if ordinary == EVERYWHERE:
        return True
    return read_word(ordinary + (item >> 6 << 3)) >> (item & 63) & 1 != 0


@njit
def absorb(tape, table, item):
    """Count a mistake of the rule, or default, with a table, if it can do no more than count."""
    logged, touched = read_word(tape + 8 * LOGGED), read_word(tape + 8 * TOUCHED)
    if table == 0 or logged == LOGS or touched == TOUCHABLE:
        return False
    time = item + read_word(tape + 8 * AHEAD)
    component = code_of(tape + 8 * COMPONENTS, read_word(tape + 8 * COMPONENT_DIGITS), item)
    ordinary, where, code, against = _is_ordinary(tape, item), np.int64(0), -1, 0
    guess, counter = read_word(table + 8 * SAID), np.int64(0)
    if ordinary:
        where = read_word(table + 8 * (SEPARATORS + component))
    if where:
        counter = table + 8 * where
    else:
        code, against, counter = consider(tape, table, item, component, ordinary)
        if code < 0:
            return False
    count, spent, slack = np.int64(0), read_word(table + 8 * SPENT), np.int64(0)
    if counter:
        count = read_word(counter + 8 * COUNT)
    costs = count == 0 or spent > 0
    if costs:
        slack = read_word(table + 8 * SLACK)
        if slack == 0:
            slack = patience(tape, table, time)
            if slack <= 0:
                return False
    if counter:
        left = read_word(counter + 8 * LEFT)
        if left == 0:
            left = witnesses(tape, counter, time)
            if left <= 0:
                return False
        write_word(counter + 8 * LEFT, left - 1)
        write_word(counter + 8 * COUNT, count + 1)
        if count == 0:
            write_word(counter + 8 * FIRST, time)
        if read_word(counter + 8 * NEWS) == 0:
            write_word(counter + 8 * NEWS, 1)
            touches = read_word(tape + 8 * TOUCHES) + 16 * touched
            write_word(touches, guess)
            write_word(touches + 8, (counter - table) >> 3)
            write_word(tape + 8 * TOUCHED, touched + 1)
    if costs:
        write_word(table + 8 * SLACK, slack - 1)
        write_word(table + 8 * SPENT, spent + 1)
    if against:
        name_reason(tape, against, code)
    log = read_word(tape + 8 * LOG) + 8 * LOG_CELLS * logged
    write_word(log, item | guess << NUMBER)
    write_word(log + 8, code | against << NUMBER)
    write_word(tape + 8 * LOGGED, logged + 1)
    return True
