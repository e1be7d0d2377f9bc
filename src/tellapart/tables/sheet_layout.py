"""What the cells of a sheet do not show: merged cells, what is hidden, formulas without values.

calamine does not tell; the file itself does, if it is an .xlsx or an .ods file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

from tellapart.features.phrasing import counted
from tellapart.tables.findings import Finding

_MERGED = re.compile(rb'mergeCell [^>]*ref="([A-Z]+)([0-9]+):([A-Z]+)([0-9]+)"')
_HIDDEN_ROW = re.compile(rb'<(?:\w+:)?row (?=[^>]*hidden="(?:1|true)")[^>]*\br="([0-9]+)"')
_HIDDEN_COLUMN = re.compile(
    rb'<(?:\w+:)?col (?=[^>]*hidden="(?:1|true)")(?=[^>]*\bmin="([0-9]+)")(?=[^>]*\bmax="([0-9]+)")'
)
_FIRST_CELL = re.compile(rb'<(?:\w+:)?row [^>]*[^/]>\s*<(?:\w+:)?c [^>]*?r="([A-Z]+)')
_FORMULA = re.compile(rb"</(?:\w+:)?f>(?:<(?:\w+:)?v>([^<]*))?")
_ODS = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"


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


def layout_findings(path: Path, sheet: str, names: Sequence[str], first: int) -> Iterator[Finding]:
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
