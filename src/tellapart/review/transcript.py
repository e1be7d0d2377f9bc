"""Transcripts: every round of a lesson, with guess, answer and teacher, for a review.

`learners.hindsight.history` keeps the same rounds as packed columns to learn from, without the
guesses. `review.held_out_trees` makes packed columns of a transcript.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from tellapart import codec
from tellapart.errors import ProtocolError
from tellapart.protocol import Correction, Guess, Item, Label, Lesson, Teacher


class Told(NamedTuple):
    """One round: the item, the label it has in the end, and how it came to it."""

    item: Item
    label: Label
    guess: Guess | None = None
    """What was guessed; None where that is not known."""
    correction: Correction | None = None
    """None when the guess stood."""
    who: Hashable = None
    """Who answered."""


@dataclass
class Transcript:
    """Every round of a lesson, right ones too; grows by one `add` a round.

    >>> history = Transcript()
    >>> history.add("bear", Guess(None, None), Correction("mammal"))
    >>> history.add("lion", Guess("mammal", "bear"), None, who="Ann")
    >>> history.rounds[1].label, history.rounds[1].who, len(history)
    ('mammal', 'Ann', 2)
    """

    rounds: list[Told] = field(default_factory=list)

    def add(
        self, item: Item, guess: Guess, correction: Correction | None, who: Hashable = None
    ) -> None:
        """One more round, as it was told to the learner."""
        label = guess.label if correction is None else correction.label
        if label is None:
            raise ProtocolError(f"{item!r} has no label: the guess asked, and nobody answered")
        self.rounds.append(Told(codec.keep(item), label, guess, correction, who))

    @classmethod
    def of(cls, lesson: Lesson, items: Iterable[Item], labels: Iterable[Label]) -> Transcript:
        """A lesson whose teacher was not listened to.

        `labels` says what each item was where nothing is recorded: for the rounds without a
        correction. Items after the last round of the lesson are left out.
        """
        corrected = {r.number: r for r in lesson.corrections}
        history = cls()
        for number, (item, label) in enumerate(zip(items, labels, strict=True)):
            if number == lesson.rounds:
                break
            if number in corrected:
                _, _, guess, correction = corrected[number]
                history.add(item, guess, correction)
            else:
                history.rounds.append(Told(codec.keep(item), label))
        return history

    def __len__(self) -> int:
        return len(self.rounds)


class Listening:
    """Another teacher's answers, and a `history` of them.

    >>> from tellapart import CappedDFF, teach, worlds
    >>> world = worlds.zoo()
    >>> teacher = Listening(world.teacher())
    >>> lesson = teach(CappedDFF(m=7), teacher, world.items)
    >>> sum(told.correction is not None for told in teacher.history.rounds), lesson.mistakes
    (23, 22)
    """

    def __init__(self, teacher: Teacher) -> None:
        self.teacher = teacher
        self.history = Transcript()
        self.m, self.k, self.s = (getattr(teacher, name, None) for name in "mks")

    def answer(self, item: Item, guess: Guess) -> Correction | None:
        """What the other teacher says."""
        correction = self.teacher.answer(item, guess)
        self.history.add(item, guess, correction)
        return correction
