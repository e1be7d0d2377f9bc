"""Prediction with Spark: it runs the exported SQL, on this machine or on a cluster.

Spark writes many Parquet files, which are then joined, in order, into the output file.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tellapart.engines.polars import sink
from tellapart.engines.predict import Job, check_plain
from tellapart.engines.sql_query import Query
from tellapart.errors import FormatError, MissingExtra, TellapartError
from tellapart.export.feature_trees import columns_of
from tellapart.features.tree import Type
from tellapart.model import DecisionList
from tellapart.tables import Scan
from tellapart.tables.frames import first_line, no_column
from tellapart.tables.text_findings import UNKNOWN_AMONG_VALUES

_TYPES = {
    Type.BOOL: "BOOLEAN",
    Type.INTEGER: "BIGINT",
    Type.NUMBER: "DOUBLE",
    Type.TEXT: "STRING",
    Type.DATE: "DATE",
    Type.DATETIME: "TIMESTAMP_NTZ",
}
_FROM_TEXT = {kind: f"CAST({{0}} AS {name})" for kind, name in _TYPES.items()} | {
    Type.BOOL: "CASE WHEN {0} IS NULL OR lower({0}) IN ('true', 'false') THEN lower({0}) = 'true'"
    " ELSE raise_error(concat('tellapart: ', {0}, ' does not fit')) END",
    Type.DATE: "CASE WHEN {0} IS NULL OR {0} RLIKE '^ *[0-9]+-[0-9]+-[0-9]+$' THEN"
    " CAST({0} AS DATE) ELSE raise_error(concat('tellapart: ', {0}, ' does not fit')) END",
    Type.DATETIME: "CAST(CAST({0} AS TIMESTAMP) AS TIMESTAMP_NTZ)",
    Type.INTEGER: "CAST(regexp_replace({0}, '[.]0*$', '') AS BIGINT)",
}
"""A text as a value of a type, or an error."""
_WHOLE = (
    "CASE WHEN {0} IS NULL OR isnan({0}) THEN NULL WHEN {0} = floor({0}) THEN CAST({0} AS BIGINT)"
    " ELSE raise_error(concat('tellapart: ', {0}, ' does not fit')) END"
)
"""A whole float as an integer, or an error."""

_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "true",
    "spark.sql.csv.parser.columnPruning.enabled": "false",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}
"""What a session needs, so that values are read as everywhere else."""


def session(master: str | None = None, more: Mapping[str, str] | None = None) -> Any:
    """A Spark session: on this machine ("local[*]"), or on the cluster that `master` names.

    Times are read in UTC, and names of columns as they are written.
    """
    SparkSession = _spark_session()
    local = master is None or master.startswith("local")
    if local and shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise TellapartError("the engine spark needs Java 17 or later: install it (a JRE will do)")
    settings = {
        **_SETTINGS,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "FATAL",
    }
    if local:  # no other machine connects
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    builder = SparkSession.builder.appName("tellapart").master(master or "local[*]")
    for name, value in {**settings, **(more or {})}.items():
        builder = builder.config(name, value)
    try:
        with _quiet():
            return builder.getOrCreate()
    except Exception as error:  # of Python, of the gateway, or of Java
        raise TellapartError(f"Spark does not start: {_cause(error)}") from error


def _cause(error: BaseException) -> str:
    """The exception of Java; the first line only says that there was one."""
    lines = str(error).strip().splitlines()
    said = [line.strip(": ") for line in lines[1:] if "xception: " in line]
    return said[-1] if said else first_line(error)


def _spark_session() -> Any:
    try:
        with warnings.catch_warnings():  # about versions of pandas, which we do not use
            warnings.simplefilter("ignore")
            from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra("The engine spark", "spark") from None
    return SparkSession


@contextmanager
def _quiet() -> Iterator[None]:
    """Discard what Java, which inherits it, prints on stderr."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            os.dup2(nowhere.fileno(), 2)
            yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def run(job: Job) -> int:
    """Do the job; returns how many rows there were."""
    scan, out = job.scan, job.out
    check_plain(scan, "spark")
    if scan.kind == "ipc":
        raise FormatError(
            f"{scan.name}: Spark cannot read Arrow files. Save it as Parquet, or use the engine"
            " polars"
        )
    query = Query("spark", scan.types)
    with _running(job.master) as spark, tempfile.TemporaryDirectory(dir=out.parent) as folder:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        parts = Path(folder, "parts")
        try:
            cleaned, kept = _read(spark, scan, job.keep, query)
            select = query.select(job.model, job.names, "tellapart_items", cleaned, kept)
            spark.sql(select).write.parquet(str(parts))
        except (PySparkException, Py4JError) as error:
            scan.explain(error)
        finally:
            spark.catalog.dropTempView("tellapart_items")
        return _join(parts, out, job.kind)


def predict(
    model: DecisionList,
    frame: Any,
    keep: Sequence[str] | str,
    prefix: str,
    output_names: Callable[[Sequence[str], str], list[str]],
) -> Any:
    """The answers for a Spark DataFrame, as a lazy DataFrame.

    Times with a zone are read in the zone of the session.
    """
    spark, columns = frame.sparkSession, list(frame.columns)
    wanted = columns_of(model)
    kept = columns if keep == "all" else list(keep)
    for name in [*wanted, *kept]:
        if name not in columns:
            raise no_column("the frame", name, columns)
    found = {field.name: _from_spark(field.dataType.typeName()) for field in frame.schema.fields}
    types, cleaned = {}, {}
    for name, kind in wanted.items():
        here = found[name]
        fits = kind in (None, here) or (here, kind) in (
            (Type.INTEGER, Type.NUMBER),
            (Type.NUMBER, Type.INTEGER),
            (Type.DATE, Type.DATETIME),
        )
        if here is None or not fits:
            raise FormatError(
                f"the frame: column {name!r} should hold {kind.value if kind else 'a value'}, but"
                f" holds {frame.schema[name].dataType.simpleString()}. Convert it"
            )
        types[name] = kind or here
    query = Query("spark", types)
    for name, kind in types.items():
        sql = query.name(name)
        if kind is Type.INTEGER and found[name] is Type.NUMBER:
            sql = _WHOLE.format(sql)
        cleaned[name] = f"CAST({sql} AS {_TYPES[kind]})"
    names = output_names(kept, prefix)
    view = f"tellapart_{uuid.uuid4().hex}"
    before = spark.conf.get("spark.sql.caseSensitive")
    frame.createOrReplaceTempView(view)
    try:
        spark.conf.set("spark.sql.caseSensitive", "true")
        written = [query.name(name) for name in kept]
        return spark.sql(query.select(model, names, view, cleaned, written))
    finally:
        spark.conf.set("spark.sql.caseSensitive", before)
        spark.catalog.dropTempView(view)


def _from_spark(name: str) -> Type | None:
    if name in ("byte", "short", "integer", "long"):
        return Type.INTEGER
    if name in ("float", "double") or name.startswith("decimal"):
        return Type.NUMBER
    if name in ("timestamp", "timestamp_ntz"):
        return Type.DATETIME
    return {"boolean": Type.BOOL, "string": Type.TEXT, "date": Type.DATE}.get(name)


@contextmanager
def _running(master: str | None) -> Iterator[Any]:
    """The active session, which gets its settings back; or our own, which ends with the work."""
    here = _spark_session().getActiveSession()
    if here is None:
        made = session(master)
        try:
            yield made
        finally:
            made.stop()
        return
    before = {name: here.conf.get(name, None) for name in _SETTINGS}
    try:
        for name, value in _SETTINGS.items():
            here.conf.set(name, value)
        yield here
    finally:
        for name, kept in before.items():
            if kept is None:
                here.conf.unset(name)
            else:
                here.conf.set(name, kept)


def _read(
    spark: Any, scan: Scan, keep: Sequence[str], query: Query
) -> tuple[dict[str, str], list[str]]:
    """Make the table a view. Returns the SQL of the model's columns, and that of those kept."""
    path = str(scan.path.absolute())
    names = {name: query.name(name) for name in [*scan.types, *keep]}
    if scan.kind == "csv":
        names = {name: f"c{place}" for place, name in enumerate(scan.columns)}
        options = {
            "header": True, "sep": scan.csvs[0].separator, "quote": '"', "escape": '"',
            "multiLine": True, "mode": "FAILFAST", "maxCharsPerColumn": -1,
            "emptyValue": "", "nullValue": "\0",  # an empty cell is null, a quoted one is not
        }  # fmt: skip
        schema = ", ".join(f"{name} STRING" for name in names.values())
        frame = spark.read.options(**options).schema(schema).csv(path)
        unknown = ", ".join(query.text(word) for word in scan.options.nulls)
        known = f"CASE WHEN {{0}} NOT IN ({unknown}) THEN {{0}} END" if unknown else "{0}"
        words = ", ".join(query.text(word) for word in UNKNOWN_AMONG_VALUES)
        value = f"CASE WHEN lower(trim({{0}})) NOT IN ({words}) THEN {{0}} END"
        cleaned = {}
        for name, kind in scan.types.items():
            cell = known.format(names[name])
            cell = cell if kind is Type.TEXT else value.format(cell)
            cleaned[name] = _FROM_TEXT[kind].format(cell)
    elif scan.kind == "jsonl":
        kinds = {name: _TYPES[scan.type_of(name) or Type.TEXT] for name in names}
        kinds |= dict.fromkeys(filter(scan.is_float, names), _TYPES[Type.NUMBER])
        schema = ", ".join(f"{names[name]} {kind}" for name, kind in kinds.items())
        frame = spark.read.schema(schema).option("mode", "FAILFAST").json(path)
        cleaned = {name: names[name] for name in scan.types}
        cleaned |= {n: _WHOLE.format(names[n]) for n in scan.types if scan.is_float(n)}
    else:
        frame = spark.read.parquet(path)
        cleaned = {
            name: f"CAST({names[name]} AS TIMESTAMP_NTZ)" if kind is Type.DATETIME else names[name]
            for name, kind in scan.types.items()
        }
        cleaned |= {n: f"CAST(NULL AS {_TYPES[k]})" for n, k in scan.types.items() if scan.blank(n)}
        cleaned |= {n: _WHOLE.format(names[n]) for n in scan.types if scan.is_float(n)}
    frame.createOrReplaceTempView("tellapart_items")
    return cleaned, [names[name] for name in keep]


def _join(parts: Path, out: Path, kind: str) -> int:
    import polars as pl

    files = sorted(parts.glob("part-*.parquet"))
    frame = pl.scan_parquet(files)
    sink(frame, out, kind)
    return int(frame.select(pl.len()).collect().item())
