"""Candidate features: what tells an item from an example, the best first."""

from __future__ import annotations

import datetime
import random
import time
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellapart as ta
from tellapart.features.candidates import candidates
from tellapart.features.to_polars import count, truths
from zoo_table import zoo


def test_candidates_tell_the_item_from_the_example_and_the_best_come_first() -> None:
    rng = random.Random(1)
    rows = []
    for _ in range(3_000):
        bird = rng.random() < 0.4
        title = [rng.choice(["red", "old", "big", "the"]) for _ in range(4)]
        covered = "Feathered" if bird else "scaly"
        title[rng.randrange(4)] = covered + rng.choice([" thing", " thing", " being"])
        rows.append(
            {
                "kind": "bird" if bird else "fish",
                "wings": rng.random() < (0.95 if bird else 0.1),
                "weight": rng.gauss(2 if bird else 40, 5),
                "legs": rng.choice([2, 2, 2, 3] if bird else [0, 0, 1]),
                "colour": rng.choice(["red", "blue", "grey"] if bird else ["grey", "green"]),
                "title": " ".join(title[rng.random() < 0.3 :]),
                "born": datetime.date(
                    2000 + bird * 9 + rng.randrange(10), 1 + rng.randrange(12), 1
                ),
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


def test_names_of_several_words_offer_those_they_share_and_no_more() -> None:
    subjects = ["Cheap pills 1", "Lunch at noon?", "Cheap cruise", "Lunch on Friday", "Plan"]
    table = ta.Table({"subject": subjects, "size": [1, 1, 1, 1, 1]}, id="subject")
    found = table.candidates(subjects[0], subjects[1])
    assert [(str(c.feature), c.covers) for c in found] == [
        ("subject ILIKE '%cheap%'", 2),
        ("subject NOT ILIKE '%lunch%'", 3),
    ]
    assert table.candidates("Plan", "Lunch at noon?")[0].yes == 1


def test_long_texts_are_no_names() -> None:
    texts = [f"{n} " + "It was a dark and stormy night. " * 3 for n in range(5)]
    assert ta.Table({"text": texts}).names() is None
    assert ta.Table({"text": [text[:50] for text in texts]}).names() == "text"


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
    assert "text ILIKE '%cookies%'" in said
    assert "text NOT ILIKE '%cake%'" not in said  # it holds on the same rows as cookie
    assert "text NOT ILIKE '%bake%'" in said
    assert "text ILIKE '%w2%'" not in said  # no other text has it


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


@given(st.lists(st.text("ab _-ÄäΣσς", max_size=12), min_size=2, max_size=12))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_parts_of_texts_are_counted_as_ilike_does(texts: list[str]) -> None:
    table = ta.Table({"text": texts})
    for candidate in table.candidates(0, 1):
        assert table.count(candidate.feature) == candidate.covers
        assert candidate.feature(table.items[0])
        assert not candidate.feature(table.items[1])


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


@settings(max_examples=40, derandomize=True, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.booleans()),
            st.booleans(),
            st.one_of(st.none(), st.integers(-3, 3)),
            st.integers(-3, 3),
            st.one_of(st.none(), st.sampled_from(["a", "ab", "b a"])),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_truths_are_those_of_every_item(rows: list[tuple[object, ...]]) -> None:
    """The plain features that do not go through Polars, and those that do."""
    names = ("maybe", "sure", "some", "all", "text")
    columns = {name: [row[n] for row in rows] for n, name in enumerate(names)}
    kinds = {"maybe": pl.Boolean, "sure": pl.Boolean, "some": pl.Int64, "all": pl.Int64}
    table = ta.Table(pl.DataFrame(columns, schema={**kinds, "text": pl.String}))
    asked = ["sure", "NOT sure", "maybe", "NOT maybe", "text LIKE '%a'", "text IS NULL"]
    for name in ("some", "all"):
        for op in ("=", "<>", "<", "<=", ">", ">="):
            asked += [f"{name} {op} 0", f"{name} {op} 2"]
        asked += [f"{name} > 0.5", f"{name} IN (1, 2)"]
    features = [table.parse(text) for text in asked]
    frame = table.frame(list(names))
    wanted = [[feature(item) for item in table.items] for feature in features]
    assert [found.tolist() for found in truths(features, frame)] == wanted
    assert count(features, frame) == [sum(found) for found in wanted]
    assert table.part(5).count(features) == count(features, table.part(5).rows)


def said(table: ta.Table, item: object, example: object, **labelled: Any) -> list[str]:
    return [str(c.feature) for c in table.candidates(item, example, **labelled)]


def test_names_and_codes_offer_beginnings_and_endings() -> None:
    words = ["ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen", "ibis", "jay"]
    names = [f"python3-{word}" for word in words] + [f"lib{word}-dev" for word in words]
    table = ta.Table({"package": [*names, "libc", "libx", "vim-dev", "vim"]}, id="package")
    dog, dev = names[3], names[13]
    found = said(table, dog, dev)
    assert "package ILIKE 'python3-%'" in found
    assert "package ILIKE '%python3%'" not in found  # the beginning says it
    assert "package ILIKE '%-dev'" in said(table, dev, dog)
    assert "package ILIKE 'lib%'" in said(table, dev, dog)
    assert all("'%dog%'" not in text for text in said(table, dog, "vim")), "a name of its own"


def test_lists_offer_their_elements_and_no_fragments_of_them() -> None:
    tags = ["role::program, use::gaming", "role::library, use::editing", "use::gaming, made::of-c"]
    table = ta.Table({"tags": tags * 40, "n": range(120)})
    found = said(table, 0, 1)
    assert "tags ILIKE '%use::gaming%'" in found
    assert "tags ILIKE '%gaming%'" not in found
    assert not any("tags = " in text for text in found), "nobody says a list as a whole"


def test_stopwords_and_fragments_are_not_offered() -> None:
    texts = ["It is the game of an ox", "a tool for all of us", "the game is on", "the tool is it"]
    table = ta.Table({"text": [f"{text} no {n % 7}" for n, text in enumerate(texts * 30)]})
    found = said(table, 0, 1)
    assert found[0] == "text ILIKE '%game%'"
    for word in ("the", "is", "of", "an", "it", "on", "no", "ox"):
        assert not any(f"%{word}%'" in text or f"'{word}%'" in text for text in found), word


def test_columns_of_one_kind_are_compared_with_each_other() -> None:
    rng = random.Random(3)
    rows = []
    for _ in range(300):
        budget = rng.randrange(1, 100) * 1_000
        rows.append({"budget": budget, "gross": int(budget * rng.uniform(0.3, 2)), "age": 7})
    table = ta.Table(rows)
    kinds = ["profit" if row["gross"] >= row["budget"] else "loss" for row in rows]
    history = [(n, kinds[n]) for n in range(100)]
    profit, loss = kinds.index("profit"), kinds.index("loss")
    assert said(table, profit, loss, history=history)[0] == "budget < gross"
    assert said(table, loss, profit, history=history)[0] == "budget > gross"


def test_dates_offer_years_months_and_round_thresholds() -> None:
    days = [datetime.date(1990 + n % 30, 1 + n % 12, 1 + n % 28) for n in range(400)]
    table = ta.Table({"day": days})
    found = said(table, days.index(datetime.date(2008, 7, 19)), days.index(days[3]))
    assert {"year(day) = 2008", "month(day) = 7", "day >= DATE '2000-01-01'"} <= set(found)


def test_measured_numbers_offer_round_thresholds_and_zero_but_no_equality() -> None:
    rng = random.Random(0)
    rain = [0.0 if rng.random() < 0.5 else round(rng.expovariate(0.2), 2) for _ in range(500)]
    table = ta.Table({"rain": rain})
    wet = max(range(500), key=rain.__getitem__)
    found = said(table, wet, rain.index(0.0))
    assert "rain > 0" in found
    assert "rain >= 10" in found
    assert not any(" = " in text or " IN " in text for text in found)
    assert "rain = 0" in said(table, rain.index(0.0), wet)


def test_nine_places_are_not_wasted() -> None:
    table = ta.Table(
        {
            "arch": ["amd64", "all", "amd64", "all"] * 50,
            "size": [n % 10 for n in range(200)],
            "text": ["a game of chess", "the documentation", "game: go", "more documents"] * 50,
        }
    )
    found = table.candidates(0, 1, [(2, "games"), (1, "doc"), (3, "doc")], label="games", limit=9)
    rows = [table.truth(c.feature).tobytes() for c in found]
    assert len(set(rows)) == len(rows), "two say the same"
    assert len({next(iter(c.feature.schema)) for c in found}) == 3, "every column is there"
    assert found[0].others == 0
    assert found[0].known == 3


def test_a_feature_named_before_and_a_column_of_habit_come_first() -> None:
    table = ta.Table({"a": [1, 2] * 60, "b": [1, 1, 2, 2] * 30, "c": [3, 3, 3, 4, 4, 4] * 20})
    item, example = table.items[0], table.items[3]
    like, unlike = table.frame(["a", "b", "c"])[:1], table.frame(["a", "b", "c"])[3:4]
    shown = candidates(item, example, table.types, like, unlike, habits={"c": 3.0})
    assert "c" in shown[0].feature.schema
    named = table.parse("b < 2 AND a < 2")
    shown = candidates(item, example, table.types, like, unlike, named={named: 3.0})
    assert shown[0].feature == named


def nine(table: ta.Table, item: int, example: int, label: str, other: str) -> list[str]:
    found = table.candidates(item, example, {example: other}, label=label, limit=9)
    return [str(one.feature) for one in found]


def test_thresholds_are_round_where_all_numbers_begin_alike() -> None:
    table = ta.Table({"longitude": [-155.3, -117.2, *(-150.5 + n for n in range(30))]})
    assert {"longitude < -130", "longitude < -140"} <= {*nine(table, 0, 1, "Alaska", "Utah")}


def test_the_front_of_dotted_names_and_paths() -> None:
    names = ("sklearn.utils.fixes", "sklearn.utils.tags", "sklearn.base", "json.utils")
    imports = [f"os, {name}" for name in names] * 5
    assert "imports ILIKE '%sklearn.utils%'" in nine(ta.Table({"imports": imports}), 0, 2, "a", "b")
    files = ["usr/lib/perl5/a.pm", "usr/lib/perl5/b.txt", "usr/bin/c", "usr/lib/d.pm"] * 5
    table = ta.Table({"files": [f"etc, {file}" for file in files]})
    assert "files ILIKE '%usr/lib/perl5%'" in nine(table, 0, 3, "a", "b")


def test_names_begin_with_words_that_say_nothing_in_sentences() -> None:
    names = ["get_name", "get_size", "set_name", "set_size", "run"] * 4
    assert "name ILIKE 'get!_%' ESCAPE '!'" in nine(ta.Table({"name": names}), 0, 2, "a", "b")


def test_a_word_of_the_label_comes_before_others() -> None:
    notes = [f"{a} {b} {c}" for a in ("cat", "dog") for b in ("game", "tool") for c in ("x1", "x2")]
    table = ta.Table({"note": [*notes, "cow plan y"]})
    words = ["note ILIKE '%game%'", "note ILIKE '%cat%'"]
    assert [one for one in nine(table, 0, 8, "games", "other") if one in words] == words
    assert [one for one in nine(table, 0, 8, "Cats", "other") if one in words] == words[::-1]


def test_the_weekday_of_a_date() -> None:
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(n) for n in range(60)]
    table = ta.Table({"day": days})
    labels = {n: "office" if day.weekday() == 0 else "home" for n, day in enumerate(days)}
    found = table.candidates(7, 9, labels, limit=9)
    assert "weekday(day) = 1" in [str(one.feature) for one in found]


@pytest.mark.slow
def test_hostile_texts_stay_quick() -> None:
    rng = random.Random(0)
    some = [f"w{n}" for n in range(100_000)]
    emoji, arabic = "\N{FACE WITH TEARS OF JOY}\u200d" * 50, "\u202eمرحبا بالعالم " * 20
    texts = [
        *("x" * 1_000_000 + f" end{n}" for n in range(5)),
        *(" ".join(rng.sample(some, 400)) for _ in range(300)),
        *(f"{emoji} joy {n}" for n in range(20)),
        *(f"{arabic} {n}" for n in range(20)),
        *("%_!' OR 1=1 --" for _ in range(5)),
        *("\\" * 500 + "(" * 500 for _ in range(5)),
    ]
    table = ta.Table({"text": texts, "n": range(len(texts))})
    started = time.monotonic()
    pairs = [(0, 10), (10, 0), (10, 11), (310, 330), (330, 310), (350, 3), (354, 349), (3, 354)]
    for item, example in pairs:
        for candidate in table.candidates(item, example, limit=9):
            assert candidate.feature(table.items[item])
            assert not candidate.feature(table.items[example])
            assert table.parse(str(candidate.feature)) == candidate.feature
    assert time.monotonic() - started < 20


def test_the_first_nine_are_of_three_columns_where_there_are_so_many() -> None:
    words = [f"word{n:02}" for n in range(12)]
    rng = random.Random(2)
    rows = [
        {
            "kind": "a" if n % 2 else "b",
            "text": " ".join(rng.sample(words, 9) if n % 2 else ["other", "words"]),
            "colour": rng.choice(["red", "blue"]),
            "size": rng.randrange(100),
        }
        for n in range(300)
    ]
    rows[1] |= {"text": " ".join(words), "colour": "red", "size": 90}
    rows[2] |= {"colour": "blue", "size": 5}
    table = ta.Table(rows)
    history = [(n, rows[n]["kind"]) for n in range(3, 60)]
    listed = table.without(["kind"]).candidates(1, 2, [*history, (2, "b")], label="a", limit=30)
    found = [c.feature for c in listed]
    assert [next(iter(feature.schema)) for feature in found[:7]] == ["text"] * 7
    assert {"text", "colour", "size"} == {name for f in found[:9] for name in f.schema}


def test_a_word_is_offered_beside_a_beginning_that_says_nearly_the_same() -> None:
    names = [f"changelog-{n}" for n in range(48)] + ["old-changelog", "new.changelog"]
    table = ta.Table({"name": [*names, *(f"other-{n}" for n in range(40))]})
    found = {str(c.feature) for c in table.candidates(0, 60, [(60, "b")], label="a")}
    assert {"name ILIKE '%changelog%'", "name ILIKE 'changelog-%'"} <= found, found
