"""The teaching page: item, guess, example; right, or what it is and what tells the two apart."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response

from tellapart.errors import FeatureError, ParameterError
from tellapart.features.phrasing import counted, spoken
from tellapart.sessions import Ending, Given, Session, labels
from tellapart.sessions.phrasing import covers, ending_text, notice
from tellapart.sessions.tour import HINTS
from tellapart.web.api.teaching import check_feature, give_answer, given_to
from tellapart.web.auth import Call, Caller, SessionName
from tellapart.web.errors import Refused
from tellapart.web.pages.comparison import compare, is_picture
from tellapart.web.pages.render import Form, draw, fragments, frame, home, page, redirect

router = APIRouter(prefix="/s/{session}")


@router.get("/teach")
async def teach(session: SessionName, call: Call) -> Response:
    """The whole page."""
    values = await call.pool.run(session, lambda s: _card(s, call))
    return page("teach.html", title="Teach", here="/teach", **values)


@router.get("/card")
async def card(session: SessionName, call: Call) -> Response:
    """The item before the teacher, as a part."""
    return await call.pool.run_and_draw(session, lambda s: _card(s, call), _fragments)


@router.get("/label")
async def label(
    session: SessionName,
    call: Call,
    given: Annotated[str, Query(max_length=100)],
    label: Annotated[str, Query(max_length=200)] = "",
    typed: Annotated[str, Query(max_length=210)] = "",
) -> Response:
    """The teacher says what it is: now, what tells it from the example?"""

    def work(s: Session) -> dict[str, Any]:
        shown = given_to(s, call, given)
        wanted = _label(s, {"label": label, "typed": typed})
        if wanted is None:
            raise ParameterError("a label is wanted: choose one, or type a new one")
        if wanted == shown.guess.label:
            return _answer(s, call, {"given": given, "answer": "right"})
        return _card(s, call, label=wanted)

    return await call.pool.run_and_draw(session, work, _fragments)


@router.post("/answer")
async def answer(session: SessionName, sent: Form, call: Call) -> Response:
    """An answer; then the next item."""
    return await call.pool.run_and_draw(session, lambda s: _answer(s, call, sent), _fragments)


@router.post("/turn")
async def turn(session: SessionName, sent: Form, call: Call) -> Response:
    """Undo or redo."""

    def work(s: Session) -> dict[str, Any]:
        redo = sent.get("do") == "redo"
        (s.redo if redo else s.undo)(call.name, id=sent.get("id"))
        return _card(s, call, said="Redone." if redo else "Undone.")

    return await call.pool.run_and_draw(session, work, _fragments)


@router.post("/note")
async def note(session: SessionName, sent: Form, call: Call) -> Response:
    """A note about the item at hand."""

    def work(s: Session) -> dict[str, Any]:
        item = given_to(s, call, sent.get("given", "")).item
        s.note(call.name, sent.get("text", ""), item, id=sent.get("id"))
        return _card(s, call, said="Noted.")

    return await call.pool.run_and_draw(session, work, _fragments)


@router.post("/search")
async def search(session: SessionName, request: Request, sent: Form, call: Call) -> Response:
    """Look for items; then the first of them."""

    def work(s: Session) -> dict[str, Any]:
        s.search(call.name, sent.get("text", ""), id=sent.get("id"))
        return _card(s, call)

    values = await call.pool.run(session, work)
    if "x-fragment" not in request.headers or sent.get("from") == "data":
        return redirect(home(session) + "/teach")
    return _fragments(values)


@router.post("/tag")
async def tag(session: SessionName, sent: Form, call: Call) -> Response:
    """A tag that the item has and the example has not, and the answer it makes."""

    def work(s: Session) -> dict[str, Any]:
        shown = given_to(s, call, sent.get("given", ""))
        name, made = sent.get("tag", "").strip(), sent.get("id")
        feature = s.tag_apart(call.name, shown, name, id=made)
        return _answer(s, call, {**sent, "answer": "wrong", "feature": feature})

    return await call.pool.run_and_draw(session, work, _fragments)


@router.get("/check")
async def check(
    session: SessionName,
    call: Call,
    given: Annotated[str, Query(max_length=100)],
    feature: Annotated[str, Query(max_length=20_000)],
) -> Response:
    """What is to be said of a condition while it is typed."""

    def work(s: Session) -> dict[str, Any]:
        shown = given_to(s, call, given)
        found = check_feature(s, feature, shown.item, shown.guess.example)
        covers = f" ({counted(found.items or 0, 'item')})" if found.tells else ""
        return {"says": found.message + covers, "tells": found.tells}

    return JSONResponse(await call.pool.run(session, work))


@router.get("/file")
async def picture(call: Call, path: Annotated[str, Query(max_length=1000)]) -> Response:
    """A picture that a cell names, if it lies beside the table or beneath."""
    folder = call.pool.folder
    found = _inside(folder, path)
    if found is None:
        raise Refused(404, "NoPicture", "there is no such picture beside the table")
    kind = mimetypes.guess_type(found.name)[0] or "application/octet-stream"
    # an SVG opened by itself could run scripts; as an image it cannot
    return FileResponse(found, media_type=kind, headers={"content-security-policy": "sandbox"})


def _inside(folder: Path, name: str) -> Path | None:
    try:
        path = (folder / name).resolve()
        good = path.is_relative_to(folder) and path.is_file() and is_picture(path.name)
    except (OSError, ValueError):
        return None
    return path if good else None


def _answer(session: Session, call: Caller, sent: dict[str, str]) -> dict[str, Any]:
    given, answer = sent.get("given", ""), sent.get("answer", "")
    label = _label(session, sent)
    feature = sent.get("feature", "").strip() or None
    if "feature" in sent and feature is None:
        raise ParameterError("write a condition first, or choose one of the list")
    if answer != "wrong":
        label = feature = None
    try:
        done = give_answer(session, call, given, answer, label, feature, sent.get("id"))
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
        "shown": None,
        "ending": None,
        "label": None,
        "written": None,
        "wrong": None,
        "said": None,
        "hint": None,
        "candidates": [],
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
    folder = call.pool.folder

    def where(name: str) -> str | None:
        if _inside(folder, name) is None:
            return None
        return f"{home(session.name)}/file?{urlencode({'path': name})}"

    values["shown"] = compare(given, where)
    if call.app.pages.tour:
        values["hint"] = HINTS.get(str(given.item))
    if given.asks == "feature":
        values["label"] = given.kept
    if values["label"] is not None:
        values["candidates"] = [
            {"text": str(one.feature), "said": spoken(one.feature), "covers": covers(one)}
            for one in session.candidates(given.id, values["label"])
        ]
    # a label has its key for good, by the order of its coming
    keyed = {label: str(n) for n, label in enumerate(session.labels, 1) if n < 10}
    meanings = session.meanings
    values["labels"] = [
        {"label": label, "key": keyed.get(label), "means": meanings.get(label)}
        for label in session.labels
    ]


def _fragments(values: dict[str, Any]) -> Response:
    return fragments(draw("card.html", **values), draw("status.html", **values))
