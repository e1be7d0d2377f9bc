"""JSON rules (docs/json_rules.md) executed by a small program that knows nothing of tellapart."""

from __future__ import annotations

import math
import operator
import re
from datetime import date, datetime, time
from typing import Any

COMPUTE = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
COMPARE = {"=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le,
           ">": operator.gt, ">=": operator.ge}  # fmt: skip
KNOWN: dict[str, Any] = {
    **COMPARE,
    "in": lambda value, *values: value in values,
    "matches": lambda text, shape: re.fullmatch(shape, text, re.DOTALL) is not None,
    "not": operator.not_, "to_number": float, "abs": abs, "negative": operator.neg, "length": len,
    "midnight": lambda day: datetime.combine(day, time()), "trim": lambda text: text.strip(" "),
    "year": lambda at: at.year, "month": lambda at: at.month, "day": lambda at: at.day,
    "weekday": lambda at: at.isoweekday(), "integer": int, "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
}  # fmt: skip


def answer(rules: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """The first rule whose condition is true."""
    return next(rule for rule in rules["rules"] if value(rules, rule["when"], row) is True)


def value(rules: dict[str, Any], part: Any, row: dict[str, Any]) -> Any:
    """A value or a condition on a row; None is unknown."""
    if not isinstance(part, list):
        return part
    operation, *rest = part
    if operation == "column":
        found = row.get(rest[0])
        bad = isinstance(found, float) and not math.isfinite(found)
        return None if found is None or bad else float(found) if rest[1] == "number" else found
    if operation == "points":
        at_least, *terms = rest
        return sum(w for w, part in terms if value(rules, part, row) is True) >= at_least
    values = [value(rules, one, row) for one in rest]
    if operation in ("and", "or"):
        deciding = operation == "or"
        return deciding if deciding in values else None if None in values else not deciding
    if operation == "coalesce":
        return next((one for one in values if one is not None), None)
    if operation in ("unknown", "true"):
        return values[0] is (None if operation == "unknown" else True)
    if None in values or (operation == "/" and values[1] == 0):
        return None
    if operation in COMPUTE:
        made = COMPUTE[operation](*values)
        return made if math.isfinite(made) else None
    if operation in ("lower", "upper"):
        old = "upper" if operation == "lower" else "lower"
        letters = str.maketrans(rules["letters"][old], rules["letters"][operation])
        return values[0].translate(letters)
    return KNOWN[operation](*values)
