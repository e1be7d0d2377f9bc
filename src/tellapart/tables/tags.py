"""Tags: a column that teachers fill item by item, for what no other column can express."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tellapart.errors import ParameterError
from tellapart.protocol import Item

if TYPE_CHECKING:
    import polars as pl


class Tag:
    """A named Boolean column, unknown where nobody has said anything.

    Made by `table.tag(name)`; from then on it is a column like any other.

    >>> from tellapart.tables import Table
    >>> zoo = Table({"name": ["bear", "wasp"]}, id="name")
    >>> friendly = zoo.tag("looks friendly")
    >>> friendly.set("wasp", False)
    >>> friendly.get("wasp"), friendly.get("bear"), zoo.parse('"looks friendly"')(zoo.items[1])
    (False, None, False)
    """

    def __init__(
        self, name: str, place: Callable[[Item], int], changed: Callable[[Tag, int], None]
    ) -> None:
        self.name = name
        self._place, self._changed = place, changed
        self._known: dict[int, bool] = {}

    def set(self, item: Item, value: bool | None) -> None:
        """Say of an item (a row or its id) that it has the tag, has it not, or is unknown."""
        if value is not None and not isinstance(value, bool):
            raise ParameterError(f"Tag {self.name!r}: True, False or None, got {value!r}")
        place = self._place(item)
        if value is None:
            self._known.pop(place, None)
        else:
            self._known[place] = value
        self._changed(self, place)

    def get(self, item: Item) -> bool | None:
        """What was said of an item."""
        return self._known.get(self._place(item))

    def at(self, place: int) -> bool | None:
        """What was said of the item in a place."""
        return self._known.get(place)

    def __len__(self) -> int:
        """Of how many items something was said."""
        return len(self._known)

    def __iter__(self) -> Iterator[tuple[int, bool]]:
        """(place, value) in the order of the table."""
        return iter(sorted(self._known.items()))

    def series(self, length: int) -> pl.Series:
        """The tag as a Polars column."""
        import numpy as np
        import polars as pl

        places = np.fromiter(self._known, dtype=np.int64, count=len(self._known))
        values = np.zeros(length, dtype=np.bool_)
        known = np.zeros(length, dtype=np.bool_)
        known[places] = True
        values[places] = np.fromiter(self._known.values(), dtype=np.bool_, count=len(places))
        said = pl.when(pl.lit(pl.Series(known))).then(pl.lit(pl.Series(values)))
        return pl.select(said.alias(self.name)).to_series()

    def __repr__(self) -> str:
        return f"<tag {self.name!r}: {len(self)} items>"
