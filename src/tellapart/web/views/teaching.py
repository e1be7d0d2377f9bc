"""The conversation: what is next, and what became of an answer."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tellapart.sessions import Ending, Given, Saved, Session, Summary
from tellapart.sessions.events import stamp
from tellapart.web.views import items

OFFERED = 30
"""So many candidate features, at most."""


def next_item(
    session: Session, teacher: str, id: str | None = None, *, offer: bool = True
) -> dict[str, Any]:
    """The next item for a teacher, with everything to decide on it; or that there is none.

    `offer`: with candidate features, which take longest to find.
    """
    found = session.next(teacher, id=id)
    if isinstance(found, Ending):
        return {
            "done": True,
            "message": str(found),
            "busy": found.busy,
            "given": None,
            **_around(session, teacher, found.summary),
        }
    return {
        "done": False,
        "message": None,
        "busy": 0,
        "given": shown(session, found, offer=offer),
        **_around(session, teacher, session.summary()),
    }


def shown(session: Session, given: Given, *, offer: bool = True) -> dict[str, Any]:
    """What a teacher has before them."""
    example = given.guess.example
    return {
        "id": given.id,
        "asks": given.asks,
        "kept": given.kept,
        "until": stamp(given.until),
        "item": items.item(given.item),
        "guess": given.guess.label,
        "example": None if example is None else items.item(example),
        "differs": [] if example is None else items.differs(given.item, example),
        "candidates": candidates(session, given.id) if offer else [],
    }


def candidates(
    session: Session, given: str, label: str | None = None, limit: int = OFFERED
) -> list[dict[str, Any]]:
    """Features that tell the item from the example; `label` is what the teacher says it is."""
    return [items.candidate(one) for one in session.candidates(given, label, limit=limit)]


def _around(session: Session, teacher: str, about: Summary) -> dict[str, Any]:
    return {
        "labels": session.labels,
        "progress": summary(about),
        "can_undo": session.can_undo(teacher),
        "can_redo": session.can_redo(teacher),
        "saved": session.number,
    }


def summary(about: Summary) -> dict[str, Any]:
    """How far a session is."""
    low, likely, high = about.error
    found = asdict(about)
    found["recent"] = {"mistakes": about.recent[0], "guesses": about.recent[1]}
    found["error"] = {"low": low, "likely": likely, "high": high, "sentence": about.estimate}
    del found["estimate"]
    return found


def saved(done: Saved) -> dict[str, Any]:
    """An event that is safely in the log."""
    return done._asdict()


def about(session: Session) -> dict[str, Any]:
    """What a session is."""
    opened = session.opened.data
    table = opened["table"]
    return {
        "name": session.name,
        "learner": opened["learner"],
        "parameters": opened["parameters"],
        "seed": opened["seed"],
        "version": opened["version"],
        "table": {
            "name": table["name"],
            "items": table["items"],
            "id": table["id"],
            "columns": session.table.schema,
        },
        "settings": session.settings,
        "labels": session.labels,
        "tags": list(session.table.tags),
        "teachers": session.teachers,
        "progress": summary(session.summary()),
        "saved": session.number,
    }
