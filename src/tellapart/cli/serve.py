"""`tellapart serve`: sessions over HTTP."""

from __future__ import annotations

import ipaddress
import logging
import os
import socket
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from tellapart.cli.open_session import open_or_begin, reading_notice
from tellapart.cli.options import Again, TableOptions, TomlSettings, local_path, table_and_reading
from tellapart.errors import ParameterError
from tellapart.sessions.config import login

if TYPE_CHECKING:
    from tellapart.sessions import Store
    from tellapart.web.access import Limits, People, Person
    from tellapart.web.session_pool import SessionPool


@Parameter(name="*", show=False)
@dataclass(frozen=True)
class Settings:
    """What is in [serve] of tellapart.toml only."""

    title: str | None = None
    """The column that names an item in sentences; its texts need not all differ."""
    allow_host: list[str] = field(default_factory=list)
    """Other names this server goes by."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Options(TableOptions):
    """Where to listen, and who may come."""

    db: str | None = None
    """Where sessions are kept: a file, or postgresql://host/name; else TABLE.sessions.db."""
    host: str = "127.0.0.1"
    """The address to listen on. 0.0.0.0 is every address: read docs/serve.md first, on security."""
    port: int = 8400
    """The port; 0 takes a free one."""
    session: str | None = None
    """The name of the table's session; the table's name if not given."""
    overlap: float | None = None
    """The share of the items that two teachers are asked about, for a new session."""
    folder: Path | None = None
    """Where tables for new sessions lie; the table's folder if not given."""
    teacher: Again = None
    """A teacher who gets a token of their own, printed at the start. Again for more."""
    teachers: Path | None = None
    """A file with a name and a token on each line, for tokens that last."""
    public_url: str | None = None
    """The address people use when a proxy with HTTPS stands before this server."""
    quiet: bool = False
    """Log only what goes wrong."""
    more: Settings = field(default_factory=Settings)


def serve(
    table: Annotated[str | None, Parameter(help="A table, as for 'tellapart teach'.")] = None,
    /,
    *,
    asked: Options | None = None,
    settings: TomlSettings = None,
) -> None:
    """Serve sessions over HTTP, for a browser and for programs.

    Prints an address with a token in it (but not one from TELLAPART_TOKEN), and listens
    on this machine only unless told otherwise. With a table, the session of that name is
    opened, or begun if there is none; it remembers how its table is read. Logs are JSON
    lines on stderr. Stops on Ctrl-C or SIGTERM, and loses nothing.

    For example:

        tellapart serve zoo.csv --id name
        tellapart serve --db postgresql://localhost/teaching --teacher Ann --teacher Bob
    """
    from tellapart.sessions import Store
    from tellapart.web import json_logging
    from tellapart.web.app import create_app, listen, run
    from tellapart.web.config import PageOptions
    from tellapart.web.keys import read_keys
    from tellapart.web.session_pool import SessionPool

    asked = asked or Options()
    table, how_read = table_and_reading(table, asked.read, settings)
    if table is None and (asked.label or asked.start_from):
        raise ParameterError("--label and --start-from are columns of a table: name the table, too")
    limits = _limits(asked)
    people, known = _people(asked)
    where = asked.folder or (Path.cwd() if table is None else local_path(table).parent)
    if not where.is_dir():
        raise ParameterError(f"--folder {where}: there is no such folder")
    keys = (settings or {}).get("keys")
    json_logging.configure(level=logging.WARNING if asked.quiet else logging.INFO)
    listening = listen(asked.host, asked.port)
    if asked.db is None and table is not None:
        store = Store.beside(local_path(table))
    else:
        store = Store(asked.db or where / "tellapart.sessions.db")
    try:
        pool = SessionPool(store, where)
        pages = PageOptions(
            keys=None if keys is None else read_keys(keys, where),
            known=_open(pool, store, table, how_read, asked),
        )
        app = create_app(pool, people, limits, pages)
        number = listening.getsockname()[1]
        base = (asked.public_url or _address(asked.host, number)).rstrip("/")

        def ready() -> None:
            print(f"Serving {store.where}", flush=True)
            for person in people.all:
                if person not in known:
                    link = f"{base}/?token={shown_token(person.token)}"
                    print(f"  {person.name}: {link}", flush=True)
            print("Stop with Ctrl-C; nothing is lost.", flush=True)
            json_logging.log_event("started", host=asked.host, port=number)

        run(app, listening, ready=ready)
    finally:
        listening.close()
        store.close()


def _open(
    pool: SessionPool, store: Store, table: str | None, how_read: Mapping[str, Any], asked: Options
) -> dict[str, tuple[str, str]]:
    """Open or begin the session of the table; what its answers are compared with."""
    if table is None:  # better refused at the start than later
        store.claim("")
        store.release("")
        return {}
    place = local_path(table)
    name = asked.session or place.stem
    with reading_notice(f"Reading {place.name}"):
        more: dict[str, Any] = {"overlap": asked.overlap, "title": asked.more.title}
        pool.add(open_or_begin(store, table, name, how_read, asked, **more))
    return {} if asked.label is None else {name: (table, asked.label)}


def _people(asked: Options) -> tuple[People, list[Person]]:
    """Everybody who may come in, and those whose tokens are in a file."""
    from tellapart.web.access import People, Person, new_token

    token = os.environ.get("TELLAPART_TOKEN") or new_token()
    owner = Person(asked.name or login(), token, owner=True)
    known = [] if asked.teachers is None else _read_teachers(asked.teachers)
    return People(
        [owner, *known, *(Person(one, new_token()) for one in asked.teacher or ())]
    ), known


def _read_teachers(file: Path) -> list[Person]:
    """The teachers in a file; warn if everybody on this machine can read their tokens."""
    from tellapart.web.access import read_people

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


def _limits(asked: Options) -> Limits:
    from tellapart.web.access import Limits

    check_port(asked.port)
    url = asked.public_url
    if url is not None and not url.startswith(("https://", "http://")):
        raise ParameterError(f"--public-url begins with https:// or http://, got {url!r}")
    loopback = _is_loopback(asked.host)
    names = [*asked.more.allow_host, *([] if loopback else [asked.host, socket.gethostname()])]
    return Limits(loopback=loopback, hosts=frozenset(map(str.lower, names)), public=url)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _address(host: str, port: int) -> str:
    # 0.0.0.0 is every address: show a name that others can use
    shown = socket.gethostname() if host in ("0.0.0.0", "::", "") else host
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"
