"""A teacher who names any difference."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

from tellapart.model import Holds, Not, holds, truth
from tellapart.protocol import Correction, Feature, Guess, Item, Label


class Lazy:
    """Know every label, and name any feature that is true of the item and not of the example.

    All such features, negations included, are equally likely. When the two items agree in
    everything, the correction has a label only.

    Parameters
    ----------
    label_of : item -> label
        The truth.
    features : iterable of features
        What may be named.
    seed : int, default=0
        Same seed and same guesses, same answers.

    >>> teacher = Lazy({"duck": "bird", "bear": "mammal"}.get, ["feathers", "large"],
    ...                holds=lambda feature, item: (feature, item) == ("feathers", "duck"))
    >>> teacher.answer("duck", Guess("mammal", "bear"))
    Correction(label='bird', feature='feathers')
    """

    def __init__(
        self,
        label_of: Callable[[Item], Label],
        features: Iterable[Feature],
        *,
        seed: int = 0,
        holds: Holds = holds,
    ) -> None:
        self.label_of, self.features, self.holds = label_of, tuple(features), holds
        self._random = random.Random(f"{seed}/lazy")

    def answer(self, item: Item, guess: Guess) -> Correction | None:
        """The truth about `item`, with any feature that tells it from the example."""
        label = self.label_of(item)
        if guess.label == label:
            return None
        if guess.label is None:
            return Correction(label)
        told = [
            feature if here else Not(feature)
            for feature in self.features
            if (here := truth(feature, item, self.holds))
            != truth(feature, guess.example, self.holds)
        ]
        return Correction(label, self._random.choice(told) if told else None)
