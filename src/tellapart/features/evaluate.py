"""A condition on one item; `to_polars` does the same for whole columns."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Set
from datetime import UTC, date, datetime, time
from functools import partial
from typing import Any, TypeAlias

from tellapart.errors import FeatureError
from tellapart.features import letter_case, tree
from tellapart.features.tree import Node, Pattern, Type, Value, Wild
from tellapart.model import truth

Read: TypeAlias = Callable[[Any], Any]


def reader(node: Node) -> Read:
    """A function from an item to the value of `node` on it."""
    match node:
        case tree.Column():
            return _column(node.name, node.type)
        case Value():
            value = node.value
            return lambda item: value
        case tree.Arithmetic():
            return _arithmetic(tree.OPERATORS[node.op], _operand(node.left), _operand(node.right))
        case tree.Call():
            return _call(node)
        case tree.Compare():
            return _compare(node)
        case tree.Like():
            return _opposite(_like(reader(node.operand), node.pattern, node.fold), node.negated)
        case tree.In():
            return _in(node)
        case tree.IsNull():
            operand, wanted = reader(node.operand), not node.negated
            return lambda item: (operand(item) is None) is wanted
        case tree.IsTrue():
            operand, wanted = reader(node.operand), not node.negated
            return lambda item: (operand(item) is True) is wanted
        case tree.Not():
            return _opposite(reader(node.operand), True)
        case tree.And():
            return _all(tuple(map(reader, node.parts)), deciding=False)
        case tree.Or():
            return _all(tuple(map(reader, node.parts)), deciding=True)
        case tree.Points():
            return _points(node)
        case tree.Atom():
            return partial(truth, node.feature)


def _column(name: str, kind: Type) -> Read:
    clean = CLEAN[kind]

    def read(item: Any) -> Any:
        if isinstance(item, Mapping):
            value = item.get(name)
        elif isinstance(item, Set) and kind is Type.BOOL:
            return name in item
        else:
            raise FeatureError(
                f"cannot read column {name!r} of {item!r} ({type(item).__name__}): give items as"
                " mappings from column to value"
            )
        if value is None:
            return None
        try:
            return clean(value)
        except (TypeError, ValueError, OverflowError):
            raise FeatureError(
                f"column {name!r} should hold {kind.value}, but the item has {value!r}"
                f" ({type(value).__name__})"
            ) from None

    return read


def _bool(value: Any) -> bool:
    if isinstance(value, str) or value not in (0, 1):
        raise TypeError
    return bool(value)


def _whole(value: Any) -> int | None:
    if type(value) is int and -(2**63) <= value < 2**63:
        return value
    if isinstance(value, str | bool):
        raise TypeError
    if math.isnan(value):
        return None
    if value != int(value) or not -(2**63) <= value < 2**63:
        raise ValueError
    return int(value)


def _double(value: Any) -> float | None:
    if isinstance(value, str | bool):
        raise TypeError
    value = float(value)
    return value if math.isfinite(value) else None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _date(value: Any) -> date:
    if isinstance(value, datetime) or not isinstance(value, date):
        raise TypeError
    return value


def _datetime(value: Any) -> datetime:
    if not isinstance(value, datetime):
        return datetime.combine(_date(value), time())
    return value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)


CLEAN: dict[Type, Callable[[Any], Any]] = {
    Type.BOOL: _bool,
    Type.INTEGER: _whole,
    Type.NUMBER: _double,
    Type.TEXT: _text,
    Type.DATE: _date,
    Type.DATETIME: _datetime,
}
"""How a value of a column is read."""


def _as(node: Node, kind: Type) -> Read:
    """The value of `node` where a double or a datetime is wanted."""
    change: Callable[[Any], Any]
    if kind is Type.NUMBER and node.type is Type.INTEGER:
        change = float
    elif kind is Type.DATETIME and node.type is Type.DATE:
        change = _datetime
    else:
        return reader(node)
    if isinstance(node, Value):
        changed = change(node.value)
        return lambda item: changed
    read = reader(node)

    def changing(item: Any) -> Any:
        value = read(item)
        return None if value is None else change(value)

    return changing


def _number(node: Node) -> Read:
    return _as(node, Type.NUMBER)


def _operand(node: Node) -> Read:
    """What arithmetic computes with."""
    match node:
        case tree.Arithmetic():
            return reader(node)
        case tree.Call(name="abs" | "negative"):
            return _applied(_FUNCTIONS[node.name], _operand(node.args[0]))
        case _:
            return _applied(_within, _number(node)) if tree.is_bounded(node) else _number(node)


def _within(value: float) -> float | None:
    return value if value == 0 or tree.LEAST <= abs(value) <= tree.MOST else None


def _arithmetic(compute: Callable[[Any, Any], Any], left: Read, right: Read) -> Read:
    def read(item: Any) -> float | None:
        a = left(item)
        b = right(item)
        if a is None or b is None:
            return None
        try:
            result = compute(a, b)
        except ZeroDivisionError:
            return None
        return result if math.isfinite(result) else None

    return read


def _compare(node: tree.Compare) -> Read:
    kind = tree.wider(node.left.type, node.right.type)
    compute, left = tree.OPERATORS[node.op], _as(node.left, kind)
    if isinstance(node.right, Value):
        constant = _as(node.right, kind)(None)

        def read_constant(item: Any) -> bool | None:
            a = left(item)
            return None if a is None else compute(a, constant)

        return read_constant
    right = _as(node.right, kind)

    def read(item: Any) -> bool | None:
        a = left(item)
        b = right(item)
        return None if a is None or b is None else compute(a, b)

    return read


def _in(node: tree.In) -> Read:
    kind = tree.wider(node.operand.type, *(value.type for value in node.values))
    operand = _as(node.operand, kind)
    values = frozenset(_as(value, kind)(None) for value in node.values)
    wanted = not node.negated

    def read(item: Any) -> bool | None:
        value = operand(item)
        return None if value is None else (value in values) is wanted

    return read


def regex(pattern: Pattern, fold: bool) -> str:
    """A pattern as a regular expression for the whole text; `(?s)` is up to the caller.

    Case is written out letter by letter, so that no engine's idea of case matters.

    >>> regex(("é!", Wild.ANY), True)
    '[Éé]!.*'
    """
    return "".join(
        {Wild.ANY: ".*", Wild.ONE: "."}[part]
        if isinstance(part, Wild)
        else "".join(_letter(letter, fold) for letter in part)
        for part in pattern
    )


def _letter(letter: str, fold: bool) -> str:
    either = letter_case.both(letter) if fold else letter
    if len(either) > 1:
        return f"[{either}]"
    return f"\\{letter}" if letter in r"\.+*?()|[]{}^$#&-~" else letter


def _like(operand: Read, pattern: Pattern, fold: bool) -> Read:
    test = _matcher(pattern, fold)

    def read(item: Any) -> bool | None:
        text = operand(item)
        return None if text is None else bool(test(text))

    return read


def _matcher(pattern: Pattern, fold: bool) -> Callable[[str], object]:
    match pattern:  # the common shapes need no regular expression
        case (Wild.ANY, str(part), Wild.ANY) if not fold:
            return lambda text: part in text
        case (str(part), Wild.ANY) if not fold:
            return lambda text: text.startswith(part)
        case (Wild.ANY, str(part)) if not fold:
            return lambda text: text.endswith(part)
    return re.compile(regex(pattern, fold), re.DOTALL).fullmatch


def _call(node: tree.Call) -> Read:
    if node.name == "coalesce":
        parts = tuple(_as(part, node.type) for part in node.args)

        def first_known(item: Any) -> Any:
            return next((v for v in (part(item) for part in parts) if v is not None), None)

        return first_known
    numeric = node.name in ("abs", "negative")
    operand = _number(node.args[0]) if numeric else reader(node.args[0])
    return _applied(_FUNCTIONS[node.name], operand)


def _applied(function: Callable[[Any], Any], operand: Read) -> Read:
    def read(item: Any) -> Any:
        value = operand(item)
        return None if value is None else function(value)

    return read


_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "abs": abs,
    "negative": operator.neg,
    "lower": letter_case.lower,
    "upper": letter_case.upper,
    "trim": lambda text: text.strip(" "),
    "length": len,
    "year": operator.attrgetter("year"),
    "month": operator.attrgetter("month"),
    "day": operator.attrgetter("day"),
    "weekday": operator.methodcaller("isoweekday"),
}


def _opposite(read: Read, negated: bool) -> Read:
    if not negated:
        return read

    def opposite(item: Any) -> bool | None:
        value: bool | None = read(item)
        return None if value is None else not value

    return opposite


def _points(node: tree.Points) -> Read:
    terms = tuple((reader(condition), weight) for condition, weight in node.terms)
    at_least, wanted = node.at_least, not node.negated

    def read(item: Any) -> bool:
        points = sum(weight for condition, weight in terms if condition(item) is True)
        return (points >= at_least) is wanted

    return read


def _all(parts: tuple[Read, ...], *, deciding: bool) -> Read:
    """And (decided by a False) and Or (decided by a True)."""

    def read(item: Any) -> bool | None:
        unknown = False
        for part in parts:
            value: bool | None = part(item)
            if value is deciding:
                return deciding
            unknown = unknown or value is None
        return None if unknown else not deciding

    return read
