"""Rules in order of creation: the list L of the paper, and its C[x̂], label[x̂], fcount[x̂].

A learner's own file says only what happens when a rule is wrong (`wrong`), and to an item that no
rule covers (`uncovered`).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

from tellapart import codec
from tellapart.learners.base import BaseLearner, Idle
from tellapart.model import Clause, Compound, DecisionList, FirstMatch, Holds, Literal, holds
from tellapart.protocol import Correction, Feature, Guess, Item, Label


@dataclass(frozen=True, slots=True)
class Unnamed(Compound):
    """Stands for the reason of a correction that named none: shared by nothing, holds nowhere."""

    number: int

    def truth(self, item: Item, holds: Holds) -> bool:
        return False


@dataclass(slots=True, eq=False)
class Rule:
    """C[x̂]: an example, its label, and the features its items must not have."""

    guess: Guess
    born: int
    number: int
    features: list[Feature] = field(default_factory=list)
    """The φ of its literals NOT φ, in order; an `Unnamed` one counts but is not shown."""
    counts: dict[Feature, int] = field(default_factory=dict)
    """fcount[x̂](φ) where it is not zero."""
    since: dict[Feature, int] = field(default_factory=dict)
    """t(x̂, φ), the round in which a count began, for learners with a clock."""
    slot: int = -1
    """Its place in the index of the list."""
    _clause: Clause | None = None

    @property
    def clause(self) -> Clause:
        """The rule as a clause of the model."""
        if self._clause is None:
            literals = tuple(Literal.forbid(f) for f in self.features if type(f) is not Unnamed)
            self._clause = Clause(literals, *self.guess, self.born)
        return self._clause


class RuleList(BaseLearner):
    """Base of the learners that keep a list of rules."""

    idle: Idle = "right"

    def __init__(self, *, holds: Holds = holds, remember: bool = False) -> None:
        super().__init__(holds=holds, remember=remember)
        self.rules: list[Rule] = []
        """The rules in force, in order of creation."""
        self.rules_created = self.rules_deleted = 0
        self.unnamed = 0
        """How many corrections named no feature."""
        self._index: FirstMatch | None = None
        self._slots: list[Rule | None] = []  # the rules of the index; None where deleted
        self._model: DecisionList | None = None

    @property
    def model(self) -> DecisionList:
        """The rules in force, in order of creation, then the first label seen."""
        if self._model is None:
            default = Clause((), *(self.first or (None, None)))
            self._model = DecisionList(tuple(r.clause for r in self.rules), default, self.holds)
        return self._model

    # -- what a learner's own file fills in

    @abstractmethod
    def wrong(self, rule: Rule, feature: Feature) -> None:
        """`rule` guessed wrong, and `feature` tells the item from its example."""

    def uncovered(self, item: Item, label: Label) -> None:
        """No rule covers `item`: a wrong default guess makes an empty rule."""
        assert self.first is not None
        if label != self.first.label:
            self.create(item, label)

    # -- the steps that learners are made of

    def create(self, item: Item, label: Label) -> None:
        """Add to L an empty conjunction C[x_t], with label[x_t] = y_t."""
        self.rules_created += 1
        rule = Rule(Guess(label, codec.keep(item)), self.rounds, self.rules_created)
        self.rules.append(rule)
        if self._index is not None:
            rule.slot = self._index.append()
            self._slots.append(rule)
        self._model = None

    def extend(self, rule: Rule, feature: Feature) -> None:
        """C[x̂] ← C[x̂] ∧ ¬φ."""
        rule.features.append(feature)
        if type(feature) is not Unnamed:
            if self._index is not None:
                self._index.require(rule.slot, Literal.forbid(feature))
            rule._clause = self._model = None

    def retract(self, rule: Rule, feature: Feature) -> None:
        """Take the literal ¬φ out of C[x̂]."""
        rule.features.remove(feature)
        rule._clause = self._index = self._model = None

    def delete(self, rule: Rule) -> None:
        """Remove a rule from L."""
        self.rules_deleted += 1
        self.rules.remove(rule)
        self._model = None
        if self._index is not None:
            self._index.remove(rule.slot)
            self._slots[rule.slot] = None
            if len(self._slots) > 64 + 2 * len(self.rules):
                self._index = None  # mostly deleted rules: build it anew

    def match(self, item: Item) -> Rule | None:
        """The first rule in order of creation that `item` satisfies."""
        if self._index is None:
            self._index, self._slots = FirstMatch(self.holds), list(self.rules)
            for rule in self.rules:
                rule.slot = self._index.append(rule.clause.literals)
        slot = self._index.first(item)
        return None if slot is None else self._slots[slot]

    # -- the contract of BaseLearner

    def begin(self, item: Item, label: Label) -> None:
        self._model = None

    def decide(self, item: Item) -> Guess:
        rule = self.match(item)
        assert self.first is not None
        return self.first if rule is None else rule.guess

    def update(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        rule = self.match(item)
        assert self.first is not None
        shown = self.first if rule is None else rule.guess
        self.check_turn(item, guess, shown)
        fault = correction and self.fault(correction.feature, item, shown.example)
        self.rounds += 1
        if fault:
            self.note(fault)
        if rule is None:
            # The feature on a wrong default guess is ignored, so a faulty one does no harm.
            self.uncovered(item, shown.label if correction is None else correction.label)
        elif correction is not None and not fault:
            self.wrong(rule, self._named(correction.feature))

    def _named(self, feature: Feature | None) -> Feature:
        if feature is not None:
            return feature
        self.unnamed += 1
        return Unnamed(self.unnamed)


def _write_rule(rule: Rule) -> Any:
    counts = [[codec.encode(f), n, rule.since.get(f, 0)] for f, n in rule.counts.items()]
    guess = [codec.encode(part) for part in rule.guess]
    return [guess, rule.born, rule.number, [codec.encode(f) for f in rule.features], counts]


def _read_rule(value: Any, context: codec.Context) -> Rule:
    guess, born, number, features, counts = value
    rule = Rule(Guess(*codec.decode(guess, context)), born, number)
    rule.features = codec.decode(features, context)
    for feature, count, since in counts:
        named = codec.decode(feature, context)
        rule.counts[named], rule.since[named] = count, since
    return rule


codec.register(Unnamed, "$unnamed", lambda f: f.number, lambda v, c: Unnamed(v))
codec.register(Rule, "$rule", _write_rule, _read_rule)
