"""What the other rounds say of a round: trees that were grown without it, and items like it.

A correction says two things: this item has another label than the example shown, and this feature
tells them apart. A tree is the shortest description of both (minimum description length). A split
costs the bits to name its feature and one more label. It saves bits in telling the labels of its
rounds, and the bits to name the feature of every correction whose item and example it separates by
the very feature that the teacher named. So a column that says little about labels by itself (the
root of an "either, but not both") is found because teachers keep naming it, and a feature that was
named once does not pay for its split. Everything is counted on packed columns, 64 rounds a word.

Each tree is grown without the rounds it judges, and splits only where that pays at once.

The trees explain reasons, and say in words what speaks against an answer. Neighbours, items that
few columns tell apart, say no words, but they also see what many weak signs say together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tellapart import codec
from tellapart.columns import Words, bit, clear_tail, pack, unpack, words_for
from tellapart.features import Is
from tellapart.learners.beliefs import left_out
from tellapart.model import Holds, Not, describe, holds, truth
from tellapart.protocol import Feature, Label
from tellapart.review.progress import Transcript

_Floats = npt.NDArray[np.float64]
_Numbers = npt.NDArray[np.intp]
_Literals = tuple[tuple[int, bool], ...]  # (column, wanted)

_FOLDS = 5
_MOST = 500  # more items are dealt into parts: the time grows with the third power
_WIDTH = 0.6  # how soon likeness falls, in the mean number of columns between two items
_COSTS = (0.1, 0.3, 1.0)  # of estimates that change quickly


@dataclass(frozen=True)
class PackedHistory:
    """A history as packed columns."""

    n: int
    features: tuple[Feature, ...]
    columns: Words
    """Feature by word: in which rounds it holds."""
    names: tuple[Label, ...]
    labels: Words
    """Label by word: which rounds have it."""
    codes: _Numbers
    """The number in `names` of every round's label."""
    reasons: _Numbers
    """A row for every correction whose feature separates the item from the example: its round, the
    round of the example, the column."""

    @classmethod
    def of(
        cls,
        history: Transcript,
        features: Iterable[Feature] = (),
        *,
        reading: Holds = holds,
        truth_of: Callable[[Feature], Words] | None = None,
    ) -> PackedHistory:
        """The columns of the features that were named, and of `features`, in an order that does
        not depend on the order in which they were given."""
        named = (t.correction.feature for t in history.rounds if t.correction is not None)
        wanted = dict.fromkeys(_without_not(f) for f in (*named, *features) if f is not None)
        known = sorted(
            (f for f in wanted if not isinstance(f, Is)), key=lambda f: (describe(f), repr(f))
        )
        n = len(history)
        columns = np.zeros((len(known), words_for(n)), dtype=np.uint64)
        for number, feature in enumerate(known):
            if truth_of is None:
                columns[number] = pack(truth(feature, t.item, reading) for t in history.rounds)
            else:
                columns[number] = clear_tail(truth_of(feature)[: words_for(n)].copy(), n)
        labels = {told.label for told in history.rounds}
        names = tuple(sorted(labels, key=lambda y: (str(y), repr(y))))
        code = {label: number for number, label in enumerate(names)}
        codes = np.array([code[told.label] for told in history.rounds], dtype=np.intp)
        packed = np.array([pack(codes == number) for number in range(len(names))], dtype=np.uint64)
        reasons = _reasons(history, {f: c for c, f in enumerate(known)}, columns)
        return cls(n, tuple(known), columns, names, packed, codes, reasons)

    @property
    def rounds(self) -> Words:
        """All rounds."""
        return clear_tail(np.full(words_for(self.n), ~np.uint64(0)), self.n)

    def where(self, literals: Iterable[tuple[int, bool]]) -> Words:
        """Which rounds satisfy every literal (column, wanted)."""
        inside = self.rounds
        for column, wanted in literals:
            inside = inside & (self.columns[column] if wanted else ~self.columns[column])
        return inside


def _reasons(history: Transcript, column: dict[Feature, int], columns: Words) -> _Numbers:
    """See `PackedHistory.reasons`; an example is found by the first round of its item."""
    first: dict[object, int] = {}
    for number, told in enumerate(history.rounds):
        first.setdefault(codec.identity(told.item), number)
    rows = []
    for number, (_, _, guess, correction, _) in enumerate(history.rounds):
        if guess is None or correction is None or correction.feature is None:
            continue
        shown = first.get(codec.identity(guess.example))
        named = column.get(_without_not(correction.feature))
        if shown is None or named is None:
            continue
        here, there = (bit(columns[named], n) for n in (number, shown))
        if here != there and here != isinstance(correction.feature, Not):
            rows.append((number, shown, named))
    return np.array(rows, dtype=np.intp).reshape(-1, 3)


def _without_not(feature: Feature) -> Feature:
    return feature.feature if isinstance(feature, Not) else feature


@dataclass(frozen=True)
class Group:
    """A leaf: the rounds that satisfy some literals, whether they made the tree or not."""

    literals: _Literals
    inside: Words
    counts: _Floats
    """Labels of the rounds that made the tree."""


@dataclass(frozen=True)
class _Leaf(Group):
    """A leaf of a growing tree, and its best split."""

    among: Words
    """The rounds inside that make the tree."""
    reasons: _Numbers
    gain: float
    """How many bits the split saves."""
    column: int


class _Growth:
    """Grows a tree from the rounds `among`; its leaves hold the other rounds too."""

    def __init__(self, history: PackedHistory, among: Words) -> None:
        self.history = history
        self.naming = float(np.log2(max(1, len(history.features))))
        self.price = self.naming + float(np.log2(max(1, len(history.names))))
        made = unpack(among, history.n)
        reasons = history.reasons[made[history.reasons[:, 0]]]
        self.leaves = [self._leaf((), history.rounds, among, reasons)]
        while True:
            number = max(range(len(self.leaves)), key=lambda n: self.leaves[n].gain)
            leaf = self.leaves[number]
            if leaf.gain <= 1e-9:
                break
            self.leaves[number : number + 1] = [self._half(leaf, side) for side in (True, False)]

    def _leaf(self, literals: _Literals, inside: Words, among: Words, reasons: _Numbers) -> _Leaf:
        labels = self.history.labels & among
        counts = np.bitwise_count(labels).sum(axis=1, dtype=np.float64)
        gain, column = self._best_split(labels, counts, reasons)
        return _Leaf(literals, inside, counts, among, reasons, gain, column)

    def _half(self, leaf: _Leaf, wanted: bool) -> _Leaf:
        """The part of a leaf in which the best column is as wanted."""
        words = self.history.columns[leaf.column]
        side = words if wanted else ~words
        here, there = (_bits_at(side, leaf.reasons[:, end]) for end in (0, 1))
        return self._leaf(
            (*leaf.literals, (leaf.column, wanted)),
            leaf.inside & side,
            leaf.among & side,
            leaf.reasons[here & there],
        )

    def _best_split(self, labels: Words, whole: _Floats, reasons: _Numbers) -> tuple[float, int]:
        """How many bits the best split saves, and its column."""
        features, columns = self.history.features, self.history.columns
        if not len(features) or (not len(reasons) and np.count_nonzero(whole) < 2):
            return 0.0, 0
        have = np.array(
            [np.bitwise_count(columns & label).sum(axis=1) for label in labels]
        ).T.astype(np.float64)
        named = np.bincount(reasons[:, 2], minlength=len(features))
        saved = _bits(whole) - _bits(have) - _bits(whole - have) + self.naming * named - self.price
        total = have.sum(axis=1)
        saved[(total == 0) | (total == whole.sum())] = 0.0
        column = int(saved.argmax())
        return float(saved[column]), column


def _bits_at(words: Words, numbers: _Numbers) -> npt.NDArray[np.bool_]:
    bits: Words = words[numbers >> 6] >> (numbers & 63).astype(np.uint64) & np.uint64(1)
    return bits.astype(np.bool_)


def _bits(counts: _Floats) -> _Floats:
    """The bits to encode the labels, given how many there are of each: n times their entropy."""
    total = counts.sum(axis=-1)
    bits: _Floats = _n_log_n(total) - _n_log_n(counts).sum(axis=-1)
    return bits


def _n_log_n(counts: _Floats) -> _Floats:
    return counts * np.log2(np.maximum(counts, 1))


class _Tree(NamedTuple):
    judges: npt.NDArray[np.bool_]
    """The rounds it was grown without."""
    home: npt.NDArray[np.intp]
    """The group that each round falls into."""
    groups: list[_Leaf]


class HeldOutTrees:
    """Some trees, each grown without a fifth of the rounds, and their opinion of that fifth.

    A tree's opinion of a round is the labels of the group it falls into; the opinion of all is the
    mean. A slip that made a group of its own does not judge itself.
    """

    def __init__(self, history: PackedHistory, trees: int, seed: int) -> None:
        self.history = history
        folds = min(_FOLDS, history.n)
        generator = np.random.default_rng(seed)
        self._trees: list[_Tree] = []
        opinions = np.zeros((history.n, len(history.names)))
        for _ in range(-(-trees // folds)):
            fold = generator.permutation(history.n) % folds
            self._trees += [self._grow(fold == number) for number in range(folds)]
        for judges, home, groups in self._trees:
            counts = np.array([group.counts for group in groups]) + 1 / len(history.names)
            shares = counts / counts.sum(axis=1, keepdims=True)
            opinions[judges] += shares[home[judges]]
        self.opinions: _Floats = opinions / opinions.sum(axis=1, keepdims=True)
        """How likely each label is for each round: rounds by labels."""

    def _grow(self, judges: npt.NDArray[np.bool_]) -> _Tree:
        groups = _Growth(self.history, pack(~judges)).leaves
        home = np.zeros(self.history.n, dtype=np.intp)
        for number, group in enumerate(groups):
            home[unpack(group.inside, self.history.n)] = number
        return _Tree(judges, home, groups)

    def groups_of(self, number: int) -> Iterator[Group]:
        """The groups that a round falls into, in the trees grown without it."""
        for judges, home, groups in self._trees:
            if judges[number]:
                yield groups[home[number]]

    def separation(self, number: int, shown: int, column: int) -> Separation | None:
        """How well a column separates the group of one round from that of another, at best.

        None where no tree separates the two.
        """
        held = self.history.columns[column]
        wanted = bit(held, number)
        found = []
        for judges, home, groups in self._trees:
            if judges[number] and home[number] != home[shown]:
                sides = [groups[home[n]].inside for n in (number, shown)]
                (here, of), (there, among) = (_share(side, held, wanted) for side in sides)
                found.append(Separation(here - 1, of - 1, there, among - 1))
        return min(found, key=lambda separation: separation.doubt, default=None)


class Separation(NamedTuple):
    """On how many others of the item's group a feature holds, and of the example's."""

    here: int
    of: int
    there: int
    among: int

    @property
    def doubt(self) -> float:
        """0 where it holds on all of the one or none of the other; 1 where it does not separate
        them.

        Few others prove little.
        """
        here, there = (self.here + 1) / (self.of + 1), self.there / (self.among + 1)
        return min(1.0, 1.0 - (here - there) / min(here, 1 - there))


def _share(inside: Words, held: Words, wanted: bool) -> tuple[int, int]:
    both = int(np.bitwise_count(inside & held).sum())
    size = int(np.bitwise_count(inside).sum())
    return both if wanted else size - both, size


def estimate_labels(
    truths: npt.NDArray[np.bool_], codes: npt.NDArray[np.intp], labels: int
) -> npt.NDArray[np.float64]:
    """How likely each of so many labels is for each item, by the items that are like it.

    Every label is estimated from the others, its own left out, by least squares with a kernel. How
    smooth the estimate is, is chosen by the squares of its errors. There is a closed form for
    leaving out, so nothing is random. `truths` are items by columns; `codes` are the numbers of
    their labels.

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
    values, wanted = np.maximum(values, 0.0), target - target.mean(0)
    turned = vectors.T @ wanted
    ways: list[_Floats] = [left_out(values, vectors, wanted, turned, cost) for cost in _COSTS]
    return target - min(ways, key=lambda missed: float((missed**2).sum()))
