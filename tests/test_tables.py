"""Tables: items, features over them as packed bits, tags."""

from __future__ import annotations

import datetime
import random
from typing import Any

import numpy as np
import polars as pl
import pytest

import random_features
import tellapart as ta
from tellapart import codec
from tellapart.errors import FeatureError, FormatError, ParameterError
from tellapart.features import Above, Column, Is, Named, Points
from tellapart.features.to_polars import DTYPE
from tellapart.features.tree import Type
from tellapart.model import truth
from tellapart.tables.packed_columns import words
from zoo_table import ZOO, zoo

# -- items


def test_items_are_a_view_with_ids() -> None:
    table = zoo()
    assert table.items[-1].identity == "wasp"
    assert table.items[1] == table.item("duck") == list(table.items)[1]
    assert table.items[0] != table.items[1]
    assert [str(row) for row in table.items[1:3]] == ["duck", "bass"]
    assert codec.identity(table.items[0]) == "bear"
    assert ta.Table(ZOO).items[2].identity == 2
    again = codec.decode(codec.encode(table.items[0]))
    assert again == table.items[0]
    assert again["seen"] == datetime.date(2020, 1, 31)
    assert table.place(again) == 0
    for wrong in ("whale", 99, None):
        with pytest.raises(ParameterError, match="has no item"):
            table.item(wrong)
    with pytest.raises(IndexError):
        table.items[4]
    with pytest.raises(FormatError, match="the id 2 in column 'n' stands in rows 1 and 2"):
        ta.Table({"n": [1, 2, 2]}, id="n")
    with pytest.raises(FormatError, match="row 1 has no id"):
        ta.Table({"n": [1, None]}, id="n")


def test_a_learner_learns_from_the_rows_of_a_table() -> None:
    table = ta.Table({"legs": [4, 2, 2, 4], "kind": ["beast", "bird", "bird", "beast"]})
    learner = ta.DFF()
    reasons = {"bird": table.parse("legs = 2"), "beast": table.parse("legs = 4")}

    class Counter:
        def answer(self, item: Any, guess: ta.Guess) -> ta.Correction | None:
            right = item["kind"]
            return None if guess.label == right else ta.Correction(right, reasons[right])

    lesson = ta.teach(learner, Counter(), table.items)
    assert lesson.mistakes == 2
    assert not lesson.inconsistencies
    again = ta.DecisionList.from_json(learner.model.to_json())
    assert again == learner.model
    assert again.predict(table.items) == table.labels("kind")


# -- features as packed bits


def unpack(packed: Any, items: int) -> list[bool]:
    assert packed.dtype == np.uint64
    assert len(packed) == -(-items // 64)
    bits = np.unpackbits(packed.view(np.uint8), bitorder="little").astype(bool)
    assert not bits[items:].any(), "bits beyond the last item"
    return list(bits[:items])


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 200, 1024])
def test_truth_says_what_the_feature_says(rows: int) -> None:
    dtypes = {name: DTYPE[Type(kind)] for name, kind in random_features.SCHEMA.items()}
    table = ta.Table(pl.DataFrame(random_features.table(rows, rows, dirty=True), schema=dtypes))
    maker = random_features.Maker(rows)
    features: list[Any] = [table.parse(maker.condition(2).feature) for _ in range(20)]
    features += [ta.Not(features[0]), ta.And(*features[:3]), ta.Or(features[3], ta.Not("b"))]
    features += [Points(zip(features, (1, 2, -1, 1, 3), strict=False), 2), Points({"b": 1}, 1)]
    features += ["b", "n", "x", "s", "d", ta.And(), ta.Or(), Is(3)]
    values = [("n", 3), ("n", 0.5), ("n", False), ("x", 1), ("s", "a"), ("s", 1), ("b", False)]
    values += [("b", 1), ("b", 0), ("b", 2), ("n", True), ("n", 2.0), ("x", 2**60 + 1), ("d", "a")]
    features += [Column(name, value) for name, value in values]
    features += [
        Column("s", None),
        Column("order", datetime.date(1999, 12, 30)),
        *(Above(name, cut) for name in ("n", "x", "s", "b") for cut in (-0.5, 0.5, 2, 1e300)),
    ]
    features.append(Named("long", lambda item: len(item["s"] or "") > 1))
    for feature in features:
        packed = table.truth(feature)
        assert unpack(packed, rows) == [truth(feature, item) for item in table.items], str(feature)
        assert table.truth(feature) is packed
        assert not packed.flags.writeable
        assert table.count(feature) == sum(unpack(packed, rows))


def test_bits_of_slices_chunks_and_nulls() -> None:
    rng = random.Random(0)
    for _ in range(400):
        size = rng.choice([0, 1, 7, 8, 63, 64, 65, 200, 1000])
        values = [rng.choice([True, False, None]) for _ in range(size)]
        if rng.random() < 0.5:
            values = [bool(value) for value in values]
        first = rng.randrange(size + 1)
        column = pl.Series(values, dtype=pl.Boolean).slice(first, rng.randrange(size - first + 1))
        if rng.random() < 0.3:
            column = pl.concat([column, ~column], rechunk=False)
        assert unpack(words(column), len(column)) == [v is True for v in column.to_list()]


def test_a_feature_of_another_table_is_refused() -> None:
    feature = ta.parse_feature("legs > 3", {"legs": "number"})
    with pytest.raises(FeatureError, match=r"takes column 'legs' for number.*it is integer"):
        zoo().truth(feature)
    with pytest.raises(FormatError, match="no column 'wings'"):
        zoo().truth("wings")


# -- tags


def test_a_tag_is_a_column_that_fills_up() -> None:
    table = zoo()
    tag = table.tag("looks friendly")
    assert table.tag("looks friendly") is tag
    feature = table.parse('"looks friendly" AND legs > 2')
    not_known = table.parse('"looks friendly" IS NULL')
    either = ta.Or("looks friendly", "feathers")
    features = [
        feature,
        not_known,
        either,
        Points({"looks friendly": 2, feature: 1, "feathers": -1}, 1),
        Named("any", lambda i: bool(i["looks friendly"])),
    ]
    said = [("bear", True), ("duck", False), ("bear", None), ("wasp", True), ("bear", True)]
    for item, value in said:
        before = [table.truth(f) for f in features]
        kept = [packed.copy() for packed in before]
        tag.set(item, value)
        assert tag.get(item) is value
        assert table.item(item)["looks friendly"] is value
        for f in features:
            assert unpack(table.truth(f), 4) == [truth(f, row) for row in table.items]
        assert [p.tolist() for p in before] == [p.tolist() for p in kept], "lent words stay"
    fresh = zoo()
    for place, known in tag:
        fresh.tag("looks friendly").set(fresh.items[place], known)
    for f in features:
        assert fresh.truth(f).tolist() == table.truth(f).tolist()
    with pytest.raises(ParameterError, match="has a column 'legs'"):
        table.tag("legs")
    with pytest.raises(ParameterError, match="True, False or None"):
        tag.set("bear", "yes")
    assert (len(tag), dict(table.items[0])["looks friendly"]) == (3, True)


def test_items_are_called_by_the_column_that_names_them_best() -> None:
    films = {
        "kind": ["a", "b", "a", "b"] * 5,
        "note": [f"seen {n}" for n in range(20)],
        "Title": [f"film {n}" for n in range(18)] + ["film 3", None],
    }
    table = ta.Table(films)
    assert table.title == "Title"  # it is called so, though the notes all differ
    assert table.names() == "note"  # an id must differ in all items
    assert str(table.items[7]) == "film 7"
    assert str(table.items[3]) == "film 3 (b)"
    assert str(table.items[19]) == "row 19"
    table.title = "note"
    assert str(table.items[3]) == "seen 3"
    assert ta.Table({"kind": ["a", "b"] * 9, "n": range(18)}).title is None
    assert str(ta.Table(films, id="note").items[3]) == "seen 3"
    assert str(ta.Table(films, title="kind").items[3]) == "b (row 3)"
    with pytest.raises(ta.errors.FormatError, match="no column 'nope'"):
        ta.Table(films, title="nope")
