"""The features a table shows at first sight, before anybody names one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tellapart.features import canonical
from tellapart.features.expression import Expression
from tellapart.features.thresholds import round_cut
from tellapart.features.tree import Column, Node, Type, Value

if TYPE_CHECKING:
    import polars as pl

    from tellapart.tables.table import Table

NUMBERS, TEXTS = 10, 50
"""A column with at most so many different values makes a feature of each."""
LONGEST = 40
"""A longer text is no value to compare with."""


def everyday(table: Table, without: Iterable[str] = ()) -> list[Expression]:
    """For every column: the column itself, its values, or thresholds.

    - A column of truths is a feature.
    - Up to 10 different numbers, or 50 different texts, make a feature each: `legs = 4`. Where
      there are two and none is unknown, the greater one will do.
    - More numbers, and dates, are cut at their deciles, at a round value near by: `weight >= 12.5`.
    - More texts, or texts that all differ (names), make none.
    - Where some cells are empty and some are not, that is a feature, too: `legs IS NULL`.

    >>> from tellapart.tables import Table
    >>> pets = Table({"name": ["rex", "tom", "io"], "legs": [4, 4, None], "barks": ["y", "n", "n"]})
    >>> [str(feature) for feature in everyday(pets)]
    ['legs IS NULL', 'legs = 4', "barks = 'y'"]
    """
    passed = {*without, table.id}
    return [
        Expression(node)
        for name, kind in table.types.items()
        if name not in passed
        for node in _column(Column(name, kind), table.frame([name]).to_series())
    ]


def _column(column: Column, cells: pl.Series) -> Iterator[Node]:
    known = cells.drop_nulls()
    complete = len(known) == len(cells)
    if not len(known):
        return
    if not complete:
        yield canonical.is_null(column)
    if column.type is Type.BOOL:
        yield column
    elif column.type is Type.TEXT:
        values = known.unique().sort()
        if len(values) <= TEXTS and len(values) < len(cells):
            yield from _values(column, values, complete)
    elif column.type.numeric and known.n_unique() <= NUMBERS:
        yield from _values(column, known.unique().sort(), complete)
    else:
        yield from _cuts(column, known.sort())


def _values(column: Column, values: pl.Series, complete: bool) -> Iterator[Node]:
    if complete and len(values) <= 2:  # one says all
        values = values.tail(len(values) - 1)
    for value in values:
        if len(str(value)) <= LONGEST:
            literal = canonical.number(value) if column.type.numeric else Value(value, column.type)
            yield canonical.compare("=", column, literal)


def _cuts(column: Column, ordered: pl.Series) -> Iterator[Node]:
    """At each tenth: the roundest value above the last that is less."""
    made = set()
    for tenth in range(1, 10):
        at = ordered[len(ordered) * tenth // 10]
        place = ordered.search_sorted(at, side="left")
        if place == 0:
            continue  # everything is at least the least
        cut = round_cut(ordered[place - 1], at)
        if cut not in made:
            made.add(cut)
            literal = canonical.number(cut) if column.type.numeric else Value(cut, column.type)
            yield canonical.compare(">=", column, literal)
