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


def test_after_the_last_year_is_no_condition() -> None:
    with pytest.raises(FeatureError):
        ta.parse_feature("d after 9999", {"d": "date"})
