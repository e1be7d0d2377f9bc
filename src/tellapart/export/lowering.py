"""A syntax tree as SQL that means the same on every engine.

`Lowering` builds sqlglot nodes; sqlglot knows how a dialect spells types, quotes and texts, and
`dialects` has a subclass for each engine. What most engines agree on is here:

- NaN, infinity and numbers that arithmetic does not take become unknown by a guard, one a column;
- a pattern that ignores case changes the letters that it names, so that the engine's own idea of
  case does not matter;
- where only truth counts (`loose`), a guard is one more condition; elsewhere it is a CASE.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from datetime import datetime
from functools import reduce
from itertools import chain
from typing import Any, ClassVar, NamedTuple

from sqlglot import exp

from tellapart.errors import ExportError
from tellapart.export.sql_nodes import (
    anonymous,
    cast,
    figures,
    identifier,
    opposite,
    string,
    whole,
    words,
    wrap,
)
from tellapart.features import canonical, letter_case, tree
from tellapart.features.evaluate import reader
from tellapart.features.tree import Node, Pattern, Type, Value, Wild

_COMPARE: dict[str, type[exp.Expr]] = {
    "=": exp.EQ, "<>": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE,
}  # fmt: skip
_COMPUTE: dict[str, type[exp.Expr]] = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul, "/": exp.Div}
_FINITE = "NaN and infinity count as unknown."
_TAKEN = "In arithmetic, a number beyond 1e75, or below 1e-75 and not 0, counts as unknown."
_TRANSLATED = (
    "TRANSLATE instead of LOWER, which makes more letters into these: the Kelvin sign into k."
)
COLLATED = (
    'COLLATE "C": upper and lower case of A to Z alike, whatever the language of the database.'
)
_ASSUMED = "Assumed: no number is NaN or infinite."
_LOWERED = (
    "Assumed: no text has a Kelvin sign or a dotted capital I, which engines take for k and i."
)
_CHAIN = 100
"""Longer chains of AND, OR and + are cut into groups: SQLite allows at most 1000 levels."""
_WIDE = 88
"""Longer conditions are broken into lines."""


class Lowering:
    """What all engines share."""

    name: ClassVar[str]
    dialect: ClassVar[Any]
    double: ClassVar[exp.DType] = exp.DType.DOUBLE

    # how the engine spells what each spells in its own way, with {0} for what it is about
    in_utc: ClassVar[str] = "({0} AT TIME ZONE 'UTC')"
    """A time with a zone as one without, whatever the zone of the connection; empty: it cannot."""
    midnight: ClassVar[str] = "CAST({0} AS TIMESTAMP)"
    day: ClassVar[str] = "DATE {0}"
    instant: ClassVar[str] = "TIMESTAMP {0}"
    part: ClassVar[str] = "EXTRACT({1} FROM {0})"
    weekday: ClassVar[str] = "EXTRACT(ISODOW FROM {0})"
    trim: ClassVar[str] = "TRIM({0})"
    """Without spaces at its ends; other white space stays."""
    is_finite: ClassVar[str] = ""
    """If empty, a number is compared with infinity."""

    wild: ClassVar[str] = "%_"
    """The signs of a pattern that do not stand for themselves."""
    quotes_all: ClassVar[bool] = False
    """Whether every name stands in quotes: the engine has many words of its own."""
    has_is_true: ClassVar[bool] = True
    """Whether there is IS TRUE."""
    has_nan: ClassVar[bool] = True
    """Whether a column can hold NaN or infinity."""
    overflow_is_error: ClassVar[bool] = False
    """Whether arithmetic stops with an error where a double overflows: a guard must come first."""
    reserved: ClassVar[frozenset[str]] = frozenset({"like"})
    """Those of the columns of a view that need quotes."""

    def __init__(
        self,
        *,
        clean: bool = False,
        zoned: frozenset[str] = frozenset(),
        filled: frozenset[str] = frozenset(),
    ) -> None:
        self.clean = clean
        """What `to_sql` says of `clean`."""
        self.zoned = zoned
        """The columns whose times have a zone."""
        self.filled = filled
        """The columns that are never unknown."""
        self.notes: dict[str, None] = {}
        """What a reader of the SQL should know of it."""

    def sql(self, made: exp.Expr) -> str:
        return made.sql(dialect=self.dialect, identify=self.quotes_all)

    def lines(self, made: exp.Expr) -> list[str]:
        """The SQL of a condition, in several lines if it is long."""
        text = self.sql(made)
        if len(text) <= _WIDE:
            return [text]
        match made:
            case exp.And() | exp.Or() | exp.Add():
                sign = {"and": "AND", "or": "OR", "add": "+"}[made.key]
                first, *rest = (self.lines(part) for part in made.flatten(unnest=False))
                more = ([f"{sign} {part[0]}", *part[1:]] for part in rest)
                return [*first, *chain.from_iterable(more)]
            case exp.Paren():
                return ["(", *(f"  {line}" for line in self.lines(made.this)), ")"]
            case exp.GTE() | exp.LT() if isinstance(made.this, exp.Add):
                sign = ">=" if isinstance(made, exp.GTE) else "<"
                return [*self.lines(made.this), f"{sign} {self.sql(made.expression)}"]
        return [text]

    def spelled(self, template: str, *parts: exp.Expr | str) -> exp.Expr:
        """SQL in the engine's own words, in which parts are put."""
        texts = (part if isinstance(part, str) else self.sql(part) for part in parts)
        return exp.var(template.format(*texts))

    # -- views

    def create_view(self, name: str) -> str:
        """How a statement begins that makes or replaces a view."""
        return f"CREATE OR REPLACE VIEW {name} AS"

    def named(self, name: str) -> str:
        """One of the columns of a view."""
        return self.sql(exp.to_identifier(name, quoted=name in self.reserved))

    def unknown(self, kind: type) -> exp.Expr:
        """NULL in the type of a label."""
        types = {
            str: exp.DType.TEXT, bool: exp.DType.BOOLEAN, int: exp.DType.BIGINT, float: self.double,
        }  # fmt: skip
        return cast(exp.null(), types[kind])

    # -- conditions

    def condition(self, node: Node, *, loose: bool = True) -> exp.Expr:
        """The SQL of a condition; `loose` if false and unknown may stand for each other."""
        match node:
            case tree.And() if loose:
                return self.all_of(node.parts)
            case tree.And():
                return self.joined(exp.And, [self.condition(p, loose=False) for p in node.parts])
            case tree.Or():
                return self.joined(exp.Or, [self.condition(p, loose=loose) for p in node.parts])
            case tree.Points():
                return self.points(node, loose=loose)
            case tree.Compare("=" | "<>", tree.Call(name="lower" | "upper"), Value()):
                return self.condition(_as_pattern(node), loose=loose)
            case tree.In(tree.Call(name="lower" | "upper")):
                return self.condition(one_by_one(node), loose=loose)
            case tree.Compare():
                return self.compare(node, loose=loose)
            case tree.In():
                return self.member(node, loose=loose)
            case tree.Like():
                made = self.like(self.value(node.operand), node.pattern, fold=node.fold)
                return opposite(made) if node.negated else made
            case tree.IsNull():
                return self.is_null(node)
            case tree.IsTrue(operand, negated=True) if self.is_filled(operand):
                return self.condition(canonical.negate(operand))
            case tree.IsTrue():
                return self.is_true(self.condition(node.operand), node.negated)
            case tree.Not():
                return exp.Not(this=wrap(self.condition(node.operand, loose=False)))
            case _:
                return self.value(node)

    def all_of(self, nodes: Sequence[Node]) -> exp.Expr:
        """Conditions that must all be true. None is written twice, and a lower and an upper bound
        of a column become one."""
        split = (node.parts if isinstance(node, tree.And) else (node,) for node in nodes)
        flat = [
            _whole_bound(node) if isinstance(node, tree.Compare) else node
            for node in chain.from_iterable(split)
        ]
        ranges = _ranges(flat)
        parts: dict[exp.Expr, None] = {}
        for node in flat:
            low, high = ranges.get(node, (None, None))
            if low is None or high is None:
                made = self.condition(node)
            elif node == low:
                made = self.between(low, high)
            else:
                continue
            parts |= dict.fromkeys(made.flatten() if isinstance(made, exp.And) else [made])
        return self.joined(exp.And, list(parts))

    def between(self, low: tree.Compare, high: tree.Compare) -> exp.Expr:
        """A column between two numbers: what is NaN or infinite is not."""
        assert isinstance(low.left, tree.Column)
        assert isinstance(low.right, Value)
        assert isinstance(high.right, Value)
        column, kind = self.column(low.left), low.left.type
        ends = [self.literal(end, kind) for end in (low.right, high.right)]
        if (low.op, high.op) == (">=", "<="):
            return exp.Between(this=column, low=ends[0], high=ends[1])
        below = self.operator(high.op, column.copy(), ends[1])
        return exp.And(this=self.operator(low.op, column, ends[0]), expression=below)

    def is_filled(self, node: Node) -> bool:
        """Whether a condition is never unknown, as its columns never are."""
        if isinstance(node, tree.Column):
            certain = self.clean or not self.has_nan or node.type is not Type.NUMBER
            return node.name in self.filled and certain
        return not isinstance(node, tree.Arithmetic) and all(
            self.is_filled(child) for child in tree.children(node)
        )

    def joined(self, kind: type[exp.Expr], parts: Sequence[exp.Expr]) -> exp.Expr:
        """Any number of conditions joined by AND or OR, or of numbers by +."""
        if len(parts) > _CHAIN:
            groups = [parts[n : n + _CHAIN] for n in range(0, len(parts), _CHAIN)]
            return self.joined(kind, [exp.Paren(this=self.joined(kind, g)) for g in groups])
        other = exp.Or if kind is exp.And else exp.And
        if len(parts) > 1:
            parts = [wrap(part) if isinstance(part, other) else part for part in parts]
        return reduce(lambda left, right: kind(this=left, expression=right), parts)

    def points(self, node: tree.Points, *, loose: bool) -> exp.Expr:
        """A sum of CASEs; or OR, where any of the conditions is enough, and AND, where all are
        needed."""
        joined = _joined(node)
        if joined is not None:
            plain = loose and not node.negated
            return self.condition(joined if plain else tree.IsTrue(joined, node.negated))
        counted = [
            exp.Case(ifs=[exp.If(this=self.condition(part), true=whole(weight))], default=whole(0))
            for part, weight in node.terms
        ]
        op = "<" if node.negated else ">="
        return self.operator(op, self.joined(exp.Add, counted), whole(node.at_least))

    def is_true(self, operand: exp.Expr, negated: bool) -> exp.Expr:
        if self.has_is_true:
            true = self.truth(True)
            if negated:
                self.notes[f"IS NOT {self.sql(true)}: false or NULL."] = None
            return self.is_(operand, true, negated)
        made = exp.Coalesce(this=operand, expressions=[exp.false()])
        return exp.Not(this=made) if negated else made

    def is_null(self, node: tree.IsNull) -> exp.Expr:
        operand = node.operand.operand if isinstance(node.operand, tree.Not) else node.operand
        if isinstance(operand, tree.Column) and (finite := self.finite(operand)):
            null = self.is_(self.column(operand), exp.null(), node.negated)
            if node.negated:
                return exp.Paren(this=self.joined(exp.And, [null, *finite]))
            return exp.Paren(this=self.joined(exp.Or, [null, *map(opposite, finite)]))
        return self.is_(self.known(operand), exp.null(), node.negated)

    def truth(self, value: bool) -> exp.Expr:
        """True or false."""
        return exp.true() if value else exp.false()

    def is_(self, operand: exp.Expr, what: exp.Expr, negated: bool) -> exp.Expr:
        return exp.Is(this=wrap(operand), expression=exp.Not(this=what) if negated else what)

    def compare(self, node: tree.Compare, *, loose: bool) -> exp.Expr:
        kind = tree.wider(node.left.type, node.right.type)
        if kind is Type.BOOL:
            sides = [wrap(self.condition(side, loose=False)) for side in (node.left, node.right)]
            return self.operator(node.op, *sides)
        if kind is Type.TEXT:
            return self.compare_texts(node)
        if kind is Type.NUMBER:
            return self.compare_numbers(_whole_bound(node), loose=loose)
        return self.operator(node.op, self.of(node.left, kind), self.of(node.right, kind))

    def operator(self, op: str, left: exp.Expr, right: exp.Expr) -> exp.Expr:
        return _COMPARE[op](this=left, expression=right)

    def compare_texts(self, node: tree.Compare) -> exp.Expr:
        return self.operator(node.op, self.ordered(node.left, node.op), self.value(node.right))

    def ordered(self, node: Node, op: str) -> exp.Expr:
        """A text to be compared by code point."""
        return self.value(node)

    def compare_numbers(self, node: tree.Compare, *, loose: bool) -> exp.Expr:
        """Doubles; what a literal is compared with need not be cast."""
        if tree.wider(node.left.type, node.right.type) is Type.INTEGER:
            return self.operator(node.op, self.value(node.left), self.value(node.right))
        if not loose:
            return self.operator(node.op, self.guarded(node.left), self.guarded(node.right))
        left, guards = self.side(node.left, node.op, node.right)
        right, more = self.side(node.right, canonical.MIRROR[node.op], node.left)
        made = self.operator(node.op, left, right)
        return self.joined(exp.And, list(dict.fromkeys([made, *guards, *more])))

    def side(self, node: Node, op: str, other: Node) -> tuple[exp.Expr, list[exp.Expr]]:
        """A side of a comparison, and what has to be true as well."""
        if isinstance(node, tree.Column) and node.type is Type.NUMBER:
            return self.column(node), self.finite(node, op, both=any(tree.columns(other)))
        return self.safe(node)

    def member(self, node: tree.In, *, loose: bool) -> exp.Expr:
        kind = tree.wider(node.operand.type, *(value.type for value in node.values))
        guards: list[exp.Expr] = []
        if kind is not Type.NUMBER:
            operand = self.of(node.operand, kind)
        elif loose:
            op = "<>" if node.negated else "="
            operand, guards = self.side(node.operand, op, node.values[0])
        else:
            operand = self.guarded(node.operand)
        values = [self.literal(value, kind) for value in node.values]
        made = exp.In(this=wrap(operand), expressions=values)
        return self.joined(exp.And, [exp.Not(this=made) if node.negated else made, *guards])

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
                raise ExportError(
                    f"{node.name}(...) is written only where it is compared with a text in quotes;"
                    " engines change the case of other letters"
                )
            case tree.Call(name="trim"):
                return self.spelled(self.trim, self.value(node.args[0]))
            case tree.Call(name="length"):
                return exp.Length(this=self.value(any_case(node.args[0])))
            case tree.Call():
                return self.date_part(node.name, self.value(node.args[0]))
            case _:
                return self.condition(node, loose=False)

    def column(self, node: tree.Column) -> exp.Expr:
        made = exp.Column(this=identifier(node.name))
        if not self.is_zoned(node):
            return made
        if not self.in_utc:
            raise ExportError(
                "a time with a zone (a TIMESTAMP is shown in the zone of the session)"
            )
        return self.spelled(self.in_utc, made)

    def is_zoned(self, node: Node) -> bool:
        """Whether a node is a column of times with a zone."""
        return (
            isinstance(node, tree.Column) and node.type is Type.DATETIME and node.name in self.zoned
        )

    def of(self, node: Node, kind: Type) -> exp.Expr:
        """A value in a type: a double, finite or unknown; or midnight, for a date."""
        if kind is Type.NUMBER:
            return self.guarded(node)
        if isinstance(node, Value):
            return self.literal(node, kind)
        made = self.value(node) if kind is not Type.BOOL else self.condition(node, loose=False)
        if kind is Type.DATETIME and node.type is Type.DATE:
            return self.spelled(self.midnight, made)
        return made

    def known(self, node: Node) -> exp.Expr:
        """Something that is unknown exactly where `node` is."""
        if node.type is Type.BOOL:
            return self.condition(node, loose=False)
        return self.value(any_case(node))

    def date_part(self, name: str, moment: exp.Expr) -> exp.Expr:
        if name == "weekday":
            return self.spelled(self.weekday, moment)
        return self.spelled(self.part, moment, name.upper())

    # -- numbers

    def guarded(self, node: Node) -> exp.Expr:
        """A double that is finite, or unknown."""
        made, conditions = self.safe(node)
        if not conditions:
            return made
        return exp.Case(ifs=[exp.If(this=self.joined(exp.And, conditions), true=made)])

    def safe(self, node: Node) -> tuple[exp.Expr, list[exp.Expr]]:
        """A double, and the conditions under which it is the number that is meant. Where overflow
        is an error they are inside already."""
        if not any(tree.columns(node)):
            return self.constant(reader(node)({})), []
        match node:
            case tree.Column(type=Type.NUMBER):
                return self.column(node), self.finite(node)
            case tree.Call(name="abs"):
                made, conditions = self.safe(node.args[0])
                return exp.Abs(this=made), conditions
            case tree.Call(name="negative"):
                made, conditions = self.safe(node.args[0])
                return exp.Neg(this=wrap(made)), conditions
            case tree.Arithmetic():
                range_of(node)
                made, conditions = self.computed(node), list(dict.fromkeys(self.taken(node)))
                if conditions and self.overflow_is_error:
                    condition = self.joined(exp.And, conditions)
                    return exp.Case(ifs=[exp.If(this=condition, true=made)]), []
                return made, conditions
            case tree.Call(type=Type.NUMBER):  # coalesce
                return self.value(node), []
            case _:
                return cast(self.value(node), self.double), []

    def finite(self, node: tree.Column, op: str = "<>", both: bool = True) -> list[exp.Expr]:
        """What makes a comparison untrue where a column of numbers is not finite; with `both`, the
        other side is a column, too."""
        if not self.has_nan or node.type is not Type.NUMBER or (op == "=" and not both):
            return []
        self.notes[_ASSUMED if self.clean else _FINITE] = None
        if self.clean:
            return []
        column = self.column(node)
        if self.is_finite:
            return [self.spelled(self.is_finite, column)]
        # NaN is above everything, or comparable with nothing: so one end is enough for an op
        ends = {">": (1,), ">=": (1,), "<": (-1,), "<=": (-1,)}.get(op, (-1, 1))
        return [
            self.operator(">" if end < 0 else "<", column.copy(), self.infinity(end))
            for end in ends
        ]

    def infinity(self, sign: int) -> exp.Expr:
        return cast(string("Infinity" if sign > 0 else "-Infinity"), self.double)

    def taken(self, node: Node) -> list[exp.Expr]:
        """The conditions under which arithmetic takes the numbers below `node` (`tree.MOST`)."""
        match node:
            case tree.Arithmetic():
                return [*self.taken(node.left), *self.taken(node.right)]
            case tree.Call(name="abs" | "negative"):
                return self.taken(node.args[0])
        if not tree.is_bounded(node):
            return []
        if self.clean and isinstance(node, tree.Column):
            self.notes |= {_ASSUMED: None} if self.has_nan else {}
            return []
        self.notes[_TAKEN] = None
        made = self.column(node) if isinstance(node, tree.Column) else self.value(node)
        zero = self.operator("=", made, self.constant(0.0))
        ends = {"low": self.constant(tree.LEAST), "high": self.constant(tree.MOST)}
        within = exp.Between(this=exp.Abs(this=made.copy()), **ends)
        return [exp.Paren(this=exp.Or(this=zero, expression=within))]

    def computed(self, node: Node) -> exp.Expr:
        """Arithmetic on doubles, without guards."""
        if not any(tree.columns(node)):
            return self.constant(reader(node)({}))
        match node:
            case tree.Arithmetic(op="/"):
                left, right = wrap(self.computed(node.left)), wrap(self.divisor(node.right))
                # both sides are doubles: there is nothing for sqlglot to cast
                return exp.Div(this=left, expression=right, typed=True)
            case tree.Arithmetic():
                left, right = wrap(self.computed(node.left)), wrap(self.computed(node.right))
                return _COMPUTE[node.op](this=left, expression=right)
            case tree.Call(name="abs"):
                return exp.Abs(this=self.computed(node.args[0]))
            case tree.Call(name="negative"):
                return exp.Neg(this=wrap(self.computed(node.args[0])))
            case tree.Column():
                return cast(self.column(node), self.double)
            case _:
                return cast(self.value(node), self.double)

    def divisor(self, node: Node) -> exp.Expr:
        if not any(tree.columns(node)):
            return self.constant(reader(node)({}) or None)
        return exp.Nullif(this=self.computed(node), expression=self.constant(0.0))

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
        pairs = [letter_case.both(letter) for letter in sorted(set(words(pattern)))]
        uppers, lowers = ("".join(pair[n] for pair in pairs if len(pair) > 1) for n in (0, 1))
        if fold and uppers and self.may_lower(pattern):
            operand = exp.Lower(this=operand)
        elif fold and uppers:
            self.notes[_TRANSLATED] = None
            operand = anonymous("TRANSLATE", operand, uppers, lowers)
        return self.matched(exp.Like, operand, pattern)

    def may_lower(self, pattern: Pattern) -> bool:
        """Whether LOWER of any engine does what is meant. Beyond ASCII engines differ; two letters
        there may become i and k, one of them as two characters."""
        letters = words(pattern)
        if not letters.isascii():
            return False
        safe = Wild.ONE not in pattern and not set("ik") & set(letters)
        self.notes |= {_LOWERED: None} if self.clean and not safe else {}
        return safe or self.clean

    def matched(self, kind: type[exp.Expr], operand: exp.Expr, pattern: Pattern) -> exp.Expr:
        """LIKE or ILIKE. Some engines read a backslash in a pattern as a sign of its own, unless
        another one is named."""
        special = bool({*self.wild, "\\"} & {*words(pattern)})
        text = tree.escape(pattern, "!" if special else "", self.wild)
        made = kind(this=wrap(operand), expression=string(text))
        return exp.Escape(this=made, expression=string("!")) if special else made

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
                return self.spelled(self.day, string(value.isoformat()))
            case Type.DATETIME:
                moment = value if isinstance(value, datetime) else datetime(*value.timetuple()[:3])
                return self.spelled(self.instant, string(self.moment(moment)))

    def moment(self, moment: datetime) -> str:
        return moment.isoformat(sep=" ")


def _ranges(nodes: Sequence[Node]) -> dict[Node, tuple[tree.Compare, tree.Compare]]:
    """The first two bounds of a column of numbers, a lower and an upper one, for each of them."""
    first: dict[tuple[tree.Column, str], tree.Compare] = {}
    for node in nodes:
        match node:
            case tree.Compare(op, tree.Column(type=kind) as column, Value() as end):
                if op not in ("=", "<>") and kind.numeric and kind in (Type.NUMBER, end.type):
                    first.setdefault((column, op[0]), node)
    found: dict[Node, tuple[tree.Compare, tree.Compare]] = {}
    for (column, sign), low in first.items():
        if sign == ">" and (high := first.get((column, "<"))):
            found |= {low: (low, high), high: (low, high)}
    return found


def _joined(node: tree.Points) -> Node | None:
    """Points as OR, if any condition is enough, or as AND, if all are needed; else None."""
    parts, weights = zip(*node.terms, strict=True)
    least, total = min(weights), sum(weights)
    if least >= node.at_least > 0:
        return canonical.either(map(canonical.feature, parts))
    if least > 0 and total - least < node.at_least <= total:
        return canonical.both(map(canonical.feature, parts))
    return None


def _whole_bound(node: tree.Compare) -> tree.Compare:
    """A whole number above 2.5 is at least 3."""
    if node.left.type is not Type.INTEGER or node.right.type is not Type.NUMBER:
        return node
    if not isinstance(node.right, Value):
        return node
    value = node.right.value
    if node.op in ("=", "<>") or abs(value) >= 2**53:
        return node
    up = node.op in (">", ">=")
    bound = Value(math.ceil(value) if up else math.floor(value), Type.INTEGER)
    return tree.Compare(">=" if up else "<=", node.left, bound)


def _as_pattern(node: tree.Compare) -> Node:
    """lower(x) = 'ab' as a pattern that ignores case. With a text that is not in that case it is
    never true, and unknown with x."""
    assert isinstance(node.left, tree.Call)
    assert isinstance(node.right, Value)
    text, wanted = node.left.args[0], node.right.value
    change = letter_case.lower if node.left.name == "lower" else letter_case.upper
    if change(wanted) != wanted:
        return tree.Compare(canonical.OPPOSITE[node.op], text, text)
    return tree.Like(text, (letter_case.lower(wanted),), fold=True, negated=node.op == "<>")


def one_by_one(node: tree.In) -> Node:
    """Membership in a list as comparisons."""
    op, joint = ("<>", tree.And) if node.negated else ("=", tree.Or)
    return joint(tuple(tree.Compare(op, node.operand, value) for value in node.values))


def any_case(node: Node) -> Node:
    """A text that is as long as `node`, and known where it is, whatever its case."""
    match node:
        case tree.Call("lower" | "upper", (text,)):
            return any_case(text)
        case tree.Call("trim", (text,)):
            return tree.Call("trim", (any_case(text),), node.type)
    return node


# -- how large and how small the results of arithmetic can be


class Range(NamedTuple):
    """The greatest magnitude, and the least one that is not zero."""

    most: float
    least: float


def range_of(node: Node) -> Range:
    """What a number that arithmetic takes can be. Engines agree about doubles as long as nothing
    overflows or vanishes: what may do so is refused.

    >>> price = tree.Column("price", Type.NUMBER)
    >>> range_of(tree.Arithmetic("*", price, price))
    Range(most=1e+150, least=1e-150)
    """
    if not any(tree.columns(node)):
        size = abs(reader(node)({}) or 0.0)
        return Range(size, size or math.inf)
    if isinstance(node, tree.Arithmetic):
        (most, least), (other, smallest) = range_of(node.left), range_of(node.right)
        if node.op in "+-":  # what two numbers differ by may be one digit of theirs
            found = Range(most + other, min(least, smallest) * 2.0**-53)
        elif node.op == "*":
            found = Range(most * other, least * smallest)
        else:
            found = Range(most / smallest, least / other if other else math.inf)
        if found.most > sys.float_info.max or found.least < sys.float_info.min:
            raise ExportError(
                "its result may be too large or too small for a double, where engines differ. Say"
                " it with fewer products and quotients inside each other"
            )
        return found
    if isinstance(node, tree.Call) and node.name in ("abs", "negative"):
        return range_of(node.args[0])
    if node.type is Type.INTEGER:
        return Range(2.0**63, 1.0)
    return Range(tree.MOST, tree.LEAST)
