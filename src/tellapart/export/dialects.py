"""The dialects: what each engine needs in its own way. docs/export.md has the list in words."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import Any, ClassVar

from sqlglot import exp, parse_one
from sqlglot.dialects.sqlite import SQLite as SQLiteDialect

from tellapart.errors import ParameterError
from tellapart.export.lowering import Lowering, changes_case
from tellapart.export.mysql import MySQL
from tellapart.export.postgres import Postgres
from tellapart.export.sql_nodes import anonymous, cast, escape, string, words, wrap
from tellapart.export.tsql import TSQL
from tellapart.features import letter_case, tree
from tellapart.features.expression import regex
from tellapart.features.tree import Arithmetic, Column, Node, Pattern, Type, Value, Wild


class DuckDB(Lowering):
    """ILIKE is twenty times faster than TRANSLATE, and right but for two letters."""

    name, dialect = "DuckDB", "duckdb"
    trims_all = True

    def like(self, operand: exp.Expr, pattern: Pattern, *, fold: bool) -> exp.Expr:
        if not fold:
            return self.matched(exp.Like, operand, pattern)
        wanted = words(pattern)
        if not wanted.isascii():
            return anonymous("REGEXP_FULL_MATCH", operand, f"(?s){regex(pattern, fold=True)}")
        made = self.matched(exp.ILike, operand, pattern)
        # the only characters beyond ASCII that DuckDB matches with one of a to z
        strange = [other for letter, other in (("i", "İ"), ("k", "\u212a")) if letter in wanted]
        if not strange:
            return made
        spared = operand.copy()
        for letter in strange:
            spared = anonymous("REPLACE", spared, letter, "·")
        return exp.And(this=made, expression=self.matched(exp.ILike, spared, pattern))


class Backticks(SQLiteDialect):
    """SQLite takes a name in double quotes for a text if there is no such column; not so one in
    backticks."""

    class Tokenizer(SQLiteDialect.Tokenizer):
        IDENTIFIERS: ClassVar[list[Any]] = ["`", '"', ("[", "]")]


class SQLite(Lowering):
    """Its LIKE ignores case, or not, as a pragma says; GLOB never does. Dates are ISO texts. TRUE
    is a column, if there is one of that name."""

    name, dialect = "SQLite", Backticks

    def create_view(self, name: str) -> str:
        return f"DROP VIEW IF EXISTS {name};\nCREATE VIEW {name} AS"

    def unknown(self, kind: str) -> exp.Expr:
        return exp.null()  # whose columns have no types

    def truth(self, value: bool) -> exp.Expr:
        return exp.Literal.number(int(value))

    def in_utc(self, column: exp.Expr) -> exp.Expr:
        return exp.replace_placeholders(_utc(), at=column)

    def has_type(self, column: exp.Expr, kind: Type) -> exp.Expr:
        """Whether a cell is stored as what its column is said to hold, or unknown."""
        classes = {Type.NUMBER: ("integer", "real"), Type.INTEGER: ("integer",)}
        classes[Type.BOOL] = ("integer",)
        names = [string(name) for name in (*classes.get(kind, ("text",)), "null")]
        return exp.In(this=anonymous("TYPEOF", column), expressions=names)

    def like(self, operand: exp.Expr, pattern: Pattern, *, fold: bool) -> exp.Expr:
        signs = {Wild.ANY: "*", Wild.ONE: "?"}
        shape = "".join(
            signs[part] if isinstance(part, Wild) else "".join(_glob(c, fold) for c in part)
            for part in pattern
        )
        return exp.Glob(this=wrap(operand), expression=string(shape))

    def change_case(self, operand: exp.Expr, lower: bool) -> exp.Expr:
        uppers, lowers = (string("".join(side)) for side in zip(*letter_case.PAIRS, strict=True))
        old, new = (uppers, lowers) if lower else (lowers, uppers)
        walk = exp.replace_placeholders(_walk(), operand=operand, old=old, new=new)
        return exp.Subquery(this=walk)

    def of(self, node: Node, kind: Type) -> exp.Expr:
        made = super().of(node, kind)
        if kind is not Type.DATETIME or not isinstance(node, Column) or node.type is not kind:
            return made
        if self.is_zoned(node):
            return made
        rest = exp.Case(
            this=exp.Length(this=made.copy()),
            ifs=[
                exp.If(this=exp.Literal.number(10), true=string(" 00:00:00.000000")),
                exp.If(this=exp.Literal.number(19), true=string(".000000")),
            ],
            default=string("000000"),
        )
        full = exp.DPipe(this=anonymous("REPLACE", made, "T", " "), expression=rest)
        return anonymous("SUBSTR", full, exp.Literal.number(1), exp.Literal.number(26))

    def part(self, name: str, moment: exp.Expr) -> exp.Expr:
        if name == "weekday":  # Sunday is 0; parts of a second are not always read
            day = anonymous("SUBSTR", moment, exp.Literal.number(1), exp.Literal.number(10))
            return _from_monday(cast(anonymous("STRFTIME", "%w", day), exp.DType.INT), 6)
        start, length = {"year": (1, 4), "month": (6, 2), "day": (9, 2)}[name]
        numbers = (exp.Literal.number(n) for n in (start, length))
        return cast(anonymous("SUBSTR", moment, *numbers), exp.DType.INT)

    def midnight(self, day: exp.Expr) -> exp.Expr:
        return wrap(exp.DPipe(this=day, expression=string(" 00:00:00.000000")))

    def day(self, text: str) -> exp.Expr:
        return string(text)

    def instant(self, moment: datetime) -> exp.Expr:
        return string(moment.isoformat(sep=" ", timespec="microseconds"))


class Spark(Lowering):
    """Times have a zone unless they are TIMESTAMP_NTZ."""

    name, dialect = "Spark", "spark"
    moment = exp.DType.TIMESTAMPNTZ

    def in_utc(self, column: exp.Expr) -> exp.Expr:
        # to cast it would take the zone of the session, and shift what falls into its gaps
        seconds = exp.Div(
            this=exp.cast(anonymous("UNIX_MICROS", column), "DECIMAL(20, 0)"),
            expression=exp.Literal.number(1_000_000),
            typed=True,
        )
        zeros = [exp.Literal.number(0)] * 3
        start = cast(string("1970-01-01 00:00:00"), self.moment)
        return exp.Paren(
            this=exp.Add(this=start, expression=anonymous("MAKE_DT_INTERVAL", *zeros, seconds))
        )

    def part(self, name: str, moment: exp.Expr) -> exp.Expr:
        if name == "weekday":  # Monday is 0
            return wrap(
                exp.Add(this=anonymous("WEEKDAY", moment), expression=exp.Literal.number(1))
            )
        return super().part(name, moment)


class Databricks(Spark):
    """As Spark, whose SQL it runs."""

    name, dialect = "Databricks", "databricks"


class Redshift(Postgres):
    """As PostgreSQL, which it comes from; but texts are ordered by their bytes anyway, ILIKE knows
    all letters, and there is no COLLATE "C"."""

    name, dialect = "Redshift", "redshift"
    quotes_all = True

    def ordered(self, node: Node, op: str) -> exp.Expr:
        return self.value(node)

    def part(self, name: str, moment: exp.Expr) -> exp.Expr:
        if name == "weekday":  # Sunday is 0
            return exp.replace_placeholders(_sunday_first(), at=moment)
        return super().part(name, moment)

    def like(self, operand: exp.Expr, pattern: Pattern, *, fold: bool) -> exp.Expr:
        return Lowering.like(self, operand, pattern, fold=fold)


class Trino(Lowering):
    """It has no IS TRUE; TRANSLATE is there."""

    name, dialect = "Trino", "trino"
    quotes_all, has_is_true = True, False

    def in_utc(self, column: exp.Expr) -> exp.Expr:
        return cast(anonymous("at_timezone", column, "UTC"), self.moment)

    def part(self, name: str, moment: exp.Expr) -> exp.Expr:
        return anonymous("DAY_OF_WEEK", moment) if name == "weekday" else super().part(name, moment)

    def figure(self, text: str) -> exp.Expr:
        # 0.1 is a decimal there
        return exp.Literal.number(text if "e" in text else f"{text}e0")


class BigQuery(Lowering):
    """No ESCAPE, but backslashes; arithmetic that overflows is an error, unless it is SAFE_."""

    name, dialect = "BigQuery", "bigquery"
    trims_all = True
    moment = exp.DType.DATETIME
    _SAFE: ClassVar[dict[str, str]] = {
        "+": "SAFE_ADD", "-": "SAFE_SUBTRACT", "*": "SAFE_MULTIPLY", "/": "SAFE_DIVIDE",
    }  # fmt: skip

    def in_utc(self, column: exp.Expr) -> exp.Expr:
        return anonymous("DATETIME", column, "UTC")

    def part(self, name: str, moment: exp.Expr) -> exp.Expr:
        if name == "weekday":  # Sunday is 1
            return _from_monday(super().part("dayofweek", moment), 5)
        return super().part(name, moment)

    def matched(self, kind: type[exp.Expr], operand: exp.Expr, pattern: Pattern) -> exp.Expr:
        return kind(this=wrap(operand), expression=string(escape(pattern, "\\")))

    def compute(self, node: Arithmetic) -> exp.Expr:
        right = self.guarded(node.right) if node.op == "/" else self.raw(node.right)
        return anonymous(self._SAFE[node.op], self.raw(node.left), right)


class Snowflake(Lowering):
    """sqlglot drops IS TRUE there; a literal with an exponent may be anything."""

    name, dialect = "Snowflake", "snowflake"
    has_is_true = False
    trims_all = True
    moment = exp.DType.TIMESTAMPNTZ

    def in_utc(self, column: exp.Expr) -> exp.Expr:
        return cast(anonymous("CONVERT_TIMEZONE", "UTC", column), self.moment)

    def part(self, name: str, moment: exp.Expr) -> exp.Expr:
        return super().part("dayofweekiso" if name == "weekday" else name, moment)

    def figure(self, text: str) -> exp.Expr:
        made = super().figure(text)
        return cast(string(text), self.double) if "e" in made.this else made


class ClickHouse(Lowering):
    """NULL IN (...) is false there. Patterns are regular expressions (RE2), with both cases of a
    letter where case is ignored.

    A table's dates should be Date32 and its times DateTime64(6, 'UTC'), from 1900 to 2299.
    """

    name, dialect = "ClickHouse", "clickhouse"
    quotes_all, has_is_true = True, False

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


DIALECTS: dict[str, type[Lowering]] = {
    "duckdb": DuckDB,
    "sqlite": SQLite,
    "postgres": Postgres,
    "spark": Spark,
    "bigquery": BigQuery,
    "snowflake": Snowflake,
    "clickhouse": ClickHouse,
    "mysql": MySQL,
    "databricks": Databricks,
    "redshift": Redshift,
    "trino": Trino,
    "tsql": TSQL,
}


def lowering(name: str) -> type[Lowering]:
    """The lowering of a dialect by name."""
    if name not in DIALECTS:
        raise ParameterError(f"dialect must be one of {', '.join(DIALECTS)}, got {name!r}")
    return DIALECTS[name]


@cache
def _sunday_first() -> exp.Expr:
    return parse_one("(MOD(CAST(DATE_PART('dow', :at) AS INT) + 6, 7) + 1)", dialect="redshift")


@cache
def _walk() -> exp.Expr:
    """SQLite has no TRANSLATE: walk through the text, letter by letter. `old` and `new` are as long
    as each other; a letter's place in the one is that of its partner in the other."""
    return parse_one(
        """
        WITH RECURSIVE walk(whole, place, made) AS (
          SELECT :operand, 1, ''
          UNION ALL
          SELECT whole, place + 1, made || CASE
            WHEN INSTR(:old, SUBSTR(whole, place, 1)) > 0
            THEN SUBSTR(:new, INSTR(:old, SUBSTR(whole, place, 1)), 1)
            ELSE SUBSTR(whole, place, 1) END
          FROM walk WHERE place <= LENGTH(whole)
        ) SELECT made FROM walk WHERE place > LENGTH(whole)
        """,
        dialect="sqlite",
    )


@cache
def _utc() -> exp.Expr:
    """SQLite moves a text with an offset to UTC, but counts in milliseconds: the seconds without
    their fraction, and then the fraction as it is."""
    return parse_one(
        """
        STRFTIME('%Y-%m-%d %H:%M:%S', SUBSTR(:at, 1, 19) || LTRIM(SUBSTR(:at, 20), '.0123456789'))
        || SUBSTR(PRINTF('%.6f', '0' || SUBSTR(:at, 20, 7)), 2)
        """,
        dialect="sqlite",
    )


def _glob(letter: str, fold: bool) -> str:
    if letter in "*?[":
        return f"[{letter}]"
    either = letter_case.both(letter) if fold else letter
    return f"[{either}]" if len(either) > 1 else letter


def _from_monday(day: exp.Expr, shift: int) -> exp.Expr:
    """1 for Monday to 7 for Sunday, from an engine's own number for the day of the week."""
    moved = wrap(exp.Add(this=day, expression=exp.Literal.number(shift)))
    rest = exp.Mod(this=moved, expression=exp.Literal.number(7))
    return wrap(exp.Add(this=rest, expression=exp.Literal.number(1)))
