"""For whoever runs the server: health and numbers."""

from __future__ import annotations

import asyncio
import time

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

import tellapart
from tellapart.errors import TellapartError
from tellapart.web import metrics
from tellapart.web.dependencies import Call, reply
from tellapart.web.house import House
from tellapart.web.schemas import told

router = APIRouter(tags=["operations"])


@router.get("/health", response_model=told.Health, responses={503: {"model": told.Health}})
async def health(request: Request) -> Response:
    """Whether the server and its database answer. Needs no token."""
    house: House = request.app.state.house
    try:
        async with asyncio.timeout(5):
            await asyncio.to_thread(house.shelf.ping)
        fine = True
    except (TellapartError, TimeoutError):
        fine = False
    found = {
        "status": "ok" if fine else "failing",
        "version": tellapart.__version__,
        "uptime": round(time.monotonic() - house.started, 1),
        "sessions": house.shelf.opened,
    }
    return reply(found, 200 if fine else 503)


@router.get("/metrics", response_class=Response)
async def numbers(call: Call) -> Response:
    """Counters and times, in the text format of Prometheus."""
    house = call.house
    gauges = {
        "tellapart_open_sessions": float(house.shelf.opened),
        "tellapart_uptime_seconds": round(time.monotonic() - house.started, 1),
    }
    return Response(house.metrics.text(gauges), media_type=metrics.TYPE)
