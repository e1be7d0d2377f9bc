"""A learner, and what people changed about its rules."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import Any

from tellapart.model import Clause, DecisionList, Literal
from tellapart.protocol import Correction, Feature, Guess, Item, Label, Learner
from tellapart.tables import Row


class NoLearner:
    """What stands in the place of a learner that cannot be made."""

    model = DecisionList()

    def guess(self, item: Item) -> Guess:
        return Guess(None, None)

    def learn(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        """It learns nothing."""

    def bound(self, **_: object) -> None:
        """Nothing is proven of it."""


@dataclass
class EditedRule:
    """What a person did to the rule with an example: another rule instead of it, or none."""

    example: Row
    at: int
    """Where the rule stood. Below 0 it is one that the session began with: those stand, in their
    order, before all that is learnt."""
    by: str | None
    """Who did it."""
    label: Label = None
    literals: list[Literal] | None = None
    """None: the rule is dropped."""

    @property
    def clause(self) -> Clause | None:
        if self.literals is None:
            return None
        return Clause(tuple(self.literals), self.label, self.example, "by hand")


@dataclass
class EditedLearner:
    """A learner with edited rules.

    A rule is known by its example. A dropped rule is passed over; an edited one stands where it
    stood, with the condition and the label the person gave, and is corrected like the rules of
    `DFF`: a wrong guess adds NOT φ. The learner beneath goes on learning: where its own guess was
    not the one shown, it is told the label, and the reason if that tells the item from its own
    example, too. (One that refits may find a dropped rule again in other words.)
    """

    inner: Learner
    edits: dict[int, EditedRule] = field(default_factory=dict)
    _model: DecisionList | None = None
    _of: DecisionList | None = None

    def copy(self) -> EditedLearner:
        edits = {
            place: replace(rule, literals=rule.literals and list(rule.literals))
            for place, rule in self.edits.items()
        }
        return EditedLearner(copy.deepcopy(self.inner), edits)

    def edit(
        self, example: Row, by: str | None, condition: Feature = None, label: Label = None
    ) -> None:
        """Put a rule where the one with this example stands; without a condition, put none."""
        literals = None if condition is None else [Literal(condition)]
        at = self._position(example)
        self.edits[example.place] = EditedRule(example, at, by, label, literals)
        self._model = None

    def _position(self, example: Row) -> int:
        known = self.edits.get(example.place)
        if known is None or known.at >= 0:
            for number, clause in enumerate(self.model.clauses):
                if clause.example.place == example.place:
                    return number
        return 0 if known is None else known.at

    @property
    def model(self) -> DecisionList:
        inner = self.inner.model
        if not self.edits:
            return inner
        if self._model is None or self._of is not inner:
            clauses: list[Clause] = []
            met: set[int] = set()
            for clause in inner.clauses:
                rule = self.edits.get(clause.example.place)
                if rule is None or rule.at < 0:
                    clauses.append(clause)
                elif rule.example.place not in met:
                    met.add(rule.example.place)
                    if rule.clause is not None:
                        clauses.append(rule.clause)
            for place, rule in self.edits.items():
                if place not in met and rule.clause is not None and rule.at >= 0:
                    clauses.insert(min(rule.at, len(clauses)), rule.clause)
            begun = sorted((r for r in self.edits.values() if r.at < 0), key=lambda r: r.at)
            clauses[:0] = [rule.clause for rule in begun if rule.clause is not None]
            self._model = DecisionList(tuple(clauses), inner.default, inner.reading)
            self._of = inner
        return self._model

    def guess(self, item: Item) -> Guess:
        """The guess of the rules in force; for an item remembered, what is remembered."""
        guess = self.inner.guess(item)
        if not self.edits or guess.label is None or guess.example == item:
            return guess
        return self.model.first_match(item)

    def learn(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        if not self.edits:
            self.inner.learn(item, guess, correction)
            return
        own = self.inner.guess(item)
        rule = self.edits.get(guess.example.place) if isinstance(guess.example, Row) else None
        if rule is not None and rule.at < 0 and self.model.match(item).origin != "by hand":
            rule = None  # another rule has the same example
        self.inner.learn(
            item, own, correction if own == guess else _told(item, own, guess, correction)
        )
        if rule is not None and rule.literals is not None and correction is not None:
            if correction.feature is not None:
                rule.literals.append(Literal.forbid(correction.feature))
            self._model = None


def _told(item: Item, own: Guess, guess: Guess, correction: Correction | None) -> Correction | None:
    label = guess.label if correction is None else correction.label
    if own.label == label:
        return None
    feature: Any = None if correction is None else correction.feature
    if feature is not None and (own.example is None or not feature(item) or feature(own.example)):
        feature = None
    return Correction(label, feature)
