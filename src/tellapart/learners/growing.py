"""A decision tree out of a history: labels and reasons weighed together.

The score of a tree is the logarithm of a probability, in nats. Its parts:

- A leaf: the chance of its labels when the shares of labels are unknown and pure leaves are likely
  (Dirichlet, weight `purity` for each label). Noise costs, but only so much.
- A split: -ln D - ln 2, the price of naming one of D columns and of having a split at all.
- A reason. The teacher said that f tells item x from example e. If the tree parts x from e by f,
  the teacher said what was to be said, and not one of the D/2 other things that are true of x and
  not of e: + ln(D/2). If the tree parts them by something else, the teacher slipped or spoke of an
  exception: - ln(1/doubt). So the first naming pays the price of a column, and every other one is
  evidence for it; and a column that parts many pairs told apart by other columns must be far down
  in the tree, or not in it at all.

The tree is grown from the top, split by best split, and then cut back from below wherever a leaf
scores better. Equal scores go to the column named first, then to the one whose bits come first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tellapart.columns import Words, pack, words_for
from tellapart.learners.history import History, text_of

_COLUMNS = 30  # where only named columns are known, a teacher could have named as many

_Floats: TypeAlias = npt.NDArray[np.float64]
_Counts: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Way:
    """How to weigh a history.

    Parameters
    ----------
    doubt : float or None
        The chance that a reason has nothing to do with the tree. None: reasons are no evidence,
        they only make columns cheap.
    eager : float
        Nats taken off the price of a split.
    purity : float
        The prior weight of each label in a leaf. The smaller, the purer leaves should be.
    floor : float
        How bad the best split may be for growing to go on: what comes below may make up for it.
    """

    doubt: float | None
    eager: float
    purity: float = 0.1
    floor: float = -6.0
    adapt: float = 0


@dataclass(frozen=True, slots=True)
class Leaf:
    """Items the tree does not part any further."""

    label: int
    """The code of the most frequent label."""
    members: npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Branch:
    """A column, and what becomes of the items it holds on and of the others."""

    column: int
    yes: Tree
    no: Tree

    @property
    def leaves(self) -> int:
        return sum(
            child.leaves if isinstance(child, Branch) else 1 for child in (self.yes, self.no)
        )


Tree: TypeAlias = Leaf | Branch


def grow(history: History, way: Way) -> Tree:
    """The tree that explains `history` best, as far as growing and cutting back finds it."""
    grower = _Grower(history, way)
    tree = grower.grow()
    if way.adapt and way.doubt is not None and len(history.pairs):
        right, wrong = borne_out(tree, history)
        d = min(0.5, max(0.02, (wrong + 0.5) / (right + wrong + 5)))
        if way.adapt == 1: grower.doubt = log(1 / d)
        else:
            grower.doubt = log(1 / d); grower.bonus = max(0., log(max(len(history.features), _COLUMNS) / 2) + (way.adapt if way.adapt<0 else 1) * log(1 - d))
        tree = grower.grow()
    return tree

def borne_out(tree, history):
    right = wrong = 0
    on_item, on_example = history.pair_truths()
    def walk(node, pairs):
        nonlocal right, wrong
        if isinstance(node, Leaf) or not len(pairs): return
        a, b = on_item[node.column, pairs], on_example[node.column, pairs]
        apart = a != b
        cols = np.array([history.pairs[p].column for p in pairs[apart]])
        right += int((cols == node.column).sum()); wrong += int((cols != node.column).sum())
        walk(node.yes, pairs[~apart & a]); walk(node.no, pairs[~apart & ~a])
    walk(tree, np.arange(len(history.pairs)))
    return right, wrong


class _Grower:
    def __init__(self, history: History, way: Way) -> None:
        self.history, self.way = history, way
        n, columns = len(history), len(history.features)
        self.columns = columns
        labels = max(2, len(history.labels))
        self.labels = labels
        steps = np.arange(n)
        self.of_label = np.concatenate([[0.0], np.cumsum(np.log(steps + way.purity))])
        self.of_leaf = np.concatenate([[0.0], np.cumsum(np.log(steps + way.purity * labels))])
        total = max(columns, _COLUMNS)
        self.price = np.full(columns, log(total) + log(2) - way.eager)
        self.bonus = log(total / 2)
        self.named_by = np.array([pair.column for pair in history.pairs], dtype=np.intp)
        if way.doubt is None:
            self.price[list(history.named)] -= log(total)
            self.named_by = self.named_by[:0]
        self.doubt = 0.0 if way.doubt is None else log(1 / way.doubt)
        pairs = len(self.named_by)
        if pairs:
            on_item, on_example = history.pair_truths()
            self.parts = pack_rows(on_item != on_example)
            self.on_item = pack_rows(on_item)

    def grow(self) -> Tree:
        n = len(self.history)
        words, label_words = self.history.words, self.history.label_words
        everything = pack(np.ones(n, dtype=np.bool_))
        pairs = pack(np.ones(len(self.named_by), dtype=np.bool_))
        tree, _ = self._grow(words, label_words, everything, pairs, np.arange(n), 0)
        return tree

    def _leaf_score(self, counts: _Counts) -> _Floats:
        score: _Floats = self.of_label[counts].sum(-1) - self.of_leaf[counts.sum(-1)]
        return score

    def _grow(
        self,
        words: Words,
        label_words: Words,
        inside: Words,
        pairs: Words,
        numbers: npt.NDArray[np.intp],
        depth: int,
    ) -> tuple[Tree, float]:
        """The best tree on the items `inside`, and its score. `numbers` are the items of bits."""
        here = label_words & inside
        counts = np.bitwise_count(here).sum(1, dtype=np.int64)
        size = int(counts.sum())
        score = float(self._leaf_score(counts))
        told = int(np.bitwise_count(pairs).sum()) if len(pairs) else 0

        def leaf() -> tuple[Tree, float]:
            return Leaf(int(counts.argmax()), numbers[positions(inside)]), score

        if depth >= 40 or size < 2 or not self.columns:
            return leaf()
        if np.count_nonzero(counts) < 2 and not told:
            return leaf()
        if size * 3 < inside.size * 64 and inside.size > 2:
            at = positions(inside)
            words, here = _gather(words, at), _gather(here, at)
            label_words, numbers = here, numbers[at]
            inside = pack(np.ones(len(at), dtype=np.bool_))
        with_it = self._counts(words, here, inside, counts)
        without = counts - with_it
        gain = self._leaf_score(with_it) + self._leaf_score(without) - score - self.price
        if told:
            gain += self._reasons(pairs)
        held = with_it.sum(1)
        gain[(held == 0) | (held == size)] = -np.inf
        column = self._best(gain)
        if not gain[column] > self.way.floor:
            return leaf()
        halves = inside & words[column], inside & ~words[column]
        if told:
            together = pairs & ~self.parts[column]
            shares = together & self.on_item[column], together & ~self.on_item[column]
        else:
            shares = pairs, pairs
        yes, yes_score = self._grow(words, label_words, halves[0], shares[0], numbers, depth + 1)
        no, no_score = self._grow(words, label_words, halves[1], shares[1], numbers, depth + 1)
        split = gain[column] + score
        split += yes_score - self._leaf_score(with_it[column])
        split += no_score - self._leaf_score(without[column])
        if split > score:
            return Branch(column, yes, no), float(split)
        return leaf()

    def _counts(self, words: Words, here: Words, inside: Words, counts: _Counts) -> _Counts:
        """How many items of each label have each column: columns by labels."""
        with_it = np.zeros((self.columns, len(counts)), dtype=np.int64)
        live = np.flatnonzero(counts)
        for label in live[1:]:
            with_it[:, label] = np.bitwise_count(words & here[label]).sum(1, dtype=np.int64)
        everyone = np.bitwise_count(words & inside).sum(1, dtype=np.int64)
        with_it[:, live[0]] = everyone - with_it.sum(1)
        return with_it

    def _reasons(self, pairs: Words) -> _Floats:
        """What the reasons among `pairs` say for or against each column."""
        named = np.bincount(self.named_by[positions(pairs)], minlength=self.columns)
        parted = np.bitwise_count(self.parts & pairs).sum(1, dtype=np.int64)
        said: _Floats = named * self.bonus - (parted - named) * self.doubt
        return said

    def _best(self, gain: _Floats) -> int:
        ties = np.flatnonzero(gain >= gain.max() - 1e-9)
        if len(ties) == 1:
            return int(ties[0])
        rank = {column: place for place, column in enumerate(self.history.named)}
        bits, features = self.history.words, self.history.features
        return min(
            ties.tolist(),
            key=lambda c: (rank.get(c, len(rank)), bits[c].tobytes(), text_of(features[c])),
        )


def _leaves(tree: Tree) -> int:
    return tree.leaves if isinstance(tree, Branch) else 1


def in_order(tree: Tree) -> Iterator[tuple[tuple[tuple[int, bool], ...], Leaf]]:
    """The leaves as a decision list: the first list of literals that an item satisfies is its leaf.

    The smaller half of every branch comes first, so that the larger needs no literal for it.
    """
    if isinstance(tree, Leaf):
        yield (), tree
        return
    first = _leaves(tree.yes) <= _leaves(tree.no)
    for literals, leaf in in_order(tree.yes if first else tree.no):
        yield ((tree.column, first), *literals), leaf
    yield from in_order(tree.no if first else tree.yes)


def positions(words: Words) -> npt.NDArray[np.intp]:
    """Which bits are set."""
    return np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))


def pack_rows(truths: npt.NDArray[np.bool_]) -> Words:
    """Pack every row of a table of truth values."""
    packed = np.packbits(truths, axis=1, bitorder="little")
    padded = np.zeros((len(truths), words_for(truths.shape[1]) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view("<u8").astype(np.uint64, copy=False)


def _gather(words: Words, at: npt.NDArray[np.intp]) -> Words:
    """Columns of only the items `at`."""
    bits = words[:, at >> 6] >> (at & 63).astype(np.uint64) & np.uint64(1)
    return pack_rows(bits.astype(np.bool_))
