"""The conversation: a learner guesses, a teacher corrects, the learner learns.

Everything else in tellapart plugs into the three contracts of this file. A round is

    guess = learner.guess(item)                  # changes nothing
    correction = teacher.answer(item, guess)     # None: the guess stands
    learner.learn(item, guess, correction)       # the only place where a learner changes

A fresh learner's first guess is `Guess(None, None)`: it asks. The answer is a `Correction` with
a label and no feature, and it is no mistake.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from tellapart.errors import ParameterError

if TYPE_CHECKING:
    from tellapart.model import DecisionList
    from tellapart.review import Watch

Item: TypeAlias = Any
"""Anything a feature can be asked about: a mapping, a set of names, your own object."""

Feature: TypeAlias = Hashable
"""Anything hashable: a name, a callable, a combination (`tellapart.Not`, `And`, `Or`)."""

Label: TypeAlias = Hashable

Count: TypeAlias = int | None
"""A number, or None if it is not known."""


class Guess(NamedTuple):
    """A label, and the earlier item shown as the reason: "a bird, because it is like this duck".

    >>> Guess("bird", {"feathers"})
    Guess(label='bird', example={'feathers'})
    """

    label: Label
    example: Item


class Correction(NamedTuple):
    """The right label, and a feature that holds on the item and not on the shown example.

    `feature` is None when the label was asked (there is no example yet), or when the teacher
    cannot say why.

    >>> Correction("bird", "feathers")
    Correction(label='bird', feature='feathers')
    """

    label: Label
    feature: Feature | None = None


class Inconsistency(NamedTuple):
    """An answer that contradicts itself: recorded, and not learnt from."""

    round: int
    reason: str


class Round(NamedTuple):
    """One corrected round of a lesson: which item, what was guessed, what the teacher said."""

    number: int
    item: Item
    guess: Guess
    correction: Correction


@runtime_checkable
class Learner(Protocol):
    """What `teach` asks of a learner. `tellapart.learners.base` has a base to build on."""

    inconsistencies: list[Inconsistency]

    @property
    def rules_created(self) -> int: ...

    @property
    def rules_deleted(self) -> int: ...

    @property
    def model(self) -> DecisionList:
        """What has been learnt so far; at all times a decision list."""
        ...

    def guess(self, item: Item) -> Guess:
        """The label of `item` and the example shown for it. Changes nothing."""
        ...

    def learn(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        """Take the answer to `guess` on `item`; None when the guess stands."""
        ...

    def bound(
        self, *, m: Count = None, k: Count = None, s: Count = None, n: Count = None
    ) -> float | None:
        """The most mistakes possible in a world of `m` components and so on; None if unknown."""
        ...


@runtime_checkable
class Teacher(Protocol):
    """What `teach` asks of a teacher.

    A teacher that knows its world may carry `m`, `k` and `s`: the lesson then has a bound.
    """

    def answer(self, item: Item, guess: Guess) -> Correction | None:
        """A correction of `guess` on `item`, or None when the guess is right."""
        ...


class Stopper(Protocol):
    """What `teach` asks of a condition to stop; `tellapart.review` has some."""

    def watch(self, learner: Learner) -> Watch:
        """A fresh watch over one lesson: it takes every round and knows when to stop."""
        ...


@dataclass(frozen=True)
class Lesson:
    """The record of a run.

    Rounds are numbered from 0, as items come; round 0 of a fresh learner asks for a label and
    is no mistake.
    """

    rounds: int
    corrections: Sequence[Round] = field(repr=False)
    """The mistakes, each with its item, guess and correction."""
    rules_created: int
    rules_deleted: int
    inconsistencies: tuple[Inconsistency, ...]
    bound: float | None
    """The most mistakes the learner's guarantee allowed here; None where it says nothing."""

    @property
    def mistakes(self) -> int:
        """How many guesses the teacher corrected."""
        return len(self.corrections)

    @property
    def mistake_rounds(self) -> tuple[int, ...]:
        """In which rounds the mistakes fell."""
        numbers = getattr(self.corrections, "numbers", None)  # those of `simulate` are made lazily
        if numbers is not None:
            return tuple(numbers.tolist())
        return tuple(corrected.number for corrected in self.corrections)


def teach(
    learner: Learner, teacher: Teacher, items: Iterable[Item], *, until: Stopper | None = None
) -> Lesson:
    """Run the protocol over `items`, in their order, and return what happened.

    `until` may end it sooner: `NoMistakeIn(40) | Rounds(1000)`.

    >>> from tellapart import CappedDFF
    >>> from tellapart.teachers import Recorded
    >>> duck, bear = frozenset({"feathers", "eggs"}), frozenset({"milk", "hair"})
    >>> teacher = Recorded(
    ...     [(duck, Correction("bird", "feathers")), (bear, Correction("mammal", "milk"))])
    >>> lesson = teach(CappedDFF(m=2), teacher, [duck, bear, duck, bear, duck])
    >>> lesson.rounds, lesson.mistakes, lesson.mistake_rounds
    (5, 2, (1, 2))
    """
    conversation = Conversation(learner, teacher, until)
    rounds = 0
    for number, item in enumerate(items):
        conversation.round(number, item)
        rounds = number + 1
        if conversation.over:
            break
    return conversation.lesson(rounds)


class Conversation:
    """A learner and a teacher, and the record of their rounds; `teach` is made of it."""

    def __init__(self, learner: Learner, teacher: Teacher, until: Stopper | None = None) -> None:
        for name, made in (("learner", learner), ("teacher", teacher)):
            if isinstance(made, type):
                raise ParameterError(
                    f"the {name} is the class {made.__name__}, not an object: write"
                    f" {made.__name__}(...)"
                )
        self.learner, self.teacher = learner, teacher
        self._watch = None if until is None else until.watch(learner)
        self.corrections: list[Round] = []
        self._before = learner.rules_created, learner.rules_deleted, len(learner.inconsistencies)

    def round(self, number: int, item: Item) -> Correction | None:
        """One round of the protocol; returns what the teacher said."""
        guess = self.learner.guess(item)
        correction = self.teacher.answer(item, guess)
        self.learner.learn(item, guess, correction)
        if correction is not None and guess.label is not None:
            self.corrections.append(Round(number, item, guess, correction))
        if self._watch is not None:
            self._watch(guess, correction)
        return correction

    def skip(self, rounds: int) -> None:
        """Count rounds whose guesses are known to be right and to change nothing."""
        if self._watch is not None:
            self._watch.skip(rounds)

    @property
    def watched(self) -> bool:
        """Whether a stopper must see every mistake as it happens."""
        return self._watch is not None

    @property
    def over(self) -> bool:
        """Whether the stopper says so."""
        return self._watch is not None and self._watch.met()

    def left(self) -> int:
        """How many more right guesses until it is over."""
        return sys.maxsize if self._watch is None else self._watch.left()

    def lesson(self, rounds: int, corrections: Sequence[Round] | None = None) -> Lesson:
        """What happened in `rounds` rounds; `corrections`, if there were more than it heard of."""
        created, deleted, known = self._before
        world = {name: getattr(self.teacher, name, None) for name in "mks"}  # if it says
        return Lesson(
            rounds=rounds,
            corrections=tuple(self.corrections) if corrections is None else corrections,
            rules_created=self.learner.rules_created - created,
            rules_deleted=self.learner.rules_deleted - deleted,
            inconsistencies=tuple(self.learner.inconsistencies[known:]),
            bound=self.learner.bound(**world, n=rounds),
        )
