"""The page of rules, by label: what each asks, which answers fit it, and how to mend it."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query
from starlette.responses import Response

from tellapart.columns import unpack
from tellapart.features.phrasing import counts_points
from tellapart.model import Clause
from tellapart.sessions import Session
from tellapart.sessions.learnt import condition
from tellapart.sessions.phrasing import changed_notice, fits, rules_head, silent_label, taken_first
from tellapart.tables import Row
from tellapart.web.access import Call, Caller
from tellapart.web.api.review import Tally, tally_rules
from tellapart.web.api.teaching import find_item
from tellapart.web.pages.comparison import called
from tellapart.web.pages.render import Again, Form, page, redirect, repair_address
from tellapart.web.session_pool import in_session, reads_session

router = APIRouter(prefix="/s/{session}")
_WRONG = 3
"""So many wrong answers of a rule are named."""
_TERMS = 6
"""Of the hints of a mix, so many are said."""
_COMPARED = 200
"""With more rules, it is not said which rows other rules take first."""


@router.get("/rules")
@reads_session
def rules(
    session: Session,
    call: Call,
    by: Annotated[str, Query(max_length=10)] = "label",
    again: Again = None,
) -> Response:
    """Every rule under its label, or in the order in which they are asked."""
    model = session.model
    tallies = tally_rules(session, model, call.viewer) if session.labels else []
    taken = _taken_first(session, tallies)
    made = [_rule(session, call, n, one, taken[n]) for n, one in enumerate(tallies)]
    groups: dict[Any, list[dict[str, Any]]] = {}
    for rule in made:
        if rule["rest"] and rule["label"] is None:
            continue
        rule["only"] = rule["rest"] and rule["label"] not in groups
        groups.setdefault(rule["label"], []).append(rule)
    listed = [
        {"label": label, "rows": sum(one["rows"] for one in own), "rules": own}
        for label, own in groups.items()
    ]
    listed.sort(key=lambda group: -group["rows"])
    said = Counter(session.taught(viewer=call.viewer).values())
    head = rules_head(
        len(model.clauses),
        sum(one.rows for one in tallies[:-1]),
        len(session.table),
        None if model.default.label is None else str(model.default.label),
        sum(one.right for one in tallies),
        said.total(),
    )
    return page(
        session,
        call,
        "rules",
        head=head,
        groups=listed,
        in_order=by == "order",
        total=len(session.table),
        silent=[silent_label(one, n) for one, n in said.items() if one not in groups],
        notice=changed_notice(again),
        meanings=session.meanings,
        rules_made=bool(model.clauses),
    )


def _rule(
    session: Session, call: Caller, number: int, tally: Tally, taken: Counter[Any]
) -> dict[str, Any]:
    clause, table = tally.clause, session.table
    example = clause.example if isinstance(clause.example, Row) else None
    maker = None if example is None else session.rule_teacher(example, viewer=call.viewer)
    return {
        "number": number + 1,
        "label": clause.label,
        "reason": condition(clause, _TERMS),
        "mix": sum(
            len(one.feature.tree.terms)
            for one in clause.literals
            if counts_points(one.feature) and hasattr(one.feature, "tree")
        ),
        "rows": tally.rows,
        "fit": fits(tally.right, len(tally.wrong)),
        "all_fit": bool(tally.right) and not tally.wrong,
        "wrong": [
            {
                "called": called(table.items[place]),
                "said": label,
                "change": repair_address(session, table.items[place], "rules"),
            }
            for place, label in tally.wrong[:_WRONG]
        ],
        "wrong_rows": len(tally.wrong),
        "taken": taken_first([*taken.items()]) if taken else None,
        "by_hand": clause.origin == "by hand",
        "example": None if example is None else example.identity,
        "editable": example is not None and (call.is_owner or maker == call.name),
        "condition": _condition(clause),
        "rest": clause is session.model.default,
    }


def _condition(clause: Clause) -> str:
    """What a rule asks, as one condition."""
    if len(clause.literals) == 1 and clause.literals[0].wanted:
        return str(clause.literals[0].feature)
    return " AND ".join(
        f"({feature})" if wanted else f"NOT ({feature})" for feature, wanted in clause.literals
    )


def _taken_first(session: Session, rules: list[Tally]) -> list[Counter[Any]]:
    """For each rule, how many rows fit it that a rule of another label takes first."""
    taken: list[Counter[Any]] = [Counter() for _ in rules]
    if len(rules) > _COMPARED:
        return taken
    table, numbers = session.table, session.clause_numbers()
    for n, one in enumerate(rules[:-1]):
        holds = np.ones(len(table), dtype=np.bool_)
        for feature, wanted in one.clause.literals:
            truth = unpack(table.truth(feature), len(table))
            holds &= truth if wanted else ~truth
        for number, rows in Counter(numbers[holds & (numbers < n)].tolist()).items():
            label = rules[number].clause.label
            if label != one.clause.label:
                taken[n][label] += rows
    return taken


@router.post("/rules")
@in_session
def change_rule(session: Session, sent: Form, call: Call) -> Response:
    """Edit or drop a rule."""
    example = find_item(session.table, sent.get("example", ""))
    call.must_have_made_rule(session, example)
    if sent.get("do") == "drop":
        session.drop_rule(call.name, example, id=sent.get("id"))
    else:
        condition, label = sent.get("condition", ""), sent.get("label", "").strip()
        session.edit_rule(call.name, example, condition, label, id=sent.get("id"))
    return redirect(session, "/rules")
