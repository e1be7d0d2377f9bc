"""Events as a stream: the log of a session, followed while it grows (server-sent events).

The log is read from the store, from any event on. So whoever comes back after a broken connection
misses nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Header, Query
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from tellapart.errors import TellapartError
from tellapart.sessions import Event
from tellapart.web.access import Call, Caller, SessionName
from tellapart.web.errors import Refused

router = APIRouter(prefix="/sessions/{session}", tags=["events"])

BLOCK = 500
"""So many events are read at a time."""
HEARTBEAT = 15.0
"""Seconds of silence after which a comment is sent, and the log is read in any case."""
PAUSE = 0.1
"""Seconds between two looks at whether something was written."""
MAX_STREAMS = 20
"""So many streams each teacher may have open."""
_SHARED = {"label added", "label described", "label renamed", "labels merged", "rows added"}
"""What every teacher sees on pages, too, but not who did it."""

Number = Annotated[int, Query(ge=0, le=10_000_000_000)]


class EventStreams:
    """The streams that are open, by who reads them."""

    def __init__(self) -> None:
        self.stopped = False
        """All streams end; programs come back when the server does."""
        self._callers: Counter[str] = Counter()

    def enter(self, caller: str) -> None:
        """Take a place for a stream, or refuse one too many; `leave` gives it back."""
        if self._callers[caller] >= MAX_STREAMS:
            raise Refused(429, "TooMany", f"at most {MAX_STREAMS} streams at a time; close one")
        self._callers[caller] += 1

    def leave(self, caller: str) -> None:
        """Give a place back."""
        self._callers[caller] -= 1


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
async def stream_events(
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
        await asyncio.to_thread(pool.store.tail, session, after, 1)  # or it says what is wrong
    except BaseException:
        streams.leave(call.name)
        raise
    lines = _lines(call, session, after, follow=follow)
    return _Stream(lines, streams, call.name)


async def _lines(call: Caller, session: str, after: int, *, follow: bool) -> AsyncIterator[bytes]:
    """The lines of a stream, some events at a time."""
    pool, streams = call.pool, call.app.streams
    if follow:
        yield b"retry: 2000\n\n"
    while not streams.stopped:
        seen = pool.uses[session]
        try:
            events = await asyncio.to_thread(pool.store.tail, session, after, BLOCK)
        except TellapartError:
            if follow:
                return  # who comes back is told why
            raise
        if events or follow:
            yield _write(call, events)
        after = events[-1].number if events else after
        if len(events) == BLOCK:
            continue
        if not follow:
            return
        silent_until = time.monotonic() + HEARTBEAT
        while seen == pool.uses[session] and time.monotonic() < silent_until:
            await asyncio.sleep(PAUSE)
            if streams.stopped:
                return
