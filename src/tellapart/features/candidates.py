"""Candidate features: simple features that hold on one item and not on another.

Every column in which the two items differ offers what a person may say of it: the value, a round
threshold, the year or the month, words, beginnings and endings of names, being known at all; and
columns of one kind are compared with each other. Features that were named before are offered again.

A feature is worth more, the more often it holds on items labelled like the item and the less often
on all others, the more it says of rows not yet seen, and the plainer it is to say:

    worth = log((mine + 0.02) / (elsewhere + 0.02)) + 0.6 (log share - 3 share) - cost

`mine` and `elsewhere` are rates in the labelled items, each with two extra items that are like the
whole table, so that a feature that was seen once does not look perfect. `share` is how much of the
table it holds on: the middle term is greatest near a third. The cost depends on the kind of feature
(`COST`), on how round a threshold is, and on the length of the text; a word of the label's name is
worth more. Of those that hold on the same rows, only the worthiest is kept; each one taken makes
the others of its column worth less; and the first nine are of three columns or more, where there
are so many.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tellapart.columns.thresholds import best_cut, round_cuts
from tellapart.features import canonical, tree
from tellapart.features.expression import Expression
from tellapart.features.phrasing import counted
from tellapart.features.profile import Numbers, Profile
from tellapart.features.tree import Column, Node, Type, Value, Wild
from tellapart.features.vocabulary import Part, Vocabulary, words_of
from tellapart.protocol import Item

if TYPE_CHECKING:
    import polars as pl

Truths = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

LONGEST = 60
"""A longer text is not offered as a value."""
NEGATED = 12
"""The most parts of the example's text that the item's has not."""
FEW = 3
"""If there are fewer candidates, words that no other text has are offered, too."""
SURE = 100
"""In fewer rows, features of two columns may hold on the same ones by chance."""
ALIKE = 0.98
"""Two features are nearly the same if they share so much of the rows on which either holds."""
COST = {
    **dict.fromkeys(("column", "zero", "known", "unknown", "columns"), -0.5),
    **dict.fromkeys(("value", "date"), -0.3),
    "element": -0.2,
    "named": 0.0,
    **dict.fromkeys(("cut", "word"), 0.2),
    **dict.fromkeys(("start", "end", "phrase"), 0.3),
    **dict.fromkeys(("year", "month", "weekday"), 1.3),
    "pair": 3.0,
    **dict.fromkeys(("negated", "length"), 5.0),
}
"""What each kind of feature costs."""
ROUGH, LENGTH, AGAIN, CUT_AGAIN = 1.0, 0.015, 0.3, 0.5
"""What a step from round costs, a character, the same column again, a threshold of it again."""
CALLED = 0.7
"""What is added for a word of the label's name."""
RARELY = 3.0
"""How much less what is negated costs if it holds on less than half of the table."""
FITTED = 4.0
"""How much less round a threshold counts that was fitted to the labels."""
NINE, COLUMNS = 9, 3
"""The places that have a key, and the fewest columns among them."""
_EXTRA, _FLOOR, _SHARE, _MOST = 2.5, 0.02, 0.6, 3.0
_SENTENCE = 2.0  # steps from plain: nobody says a whole sentence
_LIST = re.compile(r"\w[,;|] ?\w")


class Candidate(NamedTuple):
    """A feature that tells the item from the example, and what the history says of it."""

    feature: Expression
    score: float
    """What it is worth, between -1 and 1."""
    yes: int
    """On how many items labelled like the item it holds."""
    no: int
    """On how many items labelled like the example it holds."""
    covers: int
    """On how many items of the table it holds."""
    exact: bool = True
    """False if `covers` is an estimate from a part of the table."""
    others: int = 0
    """On how many labelled items with any label but the item's it holds."""
    known: int = 0
    """How many labelled items there are, the item left out."""

    def __str__(self) -> str:
        about = "" if self.exact else "about "
        return f"{self.feature} ({about}{counted(self.covers, 'item')})"


class _Offer(NamedTuple):
    """A feature before it is ranked."""

    kind: str
    column: str
    node: Node
    rough: float = 0.0
    """How far from round a threshold is, in steps; how far off the topic a word."""


def candidates(
    item: Item,
    example: Item,
    types: Mapping[str, Type],
    like: pl.DataFrame,
    unlike: pl.DataFrame,
    *,
    limit: int = 30,
    others: pl.DataFrame | None = None,
    profile: Profile | None = None,
    held: Callable[[Sequence[Expression]], Sequence[Truths]] | None = None,
    places: Sequence[int] | None = None,
    named: Mapping[Expression, float] | None = None,
    habits: Mapping[str, float] | None = None,
    name: str | None = None,
    called: str = "",
    tags: Collection[str] = (),
) -> list[Candidate]:
    """Features that hold on `item` and not on `example`, the best first.

    Parameters
    ----------
    like, unlike, others : frames
        Items labelled like the item, like the example, and otherwise; cleaned columns, as a `Table`
        has them. `covers` counts in the rows of `profile`; a table counts in all of itself
        (`Table.candidates`).
    limit : int, default=30
        How many, at most.
    profile : Profile
        Rows of the table, labelled or not, and what is known of the columns. None: the two above.
    held : features -> arrays
        On which rows of `profile` each of some features holds. None: they are evaluated.
    places : list of int
        Which rows of `profile` the labelled items are, if they all are there: saves time.
    named : feature -> float
        Features that were named before, and what that adds to their worth.
    habits : column -> float
        What is added to the worth of all features of a column: the teacher names it often.
    name : str
        The column that names items, if one does: as a whole it says nothing of others.
    called : str
        What the item's label is called.
    tags : list of str
        Columns that people fill in bit by bit: to be unknown there says nothing.

    Examples
    --------
    >>> import polars as pl
    >>> types = {"legs": Type.INTEGER, "name": Type.TEXT}
    >>> birds = pl.DataFrame({"legs": [2, 2], "name": ["duck", "crow"]})
    >>> others = pl.DataFrame({"legs": [4, 0], "name": ["bear", "bass"]})
    >>> duck, bear = {"legs": 2, "name": "duck"}, {"legs": 4, "name": "bear"}
    >>> [str(c.feature) for c in candidates(duck, bear, types, birds, others, limit=3)]
    ['legs = 2', 'legs < 4']
    """
    import polars as pl

    from tellapart.features.to_polars import truths

    known = [like, unlike] if others is None else [like, unlike, others]
    profile = Profile(pl.concat(known), types) if profile is None else profile
    offers: dict[Expression, _Offer] = {
        feature: _Offer("named", next(iter(feature.schema)), feature.tree)
        for feature in named or ()
    }
    for offer in _offers(item, example, types, profile, like, unlike, name):
        if offer.kind not in ("known", "unknown") or offer.column not in tags:
            offers.setdefault(_made(offer.node), offer)
    telling = [feature for feature in offers if feature(item) and not feature(example)]
    if len(telling) < FEW:  # better a word that no other text has than nothing
        offers |= {_made(offer.node): offer for offer in _rare_words(item, types, profile, name)}
        telling = [feature for feature in offers if feature(item) and not feature(example)]
    if not telling:
        return []
    rows = truths(telling, profile.rows) if held is None else held(telling)
    if places is None:
        of_labelled = np.array(truths(telling, pl.concat(known)))
    else:
        of_labelled = np.array(rows)[:, np.asarray(places)]
    labelled = _Labelled(of_labelled, like.height, unlike.height)
    kinds = [offers[feature] for feature in telling]
    packed = np.packbits(np.array(rows), axis=1)
    share = np.bitwise_count(packed).sum(1) / max(profile.rows.height, 1)
    negated = np.array([offer.kind == "negated" for offer in kinds])
    worth = labelled.worth(share, negated) - _costs(telling, kinds)
    worth += RARELY * (negated & (share < 0.5))
    names = words_of(called)
    for n, text in enumerate(map(_text_of, kinds)):
        worth[n] += CALLED * _has_a_word(text, names)
    for n, feature in enumerate(telling):
        worth[n] += (named or {}).get(feature, 0.0) + (habits or {}).get(kinds[n].column, 0.0)
    return [
        labelled.candidate(n, telling[n], score, int(np.count_nonzero(rows[n])))
        for n, score in _choose(worth, kinds, packed, profile.rows.height, limit)
    ]


@lru_cache(4096)  # the same features are offered again and again
def _made(node: Node) -> Expression:
    return Expression(canonical.feature(node))


class _Labelled:
    """Where features hold: a row for each, a column for each labelled item, first those labelled
    like the item (it is the first), then those labelled like the example, then the others."""

    def __init__(self, held: Truths, like: int, unlike: int) -> None:
        self.like, self.unlike, self.known = like, unlike, held.shape[1]
        self.yes = held[:, :like].sum(1)
        self.no = held[:, like : like + unlike].sum(1)
        self.others = held[:, like:].sum(1)

    def worth(self, share: Floats, negated: Truths) -> Floats:
        """What features are worth, without their cost; what is negated, as much as the opposite is
        worth to tell the example's label from the item's."""
        return np.where(
            negated,
            _worth(self.unlike - self.no, self.unlike, self.like - self.yes, self.like, 1 - share),
            _worth(self.yes, self.like, self.others, self.known - self.like, share),
        )

    def candidate(self, n: int, feature: Expression, worth: float, covers: int) -> Candidate:
        score = float(np.tanh(worth / 2))
        yes, no, others = int(self.yes[n]), int(self.no[n]), int(self.others[n])
        return Candidate(feature, score, yes, no, covers, True, others, self.known - 1)


def _worth(yes: Any, like: int, others: Any, unlike: int, share: Floats) -> Floats:
    mine = (yes + _EXTRA * share) / (like + _EXTRA)
    elsewhere = (others + _EXTRA * share) / (unlike + _EXTRA)
    lift: Floats = np.log((mine + _FLOOR) / (elsewhere + _FLOOR))
    spread: Floats = np.log(np.maximum(share, 1e-4)) - _MOST * share
    return lift + _SHARE * spread


def _costs(features: Sequence[Expression], kinds: Sequence[_Offer]) -> Floats:
    costs = [
        COST[offer.kind] + ROUGH * offer.rough + LENGTH * min(len(str(feature)), 100)
        for feature, offer in zip(features, kinds, strict=True)
    ]
    return np.array(costs, dtype=np.float64)


def _text_of(offer: _Offer) -> str:
    """The text that the feature looks for; empty if it looks for none."""
    match offer.node:
        case tree.Like(pattern=pattern, negated=False):
            return "".join(part for part in pattern if not isinstance(part, Wild))
        case tree.Compare("=", _, Value(str(text))):
            return text
    return ""


def _has_a_word(text: str, words: Collection[str]) -> bool:
    """Whether a word of a text is one of some, or begins so: doc and documentation."""
    ours = words_of(text) if text and words else ()
    return any(one.startswith(two) or two.startswith(one) for one in ours for two in words)


def _choose(
    worth: Floats, kinds: Sequence[_Offer], packed: npt.NDArray[np.uint8], rows: int, limit: int
) -> Iterator[tuple[int, float]]:
    """The best, one by one, and what each was worth then. What holds on the same rows as one
    that was chosen is left out; what nearly does comes last. The last of nine places are for new
    columns, if there are less than three."""
    left = worth.copy()
    taken: set[str] = set()
    column = np.array([offer.column for offer in kinds])
    cut = np.array([offer.kind in ("cut", "date") for offer in kinds])
    sizes = np.bitwise_count(packed).sum(1, dtype=np.int64)
    later: list[int] = []
    for place in range(min(limit, len(kinds))):
        n = int(np.argmax(left))
        if place < NINE <= place + COLUMNS - len(taken):
            new = np.where(np.isin(column, list(taken)), -np.inf, left)
            n = int(np.argmax(new)) if np.max(new) > -np.inf else n
        if left[n] == -np.inf:
            break
        yield n, float(left[n])
        taken.add(kinds[n].column)
        shared = np.bitwise_count(packed & packed[n]).sum(1, dtype=np.int64)
        either = sizes + sizes[n] - shared
        alike = (shared >= ALIKE * either) & (left > -np.inf)
        if rows < SURE:
            alike &= column == column[n]
        later += [m for m in np.flatnonzero(alike).tolist() if m != n and shared[m] < either[m]]
        again = column == column[n]
        left -= AGAIN * again + (CUT_AGAIN * (again & cut) if cut[n] else 0.0)
        left[alike] = -np.inf
        left[n] = -np.inf
        limit -= 1
    seen: set[bytes] = set()
    least = float(np.min(worth)) - 10
    for n in sorted(later, key=lambda n: -worth[n])[:limit]:
        if packed[n].tobytes() not in seen:
            seen.add(packed[n].tobytes())
            yield n, min(float(worth[n]) - 10, least)


def _offers(
    item: Item,
    example: Item,
    types: Mapping[str, Type],
    profile: Profile,
    like: pl.DataFrame,
    unlike: pl.DataFrame,
    name: str | None,
) -> Iterator[_Offer]:
    """Features that may tell the item from the example; not all of them do."""
    for column, kind in types.items():
        pair = _Pair(
            Column(column, kind), item.get(column), example.get(column), profile, like, unlike
        )
        yield from pair.offers(is_name=column == name)
        yield from pair.cuts()
    for one, other in profile.comparable:
        sides = [row.get(column.name) for row in (item, example) for column in (one, other)]
        if None not in sides:
            for op in ("=", "<>") if one.type is Type.TEXT else ("=", ">", "<", ">=", "<="):
                node = canonical.compare(op, one, other)
                yield _Offer("columns", f"{one.name}, {other.name}", node)


def _rare_words(
    item: Item, types: Mapping[str, Type], profile: Profile, name: str | None
) -> Iterator[_Offer]:
    for column, kind in types.items():
        if kind is Type.TEXT and item.get(column) is not None and column != name:
            for part in profile.vocabulary(column).rare(item[column]):
                yield _Offer("word", column, _has(Column(column, kind), part))


class _Pair(NamedTuple):
    """The two values in a column."""

    column: Column
    mine: Any
    theirs: Any
    profile: Profile
    like: pl.DataFrame
    unlike: pl.DataFrame

    def _offer(self, kind: str, node: Node, rough: float = 0.0) -> _Offer:
        return _Offer(kind, self.column.name, node, rough)

    def offers(self, *, is_name: bool) -> Iterator[_Offer]:
        """What may be said of the item's value, thresholds left out."""
        column, mine, theirs = self.column, self.mine, self.theirs
        if mine is None:
            if theirs is not None:
                yield self._offer("unknown", canonical.is_null(column))
            return
        if theirs is None:
            yield self._offer("known", canonical.negate(canonical.is_null(column)))
        if mine == theirs:
            return
        if column.type is Type.BOOL:
            yield self._offer("column", column if mine else canonical.negate(column))
        elif column.type is Type.TEXT:
            yield from self._text(self.profile.vocabulary(column.name), is_name)
        elif column.type.numeric:
            yield from self._number(self.profile.numbers(column.name))
        else:
            parts = {"year": mine.year, "month": mine.month, "weekday": mine.isoweekday()}
            for part, number in parts.items():
                wanted = Value(number, Type.INTEGER)
                yield self._offer(
                    part, canonical.compare("=", canonical.call(part, column), wanted)
                )

    def cuts(self) -> Iterator[_Offer]:
        """Thresholds between the two values; an unknown value counts as the usual one."""
        column, mine, theirs = self.column, self.mine, self.theirs
        if mine is None or column.type in (Type.BOOL, Type.TEXT):
            return
        if theirs is None:
            theirs = self.profile.numbers(column.name).middle
        if theirs is None or mine == theirs:
            return
        op = ">=" if mine > theirs else "<"
        kind = "date" if column.type.temporal else "cut"
        low, high = min(mine, theirs), max(mine, theirs)
        for cut, rough in round_cuts(low, high):
            node = canonical.compare(op, column, canonical.literal(cut, column.type))
            yield self._offer(kind, node, rough)
        sides = (frame.get_column(column.name) for frame in (self.like, self.unlike))
        best = best_cut(low, high, *sides, above=op == ">=")
        if best is not None:
            node = canonical.compare(op, column, canonical.literal(best, column.type))
            yield self._offer(kind, node, FITTED)

    def _number(self, known: Numbers) -> Iterator[_Offer]:
        column, mine, theirs = self.column, self.mine, self.theirs
        zero = canonical.literal(0, column.type)
        if theirs == 0 and 0 in known.shares:
            yield self._offer("zero", canonical.compare(">" if mine > 0 else "<", column, zero))
        if mine in known.shares:
            value = canonical.literal(mine, column.type)
            yield self._offer("value" if mine else "zero", canonical.compare("=", column, value))
            yield from self._two_values()
        if theirs in known.shares:
            value = canonical.literal(theirs, column.type)
            yield self._offer("negated", canonical.compare("<>", column, value))

    def _text(self, known: Vocabulary, is_name: bool) -> Iterator[_Offer]:
        column, mine, theirs = self.column, self.mine, self.theirs
        if not is_name:
            if _is_value(mine, known):
                node = canonical.compare("=", column, Value(mine, Type.TEXT))
                yield self._offer("value", node, _SENTENCE if known.prose else 0.0)
                yield from self._two_values()
            if theirs is not None and _is_value(theirs, known):
                yield self._offer(
                    "negated", canonical.compare("<>", column, Value(theirs, Type.TEXT))
                )
        for part in known.parts(mine):
            yield self._offer(part.where, _has(column, part), -known.topic(part))
        if theirs is None:
            return
        for part in known.parts(theirs)[:NEGATED]:
            node = canonical.negate(_has(column, part))
            yield self._offer("negated", node, COST[part.where] - known.topic(part))
        if not 0.5 <= (len(mine) + 1) / (len(theirs) + 1) <= 2:
            op = ">=" if len(mine) > len(theirs) else "<"
            cut, _ = round_cuts(min(len(mine), len(theirs)), max(len(mine), len(theirs)))[0]
            length = canonical.call("length", column)
            yield self._offer("length", canonical.compare(op, length, Value(cut, Type.INTEGER)))

    def _two_values(self) -> Iterator[_Offer]:
        """The value, and another that is commoner under the item's label than under the other."""
        name = self.column.name
        ours, others = (Counter(f.get_column(name).to_list()) for f in (self.like, self.unlike))
        leads = {
            value: times / self.like.height - others[value] / max(self.unlike.height, 1)
            for value, times in ours.items()
            if value is not None and value not in (self.mine, self.theirs)
        }
        if leads and max(leads.values()) > 0:
            other = max(leads, key=lambda value: (leads[value], str(value)))
            values = [Value(value, self.column.type) for value in (self.mine, other)]
            yield self._offer("pair", canonical.is_in(self.column, values))


def _is_value(text: str, known: Vocabulary) -> bool:
    """Whether a text is one value that other rows have too, and not a list."""
    return known.values[text] > 1 and len(text) <= LONGEST and not _LIST.search(text)


def _has(column: Column, part: Part) -> Node:
    before: tree.Pattern = () if part.where == "start" else (Wild.ANY,)
    after: tree.Pattern = () if part.where == "end" else (Wild.ANY,)
    return canonical.like(column, (*before, part.text, *after), fold=True)
