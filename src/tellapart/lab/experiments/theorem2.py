"""Theorem 2: every learner errs of the order of m² times

If feedback is given with respect to m components, any learner makes Ω(m²) mistakes even under a
perfect teacher: in the world of the proof, at least m(m-1)/16 on average.
"""

from __future__ import annotations

from typing import Any

import tellapart as ta
from tellapart.lab.experiment import Cell, Finding, Row, Rows, Table
from tellapart.lab.experiments import exponent, picture
from tellapart.lab.figures import GREY, label_lines, plot_learner
from tellapart.theory import dff_bound, lower_bound

_WORLDS = 10  # worlds in a cell


def cells(quick: bool) -> list[Cell]:
    sizes = (4, 8, 16, 32) if quick else (4, 8, 16, 32, 64)
    repeats = 2 if quick else 4
    return [
        Cell("theorem2", {"m": m, "repeat": repeat}, weight=m**3 / 1e4)
        for m in sizes
        for repeat in range(repeats)
    ]


def run(seed: int, m: int, repeat: int) -> list[Row]:
    rows: list[Row] = []
    for number in range(_WORLDS):
        world = ta.worlds.lower_bound(m, seed + number)
        learners = {
            "DFF": ta.DFF(),
            "RobustDFF": ta.RobustDFF(m, 0, 0),
            "CappedDFF": ta.CappedDFF(m),
            "AdaptiveDFF growing": ta.AdaptiveDFF(),
            "AdaptiveDFF ruler": ta.AdaptiveDFF("ruler"),
        }
        for name, learner in learners.items():
            lesson = ta.teach(learner, world.teacher(), world.items)
            rows.append({"world": number, "learner": name, "mistakes": lesson.mistakes})
    return rows


def read(rows: Rows) -> Finding:
    sizes, learners = rows.distinct("m"), rows.distinct("learner")
    means = {
        (m, learner): group.mean("mistakes")
        for (m, learner), group in rows.group_by("m", "learner")
    }
    least = min(means[m, learner] / lower_bound(m) for m in sizes for learner in learners)
    powers = {
        learner: exponent(*rows.where(learner=learner).curve("m", "mistakes"))
        for learner in learners
    }
    low, high = min(powers.values()), max(powers.values())
    below = [(m, name) for (m, name), mistakes in means.items() if mistakes < lower_bound(m)]
    holds = not below and low > 1.7
    seen = (
        f"On average over {len(rows) // len(means)} worlds each, mistakes were at least"
        f" {least:.1f} times m(m-1)/16 for each of the {len(learners)} learners and each m from"
        f" {min(sizes)} to {max(sizes)}; they grow like m^{low:.2f} to m^{high:.2f}."
    )
    verdict = (
        "No learner came below the lower bound, and all grow about as m²."
        if holds
        else f"Below the lower bound: {below}; the smallest exponent is {low:.2f}."
    )
    table = Table(
        "Mean mistakes in the world of Theorem 2, with the lower bound for all learners, and the"
        " most that DFF can make under a perfect teacher.",
        ["m", "m(m-1)/16", *learners, "(m-1)(m+2)/2"],
        [
            [m, lower_bound(m), *(means[m, learner] for learner in learners), dff_bound(m)]
            for m in sizes
        ],
    )

    @picture(
        "Mistakes in random worlds of Theorem 2. The shaded region is where no learner can be on"
        " average."
    )
    def chart(figure: Any) -> None:
        axes = figure.subplots()
        lower = [lower_bound(m) for m in sizes]
        axes.fill_between(sizes, lower, 0.1, color="#EEEEEE", linewidth=0)
        axes.plot(sizes, lower, color=GREY, label="lower bound m(m-1)/16")
        for learner in learners:
            plot_learner(axes, learner, *rows.where(learner=learner).curve("m", "mistakes"))
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(sizes, [str(m) for m in sizes])
        axes.set(xlim=(min(sizes), max(sizes)), xlabel="components m")
        axes.set(ylim=(0.5, None), ylabel="mistakes (mean)")
        label_lines(axes)

    return Finding(seen, verdict, holds, [table], [chart])
