"""Where a decision list errs next; compiled.

The list is on a tape (`columns.tape`). Long stretches are read in strips of sixteen words, held in
vector registers (`columns.glide`); around a mistake words are read one at a time, first rule first.
Many columns at a time are more streams than the machine can foresee: then blocks of them are first
read one after another.
"""

# mypy: ignore-errors
# (Compiled code has no types that mypy knows.)

from __future__ import annotations

import numpy as np
from numba import njit

from tellapart.simulation.absorbing import absorb, code_of
from tellapart.simulation.glide import ALONE, EVENT
from tellapart.simulation.stretch import (
    COUNTING,
    FEW,
    TWO,
    limit,
    offer,
    probation,
    share,
    walk,
    worth,
)
from tellapart.simulation.strip import (
    count_ones,
    lowest,
    read_word,
    write_word,
)
from tellapart.simulation.tape import (
    CELLS,
    CODE,
    COMPONENT,
    COMPONENT_DIGITS,
    COMPONENTS,
    DEFAULT,
    DESK,
    DIGITS,
    EVERYWHERE,
    FIRED,
    HEAD,
    KNOWN,
    LABEL,
    NEEDED,
    NOTED,
    NOTED_END,
    ORDINARY,
    PAD,
    PLANES,
    RESORT,
    SEEN,
    SLOTS,
    STRIDE,
    STRIP,
    TABLE,
    TOUCHES,
    UNCOVERED,
    WRITTEN,
)
from tellapart.simulation.tolerance import grown

_SINGLE = 2  # words read one by one before strips, after a mistake


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


@njit
def first_of(tape, slots, item):
    """Of the first so many conjunctions, the slot of the first that covers `item`, or -1."""
    offset, place = item >> 6 << 3, item & 63
    stride = 8 * read_word(tape + 8 * STRIDE)
    slot = tape + 8 * HEAD
    for number in range(slots):
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


@njit
def _wipe(noted, word, stop):
    """Nothing was put down in these words; returns `stop`."""
    while word < stop:
        write_word(noted + 8 * word, 0)
        word += 1
    return stop


@njit
def _catch_all(body, slots, stride):
    """The first slot whose conjunction is empty, or -1."""
    for number in range(slots):
        slot = body + number * stride
        if read_word(slot) == 0 and read_word(slot + 8 * NEEDED) == 0:
            return number
    return -1


@njit
def _take(tape, pad, slots, stride, last_resort, word, kind, hush):
    """Count the mistakes in the rest of a strip, from `word` on, that can do no more than count.

    Gives how many items were uncovered on the way, the first one not counted, and EVENT if that is
    a mistake that may do more, 0 if it is the one after the strip. What is in the strip, `glide`
    left in the pad.
    """
    body, noted = tape + 8 * HEAD, read_word(tape + 8 * NOTED)
    resort = read_word(tape + 8 * RESORT) if hush else np.int64(0)
    place, uncovered = 0, 0
    while read_word(pad + 8 * place) == 0:
        place += 1
    while place < STRIP:
        wrong, left, notes = read_word(pad + 8 * place), np.int64(0), np.int64(0)
        if kind & COUNTING:
            left = read_word(pad + 8 * (STRIP + place))
            notes = read_word(pad + 8 * (2 * STRIP + place))
        before = np.int64(-1)
        item = 64 * (word + 1)
        while wrong:
            item = 64 * word + lowest(wrong)
            fired = first_of(tape, slots, item)
            guide = resort
            if fired < 0:
                fired = last_resort
            if fired >= 0:
                guide = read_word(body + fired * stride + 8 * TABLE)
            if not absorb(tape, guide, item):
                before = (np.int64(1) << (item & 63)) - 1
                break
            wrong &= wrong - 1
        uncovered += count_ones(left & before)
        if hush:
            write_word(noted + 8 * word, notes & before)
        if wrong:
            return uncovered, item, EVENT
        word += 1
        place += 1
    return uncovered, 64 * word, 0


@njit
def find_event(tape, start, stop, shown, quiet, wrong_only, began, uncovered):
    """The first event from `start` to before `stop`; see `Tape.find`.

    Its slot, the codes of its label and component, and the count of the uncovered, are left in the
    head of the tape: to give back more than one number takes longer than to look at a few words.
    """
    slots, stride = read_word(tape + 8 * SLOTS), 8 * read_word(tape + 8 * STRIDE)
    digits, default = read_word(tape + 8 * DIGITS), read_word(tape + 8 * DEFAULT)
    pad, ordinary = tape + 8 * PAD, read_word(tape + 8 * ORDINARY)
    noted = read_word(tape + 8 * NOTED)
    planes, body = tape + 8 * PLANES, tape + 8 * HEAD
    one = np.int64(1)
    counting = quiet >= 0
    last_resort = _catch_all(body, slots, stride)
    if last_resort >= 0:  # nothing is uncovered, and nothing after it is ever asked
        slots, default = last_resort, read_word(body + last_resort * stride + 8 * CODE)
        counting = False
        if not shown:
            start = stop
    everywhere = ordinary == EVERYWHERE
    silent = counting and ordinary != 0 and (noted != 0 or not shown)
    notes, written = silent and shown, read_word(tape + 8 * WRITTEN)
    if notes:
        stop = min(stop, 64 * read_word(tape + 8 * NOTED_END))
    word, last, whole = start >> 6, (stop + 63) >> 6, stop >> 6
    singles, least, lone = _SINGLE, quiet, 0
    kind = (COUNTING if counting else 0) | (TWO if shown and digits <= 2 else 0)
    desk, streams = read_word(tape + 8 * DESK), read_word(tape + 8 * KNOWN) + digits + 1
    trial = probation(streams)
    write_word(pad + 8 * SEEN, 0)
    while word < last:
        if singles > 0 or word + STRIP > whole:
            offset = 8 * word
            left = np.int64(-1)
            if word == start >> 6:
                left <<= start & 63
            if word == whole:
                left &= (one << (stop & 63)) - 1
            place, fired, late = 64, -1, np.int64(0)
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
                if uncovered + 64 > quiet:
                    quiet = grown(tape, least, 64 * word - began, uncovered)
                late = left  # the uncovered that are not quiet any more
                for _ in range(min(quiet - uncovered, count_ones(left))):
                    late &= late - 1
                while late:
                    before = uncovered + count_ones(left & (late & -late) - 1)
                    gone = 64 * word + lowest(late) - began
                    if before >= grown(tape, least, gone, before):
                        break
                    late &= late - 1
                if wrong_only:
                    late &= wrong
                if silent:
                    events &= 0 if everywhere else ~read_word(ordinary + offset)
                events |= late
            if events:
                place, fired = lowest(events), last_resort
                left &= (one << place) - 1
            if counting:
                uncovered += count_ones(left)
                if notes:
                    if written <= word:
                        written = _wipe(noted, written, word + 1)
                    write_word(noted + offset, read_word(noted + offset) | wrong & left)
            if place < 64:
                item = 64 * word + place
                guide = np.int64(0)
                if fired >= 0:
                    guide = read_word(body + fired * stride + 8 * TABLE)
                elif notes and late >> place & 1 == 0:
                    guide = read_word(tape + 8 * RESORT)
                if absorb(tape, guide, item):
                    uncovered += fired < 0
                    start = item + 1
                    word = start >> 6
                    singles = 1
                    continue
                components = tape + 8 * COMPONENTS
                kinds = read_word(tape + 8 * COMPONENT_DIGITS)
                write_word(tape + 8 * LABEL, code_of(planes, digits, item))
                write_word(tape + 8 * COMPONENT, code_of(components, kinds, item))
                write_word(tape + 8 * FIRED, fired)
                write_word(tape + 8 * UNCOVERED, uncovered)
                write_word(tape + 8 * WRITTEN, written)
                return item
            word += 1
            singles -= 1
            continue

        # A few strips; if nothing is in them, words up to the beginning of a cache line; then far.
        far, room, hush = whole, 0, False
        if word & 7:
            far = min(whole, word + FEW * STRIP)
        elif desk != 0 and 64 * (word - trial) < start:
            far = min(whole, word + trial)
        shared = desk != 0 and word >= lone and worth(desk, far - word, streams)
        if counting:
            if shared or uncovered + 64 * STRIP > quiet:
                quiet = grown(tape, least, 64 * word - began, uncovered)
            room, hush = quiet - uncovered, silent
            if wrong_only and room <= 0:  # so many are uncovered that only mistakes matter
                room, hush = 64 * (far - word), False
        if hush and notes:
            _wipe(noted, written, word)
        begun = 0  # words of which the first items are done
        limited = counting and room < 64 * (far - word)
        if limited and room * (64 * word - began) < uncovered * 64 * trial:
            shared = False  # it will end too soon
        if shared:
            offer(desk, tape, slots, stride, default, shown, hush, kind)
            limit(desk, limited, least, began, uncovered)
            found, here, stopped = share(desk, tape, word, far)
            if stopped == ALONE:  # more of a part are uncovered than was to be expected
                lone = found + trial
        else:
            found, here, stopped = walk(
                tape, pad, slots, stride, default, shown, word, far, room, hush, kind
            )
            if stopped == EVENT and read_word(tape + 8 * TOUCHES):
                more, start, stopped = _take(
                    tape, pad, slots, stride, last_resort, found, kind, hush and shown
                )
                here += more
                found, begun = start >> 6, stopped
        uncovered += here
        if hush and notes:
            written = found + begun
        if stopped:
            singles = 1
        elif found == word:
            singles = far - word
        elif found & 7:
            singles = -found & 7
        word = found
    write_word(tape + 8 * FIRED, -1)
    write_word(tape + 8 * UNCOVERED, uncovered)
    write_word(tape + 8 * WRITTEN, written)
    return stop
