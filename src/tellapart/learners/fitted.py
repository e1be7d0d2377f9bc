"""The tree that is fitted to a history.

A smooth model (`beliefs`) reads the labels and reasons there are and says what it believes of all
rows, labelled or not. A tree within a room of terms imitates these beliefs (`short_trees`).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tellapart.learners.beliefs import Said, believe
from tellapart.learners.history import Bits, History, group_of
from tellapart.learners.short_trees import (
    Floats,
    Improvement,
    Node,
    Numbers,
    Parts,
    chain,
    grow,
    renumbered,
    terms,
)

READS = 400  # rows of the history that the smooth model reads,
ROWS = 2000  # and that the list is fitted to: every second, fourth, ... of more
WIDEST = 2000  # columns that are looked at: the named and the most even ones
SCREEN = 250  # columns that the list may use beside the named: those of the greatest weight
POOL_WEIGHT = 3.0  # of the unlabelled rows together, against the history
SOFT = 0.3  # the share of beliefs in the labels of the history: teachers slip
NAMED_FIRST = 2.0  # what a gain by a named feature counts, in growing
NAMED_COST, OTHER_COST = 0.05, 0.1  # rows that a term must win
NAMED_SLOPE = 1.5
CHAINS = (5, 9, 15)
IMPROVED = 2
CLEAR = 0.01  # share of the rows, and one row at least, that a feature must win over a named one
SMALL = 0.35  # of the room, for the second list that is grown
STAY = 0.01  # share of the rows that a new list must win over the shown one
FIRM = 0.25  # rows that a change of a test in the shown list must win
CHOOSY = 0.4  # mean rank of reasons up to which they are heard
_PRIOR = 0.2, 2  # the rank of reasons before the first, and how many they count
_WARY_AFTER, _BEATEN = 5, 3  # reasons
_JUDGED = 200  # the latest reasons by which a teacher is judged


@dataclass(frozen=True)
class Fitted:
    """What a fit gives, and what the next one needs to know of it."""

    tree: Node = field(default_factory=Node)
    suspected: tuple[Hashable, ...] = ()
    """The columns that go along with the labels, but were never named."""
    items: int = 0
    """How many there were."""


@np.errstate(invalid="ignore")  # OpenBLAS may raise this flag in products of finite numbers
def fit(history: History, before: Node, room: int, wary: bool = True) -> Fitted:
    """The tree for a history, given the one that was shown before."""
    codes = np.array(history.codes, dtype=np.intp)
    bits = history.bits
    named = np.zeros(bits.shape[1], dtype=np.bool_)
    named[list(history.named)] = True
    judged = _judge(history, bits, codes, named)
    suspected = judged.suspected if judged.choosy and wary else np.zeros_like(named)
    heard = named if judged.choosy else np.zeros_like(named)
    use = history.unprompted() & ~suspected | named
    tree = _Imitation(history, before, room).fitted(codes, heard, _unlike(history, named, use))
    groups = dict.fromkeys(group_of(history.features[c]) for c in np.flatnonzero(suspected))
    return Fitted(tree, tuple(groups), len(history))


class _Imitation:
    """The list that imitates beliefs about all rows."""

    def __init__(self, history: History, before: Node, room: int) -> None:
        self.history, self.before, self.room = history, before, room

    def fitted(self, codes: Numbers, named: Bits, use: Bits) -> Node:
        """The list; it may use some of the columns, of which `named` come first."""
        history, labels = self.history, len(self.history.labels)
        read = _spread(len(codes), ROWS)
        items, pool = history.bits[read], history.pool_bits(len(history))
        codes, known = codes[read], len(read)
        if not use.any():
            return Node(int(np.bincount(codes).argmax()))
        rows = np.concatenate([items, pool])
        columns = np.flatnonzero(use)
        bits = rows[:, columns].astype(np.float32)
        own = named[columns]
        place = np.full(len(use), -1)
        place[columns] = np.arange(len(columns))
        few = _spread(known, READS)
        said = [s for s in _said(history, place) if own[s.column]]
        beliefs = believe(bits, few, codes[few], labels, own, said)
        chances = beliefs.of_rows
        chances[few] = beliefs.left_out
        weights = np.concatenate(
            [
                np.eye(labels)[codes] * (1 - SOFT) + chances[:known] * SOFT,
                chances[known:] * POOL_WEIGHT * known / max(1, len(pool)),
            ]
        ).astype(np.float32)
        weights *= known / weights.sum()
        return self._within_room(bits, weights, columns, own, beliefs.slopes)

    def _within_room(
        self, bits: Floats, weights: Floats, columns: Numbers, named: Bits, slopes: Any
    ) -> Node:
        """The best of three lists: the one before, improved, and two that are grown."""
        used = terms(self.before)
        keep = named | np.isin(columns, used)
        keep[np.argsort(-np.abs(slopes).max(1), kind="stable")[:SCREEN]] = True
        bits, columns, named = np.ascontiguousarray(bits[:, keep]), columns[keep], named[keep]
        groups = self.history.groups()[columns]
        bonus = np.where(named, NAMED_FIRST, 1.0)
        cost = np.where(named | (not named.any()), NAMED_COST, OTHER_COST)
        free = Improvement(bits, weights, self.room, cost)
        small = min(self.room, max(2, int(SMALL * self.room)))
        found = [grow(bits, weights, room, bonus) for room in (self.room, small)]
        each = self.room // max(1, weights.shape[1] - 1)
        heavy = slopes[keep] * np.where(named, NAMED_SLOPE, 1.0)[:, None]
        for parts in sorted({min(each, most) for most in CHAINS if each > 1}):
            found.append(chain(bits, weights, heavy, groups, parts))
        found = sorted(found, key=lambda tree: -free.worth(tree))[:IMPROVED]
        found = [free.of(tree) for tree in found]
        values = [free.worth(tree) for tree in found]
        place = {int(column): number for number, column in enumerate(columns)}
        if used and all(column in place for column in used):
            firm = Improvement(bits, weights, self.room, cost, FIRM)
            found.insert(0, firm.of(renumbered(self.before, place)))
            values.insert(0, free.worth(found[0]) + STAY * float(weights.sum()))
        best = max(range(len(found)), key=lambda n: (round(values[n], 6), -n))
        clear = max(1.0, CLEAR * float(weights.sum()))
        own = _in_named_columns(found[best], free, groups, named, clear)
        return renumbered(own, columns.tolist())


def _in_named_columns(
    tree: Node, judge: Improvement, groups: Numbers, named: Bits, clear: float
) -> Node:
    """The same tree with what was named of a column, a threshold say, in place of what was not,
    unless that is clearly better."""
    nodes, worth = [tree], judge.worth(tree)
    while nodes:
        node = nodes.pop()
        if not node.parts:
            continue
        nodes += [node.yes, node.no]
        for place, (column, _) in enumerate(node.parts):
            said = np.flatnonzero(named & (groups == groups[column]))
            if named[column] or not len(said):
                continue
            before = node.parts
            found: list[tuple[float, Parts]] = []
            for other in said.tolist():
                for wanted in (True, False):
                    node.parts = (*before[:place], (other, wanted), *before[place + 1 :])
                    found.append((judge.worth(tree), node.parts))
            node.parts = before
            best, parts = max(found)
            if best > worth - clear:
                node.parts, worth = parts, best
    return tree


def _unlike(history: History, named: Bits, use: Bits) -> Bits:
    """The columns to use, without those that equal a named one, or its opposite, everywhere."""
    rows = np.concatenate(
        [history.bits[_spread(len(history), ROWS)], history.pool_bits(len(history))]
    )
    if rows.shape[1] > WIDEST:
        even = -np.abs(rows.mean(0) - 0.5)
        use = use & (even >= np.partition(even, -WIDEST)[-WIDEST]) | named
    packed = np.packbits(rows, axis=0).T
    flipped = np.packbits(~rows, axis=0).T
    own = {packed[column].tobytes() for column in np.flatnonzero(named)}
    own |= {flipped[column].tobytes() for column in np.flatnonzero(named)}
    if not own:
        return use
    same = [packed[column].tobytes() in own for column in range(rows.shape[1])]
    found: Bits = use & (named | ~np.array(same, dtype=np.bool_))
    return found


def _spread(rows: int, most: int) -> Numbers:
    """All rows, or every second, fourth, ...: the choice changes only when they have doubled."""
    step = 1 << max(0, (rows - 1) // most).bit_length()
    return np.arange(0, rows, step)


def _said(history: History, place: Numbers) -> list[Said]:
    """The reasons, as what the smooth model hears; `place` gives new numbers to columns."""
    codes, bits = history.codes, history.bits
    return [
        Said(int(place[column]), 1 if bits[item, column] else -1, codes[item], codes[example])
        for item, example, column in history.pairs
        if place[column] >= 0
    ]


class _Judged(NamedTuple):
    """Whether the teacher chooses reasons well, and the columns to be wary of."""

    choosy: bool
    suspected: Bits


def _judge(history: History, bits: Bits, codes: Numbers, named: Bits) -> _Judged:
    """Judge the teacher by the columns that she did not name.

    The rank of a reason is the share of columns that tell the two labels apart better, of all that
    tell item and example apart; her own column does not count as better. Its mean is about 0.1 for
    someone who knows, 0.5 for someone who says any true difference; suspected columns do not count.
    Suspected is a column that told the labels apart clearly better than the reason given, three
    times or more, and was never named although it could have been.
    """
    group = history.groups()
    labels = len(history.labels)
    size = np.bincount(codes, minlength=labels) + 1.0
    share = np.eye(labels, dtype=np.float32)[codes].T @ bits.astype(np.float32) + 0.5
    share /= size[:, None]
    told = history.pairs[-_JUDGED:]
    best = np.full((len(told), int(group.max(initial=-1)) + 1), -1.0)
    mine, margin = np.zeros(len(told)), np.zeros(len(told))
    for number, (item, example, column) in enumerate(told):
        label, other = codes[item], codes[example]
        tells = (share[label] - share[other]) * np.where(bits[item], 1, -1)
        np.maximum.at(best[number], group, np.where(bits[item] != bits[example], tells, -1.0))
        mine[number] = tells[column]
        best[number, group[column]] = mine[number]  # the column itself was chosen well
        margin[number] = 2 * np.sqrt(0.25 / size[label] + 0.25 / size[other])
    beaten = (best > (mine + margin)[:, None]).sum(0)
    suspected = (beaten >= _BEATEN) & (len(history.pairs) >= _WARY_AFTER)
    suspected[group[named]] = False
    best[:, suspected] = -1
    better = (best > mine[:, None] + 1e-9).sum(1)
    ranks = better / np.maximum(1, (best > -1).sum(1))
    prior, weight = _PRIOR
    rank = (prior * weight + float(ranks.sum())) / (weight + len(told))
    return _Judged(rank <= CHOOSY, suspected[group])
