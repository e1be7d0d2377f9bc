"""Truth values packed 64 to a word: bit i of word w is item 64 w + i. Tail bits are zero."""

from __future__ import annotations

from collections.abc import Iterable
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


def pack(truths: Iterable[bool] | npt.NDArray[np.bool_]) -> Words:
    """Pack truth values.

    >>> pack([True, False, True])
    array([5], dtype=uint64)
    """
    values = truths if isinstance(truths, np.ndarray) else np.fromiter(truths, dtype=np.bool_)
    words = np.empty(words_for(len(values)), dtype=np.uint64)
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


def bit(words: Words, item: int) -> bool:
    """One truth value.

    >>> bit(pack([True, False, True]), 2)
    True
    """
    return bool(int(words[item >> 6]) >> (item & 63) & 1)
