"""Erratum: Theorem 1(a) is false

Theorem 1(a): m + dk components are enough to explain k exceptions away. The proof separates an
exception from the components around it, but not from others of the same label.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import Any, TypeAlias

from tellapart.lab.experiment import Cell, Finding, Row, Rows, Table
from tellapart.lab.experiments import picture
from tellapart.lab.figures import BLUE, GREY, RED, label_lines
from tellapart.theory import reduction_size

_SIDES = 2  # r: features on each side of a group
_Item: TypeAlias = frozenset[tuple[int, int, int]]  # of (group, side, number) features


def cells(quick: bool) -> list[Cell]:
    return [
        Cell("erratum_reduction", {"groups": groups}, weight=4**groups / 2e4)
        for groups in range(1, 8 if quick else 10)
    ]


def run(seed: int, groups: int) -> list[Row]:
    """The counter-example on the whole cube (docs/theory.md, "Theorem 1(a) is false").

    An item is "plain" if in every group at least one side is empty, else "mixed"; the empty item is
    an exception. The items listed need a component each: between any two of one label lies an item
    of another, and no single feature tells that from both.
    """
    plain = [
        frozenset((g, c, a) for g, c in enumerate(sides))
        for a in range(_SIDES)
        for sides in product(range(2), repeat=groups)
    ]
    mixed = [
        frozenset({(g, 0, a), (g, 1, b)})
        for g in range(groups)
        for a, b in product(range(_SIDES), repeat=2)
    ]
    kept_apart = all(
        _label(one) == _label(other) and _kept_apart(one, other)
        for one, other in (*combinations(plain, 2), *combinations(mixed, 2))
    )
    m, d = 2**groups + groups * _SIDES**2, 2 * groups * _SIDES
    needed = len(plain) + len(mixed) + 1 if kept_apart else 0
    claimed, repaired = reduction_size(m, 1, d), reduction_size(m, 1, d, shared=2**groups)
    return [{"d": d, "m": m, "k": 1, "needed": needed, "claimed": claimed, "repaired": repaired}]


def _kept_apart(one: _Item, other: _Item) -> bool:
    """Whether an item of another label agrees with both wherever they agree."""
    common, union = one & other, one | other
    groups = {group for group, _, _ in union - common}
    tried = [common, *(common | {feature} for feature in one)]
    tried += [common | {feature for feature in union if feature[0] == group} for group in groups]
    return any(common <= item <= union and _label(item) != _label(one) for item in tried)


def _label(item: _Item) -> str:
    if not item:
        return "odd"
    sides = {(g, c) for g, c, _ in item}
    return "mixed" if any((g, 1 - c) in sides for g, c in sides) else "plain"


def read(rows: Rows) -> Finding:
    broken = [row for row in rows if row["needed"] > row["claimed"]]
    over = [row for row in rows if row["needed"] > row["repaired"]]
    holds = bool(broken) and not over
    last = rows[-1]
    seen = (
        f"With one exception, {last['m']} components over {last['d']} features cannot be replaced"
        f" by fewer than {last['needed']}, where m + dk is {last['claimed']}. The claim fails in"
        f" {len(broken)} of {len(rows)} cases"
        + (f", first at d = {broken[0]['d']}, m = {broken[0]['m']}" if broken else "")
        + f"; the repaired bound m + k(1 + g(d-1)) is exceeded {len(over) or 'zero'} times."
    )
    verdict = (
        "Theorem 1(a) is false when an exception satisfies several components of one label;"
        " counting those (g) repairs it."
        if holds
        else "The failure or the repair was not seen here."
    )
    keys = ("groups", "d", "m", "needed", "claimed", "repaired")
    table = Table(
        "The counter-example, by number of groups: components needed after one exception, what"
        " Theorem 1(a) claims to be enough, and the repaired bound.",
        ["groups", "features d", "components m", "needed", "m + d", "m + 1 + g(d-1)"],
        [[row[key] for key in keys] for row in rows],
    )

    @picture(
        "Components needed to explain one exception away in the counter-example to Theorem 1(a).",
        size=(7, 4),
    )
    def chart(figure: Any) -> None:
        axes = figure.subplots()
        for key, label, colour, dash in (
            ("claimed", "claimed: m + dk", GREY, (0, (4, 2))),
            ("needed", "needed", RED, "solid"),
            ("repaired", "repaired bound", BLUE, (0, (4, 2))),
        ):
            xs, ys = rows.curve("d", key)
            axes.plot(xs, ys, color=colour, linestyle=dash, marker="o", label=label)
        axes.set(xlabel="features d", ylabel="components", yscale="log")
        axes.set_xticks(xs)
        label_lines(axes)

    return Finding(seen, verdict, holds, [table], [chart])
