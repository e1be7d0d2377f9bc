"""What the labels of items that are alike say of an item's label.

Two items are alike if few columns tell them apart. Every label is estimated from the others, its
own left out, by least squares with a kernel. How smooth the estimate is, is chosen by the squares
of its errors. There is a closed form for leaving out, so nothing is random.

`held_out_trees` explain reasons, and say in words what speaks against an answer. Neighbours say no
words, but they also see what many weak signs say together.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tellapart.learners.hindsight.points_fitting import left_out

_MOST = 500  # more items are dealt into parts: the time grows with the third power
_WIDTH = 0.6  # how soon likeness falls, in the mean number of columns between two items
_COSTS = (0.1, 0.3, 1.0)  # of estimates that change quickly


def estimate_labels(
    truths: npt.NDArray[np.bool_], codes: npt.NDArray[np.intp], labels: int
) -> npt.NDArray[np.float64]:
    """How likely each of so many labels is for each item, by the other items.

    `truths` are items by columns; `codes` are the numbers of their labels.

    >>> legs = np.repeat(np.array([[1, 0], [0, 1]], dtype=bool), 8, axis=0)
    >>> codes = np.array([0] * 8 + [1] * 7 + [0])
    >>> np.flatnonzero(estimate_labels(legs, codes, 2).argmax(1) != codes).tolist()
    [15]
    """
    found = np.zeros((len(codes), labels))
    parts = -(-len(codes) // _MOST)
    for first in range(parts):
        found[first::parts] = _estimate(truths[first::parts], np.eye(labels)[codes[first::parts]])
    return found


def _estimate(
    truths: npt.NDArray[np.bool_], target: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    held = truths.astype(np.float64)
    both = held @ held.T
    apart = np.add.outer(np.diag(both), np.diag(both)) - 2 * both
    alike = np.exp(-apart / max(1e-9, _WIDTH * float(apart.mean())))
    values, vectors = np.linalg.eigh(alike - alike.mean(0) - alike.mean(1)[:, None] + alike.mean())
    wanted = target - target.mean(0)
    ways = [left_out(np.maximum(values, 0.0), vectors, wanted, cost) for cost in _COSTS]
    return target - min(ways, key=lambda missed: float((missed**2).sum()))
