"""Logs and databases that older versions wrote open for ever, and replay to the same state."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from archive_writer import Clock, expected, outcome, table, without_judgements
from tellapart.sessions import Event, Given, Session, Store, export_log, import_log
from tellapart.sessions.events import NEEDS
from tellapart.sessions.log import parse_log
from test_sessions_load import address

ARCHIVE = Path(__file__).parent / "archive"
LOGS = sorted(path for path in ARCHIVE.glob("*/*.jsonl"))

TABLE = """
CREATE TABLE tellapart_events (
    session TEXT NOT NULL, number BIGINT NOT NULL, id TEXT NOT NULL, at TEXT NOT NULL,
    type TEXT NOT NULL, teacher TEXT, data TEXT NOT NULL,
    PRIMARY KEY (session, number), UNIQUE (session, id)
)
"""
"""The table in PostgreSQL, as version 0.1 made it."""


def events(log: Path) -> list[Event]:
    return [Event.read(line) for line in lines(log)]


def lines(log: Path) -> list[str]:
    with log.open(encoding="utf-8", newline="\n") as file:
        return file.readlines()


def kept(log: Path) -> dict[str, object]:
    found = json.loads(log.with_suffix(".json").read_text(encoding="utf-8"))
    for moment in found["earlier"].values():
        moment[1] = without_judgements(moment[1])
    found["outcome"]["summary"] = without_judgements(found["outcome"]["summary"])
    del found["outcome"]["odd ones"]  # which answers look odd, and why, is a judgement too
    return found


def said(outcome: dict[str, Any]) -> dict[str, Any]:
    """What people said. What AutoDFF makes of it may change from version to version."""
    kept = ["number", "labels", "meanings", "tags", "teachers", "notes", "agreement"]
    return {
        **{part: outcome[part] for part in kept},
        "labels": sorted(outcome["labels"]),
        "settings": first_settings(outcome),
        "history": [answer[:5] for answer in outcome["history"]],
    }


STEPS = {"strodff": 5, "robust": 0, "adaptive": 0}
"""So many steps of what follows are the same. Then version 0.1 asks for a feature that was given
for the same example before, which later versions do not; or the order is "least sure", which they
read as "mixed"."""


READ_AS = {"least sure": "mixed"}
GONE = {"rules over time", "records"}
"""What later versions do not say."""


def by_number(value: Any) -> Any:
    """What was kept, with rows by their numbers: what they are called besides is of later versions.

    >>> by_number(["cat, like row 3 (black, shy)"])
    ['cat, like 3']
    """
    if isinstance(value, dict):
        return {key: by_number(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [by_number(one) for one in value]
    return re.sub(r"row (\d+) \([^()]*\)", r"\1", value) if isinstance(value, str) else value


def state(part: str, value: Any) -> Any:
    """A part of what was kept, without what a later version may say better, or besides, and
    without the order of labels, which is that of their coming among the answers that stand."""
    value = by_number(value)
    if part == "what follows":
        return [[teacher, question] for teacher, question, _ in value]
    if part == "outcome":
        history = [answer[:12] for answer in value["history"]]
        same = {**value, "odd ones": [], "history": history, "settings": first_settings(value)}
        same["labels"] = sorted(same["labels"])
        return {name: same[name] for name in same if name not in GONE}
    if part == "earlier":  # rules, how far it was, labels
        return {at: [*now[:2], sorted(now[2])] for at, now in value.items()}
    return value


def first_settings(outcome: dict[str, Any]) -> dict[str, Any]:
    """The settings that version 0.1 had; its order "least sure" is read as "mixed"."""
    found = {name: outcome["settings"][name] for name in ("order", "overlap", "lease", "until")}
    return {**found, "order": READ_AS.get(found["order"], found["order"])}


@pytest.mark.parametrize("log", LOGS, ids=lambda log: f"{log.parent.name}-{log.stem}")
def test_an_old_log_replays_to_the_same_state(log: Path, store: Store) -> None:
    """At its end and earlier; and it goes on as it would have."""
    found = kept(log)
    replayed = expected(store, events(log), log.parent, found["table"], found["now"])
    if events(log)[0].data["learner"] == "AutoDFF":
        assert said(replayed["outcome"]) == said(found["outcome"])
    else:
        for part, value in found.items():
            ours, theirs = state(part, replayed[part]), state(part, value)
            if part == "what follows" and log.stem in STEPS:
                ours, theirs = ours[: STEPS[log.stem]], theirs[: STEPS[log.stem]]
            assert ours == theirs, part
    assert import_log(store, lines(log)) == log.stem
    assert [event.line() + "\n" for event in store.log(log.stem)] == lines(log)
    assert parse_log(export_log(store, log.stem)) == events(log)


def test_the_archive_has_everything_that_can_happen() -> None:
    later = {"rows added", "swept"}
    assert {event.type for log in LOGS for event in events(log)} == set(NEEDS) - later


@pytest.mark.parametrize("name", ["auto", "strodff"])
def test_an_old_sqlite_file_opens_and_goes_on(name: str, tmp_path: Path) -> None:
    shutil.copy(ARCHIVE / "0.1" / "old.db", tmp_path)
    log = ARCHIVE / "0.1" / f"{name}.jsonl"
    with Store(tmp_path / "old.db") as store:
        assert {one.name for one in store.sessions()} == {"auto", "strodff"}
        goes_on(store, log)


@pytest.fixture
def postgres_store(postgres: str) -> Iterator[Store]:
    """A PostgreSQL database with the table and a session of version 0.1."""
    import psycopg

    from tellapart import codec

    log = ARCHIVE / "0.1" / "auto.jsonl"
    rows = [(log.stem, e.number, e.id, e.at, e.type, e.by, codec.dump(e.data)) for e in events(log)]
    with psycopg.connect(postgres, autocommit=True) as server:
        server.execute("DROP DATABASE IF EXISTS archive")
        server.execute("CREATE DATABASE archive")
    archive = postgres.replace("dbname=postgres", "dbname=archive")
    with psycopg.connect(archive) as base:
        base.execute(TABLE)
        base.cursor().executemany(
            "INSERT INTO tellapart_events VALUES (%s, %s, %s, %s, %s, %s, %s)", rows
        )
    with Store(address(archive)) as store:
        yield store


def test_an_old_postgres_database_opens_and_goes_on(postgres_store: Store) -> None:
    goes_on(postgres_store, ARCHIVE / "0.1" / "auto.jsonl")


def goes_on(store: Store, log: Path) -> None:
    """The session of a log is in the store: it has its state, and takes more events."""
    found = kept(log)
    assert parse_log(export_log(store, log.stem)) == events(log)
    rows = table(found["table"], log.parent)
    with Session.open(store, log.stem, rows, clock=Clock(found["now"])) as session:
        assert said(outcome(session)) == said(found["outcome"])
        session.note("Dan", "still here")
        given = session.next("Dan")
        done = session.answer("Dan", given.id, "unsure") if isinstance(given, Given) else None
        model = session.model
    with Session.open(store, log.stem, rows, clock=Clock(found["now"])) as session:
        assert session.model == model
        assert done is None or done.id in {one.event for one in session.history()}
    more = store.log(log.stem)[len(lines(log)) :]
    assert [event.line() + "\n" for event in store.log(log.stem)][: -len(more)] == lines(log)
    assert [event.type for event in more] == ["joined", "note", "given", "answered"][: len(more)]
