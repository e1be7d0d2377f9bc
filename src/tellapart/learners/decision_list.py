"""A small tree as a decision list: as few words as it takes, grouped by label, in her words.

Under every test of the tree, the side with fewer leaves is written first. What the teacher named
for items that the tree gets wrong, or for the label of the default, is written too if there is
room. Then rules of one label are brought together, and said as one rule where each has one test.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tellapart.combinations import And, Or, Points
from tellapart.learners.history import Bits, History
from tellapart.learners.short_trees import (
    Array,
    Node,
    Numbers,
    Part,
    Parts,
    Test,
    guess,
    leaves,
)
from tellapart.model import Clause, DecisionList, Literal, Not

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
            tuple(one for test in rule.tests for one in _literals(test, history, items)),
            history.labels[rule.label],
            history.items[rule.example],
            rule.example,
        )
        for rule in _brief(_merged(_by_label(found, rows)), rows, history)
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


def _literals(test: Test, history: History, items: int) -> list[Literal]:
    """A test in features: literals that must all hold. Where all parts are denied, it is what must
    not be."""
    parts, least = test
    literals = [_literal(history, column, wanted, items) for column, wanted in parts]
    if least == len(parts):
        return literals
    if not any(wanted for _, wanted in literals):
        named, most = [feature for feature, _ in literals], test.opposite.least
        denied = And(*named) if most == len(parts) else Points([(f, 1) for f in named], most)
        return [Literal(denied, False)]
    signed = [feature if wanted else Not(feature) for feature, wanted in literals]
    return [Literal(Or(*signed) if least == 1 else Points([(f, 1) for f in signed], least))]


def _literal(history: History, column: int, wanted: bool, items: int) -> Literal:
    """A part of a test: "x < 3" for "not (x >= 3)" where that is the same on all known rows."""
    opposite = None if wanted else history.opposite(column, items)
    return Literal(history.features[column], wanted) if opposite is None else Literal(opposite)


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
    pairs = [pair for pair in history.pairs if pair.item < len(codes)]
    instead = history.instead((pair.column for pair in pairs), rows)
    for item, column in ((pair.item, int(instead[pair.column])) for pair in pairs):
        if column in used or len(first) + len(last) >= spare:
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


def _brief(found: list[Rule], rows: Bits, history: History) -> list[Rule]:
    """The same list without parts that say nothing beside others of the same column: of x > 3 and
    x > 5 the first is left out where all must hold, and the second where any must."""

    def needed(parts: Iterable[Part], general: bool) -> Parts:
        held: dict[Part, Bits] = {part: rows[:, part[0]] == part[1] for part in parts}
        for part, own in tuple(held.items()):
            group = history.groups[part[0]]
            others = [bits for one, bits in held.items() if history.groups[one[0]] == group]
            implied = [own <= other if general else other <= own for other in others]
            if sum(bool(one.all()) for one in implied) > 1:  # by itself, and by another
                del held[part]
        return tuple(held)

    def brief(tests: tuple[Test, ...]) -> tuple[Test, ...]:
        if len(tests) == 1 and tests[0].least == 1:
            return (Test(needed(tests[0].parts, True)),)
        if not tests or any(test.least < len(test.parts) for test in tests):
            return tests
        parts = needed((part for test in tests for part in test.parts), False)
        return (Test(parts, len(parts)),)

    return [rule._replace(tests=brief(rule.tests)) for rule in found]
