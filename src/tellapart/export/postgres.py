"""PostgreSQL stops with an error where a double overflows, underflows or is divided by zero.

So an operation that could do that (`reach`) is checked first, with its operands scaled by powers of
two, which changes no digit. Overflow is unknown, underflow is zero, as everywhere else.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from functools import cache

from sqlglot import exp, parse_one

from tellapart.export.lowering import Lowering, reach
from tellapart.export.sql_nodes import words, wrap
from tellapart.features import tree
from tellapart.features.expression import reader
from tellapart.features.tree import Node, Pattern, Value

_SUM = f"""
CASE WHEN :signs
OR GREATEST(ABS(:a), ABS(:b), 1) / 2 + GREATEST(LEAST(ABS(:a), ABS(:b)), 1) / 2 < {2.0**1023}
THEN :a {{op}} :b END
"""  # halves, since the whole may be too large; where one is, what is below 1 does not count
_TEMPLATES = {
    "+": _SUM.format(op="+"),
    "-": _SUM.format(op="-"),
    "*": f"""
CASE WHEN ABS(:a) >= 1 AND ABS(:b) >= 1
     THEN CASE WHEN ABS((:a * {2.0**-512}) * (:b * {2.0**-512})) < 1 THEN :a * :b END
     WHEN ABS(:a) < 1 AND ABS(:b) < 1 AND :b <> 0
     THEN CASE WHEN ABS(:a) * {2.0**75} <= {2.0**-1000} / ABS(:b) THEN 0 ELSE :a * :b END
     ELSE :a * :b END
""",
    "/": f"""
CASE WHEN :b = 0 THEN NULL
     WHEN ABS(:b) < 1
     THEN CASE WHEN GREATEST(ABS(:a), 1e-300) * {2.0**-24} < ABS(:b) * {2.0**1000} THEN :a / :b END
     WHEN ABS(:a) < 1
     THEN CASE WHEN ABS(:a) * {2.0**100} <= ABS(:b) * {2.0**-975} THEN 0 ELSE :a / :b END
     ELSE :a / :b END
""",
}
_COMPUTE: dict[str, Callable[[float, float], float]] = {"*": operator.mul, "/": operator.truediv}


class Postgres(Lowering):
    """ILIKE and the order of texts follow the database's language, unless COLLATE says "C"."""

    name, dialect = "PostgreSQL", "postgres"

    def ordered(self, node: Node, op: str) -> exp.Expr:
        made = self.value(node)
        return made if op in ("=", "<>") else _by_code(made)

    def like(self, operand: exp.Expr, pattern: Pattern, *, fold: bool) -> exp.Expr:
        if fold and words(pattern).isascii():
            return self.matched(exp.ILike, _by_code(operand), pattern)
        return super().like(operand, pattern, fold=fold)

    def may_not_be_finite(self, node: Node) -> bool:
        return bool(self.exposed(node))

    def finite(self, node: Node) -> list[exp.Expr]:
        return [self.is_finite(column) for column in self.exposed(node)]

    def limits(self, op: str, left: Node, right: Node) -> list[exp.Expr]:
        if isinstance(left, tree.Column | Value) and isinstance(right, tree.Column | Value):
            return super().limits(op, left, right)
        return [*self.finite(left), *self.finite(right)]

    def exposed(self, node: Node) -> list[tree.Column]:
        """The columns whose NaN or infinity would reach an outcome, or change it."""
        if isinstance(node, tree.Call) and node.name == "coalesce":
            return []
        if isinstance(node, tree.Column):
            return [node] if self.may_hold_nan(node) else []
        below = [column for child in tree.children(node) for column in self.exposed(child)]
        return list(dict.fromkeys(below))

    def compute(self, node: tree.Arithmetic) -> exp.Expr:
        outcome = reach(node)
        if not outcome.overflows and not outcome.underflows:
            return super().compute(node)
        if node.op in "*/":
            if not any(tree.columns(node.right)):
                return self.by(node, reader(node.right)({}))
            if not any(tree.columns(node.left)):
                return self.by(node, reader(node.left)({}), before=True)
        template = _template(node.op).copy()
        sides = {"a": node.left, "b": node.right}
        for place in list(template.find_all(exp.Placeholder)):
            if place.name == "signs":
                signs = [wrap(self.raw(side)) for side in sides.values()]
                place.replace(self.differ("<>" if node.op == "+" else "=", *signs))
            else:
                place.replace(wrap(self.raw(sides[place.name])))
        return template

    def differ(self, op: str, left: exp.Expr, right: exp.Expr) -> exp.Expr:
        """Whether the signs of two numbers differ (`<>`), or not (`=`)."""
        negative = (
            exp.Paren(this=self.operator("<", side, exp.Literal.number(0)))
            for side in (left, right)
        )
        return self.operator(op, *negative)

    def by(self, node: tree.Arithmetic, constant: float, *, before: bool = False) -> exp.Expr:
        """An operation with a constant: from where on it overflows or underflows is known."""
        compute, size = _COMPUTE[node.op], abs(constant)
        varying = node.right if before else node.left
        made = super().compute(node)
        zero = self.constant(0.0)
        if before and node.op == "/":  # the larger the divisor, the smaller the outcome
            nothing = first(lambda x: compute(size, x) == 0)
            fits = first(lambda x: compute(size, x) < math.inf)
            return self.cases(varying, (">=", nothing, zero), (">=", fits, made))
        something = first(lambda x: compute(x, size) > 0)
        too_much = first(lambda x: compute(x, size) == math.inf)
        return self.cases(varying, ("<", something, zero), ("<", too_much, made))

    def cases(self, node: Node, *cases: tuple[str, float, exp.Expr]) -> exp.Expr:
        """What an operation gives, by the size of its operand; an infinite size decides nothing."""
        ifs, default = [], None
        for op, size, then in cases:
            if size < math.inf:
                sizes = exp.Abs(this=self.raw(node)), self.constant(size)
                ifs.append(exp.If(this=self.operator(op, *sizes), true=then))
            elif op == "<":
                default = then
        return exp.Case(ifs=ifs, default=default)


@cache
def _template(op: str) -> exp.Expr:
    return parse_one(_TEMPLATES[op], dialect="postgres")


def first(reached: Callable[[float], bool]) -> float:
    """The least positive double from which on `reached` is true; infinity if there is none.

    >>> first(lambda x: x * 2 == math.inf) == 2.0**1023
    True
    """
    low, high = 1, struct.unpack("<q", struct.pack("<d", math.inf))[0]
    while low < high:  # positive doubles are in the order of their bits
        middle = (low + high) // 2
        number = struct.unpack("<d", struct.pack("<q", middle))[0]
        low, high = (low, middle) if reached(number) else (middle + 1, high)
    return float(struct.unpack("<d", struct.pack("<q", low))[0])


def _by_code(made: exp.Expr) -> exp.Expr:
    return exp.Collate(this=wrap(made), expression=exp.to_identifier("C", quoted=True))
