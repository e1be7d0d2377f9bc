"""Erratum: an exception that comes back

Exceptions are defined as a set of items, and k as its size. If one exceptional item may return,
Theorem 3 is false as stated.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

import tellapart as ta
from tellapart.lab.experiment import Cell, Finding, Row, Rows, Table
from tellapart.lab.experiments import picture
from tellapart.lab.figures import BLUE, RED, label_lines, reference_line
from tellapart.theory import robust_bound

_LABELS = {False: "without memory", True: "with memory"}


def cells(quick: bool) -> list[Cell]:
    return [Cell("erratum_return", {"times": 50})]


def run(seed: int, times: int) -> list[Row]:
    world = ta.worlds.returning_exception(times)
    rows: list[Row] = []
    for remember in _LABELS:
        learner = ta.RobustDFF(1, 1, 1, remember=remember)
        lesson = ta.teach(learner, world.teacher(), world.items)
        for number in range(lesson.rounds):
            mistakes = bisect_left(lesson.mistake_rounds, number + 1)
            rows.append({"remember": remember, "round": number, "mistakes": mistakes})
    return rows


def read(rows: Rows) -> Finding:
    most = max(rows.distinct("round"))
    times = int(rows.distinct("times")[0])
    bound, in_rounds = robust_bound(1, 1, 1), robust_bound(1, times, 1)
    made = {
        remember: int(rows.where(remember=remember, round=most)[0]["mistakes"])
        for remember in _LABELS
    }
    holds = made[False] > bound and made[True] <= bound and made[False] <= in_rounds
    seen = (
        f"With one exception that comes back {times} times (m = k = s = 1), RobustDFF made"
        f" {made[False]} mistakes in {most} rounds, where Theorem 3 allows {bound}; with a memory"
        f" of the items seen, {made[True]}. If k counts rounds, the bound is {in_rounds:,}."
    )
    verdict = (
        "With exceptions counted as a set of items, Theorem 3 is false; with memory, or with k"
        " counted in rounds, it holds."
        if holds
        else "The failure or the repair was not seen here."
    )
    table = Table(
        "Mistakes of RobustDFF(m=1, k=1, s=1).",
        ["", "mistakes", "bound, k = 1 item", f"bound, k = {times} rounds"],
        [[_LABELS[remember], made[remember], bound, in_rounds] for remember in _LABELS],
    )

    @picture("RobustDFF on x0, then e, x1, x2 over and over, where e is an exception.", size=(7, 4))
    def chart(figure: Any) -> None:
        axes = figure.subplots()
        for remember, colour in ((False, RED), (True, BLUE)):
            curve = rows.where(remember=remember).curve("round", "mistakes")
            axes.plot(*curve, color=colour, label=_LABELS[remember])
        reference_line(axes, bound, f"Theorem 3: {bound}", most * 0.45)
        axes.set(xlim=(0, most), ylim=(0, None), xlabel="round", ylabel="mistakes so far")
        label_lines(axes)

    return Finding(seen, verdict, holds, [table], [chart])
