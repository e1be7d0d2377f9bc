"""Lists of rules over packed columns, evaluated with numpy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tellapart.simulation.packed_columns import Words, clear_tail, words_for

PART = 4096
"""Words at a time, so that the arrays in use stay in the cache."""
_FULL = np.uint64(0xFFFFFFFFFFFFFFFF)


class ColumnRule(NamedTuple):
    """A conjunction of columns, and the code of the items that it is the first to cover."""

    forbidden: Sequence[Words]
    needed: Sequence[Words]
    code: int


def first_matches(
    rules: Sequence[ColumnRule], first: int, last: int, left: Words
) -> Iterator[tuple[int, Words]]:
    """For each rule its code, and the items that it is the first to cover.

    Looks at the words from `first` to before `last`, and at the items in `left` alone. What no rule
    covers stays in `left`. The array that is given out is used again for the next rule.
    """
    covered, blocked = np.empty_like(left), np.empty_like(left)
    for forbidden, needed, code in rules:
        np.copyto(covered, left)
        if forbidden:
            np.copyto(blocked, forbidden[0][first:last])
            for column in forbidden[1:]:
                np.bitwise_or(blocked, column[first:last], out=blocked)
            np.bitwise_and(blocked, covered, out=blocked)
            np.bitwise_xor(covered, blocked, out=covered)
        for column in needed:
            np.bitwise_and(covered, column[first:last], out=covered)
        np.bitwise_xor(left, covered, out=left)
        yield code, covered


def write_codes(
    planes: Sequence[Words], rules: Sequence[ColumnRule], default: int, items: int
) -> None:
    """Write the code of every item into planes of bits; `default` where no rule covers it."""
    for first in range(0, words_for(items), PART):
        last = min(first + PART, words_for(items))
        left = all_items(64 * first, min(64 * last, items))
        _write([plane[first:last] for plane in planes], rules, default, first, left)


def wrong_items(
    planes: Sequence[Words], rules: Sequence[ColumnRule], default: int, start: int, stop: int
) -> tuple[Words, Words]:
    """Of the items from `start` to before `stop`, those that get a wrong code, and the uncovered.

    `planes` have the codes that they should get. A code may have more digits than there are planes:
    no item should get it.
    """
    first, left = start >> 6, all_items(start, stop)
    digits = max(code.bit_length() for code in (default, *(rule.code for rule in rules)))
    said = np.empty((max(digits, len(planes)), len(left)), dtype=np.uint64)
    _write(list(said), rules, default, first, left)
    for digit, plane in zip(said, planes, strict=False):
        np.bitwise_xor(digit, plane[first : first + len(left)], out=digit)
    return np.bitwise_or.reduce(said) & all_items(start, stop), left


def all_items(start: int, stop: int) -> Words:
    """The items from `start` to before `stop`, in the words that hold them.

    >>> [hex(word) for word in all_items(68, 130)]
    ['0xfffffffffffffff0', '0x3']
    """
    words = np.full(words_for(stop) - (start >> 6), _FULL)
    words[:1] &= _FULL << np.uint64(start & 63)
    return clear_tail(words, stop)


def _write(
    planes: Sequence[Words], rules: Sequence[ColumnRule], default: int, first: int, left: Words
) -> None:
    """`write_codes` of the items in `left`; what no rule covers stays in it."""
    for plane in planes:
        plane.fill(0)
    for code, covered in first_matches(rules, first, first + len(left), left):
        _add(planes, code, covered)
    _add(planes, default, left)


def _add(planes: Sequence[Words], code: int, where: Words) -> None:
    for digit, plane in enumerate(planes):
        if code >> digit & 1:
            np.bitwise_or(plane, where, out=plane)
