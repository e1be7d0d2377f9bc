"""What corrections prove about a world: how many components and bad rounds it must have.

Two corrected items cannot share a component

- if their labels differ, or
- if the feature named for the one does not hold on the other, since a feature named for x holds on
  the whole component of x (where none was named, take one that holds on nothing else),

unless a round was bad. Take a set of corrections of which no two items can share a component, and
no item is an example. An exception among the items takes one item out of the set. An exception
among the examples makes the features named against it worthless, and its items still need a
component for each of their labels. So if j of the examples are exceptions, m + k is at least j,
plus the number of items with other examples, or plus the number of labels in the set, whichever is
more. The least of this over all j is proven.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tellapart import codec
from tellapart.bounds import adaptive_bound
from tellapart.model import Holds, holds, truth
from tellapart.protocol import Feature, Item, Label

_POOL = 512  # corrections among which sets are looked for
_STARTS = 24  # sets tried


class Told(NamedTuple):
    """A correction."""

    item: Item
    label: Label
    feature: Feature | None
    example: Item


def least(corrections: Sequence[Told], reading: Holds = holds) -> int:
    """A number that m + k of the world cannot be below.

    >>> least([Told({"milk"}, "mammal", "milk", {"eggs"}),
    ...        Told({"fins"}, "fish", "fins", {"eggs", "wings"})])
    2
    """
    told = [Told(*one) for one in corrections[:_POOL]]  # JSON has plain tuples
    columns = {
        feature: [feature is None or not truth(feature, one.item, reading) for one in told]
        for feature in {one.feature for one in told}
    }
    labels = np.array([one.label for one in told], dtype=object)
    lacks = np.array([columns[one.feature] for one in told], dtype=np.bool_).reshape(len(told), -1)
    apart = lacks | lacks.T | (labels[:, None] != labels)
    order = np.argsort(-apart.sum(1), kind="stable").tolist()
    sets = (_apart(told, apart, [start, *order]) for start in order[:_STARTS])
    return max((_proven(chosen) for chosen in sets), default=1)


def _apart(told: Sequence[Told], apart: npt.NDArray[Any], order: Iterable[int]) -> list[Told]:
    """Corrections whose items are all apart, and no examples: first those with an example each."""
    chosen, items, examples = list[Told](), set[Any](), set[Any]()
    fit = np.ones(len(told), dtype=np.bool_)
    order = list(order)
    for place, number in enumerate(order + order):
        item, example = codec.identity(told[number].item), codec.identity(told[number].example)
        clash = item in items | examples or example in items
        if fit[number] and not clash and (place >= len(order) or example not in examples):
            chosen.append(told[number])
            fit &= apart[number]
            items.add(item)
            examples.add(example)
    return chosen


def _proven(chosen: Sequence[Told]) -> int:
    labels = len({one.label for one in chosen})
    sizes = sorted(Counter(codec.identity(one.example) for one in chosen).values())
    left = [sum(sizes[: len(sizes) - j]) for j in range(len(sizes) + 1)]
    return min(j + max(items, labels) for j, items in enumerate(left))


def allowance(least: int, labels: Iterable[int]) -> int:
    """The least bound of `AdaptiveDFF` in any world with m + k >= `least`.

    `labels` are the numbers of items of each label. A label without a component has exceptions
    only.

    >>> allowance(4, [20]), allowance(4, [20, 20]), allowance(4, [20, 1])
    (9, 11, 9)
    """
    counts = sorted(labels)
    bounds = (
        adaptive_bound(m, max(least - m, sum(counts[: len(counts) - m]), 0))
        for m in range(1, max(1, len(counts)) + 1)
    )
    return min(bounds)
