"""Kinds of arguments that commands share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from cyclopts import Parameter


def _whole(_kind: Any, tokens: Sequence[Any]) -> int:
    """cyclopts would round 1.5 to 2 without a word."""
    text = tokens[0].value
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"expected a whole number, got {text!r}") from None


def _amount(_kind: Any, tokens: Sequence[Any]) -> int | float:
    text = tokens[0].value
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"expected a count or a rate, got {text!r}") from None


Whole = Annotated[int, Parameter(converter=_whole)]
"""A whole number: 17."""

Amount = Annotated[int | float, Parameter(converter=_amount)]
"""A count (57) or a rate (0.03)."""
