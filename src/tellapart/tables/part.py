"""A part of a table, to estimate by: its rows evenly spread, and what was counted in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tellapart.features.expression import Expression

if TYPE_CHECKING:
    import polars as pl

_MOST = 10_000  # counts that are kept: the same features are asked for again and again


class Part:
    """So many rows of a frame, or all if there are no more.

    >>> import polars as pl
    >>> from tellapart.features import parse_feature
    >>> part = Part(pl.DataFrame({"legs": range(1000)}), 10)
    >>> part.rows.height, part.count([parse_feature("legs > 499", {"legs": "integer"})])
    (10, [5])
    """

    def __init__(self, frame: pl.DataFrame, rows: int) -> None:
        self.frame = frame
        self.rows = frame
        if frame.height > rows:
            self.rows = frame[np.linspace(0, frame.height - 1, rows).astype(np.int64)]
        self._counts: dict[Expression, int] = {}

    def count(self, features: Sequence[Expression]) -> list[int]:
        """On how many of the rows each feature holds."""
        from tellapart.features.to_polars import count

        if len(self._counts) > _MOST:
            self._counts.clear()
        new = [feature for feature in features if feature not in self._counts]
        self._counts.update(zip(new, count(new, self.rows), strict=True))
        return [self._counts[feature] for feature in features]
