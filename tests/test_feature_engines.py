"""The same truth from Python, Polars, DuckDB and SQLite, for random features and hard values."""

from __future__ import annotations

import datetime
import sqlite3

import duckdb
import polars as pl
import pytest

import random_features
from tellapart.features import Expression, parse_feature
from tellapart.features.to_polars import DTYPE, cleaned
from tellapart.features.tree import Type

DTYPES = {name: DTYPE[Type(kind)] for name, kind in random_features.SCHEMA.items()}


def made(seed: int, count: int) -> list[tuple[Expression, random_features.Said]]:
    maker = random_features.Maker(seed)
    conditions = [maker.condition() for _ in range(count)]
    return [(parse_feature(said.feature, random_features.SCHEMA), said) for said in conditions]


def frame(seed: int, *, rows: int = 60, dirty: bool = False) -> pl.DataFrame:
    return pl.DataFrame(random_features.table(rows, seed, dirty=dirty), schema=DTYPES)


def by_item(features: list[Expression], rows: pl.DataFrame) -> list[list[bool]]:
    items = rows.to_dicts()
    return [[feature(item) for item in items] for feature in features]


def by_polars(features: list[Expression], rows: pl.DataFrame, *, clean: bool) -> list[list[bool]]:
    wanted = [
        f.to_polars(clean=clean).eq_missing(True).alias(str(i)) for i, f in enumerate(features)
    ]
    return [column.to_list() for column in rows.select(wanted)]


def differences(
    said: list[random_features.Said],
    features: list[Expression],
    got: list,
    wanted: list,
    rows: pl.DataFrame,
) -> str:
    for one, feature, mine, theirs in zip(said, features, got, wanted, strict=True):
        for row, (a, b) in enumerate(zip(mine, theirs, strict=True)):
            if a != b:
                item = {name: rows[name][row] for name in feature.schema}
                return f"{one.feature}\n-> {feature}\non {item}\ngot {a}, wanted {b}\n{one}"
    return ""


@pytest.mark.parametrize("seed", range(3))
def test_polars_says_what_python_says(seed: int) -> None:
    pairs = made(seed, 150)
    features, said = [f for f, _ in pairs], [s for _, s in pairs]
    dirty = frame(seed, dirty=True)
    wanted = by_item(features, dirty)
    got = by_polars(features, dirty, clean=False)
    assert differences(said, features, got, wanted, dirty) == ""
    clean = dirty.with_columns(
        cleaned(pl.col(name), Type(kind), dirty.schema[name]).alias(name)
        for name, kind in random_features.SCHEMA.items()
    )
    got = by_polars(features, clean, clean=True)
    assert differences(said, features, got, wanted, clean) == ""


@pytest.mark.parametrize("seed", range(3))
def test_duckdb_says_what_python_says(seed: int) -> None:
    pairs = made(100 + seed, 150)
    features, said = [f for f, _ in pairs], [s for _, s in pairs]
    rows = frame(seed)
    with duckdb.connect() as base:
        for macro in random_features.DUCKDB:
            base.execute(macro)
        base.register("items", rows.to_arrow())
        wanted = ", ".join(f"({one.duckdb}) IS TRUE" for one in said)
        got = list(zip(*base.execute(f"SELECT {wanted} FROM items").fetchall(), strict=True))
    assert differences(said, features, by_item(features, rows), got, rows) == ""


@pytest.mark.parametrize("seed", range(3))
def test_sqlite_says_what_python_says(seed: int) -> None:
    pairs = made(200 + seed, 150)
    features, said = [f for f, _ in pairs], [s for _, s in pairs]
    rows = frame(seed)
    base = sqlite3.connect(":memory:")
    base.execute("PRAGMA case_sensitive_like = ON")
    for name, (arguments, function) in random_features.SQLITE.items():
        base.create_function(name, arguments, function, deterministic=True)
    kinds = {"integer": "INTEGER", "bool": "INTEGER", "number": "REAL"}
    columns = ", ".join(f'"{n}" {kinds.get(k, "TEXT")}' for n, k in random_features.SCHEMA.items())
    base.execute(f"CREATE TABLE items ({columns})")
    marks = ", ".join("?" * len(random_features.SCHEMA))
    base.executemany(
        f"INSERT INTO items VALUES ({marks})", [tuple(map(plain, r)) for r in rows.rows()]
    )
    wanted = ", ".join(f"({one.sqlite}) IS TRUE" for one in said)
    found = base.execute(f"SELECT {wanted} FROM items ORDER BY rowid").fetchall()
    base.close()
    got = [[bool(v) for v in column] for column in zip(*found, strict=True)]
    assert differences(said, features, by_item(features, rows), got, rows) == ""


def plain(value: object) -> object:
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ", timespec="microseconds")
    return value.isoformat() if isinstance(value, datetime.date) else value


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_the_canonical_text_says_the_same_and_stays(seed: int) -> None:
    rows = frame(seed, rows=40)
    for feature, said in made(300 + seed, 150):
        again = parse_feature(str(feature), random_features.SCHEMA)
        assert again == feature, said.feature
        assert str(again) == str(feature)
        assert hash(again) == hash(feature)
    features = [f for f, _ in made(300 + seed, 150)]
    opposite = [parse_feature(f"NOT (({f}) IS TRUE)", random_features.SCHEMA) for f in features]
    for yes, no in zip(by_item(features, rows), by_item(opposite, rows), strict=True):
        assert yes == [not truth for truth in no]


EDGES = [
    ("x / y = 0", {"x": 1.0, "y": 0.0}, None),
    ("x / (y / n) = 0", {"x": 1.0, "y": 1.0, "n": 0}, None),  # 1 / infinity is no 0
    ("x / abs(y / n) = 0", {"x": 1.0, "y": 1.0, "n": 0}, None),
    ("(x / y) * 0 <> 1", {"x": 1.0, "y": 0.0}, None),
    ("x * x > 0", {"x": 1e300}, None),
    ("x * x < 0 OR b", {"x": 1e300, "b": True}, True),
    ("(x * x > 0) IS NULL", {"x": 1e300}, True),
    ("n * n > 0", {"n": 2**62}, True),
    ("n + 1 > n", {"n": 2**63 - 1}, False),  # in doubles they are the same
    ("n = 9007199254740993", {"n": 2**53}, False),
    ("x = 9007199254740993", {"x": 2.0**53}, True),
    ("n = x", {"n": 2**53 + 1, "x": 2.0**53}, True),
    ("n IN (1, 2.5)", {"n": 1}, True),
    ("x = 0.1 + 0.2", {"x": 0.3}, False),
    ("x = 0.3", {"x": 0.3}, True),
    ("x < 1", {"x": float("nan")}, None),
    ("x > 1", {"x": float("inf")}, None),
    ("x = 0", {"x": -0.0}, True),
    ("s LIKE 'a\\_b'", {"s": "a\\xb"}, True),  # a backslash escapes nothing
    ("s LIKE 'a%b'", {"s": "a\nb"}, True),
    ("s LIKE '_'", {"s": "👍"}, True),
    ("s ILIKE 'É%'", {"s": "étage"}, True),
    ("s ILIKE 'STRASSE'", {"s": "straße"}, False),
    ("lower(s) = 'A'", {"s": "a"}, False),
    ("upper(s) = 'ß'", {"s": "ß"}, True),
    ("trim(s) = 'a'", {"s": "\ta "}, False),
    ("length(s) - 3 < 0", {"s": "ab"}, True),
    ("s = ''", {"s": ""}, True),
    ("s NOT IN ('a')", {"s": None}, None),
    ("'B' < s", {"s": "a"}, True),
    ("d < z", {"d": datetime.date(2020, 1, 1), "z": datetime.datetime(2020, 1, 1)}, False),
    ("weekday(z) = 3", {"z": datetime.datetime(2020, 1, 1, 23, 59)}, True),
    ("weekday(z) = 7", {"z": datetime.datetime(2020, 1, 5)}, True),
    ("year(z) = 2020", {"z": datetime.datetime(2020, 1, 1)}, True),
]


@pytest.mark.parametrize(("text", "item", "wanted"), EDGES, ids=[t for t, _, _ in EDGES])
def test_edges(text: str, item: dict, wanted: bool | None) -> None:
    feature = parse_feature(text, random_features.SCHEMA)
    assert feature.value(item) is wanted
    rows = pl.DataFrame({name: [item.get(name)] for name in DTYPES}, schema=DTYPES)
    assert by_polars([feature], rows, clean=False) == [[wanted is True]]
    kinds = random_features.SCHEMA.items()
    clean = rows.with_columns(
        cleaned(pl.col(n), Type(k), rows.schema[n]).alias(n) for n, k in kinds
    )
    assert by_polars([feature], clean, clean=True) == [[wanted is True]]


@pytest.mark.parametrize("text", ["x / 10 <= 0.3", "x / 10 = 0.7", "x / y = 0.7"])
def test_a_quotient_is_rounded_once(text: str) -> None:
    """Polars multiplies by 1 / x when x is constant, also a column that is: 3 / 10 > 0.3."""
    feature = parse_feature(text, {"x": "number", "y": "number"})
    rows = pl.DataFrame({"x": [float(n) for n in range(1, 100)]}).with_columns(y=pl.lit(10.0))
    assert by_polars([feature], rows, clean=True) == by_item([feature], rows)
