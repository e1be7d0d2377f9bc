"""The features a table offers: at first sight, and to tell two items apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from tellapart.columns import unpack
from tellapart.columns.thresholds import round_cut
from tellapart.features import canonical, letter_case
from tellapart.features.candidates import Candidate, Truths, candidates
from tellapart.features.expression import Expression
from tellapart.features.to_polars import truths
from tellapart.features.tree import Column, Node, Type, Wild
from tellapart.learners.history import Columns
from tellapart.protocol import Feature, Item, Label
from tellapart.tables.rows import Row

if TYPE_CHECKING:
    from tellapart.tables.table import Table

NUMBERS, TEXTS = 10, 50
"""A column with at most that many different values makes a feature of each."""
LONGEST = 40
"""A longer text is not compared with."""
HISTORY = 500
"""The most labelled items of either label that rank the candidates."""
RANKED = 2_000
"""Rows of the table, evenly spread, that show how common a candidate is when it is ranked."""
COUNTED = 20_000
"""Rows of a larger table, evenly spread, that estimate how many items a candidate covers."""
POOL = 1_000
"""Rows of a larger table, evenly spread, that a learner looks at without their labels."""
FEWEST_KEYS = 20
"""In fewer rows, whole numbers that all differ need not be keys."""
CHARACTERS = 2_000_000
"""Of a column with more characters in these rows, only the fronts of the texts are read."""
_KEPT = 50_000_000  # bytes of truths
_READ, _LONG = 20_000, 2_000  # texts, and characters of each, that are read for words
_CENT = 1e-5  # of the last decimal is an error of rounding
_SHORT = 3  # letters of a word that is in many others by chance
_WORD = re.compile(r"[^\W\d_]{2,40}")


def features_at_first_sight(table: Table, without: Iterable[str] = (), words: int = 0) -> Columns:
    """For every column: the column itself, its values, or thresholds.

    - A Boolean column is a feature.
    - Up to 10 different numbers, or 50 different texts, make a feature each: `legs = 4`. Of two
      values without gaps, the greater one is enough. Four numbers or more are cut, too:
      `legs >= 4`.
    - More numbers, and dates, are cut at round values near their deciles: `weight >= 12.5`.
    - More texts, or texts that all differ (names), make none; with `words`, one for each of so many
      words that are neither in nearly every text nor in very few, the commonest first.
    - A column with some empty cells makes one more: `legs IS NULL`.

    >>> from tellapart.tables import Table
    >>> pets = Table({"name": ["rex", "tom", "io"], "legs": [4, 4, None], "barks": ["y", "n", "n"]})
    >>> [str(feature) for feature in features_at_first_sight(pets)]
    ['legs IS NULL', 'legs = 4', "barks = 'y'"]
    """
    passed = {*without, table.id}
    found = [
        Expression(node)
        for name, kind in table.types.items()
        if name not in passed
        for node in (
            *_column(Column(name, kind), table.frame([name]).to_series()),
            *_words(Column(name, kind), table.frame([name]).to_series(), words),
        )
    ]
    return columns_of(table, found)


class TablePool:
    """Some rows of a table, evenly spread, whose labels a learner may not know yet."""

    def __init__(self, table: Table) -> None:
        self._table = table

    @cached_property
    def _places(self) -> npt.NDArray[np.int64]:
        rows = len(self._table)
        return np.linspace(0, rows - 1, min(rows, POOL)).astype(np.int64)

    @property
    def ids(self) -> list[Hashable]:
        """What the rows are called."""
        known = self._table.ids()
        return [known[place] for place in self._places]

    def truths(self, features: Sequence[Feature]) -> npt.NDArray[np.bool_]:
        """The truth of features on all these rows: features by rows."""
        table = self._table
        plain = [feature for feature in features if isinstance(feature, Expression)]
        known: dict[Feature, Truths] = dict(zip(plain, table.part(POOL).truths(plain), strict=True))
        found = np.zeros((len(features), len(self._places)), dtype=np.bool_)
        for number, feature in enumerate(features):
            if feature in known:
                found[number] = known[feature]
            else:
                found[number] = unpack(table.truth(feature), len(table))[self._places]
        return found


def columns_of(table: Table, features: Iterable[Feature]) -> Columns:
    """Features as a learner takes them: with the rows of the table, and without what looks like a
    key, a number of the row, or a date unless it is named."""
    return Columns(features, TablePool(table), _entered(table))


def _entered(table: Table) -> Iterator[str]:
    for name, kind in table.types.items():
        if kind in (Type.DATE, Type.DATETIME) or name in table.row_numbers:
            yield name


def row_numbers(table: Table) -> frozenset[str]:
    """The columns whose whole numbers all differ, and stand in order or have few gaps."""
    found = set()
    for name, kind in table.types.items():
        if kind is Type.INTEGER and len(table) >= FEWEST_KEYS:
            cells = table.frame([name]).to_series()
            steps = cells.sort().diff().drop_nulls()
            differ = cells.n_unique() == len(cells)
            if differ and (cells.is_sorted() or int(steps.sum()) < 2 * len(cells)):
                found.add(name)
    return frozenset(found)


def has_cents(cells: pl.Series) -> bool:
    """Whether numbers have up to two decimals, and some have two."""
    known = cells.drop_nulls()

    def whole(times: int) -> pl.Series:
        return (known * times - (known * times).round()).abs() < _CENT

    return bool(whole(100).all()) and not whole(10).all()


def _column(column: Column, cells: pl.Series) -> Iterator[Node]:
    known = cells.drop_nulls()
    complete = len(known) == len(cells)
    if not len(known):
        return
    if not complete:
        yield canonical.is_null(column)
    if column.type is Type.BOOL:
        yield column
    elif column.type is Type.TEXT:
        values = known.unique().sort()
        if len(values) <= TEXTS and len(values) < len(cells):
            yield from _values(column, values, complete)
    elif column.type.numeric and known.n_unique() <= NUMBERS:
        values = known.unique().sort()
        yield from _values(column, values, complete)
        for value in values[2:-1]:  # above the least, or the greatest, is said already
            yield canonical.compare(">=", column, canonical.literal(value, column.type))
    else:
        yield from _cuts(column, known.sort())


def _words(column: Column, cells: pl.Series, most: int) -> Iterator[Node]:
    """Words of texts that are more than names; a short word must stand by itself."""
    if not most or column.type is not Type.TEXT or cells.n_unique() <= TEXTS:
        return
    texts = cells.drop_nulls().head(_READ)
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(dict.fromkeys(_WORD.findall(letter_case.lower(text[:_LONG])), 1))
    least, enough = max(3, len(texts) // 200), 0.6 * len(texts)
    common = [word for word, times in counts.most_common() if least <= times <= enough]
    for word in common[:most]:
        wanted = word if len(word) > _SHORT else f" {word} "
        yield canonical.like(column, (Wild.ANY, wanted, Wild.ANY), fold=True)


def _values(column: Column, values: pl.Series, complete: bool) -> Iterator[Node]:
    if complete and len(values) <= 2:  # one is enough
        values = values.tail(len(values) - 1)
    for value in values:
        if len(str(value)) <= LONGEST:
            yield canonical.compare("=", column, canonical.literal(value, column.type))


def _cuts(column: Column, ordered: pl.Series) -> Iterator[Node]:
    """At each tenth: the roundest value above the last that is less."""
    made = set()
    for tenth in range(1, 10):
        at = ordered[len(ordered) * tenth // 10]
        place = ordered.search_sorted(at, side="left")
        if place == 0:
            continue  # everything is at least the least
        cut = round_cut(ordered[place - 1], at)
        if cut not in made:
            made.add(cut)
            yield canonical.compare(">=", column, canonical.literal(cut, column.type))


def candidates_in(
    table: Table,
    item: Item,
    example: Item,
    history: Mapping[Item, Label] | Sequence[tuple[Item, Label]],
    *,
    label: Label,
    limit: int,
    counted: int = COUNTED,
    named: Mapping[Expression, float] | None = None,
    habits: Mapping[str, float] | None = None,
    called: str | None = None,
) -> list[Candidate]:
    """See `Table.candidates`; `called` is the name of the label, if it is not the label itself."""
    pairs = history.items() if isinstance(history, Mapping) else history
    labels = {table.place(one): given for one, given in pairs}
    mine, theirs = table.place(item), table.place(example)
    label = labels.get(mine) if label is None else label
    other = labels.get(theirs)
    like = [n for n, given in labels.items() if given == label and label is not None]
    unlike = [n for n, given in labels.items() if given == other and other is not None]
    if label == other:  # nothing to tell apart but the two items themselves
        like, unlike = [], []
    ours = _spread([mine, *(n for n in like if n != mine)])
    others = _spread([theirs, *(n for n in unlike if n != theirs)])
    both = {label, other}
    rest = _spread([n for n, given in labels.items() if given not in both])
    known = _shortened(table.loaded(table.columns)[ours + others + rest])[0]
    ranked = table.part(min(counted, RANKED))
    whole = ranked.rows.height == len(table)
    part = ranked if whole else table.part(counted)
    made = candidates(
        _row(table, item, mine),
        _row(table, example, theirs),
        table.types,
        known[: len(ours)],
        known[len(ours) : len(ours) + len(others)],
        limit=limit,
        others=known[len(ours) + len(others) :],
        profile=table.profile(),
        held=ranked.truths,
        places=ours + others + rest if whole else None,
        named=named,
        habits=habits,
        name=table.id,
        called=str(label or "") if called is None else called,
        tags=table.tags,
    )
    rows = part.rows.height
    unknown = [c.feature for c in made if not table.knows(c.feature)]
    counts = dict(zip(unknown, part.count(unknown), strict=True))
    return [
        c._replace(
            covers=round(counts[c.feature] * len(table) / rows),
            exact=rows == len(table) and not part.shortened & c.feature.schema.keys(),
        )
        if c.feature in counts
        else c._replace(covers=table.count(c.feature), exact=True)
        for c in made
    ]


def _row(table: Table, item: Item, place: int) -> Row:
    """The item as a row of the table: as it is, if it is one."""
    return item if isinstance(item, Row) and item.table is table else table.items[place]


def _spread(places: list[int]) -> list[int]:
    """All places, or some of them evenly spread, the first always among them."""
    if len(places) <= HISTORY:
        return places
    return [places[n] for n in np.linspace(0, len(places) - 1, HISTORY).astype(np.int64)]


class Part:
    """Some rows of a frame, evenly spread, or all if there are no more; counts features in them.

    >>> import polars as pl
    >>> from tellapart.features import parse_feature
    >>> part = Part(pl.DataFrame({"legs": range(1000)}), 10)
    >>> part.rows.height, part.count([parse_feature("legs > 499", {"legs": "integer"})])
    (10, [5])
    """

    def __init__(self, frame: pl.DataFrame, rows: int) -> None:
        self.frame = frame
        if frame.height > rows:
            frame = frame[np.linspace(0, frame.height - 1, rows).astype(np.int64)]
        self.rows, self.shortened = _shortened(frame)
        """The rows, and the columns in which texts are cut because they are very long."""
        self._truths: dict[Expression, Truths] = {}

    def truths(self, features: Sequence[Expression]) -> list[Truths]:
        """Where each feature holds; kept, because the same features are asked for often."""
        if len(self._truths) * self.rows.height > _KEPT:
            self._truths.clear()
        new = [feature for feature in features if feature not in self._truths]
        self._truths.update(zip(new, truths(new, self.rows), strict=True))
        return [self._truths[feature] for feature in features]

    def count(self, features: Sequence[Expression]) -> list[int]:
        """On how many of the rows each feature holds."""
        return [int(np.count_nonzero(found)) for found in self.truths(features)]


def _shortened(frame: pl.DataFrame) -> tuple[pl.DataFrame, set[str]]:
    """A frame without the ends of very long texts, and the columns that had any."""
    texts = [column for column in frame.get_columns() if column.dtype == pl.String]
    long = {c.name for c in texts if c.estimated_size() > CHARACTERS}
    each = max(200, CHARACTERS // max(frame.height, 1))
    return frame.with_columns(pl.col(name).str.slice(0, each) for name in long), long
