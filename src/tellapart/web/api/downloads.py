"""What leaves the house: the model, the log, and a label for every item."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response, StreamingResponse

from tellapart.sessions import Session, export_log
from tellapart.web.dependencies import Call, Name
from tellapart.web.views import exports

router = APIRouter(prefix="/sessions/{session}", tags=["downloads"])

Dialect = Literal["duckdb", "sqlite", "postgres", "spark", "bigquery", "snowflake"]


def _file(kind: str, description: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"description": description, "content": {kind: {"schema": {}}}}}


@router.get("/export", response_class=Response, responses=_file("*/*", "The model."))
async def export(
    session: Name,
    call: Call,
    to: Literal["json", "sql", "python", "text", "dot", "svg"] = "json",
    dialect: Dialect = "duckdb",
) -> Response:
    """The model: JSON, SQL in a dialect, Python, sentences, or a picture."""
    made = await call.do(session, lambda s: exports.model(s, to, dialect))
    kind, ending = exports.LANGUAGES[to]
    return Response(made.encode(), headers=_attached(session, ending), media_type=kind)


@router.get("/log", response_class=StreamingResponse, responses=_file("*/*", "Lines of JSON."))
async def log(session: Name, call: Call) -> Response:
    """The whole session, an event a line; `tellapart session import` reads it. For the owner."""
    call.must_own()
    store = call.house.shelf.store
    await call.do(session, lambda s: s.number)  # it is there, and what was answered is in it
    return StreamingResponse(
        export_log(store, session),
        headers=_attached(session, "jsonl"),
        media_type=exports.FORMATS["jsonl"],
    )


@router.get(
    "/predictions", response_class=StreamingResponse, responses=_file("*/*", "A row an item.")
)
async def predictions(
    session: Name,
    call: Call,
    column: Annotated[list[str], Query(max_length=500, default_factory=list)],
    format: Literal["csv", "jsonl", "parquet"] = "csv",
    exact: bool = False,
) -> Response:
    """A label for every item, with the rule and its example; `column` for more of the table.

    In CSV, a text that a spreadsheet would run as a formula gets a ' before it, unless `exact`.
    """

    def work(s: Session) -> exports.Predictions:
        return exports.Predictions(s.table, s.model, column)

    made = await call.read(session, work)
    return StreamingResponse(
        made.stream(format, exact=exact),
        headers=_attached(session, format),
        media_type=exports.FORMATS[format],
    )


def _attached(name: str, ending: str) -> dict[str, str]:
    """A file to be saved, never shown: what is in it came from a table."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._") or "session"
    return {"content-disposition": f'attachment; filename="{safe[:80]}.{ending}"'}
