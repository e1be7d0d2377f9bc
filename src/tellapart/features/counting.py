"""On which rows of a frame features hold, many features at once; cleaned columns, as a `Table` has.

Polars is asked once for all of them. The plainest do not get that far: over a few hundred rows, to
put a question to Polars takes longer than to compare a column with a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tellapart.features.expression import Expression
from tellapart.features.tree import OPERATORS, Column, Compare, Node, Not, Type, Value

if TYPE_CHECKING:
    import polars as pl

Truths = npt.NDArray[np.bool_]


def count(features: Sequence[Expression], frame: pl.DataFrame) -> list[int]:
    """On how many rows each feature holds."""
    return [int(np.count_nonzero(found)) for found in truths(features, frame)]


def truths(features: Sequence[Expression], frame: pl.DataFrame) -> list[Truths]:
    """Where each feature holds.

    >>> import polars as pl
    >>> from tellapart.features import parse_feature
    >>> zoo = pl.DataFrame({"legs": [4, 2, 0], "name": ["bear", "duck", None]})
    >>> schema = {"legs": "integer", "name": "text"}
    >>> asked = [parse_feature(text, schema) for text in ("legs >= 2", "name LIKE '%r'")]
    >>> [found.tolist() for found in truths(asked, zoo)]
    [[True, True, False], [True, False, False]]
    """
    columns = _Columns(frame)
    found = [_plain(feature.tree, columns) for feature in features]
    rest = [n for n, known in enumerate(found) if known is None]
    if rest:
        asked = [features[n].to_polars(clean=True).alias(str(n)) for n in rest]
        for n, said in zip(rest, frame.select_seq(asked).get_columns(), strict=True):
            found[n] = (said.fill_null(False) if said.null_count() else said).to_numpy()
    return [known for known in found if known is not None]


class _Columns(dict[str, npt.NDArray[Any] | None]):
    """The columns of a frame as arrays; None where something is unknown."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __missing__(self, name: str) -> npt.NDArray[Any] | None:
        column = self._frame.get_column(name)
        self[name] = None if column.null_count() else column.to_numpy()
        return self[name]


def _plain(node: Node, columns: _Columns) -> Truths | None:
    """Where `node` is true, if it reads one column of truths or whole numbers that are all known;
    else None."""
    match node:
        case Column(name, Type.BOOL):
            return columns[name]
        case Not(Column(name, Type.BOOL)):
            values = columns[name]
            return None if values is None else ~values
        case Compare(op, Column(name, Type.INTEGER), Value(value, Type.INTEGER)):
            values = columns[name]
            return None if values is None else OPERATORS[op](values, value)
    return None
