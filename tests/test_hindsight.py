"""Hindsight: points where signs add up, short lists, and worlds that change."""

from __future__ import annotations

import random

import numpy as np
import pytest

import tellapart as ta
from tellapart.features import Points
from tellapart.learners.hindsight.history import History
from tellapart.learners.hindsight.points_fitting import decompose, left_out
from tellapart.model import Clause, DecisionList
from tellapart.protocol import Correction
from tellapart.simplification import simplify


def random_items(count: int, columns: int, seed: int) -> list[dict[str, bool]]:
    rng = random.Random(seed)
    return [{f"sign {n}": rng.random() < 0.5 for n in range(columns)} for _ in range(count)]


def mistakes(learner: ta.protocol.Learner, items: list[dict[str, bool]], labels: list[str]) -> int:
    """Teach without reasons."""
    wrong = 0
    for item, label in zip(items, labels, strict=True):
        guess = learner.guess(item)
        if guess.label == label:
            learner.learn(item, guess, None)
        else:
            wrong += guess.label is not None
            learner.learn(item, guess, Correction(label))
    return wrong


@pytest.mark.slow
def test_signs_that_add_up_become_points() -> None:
    items = random_items(300, 15, seed=1)
    labels = ["ill" if sum(item[f"sign {n}"] for n in range(9)) >= 5 else "well" for item in items]
    learner = ta.AutoDFF()
    found = mistakes(learner, items, labels)
    trees = mistakes(ta.Hindsight(ways=["reasons", "labels"]), items, labels)
    assert found < 0.6 * trees
    features = [literal.feature for clause in learner.model for literal in clause.literals]
    assert any(isinstance(feature, Points) for feature in features)


@pytest.mark.slow
def test_without_reasons_points_are_followed_soon_whatever_the_number_of_labels() -> None:
    """Eight labels, each with typical signs that many items lack: trees need many examples."""
    found = trees = 0
    for seed in range(2):
        dice = np.random.default_rng(seed)
        typical = dice.random((8, 30)) < 0.5
        codes = dice.integers(0, 8, 150)
        truths = typical[codes] ^ (dice.random((150, 30)) < 0.2)
        items = [{f"sign {n}": bool(true) for n, true in enumerate(row)} for row in truths]
        labels = [f"label {code}" for code in codes]
        found += mistakes(ta.Hindsight(), items, labels)
        trees += mistakes(ta.Hindsight(ways=["labels"]), items, labels)
    assert found < 0.42 * trees


@pytest.mark.slow
def test_points_hear_reasons() -> None:
    """Of many signs a few add up; a teacher who names one of them each time saves mistakes."""
    matter = [f"sign {n}" for n in range(5)]
    silent = taught = 0
    for seed in range(3):
        items = random_items(150, 60, seed)
        labels = ["ill" if sum(item[sign] for sign in matter) >= 3 else "well" for item in items]
        silent += mistakes(ta.Hindsight(ways=["points"]), items, labels)
        learner = ta.Hindsight(ways=["points"])
        for item, label in zip(items, labels, strict=True):
            guess = learner.guess(item)
            if guess.label in (None, label):
                learner.learn(item, guess, None if guess.label else Correction(label))
                continue
            taught += 1
            wanted = label == "ill"  # a sign of illness, or that it is missing
            told = [s for s in matter if item[s] == wanted and guess.example[s] != wanted]
            reason = told[0] if told and wanted else ta.Not(told[0]) if told else None
            learner.learn(item, guess, Correction(label, reason))
    assert taught < 0.7 * silent


@pytest.mark.slow
@pytest.mark.parametrize("labels", [2, 3, 5])
@pytest.mark.parametrize("way", ["points", "few points", "labels"])
def test_the_list_says_what_the_reading_says(way: str, labels: int) -> None:
    """Rules as clauses, and rules on packed columns, are the same rules."""
    items = random_items(150, 12, seed=labels)
    rng = random.Random(2)
    said = [str((sum(item.values()) + (rng.random() < 0.1)) % labels) for item in items]
    learner = ta.Hindsight(ways=[way])
    mistakes(learner, items, said)
    learner.catch_up()
    history, [reading] = learner._history, learner._readings
    guessed = [history.labels[code] for code in reading.guesses(history, 0)]
    assert guessed == learner.model.predict(history.items)
    assert len(set(guessed)) == labels
    again = ta.load_learner(learner.to_json())
    assert again.model == learner.model
    assert again.to_json() == learner.to_json()


@pytest.mark.parametrize("shape", [(12, 5), (6, 20)])
def test_an_item_left_out_is_missed_as_if_fitted_without_it(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    n, columns = shape
    rows = rng.integers(0, 2, size=shape).astype(float)
    target = np.eye(3)[rng.integers(0, 3, size=n)]
    cost = 0.7
    values, vectors = decompose(rows - rows.mean(0))
    found = left_out(values, vectors, target - target.mean(0), cost)
    for item in range(n):
        others = np.arange(n) != item
        usual, share = rows[others].mean(0), target[others].mean(0)
        centred = rows[others] - usual
        weights = np.linalg.solve(
            centred.T @ centred + cost * np.eye(columns), centred.T @ (target[others] - share)
        )
        assert found[item] == pytest.approx(target[item] - share - (rows[item] - usual) @ weights)


def test_a_history_without_some_items_is_that_of_the_others() -> None:
    items = random_items(100, 9, seed=8)
    whole, others = History(), History()
    left_out = np.arange(0, 100, 7)
    at: dict[int, int] = {}
    for number, item in enumerate(items):
        label = "many" if sum(item.values()) > 4 else "few"
        whole.add(item, label)
        if number % 7:
            at[number] = others.add(item, label)
        if number % 3 == 2 and item["sign 3"] and not items[number - 1]["sign 3"]:
            whole.name("sign 3", number, number - 1)
            if number in at and number - 1 in at:
                others.name("sign 3", at[number], at[number - 1])
    rest = whole.without(left_out)
    assert rest.items == others.items
    assert [rest.labels[code] for code in rest.codes] == [others.labels[n] for n in others.codes]
    for feature, column in others.column_of.items():
        every = np.arange(len(rest))
        known = rest.truths(every, [rest.column_of[feature]])
        assert (known == others.truths(every, [column])).all()
    told = [(pair.item, pair.example, rest.features[pair.column]) for pair in rest.pairs]
    assert told == [(i, e, others.features[column]) for i, e, column in others.pairs]
    assert told
    assert rest.corrected == others.corrected


def test_a_reading_is_judged_on_items_left_out_whatever_it_was_charged_with() -> None:
    """Signs add up. A few unlucky items spoke for a tree; all items speak for points."""
    items = random_items(160, 9, seed=9)
    labels = ["many" if sum(item.values()) > 4 else "few" for item in items]
    learner = ta.Hindsight()
    mistakes(learner, items[:80], labels[:80])
    for way, reading in zip(learner.ways, learner._readings, strict=True):
        reading.mistakes = 30.0 if "points" in way else 0.0
    mistakes(learner, items[80:], labels[80:])
    learner.catch_up()
    assert "points" in learner.ways[learner._followed]
    assert ta.load_learner(learner.to_json()).to_json() == learner.to_json()


@pytest.mark.parametrize("seed", range(3))
def test_lists_have_no_ballast(seed: int) -> None:
    world = ta.worlds.tree(400, 20, 8, 3, 0.05, seed=seed)
    learner = ta.Hindsight(ways=["reasons"])
    ta.teach(learner, world.teacher(), world.items)
    bare = [Clause(clause.literals, clause.label) for clause in learner.model]  # no examples
    model = DecisionList(tuple(bare[:-1]), bare[-1])
    assert simplify(model) == model


def test_after_a_change_of_the_world_what_came_before_is_forgotten() -> None:
    items = random_items(800, 12, seed=4)
    labels = [
        "yes" if (item["sign 0"] and item["sign 1"] if n < 400 else not item["sign 0"]) else "no"
        for n, item in enumerate(items)
    ]
    learner = ta.Hindsight()
    mistakes(learner, items[:400], labels[:400])
    assert learner.forgotten == ()
    after = mistakes(learner, items[400:], labels[400:])
    [(now, since)] = learner.forgotten
    assert 400 < now < 480
    assert 380 < since < 430
    assert after < 35
    assert ta.load_learner(learner.to_json()).forgotten == learner.forgotten


def test_many_wrong_guesses_in_a_row_are_no_change_of_the_world() -> None:
    """People look through guesses, and correct the wrong ones one after the other."""
    chance = random.Random(3)
    items = random_items(600, 12, seed=3)
    learner = ta.Hindsight()
    kept: list[tuple[dict[str, bool], str]] = []
    for number, item in enumerate(items):
        right = item["sign 0"] if chance.random() < 0.75 else not item["sign 0"]
        label = "yes" if right else "no"
        guess = learner.guess(item)
        if guess.label is not None and guess.label != label and number > 40:
            kept.append((item, label))  # to be corrected later
        else:
            learner.learn(item, guess, None if guess.label == label else Correction(label))
        if len(kept) == 15:
            for wrong, label in kept:
                guess = learner.guess(wrong)
                learner.learn(wrong, guess, None if guess.label == label else Correction(label))
            kept = []
    assert learner.forgotten == ()
    assert sum(learner.guess(item).label == "yes" for item in items if item["sign 0"]) > 200


@pytest.mark.parametrize("seed", [1, 2])
def test_other_items_than_before_are_no_change_of_the_world(seed: int) -> None:
    """As in a table that is sorted: what came first is not forgotten."""
    chance = random.Random(seed)
    items = sorted(random_items(600, 12, seed=seed), key=lambda item: item["sign 0"])
    labels = []
    for item in items:
        label = "yes" if item["sign 3"] and item["sign 4"] else "no"
        noisy = item["sign 0"] and chance.random() < 0.5
        labels.append("no" if noisy else label if item["sign 0"] else "early")
    learner = ta.Hindsight()
    mistakes(learner, items, labels)
    assert learner.forgotten == ()
    early = [item for item in items if not item["sign 0"]]
    assert all(learner.guess(item).label == "early" for item in early)


def test_a_feature_named_before_the_change_is_still_known_in_a_file() -> None:
    """`both` is no column of the items; it was named in the old world, and the new one is its
    opposite."""
    both = ta.And("sign 0", "sign 1")
    items = random_items(400, 4, seed=6)
    learner = ta.Hindsight(ways=["reasons"])
    for number, item in enumerate(items):
        label = "yes" if both(item) == (number < 200) else "no"
        guess = learner.guess(item)
        tells = guess.example is not None and both(item) and not both(guess.example)
        reason = both if tells and number < 200 else None
        learner.learn(item, guess, None if guess.label == label else Correction(label, reason))
    assert learner.forgotten
    assert both in learner.model.features
    again = ta.load_learner(learner.to_json())
    assert again.to_json() == learner.to_json()
    assert again.model == learner.model


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_forgotten_in_a_world_that_stays_as_it_is(seed: int) -> None:
    world = ta.worlds.tree(600, 20, 6, 3, 0.15, seed=seed)
    learner = ta.Hindsight()
    ta.teach(learner, world.teacher(), world.items)
    assert not learner.forgotten
