"""Events as a stream: the log of a session, followed while it grows (server-sent events).

The log is read from the store, from any event on. So whoever comes back after a broken connection
misses nothing.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Header, Query
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from tellapart.errors import TellapartError
from tellapart.sessions import Event
from tellapart.web.access import Call, Caller, SessionName
from tellapart.web.errors import Refused
from tellapart.web.session_pool import SessionPool

router = APIRouter(prefix="/sessions/{session}", tags=["events"])

BLOCK = 500
"""So many events are read at a time."""
HEARTBEAT = 15.0
"""Seconds of silence after which a comment is sent, and the log is read in any case."""
PAUSE = 0.1
"""Seconds between two readings of the log."""
MAX_STREAMS = 20
"""So many streams each teacher may have open."""
_SHARED = {"label added", "label described", "label renamed", "labels merged", "rows added"}
"""What every teacher sees on pages, too, but not who did it."""

Number = Annotated[int, Query(ge=0, le=10_000_000_000)]


class EventStreams:
    """The streams that are open."""

    def __init__(self) -> None:
        self.stopped = False
        self._open: set[asyncio.Event] = set()
        self._callers: Counter[str] = Counter()

    def stop(self) -> None:
        """End all streams; programs come back when the server does."""
        self.stopped = True
        for woken in self._open:
            woken.set()

    def enter(self, caller: str) -> None:
        """Take a place for a stream, or refuse one too many; `leave` gives it back."""
        if self._callers[caller] >= MAX_STREAMS:
            raise Refused(429, "TooMany", f"at most {MAX_STREAMS} streams at a time; close one")
        self._callers[caller] += 1

    def leave(self, caller: str) -> None:
        """Give a place back."""
        self._callers[caller] -= 1

    async def follow(
        self, pool: SessionPool, name: str, events: list[Event], after: int
    ) -> AsyncGenerator[list[Event]]:
        """These events and all that come after; an empty list after a silence."""
        woken = asyncio.Event()

        def wake(changed: str) -> None:
            if changed == name:
                woken.set()

        pool.watchers.add(wake)
        self._open.add(woken)
        try:
            while not self.stopped:
                yield events
                after = events[-1].number if events else after
                if len(events) < BLOCK:
                    await asyncio.sleep(PAUSE)
                    with suppress(TimeoutError):
                        await asyncio.wait_for(woken.wait(), HEARTBEAT)
                woken.clear()
                events = await asyncio.to_thread(pool.store.tail, name, after, BLOCK)
        finally:
            pool.watchers.discard(wake)
            self._open.discard(woken)


class _Stream(StreamingResponse):
    """A stream that gives its caller's place back, however it ends."""

    def __init__(self, content: AsyncIterator[bytes], streams: EventStreams, caller: str) -> None:
        headers = {"x-accel-buffering": "no"}
        super().__init__(content, media_type="text/event-stream", headers=headers)
        self._streams, self._caller = streams, caller

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._streams.leave(self._caller)


def seen_by(caller: Caller, event: Event) -> Event | None:
    """An event as a person may see it: the owner sees all, a teacher what they did themselves."""
    if caller.is_owner or caller.name in (event.by, event.data.get("teacher")):
        return event
    return replace(event, by=None) if event.type in _SHARED else None


def _write(caller: Caller, events: list[Event]) -> bytes:
    """Events as lines of the stream; a comment if there are none."""
    seen = filter(None, (seen_by(caller, event) for event in events))
    text = "".join(f"id: {event.number}\ndata: {event.line()}\n\n" for event in seen)
    return (text or ":\n\n").encode()


_STREAM = {"schema": {"type": "string"}, "example": 'id: 7\ndata: {"n":7,"type":"answered"}\n\n'}


@router.get(
    "/events",
    response_class=StreamingResponse,
    responses={
        200: {"description": "Server-sent events.", "content": {"text/event-stream": _STREAM}}
    },
)
async def events(
    session: SessionName,
    call: Call,
    after: Number = 0,
    follow: bool = True,
    last_event_id: Annotated[int | None, Header(ge=0, le=10_000_000_000)] = None,
) -> Response:
    """The log as server-sent events: what came after an event, and then whatever happens.

    `id` is the number of the event, and `data` its line in the log. The header Last-Event-ID, which
    browsers send when they come back, is taken before `after`. With `follow=false` the stream ends
    after the events that are there. A teacher gets their own events, those that undo or redo them,
    and changes of labels and rows; the owner gets all.
    """
    after = after if last_event_id is None else last_event_id
    pool, streams = call.pool, call.app.streams
    streams.enter(call.name)  # before anything is awaited: many may be asked for at once
    try:
        await pool.run(session, lambda s: s.number)
        first = await asyncio.to_thread(pool.store.tail, session, after, BLOCK)
    except BaseException:
        streams.leave(call.name)
        raise

    async def whole() -> AsyncIterator[bytes]:
        events, last = first, after
        while events:
            yield _write(call, events)
            last = events[-1].number
            events = await asyncio.to_thread(pool.store.tail, session, last, BLOCK)

    async def without_end() -> AsyncIterator[bytes]:
        yield b"retry: 2000\n\n"
        following = streams.follow(pool, session, first, after)
        with suppress(TellapartError):  # it ends, and who comes back is told why
            async with aclosing(following):
                async for events in following:
                    yield _write(call, events)

    return _Stream(without_end() if follow else whole(), streams, call.name)
