"""A decision tree on columns of zeros and ones, for many refits on a growing history.

It is the tree that scikit-learn's `DecisionTreeClassifier(criterion="entropy", ccp_alpha=...)`
grows on the same rows, ties broken at random as there, in a fraction of the time when columns are
many: all columns of a node are scored at once, of two children only the smaller is counted, and
the first split is counted as rows come.
"""

from __future__ import annotations

from math import log2
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

_Counts = npt.NDArray[np.int32]
_ALIKE = 1e-7  # splits whose bits differ by less are ties


class Node(NamedTuple):
    """A split by `column`, or a leaf: then `column` is -1."""

    column: int
    yes: int
    no: int
    counts: _Counts
    """Rows of each label."""
    bits: float
    """What it takes to tell their labels: their number times their entropy."""


class Cart:
    """Labelled rows so far, and the tree that fits them.

    Parameters
    ----------
    columns : int
        How many columns there are.
    labels : int
        How many labels there can be.
    pruning : float, default=0
        `ccp_alpha`: the entropy, over all rows, that a leaf must save to be worth having.
    seed : int, default=0
        Breaks ties.

    >>> tree = Cart(columns=2, labels=2)
    >>> for row, label in (([1, 0], 0), ([1, 1], 1), ([0, 0], 1), ([0, 1], 1)):
    ...     tree.add(np.array(row), label)
    >>> tree.fit()
    >>> [tree.predict(np.array(row)) for row in ([1, 0], [1, 1], [0, 1])], len(tree.nodes)
    ([0, 1, 1], 5)
    """

    def __init__(self, columns: int, labels: int, *, pruning: float = 0.0, seed: int = 0) -> None:
        self.pruning = pruning
        self._rows = np.zeros((64, columns), dtype=np.float32)
        self._is = np.zeros((64, labels), dtype=np.float32)
        self._held = np.zeros((columns, labels), dtype=np.int32)
        self._nlogn = np.zeros(1)
        self._random = np.random.default_rng([seed, 13])
        self.size = 0
        self.nodes: list[Node] = []

    def add(self, row: npt.NDArray[Any], label: int) -> None:
        """Take in one more row."""
        if self.size == len(self._rows):
            self._rows, self._is = (
                np.concatenate([array, np.zeros_like(array)]) for array in (self._rows, self._is)
            )
        self._rows[self.size] = row
        self._is[self.size, label] = 1
        self._held[:, label] += row.astype(np.int32)
        self.size += 1

    def fit(self) -> None:
        """Grow the tree anew on all rows, and prune it."""
        if self.size >= len(self._nlogn):
            self._nlogn = np.array([n * log2(n or 1) for n in range(2 * self.size)])
        self.nodes = []
        whole: _Counts = self._is[: self.size].sum(axis=0).astype(np.int32)
        self._grow(np.arange(self.size), whole, self._held)
        if self.pruning:
            self._prune()

    def predict(self, row: npt.NDArray[Any]) -> int:
        """The label of a row; of labels equally frequent in its leaf, the first."""
        node = self.nodes[0]
        while node.column >= 0:
            node = self.nodes[node.yes if row[node.column] else node.no]
        return int(node.counts.argmax())

    def _grow(self, members: npt.NDArray[np.intp], counts: _Counts, held: _Counts) -> int:
        """The number of the node for `members`; `held` has their labels in every column."""
        number = len(self.nodes)
        bits = float(self._nlogn[len(members)] - self._nlogn[counts].sum())
        self.nodes.append(Node(-1, -1, -1, counts, bits))
        if bits <= self.pruning * self.size:  # nothing below could save enough to stay
            return number
        column = self._best(counts, held)
        if column < 0:
            return number
        inside = self._rows[members, column] > 0
        parts = members[inside], members[~inside]
        totals = held[column].copy(), counts - held[column]
        own = [held, held]
        if max(map(np.count_nonzero, totals)) > 1:  # else both are leaves, and nobody will ask
            smaller = int(len(parts[1]) < len(parts[0]))
            part = parts[smaller]
            own[smaller] = (self._rows[part].T @ self._is[part]).astype(np.int32)
            own[1 - smaller] = held - own[smaller]
        yes, no = (self._grow(*half) for half in zip(parts, totals, own, strict=True))
        self.nodes[number] = Node(column, yes, no, counts, bits)
        return number

    def _best(self, counts: _Counts, held: _Counts) -> int:
        """The column that saves most bits, one of the best at random; -1 if none splits."""
        inside = held.sum(axis=1)
        size = int(counts.sum())
        bits = self._nlogn[inside] + self._nlogn[size - inside]
        for label in np.flatnonzero(counts):
            bits -= self._nlogn[held[:, label]]
            bits -= self._nlogn[counts[label] - held[:, label]]
        bits[(inside == 0) | (inside == size)] = np.inf
        least = bits.min()
        if np.isinf(least):
            return -1
        ties = np.flatnonzero(bits <= least + _ALIKE)
        return int(ties[self._random.integers(len(ties))])

    def _prune(self) -> None:
        """Take back splits, the weakest first, that save less than `pruning` for each leaf."""
        nodes = self.nodes
        allowed = self.pruning * self.size
        while True:
            below, leaves = [node.bits for node in nodes], [1] * len(nodes)
            for number in reversed(range(len(nodes))):  # children come after their parents
                node = nodes[number]
                if node.column >= 0:
                    below[number] = below[node.yes] + below[node.no]
                    leaves[number] = leaves[node.yes] + leaves[node.no]
            saved = [
                ((node.bits - below[number]) / (leaves[number] - 1), number)
                for number, node in enumerate(nodes)
                if node.column >= 0
            ]
            least, weakest = min(saved, default=(np.inf, -1))
            if least > allowed:
                return
            self._cut(weakest)

    def _cut(self, number: int) -> None:
        """Make a node a leaf, and all below it: they are reached no more."""
        node = self.nodes[number]
        if node.column >= 0:
            self._cut(node.yes)
            self._cut(node.no)
            self.nodes[number] = node._replace(column=-1)
