"""What the values of a column show: placeholders such as -999, seconds since 1970, NaN."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from tellapart.tables.findings import Finding
from tellapart.tables.numbers_in_text import EXACT

if TYPE_CHECKING:
    import polars as pl

Option = Callable[[str, Sequence[Any]], Mapping[str, Any]]
"""Which argument makes some values of a column unknown; empty if none does."""

_NINES = tuple(number for n in range(2, 8) for number in (10**n - 1, 1 - 10**n))
_SURVEY = (77, 88, 777, 888, 7777, 8888)
"""Refused, and does not know."""
_POINT_NINES = (99.9, 999.9, 9999.9, 99.99, 999.99, -99.9, -999.9, -9999.9, -99.99, -999.99)
_SMALL = (-1, -7, -8, -9)
_PLACEHOLDERS = (*_SMALL, *_NINES, *_SURVEY, -32768, -(2**31), 2**31 - 1)
_DAYS = tuple(
    date.fromisoformat(day)
    for day in ("0001-01-01", "1601-01-01", "1753-01-01", "1800-01-01", "1899-12-30", "1899-12-31",
                "1900-01-01", "1901-01-01", "1970-01-01", "2099-12-31", "2999-12-31", "9999-12-31")
)  # fmt: skip
_SINCE = (631_152_000, 2_208_988_800)
"""The seconds from 1970 to 1990, and to 2040."""
_UNITS = {"seconds": 1, "milliseconds": 1000, "microseconds": 10**6, "nanoseconds": 10**9}
_DATE_NAME = re.compile(r"date|datum|fecha|timestamp|created|modified")
_TIME_NAME = re.compile(r"(?:^|[^a-z])(?:time|uhrzeit|zeit|hora|heure)(?:$|[^a-z])")


def value_findings(
    frame: pl.LazyFrame, option: Option, *, typed: bool = False
) -> Iterator[Finding]:
    """What is odd about the numbers and dates of a table; all rows are looked at.

    `typed`: the columns had a type from the beginning; also look for what only those show.

    >>> import polars as pl
    >>> frame = pl.LazyFrame({"temperature": [12.5, -999.0, 14.0, 11.5, -999.0]})
    >>> for finding in value_findings(frame, lambda column, values: {}):
    ...     print(finding)
    temperature: -999 in 2 cells, and 11.5 to 14.0 in the others, so it may mean unknown; read as a
    number
    """
    import polars as pl

    schema = frame.collect_schema()
    looked = [name for name, dtype in schema.items() if dtype.is_numeric() or dtype.is_temporal()]
    whole = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32)
    looked = [name for name in looked if schema[name] not in (pl.Time, pl.Duration)]
    if not looked:
        return
    ends: list[pl.Expr] = []
    for n, name in enumerate(looked):
        column = pl.col(name)
        if schema[name].is_float():
            ends.append((~column.is_finite()).any().alias(f"odd {n}"))
            column = pl.when(column.is_finite()).then(column)
        ends += [column.min().alias(f"min {n}"), column.max().alias(f"max {n}")]
    found = frame.select(ends).collect(engine="streaming").row(0, named=True)
    for n, name in enumerate(looked):
        least, most = found[f"min {n}"], found[f"max {n}"]
        if typed and found.get(f"odd {n}"):
            yield Finding(name, "NaN or infinity among numbers", "unknown")
        if least is None:
            if typed:
                yield Finding(name, "no value in any row", "unknown")
            continue
        if schema[name].is_numeric():
            if typed and schema[name] in whole:
                yield from _whole(frame, name, least, most)
            yield from _counted(name, least, most)
            if _TIME_NAME.search(name.lower()):
                yield from _clock(frame, name, least, most)
        elif _other_calendar(least.year, most.year):
            what = f"years from {least.year} to {most.year}, which may be of another calendar"
            yield Finding(name, what, "dates as they stand")
        yield from _placeholders(frame, name, schema[name], least, most, option)


def is_epoch(least: float, most: float) -> str | None:
    """The unit in which numbers may count the time since 1970, from 1990 to 2040."""
    for unit, size in _UNITS.items():
        if _SINCE[0] * size <= least < most <= _SINCE[1] * size:
            return unit
    return None


def _whole(frame: pl.LazyFrame, name: str, least: int, most: int) -> Iterator[Finding]:
    import polars as pl

    text = {"types": {name: "text"}}
    if max(-least, most) > EXACT:
        what = "whole numbers beyond 2^53, which spreadsheets round"
        yield Finding(name, what, "whole numbers", text)
    elif (least, most) == (0, 1):
        yield Finding(name, "only 0 and 1", "whole numbers", {"types": {name: "bool"}})
    elif 19_000_101 <= least < most <= 21_001_231:
        day, month = pl.col(name) % 100, pl.col(name) // 100 % 100
        dates = (day.is_between(1, 31) & month.is_between(1, 12)).all()
        if frame.select(dates).collect(engine="streaming").item():
            what, option = f"numbers such as {most}, which may be dates", {name: "date"}
            yield Finding(name, what, "whole numbers", {"types": option})


def _counted(name: str, least: Any, most: Any) -> Iterator[Finding]:
    """Times as numbers."""
    unit = is_epoch(least, most)
    if unit is not None:
        what = f"numbers such as {most:.15g}, which may be codes, or {unit} since 1970"
        yield Finding(name, what, "numbers", {"types": {name: "text"}})
    elif _DATE_NAME.search(name.lower()) and 20_000 <= least <= most <= 80_000:
        what = f"numbers such as {most:.15g}, which may be dates: spreadsheets count the days since"
        yield Finding(name, f"{what} 1900", "numbers")


def _clock(frame: pl.LazyFrame, name: str, least: Any, most: Any) -> Iterator[Finding]:
    """Times of day as numbers: 930 and 9.3."""
    import polars as pl

    column = pl.col(name)
    if 1000 <= most < 2400 and least >= 0:
        minutes = column % 100
    elif most < 24 and least >= 1 and isinstance(most, float):
        minutes = (column * 100).round() % 100
        column = column * 100
    else:
        return
    fits = (minutes < 60) & (column.round() - column).abs().lt(1e-6)
    if frame.select(fits.all()).collect(engine="streaming").item():
        what = f"numbers such as {most:.15g}, which may be hours and minutes"
        yield Finding(name, what, "numbers", {"types": {name: "text"}})


def _other_calendar(least: int, most: int) -> bool:
    """Whether years may be of the Buddhist, the Persian or the Islamic calendar."""
    return 2450 <= least <= most <= 2650 or 1300 <= least <= most <= 1500


def _placeholders(
    frame: pl.LazyFrame, name: str, dtype: Any, least: Any, most: Any, option: Option
) -> Iterator[Finding]:
    import polars as pl

    column = pl.col(name)
    known: Sequence[Any]
    if dtype.is_temporal():
        known = _DAYS
        if dtype != pl.Date:
            column = column.dt.date()
            least, most = (
                one.date() if isinstance(one, datetime) else one for one in (least, most)
            )
    else:
        known = (*_PLACEHOLDERS, *_POINT_NINES) if dtype.is_float() else _PLACEHOLDERS
    if least not in known and most not in known:
        return
    if dtype.is_float():
        column = pl.when(column.is_finite()).then(column)
    others = column.filter(~pl.any_horizontal(column == value for value in known))
    counts = [(column == value).sum().alias(f"count {n}") for n, value in enumerate(known)]
    low, high, *times = (
        frame.select(others.min().alias("min"), others.max().alias("max"), *counts)
        .collect(engine="streaming")
        .row(0)
    )
    if low is None or low == high:
        return
    meant = [
        (value, count)
        for value, count in zip(known, times, strict=True)
        if count and _stands_apart(value, count, low, high)
    ]
    if meant:
        shown = " and ".join(f"{value}" for value, _ in meant[:3])
        cells = sum(count for _, count in meant)
        what = (
            f"{shown} in {cells:,} {'cell' if cells == 1 else 'cells'}, and {low} to {high} in the"
            " others, so it may mean unknown"
        )
        kind = "a date" if dtype.is_temporal() else "a number"
        yield Finding(name, what, kind, option(name, [value for value, _ in meant]))


def _stands_apart(value: Any, count: int, low: Any, high: Any) -> Any:
    """Whether a placeholder is far from all other values."""
    if isinstance(value, date):
        apart = value.year in (1, 2999, 9999) or min(abs(value - low), abs(value - high)) > (
            high - low
        )
        return not low <= value <= high and apart
    if value in _SMALL:
        return low >= 0 and count > 1 and high >= (10 if value == -1 else 1)
    if count == 1 and abs(value) < 999:
        return False
    if value > 0:
        return value >= 9 * max(-low, high)  # 999 may be a price
    return value < low - (high - low) or (low >= 0 and count > 1)
