"""`tellapart serve` as a process: it starts, it is killed, it stops, and nothing is lost."""

from __future__ import annotations

import os
import random
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from server_process import ApiTeacher, ForkServer, serving, write_table
from tellapart.sessions import Store, replies
from tellapart.sessions.items import Items
from tellapart.sessions.log import State
from tellapart.tables import read_table
from tellapart.web.app import listen

pytestmark = pytest.mark.slow

ROUNDS = int(os.environ.get("TELLAPART_KILLS", "10"))
TEAM = {"Ann": "token-of-the-owner-1", "Bob": "token-of-bob-000001", "Eve": "token-of-eve-000001"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_table(tmp_path / "things.csv")
    return tmp_path


def replayed(folder: Path) -> str:
    """The model that the log comes to, read without the server."""
    table = read_table(folder / "things.csv", id="name")
    with Store(folder / "things.csv.sessions.db") as store:
        state = State(Items(table), store.log("things"))
    return replies.named_model(state, state.learning.model).to_json()


def test_killed_at_any_moment_under_load(folder: Path) -> None:
    """Every acknowledged answer is there exactly once, and the model is what the log comes to."""
    dice = random.Random(0)
    acknowledged: dict[str, str] = {}
    words = ("things.csv", "--id", "name", "--learner", "AdaptiveDFF")
    with ForkServer() as fork_server:
        for _ in range(ROUNDS):
            with serving(*words, cwd=folder, tokens=TEAM, fork_server=fork_server) as server:
                teachers = [ApiTeacher(server, name, "things") for name in TEAM]
                for teacher in teachers:
                    teacher.start()
                wait_for(teachers, dice.randint(1, 30))
                time.sleep(dice.uniform(0, 0.03))
                server.kill()
                for teacher in teachers:
                    teacher.join(60)
                    assert teacher.error is None
                    acknowledged |= teacher.acknowledged
            check_log(folder, acknowledged)
        assert len(acknowledged) >= 5 * ROUNDS
        with (
            serving(*words, cwd=folder, tokens=TEAM, fork_server=fork_server) as server,
            server.client("Ann") as client,
        ):
            model = client.get("/api/sessions/things/export?to=json").text.strip()
            assert model == replayed(folder)
            # what was sent and not acknowledged may be sent again
            undo = {"id": "again"}
            first, second = (
                client.post("/api/sessions/things/undo", json=undo).json() for _ in range(2)
            )
            assert first == second


def wait_for(teachers: list[ApiTeacher], answers: int) -> None:
    """Wait until so many answers were acknowledged."""
    while sum(len(teacher.acknowledged) for teacher in teachers) < answers:
        errors = [teacher.error for teacher in teachers]
        assert any(teacher.is_alive() for teacher in teachers), errors
        time.sleep(0.001)


def check_log(folder: Path, acknowledged: dict[str, str]) -> None:
    """All of these answers are in the log, once, and about these items."""
    with Store(folder / "things.csv.sessions.db") as store:
        log = store.log("things")
    answers = [event for event in log if event.type == "answered"]
    told = {event.id: event.data["item"] for event in answers}
    assert len(told) == len(answers)
    assert told.items() >= acknowledged.items()


def test_told_to_stop_it_finishes_and_closes(folder: Path) -> None:
    words = ("things.csv", "--id", "name")
    with serving(*words, cwd=folder, tokens=TEAM) as server:
        with server.client("Ann") as client:
            client.get(f"/?token={TEAM['Ann']}")
            client.get("/api/sessions/things/history?item=i3")
        teachers = [ApiTeacher(server, name, "things") for name in TEAM]
        for teacher in teachers:
            teacher.start()
        wait_for(teachers, 20)
        assert server.stop() == 0
        for teacher in teachers:
            teacher.join(60)
            assert teacher.error is None or "stopping" in teacher.error
    acknowledged = dict(pair for teacher in teachers for pair in teacher.acknowledged.items())
    check_log(folder, acknowledged)
    with Store(folder / "things.csv.sessions.db") as store:
        store.claim("things")  # nobody holds it any more
        store.release("things")
    # the log of the server: lines of JSON, and nothing of what is in the table
    lines = server.lines()
    assert lines[-1]["event"] == "stopped"
    assert all({"at", "level", "event"} <= line.keys() for line in lines)
    assert "/api/sessions/{session}/answers" in {line.get("route") for line in lines}
    assert not re.search(r"\bi\d+\b|token|odd", server.log.read_text())
    # and since the table changed
    write_table(folder / "things.csv", 3999)
    said = refused("things.csv", cwd=folder)
    assert "had 4,000 items and now has 3,999" in said


def refused(*words: str, cwd: Path) -> str:
    """What a server says that cannot start."""
    command = [sys.executable, "-m", "tellapart", "serve", *words]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert len(done.stderr.splitlines()) == 1
    return done.stderr


def test_on_a_network_and_beside_another(folder: Path) -> None:
    words = ("things.csv", "--id", "name", "--host", "0.0.0.0")
    (folder / "tellapart.toml").write_text('[serve]\nallow_host = ["teach.test"]\n')
    with serving(*words, cwd=folder) as server:
        port = server.address.rpartition(":")[2]
        server.address = f"http://127.0.0.1:{port}"
        with server.client("Ann") as client:
            for host, status in (("teach.test", 200), ("evil.test", 403), ("10.1.2.3", 200)):
                assert client.get("/api/me", headers={"host": host}).status_code == status
            said = refused("things.csv", "--port", "0", cwd=folder)
            assert "being written by another program" in said
            assert str(server.pid) in said
            assert "--port" in refused("--port", port, "--db", "other.db", cwd=folder)
            assert client.get("/api/sessions/things").status_code == 200


def test_a_token_that_lasts_is_not_printed(folder: Path) -> None:
    with serving("things.csv", "--id", "name", "--teacher", "Zoe", cwd=folder, tokens=TEAM) as one:
        said = one.out.read_text() + one.log.read_text()
        with one.client("Ann") as client:
            assert client.get("/api/me").json()["owner"]
    assert not any(token in said for token in TEAM.values())
    assert "Ann: http://127.0.0.1" in said
    assert "/?token=$TELLAPART_TOKEN\n" in said
    assert re.search(r"Zoe: http://\S+/\?token=[\w-]{32}\n", said)


def test_answers_are_sent_without_delay() -> None:
    """asyncio turns Nagle's delay of 40 ms off only on sockets that are TCP by name."""
    with listen("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP
