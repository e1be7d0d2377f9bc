"""A PostgreSQL database, for several servers; needs the extra `postgres`."""

from __future__ import annotations

import hashlib
import re
from typing import Any
from urllib.parse import parse_qsl, unquote

from tellapart.errors import MissingExtra, SessionError, StoreError

try:
    import psycopg
except ImportError as error:
    raise MissingExtra("PostgreSQL", "postgres") from error

PATIENCE = 3.0
"""Seconds to wait for a session's lock: PostgreSQL notices a moment later that its holder died."""

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

    mark = "%s"
    error: tuple[type[Exception], ...] = (psycopg.Error,)
    conflict: type[Exception] = psycopg.IntegrityError
    finds_table = "SELECT 1 WHERE to_regclass(%s) IS NOT NULL"

    def __init__(self, address: str, patience: float) -> None:
        self._arguments, self.where = parse_address(address)
        self._arguments["connect_timeout"] = max(2, int(patience))

    def exists(self) -> bool:
        """Whether it makes sense to connect."""
        return True

    def connect(self, session: str | None = None) -> psycopg.Connection[Any]:
        """A connection; with the name of a session, one that alone may write to it.

        Raises `SessionError` when another server has the session open, and keeps it.
        """
        connection = psycopg.connect(**self._arguments)
        try:
            if session is not None:
                _lock(connection, session)
        except BaseException:
            connection.close()
            raise
        return connection

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
