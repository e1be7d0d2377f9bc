"""A state and its log: an event is written, committed, and only then anybody hears of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

from tellapart.errors import ProtocolError
from tellapart.sessions.events import Event, check_log, new_id, same, stamp
from tellapart.sessions.items import Items
from tellapart.sessions.replies import Saved
from tellapart.sessions.state import State
from tellapart.sessions.store import Store
from tellapart.sessions.validation import check_text
from tellapart.tables import Table


class Logged:
    """What every session does with its log; one thread at a time."""

    def __init__(
        self, store: Store, name: str, table: Table, *, clock: Callable[[], float] = time.time
    ) -> None:
        self.name, self.table, self._clock = name, table, clock
        self._lock = threading.RLock()
        self._gathers = False
        self._writer = store.writer(name)
        try:
            self._load()
        except BaseException:
            self._writer.close()
            raise

    def _load(self) -> None:
        events = self._writer.read()
        check_log(events)
        for tag in self.table.tags.values():
            for place, _ in list(tag):
                tag.set(self.table.items[place], None)
        self._state: State | None = State.of(Items(self.table), events)

    def close(self) -> None:
        """Let others open it."""
        with self._lock:
            self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<session {self.name!r}: {self.number} events>"

    @property
    def number(self) -> int:
        """The number of the last event."""
        with self._ready() as state:
            return state.number

    @contextmanager
    def _ready(self) -> Iterator[State]:
        """The state, nobody else in it. After trouble, first what is really in the log."""
        with self._lock:
            if self._state is None:
                self._load()
            assert self._state is not None
            yield self._state

    @contextmanager
    def together(self) -> Iterator[None]:
        """What is done inside is committed at the end, all of it or nothing, and nobody else comes
        between: a disk takes as long for one event as for several.
        """
        with self._lock:
            if self._gathers:
                yield
                return
            self._gathers = True
            self._writer.gather()
            try:
                yield
            finally:
                self._gathers = False
                try:
                    self._writer.commit()
                except BaseException:
                    self._state = None
                    raise

    def _append(
        self, state: State, type: str, by: str | None, data: Mapping[str, Any], id: str | None
    ) -> Event:
        """Write one event, then take it in."""
        event = Event(state.number + 1, id or new_id(), stamp(self._clock()), type, by, data)
        event.check()
        try:
            self._writer.append(event)
            state.take(event)
        except BaseException as error:
            # Whether it was written is not known when a connection breaks: read the log again.
            self._writer.spoil(error)
            self._state = None
            raise
        return event

    def _simple(
        self,
        type: str,
        teacher: str,
        data: Mapping[str, Any],
        id: str | None,
        check: Callable[[State], None] | None = None,
    ) -> Saved:
        with self._ready() as state:
            if (known := self._repeat(state, id, type, teacher, data)) is not None:
                return known
            if check is not None:
                check(state)
            self._join(state, teacher, None)
            event = self._append(state, type, teacher, data, id)
            return Saved(event.number, event.id)

    def _join(self, state: State, teacher: str, id: str | None) -> Saved:
        check_text("the name of a teacher", teacher)
        if (known := self._repeat(state, id, "joined", teacher)) is not None:
            return known
        if teacher in state.teachers:
            return Saved(state.number, "")
        event = self._append(state, "joined", teacher, {}, id)
        return Saved(event.number, event.id)

    def _repeat(
        self,
        state: State,
        id: str | None,
        type: str,
        teacher: str,
        data: Mapping[str, Any] | None = None,
    ) -> Saved | None:
        """What an event of this id did, if there is one."""
        event = None if id is None else state.ids.get(id)
        if event is None:
            return None
        told = event.data if data is None else {name: event.data.get(name) for name in data}
        if (event.type, event.by) != (type, teacher) or not same(told, data or told):
            raise ProtocolError(
                f"the id {id!r} was used for event {event.number} ({event.type}) already, which"
                " said something else; make a new id for every event"
            )
        return self._saved(state, event.id)

    def _saved(self, state: State, id: str) -> Saved:
        event = state.ids[id]
        about: str | None = event.data.get("event")
        number = state.act_of.get(about if about and event.type == "changed" else id)
        outcome = None
        if event.type in ("answered", "changed") and number is not None:
            outcome = state.acts[number].outcome
        return Saved(event.number, id, outcome, about)
