"""The log of an open session, and the state it comes to.

An event is written and committed before the caller gets an answer.
"""

from __future__ import annotations

import gc
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, NamedTuple

from tellapart.errors import FormatError, ProtocolError, StoreError, TellapartError
from tellapart.sessions import snapshots
from tellapart.sessions.events import Event, check_log, check_name, check_text, new_id, same, stamp
from tellapart.sessions.hashes import hash_event
from tellapart.sessions.items import Items
from tellapart.sessions.replies import Saved
from tellapart.sessions.snapshots import (
    code_version,
    read_state,
    take_results,
    write_results,
    write_state,
)
from tellapart.sessions.state import NONSENSE, State
from tellapart.sessions.store import Store, Writer
from tellapart.tables import Table

_PATIENCE = 2.0  # seconds
_AT_CLOSING, _OVERDUE = 0.1, 4.0  # parts: when closing; when there was no quiet moment


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


class Log:
    """Appends to the log of a session, one thread at a time."""

    def __init__(self, store: Store, name: str, table: Table, clock: Callable[[], float]) -> None:
        self.table, self.clock = table, clock
        self.lock = threading.RLock()
        self.state: State | None = None
        """None after trouble: then it is read from the log again."""
        self._gathers, self._kept, self._price = False, 0, 0.0
        """`_kept`: the number of events in the last snapshot. `_price`: seconds that it took to
        keep what came after it."""
        self._failure: BaseException | None = None
        self.writer = Writer(store, name)
        try:
            self._load()
        except BaseException:
            self.writer.close()
            raise

    def _load(self) -> State:
        with _no_collection():
            self.state = self._from_snapshot()
        if self.state is None:
            self._clear_tags()
            events = self.writer.read()
            check_log(events)
            self.state = State.of(Items(self.table), events)
        return self.state

    def _clear_tags(self) -> None:
        for tag in self.table.tags.values():
            for place, _ in list(tag):
                tag.set(self.table.items[place], None)

    def _from_snapshot(self) -> State | None:
        """The state from the latest snapshot and what came after; None if there is none of use."""
        code = code_version()
        found = self.writer.snapshot(code)
        if found is None:
            return None
        self._clear_tags()
        results = self.writer.results(code, found.number)
        try:
            first = self.writer.event(1)
        except FormatError:
            return None  # the log says what is wrong
        with ThreadPoolExecutor(1) as helper:  # reading the log takes as long as the snapshot
            is_whole = helper.submit(self.writer.is_whole, found)
            try:
                items = Items(self.table)
                state = read_state(items, first, found.data, self.writer.event, results is None)
            except (TellapartError, *NONSENSE, zlib.error):
                return None  # the log says it all
        if not is_whole.result():
            return None
        state.replay.mark_kept()
        self._kept = found.number
        events = self.writer.read(found.number, found.hash)
        if results is not None:
            split = results.number - found.number
            try:
                take_results(state, events[:split], results.data)
            except (TellapartError, *NONSENSE, zlib.error):
                return None
            events = events[split:]
        state.take_all(events)
        return state

    def keep_snapshot(self, part: float = 1.0) -> None:
        """Write a snapshot, if many events came since the last (`part` of the usual number), or
        what the learner came to, if that took long.

        Nothing depends on it.
        """
        with self.lock:
            state = self.state
            if state is None or self._gathers or state.number < snapshots.LEAST:
                return
            with suppress(TellapartError):
                if state.number - self._kept >= part * snapshots.LEAST:
                    self._kept = state.number  # whatever happens: try again after as many events
                    self.writer.keep_snapshot(state.number, code_version(), write_state(state))
                    state.replay.mark_kept()
                elif state.replay.cost > max(snapshots.COST, self._price):
                    self._keep_results(state)

    def _keep_results(self, state: State) -> None:
        started = time.perf_counter()
        state.replay.cost = 0.0  # whatever happens
        data = write_results(state.replay) if state.number > self._kept else None
        if data is not None:
            self.writer.keep_results(self._kept, state.number, code_version(), data)
        self._price = time.perf_counter() - started

    def use(self, table: Table) -> None:
        """Go on with a table that has more rows: the state is made anew with it."""
        self.table, self.state = table, None

    def close(self) -> None:
        """Let others open the session."""
        with self.lock:
            self.keep_snapshot(_AT_CLOSING)
            self.writer.close()

    @contextmanager
    def ready(self) -> Iterator[State]:
        """The state, for one thread at a time."""
        with self.lock:
            if self._gathers and self._failure is not None:
                raise self._failure
            yield self._load() if self.state is None else self.state

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
                self.keep_snapshot(_OVERDUE)

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
        """Forget what is not committed: after trouble, only the log knows what was written."""
        self._failure, self.state = error, None
        self.writer.drop()

    def append(
        self,
        state: State,
        type: str,
        by: str | None,
        data: Mapping[str, Any],
        id: str | None = None,
    ) -> Saved:
        """Write one event, then take it in."""
        event = Event(state.number + 1, id or new_id(), stamp(self.clock()), type, by, data)
        event.check()
        try:
            self.writer.insert(event)
            if not self._gathers:
                self.writer.commit()
            state.take(event)
        except BaseException as error:
            self.fail(error)
            raise
        if not self._gathers:
            self.keep_snapshot(_OVERDUE)
        return self.saved(state, event.id)

    def append_once(
        self,
        type: str,
        teacher: str,
        data: Mapping[str, Any],
        id: str | None,
        check: Callable[[State], object] | None = None,
    ) -> Saved:
        """Write an event by a teacher, unless its id is there already; `check` may refuse it."""
        with self.ready() as state:
            if (known := self.find(state, id, type, teacher, data)) is not None:
                return known
            if check is not None:
                check(state)
            self.join(state, teacher)
            return self.append(state, type, teacher, data, id)

    def join(
        self, state: State, teacher: str, id: str | None = None, model: str | None = None
    ) -> Saved:
        """A teacher joins; joining again changes nothing."""
        check_text("the name of a teacher", teacher)
        if (known := self.find(state, id, "joined", teacher)) is not None:
            return known
        if teacher in state.teachers:
            return Saved(state.number, "", None, None)
        return self.append(state, "joined", teacher, {} if model is None else {"model": model}, id)

    def find(
        self,
        state: State,
        id: str | None,
        type: str,
        teacher: str,
        data: Mapping[str, Any] | None = None,
    ) -> Saved | None:
        """What the event with this id did, if there is one; raises if it was another event."""
        event = None if id is None else state.ids.get(id)
        if event is None:
            return None
        told = event.data if data is None else {name: event.data.get(name) for name in data}
        if (event.type, event.by) != (type, teacher) or not same(told, data or told):
            raise ProtocolError(
                f"the id {id!r} was used for event {event.number} ({event.type}) already, which"
                " said something else; make a new id for every event"
            )
        return self.saved(state, event.id)

    def saved(self, state: State, id: str) -> Saved:
        """What an event did."""
        event = state.ids[id]
        about: str | None = event.data.get("event")
        number = state.act_of.get(about if about and event.type == "changed" else id)
        outcome = None
        if event.type in ("answered", "changed") and number is not None:
            outcome = state.acts[number].outcome
        turned = event.type in ("undone", "redone")
        acts = event.data.get("sweep", 1) if turned else 1
        return Saved(event.number, id, outcome, about, acts)


class Said(NamedTuple):
    """An answer as the log has it, without a table: items by their ids, labels as they were called
    then, the last change in force.
    """

    event: Event
    given: Event
    said: Mapping[str, Any]
    """`answer`, and `label` and `feature` if there are any."""
    undone: bool
    changes: tuple[str, ...]


def said_in(events: Iterable[Event]) -> list[Said]:
    """Every answer in a log, in order, undone ones too."""
    by_id = {event.id: event for event in events}
    alive = dict.fromkeys(by_id, True)
    for event in by_id.values():
        if event.type in ("undone", "redone"):
            alive[event.data["event"]] = event.type == "redone"
    changes: dict[str, list[Event]] = {}
    for event in by_id.values():
        if event.type == "changed" and alive[event.id]:
            changes.setdefault(event.data["event"], []).append(event)
    return [
        Said(
            event,
            by_id[event.data["given"]],
            [event, *changes.get(event.id, ())][-1].data,
            not alive[event.id],
            tuple(one.id for one in changes.get(event.id, ())),
        )
        for event in by_id.values()
        if event.type == "answered"
    ]


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
        _check_hashes(events, hashes, count)
    return events


def _check_hashes(events: list[Event], hashes: list[Any], count: Any) -> None:
    """Raise at the first event that does not have its hash, or if there are not `count`."""
    before = ""
    for event, known in zip(events, hashes, strict=True):
        try:
            before = hash_event(before, event.cells())
        except (TypeError, UnicodeEncodeError):
            before = ""  # a cell is no text
        if known != before or not before:
            raise FormatError(
                f"event {event.number} is not as it was written: it was changed, or another one"
                " stands in its place. Export the session anew; or, if you changed it on purpose,"
                ' leave out every "hash"'
            )
    if count != len(events):
        raise FormatError(
            f"there are {len(events):,} events, and there were {count!r} when it was exported: the"
            f" file is cut off after event {len(events)}. Export the session anew"
        )


def import_log(store: Store, lines: Iterable[str], name: str | None = None) -> str:
    """Put a session that was exported into a store, whole or not at all; returns its name.

    `name` is what to call it there, by default what it was called when it began.
    """
    events = parse_log(lines)
    name = name or str(events[0].data["name"])
    check_name(name)
    store.add(name, events)
    return name
