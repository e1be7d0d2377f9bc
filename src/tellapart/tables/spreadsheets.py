"""Excel and OpenDocument files, through calamine: the cells of a sheet as texts."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO
from zipfile import BadZipFile, ZipFile, is_zipfile

import polars as pl

from tellapart.errors import FormatError, MissingExtra
from tellapart.tables.findings import Finding
from tellapart.tables.frames import check_header, check_names, first_line
from tellapart.tables.options import Limits, ReadOptions


class Spreadsheet:
    """One sheet of a file."""

    separator = ""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path, self.name, self.options = path, path.name, options
        self.findings: list[Finding] = []
        self.cells = self._load()
        self.first, self.header = self._names()
        self.rows = self._rows()

    def _load(self) -> pl.DataFrame:
        try:
            import fastexcel
        except ImportError:
            raise MissingExtra("Reading spreadsheets", "excel") from None
        _check_size(self.path, self.options.bounds)
        wanted = self.options.sheet
        chosen, frame = wanted, None
        try:
            book = fastexcel.read_excel(self.path)
            names = book.sheet_names
            for sheet in names if wanted is None else {wanted} & {*names}:
                loaded = book.load_sheet(sheet, header_row=None, skip_rows=0, dtypes="string")
                is_visible = loaded.visible == "visible"
                if loaded.height and loaded.width and (frame is None or is_visible):
                    chosen, frame = sheet, loaded.to_polars()
                    if is_visible:
                        break
        except BaseException as error:  # of calamine, which may also panic
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            raise FormatError(
                f"{self.name} is no spreadsheet: {first_line(error)}. If it is another kind of"
                " file, give it that ending, such as .csv"
            ) from error
        if wanted is not None and wanted not in names:
            raise FormatError(f"{self.name} has no sheet {wanted!r}. Sheets: {', '.join(names)}")
        if frame is None:
            what = f"sheet {chosen or names[0]!r} is empty" if names else "it has no sheet"
            raise FormatError(f"{self.name}: {what}")
        others = [sheet for sheet in names if sheet != chosen]
        if wanted is None and others:
            facts = {"count": len(names), "shown": ", ".join(names[:6]), "read": chosen}
            self.findings.append(Finding(None, "sheets", facts, {"sheet": others[0]}))
        return frame

    def _names(self) -> tuple[int, list[str]]:
        """The row where the data begin, from 0, and the names of the columns."""
        given = self.options.header
        if given == 0:
            return 0, [f"column_{n}" for n in range(1, self.cells.width + 1)]
        rows = enumerate(self.cells.head(30).iter_rows(), 1)
        counts = [(n, sum(bool((cell or "").strip()) for cell in row)) for n, row in rows]
        counts = [(n, count) for n, count in counts if count]
        if not counts and given is None:
            raise FormatError(
                f"{self.name}: no cell is filled in the first rows. If the names of the columns are"
                " below, pass {header}",
                header=self.cells.height,
            )
        line = given or counts[0][0]
        if line > self.cells.height:
            raise FormatError(f"{self.name} has no row {line}: it has {self.cells.height}")
        if given is None:
            check_header(f"{self.name} row {line}", "row", counts, "")
        cells = [(cell or "").strip() for cell in self.cells.row(line - 1)]
        names = [cell or f"column_{n}" for n, cell in enumerate(cells, 1)]
        check_names(names, self.name, f" row {line}")
        return line, names

    def _rows(self) -> pl.DataFrame:
        """What stands below the names of the columns; dates without a time, times without a day."""
        frame = self.cells.slice(self.first)
        frame.columns = self.header
        return frame.with_columns(map(_without_midnight, frame.get_columns()))

    def checked(self, sample: bool = False) -> pl.LazyFrame:
        """All cells as texts; `sample` is for files that need not be read whole."""
        unnamed = (name for name in self.header if name.startswith("column_"))
        empty = [n for n in unnamed if self.rows[n].null_count() == self.rows.height]
        frame = self.rows.lazy().drop(empty)  # formatted, but never filled
        frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
        unknown = ["", *self.options.nulls]
        return frame.with_columns(pl.when(~pl.all().is_in(unknown)).then(pl.all()))

    def places(self, name: str) -> Iterator[tuple[str, str]]:
        """Where each cell of a column is, and the cell."""
        for row, cell in enumerate(self.rows[name], self.first + 1):
            if cell is not None:
                yield f"row {row}", cell


def _without_midnight(cells: pl.Series) -> pl.Series:
    known = cells.drop_nulls()
    if len(known) and known.str.contains(r"^1899-12-3[01] [0-9:.]+$").all():
        return cells.str.slice(11)
    if len(known) and known.str.contains(r"^[0-9]{4}-[0-9]{2}-[0-9]{2} 00:00:00$").all():
        return cells.str.slice(0, 10)
    return cells


def _check_size(path: Path, limits: Limits) -> None:
    """Raise for an .xlsx file with a cell far from the others: calamine keeps room for all cells
    between them, and ends the process if there is not so much."""
    if not is_zipfile(path):
        return
    size = 0
    try:
        with ZipFile(path) as packed:
            for part in packed.infolist():
                limits.check(path.name, "bytes", size := size + part.file_size)
                with packed.open(part) as file:
                    limits.check(path.name, "cells", _cells(file))
    except (BadZipFile, OSError, EOFError, RuntimeError, zlib.error) as error:
        raise FormatError(f"{path.name} cannot be unpacked: {error}. Is it whole?") from error


def _cells(file: IO[bytes]) -> int:
    """How many cells there are from the first to the last of a sheet."""
    columns, rows, rest = 0, 0, b""
    while block := file.read(1 << 20):
        text, sign, rest = (rest + block).rpartition(b"<")
        rest = sign + rest
        for letters, digits in _PLACE.findall(text):
            columns, rows = max(columns, _column(letters)), max(rows, int(digits[:20]))
    return columns * rows


_PLACE = re.compile(rb"""<[^<>]*\sr\s*=\s*["']([A-Za-z]{0,9})([0-9]+)["'](?:[^<>]*[^</>])?>""")
"""Where a cell or a row with something in it stands: r="XFD1048576"."""


def _column(letters: bytes) -> int:
    """The number of a column, from 1: A is 1 and XFD is 16384."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - 64
    return number
