"""The rows of a query: PostgreSQL, DuckDB and SQLite."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

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
    import polars as pl

    name = without_password(address)
    file = re.sub(r"^[a-z]+:(//)?", "", address)
    scheme = address.partition(":")[0]
    if scheme in ("duckdb", "sqlite") and not Path(file).is_file():
        raise FormatError(f"{name}: there is no file {file}")
    if query is None or not query.strip():
        raise FormatError(
            f"{name} is a database: say which rows to read, such as {{query}}",
            query="select * from items order by id",
        )
    try:
        if scheme == "duckdb":
            frame = _duckdb(file, query, name)
        elif scheme == "sqlite":
            place = f"file:{Path(file).absolute().as_posix()}?mode=ro"
            with closing(sqlite3.connect(place, uri=True)) as opened:
                frame = pl.read_database(query, opened, infer_schema_length=None)
        else:
            frame = _postgres(address, query)
    except (FormatError, MissingExtra):
        raise
    except Exception as error:  # of any of these libraries
        raise FormatError(f"{name}: the query fails: {first_line(error)}") from error
    check_names(frame.columns, name)
    ordered = re.search(r"\border\s+by\b", query, re.IGNORECASE)
    return frame, [] if ordered else [Finding(None, "no order")]


def _duckdb(file: str, query: str, name: str) -> pl.DataFrame:
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("Reading a DuckDB database", "duckdb") from None
    with duckdb.connect(file, read_only=True) as opened:
        return from_arrow(opened.sql(query).to_arrow_table(), name)


def _postgres(address: str, query: str) -> pl.DataFrame:
    import polars as pl

    try:
        import psycopg
        from psycopg.types.string import TextLoader
    except ImportError:
        raise MissingExtra("Reading a PostgreSQL database", "postgres") from None
    with psycopg.connect(address, connect_timeout=10) as opened:
        opened.read_only = True
        for kind in ("uuid", "json", "jsonb"):  # as texts
            opened.adapters.register_loader(kind, TextLoader)
        return pl.read_database(query, opened, infer_schema_length=None)
