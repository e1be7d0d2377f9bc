"""A teacher who knows all labels of a table of numbers, and names thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tellapart.features import Above
from tellapart.model import Not
from tellapart.protocol import Correction, Feature, Guess, Item, Label
from tellapart.tables import Row

Matrix = npt.NDArray[np.float64]


def rows(X: Matrix, names: Sequence[str]) -> list[Row]:
    """The rows of a matrix as items; NaN is unknown."""
    return [
        Row(number, {n: None if v != v else v for n, v in zip(names, row, strict=True)})
        for number, row in enumerate(X.tolist())
    ]


class Thresholds:
    """Name the threshold that tells two labels apart best, as `teachers.Informed` would.

    Parameters
    ----------
    X, labels, names
        The table, the label of each row, and the names of its columns. Items are `rows(X, names)`.
    cuts : int, default=32
        Thresholds a column, at most: middles between values next to each other, evenly spread.

    >>> X = np.array([[1.0, 5.0], [2.0, 6.0], [8.0, 5.0]])
    >>> items = rows(X, ["size", "age"])
    >>> teacher = Thresholds(X, ["ant", "ant", "bear"], ["size", "age"])
    >>> str(teacher.answer(items[2], Guess("ant", items[0])).feature)
    'size > 5'
    """

    def __init__(
        self, X: Matrix, labels: Sequence[Label], names: Sequence[str], *, cuts: int = 32
    ) -> None:
        self.X, self.labels, self.names = X, labels, names
        found = [_cuts(X[:, place], cuts) for place in range(X.shape[1])]
        self.places = np.repeat(np.arange(X.shape[1]), [len(cut) for cut in found])
        self.thresholds = np.concatenate([*found, np.empty(0)])
        self.shares: dict[Label, Any] = {}
        codes = {label: code for code, label in enumerate(dict.fromkeys(labels))}
        kinds = np.array([codes[label] for label in labels])
        for label, code in codes.items():
            mine = X[kinds == code]
            self.shares[label] = np.array(
                [np.mean(mine[:, p] > t) for p, t in zip(self.places, self.thresholds, strict=True)]
            )

    def answer(self, item: Item, guess: Guess) -> Correction | None:
        """The truth about `item`, with the most telling threshold."""
        label = self.labels[item.identity]
        if guess.label == label:
            return None
        if guess.label is None:
            return Correction(label)
        return Correction(label, self.telling(item.identity, guess.example.identity))

    def telling(self, item: int, example: int) -> Feature | None:
        mine, other = self.X[item], self.X[example]
        here = mine[self.places] > self.thresholds
        there = other[self.places] > self.thresholds
        gain = self.shares[self.labels[item]] - self.shares[self.labels[example]]
        score = np.where(here == there, -np.inf, np.where(here, gain, -gain))
        if len(score) and score.max() > -np.inf:
            best = int(score.argmax())
            above: Feature = Above(self.names[self.places[best]], self.thresholds[best])
            return above if here[best] else _opposite(above)
        return self.anything(mine, other)

    def anything(self, mine: Matrix, other: Matrix) -> Feature | None:
        """Some difference between two rows that no cut lies between."""
        for name, value, shown in zip(self.names, mine.tolist(), other.tolist(), strict=True):
            if value > shown:
                return Above(name, shown)
            if value < shown:
                return _opposite(Above(name, value))
        return None


def _opposite(feature: Feature) -> Feature:
    made: Feature = Not(feature)
    return made


def _cuts(column: Matrix, most: int) -> Matrix:
    """Middles between values next to each other, at most `most`, evenly spread over the rows."""
    values = np.sort(column[np.isfinite(column)])
    if len(values) > 4 * most:
        values = values[np.linspace(0, len(values) - 1, 4 * most).astype(np.int64)]
    values = np.unique(values)
    middles = values[:-1] + np.diff(values) / 2
    middles = middles[(values[:-1] <= middles) & (middles < values[1:])]
    if len(middles) > most:
        middles = middles[np.linspace(0, len(middles) - 1, most).astype(np.int64)]
    return middles
