"""What rows are called: by the column a person would choose, and what tells namesakes apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from tellapart.features.phrasing import shown_number, shown_time
from tellapart.features.tree import Type

if TYPE_CHECKING:
    from tellapart.tables.table import Table

LONGEST_NAME = 60
"""Longer texts are not names of rows."""
NAMING = (
    *("name", "title", "subject", "headline", "payee", "merchant", "caption", "product", "company"),
    *("customer", "person", "label", "package", "description", "summary"),
)
"""What columns are called that name things, the best first."""
_SENTENCES = frozenset(("title", "subject", "headline", "caption", "description", "summary"))
_LOOKED = 2_000  # rows, evenly spread, that show what a column holds
_ENOUGH = 20  # different texts, or half of them all, name rows
_VARIED = 0.15  # of the texts of a column not called like names must differ
_WHOLE = 0.5  # of the whole numbers of a column must differ to say which row is meant
_ASIDES, _FEWEST, _MOST = 2, 2, 12  # categories said of a row without a name; values of each
_SHORT = 24
_VOWEL = re.compile(r"[aeiouyäöüáéíóúàèâêîôûåæøаеиоуыэюяαεηιουω]", re.IGNORECASE)


class Name(NamedTuple):
    """What a row is called, and what is said behind it to tell it from its namesakes."""

    title: str
    aside: str | None = None

    def __str__(self) -> str:
        return self.title if self.aside is None else f"{self.title} ({self.aside})"


class RowNames:
    """The names of a table's rows.

    >>> from tellapart.tables import Table
    >>> bank = Table({"payee": ["Rewe", "Sushi Bar", "Rewe"], "amount": [-9.5, -31.0, -12.0]})
    >>> [str(RowNames(bank, "payee")(place)) for place in range(3)]
    ['Rewe (-9.5)', 'Sushi Bar', 'Rewe (-12)']
    >>> birds = Table({"island": ["Dream", "Biscoe", "Dream"], "grams": [3500, 3800, 3700]})
    >>> RowNames(birds, None)(2)
    Name(title='row 2', aside='Dream')
    """

    def __init__(self, table: Table, title: str | None) -> None:
        self.table, self.title = table, title
        self._namesakes: dict[Any, dict[int, str]] = {}

    @property
    def quoted(self) -> bool:
        """Whether names are sentences, which stand in quotation marks."""
        return self.title is not None and not _SENTENCES.isdisjoint(_words(self.title))

    def __call__(self, place: int) -> Name:
        if self.title is None:
            cells = (self.table.frame([one])[one][place] for one in self._categories)
            said = ", ".join(str(cell) for cell in cells if cell is not None)
            return Name(_number(self.table, place), said or None)
        value = self._cells[place]
        if value is None or value == "":
            return Name(_number(self.table, place))
        return Name(_said(value), self._aside(place) if value in self._twice else None)

    @cached_property
    def _cells(self) -> pl.Series:
        assert self.title is not None
        return self.table.frame([self.title]).to_series()

    @cached_property
    def _twice(self) -> set[Any]:
        return set(self._cells.filter(self._cells.is_duplicated()).drop_nulls().to_list())

    def _aside(self, place: int) -> str:
        """The first of what `_telling` has that no namesake has."""
        title, number = self._cells[place], _number(self.table, place)
        if title not in self._namesakes:
            self._namesakes[title] = self._tell_apart((self._cells == title).arg_true().to_list())
        said = self._namesakes[title].get(place)
        return number if said is None else said

    def _tell_apart(self, places: list[int]) -> dict[int, str]:
        """What is said behind the title of each of some namesakes."""
        found: dict[int, str] = {}
        first: dict[int, str] = {}
        for cells in self._telling:
            values = cells[places].to_list()
            counts = Counter(values)
            for place, value in zip(places, values, strict=True):
                if value is not None:
                    said = _said(value, self.table.decimals.get(cells.name))
                    first.setdefault(place, f"{said}, {_number(self.table, place)}")
                    if counts[value] == 1:
                        found.setdefault(place, said)
            if len(found) == len(places):
                break
        return first | found

    @cached_property
    def _telling(self) -> list[pl.Series]:
        """The numbers that differ in many rows, then the dates and the categories; not what merely
        counts the rows, nor a number of few values, such as one of replies."""
        kinds = self.table.types
        names = [name for name, kind in kinds.items() if kind.numeric and name != self.table.id]
        numbers = [self.table.frame([name]).to_series() for name in names]
        others = [name for name, kind in kinds.items() if kind.temporal]
        others += [name for name in self._categories if name != self.title]
        return [
            *(cells for cells in numbers if _identifies(cells)),
            *(self.table.frame([name]).to_series() for name in others),
        ]

    @cached_property
    def _categories(self) -> list[str]:
        """Short categories, for rows that have no name."""
        found = []
        for name, kind in self.table.types.items():
            if kind is Type.TEXT and name != self.table.id and name not in self.table.tags:
                known = self.table.frame([name]).to_series().drop_nulls()
                values = known.unique().to_list()
                few = _FEWEST <= len(values) <= min(_MOST, max(2, len(known) - 1))
                if few and max(map(len, values)) <= _SHORT:
                    found.append(name)
            if len(found) == _ASIDES:
                break
        return found


def _counts(cells: pl.Series) -> bool:
    """Whether whole numbers merely count the rows."""
    known = cells.drop_nulls().to_numpy()
    return len(set(known)) == len(cells) and int(known.max() - known.min()) < 2 * len(cells)


def _identifies(cells: pl.Series) -> bool:
    """Whether a number says which row is meant: it differs in many rows, and counts none."""
    known = cells.drop_nulls()
    if cells.dtype.is_integer():
        return known.n_unique() >= _WHOLE * len(known) and not _counts(cells)
    return known.n_unique() >= _VARIED * len(known)


def _said(value: object, decimals: int | None = None) -> str:
    if isinstance(value, float):
        return shown_number(value, decimals)
    return shown_time(value) if isinstance(value, datetime) else str(value)


def _number(table: Table, place: int) -> str:
    """The number of a row as the table has it, or its id."""
    return f"row {place}" if table.id is None else str(table.frame([table.id])[table.id][place])


def titles(table: Table, without: Iterable[str] = ()) -> list[str]:
    """The columns that rows could be named by, the best first: texts that are short and varied, and
    no codes; those that are called like names come first. They need not differ in all rows.

    >>> from tellapart.tables import Table
    >>> films = Table({"code": ["a-1", "b-2", "c-3"], "Title": ["Jaws", "Alien", "Jaws"]})
    >>> titles(films)
    ['Title']
    """
    passed, found = set(without), {}
    for name, kind in table.types.items():
        if kind is Type.TEXT and name not in passed and name not in table.tags and len(table) > 1:
            worth = _worth(table, name)
            if worth is not None:
                found[name] = worth
    return sorted(found, key=lambda name: found[name])


def _worth(table: Table, name: str) -> tuple[int, float] | None:
    """How well a column names rows, the less the better; None if it does not."""
    column = table.frame([name]).to_series()
    known = column.drop_nulls()
    different = known.n_unique()
    called = next((n for n, word in enumerate(NAMING) if word in _words(name)), len(NAMING))
    varied = different / max(1, len(known))
    enough = different >= min(_ENOUGH, max(2, 0.5 * len(known)))
    if len(known) < 0.9 * len(column) or not enough or (called == len(NAMING) and varied < _VARIED):
        return None
    part = known.gather_every(max(1, len(known) // _LOOKED))
    if np.median(part.str.len_chars().to_numpy()) > LONGEST_NAME:
        return None
    codes = sum(map(is_code, part.to_list())) / len(part)
    return None if codes > 0.5 else (called, -varied)


def is_code(text: str) -> bool:
    """Whether a text is a code that nobody would say: digits among its letters, or no vowels.

    >>> [is_code(text) for text in ("DE89 3704", "TX-0012", "REWE", "Sushi Bar 3", "5f3a9c")]
    [True, True, False, False, True]
    """
    letters = sum(map(str.isalpha, text))
    digits = sum(map(str.isdigit, text))
    mixed = digits > 0 and (" " not in text.strip() or digits >= letters)
    latin = text.isascii() and letters > 4
    return not letters or mixed or "@" in text or (latin and _VOWEL.search(text) is None)


def _words(name: str) -> set[str]:
    """The words of a column's name: `book_title`, `bookTitle`."""
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    return set(re.split(r"[\W_]+", spaced.lower()))
