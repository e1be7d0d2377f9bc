"""An experiment is a function that yields rows, with claims about them and figures.

    @experiment("Slope in k", k=[1, 2, 4, 8], repeat=range(3), quick={"repeat": range(1)})
    def slope(k, seed):
        '''CappedDFF errs at most (m-1)(m+2)/2 + k(m+1) times.'''
        world = ta.worlds.tree(2_000, 40, 4, 4, k, seed)
        yield {"mistakes": ta.simulate(ta.CappedDFF(4), world).mistakes}

    @slope.claims
    def _(rows):
        most = max(row["mistakes"] for row in rows.where(k=8))
        yield "at most the bound", most <= capped_bound(4, 8), f"{most} mistakes at k = 8"

    slope.figure("k", "mistakes")

A cell is one point of the grid. Its name is its seed, so it gives the same rows wherever and
whenever it runs. A claim is a text, whether it holds (None: these rows cannot tell), and what was
seen.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from math import log
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple, TypeAlias

from tellapart.errors import ParameterError

Row: TypeAlias = dict[str, Any]
"""One line of numbers, texts, True, False and None."""
Claims: TypeAlias = Iterator[tuple[str, bool | None, str]]
"""Claims, whether each holds (None: these rows cannot tell), and what was seen."""


class Rows(list[Row]):
    """The rows of an experiment, with queries.

    >>> rows = Rows([{"k": 2, "mistakes": 5}, {"k": 1, "mistakes": 1}, {"k": 2, "mistakes": 7}])
    >>> rows.where(k=1), rows.values("k"), rows.where(k=2).mean("mistakes")
    ([{'k': 1, 'mistakes': 1}], [2, 1], 6.0)
    >>> rows.curve("k", "mistakes")
    [(1, 1.0, 0.0), (2, 6.0, 1.0)]
    """

    def where(self, **wanted: Any) -> Rows:
        """The rows with these values."""
        return Rows(row for row in self if all(row.get(key) == wanted[key] for key in wanted))

    def values(self, key: str) -> list[Any]:
        """The different values of a column, in order of appearance."""
        return list(dict.fromkeys(self.column(key)))

    def by(self, *keys: str) -> dict[Any, Rows]:
        """Rows with the same values of `keys`, by the value, or by the tuple of several."""
        groups: dict[Any, Rows] = {}
        for row in self:
            found = tuple(row.get(key) for key in keys)
            groups.setdefault(found if len(keys) > 1 else found[0], Rows()).append(row)
        return groups

    def column(self, key: str) -> list[Any]:
        """The values of a column, row by row; rows without one are left out."""
        return [row[key] for row in self if row.get(key) is not None]

    def mean(self, key: str) -> float:
        """The mean of a column."""
        return fmean(self.column(key))

    def error(self, key: str) -> float:
        """The standard error of the mean; 0 if there is one number only."""
        numbers = self.column(key)
        return stdev(numbers) / len(numbers) ** 0.5 if len(numbers) > 1 else 0.0

    def curve(self, x: str, y: str) -> list[tuple[Any, float, float]]:
        """At each value of `x` the mean of `y` and its standard error; numbers are sorted."""
        groups = {place: group for place, group in self.by(x).items() if group.column(y)}
        numbers = all(isinstance(place, int | float) for place in groups)
        places = sorted(groups) if numbers else list(groups)
        return [(place, groups[place].mean(y), groups[place].error(y)) for place in places]

    def power(self, x: str, y: str, last: int = 0) -> float:
        """p where the mean of y grows like x^p: the slope of log y in log x, by least squares.

        `last`: only of that many largest values of x.

        >>> round(Rows({"k": k, "y": 3 * k**2} for k in (1, 2, 4)).power("k", "y"), 2)
        2.0
        """
        points = [(log(place), log(mean)) for place, mean, _ in self.curve(x, y)[-last:]]
        middle = fmean(x for x, _ in points), fmean(y for _, y in points)
        over = sum((x - middle[0]) * (y - middle[1]) for x, y in points)
        return over / sum((x - middle[0]) ** 2 for x, _ in points)


class Cell(NamedTuple):
    """A point of an experiment's grid.

    >>> cell = Cell("theorem2", {"m": 8, "repeat": 0})
    >>> cell.name, cell.seed
    ('theorem2 m=8 repeat=0', 3818453489)
    """

    experiment: str
    parameters: dict[str, Any]

    @property
    def name(self) -> str:
        """The experiment and the parameters in one line; unique."""
        return " ".join((self.experiment, *(f"{k}={v}" for k, v in self.parameters.items())))

    @property
    def seed(self) -> int:
        """A hash of the name."""
        return int.from_bytes(hashlib.sha256(self.name.encode()).digest()[:4], "big")


class Verdict(NamedTuple):
    """A claim, whether it holds (None: not tested), and what was seen."""

    claim: str
    holds: bool | None
    seen: str


@dataclass(frozen=True)
class Figure:
    """The mean of `y` against `x`, with its standard error, for each value of `line`."""

    x: str
    y: str
    line: str = ""
    panel: str = ""
    """A column: one picture for each of its values, side by side."""
    limit: str | float | None = None
    """A column or a number, drawn dotted: a bound, or a rate that nobody can go below."""
    log: str = ""
    """Axes with a logarithmic scale: "x", "y" or "xy"."""
    where: Mapping[str, Any] = field(default_factory=dict)
    """Only rows with these values."""

    @property
    def caption(self) -> str:
        """What is drawn."""
        chosen = "".join(f", {key} {value}" for key, value in self.where.items())
        dotted = "" if self.limit is None else f"; dotted: {self.limit}"
        return f"Mean {self.y} against {self.x}{chosen}{dotted}."


@dataclass
class Experiment:
    """A function that yields rows, its grid, claims and figures; `experiment` makes it."""

    function: Callable[..., Iterable[Row]]
    title: str
    grid: dict[str, list[Any]]
    quick: dict[str, list[Any]]
    where: Callable[..., bool]
    test: Callable[[Rows], Claims] = lambda rows: iter(())
    figures: list[Figure] = field(default_factory=list)

    def __call__(self, **parameters: Any) -> list[Row]:
        """The rows of one cell, without its parameters."""
        return list(self.function(**parameters))

    @property
    def name(self) -> str:
        """Used in file names and links."""
        return self.function.__name__

    @property
    def about(self) -> str:
        """The docstring of the function, in one paragraph."""
        return " ".join((self.function.__doc__ or "").split())

    def claims(self, test: Callable[[Rows], Claims]) -> None:
        """Decorate the function of all rows that yields the claims."""
        self.test = test

    def verdicts(self, rows: Rows, *, some: bool = False) -> list[Verdict]:
        """What the rows say about each claim; `some`: they may be too few to say anything."""
        found: list[Verdict] = []
        try:
            found.extend(Verdict(*claim) for claim in self.test(rows))
        except (ArithmeticError, LookupError, ValueError):
            if not some:
                raise
            found.append(Verdict("the other claims", None, "these rows are too few"))
        return found

    def figure(self, x: str, y: str, **how: Any) -> None:
        """Add a figure, and a table of the same means; see `Figure`."""
        self.figures.append(Figure(x, y, **how))

    def cells(
        self, *, quick: bool = False, only: Mapping[str, Sequence[str]] | None = None
    ) -> list[Cell]:
        """The points of the grid; `only` keeps values that match one of the patterns.

        A pattern without `*` that is not in the grid is a new value.
        """
        axes = {**self.grid, **(self.quick if quick else {})}
        for key, patterns in (only or {}).items():
            if key in axes:
                axes[key] = [one for pattern in patterns for one in _chosen(axes[key], pattern)]
        points = (
            dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())
        )
        return [Cell(self.name, point) for point in points if self.where(**point)]


def run_cell(function: Callable[..., Iterable[Row]], cell: Cell) -> list[Row]:
    """The rows of a cell. A function that takes `seed` gets the cell's, unless the grid has one."""
    known = inspect.signature(function).parameters
    given = {"seed": cell.seed, **cell.parameters}
    taken = {key: value for key, value in given.items() if key in known}
    return [{**cell.parameters, **row} for row in function(**taken)]


def experiment(
    title: str,
    *,
    quick: Mapping[str, Any] | None = None,
    where: Callable[..., bool] = lambda **_: True,
    **grid: Any,
) -> Callable[[Callable[..., Iterable[Row]]], Experiment]:
    """Make an experiment of a function that yields rows; its docstring says what is claimed.

    Parameters
    ----------
    quick : mapping
        Axes with fewer or smaller values, for a quick run.
    where : function of a point of the grid
        Which points are run; by default all.
    grid
        Axes: the values of each parameter. An axis that is no parameter, such as `repeat`, makes
        cells with other seeds.
    """
    axes = {key: _axis(values) for key, values in grid.items()}
    short = {key: _axis(values) for key, values in (quick or {}).items()}
    if unknown := short.keys() - axes.keys():
        raise ParameterError(f"quick has an axis that the grid has not: {', '.join(unknown)}")
    return lambda function: Experiment(function, title, axes, short, where)


def _axis(values: Any) -> list[Any]:
    single = isinstance(values, str) or not isinstance(values, Iterable)
    return [values] if single else list(values)


def _chosen(values: Sequence[Any], pattern: str) -> list[Any]:
    found = [value for value in values if fnmatchcase(str(value).lower(), pattern.lower())]
    if found:
        return found
    known = ", ".join(map(str, values))
    if "*" in pattern:
        raise ParameterError(f"nothing matches {pattern!r}; known are {known}")
    try:
        return [type(values[0])(pattern)]
    except ValueError:
        raise ParameterError(f"{pattern!r} is no value like {known}") from None


_FILES = ("theorems", "ours", "errata", "corrections", "accuracy")
"""The modules of this room that hold experiments."""


@cache
def experiments() -> dict[str, Experiment]:
    """Every experiment of tellapart by name."""
    modules = (importlib.import_module(f"tellapart.lab.{name}") for name in _FILES)
    return {found.name: found for module in modules for found in _in(module)}


def load(name: str) -> list[Experiment]:
    """The experiment of that name, or all those in a Python file of your own.

    >>> [found.title for found in load("theorem2")]
    ['Theorem 2: every learner errs of the order of m² times']
    """
    if not name.endswith(".py"):
        if name not in experiments():
            raise ParameterError(
                f"unknown experiment {name!r}; known are {', '.join(experiments())}, and files of"
                " your own, such as ./mine.py"
            )
        return [experiments()[name]]
    path = Path(name).resolve()
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ParameterError(f"cannot run {name}: {type(error).__name__}: {error}") from error
    if not (found := _in(module)):
        raise ParameterError(f"{name} has no experiment: a function with @experiment above it")
    return found


def _in(module: Any) -> list[Experiment]:
    return [value for value in vars(module).values() if isinstance(value, Experiment)]
