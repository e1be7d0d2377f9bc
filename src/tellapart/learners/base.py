"""What all learners share: the first label, memory, the checks on answers, and their file.

`learn` meets the teacher's answer here, refuses what is out of turn before anything changes, and
hands the rest to the learner's own `_learn`.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

from tellapart import codec
from tellapart.errors import FormatError, ParameterError, ProtocolError, TellapartError
from tellapart.model import DecisionList, Holds, describe, holds, show, truth
from tellapart.protocol import Correction, Count, Feature, Guess, Inconsistency, Item, Label

if TYPE_CHECKING:
    from tellapart.learners.rule_list import RuleLearner

FORMAT = 1
"""The version of a learner's file."""


class BaseLearner(ABC):
    """Base of every learner.

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
    parameters: ClassVar[tuple[str, ...]] = ()
    """Names of the constructor's own arguments; each is stored under its name."""

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
        self.inconsistencies: list[Inconsistency] = []
        self._first: Guess | None = None
        self._memory: dict[Hashable, Label] = {}
        self._unread: list[tuple[Item, Label]] = []
        """What a learner has left to be taken in later, if it does such things."""

    # -- the contract

    def guess(self, item: Item) -> Guess:
        """The label of `item` and the example shown for it. Changes nothing."""
        if self._first is None:
            return Guess(None, None)
        label = self._recall(item) if self.remember else None
        return self._guess(item) if label is None else Guess(label, item)

    def learn(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        """Take the answer to `guess` on `item`; None when the guess stands.

        Raises `ProtocolError`, and changes nothing, when the answer is to a guess this learner
        would not make now.
        """
        if not isinstance(guess, Guess):
            raise ProtocolError(f"answer to what guess(item) returned, a Guess; got {guess!r}")
        if correction is not None:
            self._check_answer(guess, correction)
        if self._first is None:
            self._take_first(item, guess, correction)
            return
        if guess.label is None:
            raise ProtocolError(
                f"a label for an unknown round: the guess on {item!r} was made before the first"
                " label was known. Call guess(item) again and answer that"
            )
        known = self._recall(item) if self.remember else None
        if known is not None:
            self._meet_again(item, guess, known, correction)
            return
        self._learn(item, guess, correction)
        if self.remember:
            self._keep(item, guess.label if correction is None else correction.label)

    def overhear(self, item: Item, label: Label) -> None:
        """Learn the label of an item on which another learner's guess was shown."""
        if self._first is None:
            self._take_first(item, Guess(None, None), Correction(label))
            return
        known = self._recall(item) if self.remember else None
        if known is not None:
            self._overhear_again(item, known, label)
            return
        self._overhear(item, label)
        if self.remember:
            self._keep(item, label)

    def witness(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        """See a round in which another learner's guess was shown. Here, its label is overheard."""
        self.overhear(item, guess.label if correction is None else correction.label)

    def catch_up(self) -> None:
        """Do now what the last round left for later, if anything; else the next round does it.

        No guess changes by it: it is for those who have time to spare between two rounds.
        """

    @property
    @abstractmethod
    def model(self) -> DecisionList:
        """What has been learnt so far."""

    @property
    @abstractmethod
    def rules_created(self) -> int:
        """How many rules were ever made."""

    @property
    @abstractmethod
    def rules_deleted(self) -> int:
        """How many of them were deleted again."""

    @property
    def forgotten(self) -> Sequence[tuple[int, int]]:
        """When what came before was forgotten, because the world had changed.

        The round in which it was noticed, and the one from which on rounds were kept.
        """
        return ()

    def bound(
        self, *, m: Count = None, k: Count = None, s: Count = None, n: Count = None
    ) -> float | None:
        """The most mistakes possible in a world with these true values; None if unknown."""
        return None

    bound_needs_chance: ClassVar[bool] = False
    """Whether `bound` holds only for items drawn at random, and only with some probability."""

    @property
    def looks_back(self) -> bool:
        """Whether old items may be asked about features named later, and right guesses matter.

        A search for the worst case must then settle every truth of every item.
        """
        return False

    def hidden(self) -> Any:
        """What later guesses on unseen items depend on besides the model: counts, caps, a clock.

        Two learners alike in their models and in this behave alike from now on. Here, to be safe,
        everything; a learner that knows better says less, so that a search for its worst case
        (`teachers.adversary`) sees when it comes back to where it was.
        """
        return codec.decode(self.to_dict())

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        made = memo[id(self)] = object.__new__(type(self))
        for name, value in vars(self).items():  # items never change, and there may be many
            shallow = name in ("_memory", "_unread")
            made.__dict__[name] = copy.copy(value) if shallow else copy.deepcopy(value, memo)
        return made

    def clone(self) -> Self:
        """A fresh learner with the same parameters, that has learnt nothing."""
        return type(self)(**self._parameters(), holds=self.holds, remember=self.remember)

    def read_by(self, reading: Holds) -> None:
        """Read features by `reading` from now on; for a learner that has learnt nothing yet."""
        self.holds = reading

    # -- how `simulate` jumps over rounds in which nothing changes

    jumps: ClassVar[bool] = False
    """Whether `simulate` may leave out rounds. It is not inherited: each class says it itself.

    True promises that the learner guesses by its rules (`model`), that a right guess changes no
    more than a count, and that a mistake is handled by `_wrong` and `_uncovered` alone. A class
    that overrides anything else does not set it, and is given every round.
    """

    def rule_lists(self, shown: bool = True) -> list[tuple[RuleLearner, bool]] | None:
        """The lists of rules that decide when this learner changes next, or None.

        Each comes with whether its guess is the one shown; one that is not only overhears labels.
        None: this learner must be given every round.
        """
        return None

    def skip(self, rounds: int, uncovered: Callable[[RuleLearner], int]) -> None:
        """Let the clock run over rounds that change nothing else.

        `uncovered` tells how many of them a list of rules did not cover.
        """
        self.rounds += rounds

    def _says_it_jumps(self) -> bool:
        """Whether the class itself says that it jumps, and this object overrides none of it."""
        kind = type(self)
        return bool(vars(kind).get("jumps")) and vars(self).keys().isdisjoint(_names(kind))

    # -- what a learner fills in

    @abstractmethod
    def _guess(self, item: Item) -> Guess:
        """The guess on an item not answered from memory; `_first` is known."""

    @abstractmethod
    def _learn(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        """Take an answer that is in turn. Counts the round."""

    @abstractmethod
    def _overhear(self, item: Item, label: Label) -> None:
        """Take a label without a reason. Counts the round."""

    def _begin(self, item: Item, label: Label) -> None:
        """The first label is known; `_first` is set."""

    @abstractmethod
    def _state(self) -> dict[str, Any]:
        """What was learnt, as JSON values."""

    @abstractmethod
    def _restore(self, state: Mapping[str, Any], context: codec.Context) -> None:
        """The inverse of `_state`."""

    # -- shared steps

    def _check_answer(self, guess: Guess, correction: Correction) -> None:
        if not isinstance(correction, Correction):
            raise ProtocolError(
                f"an answer is None or a Correction(label, feature), got {correction!r}"
            )
        try:
            hash(correction)
        except TypeError:
            self._complain_of(correction)
        if correction.label is None:
            raise ProtocolError("a correction needs a label, got None")
        if guess.label is not None and correction.label == guess.label:
            raise ProtocolError(
                f"a correction must change the label, but the guess was {guess.label!r} already;"
                " answer None when a guess is right"
            )

    def _complain_of(self, correction: Correction) -> None:
        for name, value in zip(correction._fields, correction, strict=True):
            try:
                hash(value)
            except TypeError:
                raise ProtocolError(
                    f"a {name} must be hashable, got {value!r} ({type(value).__name__})"
                ) from None

    def _take_first(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        if guess.label is not None:
            raise ProtocolError(
                "a label for an unknown round: this learner has seen nothing yet, so it did not"
                f" guess {guess.label!r}. Call guess(item) and answer that"
            )
        if correction is None:
            raise ProtocolError("the first item needs a label: answer with Correction(label)")
        if self.remember:
            self._keep(item, correction.label)
        self._first = Guess(correction.label, codec.keep(item))
        self._begin(item, correction.label)

    def _recall(self, item: Item) -> Label | None:
        """The label of an item seen before."""
        return self._memory.get(codec.identity(item))

    def _keep(self, item: Item, label: Label) -> None:
        """Remember the label of an item."""
        self._memory[codec.identity(item)] = label

    def _meet_again(
        self, item: Item, guess: Guess, known: Label, correction: Correction | None
    ) -> None:
        self._check_turn(item, guess, Guess(known, item))
        self.rounds += 1
        if correction is not None:
            self._odd(f"{show(item)} was {known!r} before and is now called {correction.label!r}")

    def _overhear_again(self, item: Item, known: Label, label: Label) -> None:
        said = None if label == known else Correction(label)
        self._meet_again(item, Guess(known, item), known, said)

    def _check_turn(self, item: Item, guess: Guess, shown: Guess) -> None:
        if guess is not shown and guess != shown:
            raise ProtocolError(
                f"a label for an unknown round: on {item!r} this learner now guesses {shown!r},"
                f" not {guess!r}. Call guess(item) again and answer that"
            )

    def _fault(self, feature: Feature | None, item: Item, example: Item) -> str | None:
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

    def _odd(self, reason: str) -> None:
        self.inconsistencies.append(Inconsistency(self.rounds, reason))

    # -- JSON

    def _parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.parameters}

    def to_dict(self) -> dict[str, Any]:
        """Parameters and everything learnt, as JSON values."""
        return {
            "learner": type(self).__name__,
            "parameters": self._write_parameters(),
            "remember": self.remember,
            "custom_holds": self.holds is not holds,
            "rounds": self.rounds,
            "inconsistencies": [list(odd) for odd in self.inconsistencies],
            "first": None if self._first is None else [codec.encode(part) for part in self._first],
            "memory": self._write_memory(),
            "state": self._state(),
        }

    def _write_memory(self) -> Any:
        if codec.is_compact():
            parts = self._memory.keys(), self._memory.values()
            return {"columns": [codec.encode_many(part) for part in parts]}
        return [[codec.encode(i), codec.encode(y)] for i, y in self._memory.items()]

    def _read_memory(self, data: Any, context: codec.Context) -> None:
        if isinstance(data, dict):
            items, labels = (codec.decode_many(part, context) for part in data["columns"])
            self._memory = dict(zip(items, labels, strict=True))
        else:
            self._memory = dict(codec.decode(pair, context) for pair in data)

    def _write_parameters(self) -> dict[str, Any]:
        return self._parameters()

    @classmethod
    def _read_parameters(cls, data: Mapping[str, Any], context: codec.Context) -> dict[str, Any]:
        return dict(data)

    def to_json(self) -> str:
        """The learner as text; `tellapart.load_learner` gives it back, exactly."""
        return codec.dump({"tellapart": "learner", "format": FORMAT, **self.to_dict()})

    @staticmethod
    def from_dict(data: Mapping[str, Any], context: codec.Context) -> BaseLearner:
        """The inverse of `to_dict`."""
        kind = BaseLearner.kinds.get(str(data.get("learner")))
        if kind is None:
            known = ", ".join(sorted(BaseLearner.kinds))
            raise FormatError(f"unknown learner {data.get('learner')!r}; known are {known}")
        if data.get("custom_holds") and context.holds is None:
            raise FormatError("this learner was made with holds= of its own: pass it again")
        try:
            reading = context.holds if data["custom_holds"] and context.holds else holds
            parameters = kind._read_parameters(data["parameters"], context)
            self = kind(**parameters, holds=reading, remember=data["remember"])
            self.rounds = int(data["rounds"])
            self.inconsistencies = [Inconsistency(*odd) for odd in data["inconsistencies"]]
            if data["first"] is not None:
                self._first = Guess(*(codec.decode(part, context) for part in data["first"]))
            self._read_memory(data["memory"], context)
            self._restore(data["state"], context)
        except TellapartError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise FormatError(f"a damaged learner file: {error!r}") from error
        return self

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self._parameters().items())
        return f"{type(self).__name__}({values})"


@cache
def _names(kind: type) -> frozenset[str]:
    return frozenset(dir(kind))


def load_learner(
    text: str,
    *,
    holds: Holds | None = None,
    items: Sequence[Item] | None = None,
    features: Mapping[str, Callable[[Item], bool]] | None = None,
) -> BaseLearner:
    """Read what `learner.to_json()` wrote.

    Parameters
    ----------
    holds
        Needed when the learner was made with a `holds` of its own.
    items
        The items a world's learner refers to (`world.items`).
    features
        The functions behind `Named` features.

    >>> from tellapart import CappedDFF
    >>> learner = CappedDFF(m=2)
    >>> learner.learn({"eggs"}, learner.guess({"eggs"}), Correction("bird"))
    >>> load_learner(learner.to_json()).guess({"milk"})
    Guess(label='bird', example=frozenset({'eggs'}))
    """
    data = codec.parse(text)
    if data.get("tellapart") != "learner" or data.get("format") != FORMAT:
        raise FormatError(
            f"not a tellapart learner of format {FORMAT}: it says {data.get('tellapart')!r},"
            f" format {data.get('format')!r}"
        )
    return BaseLearner.from_dict(data, codec.Context(items, features or {}, holds))
