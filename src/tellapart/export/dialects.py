"""The dialects: what each engine needs in its own way. docs/export.md has the list in words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import Any, ClassVar

from sqlglot import exp, parse_one
from sqlglot.dialects.sqlite import SQLite as SQLiteDialect

from tellapart.errors import ExportError, ParameterError
from tellapart.export.lowering import COLLATED, Lowering, any_case, one_by_one
from tellapart.export.sql_nodes import (
    anonymous,
    cast,
    escape,
    opposite,
    string,
    whole,
    words,
    wrap,
)
from tellapart.features import letter_case, tree
from tellapart.features.evaluate import regex
from tellapart.features.tree import Column, Node, Pattern, Type, Value, Wild


class DuckDB(Lowering):
    """Its ILIKE takes two letters beyond ASCII for i and k; a decimal makes floats of 32 bits of
    what it is compared with."""

    name, dialect = "DuckDB", "duckdb"
    trims_all = True

    def like(self, operand: exp.Expr, pattern: Pattern, *, fold: bool) -> exp.Expr:
        if fold and self.may_lower((words(pattern),)):
            return self.matched(exp.ILike, operand, pattern)
        return super().like(operand, pattern, fold=fold)

    def is_finite(self, column: exp.Expr, op: str) -> list[exp.Expr]:
        return [anonymous("ISFINITE", column)]

    def figure(self, text: str) -> exp.Expr:
        exact = self.clean or "e" in text or Decimal(text) == Decimal(float(text))
        return super().figure(text if exact else f"{text}e0")


class Postgres(Lowering):
    """ILIKE and the order of texts follow the database's language, unless COLLATE says "C".
    Overflow is an error."""

    name, dialect = "PostgreSQL", "postgres"
    overflow_is_error = True

    def ordered(self, node: Node, op: str) -> exp.Expr:
        made = self.value(node)
        return made if op in ("=", "<>") else _by_code(made)

    def like(self, operand: exp.Expr, pattern: Pattern, *, fold: bool) -> exp.Expr:
        if fold and words(pattern).isascii():
            self.notes[COLLATED] = None
            return self.matched(exp.ILike, _by_code(operand), pattern)
        return super().like(operand, pattern, fold=fold)


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

    def unknown(self, kind: type) -> exp.Expr:
        return exp.null()  # whose columns have no types

    def infinity(self, sign: int) -> exp.Expr:
        endless = exp.Literal.number("9e999")
        return endless if sign > 0 else exp.Neg(this=endless)

    def truth(self, value: bool) -> exp.Expr:
        return exp.Literal.number(int(value))

    def in_utc(self, column: exp.Expr) -> exp.Expr:
        return exp.replace_placeholders(_utc(), at=column)

    def like(self, operand: exp.Expr, pattern: Pattern, *, fold: bool) -> exp.Expr:
        if fold and words(pattern).isascii():
            return self.matched(exp.Like, exp.Lower(this=operand), pattern)
        signs = {Wild.ANY: "*", Wild.ONE: "?"}
        shape = "".join(
            signs[part] if isinstance(part, Wild) else "".join(_glob(c, fold) for c in part)
            for part in pattern
        )
        return exp.Glob(this=wrap(operand), expression=string(shape))

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
    moment, moment_word = exp.DType.TIMESTAMPNTZ, "TIMESTAMP_NTZ"

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

    def is_finite(self, column: exp.Expr, op: str) -> list[exp.Expr]:
        return [anonymous("IS_FINITE", column)]

    def in_utc(self, column: exp.Expr) -> exp.Expr:
        return cast(anonymous("at_timezone", column, "UTC"), self.moment)

    def part(self, name: str, moment: exp.Expr) -> exp.Expr:
        return anonymous("DAY_OF_WEEK", moment) if name == "weekday" else super().part(name, moment)

    def figure(self, text: str) -> exp.Expr:
        # 0.1 is a decimal there
        return exp.Literal.number(text if "e" in text or self.clean else f"{text}e0")


class BigQuery(Lowering):
    """No ESCAPE, but backslashes; arithmetic that overflows is an error."""

    name, dialect = "BigQuery", "bigquery"
    trims_all = True
    moment, moment_word = exp.DType.DATETIME, "DATETIME"
    overflow_is_error = True

    def is_finite(self, column: exp.Expr, op: str) -> list[exp.Expr]:
        strange = (anonymous(name, column.copy()) for name in ("IS_INF", "IS_NAN"))
        return [exp.Not(this=exp.Paren(this=self.joined(exp.Or, list(strange))))]

    def in_utc(self, column: exp.Expr) -> exp.Expr:
        return anonymous("DATETIME", column, "UTC")

    def part(self, name: str, moment: exp.Expr) -> exp.Expr:
        if name == "weekday":  # Sunday is 1
            return _from_monday(super().part("dayofweek", moment), 5)
        return super().part(name, moment)

    def matched(self, kind: type[exp.Expr], operand: exp.Expr, pattern: Pattern) -> exp.Expr:
        return kind(this=wrap(operand), expression=string(escape(pattern, "\\")))


class Snowflake(Lowering):
    """sqlglot drops IS TRUE there; a literal with an exponent may be anything."""

    name, dialect = "Snowflake", "snowflake"
    has_is_true = False
    trims_all = True
    moment, moment_word = exp.DType.TIMESTAMPNTZ, ""

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

    def is_finite(self, column: exp.Expr, op: str) -> list[exp.Expr]:
        return [anonymous("isFinite", column)]

    def in_utc(self, column: exp.Expr) -> exp.Expr:
        return column  # a moment is counted in UTC whatever its zone

    def compare(self, node: tree.Compare, *, loose: bool) -> exp.Expr:
        zero = isinstance(node.right, Value) and node.right.value == 0
        if zero and node.op in ("=", "<>") and node.left.type is Type.NUMBER:
            # three comparisons of one column become IN, which takes -0.0 for another number than 0
            node = tree.Compare(node.op, tree.Call("abs", (node.left,), Type.NUMBER), node.right)
        return super().compare(node, loose=loose)

    def member(self, node: tree.In, *, loose: bool) -> exp.Expr:
        return wrap(self.condition(one_by_one(node), loose=loose))

    def like(self, operand: exp.Expr, pattern: Pattern, *, fold: bool) -> exp.Expr:
        return anonymous("match", operand, rf"(?s)\A{regex(pattern, fold)}\z")

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


class MySQL(Lowering):
    """Texts are compared as bytes, which ignores collations and counts spaces at the end; patterns
    go by letters, in a binary collation. There is no NaN and no infinity; overflow is an error.

    Columns of texts should be utf8mb4.
    """

    name, dialect = "MySQL", "mysql"
    quotes_all, has_nan, overflow_is_error = True, False, True

    def in_utc(self, column: exp.Expr) -> exp.Expr:
        raise ExportError("a time with a zone (a TIMESTAMP is shown in the zone of the session)")

    def ordered(self, node: Node, op: str) -> exp.Expr:
        return exp.Cast(this=self.value(node), to=exp.DataType.build(exp.DType.BINARY))

    def member(self, node: tree.In, *, loose: bool) -> exp.Expr:
        if node.operand.type is not Type.TEXT:
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

    def part(self, name: str, moment: exp.Expr) -> exp.Expr:
        if name == "weekday":  # Monday is 0
            one = exp.Literal.number(1)
            return exp.Paren(this=exp.Add(this=anonymous("WEEKDAY", moment), expression=one))
        return super().part(name, moment)

    def midnight(self, day: exp.Expr) -> exp.Expr:
        return exp.Cast(this=day, to=_MYSQL_MOMENT.copy())

    def instant(self, moment: datetime) -> exp.Expr:
        return exp.Cast(this=string(moment.isoformat(sep=" ")), to=_MYSQL_MOMENT.copy())


_EXACT = "Latin1_General_100_BIN2"
"""The collation in which letters are equal only to themselves."""
_BYTES = f"{_EXACT}_UTF8"
_LETTERS = "Latin1_General_100_CS_AS_SC"
"""The collation in which a character beyond U+FFFF is one character."""


class TSQL(Lowering):
    """A bool is a BIT, 1 or 0; a condition becomes one by CASE. Texts are Unicode (N'...').

    LIKE counts spaces at the end, = does not: so a text equals another if it is LIKE it. Two texts
    are compared as bytes of UTF-8, which are in the order of code points. There is no NaN and no
    infinity; overflow is an error.
    """

    name, dialect = "SQL Server", "tsql"
    quotes_all, has_nan, overflow_is_error = True, False, True
    reserved = frozenset({"like", "rule"})

    def sql(self, made: exp.Expr) -> str:
        texts = made.transform(
            lambda node: exp.National(this=node.this) if _is_text(node) else node
        )
        return super().sql(texts)

    # -- views

    def create_view(self, name: str) -> str:
        return f"CREATE OR ALTER VIEW {name} AS"

    def unknown(self, kind: type) -> exp.Expr:
        types = {str: "NVARCHAR(MAX)", bool: "BIT", int: "BIGINT", float: "FLOAT"}
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
        return self.flag(node) if node.type is Type.BOOL else super().known(node)

    def of(self, node: Node, kind: Type) -> exp.Expr:
        return self.flag(node) if kind is Type.BOOL else super().of(node, kind)

    # -- numbers

    def figure(self, text: str) -> exp.Expr:
        # 0.1 is a decimal there
        return exp.Literal.number(text if "e" in text or self.clean else f"{text}e0")

    def typed(self, number: float) -> exp.Expr:
        return self.constant(number)

    # -- texts

    def compare_texts(self, node: tree.Compare) -> exp.Expr:
        if node.op in ("=", "<>") and isinstance(node.right, Value):
            made = self.like(self.value(node.left), (node.right.value,), fold=False)
            return opposite(made) if node.op == "<>" else made
        return self.operator(node.op, _bytes(self.value(node.left)), _bytes(self.value(node.right)))

    def member(self, node: tree.In, *, loose: bool) -> exp.Expr:
        kind = tree.wider(node.operand.type, *(value.type for value in node.values))
        if kind is not Type.TEXT:
            return super().member(node, loose=loose)
        return wrap(self.condition(one_by_one(node), loose=loose))

    def like(self, operand: exp.Expr, pattern: Pattern, *, fold: bool) -> exp.Expr:
        if Wild.ONE in pattern:
            raise ExportError(
                "a pattern with _ for one character: it takes those beyond U+FFFF for two"
            )
        return super().like(_collated(operand, _EXACT), pattern, fold=fold)

    def matched(self, kind: type[exp.Expr], operand: exp.Expr, pattern: Pattern) -> exp.Expr:
        special = any(sign in part for part in pattern if isinstance(part, str) for sign in "%_[")
        signs = {"!": "!!", "%": "!%", "_": "!_", "[": "!["} if special else {}
        text = "".join(
            part.value if isinstance(part, Wild) else "".join(signs.get(c, c) for c in part)
            for part in pattern
        )
        made = exp.Like(this=wrap(operand), expression=string(text))
        return exp.Escape(this=made, expression=string("!")) if special else made

    def value(self, node: Node) -> exp.Expr:
        if (
            isinstance(node, tree.Call) and node.name == "length"
        ):  # LEN leaves out spaces at the end
            longer = exp.Add(this=wrap(self.value(any_case(node.args[0]))), expression=string("."))
            letters = anonymous("LEN", _collated(exp.Paren(this=longer), _LETTERS))
            return exp.Paren(this=exp.Sub(this=letters, expression=whole(1)))
        return super().value(node)

    # -- dates

    def in_utc(self, column: exp.Expr) -> exp.Expr:
        return _cast(exp.AtTimeZone(this=column, zone=string("UTC")), "DATETIME2(6)")

    def midnight(self, day: exp.Expr) -> exp.Expr:
        return _cast(day, "DATETIME2(6)")

    def day(self, text: str) -> exp.Expr:
        return _cast(string(text), "DATE")

    def instant(self, moment: datetime) -> exp.Expr:
        return _cast(string(moment.isoformat(sep=" ")), "DATETIME2(6)")

    def part(self, name: str, moment: exp.Expr) -> exp.Expr:
        if name != "weekday":
            return anonymous(name.upper(), moment)
        # whatever DATEFIRST says; the first day of the calendar is a Monday
        days = anonymous("DATEDIFF", exp.var("DAY"), self.day("0001-01-01"), moment)
        rest = exp.Mod(this=days, expression=whole(7))
        return exp.Paren(this=exp.Add(this=rest, expression=whole(1)))


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


def _by_code(made: exp.Expr) -> exp.Expr:
    return exp.Collate(this=wrap(made), expression=exp.to_identifier("C", quoted=True))


_MYSQL_MOMENT = exp.DataType.build("DATETIME(6)", dialect="mysql")


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
