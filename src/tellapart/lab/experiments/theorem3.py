"""Theorem 3: mistakes against the bound

RobustDFF makes at most (m+k)((s+1)(m-1)+k+2) mistakes, wherever the exceptions fall. Ours:
CappedDFF at most (m-1)(m+2)/2 + k(m+1), and AdaptiveDFF, which is told nothing, at most
(m-1)(m+2)/2 + (m+k)(m+k+1)/2 - 1 (growing) or O(m(m+k) log(m+k)) (ruler).
"""

from __future__ import annotations

from statistics import median
from typing import Any

import tellapart as ta
from tellapart.lab.experiment import Cell, Finding, Row, Rows, Table
from tellapart.lab.experiments import bounded_learners, picture, simulate_all, teach_hostile
from tellapart.lab.figures import GREY, STYLES

_PLACEMENTS = {"random": "at random", "burst": "in bursts", "early": "at the start"} | {
    "hostile": "where they hurt"
}
_FEATURES = 40  # few, so that exceptions name the same ones


def cells(quick: bool) -> list[Cell]:
    grid, items, repeats = [(2, 4), (2, 32), (4, 4), (4, 32), (8, 8), (8, 64)], 5_000, 1
    if not quick:
        grid = [(m, k) for m in (2, 4, 8, 16) for k in (1, 4, 16, 64, 128)]
        items, repeats = 20_000, 3
    return [
        Cell(
            "theorem3",
            {"m": m, "k": k, "s": s, "placement": placement, "items": n, "repeat": repeat},
            weight=n / 1e5 if n else m * k * k / 2e4,
        )
        for m, k in grid
        for s in sorted({1, min(k, 4), k})
        for placement in _PLACEMENTS
        for n in [0 if placement == "hostile" else items]
        for repeat in range(repeats)
    ]


def run(seed: int, m: int, k: int, s: int, placement: str, items: int, repeat: int) -> list[Row]:
    learners = bounded_learners(m, k, s)
    if placement == "hostile":
        return teach_hostile(learners, m, k, s, seed)
    world = ta.worlds.tree(items, _FEATURES, m, m, k, seed, placement=placement, similar=s)
    return simulate_all(learners, world)


def read(rows: Rows) -> Finding:
    learners = rows.distinct("learner")
    above = [row for row in rows if _share(row) > 1]
    best = max(rows.where(learner="RobustDFF"), key=_share)
    met = [row for row in rows.where(learner="CappedDFF") if row["mistakes"] == row["bound"]]
    mild = max(
        _share(row) for row in rows.where(learner="RobustDFF") if row["placement"] != "hostile"
    )
    seen = (
        f"The bound was exceeded in {len(above) or 'none'} of {len(rows):,} lessons. RobustDFF came"
        f" to {_share(best):.0%} of it where exceptions fall {_PLACEMENTS[str(best['placement'])]}"
        f" (m = {best['m']}, k = {best['k']}, s = {best['s']}), and to {mild:.0%} at most where"
        f" they do not wait for the learner. CappedDFF met its bound exactly in {len(met)} lessons."
    )
    verdict = (
        "Theorem 3 holds, and its bound is nearly reached; so do the bounds of the other learners."
        if not above
        else f"A bound was exceeded: {above[0]}."
    )
    shares = Table(
        "Share of the bound reached: median, and largest.",
        ["exceptions fall", *learners],
        [
            [_PLACEMENTS[placement], *(_spread(group.where(learner=name)) for name in learners)]
            for (placement,), group in rows.group_by("placement")
        ],
    )
    lines = [
        [m, k, s, _PLACEMENTS[placement], *(_most(group.where(learner=n)) for n in learners)]
        for (m, k, s, placement), group in rows.group_by("m", "k", "s", "placement")
    ]
    every = Table(
        "Most mistakes seen, of how many allowed.",
        ["m", "k", "s", "exceptions fall", *learners],
        lines,
    )

    @picture(
        "Mistakes of every lesson against the learner's own bound, by where the k exceptions fall."
        " A point on the grey line has reached its bound.",
        size=(12, 4.2),
    )
    def chart(figure: Any) -> None:
        panels = figure.subplots(1, len(_PLACEMENTS), sharex=True, sharey=True)
        shown = ["AdaptiveDFF ruler", "AdaptiveDFF growing", "RobustDFF", "CappedDFF"]
        most = max(float(row["bound"]) for row in rows if row["learner"] in shown)
        for axes, (placement, said) in zip(panels, _PLACEMENTS.items(), strict=True):
            axes.fill_between([1, most * 2], [1, most * 2], most * 2, color="#EEEEEE", linewidth=0)
            axes.plot([1, most * 2], [1, most * 2], color=GREY, linewidth=1.5)
            for name in shown:
                group = rows.where(learner=name, placement=placement)
                bounds, mistakes = ([row[key] for row in group] for key in ("bound", "mistakes"))
                style = {"color": STYLES[name].colour, "marker": STYLES[name].marker}
                edge = {"edgecolor": "white", "linewidth": 0.5}
                axes.scatter(bounds, mistakes, s=34, **style, **edge, label=name)
            axes.set(xscale="log", yscale="log", xlim=(2, most * 2), ylim=(2, most * 2))
            axes.set(title=said, xlabel="bound", aspect="equal")
        panels[0].set_ylabel("mistakes")
        place = {"xycoords": "axes fraction", "va": "top"}
        panels[0].annotate("not allowed", (0.06, 0.93), **place, color="#666666", fontsize=11)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, markerscale=1.5)

    return Finding(seen, verdict, not above, [shares, every], [chart])


def _share(row: Row) -> float:
    return float(row["mistakes"]) / float(row["bound"])


def _spread(rows: Rows) -> str:
    shares = [_share(row) for row in rows]
    return f"{median(shares):.0%}, {max(shares):.0%}"


def _most(rows: Rows) -> str:
    row = max(rows, key=_share)
    return f"{row['mistakes']} of {row['bound']}"
