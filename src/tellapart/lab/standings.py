"""What a comparison found: means, ratios with intervals over seeds, and the bars we set ourselves.

A ratio of two learners on a row is that of their mean mistakes over the seeds; no mistakes at all
count as half a one. Over several rows it is the geometric mean. Its interval (95 %) comes from the
ratios of the single seeds, by Student's t on their logarithms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from math import exp, log, sqrt
from statistics import fmean, stdev
from typing import Any

from tellapart import __version__
from tellapart.lab.experiment import Finding, Picture, Row, Table
from tellapart.lab.peers import READABLE
from tellapart.lab.rows import values
from tellapart.lab.streams import ROWS

_T = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23)  # of 1, 2, ... degrees
_LEAST = 0.5
GROUPS = {"made": "made worlds", "tables": "tables", "noise": "tables where noise rules"}
"""Kinds of rows, and what they are called."""


@dataclass(frozen=True)
class Ratio:
    """A ratio of mistakes, and where it lies with 95 % certainty, as far as seeds tell."""

    value: float
    low: float | None
    high: float | None

    def __str__(self) -> str:
        shown = f"{self.value:.2f}"
        return shown if self.low is None else f"{shown} ({self.low:.2f}–{self.high:.2f})"


@dataclass(frozen=True)
class Bar:
    """Something to be reached."""

    what: str
    value: float
    """Smaller is better."""
    bar: float
    rows: int
    """Over how many rows."""
    worst: str
    """The row with the largest value."""
    low: float | None = None
    high: float | None = None

    @property
    def reached(self) -> bool:
        """Whether it is."""
        return self.value <= self.bar


class Standings:
    """The rows of a comparison, and what they say.

    Parameters
    ----------
    rows : rows
        One for each row of the benchmark, learner and seed.
    skipped : {row: command}, optional
        What was left out, and how to get it.
    """

    def __init__(self, rows: Sequence[Row], skipped: Mapping[str, str] | None = None) -> None:
        self.rows, self.skipped = list(rows), dict(skipped or {})
        self._mistakes: dict[tuple[str, str], dict[int, int]] = {}
        for row in self.rows:
            cell = self._mistakes.setdefault((row["row"], row["learner"]), {})
            cell[row["seed"]] = row["mistakes"]
        self.names: list[str] = values(self.rows, "row")
        self.learners: list[str] = values(self.rows, "learner")
        first = [name for name in ("AutoDFF", "Hindsight") if name in self.learners]
        self.champion: str | None = first[0] if first else None
        """The learner that the bars are about."""

    def has(self, row: str, learner: str) -> bool:
        """Whether `learner` was taught `row`."""
        return (row, learner) in self._mistakes

    def mean(self, row: str, learner: str) -> float:
        """Mistakes, as a mean over the seeds."""
        return fmean(self._mistakes[row, learner].values())

    def spread(self, row: str, learner: str) -> float | None:
        """Half the width of the mean's interval; None with a single seed."""
        made = list(self._mistakes[row, learner].values())
        return None if len(made) < 2 else _t(len(made)) * stdev(made) / sqrt(len(made))

    def exceptions(self, row: str) -> float:
        """Exceptions in the stream, as a mean over the seeds."""
        found = {one["seed"]: one["exceptions"] for one in self.rows if one["row"] == row}
        return fmean(found.values())

    def best_peer(self, row: str) -> str | None:
        """The readable peer with the fewest mistakes on a row, picked in hindsight."""
        there = [name for name in READABLE if self.has(row, name)]
        return min(there, key=lambda name: self.mean(row, name)) if there else None

    def ratio(self, pairs: Sequence[tuple[str, str, str]]) -> Ratio:
        """The geometric mean over (row, learner, other) of learner's mistakes by other's."""
        value = exp(fmean(log(self._ratio(*pair)) for pair in pairs))
        seeds = set.intersection(
            *(set(self._mistakes[row, name]) for row, *names in pairs for name in names)
        )
        if len(seeds) < 2:
            return Ratio(value, None, None)
        logs = [fmean(log(self._ratio(*pair, seed=seed)) for pair in pairs) for seed in seeds]
        half = _t(len(logs)) * stdev(logs) / sqrt(len(logs))
        return Ratio(value, value * exp(-half), value * exp(half))

    def _ratio(self, row: str, learner: str, other: str, seed: int | None = None) -> float:
        ours, theirs = (
            self.mean(row, name) if seed is None else self._mistakes[row, name][seed]
            for name in (learner, other)
        )
        return max(ours, _LEAST) / max(theirs, _LEAST)

    def group(self, *groups: str) -> list[str]:
        """The rows of these groups."""
        return [name for name in self.names if ROWS[name].group in groups]

    def against(self, learner: str, rows: Sequence[str]) -> Ratio | None:
        """The champion's mistakes by those of `learner`, over the rows that have both."""
        champion = self.champion
        if champion is None:
            return None
        pairs = [
            (row, champion, learner)
            for row in rows
            if self.has(row, champion) and self.has(row, learner)
        ]
        return self.ratio(pairs) if pairs else None

    def against_best(self, rows: Sequence[str]) -> list[tuple[str, str, str]]:
        """(row, champion, best readable peer) of the rows that have them."""
        champion = self.champion
        if champion is None:
            return []
        found = [(row, champion, self.best_peer(row)) for row in rows if self.has(row, champion)]
        return [(row, ours, best) for row, ours, best in found if best is not None]

    def bars(self) -> list[Bar]:
        """What the champion must reach, as far as the rows tell."""
        champion, made = self.champion, []
        if champion is None:
            return []
        told = [
            (row, champion, "RobustDFF")
            for row in self.names
            if self.has(row, champion) and self.has(row, "RobustDFF")
        ]
        made += self._bar(f"{champion} / RobustDFF told m, k, s", told, 0.5)
        clear = self.against_best(self.group("made", "tables"))
        what = f"{champion} / best readable peer"
        made += self._bar(f"{what}, made worlds and tables", clear, 0.75)
        made += self._worst(f"{what}, the worst row of these", clear, 1.15)
        noisy = self.against_best(self.group("noise"))
        made += self._bar(f"{what}, where noise rules", noisy, 1.05)
        made += self._worst(f"{what}, the worst row of these", noisy, 1.05)
        return made + self._price()

    def _bar(self, what: str, pairs: Sequence[tuple[str, str, str]], bar: float) -> list[Bar]:
        if not pairs:
            return []
        found, worst = self.ratio(pairs), max(pairs, key=lambda pair: self._ratio(*pair))
        return [Bar(what, found.value, bar, len(pairs), worst[0], found.low, found.high)]

    def _worst(self, what: str, pairs: Sequence[tuple[str, str, str]], bar: float) -> list[Bar]:
        if not pairs:
            return []
        worst = max(pairs, key=lambda pair: self._ratio(*pair))
        found = self.ratio([worst])
        return [Bar(what, found.value, bar, len(pairs), worst[0], found.low, found.high)]

    def _price(self) -> list[Bar]:
        """What exceptions cost beyond themselves: at worst, by row."""
        champion, found = self.champion, []
        for name in self.names:
            row = ROWS[name]
            clean = name.replace(f"-{row.exceptions}%", "-0%")
            both = champion is not None and self.has(name, champion) and self.has(clean, champion)
            if champion is None or not row.exceptions or not both:
                continue
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
            pairs = self.against_best([row])
            ratio = str(self.ratio(pairs)) if pairs else None
            lines.append([row, round(self.exceptions(row)), *means, ratio])
        tables = [
            Table(
                "Mistakes, as a mean over the seeds; k: exceptions among them. Last, those of"
                f" {self.champion} for each one of the best readable peer.",
                ["row", "k", *self.learners, "ratio"],
                lines,
            )
        ]
        if self.champion is not None:
            tables += [self._ratios(), self._bars()]
        return tables

    def _ratios(self) -> Table:
        others = [name for name in self.learners if name != self.champion]
        parts = {said: self.group(group) for group, said in GROUPS.items()} | {"all": self.names}
        lines: list[list[Any]] = []
        for said, rows in parts.items():
            if rows:
                found = [self.against(name, rows) for name in others]
                pairs = self.against_best(rows)
                best = self.ratio(pairs) if pairs else None
                ratios = dict(zip(["best readable peer", *others], [best, *found], strict=True))
                lines += [[said, len(rows), name, str(r)] for name, r in ratios.items() if r]
        return Table(
            f"Mistakes of {self.champion} for each one of the others: geometric means over rows.",
            ["rows", "", "against", "ratio"],
            lines,
        )

    def _bars(self) -> Table:
        return Table(
            "What is to be reached.",
            ["", "found", "bar", "reached", "rows", "the worst of them"],
            [
                [
                    bar.what,
                    str(Ratio(bar.value, bar.low, bar.high)),
                    bar.bar,
                    bar.reached,
                    bar.rows,
                    bar.worst,
                ]
                for bar in self.bars()
            ],
        )

    def finding(self) -> Finding:
        """All of it, as the lab's other experiments have it."""
        bars = self.bars()
        reached = sum(bar.reached for bar in bars)
        seeds = len(values(self.rows, "seed"))
        return Finding(
            seen=f"{len(self.learners)} learners on {len(self.names)} rows, {seeds} seeds each.",
            verdict=f"{reached} of {len(bars)} bars reached.",
            holds=reached == len(bars),
            tables=self.tables(),
            pictures=[self.picture()],
        )

    def picture(self) -> Picture:
        """Every row as a line from the champion to the best peer."""
        from tellapart.lab.dots import dots

        return dots(self)

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
            "versions": versions(),
            "champion": self.champion,
            "skipped": self.skipped,
            "summary": summary,
            "bars": [{**asdict(bar), "reached": bar.reached} for bar in self.bars()],
            "rows": self.rows,
        }


def versions() -> dict[str, str | None]:
    """What the numbers depend on; None: not installed."""
    found: dict[str, str | None] = {"tellapart": __version__}
    for package in ("numpy", "river", "scikit-learn"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found


def _t(seeds: int) -> float:
    return _T[min(seeds - 1, len(_T)) - 1]
