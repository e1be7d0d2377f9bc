"""Suspected slips: planted ones are found, fitted ones too, and the sentences are true."""

from __future__ import annotations

import random

import pytest

from tellapart import (
    AdaptiveDFF,
    CappedDFF,
    Clause,
    Correction,
    DecisionList,
    Guess,
    Literal,
    Not,
    teach,
    worlds,
)
from tellapart.errors import ParameterError, ProtocolError
from tellapart.export.text import Words
from tellapart.features import Points
from tellapart.learners import BaseLearner
from tellapart.review import Listening, Transcript, suspects
from tellapart.teachers import Slipping
from tellapart.worlds import World
from tellapart.worlds.zoo import say_feature, say_label


def slipped(
    world: World, learner: BaseLearner, rate: float, seed: int
) -> tuple[Transcript, set[int]]:
    labels = sorted(set(world.labels), key=str)
    slipping = Slipping(world.teacher(), rate, labels=labels, features=world.features, seed=seed)
    teacher = Listening(slipping)
    teach(learner, teacher, world.items)
    return teacher.history, {slip.round for slip in slipping.made}


def share(found: list[int], true: set[int]) -> float:
    return sum(number in true for number in found[: len(true)]) / len(true)


@pytest.mark.parametrize("rate", [0.01, 0.03, 0.1])
@pytest.mark.parametrize("kind", [worlds.tree, worlds.dnf], ids=["tree", "dnf"])
def test_planted_slips_come_first(kind: type[World], rate: float) -> None:
    """Almost all of the first k; the first k mistakes are at most 4 in 10."""
    world = kind(600, 100, 6, 3, seed=1)
    for learner in (CappedDFF(m=6), AdaptiveDFF()):
        history, slips = slipped(world, learner, rate, seed=2)
        found = [suspect.round for suspect in suspects(history, learner)]
        assert share(found, slips) >= 0.95
        mistakes = [n for n, told in enumerate(history.rounds[1:], 1) if told.correction]
        assert share(mistakes, slips) < 0.5


@pytest.mark.parametrize("kind", [worlds.tree, worlds.dnf], ids=["tree", "dnf"])
def test_slips_and_exceptions_are_the_odd_ones(kind: type[World]) -> None:
    world = kind(600, 100, 6, 3, exceptions=0.03, seed=1)
    history, slips = slipped(world, AdaptiveDFF(), 0.03, seed=2)
    found = [suspect.round for suspect in suspects(history)]
    assert share(found, slips | set(world.exceptions)) >= 0.95


def test_reasons_help_to_see_what_is_odd() -> None:
    """Few items, many components: the labels alone would find six in ten."""
    shares = []
    for seed in range(3):
        world = worlds.tree(300, 1000, 20, 5, exceptions=0.02, seed=seed)
        history, slips = slipped(world, CappedDFF(m=20), 0.1, seed=seed)
        found = [suspect.round for suspect in suspects(history)]
        shares.append(share(found, slips | set(world.exceptions)))
    assert sum(shares) / 3 > 0.9


@pytest.mark.parametrize("kind", [worlds.tree, worlds.dnf], ids=["tree", "dnf"])
def test_nobody_is_suspected_where_nobody_slipped(kind: type[World]) -> None:
    history, slips = slipped(kind(600, 100, 6, 3, seed=1), AdaptiveDFF(), 0.0, seed=2)
    assert not slips
    assert len([s for s in suspects(history) if s.score > 0.2]) <= 2


def test_reasons_against_an_odd_example_are_not_held_against_the_teacher() -> None:
    """Labels slip, features never do: what is said against a mislabelled example is honest."""
    world = worlds.tree(1000, 100, 8, 4, seed=1)
    labels = sorted(set(world.labels), key=str)
    teacher = Listening(Slipping(world.teacher(), 0.1, labels=labels, seed=2))
    teach(CappedDFF(m=8), teacher, world.items)
    found = suspects(teacher.history)
    assert len(found) > 80
    assert sum(suspect.feature is not None for suspect in found) <= 1


def animals() -> Transcript:
    """Twelve birds and thirteen mammals, most of them corrected with a good reason."""
    history = Transcript()
    history.add({"milk", "a"}, Guess(None, None), Correction("mammal"))
    for number in range(24):
        kind, label = (("feathers", "bird"), ("milk", "mammal"))[number % 2]
        other = ({"milk", "a"}, {"feathers", "b0"})[number % 2]
        item = {kind, f"b{number}"}
        guess = Guess(("mammal", "bird")[number % 2], frozenset(other))
        history.add(item, guess, Correction(label, kind) if number < 20 else Correction(label))
    return history


def test_a_wrong_label_is_suspected_and_the_sentence_counts_right() -> None:
    history = animals()
    history.add(
        {"feathers", "beak"}, Guess("bird", {"feathers", "b0"}), Correction("mammal"), "Ann"
    )
    (suspect,) = suspects(history)
    assert (suspect.round, suspect.label, suspect.expected) == (25, "mammal", "bird")
    assert suspect.who == "Ann"
    assert suspect.feature is None
    assert suspect.why == (
        "{beak, feathers} was called mammal, but feathers, and 12 of 12 others like that"
        " were called bird"
    )
    assert suspect.score > 0.8


def test_after_the_odd_ones_come_all_others_and_their_sentences_are_true() -> None:
    history = animals()
    history.add({"feathers", "beak"}, Guess("bird", {"feathers", "b0"}), Correction("mammal"))
    odd, everything = suspects(history), suspects(history, everything=True)
    assert everything[: len(odd)] == odd
    assert sorted(suspect.round for suspect in everything) == list(range(26))
    scores = [suspect.score for suspect in everything]
    assert scores == sorted(scores, reverse=True)
    for suspect in everything[len(odd) :]:
        assert -1 <= suspect.score <= 0
        assert suspect.label == suspect.expected
        kind, others = ("feathers", 12) if suspect.label == "bird" else ("milk", 12)
        agree = others - (suspect.label == "bird")  # the slip has feathers and is no bird
        assert suspect.why.endswith(
            f" was called {suspect.label}: {kind}, and {agree} of {others} others like that were"
            f" called {suspect.label} too"
        )


@pytest.mark.parametrize("labels", [["fish"], ["fish", "fish", "fish"], ["fish", "fish", "bird"]])
def test_without_features_every_answer_can_be_looked_at_and_none_is_odd(labels: list[str]) -> None:
    history = Transcript()
    for number, label in enumerate(labels):
        history.add({f"n{number}"}, Guess(None, None), Correction(label))
    assert not suspects(history)
    found = suspects(history, everything=True)
    assert sorted(suspect.round for suspect in found) == list(range(len(labels)))
    assert all(-1 <= suspect.score <= 0 for suspect in found)
    if labels[-1] == "bird":
        assert {suspect.why for suspect in found} == {
            "{n0} was called fish: 1 of 2 others were called fish too",
            "{n1} was called fish: 1 of 2 others were called fish too",
            "{n2} was called bird: no other was",
        }


def test_a_wrong_guess_that_was_let_stand_is_suspected_too() -> None:
    history = animals()
    history.add({"feathers", "beak"}, Guess("mammal", {"milk", "a"}), None)
    assert [suspect.round for suspect in suspects(history)] == [25]


def test_a_slip_that_the_model_fitted_is_found() -> None:
    history = animals()
    history.add(
        {"feathers", "beak"}, Guess("bird", {"feathers", "b0"}), Correction("mammal", "beak")
    )
    fitted = DecisionList(
        (
            Clause((Literal("beak"),), "mammal"),
            Clause((Literal("feathers"),), "bird"),
        ),
        default=Clause((), "mammal"),
    )
    assert fitted.predict([{"feathers", "beak"}]) == ["mammal"]  # the model is no witness
    (suspect,) = suspects(history, fitted)
    assert suspect.expected == "bird"


def test_points_fitted_to_a_slip_do_not_vouch_for_it() -> None:
    """They hold on all mammals and on the bird that was called one; their terms do not."""
    history = Transcript()
    for number in range(12):
        kind, label = (("feathers", "bird"), ("milk", "mammal"))[number % 2]
        history.add({kind, f"n{number}"}, Guess(None, None), Correction(label))
    history.add({"feathers", "beak"}, Guess(None, None), Correction("mammal"))
    points = Points({"milk": 2, "beak": 2, "feathers": -1}, 1)
    fitted = DecisionList((Clause((Literal(points),), "mammal"),), default=Clause((), "bird"))
    (suspect,) = suspects(history, fitted)
    assert suspect.why == (
        "{beak, feathers} was called mammal, but feathers, and 6 of 6 others like that were called"
        " bird"
    )


def weak_signs(slips: int, seed: int) -> tuple[Transcript, set[int]]:
    """Labels by the majority of 25 signs, which no short tree tells; nobody named any."""
    dice = random.Random(seed)
    history, wrong = Transcript(), {*dice.sample(range(100), slips)}
    for number in range(100):
        item = frozenset(f"sign {n}" for n in range(25) if dice.random() < 0.5)
        many = (len(item) > 12) != (number in wrong)
        history.add(item, Guess(None, None), Correction("many" if many else "few"))
    return history, wrong


def test_many_weak_signs_speak_together() -> None:
    found = 0
    for seed in range(4):
        history, slips = weak_signs(5, seed)
        odd = suspects(history, features=[f"sign {n}" for n in range(25)])
        found += len(slips & {suspect.round for suspect in odd[:9]})
    assert found >= 14  # of 20; trees alone find 5


def test_where_no_other_label_is_usual_the_one_given_is_unusual() -> None:
    """Swimmers are called anything but reptiles."""
    history = Transcript()
    for number in range(24):
        label = ("fish", "amphibian", "mammal", "bird")[number % 4]
        history.add({"swims", f"n{number}"}, Guess(None, None), Correction(label))
    for number in range(24):
        history.add({"scales", f"m{number}"}, Guess(None, None), Correction("reptile"))
    history.add({"swims", "n50"}, Guess(None, None), Correction("reptile"))
    (odd,) = [s for s in suspects(history, features=["swims", "scales"]) if s.round == 48]
    assert odd.why == (
        "{n50, swims} was called reptile, but swims, and none of 24 others like that were called"
        " reptile"
    )
    assert odd.against == ("swims",)


def test_what_an_item_is_speaks_against_an_answer_before_what_it_is_not() -> None:
    history = Transcript()
    for number in range(12):
        kind, label = (("feathers", "bird"), ("milk", "mammal"))[number % 2]
        history.add({kind, f"n{number}"}, Guess(None, None), Correction(label))
    history.add({"feathers", "milk", "odd"}, Guess(None, None), Correction("mammal"))
    history.add({"feathers", "n13"}, Guess(None, None), Correction("mammal"))  # the slip
    told = [one for one in suspects(history, features=["milk", "feathers"]) if one.round == 13]
    assert [one.against for one in told] == [("feathers",)]
    assert "not milk" not in told[0].why  # though that would fit 6 of 6, not 6 of 7


def test_a_feature_that_cannot_tell_is_suspected_for_sure() -> None:
    history = animals()
    milk = Guess("mammal", {"milk", "a"})
    history.add({"feathers", "c"}, milk, Correction("bird", "beak"))
    history.add({"feathers", "a"}, milk, Correction("bird", "a"))
    one, two = suspects(history)
    assert (one.score, two.score) == (1.0, 1.0)
    assert (one.label, one.expected, one.feature, one.expected_feature) == (
        "bird",
        "bird",
        "beak",
        "feathers",
    )
    assert one.why == (
        "{c, feathers} was called bird because beak, but that does not hold on it; elsewhere"
        " 'feathers' told bird from mammal"
    )
    assert "but that holds on {a, milk} as well" in two.why


def test_a_feature_that_others_contradict_is_suspected() -> None:
    """ "tail" holds on the item and not on the example, but neither kind has or lacks tails."""
    history = Transcript()
    history.add({"milk"}, Guess(None, None), Correction("mammal"))
    for number in range(40):
        kind, label = (("feathers", "bird"), ("milk", "mammal"))[number % 2]
        tail = {"tail"} if number % 4 < 2 else set()
        known = (Guess("mammal", {"milk"}), Guess("bird", frozenset({"feathers", "tail", "n0"})))
        reason = kind if number < 30 else None
        history.add({kind, f"n{number}"} | tail, known[number % 2], Correction(label, reason))
    history.add({"feathers", "tail"}, Guess("mammal", {"milk"}), Correction("bird", "tail"))
    (suspect,) = suspects(history)
    assert (suspect.round, suspect.feature, suspect.expected_feature) == (41, "tail", "feathers")
    assert suspect.label == suspect.expected == "bird"
    assert "that holds on 10 of 20 others like it and on 10 of 20 like {milk}" in suspect.why
    # what was named between the same labels twice is a way of seeing things, not a slip
    history.add({"feathers", "tail", "a"}, Guess("mammal", {"milk"}), Correction("bird", "tail"))
    assert not suspects(history)


def test_negated_features_are_judged_as_negations() -> None:
    history = animals()
    history.add({"feathers", "c"}, Guess("mammal", {"milk", "a"}), Correction("bird", Not("milk")))
    assert not suspects(history)
    history.add({"feathers", "c"}, Guess("mammal", {"milk", "a"}), Correction("bird", Not("c")))
    (suspect,) = suspects(history)
    assert suspect.feature == Not("c")


def test_the_zoo_in_words() -> None:
    world = worlds.zoo(seed=1)
    slipping = Slipping(world.teacher(), 0.05, labels=["bird", "fish", "insect"], seed=3)
    teacher = Listening(slipping)
    teach(CappedDFF(m=7), teacher, world.items)
    words = Words(say_label, say_feature, subject="it")
    first, second, *_ = suspects(teacher.history, words=words)
    assert str(first) == (
        "round 67: sparrow was called a fish, but it has feathers, and 19 of 19 others like that"
        " were called a bird"
    )
    assert "herring was called a bird, but it lays eggs and has fins, and" in second.why


def test_same_history_same_list_and_columns_may_come_packed() -> None:
    world = worlds.tree(300, 50, 5, 3, exceptions=0.02, seed=4)
    learner = CappedDFF(m=5)
    history, _ = slipped(world, learner, 0.05, seed=1)
    found = suspects(history, learner)
    assert found == suspects(history, learner, truth_of=world.truth)
    assert found == suspects(history, learner.model)
    again = suspects(history, features=reversed(learner.model.features))
    assert [(s.round, s.score) for s in again] == [(s.round, s.score) for s in found]


def test_without_features_no_label_is_doubted() -> None:
    history = Transcript()
    history.add({"milk"}, Guess(None, None), Correction("mammal"))
    assert suspects(history) == []
    for _ in range(5):
        history.add({"milk"}, Guess("mammal", {"milk"}), None)
    history.add({"milk", "wings"}, Guess("mammal", {"milk"}), Correction("bat"))
    assert suspects(history) == []


def test_errors() -> None:
    with pytest.raises(ParameterError, match="suspects: trees must be an integer >= 1, got 0"):
        suspects(Transcript(), trees=0)
    with pytest.raises(ProtocolError, match="has no label"):
        Transcript().add("bear", Guess(None, None), None)


def test_points_that_were_fitted_to_a_slip_do_not_judge_it() -> None:
    """Of rules by points the terms are looked at, and not the sums."""
    history = Transcript()
    for number in range(40):
        item = frozenset({"a" if number % 2 else "b", f"row {number}"})
        history.add(item, None, Correction("odd" if number % 2 and number != 7 else "even"))
    fitted = Points({"a": 2, "row 7": -2}, 2)
    model = DecisionList((Clause((Literal(fitted),), "odd"),), Clause((), "even"))
    assert [suspect.round for suspect in suspects(history, model)] == [7]
