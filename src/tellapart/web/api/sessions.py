"""Sessions: begin, list, open, settings, close."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from tellapart.sessions import Session
from tellapart.web.dependencies import Call, Name, reply
from tellapart.web.errors import Refused
from tellapart.web.schemas import sent, told
from tellapart.web.session_pool import begin
from tellapart.web.views import teaching

router = APIRouter(tags=["sessions"])


@router.get("/me", response_model=told.Me)
async def me(call: Call) -> Response:
    """Who you are here. `csrf` is what pages send as X-CSRF-Token."""
    return reply({"name": call.name, "owner": call.is_owner, "csrf": call.visit.csrf})


@router.get("/tables", response_model=told.Tables)
async def tables(call: Call) -> Response:
    """The tables a session can be begun with."""
    call.must_own()
    return reply({"tables": await asyncio.to_thread(call.house.shelf.tables)})


@router.get("/sessions", response_model=told.Sessions)
async def sessions(call: Call) -> Response:
    """All sessions, the latest first."""
    shelf = call.house.shelf
    found = [
        {
            "name": one.name,
            "events": one.events,
            "table": one.opened.data["table"]["name"],
            "items": one.opened.data["table"]["items"],
            "opened": one.opened.at,
            "last": one.last,
            "open": shelf.is_open(one.name),
        }
        for one in await shelf.listed()
    ]
    return reply({"sessions": found})


@router.post("/sessions", response_model=told.Session, status_code=201)
async def new_session(body: sent.NewSession, call: Call) -> Response:
    """Begin a session with a table in the folder of this server."""
    call.must_own()
    shelf = call.house.shelf
    name = body.name.strip()
    if name in ("", ".", ".."):
        raise Refused(422, "BadName", f"a session cannot be called {body.name!r}")
    if name in {one.name for one in await shelf.listed()}:
        raise Refused(409, "SessionError", f"there is a session {name!r} already")
    path = await asyncio.to_thread(shelf.table, body.table)
    reading = {
        key: getattr(body, key)
        for key in ("id", "types", "separator", "encoding", "nulls")
        if getattr(body, key) is not None
    }
    how: dict[str, Any] = {
        key: getattr(body, key)
        for key in ("parameters", "labels", "order", "overlap", "lease", "until", "seed")
    }
    if body.learner is not None:
        how["learner"] = body.learner
    await shelf.new(name, begin(path, name, reading, **how))
    return reply(await call.do(name, teaching.about), 201)


@router.get("/sessions/{session}", response_model=told.Session)
async def session(session: Name, call: Call) -> Response:
    """Open a session, if it is not open yet, and say what it is and how far."""
    return reply(await call.do(session, teaching.about))


@router.patch("/sessions/{session}", response_model=told.Saved)
async def settings(session: Name, body: sent.Settings, call: Call) -> Response:
    """Switch the order, the overlap, the lease or the stopper."""
    given = body.model_dump(exclude_none=True, exclude={"id"})
    if given.get("until") == {}:
        given["until"] = None
    if not given:
        raise Refused(422, "NoSetting", "name at least one of order, overlap, lease and until")

    def work(s: Session) -> Any:
        return teaching.saved(s.set(call.name, id=body.id, **given))

    return reply(await call.do(session, work))


@router.post("/sessions/{session}/close", response_model=told.Sessions)
async def close(session: Name, call: Call) -> Response:
    """Close a session, so that another program may open it."""
    call.must_own()
    await call.house.shelf.close(session)
    return await sessions(call)
