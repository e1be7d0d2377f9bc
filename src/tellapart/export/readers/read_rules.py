"""predict(item) gives the label of an item; explain(item) also the rule, and why.

The item is a mapping from column to value, where None or nothing is unknown, or a set of names.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Set
from datetime import UTC, date, datetime, time
from typing import Any, NamedTuple

RULES: dict[str, Any] = {"rules": []}
# end of the rules


class Answer(NamedTuple):
    """What is said of an item."""

    label: Any
    rule: int
    because: str
    like: str | None
    is_sure: bool | None


def explain(item: Mapping[str, Any] | Set[str]) -> Answer:
    """The answer of the first rule that applies."""
    row = item if isinstance(item, Mapping) else dict.fromkeys(item, True)
    return next(answer for applies, answer in LIST if applies(row) is True)


def predict(item: Mapping[str, Any] | Set[str]) -> Any:
    """The label of an item."""
    return explain(item).label


# -- values of columns; None is unknown


def whole(value: Any) -> int | None:
    if math.isnan(value):
        return None
    if isinstance(value, bool) or value != int(value) or not -(2**63) <= value < 2**63:
        raise ValueError
    return int(value)


def double(value: Any) -> float | None:
    if isinstance(value, str | bool):
        raise TypeError
    return float(value) if math.isfinite(value) else None


def moment(value: Any) -> datetime:
    if not isinstance(value, datetime):
        return datetime.combine(only(value, date), time())
    return value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)


def only(value: Any, kind: type) -> Any:
    if not isinstance(value, kind) or (kind is date and isinstance(value, datetime)):
        raise TypeError
    return value


CLEAN: dict[str, Callable[[Any], Any]] = {
    "bool": lambda value: {0: False, 1: True}[value],
    "integer": whole,
    "number": double,
    "text": lambda value: only(value, str),
    "date": lambda value: only(value, date),
    "datetime": moment,
}


def column(row: Mapping[str, Any], name: str, kind: str) -> Any:
    value = row.get(name)
    try:
        return None if value is None else CLEAN[kind](value)
    except (TypeError, ValueError, KeyError, OverflowError):
        raise TypeError(f"column {name!r} should hold {kind}, but has {value!r}") from None


# -- operations: each takes its arguments as they stand in a rule


def within(value: float) -> float | None:
    return value if value == 0 or 1e-75 <= abs(value) <= 1e75 else None


def changed(text: str, old: str, new: str) -> str:
    return text.translate(str.maketrans(RULES["letters"][old], RULES["letters"][new]))


KNOWN: dict[str, Callable[..., Any]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "+": operator.add, "-": operator.sub, "*": operator.mul,
    "/": lambda a, b: a / b if b else None,
    "in": lambda value, *values: value in values,
    "matches": lambda text, shape: re.fullmatch(shape, text, re.DOTALL) is not None,
    "not": operator.not_, "to_number": float, "midnight": moment, "within": within,
    "abs": abs, "negative": operator.neg, "length": len, "trim": lambda text: text.strip(" "),
    "lower": lambda text: changed(text, "upper", "lower"),
    "upper": lambda text: changed(text, "lower", "upper"),
    "year": lambda at: at.year, "month": lambda at: at.month, "day": lambda at: at.day,
    "weekday": lambda at: at.isoweekday(), "integer": int, "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
}  # fmt: skip
"""What is unknown if an argument is."""

Read = Callable[[Mapping[str, Any]], Any]


def read(part: Any) -> Read:
    """A function from a row to the value of a part."""
    if not isinstance(part, list):
        return lambda row: part
    operation, *rest = part
    if operation == "column":
        return lambda row: column(row, *rest)
    if operation == "points":
        terms = [(weight, read(term)) for weight, term in rest[1:]]
        return lambda row: sum(w for w, term in terms if term(row) is True) >= rest[0]
    parts = [read(one) for one in rest]
    if operation in ("and", "or"):
        return lambda row: joined([one(row) for one in parts], operation == "or")
    if operation == "coalesce":
        return lambda row: next((v for one in parts if (v := one(row)) is not None), None)
    if operation in ("unknown", "true"):
        return lambda row: parts[0](row) is (None if operation == "unknown" else True)
    return lambda row: known(KNOWN[operation], [one(row) for one in parts])


def joined(values: list[Any], deciding: bool) -> bool | None:
    return deciding if deciding in values else None if None in values else not deciding


def known(compute: Callable[..., Any], values: list[Any]) -> Any:
    made = None if None in values else compute(*values)
    return None if isinstance(made, float) and not math.isfinite(made) else made


LIST = [(read(one.pop("when")), Answer(**one)) for one in map(dict, RULES["rules"])]
