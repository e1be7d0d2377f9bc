"""Shorter lists with the same label for every possible row."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import pytest

import tellapart as ta
from tellapart.features import Above, Column, Not
from tellapart.features.implications import implications
from tellapart.simplification import simplify

Rules = list[tuple[list[tuple[Any, bool]], Any]]


def random_rules(rng: random.Random) -> tuple[Rules, int]:
    """Up to 12 rules over up to 7 features, with up to 3 labels; literals may contradict."""
    features = rng.randint(1, 7)
    rules: Rules = [
        (
            [
                (rng.randrange(features), rng.random() < 0.5)
                for _ in range(min(rng.randint(0, 4) + rng.randint(0, 1), 5))
            ]
            or [(0, True)],
            rng.randint(1, rng.randint(1, 3)),
        )
        for _ in range(rng.randint(0, 12))
    ]
    return [*rules, ([], rng.randint(1, 3))], features


def first(rules: Any, row: Any) -> int:
    """The number of the first rule that `row` satisfies."""
    return next(
        number
        for number, (literals, _) in enumerate(rules)
        if all(row[feature] == wanted for feature, wanted in literals)
    )


def shortened(rules: Rules) -> Rules:
    return [(literals, label) for literals, label, _ in simplified(rules)]


def simplified(rules: Rules, examples: Any = None) -> list[tuple[Any, Any, Any]]:
    """The literals, label and number of the rules that are left."""
    clauses = [
        ta.Clause(
            tuple(ta.Literal(*literal) for literal in literals),
            label,
            None if examples is None else dict(enumerate(examples[number])),
            number,
        )
        for number, (literals, label) in enumerate(rules)
    ]
    model = simplify(ta.DecisionList(tuple(clauses[:-1]), clauses[-1]))
    return [([tuple(lit) for lit in c.literals], c.label, c.origin) for c in model]


def size(rules: Any) -> tuple[int, int]:
    return len(rules), sum(len(literals) for literals, _ in rules)


@pytest.mark.parametrize("seed", range(300))
def test_every_row_keeps_its_label(seed: int) -> None:
    rules, features = random_rules(random.Random(seed))
    short = shortened(rules)
    for row in product((False, True), repeat=features):
        assert short[first(short, row)][1] == rules[first(rules, row)][1]
    assert len(short) <= len(rules)
    assert size(short)[1] <= size(rules)[1]
    assert shortened(short) == short


@pytest.mark.parametrize("seed", range(60))
def test_nothing_more_can_go(seed: int) -> None:
    """No single clause or literal of the result can be left out without changing a label."""
    rules, features = random_rules(random.Random(seed))
    short = shortened(rules)
    rows = list(product((False, True), repeat=features))
    labels = [short[first(short, row)][1] for row in rows]
    for number, (literals, label) in enumerate(short[:-1]):
        without = [short[:number] + short[number + 1 :]]
        without += [
            [*short[:number], ([x for x in literals if x != lit], label), *short[number + 1 :]]
            for lit in literals
        ]
        for other in without:
            assert [other[first(other, row)][1] for row in rows] != labels


@pytest.mark.parametrize("seed", range(200))
def test_an_example_that_reaches_its_rule_still_does(seed: int) -> None:
    rng = random.Random(seed)
    rules, features = random_rules(rng)
    rows = list(product((False, True), repeat=features))
    examples = [
        rng.choice([row for row in rows if first(rules, row) == n] or rows)
        for n in range(len(rules))
    ]

    kept = simplified(rules, examples)
    short = [(literals, label) for literals, label, _ in kept]
    for place, (_, _, number) in enumerate(kept):
        if first(rules, examples[number]) == number:
            assert first(short, examples[number]) == place
    for row in rows:
        assert short[first(short, row)][1] == rules[first(rules, row)][1]


@pytest.mark.parametrize("seed", range(200))
def test_thresholds_and_values_of_one_column(seed: int) -> None:
    rng = random.Random(seed)
    pool: list[Any] = [Above("x", 1), Above("x", 2), Column("x", 3), Column("x", None)]
    pool += [Column("y", "a"), Column("y", "b"), Not(Above("x", 3)), "z"]
    pool += [ta.parse_feature(text, {"w": "integer"}) for text in ("w > 1", "w <= 2", "w = 2")]
    clauses = tuple(
        ta.Clause(
            tuple(
                ta.Literal(rng.choice(pool), rng.random() < 0.6) for _ in range(rng.randint(1, 3))
            ),
            rng.choice("AB"),
        )
        for _ in range(rng.randint(1, 10))
    )
    model = ta.DecisionList(clauses, ta.Clause((), rng.choice("AB")))
    short = simplify(model)
    values = (None, float("nan"), 0, 1, 1.5, 2, 2.5, 3, 4)
    items = [
        {"x": x, "y": y, "z": z, "w": w}
        for x, y, z, w in product(values, (None, "a", "b", "c"), (False, True), (None, 1, 2, 3))
    ]
    assert short.predict(items) == model.predict(items)
    assert simplify(short) == short


def test_implications_make_it_shorter() -> None:
    literals = [[(Above("x", 1), True)], [(Above("x", 2), True)], [(Column("x", 5), False)]]
    rules: Rules = [(literals[0], 1), (literals[1], 2), (literals[2] + [("z", True)], 3), ([], 0)]
    assert shortened(rules) == [(literals[0], 1), ([("z", True)], 3), ([], 0)]


def test_implications_are_true() -> None:
    values = (None, float("nan"), float("inf"), -1, 0, 1, 1.5, 2, 3, True, False)
    features: list[Any] = [Above("x", n) for n in (-1, 0, 1, 2)]
    features += [Column("x", n) for n in (0, 1, 1.5, 2, None, True, False)]
    found = list(implications(features))
    assert (ta.Literal(Above("x", 2)), ta.Literal(Above("x", 1))) in found
    assert (ta.Literal(Above("x", 2)), ta.Literal(Column("x", 1.5), False)) in found
    for value in values:
        for one, other in found:
            if one.feature({"x": value}) == one.wanted:
                assert other.feature({"x": value}) == other.wanted, (str(one), str(other), value)


def test_implications_of_expressions_are_true() -> None:
    schema = {"x": "number", "n": "integer", "b": "bool", "t": "text", "d": "date"}
    texts = ["x > 1", "x >= 1", "x < 1", "x <= 1", "x = 1", "x <> 1", "x > 1.5", "n > 1", "n >= 2"]
    texts += ["b", "NOT b", "t = 'a'", "t > 'a'", "d > DATE '2020-01-01'", "d = DATE '2021-01-01'"]
    features = [ta.parse_feature(text, schema) for text in texts]
    found = list(implications(features))
    said = {f"{one} -> {other}" for one, other in found}
    assert {"x = 1 -> x <= 1", "b -> not (NOT b)", "x > 1 -> not (x = 1)"} <= said
    assert "d = DATE '2021-01-01' -> d > DATE '2020-01-01'" in said
    from datetime import date

    items: list[dict[str, Any]] = [
        {"x": x, "n": x, "b": b, "t": t, "d": d}
        for x in (None, 0, 1, 1.25, 1.5, 2, float("inf"))
        for b in (None, True, False)
        for t in (None, "a", "b")
        for d in (None, date(2020, 1, 1), date(2021, 1, 1))
    ]
    for item in items:
        item["n"] = None if item["n"] in (None, float("inf")) else int(item["n"])
        for one, other in found:
            if one.feature(item) == one.wanted:
                assert other.feature(item) == other.wanted


def test_conditions_and_thresholds_of_a_learner_imply_each_other() -> None:
    texts = ["x > 1", "x >= 2", "x < 2", "x <= 1.5", "x = 2", "x <> 2"]
    features: list[Any] = [ta.parse_feature(text, {"x": "number"}) for text in texts]
    features += [Above("x", 1), Above("x", 1.5), Column("x", 2)]
    found = list(implications(features))
    said = {f"{one} -> {other}" for one, other in found}
    assert {"x >= 2 -> x > 1.5", "x = 2 -> x > 1", "x < 2 -> not (x = 2)"} <= said
    for value in (None, -1, 1, 1.25, 1.5, 2, 2.5, float("nan"), float("inf"), float("-inf")):
        for one, other in found:
            if one.feature({"x": value}) == one.wanted:
                assert other.feature({"x": value}) == other.wanted, (str(one), str(other), value)


A, B, C = ("a", True), ("b", True), ("c", True)
NOT_A, NOT_B = ("a", False), ("b", False)


@pytest.mark.parametrize(
    ("what", "rules", "wanted"),
    [
        ("a more general rule follows", [([A, B], 1), ([C], 1), ([A], 1)], [([C], 1), ([A], 1)]),
        ("others stand apart", [([A, B], 1), ([NOT_A, C], 2), ([A], 1)], [([NOT_A, C], 2)]),
        ("the default says it", [([A], 2), ([B], 0), ([C], 0)], [([A], 2)]),
        ("never reached", [([A], 1), ([A, B], 2)], [([A], 1)]),
        ("reached by none of two", [([A, B], 1), ([A, NOT_B], 2), ([A], 3)], None),
        ("contradictory", [([A, NOT_A], 1)], []),
        ("after a rule for all", [([A], 1), ([], 2), ([B], 1)], [([A], 1), ([], 2)]),
        ("taken by an earlier rule", [([A], 1), ([NOT_A, B], 2)], [([A], 1), ([B], 2)]),
        ("merged", [([A, B], 1), ([A, NOT_B], 1)], [([A], 1)]),
        ("merged, apart", [([A, B], 1), ([NOT_A], 2), ([A, NOT_B], 1)], None),
        ("said twice", [([A, A], 1)], [([A], 1)]),
    ],
)
def test_each_kind_of_ballast_goes(what: str, rules: Any, wanted: Any) -> None:
    rules = [*rules, ([], 0)]
    short = shortened(rules)
    assert size(short) < size(rules), what
    rows = [dict(zip("abc", row, strict=True)) for row in product((False, True), repeat=3)]
    for row in rows:
        assert short[first(short, row)][1] == rules[first(rules, row)][1]
    if what == "others stand apart":
        assert len(short) == 3
    elif wanted is not None:
        last = [] if wanted and not wanted[-1][0] else [([], 0)]
        assert size(short) <= size([*wanted, *last]), what


def test_examples_stay_with_their_clauses() -> None:
    """`b` could go from the first clause, but then the second would show what the first labels."""
    bear, bat = frozenset({"a", "b"}), frozenset({"a"})
    clauses = (
        ta.Clause((ta.Literal("a"), ta.Literal("b")), 1, bear),
        ta.Clause((ta.Literal("a"), ta.Literal("b", False)), 1, bat),
        ta.Clause((ta.Literal("c"),), 2, frozenset({"c"})),
    )
    model = ta.DecisionList(clauses, ta.Clause((), 0, frozenset()))
    short = simplify(model)
    assert [len(clause.literals) for clause in short] == [1, 1, 0]
    assert short.clauses[0].example == bear
    for clause in short:
        assert short.match(clause.example) is clause


def test_labels_that_are_equal_but_not_the_same() -> None:
    short = shortened([([A], True), ([], 1)])
    assert [label for _, label in short] == [True, 1]


@pytest.mark.parametrize("seed", range(3))
def test_lists_that_were_taught(seed: int) -> None:
    world = ta.worlds.tree(
        items=300, features=20, components=12, labels=3, exceptions=0.1, seed=seed
    )
    learner = ta.CappedDFF(m=12)
    ta.teach(learner, world.teacher(), world.items)
    short = simplify(learner.model)
    assert len(short.clauses) < len(learner.model.clauses)
    assert short.predict(world.items) == learner.model.predict(world.items)
