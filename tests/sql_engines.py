"""Real engines for the tests.

Each `..._base` loads a frame into the table `items`, with the number of each row in `place`, and
gives a function that runs a query there. The function named like the dialect takes a frame and SQL
expressions, and gives their columns.
"""

from __future__ import annotations

import datetime
import math
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

import random_features
from tellapart.features.letter_case import PAIRS
from tellapart.features.to_polars import DTYPE
from tellapart.features.tree import Type

DTYPES = {name: DTYPE[Type(kind)] for name, kind in random_features.SCHEMA.items()}
ENGINES = ("duckdb", "sqlite", "postgres", "spark", "clickhouse", "mysql")
"""The dialects whose SQL is tested on the engine itself (MariaDB for mysql)."""
Query = Callable[[str], list[tuple[Any, ...]]]


def frame(seed: int, *, rows: int = 60, dirty: bool = False) -> pl.DataFrame:
    """The random table of `random_features`; `dirty` has NaN and infinities in it."""
    return pl.DataFrame(random_features.table(rows, seed, dirty=dirty), schema=DTYPES)


def known(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows as a table has them: NaN and infinity are unknown."""
    numbers = pl.col(pl.Float64)
    return rows.with_columns(pl.when(numbers.is_finite()).then(numbers))


def dirty_rows(count: int, seed: int) -> pl.DataFrame:
    """The random table of the tests, a third of it replaced by values that nobody chose."""
    dice = np.random.default_rng(seed)
    bits = dice.integers(0, 256, 8 * 200, dtype=np.uint8).tobytes()
    letters = "".join(map("".join, PAIRS)) + "ßẞİıſςΩKÅǅ %_!\\'\"\n\u2028ÿ７Ⅷ👍a b A B" * 8
    texts = ["".join(dice.choice(list(letters), dice.integers(0, 9))) for _ in range(200)]
    moments = [datetime.datetime(1700, 1, 1) + datetime.timedelta(days=int(d), microseconds=int(u))
               for d, u in dice.integers(0, (250_000, 86_400_000_000), (200, 2))]  # fmt: skip
    pools: dict[str, Any] = {
        "integer": np.frombuffer(bits, np.int64) >> dice.integers(0, 64, 200),
        "number": np.frombuffer(bits, np.float64),
        "bool": [True, False],
        "text": texts,
        "date": [moment.date() for moment in moments],
        "datetime": moments,
    }
    made = {}
    for name, column in frame(seed, rows=count, dirty=True).to_dict().items():
        pool = pl.Series(pools[random_features.SCHEMA[name]], dtype=column.dtype)
        other = pool.gather(dice.integers(0, len(pool), count))
        made[name] = other.zip_with(pl.Series(dice.random(count) < 1 / 3), column)
    return pl.DataFrame(made)


def storable(rows: pl.DataFrame, dialect: str) -> pl.DataFrame:
    """The rows without dates that ClickHouse cannot hold."""
    if dialect != "clickhouse":
        return rows
    first, last = datetime.date(1900, 1, 1), datetime.date(2299, 12, 31)
    dates = [name for name, dtype in rows.schema.items() if dtype in (pl.Date, pl.Datetime)]
    return rows.with_columns(
        pl.when(pl.col(name).cast(pl.Date).is_between(first, last)).then(pl.col(name)).alias(name)
        for name in dates
    )


@contextmanager
def duckdb_base(rows: pl.DataFrame, *macros: str) -> Iterator[Query]:
    import duckdb

    with duckdb.connect() as base:
        for macro in macros:
            base.execute(f"CREATE MACRO {macro}")
        base.register("items", _numbered(rows).to_arrow())
        yield lambda sql: base.execute(sql).fetchall()


@contextmanager
def sqlite_base(rows: pl.DataFrame, *pragmas: str) -> Iterator[Query]:
    with closing(sqlite3.connect(":memory:")) as base:
        for pragma in pragmas:
            base.execute(pragma)
        kinds = {pl.Int64: "INTEGER", pl.Boolean: "INTEGER", pl.Float64: "REAL"}
        columns = _columns(rows, lambda kind: kinds.get(kind, "TEXT"), _tick)
        base.execute(f"CREATE TABLE items (place INTEGER, {columns})")
        marks = ", ".join("?" * (rows.width + 1))
        cells = (tuple(map(_iso, row)) for row in _numbered(rows).rows())
        base.executemany(f"INSERT INTO items VALUES ({marks})", cells)
        yield lambda sql: base.execute(sql).fetchall()


@contextmanager
def postgres_base(address: str, rows: pl.DataFrame) -> Iterator[Query]:
    import psycopg

    kinds = {
        pl.Int64: "BIGINT", pl.Boolean: "BOOLEAN", pl.Float64: "DOUBLE PRECISION",
        pl.String: "TEXT", pl.Date: "DATE", pl.Datetime: "TIMESTAMP",
    }  # fmt: skip
    with psycopg.connect(address) as base:
        columns = _columns(rows, kinds.__getitem__, _double)
        base.execute(f"CREATE TEMPORARY TABLE items (place INT, {columns})")
        with base.cursor().copy("COPY items FROM STDIN") as copy:
            for row in _numbered(rows).rows():
                copy.write_row(row)

        def query(sql: str) -> list[tuple[Any, ...]]:
            found = base.execute(sql)
            return [] if found.description is None else found.fetchall()

        yield query
        base.rollback()


@contextmanager
def spark_base(session: Any, rows: pl.DataFrame) -> Iterator[Query]:
    with TemporaryDirectory() as folder:
        path = str(Path(folder, "items.parquet"))
        _numbered(rows).write_parquet(path)
        session.read.parquet(path).createOrReplaceTempView("items")
        yield lambda sql: [tuple(row) for row in session.sql(sql).collect()]


@contextmanager
def clickhouse_base(rows: pl.DataFrame) -> Iterator[Query]:
    from chdb.session import Session

    kinds = {
        pl.Int64: "Int64", pl.Boolean: "Bool", pl.Float64: "Float64", pl.String: "String",
        pl.Date: "Date32", pl.Datetime: "DateTime64(6, 'UTC')",
    }  # fmt: skip
    with TemporaryDirectory() as folder:
        path = Path(folder, "items.parquet")
        _numbered(rows).write_parquet(path)
        base = Session(str(Path(folder, "base")))
        try:
            columns = _columns(rows, lambda kind: f"Nullable({kinds[kind]})", _tick)
            base.query(f"CREATE TABLE items (place Int64, {columns}) ENGINE = Memory")
            base.query(f"INSERT INTO items SELECT * FROM file('{path}', Parquet)")
            yield lambda sql: _arrow(base.query(sql, "ArrowStream").bytes())
        finally:
            base.cleanup()


@contextmanager
def mysql_base(socket: str, rows: pl.DataFrame) -> Iterator[Query]:
    import pymysql

    kinds = {
        pl.Int64: "BIGINT", pl.Boolean: "BOOLEAN", pl.Float64: "DOUBLE", pl.String: "TEXT",
        pl.Date: "DATE", pl.Datetime: "DATETIME(6)",
    }  # fmt: skip
    base = pymysql.connect(unix_socket=socket, user="root", charset="utf8mb4")
    with closing(base), base.cursor() as cursor:
        cursor.execute("CREATE DATABASE IF NOT EXISTS test CHARACTER SET utf8mb4")
        cursor.execute("USE test")
        columns = _columns(rows, kinds.__getitem__, _tick)
        cursor.execute(
            f"CREATE OR REPLACE TABLE items (place INT, {columns}) CHARACTER SET utf8mb4"
        )
        marks = ", ".join(["%s"] * (rows.width + 1))
        cells = [tuple(map(_storable, row)) for row in _numbered(rows).rows()]
        cursor.executemany(f"INSERT INTO items VALUES ({marks})", cells)

        def query(sql: str) -> list[tuple[Any, ...]]:
            cursor.execute(sql)
            return list(cursor.fetchall())

        yield query


# -- SQL expressions over a frame


def duckdb(rows: pl.DataFrame, wanted: Sequence[str], *macros: str) -> list[list[Any]]:
    return _evaluate(duckdb_base(rows, *macros), wanted)


def sqlite(rows: pl.DataFrame, wanted: Sequence[str], *pragmas: str) -> list[list[Any]]:
    return _evaluate(sqlite_base(rows, *pragmas), wanted)


def postgres(address: str, rows: pl.DataFrame, wanted: Sequence[str]) -> list[list[Any]]:
    return _evaluate(postgres_base(address, rows), wanted)


def spark(session: Any, rows: pl.DataFrame, wanted: Sequence[str]) -> list[list[Any]]:
    return _evaluate(spark_base(session, rows), wanted)


def clickhouse(rows: pl.DataFrame, wanted: Sequence[str]) -> list[list[Any]]:
    return _evaluate(clickhouse_base(rows), wanted)


def mysql(socket: str, rows: pl.DataFrame, wanted: Sequence[str]) -> list[list[Any]]:
    return _evaluate(mysql_base(socket, rows), wanted)


def _evaluate(base: AbstractContextManager[Query], wanted: Sequence[str]) -> list[list[Any]]:
    with base as query:
        found = [sorted(query(f"SELECT place, {one} AS made FROM items")) for one in wanted]
    return [[value for _, value in rows] for rows in found]


# -- engines we cannot run: their SQL, read by sqlglot and written for DuckDB


def by_way_of_duckdb(rows: pl.DataFrame, wanted: Sequence[str], dialect: str) -> list[list[Any]]:
    """What a dialect's SQL means to sqlglot and DuckDB."""
    import sqlglot

    macros = ["is_finite(v) AS isfinite(v)"]
    parsed = [sqlglot.parse_one(one, dialect=dialect) for one in wanted]
    if dialect == "tsql":
        for _ in range(12):  # it leaves out what is inside something that was changed
            parsed = [one.transform(_without_tsql) for one in parsed]
    return duckdb(rows, [one.sql("duckdb") for one in parsed], *macros)


def _without_tsql(node: Any) -> Any:
    """What sqlglot leaves as it is: collations, N'...', FLOAT, bytes of texts, texts joined."""
    from sqlglot import exp

    if isinstance(node, exp.Collate):
        return node.this
    if isinstance(node, exp.National):
        return exp.Literal.string(node.name)
    if isinstance(node, exp.Cast) and node.to.this == exp.DType.VARBINARY:
        return exp.Anonymous(this="encode", expressions=[node.this.this])
    types = {exp.DType.FLOAT: exp.DType.DOUBLE, exp.DType.BIT: exp.DType.BOOLEAN}
    if isinstance(node, exp.DataType) and node.this in types:
        return exp.DataType.build(types[node.this])
    if isinstance(node, exp.Add) and node.expression.name == ".":  # LEN(x + '.')
        return exp.DPipe(this=node.this, expression=node.expression)
    return node


# -- pieces


def _numbered(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_row_index("place").with_columns(pl.col("place").cast(pl.Int64))


def _columns(rows: pl.DataFrame, kind: Callable[[Any], str], quote: Callable[[str], str]) -> str:
    return ", ".join(f"{quote(name)} {kind(type(dtype))}" for name, dtype in rows.schema.items())


def _arrow(data: bytes) -> list[tuple[Any, ...]]:
    found = pl.read_ipc_stream(data)
    texts = [name for name, dtype in found.schema.items() if dtype == pl.Binary]
    return found.with_columns(pl.col(texts).cast(pl.String)).rows()


def _iso(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, datetime.date) else value


def _storable(value: Any) -> Any:
    """MariaDB has no NaN and no infinity: what it is given in their place is NULL."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _tick(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _double(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
