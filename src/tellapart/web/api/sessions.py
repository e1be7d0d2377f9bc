"""Sessions: begin, list, open, settings, close."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter

from tellapart.sessions import Saved, Session
from tellapart.sessions.config import SETTINGS
from tellapart.sessions.events import check_name
from tellapart.tables.options import OF_CSV
from tellapart.web.access import Call, Caller, SessionName
from tellapart.web.api import schemas
from tellapart.web.errors import Refused
from tellapart.web.session_pool import in_session

router = APIRouter(tags=["sessions"])
HOW_READ = frozenset(("types", *OF_CSV, "sheet", "sample", "sample_seed"))
"""Arguments of `read_table` that clients may give; a server asks no databases for them."""


async def begin_session(
    call: Caller, name: str, table: str, reading: Mapping[str, Any], **settings: Any
) -> str:
    """Begin a session with a table in the folder of this server; returns its name.

    Without a name it is called what the table is called.
    """
    call.must_own()
    path = await asyncio.to_thread(call.pool.table, table)
    await call.pool.create(name or path.stem, path, reading, **settings)
    return name or path.stem


def about(session: Session) -> schemas.Session:
    """What a session is, and how far."""
    opened = session.opened.data
    return schemas.Session(
        name=session.name,
        learner=opened["learner"],
        parameters=opened["parameters"],
        seed=opened["seed"],
        version=opened["version"],
        table=to_table(session),
        settings=session.settings,
        labels=session.labels,
        tags=list(session.table.tags),
        teachers=session.teachers,
        progress=session.summary(),
        saved=session.number,
        trouble=session.trouble,
    )


def to_table(session: Session) -> schemas.Table:
    """The table of a session, and how it was read."""
    opened, table = session.opened.data["table"], session.table
    findings = [
        schemas.Finding(one.column, one.what, one.assumed, dict(one.option), str(one))
        for one in table.findings
    ]
    return schemas.Table(
        opened["name"], len(table), opened["id"], table.schema, table.whole, findings
    )


@router.get("/me")
async def get_me(call: Call) -> schemas.Me:
    """Who you are here."""
    return schemas.Me(call.name, call.is_owner)


@router.get("/tables")
async def list_tables(call: Call) -> schemas.Tables:
    """The tables a session can be begun with."""
    call.must_own()
    return schemas.Tables(await asyncio.to_thread(call.pool.tables))


@router.get("/sessions")
async def list_sessions(call: Call) -> schemas.Sessions:
    """All sessions, the latest first."""
    found = [
        schemas.Listed(
            name=one.name,
            events=one.events,
            table=one.opened.data["table"]["name"],
            items=one.opened.data["table"]["items"],
            opened=one.opened.at,
            last=one.last,
            open=call.pool.is_open(one.name),
        )
        for one in await call.pool.list_sessions()
    ]
    return schemas.Sessions(found)


@router.post("/sessions", status_code=201)
async def create_session(body: schemas.NewSession, call: Call) -> schemas.Session:
    """Begin a session with a table in the folder of this server."""
    call.must_own()
    name = body.name.strip()
    check_name(name)
    if name in {one.name for one in await call.pool.list_sessions()}:
        raise Refused(409, "SessionError", f"there is a session {name!r} already")
    reading = body.model_dump(include={"id", *HOW_READ}, exclude_none=True)
    settings = body.model_dump(
        include={"parameters", "labels", "order", "overlap", "lease", "until", "seed"}
    )
    if body.learner is not None:
        settings["learner"] = body.learner
    await begin_session(call, name, body.table, reading, **settings)
    return await call.pool.run(name, about)


@router.get("/sessions/{session}")
@in_session
def get_session(session: Session) -> schemas.Session:
    """Open a session, if it is not open yet, and say what it is and how far."""
    return about(session)


@router.patch("/sessions/{session}")
@in_session
def change_settings(session: Session, body: schemas.Settings, call: Call) -> Saved:
    """Switch the order, the overlap, the lease, the stopper, what unsure rules say, or who gets
    which rows. For the owner.
    """
    call.must_own()
    given = body.model_dump(exclude_none=True, exclude={"id"})
    if given.get("until") == {}:
        given["until"] = None
    if not given:
        raise Refused(422, "NoSetting", f"name at least one of {', '.join(SETTINGS)}")
    return session.set(call.name, id=body.id, **given)


@router.post("/sessions/{session}/rows")
@in_session
def add_rows(session: Session, body: schemas.AddRows, call: Call) -> schemas.RowsAdded:
    """Add rows at the end of the table, to its file too. For the owner.

    Without rows: take on those that somebody else has added to the file.
    """
    call.must_own()
    if body.rows:
        added = session.add_rows(call.name, body.rows, id=body.id)
    else:
        added = session.take_rows(call.name, id=body.id)
    return schemas.RowsAdded(added, len(session.table))


@router.post("/sessions/{session}/close")
async def close_session(session: SessionName, call: Call) -> schemas.Sessions:
    """Close a session, so that another program may open it."""
    call.must_own()
    await call.pool.close(session)
    return await list_sessions(call)
