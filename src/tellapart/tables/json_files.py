"""JSON: an object on each line, or an array of objects."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tellapart.errors import FormatError
from tellapart.tables.frames import first_line

if TYPE_CHECKING:
    import polars as pl


def read_jsonl(path: Path) -> pl.DataFrame:
    """A file with an object on each line."""
    import polars as pl

    try:  # the whole file tells the types: a key may first come in the last line
        frame = pl.read_ndjson(path, infer_schema_length=None)
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
        find_bad_line(path)
        raise FormatError(f"{path.name} is no JSON lines file: {first_line(error)}") from error
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    if texts:
        refuse_mixed(path, frame.lazy().select(texts))
    _refuse_twice(path)
    return frame


def _refuse_twice(path: Path) -> None:
    """Raise if one of the first objects has a key twice: some read the first, some the last."""
    with path.open("rb") as lines:
        for number, line in enumerate(islice(lines, 1000), 1):
            with suppress(json.JSONDecodeError, UnicodeDecodeError):  # an empty line
                json.loads(line, object_pairs_hook=_once(f"{path.name} line {number}"))


def _once(where: str) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    def check(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise FormatError(
                f"{where}: an object has {twice!r} twice. Rename one, or leave it out"
            )
        return made

    return check


def read_json(path: Path) -> pl.DataFrame:
    """A file with one array of objects; one with an object on each line is read as such."""
    import polars as pl

    text = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    odd: list[str] = []
    try:
        found = json.loads(
            text.decode("utf-8"), parse_constant=odd.append, object_pairs_hook=_once(path.name)
        )
    except UnicodeDecodeError as error:
        raise FormatError(f"{path.name}: not UTF-8 ({error.reason}). Save it as UTF-8") from error
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and text.lstrip().startswith(b"{"):
            return read_jsonl(path)
        raise FormatError(
            f"{path.name} line {error.lineno}, column {error.colno}: not JSON: {error.msg}"
        ) from error
    if odd:
        raise FormatError(f"{path.name}: {odd[0]} is not JSON. Write null, which is unknown")
    if isinstance(found, dict):
        inside = [name for name, value in found.items() if isinstance(value, list)]
        if not inside and text.count(b"\n") <= 1:
            return read_jsonl(path)
        hint = f", such as what is in {inside[0]!r}" if inside else ""
        raise FormatError(
            f"{path.name} holds one object, and an array of objects is wanted{hint}. Save that"
        )
    if not isinstance(found, list):
        raise FormatError(
            f"{path.name} holds {_json_kind(found)}, and an array of objects is wanted"
        )
    kinds = _Kinds()
    for number, one in enumerate(found):
        kinds.check(path, f"element {number}", one)
    try:
        return pl.DataFrame(found, infer_schema_length=None)
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise FormatError(f"{path.name} cannot be read: {first_line(error)}") from error


class _Kinds:
    """The kind of the values of each key, and where it was first seen."""

    def __init__(self, columns: frozenset[str] | None = None) -> None:
        self._columns = columns
        self._first: dict[str, tuple[str, str]] = {}

    def check(self, path: Path, where: str, row: Any) -> None:
        """Raise if `row` is no object, or has a value of another kind than before."""
        if not isinstance(row, dict):
            raise FormatError(
                f'{path.name} {where}: an object is wanted, like {{"legs": 4}}, found'
                f" {_json_kind(row)}"
            )
        for name, value in row.items():
            if value is None or (self._columns is not None and name not in self._columns):
                continue
            kind = _json_kind(value)
            before, there = self._first.setdefault(name, (kind, where))
            if before != kind:
                raise FormatError(
                    f"{path.name} {where}: {name!r} is {kind} here but {before} in {there}. Make it"
                    " the same everywhere, or null where it is unknown"
                )


def refuse_mixed(path: Path, texts: pl.LazyFrame) -> None:
    """Raise if numbers, lists or objects and texts in one column have become `texts`."""
    import polars as pl

    number = pl.all().cast(pl.Float64, strict=False).is_not_null()
    looks = texts.select((number | pl.all().str.contains(r"^[\[{]")).any())
    try:
        found = looks.collect(engine="streaming").row(0, named=True)
    except pl.exceptions.PolarsError:  # reading the file will report it
        return
    mixed = frozenset(name for name, some in found.items() if some)
    if mixed:
        find_bad_line(path, mixed)


def find_bad_line(path: Path, columns: frozenset[str] | None = None) -> None:
    """Read line by line, and say what is wrong with the first line where something is.

    `columns`: only these are looked at for values of different types.
    """
    kinds = _Kinds(columns)
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            where = f"{path.name} line {number}"
            if number == 1 and line.startswith(b"\xef\xbb\xbf"):
                raise FormatError(
                    f"{where}: the file starts with a byte order mark (BOM), which JSON lines must"
                    " not have. Save it as UTF-8 without BOM"
                )
            try:
                odd: list[str] = []
                found = json.loads(line.decode("utf-8"), parse_constant=odd.append)
            except UnicodeDecodeError as error:
                raise FormatError(
                    f"{where}: not UTF-8 ({error.reason}). Save it as UTF-8"
                ) from error
            except json.JSONDecodeError as error:
                raise FormatError(
                    f"{where}, column {error.colno}: not JSON: {error.msg}. Each line is one object"
                    ' like {"legs": 4}'
                ) from error
            if odd:
                raise FormatError(f"{where}: {odd[0]} is not JSON. Write null, which is unknown")
            kinds.check(path, f"line {number}", found)


def _json_kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list) else "an object"
