"""Erratum: who makes a rule in StRoDFF

Lemma: StRoDFF creates at most 4m log(4/δ) rules, because a new rule is made of a random uncovered
item. But it is made only when the default guess is wrong, so its maker is not random: where the
default is right for all ordinary items, only exceptions make rules.
"""

from __future__ import annotations

from typing import Any

import tellapart as ta
from tellapart.lab.experiment import Cell, Finding, Row, Rows, Table
from tellapart.lab.experiments import picture, rate_rows
from tellapart.lab.figures import label_lines, plot_learner, reference_line
from tellapart.theory import stochastic_rules

_RATE, _REGIONS, _DELTA, _M = 0.01, 100, 0.1, 2
_SIGMAS = {"ε": _RATE, "ε/200": _RATE / (2 * _REGIONS)}  # both hold in this world
_NAMES = {True: "StRoDFF as printed", False: "StRoDFF"}


def cells(quick: bool) -> list[Cell]:
    lengths = [10_000, 30_000, 100_000, 300_000, 1_000_000]
    lengths += [] if quick else [3_000_000, 10_000_000]
    return [
        Cell("erratum_creation", {"items": n, "sigma": sigma}, weight=n / 2e5)
        for n in lengths
        for sigma in _SIGMAS
    ]


def run(seed: int, items: int, sigma: str) -> list[Row]:
    world = ta.worlds.quiet_majority(items, _RATE, _REGIONS)
    rows = []
    for printed, name in _NAMES.items():
        learner = ta.StRoDFF(_M, _RATE, _SIGMAS[sigma], _DELTA, as_printed=printed)
        rows += rate_rows(name, ta.simulate(learner, world))[-1:]
    return rows


def read(rows: Rows) -> Finding:
    least, most = min(rows.distinct("n")), max(rows.distinct("n"))
    allowed = stochastic_rules(_M, _DELTA)
    printed, repaired = rows.where(learner=_NAMES[True]), rows.where(learner=_NAMES[False])
    many = max(printed, key=lambda row: int(row["rules"]))
    few = max(int(row["rules"]) for row in repaired)
    [[low], [high]] = (printed.where(n=n, sigma="ε") for n in (least, most))
    worst = max(float(row["rate"]) for row in repaired.where(n=most))
    holds = int(many["rules"]) > allowed and few < allowed and worst < 1.5 * _RATE
    seen = (
        f"As printed, {many['rules']} rules were made in {many['n']:,} rounds"
        f" (σ = {many['sigma']}), where the lemma allows {allowed:.1f} for ever; with σ = ε the"
        f" rate of mistakes was {low['rate']:.3f} after {low['n']:,} rounds and"
        f" {high['rate']:.3f} after {high['n']:,}."
        f" Repaired, at most {few} {'rule was' if few == 1 else 'rules were'} made, and the rate"
        f" was {worst:.4f} at most, with {_RATE:.0%} exceptions."
    )
    verdict = (
        "The lemma is false as printed; with the rule made of whatever item meets the condition it"
        " holds here (tested, not proven)."
        if holds
        else "The failure or the repair was not seen here."
    )
    groups = [(key, group) for key in ("rules", "rate") for group in (printed, repaired)]
    table = Table(
        "Rules made, and rate of mistakes.",
        ["σ", "n", "rules as printed", "rules repaired", "rate as printed", "rate repaired"],
        [
            [sigma, n, *(group.where(sigma=sigma, n=n)[0][key] for key, group in groups)]
            for sigma in _SIGMAS
            for n in rows.distinct("n")
        ],
    )

    @picture(
        "StRoDFF in a world where every ordinary item has the label of the first, so that only"
        f" exceptions ({_RATE:.0%}, dotted on the right) make the default guess wrong.",
        size=(12, 4.2),
    )
    def chart(figure: Any) -> None:
        panels = figure.subplots(1, 2)
        for axes, key in zip(panels, ("rules", "rate"), strict=True):
            for sigma, dash in (("ε/200", "solid"), ("ε", (0, (4, 2)))):
                labels = f"printed, σ = {sigma}", "repaired" if sigma == "ε" else "_"
                for group, label in zip((printed, repaired), labels, strict=True):
                    style, curve = group[0]["learner"], group.where(sigma=sigma).curve("n", key)
                    plot_learner(axes, style, *curve, label=label, linestyle=dash)
            axes.set(xscale="log", xlabel="rounds n", xlim=(least, most))
        left, right = panels
        left.set(yscale="log", ylabel="rules made", ylim=(0.8, None))
        reference_line(left, allowed, "the lemma's limit", least)
        right.set(ylabel="mistakes in the first n rounds", ylim=(0, None))
        right.yaxis.set_major_formatter("{x:.0%}")
        reference_line(right, _RATE)
        for axes in panels:
            label_lines(axes)

    return Finding(seen, verdict, holds, [table], [chart])
