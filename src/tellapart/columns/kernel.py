"""The inner loops, compiled by numba: where a decision list errs next, and what it says.

The list is on a tape (`columns.tape`). Long stretches are read in strips of sixteen words, held in
vector registers: a strip of a column is touched once for each literal and stays in the first-level
cache in between. Rules are taken last to first, so that each overwrites the ones after it:
`said | covered` or `said & ~covered`, one operation a digit, with no account of what is left.
Around a mistake words are read one at a time, first rule first. Many columns at a time are more
streams than the machine can foresee: then blocks of them are first read one after another.

numba keeps what it compiled, and looks at the date of this file alone: touch it after a change of
`strip` or `tape`.
"""

# mypy: ignore-errors
# ruff: noqa: SIM108
# (Compiled code has no types that mypy knows; a signature needs all its arguments; a conditional
# expression of strips is slower than the statement.)

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from tellapart.columns.strip import (
    STRIP,
    and_,
    any_set,
    but_not,
    count_ones,
    count_strip,
    filled,
    lowest,
    not_,
    or_,
    read_strip,
    read_word,
    write_strip,
    write_word,
    xor,
)
from tellapart.columns.tape import (
    CELLS,
    CODE,
    COMPONENT_DIGITS,
    COMPONENTS,
    DEFAULT,
    DIGITS,
    FIRED,
    HEAD,
    LOG,
    LOGGED,
    MOST,
    NEEDED,
    NOTED,
    ORDINARY,
    PAD,
    PLANES,
    SLOTS,
    STRIDE,
    TABLE,
    TOUCHED,
    TOUCHES,
    UNCOVERED,
)

_SINGLE = 2  # words read one by one before strips, after a mistake
_LONG = 32  # strips after which it pays to find out which columns are in use
_STREAMS = 20  # more columns than this are read block by block: the machine cannot foresee them
_CACHE = 1 << 17  # bytes of such blocks


def _compiled(function: Any) -> Any:
    try:
        return njit(cache=True, error_model="numpy")(function)
    except RuntimeError:  # there is no place to keep a cache
        return njit(error_model="numpy")(function)


@njit(inline="always")
def _differs(planes, digits, code, offset):
    """The items of a word whose code is not `code`."""
    differs = np.int64(0)
    for digit in range(digits):
        plane = read_word(planes + 8 * digit)
        if plane:
            differs |= read_word(plane + offset) ^ -(code >> digit & 1)
        else:
            differs |= -(code >> digit & 1)
    return differs


@_compiled
def address(column):
    """Where a column is in memory; numpy takes longer to say so."""
    return column.ctypes.data


@_compiled
def first(tape, item):
    """The slot of the first conjunction that covers `item`, or -1."""
    offset, place = item >> 6 << 3, item & 63
    stride = 8 * read_word(tape + 8 * STRIDE)
    slot = tape + 8 * HEAD
    for number in range(read_word(tape + 8 * SLOTS)):
        forbidden = read_word(slot)
        cell = slot + 8 * CELLS
        end = cell + 8 * forbidden
        seen = np.int64(forbidden < 0)
        while cell < end:
            seen |= read_word(read_word(cell) + offset) >> place
            cell += 8
        end += 8 * read_word(slot + 8 * NEEDED)
        while cell < end:
            seen |= ~(read_word(read_word(cell) + offset) >> place)
            cell += 8
        if seen & 1 == 0:
            return number
        slot += stride
    return -1


def _reader(third):
    """Compiles a function that reads two or three digits of what is said of a strip.

    With two, all that the loop needs is in the registers of AVX2: twice as fast.
    """

    @njit(inline="always")
    def read(body, slots, stride, default, shift, offset):
        said_0, said_1 = filled(-(default & 1)), filled(-(default >> 1 & 1))
        said_2 = filled(-(default >> 2 & 1))
        slot = body + slots * stride
        while slot > body:
            slot -= stride
            forbidden = read_word(slot)
            if forbidden < 0:
                continue
            fails = filled(0)
            cell = slot + 8 * CELLS
            end = cell + 8 * forbidden
            while cell < end:
                fails = or_(fails, read_strip(read_word(cell) + offset))
                cell += 8
            end += 8 * read_word(slot + 8 * NEEDED)
            if cell < end:
                fails = not_(fails)
                while cell < end:
                    fails = and_(fails, read_strip(read_word(cell) + offset))
                    cell += 8
                fails = not_(fails)
            code = read_word(slot + 8 * CODE) >> shift
            if code & 1:
                said_0 = or_(said_0, not_(fails))
            else:
                said_0 = and_(said_0, fails)
            if code & 2:
                said_1 = or_(said_1, not_(fails))
            else:
                said_1 = and_(said_1, fails)
            if third:
                if code & 4:
                    said_2 = or_(said_2, not_(fails))
                else:
                    said_2 = and_(said_2, fails)
        return said_0, said_1, said_2

    return read


_two, _three = _reader(False), _reader(True)


@njit(inline="always")
def _error(planes, digits, digit, said, offset):
    """Where a digit that is said is not the true one; of digits beyond the last, nowhere."""
    if digit >= digits:
        return filled(0)
    plane = read_word(planes + 8 * digit)
    if plane:
        said = xor(said, read_strip(plane + offset))
    return said


@njit(inline="always")
def _first_word(pad, where, word, fresh):
    """The first word from `fresh` on where a strip that begins at `word` has a bit, or its end."""
    write_strip(pad, where)
    while fresh < word + STRIP and read_word(pad + 8 * (fresh - word)) == 0:
        fresh += 1
    return fresh


@njit
def _absorb(tape, slot, item):
    """Count a mistake of the conjunction in a slot, if it can do no more than count."""
    table = read_word(slot + 8 * TABLE)
    logged = read_word(tape + 8 * LOGGED)
    if table == 0 or read_word(table) == 0 or logged == MOST:
        return False
    offset, place = item >> 6 << 3, item & 63
    if read_word(read_word(tape + 8 * ORDINARY) + offset) >> place & 1 == 0:
        return False
    component = np.int64(0)
    for digit in range(read_word(tape + 8 * COMPONENT_DIGITS)):
        plane = read_word(tape + 8 * (COMPONENTS + digit))
        component |= (read_word(plane + offset) >> place & 1) << digit
    counter = read_word(table + 8 * (2 + component))
    if counter == 0 or read_word(counter) == 0:
        return False
    note = read_word(tape + 8 * NOTED) + offset
    write_word(note, read_word(note) | np.int64(1) << place)
    write_word(table, read_word(table) - 1)
    write_word(counter, read_word(counter) - 1)
    count = read_word(counter + 8)
    write_word(counter + 8, count + 1)
    if count == 0:
        write_word(counter + 16, item)
        touched = read_word(tape + 8 * TOUCHED)
        write_word(read_word(tape + 8 * TOUCHES) + 8 * touched, counter)
        write_word(tape + 8 * TOUCHED, touched + 1)
    log = read_word(tape + 8 * LOG) + 16 * logged
    write_word(log, item)
    write_word(log + 8, read_word(table + 8))
    write_word(tape + 8 * LOGGED, logged + 1)
    return True


@njit
def _columns(body, slots, stride, table):
    """The addresses of the columns in use, each once; returns how many, as far as there is room."""
    known = 0
    for number in range(slots):
        slot = body + number * stride
        forbidden = read_word(slot)
        if forbidden < 0:
            continue
        for cell in range(forbidden + read_word(slot + 8 * NEEDED)):
            address = read_word(slot + 8 * (CELLS + cell))
            place = 0
            while place < known and read_word(table + 8 * place) != address:
                place += 1
            if place == MOST:
                return known
            write_word(table + 8 * place, address)
            known = max(known, place + 1)
    return known


@njit
def _touch(table, known, offset, words, pad):
    """Read a block of every column from end to end, which brings it into the cache."""
    seen = np.int64(0)
    for number in range(known):
        address = read_word(table + 8 * number) + offset
        for line in range((words + 7) >> 3):
            seen |= read_word(address + 64 * line)
    write_word(pad, seen)  # so that it is not left out as useless


@_compiled
def find(tape, start, stop, shown, quiet, wrong_only):
    """The first event from `start` to before `stop`; see `Plain.find`.

    Its slot, and the count of the uncovered, are left in the head of the tape: to give back three
    numbers takes longer than to look at a few words.
    """
    slots, stride = read_word(tape + 8 * SLOTS), 8 * read_word(tape + 8 * STRIDE)
    digits, default = read_word(tape + 8 * DIGITS), read_word(tape + 8 * DEFAULT)
    pad, ordinary = read_word(tape + 8 * PAD), read_word(tape + 8 * ORDINARY)
    noted = read_word(tape + 8 * NOTED)
    planes, body = tape + 8 * PLANES, tape + 8 * HEAD
    one = np.int64(1)
    counting = quiet >= 0
    silent = counting and ordinary != 0 and (noted != 0 or not shown)
    word, last, whole = start >> 6, (stop + 63) >> 6, stop >> 6
    uncovered, singles = 0, _SINGLE
    fresh = word  # the first word not yet done; strips may begin before it, to begin at a line
    strips, known, touched, block = 0, 0, word, 0
    table = pad + 8 * STRIP
    while fresh < last:
        if singles > 0 or word + STRIP > whole:
            word = fresh
            offset = 8 * word
            left = np.int64(-1)
            if word == start >> 6:
                left <<= start & 63
            if word == whole:
                left &= (one << (stop & 63)) - 1
            place, fired = 64, -1
            slot = body
            for number in range(slots):
                forbidden = read_word(slot)
                if forbidden >= 0:
                    covered = left
                    cell = slot + 8 * CELLS
                    end = cell + 8 * forbidden
                    while cell < end:
                        covered &= ~read_word(read_word(cell) + offset)
                        cell += 8
                    end += 8 * read_word(slot + 8 * NEEDED)
                    while cell < end:
                        covered &= read_word(read_word(cell) + offset)
                        cell += 8
                    if covered:
                        left ^= covered
                        if shown:
                            covered &= _differs(planes, digits, read_word(slot + 8 * CODE), offset)
                            if covered:
                                # only what comes before this mistake matters from now on
                                place, fired = lowest(covered), number
                                left &= (one << place) - 1
                        if left == 0:
                            break
                slot += stride
            wrong = left & _differs(planes, digits, default, offset)
            events = wrong
            if counting:
                late = left  # the uncovered that are not quiet any more
                for _ in range(min(quiet - uncovered, count_ones(left))):
                    late &= late - 1
                if wrong_only:
                    late &= wrong
                if silent:
                    events &= ~read_word(ordinary + offset)
                events |= late
            if events:
                place, fired = lowest(events), -1
                left &= (one << place) - 1
            if counting:
                uncovered += count_ones(left)
                if silent and shown:
                    write_word(noted + offset, read_word(noted + offset) | wrong & left)
            if place < 64:
                item = 64 * word + place
                if fired >= 0 and _absorb(tape, body + fired * stride, item):
                    start = item + 1
                    word = fresh = start >> 6
                    singles = _SINGLE
                    continue
                write_word(tape + 8 * FIRED, fired)
                write_word(tape + 8 * UNCOVERED, uncovered)
                return item
            word = fresh = word + 1
            singles -= 1
            continue

        offset = 8 * word
        strips += 1
        if strips == _LONG:
            known = _columns(body, slots, stride, table)
            block = STRIP * max(1, _CACHE // (8 * STRIP * max(1, known)))
            touched = word if known > _STREAMS else last
        if block and word >= touched:
            _touch(table, known, offset, min(block, whole - word), pad)
            touched = word + block
        if shown and not counting and digits <= 2:
            said_0, said_1, _ = _two(body, slots, stride, default, 0, offset)
            wrong = or_(
                _error(planes, digits, 0, said_0, offset), _error(planes, digits, 1, said_1, offset)
            )
            if any_set(wrong) != 0:
                fresh = _first_word(pad, wrong, word, fresh)
                singles = 1  # it is in this word
            else:
                fresh = word + STRIP
                word = fresh & ~7
            continue

        # Two or three digits at a time. Whether an item is uncovered is one more digit, the last: 1
        # by default, and 0 in every slot.
        wrong, left = filled(0), filled(0)
        total = digits + 1 if counting or not shown else digits
        shift = 0 if shown else digits
        while shift < total:
            initial, width = (default | one << digits) >> shift, 2
            if total - shift == 3:
                width = 3
                said_0, said_1, said_2 = _three(body, slots, stride, initial, shift, offset)
            else:
                said_0, said_1, said_2 = _two(body, slots, stride, initial, shift, offset)
            wrong = or_(wrong, _error(planes, digits, shift, said_0, offset))
            wrong = or_(wrong, _error(planes, digits, shift + 1, said_1, offset))
            if digits == shift:
                left = said_0
            elif digits == shift + 1:
                left = said_1
            elif digits == shift + 2:
                left = said_2
            if width == 3:
                wrong = or_(wrong, _error(planes, digits, shift + 2, said_2, offset))
            shift += width
        if not shown:
            for digit in range(digits):
                said = filled(-(default >> digit & 1))
                wrong = or_(wrong, _error(planes, digits, digit, said, offset))
            wrong = and_(wrong, left)
        here = 0
        if counting and any_set(left) != 0:
            here = count_strip(left)
            if fresh > word:  # these were counted before
                write_strip(pad, left)
                for number in range(fresh - word):
                    here -= count_ones(read_word(pad + 8 * number))
            if uncovered + here > quiet and (uncovered < quiet or not wrong_only):
                singles = STRIP
                continue
        if any_set(wrong) != 0:
            hushed = filled(0)
            if silent and uncovered + here <= quiet:
                hushed = and_(and_(wrong, left), read_strip(ordinary + offset))
            found = _first_word(pad, but_not(wrong, hushed), word, fresh)
            if silent and shown:
                if fresh == word and found == word + STRIP:
                    write_strip(noted + offset, hushed)
                else:
                    write_strip(pad, hushed)
                    for number in range(fresh - word, found - word):
                        write_word(noted + offset + 8 * number, read_word(pad + 8 * number))
            if found < word + STRIP:
                if counting:
                    write_strip(pad, left)
                    for number in range(fresh - word, found - word):
                        uncovered += count_ones(read_word(pad + 8 * number))
                fresh = found
                singles = 1
                continue
        uncovered += here
        fresh = word + STRIP
        word = fresh & ~7
    write_word(tape + 8 * FIRED, -1)
    write_word(tape + 8 * UNCOVERED, uncovered)
    return stop


@_compiled
def say(tape, items):
    """Write the code of every item into the planes."""
    slots, stride = read_word(tape + 8 * SLOTS), 8 * read_word(tape + 8 * STRIDE)
    digits, default = read_word(tape + 8 * DIGITS), read_word(tape + 8 * DEFAULT)
    planes, body = tape + 8 * PLANES, tape + 8 * HEAD
    word, last = 0, (items + 63) >> 6
    while word + STRIP <= last:
        for shift in range(0, digits, 3):
            said_0, said_1, said_2 = _three(body, slots, stride, default >> shift, shift, 8 * word)
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
