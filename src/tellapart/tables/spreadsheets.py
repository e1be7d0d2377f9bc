"""Excel and OpenDocument files, through calamine: the cells of a sheet as texts.

calamine does not tell which cells are merged, what is hidden, and whether formulas have values.
The file itself does, if it is an .xlsx or an .ods file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile, is_zipfile

from tellapart.errors import FormatError, MissingExtra
from tellapart.features.phrasing import counted
from tellapart.tables.findings import Finding
from tellapart.tables.frames import check_names, first_line
from tellapart.tables.options import ReadOptions

if TYPE_CHECKING:
    import polars as pl

_MERGED = re.compile(rb'mergeCell [^>]*ref="([A-Z]+)([0-9]+):([A-Z]+)([0-9]+)"')
_HIDDEN_ROW = re.compile(rb'<(?:\w+:)?row (?=[^>]*hidden="(?:1|true)")[^>]*\br="([0-9]+)"')
_HIDDEN_COLUMN = re.compile(
    rb'<(?:\w+:)?col (?=[^>]*hidden="(?:1|true)")(?=[^>]*\bmin="([0-9]+)")(?=[^>]*\bmax="([0-9]+)")'
)
_FIRST_CELL = re.compile(rb'<(?:\w+:)?row [^>]*[^/]>\s*<(?:\w+:)?c [^>]*?r="([A-Z]+)')
_FORMULA = re.compile(rb"</(?:\w+:)?f>(?:<(?:\w+:)?v>([^<]*))?")
_ODS = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"


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
        self._look_at_columns(frame, empty)
        frame = frame.drop(empty)  # formatted, but never filled
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

    def _look_at_columns(self, frame: pl.DataFrame, empty: Sequence[str]) -> None:
        """Find what is odd about the columns of the sheet, of which some are empty."""
        names = frame.columns
        filled = [name for name in names if name not in empty]
        for place, (name, after) in enumerate(pairwise(names)):
            if name in empty and after in filled and filled[0] in names[:place]:
                what = "an empty column before it, so another table may begin here"
                self.findings.append(Finding(after, what, "a column of the same table"))
        self.findings += _layout_findings(self.path, self.sheet, self.header, self.first)
        gaps = [repr(name) for name in filled if frame[name].null_count()]
        if gaps and not is_zipfile(self.path):  # an .xls file, of which no more is known
            what = f"empty cells in {', '.join(gaps[:5])}, which may be merged cells"
            assumed = "unknown; save the .xls file as .xlsx to find out"
            self.findings.append(Finding(None, what, assumed))
        for name in filled:
            if re.fullmatch(r"column_[0-9]+", name) and self.options.header != 0:
                what = "a column without a name"
                self.findings.append(Finding(name, what, "a column of that name"))
        for place, name in enumerate(self.header):
            rows = [row for row, column in self._errors if column == place and row >= self.first]
            if rows:
                cells = counted(len(rows), "cell")
                what = f"{cells} with an error such as #DIV/0!, row {rows[0] + 1}"
                self.findings.append(Finding(name, what, "unknown"))

    def find(self, name: str, odd: Callable[[pl.Series], pl.Series]) -> tuple[str, str] | None:
        """The place of the first odd cell of a column, and the cell."""
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


@dataclass
class _Layout:
    """Rows and columns count from 1."""

    left: int = 1
    """The first column that holds something."""
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)
    """The first and the last column, the first and the last row."""
    hidden_rows: list[int] = field(default_factory=list)
    hidden_columns: list[tuple[int, int]] = field(default_factory=list)
    """The first and the last."""
    not_computed: bool = False
    """Whether there are formulas, and none has a value."""


def _layout_findings(path: Path, sheet: str, names: Sequence[str], first: int) -> Iterator[Finding]:
    """What is odd about a sheet whose columns have these `names`, and whose data begin in row
    `first`, from 0."""
    layout = _layout(path, sheet)
    columns = dict(enumerate(names, layout.left))
    merged: dict[str, list[int]] = {}
    for begin, end, top, bottom in layout.merged:
        if bottom > first:
            for place in range(begin, end + 1):
                if place in columns:
                    merged.setdefault(columns[place], []).append(max(top, first + 1))
    for name, rows in merged.items():
        what = f"merged cells, such as in row {min(rows)}"
        yield Finding(name, what, "a value in the first of them and unknown in the others")
    hidden = [row for row in layout.hidden_rows if row > first]
    if hidden:
        what = f"{counted(len(hidden), 'hidden row')}, such as row {hidden[0]}"
        yield Finding(None, what, "rows like the others")
    for begin, end in layout.hidden_columns:
        for place, name in columns.items():
            if begin <= place <= end:
                yield Finding(name, "a hidden column", "a column like the others")
    if layout.not_computed:
        what = "formulas that were not computed: all are 0 or empty"
        yield Finding(None, what, "these values; open the file in a spreadsheet and save it")


def _layout(path: Path, sheet: str) -> _Layout:
    """How a sheet is laid out; nothing is known of it if this is neither .xlsx nor .ods."""
    try:
        with ZipFile(path) as packed:
            if "content.xml" in packed.namelist():
                return _of_ods(packed, sheet)
            return _of_xlsx(packed, sheet)
    except (BadZipFile, KeyError, StopIteration, ElementTree.ParseError):
        return _Layout()


def _of_xlsx(packed: ZipFile, sheet: str) -> _Layout:
    book = ElementTree.fromstring(packed.read("xl/workbook.xml"))
    known = next(one for one in book.iter() if one.get("name") == sheet)
    wanted = next(value for key, value in known.items() if key.endswith("}id"))
    links = ElementTree.fromstring(packed.read("xl/_rels/workbook.xml.rels"))
    target = next(one.get("Target") or "" for one in links if one.get("Id") == wanted)
    text = packed.read(target[1:] if target.startswith("/") else f"xl/{target}")
    values = _FORMULA.findall(text)
    return _Layout(
        left=min(map(_number, _FIRST_CELL.findall(text)), default=1),
        merged=[
            (_number(begin), _number(end), int(top), int(bottom))
            for begin, top, end, bottom in _MERGED.findall(text)
        ],
        hidden_rows=[int(row) for row in _HIDDEN_ROW.findall(text)],
        hidden_columns=[(int(begin), int(end)) for begin, end in _HIDDEN_COLUMN.findall(text)],
        not_computed=len(values) > 1 and set(values) <= {b"0", b""},
    )


def _number(letters: bytes) -> int:
    """The number of a column, from 1: C is 3."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _of_ods(packed: ZipFile, sheet: str) -> _Layout:
    book = ElementTree.fromstring(packed.read("content.xml"))
    table = next(one for one in book.iter(f"{_ODS}table") if one.get(f"{_ODS}name") == sheet)
    layout, row, column, held = _Layout(), 0, 0, []
    for one in table.iter():
        kind = one.tag.removeprefix(_ODS)
        hidden = one.get(f"{_ODS}visibility", "visible") != "visible"
        if kind == "table-column":
            before, column = column, column + _times(one, "columns-repeated")
            if hidden:
                layout.hidden_columns.append((before + 1, column))
        elif kind == "table-row":
            before, row, column = row, row + _times(one, "rows-repeated"), 0
            if hidden and any(map(len, one)):
                layout.hidden_rows += range(before + 1, row + 1)
        elif kind in ("table-cell", "covered-table-cell"):
            before, column = column, column + _times(one, "columns-repeated")
            if len(one):
                held.append(before + 1)
            wide, high = _times(one, "columns-spanned"), _times(one, "rows-spanned")
            if wide * high > 1:
                layout.merged.append((before + 1, before + wide, row, row + high - 1))
    layout.left = min(held, default=1)
    return layout


def _times(one: ElementTree.Element, what: str) -> int:
    return int(one.get(f"{_ODS}number-{what}", "1"))
