"""Strips of sixteen words, as far as nothing happens: what `finding` does most of the time.

A strip of a column is touched once for each literal and stays in the first-level cache in between.
Rules are taken last to first, so that each overwrites the ones after it: `said | covered` or
`said & ~covered`, one operation a digit, with no account of what is left.
"""

# mypy: ignore-errors
# (Compiled code has no types that mypy knows.)

from __future__ import annotations

import numpy as np
from numba import njit

from tellapart.simulation.strip import (
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
from tellapart.simulation.tape import (
    CELLS,
    CODE,
    DIGITS,
    EVERYWHERE,
    HEAD,
    NEEDED,
    NOTED,
    ORDINARY,
    PLANES,
    STRIP,
)

EVENT, ALONE = 1, 2
"""Why there was a stop."""


@njit(inline="always")
def _fails(slot, forbidden, offset):
    """The items of a strip that a conjunction does not cover."""
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
    return fails


@njit(inline="always")
def _wrong_as(planes, digits, code, offset):
    """The items of a strip whose code is not `code`."""
    wrong = filled(0)
    for digit in range(digits):
        plane = read_word(planes + 8 * digit)
        said = filled(-(code >> digit & 1))
        if plane:
            said = xor(said, read_strip(plane + offset))
        wrong = or_(wrong, said)
    return wrong


@njit(inline="always")
def _differ(planes, digit, said, offset):
    """Where a digit that is said is not the true one."""
    plane = read_word(planes + 8 * digit)
    if plane:
        said = xor(said, read_strip(plane + offset))
    return said


@njit(inline="always")
def _say(code, fails, said):
    """A digit of what is said, once a conjunction before the others has had its say."""
    if code & 1:
        return or_(said, not_(fails))
    return and_(said, fails)


@njit
def _used(body, slots, stride, default):
    """The codes in use, as bits."""
    used = np.int64(1) << default
    for number in range(slots):
        used |= np.int64(1) << read_word(body + number * stride + 8 * CODE)
    return used


def _glider(counting, two):
    """Compiles a function that goes on from strip to strip while there is no event.

    It stops at the word of the next one, or at that in which more than `quiet` would have been
    uncovered. With `counting`, mistakes that need only be put down are so on the way. It gives the
    word, how many were uncovered before, and why it stopped: EVENT, and the rest of the strip is in
    the pad; ALONE, and that word is to be looked at by itself; or 0, as there are no more strips.

    With `two`, for codes of at most two digits of guesses that are shown, all that the loop needs
    is in the registers of AVX2. Else what each code would get wrong is in the pad.
    """

    @njit
    def go_on(tape, pad, slots, stride, default, shown, word, whole, quiet, silent):
        body, planes = tape + 8 * HEAD, tape + 8 * PLANES
        digits = read_word(tape + 8 * DIGITS)
        ordinary, noted = read_word(tape + 8 * ORDINARY), read_word(tape + 8 * NOTED)
        lines = pad + 16 * STRIP
        few = digits <= 4  # so that each code can have a place in the pad
        used = np.int64(0)
        if few and not two:
            used = _used(body, slots, stride, default)
        uncovered = 0
        while word + STRIP <= whole:
            offset = 8 * word
            said_0, said_1 = filled(-(default & 1)), filled(-(default >> 1 & 1))
            wrong, left = filled(0), filled(-1)
            if not two:
                rest = used
                while rest:
                    code = lowest(rest)
                    write_strip(lines + 8 * STRIP * code, _wrong_as(planes, digits, code, offset))
                    rest &= rest - 1
                wrong = _wrong_as(planes, digits, default, offset)
            slot = body + slots * stride
            while slot > body:
                slot -= stride
                forbidden = read_word(slot)
                if forbidden < 0:
                    continue
                fails = _fails(slot, forbidden, offset)
                code = read_word(slot + 8 * CODE)
                if counting:
                    left = and_(left, fails)
                if two:
                    said_0, said_1 = _say(code, fails, said_0), _say(code >> 1, fails, said_1)
                elif not shown:
                    wrong = and_(wrong, fails)
                elif few:
                    theirs = read_strip(lines + 8 * STRIP * code)
                    wrong = or_(and_(wrong, fails), but_not(theirs, fails))
                else:
                    theirs = _wrong_as(planes, digits, code, offset)
                    wrong = or_(and_(wrong, fails), but_not(theirs, fails))
            if two and digits > 0:
                wrong = _differ(planes, 0, said_0, offset)
                if digits > 1:
                    wrong = or_(wrong, _differ(planes, 1, said_1, offset))
            if not counting:
                if any_set(wrong) != 0:
                    write_strip(pad, wrong)
                    while read_word(pad) == 0:
                        pad += 8
                        word += 1
                    return word, uncovered, EVENT
            elif any_set(or_(wrong, left)) != 0:
                here = count_strip(left)
                hushed = filled(0)
                if silent:
                    hushed = and_(wrong, left)
                    if ordinary != EVERYWHERE:
                        hushed = and_(hushed, read_strip(ordinary + offset))
                    wrong = but_not(wrong, hushed)
                enough = uncovered + here > quiet
                if enough or any_set(wrong) != 0:
                    write_strip(pad, wrong)
                    write_strip(pad + 8 * STRIP, left)
                    write_strip(lines, hushed)
                    here = count_ones(read_word(pad + 8 * STRIP))
                    while read_word(pad) == 0 and uncovered + here <= quiet:
                        uncovered += here
                        if silent and shown:
                            write_word(noted + 8 * word, read_word(pad + 16 * STRIP))
                        pad += 8
                        word += 1
                        here = count_ones(read_word(pad + 8 * STRIP))
                    return word, uncovered, ALONE if enough else EVENT
                if silent and shown:
                    write_strip(noted + offset, hushed)
                uncovered += here
            elif silent and shown:
                write_strip(noted + offset, filled(0))
            word += STRIP
        return word, uncovered, 0

    return go_on


glide, glide_counting = _glider(False, False), _glider(True, False)
glide_two, glide_counting_two = _glider(False, True), _glider(True, True)


@njit(inline="always")
def three(body, slots, stride, default, shift, offset):
    """Three digits of what is said of a strip, from digit `shift` on."""
    said_0, said_1 = filled(-(default & 1)), filled(-(default >> 1 & 1))
    said_2 = filled(-(default >> 2 & 1))
    slot = body + slots * stride
    while slot > body:
        slot -= stride
        forbidden = read_word(slot)
        if forbidden < 0:
            continue
        fails = _fails(slot, forbidden, offset)
        code = read_word(slot + 8 * CODE) >> shift
        said_0 = _say(code, fails, said_0)
        said_1 = _say(code >> 1, fails, said_1)
        said_2 = _say(code >> 2, fails, said_2)
    return said_0, said_1, said_2
