"""A decision tree on columns of zeros and ones, for many refits on a growing history.

It is the tree that scikit-learn's `DecisionTreeClassifier` grows on the same rows (CART: entropy or
Gini, cost-complexity pruning, ties at random), in a fraction of the time when columns are many: all
columns of a node are scored at once, and of two children only the smaller is counted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
_ALIKE = 1e-9  # splits whose gains differ by less are ties


class Node(NamedTuple):
    """A split by `column`, or a leaf: then `column` is -1."""

    column: int
    yes: int
    no: int
    counts: Floats
    """Items of each label."""
    rows: int


class Cart:
    """Labelled rows so far, and the tree that fits them.

    Parameters
    ----------
    columns : int
        How many columns there are.
    labels : int
        How many labels there can be.
    pruning : float, default=0
        `ccp_alpha`: what a leaf must save in impurity, over all rows, to be worth having.
    seed : int, default=0
        Breaks ties.

    >>> tree = Cart(columns=2, labels=2)
    >>> for row, label in (([1, 0], 0), ([1, 1], 1), ([0, 0], 1), ([0, 1], 1)):
    ...     tree.add(np.array(row), label)
    >>> tree.fit()
    >>> [tree.predict(np.array(row)) for row in ([1, 0], [1, 1], [0, 1])], len(tree.nodes)
    ([0, 1, 1], 5)
    """

    def __init__(
        self, columns: int, labels: int, *, pruning: float = 0.0, gini: bool = False, seed: int = 0
    ) -> None:
        self.pruning, self.gini = pruning, gini
        self._rows = np.zeros((64, columns), dtype=np.float32)
        self._is = np.zeros((64, labels), dtype=np.float32)
        self._held = np.zeros((columns, labels))
        self._random = np.random.default_rng([seed, 13])
        self.size = 0
        self.nodes: list[Node] = [Node(-1, -1, -1, np.zeros(labels), 0)]

    def add(self, row: npt.NDArray[Any], label: int) -> None:
        """Take in one more row."""
        if self.size == len(self._rows):
            self._rows, self._is = (
                np.concatenate([array, np.zeros_like(array)]) for array in (self._rows, self._is)
            )
        self._rows[self.size] = row
        self._is[self.size, label] = 1
        self._held[:, label] += row
        self.size += 1

    def fit(self) -> None:
        """Grow the tree anew on all rows, and prune it."""
        whole = self._is[: self.size].sum(axis=0, dtype=np.float64)
        self.nodes = []
        self._grow(np.arange(self.size), whole, self._held)
        if self.pruning:
            self._prune()

    def predict(self, row: npt.NDArray[Any]) -> int:
        """The label of a row; of labels equally frequent in its leaf, the first."""
        node = self.nodes[0]
        while node.column >= 0:
            node = self.nodes[node.yes if row[node.column] else node.no]
        return int(node.counts.argmax())

    def _grow(self, members: npt.NDArray[np.intp], counts: Floats, held: Floats) -> int:
        """The number of the node for `members`; `held` has their labels in every column."""
        number = len(self.nodes)
        self.nodes.append(Node(-1, -1, -1, counts, len(members)))
        if np.count_nonzero(counts) <= 1:
            return number
        column = self._best(counts, held)
        if column < 0:
            return number
        inside = self._rows[members, column] > 0
        with_it = held[column].copy()
        halves = (members[inside], members[~inside])
        smaller = int(len(halves[1]) < len(halves[0]))
        part = halves[smaller]
        if np.count_nonzero(with_it) <= 1 and np.count_nonzero(counts - with_it) <= 1:
            own = [held, held]  # both are leaves: nobody will ask
        else:
            counted = self._rows[part].T @ self._is[part]
            own = [counted, held - counted]
        children = [0, 0]
        for side in (0, 1):
            total = with_it if side == 0 else counts - with_it
            children[side] = self._grow(halves[side], total, own[side ^ smaller])
        self.nodes[number] = self.nodes[number]._replace(
            column=column, yes=children[0], no=children[1]
        )
        return number

    def _best(self, counts: Floats, held: Floats) -> int:
        """The column that lowers impurity most, one of the best at random; -1 if none splits."""
        present = counts > 0
        total = counts[present]
        with_it = held[:, present].astype(np.float64)
        inside = with_it.sum(axis=1)
        splits = np.flatnonzero((inside > 0) & (inside < total.sum()))
        if not len(splits):
            return -1
        with_it, inside = with_it[splits], inside[splits]
        left = self._impurity(with_it, inside) + self._impurity(
            total - with_it, total.sum() - inside
        )
        ties = np.flatnonzero(left <= left.min() + _ALIKE)
        return int(splits[ties[self._random.integers(len(ties))] if len(ties) > 1 else ties[0]])

    def _impurity(self, counts: Floats, total: Floats) -> Floats:
        """Times the number of rows."""
        if self.gini:
            gini: Floats = total - np.einsum("ij,ij->i", counts, counts) / total
            return gini
        logs = np.log2(np.maximum(counts, 1))  # 0 log 0 is 0, and so is 1 log 1
        bits: Floats = total * np.log2(total) - np.einsum("ij,ij->i", counts, logs)
        return bits

    def _prune(self) -> None:
        """Weakest links first, as long as a leaf less costs less than `pruning`."""
        nodes = self.nodes
        own = [
            float(self._impurity(node.counts[np.newaxis], np.array([float(node.rows)]))[0])
            / self.size
            for node in nodes
        ]
        while True:
            below, leaves = list(own), [1] * len(nodes)
            weakest, link = -1, np.inf
            for number in reversed(range(len(nodes))):  # children come after their parents
                node = nodes[number]
                if node.column < 0:
                    continue
                below[number] = below[node.yes] + below[node.no]
                leaves[number] = leaves[node.yes] + leaves[node.no]
            waiting = [0]
            while waiting:
                number = waiting.pop()
                node = nodes[number]
                if node.column < 0:
                    continue
                strength = (own[number] - below[number]) / (leaves[number] - 1)
                if strength < link:
                    weakest, link = number, strength
                waiting += [node.yes, node.no]
            if weakest < 0 or link > self.pruning:
                return
            nodes[weakest] = nodes[weakest]._replace(column=-1, yes=-1, no=-1)
