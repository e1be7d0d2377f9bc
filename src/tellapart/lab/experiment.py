"""The frame of an experiment: named cells give rows, and rows give a finding.

A cell is the smallest thing that is run: one world, usually, and every learner that is compared in
it. It is seeded by its own name, so it gives the same rows wherever and whenever it runs.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from tellapart.errors import ParameterError

Value: TypeAlias = Any
"""A number, a text, True, False or None: what JSON and CSV can hold."""

Row: TypeAlias = dict[str, Value]
"""One line of an experiment's numbers."""

EXPERIMENTS = (
    "theorem3",
    "slope",
    "worst_case",
    "dimension",
    "theorem1",
    "theorem2",
    "theorem4",
    "erratum_threshold",
    "erratum_logarithm",
    "erratum_creation",
    "erratum_return",
    "erratum_reduction",
    "erratum_waiting",
    "ignorance",
)
"""Every experiment, in the order of the report; each is a file in `tellapart.lab.experiments`."""


@dataclass(frozen=True)
class Cell:
    """One run of an experiment: its parameters, and a guess of how many seconds it takes.

    >>> cell = Cell("theorem2", {"m": 8, "repeat": 0})
    >>> cell.name, cell.seed
    ('theorem2 m=8 repeat=0', 3818453489)
    """

    experiment: str
    parameters: Mapping[str, Value]
    weight: float = field(default=1.0, compare=False)
    """Heavy cells are started first; nothing else depends on it."""

    @cached_property
    def name(self) -> str:
        """What the cell is, in one line; no two cells share it."""
        words = (f"{key}={value}" for key, value in self.parameters.items())
        return " ".join((self.experiment, *words))

    @property
    def seed(self) -> int:
        """A number that belongs to the name."""
        return int.from_bytes(hashlib.sha256(self.name.encode()).digest()[:4], "big")


@dataclass(frozen=True)
class Table:
    """Numbers for the reader: a caption, names of columns, and lines."""

    caption: str
    columns: Sequence[str]
    lines: Sequence[Sequence[Value]]


@dataclass(frozen=True)
class Picture:
    """A figure: a file name, a caption, and how to draw it on a matplotlib figure."""

    name: str
    caption: str
    draw: Callable[[Any], None]
    size: tuple[float, float] = (8.0, 4.5)
    """In inches."""


@dataclass(frozen=True)
class Finding:
    """What the rows say. Every sentence is worked out from the numbers."""

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
    """A claim, the cells that test it, and how to read what they give."""

    name: str
    """What it is called in files and links."""
    title: str
    claim: str
    cells: Callable[[bool], Iterable[Cell]]
    """The cells of a quick run (True) or of a full one."""
    run: Callable[..., list[Row]]
    """run(seed, **parameters): the rows of one cell; its parameters are put before each."""
    read: Callable[[list[Row]], Finding]
    """All rows of a run, as a finding."""
    decided_by: Sequence[str] = (
        *("codec.py", "simulation", "features", "lab/contestants.py", "learners", "model.py"),
        *("protocol.py", "teachers", "theory", "worlds"),
    )
    """The files and rooms that decide the numbers, beside the one `run` is in; others only show
    them. Cells made by another version of these are run again."""


def load(name: str) -> Experiment:
    """The experiment of that name, or one of your own: "module:NAME" of an `Experiment`.

    >>> load("theorem2").title
    'Theorem 2: every learner errs of the order of m² times'
    """
    place, colon, attribute = name.partition(":")
    if not colon:
        if name not in EXPERIMENTS:
            raise ParameterError(
                f"unknown experiment {name!r}; known are {', '.join(EXPERIMENTS)}, and module:NAME"
                " for one of your own"
            )
        place, attribute = f"tellapart.lab.experiments.{name}", "EXPERIMENT"
    try:
        experiment = getattr(importlib.import_module(place), attribute)
    except (ImportError, AttributeError) as error:
        raise ParameterError(f"cannot load the experiment {name!r}: {error}") from error
    if not isinstance(experiment, Experiment):
        raise ParameterError(f"{name!r} is no Experiment, but {type(experiment).__name__}")
    return experiment
