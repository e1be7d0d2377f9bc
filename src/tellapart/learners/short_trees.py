"""Small trees whose tests are "at least t of these parts", within a room of terms.

A tree is read as a decision list: under every test, the side with fewer leaves is written first. So
a test costs its parts once for each leaf on that side, and these are the terms of a list.

Rows come as bits (rows x columns) with weights for each label (rows x labels): a row that is
labelled has weight 1 for its label, one that is not has what somebody believes of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tellapart import codec
from tellapart.learners.history import Bits

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.intp]
Part = tuple[int, bool]
"""A column with the truth it must have."""
Parts = tuple[Part, ...]

MOST_PARTS = 5  # of a test that is improved
_SWEEPS, _STEPS = 3, 6
_LEAST, _LEAST_NAMED = 1.0, 0.2  # weight on either side of a split, and if the column was named
_CLOSE = 1e-4  # weights that differ by less are equal


class Test(NamedTuple):
    """At least so many of the parts hold."""

    parts: Parts
    least: int = 1

    def held(self, bits: Array) -> Floats:
        """How many of the parts hold, for each row."""
        found = np.zeros(len(bits), np.float32)
        for column, wanted in self.parts:
            found += bits[:, column] if wanted else 1 - bits[:, column]
        return found

    def match(self, bits: Array) -> Bits:
        """Which rows pass."""
        found: Bits = self.held(bits) >= self.least
        return found

    @property
    def opposite(self) -> Test:
        """What holds where this does not."""
        parts = tuple((column, not wanted) for column, wanted in self.parts)
        return Test(parts, len(parts) - self.least + 1)


@dataclass(slots=True, eq=False)
class Node:
    """A leaf with a label, or a test with two sides."""

    label: int = 0
    test: Test | None = None
    yes: Node = field(init=False, repr=False)
    no: Node = field(init=False, repr=False)

    def split(self, test: Test, yes: Node, no: Node) -> None:
        """Become a test."""
        self.test, self.yes, self.no = test, yes, no

    def become(self, other: Node) -> None:
        """Become what `other` is."""
        self.label, self.test = other.label, other.test
        if other.test:
            self.yes, self.no = other.yes, other.no


def leaves(tree: Node) -> int:
    """How many leaves a tree has."""
    return leaves(tree.yes) + leaves(tree.no) if tree.test else 1


def repeats(tree: Node) -> int:
    """How many rules repeat the test of a node: the leaves on its smaller side."""
    return min(leaves(tree.yes), leaves(tree.no))


def terms(tree: Node) -> list[int]:
    """The columns of all terms of the tree as a list, with repetition."""
    if not tree.test:
        return []
    own = [column for column, _ in tree.test.parts] * repeats(tree)
    return own + terms(tree.yes) + terms(tree.no)


def guess(tree: Node, bits: Array) -> Numbers:
    """The label of each row."""
    found = np.full(len(bits), tree.label, dtype=np.intp)
    if tree.test and len(bits):
        passed = tree.test.match(bits)
        found[passed] = guess(tree.yes, bits[passed])
        found[~passed] = guess(tree.no, bits[~passed])
    return found


def renumbered(tree: Node, columns: Sequence[int] | Mapping[int, int]) -> Node:
    """A copy of a tree, with other numbers for its columns."""
    made = Node(tree.label)
    if tree.test:
        parts = tuple((int(columns[column]), wanted) for column, wanted in tree.test.parts)
        yes, no = renumbered(tree.yes, columns), renumbered(tree.no, columns)
        made.split(tree.test._replace(parts=parts), yes, no)
    return made


def tidy(tree: Node) -> Node:
    """Drop the tests whose two sides say the same."""
    if tree.test:
        tidy(tree.yes)
        tidy(tree.no)
        if not tree.yes.test and not tree.no.test and tree.yes.label == tree.no.label:
            tree.become(tree.yes)
    return tree


class _Split(NamedTuple):
    """The best split of a leaf."""

    gain: float
    column: int
    leaf: Node
    rows: Numbers


def grow(bits: Floats, weights: Floats, room: int, bonus: Array) -> Node:
    """Split the leaf that gains most for each term added, while there is room.

    The gain is that of Gini's index, times the bonus of the column.
    """
    across = np.ascontiguousarray(bits.T)
    root = Node(int(weights.sum(0).argmax()))
    splits = [*_best_split(across, weights, root, np.arange(len(bits)), bonus)]
    while splits:
        used, rates = len(terms(root)), list[float]()
        for split in splits:
            split.leaf.split(Test(((split.column, True),)), Node(), Node())
            more = len(terms(root)) - used
            split.leaf.test = None
            rates.append(split.gain / more if used + more <= room else 0.0)
        best = int(np.argmax(rates))
        if not rates[best]:
            break
        _, column, leaf, rows = splits.pop(best)
        inside = bits[rows, column] > 0.5
        sides = rows[inside], rows[~inside]
        yes, no = (Node(int(weights[side].sum(0).argmax())) for side in sides)
        leaf.split(Test(((column, True),)), yes, no)
        for node, side in zip((yes, no), sides, strict=True):
            splits += _best_split(across, weights, node, side, bonus)
    return tidy(root)


def _best_split(
    across: Floats, weights: Floats, leaf: Node, rows: Numbers, bonus: Array
) -> Iterator[_Split]:
    mass = weights[rows].sum(0)
    if not len(rows) or mass.max() >= mass.sum() - 1e-6:
        return
    inside = across[:, rows] @ weights[rows]
    outside = mass - inside
    gain = (_purity(inside) + _purity(outside) - _purity(mass)) * bonus
    least = np.where(bonus > 1, _LEAST_NAMED, _LEAST)
    gain[np.minimum(inside.sum(1), outside.sum(1)) < least] = -1
    column = int(gain.argmax())
    if gain[column] > 1e-9:
        yield _Split(float(gain[column]), column, leaf, rows)


def _purity(mass: Array) -> Array:
    found: Array = (mass * mass).sum(-1) / np.maximum(mass.sum(-1), 1e-9)
    return found


def chain(bits: Floats, weights: Floats, slopes: Array, groups: Numbers, parts: int) -> Node:
    """A test for every label but the commonest, one after the other: at least so many of `parts`
    signs that speak for it.

    `slopes` (columns x labels) says how far a column speaks for a label; of one group of columns,
    only the one that says most is taken. Signs that add up are found in no other way: no one of
    them helps much alone.
    """
    order = np.argsort(weights.sum(0), kind="stable")[::-1].tolist()
    root = node = Node(order[0])
    nested = Nested(bits, groups)
    rest = np.ones(len(bits), dtype=np.bool_)
    for label in order[1:]:
        signs = dict[int, tuple[int, bool]]()
        for column in np.argsort(-np.abs(slopes[:, label]), kind="stable").tolist():
            signs.setdefault(groups[column], (column, bool(slopes[column, label] > 0)))
        others = np.delete(weights, label, axis=1).max(1)
        won = (weights[:, label] - others) * rest
        search = _Search(bits, won.astype(np.float32), np.zeros(bits.shape[1]), nested)
        worth, test = search.retuned(tuple(signs.values())[:parts])
        if worth > 0:
            default = Node(order[0])
            node.split(test, Node(label), default)
            rest &= ~test.match(bits)
            node = default
    return tidy(root)


class Nested:
    """Which parts say nothing new beside another one of the same group, x > 3 beside x > 5: one
    implies the other on all rows."""

    def __init__(self, bits: Floats, groups: Numbers) -> None:
        self.bits, self.groups = bits, groups
        self._found = dict[Part, Bits]()

    def beside(self, part: Part) -> Bits:
        """The parts that say nothing new: those of truth True first, by columns."""
        if part not in self._found:
            column, wanted = part
            mates = np.flatnonzero(self.groups == self.groups[column])
            own, theirs = self.bits[:, column], self.bits[:, mates]
            total, of_own, of_theirs = len(own), own.sum(), theirs.sum(0)
            both = own @ theirs
            neither = total - of_own - of_theirs + both
            alike = (both == of_own) | (both == of_theirs)
            contrary = (both == 0) | (neither == 0)
            found = np.zeros((2, self.bits.shape[1]), dtype=np.bool_)
            found[:, mates] = (alike, contrary) if wanted else (contrary, alike)
            self._found[part] = found
        return self._found[part]

    def free(self, part: Part, others: Parts) -> bool:
        """Whether a part says something new beside others."""
        column, wanted = part
        return not any(self.beside(other)[int(not wanted), column] for other in others)


class Improvement:
    """Better tests for a tree, one at a time, bottom up: add, replace or drop a part, or ask for
    more or fewer of them, where that wins more weight than its terms cost.

    Parameters
    ----------
    cost : of each column
        The weight that a term must win.
    nested : Nested
        No test gets two parts of which one implies the other.
    firm : float
        The weight that a change must win beyond that, unless it makes a test shorter.
    """

    def __init__(
        self,
        bits: Floats,
        weights: Floats,
        room: int,
        cost: Array,
        nested: Nested,
        firm: float = _CLOSE,
    ) -> None:
        self.bits, self.weights, self.room, self.cost, self.firm = bits, weights, room, cost, firm
        self.nested = nested

    def of(self, tree: Node) -> Node:
        """The tree, improved in place."""
        for _ in range(_SWEEPS):
            changed = self._visit(tree, tree, np.arange(len(self.bits)))
            tidy(tree)
            if not changed:
                break
        return tree

    def worth(self, tree: Node) -> float:
        """The weight that a tree labels as it should be, less the cost of its terms."""
        right = self.weights[np.arange(len(self.bits)), guess(tree, self.bits)].sum()
        return float(right) - float(self.cost[terms(tree)].sum())

    def _visit(self, root: Node, node: Node, rows: Numbers) -> bool:
        """Improve a node that these rows come to, and all below it; whether anything changed."""
        if not node.test:
            if len(rows):
                node.label = int(self.weights[rows].sum(0).argmax())
            return False
        here, each, weights = self.bits[rows], np.arange(len(rows)), self.weights[rows]
        passed = node.test.match(here)
        changed = self._visit(root, node.yes, rows[passed])
        changed |= self._visit(root, node.no, rows[~passed])
        won = weights[each, guess(node.yes, here)] - weights[each, guess(node.no, here)]
        matter = won != 0
        if not matter.any():
            return changed
        times, before = repeats(node), node.test
        most = len(before.parts) + (self.room - len(terms(root))) // times
        search = _Search(here[matter], won[matter], self.cost * times, self.nested)
        worth, node.test = search.improved(before, min(most, MOST_PARTS), self.firm)
        if worth <= max(0.0, float(won.sum())) + 1e-6:  # it does not pay at all
            node.become(node.yes if won.sum() > 0 else node.no)
        return changed or node.test != before


_Worth = tuple[float, Test]
"""A test with the weight it wins, less the price of its parts."""


class _Search:
    """Tests of rows, of which each wins a weight if it passes; one product scores every column and
    every "at least" at once."""

    def __init__(self, bits: Floats, won: Floats, price: Array, nested: Nested) -> None:
        self.bits, self.won, self.price, self.nested = bits, won, price, nested
        self.across = np.ascontiguousarray(bits.T)

    def improved(self, test: Test, most: int, firm: float) -> _Worth:
        """The best test some steps away; a step that makes it no shorter must win `firm`."""
        worth = float(self.won[test.match(self.bits)].sum()) - self._paid(test.parts)
        for _ in range(_STEPS):
            length = len(test.parts)
            steps = [
                (found - (_CLOSE if len(other.parts) < length else firm), found, other)
                for found, other in self._steps(test.parts, most)
            ]
            won, found, other = max(steps, key=lambda step: step[0])
            if won <= worth:
                break
            worth, test = found, other
        return worth, test

    def _steps(self, parts: Parts, most: int) -> Iterator[_Worth]:
        yield self.retuned(parts)
        if len(parts) < most:
            yield self._one_more(parts)
        for place in range(len(parts)):
            rest = parts[:place] + parts[place + 1 :]
            yield self._one_more(rest)
            if rest:
                yield self.retuned(rest)

    def _paid(self, parts: Parts) -> float:
        return float(sum(self.price[column] for column, _ in parts))

    def retuned(self, parts: Parts) -> _Worth:
        """The best "at least" for these parts."""
        held = Test(parts).held(self.bits)
        won = [float(self.won[held >= least].sum()) for least in range(1, len(parts) + 1)]
        place = int(np.argmax(won))
        return won[place] - self._paid(parts), Test(parts, place + 1)

    def _one_more(self, parts: Parts) -> _Worth:
        """The best column to add, with its best "at least"."""
        held = Test(parts).held(self.bits)
        level = np.stack([self.won * (held == n) for n in range(len(parts) + 1)], 1)
        lifted, total = self.across @ level, level.sum(0)
        above = np.append(total[::-1].cumsum()[::-1][1:], 0.0)  # these match without the new part
        worth = np.stack([above + lifted, above + total - lifted]) - self.price[None, :, None]
        for part in parts:
            worth[:, part[0]] = -np.inf
            worth[self.nested.beside(part)] = -np.inf
        no, column, least = np.unravel_index(int(worth.argmax()), worth.shape)
        best = float(worth[no, column, least]) - self._paid(parts)
        return best, Test((*parts, (int(column), not no)), int(least) + 1)


def _write(tree: Node) -> Any:
    if not tree.test:
        return tree.label
    return [list(map(list, tree.test.parts)), tree.test.least, _write(tree.yes), _write(tree.no)]


def _read(data: Any, context: codec.Context) -> Node:
    if isinstance(data, int):
        return Node(data)
    parts, least, yes, no = data
    made = Node()
    test = Test(tuple((column, wanted) for column, wanted in parts), least)
    made.split(test, _read(yes, context), _read(no, context))
    return made


codec.register(Node, "$tree", _write, _read)
