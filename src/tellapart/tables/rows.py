"""The items of a table: rows, read when asked for, and tags, columns that teachers fill."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import polars as pl

from tellapart import codec
from tellapart.errors import FormatError, ParameterError
from tellapart.protocol import Item

if TYPE_CHECKING:
    from tellapart.tables.table import Table


class Row(Mapping[str, Any]):
    """A row as a mapping from column to value; None is unknown.

    Two rows are equal if their ids and their contents are. A row that a model keeps as an example
    is written to JSON whole, so that the model can be read without the table.

    >>> Row(7, {"legs": 4})["legs"]
    4
    """

    __slots__ = ("_values", "identity", "place", "table")

    def __init__(
        self,
        identity: Hashable,
        values: Mapping[str, Any] | None = None,
        *,
        table: Table | None = None,
        place: int = -1,
    ) -> None:
        self.identity = identity
        """The id: the value of the id column, or the number of the row."""
        self.table, self.place = table, place
        """Where it stands, unless it was read back from a file."""
        self._values = values

    def __getitem__(self, column: str) -> Any:
        if self.table is not None and column in self.table.tags:
            return self.table.tags[column].at(self.place)
        return self._cells()[column]

    def get(self, column: str, default: Any = None) -> Any:
        """The value in `column`, or `default` if there is no such column."""
        if self.table is not None and column in self.table.tags:
            return self.table.tags[column].at(self.place)
        return self._cells().get(column, default)

    def __iter__(self) -> Iterator[str]:
        yield from self._cells()
        if self.table is not None:
            yield from self.table.tags

    def __len__(self) -> int:
        return len(self._cells()) + (0 if self.table is None else len(self.table.tags))

    def _cells(self) -> Mapping[str, Any]:
        if self._values is None:
            assert self.table is not None
            self._values = self.table.cells(self.place)
        return self._values

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row) or self.identity != other.identity:
            return False
        same = self.table is not None and self.table is other.table
        return same or dict(self) == dict(other)

    def __hash__(self) -> int:
        return hash(self.identity)

    def __str__(self) -> str:
        """What it is called: by its table, or else its id."""
        return str(self.identity if self.table is None else self.table.called(self.place))

    def __repr__(self) -> str:
        return f"<row {self.identity!r}>"

    def _repr_html_(self) -> str:
        from tellapart.html_views import table

        return table(("column", "value"), self.items(), str(self))

    def __deepcopy__(self, memo: object) -> Row:
        return self  # copies of a learner share their items

    def __reduce__(self) -> tuple[Any, ...]:
        return Row, (self.identity, dict(self))


class Rows(Sequence[Row]):
    """The items of a table as a sequence; a row is made when one is asked for."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.columns_of = table.columns_of
        """Features of these rows, as a learner takes them."""

    def __len__(self) -> int:
        return len(self._table)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> list[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | list[Row]:
        if isinstance(place, slice):
            return [self[n] for n in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(f"row {place} of a table of {len(self)} items")
        return self._table.rows(place % len(self), 1)[0]

    def __iter__(self) -> Iterator[Row]:
        for start in range(0, len(self), 1024):
            yield from self._table.rows(start, 1024)

    def __repr__(self) -> str:
        return f"<{len(self)} rows>"


class Tag:
    """A named Boolean column that teachers fill item by item, unknown where it was not set.

    Made by `table.tag(name)`; from then on it is a column like any other.

    >>> from tellapart.tables import Table
    >>> zoo = Table({"name": ["bear", "wasp"]}, id="name")
    >>> friendly = zoo.tag("looks friendly")
    >>> friendly.set("wasp", False)
    >>> friendly.get("wasp"), friendly.get("bear"), zoo.parse('"looks friendly"')(zoo.items[1])
    (False, None, False)
    """

    def __init__(self, name: str, table: Table) -> None:
        self.name, self._table = name, table
        self._known: dict[int, bool] = {}

    def set(self, item: Item, value: bool | None) -> None:
        """Say of an item (a row or its id) that it has the tag, has it not, or is unknown."""
        if value is not None and not isinstance(value, bool):
            raise ParameterError(f"Tag {self.name!r}: True, False or None, got {value!r}")
        place = self._table.place(item)
        if value is None:
            self._known.pop(place, None)
        else:
            self._known[place] = value
        self._table.retag(self, place)

    def get(self, item: Item) -> bool | None:
        """What was said of an item."""
        return self._known.get(self._table.place(item))

    def at(self, place: int) -> bool | None:
        """What was said of the item in a place."""
        return self._known.get(place)

    def __len__(self) -> int:
        """Of how many items something was said."""
        return len(self._known)

    def __iter__(self) -> Iterator[tuple[int, bool]]:
        """(place, value) in the order of the table."""
        return iter(sorted(self._known.items()))

    def series(self) -> pl.Series:
        """The tag as a Polars column."""
        places = pl.Series(list(self._known), dtype=pl.Int64)
        values = pl.Series(list(self._known.values()), dtype=pl.Boolean)
        unknown = pl.repeat(None, len(self._table), dtype=pl.Boolean, eager=True)
        return unknown.scatter(places, values).alias(self.name)

    def __repr__(self) -> str:
        return f"<tag {self.name!r}: {len(self)} items>"


def _write(row: Row) -> Any:
    if codec.is_compact() and row.table is not None:
        return row.place
    return [codec.encode(row.identity), {n: codec.encode(v) for n, v in row.items()}]


def _read(data: Any, context: codec.Context) -> Row:
    if isinstance(data, int):
        if context.items is None:
            raise FormatError("rows are written by their places here: give the items")
        row: Row = context.items[data]
        return row
    cells = {name: codec.decode(value, context) for name, value in data[1].items()}
    return Row(codec.decode(data[0], context), cells)


codec.register(Row, "$row", _write, _read)
