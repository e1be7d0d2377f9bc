"""The first page: the sessions there are, and how to begin one."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tellapart.sessions.config import FOR_PEOPLE
from tellapart.web.dependencies import Call
from tellapart.web.pages.render import again, form, home, page
from tellapart.web.session_pool import begin

router = APIRouter()


@router.get("/")
async def front(call: Call) -> Response:
    """All sessions; when there is only one, that one."""
    listed = await call.house.shelf.listed()
    tables = call.house.shelf.tables() if call.is_owner else []
    if len(listed) == 1 and (len(tables) <= 1 or not call.is_owner):
        return RedirectResponse(home(listed[0].name) + "/teach", 303)
    shown: list[dict[str, Any]] = [
        {"name": one.name, "home": home(one.name), "events": one.events} for one in listed
    ]
    return page(
        "front.html", sessions=shown, tables=tables, owner=call.is_owner, csrf=call.visit.csrf or ""
    )


@router.post("/")
async def start(request: Request, call: Call) -> Response:
    """Begin a session with a table of the folder."""
    call.must_own()
    sent = await form(request)
    path = call.house.shelf.table(sent.get("table", ""))
    name = sent.get("name", "").strip() or path.stem
    reading = {"id": sent["column"]} if sent.get("column") else {}
    await call.house.shelf.new(name, begin(path, name, reading, **FOR_PEOPLE))
    return again(home(name) + "/teach")
