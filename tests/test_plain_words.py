"""Conditions in plain words, and what is proposed for a near miss."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellapart as ta
from tellapart.errors import FeatureError
from tellapart.features.phrasing import spoken
from tellapart.features.tree import Wild

SCHEMA = {
    **dict.fromkeys(("title", "summary", "tags", "arch", "package"), "text"),
    **dict.fromkeys(("size", "legs", "year_built"), "integer"),
    **dict.fromkeys(("gross", "budget", "Unit Price"), "number"),
    **dict.fromkeys(("released", "seen"), "date"),
    **dict.fromkeys(("milk", "feathers"), "bool"),
}
LINES = (Path(__file__).parent / "sentences.txt").read_text().splitlines()
SENTENCES = [line for line in LINES if line and not line.startswith("#")]


def understood(line: str) -> bool:
    """Whether a sentence is read as it is meant, or answered with the right form."""
    said, sign, meant = line.removesuffix(" ~").rpartition(" => ")
    if not sign:
        said, _, meant = line.partition(" ~ ")
    try:
        found = ta.parse_feature(said, SCHEMA)
    except FeatureError as error:
        proposed = re.search(r"Did you mean: (.*)", str(error).splitlines()[0])
        wanted = spoken(ta.parse_feature(meant, SCHEMA))
        return proposed is not None and proposed[1] == wanted
    return found == ta.parse_feature(meant, SCHEMA)


def test_nine_in_ten_sentences_are_understood() -> None:
    assert len(SENTENCES) >= 200
    missed = [line for line in SENTENCES if not understood(line)]
    assert len(missed) <= len(SENTENCES) / 10, missed


def test_no_sentence_is_read_as_something_else() -> None:
    for line in SENTENCES:
        said, sign, meant = line.removesuffix(" ~").rpartition(" => ")
        if not sign:
            said, _, meant = line.partition(" ~ ")
        with suppress(FeatureError):
            assert ta.parse_feature(said, SCHEMA) == ta.parse_feature(meant, SCHEMA), line


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (
            "arch is amd64 or all and title is known",
            "arch IN ('all', 'amd64') AND title IS NOT NULL",
        ),
        ("title contains war, legs is 4", None),
        ("arch is amd64 or with the word war", "arch = 'amd64' OR arch ILIKE '%war%'"),
        ("summary contains game or has feathers", "summary ILIKE '%game%' OR feathers"),
        ("not 5 <= size <= 10", None),
        ("arch is one of (amd64, all", None),
        ("title is at least x", None),
    ],
)
def test_of_several_statements_each_is_read_by_itself(said: str, meant: str | None) -> None:
    if meant is None:
        with pytest.raises(FeatureError):
            ta.parse_feature(said, SCHEMA)
    else:
        assert ta.parse_feature(said, SCHEMA) == ta.parse_feature(meant, SCHEMA)


@pytest.mark.parametrize("line", SENTENCES[:32])
def test_what_is_shown_can_be_written(line: str) -> None:
    assert understood(line), line


def test_a_near_miss_shows_the_nearest_form_and_no_grammar() -> None:
    with pytest.raises(FeatureError) as caught:
        ta.parse_feature("summry contains game", SCHEMA)
    first = str(caught.value).splitlines()[0]
    assert 'Did you mean: summary contains "game"' in first
    assert "Allowed" not in first


VALUES = st.text("abcXYZ 019-_%.é'", min_size=1, max_size=8).map(str.strip).filter(bool)


@given(VALUES, st.sampled_from(["contains", "starts", "ends", "is", "is not"]), st.booleans())
@settings(max_examples=200, deadline=None, derandomize=True)
def test_what_a_text_feature_is_called_reads_back(value: str, verb: str, fold: bool) -> None:
    from tellapart.features import Expression, canonical
    from tellapart.features.tree import Column, Type, Value

    column = Column("summary", Type.TEXT)
    if verb in ("is", "is not"):
        op = "=" if verb == "is" else "<>"
        node = canonical.compare(op, column, Value(value, Type.TEXT))
    else:
        before = () if verb == "starts" else (Wild.ANY,)
        after = () if verb == "ends" else (Wild.ANY,)
        node = canonical.like(column, (*before, value, *after), fold=fold)
    feature = Expression(node)
    assert ta.parse_feature(spoken(feature), SCHEMA) == feature


@given(st.text(max_size=60))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_any_text_is_a_condition_or_an_error(text: str) -> None:
    with suppress(FeatureError):
        ta.parse_feature(text, SCHEMA)


def test_hostile_conditions_are_answered_at_once() -> None:
    started = time.monotonic()
    for text in (
        "not " * 2_000 + "milk",
        "(" * 500 + "milk",
        "summary contains " + "a " * 400,
        "summary is " + "or ".join("x " for _ in range(300)),
        "is is is " * 100,
        "legs " * 200,
        "the " * 240 + "legs",
    ):
        with suppress(FeatureError):
            ta.parse_feature(text, SCHEMA)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    "written",
    [
        "title IN ('milk', 'x')",
        "title IN ('x', 'milk')",
        "title = 'summary'",
        "title <> 'summary'",
        "title > 'summary'",
        "title IN ('\" or milk or title is \"', 'x')",
        "title = 'a \"b\" c'",
        "size IN (1, 9007199254740993)",
        "size = 9007199254740993",
        "at_least(1, title NOT IN ('-1', 'SS'), milk, length(tags) IS NOT NULL)",
        "at_least(2, title LIKE '%x%', milk, tags IS NOT NULL)",
    ],
)
def test_what_looks_like_something_else_reads_back(written: str) -> None:
    feature = ta.parse_feature(written, SCHEMA)
    assert ta.parse_feature(spoken(feature), SCHEMA) == feature


def test_a_text_that_was_cut_short_is_refused() -> None:
    feature = ta.parse_feature(f"title = '{'a' * 61}'", SCHEMA)
    assert spoken(feature).endswith('a…"')
    with pytest.raises(FeatureError):
        ta.parse_feature(spoken(feature), SCHEMA)


@pytest.mark.parametrize(
    ("said", "means"),
    [
        ("d is after 2010", "d >= DATE '2011-01-01'"),
        ("d is before 2010", "d < DATE '2010-01-01'"),
        ("d is after 2010-05-01", "d > DATE '2010-05-01'"),
    ],
)
def test_after_a_year_is_after_its_last_day(said: str, means: str) -> None:
    assert str(ta.parse_feature(said, {"d": "date"})) == means


def test_a_year_of_many_digits_is_no_date() -> None:
    with pytest.raises(FeatureError):
        ta.parse_feature("d after 99999999999999999999", {"d": "date"})
    with pytest.raises(FeatureError):
        ta.parse_feature("NO99999999999999999999T (order", {"order": "date"})


def test_after_the_last_year_is_no_condition() -> None:
    with pytest.raises(FeatureError):
        ta.parse_feature("d after 9999", {"d": "date"})


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Body Mass (g) is at least 4500", '"Body Mass (g)" >= 4500'),
        ("body mass over 4500 g", '"Body Mass (g)" > 4500'),
        ("weight over 5 kg", "weight_kg > 5"),
        ("weight_kg between 5 and 10 kg", "weight_kg BETWEEN 5 AND 10"),
        ("price under 3 $", '"price $" < 3'),
        ("year built before 1900", "year_built < 1900"),
        ("year over 1900", "year > 1900"),
    ],
)
def test_a_unit_in_the_name_of_a_column_may_be_left_out_or_said(said: str, meant: str) -> None:
    columns = ("Body Mass (g)", "weight_kg", "price $", "year", "year_built")
    schema = dict.fromkeys(columns, "integer")
    assert ta.parse_feature(said, schema) == ta.parse_feature(meant, schema)


def test_another_unit_than_the_columns_is_not_taken_for_it() -> None:
    with pytest.raises(FeatureError, match="Did you mean: weight_kg > 5"):
        ta.parse_feature("weight over 5 lbs", {"weight_kg": "integer"})


def test_of_columns_that_differ_in_a_sign_or_a_unit_the_exact_one_is_meant() -> None:
    schema = dict.fromkeys(("a b", "a_b", "weight", "weight_kg", "a"), "integer")
    for said, meant in (
        ("a b over 3", '"a b" > 3'),
        ("a_b over 3", "a_b > 3"),
        ("weight over 3", "weight > 3"),
        ("weight kg over 3", "weight_kg > 3"),
    ):
        assert ta.parse_feature(said, schema) == ta.parse_feature(meant, schema)


def test_a_near_miss_of_many_words_in_a_table_of_many_columns_is_quick() -> None:
    schema = {f"{kind} {n}": kind for kind in ("text", "integer") for n in range(500)}
    started = time.process_time()
    for said in ("the " * 240, "more than " * 95, "texd 7 contains x " * 50):
        with suppress(FeatureError):
            ta.parse_feature(said, schema)
    assert time.process_time() - started < 3


def test_dates_in_words_have_to_exist() -> None:
    for said in ("released before 31 February 2001", "released after December 9999"):
        with pytest.raises(FeatureError):
            ta.parse_feature(said, SCHEMA)
    found = ta.parse_feature("released after December 2001", SCHEMA)
    assert found == ta.parse_feature("released >= DATE '2002-01-01'", SCHEMA)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("title ends with a ?", "title LIKE '%?'"),
        ("title ends with !", "title LIKE '%!'"),
        ("does the title contain a ?", None),
        ("title ends with an s", "title ILIKE '%s'"),
        ("title ends with a", "title ILIKE '%a'"),
        ("title contains cat?", "title ILIKE '%cat%'"),
        ("title is shorter than 5", "length(title) < 5"),
        ("legs > 5,000", "legs > 5000"),
        ("gross > 0.500", "gross > 0.5"),
        ("title contains 5.000", "title LIKE '%5.000%'"),
        ("legs IN (2,4)", "legs IN (2, 4)"),
    ],
)
def test_signs_and_numbers_are_read_as_people_mean_them(said: str, meant: str | None) -> None:
    if meant is None:
        with pytest.raises(FeatureError):
            ta.parse_feature(said, SCHEMA)
    else:
        assert str(ta.parse_feature(said, SCHEMA)) == meant


@pytest.mark.parametrize(
    ("said", "ways"),
    [
        ("gross > 5.000", "5.000 can be read as 5 and as 5000. Write the one you mean"),
        ("gross is more than 2.500", "2.500 can be read as 2.5 and as 2500."),
        ("gross is 5,5", "5,5 can be read as 5.5 and as 5 or 5."),
    ],
)
def test_a_number_with_two_readings_is_asked_about(said: str, ways: str) -> None:
    with pytest.raises(FeatureError, match=re.escape(ways)) as caught:
        ta.parse_feature(said, SCHEMA)
    assert caught.value.spot is not None
    assert said[slice(*caught.value.spot)] == ways.split(maxsplit=1)[0]


def test_short_is_a_length_unless_it_is_a_value() -> None:
    table = ta.Table({"title": ["Jaws", "Alien"], "hair": ["short", None]})
    for said in ("title is short", "title is not very long and hair is known"):
        with pytest.raises(FeatureError, match=r"For the length, write: title is (short|long)er"):
            table.parse(said)
    assert str(table.parse("hair is short")) == "hair = 'short'"
    assert str(table.parse('title is "short"')) == "title = 'short'"
    assert str(table.parse("title is shorter than 20 letters")) == "length(title) < 20"
