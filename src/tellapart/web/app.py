"""The app: middleware, errors, routes, pages; and running it to an end in which nothing is lost."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import h11
import uvicorn
from fastapi import APIRouter, FastAPI
from starlette.middleware.gzip import GZipMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol

import tellapart
from tellapart.errors import ParameterError
from tellapart.web import errors, pages
from tellapart.web.access import AccessMiddleware, Limits, People
from tellapart.web.api import downloads, events, labels, operations, review, sessions, teaching
from tellapart.web.config import AppState, PageOptions
from tellapart.web.json_logging import log_event
from tellapart.web.session_pool import SessionPool

GRACE = 10
"""Seconds after which the server has stopped when it is told to."""
CLOSING = 3
"""Of these, seconds to close sessions; requests have the others."""
HEADERS = 10.0
"""Seconds for the headers of a request to arrive."""
CONNECTIONS = 1000
"""So many connections there are at a time, or fewer where few files may be open."""


def create_app(
    pool: SessionPool,
    people: People,
    limits: Limits | None = None,
    page_options: PageOptions | None = None,
) -> FastAPI:
    """An app that serves the sessions of a pool to some people.

    When it ends it closes its sessions and their store.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await app.state.tellapart.pool.close_all()

    app = FastAPI(
        title="tellapart",
        summary="Teach a rule-based classifier by saying what tells two things apart.",
        version=tellapart.__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.tellapart = AppState(pool, people, limits, page_options)
    errors.install(app)
    pages.install(app)  # first: routes are tried in order, and a person waits for these
    api = APIRouter(prefix="/api", responses=errors.RESPONSES)
    for part in (sessions, teaching, labels, review, downloads, events):
        api.include_router(part.router)
    app.include_router(api)
    app.include_router(operations.router, responses=errors.RESPONSES)
    app.add_middleware(GZipMiddleware, minimum_size=20_000, compresslevel=5)
    app.add_middleware(AccessMiddleware)
    return app


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens, or a message that says why not. Port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio asks for the protocol: only where it is TCP by name does it send without delay, and
    # else every answer waits 40 ms for the other side
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
        made.listen(200)
    except OSError as error:
        made.close()
        raise ParameterError(
            f"cannot listen on {host} port {port}: {error.strerror}. Choose another with --port, or"
            " 0 for a free one"
        ) from error
    return made


class _Protocol(H11Protocol):
    """A connection: headers must arrive in time, and there are not too many at a time."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn
        super().connection_made(transport)
        if len(self.connections) > _most_connections():
            transport.abort()
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def _watch(self) -> None:
        """Give headers a time to arrive, from their first byte on."""
        begun = self.conn.their_state is h11.IDLE and self.timeout_keep_alive_task is None
        if self._timer is not None and not begun:
            self._timer.cancel()
            self._timer = None
        elif self._timer is None and begun and not self.transport.is_closing():
            self._timer = self.loop.call_later(HEADERS, self.transport.abort)


def _most_connections() -> int:
    """So many that there are files left for the database and the tables."""
    if sys.platform == "win32":
        return CONNECTIONS
    import resource

    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return CONNECTIONS if files == resource.RLIM_INFINITY else min(CONNECTIONS, files // 2)


def configure(app: FastAPI) -> uvicorn.Config:
    """How uvicorn serves the app."""
    return uvicorn.Config(
        app,
        http=_Protocol,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE - CLOSING,
        timeout_keep_alive=30,
        h11_max_incomplete_event_size=64 * 1024,
        lifespan="on",
    )


def run(app: FastAPI, listening: socket.socket, *, ready: Callable[[], None] | None = None) -> None:
    """Serve until SIGTERM or SIGINT: requests under way are finished, stores closed."""
    # a learner that thinks lets requests in sooner than Python would make it
    sys.setswitchinterval(0.001)
    server = _Server(app, ready)
    # before uvicorn listens for signals; and when it is done, it raises once more what it caught
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: setattr(server, "should_exit", True))
    server.run(sockets=[listening])
    log_event("stopped")


class _Server(uvicorn.Server):
    def __init__(self, app: FastAPI, ready: Callable[[], None] | None) -> None:
        super().__init__(configure(app))
        self._app, self._ready = app, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and self._ready is not None:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # a database that hangs must not keep us: what is acknowledged is saved already
        last = threading.Timer(GRACE - 0.5, _give_up)
        last.daemon = True
        last.start()
        self._app.state.tellapart.streams.stopped = True
        await super().shutdown(sockets)


def _give_up() -> None:
    log_event("stopped", logging.WARNING, waited=GRACE)
    logging.shutdown()
    os._exit(1)
