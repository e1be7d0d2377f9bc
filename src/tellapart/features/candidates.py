"""Candidate features: simple features that hold on one item and not on another.

Every column in which the two items differ offers some: the value, its opposite, a round threshold
between two numbers or dates, words and phrases, groups of values, being known at all. Features that
were named before are offered again. Candidates are ranked by how much more often they hold on items
labelled like the item than on items labelled like the example. Both rates are estimated from the
labelled history, with two extra items that are like the whole table:

    rate = (times it held + 2 p) / (items + 2),     p = its rate in the whole table.

The score is the difference of the two rates plus one standard error of it. The difference does not
depend on how many items of either label there are. The two extra items keep a feature that was seen
once from looking perfect: a word that is rare in the table does not count as common under a label
because of one item. The standard error puts features first that may turn out better than they look.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tellapart.features import canonical, letter_case
from tellapart.features.expression import Expression
from tellapart.features.phrasing import counted
from tellapart.features.thresholds import best_cut, round_cut
from tellapart.features.tree import Column, Node, Type, Value, Wild
from tellapart.features.vocabulary import LONGEST as LONGEST_WORD
from tellapart.features.vocabulary import READ, Vocabulary
from tellapart.protocol import Item

if TYPE_CHECKING:
    import polars as pl

WORDS = 60
"""The most common words of a text column that are offered."""
PHRASES = 12
"""The most phrases and uncommon words of a text that are offered."""
LONGEST = 60
"""A longer text is not offered as a value."""
GROUP = 8
"""The most values in a group."""
OF_A_COLUMN = 5
"""The most candidates of one column among the first; the rest follow those of all columns."""

_WORD = re.compile(r"\w+")
_JOINED = re.compile(r"\w+(?: \w+)+")
_SEVERAL = re.compile(r"\w\W+\w")


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
    part: pl.DataFrame | None = None,
    held: Callable[[Sequence[Expression]], Sequence[int]] | None = None,
    vocabulary: Callable[[str], Vocabulary] | None = None,
    named: Mapping[Expression, float] | None = None,
    name: str | None = None,
) -> list[Candidate]:
    """Features that hold on `item` and not on `example`, the most telling first.

    Parameters
    ----------
    like, unlike : frames
        Items labelled like the item, and like the example; cleaned columns, as a `Table` has them.
        `covers` counts in these two; a table counts in all of itself (`Table.candidates`).
    limit : int, default=30
        How many, at most.
    part : frame
        Rows of the table, labelled or not: how common a feature is. None: the two above.
    held : features -> numbers
        On how many rows of `part` each of some features holds. None: they are counted.
    vocabulary : column -> Vocabulary
        The common words of a column. None: those in `part`.
    named : feature -> float
        Features that were named before, and what that adds to their score.
    name : str
        The column that names items, if one does: whole, or in part, it says nothing of others, so
        only the common words in it are offered.

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
    import polars as pl

    from tellapart.features.to_polars import count

    whole = pl.concat([like, unlike]) if part is None else part
    sides = _Sides(like, unlike, whole)
    words = vocabulary or (lambda name: Vocabulary(whole[name].to_list()))
    ranks: dict[Expression, tuple[int, str]] = {}
    made: dict[Expression, Candidate] = {}

    for feature in named or ():
        if feature(item) and not feature(example):
            ranks[feature] = 0, next(iter(feature.schema))
    for one, kind in types.items():
        if _is_prose(kind, item.get(one), example.get(one)):
            column, known = Column(one, kind), words(one)
            mine, theirs = (letter_case.lower(row.get(one) or "") for row in (item, example))
            for wanted, word, counts in _words(known, mine, theirs, sides, one):
                has = _has(column, word)
                feature = _made(has if wanted else canonical.negate(has))
                if feature not in ranks:
                    ranks[feature] = 3 if wanted else 6, one
                    made[feature] = sides.candidate(feature, *counts)
            for phrase in _phrases(mine, theirs, known) if one != name else ():
                ranks.setdefault(_made(_has(column, phrase)), (3, one))
        for rank, node in _offers(one, kind, item, example, like, unlike) if one != name else ():
            feature = _made(canonical.feature(node))
            if feature not in ranks and feature(item) and not feature(example):
                ranks[feature] = rank, one
    rest = [feature for feature in ranks if feature not in made]
    known_of = count(rest, whole) if held is None else held(rest)
    for feature, (ours, others), times in zip(rest, sides.held(rest), known_of, strict=True):
        made[feature] = sides.candidate(feature, ours, others, times / max(whole.height, 1))
    for feature, more in (named or {}).items():
        if feature in made:
            score = min(made[feature].score + more, 1.0)
            made[feature] = made[feature]._replace(score=score)
    order = sorted(
        made.values(), key=lambda c: (-round(c.score, 9), ranks[c.feature][0], str(c.feature))
    )
    return _spread(order, lambda c: ranks[c.feature][1])[:limit]


@lru_cache(4096)  # the same features are offered again and again
def _made(node: Node) -> Expression:
    return Expression(node)


class _Sides(NamedTuple):
    """The items labelled like the item, those labelled like the example, and rows of the table."""

    like: pl.DataFrame
    unlike: pl.DataFrame
    whole: pl.DataFrame

    def held(self, features: Sequence[Expression]) -> Iterator[tuple[int, int]]:
        """On how many of either side each feature holds."""
        from tellapart.features.to_polars import truths

        for found in truths(features, self.like.vstack(self.unlike)):
            ours = int(np.count_nonzero(found[: self.like.height]))
            yield ours, int(np.count_nonzero(found)) - ours

    def score(self, yes: Any, no: Any, p: Any) -> Any:
        """The score of numbers or arrays; `yes`, `no`: the labelled items it holds on, `p`: its
        share of the table."""
        ours, others = self.like.height, self.unlike.height
        mine, theirs = (yes + 2 * p) / (ours + 2), (no + 2 * p) / (others + 2)
        spread = mine * (1 - mine) / (ours + 3) + theirs * (1 - theirs) / (others + 3)
        return mine - theirs + np.sqrt(np.maximum(spread, 0))

    def candidate(self, feature: Expression, yes: int, no: int, p: float) -> Candidate:
        score = min(float(self.score(yes, no, p)), 1.0)
        return Candidate(feature, score, int(yes), int(no), int(yes + no))


def _is_prose(kind: Type, mine: Any, theirs: Any) -> bool:
    """Whether two cells are worth reading word by word."""
    if kind is not Type.TEXT or mine is None or mine == theirs:
        return False
    return any(_SEVERAL.search(text) for text in (mine, theirs or ""))


def _words(
    known: Vocabulary, mine: str, theirs: str, sides: _Sides, column: str
) -> Iterator[tuple[bool, str, tuple[int, int, float]]]:
    """The common words that one of two texts has and the other has not, the most telling first:
    whether it is the item's, the word, and what `_Sides.candidate` wants to know of it. The texts
    are in lower case."""
    ours, others = known.holds(mine), known.holds(theirs)
    numbers = np.setxor1d(ours, others)
    wanted = np.isin(numbers, ours)
    texts = [frame.get_column(column).to_list() for frame in (sides.like, sides.unlike)]
    lengths = [sum(text is not None for text in side) for side in texts] + [known.texts]
    held = [known.count(texts[0]), known.count(texts[1]), known.times]
    yes, no, all_ = (
        np.where(wanted, times[numbers], length - times[numbers])
        for times, length in zip(held, lengths, strict=True)
    )
    p = all_ / max(known.texts, 1)
    order = np.argsort(-sides.score(yes, no, p), kind="stable")[:WORDS]
    said: dict[tuple[bool, int, int, float], list[str]] = {}
    for n in order.tolist():
        word = known.words[numbers[n]]
        counts = int(yes[n]), int(no[n]), float(p[n])
        before = said.setdefault((bool(wanted[n]), *counts), [])
        # a word inside another that holds as often holds on the same rows: once is enough
        if not any(word in one or one in word for one in before) and (
            (word in mine) != (word in theirs)  # of very long texts, only the front was read
        ):
            yield word in mine, word, counts
        before.append(word)


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
    name: str,
    kind: Type,
    item: Item,
    example: Item,
    like: pl.DataFrame,
    unlike: pl.DataFrame,
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
        yield rank, canonical.compare("=", column, canonical.literal(mine, kind))
    if theirs is not None and len(str(theirs)) <= LONGEST and kind in (Type.TEXT, Type.INTEGER):
        yield 6, canonical.compare("<>", column, canonical.literal(theirs, kind))
    if kind in (Type.TEXT, Type.INTEGER) and short:
        yield from _groups(column, mine, theirs, like.get_column(name), unlike.get_column(name))
    if kind is Type.TEXT:
        yield from _code(column, mine, theirs or "")
    elif theirs is not None:
        yield from _thresholds(column, mine, theirs, like.get_column(name), unlike.get_column(name))


def _thresholds(
    column: Column, mine: Any, theirs: Any, like: pl.Series, unlike: pl.Series
) -> Iterator[tuple[int, Node]]:
    op = ">=" if mine > theirs else "<"
    low, high = min(mine, theirs), max(mine, theirs)
    cuts = [round_cut(low, high), best_cut(low, high, like, unlike, above=op == ">=")]
    for cut in dict.fromkeys(c for c in cuts if c is not None):
        yield 2, canonical.compare(op, column, canonical.literal(cut, column.type))
    if column.type.temporal and mine.year != theirs.year:
        years = Value(mine.year, Type.INTEGER)
        yield 3, canonical.compare("=", canonical.call("year", column), years)


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
    counts = Counter(column.to_list())
    counts.pop(None, None)
    if len(counts) > 50:
        return {}
    return {value: times / len(column) for value, times in counts.items() if times > 1}


def _code(column: Column, mine: str, theirs: str) -> Iterator[tuple[int, Node]]:
    """The front of a code such as AB-123."""
    head = re.match(r"\w+?(?=[-_/.:\d])\D?", mine)
    if not any(map(_SEVERAL.search, (mine, theirs))) and head and len(head[0]) < len(mine):
        yield 3, canonical.like(column, (head[0], Wild.ANY), fold=False)


def _has(column: Column, phrase: str) -> Node:
    return canonical.like(column, (Wild.ANY, phrase, Wild.ANY), fold=True)


def _phrases(mine: str, theirs: str, known: Vocabulary) -> list[str]:
    """Uncommon words of the one text that the other has not, and words that one space parts; the
    texts are in lower case."""
    found = [m for m in _WORD.finditer(mine[:READ]) if len(m[0]) <= LONGEST_WORD]
    words = [m[0] for m in found if len(m[0]) > 1 and m[0] not in known]
    phrases = [
        mine[found[start].start() : found[start + size - 1].end()]
        for size in (2, 3)
        for start in range(len(found) - size + 1)
    ]
    uncommon = [word for word in dict.fromkeys(words) if word not in theirs][: PHRASES // 2]
    joined = [one for one in dict.fromkeys(phrases) if _JOINED.fullmatch(one) and one not in theirs]
    return uncommon + joined[: PHRASES - len(uncommon)]
