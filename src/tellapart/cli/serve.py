"""`tellapart serve`: sessions over HTTP."""

from __future__ import annotations

import getpass
import ipaddress
import logging
import os
import socket
import stat
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from tellapart.cli.open_session import open_or_begin, reading_notice
from tellapart.cli.options import (
    Sampling,
    local_path,
    table_arguments,
    table_place,
)
from tellapart.errors import ParameterError

if TYPE_CHECKING:
    from tellapart.web.auth import Person
    from tellapart.web.config import Limits


def serve(
    table: str | None = None,
    *,
    db: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8400,
    session: str | None = None,
    id: str | None = None,
    label: str | None = None,
    start_from: str | None = None,
    title: str | None = None,
    reading: Sampling | None = None,
    learner: str | None = None,
    overlap: float | None = None,
    folder: Path | None = None,
    name: str | None = None,
    teacher: Annotated[list[str] | None, Parameter(consume_multiple=False)] = None,
    teachers: Path | None = None,
    public_url: str | None = None,
    allow_host: Annotated[list[str] | None, Parameter(consume_multiple=False)] = None,
    rate: float = 200.0,
    webhook: str | None = None,
    quiet: bool = False,
) -> None:
    """Serve sessions over HTTP, for a browser and for programs.

    Prints an address with a token in it (but not one from TELLAPART_TOKEN), and listens
    on this machine only unless told otherwise. With a table, the session of that name is
    opened, or begun if there is none; it remembers how its table is read. Logs are JSON
    lines on stderr. Stops on Ctrl-C or SIGTERM, and loses nothing.

    Examples:

        tellapart serve zoo.csv --id name
        tellapart serve --db postgresql://localhost/teaching --teacher Ann --teacher Bob

    Parameters
    ----------
    table
        CSV, JSON, Parquet, Arrow or a spreadsheet, by its ending, perhaps compressed; a
        folder or a pattern such as '2024-*.csv'; an address; or a database for --query.
    db
        Where sessions are kept: a file, or postgresql://host/name. If not given,
        TABLE.sessions.db beside the table, or tellapart.sessions.db in the folder.
    host
        The address to listen on. 0.0.0.0 is every address of this machine: read
        docs/security.md first.
    port
        The port; 0 takes a free one.
    session
        The name of the table's session; the table's name if not given.
    id
        The column that names an item, for a new session; if not given, the first whose
        texts all differ.
    label
        A column with known labels, for practice. It is hidden from everybody, and each
        teacher's answers are compared with it on their page Odd ones.
    start_from
        A column with labels to start from. It is hidden, and its labels are taken as
        first answers, an answer each; teachers are asked about the other rows.
    title
        The column that names an item in sentences; its texts need not all differ. If not
        given, the one that looks most like it.
    learner
        Who learns, for a new session, such as CappedDFF:m=7.
    overlap
        The share of the items that two teachers are asked about, for a new session; 0 if
        not given, with 0.1 a tenth. What they call differently is under Disagreements.
    folder
        Where tables for new sessions lie; the table's folder if not given.
    name
        Your own name as a teacher; your login name if not given.
    teacher
        A teacher who gets a token of their own, printed at the start. Again for more.
    teachers
        A file with a name and a token on each line, for tokens that last.
    public_url
        The address people use when a proxy with HTTPS stands before this server.
    allow_host
        Another name this server goes by. Again for more.
    rate
        Requests a second that each teacher may send.
    webhook
        An address that every event of every session is sent to, signed with the secret in
        TELLAPART_WEBHOOK_SECRET.
    quiet
        Log only what goes wrong.
    """
    from tellapart.sessions import Store
    from tellapart.web import json_logging
    from tellapart.web.app import create_app, listen, run
    from tellapart.web.auth import People, Person, new_token
    from tellapart.web.config import PageOptions
    from tellapart.web.session_pool import SessionPool
    from tellapart.web.webhook import SECRET, Webhook

    table = table_place(reading, table)
    how_read = table_arguments(reading, table)
    if table is None and (label or start_from):
        raise ParameterError("--label and --start-from are columns of a table: name the table, too")
    place = None if table is None else local_path(table)
    check_port(port)
    if not rate > 0:
        raise ParameterError(f"--rate is more than 0, got {rate}")
    if public_url is not None and not public_url.startswith(("https://", "http://")):
        raise ParameterError(f"--public-url begins with https:// or http://, got {public_url!r}")
    hook = None if webhook is None else Webhook(webhook, os.environ.get(SECRET))
    owner = Person(name or login(), os.environ.get("TELLAPART_TOKEN") or new_token(), owner=True)
    known = [] if teachers is None else _read_teachers(teachers)
    people = People([owner, *known, *(Person(one, new_token()) for one in teacher or ())])
    where = folder or (Path.cwd() if place is None else place.parent)
    if not where.is_dir():
        raise ParameterError(f"--folder {where}: there is no such folder")
    json_logging.configure(level=logging.WARNING if quiet else logging.INFO)
    listening = listen(host, port)
    if db is None and place is not None:
        store = Store.beside(place)
    else:
        store = Store(db or where / "tellapart.sessions.db")
    try:
        pool, pages = SessionPool(store, where), PageOptions()
        if table is not None and place is not None:
            wanted = session or place.stem
            with reading_notice(f"Reading {place.name}"):
                opened = open_or_begin(
                    store,
                    table,
                    wanted,
                    how_read,
                    id=id,
                    learner=learner,
                    label=label,
                    start_from=start_from,
                    overlap=overlap,
                    title=title,
                )
            pool.add(opened)
            pages = PageOptions(known={} if label is None else {wanted: (table, label)})
        else:  # better refused at the start than later
            store.claim("")
            store.release("")
        limits = _limits(host, allow_host or (), public_url, rate)
        address = public_url or _address(host, listening.getsockname()[1])

        def ready() -> None:
            print(f"Serving {store.where}", flush=True)
            for person in people.all:
                if person not in known:
                    link = f"{address.rstrip('/')}/?token={shown_token(person.token)}"
                    print(f"  {person.name}: {link}", flush=True)
            print("Stop with Ctrl-C; nothing is lost.", flush=True)
            json_logging.log_event("started", host=host, port=listening.getsockname()[1])

        run(create_app(pool, people, limits, pages, hook), listening, ready=ready)
    finally:
        listening.close()
        store.close()


def _read_teachers(file: Path) -> list[Person]:
    """The teachers in a file; warn if everybody on this machine can read their tokens."""
    from tellapart.web.auth import read_people

    known = read_people(file)
    if os.name == "posix" and file.stat().st_mode & stat.S_IROTH:
        print(f"tellapart: everybody can read {file}: chmod 600 it", file=sys.stderr)
    return known


def shown_token(token: str) -> str:
    """A token as it may be printed: one that lasts stays where it is, in the environment."""
    return "$TELLAPART_TOKEN" if token == os.environ.get("TELLAPART_TOKEN") else token


def check_port(port: int) -> None:
    """Raise for a number that no port has, before anything is begun."""
    if not 0 <= port <= 65535:
        raise ParameterError(
            f"cannot listen on port {port}: a port is a number from 0 to 65535. Choose another with"
            " --port, or 0 for a free one"
        )


def login() -> str:
    """The login name, as the name of a teacher."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return "teacher"


def _limits(host: str, more: Iterable[str], public_url: str | None, rate: float) -> Limits:
    from tellapart.web.config import Limits

    loopback = _is_loopback(host)
    names = [*more, *([] if loopback else [host, socket.gethostname()])]
    return Limits(
        loopback=loopback,
        hosts=frozenset(map(str.lower, names)),
        public=public_url,
        rate=rate,
        burst=max(20, round(2 * rate)),
    )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _address(host: str, port: int) -> str:
    # 0.0.0.0 is every address: show a name that others can use
    shown = socket.gethostname() if host in ("0.0.0.0", "::", "") else host
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"
