"""Text files that are not UTF-8."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tellapart.errors import FormatError

_BLOCK = 1 << 20
_LITTLE, _BIG = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE


def is_utf8(encoding: str) -> bool:
    """Whether a name is one of those of UTF-8.

    >>> is_utf8("utf-8"), is_utf8("UTF_8"), is_utf8("cp1252")
    (True, True, False)
    """
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")


def decoded(path: Path, encoding: str) -> Iterator[str]:
    """The text of a file, block by block."""
    try:
        b"any".decode(encoding, "replace")
    except (LookupError, UnicodeError) as error:
        raise FormatError(f"{path.name}: unknown encoding {encoding!r}") from error
    before, block = 0, b""
    with path.open("rb") as file:
        decoder = codecs.getincrementaldecoder(_with_mark(encoding, file.peek(4)))()
        try:
            while block := file.read(_BLOCK):
                yield decoder.decode(block)
                before += len(block)
            yield decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            place = before + len(block) - len(error.object) + error.start
            raise FormatError(
                f"{path.name}: byte {place} is not {encoding}: {error.reason}"
            ) from error


def _with_mark(encoding: str, start: bytes) -> str:
    """UTF-16 without the mark that says which byte of two comes first: the lower one."""
    if codecs.lookup(encoding).name == "utf-16" and start[:2] not in (_LITTLE, _BIG):
        return "utf-16-le"
    return encoding


@contextmanager
def in_utf8(path: Path, encoding: str, folder: Path) -> Iterator[Path]:
    """The file itself if it is UTF-8, else for a while one in `folder` that is."""
    if is_utf8(encoding):
        yield path
        return
    with TemporaryDirectory(dir=folder) as place:
        made = Path(place, path.name)  # the same name, for whoever says what is wrong with it
        with made.open("wb") as file:
            for text in decoded(path, encoding):
                file.write(text.encode())
        yield made
