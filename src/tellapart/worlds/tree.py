"""Worlds whose teacher thinks in a decision tree."""

from __future__ import annotations

import random

from tellapart.columns import clause_numbers
from tellapart.errors import ParameterError
from tellapart.model import Clause, Literal
from tellapart.protocol import Label
from tellapart.representations.representation import Component, Representation
from tellapart.worlds.made import Columns, MadeWorld, Sizes


def tree(
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
    """A random tree with `components` leaves over `features` fair coins.

    Parameters
    ----------
    items, features, components, labels : int
        Sizes: how long the stream is, how many columns there are, leaves, and labels of leaves.
    exceptions : float or int, default=0
        A rate (0.03), or a count (57).
    seed : int, default=0
        Same arguments, same world.
    placement : {"random", "burst", "early"}, default="random"
        Where the exceptions fall: anywhere, in runs of about sqrt(k), or in the rounds right after
        the first.
    similar : int, optional
        At most this many exceptions name the same feature against the same component; by default
        the least number that k exceptions over these features can keep.

    >>> tree(10_000_000, 1_000_000, 12, 4, exceptions=100, seed=3)
    <tree(10000000, 1000000, 12, 4, 100, seed=3): 10000000 items, m=12, k=100, s=1>
    """
    sizes = Sizes(items, features, components, labels, exceptions, seed, placement, similar)
    sizes.check("tree")
    generator = random.Random(f"{seed}/tree")
    paths = _grow(generator, features, components)
    columns = Columns(items, features, seed)
    given = _labels(generator, components, labels)
    representation = Representation(tuple(map(Component, given, paths)))
    used = dict.fromkeys(feature for path in paths for feature, _ in path)
    laid_out = {feature: columns.words(columns.number(feature)) for feature in used}
    leaves = [Clause(path, label) for path, label in zip(paths, given, strict=True)]
    return MadeWorld(
        tree,
        sizes,
        representation,
        columns,
        clause_numbers(leaves, laid_out.__getitem__, items),
        forced=False,
        laid_out=laid_out,
    )


def _grow(generator: random.Random, features: int, leaves: int) -> list[tuple[Literal, ...]]:
    """The paths of a random tree, in order; large leaves are split more often."""
    paths: list[tuple[Literal, ...]] = [()]
    while len(paths) < leaves:
        can_split = [n for n, path in enumerate(paths) if len(path) < features]
        if not can_split:
            raise ParameterError(
                f"tree: {features} features make at most {2**features} components, got {leaves}"
            )
        weights = [2.0 ** -len(paths[n]) for n in can_split]
        number = generator.choices(can_split, weights)[0]
        path = paths[number]
        used = {feature for feature, _ in path}
        feature = f"f{generator.randrange(features)}"
        while feature in used:
            feature = f"f{generator.randrange(features)}"
        paths[number : number + 1] = [(*path, Literal(feature, wanted)) for wanted in (True, False)]
    return paths


def _labels(generator: random.Random, leaves: int, labels: int) -> list[Label]:
    """A label for each leaf: neighbours differ, and each label is used."""
    given = [generator.randrange(labels)]
    for _ in range(leaves - 1):
        step = generator.randrange(1, labels) if labels > 1 else 0
        given.append((given[-1] + step) % labels)
    for label in set(range(labels)) - set(given):
        # a label used twice exists, and a label used nowhere is no neighbour's
        given[generator.choice([n for n in range(leaves) if given.count(given[n]) > 1])] = label
    return [f"y{label}" for label in given]
