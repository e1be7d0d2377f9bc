"""MySQL and MariaDB: texts compare as their collation says, doubles that overflow are errors."""

from __future__ import annotations

from datetime import datetime

from sqlglot import exp

from tellapart.errors import ExportError
from tellapart.export.lowering import Lowering, changes_case
from tellapart.export.postgres import Postgres
from tellapart.export.sql_nodes import anonymous, opposite, string, wrap
from tellapart.features import tree
from tellapart.features.expression import regex
from tellapart.features.tree import Node, Pattern, Type


class MySQL(Postgres):
    """Texts are compared as bytes, which ignores collations and counts spaces at the end; patterns
    go by letters, in a binary collation. There is no NaN and no infinity. Overflow is an error, as
    in PostgreSQL, and is tested for in the same way.

    Columns of texts should be utf8mb4.
    """

    name, dialect = "MySQL", "mysql"
    quotes_all = True

    def may_hold_nan(self, node: tree.Column) -> bool:
        return False

    def in_utc(self, column: exp.Expr) -> exp.Expr:
        raise ExportError("a time with a zone (a TIMESTAMP is shown in the zone of the session)")

    def is_true(self, operand: exp.Expr, negated: bool) -> exp.Expr:
        return Lowering.is_true(self, operand, negated)

    def ordered(self, node: Node, op: str) -> exp.Expr:
        return exp.Cast(this=self.value(node), to=exp.DataType.build(exp.DType.BINARY))

    def member(self, node: tree.In, *, loose: bool) -> exp.Expr:
        if node.operand.type is not Type.TEXT or changes_case(node.operand):
            return super().member(node, loose=loose)
        values = [self.literal(value, Type.TEXT) for value in node.values]
        made = exp.In(this=self.ordered(node.operand, "="), expressions=values)
        return opposite(made) if node.negated else made

    def like(self, operand: exp.Expr, pattern: Pattern, *, fold: bool) -> exp.Expr:
        exact = exp.Collate(this=wrap(operand), expression=exp.var("utf8mb4_bin"))
        if not fold:
            return self.matched(exp.Like, exact, pattern)
        found = anonymous("REGEXP_INSTR", exact, rf"(?s)\A{regex(pattern, fold)}\z")
        return exp.EQ(this=found, expression=exp.Literal.number(1))

    def value(self, node: Node) -> exp.Expr:
        if isinstance(node, tree.Call) and node.name == "length":
            return exp.Length(this=self.value(_any_case(node.args[0])))
        return super().value(node)

    def known(self, node: Node) -> exp.Expr:
        return super().known(_any_case(node))

    def change_case(self, operand: exp.Expr, lower: bool) -> exp.Expr:
        raise ExportError(
            f"{'lower' if lower else 'upper'} of a text, other than compared with a text in quotes:"
            " each server changes other letters"
        )

    def part(self, name: str, moment: exp.Expr) -> exp.Expr:
        if name == "weekday":  # Monday is 0
            one = exp.Literal.number(1)
            return exp.Paren(this=exp.Add(this=anonymous("WEEKDAY", moment), expression=one))
        return super().part(name, moment)

    def midnight(self, day: exp.Expr) -> exp.Expr:
        return exp.Cast(this=day, to=_MOMENT.copy())

    def instant(self, moment: datetime) -> exp.Expr:
        return exp.Cast(this=string(moment.isoformat(sep=" ")), to=_MOMENT.copy())


def _any_case(node: Node) -> Node:
    """A text that is as long as `node`, and known where it is, whatever its case."""
    while changes_case(node):
        node = node.args[0]
    if isinstance(node, tree.Call) and node.name == "trim":
        return tree.Call("trim", (_any_case(node.args[0]),), node.type)
    return node


_MOMENT = exp.DataType.build("DATETIME(6)", dialect="mysql")
