"""The app: middleware, errors, routes, pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI

import tellapart
from tellapart.web import errors, pages
from tellapart.web.api import downloads, labels, operations, review, sessions, teaching
from tellapart.web.auth import People
from tellapart.web.config import AppState, Limits, PageOptions
from tellapart.web.middleware import AccessMiddleware
from tellapart.web.session_pool import SessionPool


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
    )
    app.state.tellapart = AppState(pool, people, limits, page_options)
    errors.install(app)
    pages.install(app)  # first: routes are tried in order, and a person waits for these
    api = APIRouter(prefix="/api", responses=errors.RESPONSES)
    for part in (sessions, teaching, labels, review, downloads):
        api.include_router(part.router)
    app.include_router(api)
    app.include_router(operations.router, responses=errors.RESPONSES)
    app.add_middleware(AccessMiddleware)
    return app
