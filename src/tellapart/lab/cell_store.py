"""Finished cells on disk, one file each: there whole, or not there.

A file is written under another name, flushed to the disk and renamed, so that a crash, a full disk
or Ctrl-C never leaves half a cell under its name. A file is believed only if its checksum is right
and it was made by the very source code that asks for it.
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
def source_of(experiment: str) -> str:
    """A fingerprint of the code that decides an experiment's numbers."""
    package = Path(tellapart.__file__).parent
    asked = load(experiment)
    own = inspect.getsourcefile(asked.run)
    digest = hashlib.sha256(b"" if own is None else Path(own).read_bytes())
    for place in (package / name for name in asked.decided_by):
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


class Store:
    """The cells of one folder. One process at a time may have it open.

    >>> import tempfile
    >>> cell = Cell("theorem2", {"m": 8})
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder)) as store:
    ...     before = store.load(cell)
    ...     store.save(cell, [{"mistakes": 17}], source_of("theorem2"))
    ...     before, store.load(cell)
    (None, [{'mistakes': 17}])
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> Store:
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
        """Where a cell is kept."""
        words = re.sub(r"[^A-Za-z0-9.=]+", "-", cell.name.partition(" ")[2])[:80]
        short = hashlib.sha256(cell.name.encode()).hexdigest()[:8]
        home = cell.experiment.replace(":", "-")
        return self.folder / "cells" / home / f"{words}-{short}.json"

    def load(self, cell: Cell) -> list[Row] | None:
        """The rows of a finished cell; None if it must be run."""
        try:
            text = self.path(cell).read_bytes()
        except FileNotFoundError:
            return None
        try:
            data = json.loads(text)
            whole = data == _sealed(cell, data["rows"], source_of(cell.experiment))
        except (ValueError, KeyError, TypeError):
            return None
        return data["rows"] if whole else None

    def save(self, cell: Cell, rows: list[Row], source: str) -> None:
        """Keep the rows of a cell, all of them or none."""
        text = json.dumps(_sealed(cell, rows, source), indent=1, allow_nan=False)
        write(self.path(cell), text.encode())


def write(path: Path, content: bytes) -> None:
    """Write a file whole, or leave what was there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}{_UNFINISHED}")
    try:
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException as error:
        draft.unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename = error.filename or str(path)  # a full disk does not say whose
        raise
    with contextlib.suppress(OSError):  # not every system lets one open a folder
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _sealed(cell: Cell, rows: list[Row], source: str) -> dict[str, Any]:
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
    """Hold the folder, as long as the returned file is open; a killed process lets go of it."""
    file = path.open("a+b")
    try:
        import fcntl
    except ImportError:  # no such lock on this system: the atomic writes must do
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
