"""A log as a text file, an event a line, and back: the identity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tellapart.errors import FormatError
from tellapart.sessions.events import Event, check_log
from tellapart.sessions.store import Store
from tellapart.sessions.validation import check_text


def export_log(store: Store, name: str) -> Iterator[str]:
    """The lines of a session, each with its line end."""
    for event in store.log(name):
        yield event.line() + "\n"


def import_log(store: Store, lines: Iterable[str], name: str | None = None) -> str:
    """Put a session that was exported into a store, whole or not at all; returns its name.

    `name` is what to call it there, by default what it was called when it began.
    """
    events = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                events.append(Event.read(line))
            except FormatError as error:
                raise FormatError(f"line {number}: {error}") from error
    check_log(events)
    name = name or str(events[0].data["name"])
    check_text("the name of a session", name)
    store.add(name, events)
    return name
