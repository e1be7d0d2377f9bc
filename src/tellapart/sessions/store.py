"""Where logs are kept: one table of events, in a SQLite file or in PostgreSQL.

An event is inserted and committed before the caller gets an answer. SQLite runs with a write-ahead
log and synchronous=FULL, so that a committed event survives a crash of the machine. Events are
numbered by their one writer; should there ever be two, the second insert of a number fails.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from tellapart import codec
from tellapart.errors import SessionError, StoreError
from tellapart.sessions.events import Event, check_log

if TYPE_CHECKING:
    from tellapart.sessions.postgres import Postgres

TABLE = "tellapart_events"
_CREATE = f"""CREATE TABLE IF NOT EXISTS {TABLE} (
    session TEXT NOT NULL,
    number BIGINT NOT NULL,
    id TEXT NOT NULL,
    at TEXT NOT NULL,
    type TEXT NOT NULL,
    teacher TEXT,
    data TEXT NOT NULL,
    PRIMARY KEY (session, number),
    UNIQUE (session, id)
)"""
_COLUMNS = "session, number, id, at, type, teacher, data"
_INSERT = f"INSERT INTO {TABLE} ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"
_SELECT = f"SELECT {_COLUMNS} FROM {TABLE}"

_MEANINGS = (
    ("disk is full", "the disk is full. Make room, then try again"),
    ("no space left", "the disk of the server is full. Make room, then try again"),
    ("readonly database", "it may not be written. Allow writing to the file and its folder"),
    ("read-only", "it may not be written. Allow writing to it"),
    ("database is locked", "another program has it locked. Close that one, then try again"),
    ("unable to open", "it cannot be opened. Is the folder there, and may it be written to?"),
    ("not a database", "it is no SQLite file. Choose another file"),
    ("malformed", "the file is damaged. Keep a copy, and restore a backup"),
    ("disk i/o error", "the disk could not be read or written. Look whether it is full or failing"),
    ("permission denied", "access is not allowed. Ask whoever runs the database"),
    ("authentication failed", "the name or password is wrong. Check the address"),
    ("does not exist", "there is no such database. Make it, or check the address"),
    ("connection refused", "nobody listens there. Is the server running?"),
    ("timeout expired", "it does not answer. Is the server running?"),
    ("server closed the connection", "the server went away. Try again when it is back"),
    ("terminating connection", "the server went away. Try again when it is back"),
)
"""What a driver's message means, and what to do."""
_UNREADABLE = ("not a database", "malformed", "unable to open", "does not exist")


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
        self.database = _database(str(place), patience)
        self.where = self.database.where
        self._has_table = False
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
        with self.connected() as connection:
            counts = connection.execute(
                f"SELECT session, count(*), max(at) FROM {TABLE} GROUP BY session"
            ).fetchall()
            first = connection.execute(f"{_SELECT} WHERE number = 1").fetchall()
        opened = {row[0]: _event(row) for row in first}
        listed = [Listed(name, n, opened[name], last) for name, n, last in counts]
        return sorted(listed, key=lambda s: (s.last, s.name), reverse=True)

    def events(self, name: str, after: int = 0) -> list[Event]:
        """The log of a session, or what came after an event."""
        with self.connected() as connection:
            return self._read(connection, name, after)

    def _read(self, connection: Any, name: str, after: int = 0) -> list[Event]:
        query = self._sql(f"{_SELECT} WHERE session = ? AND number > ? ORDER BY number")
        return [_event(row) for row in connection.execute(query, (name, after)).fetchall()]

    def log(self, name: str) -> list[Event]:
        """The whole log of a session that must be there."""
        self.opened(name)
        events = self.events(name)
        check_log(events)
        return events

    def opened(self, name: str) -> Event:
        """The first event of a session that must be there."""
        if self._exists():
            query = self._sql(f"{_SELECT} WHERE session = ? AND number = 1")
            with self.connected() as connection:
                row = connection.execute(query, (name,)).fetchone()
            if row is not None:
                return _event(row)
        known = ", ".join(repr(listed.name) for listed in self.sessions()) or "none"
        raise SessionError(f"there is no session {name!r} in {self.where}; there are: {known}")

    # -- writing

    def add(self, name: str, events: Iterable[Event]) -> None:
        """A new session with these events, all or none."""
        self.claim(name)
        try:
            with self.connected() as connection:
                if self._read(connection, name):
                    raise SessionError(
                        f"there is a session {name!r} in {self.where} already; choose another name"
                    )
                self.insert(connection, name, events)
                connection.commit()
        finally:
            self.release(name)

    def insert(self, connection: Any, name: str, events: Iterable[Event]) -> None:
        """Insert events, without a commit."""
        rows = [(name, e.number, e.id, e.at, e.type, e.by, codec.dump(e.data)) for e in events]
        connection.cursor().executemany(self._sql(_INSERT), rows)

    def claim(self, name: str) -> None:
        """Reserve a session for writing; raises if it is open, here or in another program."""
        if name in self._open:
            raise SessionError(f"the session {name!r} is open here already")
        self.database.lock()
        if not self._has_table:
            with self.connected() as connection:
                connection.execute(_CREATE)
                connection.commit()
            self._has_table = True
        self._open.add(name)

    def release(self, name: str) -> None:
        """End a `claim`."""
        self._open.discard(name)

    def close(self) -> None:
        """Let other programs write."""
        self.database.unlock()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<store {self.where}>"

    # -- connections

    @contextmanager
    def connected(self) -> Iterator[Any]:
        """A connection of the driver; what goes wrong on it is a `StoreError`."""
        with self.explained("used"):
            connection = self.database.connect()
            try:
                yield connection
            finally:
                connection.close()

    @contextmanager
    def explained(self, doing: str) -> Iterator[None]:
        """Raise a driver's error as a `StoreError` that says what to do."""
        try:
            yield
        except self.database.error as error:
            raise _explain(error, self.where, doing) from error

    def ping(self) -> None:
        """Raise unless the database answers."""
        with self.connected() as connection:
            connection.execute("SELECT 1")

    def _sql(self, query: str) -> str:
        return query.replace("?", self.database.mark)

    def _exists(self) -> bool:
        """Whether there is anything to read."""
        if self._has_table:
            return True
        if not self.database.exists():
            return False
        with self.connected() as connection:
            found = connection.execute(self.database.finds_table, (TABLE,)).fetchone()
        return found is not None


class Writer:
    """The one who may append to a session until it is closed, over one connection that it keeps.

    What fails raises `StoreError` and drops the connection: whatever was not committed is lost.
    """

    def __init__(self, store: Store, name: str) -> None:
        self.store, self.name = store, name
        self._connection: Any = None
        self._files: object = None
        store.claim(name)
        try:
            self._connect()
        except BaseException:
            store.release(name)
            raise

    def _connect(self) -> Any:
        if self._connection is None:
            with self.store.explained("opened"):
                self._connection = self.store.database.connect(self.name)
        return self._connection

    def insert(self, event: Event) -> None:
        """Insert an event; it is safe after `commit`."""
        with self._working() as connection:
            self.store.insert(connection, self.name, [event])

    def commit(self) -> None:
        """Commit what was inserted; raises if it went to files that are no longer there."""
        with self._working() as connection:
            connection.commit()
            files = self.store.database.files()
            if self._files not in (None, files):
                raise self.store.database.gone()
            self._files = files

    def read(self) -> list[Event]:
        """The whole log."""
        with self._working() as connection:
            events = self.store._read(connection, self.name)
            connection.commit()
        return events

    @contextmanager
    def _working(self) -> Iterator[Any]:
        try:
            connection = self._connect()
            with self.store.explained("written"):
                try:
                    yield connection
                except self.store.database.conflict as error:
                    raise StoreError(
                        f"another program has written to the session {self.name!r} in"
                        f" {self.store.where}. Nothing is lost; close one of the two, and try again"
                    ) from error
        except BaseException:
            self.drop()
            raise

    def drop(self) -> None:
        """Let the connection go; the next use makes a new one."""
        if self._connection is not None:
            connection, self._connection, self._files = self._connection, None, None
            with suppress(self.store.database.error):  # it may be broken: that is why it goes
                connection.close()

    def close(self) -> None:
        """Let others write."""
        self.drop()
        self.store.release(self.name)


# -- SQLite


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[str]) -> None:
        file.seek(1 << 30)  # a byte far behind the text, which others may read
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        file.seek(0)

else:
    import fcntl

    def _lock(file: IO[str]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Sqlite:
    """A database in a file, through the standard library.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     first, second = (Sqlite(Path(folder, "zoo.db"), patience=1) for _ in range(2))
    ...     first.lock()
    ...     try:
    ...         second.lock()
    ...     except SessionError as error:
    ...         print(str(error).split(" is")[1])
    ...     first.unlock()
     being written by another program (process ...). Close that one first, ...
    """

    mark = "?"
    error: type[Exception] = sqlite3.Error
    conflict: type[Exception] = sqlite3.IntegrityError
    finds_table = "SELECT 1 FROM sqlite_master WHERE name = ?"

    def __init__(self, path: Path, patience: float) -> None:
        self.where, self._patience = str(path.absolute()), patience
        self._path = os.path.realpath(self.where)  # one lock for all links to the file
        self._lock_file: IO[str] | None = None
        self._file: tuple[int, int] | None = None
        """The file that is locked: another one of its name is not it."""

    def exists(self) -> bool:
        """Whether there is a file: reading must not make one."""
        return Path(self.where).exists()

    def connect(self, session: str | None = None) -> sqlite3.Connection:
        """A connection whose commits survive a crash; the file's lock covers all sessions."""
        if self._file is None:
            self._create()
        elif self._file != _identity(self._path):
            raise self.gone()
        connection = sqlite3.connect(self._path, self._patience, check_same_thread=False)
        try:
            for pragma in ("journal_mode=WAL", "synchronous=FULL"):
                connection.execute(f"PRAGMA {pragma}")
            if self._file not in (None, _identity(self._path)):
                raise self.gone()
        except BaseException:
            connection.close()
            raise
        return connection

    def files(self) -> object:
        """Which files a commit goes to; others when one was deleted, moved or replaced."""
        return _identity(self._path), _identity(self._path + "-wal")

    def gone(self) -> StoreError:
        """What to raise when they are others than before."""
        return StoreError(
            f"{self.where} or its -wal file was deleted, moved or replaced while it was open."
            " Nothing more is saved until it is back in its place: put it back, or stop this"
            " program and start it again"
        )

    def _create(self) -> None:
        """Make the file, for its owner alone; SQLite gives the files beside it the same mode."""
        with suppress(OSError):  # SQLite says what is wrong
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))

    def lock(self) -> None:
        """Keep other programs from writing until `unlock`, or until this one ends or is killed."""
        if self._lock_file is not None:
            return
        try:
            made = os.open(self._path + ".lock", os.O_CREAT | os.O_RDWR, 0o600)
            file = os.fdopen(made, "r+", encoding="utf-8")
        except OSError as error:
            raise StoreError(
                f"{self.where} cannot be written: {error.strerror or error}. Choose a folder that"
                " is there and may be written to"
            ) from error
        try:
            _lock(file)
        except OSError as error:
            file.seek(0)
            owner = file.read(100).strip()
            file.close()
            raise SessionError(
                f"{self.where} is being written by another program (process {owner or 'unknown'})."
                " Close that one first, or use PostgreSQL for several servers"
            ) from error
        file.seek(0)
        file.truncate()
        file.write(f"{os.getpid()}\n")
        file.flush()
        self._create()
        with suppress(OSError):
            if os.stat(self._path).st_nlink > 1:
                file.close()
                raise StoreError(
                    f"{self.where} has several names (hard links): two programs could write to it"
                    " and lose answers. Delete the other name, or put a copy in its place"
                )
        self._lock_file, self._file = file, _identity(self._path)

    def unlock(self) -> None:
        """Let other programs write."""
        if self._lock_file is not None:
            self._lock_file.close()
            self._lock_file = self._file = None


def _identity(path: str) -> tuple[int, int] | None:
    """Which file has a name now."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _database(place: str, patience: float) -> Sqlite | Postgres:
    """The database that a path or a URL names, also one as SQLAlchemy writes it."""
    kind, scheme, rest = place.partition("://")
    if not scheme:
        return Sqlite(Path(place), patience)
    if not kind.replace("+", "").isidentifier():
        raise StoreError(
            f"{place!r} is no address of a database; give a file, or postgresql://host/name"
        )
    backend = kind.partition("+")[0]
    if backend == "postgresql":
        from tellapart.sessions.postgres import Postgres

        return Postgres(place, patience)
    path = unquote(rest.partition("?")[0].partition("/")[2])
    if backend == "sqlite" and path:
        return Sqlite(Path(path), patience)
    raise StoreError(f"sessions are kept in SQLite or PostgreSQL, not in {kind!r}")


def _explain(error: Exception, where: str, doing: str) -> StoreError:
    """The error to raise instead of a driver's."""
    said = str(error).strip()
    low = said.lower()
    known = (meaning for words, meaning in _MEANINGS if words in low)
    meaning = next(known, said.splitlines()[0] if said else type(error).__name__)
    end = "" if meaning.endswith("?") else "."
    kept = " Whatever was acknowledged before is kept; what was not is not"
    if any(words in low for words in _UNREADABLE):  # nothing is known of what is in it
        kept, end = "", end.removesuffix(".")
    return StoreError(f"{where} cannot be {doing}: {meaning}{end}{kept}")


def _event(row: Any) -> Event:
    return Event(row[1], row[2], row[3], row[4], row[5], json.loads(row[6]))
