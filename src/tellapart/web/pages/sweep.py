"""Many at once: the rows of one guess; mark the wrong ones, save the rest as right."""

from __future__ import annotations

import json
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from starlette.responses import Response

from tellapart import codec
from tellapart.combinations import leaves
from tellapart.errors import ParameterError
from tellapart.features import Expression
from tellapart.features.phrasing import counted
from tellapart.model import Clause
from tellapart.sessions import Session
from tellapart.sessions.learnt import condition
from tellapart.web.access import Call
from tellapart.web.api.teaching import find_item
from tellapart.web.pages.comparison import item_card
from tellapart.web.pages.render import Form, page, redirect
from tellapart.web.pages.teach import label_choices, picture_of
from tellapart.web.session_pool import in_session, reads_session

router = APIRouter(prefix="/s/{session}")
MANY = 24
"""So many rows are shown at once."""
_LINES = 3
"""So many cells of an item are shown; the rule's columns come first."""

Count = Annotated[int | None, Query(ge=0, le=1000)]


@router.get("/sweep")
@reads_session
def show_sweep(
    session: Session,
    call: Call,
    rule: Annotated[int | None, Query(ge=1, le=1_000_000)] = None,
    label: Annotated[str, Query(max_length=200)] = "",
    item: Annotated[str, Query(max_length=1000)] = "",
    accepted: Count = None,
    left_out: Count = 0,
    swept: Annotated[str, Query(max_length=200)] = "",
    undone: Count = None,
) -> Response:
    """The items of a rule, of a label, or of the rule of an item; else, a choice of labels."""
    clauses = list(session.model)
    if item:
        match = session.model.match(find_item(session.table, item))
        rule = next((n for n, one in enumerate(clauses, 1) if one is match), None)
    said = None if accepted is None else _said(accepted, left_out or 0)
    values: dict[str, Any] = {
        **dict.fromkeys(("found", "rule", "says", "items")),
        "said": said if undone is None else f"Undone: {counted(undone, 'answer')} given at once.",
        "cards": [],
        "labels": [],
        "swept": swept,
    }
    if rule is not None or label:
        found = session.sweep(call.name, rule=rule, label=None if rule else label, limit=MANY)
        chosen = [one for n, one in enumerate(clauses, 1) if rule in (None, n)]
        columns = _columns([one for one in chosen if one.label == found.label])
        picture = picture_of(session, call)
        values["cards"] = [item_card(one, picture, columns, _LINES) for one in found.items]
        values["items"] = json.dumps([codec.encode(one.identity) for one in found.items])
        values |= {"found": found, "rule": rule}
        if rule is not None:
            values["says"] = condition(clauses[rule - 1], 6)
    else:
        keys = {one["label"]: one["key"] for one in label_choices(session)}
        values["labels"] = [
            {"label": one, "key": keys.get(one), "left": left, "whole": whole}
            for one, (left, whole) in session.left_to_sweep(call.name).items()
            if left
        ]
    return page(session, call, "sweep", **values)


def _columns(clauses: list[Clause]) -> list[str]:
    """The columns that some rules ask about, those of what must hold first."""
    literals = [literal for clause in clauses for literal in clause.literals]
    asked = sorted(literals, key=lambda literal: not literal.wanted)
    found: dict[str, None] = {}
    for feature, _ in asked:
        for part in leaves(feature):
            if isinstance(part, Expression):
                found |= dict.fromkeys(sorted(part.schema))
    return list(found)


def _said(accepted: int, left_out: int) -> str:
    told = f"Saved: {counted(accepted, 'row')}."
    if left_out:
        told += f" {left_out} left out: others have them, or the guess is another now."
    return told


@router.post("/sweep")
@in_session
def accept(session: Session, sent: Form, call: Call) -> Response:
    """Accept what is not marked; what is marked comes next."""
    label = sent.get("label", "")
    try:
        items = [find_item(session.table, one) for one in json.loads(sent.get("items", ""))]
    except (ValueError, TypeError):
        raise ParameterError("the items of a sweep are a list of ids, as JSON") from None
    wrong = [item for n, item in enumerate(items) if f"wrong{n}" in sent]
    right = [item for n, item in enumerate(items) if f"wrong{n}" not in sent]
    done = session.accept(call.name, label, right, wrong, id=sent.get("id"))
    told = {"accepted": done.accepted, "left_out": done.left_out}
    if done.marked:
        return redirect(session, f"/teach?{urlencode({**told, 'marked': done.marked})}")
    return redirect(session, f"/sweep?{urlencode({**told, 'swept': label})}")
