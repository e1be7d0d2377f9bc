"""Changing one answer: its row beside the earlier one, and another answer in its place.

Teach, Answers, Data and Rules all open it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlencode

from fastapi import APIRouter, Query
from markupsafe import Markup
from starlette.responses import HTMLResponse, RedirectResponse, Response

from tellapart.errors import FeatureError, ParameterError, TableChanged
from tellapart.features.phrasing import spoken
from tellapart.sessions import Answered, OddOne, Session
from tellapart.sessions.learnt import Before
from tellapart.sessions.phrasing import match_label, name, said_before
from tellapart.web.access import Call, Caller
from tellapart.web.api.teaching import change_answer, find_item
from tellapart.web.pages.comparison import called, compare
from tellapart.web.pages.render import Form, draw, frame, redirect, repair_address, with_query
from tellapart.web.pages.teach import (
    MOST_REASONS,
    keep_for_later,
    label_choices,
    picture_of,
    reason_choices,
)
from tellapart.web.session_pool import in_session, reads_session

router = APIRouter(prefix="/s/{session}")
_PAGES = ("teach", "answers", "data", "rules")

Text = Annotated[str, Query(max_length=200)]
Page = Annotated[str, Query(alias="from", max_length=65_536)]
"""The page to go back to, with its query."""


@router.get("/repair/{item:path}")
@reads_session
def repair(
    session: Session,
    item: str,
    call: Call,
    event: Text = "",
    label: Text = "",
    came_from: Page = "teach",
) -> Response:
    """An answer about a row; with a label, why it is that."""
    row = find_item(session.table, item)
    page = _page(came_from)
    said = _answer_to_repair(session, call, row, event)
    values: dict[str, Any] = {
        **frame(session, call, "/repair"),
        **dict.fromkeys(("answer", "chosen_label", "said", "expected", "why", "now")),
        "title": "Change an answer",
        "item": called(row),
        "page": page,
        "here_again": f"{repair_address(session, row, page)}&{urlencode({'event': event})}",
        "reasons": [],
        "labels": label_choices(session),
        "swaps": Markup(" data-swap"),
    }
    if said is not None:
        call.must_have_answered(session, said.event)
        values |= _about(session, call, said, label.strip() or None)
    return HTMLResponse(draw("repair.html", **values))


def _answer_to_repair(session: Session, call: Caller, item: Any, event: str) -> Answered | None:
    """The answer that is named, or else the one that teaches, or else the last one."""
    answers = [one for one in session.history(viewer=call.viewer, item=item) if not one.undone]
    if event:
        return next((one for one in answers if one.event == event), None)
    return teaching(answers) or (answers[-1] if answers else None)


def teaching(answers: list[Answered] | tuple[Answered, ...]) -> Answered | None:
    """Of the answers about a row, the one that was learnt from or waits for a reason."""
    return next((one for one in answers if one.outcome not in (None, *_UNTAUGHT)), None)


_UNTAUGHT = ("opinion", "unsure", "skipped")


def _about(session: Session, call: Caller, said: Answered, label: str | None) -> dict[str, Any]:
    """What the page shows of an answer."""
    question = session.question_of(said.event)
    now = session.guess_now(said.event)
    shown = question if now is None else question._replace(guess=now)
    whose = None if said.teacher == call.name else said.teacher
    values: dict[str, Any] = {
        "answer": said,
        "now": label_of(said),
        "who": whose or "You",
        "chosen_label": label,
        "shown": compare(shown, picture_of(session, call), picking=label is not None),
        "said": said_before(
            said, whose or "You", reason_in_words(session, said.feature) if said.feature else None
        ),
    }
    if label is not None:
        found = session.candidates(question.id, label, limit=MOST_REASONS)
        return values | {"reasons": reason_choices(found)}
    odd = _odd(session, call, said)
    if odd is not None:
        why = odd.why.partition(", but ")[2] or odd.why
        values["why"] = f"{why[:1].upper()}{why[1:]}."
        values["expected"] = odd.expected if odd.expected != values["now"] else None
    return values


def _needs_reason(session: Session, said: Answered, label: str) -> bool:
    """Whether a reason is wanted for another label. Against another example than that of now it
    would be asked for once more: then it comes later."""
    guess = session.question_of(said.event).guess.label
    return session.guess_now(said.event) is None and guess not in (None, label)


def _odd(session: Session, call: Caller, said: Answered) -> OddOne | None:
    listed = session.odd_ones(viewer=call.viewer) if session.odd_known else []
    return next((one for one in listed if one.event == said.event), None)


def _reason(answers: Iterable[Answered], said: Answered, label: str) -> str | None:
    """Why a row is called so: as the answer says, or who was shown the same example."""
    if label == said.label:
        return said.feature
    shown = said.guess, said.example
    alike = (one for one in answers if (one.guess, one.example) == shown and one.label == label)
    return next((one.feature for one in alike if one.feature is not None), None)


def label_of(one: Answered) -> str | None:
    """What an answer calls its row; None if nothing."""
    if one.label is not None:
        return one.label
    return one.guess if one.answer == "right" else None


def is_settled(answers: tuple[Answered, ...]) -> bool:
    """Whether the owner has settled a disagreement."""
    one = teaching(answers)
    return one is not None and one.settles


def _as_change(
    said: Answered, label: str, feature: str | None
) -> tuple[str, str | None, str | None]:
    """What to change an answer to, so that it says a label: the guess may have been right."""
    if label == said.guess:
        return "right", None, None
    return "wrong", label, feature if said.example is not None else None


def reason_in_words(session: Session, feature: str) -> str:
    """A feature as it is read; as it was written, if the table has no such columns any more."""
    try:
        return spoken(session.table.parse(feature))
    except (FeatureError, TableChanged):
        return feature


@router.post("/repair")
@in_session
def save(session: Session, sent: Form, call: Call) -> Response:
    """Another answer, none, or the same once more: then it is no longer odd."""
    event, page = sent.get("event", ""), _page(sent.get("from", ""))
    call.must_have_answered(session, event)
    said = session.answer_of(event, viewer=call.viewer)
    if said is None:
        raise ParameterError(f"there is no answer {event!r}")
    before, changed_by = session.waiting(), 0
    what, feature = sent.get("do", ""), sent.get("feature", "").strip() or None
    label = sent.get("label", "").strip() or match_label(sent.get("typed", ""), session.labels)
    if "feature" in sent and feature is None and "none" not in sent:
        raise ParameterError("write a reason first, or choose one of the list")
    if what == "keep":
        session.confirm(call.name, event, id=sent.get("id"))
    elif what == "unkeep":
        if not said.confirmed:
            raise ParameterError(f"the answer about {name(said.item)} is not confirmed")
        whose = call.whose_acts(said.changed_by)
        session.undo(call.name, said.changes[-1], of=whose, id=sent.get("id"))
    elif what == "restore":
        if not said.changes:
            raise ParameterError(f"the answer about {name(said.item)} is not changed")
        whose = call.whose_acts(said.changed_by)
        session.undo(call.name, said.changes[-1], of=whose, id=sent.get("id"))
    elif what == "undo":
        whose = call.whose_acts(said.teacher)
        session.undo(call.name, event, of=whose, id=sent.get("id"))
    elif label is None:
        raise ParameterError("a label is wanted: what is it?")
    elif what == "ask" and _needs_reason(session, said, label):
        address = repair_address(session, said.item, page)
        return RedirectResponse(f"{address}&{urlencode({'event': event, 'label': label})}", 303)
    else:
        settles = what == "settle"
        if settles:
            call.must_own()
            answers = [
                one for one in session.history(viewer=call.viewer, item=said.item) if not one.undone
            ]
            feature = _reason(answers, said, label)
        said_now = _as_change(said, label, None if "none" in sent else feature)
        rules = Before(session.model, said.item, label, said_now[2])
        done = change_answer(session, call, event, *said_now, settles=settles, id=sent.get("id"))
        keep_for_later(session, done.number, rules)
        changed_by = done.number
    page, _, query = page.partition("?")
    asked = dict(parse_qsl(query))
    if page == "answers" and what == "keep":
        asked["kept"] = event
    elif page == "answers" and what in ("unkeep", "restore"):
        asked["undone"] = event
    elif what not in ("keep", "unkeep"):
        if page == "answers" and what != "undo":
            asked |= {"changed": event, "moved": str(changed_by)}
        asked["again"] = str(len(session.waiting() - (before - {said.item.place})))
    return redirect(session, f"/{with_query(page, asked)}")


def _page(came_from: str) -> str:
    """The page to go back to, with its query."""
    return came_from if came_from.partition("?")[0] in _PAGES else "teach"
