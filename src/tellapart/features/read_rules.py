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
    return next(answer for applies, answer in LIST if applies(item) is True)


def predict(item: Mapping[str, Any] | Set[str]) -> Any:
    """The label of an item."""
    return explain(item).label


# -- values of columns; None is unknown


def truth(value: Any) -> bool:
    if value not in (0, 1):
        raise ValueError
    return bool(value)


def whole(value: Any) -> int | None:
    if type(value) is not int:
        if math.isnan(value):
            return None
        if isinstance(value, bool) or value != int(value):
            raise ValueError
    if not -(2**63) <= value < 2**63:
        raise ValueError
    return int(value)


def double(value: Any) -> float | None:
    if isinstance(value, str | bool):
        raise TypeError
    return finite(float(value))


def finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def day(value: Any) -> date:
    if not isinstance(value, date) or isinstance(value, datetime):
        raise TypeError
    return value


def moment(value: Any) -> datetime:
    if not isinstance(value, datetime):
        return datetime.combine(day(value), time())
    return value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)


CLEAN: dict[str, Callable[[Any], Any]] = {
    "bool": truth, "integer": whole, "number": double, "text": text, "date": day,
    "datetime": moment,
}  # fmt: skip
LITERALS: dict[str, Callable[[str], Any]] = {
    "integer": int, "date": date.fromisoformat, "datetime": datetime.fromisoformat,
}  # fmt: skip
KNOWN: dict[str, Callable[..., Any]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge,
    "+": lambda a, b: finite(a + b), "-": lambda a, b: finite(a - b),
    "*": lambda a, b: finite(a * b), "/": lambda a, b: finite(a / b) if b else None,
    "within": lambda a: a if a == 0 or 1e-75 <= abs(a) <= 1e75 else None,
    "abs": abs, "negative": operator.neg, "not": operator.not_, "to_number": float,
    "midnight": moment, "length": len, "trim": lambda a: a.strip(" "),
    "year": operator.attrgetter("year"), "month": operator.attrgetter("month"),
    "day": operator.attrgetter("day"), "weekday": operator.methodcaller("isoweekday"),
}  # fmt: skip
"""What is unknown if an argument is."""

# -- a part of a rule becomes a function from an item to its value

Read = Callable[[Any], Any]


def read(part: Any) -> Read:
    if not isinstance(part, list):
        return lambda item: part
    operation, *rest = part
    if operation == "column":
        return column(*rest)
    if operation in LITERALS:
        value = LITERALS[operation](rest[0])
        return lambda item: value
    if operation == "points":
        terms = [(weight, read(term)) for weight, term in rest[1:]]
        return lambda item: sum(w for w, term in terms if term(item) is True) >= rest[0]
    if operation == "matches":
        shape = re.compile(rest[1], re.DOTALL)
        return known(lambda a: shape.fullmatch(a) is not None, read(rest[0]))
    parts = [read(one) for one in rest]
    if operation == "in":
        values = {one({}) for one in parts[1:]}
        return known(lambda a: a in values, parts[0])
    if operation in ("and", "or"):
        return joined(parts, operation == "or")
    if operation in ("unknown", "true"):
        wanted = None if operation == "unknown" else True
        return lambda item: parts[0](item) is wanted
    if operation == "coalesce":
        return lambda item: next((v for one in parts if (v := one(item)) is not None), None)
    if operation in ("lower", "upper"):
        old = "lower" if operation == "upper" else "upper"
        letters = str.maketrans(RULES["letters"][old], RULES["letters"][operation])
        return known(lambda a: a.translate(letters), parts[0])
    return known(KNOWN[operation], *parts)


def column(name: str, kind: str) -> Read:
    clean = CLEAN[kind]

    def cell(item: Any) -> Any:
        if isinstance(item, Mapping):
            value = item.get(name)
        elif isinstance(item, Set):
            value = name in item
        else:
            raise TypeError(
                f"cannot read column {name!r} of {item!r} ({type(item).__name__}): give items as"
                " mappings from column to value"
            )
        try:
            return None if value is None else clean(value)
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"column {name!r} should hold {kind}, but has {value!r}") from None

    return cell


def known(compute: Callable[..., Any], first: Read, second: Read | None = None) -> Read:
    def one(item: Any) -> Any:
        a = first(item)
        return None if a is None else compute(a)

    def two(item: Any) -> Any:
        assert second is not None
        a, b = first(item), second(item)
        return None if a is None or b is None else compute(a, b)

    return one if second is None else two


def joined(parts: list[Read], deciding: bool) -> Read:
    def value(item: Any) -> bool | None:
        unknown = False
        for part in parts:
            found: bool | None = part(item)
            if found is deciding:
                return deciding
            unknown = unknown or found is None
        return None if unknown else not deciding

    return value


LIST = [(read(one.pop("when")), Answer(**one)) for one in map(dict, RULES["rules"])]
