"""The exact worst case of tiny worlds

No teacher with m components and k bad rounds makes a learner err more often than its bound says;
the bounds of CappedDFF, of RobustDFF with patience 0 and of AdaptiveDFF (growing) are met by some
teacher.
"""

from __future__ import annotations

from typing import Any

from tellapart.lab.experiment import Cell, Finding, Row, Rows, Table
from tellapart.lab.experiments import bounded_learners, picture
from tellapart.lab.figures import GREY, STYLES
from tellapart.teachers import worst_case

_TIGHT = ("CappedDFF", "RobustDFF, patience 0", "AdaptiveDFF growing")
"""Learners whose bound is claimed to be met by some teacher."""


def cells(quick: bool) -> list[Cell]:
    sizes = [(1, 1), (1, 2), (1, 3), (2, 0), (2, 1), (2, 2), (2, 3), (3, 0), (3, 1)]
    sizes += [] if quick else [(3, 2), (4, 0)]
    return [
        Cell("worst_case", {"m": m, "k": k, "learner": name}, weight=4.0 ** (m + k) / 200)
        for m, k in sizes
        for name in bounded_learners(m, k, 0)
        if not (quick and (m, k, name) == (2, 3, "RobustDFF"))  # it takes long
    ]


def run(seed: int, m: int, k: int, learner: str) -> list[Row]:
    s = min(k, 1)
    told = bounded_learners(m, k, s)[learner]
    # only the bounds of RobustDFF need the same feature for the same pair of components
    same = learner.startswith("RobustDFF")
    worst = worst_case(told, m, k, s if same else None, same_feature=same)
    bound = told.bound(m=m, k=k, s=s)
    return [{"s": s, "mistakes": worst.mistakes, "bound": bound, "positions": worst.positions}]


def read(rows: Rows) -> Finding:
    learners = rows.distinct("learner")
    above = [row for row in rows if row["mistakes"] > row["bound"]]
    met = {
        name: sum(row["mistakes"] == row["bound"] for row in rows.where(learner=name))
        for name in learners
    }
    tried = {name: len(rows.where(learner=name)) for name in learners}
    holds = not above and all(met[name] == tried[name] for name in _TIGHT)
    positions = sum(row["positions"] for row in rows)
    seen = (
        f"Searching all teachers ({positions:,} positions), the bound was exceeded in"
        f" {len(above) or 'none'} of {len(rows)} cases, and met exactly in"
        + ",".join(f" {met[name]} of {tried[name]} for {name}" for name in learners)
        + "."
    )
    verdict = (
        f"No teacher exceeds a bound; those of {', '.join(_TIGHT)} are tight, and Theorem 3 leaves"
        " room in worlds this small."
        if holds
        else f"{len(above)} bounds were exceeded; tight were {met}, of {tried}."
    )
    table = Table(
        "The most mistakes that any teacher can cause, of how many allowed.",
        ["m", "k", *learners],
        [
            [m, k, *(_say(group.where(learner=name)) for name in learners)]
            for (m, k), group in rows.group_by("m", "k")
        ],
    )

    @picture(
        "The exact worst case over all teachers (markers) against the bound (bars), s = 1.",
        size=(12.5, 4.2),
    )
    def chart(figure: Any) -> None:
        panels = figure.subplots(1, len(learners), sharey=True)
        most = max(row["bound"] for row in rows)
        for axes, name in zip(panels, learners, strict=True):
            group = rows.where(learner=name)
            places = range(len(group))
            mistakes, bounds = ([row[key] for row in group] for key in ("mistakes", "bound"))
            axes.vlines(places, mistakes, bounds, color="#BBBBBB", linewidth=2)
            bar = {"marker": "_", "markersize": 13, "markeredgewidth": 2.4, "color": GREY}
            axes.plot(places, bounds, linestyle="none", **bar, label="bound")
            marker = {"marker": STYLES[name].marker, "color": STYLES[name].colour}
            axes.plot(places, mistakes, linestyle="none", **marker, label="worst case")
            axes.set_xticks(places, [f"{row['m']},{row['k']}" for row in group], rotation=90)
            axes.set_title(name.replace(", ", ",\n").replace("DFF ", "DFF\n"))
            axes.set(xlabel="m, k", ylim=(0, 1.05 * most))
        panels[0].set_ylabel("mistakes")
        panels[0].legend(loc="upper left", handletextpad=0.1)

    return Finding(seen, verdict, holds, [table], [chart])


def _say(rows: Rows) -> str | None:
    return f"{rows[0]['mistakes']} of {rows[0]['bound']}" if rows else None
