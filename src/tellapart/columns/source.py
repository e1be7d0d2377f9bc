"""Where packed columns come from: a world, a table, a chunk of a table."""

from __future__ import annotations

from functools import reduce
from typing import Protocol

import numpy as np

from tellapart.columns.bits import Words, clear_tail, words_for
from tellapart.features import And, Or
from tellapart.model import Not
from tellapart.protocol import Feature


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
    """Where `feature` holds: negations, ands and ors by operations on words, the rest by asking.

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
    return source.truth(feature)
