"""A world in which every item could be told from every other: hard with a hostile teacher."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import permutations

from tellapart.errors import check
from tellapart.model import Literal
from tellapart.protocol import Feature
from tellapart.theory.representation import Component, Representation
from tellapart.worlds.base import Listed


def islands(items: int, m: int, seed: int = 0) -> Listed:
    """`m` islands, each with its label; an item has two features, its island and its own name.

    There are no exceptions, but what is said about items has no end: against an example that is an
    exception, a teacher may name the item itself, each time another feature. Under `Hostile`, the
    rule made from an exception then lives as long as `RobustDFF` lets it.

    >>> from tellapart import CappedDFF, RobustDFF, teach
    >>> from tellapart.teachers import Hostile
    >>> world = islands(20_000, m=4, seed=1)
    >>> for learner in RobustDFF(4, 40, 1), CappedDFF(4):
    ...     lesson = teach(learner, Hostile.of(world.teacher(), k=40, s=1), world.items)
    ...     print(lesson.mistakes, lesson.bound)
    1921 2112
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
