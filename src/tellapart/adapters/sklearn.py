"""tellapart as a scikit-learn classifier."""

from __future__ import annotations

import copy
import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from tellapart.columns import clause_numbers, pack, words_for
from tellapart.columns.thresholds import between
from tellapart.errors import MissingExtra, ParameterError
from tellapart.export.text import Answer, answers
from tellapart.features import Above, Column
from tellapart.learners import AutoDFF
from tellapart.learners.base import BaseLearner
from tellapart.model import Clause, DecisionList, Not
from tellapart.protocol import Correction, Feature, Guess, Item, Label, Learner, Teacher, teach
from tellapart.simplification import simplify
from tellapart.tables import Row, Table

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import (
        check_consistent_length,
        check_is_fitted,
        validate_data,
    )
except ImportError:
    raise MissingExtra("tellapart.adapters.sklearn", "compare") from None

_INNER = "learner__"

MakeTeacher = Callable[[Sequence[Item], Sequence[Label]], Teacher]

LOG = logging.getLogger("tellapart.adapters")
_OFTEN = 5.0  # seconds between two lines of the log
_LOOKS = 200  # times in a pass that the list is scored on all rows


class DFFClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Learn a decision list from a table, by a conversation with a teacher.

    `fit` teaches pass by pass until a pass has no mistake. By default the teacher knows all labels
    and names, at every mistake, the threshold or the text that tells the two labels apart best.

    A learner changes its list at every mistake. On rows that no list gets all right it goes on for
    ever, and the last list is no better than many before. So `fit` scores the list on all rows, up
    to 200 times in a pass, and keeps the best one, simplified (`tellapart.simplify`). The list that
    always says the most frequent label is one of them. The log `tellapart` says how far it is.

    Columns hold numbers, or texts: strings in arrays of objects, or in columns of pandas and Polars
    frames. NaN and None are unknown.

    Parameters
    ----------
    learner : Learner, default=None
        A copy of it is taught. None: `AutoDFF()`. Its parameters are `learner__m` and the like, for
        `GridSearchCV`.
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
        The copy that was taught.

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
    Answer(label=0, rule=..., because='...t is: 0, like ...', like=..., is_sure=None)
    """

    _are_texts: list[bool]

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

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; with `deep` also those of the learner, such as `learner__m`."""
        found: dict[str, Any] = super().get_params(deep=deep)
        inner = _parameters(self.learner) if deep else {}
        return found | {f"{_INNER}{name}": value for name, value in inner.items()}

    def set_params(self, **params: Any) -> DFFClassifier:
        """Set parameters; those of the learner are set on a new one of its kind."""
        inner = {n.removeprefix(_INNER): v for n, v in params.items() if n.startswith(_INNER)}
        super().set_params(**{n: v for n, v in params.items() if not n.startswith(_INNER)})
        if inner:
            learner = AutoDFF() if self.learner is None else self.learner
            known = _parameters(learner)
            if wrong := sorted(inner.keys() - known.keys()):
                raise ValueError(
                    f"{type(learner).__name__} has no parameter {wrong[0]!r}; it has"
                    f" {', '.join(known) or 'none'}"
                )
            self.learner = type(learner)(**{**known, **inner})
        return self

    def fit(self, X: Any, y: Any, **refused: Any) -> DFFClassifier:
        """Teach the rows of `X`, labelled `y`."""
        if refused:  # `sample_weight` is no parameter: who looks for one sees that there is none
            raise TypeError(
                f"DFFClassifier takes no {next(iter(refused))}: each row is one item of a"
                " conversation, and all count alike. Repeat the rows that count more, or leave"
                " rows out"
            )
        y = validate_data(self, y=y)
        check_classification_targets(y)
        frame = self._read(X, reset=True)
        check_consistent_length(frame, y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        labels: list[Label] = y.tolist()
        self.learner_ = AutoDFF() if self.learner is None else copy.deepcopy(self.learner)
        self.mistakes_ = 0
        table = Table(frame)
        items = rows(table)
        best = _Best(table, items, labels)
        self._teach(self._teacher(table, items, labels), items, best)
        self.model_ = simplify(best.model)
        self.records_ = np.zeros((len(self.model_.clauses) + 1, len(self.classes_)), dtype=np.intp)
        np.add.at(self.records_, (best.clauses(self.model_), codes), 1)
        return self

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

    def explain(self, X: Any) -> list[Answer]:
        """For every row: its label, the clause that gives it, and the example of that clause.

        An example is a row of the training table: a mapping from column to value, with the number
        of the row as `identity`.
        """
        clauses = self._clauses(X)
        said = answers(self.model_)
        return [said[number] for number in clauses]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def _teach(self, teacher: Teacher, items: Sequence[Item], best: _Best) -> None:
        """Pass by pass, until a pass has no mistake."""
        order, said = np.random.default_rng(self.random_state), time.monotonic()
        step = -(-len(items) // _LOOKS)
        for number in range(1, self.passes + 1):
            shuffled = [items[n] for n in order.permutation(len(items))]
            before = self.mistakes_
            for start in range(0, len(items), step):
                lesson = teach(self.learner_, teacher, shuffled[start : start + step])
                self.mistakes_ += lesson.mistakes
                if lesson.mistakes or not start:
                    best.offer(self.learner_.model)
                if time.monotonic() - said > _OFTEN:
                    said = time.monotonic()
                    LOG.info("%d of %d rows of this pass; %s", start + step, len(items), best)
            mistakes = self.mistakes_ - before
            LOG.info("pass %d: %d mistakes; %s", number, mistakes, best)
            if not mistakes:
                break

    def _teacher(self, table: Table, items: Sequence[Item], labels: Sequence[Label]) -> Teacher:
        if self.teacher is None:
            return Thresholds(table, labels)
        if isinstance(self.teacher, Teacher):
            return self.teacher
        return self.teacher(items, labels)

    def _clauses(self, X: Any) -> npt.NDArray[np.uint32]:
        """The number of the first clause that covers each row, from 0."""
        check_is_fitted(self)
        table = Table(self._read(X, reset=False))
        return clause_numbers(list(self.model_), table.truth, len(table))

    def _read(self, X: Any, *, reset: bool) -> pl.DataFrame:
        """Numbers and texts; with `reset` the columns are new, else as those known."""
        cells = _with_texts(X)
        texts = [] if reset else self._are_texts
        if cells is None and not any(texts):
            options = {"dtype": np.float64, "ensure_all_finite": "allow-nan"}
            X = validate_data(self, X, reset=reset, **options)
            self._are_texts = [False] * self.n_features_in_
            return pl.DataFrame(X, schema=self._names())
        validate_data(self, X, reset=reset, skip_check_array=True)
        columns = (np.array(X, dtype=object) if cells is None else cells).T.tolist()
        texts = texts or [any(isinstance(cell, str) for cell in one) for one in columns]
        self._are_texts = texts
        return pl.DataFrame(list(map(_column, self._names(), columns, texts)))

    def _names(self) -> list[str]:
        named = getattr(self, "feature_names_in_", None)
        return [f"x{n}" for n in range(self.n_features_in_)] if named is None else named.tolist()


class _Best:
    """The best list offered: the fewest rows with a wrong label, then the shortest, the latest.
    The list that always says the most frequent label is the first."""

    def __init__(self, table: Table, items: Sequence[Item], labels: Sequence[Label]) -> None:
        self.table, self.labels = table, np.array(labels, dtype=object)
        self.score = (len(labels) + 1, 0)
        [(label, _)] = Counter(labels).most_common(1)
        self.offer(DecisionList((), Clause((), label, items[labels.index(label)])))

    def __str__(self) -> str:
        wrong, rules = self.score
        return f"the best list has {rules} rules and is wrong on {wrong} of {len(self.labels)} rows"

    def clauses(self, model: DecisionList) -> npt.NDArray[np.uint32]:
        """The number of the first clause of `model` that covers each row, from 0."""
        return clause_numbers(list(model), self.table.truth, len(self.table))

    def offer(self, model: DecisionList) -> None:
        said = np.array([clause.label for clause in model], dtype=object)
        wrong = int(np.count_nonzero(said[self.clauses(model)] != self.labels))
        score = (wrong, len(model.clauses))
        if score <= self.score:
            self.score, self.model = score, model


def _parameters(learner: Learner | None) -> dict[str, Any]:
    """What a learner of ours was made with."""
    if not isinstance(learner, BaseLearner):
        return {}
    return {**learner.parameters(), "holds": learner.holds, "remember": learner.remember}


def rows(table: Table) -> list[Row]:
    """The rows of a table as items that do not need it."""
    cells = table.frame(table.columns).iter_rows(named=True)
    return [Row(place, values) for place, values in enumerate(cells)]


def _with_texts(X: Any) -> npt.NDArray[np.object_] | None:
    """The cells of a table that has texts in it; None for any other."""
    if hasattr(X, "select_dtypes") and len(X.select_dtypes("number").columns) < X.shape[1]:
        # of pandas, which has several signs for unknown
        X = X.astype(object).where(X.notna(), None)
    try:
        cells = np.asarray(X, dtype=object if isinstance(X, list | tuple) else None)
    except ValueError:
        return None  # no table; scikit-learn says so
    found = cells.ndim == 2 and cells.dtype.kind in "OU"
    return cells if found and any(isinstance(cell, str) for cell in cells.flat) else None


def _column(name: str, cells: Sequence[Any], is_text: bool) -> pl.Series:
    """A column of texts, or one of numbers."""
    known = [None if cell is None or cell != cell else cell for cell in cells]
    for place, cell in enumerate(known):
        fits = isinstance(cell, str) if is_text else isinstance(cell, Real | np.bool_)
        if cell is not None and not fits:
            raise ParameterError(
                f"column {name!r} holds {'texts' if is_text else 'numbers'}, and in row {place}"
                f" there is {cell!r} ({type(cell).__name__}). Make it all numbers or all texts, the"
                " same in fit and predict"
            )
    if is_text:
        return pl.Series(name, known, dtype=pl.String)
    return pl.Series(name, [None if cell is None else float(cell) for cell in known], pl.Float64)


class Thresholds:
    """Name the threshold, or the text, that tells two labels apart best, as `teachers.Informed`
    would.

    Parameters
    ----------
    table, labels
        The table, and the label of each row. Items have the number of their row as `identity`.
    cuts : int, default=32
        Thresholds a column, at most: round numbers between values next to each other, evenly
        spread. In a column of texts, the most frequent texts.

    >>> table = Table({"size": [1.0, 2.0, 8.0], "age": [5.0, 6.0, 5.0]})
    >>> items, teacher = rows(table), Thresholds(table, ["ant", "ant", "bear"])
    >>> str(teacher.answer(items[2], Guess("ant", items[0])).feature)
    'size > 5'
    """

    def __init__(self, table: Table, labels: Sequence[Label], *, cuts: int = 32) -> None:
        self.labels = labels
        self.columns = table.frame(table.columns).get_columns()
        self.features: list[Feature] = []
        for column in self.columns:
            if column.dtype == pl.String:
                self.features += [Column(column.name, text) for text in _frequent(column, cuts)]
            else:
                self.features += [Above(column.name, cut) for cut in _cuts(column, cuts)]
        held = [table.truth(feature) for feature in self.features]
        self.packed = np.array(held, dtype=np.uint64).reshape(len(held), words_for(len(table)))
        """Which features hold on which rows, as in `Table.truth`."""
        self.shares = {label: self._share(label) for label in dict.fromkeys(labels)}

    def _share(self, label: Label) -> Any:
        """On which share of the rows of a label each feature holds."""
        mine = pack(one == label for one in self.labels)
        found = np.bitwise_count(self.packed & mine).sum(axis=1, dtype=np.int64)
        return found / int(np.bitwise_count(mine).sum())

    def _holds(self, row: int) -> npt.NDArray[np.bool_]:
        """Which of the features hold on a row."""
        found: npt.NDArray[np.bool_] = self.packed[:, row // 64] >> np.uint64(row % 64) & 1 == 1
        return found

    def answer(self, item: Item, guess: Guess) -> Correction | None:
        """The truth about `item`, with the most telling threshold."""
        label = self.labels[item.identity]
        if guess.label == label:
            return None
        if guess.label is None:
            return Correction(label)
        return Correction(label, self._telling(item.identity, guess.example.identity))

    def _telling(self, item: int, example: int) -> Feature | None:
        here, there = self._holds(item), self._holds(example)
        gain = self.shares[self.labels[item]] - self.shares[self.labels[example]]
        score = np.where(here == there, -np.inf, np.where(here, gain, -gain))
        if len(score) and score.max() > -np.inf:
            best = int(score.argmax())
            return self.features[best] if here[best] else _opposite(self.features[best])
        return self._any_difference(item, example)

    def _any_difference(self, item: int, example: int) -> Feature | None:
        """Some difference between two rows that no cut lies between."""
        for column in self.columns:
            mine, shown, name = column[item], column[example], column.name
            if column.dtype == pl.String and mine != shown:
                return _opposite(Column(name, shown)) if mine is None else Column(name, mine)
            if mine is not None and shown is not None and mine != shown:
                return Above(name, shown) if mine > shown else _opposite(Above(name, mine))
        return None


def _opposite(feature: Feature) -> Feature:
    made: Feature = Not(feature)
    return made


def _cuts(column: pl.Series, most: int) -> list[float]:
    """Round numbers between values next to each other, at most `most`, evenly spread over the
    rows."""
    values = np.sort(column.drop_nulls().cast(pl.Float64).to_numpy())
    if len(values) > 4 * most:
        values = values[np.linspace(0, len(values) - 1, 4 * most).astype(np.int64)]
    values = np.unique(values)
    pairs = np.column_stack([values[:-1], values[1:]])
    if len(pairs) > most:
        pairs = pairs[np.linspace(0, len(pairs) - 1, most).astype(np.int64)]
    return [between(low, high) for low, high in pairs.tolist()]


def _frequent(column: pl.Series, most: int) -> list[str]:
    """The texts that occur most often, at most `most`; the first of equals."""
    return [text for text, _ in Counter(column.drop_nulls().to_list()).most_common(most)]
