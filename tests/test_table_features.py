"""What the columns of a table show at first sight."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tellapart.tables import Table


def said(columns: dict[str, list[Any]], **options: Any) -> list[str]:
    return [str(feature) for feature in Table(columns).features(**options)]


def test_truths_values_and_unknowns() -> None:
    pets = {
        "name": ["bear", "duck", "hen"],
        "milk": [True, False, False],
        "legs": [4, 2, 2],
        "colour": ["brown", None, "brown"],
        "y": ["mammal", "bird", "bird"],
        "void": [None, None, None],
    }
    assert said(pets, without=["y"]) == [
        "milk",
        "legs = 4",
        "colour IS NULL",
        "colour = 'brown'",
    ]


def test_more_than_two_values_are_a_feature_each() -> None:
    assert said({"legs": [0, 2, 4, 4]}) == ["legs = 0", "legs = 2", "legs = 4"]


def test_four_numbers_or_more_have_an_order() -> None:
    assert said({"legs": [0, 2, 4, 6, 2, 4], "size": [1, 2, 3, 2, 1, 3]}) == [
        "legs = 0", "legs = 2", "legs = 4", "legs = 6", "legs >= 4",
        "size = 1", "size = 2", "size = 3",
    ]  # fmt: skip


def test_many_numbers_are_cut_at_deciles() -> None:
    weights = Table({"weight": [number / 4 for number in range(100)] + [None]})
    unknown, *cuts = weights.features()
    assert str(unknown) == "weight IS NULL"
    assert [weights.count(cut) for cut in cuts] == list(range(90, 0, -10))
    assert str(cuts[0]) == "weight >= 2.5"


def test_a_cut_that_holds_everywhere_is_no_feature() -> None:
    numbers = Table({"weight": [max(0, number - 50) for number in range(100)]})
    assert [numbers.count(cut) for cut in numbers.features()] == [40, 30, 20, 10]


def test_dates_are_cut_at_round_ones() -> None:
    days = [date(2020, 1, 1) + timedelta(days=number) for number in range(20)]
    assert "day >= DATE '2020-01-03'" in said({"day": days})


def test_many_texts_and_names_are_no_features() -> None:
    many = {"word": [f"word{n % 60}" for n in range(120)], "odd": [n % 2 for n in range(120)]}
    assert said(many) == ["odd = 1"]
    assert said({"name": ["a", "b", "c"]}) == []
    assert said({"essay": ["x" * 41, "x" * 41, "short", "brief"]}) == [
        "essay = 'brief'",
        "essay = 'short'",
    ]


cells = st.one_of(
    st.lists(st.none() | st.integers(-50, 50), min_size=1, max_size=40),
    st.lists(st.none() | st.floats(-1e6, 1e6), min_size=1, max_size=40),
    st.lists(st.none() | st.text(max_size=3), min_size=1, max_size=40),
    st.lists(st.none() | st.booleans(), min_size=1, max_size=40),
    st.lists(st.none() | st.dates(), min_size=1, max_size=40),
)


@settings(max_examples=150, derandomize=True, deadline=None)
@given(cells)
def test_features_are_conditions_of_the_table(column: list[Any]) -> None:
    table = Table({"c": column})
    features = table.features()
    assert len(set(features)) == len(features) <= 51
    for feature in features:
        assert table.parse(str(feature)) == feature
        assert table.count(feature) == sum(feature.value(item) is True for item in table.items)
        if not isinstance(column[0], bool):
            assert table.count(feature) < len(table), "what holds everywhere tells nothing"
