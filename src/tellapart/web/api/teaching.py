"""The conversation: next, check, answer, undo, redo, change. Pages call the same functions."""

from __future__ import annotations

from collections.abc import Hashable
from datetime import date, datetime
from typing import Annotated, Any, cast

import numpy as np
from fastapi import APIRouter, Query

from tellapart import codec, sessions
from tellapart.errors import FeatureError, ParameterError, ProtocolError
from tellapart.features import Expression
from tellapart.features.tree import Type
from tellapart.sessions import Ending, Session
from tellapart.sessions.events import stamp
from tellapart.tables import Row, Table
from tellapart.tables.packed_columns import evaluate
from tellapart.web.api import schemas
from tellapart.web.api.schemas import Candidate, Checked, Given, Item, Next, Progress, Saved
from tellapart.web.auth import Call, Caller, SessionName

router = APIRouter(prefix="/sessions/{session}", tags=["teaching"])
MAX_CANDIDATES = 30
"""So many candidate features are offered, at most."""


# -- what is shown


def show_next(
    session: Session, teacher: str, id: str | None = None, *, candidates: bool = True
) -> Next:
    """The next item for a teacher, with everything to decide on it; or that there is none.

    `candidates`: with candidate features, which take longest to find.
    """
    found = session.next(teacher, id=id)
    ending = found if isinstance(found, Ending) else None
    given = None if isinstance(found, Ending) else _given(session, found, candidates=candidates)
    return Next(
        done=given is None,
        message=None if ending is None else str(ending),
        busy=0 if ending is None else ending.busy,
        given=given,
        labels=session.labels,
        progress=Progress.of(session.summary() if ending is None else ending.summary),
        can_undo=session.can_undo(teacher),
        can_redo=session.can_redo(teacher),
        saved=session.number,
    )


def _given(session: Session, given: sessions.Given, *, candidates: bool) -> Given:
    item, example = given.item, given.guess.example
    return Given(
        id=given.id,
        asks=cast(Any, given.asks),
        kept=given.kept,
        until=stamp(given.until),
        item=Item.of(item),
        guess=cast(Any, given.guess.label),
        example=None if example is None else Item.of(example),
        differs=[] if example is None else _differences(item, example),
        candidates=_candidates(session, given.id) if candidates else [],
    )


def _differences(item: Row, example: Row) -> list[schemas.Difference]:
    """The columns in which two items differ, with both values."""
    return [
        schemas.Difference(name, schemas.plain(value), schemas.plain(example.get(name)))
        for name, value in item.items()
        if value != example.get(name)
    ]


def _candidates(
    session: Session, given: str, label: str | None = None, limit: int = MAX_CANDIDATES
) -> list[Candidate]:
    return [Candidate.of(one) for one in session.candidates(given, label, limit=limit)]


def given_to(session: Session, call: Caller, id: str) -> sessions.Given:
    """What was given to the caller under an id."""
    found = session.given(id)
    if found.teacher != call.name:
        raise ProtocolError(f"{id!r} was not given to you")
    return found


def find_item(table: Table, sent: Any) -> Row:
    """The item that a client means by an id, as `Item.id` has it.

    An address can only hold a text: there, one that reads as the right type will do.
    """
    try:
        identity: Hashable = codec.decode(sent)
        hash(identity)
    except TypeError:
        raise ParameterError(f"{sent!r} is no id of an item") from None
    if isinstance(identity, str):
        identity = _read_id(table, identity)
    return table.items[table.place(identity)]


def _read_id(table: Table, text: str) -> Hashable:
    kind = Type.INTEGER if table.id is None else table.types[table.id]
    readers: dict[Type, Any] = {
        Type.INTEGER: int,
        Type.NUMBER: float,
        Type.DATE: date.fromisoformat,
        Type.DATETIME: datetime.fromisoformat,
    }
    try:
        identity: Hashable = readers.get(kind, str)(text)
    except ValueError:
        return text
    return {"true": True, "false": False}.get(text, text) if kind is Type.BOOL else identity


def check_feature(
    session: Session, text: str, item: Row | None = None, example: Row | None = None
) -> Checked:
    """Whether a text is a feature, on how many items it holds, and whether it tells two apart."""
    table = session.table
    try:
        feature = table.parse(text)
    except FeatureError as error:
        spot = None if error.spot is None else list(error.spot)
        message = str(error).splitlines()[0]
        return Checked(False, message, spot, None, here=None, there=None, tells=False, items=None)
    here = None if item is None else feature.value(item)
    there = None if example is None else feature.value(example)
    return Checked(
        valid=True,
        message=_verdict(feature, item, here, example, there),
        spot=None,
        feature=str(feature),
        here=here,
        there=there,
        tells=here is True and there is not True,
        items=_count(table, feature),
    )


def _count(table: Table, feature: Expression) -> int:
    """On how many items a feature holds. One that was only tried is not kept in memory."""
    if table.knows(feature):
        return table.count(feature)
    return int(np.bitwise_count(evaluate(table, feature)).sum())


def _verdict(
    feature: Expression, item: Row | None, here: Any, example: Row | None, there: Any
) -> str:
    if item is None:
        return "this is a feature"
    if here is not True:
        how = "is unknown" if here is None else "does not hold"
        return f"{feature} {how} on {item}; it must hold there"
    if example is not None and there is True:
        return f"{feature} holds on {example} as well; it must not hold there"
    return f"{feature} holds on {item}" + ("" if example is None else f" and not on {example}")


# -- what teachers do


def give_answer(
    session: Session,
    call: Caller,
    given: str,
    answer: str,
    label: str | None,
    feature: str | None,
    id: str | None,
) -> sessions.Saved:
    """Answer to what was given, and count it."""
    before = session.number
    done = session.answer(call.name, given, answer, label, feature, id=id)
    if done.number > before:  # and not a repeat
        call.app.metrics.answers.labels(done.outcome or "none").inc()
    return done


def change_answer(
    session: Session,
    call: Caller,
    event: str,
    answer: str,
    label: str | None,
    feature: str | None,
    id: str | None,
) -> sessions.Saved:
    """Another answer in place of an earlier one: one's own, or, for the owner, anybody's."""
    call.must_have_answered(session, event)
    return session.change(call.name, event, answer, label, feature, id=id)


# -- routes


@router.post("/next")
async def next_item(session: SessionName, call: Call, body: schemas.Begin | None = None) -> Next:
    """The next item: the one you have already, or a new one, leased to you."""
    wish = body or schemas.Begin()
    return await call.pool.run(
        session, lambda s: show_next(s, call.name, wish.id, candidates=wish.candidates)
    )


@router.get("/candidates")
async def candidates(
    session: SessionName,
    call: Call,
    given: Annotated[str, Query(max_length=100)],
    label: Annotated[str | None, Query(max_length=200)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = MAX_CANDIDATES,
) -> schemas.Candidates:
    """Features that tell the item from its example, ranked for a label."""

    def work(s: Session) -> schemas.Candidates:
        given_to(s, call, given)
        return schemas.Candidates(_candidates(s, given, label, limit))

    return await call.pool.run(session, work)


@router.post("/search")
async def search(session: SessionName, body: schemas.Search, call: Call) -> Saved:
    """Be given next the items that a condition or words fit; they do not count as drawn."""
    return await call.pool.run(
        session, lambda s: Saved(*s.search(call.name, body.text, id=body.id))
    )


@router.post("/check")
async def check(session: SessionName, body: schemas.Try, call: Call) -> Checked:
    """Whether an expression holds here and not there, and on how many items. Changes nothing."""

    def work(s: Session) -> Checked:
        item, example = None, None
        if body.given is not None:
            shown = given_to(s, call, body.given)
            item, example = shown.item, shown.guess.example
        if body.item is not None:
            item = find_item(s.table, body.item)
        if body.example is not None:
            example = find_item(s.table, body.example)
        return check_feature(s, body.feature, item, example)

    return await call.pool.run(session, work)


@router.post("/answers")
async def answer(session: SessionName, body: schemas.Said, call: Call) -> schemas.SavedNext:
    """Answer to what was given. When this returns, the answer is safely in the log."""

    def work(s: Session) -> schemas.SavedNext:
        done = give_answer(s, call, body.given, body.answer, body.label, body.feature, body.id)
        return _with_next(s, call, done, body)

    return await call.pool.run(session, work)


@router.post("/undo")
async def undo(
    session: SessionName, call: Call, body: schemas.Turn | None = None
) -> schemas.SavedNext:
    """Take back your latest act, or one that you name."""
    turn = body or schemas.Turn()
    return await call.pool.run(
        session, lambda s: _with_next(s, call, s.undo(call.name, turn.event, id=turn.id), turn)
    )


@router.post("/redo")
async def redo(
    session: SessionName, call: Call, body: schemas.Turn | None = None
) -> schemas.SavedNext:
    """Do again what you undid last, or one that you name."""
    turn = body or schemas.Turn()
    return await call.pool.run(
        session, lambda s: _with_next(s, call, s.redo(call.name, turn.event, id=turn.id), turn)
    )


@router.post("/change")
async def change(session: SessionName, body: schemas.Changed, call: Call) -> Saved:
    """Another answer in place of an earlier one: your own, or, for the owner, anybody's."""

    def work(s: Session) -> Saved:
        return Saved(
            *change_answer(s, call, body.event, body.answer, body.label, body.feature, body.id)
        )

    return await call.pool.run(session, work)


def _with_next(
    session: Session, call: Caller, done: sessions.Saved, wish: schemas.Said | schemas.Turn
) -> schemas.SavedNext:
    after = show_next(session, call.name, candidates=wish.candidates) if wish.next else None
    return schemas.SavedNext(Saved(*done), after)
