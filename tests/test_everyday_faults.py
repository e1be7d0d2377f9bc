"""What happens every day: a slow disk, a clock that jumps, a laptop that sleeps, two versions."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from server_process import Server, serving, write_table
from tellapart.errors import FormatError
from tellapart.sessions import Event, Session, Store, export_log, import_log
from tellapart.sessions.events import check_log, stamp
from tellapart.tables import Table
from tellapart.web import People, Person
from zoo_session import ZOO, Clock, answer, give, zoo

NEXT, ANSWERS = "/api/sessions/things/next", "/api/sessions/things/answers"


def said(client: httpx2.Client, id: str) -> dict[str, Any]:
    """The first answer of a session of `write_table`."""
    given = client.post(NEXT, json={"candidates": False}).json()["given"]
    return {"id": id, "given": given["id"], "answer": "wrong", "label": "odd", "next": False}


def answered(client: httpx2.Client) -> list[str]:
    """The ids of the answers in the log."""
    log = client.get("/api/sessions/things/log").text.splitlines()
    return [one["id"] for one in map(json.loads, log) if one["type"] == "answered"]


class Later(threading.Thread):
    """A request whose answer takes a while; its status at the end."""

    def __init__(self, client: httpx2.Client, body: dict[str, Any]) -> None:
        super().__init__(daemon=True)
        self.client, self.body, self.status = client, body, 0
        self.start()

    def run(self) -> None:
        self.status = self.client.post(ANSWERS, json=self.body).status_code


# -- a slow disk


@pytest.fixture
def slow_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system on a loop device, which `fsfreeze` stops and lets go on."""
    image, place = tmp_path / "image", tmp_path / "disk"
    place.mkdir()
    with image.open("wb") as file:
        file.truncate(64 * 2**20)
    try:
        for command in (["mkfs.ext4", "-q", str(image)], ["mount", "-o", "loop", image, place]):
            subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no file system can be mounted here: {error}")
    try:
        if shutil.which("fsfreeze") is None:
            pytest.skip("there is no fsfreeze here")
        yield place
    finally:
        freeze(place, "--unfreeze", check=False)
        subprocess.run(["umount", "-l", str(place)], check=True)


def freeze(place: Path, how: str = "--freeze", *, check: bool = True) -> None:
    subprocess.run(["fsfreeze", how, str(place)], check=check, capture_output=True)


@pytest.mark.slow
def test_an_answer_waits_for_a_disk_that_hangs(slow_disk: Path, tmp_path: Path) -> None:
    """It is acknowledged when it is on the disk, and not before; others are served meanwhile."""
    write_table(tmp_path / "things.csv", 200)
    place = str(slow_disk / "sessions.db")
    with (
        serving("things.csv", "--id", "name", "--db", place, cwd=tmp_path) as server,
        server.client("Ann") as ann,
        server.client("Ann") as other,
    ):
        body = said(ann, "a1")
        freeze(slow_disk)
        try:
            waits = Later(ann, body)
            waits.join(2)
            assert waits.is_alive(), "an answer was acknowledged that is not on the disk"
            for _ in range(5):
                began = time.monotonic()
                assert other.get("/api/me").status_code == 200
                assert time.monotonic() - began < 1
        finally:
            freeze(slow_disk, "--unfreeze")
        waits.join(30)
        assert waits.status == 200
        assert ann.post(ANSWERS, json=body).status_code == 200  # sent once more
        assert answered(ann) == ["a1"]


# -- a laptop that sleeps in mid-answer


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Server]:
    write_table(tmp_path / "things.csv", 200)
    with serving("things.csv", "--id", "name", cwd=tmp_path) as server:
        yield server


@pytest.mark.slow
def test_a_server_that_sleeps_takes_an_answer_once(served: Server) -> None:
    with served.client("Ann") as ann:
        body = said(ann, "a1")
        os.kill(served.pid, signal.SIGSTOP)
        try:
            with pytest.raises(httpx2.TimeoutException):
                ann.post(ANSWERS, json=body, timeout=1)
        finally:
            os.kill(served.pid, signal.SIGCONT)
        assert ann.post(ANSWERS, json=body).status_code == 200
        assert answered(ann) == ["a1"]


SLEEPER = """
import socket, sys, time
host, port, token, body = sys.argv[1:]
head = f"POST /api/sessions/things/answers HTTP/1.1\\r\\nHost: {host}:{port}\\r\\nConnection: close"
head += f"\\r\\nAuthorization: Bearer {token}\\r\\nContent-Type: application/json"
sent = f"{head}\\r\\nContent-Length: {len(body)}\\r\\n\\r\\n{body}".encode()
with socket.create_connection((host, int(port))) as server:
    server.sendall(sent[:-20])
    print("half", flush=True)
    time.sleep(0.5)
    server.sendall(sent[-20:])
    print(server.recv(100).split()[1].decode(), flush=True)
"""


@pytest.mark.slow
def test_a_client_that_sleeps_in_mid_answer_holds_nobody_up(served: Server) -> None:
    with served.client("Ann") as ann:
        body = said(ann, "a1")
        _, host, port = served.address.replace("//", "").split(":")
        words = [host, port, served.tokens["Ann"], json.dumps(body)]
        with subprocess.Popen(
            [sys.executable, "-c", SLEEPER, *words], stdout=subprocess.PIPE, text=True
        ) as sleeper:
            assert sleeper.stdout is not None
            try:
                assert sleeper.stdout.readline() == "half\n"
                sleeper.send_signal(signal.SIGSTOP)
                time.sleep(1)
                began = time.monotonic()
                assert ann.get("/api/sessions/things/progress").status_code == 200
                assert answered(ann) == []
                assert time.monotonic() - began < 5
                sleeper.send_signal(signal.SIGCONT)
                assert sleeper.stdout.readline() == "200\n"
            finally:
                sleeper.kill()
        assert answered(ann) == ["a1"]


# -- a clock that jumps

JUMPS = [3600, -7200, 0.3, -5.5, 86_400 * 400, -86_400 * 800]
"""Summer time, NTP, and a clock that was set wrong for years."""


def test_a_clock_that_jumps_loses_nothing(store: Store, tmp_path: Path) -> None:
    clock = Clock()
    labels = {"bear": "mammal", "lion": "mammal", "duck": "bird", "crow": "bird"}
    with zoo(store, lease=60, clock=clock) as session:
        moments = []
        for jump in JUMPS:
            given = give(session, "Ann")
            clock.now += jump
            label = labels.get(str(given.item), "fish")
            words = ("right",) if given.guess.label == label else ("wrong", label)
            session.answer("Ann", given.id, *words)
            moments.append(stamp(clock.now))
            assert session.about()
            assert session.history()
        events, model = store.log("zoo"), session.model
    assert [event.at for event in events if event.type == "answered"] == moments
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    check_log(events)
    with Store(tmp_path / "copy.db") as copy:
        import_log(copy, export_log(store, "zoo"))
        assert [event.id for event in copy.log("zoo")] == [event.id for event in events]
        with Session.open(copy, "zoo", Table(ZOO, id="name"), clock=clock) as session:
            assert session.model == model


def test_a_cookie_lives_through_an_hour_more_or_less() -> None:
    clock = Clock()
    people = People([Person("Ann", "a" * 16, owner=True)], clock=clock)
    cookie = people.cookie(people.all[0])
    for jump in (3600, -7200, 3600):
        clock.now += jump
        assert people.by_cookie(cookie) is people.all[0]
    clock.now += 31 * 86_400
    assert people.by_cookie(cookie) is None
    assert people.by_token("a" * 16) is people.all[0]  # from which a new cookie is made


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the time zone cannot be changed here")
def test_summer_time_does_not_come_into_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """In Berlin it was twice half past two on 25 October 2026."""
    for zone in ("Europe/Berlin", "UTC"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        found = [stamp(1792886400 + minutes * 60) for minutes in (30, 90)]
        assert found == ["2026-10-25T00:30:00.000Z", "2026-10-25T01:30:00.000Z"]
    monkeypatch.undo()
    time.tzset()


# -- two versions on one database, one after the other


def test_what_a_newer_version_wrote_is_refused_and_left_alone(store: Store) -> None:
    with zoo(store) as session:
        answer(session, "Ann", "wrong", "mammal")
    log = store.log("zoo")
    first = replace(log[0], data={**log[0].data, "format": 9})
    later = Event(len(log) + 1, "x1", log[-1].at, "danced", "Ann", {})
    store.add("format", [first, *log[1:]])
    store.add("event", [*log, later])

    def rows() -> list[Any]:
        with store.connected() as connection:
            query = "SELECT * FROM tellapart_events WHERE session <> 'zoo' ORDER BY session, number"
            return connection.execute(query).fetchall()

    before = rows()
    for name, message in (("format", "format 9.*Upgrade"), ("event", "newer tellapart")):
        with pytest.raises(FormatError, match=message):
            Session.open(store, name, Table(ZOO, id="name"))
    assert rows() == before
    with Session.open(store, "zoo", Table(ZOO, id="name")) as session:  # beside them
        assert session.label_of("bear") == "mammal"
