"""A suspect, and all there is to know about a history when looking for one."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from tellapart.export.text import Words
from tellapart.model import DecisionList, Holds, holds, truth
from tellapart.protocol import Feature, Item, Label
from tellapart.review.groups import Facts
from tellapart.review.jury import Jury
from tellapart.review.transcript import Transcript
from tellapart.simulation import Words as Packed
from tellapart.simulation import pack


@dataclass(frozen=True)
class Suspect:
    """A round to look at again."""

    round: int
    item: Item
    label: Label
    """What was said."""
    expected: Label
    """What the rounds like it say; the same label when only the feature is doubted."""
    score: float
    """From 0 to 1: how much the others contradict it."""
    why: str
    """A sentence."""
    feature: Feature | None = None
    """The feature that was named, when that is what is doubted."""
    expected_feature: Feature | None = None
    """What was named between the same labels elsewhere and would do here."""
    who: Hashable = None

    def __str__(self) -> str:
        return f"round {self.round}: {self.why}"


@dataclass(frozen=True)
class Case:
    """A history, the jury's opinion of it, the model that came of it, and how to speak of it."""

    history: Transcript
    facts: Facts
    jury: Jury
    model: DecisionList | None
    words: Words

    @property
    def reading(self) -> Holds:
        """How features are read."""
        return holds if self.model is None else self.model.reading

    def column(self, feature: Feature) -> Packed:
        """In which rounds a feature holds."""
        if feature in self.facts.features:
            words: Packed = self.facts.columns[self.facts.features.index(feature)]
            return words
        return pack(truth(feature, told.item, self.reading) for told in self.history.rounds)
