"""The page of rules, by label: what each asks, which answers fit it, and how to mend it."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from fastapi import APIRouter, Query
from starlette.responses import JSONResponse, Response

from tellapart.columns import unpack
from tellapart.errors import FeatureError
from tellapart.features.phrasing import counts_points
from tellapart.model import Clause
from tellapart.sessions import Session
from tellapart.sessions.learnt import condition
from tellapart.sessions.phrasing import changed_notice, fits, rules_head, silent_label
from tellapart.tables import Row
from tellapart.tables.packed_columns import evaluate_soon
from tellapart.web.access import Call, Caller
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
    model = list(session.model) if session.labels else []
    numbers = session.clause_numbers() if model else np.zeros(0, dtype=np.uint32)
    taught = session.taught(viewer=call.viewer)
    wrong: dict[int, list[int]] = defaultdict(list)
    right: Counter[int] = Counter()
    for place, label in taught.items():
        number = int(numbers[place])
        if model[number].label == label:
            right[number] += 1
        else:
            wrong[number].append(place)
    rows: list[int] = np.bincount(numbers, minlength=len(model)).tolist()
    taken = _taken_first(session, model, numbers)
    made = [
        _rule(session, call, n, clause, int(rows[n]), right[n], wrong[n], taught, taken[n])
        for n, clause in enumerate(model[:-1])
    ]
    rest = model[-1] if model else None
    groups: dict[Any, list[dict[str, Any]]] = {}
    for rule in made:
        groups.setdefault(rule["label"], []).append(rule)
    last = len(model) - 1
    if rest is not None and rest.label is not None:
        rest_rule = _rule(
            session, call, last, rest, int(rows[last]), right[last], wrong[last], taught
        )
        groups.setdefault(rest.label, []).append(
            {**rest_rule, "rest": True, "only": rest.label not in groups}
        )
    listed = [
        {"label": label, "rows": sum(one["rows"] for one in own), "rules": own}
        for label, own in groups.items()
    ]
    listed.sort(key=lambda group: -group["rows"])
    said = Counter(taught.values())
    decided = sum(int(n) for n in rows[:-1]) if made else 0
    about = (
        len(made),
        decided,
        len(session.table),
        None if rest is None or rest.label is None else str(rest.label),
        right.total(),
        len(taught),
    )
    return page(
        session,
        call,
        "rules",
        head=rules_head(*about),
        groups=listed,
        in_order=by == "order",
        total=len(session.table),
        silent=[silent_label(one, n) for one, n in said.items() if one not in groups],
        notice=changed_notice(again),
        meanings=session.meanings,
        rules_made=bool(made),
    )


def _rule(
    session: Session,
    call: Caller,
    number: int,
    clause: Clause,
    rows: int,
    right: int,
    wrong: list[int],
    taught: dict[int, str],
    taken: Counter[Any] | None = None,
) -> dict[str, Any]:
    example = clause.example if isinstance(clause.example, Row) else None
    maker = None if example is None else session.rule_teacher(example, viewer=call.viewer)
    table = session.table
    return {
        "number": number + 1,
        "label": clause.label,
        "reason": condition(clause, _TERMS),
        "mix": sum(
            len(one.feature.tree.terms)
            for one in clause.literals
            if counts_points(one.feature) and hasattr(one.feature, "tree")
        ),
        "rows": rows,
        "fit": fits(right, len(wrong)),
        "all_fit": bool(right) and not wrong,
        "wrong": [
            {
                "called": called(table.items[place]),
                "said": taught[place],
                "change": repair_address(session, table.items[place], "rules"),
            }
            for place in wrong[:_WRONG]
        ],
        "wrong_rows": len(wrong),
        "taken": [(label, n) for label, n in (taken or {}).items()],
        "by_hand": clause.origin == "by hand",
        "example": None if example is None else example.identity,
        "editable": example is not None and (call.is_owner or maker == call.name),
        "condition": _condition(clause),
        "rest": False,
        "only": False,
    }


def _condition(clause: Clause) -> str:
    """What a rule asks, as one condition."""
    if len(clause.literals) == 1 and clause.literals[0].wanted:
        return str(clause.literals[0].feature)
    return " AND ".join(
        f"({feature})" if wanted else f"NOT ({feature})" for feature, wanted in clause.literals
    )


def _taken_first(
    session: Session, model: list[Clause], numbers: npt.NDArray[np.uint32]
) -> list[Counter[Any]]:
    """For each rule, how many rows fit it that a rule of another label takes first."""
    if not 1 < len(model) <= _COMPARED:
        return [Counter() for _ in model]
    table, found = session.table, []
    truths: dict[Any, npt.NDArray[np.bool_]] = {}
    for n, clause in enumerate(model[:-1]):
        holds = np.ones(len(table), dtype=np.bool_)
        for feature, wanted in clause.literals:
            if feature not in truths:
                truths[feature] = unpack(table.truth(feature), len(table))
            holds &= truths[feature] if wanted else ~truths[feature]
        before = Counter(numbers[holds & (numbers < n)].tolist())
        taken: Counter[Any] = Counter()
        for number, rows in before.items():
            if model[number].label != clause.label:
                taken[model[number].label] += rows
        found.append(taken)
    return [*found, Counter()]


@router.get("/rules/check")
@reads_session
def check_rule(
    session: Session,
    call: Call,
    feature: Annotated[str, Query(max_length=20_000)],
    example: str = "",
) -> Response:
    """What a rule would take with another condition, while it is typed."""
    table = session.table
    try:
        wanted = table.parse(feature)
    except FeatureError as error:
        return JSONResponse({"says": str(error).splitlines()[0], "tells": False, "valid": False})
    holds = unpack(evaluate_soon(table, wanted), len(table))
    said = Counter(
        label for place, label in session.taught(viewer=call.viewer).items() if holds[place]
    )
    answers = ", ".join(f"{times:,} {label}" for label, times in said.most_common(5)) or "none"
    rows = int(holds.sum())
    says = f"True of {rows:,} {'row' if rows == 1 else 'rows'}. Answers there: {answers}."
    keeps = bool(wanted(find_item(table, example))) if example else True
    if not keeps:
        says += f" It is not true of the row it was made from, {example}."
    return JSONResponse({"says": says, "tells": bool(rows) and keeps, "valid": True})


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
