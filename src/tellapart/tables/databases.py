"""The rows of a query: PostgreSQL, DuckDB and SQLite."""

from __future__ import annotations

import json
import re
import sqlite3
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tellapart.errors import FormatError, MissingExtra
from tellapart.tables.findings import Finding
from tellapart.tables.frames import check_names, first_line, from_arrow

if TYPE_CHECKING:
    import polars as pl

_SCHEMES = ("postgresql", "postgres", "duckdb", "sqlite")


def is_database(place: object) -> bool:
    """Whether a name is that of a database.

    >>> is_database("sqlite:zoo.db"), is_database("zoo.db"), is_database("postgresql://host/zoo")
    (True, False, True)
    """
    return isinstance(place, str) and place.partition(":")[0] in _SCHEMES


def without_password(address: str) -> str:
    """The address of a database as it may be written down.

    >>> without_password("postgresql://ann:secret@host/zoo")
    'postgresql://ann@host/zoo'
    >>> without_password("postgresql://ann:a/b@host/zoo?sslpassword=x&Password=y&port=5")
    'postgresql://ann@host/zoo?port=5'
    """
    scheme, found, rest = address.partition("://")
    if not found:
        return address
    place, _, query = rest.partition("?")
    user, _, host = place.rpartition("@")
    kept = [one for one in query.split("&") if not re.match(r"\w*password=", one, re.IGNORECASE)]
    shown = f"{user.partition(':')[0]}@{host}" if user else host
    return f"{scheme}://{shown}" + ("?" + "&".join(kept) if any(kept) else "")


def read_query(address: str, query: str | None) -> tuple[pl.DataFrame, list[Finding]]:
    """The rows of a query."""
    scheme = address.partition(":")[0]
    name = without_password(address)
    file = re.sub(r"^[a-z]+:(//)?", "", address)
    if scheme in ("duckdb", "sqlite") and not Path(file).is_file():
        raise FormatError(f"{name}: there is no file {file}")
    if query is None or not query.strip():
        raise FormatError(
            f"{name} is a database: say which rows to read, such as {{query}}",
            query="select * from items order by id",
        )
    read = {"duckdb": _duckdb, "sqlite": _sqlite}.get(scheme, _postgres)
    names, rows = read(address if scheme.startswith("postgres") else file, name, query)
    frame = _frame(name, names, rows)
    findings = []
    if not re.search(r"\border\s+by\b", query, re.IGNORECASE):
        what = "a query without ORDER BY, whose rows may come in another order the next time"
        findings.append(Finding(None, what, "they came"))
    return frame, findings


def _sqlite(file: str, name: str, query: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    try:
        opened = sqlite3.connect(f"file:{Path(file).absolute().as_posix()}?mode=ro", uri=True)
        try:
            done = opened.execute(query)
            return [str(column[0]) for column in done.description or ()], done.fetchall()
        finally:
            opened.close()
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise FormatError(f"{name}: the query fails: {first_line(error)}") from error


def _duckdb(file: str, name: str, query: str) -> tuple[list[str], Any]:
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("Reading a DuckDB database", "duckdb") from None
    try:
        with duckdb.connect(file, read_only=True) as opened:
            table = opened.sql(query).to_arrow_table()
    except (duckdb.Error, AttributeError) as error:
        raise FormatError(f"{name}: the query fails: {first_line(error)}") from error
    return list(table.column_names), table


def _postgres(address: str, name: str, query: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    try:
        import psycopg
    except ImportError:
        raise MissingExtra("Reading a PostgreSQL database", "postgres") from None
    try:
        with psycopg.connect(address, connect_timeout=10) as opened:
            opened.read_only = True
            done = opened.execute(query.encode())
            if done.description is None:
                raise FormatError(f"{name}: the query gives no rows")
            return [column.name for column in done.description], done.fetchall()
    except psycopg.Error as error:
        raise FormatError(f"{name}: the query fails: {first_line(error)}") from error


def _frame(name: str, names: list[str], rows: Any) -> pl.DataFrame:
    import polars as pl

    check_names(names, name)
    if not isinstance(rows, list):
        return from_arrow(rows, name)
    columns: dict[str, list[Any]] = {column: [] for column in names}
    for row in rows:
        for column, value in zip(names, row, strict=True):
            columns[column].append(_plain(value))
    made = []
    for column, values in columns.items():
        kinds = {type(value) for value in values if value is not None} - {bool}
        if len(kinds) > 1 and kinds != {int, float}:
            place = next(
                n for n, v in enumerate(values) if v is not None and type(v) is not type(values[0])
            )
            raise FormatError(
                f"{name}: column {column!r} mixes types: {values[place]!r:.40} in row {place}. Cast"
                " it in the query"
            )
        try:
            made.append(pl.Series(column, values, strict=False))
        except (pl.exceptions.PolarsError, TypeError, OverflowError) as error:
            raise FormatError(f"{name}: column {column!r}: {first_line(error)}") from error
    return pl.DataFrame(made)


def _plain(value: Any) -> Any:
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, memoryview):
        return bytes(value)
    return value
