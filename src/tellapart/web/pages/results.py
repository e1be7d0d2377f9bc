"""Pages of what was learnt: the label of every row, and the rules in every language."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlencode

import numpy as np
import polars as pl
from fastapi import APIRouter, Query
from starlette.responses import Response

from tellapart.columns import unpack
from tellapart.errors import ExportError, FeatureError, ParameterError
from tellapart.export.sql import Dialect
from tellapart.features.phrasing import counted
from tellapart.features.tree import Type
from tellapart.sessions import Session
from tellapart.sessions.learnt import condition
from tellapart.sessions.phrasing import changed_notice, fills, next_file, show_cell
from tellapart.sessions.wishes import parse_search
from tellapart.tables import Table
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
    table, types, labels = session.table, session.table.types, _labels(session)
    found = _items(session, call.viewer, labels)
    wrong = None
    if q.strip():
        try:
            fits = unpack(evaluate_soon(table, parse_search(table, q)), len(table))
            found = found.filter(pl.Series(fits))
        except FeatureError as error:
            wrong = str(error).splitlines()[0]
    if rule.isascii() and rule.isdecimal():
        found = found.filter(pl.col("rule") == int(rule))
    if label:
        found = found.filter(pl.col("predicted").eq_missing(None if label == UNKNOWN else label))
    if taught:
        found = found.filter(_TAUGHT[taught])
    columns = [column for column in table.columns if column != table.id][:12]
    found = _sorted(found, table, sort, columns)
    pictured = columns if table.id is None else [table.id, *columns]
    asked = {"q": q, "label": label, "rule": rule, "taught": taught}
    start = first_row(start, len(found))
    here = with_query("data", {**asked, "sort": sort, "start": start})
    rows: list[dict[str, Any]] = [
        {
            "called": called(row),
            "repair": repair_address(session, row, here),
            "predicted": one["predicted"],
            "taught": one["taught"],
            "cells": [in_prose(cut(show_cell(row, column), 400)) for column in columns],
            "picture": first_picture(row, picture_of(session, call), pictured),
        }
        for one in found.slice(start, MAX_ROWS).to_dicts()
        for row in [table.items[one["place"]]]
    ]
    return page(
        session,
        call,
        "data",
        rows=rows,
        read=[
            (column, kind, [one for one in table.findings if one.column == column])
            for column, kind in table.schema.items()
        ],
        of_table=[one for one in table.findings if one.column not in types],
        whole=table.whole,
        found=len(found),
        columns=columns,
        unbroken={one for one in columns if types.get(one) is not Type.TEXT},
        asked=asked,
        sort=sort,
        start=start,
        query=urlencode({name: value for name, value in asked.items() if value}),
        rules=[
            (n, cut(f"{clause.label}: {condition(clause, 2) or 'all others'}", 100))
            for n, clause in enumerate(session.model if session.labels else (), 1)
        ],
        such_as=f"words, or a reason such as {columns[0]} is ..." if columns else "words",
        labels=session.labels,
        unknown=UNKNOWN if None in labels else None,
        wrong=wrong,
        said=changed_notice(again),
        titles=[*dict.fromkeys([*([table.title] if table.title else []), *titles(table)])],
        total=len(table),
    )


_TAUGHT = {
    "yes": pl.col("taught").is_not_null(),
    "no": pl.col("taught").is_null(),
    "differs": pl.col("taught").is_not_null() & pl.col("taught").ne_missing(pl.col("predicted")),
}


def _items(session: Session, viewer: str | None, labels: list[str | None]) -> pl.DataFrame:
    """Of every item its place, its rule, what that says, and what the item was called."""
    numbers, said = session.clause_numbers(), session.taught(viewer=viewer)
    taught = pl.DataFrame(
        {"place": [*said], "taught": [*said.values()]},
        schema={"place": pl.Int64, "taught": pl.String},
    )
    items = pl.DataFrame(
        {
            "place": pl.arange(len(numbers), eager=True),
            "rule": numbers + 1,
            "predicted": pl.Series(labels, dtype=pl.String).gather(numbers),
        }
    )
    return items.join(taught, on="place", how="left", maintain_order="left")


def _labels(session: Session) -> list[str | None]:
    """What each rule says; None where it is not sure and the session wants to be."""
    unsure, most = session.settings["unsure"] == "null", session.settings["error"]
    return [
        None
        if clause.label is None or (unsure and not (clause.record and clause.record.high <= most))
        else str(clause.label)
        for clause in (session.judged_model() if unsure else session.model)
    ]


def _sorted(found: pl.DataFrame, table: Table, sort: str, columns: list[str]) -> pl.DataFrame:
    """Items by a column; as they are in the table, if there is no such column."""
    by = sort.removeprefix("-")
    if by == "item":
        by = table.id or ""
    if by in (*columns, table.id):
        found = found.with_columns(key=table.frame([by]).to_series().gather(found["place"]))
    elif by in ("predicted", "taught"):
        found = found.with_columns(key=pl.col(by))
    else:
        return found
    down = sort.startswith("-")
    return found.sort("key", descending=down, nulls_last=True, maintain_order=True)


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
        total=len(session.table),
        fills=fills(file, summary),
        rules_count=counted(summary.rules, "rule"),
        file=file,
        predict=f"tellapart predict {file} {next_file(file)}" if source.get("path") else "",
        formats=list(FORMATS),
        taught=bool(session.labels),
    )
