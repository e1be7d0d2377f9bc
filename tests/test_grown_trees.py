"""Trees grown on labelled items."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellapart import CappedDFF, teach, worlds
from tellapart.errors import ParameterError

NAMES = ("a", "b", "c", "d")
tables = st.lists(
    st.tuples(st.frozensets(st.sampled_from(NAMES)), st.sampled_from(["x", "y", "z"])),
    min_size=1,
    max_size=30,
)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(tables, st.none() | st.integers(1, 6))
def test_leaves_part_the_items_and_exceptions_are_the_misfits(
    table: list[tuple[frozenset[str], str]], components: int | None
) -> None:
    items, labels = [item for item, _ in table], [label for _, label in table]
    world = worlds.grown(items, labels, NAMES, components)
    assert components is None or world.m <= components
    for item in items:
        inside = [part for part in world.representation.components if part.contains(item)]
        assert len(inside) == 1
    wrong = [n for n, x in enumerate(items) if world.representation.label(x) != labels[n]]
    assert list(world.exceptions) == wrong
    for i, one in enumerate(world.representation.components):
        for j, other in enumerate(world.representation.components):
            assert one.label == other.label or world.representation.separator(i, j) is not None


def test_with_leaves_enough_only_contradictions_are_exceptions() -> None:
    items = [frozenset({"a"}), frozenset({"b"}), frozenset({"a"}), frozenset({"a", "b"})]
    world = worlds.grown(items, ["x", "y", "y", "x"], NAMES, components=16)
    assert world.k == 1


def test_a_made_tree_is_found_again() -> None:
    made = worlds.tree(600, 10, 5, 3, exceptions=0.03, seed=4)
    found = worlds.grown(made.items, made.labels, made.features)
    assert found.exceptions == made.exceptions
    lesson = teach(CappedDFF(found.m), found.teacher(), found.items)
    assert lesson.bound is not None
    assert lesson.mistakes <= lesson.bound


def test_a_large_table_with_columns_that_never_change() -> None:
    items = [frozenset({"a"} | ({"b"} if n % 7 else set())) for n in range(20_000)]
    labels = [n % 3 if n % 7 else 3 for n in range(20_000)]
    world = worlds.grown(items, labels, NAMES, components=9)
    assert [str(part) for part in world.representation.components] == ["1: b", "3: not b"]


def test_bad_parameters() -> None:
    with pytest.raises(ParameterError, match="components must be an integer >= 1, got 0"):
        worlds.grown([{"a"}], ["x"], NAMES, 0)
    with pytest.raises(ParameterError, match="no items"):
        worlds.grown([], [], NAMES)
