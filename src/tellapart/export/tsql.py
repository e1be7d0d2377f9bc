"""SQL Server: conditions are no values, texts ignore spaces at the end, doubles that overflow are
errors."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlglot import exp

from tellapart.errors import ExportError
from tellapart.export.lowering import Lowering, changes_case
from tellapart.export.postgres import Postgres
from tellapart.export.sql_nodes import anonymous, opposite, string, whole, wrap
from tellapart.features import tree
from tellapart.features.expression import wider
from tellapart.features.tree import Node, Pattern, Type, Value, Wild

EXACT = "Latin1_General_100_BIN2"
"""The collation in which letters are equal only to themselves."""
_BYTES = f"{EXACT}_UTF8"
_LETTERS = "Latin1_General_100_CS_AS_SC"
"""The collation in which a character beyond U+FFFF is one character."""


class TSQL(Postgres):
    """A bool is a BIT, 1 or 0; a condition becomes one by CASE. Texts are Unicode (N'...').

    LIKE counts spaces at the end, = does not: so a text equals another if it is LIKE it. Two texts
    are compared as bytes of UTF-8, which are in the order of code points. There is no NaN and no
    infinity. Overflow is an error, as in PostgreSQL, and is tested for in the same way. It needs
    SQL Server 2022, which has GREATEST.
    """

    name, dialect = "SQL Server", "tsql"
    quotes_all = True
    reserved = frozenset({"like", "rule"})

    def sql(self, made: exp.Expr, *, pretty: bool = False) -> str:
        texts = made.transform(
            lambda node: exp.National(this=node.this) if _is_text(node) else node
        )
        return super().sql(texts, pretty=pretty)

    # -- views

    def create_view(self, name: str) -> str:
        return f"CREATE OR ALTER VIEW {name} AS"

    def certain(self, condition: exp.Expr, never_unknown: bool) -> exp.Expr:
        return _case((condition, 1), default=0)

    def named(self, column: exp.Expr) -> exp.Expr:
        return exp.EQ(this=column, expression=whole(1))

    def unknown(self, kind: str) -> exp.Expr:
        types = {"text": "NVARCHAR(MAX)", "bool": "BIT", "integer": "BIGINT", "number": "FLOAT"}
        return _cast(exp.null(), types[kind])

    def truth(self, value: bool) -> exp.Expr:
        return _cast(whole(int(value)), "BIT")

    # -- conditions, and bools as values

    def condition(self, node: Node, *, loose: bool = True) -> exp.Expr:
        match node:
            case Value():
                return exp.EQ(this=whole(1), expression=whole(int(node.value)))
            case tree.Column() | tree.Call():
                return exp.EQ(this=self.value(node), expression=whole(1))
            case tree.Compare() if node.left.type is Type.BOOL:
                return self.operator(node.op, self.flag(node.left), self.flag(node.right))
        return super().condition(node, loose=loose)

    def flag(self, node: Node) -> exp.Expr:
        """A bool as a value: 1, 0 or NULL."""
        if isinstance(node, Value):
            return self.truth(node.value)
        if isinstance(node, tree.Column | tree.Call):
            return self.value(node)
        made = self.condition(node, loose=False)
        return _case((made, 1), (exp.Not(this=wrap(made.copy())), 0))

    def is_true(self, operand: exp.Expr, negated: bool) -> exp.Expr:
        return exp.EQ(this=_case((operand, 1), default=0), expression=whole(int(not negated)))

    def known(self, node: Node) -> exp.Expr:
        return self.flag(node) if node.type is Type.BOOL else self.value(node)

    def of(self, node: Node, kind: Type) -> exp.Expr:
        return self.flag(node) if kind is Type.BOOL else super().of(node, kind)

    # -- numbers

    def may_hold_nan(self, node: tree.Column) -> bool:
        return False

    def figure(self, text: str) -> exp.Expr:
        # 0.1 is a decimal there
        return exp.Literal.number(text if "e" in text else f"{text}e0")

    def typed(self, number: float) -> exp.Expr:
        return self.constant(number)

    def differ(self, op: str, left: exp.Expr, right: exp.Expr) -> exp.Expr:
        """Zero has a sign of its own; but what is added to zero cannot overflow."""
        signs = (anonymous("SIGN", side) for side in (left, right))
        return self.operator(op, *signs)

    # -- texts

    def compare_texts(self, node: tree.Compare) -> exp.Expr:
        if node.op in ("=", "<>") and isinstance(node.right, Value):
            if changes_case(node.left):
                return super().compare_texts(node)
            made = self.like(self.value(node.left), (node.right.value,), fold=False)
            return opposite(made) if node.op == "<>" else made
        return self.operator(node.op, _bytes(self.value(node.left)), _bytes(self.value(node.right)))

    def member(self, node: tree.In, *, loose: bool) -> exp.Expr:
        kind = wider(node.operand.type, *(value.type for value in node.values))
        if kind is not Type.TEXT or changes_case(node.operand):
            return super().member(node, loose=loose)
        any_of = [self.compare_texts(tree.Compare("=", node.operand, v)) for v in node.values]
        made = exp.Paren(this=self.chain(exp.Or, any_of))
        return exp.Not(this=made) if node.negated else made

    def like(self, operand: exp.Expr, pattern: Pattern, *, fold: bool) -> exp.Expr:
        if Wild.ONE in pattern:
            raise ExportError(
                "a pattern with _ for one character: it takes those beyond U+FFFF for two"
            )
        return Lowering.like(self, _collated(operand, EXACT), pattern, fold=fold)

    def matched(self, kind: type[exp.Expr], operand: exp.Expr, pattern: Pattern) -> exp.Expr:
        special = any(sign in part for part in pattern if isinstance(part, str) for sign in "%_[")
        signs = {"!": "!!", "%": "!%", "_": "!_", "[": "!["} if special else {}
        text = "".join(
            part.value if isinstance(part, Wild) else "".join(signs.get(c, c) for c in part)
            for part in pattern
        )
        made = exp.Like(this=wrap(operand), expression=string(text))
        return exp.Escape(this=made, expression=string("!")) if special else made

    def change_case(self, operand: exp.Expr, lower: bool) -> exp.Expr:
        return super().change_case(_collated(operand, EXACT), lower)

    def value(self, node: Node) -> exp.Expr:
        if (
            isinstance(node, tree.Call) and node.name == "length"
        ):  # LEN leaves out spaces at the end
            longer = exp.Add(this=wrap(self.value(node.args[0])), expression=string("."))
            letters = anonymous("LEN", _collated(exp.Paren(this=longer), _LETTERS))
            return exp.Paren(this=exp.Sub(this=letters, expression=whole(1)))
        return super().value(node)

    # -- dates

    def in_utc(self, column: exp.Expr) -> exp.Expr:
        return _cast(exp.AtTimeZone(this=column, zone=string("UTC")), "DATETIME2(6)")

    def midnight(self, day: exp.Expr) -> exp.Expr:
        return _cast(day, "DATETIME2(6)")

    def instant(self, moment: datetime) -> exp.Expr:
        return _cast(string(moment.isoformat(sep=" ")), "DATETIME2(6)")

    def part(self, name: str, moment: exp.Expr) -> exp.Expr:
        if name != "weekday":
            return anonymous(name.upper(), moment)
        # whatever DATEFIRST says; the first day of the calendar is a Monday
        days = anonymous("DATEDIFF", exp.var("DAY"), self.day("0001-01-01"), moment)
        rest = exp.Mod(this=days, expression=whole(7))
        return exp.Paren(this=exp.Add(this=rest, expression=whole(1)))


def _is_text(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and node.is_string


def _case(*cases: tuple[exp.Expr, int], default: int | None = None) -> exp.Expr:
    ifs: Sequence[exp.If] = [exp.If(this=made, true=whole(value)) for made, value in cases]
    return exp.Case(ifs=ifs, default=None if default is None else whole(default))


def _cast(made: exp.Expr, to: str) -> exp.Expr:
    return exp.Cast(this=made, to=exp.DataType.build(to, dialect="tsql"))


def _collated(made: exp.Expr, collation: str) -> exp.Expr:
    return exp.Collate(this=wrap(made), expression=exp.var(collation))


def _bytes(made: exp.Expr) -> exp.Expr:
    return _cast(_cast(_collated(made, _BYTES), "VARCHAR(MAX)"), "VARBINARY(MAX)")
