"""Where logs are kept: one table of events, in SQLite or PostgreSQL, through SQLAlchemy Core.

An event is inserted and committed before anybody hears of it. SQLite runs with a write-ahead log
and synchronous=FULL, so that a committed event survives a crash of the machine. Events are numbered
by their one writer; should there ever be two, the second insert of a number fails.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tellapart import codec
from tellapart.errors import MissingExtra, SessionError, StoreError
from tellapart.sessions.events import Event, check_log
from tellapart.sessions.locks import FileLock, ServerLock
from tellapart.sessions.trouble import explain

try:
    import sqlalchemy as sql
except ImportError as error:
    raise MissingExtra("a session", "app") from error

_METADATA = sql.MetaData()
EVENTS = sql.Table(
    "tellapart_events",
    _METADATA,
    sql.Column("session", sql.Text, primary_key=True),
    sql.Column("number", sql.BigInteger, primary_key=True, autoincrement=False),
    sql.Column("id", sql.Text, nullable=False),
    sql.Column("at", sql.Text, nullable=False),
    sql.Column("type", sql.Text, nullable=False),
    sql.Column("teacher", sql.Text),
    sql.Column("data", sql.Text, nullable=False),
    sql.UniqueConstraint("session", "id"),
)
_INSERT = EVENTS.insert()  # built once: a statement made anew for every event costs as much again


class Listed(NamedTuple):
    """A session in a store."""

    name: str
    events: int
    opened: Event
    last: str
    """When the last event came."""


class Store:
    """A database with sessions in it.

    Parameters
    ----------
    place : str or Path
        A file (made if there is none), or the URL of a database: `postgresql://host/name`.
    patience : float, default=5
        Seconds to wait for a database that another program has locked.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, Store(Path(folder, "zoo.db")) as store:
    ...     store.sessions()
    []
    """

    def __init__(self, place: str | Path, *, patience: float = 5.0) -> None:
        url = _url(place)
        self.is_file = url.get_backend_name() == "sqlite"
        shown = url.set(drivername="postgresql").render_as_string(hide_password=True)
        self.where = str(url.database) if self.is_file else shown
        options: dict[str, Any] = {}
        if self.is_file:
            options["connect_args"] = {"timeout": patience, "check_same_thread": False}
        else:
            options["connect_args"] = {"connect_timeout": max(2, int(patience))}
        self._url, self._patience = url, patience
        with self._trouble("opened"):
            self.engine = sql.create_engine(url, **options)
            if self.is_file:
                sql.event.listen(self.engine, "connect", _tune)
        self._lock: FileLock | None = None
        self._known = False
        self._open: set[str] = set()

    @classmethod
    def beside(cls, table: str | Path) -> Store:
        """The store of a table's file: `zoo.csv.sessions.db` beside `zoo.csv`."""
        path = Path(table)
        return cls(path.with_name(path.name + ".sessions.db"))

    # -- reading

    def sessions(self) -> list[Listed]:
        """All sessions, the latest first."""
        if not self._exists():
            return []
        c = EVENTS.c
        with self.connected() as connection:
            counts = connection.execute(
                sql.select(c.session, sql.func.count(), sql.func.max(c.at)).group_by(c.session)
            ).all()
            first = connection.execute(sql.select(EVENTS).where(c.number == 1)).all()
        opened = {row.session: _event(row) for row in first}
        listed = [Listed(name, n, opened[name], last) for name, n, last in counts]
        return sorted(listed, key=lambda s: (s.last, s.name), reverse=True)

    def events(self, name: str, after: int = 0) -> list[Event]:
        """The log of a session, or what came after an event."""
        with self.connected() as connection:
            return self.read(connection, name, after)

    def read(self, connection: sql.Connection, name: str, after: int = 0) -> list[Event]:
        """The same on a connection."""
        c = EVENTS.c
        query = sql.select(EVENTS).where(c.session == name, c.number > after).order_by(c.number)
        return [_event(row) for row in connection.execute(query)]

    def log(self, name: str) -> list[Event]:
        """The whole log of a session that must be there."""
        self.opened(name)
        events = self.events(name)
        check_log(events)
        return events

    def opened(self, name: str) -> Event:
        """The first event of a session that must be there."""
        if self._exists():
            c = EVENTS.c
            query = sql.select(EVENTS).where(c.session == name, c.number == 1)
            with self.connected() as connection:
                row = connection.execute(query).first()
            if row is not None:
                return _event(row)
        known = ", ".join(repr(listed.name) for listed in self.sessions()) or "none"
        raise SessionError(f"there is no session {name!r} in {self.where}; there are: {known}")

    # -- writing

    def add(self, name: str, events: Iterable[Event]) -> None:
        """A new session with these events, all or none."""
        self.claim(name)
        try:
            rows = [_row(name, event) for event in events]
            with self.connected() as connection:
                if self.read(connection, name):
                    raise SessionError(
                        f"there is a session {name!r} in {self.where} already; choose another name"
                    )
                connection.execute(_INSERT, rows)
                connection.commit()
        finally:
            self.release(name)

    def writer(self, name: str) -> Writer:
        """The one who may append to a session from now on; close it when done."""
        self.claim(name)
        try:
            return Writer(self, name)
        except BaseException:
            self.release(name)
            raise

    def claim(self, name: str) -> None:
        """Say that this store writes to a session; refuse if another program does."""
        if name in self._open:
            raise SessionError(f"the session {name!r} is open here already")
        if self.is_file and self._lock is None:
            self._lock = FileLock(Path(self.where))
        if not self._known:
            with self.connected() as connection:
                _METADATA.create_all(connection)
                connection.commit()
            self._known = True
        self._open.add(name)

    def release(self, name: str) -> None:
        """Say that this store no longer writes to a session."""
        self._open.discard(name)

    def close(self) -> None:
        """Give back connections and locks."""
        self.engine.dispose()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<store {self.where}>"

    # -- connections

    @contextmanager
    def connected(self) -> Iterator[sql.Connection]:
        """A connection; what goes wrong on it is said in our words."""
        with self._trouble("used"), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def _trouble(self, doing: str) -> Iterator[None]:
        try:
            yield
        except (sql.exc.SQLAlchemyError, ImportError) as error:
            raise explain(error, self.where, doing) from error

    def _exists(self) -> bool:
        """Whether there is anything: reading must not make a file."""
        if self._known:
            return True
        if self.is_file and not Path(self.where).exists():
            return False
        with self.connected() as connection:
            return sql.inspect(connection).has_table(EVENTS.name)


class Writer:
    """Appends to the log of one session, over one connection that it keeps."""

    def __init__(self, store: Store, name: str) -> None:
        self.store, self.name = store, name
        self._connection: sql.Connection | None = None
        self._gathers = False
        self._failure: BaseException | None = None
        self._connect()

    def _connect(self) -> sql.Connection:
        if self._connection is None:
            with self.store._trouble("opened"):
                connection = self.store.engine.connect()
            try:
                if not self.store.is_file:
                    with self.store._trouble("opened"):
                        ServerLock.take(connection, self.name)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def append(self, event: Event) -> None:
        """Insert and commit; raises `StoreError` if the event is not safely there."""
        self._safely(lambda connection: connection.execute(_INSERT, _row(self.name, event)))

    def gather(self) -> None:
        """From now on insert only, until `commit`."""
        self._gathers, self._failure = True, None

    def commit(self) -> None:
        """Commit what was gathered; raises what went wrong if it is not all safely there."""
        self._gathers = False
        if self._failure is not None:  # with the connection went whatever came before
            raise self._failure
        self._safely(lambda connection: None)

    def spoil(self, failure: BaseException) -> None:
        """Nothing of what was gathered is to be committed."""
        if self._gathers and self._failure is None:
            self._failure = failure
            self.drop()

    def read(self, after: int = 0) -> list[Event]:
        """What is in the log after an event."""
        found: list[Event] = []
        self._safely(lambda connection: found.extend(self.store.read(connection, self.name, after)))
        return found

    def _safely(self, work: Callable[[sql.Connection], object]) -> None:
        if self._gathers and self._failure is not None:
            raise self._failure
        try:
            self._do(work)
        except BaseException as error:
            self._failure = error
            raise

    def _do(self, work: Callable[[sql.Connection], object]) -> None:
        connection = self._connect()
        try:
            work(connection)
            if not self._gathers:
                connection.commit()
        except sql.exc.IntegrityError as error:
            self.drop()
            raise StoreError(
                f"another program has written to the session {self.name!r} in {self.store.where}."
                " Nothing is lost; close one of the two, and try again"
            ) from error
        except sql.exc.SQLAlchemyError as error:
            self.drop()
            raise explain(error, self.store.where, "written") from error
        except BaseException:
            self.drop()
            raise

    def drop(self) -> None:
        """Let the connection go; the next use makes a new one."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            try:
                connection.invalidate()
                connection.close()
            except sql.exc.SQLAlchemyError:  # it was broken; that is why it goes
                pass

    def close(self) -> None:
        """Let others write."""
        self.drop()
        self.store.release(self.name)


def _url(place: str | Path) -> sql.URL:
    text = str(place)
    if "://" not in text:
        return sql.URL.create("sqlite", database=str(Path(text).absolute()))
    try:
        url = sql.make_url(text)
    except sql.exc.ArgumentError:
        raise StoreError(
            f"{text!r} is no address of a database; give a file, or postgresql://host/name"
        ) from None
    if url.get_backend_name() == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() == "sqlite" and url.database:
        return url.set(drivername="sqlite", database=str(Path(url.database).absolute()))
    raise StoreError(f"sessions are kept in SQLite or PostgreSQL, not in {url.drivername!r}")


def _tune(connection: Any, _record: object) -> None:
    for pragma in ("journal_mode=WAL", "synchronous=FULL"):
        connection.execute(f"PRAGMA {pragma}")


def _row(name: str, event: Event) -> dict[str, Any]:
    return {
        "session": name,
        "number": event.number,
        "id": event.id,
        "at": event.at,
        "type": event.type,
        "teacher": event.by,
        "data": codec.dump(event.data),
    }


def _event(row: Any) -> Event:
    return Event(row[1], row[2], row[3], row[4], row[5], json.loads(row[6]))
