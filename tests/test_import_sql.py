"""Rules written in SQL are read as models, and what was exported means the same again."""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import Any

import pytest

import tellapart as ta
from random_features import SCHEMA, ModelMaker
from teaching import animals, teach
from tellapart.cli import main
from tellapart.errors import ExportError, FeatureError, FormatError, ParameterError
from tellapart.export.dialects import DIALECTS
from tellapart.sessions import Given, Session, Store
from tellapart.sessions.rules import rule_changes


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_was_exported_is_the_same_again(dialect: str, seed: int) -> None:
    maker = ModelMaker(seed)
    written = 0
    for number in range(8):
        model = maker.model(3)
        try:
            if number % 2:
                sql = ta.to_sql(model, dialect, schema=SCHEMA)
            else:
                sql = ta.to_view(
                    model, dialect, name="v", table="items", keep=["place"], schema=SCHEMA
                )  # fmt: skip
        except ExportError:  # it has no _ in patterns
            assert dialect == "tsql"
            continue
        written += 1
        assert ta.from_sql(sql, dialect) == model
        assert ta.from_sql(sql.replace("\n", "\r\n"), dialect) == model
    assert written


def test_a_line_that_no_longer_says_what_the_sql_does_is_refused() -> None:
    model = ta.from_sql("CASE WHEN legs > 3 THEN 'bear' ELSE 'duck' END")
    sql = ta.to_sql(model)
    with pytest.raises(FeatureError, match="was changed after tellapart wrote it"):
        ta.from_sql(sql.replace("legs > 3 AND", "legs > 4 AND"))
    rest, line = sql.removesuffix("\n").rsplit("\n", 1)
    assert line.startswith("-- The model, for tellapart import (")
    assert ta.from_sql(f"{line}\n{rest}") == model  # as it was written before
    assert "bear" in said(rest.replace(" AND ISFINITE(legs)", ""))


def test_examples_are_in_the_line_by_their_names() -> None:
    table = ta.Table({"name": ["ann", "bob"], "secret": [1, 2], "milk": [True, False]}, id="name")
    model = ta.DecisionList(
        (ta.Clause((ta.Literal("milk"),), "yes", table.items[0]),), ta.Clause((), "no")
    )
    sql = ta.to_sql(model)
    assert "secret" not in sql
    assert [clause.example for clause in ta.from_sql(sql)] == ["ann", None]


@pytest.mark.slow
@pytest.mark.parametrize("deep", [400, 5_000])
def test_sql_that_is_nested_too_deeply(deep: int) -> None:
    for text in ("(" * deep + "a > 1" + ")" * deep, "NOT " * deep + "a > 1"):
        with pytest.raises(FeatureError, match=r"too deeply|levels of brackets"):
            ta.from_sql(f"CASE WHEN {text} THEN 1 END")
    for shape in ("CASE WHEN a > 1 THEN {} ELSE 0 END", "CASE WHEN a > 1 THEN 0 ELSE {} END"):
        inner = "a"
        for _ in range(deep):
            inner = shape.format(inner)
        with pytest.raises(FeatureError):
            ta.from_sql(f"CASE WHEN {inner} > 1 THEN 1 END")
        with pytest.raises(FeatureError):
            ta.from_sql(inner)


def test_long_conditions_take_no_longer_than_their_length() -> None:
    many = " AND ".join(f"a <> {n}" for n in range(300))
    start = time.process_time()
    assert len(ta.from_sql(f"CASE WHEN {many} THEN 1 END").clauses[0].literals) > 0
    assert time.process_time() - start < 5  # 20 when every node was copied with all below it


@pytest.mark.parametrize("number", ["9" * 10_000, "9" * 10_000 + ".5"])
def test_numbers_of_ten_thousand_digits(number: str, tmp_path: Path) -> None:
    for sql in (f"CASE WHEN a > {number} THEN 1 END", f"CASE WHEN a > 1 THEN {number} END"):
        with pytest.raises(FeatureError, match=r"beyond double precision|a label must be"):
            ta.from_sql(sql)
    model = ta.DecisionList((), ta.Clause((), 17)).to_json().replace("17", number)
    (tmp_path / "model.json").write_text(model)
    if number.isdigit():
        with pytest.raises(FormatError, match=r"model\.json: it has a number of too many digits"):
            ta.load_model(tmp_path / "model.json")


def said(text: str, dialect: str = "duckdb", **how: Any) -> str:
    return str(ta.from_sql(text, dialect, **how))


def test_what_people_write() -> None:
    assert said("CASE WHEN a > 1 AND b = 'x' THEN 1 ELSE 0 END") == (
        "if a > 1 and b = 'x': 1\nelse: 0"
    )
    assert said("case kind when 'a' then 'x' when 'b' then 'y' end") == (
        "if kind = 'a': x\nelse if kind = 'b': y\nelse: unknown"
    )
    simple = "SELECT id, CASE WHEN NOT (a IN (1, 2) OR b BETWEEN 3 AND 4) THEN 'x' END k FROM t"
    assert said(simple).startswith("if a NOT IN (1, 2) and b > 4 OR b < 3: x")
    view = f"CREATE OR REPLACE VIEW v AS {simple};"
    assert said(view, "postgres") == said(simple)
    assert said("CASE WHEN lower(name) LIKE '%goal%' THEN TRUE END").startswith(
        "if name ILIKE '%goal%': True"
    )
    assert said("CASE WHEN d >= DATE '2024-01-01' AND year(d) < 2030 THEN 1 END").startswith(
        "if d >= "
    )
    assert said("CASE WHEN x::double / nullif(y, 0) > 0.5 THEN 1 END", "postgres").startswith(
        "if x / y > 0.5: 1"
    )
    assert said("CASE WHEN a > 1 THEN 'x' ELSE CASE b WHEN 'k' THEN 'y' ELSE 'z' END END") == (
        "if a > 1: x\nelse if b = 'k': y\nelse: z"
    )
    assert said("IF(a > 1, 'x', 'y')", "mysql") == "if a > 1: x\nelse: y"
    assert said("CASE WHEN 1 = 1 THEN 'x' WHEN a > 1 THEN 'y' END").startswith("always: x")
    assert said("CASE WHEN 1 = 0 THEN 'x' WHEN a > 1 THEN 'y' END").startswith("if a > 1: y")
    assert said("CASE WHEN a LIKE 'x\\_%' THEN 1 END", "postgres").startswith(
        "if a LIKE 'x!_%' ESCAPE '!': 1"
    )
    assert said("CASE WHEN a LIKE 'x\\_%' THEN 1 END", "sqlite").startswith("if a LIKE 'x\\_%': 1")


def test_case_of_names_and_types_of_the_schema() -> None:
    schema = {"Legs": "integer", "milk": "bool"}
    model = ta.from_sql("CASE WHEN LEGS > 3 AND MILK = 1 THEN 'x' END", "snowflake", schema=schema)
    assert model.predict([{"Legs": 4, "milk": True}, {"Legs": 4, "milk": False}]) == ["x", None]
    assert [feature.schema for feature in model.features] == [{"Legs": "integer"}, {"milk": "bool"}]


WRONG = [
    ("CASE WHEN soundex(a) = 'x' THEN 1 END", "SOUNDEX cannot be read.*line 1, column 1"),
    ("CASE\n WHEN a > 1 THEN 1\n WHEN b ~ 'x' THEN 2 END", "line 3, column 7"),
    ("CASE WHEN a > (SELECT max(a) FROM t) THEN 1 END", "line 1"),
    ("CASE WHEN a > 1 THEN b END", "a label must be a text"),
    ("CASE WHEN a > 1 THEN 1 WHEN a = 'x' THEN 2 END", "is a number but|is a text but"),
    ("CASE WHEN a IS NULL THEN 1 END", "nothing says what the column 'a' holds"),
    ("CASE WHEN a > 1 THEN", "no SQL of duckdb at line 1"),
    ("SELECT a FROM t", "0 columns with a CASE"),
    ("SELECT CASE WHEN a > 1 THEN 1 END x, CASE WHEN a > 2 THEN 1 END y", r"2 columns.*\(x, y\)"),
    ("SELECT 1; SELECT 2", "there are 2"),
    ("CASE WHEN count(*) OVER () > 1 THEN 1 END", "cannot be read"),
    ("CASE WHEN a LIKE b THEN 1 END", "a pattern must be a text"),
    ("CASE WHEN trim(LEADING 'x' FROM a) = 'y' THEN 1 END", "TRIM"),
    ("CASE WHEN CASE WHEN a > 1 THEN 2 ELSE 3 END > b THEN 1 END", "CASE inside"),
    ("CASE WHEN a COLLATE NOCASE = 'x' AND a = NULL THEN 1 END", "COLLATE cannot be read"),
]


@pytest.mark.parametrize(("text", "reason"), WRONG, ids=[text for text, _ in WRONG])
def test_what_cannot_be_read_is_named_with_its_place(text: str, reason: str) -> None:
    with pytest.raises(FeatureError, match=reason):
        ta.from_sql(text)


def test_an_unknown_dialect() -> None:
    with pytest.raises(ParameterError, match="knows no dialect 'klingon'"):
        ta.from_sql("CASE END", "klingon")


def test_the_command(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rules.sql").write_text("CASE WHEN legs > 3 THEN 'bear' ELSE 'duck' END")
    assert main(["import", "rules.sql", "-o", "model.json", "--type", "legs=integer"]) == 0
    assert capsys.readouterr().out == "1. It is: bear, if legs > 3.\n2. Otherwise it is: duck.\n"
    assert ta.load_model("model.json").features[0].schema == {"legs": "integer"}
    monkeypatch.setattr("sys.stdin", io.StringIO("CASE WHEN tall(legs) THEN 1 END"))
    assert main(["import", "-", "-o", "other.json"]) == 1
    assert "cannot be read" in capsys.readouterr().err
    assert not Path("other.json").exists()


# -- a session that begins with rules


RULES = "CASE WHEN fins THEN 'fish' WHEN fur AND legs > 90 THEN 'yeti' ELSE 'bird' END"


def begun(store: Store, **how: Any) -> Session:
    table = animals()
    rules = ta.from_sql(RULES, schema=table.schema)
    return Session.new(store, "zoo", table, rules=rules, **how)


def test_a_session_begins_with_rules_and_keeps_them_first(store: Store) -> None:
    with begun(store) as session:
        # no row is a yeti; the others have an example that they label
        model = session.model
        assert [clause.label for clause in model.clauses] == ["fish", "bird"]
        for clause in model.clauses:
            assert model.match(clause.example) is clause
        first = session.next("Ann")
        assert isinstance(first, Given)
        assert first.guess.label is None  # the first row is asked for its label
        teach(session, "Ann", 60)
        fish, bird, *learnt = session.model
        assert (fish.label, len(fish.literals)) == ("fish", 1)
        assert (bird.label, bird.literals[0].wanted) == ("bird", False)
        assert {clause.label for clause in learnt} >= {"bear"}
        table, model = session.table, session.model
        assert session.judged_model() == model
        wanted = {str(item): session.label_of(item) for item in table.items}
        assert {str(item): model.match(item).label for item in table.items} == wanted
        old = ta.from_sql(RULES, schema=table.schema)
        changes = rule_changes(old, session.model, session.history())
    assert any(line.startswith("Rule 2 (bird, like ") and ": Ann said bear on " in line
               for line in changes), changes  # fmt: skip
    assert "Gone: yeti, if fur and legs > 90." in changes
    with Session.open(store, "zoo", animals()) as session:
        assert session.model == model
        while session.can_undo("Ann"):
            session.undo("Ann")
        assert [clause.label for clause in session.model.clauses] == ["fish", "bird"]
        assert [len(clause.literals) for clause in session.model.clauses] == [1, 0]


def test_rules_that_were_begun_with_can_be_edited_and_dropped(store: Store) -> None:
    with begun(store) as session:
        teach(session, "Ann", 5)
        fish, bird = session.model.clauses[:2]
        session.edit_rule("Ann", fish.example, "fins AND NOT fur", "fish")
        assert str(session.model.clauses[0].literals[0].feature) == "fins AND NOT fur"
        session.drop_rule("Ann", bird.example)
        assert all(clause.example != bird.example or clause.origin != "by hand"
                   for clause in session.model.clauses)  # fmt: skip
        session.undo("Ann")
        assert session.model.clauses[1].label == "bird"


def test_rules_about_nothing_in_the_table_are_refused(store: Store) -> None:
    table = animals()
    rules = ta.from_sql("CASE WHEN hooves > 2 THEN 'x' END")
    with pytest.raises(FeatureError, match="unknown column 'hooves'"):
        Session.new(store, "zoo", table, rules=rules)
    none = ta.from_sql("CASE WHEN legs > 99 THEN 'x' END", schema=table.schema)
    with pytest.raises(ParameterError, match="none of the rules labels a row"):
        Session.new(store, "zoo", table, rules=none)
    assert not store.names()


def test_teach_and_export_with_rules(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    animals().frame(["name", "fur", "eggs", "fins", "legs"]).write_csv("animals.csv")
    Path("rules.sql").write_text(RULES)
    assert main(["import", "rules.sql", "-o", "rules.json", "--table", "animals.csv"]) == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    command = ["teach", "animals.csv", "--console", "--rules", "rules.json", "--name", "Ann"]
    assert main(command) == 0
    capsys.readouterr()
    export = ["export", "animals", "--db", "animals.csv.sessions.db", "--to", "text"]
    assert main([*export, "--diff", "rules.json"]) == 0
    assert capsys.readouterr().out.endswith("Gone: yeti, if fur and legs > 90.\n")
    assert main(command) == 1
    assert "the session was begun already" in capsys.readouterr().err
    assert main(["export", "rules.json", "--to", "sql", "--diff", "rules.json"]) == 1
    assert "--diff is written as text" in capsys.readouterr().err
    assert main(["export", "rules.json", "--to", "text", "--diff", "rules.json"]) == 0
    assert capsys.readouterr().out == "No rule changed.\n"


@pytest.mark.parametrize(
    "text",
    [
        "CASE WHEN CAST(price AS INTEGER) = 3 THEN 'three' END",
        "CASE WHEN price::DECIMAL(10, 1) > 3 THEN 'x' END",
        "CASE WHEN CAST(name AS VARCHAR(2)) = 'ab' THEN 'x' END",
        "WITH z(n) AS (SELECT price FROM p) SELECT CASE WHEN n > 3 THEN 'x' END k FROM z",
    ],
)
def test_what_would_mean_something_else_is_refused(text: str) -> None:
    with pytest.raises(FeatureError, match="cannot be read"):
        ta.from_sql(text, "postgres", schema={"price": "number", "name": "text"})


def test_whole_numbers_may_be_cast_to_whole_numbers() -> None:
    text = "CASE WHEN CAST(n AS BIGINT) = 3 THEN 'three' END"
    assert str(ta.from_sql(text, schema={"n": "integer"})).startswith("if n = 3: three")
    with pytest.raises(FeatureError, match="by the type of the column"):
        ta.from_sql(text)


@pytest.mark.parametrize(
    "source",
    [
        "(SELECT id, n * 10 AS n FROM p) z",
        "(SELECT id, n * 10 AS N FROM p) AS z",
    ],
)
def test_columns_of_a_query_inside_a_query(source: str) -> None:
    text = f"SELECT CASE WHEN n > 30 THEN 'x' END AS k FROM {source}"
    upper = f"WITH Z AS {source.partition(')')[0]}) SELECT CASE WHEN n > 30 THEN 'x' END FROM z"
    for refused in (text, upper):
        with pytest.raises(FeatureError, match="what an inner query computes cannot be read"):
            ta.from_sql(refused)
    assert str(ta.from_sql(text.replace("n > 30", "id > 30"))).startswith("if id > 30: x")
    outer = f"SELECT k, 2 * id AS twice FROM ({text.replace('n > 30', 'id > 30')}) AS labelled"
    assert str(ta.from_sql(outer)).startswith("if id > 30: x")


def test_a_name_before_a_column_and_words_behind_the_end() -> None:
    text = "SELECT CASE WHEN t.n > 1 THEN 'x' END k FROM p AS t; -- end of rules"
    assert str(ta.from_sql(text)).startswith("if n > 1: x")


def test_rules_that_a_table_cannot_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.csv").write_text("n\n1\n2\n")
    (tmp_path / "rules.sql").write_text("CASE WHEN nn > 1 THEN 'x' END")
    rules, model = str(tmp_path / "rules.sql"), str(tmp_path / "m.json")
    assert main(["import", rules, "-o", model, "--table", str(tmp_path / "p.csv")]) == 1
    assert "p.csv has no column 'nn'" in capsys.readouterr().err
    (tmp_path / "rules.sql").write_bytes("CASE WHEN s = 'café' THEN 'x' END".encode("latin-1"))
    assert main(["import", rules, "-o", model]) == 1
    assert "is not UTF-8" in capsys.readouterr().err
    assert not (tmp_path / "m.json").exists()
