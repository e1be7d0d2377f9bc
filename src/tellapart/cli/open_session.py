"""How `teach` and `serve` open or begin the session of a table."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tellapart.cli.options import as_options
from tellapart.errors import ParameterError

if TYPE_CHECKING:
    from tellapart.sessions import Session, Store


@contextmanager
def reading_notice(what: str) -> Iterator[None]:
    """Say what is going on, with something that moves, until it is over; on a terminal only."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(what)):
        yield


def open_or_begin(
    store: Store,
    table: Path,
    name: str,
    reading: Mapping[str, Any] | None = None,
    *,
    id: str | None = None,
    learner: str | None = None,
    label: str | None = None,
    order: str | None = None,
    overlap: float | None = None,
    another: str = "--session NAME",
    for_teach: bool = False,
) -> Session:
    """The session of a table: opened, or begun if there is none of that name.

    Parameters
    ----------
    reading
        Arguments of `read_table`; a session that is opened remembers its own.
    label
        A column of the table to hide.
    another
        How to begin another session, for messages.
    for_teach
        The table is read from where it lies now, which may have changed, and must have rows.
    """
    from tellapart.sessions import Session
    from tellapart.sessions.config import FOR_PEOPLE
    from tellapart.tables import read_table

    how_read = dict(reading or {})
    if name in {listed.name for listed in store.sessions()}:
        begun = store.opened(name).data
        for said in _differences(begun, id, learner, label, how_read):
            raise ParameterError(
                f"{said}. Leave it out to go on; or begin another one with {another}"
            )
        source = dict(begun.get("source") or {})
        source.pop("path", None)
        opened = Session.open(store, name, read_table(table, **source) if for_teach else None)
        now = opened.settings["overlap"]
        if overlap is not None and overlap != now:
            opened.close()
            raise ParameterError(
                f"--overlap {overlap}: it is {now} in this session. Leave it out; it can be changed"
                " on the page Progress"
            )
        return opened
    without = [] if label is None else [label]
    if for_teach or id is None:
        read = read_table(table, **how_read)
        if for_teach and not len(read):
            raise ParameterError(f"{table} has columns, and no rows to teach about")
        if label is not None and all(known is None for known in read.labels(label)):
            raise ParameterError(
                f"{table}: column {label!r} is empty in every row, so there are no labels to"
                " compare with. Fill some in, or leave out --label"
            )
        how_read["id"] = id or read.names(without)
    else:
        how_read["id"] = id
    how_read["without"] = without or None
    settings = {**FOR_PEOPLE, **_given(learner=learner, order=order, overlap=overlap)}
    return Session.new(store, name, table, reading=_given(**how_read), **settings)


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _differences(
    begun: Mapping[str, Any],
    id: str | None,
    learner: str | None,
    label: str | None,
    reading: Mapping[str, Any],
) -> Iterator[str]:
    """What can only be chosen when a session begins, and is asked for otherwise now."""
    source = begun.get("source") or {}
    if label is not None and label not in (source.get("without") or []):
        yield f"--label {label}: the session was begun with that column in sight"
    if id is not None and id != source.get("id"):
        yield f"--id {id}: the session was begun with {source.get('id') or 'row numbers'}"
    if learner is not None:
        from tellapart.learners.by_name import format_learner, parse_learner, write_value

        name, parameters = parse_learner(learner)
        # as texts: an old log may have "true" where it is True now
        given = {key: write_value(value) for key, value in parameters.items()}
        before = {key: write_value(value) for key, value in begun["parameters"].items()}
        if name != begun["learner"] or not given.items() <= before.items():
            before.pop("columns", None)
            other = format_learner(begun["learner"], before)
            yield f"--learner {learner}: the session has another learner, {other}"
    for name, value in reading.items():
        now = source.get(name, "utf-8" if name == "encoding" else None)
        if value != now:
            how = "without it" if now is None else f"with {as_options(name, now)}"
            yield f"{as_options(name, value)}: the session was begun {how}"
