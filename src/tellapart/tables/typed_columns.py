"""Columns that have a type already, as features can read them.

Lists become texts of their elements, structs one column for each field, times of day texts; other
types that lose something are named.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tellapart.errors import FormatError
from tellapart.tables.findings import Finding
from tellapart.tables.numbers_in_text import EXACT, largest
from tellapart.tables.options import ReadOptions
from tellapart.tables.text_columns import decide

if TYPE_CHECKING:
    import polars as pl

LOOK = 1_000
"""Rows that tell what texts look like."""
CHANGED = ("lists", "objects with fields", "times of day", "durations")
"""What columns held that were made readable; older versions left such columns out."""


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
    import polars as pl

    findings: list[Finding] = []
    while True:
        schema = frame.collect_schema()
        if not any(isinstance(dtype, pl.Struct) for dtype in schema.values()):
            break
        columns: list[pl.Expr] = []
        for name, dtype in schema.items():
            if not isinstance(dtype, pl.Struct):
                columns.append(pl.col(name))
                continue
            fields = [field.name for field in dtype.fields]
            both = next((one for one in fields if f"{name}.{one}" in schema), None)
            if both is not None:
                raise FormatError(
                    f"two columns would be called '{name}.{both}': one is, and the objects in"
                    f" {name!r} have a field {both!r}. Rename one of them"
                )
            columns += [pl.col(name).struct.field(one).alias(f"{name}.{one}") for one in fields]
            shown = ", ".join(f"{name}.{one}" for one in fields[:3])
            findings.append(Finding(name, "objects with fields", f"columns of their own: {shown}"))
        frame = frame.select(columns)
    changes: list[pl.Expr] = []
    for name, dtype in schema.items():
        made, found = _readable(name, dtype)
        if made is not None:
            changes.append(made)
        if found is not None:
            findings.append(found)
    return (frame.with_columns(changes) if changes else frame), findings


def _readable(name: str, dtype: Any) -> tuple[pl.Expr | None, Finding | None]:
    import polars as pl

    column = pl.col(name)
    if dtype in (pl.List, pl.Array):
        if dtype == pl.Array:
            column = column.arr.to_list()
        inner, element = dtype.inner, pl.element()
        if inner == pl.Struct:
            element = element.struct.json_encode()
        elif inner in (pl.List, pl.Array, pl.Binary, pl.Object):
            return None, Finding(name, f"lists of {inner}", "nothing: features cannot read them")
        elif inner != pl.String:
            element = element.cast(pl.String)
        made = column.list.eval(element).list.drop_nulls().list.join(", ")
        shown = "texts of their elements, such as 'red, big'"
        return made, Finding(name, "lists", shown)
    if dtype == pl.Time:
        what = "texts like '09:30:00', which can be compared with each other"
        return column.dt.strftime("%H:%M:%S"), Finding(name, "times of day", what)
    if dtype == pl.Duration:
        return column.dt.total_microseconds() / 1e6, Finding(name, "durations", "seconds")
    if getattr(dtype, "time_zone", None) not in (None, "UTC"):
        return None, Finding(name, f"times in the zone {dtype.time_zone}", "times in UTC")
    if dtype == pl.Datetime and dtype.time_unit == "ns":
        return None, Finding(name, "times in nanoseconds", "times in microseconds")
    if dtype.is_decimal():
        return None, Finding(name, "decimals", "numbers of double precision")
    if dtype in (pl.UInt64, pl.Int128, pl.UInt128):
        return None, Finding(
            name, f"whole numbers of the type {dtype}", "numbers of double precision"
        )
    if dtype == pl.Null:
        return None, Finding(name, "no value in any row", "texts")
    if dtype in (pl.Binary, pl.Object):
        return None, Finding(
            name, f"values of the type {dtype}", "nothing: features cannot read them"
        )
    return None, None


def looks(frame: pl.DataFrame, *, options: bool) -> list[Finding]:
    """What the first rows show: texts that look like something else, and integers beyond 2^53.

    `options`: whether the reader takes options.
    """
    findings = _looks(frame)
    return findings if options else [replace(one, option={}) for one in findings]


def _looks(frame: pl.DataFrame) -> list[Finding]:
    import polars as pl

    findings: list[Finding] = []
    for column in frame.head(LOOK).get_columns():
        if column.dtype == pl.String:
            reader, found = decide(column, ReadOptions())
            if reader.kind.value != "text":
                if reader.odd(column).any():
                    continue
                what = f"texts that look like {_PLURAL[reader.kind.value]}"
                option = {"types": {column.name: reader.kind.value}}
                findings.append(Finding(column.name, what, "texts", option))
            else:
                kept = [f for f in found if "nulls" not in f.option and "comment" not in f.option]
                findings += [
                    Finding(
                        f.column, f.what, f.assumed, f.option if "types" not in f.option else {}
                    )
                    for f in kept
                    if not reader.clock
                ]
        elif column.dtype == pl.Int64 and column.null_count() < len(column):
            if largest(column) > EXACT:
                what = "whole numbers beyond 2^53, which spreadsheets round"
                option = {"types": {column.name: "text"}}
                findings.append(Finding(column.name, what, "whole numbers", option))
            elif set(column.drop_nulls().unique().to_list()) == {0, 1}:
                option = {"types": {column.name: "bool"}}
                findings.append(Finding(column.name, "only 0 and 1", "whole numbers", option))
    return findings


_PLURAL = {
    "bool": "true and false",
    "integer": "whole numbers",
    "number": "numbers",
    "date": "dates",
    "datetime": "times",
}
