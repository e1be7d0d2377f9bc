"""Looking back: history, rules, progress, disagreements, odd ones."""

from __future__ import annotations

import math
from collections import Counter
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from tellapart import codec
from tellapart.engines.match import clause_numbers
from tellapart.export import sentences
from tellapart.export.text import Words
from tellapart.features.phrasing import spoken
from tellapart.model import DecisionList
from tellapart.protocol import Feature
from tellapart.sessions import Answered, Session
from tellapart.sessions.events import Event
from tellapart.tables import Row, Table
from tellapart.tables.packed_columns import evaluate
from tellapart.web.views import items, teaching


def answered(one: Answered) -> dict[str, Any]:
    """One answer in the history."""
    example = one.guess.example
    return {
        "event": one.id,
        "number": one.number,
        "at": one.at,
        "teacher": one.teacher,
        "item": _short(one.item),
        "guess": one.guess.label,
        "example": None if example is None else _short(example),
        "answer": one.answer,
        "label": one.label,
        "feature": one.feature,
        "outcome": one.outcome,
        "undone": one.undone,
        "changes": list(one.changes),
    }


def _short(row: Row) -> dict[str, Any]:
    return {"id": codec.encode(row.identity), "name": str(row)}


def history(
    session: Session,
    *,
    item: Any = None,
    teacher: str | None = None,
    before: int | None = None,
    limit: int = 100,
) -> dict[str, Any]:
    """Answers, the latest first; `before` a number of an event, for the next page."""
    row = None if item is None else items.find(session.table, item)
    found = session.history(item=row, teacher=teacher)
    if before is not None:
        found = [one for one in found if one.number < before]
    page = found[::-1][:limit]
    more = page[-1].number if len(found) > len(page) else None
    return {"answers": [answered(one) for one in page], "before": more}


def numbers(table: Table, model: DecisionList) -> npt.NDArray[np.uint32]:
    """Which clause labels each item of the table, from 0; features tried are not kept."""
    tried: dict[Feature, Any] = {}

    def truth(feature: Feature) -> Any:
        if table.knows(feature):
            return table.truth(feature)
        if feature not in tried:
            tried[feature] = evaluate(table, feature)
        return tried[feature]

    return clause_numbers(list(model), truth, len(table))


def rules(session: Session, *, counts: bool = True) -> dict[str, Any]:
    """Every rule: its sentence, what it asks, its example, its record, and whom it covers."""
    model = session.model
    records = session.records()
    covered: list[int | None] = [None] * (len(model.clauses) + 1)
    if counts:
        found = np.bincount(numbers(session.table, model), minlength=len(covered))
        covered = [int(n) for n in found]
    said: list[str | None] = list(sentences(model, Words(feature=spoken)))
    said += [None] * (len(covered) - len(said))
    made = []
    for number, clause in enumerate(model):
        example = clause.example if isinstance(clause.example, Row) else None
        right, wrong = (0, 0) if example is None else records.get(example.identity, (0, 0))
        taught = [] if example is None else session.history(item=example)
        alive = [one for one in taught if not one.undone and one.label is not None]
        made.append(
            {
                "number": number + 1,
                "sentence": said[number],
                "literals": [
                    {"feature": str(literal.feature), "wanted": literal.wanted}
                    for literal in clause.literals
                ],
                "label": clause.label,
                "example": None if example is None else _short(example),
                "by_hand": clause.origin == "by hand",
                "teacher": alive[0].teacher if alive else None,
                "right": right,
                "wrong": wrong,
                "items": covered[number],
                "is_default": number == len(model.clauses),
            }
        )
    return {"rules": made, "saved": session.number}


def covered(session: Session, number: int, offset: int, limit: int) -> dict[str, Any]:
    """The items that a rule labels."""
    table = session.table
    places = np.flatnonzero(numbers(table, session.model) == number - 1)
    page = [table.items[int(place)] for place in places[offset : offset + limit]]
    return {"total": len(places), "items": [items.item(row) for row in page]}


def progress(session: Session, m: int | None = None, k: int = 0) -> dict[str, Any]:
    """How far it is, the curve of mistakes, and the bound if there are m components and k slips."""
    about = session.summary()
    mistakes, learner = session.mistakes(), session.learner
    bound = learner.bound(m=m, k=k, n=len(mistakes))
    if m is None and bound is None:  # as many components as there are rules, and the rest
        m = about.rules + 1
        bound = learner.bound(m=m, k=k, n=len(mistakes))
    finite = bound is not None and math.isfinite(bound)
    return {
        **teaching.summary(about),
        "curve": _curve(mistakes),
        "last": mistakes[-20:],
        "bound": {"mistakes": bound if finite else None, "m": m, "k": k},
    }


def _curve(mistakes: list[bool], points: int = 400) -> list[dict[str, int]]:
    """How many mistakes there were after some of the guesses, the first and the last among them."""
    total = list(accumulate(mistakes, lambda so_far, mistake: so_far + mistake, initial=0))
    step = max(1, len(mistakes) // points)
    shown = sorted({*range(0, len(total), step), len(total) - 1})
    return [{"guess": n, "mistakes": int(total[n])} for n in shown]


def odd(session: Session, limit: int = 50, teacher: str | None = None) -> dict[str, Any]:
    """Answers that the others contradict, the oddest first, and how many each teacher has."""
    found = session.odd_ones(teacher)
    by = Counter(one.answer.teacher for one in found)
    listed = [
        {
            **answered(one.answer),
            "expected": one.expected,
            "expected_feature": one.expected_feature,
            "score": round(one.score, 4),
            "why": one.why,
        }
        for one in found
    ]
    return {"odd": listed[:limit], "by_teacher": dict(by)}


def note(event: Event, table: Table) -> dict[str, Any]:
    """A note."""
    about = event.data.get("item")
    return {
        "event": event.id,
        "number": event.number,
        "at": event.at,
        "teacher": event.by,
        "text": event.data["text"],
        "item": None if about is None else _short(items.find(table, about)),
    }


def disagreements(session: Session) -> dict[str, Any]:
    """Items that teachers called differently, with both reasons; and how far they agree."""
    found = [
        {"item": _short(one.item), "answers": [answered(each) for each in one.answers]}
        for one in session.disagreements()
    ]
    return {"disagreements": found, "agreement": session.agreement()._asdict()}
