"""Representations: what is legal, and what is said of the rest."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from representations import FEATURES, corners, quick
from tellapart.errors import ParameterError
from tellapart.features import Not
from tellapart.model import Literal, truth
from tellapart.theory import (
    Component,
    Representation,
)

# -- legality


def legal_by_definition(
    representation: Representation, items: list[frozenset[str]], labels: list[str] | None
) -> bool:
    """The definition of the paper's Section 2, word by word."""
    groups = [
        [x for x in items if part.contains(x, representation.reading)]
        for part in representation.components
    ]
    for x in items:
        if not any(x in group for group in groups):
            return False
    for i, j in product(range(representation.m), repeat=2):
        if representation.components[i].label != representation.components[j].label:
            feature = representation.separator(i, j)
            if feature is None:
                return False
            if not all(truth(feature, x) for x in groups[i]):
                return False
            if any(truth(feature, x) for x in groups[j]):
                return False
    return labels is None or all(
        representation.label(x) == y for x, y in zip(items, labels, strict=True)
    )


@st.composite
def dubious(draw: st.DrawFn) -> Representation:
    """Components and separators that may or may not fit together."""
    literal = st.builds(Literal, st.sampled_from(FEATURES[:3]), st.booleans())
    component = st.builds(
        Component, st.sampled_from("xy"), st.lists(literal, max_size=3).map(tuple)
    )
    parts = draw(st.lists(component, min_size=1, max_size=4))
    number = st.integers(0, len(parts) - 1)
    feature = st.sampled_from(["a", "b", "c", Not("a"), Not("b")])
    separators = draw(st.dictionaries(st.tuples(number, number), feature, max_size=4))
    return Representation(tuple(parts), separators)


@pytest.mark.slow
@settings(quick, max_examples=150)
@given(dubious(), st.lists(st.sampled_from(corners(3)), max_size=6), st.data())
def test_check_agrees_with_the_definition(
    representation: Representation, items: list[frozenset[str]], data: st.DataObject
) -> None:
    labels = data.draw(
        st.none() | st.lists(st.sampled_from("xy"), min_size=len(items), max_size=len(items))
    )
    legality = representation.check(items, labels)
    assert legality.legal == legal_by_definition(representation, items, labels)
    for failure in legality.failures:
        if failure.feature is None:
            continue
        i, j = failure.components
        inside = [part.contains(failure.item) for part in representation.components]
        held = truth(failure.feature, failure.item)
        assert failure.feature == representation.separator(i, j)
        assert (inside[i] and not held) or (inside[j] and held)
        assert repr(failure.item) in failure.reason
    if labels is not None:
        assert list(legality.exceptions) == representation.exceptions(items, labels)
        again = representation.check(items, labels, allow_exceptions=True)
        assert again.legal == legal_by_definition(representation, items, None)


@pytest.mark.slow
@quick
@given(dubious())
def test_check_without_items_asks_for_a_feature_for_every_pair(
    representation: Representation,
) -> None:
    pairs = combinations(range(representation.m), 2)
    parts = representation.components
    missing = [
        (i, j)
        for i, j in pairs
        if parts[i].label != parts[j].label and representation.separator(i, j) is None
    ]
    assert [failure.components for failure in representation.check().failures] == missing


def test_a_report_names_the_pair_the_feature_and_the_item() -> None:
    birds = Component("bird", (Literal("feathers"),))
    fish = Component("fish", (Literal("feathers", False),))
    odd = Representation((birds, fish), {(0, 1): "flies"})
    penguin = frozenset({"feathers"})
    legality = odd.check([penguin, frozenset({"flies", "feathers"})], ["bird", "fish"])
    assert not legality
    assert legality.exceptions == (1,)
    wrong, impure = legality.failures
    assert (wrong.components, wrong.feature, wrong.item) == ((0, 1), "flies", penguin)
    assert "'flies' was to separate 0 (bird: feathers) from 1 (fish: not feathers)" in str(legality)
    assert impure.components == (0,)
    assert "is 'fish' but lies in component 0 (bird: feathers)" in str(legality)
    assert str(legality).startswith("not legal: 2 failures, 1 exception\n- ")


def test_a_report_names_items_that_lie_nowhere_and_separators_of_nothing() -> None:
    birds = Representation((Component("bird", (Literal("feathers"),)),), {(0, 3): "fins"})
    legality = birds.check([frozenset({"milk"})])
    assert [f.item for f in legality.failures] == [None, frozenset({"milk"})]
    assert "separators[(0, 3)] names a component that is not there" in str(legality)
    assert "lies in no component" in str(legality)
    many = Representation(()).check([frozenset({n}) for n in range(30)])
    assert len(many.failures) == 30
    assert str(many).endswith("- and 10 more")


def test_both_directions_are_checked_when_both_are_given() -> None:
    parts = (Component("x", (Literal("a"),)), Component("y", (Literal("a", False),)))
    both = Representation(parts, {(0, 1): "a", (1, 0): "b"})
    assert both.check([frozenset("a"), frozenset("b")])
    (failure,) = both.check([frozenset("ab"), frozenset("b")]).failures
    assert (failure.components, failure.feature, failure.item) == ((1, 0), "b", frozenset("ab"))


def test_an_item_in_two_components_of_different_labels_is_an_offence() -> None:
    overlapping = Representation(
        (Component("x", (Literal("a"),)), Component("y", (Literal("b"),))), {(0, 1): "a"}
    )
    assert overlapping.check([frozenset("a"), frozenset("b")])
    assert overlapping.check([frozenset("ab")]).failures[0].item == frozenset("ab")


@pytest.mark.parametrize(
    ("items", "labels"), [(None, ["x"]), ([frozenset()], []), ([], ["x"])], ids=str
)
def test_check_wants_a_label_for_every_item(items: object, labels: list[str]) -> None:
    with pytest.raises(ParameterError, match="give"):
        Representation((Component("x"),)).check(items, labels)
