"""Excel and OpenDocument files, through calamine: the cells of a sheet as texts.

calamine does not tell which cells are merged, what is hidden, and whether formulas have values.
The file itself does, if it is an .xlsx or an .ods file.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile, is_zipfile

from tellapart.errors import FormatError, MissingExtra
from tellapart.features.phrasing import counted
from tellapart.tables.findings import Finding
from tellapart.tables.frames import check_header, check_names, first_line
from tellapart.tables.limits import Limits
from tellapart.tables.options import ReadOptions

if TYPE_CHECKING:
    import polars as pl


class Spreadsheet:
    """One sheet of a file."""

    separator = ""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path, self.name, self.options = path, path.name, options
        self.findings: list[Finding] = []
        self.cells = self._load()
        self.first, self.header = self._names()

    def _load(self) -> pl.DataFrame:
        try:
            import fastexcel
        except ImportError:
            raise MissingExtra("Reading spreadsheets", "excel") from None
        _check_size(self.path, self.options.bounds)
        wanted = self.options.sheet
        chosen, frame, errors = wanted, None, []
        try:
            book = fastexcel.read_excel(self.path)
            names = book.sheet_names
            for sheet in names if wanted is None else {wanted} & {*names}:
                loaded = book.load_sheet(sheet, header_row=None, skip_rows=0, dtypes="string")
                is_visible = loaded.visible == "visible"
                if loaded.height and loaded.width and (frame is None or is_visible):
                    chosen, frame, errors = sheet, loaded.to_polars(), _error_cells(loaded)
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
        self._errors, self._sheet = errors, names.index(chosen or "")
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

    def checked(self, sample: bool = False) -> pl.LazyFrame:
        """All cells as texts; `sample` is for files that need not be read whole."""
        import polars as pl

        frame = self.cells.slice(self.first)
        frame.columns = self.header
        empty = [
            name
            for name in frame.columns
            if name.startswith("column_") and frame[name].null_count() == frame.height
        ]
        self.findings += self._odd_columns(frame, empty)
        self.findings += _layout_findings(self.path, self._sheet, self.first)
        frame = frame.drop(empty)  # formatted, but never filled
        frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
        unknown = ["", *self.options.nulls]
        changes = []
        for name in frame.columns:
            known, column = frame[name].drop_nulls(), pl.col(name)
            if len(known) and known.str.contains(r"^1899-12-3[01] [0-9:.]+$").all():
                column = column.str.slice(11)  # a time of day
            elif len(known) and known.str.contains(r"^[0-9]{4}-[0-9]{2}-[0-9]{2} 00:00:00$").all():
                column = column.str.slice(0, 10)
            changes.append(pl.when(~column.is_in(unknown)).then(column).alias(name))
        return frame.lazy().with_columns(changes)

    def _odd_columns(self, frame: pl.DataFrame, empty: Sequence[str]) -> Iterator[Finding]:
        """What is odd about the columns of the sheet, of which some are empty."""
        gaps = [repr(n) for n in frame.columns if n not in empty and frame[n].null_count()]
        if gaps and not is_zipfile(self.path):  # an .xls file, of which no more is known
            yield Finding(None, "perhaps merged", {"shown": ", ".join(gaps[:5])})
        for place, name in enumerate(self.header):
            rows = [row for row, column in self._errors if column == place and row >= self.first]
            if rows:
                facts = {"cells": counted(len(rows), "cell"), "shown": rows[0] + 1}
                yield Finding(name, "error cells", facts)

    def places(self, name: str) -> Iterator[tuple[str, str]]:
        """Where each cell of a column is, and the cell."""
        cells = self.cells.to_series(self.header.index(name)).slice(self.first)
        for row, cell in enumerate(cells, self.first + 1):
            if cell is not None:
                yield f"row {row}", cell


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


def _error_cells(sheet: Any) -> list[tuple[int, int]]:
    """The row and the column of each cell that holds an error; only pyarrow is told of them."""
    with suppress(ImportError):
        _, found = sheet.to_arrow_with_errors()
        return sorted(cell.position for cell in found.errors) if found else []
    return []


def _layout_findings(path: Path, sheet: int, first: int) -> Iterator[Finding]:
    """What is merged, hidden or not computed in the data of a sheet, which begin in row `first`,
    from 0; nothing is known of it if the file is neither .xlsx nor .ods."""
    try:
        with ZipFile(path) as packed:
            is_ods = "content.xml" in packed.namelist()
            text = packed.read("content.xml" if is_ods else _part(packed, sheet)).decode()
    except (BadZipFile, KeyError, IndexError, UnicodeDecodeError):
        return
    if is_ods:
        sheets = re.findall(r"<table:table .*?</table:table>", text, re.DOTALL)
        text = sheets[sheet] if sheet < len(sheets) else ""
        rows = list(_ods_rows(text))
        merged = [f"in row {n}" for n, row in rows if re.search(r'-spanned="(?!1")', row)]
        filled = ((n, row.partition(">")[0]) for n, row in rows if "<text:" in row)
        hidden = [n for n, start in filled if _COLLAPSED.search(start)]
        columns = any(map(_COLLAPSED.search, re.findall("<table:table-column[^>]*>", text)))
        formulas: list[str] = []
    else:
        places = re.findall(r'mergeCell [^>]*ref="([A-Z]+[0-9]+:[A-Z]+([0-9]+))"', text)
        merged = [place for place, bottom in places if int(bottom) > first]
        found = re.findall(r'<(?:\w+:)?row (?=[^>]*hidden="(?:1|true)")[^>]*\br="([0-9]+)"', text)
        hidden = [int(n) for n in found]
        columns = re.search(r'<(?:\w+:)?col [^>]*hidden="(?:1|true)"', text) is not None
        formulas = re.findall(r"</(?:\w+:)?f>(?:<(?:\w+:)?v>([^<]*))?", text)
    if merged:
        yield Finding(None, "merged", {"shown": merged[0]})
    if hidden := [n for n in hidden if n > first]:
        facts = {"rows": counted(len(hidden), "hidden row"), "shown": hidden[0]}
        yield Finding(None, "hidden rows", facts)
    if columns:
        yield Finding(None, "hidden columns")
    if len(formulas) > 1 and set(formulas) <= {"0", ""}:
        yield Finding(None, "not computed")


_COLLAPSED = re.compile(r'table:visibility="(?:collapse|filter)"')


def _part(packed: ZipFile, sheet: int) -> str:
    """Where the cells of a sheet of an .xlsx file are."""
    book = packed.read("xl/workbook.xml").decode()
    links = packed.read("xl/_rels/workbook.xml.rels").decode()
    wanted = re.findall(r'<(?:\w+:)?sheet [^>]*\w:id="([^"]+)"', book)[sheet]
    for link in re.findall("<Relationship [^>]*>", links):
        if f'Id="{wanted}"' in link:
            target = re.search(r'Target="/?(?:xl/)?([^"]+)"', link)
            return f"xl/{target[1]}" if target else ""
    return ""


def _ods_rows(text: str) -> Iterator[tuple[int, str]]:
    """The number, from 1, and the text of each row of an .ods sheet that is written down."""
    number = 1
    for row in re.findall(r"<table:table-row.*?</table:table-row>", text, re.DOTALL):
        yield number, row
        times = re.search(r'number-rows-repeated="([0-9]+)"', row.partition(">")[0])
        number += int(times[1]) if times else 1
