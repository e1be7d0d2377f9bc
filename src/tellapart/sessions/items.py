"""The items of a session: rows of its table, by place and by id, each made once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterable
from typing import Any

from tellapart import codec
from tellapart.errors import TableChanged
from tellapart.features import Expression
from tellapart.sessions.history import id_key
from tellapart.tables import Row, Table

_BLOCK = 4096
_KEPT = 20_000  # rows
_FEW = 16  # rows that are read one by one


class Items:
    """Rows of a table, kept at hand once read.

    A row costs the same however long the table is: the columns are loaded once, when the session
    is opened.
    """

    missing: str | None = None
    """Why there is no table."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._frame = table.frame([name for name in table.types if name not in table.tags])
        self._rows: dict[int, Row] = {}
        self._features: dict[str, Expression] = {}
        self._complete: dict[str, bool] = {}

    def __len__(self) -> int:
        return self._frame.height

    @property
    def whole(self) -> int:
        """How many rows there are, if these are a random sample of them; else how many these are.

        A random draw from a random sample is one from the whole.
        """
        return self.table.whole or len(self)

    def row(self, place: int) -> Row:
        row = self._rows.get(place)
        if row is None:
            if len(self._rows) >= _KEPT:  # the oldest goes
                del self._rows[next(iter(self._rows))]
            row = self._rows[place] = self._make(place, self._frame.row(place, named=True))
        return row

    def knows_all(self, column: str) -> bool:
        """Whether a column has a value for every item; tags never do."""
        if column not in self._complete:
            stored = column in self._frame.columns
            self._complete[column] = stored and not self._frame[column].null_count()
        return self._complete[column]

    def fetch(self, places: Iterable[int]) -> list[Row]:
        """Several items at once; quicker than one by one."""
        wanted = list(dict.fromkeys(places))
        missing = [place for place in wanted if place not in self._rows]
        made = dict(zip(missing, self._read(missing), strict=True))
        return [self._rows.get(place) or made[place] for place in wanted]

    def prepare(self, places: Iterable[int]) -> None:
        """Make some items before they are asked for."""
        missing = [place for place in dict.fromkeys(places) if place not in self._rows]
        for start in range(0, len(missing), _BLOCK):
            block = missing[start : start + _BLOCK]
            self._rows.update(zip(block, self._read(block), strict=True))

    def _read(self, places: list[int]) -> list[Row]:
        if len(places) <= _FEW:  # Polars hands a gather to its threads, which takes longer
            cells = [self._frame.row(place, named=True) for place in places]
        else:
            cells = self._frame[places].to_dicts()
        return [self._make(place, c) for place, c in zip(places, cells, strict=True)]

    def _make(self, place: int, cells: dict[str, Any]) -> Row:
        name = place if self.table.id is None else cells[self.table.id]
        return Row(name, cells, table=self.table, place=place)

    def place(self, written: Any) -> int:
        plain = isinstance(written, str | int)
        return self.table.place(written if plain else codec.decode(written))

    def written(self, place: int) -> Any:
        """How the log writes an item: by its id."""
        return codec.encode(self.identity(place))

    def identity(self, place: int) -> Hashable:
        return self.row(place).identity

    def feature(self, text: str) -> Expression:
        """The feature that a text says; parsed once."""
        known = self._features.get(text)
        if known is None:
            known = self._features[text] = self.table.parse(text)
        return known


class MissingItems(Items):
    """The items of a session whose table is gone, or another one now: their ids, and no cells."""

    def __init__(self, why: str, was: dict[str, Any]) -> None:
        self.missing, self._count = why, int(was["items"])

    @property
    def table(self) -> Table:  # type: ignore[override]
        raise TableChanged(str(self.missing))

    def __len__(self) -> int:
        return self._count

    @property
    def whole(self) -> int:
        return self._count

    def row(self, place: Any) -> Row:
        return Row(self._identity(place))

    def prepare(self, places: Iterable[int]) -> None:
        """There is nothing to read."""

    def place(self, written: Any) -> Any:
        return id_key(written)

    def written(self, place: Any) -> Any:
        return codec.encode(self._identity(place))

    def _identity(self, key: Any) -> Hashable:
        written = json.loads(key) if isinstance(key, str) and key.startswith("{") else key
        found: Hashable = codec.decode(written)
        return found

    def feature(self, text: str) -> Expression:
        raise TableChanged(str(self.missing))

    def knows_all(self, column: str) -> bool:
        return False


def fingerprint(table: Table, rows: int | None = None) -> dict[str, Any]:
    """What a table is, short enough for a log: its columns, its length, and a hash of its cells.

    `rows`: of its first rows only.

    >>> zoo = Table({"name": ["bear", "duck"], "legs": [4, 2]}, id="name")
    >>> fingerprint(zoo)["items"], fingerprint(zoo) == fingerprint(zoo)
    (2, True)
    """
    stored = [name for name in table.types if name not in table.tags]
    frame = table.frame(stored)[:rows]
    digest = hashlib.sha256(codec.dump([[n, table.types[n].value] for n in stored]).encode())
    for start in range(0, frame.height, 100_000):
        block = frame.slice(start, 100_000)
        text = block.write_csv(include_header=False, quote_style="non_numeric", null_value="")
        digest.update(text.encode())
    return {
        "name": table.name,
        "id": table.id,
        "items": frame.height,
        "columns": {name: table.types[name].value for name in stored},
        "sha256": digest.hexdigest(),
    }


def check_same(table: Table, was: dict[str, Any]) -> int:
    """How many rows were added at the end of a session's table since it was last seen.

    Raises `TableChanged` if the others are not those that it had.
    """
    now = fingerprint(table)
    if now["sha256"] == was["sha256"] and now["id"] == was["id"]:
        return 0
    grew = now["items"] > was["items"] and now["id"] == was["id"]
    if grew and fingerprint(table, was["items"])["sha256"] == was["sha256"]:
        return int(now["items"] - was["items"])
    if now["id"] != was["id"]:
        what = (
            f"items were named by {was['id'] or 'their rows'}, now by {now['id'] or 'their rows'}"
        )
    elif now["items"] != was["items"]:
        what = f"it had {was['items']:,} items and now has {now['items']:,}"
        what += ", and they do not begin with those it had" if grew else ""
    elif now["columns"] != was["columns"]:
        before, after = was["columns"], now["columns"]
        odd = [n for n in {**before, **after} if before.get(n) != after.get(n)]
        what = f"other columns, or other types in them: {', '.join(odd[:5])}"
    else:
        what = "some cells are different, or the rows stand in another order"
    raise TableChanged(
        f"the table {was['name']!r} has changed since the session began: {what}. Nothing is lost:"
        " open the session with the table as it was, or begin a new session with the new one"
    )
