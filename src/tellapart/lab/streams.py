"""The streams of `tellapart compare`: items and a teacher, by name and seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tellapart import worlds
from tellapart.errors import ParameterError
from tellapart.lab import real_tables
from tellapart.lab.real_tables import KEPT, TABLES, TUNED, RealTable
from tellapart.lab.trial import slipping_teacher, told_parameters
from tellapart.protocol import Item, Label, Teacher
from tellapart.simulation import unpack
from tellapart.teachers import Informed, LabelOf, Lazy, Silent
from tellapart.worlds import World

TEACHERS = ("tree", "informed", "lazy", "slipping", "half-silent", "mute")
"""The kinds of teachers, in the order of the report."""
ROUNDS, MADE_ROUNDS = 200, 1000
"""Items of a stream, of a table and of a made world."""
FRESH = 500
"""The most rows of a table, beside the stream, that a model is tested on."""
FEWEST = 50
"""With fewer of them, no accuracy is reported."""
SLIP_RATE = 0.05
"""Of a slipping teacher."""

_SIZES = {30: (8, 3), 100: (9, 3), 300: (10, 4), 1000: (11, 4), 3000: (12, 4)}
"""Components and labels of made worlds by their number of features."""
_MADE = {TUNED: ((30, 300, 3000), (0, 3, 10)), KEPT: ((100, 1000), (0, 5))}
"""Features and percents of exceptions of the made worlds of each group."""
_TAUGHT = {(30, 3), (300, 0), (100, 5), (1000, 0)}
"""The made worlds with every teacher but the mute one; the others have only the tree. Nobody learns
a made world from labels: its items do not list their columns."""


@dataclass(frozen=True)
class StreamSpec:
    """A world or a table, and its kind of teacher: one row of the comparison."""

    world: str
    """tree, dnf, zoo, or a table's name."""
    group: str
    """Tuned on, or kept apart."""
    features: int = 0
    """Of made worlds."""
    exceptions: int = 0
    """Of made worlds, in percent."""
    teacher: str = "tree"
    """One of `TEACHERS`."""
    rounds: int = ROUNDS

    @property
    def stem(self) -> str:
        """Its name without the teacher, like "dnf-300-3%" or "zoo"."""
        return f"{self.world}-{self.features}-{self.exceptions}%" if self.made else self.world

    @property
    def name(self) -> str:
        """Its name, like "dnf-300-3%" or "zoo-informed"."""
        return self.stem if self.teacher == "tree" else f"{self.stem}-{self.teacher}"

    @property
    def kind(self) -> str:
        """A name for all rows of its group with this teacher, like "kept-informed"."""
        part = ("made-" if self.made else "") + ("tuned" if self.group == TUNED else "kept")
        return part if self.teacher == "tree" else f"{part}-{self.teacher}"

    @property
    def made(self) -> bool:
        """Whether the world is made, not a table."""
        return self.world in ("tree", "dnf")

    @property
    def of_peers(self) -> str:
        """The row that peers are taught: they hear no reasons, so only slips matter to them."""
        return self.name if self.teacher == "slipping" else self.stem

    @property
    def missing(self) -> str | None:
        """The command that installs its table; None if nothing is missing."""
        shipped = self.made or self.world == "zoo"
        return None if shipped else real_tables.missing(self.world)


def _specs() -> list[StreamSpec]:
    stems = [StreamSpec(table, group) for table, group in TABLES.items()]
    stems.append(StreamSpec("zoo", TUNED))
    rows = [
        replace(stem, teacher=teacher)
        for stem in sorted(stems, key=lambda stem: (stem.group, stem.world))
        for teacher in TEACHERS
    ]
    for group in (KEPT, TUNED):
        sizes, rates = _MADE[group]
        rows += [
            StreamSpec(kind, group, features, exceptions, teacher, MADE_ROUNDS)
            for features in sizes
            for kind in ("tree", "dnf")
            for exceptions in rates
            for teacher in (TEACHERS[:-1] if (features, exceptions) in _TAUGHT else ("tree",))
        ]
    return rows


ROWS = {row.name: row for row in _specs()}
"""Every row of the comparison, by name."""
KINDS = {name: row.kind for name, row in ROWS.items()}
"""The kinds of the rows, by name."""
QUICK = tuple(
    name
    for name, row in ROWS.items()
    if row.stem in ("heart", "ecoli2", "housevotes", "zoo", "tree-30-3%", "tree-100-5%")
    and row.teacher in ("tree", "informed", "mute")
)
"""The rows of a quick run."""


def choose(
    patterns: Sequence[str], known: Sequence[str], what: str, kinds: Mapping[str, str] | None = None
) -> list[str]:
    """The names that match one of the patterns, or whose kinds do, in the order of `known`.

    >>> choose(["zoo-*t*", "tree-30-0%"], list(ROWS), "row")
    ['zoo-half-silent', 'zoo-mute', 'tree-30-0%']
    >>> choose(["made-kept-lazy"], list(ROWS), "row", KINDS)
    ['tree-100-5%-lazy', 'dnf-100-5%-lazy', 'tree-1000-0%-lazy', 'dnf-1000-0%-lazy']
    """
    kinds = kinds or {}
    found: set[str] = set()
    for pattern in patterns:
        matching = {
            name
            for name in known
            if fnmatchcase(name.lower(), pattern.lower())
            or fnmatchcase(kinds.get(name, name).lower(), pattern.lower())
        }
        if not matching:
            also = f"; or kinds: {', '.join(dict.fromkeys(kinds.values()))}" if kinds else ""
            raise ParameterError(
                f"no {what} is called {pattern!r}; known are {', '.join(known)}{also}"
            )
        found |= matching
    return [name for name in known if name in found]


class Stream:
    """A row with a seed: items, a fresh teacher for each learner, and all columns for peers."""

    def __init__(self, row: StreamSpec, seed: int) -> None:
        self.seed, self._kind = seed, row.teacher
        self._table: RealTable | None = None
        if not row.made and row.world != "zoo":
            self._table = real_tables.real_table(row.world, seed, row.rounds, FRESH)
        self.world = _world(row, seed) if self._table is None else _grown(row.world, self._table)
        self._slip_rate = SLIP_RATE if row.teacher == "slipping" else 0.0
        fresh = self._table.fresh_labels if self._table else []
        self.labels = sorted({*self.world.labels, *fresh}, key=str)

    def teacher(self) -> Teacher:
        """A fresh teacher."""
        world, kind, seed = self.world, self._kind, self.seed
        if kind == "informed":
            return Informed(world.items, world.labels, world.features)
        if kind == "lazy":
            return Lazy(LabelOf(world.items, world.labels), world.features, seed=seed)
        if kind in ("half-silent", "mute"):
            return Silent(world.teacher(), 1.0 if kind == "mute" else 0.5, seed=seed)
        return slipping_teacher(world, self._slip_rate, seed)

    @property
    def told(self) -> tuple[int, int, int]:
        """m, k and s as a learner may be told them; slips count as exceptions.

        Not every teacher follows components; then they are those of the world.
        """
        return told_parameters(self.world, self._slip_rate, self.seed)

    @property
    def fresh(self) -> tuple[list[Item], list[Label]]:
        """Rows of the table that are not in the stream, and their labels."""
        return (list(self._table.fresh), self._table.fresh_labels) if self._table else ([], [])

    @cached_property
    def rows(self) -> npt.NDArray[np.bool_]:
        """The truth of every column on every item, and then on the fresh ones: rows by columns."""
        world = self.world
        columns: list[Any] = [unpack(world.truth(name), len(world)) for name in world.features]
        rows = np.stack(columns, axis=1).astype(np.bool_)
        more = [[name in item for name in world.features] for item in self.fresh[0]]
        return np.concatenate([rows, np.array(more, dtype=np.bool_)]) if more else rows

    @cached_property
    def numbers(self) -> npt.NDArray[np.float64]:
        """The numbers of the table's rows, as of `rows`; elsewhere the columns as 0 and 1."""
        return self.rows.astype(np.float64) if self._table is None else self._table.numbers


@lru_cache(maxsize=4)
def stream(name: str, seed: int, rounds: int) -> Stream:
    """The stream of a row; the last few are cached for the next learner."""
    return Stream(replace(ROWS[name], rounds=rounds), seed)


def share_right(guessed: Sequence[Label], labels: Sequence[Label]) -> float | None:
    """The share of guesses that are right; None if there are too few to say."""
    right = sum(guess == label for guess, label in zip(guessed, labels, strict=True))
    return round(right / len(labels), 4) if len(labels) >= FEWEST else None


def _world(row: StreamSpec, seed: int) -> World:
    if row.world == "zoo":
        return worlds.zoo(seed)
    make = worlds.tree if row.world == "tree" else worlds.dnf
    components, labels = _SIZES[row.features]
    return make(row.rounds, row.features, components, labels, row.exceptions / 100, seed=seed)


def _grown(name: str, table: RealTable) -> World:
    return worlds.grown(table.items, table.labels, table.features, name=name)
