"""What became of the reasons a teacher gave: in which rule each one stands, or why it need not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal as Choice

import numpy as np

from tellapart.combinations import And, Or, Points
from tellapart.learners.history import Bits, History, group_of
from tellapart.model import Clause, DecisionList, Literal, Not, describe
from tellapart.protocol import Feature, Label

Fate = Choice["stands", "same", "moved", "covered", "missed"]


@dataclass(frozen=True)
class Reason:
    """A feature that was named for a label, and what became of it."""

    feature: Feature
    label: Label
    times: int
    """How often it was named for the label."""
    fate: Fate
    """stands: it is in a rule. same: a rule has a feature that holds on the same items. moved: a
    rule has a feature of the same column that holds on nearly the same items, another threshold
    say, and no fewer items are right. covered: the items it was named for are labelled right
    without it. missed: some of them are not."""
    rules: tuple[int, ...]
    """The numbers of the rules it stands in, or of those that decide in its place; -1 is the
    default."""
    instead: Feature | None = None
    more: int = 0
    """How many more items of the history are right with what stands in its place."""

    def __str__(self) -> str:
        named = ", ".join("everything else" if n < 0 else f"rule {n + 1}" for n in self.rules)
        said = f"{describe(self.feature)} ({self.label})"
        match self.fate:
            case "stands":
                return f"{said}: in {named}"
            case "same":
                return f"{said}: {named} says {describe(self.instead)}, true of the same items"
            case "moved":
                return f"{said}: {named} says {describe(self.instead)}, {self.more} more right"
            case "covered":
                return f"{said}: not needed, its items are right by {named}"
            case _:
                return f"{said}: not used, other answers speak against it"


def reasons(model: DecisionList, history: History) -> list[Reason]:
    """Every reason of a history, in the order in which they were first given.

    Left out is what says nothing about other items: "it is this very item", and features that did
    not tell the item from its example.

    >>> import tellapart as ta
    >>> world, learner = ta.worlds.zoo(), ta.ShortList()
    >>> lesson = ta.teach(learner, world.teacher(), world.items)
    >>> print(learner.reasons()[0])
    eggs (fish): in rule 6
    """
    used: dict[int, set[int]] = {}  # the columns of the rules, and the rules
    for number, clause in enumerate(model.clauses):
        for literal in clause.literals:
            for part in parts_of(literal.feature):
                if part in history.column_of:
                    used.setdefault(history.column_of[part], set()).add(number)
    given: dict[tuple[int, Label], list[int]] = {}
    for item, _, column in history.pairs:
        given.setdefault((column, history.labels[history.codes[item]]), []).append(item)
    number_of = {id(clause): number for number, clause in enumerate(model.clauses)}
    bits, columns, found = history.bits, list(used), []
    for (column, label), items in given.items():
        feature, times = history.features[column], len(items)
        if column in used:
            found.append(Reason(feature, label, times, "stands", _in_order(used[column])))
            continue
        other = _instead(history, columns, column)
        if other is not None:
            new, apart = history.features[other], bits[:, other] != bits[:, column]
            same = bool(apart.all() or not apart.any())
            more = 0 if same else _more_right(model, history, apart, new, feature)
            if more >= 0:
                fate: Fate = "same" if same else "moved"
                rules = _in_order(used[other])
                found.append(Reason(feature, label, times, fate, rules, new, more))
                continue
        matched = [model.match(history.items[item]) for item in items]
        fate = "covered" if all(clause.label == label for clause in matched) else "missed"
        rules = _in_order(number_of.get(id(clause), -1) for clause in matched)
        found.append(Reason(feature, label, times, fate, rules))
    return found


def _in_order(numbers: Iterable[int]) -> tuple[int, ...]:
    """Numbers of rules, the default last."""
    return tuple(sorted(set(numbers), key=lambda n: (n < 0, n)))


def _instead(history: History, columns: list[int], column: int) -> int | None:
    """The one of some columns that is the same as `column`, or its opposite, on all items; or else
    the nearest one of the same group, if it holds with `column` more often than without."""
    if not columns:
        return None
    bits = history.bits
    apart: Bits = (bits[:, columns] != bits[:, [column]]).sum(0)
    for place in np.flatnonzero((apart == 0) | (apart == len(bits))):
        return columns[place]
    both = (bits[:, columns] & bits[:, [column]]).sum(0)
    group = group_of(history.features[column])
    near = [
        (int(apart[place]), other)
        for place, other in enumerate(columns)
        if apart[place] < both[place] and group_of(history.features[other]) == group
    ]
    return min(near)[1] if near else None


def _more_right(
    model: DecisionList, history: History, apart: Bits, new: Feature, old: Feature
) -> int:
    """How many more items are right with the new feature than with the old one in its place; that
    can matter only where the two are apart."""
    some = np.flatnonzero(apart).tolist()
    items = [history.items[n] for n in some]
    wanted = [history.labels[history.codes[n]] for n in some]
    now, before = model.predict(items), _replaced(model, new, old).predict(items)
    return sum((a == y) - (b == y) for a, b, y in zip(now, before, wanted, strict=True))


def parts_of(feature: Feature) -> list[Feature]:
    """The features that a test of a rule is made of.

    >>> parts_of(Or("milk", Not("eggs")))
    ['eggs', 'milk']
    """
    if isinstance(feature, And | Or):
        return sorted((f for part in feature.parts for f in parts_of(part)), key=describe)
    if isinstance(feature, Points):
        return [part for part, _ in feature.terms]
    return [feature.feature if isinstance(feature, Not) else feature]


def _replaced(model: DecisionList, old: Feature, new: Feature) -> DecisionList:
    """The model with one feature in place of another."""

    def of(feature: Feature) -> Feature:
        if isinstance(feature, Not):
            denied: Feature = Not(of(feature.feature))
            return denied
        if isinstance(feature, And | Or):
            return type(feature)(*map(of, feature.parts))
        if isinstance(feature, Points):
            return Points([(of(part), weight) for part, weight in feature.terms], feature.at_least)
        return new if feature == old else feature

    clauses = tuple(
        Clause(tuple(Literal(of(f), wanted) for f, wanted in clause.literals), clause.label)
        for clause in model.clauses
    )
    return DecisionList(clauses, model.default, model.reading)
