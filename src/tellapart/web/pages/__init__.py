"""The pages that people see; they call the functions of the API."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from tellapart.errors import TableChanged
from tellapart.sessions import Session
from tellapart.web import errors
from tellapart.web.access import Call, Caller
from tellapart.web.pages import (
    answers,
    begin,
    progress,
    render,
    repair,
    results,
    rules,
    sweep,
    teach,
)
from tellapart.web.pages.render import ADDRESSES, page
from tellapart.web.session_pool import in_session

_HERE = Path(__file__).parent.parent
router = APIRouter()


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
        return errors.answer(request, error)
    call: Caller = request.scope["tellapart.caller"]
    session: str = request.path_params["session"]

    def show(whole: Session) -> Response:
        return page(whole, call, "answers", **answers.all_answers(whole, call))

    return await call.pool.run(session, show)


def install(app: FastAPI) -> None:
    render.prepare()
    app.add_exception_handler(TableChanged, _show_answers)
    app.mount("/static", StaticFiles(directory=_HERE / "static"), name="static")
    for part in (begin, teach, sweep, progress, answers, repair, results, rules):
        app.include_router(part.router, include_in_schema=False)
    app.include_router(router, include_in_schema=False)
