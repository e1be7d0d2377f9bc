"""A model as a dbt project, built and tested by a real dbt."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import tellapart as ta
from teaching import animals, teach
from tellapart.cli import main
from tellapart.errors import ParameterError
from tellapart.export import to_dbt
from tellapart.sessions import Session, Store

PROJECT = """\
name: shop
version: "1.0"
profile: shop
flags: {send_anonymous_usage_stats: false}
"""
PROFILE = "shop: {target: dev, outputs: {dev: {type: duckdb, path: shop.duckdb}}}\n"


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run all of a dbt project."""
    (folder / "dbt_project.yml").write_text(PROJECT)
    (folder / "profiles.yml").write_text(PROFILE)
    return subprocess.run(
        ["dbt", "--no-use-colors", "build", "--profiles-dir", "."],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"},
    )  # fmt: skip


@pytest.mark.slow
def test_a_session_becomes_a_dbt_model_with_tests(
    tmp_path: Path, needs: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    import duckdb

    table, project = tmp_path / "animals.csv", tmp_path / "shop"
    (project / "seeds").mkdir(parents=True)
    columns = ["name", "fur", "eggs", "fins", "legs"]
    animals(120).frame(columns).write_csv(table)
    with (
        Store(tmp_path / "a.db") as store,
        Session.new(store, "zoo", table, reading={"id": "name"}, learner="auto") as session,
    ):
        teach(session, "Ann", 40)
        wanted = {str(item): session.model.match(item).label for item in session.table.items}
    command = ["export", "zoo", "--db", str(tmp_path / "a.db"), "--to", "dbt"]
    command += ["--table", "animals", "--keep", "name", "--keep", "legs"]
    assert main([*command, "-o", str(project)]) == 0
    assert "models/animals_labels.sql" in capsys.readouterr().out
    assert "taught by Ann" in (project / "models/animals_labels.sql").read_text()
    needs("dbt")
    (project / "seeds/animals.csv").write_text(table.read_text())
    done = build(project)
    assert done.returncode == 0, done.stdout
    assert "ERROR=0" in done.stdout
    assert "Deprecated" not in done.stdout.replace("This version of dbt is deprecated", "")
    with duckdb.connect(str(project / "shop.duckdb")) as base:
        found = dict(base.execute('SELECT "name", label FROM animals_labels').fetchall())
    assert found == wanted
    # the tests can fail: another label
    model = project / "models/animals_labels.sql"
    text = model.read_text()
    first = re.search(r"1 AS rule,\s+'\w+'", text)
    assert first is not None
    model.write_text(text.replace(first[0], "1 AS rule, 'yeti'"))
    assert "FAIL" in build(project).stdout


@pytest.mark.slow
def test_texts_that_look_like_jinja_or_sql(tmp_path: Path, needs: Any) -> None:
    needs("dbt")
    strange = ["{{ config }}", "{% raw %}", "it's", "{# no #}", 'a "b"', "{{{"]
    schema = {"s": "text", "x": "number"}
    clauses = [
        ta.Clause((ta.Literal(ta.features.Column("s", text)),), text, text) for text in strange
    ]
    clauses.append(ta.Clause((ta.Literal(ta.parse_feature("x > 1", schema)),), "large"))
    model = ta.DecisionList(tuple(clauses), ta.Clause((), "none"))
    files = to_dbt(model, name="labels", table="rows", keep=["id", "x", "s"], schema=schema)
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    quoted = (text.replace("'", "''") for text in (*strange, "q"))
    rows = " UNION ALL ".join(f"SELECT 1 AS id, 2.5 AS x, '{text}' AS s" for text in quoted)
    (tmp_path / "models/rows.sql").write_text(rows.replace("{", "{{ '{' }}"))
    done = build(tmp_path)
    assert done.returncode == 0, done.stdout
    import duckdb

    with duckdb.connect(str(tmp_path / "shop.duckdb")) as base:
        found = base.execute("SELECT s, label FROM labels").fetchall()
    assert dict(found) == {**{text: text for text in strange}, "q": "large"}
    assert ta.from_sql(files["models/labels.sql"]) == model


def test_the_sql_is_what_jinja_makes_of_the_file(needs: Any) -> None:
    needs("duckdb")
    import duckdb
    import jinja2

    strange = ["{{ config }}", "{% raw %}", "it's", "{# no #}", 'a "b"', "{{{"]
    clauses = [
        ta.Clause((ta.Literal(ta.features.Column("s", text)),), text, text) for text in strange
    ]
    model = ta.DecisionList(tuple(clauses), ta.Clause((), "none"))
    files = to_dbt(model, name="labels", table="zoo.rows", keep=["s"])
    assert sorted(files) == ["models/labels.sql", "models/labels.yml"]
    made = jinja2.Template(files["models/labels.sql"]).render(source=lambda *parts: parts[-1])
    with duckdb.connect() as base:
        base.execute("CREATE TABLE rows (s TEXT)")
        base.executemany("INSERT INTO rows VALUES (?)", [[text] for text in (*strange, "q")])
        found = base.execute(f'SELECT s, label, "like" FROM ({made})').fetchall()
    assert sorted(found) == sorted([*((t, t, t) for t in strange), ("q", "none", None)])
    assert ta.from_sql(files["models/labels.sql"]) == model
    described = json.loads(files["models/labels.yml"])["models"][0]
    names = ["label", "rule", "because", "like", "is_sure"]
    assert [column["name"] for column in described["columns"]] == names


def test_what_dbt_cannot_take_is_refused() -> None:
    model = ta.DecisionList((ta.Clause((ta.Literal("milk"),), "yes"),), ta.Clause((), "no"))
    with pytest.raises(ParameterError, match="small letters"):
        to_dbt(model, name="My Labels", table="t", keep=["id"])
    with pytest.raises(ParameterError, match="source"):
        to_dbt(model, name="labels", table="a.b.c", keep=["id"])
