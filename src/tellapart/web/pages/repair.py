"""The repair view: one answer, its item beside its example, and another answer in its place.

Teach, Odd ones, Disagreements, History, Data and Rules all open it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlencode

from fastapi import APIRouter, Query
from starlette.responses import HTMLResponse, Response

from tellapart.errors import FeatureError, ParameterError, TableChanged
from tellapart.features.phrasing import spoken
from tellapart.sessions import Answered, OddOne, Session
from tellapart.sessions.labels import match_label
from tellapart.sessions.phrasing import counted_in, name
from tellapart.tables import Row
from tellapart.web.api.teaching import change_answer, find_item
from tellapart.web.auth import Call, Caller
from tellapart.web.pages.comparison import compare
from tellapart.web.pages.render import Form, draw, frame, redirect, repair_address, with_query
from tellapart.web.pages.teach import label_choices, picture_of, reason_choices
from tellapart.web.session_pool import in_session, reads_session

router = APIRouter(prefix="/s/{session}")
_PAGES = ("teach", "odd", "disagreements", "history", "data", "rules")

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
    typed: Annotated[str, Query(max_length=210)] = "",
    came_from: Page = "teach",
) -> Response:
    """An answer about an item; with a label, what it is instead, and what tells it apart."""
    row = find_item(session.table, item)
    page = _page(came_from)
    said = _answer_to_repair(session, call, row, event)
    values: dict[str, Any] = {
        **dict.fromkeys(("shown", "answer", "words", "label", "why", "expected", "needs_reason")),
        "item": name(row),
        "page": page,
        "here_again": f"{repair_address(session, row, page)}&{urlencode({'event': event})}",
        "back": "",  # the page has its own way back
        "candidates": [],
        "counted": "",
        "settles": [],
        "settled": False,
        "labels": label_choices(session),
        "mine": said is not None and said.teacher == call.name,
    }
    if said is not None:
        call.must_have_answered(session, said.id)
        _fill(session, call, said, values, label.strip() or match_label(typed, session.labels))
    values |= {"title": "Repair", **frame(session, call, "/repair")}
    return HTMLResponse(draw("repair.html", **values))


def _answer_to_repair(session: Session, call: Caller, item: Row, event: str) -> Answered | None:
    """The answer that is named, or else the one that teaches, or else the last one."""
    answers = [one for one in session.history(viewer=call.viewer, item=item) if not one.undone]
    if event:
        return next((one for one in answers if one.id == event), None)
    return teaching(answers) or (answers[-1] if answers else None)


def teaching(answers: list[Answered] | tuple[Answered, ...]) -> Answered | None:
    """Of the answers about an item, the one that was learnt from or waits for a reason."""
    return next((one for one in answers if one.outcome not in (None, *_UNTAUGHT)), None)


_UNTAUGHT = ("opinion", "unsure", "skipped")


def _fill(
    session: Session, call: Caller, said: Answered, values: dict[str, Any], label: str | None
) -> None:
    question = session.question_of(said.id)
    values["answer"], values["words"] = said, in_words(session, said)
    now = session.guess_now(said.id)
    shown = question if now is None else question._replace(guess=now)
    values["shown"] = compare(shown, picture_of(session, call))
    values["label"] = label
    if label is not None:
        # a reason against another example than that of now would be asked for once more
        values["needs_reason"] = now is None and question.guess.label not in (None, label)
        if values["needs_reason"]:
            found = session.candidates(question.id, label)
            values["candidates"] = reason_choices(found)
            values["counted"] = counted_in(found)
        return
    if values["page"] == "odd":
        odd = _odd(session, call, said)
        values["why"] = None if odd is None else odd.why
        values["expected"] = None if odd is None else odd.expected
    if call.is_owner:
        values["settled"] = said.settles and said.confirmed
        values["settles"] = _ways_to_settle(session, call, said)
    voiced = {way["label"] for way in values["settles"]}
    taken = {way["key"] for way in values["settles"]}
    for one in values["labels"]:
        if one["label"] in voiced or one["key"] in taken:
            one["key"] = None  # it settles at once, there
        elif one["label"] == values["expected"] and one["key"] is None and "0" not in taken:
            one["key"] = "0"


def _odd(session: Session, call: Caller, said: Answered) -> OddOne | None:
    listed = session.odd_ones(viewer=call.viewer, everything=True)
    return next((one for one in listed if one.answer.id == said.id), None)


def _ways_to_settle(session: Session, call: Caller, said: Answered) -> list[dict[str, Any]]:
    """What teachers called an item differently: each label with who said it."""
    dispute = next(
        (
            d
            for d in session.disagreements(viewer=call.viewer)
            if d.item.identity == said.item.identity
        ),
        None,
    )
    if dispute is None or is_settled(dispute.answers):
        return []
    keys = {one["label"]: one["key"] for one in label_choices(session)}
    ways: dict[str, dict[str, Any]] = {}
    for one in dispute.answers:
        label = str(one.label)
        way = ways.setdefault(label, {"label": label, "who": [], "key": keys.get(label)})
        way["who"].append(one.teacher)
    free = [key for key in "0987654321" if all(way["key"] != key for way in ways.values())]
    for way in ways.values():
        if way["key"] is None and free:
            way["key"] = free.pop(0)  # a tenth label has no key of its own
    return list(ways.values())


def _reason(answers: Iterable[Answered], said: Answered, label: str) -> str | None:
    """Why an item is called so: as the answer says, or who was shown the same example."""
    if label == said.label:
        return said.feature
    alike = (one for one in answers if one.guess == said.guess and one.label == label)
    return next((one.feature for one in alike if one.feature is not None), None)


def is_settled(answers: tuple[Answered, ...]) -> bool:
    """Whether the owner has settled a disagreement."""
    one = teaching(answers)
    return one is not None and one.settles


def _as_change(
    said: Answered, label: str, feature: str | None
) -> tuple[str, str | None, str | None]:
    """What to change an answer to, so that it says a label: the guess may have been right."""
    if label == said.guess.label:
        return "right", None, None
    return "wrong", label, feature if said.guess.example is not None else None


def in_words(session: Session, one: Answered) -> str:
    """What was answered."""
    if one.answer != "wrong":
        return one.answer
    if one.feature is None:
        return f"{one.label}"
    return f"{one.label}, because {reason_in_words(session, one.feature)}"


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
    event, page = sent.get("event", ""), sent.get("from", "")
    call.must_have_answered(session, event)
    said = next((one for one in session.history(viewer=call.viewer) if one.id == event), None)
    if said is None:
        raise ParameterError(f"there is no answer {event!r}")
    before = session.waiting()
    what, label = sent.get("do", ""), sent.get("label", "").strip()
    feature = sent.get("feature", "").strip() or None
    if "feature" in sent and feature is None:
        raise ParameterError("write a condition first, or choose one of the list")
    if what == "keep":
        session.confirm(call.name, event, id=sent.get("id"))
    elif what == "unkeep":
        if not said.confirmed:
            raise ParameterError(f"the answer about {name(said.item)} is not confirmed")
        whose = call.whose_acts(said.changed_by)
        session.undo(call.name, said.changes[-1], of=whose, id=sent.get("id"))
    elif what == "undo":
        whose = call.whose_acts(said.teacher)
        session.undo(call.name, event, of=whose, id=sent.get("id"))
    elif what == "unsure":
        change_answer(session, call, event, "unsure", None, None, id=sent.get("id"))
    elif not label:
        raise ParameterError("a label is wanted: what is it?")
    else:
        settles = what == "settle"
        if settles:
            call.must_own()
            answers = [
                one for one in session.history(viewer=call.viewer, item=said.item) if not one.undone
            ]
            feature = _reason(answers, said, label)
        said_now = _as_change(said, label, feature)
        change_answer(session, call, event, *said_now, settles=settles, id=sent.get("id"))
    page, _, query = _page(page).partition("?")
    asked: dict[str, object] = dict(parse_qsl(query))
    if what == "keep" and page == "odd":
        asked["kept"] = event
    elif what not in ("keep", "unkeep"):
        asked["again"] = str(len(session.waiting() - (before - {said.item.place})))
    return redirect(session, f"/{with_query(page, asked)}")


def _page(came_from: str) -> str:
    """The page to go back to, with its query."""
    return came_from if came_from.partition("?")[0] in _PAGES else "teach"
