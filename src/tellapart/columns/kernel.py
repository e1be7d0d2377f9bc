"""The inner loops, compiled by numba: where a decision list errs next, and what it says.

The list is on a tape (`columns.tape`). Long stretches are read in strips of sixteen words, held in
vector registers: a strip of a column is touched once for each literal and stays in the first-level
cache in between. Rules are taken last to first, so that each overwrites the ones after it:
`said | covered` or `said & ~covered`, one operation a digit, with no account of what is left.
Around a mistake words are read one at a time, first rule first. Many columns at a time are more
streams than the machine can foresee: then blocks of them are first read one after another.

All of it is in one file because numba's cache looks at the date of one file.
"""

# mypy: ignore-errors
# ruff: noqa: ARG001, SIM108
# (Compiled code has no types that mypy knows; a signature needs all its arguments; a conditional
# expression of strips is slower than the statement.)

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, models, register_model

from tellapart.columns.tape import (
    CELLS,
    CODE,
    DEFAULT,
    DIGITS,
    HEAD,
    NEEDED,
    NOTED,
    ORDINARY,
    PAD,
    PLANES,
    SLOTS,
    STRIDE,
)

STRIP = 16
"""Words a strip: four vectors of AVX2, of whose registers three such strips leave a few free."""
_SINGLE = 2  # words read one by one before strips, after a mistake
_LONG = 32  # strips after which it pays to find out which columns are in use
_STREAMS = 20  # more columns than this are read block by block: the machine cannot foresee them
_CACHE = 1 << 17  # bytes of such blocks
_MOST = 512  # columns so read

_vector = ir.VectorType(ir.IntType(64), STRIP)
_ones = ir.Constant(_vector, [-1] * STRIP)
_index = ir.IntType(32)


class _Strip(types.Type):
    """Sixteen words as one value."""

    def __init__(self) -> None:
        super().__init__(name="Strip")


strip = _Strip()


@register_model(_Strip)
class _StripModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _vector)


def _unary(signature: Any, emit: Any) -> Any:
    @intrinsic
    def operation(typing, a):
        return signature, lambda context, builder, _, args: emit(builder, args[0])

    return operation


def _binary(emit: Any) -> Any:
    @intrinsic
    def operation(typing, a, b):
        return strip(strip, strip), lambda context, builder, _, args: emit(builder, *args)

    return operation


def _spread(builder: Any, word: Any) -> Any:
    blank = ir.Constant(_vector, ir.Undefined)
    order = ir.Constant(ir.VectorType(_index, STRIP), [0] * STRIP)
    return builder.shuffle_vector(builder.insert_element(blank, word, _index(0)), blank, order)


def _fold(builder: Any, value: Any) -> Any:
    size = STRIP
    while size > 1:
        size //= 2
        blank, order = ir.Constant(value.type, ir.Undefined), ir.VectorType(_index, size)
        low = builder.shuffle_vector(value, blank, ir.Constant(order, list(range(size))))
        high = builder.shuffle_vector(value, blank, ir.Constant(order, list(range(size, 2 * size))))
        value = builder.or_(low, high)
    return builder.extract_element(value, _index(0))


def _pointer(builder: Any, address: Any, kind: Any) -> Any:
    return builder.inttoptr(address, kind.as_pointer())


_load = _unary(strip(types.int64), lambda b, a: b.load(_pointer(b, a, _vector), align=8))
_word = _unary(
    types.int64(types.int64), lambda b, a: b.load(_pointer(b, a, ir.IntType(64)), align=8)
)
_all = _unary(strip(types.int64), _spread)
_any = _unary(types.int64(strip), _fold)
_ones_in = _unary(types.int64(types.int64), lambda b, a: b.ctpop(a))
_lowest = _unary(types.int64(types.int64), lambda b, a: b.cttz(a, ir.IntType(1)(0)))
_or = _binary(lambda b, x, y: b.or_(x, y))
_and = _binary(lambda b, x, y: b.and_(x, y))
_xor = _binary(lambda b, x, y: b.xor(x, y))
_without = _binary(lambda b, x, y: b.and_(x, b.xor(y, _ones)))
_not = _unary(strip(strip), lambda b, x: b.xor(x, _ones))


def _writer(signature: Any) -> Any:
    @intrinsic
    def operation(typing, address, value):
        def emit(context, builder, _, args):
            builder.store(args[1], _pointer(builder, args[0], args[1].type), align=8)
            return context.get_dummy_value()

        return signature, emit

    return operation


_store = _writer(types.void(types.int64, strip))
_store_word = _writer(types.void(types.int64, types.int64))


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
        plane = _word(planes + 8 * digit)
        if plane:
            differs |= _word(plane + offset) ^ -(code >> digit & 1)
        else:
            differs |= -(code >> digit & 1)
    return differs


@_compiled
def first(tape, item):
    """The slot of the first conjunction that covers `item`, or -1."""
    offset, place = item >> 6 << 3, item & 63
    stride = 8 * tape[STRIDE]
    slot = np.int64(tape.ctypes.data) + 8 * HEAD
    for number in range(tape[SLOTS]):
        forbidden = _word(slot)
        cell = slot + 8 * CELLS
        end = cell + 8 * forbidden
        seen = np.int64(forbidden < 0)
        while cell < end:
            seen |= _word(_word(cell) + offset) >> place
            cell += 8
        end += 8 * _word(slot + 8 * NEEDED)
        while cell < end:
            seen |= ~(_word(_word(cell) + offset) >> place)
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
    def read(body, slots, stride, default, shift, mask, offset):
        said_0, said_1 = _all(-(default & 1)), _all(-(default >> 1 & 1))
        said_2 = _all(-(default >> 2 & 1))
        slot = body + slots * stride
        while slot > body:
            slot -= stride
            forbidden = _word(slot)
            if forbidden < 0:
                continue
            fails = _all(0)
            cell = slot + 8 * CELLS
            end = cell + 8 * forbidden
            while cell < end:
                fails = _or(fails, _load(_word(cell) + offset))
                cell += 8
            end += 8 * _word(slot + 8 * NEEDED)
            if cell < end:
                fails = _not(fails)
                while cell < end:
                    fails = _and(fails, _load(_word(cell) + offset))
                    cell += 8
                fails = _not(fails)
            code = _word(slot + 8 * CODE) >> shift & mask
            if code & 1:
                said_0 = _or(said_0, _not(fails))
            else:
                said_0 = _and(said_0, fails)
            if code & 2:
                said_1 = _or(said_1, _not(fails))
            else:
                said_1 = _and(said_1, fails)
            if third:
                if code & 4:
                    said_2 = _or(said_2, _not(fails))
                else:
                    said_2 = _and(said_2, fails)
        return said_0, said_1, said_2

    return read


_two, _three = _reader(False), _reader(True)


@njit(inline="always")
def _error(planes, digits, digit, said, offset):
    """Where a digit that is said is not the true one; of digits beyond the last, nowhere."""
    if digit >= digits:
        return _all(0)
    plane = _word(planes + 8 * digit)
    if plane:
        said = _xor(said, _load(plane + offset))
    return said


@njit
def _columns(body, slots, stride, table):
    """The addresses of the columns in use, each once; returns how many, as far as there is room."""
    known = 0
    for number in range(slots):
        slot = body + number * stride
        forbidden = _word(slot)
        if forbidden < 0:
            continue
        for cell in range(forbidden + _word(slot + 8 * NEEDED)):
            address = _word(slot + 8 * (CELLS + cell))
            place = 0
            while place < known and table[place] != address:
                place += 1
            if place == len(table):
                return known
            table[place] = address
            known = max(known, place + 1)
    return known


@njit
def _touch(table, known, offset, words, pad):
    """Read a block of every column from end to end, which brings it into the cache."""
    seen = np.int64(0)
    for number in range(known):
        address = table[number] + offset
        for line in range((words + 7) >> 3):
            seen |= _word(address + 64 * line)
    _store_word(pad, seen)  # so that it is not left out as useless


@_compiled
def find(tape, start, stop, shown, quiet, wrong_only):
    """The first event from `start` to before `stop`; see `Plain.find`."""
    base = np.int64(tape.ctypes.data)
    slots, stride = tape[SLOTS], 8 * tape[STRIDE]
    digits, default, pad = tape[DIGITS], tape[DEFAULT], tape[PAD]
    ordinary, noted = tape[ORDINARY], tape[NOTED]
    planes, body = base + 8 * PLANES, base + 8 * HEAD
    one = np.int64(1)
    counting = quiet >= 0
    silent = counting and ordinary != 0 and (noted != 0 or not shown)
    word, last, whole = start >> 6, (stop + 63) >> 6, stop >> 6
    uncovered, singles = 0, _SINGLE
    fresh = word  # the first word not yet done; strips may begin before it, to begin at a line
    strips, known, touched, block = 0, 0, word, 0
    table = np.empty(_MOST, np.int64)
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
                forbidden = _word(slot)
                if forbidden >= 0:
                    covered = left
                    cell = slot + 8 * CELLS
                    end = cell + 8 * forbidden
                    while cell < end:
                        covered &= ~_word(_word(cell) + offset)
                        cell += 8
                    end += 8 * _word(slot + 8 * NEEDED)
                    while cell < end:
                        covered &= _word(_word(cell) + offset)
                        cell += 8
                    if covered:
                        left ^= covered
                        if shown:
                            covered &= _differs(planes, digits, _word(slot + 8 * CODE), offset)
                            if covered:
                                # only what comes before this mistake matters from now on
                                place, fired = _lowest(covered), number
                                left &= (one << place) - 1
                        if left == 0:
                            break
                slot += stride
            wrong = left & _differs(planes, digits, default, offset)
            events = wrong
            if counting:
                late = left  # the uncovered that are not quiet any more
                for _ in range(min(quiet - uncovered, _ones_in(left))):
                    late &= late - 1
                if wrong_only:
                    late &= wrong
                if silent:
                    events &= ~_word(ordinary + offset)
                events |= late
            if events:
                place, fired = _lowest(events), -1
                left &= (one << place) - 1
            if counting:
                uncovered += _ones_in(left)
                if silent and shown:
                    _store_word(noted + offset, _word(noted + offset) | wrong & left)
            if place < 64:
                return 64 * word + place, fired, uncovered
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
            said_0, said_1, _ = _two(body, slots, stride, default, 0, 3, offset)
            wrong = _or(
                _error(planes, digits, 0, said_0, offset), _error(planes, digits, 1, said_1, offset)
            )
            if _any(wrong) != 0:
                singles = STRIP  # it is one of these words
            else:
                fresh = word + STRIP
                word = fresh & ~7
            continue

        # Three digits at a time; where uncovered items matter, they are the third at first: a digit
        # that is 1 by default, and 0 in every slot.
        wrong, left = _all(0), _all(0)
        shift, width, initial = 0, 3, default & 7
        if counting or not shown:
            width, initial = 2, default & 3 | 4
        while True:
            said_0, said_1, said_2 = _three(
                body, slots, stride, initial, shift, (one << width) - 1, offset
            )
            if width == 2:
                left = said_2
                said_2 = _all(0)
                if not shown:
                    break
            wrong = _or(wrong, _error(planes, digits, shift, said_0, offset))
            wrong = _or(wrong, _error(planes, digits, shift + 1, said_1, offset))
            if width == 3:
                wrong = _or(wrong, _error(planes, digits, shift + 2, said_2, offset))
            shift += width
            width, initial = 3, default >> shift & 7
            if shift >= digits:
                break
        if not shown:
            for digit in range(digits):
                said = _all(-(default >> digit & 1))
                wrong = _or(wrong, _error(planes, digits, digit, said, offset))
            wrong = _and(wrong, left)
        here = 0
        if counting:
            _store(pad, left)
            for number in range(fresh - word, STRIP):
                here += _ones_in(_word(pad + 8 * number))
            if uncovered + here > quiet and (uncovered < quiet or not wrong_only):
                singles = STRIP
                continue
        hushed = _all(0)
        if silent and uncovered + here <= quiet:
            hushed = _and(_and(wrong, left), _load(ordinary + offset))
        if _any(_without(wrong, hushed)) != 0:
            singles = STRIP
            continue
        if silent and shown:
            _store(noted + offset, hushed)
        uncovered += here
        fresh = word + STRIP
        word = fresh & ~7
    return stop, -1, uncovered


@_compiled
def say(tape, items):
    """Write the code of every item into the planes."""
    base = np.int64(tape.ctypes.data)
    slots, stride = tape[SLOTS], 8 * tape[STRIDE]
    digits, default = tape[DIGITS], tape[DEFAULT]
    planes, body = base + 8 * PLANES, base + 8 * HEAD
    word, last = 0, (items + 63) >> 6
    while word + STRIP <= last:
        for shift in range(0, digits, 3):
            said_0, said_1, said_2 = _three(
                body, slots, stride, default >> shift, shift, 7, 8 * word
            )
            _store(_word(planes + 8 * shift) + 8 * word, said_0)
            if shift + 1 < digits:
                _store(_word(planes + 8 * (shift + 1)) + 8 * word, said_1)
            if shift + 2 < digits:
                _store(_word(planes + 8 * (shift + 2)) + 8 * word, said_2)
        word += STRIP
    for item in range(64 * word, items):
        number = first(tape, item)
        code = default if number < 0 else _word(body + number * stride + 8 * CODE)
        for digit in range(digits):
            plane = _word(planes + 8 * digit) + 8 * (item >> 6)
            before = _word(plane) & ((np.int64(1) << (item & 63)) - 1)
            _store_word(plane, before | (code >> digit & 1) << (item & 63))
