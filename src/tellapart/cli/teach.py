"""`tellapart teach`: teach a table by hand, in a browser or in the terminal."""

from __future__ import annotations

import logging
import os
import sys
import threading
import webbrowser
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tellapart.cli.open_session import open_or_begin, reading_notice
from tellapart.cli.options import Sampling, local_path, table_arguments, table_place
from tellapart.cli.serve import check_port, login, shown_token
from tellapart.errors import ParameterError, SessionError

if TYPE_CHECKING:
    from tellapart.sessions import Session, Store
    from tellapart.web.config import PageOptions


def teach(
    table: str | None = None,
    *,
    label: str | None = None,
    start_from: str | None = None,
    session: Path | None = None,
    id: str | None = None,
    title: str | None = None,
    order: str | None = None,
    learner: str | None = None,
    rules: Path | None = None,
    reading: Sampling | None = None,
    console: bool = False,
    keys: Path | None = None,
    name: str | None = None,
    port: int = 0,
    no_browser: bool = False,
) -> None:
    """Teach a classifier about the rows of a table, in your browser or here.

    It guesses, and shows an earlier row as its reason; you say right, or what it is and
    what tells the two apart. Every answer is saved at once; the same command goes on
    where you stopped, and remembers how the table is read. Without a table: a zoo, and
    a tour of two minutes.

    Examples:

        tellapart teach animals.csv
        tellapart teach mails.parquet --console
        tellapart teach --console

    Parameters
    ----------
    table
        CSV, JSON, Parquet, Arrow or a spreadsheet, by its ending, perhaps compressed; a
        folder or a pattern such as '2024-*.csv'; an address; or a database for --query.
    label
        A column with known labels. It is hidden while you teach, and compared with your
        answers on the page Odd ones and at the end.
    start_from
        A column with labels to start from. It is hidden, and its labels are taken as
        first answers, an answer each; rows without one are yours.
    session
        The file your answers are kept in; TABLE.sessions.db beside the table if not
        given.
    id
        The column that names a row; if not given, the first whose texts all differ.
    title
        The column that names a row in sentences; its texts need not all differ. If not
        given, the one that looks most like it.
    order
        What comes next: file, random, "least sure", or mixed (if not given), which is
        least sure with one in four at random. Can be switched at any time.
    learner
        Who learns, such as CappedDFF:m=7; there is no need to choose. For a new session.
    rules
        A model file whose rules a new session begins with, such as 'tellapart import'
        writes; you teach corrections on top.
    console
        Teach here in the terminal. The same session, the same keys.
    keys
        A file with keys of your own, with lines such as undo = "z".
    name
        Your name as a teacher; your login name if not given.
    port
        The port of the page; 0 takes the last one of this session, or a free one.
    no_browser
        Print the address, and open no browser.
    """
    from tellapart.console.keyboard import FILE, read_keys
    from tellapart.sessions import Store
    from tellapart.sessions.tour import FIRST, LABEL, write_zoo

    if not console:  # a missing extra is named before any work
        from tellapart.web.config import PageOptions
    table = table_place(reading, table)
    tour, how_read = table is None, table_arguments(reading, table)
    check_port(port)
    if table is None:
        if label or id or start_from:
            raise ParameterError(
                "--label, --id and --start-from are columns of a table: name the table, too"
            )
        table = str(write_zoo(Path.cwd()))
        label, order = LABEL, "file"
        print(f"No table was given: the zoo is in {table}. {FIRST[0].title()} comes first.")
    place = local_path(table)
    if keys is None and (place.parent / FILE).is_file():
        keys = place.parent / FILE
    chosen = read_keys(keys)
    teacher = name or login()
    kept = session or place.with_name(place.name + ".sessions.db")
    with Store(kept) as store:
        with reading_notice(f"Reading {place.name}"):
            opened = open_or_begin(
                store,
                table,
                place.stem,
                how_read,
                id=id,
                title=title,
                learner=learner,
                label=label,
                start_from=start_from,
                order=order,
                rules=rules,
                another=f"--session FILE (this one is in {store.where})",
                for_teach=True,
            )
            if order is not None and order != opened.settings["order"]:
                try:
                    opened.join(teacher)
                    opened.set(teacher, order=order)
                except SessionError:
                    opened.close()
                    raise
            opened.prepare()
        if console:
            _talk(opened, teacher, chosen, tour=tour)
        else:
            known = {} if label is None else {opened.name: (table, label)}
            pages = PageOptions(chosen, known, tour)
            last = LastAddress(kept.with_name(kept.name + ".page"))
            _serve(store, opened, place.parent, teacher, port, pages, last, browser=not no_browser)
    if label is not None:
        print(_agreement(opened, table, label), file=sys.stderr)


def _talk(session: Session, name: str, keys: dict[str, str], *, tour: bool) -> None:
    from rich.console import Console

    from tellapart.console.conversation import talk
    from tellapart.console.keyboard import keyboard
    from tellapart.sessions.tour import hint

    guide = partial(hint, say=f"press {keys['label']}, type", undo=keys["undo"])
    with session:
        try:
            talk(session, name, keyboard(), Console(highlight=False), keys, guide if tour else None)
        except KeyboardInterrupt:  # while it was thinking
            print("Stopped. Every answer is saved.")


def _serve(
    store: Store,
    session: Session,
    folder: Path,
    name: str,
    port: int,
    pages: PageOptions,
    last: LastAddress,
    *,
    browser: bool,
) -> None:
    """Serve the pages of a session on this machine, and open the browser.

    The last port and token are used again if they can be: pages that are open go on.
    """
    from tellapart.web import json_logging
    from tellapart.web.app import create_app, listen, run
    from tellapart.web.auth import People, Person, new_token
    from tellapart.web.pages.render import home
    from tellapart.web.session_pool import SessionPool

    json_logging.configure(level=logging.WARNING)
    token = os.environ.get("TELLAPART_TOKEN") or last.token or new_token()
    person = Person(name, token, owner=True)
    pool = SessionPool(store, folder)
    pool.add(session)
    app = create_app(pool, People([person]), page_options=pages)
    try:  # late: who reaches us is answered at once
        listening = listen("127.0.0.1", port or last.port)
    except ParameterError:
        if port or not last.port:
            raise
        listening = listen("127.0.0.1", 0)  # another program has the last one
    number = listening.getsockname()[1]
    last.keep(number, token)
    place = f"http://127.0.0.1:{number}"
    page = f"{place}{home(session.name)}/teach?token="
    address = page + person.token

    def ready() -> None:
        print(f"Teach {session.name} at {page}{shown_token(person.token)}", flush=True)
        print("Stop with Ctrl-C; nothing is lost.", flush=True)
        if browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    try:
        run(app, listening, ready=ready)
    finally:
        listening.close()


class LastAddress:
    """The port and the token of the last page, in a file that only its owner can read.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "zoo.page")
    ...     LastAddress(path).keep(8000, "0123456789abcdef")
    ...     LastAddress(path).port, LastAddress(path).token, LastAddress(Path(folder)).port
    (8000, '0123456789abcdef', 0)
    """

    def __init__(self, path: Path) -> None:
        self.port, self.token, self._path = 0, "", path
        with suppress(OSError, ValueError):  # then it is as the first time
            port, token = path.read_text(encoding="ascii").split()
            self.port = int(port) if 0 < int(port) < 65536 else 0
            self.token = token if len(token) >= 16 else ""

    def keep(self, port: int, token: str) -> None:
        """Write them down; a token from the environment stays there."""
        if token == os.environ.get("TELLAPART_TOKEN"):
            token = self.token or "-"
        with suppress(OSError):
            made = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(made, "w", encoding="ascii") as file:
                file.write(f"{port} {token}\n")


def _agreement(session: Session, table: str, label: str) -> str:
    """How many answers are those of the table."""
    from tellapart.sessions.agreement import compare, known_labels

    right, odd = compare(session.history(), known_labels(table, label, session))
    if not right and not odd:
        return f"No answers yet where column {label!r} has a label."
    said = f"{right} of {right + len(odd)} of your labels are those of column {label!r}"
    return said + (f"; not so: {', '.join(list(odd)[:10])}." if odd else ".")
