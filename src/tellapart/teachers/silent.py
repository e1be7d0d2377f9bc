"""A teacher who often gives no reason."""

from __future__ import annotations

import random

from tellapart.errors import check
from tellapart.protocol import Correction, Guess, Item, Teacher


class Silent:
    """Another teacher's answers, with the feature left out in some corrections.

    Parameters
    ----------
    teacher : Teacher
        Who answers.
    rate : float in [0, 1]
        The chance that a correction has no feature; at 1 no correction has any.
    seed : int, default=0
        The corrections without a feature depend on the seed and on their number alone.

    >>> from tellapart import worlds
    >>> world = worlds.zoo()
    >>> teacher = Silent(world.teacher(), rate=1.0)
    >>> teacher.answer(world.items[0], Guess("fish", world.items[2]))
    Correction(label='mammal', feature=None)
    """

    def __init__(self, teacher: Teacher, rate: float, *, seed: int = 0) -> None:
        check("Silent", "rate", rate, "from 0 to 1", lambda r: 0 <= r <= 1, float)
        self.teacher, self.rate = teacher, rate
        self._random = random.Random(f"{seed}/when to be silent")

    def answer(self, item: Item, guess: Guess) -> Correction | None:
        """The other teacher's answer, with or without its feature."""
        answer = self.teacher.answer(item, guess)
        if answer is None or answer.feature is None:
            return answer
        return answer._replace(feature=None) if self._random.random() < self.rate else answer
