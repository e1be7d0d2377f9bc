"""What tells two items apart: simple features that hold on the one and not on the other.

Every column in which the two differ offers a few: the value itself, its opposite, a round threshold
between two numbers or dates, words and phrases, groups of values, being known at all. They are
ranked on the labelled history by how much more often they hold on items labelled like the item
than on items labelled like the example,

    score = (yes + 1) / (likes + 2) - (no + 1) / (unlikes + 2),

between -1 and 1. The difference of two rates does not care how many items of either label there
happen to be, and the ones and twos keep a feature seen once from looking perfect.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from tellapart.counts import counted
from tellapart.features import canonical, letters
from tellapart.features.cuts import best_cut, round_cut
from tellapart.features.language import Expression
from tellapart.features.tree import Column, Node, Type, Value, Wild
from tellapart.protocol import Item

if TYPE_CHECKING:
    import polars as pl

WORDS = 40
"""At most so many words and phrases of a text are offered."""
LONGEST = 60
"""A longer text is not offered as a value."""
GROUP = 8
"""At most so many values are offered as a group."""
OF_A_COLUMN = 5
"""Of one column at most so many come first; the rest follow when all columns have had their say."""

_WORD = re.compile(r"\w+")


class Candidate(NamedTuple):
    """A feature that tells the item from the example, and what the history says of it."""

    feature: Expression
    score: float
    yes: int
    """On how many items labelled like the item it holds."""
    no: int
    """On how many items labelled like the example it holds."""
    covers: int
    """On how many items of the table it holds."""
    exact: bool = True
    """False if `covers` is an estimate from a part of the table."""

    def __str__(self) -> str:
        about = "" if self.exact else "about "
        return f"{self.feature} ({about}{counted(self.covers, 'item')})"


def candidates(
    item: Item,
    example: Item,
    types: Mapping[str, Type],
    like: pl.DataFrame,
    unlike: pl.DataFrame,
    *,
    limit: int = 30,
) -> list[Candidate]:
    """Features that hold on `item` and not on `example`, the most telling first.

    Parameters
    ----------
    like, unlike : frames
        Items labelled like the item, and like the example; cleaned columns, as a `Table` has them.
        `covers` counts in these two; a table counts in all of itself (`Table.candidates`).
    limit : int, default=30
        How many, at most.

    Examples
    --------
    >>> import polars as pl
    >>> types = {"legs": Type.INTEGER, "name": Type.TEXT}
    >>> birds = pl.DataFrame({"legs": [2, 2], "name": ["duck", "crow"]})
    >>> others = pl.DataFrame({"legs": [4, 0], "name": ["bear", "bass"]})
    >>> duck, bear = {"legs": 2, "name": "duck"}, {"legs": 4, "name": "bear"}
    >>> [str(c.feature) for c in candidates(duck, bear, types, birds, others, limit=3)]
    ['legs = 2', "name = 'duck'", 'legs < 4']
    """
    offered: dict[Expression, tuple[int, str]] = {}
    for name, kind in types.items():
        for rank, node in _offers(name, kind, item, example, like, unlike):
            feature = Expression(canonical.feature(node))
            if feature not in offered and feature(item) and not feature(example):
                offered[feature] = rank, name
    yes, no = count(offered, like), count(offered, unlike)
    made = [
        Candidate(f, _score(y, like.height, n, unlike.height), y, n, y + n)
        for f, y, n in zip(offered, yes, no, strict=True)
    ]
    made.sort(key=lambda c: (-round(c.score, 9), offered[c.feature][0], str(c.feature)))
    return _spread(made, lambda c: offered[c.feature][1])[:limit]


def count(features: Iterable[Expression], frame: pl.DataFrame) -> list[int]:
    """On how many rows of `frame` each feature holds."""
    expressions = [f.to_polars(clean=True).sum().alias(str(n)) for n, f in enumerate(features)]
    return list(frame.select(expressions).row(0)) if expressions else []


def _score(yes: int, likes: int, no: int, unlikes: int) -> float:
    return (yes + 1) / (likes + 2) - (no + 1) / (unlikes + 2)


def _spread(made: list[Candidate], column: Any) -> list[Candidate]:
    """At most `OF_A_COLUMN` of each column first."""
    first: list[Candidate] = []
    later: list[Candidate] = []
    seen: dict[str, int] = {}
    for candidate in made:
        name = column(candidate)
        seen[name] = seen.get(name, 0) + 1
        (first if seen[name] <= OF_A_COLUMN else later).append(candidate)
    return first + later


def _offers(
    name: str, kind: Type, item: Item, example: Item, like: pl.DataFrame, unlike: pl.DataFrame
) -> Iterator[tuple[int, Node]]:
    """(rank, node) for one column; a lower rank is simpler and comes first among equals."""
    column, mine, theirs = Column(name, kind), item.get(name), example.get(name)
    if mine is None and theirs is None:
        return
    if mine is None:
        yield 7, canonical.is_null(column)
        return
    if theirs is None:
        yield 6, canonical.negate(canonical.is_null(column))
    if mine == theirs:
        return
    if kind is Type.BOOL:
        yield 0, column if mine else canonical.negate(column)
        return
    short = len(str(mine)) <= LONGEST and kind is not Type.DATETIME
    if short:  # a text of several words is as good as a name: it tells, but of one item only
        rank = 5 if kind is Type.TEXT and " " in mine else 1
        yield rank, canonical.compare("=", column, _literal(mine, kind))
    if theirs is not None and len(str(theirs)) <= LONGEST and kind in (Type.TEXT, Type.INTEGER):
        yield 6, canonical.compare("<>", column, _literal(theirs, kind))
    if kind in (Type.TEXT, Type.INTEGER) and short:
        yield from _groups(column, mine, theirs, like[name], unlike[name])
    if kind is Type.TEXT:
        yield from _texts(column, mine, theirs or "")
    elif theirs is not None:
        yield from _thresholds(column, mine, theirs, like[name], unlike[name])


def _thresholds(
    column: Column, mine: Any, theirs: Any, like: pl.Series, unlike: pl.Series
) -> Iterator[tuple[int, Node]]:
    op = ">=" if mine > theirs else "<"
    low, high = min(mine, theirs), max(mine, theirs)
    cuts = [round_cut(low, high), best_cut(low, high, like, unlike, above=op == ">=")]
    for cut in dict.fromkeys(c for c in cuts if c is not None):
        yield 2, canonical.compare(op, column, _literal(cut, column.type))
    if column.type.temporal and mine.year != theirs.year:
        years = Value(mine.year, Type.INTEGER)
        yield 3, canonical.compare("=", canonical.call("year", column), years)


def _literal(cut: Any, kind: Type) -> Value:
    return canonical.number(cut) if kind.numeric else Value(cut, kind)


def _groups(
    column: Column, mine: Any, theirs: Any, like: pl.Series, unlike: pl.Series
) -> Iterator[tuple[int, Node]]:
    """Values that are commoner under the item's label than under the example's, and the reverse."""
    ours, others = _rates(like), _rates(unlike)
    for wanted, unwanted, sure, never, negated in (
        (ours, others, mine, theirs, False),
        (others, ours, theirs, mine, True),
    ):
        if sure is None:
            continue
        values = {v for v, rate in wanted.items() if rate > unwanted.get(v, 0)} | {sure}
        values.discard(never)
        if 2 <= len(values) <= GROUP:
            node = canonical.is_in(column, [Value(v, column.type) for v in values])
            yield 4, canonical.negate(node) if negated else node


def _rates(column: pl.Series) -> dict[Any, float]:
    """How common each value is that comes at least twice, if there are few."""
    known = column.drop_nulls()
    if not len(known) or known.n_unique() > 50:
        return {}
    counts = known.value_counts().iter_rows()
    return {value: times / len(column) for value, times in counts if times > 1}


def _texts(column: Column, mine: str, theirs: str) -> Iterator[tuple[int, Node]]:
    """Words and phrases the item has, then words that only the example has."""
    ours, others = _phrases(mine), _phrases(theirs)
    several = len(_WORD.findall(mine)) > 1 or len(_WORD.findall(theirs)) > 1
    if several:
        for phrase in [p for p in ours if p not in others][:WORDS]:
            yield 3, _has(column, phrase)
        for phrase in [p for p in others if p not in ours and " " not in p][: WORDS // 4]:
            yield 6, canonical.negate(_has(column, phrase))
    head = re.match(r"\w+?(?=[-_/.:\d])\D?", mine)  # the front of a code such as AB-123
    if not several and head and len(head[0]) < len(mine):
        yield 3, canonical.like(column, (head[0], Wild.ANY), fold=False)


def _has(column: Column, phrase: str) -> Node:
    return canonical.like(column, (Wild.ANY, phrase, Wild.ANY), fold=True)


def _phrases(text: str) -> dict[str, None]:
    """Words of two letters or more, then pairs and triples of words that one space parts."""
    low = letters.lower(text[:20_000])
    found = [m for m in _WORD.finditer(low) if len(m[0]) <= 30]
    phrases = [m[0] for m in found if len(m[0]) > 1]
    for size in (2, 3):
        for start in range(len(found) - size + 1):
            phrase = low[found[start].start() : found[start + size - 1].end()]
            if re.fullmatch(r"\w+(?: \w+)+", phrase):
                phrases.append(phrase)
    return dict.fromkeys(phrases)
