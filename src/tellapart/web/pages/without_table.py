"""The page of a session whose table has changed or is gone: what was kept of it."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from tellapart.errors import TableChanged
from tellapart.export import sentences
from tellapart.model import DecisionList
from tellapart.web.api.downloads import said_csv
from tellapart.web.api.review import answers_in_log
from tellapart.web.auth import Caller
from tellapart.web.errors import error_response
from tellapart.web.pages.render import MAX_ROWS, PAGES, draw, home


async def show_what_was_kept(request: Request, error: Exception) -> Response:
    """Answer a request that needed the table: a page shows what there is, all else is refused."""
    assert isinstance(error, TableChanged)
    here = "/" + request.url.path.rpartition("/")[2]
    is_page = request.url.path.startswith("/s/") and here in (*dict(PAGES).values(), "/answers.csv")
    if request.method != "GET" or not is_page:
        return error_response(error, str(request.scope.get("tellapart.request", "")))
    call: Caller = request.scope["tellapart.caller"]
    session: str = request.path_params["session"]
    answers = await answers_in_log(call, session)
    if here == "/answers.csv":
        return Response(said_csv(answers), media_type="text/csv; charset=utf-8")
    kept = await asyncio.to_thread(call.pool.store.last_model, session)
    model = None if kept is None else call.view_of_kept(DecisionList.from_json(kept[1]))
    return HTMLResponse(
        draw(
            "without_table.html",
            session=session,
            home=home(session),
            api=f"/api/sessions/{home(session).removeprefix('/s/')}",
            why=str(error),
            after=None if kept is None else kept[0],
            rules=[] if model is None else sentences(model),
            answers=answers[::-1][:MAX_ROWS],
            total=len(answers),
            owner=call.is_owner,
        )
    )
