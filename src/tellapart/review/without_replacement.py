"""How many of the rows left are wrong, from random draws without replacement.

Assumption: each draw is equally likely to be any of the rows left then, whatever was seen before.
If V rows are wrong among those left now, then a model that has not changed since had

    c = (V + its mistakes from then on) / (rows left then)

as its chance to err in an earlier draw: every mistake took one wrong row out of the table. (Wrong
rows that were picked were there, too. Who bets on fewer mistakes leaves them out, which makes c too
small and costs them; who bets on more counts them.) For any
g >= 0 the product of g^mistake / (1 + c (g-1)) over the draws from the s-th on is the purse of a
player in a fair game, who owns 1 before the s-th draw and bets on fewer mistakes (g < 1) or on more
(g > 1). Many players share the money of one, and their purses add up to one that is as fair:

- the share of those who begin at the s-th draw is log(1 + 1/s) / log(N + 1), for a table of N rows.
  These shares add up to 1;
- three fifths of each share bet with g = 0 and are ruined by a mistake, two fifths are for other g.

The chance that all purses together ever reach 1/r is at most r (Ville's inequality), however often
one looks. A part of them is no more than all. So with confidence 1 - r, and at all rounds at once,
V is one of the numbers for which the purses that began with the present model stay below 1/r. The
larger V is, the larger are the purses of g < 1, so these numbers have an upper end.

Neither the bets nor the shares depend on V or on when models changed. So the same purses serve
where models changed, if no change made more of the rows left then wrong: the chances were c or
more, and the real purses are at least those computed. `lately` is this, with all draws of the
lesson. Both hold at once: there is one risk for all.

Betting against sampling without replacement: Waudby-Smith and Ramdas, *Estimating means of bounded
random variables by betting*, 2020, arXiv 2010.09686.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import ceil, log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_BLOCKS = 512  # so many blocks of draws are told apart; the draws of a block share one chance
_FEWER = np.append(0.0, 2.0 ** -np.array([3, 1.5, 0.75, 0.375]))[:, None]  # g
_MORE = 1 / _FEWER[1:]
_MONEY = np.array([0.6, 0.1, 0.1, 0.1, 0.1])  # of those who bet on fewer
_MONEY_MORE = np.full(4, 0.25)

_Floats = npt.NDArray[np.float64]
_Numbers = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Draws:
    """Random draws from a table that is read once: some of them, up to now."""

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
        return cls(
            size,
            end - begin,
            at_stake,
            later[low],
            draws.before[high],
            np.add.reduceat(draws.shares, begin),
        )


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


def _edge(inside: int, out: int, refuted: Callable[[int], bool]) -> int:
    """The last number that is not refuted on the way from `inside` to `out`."""
    while abs(out - inside) > 1:
        middle = (inside + out) // 2
        if refuted(middle):
            out = middle
        else:
            inside = middle
    return inside
