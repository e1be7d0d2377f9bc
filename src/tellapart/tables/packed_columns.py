"""Where a feature holds on a whole table, as packed bits: 64 items a word, lowest bit first."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tellapart.columns import Words, column, pack, words_for
from tellapart.combinations import leaves
from tellapart.errors import FeatureError
from tellapart.features import And, Expression, Is, Not, Or, Points, tree
from tellapart.features.resolve import resolve
from tellapart.features.tree import Value
from tellapart.model import truth
from tellapart.protocol import Feature

if TYPE_CHECKING:
    from tellapart.tables.table import Table

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
    """Where `feature` holds. Combinations join packed columns, Polars evaluates conditions, and
    functions are called item by item."""
    if isinstance(feature, Not | And | Or | Points):
        return column(table, feature)
    if isinstance(feature, Is):
        return pack(name == feature.item for name in table.ids())
    if isinstance(feature, Expression):
        frame = _checked(table, feature)
        return words(frame.select(feature.to_polars(clean=True)).to_series())
    node = resolve(feature, table.types)
    if isinstance(node, tree.Atom):
        return pack(truth(feature, item) for item in table.items)
    if isinstance(node, Value):  # one that the column cannot hold
        return np.zeros(words_for(len(table)), dtype=np.uint64)
    return evaluate(table, Expression(node))


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
    for leaf in leaves(feature):
        node = resolve(leaf, {})
        if isinstance(node, tree.Atom):
            if not isinstance(leaf, Is):
                return True
        elif any(read.name == column for read in tree.columns(node)):
            return True
    return False


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
