"""What learners share: the first label, memory, and the checks on answers.

A learner is `guess`, `learn` and `model` (`tellapart.protocol.Learner`). One built on `BaseLearner`
says how it guesses (`decide`) and how it learns (`update`).
"""

from __future__ import annotations

import copy
import inspect
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, Self, TypeAlias
from typing import Literal as OneOf

from tellapart import codec
from tellapart.errors import ParameterError, ProtocolError
from tellapart.model import DecisionList, Holds, describe, holds, truth
from tellapart.protocol import Correction, Count, Feature, Guess, Inconsistency, Item, Label, show

Idle: TypeAlias = OneOf["right", "covered"] | None


class BaseLearner(ABC):
    """Base of every learner.

    Everything learnt is in attributes with public names; `learners.files` writes these. Attributes
    that begin with an underscore are caches, and are made again when they are missing.

    Parameters
    ----------
    holds : (feature, item) -> bool, default=tellapart.model.holds
        How to read a feature on an item.
    remember : bool, default=False
        Answer an item seen before with its label instead of asking the model. The mistake bounds
        count exceptional *items*; without memory one exception that comes again and again breaks
        them (docs/theory.md, "Set or rounds").
    """

    kinds: ClassVar[dict[str, type[BaseLearner]]] = {}

    idle: Idle = None
    """Which rounds change nothing but the count of rounds, so that `simulate` may pass over them.

    "right": those with a right guess. "covered": those in which a clause of the model, and not its
    default, guesses right. None: no round; `simulate` gives every one to the learner.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        BaseLearner.kinds[cls.__name__] = cls

    def __init__(self, *, holds: Holds = holds, remember: bool = False) -> None:
        owner = type(self).__name__
        if not callable(holds):
            raise ParameterError(f"{owner}: holds must be (feature, item) -> bool, got {holds!r}")
        if not isinstance(remember, bool):
            raise ParameterError(f"{owner}: remember must be True or False, got {remember!r}")
        self.holds, self.remember = holds, remember
        self.rounds = 0
        """The paper's t: rounds after the first label."""
        self.first: Guess | None = None
        """The first item and its label: the paper's x_0 and y_0."""
        self.memory: dict[Hashable, Label | None] = {}
        """The labels of items by their identities; None: the model decides all the same."""
        self.inconsistencies: list[Inconsistency] = []
        if remember:
            self.idle = None  # memory may know better than the model

    # -- the contract

    def guess(self, item: Item) -> Guess:
        """The label of `item` and the example shown for it. Changes nothing."""
        if self.first is None:
            return Guess(None, None)
        label = self.recall(item)
        return self.decide(item) if label is None else Guess(label, item)

    def learn(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        """Take the answer to `guess` on `item`; None when the guess stands.

        Raises `ProtocolError`, and changes nothing, when the answer is to a guess this learner
        would not make now.
        """
        if not isinstance(guess, Guess):
            raise ProtocolError(f"answer to what guess(item) returned, a Guess; got {guess!r}")
        if correction is not None:
            _check_correction(guess, correction)
        if self.first is None:
            self._take_first(item, guess, correction)
        elif guess.label is None:
            raise ProtocolError(
                f"a label for an unknown round: the guess on {item!r} was made before the first"
                " label was known. Call guess(item) again and answer that"
            )
        elif (known := self.recall(item)) is not None:
            self.check_turn(item, guess, Guess(known, item))
            self.rounds += 1
            if correction is not None:
                self.note(f"{show(item)} was {known!r} and is now called {correction.label!r}")
        else:
            self.update(item, guess, correction)
            if self.remember:
                label = guess.label if correction is None else correction.label
                self.memory.setdefault(codec.identity(item), label)

    @property
    @abstractmethod
    def model(self) -> DecisionList:
        """What has been learnt so far."""

    def bound(
        self, *, m: Count = None, k: Count = None, s: Count = None, n: Count = None
    ) -> float | None:
        """The most mistakes possible in a world with these true values; None if unknown."""
        return None

    # -- what a learner fills in

    @abstractmethod
    def decide(self, item: Item) -> Guess:
        """The guess on an item that is not answered from memory; `first` is known."""

    @abstractmethod
    def update(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        """Learn from an answer, and count the round. `check_turn` refuses one out of turn."""

    def begin(self, item: Item, label: Label) -> None:
        """The first label is known."""

    # -- what is shared

    def recall(self, item: Item) -> Label | None:
        """The label of an item seen before, if this learner remembers."""
        return self.memory.get(codec.identity(item)) if self.remember else None

    def check_turn(self, item: Item, guess: Guess, shown: Guess) -> None:
        """Refuse an answer to another guess than the one `shown` now."""
        if guess is not shown and guess != shown:
            raise ProtocolError(
                f"a label for an unknown round: on {item!r} this learner now guesses {shown!r},"
                f" not {guess!r}. Call guess(item) again and answer that"
            )

    def fault(self, feature: Feature | None, item: Item, example: Item) -> str | None:
        """Why `feature` does not tell `item` from the shown example, if it does not."""
        if feature is None:
            return None
        if not truth(feature, item, self.holds):
            return f"{describe(feature)!r} does not hold on {show(item)}"
        if truth(feature, example, self.holds):
            return (
                f"{describe(feature)!r} does not tell {show(item)} from the shown example"
                f" {show(example)}: both have it"
            )
        return None

    def note(self, reason: str) -> None:
        """Record an answer that contradicts itself."""
        self.inconsistencies.append(Inconsistency(self.rounds, reason))

    def parameters(self) -> dict[str, Any]:
        """The arguments it was made with, `holds` and `remember` apart."""
        found = inspect.signature(type(self)).parameters.values()
        named = [one.name for one in found if one.kind is not inspect.Parameter.VAR_KEYWORD]
        return {n: getattr(self, n) for n in named if n not in ("holds", "remember")}

    def clone(self, *, holds: Holds | None = None) -> Self:
        """A fresh learner with the same parameters, that has learnt nothing."""
        fresh = {
            name: value.clone() if isinstance(value, BaseLearner) else value
            for name, value in self.parameters().items()
        }
        return type(self)(**fresh, holds=holds or self.holds, remember=self.remember)

    def state(self) -> dict[str, Any]:
        """What was learnt: every public attribute but those it was made with."""
        made_with = {"holds", "remember", "idle", *self.parameters()}
        return {
            name: value
            for name, value in vars(self).items()
            if isinstance(value, BaseLearner) or not (name.startswith("_") or name in made_with)
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take what `state` gave, in a fresh learner."""
        for name, fresh in self.state().items():
            value = state[name]
            if type(value) is not type(fresh) and not (fresh is None and isinstance(value, Guess)):
                raise TypeError(f"{name} is {value!r}")
            setattr(self, name, value)

    def to_json(self) -> str:
        """The learner as text; `tellapart.load_learner` gives it back, exactly."""
        from tellapart.learners.files import to_json

        return to_json(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        made = memo[id(self)] = object.__new__(type(self))
        for name, value in vars(self).items():  # items never change, and there may be many
            shallow = name == "memory"
            made.__dict__[name] = copy.copy(value) if shallow else copy.deepcopy(value, memo)
        return made

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.parameters().items())
        return f"{type(self).__name__}({values})"

    def _take_first(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        if guess.label is not None:
            raise ProtocolError(
                "a label for an unknown round: this learner has seen nothing yet, so it did not"
                f" guess {guess.label!r}. Call guess(item) and answer that"
            )
        if correction is None:
            raise ProtocolError("the first item needs a label: answer with Correction(label)")
        if self.remember:
            self.memory[codec.identity(item)] = correction.label
        self.first = Guess(correction.label, codec.keep(item))
        self.begin(item, correction.label)


def _check_correction(guess: Guess, correction: Correction) -> None:
    """Refuse what is no correction of `guess`."""
    if not isinstance(correction, Correction):
        raise ProtocolError(
            f"an answer is None or a Correction(label, feature), got {correction!r}"
        )
    for name, value in zip(correction._fields, correction, strict=True):
        try:
            hash(value)
        except TypeError:
            raise ProtocolError(
                f"a {name} must be hashable, got {value!r} ({type(value).__name__})"
            ) from None
    if correction.label is None:
        raise ProtocolError("a correction needs a label, got None")
    if guess.label is not None and correction.label == guess.label:
        raise ProtocolError(
            f"a correction must change the label, but the guess was {guess.label!r} already;"
            " answer None when a guess is right"
        )
