"""Suspected slips: planted ones are found, fitted ones too, and the sentences are true."""

from __future__ import annotations

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


def test_a_wrong_guess_that_was_let_stand_is_suspected_too() -> None:
    history = animals()
    history.add({"feathers", "beak"}, Guess("mammal", {"milk", "a"}), None)
    assert [suspect.round for suspect in suspects(history)] == [25]


def test_a_slip_that_the_model_fitted_is_found_and_the_lonely_rule_mentioned() -> None:
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
    assert suspect.why.endswith("; the model's rule for it rests on it alone")


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
    assert "chub was called a bird, but it lays eggs and has fins, and" in second.why


def test_same_history_same_list_and_columns_may_come_packed() -> None:
    world = worlds.tree(300, 50, 5, 3, exceptions=0.02, seed=4)
    learner = CappedDFF(m=5)
    history, _ = slipped(world, learner, 0.05, seed=1)
    found = suspects(history, learner)
    assert found == suspects(history, learner, truth_of=world.truth)
    assert found == suspects(history, learner.model)
    again = suspects(history, features=reversed(learner.model.features))
    assert [(s.round, s.score) for s in again] == [(s.round, s.score) for s in found]


def test_a_lesson_nobody_listened_to() -> None:
    world = worlds.tree(300, 50, 5, 3, exceptions=0.02, seed=4)
    teacher = Listening(world.teacher())
    lesson = teach(CappedDFF(m=5), teacher, world.items)
    history = Transcript.of(lesson, world.items, world.labels)
    assert [told.label for told in history.rounds] == list(world.labels)
    assert suspects(history) == suspects(teacher.history)


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
