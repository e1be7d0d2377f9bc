"""Excel and OpenDocument files, through calamine: the cells of a sheet as texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import is_zipfile

from tellapart.errors import FormatError, MissingExtra
from tellapart.features.phrasing import counted
from tellapart.tables.findings import Finding
from tellapart.tables.frames import check_names, first_line
from tellapart.tables.options import ReadOptions
from tellapart.tables.sheet_layout import layout_findings

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
        try:
            book = fastexcel.read_excel(self.path)
            names = book.sheet_names
        except Exception as error:  # of calamine
            raise FormatError(
                f"{self.name} is no spreadsheet: {first_line(error)}. If it is another kind of"
                " file, give it that ending, such as .csv"
            ) from error
        wanted = self.options.sheet
        if wanted is not None and wanted not in names:
            raise FormatError(f"{self.name} has no sheet {wanted!r}. Sheets: {', '.join(names)}")
        chosen, frame, errors = wanted, None, []
        for sheet in names if wanted is None else [wanted]:
            loaded = book.load_sheet(sheet, header_row=None, skip_rows=0, dtypes="string")
            if loaded.height and loaded.width and (frame is None or loaded.visible == "visible"):
                chosen, frame, errors = sheet, loaded.to_polars(), _error_cells(loaded)
                if loaded.visible == "visible":
                    break
        if frame is None:
            what = f"sheet {chosen or names[0]!r} is empty" if names else "it has no sheet"
            raise FormatError(f"{self.name}: {what}")
        self._errors, self.sheet = errors, chosen or ""
        others = [sheet for sheet in names if sheet != chosen]
        if wanted is None and others:
            self.findings.append(
                Finding(
                    None,
                    f"{len(names)} sheets: {', '.join(names[:6])}",
                    f"the sheet {chosen!r}",
                    {"sheet": others[0]},
                )
            )
        return frame

    def _names(self) -> tuple[int, list[str]]:
        """The row where the data begin, from 0, and the names of the columns."""
        given = self.options.header
        if given == 0:
            return 0, [f"column_{n}" for n in range(1, self.cells.width + 1)]
        known = [
            sum(bool((c or "").strip()) for c in row) for row in self.cells.head(30).iter_rows()
        ]
        line = given or next(n for n, count in enumerate(known, 1) if count)
        if line > self.cells.height:
            raise FormatError(f"{self.name} has no row {line}: it has {self.cells.height}")
        most = max(known)
        if given is None and known[line - 1] <= most // 2:
            at = next(n for n, count in enumerate(known, 1) if count > most // 2)
            raise FormatError(
                f"{self.name} row {line}: {counted(known[line - 1], 'cell')}, but row {at} has"
                f" {known[at - 1]}. If the names of the columns are in row {at}, pass {{header}}",
                header=at,
            )
        cells = [(cell or "").strip() for cell in self.cells.row(line - 1)]
        names = [cell or f"column_{n}" for n, cell in enumerate(cells, 1)]
        check_names(names, self.name, f" row {line}")
        return line, names

    def read(self) -> pl.DataFrame:
        """All cells as texts."""
        import polars as pl

        frame = self.cells.slice(self.first)
        frame.columns = self.header
        empty = [
            name
            for name in frame.columns
            if name.startswith("column_") and frame[name].null_count() == frame.height
        ]
        filled = [name for name in frame.columns if name not in empty]
        for name, after in pairwise(frame.columns):
            if (
                name in empty
                and after in filled
                and filled[0] in frame.columns[: frame.columns.index(name)]
            ):
                what = "an empty column before it, so another table may begin here"
                self.findings.append(Finding(after, what, "a column of the same table"))
        frame = frame.drop(empty)  # formatted, but never filled
        self.findings += layout_findings(self.path, self.sheet, self.header, self.first)
        gaps = [repr(name) for name in frame.columns if frame[name].null_count()]
        if gaps and not is_zipfile(self.path):  # an .xls file, of which no more is known
            what = f"empty cells in {', '.join(gaps[:5])}, which may be merged cells"
            self.findings.append(
                Finding(None, what, "unknown; save the .xls file as .xlsx to find out")
            )
        for name in frame.columns:
            if re.fullmatch(r"column_[0-9]+", name) and self.options.header != 0:
                self.findings.append(
                    Finding(name, "a column without a name", "a column of that name")
                )
        for place, name in enumerate(self.header):
            rows = [row for row, column in self._errors if column == place and row >= self.first]
            if rows:
                what = (
                    f"{counted(len(rows), 'cell')} with an error such as #DIV/0!, row {rows[0] + 1}"
                )
                self.findings.append(Finding(name, what, "unknown"))
        frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
        changes = []
        for name in frame.columns:
            known = frame[name].drop_nulls()
            if len(known) and known.str.contains(r"^1899-12-3[01] [0-9:.]+$").all():
                changes.append(pl.col(name).str.slice(11))  # a time of day
            elif len(known) and known.str.contains(r"^[0-9]{4}-[0-9]{2}-[0-9]{2} 00:00:00$").all():
                changes.append(pl.col(name).str.slice(0, 10))
            elif len(known) and known.str.contains(r"^(1899-12|1900-01)-[0-9]{2} [0-9:.]+$").all():
                what = f"times such as {known[0]!r}, as spreadsheets store durations"
                self.findings.append(Finding(name, what, "dates and times"))
        return frame.with_columns(changes).with_columns(
            _known(name, self.options) for name in frame.columns
        )

    def find(self, name: str, odd: Callable[[pl.Series], pl.Series]) -> tuple[str, str] | None:
        """Where the first cell of a column is that is odd, and the cell."""
        import polars as pl

        cells = self.cells.to_series(self.header.index(name)).slice(self.first)
        unknown: list[Any] = ["", *self.options.nulls]
        known = pl.select(pl.when(~cells.is_in(unknown)).then(cells)).to_series()
        found = odd(known).fill_null(False)
        if not found.any():
            return None
        place = int(found.arg_max() or 0)
        return f"{self.name} row {self.first + place + 1}", str(known[place])


def _error_cells(sheet: Any) -> list[tuple[int, int]]:
    """The row and the column of each cell that holds an error; only pyarrow is told of them."""
    with suppress(ImportError):
        _, found = sheet.to_arrow_with_errors()
        return sorted(cell.position for cell in found.errors) if found else []
    return []


def _known(name: str, options: ReadOptions) -> pl.Expr:
    """The cells that are not unknown."""
    import polars as pl

    column = pl.col(name)
    unknown = ["", *options.nulls]
    return pl.when(~column.is_in(unknown)).then(column).alias(name)
