"""How the lab's figures look: one colour, marker and dash for each learner, in every figure.

Colours are those of Okabe and Ito, which the colour-blind tell apart; markers and dashes say the
same again for print. Lines are named where they end rather than in a legend.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from tellapart.errors import MissingExtra
from tellapart.lab.experiment import Picture

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, RED, PINK = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY = "#8A8A8A"


class Look(NamedTuple):
    """Colour, marker and dash."""

    colour: str
    marker: str = "o"
    dash: str | tuple[int, tuple[int, ...]] = "solid"


LOOKS = {
    "RobustDFF": Look(RED, "o"),
    "RobustDFF, patience 0": Look(ORANGE, "P", (0, (5, 2))),
    "RobustDFF, k = εn": Look(ORANGE, "P"),
    "CappedDFF": Look(BLUE, "s"),
    "AdaptiveDFF growing": Look(GREEN, "^"),
    "AdaptiveDFF ruler": Look(PINK, "v", (0, (5, 2))),
    "DFF": Look(BLACK, "X", (0, (4, 2))),
    "Guarded": Look(SKY, "D"),
    "StRoDFF as printed": Look(RED, "o"),
    "StRoDFF": Look(GREEN, "^"),
    "StRoDFF, scale 0.1": Look(PINK, "v"),
}
"""Learners under the names they have in rows and figures."""

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


def render(picture: Picture) -> dict[str, bytes]:
    """The picture as SVG and PNG; same numbers, same bytes."""
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("the lab's report", "lab") from None
    made = {}
    with mpl.rc_context(_RC):
        figure = Figure(figsize=picture.size)
        FigureCanvasAgg(figure)
        picture.draw(figure)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # one layout for both
        for kind, metadata in (
            ("svg", {"Date": None, "Creator": None}),
            ("png", {"Software": None}),
        ):
            file = io.BytesIO()
            figure.savefig(file, format=kind, dpi=160, metadata=metadata)
            made[kind] = file.getvalue()
    return made


def line(
    axes: Any,
    name: str,
    xs: Sequence[float],
    ys: Sequence[float],
    label: str | None = None,
    **more: Any,
) -> None:
    """A learner's curve in its own look, named at its end."""
    look = LOOKS[name]
    options = {
        "color": look.colour,
        "marker": look.marker,
        "linestyle": look.dash,
        "markeredgecolor": "white",
        "markeredgewidth": 0.8,
        "label": label or name,
        "clip_on": False,
    }
    axes.plot(xs, ys, **options | more)


def rate_of_mistakes(axes: Any) -> None:
    """Axes for the rate of mistakes in the first n rounds, both in powers of ten."""
    axes.set(xscale="log", yscale="log", xlabel="rounds n")
    axes.set_ylabel("mistakes in the first n rounds")
    axes.set_yticks([0.01, 0.03, 0.1, 0.3, 1], ["1%", "3%", "10%", "30%", "100%"])
    axes.minorticks_off()


def name_ends(axes: Any, *, gap: float = 15.0, size: float = 11.5) -> None:
    """Write each line's label to the right of its end, pushed apart where they would touch.

    `gap` is the least distance between two names, in points. Call it after limits are set.
    """
    figure = axes.figure
    figure.draw_without_rendering()  # places are known only once there is a layout
    scale = 72 / figure.dpi
    ends = []
    for drawn in axes.get_lines():
        name = drawn.get_label()
        xs, ys = drawn.get_xdata(), drawn.get_ydata()
        if name.startswith("_") or not len(xs):
            continue
        place = axes.transData.transform((xs[-1], ys[-1])) * scale
        ends.append([place[1], place[1], (xs[-1], ys[-1]), name, drawn.get_color()])
    bottom, top = (axes.transAxes.transform((0, edge))[1] * scale for edge in (0, 1))
    for end, place in zip(ends, _spread([end[0] for end in ends], gap, bottom, top), strict=True):
        end[1] = place
    for was, now, point, name, colour in ends:
        axes.annotate(
            name,
            point,
            xytext=(10, now - was),
            textcoords="offset points",
            va="center",
            fontsize=size,
            color=colour,
            fontweight="bold",
            annotation_clip=False,
        )


def doubling(axis: Any) -> None:
    """A logarithmic axis of plain numbers: 1, 2, 4, 8, ..."""
    axis._set_axes_scale("log", base=2)
    axis.set_major_formatter("{x:g}")


def _spread(places: Sequence[float], gap: float, bottom: float, top: float) -> list[float]:
    """Places moved as little as needed to be `gap` apart, between bottom and top if there is room.

    >>> _spread([10, 12, 50], gap=6, bottom=0, top=100)
    [8.0, 14.0, 50]
    """
    order = sorted(range(len(places)), key=lambda number: places[number])
    now = [places[number] for number in order]
    for _ in range(1000):  # neighbours that are too near push each other away
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


def guide(axes: Any, power: float, through: tuple[float, float], upto: float, text: str) -> None:
    """A faint line y ~ x^power, to compare slopes with, on logarithmic axes."""
    x, y = through
    end = y * (upto / x) ** power
    axes.plot([x, upto], [y, end], color=GREY, linewidth=1.2, linestyle=(0, (2, 2)), label="_guide")
    axes.annotate(
        text,
        (upto, end),
        xytext=(-4, 4),
        textcoords="offset points",
        ha="right",
        va="bottom",
        color=GREY,
        fontsize=11,
    )
