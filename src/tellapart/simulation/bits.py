"""Truth values packed 64 to a word: bit i of word w is item 64 w + i. Tail bits are zero."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Words: TypeAlias = npt.NDArray[np.uint64]
"""A packed column."""


def words_for(items: int) -> int:
    """How many words hold `items` bits.

    >>> words_for(64), words_for(65)
    (1, 2)
    """
    return -(-items // 64)


_LINE, _PAGE = 8, 512  # words in a cache line, and in a page
_made = count()


def blank(words: int) -> Words:
    """Room for a column; its contents are arbitrary.

    Long columns start at a cache line, each at another place in its page: were all at the same
    place, the same stretch of nine columns would not fit the first-level cache, whose lines are
    found by their place in the page.
    """
    if words <= _PAGE:
        return np.empty(words, dtype=np.uint64)
    room = np.empty(words + 2 * _PAGE, dtype=np.uint64)
    start = -(room.ctypes.data // 8) % _PAGE + _LINE * (5 * next(_made) % (_PAGE // _LINE))
    return room[start : start + words]


def pack(truths: Iterable[bool] | npt.NDArray[np.bool_]) -> Words:
    """Pack truth values.

    >>> pack([True, False, True])
    array([5], dtype=uint64)
    """
    values = truths if isinstance(truths, np.ndarray) else np.fromiter(truths, dtype=np.bool_)
    words = blank(words_for(len(values)))
    packed = np.packbits(values, bitorder="little")
    words[-1:] = 0
    words.view(np.uint8)[: len(packed)] = packed
    return words


def unpack(words: Words, items: int) -> npt.NDArray[np.bool_]:
    """The first `items` truth values of a packed column.

    >>> unpack(pack([True, False, True]), 3).tolist()
    [True, False, True]
    """
    return np.unpackbits(words.view(np.uint8), count=items, bitorder="little").view(np.bool_)


def clear_tail(words: Words, items: int) -> Words:
    """Set the bits beyond `items` to zero, in place."""
    if items % 64:
        words[-1] &= np.uint64((1 << items % 64) - 1)
    return words


def clear(words: Words, start: int, stop: int) -> None:
    """Set the bits from `start` to before `stop` to zero, in place.

    >>> words = pack([True, True, True])
    >>> clear(words, 1, 2)
    >>> unpack(words, 3).tolist()
    [True, False, True]
    """
    if start >= stop:
        return
    first, last = start >> 6, stop >> 6
    before, after = (1 << (start & 63)) - 1, ~((1 << (stop & 63)) - 1) & (1 << 64) - 1
    if first == last:
        words[first] &= np.uint64(before | after)
        return
    words[first] &= np.uint64(before)
    words[first + 1 : last] = 0
    words[last : last + 1] &= np.uint64(after)


def bit(words: Words, item: int) -> bool:
    """One truth value.

    >>> bit(pack([True, False, True]), 2)
    True
    """
    return bool(int(words[item >> 6]) >> (item & 63) & 1)
