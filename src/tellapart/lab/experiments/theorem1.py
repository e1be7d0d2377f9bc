"""Theorem 1: exceptions explained away

(a) A representation of size m with k exceptions can be replaced by one without exceptions of size m
+ dk, d being the number of features. (b) There is a case with m = k = 1 where d + 1 components are
needed.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import tellapart as ta
from tellapart.lab.experiment import Cell, Finding, Row, Rows, Table
from tellapart.lab.experiments import picture
from tellapart.lab.figures import BLUE, GREY, ORANGE, RED, label_lines, log2_axis
from tellapart.theory import absorb, apart, reduction_size, smallest

_SEARCHED = 4  # up to this many features the least representation is searched exhaustively
_M = 4


def cells(quick: bool) -> list[Cell]:
    lower = (1, 2, 3, 4, 8, 16, 32, 64) if quick else (1, 2, 3, 4, 8, 16, 32, 64, 128, 256)
    upper = (16, 32, 64) if quick else (16, 32, 64, 128, 256)
    repeats = 2 if quick else 5
    return [
        *(Cell("theorem1", {"part": "b", "d": d}, weight=d**3 / 1e6) for d in lower),
        *(
            Cell("theorem1", {"part": "a", "d": d, "k": k, "repeat": repeat}, weight=0.1)
            for d in upper
            for k in (1, 4, 16)
            for repeat in range(repeats)
        ),
    ]


def run(seed: int, part: str, d: int, k: int = 1, repeat: int = 0) -> list[Row]:
    if part == "a":
        tree = ta.worlds.tree(5_000, d, _M, _M, k, seed)
        odd = tree.exceptions
        items, labels = [tree.items[n] for n in odd], [tree.labels[n] for n in odd]
        whole = absorb(tree.representation, items, labels, tree.features)
        return [{"m": _M, "needed": whole.m, "claimed": reduction_size(_M, k, d)}]
    world = ta.worlds.single_exception(d, seed=seed)
    needed = apart(world.items, world.labels, world.features)
    least = None
    if d <= _SEARCHED:
        corners = [
            frozenset(f for f, there in zip(world.features, corner, strict=True) if there)
            for corner in product((False, True), repeat=d)
        ]
        labels = ["plain" if corner else "odd" for corner in corners]
        least = smallest(corners, labels, world.features).m
    told = ta.worlds.single_exception(d, explained=True, seed=seed)
    naive = ta.teach(ta.DFF(), told.teacher(), told.items)
    robust = ta.teach(ta.RobustDFF(1, 1, 1), world.teacher(), world.items)
    return [
        {
            "m": world.m,
            "needed": needed,
            "least": least,
            "enough": told.m,
            "DFF": naive.mistakes,
            "RobustDFF": robust.mistakes,
            "bound": robust.bound,
        }
    ]


def read(rows: Rows) -> Finding:
    lower, upper = rows.where(part="b"), rows.where(part="a")
    sizes = lower.distinct("d")
    exact = [row for row in lower if row["needed"] == row["enough"] == int(row["d"]) + 1]
    searched = [row for row in lower if row["least"] is not None]
    agree = [row for row in searched if row["least"] == row["enough"]]
    too_large = [row for row in upper if row["needed"] > row["claimed"]]
    fullest = max(upper, key=lambda row: row["needed"] / row["claimed"])
    robust = max(int(row["RobustDFF"]) for row in lower)
    holds = len(exact) == len(lower) and len(agree) == len(searched) and not too_large
    seen = (
        f"(b): for {len(exact)} of {len(lower)} values of d from {min(sizes)} to {max(sizes)},"
        f" d + 1 components were needed and enough; an exhaustive search agreed in {len(agree)} of"
        f" {len(searched)} cases. DFF then errs {lower[-1]['DFF']:,} times at d = {sizes[-1]},"
        f" RobustDFF with the exception left alone {robust} times."
        f" (a): in {len(upper)} made trees the reduction was larger than m + dk"
        f" {len(too_large) or 'zero'} times, and came to"
        f" {fullest['needed'] / fullest['claimed']:.0%} of it."
    )
    verdict = (
        "(b) holds to the letter; (a) holds in decision trees, whose components never share an item"
        " (in general it is false: see the errata)."
        if holds
        else f"Of {len(rows)} cases, {len(too_large)} are above m + dk, and"
        f" {len(lower) - len(exact)} are not d + 1."
    )
    keys = ["d", "needed", "least", "enough", "DFF", "RobustDFF", "bound"]
    b = Table(
        "Theorem 1(b): one component, one exception, d features. What is needed at least (items of"
        " which no two fit into one component), the least by exhaustive search, and what is enough;"
        " mistakes of DFF after the reduction, and of RobustDFF without it.",
        [*keys[:-1], "bound of RobustDFF"],
        [[row[key] for key in keys] for row in lower],
    )
    a = Table(
        f"Theorem 1(a): mean size of the reduction in made trees of m = {_M} components.",
        ["d", "k", "size", "m + dk"],
        [
            [d, k, group.mean("needed"), group[0]["claimed"]]
            for (d, k), group in upper.group_by("d", "k")
        ],
    )

    @picture(
        "Components needed to explain exceptions away. Left: the world of Theorem 1(b). Right: the"
        " reduction of Theorem 1(a) in random trees (solid), and what is claimed to be enough"
        " (dashed).",
        size=(11, 4.4),
    )
    def chart(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        dashed = {"linestyle": (0, (4, 2))}
        left.plot(sizes, [d + 1 for d in sizes], **dashed, color=GREY, label="d + 1")
        left.plot(sizes, [row["needed"] for row in lower], "o", color=BLUE, label="needed")
        style = {"markerfacecolor": "none", "markeredgewidth": 1.8, "markersize": 12}
        least = [row["least"] for row in searched]
        place = [row["d"] for row in searched]
        left.plot(place, least, "D", color=ORANGE, **style, label="least, by search")
        left.set(xlabel="features d", ylabel="components")
        left.set_title("(b) one exception")
        left.legend(loc="upper left")
        for k, colour in zip(upper.distinct("k"), (BLUE, ORANGE, RED), strict=False):
            group = upper.where(k=k)
            claimed = f"m + {k}d" if k > 1 else "m + d"
            right.plot(*group.curve("d", "claimed"), **dashed, color=colour, label=claimed)
            right.plot(*group.curve("d", "needed"), color=colour, marker="o", label=f"k = {k}")
        right.set(xlabel="features d", ylabel="components")
        right.set_title(f"(a) made trees, m = {_M}")
        for axis in (left.xaxis, left.yaxis, right.xaxis, right.yaxis):
            log2_axis(axis)
        label_lines(right)

    return Finding(seen, verdict, holds, [b, a], [chart])
