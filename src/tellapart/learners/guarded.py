"""Guarded: a practical learner, with the worst case of a proven one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from tellapart import codec
from tellapart.errors import ParameterError
from tellapart.learners.base import BaseLearner
from tellapart.learners.rule_list import RuleLearner
from tellapart.model import DecisionList, Holds, holds
from tellapart.protocol import Correction, Count, Guess, Item, Label
from tellapart.theory import guarded_bound


class Guarded(BaseLearner):
    """Show the practical learner's guesses while it errs no more than the guaranteed one.

    Who is shown is settled before the item is seen: the practical learner while the mistakes
    charged to it are at most those charged to the other. A correction goes to the one shown and is
    charged to it, unless it contradicts itself by this learner's `holds`. The other one overhears
    the label: it may make a rule of an uncovered item and remember the item, but blames no rule,
    for it was given no feature against its own example.

    Guarantee. At most 2B+1 mistakes, where B bounds the guaranteed learner's, and at most twice
    what is charged to the practical learner. Both are met by some teacher.

    Parameters
    ----------
    practical, guaranteed : learners
        Fresh ones. They are this learner's own from now on, and read features as it does,
        unless they were made with a `holds` of their own.

    Examples
    --------
    >>> import tellapart as ta
    >>> world = ta.worlds.zoo()
    >>> learner = ta.Guarded(ta.DFF(), ta.CappedDFF(m=world.m))
    >>> lesson = ta.teach(learner, world.teacher(), world.items)
    >>> lesson.mistakes, lesson.bound
    (26, 103)
    """

    parameters: ClassVar[tuple[str, ...]] = ("practical", "guaranteed")
    jumps = True

    def __init__(
        self,
        practical: BaseLearner,
        guaranteed: BaseLearner,
        *,
        holds: Holds = holds,
        remember: bool = False,
    ) -> None:
        super().__init__(holds=holds, remember=remember)
        for name, learner in (("practical", practical), ("guaranteed", guaranteed)):
            if not isinstance(learner, BaseLearner):
                raise ParameterError(f"Guarded: {name} must be a learner, got {learner!r}")
            if learner._first is not None:
                raise ParameterError(f"Guarded: {name} has been taught already; give a fresh one")
        if practical is guaranteed:
            raise ParameterError("Guarded: practical and guaranteed must be two learners, got one")
        self.practical, self.guaranteed = practical, guaranteed
        self.read_by(holds)
        self._charged = [0, 0]  # mistakes shown: by practical, by guaranteed

    @property
    def shown(self) -> BaseLearner:
        """The learner whose guess is shown next."""
        return self.practical if self._charged[0] <= self._charged[1] else self.guaranteed

    @property
    def model(self) -> DecisionList:
        """The model of the learner shown next."""
        return self.shown.model

    @property
    def rules_created(self) -> int:
        return self.practical.rules_created + self.guaranteed.rules_created

    @property
    def rules_deleted(self) -> int:
        return self.practical.rules_deleted + self.guaranteed.rules_deleted

    def bound(
        self, *, m: Count = None, k: Count = None, s: Count = None, n: Count = None
    ) -> float | None:
        """`guarded_bound` of the guaranteed learner's own; None where that one needs a random
        stream, for it is not taught on all of it."""
        if self.guaranteed.bound_needs_chance:
            return None
        bound = self.guaranteed.bound(m=m, k=k, s=s, n=n)
        return None if bound is None else guarded_bound(bound)

    @property
    def looks_back(self) -> bool:
        """Whether one of the two does."""
        return self.practical.looks_back or self.guaranteed.looks_back

    def hidden(self) -> tuple[Any, ...]:
        """Who is shown next, and what both keep to themselves."""
        return self.shown is self.practical, self.practical.hidden(), self.guaranteed.hidden()

    def clone(self) -> Guarded:
        """A fresh learner with fresh parts."""
        return Guarded(
            self.practical.clone(),
            self.guaranteed.clone(),
            holds=self.holds,
            remember=self.remember,
        )

    def read_by(self, reading: Holds) -> None:
        """Read features by `reading` from now on; so do both, unless they have their own way."""
        super().read_by(reading)
        for learner in (self.practical, self.guaranteed):
            if learner.holds is holds:
                learner.read_by(reading)

    def rule_lists(self, shown: bool = True) -> list[tuple[RuleLearner, bool]] | None:
        """Those of both learners."""
        if self.remember or not self._says_it_jumps():
            return None
        lists: list[tuple[RuleLearner, bool]] = []
        for learner in (self.practical, self.guaranteed):
            found = learner.rule_lists(shown and learner is self.shown)
            if found is None:
                return None
            lists += found
        return lists

    def catch_up(self) -> None:
        """Both do."""
        for learner in (self.practical, self.guaranteed):
            learner.catch_up()

    def skip(self, rounds: int, uncovered: Callable[[RuleLearner], int]) -> None:
        """Let the clocks of both run."""
        self.rounds += rounds
        for learner in (self.practical, self.guaranteed):
            learner.skip(rounds, uncovered)

    def _begin(self, item: Item, label: Label) -> None:
        for learner in (self.practical, self.guaranteed):
            learner.overhear(item, label)

    def _guess(self, item: Item) -> Guess:
        return self.shown.guess(item)

    def _learn(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        shown = self.shown
        other = self.guaranteed if shown is self.practical else self.practical
        fault = correction and self._fault(correction.feature, item, guess.example)
        self._pass_on(shown, item, guess, correction, fault)
        if correction is not None and not fault:
            self._charged[shown is self.guaranteed] += 1
        other.witness(item, guess, correction)

    def _pass_on(
        self,
        shown: BaseLearner,
        item: Item,
        guess: Guess,
        correction: Correction | None,
        fault: str | None = None,
    ) -> None:
        """Let the one shown learn; record the fault, or else what it finds odd."""
        known = len(shown.inconsistencies)
        shown.learn(item, guess, correction)
        self.rounds += 1
        odd = [inconsistency.reason for inconsistency in shown.inconsistencies[known:]]
        for reason in [fault] if fault else odd:
            self._odd(reason)

    def _overhear(self, item: Item, label: Label) -> None:
        self.rounds += 1
        for learner in (self.practical, self.guaranteed):
            learner.overhear(item, label)

    def _write_parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name).clone().to_dict() for name in self.parameters}

    @classmethod
    def _read_parameters(cls, data: Mapping[str, Any], context: codec.Context) -> dict[str, Any]:
        return {name: BaseLearner.from_dict(data[name], context) for name in cls.parameters}

    def _state(self) -> dict[str, Any]:
        parts = {name: getattr(self, name).to_dict() for name in self.parameters}
        return {"charged": list(self._charged), **parts}

    def _restore(self, state: Mapping[str, Any], context: codec.Context) -> None:
        self._charged = list(state["charged"])
        for name in self.parameters:
            setattr(self, name, BaseLearner.from_dict(state[name], context))
