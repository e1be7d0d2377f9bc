"""The pages that people see; they call the functions of the API. Here: the first, and the help."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from tellapart.console.keyboard import KEYS, PAGE_KEYS
from tellapart.errors import TableChanged
from tellapart.sessions import Session
from tellapart.sessions.config import FOR_PEOPLE
from tellapart.web.api.sessions import create_session
from tellapart.web.auth import Call
from tellapart.web.pages import (
    answers,
    progress,
    render,
    repair,
    results,
    sweep,
    tags,
    teach,
    without_table,
)
from tellapart.web.pages.render import Form, draw, home, page, redirect
from tellapart.web.session_pool import in_session

_HERE = Path(__file__).parent.parent
router = APIRouter()


@router.get("/")
async def front(call: Call) -> Response:
    """All sessions; when there is only one, that one."""
    listed = await call.pool.list_sessions()
    tables = call.pool.tables() if call.is_owner else []
    if len(listed) == 1 and (len(tables) <= 1 or not call.is_owner):
        return RedirectResponse(home(listed[0].name) + "/teach", 303)
    shown: list[dict[str, Any]] = [
        {"name": one.name, "home": home(one.name), "events": one.events} for one in listed
    ]
    values = {"sessions": shown, "tables": tables, "owner": call.is_owner, "csrf": call.csrf or ""}
    return HTMLResponse(draw("front.html", **values))


@router.post("/")
async def start(sent: Form, call: Call) -> Response:
    """Begin a session with a table of the folder."""
    reading = {"id": sent["column"]} if sent.get("column") else {}
    name = sent.get("name", "").strip()
    made = await create_session(call, name, sent.get("table", ""), reading, **FOR_PEOPLE)
    return RedirectResponse(home(made) + "/teach", 303)


@router.get("/s/{session}/help")
@in_session
def explain(session: Session, call: Call) -> Response:
    """Keys, words, how it learns."""
    actions = [(action, words) for action, (_, words) in (KEYS | PAGE_KEYS).items()]
    labels, meanings = session.labels, session.meanings
    return page(session, call, "help", actions=actions, labels=labels, meanings=meanings)


@router.post("/s/{session}/meaning")
@in_session
def describe(session: Session, sent: Form, call: Call) -> Response:
    label, meaning = sent.get("label", ""), sent.get("meaning", "").strip()
    session.describe_label(call.name, label, meaning, id=sent.get("id"))
    return redirect(session, "/help#labels")


def install(app: FastAPI) -> None:
    render.prepare()
    app.add_exception_handler(TableChanged, without_table.go_on)
    app.mount("/static", StaticFiles(directory=_HERE / "static"), name="static")
    for part in (teach, sweep, progress, answers, repair, results, tags):
        app.include_router(part.router, include_in_schema=False)
    app.include_router(router, include_in_schema=False)
