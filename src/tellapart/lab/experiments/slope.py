"""Slope in k: quadratic for the paper's algorithm, linear for ours

The bound of RobustDFF is quadratic in the number k of exceptions. CappedDFF, which is told neither
k nor s, is linear in k; so is RobustDFF with patience 0. AdaptiveDFF, which is not told m either,
is quadratic (growing) or of the order k log k (ruler).
"""

from __future__ import annotations

from typing import Any

from tellapart.lab.experiment import Cell, Finding, Row, Rows, Table
from tellapart.lab.experiments import bounded_learners, exponent, picture, teach_hostile
from tellapart.lab.figures import label_lines, plot_learner, slope_guide

_M, _S = 4, 1


def cells(quick: bool) -> list[Cell]:
    sizes = [2**power for power in range(8 if quick else 10)]
    return [
        Cell("slope", {"m": _M, "s": _S, "k": k, "repeat": repeat}, weight=k * k / 5e3)
        for k in sizes
        for repeat in range(1 if quick and k > 64 else 3)
    ]


def run(seed: int, m: int, s: int, k: int, repeat: int) -> list[Row]:
    return teach_hostile(bounded_learners(m, k, s), m, k, s, seed)


def read(rows: Rows) -> Finding:
    learners, sizes = rows.distinct("learner"), rows.distinct("k")
    curves = {name: rows.where(learner=name).curve("k", "mistakes") for name in learners}
    # terms in m alone dominate at small k, so the exponent is fitted to the last octaves
    powers = {name: exponent(xs[-3:], ys[-3:]) for name, (xs, ys) in curves.items()}
    paper, ours = powers["RobustDFF"], powers["CappedDFF"]
    holds = paper > 1.8 and ours < 1.2
    most = max(sizes)
    ratio = curves["RobustDFF"][1][-1] / curves["CappedDFF"][1][-1]
    seen = (
        f"From k = {sizes[-3]} to {most} (m = {_M}, s = {_S}), mistakes grow like"
        + ",".join(f" k^{powers[name]:.2f} for {name}" for name in learners)
        + f". At k = {most} RobustDFF makes {ratio:.0f} times the mistakes of CappedDFF."
    )
    verdict = (
        "Quadratic for the paper's algorithm, linear for CappedDFF, on the same teacher."
        if holds
        else f"Not as claimed: exponents {paper:.2f} for the paper's, {ours:.2f} for CappedDFF."
    )
    table = Table(
        f"Mean mistakes under a hostile teacher, m = {_M}, s = {_S}; in brackets the share of the"
        " bound.",
        ["k", *learners],
        [[k, *(_say(rows.where(learner=name, k=k)) for name in learners)] for k in sizes],
    )

    @picture(
        f"Mistakes under a hostile teacher as exceptions grow, m = {_M}, s = {_S}. The teacher"
        " turns an item into an exception whenever the learner falls back on its default.",
        size=(9, 4.8),
    )
    def chart(figure: Any) -> None:
        axes = figure.subplots()
        for name in learners:
            label = f"{name}: $k^{{{powers[name]:.2f}}}$"
            plot_learner(axes, name, *curves[name], label=label)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(sizes, [str(k) for k in sizes])
        axes.set(xlim=(min(sizes), most), xlabel="exceptions k", ylabel="mistakes (mean)")
        top, low = curves["RobustDFF"][1][-1], curves["CappedDFF"][1][-1]
        slope_guide(axes, 2, (most / 16, top / 256 * 2.2), most / 2, "k²")
        slope_guide(axes, 1, (most / 16, low / 16 / 2.2), most / 2, "k")
        label_lines(axes)

    return Finding(seen, verdict, holds, [table], [chart])


def _say(rows: Rows) -> str:
    mistakes, bound = rows.mean("mistakes"), rows.mean("bound")
    return f"{mistakes:,.0f} ({mistakes / bound:.0%})"
