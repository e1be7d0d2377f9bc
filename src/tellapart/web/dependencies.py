"""What routes and pages share: who calls, and how a session is reached."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Path
from starlette.requests import Request
from starlette.responses import Response

from tellapart.sessions import Session
from tellapart.web.errors import Refused, written
from tellapart.web.house import House
from tellapart.web.middleware import Visit

T = TypeVar("T")
R = TypeVar("R")

Name = Annotated[str, Path(min_length=1, max_length=200, description="The name of the session.")]


class Caller:
    """Who calls, and what they may do."""

    def __init__(self, house: House, visit: Visit) -> None:
        self.house, self.visit = house, visit
        self.name = visit.person.name
        self.is_owner = visit.person.owner

    async def do(self, session: str, work: Callable[[Session], T]) -> T:
        """Do something with a session; what it writes is committed at once, before this returns."""

        def together(opened: Session) -> T:
            with opened.together():
                return work(opened)

        return await self.house.shelf.run(session, together)

    async def show(self, session: str, work: Callable[[Session], T], draw: Callable[[T], R]) -> R:
        """The same, and draw what came of it while the disk takes it in.

        What was drawn is returned, for others to see, when all is committed.
        """
        loop = asyncio.get_running_loop()
        drawn: list[R] = []
        failed: list[Exception] = []

        def begin(value: T) -> None:
            try:
                drawn.append(draw(value))
            except Exception as error:
                failed.append(error)

        def together(opened: Session) -> None:
            with opened.together():
                value = work(opened)
                loop.call_soon_threadsafe(begin, value)

        await self.house.shelf.run(session, together)  # `begin` was called before: it came first
        if failed:
            raise failed[0]
        return drawn[0]

    async def read(self, session: str, work: Callable[[Session], T]) -> T:
        """Do something that takes a while and changes nothing."""
        return await self.house.shelf.read(session, work)

    def must_own(self) -> None:
        """Refuse teachers of a team what only the owner may do."""
        if not self.is_owner:
            raise Refused(403, "OwnerOnly", "only the owner of this server may do that")

    def must_have_said(self, session: Session, event: str) -> None:
        """Refuse teachers of a team what others answered; the owner may change it."""
        if self.is_owner or any(one.id == event for one in session.history(teacher=self.name)):
            return
        raise Refused(403, "NotYours", "only your own answers, unless you own the server")


async def caller(request: Request) -> Caller:  # without async, FastAPI hands it to a thread
    """The caller of a request."""
    return Caller(request.app.state.house, request.scope["tellapart.visit"])


Call = Annotated[Caller, Depends(caller)]


def reply(value: Any, status: int = 200) -> Response:
    """A value as JSON; its shape is checked by tests, not on every request."""
    return Response(written(value), status, media_type="application/json")
