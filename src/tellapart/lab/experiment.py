"""Experiments: cells give rows, and rows give a finding.

A cell is the smallest unit of work: usually one world, and every learner compared in it. Its name
is its seed, so it gives the same rows wherever and whenever it runs.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import Any, TypeAlias

from tellapart.errors import ParameterError

Value: TypeAlias = Any
"""A number, a text, True, False or None: what JSON and CSV can hold."""

Row: TypeAlias = dict[str, Value]
"""One line of an experiment's numbers."""


class Rows(list[Row]):
    """The numbers of an experiment, with queries.

    >>> rows = Rows([{"k": 2, "mistakes": 5}, {"k": 1, "mistakes": 1}, {"k": 2, "mistakes": 7}])
    >>> rows.where(k=1), rows.distinct("k"), rows.mean("k")
    ([{'k': 1, 'mistakes': 1}], [2, 1], 1.6666666666666667)
    >>> [(key, len(group)) for key, group in rows.group_by("k")]
    [((2,), 2), ((1,), 1)]
    >>> rows.curve("k", "mistakes")
    ([1.0, 2.0], [1.0, 6.0])
    """

    def where(self, **wanted: Value) -> Rows:
        """The rows with these values."""
        return Rows(row for row in self if all(row.get(key) == wanted[key] for key in wanted))

    def distinct(self, key: str) -> list[Any]:
        """The different values of a column, in order of appearance."""
        return list(dict.fromkeys(row[key] for row in self if key in row))

    def group_by(self, *keys: str) -> Iterable[tuple[tuple[Any, ...], Rows]]:
        """Groups of rows with the same values of `keys`, in order of appearance."""
        groups: dict[tuple[Any, ...], Rows] = {}
        for row in self:
            groups.setdefault(tuple(row.get(key) for key in keys), Rows()).append(row)
        return groups.items()

    def mean(self, key: str) -> float:
        """The mean of a column of numbers."""
        return fmean(float(row[key]) for row in self)

    def curve(self, x: str, y: str) -> tuple[list[float], list[float]]:
        """The mean of `y` at each value of `x`, sorted by x."""
        points = sorted((float(key), group.mean(y)) for (key,), group in self.group_by(x))
        return [point[0] for point in points], [point[1] for point in points]


EXPERIMENTS = (
    *("theorem3", "slope", "worst_case", "dimension", "theorem1", "theorem2", "theorem4"),
    *("erratum_threshold", "erratum_logarithm", "erratum_creation", "erratum_return"),
    *("erratum_reduction", "erratum_waiting", "ignorance"),
)
"""Every experiment, in the order of the report; each is a file in `tellapart.lab.experiments` with
the functions `cells`, `run` and `read`."""


@dataclass(frozen=True)
class Cell:
    """One run of an experiment: its parameters, and an estimate of its cost in seconds.

    >>> cell = Cell("theorem2", {"m": 8, "repeat": 0})
    >>> cell.name, cell.seed
    ('theorem2 m=8 repeat=0', 3818453489)
    """

    experiment: str
    parameters: Mapping[str, Value]
    weight: float = field(default=1.0, compare=False)
    """Cells with more weight start first; nothing else depends on it."""

    @cached_property
    def name(self) -> str:
        """The experiment and the parameters in one line; unique."""
        words = (f"{key}={value}" for key, value in self.parameters.items())
        return " ".join((self.experiment, *words))

    @property
    def seed(self) -> int:
        """A hash of the name."""
        return int.from_bytes(hashlib.sha256(self.name.encode()).digest()[:4], "big")


@dataclass(frozen=True)
class Table:
    """Numbers for the reader: a caption, names of columns, and lines."""

    caption: str
    columns: Sequence[str]
    lines: Sequence[Sequence[Value]]


@dataclass(frozen=True)
class Picture:
    """A figure: a file name, a caption, and a function that draws it on a matplotlib figure."""

    name: str
    caption: str
    draw: Callable[[Any], None]
    size: tuple[float, float] = (8.0, 4.5)
    """In inches."""


@dataclass(frozen=True)
class Finding:
    """What the rows show. Every sentence is computed from the numbers."""

    seen: str
    """What was seen."""
    verdict: str
    """What follows for the claim."""
    holds: bool
    """Whether everything claimed was seen."""
    tables: Sequence[Table] = ()
    pictures: Sequence[Picture] = ()


@dataclass(frozen=True)
class Experiment:
    """A claim, the cells that test it, and a function that reads their rows."""

    name: str
    """Used in file names and links."""
    title: str
    claim: str
    cells: Callable[[bool], Iterable[Cell]]
    """The cells of a quick run (True) or of a full one."""
    run: Callable[..., list[Row]]
    """run(seed, **parameters): the rows of one cell, without its parameters."""
    read: Callable[[Rows], Finding]
    """Turns all rows of a run into a finding."""
    depends_on: Sequence[str] = (
        *("codec.py", "features", "lab/experiments/__init__.py", "learners", "model.py"),
        *("protocol.py", "simulation", "teachers", "theory", "worlds"),
    )
    """Files and folders of the package that can change the numbers, beside the file of `run`. A
    cell made by another version of these is run again."""


def load(name: str) -> Experiment:
    """The experiment of that name, or one of your own: "module:NAME" of an `Experiment`.

    >>> load("theorem2").title
    'Theorem 2: every learner errs of the order of m² times'
    """
    module, colon, attribute = name.partition(":")
    if not colon:
        return _load_own(name)
    try:
        experiment = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ParameterError(f"cannot load the experiment {name!r}: {error}") from error
    if not isinstance(experiment, Experiment):
        raise ParameterError(f"{name!r} is no Experiment, but {type(experiment).__name__}")
    return experiment


def _load_own(name: str) -> Experiment:
    """An experiment of `EXPERIMENTS`: its module's docstring is its title and its claim."""
    if name not in EXPERIMENTS:
        raise ParameterError(
            f"unknown experiment {name!r}; known are {', '.join(EXPERIMENTS)}, and module:NAME for"
            " one of your own"
        )
    module = importlib.import_module(f"tellapart.lab.experiments.{name}")
    title, _, claim = (module.__doc__ or "").partition("\n\n")
    claim = " ".join(claim.split())
    return Experiment(name, title, claim, module.cells, module.run, module.read)
