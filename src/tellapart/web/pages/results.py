"""Pages of what was learnt: the label of every row, and the rules in every language."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlencode

import numpy as np
import numpy.typing as npt
import polars as pl
from fastapi import APIRouter, Query
from starlette.responses import Response

from tellapart.columns import unpack
from tellapart.errors import ExportError, FeatureError, ParameterError
from tellapart.export.sql import Dialect
from tellapart.export.text import brief_sentences
from tellapart.features.phrasing import counted
from tellapart.sessions import Session
from tellapart.sessions.phrasing import changed_notice, fills, name, next_file, show
from tellapart.sessions.wishes import parse_search
from tellapart.tables import Table
from tellapart.tables.findings import Finding
from tellapart.tables.packed_columns import evaluate_soon
from tellapart.tables.row_names import titles
from tellapart.web.access import Call
from tellapart.web.api.downloads import FORMATS, Unsure, write_model
from tellapart.web.pages.comparison import called, cut, first_picture, in_prose
from tellapart.web.pages.render import (
    MAX_ROWS,
    Again,
    Start,
    first_row,
    page,
    repair_address,
    with_query,
)
from tellapart.web.pages.teach import picture_of
from tellapart.web.session_pool import reads_session

router = APIRouter(prefix="/s/{session}")
UNKNOWN = "(unknown)"
"""What stands for no label among the labels to choose from."""
_LANGUAGES = {
    "sql": "SQL",
    "text": "Sentences",
    "python": "Python",
    "javascript": "JavaScript",
    "json-rules": "JSON",
}
_DIALECTS = {
    "duckdb": "DuckDB",
    "postgres": "PostgreSQL",
    "sqlite": "SQLite",
    "mysql": "MySQL",
    "bigquery": "BigQuery",
}


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
            "called": called(row),
            "repair": repair_address(session, row, here),
            "predicted": predicted[numbers[place]],
            "taught": said.get(place),
            "cells": [in_prose(cut(show(row[column]), 400)) for column in columns],
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
        titles=[*dict.fromkeys([*([table.title] if table.title else []), *titles(table)])],
        total=len(table),
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
    to: Annotated[str, Query(max_length=40)] = "sql",
    dialect: Dialect = "duckdb",
    unsure: Unsure | None = None,
) -> Response:
    """What to do with the rules; in every language, to be copied or saved: what the address says is
    shown."""
    if to not in _LANGUAGES:
        raise ParameterError(f"to is one of {'; '.join(_LANGUAGES)}, got {to!r}")
    unsure = unsure or session.settings["unsure"]
    text, wrong = "", None
    try:
        text = write_model(session, to, dialect, unsure)
    except ExportError as error:
        wrong = str(error)
    asked = {"to": to, "dialect": dialect if to == "sql" else "", "unsure": unsure}
    source = session.opened.data.get("source") or {}
    file = Path(str(source.get("path", session.table.name))).name
    summary = session.summary()
    left_empty = 0
    if session.labels:
        silent = np.array([rule.label is None for rule in session.chosen_model("null")])
        rules = np.minimum(session.clause_numbers(), len(silent) - 1)  # the last ones may be gone
        left_empty = int(silent[rules].sum())
    return page(
        session,
        call,
        "export",
        text=text,
        wrong=wrong,
        languages=_LANGUAGES,
        dialects={one: _DIALECTS.get(one, one) for one in get_args(Dialect)},
        to=to,
        dialect=dialect,
        query=urlencode({name: value for name, value in asked.items() if value}),
        unsure=unsure,
        other="label" if unsure == "null" else "null",
        settled_unsure=session.settings["unsure"],
        left_empty=left_empty,
        fills=fills(file, summary),
        rules_count=counted(summary.rules, "rule"),
        file=file,
        predict=f"tellapart predict {file} {next_file(file)}" if source.get("path") else "",
        formats=list(FORMATS),
        taught=bool(session.labels),
    )
