"""Items, labels and features as JSON values, and back, exactly.

Plain JSON values stand for themselves. Everything else is an object with one key that starts
with a dollar sign: `{"$tuple": [...]}`, `{"$set": [...]}`, `{"$not": ...}`. Rooms above register
their own kinds with `register`. A set is written in sorted order, so equal values give equal text.

Other values (a bare function, an object of yours) are refused with a message that says what to do.
Items of a world are written as their number and found again with `items=`.
"""

from __future__ import annotations

import copy
import importlib
import json
import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from numbers import Integral
from typing import Any

from tellapart.errors import FormatError


@dataclass(frozen=True)
class Context:
    """What JSON cannot carry and the reader must supply."""

    items: Sequence[Any] | None = None
    """The items that `{"$item": 17}` refers to."""
    features: Mapping[str, Callable[[Any], bool]] = field(default_factory=dict)
    """The functions behind named features."""
    holds: Callable[[Any, Any], bool] | None = None
    """How a learner made with a `holds` of its own reads features."""


_writers: dict[type, tuple[str, Callable[[Any], Any]]] = {}
_readers: dict[str, Callable[[Any, Context], Any]] = {}


def register(
    kind: type,
    tag: str,
    write: Callable[[Any], Any],
    read: Callable[[Any, Context], Any],
) -> None:
    """Teach the codec a kind of value: `write` gives a JSON value, `read` takes it back."""
    _writers[kind] = (tag, write)
    _readers[tag] = read


def encode(value: Any) -> Any:
    """`value` as something `json.dumps` can write.

    >>> encode(("legs", frozenset({"b", "a"})))
    {'$tuple': ['legs', {'$set': ['a', 'b']}]}
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Integral):  # numpy's whole numbers, equal to Python's
        return int(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(value)}
    if type(value) in _writers:
        tag, write = _writers[type(value)]
        return {tag: write(value)}
    if isinstance(value, tuple):
        return {"$tuple": [encode(part) for part in value]}
    if isinstance(value, list):
        return [encode(part) for part in value]
    if isinstance(value, set | frozenset):
        return {"$set": sorted(map(encode, value), key=partial(json.dumps, sort_keys=True))}
    if isinstance(value, Mapping):
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {key: encode(part) for key, part in value.items()}
        return {"$map": [[encode(key), encode(part)] for key, part in value.items()]}
    raise FormatError(
        f"cannot write {value!r} ({type(value).__name__}) as JSON. Use names, numbers, tuples, sets"
        " or mappings; give a function a name with tellapart.features.Named(name, function)"
    )


def decode(value: Any, context: Context | None = None) -> Any:
    """The inverse of `encode`.

    >>> decode({"$tuple": ["legs", {"$set": ["a"]}]})
    ('legs', frozenset({'a'}))
    """
    try:
        return _decode(value, context or Context())
    except RecursionError:
        raise FormatError("cannot read a value that is nested so deeply") from None


def _decode(value: Any, context: Context) -> Any:
    if isinstance(value, list):
        return [_decode(part, context) for part in value]
    if not isinstance(value, dict):
        return value
    tag = next(iter(value), "")
    if not tag.startswith("$"):
        return {key: _decode(part, context) for key, part in value.items()}
    _find(tag)
    if tag not in _readers or len(value) != 1:
        raise FormatError(f"unknown kind of value {tag!r}; known are {', '.join(sorted(_readers))}")
    try:
        return _readers[tag](value[tag], context)
    except (TypeError, ValueError, KeyError, IndexError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"cannot read {json.dumps(value)[:80]}: {error}") from error


_compact: ContextVar[bool] = ContextVar("compact", default=False)


@contextmanager
def compactly() -> Iterator[None]:
    """Write items of a sequence that the reader has as their places (`Context.items`)."""
    before = _compact.set(True)
    try:
        yield
    finally:
        _compact.reset(before)


def is_compact() -> bool:
    """Whether values are written `compactly`."""
    return _compact.get()


def _find(tag: str) -> None:
    """Import the rooms that register kinds until one knows `tag`."""
    for room in ("features", "tables", "worlds"):
        if tag in _readers:
            return
        importlib.import_module(f"tellapart.{room}")


def dump(value: Any) -> str:
    """The JSON text of an encoded value: one form, so equal values give equal bytes."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def parse(text: str) -> dict[str, Any]:
    """A JSON object out of `text`, or a `FormatError` that says where it stops being one."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:  # also for a number of thousands of digits
        raise FormatError(f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise FormatError(f"expected a JSON object, got {type(value).__name__}")
    return value


def identity(item: Any) -> Hashable:
    """What makes an item the same item when it comes again: itself, or its frozen contents.

    A mapping with an `identity` of its own, such as the row of a table, is that.

    >>> identity({"legs": 4}) == identity({"legs": 4})
    True
    """
    if type(item) is frozenset:
        return item
    if isinstance(item, set):
        return frozenset(item)
    if isinstance(item, Mapping) and hasattr(item, "identity"):
        own: Hashable = item.identity
        return own
    try:
        hash(item)
    except TypeError:
        if isinstance(item, Mapping):
            return frozenset((key, _hashable(part)) for key, part in item.items())
        raise FormatError(
            f"cannot remember {item!r} ({type(item).__name__}): it is not hashable."
            " Use a mapping, a set or an object with a hash, or remember=False"
        ) from None
    same: Hashable = item
    return same


def _hashable(part: Any) -> Hashable:
    if isinstance(part, list | tuple):
        return tuple(map(_hashable, part))
    # a NaN equals nothing, itself included, yet a missing value is the same when it comes again
    return ("nan",) if isinstance(part, float) and math.isnan(part) else identity(part)


def keep(item: Any) -> Any:
    """A copy of `item` that changes of the original do not reach."""
    if isinstance(item, set):
        return frozenset(item)
    if type(item) is dict:
        return {key: keep(part) for key, part in item.items()}
    if type(item) is list:
        return [keep(part) for part in item]
    if isinstance(item, _CHANGING) and not isinstance(item, Hashable):
        return copy.copy(item)
    return item


_CHANGING = (dict, list)

register(date, "$date", date.isoformat, lambda text, c: date.fromisoformat(text))
register(datetime, "$datetime", datetime.isoformat, lambda text, c: datetime.fromisoformat(text))
_readers["$tuple"] = lambda parts, c: tuple(decode(parts, c))
_readers["$set"] = lambda parts, c: frozenset(decode(parts, c))
_readers["$map"] = lambda pairs, c: {decode(k, c): decode(v, c) for k, v in pairs}
_readers["$float"] = lambda text, c: float(text)
