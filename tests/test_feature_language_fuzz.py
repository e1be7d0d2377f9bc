"""Whatever is typed: a feature or a `FeatureError`, soon, and nothing else."""

from __future__ import annotations

import random
import time
from contextlib import suppress

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

import random_features
from fuzz.fuzz_meaning import conditions, models, run
from tellapart.errors import FeatureError
from tellapart.features import Expression, parse_feature
from tellapart.features.tree import identifier

SCHEMA, PIECES = random_features.SCHEMA, random_features.PIECES
LIMIT = 0.1
"""Seconds of this thread's own time, so that a busy machine does not count."""


def slowness() -> float:
    """How much longer plain work takes here and now than where the limit was set."""
    worst, seen = 0.01, {0: 0}
    for _ in range(3):
        started = time.thread_time()
        for number in range(100_000):
            seen[number & 255] = seen.get(number & 63, 0) + number
        worst = max(worst, time.thread_time() - started)
    return worst / 0.01


def seconds(text: str) -> float:
    """What reading takes; a collection of garbage may fall into the first try, not into three."""
    best = float("inf")
    for _ in range(3):
        started = time.thread_time()
        with suppress(FeatureError):
            parse_feature(text, SCHEMA)
        best = min(best, time.thread_time() - started)
        if best < LIMIT:
            break
    return best


def check(text: str) -> Expression | None:
    """Parse; whatever comes must be a feature that stays itself, or the one error."""
    feature, refused = None, None
    try:
        feature = parse_feature(text, SCHEMA)
    except FeatureError as error:
        refused = error
    taken = seconds(text)
    if refused is not None:
        first, last = refused.spot or (0, 0)
        assert 0 <= first <= last <= len(text)
        assert len(str(refused)) < 2_000
    assert taken < LIMIT or taken < LIMIT * slowness(), f"{taken:.3f} s for {text[:200]!r}"
    if feature is not None:
        assert set(feature.schema) <= set(SCHEMA)
        if len(str(feature)) < 4_000:
            assert parse_feature(str(feature), SCHEMA) == feature
        feature.to_polars()
        assert feature.value({}) in (True, False, None)
    return feature


parse_feature("n > 1", SCHEMA)  # what is imported on first use does not count
# without the phase that explains failures: it traces every line, which takes more than the limit
PHASES = (Phase.explicit, Phase.generate, Phase.shrink)
quick = settings(max_examples=300, deadline=None, derandomize=True, phases=PHASES)


@pytest.mark.slow
@quick
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    check(text)


@quick
@given(st.lists(st.sampled_from(PIECES), max_size=40), st.sampled_from(["", " "]))
def test_any_words(words: list[str], between: str) -> None:
    check(between.join(words))


@settings(quick, max_examples=200)
@given(st.integers(0, 10**9))
def test_features_with_something_changed(seed: int) -> None:
    rng = random.Random(seed)
    text = random_features.Maker(seed).condition().feature
    for _ in range(rng.randint(1, 4)):
        spot = rng.randrange(len(text) + 1)
        if rng.random() < 0.5:
            text = text[:spot] + rng.choice(PIECES) + text[spot:]
        else:
            text = text[:spot] + text[spot + rng.randint(1, 8) :]
    check(text)


@settings(quick, max_examples=30)
@given(st.sampled_from(PIECES), st.sampled_from(PIECES), st.integers(1, 3_000))
def test_the_same_over_and_over(first: str, second: str, times: int) -> None:
    check(first * times + second)
    check(f"{first} {second} " * times)
    check(f"n {first} " * times + "1")


def test_the_largest_features_are_read_in_time() -> None:
    largest = [
        "n IN (" + ", ".join(map(str, range(490))) + ")",
        " OR ".join(f"n > {n}" for n in range(249)),
        " OR ".join(f"(n > {n} AND b)" for n in range(110)),
        "s ILIKE '" + "_a" * 3_900 + "'",
        "(" * 24 + "n > 3" + ")" * 24,
        "coalesce(" * 22 + "n" + ", 1)" * 22 + " > 3",
        "b = (" * 22 + "b" + ")" * 22,
    ]
    for text in largest:
        assert check(text) is not None, text[:40]


@settings(quick, max_examples=200)
@given(
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20
    )
    | st.sampled_from(
        ["select", "AND", "in", "True", "date", "case", "lower", "null", "a.b", '"', "'"]
    )
)
@example("CALL")
def test_a_column_may_have_any_name(name: str) -> None:
    schema = {name: "integer", "other": "bool"}
    feature = parse_feature(f"other AND {identifier(name)} > 1", schema)
    assert feature.schema == {name: "integer", "other": "bool"}
    assert parse_feature(str(feature), schema) == feature
    assert feature({name: 2, "other": True})


@pytest.mark.slow
def test_a_sample_of_the_long_run() -> None:
    """See tests/fuzz/fuzz_meaning.py."""
    assert run(conditions(0, 600)) == {"same": 600}
    assert run(models(0, 600)).keys() == {"same", "refused"}
