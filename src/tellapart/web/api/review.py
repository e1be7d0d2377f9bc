"""Looking back: history, rules, progress, disagreements, odd ones."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from tellapart.sessions import Session
from tellapart.web.dependencies import Call, Name, reply
from tellapart.web.schemas import sent, told
from tellapart.web.views import items, review, teaching

router = APIRouter(prefix="/sessions/{session}", tags=["review"])

Number = Annotated[int, Query(ge=1, le=10_000_000_000)]


@router.get("/history", response_model=told.History)
async def history(
    session: Name,
    call: Call,
    item: Annotated[str | None, Query(max_length=1000)] = None,
    teacher: Annotated[str | None, Query(max_length=200)] = None,
    before: Number | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """Answers, the latest first. Teachers see their own, the owner sees all."""
    whose = teacher if call.is_owner else call.name

    def work(s: Session) -> Any:
        return review.history(s, item=item, teacher=whose, before=before, limit=limit)

    return reply(await call.do(session, work))


@router.get("/rules", response_model=told.Rules)
async def rules(session: Name, call: Call, counts: bool = True) -> Response:
    """Every rule with its sentence, example, record, and how many items it labels."""
    return reply(await call.read(session, lambda s: review.rules(s, counts=counts)))


@router.get("/rules/{number}/items", response_model=told.Items)
async def rule_items(
    session: Name,
    number: int,
    call: Call,
    offset: Annotated[int, Query(ge=0, le=10_000_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> Response:
    """The items that a rule labels."""
    return reply(await call.read(session, lambda s: review.covered(s, number, offset, limit)))


@router.post("/rules/drop", response_model=told.Saved)
async def drop_rule(session: Name, body: sent.DropRule, call: Call) -> Response:
    """Drop the rule with an example. It can be undone."""

    def work(s: Session) -> Any:
        row = items.find(s.table, body.example)
        return teaching.saved(s.drop_rule(call.name, row, id=body.id))

    return reply(await call.do(session, work))


@router.post("/rules/edit", response_model=told.Saved)
async def edit_rule(session: Name, body: sent.EditRule, call: Call) -> Response:
    """Give the rule with an example another condition and label. It can be undone."""

    def work(s: Session) -> Any:
        row = items.find(s.table, body.example)
        done = s.edit_rule(call.name, row, body.condition, body.label, id=body.id)
        return teaching.saved(done)

    return reply(await call.do(session, work))


@router.get("/progress", response_model=told.Course)
async def progress(
    session: Name,
    call: Call,
    m: Annotated[int | None, Query(ge=1, le=100_000)] = None,
    k: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> Response:
    """How far it is: mistakes, the last 20, the error with its interval, the bound."""
    return reply(await call.do(session, lambda s: review.progress(s, m, k)))


@router.get("/disagreements", response_model=told.Disputes)
async def disagreements(session: Name, call: Call) -> Response:
    """Items that teachers called differently, with both reasons, and how far they agree."""
    return reply(await call.read(session, review.disagreements))


@router.get("/odd", response_model=told.OddOnes)
async def odd(
    session: Name, call: Call, limit: Annotated[int, Query(ge=1, le=1000)] = 50
) -> Response:
    """Answers that the others contradict: slips, or exceptions. Of one's own, or all of them."""
    whose = None if call.is_owner else call.name
    return reply(await call.read(session, lambda s: review.odd(s, limit, whose)))
