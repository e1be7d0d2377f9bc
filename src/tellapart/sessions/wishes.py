"""Which rows a teacher looks for, and which are kept for a teacher: those where a condition holds.

The condition is in the log, and so is which items were given because of it: they are no random
draw, and must not count as one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tellapart.columns import unpack
from tellapart.errors import FeatureError
from tellapart.features import Expression, canonical
from tellapart.features.tree import Column, Type, Wild
from tellapart.tables import Table
from tellapart.tables.packed_columns import evaluate_soon

if TYPE_CHECKING:
    from tellapart.sessions.queue import Line, Queue

_PASSED = 200  # so many items that cannot be given are passed by
_WORDS = 20  # the most that are looked for


class Search:
    """The items that a teacher searches for, to teach them next, in the order of the table."""

    def __init__(self, table: Table, where: Expression, text: str) -> None:
        self.text, self._at = text, 0
        self.places = np.flatnonzero(_holds(table, where))

    def next(self, queue: Queue) -> int | None:

        def is_answered(place: int) -> bool:
            return bool(queue.history.opinions(place))

        while self._at < len(self.places) and is_answered(int(self.places[self._at])):
            self._at += 1
        for place in self.places[self._at : self._at + _PASSED].tolist():
            if not is_answered(place) and place not in queue.leases and queue.is_due(place):
                return int(place)
        return None


class Assignments:
    """Rows that are kept for some teachers; all other rows are for those without a condition."""

    def __init__(self, table: Table, where: dict[str, Expression], order: Line) -> None:
        self.masks = {teacher: _holds(table, one) for teacher, one in where.items()}
        self.rest = ~np.logical_or.reduce([np.zeros(len(table), np.bool_), *self.masks.values()])
        self._order = order
        self._lines: dict[str | None, Line] = {}

    def rows(self, teacher: str) -> npt.NDArray[np.bool_]:
        found: npt.NDArray[np.bool_] = self.masks.get(teacher, self.rest)
        return found

    def next(self, teacher: str, seen: set[int]) -> int | None:
        whose = teacher if teacher in self.masks else None
        if whose not in self._lines:
            self._lines[whose] = self._order.among(self.rows(teacher))
        return self._lines[whose].first(seen)


def _holds(table: Table, where: Expression) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = unpack(evaluate_soon(table, where), len(table))
    return found


def parse_search(table: Table, text: str) -> Expression:
    """The condition that a text is, or that its words stand for: all are in the texts of an item.

    >>> pets = Table({"name": ["rex", "tom"], "kind": ["a dog", "a cat"], "legs": [4, 4]})
    >>> str(parse_search(pets, "legs>3")), str(parse_search(pets, "rex dog"))
    ('legs > 3', "(kind ILIKE '%dog%' OR name ILIKE '%dog%') AND (kind ILIKE '%rex%' OR name ILIKE\
 '%rex%')")
    """
    try:
        return table.parse(text)
    except FeatureError as error:
        texts = [name for name, kind in table.types.items() if kind is Type.TEXT]
        words = text.split()[:_WORDS]
        if not texts or not words:
            raise
        found = Expression(
            canonical.both(
                canonical.either(
                    canonical.like(Column(name, Type.TEXT), (Wild.ANY, word, Wild.ANY), fold=True)
                    for name in texts
                )
                for word in words
            )
        )
        if not _holds(table, found).any():
            raise FeatureError(
                f"no item has all these words; and as a condition: {str(error).splitlines()[0]}"
            ) from None
        return found
