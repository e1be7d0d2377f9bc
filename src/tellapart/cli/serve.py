"""`tellapart serve`: sessions over HTTP; and how `serve` and `teach` open a table's session."""

from __future__ import annotations

import getpass
import ipaddress
import logging
import os
import socket
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from tellapart.cli.options import (
    Sampling,
    as_options,
    beside,
    say_finding,
    table_arguments,
    table_place,
)
from tellapart.errors import ParameterError

if TYPE_CHECKING:
    from tellapart.sessions import Session, Store


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
    from tellapart.web.auth import People, Person, new_token, read_people
    from tellapart.web.config import Limits, PageOptions
    from tellapart.web.session_pool import SessionPool
    from tellapart.web.webhook import SECRET, Webhook

    table = table_place(reading, table)
    how_read = table_arguments(reading, table)
    if table is None and (label or start_from):
        raise ParameterError("--label and --start-from are columns of a table: name the table, too")
    place = None if table is None else beside(table)
    check_port(port)
    if not rate > 0:
        raise ParameterError(f"--rate is more than 0, got {rate}")
    if public_url is not None and not public_url.startswith(("https://", "http://")):
        raise ParameterError(f"--public-url begins with https:// or http://, got {public_url!r}")
    hook = None if webhook is None else Webhook(webhook, os.environ.get(SECRET))
    owner = Person(name or login(), os.environ.get("TELLAPART_TOKEN") or new_token(), owner=True)
    known = [] if teachers is None else read_people(teachers)
    if teachers is not None and os.name == "posix" and teachers.stat().st_mode & stat.S_IROTH:
        print(f"tellapart: everybody can read {teachers}: chmod 600 it", file=sys.stderr)
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
        names = [*(allow_host or ()), *([] if _is_loopback(host) else [host, socket.gethostname()])]
        limits = Limits(
            loopback=_is_loopback(host),
            hosts=frozenset(map(str.lower, names)),
            public=public_url,
            rate=rate,
            burst=max(20, round(2 * rate)),
        )
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


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _address(host: str, port: int) -> str:
    # 0.0.0.0 is every address: show a name that others can use
    shown = socket.gethostname() if host in ("0.0.0.0", "::", "") else host
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


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
    from tellapart.tables.read import read_table, read_table_again

    how_read = dict(reading or {})
    if label is not None and label == start_from:
        raise ParameterError(
            f"column {label!r} cannot be both: --start-from takes its labels as answers, --label"
            " compares your own answers with them. Leave one out"
        )
    if name in {listed.name for listed in store.sessions()}:
        begun = store.opened(name).data
        if rules is not None:
            raise ParameterError(
                f"--rules {rules}: the session was begun already, and rules stand at its beginning."
                f" Leave it out to go on; or begin another one with {another}"
            )
        for said in _differences(begun, id, learner, how_read, label=label, start_from=start_from):
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
        return _start_from(opened, table, start_from)
    hidden = _given(label=label, start_from=start_from)
    without = list(hidden.values())
    if for_teach or id is None or hidden:
        read = read_table(table, **how_read)
        if for_teach and not len(read):
            raise ParameterError(f"{table} has columns, and no rows to teach about")
        for option, column in hidden.items():
            if all(known is None for known in read.labels(column)):
                raise ParameterError(
                    f"{table}: column {column!r} is empty in every row, so there are no labels to"
                    f" {'compare with' if option == 'label' else 'start from'}. Fill some in, or"
                    f" leave out --{option.replace('_', '-')}"
                )
        how_read["id"] = id or read.names(without)
    else:
        how_read["id"] = id
    how_read["without"] = without or None
    how_read["title"] = title
    settings = {**FOR_PEOPLE, **_given(learner=learner, order=order, overlap=overlap)}
    if rules is not None:
        from tellapart.export import load_model

        settings["rules"] = load_model(rules)
    begun_now = Session.new(store, name, table, reading=_given(**how_read), **settings)
    if for_teach or sys.stderr.isatty():  # a server's log has nothing of what is in the table
        for finding in begun_now.table.findings:
            say_finding(finding)
    return _start_from(begun_now, table, start_from)


def _start_from(session: Session, table: str | Path, column: str | None) -> Session:
    """Take the labels of a column as answers, about the items that have none."""
    from tellapart.sessions.agreement import known_labels

    if column is not None:
        try:
            done = session.start_from(f"column {column}", known_labels(table, column, session))
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
    **hidden: str | None,
) -> Iterator[str]:
    """What can only be chosen when a session begins, and is asked for otherwise now."""
    source = begun.get("source") or {}
    for option, column in hidden.items():
        if column is not None and column not in (source.get("without") or []):
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
