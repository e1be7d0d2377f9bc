"""Prediction with DuckDB: it runs the exported SQL over the file, out of core."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tellapart.engines.polars import Seen, read_batches
from tellapart.engines.predict import Job, check_plain
from tellapart.engines.sql_query import Query
from tellapart.errors import FormatError, MissingExtra, TellapartError
from tellapart.features.tree import Type
from tellapart.tables import Scan
from tellapart.tables.frames import first_line

os.environ.setdefault("POLARS_CSV_CHUNK_SIZE", str(2**21))
"""Polars reads CSV files in larger pieces otherwise, and holds several: twice the memory."""
_MISFIT = "error('tellapart: ' || {0} || ' does not fit')"
_TYPES = {
    Type.BOOL: "BOOLEAN",
    Type.INTEGER: "BIGINT",
    Type.NUMBER: "DOUBLE",
    Type.TEXT: "VARCHAR",
    Type.DATE: "DATE",
    Type.DATETIME: "TIMESTAMP",
}
_PARQUET = "parquet, ROW_GROUP_SIZE 245760"
"""Twice DuckDB's own: to keep the order it then holds a third less (docs/measurements.md)."""
_WHOLE = "CASE WHEN {0} IS NULL OR isnan({0}) THEN NULL WHEN {0} = floor({0}) THEN CAST({0} AS"
_WHOLE += " BIGINT) ELSE " + _MISFIT.replace("{0}", "CAST({0} AS VARCHAR)") + " END"
"""A whole float as an integer, or an error."""


def run(job: Job, *, without_gaps: bool = False) -> int:
    """Do the job; returns how many rows there were. `without_gaps` leaves out empty lines."""
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("The engine duckdb", "duckdb") from None
    import polars as pl

    scan, out = job.scan, job.out
    check_plain(scan, "duckdb")
    _refuse_equal_names(scan, job.keep)
    query, seen = Query("duckdb", scan.types), Seen()
    with duckdb.connect() as base, tempfile.TemporaryDirectory(dir=out.parent) as spill:
        base.execute("SET TimeZone = 'UTC'")
        base.execute("SET enable_progress_bar_print = false")  # we have our own
        base.execute(f"SET temp_directory = {query.text(spill)}")
        source, cleaned, kept = _source(job, seen, query, base, without_gaps)
        select = query.select(job.model, job.names, source, cleaned, kept)
        form = {"csv": "csv, HEADER", "jsonl": "json", "parquet": _PARQUET}[job.kind]
        copy = f"COPY ({select}) TO {query.text(str(out))} (FORMAT {form})"
        try:
            rows = _watched(base, copy, job.progress)
        except (duckdb.OutOfMemoryException, MemoryError) as error:
            raise TellapartError(
                f"{scan.name}: not enough memory for DuckDB ({first_line(error)}). Keep fewer"
                " columns, free memory, or use the engine polars"
            ) from error
        except (duckdb.Error, pl.exceptions.PolarsError, ValueError) as error:
            scan.find_error()
            if scan.more_carefully():
                return run(job, without_gaps=without_gaps)
            scan.explain(error)
    if seen.gaps and not without_gaps and scan.gaps():
        return run(job, without_gaps=True)
    return rows


def _source(
    job: Job, seen: Seen, query: Query, base: Any, without_gaps: bool
) -> tuple[str, dict[str, str], list[str]]:
    """The table as DuckDB reads it, the SQL of the model's columns, and that of those kept.

    Texts are read by Polars, which is as strict as we are: DuckDB takes 5.7 for the integer 6, and
    yes for true.
    """
    scan, keep = job.scan, job.keep
    names = {name: query.name(name) for name in [*scan.types, *keep]}
    if scan.kind in ("csv", "jsonl"):
        import pyarrow as pa

        schema, batches = read_batches(job, seen, without_gaps)
        base.register("items_read", pa.RecordBatchReader.from_batches(schema, batches))
        columns = {name: query.name(name) for name in scan.types}
        return "items_read", columns, [query.name(f"kept {n}") for n in range(len(keep))]
    if scan.kind == "frame":
        base.register("arrow_file", scan.lazy_frame().collect().to_arrow())
        source = "arrow_file"
    elif scan.kind == "parquet":
        source = f"read_parquet({query.text(str(scan.path))})"
    else:
        import pyarrow.dataset

        base.register("arrow_file", pyarrow.dataset.dataset(scan.path, format="ipc"))
        source = "arrow_file"
    return source, _typed(scan, names), [names[name] for name in keep]


def _typed(scan: Scan, names: Mapping[str, str]) -> dict[str, str]:
    """The SQL of columns that have a type."""
    cleaned = {
        name: f"CAST({names[name]} AS TIMESTAMP)" if kind is Type.DATETIME else names[name]
        for name, kind in scan.types.items()
    }
    cleaned |= {n: f"CAST(NULL AS {_TYPES[k]})" for n, k in scan.types.items() if scan.blank(n)}
    cleaned |= {n: _WHOLE.format(names[n]) for n in scan.types if scan.is_float(n)}
    return cleaned


def _refuse_equal_names(scan: Scan, keep: Sequence[str]) -> None:
    """DuckDB takes `a` and `A` for the same column; in CSV files we number them."""
    read = {*scan.types, *keep}
    for name in read if scan.kind == "csv" else scan.columns:
        alike = [other for other in read if other != name and other.lower() == name.lower()]
        if alike:
            raise FormatError(
                f"{scan.name} has the columns {alike[0]!r} and {name!r}, which DuckDB takes for the"
                " same. Rename one, or use the engine polars"
            )


def _watched(base: Any, copy: str, progress: Callable[[int, int | None], None]) -> int:
    """Run the query in a thread, and report its progress in percent."""
    done = threading.Event()
    outcome: list[Any] = []

    def work() -> None:
        try:
            outcome.append(base.execute(copy).fetchall()[0][0])
        except BaseException as error:
            outcome.append(error)
        finally:
            done.set()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        while not done.wait(0.1):
            progress(max(0, int(base.query_progress())), 100)
    except BaseException:  # such as Ctrl-C
        base.interrupt()
        thread.join()
        raise
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return int(outcome[0])
