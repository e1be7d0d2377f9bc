"""The picture of a comparison: a line of dots for each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tellapart.lab.experiment import Picture
from tellapart.lab.figures import BLUE, GREEN, GREY, ORANGE, RED

if TYPE_CHECKING:
    from tellapart.lab.standings import Standings


def dots(found: Standings) -> Picture:
    """Mistakes of the champion, of RobustDFF, of the best readable peer and of a black box."""
    names = found.names

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        places = {row: len(names) - number for number, row in enumerate(names)}
        best = {row: peer for row in names if (peer := found.best_peer(row)) is not None}
        series: list[tuple[str, str, str, dict[str, str]]] = [
            ("RobustDFF, told m, k, s", RED, "o", dict.fromkeys(names, "RobustDFF")),
            ("logistic regression", GREY, "x", dict.fromkeys(names, "LogisticRegression")),
            ("best readable label-only learner", ORANGE, "s", best),
        ]
        if found.champion is not None:
            colour = GREEN if found.champion == "AutoDFF" else BLUE
            series.append((found.champion, colour, "D", dict.fromkeys(names, found.champion)))
        for said, colour, marker, who in series:
            rows = [row for row in names if row in who and found.has(row, who[row])]
            means = [max(found.mean(row, who[row]), 0.5) for row in rows]
            halves = [found.spread(row, who[row]) or 0.0 for row in rows]
            axes.errorbar(
                means,
                [places[row] for row in rows],
                xerr=[[min(h, m * 0.9) for m, h in zip(means, halves, strict=True)], halves],
                fmt=marker,
                color=colour,
                elinewidth=1,
                label=said,
            )
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_yticks([places[row] for row in names], names)
        axes.set_ylim(0.3, len(names) + 0.7)
        axes.set_xlabel("mistakes (mean over seeds, 95 % interval)")
        figure.legend(loc="outside upper center", ncol=2)

    return Picture(
        "compare",
        "Mistakes on the same streams: fewer is better.",
        draw,
        size=(9, 2.5 + len(names) / 4),
    )
