"""ShortList: short rules in the teacher's words, the same from the same answers, on any items."""

from __future__ import annotations

import copy
import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellapart as ta
from tellapart import codec
from tellapart.combinations import Above, AtMost, Is, Points, leaves
from tellapart.export.text import to_text
from tellapart.features import Expression
from tellapart.features.resolve import resolve
from tellapart.learners import short_trees
from tellapart.learners.beliefs import believe
from tellapart.learners.history import Columns, History
from tellapart.learners.reasons import reasons
from tellapart.learners.short_trees import Improvement, Nested, Node, grow, terms
from tellapart.model import DecisionList, Not, holds, truth
from tellapart.protocol import Correction, Feature, Guess, Item, Label

Reason = Callable[[Item, Label, Guess], Feature | None]


def teach(
    learner: Any, items: Sequence[Item], labels: Sequence[Label], reason: Reason | None = None
) -> int:
    """Teach, with a reason for each correction or without; returns the mistakes."""
    wrong = 0
    for item, label in zip(items, labels, strict=True):
        guess = learner.guess(item)
        if guess.label == label:
            learner.learn(item, guess, None)
            continue
        told = None
        if guess.label is not None:
            wrong += 1
            told = None if reason is None else reason(item, label, guess)
        learner.learn(item, guess, Correction(label, told))
    return wrong


def printed(model: DecisionList) -> list[Feature]:
    """The terms of all rules."""
    return [p for clause in model for literal in clause.literals for p in leaves(literal.feature)]


def signs(count: int, columns: int, seed: int) -> list[dict[str, bool]]:
    rng = random.Random(seed)
    return [{f"sign {n}": rng.random() < 0.5 for n in range(columns)} for _ in range(count)]


# -- the room


@pytest.mark.slow
@settings(max_examples=12, derandomize=True, deadline=None)
@given(
    seed=st.integers(0, 1000),
    labels=st.integers(2, 6),
    room=st.none() | st.integers(1, 12),
    chatty=st.booleans(),
)
def test_rules_never_have_more_terms_than_there_is_room(
    seed: int, labels: int, room: int | None, chatty: bool
) -> None:
    rng = random.Random(seed)
    items = signs(40, 9, seed)
    learner = ta.ShortList(terms=room)
    for item in items:
        label = str(rng.randrange(labels) if rng.random() < 0.3 else sum(item.values()) % labels)
        guess = learner.guess(item)
        if guess.label == label:
            learner.learn(item, guess, None)
            continue
        told = [f for f in item if guess.example and item[f] and not guess.example[f]]
        reason = rng.choice(told) if told and chatty else None
        learner.learn(item, guess, Correction(label, reason))
        known = len(learner.history.labels)
        assert len(printed(learner.model)) <= (8 + 4 * known if room is None else room)
        assert learner.room == (8 + 4 * known if room is None else room)


def test_a_room_that_is_none_is_refused() -> None:
    for room in (0, -1, "many", 2.5):
        with pytest.raises(ta.errors.ParameterError, match="terms must be"):
            ta.AutoDFF(terms=room)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(5))
def test_a_longer_room_is_used_where_it_helps(seed: int) -> None:
    items = signs(200, 12, seed)
    labels = ["ill" if sum(list(item.values())[:7]) >= 4 else "well" for item in items]
    right = []
    for room in (2, 16):
        learner = ta.ShortList(terms=room)
        teach(learner, items[:150], labels[:150])
        said = learner.model.predict(items[150:])
        right.append(sum(one == other for one, other in zip(said, labels[150:], strict=True)))
    assert right[1] > right[0]


# -- the teacher's words

SHOPS = {
    "food": ["TESCO", "WAITROSE", "ASDA", "GREGGS", "OCADO"],
    "travel": ["TFL TRAVEL", "TRAINLINE", "SHELL"],
    "home": ["IKEA", "THAMES WATER"],
    "fun": ["ODEON", "SPOTIFY", "STEAM"],
}


def statement(seed: int, rows: int = 300) -> tuple[dict[str, list[Any]], list[str], list[str]]:
    """A bank statement: its columns, its labels, and the shop of every line."""
    rng = random.Random(seed)
    labels = [rng.choice(list(SHOPS)) for _ in range(rows)]
    shops = [rng.choice(SHOPS[label]) for label in labels]
    columns: dict[str, list[Any]] = {
        "date": [date(2026, 1, 1) + timedelta(days=n) for n in range(rows)],
        "payee": [f"{shop} {rng.choice(['LEEDS', 'YORK', 'BATH'])}" for shop in shops],
        "amount": [round(rng.lognormvariate(3, 0.6), 2) for _ in range(rows)],
    }
    return columns, labels, shops


@pytest.mark.parametrize("seed", range(3))
def test_reasons_stand_as_they_were_said(seed: int) -> None:
    columns, labels, shops = statement(seed)
    table, said = ta.Table(columns), {}
    shop_of = {item.identity: shop for item, shop in zip(table.items, shops, strict=True)}

    def shop(item: Item, label: Label, guess: Guess) -> Feature | None:
        feature = table.parse(f'payee contains "{shop_of[item.identity].split()[0].lower()}"')
        if feature(guess.example):
            return None
        said[feature] = label
        return feature

    learner = ta.AutoDFF(columns=table.features())
    teach(learner, list(table.items)[:80], labels[:80], shop)
    used = printed(learner.model)
    assert len(set(used) & said.keys()) >= 0.9 * len(said)
    assert all("date" not in str(feature) for feature in used)
    later, wanted, _ = statement(seed + 100)
    guessed = learner.model.predict(ta.Table(later).items)
    right = sum(one == other for one, other in zip(guessed, wanted, strict=True))
    seen = [shop in shops[:80] for shop in statement(seed + 100)[2]]
    assert right >= sum(seen) - 0.01 * len(wanted)


def test_words_that_were_not_named_do_not_take_the_place_of_those_that_were() -> None:
    """The columns of other words tell labels apart, too; she is no worse a teacher for that."""
    columns, labels, shops = statement(11)
    rng = random.Random(1)
    columns["payee"] = [f"{payee} {rng.randrange(9999)}" for payee in columns["payee"]]
    table, said = ta.Table(columns), set[Feature]()
    shop_of = {item.identity: shop for item, shop in zip(table.items, shops, strict=True)}

    def shop(item: Item, _: Label, guess: Guess) -> Feature | None:
        feature = table.parse(f'payee contains "{shop_of[item.identity].split()[0].lower()}"')
        if feature(guess.example):
            return None
        said.add(feature)
        return feature

    learner = ta.AutoDFF(columns=table.features(words=50))
    teach(learner, list(table.items)[:80], labels[:80], shop)
    assert len(set(printed(learner.model)) & said) >= 0.9 * len(said)
    assert not any("amount" in str(feature) for feature in printed(learner.model))


TICKETS = {
    "App crashes in settings": ("bug", "crash"),
    "Search freezes": ("bug", "freeze"),
    "Export gives error 500": ("bug", "error"),
    "Cannot log in": ("login", "log in"),
    "Locked out": ("login", "locked"),
    "Code never arrives": ("login", "code"),
    "Delete my account": ("account", "delete"),
    "Invoice is wrong": ("billing", "invoice"),
    "Charged twice": ("billing", "charged"),
    "How do I add a user?": ("question", "how"),
}
"""What a ticket is, and the word that says so."""


@pytest.mark.parametrize("seed", [4, 5])
def test_her_words_stand_although_chance_tells_a_few_rows_apart_as_well(seed: int) -> None:
    dice = random.Random(seed)
    rows = [dice.choice(list(TICKETS)) for _ in range(60)]
    others = {
        "priority": [dice.choice(["low", "high", "urgent"]) for _ in rows],
        "channel": [dice.choice(["mail", "phone", "web"]) for _ in rows],
        "hours_open": [round(dice.uniform(0, 16), 1) for _ in rows],
    }
    table = ta.Table({"subject": rows, **others})
    learner = ta.AutoDFF(columns=table.features())
    for number, item in enumerate(list(table.items)[:25]):
        label, word = TICKETS[item["subject"]]
        guess = learner.guess(item)
        said = None if guess.label is None else table.parse(f'subject contains "{word}"')
        learner.learn(item, guess, None if guess.label == label else Correction(label, said))
        used = [str(feature) for feature in printed(learner.model)]
        if number >= 8:
            assert sum("subject" in one for one in used) >= 0.8 * len(used)


def test_of_two_equal_columns_the_named_one_is_used() -> None:
    rng = random.Random(1)
    items = [{"a copy": bit, "said": bit, "z": rng.random() < 0.5} for bit in [True, False] * 15]
    learner = ta.ShortList()
    labels = ["yes" if item["said"] else "no" for item in items]
    teach(learner, items, labels, lambda item, *_: "said" if item["said"] else Not("said"))
    assert set(printed(learner.model)) == {"said"}


def test_keys_and_dates_are_used_only_if_named() -> None:
    rows = 60
    table = ta.Table(
        {
            "number": list(range(1000, 1000 + rows)),
            "entered": [date(2026, 1, 1) + timedelta(days=n) for n in range(rows)],
            "size": [n % 7 for n in range(rows)],
        }
    )
    labels = ["early" if n < 30 else "late" for n in range(rows)]
    order = random.Random(3).sample(range(rows), rows)
    items = [table.items[n] for n in order]
    wanted = [labels[n] for n in order]
    mute = ta.ShortList(columns=table.features())
    teach(mute, items, wanted)
    assert all("size" in str(feature) for feature in printed(mute.model))
    late = table.parse("entered >= DATE '2026-01-31'")
    told = ta.ShortList(columns=table.features())
    teach(told, items, wanted, lambda item, label, guess: late if late(item) else Not(late))
    assert late in printed(told.model)


def test_it_is_wary_of_what_was_never_named() -> None:
    """`site` goes along with the labels nearly always; the teacher names the signs that matter."""
    dice = np.random.default_rng(5)
    items, labels = [], []
    for _ in range(150):
        held = dice.random(14) < 0.5
        label = "ill" if held[:8].sum() >= 4 else "well"
        site = (label == "ill") if dice.random() < 0.9 else (label == "well")
        items.append({f"sign {n}": bool(bit) for n, bit in enumerate(held)} | {"site": site})
        labels.append(label)

    def sign(item: Item, label: Label, guess: Guess) -> Feature | None:
        ill = label == "ill"
        telling = [f"sign {n}" for n in range(8)]
        told = [f for f in telling if item[f] == ill and guess.example[f] != ill]
        return None if not told else told[0] if ill else Not(told[0])

    wary, trusting = ta.AutoDFF(), ta.AutoDFF(wary=False)
    for learner in (wary, trusting):
        teach(learner, items, labels, sign)
    assert wary.practical.suspected == ("site",)
    assert "site" not in printed(wary.model)
    assert trusting.practical.suspected == ()
    assert "site" in printed(trusting.model)


# -- a fold over the history


def run_zoo(learner: Any) -> Any:
    world = ta.worlds.zoo()
    ta.teach(learner, world.teacher(), world.items)
    return learner


def test_the_same_answers_give_the_same_rules() -> None:
    assert run_zoo(ta.ShortList()).to_json() == run_zoo(ta.ShortList()).to_json()


@pytest.mark.slow
def test_the_rules_do_not_depend_on_how_python_hashes() -> None:
    program = (
        "import tellapart as ta; w = ta.worlds.zoo(); l = ta.AutoDFF();"
        "items = [frozenset(k for k, v in i.items() if v is True) | {i['name']} for i in w.items];"
        "[l.learn(i, g, None if (g := l.guess(i)).label == y else ta.Correction(y))"
        " if False else (lambda g: l.learn(i, g, None if g.label == y else ta.Correction(y)))"
        "(l.guess(i)) for i, y in zip(items, w.labels)]; print(l.model)"
    )
    said = set()
    for seed in ("1", "2", "3"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        said.add(done.stdout)
    assert len(said) == 1


def test_json_has_the_history_and_gives_the_same_rules() -> None:
    columns, labels, _ = statement(4)
    table = ta.Table(columns)
    learner = ta.AutoDFF(columns=table.features(), terms=20)
    items = list(table.items)
    teach(learner, items[:40], labels[:40])
    again = ta.load_learner(learner.to_json(), items=table.items)
    assert again.model == learner.model
    for one in (learner, again):  # with the table, unlabelled rows are known again, too
        teach(one, items[40:80], labels[40:80])
    assert again.to_json() == learner.to_json()
    json.loads(learner.to_json())


def test_a_copy_has_the_same_rules_at_any_time() -> None:
    """Also when rows of the table were answered since the rules were made."""
    columns, labels, _ = statement(6)
    table = ta.Table(columns)
    learner = ta.ShortList(columns=table.features(words=20))
    for item, label in zip(list(table.items)[:60], labels, strict=False):
        guess = learner.guess(item)
        learner.learn(item, guess, None if guess.label == label else Correction(label))
        assert copy.deepcopy(learner).model == learner.model
        assert ta.load_learner(learner.to_json(), items=table.items).model == learner.model


def false_statement(seed: int, by_chance: bool = True, rows: int = 60, risk: float = 0.05) -> bool:
    """Whether the bound on the wrong rows left was false at any round of a lesson, for a learner
    that looks at all rows; not by chance, what the rules have right is drawn first."""
    dice = np.random.default_rng(seed)
    held = dice.random((rows, 6)) < 0.4
    size = dice.normal(size=rows).round(2)
    truth = np.where(held[:, 0], "a", np.where(size > 0.5, "b", np.where(held[:, 1], "a", "c")))
    labels = np.where(dice.random(rows) < 0.1, dice.choice(list("abc"), rows), truth)
    columns: dict[str, list[Any]] = {f"sign {n}": held[:, n].tolist() for n in range(6)}
    table = ta.Table({**columns, "size": size.tolist()})
    learner, progress = ta.ShortList(columns=table.features()), ta.review.Progress()
    left = dice.permutation(rows).tolist()
    wrong = np.ones(rows, dtype=bool)
    while left:
        place = 0 if by_chance else next((n for n, row in enumerate(left) if not wrong[row]), 0)
        row = left.pop(place)
        item, label, before = table.items[row], str(labels[row]), learner.model
        guess = learner.guess(item)
        learner.learn(item, guess, None if guess.label == label else Correction(label))
        changed = learner.model is not before and learner.model != before
        if guess.label is None:
            progress.ask()
        else:
            progress.add(guess.label != label, changed)
        if changed:
            wrong = np.array(learner.model.predict(table.items)) != labels
        if progress.draws(rows).refute(int(wrong[left].sum()), risk):
            return True
    return False


@pytest.mark.parametrize(
    ("lessons", "false"), [(12, 3), pytest.param(400, 28, marks=pytest.mark.slow)]
)
def test_the_error_statement_holds_for_a_learner_that_looks_at_all_rows(
    lessons: int, false: int
) -> None:
    """At every round, in all but 5 % of the lessons (and twice the standard error)."""
    assert sum(false_statement(seed) for seed in range(lessons)) <= false


def test_the_error_statement_is_false_for_rows_that_are_not_drawn_by_chance() -> None:
    assert sum(false_statement(seed, by_chance=False) for seed in range(6)) >= 3


def test_few_terms_change_from_one_correction_to_the_next() -> None:
    world = ta.worlds.tree(300, 20, 6, 3, 0.08, seed=2)
    learner, teacher = ta.ShortList(columns=world.features), world.teacher()
    changed, before = [], None
    for number, item in enumerate(world.items):
        guess = learner.guess(item)
        answer = teacher.answer(item, guess)
        learner.learn(item, guess, answer)
        if answer is None:
            continue
        now = Counter(printed(learner.model))
        if before is not None and number >= 30:
            kept = (before & now).total()
            changed.append(1 - kept / max(1, before.total(), now.total()))
        before = now
    assert np.mean(changed) <= 0.3


def test_the_example_is_the_nearest_of_its_label() -> None:
    learner = ta.ShortList()
    items = [{"a": True, "b": n > 5, "c": n % 2 == 0} for n in range(10)]
    teach(learner, items, ["yes" if item["b"] else "no" for item in items])
    for item in ({"a": True, "b": True, "c": True}, {"a": False, "b": False, "c": False}):
        guess = learner.guess(item)
        assert guess == learner.model.first_match(item)
        other = [
            x for x, y in zip(items, ["no"] * 6 + ["yes"] * 4, strict=True) if y == guess.label
        ]
        apart = [sum(item[f] != x[f] for f in item) for x in other]
        assert sum(item[f] != guess.example[f] for f in item) == min(apart)


def test_an_answer_to_somebody_elses_guess_is_a_claim_about_two_items() -> None:
    learner = ta.ShortList()
    duck, bear = frozenset({"eggs", "wings"}), frozenset({"milk"})
    learner.learn(duck, Guess(None, None), Correction("bird"))
    learner.learn(bear, Guess("bird", duck), Correction("mammal", "milk"))
    assert [tuple(pair) for pair in learner.history.pairs] == [(1, 0, 0)]
    assert learner.guess({"milk", "hair"}).label == "mammal"


# -- any items


TABLES: dict[str, dict[str, list[Any]]] = {
    "texts only": {"essay": [f"word{n} and {n * 7 % 11}" for n in range(40)]},
    "one column": {"x": [n % 3 for n in range(40)]},
    "nothing known": {"x": [None] * 40, "y": [None] * 40},
    "not a number": {"x": [float("nan") if n % 3 else n / 7 for n in range(40)]},
    "one value": {"x": ["same"] * 40, "y": [1] * 40},
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("labels", [1, 2, 5])
def test_no_table_makes_it_raise(name: str, labels: int) -> None:
    table = ta.Table(TABLES[name])
    listed: tuple[Any, ...] = (table.features(), table.features(words=20), [], None)
    for columns in listed:
        learner = ta.AutoDFF(columns=columns)
        teach(learner, list(table.items), [str(n % labels) for n in range(len(table))])
        assert learner.model.predict(table.items)
        assert ta.load_learner(learner.to_json(), items=table.items).model == learner.model


@settings(max_examples=40, derandomize=True, deadline=None)
@given(st.data())
def test_no_mapping_makes_it_raise(data: st.DataObject) -> None:
    """Values of any kind under one name, and names that come and go."""
    value = st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.text(max_size=2)
    item = st.dictionaries(st.sampled_from(["a", "b", "c", "d"]), value, max_size=4)
    items = data.draw(st.lists(item, min_size=3, max_size=25))
    learner = ta.AutoDFF()
    for one in items:
        guess = learner.guess(one)
        label = data.draw(st.sampled_from("xyz"))
        learner.learn(one, guess, None if guess.label == label else Correction(label))
    assert len(learner.model.predict(items)) == len(items)


CELLS: list[Callable[[random.Random, int], Any]] = [
    lambda rng, n: None,
    lambda rng, n: "same",
    lambda rng, n: n,
    lambda rng, n: rng.choice([True, False, None]),
    lambda rng, n: rng.choice([float("nan"), rng.gauss(0, 1), None]),
    lambda rng, n: rng.choice([1e300, -1e300, 0.0, 1e-300]),
    lambda rng, n: rng.randrange(-(10**9), 10**9),
    lambda rng, n: " ".join(rng.choices(["a", "the", "DOG", "straße", "x" * 50], k=n % 8)),
    lambda rng, n: date(2026, 1, 1) + timedelta(days=rng.randrange(400)),
    lambda rng, n: rng.choice(["red", "", None]),
    lambda rng, n: rng.randrange(3),
]


@pytest.mark.parametrize(
    "seeds", [range(25), pytest.param(range(25, 500), marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_odd_tables_slips_and_contradictions(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it is told, it does not raise, keeps the room, and believes finite numbers."""

    def finite(*given: Any) -> Any:
        found = believe(*given)
        assert all(np.isfinite(part).all() for part in found)
        return found

    monkeypatch.setattr("tellapart.learners.fitted.believe", finite)
    for seed in seeds:
        rng = random.Random(seed)
        rows, kinds = rng.choice([1, 2, 3, 10, 40, 90]), rng.choice([1, 2, 300])
        made = [rng.choice(CELLS) for _ in range(rng.choice([1, 2, 6]))]
        cells = {f"c {k}": [make(rng, n) for n in range(rows)] for k, make in enumerate(made)}
        table = ta.Table(cells)
        features = [*table.features(words=5), *map(table.parse, ('"c 0" IS NULL',))]
        listed = rng.choice([table.features(), table.features(words=5), [], None])
        learner = ta.AutoDFF(listed, rng.choice([None, 1, 3]))
        for _ in range(2 * rows):
            row = rng.randrange(rows)
            item, guess = table.items[row], learner.guess(table.items[row])
            label = str(rng.randrange(kinds) if rng.random() < 0.1 else row * row % kinds)
            said = rng.choice([None, *features, *map(Not, features)])
            answer = None if guess.label == label else Correction(label, said)
            learner.learn(item, guess, answer)
            short = learner.practical
            assert isinstance(short, ta.ShortList)
            assert len(printed(short.model)) <= short.room
        assert len(learner.model.predict(table.items)) == rows
        assert all(map(str, learner.reasons()))
        assert ta.export.sentences(learner.model)


def test_many_answers_without_a_reason_and_without_columns() -> None:
    learner = ta.ShortList(holds=lambda feature, item: False)
    for number in range(40):
        guess = learner.guess(number)
        label = str(number % 2)
        learner.learn(number, guess, None if guess.label == label else Correction(label))
    assert learner.model.clauses == ()


# -- the parts


def test_a_reason_and_its_opposite_are_one_column() -> None:
    history = History()
    history.add({"milk": True}, "mammal")
    history.add({"eggs": True}, "bird")
    history.name(Not("milk"), 1, 0)
    history.name("milk", 0, 1)
    history.name(Is("platypus"), 1, 0)  # true, and says nothing about others
    history.name(None, 1, 0)
    assert history.features == ["milk"]
    assert [tuple(pair) for pair in history.pairs] == [(1, 0, 0), (0, 1, 0)]
    assert history.named().tolist() == [True]


def test_a_history_has_the_bits_of_its_features() -> None:
    """Columns come late: named, shown a second time, or cut out of numbers."""
    rng, history = random.Random(3), History()
    for number in range(300):
        size = float("nan") if number % 9 == 4 else rng.randrange(90)
        item = {"colour": rng.choice("rgb"), "size": size, f"x{number // 7}": True}
        history.add(item, rng.choice("ab"))
        if number % 50 == 20:
            history.name(Above("size", number / 4), number, number - 1)
    assert len(history.features) > 60
    for column, feature in enumerate(history.features):
        asked = [truth(feature, item, holds) for item in history.items]
        assert history.bits[:, column].tolist() == asked, feature
    item = {"colour": "r", "size": 17, "x3": True}
    assert history.bits_of(item).tolist() == [truth(f, item, holds) for f in history.features]


def test_a_tree_keeps_its_room() -> None:
    dice = np.random.default_rng(2)
    bits = (dice.random((200, 8)) < 0.5).astype(np.float32)
    weights = np.eye(3, dtype=np.float32)[dice.integers(0, 3, 200)]
    for room in (1, 5, 20):
        tree = grow(bits, weights, room, np.ones(8))
        nested = Nested(bits, np.arange(8))
        tree = Improvement(bits, weights, room, np.full(8, 0.1), nested).of(tree)
        assert len(terms(tree)) <= room


def test_signs_that_add_up_are_counted() -> None:
    right = []
    for seed in range(4):
        items = signs(300, 15, seed)
        ill = [sum(item[f"sign {n}"] for n in range(7)) >= 4 for item in items]
        labels = ["ill" if one else "well" for one in ill]
        learner = ta.ShortList()
        teach(learner, items[:200], labels[:200])
        said = learner.model.predict(items[200:])
        right += [one == other for one, other in zip(said, labels[200:], strict=True)]
        assert any(isinstance(f, Points) for f in learner.model.features)
    assert np.mean(right) > 0.85


def test_a_list_of_columns_keeps_what_it_knows() -> None:
    columns = Columns(["a", "b"], entered=["b"])
    assert ta.ShortList(columns).columns is columns
    assert Node().test is None


def test_every_reason_can_be_looked_up() -> None:
    columns, labels, shops = statement(2)
    table = ta.Table(columns)
    shop_of = {item.identity: shop for item, shop in zip(table.items, shops, strict=True)}

    def shop(item: Item, _: Label, guess: Guess) -> Feature | None:
        feature = table.parse(f'payee contains "{shop_of[item.identity].split()[0].lower()}"')
        return None if feature(guess.example) else feature

    learner = ta.ShortList(columns=table.features())
    teach(learner, list(table.items)[:80], labels[:80], shop)
    found = reasons(learner.model, learner.history)
    assert sum(reason.times for reason in found) == len(learner.history.pairs)
    for reason in found:
        there = [
            number
            for number, clause in enumerate(learner.model.clauses)
            for literal in clause.literals
            if reason.feature in leaves(literal.feature)
        ]
        assert (reason.fate == "stands") == bool(there)
        if there:
            assert reason.rules == tuple(sorted(set(there)))
            assert f"rule {there[0] + 1}" in str(reason)
    assert sum(reason.fate == "stands" for reason in found) >= 0.9 * len(found)


def test_hundreds_of_reasons_can_be_looked_up() -> None:
    """More than there is room for: each stands, or says why not; no shop is said to be another."""
    rng = random.Random(4)
    shops = [f"shop{n:03d}" for n in range(150)]
    rows = [rng.choice(shops) for _ in range(900)]
    table = ta.Table({"payee": [f"{shop} {n}" for n, shop in enumerate(rows)]})
    history = History(columns=table.features())
    for item, shop in zip(table.items, rows, strict=True):
        history.add(item, f"label {int(shop[4:]) % 5}")
    for number in range(5, 400):
        told = table.parse(f'payee contains "{rows[number]}"')
        history.name(told, number, number - 5)
    kept = [ta.Clause((ta.Literal(history.features[c]),), f"label {c % 5}") for c in range(30)]
    found = reasons(DecisionList(tuple(kept), ta.Clause((), "label 0")), history)
    assert sum(reason.times for reason in found) == 395
    fates = Counter(reason.fate for reason in found)
    assert fates["stands"] >= 30
    assert fates["moved"] == fates["same"] == 0
    assert fates["covered"] + fates["missed"] > 80


def test_a_threshold_stays_as_it_was_said_unless_labels_contradict_it() -> None:
    rng = random.Random(7)
    sizes = [rng.uniform(0, 100) for _ in range(150)]
    for said, stands in ((50.4, True), (70, False)):
        table = ta.Table({"size": sizes, "noise": [rng.random() for _ in sizes]})
        wanted = ["large" if size > 50 else "small" for size in sizes]
        named = table.parse(f"size >= {said}")

        def threshold(item: Item, _: Label, guess: Guess, feature: Any = named) -> Feature | None:
            if feature(item) == feature(guess.example):
                return None
            return feature if feature(item) else Not(feature)

        learner = ta.ShortList(columns=table.features())
        teach(learner, list(table.items), wanted, threshold)
        used = printed(learner.model)
        assert (named in used) == stands, (said, str(learner.model))
        for reason in reasons(learner.model, learner.history):
            if not stands:
                assert reason.fate == "moved"
                assert reason.more > 0


# -- the words of tests


def columns_of(tree: Node) -> list[list[int]]:
    """The columns of each test."""
    if tree.test is None:
        return []
    own = [column for column, _ in tree.test.parts]
    return [own, *columns_of(tree.yes), *columns_of(tree.no)]


def test_no_part_of_a_test_implies_another() -> None:
    """Without that, "at least 2 of (x > 5, x > 2, y)" is the shortest way to say it."""
    dice = np.random.default_rng(4)
    x, y = dice.integers(0, 9, 300), dice.random(300) < 0.5
    bits = np.stack([*(x > n for n in range(8)), y], 1).astype(np.float32)
    wanted = (x > 5) | ((x > 2) & y)
    weights = np.eye(2, dtype=np.float32)[wanted.astype(int)]
    found = []
    for groups in (np.arange(9), np.array([0] * 8 + [1])):
        tree = Node()
        tree.split(short_trees.Test(((5, True), (8, True))), Node(1), Node(0))
        nested = Nested(bits, groups)
        tree = Improvement(bits, weights, 4, np.full(9, 0.1), nested).of(tree)
        found.append(any(sum(column < 8 for column in own) > 1 for own in columns_of(tree)))
    assert found == [True, False]


@pytest.mark.parametrize("unknown", [False, True])
def test_a_denied_comparison_is_said_as_its_opposite_where_nothing_is_unknown(
    unknown: bool,
) -> None:
    rng = random.Random(3)
    sizes: list[float | None] = [rng.randrange(100) for _ in range(80)]
    wet = [rng.random() < 0.5 for _ in sizes]
    sizes[0] = None if unknown else 30
    pairs = zip(sizes, wet, strict=True)
    labels = ["go" if size is not None and size < 50 and w else "stay" for size, w in pairs]
    table = ta.Table({"size": sizes, "wet": wet})
    learner = ta.ShortList(columns=[table.parse("size >= 50"), table.parse("wet")])
    teach(learner, list(table.items), labels)
    assert learner.model.predict(list(table.items)) == labels or unknown
    assert ("size < 50" in to_text(learner.model)) == (not unknown)
    column = learner.history.column_for(table.parse("size < 50"))
    assert column is not None
    assert column == learner.history.column_of[table.parse("size >= 50")]
    assert "not size" not in ta.to_sql(learner.model).lower()


def test_a_row_of_the_pool_may_be_unknown() -> None:
    table = ta.Table({"size": [1, 5, 9, None]})
    large = table.parse("size >= 5")
    for pool in (None, table.features().pool):
        history = History(columns=Columns([large], pool))
        for item, label in zip(table.items[:3], "aab", strict=True):
            history.add(item, label)
        found = history.opposite(0, 3)
        assert found == (table.parse("size < 5") if pool is None else None)
        history.add(table.items[3], "a")
        assert history.opposite(0, 4) is None


def test_the_opposite_of_a_threshold() -> None:
    values = [None, -3, 0, 2, 7]
    table = ta.Table({"n": values, "x": [None if v is None else v + 0.5 for v in values]})
    for name in ("n", "x"):
        for threshold in (-np.inf, -1e30, 2, 2.5, 1e30, np.inf, np.nan):
            feature = AtMost(name, threshold)
            assert feature.opposite.opposite == feature or np.isnan(threshold)
            condition = Expression(resolve(feature, table.types))
            for item in table.items:
                assert condition(item) == feature(item), (feature, item)
            written = codec.dump(codec.encode(feature))
            assert str(codec.decode(json.loads(written), codec.Context())) == str(feature)


def test_of_two_named_features_that_are_equal_the_more_general_one_is_used() -> None:
    shops = ["TESCO LEEDS", "SHELL YORK", "TFL"] * 12
    table = ta.Table({"payee": shops})
    labels = ["food" if shop[:2] == "TE" else "travel" for shop in shops]
    exact, contains, longer = map(
        table.parse,
        ('payee is "TESCO LEEDS"', 'payee contains "tesco"', 'payee contains "tesco leeds"'),
    )
    for said in ([exact, contains], [longer, exact, contains]):
        history = History(columns=table.features())
        for item, label in zip(table.items, labels, strict=True):
            history.add(item, label)
        for number, feature in enumerate(said):
            history.name(feature, 3 * number, 1)
        used = history.instead([pair.column for pair in history.pairs], history.bits)
        assert {history.features[used[pair.column]] for pair in history.pairs} == {contains}
        learner = ta.ShortList(columns=table.features())
        items, turns = list(table.items), iter(said)
        learner.learn(items[1], learner.guess(items[1]), Correction("travel"))
        for item in items[::3][: len(said)]:
            answer = Correction("food", next(turns))
            learner.learn(item, Guess("travel", items[1]), answer)
        assert set(printed(learner.model)) == {contains}


def test_an_item_is_read_twice_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    read, plain = list[Item](), History.bits_of
    monkeypatch.setattr(History, "bits_of", lambda h, item: (read.append(item), plain(h, item))[1])
    learner, items = ta.AutoDFF(), signs(60, 6, 1)
    for item in items:
        guess = learner.guess(item)
        label = "yes" if item["sign 0"] else "no"
        learner.learn(item, guess, None if guess.label == label else Correction(label))
    assert len(read) <= 130
