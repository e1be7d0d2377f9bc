"""Worlds whose teacher thinks in a separable DNF: conjunctions that no tree needs to hold."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from tellapart.errors import ParameterError
from tellapart.model import Literal
from tellapart.representations.representation import Component, Representation
from tellapart.worlds.made import Columns, MadeWorld, Sizes

_PART = 1 << 16  # items


def dnf(
    items: int,
    features: int,
    components: int,
    labels: int,
    exceptions: float = 0,
    seed: int = 0,
    *,
    placement: str = "random",
    similar: int | None = None,
) -> MadeWorld:
    """A random separable DNF of `components` terms; items are drawn from its terms alike.

    Any two terms of different labels have a feature that one wants and the other forbids; terms of
    the same label may overlap. An item is a component drawn at random, its literals, and fair coins
    for all other features. Parameters are those of `tree`.

    >>> world = dnf(1000, 50, 6, 3, exceptions=0.05, seed=1)
    >>> world.m, world.k, len(world.exceptions)
    (6, 52, 52)
    """
    sizes = Sizes(items, features, components, labels, exceptions, seed, placement, similar)
    sizes.check("dnf")
    generator = random.Random(f"{seed}/dnf")
    given = [f"y{n % labels}" for n in range(components)]
    generator.shuffle(given)
    terms = _separate(generator, given, features)
    representation = Representation(tuple(map(Component, given, terms)))
    return MadeWorld(
        dnf,
        sizes,
        representation,
        Columns(items, features, seed),
        _drawn(items, components, seed),
        forced=True,
    )


def _drawn(items: int, components: int, seed: int) -> npt.NDArray[np.integer[Any]]:
    """A component for each item, a part at a time: numbers are drawn in eight bytes each."""
    generator = np.random.default_rng([seed & (1 << 64) - 1, 11])
    drawn = np.empty(items, dtype=np.min_scalar_type(components - 1))
    for first in range(0, items, _PART):
        part = drawn[first : first + _PART]
        part[:] = generator.integers(components, size=len(part))
    return drawn


def _separate(
    generator: random.Random, labels: list[str], features: int
) -> list[tuple[Literal, ...]]:
    """Literals for each term, column by column, until every pair that must be is separated."""
    open_pairs = {(i, j) for i, j in combinations(range(len(labels)), 2) if labels[i] != labels[j]}
    terms: list[list[Literal]] = [[] for _ in labels]
    columns = iter(generator.sample(range(features), min(features, 64 * len(labels))))
    while open_pairs:
        column = next(columns, None)
        if column is None:
            raise ParameterError(
                f"dnf: {features} features were not enough to separate {len(labels)} components;"
                " ask for more features or fewer components"
            )
        wants = [generator.choices((True, False, None), (0.4, 0.4, 0.2))[0] for _ in labels]
        i, j = generator.choice(sorted(open_pairs))
        wants[i], wants[j] = True, False
        for term, wanted in zip(terms, wants, strict=True):
            if wanted is not None:
                term.append(Literal(f"f{column}", wanted))
        open_pairs = {
            (i, j)
            for i, j in open_pairs
            if wants[i] is None or wants[j] is None or wants[i] == wants[j]
        }
    return [tuple(term) for term in terms]
