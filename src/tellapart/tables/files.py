"""The files a name stands for: one, several, those of a folder; unpacked, fetched or piped.

`find_files` says which; `in_plain_files` makes them plain files on this disk for a while.
"""

from __future__ import annotations

import bz2
import glob
import gzip
import sys
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol, TypeAlias
from urllib.parse import urlsplit

from tellapart.errors import FormatError
from tellapart.tables.options import Limits

Place: TypeAlias = "str | Path | Sequence[str | Path]"

KINDS = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt"), "csv"),
    **dict.fromkeys((".jsonl", ".ndjson"), "jsonl"),
    ".json": "json",
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".ipc", ".feather"), "ipc"),
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".xlsb", ".ods"), "excel"),
}
PACKED = (".gz", ".bz2", ".zip")
_CLOUD = ("s3", "s3a", "gs", "gcs", "az", "azure", "abfs", "abfss", "adl", "hf")
_MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2"}
_BEGINNINGS = {b"PAR1": "parquet", b"ARROW1": "ipc", b"[": "json", b"{": "jsonl"}
"""What is piped is a CSV file, unless it begins so."""


@dataclass(frozen=True)
class TableFile:
    """One file of a table."""

    path: str
    """Where it lies: a path, an address, or - for standard input."""
    kind: str
    """csv, jsonl, json, parquet, ipc or excel."""
    packed: str | None = None
    """How it is compressed, if it is: .gz, .bz2 or .zip."""
    partitions: tuple[tuple[str, str], ...] = field(default=())
    """Columns that the names of its folders give: year=2024."""

    @property
    def name(self) -> str:
        """What messages call it."""
        if self.path == "-":
            return "standard input"
        return Path(urlsplit(self.path).path if is_url(self.path) else self.path).name

    @property
    def is_plain(self) -> bool:
        """Whether it can be read where it lies."""
        remote = is_url(self.path) or self.path == "-"
        return self.packed is None and not remote


def is_url(place: str | Path) -> bool:
    """Whether a name is an address on the web or in an object store.

    >>> is_url("https://example.org/a.csv"), is_url("C:/a.csv"), is_url("a.csv")
    (True, False, False)
    """
    return "://" in str(place)


def has_kind(name: str) -> bool:
    """Whether the name of a file says which kind of table it is."""
    return _kind(name)[0] is not None


def is_table(name: str) -> bool:
    """Whether a file of a folder is likely a table, by its name: a text or JSON file need not be.

    >>> has_kind("notes.txt"), is_table("notes.txt"), is_table("notes.csv")
    (True, False, True)
    """
    return has_kind(name) and not name.lower().endswith((".txt", ".json"))


def find_files(place: Place) -> list[TableFile]:
    """The files a name stands for, all of one kind; there is at least one, and none is empty."""
    if isinstance(place, str | Path):
        found = _find(str(place))
    else:
        found = [file for one in place for file in _find(str(one))]
        if not found:
            raise FormatError("no file was given")
    kinds = sorted({file.kind for file in found})
    if len(kinds) > 1:
        names = [next(f.name for f in found if f.kind == kind) for kind in kinds[:2]]
        raise FormatError(
            f"files of different kinds cannot be one table: {names[0]} and {names[1]}. Name those"
            " of one kind, such as 'folder/*.csv'"
        )
    return found


def _find(place: str) -> list[TableFile]:
    if place == "-":
        return [TableFile("-", "")]
    if is_url(place):
        if not place.startswith(("http://", "https://")) and glob.has_magic(place):
            raise FormatError(
                f"{place}: patterns are for files of this machine. Name the addresses, as a list in"
                " Python, or copy the files"
            )
        return [_one(place)]
    path = Path(place)
    if path.is_dir():
        inside = ((one, one.relative_to(path).parts) for one in sorted(path.rglob("*")))
        shown = (one for one, parts in inside if not any(p.startswith((".", "_")) for p in parts))
        found = [str(one) for one in shown if one.is_file() and has_kind(one.name)]
        if not found:
            raise FormatError(
                f"{path} is a folder without a table: cannot tell what kind of file to read"
            )
    elif not path.exists() and glob.has_magic(place):
        found = sorted(one for one in glob.glob(place, recursive=True) if Path(one).is_file())
        if not found:
            raise FormatError(f"{place}: no file has such a name")
    else:
        return [_check(_one(place))]
    return [_check(replace(_one(one), partitions=_partitions(one))) for one in found]


def _partitions(path: str) -> tuple[tuple[str, str], ...]:
    pairs = (part.partition("=") for part in Path(path).parts[:-1] if "=" in part)
    return tuple((key, value) for key, _, value in pairs if key)


def _one(place: str) -> TableFile:
    kind, packed = _kind(urlsplit(place).path if is_url(place) else place)
    if kind is None:
        endings = ", ".join(sorted((*KINDS, *PACKED)))
        raise FormatError(
            f"{place}: cannot tell what kind of file this is. Known endings are {endings}"
        )
    return TableFile(place, kind, packed)


def _kind(name: str) -> tuple[str | None, str | None]:
    suffixes = [suffix.lower() for suffix in Path(name).suffixes[-2:]]
    if suffixes and suffixes[-1] in PACKED:
        inner = KINDS.get(suffixes[0]) if len(suffixes) > 1 else None
        return (inner or ("" if suffixes[-1] == ".zip" else None)), suffixes[-1]
    return (KINDS.get(suffixes[-1]) if suffixes else None), None


def _check(file: TableFile) -> TableFile:
    """The file is there and holds something; compressed ones are noticed by their first bytes."""
    path = Path(file.path)
    try:
        with path.open("rb") as opened:
            start = opened.read(4096)
    except OSError as error:
        raise FormatError(f"{path}: cannot be read: {error.strerror or error}") from error
    if not start.strip(b"\xef\xbb\xbf \t\r\n"):
        raise FormatError(f"{path.name} is empty: a table begins with the names of its columns")
    if file.packed is None and file.kind in ("csv", "jsonl", "json"):
        packed = next((end for magic, end in _MAGIC.items() if start.startswith(magic)), None)
        return replace(file, packed=packed)
    if file.packed == ".zip":
        return replace(file, kind=_member(path)[1])
    return file


def _member(path: Path) -> tuple[str, str]:
    """The one table in a zip file, and its kind."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [one.filename for one in archive.infolist() if not one.is_dir()]
    except (zipfile.BadZipFile, OSError) as error:
        raise FormatError(f"{path.name} is no zip file: {error}") from error
    names = [n for n in names if not n.startswith("__MACOSX") and Path(n).name[0] != "."]
    if len(names) != 1:
        some = ", ".join(names[:5])
        raise FormatError(
            f"{path.name} holds {len(names)} files ({some}), and one is wanted. Unpack it, and name"
            " the file"
        )
    kind, packed = _kind(names[0])
    if kind is None or packed is not None:
        raise FormatError(
            f"{path.name} holds {names[0]}: cannot tell what kind of file this is. Unpack it"
        )
    return names[0], kind


@contextmanager
def in_plain_files(
    files: Sequence[TableFile], limits: Limits, folder: Path | None = None
) -> Iterator[list[TableFile]]:
    """The files as plain ones: others are unpacked or fetched into `folder` meanwhile."""
    if all(file.is_plain for file in files):
        yield list(files)
        return
    with TemporaryDirectory(dir=folder) as place:
        made = []
        for number, file in enumerate(files):
            inside = Path(place, str(number))
            inside.mkdir()
            made.append(file if file.is_plain else _plain(file, limits, inside))
        yield made


def _plain(file: TableFile, limits: Limits, folder: Path) -> TableFile:
    if file.path == "-":
        target = folder / "standard input"
        _copy(sys.stdin.buffer, target, limits)
        with target.open("rb") as opened:
            start = opened.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
        kind = next((kind for begin, kind in _BEGINNINGS.items() if start.startswith(begin)), "csv")
        file = _check(replace(file, path=str(target), kind=kind))
    elif is_url(file.path):
        file = _check(_fetched(file, limits, folder))
    if file.packed is None:
        return file
    source = Path(file.path)
    target = folder / "unpacked" / (source.name.removesuffix(file.packed) or "unpacked")
    target.parent.mkdir()
    try:
        if file.packed == ".zip":
            member, kind = _member(source)
            target = target.with_name(Path(member).name)
            file = replace(file, kind=kind)
            with zipfile.ZipFile(source) as archive, archive.open(member) as opened:
                _copy(opened, target, limits, source.name)
        else:
            opener = gzip.open if file.packed == ".gz" else bz2.open
            with opener(source, "rb") as unpacked:
                _copy(unpacked, target, limits, source.name)
    except (OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        what = f"cannot be unpacked: {error}. Is it whole?"
        raise FormatError(f"{file.name} {what}") from error
    return _check(replace(file, path=str(target), packed=None))


class _Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


def _copy(source: _Readable, target: Path, limits: Limits, name: str = "") -> None:
    """Write a file; `name` is what it is called if it is too long."""
    size = 0
    with target.open("wb") as made:
        while block := source.read(1 << 20):
            limits.check(name or target.name, "bytes", size := size + len(block))
            made.write(block)


def _fetched(file: TableFile, limits: Limits, folder: Path) -> TableFile:
    """A file from the web."""
    scheme = urlsplit(file.path).scheme
    if scheme in _CLOUD:
        raise FormatError(
            f"{file.path}: only Parquet and Arrow files are read from an object store. Copy it to"
            " this disk, and name the copy"
        )
    if scheme not in ("http", "https"):
        raise FormatError(
            f"{file.path}: cannot read {scheme}://. Known are files, http(s)://, object stores"
            f" ({', '.join(f'{one}://' for one in ('s3', 'gs', 'az', 'hf'))}), postgresql://,"
            " duckdb:FILE and sqlite:FILE"
        )
    target = folder / (file.name or "fetched")
    request = urllib.request.Request(file.path, headers={"User-Agent": "tellapart"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            _copy(answer, target, limits)
    except (urllib.error.URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise FormatError(f"{file.path}: cannot be fetched: {reason}") from error
    return replace(file, path=str(target))
