"""What the cells of a sheet do not show: merged cells, what is hidden, formulas without values.

calamine does not tell; the file itself does, if it is an .xlsx file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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


def layout_findings(path: Path, sheet: str, names: Sequence[str], first: int) -> Iterator[Finding]:
    """What is odd about a sheet whose columns have these `names`, and whose data begin in row
    `first`, from 0."""
    text = _sheet(path, sheet)
    left = min(map(_number, _FIRST_CELL.findall(text)), default=1)
    columns = dict(enumerate(names, left))
    merged: dict[str, list[int]] = {}
    for begin, top, end, bottom in _MERGED.findall(text):
        if int(bottom) > first:
            for place in range(_number(begin), _number(end) + 1):
                if place in columns:
                    merged.setdefault(columns[place], []).append(max(int(top), first + 1))
    for name, rows in merged.items():
        what = f"merged cells, such as in row {min(rows)}"
        yield Finding(name, what, "a value in the first of them and unknown in the others")
    hidden = [int(row) for row in _HIDDEN_ROW.findall(text) if int(row) > first]
    if hidden:
        what = f"{counted(len(hidden), 'hidden row')}, such as row {hidden[0]}"
        yield Finding(None, what, "rows like the others")
    for begin, end in _HIDDEN_COLUMN.findall(text):
        for place, name in columns.items():
            if int(begin) <= place <= int(end):
                yield Finding(name, "a hidden column", "a column like the others")
    values = _FORMULA.findall(text)
    if len(values) > 1 and set(values) <= {b"0", b""}:
        what = "formulas that were not computed: all are 0 or empty"
        yield Finding(None, what, "these values; open the file in a spreadsheet and save it")


def _number(letters: bytes) -> int:
    """The number of a column, from 1: C is 3."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _sheet(path: Path, sheet: str) -> bytes:
    """The text of a sheet; empty if this is no .xlsx file."""
    try:
        with ZipFile(path) as packed:
            book = ElementTree.fromstring(packed.read("xl/workbook.xml"))
            known = next(one for one in book.iter() if one.get("name") == sheet)
            wanted = next(value for key, value in known.items() if key.endswith("}id"))
            links = ElementTree.fromstring(packed.read("xl/_rels/workbook.xml.rels"))
            target = next(one.get("Target") or "" for one in links if one.get("Id") == wanted)
            return packed.read(target[1:] if target.startswith("/") else f"xl/{target}")
    except (BadZipFile, KeyError, StopIteration, ElementTree.ParseError):
        return b""
