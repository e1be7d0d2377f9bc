"""For whoever runs the server: health and numbers."""

from __future__ import annotations

import asyncio
import time
from typing import Literal

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

import tellapart
from tellapart.errors import TellapartError
from tellapart.web import metrics
from tellapart.web.api.schemas import Health
from tellapart.web.auth import Call
from tellapart.web.config import AppState

router = APIRouter(tags=["operations"])


@router.get("/health", responses={503: {"model": Health}})
async def health(request: Request, response: Response) -> Health:
    """Whether the server and its database answer. Needs no token."""
    state: AppState = request.app.state.tellapart
    try:
        async with asyncio.timeout(5):
            await asyncio.to_thread(state.pool.store.ping)
        status: Literal["ok", "failing"] = "ok"
    except (TellapartError, TimeoutError):
        status, response.status_code = "failing", 503
    uptime = round(time.monotonic() - state.started, 1)
    return Health(status, tellapart.__version__, uptime, state.pool.open_count)


@router.get("/metrics", response_class=Response)
async def numbers(call: Call) -> Response:
    """Counters and times, in the text format of Prometheus."""
    state = call.app
    state.metrics.open_sessions.set(state.pool.open_count)
    state.metrics.uptime.set(round(time.monotonic() - state.started, 1))
    return Response(state.metrics.text(), media_type=metrics.CONTENT_TYPE)
