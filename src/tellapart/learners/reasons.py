"""What became of the reasons a teacher gave: in which rule each one stands, or why it need not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice

import numpy as np

from tellapart.combinations import And, Or, Points, leaves
from tellapart.learners.history import History
from tellapart.model import Clause, Compound, DecisionList, Literal, Not, describe
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
    """stands: it, or its opposite, is in a rule. same: a rule has a feature that holds on the same
    items. moved: a rule has a feature of the same column that holds on nearly the same items,
    another threshold say, and no fewer items are right. covered: the items it was named for are
    labelled right without it. missed: some of them are not."""
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
    rules: dict[int, list[int]] = {}  # in which a column stands
    for number, clause in enumerate(model.clauses):
        for feature in {part for one in clause.literals for part in leaves(one.feature)}:
            column = history.column_for(feature)
            if column is not None and number not in rules.setdefault(column, []):
                rules[column].append(number)
    given: dict[tuple[int, Label], list[int]] = {}
    for item, _, column in history.pairs:
        given.setdefault((column, history.labels[history.codes[item]]), []).append(item)
    place = {id(clause): number for number, clause in enumerate(model.clauses)}
    found = []
    for (column, label), items in given.items():
        feature, times = history.features[column], len(items)
        if column in rules:
            found.append(Reason(feature, label, times, "stands", tuple(rules[column])))
            continue
        other, same = _instead(history, list(rules), column)
        if other is not None:
            new = history.features[other]
            more = 0 if same else _more_right(model, history, new, feature)
            if more >= 0:
                fate: Fate = "same" if same else "moved"
                found.append(Reason(feature, label, times, fate, tuple(rules[other]), new, more))
                continue
        matched = [model.match(history.items[item]) for item in items]
        fate = "covered" if all(clause.label == label for clause in matched) else "missed"
        deciding = {place.get(id(clause), -1) for clause in matched}
        in_order = sorted(deciding, key=lambda n: (n < 0, n))  # the default comes last
        found.append(Reason(feature, label, times, fate, tuple(in_order)))
    return found


def _instead(history: History, columns: list[int], column: int) -> tuple[int | None, bool]:
    """The one of some columns that is the same as `column`, or its opposite, on all items; or else
    the nearest one of its group, if it holds with `column` more often than without. And which."""
    bits, near = history.bits, dict[int, int]()
    for other in columns:
        apart = int((bits[:, other] != bits[:, column]).sum())
        if apart in (0, len(bits)):
            return other, True
        both = int((bits[:, other] & bits[:, column]).sum())
        if apart < both and history.groups[other] == history.groups[column]:
            near[other] = apart
    return min(near, key=lambda other: near[other], default=None), False


def _more_right(model: DecisionList, history: History, new: Feature, old: Feature) -> int:
    """How many more items are right with the new feature than with the old one in its place."""
    before = _replaced(model, new, old)
    apart = history.bits[:, history.column_of[new]] != history.bits[:, history.column_of[old]]
    some = np.flatnonzero(apart).tolist()  # elsewhere it does not matter
    items = [history.items[n] for n in some]
    wanted = [history.labels[history.codes[n]] for n in some]
    each = zip(model.predict(items), before.predict(items), wanted, strict=True)
    return sum((now == label) - (then == label) for now, then, label in each)


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
        if feature == old:
            return new
        turned = isinstance(feature, Compound) and feature.opposite == old
        return Not(new) if turned else feature

    clauses = tuple(
        Clause(tuple(Literal(of(f), wanted) for f, wanted in clause.literals), clause.label)
        for clause in model.clauses
    )
    return DecisionList(clauses, model.default, model.reading)
