"""Options that several commands share: numbers, and how a table is read."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from tellapart.errors import FormatError, ParameterError, TellapartError, as_options

if TYPE_CHECKING:
    from tellapart.tables.findings import Finding


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
    """How a table is to be read; what is not given, the table tells."""

    separator: str | None = None
    """What stands between the cells of a CSV file, such as ';' or tab; if not given,
    what its first line shows."""
    encoding: str | None = None
    """Of a CSV file that is not UTF-8, such as cp1252 (Windows, Latin-1) or utf-16."""
    nulls: Annotated[
        list[str] | None,
        Parameter(alias="--null", consume_multiple=False, allow_leading_hyphen=True),
    ] = None
    """What a CSV file or a spreadsheet writes for an unknown value besides an empty
    cell, such as n/a. Again for more."""
    types: Annotated[list[str] | None, Parameter(consume_multiple=False)] = None
    """COLUMN=TYPE for a column that is not what it looks like, such as zip=text.
    Types: text, integer, number, bool, date, datetime. Again for more."""
    dates: Literal["day-first", "month-first", "iso"] | None = None
    """What dates such as 1/2/2024 mean; with iso they are texts."""
    decimal: str | None = None
    """The decimal mark of numbers: . or ,"""
    thousands: str | None = None
    """What stands between thousands: a comma, a point, a space or an apostrophe."""
    true: Annotated[
        list[str] | None, Parameter(consume_multiple=False, allow_leading_hyphen=True)
    ] = None
    """A word for true, such as yes. Again for more."""
    false: Annotated[
        list[str] | None, Parameter(consume_multiple=False, allow_leading_hyphen=True)
    ] = None
    """A word for false, such as no. Again for more."""
    header: Annotated[int | None, Parameter(converter=_whole)] = None
    """The line with the names of the columns, from 1; 0 if there is none."""
    no_header: Annotated[bool, Parameter(negative="")] = False
    """There is no line with the names of the columns: the same as --header 0."""
    comment: str | None = None
    """What lines begin with that are no rows, such as #."""
    sheet: str | None = None
    """The sheet of a spreadsheet."""
    query: str | None = None
    """What to ask a database, such as "select * from items order by id"."""
    source: Annotated[str | None, Parameter(name="--from")] = None
    """The database of --query: postgresql://host/name, duckdb:FILE or sqlite:FILE.
    Stands for the table."""


@Parameter(name="*")
@dataclass(frozen=True)
class Sampling(Reading):
    """The same, and how much of it."""

    sample: Annotated[int | None, Parameter(converter=_whole)] = None
    """Take so many rows at random from a table too large to teach from whole. What is
    said about the error is about the whole table."""
    sample_seed: Annotated[int | None, Parameter(converter=_whole)] = None
    """Which rows these are."""


def table_place(reading: Reading | None, table: str | None) -> str | None:
    """The table that was named, or the database."""
    if reading is None or reading.source is None:
        return table
    if table is not None:
        raise ParameterError(f"name the table ({table}) or the database (--from), not both")
    return reading.source


def local_path(table: str) -> Path:
    """A path that stands for a table: where its sessions are kept, and what they are called.

    >>> local_path("data/zoo.csv"), local_path("postgresql://ann:secret@host/zoo").name
    (PosixPath('data/zoo.csv'), 'postgresql_ann_host_zoo')
    """
    from tellapart.tables.databases import is_database, without_password
    from tellapart.tables.files import is_url

    if not (is_database(table) or is_url(table) or re.search(r"[*?\[]", table)):
        if Path(table).name in ("", ".."):
            raise ParameterError(f"{table} is a folder; name a table in it, or a folder of files")
        return Path(table)
    return Path(re.sub(r"[^\w.-]+", "_", without_password(table)).strip("_."))


def table_arguments(reading: Reading | None, table: str | Path | None) -> dict[str, Any]:
    """What was given, as arguments of `read_table`; there must be a table then.

    >>> table_arguments(Reading(separator="tab", types=["zip=text"]), "a.csv")
    {'separator': '\\t', 'types': {'zip': 'text'}}
    """
    if reading is None:
        return {}
    separator = reading.separator
    if separator in ("tab", "\\t"):
        separator = "\t"
    if reading.no_header and reading.header:
        raise ParameterError("give --header or --no-header, not both")
    given = {
        "separator": separator,
        "encoding": reading.encoding,
        "nulls": sorted(set(reading.nulls)) if reading.nulls else None,
        "types": column_types("--types", reading.types) or None,
        "dates": reading.dates,
        "decimal": reading.decimal,
        "thousands": reading.thousands,
        "true": sorted(set(reading.true)) if reading.true else None,
        "false": sorted(set(reading.false)) if reading.false else None,
        "header": 0 if reading.no_header else reading.header,
        "comment": reading.comment,
        "sheet": reading.sheet,
        "query": reading.query,
        "sample": getattr(reading, "sample", None),
        "sample_seed": getattr(reading, "sample_seed", None),
    }
    found = {name: value for name, value in given.items() if value is not None}
    if found and table is None:
        said = " ".join(as_options(name, value) for name, value in found.items())
        raise ParameterError(f"{said}: that is how to read a table; name the table, too")
    return found


def column_types(option: str, given: Iterable[str] | None) -> dict[str, str]:
    """The types of columns that an option gives.

    >>> column_types("--type", ["legs=integer", "a=b=text"])
    {'legs': 'integer', 'a=b': 'text'}
    """
    types = {}
    for text in given or ():
        column, _, kind = text.rpartition("=")
        if not column or not kind:
            raise ParameterError(f"{option} is COLUMN=TYPE, such as zip=text, got {text!r}")
        types[column] = kind
    return types


def say_finding(finding: Finding) -> None:
    """Print on stderr what could have been read in another way."""
    print(f"tellapart: {finding.said(as_options)}", file=sys.stderr)


def error_message(error: TellapartError) -> str:
    """What an error says to whoever gave a command."""
    return error.said(as_options) if isinstance(error, FormatError) else str(error)
