"""A table of four animals, with a column of every kind."""

from __future__ import annotations

import datetime
from typing import Any

import tellapart as ta

ZOO = {
    "name": ["bear", "duck", "bass", "wasp"],
    "legs": [4, 2, 0, 6],
    "feathers": [False, True, False, None],
    "weight": [300.5, 1.2, None, 0.001],
    "seen": [datetime.date(2020, 1, 31), None, datetime.date(1999, 12, 31), None],
}


def zoo(**options: Any) -> ta.Table:
    return ta.Table(ZOO, id="name", **options)
