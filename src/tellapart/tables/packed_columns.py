"""Where a feature holds on a whole table, as packed bits: 64 items a word, lowest bit first."""

from __future__ import annotations

import time
from datetime import date, datetime
from typing import TYPE_CHECKING

import numpy as np

from tellapart.columns import Words, column, pack
from tellapart.errors import FeatureError
from tellapart.features import Above, And, Column, Expression, Is, Not, Or, Points
from tellapart.features.tree import Type
from tellapart.model import truth
from tellapart.protocol import Feature

if TYPE_CHECKING:
    import polars as pl

    from tellapart.tables.table import Table

_SAME: dict[Type, tuple[type, ...]] = {
    Type.BOOL: (bool,),
    Type.TEXT: (str,),
    Type.DATE: (date,),
    Type.DATETIME: (datetime,),
}
"""Python's types that can equal a value of ours, numbers apart."""


SECONDS = 5.0
"""So long a condition may take that somebody has just typed."""
_SLICE = 1 << 16  # rows, a multiple of 64


def words(cells: pl.Series) -> Words:
    """Where a Boolean column is true; null is not true.

    >>> import polars as pl
    >>> words(pl.Series([True, None, False, True]))
    array([9], dtype=uint64)
    """
    return pack((cells.fill_null(False) if cells.null_count() else cells).to_numpy())


def evaluate(table: Table, feature: Feature) -> Words:
    """Where `feature` holds. Polars evaluates expressions and columns, combinations join packed
    columns, and functions are called item by item."""
    if isinstance(feature, Not | And | Or | Points):
        return column(table, feature)
    if isinstance(feature, Expression):
        return _expression(table, feature)
    if isinstance(feature, str):
        return _column(table, Column(feature))
    if isinstance(feature, Column):
        return _column(table, feature)
    if isinstance(feature, Above) and table.types.get(feature.name) is Type.NUMBER:
        cells = table.frame([feature.name]).to_series()
        return words(cells > float(feature.threshold))
    if isinstance(feature, Is):
        return pack(name == feature.item for name in table.ids())
    return pack(truth(feature, item) for item in table.items)


def evaluate_soon(table: Table, feature: Expression) -> Words:
    """The same for a condition that somebody has just typed: refused if it takes too long."""
    if len(table) <= _SLICE:
        return evaluate(table, feature)
    frame, end = _checked(table, feature), time.monotonic() + SECONDS
    condition, parts = feature.to_polars(clean=True), []
    for start in range(0, len(table), _SLICE):
        parts.append(words(frame.slice(start, _SLICE).select(condition).to_series()))
        if time.monotonic() > end:
            raise FeatureError(
                f"this takes more than {SECONDS:g} seconds on {len(table):,} items. Say it in a"
                " simpler way"
            )
    return np.concatenate(parts)


def reads(feature: Feature, column: str) -> bool:
    """Whether a feature may depend on a column."""
    if isinstance(feature, Expression):
        return column in feature.schema
    if isinstance(feature, str):
        return feature == column
    if isinstance(feature, Column | Above):
        return feature.name == column
    if isinstance(feature, Not):
        return reads(feature.feature, column)
    if isinstance(feature, And | Or):
        return any(reads(part, column) for part in feature.parts)
    if isinstance(feature, Points):
        return any(reads(part, column) for part, _ in feature.terms)
    return not isinstance(feature, Is)


def _expression(table: Table, feature: Expression) -> Words:
    frame = _checked(table, feature)
    return words(frame.select(feature.to_polars(clean=True)).to_series())


def _checked(table: Table, feature: Expression) -> pl.DataFrame:
    """The columns that a condition reads, which have the types it takes them for."""
    types = table.types
    for name, kind in feature.schema.items():
        table.check(name)
        if types[name].value != kind:
            raise FeatureError(
                f"the feature {feature} takes column {name!r} for {kind}, in {table.name} it is"
                f" {types[name].value}. Parse it again with this table's schema"
            )
    return table.loaded(list(feature.schema))


def _column(table: Table, feature: Column) -> Words:
    """A column that is true, or that equals a value, as Python understands it."""
    import polars as pl

    table.check(feature.name)
    column, value, kind = pl.col(feature.name), feature.value, table.types[feature.name]
    nothing = {Type.INTEGER: 0, Type.NUMBER: 0.0, Type.TEXT: ""}.get(kind)
    if value is True and kind is Type.BOOL:
        found = column
    elif value is True:
        found = column.is_not_null() if nothing is None else column.ne(nothing)
    elif value is None:
        found = column.is_null()
    elif kind.numeric and isinstance(value, int | float):
        number = float(value) if kind is Type.NUMBER or isinstance(value, float) else int(value)
        found = column.eq(number)
    elif type(value) in _SAME.get(kind, ()):
        found = column.eq(value)
    else:
        found = column.is_null() & pl.lit(value=False)
    return words(table.loaded([feature.name]).select(found).to_series())
