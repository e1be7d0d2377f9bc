"""Which features imply or exclude each other, as far as two conditions on one column tell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from itertools import combinations, permutations
from typing import Any, NamedTuple

from tellapart.features import tree
from tellapart.features.expression import Expression
from tellapart.features.resolve import resolve
from tellapart.model import Literal
from tellapart.protocol import Feature

_EXACT = 2**53
"""Whole numbers below it are the same as doubles."""


def implications(features: Iterable[Feature]) -> Iterator[tuple[Literal, Literal]]:
    """Pairs of literals: where the first is true, so is the second.

    Found for thresholds and values of one column (`Above`, `Column`, comparisons with a value).

    >>> from tellapart.features import Above, Column
    >>> small, large, one = Above("size", 2), Above("size", 3), Column("size", 1)
    >>> for first, second in implications([small, large, one]):
    ...     print(first, "->", second)
    size > 3 -> size > 2
    size > 2 -> not (size = 1)
    size > 3 -> not (size = 1)
    """
    columns: dict[Any, list[tuple[Feature, _Range]]] = {}
    for feature in features:
        found = _range(feature)
        if found is not None:
            columns.setdefault(found[0], []).append((feature, found[1]))
    for known in columns.values():
        for (one, inner), (other, outer) in permutations(known, 2):
            if inner.low >= outer.low and inner.high <= outer.high:
                yield Literal(one), Literal(other)
        for (one, first), (other, second) in combinations(known, 2):
            if first.high < second.low or second.high < first.low:
                yield Literal(one), Literal(other, False)


class _Range(NamedTuple):
    """The values on which a feature holds: from `low` to `high`.

    (0, 3, 0) is the value 3, (0, 3, 1) just above it and (0, 3, -1) just below it; (-1,) is below
    all values, and (1,) above them.
    """

    low: tuple[Any, ...]
    high: tuple[Any, ...]


_LOWEST, _HIGHEST = (-1,), (1,)


def _range(feature: Feature) -> tuple[Any, _Range] | None:
    """The key of a column and the range of its values on which the feature holds, if it has one.

    `Above` holds on infinity, where a condition is unknown.
    """
    match resolve(feature, {}):
        case tree.Compare(op, tree.Column(name), tree.Value(value)):
            pass
        case tree.Column(name):
            op, value = "=", True
        case tree.Not(tree.Column(name)):
            op, value = "=", False
        case _:
            return None
    kind = _kind(value)
    if kind is None:
        return None
    finite = kind is float and isinstance(feature, Expression)
    low, high = ((0, -math.inf, 1), (0, math.inf, -1)) if finite else (_LOWEST, _HIGHEST)
    ranges = {
        "=": _Range((0, value, 0), (0, value, 0)),
        "<": _Range(low, (0, value, -1)),
        "<=": _Range(low, (0, value, 0)),
        ">": _Range((0, value, 1), high),
        ">=": _Range((0, value, 0), high),
    }
    return ((name, kind), ranges[op]) if op in ranges else None


def _kind(value: Any) -> type | None:
    """The kind of a value: values of one kind have an order. None for values that may not."""
    if isinstance(value, bool | str | datetime):
        return type(value)
    if isinstance(value, int | float):
        return float if math.isfinite(value) and abs(value) < _EXACT else None
    return date if isinstance(value, date) else None
