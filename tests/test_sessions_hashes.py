"""A log that was damaged: the event is named, and never is another log opened in its place."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import sqlite3
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from archive_writer import table
from fuzz.fuzz_meaning import mutate
from teaching import animals, teach
from tellapart.cli import main
from tellapart.errors import FormatError, TellapartError
from tellapart.sessions import Session, Store, export_log
from tellapart.sessions.items import Items, check_same
from tellapart.sessions.log import State, parse_log, write_log
from tellapart.tables import Table
from zoo_session import ZOO as CELLS

ARCHIVE = Path(__file__).parent / "archive"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with two sessions."""
    with Store(tmp_path / "a.db") as store:
        for name in ("zoo", "farm"):
            with Session.new(store, name, animals(), learner="AdaptiveDFF") as session:
                teach(session, "Ann", 6)
    return tmp_path / "a.db"


def run(path: Path, *statements: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(path)
    try:
        found = [row for one in statements for row in connection.execute(one).fetchall()]
        connection.commit()
    finally:
        connection.close()
    return found


EVENTS = "tellapart_events"
ZOO = "WHERE session = 'zoo'"
DAMAGE = [
    (9, f"UPDATE {EVENTS} SET data = replace(data, 'b', 'c') {ZOO} AND number = 9"),
    (9, f"UPDATE {EVENTS} SET data = data || ' ' {ZOO} AND number = 9"),
    (9, f"UPDATE {EVENTS} SET data = '{{}}' {ZOO} AND number = 9"),
    (9, f"UPDATE {EVENTS} SET data = '[' {ZOO} AND number = 9"),
    (9, f"UPDATE {EVENTS} SET data = x'ff00' {ZOO} AND number = 9"),
    (9, f"UPDATE {EVENTS} SET data = CAST(x'7bff7d' AS TEXT) {ZOO} AND number = 9"),
    (9, f"UPDATE {EVENTS} SET data = 17 {ZOO} AND number = 9"),
    (8, f"UPDATE {EVENTS} SET teacher = 'Eve' {ZOO} AND number = 8"),
    (8, f"UPDATE {EVENTS} SET teacher = NULL {ZOO} AND number = 8"),
    (8, f"UPDATE {EVENTS} SET id = id || '1' {ZOO} AND number = 8"),
    (8, f"UPDATE {EVENTS} SET at = '2020' {ZOO} AND number = 8"),
    (1, f"UPDATE {EVENTS} SET data = replace(data, '0', '1') {ZOO} AND number = 1"),
    (1, f"DELETE FROM {EVENTS} {ZOO} AND number = 1"),
    (5, f"DELETE FROM {EVENTS} {ZOO} AND number = 5"),
    (14, f"DELETE FROM {EVENTS} {ZOO} AND number = 14"),
    (13, f"DELETE FROM {EVENTS} {ZOO} AND number > 12"),
    (4, f"DELETE FROM {EVENTS} {ZOO} AND number = 4;"
        f"UPDATE {EVENTS} SET number = 4 {ZOO} AND number = 14"),
    (3, f"UPDATE {EVENTS} SET number = -3 {ZOO} AND number = 3;"
        f"UPDATE {EVENTS} SET number = 3 {ZOO} AND number = 5;"
        f"UPDATE {EVENTS} SET number = 5 {ZOO} AND number = -3"),
    (7, f"UPDATE tellapart_hashes SET hash = 'x' {ZOO} AND number = 7"),
    (7, f"DELETE FROM tellapart_hashes {ZOO} AND number = 7"),
    (14, f"DELETE FROM {EVENTS} {ZOO} AND number = 14;"
         f"DELETE FROM tellapart_hashes {ZOO} AND number = 14"),
    (4, f"DELETE FROM {EVENTS} {ZOO} AND number > 3;"
        f"DELETE FROM tellapart_hashes {ZOO} AND number > 3"),
    (1, f"DELETE FROM {EVENTS} {ZOO}; DELETE FROM tellapart_hashes {ZOO}"),
    (15, f"UPDATE tellapart_lengths SET number = 15 {ZOO}"),
]  # fmt: skip


@pytest.mark.parametrize(("number", "damage"), DAMAGE)
def test_a_damaged_event_is_named(path: Path, number: int, damage: str) -> None:
    run(path, *damage.split(";"))
    named = rf"the session 'zoo' in .*: event {number} (is|cannot).*session repair"
    with Store(path) as store:
        with pytest.raises(FormatError, match=named):
            Session.open(store, "zoo", animals())
        with pytest.raises(FormatError, match=named):
            list(export_log(store, "zoo"))
        assert len(store.good_events("zoo")[0]) == number - 1
        Session.open(store, "farm", animals()).close()
        assert "farm" in {one.name for one in store.sessions()}


def test_the_number_of_the_last_event_may_be_damaged_itself(path: Path) -> None:
    run(path, f"UPDATE tellapart_lengths SET number = 'x' {ZOO}")
    with Store(path) as store:
        with pytest.raises(FormatError, match="number of the last event is damaged: it is 'x'"):
            store.log("zoo")
        assert len(store.good_events("zoo")[0]) == 14


def test_a_log_without_the_number_of_its_last_event_gets_it(path: Path) -> None:
    """An older version wrote none, and does not count what it adds."""
    run(path, "DROP TABLE tellapart_lengths")
    with Store(path) as store:
        assert len(store.log("zoo")) == 14  # reading writes nothing
        Session.open(store, "zoo", animals()).close()
    assert run(path, f"SELECT number FROM tellapart_lengths {ZOO}") == [(14,)]
    run(path, f"UPDATE tellapart_lengths SET number = 9 {ZOO}")
    with Store(path) as store:
        Session.open(store, "zoo", animals()).close()
    assert run(path, f"SELECT number FROM tellapart_lengths {ZOO}") == [(14,)]


def test_a_foreign_event_at_the_end_is_checked_by_itself(path: Path) -> None:
    """An older tellapart writes no hashes: what it added gets them."""
    (count,) = run(path, f"SELECT count(*) FROM {EVENTS} {ZOO}")[0]
    columns = "session, number, id, at, type, teacher, data"
    at, data = "2026-11-16T08:00:00.000Z", '{"text":""}'

    def add(number: int, id: str, data: str) -> None:
        cells = f"'zoo', {number}, '{id}', '{at}', 'note', 'Ann', '{data}'"
        run(path, f"INSERT INTO {EVENTS} ({columns}) VALUES ({cells})")

    add(count + 1, "x", data)
    with Store(path) as store, Session.open(store, "zoo", animals()) as session:
        assert session.number == count + 1
    assert len(run(path, f"SELECT 1 FROM tellapart_hashes {ZOO}")) == count + 1
    add(count + 2, "y", "{}")
    with Store(path) as store, pytest.raises(FormatError, match=r"event 16: 'note' needs 'text'"):
        Session.open(store, "zoo", animals())


def test_an_old_database_gets_hashes_when_it_is_opened(tmp_path: Path) -> None:
    shutil.copy(ARCHIVE / "0.1" / "old.db", tmp_path)
    path = tmp_path / "old.db"
    before = run(path, f"SELECT * FROM {EVENTS} ORDER BY session, number")
    with Store(path) as store:
        assert store.log("auto")  # reading writes nothing
    assert not run(path, "SELECT 1 FROM sqlite_master WHERE name = 'tellapart_hashes'")
    for _ in range(2):
        with Store(path) as store:
            Session.open(store, "auto", table("zoo", ARCHIVE / "0.1")).close()
            assert store.good_events("auto")[1] is None
    assert run(path, f"SELECT * FROM {EVENTS} ORDER BY session, number") == before
    count = sum(row[0] == "auto" for row in before)
    assert run(path, "SELECT count(*), max(number) FROM tellapart_hashes") == [(count, count)]
    run(path, f"UPDATE {EVENTS} SET teacher = 'Eve' WHERE session = 'auto' AND number = 9")
    with Store(path) as store, pytest.raises(FormatError, match="event 9 is not as it was written"):
        Session.open(store, "auto", table("zoo", ARCHIVE / "0.1"))


def test_check_and_repair(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--db", str(path)]
    assert main(["session", "check", *where]) == 0
    assert capsys.readouterr().out == (
        "farm: 14 events, all as they were written\nzoo: 14 events, all as they were written\n"
    )
    with Store(path) as store:
        events = store.log("zoo")
    run(path, DAMAGE[0][1])
    assert main(["session", "check", *where]) == 1
    out, err = capsys.readouterr()
    assert out == "farm: 14 events, all as they were written\n"
    assert "zoo: event 9 is not as it was written" in err
    assert "(good before it: 8 events)" in err
    assert main(["session", "check", "farm", *where]) == 0
    good = tmp_path / "good.jsonl"
    assert main(["session", "repair", "zoo", *where]) == 1
    assert "writes to a new file: give -o FILE" in capsys.readouterr().err
    assert main(["session", "repair", "zoo", *where, "-o", str(good)]) == 0
    assert "8 events of zoo in" in capsys.readouterr().err
    assert good.read_text() == "".join(write_log(events[:8]))
    assert main(["session", "repair", "zoo", *where, "-o", str(good)]) == 1  # never over a file
    assert main(["session", "import", str(good), "--db", str(tmp_path / "b.db")]) == 0
    with Store(tmp_path / "b.db") as store, Session.open(store, "zoo", animals()) as session:
        assert session.number == 8
    run(path, DAMAGE[12][1])
    assert main(["session", "repair", "zoo", *where, "-o", str(tmp_path / "none")]) == 1
    assert "nothing of the session 'zoo' can be read: event 1 is" in capsys.readouterr().err


@pytest.mark.slow
def test_the_database_may_be_damaged_where_no_event_is(path: Path) -> None:
    """Bits of the file itself: a message, or the same log; the same for check and repair."""
    whole, dice = path.read_bytes(), random.Random(0)
    with Store(path) as store:
        log = store.log("zoo")
    for _ in range(300):
        damaged = bytearray(whole)
        place = dice.randrange(len(damaged))
        damaged[place] ^= 1 << dice.randrange(8)
        path.write_bytes(damaged)
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        with Store(path) as store:
            with suppress(TellapartError):
                assert store.log("zoo") == log, place
            good, wrong = [], ""
            with suppress(TellapartError):
                good, wrong = store.good_events("zoo")
                assert good == log[: len(good)], place
            if wrong is None:  # whoever else reads it says the same
                assert store.log("zoo") == log, place


def test_hashes_that_cannot_be_read_prove_nothing(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with sqlite3.connect(path) as connection:
        find = "SELECT rootpage FROM sqlite_master WHERE name = 'tellapart_hashes'"
        ((page,),) = connection.execute(find).fetchall()
        ((size,),) = connection.execute("PRAGMA page_size").fetchall()
    connection.close()
    with Store(path) as store:
        log = store.log("zoo")
    whole = bytearray(path.read_bytes())
    whole[(page - 1) * size] = 0xFF
    path.write_bytes(whole)
    with Store(path) as store:
        good, wrong = store.good_events("zoo")
    assert good == log
    assert wrong is not None
    assert wrong.startswith("the hashes of its events cannot be read")
    assert main(["session", "check", "--db", str(path)]) == 1
    assert "is not known" in capsys.readouterr().err


def test_an_export_that_is_no_text_is_named(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store(path) as store:
        lines = list(export_log(store, "zoo"))
    exported = tmp_path / "zoo.jsonl"
    for at, hashed in ((5, True), (5, False)):
        damaged = [line.encode() for line in lines]
        if not hashed:  # an old log, or one written by hand
            damaged = [re.sub(rb',"(hash|events)":[^,}]*', b"", line) for line in damaged]
        damaged[at] = damaged[at].replace(b'"by":"A', b'"by":"\xe9')
        exported.write_bytes(b"".join(damaged))
        where = ["--db", str(tmp_path / "b.db")]
        assert main(["session", "import", str(exported), *where]) == 1
        assert f"line {at + 1} is no UTF-8 text" in capsys.readouterr().err


# -- fuzz: set TELLAPART_MUTANTS to try more

MUTANTS = int(os.environ.get("TELLAPART_MUTANTS", "300"))


def damage_rows(connection: sqlite3.Connection, dice: random.Random) -> None:
    """One thing wrong in a random row of the session."""
    (count,) = connection.execute(f"SELECT count(*) FROM {EVENTS} {ZOO}").fetchone()
    number, other = dice.sample(range(1, count + 1), 2)
    at = f"{ZOO} AND number = ?"
    way = dice.randrange(10)
    if way < 5:
        table = EVENTS if way < 4 else "tellapart_hashes"
        column = dice.choice(["id", "at", "type", "teacher", "data"]) if way < 4 else "hash"
        cell = connection.execute(f"SELECT {column} FROM {table} {at}", (number,)).fetchone()[0]
        new = dice.choice([None, 17, b"\xff", "", "Ann"])
        if dice.random() < 0.8:
            new = mutate(cell or "null", dice)
        connection.execute(f"UPDATE OR IGNORE {table} SET {column} = ? {at}", (new, number))
    elif way == 5:
        connection.execute(f"DELETE FROM {EVENTS} {at}", (number,))
    elif way == 6:
        for old, new_number in ((number, -1), (other, number), (-1, other)):
            connection.execute(f"UPDATE {EVENTS} SET number = ? {at}", (new_number, old))
    elif way == 7:
        new = dice.choice([None, 17, -1, 3, b"\xff", "", "x", 1.5])
        connection.execute(f"UPDATE OR IGNORE tellapart_lengths SET number = ? {ZOO}", (new,))
    else:
        connection.execute(f"DELETE FROM {EVENTS} {ZOO} AND number >= ?", (number,))
        if way == 9:
            connection.execute(f"DELETE FROM tellapart_hashes {ZOO} AND number >= ?", (number,))


def test_no_mutated_database_is_another_log(path: Path) -> None:
    dice = random.Random(1)
    with Store(path) as store:
        log = store.log("zoo")
    with Store(path) as store, store.connected() as connection:
        for _ in range(MUTANTS):
            damage_rows(connection, dice)
            found = None
            with suppress(FormatError):
                found = [event for event, _ in store.read(connection, "zoo")]
            assert found in (None, log)
            connection.rollback()


def test_a_damaged_export_is_named(path: Path) -> None:
    """Every event has its hash in a text, too."""
    with Store(path) as store:
        log = store.log("zoo")
        lines = list(export_log(store, "zoo"))
    assert parse_log(lines) == log
    for number, line in enumerate(lines, 1):
        written = json.loads(line)
        changed = json.dumps(written | {"at": "2020-01-01T00:00:00.000Z"}) + "\n"
        damaged = [*lines[: number - 1], changed, *lines[number:]]
        with pytest.raises(FormatError, match=rf"event {number} is not as it was written"):
            parse_log(damaged)
        without = json.dumps({name: written[name] for name in written if name != "hash"}) + "\n"
        with pytest.raises(FormatError, match=rf"event {number} is not as it was written"):
            parse_log([*lines[: number - 1], without, *lines[number:]])
        if number > 1:
            with pytest.raises(FormatError, match=rf"cut off after event {number - 1}\."):
                parse_log(lines[: number - 1])
    swapped = [line.replace('"n":5', '"n":6') if '"n":5,' in line else line for line in lines]
    swapped[5] = lines[5].replace('"n":6', '"n":5')
    swapped[4:6] = swapped[5], swapped[4]
    with pytest.raises(FormatError, match="event 5 is not as it was written"):
        parse_log(swapped)
    with pytest.raises(FormatError, match="event 5 is missing"):
        parse_log([*lines[:4], *lines[5:]])


def test_no_mutated_export_is_another_log(path: Path) -> None:
    dice = random.Random(3)
    with Store(path) as store:
        log = store.log("zoo")
        lines = list(export_log(store, "zoo"))
    for _ in range(MUTANTS):
        mutated = list(lines)
        number = dice.randrange(len(lines))
        mutated[number] = mutate(mutated[number].rstrip("\n"), dice) + "\n"
        if dice.random() < 0.1:
            del mutated[dice.randrange(len(mutated))]
        found = None
        with suppress(FormatError):
            found = parse_log(mutated)
        assert found in (None, log), mutated[number]


@pytest.mark.slow
def test_a_mutated_text_is_refused_or_opens() -> None:
    """A text of an older version has no hashes: it may be another log, and what is no log is
    refused with a message."""
    dice = random.Random(2)
    logs = {ARCHIVE / "session-1.jsonl": lambda: Table(CELLS, id="name", name="zoo")}
    for name in ("auto", "capped", "robust", "strodff", "adaptive"):
        path = ARCHIVE / "0.1" / f"{name}.jsonl"
        kind = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))["table"]
        logs[path] = partial(table, kind, path.parent)
    texts = {path: path.read_text(encoding="utf-8").splitlines(keepends=True) for path in logs}
    opened = 0
    for _ in range(MUTANTS):
        path = dice.choice([*logs, *[next(iter(logs))] * 10])  # it is the shortest
        mutated = list(texts[path])
        number = dice.choice([0, dice.randrange(len(mutated))])
        mutated[number] = mutate(mutated[number].rstrip("\n"), dice) + "\n"
        try:
            events = parse_log(mutated)
            items = logs[path]()
            check_same(items, events[0].data["table"])
            State(Items(items), events)
            opened += 1
        except TellapartError:
            pass
    assert 0 < opened < MUTANTS
