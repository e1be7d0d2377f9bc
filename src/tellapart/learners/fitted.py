"""The tree that is fitted to a history.

A smooth model (`beliefs`) reads the labels and reasons there are and says what it believes of all
rows, labelled or not. A tree within a room of terms imitates these beliefs (`short_trees`).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np

from tellapart import codec
from tellapart.learners.beliefs import Said, believe
from tellapart.learners.history import Bits, History
from tellapart.learners.short_trees import (
    Array,
    Floats,
    Improvement,
    Nested,
    Node,
    Numbers,
    Test,
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
_PRIOR = 0.2, 6  # the rank of reasons before the first, and how many they count
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
    named = history.named()
    choosy, suspected = _judge(history, named)
    suspected &= choosy and wary
    use, instead = _unlike(history, named, history.unprompted() & ~suspected | named)
    before = renumbered(before, instead.tolist())
    tree = _imitation(history, before, room, named & choosy, use, instead)
    groups = dict.fromkeys(history.groups[column] for column in np.flatnonzero(suspected))
    return Fitted(tree, tuple(groups), len(history))


def _imitation(
    history: History, before: Node, room: int, named: Bits, use: Bits, instead: Numbers
) -> Node:
    """The tree that imitates beliefs about all rows; it may use some of the columns, of which
    `named` come first."""
    read = _spread(len(history), ROWS)
    codes, known, labels = np.array(history.codes)[read], len(read), len(history.labels)
    if not use.any():
        return Node(int(np.bincount(codes).argmax()))
    columns = np.flatnonzero(use)
    place = {int(column): number for number, column in enumerate(columns)}
    rows = np.concatenate([history.bits[read], history.pool_bits(len(history))])
    bits, own = rows[:, columns].astype(np.float32), named[columns]
    said = [
        Said(
            place[column],
            1 if history.bits[item, column] else -1,
            history.codes[item],
            history.codes[example],
        )
        for item, example, column in ((*pair[:2], instead[pair.column]) for pair in history.pairs)
        if named[column] and use[column]
    ]
    few = _spread(known, READS)
    chances, left_out, slopes = believe(bits, few, codes[few], labels, own, said)
    chances[few] = left_out
    taught = np.eye(labels)[codes] * (1 - SOFT) + chances[:known] * SOFT
    others = chances[known:] * POOL_WEIGHT * known / max(1, len(bits) - known)
    weights = np.concatenate([taught, others]).astype(np.float32)
    weights *= known / weights.sum()
    used = [column for column in terms(before) if column in place]
    keep = own.copy()
    keep[[place[column] for column in used]] = True
    keep[np.argsort(-np.abs(slopes).max(1), kind="stable")[:SCREEN]] = True
    columns, own = columns[keep], own[keep]
    bits = np.ascontiguousarray(bits[:, keep])
    place = {int(column): number for number, column in enumerate(columns)}
    shown = renumbered(before, place) if used and len(used) == len(terms(before)) else None
    groups = history.group_numbers()[columns]
    found = _within_room(shown, bits, weights, room, own, groups, slopes[keep])
    return renumbered(found, columns.tolist())


def _within_room(
    shown: Node | None,
    bits: Floats,
    weights: Floats,
    room: int,
    named: Bits,
    groups: Numbers,
    slopes: Array,
) -> Node:
    """The best of some trees: the one that is shown, improved, unless a new one is clearly better;
    and the best that are grown or chained."""
    bonus = np.where(named, NAMED_FIRST, 1.0)
    cost = np.where(named | (not named.any()), NAMED_COST, OTHER_COST)
    nested, mass = Nested(bits, groups), float(weights.sum())
    free = Improvement(bits, weights, room, cost, nested)
    small = min(room, max(2, int(SMALL * room)))
    found = [grow(bits, weights, most, bonus) for most in (room, small)]
    heavy = slopes * np.where(named, NAMED_SLOPE, 1.0)[:, None]
    each = room // max(1, weights.shape[1] - 1)
    for parts in sorted({min(each, most) for most in CHAINS if each > 1}):
        found.append(chain(bits, weights, heavy, groups, parts))
    found = [free.of(tree) for tree in sorted(found, key=free.worth, reverse=True)[:IMPROVED]]
    values = [free.worth(tree) for tree in found]
    if shown is not None:
        found.insert(0, Improvement(bits, weights, room, cost, nested, FIRM).of(shown))
        values.insert(0, free.worth(shown) + STAY * mass)
    best = found[int(np.argmax(np.round(values, 6)))]
    return _in_named_columns(best, free, groups, named, max(1.0, CLEAR * mass))


def _in_named_columns(
    tree: Node, judge: Improvement, groups: Numbers, named: Bits, clear: float
) -> Node:
    """The same tree with what was named of a column, a threshold say, in place of what was not,
    unless that is clearly better."""
    nodes, worth = [tree], judge.worth(tree)
    while nodes:
        node = nodes.pop()
        if node.test is None:
            continue
        nodes += [node.yes, node.no]
        for place, (column, _) in enumerate(node.test.parts):
            said = np.flatnonzero(named & (groups == groups[column])).tolist()
            before, least = node.test
            tried: list[tuple[float, Test]] = []
            others = (*before[:place], *before[place + 1 :])
            for part in ((c, w) for c in said if not named[column] for w in (True, False)):
                if not judge.nested.free(part, others):
                    continue
                node.test = Test((*before[:place], part, *before[place + 1 :]), least)
                tried.append((judge.worth(tree), node.test))
            best, test = max(tried, default=(-np.inf, node.test))
            node.test = Test(before, least)
            if best > worth - clear:
                node.test, worth = test, best
    return tree


def _unlike(history: History, named: Bits, use: Bits) -> tuple[Bits, Numbers]:
    """The columns to use, without those that equal a named one, or its opposite, everywhere; and
    of every column the one to use in its place."""
    rows = np.concatenate(
        [history.bits[_spread(len(history), ROWS)], history.pool_bits(len(history))]
    )
    if rows.shape[1] > WIDEST:
        even = -np.abs(rows.mean(0) - 0.5)
        use = use & (even >= np.partition(even, -WIDEST)[-WIDEST]) | named
    columns = [column.tobytes() for column in np.packbits(rows ^ rows[:1], axis=0).T]
    own = {columns[number] for number in np.flatnonzero(named)}
    alike = np.array([column in own for column in columns], dtype=np.bool_)
    instead = history.instead(np.flatnonzero(named).tolist(), rows)
    most_general = instead == np.arange(len(instead))
    return use & (named | ~alike) & most_general, instead


def _spread(rows: int, most: int) -> Numbers:
    """All rows, or every second, fourth, ...: the choice changes only when they have doubled."""
    step = 1 << max(0, (rows - 1) // most).bit_length()
    return np.arange(0, rows, step)


def _judge(history: History, named: Bits) -> tuple[bool, Bits]:
    """Whether the teacher chooses reasons well, and the columns to be wary of.

    The rank of a reason is the share of columns that tell the two labels apart better, of all that
    tell item and example apart; her own column does not count as better. Its mean is about 0.1 for
    someone who knows, 0.5 for someone who says any true difference; suspected columns do not count.
    Suspected is a column that told the labels apart clearly better than the reason given, three
    times or more, and was never named although it could have been.
    """
    bits, codes, group = history.bits, np.array(history.codes), history.group_numbers()
    size = np.bincount(codes, minlength=len(history.labels)) + 1.0
    share = np.eye(len(size), dtype=np.float32)[codes].T @ bits.astype(np.float32) + 0.5
    share /= size[:, None]
    told = history.pairs[-_JUDGED:]
    best = np.full((len(told), int(group.max(initial=-1)) + 1), -1.0)
    mine, margin = np.zeros(len(told)), np.zeros(len(told))
    for number, (item, example, column) in enumerate(told):
        label, other = codes[item], codes[example]
        tells = (share[label] - share[other]) * np.where(bits[item], 1, -1)
        np.maximum.at(best[number], group, np.where(bits[item] != bits[example], tells, -1.0))
        mine[number] = best[number, group[column]] = tells[column]
        margin[number] = 2 * np.sqrt(0.25 / size[label] + 0.25 / size[other])
    beaten = (best > (mine + margin)[:, None]).sum(0)
    suspected = (beaten >= _BEATEN) & (len(history.pairs) >= _WARY_AFTER)
    suspected[group[named]] = False
    best[:, suspected] = -1
    better = (best > mine[:, None] + 1e-9).sum(1)
    ranks = better / np.maximum(1, (best > -1).sum(1))
    prior, weight = _PRIOR
    rank = (prior * weight + float(ranks.sum())) / (weight + len(told))
    return rank <= CHOOSY, suspected[group]


codec.register(
    Fitted,
    "$fitted",
    lambda made: [codec.encode(made.tree), codec.encode(made.suspected), made.items],
    lambda value, context: Fitted(*(codec.decode(part, context) for part in value)),
)
