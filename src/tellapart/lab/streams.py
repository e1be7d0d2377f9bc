"""The streams of `tellapart compare`: items and a teacher, by name and seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tellapart import worlds
from tellapart.errors import ParameterError
from tellapart.lab import real_tables
from tellapart.lab.trial import InformedWorld, slipping_teacher, told_parameters
from tellapart.simulation import unpack
from tellapart.teachers import Slipping
from tellapart.worlds import World

ROUNDS = 1000
"""Items of a made world, and the most rows taken from a table."""
SLIP_RATE = 0.03
"""Of a slipping teacher."""

_SIZES = {30: (8, 3), 300: (10, 4), 3000: (12, 4), 10_000: (12, 4)}
"""Components and labels of made worlds by their number of features."""
_NOISY = ("monk-2", "phishing", "titanic")


@dataclass(frozen=True)
class StreamSpec:
    """A world or a table, and its kind of teacher: one row of the comparison."""

    world: str
    """tree, dnf, zoo, or a table's name."""
    features: int = 0
    """Of made worlds."""
    exceptions: int = 0
    """Of made worlds, in percent."""
    teacher: str = "components"
    """components, informed or slipping."""
    rounds: int = ROUNDS

    @property
    def name(self) -> str:
        """Its name, like "dnf-300-3%" or "zoo-informed"."""
        parts = [self.world]
        if self.made:
            parts += [str(self.features), f"{self.exceptions}%"]
        if self.teacher != "components":
            parts.append(self.teacher)
        return "-".join(parts)

    @property
    def made(self) -> bool:
        """Whether the world is made, not a table."""
        return self.world in ("tree", "dnf")

    @property
    def group(self) -> str:
        """made, tables, or noise (tables that are mostly noise)."""
        return "made" if self.made else "noise" if self.world in _NOISY else "tables"

    @property
    def missing(self) -> str | None:
        """The command that installs its table; None if nothing is missing."""
        shipped = self.made or self.world == "zoo"
        return None if shipped else real_tables.missing(self.world)


def _specs() -> list[StreamSpec]:
    rows = [
        StreamSpec(kind, features, exceptions)
        for features in _SIZES
        for kind in ("tree", "dnf")
        for exceptions in ((0, 1, 3, 10) if features < 3000 else (0, 3))
    ]
    rows += [StreamSpec(kind, 30, e, "informed") for kind in ("tree", "dnf") for e in (0, 3)]
    rows += [StreamSpec(kind, 300, 0, "slipping") for kind in ("tree", "dnf")]
    for table in ("zoo", "housevotes", "mushroom", "tic-tac-toe", *_NOISY):
        rows += [StreamSpec(table), StreamSpec(table, teacher="informed")]
    rows += [StreamSpec(table, teacher="slipping") for table in ("zoo", "housevotes", "mushroom")]
    return rows


ROWS = {row.name: row for row in _specs()}
"""Every row of the comparison, by name."""
QUICK = ("tree-30-0%", "tree-30-3%", "dnf-30-0%", "dnf-30-3%", "tree-300-0%", "zoo", "zoo-informed")
"""The rows of a quick run."""


def choose(patterns: Sequence[str], known: Sequence[str], what: str) -> list[str]:
    """The names that match one of the patterns, in the order of `known`.

    >>> choose(["zoo*", "tree-300-0%"], list(ROWS), "row")
    ['tree-300-0%', 'zoo', 'zoo-informed', 'zoo-slipping']
    """
    found: set[str] = set()
    for pattern in patterns:
        matching = {name for name in known if fnmatchcase(name.lower(), pattern.lower())}
        if not matching:
            raise ParameterError(f"no {what} is called {pattern!r}; known are {', '.join(known)}")
        found |= matching
    return [name for name in known if name in found]


class Stream:
    """A row with a seed: items, a fresh teacher for each learner, and all columns for peers."""

    def __init__(self, row: StreamSpec, seed: int) -> None:
        self.seed = seed
        self.world = _world(row, seed)
        self._taught = InformedWorld(self.world) if row.teacher == "informed" else self.world
        self._slip_rate = SLIP_RATE if row.teacher == "slipping" else 0.0
        self.labels = sorted(set(self.world.labels), key=str)

    def teacher(self) -> Slipping:
        """A fresh teacher; it slips only if its kind does."""
        return slipping_teacher(self._taught, self._slip_rate, self.seed)

    @property
    def told(self) -> tuple[int, int, int]:
        """m, k and s as a learner may be told them; slips count as exceptions.

        An informed teacher follows no components; then they are those of the world.
        """
        return told_parameters(self.world, self._slip_rate, self.seed)

    @cached_property
    def rows(self) -> npt.NDArray[np.bool_]:
        """The truth of every column on every item: items by columns."""
        world = self.world
        columns: list[Any] = [unpack(world.truth(name), len(world)) for name in world.features]
        return np.stack(columns, axis=1).astype(np.bool_)


@lru_cache(maxsize=2)
def stream(name: str, seed: int, rounds: int) -> Stream:
    """The stream of a row; the last two are cached for the next learner."""
    return Stream(replace(ROWS[name], rounds=rounds), seed)


def _world(row: StreamSpec, seed: int) -> World:
    if row.made:
        make = worlds.tree if row.world == "tree" else worlds.dnf
        components, labels = _SIZES[row.features]
        rate = row.exceptions / 100
        return make(row.rounds, row.features, components, labels, rate, seed=seed)
    if row.world == "zoo":
        return worlds.zoo(seed)
    table = real_tables.real_table(row.world, seed, row.rounds)
    return worlds.grown(table.items, table.labels, table.features, name=row.world)
