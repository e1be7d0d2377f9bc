"""tellapart as a scikit-learn classifier."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from tellapart.adapters import Explanation, explanations
from tellapart.errors import MissingExtra, ParameterError
from tellapart.features import Above, Column
from tellapart.learners import AutoDFF
from tellapart.model import Clause, DecisionList, Not, truth
from tellapart.protocol import Correction, Feature, Guess, Item, Label, Learner, Teacher, teach
from tellapart.simplification import simplify
from tellapart.simulation import Words, clause_numbers, pack
from tellapart.tables import Row

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import (
        check_array,
        check_consistent_length,
        check_is_fitted,
        validate_data,
    )
except ImportError:
    raise MissingExtra("tellapart.adapters.sklearn", "compare") from None

Matrix = npt.NDArray[np.float64]
MakeTeacher = Callable[[Sequence[Item], Sequence[Label]], Teacher]
Texts = dict[str, int]
"""The texts of a column, each with the number that stands for it."""

_LOOKS = 200  # times in a pass that the list is scored on all rows


class DFFClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Learn a decision list from a table, by a conversation with a teacher.

    `fit` teaches pass by pass until a pass has no mistake. By default the teacher knows all labels
    and names, at every mistake, the threshold or the text that tells the two labels apart best.

    A learner changes its list at every mistake. On rows that no list gets all right it goes on for
    ever, and the last list is no better than many before. So `fit` scores the list on all rows, up
    to 200 times in a pass, and keeps the best one, simplified (`tellapart.simplify`). The list that
    always says the most frequent label is one of them.

    Columns hold numbers, or texts: strings in arrays of objects, or in columns of pandas and Polars
    frames. NaN and None are unknown.

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
    records_ : array of shape (clauses, labels)
        How many training rows of each label reach each clause of `model_`, the default last.
    mistakes_ : int
        How many corrections it took.
    learner_ : Learner
        The copy that was taught; `partial_fit` goes on with it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> iris = DFFClassifier().fit(X, y)
    >>> bool(iris.score(X, y) > 0.95), iris.mistakes_ < 20
    (True, True)
    >>> iris.predict_proba(X).shape
    (150, 3)
    >>> iris.explain(X)[0]
    Explanation(label=0, clause=..., sentence='...t is 0, like ...', example=<row ...>)
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
        y = validate_data(self, y=y)
        check_classification_targets(y)
        self._cells = self._read(X, reset=True)
        self.classes_ = np.unique(y)
        self._labels = self._check_labels(y, self._cells.X)
        self.learner_ = AutoDFF() if self.learner is None else copy.deepcopy(self.learner)
        self.mistakes_ = 0
        items = self._cells.rows()
        teacher = self._teacher(items)
        best = _Best(self._cells, self._labels)
        best.offer(_majority(items, self._labels))
        order = np.random.default_rng(self.random_state)
        for _ in range(self.passes):
            if not self._teach(teacher, [items[n] for n in order.permutation(len(items))], best):
                break
        return self._keep(best)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> DFFClassifier:
        """Teach some more rows, once each, in their order.

        All rows are kept: the teacher knows them, and the best list is the one that is best on all
        of them. `classes` lists all labels; it is needed in the first call.
        """
        y = validate_data(self, y=y)
        check_classification_targets(y)
        first = not hasattr(self, "classes_")
        new = self._read(X, reset=first)
        if first:
            if classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            self.classes_ = np.unique(classes)
            self._cells, self._labels = new.part(0), []
            self.learner_ = AutoDFF() if self.learner is None else copy.deepcopy(self.learner)
            self.mistakes_ = 0
        labels = self._check_labels(y, new.X)
        before = len(self._labels)
        self._cells = Cells(np.vstack([self._cells.X, new.X]), new.names, new.texts)
        self._labels = [*self._labels, *labels]
        items = self._cells.rows()
        best = _Best(self._cells, self._labels)
        best.offer(_majority(items, self._labels))
        if not first:
            best.offer(self.model_)
        self._teach(self._teacher(items), items[before:], best)
        return self._keep(best)

    def predict(self, X: Any) -> Any:
        """The label of every row."""
        clauses = self._clauses(X)
        code = {label: number for number, label in enumerate(self.classes_.tolist())}
        said = np.array([code[clause.label] for clause in self.model_])
        return self.classes_[said[clauses]]

    def predict_proba(self, X: Any) -> Any:
        """The probability of every label, in the order of `classes_`, for every row.

        It is the share of the label among the training rows that reach the same clause
        (`records_`), smoothed: one row is added for the label of the clause, and one more that is
        spread evenly over all labels. Where a clause is wrong about most rows that reach it, the
        most probable label is not the one of `predict`.
        """
        clauses = self._clauses(X)
        labels = self.classes_.tolist()
        said = np.array([[clause.label == label for label in labels] for clause in self.model_])
        counts = self.records_ + said + 1 / len(labels)
        return (counts / counts.sum(axis=1, keepdims=True))[clauses]

    def explain(self, X: Any) -> list[Explanation]:
        """For every row: its label, the clause that gives it, and the example of that clause.

        An example is a row of the training table: a mapping from column to value, with the number
        of the row as `identity`.
        """
        clauses = self._clauses(X)
        said = explanations(self.model_)
        return [said[number] for number in clauses]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def _teach(self, teacher: Teacher, items: Sequence[Item], best: _Best) -> int:
        """One pass; returns the number of mistakes."""
        before = self.mistakes_
        step = -(-len(items) // _LOOKS)
        for start in range(0, len(items), step):
            lesson = teach(self.learner_, teacher, items[start : start + step])
            self.mistakes_ += lesson.mistakes
            if lesson.mistakes or not start:
                best.offer(self.learner_.model)
        return self.mistakes_ - before

    def _keep(self, best: _Best) -> DFFClassifier:
        self.model_ = simplify(best.model)
        codes = np.searchsorted(self.classes_, np.array(self._labels, dtype=self.classes_.dtype))
        self.records_ = np.zeros((len(self.model_.clauses) + 1, len(self.classes_)), dtype=np.intp)
        np.add.at(self.records_, (self._cells.clauses(self.model_), codes), 1)
        return self

    def _check_labels(self, y: Any, X: Matrix) -> list[Label]:
        check_consistent_length(X, y)
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(
                f"y has labels that are not among the classes: {unknown[:5].tolist()}. Pass all"
                " labels as classes in the first call of partial_fit"
            )
        found: list[Label] = self.classes_[np.searchsorted(self.classes_, y)].tolist()
        return found

    def _teacher(self, items: Sequence[Item]) -> Teacher:
        cells = self._cells
        if self.teacher is None:
            return Thresholds(cells.X, self._labels, cells.names, texts=cells.texts)
        if isinstance(self.teacher, Teacher):
            return self.teacher
        return self.teacher(items, self._labels)

    def _clauses(self, X: Any) -> Any:
        """The number of the first clause that covers each row, from 0."""
        check_is_fitted(self)
        return self._read(X, reset=False).clauses(self.model_)

    def _read(self, X: Any, *, reset: bool) -> Cells:
        """A table as numbers and texts; with `reset` its columns are new, else as those known."""
        columns = list(_text_columns(X) or ())
        if not columns and (reset or all(texts is None for texts in self._cells.texts)):
            options = {"dtype": np.float64, "ensure_all_finite": "allow-nan"}
            X = validate_data(self, X, reset=reset, **options)
            return Cells(X, self._names(), [None] * X.shape[1])
        validate_data(self, X, reset=reset, skip_check_array=True)
        columns = columns or np.array(X, dtype=object).T.tolist()
        known = [_kind(cells) for cells in columns] if reset else self._cells.texts
        made = [_encode(*column) for column in zip(self._names(), columns, known, strict=True)]
        matrix = np.column_stack([numbers for numbers, _ in made])
        X = check_array(matrix, ensure_all_finite="allow-nan", estimator=self)
        return Cells(X, self._names(), [texts for _, texts in made])

    def _names(self) -> list[str]:
        named = getattr(self, "feature_names_in_", None)
        return [f"x{n}" for n in range(self.n_features_in_)] if named is None else named.tolist()


@dataclass
class Cells:
    """A table as a matrix of numbers. In a column of texts, `texts` says what they stand for."""

    X: Matrix
    names: list[str]
    texts: list[Texts | None]
    _packed: dict[Feature, Words] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.X)

    def part(self, count: int) -> Cells:
        """The first rows."""
        return Cells(self.X[:count], self.names, self.texts)

    def rows(self) -> list[Row]:
        """The rows as items."""
        return rows(self.X, self.names, self.texts)

    def clauses(self, model: DecisionList) -> npt.NDArray[np.uint32]:
        """The number of the first clause of `model` that covers each row, from 0."""
        return clause_numbers(list(model), self._column, len(self))

    def _column(self, feature: Feature) -> Words:
        if feature not in self._packed:
            self._packed[feature] = pack(self._truths(feature))
        return self._packed[feature]

    def _truths(self, feature: Feature) -> Any:
        match feature:
            case Above(name, threshold) if name in self.names:
                place = self.names.index(name)
                if self.texts[place] is None:
                    return self.X[:, place] > threshold
            case Column(name, str() as text) if name in self.names:
                place = self.names.index(name)
                texts = self.texts[place]
                if texts is not None:
                    return self.X[:, place] == texts.get(text, -1)
        return [truth(feature, row) for row in self.rows()]


class _Best:
    """The best list offered: the fewest rows with a wrong label, then the shortest, the latest."""

    def __init__(self, cells: Cells, labels: Sequence[Label]) -> None:
        self.cells, self.labels = cells, np.array(labels, dtype=object)
        self.score = (len(labels) + 1, 0)
        self.model = DecisionList()

    def offer(self, model: DecisionList) -> None:
        said = np.array([clause.label for clause in model], dtype=object)
        wrong = int(np.count_nonzero(said[self.cells.clauses(model)] != self.labels))
        score = (wrong, len(model.clauses))
        if score <= self.score:
            self.score, self.model = score, model


def _majority(items: Sequence[Item], labels: Sequence[Label]) -> DecisionList:
    """The list that always says the most frequent label."""
    [(label, _)] = Counter(labels).most_common(1)
    return DecisionList((), Clause((), label, items[labels.index(label)]))


def rows(X: Matrix, names: Sequence[str], texts: Sequence[Texts | None] | None = None) -> list[Row]:
    """The rows of a matrix as items; NaN is unknown. `texts` says what stands for texts."""
    words = [None if known is None else list(known) for known in texts or [None] * len(names)]

    def value(number: float, words: list[str] | None) -> float | str | None:
        if number != number:
            return None
        return number if words is None else words[int(number)]

    return [
        Row(place, {n: value(v, w) for n, v, w in zip(names, row, words, strict=True)})
        for place, row in enumerate(X.tolist())
    ]


def _text_columns(X: Any) -> Iterator[list[Any]] | None:
    """The columns of a table, if there are texts in it; None is unknown."""
    if hasattr(X, "iloc"):
        if all(getattr(dtype, "kind", "O") in "biuf" for dtype in X.dtypes):
            return None
        columns = (X.iloc[:, place].astype(object) for place in range(X.shape[1]))
        return (column.where(column.notna(), None).tolist() for column in columns)
    if hasattr(X, "get_columns"):
        if all(dtype.is_numeric() or str(dtype) == "Boolean" for dtype in X.dtypes):
            return None
        return (column.to_list() for column in X.get_columns())
    if isinstance(X, list | tuple):
        try:
            X = np.array(X, dtype=object)
        except ValueError:
            return None  # no table; scikit-learn says so
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "OU":
        return None
    return iter(X.T.tolist()) if any(isinstance(cell, str) for cell in X.flat) else None


def _kind(cells: Sequence[Any]) -> Texts | None:
    """No texts yet, for a column of texts; None for numbers."""
    return {} if any(isinstance(cell, str) for cell in cells) else None


def _encode(name: str, cells: Sequence[Any], known: Texts | None) -> tuple[Matrix, Texts | None]:
    """A column as numbers, and what they stand for: the texts known so far, and new ones."""
    texts = None if known is None else dict(known)
    numbers = np.full(len(cells), np.nan)
    for place, cell in enumerate(cells):
        if cell is None or cell != cell:
            continue
        if isinstance(cell, str) and texts is not None:
            numbers[place] = texts.setdefault(cell, len(texts))
        elif isinstance(cell, Real | np.bool_) and texts is None:
            numbers[place] = cell
        else:
            raise ParameterError(
                f"column {name!r} holds {'numbers' if texts is None else 'texts'}, and in row"
                f" {place} there is {cell!r} ({type(cell).__name__}). Make it all numbers or all"
                " texts, the same in fit and predict"
            )
    return numbers, texts


class Thresholds:
    """Name the threshold that tells two labels apart best, as `teachers.Informed` would.

    Parameters
    ----------
    X, labels, names
        The table, the label of each row, and the names of its columns. Items are `rows(X, names)`.
    cuts : int, default=32
        Thresholds a column, at most: middles between values next to each other, evenly spread. In a
        column of texts, the most frequent texts.
    texts : sequence, default=None
        For each column, what its numbers stand for if it holds texts; else None.

    >>> X = np.array([[1.0, 5.0], [2.0, 6.0], [8.0, 5.0]])
    >>> items = rows(X, ["size", "age"])
    >>> teacher = Thresholds(X, ["ant", "ant", "bear"], ["size", "age"])
    >>> str(teacher.answer(items[2], Guess("ant", items[0])).feature)
    'size > 5'
    """

    def __init__(
        self,
        X: Matrix,
        labels: Sequence[Label],
        names: Sequence[str],
        *,
        cuts: int = 32,
        texts: Sequence[Texts | None] | None = None,
    ) -> None:
        self.X, self.labels, self.names = X, labels, names
        self.words = [None if t is None else list(t) for t in texts or [None] * len(names)]
        found = [
            _cuts(X[:, place], cuts) if words is None else _frequent(X[:, place], cuts)
            for place, words in enumerate(self.words)
        ]
        self.places = np.repeat(np.arange(X.shape[1]), [len(cut) for cut in found])
        self.thresholds = np.concatenate([*found, np.empty(0)])
        """What a column is compared with: a threshold, or the number of a text."""
        self.equal = np.array([words is not None for words in self.words])[self.places]
        self.shares: dict[Label, Any] = {}
        codes = {label: code for code, label in enumerate(dict.fromkeys(labels))}
        kinds = np.array([codes[label] for label in labels])
        for label, code in codes.items():
            mine = X[kinds == code]
            self.shares[label] = np.array(
                [
                    np.mean(mine[:, p] == t if equal else mine[:, p] > t)
                    for p, t, equal in zip(self.places, self.thresholds, self.equal, strict=True)
                ]
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
        here, there = self.truths(self.X[item]), self.truths(self.X[example])
        gain = self.shares[self.labels[item]] - self.shares[self.labels[example]]
        score = np.where(here == there, -np.inf, np.where(here, gain, -gain))
        if len(score) and score.max() > -np.inf:
            best = int(score.argmax())
            feature = self.feature(self.places[best], self.thresholds[best])
            return feature if here[best] else _opposite(feature)
        return self.any_difference(self.X[item], self.X[example])

    def truths(self, row: Matrix) -> npt.NDArray[np.bool_]:
        """Which of the features hold on a row."""
        cells = row[self.places]
        return np.where(self.equal, cells == self.thresholds, cells > self.thresholds)

    def feature(self, place: int, number: float) -> Feature:
        words, name = self.words[place], self.names[place]
        return Above(name, number) if words is None else Column(name, words[int(number)])

    def any_difference(self, mine: Matrix, other: Matrix) -> Feature | None:
        """Some difference between two rows that no cut lies between."""
        for place, (value, shown) in enumerate(zip(mine.tolist(), other.tolist(), strict=True)):
            text = self.words[place] is not None
            if value > shown or (text and value == value and value != shown):
                return self.feature(place, value if text else shown)
            if value < shown or (text and shown == shown and value != shown):
                return _opposite(self.feature(place, shown if text else value))
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


def _frequent(column: Matrix, most: int) -> Matrix:
    """The values that occur most often, at most `most`; the first of equals."""
    values, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    return values[np.argsort(-counts, kind="stable")[:most]]
