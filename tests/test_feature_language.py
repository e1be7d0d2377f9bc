"""The feature language: what it accepts, what it refuses, and one form for equal features."""

from __future__ import annotations

import hashlib
import json
import pickle
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

import pytest

import random_features
import tellapart as ta
from tellapart import codec
from tellapart.errors import FeatureError, FormatError
from tellapart.features import grammar, letter_case, tree
from tellapart.features.expression import types
from tellapart.model import Clause, DecisionList, Literal

SCHEMA = {
    "legs": "integer",
    "quantity": "integer",
    "order": "integer",
    "price": "number",
    "unit price": "number",
    "feathers": "bool",
    "airborne": "bool",
    "name": "text",
    "colour": "text",
    "born": "date",
    "date": "date",
    "seen": "datetime",
}

SAME = [
    "legs >= 4 | 4 <= legs | NOT legs < 4 | legs >= 4.0 | ((legs)) >= +4 | Legs >= 4e0",
    "feathers AND NOT airborne | NOT airborne AND feathers | NOT (airborne OR NOT feathers)",
    "feathers | NOT NOT feathers | feathers = TRUE | feathers IS TRUE | coalesce(feathers, FALSE)",
    "NOT feathers | feathers = FALSE | feathers IS FALSE | (NOT feathers) IS TRUE",
    "feathers IS NOT TRUE | NOT (feathers IS TRUE) | NOT coalesce(feathers, FALSE)",
    "legs BETWEEN 2 AND 4 | legs >= 2 AND legs <= 4 | 4 >= legs AND 2 <= legs",
    "NOT legs BETWEEN 2 AND 4 | legs NOT BETWEEN 2 AND 4 | legs < 2 OR legs > 4",
    "colour IN ('red', 'blue') | colour = 'blue' OR 'red' = colour | colour IN ('blue','red')",
    "colour NOT IN ('red', 'blue') | colour != 'red' AND colour <> 'blue'",
    "colour = 'red' | colour IN ('red') | colour LIKE 'red' | NOT colour <> 'red'",
    "name LIKE '%x%' | contains(name, 'x') | name LIKE '%%x%%' | name LIKE '%x%' ESCAPE '!'",
    "name LIKE 'x!_%' ESCAPE '!' | starts_with(name, 'x_') | name LIKE 'x#_%' ESCAPE '#'",
    "name LIKE '_%' | name LIKE '%_' | name LIKE '%_%'",
    "name ILIKE 'A%' | lower(name) LIKE 'a%' | upper(name) LIKE 'A%' | name ILIKE 'a%'",
    "name ILIKE 'Ab' | lower(name) = 'ab' | upper(name) = 'AB' | lower(name) LIKE 'ab'",
    "lower(name) IN ('a', 'b') | upper(name) IN ('B', 'A') | name ILIKE 'a' OR name ILIKE 'b'",
    "name NOT LIKE 'a%' | NOT name LIKE 'a%' | NOT starts_with(name, 'a')",
    "born > '2020-01-31' | born > DATE '2020-01-31' | born > TIMESTAMP '2020-01-31 00:00:00'",
    "seen > '2020-01-31' | seen > DATE '2020-01-31' | TIMESTAMP '2020-01-31T00:00:00' < seen",
    "price * legs > price | legs * price > price | price < price * legs",
    "price IN (.5, 1) | price = 1.0 OR price = 0.50",
    "(legs > 3) IS NULL | (legs <= 3) IS NULL | (NOT legs > 3) IS NULL",
    'order > 3 AND date IS NULL | "date" IS NULL AND "order" > 3',
    "feathers = (legs > 3) | (legs > 3) = feathers",
]


@pytest.mark.parametrize("line", SAME)
def test_equal_features_have_one_form_and_one_hash(line: str) -> None:
    features = [ta.parse_feature(text, SCHEMA) for text in line.split(" | ")]
    assert len(set(features)) == len({str(f) for f in features}) == 1
    again = ta.parse_feature(str(features[0]), SCHEMA)
    assert again == features[0]
    assert str(again) == str(features[0])


def test_other_features_are_other() -> None:
    firsts = [ta.parse_feature(line.split(" | ")[0], SCHEMA) for line in SAME]
    assert len(set(firsts)) == len(SAME)


# what is refused, and the part of the text the message points at
REFUSED = [
    ("", None),
    ("legs", "legs"),
    ("leg = 4", "leg"),
    ("legs > 'x'", "legs > 'x'"),
    ("legs + name > 3", "name"),
    ("feathers AND legs", "legs"),
    ("feathers > airborne", "feathers > airborne"),
    ("lower(legs) = 'a'", "legs"),
    ("legs > 3; DROP TABLE zoo", ";"),
    ("legs > 3 -- more", "-- more"),
    ("legs /* more */ > 3", "/* more */"),
    ("legs > (SELECT 1)", "SELECT"),
    ("legs IN (SELECT 1)", "SELECT"),
    ("EXISTS(SELECT 1)", "EXISTS"),
    ("sum(legs) OVER () > 3", "sum"),
    ("read_csv('x') = 3", "read_csv"),
    ("regexp_matches(name, 'x')", "regexp_matches"),
    ("CAST(legs AS TEXT) = '4'", "CAST"),
    ("legs::TEXT = '4'", "::"),
    ("CASE WHEN feathers THEN TRUE END", "CASE"),
    ("zoo.legs > 3", "."),
    ("legs > 3.3.3", None),
    ("legs = ?", "?"),
    ("@legs = 4", "@"),
    ("legs % 2 = 0", "%"),
    ("name || 'a' = 'b'", "||"),
    ("name LIKE colour", "colour"),
    ("name LIKE '10!' ESCAPE '!'", "'10!'"),
    ("name LIKE 'a' ESCAPE 'bc'", "'bc'"),
    ("name LIKE ANY ('a', 'b')", "ANY"),
    ("colour IN ('a', NULL)", "NULL"),
    ("colour IN ()", "colour"),
    ("colour IN ('a', name)", "name"),
    ("legs = NULL", None),
    ("legs IS DISTINCT FROM 3", "DISTINCT"),
    ("1 = 1", "1 = 1"),
    ("TRUE", None),
    ("legs > 2 > 3", "legs > 2"),
    ("feathers = legs > 3", "legs > 3"),
    ("legs >", None),
    ("legs > 3)", ")"),
    ("(legs > 3", None),
    ("legs = 3, legs = 4", ","),
    ("legs = 3 legs", None),
    ("name = 'open", "'"),
    ("born > 'yesterday'", "'yesterday'"),
    ("born > '2020-W05-5'", "'2020-W05-5'"),
    ("born > DATE '2020-02-30'", "'2020-02-30'"),
    ("seen > '2020-01-31 10:00:00+01:00'", "'2020-01-31 10:00:00+01:00'"),
    ("legs = 9223372036854775808", "9223372036854775808"),
    ("price = 1e999", "1e999"),
    ("legs BETWEEN SYMMETRIC 1 AND 2", None),
    ("trim(name, 'x') = 'a'", None),
    ("length(name, 3) = 2", None),
    ("coalesce(name) = 'a'", None),
    ("\"lower\"(name) = 'a'", None),
    ("name = 'a\0'", "\0"),
    ("name = '\ud800'", "\ud800"),
    ("(" * 500 + "legs > 3" + ")" * 500, "("),
    ("NOT " * 500 + "feathers", "NOT"),
    ("legs > " + "- " * 100 + "3", "-"),
    ("legs > 1" + " + 1" * 200, None),
    ("feathers" + " AND feathers" * 600, None),
    ("(" * 10_000 + "legs > 3" + ")" * 10_000, "("),
    ("name = '" + "a" * 1_000_000 + "'", "a"),
]


@pytest.mark.parametrize(("text", "spot"), REFUSED, ids=[repr(t[:30]) for t, _ in REFUSED])
def test_what_is_not_allowed_is_refused_at_its_spot(text: str, spot: str | None) -> None:
    started = time.thread_time()
    with pytest.raises(FeatureError) as caught:
        ta.parse_feature(text, SCHEMA)
    assert time.thread_time() - started < 1  # the fuzz has the strict limit
    message = str(caught.value)
    assert len(message) < 1_500
    if text:
        assert caught.value.spot is not None
        first, last = caught.value.spot
        assert message.splitlines()[-1].strip(" ^") == "", "a line of carets"
        if spot is not None:
            assert text[first:last] == spot


def test_conditions_are_read_as_they_were_by_the_first_parser() -> None:
    """Texts of the random tests and what they were read as; null where they were refused."""
    kinds = types(random_features.SCHEMA)
    lines = (Path(__file__).parent / "frozen_conditions.jsonl").read_text().splitlines()
    for text, canonical in map(json.loads, lines):
        try:
            said = tree.text(grammar.parse(text, kinds))
        except FeatureError:
            said = None
        assert said == canonical, text


@pytest.mark.parametrize("times", [49, 400, 3_000])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        *(("(", ")"), ("NOT ", ""), ("NOT (", ")"), ("feathers = (", ")"), ("(", ") IS NULL")),
        *(("(feathers OR (", ") AND feathers)"), ("at_least(1, feathers, ", ")"), ("(", "")),
        *(("abs(", ")"), ("-(", ")"), ("legs - (", ")"), ("coalesce(legs, ", ")"), ("+", "")),
    ],
)
def test_what_is_nested_too_deeply_is_refused_with_its_place(
    before: str, after: str, times: int
) -> None:
    inner = "feathers" if "feathers" in before or before[0] in "(N" else "legs"
    text = before * times + inner + after * times
    for slack in (1, 2):
        with pytest.raises(FeatureError, match=r"more than|characters") as caught:
            grammar.parse(text, types(SCHEMA), slack=slack)
        assert caught.value.spot is not None


def test_a_schema_must_be_one() -> None:
    with pytest.raises(FeatureError, match="types are bool, integer"):
        ta.parse_feature("legs > 3", {"legs": "leggy"})
    with pytest.raises(FeatureError, match="a mapping"):
        ta.parse_feature("legs > 3", ["legs"])
    with pytest.raises(FeatureError, match="a feature is a text"):
        ta.parse_feature(3, {"legs": "integer"})


def test_unknown_is_not_true() -> None:
    feature = ta.parse_feature("legs > 3 OR feathers", SCHEMA)
    assert feature.value({"legs": 2, "feathers": None}) is None
    assert feature({"legs": 2, "feathers": None}) is False
    assert feature({"legs": None, "feathers": True}) is True
    assert (
        ta.parse_feature("price / quantity <= 1", SCHEMA).value({"price": 1, "quantity": 0}) is None
    )
    assert ta.parse_feature("price > 1", SCHEMA).value({"price": float("inf")}) is None


def test_items_of_the_wrong_kind_are_told_so() -> None:
    feature = ta.parse_feature("legs > 3", SCHEMA)
    with pytest.raises(FeatureError, match=r"column 'legs' should hold integer.*'four'"):
        feature({"legs": "four"})
    with pytest.raises(FeatureError, match="give items as mappings"):
        feature(["legs"])
    assert ta.parse_feature("feathers AND NOT airborne", SCHEMA)({"feathers"})


def test_a_feature_goes_through_json_and_pickle_and_works_in_a_model() -> None:
    feature = ta.parse_feature("\"unit price\" > 0.1 OR born < '2000-01-01'", SCHEMA)
    written = codec.encode(feature)
    assert list(written) == ["$sql"]
    assert codec.decode(written) == feature
    assert pickle.loads(pickle.dumps(feature)) == feature
    model = DecisionList((Clause((Literal(feature),), "old"),), Clause((), "new"))
    again = DecisionList.from_json(model.to_json())
    assert again == model
    assert again.predict([{"unit price": 0.2}, {"unit price": 0.05}, {}]) == ["old", "new", "new"]
    with pytest.raises(FormatError, match="cannot be read back"):
        codec.decode({"$sql": ["legs >", {"legs": "integer"}]})


def test_the_letters_never_change() -> None:
    """Exported models carry them: another Python must have the same pairs."""
    assert len(letter_case.PAIRS) == 681
    joined = "".join(up + low for up, low in letter_case.PAIRS)
    assert hashlib.sha256(joined.encode()).hexdigest().startswith("635cec700ecdd312")
    assert len({low for _, low in letter_case.PAIRS}) == 681
    for up, low in letter_case.PAIRS:
        assert letter_case.lower(up) == low == letter_case.lower(low)
        assert letter_case.upper(low) == up == letter_case.upper(up)


def test_nothing_heavy_is_loaded_before_it_is_used() -> None:
    code = (
        "import sys, tellapart as ta; ta.AutoDFF, ta.load_model, ta.to_sql;"
        "ta.parse_feature('legs is at least 4 and not milk', {'legs': 'integer', 'milk': 'bool'});"
        "print([m for m in ('polars', 'sqlglot', 'pandas', 'pyarrow') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_a_model_can_be_read_before_anything_else_was_used() -> None:
    features = [ta.parse_feature("legs > 3", SCHEMA), ta.And("milk", ta.features.Column("legs", 4))]
    rows = ta.Table({"legs": [4], "seen": [date(2020, 1, 31)]}).items
    model = DecisionList(tuple(Clause((Literal(f),), "beast", rows[0]) for f in features))
    code = "import sys, tellapart as ta; print(ta.DecisionList.from_json(sys.argv[1]).to_json())"
    command = [sys.executable, "-c", code, model.to_json()]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == model.to_json()


def test_is_null_of_a_condition_says_the_shorter_of_it_and_its_opposite() -> None:
    schema = {"b": "bool"}
    assert str(ta.parse_feature("b IS NULL", schema)) == "b IS NULL"
    assert str(ta.parse_feature("(NOT b) IS NULL", schema)) == "b IS NULL"
    assert str(ta.parse_feature("(NOT b) IS NOT NULL", schema)) == "b IS NOT NULL"


@pytest.mark.parametrize(
    ("text", "spot"),
    [
        ("b = NULL", "NULL"),
        ("n IN (1, NULL)", "NULL"),
        ("n IS NULL OR n = NULL", "NULL"),
        ("n > 1 AND TRUE", "TRUE"),
        ("b = TRUE AND FALSE", "FALSE"),
        ("  -- nothing", "-- nothing"),
    ],
)
def test_the_spot_of_words_that_do_not_know_where_they_are(text: str, spot: str) -> None:
    with pytest.raises(FeatureError) as caught:
        ta.parse_feature(text, {"b": "bool", "n": "integer"})
    assert caught.value.spot == (text.rindex(spot), text.rindex(spot) + len(spot))


@pytest.mark.parametrize(
    "text",
    [
        " + ".join(["x"] * 60) + " > 1",
        " + x - ".join(["y"] * 30) + " > 1",
        " * x / ".join(["y"] * 30) + " > 1",
        " AND ".join(f"n BETWEEN {i} AND {i + 9}" for i in range(166)),
        " AND ".join(f"z > '{1000 + i}-01-01'" for i in range(249)),
    ],
)
def test_the_longest_features_can_be_read_back(text: str) -> None:
    schema = {"x": "number", "y": "number", "n": "integer", "z": "datetime"}
    feature = ta.parse_feature(text, schema)
    assert codec.decode(codec.encode(feature)) == feature
