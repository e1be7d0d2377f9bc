"""The world of Theorem 1(b): one exception that costs d components to explain away."""

from __future__ import annotations

import random

from tellapart.errors import check
from tellapart.features import Is
from tellapart.model import Literal
from tellapart.theory.representation import Component, Representation
from tellapart.worlds.base import Listed


def single_exception(d: int, *, explained: bool = False, seed: int = 0) -> Listed:
    """All items are "plain" but the empty one; d features.

    The stream: the item with feature 1 only, then the empty item ("odd"), then the items with a
    single feature, in random order. As one component with an exception, m = k = s = 1. Explained
    away without exceptions (`explained=True`), it takes d + 1 components at least: one for each
    feature that tells a plain item from the odd one, and the odd one itself.

    >>> single_exception(100), single_exception(100, explained=True).m
    (<single_exception(100, seed=0): 101 items, m=1, k=1, s=1>, 101)
    """
    check("single_exception", "d", d, "an integer >= 1", lambda v: v >= 1)
    names = [f"f{j}" for j in range(1, d + 1)]
    rest = [frozenset({name}) for name in names[1:]]
    random.Random(f"{seed}/single exception").shuffle(rest)
    items = [frozenset({names[0]}), frozenset[str](), *rest]
    labels = ["odd" if not item else "plain" for item in items]
    representation = Representation((Component("plain"),))
    if explained:
        odd = Component("odd", (Literal(Is(frozenset())),))
        plain = [Component("plain", (Literal(name),)) for name in names]
        separators = {(j, d): name for j, name in enumerate(names)}
        representation = Representation((*plain, odd), separators)
    numbers = {name: number for number, name in enumerate(names)}
    suffix = ", explained=True" if explained else ""
    return Listed(
        f"single_exception({d}{suffix}, seed={seed})",
        items,
        labels,
        representation,
        features=names,
        component_of=(lambda item: numbers[min(item)] if item else d) if explained else None,
    )
