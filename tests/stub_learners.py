"""Learners that no one would use, to put others to the test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tellapart import codec
from tellapart.learners import BaseLearner
from tellapart.model import Clause, DecisionList
from tellapart.protocol import Correction, Guess, Item, Label


class Stubborn(BaseLearner):
    """Says the same to every item; the first label, for a start."""

    rules_created = rules_deleted = 0
    says = Guess(None, None)

    @property
    def model(self) -> DecisionList:
        return DecisionList((), Clause((), *self.says))

    def _begin(self, item: Item, label: Label) -> None:
        self.says = Guess(label, item)

    def _guess(self, item: Item) -> Guess:
        return self.says

    def _learn(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        self.rounds += 1

    def _overhear(self, item: Item, label: Label) -> None:
        self.rounds += 1

    def _state(self) -> dict[str, Any]:
        return {"says": codec.encode(list(self.says))}

    def _restore(self, state: Mapping[str, Any], context: codec.Context) -> None:
        self.says = Guess(*codec.decode(state["says"], context))


class Contrary(Stubborn):
    """Guesses a label that nothing has: wrong whatever comes."""

    def _begin(self, item: Item, label: Label) -> None:
        self.says = Guess("nobody", item)

    def hidden(self) -> tuple[()]:
        return ()


class Fickle(Stubborn):
    """Guesses what the last correction said; never learns more."""

    def _learn(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        super()._learn(item, guess, correction)
        if correction is not None:
            self.says = Guess(correction.label, item)
