"""The price of ignorance

AdaptiveDFF and Guarded (here DFF guarded by AdaptiveDFF) are told neither m nor k nor s, and still
have bounds: for AdaptiveDFF (m-1)(m+2)/2 + (m+k)(m+k+1)/2 - 1 (growing) or O(m(m+k) log(m+k))
(ruler), for Guarded twice that of the learner that guards, plus one.
"""

from __future__ import annotations

from typing import Any

import tellapart as ta
from tellapart.lab.experiment import Cell, Finding, Row, Rows, Table
from tellapart.lab.experiments import picture, simulate_all, teach_hostile
from tellapart.lab.figures import GREY, label_lines, plot_learner
from tellapart.learners import BaseLearner

_M = 4
_UNTOLD = ("AdaptiveDFF growing", "AdaptiveDFF ruler", "Guarded")
_WORLDS = {"tree": "exceptions at random", "islands": "exceptions where they hurt"}


def cells(quick: bool) -> list[Cell]:
    exceptions = (0, 1, 4, 16, 64) if quick else (0, 1, 4, 16, 64, 256)
    repeats = 4 if quick else 10
    return [
        Cell(
            "ignorance",
            {"world": world, "m": _M, "k": k, "repeat": repeat},
            weight=k * k / 5e3 if world == "islands" else 0.1,
        )
        for world in _WORLDS
        for k in exceptions
        for repeat in range(repeats)
    ]


def run(seed: int, world: str, m: int, k: int, repeat: int) -> list[Row]:
    s = min(k, 1)
    if world == "islands":
        return teach_hostile(_learners(m, k, s), m, k, s, seed)
    tree = ta.worlds.tree(20_000, 100, m, m, k, seed, similar=s)
    return simulate_all(_learners(m, k, s), tree)


def _learners(m: int, k: int, s: int) -> dict[str, BaseLearner]:
    return {
        "CappedDFF": ta.CappedDFF(m),
        "RobustDFF": ta.RobustDFF(m, k, s),
        "AdaptiveDFF growing": ta.AdaptiveDFF(),
        "AdaptiveDFF ruler": ta.AdaptiveDFF("ruler"),
        "Guarded": ta.Guarded(ta.DFF(), ta.AdaptiveDFF()),
    }


def read(rows: Rows) -> Finding:
    learners, exceptions = rows.distinct("learner"), rows.distinct("k")
    settings = [(w, k) for w in _WORLDS for k in exceptions]
    means = {key: group.mean("mistakes") for key, group in rows.group_by("world", "k", "learner")}

    def price(world: str, k: int, name: str) -> float:
        """Mistakes for each one of CappedDFF, which is told m."""
        return means[world, k, name] / means[world, k, "CappedDFF"]

    kept = all(row["mistakes"] <= row["bound"] for row in rows)
    worst = {name: max((price(w, k, name), w, k) for w, k in settings) for name in _UNTOLD}
    mild = max(price("tree", k, name) for name in _UNTOLD for k in exceptions)
    cheaper = sum(
        min(means[w, k, name] for name in _UNTOLD) < means[w, k, "RobustDFF"] for w, k in settings
    )
    seen = (
        f"Against CappedDFF, which is told m = {_M}, learners that are told nothing made at most"
        + ",".join(
            f" {times:.1f} times the mistakes ({name}, k = {k}, {_WORLDS[w]})"
            for name, (times, w, k) in worst.items()
        )
        + f"; where exceptions fall at random, at most {mild:.1f} times. The best of them beat"
        f" RobustDFF, which is told m, k and s, in {cheaper} of {len(settings)}"
        " settings."
    )
    verdict = (
        f"All stayed within their bounds. Not knowing m and k cost a factor of"
        f" {min(worst.values())[0]:.1f} at worst with the best choice of an"
        f" ignorant learner, and {max(worst.values())[0]:.0f} with the worst."
        if kept
        else "A bound was exceeded."
    )
    table = Table(
        f"Mean mistakes, m = {_M}.",
        ["world", "k", *learners],
        [[_WORLDS[w], k, *(means[w, k, name] for name in learners)] for w, k in settings],
    )
    allowed = Table(
        f"What the bounds allow, m = {_M}, s = 1.",
        ["k", *learners],
        [
            [k, *(one.bound(m=_M, k=k, s=s) for one in _learners(_M, k, s).values())]
            for k in exceptions
            for s in [min(k, 1)]
        ],
    )

    @picture(
        f"Mistakes of learners that are told nothing, and of RobustDFF, which is told m = {_M}, k"
        " and s, in multiples of those of CappedDFF, which is told m.",
        size=(12.5, 4.6),
    )
    def chart(figure: Any) -> None:
        panels = figure.subplots(1, 2, sharey=True)
        for axes, (world, said) in zip(panels, _WORLDS.items(), strict=True):
            places = range(len(exceptions))
            for name in ("RobustDFF", *_UNTOLD):
                plot_learner(axes, name, places, [price(world, k, name) for k in exceptions])
            axes.axhline(1, color=GREY, linewidth=1.5, label="_")
            axes.set_xticks(places, [str(k) for k in exceptions])
            axes.set_yscale("log", base=2)
            axes.yaxis.set_major_formatter("{x:g}×")
            axes.set(xlabel="exceptions k", title=said)
        panels[0].set_ylabel("mistakes, CappedDFF = 1")
        for axes in panels:
            label_lines(axes)

    return Finding(seen, verdict, kept, [table, allowed], [chart])
