"""tellapart inside scikit-learn and river."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import tellapart as ta
from tellapart.adapters.sklearn import Thresholds, rows
from tellapart.features import Above, Column

KNOWN_FAILURES: dict[str, str] = {}
"""Checks of scikit-learn that the classifier cannot pass, each with the reason. None so far."""


@pytest.fixture
def sklearn_classifier(needs: Any) -> Any:
    needs("scikit-learn")
    from tellapart.adapters.sklearn import DFFClassifier

    return DFFClassifier


@pytest.fixture
def river_classifier(needs: Any) -> Any:
    needs("river")
    from tellapart.adapters.river import DFFClassifier

    return DFFClassifier


@pytest.mark.slow
def test_the_checks_of_sklearn(sklearn_classifier: Any) -> None:
    from sklearn.utils.estimator_checks import check_estimator

    outcomes = check_estimator(
        sklearn_classifier(),
        expected_failed_checks=KNOWN_FAILURES,
        on_skip=None,
        on_fail=None,
    )
    failed = {o["check_name"]: o["exception"] for o in outcomes if o["status"] == "failed"}
    assert not failed
    assert sum(o["status"] == "passed" for o in outcomes) > 40
    assert {o["check_name"] for o in outcomes if o["status"] == "xfail"} == set(KNOWN_FAILURES)


@pytest.mark.slow
def test_the_checks_of_river(river_classifier: Any) -> None:
    from river import checks

    for parameters in river_classifier._unit_test_params():
        model = river_classifier(**parameters)
        done = [check(model.clone()) for check in checks.yield_checks(model)]
        assert len(done) > 40


@pytest.mark.parametrize("seed", range(5))
def test_thresholds_answer_as_an_informed_teacher(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (40, 3)).astype(np.float64)
    X[rng.random(X.shape) < 0.1] = np.nan
    labels = rng.integers(-2, 1, 40).tolist()  # -1 and -2 have the same hash
    names = ["a", "b", "c"]
    quick = Thresholds(X, labels, names)
    pairs = zip(quick.places, quick.thresholds, strict=True)
    features = [Above(names[place], threshold) for place, threshold in pairs]
    items = rows(X, names)
    slow = ta.teachers.Informed(items, labels, features)
    for n in range(40):
        example = items[rng.integers(40)]
        guess = ta.Guess(labels[example.identity], example)
        got, wanted = quick.answer(items[n], guess), slow.answer(items[n], guess)
        assert (got is None) == (wanted is None)
        if got and wanted and wanted.feature is not None:
            assert got.label == wanted.label
            assert gain(slow, got, guess) == pytest.approx(gain(slow, wanted, guess))


def gain(teacher: Any, said: Any, guess: ta.Guess) -> float:
    inner = said.feature.feature if isinstance(said.feature, ta.Not) else said.feature
    place = teacher.features.index(inner)
    telling = teacher._share[said.label][place] - teacher._share[guess.label][place]
    return -telling if isinstance(said.feature, ta.Not) else telling


def test_two_rows_that_no_cut_lies_between() -> None:
    X = np.array([[float(n)] for n in range(1000)])
    teacher = Thresholds(X, [n % 2 for n in range(1000)], ["x"], cuts=2)
    items = rows(X, ["x"])
    said = teacher.answer(items[1], ta.Guess(0, items[0]))
    assert said is not None
    assert said.feature(items[1])
    assert not said.feature(items[0])
    same = Thresholds(np.zeros((2, 1)), [0, 1], ["x"])
    answer = same.answer(rows(np.zeros((2, 1)), ["x"])[1], ta.Guess(0, rows(X, ["x"])[0]))
    assert answer == ta.Correction(1, None)


def test_what_is_learnt_can_be_exported(sklearn_classifier: Any, needs: Any) -> None:
    import polars as pl
    from sklearn.datasets import load_iris

    import sql_engines

    needs("duckdb")
    X, y = load_iris(return_X_y=True, as_frame=True)
    X.iloc[::7, 2] = np.nan
    model = sklearn_classifier().fit(X, y)
    assert model.score(X, y) > 0.95
    sql = ta.to_sql(model.model_)
    frame = pl.from_pandas(X)
    assert sql_engines.duckdb(frame, [sql]) == [model.predict(X).tolist()]
    program: dict[str, Any] = {}
    exec(ta.export.to_python(model.model_), program)
    items = frame.fill_nan(None).to_dicts()
    assert [program["predict"](item) for item in items] == model.predict(X).tolist()


def test_a_learner_and_a_teacher_of_ones_own(sklearn_classifier: Any) -> None:
    X = np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
    y = np.array(["no", "yes", "no", "yes"])
    learner = ta.CappedDFF(m=3)

    def make(items: Any, labels: Any) -> Any:
        return ta.teachers.Informed(items, labels, [Column("x0", 1.0), Column("x1", 1.0)])

    model = sklearn_classifier(learner, make).fit(X, y)
    assert model.predict(X).tolist() == y.tolist()
    assert model.model_.features == (Column("x0", 1.0),)
    assert learner.rules_created == 0  # a copy was taught
    given = sklearn_classifier(learner, make(rows(X, ["x0", "x1"]), y.tolist())).fit(X, y)
    assert given.predict(X).tolist() == y.tolist()
    again = pickle.loads(pickle.dumps(given))
    assert again.predict(X).tolist() == y.tolist()


def test_river_with_words_and_gaps(river_classifier: Any) -> None:
    model = river_classifier(ta.CappedDFF(m=5), history=20)
    assert model.predict_one({"colour": "red"}) is None
    items = [
        ({"colour": "red", "size": 3}, "stop"),
        ({"colour": "green", "size": 3}, "go"),
        ({"size": 9}, "none"),
        ({"colour": "red", "size": float("nan")}, "stop"),
    ]
    for _ in range(5):
        for x, y in items:
            model.learn_one(x, y)
    assert [model.predict_one(x) for x, _ in items] == ["stop", "go", "none", "stop"]
    assert model.predict_proba_one({"colour": "green"}) == {"stop": 0.0, "go": 1.0, "none": 0.0}
    assert "CASE" in ta.to_sql(model.model, schema={"colour": "text", "size": "number"})
