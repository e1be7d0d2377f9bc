"""A table: rows are items, features read columns.

Columns are loaded when first read, and cleaned: one type of each kind, times in UTC without a zone,
NaN and infinity unknown. A feature is evaluated once over the whole table, into packed bits, and
kept.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from tellapart.columns import Words
from tellapart.errors import FeatureError, FormatError, ParameterError
from tellapart.features import Expression, parse_feature, tree
from tellapart.features.candidates import Candidate
from tellapart.features.profile import Profile
from tellapart.features.to_polars import cleaned, from_dtype
from tellapart.features.tree import Type
from tellapart.learners.history import Columns
from tellapart.model import truth
from tellapart.protocol import Feature, Item, Label
from tellapart.tables.findings import Finding
from tellapart.tables.frames import BROKEN, first_line, no_column, to_lazy
from tellapart.tables.packed_columns import evaluate, reads
from tellapart.tables.row_names import LONGEST_NAME, Name, RowNames, is_code, titles
from tellapart.tables.rows import Row, Rows, Tag
from tellapart.tables.source import Opened, frame_source
from tellapart.tables.table_features import (
    RANKED,
    Part,
    candidates_in,
    columns_of,
    features_at_first_sight,
    has_cents,
    row_numbers,
)
from tellapart.tables.typed_columns import typed_findings

_LENGTH = re.compile(
    r"\b(?:is|are|was)(?: not|n['’]t)?(?: very| too| rather| quite)? (short|long|brief|lengthy)"
    r"(?=[.!?\s]*$| (?:and|or|but) )",
    re.IGNORECASE,
)
"""What people say of the length of a text, unless it is one of the values."""
_LOOK = 10_000
"""Rows looked at to show what a column of texts holds."""


class Table:
    """Items in rows.

    Parameters
    ----------
    data : mapping of columns, list of rows, LazyFrame, or DataFrame of any library
        Polars, pandas, pyarrow, DuckDB and whatever else has `__arrow_c_stream__`. Files are read
        by `read_table`.
    id : str, default=None
        The column that names an item; each value once. None: the number of the row, from 0.
    name : str, default="table"
        What messages call it.
    title : str, default=None
        The column that names items in sentences; values may repeat. None: the id, or the column
        that a person would choose (`row_names.titles`).

    Examples
    --------
    >>> zoo = Table({"name": ["bear", "duck", "bass"], "legs": [4, 2, 0]}, id="name")
    >>> zoo
    <table: 3 items, 2 columns>
    >>> zoo.schema
    {'name': 'text', 'legs': 'integer'}
    >>> walks = zoo.parse("legs > 0")
    >>> zoo.truth(walks), [str(item) for item in zoo.items if walks(item)]
    (array([3], dtype=uint64), ['bear', 'duck'])
    """

    def __init__(
        self, data: Any, *, id: str | None = None, name: str = "table", title: str | None = None
    ) -> None:
        if not isinstance(data, Opened):
            data = replace(frame_source(data, name).table(), has_options=False)
        self._opened: Opened = data
        self.name, self.id = data.name, id
        self.whole: int | None = data.whole
        """How many rows the source has, if this is a random sample of them."""
        self.dates: str | None = data.dates
        """Day first or month first, where dates such as 1/2/2024 were read: the option of
        `read_table` with which another file is read in the same way."""
        self._source, self._length, self._whole = to_lazy(data.frame, self.name)
        self._dtypes = dict(self._source.collect_schema())
        kinds = {column: from_dtype(dtype) for column, dtype in self._dtypes.items()}
        self._types = {column: kind for column, kind in kinds.items() if kind is not None}
        self.tags: dict[str, Tag] = {}
        self._frame = pl.DataFrame()  # the columns loaded so far
        self._parts: dict[int, Part] = {}
        self._profile: Profile | None = None
        self._kept: dict[Feature, Words] = {}
        self._places: dict[Hashable, int] | None = None
        self._title: str | None = title
        if title is not None:
            self.check(title)
        if id is not None:
            self._check_ids()

    # -- what is in it

    def is_clean(self, columns: Iterable[str]) -> bool:
        """Whether engines take these columns in one way: no number is NaN, infinite, beyond what
        arithmetic takes or a float of 32 bits; no text has a Kelvin sign or a dotted capital I.

        >>> Table({"size": [1.5, float("nan")], "legs": [4, 2]}).is_clean(["size"])
        False
        """
        checks = [pl.lit(True)]
        for name in self._types.keys() & set(columns):
            column, dtype = pl.col(name), self._dtypes[name]
            if dtype == pl.Float32:
                return False
            if dtype == pl.Float64:
                size = column.abs()
                checks.append((size.is_between(tree.LEAST, tree.MOST) | (size == 0)).all())
            elif self._types[name] is Type.TEXT:
                checks.append(~column.cast(pl.String).str.contains("[\u212a\u0130]").any())
        return bool(self._read(self._source.select(pl.all_horizontal(checks))).item())

    def __len__(self) -> int:
        return self._length

    def __repr__(self) -> str:
        return f"<{self.name}: {len(self):,} items, {len(self.columns)} columns>"

    def _repr_html_(self) -> str:
        """The first rows."""
        from tellapart.html_views import LISTED, table

        rows = [self.items[place] for place in range(min(LISTED, len(self)))]
        caption = f"{self.name}: {len(self):,} rows, {len(self.columns)} columns"
        columns = self.columns
        return table(columns, ([row[one] for one in columns] for row in rows), caption)

    @property
    def columns(self) -> list[str]:
        """The columns a feature can read, tags included."""
        return [*self._types, *self.tags]

    @property
    def unreadable(self) -> dict[str, str]:
        """Columns of a kind that features cannot read, and their kind."""
        return {n: str(kind) for n, kind in self._dtypes.items() if n not in self._types}

    @property
    def schema(self) -> dict[str, str]:
        """The type of every column; what `parse_feature` wants."""
        return {name: kind.value for name, kind in self.types.items()}

    @property
    def types(self) -> dict[str, Type]:
        """The same, as types."""
        return {**self._types, **dict.fromkeys(self.tags, Type.BOOL)}

    @property
    def items(self) -> Rows:
        """The rows, made when asked for."""
        return Rows(self)

    def ids(self) -> Sequence[Hashable]:
        """The id of every item."""
        return range(len(self)) if self.id is None else self.values(self.id)

    def item(self, identity: Hashable) -> Row:
        """The item with an id."""
        return self.items[self.place(identity)]

    def place(self, item: Item) -> int:
        """The number of an item's row; the item may be a row or an id."""
        if isinstance(item, Row):
            if item.table is self:
                return item.place
            item = item.identity
        known = self._identities()
        place = item if known is None else known.get(item)
        if not isinstance(place, int) or isinstance(place, bool) or not 0 <= place < len(self):
            what = "a row number" if self.id is None else f"a value of column {self.id!r}"
            raise ParameterError(f"{self.name} has no item {item!r}; ids are {what}")
        return place

    def values(self, column: str) -> list[Any]:
        """A column, cleaned, as a list."""
        self.check(column)
        return self.frame([column]).to_series().to_list()

    def labels(self, column: str) -> list[Label]:
        """The labels in a column; None where it is empty."""
        return self.values(column)

    def summary(self) -> str:
        """What was read, column by column.

        >>> print(Table({"legs": [4, 2, None], "name": ["bear", "duck", "bass"]}).summary())
        table: 3 items, 2 columns
          legs  integer   2 to 4  (1 unknown)
          name  text      'bass', 'bear', 'duck'
        """
        lines = [f"{self.name}: {len(self):,} items, {len(self.types)} columns"]
        if self.whole is not None:
            lines[0] += f", a random sample of {self.whole:,} rows"
        width = max(map(len, self.types), default=0)
        for name, kind in self.types.items():
            column = self.frame([name]).to_series()
            unknown = f"  ({column.null_count():,} unknown)" if column.null_count() else ""
            lines.append(f"  {name:<{width}}  {kind.value:<8}  {_shown(column, kind)}{unknown}")
        if self.unreadable:
            names = (f"{name} ({kind})" for name, kind in self.unreadable.items())
            lines.append(f"  not readable by features: {', '.join(names)}")
        order = {name: place for place, name in enumerate(self.types, 1)}
        findings = sorted(self.findings, key=lambda one: order.get(one.column or "", 0))
        if findings:
            lines += ["How it was read:", *(f"  {one}" for one in findings)]
        return "\n".join(lines)

    @property
    def findings(self) -> list[Finding]:
        """What could have been read in another way, column by column, and how it was read.

        >>> for finding in Table({"wet": ["yes", "no"], "tags": [["red"], []]}).findings:
        ...     print(finding)
        tags: lists; read as texts of their elements, such as 'red, big'
        wet: only 'no' and 'yes'; read as texts
        """
        opened = self._opened
        if not opened.looked:
            said = {one.column for one in opened.findings}
            try:
                found = typed_findings(self._source.select(list(self._types)), len(self), said)
            except BROKEN as error:
                raise FormatError(f"{self.name} cannot be read: {first_line(error)}") from error
            found = found if opened.has_options else [replace(one, option={}) for one in found]
            opened = replace(opened, findings=[*opened.findings, *found], looked=True)
            self._opened = opened
        return opened.findings

    # -- features

    def parse(self, text: str) -> Expression:
        """A feature over the columns of this table.

        >>> films = Table({"title": ["Jaws", "A trip to the moon"]})
        >>> films.parse("title is short")
        Traceback (most recent call last):
        ...
        tellapart.errors.FeatureError: no title is "short". For the length, write: title is shorter
        than 20 letters; for the text: title is "short"
        """
        made, said = parse_feature(text, self.types), _LENGTH.search(text)
        before, word = (text[: said.start()], said[1].lower()) if said else ("", "")
        for name in (n for n in made.schema if said and self.types[n] is Type.TEXT):
            named = _plain(before).endswith(_plain(name))
            if named and not (self.frame([name])[name].str.to_lowercase() == word).any():
                longer = "shorter" if word in ("short", "brief") else "longer"
                raise FeatureError(
                    f'no {name} is "{word}". For the length, write: {name} is {longer} than 20'
                    f' letters; for the text: {name} is "{word}"',
                    spot=said.span(1) if said else None,
                )
        return made

    def truth(self, feature: Feature) -> Words:
        """Where `feature` holds: 64 items a word, lowest bit first, bits beyond the last item zero.

        Computed once and kept; the words are read-only.
        """
        kept = self._kept.get(feature)
        if kept is None:
            kept = self._kept[feature] = evaluate(self, feature)
            kept.flags.writeable = False
        return kept

    def knows(self, feature: Feature) -> bool:
        """Whether the truth of a feature is known already."""
        return feature in self._kept

    def count(self, feature: Feature) -> int:
        """On how many items `feature` holds.

        >>> Table({"legs": [4, 2, None]}).count("legs")
        2
        """
        return int(np.bitwise_count(self.truth(feature)).sum())

    def forget(self) -> None:
        """Free the memory of all packed columns."""
        self._kept.clear()

    def tag(self, name: str) -> Tag:
        """The tag of that name; made, and unknown everywhere, if there is none yet."""
        if name not in self.tags:
            if name in self._dtypes:
                raise ParameterError(
                    f"{self.name} has a column {name!r}; give the tag another name"
                )
            if not name or not isinstance(name, str):
                raise ParameterError(f"a tag needs a name, got {name!r}")
            self.tags[name] = Tag(name, self)
        return self.tags[name]

    def without(self, columns: Iterable[str]) -> Table:
        """The same rows without some columns, such as the labels, and without tags.

        A learner that looks into items looks into every column: one that holds the labels tells it
        all of them.

        Examples
        --------
        >>> zoo = Table({"legs": [4, 2], "class": ["mammal", "bird"]})
        >>> labels, zoo = zoo.labels("class"), zoo.without(["class"])
        >>> labels, zoo.columns
        (['mammal', 'bird'], ['legs'])
        """
        for column in (left_out := list(columns)):
            self.check(column)
        title = self._title if self._title not in left_out else None
        findings = [one for one in self._opened.findings if one.column not in left_out]
        frame = self._opened.frame.drop(left_out)
        opened = replace(self._opened, frame=frame, findings=findings)
        return Table(opened, id=self.id, title=title)

    def names(self, without: Iterable[str] = ()) -> str | None:
        """The first column that could name the items: texts, all known, all different, and short.

        >>> Table({"body": ["So! " * 40, "Ah, " * 40], "from": ["Ann", "Bob"]}).names()
        'from'
        """
        passed = set(without)
        for name, kind in self._types.items():
            if kind is Type.TEXT and name not in passed and len(self) > 1:
                column = self.frame([name]).to_series()
                if not column.null_count() and column.n_unique() == len(column):
                    lengths = column.head(1000).str.len_chars().to_numpy()
                    if np.median(lengths) <= LONGEST_NAME:
                        return name
        return None

    @property
    def title(self) -> str | None:
        """The column that names items in sentences, if one does: the id, unless it is a code, or
        else the best of `row_names.titles`.

        >>> Table({"n": [1, 2, 3], "Title": ["Jaws", "Alien", "Jaws"]}).title
        'Title'
        """
        return self._names.title

    @title.setter
    def title(self, column: str | None) -> None:
        if column is not None:
            self.check(column)
        self._title = column
        self.__dict__.pop("_names", None)

    @cached_property
    def _names(self) -> RowNames:
        if self._title is not None or self.id is None:
            found = [] if self._title is not None else titles(self)
            return RowNames(self, self._title or next(iter(found), None))
        head = self.frame([self.id]).to_series().head(100).to_list()
        is_name = self._types[self.id] is Type.TEXT and 2 * sum(map(is_code, head)) <= len(head)
        named = self.id if is_name else next(iter(titles(self, [self.id])), None)
        return RowNames(self, named)

    @property
    def quoted(self) -> bool:
        """Whether the items' names are sentences."""
        return self._names.quoted

    def called(self, place: int) -> Name:
        """What an item is called in sentences: its title, and what tells it from others that have
        the same; without titles, the number of its row and what kind it is."""
        return self._names(place)

    @cached_property
    def row_numbers(self) -> frozenset[str]:
        """The columns that look like a key or a number of the row (`table_features`)."""
        return row_numbers(self)

    @cached_property
    def decimals(self) -> dict[str, int]:
        """The columns of amounts, whose numbers have up to two decimals and are written with two.

        >>> Table({"price": [7.5, 12.25], "weight": [7.5, 12.0]}).decimals
        {'price': 2}
        """
        rows = self.part(RANKED).rows
        names = [name for name, kind in self._types.items() if kind is Type.NUMBER]
        return {name: 2 for name in names if has_cents(rows.get_column(name))}

    def columns_of(self, features: Iterable[Feature]) -> Columns:
        """Features as a learner takes them: with rows of this table that it may look at."""
        return columns_of(self, features)

    def features(self, without: Iterable[str] = (), *, words: int = 0) -> Columns:
        """For every column: the column itself, its values, or thresholds.

        See `tables.table_features`. `without`: columns to leave out, such as the label. `words`: so
        many words of every column of texts, too.
        """
        return features_at_first_sight(self, without, words)

    def candidates(
        self,
        item: Item,
        example: Item,
        history: Mapping[Item, Label] | Sequence[tuple[Item, Label]] = (),
        *,
        label: Label = None,
        limit: int = 30,
    ) -> list[Candidate]:
        """Features that hold on `item` and not on `example`, the most telling first.

        `history` has the labelled items so far, the example's label among them; `label` is the
        item's, if it is known. Of the id column only common words are offered: names do not
        describe other items. See `tellapart.features.candidates`.
        """
        return candidates_in(self, item, example, history, label=label, limit=limit)

    # -- frames

    def frame(self, columns: Sequence[str]) -> pl.DataFrame:
        """Some columns, cleaned."""
        return self.loaded(columns).select(columns)

    def loaded(self, columns: Sequence[str]) -> pl.DataFrame:
        """All columns loaded so far, among them `columns`."""
        held = self._frame.columns
        if missing := [name for name in columns if name not in held]:
            stored = [name for name in missing if name not in self.tags]
            made = [self.tags[name].series() for name in missing if name in self.tags]
            if stored:
                read = self._clean(self._read(self._source.select(stored))).rechunk()
                made += read.get_columns()
            self._frame = pl.DataFrame([*self._frame.get_columns(), *made])
        return self._frame

    def part(self, rows: int) -> Part:
        """That many rows, evenly spread, or all if there are no more: for estimates."""
        frame = self.loaded(self.columns)
        known = self._parts.get(rows)
        if known is None or known.frame is not frame:
            known = self._parts[rows] = Part(frame, rows)
        return known

    def profile(self) -> Profile:
        """What is known of the columns, tags left out, from a part of the table; made once."""
        if self._profile is None:
            self._profile = Profile(self.part(RANKED).rows, self._types)
        return self._profile

    def cells(self, place: int) -> dict[str, Any]:
        """The values of one row, tags left out."""
        return self._slice(place, 1).row(0, named=True)

    def rows(self, start: int, count: int) -> list[Row]:
        """Some items."""
        if count == 1:  # a single row need not be read to be named
            identity = start if self.id is None else self.frame([self.id])[self.id][start]
            return [Row(identity, table=self, place=start)]
        cells = self._slice(start, count).to_dicts()
        names = range(start, start + count) if self.id is None else (c[self.id] for c in cells)
        pairs = zip(names, cells, strict=False)
        return [Row(n, c, table=self, place=start + i) for i, (n, c) in enumerate(pairs)]

    def _slice(self, start: int, count: int) -> pl.DataFrame:
        """A few rows; of a file that is read column by column, without loading whole columns."""
        columns = list(self._types)
        if self._whole or set(columns) <= set(self._frame.columns):
            return self.frame(columns).slice(start, count)
        return self._clean(self._read(self._source.slice(start, count).select(columns)))

    def _read(self, wanted: pl.LazyFrame) -> pl.DataFrame:
        try:
            return wanted.collect()
        except BROKEN as error:
            raise FormatError(f"{self.name} cannot be read: {first_line(error)}") from error

    def _clean(self, raw: pl.DataFrame) -> pl.DataFrame:
        changes = []
        for name in raw.columns:
            kind = self._types[name]
            column = cleaned(pl.col(name), kind, self._dtypes[name])
            if kind.temporal and raw.select(_beyond(column).any()).item():
                raise FormatError(
                    f"{self.name}: column {name!r} holds a date outside the years 1 to 9999. Make"
                    " it null where it is unknown"
                )
            plain = kind is Type.NUMBER and raw.schema[name] == pl.Float64
            if plain and raw[name].is_finite().all():
                column = pl.col(name)  # as it is, without a copy
            changes.append(column)
        return raw.select(changes)

    def _identities(self) -> dict[Hashable, int] | None:
        if self.id is not None and self._places is None:
            self._places = {value: n for n, value in enumerate(self.values(self.id))}
        return self._places

    def _check_ids(self) -> None:
        assert self.id is not None
        self.check(self.id)
        column = self.frame([self.id]).to_series()
        if column.null_count():
            place = column.is_null().arg_max()
            raise FormatError(
                f"{self.name}: row {place} has no id: column {self.id!r} is empty there"
            )
        if column.n_unique() < len(column):
            twice = column.filter(column.is_duplicated())[0]
            first, second = (column == twice).arg_true().to_list()[:2]
            raise FormatError(
                f"{self.name}: the id {twice!r} in column {self.id!r} stands in rows {first} and"
                f" {second}. Ids must differ: choose another column, or none for row numbers"
            )

    def check(self, column: str) -> None:
        """Raise unless there is such a column."""
        if column in self._types or column in self.tags:
            return
        held = self.unreadable.get(column)
        note = "" if held is None else f" that can be read (it holds {held})"
        raise no_column(self.name, column, self.columns, note)

    def retag(self, tag: Tag, place: int) -> None:
        """Correct the packed columns that read a tag, after it changed in one place."""
        self._frame = self._frame.drop(tag.name, strict=False)
        for feature in [f for f in self._kept if reads(f, tag.name)]:
            words = self._kept[feature].copy()
            bit = np.uint64(1 << place % 64)
            words[place // 64] &= ~bit
            if truth(feature, self.items[place]):
                words[place // 64] |= bit
            words.flags.writeable = False
            self._kept[feature] = words


def _plain(name: str) -> str:
    return name.rstrip(' "').lower().replace("_", " ")


def _beyond(column: pl.Expr) -> pl.Expr:
    """Where a date is outside the years 1 to 9999."""
    day = column.dt.date()
    return (day < datetime.date.min) | (day > datetime.date.max)


def _shown(column: pl.Series, kind: Type) -> str:
    """What values a column has."""
    if column.null_count() == len(column):
        return "nothing"
    if kind is Type.BOOL:
        true = int(column.sum())
        return f"{true:,} true, {int(column.count()) - true:,} false"
    if kind is not Type.TEXT:
        return f"{column.min()!s} to {column.max()!s}"
    head = column.head(_LOOK).drop_nulls().unique(maintain_order=True)  # enough of them
    short = (text if len(text) <= 24 else f"{text[:21]}..." for text in head.head(4))
    shown = ", ".join(map(repr, sorted(short)))
    if len(head) > 4:
        shown += f", ... ({len(head):,}{' or more' if len(column) > _LOOK else ''} different)"
    return shown
