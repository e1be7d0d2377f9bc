"""One betting game that bounds the error: on a finite table, without end, and clause by clause.

**A table that is read once.** Assumption: each draw is equally likely to be any of the rows left
then, whatever was seen before. If V rows are wrong among those left now, then a model that has not
changed since had

    c = (V + its mistakes from then on) / (rows left then)

as its chance to err in an earlier draw: every mistake took one wrong row out of the table. (Wrong
rows that were picked were there, too. Who bets on fewer mistakes leaves them out, which makes c too
small and costs them; who bets on more counts them.) For any g >= 0 the product of
g^mistake / (1 + c (g-1)) over the draws from the s-th on is the purse of a player in a fair game,
who owns 1 before the s-th draw and bets on fewer mistakes (g < 1) or on more (g > 1). Many players
share the money of one, and their purses add up to one that is as fair:

- the share of those who begin at the s-th draw is log(1 + 1/s) / log(N + 1), for a table of N rows,
  or 1 / (1 + log s) - 1 / (1 + log(s+1)), without end. These shares add up to 1;
- three fifths of each share bet with g = 0 and are ruined by a mistake, two fifths are for other g.

The chance that all purses together ever reach 1/r is at most r (Ville's inequality), however often
one looks. A part of them is no more than all. So with confidence 1 - r, and at all rounds at once,
V is one of the numbers for which the purses that began with the present model stay below 1/r. The
larger V is, the larger are the purses of g < 1, so these numbers have an upper end.

Neither the bets nor the shares depend on V or on when models changed. So the same purses serve
where models changed, if no change made the error larger: the chances were c or more, and the real
purses are at least those computed. `lately` is this, with all draws of the lesson. Both hold at
once: there is one risk for all.

**Items without end** are a table of so many rows (`ENDLESS`) that no draw is missed: c is the error
of the model. Items must be independent draws then.

**Clause by clause.** A draw falls to one clause, and that clause errs with a chance that is its
error on all items that fall to it. So the players who begin at a draw bet on the later draws that
fall to the same clause, until it changes. All of them share the money of one. So the bounds of all
clauses, of all models there ever were, hold at once with one risk; clauses that come and go cost
little.

Where the count begins must not be chosen in hindsight: a learner that errs once in 20 rounds will
have a run of 59 right guesses one day, and 59 right guesses of one model that was chosen beforehand
do show an error below 5 %.

Betting against sampling without replacement: Waudby-Smith and Ramdas, *Estimating means of bounded
random variables by betting*, 2020, arXiv 2010.09686.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, log
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tellapart.errors import check
from tellapart.model import DecisionList, Record
from tellapart.protocol import Item, Label

ENDLESS = 2**60
"""So many rows that none is missed."""
ABOVE = 0.9
"""This much of the risk goes to the upper bound, which is what people stop by."""
_BLOCKS = 512  # so many blocks of draws are told apart; the draws of a block share one chance
_FEWER = np.append(0.0, 2.0 ** -np.array([3, 1.5, 0.75, 0.375]))[:, None]  # g
_MORE = 1 / _FEWER[1:]
_MONEY = np.array([0.6, 0.1, 0.1, 0.1, 0.1])  # of those who bet on fewer
_MONEY_MORE = np.full(4, 0.25)

_Floats = npt.NDArray[np.float64]
_Numbers = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Draws:
    """Random draws from a table that is read once, or without end: some of them, up to now."""

    mistakes: npt.NDArray[np.bool_]
    """Which were mistakes."""
    before: _Numbers
    """How many rows were left before each."""
    shares: _Floats
    """What share of the money begins at each (`shares_of`)."""
    left: int
    """How many rows are left now."""
    picked: _Numbers | None = None
    """How many wrong rows were picked after each, not drawn."""

    @classmethod
    def endless(cls, mistakes: npt.ArrayLike, shares: _Floats) -> Draws:
        """Draws of items without end."""
        before = np.full(len(shares), ENDLESS, dtype=np.intp)
        return cls(np.asarray(mistakes, dtype=np.bool_), before, shares, ENDLESS)

    @cached_property
    def _blocks(self) -> _Blocks:
        """The draws in at most so many blocks, for those who bet on fewer mistakes."""
        return _Blocks.of(self, more=False)

    @cached_property
    def _blocks_for_more(self) -> _Blocks:
        return _Blocks.of(self, more=True)

    def purses(self, wrong: float, more: bool = False) -> _Floats:
        """What those who began in each block own, if so many of the rows left are wrong.

        Where a block has several draws, they own at least that.
        """
        if not len(self.mistakes):
            return np.zeros(0)
        size, lengths, at_stake, later, before, shares = (
            self._blocks_for_more if more else self._blocks
        )
        chances = np.minimum((wrong + later) / before, 1.0)
        odds = _MORE if more else _FEWER
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            won, lost = -lengths * np.log1p(chances * (odds - 1)), at_stake
            if more:  # here mistakes win
                won, lost = lost, won
            gain = np.where(lost == -np.inf, lost, won + lost)
            logs = gain[:, ::-1].cumsum(axis=1)[:, ::-1]
            if size > 1:  # who begins within a block may have lost all of it, and won nothing
                logs = np.append(logs[:, 1:], np.zeros((len(odds), 1)), axis=1) + lost
            purses: _Floats = (_MONEY_MORE if more else _MONEY) @ np.exp(logs)
        return purses * shares

    def refute(self, wrong: float, risk: float, more: bool = False) -> bool:
        """Whether they refute that so many of the rows left are wrong, or that more are; with
        `more`, that no more are."""
        return bool(self.purses(wrong, more).sum() * risk >= 1)

    def most_wrong(self, risk: float) -> int:
        """The largest number of wrong rows left that they do not refute."""
        return _edge(0, self.left + 1, lambda wrong: self.refute(wrong, risk))

    def least_wrong(self, risk: float) -> int:
        """The smallest number of wrong rows left that they do not refute."""
        if not self.refute(0, risk, more=True):  # as it is most of the time
            return 0
        return _edge(self.left, -1, lambda wrong: self.refute(wrong, risk, more=True))

    def enough(self, wrong: float, risk: float) -> int:
        """How many of the last of them refute as much by themselves."""
        together = self.purses(wrong)[::-1].cumsum()[::-1]
        found = np.flatnonzero(together * risk >= 1)
        return len(self.mistakes) - (int(found[-1]) * self._blocks.size if len(found) else 0)


class _Blocks(NamedTuple):
    """Draws, some at a time. The chance of a block is that of its draws which costs most."""

    size: int
    """How many draws make a block; the last may have fewer."""
    lengths: _Numbers
    at_stake: _Floats
    """What the mistakes of each cost those who bet on fewer, or win for the others: logarithms."""
    later: _Numbers
    """Mistakes from then on."""
    before: _Numbers
    shares: _Floats

    @classmethod
    def of(cls, draws: Draws, more: bool) -> _Blocks:
        n = len(draws.mistakes)
        size = max(1, ceil(n / _BLOCKS))
        begin = np.arange(0, n, size)
        end = np.append(begin[1:], n)
        later = draws.mistakes[::-1].cumsum()[::-1]
        if more and draws.picked is not None:  # they were there to be drawn
            later = later + draws.picked
        low, high = (begin, end - 1) if more else (end - 1, begin)
        mistakes = np.add.reduceat(draws.mistakes, begin, dtype=np.intp)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(_MORE if more else _FEWER)
            at_stake = np.where(mistakes > 0, mistakes * logs, 0.0)
        shares = np.add.reduceat(draws.shares, begin)
        return cls(size, end - begin, at_stake, later[low], draws.before[high], shares)


def shares_of(numbers: npt.ArrayLike, rows: int | None = None) -> _Floats:
    """What share of the money begins at the draws of these numbers, from 1; all shares of a table
    of `rows` rows, or of draws without end, add up to 1.

    >>> shares_of([1, 2, 3], rows=3).round(2).tolist(), shares_of([1, 2, 3]).round(2).tolist()
    ([0.5, 0.29, 0.21], [0.41, 0.11, 0.06])
    """
    s = np.asarray(numbers, dtype=np.float64)
    shares: _Floats
    if rows is None:
        shares = 1 / (1 + np.log(s)) - 1 / (1 + np.log(s + 1))
    else:
        shares = np.log1p(1 / s) / log(rows + 1)
    return shares


def interval(mistakes: Sequence[bool], confidence: float = 0.95) -> tuple[float, float]:
    """Bounds on the error of one thing that never changes, from independent draws; they hold at all
    draws at once. All the money begins at the first.

    >>> [round(bound, 3) for bound in interval([False] * 40)]
    [0.0, 0.082]
    """
    shares = (np.arange(len(mistakes)) == 0).astype(np.float64)
    draws, risk = Draws.endless(mistakes, shares), 1 - confidence
    bounds = draws.least_wrong((1 - ABOVE) * risk), draws.most_wrong(ABOVE * risk)
    return bounds[0] / ENDLESS, bounds[1] / ENDLESS


def _edge(inside: int, out: int, refuted: Callable[[int], bool]) -> int:
    """The last number that is not refuted on the way from `inside` to `out`; without end, as near
    as a billionth of the way, on the side of `out`."""
    near = max(1, abs(out - inside) >> 30)
    while abs(out - inside) > near:
        middle = (inside + out) // 2
        if refuted(middle):
            out = middle
        else:
            inside = middle
    return out - 1 if out > inside else out + 1


@dataclass
class _Seen:
    """What happened to a clause."""

    numbers: list[int] = field(default_factory=list)
    """Of the draws that fell to it, from 1."""
    mistakes: list[bool] = field(default_factory=list)
    last: int | None = None


class ClauseRecords:
    """What each clause of a changing model got right and wrong since it last changed.

    The rows that made a rule agree with it, so they prove nothing. A clause is judged by the items
    it labelled *after* it last changed, and only by those drawn at random.

    Assumptions: the items drawn at random are independent draws from one source, and a model
    changes only by what it is told. Then with the given confidence `Record.high` bounds the error
    of every clause on further items from that source, for all clauses and in all rounds at once.

    Parameters
    ----------
    rows : int, default=None
        The most draws there can be, such as the rows of a table; the bounds are smaller then.

    >>> from tellapart import Clause
    >>> records = ClauseRecords()
    >>> model = DecisionList(default=Clause((), "mammal", "bear"))
    >>> for _ in range(200):
    ...     records.add(model, {"milk"}, "mammal")
    >>> records.judge(model).default.record
    Record(right=200, wrong=0, last=200, high=0.0179)
    """

    def __init__(self, rows: int | None = None) -> None:
        self.rows = rows
        self._rounds = self._draws = 0
        self._model: DecisionList | None = None
        self._keys: list[Hashable] = []
        self._seen: dict[Hashable, _Seen] = {}

    def add(self, model: DecisionList, item: Item, label: Label, *, drawn: bool = True) -> None:
        """One round: the model before the label was known, and the label. `drawn` says whether the
        item was drawn at random; if not, it is no evidence."""
        self.take(model)
        self._rounds += 1
        self._draws += drawn
        clause = model.match(item)
        number = next(n for n, one in enumerate(model) if one is clause)
        seen = self._seen[self._keys[number]]
        seen.last = self._rounds
        if drawn:
            seen.numbers.append(self._draws)
            seen.mistakes.append(clause.label != label)

    def judge(self, model: DecisionList, confidence: float = 0.95) -> DecisionList:
        """The model with a record for each clause."""
        check("judge", "confidence", confidence, "between 0 and 1", lambda c: 0 < c < 1, float)
        self.take(model)
        *clauses, default = (
            replace(clause, record=self._record(self._seen[key], 1 - confidence))
            for clause, key in zip(model, self._keys, strict=True)
        )
        return DecisionList(tuple(clauses), default, model.reading)

    def refutes(self, model: DecisionList, number: int, error: float, risk: float) -> bool:
        """Whether the draws of a clause, by its number from 0, refute such an error of it."""
        self.take(model)
        return self._drawn(self._seen[self._keys[number]]).refute(error * ENDLESS, risk)

    def take(self, model: DecisionList) -> None:
        """The model is this one now: keep the records of the clauses that are still there."""
        if model is not self._model:
            self._model, self._keys = model, regions(model)
            self._seen = {key: self._seen.get(key) or _Seen() for key in self._keys}

    def copy(self) -> ClauseRecords:
        """An independent copy."""
        return ClauseRecords.read(self.write(), self._model, self._keys, self.rows)

    def write(self) -> list[Any]:
        """All that was counted, as JSON, for the clauses of the last model in their order."""
        found = [self._seen[key] for key in self._keys]
        seen = [[list(one.numbers), list(one.mistakes), one.last] for one in found]
        return [self._rounds, self._draws, seen]

    @classmethod
    def read(
        cls,
        written: list[Any],
        model: DecisionList | None,
        keys: list[Hashable] | None = None,
        rows: int | None = None,
    ) -> ClauseRecords:
        """The inverse of `write`; `keys` are the `regions` of the model, if they are known."""
        records = cls(rows)
        records._rounds, records._draws, seen = written
        records._model = model
        records._keys = keys if keys is not None else [] if model is None else regions(model)
        pairs = zip(records._keys, seen, strict=True)
        records._seen = {key: _Seen(*counts) for key, counts in pairs}
        return records

    def _drawn(self, seen: _Seen) -> Draws:
        return Draws.endless(seen.mistakes, shares_of(seen.numbers, self.rows))

    def _record(self, seen: _Seen, risk: float) -> Record:
        most = self._drawn(seen).most_wrong(risk) / ENDLESS
        high = min(1.0, ceil(round(most * 1e4, 3)) / 1e4)
        wrong = sum(seen.mistakes)
        return Record(len(seen.mistakes) - wrong, wrong, seen.last, high)


def regions(model: DecisionList) -> list[Hashable]:
    """For each clause and the default, what makes it: equal where the same items get the same label
    from it.

    These are its own literals, its label, and the literals of the earlier clauses that can cover
    items of it. The order of those does not matter.

    >>> from tellapart import Clause, Literal
    >>> bass = Clause((Literal("fins"), Literal("milk", False)), "bass")
    >>> one = DecisionList((Clause((Literal("milk"),), "bear"), bass))
    >>> other = DecisionList((bass,))
    >>> regions(one)[1] == regions(other)[0], regions(one)[2] == regions(other)[1]
    (True, False)
    """
    earlier: list[frozenset[tuple[Hashable, bool]]] = []
    keys: list[Hashable] = []
    for clause in model:
        own = frozenset((feature, wanted) for feature, wanted in clause.literals)
        against = {(feature, not wanted) for feature, wanted in own}
        before = frozenset(literals for literals in earlier if not literals & against)
        keys.append((clause.label, own, before))
        earlier.append(own)
    return keys
