"""Which rounds are alike: a tree that explains the labels and the reasons given for them.

A correction says two things: that this item has another label than the example shown, and by which
feature one tells. The tree is the shortest way to write down both (minimum description length). A
split costs the bits to name its feature and one more label. It saves bits in telling the labels of
its rounds, and the bits to name the feature of every correction whose item and example it parts by
the very feature that the teacher named. So a column that says little about labels by itself (the
root of an "either, but not both") is found because teachers keep naming it, and a feature that was
named once does not pay for its split.

Everything is counted on packed columns, 64 rounds a word.

This is not the tree of `learners.growing`, though both weigh labels and reasons. That one is to
guess: it is grown on all there is, goes on from what it counted before, ventures splits that pay
only further down and cuts back those that do not. This one is to judge: many are grown at once,
each on a part of the rounds and blind to those it judges, and none splits where that does not pay
at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tellapart import codec
from tellapart.features import Is
from tellapart.model import Holds, Not, describe, holds, truth
from tellapart.protocol import Feature, Label
from tellapart.review.transcript import Transcript
from tellapart.simulation import Words, clear_tail, pack, unpack, words_for

_Floats = npt.NDArray[np.float64]
_Numbers = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Facts:
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
    """A row for every correction that names a feature rightly: its round, the round of the example
    shown, the column."""

    @property
    def rounds(self) -> Words:
        """All of them."""
        return clear_tail(np.full(words_for(self.n), ~np.uint64(0)), self.n)

    def where(self, literals: Iterable[tuple[int, bool]]) -> Words:
        """Which rounds satisfy every literal (column, wanted)."""
        inside = self.rounds
        for column, wanted in literals:
            inside = inside & (self.columns[column] if wanted else ~self.columns[column])
        return inside


def plain(feature: Feature) -> Feature:
    """A feature without its "not"."""
    return feature.feature if isinstance(feature, Not) else feature


def read(
    history: Transcript,
    features: Iterable[Feature] = (),
    *,
    reading: Holds = holds,
    truth_of: Callable[[Feature], Words] | None = None,
) -> Facts:
    """Lay out the rounds over the features that were named, and `features` besides.

    Columns are in an order of their own, so that it does not matter in which they are given.
    """
    named = (t.correction.feature for t in history.rounds if t.correction is not None)
    wanted = dict.fromkeys(plain(f) for f in (*named, *features) if f is not None)
    known = sorted(
        (f for f in wanted if not isinstance(f, Is)), key=lambda f: (describe(f), repr(f))
    )
    n = len(history)
    columns = np.zeros((len(known), words_for(n)), dtype=np.uint64)
    for number, feature in enumerate(known):
        if truth_of is None:
            columns[number] = pack(truth(feature, told.item, reading) for told in history.rounds)
        else:
            columns[number] = clear_tail(truth_of(feature)[: words_for(n)].copy(), n)
    names = tuple(sorted({told.label for told in history.rounds}, key=lambda y: (str(y), repr(y))))
    code = {label: number for number, label in enumerate(names)}
    codes = np.array([code[told.label] for told in history.rounds], dtype=np.intp)
    labels = np.array([pack(codes == number) for number in range(len(names))], dtype=np.uint64)
    facts = Facts(n, tuple(known), columns, names, labels, codes, np.empty((0, 3), np.intp))
    return _with_reasons(facts, history)


def _with_reasons(facts: Facts, history: Transcript) -> Facts:
    first = first_rounds(history)
    column = {feature: number for number, feature in enumerate(facts.features)}
    rows = []
    for number, (_, _, guess, correction, _) in enumerate(history.rounds):
        if guess is None or correction is None or correction.feature is None:
            continue
        shown = first.get(codec.identity(guess.example))
        named = column.get(plain(correction.feature))
        if shown is None or named is None:
            continue
        here, there = _bits_of(facts.columns[named], np.array([number, shown]))
        if here != there and here != isinstance(correction.feature, Not):
            rows.append((number, shown, named))
    reasons = np.array(rows, dtype=np.intp).reshape(-1, 3)
    return Facts(**{**vars(facts), "reasons": reasons})


def first_rounds(history: Transcript) -> dict[object, int]:
    """In which round each item came first; examples are found by it."""
    first: dict[object, int] = {}
    for number, told in enumerate(history.rounds):
        first.setdefault(codec.identity(told.item), number)
    return first


def _bits_of(words: Words, numbers: _Numbers) -> npt.NDArray[np.bool_]:
    bits: Words = words[numbers >> 6] >> (numbers & 63).astype(np.uint64) & np.uint64(1)
    return bits.astype(np.bool_)


@dataclass(frozen=True)
class Group:
    """A leaf: the rounds that are alike in some literals, whether they made the tree or not."""

    literals: tuple[tuple[int, bool], ...]
    inside: Words
    counts: _Floats
    """Labels of the rounds that made the tree."""


def grouped(facts: Facts, among: Words) -> list[Group]:
    """The tree of the rounds `among`; its leaves hold the other rounds too, as if newly met."""
    tree = _Tree(facts)
    made = unpack(among, facts.n)
    reasons = facts.reasons[made[facts.reasons[:, 0]]]
    leaves = [tree.leaf((), facts.rounds, among, reasons)]
    while True:
        number = max(range(len(leaves)), key=lambda n: leaves[n].gain)
        leaf = leaves[number]
        if leaf.gain <= 1e-9:
            return [Group(leaf.literals, leaf.inside, leaf.counts) for leaf in leaves]
        leaves[number : number + 1] = [tree.half(leaf, wanted) for wanted in (True, False)]


@dataclass(frozen=True)
class _Leaf:
    literals: tuple[tuple[int, bool], ...]
    inside: Words
    among: Words
    reasons: _Numbers
    counts: _Floats
    gain: float
    column: int


class _Tree:
    """Splits and their prices."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.naming = float(np.log2(max(1, len(facts.features))))
        self.price = self.naming + float(np.log2(max(1, len(facts.names))))

    def leaf(
        self,
        literals: tuple[tuple[int, bool], ...],
        inside: Words,
        among: Words,
        reasons: _Numbers,
    ) -> _Leaf:
        labels = self.facts.labels & among
        whole = np.bitwise_count(labels).sum(axis=1, dtype=np.float64)
        gain, column = self._best(labels, whole, reasons)
        return _Leaf(literals, inside, among, reasons, whole, gain, column)

    def half(self, leaf: _Leaf, wanted: bool) -> _Leaf:
        """The part of a leaf in which the best column is as wanted."""
        words = self.facts.columns[leaf.column]
        side = words if wanted else ~words
        here, there = (_bits_of(side, leaf.reasons[:, end]) for end in (0, 1))
        return self.leaf(
            (*leaf.literals, (leaf.column, wanted)),
            leaf.inside & side,
            leaf.among & side,
            leaf.reasons[here & there],
        )

    def _best(self, labels: Words, whole: _Floats, reasons: _Numbers) -> tuple[float, int]:
        """How many bits the best split saves, and its column."""
        if not len(self.facts.features) or (not len(reasons) and np.count_nonzero(whole) < 2):
            return 0.0, 0
        have = np.array(
            [np.bitwise_count(self.facts.columns & label).sum(axis=1) for label in labels]
        ).T.astype(np.float64)
        named = np.bincount(reasons[:, 2], minlength=len(self.facts.features))
        saved = _bits(whole) - _bits(have) - _bits(whole - have) + self.naming * named - self.price
        total = have.sum(axis=1)
        saved[(total == 0) | (total == whole.sum())] = 0.0
        column = int(saved.argmax())
        return float(saved[column]), column


def _bits(counts: _Floats) -> _Floats:
    """The bits it takes to tell so many labels of each kind: n times their entropy."""
    total = counts.sum(axis=-1)
    bits: _Floats = _n_log_n(total) - _n_log_n(counts).sum(axis=-1)
    return bits


def _n_log_n(counts: _Floats) -> _Floats:
    return counts * np.log2(np.maximum(counts, 1))
