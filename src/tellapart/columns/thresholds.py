"""Thresholds a person would choose: round numbers and dates between two values."""

from __future__ import annotations

import math
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

import numpy as np

_MOST = 14  # thresholds between two values
_ROUGH = {1: 0.0, 5: 1.0, 2: 1.5}
"""How far from round a number is, by its first digits; another digit is farther."""
_HALVES = (12, *range(15, 100, 10))
_STEPS_BETWEEN = 3
_STEPS = ((100, 0.0), (10, 0.5), (5, 1.0))
"""The same for years: the multiples of each."""

if TYPE_CHECKING:
    import polars as pl


def round_cut(low: Any, high: Any) -> Any:
    """The roundest value above `low` and not above `high`; None if there is none.

    >>> round_cut(3, 8), round_cut(0.1234, 0.1301), round_cut(-3, 250)
    (5, 0.13, 0)
    >>> str(round_cut(date(1998, 5, 3), date(2003, 1, 20)))
    '2000-01-01'
    """
    if not low < high:
        return None
    if isinstance(high, date):
        return _round_moment(low, high)
    return _round_number(low, high)


def between(low: float, high: float) -> float:
    """The roundest number from `low` to below `high`, for "is above it".

    >>> between(1.51, 1.68), between(2.0, 3.0), between(1.0, 1.0000000000000002)
    (1.6, 2.5, 1.0)
    """
    middle = low + (high - low) / 2
    for end in (high, middle):
        cut: float | None = round_cut(low, end)
        if cut is not None and cut < high:
            return cut
    return low


def _round_number(low: float, high: float) -> float | None:
    if low < 0 <= high:
        return 0
    whole = isinstance(low, int) and isinstance(high, int)
    exponent = min(math.floor(math.log10(max(abs(low), abs(high)))) + 1, 307)
    middle = low + (high - low) / 2
    while True:
        for lead in (5, 2, 1):
            step = lead * (10 if whole else 10.0) ** exponent
            if step < math.ulp(middle):  # neighbours, as far as doubles go
                return high
            cut = round(middle / step) * step
            for near in (cut, cut - step, cut + step):
                tidy = int(near) if whole else float(f"{near:.15g}")
                if low < tidy <= high:
                    return tidy
        exponent -= 1


def _round_moment(low: Any, high: Any) -> Any:
    """The start of a decade, year, month, day, hour, ... that lies between."""
    day = high.date() if isinstance(high, datetime) else high
    starts = [
        date(max(day.year // 10 * 10, 1), 1, 1),
        date(day.year, 1, 1),
        day.replace(day=1),
        day,
    ]
    if isinstance(high, datetime):
        moments = [datetime.combine(start, time()) for start in starts]
        moments += [
            high.replace(minute=0, second=0, microsecond=0),
            high.replace(second=0, microsecond=0),
            high.replace(microsecond=0),
        ]
        starts = list(moments)
    return next((start for start in [*starts, high] if low < start <= high), None)


def best_cut(low: Any, high: Any, like: pl.Series, unlike: pl.Series, *, above: bool) -> Any:
    """The value above `low`, not above `high`, that best separates `like` from `unlike`, rounded
    within its gap; None when the history has no such value.

    `above`: `like` is to be at or above it.

    >>> import polars as pl
    >>> best_cut(0, 100, pl.Series([70, 80, 90]), pl.Series([1, 61, 62]), above=True)
    70
    """
    known = (side.drop_nulls() if side.null_count() else side for side in (like, unlike))
    ours, others = (np.sort(side.to_numpy()) for side in known)
    if not len(ours) or not len(others):
        return None
    points = np.unique(np.concatenate([ours, others]))
    inside = points[(points > _plain(low, points)) & (points <= _plain(high, points))]
    if not len(inside):
        return None
    lead = np.searchsorted(others, inside) / len(others) - np.searchsorted(ours, inside) / len(ours)
    best = inside[int(np.argmax(lead if above else -lead))]
    below = points[points < best]
    bottom = max(low, _back(below[-1], low)) if len(below) else low
    return round_cut(bottom, _back(best, low))


def _plain(value: Any, points: np.ndarray[Any, Any]) -> Any:
    return np.datetime64(value).astype(points.dtype) if isinstance(value, date) else value


def _back(value: Any, like: Any) -> Any:
    """A numpy value as the kind of Python value that `like` is."""
    if isinstance(like, datetime):
        return value.astype("datetime64[us]").item()
    if isinstance(like, date):
        return value.astype("datetime64[D]").item()
    return value.item()


def round_cuts(low: Any, high: Any) -> list[tuple[Any, float]]:
    """Round values above `low` and not above `high`, each with how much less round it is than the
    roundest of them; the roundest first.

    >>> round_cuts(12, 28)
    [(20, 0.0), (25, 1.0), (15, 1.0)]
    >>> [cut for cut, _ in round_cuts(5.5, 8.1)], [cut for cut, _ in round_cuts(-155, -117)]
    ([8.0, 7.0, 6.0, 7.5, 6.5], [-120, -150, -130, -140])
    >>> [str(cut) for cut, _ in round_cuts(date(1998, 5, 3), date(2003, 1, 20))]
    ['2000-01-01', '2003-01-01', '2002-01-01', '2001-01-01', '1999-01-01']
    """
    if not low < high:
        return []
    found = _round_dates(low, high) if isinstance(high, date) else _round_numbers(low, high)
    plain = round_cut(low, high)  # where nothing rounder lies between
    if not found and plain is not None:
        return [(plain, 0.0)]
    ranked = sorted(sorted(found.items(), reverse=True), key=lambda pair: pair[1])[:_MOST]
    return [(cut, rough - ranked[0][1]) for cut, rough in ranked]


def _round_numbers(low: float, high: float) -> dict[float, float]:
    """Numbers of one digit and zeros, or one and a half; and the multiples of a step, where all
    first digits are the same."""
    found: dict[float, float] = {0: -0.5} if low < 0 <= high else {}
    top = math.floor(math.log10(max(abs(low), abs(high))))
    if not (-300 < top < 300 and high - low > 1e-300):
        return found
    width = math.floor(math.log10(high - low))
    made: list[tuple[int, int, float]] = []  # digits, exponent, how rough
    for exponent in range(top, top - 4, -1):
        leads = (*range(1, 10), *_HALVES) if exponent >= top - 1 else (1, 2, 5)
        for lead in leads:
            rough = _ROUGH.get(lead, 2.0 if lead < 10 else 2.5)
            made += [(sign * lead, exponent - (lead > 9), rough) for sign in (1, -1)]
    for step, exponent in ((1, width), (5, width - 1), (1, width - 1)):
        first, last = (math.floor(side / (step * 10.0**exponent)) for side in (low, high))
        if last - first >= _STEPS_BETWEEN and last < 10**4:
            made += [(n * step, exponent, 3.0) for n in range(first + 1, last + 1)]
            break
    whole = isinstance(low, int) and isinstance(high, int)
    for digits, exponent, rough in made:
        if not whole or exponent >= 0:
            cut = digits * 10**exponent if whole else float(f"{digits}e{exponent}")
            if low < cut <= high:
                found.setdefault(cut, rough)
    return found


def _round_dates(low: Any, high: Any) -> dict[Any, float]:
    found = {}
    first = low.year
    for year in range(max(first, high.year - 60), high.year + 1):
        day = date(max(year, 1), 1, 1)
        moment = datetime.combine(day, time()) if isinstance(high, datetime) else day
        if low < moment <= high:
            found[moment] = next((rough for step, rough in _STEPS if year % step == 0), 1.5)
    return found
