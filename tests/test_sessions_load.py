"""Many teachers at once, and a server that is killed: nothing lost, nothing doubled."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import postgres_server
from server_process import ApiTeacher, Server, write_table
from teaching import animals, fill_disk, truth, words
from tellapart.errors import SessionError, StoreError
from tellapart.sessions import Event, Given, Session, Store
from tellapart.sessions.events import check_log, seconds

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
KILLS = int(os.environ.get("TELLAPART_KILLS", "10"))


def address(postgres: str) -> str:
    parts = dict(part.split("=", 1) for part in postgres.split())
    return f"postgresql://{parts['user']}@/{parts['dbname']}?host={parts['host']}"


def check_leases(events: list[Event]) -> None:
    """No item is leased to two teachers at a time."""
    leases: dict[Any, tuple[str | None, float]] = {}
    held: dict[str | None, Any] = {}
    for event in events:
        item = event.data.get("item")
        if event.type == "given":
            holder, until = leases.get(item, (event.by, 0.0))
            assert holder == event.by or until <= seconds(event.at), event
            if held.get(event.by) not in (None, item):
                leases.pop(held[event.by], None)
            leases[item] = (event.by, seconds(event.data["until"]))
            held[event.by] = item
        elif event.type == "answered" and leases.get(item, (None,))[0] == event.by:
            del leases[item]
            held.pop(event.by)


def rules(session: Session) -> list[str]:
    return [str(clause) for clause in session.model]


@pytest.mark.parametrize(("kind", "teachers"), [("sqlite", 8), ("postgres", 16)])
def test_many_teachers_at_once(
    kind: str, teachers: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    place = tmp_path / "a.db" if kind == "sqlite" else address(request.getfixturevalue("postgres"))
    answers = 320
    with Store(place) as store:
        name = f"many {random.random()}"
        options: dict[str, Any] = {"overlap": 0.1, "order": "random"}
        session = Session.new(store, name, animals(1000), learner="AdaptiveDFF", **options)
        acknowledged: list[str] = []
        troubles: list[BaseException] = []

        def work(teacher: str) -> None:
            try:
                for number in range(answers // teachers):
                    given = session.next(teacher)
                    assert isinstance(given, Given)
                    said = words(session, given, None if number % 9 else "newt")
                    event = f"{teacher}-{number}"
                    for _ in range(1 + (number % 5 == 0)):  # sometimes it is sent twice
                        session.answer(teacher, given.id, *said, id=event)
                    acknowledged.append(event)
            except BaseException as trouble:
                troubles.append(trouble)

        threads = [threading.Thread(target=work, args=(f"t{n}",)) for n in range(teachers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert troubles == []
        events = store.log(name)
        written = Counter(event.id for event in events if event.type == "answered")
        assert written == Counter(acknowledged)
        assert len(acknowledged) == answers
        check_log(events)
        check_leases(events)
        before = rules(session), session.summary()
        session.close()
        with Session.open(store, name, animals(1000)) as again:
            assert (rules(again), again.summary()) == before


def test_leases_are_checked_by_a_check_that_can_fail() -> None:
    at, until = "2026-11-16T08:00:00.000Z", "2026-11-16T08:10:00.000Z"
    data = {"item": "bear", "label": None, "example": None, "asks": "label", "until": until}
    doubled = [Event(n, str(n), at, "given", who, data) for n, who in ((1, "Ann"), (2, "Bob"))]
    with pytest.raises(AssertionError):
        check_leases(doubled)
    check_leases(doubled[:1])


def test_one_server_per_session_on_postgres(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tellapart.sessions.postgres.PATIENCE", 0.1)
    with Store(address(postgres)) as one, Store(address(postgres)) as other:
        session = Session.new(one, "shared", animals(), learner="DFF")
        with pytest.raises(SessionError, match="'shared' is open in another server"):
            Session.open(other, "shared", animals())
        Session.new(other, "apart", animals(), learner="DFF").close()  # another session is free
        assert {"shared", "apart"} <= {listed.name for listed in other.sessions()}
        session.close()
        Session.open(other, "shared", animals()).close()


@pytest.mark.parametrize("driver", ["psycopg", "psycopg2", "asyncpg"])
def test_an_address_as_sqlalchemy_writes_it(postgres: str, driver: str) -> None:
    written = address(postgres).replace("postgresql:", f"postgresql+{driver}:")
    written = written.replace("test@", "test:se/cret@") + "&application_name=a+b"
    with Store(written) as store, store.connected() as connection:
        assert connection.execute("SHOW application_name").fetchone() == ("a b",)
        assert "se/cret" not in store.where
        assert store.where.startswith("postgresql://test:***@/postgres?host=")


def test_a_server_that_has_just_gone_is_waited_for(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tellapart.sessions.postgres.PATIENCE", 60)
    with Store(address(postgres)) as one, Store(address(postgres)) as other:
        going = threading.Timer(0.1, Session.new(one, "gone", animals(), learner="DFF").close)
        going.start()
        Session.open(other, "gone", animals()).close()
        going.join()


def test_a_postgres_connection_that_breaks(postgres: str) -> None:
    with Store(address(postgres)) as store:
        session = Session.new(store, "broken", animals(), learner="DFF")
        given = session.next("Ann")
        assert isinstance(given, Given)
        with store.connected() as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"  # and wait for it
                " WHERE pid <> pg_backend_pid() AND datname = current_database()"
            )
        with pytest.raises(SessionError, match="cannot be written: the server went away"):
            session.answer("Ann", given.id, "wrong", truth(given.item), id="a")
        saved = session.answer("Ann", given.id, "wrong", truth(given.item), id="a")
        assert saved.outcome == "label"
        assert [a.event for a in session.history()] == ["a"]
        session.close()


@contextmanager
def hanging(postgres: str) -> Iterator[None]:
    """A server that no longer answers, and never says so."""
    import psycopg

    with psycopg.connect(postgres, autocommit=True) as base:
        found = base.execute("SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
        pids = [pid for (pid,) in found.fetchall()]
        folder = base.execute("SHOW data_directory").fetchone()
    assert folder
    pids.insert(0, int((Path(folder[0]) / "postmaster.pid").read_text().split()[0]))
    try:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def test_a_postgres_that_hangs(needs: Any) -> None:
    needs("postgres")
    with (
        postgres_server.server() as postgres,
        Store(address(postgres), patience=2) as store,
        Session.new(store, "hangs", animals(), learner="DFF") as session,
    ):
        given = session.next("Ann")
        assert isinstance(given, Given)
        said = ("wrong", truth(given.item))
        with hanging(postgres):
            for _ in range(2):  # in the middle, and when it connects anew
                started = time.monotonic()
                with pytest.raises(StoreError, match=r"it does not answer. Is the server running"):
                    session.answer("Ann", given.id, *said, id="a")
                assert time.monotonic() - started < 6
            with pytest.raises(StoreError, match="it does not answer"):
                session.check_store()
        session.answer("Ann", given.id, *said, id="a")
        assert [one.event for one in session.history()] == ["a"]
        session.check_store()


def test_a_postgres_table_that_another_has_locked(postgres: str) -> None:
    import psycopg

    with (
        Store(address(postgres), patience=4) as store,
        psycopg.connect(postgres) as base,
        Session.new(store, "locked", animals(), learner="DFF") as session,
    ):
        session.join("Ann")
        base.execute("LOCK TABLE tellapart_events")
        with pytest.raises(StoreError, match="another program has it locked"):
            session.note("Ann", "a", id="a")
        base.rollback()
        session.note("Ann", "a", id="a")
        assert len(session.notes()) == 1


def test_told_to_stop_while_postgres_hangs(needs: Any, tmp_path: Path) -> None:
    needs("postgres")
    team = {name: f"token-of-{name}-000001" for name in ("Ann", "Bob", "Cem", "Dua")}
    write_table(tmp_path / "things.csv", 200)
    with postgres_server.server() as postgres:
        words = ("things.csv", "--id", "name", "--db", address(postgres))
        server = Server(*words, cwd=tmp_path, tokens=team).start()
        teachers = [ApiTeacher(server, name, "things") for name in team]
        for teacher in teachers:
            teacher.start()
        time.sleep(1)
        with hanging(postgres):
            time.sleep(1)
            with server.client("Ann") as client:
                assert client.get("/health", timeout=20).status_code == 503
            started = time.monotonic()
            server.stop()
            assert time.monotonic() - started < 15  # ten, and what a busy machine adds
        for teacher in teachers:
            teacher.join(60)
        with Store(address(postgres)) as store:
            written = Counter(event.id for event in store.log("things"))
        assert all(written[one] == 1 for teacher in teachers for one in teacher.acknowledged)


def start_writer(place: str, seed: int) -> subprocess.Popen[str]:
    """A server under load, when it is ready."""
    path = os.pathsep.join([str(HERE), str(HERE.parent / "src"), os.environ.get("PYTHONPATH", "")])
    server = subprocess.Popen(
        [sys.executable, str(HERE / "session_writer.py"), place, "load", str(seed)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path, "POLARS_MAX_THREADS": "1"},
    )
    assert server.stdout is not None
    assert json.loads(server.stdout.readline()) == ["ready"]
    return server


def run_and_kill(place: str, seed: int, dice: random.Random) -> list[list[Any]]:
    """Start a server, kill it at some moment after some answers, and give back all that it said."""
    server = start_writer(place, seed)
    assert server.stdout is not None
    lines: list[str] = []
    answers = (30, 0, 12, 1)[seed % 4]
    while sum(line.startswith('["ack"') for line in lines) < answers:
        lines.append(server.stdout.readline())
        assert lines[-1], "it ended by itself"
    time.sleep(dice.uniform(0, 0.01))
    server.kill()
    lines += server.stdout.readlines()
    server.stdout.close()
    server.wait()
    return [json.loads(line) for line in lines if line.endswith("\n")]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_killed_at_any_moment(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """TELLAPART_KILLS=100 for the long run; two in three kills fall on SQLite."""
    sqlite = kind == "sqlite"
    place = str(tmp_path / "a.db") if sqlite else address(request.getfixturevalue("postgres"))
    dice = random.Random(KILLS)
    acknowledged: dict[str, int] = {}
    for kill in range(max(1, KILLS * (2 if sqlite else 1) // 3)):
        said = run_and_kill(place, kill, dice)
        acked = {event: number for word, event, number, *_ in said if word == "ack"}
        open_tries = {words[1]: words[2:] for words in said if words[0] == "try"}
        assert not acknowledged.keys() & acked.keys()
        acknowledged |= acked
        with Store(place) as store:
            events = store.log("load")
            numbers = {event.id: event.number for event in events}
            assert len(numbers) == len(events)
            assert {event: numbers.get(event) for event in acknowledged} == acknowledged
            check_leases(events)
            if kill % 3 == 2:
                with Session.open(store, "load", animals(3000)) as session:
                    # whoever got no answer asks again, with the same id
                    for event, (teacher, given, words_said) in open_tries.items():
                        saved = session.answer(teacher, given, *words_said, id=event)
                        acknowledged[event] = saved.number
                    live = rules(session), session.summary()
                with Session.open(store, "load", animals(3000)) as session:
                    assert (rules(session), session.summary()) == live
    assert len(acknowledged) > KILLS


# -- killed while the database is attacked


class Attacked:
    """A server that is attacked, then killed; `said` is all that it said."""

    def __init__(self, place: str, seed: int) -> None:
        self.said: list[list[Any]] = []
        self._server = start_writer(place, seed)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._server.stdout is not None
        for line in self._server.stdout:
            if line.endswith("\n"):
                self.said.append(json.loads(line))

    def count(self, word: str) -> int:
        return sum(words_said[0] == word for words_said in self.said)

    def wait(self, word: str, more: int) -> None:
        """Wait until it has said something so many times more."""
        wanted, end = self.count(word) + more, time.monotonic() + 60
        while self.count(word) < wanted:
            assert self._server.poll() is None, "it ended by itself"
            assert time.monotonic() < end, f"no {word!r}; last {self.said[-3:]}"
            time.sleep(0.001)

    def kill(self) -> dict[str, int]:
        """kill -9; returns the events that were acknowledged, and their numbers."""
        self._server.kill()
        self._reader.join()
        self._server.communicate()
        return {one[1]: one[2] for one in self.said if one[0] == "ack"}


def check_written(place: str, acknowledged: dict[str, int]) -> None:
    with Store(place) as store:
        events = store.log("load")
        numbers = {event.id: event.number for event in events}
        assert len(numbers) == len(events)
        assert {one: numbers.get(one) for one in acknowledged} == acknowledged
        Session.open(store, "load", animals(3000)).close()


@pytest.mark.parametrize("attack", ["delete", "replace", "move"])
def test_killed_after_the_file_went_away(attack: str, tmp_path: Path) -> None:
    """What was acknowledged is in the file that it was written to, and the server noticed."""
    dice = random.Random(KILLS)
    for kill in range(max(1, KILLS // 3)):
        path = tmp_path / f"{kill}.db"
        server = Attacked(str(path), kill)
        server.wait("ack", dice.randint(1, 30))
        kept = {end: path.with_name(path.name + end).open("rb") for end in ("", "-wal")}
        if attack == "replace":
            shutil.copy(path, tmp_path / "copy.db")
            (tmp_path / "copy.db").replace(path)
        for name in tmp_path.glob(path.name + "*"):
            if attack == "delete":
                name.unlink()
            elif attack == "move":
                name.rename(tmp_path / f"moved-{name.name}")
        server.wait("refused", 1)
        time.sleep(dice.uniform(0, 0.05))
        before = server.count("ack")
        server.wait("refused", 5)
        assert server.count("ack") == before, "acknowledged into nowhere"
        acknowledged = server.kill()
        for name in tmp_path.glob(path.name + "*"):
            name.unlink()
        for end, file in kept.items():  # what the server wrote to
            path.with_name(path.name + end).write_bytes(file.read())
            file.close()
        check_written(str(path), acknowledged)
        for name in tmp_path.glob("*"):
            name.unlink()


def test_killed_on_a_full_disk(small_disk: Path) -> None:
    dice = random.Random(KILLS)
    for kill in range(max(1, KILLS // 3)):
        path = small_disk / f"{kill}.db"
        server = Attacked(str(path), kill)
        server.wait("ack", dice.randint(1, 10))
        fill_disk(small_disk)
        server.wait("refused", dice.randint(1, 5))
        if kill % 2:
            (small_disk / "ballast").unlink()
            server.wait("ack", 3)
        acknowledged = server.kill()
        (small_disk / "ballast").unlink(missing_ok=True)
        check_written(str(path), acknowledged)
        for name in small_disk.glob("*"):
            name.unlink()


def test_killed_while_postgres_is_killed(needs: Any) -> None:
    needs("postgres")
    import psycopg

    dice = random.Random(KILLS)
    with postgres_server.server() as postgres:
        for kill in range(max(1, KILLS // 3)):
            with psycopg.connect(postgres, autocommit=True) as base:
                for name in ("events", "hashes", "lengths", "snapshots", "models"):
                    base.execute(f"DROP TABLE IF EXISTS tellapart_{name}")
            server = Attacked(address(postgres), kill)
            server.wait("ack", dice.randint(1, 30))
            with psycopg.connect(postgres, autocommit=True) as base:
                found = base.execute(
                    "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND"
                    " backend_type = 'client backend'"
                ).fetchall()
            os.kill(found[0][0], signal.SIGKILL)  # all others end, and the log is recovered
            if kill % 2:
                server.wait("ack", 3)
            acknowledged = server.kill()
            end = time.monotonic() + 60
            while True:
                try:
                    psycopg.connect(postgres).close()
                    break
                except psycopg.OperationalError:
                    assert time.monotonic() < end
                    time.sleep(0.05)
            check_written(address(postgres), acknowledged)
