"""tellapart as a river classifier."""

from __future__ import annotations

import copy
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from tellapart import learners
from tellapart.columns.thresholds import between
from tellapart.errors import MissingExtra
from tellapart.export.text import Answer, answers
from tellapart.features import Above, Column
from tellapart.model import DecisionList, Not, truth
from tellapart.protocol import Correction, Feature, Guess, Label, Learner

try:
    from river import base
except ImportError:
    raise MissingExtra("tellapart.adapters.river", "compare") from None

Row = Mapping[Any, Any]

_CUTS = 8
"""Thresholds tried between two numbers."""


class DFFClassifier(base.Classifier):
    """Learn a decision list online, by a conversation with a teacher who remembers recent items.

    At every mistake the teacher names the feature that best separates the two labels among the
    items remembered, out of those that hold on the item and not on the shown example.

    Parameters
    ----------
    learner : Learner, default=None
        A copy of it is taught. None: `AutoDFF()`.
    history : int, default=500
        How many items the teacher remembers.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> model = DFFClassifier()
    >>> accuracy = metrics.Accuracy()
    >>> _ = evaluate.progressive_val_score(datasets.Phishing().take(300), model, accuracy)
    >>> accuracy.get() > 0.8, model.mistakes < 60
    (True, True)
    """

    def __init__(self, learner: Learner | None = None, history: int = 500) -> None:
        self.learner, self.history = learner, history
        self.mistakes = 0
        self._learner = learners.AutoDFF() if learner is None else copy.deepcopy(learner)
        self._recent: deque[tuple[Row, Label]] = deque(maxlen=history)
        self._labels: dict[Any, None] = {}
        self._recorded: DecisionList | None = None  # the list that the records are about
        self._records: dict[int, Counter[Label]] = {}  # by clause, the items that reached it

    @property
    def model(self) -> DecisionList:
        """What has been learnt so far."""
        return self._learner.model

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {}
        yield {"learner": learners.CappedDFF(m=20), "history": 50}

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """Take the label of an item."""
        item, label = dict(x), _plain(y)
        self._labels.setdefault(label)
        self._recent.append((item, label))
        if self._recorded is not None:
            self._record(item, label)
        guess = self._learner.guess(item)
        if guess.label == label:
            self._learner.learn(item, guess, None)
            return
        reason = None if guess.label is None else self._reason(item, label, guess)
        self.mistakes += guess.label is not None
        self._learner.learn(item, guess, Correction(label, reason))

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """The label of an item; None before the first is known."""
        return self._learner.guess(x).label

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """The share of each label among the items remembered that reach the same clause.

        It is smoothed: one item is added for the label guessed, and one more that is spread evenly
        over all labels.
        """
        if not self._labels:
            return {}
        guess = self.predict_one(x)
        if self._recorded is not self.model:
            self._recorded, self._records = self.model, {}
            for item, label in self._recent:
                self._record(item, label)
        record = self._records.get(_clause(self.model, x), Counter())
        even = 1 / len(self._labels)
        return {
            label: (record[label] + (label == guess) + even) / (record.total() + 2)
            for label in self._labels
        }

    def explain_one(self, x: dict[Any, Any]) -> Answer:
        """The label of an item, the clause that gives it, and the example of that clause."""
        return answers(self.model)[_clause(self.model, x)]

    def _record(self, item: Row, label: Label) -> None:
        assert self._recorded is not None
        self._records.setdefault(_clause(self._recorded, item), Counter())[label] += 1

    def _reason(self, item: Row, label: Label, guess: Guess) -> Feature | None:
        like = [other for other, said in self._recent if said == label]
        unlike = [other for other, said in self._recent if said == guess.label]
        best = max(
            (
                (_share(feature, like) - _share(feature, unlike), str(feature), feature)
                for feature in candidates(item, guess.example, [*like, *unlike])
            ),
            key=lambda scored: scored[:2],
            default=None,
        )
        return None if best is None else best[2]


def _clause(model: DecisionList, item: Row) -> int:
    """The number of the clause that labels `item`, from 0."""
    found = model.match(item)
    return next(number for number, clause in enumerate(model) if clause is found)


def candidates(item: Row, example: Row, others: Sequence[Row]) -> Iterator[Feature]:
    """Features that hold on `item` and not on `example`: values, thresholds, what is missing.

    >>> [str(feature) for feature in candidates({"legs": 4, "name": "bear"}, {"legs": 2}, [])]
    ['legs > 3', 'not (name = None)']
    """
    for name in {**item, **example}:
        mine, shown = item.get(name), example.get(name)
        if mine is None or shown is None:
            unknown = Column(name, None)
            if (mine is None) != (shown is None):
                yield unknown if mine is None else Not(unknown)
        elif _number(mine) and _number(shown):
            low, high = sorted((mine, shown))
            for cut in _cuts(name, low, high, others):
                yield Above(name, cut) if mine > shown else Not(Above(name, cut))
        elif mine != shown:
            yield Column(name, mine)


def _cuts(name: Any, low: float, high: float, others: Sequence[Row]) -> list[float]:
    """Some thresholds from `low` to below `high`, round ones between values of other items."""
    if not low < high:
        return []
    numbers = {other[name] for other in others if _number(other.get(name))}
    values = [low, *sorted(value for value in numbers if low < value < high), high]
    step = -(-(len(values) - 1) // _CUTS)
    return [between(a, b) for a, b in list(pairwise(values))[::step]]


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def _share(feature: Feature, items: Sequence[Row]) -> float:
    return sum(truth(feature, item) for item in items) / len(items) if items else 0.0


def _plain(label: Any) -> Any:
    """A label without numpy around it."""
    return label.item() if hasattr(label, "item") else label
