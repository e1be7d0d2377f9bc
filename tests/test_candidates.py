"""Candidate features: what tells an item from an example, the best first."""

from __future__ import annotations

import datetime
import random

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import tellapart as ta
from tellapart.features.to_polars import count, truths
from tellapart.features.vocabulary import Vocabulary
from zoo_table import zoo


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
