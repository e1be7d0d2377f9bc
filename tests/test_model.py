"""Decision lists: the index finds what a plain loop finds; JSON gives back what was written."""

import copy
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellapart as ta
from tellapart.errors import FeatureError, FormatError
from tellapart.model import FirstMatch

NAMES = "abcdef"
quick = settings(max_examples=100, deadline=None, derandomize=True)


def has_a(item):
    return ta.model.holds("a", item)


def another_reading(feature, item):
    return ta.model.holds(feature, item)


def features():
    plain = st.sampled_from(NAMES)
    named = st.just(ta.features.Named("has_a", has_a))
    return st.recursive(
        plain | named,
        lambda inner: (
            inner.map(ta.Not)
            | st.lists(inner, min_size=1, max_size=3).map(lambda fs: ta.And(*fs))
            | st.lists(inner, min_size=1, max_size=3).map(lambda fs: ta.Or(*fs))
            | st.builds(
                ta.features.Points, st.dictionaries(inner, st.integers(-3, 3)), st.integers(-2, 4)
            )
        ),
        max_leaves=4,
    )


def literals():
    return st.builds(ta.Literal, features(), st.booleans())


def models():
    clause = st.builds(
        ta.Clause,
        st.lists(literals(), max_size=4).map(tuple),
        st.sampled_from("XYZ"),
        st.frozensets(st.sampled_from(NAMES)),
        st.integers(0, 99) | st.none() | st.text(max_size=3),
    )
    return st.builds(
        lambda clauses, default: ta.DecisionList(tuple(clauses), default),
        st.lists(clause, max_size=6),
        st.builds(ta.Clause, st.just(()), st.sampled_from("XYZ")),
    )


def naive_match(model, item):
    for clause in model.clauses:
        if clause.covers(item, model.reading):
            return clause
    return model.default


@pytest.mark.slow
@given(models(), st.frozensets(st.sampled_from(NAMES)))
@quick
def test_the_index_finds_what_a_loop_finds(model, item):
    expected = naive_match(model, item)
    readings = [item, set(item), {name: name in item for name in NAMES}]
    for same in readings:
        assert model.match(same) == expected
    custom = ta.DecisionList(model.clauses, model.default, another_reading)
    assert custom.match(item) == expected


@pytest.mark.slow
@given(models())
@quick
def test_a_model_file_reads_back_exactly(model):
    text = model.to_json()
    again = ta.DecisionList.from_json(text, features={"has_a": has_a})
    assert again == model
    assert again.to_json() == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "[" * 10_000,
        '{"tellapart":"learner","format":1}',
        '{"tellapart":"model","format":1}',
        '{"tellapart":"model","format":2,"clauses":[]}',
        '{"tellapart":"model","format":1,"clauses":[{"if":3}],"default":{}}',
        '{"tellapart":"model","format":1,"clauses":[],"default":{"if":[[{"$x":1},true]]}}',
        '{"tellapart":"model","format":1,"clauses":[],"default":{"if":[[{".sql":["a",{}]},true]],'
        '"label":"x","example":null,"origin":null}}',
        '{"tellapart":"model","format":1,"clauses":[],"default":{"if":[["a",1]],"label":"x",'
        '"example":null,"origin":null}}',
        '{"tellapart":"model","format":1,"clauses":[],"default":{"if":[],"label":["x"],'
        '"example":null,"origin":null}}',
    ],
)
def test_a_damaged_model_file_is_refused(text):
    with pytest.raises(FormatError):
        ta.DecisionList.from_json(text)


def test_a_named_function_must_be_brought_along():
    model = ta.DecisionList((ta.Clause((ta.Literal(ta.features.Named("has_a", has_a)),), "X"),))
    with pytest.raises(FormatError, match="has_a"):
        ta.DecisionList.from_json(model.to_json())


def test_a_bare_function_cannot_be_written():
    model = ta.DecisionList((ta.Clause((ta.Literal(has_a),), "X"),))
    with pytest.raises(FormatError, match="Named"):
        model.to_json()


@pytest.mark.parametrize("item", ["feathers", ["feathers"], ("feathers",), 7, None])
def test_items_that_cannot_be_read_say_so(item):
    with pytest.raises(FeatureError, match="mappings or sets"):
        ta.model.holds("feathers", item)
    model = ta.DecisionList((ta.Clause((ta.Literal("feathers"),), "bird"),))
    with pytest.raises(FeatureError, match="mappings or sets"):
        model.match(item)


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from(["add", "extend", "remove"]), literals()), max_size=30))
@quick
def test_an_index_that_grows_and_shrinks(steps):
    index, rules = FirstMatch(), []
    for step, literal in steps:
        if step == "add":
            assert index.append([literal]) == len(rules)
            rules.append([literal])
        elif rules and step == "extend":
            index.require(len(rules) // 2, literal)
            if rules[len(rules) // 2] is not None:
                rules[len(rules) // 2].append(literal)
        elif rules:
            index.remove(len(rules) // 3)
            rules[len(rules) // 3] = None
    for item in (frozenset("ab"), frozenset("f"), frozenset()):
        expected = next(
            (
                slot
                for slot, literals in enumerate(rules)
                if literals is not None and ta.Clause(tuple(literals), "X").covers(item)
            ),
            None,
        )
        assert index.first(item) == expected


@pytest.mark.slow
@given(features(), features())
@quick
def test_combinations_are_compared_by_what_they_say(one, two):
    assert ta.And(one, two) == ta.And(two, one, one)
    assert hash(ta.Or(one, two)) == hash(ta.Or(two, one))
    assert str(ta.Or(one, two)) == str(ta.Or(two, one))
    assert ta.Not(ta.Not(one)) == one
    assert ta.And(one, ta.And(two)) == ta.And(one, two)
    for feature in (one, ta.Not(one), ta.And(one, two), ta.Or(one, two)):
        assert copy.deepcopy(feature) == feature
        assert pickle.loads(pickle.dumps(feature)) == feature


@pytest.mark.slow
@given(features(), st.frozensets(st.sampled_from(NAMES)))
@quick
def test_combinations_hold_as_logic_says(feature, item):
    held = ta.model.holds(feature, item)
    assert ta.Not(feature) == feature.feature if isinstance(feature, ta.Not) else True
    assert ta.model.holds(ta.Not(feature), item) == (not held)
    assert ta.model.holds(ta.And(feature, "a"), item) == (held and "a" in item)
    assert ta.model.holds(ta.Or(feature, "a"), item) == (held or "a" in item)


def test_columns_are_compared_with_their_type():
    assert ta.features.Column("legs", 1) != ta.features.Column("legs", True)
    assert ta.features.Column("legs", 4)({"legs": 4})
    assert not ta.features.Column("legs", 4)({})


def test_a_custom_reading_reaches_into_combinations():
    def bit(feature, item):
        return bool(item >> feature & 1)

    learner = ta.CappedDFF(2, holds=bit)
    learner.learn(0b00, learner.guess(0b00), ta.Correction("zero"))
    learner.learn(0b11, learner.guess(0b11), ta.Correction("three", ta.And(0, 1)))
    learner.learn(0b01, learner.guess(0b01), ta.Correction("zero", ta.Not(1)))
    assert learner.guess(0b11).label == "three"
    assert learner.guess(0b01).label == "zero"
    again = ta.load_learner(learner.to_json(), holds=bit)
    assert again.to_json() == learner.to_json()
    with pytest.raises(FormatError, match="holds="):
        ta.load_learner(learner.to_json())
