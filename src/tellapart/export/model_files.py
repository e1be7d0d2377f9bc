"""Model files: written whole or not at all, read back exactly."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tellapart import codec
from tellapart.errors import FormatError
from tellapart.model import FORMAT, DecisionList
from tellapart.protocol import Item


def save_model(model: DecisionList, path: str | Path) -> None:
    """Write a model to a JSON file (docs/export.md). A reader sees the old file or the new one.

    >>> from tempfile import TemporaryDirectory
    >>> from tellapart.model import Clause, Literal
    >>> model = DecisionList((Clause((Literal("milk"),), "bear"),), Clause((), "duck"))
    >>> with TemporaryDirectory() as folder:
    ...     save_model(model, Path(folder, "zoo.json"))
    ...     load_model(Path(folder, "zoo.json")) == model
    True
    """
    try:
        text = model.to_json().encode()
    except UnicodeEncodeError as error:
        raise FormatError(f"a text in the model is not Unicode: {error.reason}") from error
    write_whole(path, text + b"\n")


def load_model(
    path: str | Path,
    *,
    items: Sequence[Item] | None = None,
    features: Mapping[str, Callable[[Item], bool]] | None = None,
) -> DecisionList:
    """Read a model file. `items` and `features` bring what a file cannot carry (docs/export.md)."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: not a model file: {error.reason} at {error.start}") from error
    except OSError as error:
        raise FormatError(f"{path}: cannot be read: {error.strerror or error}") from error
    try:
        _check_kind(codec.parse(text))
        return DecisionList.from_json(text, items=items, features=features)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from error


def _check_kind(data: Mapping[str, object]) -> None:
    kind, version = data.get("tellapart"), data.get("format")
    if kind == "learner":
        raise FormatError(
            "this is a learner, not a model. Read it with load_learner, and save its .model"
        )
    if kind != "model":
        raise FormatError('not a model file: it lacks "tellapart": "model"')
    if isinstance(version, int) and version > FORMAT:
        raise FormatError(
            f"written by a later tellapart (format {version}; this one reads up to {FORMAT})."
            " Upgrade tellapart, or save it again with the older one"
        )


def write_whole(path: str | Path, data: bytes) -> None:
    """Write a file in one step: beside it first, flushed, then in its place."""
    with replacing(path) as beside, beside.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A path beside `path` to write to. It replaces `path` at the end, or is removed after an
    error.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with replacing(Path(folder, "out.txt")) as beside:
    ...         _ = beside.write_text("done")
    ...     sorted(file.name for file in Path(folder).iterdir())
    ['out.txt']
    """
    path = Path(path)
    if path.is_dir():
        raise FormatError(f"{path} is a folder; give the name of a file")
    try:
        handle, name = tempfile.mkstemp(
            prefix=f".{path.stem}-", suffix=path.suffix, dir=path.parent
        )
    except OSError as error:
        raise FormatError(f"{path}: cannot be written: {error.strerror or error}") from error
    os.close(handle)
    beside = Path(name)
    try:
        yield beside
        with suppress(OSError):  # as readable as a file made without a detour
            beside.chmod(path.stat().st_mode if path.exists() else 0o666 & ~_umask())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
