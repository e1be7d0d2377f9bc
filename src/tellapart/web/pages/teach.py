"""The teaching page: item, guess, example; right, or what it is and what tells the two apart."""

from __future__ import annotations

import mimetypes
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response

from tellapart.errors import FeatureError, ParameterError
from tellapart.features.candidates import Candidate
from tellapart.features.phrasing import counted, spoken
from tellapart.sessions import Ending, Given, Session, labels
from tellapart.sessions.phrasing import (
    changed_notice,
    counted_in,
    effect,
    ending_text,
    notice,
    swept_notice,
    undone_notice,
    why_again,
    why_marked,
)
from tellapart.sessions.tour import hint
from tellapart.web.api.teaching import check_feature, give_answer, given_to
from tellapart.web.auth import Call, Caller
from tellapart.web.errors import Refused
from tellapart.web.pages.comparison import Source, compare, is_picture
from tellapart.web.pages.render import (
    Again,
    Form,
    draw,
    frame,
    home,
    keys_of,
    redirect,
    repair_address,
    shown_key,
)
from tellapart.web.session_pool import draws, in_session, reads_session

_PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
"""An SVG that is opened by itself could run scripts; as an image it cannot."""

router = APIRouter(prefix="/s/{session}")


_EMPTY = (
    *("shown", "ending", "label", "written", "wrong", "said", "hint", "column"),
    *("why", "wrong_example", "other_label", "sweep"),
)
Count = Annotated[int | None, Query(ge=0, le=10_000_000)]
_SHORT = 24  # characters of a label beside each candidate; the heading has all of it


def _fragments(values: dict[str, Any]) -> Response:
    """Parts of the page, each to take the place of the element with its id."""
    drawn = draw("card.html", **values) + draw("status.html", **values)
    return HTMLResponse(drawn, headers={"x-swap": "1"})


@router.get("/teach")
@in_session
def teach(
    session: Session,
    call: Call,
    again: Again = None,
    accepted: Count = None,
    marked: Count = None,
) -> Response:
    """`again`: an answer was changed, and so many need a reason again. `accepted`, `marked`: what
    became of a sweep."""
    said = changed_notice(again)
    if accepted is not None and marked is not None:
        said = swept_notice(accepted, marked)
    values = _card(session, call, said=said)
    return HTMLResponse(draw("teach.html", title="Teach", here="/teach", **values))


@router.get("/card")
@draws(_fragments)
def card(session: Session, call: Call) -> dict[str, Any]:
    """The item before the teacher, as a fragment."""
    return _card(session, call)


@router.get("/label")
@draws(_fragments)
def label(
    session: Session,
    call: Call,
    given: Annotated[str, Query(max_length=100)],
    label: Annotated[str, Query(max_length=200)] = "",
    typed: Annotated[str, Query(max_length=210)] = "",
    column: Annotated[str, Query(max_length=1000)] = "",
) -> dict[str, Any]:
    """The teacher says what it is: now, what tells it from the example? All candidates, or those
    of a column."""
    shown = given_to(session, call, given)
    wanted = _label(session, {"label": label, "typed": typed})
    if wanted is None:
        raise ParameterError("a label is wanted: choose one, or type a new one")
    # the rules may have changed since the page was drawn, and the guess with them
    now = session.next(call.name)
    if not isinstance(now, Given) or now.item.identity != shown.item.identity:
        return _card(session, call, said="Somebody else has that item now.")
    if wanted == now.guess.label:
        return _answer(session, call, {"given": now.id, "answer": "right"})
    return _card(session, call, label=wanted, column=column or None)


@router.post("/answer")
@draws(_fragments)
def answer(session: Session, sent: Form, call: Call) -> dict[str, Any]:
    """An answer; then the next item."""
    return _answer(session, call, sent)


@router.post("/turn")
@draws(_fragments)
def turn(session: Session, sent: Form, call: Call) -> dict[str, Any]:
    redo = sent.get("do") == "redo"
    saved = (session.redo if redo else session.undo)(call.name, id=sent.get("id"))
    return _card(session, call, said=undone_notice(saved, redo=redo))


@router.post("/note")
@draws(_fragments)
def note(session: Session, sent: Form, call: Call) -> dict[str, Any]:
    item = given_to(session, call, sent.get("given", "")).item
    session.note(call.name, sent.get("text", ""), item, id=sent.get("id"))
    return _card(session, call, said="Noted.")


@router.post("/search")
@in_session
def search(session: Session, request: Request, sent: Form, call: Call) -> Response:
    """Look for items; then the first of them."""
    session.search(call.name, sent.get("text", ""), id=sent.get("id"))
    values = _card(session, call)
    if "x-fragment" not in request.headers or sent.get("from") == "data":
        return redirect(session, "/teach")
    return _fragments(values)


@router.post("/tag")
@draws(_fragments)
def tag(session: Session, sent: Form, call: Call) -> dict[str, Any]:
    """A tag that the item has and the example has not, and the answer it makes."""
    shown = given_to(session, call, sent.get("given", ""))
    name = sent.get("tag", "").strip()
    feature = session.tag_apart(call.name, shown, name, id=sent.get("id"))
    return _answer(session, call, {**sent, "answer": "wrong", "feature": feature})


@router.post("/tagged")
@draws(_fragments)
def tagged(session: Session, sent: Form, call: Call) -> dict[str, Any]:
    """Whether the item has a tag that the guess asks for; then the guess anew."""
    item = given_to(session, call, sent.get("given", "")).item
    tag, value = sent.get("tag", ""), sent.get("value") == "yes"
    session.set_tag(call.name, tag, item, value, id=sent.get("id"))
    return _card(session, call, said=f"{tag}: {'yes' if value else 'no'}.")


@router.get("/check")
@reads_session
def check(
    session: Session,
    call: Call,
    given: Annotated[str, Query(max_length=100)],
    feature: Annotated[str, Query(max_length=20_000)],
) -> Response:
    """What is to be said of a condition while it is typed."""
    shown = session.given(given) if call.is_owner else given_to(session, call, given)
    found = check_feature(session, feature, shown.item, shown.guess.example)
    covers = f" ({counted(found.items or 0, 'item')})" if found.tells else ""
    return JSONResponse({"says": found.message + covers, "tells": found.tells})


@router.get("/file")
async def picture(call: Call, path: Annotated[str, Query(max_length=1000)]) -> Response:
    """A picture that a cell names, if it lies beside the table or beneath."""
    found = _picture_file(call, path)
    if found is None:
        raise Refused(404, "NoPicture", "there is no such picture beside the table")
    kind = mimetypes.guess_type(found.name)[0] or "application/octet-stream"
    headers = {"content-security-policy": _PICTURE_POLICY}
    return FileResponse(found, media_type=kind, headers=headers)


def _picture_file(call: Caller, name: str) -> Path | None:
    found = call.pool.file(name)
    return found if found is not None and is_picture(found.name) else None


def _picture_address(session: Session, call: Caller, picture: str) -> str | None:
    """Where the page gets a picture that a cell names; None if there is none."""
    if not is_picture(picture) or _picture_file(call, picture) is None:
        return None
    return f"{home(session.name)}/file?{urlencode({'path': picture})}"


def picture_of(session: Session, call: Caller) -> Source:
    """Where pictures that cells name can be had."""
    return lambda picture: _picture_address(session, call, picture)


def _answer(session: Session, call: Caller, sent: dict[str, str]) -> dict[str, Any]:
    given, answer = sent.get("given", ""), sent.get("answer", "")
    label = _label(session, sent) if answer == "wrong" else None
    feature = sent.get("feature", "").strip() or None
    if "feature" in sent and feature is None:
        raise ParameterError("write a condition first, or choose one of the list")
    if answer != "wrong":
        feature = None
    try:
        done = give_answer(session, call, given, answer, label, feature, id=sent.get("id"))
    except FeatureError as error:
        return _card(session, call, label=label, written=feature, wrong=str(error).splitlines()[0])
    return _card(session, call, said=notice(done.outcome))


def _label(session: Session, sent: dict[str, str]) -> str | None:
    """The label that was chosen, or else the one that was typed."""
    return sent.get("label", "").strip() or labels.match_label(
        sent.get("typed", ""), session.labels
    )


def _card(session: Session, call: Caller, **more: Any) -> dict[str, Any]:
    found = session.next(call.name)
    values: dict[str, Any] = {
        **dict.fromkeys(_EMPTY),
        "candidates": [],
        "counted": "",
        "tags": list(session.table.tags),
        "labels": [],
        "looking": session.search_of(call.name),
        "can_undo": session.can_undo(call.name),
        "can_redo": session.can_redo(call.name),
    }
    values |= more
    if isinstance(found, Ending):
        values["ending"] = ending_text(found)
    else:
        _fill(session, call, found, values)
    return {**values, **frame(session, call)}


def _fill(session: Session, call: Caller, given: Given, values: dict[str, Any]) -> None:
    values["shown"] = compare(given, picture_of(session, call))
    example = given.guess.example
    # an answer that the caller may change
    if example is not None and session.history(viewer=call.viewer, item=example):
        values["wrong_example"] = repair_address(session, example, "teach")
    if given.asks == "answer":
        values["sweep"] = f"{home(session.name)}/sweep?{urlencode({'item': given.item.identity})}"
    again = why_again(session.asked_again(given.id), given.guess)
    values["why"] = again or why_marked(given)
    if call.app.pages.tour:
        values["hint"] = hint(given, say="type", undo=shown_key(keys_of(call)["undo"]))
    if given.asks == "feature":
        values["label"] = given.kept
        if session.history(viewer=call.viewer, item=given.item):
            values["other_label"] = repair_address(session, given.item, "teach")
    if values["label"] is not None:
        found = session.candidates(given.id, values["label"], column=values["column"])
        values["counted"] = counted_in(found)
        values["candidates"] = feature_choices(found, values["label"])
    values["labels"] = label_choices(session)


def feature_choices(found: Sequence[Candidate], label: str) -> list[dict[str, str]]:
    """Candidates as the page lists them."""
    label = label if len(label) <= _SHORT else f"{label[: _SHORT - 1]}…"
    return [
        {"text": str(one.feature), "said": spoken(one.feature), "does": effect(one, label)}
        for one in found
    ]


def label_choices(session: Session) -> list[dict[str, str | None]]:
    """The labels as the page lists them: each has its key for good, by the order of its coming."""
    meanings = session.meanings
    return [
        {"label": label, "key": str(n) if n < 10 else None, "means": meanings.get(label)}
        for n, label in enumerate(session.labels, 1)
    ]
