"""Questions that experiments ask of their rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import log
from statistics import fmean
from typing import Any

from tellapart.lab.experiment import Row, Value


def where(rows: Iterable[Row], **wanted: Value) -> list[Row]:
    """The rows with these values.

    >>> where([{"m": 2, "mistakes": 5}, {"m": 3, "mistakes": 9}], m=3)
    [{'m': 3, 'mistakes': 9}]
    """
    return [row for row in rows if all(row.get(key) == value for key, value in wanted.items())]


def values(rows: Iterable[Row], key: str) -> list[Any]:
    """The different values of a column, in order of appearance.

    >>> values([{"m": 2}, {"m": 3}, {"m": 2}], "m")
    [2, 3]
    """
    return list(dict.fromkeys(row[key] for row in rows if key in row))


def by(rows: Iterable[Row], *keys: str) -> Iterator[tuple[tuple[Any, ...], list[Row]]]:
    """Groups of rows that agree in `keys`, in order of appearance.

    >>> [(key, len(group)) for key, group in by([{"m": 2}, {"m": 3}, {"m": 2}], "m")]
    [((2,), 2), ((3,), 1)]
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(key) for key in keys), []).append(row)
    yield from groups.items()


def mean(rows: Iterable[Row], key: str) -> float:
    """The mean of a column of numbers."""
    return fmean(float(row[key]) for row in rows)


def curve(rows: Iterable[Row], x: str, y: str) -> tuple[list[float], list[float]]:
    """The mean of `y` at each value of `x`, in order of x.

    >>> curve([{"k": 2, "mistakes": 5}, {"k": 1, "mistakes": 1}, {"k": 2, "mistakes": 7}],
    ...       "k", "mistakes")
    ([1.0, 2.0], [1.0, 6.0])
    """
    points = sorted((float(key), mean(group, y)) for (key,), group in by(rows, x))
    return [point[0] for point in points], [point[1] for point in points]


def exponent(xs: Iterable[float], ys: Iterable[float]) -> float:
    """The slope of the least-squares line through (log x, log y): p where y grows like x^p.

    >>> round(exponent([1, 2, 4], [3, 12, 48]), 2)
    2.0
    """
    points = [(log(x), log(y)) for x, y in zip(xs, ys, strict=True)]
    middle = fmean(x for x, _ in points), fmean(y for _, y in points)
    over = sum((x - middle[0]) * (y - middle[1]) for x, y in points)
    return over / sum((x - middle[0]) ** 2 for x, _ in points)
