"""`tellapart session`: the sessions of a database, as text files and back."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from tellapart.errors import ParameterError


def session(
    do: Literal["list", "model", "export", "import"],
    what: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    *,
    db: str,
    name: str | None = None,
    records: bool = False,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
) -> None:
    """List sessions, take out what was learnt, export and import them.

    A session is its log. Exported, it is a text file with one event a line, as
    docs/sessions.md says; imported again, it is the same session. Its model is a file
    for `tellapart export` and `tellapart predict`.

    Examples:

        tellapart session list --db zoo.csv.sessions.db
        tellapart session model zoo --db zoo.csv.sessions.db -o zoo.json
        tellapart session export zoo --db zoo.csv.sessions.db -o zoo.jsonl
        tellapart session import zoo.jsonl --db postgresql://host/teaching

    Parameters
    ----------
    do
        list, model, export or import.
    what
        The name of the session to export or whose model is wanted, or the file to
        import (- for the standard input).
    db
        The database: a file, or the address of a PostgreSQL database.
    name
        What to call an imported session; by default what it was called.
    records
        With the model, write the record of each rule: right, wrong, when last seen, and
        a bound on its error. It takes as long again as opening the session.
    output
        Write to this file instead of the screen.
    """
    from tellapart.export.files import write_whole
    from tellapart.sessions import Session, Store, export_log, import_log

    if do == "list" and "://" not in db and not Path(db).exists():
        raise ParameterError(f"there is no database {db}; a table's is called TABLE.sessions.db")
    with Store(db) as store:
        if do == "list":
            made = [
                f"{one.name}\t{one.events:,} events\t{table['name']}, {table['items']:,} items\t"
                f"last {one.last}\n"
                for one in store.sessions()
                for table in [one.opened.data["table"]]
            ]
        elif what is None:
            given = "a file" if do == "import" else "the name of a session"
            raise ParameterError(f"tellapart session {do} needs {given}")
        elif do == "model":
            with Session.open(store, what) as opened:
                model = opened.judged_model() if records else opened.model
                made = [model.to_json() + "\n"]
        elif do == "export":
            made = list(export_log(store, what))
        elif what == "-":
            made = [f"imported {import_log(store, sys.stdin, name)}\n"]
        else:
            with Path(what).open(encoding="utf-8", newline="\n") as lines:
                made = [f"imported {import_log(store, lines, name)}\n"]
    if output is None:
        sys.stdout.writelines(made)
    else:
        write_whole(output, "".join(made).encode())
