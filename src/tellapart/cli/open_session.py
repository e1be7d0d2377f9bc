"""How `teach`, `serve` and `distil` open the session of a table, or begin it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tellapart.cli.options import say_finding
from tellapart.errors import ParameterError, as_options

if TYPE_CHECKING:
    from tellapart.sessions import Session, Store
    from tellapart.tables import Table


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
    table: str | Path,
    name: str,
    reading: Mapping[str, Any] | None = None,
    *,
    id: str | None = None,
    learner: str | None = None,
    label: str | None = None,
    start_from: str | None = None,
    order: str | None = None,
    overlap: float | None = None,
    another: str = "--session NAME",
    title: str | None = None,
    rules: Path | None = None,
    for_teach: bool = False,
) -> Session:
    """The session of a table: opened, or begun if there is none of that name.

    Parameters
    ----------
    reading
        Arguments of `read_table`; a session that is opened remembers its own.
    label
        A column of the table to hide.
    start_from
        Another one, whose labels are the first answers.
    another
        How to begin another session, for messages.
    title
        The column that names items in sentences.
    rules
        A model whose rules a new session begins with.
    for_teach
        The table is read from where it lies now, which may have changed, and must have rows.
    """
    from tellapart.sessions import Session
    from tellapart.sessions.config import FOR_PEOPLE
    from tellapart.tables.read import read_table_again

    how_read = dict(reading or {})
    if label is not None and label == start_from:
        raise ParameterError(
            f"column {label!r} cannot be both: --start-from takes its labels as answers, --label"
            " compares your own answers with them. Leave one out"
        )
    hidden = _given(label=label, start_from=start_from)
    if name in {listed.name for listed in store.sessions()}:
        begun = store.opened(name).data
        if rules is not None:
            raise ParameterError(
                f"--rules {rules}: the session was begun already, and rules stand at its beginning."
                f" Leave it out to go on; or begin another one with {another}"
            )
        for said in _differences(begun, id, learner, how_read, hidden):
            raise ParameterError(
                f"{said}. Leave it out to go on; or begin another one with {another}"
            )
        source = dict(begun.get("source") or {})
        source.pop("path", None)
        again = read_table_again(table, begun["table"]["columns"], **source) if for_teach else None
        opened = Session.open(store, name, again)
        if title is not None:
            opened.table.title = title
        now = opened.settings["overlap"]
        if overlap is not None and overlap != now:
            opened.close()
            raise ParameterError(
                f"--overlap {overlap}: it is {now} in this session. Leave it out; it can be changed"
                " on the page Progress"
            )
    else:
        named = id
        if for_teach or id is None or hidden:
            read = _read_checked(table, how_read, hidden, for_teach)
            named = id or read.names(hidden.values())
        how_read |= {"id": named, "without": [*hidden.values()] or None, "title": title}
        settings = {**FOR_PEOPLE, **_given(learner=learner, order=order, overlap=overlap)}
        if rules is not None:
            from tellapart.export import load_model

            settings["rules"] = load_model(rules)
        opened = Session.new(store, name, table, reading=_given(**how_read), **settings)
        if for_teach or sys.stderr.isatty():  # a server's log has nothing of what is in the table
            for finding in opened.table.findings:
                say_finding(finding)
    return _start_from(opened, table, start_from)


def _read_checked(
    table: str | Path, reading: Mapping[str, Any], hidden: Mapping[str, str], for_teach: bool
) -> Table:
    """Read a table; raise if it has nothing to teach about, or no labels in a hidden column."""
    from tellapart.tables.read import read_table

    read = read_table(table, **reading)
    if for_teach and not len(read):
        raise ParameterError(f"{table} has columns, and no rows to teach about")
    for option, column in hidden.items():
        if all(known is None for known in read.labels(column)):
            raise ParameterError(
                f"{table}: column {column!r} is empty in every row, so there are no labels to"
                f" {'compare with' if option == 'label' else 'start from'}. Fill some in, or"
                f" leave out --{option.replace('_', '-')}"
            )
    return read


def _start_from(session: Session, table: str | Path, column: str | None) -> Session:
    """Take the labels of a column as answers, about the items that have none."""
    from tellapart.sessions.agreement import known_labels
    from tellapart.sessions.config import COLUMN

    if column is not None:
        try:
            done = session.start_from(COLUMN + column, known_labels(table, column, session))
        except BaseException:
            session.close()
            raise
        print(f"{done:,} labels of column {column!r} are the first answers.", file=sys.stderr)
    return session


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _differences(
    begun: Mapping[str, Any],
    id: str | None,
    learner: str | None,
    reading: Mapping[str, Any],
    hidden: Mapping[str, str],
) -> Iterator[str]:
    """What can only be chosen when a session begins, and is asked for otherwise now."""
    source = begun.get("source") or {}
    for option, column in hidden.items():
        if column not in (source.get("without") or []):
            said = f"--{option.replace('_', '-')} {column}"
            yield f"{said}: the session was begun with that column in sight"
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
