"""ClickHouse: NULL IN (...) is false there, LIKE has backslashes, dates come in two ranges."""

from __future__ import annotations

from datetime import datetime

from sqlglot import exp

from tellapart.export.lowering import Lowering, changes_case
from tellapart.export.sql_nodes import anonymous
from tellapart.features import letter_case, tree
from tellapart.features.expression import regex
from tellapart.features.tree import Pattern, Type, Value


class ClickHouse(Lowering):
    """Patterns are regular expressions (RE2), with both cases of a letter where case is ignored.

    A table's dates should be Date32 and its times DateTime64(6, 'UTC'), from 1900 to 2299.
    """

    name, dialect = "ClickHouse", "clickhouse"
    quotes_all = True

    def is_true(self, operand: exp.Expr, negated: bool) -> exp.Expr:
        made = exp.Coalesce(this=operand, expressions=[exp.false()])
        return exp.Not(this=made) if negated else made

    def in_utc(self, column: exp.Expr) -> exp.Expr:
        return column  # a moment is counted in UTC whatever its zone

    def compare(self, node: tree.Compare, *, loose: bool) -> exp.Expr:
        zero = isinstance(node.right, Value) and node.right.value == 0
        if zero and node.op in ("=", "<>") and node.left.type is Type.NUMBER:
            # three comparisons of one column become IN, which takes -0.0 for another number than 0
            node = tree.Compare(node.op, tree.Call("abs", (node.left,), Type.NUMBER), node.right)
        return super().compare(node, loose=loose)

    def member(self, node: tree.In, *, loose: bool) -> exp.Expr:
        if changes_case(node.operand):
            return super().member(node, loose=loose)
        op, joint = ("<>", exp.And) if node.negated else ("=", exp.Or)
        compared = [
            self.compare(tree.Compare(op, node.operand, value), loose=loose)
            for value in node.values
        ]
        return exp.Paren(this=self.chain(joint, compared))

    def like(self, operand: exp.Expr, pattern: Pattern, *, fold: bool) -> exp.Expr:
        return anonymous("match", operand, rf"(?s)\A{regex(pattern, fold)}\z")

    def change_case(self, operand: exp.Expr, lower: bool) -> exp.Expr:
        uppers, lowers = ("".join(side) for side in zip(*letter_case.PAIRS, strict=True))
        pair = (uppers, lowers) if lower else (lowers, uppers)
        return anonymous("translateUTF8", operand, *pair)

    def midnight(self, day: exp.Expr) -> exp.Expr:
        return anonymous("toDateTime64", day, exp.Literal.number(6), "UTC")

    def part(self, name: str, moment: exp.Expr) -> exp.Expr:
        names = {"year": "toYear", "month": "toMonth", "day": "toDayOfMonth"}
        return anonymous(names.get(name, "toDayOfWeek"), moment)

    def day(self, text: str) -> exp.Expr:
        return anonymous("toDate32", text)

    def instant(self, moment: datetime) -> exp.Expr:
        return anonymous("toDateTime64", moment.isoformat(sep=" "), exp.Literal.number(6), "UTC")

    def trim(self, operand: exp.Expr) -> exp.Expr:
        return anonymous("trimBoth", operand)
