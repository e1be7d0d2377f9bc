"""A session about six animals."""

from __future__ import annotations

from typing import Any

from tellapart.sessions import Given, Session, Store
from tellapart.tables import Table

ZOO = {
    "name": ["bear", "duck", "lion", "crow", "bass", "pike"],
    "wings": [False, True, False, True, False, False],
    "fins": [False, False, False, False, True, True],
    "legs": [4, 2, 4, 2, 0, 0],
}


class Clock:
    now = 1e9

    def __call__(self) -> float:
        return self.now


def zoo(store: Store, **options: Any) -> Session:
    options.setdefault("learner", "DFF")
    return Session.new(store, "zoo", Table(ZOO, id="name"), **options)


def give(session: Session, teacher: str) -> Given:
    given = session.next(teacher)
    assert isinstance(given, Given)
    return given


def name(given: Given) -> str:
    return str(given.item)


def answer(session: Session, teacher: str, *said: str) -> str | None:
    return session.answer(teacher, give(session, teacher).id, *said).outcome
