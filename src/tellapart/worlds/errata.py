"""Worlds that break the letter of the paper: StRoDFF as printed (two), Theorem 3 (one)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tellapart.model import Literal, Not
from tellapart.protocol import Feature
from tellapart.theory.representation import Component, Representation
from tellapart.worlds.base import Listed
from tellapart.worlds.made import MadeWorld
from tellapart.worlds.tree import tree


def fresh_reasons(items: int = 20_000, epsilon: float = 0.05, seed: int = 3) -> MadeWorld:
    """Two components, and exceptions that never give the same reason twice.

    As printed, StRoDFF measures its threshold n_k from the first time a feature was named. A fresh
    feature was named just now, so the threshold is tiny, and good rules are deleted again and
    again: about half of all guesses are wrong. Measured from the creation of the rule, the
    exceptions remain.

    Whether the repaired learner's first rule has the label of the default depends on the item it is
    made of; if so, the second component waits for a second rule, which the theory-sized constants
    put off beyond 10^5 rounds. With the seed given here the first rule is the useful one.

    >>> fresh_reasons(1000)
    <tree(1000, 20000, 2, 2, 0.05, seed=3, similar=1): 1000 items, m=2, k=44, s=1>
    """
    return tree(items, 20_000, 2, 2, float(epsilon), seed, similar=1)


def quiet_majority(
    items: int = 100_000, rate: float = 0.01, regions: int = 100, seed: int = 0
) -> Listed:
    """Two components with the label of the first item; exceptions, "odd", all over small regions.

    As printed, StRoDFF makes a rule only when the default guess is *wrong*. Here only exceptions
    make it wrong, so only they make rules. Corrected from outside its region, such a rule shrinks
    to the region it came from; inside, too few ordinary items come by to speak against it, and it
    stays wrong about all of them. Rule by rule the regions are lost. Made at the round that meets
    the condition, whatever its label, the first rule is an ordinary one, and the last.

    >>> quiet_majority(1000)
    <quiet_majority(1000, 0.01, 100, seed=0): 1000 items, m=2, k=14, s=1>
    """
    generator = np.random.default_rng([seed, 13])
    kinds = [
        frozenset({f"region {region}", *side, *usual})
        for usual in (["usual"], [])
        for region in range(regions)
        for side in (["left"], [])
    ]
    odd = generator.random(items) < rate
    odd[0] = False
    order = generator.integers(2 * regions, size=items) + odd * 2 * regions
    both_plain = Representation(
        (Component("plain", (Literal("left"),)), Component("plain", (Literal("left", False),)))
    )

    def reasons(_: frozenset[str], example: frozenset[str]) -> Iterator[Feature]:
        yield Not(next(feature for feature in example if feature.startswith("region")))
        yield "usual"

    return Listed(
        f"quiet_majority({items}, {rate}, {regions}, seed={seed})",
        kinds,
        ["plain" if "usual" in kind else "odd" for kind in kinds],
        both_plain,
        features=["left", "usual", *(f"region {region}" for region in range(regions))],
        order=order,
        reasons=reasons,
    )


def returning_exception(times: int = 50) -> Listed:
    """One component and one exception e that comes back: x0, then (e, x1, x2) over and over.

    The paper counts exceptions as a set of items: m = k = s = 1, and Theorem 3 allows 6 mistakes.
    Without memory every round after the first is one. `remember=True` is the cure: 3 mistakes.

    >>> returning_exception()
    <returning_exception(50): 151 items, m=1, k=50, s=1>
    """
    items = [frozenset({"plain", name}) for name in ("x0", "x1", "x2")] + [frozenset({"e"})]
    return Listed(
        f"returning_exception({times})",
        items,
        ["plain", "plain", "plain", "odd"],
        Representation((Component("plain"),)),
        features=["plain"],
        order=np.array([0, *[3, 1, 2] * times]),
    )
