"""Figures: their common style, and the picture of a few trials.

Every learner has one colour, marker and dash in all figures. The colours are those of Okabe and
Ito, which colour-blind readers can distinguish; markers and dashes repeat them for print. Lines are
named at their ends, not in a legend.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from tellapart.errors import MissingExtra, ParameterError
from tellapart.export.text import name_of
from tellapart.lab.experiment import Picture
from tellapart.lab.trial import Trial
from tellapart.protocol import Item
from tellapart.worlds import World

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, RED, PINK = "#0072B2", "#D55E00", "#CC79A7"
GREY = "#8A8A8A"
PALETTE = (RED, ORANGE, PINK, BLUE, GREEN)
DOTTED = (0, (2, 2))


class Style(NamedTuple):
    """Colour, marker and dash of a line."""

    colour: str
    marker: str = "o"
    dash: str | tuple[int, tuple[int, ...]] = "solid"


STYLES = {
    "RobustDFF": Style(RED, "o"),
    "RobustDFF, patience 0": Style(ORANGE, "P", (0, (5, 2))),
    "RobustDFF, k = εn": Style(ORANGE, "P"),
    "CappedDFF": Style(BLUE, "s"),
    "AdaptiveDFF growing": Style(GREEN, "^"),
    "AdaptiveDFF ruler": Style(PINK, "v", (0, (5, 2))),
    "DFF": Style(BLACK, "X", (0, (4, 2))),
    "Guarded": Style(SKY, "D"),
    "StRoDFF as printed": Style(RED, "o"),
    "StRoDFF": Style(GREEN, "^"),
    "StRoDFF, scale 0.1": Style(PINK, "v"),
}
"""By a learner's name in rows and figures."""

_RC: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#444444",
    "axes.grid": True,
    "axes.labelsize": 13,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.titlesize": 13,
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.h_pad": 0.08,
    "figure.constrained_layout.w_pad": 0.1,
    "figure.dpi": 160,  # the layout is right only at the resolution that is saved
    "font.family": "DejaVu Sans",
    "font.size": 12,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "legend.fontsize": 11.5,
    "lines.linewidth": 2.2,
    "lines.markersize": 7,
    "savefig.facecolor": "white",
    "svg.fonttype": "path",
    "svg.hashsalt": "tellapart",
    "xtick.labelsize": 11.5,
    "ytick.labelsize": 11.5,
}
_METADATA = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}


def render(picture: Picture) -> dict[str, bytes]:
    """The picture as SVG and PNG; same numbers, same bytes."""
    figure = lay_out(picture)
    return {kind: _save(figure, kind) for kind in ("svg", "png")}


def lay_out(picture: Picture) -> Any:
    """The picture on a matplotlib figure, with room for all its text."""
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("a picture", "lab") from None
    with mpl.rc_context(_RC):
        figure = Figure(figsize=picture.size)
        FigureCanvasAgg(figure)
        picture.draw(figure)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # one layout for all formats
    return figure


def _save(figure: Any, kind: str) -> bytes:
    import matplotlib as mpl

    file = io.BytesIO()
    with mpl.rc_context(_RC):
        figure.savefig(file, format=kind, dpi="figure", metadata=_METADATA.get(kind))
    return file.getvalue()


# -- parts of a figure


def plot_learner(
    axes: Any, name: str, xs: Sequence[float], ys: Sequence[float], **more: Any
) -> None:
    """Plot a learner's curve in its own style, labelled with its name unless `more` has a label."""
    style = STYLES[name]
    look = {"color": style.colour, "marker": style.marker, "linestyle": style.dash, "label": name}
    edge = {"markeredgecolor": "white", "markeredgewidth": 0.8, "clip_on": False}
    axes.plot(xs, ys, **look | edge | more)


def reference_line(axes: Any, y: float, text: str = "", x: float = 1.0) -> None:
    """A dotted horizontal line, with a text that starts at `x` above it."""
    axes.axhline(y, color=GREY, linestyle=DOTTED, label="_")
    place = {"xytext": (4, 4), "textcoords": "offset points"}
    axes.annotate(text, (x, y), **place, color="#666666")


def rate_axes(axes: Any) -> None:
    """Logarithmic axes for the rate of mistakes in the first n rounds."""
    axes.set(xscale="log", yscale="log", xlabel="rounds n")
    axes.set_ylabel("mistakes in the first n rounds")
    axes.set_yticks([0.01, 0.03, 0.1, 0.3, 1], ["1%", "3%", "10%", "30%", "100%"])
    axes.minorticks_off()


def log2_axis(axis: Any) -> None:
    """A logarithmic axis of plain numbers: 1, 2, 4, 8, ..."""
    axis._set_axes_scale("log", base=2)
    axis.set_major_formatter("{x:g}")


def slope_guide(axes: Any, power: float, start: tuple[float, float], end: float, text: str) -> None:
    """A faint line y ~ x^power from `start` to x = `end`, on logarithmic axes."""
    x, y = start
    top = y * (end / x) ** power
    axes.plot([x, end], [y, top], color=GREY, linewidth=1.2, linestyle=DOTTED, label="_guide")
    place = {"xytext": (-4, 4), "textcoords": "offset points", "ha": "right", "va": "bottom"}
    axes.annotate(text, (end, top), **place, color=GREY, fontsize=11)


def label_lines(axes: Any) -> None:
    """Write each line's label at the right edge, level with the line's end.

    Labels closer than 15 points are pushed apart. Call it after limits are set.
    """
    axes.figure.draw_without_rendering()  # before a layout, positions are not known
    points = 72 / axes.figure.dpi
    lines = [line for line in axes.get_lines() if not line.get_label().startswith("_")]
    ends = [line.get_ydata()[-1] for line in lines]
    heights = [axes.transData.transform((1, end))[1] * points for end in ends]
    bottom, top = (axes.transAxes.transform((0, edge))[1] * points for edge in (0, 1))
    moved = _push_apart(heights, 15.0, bottom, top)
    for line, end, before, after in zip(lines, ends, heights, moved, strict=True):
        axes.annotate(
            line.get_label(),
            (1, end),
            xycoords=("axes fraction", "data"),
            xytext=(10, after - before),
            textcoords="offset points",
            va="center",
            fontsize=11.5,
            color=line.get_color(),
            fontweight="bold",
            annotation_clip=False,
        )


def _push_apart(places: Sequence[float], gap: float, bottom: float, top: float) -> list[float]:
    """Places moved as little as needed to be `gap` apart, between bottom and top if there is room.

    >>> _push_apart([10, 12, 50], gap=6, bottom=0, top=100)
    [8.0, 14.0, 50]
    """
    order = sorted(range(len(places)), key=lambda number: places[number])
    now = [places[number] for number in order]
    for _ in range(1000):  # neighbours that are too close push each other away
        short = [gap - (above - below) for below, above in pairwise(now)]
        if max(short, default=0) < 0.1:
            break
        for number, amount in enumerate(short):
            if amount > 0:
                now[number] -= amount / 2
                now[number + 1] += amount / 2
    for number, place in enumerate(now):
        now[number] = max(place, bottom + number * gap)
    top = max(top, bottom + len(now) * gap)
    for above, number in enumerate(reversed(range(len(now)))):
        now[number] = min(now[number], top - above * gap)
    return [now[order.index(number)] for number in range(len(now))]


# -- the picture of a few trials

_COLOURS = ("#1b6ca8", "#d1495b", "#3b8b5a", "#8a5fb5", "#c9862b", "#5c6670")
_DASHES = ("solid", (0, (5, 2)), (0, (1, 1)), (0, (5, 2, 1, 2)))
_MOST_BOUND = 8  # bounds are drawn up to this many times the most mistakes
_MOST_MARKS = 8  # more exceptions and slips than this are not marked


def draw_trials(
    trials: Sequence[Trial], path: Path, *, title: str, name: Callable[[Item], str] = name_of
) -> None:
    """Save a picture of mistakes over time and against bounds; the suffix of `path` is the format.

    Raises `MissingExtra` without matplotlib.
    """

    def draw(figure: Any) -> None:
        figure.suptitle(title, x=0.01, ha="left", fontsize=15, fontweight="bold")
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        _mistakes_over_time(left, trials, name)
        _mistakes_against_bounds(right, trials)

    figure = lay_out(Picture("trials", title, draw, size=(11.5, 5)))
    kind, kinds = path.suffix[1:].lower(), figure.canvas.get_supported_filetypes()
    if kind not in kinds:
        endings = ", ".join(f".{one}" for one in kinds)
        raise ParameterError(f"cannot draw {str(path)!r}: end it in one of {endings}")
    path.write_bytes(_save(figure, kind))


def _mistakes_over_time(axes: Any, trials: Sequence[Trial], name: Callable[[Item], str]) -> None:
    for number, trial in enumerate(trials):
        lesson = trial.lesson
        # the thick line below and the thin one above both show where curves coincide
        axes.step(
            [0, *lesson.mistake_rounds, lesson.rounds],
            [*range(lesson.mistakes + 1), lesson.mistakes],
            where="post",
            color=_COLOURS[number % len(_COLOURS)],
            linestyle=_DASHES[number % len(_DASHES)],
            linewidth=3.2 - 1.8 * number / max(1, len(trials) - 1),
            label=type(trial.learner).__name__,
        )
    axes.set_xlabel("rounds")
    axes.set_title("Mistakes so far")
    axes.grid(visible=False, axis="x")
    axes.set_xlim(0, trials[0].lesson.rounds)
    most = max(1, *(trial.lesson.mistakes for trial in trials))
    marked = _mark_exceptions(axes, trials[0], name)
    axes.set_ylim(0, most * (1.6 if marked else 1.08))  # the marks need room above the curves
    label_lines(axes)


def _mark_exceptions(axes: Any, trial: Trial, name: Callable[[Item], str]) -> bool:
    """Mark exceptions and slips by name; False if there are none or too many."""
    world = trial.world
    exceptions = list(world.exceptions) if isinstance(world, World) else []
    marks = [(n, f"{name(world.items[n])} (exception)") for n in exceptions]
    marks += [(slip.round, f"{name(slip.item)} (slip)") for slip in trial.slips]
    if len(marks) > _MOST_MARKS:
        return False
    for number, text in sorted(marks):
        axes.axvline(number, color="#b0b0b0", linewidth=0.8, zorder=0, label="_")
        axes.annotate(
            text,
            (number, 1),
            xycoords=("data", "axes fraction"),
            xytext=(2, -2),
            textcoords="offset points",
            rotation=90,
            ha="left",
            va="top",
            fontsize=9,
            color="#777777",
        )
    return bool(marks)


def _mistakes_against_bounds(axes: Any, trials: Sequence[Trial]) -> None:
    edge = _MOST_BOUND * max(1, *(trial.lesson.mistakes for trial in trials))
    for number, trial in enumerate(trials):
        colour = _COLOURS[number % len(_COLOURS)]
        mistakes, bound = trial.lesson.mistakes, trial.bound
        end = mistakes if bound is None else min(bound, edge)
        text = f"{mistakes:,}"
        if bound is None:
            text += ", no bound"
        elif bound >= trial.lesson.rounds:
            text += ", no useful bound"
        else:
            text += f" of at most {bound:,.0f}"
        axes.barh(number, end, height=0.5, color=colour, alpha=0.2)
        axes.barh(number, mistakes, height=0.5, color=colour)
        place = {"xytext": (5, 0), "textcoords": "offset points", "va": "center"}
        axes.annotate(text, (end, number), **place, fontsize=11)
    axes.set_yticks(range(len(trials)), [type(trial.learner).__name__ for trial in trials])
    for number, tick in enumerate(axes.get_yticklabels()):
        tick.set(color=_COLOURS[number % len(_COLOURS)], fontweight="bold")
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False)
    axes.invert_yaxis()
    axes.margins(x=0.45)
    axes.set_xlabel("mistakes")
    axes.set_title("Mistakes, and the most allowed")
