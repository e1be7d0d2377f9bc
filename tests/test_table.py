"""What the columns of a CSV file become."""

from __future__ import annotations

from pathlib import Path

from tellapart.cli.table import read
from tellapart.model import describe, holds


def table(tmp_path: Path, text: str):
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    return read(path, "y")


def said(features: list[object]) -> list[str]:
    return [describe(feature) for feature in features]


def test_truths_values_and_names(tmp_path: Path) -> None:
    text = (
        "name,milk,legs,colour,y\nbear,Yes,4,brown,mammal\nduck,no,2,,bird\nhen,NO,2,brown,bird\n"
    )
    items, labels, features = table(tmp_path, text)
    assert labels == ["mammal", "bird", "bird"]
    assert [str(item) for item in items] == ["bear", "duck", "hen"]
    assert said(features) == ["milk", "legs = 2", "legs = 4", "colour = brown"]
    assert [[holds(feature, item) for feature in features] for item in items] == [
        [True, False, True, True],
        [False, True, False, False],
        [False, True, False, True],
    ]


def test_items_without_a_name_are_numbered(tmp_path: Path) -> None:
    items, _, _ = table(tmp_path, "milk,y\n1,a\n0,b\n0,b\n")
    assert [str(item) for item in items] == ["item 0", "item 1", "item 2"]
    assert items[1] != items[2], "two rows alike are two items"


def test_many_numbers_are_cut_at_deciles(tmp_path: Path) -> None:
    rows = "".join(f"{number / 4},{'b' if number > 49 else 'a'}\n" for number in range(100))
    items, _, features = table(tmp_path, f"weight,y\n{rows},a\n")
    assert said(features)[:2] == ["weight >= 2.5", "weight >= 5"]
    assert len(features) == 9
    for feature, least in zip(features, range(10, 100, 10), strict=True):
        assert sum(holds(feature, item) for item in items) == 100 - least
    assert not any(holds(feature, items[-1]) for feature in features), "empty is unknown"


def test_a_cut_that_holds_everywhere_is_no_feature(tmp_path: Path) -> None:
    rows = "".join(f"{max(0, number - 50)},a\n" for number in range(100))
    _, _, features = table(tmp_path, f"weight,y\n{rows}")
    assert said(features) == [f"weight >= {n}" for n in (10, 20, 30, 40)]


def test_many_texts_are_no_features(tmp_path: Path) -> None:
    rows = "".join(f"word{number % 60},{number % 2},a\n" for number in range(120))
    items, _, features = table(tmp_path, f"word,odd,y\n{rows}")
    assert said(features) == ["odd"]
    assert str(items[61]) == "word1"


def test_byte_order_mark_quotes_and_blank_lines(tmp_path: Path) -> None:
    text = '\ufeffcolour,y\n"red, or so",a\n\nblue,b\n"red, or so",a\n'
    _, labels, features = table(tmp_path, text)
    assert labels == ["a", "b", "a"]
    assert said(features) == ["colour = blue", "colour = red, or so"]
