"""The app: gate, faults, routes, pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI

import tellapart
from tellapart.web import errors, pages
from tellapart.web.api import FAULTS, downloads, operations, review, sessions, teaching, words
from tellapart.web.auth import People
from tellapart.web.house import House
from tellapart.web.limits import Limits
from tellapart.web.manner import Manner
from tellapart.web.middleware import Gate
from tellapart.web.session_pool import Shelf


def create_app(
    shelf: Shelf,
    people: People,
    limits: Limits | None = None,
    manner: Manner | None = None,
) -> FastAPI:
    """An app that serves the sessions of a shelf to some people.

    When it ends it closes its sessions and their store.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await app.state.house.shelf.close_all()

    app = FastAPI(
        title="tellapart",
        summary="Teach a rule-based classifier by saying what tells two things apart.",
        version=tellapart.__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.house = House(shelf, people, limits or Limits(), manner)
    errors.install(app)
    pages.install(app)  # first: routes are tried in order, and these are in a hurry
    api = APIRouter(prefix="/api", responses=FAULTS)
    for part in (sessions, teaching, words, review, downloads):
        api.include_router(part.router)
    app.include_router(api)
    app.include_router(operations.router, responses=FAULTS)
    app.add_middleware(Gate)
    return app
