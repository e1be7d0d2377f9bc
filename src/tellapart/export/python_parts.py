"""The functions that an exported Python program brings along, copied into it as they stand here.

None is unknown, in three-valued logic; they say what `tellapart.features.evaluate` says.
"""

from __future__ import annotations

import math
from typing import Any


def read(item: Any, column: str, clean: Any) -> Any:
    """A value of an item, or None where it has none."""
    value = item.get(column)
    return None if value is None else clean(value)


def known(function: Any, *values: Any) -> Any:
    """What a function says of values, or None where one of them is unknown."""
    return None if None in values else function(*values)


def compute(function: Any, a: Any, b: Any) -> Any:
    """The result of arithmetic, or None where it is not finite."""
    if a is None or b is None:
        return None
    try:
        result = function(float(a), float(b))
    except ZeroDivisionError:
        return None
    return result if math.isfinite(result) else None


def first_known(*values: Any) -> Any:
    """The first value that is not unknown."""
    return next((value for value in values if value is not None), None)


def both(*truths: Any) -> Any:
    """False if one is false, else None if one is unknown, else True."""
    if any(truth is False for truth in truths):
        return False
    return None if None in truths else True


def either(*truths: Any) -> Any:
    """True if one is true, else None if one is unknown, else False."""
    if any(truth is True for truth in truths):
        return True
    return None if None in truths else False


def above(value: Any, threshold: float) -> bool:
    """Whether a number is known and above a threshold."""
    return value is not None and bool(value > threshold)
