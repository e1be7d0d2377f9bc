"""Rules in order of creation: the list L of the paper, and its C[x̂], label[x̂], fcount[x̂].

A learner's own file says only what it does on three occasions: an item no rule covers, a wrong
guess of a rule, and (for learners with a clock) any round at all. `RuleLearner` does the rest.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from tellapart import codec
from tellapart.learners.base import BaseLearner
from tellapart.model import Clause, Compound, DecisionList, FirstMatch, Holds, Literal, holds
from tellapart.protocol import Correction, Feature, Guess, Item, Label

_COMPACT_AFTER = 64  # removed rules are swept out of the index once there are this many


class Unnamed(Compound):
    """Stands for the reason of a correction that named none: shared by nothing, holds nowhere."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def truth(self, item: Item, holds: Holds) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unnamed) and self.number == other.number

    def __hash__(self) -> int:
        return hash((Unnamed, self.number))

    def __repr__(self) -> str:
        return f"Unnamed({self.number})"


codec.register(Unnamed, "$unnamed", lambda f: f.number, lambda v, c: Unnamed(v))


class Rule:
    """C[x̂]: an example, its label, and the features its items must not have."""

    __slots__ = (
        "_clause",
        "born",
        "counted",
        "counts",
        "example",
        "features",
        "guess",
        "number",
        "slot",
    )

    def __init__(self, example: Item, label: Label, born: int, number: int) -> None:
        self.guess = Guess(label, example)
        self.example, self.born, self.number = example, born, number
        self.features: list[Feature] = []
        """The φ of its literals NOT φ, in order; an `Unnamed` one counts but is not shown."""
        self.counts: dict[Feature, tuple[int, int]] = {}
        """fcount[x̂](φ) where it is not zero, and the round it was first counted: t(x̂, φ)."""
        self.counted = 0
        """The sum of all counts."""
        self.slot = -1
        self._clause: Clause | None = None

    @property
    def clause(self) -> Clause:
        if self._clause is None:
            literals = tuple(Literal.forbid(f) for f in self.features if type(f) is not Unnamed)
            self._clause = Clause(literals, self.guess.label, self.example, self.born)
        return self._clause


class RuleLearner(BaseLearner):
    """Base of the learners that keep a list of rules."""

    needs_every_round: ClassVar[bool] = False
    """Whether a guess left standing changes more than the clock."""

    def __init__(self, *, holds: Holds = holds, remember: bool = False) -> None:
        super().__init__(holds=holds, remember=remember)
        self._created = self._deleted = self._unnamed = 0
        self._slots: list[Rule | None] = []  # rules in order of creation; None where deleted
        self._index: Any = FirstMatch(holds)
        self._model: DecisionList | None = None

    @property
    def rules(self) -> Iterator[Rule]:
        """The rules in force, in order of creation."""
        return (rule for rule in self._slots if rule is not None)

    @property
    def rules_created(self) -> int:
        return self._created

    @property
    def rules_deleted(self) -> int:
        return self._deleted

    @property
    def model(self) -> DecisionList:
        """The rules in force, in order of creation, then the first label seen."""
        if self._model is None:
            default = Clause((), *(self._first or (None, None)))
            self._model = DecisionList(tuple(r.clause for r in self.rules), default, self.holds)
        return self._model

    # -- what a learner's own file fills in

    @abstractmethod
    def _wrong(self, rule: Rule, feature: Feature) -> None:
        """`rule` guessed wrong, and `feature` tells the item from its example."""

    def _uncovered(self, item: Item, label: Label) -> None:
        """No rule covered `item`: a wrong default guess makes an empty rule."""
        assert self._first is not None
        if label != self._first.label:
            self._create(item, label)

    # -- the contract of BaseLearner

    @property
    def default(self) -> Guess:
        """What is said of items that no rule covers."""
        return self._first or Guess(None, None)

    def rule_lists(self, shown: bool = True) -> list[tuple[RuleLearner, bool]] | None:
        """This very list, unless memory answers first; see `BaseLearner.jumps`."""
        return [(self, shown)] if self._says_it_jumps() and not self.remember else None

    def spare_rounds(self) -> int | None:
        """How many uncovered rounds, from now on, can do no more than be counted.

        None when uncovered rounds are not even counted: then those with a wrong guess, and no
        others, change this learner.
        """
        return 0 if self.needs_every_round else None

    def rule(self, slot: int) -> Rule | None:
        """The rule in a slot of the index; None where it was deleted."""
        return self._slots[slot]

    def read_by(self, reading: Holds) -> None:
        """Read features by `reading` from now on; for a learner that has learnt nothing yet."""
        super().read_by(reading)
        self._index = FirstMatch(reading)
        self._model = None

    def use(self, index: FirstMatch | None) -> None:
        """Find rules by `index` from now on; None: by one of its own, made when it is needed."""
        self._index = index
        if index is not None:
            self._compact()

    def _begin(self, item: Item, label: Label) -> None:
        self._model = None

    def _guess(self, item: Item) -> Guess:
        rule = self._match(item)
        if rule is None:
            assert self._first is not None
            return self._first
        return rule.guess

    def _learn(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        assert self._first is not None
        rule = self._match(item)
        shown = self._first if rule is None else rule.guess
        if guess is not shown:
            self._check_turn(item, guess, shown)
        if correction is None and not self.needs_every_round:
            self.rounds += 1
            return
        fault = correction and self._fault(correction.feature, item, shown.example)
        self.rounds += 1
        if fault:
            self._odd(fault)
        if rule is None:
            # The feature on a wrong default guess is ignored, so a faulty one does no harm.
            self._uncovered(item, shown.label if correction is None else correction.label)
        elif correction is not None and not fault:
            self._wrong(rule, self._reason(correction.feature))

    def _overhear(self, item: Item, label: Label) -> None:
        """A rule is not blamed without a feature; an uncovered item may make a rule."""
        self.rounds += 1
        if self._match(item) is None:
            self._uncovered(item, label)

    def _state(self) -> dict[str, Any]:
        return {
            "created": self._created,
            "deleted": self._deleted,
            "unnamed": self._unnamed,
            "rules": [
                {
                    "example": codec.encode(rule.example),
                    "label": codec.encode(rule.guess.label),
                    "born": rule.born,
                    "number": rule.number,
                    "not": [codec.encode(feature) for feature in rule.features],
                    "counts": [[codec.encode(f), *count] for f, count in rule.counts.items()],
                }
                for rule in self.rules
            ],
        }

    def _restore(self, state: Mapping[str, Any], context: codec.Context) -> None:
        self._created, self._deleted = state["created"], state["deleted"]
        self._unnamed = state["unnamed"]
        for data in state["rules"]:
            example, label = codec.decode([data["example"], data["label"]], context)
            rule = Rule(example, label, data["born"], data["number"])
            rule.features = codec.decode(data["not"], context)
            for f, n, t in data["counts"]:
                rule.counts[codec.decode(f, context)] = (n, t)
                rule.counted += n
            self._add(rule)

    # -- the steps learners are made of

    def _match(self, item: Item) -> Rule | None:
        """The first rule in order of creation that `item` satisfies."""
        if self._index is None:
            self.use(FirstMatch(self.holds))
        slot = self._index.first(item)
        return None if slot is None else self._slots[slot]

    def _create(self, item: Item, label: Label) -> None:
        """Add to L an empty conjunction C[x_t], with label[x_t] = y_t."""
        self._created += 1
        self._add(Rule(codec.keep(item), label, self.rounds, self._created))

    def _add(self, rule: Rule) -> None:
        literals = rule.clause.literals if rule.features else ()
        rule.slot = self._index.append(literals, rule.guess.label)
        self._slots.append(rule)
        self._model = None

    def _extend(self, rule: Rule, feature: Feature) -> None:
        """C[x̂] ← C[x̂] ∧ ¬φ."""
        rule.features.append(feature)
        if type(feature) is not Unnamed:
            self._index.require(rule.slot, Literal.forbid(feature))
            rule._clause = self._model = None

    def _delete(self, rule: Rule) -> None:
        self._deleted += 1
        self._index.remove(rule.slot)
        self._slots[rule.slot] = self._model = None
        live = self._created - self._deleted
        if len(self._slots) - live > max(_COMPACT_AFTER, live):
            self._compact()

    def _compact(self) -> None:
        """Sweep removed rules out of the index."""
        live = list(self.rules)
        self._slots = []
        self._index.clear()
        for rule in live:
            self._add(rule)

    def _reason(self, feature: Feature | None) -> Feature:
        if feature is not None:
            return feature
        self._unnamed += 1
        return Unnamed(self._unnamed)
