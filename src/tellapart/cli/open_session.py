"""How `teach`, `serve` and `distil` open the session of a table, or begin it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from tellapart.cli.options import TableOptions, local_path, say_finding
from tellapart.errors import FormatError, ParameterError, as_options
from tellapart.export import load_model
from tellapart.learners.by_name import format_learner, parse_learner, write_value
from tellapart.model import DecisionList
from tellapart.sessions import Session, Store
from tellapart.sessions.config import FOR_PEOPLE
from tellapart.sessions.history import COLUMN
from tellapart.sessions.teams import known_labels
from tellapart.tables import Table
from tellapart.tables.read import read_table, read_table_again


@contextmanager
def reading_notice(what: str) -> Iterator[None]:
    """Say what is going on, with something that moves, until it is over; on a terminal only."""
    if not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True).status(Text(what)):
        yield


def database(place: str) -> Store:
    """A database that is there already."""
    if "://" not in place and not Path(place).exists():
        raise ParameterError(f"there is no database {place}; a table's is called TABLE.sessions.db")
    return Store(place)


def taught(table: str) -> tuple[Path, str] | None:
    """The database beside a table, and the session in it; None if the table was not taught."""
    place = local_path(table)
    kept = place.with_name(place.name + ".sessions.db")
    if not kept.is_file():
        return None
    with Store(kept) as store:
        names = [one.name for one in store.sessions()]
    name = names[0] if len(names) == 1 else place.stem
    if name not in names:
        raise ParameterError(
            f"{kept} has the sessions {', '.join(sorted(names)) or '(none)'}, and none called"
            f" {name!r}. Write one as a model: tellapart export NAME --db {kept} --to json"
        )
    return kept, name


def load_rules(model: str) -> DecisionList:
    """The rules of a model file."""
    place = local_path(model)
    if not place.exists():
        raise ParameterError(
            f"there is no file {model}: name a model file, or a table that was taught"
        )
    try:
        return load_model(model)
    except FormatError as error:
        raise FormatError(
            f"{model} is no model file, and no table that was taught: there is no"
            f" {place.name}.sessions.db ('tellapart teach {model}' begins one). As a model file:"
            f" {error}"
        ) from None


def open_or_begin(
    store: Store,
    table: str | Path,
    name: str,
    reading: Mapping[str, Any] | None = None,
    asked: TableOptions | None = None,
    *,
    another: str = "--session NAME",
    for_teach: bool = False,
    **settings: Any,
) -> Session:
    """The session of a table: opened, or begun if there is none of that name.

    Parameters
    ----------
    reading
        Arguments of `read_table`; a session that is opened remembers its own.
    asked
        What was asked for, where it is not left to us.
    another
        How to begin another session, for messages.
    for_teach
        The table is read from where it lies now, which may have changed, and must have rows.
    settings
        More of what was asked for: the title, the order, the overlap, or rules to begin with.
    """
    asked = asked or TableOptions()
    label, start_from = asked.label, asked.start_from
    if label is not None and label == start_from:
        raise ParameterError(
            f"column {label!r} cannot be both: --start-from takes its labels as answers, --label"
            " compares your own answers with them. Leave one out"
        )
    how_read, hidden = dict(reading or {}), _given(label=label, start_from=start_from)
    if name in {listed.name for listed in store.sessions()}:
        chosen = _given(id=asked.id, learner=asked.learner, **settings)
        for said in _differences(store, name, chosen, how_read, hidden):
            raise ParameterError(
                f"{said}. Leave it out to go on; or begin another one with {another}"
            )
        opened = _open(store, table, name, for_teach)
        if settings.get("title") is not None:
            opened.table.title = settings["title"]
    else:
        how_read |= _given(id=asked.id, title=settings.pop("title", None))
        wanted = _given(learner=asked.learner, **settings)
        opened = _begin(store, table, name, how_read, hidden, wanted, for_teach)
    return _start_from(opened, table, start_from)


def _open(store: Store, table: str | Path, name: str, for_teach: bool) -> Session:
    begun = store.opened(name).data
    source = dict(begun.get("source") or {})
    source.pop("path", None)
    again = read_table_again(table, begun["table"]["columns"], **source) if for_teach else None
    return Session.open(store, name, again)


def _begin(
    store: Store,
    table: str | Path,
    name: str,
    how_read: dict[str, Any],
    hidden: Mapping[str, str],
    settings: dict[str, Any],
    for_teach: bool,
) -> Session:
    if for_teach or "id" not in how_read or hidden:
        given = {key: value for key, value in how_read.items() if key not in ("id", "title")}
        read = _read_checked(table, given, hidden, for_teach)
        how_read["id"] = how_read.get("id") or read.names(hidden.values())
    how_read["without"] = [*hidden.values()] or None
    if "rules" in settings:
        settings["rules"] = load_model(settings["rules"])
    reading = _given(**how_read)
    opened = Session.new(store, name, table, reading=reading, **{**FOR_PEOPLE, **settings})
    if for_teach or sys.stderr.isatty():  # a server's log has nothing of what is in the table
        for finding in opened.table.findings:
            say_finding(finding)
    return opened


def _read_checked(
    table: str | Path, reading: Mapping[str, Any], hidden: Mapping[str, str], for_teach: bool
) -> Table:
    """Read a table; raise if it has nothing to teach about, or no labels in a hidden column."""
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
    store: Store,
    session: str,
    asked: Mapping[str, Any],
    reading: Mapping[str, Any],
    hidden: Mapping[str, str],
) -> Iterator[str]:
    """What can only be chosen when a session begins, and is asked for otherwise now."""
    begun = store.opened(session).data
    source = begun.get("source") or {}
    if "rules" in asked:
        yield f"--rules {asked['rules']}: the session was begun already, and they are its start"
    for option, column in hidden.items():
        if column not in (source.get("without") or []):
            said = f"--{option.replace('_', '-')} {column}"
            yield f"{said}: the session was begun with that column in sight"
    if "id" in asked and asked["id"] != source.get("id"):
        yield f"--id {asked['id']}: the session was begun with {source.get('id') or 'row numbers'}"
    if "learner" in asked:
        name, parameters = parse_learner(asked["learner"])
        # as texts: an old log may have "true" where it is True now
        given = {key: write_value(value) for key, value in parameters.items()}
        before = {key: write_value(value) for key, value in begun["parameters"].items()}
        if name != begun["learner"] or not given.items() <= before.items():
            before.pop("columns", None)
            other = format_learner(begun["learner"], before)
            yield f"--learner {asked['learner']}: the session has another learner, {other}"
    for name, value in reading.items():
        now = source.get(name, "utf-8" if name == "encoding" else None)
        if value != now:
            how = "without it" if now is None else f"with {as_options(name, now)}"
            yield f"{as_options(name, value)}: the session was begun {how}"
    if "overlap" in asked:
        overlap = store.setting(session, "overlap") or 0.0
        if asked["overlap"] != overlap:
            yield f"--overlap {asked['overlap']}: it is {overlap} in this session"
