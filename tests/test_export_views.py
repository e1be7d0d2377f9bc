"""Exported SELECTs and views give every row the label, rule and reason that the model gives it."""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sql_engines
import tellapart as ta
from random_features import SCHEMA, ModelMaker
from sql_engines import ENGINES, Query
from tellapart.cli import main
from tellapart.errors import ExportError, ParameterError
from tellapart.export.text import brief_sentences, example_text
from tellapart.model import Record

COLUMNS = ["label", "rule", "because", "like", "is_sure"]


def base(dialect: str, rows: pl.DataFrame, request: Any) -> AbstractContextManager[Query]:
    load: Any = getattr(sql_engines, f"{dialect}_base")
    if dialect in ("mysql", "postgres", "spark"):
        return load(request.getfixturevalue(dialect), rows)
    if dialect != "sqlite":
        request.getfixturevalue("needs")(dialect)
    return load(rows)


def wanted(model: ta.DecisionList, rows: pl.DataFrame) -> list[tuple[Any, ...]]:
    """What the SELECT should give, by the items one by one; NaN and infinity are unknown."""
    clauses, sentences = list(model), brief_sentences(model)
    number = {id(clause): n for n, clause in enumerate(clauses)}
    found = []
    for place, item in enumerate(sql_engines.known(rows).to_dicts()):
        clause = model.match(item)
        n = number[id(clause)]
        sure = None if clause.record is None else clause.record.high <= 0.05
        found.append((place, clause.label, n + 1, sentences[n], example_text(clause.example), sure))
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("dialect", ENGINES)
def test_random_models_over_dirty_rows(dialect: str, seed: int, request: Any) -> None:
    """Millions of cells are compared by hand: tests/fuzz/fuzz_views.py."""
    rows = sql_engines.storable(sql_engines.dirty_rows(100, seed), dialect)
    maker = ModelMaker(seed)
    with base(dialect, rows, request) as query:
        for _ in range(4 if dialect == "spark" else 25):
            model = maker.model()
            sql = ta.to_select(model, dialect, table="items", keep=["place"], schema=SCHEMA)
            assert sorted(query(sql)) == wanted(model, rows), f"{model}\n{sql}"


def one(*features: Any, record: Record | None = None) -> ta.DecisionList:
    literals = tuple(ta.Literal(feature) for feature in features)
    return ta.DecisionList(
        (ta.Clause(literals, "yes", "it", record=record),), ta.Clause((), "no", record=record)
    )


def in_sqlite(sql: str, *before: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    connection = sqlite3.connect(":memory:")
    for statement in before:
        connection.execute(statement)
    found = connection.execute(sql)
    names, rows = [column[0] for column in found.description], found.fetchall()
    connection.close()
    return names, rows


def test_a_column_of_whole_numbers_may_be_compared_as_a_number() -> None:
    """Previously such a view named a column that was not there."""
    whole, number = ({"n": kind} for kind in ("integer", "number"))
    before = "CREATE TABLE items AS SELECT 3 AS n UNION ALL SELECT 7 UNION ALL SELECT 1"
    for other in (ta.features.Above("n", 2.5), ta.parse_feature("n > 2.5", number)):
        for model in (
            one(other, ta.parse_feature("n <> 7", whole)),
            one(ta.parse_feature("n <> 7", whole), other),
        ):
            for keep in ([], ["n"]):
                sql = ta.to_select(model, "sqlite", table="items", keep=keep)
                _, rows = in_sqlite(sql, before)
                assert [row[len(keep)] for row in rows] == ["yes", "no", "no"]
    typed = one(ta.features.Above("n", 2.5), ta.parse_feature("n <> 7", whole))
    assert "FINITE" not in ta.to_select(typed, "duckdb", table="items")


def test_of_many_points_the_heaviest_are_the_reason() -> None:
    many = ta.features.Points({f"c{n}": 1 + (n == 7) for n in range(20)}, 9)
    sql = ta.to_select(one(many), table="items")
    brief = "(2 for c7, 1 for c0, 1 for c1, 1 for c10, 1 for c11, and 15 more).' AS because"
    assert f"'It is: yes, like it, if at least 9 points {brief}" in sql
    assert "1 for c12" in ta.export.sentences(one(many))[0]
    several = [ta.features.Points({f"c{n}": 1 for n in range(m)}, 2) for m in (8, 9)]
    assert brief_sentences(one(*several))[0].endswith(
        "(c0, c1, and 6 more) and at least 2 of (c0, c1, and 7 more)."
    )


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres"])
def test_a_view_can_be_made_and_replaced(dialect: str, request: Any) -> None:
    rows = pl.DataFrame({"id": [7, 8], "milk": [True, None]})
    models = [one("milk", record=Record(200, 1, 9, 0.03)), one(ta.Not("milk"))]
    with base(dialect, rows, request) as query:
        for model, labels in zip(models, (["yes", "no"], ["no", "yes"]), strict=True):
            sql = ta.to_view(model, dialect, name="animal labels", table="items", keep=["id"])
            for statement in sql.split(";\n"):
                query(statement)
            quoted = "`animal labels`" if dialect == "sqlite" else '"animal labels"'
            found = sorted(query(f"SELECT id, label, is_sure FROM {quoted}"))
            sure = True if model is models[0] else None
            assert found == [(7, labels[0], sure), (8, labels[1], sure)]


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres"])
def test_texts_with_line_ends_and_quotes_come_out_as_they_are(dialect: str, request: Any) -> None:
    strange = ["new\nline", "it's", "\r\n\x0b\u2028", "-- no\ncomment", "*/ x /*", "{{ jinja }}"]
    rows = pl.DataFrame({"s": strange})
    features = [ta.features.Column("s", text) for text in strange]
    clauses = [
        ta.Clause((ta.Literal(f),), text, text) for f, text in zip(features, strange, strict=True)
    ]
    model = ta.DecisionList(tuple(clauses), ta.Clause((), "none"))
    about = ["two\nlines; DROP TABLE items"]
    sql = ta.to_select(model, dialect, table="items", keep=["place", "s"], about=about)
    with base(dialect, rows, request) as query:
        found = sorted(query(sql))
    assert [row[1] for row in found] == [row[2] for row in found] == strange
    assert [row[5] for row in found] == strange
    assert [row[4] for row in found] == ta.export.sentences(model)[:-1]


def test_names_do_not_meet() -> None:
    schema = {"matched": "bool", "rules": "integer"}
    model = one(*(ta.parse_feature(text, schema) for text in ("rules >= 4", "matched")))
    before = "CREATE TABLE rules AS SELECT 4 AS rules, 1 AS matched, 7 AS points_1"
    sql = ta.to_select(model, "sqlite", table="rules", keep=["rules", "matched", "points_1"])
    names, rows = in_sqlite(sql, before)
    assert names == ["rules", "matched", "points_1", *COLUMNS]
    assert [row[:5] for row in rows] == [(4, 1, 7, "yes", 1)]


def test_only_rules_with_a_record_are_sure() -> None:
    records = [Record(200, 10, 210, high=0.05), Record(200, 11, 211, high=0.0500001), None]
    clauses = [
        ta.Clause((ta.Literal(ta.parse_feature(f"a = {n}", {"a": "integer"})),), "x", record=record)
        for n, record in enumerate(records)
    ]
    model = ta.DecisionList(tuple(clauses), ta.Clause((), "y"))
    sql = ta.to_select(model, "sqlite", table="t", keep=["a"])
    before = "CREATE TABLE t AS SELECT 0 AS a UNION ALL SELECT 1 UNION ALL SELECT 2"
    assert [bool(row[-1]) for row in in_sqlite(sql, before)[1]] == [True, False, False]


def test_tables_in_schemas_and_names_in_quotes() -> None:
    model = one("milk")
    for given, written in (
        ("zoo.animals", "FROM zoo.animals\n"),
        ('zoo."old.animals"', 'FROM zoo."old.animals"\n'),
        ("my animals; DROP TABLE x", 'FROM "my animals; DROP TABLE x"\n'),
        ('"a""b"', 'FROM "a""b"\n'),
    ):
        assert written in ta.to_select(model, "duckdb", table=given)
    for given in ("", "a..b", 'a"b', '"a', "."):
        with pytest.raises(ParameterError, match="table is a name such as"):
            ta.to_select(model, table=given)
    with pytest.raises(ParameterError, match="name is a name such as"):
        ta.to_view(model, name="", table="t")


def test_what_cannot_be_kept_or_written_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"a column 'Label' of its own.* Rename"):
        ta.to_select(one("milk"), table="t", keep=["Label"])
    with pytest.raises(ParameterError, match="keep is a list"):
        ta.to_select(one("milk"), table="t", keep="id")
    with pytest.raises(ExportError, match=r"cannot write 'len' for DuckDB"):
        ta.to_select(one(len), table="t")
    with pytest.raises(ParameterError, match="dialect must be one of"):
        ta.to_select(one("milk"), "oracle", table="t")


def test_models_that_say_little() -> None:
    table = "CREATE TABLE t AS SELECT 1 AS id UNION ALL SELECT 2"
    for model, label, because in (
        (ta.DecisionList(), None, "Nothing has been learnt yet."),
        (ta.DecisionList((), ta.Clause((), "fish")), "fish", "It is: fish."),
        (one(ta.Or()), "no", "Otherwise it is: no."),
    ):
        sql = ta.to_select(model, "sqlite", table="t", keep=["id"])
        found = [(row[1], row[3]) for row in in_sqlite(sql, table)[1]]
        assert found == [(label, because)] * 2


def test_a_view_stands_beside_its_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ta.save_model(one("milk"), tmp_path / "m.json")
    for table, name in (("animals", "animals_labels"), ("zoo.animals", "zoo.animals_labels")):
        assert main(["export", str(tmp_path / "m.json"), "--to", "view", "--table", table]) == 0
        assert f"CREATE OR REPLACE VIEW {name} AS\n" in capsys.readouterr().out
