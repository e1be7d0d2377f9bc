"""`tellapart teach`: teach a table by hand, in a browser or in the terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tellapart.sessions import Session


def teach(
    table: Path | None = None,
    *,
    label: str | None = None,
    session: Path | None = None,
    id: str | None = None,
    order: str = "random",
    learner: str | None = None,
    console: bool = False,
    keys: Path | None = None,
    name: str | None = None,
    port: int = 0,
    no_browser: bool = False,
) -> None:
    """Teach a classifier about the rows of a table, in your browser or here.

    It guesses, and shows an earlier row as its reason; you say right, or what it is and
    what tells the two apart. Every answer is saved at once; the same command goes on
    where you stopped. Without a table: a zoo, and a tour of two minutes.

    Examples:

        tellapart teach animals.csv
        tellapart teach mails.parquet --console
        tellapart teach --console

    Parameters
    ----------
    table
        CSV, JSON lines, Parquet or Arrow IPC, by its ending.
    label
        A column with known labels. It is hidden while you teach, and compared with your
        answers on the page Odd ones and at the end.
    session
        The file your answers are kept in; TABLE.sessions.db beside the table if not
        given.
    id
        The column that names a row; if not given, the first whose texts all differ.
    order
        What comes next: file, random, or least sure. Can be switched at any time.
    learner
        Who learns, for a new session, such as CappedDFF:m=7; no need to choose.
    console
        Teach here in the terminal. The same session, the same keys.
    keys
        A file with keys of your own, with lines such as undo = "z".
    name
        Your name as a teacher; your login name if not given.
    port
        The port of the page; 0 takes a free one.
    no_browser
        Print the address, and open no browser.
    """
    from tellapart.errors import ParameterError
    from tellapart.sessions import Store
    from tellapart.sessions.keys import FILE, read_keys
    from tellapart.sessions.tour import FIRST, LABEL, write_zoo
    from tellapart.web.command import login

    tour = table is None
    if table is None:
        if label or id:
            raise ParameterError("--label and --id are columns of a table: name the table, too")
        table = write_zoo(Path.cwd())
        label, order = LABEL, "file"
        print(f"No table was given: the zoo is in {table}. {FIRST[0].title()} comes first.")
    if keys is None and (table.parent / FILE).is_file():
        keys = table.parent / FILE
    chosen = read_keys(keys)
    where = session or table.with_name(table.name + ".sessions.db")
    store = Store(where)
    try:
        opened = _open(store, table, label, id, order, learner)
        if console:
            _talk(opened, name or login(), chosen)
        else:
            from tellapart.web.serving import serve_one

            serve_one(
                store,
                opened,
                folder=table.parent,
                name=name or login(),
                port=port,
                browser=not no_browser,
                keys=chosen,
                known=label,
                tour=tour,
            )
    finally:
        store.close()
    if label is not None:
        print(_agreement(opened, table, label), file=sys.stderr)


def _open(
    store: Any, table: Path, label: str | None, id: str | None, order: str, learner: str | None
) -> Session:
    from tellapart.sessions import Session
    from tellapart.tables import read_table

    if table.stem in {listed.name for listed in store.sessions()}:
        return Session.open(store, table.stem)
    without = [] if label is None else [label]
    named_by = id or read_table(table, without=without).names()
    reading: dict[str, Any] = {} if named_by is None else {"id": named_by}
    if without:
        reading["without"] = without
    how: dict[str, Any] = {"until": {"no mistake in": 40}}
    if learner is not None:
        how["learner"], _, given = learner.partition(":")
        how["parameters"] = _parameters(given)
    return Session.new(store, table.stem, table, order=order, reading=reading, **how)


def _parameters(text: str) -> dict[str, Any]:
    """`m=7,k=2` as a mapping."""
    from tellapart.errors import ParameterError

    found: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        if not equals:
            raise ParameterError(f"--learner: parameters are written m=7,k=2; got {part!r}")
        try:
            found[name.strip()] = int(value)
        except ValueError:
            try:
                found[name.strip()] = float(value)
            except ValueError:
                found[name.strip()] = value.strip()
    return found


def _talk(session: Session, name: str, keys: dict[str, str]) -> None:
    from rich.console import Console

    from tellapart.console import talk
    from tellapart.console.keyboard import keyboard

    with session, keyboard() as pressed:
        talk(session, name, pressed, Console(highlight=False), keys)


def _agreement(session: Session, table: Path, label: str) -> str:
    """How many answers are those of the table."""
    from tellapart.sessions.beforehand import compare, known_labels

    right, odd = compare(session.history(), known_labels(table, label, session.table))
    if not right and not odd:
        return "No answers yet."
    said = f"{right} of {right + len(odd)} of your labels are those of column {label!r}"
    return said + (f"; not so: {', '.join(list(odd)[:10])}." if odd else ".")
