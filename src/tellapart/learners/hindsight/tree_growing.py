"""Grows a decision tree from a history, by labels and reasons together.

The score of a tree is the logarithm of a probability, in nats. Its parts:

- A leaf: the chance of its labels when the shares of labels are unknown and pure leaves are likely
  (Dirichlet, weight `purity` for each label). Noise costs, but only so much.
- A split: -ln D - ln 2, the price of naming one of D columns and of having a split at all.
- A reason. The teacher said that f tells item x from example e. If the tree separates x from e by
  f, the teacher named the one feature the tree predicts, out of about D/2 that are true of x and
  not of e: + ln(D/2). If the tree separates them by another feature, the teacher slipped or x is an
  exception: - ln(1/doubt). So the first naming pays the price of a column, and every other one is
  evidence for it; and a column that separates many pairs for which others were named comes far down
  in the tree, or not at all.

The tree is grown from the top, split by best split, and then cut back from below wherever a leaf
scores better. In the first two levels the next best columns are tried too. Of equals the one whose
bits come first is taken: the order of columns does not matter.

Counts are kept. The next time, a node that no new item has reached stays as it is, and one that
some have reached adds them to its counts; only where another column has become the best is a part
of the tree grown anew. The result is the same as from scratch.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import log
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tellapart.learners.hindsight.history import History
from tellapart.simulation import Words, pack, words_for

_COLUMNS = 30  # where only named columns are known, a teacher could have named as many
_DEPTH = 40
_CELLS = 500_000  # items by columns; with more of them, less is ventured, as it would take long
_SPARSE = 10  # items are counted one by one when to go through all the words takes longer
_BYTE = 255
_TOP, _TRIES, _NEAR = 2, 3, 4.0  # where several columns are tried, how many, nats from the best
_CLOSE = 1e-9  # nats: what differs by less is equal
_BLOCK = 1 << 15  # words counted at a time, so that they fit the cache

_Floats: TypeAlias = npt.NDArray[np.float64]
_Counts: TypeAlias = npt.NDArray[np.intp]
_Numbers: TypeAlias = npt.NDArray[np.intp]


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
        How bad the splits on a path may be, together, for growing to go on: what comes below may
        make up for it. Less is ventured on large tables.
    free : bool
        Splits cost nothing at first. Their price rises with the number of items, to the usual one
        at 1024: with many items most splits that cost nothing would follow noise.
    """

    doubt: float | None
    eager: float
    purity: float = 0.1
    floor: float = -6.0
    free: bool = False


@dataclass(slots=True)
class Node:
    """Some items, and how they are split further."""

    inside: Words
    pairs: Words
    debt: float
    label: int
    """The code of the most frequent label."""
    score: float
    """Of the best tree found."""
    with_it: _Counts | None = None
    """How many items of each label have each column: labels by columns."""
    column: int = -1
    """The best split of those tried; -1 if none was."""
    tried: dict[int, tuple[Node, Node]] = field(default_factory=dict)
    """The halves by each column that was tried."""
    leaf: bool = True
    """Whether no split, or not splitting, is better."""

    def __deepcopy__(self, memo: object) -> Node:
        return self  # once grown, a node never changes

    @property
    def leaves(self) -> int:
        return 1 if self.leaf else sum(half.leaves for half in self.tried[self.column])


class Grower:
    """The tree that explains a history best, as far as growing and cutting back finds it."""

    def __init__(self, history: History, way: Way) -> None:
        self.history, self.way = history, way
        self.root: Node | None = None
        self._version: tuple[float, ...] = ()
        self._stale = True  # prices have changed: no node can be kept

    def __deepcopy__(self, memo: dict[int, Any]) -> Grower:
        made = Grower(copy.deepcopy(self.history, memo), self.way)
        made.root, made._version = self.root, self._version
        return made

    def grow(self) -> Node:
        """The tree of the history as it is now."""
        history, way = self.history, self.way
        n, labels = len(history), max(2, len(history.labels))
        self.columns = len(history.features)
        cells = 1 << (n.bit_length() + self.columns.bit_length())
        self.floor = way.floor / (1 + cells / _CELLS)
        self.near = _NEAR / (1 + cells / _CELLS)
        self.doubt = 0.0 if way.doubt is None else log(1 / way.doubt)
        self.cheap = self._cheap() if way.doubt is None else []
        self.rate = (min(8, n >> 7) / 8) ** 2 if way.free else 1.0
        sizes = len(history.labels), self.columns, len(self.cheap), cells
        version = (*sizes, way.eager, self.doubt, self.rate)
        self._stale = version != self._version
        self._version = version
        steps = np.arange(n)
        self.of_label = np.concatenate([[0.0], np.cumsum(np.log(steps + way.purity))])
        self.of_leaf = np.concatenate([[0.0], np.cumsum(np.log(steps + way.purity * labels))])
        self._set_prices()
        everything = pack(np.ones(n, dtype=np.bool_))
        all_pairs = pack(np.ones(len(self.named_by), dtype=np.bool_))
        self.words, self.labels, self.rows = history.words, history.label_words, history.rows
        self.codes = np.array(history.codes, dtype=np.intp)
        self.root = self._grow(self.root, everything, all_pairs, 0.0, 0)
        return self.root

    def contradicted(self) -> int:
        """How many items are separated from their examples by another feature than was named."""
        return self._contradicted(self.root) if self.root and len(self.named_by) else 0

    def _contradicted(self, node: Node) -> int:
        if node.leaf:
            return 0
        separated = node.pairs & self.separates[node.column, : len(node.pairs)]
        others = int((self.named_by[positions(separated)] != node.column).sum())
        return others + sum(map(self._contradicted, node.tried[node.column]))

    def _cheap(self) -> list[int]:
        """The columns named; the latest wait for others, as a new price changes all nodes."""
        pairs = self.history.pairs
        known = len(pairs) - len(pairs) % max(1, len(pairs) // 8)
        return list(dict.fromkeys(pair.column for pair in pairs[:known]))

    def _set_prices(self) -> None:
        history, way = self.history, self.way
        total = max(self.columns, _COLUMNS)
        self.price = np.full(self.columns, self.rate * (log(total) + log(2)) - way.eager)
        self.bonus = log(total / 2)
        self.price[self.cheap] -= self.rate * log(total)
        # what any split costs: its price, and the first label of each half
        self.least = float(self.price.min(initial=np.inf)) + 2 * log(max(2, len(history.labels)))
        used = way.doubt is not None
        self.named_by = np.array([p.column for p in history.pairs if used], dtype=np.intp)
        if len(self.named_by):
            on_item, on_example = history.pair_truths()
            self.separates = pack_rows(on_item != on_example)
            self.on_item = pack_rows(on_item)

    def _leaf_score(self, counts: _Counts) -> _Floats:
        """The score of a leaf, given how many items of each label it has (the first axis)."""
        score: _Floats = self.of_label.take(counts).sum(0) - self.of_leaf.take(counts.sum(0))
        return score

    def _grow(
        self,
        old: Node | None,
        inside: Words,
        pairs: Words,
        debt: float,
        depth: int,
        with_it: _Counts | None = None,
    ) -> Node:
        """The best tree on the items `inside`.

        `old` was the best on those of them that were known then; `with_it` may be known already.
        """
        same = old is not None and not self._stale and old.debt == debt
        if same and old and _same(inside, old.inside) and _same(pairs, old.pairs):
            return old
        here = self.labels & inside
        counts = np.bitwise_count(here).sum(1, dtype=np.intp)
        score = float(self._leaf_score(counts))
        node = Node(inside, pairs, debt, int(counts.argmax()), score)
        size = int(counts.sum())
        told = int(np.bitwise_count(pairs).sum()) if len(pairs) else 0
        if depth >= _DEPTH or size < 2 or not self.columns:
            return node
        if np.count_nonzero(counts) < 2 and not told:
            return node
        if self.least + node.score >= told * self.bonus:
            return node  # even two pure halves would not be worth it
        if with_it is None:
            with_it = self._extend(old, inside)
        if with_it is None:
            with_it = self._count(inside, size)
        node.with_it = with_it
        without = counts[:, None] - with_it
        gain = self._leaf_score(with_it) + self._leaf_score(without) - node.score - self.price
        if told:
            gain += self._reasons(pairs)
        held = with_it.sum(0)
        gain[(held == 0) | (held == size)] = -np.inf
        most = -np.inf
        for column in self._candidates(gain, depth):
            best = float(gain[column])
            if not debt + best > self.floor:
                break
            known = old.tried.get(column) if old is not None else None
            halves = self._split(node, known, column, min(0.0, debt + best), depth)
            split = score + best + sum(half.score for half in halves)
            split -= float(self._leaf_score(with_it[:, column]))
            split -= float(self._leaf_score(without[:, column]))
            node.tried[column] = halves
            if split > most + _CLOSE:
                node.column, most = column, split
        if most > score:
            node.leaf, node.score = False, most
        return node

    def _candidates(self, gain: _Floats, depth: int) -> Iterator[int]:
        """The column that gains most; near the top also the next ones, if they gain as much.

        A column wrong at the top costs many splits below, and shows it only there.
        """
        column = self._best(gain)
        best, rest = gain[column], gain.copy()
        yield column
        for _ in range(_TRIES - 1 if depth < _TOP else 0):
            rest[column] = -np.inf
            if best - rest.max() > self.near:
                return
            column = self._best(rest)
            yield column

    def _split(
        self,
        node: Node,
        known: tuple[Node, Node] | None,
        column: int,
        debt: float,
        depth: int,
    ) -> tuple[Node, Node]:
        """The halves of `node` by `column`; `known` are those of last time."""
        words, counted = self.words[column], node.with_it
        assert counted is not None
        halves = node.inside & words, node.inside & ~words
        shares = node.pairs, node.pairs
        if len(node.pairs):
            together = node.pairs & ~self.separates[column]
            shares = together & self.on_item[column], together & ~self.on_item[column]
        counts: list[_Counts | None] = [None, None]
        if known is None and not all(
            _settled(self.labels & half, share) for half, share in zip(halves, shares, strict=True)
        ):
            sizes = [int(np.bitwise_count(half).sum()) for half in halves]
            few = int(sizes[1] < sizes[0])
            there = self._count(halves[few], sizes[few])
            counts[few], counts[1 - few] = there, counted - there
        yes, no = (
            self._grow(known and known[i], halves[i], shares[i], debt, depth + 1, counts[i])
            for i in (0, 1)
        )
        return yes, no

    def _extend(self, old: Node | None, inside: Words) -> _Counts | None:
        """What `old` counted, and what came in since."""
        if old is None or old.with_it is None:
            return None
        words, labels = self.words, self.labels
        start = len(old.inside) - 1
        new = inside[start:].copy()
        new[0] &= ~old.inside[start]
        with_it = old.with_it
        met, before = with_it.shape
        if met < len(labels):
            with_it = np.pad(with_it, [(0, len(labels) - met), (0, 0)])
        if new.any():
            with_it = (
                with_it + self._count(new, int(np.bitwise_count(new).sum()), start)[:, :before]
            )
        if before < self.columns:
            with_it = np.concatenate([with_it, _popcounts(words[before:], labels & inside)], axis=1)
        return with_it

    def _count(self, inside: Words, size: int, start: int = 0) -> _Counts:
        """How many of the items `inside`, from word `start` on, have each column, by label."""
        if size * _SPARSE > inside.size * 64 * len(self.labels):
            return _popcounts(self.words[:, start:], self.labels[:, start:] & inside)
        at = positions(inside) + start * 64
        codes = self.codes[at]
        counts = np.zeros((len(self.labels), self.columns), dtype=np.intp)
        for label in range(len(counts)):
            rows = self.rows[at[codes == label]]
            for first in range(0, len(rows), _BYTE):  # their sum fits into a byte
                some = rows[first : first + _BYTE]
                truths = np.unpackbits(some, axis=1, count=self.columns, bitorder="little")
                counts[label] += truths.sum(0, dtype=np.uint8)
        return counts

    def _reasons(self, pairs: Words) -> _Floats:
        """What the reasons among `pairs` say for or against each column."""
        named = np.bincount(self.named_by[positions(pairs)], minlength=self.columns)
        separated = np.bitwise_count(self.separates & pairs).sum(1, dtype=np.int64)
        said: _Floats = named * self.bonus - (separated - named) * self.doubt
        return said

    def _best(self, gain: _Floats) -> int:
        ties = np.flatnonzero(gain >= gain.max() - _CLOSE)
        if len(ties) == 1:
            return int(ties[0])
        bits, texts = self.history.words, self.history.texts
        return min(ties.tolist(), key=lambda c: (bits[c].tobytes(), texts[c]))


def _settled(here: Words, pairs: Words) -> bool:
    """Whether nothing could be gained by a split: one label, and no reasons."""
    return not pairs.any() and int(here.any(axis=1).sum()) < 2


def _same(words: Words, old: Words) -> bool:
    """Whether the same bits are set; `old` may be shorter."""
    return np.array_equal(words[: len(old)], old) and not words[len(old) :].any()


def _popcounts(words: Words, here: Words) -> _Counts:
    """How many of the items `here`, a row for each label, have each column: labels by columns."""
    if len(here) * words.size <= _BLOCK:
        at_once: _Counts = np.bitwise_count(words & here[:, None]).sum(2, dtype=np.intp)
        return at_once
    counts = np.zeros((len(here), len(words)), dtype=np.intp)
    for label in np.flatnonzero(here.any(axis=1)):
        mask = here[label]
        used = np.flatnonzero(mask)
        some = len(used) * 2 < len(mask)
        if some:
            mask = mask[used]
        step = max(1, _BLOCK // max(1, len(mask)))
        for start in range(0, len(words), step):
            block = words[start : start + step]
            both = (block[:, used] if some else block) & mask
            counts[label, start : start + step] = np.bitwise_count(both).sum(1, dtype=np.int32)
    return counts


def in_order(node: Node) -> Iterator[tuple[tuple[tuple[int, bool], ...], Node]]:
    """The leaves as a decision list: the first list of literals that an item satisfies is its leaf.

    The smaller half of every branch comes first, so that the larger needs no literal for it.
    """
    if node.leaf:
        yield (), node
        return
    yes, no = node.tried[node.column]
    first = yes.leaves <= no.leaves
    for literals, leaf in in_order(yes if first else no):
        yield ((node.column, first), *literals), leaf
    yield from in_order(no if first else yes)


def positions(words: Words) -> _Numbers:
    """Which bits are set."""
    return np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))


def pack_rows(truths: npt.NDArray[np.bool_]) -> Words:
    """Pack every row of a table of truth values."""
    packed = np.packbits(truths, axis=1, bitorder="little")
    padded = np.zeros((len(truths), words_for(truths.shape[1]) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view("<u8").astype(np.uint64, copy=False)
