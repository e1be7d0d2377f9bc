"""Small trees whose tests are "at least t of these parts", within a room of terms.

A tree is read as a decision list: under every test, the side with fewer leaves is written first. So
a test costs its parts once for each leaf on that side, and these are the terms of a list.

Rows come as bits (rows x columns) with weights for each label (rows x labels): a row that is
labelled has weight 1 for its label, one that is not has what somebody believes of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.intp]
Parts = tuple[tuple[int, bool], ...]
"""Columns, each with the truth it must have."""

MOST_PARTS = 5  # of a test
_SWEEPS, _STEPS = 3, 6
_LEAST, _LEAST_NAMED = 1.0, 0.2  # weight on either side of a split, and if the column was named
_CLOSE = 1e-4  # weights that differ by less are equal


class Node:
    """A leaf with a label, or a test with two sides."""

    __slots__ = ("label", "least", "no", "parts", "yes")
    yes: Node
    no: Node

    def __init__(self, label: int = 0) -> None:
        self.label = label
        self.parts: Parts = ()
        self.least = 1
        """How many of the parts must hold."""

    def split(self, parts: Parts, yes: Node, no: Node, least: int = 1) -> None:
        """Become a test."""
        self.parts, self.least, self.yes, self.no = parts, least, yes, no

    def become(self, other: Node) -> None:
        """Become what `other` is."""
        self.parts, self.least, self.label = other.parts, other.least, other.label
        if other.parts:
            self.yes, self.no = other.yes, other.no

    def match(self, bits: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Which rows pass the test."""
        found: npt.NDArray[np.bool_] = count(self.parts, bits) >= self.least
        return found

    def __deepcopy__(self, memo: object) -> Node:
        return renumbered(self, None)


def count(parts: Parts, bits: npt.NDArray[Any]) -> Floats:
    """How many of the parts hold, for each row."""
    held = np.zeros(len(bits), np.float32)
    for column, wanted in parts:
        held += bits[:, column] if wanted else 1 - bits[:, column]
    return held


def size(tree: Node) -> tuple[int, int]:
    """The terms of a tree as a list, and its leaves."""
    if not tree.parts:
        return 0, 1
    (one, yes), (other, no) = size(tree.yes), size(tree.no)
    return one + other + len(tree.parts) * min(yes, no), yes + no


def repeats(tree: Node) -> int:
    """How many rules repeat the test of a node: the leaves on its smaller side."""
    return min(size(tree.yes)[1], size(tree.no)[1])


def terms(tree: Node) -> list[int]:
    """The columns of all terms of the tree as a list, with repetition."""
    if not tree.parts:
        return []
    own = [column for column, _ in tree.parts] * repeats(tree)
    return own + terms(tree.yes) + terms(tree.no)


def guess(tree: Node, bits: Floats) -> Numbers:
    """The label of each row."""
    found = np.full(len(bits), tree.label, dtype=np.intp)
    if tree.parts and len(bits):
        passed = tree.match(bits)
        found[passed] = guess(tree.yes, bits[passed])
        found[~passed] = guess(tree.no, bits[~passed])
    return found


def renumbered(tree: Node, columns: Sequence[int] | dict[int, int] | None) -> Node:
    """A copy of a tree, with other numbers for its columns."""
    made = Node(tree.label)
    if tree.parts:
        parts = tuple((c if columns is None else int(columns[c]), w) for c, w in tree.parts)
        made.split(parts, renumbered(tree.yes, columns), renumbered(tree.no, columns), tree.least)
    return made


def tidy(tree: Node) -> Node:
    """Drop the tests whose two sides say the same."""
    if tree.parts:
        tidy(tree.yes)
        tidy(tree.no)
        if not tree.yes.parts and not tree.no.parts and tree.yes.label == tree.no.label:
            tree.become(tree.yes)
    return tree


class _Split(NamedTuple):
    """The best split of a leaf."""

    gain: float
    column: int
    leaf: Node
    rows: Numbers


def grow(bits: Floats, weights: Floats, room: int, bonus: npt.NDArray[Any]) -> Node:
    """Split the leaf that gains most for each term added, while there is room.

    The gain is that of Gini's index, times the bonus of the column.
    """
    across = np.ascontiguousarray(bits.T)
    root = Node(int(weights.sum(0).argmax()))
    splits = _best_split(across, weights, root, np.arange(len(bits)), bonus)
    while splits:
        used = size(root)[0]
        best: tuple[float, _Split] | None = None
        for split in splits:
            split.leaf.split(((split.column, True),), Node(), Node())
            more = size(root)[0] - used
            split.leaf.parts = ()
            if used + more <= room and (best is None or split.gain / more > best[0]):
                best = split.gain / more, split
        if best is None:
            break
        _, column, leaf, rows = best[1]
        splits = [split for split in splits if split.leaf is not leaf]
        inside = bits[rows, column] > 0.5
        sides = rows[inside], rows[~inside]
        yes, no = (Node(int(weights[side].sum(0).argmax())) for side in sides)
        leaf.split(((column, True),), yes, no)
        for node, side in zip((yes, no), sides, strict=True):
            splits += _best_split(across, weights, node, side, bonus)
    return tidy(root)


def _best_split(
    across: Floats, weights: Floats, leaf: Node, rows: Numbers, bonus: npt.NDArray[Any]
) -> list[_Split]:
    mass = weights[rows].sum(0)
    if not len(rows) or mass.max() >= mass.sum() - 1e-6:
        return []
    inside = across[:, rows] @ weights[rows]
    outside = mass - inside
    gain = (_purity(inside) + _purity(outside) - _purity(mass)) * bonus
    least = np.where(bonus > 1, _LEAST_NAMED, _LEAST)
    gain[np.minimum(inside.sum(1), outside.sum(1)) < least] = -1
    column = int(gain.argmax())
    return [_Split(float(gain[column]), column, leaf, rows)] if gain[column] > 1e-9 else []


def _purity(mass: npt.NDArray[Any]) -> npt.NDArray[Any]:
    found: npt.NDArray[Any] = (mass * mass).sum(-1) / np.maximum(mass.sum(-1), 1e-9)
    return found


def chain(
    bits: Floats, weights: Floats, slopes: npt.NDArray[Any], groups: Numbers, parts: int
) -> Node:
    """A test for every label but the commonest, one after the other: at least so many of `parts`
    signs that speak for it.

    `slopes` (columns x labels) says how far a column speaks for a label; of one group of columns,
    only the one that says most is taken. Signs that add up are found in no other way: no one of
    them helps much alone.
    """
    order = np.argsort(weights.sum(0), kind="stable")[::-1].tolist()
    root = node = Node(order[0])
    rest = np.ones(len(bits), dtype=np.bool_)
    for label in order[1:]:
        others = np.delete(weights, label, axis=1).max(1)
        won = ((weights[:, label] - others) * rest).astype(np.float32)
        test = _Search(bits, won, np.zeros(bits.shape[1])).retuned(
            _strongest(slopes[:, label], groups, parts)
        )
        if test.worth <= 0:
            continue
        default = Node(order[0])
        node.split(test.parts, Node(label), default, test.least)
        rest &= ~node.match(bits)
        node = default
    return tidy(root)


def _strongest(slopes: npt.NDArray[Any], groups: Numbers, most: int) -> Parts:
    found: dict[int, tuple[int, bool]] = {}
    for column in np.argsort(-np.abs(slopes), kind="stable").tolist():
        found.setdefault(int(groups[column]), (column, bool(slopes[column] > 0)))
        if len(found) == most:
            break
    return tuple(found.values())


class _Test(NamedTuple):
    """A test and what it is worth: the weight it wins, less the cost of its parts."""

    worth: float
    parts: Parts
    least: int


class Improvement:
    """Better tests for a tree, one at a time, bottom up: add, replace or drop a part, or ask for
    more or fewer of them, where that wins more weight than its terms cost.

    A row that goes to the yes side instead of the no side wins a weight; one product scores every
    column and every "at least" at once.

    Parameters
    ----------
    cost : of each column
        The weight that a term must win.
    firm : float
        The weight that a change must win beyond that, unless it makes a test shorter.
    """

    def __init__(
        self, bits: Floats, weights: Floats, room: int, cost: npt.NDArray[Any], firm: float = _CLOSE
    ) -> None:
        self.bits, self.weights, self.room, self.cost, self.firm = bits, weights, room, cost, firm
        self._root = Node()
        self._changed = False

    def of(self, tree: Node) -> Node:
        """The tree, improved in place."""
        self._root = tree
        for _ in range(_SWEEPS):
            self._changed = False
            self._visit(tree, np.arange(len(self.bits)))
            tidy(tree)
            if not self._changed:
                break
        return tree

    def worth(self, tree: Node) -> float:
        """The weight that a tree labels as it should be, less the cost of its terms."""
        right = self.weights[np.arange(len(self.bits)), guess(tree, self.bits)].sum()
        return float(right) - float(self.cost[terms(tree)].sum())

    def _visit(self, node: Node, rows: Numbers) -> None:
        if not node.parts:
            if len(rows):
                node.label = int(self.weights[rows].sum(0).argmax())
            return
        here = self.bits[rows]
        passed = node.match(here)
        self._visit(node.yes, rows[passed])
        self._visit(node.no, rows[~passed])
        each = np.arange(len(rows))
        weights = self.weights[rows]
        won = weights[each, guess(node.yes, here)] - weights[each, guess(node.no, here)]
        matter = won != 0
        if matter.any():
            self._better(node, here[matter], won[matter])

    def _better(self, node: Node, bits: Floats, won: Floats) -> None:
        times = repeats(node)
        spare = (self.room - size(self._root)[0]) // times
        price = self.cost * times
        search = _Search(bits, won, price)
        best = search.as_it_is(node.parts, node.least)
        for _ in range(_STEPS):
            found = search.best(best.parts, spare > 0, self.firm)
            shorter = len(found.parts) < len(best.parts)
            if found.worth <= best.worth + (_CLOSE if shorter else self.firm):
                break
            spare += len(best.parts) - len(found.parts)
            best, self._changed = found, True
        node.parts, node.least = best.parts, best.least
        whole = float(won.sum())
        if best.worth <= max(0.0, whole) + 1e-6:  # it does not pay at all
            node.become(node.yes if whole > 0 else node.no)
            self._changed = True


class _Search:
    """The tests that are one step away from a test."""

    def __init__(self, bits: Floats, won: Floats, price: npt.NDArray[Any]) -> None:
        self.bits, self.won, self.price = bits, won, price
        self._across = np.ascontiguousarray(bits.T)

    def as_it_is(self, parts: Parts, least: int) -> _Test:
        held = count(parts, self.bits) >= least
        return _Test(float(self.won[held].sum()) - self._paid(parts), parts, least)

    def best(self, parts: Parts, more: bool, firm: float) -> _Test:
        """The best of them; one that is not shorter must be better by `firm`."""
        found = [self.retuned(parts)]
        if more and len(parts) < MOST_PARTS:
            found.append(self._one_more(parts))
        for place in range(len(parts)):
            rest = parts[:place] + parts[place + 1 :]
            found.append(self._one_more(rest))
            if rest:
                found.append(self.retuned(rest))
        return max(found, key=lambda test: test.worth - firm * (len(test.parts) >= len(parts)))

    def _paid(self, parts: Parts) -> float:
        return float(sum(self.price[column] for column, _ in parts))

    def retuned(self, parts: Parts) -> _Test:
        """The best "at least" for these parts."""
        held = count(parts, self.bits)
        won = [float(self.won[held >= least].sum()) for least in range(1, len(parts) + 1)]
        place = int(np.argmax(won))
        return _Test(won[place] - self._paid(parts), parts, place + 1)

    def _one_more(self, parts: Parts) -> _Test:
        """The best column to add, with its best "at least"."""
        held = count(parts, self.bits)
        level = np.stack([self.won * (held == n) for n in range(len(parts) + 1)], 1)
        lifted, total = self._across @ level, level.sum(0)
        above = np.append(total[::-1].cumsum()[::-1][1:], 0.0)  # these match without the new part
        worth = np.stack([above + lifted, above + total - lifted]) - self.price[None, :, None]
        worth[:, [column for column, _ in parts]] = -np.inf
        no, column, least = np.unravel_index(int(worth.argmax()), worth.shape)
        best = float(worth[no, column, least]) - self._paid(parts)
        return _Test(best, (*parts, (int(column), not no)), int(least) + 1)
