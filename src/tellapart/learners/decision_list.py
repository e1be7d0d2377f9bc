"""A small tree as a decision list: as few words as it takes, grouped by label, in her words.

Under every test of the tree, the side with fewer leaves is written first. What the teacher named
for items that the tree gets wrong, or for the label of the default, is written too if there is
room. Then rules of one label are brought together, and said as one rule where each has one test.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tellapart.combinations import And, Or, Points
from tellapart.learners.history import Bits, History
from tellapart.learners.short_trees import Array, Node, Numbers, Test, guess, leaves
from tellapart.model import Clause, DecisionList, Literal, Not
from tellapart.protocol import Feature

_FEW = 0.1  # of the rows: more than these no single reason decides against the tree


class Rule(NamedTuple):
    """Tests that must all be passed, the code of a label, and the first item that is an example."""

    tests: tuple[Test, ...]
    label: int
    example: int

    def match(self, bits: Array) -> Bits:
        """Which rows it applies to."""
        found = np.ones(len(bits), dtype=np.bool_)
        for test in self.tests:
            found &= test.match(bits)
        return found

    def asks_for_any(self) -> bool:
        """Whether it has one test, which asks for any of its parts."""
        return len(self.tests) == 1 and self.tests[0].least == 1


def decision_list(tree: Node, history: History, items: int, room: int) -> DecisionList:
    """A tree that was fitted to the first `items` of a history, as a decision list of at most
    `room` terms."""
    bits, pool = history.bits[:items], history.pool_bits(items)
    codes = np.array(history.codes[:items], dtype=np.intp)
    rows = np.concatenate([bits, pool])
    found = _needed(_rules(tree, bits, history.codes, codes), rows)
    found = _with_reasons(found, tree, history, rows, codes, room)
    clauses = [
        Clause(
            tuple(literal for test in rule.tests for literal in _literals(test, history.features)),
            history.labels[rule.label],
            history.items[rule.example],
            rule.example,
        )
        for rule in _merged(_by_label(found, rows))
    ]
    return DecisionList(tuple(clauses[:-1]), clauses[-1], history.reading)


def _rules(tree: Node, bits: Bits, all_codes: list[int], codes: Numbers) -> list[Rule]:
    """The rules of a tree, in order; the last one has no tests."""
    found: list[Rule] = []

    def write(node: Node, above: tuple[Test, ...], rows: Numbers) -> None:
        if not node.test:
            same = rows[codes[rows] == node.label]
            example = int(same[0]) if len(same) else all_codes.index(node.label)
            found.append(Rule(above, node.label, example))
            return
        test, passed = node.test, node.test.match(bits[rows])
        yes, no = leaves(node.yes), leaves(node.no)
        denied = sum(not wanted for _, wanted in test.parts)
        if yes > no or (yes == no and 2 * denied > len(test.parts)):
            write(node.no, (*above, test.opposite), rows[~passed])
            write(node.yes, above, rows[passed])
        else:
            write(node.yes, (*above, test), rows[passed])
            write(node.no, above, rows[~passed])

    write(tree, (), np.arange(len(codes)))
    while len(found) > 1 and found[-2].label == found[-1].label:
        del found[-2]
    return found


def _literals(test: Test, features: list[Feature]) -> list[Literal]:
    """A test in features: literals that must all hold. Where all parts are denied, it is what must
    not be."""
    parts, least = test
    named = [features[column] for column, _ in parts]
    if least == len(parts):
        return [Literal(features[column], wanted) for column, wanted in parts]
    if not any(wanted for _, wanted in parts):
        most = test.opposite.least
        denied = And(*named) if most == len(parts) else Points([(f, 1) for f in named], most)
        return [Literal(denied, False)]
    signed = [f if wanted else Not(f) for f, (_, wanted) in zip(named, parts, strict=True)]
    return [Literal(Or(*signed) if least == 1 else Points([(f, 1) for f in signed], least))]


def _needed(found: list[Rule], rows: Bits) -> list[Rule]:
    """The same list without the rules that change the label of no known row."""
    match = np.array([rule.match(rows) for rule in found])
    labels = np.array([rule.label for rule in found])
    given = labels[match.argmax(0)]
    for number in reversed(range(len(found) - 1)):  # the default stays
        held = match[number].copy()
        match[number] = False
        if (labels[match.argmax(0)] != given).any():
            match[number] = held
    return [*(rule for rule, held in zip(found[:-1], match, strict=False) if held.any()), found[-1]]


def _with_reasons(
    found: list[Rule], tree: Node, history: History, rows: Bits, codes: Numbers, room: int
) -> list[Rule]:
    """The same list with what the teacher named and the tree does not use, while there is room.

    That is what only items of the label have. It comes first if the tree gets some of them wrong,
    and it is true of several rows, but not of many: so a slip makes no rule. It comes before the
    default if that would say the same, but not why, and it is true of at most half of its items.
    """
    bits, default = rows[: len(codes)], found[-1].label
    given = guess(tree, bits.astype(np.float32))
    parts = [column for rule in found for test in rule.tests for column, _ in test.parts]
    used, spare = set(parts), room - len(parts)
    mine = int((codes == default).sum())
    first, last = list[Rule](), list[Rule]()
    for item, _, column in history.pairs:
        if item >= len(codes) or column in used or len(first) + len(last) >= spare:
            continue
        wanted = bool(bits[item, column])
        held = bits[:, column] == wanted
        if (codes[held] != codes[item]).any():
            continue
        rule = Rule((Test(((column, wanted),)),), int(codes[item]), item)
        few = 2 <= int((rows[:, column] == wanted).sum()) <= max(2.0, _FEW * len(rows))
        if wanted and few and (given[held] != codes[item]).any():
            first.append(rule)
        elif codes[item] == default and 2 * held.sum() <= mine:
            last.append(rule)
        else:
            continue
        used.add(column)
    return [*sorted(first, key=lambda rule: rule.label), *found[:-1], *last, found[-1]]


def _by_label(found: list[Rule], rows: Bits) -> list[Rule]:
    """The same list, rules of one label together as far as the order allows.

    Two rules of different labels keep their order if some row that is known passes both.
    """
    *rest, default = found
    if not rest:
        return found
    held = np.array([rule.match(rows) for rule in rest])
    labels = np.array([rule.label for rule in rest])
    both = np.array([(held & own).any(1) for own in held])
    bound = both & (labels[:, None] != labels)
    left, order, last = list(range(len(rest))), list[int](), -1
    while left:
        free = [n for place, n in enumerate(left) if not bound[n, left[:place]].any()]
        times = np.bincount(labels[free], minlength=labels.max() + 1)
        chosen = min(
            free,
            key=lambda n: (labels[n] != last, labels[n] == default.label, -times[labels[n]], n),
        )
        order.append(chosen)
        left.remove(chosen)
        last = labels[chosen]
    return [*(rest[n] for n in order), default]


def _merged(found: list[Rule]) -> list[Rule]:
    """The same list; rules that follow each other and give one label are one rule, if each asks for
    any of some parts."""
    made = found[:1]
    for rule in found[1:]:
        last = made[-1]
        if last.label == rule.label and last.asks_for_any() and rule.asks_for_any():
            parts = dict.fromkeys(last.tests[0].parts + rule.tests[0].parts)
            made[-1] = last._replace(tests=(Test(tuple(parts)),))
        else:
            made.append(rule)
    return made
