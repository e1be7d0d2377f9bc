"""A teacher whose tongue slips now and then."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from tellapart.errors import check
from tellapart.protocol import Correction, Feature, Guess, Item, Label, Teacher


class Slipping:
    """Another teacher's answers, with a wrong label or a wrong feature now and then.

    A slip of the label gives one of `labels` that is neither right nor guessed (a right guess is
    then "corrected"), and keeps the feature. A slip of the feature names one of `features` instead,
    true of the two items or not. Slips are settled in order of the rounds, by the seed.

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
    >>> teacher.answer(world.items[0], Guess(None, None)), teacher.slips
    (Correction(label='bird', feature=None), 1)
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
        self.teacher, self.rate = teacher, rate
        self.labels, self.features = tuple(labels), tuple(features)
        self.slips = 0
        """How many slips were made so far."""
        self._random = random.Random(seed)

    def answer(self, item: Item, guess: Guess) -> Correction | None:
        """The other teacher's answer, or a slip."""
        answer = self.teacher.answer(item, guess)
        if self._random.random() >= self.rate:
            return answer
        reason = answer is not None and answer.feature is not None and bool(self.features)
        if answer is not None and reason and self._random.random() < 0.5:
            self.slips += 1
            return answer._replace(feature=self._random.choice(self.features))
        right = guess.label if answer is None else answer.label
        wrong = [label for label in self.labels if label not in (right, guess.label)]
        if not wrong:
            return answer
        self.slips += 1
        feature = None if answer is None else answer.feature
        return Correction(self._random.choice(wrong), feature)
