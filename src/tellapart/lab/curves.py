"""The picture of a comparison: mistakes over the rounds, and against the bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tellapart.errors import MissingExtra, ParameterError
from tellapart.export.text import name_of
from tellapart.lab.trial import Trial
from tellapart.protocol import Item
from tellapart.worlds import World

_COLOURS = ("#1b6ca8", "#d1495b", "#3b8b5a", "#8a5fb5", "#c9862b", "#5c6670")
_DASHES = ("solid", (0, (5, 2)), (0, (1, 1)), (0, (5, 2, 1, 2)))
_CUT = 8  # bounds are drawn up to so many times the most mistakes
_MARKED = 8  # exceptions and slips are marked one by one up to this many


def draw(
    trials: Sequence[Trial], path: Path, *, title: str, name: Callable[[Item], str] = name_of
) -> None:
    """Save mistakes over time, and mistakes against bounds; the ending of `path` says the format.

    Raises `MissingExtra` without matplotlib.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("a picture", "lab") from None
    figure = Figure(figsize=(10, 4.6), dpi=150, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    formats = canvas.get_supported_filetypes()
    if path.suffix[1:].lower() not in formats:
        raise ParameterError(
            f"cannot draw {str(path)!r}: end it in one of {', '.join(f'.{f}' for f in formats)}"
        )
    figure.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    _over_time(left, trials, name)
    _against_bounds(right, trials)
    # no date and no version inside: same trials, same bytes
    metadata = {"Software": None} if path.suffix.lower() == ".png" else None
    figure.savefig(path, metadata=metadata)


def _over_time(axes: Any, trials: Sequence[Trial], name: Callable[[Item], str]) -> None:
    for number, trial in enumerate(trials):
        lesson = trial.lesson
        rounds = [0, *lesson.mistake_rounds, lesson.rounds]
        counts = [*range(lesson.mistakes + 1), lesson.mistakes]
        # the thick line below and the thin one above stay visible where curves coincide
        axes.step(
            rounds,
            counts,
            where="post",
            color=_COLOURS[number % len(_COLOURS)],
            linestyle=_DASHES[number % len(_DASHES)],
            linewidth=3.2 - 1.8 * number / max(1, len(trials) - 1),
            label=type(trial.learner).__name__,
        )
    axes.set_xlabel("rounds")
    axes.set_title("Mistakes so far", loc="left", fontsize=11)
    axes.grid(axis="y", color="#e5e5e5", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_xlim(0, trials[0].lesson.rounds)
    most = max(1, *(trial.lesson.mistakes for trial in trials))
    marked = _mark(axes, trials[0], name)
    axes.set_ylim(0, most * (1.5 if marked else 1.08))  # the names stand above the curves
    axes.legend(loc="lower right", frameon=True, edgecolor="none", framealpha=1)


def _mark(axes: Any, trial: Trial, name: Callable[[Item], str]) -> bool:
    """Exceptions and slips of the first trial, by name, unless there are many."""
    scene = trial.scene
    odd = list(scene.exceptions) if isinstance(scene, World) else []
    marks = [(n, f"{name(scene.items[n])} (exception)") for n in odd]
    marks += [(slip.round, f"{name(slip.item)} (slip)") for slip in trial.slips]
    if len(marks) > _MARKED:
        return False
    for number, text in sorted(marks):
        axes.axvline(number, color="#b0b0b0", linewidth=0.8, zorder=0)
        axes.annotate(
            text,
            (number, 1),
            xycoords=("data", "axes fraction"),
            xytext=(2, -2),
            textcoords="offset points",
            rotation=90,
            ha="left",
            va="top",
            fontsize=8,
            color="#777777",
        )
    return bool(marks)


def _against_bounds(axes: Any, trials: Sequence[Trial]) -> None:
    edge = _CUT * max(1, *(trial.lesson.mistakes for trial in trials))
    for number, trial in enumerate(trials):
        colour = _COLOURS[number % len(_COLOURS)]
        mistakes, bound = trial.lesson.mistakes, trial.bound
        if bound is not None:
            axes.barh(number, min(bound, edge), height=0.5, color=colour, alpha=0.2)
        axes.barh(number, mistakes, height=0.5, color=colour)
        said = (
            f"{mistakes:,}, no bound" if bound is None else f"{mistakes:,} of at most {bound:,.0f}"
        )
        axes.annotate(
            said,
            (mistakes if bound is None else min(bound, edge), number),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
        )
    axes.set_yticks(range(len(trials)), [type(trial.learner).__name__ for trial in trials])
    for number, tick in enumerate(axes.get_yticklabels()):
        tick.set_color(_COLOURS[number % len(_COLOURS)])
        tick.set_fontweight("bold")
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.margins(x=0.45)
    axes.set_xlabel("mistakes")
    axes.set_title("Mistakes made, and the most there could be", loc="left", fontsize=11)
