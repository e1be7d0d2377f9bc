"""What a lesson has come to, in a few numbers that a round updates in no time."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import NamedTuple

from tellapart.protocol import Lesson


class Stretch(NamedTuple):
    """Some rounds up to now, and what share of the risk of a wrong statement is theirs."""

    mistakes: int
    rounds: int
    share: float


def window(number: int) -> tuple[int, float]:
    """After how many guesses a window begins, and its share of the risk; the shares add up to 1.

    >>> [window(number)[0] for number in range(5)]
    [0, 1, 2, 4, 8]
    """
    return 1 << number >> 1, 1 / ((number + 1) * (number + 2))


class Progress:
    """Counts of rounds, guesses, mistakes and models, and of those since some earlier rounds.

    >>> progress = Progress()
    >>> progress.ask()
    >>> for mistake in (True, False, False):
    ...     progress.add(mistake)
    >>> progress.rounds, progress.guesses, progress.mistakes, progress.streak, progress.models
    (4, 3, 1, 2, 2)
    """

    def __init__(self) -> None:
        self.rounds = 0
        """Items met."""
        self.guesses = 0
        """Rounds in which there was a guess: all but those that asked, and those picked."""
        self.mistakes = 0
        self.streak = 0
        """Guesses since the last mistake."""
        self.picked = self.picked_mistakes = 0
        """Guesses on items that somebody picked, and mistakes among them."""
        self.models = 1
        """How many models there were, with the present one."""
        self._since = (0, 0)  # guesses and mistakes when the present model came
        self._marks = [0]  # mistakes when each window began

    @classmethod
    def of(cls, lesson: Progress | Lesson | Iterable[bool]) -> Progress:
        """The progress of a lesson, or of guesses of which True was a mistake.

        Which mistakes changed the model is not on record: all are taken to have. The first round of
        a lesson is not counted as a guess unless it was a mistake: a fresh learner asks there.

        >>> Progress.of([True, False, False, False]).streak
        3
        """
        if isinstance(lesson, Progress):
            return lesson
        progress = cls()
        if not isinstance(lesson, Lesson):
            for mistake in lesson:
                progress.add(mistake)
            return progress
        for number in (*lesson.mistake_rounds, lesson.rounds):
            if not progress.rounds and number:
                progress.ask()
            progress.skip(number - progress.rounds)
            if number < lesson.rounds:
                progress.add(mistake=True)
        return progress

    def ask(self) -> None:
        """A round in which the label was asked, not guessed."""
        self.rounds += 1

    def add(self, mistake: bool, changed: bool | None = None) -> None:
        """A round with a guess.

        `changed` says whether the model is another one from now on; where that is not known, it is
        taken to change with every mistake.
        """
        self.mistakes += mistake
        self._count(1)
        self.streak = 0 if mistake else self.streak + 1
        if mistake if changed is None else changed:
            self._change()

    def pick(self, mistake: bool, changed: bool | None = None) -> None:
        """A round with a guess on an item that somebody picked: it says nothing of the others.

        Its mistake still ends a run of right guesses, and its correction may change the model.

        >>> progress = Progress.of([False] * 40)
        >>> for _ in range(100):
        ...     progress.pick(False)
        >>> progress.guesses, progress.streak, progress.picked
        (40, 40, 100)
        """
        self.rounds += 1
        self.picked += 1
        self.picked_mistakes += mistake
        if mistake:
            self.streak = 0
        if mistake if changed is None else changed:
            self._change()

    def skip(self, rounds: int) -> None:
        """So many rounds at once whose guesses were right and changed nothing."""
        self._count(rounds)
        self.streak += rounds

    def _change(self) -> None:
        self.models += 1
        self._since = (self.guesses, self.mistakes)

    def _count(self, rounds: int) -> None:
        self.rounds += rounds
        self.guesses += rounds
        while self.guesses >= window(len(self._marks))[0]:
            self._marks.append(self.mistakes)

    @property
    def model(self) -> Stretch:
        """The rounds of the present model. The j-th model's share is 1 / (j (j+1))."""
        guesses, mistakes = self._since
        return Stretch(
            self.mistakes - mistakes,
            self.guesses - guesses,
            1 / (self.models * (self.models + 1)),
        )

    @property
    def windows(self) -> list[Stretch]:
        """The rounds since the start, and since the first, 2nd, 4th, 8th ... guess."""
        return [
            Stretch(self.mistakes - mistakes, self.guesses - begin, share)
            for mistakes, (begin, share) in zip(self._marks, map(window, count()), strict=False)
        ]

    @property
    def recent(self) -> Stretch:
        """The later half of the guesses, or somewhat more."""
        return self.windows[max(0, len(self._marks) - 2)]
