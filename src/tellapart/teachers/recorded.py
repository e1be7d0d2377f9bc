"""A teacher who repeats recorded answers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from tellapart import codec
from tellapart.errors import ProtocolError
from tellapart.protocol import Correction, Feature, Guess, Item, Label, Lesson


class Recorded:
    """Replay a transcript: for each item, what the teacher said of it, in order.

    The transcript gives the truth of every item it names; the answer is a correction only when the
    guess differs. When an item was corrected several times, its features come back in turn.

    Parameters
    ----------
    transcript : iterable of (item, Correction)
        As taken from `Lesson.corrections`, or written by hand.

    >>> teacher = Recorded([("bear", Correction("mammal", "milk"))])
    >>> teacher.answer("bear", Guess("fish", "bass"))
    Correction(label='mammal', feature='milk')
    """

    def __init__(self, transcript: Iterable[tuple[Item, Correction]]) -> None:
        self._label: dict[Hashable, Label] = {}
        self._features: dict[Hashable, list[Feature | None]] = {}
        for item, correction in transcript:
            key = codec.identity(item)
            known = self._label.setdefault(key, correction.label)
            if known != correction.label:
                raise ProtocolError(
                    f"the transcript contradicts itself: {item!r} is {known!r} and then"
                    f" {correction.label!r}"
                )
            self._features.setdefault(key, []).append(correction.feature)
        self._said: dict[Hashable, int] = {}

    @classmethod
    def of(cls, lesson: Lesson) -> Recorded:
        """The teacher of a lesson, as far as its mistakes show."""
        return cls((corrected.item, corrected.correction) for corrected in lesson.corrections)

    def answer(self, item: Item, guess: Guess) -> Correction | None:
        """What the transcript says of `item`."""
        key = codec.identity(item)
        if key not in self._label:
            raise ProtocolError(f"the transcript says nothing of {item!r}; give it an entry")
        label = self._label[key]
        if guess.label is None:
            return Correction(label)
        if guess.label == label:
            return None
        features = self._features[key]
        turn = self._said.get(key, 0)
        self._said[key] = turn + 1
        return Correction(label, features[min(turn, len(features) - 1)])
