"""A teacher who knows the whole table and names the feature that separates two labels best."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from tellapart import codec
from tellapart.model import Holds, Not, holds, truth
from tellapart.protocol import Correction, Feature, Guess, Item, Label


class Informed:
    """Know every item's label, and name the feature that tells the two *labels* apart best.

    Among `features` and their negations, those true of the item and not of the shown example are
    scored by how well they hold on the items of the item's label and not on those of the example's:
    the share of the first that have it minus the share of the second. The best is named; ties go to
    the plain feature, then to the earlier one. No feature, no reason: when the two items agree in
    everything, the correction has a label only.

    Parameters
    ----------
    items, labels
        The table, and the truth.
    features : iterable of features
        What may be named.

    >>> teacher = Informed([{"milk", "tail"}, {"milk"}, {"eggs", "tail"}],
    ...                    ["mammal", "mammal", "bird"], features=["tail", "milk", "eggs"])
    >>> teacher.answer({"milk", "tail"}, Guess("bird", {"eggs", "tail"}))
    Correction(label='mammal', feature='milk')
    """

    def __init__(
        self,
        items: Sequence[Item],
        labels: Sequence[Label],
        features: Iterable[Feature],
        *,
        holds: Holds = holds,
    ) -> None:
        self.features, self.holds = tuple(features), holds
        self._label_of = LabelOf(items, labels)
        counts: dict[Label, int] = {}
        self._share: dict[Label, list[float]] = {}
        for item, label in zip(items, labels, strict=True):
            counts[label] = counts.get(label, 0) + 1
            share = self._share.setdefault(label, [0.0] * len(self.features))
            for number, feature in enumerate(self.features):
                share[number] += truth(feature, item, holds)
        for label, share in self._share.items():
            self._share[label] = [held / counts[label] for held in share]

    def answer(self, item: Item, guess: Guess) -> Correction | None:
        """The truth about `item`, with the most telling feature."""
        label = self._label_of(item)
        if guess.label == label:
            return None
        if guess.label is None:
            return Correction(label)
        other = self._label_of(guess.example)
        best: tuple[float, Feature] | None = None
        for number, feature in enumerate(self.features):
            here, there = (truth(feature, x, self.holds) for x in (item, guess.example))
            if here == there:
                continue
            telling = self._share[label][number] - self._share[other][number]
            score, said = (telling, feature) if here else (-telling, Not(feature))
            if best is None or score > best[0]:
                best = (score, said)
        return Correction(label, None if best is None else best[1])


class LabelOf:
    """The label of an item by its identity."""

    def __init__(self, items: Iterable[Item], labels: Iterable[Label]) -> None:
        self._labels: dict[Hashable, Label] = {}
        for item, label in zip(items, labels, strict=True):
            self._labels.setdefault(codec.identity(item), label)

    def __call__(self, item: Item) -> Label:
        return self._labels[codec.identity(item)]
