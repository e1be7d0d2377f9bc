"""The result of a comparison: means, ratios with intervals, and the bars to reach.

The ratio of two learners on a row is that of their mean mistakes over the seeds; zero mistakes
count as half a mistake. Over several rows it is the geometric mean. Its 95 % interval comes from
the ratios of single seeds, by Student's t on their logarithms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import exp, log, sqrt
from statistics import fmean, stdev
from typing import Any, TypeAlias

from tellapart import __version__
from tellapart.lab.experiment import Finding, Picture, Row, Table
from tellapart.lab.figures import BLUE, GREEN, GREY, ORANGE, RED
from tellapart.lab.measurement import versions
from tellapart.lab.peers import READABLE
from tellapart.lab.streams import ROWS

_T = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23)  # of 1, 2, ... degrees
_LEAST = 0.5  # what zero mistakes count as
GROUPS = {"made": "made worlds", "tables": "tables", "noise": "tables where noise rules"}
"""Groups of rows, and their names in tables."""

Pair: TypeAlias = tuple[str, str, str]
"""A row and two learners: the first one's mistakes are divided by the second one's."""


@dataclass(frozen=True)
class Ratio:
    """A ratio of mistakes with its 95 % interval, if there are several seeds."""

    value: float
    low: float | None
    high: float | None

    def __str__(self) -> str:
        shown = f"{self.value:.2f}"
        return shown if self.low is None else f"{shown} ({self.low:.2f}–{self.high:.2f})"


@dataclass(frozen=True)
class Bar:
    """A value that must not exceed its bar."""

    what: str
    value: float
    bar: float
    rows: int
    """How many rows the value is about."""
    worst: str
    """The row with the largest value."""
    low: float | None = None
    high: float | None = None

    @property
    def reached(self) -> bool:
        """Whether the value is at most the bar."""
        return self.value <= self.bar


class Standings:
    """The rows of a comparison, and what they show.

    Parameters
    ----------
    rows : rows
        One for each row of the comparison, learner and seed.
    skipped : {row: command}, optional
        Rows left out, and the command that installs what they need.
    """

    def __init__(self, rows: Sequence[Row], skipped: Mapping[str, str] | None = None) -> None:
        self.rows, self.skipped = list(rows), dict(skipped or {})
        self._mistakes: dict[tuple[str, str | None], dict[int, int]] = {}
        for row in self.rows:
            seeds = self._mistakes.setdefault((row["row"], row["learner"]), {})
            seeds[row["seed"]] = row["mistakes"]
        self.names: list[str] = list(dict.fromkeys(row["row"] for row in self.rows))
        self.learners: list[str] = list(dict.fromkeys(row["learner"] for row in self.rows))
        first = [name for name in ("AutoDFF", "Hindsight") if name in self.learners]
        self.champion: str | None = first[0] if first else None
        """The learner that the bars are about."""

    def has(self, row: str, learner: str | None) -> bool:
        """Whether `learner` was taught `row`."""
        return (row, learner) in self._mistakes

    def mean(self, row: str, learner: str | None) -> float:
        """The mean number of mistakes over the seeds."""
        return fmean(self._mistakes[row, learner].values())

    def spread(self, row: str, learner: str) -> float | None:
        """Half the width of the mean's interval; None with a single seed."""
        made = list(self._mistakes[row, learner].values())
        return None if len(made) < 2 else _half_width(made)

    def exceptions(self, row: str) -> float:
        """The mean number of exceptions in the stream over the seeds."""
        found = {one["seed"]: one["exceptions"] for one in self.rows if one["row"] == row}
        return fmean(found.values())

    def best_peer(self, row: str) -> str | None:
        """The readable peer with the fewest mistakes on a row, chosen in hindsight."""
        there = [name for name in READABLE if self.has(row, name)]
        return min(there, key=lambda name: self.mean(row, name)) if there else None

    def group(self, *groups: str) -> list[str]:
        """The rows of these groups."""
        return [name for name in self.names if ROWS[name].group in groups]

    def against(self, learner: str | None, rows: Sequence[str]) -> Ratio | None:
        """The champion against `learner`, over the rows of both; None: each row's best peer."""
        pairs = self._pairs(rows, learner)
        return self.ratio(pairs) if pairs else None

    def _pairs(self, rows: Sequence[str], learner: str | None = None) -> list[Pair]:
        pairs = [(row, self.champion, learner or self.best_peer(row)) for row in rows]
        return [
            (row, champion, other)
            for row, champion, other in pairs
            if champion and other and self.has(row, champion) and self.has(row, other)
        ]

    def ratio(self, pairs: Sequence[Pair]) -> Ratio:
        """The geometric mean of the ratios of pairs."""
        value = exp(fmean(log(self._ratio(*pair)) for pair in pairs))
        seeds = set.intersection(
            *(set(self._mistakes[row, name]) for row, *names in pairs for name in names)
        )
        if len(seeds) < 2:
            return Ratio(value, None, None)
        half = _half_width(
            [fmean(log(self._ratio(*pair, seed=seed)) for pair in pairs) for seed in seeds]
        )
        return Ratio(value, value * exp(-half), value * exp(half))

    def _ratio(self, row: str, learner: str, other: str, seed: int | None = None) -> float:
        ours, theirs = (
            self.mean(row, name) if seed is None else self._mistakes[row, name][seed]
            for name in (learner, other)
        )
        return max(ours, _LEAST) / max(theirs, _LEAST)

    def bars(self) -> list[Bar]:
        """The bars of the champion that the rows can decide."""
        told = self._pairs(self.names, "RobustDFF")
        clear, noisy = self._pairs(self.group("made", "tables")), self._pairs(self.group("noise"))
        peer = f"{self.champion} / best readable peer"
        worst = f"{peer}, the worst row of these"
        return [
            *self._bar(f"{self.champion} / RobustDFF told m, k, s", told, 0.5),
            *self._bar(f"{peer}, made worlds and tables", clear, 0.75),
            *self._bar(worst, clear, 1.15, only_worst=True),
            *self._bar(f"{peer}, where noise rules", noisy, 1.05),
            *self._bar(worst, noisy, 1.05, only_worst=True),
            *self._price_of_exceptions(),
        ]

    def _bar(
        self, what: str, pairs: Sequence[Pair], bar: float, *, only_worst: bool = False
    ) -> list[Bar]:
        if not pairs:
            return []
        worst = max(pairs, key=lambda pair: self._ratio(*pair))
        found = self.ratio([worst] if only_worst else pairs)
        return [Bar(what, found.value, bar, len(pairs), worst[0], found.low, found.high)]

    def _price_of_exceptions(self) -> list[Bar]:
        """Mistakes beyond the exceptions, by the mistakes in the same world without any."""
        champion, found = self.champion, []
        for name in self.names:
            clean = name.replace(f"-{ROWS[name].exceptions}%", "-0%")
            if clean != name and self.has(name, champion) and self.has(clean, champion):
                beyond = self.mean(name, champion) - self.exceptions(name)
                found.append((beyond / max(self.mean(clean, champion), _LEAST), name))
        if not found:
            return []
        value, worst = max(found)
        what = f"{champion}: mistakes beyond exceptions / mistakes without exceptions, worst row"
        return [Bar(what, value, 2.0, len(found), worst)]

    def tables(self) -> list[Table]:
        """Mean mistakes by row; ratios by group; the bars."""
        lines: list[list[Any]] = []
        for row in self.names:
            means = [
                f"{self.mean(row, name):.0f}" if self.has(row, name) else None
                for name in self.learners
            ]
            ratio = self.against(None, [row])
            lines.append([row, round(self.exceptions(row)), *means, ratio and str(ratio)])
        by_row = Table(
            "Mistakes, as a mean over the seeds; k: exceptions among them. Last, those of"
            f" {self.champion} for each one of the best readable peer.",
            ["row", "k", *self.learners, "ratio"],
            lines,
        )
        return [by_row] if self.champion is None else [by_row, self._ratios(), self._bars()]

    def _ratios(self) -> Table:
        others = [name for name in self.learners if name != self.champion]
        groups = {title: self.group(group) for group, title in GROUPS.items()}
        lines: list[list[Any]] = []
        for title, rows in (groups | {"all": self.names}).items():
            for name in (None, *others):
                if ratio := self.against(name, rows):
                    lines.append([title, len(rows), name or "best readable peer", str(ratio)])
        return Table(
            f"Mistakes of {self.champion} for each one of the others: geometric means over rows.",
            ["rows", "", "against", "ratio"],
            lines,
        )

    def _bars(self) -> Table:
        lines = []
        for bar in self.bars():
            found = str(Ratio(bar.value, bar.low, bar.high))
            lines.append([bar.what, found, bar.bar, bar.reached, bar.rows, bar.worst])
        columns = ["", "found", "bar", "reached", "rows", "the worst of them"]
        return Table("What is to be reached.", columns, lines)

    def finding(self) -> Finding:
        """Everything as a finding, like those of the lab's experiments."""
        bars = self.bars()
        reached = sum(bar.reached for bar in bars)
        seeds = len({row["seed"] for row in self.rows})
        return Finding(
            seen=f"{len(self.learners)} learners on {len(self.names)} rows, {seeds} seeds each.",
            verdict=f"{reached} of {len(bars)} bars reached.",
            holds=reached == len(bars),
            tables=self.tables(),
            pictures=[self.picture()],
        )

    def picture(self) -> Picture:
        """A line of dots for each row: the champion, RobustDFF, a black box, the best peer."""
        size = (9, 2.5 + len(self.names) / 4)
        caption = "Mistakes on the same streams: fewer is better."
        return Picture("compare", caption, self._draw, size)

    def _draw(self, figure: Any) -> None:
        axes, names = figure.subplots(), self.names
        heights = {row: len(names) - number for number, row in enumerate(names)}
        series: list[tuple[str | None, str, str, dict[str, str | None]]] = [
            ("RobustDFF, told m, k, s", RED, "o", dict.fromkeys(names, "RobustDFF")),
            ("logistic regression", GREY, "x", dict.fromkeys(names, "LogisticRegression")),
            (
                "best readable label-only learner",
                ORANGE,
                "s",
                {n: self.best_peer(n) for n in names},
            ),
        ]
        if self.champion is not None:
            colour = GREEN if self.champion == "AutoDFF" else BLUE
            series.append((self.champion, colour, "D", dict.fromkeys(names, self.champion)))
        for label, colour, marker, learner in series:
            points = [(row, name) for row, name in learner.items() if name and self.has(row, name)]
            means = [max(self.mean(*point), 0.5) for point in points]
            halves = [self.spread(*point) or 0.0 for point in points]
            axes.errorbar(
                means,
                [heights[row] for row, _ in points],
                xerr=[[min(h, m * 0.9) for m, h in zip(means, halves, strict=True)], halves],
                fmt=marker,
                color=colour,
                elinewidth=1,
                label=label,
            )
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_yticks(list(heights.values()), names)
        axes.set_ylim(0.3, len(names) + 0.7)
        axes.set_xlabel("mistakes (mean over seeds, 95 % interval)")
        figure.legend(loc="outside upper center", ncol=2)

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON values."""
        summary = [
            {
                "row": row,
                "group": ROWS[row].group,
                "teacher": ROWS[row].teacher,
                "exceptions": self.exceptions(row),
                "best_peer": self.best_peer(row),
                "mistakes": {
                    name: {"mean": self.mean(row, name), "half_width": self.spread(row, name)}
                    for name in self.learners
                    if self.has(row, name)
                },
            }
            for row in self.names
        ]
        return {
            "tellapart": "compare",
            "format": 1,
            "versions": {"tellapart": __version__} | versions("numpy", "river", "scikit-learn"),
            "champion": self.champion,
            "skipped": self.skipped,
            "summary": summary,
            "bars": [{**asdict(bar), "reached": bar.reached} for bar in self.bars()],
            "rows": self.rows,
        }


def _half_width(values: Sequence[float]) -> float:
    """Of the 95 % interval of the mean, by Student's t."""
    t = _T[min(len(values) - 1, len(_T)) - 1]
    return t * stdev(values) / sqrt(len(values))
