"""Small worlds that meet the paper's theorems, or break the letter of them.

`single_exception` is the world of Theorem 1(b), `lower_bound` that of Theorem 2. In `islands` every
item can be told from every other, which is hard under a hostile teacher. The last three are errata:
two on StRoDFF as printed, one on Theorem 3.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations, permutations

import numpy as np

from tellapart.combinations import Is
from tellapart.errors import check
from tellapart.model import Literal, Not
from tellapart.protocol import Feature
from tellapart.representations.representation import Component, Representation
from tellapart.worlds.base import Listed
from tellapart.worlds.made import MadeWorld
from tellapart.worlds.tree import tree


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


def lower_bound(m: int, seed: int = 0) -> Listed:
    """Each pair of m components is separated by one of two features; a coin decides which.

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


def islands(items: int, m: int, seed: int = 0) -> Listed:
    """`m` islands, each with its label; an item has two features, its island and its own name.

    There are no exceptions, but what is said about items has no end: against an example that is an
    exception, a teacher may name the item itself, each time another feature. Under `Hostile`, the
    rule made from an exception then lives as long as `RobustDFF` lets it.

    >>> from tellapart import CappedDFF, RobustDFF, teach
    >>> from tellapart.teachers import Hostile
    >>> world = islands(20_000, m=4, seed=1)
    >>> for learner in RobustDFF(4, 40, 1), CappedDFF(4):
    ...     lesson = teach(learner, Hostile(world.teacher(), k=40, s=1), world.items)
    ...     print(lesson.mistakes, lesson.bound)
    1921 1935
    209 209
    """
    check("islands", "items", items, "an integer >= 1", lambda v: v >= 1)
    check("islands", "m", m, "an integer >= 1", lambda v: v >= 1)
    generator = random.Random(f"{seed}/islands")
    homes = [generator.randrange(m) for _ in range(items)]
    numbers = {f"island {number}": number for number in range(m)}

    def home(item: frozenset[str]) -> int:
        return next(numbers[feature] for feature in item if feature in numbers)

    def own_name(item: frozenset[str], _: frozenset[str]) -> Iterator[Feature]:
        yield from (feature for feature in item if feature not in numbers)

    return Listed(
        f"islands({items}, {m}, seed={seed})",
        [frozenset({f"island {home}", f"item {n}"}) for n, home in enumerate(homes)],
        homes,
        Representation(
            tuple(Component(number, (Literal(name),)) for name, number in numbers.items()),
            {(i, j): f"island {i}" for i, j in permutations(range(m), 2)},
        ),
        features=list(numbers),
        reasons=own_name,
        component_of=home,
    )


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
    to the region it came from; inside, there are too few ordinary items to correct it, and it
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
