"""A sample of `tests/fuzz/fuzz_files.py`: what strangers send costs a message, and no more."""

from __future__ import annotations

import bz2
import sqlite3
from pathlib import Path

import pytest

from fuzz import fuzz_files
from fuzz.fuzz_files import Hostile

DEEP = b"[" * 100_000 + b"]" * 100_000
SAMPLE = [
    Hostile("table", "t.json", b'[{"a": ' + DEEP + b"}]", "deep"),
    Hostile("model", "m.json", b'{"tellapart": "model", "clauses": ' + DEEP + b"}", "deep"),
    Hostile("log", "s.jsonl", b'{"tellapart": "session", "x": ' + DEEP + b"}\n", "deep"),
    Hostile("sql", "r.sql", b"CASE WHEN " + b"(" * 5_000 + b"a THEN 'x' END", "deep"),
    Hostile("table", "t.csv.bz2", bz2.compress(b"0" * 5_000_000), "one name of 5 MB"),
    Hostile("database", "s.db", b"SQLite format 3\0" + b"x" * 5_000, "damaged"),
]


@pytest.mark.slow
@pytest.mark.parametrize("one", SAMPLE, ids=lambda one: f"{one.reader}, {one.what}")
def test_a_hostile_file_is_refused_in_words(one: Hostile, tmp_path: Path) -> None:
    assert fuzz_files.judge(one, tmp_path) == ("refused", None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("made", "what"),
    [
        (None, "read"),
        ("CREATE TABLE events (x)", "read"),
        ("UPDATE tellapart_events SET session = CAST(x'7a90' AS TEXT)", "refused"),
    ],
    ids=["an empty one", "another program's", "a name that is no text"],
)
def test_a_database_that_is_checked_stays_as_it_is(
    made: str | None, what: str, tmp_path: Path
) -> None:
    path = tmp_path / "s.db"
    path.write_bytes(fuzz_files.good_files()["s.db"][1] if what == "refused" else b"")
    if made is not None:
        with sqlite3.connect(path) as changed:
            changed.execute(made)
        changed.close()
    one = Hostile("database", "s.db", path.read_bytes(), "")
    assert fuzz_files.judge(one, tmp_path) == (what, None)


@pytest.mark.slow
def test_what_goes_wrong_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(fuzz_files.COMMANDS, "sql", ["import", "{file}"])  # -o is missing
    kind, wrong = fuzz_files.judge(SAMPLE[3], tmp_path)
    assert kind == "killed"
    assert wrong is not None
    assert "exit 2" in wrong
