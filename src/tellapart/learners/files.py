"""Learners as JSON text: what they were made with, and what their public attributes hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tellapart import codec
from tellapart.errors import FormatError, TellapartError
from tellapart.learners.base import BaseLearner
from tellapart.model import Holds, holds
from tellapart.protocol import Guess, Inconsistency, Item

FORMAT = 2
"""The version of a learner's file."""


def to_json(learner: BaseLearner) -> str:
    """A learner as text; `load_learner` gives it back, exactly."""
    return codec.dump({"tellapart": "learner", "format": FORMAT, **to_dict(learner)})


def to_dict(learner: BaseLearner) -> dict[str, Any]:
    """Parameters and everything learnt, as JSON values."""
    parameters = learner.clone().parameters()
    state = {name: _encode(value, name) for name, value in learner.state().items()}
    return {
        "learner": type(learner).__name__,
        "parameters": {name: _encode(value, name) for name, value in parameters.items()},
        "remember": learner.remember,
        "custom_holds": learner.holds is not holds,
        "state": state,
    }


def from_dict(data: Mapping[str, Any], context: codec.Context) -> BaseLearner:
    """The inverse of `to_dict`."""
    kind = BaseLearner.kinds.get(str(data.get("learner")))
    if kind is None:
        known = ", ".join(sorted(BaseLearner.kinds))
        raise FormatError(f"unknown learner {data.get('learner')!r}; known are {known}")
    if data.get("custom_holds") and context.holds is None:
        raise FormatError("this learner was made with holds= of its own: pass it again")
    try:
        reading = context.holds if data["custom_holds"] and context.holds else holds
        parameters = {name: _decode(value, context) for name, value in data["parameters"].items()}
        columns_of = getattr(context.items, "columns_of", None)
        if columns_of is not None and parameters.get("columns") is not None:
            parameters["columns"] = columns_of(parameters["columns"])  # a table knows its rows
        learner = kind(**parameters, holds=reading, remember=data["remember"])
        learner.restore({name: _decode(v, context) for name, v in data["state"].items()})
    except FormatError:
        raise
    except (TellapartError, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise FormatError(f"a damaged learner file: {error!r}") from error
    return learner


def load_learner(
    text: str,
    *,
    holds: Holds | None = None,
    items: Sequence[Item] | None = None,
    features: Mapping[str, Callable[[Item], bool]] | None = None,
) -> BaseLearner:
    """Read what `learner.to_json()` wrote.

    Parameters
    ----------
    holds
        Needed when the learner was made with a `holds` of its own.
    items
        The items a world's learner refers to (`world.items`).
    features
        The functions behind `Named` features.

    >>> from tellapart import CappedDFF, Correction
    >>> learner = CappedDFF(m=2)
    >>> learner.learn({"eggs"}, learner.guess({"eggs"}), Correction("bird"))
    >>> load_learner(learner.to_json()).guess({"milk"})
    Guess(label='bird', example=frozenset({'eggs'}))
    """
    data = codec.parse(text)
    if data.get("tellapart") != "learner" or data.get("format") != FORMAT:
        raise FormatError(
            f"not a tellapart learner of format {FORMAT}: it says {data.get('tellapart')!r},"
            f" format {data.get('format')!r}"
        )
    return from_dict(data, codec.Context(items, features or {}, holds))


def _encode(value: Any, name: str) -> Any:
    if isinstance(value, BaseLearner):
        return {"$learner": to_dict(value)}
    try:
        return codec.encode(value)
    except FormatError as error:
        raise FormatError(f"the learner's attribute {name!r} cannot be written: {error}") from None


def _decode(value: Any, context: codec.Context) -> Any:
    if isinstance(value, dict) and "$learner" in value:
        return from_dict(value["$learner"], context)
    return codec.decode(value, context)


codec.register(
    Guess,
    "$guess",
    lambda guess: [codec.encode(part) for part in guess],
    lambda value, context: Guess(*codec.decode(value, context)),
)
codec.register(Inconsistency, "$inconsistency", list, lambda v, c: Inconsistency(*v))
