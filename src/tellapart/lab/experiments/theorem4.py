"""Theorem 4: the rate of mistakes in a random stream

If a share ε of a random stream are exceptions, and a share σ at most name the same feature against
the same component, then with probability 1-δ the rate of mistakes of StRoDFF in n rounds is O((σm +
ε) m log(1/δ) + m² log²(n/δ)/√n). RobustDFF with k = εn has a bound that says nothing, being
quadratic in n.
"""

from __future__ import annotations

from bisect import bisect_left
from math import log10
from typing import Any

import tellapart as ta
from tellapart.lab.experiment import Cell, Finding, Row, Rows, Table
from tellapart.lab.experiments import picture, rate_rows
from tellapart.lab.figures import DOTTED, GREY, label_lines, plot_learner, rate_axes
from tellapart.learners import BaseLearner
from tellapart.theory import stochastic_bound
from tellapart.worlds import World

_M, _D, _EPSILON, _DELTA = 4, 64, 0.01, 0.1
_ROBUST = "RobustDFF, k = εn"
_LEARNERS = ("StRoDFF as printed", "StRoDFF", _ROBUST, "CappedDFF", "StRoDFF, scale 0.1")


def cells(quick: bool) -> list[Cell]:
    sizes = [10**power for power in range(2, 7 if quick else 8)]
    # only RobustDFF depends on n: for the others one long lesson contains the shorter ones
    return [
        Cell("theorem4", {"learner": name, "items": n, "world": world}, weight=n / 1e6)
        for world in range(1 if quick else 2)
        for name in _LEARNERS
        for n in (sizes if name == _ROBUST else sizes[-1:])
    ]


def run(seed: int, learner: str, items: int, world: int) -> list[Row]:
    # the number of the world is its seed, so all learners get the same world
    made = ta.worlds.tree(items, _D, _M, _M, _EPSILON, seed=world)
    lesson = ta.simulate(_learner(learner, made), made)
    rows = rate_rows(learner, lesson)
    for row in rows:
        row["exceptions"] = bisect_left(made.exceptions, row["n"]) / row["n"]
    return rows[-1:] if learner == _ROBUST else rows  # it is told the k of the whole stream


def _learner(name: str, world: World) -> BaseLearner:
    if name == _ROBUST:
        return ta.RobustDFF(_M, world.k, world.s)
    if name == "CappedDFF":
        return ta.CappedDFF(_M)
    scale = 0.1 if name.endswith("scale 0.1") else 1.0
    printed = name.endswith("as printed")
    return ta.StRoDFF(_M, _EPSILON, _EPSILON / _D, _DELTA, scale=scale, as_printed=printed)


def read(rows: Rows) -> Finding:
    learners = rows.distinct("learner")
    most = max(rows.distinct("n"))
    curves = {name: rows.where(learner=name).curve("n", "rate") for name in learners}
    last = {name: ys[-1] for name, (_, ys) in curves.items()}
    before = {name: ys[-2 if name == _ROBUST else -3] for name, (_, ys) in curves.items()}
    floor = rows.where(n=most).mean("exceptions")
    bound = stochastic_bound(_M, _EPSILON, _EPSILON / _D, _DELTA, most).total / most
    useful = next(
        n
        for n in (10**power for power in range(2, 40))
        if stochastic_bound(_M, _EPSILON, _EPSILON / _D, _DELTA, n).total < n
    )
    # the rate starts high while it waits for rules, then falls in uneven steps, rule by rule
    peak = {name: max(ys) for name, (_, ys) in curves.items()}
    falls = _falls(curves["StRoDFF"][1])
    stays = not _falls(curves["StRoDFF as printed"][1])
    within = last["StRoDFF"] <= bound
    holds = falls and within
    seen = (
        f"After n = {most:,} rounds the rate of mistakes is"
        + ",".join(f" {last[name]:.3f} for {name}" for name in learners)
        + f"; {floor:.3f} of the items are exceptions. In the last tenfold of n, StRoDFF went from"
        f" {before['StRoDFF']:.3f} to {last['StRoDFF']:.3f} (at its highest it was"
        f" {peak['StRoDFF']:.3f}), as printed from"
        f" {before['StRoDFF as printed']:.3f} to {last['StRoDFF as printed']:.3f}, and RobustDFF"
        f" told k = εn from {before[_ROBUST]:.3f} to {last[_ROBUST]:.3f}. The bound, with the"
        f" constants of the proof, is {bound:.1f} mistakes a round, and below 1 only from about"
        f" n = 10^{log10(useful):.0f} on."
    )
    word = "does not" if stays else "does, too"
    verdict = (
        f"The rate of the corrected algorithm falls with n, as claimed; as printed it {word}. Its"
        f" constants are large: at n = {most:,} it is {last['StRoDFF'] / floor:.0f} times the rate"
        f" of exceptions, with a tenth of them {last['StRoDFF, scale 0.1'] / floor:.1f} times,"
        f" where CappedDFF is at {last['CappedDFF'] / floor:.1f} times."
        if holds
        else f"The rate of the corrected algorithm went from {before['StRoDFF']:.3f} to"
        f" {last['StRoDFF']:.3f} in the last tenfold of n; its bound is {bound:.3f}."
    )
    decades = sorted(n for n in rows.distinct("n") if log10(n) == int(log10(n)))
    table = Table(
        f"Mistakes a round in made trees (m = {_M}, ε = {_EPSILON}, d = {_D}), and the bound of"
        " Theorem 4.",
        ["n", *learners, "exceptions", "bound"],
        [
            [n, *(_rate(rows.where(learner=name, n=n)) for name in learners), odd, bound / n]
            for n in decades
            for odd in [rows.where(n=n).mean("exceptions")]
            for bound in [stochastic_bound(_M, _EPSILON, _EPSILON / _D, _DELTA, n).total]
        ],
    )

    @picture(
        f"Rate of mistakes in a random stream: made trees of m = {_M} components with"
        f" {_EPSILON:.0%} exceptions. No learner can stay below the dashed line for long.",
        size=(9.5, 4.8),
    )
    def chart(figure: Any) -> None:
        axes = figure.subplots()
        for name in learners:
            plot_learner(axes, name, *curves[name])
        ends = [min(decades), most]
        axes.plot(ends, [_EPSILON] * 2, color=GREY, linestyle=DOTTED, label="exceptions")
        axes.set(xlim=(min(decades), most), ylim=(_EPSILON / 2, 1))
        rate_axes(axes)
        label_lines(axes)

    return Finding(seen, verdict, holds, [table], [chart])


def _falls(rates: list[float]) -> bool:
    """Whether the rate has halved since its peak, and falls in the last tenfold of n."""
    return rates[-1] < max(rates) / 2 and rates[-1] < rates[-3]


def _rate(rows: Rows) -> float | None:
    return rows.mean("rate") if rows else None
