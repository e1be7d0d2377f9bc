"""Exceptions explained away: Theorem 1, its counter-examples, and the smallest representations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from representations import FEATURES, corners, dnfs, quick, trees
from tellapart.errors import ParameterError
from tellapart.model import Literal
from tellapart.theory import (
    Component,
    Representation,
    Split,
    absorb,
    apart,
    from_tree,
    reduction_size,
    smallest,
)

# -- exceptions explained away


def relabel(
    representation: Representation, items: list[frozenset[str]], odd: dict[frozenset[str], str]
) -> list[object]:
    return [odd.get(item, representation.label(item)) for item in items]


def shared_by(representation: Representation, odd: dict[frozenset[str], str]) -> int:
    """The most components of its own component's label that one exception satisfies."""
    return max(
        [
            sum(c.label == representation.label(x) and c.contains(x)
                for c in representation.components)
            for x in odd
        ],
        default=1,
    )  # fmt: skip


@pytest.mark.slow
@settings(quick, max_examples=200)
@given(
    dnfs(4),
    st.dictionaries(st.sampled_from(corners(4)), st.sampled_from("vwxyz"), max_size=5),
)
def test_absorbing_exceptions_is_legal_and_small_enough(
    representation: Representation, odd: dict[frozenset[str], str]
) -> None:
    items = [item for item in corners(4) if representation.component(item) is not None]
    odd = {x: y for x, y in odd.items() if representation.label(x) not in (None, y)}
    labels = relabel(representation, items, odd)
    made = absorb(representation, items, labels, FEATURES)
    assert made.check(items, labels)
    shared = shared_by(representation, odd)
    assert made.m <= reduction_size(representation.m, len(odd), 4, shared)
    only = absorb(representation, list(odd), list(odd.values()), FEATURES)
    assert only.check(items, labels)
    assert only.m == made.m
    assert apart(items, labels, FEATURES) <= made.m


@pytest.mark.slow
@settings(quick, max_examples=100)
@given(
    trees(4, labels="xy"),
    st.dictionaries(st.sampled_from(corners(4)), st.sampled_from("xyz"), max_size=6),
)
def test_in_a_tree_the_size_is_at_most_m_plus_dk(
    tree: object, odd: dict[frozenset[str], str]
) -> None:
    representation = from_tree(tree)
    odd = {x: y for x, y in odd.items() if representation.label(x) != y}
    labels = relabel(representation, corners(4), odd)
    made = absorb(representation, corners(4), labels, FEATURES)
    assert made.check(corners(4), labels)
    assert made.m <= reduction_size(representation.m, len(odd), 4)


def all_worlds(d: int, labels: str) -> list[tuple[Representation, list[str]]]:
    """One component of each label used, and every labelling of the corners it may be given."""
    one = Representation((Component("x"),))
    two = from_tree(Split("a", "x", "y"))
    return [
        (representation, list(given))
        for representation in (one, two)
        for given in product(labels, repeat=2**d)
    ]


@pytest.mark.parametrize(("d", "labels"), [(1, "xyz"), (2, "xyz"), (3, "xy")])
def test_absorb_on_all_small_worlds_of_different_labels(d: int, labels: str) -> None:
    items = corners(d)
    for representation, told in all_worlds(d, labels):
        k = len(representation.exceptions(items, told))
        made = absorb(representation, items, told, FEATURES[:d])
        assert made.check(items, told)
        assert made.m <= representation.m + d * k


def test_what_no_feature_tells_apart_is_refused() -> None:
    birds = Representation((Component("bird", (Literal("feathers"),)),))
    emu, kiwi = frozenset({"feathers", "emu"}), frozenset({"feathers", "kiwi"})
    for labels in (["odd", "odder"], ["odd", "bird"], ["bird", "odd"]):
        with pytest.raises(ParameterError, match="agrees with it in all of the 1 features"):
            absorb(birds, [emu, kiwi], labels, ["feathers"])
    assert absorb(birds, [emu, kiwi], ["odd", "odd"], ["feathers"]).m == 1
    with pytest.raises(ParameterError, match="lies in no component"):
        absorb(birds, [frozenset()], ["odd"], ["feathers"])
    with pytest.raises(ParameterError, match="has a feature not in features="):
        absorb(birds, [emu], ["odd"], ["emu"])
    with pytest.raises(ParameterError, match="1 items, but 2 labels"):
        absorb(birds, [emu], ["odd", "odd"], ["feathers"])
    with pytest.raises(ParameterError, match="no representation is legal"):
        smallest([emu, kiwi], ["odd", "odder"], ["feathers"])


# -- the smallest size


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_theorem_1b_one_exception_needs_d_plus_1_components(d: int) -> None:
    items = corners(d)
    labels = ["odd", *["plain"] * (len(items) - 1)]
    made = smallest(items, labels, FEATURES[:d])
    assert made.check(items, labels)
    assert made.m == d + 1 == reduction_size(1, 1, d)
    assert absorb(Representation((Component("plain"),)), items, labels, FEATURES[:d]).m == d + 1


def test_the_world_of_theorem_1b_needs_d_plus_1_components() -> None:
    import tellapart as ta

    world = ta.worlds.single_exception(40)
    assert apart(world.items, world.labels, world.features) == 41
    explained = absorb(world.representation, world.items, world.labels, world.features)
    assert explained.check(world.items, world.labels)
    assert explained.m == 41


def partitions(things: list[int]) -> list[list[list[int]]]:
    if not things:
        return [[]]
    return [
        [*rest[:n], [things[0], *rest[n]], *rest[n + 1 :]]
        if n < len(rest)
        else [*rest, [things[0]]]
        for rest in partitions(things[1:])
        for n in range(len(rest) + 1)
    ]


def legal(
    groups: list[list[int]], items: list[frozenset[str]], labels: Sequence[str], features: str
) -> bool:
    """Sets of items, separated by any feature or its negation that happens to do it."""
    for one, other in combinations(groups, 2):
        if labels[one[0]] != labels[other[0]] and not any(
            {feature in items[n] for n in one}.isdisjoint({feature in items[n] for n in other})
            for feature in features
        ):
            return False
    return all(len({labels[n] for n in group}) == 1 for group in groups)


def test_smallest_agrees_with_trying_every_partition() -> None:
    for drawn in product("xyz ", repeat=4):
        pairs = [(x, y) for x, y in zip(corners(2), drawn, strict=True) if y != " "]
        items, labels = [x for x, _ in pairs], [y for _, y in pairs]
        ways = partitions(list(range(len(items))))
        least = min(len(groups) for groups in ways if legal(groups, items, labels, "ab"))
        made = smallest(items, labels, "ab")
        assert made.check(items, labels)
        assert made.m == least
        assert apart(items, labels, "ab") <= least


@pytest.mark.parametrize("labels", ["yxyyyxxx", "xxyxxyyy"])
def test_smallest_is_not_only_greedy(labels: str) -> None:
    """Three features, and taking items in order would give one component too many."""
    items = corners(3)
    ways = [groups for groups in partitions(list(range(8))) if len(groups) <= 4]
    assert min(len(g) for g in ways if legal(g, items, labels, "abc")) == 4
    assert smallest(items, labels, "abc").m == 4


@pytest.mark.parametrize(("d", "labels"), [(2, "xyz "), (3, "xy")])
def test_in_tiny_worlds_one_label_never_costs_more_than_d(d: int, labels: str) -> None:
    """m + dk does hold there; a blank is a corner without an item."""
    sizes: dict[tuple[str, ...], int] = {}
    for told in product(labels, repeat=2**d):
        pairs = [(x, y) for x, y in zip(corners(d), told, strict=True) if y != " "]
        sizes[told] = smallest(*zip(*pairs, strict=True), FEATURES[:d]).m if pairs else 0
    for told, size in sizes.items():
        for n, old in enumerate(told):
            for new in labels.strip():
                if old not in (new, " "):
                    assert sizes[(*told[:n], new, *told[n + 1 :])] <= size + d


# -- Theorem 1(a) is false


def petersen() -> tuple[Representation, list[frozenset[int]], list[str]]:
    """Edges, paths of two edges, and nothing, in the Petersen graph; its vertices are features.

    A vertex is a pair out of five, joined to the three pairs disjoint from it. An edge misses one
    of the five; the three edges that miss the same one are a component.
    """
    vertices = list(combinations(range(5), 2))
    number = {vertex: n for n, vertex in enumerate(vertices)}
    edges = [
        frozenset({number[v], number[w]})
        for v, w in combinations(vertices, 2)
        if not set(v) & set(w)
    ]
    paths = sorted({e | f for e, f in combinations(edges, 2) if e & f}, key=sorted)
    sides = [
        Component("edge", tuple(Literal(number[v], False) for v in vertices if i in v))
        for i in range(5)
    ]
    ways = [Component("path", tuple(map(Literal, sorted(path)))) for path in paths]
    items = [frozenset[int](), *edges, *paths]
    return Representation((*sides, *ways)), items, ["edge"] * 16 + ["path"] * 30


def test_theorem_1a_is_false_with_ten_features() -> None:
    representation, items, labels = petersen()
    assert representation.m == 35
    assert representation.check(items, labels)
    for label in ("odd", "path"):
        now = [label, *labels[1:]]
        assert apart(items, now, range(10)) == 46 > reduction_size(35, 1, 10)
        made = absorb(representation, items, now, range(10))
        assert made.check(items, now)
        assert 46 <= made.m <= reduction_size(35, 1, 10, shared=5)


@pytest.mark.slow
def test_theorem_1a_is_false_on_a_whole_cube() -> None:
    """h groups of two sides of r features; plain: in every group one side is empty."""
    h, r = 4, 2
    names = list(product(range(h), (0, 1), range(r)))
    terms = [
        Component("plain", tuple(Literal((g, s, a), False) for g, s in enumerate(sides)
                                 for a in range(r)))
        for sides in product((0, 1), repeat=h)
    ]  # fmt: skip
    clashes = [
        Component("mixed", (Literal((g, 0, a)), Literal((g, 1, b))))
        for g in range(h)
        for a, b in product(range(r), repeat=2)
    ]
    whole = Representation((*terms, *clashes))
    m, d = whole.m, len(names)
    assert (m, d) == (32, 16)
    assert whole.check()
    # the terms cover the cube: one side empty in every group, or some group with both sides in use
    bit = {name: 1 << n for n, name in enumerate(names)}
    cubes = [
        (sum(bit[f] for f, _ in c.literals), sum(bit[f] for f, wanted in c.literals if wanted))
        for c in whole.components
    ]
    assert all(any(x & fixed == value for fixed, value in cubes) for x in range(1 << d))

    slices = [
        frozenset((g, 1 - s, a) for g, s in enumerate(sides))
        for a in range(r)
        for sides in product((0, 1), repeat=h)
    ]
    corners_of_mixed = [frozenset(f for f, _ in c.literals) for c in clashes]
    nothing = frozenset[tuple[int, int, int]]()
    between = [frozenset({name}) for name in names]
    between += [e | f for e, f in combinations(slices, 2)]
    items = list(dict.fromkeys([nothing, *slices, *corners_of_mixed, *between]))
    labels = [whole.label(item) for item in items]
    assert whole.check(items, labels)
    now = ["mixed", *labels[1:]]
    assert apart(items, now, names) >= 49 > reduction_size(m, 1, d)
