"""One writer at a time: a lock that goes when its program does, even if it is killed."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tellapart.errors import SessionError, StoreError

if TYPE_CHECKING:
    import sqlalchemy as sql

_NOT_AVAILABLE = "55P03"  # what PostgreSQL says after waiting for a lock in vain
PATIENCE = 3.0
"""Seconds: PostgreSQL misses a server that was killed a moment later."""


class FileLock:
    """The right to write to a SQLite file, kept by a lock on a file beside it.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     first = FileLock(Path(folder, "zoo.db"))
    ...     try:
    ...         FileLock(Path(folder, "zoo.db"))
    ...     except SessionError as error:
    ...         print(str(error).split(" is")[1])
    ...     first.close()
     being written by another program (process ...). Close that one first, ...
    """

    def __init__(self, path: Path) -> None:
        beside = path.with_name(path.name + ".lock")
        try:
            self._file: IO[str] = beside.open("a+", encoding="utf-8")
        except OSError as error:
            raise StoreError(
                f"{path} cannot be written: {error.strerror or error}. Choose a folder that is"
                " there and may be written to"
            ) from error
        try:
            _lock(self._file)
        except OSError as error:
            self._file.seek(0)
            owner = self._file.read(100).strip()
            self._file.close()
            raise SessionError(
                f"{path} is being written by another program (process {owner or 'unknown'}). Close"
                " that one first, or use PostgreSQL for several servers"
            ) from error
        self._file.seek(0)
        self._file.truncate()
        self._file.write(f"{os.getpid()}\n")
        self._file.flush()

    def close(self) -> None:
        """Let others write."""
        self._file.close()


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


class ServerLock:
    """The right to write to a session in PostgreSQL: an advisory lock of the connection."""

    @staticmethod
    def take(connection: sql.Connection, name: str) -> None:
        """Lock, or raise `SessionError` when another server has the session open, and keeps it."""
        from sqlalchemy import exc, text

        digest = hashlib.sha256(f"tellapart {name}".encode()).digest()
        key = int.from_bytes(digest[:8], "big", signed=True)
        connection.execute(text(f"SET LOCAL lock_timeout = {round(1000 * PATIENCE)}"))
        try:
            connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": key})
        except exc.OperationalError as error:
            if getattr(error.orig, "sqlstate", None) != _NOT_AVAILABLE:
                raise
            raise SessionError(
                f"the session {name!r} is open in another server. Close it there first, or use"
                " that server"
            ) from error
        connection.commit()
