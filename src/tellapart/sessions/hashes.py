"""Hashes of events, so that a changed, lost or exchanged event is noticed.

The hash of an event is made of its columns and of the hash of the event before it. Hashes stand in
a table of their own: events are never rewritten, and a log of an older version gets its hashes when
it is opened first. Another table has the number of the last event, written with it: without that,
the loss of the last events and of their hashes would not be noticed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tellapart.errors import FormatError
from tellapart.sessions.events import Event

TABLE = "tellapart_hashes"
LENGTHS = "tellapart_lengths"

Cells = tuple[int, str, str, str, str | None, str]
"""The columns of an event: number, id, at, type, teacher, data."""


def hash_event(before: str, cells: Cells) -> str:
    """The hash of an event; `before` is that of its predecessor, empty for the first.

    >>> hash_event("", (1, "a", "now", "opened", None, "{}"))
    '5a8e0c13e26f76092878b3c1f7d55bd9'
    """
    number, key, at, kind, teacher, data = cells
    # with lengths, nothing can move from one column to the next
    by = "-" if teacher is None else f"{len(teacher)}"
    text = f"{before} {number} {len(key)} {len(at)} {len(kind)} {by} {key}{at}{kind}{teacher}{data}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def read_event(cells: Any) -> Event:
    """The event in a row; `FormatError` if it is none."""
    number, key, at, kind, teacher, text = cells
    try:
        data = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise FormatError(f"event {number!r} cannot be read: its data are damaged")
    return Event(number, key, at, kind, teacher, data)


def read_log(
    rows: Iterable[Any],
    hashes: Mapping[Any, Any],
    after: int = 0,
    before: str = "",
    length: Any = 0,
) -> Iterator[tuple[Event, str]]:
    """The events of a log with their hashes, in order, up to the first that is not as written.

    Raises `FormatError` there, with its number. `hashes` are those kept, by number: all of them,
    none (an old log), or those of the first events (an old version went on writing); events without
    one are checked by themselves. `after` is how many events come before these, and `before` the
    hash of the last of them. `length` is how many there were at least.
    """
    last = max((number for number in hashes if isinstance(number, int)), default=0)
    number = after
    for number, cells in enumerate(rows, after + 1):
        if cells[0] != number:
            raise FormatError(f"event {number} is missing: after it comes {cells[0]!r}")
        try:
            found = hash_event(before, cells)
        except (TypeError, UnicodeEncodeError):
            found = ""  # a cell is no text
        known = hashes.get(number)
        if not found or (known is None and number <= last) or known not in (None, found):
            raise FormatError(
                f"event {number} is not as it was written: it was changed, or another one stands in"
                " its place"
            )
        event = read_event(cells)
        if known is None:
            event.check()
        yield event, found
        before = found
    if not isinstance(length, int):
        raise FormatError(f"the number of the last event is damaged: it is {length!r}")
    if number < (last := max(last, length)):
        raise FormatError(f"event {number + 1} is missing: there were {last:,}")
