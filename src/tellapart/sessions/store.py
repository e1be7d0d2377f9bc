"""Where logs are kept: one table of events, in a SQLite file or in PostgreSQL.

An event is inserted and committed before the caller gets an answer. SQLite runs with a write-ahead
log and synchronous=FULL, so that a committed event survives a crash of the machine. Events are
numbered by their one writer; should there ever be two, the second insert of a number fails.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from tellapart.errors import FormatError, SessionError, StoreError
from tellapart.sessions.events import Event, check_log, hash_event, read_event, read_log
from tellapart.sessions.sqlite import Sqlite

if TYPE_CHECKING:
    from tellapart.sessions.postgres import Postgres

TABLE = "tellapart_events"
HASHES = "tellapart_hashes"
"""Beside the events, which are never rewritten: an old log gets its hashes when it is opened."""
LENGTHS = "tellapart_lengths"
"""The number of the last event, written with it: else the loss of the last ones goes unnoticed."""
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
_CREATE_HASHES = f"""CREATE TABLE IF NOT EXISTS {HASHES} (
    session TEXT NOT NULL,
    number BIGINT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (session, number)
)"""
_CREATE_LENGTHS = f"""CREATE TABLE IF NOT EXISTS {LENGTHS} (
    session TEXT NOT NULL PRIMARY KEY,
    number BIGINT NOT NULL
)"""
KEPT = "tellapart_kept"
"""What need not be worked out again: the learner and the model of a session, after an event. The
digest is of the bytes, of the log up to that event, and of what they depend on besides."""
_CREATE_KEPT = f"""CREATE TABLE IF NOT EXISTS {KEPT} (
    session TEXT NOT NULL,
    kind TEXT NOT NULL,
    number BIGINT NOT NULL,
    digest TEXT NOT NULL,
    data {{bytes}} NOT NULL,
    PRIMARY KEY (session, kind)
)"""
_COLUMNS = "number, id, at, type, teacher, data"
_INSERT = f"INSERT INTO {TABLE} (session, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"
_INSERT_HASH = f"INSERT INTO {HASHES} (session, number, hash) VALUES (?, ?, ?)"
_INSERT_LENGTH = f"""INSERT INTO {LENGTHS} (session, number) VALUES (?, ?)
    ON CONFLICT (session) DO UPDATE SET number = excluded.number"""
_INSERT_KEPT = f"""INSERT INTO {KEPT} (session, kind, number, digest, data) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (session, kind)
    DO UPDATE SET number = excluded.number, digest = excluded.digest, data = excluded.data"""
_SELECT = f"SELECT {_COLUMNS} FROM {TABLE}"
_SELECT_HASHES = f"SELECT number, hash FROM {HASHES} WHERE session = ?"

_MEANINGS = (
    ("disk is full", "the disk is full. Make room, then try again"),
    ("no space left", "the disk of the server is full. Make room, then try again"),
    ("readonly database", "it may not be written. Allow writing to the file and its folder"),
    ("read-only", "it may not be written. Allow writing to it"),
    ("database is locked", "another program has it locked. Close that one, then try again"),
    ("unable to open", "it cannot be opened. Is the folder there, and may it be written to?"),
    ("not a database", "it is no SQLite file. Choose another file"),
    (
        "malformed",
        "the file is damaged. Keep a copy, and restore a backup; or save the good part with"
        " 'tellapart session repair'",
    ),
    ("codec can't decode", "the file is damaged. Keep a copy, and restore a backup"),
    ("disk i/o error", "the disk could not be read or written. Look whether it is full or failing"),
    ("permission denied", "access is not allowed. Ask whoever runs the database"),
    ("authentication failed", "the name or password is wrong. Check the address"),
    ("does not exist", "there is no such database. Make it, or check the address"),
    ("connection refused", "nobody listens there. Is the server running?"),
    ("lock timeout", "another program has it locked. Close that one, then try again"),
    ("statement timeout", "it takes too long. Look what else it is doing"),
    ("timeout expired", "it does not answer. Is the server running?"),
    ("server closed the connection", "the server went away. Try again when it is back"),
    ("terminating connection", "the server went away. Try again when it is back"),
    ("surrogates not allowed", "the name of a session in it is damaged. Restore a backup"),
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
    answers: int = 0
    """How many there were, also those undone."""
    teacher: str | None = None
    """Who did something last."""


class Kept(NamedTuple):
    """What was kept after an event."""

    number: int
    data: bytes


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
        """All sessions whose first event can be read, the latest first."""
        if not self._exists():
            return []
        listed = []
        with self.connected() as connection:
            counts = self._fetch(
                connection,
                "SELECT session, count(*), max(at), sum(CASE type WHEN 'answered' THEN 1 ELSE 0"
                f" END) FROM {TABLE} GROUP BY session",
            )
            last = f"""SELECT teacher FROM {TABLE} WHERE session = ? AND teacher IS NOT NULL
                ORDER BY number DESC LIMIT 1"""
            for name, number, at, answers in counts:
                with suppress(FormatError):
                    opened = self._first(connection, name)
                    who = next((str(who) for (who,) in self._fetch(connection, last, name)), None)
                    listed.append(Listed(name, number, opened, str(at), int(answers), who))
        return sorted(listed, key=lambda s: (s.last, s.name), reverse=True)

    def names(self) -> list[str]:
        """The names of all sessions, also of those whose log is damaged."""
        if not self._exists():
            return []
        with self.connected() as connection:
            query = f"SELECT session FROM {TABLE}"
            if self._has(connection, LENGTHS):
                query = f"{query} UNION SELECT session FROM {LENGTHS}"  # all may be lost
            found = self._fetch(connection, query)
        return sorted({str(name) for (name,) in found})

    def tail(self, name: str, after: int, most: int) -> list[Event]:
        """What came after an event, at most so many events; for those who follow a log.

        Raises `SessionError` if the session never had so many events.
        """
        with self.connected() as connection, self._explain_damage(name):
            block = (name, after, after + most)
            # hashes first: what is written meanwhile is an event that has none yet
            query = f"{_SELECT_HASHES} AND number >= ? AND number <= ?"
            kept = dict(self._fetch(connection, query, *block))
            query = f"{_SELECT} WHERE session = ? AND number > ? AND number <= ? ORDER BY number"
            rows = self._fetch(connection, query, *block)
            if not rows:
                query = f"SELECT coalesce(max(number), 0) FROM {TABLE} WHERE session = ?"
                ((last,),) = self._fetch(connection, query, name)
                if last < after:
                    raise SessionError(
                        f"the session {name!r} has {last:,} events, and the last one seen was"
                        f" event {after:,}: it is not the session that was followed. Begin with 0"
                    )
                return []
            before = "" if after == 0 else kept.get(after)
            known = {} if before is None else kept  # an old log that was never opened has none
            return [event for event, _ in read_log(rows, known, after, before or "")]

    def read(self, connection: Any, name: str) -> list[tuple[Event, str]]:
        """The log of a session, each event with its hash; raises at one that is damaged."""
        with self._explain_damage(name):
            rows = self._fetch(connection, f"{_SELECT} WHERE session = ? ORDER BY number", name)
            hashes = self.hashes(connection, name)
            read = list(read_log(rows, hashes, length=self.length(connection, name)))
            check_log([event for event, _ in read])
            return read

    def hashes(self, connection: Any, name: str) -> dict[Any, Any]:
        if not self._has(connection, HASHES):
            return {}
        return dict(self._fetch(connection, _SELECT_HASHES, name))

    def length(self, connection: Any, name: str) -> Any:
        """The number of the last event as it was written with it; 0 in a log of an older version,
        which may write after it, too.
        """
        if not self._has(connection, LENGTHS):
            return 0
        query = f"SELECT number FROM {LENGTHS} WHERE session = ?"
        return next((number for (number,) in self._fetch(connection, query, name)), 0)

    def good_events(self, name: str) -> tuple[list[Event], str | None]:
        """The events of a session up to the first that is damaged, and what is wrong with that."""
        good: list[Event] = []
        with self.connected() as connection:
            kept: dict[Any, Any] = {}
            length: Any = 0
            unknown: str | None = None
            try:
                kept = self.hashes(connection, name)
                length = self.length(connection, name)
            except self.database.error as error:  # then events are checked by themselves
                unknown = (
                    "the hashes of its events cannot be read, so whether they are as they were"
                    f" written is not known: {str(error).splitlines()[0]}"
                )
            query = self._sql(f"{_SELECT} WHERE session = ? ORDER BY number")
            connection.text_factory = _decode
            cursor = connection.execute(query, (name,))
            try:
                rows = iter(cursor.fetchone, None)
                for event, _ in read_log(rows, kept, length=length):
                    good.append(event)
                check_log(good)
            except FormatError as error:
                return good, str(error)
            except self.database.error as error:
                return good, f"event {len(good) + 1} cannot be read: {str(error).splitlines()[0]}"
        return good, unknown

    def log(self, name: str) -> list[Event]:
        """The whole log of a session that must be there."""
        self.opened(name)
        with self.connected() as connection:
            return [event for event, _ in self.read(connection, name)]

    def opened(self, name: str) -> Event:
        """The first event of a session that must be there."""
        if self._exists():
            with self.connected() as connection, self._explain_damage(name):
                if self._is_there(connection, name):
                    return self._first(connection, name)
        known = ", ".join(repr(listed.name) for listed in self.sessions()) or "none"
        raise SessionError(f"there is no session {name!r} in {self.where}; there are: {known}")

    def kept(self, name: str, kind: str, code: str = "") -> Kept | None:
        """What was kept last of this kind, if its bytes and the log are as then, and `code` too."""
        with self.connected() as connection:
            if not self._has(connection, KEPT):
                return None
            query = f"SELECT number, digest, data FROM {KEPT} WHERE session = ? AND kind = ?"
            for number, digest, data in self._fetch(connection, query, name, kind):
                if isinstance(data, bytes) and digest == self._digest(
                    connection, name, number, code, data
                ):
                    return Kept(number, data)
        return None

    def _digest(self, connection: Any, name: str, number: int, code: str, data: bytes) -> str:
        query = f"{_SELECT_HASHES} AND number = ?"
        log = next((known for _, known in self._fetch(connection, query, name, number)), "none")
        return hashlib.sha256(f"{code} {number} {log} ".encode() + data).hexdigest()

    def setting(self, name: str, setting: str) -> Any:
        """What one of the settings of a session is now; None if that was never said."""
        return self._last_said(name, "settings", setting)

    def table_of(self, name: str) -> dict[str, Any]:
        """The table of a session as it was last seen: what it began with, and rows added since."""
        self.opened(name)
        found: dict[str, Any] = self._last_said(name, "rows added", "table")
        return found

    def _last_said(self, name: str, kind: str, key: str) -> Any:
        """What events of a kind, or else the first event, said last under a key."""
        query = f"{_SELECT} WHERE session = ? AND type IN ('opened', ?) ORDER BY number DESC"
        with self.connected() as connection, self._explain_damage(name):
            found = (read_event(row).data for row in self._fetch(connection, query, name, kind))
            return next((data[key] for data in found if key in data), None)

    def _has(self, connection: Any, table: str) -> bool:
        return connection.execute(self.database.finds_table, (table,)).fetchone() is not None

    def _is_there(self, connection: Any, name: str) -> bool:
        """Whether there is a session, even if all of its events are lost."""
        found = self._fetch(connection, f"{_SELECT} WHERE session = ? LIMIT 1", name)
        return bool(found or self.length(connection, name))

    def _first(self, connection: Any, name: str) -> Event:
        """The first event of a session; `FormatError` if it is damaged."""
        row = self._fetch(connection, f"{_SELECT} WHERE session = ? AND number = 1", name)
        if not row:
            raise FormatError("event 1 is missing")
        kept = {}
        if self._has(connection, HASHES):
            kept = dict(self._fetch(connection, f"{_SELECT_HASHES} AND number = 1", name))
        return next(read_log(row, kept))[0]

    def _fetch(self, connection: Any, query: str, *values: Any) -> list[Any]:
        """All rows of a query; a text that is none comes with its bytes escaped."""
        try:
            found: list[Any] = connection.execute(self._sql(query), values).fetchall()
        except self.database.error as error:
            if "decode" not in str(error).lower():
                raise
            connection.text_factory = _decode
            found = connection.execute(self._sql(query), values).fetchall()
        return found

    @contextmanager
    def _explain_damage(self, name: str) -> Iterator[None]:
        try:
            yield
        except FormatError as error:
            raise FormatError(
                f"the session {name!r} in {self.where}: {error}. Keep a copy of the database, and"
                f" restore a backup; or save what is good with 'tellapart session repair'"
            ) from error

    # -- writing

    def add(self, name: str, events: Iterable[Event]) -> None:
        self.claim(name)
        try:
            with self.connected() as connection:
                if self._is_there(connection, name):
                    raise SessionError(
                        f"there is a session {name!r} in {self.where} already; choose another name"
                    )
                self.insert(connection, name, events, "")
                connection.commit()
        finally:
            self.release(name)

    def insert(
        self, connection: Any, name: str, events: Iterable[Event], before: str | None = None
    ) -> str:
        """Insert events with their hashes, without a commit; returns the last hash.

        `before` is the hash of the event before them; None: it is looked for.
        """
        if before is None:
            query = f"{_SELECT_HASHES} ORDER BY number DESC LIMIT 1"
            before = next((row[1] for row in self._fetch(connection, query, name)), "")
        rows: list[tuple[Any, ...]] = []
        made = []
        for event in events:
            cells = event.cells()
            before = hash_event(before, cells)
            rows.append((name, *cells))
            made.append((name, event.number, before))
        connection.cursor().executemany(self._sql(_INSERT), rows)
        connection.cursor().executemany(self._sql(_INSERT_HASH), made)
        if made:
            self.keep_length(connection, name, made[-1][1])
        return before

    def add_hashes(self, connection: Any, name: str, made: Iterable[tuple[int, str]]) -> None:
        """Give events of an older version their hashes, without a commit."""
        rows = [(name, number, one) for number, one in made]
        connection.cursor().executemany(self._sql(_INSERT_HASH), rows)

    def keep_length(self, connection: Any, name: str, number: int) -> None:
        """Write how many events there are, without a commit."""
        connection.execute(self._sql(_INSERT_LENGTH), (name, number))

    def keep(self, connection: Any, name: str, kept: Kept, kind: str, code: str = "") -> None:
        """Keep something instead of what was kept of this kind before, without a commit."""
        digest = self._digest(connection, name, kept.number, code, kept.data)
        connection.execute(self._sql(_INSERT_KEPT), (name, kind, kept.number, digest, kept.data))

    def claim(self, name: str) -> None:
        """Reserve a session for writing; raises if it is open, here or in another program."""
        if name in self._open:
            raise SessionError(f"the session {name!r} is open here already")
        self.database.lock()
        if not self._has_table:
            with self.connected() as connection:
                for create in (_CREATE, _CREATE_HASHES, _CREATE_LENGTHS, _CREATE_KEPT):
                    connection.execute(create.format(bytes=self.database.bytes))
                connection.commit()
            self._has_table = True
        self._open.add(name)

    def release(self, name: str) -> None:
        self._open.discard(name)

    def close(self) -> None:
        self.database.unlock()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<store {self.where}>"

    # -- connections

    @contextmanager
    def connected(self, *, reads: bool = True) -> Iterator[Any]:
        """A connection of the driver; what goes wrong on it is a `StoreError`.

        `reads`: it may take as long as reading everything does.
        """
        with self.explained("used"):
            connection: Any = self.database.connect()
            try:
                with self.database.limit(connection, reads=reads):
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
        with self.connected(reads=False) as connection:
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
            return self._has(connection, TABLE)


class Writer:
    """The one who may append to a session until it is closed, over one connection that it keeps.

    What fails raises `StoreError` and drops the connection: whatever was not committed is lost. One
    that never `writes` reads a session also while another program writes to it.
    """

    def __init__(self, store: Store, name: str, *, writes: bool = True) -> None:
        self.store, self.name, self.writes = store, name, writes
        self._connection: Any = None
        self._files: object = None
        self._hash: str | None = None
        self._since: float | None = None
        if not writes:
            return
        store.claim(name)
        try:
            self._connect()
        except BaseException:
            store.release(name)
            raise

    def _connect(self) -> Any:
        if not self.writes:
            raise SessionError(
                f"the session {self.name!r} was opened to be read, not to be written"
            )
        if self._connection is None:
            with self.store.explained("opened"):
                self._connection = self.store.database.connect(self.name)
        return self._connection

    def insert(self, event: Event) -> None:
        """Insert an event; it is safe after `commit`."""
        with self._working() as connection:
            self._hash = self.store.insert(connection, self.name, [event], self._hash)

    def commit(self) -> None:
        """Commit what was inserted; raises if it went to files that are no longer there."""
        with self._working() as connection:
            connection.commit()
            files = self.store.database.files()
            if self._files not in (None, files):
                raise self.store.database.gone()
            self._files = files

    def read(self) -> list[Event]:
        """The log; events that an older version wrote get their hashes."""
        if not self.writes:
            return self.store.log(self.name)
        with self._working(reads=True) as connection:
            read = self.store.read(connection, self.name)
            known = self.store.hashes(connection, self.name)
            new = [(event.number, one) for event, one in read if event.number not in known]
            self.store.add_hashes(connection, self.name, new)
            if self.store.length(connection, self.name) != len(read):
                self.store.keep_length(connection, self.name, len(read))
            connection.commit()
            self._hash = read[-1][1]
        return [event for event, _ in read]

    def keep(self, kept: Kept, kind: str, code: str = "") -> None:
        """Keep what need not be worked out again; nothing depends on it."""
        with self._working(reads=True) as connection:
            self.store.keep(connection, self.name, kept, kind, code)
            connection.commit()

    def check(self) -> None:
        """Raise unless an event could be written now."""
        with self._working() as connection:
            self.store.database.check_writable(connection)
            if self._files not in (None, self.store.database.files()):
                raise self.store.database.gone()

    @property
    def waits(self) -> float:
        """For how many seconds the database has not answered; 0 when nothing is asked of it."""
        return 0.0 if self._since is None else time.monotonic() - self._since

    @contextmanager
    def _working(self, *, reads: bool = False) -> Iterator[Any]:
        self._since = time.monotonic()
        try:
            connection = self._connect()
            with (
                self.store.explained("written"),
                self.store.database.limit(connection, reads=reads),
            ):
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
        finally:
            self._since = None

    def drop(self) -> None:
        """Let the connection go; the next use makes a new one."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            self._files = self._hash = None
            with suppress(*self.store.database.error):  # it may be broken: that is why it goes
                connection.close()

    def close(self) -> None:
        self.drop()
        if self.writes:
            self.store.release(self.name)


def _decode(raw: bytes) -> str:
    """A text of SQLite; bytes that are none are kept as they are."""
    return raw.decode("utf-8", "surrogateescape")


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
