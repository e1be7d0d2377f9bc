"""Truth values packed 64 to a word, and where they come from: a world, a table, a part of one.

Bit i of word w is item 64 w + i. Tail bits are zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from tellapart.combinations import And, Or, Points
from tellapart.errors import FeatureError
from tellapart.model import Not, describe
from tellapart.protocol import Feature

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


class Source(Protocol):
    """Anything that can say where a feature holds on its items."""

    def truth(self, feature: Feature) -> Words:
        """Where `feature` holds, as a packed column."""
        ...

    def __len__(self) -> int:
        """How many items there are."""
        ...


def column(source: Source, feature: Feature) -> Words:
    """Where `feature` holds: negations, ands, ors and points by operations on the columns of their
    parts, the rest by asking.

    The result may be the source's own column: do not change it.
    """
    if isinstance(feature, Not):
        return clear_tail(~column(source, feature.feature), len(source))
    if isinstance(feature, And | Or):
        parts = [column(source, part) for part in feature.parts]
        if parts:
            return reduce(np.bitwise_and if isinstance(feature, And) else np.bitwise_or, parts)
        words = np.zeros(words_for(len(source)), dtype=np.uint64)
        return clear_tail(~words, len(source)) if isinstance(feature, And) else words
    if isinstance(feature, Points):
        counted = np.zeros(len(source), dtype=np.int32)
        for part, weight in feature.terms:
            counted += unpack(column(source, part), len(source)) * np.int32(weight)
        return pack(counted >= feature.at_least)
    return _whole(source.truth(feature), feature, len(source))


def _whole(words: Any, feature: Feature, items: int) -> Words:
    """A column that a source gave, if it is one."""
    fits = isinstance(words, np.ndarray) and words.dtype == np.uint64
    if not fits or words.shape != (words_for(items),):
        given = f"{words.dtype}, {words.shape}" if isinstance(words, np.ndarray) else type(words)
        raise FeatureError(
            f"the column of {describe(feature)!r} must be packed, {words_for(items)} words of"
            f" uint64 for {items} items, got {given}: see tellapart.columns.pack"
        )
    return np.ascontiguousarray(words)
