"""Looking back: history, rules, progress, disagreements, odd ones.

Pages call the same functions.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import accumulate
from typing import Annotated, Any, cast

import numpy as np
from fastapi import APIRouter, Query

from tellapart import sessions
from tellapart.export import sentences
from tellapart.export.text import Words
from tellapart.features.phrasing import spoken
from tellapart.sessions import Saved, Session
from tellapart.tables import Row
from tellapart.web.access import Call
from tellapart.web.api import schemas
from tellapart.web.api.schemas import Answered
from tellapart.web.api.teaching import find_item, to_item, to_named, to_progress
from tellapart.web.session_pool import in_session, reads_session

router = APIRouter(prefix="/sessions/{session}", tags=["review"])

Number = Annotated[int, Query(ge=1, le=10_000_000_000)]


def to_answered(one: sessions.Answered) -> Answered:
    """One answer in the history."""
    values, example = one._asdict(), one.guess.example
    values["event"] = values.pop("id")
    del values["changed_by"], values["confirmed"], values["settles"]
    values["item"] = to_named(one.item)
    values["guess"] = one.guess.label
    values["example"] = None if example is None else to_named(example)
    values["changes"] = list(one.changes)
    return Answered(**values)


@router.get("/history")
@in_session
def history(
    session: Session,
    call: Call,
    item: Annotated[str | None, Query(max_length=1000)] = None,
    teacher: Annotated[str | None, Query(max_length=200)] = None,
    before: Number | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> schemas.History:
    """Answers, the latest first. Teachers see their own, the owner sees all.

    When the table has changed or is gone, `note` says so, and the answers are as the log has them.
    """

    row: Any = item
    if item is not None and session.missing is None:
        row = find_item(session.table, item)
    found = session.history(viewer=call.viewer, item=row, teacher=teacher)
    kept = [one for one in found if before is None or one.number < before]
    page = kept[::-1][:limit]
    more = page[-1].number if len(kept) > len(page) else None
    return schemas.History([to_answered(one) for one in page], more, session.missing)


def list_rules(
    session: Session, viewer: str | None, *, counts: bool = True, sure: bool = False
) -> list[schemas.Rule]:
    """Every rule: its sentence, what it asks, its example, how many answers it agrees with, and
    whom it covers; with `sure`, a bound on its error, which takes time."""
    model = session.judged_model() if sure else session.model
    covered: list[int | None] = [None] * (len(model.clauses) + 1)
    taught = session.taught(viewer=viewer)
    if counts:
        numbers = session.clause_numbers()
        covered = [int(n) for n in np.bincount(numbers, minlength=len(covered))]
        fell = numbers[np.fromiter(taught, dtype=np.intp, count=len(taught))].tolist()
    else:
        clauses = {id(clause): number for number, clause in enumerate(model)}
        fell = [clauses[id(model.match(session.table.items[place]))] for place in taught]
    labels = [clause.label for clause in model]
    agrees = Counter((n, labels[n] == said) for n, said in zip(fell, taught.values(), strict=True))
    said: list[str | None] = list(sentences(model, Words(feature=spoken)))
    said += [None] * (len(covered) - len(said))
    made = []
    for number, clause in enumerate(model):
        example = clause.example if isinstance(clause.example, Row) else None
        made.append(
            schemas.Rule(
                number=number + 1,
                sentence=said[number],
                literals=[
                    schemas.Literals(str(one.feature), one.wanted) for one in clause.literals
                ],
                label=cast(Any, clause.label),
                example=None if example is None else to_named(example),
                by_hand=clause.origin == "by hand",
                teacher=None if example is None else session.rule_teacher(example, viewer=viewer),
                right=agrees[number, True],
                wrong=agrees[number, False],
                items=covered[number],
                is_default=number == len(model.clauses),
                since_changed=None
                if clause.record is None
                else schemas.SinceChanged(*clause.record),
            )
        )
    return made


@router.get("/rules")
@reads_session
def rules(session: Session, call: Call, counts: bool = True, sure: bool = False) -> schemas.Rules:
    """Every rule with its sentence, example, record, and how many items it labels.

    With `sure`, what each did since it last changed, with an upper bound on its error.
    """
    return schemas.Rules(list_rules(session, call.viewer, counts=counts, sure=sure), session.number)


@router.get("/rules/{number}/items")
@reads_session
def rule_items(
    session: Session,
    number: int,
    offset: Annotated[int, Query(ge=0, le=10_000_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> schemas.Items:
    """The items that a rule labels."""
    places = np.flatnonzero(session.clause_numbers() == number - 1)
    page = [session.table.items[int(place)] for place in places[offset : offset + limit]]
    return schemas.Items(len(places), [to_item(row) for row in page])


@router.post("/rules/drop")
@in_session
def drop_rule(session: Session, body: schemas.DropRule, call: Call) -> Saved:
    """Drop the rule with an example: your own, or, for the owner, any. It can be undone."""
    row = find_item(session.table, body.example)
    call.must_have_made_rule(session, row)
    return session.drop_rule(call.name, row, id=body.id)


@router.post("/rules/edit")
@in_session
def edit_rule(session: Session, body: schemas.EditRule, call: Call) -> Saved:
    """Give the rule with an example another condition and label: your own, or, for the owner, any.
    It can be undone.
    """
    row = find_item(session.table, body.example)
    call.must_have_made_rule(session, row)
    return session.edit_rule(call.name, row, body.condition, body.label, id=body.id)


def mistake_bound(session: Session, m: int | None = None, k: int = 0) -> schemas.Bound:
    """The most mistakes if there are m components and k slips; m is guessed if it is needed."""
    _ = session.table  # without it there is no learner
    learner, guesses = session.learner, len(session.mistakes())
    bound = learner.bound(m=m, k=k, n=guesses)
    if m is None and bound is None:  # as many components as there are rules, and the rest
        m = session.summary().rules + 1
        bound = learner.bound(m=m, k=k, n=guesses)
    finite = bound is not None and math.isfinite(bound)
    return schemas.Bound(bound if finite else None, m, k)


@router.get("/progress")
@in_session
def progress(
    session: Session,
    m: Annotated[int | None, Query(ge=1, le=100_000)] = None,
    k: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> schemas.Course:
    """How far it is: mistakes, the last 20, the error with its interval, the bound."""
    mistakes = session.mistakes()
    return schemas.Course(
        **vars(to_progress(session.summary())),
        curve=_curve(mistakes),
        last=mistakes[-20:],
        bound=mistake_bound(session, m, k),
    )


def _curve(mistakes: list[bool], points: int = 400) -> list[schemas.Point]:
    """How many mistakes there were after some of the guesses, the first and the last among them."""
    total = list(accumulate(mistakes, lambda so_far, mistake: so_far + mistake, initial=0))
    step = max(1, len(mistakes) // points)
    shown = sorted({*range(0, len(total), step), len(total) - 1})
    return [schemas.Point(n, int(total[n])) for n in shown]


def list_disagreements(session: Session, viewer: str | None) -> schemas.Disputes:
    """Items that teachers called differently, with both reasons; and how far they agree."""
    found = [
        schemas.Dispute(to_named(one.item), [to_answered(each) for each in one.answers])
        for one in session.disagreements(viewer=viewer)
    ]
    return schemas.Disputes(found, schemas.Agreement(*session.agreement()))


@router.get("/disagreements")
@reads_session
def disagreements(session: Session, call: Call) -> schemas.Disputes:
    """Items that teachers called differently, with both reasons, and how far they agree."""
    return list_disagreements(session, call.viewer)


def list_odd(session: Session, viewer: str | None, everything: bool = False) -> list[schemas.Odd]:
    """Answers that the others contradict, the oddest first; or all that nobody confirmed."""
    return [
        schemas.Odd(
            **vars(to_answered(one.answer)),
            expected=one.expected,
            expected_feature=one.expected_feature,
            score=round(one.score, 4),
            why=one.why,
        )
        for one in session.odd_ones(viewer=viewer, everything=everything)
    ]


@router.get("/odd")
@reads_session
def odd(
    session: Session,
    call: Call,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    everything: bool = False,
) -> schemas.OddOnes:
    """Answers that the others contradict: slips, or exceptions. Of one's own, or all of them.

    With `everything`, those that nothing contradicts come after them, the least certain first.
    Their score is 0 or less, and `by_teacher` does not count them.
    """
    found = list_odd(session, call.viewer, everything)
    contradicted = Counter(one.answer.teacher for one in session.odd_ones(viewer=call.viewer))
    return schemas.OddOnes(found[:limit], dict(contradicted))
