"""The dialects: what each engine needs in its own way. docs/export.md has the list in words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.sqlite import SQLite as SQLiteDialect

from tellapart.errors import ExportError, ParameterError
from tellapart.export.lowering import COLLATED, Lowering, any_case, one_by_one
from tellapart.export.sql_nodes import (
    anonymous,
    cast,
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
    trim = "TRIM({0}, ' ')"
    is_finite = "ISFINITE({0})"

    def like(self, operand: exp.Expr, pattern: Pattern, *, fold: bool) -> exp.Expr:
        if fold and self.may_lower((words(pattern),)):
            return self.matched(exp.ILike, operand, pattern)
        return super().like(operand, pattern, fold=fold)

    def figure(self, text: str) -> exp.Expr:
        exact = self.clean or "e" in text or Decimal(text) == Decimal(float(text))
        return super().figure(text if exact else f"{text}e0")


class Postgres(Lowering):
    """ILIKE and the order of texts follow the database's language, unless COLLATE says "C".
    Overflow is an error."""

    name, dialect = "PostgreSQL", "postgres"
    by_code: ClassVar[str] = '{0} COLLATE "C"'
    overflow_is_error = True

    def ordered(self, node: Node, op: str) -> exp.Expr:
        made = self.value(node)
        return made if op in ("=", "<>") else self.spelled(self.by_code, wrap(made))

    def like(self, operand: exp.Expr, pattern: Pattern, *, fold: bool) -> exp.Expr:
        if fold and words(pattern).isascii():
            self.notes[COLLATED] = None
            return self.matched(exp.ILike, self.spelled(self.by_code, wrap(operand)), pattern)
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
    # it moves a text with an offset to UTC, but counts in milliseconds: the seconds without their
    # fraction, and then the fraction as it is
    in_utc = (
        "(STRFTIME('%Y-%m-%d %H:%M:%S', SUBSTR({0}, 1, 19) || LTRIM(SUBSTR({0}, 20),"
        " '.0123456789')) || SUBSTR(PRINTF('%.6f', '0' || SUBSTR({0}, 20, 7)), 2))"
    )
    midnight = "({0} || ' 00:00:00.000000')"
    day = instant = "{0}"
    # Sunday is 0; parts of a second are not always read
    weekday = "((CAST(STRFTIME('%w', SUBSTR({0}, 1, 10)) AS INTEGER) + 6) % 7 + 1)"
    with_fraction: ClassVar[str] = (
        "SUBSTR(REPLACE({0}, 'T', ' ') || CASE LENGTH({0}) WHEN 10 THEN ' 00:00:00.000000'"
        " WHEN 19 THEN '.000000' ELSE '000000' END, 1, 26)"
    )

    def create_view(self, name: str) -> str:
        return f"DROP VIEW IF EXISTS {name};\nCREATE VIEW {name} AS"

    def unknown(self, kind: type) -> exp.Expr:
        return exp.null()  # whose columns have no types

    def infinity(self, sign: int) -> exp.Expr:
        endless = exp.Literal.number("9e999")
        return endless if sign > 0 else exp.Neg(this=endless)

    def truth(self, value: bool) -> exp.Expr:
        return exp.Literal.number(int(value))

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
        raw = isinstance(node, Column) and node.type is Type.DATETIME and not self.is_zoned(node)
        return self.spelled(self.with_fraction, made) if raw and kind is node.type else made

    def date_part(self, name: str, moment: exp.Expr) -> exp.Expr:
        if name == "weekday":
            return super().date_part(name, moment)
        place = {"year": "1, 4", "month": "6, 2", "day": "9, 2"}[name]
        return self.spelled("CAST(SUBSTR({0}, {1}) AS INTEGER)", moment, place)

    def moment(self, moment: datetime) -> str:
        return moment.isoformat(sep=" ", timespec="microseconds")


class Spark(Lowering):
    """Times have a zone unless they are TIMESTAMP_NTZ."""

    name, dialect = "Spark", "spark"
    # to cast it would take the zone of the session, and shift what falls into its gaps
    in_utc = (
        "(TIMESTAMP_NTZ '1970-01-01 00:00:00' + MAKE_DT_INTERVAL(0, 0, 0,"
        " CAST(UNIX_MICROS({0}) AS DECIMAL(20, 0)) / 1000000))"
    )
    midnight = "CAST({0} AS TIMESTAMP_NTZ)"
    instant = "TIMESTAMP_NTZ {0}"
    weekday = "(WEEKDAY({0}) + 1)"


class Databricks(Spark):
    """As Spark, whose SQL it runs."""

    name, dialect = "Databricks", "databricks"


class Redshift(Postgres):
    """As PostgreSQL, which it comes from; but texts are ordered by their bytes anyway, ILIKE knows
    all letters, and there is no COLLATE "C"."""

    name, dialect = "Redshift", "redshift"
    quotes_all = True
    weekday = "((CAST(EXTRACT(DOW FROM {0}) AS INTEGER) + 6) % 7 + 1)"

    def ordered(self, node: Node, op: str) -> exp.Expr:
        return self.value(node)

    def like(self, operand: exp.Expr, pattern: Pattern, *, fold: bool) -> exp.Expr:
        return Lowering.like(self, operand, pattern, fold=fold)


class Trino(Lowering):
    """It has no IS TRUE; TRANSLATE is there."""

    name, dialect = "Trino", "trino"
    quotes_all, has_is_true = True, False
    in_utc = "CAST(AT_TIMEZONE({0}, 'UTC') AS TIMESTAMP)"
    weekday = "DAY_OF_WEEK({0})"
    is_finite = "IS_FINITE({0})"

    def figure(self, text: str) -> exp.Expr:
        # 0.1 is a decimal there
        return exp.Literal.number(text if "e" in text or self.clean else f"{text}e0")


class BigQuery(Lowering):
    """No ESCAPE, but backslashes; arithmetic that overflows is an error."""

    name, dialect = "BigQuery", "bigquery"
    in_utc = "DATETIME({0}, 'UTC')"
    midnight = "CAST({0} AS DATETIME)"
    instant = "DATETIME {0}"
    weekday = "(MOD(EXTRACT(DAYOFWEEK FROM {0}) + 5, 7) + 1)"
    trim = "TRIM({0}, ' ')"
    is_finite = "NOT (IS_INF({0}) OR IS_NAN({0}))"
    overflow_is_error = True

    def matched(self, kind: type[exp.Expr], operand: exp.Expr, pattern: Pattern) -> exp.Expr:
        return kind(this=wrap(operand), expression=string(tree.escape(pattern, "\\")))


class Snowflake(Lowering):
    """sqlglot drops IS TRUE there; a literal with an exponent may be anything."""

    name, dialect = "Snowflake", "snowflake"
    has_is_true = False
    in_utc = "CAST(CONVERT_TIMEZONE('UTC', {0}) AS TIMESTAMPNTZ)"
    midnight = instant = "CAST({0} AS TIMESTAMPNTZ)"
    part = "DATE_PART({1}, {0})"
    weekday = "DATE_PART(DAYOFWEEKISO, {0})"
    trim = "TRIM({0}, ' ')"

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
    in_utc = "{0}"  # a moment is counted in UTC whatever its zone
    midnight = instant = "toDateTime64({0}, 6, 'UTC')"
    day = "toDate32({0})"
    weekday = "toDayOfWeek({0})"
    trim = "trimBoth({0})"
    is_finite = "isFinite({0})"

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


class MySQL(Lowering):
    """Texts are compared as bytes, which ignores collations and counts spaces at the end; patterns
    go by letters, in a binary collation. There is no NaN and no infinity; overflow is an error.

    Columns of texts should be utf8mb4.
    """

    name, dialect = "MySQL", "mysql"
    quotes_all, has_nan, overflow_is_error = True, False, True
    in_utc = ""
    midnight = instant = "CAST({0} AS DATETIME(6))"
    weekday = "(WEEKDAY({0}) + 1)"

    def ordered(self, node: Node, op: str) -> exp.Expr:
        return self.spelled("CAST({0} AS BINARY)", self.value(node))

    def member(self, node: tree.In, *, loose: bool) -> exp.Expr:
        if node.operand.type is not Type.TEXT:
            return super().member(node, loose=loose)
        values = [self.literal(value, Type.TEXT) for value in node.values]
        made = exp.In(this=self.ordered(node.operand, "="), expressions=values)
        return opposite(made) if node.negated else made

    def like(self, operand: exp.Expr, pattern: Pattern, *, fold: bool) -> exp.Expr:
        exact = self.spelled("{0} COLLATE utf8mb4_bin", wrap(operand))
        if not fold:
            return self.matched(exp.Like, exact, pattern)
        shape = string(rf"(?s)\A{regex(pattern, fold)}\z")
        found = self.spelled("REGEXP_INSTR({0}, {1})", exact, shape)
        return exp.EQ(this=found, expression=whole(1))


class TSQL(Lowering):
    """A bool is a BIT, 1 or 0; a condition becomes one by CASE. Texts are Unicode (N'...').

    LIKE counts spaces at the end, = does not: so a text equals another if it is LIKE it. Two texts
    are compared as bytes of UTF-8, which are in the order of code points. There is no NaN and no
    infinity; overflow is an error.
    """

    name, dialect = "SQL Server", "tsql"
    quotes_all, has_nan, overflow_is_error = True, False, True
    reserved = frozenset({"like", "rule"})
    wild = "%_["
    in_utc = "CAST({0} AT TIME ZONE N'UTC' AS DATETIME2(6))"
    midnight = instant = "CAST({0} AS DATETIME2(6))"
    day = "CAST({0} AS DATE)"
    part = "{1}({0})"
    # whatever DATEFIRST says; the first day of the calendar is a Monday
    weekday = "(DATEDIFF(DAY, CAST(N'0001-01-01' AS DATE), {0}) % 7 + 1)"
    exact: ClassVar[str] = "{0} COLLATE Latin1_General_100_BIN2"
    bytes_of: ClassVar[str] = (
        "CAST(CAST({0} COLLATE Latin1_General_100_BIN2_UTF8 AS VARCHAR(MAX)) AS VARBINARY(MAX))"
    )
    # LEN leaves out spaces at the end; in another collation, U+10000 and above are two characters
    length: ClassVar[str] = "(LEN(({0} + N'.') COLLATE Latin1_General_100_CS_AS_SC) - 1)"

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
        return self.spelled("CAST(NULL AS {0})", types[kind])

    def truth(self, value: bool) -> exp.Expr:
        return self.spelled("CAST({0} AS BIT)", str(int(value)))

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
        sides = (wrap(self.value(side)) for side in (node.left, node.right))
        return self.operator(node.op, *(self.spelled(self.bytes_of, side) for side in sides))

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
        return super().like(self.spelled(self.exact, wrap(operand)), pattern, fold=fold)

    def value(self, node: Node) -> exp.Expr:
        if isinstance(node, tree.Call) and node.name == "length":
            return self.spelled(self.length, wrap(self.value(any_case(node.args[0]))))
        return super().value(node)


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


def _glob(letter: str, fold: bool) -> str:
    if letter in "*?[":
        return f"[{letter}]"
    either = letter_case.both(letter) if fold else letter
    return f"[{either}]" if len(either) > 1 else letter


def _is_text(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and node.is_string


def _case(*cases: tuple[exp.Expr, int], default: int | None = None) -> exp.Expr:
    ifs: Sequence[exp.If] = [exp.If(this=made, true=whole(value)) for made, value in cases]
    return exp.Case(ifs=ifs, default=None if default is None else whole(default))
