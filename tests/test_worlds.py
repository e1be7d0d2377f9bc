"""Worlds are what they say, the same whenever they are made, and cost nothing until used."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellapart as ta
from tellapart.columns import bit, pack, unpack
from tellapart.errors import ParameterError

quick = settings(max_examples=40, deadline=None, derandomize=True)
MAKERS = [ta.worlds.tree, ta.worlds.dnf]


@given(
    st.sampled_from(MAKERS),
    st.integers(1, 200),
    st.integers(1, 6),
    st.sampled_from([0, 3, 0.0, 0.2, 1.0]),
    st.sampled_from(["random", "burst", "early"]),
    st.integers(0, 10**9),
)
@quick
def test_made_worlds_are_what_they_say(make, items, components, exceptions, placement, seed):
    if exceptions == 3 and items < 3:
        items = 3
    labels = 1 + seed % components
    world = make(items, 30, components, labels, exceptions, seed, placement=placement)
    representation = world.representation
    assert world.m == components == representation.m
    assert len({part.label for part in representation.components}) == labels
    odd = set(world.exceptions)
    assert world.k == len(odd)
    if exceptions == 3:
        assert world.k == 3
    for number, (row, label) in enumerate(zip(world.items, world.labels, strict=True)):
        component = representation.components[world.components[number]]
        assert component.contains(row)
        assert (component.label != label) == (number in odd)
        assert representation.label(row) == component.label
    again = make(items, 30, components, labels, exceptions, seed, placement=placement)
    assert list(again.labels) == list(world.labels)
    assert list(again.items) == list(world.items)


@pytest.mark.parametrize("make", MAKERS)
def test_bits_and_columns_agree(make):
    world = make(200, 20, 5, 3, 0.1, seed=4)
    fresh = make(200, 20, 5, 3, 0.1, seed=4)
    for name in world.features:
        column = unpack(world.truth(name), 200)
        assert column.tolist() == [fresh.columns is not None and name in row for row in fresh.items]
        assert 0.2 < column.mean() < 0.8
    negated = unpack(world.truth(ta.Not("f3")), 200)
    assert (negated != unpack(world.truth("f3"), 200)).all()


@given(st.lists(st.booleans(), max_size=200))
@quick
def test_packing(truths):
    words = pack(truths)
    assert unpack(words, len(truths)).tolist() == truths
    assert [bit(words, n) for n in range(len(truths))] == truths
    assert int(np.bitwise_count(words).sum()) == sum(truths)


def test_a_world_of_ten_million_items_and_a_million_features_costs_little():
    world = ta.worlds.tree(10_000_000, 1_000_000, 4, 2, exceptions=10, seed=1)
    assert len(world.items) == 10_000_000
    row = world.items[9_999_999]
    assert ("f999999" in row) in (True, False)
    assert len(world.bits) < world.m  # those the labels come from


def test_exceptions_never_name_a_feature_more_often_than_s():
    world = ta.worlds.tree(3000, 10, 4, 3, exceptions=200, seed=2)
    assert world.s == 20
    lesson = ta.teach(ta.RobustDFF(world.m, world.k, world.s), world.teacher(), world.items)
    odd, teacher = set(world.exceptions), world.teacher()
    named = {}
    for number, item, guess, correction in lesson.corrections:
        if number in odd and guess.example.number not in odd:
            against = teacher.component_of(guess.example)
            named.setdefault((against, correction.feature), set()).add(item)
    assert named
    assert max(map(len, named.values())) <= world.s


def test_the_same_feature_for_the_same_pair_always():
    world = ta.worlds.dnf(3000, 60, 6, 4, exceptions=100, seed=2)
    lesson = ta.teach(ta.RobustDFF(world.m, world.k, world.s), world.teacher(), world.items)
    odd, teacher, said = set(world.exceptions), world.teacher(), {}
    for number, item, guess, correction in lesson.corrections:
        if number not in odd and guess.example.number not in odd:
            pair = teacher.component_of(item), teacher.component_of(guess.example)
            assert said.setdefault(pair, correction.feature) == correction.feature
    assert len(said) > 3


BAD = [
    {"items": 0},
    {"features": 0},
    {"components": 0},
    {"labels": 0},
    {"labels": 9},
    {"items": 2.5},
    {"exceptions": -1},
    {"exceptions": 101},
    {"exceptions": 1.5},
    {"exceptions": float("nan")},
    {"exceptions": "many"},
    {"placement": "late"},
]


@pytest.mark.parametrize("wrong", BAD, ids=str)
@pytest.mark.parametrize("make", MAKERS)
def test_bad_sizes_say_what_is_allowed(make, wrong):
    sizes = {"items": 100, "features": 20, "components": 4, "labels": 2, "exceptions": 0}
    with pytest.raises(ParameterError, match="must be"):
        make(**(sizes | wrong))


def test_too_many_components_for_the_features():
    with pytest.raises(ParameterError, match="at most 4 components"):
        ta.worlds.tree(10, 2, 5, 2)
    with pytest.raises(ParameterError, match="not enough to separate"):
        ta.worlds.dnf(10, 1, 5, 5)


@pytest.mark.parametrize("m", [1, 2, 3, 5, 9])
def test_the_lower_bound_world_is_that_of_the_proof(m):
    world = ta.worlds.lower_bound(m, seed=7)
    assert len(world) == m * (m - 1) // 2
    assert world.k == 0
    for item, label in zip(world.items, world.labels, strict=True):
        inside = [c.label for c in world.representation.components if c.contains(item)]
        assert inside == [label]


def test_a_learner_of_a_world_finds_its_items_again():
    world = ta.worlds.tree(500, 40, 4, 2, 0.05, seed=1)
    learner = ta.CappedDFF(4, remember=True)
    ta.teach(learner, world.teacher(), world.items)
    again = ta.load_learner(learner.to_json(), items=world.items)
    assert again.to_json() == learner.to_json()
    with pytest.raises(ta.TellapartError, match=r"items=world\.items"):
        ta.load_learner(learner.to_json())


def test_the_zoo():
    world = ta.worlds.zoo(seed=9)
    assert len(world) == 101
    assert {str(world.items[n]) for n in world.exceptions} == {"platypus", "scorpion", "seasnake"}
    again = ta.load_learner(_taught(world).to_json())
    assert [str(c.example) for c in again.model] == [str(c.example) for c in _taught(world).model]


def _taught(world):
    learner = ta.CappedDFF(world.m)
    ta.teach(learner, world.teacher(), world.items)
    return learner


@pytest.mark.parametrize("make", [ta.worlds.tree, ta.worlds.dnf])
@pytest.mark.parametrize(
    "bad", [{"seed": "a"}, {"seed": 1.5}, {"similar": -1}, {"similar": "a"}, {"similar": 0.5}]
)
def test_seed_and_similar_are_checked(make, bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        make(50, 10, 3, 2, **{"exceptions": 3, "seed": 1, **bad})


def test_islands_are_legal_and_know_their_components() -> None:
    world = ta.worlds.islands(300, 5, seed=2)
    assert world.representation.check(world.items, world.labels).legal
    assert (world.m, world.k) == (5, 0)
    component_of = world.teacher().component_of
    assert [component_of(item) for item in world.items] == list(world.labels)


@pytest.mark.parametrize("d", [1, 2, 30])
def test_a_single_exception_explained_finds_components_quickly_and_rightly(d: int) -> None:
    world = ta.worlds.single_exception(d, explained=True)
    component_of = world.teacher().component_of
    slowly = world.representation.component
    assert [component_of(item) for item in world.items] == [slowly(item) for item in world.items]
    assert not world.exceptions
