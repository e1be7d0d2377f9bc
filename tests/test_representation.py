"""Representations: legality, facts, DNFs, trees, and exceptions explained away."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellapart import codec
from tellapart.errors import FeatureError, ParameterError
from tellapart.features import Above, Is, Named, Not
from tellapart.model import Literal, truth
from tellapart.theory import (
    Component,
    Representation,
    Split,
    facts,
    from_dnf,
    from_sklearn,
    from_tree,
    to_dnf,
)

quick = settings(derandomize=True, max_examples=60, deadline=None)
FEATURES = "abcd"


def corners(d: int) -> list[frozenset[str]]:
    """All items over the first d of FEATURES; the empty one comes first."""
    return [
        frozenset(name for name, bit in zip(FEATURES, bits, strict=False) if bit)
        for bits in product((0, 1), repeat=d)
    ]


def trees(d: int, labels: str = "xyz") -> st.SearchStrategy[object]:
    leaves = st.sampled_from(labels)
    names = st.sampled_from(FEATURES[:d])
    return st.recursive(leaves, lambda below: st.builds(Split, names, below, below), max_leaves=7)


@st.composite
def dnfs(draw: st.DrawFn, d: int) -> Representation:
    """A separable DNF, grown term by term; terms of one label may overlap."""
    literals = st.dictionaries(st.sampled_from(FEATURES[:d]), st.booleans(), max_size=d)
    kept: list[Component] = []
    for _ in range(draw(st.integers(1, 6))):
        term = Component(
            draw(st.sampled_from("xyz")),
            tuple(Literal(f, wanted) for f, wanted in draw(literals).items()),
        )
        if Representation((*kept, term)).check():
            kept.append(term)
    return Representation(tuple(kept))


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
        assert repr(failure.item) in str(failure)
    if labels is not None:
        assert list(legality.exceptions) == representation.exceptions(items, labels)
        again = representation.check(items, labels, allow_exceptions=True)
        assert again.legal == legal_by_definition(representation, items, None)


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


# -- facts


@quick
@given(
    dnfs(3),
    st.lists(st.tuples(st.sampled_from(corners(3)), st.sampled_from("xyz")), max_size=10),
    st.integers(0, 3),
)
def test_facts_count_what_the_definitions_say(
    representation: Representation, pairs: list[tuple[frozenset[str], str]], variety: int
) -> None:
    pairs = [(x, y) for x, y in dict(pairs).items() if representation.component(x) is not None]
    items, labels = [x for x, _ in pairs], [y for _, y in pairs]

    def feature_of(item: frozenset[str], shown: frozenset[str]) -> int | None:
        said = (len(item) * 5 + len(shown) * 3) % (variety + 2)
        return None if said == variety else said

    odd = {x: y for x, y in pairs if representation.label(x) != y}
    plain = {x: y for x, y in pairs if x not in odd}
    s = 0
    for shown, label in plain.items():
        wrong = [x for x, y in odd.items() if y != label]
        for feature in range(variety + 2):
            s = max(s, sum(feature_of(x, shown) == feature for x in wrong))
        if any(feature_of(x, shown) is None for x in wrong):
            s = max(s, 1)
    twice = facts(representation, items * 2, labels * 2, feature_of)
    assert facts(representation, items, labels, feature_of) == twice
    assert twice == (representation.m, len(odd), s)


def test_facts_of_the_zoo_are_those_it_states() -> None:
    import tellapart as ta

    world = ta.worlds.zoo()
    teacher = world.teacher()

    def feature_of(item: object, shown: object) -> object:
        correction = teacher.answer(item, ta.Guess(world.representation.label(shown), shown))
        assert correction is not None
        return correction.feature

    found = facts(world.representation, world.items, world.labels, feature_of)
    assert (found.m, found.k) == (world.m, world.k)
    assert 1 <= found.s <= found.k


def test_reasons_that_are_none_are_shared_by_nothing() -> None:
    birds = Representation((Component("bird"),))
    items = [frozenset(name) for name in "abc"]
    assert facts(birds, items, ["bird", "odd", "odd"], lambda odd, shown: None).s == 1
    assert facts(birds, items, ["bird", "odd", "odd"], lambda odd, shown: "why").s == 2


def test_an_item_with_two_labels_is_an_exception_and_no_example() -> None:
    birds = Representation((Component("bird"),))
    emu = frozenset({"emu"})
    assert facts(birds, [emu, emu], ["bird", "odd"], lambda odd, shown: "why") == (1, 1, 0)


def test_facts_refuse_items_without_a_component() -> None:
    birds = Representation((Component("bird", (Literal("feathers"),)),))
    with pytest.raises(ParameterError, match="lies in no component"):
        facts(birds, [frozenset()], ["bird"], lambda odd, shown: None)
    with pytest.raises(ParameterError, match="1 items, but 2 labels"):
        facts(birds, [frozenset()], ["bird", "fish"], lambda odd, shown: None)


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


def test_a_deep_tree_is_no_trouble() -> None:
    tree: object = "last"
    for n in range(1100):
        tree = Split(n, f"y{n % 2}", tree)
    made = from_tree(tree)
    assert made.m == 1101
    assert made.components[-1].contains(frozenset())
    assert made.separator(1100, 0) == Not(1099)


floats32 = st.floats(width=32, min_value=-1e6, max_value=1e6)


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
    for item in ({"legs": "four"}, {"legs"}):
        with pytest.raises(FeatureError, match="cannot tell whether legs > 2 on"):
            Above("legs", 2)(item)
