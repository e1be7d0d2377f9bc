"""Searches: a teacher says which items to be asked about next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tellapart.columns import unpack
from tellapart.errors import FeatureError, ParameterError
from tellapart.features import Expression, canonical
from tellapart.features.tree import Column, Type, Wild
from tellapart.tables import Table
from tellapart.tables.packed_columns import evaluate_soon

if TYPE_CHECKING:
    from tellapart.sessions.log import State

_PASSED = 200  # so many items that cannot be given are passed by
_WORDS = 20  # the most that are looked for


class Search:
    """The items that a teacher searches for, to teach them next.

    The condition is in the log, and so is which items were given because of it: they are no random
    draw, and must not count as one.
    """

    def __init__(self, state: State, where: str, text: str = "") -> None:
        self.text = text or where
        self.where = state.items.feature(where)
        self._state, self._at = state, 0
        self._places: npt.NDArray[np.intp] | None = None

    @property
    def places(self) -> npt.NDArray[np.intp]:
        """All items that fit; looked for once."""
        if self._places is None:
            self._places = matching_places(self._state.items.table, self.where)
        return self._places

    def next(self) -> int | None:
        """The next of them that nobody has answered about, or None."""
        state, found = self._state, self.places
        while self._at < len(found) and state.history.opinions(int(found[self._at])):
            self._at += 1
        for place in found[self._at : self._at + _PASSED].tolist():
            if (
                not state.history.opinions(place)
                and place not in state.queue.leases
                and state.queue.is_due(place)
            ):
                return int(place)
        return None


def check_search(state: State, where: str | None) -> None:
    """Raise unless there is something left to find."""
    if where is None:
        return
    found = Search(state, where)
    if not len(found.places):
        raise ParameterError(f"no item fits: {where}")
    if found.next() is None:
        raise ParameterError(
            f"nothing is left of the {len(found.places):,} items that fit, all are answered or with"
            f" others: {where}"
        )


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
        if not len(matching_places(table, found)):
            raise FeatureError(
                f"no item has all these words; and as a condition: {str(error).splitlines()[0]}"
            ) from None
        return found


def matching_places(table: Table, where: Expression) -> npt.NDArray[np.intp]:
    """Where a condition holds."""
    return np.flatnonzero(unpack(evaluate_soon(table, where), len(table)))
