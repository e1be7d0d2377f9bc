"""What is known of the columns of a table before anything is taught: see `Profile`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tellapart.features.tree import Column, Type
from tellapart.features.vocabulary import Vocabulary

if TYPE_CHECKING:
    import polars as pl

FEW = 20
"""A number that has at most so many values is one of a few; others are measured."""
OFTEN = 0.05
"""A value in such a share of the rows is worth naming, even of a measured number."""
COMPARED = 40
"""The most columns that are compared with each other."""
PAIRS = 20
"""The most pairs of them."""
_LOOK = 400  # rows that are compared
_RARE, _EQUAL, _RELATED = 0.02, 0.05, 0.5
_WORD = re.compile(r"[^\W\d_]{3,}")


class Numbers(NamedTuple):
    """What a column of numbers or dates is like."""

    shares: dict[Any, float]
    """The values that are worth naming (small ones, and those of several items), and the share of
    each."""
    middle: Any
    """The median; None if nothing is known."""


class Profile:
    """The columns of some rows; each is looked at when it is first asked for.

    >>> import polars as pl
    >>> rows = pl.DataFrame({"low": [1, 2, 3, 9], "high": [2, 2, 4, 5]})
    >>> profile = Profile(rows, {"low": Type.INTEGER, "high": Type.INTEGER})
    >>> profile.numbers("low").middle, [(a.name, b.name) for a, b in profile.comparable]
    (3, [('low', 'high')])
    """

    def __init__(self, rows: pl.DataFrame, types: Mapping[str, Type]) -> None:
        self.rows, self.types = rows, types
        self._vocabularies: dict[str, Vocabulary] = {}
        self._numbers: dict[str, Numbers] = {}

    def vocabulary(self, column: str) -> Vocabulary:
        """What the texts of a column are made of."""
        if column not in self._vocabularies:
            self._vocabularies[column] = Vocabulary(self.rows.get_column(column).to_list())
        return self._vocabularies[column]

    def numbers(self, column: str) -> Numbers:
        """What the numbers or dates of a column are like."""
        if column not in self._numbers:
            known = self.rows.get_column(column).drop_nulls().sort()
            numeric = self.types[column].numeric
            values, counts = np.unique(known.to_numpy(), return_counts=True)
            whole = self.types[column] is not Type.NUMBER or bool((values == values // 1).all())
            few = len(values) <= FEW and (whole or len(known) >= FEW * len(values))
            often = zip(values.tolist(), (counts / max(len(known), 1)).tolist(), strict=True)
            kept = (
                {
                    value: share
                    for value, share in often
                    if (few or share >= OFTEN) and (share * len(known) > 1.5 or abs(value) <= FEW)
                }
                if numeric
                else {}
            )
            middle = known[len(known) // 2] if len(known) else None
            self._numbers[column] = Numbers(kept, middle)
        return self._numbers[column]

    @cached_property
    def comparable(self) -> list[tuple[Column, Column]]:
        """Columns of one kind that are worth comparing: neither is always the greater, and their
        names share a word, they are often equal, or they grow together."""
        found: list[tuple[float, Column, Column]] = []
        for kinds in ((Type.INTEGER, Type.NUMBER), (Type.DATE,), (Type.DATETIME,), (Type.TEXT,)):
            names = [name for name, kind in self.types.items() if kind in kinds][:COMPARED]
            some = self.rows[:: 1 + self.rows.height // _LOOK]
            values = {name: _ordered(some.get_column(name)) for name in names}
            for n, one in enumerate(names):
                for other in names[n + 1 :]:
                    worth = _worth(one, other, *values[one], *values[other], kinds[0])
                    if worth > 0:
                        first, second = (Column(name, self.types[name]) for name in (one, other))
                        found.append((worth, first, second))
        found.sort(key=lambda pair: -pair[0])
        return [(one, other) for _, one, other in found[:PAIRS]]


Values = npt.NDArray[Any]
Known = npt.NDArray[np.bool_]


def _ordered(cells: pl.Series) -> tuple[Values, Known]:
    """The values of a column, and where they are known."""
    import polars as pl

    known = cells.is_not_null().to_numpy()
    if cells.dtype == pl.String:
        return cells.fill_null("").to_numpy(), known
    return cells.to_physical().fill_null(0).to_numpy(), known


def _worth(
    one: str, other: str, x: Values, has_x: Known, y: Values, has_y: Known, kind: Type
) -> float:
    """How much two columns are worth comparing; 0: not at all."""
    known = has_x & has_y
    rows = int(np.count_nonzero(known))
    if rows < 2:
        return 0.0
    x, y = x[known], y[known]
    equal = int(np.count_nonzero(x == y)) / rows
    if kind is Type.TEXT:
        return equal if _EQUAL <= equal < 1 else 0.0
    greater = int(np.count_nonzero(x > y)) / rows
    second = sorted((equal, greater, 1 - equal - greater))[1]
    if second < _RARE:
        return 0.0
    named = len(set(_names(one)) & set(_names(other)))
    related = 0.0
    if not named and equal < _EQUAL:
        one_rank, other_rank = (np.argsort(np.argsort(side)).astype(float) for side in (x, y))
        related = float(np.corrcoef(one_rank, other_rank)[0, 1]) if rows > 2 else 0.0
        if related < _RELATED:
            return 0.0
    return second + named + equal + related


def _names(column: str) -> Iterator[str]:
    """The words in the name of a column."""
    return (word.lower() for word in _WORD.findall(column))
