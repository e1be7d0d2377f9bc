"""Figures: means with error bars, in one style, and the picture of a few trials.

Every learner has one colour and marker in all figures. The colours are those of Okabe and Ito,
which colour-blind readers can distinguish; markers repeat them for print.
"""

from __future__ import annotations

import io
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

from tellapart.errors import MissingExtra, ParameterError
from tellapart.lab.experiment import Figure, Rows
from tellapart.lab.trial import Trial

_GREY = "#8A8A8A"
_COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#000000", "#56B4E9")
_MARKERS = "osv^PXD"
_STYLES = {
    "RobustDFF": 0, "CappedDFF": 1, "AdaptiveDFF growing": 2,
    "AdaptiveDFF ruler": 3, "RobustDFF, patience 0": 4, "DFF": 5, "Guarded": 6, "AutoDFF": 6,
    "StRoDFF as printed": 4, "StRoDFF": 2, "StRoDFF, scale 0.1": 3,
}  # fmt: skip
"""Colours and markers of learners by their names; of other lines they follow in turn."""

_RC: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelsize": 13,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 13,
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.h_pad": 0.08,
    "figure.constrained_layout.w_pad": 0.1,
    "figure.dpi": 160,  # the layout is right only at the resolution that is saved
    "font.size": 12,
    "grid.color": "#E4E4E4",
    "legend.frameon": False,
    "lines.linewidth": 2.2,
    "lines.markersize": 7,
    "svg.hashsalt": "tellapart",
}
_METADATA = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}


def render(figure: Figure, rows: Rows, kinds: Sequence[str], title: str = "") -> list[bytes]:
    """The figure as svg, pdf or png, or as several of them; same rows, same bytes."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        raise MissingExtra("a picture", "lab") from None
    with mpl.rc_context(_RC):
        canvas = Canvas(figsize=size(figure, rows))
        _draw(canvas, figure, rows, title)
        files = []
        for kind in kinds:
            file = io.BytesIO()
            canvas.savefig(file, format=kind, dpi="figure", metadata=_METADATA.get(kind))
            files.append(file.getvalue())
        return files


def panels(figure: Figure, rows: Rows) -> dict[Any, Rows]:
    """The rows of each panel."""
    shown = Rows(row for row in rows.where(**figure.where) if row.get(figure.y) is not None)
    return shown.by(figure.panel) if figure.panel or not shown else {"": shown}


def size(figure: Figure, rows: Rows) -> tuple[float, float]:
    """Width and height in inches."""
    down, across = _grid(len(panels(figure, rows)))
    return 2.2 + 5.4 * across, 4.4 * down


def _grid(panels: int) -> tuple[int, int]:
    """How many panels below each other, and side by side."""
    across = min(panels, 2 if panels <= 4 else 3)
    return -(-panels // across), across


def _draw(canvas: Any, figure: Figure, rows: Rows, title: str) -> None:
    groups = panels(figure, rows)
    every = canvas.subplots(*_grid(len(groups)), squeeze=False, sharey=True)
    drawn: dict[str, Any] = {}
    styles = _styles([str(name) for name in rows.values(figure.line)] or [figure.y])
    for axes, (panel, group) in zip(every.flat, groups.items(), strict=False):
        lines = group.by(figure.line) if figure.line else {figure.y: group}
        limits = [_limit(figure, line) for line in lines.values()]
        for number, ((name, line), limit) in enumerate(zip(lines.items(), limits, strict=True)):
            colour, marker = styles[str(name)]
            places, means, errors = zip(*line.curve(figure.x, figure.y), strict=True)
            joined = "-" if all(isinstance(place, int | float) for place in places) else ""
            look = {"color": colour, "marker": marker, "linestyle": joined}
            bars = {"yerr": errors, "capsize": 3, "elinewidth": 1.4}
            drawn[str(name)] = axes.errorbar(_at(places), means, **look, **bars)
            if limit and (number == 0 or limit != limits[0]):
                own = colour if any(one != limits[0] for one in limits) else _GREY
                places, means, _ = zip(*limit, strict=True)
                axes.plot(_at(places), means, ":", color=own, linewidth=1.6)
        axes.set(title=f"{figure.panel}: {panel}" if figure.panel else title, xlabel=figure.x)
        _scale(axes, figure, group)
    for unused in list(every.flat)[len(groups) :]:
        unused.set_axis_off()
    for axes in every[:, 0]:
        axes.set_ylabel(figure.y)
    if figure.line != figure.panel:
        order = sorted(drawn, key=lambda name: -drawn[name].lines[0].get_ydata()[-1])
        place = {"loc": "outside right upper", "title": figure.line}
        canvas.legend([drawn[name] for name in order], order, **place)


def _styles(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """A colour and a marker for each line: those of `_STYLES`, then others that are left."""
    known = {name: _STYLES[name] for name in names if name in _STYLES}
    free = (number for number in count() if number not in known.values())
    found = {name: known[name] if name in known else next(free) for name in names}
    kinds = len(_COLOURS)
    return {n: (_COLOURS[i % kinds], _MARKERS[(i + i // kinds) % kinds]) for n, i in found.items()}


def _at(places: Sequence[Any]) -> list[Any]:
    return [place if isinstance(place, int | float) else str(place) for place in places]


def _limit(figure: Figure, rows: Rows) -> list[tuple[Any, float, float]]:
    if isinstance(figure.limit, str):
        return rows.curve(figure.x, figure.limit)
    if figure.limit is None:
        return []
    return [(place, figure.limit, 0.0) for place, _, _ in rows.curve(figure.x, figure.y)]


def _scale(axes: Any, figure: Figure, rows: Rows) -> None:
    if "y" in figure.log:
        axes.set_yscale("log")
    places = rows.values(figure.x)
    if "x" in figure.log:
        zero = min(places) <= 0
        axes.set_xscale("symlog", linthresh=1) if zero else axes.set_xscale("log")
        if len(places) <= 10 and max(places) <= 2_000:
            axes.set_xticks(sorted(places), [f"{place:g}" for place in sorted(places)])
            axes.minorticks_off()
    elif not all(isinstance(place, int | float) for place in places):
        axes.tick_params(axis="x", rotation=90 if len(places) > 6 else 0)


def draw_trials(trials: Sequence[Trial], path: Path, title: str) -> None:
    """Save a picture of the mistakes of a few learners so far; the suffix of `path` is the format.

    Raises `MissingExtra` without matplotlib.
    """
    kind = path.suffix[1:].lower()
    if kind not in _METADATA:
        endings = ", ".join(f".{one}" for one in _METADATA)
        raise ParameterError(f"cannot draw {str(path)!r}: end it in one of {endings}")
    kinds_of = Counter(type(trial.learner) for trial in trials)
    rows = Rows()
    for trial in trials:
        learner, lesson = trial.learner, trial.lesson
        name = type(learner).__name__ if kinds_of[type(learner)] == 1 else repr(learner)
        for number in sorted({lesson.rounds * part // 20 for part in range(21)}):
            so_far = bisect_left(lesson.mistake_rounds, number)
            rows.append({"learner": name, "rounds": number, "mistakes": so_far})
    path.write_bytes(render(Figure("rounds", "mistakes", line="learner"), rows, [kind], title)[0])
