"""A SQLite database in a file, through the standard library."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import sys
from contextlib import AbstractContextManager, nullcontext, suppress
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


_ROOM = 100_000  # bytes that must be free


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

    mark, bytes = "?", "BLOB"
    error: tuple[type[Exception], ...] = (sqlite3.Error, UnicodeError)
    """What goes wrong; a message about a damaged file, or a name in it, may be no text."""
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
            connection.execute("PRAGMA synchronous=FULL")
            if self._file is not None:  # who only reads leaves the file as it is
                connection.execute("PRAGMA journal_mode=WAL")
                if self._file != _identity(self._path):
                    raise self.gone()
        except BaseException:
            connection.close()
            raise
        return connection

    def limit(
        self, connection: sqlite3.Connection, *, reads: bool = False
    ) -> AbstractContextManager[None]:
        """A file answers, or the system says that it does not."""
        return nullcontext()

    def check_writable(self, connection: sqlite3.Connection) -> None:
        """Raise unless something could be written now."""
        connection.execute("BEGIN IMMEDIATE")
        connection.rollback()
        if shutil.disk_usage(os.path.dirname(self._path)).free < _ROOM:
            raise sqlite3.OperationalError("database or disk is full")

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
            found = os.stat(self._path)
            if stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
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
