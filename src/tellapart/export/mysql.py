"""MySQL and MariaDB: texts compare as their collation says, doubles that overflow are errors."""

from __future__ import annotations

from datetime import datetime
from functools import cache

from sqlglot import exp, parse_one

from tellapart.errors import ExportError
from tellapart.export.lowering import changes_case
from tellapart.export.postgres import Postgres
from tellapart.export.sql_nodes import anonymous, opposite, string, wrap
from tellapart.features import letter_case, tree
from tellapart.features.expression import regex
from tellapart.features.tree import Node, Pattern, Type


class MySQL(Postgres):
    """Texts are compared as bytes, which ignores collations and counts spaces at the end; patterns
    go by letters, in a binary collation. There is no NaN and no infinity. Overflow is an error, as
    in PostgreSQL, and is tested for in the same way.

    Columns of texts should be utf8mb4. It needs MariaDB 10.6 or MySQL 8, which have JSON_TABLE.
    """

    name, dialect = "MySQL", "mysql"
    quotes_all = True

    def may_hold_nan(self, node: tree.Column) -> bool:
        return False

    def in_utc(self, column: exp.Expr) -> exp.Expr:
        raise ExportError("a time with a zone (a TIMESTAMP is shown in the zone of the session)")

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
        uppers, lowers = (string("".join(side)) for side in zip(*letter_case.PAIRS, strict=True))
        old, new = (uppers, lowers) if lower else (lowers, uppers)
        return exp.Subquery(
            this=exp.replace_placeholders(_walk(), operand=operand, old=old, new=new)
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


@cache
def _walk() -> exp.Expr:
    """No collation changes just our letters, and there is no TRANSLATE: walk through the text,
    letter by letter. `old` and `new` are as long as each other; a letter's place in the one is that
    of its partner in the other."""
    return parse_one(
        """
        SELECT GROUP_CONCAT(
          COALESCE(
            NULLIF(SUBSTRING(:new, LOCATE(
              NULLIF(SUBSTRING(walked.whole, places.place, 1), ''), :old COLLATE utf8mb4_bin
            ), 1), ''),
            SUBSTRING(walked.whole, places.place, 1)
          ) ORDER BY places.place SEPARATOR '')
        FROM JSON_TABLE(
          JSON_ARRAY(:operand), '$[*]' COLUMNS(whole LONGTEXT PATH '$')
        ) AS walked,
        JSON_TABLE(
          CONCAT('[0', REPEAT(',0', CHAR_LENGTH(walked.whole) - 1), ']'),
          '$[*]' COLUMNS(place FOR ORDINALITY)
        ) AS places
        """,
        dialect="mysql",
    )


def _any_case(node: Node) -> Node:
    """A text that is as long as `node`, and known where it is, whatever its case."""
    while changes_case(node):
        node = node.args[0]
    if isinstance(node, tree.Call) and node.name == "trim":
        return tree.Call("trim", (_any_case(node.args[0]),), node.type)
    return node


_MOMENT = exp.DataType.build("DATETIME(6)", dialect="mysql")
