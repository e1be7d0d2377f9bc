"""JSON: an object on each line, or an array of objects.

A column whose values have several types is read as texts, and said.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tellapart.errors import FormatError
from tellapart.tables.findings import Finding
from tellapart.tables.frames import broken, first_line
from tellapart.tables.limits import Limits

if TYPE_CHECKING:
    import polars as pl


def read_json_lines(path: Path, limits: Limits) -> tuple[pl.DataFrame, list[Finding]]:
    """A file with an object on each line."""
    import polars as pl

    check_keys(path, objects_in_lines(path), limits)
    try:  # the whole file tells the types: a key may first come in the last line
        lazy = pl.scan_ndjson(path, infer_schema_length=None)
        limits.check(path.name, "columns", len(lazy.collect_schema()))
        frame = lazy.collect()
    except broken():
        return _from_objects(path, objects_in_lines(path), limits)
    if may_be_mixed(frame.lazy()):
        return _from_objects(path, objects_in_lines(path), limits)
    return frame, []


def check_keys(path: Path, objects: Iterable[tuple[str, Any]], limits: Limits) -> None:
    """Raise if objects have too many different keys, for which Polars takes very long; after a
    thousand without a new one, no more are looked at. Reading lines also raises for a key that is
    there twice, of which Polars takes one."""
    known: set[tuple[str, ...]] = set()
    since = 0
    for _, found in objects:
        before = len(known)
        known.update(_keys(found, ()))
        if len(known) > before:
            limits.check(path.name, "columns", len(known))
            since = 0
        elif (since := since + 1) == 1000:
            break


def _keys(value: Any, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The keys of an object, and of the objects in it."""
    if isinstance(value, list):
        for one in value:
            yield from _keys(one, above)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield (*above, name)
            yield from _keys(inner, (*above, name))


def may_be_mixed(frame: pl.LazyFrame) -> bool:
    """Whether numbers, lists or objects and texts in one column may have become texts."""
    import polars as pl

    schema = frame.collect_schema()
    texts = frame.select(n for n, dtype in schema.items() if dtype == pl.String)
    if not texts.collect_schema():
        return False
    number = pl.all().cast(pl.Float64, strict=False).is_not_null()
    looks = texts.select((number | pl.all().str.contains(r"^[\[{]|^true$|^false$")).any())
    try:
        return any(looks.collect(engine="streaming").row(0))
    except pl.exceptions.PolarsError:  # reading the file will report it
        return False


def objects_in_lines(path: Path) -> Iterator[tuple[str, Any]]:
    """Where each object of JSON lines is, and the object; or what is wrong with its line."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            where = f"line {number}"
            if number == 1 and line.startswith(b"\xef\xbb\xbf"):
                raise FormatError(
                    f"{path.name} {where}: the file starts with a byte order mark (BOM), which"
                    " JSON lines must not have. Save it as UTF-8 without BOM"
                )
            yield where, _parsed(line, f"{path.name} {where}", of_line=True)


def read_json(path: Path, limits: Limits) -> tuple[pl.DataFrame, list[Finding]]:
    """A file with one array of objects; one with an object on each line is read as such."""
    text = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    try:
        found = _parsed(text, path.name)
    except FormatError as error:
        extra = getattr(error.__cause__, "msg", "") == "Extra data"
        if extra and text.lstrip().startswith(b"{"):
            return read_json_lines(path, limits)
        raise
    if isinstance(found, dict):
        inside = [name for name, value in found.items() if isinstance(value, list)]
        if not inside and text.count(b"\n") <= 1:
            return read_json_lines(path, limits)
        hint = f", such as what is in {inside[0]!r}" if inside else ""
        raise FormatError(
            f"{path.name} holds one object, and an array of objects is wanted{hint}. Save that"
        )
    if not isinstance(found, list):
        raise FormatError(f"{path.name} holds {_kind(found)}, and an array of objects is wanted")
    elements = [(f"element {n}", one) for n, one in enumerate(found)]
    check_keys(path, elements, limits)
    return _from_objects(path, elements, limits)


def _parsed(text: bytes, where: str, *, of_line: bool = False) -> Any:
    odd: list[str] = []
    try:
        found = json.loads(
            text.decode("utf-8"), parse_constant=odd.append, object_pairs_hook=_once(where)
        )
    except UnicodeDecodeError as error:
        raise FormatError(f"{where}: not UTF-8 ({error.reason}). Save it as UTF-8") from error
    except json.JSONDecodeError as error:
        line = "" if of_line else f" line {error.lineno}"
        advice = '. Each line is one object like {"legs": 4}' if of_line else ""
        raise FormatError(
            f"{where}{line}, column {error.colno}: not JSON: {error.msg}{advice}"
        ) from error
    except RecursionError as error:
        raise FormatError(
            f"{where}: lists and objects in each other, too deeply to be read. Leave them out, or"
            " write them as texts"
        ) from error
    except FormatError:
        raise
    except ValueError as error:  # of Python, for thousands of digits
        raise FormatError(
            f"{where}: a whole number with too many digits. Write it as a text, or round it"
        ) from error
    if odd:
        raise FormatError(f"{where}: {odd[0]} is not JSON. Write null, which is unknown")
    return found


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


def _from_objects(
    path: Path, objects: Iterable[tuple[str, Any]], limits: Limits
) -> tuple[pl.DataFrame, list[Finding]]:
    """Objects as a table; columns of several types become texts."""
    import polars as pl

    rows: list[Mapping[str, Any]] = []
    mixed = _mixed(path, objects, rows)
    limits.check(path.name, "columns", len(set().union(*rows)))
    names = {one.column for one in mixed}
    if mixed:
        rows = [{n: _text(v) if n in names else v for n, v in row.items()} for row in rows]
    try:
        return pl.DataFrame(rows, infer_schema_length=None), mixed
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise FormatError(f"{path.name} cannot be read: {first_line(error)}") from error


def mixed_columns(path: Path, columns: Sequence[str]) -> list[Finding]:
    """Which columns of JSON lines that Polars reads as texts have values of several types."""
    import polars as pl

    if not may_be_mixed(pl.scan_ndjson(path, infer_schema_length=None).select(columns)):
        return []
    return [one for one in _mixed(path, objects_in_lines(path), []) if one.column in columns]


def _mixed(
    path: Path, objects: Iterable[tuple[str, Any]], rows: list[Mapping[str, Any]]
) -> list[Finding]:
    """The columns of several types; the objects are added to `rows`."""
    kinds: dict[str, dict[str, Any]] = {}
    for where, one in objects:
        if not isinstance(one, dict):
            raise FormatError(
                f'{path.name} {where}: an object is wanted, like {{"legs": 4}}, found {_kind(one)}'
            )
        rows.append(one)
        for name, value in one.items():
            if value is not None:
                kinds.setdefault(name, {}).setdefault(_kind(value), value)
    return [
        Finding(
            name, "mixed", {"words": " and ".join(f"{_text(one):.20}" for one in seen.values())}
        )
        for name, seen in kinds.items()
        if len(seen) > 1
    ]


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list) else "an object"
