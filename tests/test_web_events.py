"""Events for programs: the stream of a session, and the webhook of a server."""

from __future__ import annotations

import base64
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest

from api_clients import Client, three_people, write_tables
from server_process import ApiTeacher, ForkServer, serving, write_table
from tellapart.cli import main
from tellapart.errors import ParameterError, SessionError
from tellapart.sessions import Event, Session, Store
from tellapart.web import webhook
from tellapart.web.api import events as stream
from tellapart.web.webhook import SECRET, Webhook
from test_sessions_load import address

KEY = b"a key of at least 24 bytes"
KEPT_SECRET = "whsec_" + base64.b64encode(KEY).decode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tables(tmp_path)


def read_stream(text: str) -> list[dict[str, Any]]:
    """The events in a stream, each with its id."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        if "data" in fields:
            event = json.loads(fields["data"])
            assert int(fields["id"]) == event["n"]
            found.append(event)
    return found


class Follower(threading.Thread):
    """A program that reads a stream until it ends."""

    def __init__(self, client: httpx2.Client, path: str) -> None:
        super().__init__(daemon=True)
        self.client, self.path, self.text, self.ended = client, path, "", False

    def run(self) -> None:
        with self.client, self.client.stream("GET", self.path) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            for part in answer.iter_text():
                self.text += part
        self.ended = True

    def wait_for(self, number: int) -> list[dict[str, Any]]:
        end = time.monotonic() + 20
        while time.monotonic() < end:
            found = read_stream(self.text)
            if found and found[-1]["n"] >= number:
                return found
            time.sleep(0.01)
        raise AssertionError(f"event {number} did not come: {self.text[-500:]}")


# -- the stream


def test_the_stream_has_every_event_and_goes_on_after_the_last_one_seen(ann: Client) -> None:
    for word in ("one", "two", "three"):
        ann.call("POST", "/api/sessions/zoo/notes", json={"text": f"{word}\r\nline"})
    path = "/api/sessions/zoo/events"
    whole = ann.get(f"{path}?follow=false")
    assert whole.headers["content-type"].startswith("text/event-stream")
    log = [json.loads(line) for line in ann.get("/api/sessions/zoo/log").text.splitlines()]
    for line in log:
        line.pop("hash")
    del log[0]["events"]
    assert read_stream(whole.text) == log
    assert read_stream(ann.get(f"{path}?follow=false&after=2").text) == log[2:]
    again = ann.get(f"{path}?follow=false&after=0", headers={"last-event-id": "3"})
    assert read_stream(again.text) == log[3:]
    assert read_stream(ann.get(f"{path}?follow=false&after={len(log)}").text) == []


def test_wrong_places_in_a_log_are_refused(ann: Client) -> None:
    path = "/api/sessions/zoo/events"
    said = ann.call("GET", f"{path}?after=900", 409)
    assert "the last one seen was event 900" in said["error"]
    assert ann.get(path, headers={"last-event-id": "x"}).status_code == 422
    assert ann.get("/api/sessions/no/events").status_code == 404


def test_a_damaged_event_is_not_sent(tmp_path: Path) -> None:
    table = tmp_path / "zoo.csv"
    table.write_text("name,milk\nbear,true\nduck,false\n")
    with Store(tmp_path / "zoo.db") as store:
        session = Session.new(store, "zoo", table, reading={"id": "name"})
        for word in ("one", "two", "three"):
            session.note("Ann", word)
        session.close()
        with store.connected() as connection:
            connection.execute("UPDATE tellapart_events SET data = replace(data, 'two', 'too')")
            connection.commit()
        assert [event.number for event in store.tail("zoo", 0, 3)] == [1, 2, 3]
        for after in (0, 3):
            with pytest.raises(Exception, match="event 4 is not as it was written"):
                store.tail("zoo", after, 10)
        assert [event.data["text"] for event in store.tail("zoo", 4, 10)] == ["three"]
        with pytest.raises(SessionError, match="Begin with 0"):
            store.tail("zoo", 6, 10)


def test_a_teacher_gets_their_own_events_and_nobody_else_s(tmp_path: Path) -> None:
    path, names = "/api/sessions/zoo/events?follow=false", ("Ann", "Bob", "Carol")
    with three_people(tmp_path) as people:
        people["Bob"].call("POST", "/api/sessions/zoo/labels", json={"label": "fish"})
        people["Ann"].call("POST", "/api/sessions/zoo/undo", json={"teacher": "Bob", "id": "u1"})
        people["Carol"].call("POST", "/api/sessions/zoo/notes", json={"text": "mine"})
        ann, bob, carol = (read_stream(people[who].get(path).text) for who in names)
    assert [event["n"] for event in ann] == list(range(1, len(ann) + 1))
    assert {event["by"] for event in bob} == {"Bob", "Ann"}
    assert [event["id"] for event in bob if event["by"] == "Ann"] == ["u1"]
    assert {event["type"] for event in carol} == {"joined", "note", "label added"}
    assert [event["by"] for event in carol if event["type"] == "label added"] == [None]
    assert "bob" not in json.dumps(carol).lower()


@pytest.mark.slow
def test_a_silent_stream_is_kept_alive_and_a_caller_has_only_so_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from test_web_schema import TOKEN, Served

    monkeypatch.setattr(stream, "HEARTBEAT", 0.1)
    monkeypatch.setattr(stream, "MAX_STREAMS", 1)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with Served(tmp_path) as served:
        first, second = (
            httpx2.Client(base_url=served.address, headers=headers, timeout=30) for _ in range(2)
        )
        with first.stream("GET", "/api/sessions/zoo/events") as answer:
            parts, text = answer.iter_text(), ""
            while text.count(":\n\n") < 3:
                text += next(parts)
            assert read_stream(text)
            assert second.get("/api/sessions/zoo/events").status_code == 429
        end = time.monotonic() + 10
        while time.monotonic() < end:  # the server notices that the first has gone
            with second.stream("GET", "/api/sessions/zoo/events") as answer:
                if answer.status_code == 200:
                    break
            time.sleep(0.05)
        assert answer.status_code == 200
        first.close()
        second.close()
        served.app.state.tellapart.streams.stop()


@pytest.mark.slow
def test_a_stream_follows_teaching_and_ends_when_the_server_stops(tmp_path: Path) -> None:
    write_table(tmp_path / "things.csv")
    words = ("things.csv", "--id", "name")
    with serving(*words, cwd=tmp_path) as server:
        follower = Follower(server.client("Ann"), "/api/sessions/things/events")
        follower.start()
        seen = follower.wait_for(1)
        teacher = ApiTeacher(server, "Ann", "things", most=20)
        teacher.run()
        assert teacher.error is None
        with Store(tmp_path / "things.csv.sessions.db") as store:
            log = store.events("things")
        seen = follower.wait_for(len(log))
        assert [event["id"] for event in seen] == [event.id for event in log]
        began = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - began < 5
        follower.join(5)
        assert follower.ended, "the stream ends without an error"


# -- the webhook


class Receiver:
    """Takes what is sent, and answers as `script(number)` says: a status, "cut", or seconds."""

    def __init__(self, script: Any = lambda number: 200) -> None:
        self.script, self.messages, self.requests = script, [], 0
        self.lock = threading.Lock()

    def events(self) -> list[Event]:
        found = []
        for headers, body in list(self.messages):
            assert is_genuine(headers, body)
            found.append(Event.read(json.dumps(json.loads(body)["event"])))
        return found

    def wait_for(self, number: int) -> list[Event]:
        end = time.monotonic() + 30
        while time.monotonic() < end:
            found = self.events()
            if found and max(event.number for event in found) >= number:
                return found
            time.sleep(0.02)
        raise AssertionError(f"event {number} did not come; {len(self.messages)} did")

    @contextmanager
    def listening(self, port: int = 0) -> Iterator[str]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                with receiver.lock:
                    receiver.requests += 1
                    what = receiver.script(receiver.requests)
                    if what == 200:
                        receiver.messages.append((dict(self.headers.items()), body))
                if what == "cut":
                    self.close_connection = True
                    return
                self.send_response(what)
                self.send_header("Content-Length", "0")
                if what in (301, 302, 307, 308):
                    self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        http = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        http.daemon_threads = True
        threading.Thread(target=http.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{http.server_port}/hook?x=1"
        finally:
            http.shutdown()
            http.server_close()


def is_genuine(headers: dict[str, str], body: bytes, secret: str = KEPT_SECRET) -> bool:
    """What docs/serve.md says about a message."""
    page = Path(__file__).parents[1] / "docs" / "serve.md"
    code = re.search(r"```python\n(import base64.*?)```", page.read_text(), re.DOTALL)
    assert code
    names: dict[str, Any] = {}
    exec(code[1], names)
    return bool(names["is_genuine"](headers, body, secret))


def test_a_message_that_was_changed_is_not_genuine(session: Session) -> None:
    receiver = Receiver()
    with receiver.listening() as url, sending(session._log.writer.store, url) as hook:
        session.note("Ann", "one")
        hook.wake(session.name)
        receiver.wait_for(session.number)
    headers, body = receiver.messages[0]
    assert is_genuine(headers, body)
    assert not is_genuine(headers, body + b" ")
    assert not is_genuine({**headers, "Webhook-Id": "0" * 32}, body)
    earlier = str(int(headers["Webhook-Timestamp"]) - 1)
    assert not is_genuine({**headers, "Webhook-Timestamp": earlier}, body)
    assert not is_genuine(headers, body, "whsec_" + "A" * 32)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "MOST_BACKOFF", 0.05)


@contextmanager
def sending(store: Store, url: str) -> Iterator[Webhook]:
    hook = Webhook(url, KEPT_SECRET)
    hook.start(store)
    try:
        yield hook
    finally:
        hook.stop()


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    table = tmp_path / "zoo.csv"
    table.write_text("name,milk\nbear,true\nduck,false\n")
    with Store(tmp_path / "zoo.db") as store:
        session = Session.new(store, "zoo ü", table, reading={"id": "name"})
        yield session
        session.close()


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("trouble", [500, 404, 302, "cut"])
def test_what_is_not_received_is_sent_again_in_order(session: Session, trouble: object) -> None:
    store = session._log.writer.store
    receiver = Receiver(lambda number: trouble if number % 3 else 200)
    with receiver.listening() as url, sending(store, url) as hook:
        for number in range(4):
            session.note("Ann", f"note {number}")
            hook.wake(session.name)
        found = receiver.wait_for(session.number)
    # what was before this receiver is not sent
    assert [event.number for event in found] == list(range(2, session.number + 1))
    assert {json.loads(body)["session"] for _, body in receiver.messages} == {"zoo ü"}


@pytest.mark.usefixtures("quick")
def test_after_a_restart_it_goes_on_where_it_was(session: Session) -> None:
    store = session._log.writer.store
    receiver = Receiver()
    with receiver.listening() as url:
        with sending(store, url):
            session.note("Ann", "one")
        # it was not woken in time, and the server was down
        session.note("Ann", "two")
        with sending(store, url):
            receiver.wait_for(session.number)
        with sending(store, url) as hook:
            session.note("Ann", "three")
            hook.wake(session.name)
            found = receiver.wait_for(session.number)
    # what was under way when it stopped may come again, with the same id
    numbers = list(dict.fromkeys(event.number for event in found))
    assert numbers == list(range(2, session.number + 1))
    assert len(found) <= len(numbers) + 1
    ids = {headers["Webhook-Id"] for headers, _ in receiver.messages}
    assert len(ids) == len(numbers)


def test_postgresql_is_followed_and_keeps_the_place(
    tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "KEEP", 0.0)
    table = tmp_path / "zoo.csv"
    table.write_text("name,milk\nbear,true\nduck,false\n")
    receiver = Receiver()
    name = "webhook of %s?"
    with Store(address(postgres)) as store, receiver.listening() as url:
        session = Session.new(store, name, table, reading={"id": "name"})
        for word in ("one", "two"):
            with sending(store, url) as hook:
                session.note("Ann", word)
                hook.wake(name)
                receiver.wait_for(session.number)
        session.close()
        assert [event.number for event in store.tail(name, 1, 10)] == [2, 3, 4]
    assert [event.number for event in receiver.events()] == [2, 3, 4]


def test_a_receiver_that_never_answers_delays_nobody(session: Session) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        began = time.monotonic()
        with sending(session._log.writer.store, url) as hook:
            for number in range(20):
                session.note("Ann", f"note {number}")
                hook.wake(session.name)
        assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("url", "secret", "reason"),
    [
        ("ftp://example.org", KEPT_SECRET, "such as https://"),
        ("https://ann:hidden-word@example.org", KEPT_SECRET, "without name, password"),
        ("https://example.org", None, "whsec_ and then 24 to 64 random bytes"),
        ("https://example.org", "hidden-word", "whsec_ and then 24 to 64 random bytes"),
    ],
)
def test_a_wrong_address_or_secret_is_refused_and_not_shown(
    url: str, secret: str | None, reason: str
) -> None:
    with pytest.raises(ParameterError, match=reason) as raised:
        Webhook(url, secret)
    assert "hidden-word" not in str(raised.value)


@pytest.mark.slow
def test_killed_and_started_again_the_server_skips_no_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SECRET, KEPT_SECRET)
    write_table(tmp_path / "things.csv")
    receiver = Receiver(lambda number: 503 if number % 50 == 7 else 200)
    with receiver.listening() as url, ForkServer() as fork_server:
        words = ("things.csv", "--id", "name", "--rate", "10000", "--webhook", url)
        for rounds in range(3):
            with serving(*words, cwd=tmp_path, fork_server=fork_server) as server:
                teacher = ApiTeacher(server, "Ann", "things", most=30)
                teacher.run()
                assert teacher.error is None
                if rounds == 2:
                    receiver.wait_for(_last(tmp_path))
                server.kill()
    with Store(tmp_path / "things.csv.sessions.db") as store:
        log = store.events("things")
    first: dict[int, Event] = {}
    for event in receiver.events():
        first.setdefault(event.number, event)
    assert list(first) == [event.number for event in log if event.number > 1]
    assert [event.id for event in first.values()] == [event.id for event in log[1:]]
    ids = {headers["Webhook-Id"] for headers, _ in receiver.messages}
    assert len(ids) == len(first), "sent again, an event has the id that it had"
    for file in [server.log, *tmp_path.glob("*.db*")]:
        assert KEPT_SECRET[6:].encode() not in file.read_bytes()
        assert url.encode() not in file.read_bytes()


def _last(folder: Path) -> int:
    with Store(folder / "things.csv.sessions.db") as store:
        return len(store.events("things"))


@pytest.mark.slow
def test_a_server_stops_in_time_though_its_receiver_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SECRET, KEPT_SECRET)
    write_table(tmp_path / "things.csv")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with serving("things.csv", "--id", "name", "--webhook", url, cwd=tmp_path) as server:
            teacher = ApiTeacher(server, "Ann", "things", most=10)
            teacher.run()
            assert teacher.error is None
            began = time.monotonic()
            assert server.stop() == 0
            assert time.monotonic() - began < 8


def test_serve_wants_the_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(SECRET, raising=False)
    monkeypatch.chdir(tmp_path)
    assert main(["serve", "--webhook", "https://example.org"]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"tellapart: {SECRET} must have whsec_")
    assert not list(tmp_path.iterdir()), "nothing was begun"
