"""Tables: every kind of file and frame, bad ones too, and features over them as packed bits."""

from __future__ import annotations

import datetime
import gc
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellapart as ta
from tellapart import codec
from tellapart.checks import expressions
from tellapart.errors import FeatureError, FormatError, ParameterError
from tellapart.features.to_polars import DTYPE
from tellapart.features.tree import Type
from tellapart.features.vocabulary import Vocabulary
from tellapart.model import truth
from tellapart.tables.bits import words

ZOO = {
    "name": ["bear", "duck", "bass", "wasp"],
    "legs": [4, 2, 0, 6],
    "feathers": [False, True, False, None],
    "weight": [300.5, 1.2, None, 0.001],
    "seen": [datetime.date(2020, 1, 31), None, datetime.date(1999, 12, 31), None],
}


def zoo(**options: Any) -> ta.Table:
    return ta.Table(ZOO, id="name", **options)


# -- kinds of files and frames


def write_csv(path: Path) -> Path:
    pl.DataFrame(ZOO).write_csv(path / "zoo.csv")
    return path / "zoo.csv"


def write_tsv(path: Path) -> Path:
    pl.DataFrame(ZOO).write_csv(path / "zoo.tsv", separator="\t")
    return path / "zoo.tsv"


def write_semicolons(path: Path) -> Path:
    pl.DataFrame(ZOO).write_csv(path / "zoo.txt", separator=";", include_bom=True)
    return path / "zoo.txt"


def write_parquet(path: Path) -> Path:
    pl.DataFrame(ZOO).write_parquet(path / "zoo.parquet")
    return path / "zoo.parquet"


def write_ipc(path: Path) -> Path:
    pl.DataFrame(ZOO).write_ipc(path / "zoo.arrow")
    return path / "zoo.arrow"


@pytest.mark.parametrize(
    "write", [write_csv, write_tsv, write_semicolons, write_parquet, write_ipc]
)
def test_every_kind_of_file_reads_the_same(write: Callable[[Path], Path], tmp_path: Path) -> None:
    table = ta.read_table(write(tmp_path), id="name")
    assert table.schema == zoo().schema
    assert len(table) == 4
    assert [dict(row) for row in table.items] == [dict(row) for row in zoo().items]
    assert table.item("wasp")["legs"] == 6
    assert str(table.summary()).startswith(f"{table.name}: 4 items, 5 columns")


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "zoo.jsonl"
    path.write_text(
        '{"name": "bear", "legs": 4}\n\n' + '{"name": "bass"}\n' * 200 + '{"fins": 2}\n'
    )
    table = ta.read_table(path)
    assert table.schema == {"name": "text", "legs": "integer", "fins": "integer"}
    assert len(table) == 202
    assert table.count(table.parse("fins = 2")) == 1


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "mapping", "rows"])
def test_every_kind_of_frame_reads_the_same(kind: str) -> None:
    frame = pl.DataFrame(ZOO)
    rows = frame.to_dicts()
    data: Any = {"polars": frame, "lazy": frame.lazy(), "mapping": ZOO, "rows": rows}.get(kind)
    if kind == "pandas":
        data = pd.DataFrame({name: pd.array(values) for name, values in ZOO.items()})
    table = ta.Table(data, id="name")
    assert table.schema == zoo().schema
    assert [dict(row) for row in table.items] == rows


def test_odd_types_are_brought_to_one_of_each_kind() -> None:
    zoned = pl.Series([datetime.datetime(2020, 1, 1, 0, 30)]).dt.replace_time_zone("Europe/Paris")
    table = ta.Table(
        pl.DataFrame(
            {
                "small": pl.Series([7], dtype=pl.UInt8),
                "single": pl.Series([0.5], dtype=pl.Float32),
                "nan": [float("nan")],
                "infinite": [float("inf")],
                "kind": pl.Series(["a"], dtype=pl.Categorical),
                "zoned": zoned,
                "nothing": [None],
                "list": [[1, 2]],
            }
        )
    )
    assert table.schema == {
        "small": "integer",
        "single": "number",
        "nan": "number",
        "infinite": "number",
        "kind": "text",
        "zoned": "datetime",
        "nothing": "text",
    }
    assert table.unreadable == {"list": "List(Int64)"}
    assert dict(table.items[0]) == {
        "small": 7,
        "single": 0.5,
        "nan": None,
        "infinite": None,
        "kind": "a",
        "zoned": datetime.datetime(2019, 12, 31, 23, 30),
        "nothing": None,
    }
    assert "not readable by features: list" in str(table.summary())
    with pytest.raises(FormatError, match="no column 'list' that can be read"):
        table.values("list")


def test_a_parquet_file_is_read_column_by_column(tmp_path: Path) -> None:
    table = ta.read_table(write_parquet(tmp_path))
    assert table.count(table.parse("legs > 0")) == 3
    assert table.loaded([]).columns == ["legs"]
    assert table.items[0]["name"] == "bear"  # a row does not load the columns
    assert table.loaded([]).columns == ["legs"]


# -- bad files: a message a person can act on

BAD = {
    "empty": (b"", "bad.csv is empty"),
    "blank": (b"\xef\xbb\xbf \n\n", "bad.csv is empty"),
    "too many cells": (b"a,b\n1,2\n3,4,5\n", "line 3: 3 cells, but the header has 2"),
    "too few cells": (b"a,b\n1,2\n3\n4,5\n", "line 3: 1 cells, but the header has 2"),
    "too few, after a quoted line feed": (b'a,b\n"x\ny",2\n3\n', "line 4: 1 cells"),
    "two columns of one name": (
        b"a,b,a\n1,2,3\n",
        "called 'a', number 1 and number 3",
    ),
    "a word among numbers": (
        b"a,b\n1,x\n2,y\nthree,z\n",
        "line 4, column 'a': 'three' is no",
    ),
    "a word far down": (
        b"a,b\n" + b"1,x\n" * 20_000 + b"three,y\n",
        "line 20002, column 'a': 'three' is no number",
    ),
    "no date": (b"d\n2020-01-31\n2020-13-31\n", "line 3, column 'd': '2020-13-31' is no date"),
    "not UTF-8": ("a,b\n1,é\n".encode("latin-1"), "line 2: byte 0xe9 is not UTF-8"),
    "not UTF-8 in the header": ("é,b\n1,2\n".encode("latin-1"), "line 1: byte 0xe9 is not UTF-8"),
    "UTF-16": ("a,b\n1,2\n".encode("utf-16"), "encoding='utf-16'"),
    "an open quote": (b'a,b\n1,2\n"x,3\n4,5\n', "line 3: a quote is opened and not closed"),
    "old line ends": (b"a,b\r1,2\r3,4\r", "carriage returns"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_csv_file_gets_a_message_with_the_spot(name: str, tmp_path: Path) -> None:
    content, message = BAD[name]
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        ta.read_table(path)
    assert message in str(caught.value)
    assert "bad.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


BAD_LINES = {
    "not JSON": ('{"a": 1}\n{"a": }\n', "bad.jsonl line 2, column 7: not JSON"),
    "cut off": ('{"a": 1}\n{"a": 2', "bad.jsonl line 2"),
    "no object": ("[1, 2]\n", "line 1: an object is wanted on each line"),
    "mixed": ('{"a": 1}\n{"a": "x"}\n', "line 2: 'a' is a text here but a number in line 1"),
    "mixed far down": ('{"a": 1}\n' * 500 + '{"a": true}\n', "line 501: 'a' is true or false here"),
    "not UTF-8": (b'{"a": "\xe9"}\n', "line 1: not UTF-8"),
    "BOM": (b'\xef\xbb\xbf{"a": 1}\n', "line 1: the file starts with a byte order mark"),
    "not a number": ('{"a": 1}\n{"a": NaN}\n', "line 2: NaN is not JSON. Write null"),
    "no name": ('{"": 1, "a": 2}\n', "column number 1 has no name"),
    "nothing": ("{}\n{}\n", "no columns"),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_json_lines_file_gets_a_message_with_the_line(name: str, tmp_path: Path) -> None:
    content, message = BAD_LINES[name]
    path = tmp_path / "bad.jsonl"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(FormatError) as caught:
        ta.read_table(path)
    assert message in str(caught.value)


def test_other_bad_files(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="No such file"):
        ta.read_table(tmp_path / "none.csv")
    with pytest.raises(FormatError, match="Known endings are"):
        ta.read_table(tmp_path / "zoo.xlsx")
    with pytest.raises(FormatError, match="cannot be read"):
        ta.read_table(tmp_path.with_suffix(".csv"))
    for name in ("zoo.parquet", "zoo.arrow"):
        (tmp_path / name).write_text("no such thing")
        with pytest.raises(FormatError, match=f"{name} is no"):
            ta.read_table(tmp_path / name)
    with pytest.raises(FormatError, match=r"no column 'kind'.*Did you mean 'kinds'"):
        ta.Table({"kinds": ["a"]}).labels("kind")
    with pytest.raises(FormatError, match="two columns are called 'a'"):
        ta.Table(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(FormatError, match="column 'a' mixes types"):
        ta.Table(pd.DataFrame({"a": pd.Series([1, "x"], dtype=object)}))
    with pytest.raises(FormatError, match="is no table: got int"):
        ta.Table(7)
    with pytest.raises(FormatError, match="no columns"):
        ta.Table(pl.DataFrame())
    with pytest.raises(FormatError, match="no columns"):
        ta.Table(pl.LazyFrame())
    with pytest.raises(FormatError, match="column number 2 has no name"):
        ta.Table(pl.DataFrame({"a": [1], "": [2]}))
    with pytest.raises(FormatError, match="row 0 is no mapping"):
        ta.Table(pd.Series([1, 2]))
    with pytest.raises(FormatError, match="column 'a' mixes types: 1 in row 0"):
        ta.Table([{"a": 1}, {"a": "x"}])
    late = pl.LazyFrame({"a": ["1", "x"]}).select(pl.col("a").cast(pl.Int64))
    with pytest.raises(FormatError, match=r"table cannot be read: .*failed in column 'a'"):
        ta.Table(late).values("a")
    for days in (-800_000, 3_000_000):
        far = pl.DataFrame({"d": pl.Series([days], dtype=pl.Int32).cast(pl.Date)})
        with pytest.raises(FormatError, match="'d' holds a date outside the years 1 to 9999"):
            ta.Table(far).values("d")


def test_good_files_that_look_odd(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_bytes("\ufeffid, name ,\n007,'x',\n\n012,,2\n".encode())
    table = ta.read_table(path, id="id")
    assert table.schema == {"id": "text", "name": "text", "column_3": "integer"}
    assert [str(row) for row in table.items] == ["007", "012"]
    path.write_bytes(b"a,b\n1,NA\n2,3\n")
    with pytest.raises(FormatError, match=r"nulls=\['NA'\]"):
        ta.read_table(path)
    assert ta.read_table(path, nulls=["NA"]).values("b") == [None, 3]
    assert ta.read_table(path, types={"b": "text"}).values("b") == ["NA", "3"]
    path.write_bytes("a;b\n1;é\n".encode("cp1252"))
    assert ta.read_table(path, encoding="cp1252").values("b") == ["é"]
    path.write_text(",".join(f"c{n}" for n in range(300)) + "\n" + ",".join(["1"] * 300) + "\n")
    assert len(ta.read_table(path).columns) == 300
    path.write_text("a,b\n")
    assert len(ta.read_table(path)) == 0
    path.write_text('a,b\n"x,y\nz",1\n,\n')
    assert ta.read_table(path).values("a") == ["x,y\nz", None]  # unknown cells are a row
    path.write_text("a,b\n\n1,2\n\n3,\n\n")  # an empty line is none
    assert ta.read_table(path).values("a") == [1, 3]
    path.write_text("a\n" + "1\n" * 20_000 + "1.5\n")  # a fraction far down
    assert ta.read_table(path).values("a")[-2:] == [1.0, 1.5]
    path.write_text("a, b, c\n 1, 2.5,nan\n 3, 4,1\n")  # spaces after the commas
    table = ta.read_table(path)
    assert table.schema == {"a": "integer", "b": "number", "c": "number"}
    assert next(dict(row) for row in table.items) == {"a": 1, "b": 2.5, "c": None}


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
    dtypes = {name: DTYPE[Type(kind)] for name, kind in expressions.SCHEMA.items()}
    table = ta.Table(pl.DataFrame(expressions.table(rows, rows, dirty=True), schema=dtypes))
    maker = expressions.Maker(rows)
    features: list[Any] = [table.parse(maker.condition(2).feature) for _ in range(20)]
    features += [ta.Not(features[0]), ta.And(*features[:3]), ta.Or(features[3], ta.Not("b"))]
    features += ["b", "n", "x", "s", "d", ta.And(), ta.Or(), ta.Is(3)]
    values = [("n", 3), ("n", 0.5), ("n", False), ("x", 1), ("s", "a"), ("s", 1), ("b", False)]
    features += [ta.Column(name, value) for name, value in values]
    features += [ta.Column("s", None), ta.Column("order", datetime.date(1999, 12, 30))]
    features.append(ta.Named("long", lambda item: len(item["s"] or "") > 1))
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


def test_bits_are_not_copied_where_offsets_allow() -> None:
    column = pl.Series([True, False] * 32_000)
    first, second = words(column), words(column)
    assert first.ctypes.data == second.ctypes.data
    del column, second
    gc.collect()
    others = [pl.Series([False] * 64_000) for _ in range(100)]
    assert set(first.tolist()) == {0x5555555555555555}, "lent, not lost"
    assert len(others) == 100


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
    features = [feature, not_known, either, ta.Named("any", lambda i: bool(i["looks friendly"]))]
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


# -- candidates


def test_candidates_tell_the_item_from_the_example_and_the_best_come_first() -> None:
    rng = random.Random(1)
    rows = []
    for _ in range(3_000):
        bird = rng.random() < 0.4
        title = [rng.choice(["red", "old", "big", "the"]) for _ in range(4)]
        title[rng.randrange(4)] = "Feathered thing" if bird else "scaly thing"
        rows.append(
            {
                "kind": "bird" if bird else "fish",
                "wings": rng.random() < (0.95 if bird else 0.1),
                "weight": rng.gauss(2 if bird else 40, 5),
                "legs": rng.choice([2, 2, 2, 3] if bird else [0, 0, 1]),
                "colour": rng.choice(["red", "blue"] if bird else ["grey", "green"]),
                "title": " ".join(title),
                "born": datetime.date(2000 + bird * 10, 1 + rng.randrange(12), 1),
                "noise": rng.random(),
                "note": None if rng.random() < 0.3 else f"n{rng.randrange(1000)}",
            }
        )
    table = ta.Table(rows)
    labels = table.labels("kind")
    wings = list(zip(labels, table.values("wings"), strict=True))
    bird, fish = wings.index(("bird", True)), wings.index(("fish", False))
    history = [(n, labels[n]) for n in range(1_000)]
    found = table.candidates(bird, fish, history, limit=200)
    for candidate in found:
        assert candidate.feature(table.items[bird])
        assert not candidate.feature(table.items[fish])
        assert candidate.exact
        assert candidate.covers == table.count(candidate.feature)
        assert -1 <= candidate.score <= 1
    assert [c.score for c in found[:5]] == sorted((c.score for c in found[:5]), reverse=True)
    said = [str(c.feature) for c in found]
    assert len(set(said)) == len(said)
    assert "kind = 'bird'" in said[:3]  # the label itself is a column here, and tells best
    assert {"wings", "colour IN ('blue', 'red')", "title ILIKE '%feathered%'"} <= set(said[:25])
    assert any(text.startswith("born >= DATE '20") for text in said)
    assert any(text.startswith("weight < ") for text in said)
    assert any(text.startswith("title NOT ILIKE '%scaly") for text in said)
    assert "title ILIKE '%feathered thing%'" in said
    noise = [n for n, text in enumerate(said) if text.startswith("noise")]
    assert min(noise) > said.index("wings")


def test_candidates_without_a_history_and_between_unknowns() -> None:
    table = zoo()
    said = [str(c.feature) for c in table.candidates("duck", "wasp")]
    assert "feathers" in said
    assert "legs = 2" in said
    assert "seen IS NULL" not in said
    assert "seen IS NOT NULL" in [str(c.feature) for c in table.candidates("bear", "duck")]
    assert "weight IS NULL" in [str(c.feature) for c in table.candidates("bass", "duck")]
    assert table.candidates("bear", "bear") == []


def test_a_word_that_the_example_has_inside_another_is_no_candidate() -> None:
    table = ta.Table({"title": ["the cat sat", "concatenate a list"]})
    said = [str(c.feature) for c in table.candidates(0, 1)]
    assert "title ILIKE '%sat%'" in said
    assert "title ILIKE '%cat%'" not in said


def test_common_words_come_before_rare_ones_and_inside_longer_words_too() -> None:
    texts = ["eat the cookie", "bake a cake", "many cookies", "cookies to eat", "a cake to eat"] * 9
    table = ta.Table({"text": [f"{text} w{n}" for n, text in enumerate(texts)]})
    found = table.candidates(2, 1, [(0, "biscuit"), (1, "cake")], label="biscuit")
    said = [str(c.feature) for c in found]
    assert said[0] == "text ILIKE '%cookie%'"  # and not 'cookies', which the first one has not
    assert "text NOT ILIKE '%cake%'" in said[:3]
    assert said.index("text ILIKE '%w2%'") > said.index("text ILIKE '%cookies%'")


def test_words_hold_here_and_not_there_also_in_very_long_texts() -> None:
    long = "x" * 30_000
    texts = ["The 29 Cats_ 10% é", f"{long} cats", f"a cat {long} 29", "É 29!", "", "29 É no_cats"]
    table = ta.Table({"text": texts})
    for item in table.items:
        for example in table.items:
            for candidate in table.candidates(item, example):
                feature = candidate.feature
                assert feature(item), (str(feature), item["text"][:20])
                assert not feature(example), (str(feature), example["text"][:20])
                assert table.parse(str(feature)) == feature


def test_words_on_the_same_rows_are_offered_once() -> None:
    both = {"text ILIKE '%zebra%'", "text ILIKE '%zebras%'"}
    texts = ["a zebra of all zebras", "a horse", "no zebra, no zebras"]
    said = {str(c.feature) for c in ta.Table({"text": texts}).candidates(0, 1)}
    assert len(both & said) == 1
    said = {str(c.feature) for c in ta.Table({"text": [*texts, "one zebra"]}).candidates(0, 1)}
    assert both <= said


@given(st.lists(st.text("ab _-ÄäΣσς", max_size=12), max_size=12))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_a_vocabulary_counts_as_ilike_does(texts: list[str]) -> None:
    known = Vocabulary(texts)
    table = ta.Table({"text": [*texts, ""]})
    for word, times in zip(known.words, known.times, strict=True):
        escaped = word.replace("_", "!_")
        feature = table.parse(f"text ILIKE '%{escaped}%' ESCAPE '!'")
        assert table.count(feature) == times == known.count(texts)[known.words.index(word)]


def test_candidates_estimate_in_a_large_table() -> None:
    table = ta.Table({"n": range(100_000)})
    best = {str(c.feature): c for c in table.candidates(70_000, 30_000)}["n >= 50000"]
    assert not best.exact
    assert abs(best.covers - 50_000) < 1_000
    table.truth(best.feature)
    best = {str(c.feature): c for c in table.candidates(70_000, 30_000)}["n >= 50000"]
    assert (best.exact, best.covers) == (True, 50_000)


def test_candidates_between_extreme_numbers_and_neighbours() -> None:
    numbers = [0.0, -0.0, 5e-324, 0.3, 0.1 + 0.2, 1.0, 7.0, 1e16, 1e308, 1.7976931348623157e308]
    numbers += [-number for number in numbers]
    whole = [2**63 - 1, 2**63 - 2, -(2**63), 0, 7]
    table = ta.Table({"x": numbers, "n": whole * 4})
    for item in table.items:
        for example in table.items:
            for candidate in table.candidates(item, example):
                feature = candidate.feature
                assert feature(item), (str(feature), dict(item))
                assert not feature(example), (str(feature), dict(example))
                assert table.parse(str(feature)) == feature


def test_columns_can_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("name,legs,class\nbear,4,mammal\n", encoding="utf-8")
    assert ta.read_table(path, id="name", without=["class"]).columns == ["name", "legs"]
    with pytest.raises(FormatError, match=r"has no column 'clas'.* Did you mean 'class'"):
        ta.read_table(path, without=["clas"])
