"""Items and values as people read them, the same on the page and in the console."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from tellapart.tables import Row


def name(item: Row) -> str:
    """What an item is called: its id; a number is put into words.

    >>> name(Row("bear", {})), name(Row(7, {}))
    ('bear', 'item 7')
    """
    identity = item.identity
    return f"item {identity}" if isinstance(identity, int) else str(identity)


def show(value: Any) -> str:
    """A value as people write it.

    >>> show(True), show(None), show(2.50), show(1_000_000)
    ('yes', 'unknown', '2.5', '1000000')
    """
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date):
        return value.isoformat()
    return str(value)
