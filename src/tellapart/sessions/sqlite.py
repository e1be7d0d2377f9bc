"""A SQLite file, and the lock beside it: one program writes to it at a time."""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path
from typing import IO

from tellapart.errors import SessionError, StoreError

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
        self._lock_file: IO[str] | None = None

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
        """Keep other programs from writing until `unlock`, or until this one ends or is killed."""
        if self._lock_file is not None:
            return
        try:
            file = Path(self.where + ".lock").open("a+", encoding="utf-8")  # noqa: SIM115
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
        self._lock_file = file

    def unlock(self) -> None:
        """Let other programs write."""
        if self._lock_file is not None:
            self._lock_file.close()
            self._lock_file = None
