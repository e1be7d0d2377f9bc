"""The world of Theorem 2, in which every learner errs of the order of m² times."""

from __future__ import annotations

import random
from itertools import combinations

from tellapart.errors import check
from tellapart.model import Literal
from tellapart.theory.representation import Component, Representation
from tellapart.worlds.base import Listed


def lower_bound(m: int, seed: int = 0) -> Listed:
    """Each pair of m components is separated by one of two features, and a coin says by which.

    One item per pair (i, j), in random order: it lies in G_i if the pair's coin is 1, else in G_j,
    and nothing but that pair's own correction tells which. Every learner errs at least
    `theory.lower_bound(m)` times on average over the coins. (The paper sets the two features of
    the pair the other way round; then "i if and only if (i, j) is in S" comes out reversed.)

    >>> world = lower_bound(8, seed=1)
    >>> len(world), world.m, world.k
    (28, 8, 0)
    """
    check("lower_bound", "m", m, "an integer >= 1", lambda v: v >= 1)
    generator = random.Random(f"{seed}/lower bound")
    numbers = range(1, m + 1)
    pairs = list(combinations(numbers, 2))
    coins = {pair: generator.randrange(2) for pair in pairs}
    generator.shuffle(pairs)

    def name(i: int, j: int, p: int) -> str:
        return f"{i}|{j}:{p}"

    def item(i: int, j: int) -> frozenset[str]:
        """Excluded from every component but G_i and G_j, between which only the coin decides."""
        present = {name(i, j, 1)}
        for other in numbers:
            for one in {i, j} - {other}:
                if other not in (i, j) and one < other:
                    present |= {name(one, other, 0), name(one, other, 1)}
        return frozenset(present)

    components = tuple(
        Component(
            i,
            tuple(
                Literal(name(min(i, j), max(i, j), coins[min(i, j), max(i, j)]), i < j)
                for j in numbers
                if j != i
            ),
        )
        for i in numbers
    )
    return Listed(
        f"lower_bound({m}, seed={seed})",
        [item(*pair) for pair in pairs],
        [pair[0] if coins[pair] else pair[1] for pair in pairs],
        Representation(components),
        features=[name(i, j, p) for i, j in combinations(numbers, 2) for p in (0, 1)],
    )
