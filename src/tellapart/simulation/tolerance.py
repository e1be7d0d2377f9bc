"""How many more mistakes a rule, or a reason against it, can take by now, or the default; compiled.

The thresholds are those of `theory.Tolerance`. Compiled floats may differ from Python's in the last
digits, so a little is left out: in case of doubt the learner itself is asked.
"""

# mypy: ignore-errors
# (Compiled code has no types that mypy knows.)

from __future__ import annotations

import numpy as np
from numba import njit

from tellapart.simulation.strip import read_float, read_word
from tellapart.simulation.tape import (
    AS_PRINTED,
    BORN,
    COUNT,
    EPSILON,
    FIRST,
    GIVEN_K,
    GIVEN_S,
    LOG_DELTA,
    LOGARITHM,
    PART,
    ROOT,
    SCALE,
    SIGMA,
    SINCE,
    SLOPE,
    SPENT,
    TIME,
)
from tellapart.theory.bounds import q_given_log

_q = njit(q_given_log)
_SURE = 1 - 1e-12


@njit
def _threshold(tape, given, rate, window, time):
    if read_word(tape + 8 * AS_PRINTED):
        time = window
    logarithm = read_float(tape + 8 * LOG_DELTA) + 3 * np.log(np.float64(time))
    grown = _q(read_float(tape + 8 * rate), window, logarithm, read_float(tape + 8 * SCALE))
    return np.int64(np.floor(read_float(tape + 8 * given) + grown * _SURE))


@njit
def patience(tape, table, time):
    """How many more mistakes a rule can take in round `time`."""
    window = np.int64(1)
    if not read_word(tape + 8 * AS_PRINTED):
        window = time - read_word(table + 8 * BORN) + 1
    return _threshold(tape, GIVEN_K, EPSILON, window, time) - read_word(table + 8 * SPENT)


@njit
def witnesses(tape, counter, time):
    """How many more mistakes can be counted in round `time` before their reason is believed."""
    count, window = read_word(counter + 8 * COUNT), np.int64(1)
    if count:
        window = time - read_word(counter + 8 * FIRST) + 1
    return _threshold(tape, GIVEN_S, SIGMA, window, time) - count


@njit
def grown(tape, quiet, gone, uncovered):
    """How many uncovered items are quiet once so many items have gone by; see `Tape.find`."""
    gone, covered = max(gone, 0), max(gone - uncovered, 0)
    since, time = read_float(tape + 8 * SINCE), read_float(tape + 8 * TIME)
    growth = 1 + 2 * np.log(1 + gone / time) / read_float(tape + 8 * LOGARITHM)
    more = growth * np.sqrt(growth) * np.sqrt(since + covered) - np.sqrt(since)
    more = read_float(tape + 8 * SLOPE) * covered + read_float(tape + 8 * ROOT) * more
    return quiet + np.int64(max(np.ceil(read_float(tape + 8 * PART) + more) - 1, 0.0))
