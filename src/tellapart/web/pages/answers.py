"""Pages about what was answered: history, odd ones, disagreements."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from starlette.responses import Response

from tellapart.errors import TableChanged
from tellapart.export import sentences
from tellapart.features.phrasing import counted
from tellapart.sessions import Session
from tellapart.sessions.agreement import compare, known_labels
from tellapart.sessions.history import is_column
from tellapart.sessions.labels import join_names
from tellapart.sessions.phrasing import changed_notice, kept_notice, name, outcome_text
from tellapart.web.api import schemas
from tellapart.web.api.downloads import answers_csv
from tellapart.web.api.labels import to_note
from tellapart.web.api.review import list_disagreements
from tellapart.web.auth import Call, Caller
from tellapart.web.pages.comparison import item_card
from tellapart.web.pages.render import (
    MAX_ROWS,
    Again,
    Start,
    first_row,
    page,
    repair_address,
    with_query,
)
from tellapart.web.pages.repair import in_words, is_settled, reason_in_words
from tellapart.web.pages.teach import picture_of
from tellapart.web.session_pool import in_session, reads_session

router = APIRouter(prefix="/s/{session}")
MAX_ODD = 50
"""So many answers are shown at a time, the oddest first."""


@router.get("/history")
@reads_session
def history(
    session: Session,
    call: Call,
    q: Annotated[str, Query(max_length=200)] = "",
    mistakes: bool = False,
    teacher: Annotated[str, Query(max_length=200)] = "",
    start: Start = 0,
    again: Again = None,
) -> Response:
    """Every answer that the caller may see, the latest first, to be searched and repaired."""
    return list_answers(session, call, q, mistakes, teacher, start, again)


def list_answers(
    session: Session,
    call: Caller,
    q: str = "",
    mistakes: bool = False,
    teacher: str = "",
    start: int = 0,
    again: int | None = None,
) -> Response:
    """The page of all answers. It needs no table: without one it says why, and shows the rules as
    they were last kept."""
    everything = session.history(viewer=call.viewer)[::-1]
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
    start = first_row(start, len(found))
    shown = found[start : start + MAX_ROWS]
    asked = {"q": q, "mistakes": "1" if mistakes else "", "teacher": teacher}
    here = with_query("history", {**asked, "start": start})
    return page(
        session,
        call,
        "history",
        answers=[
            (one, name(one.item), in_words(session, one), repair_address(session, one.item, here))
            for one in shown
        ],
        found=len(found),
        total=len(everything),
        start=start,
        query=urlencode({key: value for key, value in asked.items() if value}),
        people=session.teachers,
        by=teacher,
        q=q,
        only_mistakes=mistakes,
        notes=_notes(session, call, wanted),
        missing=session.missing,
        rules=_kept_rules(session),
        said=changed_notice(again),
        became=outcome_text,
    )


def _kept_rules(session: Session) -> list[str]:
    """The rules as they were last kept, if the table is missing."""
    if session.missing is None:
        return []
    try:
        return list(sentences(session.model))
    except TableChanged:  # none were kept
        return []


@router.get("/answers.csv")
@in_session
def answers(session: Session, call: Call) -> Response:
    """What was said, by whom, and why: an answer a line."""
    headers = {"content-disposition": "attachment; filename=answers.csv"}
    return Response(
        answers_csv(session, call.viewer), headers=headers, media_type="text/csv; charset=utf-8"
    )


def _notes(session: Session, call: Caller, wanted: str) -> list[schemas.Note]:
    """Notes that people wrote, the latest first."""
    found = [to_note(session, event) for event in session.notes(viewer=call.viewer)[::-1]]
    return [one for one in found if wanted in str(asdict(one)).lower()][:MAX_ROWS]


@router.get("/odd")
@reads_session
def odd(
    session: Session,
    call: Call,
    again: Again = None,
    kept: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Answers that the others contradict, and then all others that nobody has looked at.

    One that was just kept can be listed again.
    """
    just_kept = None
    if kept:
        answers = (
            one for one in session.history(viewer=call.viewer) if one.id == kept and one.confirmed
        )
        just_kept = next(answers, None)
    listed = session.odd_ones(viewer=call.viewer, everything=True)
    others = sum(one.score <= 0 for one in listed)
    shown = [
        {
            "is_odd": one.score > 0,
            # the name of the item stands beside it
            "why": one.why[max(0, one.why.find(f"called {one.answer.label}")) :],
            "at": repair_address(session, one.answer.item, "odd") + f"&event={one.answer.id}",
            "teacher": one.answer.teacher,
            "event": one.answer.id,
            "label": one.answer.label,
            **item_card(one.answer.item, picture_of(session, call), one.columns),
        }
        for one in listed[:MAX_ODD]
    ]
    against = _against_known(session, call)
    said = changed_notice(again) if just_kept is None else kept_notice(just_kept)
    return page(
        session,
        call,
        "odd",
        odd=[one for one in shown if one["is_odd"]],
        others=[one for one in shown if not one["is_odd"]],
        counted=counted(others, "answer"),
        against=against,
        said=said,
        kept=just_kept,
    )


def _against_known(session: Session, call: Caller) -> dict[str, Any] | None:
    """Answers that are not those of the table, if it is known what they should be."""
    known = call.app.pages.known.get(session.name)
    return None if known is None else against_column(session, known, call.viewer)


def against_column(
    session: Session, known: tuple[str | Path, str], viewer: str | None
) -> dict[str, Any]:
    """Answers that are not those of a column of a table."""
    right, odd = compare(session.history(viewer=viewer), known_labels(*known, session))
    return {"column": known[1], "right": right, "odd": odd}


@router.get("/disagreements")
@reads_session
def disagreements(session: Session, call: Call, again: Again = None) -> Response:
    """What teachers called differently, with both reasons; what is settled comes last."""
    found = list_disagreements(session, call.viewer)
    agreed = found.agreement
    about = "No item has been answered about by two teachers."
    if agreed.items:
        have = "has" if agreed.items == 1 else "have"
        about = f"{counted(agreed.items, 'item')} {have} several answers"
        if agreed.labels is not None:
            about += f"; {100 * agreed.labels:.0f} % of pairs agree on the label"
        if agreed.alpha is not None:
            about += f" (Krippendorff's alpha {agreed.alpha:.2f})"
        about += "."
        if agreed.features is not None:
            same = round(agreed.features * agreed.reasons)
            about += (
                " Where two say the same label and both give a reason, the reason is the same in"
                f" {same:,} of {counted(agreed.reasons, 'pair')}."
            )
    disputes = session.disagreements(viewer=call.viewer)
    settled = [is_settled(one.answers) for one in disputes]
    addresses = [repair_address(session, d.item, "disagreements") for d in disputes]
    rows = sorted(zip(settled, found.disagreements, addresses, strict=True), key=lambda row: row[0])
    people = {person.name for person in call.app.people.all} | set(session.teachers)
    people = {one for one in people if not is_column(one)} - session.models.keys()
    people |= session.settings["assignments"].keys()  # whoever has rows can be seen to have them
    return page(
        session,
        call,
        "disagreements",
        disputed=rows[:MAX_ROWS],
        waiting=settled.count(False),
        agreement=about,
        reason=lambda feature: reason_in_words(session, feature),
        said=changed_notice(again),
        assignments=session.settings["assignments"],
        people=sorted(people),
        is_team=len(call.app.people.all) > 1,
        is_column=is_column,
        join_names=join_names,
    )
