"""`tellapart session`: the sessions of a database, as text files and back."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from tellapart.cli.open_session import database
from tellapart.errors import FormatError, ParameterError
from tellapart.export.model_files import write_whole
from tellapart.features.phrasing import counted
from tellapart.sessions import Session, Store, export_log, import_log
from tellapart.sessions.log import write_log


def session(
    do: Literal["list", "model", "export", "import", "check", "repair"],
    what: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    /,
    *,
    db: str,
    name: str | None = None,
    records: bool = False,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
) -> None:
    """List sessions, take out what was learnt, export and import, check and repair.

    A session is its log. Exported, it is a text file with one event a line, as
    docs/sessions.md says; imported again, it is the same session, or what was changed
    is named. Its model is a file
    for `tellapart export` and `tellapart predict`. `check` says whether every event is as
    it was written; `repair` exports the events before the first that is not.

    Examples:

        tellapart session list --db zoo.csv.sessions.db
        tellapart session model zoo --db zoo.csv.sessions.db -o zoo.json
        tellapart session export zoo --db zoo.csv.sessions.db -o zoo.jsonl
        tellapart session import zoo.jsonl --db postgresql://host/teaching
        tellapart session check --db zoo.csv.sessions.db
        tellapart session repair zoo --db zoo.csv.sessions.db -o good.jsonl

    Parameters
    ----------
    do
        list, model, export, import, check or repair.
    what
        The name of the session, or the file to import (- for the standard input).
    db
        The database: a file, or the address of a PostgreSQL database.
    name
        What to call an imported session; by default what it was called.
    records
        With the model, write the record of each rule: right, wrong, and a bound on its error.
    output
        Write to this file instead of the screen.
    """
    with Store(db) if do == "import" else database(db) as store:
        if do == "list":
            made = _list(store)
        elif do == "check":
            made = _check(store, store.names() if what is None else [what])
        elif what is None:
            given = "a file" if do == "import" else "the name of a session"
            raise ParameterError(f"tellapart session {do} needs {given}")
        elif do == "model":
            made = [_model(store, what, records) + "\n"]
        elif do == "export":
            made = list(export_log(store, what))
        elif do == "repair":
            if output is None or output.exists():
                raise ParameterError("tellapart session repair writes to a new file: give -o FILE")
            made = _good(store, what, output)
        else:
            with nullcontext(sys.stdin.buffer) if what == "-" else Path(what).open("rb") as file:
                lines = (line.decode("utf-8", "surrogateescape") for line in file)
                made = [f"imported {import_log(store, lines, name)}\n"]
    if output is None:
        sys.stdout.writelines(made)
    else:
        write_whole(output, "".join(made).encode())


def _list(store: Store) -> list[str]:
    """A line for each session."""
    return [
        f"{one.name}\t{one.events:,} events\t{table['name']}, {table['items']:,} items\t"
        f"last {one.last}\n"
        for one in store.sessions()
        for table in [one.opened.data["table"]]
    ]


def _model(store: Store, name: str, records: bool) -> str:
    """The model of a session as JSON; where its table is gone, the last that was kept."""
    with Session.open(store, name, needs_table=False, writes=False) as opened:
        if opened.settings["unsure"] == "null":
            return opened.chosen_model().to_json()
        if records and opened.missing is None:
            return opened.judged_model().to_json()
        if opened.model_note is not None:
            print(f"tellapart: {opened.model_note}", file=sys.stderr)
        return opened.model.to_json()


def _check(store: Store, names: list[str]) -> list[str]:
    """A line for each session; raises if one is damaged."""
    lines, damaged = [], []
    for name in names:
        good, wrong = store.good_events(name)
        if wrong is None:
            lines.append(f"{name}: {len(good):,} events, all as they were written\n")
        else:
            damaged.append(f"{name}: {wrong} (good before it: {counted(len(good), 'event')})")
    if damaged:
        sys.stdout.writelines(lines)
        raise FormatError(
            "\n".join(damaged) + "\nKeep a copy of the database, and restore a backup; or save the"
            " good part with 'tellapart session repair NAME --db DB -o FILE'"
        )
    return lines


def _good(store: Store, name: str, output: Path) -> list[str]:
    """The lines of the good part of a log."""
    good, wrong = store.good_events(name)
    if not good:
        raise FormatError(f"nothing of the session {name!r} can be read: {wrong}")
    about = "all are good" if wrong is None else wrong
    print(
        f"{counted(len(good), 'event')} of {name} in {output}; {about}. Put them into another"
        f" database: tellapart session import {output} --db NEW.db",
        file=sys.stderr,
    )
    return list(write_log(good))
