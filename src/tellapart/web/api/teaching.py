"""The conversation: next, check, answer, undo, redo, change. Pages call the same functions."""

from __future__ import annotations

from collections.abc import Hashable
from datetime import date, datetime
from typing import Annotated, Any, cast

from fastapi import APIRouter, Query

from tellapart import codec, sessions
from tellapart.errors import FeatureError, ParameterError, ProtocolError
from tellapart.features.tree import Type
from tellapart.sessions import Ending, Saved, Session, Sweep, Swept
from tellapart.sessions.events import stamp
from tellapart.sessions.replies import plain
from tellapart.sessions.suggestions import check as check_expression
from tellapart.tables import Row, Table
from tellapart.web.access import Call, Caller
from tellapart.web.api import schemas
from tellapart.web.api.schemas import Candidate, Checked, Given, Next
from tellapart.web.session_pool import in_session, reads_session

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
        progress=session.summary() if ending is None else ending.summary,
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
        item=item,
        guess=cast(Any, given.guess.label),
        example=example,
        differs=[] if example is None else _differences(item, example),
        candidates=_candidates(session, given.id) if candidates else [],
    )


def _differences(item: Row, example: Row) -> list[schemas.Difference]:
    """The columns in which two items differ, with both values."""
    return [
        schemas.Difference(name, plain(value), plain(example.get(name)))
        for name, value in item.items()
        if value != example.get(name)
    ]


def _candidates(
    session: Session, given: str, label: str | None = None, limit: int = MAX_CANDIDATES
) -> list[Candidate]:
    return [
        Candidate(str(one.feature), one.covers, one.exact, one.yes, one.no, round(one.score, 4))
        for one in session.candidates(given, label, limit=limit)
    ]


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


def _verdict(found: sessions.Check, item: Row | None, example: Row | None) -> str:
    if item is None:
        return "this is a feature"
    if found.on_item is not True:
        how = "is unknown" if found.on_item is None else "does not hold"
        return f"{found.feature} {how} on {item}; it must hold there"
    if found.on_example is True:
        return f"{found.feature} holds on {example} as well; it must not hold there"
    away = "" if example is None else f" and not on {example}"
    return f"{found.feature} holds on {item}{away}"


# -- what teachers do


def give_answer(
    session: Session, call: Caller, given: str, *said: Any, id: str | None = None
) -> Saved:
    """Answer to what was given, and count it. `said`: answer, label, feature."""
    before = session.number
    done = session.answer(call.name, given, *said, id=id)
    if done.number > before:  # and not a repeat
        call.app.metrics.answers.labels(done.outcome or "none").inc()
    return done


def change_answer(
    session: Session,
    call: Caller,
    event: str,
    *said: Any,
    settles: bool = False,
    id: str | None = None,
) -> Saved:
    """Another answer in place of an earlier one: one's own, or, for the owner, anybody's."""
    call.must_have_answered(session, event)
    return session.change(call.name, event, *said, settles=settles, id=id)


# -- routes


@router.post("/next")
@in_session
def next_item(session: Session, call: Call, body: schemas.Begin | None = None) -> Next:
    """The next item: the one you have already, or a new one, leased to you."""
    wish = body or schemas.Begin()
    return show_next(session, call.name, wish.id, candidates=wish.candidates)


@router.get("/candidates")
@in_session
def list_candidates(
    session: Session,
    call: Call,
    given: Annotated[str, Query(max_length=100)],
    label: Annotated[str | None, Query(max_length=200)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = MAX_CANDIDATES,
) -> schemas.Candidates:
    """Features that tell the item from its example, ranked for a label."""
    given_to(session, call, given)
    return schemas.Candidates(_candidates(session, given, label, limit))


@router.post("/search")
@in_session
def search(session: Session, body: schemas.Search, call: Call) -> Saved:
    """Be given next the items that a condition or words fit; they do not count as drawn."""
    return session.search(call.name, body.text, id=body.id)


@router.post("/check")
@reads_session
def check_feature(session: Session, body: schemas.Try, call: Call) -> Checked:
    """Whether an expression holds here and not there, and on how many items. Changes nothing."""
    item, example = None, None
    if body.given is not None:
        shown = given_to(session, call, body.given)
        item, example = shown.item, shown.guess.example
    if body.item is not None:
        item = find_item(session.table, body.item)
    if body.example is not None:
        example = find_item(session.table, body.example)
    try:
        found = check_expression(session.table, body.feature, item, example)
    except FeatureError as error:
        return Checked(
            valid=False,
            message=str(error).splitlines()[0],
            spot=None if error.spot is None else list(error.spot),
        )
    return Checked(
        valid=True,
        message=_verdict(found, item, example),
        feature=found.feature,
        here=found.on_item,
        there=found.on_example,
        tells=found.tells,
        items=found.items,
    )


@router.post("/answers")
@in_session
def answer(session: Session, body: schemas.Said, call: Call) -> schemas.SavedNext:
    """Answer to what was given. When this returns, the answer is safely in the log."""
    said = (body.answer, body.label, body.feature)
    done = give_answer(session, call, body.given, *said, id=body.id)
    return _with_next(session, call, done, body)


@router.post("/undo")
@in_session
def undo(session: Session, call: Call, body: schemas.Turn | None = None) -> schemas.SavedNext:
    """Take back your latest act, or one that you name; the owner, a teacher's."""
    turn = body or schemas.Turn()
    whose = call.whose_acts(turn.teacher)
    done = session.undo(call.name, turn.event, of=whose, id=turn.id)
    return _with_next(session, call, done, turn)


@router.post("/redo")
@in_session
def redo(session: Session, call: Call, body: schemas.Turn | None = None) -> schemas.SavedNext:
    """Do again what you undid last, or one that you name; the owner, a teacher's."""
    turn = body or schemas.Turn()
    whose = call.whose_acts(turn.teacher)
    done = session.redo(call.name, turn.event, of=whose, id=turn.id)
    return _with_next(session, call, done, turn)


@router.get("/sweep")
@reads_session
def list_sweep_items(
    session: Session,
    call: Call,
    rule: Annotated[int | None, Query(ge=1, le=1_000_000)] = None,
    label: Annotated[str | None, Query(max_length=200)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> Sweep:
    """Items that a rule covers, or that get a label, and that nobody has answered about."""
    return session.sweep(call.name, rule=rule, label=label, limit=limit)


@router.post("/sweep")
@in_session
def accept_guesses(session: Session, body: schemas.Accept, call: Call) -> Swept:
    """Accept many guesses at once, and mark those that are wrong: they come next. Undo takes all of
    it back.
    """
    right, wrong = (
        [find_item(session.table, one) for one in ids] for ids in (body.right, body.wrong)
    )
    return session.accept(call.name, body.label, right, wrong, id=body.id)


@router.post("/change")
@in_session
def change(session: Session, body: schemas.Changed, call: Call) -> Saved:
    """Another answer in place of an earlier one: your own, or, for the owner, anybody's.

    The same answer once more confirms it: it is no longer listed as odd.
    """
    said = (body.answer, body.label, body.feature)
    return change_answer(session, call, body.event, *said, id=body.id)


def _with_next(
    session: Session, call: Caller, done: Saved, wish: schemas.Said | schemas.Turn
) -> schemas.SavedNext:
    after = show_next(session, call.name, candidates=wish.candidates) if wish.next else None
    return schemas.SavedNext(done, after)
