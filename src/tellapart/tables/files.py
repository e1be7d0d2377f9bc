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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol, TypeAlias
from urllib.parse import urlsplit

from tellapart.errors import FormatError
from tellapart.tables.limits import Limits

Place: TypeAlias = "str | Path | Sequence[str | Path]"

KINDS = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt"), "csv"),
    **dict.fromkeys((".jsonl", ".ndjson"), "jsonl"),
    ".json": "json",
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".ipc", ".feather"), "ipc"),
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".xlsb", ".ods"), "excel"),
}
PACKED = (".gz", ".bz2", ".zst", ".zip")
_CLOUD = ("s3", "s3a", "gs", "gcs", "az", "azure", "abfs", "abfss", "adl", "hf")
_MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\x28\xb5\x2f\xfd": ".zst", b"PK\x03\x04": ".zip"}


@dataclass(frozen=True)
class TableFile:
    """One file of a table."""

    path: str
    """Where it lies: a path, an address, or - for standard input."""
    kind: str
    """csv, jsonl, json, parquet, ipc or excel."""
    packed: str | None = None
    """How it is compressed, if it is: .gz, .bz2, .zst or .zip."""
    partitions: tuple[tuple[str, str], ...] = field(default=())
    """Columns that the names of its folders give: year=2024."""

    @property
    def name(self) -> str:
        """What messages call it."""
        if self.path == "-":
            return "standard input"
        return (
            urlsplit(self.path).path.rsplit("/", 1)[-1]
            if is_url(self.path)
            else Path(self.path).name
        )

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
        return _in_folder(path)
    if not path.exists() and glob.has_magic(place):
        return _matching(place)
    return [_check(_one(place))]


def _in_folder(folder: Path) -> list[TableFile]:
    inside = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not any(p.startswith((".", "_")) for p in path.relative_to(folder).parts)
    ]
    known = [path for path in inside if _kind(path.name)[0] is not None]
    if not known:
        raise FormatError(
            f"{folder} is a folder without a table: cannot tell what kind of file to read"
        )
    return [_check(_one(str(path), folder)) for path in known]


def _matching(place: str) -> list[TableFile]:
    fixed = Path(*[part for part in Path(place).parts if not glob.has_magic(part)][:1] or ["."])
    found = sorted(path for path in glob.glob(place, recursive=True) if Path(path).is_file())
    if not found:
        raise FormatError(f"{place}: no file has such a name")
    return [_check(_one(path, fixed)) for path in found]


def _one(place: str, root: Path | None = None) -> TableFile:
    name = urlsplit(place).path if is_url(place) else place
    kind, packed = _kind(name)
    if kind is None:
        endings = ", ".join(sorted((*KINDS, *PACKED)))
        raise FormatError(
            f"{place}: cannot tell what kind of file this is. Known endings are {endings}"
        )
    folders = Path(place).parts[:-1] if root is not None else ()
    pairs = (part.partition("=") for part in folders if "=" in part)
    return TableFile(place, kind, packed, tuple((key, value) for key, _, value in pairs if key))


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
        if packed not in (None, ".zip"):
            return replace(file, packed=packed)
    if file.packed == ".zip":
        return replace(file, kind=_member(path)[1])
    return file


def _member(path: Path) -> tuple[str, str]:
    """The one table in a zip file, and its kind."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [i.filename for i in archive.infolist() if not i.is_dir()]
            names = [
                n
                for n in names
                if not n.startswith("__MACOSX") and not Path(n).name.startswith(".")
            ]
    except (zipfile.BadZipFile, OSError) as error:
        raise FormatError(f"{path.name} is no zip file: {error}") from error
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


class _Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


_Copy: TypeAlias = Callable[[_Readable, Path], None]


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
    def copy(source: _Readable, target: Path) -> None:
        size = 0
        with target.open("wb") as made:
            while block := source.read(1 << 20):
                limits.check(file.name, "bytes", size := size + len(block))
                made.write(block)

    if file.path == "-":
        copy(sys.stdin.buffer, folder / "piped")
        file = _sniffed(replace(file, path=str(folder / "piped")), limits)
    elif is_url(file.path):
        file = _fetch(file, folder, copy)
    if file.packed is None:
        return _check(file)
    source = Path(file.path)
    name = source.name.removesuffix(file.packed) or "unpacked"
    target = folder / "unpacked" / name
    target.parent.mkdir()
    try:
        if file.packed == ".zip":
            member, kind = _member(source)
            target = target.with_name(Path(member).name)
            file = replace(file, kind=kind)
            with zipfile.ZipFile(source) as archive, archive.open(member) as opened:
                copy(opened, target)
        elif file.packed == ".zst":
            copy(_Lines(source), target)
        else:
            opener = gzip.open if file.packed == ".gz" else bz2.open
            with opener(source, "rb") as unpacked:
                copy(unpacked, target)
    except (OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        what = f"cannot be unpacked: {error}. Is it whole?"
        raise FormatError(f"{file.name} {what}") from error
    return _check(replace(file, path=str(target), packed=None))


class _Lines:
    """A packed or distant file, unpacked or fetched by Polars, line by line."""

    def __init__(self, place: Path | str) -> None:
        import polars as pl

        self._batches = pl.scan_lines(place).collect_batches()

    def read(self, size: int = -1, /) -> bytes:
        """The next lines, and nothing at the end."""
        import polars as pl

        try:
            batch = next(self._batches, None)
        except pl.exceptions.PolarsError as error:
            raise OSError(str(error).partition("\n")[0]) from error
        if batch is None:
            return b""
        return b"".join(line.encode() + b"\n" for line in batch.to_series().to_list())


def _sniffed(file: TableFile, limits: Limits) -> TableFile:
    """What was piped, by its first bytes."""
    path = Path(file.path)
    with path.open("rb") as opened:
        start = opened.read(4096)
    packed = next((end for magic, end in _MAGIC.items() if start.startswith(magic)), None)
    if packed is not None:
        plain = _plain(replace(file, packed=packed, kind="csv"), limits, path.parent)
        return plain if packed == ".zip" else _sniffed(plain, limits)
    text = start.lstrip(b"\xef\xbb\xbf \t\r\n")
    kind = "csv"
    for begin, found in ((b"PAR1", "parquet"), (b"ARROW1", "ipc"), (b"[", "json"), (b"{", "jsonl")):
        if text.startswith(begin):
            kind = found
    if not text:
        raise FormatError("standard input is empty: a table begins with the names of its columns")
    target = path.with_name("standard input")
    path.rename(target)
    return replace(file, path=str(target), kind=kind, packed=None)


def _fetch(file: TableFile, folder: Path, copy: _Copy) -> TableFile:
    """A file from the web, or from an object store through Polars."""
    target = folder / (file.name or "fetched")
    scheme = urlsplit(file.path).scheme
    if scheme in ("http", "https"):
        request = urllib.request.Request(file.path, headers={"User-Agent": "tellapart"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                copy(answer, target)
        except (urllib.error.URLError, OSError, ValueError) as error:
            reason = getattr(error, "reason", None) or error
            raise FormatError(f"{file.path}: cannot be fetched: {reason}") from error
        return replace(file, path=str(target))
    if scheme not in _CLOUD:
        raise FormatError(
            f"{file.path}: cannot read {scheme}://. Known are files, http(s)://, object stores"
            f" ({', '.join(f'{one}://' for one in ('s3', 'gs', 'az', 'hf'))}), postgresql://,"
            " duckdb:FILE and sqlite:FILE"
        )
    import polars as pl

    if file.packed in (".bz2", ".zip") or file.kind not in ("csv", "jsonl", "json"):
        raise FormatError(f"{file.path}: copy it to this disk, and name the copy")
    try:
        copy(_Lines(file.path), target)
    except (OSError, pl.exceptions.PolarsError) as error:
        said = str(error).partition(": Error performing")[0].partition("\n")[0]
        raise FormatError(f"{file.path}: cannot be read: {said}") from error
    return replace(file, path=str(target), packed=None)
