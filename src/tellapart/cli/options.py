"""Options that several commands share: numbers, and how a table is read."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from tellapart.errors import FormatError, ParameterError, TellapartError


def _whole(_kind: Any, tokens: Sequence[Any]) -> int:
    """cyclopts would round 1.5 to 2 without a word."""
    text = tokens[0].value
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"expected a whole number, got {text!r}") from None


def _amount(_kind: Any, tokens: Sequence[Any]) -> int | float:
    text = tokens[0].value
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"expected a count or a rate, got {text!r}") from None


Whole = Annotated[int, Parameter(converter=_whole)]
"""A whole number: 17."""

Amount = Annotated[int | float, Parameter(converter=_amount)]
"""A count (57) or a rate (0.03)."""


@Parameter(name="*")
@dataclass(frozen=True)
class Reading:
    """How a CSV file is to be read; what is not given, the file tells."""

    separator: str | None = None
    """What stands between the cells of a CSV file, such as ';' or tab; if not given,
    what its first line shows."""
    encoding: str | None = None
    """Of a CSV file that is not UTF-8, such as cp1252 (Windows, Latin-1) or utf-16."""
    nulls: Annotated[
        list[str] | None,
        Parameter(alias="--null", consume_multiple=False, allow_leading_hyphen=True),
    ] = None
    """What a CSV file writes for an unknown value besides an empty cell, such as n/a.
    Again for more."""
    types: Annotated[list[str] | None, Parameter(consume_multiple=False)] = None
    """COLUMN=TYPE for a column of a CSV file that is not what it looks like, such as
    zip=text. Types: text, integer, number, bool, date, datetime. Again for more."""


def table_arguments(reading: Reading | None, table: Path | None) -> dict[str, Any]:
    """What was given, as arguments of `read_table`; there must be a table then.

    >>> table_arguments(Reading(separator="tab", types=["zip=text"]), Path("a.csv"))
    {'separator': '\\t', 'types': {'zip': 'text'}}
    """
    if reading is None:
        return {}
    separator = reading.separator
    if separator in ("tab", "\\t"):
        separator = "\t"
    given = {
        "separator": separator,
        "encoding": reading.encoding,
        "nulls": sorted(set(reading.nulls)) if reading.nulls else None,
        "types": dict(map(_column_type, reading.types)) if reading.types else None,
    }
    found = {name: value for name, value in given.items() if value is not None}
    if found and table is None:
        said = " ".join(as_options(name, value) for name, value in found.items())
        raise ParameterError(f"{said}: that is how to read a table; name the table, too")
    return found


def _column_type(given: str) -> tuple[str, str]:
    column, _, kind = given.rpartition("=")
    if not column or not kind:
        raise ParameterError(f"--types is COLUMN=TYPE, such as zip=text, got {given!r}")
    return column, kind


def as_options(name: str, value: Any) -> str:
    """An argument of `read_table` as it is given to a command.

    >>> as_options("types", {"post code": "text"}), as_options("nulls", ["-", "n/a"])
    ("--types 'post code=text'", '--nulls - --nulls n/a')
    """
    if isinstance(value, Mapping):
        value = [f"{column}={kind}" for column, kind in value.items()]
    elif isinstance(value, str):
        value = ["tab" if value == "\t" else value]
    return " ".join(f"--{name} {shlex.quote(one)}" for one in value)


def error_message(error: TellapartError) -> str:
    """What an error says to whoever gave a command."""
    return error.said(as_options) if isinstance(error, FormatError) else str(error)
