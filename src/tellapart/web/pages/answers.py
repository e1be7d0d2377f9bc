"""Pages about what was answered: history, odd ones, disagreements."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from starlette.responses import Response

from tellapart.sessions import Session
from tellapart.sessions.adjudication import CONFIRMS
from tellapart.sessions.agreement import compare, known_labels
from tellapart.sessions.phrasing import changed_notice, name
from tellapart.web.api import schemas
from tellapart.web.api.downloads import answers_csv
from tellapart.web.api.labels import to_note
from tellapart.web.api.review import list_disagreements
from tellapart.web.api.teaching import change_answer
from tellapart.web.auth import Call, Caller
from tellapart.web.pages.comparison import item_card
from tellapart.web.pages.render import MAX_ROWS, Form, Start, page, redirect, repair_address
from tellapart.web.pages.repair import SETTLES, in_words, is_settled
from tellapart.web.pages.teach import picture_of
from tellapart.web.session_pool import in_session, reads_session

router = APIRouter(prefix="/s/{session}")
MAX_ODD = 50
"""So many odd answers are shown at a time."""
Again = Annotated[int | None, Query(ge=0, le=10_000_000)]
"""An answer was changed, and so many others need a reason again."""


@router.get("/history")
@reads_session
def history(
    session: Session,
    call: Call,
    q: Annotated[str, Query(max_length=200)] = "",
    mistakes: bool = False,
    teacher: Annotated[str, Query(max_length=200)] = "",
    change: Annotated[str, Query(max_length=100)] = "",
    start: Start = 0,
) -> Response:
    """Every answer that the caller may see, the latest first, to be searched and changed."""
    everything = session.history()[::-1]
    wanted = q.strip().lower()
    found = []
    for one in everything:
        parts = (name(one.item), one.teacher, one.guess.label, one.label, one.feature)
        words = " ".join(str(part) for part in parts if part is not None)
        if (
            wanted in words.lower()
            and (not mistakes or one.outcome == "mistake")
            and teacher in ("", one.teacher)
        ):
            found.append(one)
    shown = found[start : start + MAX_ROWS]
    asked = {"q": q, "mistakes": "1" if mistakes else "", "teacher": teacher}
    return page(
        session,
        call,
        "history",
        answers=[
            (
                one,
                name(one.item),
                in_words(session, one),
                repair_address(session, one.item, "history"),
            )
            for one in shown
        ],
        found=len(found),
        total=len(everything),
        start=start,
        query=urlencode({key: value for key, value in asked.items() if value}),
        people=session.teachers,
        by=teacher,
        changing=change,
        q=q,
        only_mistakes=mistakes,
        notes=_notes(session, wanted),
        labels=session.labels,
    )


@router.get("/answers.csv")
@in_session
def answers(session: Session) -> Response:
    """What was said, by whom, and why: an answer a line."""
    headers = {"content-disposition": "attachment; filename=answers.csv"}
    return Response(answers_csv(session), headers=headers, media_type="text/csv; charset=utf-8")


def _notes(session: Session, wanted: str) -> list[schemas.Note]:
    """Notes that people wrote, the latest first; those that settle odd answers are not."""
    found = [to_note(session, event) for event in session.notes()[::-1]]
    return [
        one
        for one in found
        if not one.text.startswith((CONFIRMS, SETTLES)) and wanted in str(asdict(one)).lower()
    ][:MAX_ROWS]


@router.post("/change")
@in_session
def change(session: Session, sent: Form, call: Call) -> Response:
    """Another answer in place of an earlier one; or take it back."""
    if sent.get("answer") == "undo":
        event = sent.get("event", "")
        whose = call.whose_acts(next((a.teacher for a in session.history() if a.id == event), None))
        session.undo(call.name, event, of=whose, id=sent.get("id"))
    else:
        _change(session, call, sent)
    return redirect(session, "/history")


def _change(session: Session, call: Caller, sent: dict[str, str]) -> None:
    event, answer = sent.get("event", ""), sent.get("answer", "")
    label = feature = None
    if answer == "wrong":
        label = sent.get("label", "").strip() or None
        feature = sent.get("feature", "").strip() or None
    change_answer(session, call, event, answer, label, feature, id=sent.get("id"))


@router.get("/odd")
@reads_session
def odd(session: Session, call: Call, again: Again = None) -> Response:
    """Answers that the others contradict, but for those that somebody has confirmed."""
    notes = (str(note.data["text"]) for note in session.notes())
    confirmed = {text.removeprefix(CONFIRMS) for text in notes if text.startswith(CONFIRMS)}
    found = [one for one in session.odd_ones()[:MAX_ODD] if one.answer.id not in confirmed]
    shown = [
        {
            "why": one.why,
            "at": repair_address(session, one.answer.item, "odd") + f"&event={one.answer.id}",
            "teacher": one.answer.teacher,
            **item_card(one.answer.item, picture_of(session, call), one.columns),
        }
        for one in found
    ]
    against = _against_known(session, call.app.pages.known.get(session.name))
    return page(session, call, "odd", odd=shown, against=against, said=_changed(again))


def _changed(again: int | None) -> str | None:
    return None if again is None else changed_notice(again)


def _against_known(session: Session, known: tuple[str | Path, str] | None) -> dict[str, Any] | None:
    """Answers that are not those of the table, if it is known what they should be."""
    if known is None:
        return None
    right, odd = compare(session.history(), known_labels(*known, session))
    return {"column": known[1], "right": right, "odd": odd}


@router.get("/disagreements")
@reads_session
def disagreements(session: Session, call: Call, again: Again = None) -> Response:
    """What teachers called differently, with both reasons; what is settled comes last."""
    found = list_disagreements(session)
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
    settled = [is_settled(session, one.answers) for one in session.disagreements()]
    addresses = [repair_address(session, d.item, "disagreements") for d in session.disagreements()]
    rows = sorted(zip(settled, found.disagreements, addresses, strict=True), key=lambda row: row[0])
    people = {person.name for person in call.app.people.all} | set(session.teachers)
    return page(
        session,
        call,
        "disagreements",
        disputed=rows[:MAX_ROWS],
        waiting=settled.count(False),
        agreement=about,
        said=_changed(again),
        by_label=session.agreement_by_label() if call.is_owner else [],
        assignments=session.settings["assignments"],
        people=sorted(people),
    )
