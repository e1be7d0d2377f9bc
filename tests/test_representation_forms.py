"""Representations from DNFs and trees, and back."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from representations import corners, dnfs, quick, trees
from tellapart import codec
from tellapart.errors import FeatureError, ParameterError
from tellapart.features import Above, Is, Named, Not
from tellapart.model import Literal
from tellapart.theory import (
    Component,
    Representation,
    Split,
    from_dnf,
    from_sklearn,
    from_tree,
    to_dnf,
)

# -- separable DNFs


@quick
@given(dnfs(4))
def test_to_a_dnf_and_back_keeps_every_label(representation: Representation) -> None:
    dnf = to_dnf(representation)
    assert sum(len(terms) for terms in dnf.values()) == representation.m
    back = from_dnf(dnf)
    assert back.check()
    by_label: dict[object, int] = {}
    for item in corners(4):
        label = representation.label(item)
        if label is not None:
            assert back.label(item) == label
            by_label[label] = by_label.get(label, 0) + 1
    for one, other in combinations(dnf, 2):
        for term, against in product(dnf[one], dnf[other]):
            assert any(Literal(f, not wanted) in against for f, wanted in term)


def test_components_that_are_any_sets_become_terms_of_their_separators() -> None:
    small = Component("small", (Literal(Named("few", lambda x: len(x) <= 1)),))
    large = Component("large", (Literal(Named("many", lambda x: len(x) > 1)),))
    odd = Component("odd", (Literal(Is(frozenset("d"))),))
    given = Representation((small, large, odd), {(0, 1): Not("a"), (2, 0): "d", (2, 1): "d"})
    items = [frozenset(), frozenset("b"), frozenset("ab"), frozenset("d")]
    dnf = to_dnf(given)
    assert dnf["small"] == ((Literal("a", False), Literal("d", False)),)
    assert dnf["large"] == ((Literal("a"), Literal("d", False)),)
    assert [from_dnf(dnf).label(item) for item in items] == ["small", "small", "large", "odd"]


def test_two_separators_of_one_pair_still_clash() -> None:
    both = Representation((Component("x"), Component("y")), {(0, 1): "a", (1, 0): "b"})
    assert to_dnf(both) == {"x": ((Literal("a"),),), "y": ((Literal("a", False),),)}


def test_what_is_no_separable_dnf_is_refused_by_name() -> None:
    with pytest.raises(ParameterError, match=r"the terms 'x: a and not b' and 'y: c' do not clash"):
        from_dnf({"x": [["a", Not("b")]], "y": [["b"], ["c"]]})
    with pytest.raises(ParameterError, match=r"write \['feathers'\]"):
        from_dnf({"bird": ["feathers"]})
    with pytest.raises(ParameterError, match=r"separates component 0 \(x: everything\)"):
        to_dnf(Representation((Component("x"), Component("y"))))


# -- trees


def walk(tree: object, item: frozenset[str]) -> object:
    while isinstance(tree, Split):
        tree = tree.yes if tree.feature in item else tree.no
    return tree


@quick
@given(trees(4))
def test_a_tree_and_its_representation_say_the_same(tree: object) -> None:
    representation = from_tree(tree)
    labels = [walk(tree, item) for item in corners(4)]
    assert representation.check(corners(4), labels)
    for item in corners(4):
        inside = [part.contains(item) for part in representation.components]
        assert Counter(inside)[True] == 1


def test_leaves_are_separated_where_their_ways_part() -> None:
    tree = Split("a", Split("b", "x", Split("c", "y", "x")), Split("b", "y", "z"))
    made = from_tree(tree)
    names = ["x: a and b", "y: a and not b and c", "x: a and not b and not c"]
    assert list(map(str, made.components)) == [*names, "y: not a and b", "z: not a and not b"]
    assert made.separator(0, 1) == "b"
    assert made.separator(1, 2) == "c"
    assert made.separator(1, 3) == "a"
    assert made.separator(4, 0) == Not("a")
    assert from_tree(Split(Not("a"), "x", "y")).components[1] == Component(
        "x", (Literal("a", False),)
    )
    assert from_tree("only").components == (Component("only"),)


def test_a_feature_asked_twice_leaves_out_what_cannot_be() -> None:
    made = from_tree(Split("a", Split("a", "x", "never"), Split("a", "never", "y")))
    assert list(map(str, made.components)) == ["x: a", "y: not a"]


@pytest.mark.slow
def test_a_deep_tree_is_no_trouble() -> None:
    tree: object = "last"
    for n in range(1100):
        tree = Split(n, f"y{n % 2}", tree)
    made = from_tree(tree)
    assert made.m == 1101
    assert made.components[-1].contains(frozenset())
    assert made.separator(1100, 0) == Not(1099)


floats32 = st.floats(width=32, min_value=-1e6, max_value=1e6)


@pytest.mark.slow
@settings(quick, max_examples=40)
@given(
    st.lists(st.tuples(floats32, floats32, st.booleans()), min_size=2, max_size=12),
    st.data(),
)
def test_a_fitted_tree_is_read_exactly(
    rows: list[tuple[float, float, bool]], data: st.DataObject
) -> None:
    import numpy as np
    from sklearn.tree import DecisionTreeClassifier

    answers = data.draw(
        st.lists(st.sampled_from(["p", "q", "r"]), min_size=len(rows), max_size=len(rows))
    )
    model = DecisionTreeClassifier(random_state=0).fit(rows, answers)
    names = ["width", "height", "wet"]
    representation = from_sklearn(model, names, booleans=["wet"])
    probes = [list(row) for row in rows]
    for node in range(model.tree_.node_count):
        column = model.tree_.feature[node]
        if column >= 0:
            # 64-bit neighbours of where the rounding to 32 bits changes sides
            low = np.float32(model.tree_.threshold[node])
            for a in (low, np.nextafter(low, np.float32("-inf"))):
                middle = (float(a) + float(np.nextafter(a, np.float32("inf")))) / 2
                for value in (middle, *(np.nextafter(middle, s) for s in (-np.inf, np.inf))):
                    probe = list(rows[0])
                    if names[column] != "wet":
                        probe[column] = float(value)
                        probes.append(probe)
    said = model.predict(np.array(probes, dtype=np.float64))
    items = [dict(zip(names, probe, strict=True)) for probe in probes]
    assert [representation.label(item) for item in items] == said.tolist()
    assert representation.check(items)


def test_a_fitted_tree_has_names_and_plain_booleans() -> None:
    import numpy as np
    from sklearn.tree import DecisionTreeClassifier

    rows = np.array([[1, 2], [1, 0], [1, 4], [0, 4], [0, 0]])
    answers = np.array([1, 1, 1, 2, 3])
    model = DecisionTreeClassifier(random_state=0).fit(rows, answers)
    model.feature_names_in_ = np.array(["wings", "legs"], dtype=object)  # as from a data frame
    bird, mammal, fish = from_sklearn(model, booleans=["wings"]).components
    assert bird == Component(1, (Literal("wings"),))
    assert type(bird.label) is int
    above = mammal.literals[1].feature
    assert fish.literals == (Literal("wings", False), Literal(above, False))
    assert isinstance(above, Above)
    assert (above.name, str(above)) == ("legs", "legs > 2")
    plain = from_sklearn(model).components[0].literals[0].feature
    assert str(plain) == "wings > 0.5"


def test_what_is_no_fitted_tree_is_refused() -> None:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    rows = [[0.0, 1.0], [5.0, 1.0], [9.0, 1.0]]
    fitted = DecisionTreeClassifier(random_state=0).fit(rows, [0, 1, 0])
    for model in (DecisionTreeClassifier(), DecisionTreeRegressor().fit(rows, [0, 1, 0]), "tree"):
        with pytest.raises(ParameterError, match="expected a fitted DecisionTreeClassifier"):
            from_sklearn(model, ["a", "b"])
    with pytest.raises(ParameterError, match="give names="):
        from_sklearn(fitted)
    with pytest.raises(ParameterError, match="has 2 columns, got 1 names"):
        from_sklearn(fitted, ["a"])
    with pytest.raises(ParameterError, match="'a' is in booleans, but the tree splits it at"):
        from_sklearn(fitted, ["a", "b"], booleans=["a"])
    both = DecisionTreeClassifier(random_state=0).fit(rows, [[0, 1], [1, 0], [0, 0]])
    with pytest.raises(ParameterError):
        from_sklearn(both, ["a", "b"])


def test_above_is_written_and_read_back_exactly() -> None:
    for threshold in (0.1, 2.5000001192092896, math.inf, 3):
        feature = Above("legs", threshold)
        again = codec.decode(json.loads(json.dumps(codec.encode(feature))))
        assert again == feature
        assert hash(again) == hash(feature)
        assert again.threshold == threshold
    assert Above("legs", 2) != Above("legs", 3)
    assert Above("legs", 2) != Above("arms", 2)
    assert not Above("legs", 2)({"legs": math.nan})
    assert not Above("legs", 2)({"legs": "four"})
    for item in ({"legs": [4]}, {"legs"}):
        with pytest.raises(FeatureError, match="cannot tell whether legs > 2 on"):
            Above("legs", 2)(item)
