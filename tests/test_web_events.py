"""Events for programs: the stream of a session."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest

from api_clients import Client, three_people, write_tables
from server_process import ApiTeacher, serving, write_table
from tellapart.errors import SessionError
from tellapart.sessions import Session, Store
from tellapart.web.api import events as stream


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
        served.app.state.tellapart.streams.stopped = True


@pytest.mark.slow
def test_streams_asked_for_at_once_are_counted_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from test_web_schema import TOKEN, Served

    monkeypatch.setattr(stream, "MAX_STREAMS", 5)
    headers = {"Authorization": f"Bearer {TOKEN}"}

    async def ask(client: httpx2.AsyncClient, path: str) -> int:
        async with client.stream("GET", path) as answer:
            await asyncio.sleep(1)
            return answer.status_code

    async def ask_all(address: str, session: str) -> list[int]:
        path, limits = f"/api/sessions/{session}/events", httpx2.Limits(max_connections=30)
        async with httpx2.AsyncClient(
            base_url=address, headers=headers, limits=limits, timeout=30
        ) as client:
            return await asyncio.gather(*(ask(client, path) for _ in range(30)))

    with Served(tmp_path) as served:
        assert 200 not in asyncio.run(ask_all(served.address, "none"))
        for _ in range(3):  # those that failed or ended have given their places back
            end, found = time.monotonic() + 20, 0
            while found == 0 and time.monotonic() < end:
                found = asyncio.run(ask_all(served.address, "zoo")).count(200)
            assert found == 5
        served.app.state.tellapart.streams.stopped = True


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
            log = store.log("things")
        seen = follower.wait_for(len(log))
        assert [event["id"] for event in seen] == [event.id for event in log]
        began = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - began < 5
        follower.join(5)
        assert follower.ended, "the stream ends without an error"
