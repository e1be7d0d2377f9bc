"""The pages that people see; they call the functions of the API. Here: the first, and the help."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Query
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from tellapart.errors import ParameterError, TableChanged
from tellapart.features.phrasing import counted
from tellapart.samples import write_bank
from tellapart.sessions import Listed, Session
from tellapart.sessions.config import FOR_PEOPLE
from tellapart.sessions.phrasing import SAMPLES
from tellapart.sessions.tour import LABEL, write_zoo
from tellapart.tables.files import KINDS, PACKED
from tellapart.web.access import Call, Caller
from tellapart.web.api.sessions import create_session
from tellapart.web.errors import error_response
from tellapart.web.pages import (
    answers,
    progress,
    render,
    repair,
    results,
    rules,
    sweep,
    teach,
)
from tellapart.web.pages.render import ADDRESSES, OUTSIDE, Form, draw, home, page
from tellapart.web.session_pool import in_session

_HERE = Path(__file__).parent.parent
router = APIRouter()


@router.get("/")
async def front(call: Call, all: bool = False) -> Response:
    """All sessions; when there is only one, that one, unless `all` are asked for."""
    listed = await call.pool.list_sessions()
    tables = await asyncio.to_thread(call.pool.tables) if call.is_owner else []
    if not all and len(listed) == 1 and (len(tables) <= 1 or not call.is_owner):
        return RedirectResponse(home(listed[0].name) + "/teach", 303)
    values = {
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
    done, items = one.answers, table["items"]
    waiting: list[tuple[str, str]] = []
    rules_made: int | None = None
    if call.pool.is_open(one.name):
        look = partial(_look, viewer=call.viewer)
        done, items, rules_made, waiting = await call.pool.run(one.name, look)
    return {
        "name": one.name,
        "home": home(one.name),
        "table": table["name"],
        "done": done,
        "rows": items,
        "share": round(100 * min(1.0, done / max(1, items)), 1),
        "last": one.last,
        "rules": rules_made,
        "teacher": one.teacher,
        "waiting": waiting,
    }


def _look(session: Session, *, viewer: str | None) -> tuple[int, int, int, list[tuple[str, str]]]:
    """How many items of a session are done, of how many, and what waits for the caller."""
    summary = session.summary()
    disputed = sum(
        not repair.is_settled(one.answers) for one in session.disagreements(viewer=viewer)
    )
    settle = (
        "settle" if viewer is None else "look at"
    )  # who may not settle can change their own answer
    waits = [
        ("/answers?tab=disputed", f"{counted(disputed, 'disagreement')} to {settle}", disputed),
        ("/teach", f"{counted(summary.waiting, 'row')} waiting for a reason", summary.waiting),
        ("/teach", f"{counted(summary.skipped, 'row')} skipped", summary.skipped),
        ("/rules", "you may stop", summary.may_stop),
    ]
    return (
        summary.labelled,
        summary.items,
        summary.rules,
        [(path, words) for path, words, n in waits if n],
    )


@router.post("/")
async def start(sent: Form, call: Call) -> Response:
    """Begin a session with a table of the folder."""
    reading = {"id": sent["column"]} if sent.get("column") else {}
    name = sent.get("name", "").strip()
    made = await create_session(call, name, sent.get("table", ""), reading, **FOR_PEOPLE)
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
        await create_session(call, path.stem, path.name, reading, **how)
    return RedirectResponse(home(path.stem) + "/teach", 303)


@router.post("/upload")
async def upload(
    request: Request, call: Call, name: Annotated[str, Query(max_length=200)]
) -> Response:
    """Put a table beside the sessions, and begin one with it. It must be one that can be read."""
    call.must_own()
    body = await request.body()
    table, column = await asyncio.to_thread(call.pool.add_table, name, body)
    reading = {} if column is None else {"id": column}
    made = await create_session(call, "", table, reading, **FOR_PEOPLE)
    return RedirectResponse(home(made) + "/teach", 303)


@router.get("/s/{session}/help")
@in_session
def explain(session: Session, call: Call) -> Response:
    """Keys and words, and everything else: for who has no script, for whom they are windows."""
    return page(session, call, "help")


async def _show_answers(request: Request, error: Exception) -> Response:
    """Answer a request that needed the table: a page shows the answers, all else is refused."""
    here = "/" + request.url.path.rpartition("/")[2]
    is_page = request.url.path.startswith("/s/") and here in ADDRESSES
    if request.method != "GET" or not is_page:
        return error_response(error, str(request.scope.get("tellapart.request", "")))
    call: Caller = request.scope["tellapart.caller"]
    session: str = request.path_params["session"]
    return await call.pool.run(session, lambda whole: answers.list_answers(whole, call))


def install(app: FastAPI) -> None:
    render.prepare()
    app.add_exception_handler(TableChanged, _show_answers)
    static = GZipMiddleware(StaticFiles(directory=_HERE / "static"))
    app.mount("/static", static, name="static")
    for part in (teach, sweep, progress, answers, repair, results, rules):
        app.include_router(part.router, include_in_schema=False)
    app.include_router(router, include_in_schema=False)
