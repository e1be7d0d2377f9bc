"""Label-only learners to compare with, all of scikit-learn: they hear labels, but no reasons.

A peer sees every column of an item, or the numbers of its row. The example it shows is the first
item with the guessed label, because the teacher needs one.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tellapart.errors import MissingExtra
from tellapart.protocol import Correction, Guess, Item, Label

if TYPE_CHECKING:
    from tellapart.lab.corrections import Stream

_OFTEN = 200
"""After so many rounds a peer is fitted again only when its history has grown by 3 %."""


class Kind(NamedTuple):
    """A class of scikit-learn, what it sees of a row, and its settings."""

    place: str
    sees: str
    """columns, numbers or standardised numbers."""
    settings: dict[str, Any]
    readable: bool = False
    every_round: bool = False
    """Whether it is fitted again after right guesses, too."""


def _tree(sees: str, pruning: float) -> Kind:
    settings = {"criterion": "entropy", "ccp_alpha": pruning}
    return Kind("tree.DecisionTreeClassifier", sees, settings, readable=True)


PEERS = {
    "tree": _tree("columns", 0.01),
    "tree, pruned": _tree("columns", 0.025),
    "tree on numbers": _tree("numbers", 0.04),
    "BernoulliNB": Kind("naive_bayes.BernoulliNB", "columns", {}, readable=True, every_round=True),
    "LogisticRegression": Kind("linear_model.LogisticRegression", "columns", {"max_iter": 1000}),
    "1-NN": Kind(
        "neighbors.KNeighborsClassifier", "standardised", {"n_neighbors": 1}, every_round=True
    ),
    "forest": Kind("ensemble.RandomForestClassifier", "numbers", {}),
}
"""By name. Their settings were chosen on the tables tuned on."""
READABLE = tuple(name for name, kind in PEERS.items() if kind.readable)
"""Peers whose models a person can read."""


class Peer:
    """A classifier of scikit-learn, fitted to the whole history after every mistake."""

    def __init__(self, name: str, stream: Stream) -> None:
        self.kind, self.labels = PEERS[name], stream.labels
        module, _, made = self.kind.place.partition(".")
        try:
            self.model = getattr(import_module(f"sklearn.{module}"), made)(**self.kind.settings)
        except ImportError:
            raise MissingExtra(name, "compare") from None
        if "random_state" in self.model.get_params():
            self.model.set_params(random_state=stream.seed)
        self._rows = _seen(stream, self.kind.sees)
        self._known: list[int] = []
        self._fitted = 0
        self._examples: dict[Label, Item] = {}
        self._guesses = np.zeros(len(self._rows), dtype=np.intp)

    def guess(self, item: Item) -> Guess:
        """The predicted label of the next item, and the first item that had it."""
        if not self._examples:
            return Guess(None, None)
        label = self.labels[int(self._guesses[len(self._known)])]
        return Guess(label, self._examples[label])

    def learn(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        """Learn the label of the next item."""
        label = guess.label if correction is None else correction.label
        self._examples.setdefault(label, item)
        self._known.append(self.labels.index(label))
        now = len(self._known)
        again = correction is not None or self.kind.every_round
        if not again or _OFTEN < now < 1.03 * self._fitted or now == len(self._rows):
            return
        self._fitted = now
        if len(set(self._known)) < 2:
            self._guesses[:] = self._known[0]
            return
        with warnings.catch_warnings():  # early in a stream, most labels have one row
            warnings.filterwarnings("ignore", "The number of unique classes")
            self.model.fit(self._rows[:now], self._known)
        self._guesses[now:] = self.model.predict(self._rows[now:])

    def predict_rest(self) -> Sequence[Label]:
        """The labels of the rows after those that were learnt."""
        return [self.labels[int(code)] for code in self._guesses[len(self._known) :]]

    @property
    def terms(self) -> int | None:
        """The terms of a tree written as a list; else None."""
        return terms_of_tree(self.model) if hasattr(self.model, "tree_") else None


def terms_of_tree(model: Any) -> int:
    """The tests of a fitted tree of scikit-learn written as a list, the side with fewer leaves
    first."""
    left, right = model.tree_.children_left, model.tree_.children_right
    leaves, terms = [1] * len(left), 0
    for number in reversed(range(len(left))):  # children come after their parents
        if left[number] >= 0:
            both = leaves[left[number]], leaves[right[number]]
            leaves[number], terms = sum(both), terms + min(both)
    return terms


def _seen(stream: Stream, sees: str) -> npt.NDArray[Any]:
    if sees == "columns":
        return stream.columns.astype(np.float32)
    numbers = stream.numbers
    if sees == "numbers":
        return numbers
    spread = numbers.std(axis=0)
    found: npt.NDArray[Any] = (numbers - numbers.mean(axis=0)) / np.where(spread, spread, 1)
    return found
