"""One way into a table: files of any kind, folders, addresses, frames and queries.

`open_source` gives a `Source`: columns with types, lazily, or files of texts. `Table` reads all of
it (`Source.table`); `predict` streams the columns that a model wants (`wanted_columns`). Cells of
CSV files and spreadsheets are texts at first; `columns` then says what they hold. A limit on what
strangers send (bytes after unpacking, rows, nesting) belongs into `open_source`: everything comes
in there.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn, Protocol

import numpy as np
import polars as pl

from tellapart.errors import FormatError, ParameterError
from tellapart.features.to_polars import from_dtype
from tellapart.features.tree import Type
from tellapart.tables.cell_formats import NUMBERS, ONLY_COMMA
from tellapart.tables.columns import LOOK, ColumnReader, decide, hints, order_of_dates
from tellapart.tables.csv_files import CsvFile, in_utf8
from tellapart.tables.databases import is_database, read_query, without_password
from tellapart.tables.files import Place, TableFile, find_files, in_plain_files, is_url
from tellapart.tables.findings import Finding
from tellapart.tables.frames import BROKEN, first_line, no_column, to_lazy
from tellapart.tables.json_files import (
    as_text,
    objects_in_lines,
    read_json,
    read_json_lines,
)
from tellapart.tables.odd_cells import (
    header_findings,
    value_findings,
)
from tellapart.tables.options import OF_CSV, OF_SPREADSHEETS, ReadOptions
from tellapart.tables.spreadsheets import Spreadsheet
from tellapart.tables.typed_columns import readable


class TextFile(Protocol):
    """A file whose cells are texts."""

    name: str
    separator: str
    header: list[str]
    findings: list[Finding]

    def checked(self, sample: bool = False) -> pl.LazyFrame:
        """All cells."""

    def places(self, name: str) -> Iterator[tuple[str, str]]:
        """Where each cell of a column is, and the cell."""


# -- places


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


@contextmanager
def open_source(place: Place, options: ReadOptions, folder: Path | None = None) -> Iterator[Source]:
    """What is in a place. Files are unpacked, fetched or rewritten into `folder` for the time."""
    name = name_of(place)
    if is_database(place):
        options.refuse(name, "query")
        frame, findings = read_query(str(place), options.query, options.bounds)
        yield Source(name, options, "frame", frame.lazy(), findings=findings)
        return
    files = find_files(place)
    if all(file.kind in ("parquet", "ipc") and file.packed is None for file in files):
        options.refuse(name)
        yield Source(name, options, files[0].kind, _scan_typed(files), files)
        return
    with ExitStack() as stack:
        files = stack.enter_context(in_plain_files(files, options.bounds, folder))
        kind = files[0].kind
        if kind in ("csv", "excel"):
            options.refuse(name, *(OF_CSV if kind == "csv" else OF_SPREADSHEETS))
            yield Source(
                name, options, kind, files=files, texts=_texts(files, options, stack, folder)
            )
        else:
            options.refuse(name)
            yield Source(name, options, kind, files=files)


def frame_source(data: Any, name: str) -> Source:
    """A frame of any library."""
    frame, _, in_memory = to_lazy(data, name)
    return Source(name, ReadOptions(), "frame" if in_memory else "lazy", frame)


def _texts(
    files: Sequence[TableFile], options: ReadOptions, stack: ExitStack, folder: Path | None
) -> list[TextFile]:
    made: list[TextFile] = []
    for file in files:
        path = Path(file.path)
        if file.kind == "csv":
            path = stack.enter_context(in_utf8(path, options.encoding, folder))
            made.append(CsvFile(path, options))
        else:
            made.append(Spreadsheet(path, options))
    first = made[0]
    for other in made[1:]:
        odd = [n for n in {**dict.fromkeys(first.header), **dict.fromkeys(other.header)}
               if (n in first.header) != (n in other.header)]  # fmt: skip
        if odd:
            where, without = (first, other) if odd[0] in first.header else (other, first)
            raise FormatError(
                f"{where.name} has a column {odd[0]!r} and {without.name} has none. Files of one"
                " table have the same columns"
            )
    return made


@dataclass
class Opened:
    """What a table is made of."""

    frame: pl.DataFrame | pl.LazyFrame
    """Lazy if it is read column by column, when a feature first asks."""
    findings: list[Finding]
    name: str
    whole: int | None = None
    """How many rows there are in all, if these are a sample."""
    looked: bool = False
    """Whether all cells were looked at."""
    dates: str | None = None
    """Day first or month first: how the dates of all columns were read that leave it open."""
    has_options: bool = True
    """Whether arguments of `read_table` change how it is read."""


@dataclass
class Source:
    """Rows somewhere: lazy columns with types, or files of texts."""

    name: str
    options: ReadOptions
    kind: str
    """csv, excel, json, jsonl, parquet, ipc, frame, or lazy: a frame to be read later."""
    frame: pl.LazyFrame | None = None
    files: Sequence[TableFile] = ()
    texts: Sequence[TextFile] = ()
    findings: list[Finding] = field(default_factory=list)

    @property
    def is_json(self) -> bool:
        """Whether it has texts, numbers and no dates."""
        return self.kind in ("json", "jsonl")

    @property
    def separator(self) -> str:
        """What stands between cells of texts."""
        return self.texts[0].separator if self.texts else ""

    def table(self) -> Opened:
        """All columns, with the types that they have or that were asked for."""
        try:
            if self.texts:
                return self._typed_texts()
            by_column = self.frame is not None and self.kind in ("parquet", "ipc", "lazy")
            frame = self.readable()
            for column, kind in self.options.wanted.items():
                frame = self._as_asked(frame, column, kind)
            opened = self._sampled(frame)
            return opened if by_column else replace(opened, frame=opened.frame.lazy().collect())
        except BROKEN as error:
            self.explain(error)

    def readable(self, **of_lines: Any) -> pl.LazyFrame:
        """Columns that have a type, as features can read them; see `read_json_lines`."""
        if self.frame is None:
            parts = []
            for file in self.files:
                path, bounds = Path(file.path), self.options.bounds
                if self.kind == "jsonl":
                    one, found = read_json_lines(path, bounds, **of_lines)
                elif self.kind == "json":
                    one, found = read_json(path, bounds)
                else:
                    one, found = _scan_typed([replace(file, partitions=())]), []
                parts.append(_partitioned(one, file))
                self.findings += found
            self.frame = _joined(parts, self.files)
        frame, found = readable(self.frame)
        self.findings += found
        return frame

    def cells(
        self,
        dtypes: dict[str, Any] | None = None,
        *,
        later: bool = False,
        without_gaps: bool = False,
    ) -> pl.LazyFrame:
        """The cells of files of texts; `later`: CSV files are not checked before they are read,
        some columns have `dtypes`, and rows without any cell are left out if so wanted."""
        parts = []
        for one, file in zip(self.texts, self.files, strict=True):
            if later and isinstance(one, CsvFile):
                part = one.scan(dtypes).select(one.header)
                empty = pl.all_horizontal(pl.col(one.header).is_null())
                part = part.filter(~empty) if without_gaps else part
            else:
                part = one.checked(self.options.sample is not None)
            parts.append(_partitioned(part, file))
        return parts[0] if len(parts) == 1 else pl.concat(parts, how="diagonal")

    # -- what is wrong

    def explain(self, error: BaseException) -> NoReturn:
        """Say what is wrong, after reading has failed."""
        self.check()
        raise FormatError(f"{self.name} cannot be read: {first_line(error)}") from error

    def check(self) -> None:
        """Raise if something is wrong with a file that can be named."""
        for one in self.texts:
            if isinstance(one, CsvFile):
                one.check()
        for file in self.files if self.kind == "jsonl" else ():
            for _ in objects_in_lines(Path(file.path)):
                pass

    def places(self, name: str) -> Iterator[tuple[str, str | None]]:
        """Where each cell of a column is, and the cell as a text."""
        for one in self.texts:
            for where, cell in one.places(name) if name in one.header else ():
                yield f"{one.name} {where}", cell
        if self.kind == "jsonl":
            for file in self.files:
                for where, found in objects_in_lines(Path(file.path)):
                    yield f"{file.name} {where}", as_text(found.get(name))
        elif self.frame is not None:
            cells = self.frame.select(name).collect().to_series()
            for row, cell in enumerate(cells.cast(pl.String, strict=False)):
                yield f"{self.name} row {row}", cell

    def raise_misfit(self, name: str, reader: ColumnReader, *, told: bool) -> None:
        """Raise for the first cell of a column that its reader cannot read, if there is one."""
        unknown, places = ("", None, *self.options.nulls), self.places(name)
        while block := list(islice(places, LOOK)):
            known = [(where, cell) for where, cell in block if cell not in unknown]
            odd = reader.odd(pl.Series([cell for _, cell in known], dtype=pl.String))
            if odd.any():
                where, cell = known[int(odd.arg_max() or 0)]
                raise self._misfit(where, name, str(cell), reader, told=told)

    def _misfit(
        self, where: str, name: str, cell: str, reader: ColumnReader, *, told: bool
    ) -> FormatError:
        """The error for a cell that is not what its column holds."""
        what = f"{where}, column {name!r}: {cell[:40]!r}"
        advice: dict[str, Any] = {}
        mark = reader.style.decimal if reader.kind.numeric else ""
        if mark == "." and re.match(ONLY_COMMA, cell) and self.options.decimal is None:
            what += " has a decimal comma, and numbers are read with a point. Replace the commas"
            what += ", or pass {decimal}"
            advice["decimal"] = ","
        elif mark == "," and re.match(r"\s*[-+]?\d+\.\d+\s*$", cell):
            what += " has a decimal point, and numbers are read with a decimal comma."
            what += " Replace the points"
        else:
            why = "which the column is to hold" if told else "but other cells of the column are"
            what += f" is no {reader.word}, {why}. Fix the cell; or, if it means unknown, leave it"
            what += " empty or pass {nulls}" if self.texts else " empty"
            advice["nulls"] = [cell[:40]]
            if cell.startswith("#") and self.texts and self.options.comment is None:
                what += "; or, if the line is a comment, pass {comment}"
                advice["comment"] = "#"
            if reader.kind is Type.BOOL:
                what += "; or, if it means true or false, pass {true} or {false}"
                advice |= {"true": [cell[:40]], "false": [cell[:40]]}
            elif reader.form == NUMBERS and re.match(r"\s*\d{1,2}[-/.]\d{1,2}[-/.]", cell):
                what += "; or pass {dates}"
                advice["dates"] = "day-first" if reader.month_first else "month-first"
        if not told:
            what += "; or pass {types}"
            advice["types"] = {name: "text"}
        return FormatError(what, **advice)

    # -- columns with types

    def _as_asked(self, frame: pl.LazyFrame, column: str, kind: Type) -> pl.LazyFrame:
        schema = frame.collect_schema()
        if column not in schema:
            raise no_column(self.name, column, list(schema), " to give a type to")
        if from_dtype(schema[column]) is kind:
            return frame
        cells = frame.select(pl.col(column).cast(pl.String, strict=False)).collect().to_series()
        reader, _ = decide(cells, self.options, kind)
        odd = reader.odd(cells)
        if odd.any():
            place = int(odd.arg_max() or 0)
            raise self._misfit(f"{self.name} row {place}", column, cells[place], reader, told=True)
        return frame.with_columns(reader.read(pl.col(column).cast(pl.String)).alias(column))

    def _typed_texts(self) -> Opened:
        """Columns of texts as what they hold."""
        whole, cells = None, self.cells()
        if self.options.sample is not None:
            taken = self._sampled(cells)
            cells, whole = taken.frame.lazy(), taken.whole
        frame = cells.collect()
        alike = {(f.column, f.code): f for one in self.texts for f in one.findings}
        findings = list(alike.values())
        wanted = self.options.wanted
        for name in wanted:
            if name not in frame.columns:
                raise no_column(self.texts[0].name, name, frame.columns, " to give a type to")
        hint = hints(frame.get_columns(), self.options, self.separator)
        made, readers = [], []
        for column in frame.get_columns():
            told = wanted.get(column.name)
            reader, found = decide(column, self.options, told, hint)
            readers.append(reader)
            made.append(self._values(column, reader, told=told is not None))
            findings += found
        typed = pl.DataFrame(made)

        def unknown_words(name: str, values: Sequence[Any]) -> dict[str, Any]:
            cells = typed[name].dt.date() if typed[name].dtype.is_temporal() else typed[name]
            meant = cells.is_in(pl.Series(values, dtype=cells.dtype).to_list())
            return {"nulls": frame[name].filter(meant).unique().sort().to_list()[:5]}

        findings += value_findings(typed.drop(list(wanted)).lazy(), unknown_words)
        if self.options.header != 0:
            header = self.texts[0].header
            findings += header_findings(frame.select(n for n in header if n in frame))
        dates = order_of_dates(readers)
        return Opened(typed, findings, self.name, whole, looked=True, dates=dates)

    def _values(self, column: pl.Series, reader: ColumnReader, *, told: bool) -> pl.Series:
        if reader.kind is Type.TEXT and not reader.clock:
            return column
        values = reader.values(column)
        if values.null_count() > column.null_count() and (odd := reader.odd(column)).any():
            self.raise_misfit(column.name, reader, told=told)
            cell = column.filter(odd)[0]  # of a folder's name
            raise self._misfit(self.texts[0].name, column.name, cell, reader, told=told)
        return values

    def _sampled(self, frame: pl.LazyFrame) -> Opened:
        """A random sample of the rows, in their order, if one was asked for."""
        size, opened = self.options.sample, Opened(frame, self.findings, self.name)
        if size is None:
            return opened
        whole = int(frame.select(pl.len()).collect(engine="streaming").item())
        if whole <= size:
            return opened
        chance = np.random.default_rng(self.options.sample_seed)
        chosen = np.sort(chance.choice(whole, size, replace=False))
        rows = pl.Series(chosen, dtype=pl.UInt32).implode()
        numbered = frame.with_row_index("row of the whole")
        picked = numbered.filter(pl.col("row of the whole").is_in(rows))
        found = picked.collect(engine="streaming").sort("row of the whole")
        return replace(opened, frame=found.drop("row of the whole"), whole=whole)


def without_new(opened: Opened, columns: Mapping[str, str]) -> Opened:
    """The table without columns that an older version could not read, unless they are known."""
    codes = ("converted", "clocks")
    new = tuple(f"{f.column}." for f in opened.findings if f.code in codes)
    names = opened.frame.collect_schema().names()
    left = [n for n in names if n not in columns and f"{n}.".startswith(new)]
    return replace(opened, frame=opened.frame.drop(left))


# -- files with types


def _scan_typed(files: Sequence[TableFile]) -> pl.LazyFrame:
    """Parquet or Arrow IPC files."""
    kind = files[0].kind
    name = {"parquet": "Parquet", "ipc": "Arrow IPC"}[kind]
    scan = pl.scan_parquet if kind == "parquet" else pl.scan_ipc
    _check_schemas(files, scan)
    try:
        paths = [file.path for file in files]
        hive = any(file.partitions for file in files)
        frame = scan(paths if len(paths) > 1 else paths[0], hive_partitioning=hive, glob=False)
        frame.collect_schema()
    except BROKEN as error:
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

    first: dict[str, Any] = {}
    for file in files if len(files) > 1 else ():
        try:
            found = dict(scan(file.path, glob=False, hive_partitioning=False).collect_schema())
        except BROKEN:  # reading it says what is wrong
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


def _partitioned(frame: pl.LazyFrame, file: TableFile) -> pl.LazyFrame:
    return frame.with_columns(pl.lit(value).alias(key) for key, value in file.partitions)


def _joined(frames: Sequence[pl.LazyFrame], files: Sequence[TableFile]) -> pl.LazyFrame:
    """Several files as one table; columns are found by their names."""
    if len(frames) == 1:
        return frames[0]
    kinds: dict[str, tuple[Any, str]] = {}
    for frame, file in zip(frames, files, strict=True):
        for column, dtype in frame.collect_schema().items():
            if dtype == pl.Null:
                continue
            before, there = kinds.setdefault(column, (dtype, file.name))
            if (before == pl.String) != (dtype == pl.String):
                raise FormatError(
                    f"{file.name}: {column!r} holds {dtype} here but {before} in {there}. Make it"
                    " the same everywhere"
                )
    made = pl.concat(frames, how="diagonal_relaxed")
    try:
        made.collect_schema()
    except pl.exceptions.PolarsError as error:
        raise FormatError(
            f"{files[0].name} and the others do not make one table: {first_line(error)}"
        ) from error
    return made
