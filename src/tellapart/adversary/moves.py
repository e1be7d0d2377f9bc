"""The adversary's moves: every round that a teacher could play next on a learner.

Nothing here depends on how a learner works: a position holds a real one, and a round is played on a
copy of it. What the teacher may do:

- There are m components, with m labels. (Equal labels only turn mistakes into right guesses.)
- An ordinary item carries its component's label. An exception spends one of the k bad rounds and
  carries a label that nothing else has. No other label hurts more: this one is wrong wherever
  another would be, and a rule made from it is wrong on every item. Nor does a slip (a feature that
  does not separate, named on an ordinary item): an exception with the same truths has the same
  effect on the rule that is blamed.
- A feature named between ordinary items of components i and j holds on all of i and on none of j;
  on other components each item may choose. A feature named on an exception, or against one, holds
  on the item and not on the example, and every other item may choose.
- No item comes twice: a fresh one with the same truths does the same, and no memory helps.

So an item is a component and the truths it chooses, and what matters is which rules it meets.
"""

from __future__ import annotations

import pickle
from collections.abc import Hashable, Iterator, Mapping
from itertools import count, product
from typing import NamedTuple

from tellapart.adversary.equivalence import (
    EXCEPTION,
    Commitments,
    Equivalence,
    Home,
    equivalence_of,
    label_of,
    lists,
)
from tellapart.errors import ParameterError
from tellapart.learners import BaseLearner
from tellapart.learners.rule_list import RuleList
from tellapart.model import Clause, DecisionList
from tellapart.protocol import Correction, Feature, Guess, Item, Label

_FRESH = "fresh"  # stands for a feature yet to be named


class Position(NamedTuple):
    """A learner in the middle of a lesson, and what its teacher has left."""

    pickled: bytes
    """The learner; pickle copies it several times faster than `deepcopy` or JSON."""
    bad: int
    """Bad rounds left."""
    used: Mapping[Feature, int]
    """How many exceptions named a feature against its component; kept only where s < k."""
    like: Equivalence

    @property
    def key(self) -> Hashable:
        """Equal for positions that are the same but for names."""
        return self.bad, self.like.key

    def learner(self) -> BaseLearner:
        """A copy of the learner."""
        learner: BaseLearner = pickle.loads(self.pickled)
        return learner


class Fit(NamedTuple):
    """The truths of a new item."""

    chosen: Mapping[Feature, bool]
    """Those it was free to choose, and chose."""
    present: frozenset[Feature]
    """The features that hold on it, of those the learner asks about."""


class Played(NamedTuple):
    """One round, and the position it leads to."""

    home: Home
    fit: Fit
    guess: Guess
    correction: Correction | None
    created: int
    """Rules created in this round."""
    then: Position

    @property
    def mistakes(self) -> int:
        """1 or 0; the first round asks and is no mistake."""
        return int(self.correction is not None and self.guess.label is not None)


class Moves:
    """What a teacher may do, and has committed to so far."""

    def __init__(
        self, m: int, k: int, s: int, *, same_feature: bool = False, unnamed: bool = False
    ) -> None:
        self.m, self.k, self.s = m, k, s
        self.same_feature, self.unnamed = same_feature, unnamed
        self.commitments = Commitments(m)
        self._numbers = count(1)

    def openings(self, learner: BaseLearner) -> Iterator[Played]:
        """The first round, which asks for a label: of an ordinary item, or of an exception."""
        before = self._position(learner, self.k, {})
        for exception in _kinds(before):
            home, fit = Home(0, exception), Fit({}, frozenset())
            yield self._play(before, home, fit, Guess(None, None), self._label(home), None)

    def rounds(self, position: Position) -> Iterator[Played]:
        """Every round that may change the learner, one of each kind."""
        learner = position.learner()
        default = learner.model.default.example
        models = lists(learner)
        plain = isinstance(learner, RuleList) and learner.idle == "right"
        for targets in product(*(range(len(one.clauses) + 1) for one in models)):
            fits = {c: self._fit(c, models, targets) for c in position.like.components}
            tried: set[tuple[bool, Feature | None]] = set()
            for exception, (component, fit) in product(_kinds(position), fits.items()):
                if fit is None:
                    continue
                home = Home(component, exception)
                guess, label = learner.guess(fit.present), self._label(home)
                if guess.label == label:
                    if not plain:  # a plain learner does not change when it is right
                        yield self._play(position, home, fit, guess, None, None)
                    continue
                by_default = guess.example == default
                # An exception's component leaves no trace, nor does that of an item that corrects a
                # rule and names a free feature: one component that fits is enough.
                on_rule = plain and not by_default
                free = exception or (on_rule and not self._pair(home, guess.example))
                for name in self._names(position, home, guess.example, by_default):
                    old = name in self.commitments.sides
                    named = self._fit(component, models, targets, name) if old else fit
                    if named is None or (exception, name) in tried:
                        continue
                    if free:
                        tried.add((exception, name))
                    yield self._play(position, home, named, guess, label, name)

    # -- answers

    def _label(self, home: Home) -> str:
        return f"{EXCEPTION}{next(self._numbers)}" if home.exception else label_of(home.component)

    def _pair(self, home: Home, example: Item) -> tuple[int, int] | None:
        """The two components, if both items are ordinary."""
        other = self.commitments.ordinary(example)
        return None if home.exception or other is None else (home.component, other)

    def _names(
        self, position: Position, home: Home, example: Item, by_default: bool
    ) -> list[Feature | None]:
        """What the teacher may say: a fresh feature, an old one, or none (None)."""
        pair = self._pair(home, example)
        if pair and pair[0] == pair[1]:
            return [None]  # a wrong label beside a right example: nothing tells the two apart
        names: list[Feature | None] = [self._same(*pair) if pair and self.same_feature else _FRESH]
        if by_default:
            return names  # our learners ignore it: one is enough, and s does not limit it
        for feature in position.like.counted:
            fits = pair in (None, self.commitments.sides[feature])
            if fits and self.commitments.against.get(feature) == example:
                names.append(feature)
        if self.unnamed and (pair is None or position.bad):
            names.append(None)
        j = self.commitments.ordinary(example)
        if home.exception and j is not None:
            if self.same_feature:
                names += [self._same(i, j) for i in position.like.components if i != j]
            names = [name for name in names if position.used.get(name, 0) < self.s]
        return names

    def _same(self, i: int, j: int) -> str:
        """The one feature that tells component i from component j."""
        name = f"{i}>{j}"
        self.commitments.sides[name] = (i, j)
        return name

    def _play(
        self,
        position: Position,
        home: Home,
        fit: Fit,
        guess: Guess,
        label: Label | None,
        name: Feature | None,
    ) -> Played:
        """Play one round on a copy; without a label the guess stands."""
        example, commitments = guess.example, self.commitments
        pair = self._pair(home, example)
        bad, used = position.bad - home.exception, position.used
        if name == _FRESH:
            name = f"#{next(self._numbers)}"
            commitments.sides[name], commitments.against[name] = pair, example
        elif name is None and label is not None and pair and pair[0] != pair[1]:
            bad -= 1  # a slip: there is a reason, and it is not given
        item = fit.present | {f"item {next(self._numbers)}"}
        if name is not None:
            item |= {name}
            if self.s < self.k and home.exception and commitments.ordinary(example) is not None:
                used = {**used, name: used.get(name, 0) + 1}
        commitments.homes[item] = home
        correction = None if label is None else Correction(label, name)
        learner = position.learner()
        created = _rules_created(learner)
        learner.learn(item, guess, correction)
        created = _rules_created(learner) - created
        return Played(home, fit, guess, correction, created, self._position(learner, bad, used))

    def _position(self, learner: BaseLearner, bad: int, used: Mapping[Feature, int]) -> Position:
        return Position(
            _pickled(learner), bad, used, equivalence_of(learner, self.commitments, used)
        )

    # -- truths

    def _fit(
        self,
        component: int,
        models: list[DecisionList],
        targets: tuple[int, ...],
        name: Feature | None = None,
    ) -> Fit | None:
        """Truths by which an item meets clause `targets[i]` of `models[i]` first, and has `name`.

        None when its component forbids it.
        """
        wants = [] if name is None else [(name, True)]
        missed: list[Clause] = []
        for one, target in zip(models, targets, strict=True):
            missed += one.clauses[:target]
            wants += [lit for clause in one.clauses[target : target + 1] for lit in clause.literals]
        chosen: dict[Feature, bool] = {}
        for feature, wanted in wants:
            truth = self.commitments.forced(feature, component)
            if truth is None:
                truth = chosen.setdefault(feature, wanted)
            if truth != wanted:
                return None
        found = self._violate(missed, component, chosen)
        if found is None:
            return None
        asked = {feature for one in models for feature in one.features}
        there = (f for f in asked if found.get(f, self.commitments.forced(f, component)))
        return Fit(found, frozenset(there))

    def _violate(
        self, clauses: list[Clause], component: int, chosen: dict[Feature, bool]
    ) -> dict[Feature, bool] | None:
        """`chosen`, completed so that no clause is met."""
        if not clauses:
            return chosen
        free = []
        for feature, wanted in clauses[0].literals:
            truth = chosen.get(feature, self.commitments.forced(feature, component))
            if truth is None:
                free.append((feature, not wanted))
            elif truth != wanted:
                return self._violate(clauses[1:], component, chosen)
        for feature, value in free:
            found = self._violate(clauses[1:], component, {**chosen, feature: value})
            if found is not None:
                return found
        return None


def _kinds(position: Position) -> tuple[bool, ...]:
    return (False, True) if position.bad else (False,)


def _rules_created(learner: BaseLearner) -> int:
    created: int = getattr(learner, "rules_created", 0)
    return created


def _pickled(learner: BaseLearner) -> bytes:
    """A copy of the learner as bytes."""
    try:
        return pickle.dumps(learner, pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ParameterError(
            f"the adversary cannot copy {learner!r}: {error}."
            " Give it a learner whose class and holds= live in a module"
        ) from error
