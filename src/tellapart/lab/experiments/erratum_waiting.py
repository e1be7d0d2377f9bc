"""The constants of StRoDFF: how long it waits

With the constants of the paper no rule can appear before some hundred rounds. A scale multiplies
the deviation terms: below 1 rules come sooner, and the guarantee is gone.
"""

from __future__ import annotations

from typing import Any

import tellapart as ta
from tellapart.lab.experiment import Cell, Finding, Row, Rows, Table
from tellapart.lab.experiments import picture, rate_rows
from tellapart.lab.figures import PALETTE, label_lines, rate_axes, reference_line
from tellapart.theory import gamma

_M, _D, _EPSILON, _DELTA = 4, 64, 0.01, 0.1
_SCALES = dict(zip((1.0, 0.3, 0.1, 0.03, 0.0), PALETTE, strict=True))


def cells(quick: bool) -> list[Cell]:
    items = 200_000 if quick else 3_000_000
    return [
        Cell(
            "erratum_waiting", {"scale": scale, "items": items, "world": world}, weight=items / 1e6
        )
        for scale in _SCALES
        for world in range(2 if quick else 4)
    ]


def run(seed: int, scale: float, items: int, world: int) -> list[Row]:
    made = ta.worlds.tree(items, _D, _M, _M, _EPSILON, seed=world)
    learner = ta.StRoDFF(_M, _EPSILON, _EPSILON / _D, _DELTA, scale=scale)
    teacher = made.teacher()
    first = 0
    while learner.rules_created == 0 and first < items:
        guess = learner.guess(made.items[first])
        learner.learn(made.items[first], guess, teacher.answer(made.items[first], guess))
        first += 1
    lesson = ta.simulate(learner.clone(), made)
    return [{**row, "first": first - 1} for row in rate_rows("StRoDFF", lesson)]


def read(rows: Rows) -> Finding:
    most = max(rows.distinct("n"))
    last = {scale: rows.where(scale=scale, n=most) for scale in rows.distinct("scale")}
    first = {scale: group.mean("first") for scale, group in last.items()}
    rate = {scale: group.mean("rate") for scale, group in last.items()}
    deleted = {scale: group.mean("deleted") for scale, group in last.items()}
    soonest = {scale: _soonest(scale) for scale in last}
    best = min(rate, key=lambda scale: rate[scale])
    holds = all(first[scale] >= soonest[scale] for scale in last) and soonest[1.0] > 200
    seen = (
        f"At scale 1 the first rule came in round {first[1.0]:.0f}, and could not come before"
        f" {soonest[1.0]}; at scale {best:g} it came in round {first[best]:.0f}. After {most:,}"
        f" rounds the rate of mistakes was {rate[1.0]:.3f} at scale 1 and lowest, {rate[best]:.3f},"
        f" at scale {best:g}. What is lost: rules that were deleted, on average {deleted[1.0]:g} at"
        f" scale 1, {deleted[0.1]:g} at scale 0.1, {deleted[0.0]:g} at scale 0."
    )
    verdict = (
        "The wait is as long as the constants say; smaller ones learn sooner, and below some scale"
        " they drop rules again and again."
        if holds
        else "The first rule came before the constants allow it."
    )
    table = Table(
        f"StRoDFF in made trees (m = {_M}, ε = {_EPSILON}): first rule, and after {most:,} rounds.",
        ["scale", "first rule in round", "soonest possible", "rate", "rules made", "rules deleted"],
        [[s, first[s], soonest[s], rate[s], last[s].mean("rules"), deleted[s]] for s in last],
    )

    @picture(
        "The rate of mistakes of StRoDFF when the deviation terms of q and γ are scaled; 1 is the"
        " paper.",
        size=(8, 4.4),
    )
    def chart(figure: Any) -> None:
        axes = figure.subplots()
        for (scale,), group in rows.group_by("scale"):
            curve, label = group.curve("n", "rate"), f"scale {scale:g}"
            axes.plot(*curve, color=_SCALES[scale], marker="o", clip_on=False, label=label)
        reference_line(axes, _EPSILON, "exceptions", 100)
        axes.set(xlim=(100, most), ylim=(_EPSILON / 1.5, 1))
        rate_axes(axes)
        label_lines(axes)

    return Finding(seen, verdict, holds, [table], [chart])


def _soonest(scale: float) -> int:
    """The first round t with t >= γ(ε, 1, t)."""
    return next(t for t in range(1, 10**6) if t >= gamma(_EPSILON, 1, t, _DELTA, scale=scale))
