"""Pages of what was learnt: the rules, the label of every item, the model in every language."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlencode

import numpy as np
import numpy.typing as npt
import polars as pl
from fastapi import APIRouter, Query
from markupsafe import Markup
from starlette.responses import JSONResponse, Response

from tellapart.columns import unpack
from tellapart.errors import ExportError, FeatureError, ParameterError
from tellapart.export.sql import Dialect
from tellapart.export.text import brief_sentences
from tellapart.features.phrasing import counted
from tellapart.review.progress import percent
from tellapart.sessions import Session
from tellapart.sessions.phrasing import changed_notice, name, show
from tellapart.sessions.search import parse_search
from tellapart.tables import Table
from tellapart.tables.findings import Finding
from tellapart.tables.packed_columns import evaluate_soon
from tellapart.web.api.downloads import FORMATS, Unsure, write_model
from tellapart.web.api.review import list_rules
from tellapart.web.api.schemas import Rule
from tellapart.web.api.teaching import find_item
from tellapart.web.auth import Call, Caller
from tellapart.web.pages.comparison import cut, first_picture
from tellapart.web.pages.render import (
    MAX_ROWS,
    SOON,
    Again,
    Form,
    Start,
    first_row,
    page,
    redirect,
    repair_address,
    with_query,
)
from tellapart.web.pages.teach import picture_of
from tellapart.web.session_pool import in_session, reads_session

router = APIRouter(prefix="/s/{session}")
UNKNOWN = "(unknown)"
"""What stands for no label among the labels to choose from."""
_LANGUAGES = {
    "text": "Sentences",
    "python": "Python",
    "javascript": "JavaScript",
    "json-rules": "JSON rules",
    "json": "Model file",
}


@router.get("/rules")
@reads_session
def rules(session: Session, call: Call, sure: bool = False, again: Again = None) -> Response:
    """Every rule as a sentence, every label, and how sure each is: at once where that is quick."""
    settings = session.settings
    sure = sure or settings["unsure"] == "null" or session.summary().mistakes <= SOON
    found = list_rules(session, call.viewer, sure=sure) if session.labels else []
    said = Counter(session.taught(viewer=call.viewer).values())
    brief = iter(brief_sentences(session.model))  # rules that nothing reaches have none
    return page(
        session,
        call,
        "rules",
        rules=[
            (rule, next(brief, ""), _condition(rule), _bar(rule), _is_mine(session, call, rule))
            for rule in found
        ],
        by_label=_by_label(session.labels, found, said),
        silent=[(label, times) for label, times in said.items() if not _predicts(found, label)],
        sure=sure,
        trust=session.trust(settings["error"]) if sure and found else None,
        unsure=settings["unsure"],
        error=settings["error"],
        meanings=session.meanings,
        percent=percent,
        said=changed_notice(again),
    )


def _predicts(found: list[Rule], label: str) -> bool:
    return any(rule.items for rule in found if rule.label == label)


def _by_label(labels: list[str], found: list[Rule], said: Counter[str]) -> list[dict[str, Any]]:
    """For each label: how often it was said, how many rows the rules give it, how often they are
    wrong about these.

    The bounds of all rules hold at once. So the error of a label is at most their mean, weighted by
    the rows of each rule.
    """
    listed = []
    for label in dict.fromkeys([*labels, *(rule.label for rule in found if rule.label)]):
        own = [rule for rule in found if rule.label == label]
        rows = sum(rule.items or 0 for rule in own)
        high = None
        if rows and all(rule.since_changed for rule in own):
            bounds = [(rule.items or 0, rule.since_changed) for rule in own]
            high = sum(items * since.high for items, since in bounds if since) / rows
        listed.append(
            {
                "label": label,
                "said": said[label],
                "rows": rows,
                "right": sum(rule.right for rule in own),
                "wrong": sum(rule.wrong for rule in own),
                "high": high,
            }
        )
    return listed


def _bar(rule: Rule) -> Markup:
    """How many of the answers about a rule's items agree with it."""
    if not rule.right + rule.wrong:
        return Markup()
    right = round(100 * rule.right / (rule.right + rule.wrong), 1)
    return Markup(
        '<svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="wrong" width="100" height="6"/><rect width="{}" height="6"/></svg>'
    ).format(right)


def _is_mine(session: Session, call: Caller, rule: Rule) -> bool:
    """Whether the caller may repair the answer about a rule's example."""
    if rule.example is None:
        return False
    return bool(session.history(viewer=call.viewer, item=find_item(session.table, rule.example.id)))


def _condition(rule: Rule) -> str:
    """What a rule asks, as one condition."""
    if len(rule.literals) == 1 and rule.literals[0].wanted:
        return rule.literals[0].feature
    return " AND ".join(
        f"({one.feature})" if one.wanted else f"NOT ({one.feature})" for one in rule.literals
    )


@router.get("/rules/check")
@reads_session
def check_rule(
    session: Session,
    call: Call,
    feature: Annotated[str, Query(max_length=20_000)],
    example: str = "",
) -> Response:
    """What the rule with an example would take with a condition, while it is typed."""
    table = session.table
    try:
        wanted = table.parse(feature)
    except FeatureError as error:
        return JSONResponse({"says": str(error).splitlines()[0], "tells": False})
    holds = unpack(evaluate_soon(table, wanted), len(table))
    said = Counter(
        label for place, label in session.taught(viewer=call.viewer).items() if holds[place]
    )
    answers = ", ".join(f"{times:,} {label}" for label, times in said.most_common(5)) or "none"
    whose = "Answers" if call.is_owner else "Your answers"
    says = f"Holds on {counted(int(holds.sum()), 'row')}. {whose} there: {answers}."
    keeps = bool(wanted(find_item(table, example))) if example else True
    if not keeps:
        says += f" It does not hold on its example, {example}."
    return JSONResponse({"says": says, "tells": bool(holds.any()) and keeps})


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
    rule: Annotated[str, Query(max_length=10)] = "",
    taught: Literal["", "yes", "no", "differs"] = "",
    sort: Annotated[str, Query(max_length=1000)] = "",
    start: Start = 0,
    again: Again = None,
) -> Response:
    """What the rules say of every item, beside what was taught."""
    table, types = session.table, session.table.types
    numbers, predicted = session.clause_numbers(), _labels(session)
    said = session.taught(viewer=call.viewer)
    keep = np.ones(len(table), dtype=np.bool_)
    wrong = None
    if rule.isascii() and rule.isdecimal():
        keep &= numbers == int(rule) - 1
    if label:
        wanted = None if label == UNKNOWN else label
        keep &= np.isin(numbers, [n for n, one in enumerate(predicted) if one == wanted])
    if taught:
        places = np.fromiter(said, dtype=np.intp, count=len(said))
        if taught == "differs":
            other = [predicted[numbers[place]] != said[place] for place in places.tolist()]
            places = places[np.array(other, dtype=np.bool_)]
        chosen = np.zeros(len(table), dtype=np.bool_)
        chosen[places] = True
        keep &= ~chosen if taught == "no" else chosen
    if q.strip():
        try:
            keep &= unpack(evaluate_soon(table, parse_search(table, q)), len(table))
        except FeatureError as error:
            wrong = str(error).splitlines()[0]
    places = np.flatnonzero(keep)
    columns = [column for column in table.columns if column != table.id][:12]
    if (key := _sort_key(session, call.viewer, sort, columns, predicted, numbers)) is not None:
        order = key.gather(places).arg_sort(descending=sort.startswith("-"), nulls_last=True)
        places = places[order.to_numpy()]
    pictured = columns if table.id is None else [table.id, *columns]
    asked = {"q": q, "label": label, "rule": rule, "taught": taught}
    start = first_row(start, len(places))
    here = with_query("data", {**asked, "sort": sort, "start": start})
    rows: list[dict[str, Any]] = [
        {
            "item": name(row),
            "repair": repair_address(session, row, here),
            "predicted": predicted[numbers[place]],
            "taught": said.get(place),
            "cells": [cut(show(row[column]), 400) for column in columns],
            "picture": first_picture(row, picture_of(session, call), pictured),
        }
        for place in places[start : start + MAX_ROWS].tolist()
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
        asked=asked,
        sort=sort,
        start=start,
        query=urlencode({name: value for name, value in asked.items() if value}),
        rules=[(n, sentence) for n, sentence in enumerate(_short_rules(session), 1)],
        labels=session.labels,
        unknown=UNKNOWN if None in predicted else None,
        wrong=wrong,
        said=changed_notice(again),
        formats=list(FORMATS),
    )


def _labels(session: Session) -> list[Any]:
    """What each rule says; None where it is not sure and the session wants to be."""
    settings = session.settings
    if settings["unsure"] == "label":
        return [clause.label for clause in session.model]
    judged = session.judged_model()
    return [
        clause.label if clause.record and clause.record.high <= settings["error"] else None
        for clause in judged
    ]


def _short_rules(session: Session) -> list[str]:
    """Each rule in a few words, to choose from."""
    return [cut(text, 60) for text in brief_sentences(session.model)]


def _sort_key(
    session: Session,
    viewer: str | None,
    sort: str,
    columns: list[str],
    predicted: list[Any],
    numbers: npt.NDArray[np.uint32],
) -> pl.Series | None:
    """What rows are sorted by; None: they stay as they are in the table."""
    by = sort.removeprefix("-")
    if by == "predicted":
        return pl.Series(predicted, dtype=pl.String).gather(numbers)
    if by == "taught":
        said = session.taught(viewer=viewer)
        return pl.Series([said.get(place) for place in range(len(session.table))], dtype=pl.String)
    own = session.table.id
    if by == "item" and own is not None:
        by = own
    if by not in (*columns, own):
        return None
    return session.table.frame([by]).to_series()


@router.get("/export")
@reads_session
def export(
    session: Session,
    call: Call,
    to: Annotated[str, Query(max_length=40)] = "text",
    unsure: Unsure | None = None,
) -> Response:
    """The model in every language, to be copied or saved: what the address says is shown."""
    dialects = get_args(Dialect)
    ways = [*_LANGUAGES, *(f"sql, {one}" for one in dialects)]
    if to not in ways:
        raise ParameterError(f"to is one of {'; '.join(ways)}, got {to!r}")
    language, _, dialect = to.partition(", ")
    unsure = unsure or session.settings["unsure"]
    text, wrong = "", None
    try:
        chosen: Dialect = next((one for one in get_args(Dialect) if one == dialect), "duckdb")
        text = write_model(session, language, chosen, unsure)
    except ExportError as error:
        wrong = str(error)
    asked = {"to": language, "dialect": dialect, "unsure": unsure}
    query = urlencode({name: value for name, value in asked.items() if value})
    return page(
        session,
        call,
        "export",
        text=text,
        wrong=wrong,
        languages=[(words, one) for one, words in _LANGUAGES.items()],
        dialects=dialects,
        to=to,
        language=language,
        query=query,
        unsure=unsure,
        other="label" if unsure == "null" else "null",
        error=session.settings["error"],
        formats=list(FORMATS),
        taught=bool(session.labels),
    )
