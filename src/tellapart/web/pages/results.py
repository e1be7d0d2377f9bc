"""Pages of what was learnt: the rules, the label of every item, the model in every language."""

from __future__ import annotations

from typing import Annotated, Any, get_args
from urllib.parse import urlencode

import numpy as np
from fastapi import APIRouter, Query
from starlette.responses import Response

from tellapart.errors import ExportError, FeatureError, ParameterError
from tellapart.export.sql import Dialect
from tellapart.sessions import Session
from tellapart.sessions.phrasing import name, show
from tellapart.sessions.queue import parse_search
from tellapart.simulation import unpack
from tellapart.tables import Table
from tellapart.tables.findings import Finding
from tellapart.tables.packed_columns import evaluate_soon
from tellapart.web.api.downloads import FORMATS, Unsure, write_model
from tellapart.web.api.review import clause_of_items, list_rules
from tellapart.web.api.schemas import Rule
from tellapart.web.api.teaching import find_item
from tellapart.web.auth import Call
from tellapart.web.pages.render import MAX_ROWS, Form, page, redirect, repair_address
from tellapart.web.session_pool import in_session, reads_session

router = APIRouter(prefix="/s/{session}")


@router.get("/rules")
@reads_session
def rules(session: Session, call: Call, sure: bool = False) -> Response:
    """Every rule as a sentence; with `sure`, how sure each is."""
    found = [(rule, _condition(rule)) for rule in list_rules(session, sure=sure)]
    trust = session.trust() if sure else None
    return page(session, call, "rules", rules=found, meanings=session.meanings, trust=trust)


def _condition(rule: Rule) -> str:
    """What a rule asks, as one condition."""
    if len(rule.literals) == 1 and rule.literals[0].wanted:
        return rule.literals[0].feature
    return " AND ".join(
        f"({one.feature})" if one.wanted else f"NOT ({one.feature})" for one in rule.literals
    )


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


def found_of(table: Table, column: str) -> list[Finding]:
    """What was odd about a column."""
    return [one for one in table.findings if one.column == column]


@router.get("/data")
@reads_session
def data(
    session: Session,
    call: Call,
    q: Annotated[str, Query(max_length=20_000)] = "",
    label: Annotated[str, Query(max_length=200)] = "",
    rule: Annotated[int | None, Query(ge=1)] = None,
) -> Response:
    """What the rules say of every item."""
    table, types = session.table, session.table.types
    clauses = list(session.model)
    numbers = clause_of_items(table, session.model)
    keep = np.ones(len(table), dtype=np.bool_)
    wrong = None
    if rule is not None:
        keep &= numbers == rule - 1
    if label:
        right = [n for n, clause in enumerate(clauses) if clause.label == label]
        keep &= np.isin(numbers, right)
    if q.strip():
        try:
            keep &= unpack(evaluate_soon(table, parse_search(table, q)), len(table))
        except FeatureError as error:
            wrong = str(error).splitlines()[0]
    places = np.flatnonzero(keep)
    columns = [column for column in table.columns if column != table.id][:12]
    rows: list[dict[str, Any]] = [
        {
            "item": name(row),
            "repair": repair_address(session, row, "data"),
            "predicted": clauses[numbers[place]].label,
            "taught": session.label_of(row),
            "cells": [show(row[column])[:200] for column in columns],
        }
        for place in places[:MAX_ROWS].tolist()
        for row in [table.items[place]]
    ]
    return page(
        session,
        call,
        "data",
        rows=rows,
        read=[(n, kind, found_of(table, n)) for n, kind in table.schema.items()],
        of_table=[one for one in table.findings if one.column not in types],
        whole=table.whole,
        found=len(places),
        columns=columns,
        numeric={one for one in columns if one in types and types[one].numeric},
        q=q,
        label=label,
        rule=rule,
        labels=session.labels,
        wrong=wrong,
        formats=list(FORMATS),
    )


@router.get("/export")
@reads_session
def export(
    session: Session,
    call: Call,
    to: Annotated[str, Query(max_length=40)] = "text",
    unsure: Unsure = "label",
) -> Response:
    """The model in every language, to be copied or saved."""
    ways = ["text", *(f"sql, {one}" for one in get_args(Dialect)), "python", "json", "dot"]
    if to not in ways:
        raise ParameterError(f"to is one of {'; '.join(ways)}, got {to!r}")
    language, _, dialect = to.partition(", ")
    text, wrong = "", None
    try:
        chosen: Dialect = next((one for one in get_args(Dialect) if one == dialect), "duckdb")
        text = write_model(session, language, chosen, unsure)
    except ExportError as error:
        wrong = str(error)
    asked = {"to": language, "dialect": dialect, "unsure": unsure if unsure == "null" else ""}
    query = urlencode({name: value for name, value in asked.items() if value})
    shown = {"text": text, "wrong": wrong, "ways": ways, "to": to, "query": query, "unsure": unsure}
    return page(session, call, "export", **shown)
