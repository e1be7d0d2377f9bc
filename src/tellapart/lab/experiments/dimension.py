"""Independence of d: from ten features to a million

A learner for perfect teachers can be used by explaining exceptions away with more components
(Theorem 1), but then its mistakes grow with the number of features d. The bounds of the robust
learners do not contain d.
"""

from __future__ import annotations

from statistics import stdev
from typing import Any

import numpy as np

import tellapart as ta
from tellapart.lab.experiment import Cell, Finding, Row, Rows, Table
from tellapart.lab.experiments import bounded_learners, exponent, lesson_row, picture, simulate_all
from tellapart.lab.figures import STYLES, label_lines, plot_learner

_M, _K = 8, 50


def cells(quick: bool) -> list[Cell]:
    sizes = [10**power for power in range(1, 7)]
    repeats, items = (10, 3_000) if quick else (30, 20_000)
    largest = sizes[:-1] if quick else sizes
    return [
        *(Cell("dimension", {"world": "one exception", "d": d}, weight=d / 1.3e4) for d in largest),
        *(
            Cell("dimension", {"world": "made tree", "d": d, "items": items, "repeat": n}, 0.2)
            for d in sizes
            for n in range(repeats)
        ),
    ]


def run(seed: int, world: str, d: int, items: int = 0, repeat: int = 0) -> list[Row]:
    if world == "made tree":
        made = ta.worlds.tree(items, d, _M, 4, _K, seed, similar=1)
        return simulate_all(bounded_learners(_M, _K, 1), made)
    explained = ta.worlds.single_exception(d, explained=True, seed=seed)
    rows = [lesson_row("DFF", ta.teach(ta.DFF(), explained.teacher(), explained.items))]
    del explained  # frees memory before the next world is made
    plain = ta.worlds.single_exception(d, seed=seed)
    for name, learner in bounded_learners(plain.m, plain.k, plain.s).items():
        rows.append(lesson_row(name, ta.teach(learner, plain.teacher(), plain.items)))
    return rows


def read(rows: Rows) -> Finding:
    one, trees = rows.where(world="one exception"), rows.where(world="made tree")
    robust_ones = trees.distinct("learner")
    naive = one.where(learner="DFF").curve("d", "mistakes")
    power = exponent(*naive)
    most_in_one = max(int(row["mistakes"]) for row in one if row["learner"] != "DFF")
    drifts = {}
    for name in robust_ones:
        # with ten features exceptions must name the same ones, so the fit starts at d = 100
        xs, ys = trees.where(learner=name).curve("d", "mistakes")
        drifts[name] = exponent(xs[1:], ys[1:])
    fastest = max(drifts, key=lambda name: drifts[name])
    drift = drifts[fastest]
    within = all(float(row["mistakes"]) <= float(row["bound"]) for row in rows)
    holds = power > 0.9 and most_in_one <= 6 and drift < 0.05 and within
    largest = int(max(naive[0]))
    seen = (
        f"With one exception explained away, DFF made {int(naive[1][-1]):,} mistakes at"
        f" d = {largest:,} (like d^{power:.2f}), the robust learners at most {most_in_one}. In made"
        f" trees (m = {_M}, k = {_K}, s = 1) from d = 100 to {int(max(trees.distinct('d'))):,},"
        f" the mean mistakes of no robust learner grow faster than d^{drift:.3f} ({fastest})."
    )
    verdict = (
        "The naive reduction pays for every feature; the robust learners do not notice d."
        if holds
        else f"Exponents in d: {power:.2f} for the reduction, {drift:.3f} at most for the robust."
    )
    order = ["DFF", *robust_ones]
    tables = [
        Table(
            caption,
            ["d", *names],
            [
                [d, *(group.where(d=d, learner=name).mean("mistakes") for name in names)]
                for d in group.distinct("d")
            ],
        )
        for caption, group, names in (
            ("Mistakes with one component and one exception; DFF after the reduction.", one, order),
            (f"Mean mistakes in made trees, m = {_M}, k = {_K}, s = 1.", trees, robust_ones),
        )
    ]

    @picture(
        "Mistakes against the number of features d. Left: the world of Theorem 1(b), where DFF is"
        " taught by a perfect teacher who has explained the exception away with d + 1 components,"
        " the others with m = k = 1. Right: random trees at fixed m, k, s, with standard errors.",
        size=(12.5, 4.6),
    )
    def chart(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        for name in order:
            label = "DFF, exception\nexplained away" if name == "DFF" else name
            plot_learner(left, name, *one.where(learner=name).curve("d", "mistakes"), label=label)
        for name in robust_ones:
            xs, ys = trees.where(learner=name).curve("d", "mistakes")
            errors = [_error(trees.where(learner=name, d=int(d))) for d in xs]
            low, high = np.subtract(ys, errors), np.add(ys, errors)
            right.fill_between(xs, low, high, color=STYLES[name].colour, alpha=0.18, linewidth=0)
            plot_learner(right, name, xs, ys)
        left.set(title="One component, one exception", yscale="log", ylim=(1, None))
        highest = max(group.mean("mistakes") for _, group in trees.group_by("learner", "d"))
        right.set(title=f"Made trees, m = {_M}, k = {_K}", ylim=(0, 1.25 * highest))
        for axes, ylabel in ((left, "mistakes"), (right, "mistakes (mean)")):
            axes.set(xscale="log", xlabel="features d", ylabel=ylabel)
            label_lines(axes)

    return Finding(seen, verdict, holds, tables, [chart])


def _error(rows: Rows) -> float:
    """The standard error of the mean."""
    mistakes = [float(row["mistakes"]) for row in rows]
    return float(stdev(mistakes) / len(mistakes) ** 0.5)
