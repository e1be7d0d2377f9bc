"""The base install teaches: sessions and the console work without the extras."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tellapart

pytestmark = pytest.mark.slow

EXTRAS = (
    *("fastapi", "starlette", "pydantic", "jinja2", "prometheus_client", "uvicorn"),
    *("psycopg", "sqlalchemy", "numba", "httpx", "anywidget"),
    "sqlglot",  # it is installed, for SQL of others and for exports: teaching does without
)
BLOCK = f"""
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {EXTRAS}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocked())
"""
TABLE = "name,milk,legs\nbear,true,4\nduck,false,2\nlion,true,4\n"


def run(code: str, folder: Path, keys: str = "") -> subprocess.CompletedProcess[str]:
    """Run a program in which the extras cannot be imported."""
    env = {**os.environ, "PYTHONPATH": str(Path(tellapart.__file__).parents[1])}
    return subprocess.run(
        [sys.executable, "-c", BLOCK + code],
        input=keys,
        capture_output=True,
        text=True,
        cwd=folder,
        env=env,
        check=False,
    )


def command(folder: Path, *words: str, keys: str = "") -> str:
    """What a command prints; it must not fail."""
    done = run(f"from tellapart.cli import main; sys.exit(main({list(words)}))", folder, keys)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_session_in_a_file(tmp_path: Path) -> None:
    code = """
import tellapart as ta
table = ta.Table({"name": ["bear", "duck"], "wings": [False, True]}, id="name")
for _ in range(2):
    with ta.Store("a.db") as store:
        if not store.sessions():
            ta.Session.new(store, "zoo", table).close()
        with ta.Session.open(store, "zoo", table) as session:
            given = session.next("Ann")
            session.answer("Ann", given.id, "wrong", f"kind of {given.item}")
print(session.labels)
"""
    done = run(code, tmp_path)
    assert done.stdout == "['kind of bear', 'kind of duck']\n", done.stderr


def test_teach_in_the_console_and_carry_the_session_away(tmp_path: Path) -> None:
    (tmp_path / "zoo.csv").write_text(TABLE)
    teach = ["teach", "zoo.csv", "--console", "--id", "name", "--order", "file", "--name", "Ann"]
    said = command(tmp_path, *teach, keys="mammal\nbird\n1\n\n")
    assert "What is bear?" in said
    assert "Is duck mammal, like bear?" in said  # of the duck, then of the lion
    assert "zoo\t" in command(tmp_path, "session", "list", "--db", "zoo.csv.sessions.db")
    log = command(tmp_path, "session", "export", "zoo", "--db", "zoo.csv.sessions.db")
    (tmp_path / "zoo.jsonl").write_text(log)
    assert log.count('"answered"') == 3
    took = command(tmp_path, "session", "import", "zoo.jsonl", "--db", "b.db")
    assert took == "imported zoo\n"
    assert command(tmp_path, "session", "export", "zoo", "--db", "b.db") == log
    assert '"clauses"' in command(tmp_path, "session", "model", "zoo", "--db", "b.db")


def test_help_needs_nothing(tmp_path: Path) -> None:
    assert "--console" in command(tmp_path, "teach", "--help")
    assert "--db" in command(tmp_path, "session", "--help")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["teach", "zoo.csv"], "the web app needs the 'app' extra"),
        (["serve", "zoo.csv"], "the web app needs the 'app' extra"),
        (
            ["session", "list", "--db", "postgresql://host/name"],
            "PostgreSQL needs the 'postgres' extra: pip install 'tellapart[postgres]'",
        ),
    ],
)
def test_a_missing_extra_is_named(words: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "zoo.csv").write_text(TABLE)
    done = run(f"from tellapart.cli import main; sys.exit(main({words}))", tmp_path)
    assert done.returncode != 0
    assert message in " ".join(done.stderr.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["zoo.csv"]


def test_a_notebook_without_the_extra_is_told_so(tmp_path: Path) -> None:
    done = run("import tellapart; tellapart.widget('zoo.csv')", tmp_path)
    assert "pip install 'tellapart[notebook]'" in " ".join(done.stderr.split())
