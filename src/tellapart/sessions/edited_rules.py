"""Rules that a person dropped or wrote anew, laid over those of a learner.

A rule is known by its example. A dropped rule is passed over; one edited stands where it stood,
with the condition and the label the person gave, and is corrected like the rules of `DFF`: a wrong
guess adds NOT φ. The learner beneath goes on learning: where its own guess was not the one shown,
it sees the round as a witness. (One that refits may find a dropped rule again in other words.)
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tellapart.learners import BaseLearner
from tellapart.model import Clause, DecisionList, Literal
from tellapart.protocol import Correction, Feature, Guess, Item, Label
from tellapart.tables import Row


@dataclass
class ByHand:
    """A person's word on the rule with an example: a rule instead of it, or none."""

    example: Row
    at: int
    """Where the rule stood."""
    label: Label = None
    literals: list[Literal] | None = None
    """None: the rule is dropped."""

    @property
    def clause(self) -> Clause | None:
        if self.literals is None:
            return None
        return Clause(tuple(self.literals), self.label, self.example, "by hand")


@dataclass
class Edited:
    """A learner, and what people changed about its rules."""

    inner: BaseLearner
    by_hand: dict[int, ByHand] = field(default_factory=dict)
    _model: DecisionList | None = None
    _of: DecisionList | None = None

    def drop(self, example: Row) -> None:
        """Pass over the rule with this example from now on."""
        self._lay(ByHand(example, self._at(example)))

    def edit(self, example: Row, condition: Feature, label: Label) -> None:
        """Put a rule with this condition and label where the one with this example stands."""
        self._lay(ByHand(example, self._at(example), label, [Literal(condition)]))

    def _lay(self, rule: ByHand) -> None:
        self.by_hand[rule.example.place] = rule
        self._model = None

    def _at(self, example: Row) -> int:
        for number, clause in enumerate(self.model.clauses):
            if clause.example.place == example.place:
                return number
        known = self.by_hand.get(example.place)
        return 0 if known is None else known.at

    @property
    def model(self) -> DecisionList:
        """The rules in force."""
        inner = self.inner.model
        if not self.by_hand:
            return inner
        if self._model is None or self._of is not inner:
            clauses: list[Clause] = []
            met: set[int] = set()
            for clause in inner.clauses:
                rule = self.by_hand.get(clause.example.place)
                if rule is None:
                    clauses.append(clause)
                elif rule.example.place not in met:
                    met.add(rule.example.place)
                    if rule.clause is not None:
                        clauses.append(rule.clause)
            for place, rule in self.by_hand.items():
                if place not in met and rule.clause is not None:
                    clauses.insert(min(rule.at, len(clauses)), rule.clause)
            self._model = DecisionList(tuple(clauses), inner.default, inner.reading)
            self._of = inner
        return self._model

    def guess(self, item: Item) -> Guess:
        """What the rules in force say; of an item remembered, what is remembered."""
        guess = self.inner.guess(item)
        if not self.by_hand or guess.label is None or guess.example == item:
            return guess
        return self.model.first_match(item)

    def catch_up(self) -> None:
        """Do what the last round left for later."""
        self.inner.catch_up()

    def learn(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        """Take the answer to `guess`."""
        if not self.by_hand:
            self.inner.learn(item, guess, correction)
            return
        own = self.inner.guess(item)
        rule = self.by_hand.get(guess.example.place) if isinstance(guess.example, Row) else None
        if own == guess:
            self.inner.learn(item, own, correction)
        else:
            self.inner.witness(item, guess, correction)
        if rule is not None and rule.literals is not None and correction is not None:
            if correction.feature is not None:
                rule.literals.append(Literal.forbid(correction.feature))
            self._model = None
