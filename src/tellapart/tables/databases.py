"""The rows of a query: PostgreSQL, DuckDB and SQLite."""

from __future__ import annotations

import re
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl

from tellapart.errors import FormatError, MissingExtra
from tellapart.tables.findings import Finding
from tellapart.tables.frames import check_names, first_line, from_arrow
from tellapart.tables.options import Limits

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


def read_query(
    address: str, query: str | None, limits: Limits
) -> tuple[pl.DataFrame, list[Finding]]:
    """The rows of a query. Ctrl-C ends it, and so does a limit on its time or its rows."""
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
    read = {"duckdb": _duckdb, "sqlite": _sqlite}.get(scheme, _postgres)
    start = time.monotonic()
    try:
        frame = read(file if read is not _postgres else address, query, name, limits)
    except (FormatError, MissingExtra):
        raise
    except Exception as error:  # of any of these libraries
        if time.monotonic() - start >= limits.seconds:
            raise FormatError(
                f"{name}: the query takes more than {limits.seconds:,} seconds. Ask for less, or"
                " pass {limits}",
                limits=10 * max(limits.times, 1),
            ) from error
        if re.search(r"\binterrupted!?$", str(error), re.IGNORECASE):
            raise KeyboardInterrupt from None
        raise FormatError(f"{name}: the query fails: {first_line(error)}") from error
    ordered = re.search(r"\border\s+by\b", query, re.IGNORECASE)
    return frame, [] if ordered else [Finding(None, "no order")]


def _fetched(cursor: Any, name: str, limits: Limits) -> pl.DataFrame:
    names = [str(column[0]) for column in cursor.description or ()]
    check_names(names, name)
    rows: list[Any] = []
    while block := cursor.fetchmany(10_000):
        rows += block
        limits.check(name, "cells", len(rows) * len(names))
    return pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None, strict=False)


def _sqlite(file: str, query: str, name: str, limits: Limits) -> pl.DataFrame:
    place = f"file:{Path(file).absolute().as_posix()}?mode=ro"
    end = time.monotonic() + limits.seconds
    with closing(sqlite3.connect(place, uri=True)) as opened:
        # between steps of SQLite, Python sees Ctrl-C, too
        opened.set_progress_handler(lambda: time.monotonic() > end, 100_000)
        return _fetched(opened.execute(query), name, limits)


def _duckdb(file: str, query: str, name: str, limits: Limits) -> pl.DataFrame:
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("Reading a DuckDB database", "duckdb") from None
    import pyarrow as pa

    def fetched() -> pl.DataFrame:
        reader: Any = opened.sql(query).to_arrow_reader(100_000)
        check_names(reader.schema.names, name)
        batches, rows = [], 0
        for batch in reader:
            batches.append(batch)
            limits.check(name, "cells", (rows := rows + batch.num_rows) * batch.num_columns)
        return from_arrow(pa.Table.from_batches(batches, reader.schema), name)

    with duckdb.connect(file, read_only=True) as opened, ThreadPoolExecutor(1) as thread:
        asked = thread.submit(fetched)
        try:  # DuckDB does not always see Ctrl-C; Python does, while it waits
            return asked.result(limits.seconds)
        except BaseException:
            opened.interrupt()
            raise


def _postgres(address: str, query: str, name: str, limits: Limits) -> pl.DataFrame:
    try:
        import psycopg
        from psycopg.types.string import TextLoader
    except ImportError:
        raise MissingExtra("Reading a PostgreSQL database", "postgres") from None
    with psycopg.connect(address, connect_timeout=10) as opened:
        opened.read_only = True
        for kind in ("uuid", "json", "jsonb"):  # as texts
            opened.adapters.register_loader(kind, TextLoader)
        opened.execute(f"set statement_timeout = {1000 * limits.seconds}")
        with opened.cursor("tellapart") as cursor:  # rows come in blocks
            return _fetched(cursor.execute(query), name, limits)
