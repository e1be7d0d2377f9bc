"""Where packed columns come from: a world, a table, a chunk of a table."""

from __future__ import annotations

from functools import reduce
from typing import Any, Protocol

import numpy as np

from tellapart.errors import FeatureError
from tellapart.features import And, Or, Points
from tellapart.model import Not, describe
from tellapart.protocol import Feature
from tellapart.simulation.bits import Words, clear_tail, pack, unpack, words_for


class Source(Protocol):
    """Anything that can say where a feature holds on its items."""

    def truth(self, feature: Feature) -> Words:
        """Where `feature` holds, as a packed column."""
        ...

    def __len__(self) -> int:
        """How many items there are."""
        ...


_JOINED = And | Or


def column(source: Source, feature: Feature) -> Words:
    """Where `feature` holds: negations, ands, ors and points by operations on the columns of their
    parts, the rest by asking.

    The result may be the source's own column: do not change it.
    """
    if isinstance(feature, Not):
        return clear_tail(~column(source, feature.feature), len(source))
    if isinstance(feature, _JOINED):
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
    """A column as the kernel needs it, which reads memory without looking where it ends."""
    fits = isinstance(words, np.ndarray) and words.dtype == np.uint64
    if not fits or words.shape != (words_for(items),):
        given = f"{words.dtype}, {words.shape}" if isinstance(words, np.ndarray) else type(words)
        raise FeatureError(
            f"the column of {describe(feature)!r} must be packed, {words_for(items)} words of"
            f" uint64 for {items} items, got {given}: see tellapart.simulation.pack"
        )
    return np.ascontiguousarray(words)
