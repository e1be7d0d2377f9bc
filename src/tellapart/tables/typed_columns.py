"""Columns that have a type already, as features can read them.

Lists become texts of their elements, structs one column for each field, times of day texts; other
types that lose something are named.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

import polars as pl

from tellapart.errors import FormatError
from tellapart.features.to_polars import divided, from_dtype
from tellapart.tables.columns import LOOK, decide
from tellapart.tables.findings import Finding
from tellapart.tables.odd_cells import value_findings
from tellapart.tables.options import ReadOptions

_END = 100
"""Rows at the end that are looked at, too: sums and notes stand there."""
_KINDS = {
    "bool": "true and false",
    "integer": "whole numbers",
    "number": "numbers",
    "date": "dates",
    "datetime": "times",
}


def readable(frame: pl.LazyFrame) -> tuple[pl.LazyFrame, list[Finding]]:
    """The frame with columns that features can read, and what was changed.

    >>> import polars as pl
    >>> rows = [{"tags": ["red", "big"], "size": {"x": 1, "y": 2}}]
    >>> made, findings = readable(pl.LazyFrame(rows))
    >>> made.collect().to_dicts()
    [{'tags': 'red, big', 'size.x': 1, 'size.y': 2}]
    >>> print(findings[1])
    tags: lists; read as texts of their elements, such as 'red, big'
    """
    findings: list[Finding] = []
    while any(isinstance(dtype, pl.Struct) for dtype in frame.collect_schema().values()):
        frame = frame.select(list(_with_fields(frame.collect_schema(), findings)))
    changes: list[pl.Expr] = []
    for name, dtype in frame.collect_schema().items():
        made, found = _readable(name, dtype)
        changes += [] if made is None else [made]
        findings += [] if found is None else [found]
    return (frame.with_columns(changes) if changes else frame), findings


def _with_fields(schema: pl.Schema, findings: list[Finding]) -> Iterator[pl.Expr]:
    """All columns, with a column for each field instead of a struct."""
    for name, dtype in schema.items():
        if not isinstance(dtype, pl.Struct):
            yield pl.col(name)
            continue
        fields = [one.name for one in dtype.fields]
        both = next((one for one in fields if f"{name}.{one}" in schema), None)
        if both is not None:
            raise FormatError(
                f"two columns would be called '{name}.{both}': one is, and the objects in"
                f" {name!r} have a field {both!r}. Rename one of them"
            )
        yield from (pl.col(name).struct.field(one).alias(f"{name}.{one}") for one in fields)
        shown = ", ".join(f"{name}.{one}" for one in fields[:3])
        facts = {"shown": "objects with fields", "read": f"columns of their own: {shown}"}
        findings.append(Finding(name, "converted", facts))


def _readable(name: str, dtype: Any) -> tuple[pl.Expr | None, Finding | None]:
    column = pl.col(name)
    made: pl.Expr | None = None
    if dtype in (pl.List, pl.Array):
        inner, element = dtype.inner, pl.element()
        if inner in (pl.List, pl.Array, pl.Binary, pl.Object):
            return None, Finding(name, "unreadable", {"shown": dtype})
        if inner == pl.Struct:
            element = element.struct.json_encode()
        elif inner != pl.String:
            element = element.cast(pl.String)
        lists = column.arr.to_list() if dtype == pl.Array else column
        made = lists.list.eval(element).list.drop_nulls().list.join(", ")
        what = "lists", "texts of their elements, such as 'red, big'"
    elif dtype == pl.Time:
        made = column.dt.strftime("%H:%M:%S")
        what = "times of day", "texts like '09:30:00', which can be compared with each other"
    elif dtype == pl.Duration:
        made = divided(column.dt.total_microseconds(), 1e6)
        what = "durations", "seconds"
    elif getattr(dtype, "time_zone", None) not in (None, "UTC"):
        what = f"times in the zone {dtype.time_zone}", "times in UTC"
    elif dtype.is_decimal() or dtype in (pl.UInt64, pl.Int128, pl.UInt128):
        what = f"numbers of the type {dtype}", "numbers of double precision"
    elif from_dtype(dtype) is None and dtype != pl.Null:
        return None, Finding(name, "unreadable", {"shown": dtype})
    else:
        return None, None
    return made, Finding(name, "converted", dict(zip(("shown", "read"), what, strict=True)))


def typed_findings(frame: pl.LazyFrame, rows: int, said: Collection[str | None]) -> list[Finding]:
    """What the values show: of texts the first rows and the last, of numbers and dates all.

    `said`: columns whose type was found odd already.
    """
    schema = frame.collect_schema()
    texts = frame.select(
        name for name, dtype in schema.items() if dtype == pl.String and name not in said
    )
    findings: list[Finding] = []
    if texts.collect_schema():
        ends = [texts.head(LOOK), *([texts.tail(_END)] if rows > LOOK + _END else ())]
        for column in pl.concat(ends).collect().get_columns():
            findings += _text_findings(column)
    numbers = [name for name, dtype in schema.items() if dtype.is_numeric() or dtype.is_temporal()]
    if numbers:
        changes = [pl.col(n).cast(pl.Float64) for n in numbers if schema[n].is_decimal()]
        values = frame.select(numbers).with_columns(changes)
        findings += value_findings(values, lambda _column, _values: {}, typed=True)
    return findings


def _text_findings(column: pl.Series) -> Iterator[Finding]:
    reader, found = decide(column, ReadOptions())
    if reader.kind.value != "text":
        odd = column.filter(reader.odd(column))
        facts = {
            "kind": _KINDS[reader.kind.value],
            "but": f", but for {odd[0][:40]!r}" if len(odd) else "",
        }
        option = {} if len(odd) else {"types": {column.name: reader.kind.value}}
        yield Finding(column.name, "look like", facts, option)
        return
    for one in found:
        if not reader.clock:
            usable = not {"types", "nulls", "comment", "header"} & set(one.option)
            yield one if usable else replace(one, option={})
