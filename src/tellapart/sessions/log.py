"""The log of an open session, and the state it comes to.

An event is written and committed before the caller gets an answer.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, TypeVar

from tellapart.errors import FormatError, ProtocolError, StoreError, TellapartError
from tellapart.sessions.events import (
    Event,
    check_log,
    check_name,
    check_text,
    hash_event,
    new_id,
    read_log,
    same,
    stamp,
)
from tellapart.sessions.history import History
from tellapart.sessions.items import Items
from tellapart.sessions.kept_learner import code_version, pack, unpack
from tellapart.sessions.learning import Learning, report
from tellapart.sessions.queue import Queue
from tellapart.sessions.store import Kept, Store, Writer
from tellapart.tables import Table

T = TypeVar("T")
_PATIENCE = 2.0  # seconds
_LEARNER = "learner"  # what the learner came to, as the store calls it
_WORTH = 0.15  # seconds of learning after which it is worth it to keep the learner


@contextmanager
def _no_collection() -> Iterator[None]:
    """So many objects come at once, and none goes: looking for garbage would take long."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class State:
    """What a log comes to. The learner follows when somebody asks for it."""

    def __init__(self, items: Items, events: Iterable[Event], kept: Kept | None = None) -> None:
        self.items = items
        self._trouble: dict[str, str] = {}
        self._clear_tags()
        self._read(events, 0 if kept is None else kept.number)
        self._learning = Learning(self.history, items)
        if kept is not None and items.missing is None:
            self._resume(kept)
        self._learning.follow()

    def _read(self, events: Iterable[Event], kept: int = 0) -> None:
        self.history = History(self.items.place)
        self.queue = Queue(self)
        self._acts_then = -1
        for event in events:
            self.take(event)
            if event.number == kept:  # the learner is known up to here: what changes after it?
                self._acts_then = self.history.changed_from = len(self.history.acts)

    def _resume(self, kept: Kept) -> None:
        """Go on from what the learner came to; if that cannot be read, from the beginning."""
        try:
            unpack(self._learning, kept.data, self._acts_then)
        except Exception as error:  # whatever is wrong with it: the log says it all
            report("the kept learner", error)
            self.history.changed_from = 0
            self._clear_tags()
            self._learning = Learning(self.history, self.items)

    def _clear_tags(self) -> None:
        if self.items.missing is not None:
            return
        for tag in self.items.table.tags.values():
            for place, _ in list(tag):
                tag.set(self.items.row(place), None)

    def take(self, event: Event) -> None:
        changed = self.history.take(event)
        self.queue.take(event, changed)

    def read_again(self, events: Iterable[Event]) -> None:
        """Forget what was not written: these are all events there are."""
        self._read(events)
        self._learning.move_to(self.history)
        self._learning.follow()

    @property
    def learning(self) -> Learning:
        self._learning.follow()
        return self._learning

    def safely(self, what: str, work: Callable[[], T], default: T) -> T:
        """Do what nobody must wait for; if it fails, that is said, and the default is returned."""
        try:
            return work()
        except Exception as error:  # whatever it is: it must not be in the way of an answer
            self._trouble[what] = report(what, error)
            return default

    @property
    def trouble(self) -> list[str]:
        """What went wrong without stopping anybody, a line each; nothing of the table is in it."""
        more = [f"{what} are not known: {found}" for what, found in self._trouble.items()]
        return self.learning.trouble + more


class Log:
    """Appends to the log of a session, one thread at a time."""

    def __init__(
        self, store: Store, name: str, items: Items, clock: Callable[[], float], *, writes: bool
    ) -> None:
        self.clock = clock
        self.lock = threading.RLock()
        self._gathers, self._is_stale = False, False
        """`_is_stale`: after trouble, only the log knows what was written."""
        self._failure: BaseException | None = None
        self._worth = _WORTH
        self.writer = Writer(store, name, writes=writes)
        try:
            events = self._read()
            kept = None
            with suppress(TellapartError):  # nothing depends on it
                kept = store.kept(name, _LEARNER, code_version())
            with _no_collection():
                self.state = State(items, events, kept)
        except BaseException:
            self.writer.close()
            raise

    def _read(self) -> list[Event]:
        with _no_collection():
            return self.writer.read()

    def use(self, table: Table) -> None:
        """Go on with a table that has more rows: the state is made anew with it."""
        self.state = State(Items(table), self._read())

    def keep_learner(self) -> None:
        """Keep what the learner came to, if it took long; nothing depends on it."""
        with self.lock:
            learning = self.state.learning
            if not self.writer.writes or learning.failed or learning.cost < self._worth:
                return
            if self._is_stale or self._gathers:
                return
            started = time.perf_counter()
            learning.cost = 0.0  # whatever happens
            data = self.state.safely("what was learnt", lambda: pack(learning), None)
            if data is not None:
                kept = Kept(self.state.history.number, data)
                with suppress(TellapartError):
                    self.writer.keep(kept, _LEARNER, code_version())
            self._worth = max(_WORTH, 3 * (time.perf_counter() - started))

    def close(self) -> None:
        with self.lock:
            self.keep_learner()
            self.writer.close()

    @contextmanager
    def ready(self) -> Iterator[State]:
        """The state, for one thread at a time."""
        with self.lock:
            if self._gathers and self._failure is not None:
                raise self._failure
            if self._is_stale:
                self.state.read_again(self._read())
                self._is_stale = False
            yield self.state

    @contextmanager
    def together(self) -> Iterator[None]:
        """Commit what is appended inside at the end, all of it or nothing."""
        with self.lock:
            if self._gathers:
                yield
                return
            self._gathers, self._failure = True, None
            try:
                yield
            finally:
                self._gathers = False
                if self._failure is not None:
                    raise self._failure
                try:
                    self.writer.commit()
                except BaseException as error:
                    self.fail(error)
                    raise

    def check(self) -> None:
        """Raise unless an event could be written now; a thread that only thinks is no trouble."""
        if self.lock.acquire(timeout=_PATIENCE):
            try:
                self.writer.check()
            finally:
                self.lock.release()
        elif self.writer.waits > _PATIENCE:
            raise StoreError(f"{self.writer.store.where} does not answer")

    def fail(self, error: BaseException) -> None:
        self._failure, self._is_stale = error, True
        self.writer.drop()

    def append(
        self, type: str, by: str | None, data: Mapping[str, Any], id: str | None = None
    ) -> Event:
        """Write one event, then take it in."""
        number = self.state.history.number + 1
        event = Event(number, id or new_id(), stamp(self.clock()), type, by, data)
        event.check()
        try:
            self.writer.insert(event)
            if not self._gathers:
                self.writer.commit()
            self.state.take(event)
        except BaseException as error:
            self.fail(error)
            raise
        return event

    def join(self, teacher: str, id: str | None = None, model: str | None = None) -> Event | None:
        """A teacher joins; joining again changes nothing."""
        check_text("the name of a teacher", teacher)
        if (known := self.find(id, "joined", teacher)) is not None:
            return known
        if teacher in self.state.history.teachers:
            return None
        return self.append("joined", teacher, {} if model is None else {"model": model}, id)

    def find(
        self, id: str | None, type: str, teacher: str, data: Mapping[str, Any] | None = None
    ) -> Event | None:
        """The event with this id, if there is one; raises if it was another event."""
        event = None if id is None else self.state.history.ids.get(id)
        if event is None:
            return None
        told = event.data if data is None else {name: event.data.get(name) for name in data}
        if (event.type, event.by) != (type, teacher) or not same(told, data or told):
            raise ProtocolError(
                f"the id {id!r} was used for event {event.number} ({event.type}) already, which"
                " said something else; make a new id for every event"
            )
        return event


def export_log(store: Store, name: str) -> Iterator[str]:
    """A session as text: an event a line with its hash, each with its line end."""
    return write_log(store.log(name))


def write_log(events: Sequence[Event]) -> Iterator[str]:
    """Events from the first on as lines; the first says how many there are."""
    before = ""
    for event in events:
        before = hash_event(before, event.cells())
        count = f',"events":{len(events)}' if event.number == 1 else ""
        yield f'{event.line()[:-1]}{count},"hash":"{before}"}}\n'


def parse_log(lines: Iterable[str]) -> list[Event]:
    """The events of a session that was exported.

    Bytes that are no text are there as lone surrogates (`errors="surrogateescape"`). Raises
    `FormatError` at an event that was changed, lost or exchanged. A log without any hashes
    is an old one, or was written by hand: its events are checked by themselves.
    """
    events: list[Event] = []
    hashes: list[Any] = []
    count: Any = None
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                line.encode()
                event = Event.read(line)
            except UnicodeEncodeError:
                raise FormatError(
                    f"line {number} is no UTF-8 text: it was changed. Export the session anew"
                ) from None
            except FormatError as error:
                raise FormatError(f"line {number}: {error}") from error
            data = dict(event.data)
            hashes.append(data.pop("hash", None))
            if not events and hashes[0] is not None:
                count = data.pop("events", None)
            events.append(replace(event, data=data))
    check_log(events)
    if any(one is not None for one in hashes):
        known = {number: one or "" for number, one in enumerate(hashes, 1)}
        try:
            for _ in read_log([event.cells() for event in events], known):
                pass
            if count != len(events):
                raise FormatError(
                    f"there are {len(events):,} events, and there were {count!r} when it was"
                    f" exported: the file is cut off after event {len(events)}"
                )
        except FormatError as error:
            raise FormatError(
                f"{error}. Export the session anew; or, if you changed it on purpose, leave out"
                ' every "hash"'
            ) from error
    return events


def import_log(store: Store, lines: Iterable[str], name: str | None = None) -> str:
    """Put a session that was exported into a store, whole or not at all; returns its name.

    `name` is what to call it there, by default what it was called when it began.
    """
    events = parse_log(lines)
    name = name or str(events[0].data["name"])
    check_name(name)
    store.add(name, events)
    return name
