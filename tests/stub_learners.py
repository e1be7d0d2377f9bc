"""Learners that no one would use, to put others to the test."""

from __future__ import annotations

from tellapart.adversary.equivalence import HIDDEN
from tellapart.learners import BaseLearner
from tellapart.model import Clause, DecisionList
from tellapart.protocol import Correction, Guess, Item, Label


class Stubborn(BaseLearner):
    """Says the same to every item; the first label, for a start."""

    says = Guess(None, None)

    @property
    def model(self) -> DecisionList:
        return DecisionList((), Clause((), *self.says))

    def begin(self, item: Item, label: Label) -> None:
        self.says = Guess(label, item)

    def decide(self, item: Item) -> Guess:
        return self.says

    def update(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        self.rounds += 1


class Contrary(Stubborn):
    """Guesses a label that nothing has: wrong whatever comes."""

    def begin(self, item: Item, label: Label) -> None:
        self.says = Guess("nobody", item)


HIDDEN[Contrary] = lambda learner: ()


class Fickle(Stubborn):
    """Guesses what the last correction said; never learns more."""

    def update(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        super().update(item, guess, correction)
        if correction is not None:
            self.says = Guess(correction.label, item)
