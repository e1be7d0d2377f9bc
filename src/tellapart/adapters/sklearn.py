"""tellapart as a scikit-learn classifier."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tellapart.errors import MissingExtra
from tellapart.features import Above
from tellapart.learners import AutoDFF
from tellapart.model import Not, truth
from tellapart.protocol import Correction, Feature, Guess, Item, Label, Learner, Teacher, teach
from tellapart.simulation import clause_numbers
from tellapart.simulation.bits import Words, pack
from tellapart.tables import Row

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingExtra("tellapart.adapters.sklearn", "compare") from None

Matrix = npt.NDArray[np.float64]
MakeTeacher = Callable[[Sequence[Item], Sequence[Label]], Teacher]


class DFFClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Learn a decision list from a table of numbers, by a conversation with a teacher.

    `fit` teaches pass by pass until a pass has no mistake. By default the teacher knows all labels
    and names, at every mistake, the threshold that tells the two labels apart best.

    Parameters
    ----------
    learner : Learner, default=None
        A copy of it is taught. None: `AutoDFF()`.
    teacher : Teacher or (items, labels) -> Teacher, default=None
        Who corrects. Items are mappings from column to value with the number of their row as
        `identity`; a missing value is None. None: `Thresholds`.
    passes : int, default=10
        The most passes over the table.
    random_state : int, default=0
        The seed of the order of the items in each pass.

    Attributes
    ----------
    classes_ : array
        The labels.
    model_ : DecisionList
        What was learnt; `tellapart.to_sql(model_)` and friends take it from here.
    mistakes_ : int
        How many corrections it took.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tellapart import AdaptiveDFF
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> iris = DFFClassifier(AdaptiveDFF()).fit(X, y)
    >>> float(iris.score(X, y)), iris.mistakes_
    (1.0, 46)
    >>> print(iris.model_.clauses[0].literals[0])
    not (petal width (cm) > 0.8)
    """

    def __init__(
        self,
        learner: Learner | None = None,
        teacher: Teacher | MakeTeacher | None = None,
        *,
        passes: int = 10,
        random_state: int = 0,
    ) -> None:
        self.learner, self.teacher = learner, teacher
        self.passes, self.random_state = passes, random_state

    def fit(self, X: Any, y: Any) -> DFFClassifier:
        """Teach the rows of `X`, labelled `y`."""
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        labels = self.classes_[codes].tolist()
        items = rows(X, self._names())
        teacher = self._teacher(X, items, labels)
        learner = AutoDFF() if self.learner is None else copy.deepcopy(self.learner)
        order = np.random.default_rng(self.random_state)
        self.mistakes_ = 0
        for _ in range(self.passes):
            lesson = teach(learner, teacher, (items[n] for n in order.permutation(len(items))))
            self.mistakes_ += lesson.mistakes
            if not lesson.mistakes:
                break
        self.model_ = learner.model
        return self

    def predict(self, X: Any) -> Any:
        """The label of every row."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        code = {label: number for number, label in enumerate(self.classes_.tolist())}
        said = np.array([code[clause.label] for clause in self.model_])
        return self.classes_[said[self._clauses(X)]]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _names(self) -> list[str]:
        named = getattr(self, "feature_names_in_", None)
        return [f"x{n}" for n in range(self.n_features_in_)] if named is None else named.tolist()

    def _teacher(self, X: Matrix, items: Sequence[Item], labels: Sequence[Label]) -> Teacher:
        if self.teacher is None:
            return Thresholds(X, labels, self._names())
        if isinstance(self.teacher, Teacher):
            return self.teacher
        return self.teacher(items, labels)

    def _clauses(self, X: Matrix) -> Any:
        """The number of the first clause that covers each row, from 0."""
        names = {name: place for place, name in enumerate(self._names())}
        packed: dict[Feature, Words] = {}

        def column(feature: Feature) -> Words:
            if feature not in packed:
                if isinstance(feature, Above):
                    packed[feature] = pack(X[:, names[feature.name]] > feature.threshold)
                else:
                    packed[feature] = pack([truth(feature, row) for row in rows(X, list(names))])
            return packed[feature]

        return clause_numbers(list(self.model_), column, len(X))


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
