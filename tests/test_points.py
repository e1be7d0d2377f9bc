"""Points: whole weights on features, written in many ways, with one meaning."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellapart as ta
from tellapart import codec
from tellapart.combinations import margin
from tellapart.errors import FeatureError, FormatError, ParameterError
from tellapart.export.feature_trees import tree_of
from tellapart.features import Above, Column, Expression, Points, parse_feature
from tellapart.features.phrasing import spoken
from tellapart.features.tree import text
from tellapart.model import Clause, DecisionList, Literal
from tellapart.worlds.zoo import say_feature

SCHEMA = {"n": "integer", "a": "bool", "b": "bool", "c": "bool", "s": "text"}
quick = settings(max_examples=200, deadline=None, derandomize=True)


def parse(written: str) -> Expression:
    return parse_feature(written, SCHEMA)


# -- the feature


def test_the_weights_of_what_holds_add_up() -> None:
    many = Points({"a": 2, "b": 1, "c": -1}, 2)
    held = [{"a"}, {"a", "c"}, {"a", "b", "c"}, {"b"}, set()]
    assert [many(item) for item in held] == [True, False, True, False, False]


def test_unknown_and_missing_count_nothing() -> None:
    many = Points({"a": 1, Column("n", 3): 1, Above("n", 2): 1, parse("s LIKE 'x%'"): 1}, 1)
    assert not many({"a": None, "n": None, "s": None})
    assert not many({})
    assert many({"n": 3})


def test_terms_have_no_order_and_add_up() -> None:
    assert Points({"a": 1, "b": 2}, 2) == Points([("b", 1), ("a", 1), ("b", 1)], 2)
    assert hash(Points({"a": 1, "b": 2}, 2)) == hash(Points({"b": 2, "a": 1}, 2))
    assert Points([("a", 1), ("a", -1), ("b", 0)], 2).terms == ()
    assert Points({"a": 1}, 1) != Points({"a": 1}, 2)
    assert Points({"a": 1}, 1) != "a"


def test_terms_come_in_one_order() -> None:
    terms = {"d": -3, "c": 1, "b": 1, "a": -1, "e": 2}
    wanted = (("e", 2), ("b", 1), ("c", 1), ("d", -3), ("a", -1))
    assert Points(terms, 1).terms == wanted
    assert Points(reversed(terms.items()), 1).terms == wanted


def test_a_negation_is_a_negative_weight() -> None:
    made = Points({"a": 2, ta.Not("b"): 1}, 3)
    assert made == Points({"a": 2, "b": -1}, 2)
    assert (made.terms, made.at_least) == ((("a", 2), ("b", -1)), 2)
    assert Points({"a": 1, ta.Not("a"): 1}, 2) == Points({}, 1)


def test_numbers_of_numpy_are_taken() -> None:
    weights: Any = {"a": np.int64(2)}
    made = Points(weights, np.int32(1))  # type: ignore[arg-type]  # taken all the same
    assert made == Points({"a": 2}, 1)
    assert codec.dump(codec.encode(made)) == '{"$points":[1,[["a",2]]]}'


@pytest.mark.parametrize(
    ("terms", "at_least", "message"),
    [
        ({"a": 1.5}, 1, "the weight of 'a' must be a whole number, got 1.5"),
        ({"a": True}, 1, "the weight of 'a' must be a whole number, got True"),
        ({"a": 1}, "2", "at_least must be a whole number, got '2'"),
        (["a", "b"], 1, "pairs"),
        (3, 1, "a mapping from feature to weight"),
        ({"a": 10**9, "b": 1}, 1, "at most 1,000,000,000 points"),
        ({"a": 1}, 10**12, "at most 1,000,000,000 points"),
    ],
)
def test_bad_weights(terms: Any, at_least: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Points(terms, at_least)


def test_it_never_changes_and_can_be_copied() -> None:
    made = Points({"a": 1, parse("n > 3"): 2}, 2)
    with pytest.raises(AttributeError):
        made.at_least = 3  # type: ignore[misc]  # what must not work
    assert copy.deepcopy(made) is made
    assert pickle.loads(pickle.dumps(made)) == made


def test_the_reading_of_a_learner_reaches_the_terms() -> None:
    made = Points({"a": 1, ta.And("b", "c"): 1}, 2)
    assert ta.model.truth(made, "ABC", lambda feature, item: feature.upper() in item)


def test_json() -> None:
    inner = Points({"b": 1, Above("n", 2.5): 3}, 2)
    made = Points({"a": 2, inner: 1, parse("n > 3"): -1, ta.Or("a", "b"): 1}, 2)
    assert codec.decode(codec.encode(made)) == made
    with pytest.raises(FormatError):
        codec.decode({"$points": [1, [["a", 1.5]]]})
    with pytest.raises(FormatError):
        codec.decode({"$points": [1]})


def test_words() -> None:
    some = Points({"a": 1, "b": 1, "c": 1}, 2)
    assert str(some) == "at least 2 of (a, b, c)"
    assert spoken(some, False) == "fewer than 2 of (a, b, c)"
    assert str(ta.And(some, "d")) == "at least 2 of (a, b, c) and d"
    weighed = Points({parse("n IN (2, 4)"): 2, "b": -1}, 1)
    assert spoken(weighed) == "at least 1 point (2 for n is 2 or 4, minus 1 for b)"
    assert spoken(Points({"a": -1, "b": -2}, -1)) == "fewer than 2 points (2 for b, 1 for a)"
    assert (
        say_feature(Points({"milk": 1, "hair": 1}, 1))
        == "meets at least 1 of (has hair, gives milk)"
    )
    assert say_feature(Points({"milk": 2, "hair": 1}, 2), False) == (
        "has fewer than 2 points (2 for gives milk, 1 for has hair)"
    )
    model = ta.DecisionList(
        (ta.Clause((ta.Literal(some), ta.Literal(weighed, False)), "yes"),), ta.Clause((), "no")
    )
    assert ta.export.sentences(model)[0] == (
        "It is: yes, if at least 2 of (a, b, c),"
        " unless at least 1 point (2 for n is 2 or 4, minus 1 for b)."
    )
    assert "at least 2 of (a, b, c)" in ta.export.to_text(model)


def test_export_writes_a_sum() -> None:
    made = Points({parse("n >= 15"): 2, "a": 1, Column("s", "x"): -1}, 2)
    model = ta.DecisionList((ta.Clause((ta.Literal(made),), "yes"),), ta.Clause((), "no"))
    assert [line.strip() for line in ta.to_sql(model).splitlines()[2:7]] == [
        "WHEN CASE WHEN n >= 15 THEN 2 ELSE 0 END",
        "+ CASE WHEN a THEN 1 ELSE 0 END",
        "+ CASE WHEN s = 'x' THEN -1 ELSE 0 END",
        ">= 2",
        "THEN 'yes'",
    ]
    program: dict[str, Any] = {}
    exec(ta.export.to_python(model), program)
    items: list[dict[str, Any]] = [
        {}, {"n": 15}, {"n": 15, "s": "x"}, {"n": 15, "s": "x", "a": True}, {"n": None, "a": True},
    ]  # fmt: skip
    wanted = ["no", "yes", "no", "yes", "no"]
    assert [program["predict"](item) for item in items] == model.predict(items) == wanted


@pytest.mark.slow
def test_long_sums(needs: Any) -> None:
    import polars as pl

    import sql_engines

    needs("duckdb")
    names = [f"c{n}" for n in range(1500)]
    made = Points(dict.fromkeys(names, 2), 2998)
    model = ta.DecisionList((ta.Clause((ta.Literal(made),), "yes"),), ta.Clause((), "no"))
    rows = pl.DataFrame({name: [True, n > 1, n > 0] for n, name in enumerate(names)})
    wanted = ["yes", "no", "yes"]
    for dialect, run in (("duckdb", sql_engines.duckdb), ("sqlite", sql_engines.sqlite)):
        assert run(rows, [ta.to_sql(model, dialect)]) == [wanted]
    program: dict[str, Any] = {}
    exec(ta.export.to_python(model), program)
    assert [program["predict"](item) for item in rows.to_dicts()] == wanted
    assert list(ta.columns.predict(model, ta.Table(rows))) == wanted


# -- the language


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("2 * (n >= 15) + (s = 'x') + c >= 3", "at_least(3, 2 * (n >= 15), c, s = 'x')"),
        ("at_least(2, c, b, a)", "at_least(2, a, b, c)"),
        ("AT_LEAST(2, a, n > 1 AND b, NOT c)", "at_least(2, NOT c, a, b AND n > 1)"),
        ("at_least(3, 2 * (n > 1), -a, b * 2)", "at_least(3, 2 * b, 2 * (n > 1), -a)"),
        ("a + b + c > 1", "at_least(2, a, b, c)"),
        ("2 <= a + (b) + c", "at_least(2, a, b, c)"),
        ("a + b + c <= 1", "NOT at_least(2, a, b, c)"),
        ("NOT (a + b + c < 2)", "at_least(2, a, b, c)"),
        ("-a - b >= -1", "NOT at_least(2, a, b)"),
        ("a + b > c", "at_least(1, a, b, -c)"),
        ("2 * (a + b) - c + 1 >= 3 + b", "at_least(2, 2 * a, b, -c)"),
        ("a - 3 * b < 1", "at_least(0, 3 * b, -a)"),
        ("at_least(2, a, a, b)", "at_least(2, 2 * a, b)"),
        ("at_least(1, (a IS TRUE), b)", "at_least(1, a, b)"),
        ("at_least(2, (a IS NOT TRUE), b)", "at_least(1, b, -a)"),
        ("b - (a IS NULL) >= 0", "at_least(1, a IS NOT NULL, b)"),
        ("at_least(1, at_least(2, a, b), NOT at_least(2, b, c))",
         "at_least(0, at_least(2, a, b), -at_least(2, b, c))"),
        ("at_least(1, a, b) IS TRUE", "at_least(1, a, b)"),
        ("NOT at_least(1, a, b) IS NOT FALSE", "NOT at_least(1, a, b)"),
        ("2 * a > 1", "at_least(2, 2 * a)"),
    ],
)  # fmt: skip
def test_every_way_of_writing_it_has_one_text(written: str, canonical: str) -> None:
    assert str(parse(written)) == canonical
    assert parse(canonical) == parse(written)


@pytest.mark.parametrize(
    ("written", "message", "spot"),
    [
        ("a >= 1", "a is a condition but 1 is a number", "a >= 1"),
        ("a + n >= 2", "n cannot be counted together with conditions", "n"),
        ("a + b > n", "n cannot be counted", "n"),
        ("a + 2.5 > 1", "2.5 cannot be counted", "2.5"),
        ("a + TRUE > 1", "TRUE cannot be counted", "TRUE"),
        ("a + b", "says nothing by itself. Compare it with a whole number", "a + b"),
        ("c AND a + b", "says nothing by itself", "a + b"),
        ("a + b IN (1, 2)", "says nothing by itself", "a + b"),
        ("coalesce(a + b, 1) > 1", "says nothing by itself", "a + b"),
        ("abs(a + b) > 1", "says nothing by itself", "a + b"),
        ("a + b = 2", "compared by <, <=, > or >=", "a + b = 2"),
        ("a + b BETWEEN 1 AND 2", "compared by <, <=, > or >=", "a + b BETWEEN 1 AND 2"),
        ("a * b > 1", "only be added up, and multiplied by whole numbers", "a * b"),
        ("1.5 * a > 1", "only be added up", "1.5 * a"),
        ("a / 2 > 1", "only be added up", "a / 2"),
        ("a - a >= 0", "no condition to count", "a - a >= 0"),
        ("at_least(2, 3)", "no condition to count", "at_least(2, 3)"),
        ("at_least(2)", "takes a whole number and conditions", "at_least(2)"),
        ("at_least(a, b)", "takes a whole number first", "a"),
        ("at_least(2, n)", "n cannot be counted", "n"),
        ("at_least(2, lower(s))", "lower(s) cannot be counted", "lower(s)"),
        ("9999999999 * a > 1", "more than 1,000,000,000 points", "9999999999 * a > 1"),
    ],
)  # fmt: skip
def test_what_is_no_sum_of_conditions(written: str, message: str, spot: str) -> None:
    with pytest.raises(FeatureError) as caught:
        parse(written)
    assert message in str(caught.value)
    first, last = caught.value.spot or (0, 0)
    assert written[first:last] == spot


def test_points_are_never_unknown() -> None:
    made = parse("at_least(1, a, n > 3)")
    assert made.value({"a": None, "n": None}) is False
    assert parse("NOT at_least(1, a, n > 3)").value({}) is True
    assert parse("at_least(1, NOT a)").value({"a": None}) is False


def conditions() -> st.SearchStrategy[str]:
    plain = st.sampled_from(["a", "b", "NOT c", "n > 3", "n = 2", "s LIKE 'x%'", "a IS NULL"])
    weights = st.integers(-3, 3)

    def counted(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        terms = st.builds("{} * ({})".format, weights, inner)
        ops = st.sampled_from([">=", ">", "<", "<="])
        return st.one_of(
            inner.map("NOT ({})".format),
            st.lists(inner, min_size=2, max_size=3).map(lambda them: f"({') OR ('.join(them)})"),
            st.builds(
                lambda them, op, bound: f"{' + '.join(them)} {op} {bound}",
                st.lists(terms, min_size=1, max_size=4), ops, st.integers(-2, 4),
            ),
            st.builds(
                lambda them, bound: f"at_least({', '.join([str(bound), *them])})",
                st.lists(inner, min_size=1, max_size=4), st.integers(-1, 4),
            ),
        )  # fmt: skip

    return st.recursive(plain, counted, max_leaves=8)


def items() -> st.SearchStrategy[dict[str, Any]]:
    truths = st.sampled_from([True, False, None])
    return st.fixed_dictionaries(
        {"a": truths, "b": truths, "c": truths, "n": st.sampled_from([2, 4, None]),
         "s": st.sampled_from(["x", "y", None])}
    )  # fmt: skip


@pytest.mark.slow
@quick
@given(conditions(), items())
def test_the_canonical_text_stays_and_says_the_same(written: str, item: dict[str, Any]) -> None:
    try:
        feature = parse(written)
    except FeatureError as error:
        if "no condition to count" in str(error):  # they cancel out
            return
        raise
    assert parse(str(feature)) == feature
    assert str(parse(str(feature))) == str(feature)
    opposite = parse(f"({feature}) IS NOT TRUE")
    assert opposite(item) is not feature(item)
    assert feature(item) is (_plainly(written, item) is True)


def _plainly(written: str, item: dict[str, Any]) -> bool | None:
    """What DuckDB's reading of the text, by hand, would be: three values, and sums of truths."""
    from sqlglot import exp, parse_one

    def value(node: exp.Expression) -> Any:
        match node:
            case exp.Paren():
                return value(node.this)
            case exp.Neg():
                return -value(node.this)
            case exp.Literal():
                return node.this if node.is_string else int(node.this)
            case exp.Column():
                return item[node.name]
            case exp.Add():
                return value(node.this) + value(node.expression)
            case exp.Mul():  # a number times a condition
                return value(node.this) * (value(node.expression) is True)
            case exp.Not():
                inner = value(node.this)
                return None if inner is None else not inner
            case exp.Or():
                sides = value(node.this), value(node.expression)
                return True if True in sides else None if None in sides else False
            case exp.Is():
                return value(node.this) is None
            case exp.Like():
                text = value(node.this)
                return None if text is None else text.startswith("x")
            case exp.Anonymous():
                first, *rest = node.expressions
                return sum(value(part) is True for part in rest) >= value(first)
        left, right = value(node.this), value(node.expression)
        if left is None:
            return None
        compare = {exp.GT: left > right, exp.GTE: left >= right, exp.LT: left < right}
        compare |= {exp.LTE: left <= right, exp.EQ: left == right}
        return compare[type(node)]

    return value(parse_one(written, dialect="duckdb"))


@quick
@given(
    st.dictionaries(st.sampled_from([*"abc", ta.Not("a"), parse("n > 3")]), st.integers(-3, 3)),
    st.integers(-3, 5),
    items(),
)
def test_the_feature_and_its_tree_say_the_same(
    terms: dict[Any, int], at_least: int, item: dict[str, Any]
) -> None:
    made = Points(terms, at_least)
    wanted = sum(weight for f, weight in terms.items() if ta.model.truth(f, item)) >= at_least
    assert made(item) is wanted
    node = tree_of(made, {})
    if made.terms:
        assert Expression(node)(item) is wanted
        assert parse(text(node)).tree == node
    assert spoken(made) != spoken(made, False)


def test_how_far_an_item_is_from_another_decision() -> None:
    """Both where points are wanted and where they are forbidden."""
    points = Points({"a": 2, "b": 1}, 2)
    for wanted in (True, False):
        model = DecisionList((Clause((Literal(points, wanted),), "x"),), Clause((), "y"))
        assert [margin(model, item) for item in (set(), {"b"}, {"a"}, {"a", "b"})] == [2, 1, 1, 2]


def test_parts_of_weight_one_are_never_said_as_points() -> None:
    """ "At least 1 point (1 for backbone, minus 1 for eggs)" is hard to read."""
    points = Points({"backbone": 1, "hair": 1, "eggs": -1}, 1)
    assert str(points) == "at least 2 of (backbone, hair, not eggs)"
    assert say_feature(points) == "meets at least 2 of (has a backbone, has hair, lays no eggs)"
    schema = {"legs": "integer", "milk": "bool", "eggs": "bool"}
    said = spoken(parse_feature("(legs >= 4) + milk - eggs >= 1", schema))
    assert said == "at least 2 of (legs >= 4, milk, not eggs)"
