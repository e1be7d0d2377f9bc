"""For whoever runs the server: health, and numbers in the text format of Prometheus."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Literal

from fastapi import APIRouter
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client import disable_created_metrics as _disable_created_metrics
from starlette.requests import Request
from starlette.responses import Response

import tellapart
from tellapart.errors import TellapartError
from tellapart.web.access import Call
from tellapart.web.api.schemas import Health

if TYPE_CHECKING:
    from tellapart.web.config import AppState

router = APIRouter(tags=["operations"])
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

_disable_created_metrics()  # type: ignore[no-untyped-call]  # untyped there


class Metrics:
    """Counters, and how long requests took.

    >>> metrics = Metrics()
    >>> metrics.refused.labels("NoToken").inc()
    >>> 'tellapart_refused_total{kind="NoToken"} 1.0' in metrics.text()
    True
    """

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ours: dict[str, Any] = {"namespace": "tellapart", "registry": self._registry}
        self.requests = Counter(
            "requests_total", "Requests answered.", ["method", "route", "status"], **ours
        )
        self.seconds = Histogram(
            "request_seconds", "How long they took.", ["route"], buckets=BUCKETS, **ours
        )
        self.refused = Counter("refused_total", "Requests not let in, by reason.", ["kind"], **ours)
        self.answers = Counter("answers_total", "Answers taken, by outcome.", ["outcome"], **ours)
        self.open_sessions = Gauge("open_sessions", "tellapart open sessions.", **ours)
        self.uptime = Gauge("uptime_seconds", "tellapart uptime seconds.", **ours)

    def text(self) -> str:
        return generate_latest(self._registry).decode()


@router.get("/health", responses={503: {"model": Health}})
async def health(request: Request, response: Response) -> Health:
    """Whether the server and its database answer, and answers could be saved. Needs no token."""
    state: AppState = request.app.state.tellapart
    try:
        async with asyncio.timeout(5):
            await state.pool.check()
        status: Literal["ok", "failing"] = "ok"
    except (TellapartError, TimeoutError):
        status, response.status_code = "failing", 503
    uptime = round(time.monotonic() - state.started, 1)
    return Health(status, tellapart.__version__, uptime, state.pool.open_count)


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(call: Call) -> Response:
    """Counters and times, in the text format of Prometheus."""
    state = call.app
    state.metrics.open_sessions.set(state.pool.open_count)
    state.metrics.uptime.set(round(time.monotonic() - state.started, 1))
    return Response(state.metrics.text(), media_type=CONTENT_TYPE)
