"""Guarded: a practical learner, with the worst case of a proven one."""

from __future__ import annotations

from tellapart.bounds import guarded_bound
from tellapart.errors import ParameterError
from tellapart.learners.base import BaseLearner
from tellapart.model import DecisionList, Holds
from tellapart.model import holds as by_name
from tellapart.protocol import Correction, Count, Guess, Item, Label


class Guarded(BaseLearner):
    """Show the practical learner while it is charged no more mistakes than the guaranteed one.

    A correction goes to the one shown and is charged to it, unless it contradicts itself by this
    learner's `holds`. The other one hears nothing of the round.

    Guarantee. At most 2B+1 mistakes, where B bounds the guaranteed learner's; met by some teacher.

    Proof. The rounds in which the guaranteed learner is shown are a lesson of their own: a part of
    a legal stream is a legal stream with at most the same components and bad rounds. So it is
    charged at most B. The last mistake charged to the practical learner came when it was charged at
    most as many.

    Both are fresh learners, this one's own from now on; they read features as it does, unless they
    were made with a `holds` of their own.

    Examples
    --------
    >>> import tellapart as ta
    >>> world = ta.worlds.zoo()
    >>> learner = ta.Guarded(ta.DFF(), ta.CappedDFF(m=world.m))
    >>> lesson = ta.teach(learner, world.teacher(), world.items)
    >>> lesson.mistakes, lesson.bound
    (33, 103)
    """

    def __init__(
        self,
        practical: BaseLearner,
        guaranteed: BaseLearner,
        *,
        holds: Holds = by_name,
        remember: bool = False,
    ) -> None:
        super().__init__(holds=holds, remember=remember)
        for name, learner in (("practical", practical), ("guaranteed", guaranteed)):
            if not isinstance(learner, BaseLearner):
                raise ParameterError(f"Guarded: {name} must be a learner, got {learner!r}")
            if learner.first is not None:
                raise ParameterError(f"Guarded: {name} has been taught already; give a fresh one")
        if practical is guaranteed:
            raise ParameterError("Guarded: practical and guaranteed must be two learners, got one")
        self.practical, self.guaranteed = (
            one.clone(holds=holds) if one.holds is by_name is not holds else one
            for one in (practical, guaranteed)
        )
        self.charged = [0, 0]
        """Mistakes shown: by the practical learner, and by the guaranteed one."""

    @property
    def shown(self) -> BaseLearner:
        """The learner whose guess is shown next."""
        return self.practical if self.charged[0] <= self.charged[1] else self.guaranteed

    @property
    def model(self) -> DecisionList:
        """The model of the learner shown next."""
        return self.shown.model

    @property
    def rules_created(self) -> int:
        """How many rules both have made."""
        return sum(getattr(one, "rules_created", 0) for one in (self.practical, self.guaranteed))

    @property
    def rules_deleted(self) -> int:
        """How many of these are gone."""
        return sum(getattr(one, "rules_deleted", 0) for one in (self.practical, self.guaranteed))

    def bound(
        self, *, m: Count = None, k: Count = None, s: Count = None, n: Count = None
    ) -> float | None:
        """`guarded_bound` of the guaranteed learner's own. It is not taught in all n rounds, so a
        bound that depends on n says nothing."""
        bound = self.guaranteed.bound(m=m, k=k, s=s)
        return None if bound is None else guarded_bound(bound)

    def begin(self, item: Item, label: Label) -> None:
        for learner in (self.practical, self.guaranteed):
            learner.learn(item, learner.guess(item), Correction(label))

    def decide(self, item: Item) -> Guess:
        return self.shown.guess(item)

    def update(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        shown = self.shown
        self.check_turn(item, guess, shown.guess(item))
        fault = correction and self.fault(correction.feature, item, guess.example)
        known = len(shown.inconsistencies)
        shown.learn(item, guess, correction)
        self.rounds += 1
        odd = [inconsistency.reason for inconsistency in shown.inconsistencies[known:]]
        for reason in [fault] if fault else odd:
            self.note(reason)
        if correction is not None and not fault:
            self.charged[shown is self.guaranteed] += 1
