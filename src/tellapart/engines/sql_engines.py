"""DuckDB and Spark: they run the exported SQL over the columns that a model wants."""

from __future__ import annotations

import os
import sys
import uuid
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

import polars as pl
from sqlglot import exp

from tellapart.errors import FormatError, MissingExtra, TellapartError
from tellapart.export.sql import to_sql
from tellapart.export.text import answers
from tellapart.features.tree import Type
from tellapart.tables.frames import first_line

if TYPE_CHECKING:
    from tellapart.engines.predict import Job, Seen

Dialect = Literal["duckdb", "spark"]
ITEMS = "tellapart_items"
os.environ.setdefault("POLARS_CSV_CHUNK_SIZE", str(2**21))
"""Polars reads CSV files in larger pieces otherwise, and holds several: twice the memory."""
_PARQUET = "parquet, ROW_GROUP_SIZE 245760"
"""Twice DuckDB's own: to keep the order it then holds a third less (docs/measurements.md)."""
_TYPES = {
    Type.BOOL: "BOOLEAN", Type.INTEGER: "BIGINT", Type.NUMBER: "DOUBLE", Type.TEXT: "STRING",
    Type.DATE: "DATE", Type.DATETIME: "TIMESTAMP",
}  # fmt: skip
_WHOLE = (
    "CASE WHEN NOT isnan({0}) THEN CASE WHEN {0} = floor({0}) THEN {0}"
    " ELSE {1}(concat('tellapart: ', {0}, ' does not fit')) END END"
)
"""A whole float, or an error."""


def quoted(name: str, dialect: Dialect) -> str:
    """The name of a column in SQL."""
    return exp.to_identifier(name, quoted=True).sql(dialect)


def query(job: Job, dialect: Dialect, columns: Sequence[str], keep: Sequence[str]) -> str:
    """The SQL over `ITEMS` that gives the answers; `columns` and `keep` are the SQL of the columns
    that the model reads, and of those to keep."""
    types, said = job.columns.types, answers(job.model)
    if len({name.lower() for name in types}) < len(types):
        raise FormatError(
            f"the model reads columns that differ only by case, and {dialect} takes them for the"
            " same. Rename one, or use the engine polars"
        )

    def literal(value: Any) -> str:
        text = exp.Literal.string(str(value)).sql(dialect)
        kind = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE"}.get(type(value), "STRING")
        return f"CAST({'NULL' if value is None else text} AS {kind})"

    def pick(values: Sequence[Any]) -> str:
        known = {n: value for n, value in enumerate(values, 1) if value is not None}
        cases = (f"WHEN {n} THEN {literal(value)}" for n, value in (known or {1: None}).items())
        return f"CASE clause {' '.join(cases)} END"

    kept = [f"kept_{n}" for n in range(len(keep))]
    made = zip([*columns, *keep], [*(quoted(name, dialect) for name in types), *kept], strict=True)
    inner = ", ".join(f"{sql} AS {here}" for sql, here in made) or "1 AS nothing"
    case = to_sql(job.model, dialect, value="clause", schema=types)
    middle = ", ".join([*kept, f"CAST({case} AS INT) AS clause"])
    wanted = [*kept, pick([one.label for one in said]), "clause", pick([one.like for one in said])]
    outer = zip(wanted, job.names, strict=True)
    named = ", ".join(f"{sql} AS {quoted(out, dialect)}" for sql, out in outer)
    found = f"SELECT {middle} FROM (SELECT {inner} FROM {ITEMS}) AS items"
    return f"SELECT {named} FROM ({found}) AS found"


def query_of_items(job: Job, dialect: Dialect) -> str:
    """The query over the columns that `Job.items` gives."""
    columns = [f"c{n}" for n in range(len(job.columns.types))]
    return query(
        job, dialect, columns, [quoted(f"kept {n}", dialect) for n in range(len(job.keep))]
    )


def without_rows(frame: Any) -> Any:
    """A frame of Spark or a relation of DuckDB without its rows: it tells the types."""
    none = frame.limit(0)
    return pl.from_arrow(none.toArrow()) if hasattr(frame, "sparkSession") else none


def query_of_source(job: Job, dialect: Dialect) -> str:
    """The query over the columns as they are in the source, where Polars would clean them."""
    columns, made = job.columns, []
    for name, kind in columns.types.items():
        sql = quoted(name, dialect)
        if name in columns.whole_floats():
            raises = "error" if dialect == "duckdb" else "raise_error"
            sql = _WHOLE.format(f"CAST({sql} AS DOUBLE)", raises)
        if kind is Type.DATETIME and dialect == "duckdb" and columns.zone(name):
            sql = f"{sql} AT TIME ZONE 'UTC'"
        ours = "TIMESTAMP_NTZ" if kind is Type.DATETIME and dialect == "spark" else _TYPES[kind]
        made.append(f"CAST({sql} AS {ours})")
    return query(job, dialect, made, [quoted(name, dialect) for name in job.keep])


def answered(job: Job, frame: Any, dialect: Dialect) -> Any:
    """The answers for a frame of Spark or a relation of DuckDB, as one of the same, computed when
    it is. Times with a zone are read in UTC by DuckDB, and in the zone of the session by Spark."""
    converted = [name for name in job.columns.types if job.columns.is_converted(name)]
    if converted:
        raise FormatError(
            f"the frame: column {converted[0]!r} holds lists, objects or times, which SQL does not"
            " read as texts. Convert it, or give the frame as one of Polars"
        )
    sql = query_of_source(job, dialect)
    if dialect == "duckdb":
        return frame.query(ITEMS, sql)
    view = f"tellapart_{uuid.uuid4().hex}"
    frame.createOrReplaceTempView(view)
    try:
        return frame.sparkSession.sql(sql.replace(f" FROM {ITEMS})", f" FROM {view})"))
    finally:
        frame.sparkSession.catalog.dropTempView(view)


def with_duckdb(job: Job, seen: Seen, out: Path, kind: str, without_gaps: bool) -> None:
    """Let DuckDB write the answers. It reads Parquet files itself, in less memory; all else Polars
    reads, which is as strict as we are: DuckDB takes 5.7 for the integer 6."""
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("The engine duckdb", "duckdb") from None
    form = {"csv": "csv, HEADER", "jsonl": "json", "parquet": _PARQUET}[kind]
    with duckdb.connect() as base, TemporaryDirectory(dir=out.parent) as spill:
        base.execute("SET TimeZone = 'UTC'")
        base.execute("SET enable_progress_bar_print = false")  # we have our own
        place, aside = (exp.Literal.string(str(one)).sql("duckdb") for one in (out, spill))
        base.execute(f"SET temp_directory = {aside}")
        paths = job.columns.parquet_files(job.keep)
        if paths:
            base.read_parquet(paths).create_view(ITEMS)
        else:
            base.register(ITEMS, _batches(job.items(seen, without_gaps), job))
        sql = query_of_source(job, "duckdb") if paths else query_of_items(job, "duckdb")
        try:
            done = base.execute(f"COPY ({sql}) TO {place} (FORMAT {form})").fetchone()
            seen.rows = int(done[0]) if done else seen.rows
        except (duckdb.OutOfMemoryException, MemoryError) as error:
            raise TellapartError(
                f"{job.columns.name}: not enough memory for DuckDB ({first_line(error)}). Keep"
                " fewer columns, free memory, or use the engine polars"
            ) from error
        except duckdb.Error as error:
            raise ValueError(first_line(error)) from error


def _batches(items: pl.LazyFrame, job: Job) -> Any:
    """A frame as batches of Arrow, which are read when they are asked for."""
    import pyarrow as pa

    newest = pl.CompatLevel.newest()
    schema = items.collect_schema().to_frame().to_arrow(compat_level=newest).schema
    read = items.collect_batches(optimizations=job.optimizations(), maintain_order=True)
    batches = (one for batch in read for one in batch.to_arrow(compat_level=newest).to_batches())
    return pa.RecordBatchReader.from_batches(schema, batches)


def with_spark(job: Job, seen: Seen, out: Path, kind: str, without_gaps: bool) -> None:
    """Let Spark write the answers: to many Parquet files, which are then joined, in order."""
    loaded: Any = sys.modules.get("pyspark.sql")
    active = loaded and loaded.SparkSession.getActiveSession()
    spark = active or spark_session(job.master)
    try:
        with TemporaryDirectory(dir=out.parent) as folder:
            read, parts = Path(folder, "items.parquet").absolute(), Path(folder, "parts").absolute()
            job.items(seen, without_gaps).sink_parquet(read, optimizations=job.optimizations())
            spark.read.parquet(str(read)).createOrReplaceTempView(ITEMS)
            spark.sql(query_of_items(job, "spark")).write.parquet(str(parts))
            spark.catalog.dropTempView(ITEMS)
            sink(pl.scan_parquet(sorted(parts.glob("part-*.parquet"))), out, kind)
    finally:
        if active is None:
            spark.stop()


def sink(frame: pl.LazyFrame, out: Path, kind: str, **options: Any) -> None:
    """Write a lazy frame to a file."""
    name = {"csv": "sink_csv", "jsonl": "sink_ndjson", "parquet": "sink_parquet"}[kind]
    getattr(frame, name)(out, **options)


def spark_session(master: str | None = None, more: Mapping[str, str] | None = None) -> Any:
    """A Spark session on this machine ("local[*]"), or on the cluster that `master` names."""
    try:
        with warnings.catch_warnings():  # about versions of pandas, which we do not use
            warnings.simplefilter("ignore")
            from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra("The engine spark", "spark") from None
    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
                "spark.log.level": "FATAL", "spark.sql.session.timeZone": "UTC"}  # fmt: skip
    if (master or "local").startswith("local"):  # no other machine connects
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    builder = SparkSession.builder.appName("tellapart").master(master or "local[*]")
    try:
        return builder.config(map={**settings, **(more or {})}).getOrCreate()
    except Exception as error:  # of Python, of the gateway, or of Java
        said = [line.strip(": ") for line in str(error).splitlines() if "xception: " in line]
        raise TellapartError(
            f"Spark does not start: {said[-1] if said else first_line(error)}. It needs Java 17 or"
            " later (a JRE will do)"
        ) from error
