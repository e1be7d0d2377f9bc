"""The conversation: next, check, answer, undo, redo, change."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from tellapart.errors import ProtocolError
from tellapart.sessions import Given, Saved, Session
from tellapart.web.dependencies import Call, Caller, Name, reply
from tellapart.web.schemas import sent, told
from tellapart.web.views import items, teaching

router = APIRouter(prefix="/sessions/{session}", tags=["teaching"])


def given_to(session: Session, teacher: str, id: str) -> Given:
    """What was given to a teacher under an id."""
    found = session.given(id)
    if found.teacher != teacher:
        raise ProtocolError(f"{id!r} was not given to you")
    return found


@router.post("/next", response_model=told.Next)
async def next_item(session: Name, call: Call, body: sent.Begin | None = None) -> Response:
    """The next item: the one you have already, or a new one, leased to you."""
    wish = body or sent.Begin()

    def work(s: Session) -> Any:
        return teaching.next_item(s, call.name, wish.id, offer=wish.candidates)

    return reply(await call.do(session, work))


@router.get("/candidates", response_model=told.Candidates)
async def candidates(
    session: Name,
    call: Call,
    given: Annotated[str, Query(max_length=100)],
    label: Annotated[str | None, Query(max_length=200)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = teaching.OFFERED,
) -> Response:
    """Features that tell the item from its example, ranked for a label."""

    def work(s: Session) -> Any:
        given_to(s, call.name, given)
        return {"candidates": teaching.candidates(s, given, label, limit)}

    return reply(await call.do(session, work))


@router.post("/search", response_model=told.Saved)
async def search(session: Name, body: sent.Search, call: Call) -> Response:
    """Be given next the items that a condition or words fit; they do not count as drawn."""

    def work(s: Session) -> Any:
        return teaching.saved(s.search(call.name, body.text, id=body.id))

    return reply(await call.do(session, work))


@router.post("/check", response_model=told.Checked)
async def check(session: Name, body: sent.Try, call: Call) -> Response:
    """Whether an expression holds here and not there, and on how many items. Changes nothing."""

    def work(s: Session) -> Any:
        here, there = None, None
        if body.given is not None:
            shown = given_to(s, call.name, body.given)
            here, there = shown.item, shown.guess.example
        if body.item is not None:
            here = items.find(s.table, body.item)
        if body.example is not None:
            there = items.find(s.table, body.example)
        return items.check(s, body.feature, here, there)

    return reply(await call.do(session, work))


@router.post("/answers", response_model=told.SavedNext)
async def answer(session: Name, body: sent.Said, call: Call) -> Response:
    """Answer to what was given. When this returns, the answer is safely in the log."""

    def work(s: Session) -> Any:
        before = s.number
        done = s.answer(call.name, body.given, body.answer, body.label, body.feature, id=body.id)
        if done.number > before:  # and not a repeat
            call.house.metrics.answer(done.outcome)
        return _with_next(s, call, done, body)

    return reply(await call.do(session, work))


@router.post("/undo", response_model=told.SavedNext)
async def undo(session: Name, call: Call, body: sent.Turn | None = None) -> Response:
    """Take back your latest act, or one that you name."""
    turn = body or sent.Turn()
    return reply(
        await call.do(
            session,
            lambda s: _with_next(s, call, s.undo(call.name, turn.event, id=turn.id), turn),
        )
    )


@router.post("/redo", response_model=told.SavedNext)
async def redo(session: Name, call: Call, body: sent.Turn | None = None) -> Response:
    """Do again what you undid last, or one that you name."""
    turn = body or sent.Turn()
    return reply(
        await call.do(
            session,
            lambda s: _with_next(s, call, s.redo(call.name, turn.event, id=turn.id), turn),
        )
    )


@router.post("/change", response_model=told.Saved)
async def change(session: Name, body: sent.Changed, call: Call) -> Response:
    """Another answer in place of an earlier one: your own, or, for the owner, anybody's."""

    def work(s: Session) -> Any:
        call.must_have_said(s, body.event)
        done = s.change(call.name, body.event, body.answer, body.label, body.feature, id=body.id)
        return teaching.saved(done)

    return reply(await call.do(session, work))


def _with_next(
    session: Session, call: Caller, done: Saved, wish: sent.Said | sent.Turn
) -> dict[str, Any]:
    after = None
    if wish.next:
        after = teaching.next_item(session, call.name, offer=wish.candidates)
    return {"saved": teaching.saved(done), "next": after}
