"""Erratum: the threshold n_k of StRoDFF

The pseudo-code takes n_k = q(ε, t'), with t' counted from the first time the feature was named; the
proof counts from the creation of the rule. As printed, a fresh reason has t' = 1 and a tiny
threshold, and good rules are deleted.
"""

from __future__ import annotations

from typing import Any

import tellapart as ta
from tellapart.lab.experiment import Cell, Finding, Row, Rows, Table
from tellapart.lab.experiments import picture, rate_rows
from tellapart.lab.figures import label_lines, plot_learner, reference_line

_EPSILON = 0.05


def cells(quick: bool) -> list[Cell]:
    return [
        Cell("erratum_threshold", {"items": 30_000 if quick else 1_000_000, "as_printed": printed})
        for printed in (True, False)
    ]


def run(seed: int, items: int, as_printed: bool) -> list[Row]:
    world = ta.worlds.fresh_reasons(items, _EPSILON)
    learner = ta.StRoDFF(2, _EPSILON, _EPSILON / len(world.features), 0.1, as_printed=as_printed)
    return rate_rows("StRoDFF as printed" if as_printed else "StRoDFF", ta.simulate(learner, world))


def read(rows: Rows) -> Finding:
    most = max(rows.distinct("n"))
    [printed] = rows.where(learner="StRoDFF as printed", n=most)
    [repaired] = rows.where(learner="StRoDFF", n=most)
    holds = float(printed["rate"]) > 5 * _EPSILON and float(repaired["rate"]) < 1.5 * _EPSILON
    seen = (
        f"After {most:,} rounds with {_EPSILON:.0%} exceptions, the rate of mistakes is"
        f" {printed['rate']:.3f} as printed, where {printed['deleted']} of {printed['rules']} rules"
        f" were deleted, and {repaired['rate']:.3f} repaired, with {repaired['deleted']} of"
        f" {repaired['rules']}."
    )
    verdict = (
        "As printed good rules die of fresh reasons; counted from the rule's creation they live."
        if holds
        else "The failure or the repair was not seen here."
    )
    table = Table(
        "Rate of mistakes in the first n rounds.",
        ["n", "as printed", "repaired"],
        [
            [n, *(rows.where(learner=name, n=n)[0]["rate"] for name in rows.distinct("learner"))]
            for n in rows.distinct("n")
        ],
    )

    @picture(
        "StRoDFF in a world of two components whose exceptions never give the same reason twice.",
        size=(7, 4),
    )
    def chart(figure: Any) -> None:
        axes = figure.subplots()
        for name, label in (("StRoDFF as printed", "as printed"), ("StRoDFF", "repaired")):
            plot_learner(axes, name, *rows.where(learner=name).curve("n", "rate"), label=label)
        reference_line(axes, _EPSILON, "exceptions", 100)
        axes.set(xscale="log", xlim=(100, most), ylim=(0, 1))
        axes.set(xlabel="rounds n", ylabel="mistakes in the first n rounds")
        axes.yaxis.set_major_formatter("{x:.0%}")
        label_lines(axes)

    return Finding(seen, verdict, holds, [table], [chart])
