"""tellapart as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tellapart.adapters.fresh import fresh
from tellapart.adapters.numbers import Matrix, Thresholds, rows
from tellapart.engines.match import clause_numbers
from tellapart.errors import MissingExtra
from tellapart.features import Above
from tellapart.model import truth
from tellapart.protocol import Feature, Item, Label, Learner, Teacher, teach
from tellapart.simulation.bits import Words, pack

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingExtra("tellapart.adapters.sklearn", "compare") from None

MakeTeacher = Callable[[Sequence[Item], Sequence[Label]], Teacher]


class DFFClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Learn a decision list from a table of numbers, by a conversation with a teacher.

    `fit` teaches pass by pass until a pass has no mistake. By default the teacher knows all labels
    and names, at every mistake, the threshold that tells the two labels apart best.

    Parameters
    ----------
    learner : Learner, default=None
        Who is taught; a copy of it, so that it can be used again. None: the best learner there is
        that needs no parameters.
    teacher : Teacher or (items, labels) -> Teacher, default=None
        Who corrects. Items are mappings from column to value with the number of their row as
        `identity`; a missing value is None. None: the informed one.
    passes : int, default=10
        How often the table is gone through, at most.
    random_state : int, default=0
        Settles the order of the items in each pass.

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
        learner = fresh(self.learner)
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
