"""Finished cells on disk, one file each: complete, or absent.

A file is written under another name, flushed to disk and renamed, so a crash, a full disk or Ctrl-C
never leaves half a cell. A file counts only if its checksum is right and it was made by the source
code that asks for it.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import tellapart
from tellapart.errors import LabError
from tellapart.lab.experiment import Cell, Row, load

FORMAT = 1
"""The version of a cell's file."""

_UNFINISHED = ".unfinished"


@cache
def source_fingerprint(experiment: str) -> str:
    """A hash of the code that an experiment's numbers depend on."""
    package = Path(tellapart.__file__).parent
    loaded = load(experiment)
    own = inspect.getsourcefile(loaded.run)
    digest = hashlib.sha256(b"" if own is None else Path(own).read_bytes())
    for part in (package / name for name in loaded.depends_on):
        for path in sorted(part.rglob("*.py")) if part.is_dir() else [part]:
            digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


class CellStore:
    """The cells of one folder; only one process at a time can open it.

    >>> import tempfile
    >>> cell = Cell("theorem2", {"m": 8})
    >>> with tempfile.TemporaryDirectory() as folder, CellStore(Path(folder)) as store:
    ...     before = store.load(cell)
    ...     store.save(cell, [{"mistakes": 17}], source_fingerprint("theorem2"))
    ...     before, store.load(cell)
    (None, [{'mistakes': 17}])
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> CellStore:
        self.folder.mkdir(parents=True, exist_ok=True)
        if (
            any(not path.name.startswith(".") for path in self.folder.iterdir())
            and not (self.folder / "cells").is_dir()
        ):
            raise LabError(
                f"{self.folder} holds files that are no lab's; choose a folder that is new or empty"
            )
        self._lock = _lock(self.folder / ".lock")
        for left in self.folder.rglob(f"*{_UNFINISHED}"):
            left.unlink(missing_ok=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    def path(self, cell: Cell) -> Path:
        """The file of a cell."""
        words = re.sub(r"[^A-Za-z0-9.=]+", "-", cell.name.partition(" ")[2])[:80]
        short = hashlib.sha256(cell.name.encode()).hexdigest()[:8]
        folder = cell.experiment.replace(":", "-")
        return self.folder / "cells" / folder / f"{words}-{short}.json"

    def load(self, cell: Cell) -> list[Row] | None:
        """The rows of a finished cell; None if it has to run."""
        try:
            text = self.path(cell).read_bytes()
        except FileNotFoundError:
            return None
        try:
            data = json.loads(text)
            valid = data == _record(cell, data["rows"], source_fingerprint(cell.experiment))
        except (ValueError, KeyError, TypeError):
            return None
        return data["rows"] if valid else None

    def save(self, cell: Cell, rows: list[Row], source: str) -> None:
        """Save the rows of a cell, all or nothing."""
        text = json.dumps(_record(cell, rows, source), indent=1, allow_nan=False)
        write_atomic(self.path(cell), text.encode())


def write_atomic(path: Path, content: bytes) -> None:
    """Write a whole file, or leave the old one untouched."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}{_UNFINISHED}")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename = error.filename or str(path)  # ENOSPC names no file
        raise
    with contextlib.suppress(OSError):  # some systems cannot open a folder
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _record(cell: Cell, rows: list[Row], source: str) -> dict[str, Any]:
    content = {
        "tellapart": "cell",
        "format": FORMAT,
        "name": cell.name,
        "seed": cell.seed,
        "source": source,
        "rows": rows,
    }
    text = json.dumps(content, sort_keys=True, allow_nan=False)
    return content | {"checksum": hashlib.sha256(text.encode()).hexdigest()}


def _lock(path: Path) -> Any:
    """Lock the folder until the returned file is closed or the process ends."""
    file = path.open("a+b")
    try:
        import fcntl
    except ImportError:  # not on this system; the atomic writes have to do
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise LabError(
            f"another lab is at work in {path.parent}: wait for it, stop it, or choose another"
            " folder"
        ) from None
    return file
