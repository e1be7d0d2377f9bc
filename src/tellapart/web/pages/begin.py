"""The first page: tables to go on with, and how a new one was read before it begins."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode
from weakref import WeakKeyDictionary

import numpy as np
from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from tellapart.errors import ParameterError
from tellapart.features.phrasing import counted
from tellapart.features.tree import Type
from tellapart.samples import write_bank
from tellapart.sessions import Listed, Session
from tellapart.sessions.config import FOR_PEOPLE
from tellapart.sessions.history import COLUMN
from tellapart.sessions.phrasing import SAMPLES, SAY, show, show_cell, taken_labels
from tellapart.sessions.teams import known_labels
from tellapart.sessions.tour import LABEL, write_zoo
from tellapart.tables import Table
from tellapart.tables.files import KINDS, PACKED
from tellapart.tables.read import read_table
from tellapart.tables.row_names import RowNames, titles
from tellapart.web.access import Call, Caller
from tellapart.web.api.sessions import begin_session
from tellapart.web.pages import repair
from tellapart.web.pages.comparison import cut, in_prose
from tellapart.web.pages.render import OUTSIDE, Form, draw, home, page
from tellapart.web.session_pool import in_session

router = APIRouter()
SHOWN = 6
"""So many rows of a table that was read are shown."""
COLUMNS = 12
"""So many columns of it."""
MOST_LABELS = 50
"""A column with more values than these has no labels."""
TAKEN, SECONDS = 20, 0.4
"""So many labels are taken as answers at a time, until so much time has passed."""


@router.get("/")
async def front(call: Call, all: bool = False) -> Response:
    """All sessions; when there is only one, that one, unless `all` are asked for."""
    listed = await call.pool.list_sessions()
    tables = await asyncio.to_thread(call.pool.tables) if call.is_owner else []
    if not all and len(listed) == 1 and (len(tables) <= 1 or not call.is_owner):
        return RedirectResponse(home(listed[0].name) + "/teach", 303)
    values = {
        "read": None,
        "sessions": [await _card(call, one) for one in listed],
        "tables": tables,
        "owner": call.is_owner,
        "samples": SAMPLES,
        "local": call.app.limits.loopback and call.app.limits.public is None,
        "endings": ",".join((*KINDS, *PACKED)),
        "most": call.app.limits.max_upload // 1_000_000,
    }
    return HTMLResponse(draw("front.html", **values, **OUTSIDE))


async def _card(call: Caller, one: Listed) -> dict[str, Any]:
    """A session on the first page: what is waiting is known of those that are open."""
    table = one.opened.data["table"]
    card: dict[str, Any] = {
        "name": one.name,
        "home": home(one.name),
        "table": table["name"],
        "last": one.last,
        "teacher": one.teacher,
        "done": one.answers,
        "rows": table["items"],
        "rules": None,
        "waiting": [],
    }
    if call.pool.is_open(one.name):
        card |= await call.pool.run(one.name, partial(_look, viewer=call.viewer))
    return card


def _look(session: Session, *, viewer: str | None) -> dict[str, Any]:
    """How far a session is, and what waits for the caller."""
    summary, waiting = session.summary(), []
    disputes = session.disagreements(viewer=viewer)
    if disputed := sum(not repair.is_settled(one.answers) for one in disputes):
        settle = "settle" if viewer is None else "look at"  # or change their own answer
        words = f"{counted(disputed, 'disagreement')} to {settle}"
        waiting.append(("/answers?tab=disputed", words))
    if session.odd_known:
        waiting.append(("/answers?tab=odd", counted(session.odd_known, "odd answer")))
    return {
        "done": summary.labelled,
        "rows": summary.items,
        "rules": summary.rules,
        "waiting": waiting,
    }


# -- a new session


@router.get("/read")
async def read(call: Call, table: Annotated[str, Query(max_length=1000)]) -> Response:
    """How a table is read, before a session begins."""
    call.must_own()
    path = await asyncio.to_thread(call.pool.table, table)
    found = await asyncio.to_thread(_about, path)
    taken = path.stem in {one.name for one in await call.pool.list_sessions()}
    values = {"read": found, "table": table, "taken": taken}
    return HTMLResponse(draw("front.html", **values, **OUTSIDE))


def _about(path: Path) -> dict[str, Any]:
    """What the page shows of a table."""
    table = read_table(path)
    if not len(table):
        raise ParameterError(f"{path.name} has columns, and no rows to teach about")
    names = table.names([])
    table = read_table(path, id=names)
    columns = [*table.types][:COLUMNS]
    named = dict.fromkeys([*([table.title] if table.title else []), *titles(table), *columns])
    rows = [table.items[place] for place in range(min(SHOWN, len(table)))]
    return {
        "head": SAY.table_head.format(
            path.name, counted(len(table), "row"), counted(len(table.types), "column")
        ),
        "columns": columns,
        "more": len(table.types) - len(columns),
        "unbroken": {one for one in columns if table.types[one] is not Type.TEXT},
        "title": table.title,
        "id": names,
        "number": None if table.title else str(table.called(0)),
        "named": [(one, in_prose(str(RowNames(table, one)(0)))) for one in named],
        "labelled": [one for one in map(partial(_labels, table), table.types) if one],
        "cells": [[in_prose(cut(show_cell(row, one), 80)) for one in columns] for row in rows],
        "findings": [one for one in table.findings if one.is_warning],
    }


def _labels(table: Table, column: str) -> tuple[str, str] | None:
    """A column that may have labels, and some of them."""
    values = table.frame([column]).to_series().drop_nulls()
    kinds = values.n_unique()
    if (
        table.types[column].temporal
        or column == table.title
        or not 2 <= kinds <= min(MOST_LABELS, len(values) // 2)
    ):
        return None
    first = values.unique(maintain_order=True).head(3).to_list()
    more = ["…"] if kinds > len(first) else []
    return column, ", ".join([*(cut(show(one), 30) for one in first), *more])


@router.post("/")
async def start(sent: Form, call: Call) -> Response:
    """Begin a session with a table of the folder: all labels are to come, or those of a column are
    the first answers, or are hidden to be compared with."""
    reading: dict[str, Any] = {"id": sent["column"]} if sent.get("column") else {}
    if sent.get("title"):
        reading["title"] = sent["title"]
    how, _, column = sent.get("labels", "").partition(":")
    if column:
        reading["without"] = [column]
    name = sent.get("name", "").strip()
    made = await begin_session(call, name, sent.get("table", ""), reading, **FOR_PEOPLE)
    if how == "start":
        return RedirectResponse(f"{home(made)}/take?{urlencode({'column': column})}", 303)
    return RedirectResponse(home(made) + "/teach", 303)


@router.post("/sample")
async def begin_sample(sent: Form, call: Call) -> Response:
    """Begin, or go on with, a session about a table of the package."""
    call.must_own()
    name = sent.get("sample", "")
    if name not in {one["name"] for one in SAMPLES}:
        raise ParameterError(f"the samples are bank and zoo, got {name!r}")
    write = write_bank if name == "bank" else write_zoo
    path = await asyncio.to_thread(write, call.pool.folder)
    listed = {one.name for one in await call.pool.list_sessions()}
    if path.stem not in listed:
        reading: dict[str, Any] = {} if name == "bank" else {"id": "name", "without": [LABEL]}
        how = {**FOR_PEOPLE, **({} if name == "bank" else {"order": "file"})}
        await begin_session(call, path.stem, path.name, reading, **how)
    return RedirectResponse(home(path.stem) + "/teach", 303)


@router.post("/upload")
async def upload(
    request: Request, call: Call, name: Annotated[str, Query(max_length=200)]
) -> Response:
    """Put a table beside the sessions, and show how it was read. It must be one that can be."""
    call.must_own()
    table = await asyncio.to_thread(call.pool.add_table, name, await request.body())
    return RedirectResponse(f"/read?{urlencode({'table': table})}", 303)


# -- labels of a column as first answers

_KNOWN: WeakKeyDictionary[Session, dict[Any, str]] = WeakKeyDictionary()
"""Of each session, the labels that are being taken."""


@router.get("/s/{session}/take")
@in_session
def ask_to_take(
    session: Session, call: Call, column: Annotated[str, Query(max_length=1000)]
) -> Response:
    """How many labels of a column have been taken; our script goes on by itself."""
    return _taken(session, call, column, 0)


@router.post("/s/{session}/take")
@in_session
def take(session: Session, sent: Form, call: Call) -> Response:
    """Take some more labels of a column as first answers; at the end, what was learnt."""
    column, done = sent.get("column", ""), sent.get("done", "0")
    start = int(done) if done.isascii() and done.isdecimal() else 0
    labels = _labels_to_take(session, call, column)
    order = list(labels)
    np.random.default_rng(session.opened.data["seed"]).shuffle(order)
    until = time.monotonic() + SECONDS
    while start < len(order) and time.monotonic() < until:
        some = {one: labels[one] for one in order[start : start + TAKEN]}
        session.start_from(COLUMN + column, some)
        start += len(some)
    shown = _taken(session, call, column, start)
    shown.headers["x-swap"] = "1"
    return shown


def _labels_to_take(session: Session, call: Caller, column: str) -> dict[Any, str]:
    call.must_own()
    if session not in _KNOWN:
        source = session.opened.data.get("source") or {}
        if column not in (source.get("without") or []):
            raise ParameterError(f"column {column!r} was not left out, so it has no first answers")
        _KNOWN[session] = dict(known_labels(source["path"], column, session))
    return _KNOWN[session]


def _taken(session: Session, call: Caller, column: str, done: int) -> Response:
    labels = _labels_to_take(session, call, column)
    ended = done >= len(labels)
    against = 0
    if ended:
        _KNOWN.pop(session)
        said, numbers, model = session.taught(viewer=None), session.clause_numbers(), session.model
        names = [clause.label for clause in model]
        against = sum(names[numbers[place]] != label for place, label in said.items())
    summary = session.summary()
    values = {
        "column": column,
        "done": done,
        "of": len(labels),
        "ended": ended,
        "against": against,
        "told": taken_labels(len(labels), column, summary.rules, against) if ended else "",
    }
    return page(session, call, "take", **values)
