"""A syntax tree as SQL that means the same on every engine.

`Lowering` builds sqlglot nodes; sqlglot knows how a dialect spells types, quotes and texts, and
`dialects` has a subclass for each engine that differs. What most engines agree on is here:

- every number that is not a whole one is cast to a double; NaN, infinity and overflow become
unknown by a guard, where they are possible (`reach`); - a pattern that ignores case lists both
cases of every letter, so that the engine's own idea of case does not matter;
- where only truth counts (`loose`), a guard is one more condition; elsewhere it is a CASE.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import reduce
from typing import Any, ClassVar, NamedTuple, TypeGuard

from sqlglot import exp

from tellapart.errors import ExportError
from tellapart.export.sql_nodes import (
    anonymous,
    cast,
    escape,
    figures,
    identifier,
    opposite,
    string,
    whole,
    words,
    wrap,
)
from tellapart.features import letter_case, tree
from tellapart.features.expression import reader, wider
from tellapart.features.tree import Node, Pattern, Type, Value

_COMPARE: dict[str, type[exp.Expr]] = {
    "=": exp.EQ, "<>": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE,
}  # fmt: skip
_COMPUTE: dict[str, type[exp.Expr]] = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul, "/": exp.Div}
LARGEST = sys.float_info.max
SMALLEST = math.ulp(0.0)
"""The double next to zero."""

_CHAIN = 100
"""Longer chains of AND, OR and + are cut into groups: SQLite allows at most 1000 levels."""
_MOST = 2_000
"""The most numbers written for one feature; beyond that it is refused."""


class Lowering:
    """What all engines share. One object lowers one feature."""

    name: ClassVar[str]
    dialect: ClassVar[Any]
    double: ClassVar[exp.DType] = exp.DType.DOUBLE
    moment: ClassVar[exp.DType] = exp.DType.TIMESTAMP
    trims_all: ClassVar[bool] = False
    """Whether TRIM removes all kinds of white space, unless it is told to remove spaces."""

    def __init__(
        self,
        *,
        clean: bool = False,
        zoned: frozenset[str] = frozenset(),
        finite_columns: Mapping[str, str] | None = None,
    ) -> None:
        self.clean = clean
        """No column holds NaN or infinity."""
        self.zoned = zoned
        """The columns whose times have a zone."""
        self.finite_columns = finite_columns or {}
        """For columns of numbers, others that hold them as doubles, finite or unknown."""
        self.numbers = 0

    quotes_all: ClassVar[bool] = False
    """Whether every name stands in quotes: the engine has many words of its own."""

    def sql(self, made: exp.Expr, *, pretty: bool = False) -> str:
        return made.sql(dialect=self.dialect, identify=self.quotes_all, pretty=pretty)

    # -- views

    reserved: ClassVar[frozenset[str]] = frozenset({"like"})
    """Those of the columns of a view that need quotes."""

    def create_view(self, name: str) -> str:
        """How a statement begins that makes or replaces a view."""
        return f"CREATE OR REPLACE VIEW {name} AS"

    def certain(self, condition: exp.Expr, never_unknown: bool) -> exp.Expr:
        """A condition as a column that is true or false, never unknown."""
        return condition if never_unknown else self.is_true(condition, False)

    def named(self, column: exp.Expr) -> exp.Expr:
        """The condition that a column made by `certain` is true."""
        return column

    def unknown(self, kind: str) -> exp.Expr:
        """NULL in the type of a text, bool, integer or number."""
        types = {
            "text": exp.DType.TEXT, "bool": exp.DType.BOOLEAN, "integer": exp.DType.BIGINT,
            "number": self.double,
        }  # fmt: skip
        return cast(exp.null(), types[kind])

    # -- conditions

    def condition(self, node: Node, *, loose: bool = True) -> exp.Expr:
        """The SQL of a condition; `loose` if false and unknown may stand for each other."""
        match node:
            case tree.And():
                return self.chain(exp.And, [self.condition(p, loose=loose) for p in node.parts])
            case tree.Or():
                return self.chain(exp.Or, [self.condition(p, loose=loose) for p in node.parts])
            case tree.Points():
                return self.points(node)
            case tree.Compare():
                return self.compare(node, loose=loose)
            case tree.In():
                return self.member(node, loose=loose)
            case tree.Like():
                made = self.like(self.value(node.operand), node.pattern, fold=node.fold)
                return opposite(made) if node.negated else made
            case tree.IsNull():
                operand = (
                    node.operand.operand if isinstance(node.operand, tree.Not) else node.operand
                )
                return self.is_(self.known(operand), exp.null(), node.negated)
            case tree.IsTrue():
                return self.is_true(self.condition(node.operand), node.negated)
            case tree.Not():
                return exp.Not(this=wrap(self.condition(node.operand, loose=False)))
            case _:
                return self.value(node)

    def chain(self, kind: type[exp.Expr], parts: Sequence[exp.Expr]) -> exp.Expr:
        """Any number of conditions joined by AND or OR, or of numbers by +."""
        if len(parts) > _CHAIN:
            groups = [parts[n : n + _CHAIN] for n in range(0, len(parts), _CHAIN)]
            return self.chain(kind, [exp.Paren(this=self.chain(kind, g)) for g in groups])
        other = exp.Or if kind is exp.And else exp.And
        wrapped = [wrap(part) if isinstance(part, other) else part for part in parts]
        return reduce(lambda left, right: kind(this=left, expression=right), wrapped)

    def points(self, node: tree.Points) -> exp.Expr:
        counted = [
            exp.Case(ifs=[exp.If(this=self.condition(part), true=whole(weight))], default=whole(0))
            for part, weight in node.terms
        ]
        op = "<" if node.negated else ">="
        return self.operator(op, self.chain(exp.Add, counted), whole(node.at_least))

    has_is_true: ClassVar[bool] = True
    """Whether there is IS TRUE."""

    def is_true(self, operand: exp.Expr, negated: bool) -> exp.Expr:
        if self.has_is_true:
            return self.is_(operand, self.truth(True), negated)
        made = exp.Coalesce(this=operand, expressions=[exp.false()])
        return exp.Not(this=made) if negated else made

    def truth(self, value: bool) -> exp.Expr:
        """True or false."""
        return exp.true() if value else exp.false()

    def is_(self, operand: exp.Expr, what: exp.Expr, negated: bool) -> exp.Expr:
        return exp.Is(this=wrap(operand), expression=exp.Not(this=what) if negated else what)

    def compare(self, node: tree.Compare, *, loose: bool) -> exp.Expr:
        kind = wider(node.left.type, node.right.type)
        if kind is Type.BOOL:
            sides = [wrap(self.condition(side, loose=False)) for side in (node.left, node.right)]
            return self.operator(node.op, *sides)
        if kind is Type.TEXT:
            return self.compare_texts(node)
        if kind is Type.NUMBER and loose:
            left, right = self.raw(node.left), self.raw(node.right)
            made = self.operator(node.op, left, right)
            return self.chain(exp.And, [made, *self.limits(node.op, node.left, node.right)])
        return self.operator(node.op, self.of(node.left, kind), self.of(node.right, kind))

    def operator(self, op: str, left: exp.Expr, right: exp.Expr) -> exp.Expr:
        return _COMPARE[op](this=left, expression=right)

    def compare_texts(self, node: tree.Compare) -> exp.Expr:
        changed, other = node.left, node.right
        if node.op in ("=", "<>") and isinstance(other, Value) and changes_case(changed):
            made = self.same_letters(changed, other.value)
            return opposite(made) if node.op == "<>" else made
        return self.operator(node.op, self.ordered(changed, node.op), self.value(other))

    def ordered(self, node: Node, op: str) -> exp.Expr:
        """A text to be compared by code point."""
        return self.value(node)

    def same_letters(self, changed: tree.Call, wanted: str) -> exp.Expr:
        """lower(x) = wanted, or upper(x) = wanted."""
        operand = self.value(changed.args[0])
        change = letter_case.lower if changed.name == "lower" else letter_case.upper
        if change(wanted) != wanted:  # never true, and unknown with the operand
            return exp.NEQ(this=operand, expression=operand.copy())
        return self.like(operand, (letter_case.lower(wanted),), fold=True)

    def limits(self, op: str, left: Node, right: Node) -> list[exp.Expr]:
        """What makes a comparison of two numbers untrue where one of them is not finite.

        NaN is above everything, or comparable with nothing; so one bound a side is enough.
        """
        low, high = (right, left) if op in (">", ">=") else (left, right)
        if op == "=":
            return self.finite(left) if any(tree.columns(right)) else []
        if op == "<>":
            return [*self.finite(left), *self.finite(right)]
        limits = []
        if self.may_not_be_finite(low):
            limits.append(self.operator(">=", self.raw(low), self.constant(-LARGEST)))
        if self.may_not_be_finite(high):
            limits.append(self.operator("<=", self.raw(high), self.constant(LARGEST)))
        return limits

    def finite(self, node: Node) -> list[exp.Expr]:
        """The conditions under which a number is finite; none if it always is."""
        return [self.is_finite(node)] if self.may_not_be_finite(node) else []

    def is_finite(self, node: Node) -> exp.Expr:
        return self.operator("<=", exp.Abs(this=self.raw(node)), self.constant(LARGEST))

    def may_not_be_finite(self, node: Node) -> bool:
        """Whether `raw` may give infinity or NaN: because a column holds it, or by overflow.
        Divisors and the parts of coalesce have their own guards."""
        match node:
            case tree.Column():
                return self.may_hold_nan(node)
            case tree.Arithmetic():
                right = node.op != "/" and self.may_not_be_finite(node.right)
                return right or self.may_not_be_finite(node.left) or reach(node).overflows
            case tree.Call(name="abs" | "negative"):
                return self.may_not_be_finite(node.args[0])
            case _:
                return False

    def may_hold_nan(self, node: tree.Column) -> bool:
        """Whether a column may hold NaN or infinity."""
        given = self.clean or node.name in self.finite_columns
        return node.type is Type.NUMBER and not given

    def member(self, node: tree.In, *, loose: bool) -> exp.Expr:
        kind = wider(node.operand.type, *(value.type for value in node.values))
        changed = node.operand
        if changes_case(changed):
            any_of = [self.same_letters(changed, value.value) for value in node.values]
            made = self.chain(exp.Or, any_of)
            return opposite(made) if node.negated else made
        plain = kind is Type.NUMBER and loose
        operand = self.raw(node.operand) if plain else self.of(node.operand, kind)
        values = [self.literal(value, kind) for value in node.values]
        made = exp.In(this=wrap(operand), expressions=values)
        made = exp.Not(this=made) if node.negated else made
        op = "<>" if node.negated else "="
        limits = self.limits(op, node.operand, node.values[0]) if plain else []
        return self.chain(exp.And, [made, *limits])

    # -- values

    def value(self, node: Node) -> exp.Expr:
        """The SQL of anything that is not a condition, in its own type."""
        match node:
            case Value():
                return self.literal(node, node.type)
            case tree.Column(type=Type.NUMBER) | tree.Arithmetic():
                return self.guarded(node)
            case tree.Column():
                return self.column(node)
            case tree.Call(name="coalesce"):
                return exp.Coalesce(
                    this=self.of(node.args[0], node.type),
                    expressions=[self.of(part, node.type) for part in node.args[1:]],
                )
            case tree.Call(name="abs" | "negative"):
                return self.guarded(node)
            case tree.Call(name="lower" | "upper"):
                return self.change_case(self.value(node.args[0]), node.name == "lower")
            case tree.Call(name="trim"):
                return self.trim(self.value(node.args[0]))
            case tree.Call(name="length"):
                return exp.Length(this=self.value(node.args[0]))
            case tree.Call():
                return self.part(node.name, self.value(node.args[0]))
            case _:
                return self.condition(node, loose=False)

    def column(self, node: tree.Column) -> exp.Expr:
        made = exp.Column(this=identifier(node.name))
        return self.in_utc(made) if self.is_zoned(node) else made

    def is_zoned(self, node: Node) -> bool:
        """Whether a node is a column of times with a zone."""
        return (
            isinstance(node, tree.Column) and node.type is Type.DATETIME and node.name in self.zoned
        )

    def in_utc(self, column: exp.Expr) -> exp.Expr:
        """A time with a zone as one without, in UTC, whatever the zone of the connection."""
        return exp.Paren(this=exp.AtTimeZone(this=column, zone=string("UTC")))

    def of(self, node: Node, kind: Type) -> exp.Expr:
        """A value in a type: a double, finite or unknown; or midnight, for a date."""
        if kind is Type.NUMBER:
            return self.guarded(node)
        if isinstance(node, Value):
            return self.literal(node, kind)
        made = self.value(node) if kind is not Type.BOOL else self.condition(node, loose=False)
        if kind is Type.DATETIME and node.type is Type.DATE:
            return self.midnight(made)
        return made

    def known(self, node: Node) -> exp.Expr:
        """Something that is unknown exactly where `node` is."""
        if node.type is Type.BOOL:
            return self.condition(node, loose=False)
        return self.value(node)

    def midnight(self, day: exp.Expr) -> exp.Expr:
        return cast(day, self.moment)

    def part(self, name: str, moment: exp.Expr) -> exp.Expr:
        field = "ISODOW" if name == "weekday" else name.upper()
        return exp.Extract(this=exp.var(field), expression=moment)

    def trim(self, operand: exp.Expr) -> exp.Expr:
        return anonymous("TRIM", operand, " ") if self.trims_all else exp.Trim(this=operand)

    # -- numbers

    def guarded(self, node: Node) -> exp.Expr:
        """A double: finite, or unknown."""
        conditions = [] if always_unknown(node) else self.finite(node)
        made = self.raw(node)
        if not conditions:
            return made
        condition = self.chain(exp.And, conditions)
        return exp.Case(ifs=[exp.If(this=condition, true=made)])

    def raw(self, node: Node) -> exp.Expr:
        """A double that may be infinite or NaN."""
        self.count_number()
        if not any(tree.columns(node)):
            return self.constant(reader(node)({}))
        match node:
            case tree.Arithmetic():
                return self.constant(None) if always_unknown(node) else self.compute(node)
            case tree.Call(name="abs"):
                return exp.Abs(this=self.raw(node.args[0]))
            case tree.Call(name="negative"):
                return exp.Neg(this=wrap(self.raw(node.args[0])))
            case tree.Call(name="coalesce", type=Type.NUMBER):
                return self.value(node)
            case tree.Column(name, Type.NUMBER) if name in self.finite_columns:
                return exp.Column(this=identifier(self.finite_columns[name]))
            case tree.Column(type=Type.NUMBER):
                return cast(self.column(node), self.double)
            case _:
                return cast(self.value(node), self.double)

    def count_number(self) -> None:
        """Guards repeat their operands, one inside the other: refuse SQL that gets too long."""
        self.numbers += 1
        if self.numbers > _MOST:
            raise ExportError(
                f"it becomes too long in {self.name}, where every guard against overflow repeats"
                " its operands. Say it with fewer divisions and products inside each other"
            )

    def compute(self, node: tree.Arithmetic) -> exp.Expr:
        left, right = self.raw(node.left), self.raw(node.right)
        if node.op == "/" and any(tree.columns(node.right)):
            right = exp.Nullif(this=self.guarded(node.right), expression=self.constant(0.0))
        sides = {"this": wrap(left), "expression": wrap(right)}
        # both sides are doubles: there is nothing for sqlglot to cast
        return exp.Div(**sides, typed=True) if node.op == "/" else _COMPUTE[node.op](**sides)

    def constant(self, number: float | None) -> exp.Expr:
        """A double literal."""
        if number is None:
            return cast(exp.null(), self.double)
        if number < 0:
            return exp.Neg(this=self.constant(-number))
        return self.figure(figures(number))

    def typed(self, number: float) -> exp.Expr:
        """A literal that is a double whatever stands beside it."""
        return cast(self.constant(number), self.double)

    def figure(self, text: str) -> exp.Expr:
        """A literal without a sign. One with more digits than a double surely has gets an exponent,
        which makes it a double and not a decimal."""
        if "e" not in text and len(text.replace(".", "").lstrip("0")) > 15:
            text += "e0"
        return exp.Literal.number(text)

    # -- texts

    def like(self, operand: exp.Expr, pattern: Pattern, *, fold: bool) -> exp.Expr:
        """A text has the shape of a pattern; with `fold`, whatever the case of its letters."""
        if fold:
            pairs = [letter_case.both(letter) for letter in sorted(set(words(pattern)))]
            uppers, lowers = ("".join(pair[n] for pair in pairs if len(pair) > 1) for n in (0, 1))
            operand = anonymous("TRANSLATE", operand, uppers, lowers) if uppers else operand
        return self.matched(exp.Like, operand, pattern)

    def matched(self, kind: type[exp.Expr], operand: exp.Expr, pattern: Pattern) -> exp.Expr:
        """LIKE or ILIKE. Some engines read a backslash in a pattern as a sign of its own, unless
        another one is named."""
        special = bool(re.search(r"[%_\\]", words(pattern)))
        text = escape(pattern, "!") if special else escape(pattern, "")
        made = kind(this=wrap(operand), expression=string(text))
        return exp.Escape(this=made, expression=string("!")) if special else made

    def change_case(self, operand: exp.Expr, lower: bool) -> exp.Expr:
        uppers, lowers = ("".join(side) for side in zip(*letter_case.PAIRS, strict=True))
        return anonymous("TRANSLATE", operand, *((uppers, lowers) if lower else (lowers, uppers)))

    # -- literals

    def literal(self, node: Value, kind: Type) -> exp.Expr:
        """A literal as it compares with a value of type `kind`."""
        value = node.value
        match kind:
            case Type.BOOL:
                return self.truth(value)
            case Type.TEXT:
                return string(value)
            case Type.INTEGER:
                return whole(value)
            case Type.NUMBER:
                return self.constant(float(value))
            case Type.DATE:
                return self.day(value.isoformat())
            case Type.DATETIME:
                moment = value if isinstance(value, datetime) else datetime(*value.timetuple()[:3])
                return self.instant(moment)

    def day(self, text: str) -> exp.Expr:
        return cast(string(text), exp.DType.DATE)

    def instant(self, moment: datetime) -> exp.Expr:
        return cast(string(moment.isoformat(sep=" ")), self.moment)


def changes_case(node: Node) -> TypeGuard[tree.Call]:
    return isinstance(node, tree.Call) and node.name in ("lower", "upper")


def always_unknown(node: Node) -> bool:
    """Unknown whatever the columns hold: an operand is, or a divisor is zero."""
    if isinstance(node, tree.Call) and node.name in ("abs", "negative"):
        return always_unknown(node.args[0])
    if not isinstance(node, tree.Arithmetic):
        return False
    if always_unknown(node.left) or always_unknown(node.right):
        return True
    left, right = (
        0.5 if any(tree.columns(side)) else reader(side)({}) for side in (node.left, node.right)
    )
    return left is None or right is None or (node.op == "/" and right == 0)


# -- how large and how small the results of arithmetic can be
#
# Engines agree about doubles as long as nothing overflows. Most arithmetic in features is on 64-bit
# integers and literals, which cannot overflow; the rest gets a guard.


class Range(NamedTuple):
    """The greatest magnitude, and the least one that is not zero."""

    most: float
    least: float

    @property
    def overflows(self) -> bool:
        return self.most > LARGEST

    @property
    def underflows(self) -> bool:
        """Whether a result may be rounded to zero that is not zero."""
        return self.least < SMALLEST


def range_of(node: Node) -> Range:
    """What a number can be, given that it is finite."""
    if isinstance(node, Value):
        size = abs(float(node.value))
        return Range(size, size or LARGEST)
    if node.type is Type.INTEGER:
        return Range(2.0**63, 1.0)
    if isinstance(node, tree.Call):  # abs, negative, coalesce
        parts = [range_of(part) for part in node.args]
        return Range(max(p.most for p in parts), min(p.least for p in parts))
    if isinstance(node, tree.Arithmetic):
        most, least = reach(node)
        return Range(min(most, LARGEST), max(least, SMALLEST))
    return Range(LARGEST, SMALLEST)


def reach(node: tree.Arithmetic) -> Range:
    """What the outcome of an operation on finite numbers can be, infinity included.

    >>> legs, price = tree.Column("legs", Type.INTEGER), tree.Column("price", Type.NUMBER)
    >>> [reach(tree.Arithmetic("*", one, legs)).overflows for one in (legs, price)]
    [False, True]
    """
    (most, least), (other, smallest) = range_of(node.left), range_of(node.right)
    if node.op in "+-":
        return Range(most + other, SMALLEST)
    if node.op == "*":
        return Range(most * other, least * smallest)
    return Range(most / smallest, least / other if other else LARGEST)
