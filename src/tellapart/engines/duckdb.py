"""Prediction with DuckDB: it runs the exported SQL over the file, out of core."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tellapart.engines.predict import Job, check_plain
from tellapart.engines.sql_query import Query
from tellapart.errors import FormatError, MissingExtra
from tellapart.features.tree import Type
from tellapart.tables import Scan

_MISFIT = "error('tellapart: ' || {0} || ' does not fit')"
_TYPES = {
    Type.BOOL: "BOOLEAN",
    Type.INTEGER: "BIGINT",
    Type.NUMBER: "DOUBLE",
    Type.TEXT: "VARCHAR",
    Type.DATE: "DATE",
    Type.DATETIME: "TIMESTAMP",
}
_FROM_TEXT = {
    Type.TEXT: "{0}",
    # DuckDB would round 5.7, and take 1_000 and 0x10
    Type.INTEGER: "CASE WHEN {0} IS NULL OR CAST(TRY_CAST({0} AS BIGINT) AS VARCHAR) = {0}"
    " OR regexp_full_match({0}, ' *[+-]?[0-9]+([.]0*)? *') THEN CAST({0} AS BIGINT) ELSE "
    + _MISFIT
    + " END",
    Type.NUMBER: "CASE WHEN contains({0}, '_') THEN " + _MISFIT + " ELSE CAST({0} AS DOUBLE) END",
    Type.BOOL: "CASE WHEN {0} IS NULL OR lower({0}) IN ('true', 'false')"
    " THEN lower({0}) = 'true' ELSE " + _MISFIT + " END",
    # DuckDB would drop the time of day
    Type.DATE: "CASE WHEN {0} IS NULL OR regexp_full_match({0}, ' *[0-9]+-[0-9]+-[0-9]+')"
    " THEN CAST({0} AS DATE) ELSE " + _MISFIT + " END",
    Type.DATETIME: "CAST(CAST({0} AS TIMESTAMPTZ) AS TIMESTAMP)",
}
"""A text as a value of a type, or an error."""
_WHOLE = "CASE WHEN {0} IS NULL OR isnan({0}) THEN NULL WHEN {0} = floor({0}) THEN CAST({0} AS"
_WHOLE += " BIGINT) ELSE " + _MISFIT.replace("{0}", "CAST({0} AS VARCHAR)") + " END"
"""A whole float as an integer, or an error."""
_JSON = "CASE WHEN {0} IS NULL OR json_type({0}) IN (%s) THEN %s ELSE " + _MISFIT + " END"
_FROM_JSON = {
    Type.TEXT: "({0} ->> '$')",
    Type.INTEGER: "CASE WHEN {0} IS NULL OR json_type({0}) IN ('BIGINT', 'UBIGINT')"
    " THEN CAST({0} AS BIGINT) WHEN json_type({0}) = 'DOUBLE' AND CAST({0} AS DOUBLE) ="
    " floor(CAST({0} AS DOUBLE)) THEN CAST(CAST({0} AS DOUBLE) AS BIGINT) ELSE " + _MISFIT + " END",
    Type.NUMBER: _JSON % ("'BIGINT', 'UBIGINT', 'DOUBLE'", "CAST({0} AS DOUBLE)"),
    Type.BOOL: _JSON % ("'BOOLEAN'", "CAST({0} AS BOOLEAN)"),
    Type.DATE: _JSON % ("'VARCHAR'", _FROM_TEXT[Type.DATE].replace("{0}", "({0} ->> '$')")),
    Type.DATETIME: _JSON % ("'VARCHAR'", "CAST(CAST({0} ->> '$' AS TIMESTAMPTZ) AS TIMESTAMP)"),
}
"""The same of a value of JSON."""


def run(job: Job) -> int:
    """Do the job; returns how many rows there were."""
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("The engine duckdb", "duckdb") from None
    scan, out = job.scan, job.out
    check_plain(scan, "duckdb")
    _refuse_equal_names(scan, job.keep)
    query = Query("duckdb", scan.types)
    with duckdb.connect() as base, tempfile.TemporaryDirectory(dir=out.parent) as spill:
        base.execute("SET TimeZone = 'UTC'")
        base.execute(f"SET temp_directory = {query.text(spill)}")
        source, cleaned, kept = _source(scan, job.keep, query, base)
        select = query.select(job, source, cleaned, kept)
        form = {"csv": "csv, HEADER", "jsonl": "json", "parquet": "parquet"}[job.kind]
        copy = f"COPY ({select}) TO {query.text(str(out))} (FORMAT {form})"
        try:
            return _watched(base, copy, job.progress)
        except duckdb.Error as error:
            scan.explain(error)


def _source(
    scan: Scan, keep: Sequence[str], query: Query, base: Any
) -> tuple[str, dict[str, str], list[str]]:
    """The table as DuckDB reads it; the SQL of the columns the model reads; that of those kept."""
    names = {name: query.name(name) for name in [*scan.types, *keep]}
    if scan.kind == "frame":
        base.register("arrow_file", scan.lazy_frame().collect().to_arrow())
        return "arrow_file", _typed(scan, names), [names[name] for name in keep]
    path = query.text(str(scan.path))
    if scan.kind == "csv":
        names = {name: f"c{place}" for place, name in enumerate(scan.columns)}
        columns = ", ".join(f"{name}: 'VARCHAR'" for name in names.values())
        source = (
            f"read_csv({path}, header = true, auto_detect = false,"
            f" delim = {query.text(scan.csvs[0].separator)}, quote = '\"', escape = '\"',"
            f" columns = {{{columns}}}, allow_quoted_nulls = false, max_line_size = 100000000)"
        )
        unknown = ", ".join(query.text(word) for word in scan.options.nulls)
        known = f"CASE WHEN {{0}} NOT IN ({unknown}) THEN {{0}} END" if unknown else "{0}"
        texts = {name: known.format(names[name]) for name in scan.types}
        cleaned = {name: _FROM_TEXT[kind].format(texts[name]) for name, kind in scan.types.items()}
        return source, cleaned, [names[name] for name in keep]
    if scan.kind == "jsonl":
        columns = ", ".join(f"{query.text(name)}: 'JSON'" for name in names)
        source = f"read_json({path}, format = 'newline_delimited', columns = {{{columns}}})"
        cleaned = {name: _FROM_JSON[kind].format(names[name]) for name, kind in scan.types.items()}
        kinds = {name: scan.type_of(name) for name in keep}
        kept = [_FROM_JSON[k].format(names[n]) if k else names[n] for n, k in kinds.items()]
        return source, cleaned, kept
    if scan.kind == "parquet":
        source = f"read_parquet({path})"
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
