"""A table to teach about, and teachers who know the truth."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

from tellapart.sessions import Event, Given, Session
from tellapart.sessions.log import State
from tellapart.tables import Row, Table

FEATURES = ["fur", "NOT fur", "eggs", "NOT eggs", "fins", "NOT fins", "legs > 3", "legs <= 3"]


def animals(count: int = 60, seed: int = 0) -> Table:
    """A table of made animals."""
    dice = random.Random(seed)
    return Table(
        {
            "name": [f"animal {n}" for n in range(count)],
            "fur": [dice.random() < 0.5 for _ in range(count)],
            "eggs": [dice.random() < 0.5 for _ in range(count)],
            "fins": [dice.random() < 0.3 for _ in range(count)],
            "legs": [dice.randrange(8) for _ in range(count)],
        },
        id="name",
        name="animals",
    )


def truth(item: Row) -> str:
    """What an animal is."""
    if item["fins"]:
        return "fish"
    return "bear" if item["fur"] and item["legs"] > 3 else "bird"


def words(
    session: Session, given: Given, label: str | None = None, features: list[str] = FEATURES
) -> tuple[str, ...]:
    """The right answer to what is given, or one with the label said."""
    label = label or truth(given.item)
    if given.guess.label == label:
        return ("right",)
    if given.guess.example is None:
        return ("wrong", label)
    for text in features:
        feature = session.table.parse(text)
        if feature(given.item) and not feature(given.guess.example):
            return ("wrong", label, text)
    return ("wrong", label)


def teach(session: Session, teacher: str, count: int) -> int:
    """Answer rightly so many times, or until nothing is left; returns how often."""
    for done in range(count):
        given = session.next(teacher)
        if not isinstance(given, Given):
            return done
        session.answer(teacher, given.id, *words(session, given))
    return count


def plain(log: list[Event]) -> list[tuple[str, str | None, dict[str, Any]]]:
    """A log without ids and times: ids are numbered in the order of their coming."""
    numbers = {event.id: f"#{n}" for n, event in enumerate(log)}
    return [
        (
            event.type,
            event.by,
            {
                key: numbers.get(value, value) if isinstance(value, str) else value
                for key, value in event.data.items()
                if key not in ("source", "until")
            },
        )
        for event in log
    ]


def fill_disk(folder: Path) -> Path:
    """Leave no byte free; returns the file that takes them."""
    path = folder / "ballast"
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"\0" * 4096)
    return path


def state_of(session: Session) -> State:
    """What a session has in memory."""
    return session._log.state
