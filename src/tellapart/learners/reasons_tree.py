"""A tree over named features that believes the teacher's reasons.

The score of a tree is the logarithm of a probability, in nats. Its parts:

- A leaf: the chance of its labels when the shares of labels are unknown and pure leaves are likely
  (Dirichlet, weight `PURITY` for each label). Noise costs, but only so much.
- A split: -ln D - ln 2, the price of naming one of D columns and of having a split at all.
- A reason. The teacher said that f tells item x from example e. If the tree separates x from e by
  f, the teacher named the one feature the tree predicts, out of about D/2 that are true of x and
  not of e: + ln(D/2). If the tree separates them by another feature, the teacher slipped or x is an
  exception: - ln(1/doubt). So the first naming pays the price of a column, and every other one is
  evidence for it; and a column that separates many pairs for which others were named comes far down
  in the tree, or not at all.

The tree is grown from the top, and cut back from below wherever a leaf scores better. In the first
two levels the next best columns are tried too. While it has more terms than there is room for,
splits are made dearer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tellapart.learners.short_trees import Node, Numbers, size, tidy

PURITY = 0.1
_COLUMNS = 30  # a teacher could have named as many, at least
_DEPTH = 40
_TOP, _TRIES, _NEAR = 2, 3, 4.0  # where several columns are tried, how many, nats from the best
_FLOOR = -6.0  # how bad the splits on a path may be, together, for growing to go on
_DEARER = 2.0  # nats, at first


class Pairs(NamedTuple):
    """Items told from examples: the columns named, and the bits of both sides (pairs x columns)."""

    columns: Numbers
    items: npt.NDArray[np.bool_]
    examples: npt.NDArray[np.bool_]


class ReasonsTree:
    """Grows the tree.

    Parameters
    ----------
    bits : rows x columns, the named ones
    codes : the label of each row
    doubt : float
        The chance that a reason has nothing to do with the tree.
    eager : float
        Nats taken off the price of a split.
    """

    def __init__(
        self,
        bits: npt.NDArray[np.bool_],
        codes: Numbers,
        labels: int,
        pairs: Pairs,
        doubt: float,
        eager: float,
    ) -> None:
        self.bits, self.codes, self.labels, self.pairs = bits, codes, labels, pairs
        self.apart = pairs.items != pairs.examples
        columns = max(bits.shape[1], _COLUMNS)
        self.price = float(np.log(2 * columns)) - eager
        self.reward, self.against = float(np.log(columns / 2)), float(np.log(1 / doubt))
        steps = np.arange(len(codes) + 1)
        self._of_label = np.append(0, np.cumsum(np.log(steps + PURITY)))
        self._of_leaf = np.append(0, np.cumsum(np.log(steps + PURITY * max(2, labels))))
        self._halves = 2 * float(np.log(max(2, labels)))  # two leaves cost that much at least
        self._is = np.eye(labels, dtype=np.float32)[codes]
        self._floats = bits.astype(np.float32)

    def within(self, room: int) -> tuple[Node, int]:
        """The best tree found of at most `room` terms, and how many reasons the best one of any
        length contradicts."""
        contradicted, dearer = None, _DEARER
        while True:
            tree, _ = self._grown(np.arange(len(self.codes)), np.arange(len(self.pairs.columns)))
            if contradicted is None:
                contradicted = self._contradicted(tree, np.arange(len(self.pairs.columns)))
            if size(tidy(tree))[0] <= room:
                return tree, contradicted
            self.price += dearer
            dearer *= 1.5

    def _leaf(self, counts: npt.NDArray[Any]) -> npt.NDArray[Any]:
        found: npt.NDArray[Any] = self._of_label[counts].sum(-1) - self._of_leaf[counts.sum(-1)]
        return found

    def _grown(
        self, rows: Numbers, pairs: Numbers, debt: float = 0.0, depth: int = 0
    ) -> tuple[Node, float]:
        """The best tree for some rows and the pairs among them, and its score."""
        counts = np.bincount(self.codes[rows], minlength=self.labels)
        node, score = Node(int(counts.argmax())), float(self._leaf(counts))
        hopeless = (
            self.price + self._halves + score >= len(pairs) * self.reward
        )  # no split can be worth it
        if depth >= _DEPTH or len(rows) < 2 or hopeless:
            return node, score
        inside = np.rint(self._floats[rows].T @ self._is[rows]).astype(np.intp)
        halves = self._leaf(inside) + self._leaf(counts - inside)
        gain = halves - score - self.price + self._told(pairs)
        held = inside.sum(1)
        gain[(held == 0) | (held == len(rows))] = -np.inf
        order = np.argsort(-gain, kind="stable")[: _TRIES if depth < _TOP else 1]
        best: tuple[float, int, Node, Node] | None = None
        for column in order.tolist():
            if not debt + gain[column] > _FLOOR or gain[order[0]] - gain[column] > _NEAR:
                break
            passed = self.bits[rows, column]
            yes, no = self._parted(pairs, column)
            owed = min(0.0, debt + float(gain[column]))
            left, one = self._grown(rows[passed], yes, owed, depth + 1)
            right, other = self._grown(rows[~passed], no, owed, depth + 1)
            value = score + float(gain[column]) + one + other - float(halves[column])
            if best is None or value > best[0] + 1e-9:
                best = value, column, left, right
        if best is not None and best[0] > score:
            score, column, left, right = best
            node.split(((column, True),), left, right)
        return node, score

    def _told(self, pairs: Numbers) -> npt.NDArray[Any]:
        """What reasons say for and against a split by each column."""
        columns = self.bits.shape[1]
        if not len(pairs):
            return np.zeros(columns)
        borne_out = np.bincount(self.pairs.columns[pairs], minlength=columns)
        separated = self.apart[pairs].sum(0)
        found: npt.NDArray[Any] = borne_out * self.reward - (separated - borne_out) * self.against
        return found

    def _parted(self, pairs: Numbers, column: int) -> tuple[Numbers, Numbers]:
        """The pairs that go to either side of a split; those it separates go nowhere."""
        left = pairs[~self.apart[pairs, column]]
        inside = self.pairs.items[left, column]
        return left[inside], left[~inside]

    def _contradicted(self, tree: Node, pairs: Numbers) -> int:
        """How many reasons are about pairs that the tree separates by another column."""
        if not tree.parts or not len(pairs):
            return 0
        column = tree.parts[0][0]
        separated = pairs[self.apart[pairs, column]]
        yes, no = self._parted(pairs, column)
        below = self._contradicted(tree.yes, yes) + self._contradicted(tree.no, no)
        return int((self.pairs.columns[separated] != column).sum()) + below
