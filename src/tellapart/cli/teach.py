"""`tellapart teach`: teach a table by hand, in a browser or in the terminal."""

from __future__ import annotations

import logging
import os
import sys
import threading
import webbrowser
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from rich.console import Console

from tellapart.cli.open_session import open_or_begin, reading_notice
from tellapart.cli.options import TableOptions, TomlSettings, local_path, table_and_reading
from tellapart.cli.serve import check_port, shown_token
from tellapart.console.conversation import talk
from tellapart.console.keyboard import keyboard
from tellapart.errors import ParameterError, SessionError
from tellapart.samples import BANK, write_bank
from tellapart.sessions import Given, Session, Store
from tellapart.sessions.config import login
from tellapart.sessions.teams import compare, known_labels
from tellapart.sessions.tour import FIRST, LABEL, hint, write_zoo

if TYPE_CHECKING:
    from tellapart.web.config import PageOptions


SAMPLES = ("bank", "zoo")


def _sample(_: Any, tokens: Sequence[Any]) -> int | str:
    text = str(tokens[0].value)
    if text in SAMPLES:
        return text
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"expected bank, zoo or a number of rows, got {text!r}") from None


Sample = Annotated[int | str, Parameter(converter=_sample)]
"""A table of the package, or so many rows."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Options(TableOptions):
    """Where one teaches, and what comes next."""

    session: Path | None = None
    """The file your answers are kept in; TABLE.sessions.db beside the table if not given."""
    title: str | None = None
    """The column that names a row in sentences; its texts need not all differ."""
    order: str | None = None
    """What comes next: file, random, or mixed: least sure, with one in four at random."""
    rules: Path | None = None
    """A model file whose rules a new session begins with."""
    console: bool = False
    """Teach here in the terminal. The same session, the same keys."""
    port: int = 0
    """The port of the page; 0 takes the last one of this session, or a free one."""
    no_browser: bool = False
    """Print the address, and open no browser."""
    sample: Sample | None = None
    """A table that comes with it, written here: bank or zoo. Or a number: take so many rows at
    random; what is said about the error is about the whole table."""


_TABLE = (
    "CSV, JSON, Parquet, Arrow or a spreadsheet, by its ending, perhaps compressed; a folder or a"
    " pattern such as '2024-*.csv'; or an address."
)


def teach(
    table: Annotated[str | None, Parameter(help=_TABLE)] = None,
    /,
    *,
    asked: Options | None = None,
    settings: TomlSettings = None,
) -> None:
    """Teach a classifier about the rows of a table, in your browser or here.

    It guesses, and shows an earlier row as its reason; you say right, or what it is and
    what tells the two apart. Every answer is saved at once; the same command goes on
    where you stopped, and remembers how the table is read. Without a table: a zoo, and
    a tour of two minutes.

    For example:

        tellapart teach --sample bank
        tellapart teach animals.csv
        tellapart teach mails.parquet --console
        tellapart teach --console
    """
    asked = asked or Options()
    if not asked.console:  # a missing extra is named before any work
        from tellapart.web.config import PageOptions
        from tellapart.web.keys import read_keys
    sample = [f"sample={asked.sample}"] if isinstance(asked.sample, int) else []
    if table is not None and isinstance(asked.sample, str):
        raise ParameterError(f"--sample {asked.sample} is a table itself: leave out {table}")
    table, how_read = table_and_reading(table, [*(asked.read or []), *sample], settings)
    check_port(asked.port)
    tour = table is None and asked.sample != "bank"
    if asked.sample == "bank":
        table = _bank()
    elif table is None:
        table, asked = _zoo(asked)
    place = local_path(table)
    if not asked.console:
        keys = read_keys((settings or {}).get("keys"), place.parent)
    teacher = asked.name or login()
    kept = asked.session or place.with_name(place.name + ".sessions.db")
    with Store(kept) as store:
        with reading_notice(f"Reading {place.name}"):
            opened = _open(store, table, how_read, teacher, asked)
        if asked.console:
            _talk(opened, teacher, tour=tour)
        else:
            known = {} if asked.label is None else {opened.name: (table, asked.label)}
            pages = PageOptions(keys, known, tour)
            last = LastAddress(kept.with_name(kept.name + ".page"))
            browser = not asked.no_browser
            _serve(store, opened, place.parent, teacher, asked.port, pages, last, browser=browser)
    if asked.label is not None:
        print(_agreement(opened, table, asked.label), file=sys.stderr)


def _open(
    store: Store, table: str, how_read: Mapping[str, Any], teacher: str, asked: Options
) -> Session:
    """The session of the table, in the order that is asked for, ready for the first item."""
    opened = open_or_begin(
        store,
        table,
        local_path(table).stem,
        how_read,
        asked,
        title=asked.title,
        order=asked.order,
        rules=asked.rules,
        another=f"--session FILE (this one is in {store.where})",
        for_teach=True,
    )
    if asked.order is not None and asked.order != opened.settings["order"]:
        try:
            opened.join(teacher)
            opened.set(teacher, order=asked.order)
        except SessionError:
            opened.close()
            raise
    opened.prepare()
    return opened


def _bank() -> str:
    """The bank statement of the package, written here."""
    table = str(write_bank(Path.cwd()))
    print(f"A made-up bank statement is in {table}, the next month in {BANK[1]}.")
    return table


def _zoo(asked: Options) -> tuple[str, Options]:
    """The table of the tour, with its label column, in its order."""
    if asked.label or asked.id or asked.start_from:
        raise ParameterError(
            "--label, --id and --start-from are columns of a table: name the table, too"
        )
    table = str(write_zoo(Path.cwd()))
    print(f"A tour: the zoo is in {table}. {FIRST[0].title()} comes first.")
    return table, replace(asked, label=LABEL, order="file")


def _talk(session: Session, name: str, *, tour: bool) -> None:
    def guide(given: Given, label: str | None = None) -> str | None:
        said = session.history(last=1)
        last = str(said[0].label or said[0].guess) if said and not said[0].undone else None
        return hint(given, label, last=last, console=True)

    with session:
        try:
            talk(session, name, keyboard(), Console(highlight=False), guide if tour else None)
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
    from tellapart.web.access import People, Person, new_token
    from tellapart.web.app import create_app, listen, run
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
    right, odd = compare(session.history(), known_labels(table, label, session))
    if not right and not odd:
        return f"No answers yet where column {label!r} has a label."
    said = f"{right} of {right + len(odd)} of your labels are those of column {label!r}"
    return said + (f"; not so: {', '.join(list(odd)[:10])}." if odd else ".")
