"""A PostgreSQL database, for several servers; needs the extra `postgres`."""

from __future__ import annotations

import hashlib
import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import parse_qsl, unquote

from tellapart.errors import MissingExtra, SessionError, StoreError

try:
    import psycopg
except ImportError as error:
    raise MissingExtra("PostgreSQL", "postgres") from error

PATIENCE = 3.0
"""Seconds to wait for a session's lock: PostgreSQL notices a moment later that its holder died."""
READING = 120.0
"""Seconds that reading a whole log may take."""

_ADDRESS = re.compile(
    r"""[\w+]+://
    (?: (?P<user>[^:/]*) (?: :(?P<password>[^@]*) )? @ )?
    (?: \[(?P<ipv6>[^/?]+)\] | (?P<host>[^/:?]+) )? (?: :(?P<port>[^/?]*) )?
    (?: /(?P<dbname>[^?]*) )?
    (?: \?(?P<query>.*) )?""",
    re.VERBOSE,
)


def parse_address(text: str) -> tuple[dict[str, Any], str]:
    """What `psycopg.connect` takes for an address, and the address without its password.

    >>> parse_address("postgresql+psycopg://ann:a%40b@host:5433/zoo?sslmode=require")
    ({'user': 'ann', 'password': 'a@b', 'host': 'host', 'port': '5433', 'dbname': 'zoo', 'sslmode':
    'require'}, 'postgresql://ann:***@host:5433/zoo?sslmode=require')
    """
    found = _ADDRESS.fullmatch(text)
    if found is None or not (found["port"] or "0").isdecimal():
        raise StoreError(f"{text!r} is no address of a database; give postgresql://host/name")
    parts = {name: unquote(part) for name, part in found.groupdict().items() if part}
    parts.pop("query", None)
    parts.update(parse_qsl(found["query"] or ""))
    if "ipv6" in parts:
        parts["host"] = parts.pop("ipv6")
    start, end = found.span("password")
    shown = text if start < 0 else f"{text[:start]}***{text[end:]}"
    shown = re.sub(r"\bpassword=[^&]*", "password=***", shown)
    return parts, f"postgresql{shown[shown.index('://') :]}"


class Postgres:
    """A database on a server, through psycopg."""

    mark, bytes = "%s", "BYTEA"
    error: tuple[type[Exception], ...] = (psycopg.Error,)
    conflict: type[Exception] = psycopg.IntegrityError
    finds_table = "SELECT 1 WHERE to_regclass(%s) IS NOT NULL"

    def __init__(self, address: str, patience: float) -> None:
        self._arguments, self.where = parse_address(address)
        self._patience = max(2.0, patience)
        usual = {
            "connect_timeout": int(self._patience),
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
        }
        self._arguments = {**usual, **self._arguments}
        self._watchdog = Watchdog()

    def exists(self) -> bool:
        """Whether it makes sense to connect."""
        return True

    def connect(self, session: str | None = None) -> psycopg.Connection[Any]:
        """A connection; with the name of a session, one that alone may write to it.

        Raises `SessionError` when another server has the session open, and keeps it.
        """
        connection = psycopg.connect(**self._arguments)
        try:
            with self.limit(connection):
                connection.execute(
                    "SELECT set_config('statement_timeout', %s, false),"
                    " set_config('lock_timeout', %s, false)",
                    # a lock is given up before the watchdog bites, so that the reason is told
                    [f"{round(1000 * seconds)}ms" for seconds in (READING, self._patience / 2)],
                )
                connection.commit()
            if session is not None:
                with self._watchdog.limit(connection, self._patience + PATIENCE):
                    _lock(connection, session)
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def limit(self, connection: psycopg.Connection[Any], *, reads: bool = False) -> Iterator[None]:
        """Raise if what is done inside takes too long: the server may hang, and never say so."""
        with self._watchdog.limit(connection, READING if reads else self._patience):
            yield

    def check_writable(self, connection: psycopg.Connection[Any]) -> None:
        """Raise unless something could be written now."""
        row = connection.execute("SELECT current_setting('transaction_read_only')").fetchone()
        connection.rollback()
        if row == ("on",):
            raise StoreError(f"{self.where} cannot be written: it is read-only")

    def files(self) -> object:
        """Its files are the server's matter."""
        return None

    def gone(self) -> StoreError:
        """Never raised: `files` does not change."""
        return StoreError(f"{self.where} is gone")

    def lock(self) -> None:
        """Others may write to other sessions."""

    def unlock(self) -> None:
        """Nothing is locked but sessions."""


class Watchdog:
    """Breaks connections to a server that does not answer in time.

    The time-outs of PostgreSQL are its own: when it hangs, or the network does, nothing comes.
    """

    def __init__(self) -> None:
        self._ends: dict[object, tuple[float, psycopg.Connection[Any]]] = {}
        self._some = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def limit(self, connection: psycopg.Connection[Any], seconds: float) -> Iterator[None]:
        """Raise `psycopg.OperationalError` if what is done inside takes longer."""
        key = object()
        self._ends[key] = (time.monotonic() + seconds, connection)
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
            self._thread.start()
        self._some.set()
        try:
            yield
        except psycopg.Error:
            if key not in self._ends:
                raise psycopg.OperationalError("timeout expired") from None
            raise
        finally:
            self._ends.pop(key, None)

    def _watch(self) -> None:
        while self._some.wait():
            if not self._ends:
                self._some.clear()
            now = time.monotonic()
            for key, (end, connection) in list(self._ends.items()):
                if end < now:
                    self._ends.pop(key, None)
                    _break_off(connection)
            time.sleep(0.1)


def _break_off(connection: psycopg.Connection[Any]) -> None:
    """Wake whoever waits for the other side of a connection."""
    with (
        suppress(OSError, psycopg.Error),
        socket.socket(fileno=os.dup(connection.fileno())) as other,
    ):
        other.shutdown(socket.SHUT_RDWR)


def _lock(connection: psycopg.Connection[Any], session: str) -> None:
    """Lock a session as long as the connection lives."""
    digest = hashlib.sha256(f"tellapart {session}".encode()).digest()
    key = int.from_bytes(digest[:8], "big", signed=True)
    wait = f"{round(1000 * PATIENCE)}ms"
    connection.execute("SELECT set_config('lock_timeout', %s, true)", (wait,))
    try:
        connection.execute("SELECT pg_advisory_lock(%s)", (key,))
    except psycopg.errors.LockNotAvailable as error:
        raise SessionError(
            f"the session {session!r} is open in another server. Close it there first, or use that"
            " server"
        ) from error
    connection.commit()
