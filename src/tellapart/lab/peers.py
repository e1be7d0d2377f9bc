"""Label-only learners from elsewhere, in the same conversation: they guess, and hear the label.

A peer sees every column of an item and every label, and no reasons. What it shows as an example is
the first item it met under the label it guesses: the teacher must have something to speak about.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tellapart.errors import MissingExtra
from tellapart.lab.cart import Cart
from tellapart.lab.streams import Stream
from tellapart.protocol import Correction, Guess, Item, Label

Bits = npt.NDArray[np.bool_]


class Peer(ABC):
    """A classifier that is told labels, item by item, in the order of its stream."""

    def __init__(self, stream: Stream) -> None:
        self.rows, self.labels = stream.rows, stream.labels
        self._code = {label: code for code, label in enumerate(self.labels)}
        self._examples: dict[Label, Item] = {}
        self.round = 0

    def guess(self, item: Item) -> Guess:
        """The label of the next item, and the first item that had it."""
        if not self._examples:
            return Guess(None, None)
        label = self.labels[self._predict(self.round)]
        return Guess(label, self._examples[label])

    def learn(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        """Take the label of the next item."""
        label = guess.label if correction is None else correction.label
        self._examples.setdefault(label, item)
        self._take(self.round, self._code[label], wrong=correction is not None)
        self.round += 1

    @abstractmethod
    def _predict(self, number: int) -> int:
        """The code of the label of row `number`."""

    @abstractmethod
    def _take(self, number: int, code: int, *, wrong: bool) -> None:
        """Learn the label of row `number`; `wrong`: the guess was, or there was none."""


class Tree(Peer):
    """A decision tree that is grown anew on all that was seen, after every mistake."""

    def __init__(self, stream: Stream, *, pruning: float) -> None:
        super().__init__(stream)
        shape = self.rows.shape[1], len(self.labels)
        self.tree = Cart(*shape, pruning=pruning, seed=stream.seed)

    def _predict(self, number: int) -> int:
        return self.tree.predict(self.rows[number])

    def _take(self, number: int, code: int, *, wrong: bool) -> None:
        self.tree.add(self.rows[number], code)
        if wrong:
            self.tree.fit()


class Bernoulli(Peer):
    """river's `BernoulliNB`, counted in arrays: the same guesses in a hundredth of the time."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(stream)
        self._held = np.zeros((len(self.labels), self.rows.shape[1]))
        self._counts = np.zeros(len(self.labels))
        self._logs = np.zeros((2, *self._held.shape))  # of not having, and of having, a column
        self._met: list[int] = []  # codes in the order met: of equals, river takes the first

    def _predict(self, number: int) -> int:
        has = self.rows[number]
        met = self._met
        prior = np.log(self._counts[met] / self._counts.sum())
        score = prior + self._logs[1][met] @ has + self._logs[0][met] @ ~has
        return met[int(score.argmax())]

    def _take(self, number: int, code: int, *, wrong: bool) -> None:
        if not self._counts[code]:
            self._met.append(code)
        self._counts[code] += 1
        self._held[code] += self.rows[number]
        share = (self._held[code] + 1) / (self._counts[code] + 2)
        self._logs[:, code] = np.log(1e-9 + 1 - share), np.log(1e-9 + share)


class Hoeffding(Peer):
    """river's `HoeffdingTreeClassifier`, told that columns are nominal, and quick to split."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(stream)
        try:
            from river.tree import HoeffdingTreeClassifier
        except ImportError:
            raise MissingExtra("HoeffdingTree", "compare") from None
        self._names = [str(name) for name in stream.world.features]
        self.tree: Any = HoeffdingTreeClassifier(
            grace_period=20, delta=0.05, tau=0.1, nominal_attributes=self._names
        )

    def _item(self, number: int) -> dict[str, bool]:
        return dict(zip(self._names, self.rows[number].tolist(), strict=True))

    def _predict(self, number: int) -> int:
        said = self.tree.predict_one(self._item(number))
        return 0 if said is None else int(said)

    def _take(self, number: int, code: int, *, wrong: bool) -> None:
        self.tree.learn_one(self._item(number), code)


class Logistic(Peer):
    """scikit-learn's `LogisticRegression`, fitted anew on all that was seen after mistakes.

    Not after each: between two fits the history grows by three in a hundred, or a fit alone would
    take longer than all others together. (It errs so often that this hardly makes it wait.)
    """

    def __init__(self, stream: Stream) -> None:
        super().__init__(stream)
        try:
            from sklearn.linear_model import LogisticRegression
        except ImportError:
            raise MissingExtra("LogisticRegression", "compare") from None
        self._make = partial(LogisticRegression, max_iter=1000, warm_start=True)
        self._model: Any = None
        self._codes: list[int] = []
        self._fitted = 0
        self._points = rotated(self.rows)

    def _predict(self, number: int) -> int:
        if self._model is None:
            return self._codes[0]
        return int(self._model.predict(self._points[number : number + 1])[0])

    def _take(self, number: int, code: int, *, wrong: bool) -> None:
        self._codes.append(code)
        known = set(self._codes)
        if not wrong or len(known) < 2:
            return
        if self._model is None or len(self._model.classes_) < len(known):
            self._model = self._make()  # weights for one label less are no start
        elif len(self._codes) < 1.03 * self._fitted:
            return
        self._fitted = len(self._codes)
        self._model.fit(self._points[: self._fitted], self._codes)


def rotated(rows: Bits) -> npt.NDArray[np.float64]:
    """The rows in as many coordinates as there are rows, if there are more columns.

    Lengths and angles stay, and with them every fit that is penalised by the length of its weights.
    """
    whole = rows.astype(np.float64)
    if len(rows) >= whole.shape[1]:
        return whole
    squares, turned = np.linalg.eigh(whole @ whole.T)
    coordinates: npt.NDArray[np.float64] = turned * np.sqrt(np.maximum(squares, 0))
    return coordinates


PEERS: dict[str, Any] = {
    "tree, light": partial(Tree, pruning=0.01),
    "tree, strong": partial(Tree, pruning=0.025),
    "HoeffdingTree": Hoeffding,
    "BernoulliNB": Bernoulli,
    "LogisticRegression": Logistic,
}
"""Peers by the name they have in rows and figures: each makes a fresh one for a stream."""

READABLE = ("tree, light", "tree, strong", "HoeffdingTree", "BernoulliNB")
"""Those whose models a person can read."""

MOST_COLUMNS = {"HoeffdingTree": 1000}
"""Peers that are left out where there are more columns: river takes 0.1 s a round at 10 000."""
