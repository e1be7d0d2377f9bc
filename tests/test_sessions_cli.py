"""`tellapart session`: list, export, import."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from teaching import animals, teach
from tellapart.cli import main
from tellapart.sessions import Session, Store, export_log


def test_there_and_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Store("a.db") as store, Session.new(store, "zoo", animals(), learner="DFF") as session:
        teach(session, "Ann", 10)
        session.note("Ann", "with a \u2028 separator, a\rreturn and ünïcode")
        lines = list(export_log(store, "zoo"))
        assert main(["session", "list", "--db", "a.db"]) == 0  # a server has it open
        listed = capsys.readouterr().out
        assert listed.startswith(f"zoo\t{len(lines)} events\tanimals, 60 items\tlast 20")
        assert main(["session", "export", "zoo", "--db", "a.db"]) == 0
        assert capsys.readouterr().out == "".join(lines)
        assert main(["session", "export", "zoo", "--db", "a.db", "-o", "zoo.jsonl"]) == 0
    assert main(["session", "import", "zoo.jsonl", "--db", "b.db"]) == 0
    assert capsys.readouterr().out == "imported zoo\n"
    with Store("b.db") as store:
        assert list(export_log(store, "zoo")) == lines
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("".join(lines).encode())))
    assert main(["session", "import", "-", "--db", "b.db", "--name", "copy"]) == 0
    with Store("b.db") as store:
        assert list(export_log(store, "copy")) == lines


def test_from_a_session_to_sql(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("zoo.csv").write_text("name,milk\nduck,false\nbear,true\nhen,false\n")
    keys = "bird\nmammal\nmilk\nbird\nNOT milk\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(keys))
    assert main(["teach", "zoo.csv", "--console", "--order", "file", "--learner", "DFF"]) == 0
    where = ("--db", "zoo.csv.sessions.db")
    assert main(["session", "model", "zoo", *where, "-o", "zoo.json"]) == 0
    capsys.readouterr()
    assert main(["export", "zoo.json", "--to", "sql"]) == 0
    assert "WHEN milk THEN 'mammal'" in capsys.readouterr().out
    assert main(["predict", "zoo.json", "zoo.csv", "--output", "out.csv", "--keep", "name"]) == 0
    assert Path("out.csv").read_text().splitlines()[2].startswith("bear,mammal")
    assert main(["session", "model", *where]) == 1
    assert "session model needs the name of a session" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["export", "sea", "--db", "a.db"], "there is no database a.db"),
        (["model", "--db", "a.db"], "there is no database a.db"),
        (["import", "--db", "a.db"], "needs a file"),
        (["import", "none.jsonl", "--db", "a.db"], "none.jsonl: No such file"),
        (["import", "bad.jsonl", "--db", "a.db"], "line 1: not JSON"),
    ],
)
def test_what_can_be_mended(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.jsonl").write_text("hello\n")
    assert main(["session", *arguments]) == 1
    assert message in capsys.readouterr().err
    assert main(["session", "list", "--db", "c.db"]) == 1  # nothing there, and no file made
    assert not (tmp_path / "c.db").exists()


def test_a_database_that_is_not_there_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["session", "list", "--db", str(tmp_path / "none.db")]) == 1
    assert "there is no database" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_serve_wants_a_table_not_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", str(tmp_path)]) == 1
    assert "is a folder" in capsys.readouterr().err
