"""The result of a comparison: means, ratios with intervals, and the bars to reach.

Rows that were tuned on and rows that were kept apart are never averaged together.

The ratio of two learners on a row is that of their mean mistakes over the seeds; zero mistakes
count as half a mistake. Over several rows it is the geometric mean, and its 95 % interval comes
from the ratios of the rows, by Student's t on their logarithms: it is about other worlds of the
same kind. The interval of a single row comes from the ratios of its seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import exp, log, sqrt
from statistics import fmean, median, stdev
from typing import Any, NamedTuple

from tellapart import __version__
from tellapart.lab.experiment import Finding, Picture, Row, Table, Value
from tellapart.lab.figures import BLUE, GREEN, GREY, ORANGE, RED
from tellapart.lab.measurement import versions
from tellapart.lab.peers import PEERS, READABLE
from tellapart.lab.real_tables import KEPT, TUNED
from tellapart.lab.streams import ROWS, TEACHERS

_T = (
    *(12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23),  # of 1, 2, ... degrees
    *(2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09, 2.09),
)
_LEAST = 0.5  # what zero mistakes count as
GROUPS = (KEPT, TUNED)
"""In the order of the report: the rows kept apart decide."""
FAMILIES = {False: "real tables", True: "made worlds"}
"""By whether a world is made."""
READABLE_PEER, ANY_PEER, MUTE = "best readable peer", "best of any peer", "itself, mute"
"""What the champion is compared with."""
_BARS: tuple[tuple[bool, str, str, float], ...] = (
    (False, READABLE_PEER, "tree", 0.65),
    (False, READABLE_PEER, "informed", 0.75),
    (False, READABLE_PEER, "lazy", 1.0),
    (False, READABLE_PEER, "mute", 1.0),
    (False, ANY_PEER, "informed", 0.95),
    (True, READABLE_PEER, "tree", 0.43),
    (True, READABLE_PEER, "slipping", 0.65),
    (True, READABLE_PEER, "half-silent", 0.72),
)
"""Made worlds or tables, compared with, teacher, and the largest mean ratio."""
_WORST = 1.25
"""The largest ratio of a single table to the best readable peer, for tree and informed teachers."""


@dataclass(frozen=True)
class Ratio:
    """A ratio of mistakes with its 95 % interval, if there is more than one number."""

    value: float
    low: float | None
    high: float | None
    rows: int
    """How many rows it is about."""
    worst: str
    """The row with the largest ratio,"""
    worst_value: float
    """and that ratio."""

    def __str__(self) -> str:
        shown = f"{self.value:.2f}"
        return shown if self.low is None else f"{shown} ({self.low:.2f}–{self.high:.2f})"


@dataclass(frozen=True)
class Bar:
    """A value that must not exceed its bar."""

    what: str
    teacher: str
    group: str
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


class Pair(NamedTuple):
    """Two learners on a row, each with the row of its own cells."""

    row: str
    learner: tuple[str, str]
    other: tuple[str, str]


class Standings:
    """The cells of a comparison, and what they show.

    Parameters
    ----------
    rows : rows
        One for each row of the comparison, learner and seed. Those of peers are about the row that
        peers are taught (`StreamSpec.of_peers`).
    names : names of rows, optional
        The rows of the comparison; by default those of the cells.
    skipped : {row: command}, optional
        Rows left out, and the command that installs what they need.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        names: Iterable[str] | None = None,
        skipped: Mapping[str, str] | None = None,
    ) -> None:
        self.rows, self.skipped = list(rows), dict(skipped or {})
        self._cells: dict[tuple[str, str], dict[int, Row]] = {}
        for row in self.rows:
            self._cells.setdefault((row["row"], row["learner"]), {})[row["seed"]] = row
        found = (row["row"] for row in self.rows)
        self.names: list[str] = list(dict.fromkeys(found if names is None else names))
        self.learners: list[str] = list(dict.fromkeys(row["learner"] for row in self.rows))
        ours = [name for name in self.learners if name not in PEERS]
        first = [name for name in ("AutoDFF", "Hindsight") if name in ours]
        self.champion: str | None = first[0] if first else None
        """The learner that the bars are about."""

    # -- cells

    def _at(self, row: str, learner: str) -> tuple[str, str]:
        """Where the cells of a learner on a row are."""
        return (ROWS[row].of_peers if learner in PEERS else row), learner

    def has(self, row: str, learner: str | None) -> bool:
        """Whether `learner` was taught `row`."""
        return learner is not None and self._at(row, learner) in self._cells

    def values(self, row: str, learner: str, what: str = "mistakes") -> list[Any]:
        """A number of each seed, where it is known."""
        cells = self._cells[self._at(row, learner)].values()
        return [cell[what] for cell in cells if cell.get(what) is not None]

    def mean(self, row: str, learner: str, what: str = "mistakes") -> float:
        """The mean over the seeds."""
        return fmean(self.values(row, learner, what))

    def spread(self, row: str, learner: str) -> float | None:
        """Half the width of the interval of the mean number of mistakes; None with one seed."""
        return _half_width(self.values(row, learner))

    def exceptions(self, row: str) -> float:
        """The mean number of exceptions in the stream over the seeds."""
        stems = {row, ROWS[row].of_peers}
        found = {one["seed"]: one["exceptions"] for one in self.rows if one["row"] in stems}
        return fmean(found.values()) if found else 0.0

    def best(self, row: str, peers: Iterable[str] = PEERS) -> str | None:
        """The peer with the fewest mistakes on a row, chosen in hindsight."""
        there = [name for name in peers if self.has(row, name)]
        return min(there, key=lambda name: self.mean(row, name)) if there else None

    def best_readable(self, row: str) -> str | None:
        """The readable peer with the fewest mistakes on a row, chosen in hindsight."""
        return self.best(row, READABLE)

    def best_of_any(self, row: str) -> str | None:
        """The best of all peers; None on rows where only readable ones are taught."""
        others = any(self.has(row, name) for name in PEERS if name not in READABLE)
        return self.best(row) if others else None

    def group(self, group: str, *, made: bool, teacher: str | None = None) -> list[str]:
        """The rows of a group, tables or made worlds, perhaps only those of one teacher."""
        return [
            name
            for name in self.names
            if (ROWS[name].group, ROWS[name].made) == (group, made)
            and teacher in (None, ROWS[name].teacher)
        ]

    # -- ratios

    def ratio(self, rows: Sequence[str], against: str) -> Ratio | None:
        """The champion against a learner, the best readable peer or others, over rows of both."""
        pairs = [pair for row in rows if (pair := self._pair(row, against))]
        if not pairs:
            return None
        logs = [log(self._ratio(pair)) for pair in pairs]
        worst = max(pairs, key=self._ratio)
        half = _half_width(logs if len(pairs) > 1 else self._by_seed(pairs[0]))
        value = exp(fmean(logs))
        low, high = (None, None) if half is None else (value * exp(-half), value * exp(half))
        return Ratio(value, low, high, len(pairs), worst.row, self._ratio(worst))

    def _pair(self, row: str, against: str) -> Pair | None:
        champion, other, where = self.champion, against, row
        if against == READABLE_PEER:
            other = self.best_readable(row) or ""
        elif against == ANY_PEER:
            other = self.best_of_any(row) or ""
        elif against == MUTE:
            other, where = champion or "", f"{ROWS[row].stem}-mute"
        if champion is None or not self.has(row, champion):
            return None
        if where not in ROWS or not self.has(where, other):
            return None
        return Pair(row, self._at(row, champion), self._at(where, other))

    def _ratio(self, pair: Pair) -> float:
        ours, theirs = (
            fmean(cell["mistakes"] for cell in self._cells[place].values()) for place in pair[1:]
        )
        return max(ours, _LEAST) / max(theirs, _LEAST)

    def _by_seed(self, pair: Pair) -> list[float]:
        ours, theirs = (self._cells[place] for place in pair[1:])
        return [
            log(max(ours[seed]["mistakes"], _LEAST) / max(theirs[seed]["mistakes"], _LEAST))
            for seed in ours
            if seed in theirs
        ]

    def ratios(self) -> list[tuple[bool, str, str, dict[str, Ratio]]]:
        """Made or not, compared with, teacher: the ratios by group."""
        found = []
        for made in FAMILIES:
            for against in (READABLE_PEER, ANY_PEER, MUTE):
                for teacher in TEACHERS:
                    if (against, teacher) != (MUTE, "mute"):
                        found.append((made, against, teacher))
            others = (name for name in self.learners if name != self.champion)
            found += [(made, name, "tree") for name in others]
        by_group = [(*key, self._by_group(*key)) for key in found]
        return [ratio for ratio in by_group if ratio[-1]]

    def _by_group(self, made: bool, against: str, teacher: str) -> dict[str, Ratio]:
        found = {
            group: self.ratio(self.group(group, made=made, teacher=teacher), against)
            for group in GROUPS
        }
        return {group: ratio for group, ratio in found.items() if ratio is not None}

    def bars(self) -> list[Bar]:
        """The bars of the champion that the rows can decide, for each group on its own."""
        found = []
        for made, against, teacher, bar in _BARS:
            what = f"{FAMILIES[made]}, {self.champion} / {against}"
            for group, ratio in self._by_group(made, against, teacher).items():
                ends = ratio.low, ratio.high
                where = (what, teacher, group, ratio.value, bar, ratio.rows, ratio.worst)
                found.append(Bar(*where, *ends))
        for teacher in ("tree", "informed"):
            what = f"{FAMILIES[False]}, the worst of them / {READABLE_PEER}"
            for group, ratio in self._by_group(False, READABLE_PEER, teacher).items():
                value, rows = ratio.worst_value, ratio.rows
                found.append(Bar(what, teacher, group, value, _WORST, rows, ratio.worst))
        return found

    # -- the report

    def tables(self) -> list[Table]:
        """Mistakes by row; then, for the champion, its teachers, ratios, measures and the bars."""
        if self.champion is None:
            return self._by_learner()
        parts = [*self._by_learner(), *self._by_teacher(), *self._ratios(), *self._measures()]
        return [*parts, *self._bars()]

    def _groups(self) -> Iterable[tuple[str, list[str]]]:
        """A caption and the rows of each group that has any."""
        for made, family in FAMILIES.items():
            for group in GROUPS:
                if rows := self.group(group, made=made):
                    yield f"{family.capitalize()}, {group}", rows

    def _by_learner(self) -> list[Table]:
        tables = []
        for caption, rows in self._groups():
            lines: list[list[Any]] = []
            for row in rows:
                own = [name for name in self.learners if (row, name) in self._cells]
                shared = ROWS[row].of_peers
                if shared != row and shared in rows and set(own) <= {self.champion}:
                    continue  # the same peers, on another line
                means = [
                    f"{self.mean(row, name):.0f}" if self.has(row, name) else None
                    for name in self.learners
                ]
                lines.append([row, round(self.exceptions(row)), *means])
            columns = ["row", "k", *map(_SHORT.get, self.learners, self.learners)]
            tables.append(
                Table(
                    f"{caption}: mistakes by learner, as a mean over the seeds; k: exceptions.",
                    columns,
                    lines,
                )
            )
        return tables

    def _by_teacher(self) -> list[Table]:
        tables = []
        for caption, rows in self._groups():
            stems = dict.fromkeys(ROWS[row].stem for row in rows)
            lines: list[list[Any]] = []
            for stem in stems:
                own = {ROWS[row].teacher: row for row in rows if ROWS[row].stem == stem}
                ours = [
                    f"{self.mean(own[teacher], self.champion):.0f}"
                    if self.champion and teacher in own and self.has(own[teacher], self.champion)
                    else None
                    for teacher in TEACHERS
                ]
                peers = [
                    f"{name} {self.mean(stem, name):.0f}" if name else None
                    for name in (self.best_readable(stem), self.best_of_any(stem))
                ]
                lines.append([stem, *ours, *peers])
            tables.append(
                Table(
                    f"{caption}: mistakes of {self.champion} by teacher, and of the best peers,"
                    " chosen in hindsight.",
                    ["row", *TEACHERS, "best readable", "best of any"],
                    lines,
                )
            )
        return tables

    def _ratios(self) -> list[Table]:
        tables = []
        found = self.ratios()
        for made, family in FAMILIES.items():
            lines: list[list[Any]] = []
            for of_made, against, teacher, groups in found:
                if of_made == made:
                    lines.append([against, teacher, *self._side_by_side(groups, _ratio_cells)])
            columns = ["against", "teacher"]
            columns += [f"{group}{part}" for group in GROUPS for part in ("", ": rows", ": worst")]
            caption = (
                f"{family.capitalize()}: mistakes of {self.champion} for each one of the others:"
                " geometric means over rows."
            )
            if lines:
                tables.append(Table(caption, columns, lines))
        return tables

    @staticmethod
    def _side_by_side(
        groups: Mapping[str, Any], cells: Callable[[Any], list[Value]]
    ) -> list[Value]:
        return [value for group in GROUPS for value in cells(groups.get(group))]

    def measures(self) -> list[Row]:
        """What else is measured of the champion, by made or not, teacher and group.

        Of answers until 90 and 95 % of the items are right: the share of streams that get there,
        and the median of those.
        """
        found = []
        for made, family in FAMILIES.items():
            for teacher in TEACHERS:
                for group in GROUPS:
                    rows = self.group(group, made=made, teacher=teacher)
                    rows = [row for row in rows if self.has(row, self.champion)]
                    if rows:
                        where = {"family": family, "teacher": teacher, "group": group}
                        found.append(where | {"rows": len(rows)} | self._measure(rows))
        return found

    def _measure(self, rows: Sequence[str]) -> Row:
        champion = self.champion or ""
        found: Row = {}
        for share in (90, 95):
            got = [n for row in rows for n in self.values(row, champion, f"until_{share}")]
            streams = sum(len(self.values(row, champion)) for row in rows)
            found[f"reached_{share}"] = round(len(got) / streams, 3)
            found[f"until_{share}"] = median(got) if got else None
        readable, any_peer = (
            {row: best(row) for row in rows} for best in (self.best_readable, self.best_of_any)
        )
        fresh = [row for row in rows if self.values(row, champion, "fresh")]
        for name, peers in (("readable", readable), ("any", any_peer)):
            both = [
                row for row in fresh if (peer := peers[row]) and self.values(row, peer, "fresh")
            ]
            means = [self.mean(row, str(peers[row]), "fresh") for row in both]
            found[f"fresh_{name}"] = fmean(means) if means else None
        ours = [self.mean(row, champion, "fresh") for row in fresh]
        found["fresh"] = fmean(ours) if ours else None
        for what in ("clauses", "literals"):
            found[what] = fmean(self.mean(row, champion, what) for row in rows)
        return found

    def _measures(self) -> list[Table]:
        lines = []
        for one in self.measures():
            until = [
                f"{one[f'until_{share}']:.0f} ({one[f'reached_{share}']:.0%})"
                if one[f"until_{share}"] is not None
                else None
                for share in (90, 95)
            ]
            fresh = [
                None if one[key] is None else f"{one[key]:.1%}"
                for key in ("fresh", "fresh_readable", "fresh_any")
            ]
            length = [f"{one[key]:.1f}" for key in ("clauses", "literals")]
            lines.append(
                [one["family"], one["teacher"], one["group"], one["rows"], *until, *fresh, *length]
            )
        caption = (
            f"{self.champion}: answers until 90 and 95 % of the items are right (median, and how"
            " many streams get there); accuracy on fresh rows, and of the peers with the fewest"
            " mistakes; length of the list."
        )
        columns = ["", "teacher", "group", "rows", "90 %", "95 %", "fresh", "readable", "any"]
        return [Table(caption, [*columns, "clauses", "literals"], lines)] if lines else []

    def _bars(self) -> list[Table]:
        by_bar: dict[tuple[str, str, float], dict[str, Bar]] = {}
        for bar in self.bars():
            by_bar.setdefault((bar.what, bar.teacher, bar.bar), {})[bar.group] = bar
        lines = [[*key, *self._side_by_side(bars, _bar_cells)] for key, bars in by_bar.items()]
        columns = ["", "teacher", "bar"]
        columns += [f"{group}{part}" for group in GROUPS for part in ("", ": reached", ": worst")]
        caption = f"What is to be reached. The rows {KEPT} decide."
        return [Table(caption, columns, lines)] if lines else []

    def finding(self) -> Finding:
        """Everything as a finding, like those of the lab's experiments."""
        bars = [bar for bar in self.bars() if bar.group == KEPT]
        reached = sum(bar.reached for bar in bars)
        seeds = len({row["seed"] for row in self.rows})
        return Finding(
            seen=f"{len(self.learners)} learners on {len(self.names)} rows, {seeds} seeds each.",
            verdict=f"{reached} of {len(bars)} bars reached on the rows {KEPT}.",
            holds=reached == len(bars),
            tables=self.tables(),
            pictures=[self.picture()],
        )

    def picture(self) -> Picture:
        """A line of dots for each world: the champion with several teachers, and the best peer."""
        tallest = max(
            [sum(len(self._stems(group, made)) for made in FAMILIES) for group in GROUPS], default=0
        )
        caption = "Mistakes for each one of the best readable peer: fewer is better."
        return Picture("compare", caption, self._draw, (12, 2.5 + tallest / 4))

    def _stems(self, group: str, made: bool) -> list[str]:
        """The worlds of a group that have a readable peer."""
        rows = self.group(group, made=made)
        return [s for s in dict.fromkeys(ROWS[row].stem for row in rows) if self.best_readable(s)]

    def _draw(self, figure: Any) -> None:
        sizes = [max(1, *(len(self._stems(group, made)) for group in GROUPS)) for made in FAMILIES]
        panels = figure.subplots(2, 2, squeeze=False, sharex=True, height_ratios=sizes)
        shown: dict[str, Any] = {}
        for made, family in FAMILIES.items():
            for group, axes in zip(GROUPS, panels[int(made)], strict=True):
                stems = self._stems(group, made)
                shown |= self._panel(axes, stems)
                axes.set_title(f"{family}, {group}")
                axes.set_yticks(range(len(stems), 0, -1), stems)
                axes.set_ylim(0.3, max(1, len(stems)) + 0.7)
                axes.axvline(1, color="black", linewidth=1)
                axes.set_xscale("log")
        for axes in panels[-1]:
            low, high = axes.get_xlim()
            ticks = [tick for tick in _TICKS if low <= tick <= high]
            axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
            axes.minorticks_off()
            axes.set_xlabel("mistakes / mistakes of the best readable peer")
        figure.legend(shown.values(), shown.keys(), loc="outside upper center", ncol=5)

    def _panel(self, axes: Any, stems: Sequence[str]) -> dict[str, Any]:
        shown = {}
        for label, colour, marker, teacher in _MARKS:
            points = []
            for height, stem in zip(range(len(stems), 0, -1), stems, strict=True):
                readable, other = self.best_readable(stem), self.best_of_any(stem)
                if teacher:
                    row = stem if teacher == "tree" else f"{stem}-{teacher}"
                    ratio = self.ratio([row], READABLE_PEER) if row in self.names else None
                    if ratio:
                        points.append((ratio.value, height))
                elif readable and other:
                    ours, theirs = self.mean(stem, other), self.mean(stem, readable)
                    points.append((max(ours, _LEAST) / max(theirs, _LEAST), height))
            if points:
                name = f"{self.champion}, {label}" if teacher else label
                xs, ys = zip(*points, strict=True)
                [shown[name]] = axes.plot(xs, ys, marker, color=colour, alpha=0.85)
        return shown

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON values."""
        summary = [
            {
                "row": row,
                "group": ROWS[row].group,
                "made": ROWS[row].made,
                "teacher": ROWS[row].teacher,
                "exceptions": self.exceptions(row),
                "best_peer": self.best_readable(row),
                "best_of_any": self.best_of_any(row),
                "mistakes": {
                    name: {"mean": self.mean(row, name), "half_width": self.spread(row, name)}
                    for name in self.learners
                    if self.has(row, name)
                },
            }
            for row in self.names
        ]
        ratios = [
            {
                "family": FAMILIES[made],
                "against": against,
                "teacher": teacher,
                "group": group,
                **asdict(ratio),
            }
            for made, against, teacher, groups in self.ratios()
            for group, ratio in groups.items()
        ]
        return {
            "tellapart": "compare",
            "format": 2,
            "versions": {"tellapart": __version__} | versions("numpy", "river", "scikit-learn"),
            "champion": self.champion,
            "skipped": self.skipped,
            "summary": summary,
            "ratios": ratios,
            "measures": self.measures(),
            "bars": [{**asdict(bar), "reached": bar.reached} for bar in self.bars()],
            "rows": self.rows,
        }


_SHORT = {
    "HoeffdingTree": "Hoeffding",
    "LogisticRegression": "logistic",
    "logistic on numbers": "… on numbers",
}
"""Names of learners in the columns of wide tables."""
_MARKS: tuple[tuple[str, str, str, str | None], ...] = (
    ("mute", GREY, "o", "mute"),
    ("lazy", ORANGE, "v", "lazy"),
    ("best of any peer", RED, "x", None),
    ("informed", BLUE, "s", "informed"),
    ("tree", GREEN, "D", "tree"),
)
"""What the picture shows: name, colour, marker, and the teacher if it is the champion."""
_TICKS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20)


def _ratio_cells(ratio: Ratio | None) -> list[Value]:
    if ratio is None:
        return [None, None, None]
    return [str(ratio), ratio.rows, f"{ratio.worst_value:.2f} {ROWS[ratio.worst].stem}"]


def _bar_cells(bar: Bar | None) -> list[Value]:
    if bar is None:
        return [None, None, None]
    ends = "" if bar.low is None else f" ({bar.low:.2f}–{bar.high:.2f})"
    return [f"{bar.value:.2f}{ends}", bar.reached, ROWS[bar.worst].stem]


def _half_width(values: Sequence[float]) -> float | None:
    """Of the 95 % interval of the mean, by Student's t; None of a single value."""
    if len(values) < 2:
        return None
    t = _T[min(len(values) - 1, len(_T)) - 1]
    return t * stdev(values) / sqrt(len(values))
