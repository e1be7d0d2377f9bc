"""Exported SQL gives every row the label that the model gives it, on real engines."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sql_engines
import tellapart as ta
from random_features import LABELS, SCHEMA, ModelMaker
from tellapart.errors import ExportError, ParameterError
from tellapart.export.dialects import DIALECTS

Run = Callable[[pl.DataFrame, list[str]], list[list[Any]]]


def agree(dialect: str, run: Run, seed: int, models: int, *, dirty: bool = False) -> None:
    """Random models over a random table; plain features take NaN for true, so not where it is."""
    maker = ModelMaker(seed, plain=not dirty)
    made = [model for model in (maker.model() for _ in range(models)) if sayable(model, dialect)]
    assert len(made) > models / 3
    rows = sql_engines.storable(sql_engines.frame(seed, dirty=dirty), dialect)
    items = rows.to_dicts()
    found = run(rows, [ta.to_sql(model, dialect, schema=SCHEMA) for model in made])
    for model, got in zip(made, found, strict=True):
        wanted = model.predict(items)
        assert (got == wanted) or _difference(model, dialect, items, wanted, got) is None


REFUSED = {"tsql": "a pattern with _ for one character"}
"""What random models say that a dialect cannot."""


def sayable(model: ta.DecisionList, dialect: str) -> bool:
    try:
        ta.to_sql(model, dialect, schema=SCHEMA)
    except ExportError as error:
        if dialect in REFUSED and REFUSED[dialect] in str(error):
            return False
        raise
    return True


def _difference(model: Any, dialect: str, items: Any, wanted: Any, got: Any) -> None:
    for item, yes, no in zip(items, wanted, got, strict=True):
        if yes != no:
            sql = ta.to_sql(model, dialect, schema=SCHEMA)
            pytest.fail(f"{item}\nwanted {yes!r}, got {no!r}\n{model}\n{sql[:2000]}")


@pytest.mark.parametrize("seed", range(6))
def test_duckdb(seed: int, needs: Any) -> None:
    needs("duckdb")
    agree("duckdb", sql_engines.duckdb, seed, 25, dirty=seed % 2 == 1)


@pytest.mark.parametrize("seed", range(6))
def test_sqlite(seed: int) -> None:
    agree("sqlite", sql_engines.sqlite, seed, 25, dirty=seed % 2 == 1)


def test_sqlite_whatever_the_pragma_says() -> None:
    rows = pl.DataFrame({"s": ["Abc", "abc", "ABC", None, "xéx", "XÉX"]})
    like = ta.parse_feature("s LIKE 'a%'", {"s": "text"})
    alike = ta.parse_feature("s ILIKE '%É%'", {"s": "text"})
    wanted = [ta.to_sql(one(feature), "sqlite") for feature in (like, alike)]
    for pragma in ("ON", "OFF"):
        got = sql_engines.sqlite(rows, wanted, f"PRAGMA case_sensitive_like = {pragma}")
        assert got == [["no", "yes", "no", "no", "no", "no"], ["no"] * 4 + ["yes"] * 2]


@pytest.mark.parametrize("seed", range(6))
def test_postgres(seed: int, postgres: str) -> None:
    agree("postgres", partial(sql_engines.postgres, postgres), seed, 25, dirty=seed % 2 == 1)


@pytest.mark.parametrize("seed", [0, 1])
def test_spark(seed: int, spark: Any) -> None:
    agree("spark", partial(sql_engines.spark, spark), seed, 4, dirty=seed == 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_clickhouse(seed: int, needs: Any) -> None:
    needs("clickhouse")
    agree("clickhouse", sql_engines.clickhouse, seed, 25, dirty=seed % 2 == 1)


@pytest.mark.parametrize("seed", range(2))
def test_mysql(seed: int, mysql: str) -> None:
    agree("mysql", partial(sql_engines.mysql, mysql), seed, 25, dirty=seed == 1)


# -- engines we cannot run


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "databricks", "trino", "tsql"])
def test_warehouses_by_way_of_duckdb(dialect: str, needs: Any) -> None:
    needs("duckdb")
    run = partial(sql_engines.by_way_of_duckdb, dialect=dialect)
    agree(dialect, run, 7, 10)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_sql_server_has_no_conditions_as_values(seed: int) -> None:
    """Every condition stands where SQL Server allows one, and nothing it does not know is said."""
    from sqlglot import TokenType, exp, parse_one, tokenize

    maker = ModelMaker(seed)
    made = [model for model in (maker.model() for _ in range(30)) if sayable(model, "tsql")]
    for model in made:
        for sql in (
            ta.to_sql(model, "tsql", schema=SCHEMA),
            ta.to_select(model, "tsql", table="items", schema=SCHEMA),
        ):
            tree = parse_one(sql, dialect="tsql")
            assert not list(tree.find_all(exp.Boolean, exp.ILike, exp.NullSafeEQ)), sql
            for node in tree.find_all(exp.Predicate, exp.Connector, exp.Not):
                if isinstance(node, exp.SubqueryPredicate | exp.Escape):
                    continue
                place, above = node, node.parent
                while isinstance(above, exp.Paren | exp.Escape):
                    place, above = above, above.parent
                holds = isinstance(above, exp.Connector | exp.Not)
                holds |= isinstance(above, exp.If) and place.arg_key == "this"
                holds |= isinstance(above, exp.Join) and place.arg_key == "on"
                assert holds, f"{node.sql('tsql')} in {above and above.sql('tsql')}"
            kinds = {token.token_type for token in tokenize(sql, "tsql")}
            assert TokenType.STRING not in kinds, "only N'...' holds all letters"


def test_sql_server_refuses_what_it_cannot_say() -> None:
    model = one(ta.parse_feature("s LIKE 'a_'", {"s": "text"}))
    with pytest.raises(ExportError, match="SQL Server: a pattern with _ for one character"):
        ta.to_sql(model, "tsql")


# -- doubles at the edges


EDGES = [1e-75, 9.99e-76, 1e75, 1.01e75,
         0.0, -0.0, 5e-324, 1e-323, 2.0**-1022, 2.0**-1021, 1e-300, 2.0**-538, 2.0**-537, 2.0**-500,
         1e-160, 0.1, 0.5, 1 - 2.0**-53, 1.0, 1 + 2.0**-52, 2.0, 3.0, 1e160, 2.0**511, 2.0**512,
         2.0**1022, 2.0**1023, 8.9e307, 8.99e307, 1.7976931348623155e308,
         1.7976931348623157e308]  # fmt: skip
OPERATIONS = [
    "x + y < 1", "x - y < 1", "x * y < 1", "x / y < 1", "x * y = 0", "x / y = 0",
    "x * 0.3 > 1e-300", "x / 0.3 < 2", "x / 3 = 0", "3 / x > 2", "0.001 / x = 0", "x * 1e10 > 1",
    "x / 1e10 = 0", "abs(x - y) >= 0", "x / (y / x) >= 0", "(x + y) IS NULL", "1 / (1 / x) = x",
    "x * n > 0", "coalesce(x * y, -1) < 0", "x + n < y", "n * n > 1", "x / n < y", "0 / x = 0",
    "x * 0 = 0", "x / (1 - 1) > 0", "x / (1 - 1) IS NULL", "n / 0 IS NULL",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres", "clickhouse", "mysql", "tsql"])
def test_arithmetic_at_the_edges_of_doubles(dialect: str, request: Any) -> None:
    signed = [*EDGES, *(-edge for edge in EDGES), None]
    pairs = [(x, y) for x in signed for y in signed]
    rows = pl.DataFrame(
        {"x": [x for x, _ in pairs], "y": [y for _, y in pairs],
         "n": [(-3, 0, 2**62, None, -(2**63), 7)[n % 6] for n in range(len(pairs))]},
        schema={"x": pl.Float64, "y": pl.Float64, "n": pl.Int64},
    )  # fmt: skip
    schema = {"x": "number", "y": "number", "n": "integer"}
    models = [one(ta.parse_feature(text, schema)) for text in OPERATIONS]
    run = run_on(dialect, request)
    taken = rows.filter(
        pl.all_horizontal((pl.col("x", "y") == 0) | pl.col("x", "y").abs().is_between(1e-75, 1e75))
    )
    for clean, some in ((False, rows), (True, taken)):
        found = run(some, [ta.to_sql(model, dialect, clean=clean) for model in models])
        items = some.to_dicts()
        for text, model, got in zip(OPERATIONS, models, found, strict=True):
            assert [text, *got] == [text, *model.predict(items)]


# -- chosen cases

SMALL = ["duckdb", "sqlite", "postgres", "clickhouse", "mysql"]
"""Engines that start quickly."""


def run_on(dialect: str, request: Any) -> Run:
    if dialect == "tsql":
        return partial(sql_engines.by_way_of_duckdb, dialect=dialect)
    run: Run = getattr(sql_engines, dialect)
    if dialect in ("mysql", "postgres", "spark"):
        return partial(run, request.getfixturevalue(dialect))
    if dialect != "sqlite":
        request.getfixturevalue("needs")(dialect)
    return run


def check(conditions: list[str], rows: pl.DataFrame, schema: Any, dialect: str, run: Run) -> None:
    models = [one(ta.parse_feature(text, schema)) for text in conditions]
    found = run(rows, [ta.to_sql(model, dialect) for model in models])
    items = rows.to_dicts()
    for text, model, got in zip(conditions, models, found, strict=True):
        wanted = model.predict(items)
        wrong = [item for item, a, b in zip(items, wanted, got, strict=True) if a != b]
        assert not wrong, (text, wrong[:5])


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres", "mysql"])
def test_case_of_every_character(dialect: str, request: Any) -> None:
    codes = [*range(1, 0xD800), *range(0xE000, 0x11000), *range(0x1E900, 0x1E944)]
    rows = pl.DataFrame({"s": [chr(code) for code in codes]})
    conditions = [f"s ILIKE '{c}'" for c in "ikszåéσßıςωǆა"]
    conditions += ["lower(s) = 'k'", "upper(s) = 'I'", "upper(s) IN ('Å', 'K')", "lower(s) = 'K'"]
    conditions += ["s NOT ILIKE '_'", "s ILIKE '%'"]
    check(conditions, rows, {"s": "text"}, dialect, run_on(dialect, request))


@pytest.mark.parametrize("text", ["lower(s) < 'm'", "lower(s) = trim(t)", "upper(s) = s"])
def test_another_case_is_written_only_beside_a_literal(text: str) -> None:
    model = one(ta.parse_feature(text, {"s": "text", "t": "text"}))
    with pytest.raises(ExportError, match="only where it is compared with a text in quotes"):
        ta.to_sql(model)


@pytest.mark.parametrize("dialect", SMALL)
def test_signs_in_patterns(dialect: str, request: Any) -> None:
    signs = [*"*?[]^-%_!\\'\".({|$", "[a]"]
    texts = [*signs, *(f"a{sign}b" for sign in signs), "ab", "", "a\nb", None]
    quoted = [sign.replace("'", "''") for sign in signs]
    escaped = [re.sub("[#%_]", r"#\g<0>", sign) for sign in quoted]
    conditions = [
        f"s {word} 'a{sign}%' ESCAPE '#'" for sign in escaped for word in ("LIKE", "ILIKE")
    ]
    conditions += [f"contains(s, '{sign}')" for sign in quoted]
    conditions += [f"lower(s) = 'a{sign}b'" for sign in quoted]
    rows = pl.DataFrame({"s": texts})
    check(conditions, rows, {"s": "text"}, dialect, run_on(dialect, request))


@pytest.mark.parametrize("dialect", SMALL)
def test_trim_takes_away_spaces_only(dialect: str, request: Any) -> None:
    signs = " \t\n\r\x0b\x0c\x1f\x85\xa0\u1680\u2003\u2028\u202f\u3000\u200b\ufeff"
    rows = pl.DataFrame({"s": [f" {sign}a{sign} " for sign in signs]})
    conditions = ["trim(s) = 'a'", "length(trim(s)) = 3"]
    check(conditions, rows, {"s": "text"}, dialect, run_on(dialect, request))


@pytest.mark.parametrize("dialect", [*SMALL, "tsql"])
def test_minus_zero_is_zero(dialect: str, request: Any) -> None:
    rows = pl.DataFrame({"x": [0.0, -0.0, 1.0, 0.5, None]})
    conditions = ["x IN (0, 1, 2.5)", "x NOT IN (0, 1, 2.5)", "x = 0", "x <> 0", "-x IN (0, 1, 2)"]
    check(conditions, rows, {"x": "number"}, dialect, run_on(dialect, request))


@pytest.mark.parametrize("dialect", SMALL)
def test_comparisons_with_nan_and_infinity(dialect: str, request: Any) -> None:
    numbers = [float("nan"), float("inf"), float("-inf"), 0.0, -1.5, 1.0, None]
    rows = pl.DataFrame(
        {"x": [x for x in numbers for _ in numbers], "y": numbers * len(numbers)}, strict=False
    )
    ops = ["=", "<>", "<", "<=", ">", ">="]
    conditions = [
        f"{a} {op} {b}" for a in ("x", "-x", "x + 1") for b in ("y", "1", "-1.5") for op in ops
    ]
    conditions += [f"NOT ({text}) OR y IS NULL" for text in conditions[:18]]
    conditions += [f"(({text}) = (x < y)) IS NOT TRUE" for text in conditions[:6]]
    conditions += [
        "x IN (1, 2)",
        "x NOT IN (1, 2)",
        "x IS NULL",
        "coalesce(x, y, 7) = 7",
        "1 / x = 0",
    ]
    conditions += ["x / y = 0", "abs(x) > 1", "abs(x) = abs(y)", "(x > 1) IS NULL", "x - x = 0"]
    conditions += ["1 / x IN (0, 5)", "1 / x NOT IN (0, 5)", "x * 0 IN (0, 1)", "y / (1 / x) = 0"]
    check(conditions, rows, {"x": "number", "y": "number"}, dialect, run_on(dialect, request))


# -- names, labels, values


def one(feature: Any) -> ta.DecisionList:
    return ta.DecisionList((ta.Clause((ta.Literal(feature),), "yes"),), ta.Clause((), "no"))


NAMES = ["order", "select", "user", "end", 'double "quote"', "single 'quote'", "back`tick", "Upper",
         "a b", "ünï", "1st", "percent%s", "semi;colon", "new\nline", "{brace}", "[b]", "rowid",
         "nothing", "start", "raise", "current_date", "true", "case", "x.y", "--c"]  # fmt: skip


@pytest.mark.parametrize(
    "dialect", ["duckdb", "sqlite", "postgres", "spark", "clickhouse", "mysql"]
)
def test_names_and_labels_of_all_kinds(dialect: str, request: Any) -> None:
    run = run_on(dialect, request)
    rows = pl.DataFrame({name: [n % 2 == 0, None] for n, name in enumerate(NAMES)})
    models = [
        ta.DecisionList(
            (ta.Clause((ta.Literal(name),), LABELS[n % len(LABELS)], LABELS[-n % len(LABELS)]),),
            ta.Clause((), LABELS[(n + 3) % len(LABELS)], None),
        )
        for n, name in enumerate(NAMES)
    ]
    items = rows.to_dicts()
    found = run(rows, [ta.to_sql(model, dialect) for model in models])
    assert found == [model.predict(items) for model in models]
    found = run(rows, [ta.to_sql(model, dialect, value="example") for model in models])
    assert found == [[model.match(item).example for item in items] for model in models]
    found = run(rows, [ta.to_sql(model, dialect, value="clause") for model in models])
    assert found == [[1 if item[name] else 2 for item in items] for name in NAMES]


def test_the_words_engines_keep_for_themselves(postgres: str, needs: Any) -> None:
    import duckdb
    import psycopg

    needs("duckdb")
    with psycopg.connect(postgres) as base:
        words = {row[0] for row in base.execute("SELECT word FROM pg_get_keywords()")}
    words |= {row[0] for row in duckdb.sql("SELECT keyword_name FROM duckdb_keywords()").fetchall()}
    words |= {
        "abort", "attach", "autoincrement", "conflict", "detach", "exists", "fail", "glob", "if",
        "index", "indexed", "instead", "isnull", "limit", "match", "nothing", "notnull", "oid",
        "plan", "pragma", "raise", "regexp", "reindex", "rename", "replace", "returning", "rowid",
        "transaction", "vacuum", "virtual", "without",
    }  # fmt: skip
    plain = sorted(word for word in words if word.isidentifier())
    models = [one(ta.parse_feature(f'"{word}" >= 4', {word: "integer"})) for word in plain]
    rows = pl.DataFrame({word: [3, 5] for word in plain})
    for dialect in ("duckdb", "sqlite", "postgres"):
        run: Run = getattr(sql_engines, dialect)
        if dialect == "postgres":
            run = partial(run, postgres)
        found = run(rows, [ta.to_sql(model, dialect) for model in models])
        assert found == [["no", "yes"]] * len(plain)


def test_sqlite_does_not_take_a_missing_column_for_a_text() -> None:
    import sqlite3

    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        sql_engines.sqlite(pl.DataFrame({"a": [1]}), [ta.to_sql(one("no such"), "sqlite")])


def test_datetimes_as_sqlite_texts_of_any_length() -> None:
    schema = {"z": "datetime"}
    rows = pl.DataFrame({"z": ["2024-01-02", "2024-01-02T00:00:00", "2024-01-02 00:00:00.000",
                               "2024-01-02 00:00:00.000001", "2024-01-01 23:59:59"]})  # fmt: skip
    wanted = [
        ta.to_sql(one(ta.parse_feature(f"z {op} '2024-01-02'", schema)), "sqlite")
        for op in ("=", ">", "<")
    ]
    assert sql_engines.sqlite(rows, wanted) == [
        ["yes", "yes", "yes", "no", "no"],
        ["no", "no", "no", "yes", "no"],
        ["no", "no", "no", "no", "yes"],
    ]


def test_a_column_called_true_changes_nothing_in_sqlite() -> None:
    rows = pl.DataFrame({"milk": [1, 0, None], "true": [0, 1, 1], "false": [1, 1, 0]})
    known = ta.parse_feature("coalesce(milk, FALSE) = TRUE", {"milk": "bool"})
    models = [
        ta.DecisionList((ta.Clause((ta.Literal(feature, wanted),), True),), ta.Clause((), False))
        for feature, wanted in (("milk", False), ("milk", True), (known, True), (known, False))
    ]
    found = sql_engines.sqlite(rows, [ta.to_sql(model, "sqlite") for model in models])
    assert found == [[0, 1, 1], [1, 0, 0], [1, 0, 0], [0, 1, 1]]


ZONED = ["2024-06-30 23:30:00+00:00", "2024-07-01 01:30:00.000001+02:00",
         "2024-06-30 18:29:59.999999-05:00", "2024-03-31 02:30:00+00:00"]  # fmt: skip
"""23:30 UTC, a microsecond later, one earlier; and a time that Berlin skips."""


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres", "spark"])
def test_times_with_a_zone_are_read_in_utc(dialect: str, request: Any, tmp_path: Path) -> None:
    schema = {"seen": "timestamptz"}
    conditions = ["seen = '2024-06-30 23:30'", "seen > '2024-06-30 23:30'", "day(seen) = 30",
                  "seen = '2024-03-31 02:30'"]  # fmt: skip
    sql = [
        ta.to_sql(one(ta.parse_feature(text, schema)), dialect, schema=schema)
        for text in conditions
    ]
    if dialect == "sqlite":
        found = sql_engines.sqlite(pl.DataFrame({"seen": ZONED}), sql)
        assert found == sql_engines.sqlite(
            pl.DataFrame({"seen": [text.replace(" ", "T") for text in ZONED]}), sql
        )
    elif dialect == "duckdb":
        request.getfixturevalue("needs")("duckdb")
        import duckdb

        with duckdb.connect() as base:
            base.execute("SET TimeZone = 'Europe/Berlin'")
            base.execute("CREATE TABLE t (n INT, seen TIMESTAMPTZ)")
            base.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(ZONED)))
            query = f"SELECT {', '.join(sql)} FROM t ORDER BY n"
            found = [list(column) for column in zip(*base.execute(query).fetchall(), strict=True)]
    elif dialect == "postgres":
        import psycopg

        with psycopg.connect(request.getfixturevalue("postgres")) as base:
            base.execute("SET TimeZone = 'Europe/Berlin'")
            base.execute("CREATE TEMPORARY TABLE t (n INT, seen TIMESTAMPTZ)")
            base.cursor().executemany("INSERT INTO t VALUES (%s, %s)", list(enumerate(ZONED)))
            query = f"SELECT {', '.join(sql)} FROM t ORDER BY n"
            found = [list(column) for column in zip(*base.execute(query).fetchall(), strict=True)]
    else:
        spark = request.getfixturevalue("spark").newSession()
        spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
        path = tmp_path / "t.parquet"
        times = pl.Series("seen", ZONED).str.to_datetime(time_unit="us", time_zone="UTC")
        pl.DataFrame([times]).write_parquet(path)
        spark.read.parquet(str(path)).createOrReplaceTempView("t")
        rows = spark.sql(f"SELECT {', '.join(sql)} FROM t").collect()
        found = [list(column) for column in zip(*rows, strict=True)]
    yes = [["yes" if n in which else "no" for n in range(4)] for which in
           ({0}, {1}, {0, 1, 2}, {3})]  # fmt: skip
    assert found == yes


def test_a_polars_schema_says_which_times_have_a_zone() -> None:
    frame = pl.DataFrame(schema={"seen": pl.Datetime("us", "UTC"), "sold": pl.Datetime("us")})
    features = [ta.parse_feature(f"{name} > '2024-01-01'", frame.schema) for name in frame.columns]
    zoned, plain = (ta.to_sql(one(feature), schema=frame.schema) for feature in features)
    assert "AT TIME ZONE 'UTC'" in zoned
    assert "AT TIME ZONE" not in plain


def test_postgres_orders_texts_by_code_point_in_any_language(postgres: str) -> None:
    import psycopg

    sql = ta.to_sql(one(ta.parse_feature("s < 'a'", {"s": "text"})), "postgres")
    alike = ta.to_sql(one(ta.parse_feature("s ILIKE 'b'", {"s": "text"})), "postgres")
    with psycopg.connect(postgres) as base:
        base.execute('CREATE TEMPORARY TABLE t (s TEXT COLLATE "en-x-icu")')
        base.execute("INSERT INTO t VALUES ('B')")
        assert base.execute("SELECT s < 'a' FROM t").fetchall() == [(False,)]
        assert base.execute(f"SELECT {sql}, {alike} FROM t").fetchall() == [("yes", "yes")]


@pytest.mark.slow
def test_long_models_and_long_clauses(needs: Any) -> None:
    needs("duckdb")
    names = [f"c{n}" for n in range(1500)]
    clauses = [ta.Clause(tuple(ta.Literal(name, False) for name in names), "none")]
    clauses += [ta.Clause((ta.Literal(name),), name) for name in names]
    model = ta.DecisionList(tuple(clauses), ta.Clause((), "never"))
    rows = pl.DataFrame({name: [False, n == 1400] for n, name in enumerate(names)})
    for dialect, run in (("duckdb", sql_engines.duckdb), ("sqlite", sql_engines.sqlite)):
        assert run(rows, [ta.to_sql(model, dialect)]) == [["none", "c1400"]]


# -- what a model without clauses says, and what is refused


def test_a_model_without_clauses_is_a_literal() -> None:
    for label, sql in (("fish", "'fish'"), (None, "NULL"), (0.5, "CAST(0.5 AS DOUBLE)")):
        assert bare(ta.to_sql(ta.DecisionList((), ta.Clause((), label)))) == sql


def test_what_stands_after_a_clause_that_always_applies_is_left_out() -> None:
    always = ta.DecisionList(
        (ta.Clause((ta.Literal("a"),), 1), ta.Clause((), 2), ta.Clause((ta.Literal("b"),), 3)),
        ta.Clause((), 4),
    )
    assert bare(ta.to_sql(always)) == "CASE\n  WHEN a THEN 1\n  ELSE 2\nEND"


def bare(sql: str) -> str:
    """SQL without its comments."""
    return "\n".join(line for line in sql.splitlines() if not line.lstrip().startswith("--"))


def nested(levels: int) -> ta.DecisionList:
    text = "x / y"
    for _ in range(levels):
        text = f"x / ({text})"
    return one(ta.parse_feature(f"{text} > 1", {"x": "number", "y": "number"}))


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (one(ta.features.Named("tall", bool)), "'tall' is a function"),
        (one(len), "'len' is a function"),
        (one(ta.features.Is("platypus")), "holds on one item only"),
        (one(("a", "tuple")), "tuple"),
        (one(ta.features.Column("a", (1, 2))), "cannot be written"),
        (one(ta.features.Column("a", float("nan"))), "nan"),
        (one(ta.And("b", ta.Not(ta.features.Named("deep", bool)))), "'deep' is a function"),
        (nested(20), "too large or too small"),
        (one("nul\0"), "SQL cannot hold"),
        (one(""), "SQL cannot hold"),
        (ta.DecisionList((), ta.Clause((), "nul\0")), "SQL cannot hold"),
        (ta.DecisionList((ta.Clause((ta.Literal("a"),), 1),), ta.Clause((), "b")), "labels"),
        (ta.DecisionList((), ta.Clause((), ("a",))), "labels"),
        (ta.DecisionList((), ta.Clause((), 2**70 + 1)), "labels"),
        (ta.DecisionList(reading=lambda feature, item: True), "holds"),
    ],
)
def test_what_cannot_be_said_is_refused(dialect: str, model: ta.DecisionList, reason: str) -> None:
    with pytest.raises(ExportError, match=reason) as error:
        ta.to_sql(model, dialect)
    if model.clauses and "labels" not in reason:
        assert DIALECTS[dialect].name in str(error.value)


def test_an_unknown_dialect_or_value() -> None:
    with pytest.raises(ParameterError, match=r"dialect must be one of duckdb, .* got 'oracle'"):
        ta.to_sql(ta.DecisionList(), "oracle")
    with pytest.raises(ParameterError, match="label, clause or example"):
        ta.to_sql(ta.DecisionList(), value="price")


def test_plain_columns_follow_the_schema() -> None:
    schema = {"n": "integer", "x": "number", "s": "text", "d": "date", "b": "bool"}
    conditions = [
        bare(ta.to_sql(one(name), clean=True, schema=schema)).split("\n")[1].split(" THEN")[0]
        for name in schema
    ]
    assert conditions == [
        "  WHEN n <> 0", "  WHEN x <> 0", "  WHEN s <> ''",
        "  WHEN d IS NOT NULL", "  WHEN b",
    ]  # fmt: skip
    assert bare(ta.to_sql(one("n"))).split("\n")[1] == "  WHEN n THEN 'yes'"


def written(text: str, dialect: Any = "duckdb", **how: Any) -> str:
    """The condition of a feature in SQL."""
    schema = {"price": "number", "legs": "integer", "title": "text", "seen": "date"}
    feature = ta.parse_feature(text, schema)
    model = ta.DecisionList((ta.Clause((ta.Literal(feature),), 1),), ta.Clause((), 0))
    sql = ta.to_sql(model, dialect, value="clause", **how)
    return " ".join(sql.partition("WHEN ")[2].rpartition("THEN 1")[0].split())


def test_sql_as_an_analyst_would_write_it() -> None:
    # between two numbers there is no NaN; nothing is said twice
    assert written("price >= 2 AND price <= 5", "postgres") == "price BETWEEN 2 AND 5"
    assert written("price > 2 AND legs >= 3 AND price <= 5") == (
        "legs >= 3 AND price > 2 AND price <= 5"
    )
    assert written("legs > 2 AND legs < 8 AND legs <> 5") == "legs <> 5 AND legs > 2 AND legs < 8"
    assert written("legs > 2.5 AND legs < 8.5") == "legs BETWEEN 3 AND 8"
    assert written("price > 2 AND price <> 5").count("ISFINITE") == 1
    assert written("price > 2 OR title = 'a'") == "(price > 2 AND ISFINITE(price)) OR title = 'a'"
    assert written("price > 0.1 AND legs > 2", clean=True) == "legs > 2 AND price > 0.1"
    # upper and lower case
    assert written("title ILIKE '%rewe%'", "spark") == "LOWER(title) LIKE '%rewe%'"
    assert (
        written("title ILIKE '%lidl%'", "spark") == "TRANSLATE(title, 'DIL', 'dil') LIKE '%lidl%'"
    )
    assert written("title ILIKE '%lidl%'", "spark", clean=True) == "LOWER(title) LIKE '%lidl%'"
    assert written("title ILIKE '%lidl%'", clean=True) == "title ILIKE '%lidl%'"
    assert written("title ILIKE '%\u00e9t%'", "spark", clean=True).startswith("TRANSLATE(")
    assert written("title ILIKE '%r_we%'", "spark").startswith("TRANSLATE(")


def test_a_comment_says_what_sql_assumes_or_takes_care_of() -> None:
    schema = {"price": "number", "title": "text"}
    for text, how, note in [
        ("price > 2", {}, "-- NaN and infinity count as unknown."),
        ("price > 2", {"clean": True}, "-- Assumed: no number is NaN or infinite."),
        ("price = 2", {}, ""),
        ("price BETWEEN 2 AND 3", {}, ""),
        ("title ILIKE '%ik%'", {"clean": True}, "-- Assumed: no text has a Kelvin sign"),
        ("title ILIKE '%ab%'", {"clean": True}, ""),
    ]:
        literal = ta.Literal(ta.parse_feature(text, schema))
        model = ta.DecisionList((ta.Clause((literal,), 1),), ta.Clause((), 0))
        for sql in (ta.to_sql(model, **how), ta.to_select(model, table="t", **how)):
            before = sql.partition("WHEN ")[0].partition("CASE")[2]
            assert (note in before) if note else ("Assumed" not in sql and "NaN" not in sql)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_clean_tables_need_no_care(dialect: Any, needs: Any) -> None:
    needs("duckdb")
    maker = ModelMaker(7, plain=True)
    rows = sql_engines.frame(7, rows=200).with_columns(
        pl.col(pl.Float64).clip(-1e70, 1e70).map_batches(lambda x: x.round(6)),
        pl.col(pl.String).str.replace_all("[\u212a\u0130]", "k"),
    )
    assert ta.Table(rows).is_clean(rows.columns)
    models = [maker.model() for _ in range(60)]
    found = getattr(sql_engines, dialect)(
        rows, [ta.to_sql(model, dialect, schema=SCHEMA, clean=True) for model in models]
    )
    assert found == [model.predict(rows.to_dicts()) for model in models]


def test_what_a_table_has_that_engines_take_in_several_ways() -> None:
    single = pl.Series([0.1, 0.2], dtype=pl.Float32)
    table = ta.Table(pl.DataFrame({
        "nan": [1.0, float("nan")], "far": [1.0, 1e80], "single": single,
        "ok": [0.0, None], "kelvin": ["a", "\u212a"], "text": ["\u00e9", None], "n": [2**60, 1],
    }))  # fmt: skip
    assert [name for name in table.columns if table.is_clean([name])] == ["ok", "text", "n"]


def test_snapshots_of_the_dialects() -> None:
    schema = {"price": "number", "quantity": "number", "title": "text", "sold": "date",
              "at": "datetime", "new": "bool"}  # fmt: skip
    features = [
        "price / quantity > 10", "title ILIKE '%goalie%'", "title LIKE '10!%' ESCAPE '!'",
        "lower(title) = 'straße'", "sold >= '2024-12-31'", "at < '2024-12-31 12:00'",
        "year(at) = 2024", "new IS NULL", "title < 'm'", "length(trim(title)) > 3",
        "weekday(at) >= 6",
    ]  # fmt: skip
    made = [ta.parse_feature(text, schema) for text in features]
    folder = Path(__file__).parent / "snapshots"
    for dialect in DIALECTS:
        clauses = [ta.Clause((ta.Literal(f),), n) for n, f in enumerate(made)]
        clauses += [ta.Clause((ta.Literal(made[0], False), ta.Literal("new", False)), 99)]
        model = ta.DecisionList(tuple(clauses), ta.Clause((), -1))
        path = folder / f"{dialect}.sql"
        if os.environ.get("TELLAPART_UPDATE"):
            path.write_text(ta.to_sql(model, dialect), encoding="utf-8")
        assert ta.to_sql(model, dialect) == path.read_text(encoding="utf-8"), path.name
