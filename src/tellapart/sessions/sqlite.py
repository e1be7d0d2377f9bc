"""A SQLite file, and the lock beside it: one program writes to it at a time."""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path
from typing import IO

from tellapart.errors import SessionError, StoreError


class Sqlite:
    """A database in a file, through the standard library."""

    mark = "?"
    error: type[Exception] = sqlite3.Error
    conflict: type[Exception] = sqlite3.IntegrityError
    finds_table = "SELECT 1 FROM sqlite_master WHERE name = ?"

    def __init__(self, path: Path, patience: float) -> None:
        self.where, self._patience = str(path.absolute()), patience
        self._lock: FileLock | None = None

    def exists(self) -> bool:
        """Whether there is a file: reading must not make one."""
        return Path(self.where).exists()

    def connect(self, session: str | None = None) -> sqlite3.Connection:
        """A connection whose commits survive a crash; the file's lock covers all sessions."""
        connection = sqlite3.connect(self.where, self._patience, check_same_thread=False)
        try:
            for pragma in ("journal_mode=WAL", "synchronous=FULL"):
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            connection.close()
            raise
        return connection

    def lock(self) -> None:
        """Keep other programs from writing, until `unlock`."""
        if self._lock is None:
            self._lock = FileLock(Path(self.where))

    def unlock(self) -> None:
        """Let other programs write."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None


class FileLock:
    """The right to write to a SQLite file. It ends with its program, even if that is killed.

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
