"""JSON: an object on each line, or an array of objects.

A column whose values have several types is read as texts, and said.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from tellapart.errors import FormatError
from tellapart.tables.findings import Finding
from tellapart.tables.frames import BROKEN, first_line
from tellapart.tables.options import Limits


def read_json_lines(
    path: Path, limits: Limits, *, later: bool = False, look: int | None = None
) -> tuple[pl.LazyFrame, list[Finding]]:
    """A file with an object on each line; read `later`, if Polars can read it. `look`: only so many
    lines tell the types; others may not fit, which reading shows."""
    _check_keys(path, objects_in_lines(path), limits)
    try:  # the whole file tells the types: a key may first come in the last line
        frame = pl.scan_ndjson(path, infer_schema_length=look)
        limits.check(path.name, "columns", len(frame.collect_schema()))
        frame = frame if later else frame.collect().lazy()
        if look is not None or not _may_be_mixed(frame):
            return frame, []
    except BROKEN:
        pass
    return _from_objects(path, objects_in_lines(path), limits)


def read_json(path: Path, limits: Limits) -> tuple[pl.LazyFrame, list[Finding]]:
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
    _check_keys(path, elements, limits)
    return _from_objects(path, elements, limits)


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


def _check_keys(path: Path, objects: Iterable[tuple[str, Any]], limits: Limits) -> None:
    """Raise if objects have too many different keys, for which Polars takes very long; after a
    thousand without a new one, no more are looked at. Reading them also raises for a key that is
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


def _may_be_mixed(frame: pl.LazyFrame) -> bool:
    """Whether numbers, lists or objects and texts in one column may have become texts."""
    texts = frame.select(pl.col(pl.String))
    if not texts.collect_schema():
        return False
    number = pl.all().cast(pl.Float64, strict=False).is_not_null()
    looks = texts.select((number | pl.all().str.contains(r"^[\[{]|^true$|^false$")).any())
    return any(looks.collect(engine="streaming").row(0))


def _parsed(text: bytes, where: str, *, of_line: bool = False) -> Any:
    odd: list[str] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        for name, _ in pairs if len(made) < len(pairs) else ():
            if sum(name == other for other, _ in pairs) > 1:
                raise FormatError(
                    f"{where}: an object has {name!r} twice. Rename one, or leave it out"
                )
        return made

    try:
        found = json.loads(text.decode("utf-8"), parse_constant=odd.append, object_pairs_hook=once)
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


def _from_objects(
    path: Path, objects: Iterable[tuple[str, Any]], limits: Limits
) -> tuple[pl.LazyFrame, list[Finding]]:
    """Objects as a table; columns of several types become texts."""
    rows: list[Mapping[str, Any]] = []
    kinds: dict[str, dict[str, Any]] = {}  # of each column, with an example
    for where, one in objects:
        if not isinstance(one, dict):
            raise FormatError(
                f'{path.name} {where}: an object is wanted, like {{"legs": 4}}, found {_kind(one)}'
            )
        rows.append(one)
        for name, value in one.items():
            if value is not None:
                kinds.setdefault(name, {}).setdefault(_kind(value), value)
    limits.check(path.name, "columns", len(set().union(*rows)))
    mixed = {name: seen for name, seen in kinds.items() if len(seen) > 1}
    if mixed:
        rows = [{n: as_text(v) if n in mixed else v for n, v in row.items()} for row in rows]
    findings = []
    for name, seen in mixed.items():
        words = " and ".join(f"{as_text(one):.20}" for one in seen.values())
        findings.append(Finding(name, "mixed", {"words": words}))
    try:
        return pl.DataFrame(rows, infer_schema_length=None).lazy(), findings
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise FormatError(f"{path.name} cannot be read: {first_line(error)}") from error


def as_text(value: Any) -> str | None:
    """A value of JSON in a column of texts."""
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
