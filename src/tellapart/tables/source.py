"""The one place that opens a table: files of any kind, folders, addresses, databases.

`open_source` gives a frame with typed columns, and what was found on the way. Sources of texts (CSV
files and spreadsheets) are read as texts first; `text_columns` then says what each column holds.
"""

from __future__ import annotations

import glob
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tellapart.errors import FormatError, ParameterError
from tellapart.features.tree import Type
from tellapart.tables import typed_columns
from tellapart.tables.csv_files import CsvFile
from tellapart.tables.databases import is_database, read_query, without_password
from tellapart.tables.files import Place, TableFile, find_files, in_plain_files, is_url
from tellapart.tables.findings import Finding
from tellapart.tables.frames import first_line, no_column
from tellapart.tables.json_files import read_json, read_jsonl
from tellapart.tables.options import OF_CSV, OF_SPREADSHEETS, ReadOptions
from tellapart.tables.spreadsheets import Spreadsheet
from tellapart.tables.text_columns import ColumnReader, decide, hints, misfit
from tellapart.tables.text_findings import header_findings, name_findings, row_findings
from tellapart.tables.value_findings import value_findings

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Opened:
    """A table that was opened."""

    frame: pl.DataFrame | pl.LazyFrame
    name: str
    findings: list[Finding] = field(default_factory=list)
    whole: int | None = None
    """How many rows there are in all, if these are a sample."""
    texts: bool = False
    """Whether all cells were texts, and were looked at."""


class Texts(Protocol):
    """A source whose cells are texts."""

    name: str
    separator: str
    header: list[str]
    findings: list[Finding]

    def read(self) -> pl.DataFrame:
        """All cells."""

    def find(self, name: str, odd: Callable[[pl.Series], pl.Series]) -> tuple[str, str] | None:
        """The place of the first odd cell of a column, and the cell."""


def name_of(place: Place) -> str:
    """What messages call a source."""
    if isinstance(place, str | Path):
        if is_database(place) or is_url(place):
            return without_password(str(place))
        return "standard input" if str(place) == "-" else Path(place).name
    return f"{Path(next(iter(place), '')).name} and others"


def remembered(place: Place) -> Any:
    """A place as a session writes it down: found again from any folder, and without a password."""
    if not isinstance(place, str | Path):
        return [remembered(one) for one in place]
    text = str(place)
    if text == "-":
        raise ParameterError("a session reads its table again: save standard input to a file first")
    if is_database(place):
        scheme, _, file = text.partition(":")
        if scheme in ("duckdb", "sqlite"):
            return f"{scheme}:{Path(file.removeprefix('//')).absolute()}"
        return without_password(text)
    return text if is_url(text) else str(Path(place).absolute())


def is_gone(place: Any) -> bool:
    """Whether a file that was remembered is not there any more."""
    if isinstance(place, list):
        return any(map(is_gone, place))
    if is_database(place) or is_url(place) or glob.has_magic(place):
        return False
    return not Path(place).exists()


def open_source(place: Place, options: ReadOptions) -> Opened:
    """The table in a place."""
    name = name_of(place)
    if is_database(place):
        options.refuse(name, "query")
        frame, findings = read_query(str(place), options.query)
        return _sampled(Opened(_as_asked(frame, name, options, findings), name, findings), options)
    files = find_files(place)
    if all(file.kind in ("parquet", "ipc") and file.packed is None for file in files):
        options.refuse(name)
        found: list[Finding] = []
        lazy = _as_asked(scan_typed(files), name, options, found)
        return _sampled(Opened(lazy, name, found), options)
    with in_plain_files(files) as plain:
        kinds = {file.kind for file in plain}
        kind = kinds.pop()
        if kind in ("csv", "excel"):
            return _texts(plain, kind, name, options)
        options.refuse(name)
        findings = []
        made: list[pl.DataFrame] = []
        for file in plain:
            path = Path(file.path)
            if kind in ("jsonl", "json"):
                one = read_jsonl(path) if kind == "jsonl" else read_json(path)
            else:
                one = scan_typed([replace(file, partitions=())]).collect()
            made.append(_partitioned(one, file))
        frame = _as_asked(_joined(made, plain), name, options, findings)
        return _sampled(Opened(frame, name, findings), options)


# -- texts


def _texts(files: Sequence[TableFile], kind: str, name: str, options: ReadOptions) -> Opened:
    options.refuse(name, *(OF_CSV if kind == "csv" else OF_SPREADSHEETS))
    make = CsvFile if kind == "csv" else Spreadsheet
    sources: list[Texts] = [make(Path(file.path), options) for file in files]
    check_headers(sources)
    if options.sample is not None and kind == "csv":
        frame, whole = _sampled_texts(sources, files, options)
    else:
        frame = _joined(
            [_partitioned(one.read(), file) for one, file in zip(sources, files, strict=True)],
            files,
        )
        whole = None
    alike = {(f.column, f.what): f for one in sources for f in one.findings}
    findings = list(alike.values())
    typed = read_texts(frame, options, sources, findings)
    opened = Opened(typed, name, findings, whole, texts=True)
    return opened if whole is not None else _sampled(opened, options)


def check_headers(sources: Sequence[Texts]) -> None:
    """Raise unless all files have the same columns."""
    first = sources[0]
    for other in sources[1:]:
        odd = [n for n in {**dict.fromkeys(first.header), **dict.fromkeys(other.header)}
               if (n in first.header) != (n in other.header)]  # fmt: skip
        if odd:
            where, without = (first, other) if odd[0] in first.header else (other, first)
            raise FormatError(
                f"{where.name} has a column {odd[0]!r} and {without.name} has none. Files of one"
                " table have the same columns"
            )


def read_texts(
    frame: pl.DataFrame, options: ReadOptions, sources: Sequence[Texts], findings: list[Finding]
) -> pl.DataFrame:
    """Columns of texts as what they hold; what was found is added to `findings`."""
    wanted = options.wanted
    unknown = [name for name in wanted if name not in frame.columns]
    name = sources[0].name
    if unknown:
        raise FormatError(
            f"{name} has no column {unknown[0]!r} to give a type to. Columns:"
            f" {', '.join(frame.columns[:30])}{', ...' if frame.width > 30 else ''}"
        )
    hint = hints(frame.get_columns(), options, sources[0].separator)
    made = []
    for column in frame.get_columns():
        told = wanted.get(column.name)
        reader, found = decide(column, options, told, hint)
        made.append(_values(column, reader, sources, options, told=told is not None))
        findings += found
    import polars as pl

    typed = pl.DataFrame(made)

    def unknown_words(name: str, values: Sequence[Any]) -> dict[str, Any]:
        cells = typed[name].dt.date() if typed[name].dtype.is_temporal() else typed[name]
        meant = cells.is_in(pl.Series(values, dtype=cells.dtype).to_list())
        return {"nulls": frame[name].filter(meant).unique().sort().to_list()[:5]}

    findings += value_findings(typed.drop(list(wanted)).lazy(), unknown_words)
    if options.header != 0:
        findings += header_findings(frame.select(n for n in sources[0].header if n in frame))
    findings += [*row_findings(frame), *name_findings(frame.columns)]
    return typed


def _values(
    column: pl.Series,
    reader: ColumnReader,
    sources: Sequence[Texts],
    options: ReadOptions,
    *,
    told: bool,
) -> pl.Series:
    if reader.kind is Type.TEXT and not reader.clock:
        return column
    values = reader.values(column)
    if values.null_count() > column.null_count() and (odd := reader.odd(column)).any():
        raise_misfit(column.name, reader, sources, options, told=told)
        cell = column.filter(odd)[0]  # of a folder's name
        raise misfit(sources[0].name, column.name, cell, reader, told=told, options=options)
    return values


def raise_misfit(
    name: str,
    reader: ColumnReader,
    sources: Sequence[Texts],
    options: ReadOptions,
    *,
    told: bool,
) -> None:
    """Raise for the first cell of a column that its reader cannot read, if there is one."""
    for source in sources:
        found = source.find(name, reader.odd) if name in source.header else None
        if found is not None:
            where, cell = found
            raise misfit(where, name, cell, reader, told=told, options=options)


def _sampled_texts(
    sources: Sequence[Any], files: Sequence[TableFile], options: ReadOptions
) -> tuple[pl.DataFrame, int | None]:
    """A sample of CSV files, which are gone through but not kept."""
    import polars as pl

    parts = []
    for source, file in zip(sources, files, strict=True):
        frame = source.scan()
        try:
            ends = frame.select(pl.col(source.header[-1], source.header[0]).is_null().any())
            short = ends.collect(engine="streaming")
        except pl.exceptions.PolarsError as error:
            source.explain(error)
        if short.row(0)[0] and source.ragged():
            source.check_lengths()
        if all(short.row(0)) and source.gaps():
            frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
        head = frame.head(10_000).collect()
        source.look_at(head)
        parts.append(
            frame.select(sources[0].header).with_columns(
                pl.lit(value).alias(key) for key, value in file.partitions
            )
        )
    opened = _sampled(Opened(pl.concat(parts), ""), options)
    frame = opened.frame
    return (frame.collect() if isinstance(frame, pl.LazyFrame) else frame), opened.whole


# -- typed columns


def scan_typed(files: Sequence[TableFile]) -> pl.LazyFrame:
    """Parquet or Arrow IPC files."""
    import polars as pl

    kind = files[0].kind
    name = {"parquet": "Parquet", "ipc": "Arrow IPC"}[kind]
    scan = pl.scan_parquet if kind == "parquet" else pl.scan_ipc
    _check_schemas(files, scan)
    try:
        paths = [file.path for file in files]
        hive = any(file.partitions for file in files)
        frame = scan(paths if len(paths) > 1 else paths[0], hive_partitioning=hive, glob=False)
        frame.collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        what = f"is no {name} file" if len(files) == 1 else "cannot be read with the others"
        if is_url(files[0].path):
            what = "cannot be read"
        said = first_line(error).partition(": Error performing")[0]
        raise FormatError(f"{files[0].name} {what}: {said}") from error
    except Exception as error:  # of an object store
        raise FormatError(f"{files[0].path}: cannot be read: {first_line(error)}") from error
    return frame


def _check_schemas(files: Sequence[TableFile], scan: Callable[..., pl.LazyFrame]) -> None:
    """Raise unless all files have the same columns, with the same types."""
    import polars as pl

    first: dict[str, Any] = {}
    for file in files if len(files) > 1 else ():
        try:
            found = dict(scan(file.path, glob=False, hive_partitioning=False).collect_schema())
        except (pl.exceptions.PolarsError, OSError):  # reading it says what is wrong
            return
        first = first or found
        for column in {**first, **found}:
            here, there = found.get(column), first.get(column)
            if here != there:
                kinds = [f"holds {one}" if one else "is missing" for one in (here, there)]
                raise FormatError(
                    f"{file.name}: column {column!r} {kinds[0]} here and {kinds[1]} in"
                    f" {files[0].name}. Make it the same everywhere"
                )


def _as_asked(frame: Any, name: str, options: ReadOptions, findings: list[Finding]) -> Any:
    """Columns that features can read, with the types that were asked for."""
    import polars as pl

    lazy, found = typed_columns.readable(frame.lazy())
    findings += found
    schema = lazy.collect_schema()
    changes: list[pl.Expr] = []
    for column, kind in options.wanted.items():
        if column not in schema:
            raise no_column(name, column, list(schema), " to give a type to")
        cells = lazy.select(pl.col(column).cast(pl.String, strict=False)).collect().to_series()
        reader, _ = decide(cells, options, kind)
        odd = reader.odd(cells)
        if odd.any():
            place = int(odd.arg_max() or 0)
            raise misfit(
                f"{name} row {place}",
                column,
                cells[place],
                reader,
                told=True,
                options=options,
                csv=False,
            )
        if from_type(schema[column]) is not kind:
            changes.append(reader.read(pl.col(column).cast(pl.String)).alias(column))
    if changes:
        lazy = lazy.with_columns(changes)
    return lazy if isinstance(frame, pl.LazyFrame) else lazy.collect()


def from_type(dtype: Any) -> Type | None:
    """Our type for one of Polars."""
    from tellapart.features.to_polars import from_dtype

    return from_dtype(dtype)


def _partitioned(frame: pl.DataFrame, file: TableFile) -> pl.DataFrame:
    import polars as pl

    return frame.with_columns(pl.lit(value).alias(key) for key, value in file.partitions)


def _joined(frames: Sequence[pl.DataFrame], files: Sequence[TableFile]) -> pl.DataFrame:
    """Several files as one table; columns are found by their names."""
    import polars as pl

    if len(frames) == 1:
        return frames[0]
    kinds: dict[str, tuple[Any, str]] = {}
    for frame, file in zip(frames, files, strict=True):
        for column, dtype in frame.schema.items():
            if dtype == pl.Null:
                continue
            before, there = kinds.setdefault(column, (dtype, file.name))
            if (before == pl.String) != (dtype == pl.String):
                raise FormatError(
                    f"{file.name}: {column!r} holds {dtype} here but {before} in {there}. Make it"
                    " the same everywhere"
                )
    try:
        return pl.concat(frames, how="diagonal_relaxed")
    except pl.exceptions.PolarsError as error:
        raise FormatError(
            f"{files[0].name} and the others do not make one table: {first_line(error)}"
        ) from error


# -- a sample


def _sampled(opened: Opened, options: ReadOptions) -> Opened:
    """A random sample of the rows, in their order, if one was asked for."""
    import polars as pl

    if options.sample is None:
        return opened
    frame = opened.frame.lazy()
    try:
        whole = int(frame.select(pl.len()).collect(engine="streaming").item())
        if whole <= options.sample:
            return opened
        chosen = np.random.default_rng(options.sample_seed).choice(
            whole, options.sample, replace=False
        )
        rows = pl.Series(np.sort(chosen), dtype=pl.UInt32)
        numbered = frame.with_row_index("row of the whole")
        picked = numbered.filter(pl.col("row of the whole").is_in(rows.implode()))
        found = picked.collect(engine="streaming").sort("row of the whole").drop("row of the whole")
    except pl.exceptions.PolarsError as error:
        raise FormatError(f"{opened.name} cannot be read: {first_line(error)}") from error
    return replace(opened, frame=found, whole=whole)


def without_new(opened: Opened, columns: Mapping[str, str]) -> Opened:
    """The table without columns that an older version could not read, unless they are known."""
    names = opened.frame.lazy().collect_schema().names()
    new = {
        f.column
        for f in opened.findings
        if f.what.startswith(typed_columns.CHANGED) and f.column is not None
    }
    left = [
        name
        for name in names
        if name not in columns and any(name == n or name.startswith(f"{n}.") for n in new)
    ]
    return replace(opened, frame=opened.frame.drop(left)) if left else opened
