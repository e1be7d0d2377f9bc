"""The page of answers: all, the odd ones, and those that people disagree about."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from starlette.responses import Response

from tellapart.errors import TableChanged
from tellapart.export import sentences
from tellapart.sessions import Answered, OddOne, Session
from tellapart.sessions.history import COLUMN, is_column
from tellapart.sessions.phrasing import (
    SAY,
    agreed,
    answers_head,
    changed_notice,
    name,
    outcome_text,
)
from tellapart.sessions.teams import compare, known_labels
from tellapart.web.access import Call, Caller
from tellapart.web.api.downloads import answers_csv
from tellapart.web.pages.comparison import called, item_card
from tellapart.web.pages.render import (
    MAX_ROWS,
    Again,
    Start,
    first_row,
    page,
    repair_address,
    with_query,
)
from tellapart.web.pages.repair import is_settled, label_of, reason_in_words, teaching
from tellapart.web.pages.teach import picture_of
from tellapart.web.session_pool import in_session, reads_session

router = APIRouter(prefix="/s/{session}")
_NEEDED = (
    "missing",
    "rules",
    "undoes",
    "moved",
    "said",
    "general",
    "against",
    "answers",
    "odd",
    "disputed",
)
Tab = Literal["all", "odd", "disputed"]
Event = Annotated[str, Query(max_length=200)]


@router.get("/answers")
@reads_session
def answers(
    session: Session,
    call: Call,
    tab: Tab = "all",
    q: Annotated[str, Query(max_length=200)] = "",
    mistakes: bool = False,
    noted: bool = False,
    start: Start = 0,
    again: Again = None,
    changed: Event = "",
    kept: Event = "",
    undone: Event = "",
    moved: Annotated[int, Query(ge=0)] = 0,
) -> Response:
    """Every answer that the caller may see. `again`, `changed`: an answer was changed, and so many
    need a reason again; `moved`: which rows did that event move? `kept`: an odd answer was kept,
    and can be listed again. `undone`: one of these was taken back."""
    said, found, undoes = changed_notice(again), None, None
    if event := changed or kept or undone:
        found = session.answer_of(event, viewer=call.viewer)
    if kept and found is not None and found.confirmed:
        said = SAY.stays.format(name(found.item), found.label)
        undoes = found.event, "unkeep"
    elif undone and found is not None:
        said = SAY.restored.format(name(found.item), label_of(found))
    elif changed and found is not None:
        said = changed_notice(again, name(found.item), label_of(found))
        undoes = (found.event, "restore") if found.changes else None
    if tab == "all" or session.missing is not None:
        shown = all_answers(session, call, q, start, mistakes=mistakes, noted=noted)
    else:
        shown = {"odd": _odd, "disputed": _disputed}[tab](session, call)
    shown |= {"said": said, "undoes": undoes, "moved": moved}
    return page(session, call, "answers", **shown)


def _tabs(session: Session, call: Caller, tab: Tab, **known: int) -> dict[str, Any]:
    """What all tabs show: how many answers each has."""
    counts = {"odd": session.odd_known, "disputed": 0} | known
    if "all" not in known:
        counts["all"] = len(session.history(viewer=call.viewer))
    if "disputed" not in known and session.missing is None:
        disputes = session.disagreements(viewer=call.viewer)
        counts["disputed"] = sum(not is_settled(one.answers) for one in disputes)
    people = "" if session.missing is not None else agreed(session.agreement())
    persons = [one for one in session.teachers if not is_column(one)]
    several = len(call.app.people.all) > 1 or len(persons) > 1
    head, lede = answers_head(tab, counts[tab], people, taught=several)
    told = {"tab": tab, "counts": counts, "head": head, "lede": lede, "several": several}
    return {**dict.fromkeys(_NEEDED), **told}


def all_answers(
    session: Session,
    call: Caller,
    q: str = "",
    start: int = 0,
    *,
    mistakes: bool = False,
    noted: bool = False,
) -> dict[str, Any]:
    """All answers, the latest first, to be searched and changed. It needs no table: without one it
    says why, and shows the rules as they were last kept."""
    everything = session.history(viewer=call.viewer)[::-1]
    notes: dict[Any, list[str]] = {}
    for event in session.notes(viewer=call.viewer):
        notes.setdefault(event.data.get("item"), []).append(f"{event.data['text']} ({event.by})")
    wanted = q.strip().lower()
    found = []
    for one in everything:
        about = notes.get(one.item.identity, [])
        parts = (name(one.item), one.teacher, one.guess, one.label, one.feature, *about)
        words = " ".join(str(part) for part in parts if part is not None)
        kind = (not mistakes or one.outcome == "mistake") and (not noted or about)
        if kind and wanted in words.lower():
            found.append((one, about))
    start = first_row(start, len(found))
    asked = {"q": q, "mistakes": "1" if mistakes else "", "noted": "1" if noted else ""}
    here = with_query("answers", {**asked, "start": start})
    return {
        **_tabs(session, call, "all", all=len(everything)),
        "answers": [
            {
                "one": one,
                "called": called(one.item),
                "label": label_of(one),
                "reason": reason_in_words(session, one.feature) if one.feature else None,
                "became": outcome_text(one),
                "notes": about,
                "change": f"{repair_address(session, one.item, here)}&event={one.event}",
            }
            for one, about in found[start : start + MAX_ROWS]
        ],
        "found": len(found),
        "start": start,
        "query": urlencode({key: value for key, value in asked.items() if value}),
        "asked": asked,
        "general": notes.get(None, []),
        "missing": session.missing,
        "rules": _kept_rules(session),
    }


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
def download(session: Session, call: Call) -> Response:
    """What was said, by whom, and why: an answer a line."""
    headers = {"content-disposition": "attachment; filename=answers.csv"}
    return Response(
        answers_csv(session, call.viewer), headers=headers, media_type="text/csv; charset=utf-8"
    )


def _odd(session: Session, call: Caller) -> dict[str, Any]:
    """Answers that the others contradict, the oddest first."""
    listed = session.odd_ones(viewer=call.viewer)
    return {
        **_tabs(session, call, "odd", odd=len(listed)),
        "odd": [_odd_card(session, call, one) for one in listed[:MAX_ROWS]],
        "against": _against_known(session, call),
    }


def _odd_card(session: Session, call: Caller, one: OddOne) -> dict[str, Any]:
    mine = one.teacher == call.name
    expected = one.expected if one.expected != label_of(one) else None
    why = one.why.partition(", but ")[2] or one.why
    return {
        **item_card(one.item, picture_of(session, call), one.columns),
        "who": "You" if mine else one.teacher,
        "label": label_of(one),
        "expected": expected,
        "why": f"{why[:1].upper()}{why[1:]}.",
        "event": one.event,
        "change": f"{repair_address(session, one.item, 'answers?tab=odd')}&event={one.event}",
    }


def _against_known(session: Session, call: Caller) -> dict[str, Any] | None:
    """Answers that are not those of the column that was hidden to compare with, if one was."""
    known = call.app.pages.known.get(session.name)
    if known is None:
        source = session.opened.data.get("source") or {}
        path = str(source.get("path", ""))
        hidden = [
            one for one in source.get("without") or () if COLUMN + one not in session.teachers
        ]
        if len(hidden) != 1 or session.models or not Path(path).is_file():
            return None
        known = path, hidden[0]
    return against_column(session, known, call.viewer)


def against_column(
    session: Session, known: tuple[str | Path, str], viewer: str | None
) -> dict[str, Any]:
    """Answers that are not those of a column of a table."""
    right, odd = compare(session.history(viewer=viewer), known_labels(*known, session))
    return {"column": known[1], "right": right, "odd": odd}


def _disputed(session: Session, call: Caller) -> dict[str, Any]:
    """What people called differently, with both reasons; what is settled comes last."""
    disputes = session.disagreements(viewer=call.viewer)
    cards = [
        {
            **item_card(one.item, picture_of(session, call)),
            "settled": next((each for each in one.answers if each.settles and each.confirmed), None)
            if is_settled(one.answers)
            else None,
            "open": not is_settled(one.answers),
            "event": (teaching(one.answers) or one.answers[0]).event,
            "voices": [_voice(session, each) for each in one.answers],
            "change": repair_address(session, one.item, "answers?tab=disputed"),
        }
        for one in disputes
    ]
    cards.sort(key=lambda card: not card["open"])
    people = {person.name for person in call.app.people.all} | set(session.teachers)
    people = {one for one in people if not is_column(one)} - session.models.keys()
    people |= session.settings["assignments"].keys()  # whoever has rows can be seen to have them
    waiting = sum(card["open"] for card in cards)
    return {
        **_tabs(session, call, "disputed", disputed=waiting),
        "disputed": cards[:MAX_ROWS],
        "assignments": session.settings["assignments"],
        "people": sorted(people),
        "is_team": len(call.app.people.all) > 1,
    }


def _voice(session: Session, one: Answered) -> dict[str, Any]:
    """What one teacher said."""
    return {
        "who": one.teacher,
        "at": one.at,
        "label": label_of(one),
        "reason": reason_in_words(session, one.feature) if one.feature else None,
        "column": is_column(one.teacher),
    }
