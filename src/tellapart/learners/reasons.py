"""What became of the reasons a teacher gave: in which rule each one stands, or why it need not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal as Choice

import numpy as np

from tellapart.combinations import And, Or, Points
from tellapart.learners.history import History, group_of
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
    rule has another feature of the same column, a threshold say. covered: the items it was named
    for are labelled right without it. missed: some of them are not."""
    rules: tuple[int, ...]
    """The rules it stands in, or those that decide in its place; the default is the last number."""
    instead: Feature | None = None
    more: int = 0
    """How many more items of the history are right with what stands in its place."""

    def __str__(self) -> str:
        named = ", ".join("everything else" if n < 0 else f"rule {n + 1}" for n in self.rules)
        said = describe(self.feature)
        if self.fate == "stands":
            return f"{said}: in {named}"
        if self.fate == "same":
            return f"{said}: {named} says {describe(self.instead)}, true of the same items"
        if self.fate == "moved":
            return f"{said}: {named} says {describe(self.instead)}, {self.more} more right"
        if self.fate == "covered":
            return f"{said}: not needed, its items are right by {named}"
        return f"{said}: not used, other answers speak against it"


def reasons(model: DecisionList, history: History) -> list[Reason]:
    """Every reason of a history, in the order in which they were first given.

    >>> import tellapart as ta
    >>> world, learner = ta.worlds.zoo(), ta.ShortList()
    >>> lesson = ta.teach(learner, world.teacher(), world.items)
    >>> print(reasons(learner.model, learner.history)[0])
    eggs: in rule 6
    """
    given: dict[tuple[int, Label], list[int]] = {}
    for item, _, column in history.pairs:
        given.setdefault((column, history.labels[history.codes[item]]), []).append(item)
    look = _Look(model, history)
    return [look.up(column, label, items) for (column, label), items in given.items()]


class _Look:
    """Looks reasons up in a model."""

    def __init__(self, model: DecisionList, history: History) -> None:
        self.model, self.history = model, history
        self.used: dict[Feature, list[int]] = {}
        for number, clause in enumerate(model.clauses):
            for literal in clause.literals:
                for part in parts_of(literal.feature):
                    self.used.setdefault(part, []).append(number)

    def up(self, column: int, label: Label, items: list[int]) -> Reason:
        """What became of one."""
        history, feature = self.history, self.history.features[column]
        times = len(items)
        if feature in self.used:
            return Reason(feature, label, times, "stands", self._numbers(self.used[feature]))
        bits = history.bits
        for other, numbers in self.used.items():
            at = history.column_of.get(other)
            same = at is not None and bool(
                (bits[:, at] == bits[:, column]).all() or (bits[:, at] != bits[:, column]).all()
            )
            if same:
                return Reason(feature, label, times, "same", self._numbers(numbers), other)
        for other, numbers in self.used.items():
            if group_of(other) == group_of(feature):
                more = self._right(self.model) - self._right(_replaced(self.model, other, feature))
                if more >= 0:
                    found = self._numbers(numbers)
                    return Reason(feature, label, times, "moved", found, other, more)
        matched = [self.model.match(history.items[item]) for item in items]
        deciding = [
            -1 if clause is self.model.default else self.model.clauses.index(clause)
            for clause in matched
        ]
        right = all(clause.label == label for clause in matched)
        fate: Fate = "covered" if right else "missed"
        return Reason(feature, label, times, fate, self._numbers(deciding))

    def _right(self, model: DecisionList) -> int:
        wanted = [self.history.labels[code] for code in self.history.codes]
        found = model.predict(self.history.items)
        return int(np.sum([one == other for one, other in zip(found, wanted, strict=True)]))

    @staticmethod
    def _numbers(found: Iterable[int]) -> tuple[int, ...]:
        return tuple(sorted(set(found), key=lambda n: (n < 0, n)))


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
