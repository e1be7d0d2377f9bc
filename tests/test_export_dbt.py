"""A model as a dbt project, built and tested by a real dbt."""

from __future__ import annotations

import csv
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import tellapart as ta
from teaching import animals, teach
from tellapart.cli import main
from tellapart.errors import ExportError, ParameterError
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
    assert "macros/animals_labels.sql" in capsys.readouterr().out
    assert "taught by Ann" in (project / "macros/animals_labels.sql").read_text()
    needs("dbt")
    (project / "seeds/animals.csv").write_text(table.read_text())
    done = build(project)
    assert done.returncode == 0, done.stdout
    assert "ERROR=0" in done.stdout
    assert "Deprecated" not in done.stdout.replace("This version of dbt is deprecated", "")
    with duckdb.connect(str(project / "shop.duckdb")) as base:
        found = dict(base.execute('SELECT "name", label FROM animals_labels').fetchall())
    assert found == wanted
    # the tests can fail: another rule, another label
    macro = project / "macros/animals_labels.sql"
    macro.write_text(macro.read_text().replace(" THEN 1\n", " THEN 2\n"))
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
    rows = [(text, {"s": text, "x": 0.5}, text) for text in (*strange, "", "none")]
    rows.append(("empty", {"s": "z", "x": None}, "none"))
    files = to_dbt(
        model, name="labels", table="rows", keep=["id", "x"], schema=schema, taught=rows
    )  # fmt: skip
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    seed = list(csv.DictReader(files["seeds/labels_taught.csv"].splitlines()))
    assert [row["expected_label"] for row in seed] == [*strange, "none", "none"]  # no empty text
    (tmp_path / "models/rows.sql").write_text("SELECT 1 AS id, 2.5 AS x, CAST('q' AS TEXT) AS s")
    done = build(tmp_path)
    assert done.returncode == 0, done.stdout


def test_what_dbt_cannot_take_is_refused() -> None:
    model = ta.DecisionList((ta.Clause((ta.Literal("milk"),), "yes"),), ta.Clause((), "no"))
    with pytest.raises(ParameterError, match="small letters"):
        to_dbt(model, name="My Labels", table="t", keep=["id"])
    with pytest.raises(ExportError, match="SQL Server has no WITH inside"):
        to_dbt(model, "tsql", name="labels", table="t", keep=["id"])
    with pytest.raises(ParameterError, match="columns to keep"):
        to_dbt(model, name="labels", table="t", keep=[])
    with pytest.raises(ParameterError, match="source"):
        to_dbt(model, name="labels", table="a.b.c", keep=["id"])
    literals = (ta.Literal("taught_row"),)
    other = ta.DecisionList((ta.Clause(literals, "yes"),), ta.Clause((), "no"))
    taught = [("a", {"taught_row": True}, "yes")]
    with pytest.raises(ParameterError, match="'taught_row' of its own"):
        to_dbt(other, name="labels", table="t", keep=["id"], taught=taught)
