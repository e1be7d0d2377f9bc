"""A teacher who makes slips."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tellapart.errors import check
from tellapart.protocol import Correction, Feature, Guess, Item, Label, Teacher


class Slip(NamedTuple):
    """One slip: what the teacher meant to answer, and what was said."""

    round: int
    item: Item
    meant: Correction | None
    said: Correction


class Slipping:
    """Another teacher's answers, with a wrong label or a wrong feature now and then.

    A slip of the label gives one of `labels` that is neither right nor guessed (a right guess is
    then "corrected"), and keeps the feature. A slip of the feature names one of `features` instead,
    true of the two items or not. The rounds with a slip depend on the seed alone, not on the
    guesses, so that learners can be compared under the same slips.

    Parameters
    ----------
    teacher : Teacher
        Who knows the truth.
    rate : float in [0, 1]
        The chance of a slip in a round.
    labels : labels to slip to
        With fewer than two there is nothing to slip to, and labels never slip.
    features : features to slip to, default none
        When given, every other slip of a correction, on average, is one of the feature.
    seed : int
        Same seed, same slips.

    >>> from tellapart import worlds
    >>> world = worlds.zoo()
    >>> teacher = Slipping(world.teacher(), rate=1.0, labels=["bird", "fish"], seed=1)
    >>> teacher.answer(world.items[0], Guess(None, None))
    Correction(label='fish', feature=None)
    >>> teacher.slips, teacher.made[0].item, teacher.made[0].meant
    (1, aardvark, Correction(label='mammal', feature=None))
    """

    def __init__(
        self,
        teacher: Teacher,
        rate: float,
        *,
        labels: Iterable[Label],
        features: Sequence[Feature] = (),
        seed: int = 0,
    ) -> None:
        check("Slipping", "rate", rate, "from 0 to 1", lambda r: 0 <= r <= 1, float)
        self.teacher, self.rate, self.seed = teacher, rate, seed
        self.labels, self.features = tuple(labels), features
        self.made: list[Slip] = []
        """The slips made so far."""
        self._round = -1
        self._when = self._times()

    @property
    def slips(self) -> int:
        """How many slips were made so far."""
        return len(self.made)

    def rounds(self, n: int) -> list[int]:
        """In which of the first `n` rounds there is a slip, if there is anything to slip to."""
        times = self._times()
        return [number for number in range(n) if next(times)]

    def _times(self) -> Iterator[bool]:
        generator = random.Random(f"{self.seed}/when to slip")
        while True:
            yield generator.random() < self.rate

    def answer(self, item: Item, guess: Guess) -> Correction | None:
        """The other teacher's answer, or a slip."""
        answer = self.teacher.answer(item, guess)
        self._round += 1
        if not next(self._when):
            return answer
        said = self._slip(guess, answer)
        if said is None:
            return answer
        self.made.append(Slip(self._round, item, answer, said))
        return said

    def _slip(self, guess: Guess, answer: Correction | None) -> Correction | None:
        """What is said instead of `answer`; None when there is nothing else to say."""
        what = random.Random(f"{self.seed}/slip of round {self._round}")
        if answer is not None and answer.feature is not None and self.features:
            other = what.choice(self.features)
            if what.random() < 0.5 and other != answer.feature:
                return answer._replace(feature=other)
        right = guess.label if answer is None else answer.label
        wrong = [label for label in self.labels if label not in (right, guess.label)]
        if not wrong:
            return None
        return Correction(what.choice(wrong), None if answer is None else answer.feature)
