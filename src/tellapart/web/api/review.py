"""Looking back: history, rules, progress, disagreements, odd ones."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Annotated, Any, cast

import numpy as np
from fastapi import APIRouter, Query

from tellapart.export import sentences
from tellapart.export.text import Words
from tellapart.features.phrasing import spoken
from tellapart.model import Clause, DecisionList
from tellapart.sessions import Saved, Session
from tellapart.tables import Row
from tellapart.web.access import Call
from tellapart.web.api import schemas
from tellapart.web.api.teaching import find_item
from tellapart.web.session_pool import in_session, reads_session

router = APIRouter(prefix="/sessions/{session}", tags=["review"])

Number = Annotated[int, Query(ge=1, le=10_000_000_000)]


@router.get("/history")
@in_session
def list_answers(
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
    return schemas.History(page, more, session.missing)


@dataclass
class Tally:
    """What a rule decides, and how the answers about these rows fit it."""

    clause: Clause
    rows: int
    right: int = 0
    wrong: list[tuple[int, str]] = field(default_factory=list)
    """The places of the rows that were called otherwise, and what they were called."""


def tally_rules(session: Session, model: DecisionList, viewer: str | None) -> list[Tally]:
    """Every rule of the session's model, in order, with the answers that the viewer may see."""
    numbers = session.clause_numbers()
    rows = np.bincount(numbers, minlength=len(model.clauses) + 1).tolist()
    made = [Tally(clause, rows[n]) for n, clause in enumerate(model)]
    for place, label in session.taught(viewer=viewer).items():
        rule = made[numbers[place]]
        if rule.clause.label == label:
            rule.right += 1
        else:
            rule.wrong.append((place, label))
    return made


@router.get("/rules")
@reads_session
def list_rules(
    session: Session, call: Call, counts: bool = True, sure: bool = False
) -> schemas.Rules:
    """Every rule with its sentence, example, record, and how many items it labels.

    With `sure`, what each did since it last changed, with an upper bound on its error.
    """
    model = session.judged_model() if sure else session.model
    said = list(sentences(model, Words(feature=spoken)))
    made = []
    for number, one in enumerate(tally_rules(session, model, call.viewer)):
        clause = one.clause
        example = clause.example if isinstance(clause.example, Row) else None
        literals = [schemas.Literals(str(each.feature), each.wanted) for each in clause.literals]
        made.append(
            schemas.Rule(
                number=number + 1,
                sentence=said[number] if number < len(said) else None,
                literals=literals,
                label=cast(Any, clause.label),
                example=example,
                by_hand=clause.origin == "by hand",
                teacher=None
                if example is None
                else session.rule_teacher(example, viewer=call.viewer),
                right=one.right,
                wrong=len(one.wrong),
                items=one.rows if counts else None,
                is_default=number == len(model.clauses),
                since_changed=clause.record and schemas.SinceChanged(*clause.record),
            )
        )
    return schemas.Rules(made, session.number)


@router.get("/rules/{number}/items")
@reads_session
def list_rule_items(
    session: Session,
    number: int,
    offset: Annotated[int, Query(ge=0, le=10_000_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> schemas.Items:
    """The items that a rule labels."""
    places = np.flatnonzero(session.clause_numbers() == number - 1)
    page = [session.table.items[int(place)] for place in places[offset : offset + limit]]
    return schemas.Items(len(places), page)


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


@router.get("/progress")
@in_session
def get_progress(
    session: Session,
    m: Annotated[int | None, Query(ge=1, le=100_000)] = None,
    k: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> schemas.Course:
    """How far it is: mistakes, the last 20, the error with its interval, the bound."""
    mistakes = session.mistakes()
    return schemas.Course(
        **vars(session.summary()),
        curve=_curve(mistakes),
        last=mistakes[-20:],
        bound=_mistake_bound(session, m, k),
    )


def _mistake_bound(session: Session, m: int | None, k: int) -> schemas.Bound:
    """The most mistakes if there are m components and k slips; m is guessed if it is needed."""
    _ = session.table  # without it there is no learner
    learner, guesses = session.learner, len(session.mistakes())
    bound = learner.bound(m=m, k=k, n=guesses)
    if m is None and bound is None:  # as many components as there are rules, and the rest
        m = session.summary().rules + 1
        bound = learner.bound(m=m, k=k, n=guesses)
    finite = bound is not None and math.isfinite(bound)
    return schemas.Bound(bound if finite else None, m, k)


def _curve(mistakes: list[bool], points: int = 400) -> list[schemas.Point]:
    """How many mistakes there were after some of the guesses, the first and the last among them."""
    total = list(accumulate(mistakes, lambda so_far, mistake: so_far + mistake, initial=0))
    step = max(1, len(mistakes) // points)
    shown = sorted({*range(0, len(total), step), len(total) - 1})
    return [schemas.Point(n, int(total[n])) for n in shown]


@router.get("/disagreements")
@reads_session
def list_disagreements(session: Session, call: Call) -> schemas.Disputes:
    """Items that teachers called differently, with both reasons, and how far they agree."""
    found = session.disagreements(viewer=call.viewer)
    return schemas.Disputes(found, session.agreement())


@router.get("/odd")
@reads_session
def list_odd_answers(
    session: Session,
    call: Call,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    everything: bool = False,
) -> schemas.OddOnes:
    """Answers that the others contradict: slips, or exceptions. Of one's own, or all of them.

    With `everything`, those that nothing contradicts come after them, the least certain first.
    Their score is 0 or less, and `by_teacher` does not count them.
    """
    found = session.odd_ones(viewer=call.viewer, everything=everything)
    contradicted = Counter(one.teacher for one in found if one.score > 0)
    return schemas.OddOnes(found[:limit], dict(contradicted))
