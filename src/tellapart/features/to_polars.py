"""Features on the rows of a Polars frame.

`translate` makes a Polars expression of a syntax tree; `truths` and `count` evaluate many features
at once. `expression` evaluates one item.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from tellapart.features import letter_case, tree
from tellapart.features.evaluate import regex
from tellapart.features.expression import Expression
from tellapart.features.tree import Node, Pattern, Type, Value, Wild

Truths = npt.NDArray[np.bool_]

DTYPE: dict[Type, Any] = {
    Type.BOOL: pl.Boolean(),
    Type.INTEGER: pl.Int64(),
    Type.NUMBER: pl.Float64(),
    Type.TEXT: pl.String(),
    Type.DATE: pl.Date(),
    Type.DATETIME: pl.Datetime("us"),
}
"""The one Polars type of each of ours."""

_MOST = sys.float_info.max


def from_dtype(dtype: Any) -> Type | None:
    """Our type for a Polars type; None for those that features cannot read."""
    if dtype == pl.Boolean:
        return Type.BOOL
    if dtype in (pl.Int128, pl.UInt64, pl.UInt128) or dtype.is_float() or dtype.is_decimal():
        return Type.NUMBER
    if dtype.is_integer():
        return Type.INTEGER
    if dtype in (pl.String, pl.Categorical, pl.Enum, pl.Null):
        return Type.TEXT
    if dtype == pl.Date:
        return Type.DATE
    return Type.DATETIME if dtype == pl.Datetime else None


def cleaned(column: pl.Expr, kind: Type, dtype: Any = None) -> pl.Expr:
    """A column in the one type of its kind: UTC without a zone, no NaN and no infinity."""
    if kind is Type.DATETIME and getattr(dtype, "time_zone", None):
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    if dtype is None or dtype != DTYPE[kind]:
        column = column.cast(DTYPE[kind])
    return finite(column) if kind is Type.NUMBER else column


def finite(number: pl.Expr) -> pl.Expr:
    """Unknown unless finite."""
    return pl.when(number.is_finite()).then(number)


def within(number: pl.Expr) -> pl.Expr:
    """Unknown unless arithmetic takes it (`tree.within`)."""
    return pl.when((number == 0) | number.abs().is_between(tree.LEAST, tree.MOST)).then(number)


def divided(left: Any, right: Any) -> Any:
    """A quotient, rounded once. Polars itself multiplies by 1 / x where x is a constant."""
    nothing = (left != left).cast(pl.Float64)  # 0 in every row, and not known to be constant
    return left / (nothing + right)


@lru_cache(4096)  # while people teach, the same features come again and again
def translate(node: Node, *, clean: bool = False) -> pl.Expr:
    """An expression that is true where `node` is, and false or null elsewhere.

    `clean` promises that the frame's columns are `cleaned`.
    """
    made: pl.Expr = Translator(clean).truth(node)
    return made


class Translator:
    """Makes expressions; `clean` promises that columns are `cleaned`."""

    def __init__(self, clean: bool) -> None:
        self.clean = clean

    def truth(self, node: Node) -> Any:
        """True where `node` is; false or null elsewhere."""
        match node:
            case tree.And():
                return pl.all_horizontal(*map(self.truth, node.parts))
            case tree.Or():
                return pl.any_horizontal(*map(self.truth, node.parts))
            case tree.Compare(op, tree.Arithmetic() as left, Value() as right) if op != "<>":
                # one comparison with two ends also checks that the result is finite
                number, value = self.computed(left), float(right.value)
                if op == "=":
                    return number == value
                low, high = (value, _MOST) if op[0] == ">" else (-_MOST, value)
                ends: Any = {">": "right", "<": "left"}.get(op, "both")
                return number.is_between(low, high, closed=ends)
            case _:
                return self.expr(node)

    def computed(self, node: tree.Arithmetic) -> Any:
        """Arithmetic without the check that the result is finite. A value that is not finite stays
        so through further operations, unless it is a divisor."""
        left = self.operand(node.left)
        if node.op == "/":
            right, inner = self.operand(node.right), node.right
            while isinstance(inner, tree.Call) and inner.name in ("abs", "negative"):
                inner = inner.args[0]
            return divided(left, finite(right) if isinstance(inner, tree.Arithmetic) else right)
        return tree.OPERATORS[node.op](left, self.operand(node.right))

    def operand(self, node: Node) -> Any:
        """What arithmetic computes with."""
        match node:
            case tree.Arithmetic():
                return self.computed(node)
            case tree.Call(name="abs"):
                return self.operand(node.args[0]).abs()
            case tree.Call(name="negative"):
                return -self.operand(node.args[0])
        number = self.of(node, Type.NUMBER)
        return within(number) if tree.is_bounded(node) else number

    def expr(self, node: Node) -> Any:
        """True, false or null where `node` is true, false or unknown; or a value."""
        match node:
            case tree.Column():
                return self.column(node)
            case Value():
                return pl.lit(node.value, dtype=DTYPE[node.type])
            case tree.Arithmetic():
                return finite(self.computed(node))
            case tree.Call():
                return self.call(node)
            case tree.Compare(op, left, right):
                if op in ("=", "<>") and isinstance(right, Value) and _is_lower(left, (right,)):
                    same = self.equals_lower(left, (right,))
                    return same if op == "=" else ~same
                kind = tree.wider(left.type, right.type)
                return tree.OPERATORS[op](self.of(left, kind), self.side(right, kind))
            case tree.Like():
                found = like(self.expr(node.operand), node.pattern, node.fold)
                return ~found if node.negated else found
            case tree.In():
                return self.member(node)
            case tree.IsNull():
                operand = self.expr(node.operand)
                return operand.is_not_null() if node.negated else operand.is_null()
            case tree.IsTrue():
                operand = self.expr(node.operand)
                return operand.ne_missing(True) if node.negated else operand.eq_missing(True)
            case tree.Not():
                return ~self.expr(node.operand)
            case tree.And():
                return pl.all_horizontal(*map(self.expr, node.parts))
            case tree.Or():
                return pl.any_horizontal(*map(self.expr, node.parts))
            case tree.Points(terms, at_least):
                counted = (pl.when(self.truth(part)).then(w).otherwise(0) for part, w in terms)
                points = pl.sum_horizontal(*counted)
                return points < at_least if node.negated else points >= at_least

    def column(self, node: tree.Column) -> Any:
        column = pl.col(node.name)
        return column if self.clean else cleaned(column, node.type)

    def of(self, node: Node, kind: Type) -> Any:
        """`node` where `kind` is wanted: whole numbers as doubles, dates as datetimes."""
        if node.type is kind:
            return self.expr(node)
        if isinstance(node, Value):
            return pl.lit(node.value).cast(DTYPE[kind])
        return self.expr(node).cast(DTYPE[kind])

    def side(self, node: Node, kind: Type) -> Any:
        """The right side of a comparison: a literal may stay a plain value."""
        if isinstance(node, Value) and kind is not Type.DATETIME:
            return float(node.value) if kind is Type.NUMBER else node.value
        return self.of(node, kind)

    def member(self, node: tree.In) -> Any:
        kind = tree.wider(node.operand.type, *(value.type for value in node.values))
        if _is_lower(node.operand, node.values):
            found = self.equals_lower(node.operand, node.values)
        elif kind is Type.TEXT and len(node.values) <= 8:  # faster than is_in
            operand = self.expr(node.operand)
            found = pl.any_horizontal(*(operand == value.value for value in node.values))
        else:
            values = pl.Series([value.value for value in node.values], strict=False)
            found = self.of(node.operand, kind).is_in(values.cast(DTYPE[kind]).implode())
        return ~found if node.negated else found

    def equals_lower(self, lower: Node, values: tuple[Value, ...]) -> Any:
        """lower(x) IN values, without lowering x."""
        assert isinstance(lower, tree.Call)
        either = "|".join(regex((value.value,), fold=True) for value in values)
        return self.expr(lower.args[0]).str.contains(rf"\A(?:{either})\z")

    def call(self, node: tree.Call) -> Any:
        if node.name == "coalesce":
            return pl.coalesce([self.of(part, node.type) for part in node.args])
        if node.name in ("abs", "negative"):
            number = self.of(node.args[0], Type.NUMBER)
            return number.abs() if node.name == "abs" else -number
        operand = self.expr(node.args[0])
        match node.name:
            case "lower":
                uppers, lowers = zip(*letter_case.PAIRS, strict=True)
                return operand.str.replace_many(list(uppers), list(lowers))
            case "upper":
                uppers, lowers = zip(*letter_case.PAIRS, strict=True)
                return operand.str.replace_many(list(lowers), list(uppers))
            case "trim":
                return operand.str.strip_chars(" ")
            case "length":  # characters come as 32 bits without a sign
                return operand.str.len_chars().cast(pl.Int64)
            case _:
                return getattr(operand.dt, node.name)().cast(pl.Int64)


def like(text: pl.Expr, pattern: Pattern, fold: bool) -> pl.Expr:
    """Whether a text has the shape of a pattern."""
    match pattern:
        case (Wild.ANY, str(part), Wild.ANY) if not fold:
            return text.str.contains(part, literal=True)
        case (str(part), Wild.ANY) if not fold:
            return text.str.starts_with(part)
        case (Wild.ANY, str(part)) if not fold:
            return text.str.ends_with(part)
    inner = pattern
    start = end = ""
    if inner[0] is Wild.ANY:  # a `.*` at an end is not needed
        inner = inner[1:]
    else:
        start = r"\A"
    if inner and inner[-1] is Wild.ANY:
        inner = inner[:-1]
    else:
        end = r"\z"
    if pattern == (Wild.ANY,):
        end = ""
    return text.str.contains(f"(?s){start}{regex(inner, fold)}{end}")


def _is_lower(node: Node, values: tuple[Value, ...]) -> bool:
    """Whether `node` is lower(x), and every value is in lower case."""
    lowered = isinstance(node, tree.Call) and node.name == "lower"
    return lowered and all(letter_case.lower(value.value) == value.value for value in values)


def count(features: Sequence[Expression], frame: pl.DataFrame) -> list[int]:
    """On how many rows each feature holds."""
    return [int(np.count_nonzero(found)) for found in truths(features, frame)]


def truths(features: Sequence[Expression], frame: pl.DataFrame) -> list[Truths]:
    """Where each feature holds.

    >>> import polars as pl
    >>> from tellapart.features import parse_feature
    >>> zoo = pl.DataFrame({"legs": [4, 2, 0], "name": ["bear", "duck", None]})
    >>> schema = {"legs": "integer", "name": "text"}
    >>> asked = [parse_feature(text, schema) for text in ("legs >= 2", "name LIKE '%r'")]
    >>> [found.tolist() for found in truths(asked, zoo)]
    [[True, True, False], [True, False, False]]
    """
    asked = [one.to_polars(clean=True).alias(str(n)) for n, one in enumerate(features)]
    found = frame.select_seq(asked).get_columns()
    return [(one.fill_null(False) if one.null_count() else one).to_numpy() for one in found]
