"""Pages about what was answered: history, odd ones, disagreements."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from tellapart.errors import FeatureError, ParameterError
from tellapart.features.phrasing import spoken
from tellapart.sessions import Answered, Session
from tellapart.sessions.agreement import compare, known_labels
from tellapart.sessions.phrasing import name
from tellapart.web.api import schemas
from tellapart.web.api.downloads import answers_csv
from tellapart.web.api.labels import note
from tellapart.web.api.review import list_disagreements, list_odd
from tellapart.web.api.teaching import change_answer
from tellapart.web.auth import Call, Caller, SessionName
from tellapart.web.pages.render import MAX_ROWS, Form, frame, home, page, redirect

router = APIRouter(prefix="/s/{session}")
MAX_ODD = 50
"""So many odd answers are shown at a time."""


@router.get("/history")
async def history(
    session: SessionName,
    call: Call,
    q: Annotated[str, Query(max_length=200)] = "",
    mistakes: bool = False,
) -> Response:
    """Every answer, to be searched and changed."""

    def work(s: Session) -> dict[str, Any]:
        everything = s.history()[::-1]
        wanted = q.strip().lower()
        found = []
        for one in everything:
            words = " ".join(
                str(part)
                for part in (name(one.item), one.teacher, one.guess.label, one.label, one.feature)
                if part is not None
            )
            if wanted in words.lower() and (not mistakes or one.outcome == "mistake"):
                found.append(one)
        shown = [
            {
                "id": one.id,
                "number": one.number,
                "teacher": one.teacher,
                "item": name(one.item),
                "guess": one.guess.label or "",
                "said": _said(s, one),
                "became": "undone" if one.undone else one.outcome or "",
                "label": one.label,
                "feature": one.feature,
                "undone": one.undone,
            }
            for one in found[:MAX_ROWS]
        ]
        return {
            "answers": shown,
            "found": len(found),
            "total": len(everything),
            "q": q,
            "only_mistakes": mistakes,
            "notes": _notes(s, wanted),
            "labels": s.labels,
            **frame(s, call),
        }

    values = await call.pool.read(session, work)
    return page("history.html", title="History", here="/history", **values)


@router.get("/answers.csv")
async def answers(session: SessionName, call: Call) -> Response:
    """What was said, by whom, and why: an answer a line."""
    made = await call.pool.run(session, answers_csv)
    headers = {"content-disposition": "attachment; filename=answers.csv"}
    return Response(made, headers=headers, media_type="text/csv; charset=utf-8")


def _notes(session: Session, wanted: str) -> list[schemas.Note]:
    """Notes that people wrote, the latest first; those that settle odd answers are not."""
    found = [note(session, event) for event in session.notes()[::-1]]
    return [
        one
        for one in found
        if not one.text.startswith(_CONFIRMS) and wanted in str(asdict(one)).lower()
    ][:MAX_ROWS]


def _said(session: Session, one: Answered) -> str:
    if one.answer != "wrong":
        return one.answer
    if one.feature is None:
        return f"{one.label}"
    try:
        return f"{one.label}, because {spoken(session.table.parse(one.feature))}"
    except FeatureError:
        return f"{one.label}, because {one.feature}"


@router.post("/change")
async def change(session: SessionName, sent: Form, call: Call) -> Response:
    """Another answer in place of an earlier one."""

    def work(s: Session) -> None:
        _change(s, call, sent)

    await call.pool.run(session, work)
    return redirect(home(session) + "/history")


def _change(session: Session, call: Caller, sent: dict[str, str]) -> None:
    event, answer = sent.get("event", ""), sent.get("answer", "")
    label = feature = None
    if answer == "wrong":
        label = sent.get("label", "").strip() or None
        feature = sent.get("feature", "").strip() or None
    change_answer(session, call, event, answer, label, feature, sent.get("id"))


@router.get("/odd")
async def odd(session: SessionName, call: Call) -> Response:
    """Answers that the others contradict."""

    def work(s: Session) -> dict[str, Any]:
        looked_at = _confirmed(s)
        found = [one for one in list_odd(s)[:MAX_ODD] if one.event not in looked_at]
        against = _against_known(s, call.app.pages.known)
        return {"odd": found, "against": against, "labels": s.labels, **frame(s, call)}

    return page("odd.html", title="Odd ones", here="/odd", **await call.pool.read(session, work))


def _against_known(session: Session, known: tuple[Path, str] | None) -> dict[str, Any] | None:
    """Answers that are not those of the table, if it is known what they should be."""
    if known is None:
        return None
    right, odd = compare(session.history(), known_labels(*known, session))
    return {"column": known[1], "right": right, "odd": odd}


_CONFIRMS = "it is so: "


def _confirmed(session: Session) -> set[str]:
    """The answers that somebody has looked at again and left as they are."""
    said = (str(note.data["text"]) for note in session.notes())
    return {text.removeprefix(_CONFIRMS) for text in said if text.startswith(_CONFIRMS)}


@router.post("/odd")
async def settle(session: SessionName, sent: Form, call: Call) -> Response:
    """Leave an odd answer as it is, or correct it."""

    def work(s: Session) -> None:
        event, label = sent.get("event", ""), sent.get("label", "").strip()
        if sent.get("do") == "confirm":
            s.note(call.name, _CONFIRMS + event, id=sent.get("id"))
            return
        if not label:
            raise ParameterError("a label is wanted: what is it?")
        guessed = next((one.guess.label for one in s.history() if one.id == event), None)
        answer = "right" if label == guessed else "wrong"
        _change(s, call, {**sent, "answer": answer})

    await call.pool.run(session, work)
    return redirect(home(session) + "/odd")


@router.get("/disagreements")
async def disagreements(session: SessionName, call: Call) -> Response:
    """What teachers called differently, with both reasons."""

    def work(s: Session) -> dict[str, Any]:
        found = list_disagreements(s)
        agreed = found.agreement
        about = "No item has been answered about by two teachers."
        if agreed.items:
            about = f"{agreed.items:,} items have several answers"
            if agreed.labels is not None:
                about += f"; {agreed.labels:.0%} of pairs agree on the label"
            if agreed.alpha is not None:
                about += f" (Krippendorff's alpha {agreed.alpha:.2f})"
            if agreed.features is not None:
                about += f", {agreed.features:.0%} of those that can on the feature"
            about += "."
        return {"disputed": found.disagreements, "agreement": about, **frame(s, call)}

    values = await call.pool.read(session, work)
    return page("disagreements.html", title="Disagreements", here="/disagreements", **values)
