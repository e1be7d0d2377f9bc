"""A CSV file with a label column as something to teach. Small on purpose: tables proper are apart.

Columns become features like this:

- a column of yes/no, true/false, t/f, y/n or 1/0 is a feature of its name;
- a column of up to `NUMBERS` different numbers, or up to `TEXTS` different texts, is a feature per
  value: "legs = 4", "colour = red";
- a column of more different numbers is cut at its deciles: "weight >= 12.5";
- a column of more different texts, or of nothing but different ones (a name, an id), is no feature.
  The first such column is what items are called.

An empty cell is unknown: no feature of its column holds there.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tellapart.errors import FormatError
from tellapart.features import Column, Named
from tellapart.protocol import Feature, Item

NUMBERS, TEXTS = 10, 50
_TRUTHS = {
    **dict.fromkeys(("yes", "true", "t", "y", "1"), True),
    **dict.fromkeys(("no", "false", "f", "n", "0"), False),
}


class Row(dict[str, Any]):
    """One line of a table: column to value. Two rows alike are still two items."""

    def __init__(self, values: Mapping[str, Any], number: int, name: str) -> None:
        super().__init__(values)
        self.number, self.name = number, name

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:  # a dict has its own
        return self is not other

    def __hash__(self) -> int:  # type: ignore[override]
        return self.number

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__


class Table(NamedTuple):
    """The items of a file, their labels, and the features its columns make."""

    items: list[Row]
    labels: list[str]
    features: list[Feature]


def read(path: Path, label: str) -> Table:
    """The table in the file `path`, to be taught by its column `label`."""
    header, lines = _cells(path)
    if label not in header:
        raise FormatError(
            f"{path}: there is no column {label!r} to teach; its columns are {', '.join(header)}"
        )
    values: dict[str, list[Any]] = {}
    features: list[Feature] = []
    names: list[str] | None = None
    for place, column in enumerate(header):
        cells = [cells[place].strip() for _, cells in lines]
        if column == label:
            labels = cells
            continue
        values[column], found = _column(column, cells)
        features += found
        if not found and names is None and all(cells) and len(set(cells)) > 1:
            names = cells
    for (line, _), cell in zip(lines, labels, strict=True):
        if not cell:
            raise FormatError(
                f"{path}, line {line}: the label is empty; fill it in, or drop the line"
            )
    if not features:
        raise FormatError(f"{path}: no column but {label!r} can be a feature; see docs/cli.md")
    items = [
        Row(
            {column: cells[number] for column, cells in values.items()},
            number,
            names[number] if names else f"item {number}",
        )
        for number in range(len(lines))
    ]
    return Table(items, labels, features)


def _cells(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header, and every line that is not empty with its number."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{path}: not UTF-8 text (byte {error.start}); save the file as UTF-8"
        ) from None
    except csv.Error as error:
        raise FormatError(f"{path}, line {reader.line_num}: not CSV: {error}") from None
    if any("\0" in cell for _, row in rows for cell in row):
        raise FormatError(f"{path}: a NUL byte in the text (is it UTF-16?); save the file as UTF-8")
    if not rows:
        raise FormatError(f"{path}: the file is empty; the first line must name the columns")
    header = [name.strip() for name in rows[0][1]]
    for name in header:
        if not name or header.count(name) > 1:
            what = f"the column {name!r} stands twice in" if name else "a column has no name in"
            raise FormatError(f"{path}: {what} the first line; give each column its own name")
    for line, cells in rows[1:]:
        if len(cells) != len(header):
            raise FormatError(
                f"{path}, line {line}: {len(cells)} cells, but the first line names {len(header)}"
                " columns; put quotes around cells with commas in them"
            )
    if not rows[1:]:
        raise FormatError(f"{path}: there are no items, only the names of the columns")
    return header, rows[1:]


def _column(name: str, cells: Sequence[str]) -> tuple[list[Any], list[Feature]]:
    """The values of a column and the features it makes."""
    known = {cell for cell in cells if cell}
    if {cell.lower() for cell in known} <= _TRUTHS.keys():
        return [_TRUTHS.get(cell.lower()) for cell in cells], [name] if known else []
    numbers = {cell: _number(cell) for cell in known}
    if None not in numbers.values():
        values = [numbers.get(cell) for cell in cells]
        ordered = sorted(value for value in values if value is not None)
        different = dict.fromkeys(ordered)
        if len(different) <= NUMBERS:
            return values, [Column(name, value) for value in different]
        cuts = dict.fromkeys(ordered[len(ordered) * tenth // 10] for tenth in range(1, 10))
        cuts.pop(ordered[0], None)  # everything is at least the least
        return values, [Named(f"{name} >= {cut}", _at_least(name, cut)) for cut in cuts]
    unlike = len(known) > TEXTS or len(known) == len(cells) > 1
    return list(cells), [] if unlike else [Column(name, cell) for cell in sorted(known)]


def _number(cell: str) -> float | int | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    if value != value or value in (float("inf"), float("-inf")):
        return None
    return int(value) if value.is_integer() else value


def _at_least(name: str, cut: float) -> Callable[[Item], bool]:
    return lambda item: item[name] is not None and item[name] >= cut
