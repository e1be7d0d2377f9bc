"""Real engines for the tests: each takes a frame and SQL expressions, and gives their columns."""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Sequence
from typing import Any

import polars as pl

import random_features
from tellapart.features.to_polars import DTYPE
from tellapart.features.tree import Type

DTYPES = {name: DTYPE[Type(kind)] for name, kind in random_features.SCHEMA.items()}


def frame(seed: int, *, rows: int = 60, dirty: bool = False) -> pl.DataFrame:
    """The random table of `random_features`; `dirty` has NaN and infinities in it."""
    return pl.DataFrame(random_features.table(rows, seed, dirty=dirty), schema=DTYPES)


def duckdb(rows: pl.DataFrame, wanted: Sequence[str], *macros: str) -> list[list[Any]]:
    import duckdb

    with duckdb.connect() as base:
        for macro in macros:
            base.execute(f"CREATE MACRO {macro}")
        base.register("items", rows.to_arrow())
        found = base.execute(f"SELECT {', '.join(wanted)} FROM items").fetchall()
    return _columns(found)


def sqlite(rows: pl.DataFrame, wanted: Sequence[str], *pragmas: str) -> list[list[Any]]:
    base = sqlite3.connect(":memory:")
    for pragma in pragmas:
        base.execute(pragma)
    kinds = {pl.Int64: "INTEGER", pl.Boolean: "INTEGER", pl.Float64: "REAL"}
    columns = ", ".join(f"{_tick(n)} {kinds.get(type(d), 'TEXT')}" for n, d in rows.schema.items())
    base.execute(f"CREATE TABLE items ({columns})")
    marks = ", ".join("?" * rows.width)
    cells = [tuple(map(_iso, row)) for row in rows.rows()]
    base.executemany(f"INSERT INTO items VALUES ({marks})", cells)
    found = [
        [row[0] for row in base.execute(f"SELECT {one} FROM items ORDER BY _rowid_")]
        for one in wanted
    ]
    base.close()
    return found


def postgres(address: str, rows: pl.DataFrame, wanted: Sequence[str]) -> list[list[Any]]:
    import psycopg

    kinds = {
        pl.Int64: "BIGINT", pl.Boolean: "BOOLEAN", pl.Float64: "DOUBLE PRECISION",
        pl.String: "TEXT", pl.Date: "DATE", pl.Datetime: "TIMESTAMP",
    }  # fmt: skip
    columns = ", ".join(f"{_double(n)} {kinds[type(d)]}" for n, d in rows.schema.items())
    with psycopg.connect(address) as base:
        base.execute(f"CREATE TEMPORARY TABLE items (place INT, {columns})")
        with base.cursor().copy("COPY items FROM STDIN") as copy:
            for place, row in enumerate(rows.rows()):
                copy.write_row((place, *row))
        found = [
            [row[0] for row in base.execute(f"SELECT {one} FROM items ORDER BY place")]
            for one in wanted
        ]
        base.rollback()
    return found


def spark(session: Any, folder: Any, rows: pl.DataFrame, wanted: Sequence[str]) -> list[list[Any]]:
    path = str(folder / "items.parquet")
    rows.write_parquet(path)
    session.read.parquet(path).createOrReplaceTempView("items")
    named = ", ".join(f"{one} AS made_{n}" for n, one in enumerate(wanted))
    return _columns([tuple(row) for row in session.sql(f"SELECT {named} FROM items").collect()])


def _columns(found: list[Any]) -> list[list[Any]]:
    return [list(column) for column in zip(*found, strict=True)]


def _iso(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, datetime.date) else value


def _tick(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _double(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
