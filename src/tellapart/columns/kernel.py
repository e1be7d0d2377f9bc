"""The inner loops, compiled by numba: where a decision list errs next, and what it says.

The list is on a tape (`columns.tape`). Long stretches are read in strips of sixteen words, held in
vector registers: a strip of a column is touched once for each literal and stays in the first-level
cache in between. Rules are taken last to first, so that each overwrites the ones after it:
`said | covered` or `said & ~covered`, one operation a digit, with no account of what is left.
Around a mistake words are read one at a time, first rule first.

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
    PAD,
    PLANES,
    SLOTS,
    STRIDE,
)

STRIP = 16
"""Words a strip: four vectors of AVX2; u, left, said_0 and said_1 then fill its registers."""
_SINGLE = 2  # words read one by one before strips, after a mistake

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


@njit(inline="always")
def _read(body, slots, stride, digits, default, pad, offset):
    """A strip: what no slot covers, and the first two digits of what is said; more on the pad."""
    left = _all(-1)
    end_pad = pad + 8 * STRIP * digits
    said_0, said_1 = _all(-(default & 1)), _all(-(default >> 1 & 1))
    for digit in range(2, digits):
        _store(pad + 8 * STRIP * digit, _all(-(default >> digit & 1)))
    slot = body + slots * stride
    while slot > body:
        slot -= stride
        forbidden = _word(slot)
        if forbidden < 0:
            continue
        covered = _all(-1)
        cell = slot + 8 * CELLS
        end = cell + 8 * forbidden
        while cell < end:
            covered = _without(covered, _load(_word(cell) + offset))
            cell += 8
        end += 8 * _word(slot + 8 * NEEDED)
        while cell < end:
            covered = _and(covered, _load(_word(cell) + offset))
            cell += 8
        left = _without(left, covered)
        code = _word(slot + 8 * CODE)
        if code & 1:
            said_0 = _or(said_0, covered)
        else:
            said_0 = _without(said_0, covered)
        if code & 2:
            said_1 = _or(said_1, covered)
        else:
            said_1 = _without(said_1, covered)
        more = pad + 16 * STRIP
        code >>= 2
        while more < end_pad:
            if code & 1:
                _store(more, _or(_load(more), covered))
            else:
                _store(more, _without(_load(more), covered))
            more += 8 * STRIP
            code >>= 1
    return left, said_0, said_1


@_compiled
def find(tape, start, stop, shown, counting, quiet):
    """The first event from `start` to before `stop`: its item, slot, and the uncovered before."""
    base = np.int64(tape.ctypes.data)
    slots, stride = tape[SLOTS], 8 * tape[STRIDE]
    digits, default, pad = tape[DIGITS], tape[DEFAULT], tape[PAD]
    planes, body = base + 8 * PLANES, base + 8 * HEAD
    word, last, whole = start >> 6, (stop + 63) >> 6, stop >> 6
    uncovered, singles = 0, _SINGLE
    one = np.int64(1)
    if not counting:
        quiet = np.int64(1) << 62
    while word < last:
        offset = 8 * word
        if singles > 0 or word + STRIP > whole:
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
            if left:
                wrong = left & _differs(planes, digits, default, offset)
                if wrong:
                    place, fired = _lowest(wrong), -1
                    left &= (one << place) - 1
            if counting:
                here = _ones_in(left)
                if uncovered + here >= quiet:
                    here = quiet - uncovered - 1
                    for _ in range(here):
                        left &= left - 1
                    place, fired = _lowest(left), -1
                uncovered += here
            if place < 64:
                return 64 * word + place, fired, uncovered
            word += 1
            singles -= 1
            continue
        left, said_0, said_1 = _read(body, slots, stride, digits, default, pad, offset)
        if shown:
            wrong = _all(0)
            for digit in range(digits):
                said = _load(pad + 8 * STRIP * digit) if digit > 1 else said_1 if digit else said_0
                plane = _word(planes + 8 * digit)
                wrong = _or(wrong, _xor(said, _load(plane + offset)) if plane else said)
        else:
            wrong = _all(0)
            for digit in range(digits):
                wanted = _all(-(default >> digit & 1))
                plane = _word(planes + 8 * digit)
                wrong = _or(wrong, _xor(wanted, _load(plane + offset)) if plane else wanted)
            wrong = _and(wrong, left)
        here = 0
        if counting:
            _store(pad, left)
            for number in range(STRIP):
                here += _ones_in(_word(pad + 8 * number))
        if uncovered + here >= quiet or _any(wrong) != 0:
            singles = STRIP  # it is one of these words
        else:
            uncovered += here
            word += STRIP
    return stop, -1, uncovered


@_compiled
def say(tape, items):
    """Write the code of every item into the planes."""
    base = np.int64(tape.ctypes.data)
    slots, stride = tape[SLOTS], 8 * tape[STRIDE]
    digits, default, pad = tape[DIGITS], tape[DEFAULT], tape[PAD]
    planes, body = base + 8 * PLANES, base + 8 * HEAD
    word, last = 0, (items + 63) >> 6
    while word + STRIP <= last:
        _, said_0, said_1 = _read(body, slots, stride, digits, default, pad, 8 * word)
        for digit in range(digits):
            said = _load(pad + 8 * STRIP * digit) if digit > 1 else said_1 if digit else said_0
            _store(_word(planes + 8 * digit) + 8 * word, said)
        word += STRIP
    for item in range(64 * word, items):
        number = first(tape, item)
        code = default if number < 0 else _word(body + number * stride + 8 * CODE)
        for digit in range(digits):
            plane = _word(planes + 8 * digit) + 8 * (item >> 6)
            before = _word(plane) & ((np.int64(1) << (item & 63)) - 1)
            _store_word(plane, before | (code >> digit & 1) << (item & 63))
