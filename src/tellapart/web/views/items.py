"""Items, what differs between two of them, and features that tell them apart."""

from __future__ import annotations

from collections.abc import Hashable
from datetime import date, datetime
from typing import Any

import numpy as np

from tellapart import codec
from tellapart.errors import FeatureError, ParameterError
from tellapart.features import Expression
from tellapart.features.candidates import Candidate
from tellapart.features.tree import Type
from tellapart.sessions import Session
from tellapart.tables import Row, Table
from tellapart.tables.packed_columns import evaluate


def plain(value: Any) -> Any:
    """A cell as JSON: dates as text."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    return value


def item(row: Row) -> dict[str, Any]:
    """An item with its cells. `id` is what to send back, `name` what to show."""
    return {
        "id": codec.encode(row.identity),
        "name": str(row),
        "cells": {name: plain(value) for name, value in row.items()},
    }


def differs(one: Row, other: Row) -> list[dict[str, Any]]:
    """The columns in which two items differ, with both values."""
    return [
        {"column": name, "item": plain(value), "example": plain(other.get(name))}
        for name, value in one.items()
        if value != other.get(name)
    ]


def find(table: Table, sent: Any) -> Row:
    """The item that a client means by an id, as `item` writes it.

    An address can only hold a text: there, one that reads as the right type will do.
    """
    try:
        identity: Hashable = codec.decode(sent)
        hash(identity)
    except TypeError:
        raise ParameterError(f"{sent!r} is no id of an item") from None
    if isinstance(identity, str):
        identity = _read(table, identity)
    return table.items[table.place(identity)]


def _read(table: Table, text: str) -> Hashable:
    kind = Type.INTEGER if table.id is None else table.types[table.id]
    try:
        if kind is Type.INTEGER:
            return int(text)
        if kind is Type.NUMBER:
            return float(text)
        if kind is Type.DATE:
            return date.fromisoformat(text)
        if kind is Type.DATETIME:
            return datetime.fromisoformat(text)
    except ValueError:
        pass
    return {"true": True, "false": False}.get(text, text) if kind is Type.BOOL else text


def candidate(one: Candidate) -> dict[str, Any]:
    """A candidate: `feature` is what to send, `items` how many it covers."""
    return {
        "feature": str(one.feature),
        "items": one.covers,
        "exact": one.exact,
        "yes": one.yes,
        "no": one.no,
        "score": round(one.score, 4),
    }


def check(
    session: Session, text: str, here: Row | None = None, there: Row | None = None
) -> dict[str, Any]:
    """Whether a text is a feature, on how many items it holds, and whether it tells two apart."""
    table = session.table
    try:
        feature = table.parse(text)
    except FeatureError as error:
        return {
            "valid": False,
            "message": str(error).splitlines()[0],
            "spot": None if error.spot is None else list(error.spot),
            "feature": None,
            "here": None,
            "there": None,
            "tells": False,
            "items": None,
        }
    on_here = None if here is None else feature.value(here)
    on_there = None if there is None else feature.value(there)
    tells = on_here is True and on_there is not True
    return {
        "valid": True,
        "message": _verdict(feature, here, on_here, there, on_there),
        "spot": None,
        "feature": str(feature),
        "here": on_here,
        "there": on_there,
        "tells": tells,
        "items": count(table, feature),
    }


def count(table: Table, feature: Expression) -> int:
    """On how many items a feature holds. One that was only tried is not kept in memory."""
    if table.knows(feature):
        return table.count(feature)
    return int(np.bitwise_count(evaluate(table, feature)).sum())


def _verdict(
    feature: Expression, here: Row | None, on_here: Any, there: Row | None, on_there: Any
) -> str:
    if here is None:
        return "this is a feature"
    if on_here is not True:
        how = "is unknown" if on_here is None else "does not hold"
        return f"{feature} {how} on {here}; it must hold there"
    if there is not None and on_there is True:
        return f"{feature} holds on {there} as well; it must not hold there"
    return f"{feature} holds on {here}" + ("" if there is None else f" and not on {there}")
