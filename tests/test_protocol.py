"""The conversation: what counts, what is refused, what is recorded."""

import json

import pytest

import tellapart as ta
from tellapart.errors import FormatError, ParameterError, ProtocolError

BEAR = {"milk": True, "hair": True}
DUCK = {"feathers": True, "eggs": True}
BASS = {"eggs": True, "fins": True}


def taught():
    learner = ta.CappedDFF(m=3)
    learner.learn(BEAR, learner.guess(BEAR), ta.Correction("mammal"))
    learner.learn(DUCK, learner.guess(DUCK), ta.Correction("bird", "feathers"))
    return learner


def test_the_first_label_is_asked_and_no_mistake():
    teacher = ta.teachers.Recorded([(frozenset(BEAR), ta.Correction("mammal"))])
    lesson = ta.teach(ta.DFF(), teacher, [frozenset(BEAR)] * 3)
    assert (lesson.rounds, lesson.mistakes, lesson.mistake_rounds) == (3, 0, ())


def test_a_lesson_shows_its_mistakes():
    world = ta.worlds.zoo()
    lesson = ta.teach(ta.CappedDFF(m=7), world.teacher(), world.items)
    assert repr(lesson).startswith("Lesson(rounds=101, mistakes=22, bound=51, rules_created=")
    frame, lines = lesson.to_frame(), lesson.transcript().splitlines()
    assert frame.columns == ["round", "item", "guess", "example", "label", "feature"]
    assert frame["round"].to_list() == list(lesson.mistake_rounds)
    assert len(lines) == frame.height == 22
    for line, (number, _, guess, _, label, feature) in zip(lines, frame.iter_rows(), strict=True):
        assert line.startswith(f"{number}. ")
        assert f": {guess}, like " in line
        assert line.endswith(f"No, {label}, because {feature}.")


def test_a_lesson_without_mistakes_or_reasons_can_be_shown():
    quiet = ta.teach(ta.DFF(), ta.teachers.Recorded([]), [])
    assert (quiet.transcript(), quiet.to_frame().height) == ("", 0)
    assert quiet.to_frame().schema == ta.teach(taught(), Unsure(), [BASS]).to_frame().schema
    told = ta.teach(taught(), Unsure(), [BASS, BASS])
    assert told.to_frame()["feature"].to_list() == [None] * told.mistakes
    assert told.transcript().endswith("No, fish.")


class Unsure:
    """Knows that a bass is a fish, and not why."""

    def answer(self, item, guess):
        return None if guess.label == "fish" else ta.Correction("fish")


def test_an_empty_stream_is_an_empty_lesson():
    lesson = ta.teach(ta.DFF(), ta.teachers.Recorded([]), [])
    assert (lesson.rounds, lesson.mistakes, lesson.rules_created) == (0, 0, 0)


def test_a_lesson_counts_only_its_own_rounds():
    world = ta.worlds.zoo()
    learner = ta.CappedDFF(world.m)
    first = ta.teach(learner, world.teacher(), world.items)
    second = ta.teach(learner, world.teacher(), world.items)
    assert first.rules_created + second.rules_created == learner.rules_created
    assert second.mistakes < first.mistakes


def test_a_faulty_feature_on_the_default_still_makes_the_rule():
    learner = ta.CappedDFF(m=3)
    learner.learn(BEAR, learner.guess(BEAR), ta.Correction("mammal"))
    learner.learn(DUCK, learner.guess(DUCK), ta.Correction("bird", "milk"))
    assert len(learner.inconsistencies) == 1
    assert "does not hold" in learner.inconsistencies[0].reason
    assert learner.guess(DUCK).label == "bird"


def test_a_faulty_feature_on_a_rule_is_recorded_and_not_counted():
    learner = taught()
    for _ in range(5):
        learner.learn(BASS, learner.guess(BASS), ta.Correction("fish", "eggs"))
    assert len(learner.inconsistencies) == 5
    assert "both have it" in learner.inconsistencies[0].reason
    assert (learner.rules_created, learner.rules_deleted) == (1, 0)


def test_a_contradicted_memory_is_recorded_and_kept():
    learner = ta.CappedDFF(m=3, remember=True)
    learner.learn(BEAR, learner.guess(BEAR), ta.Correction("mammal"))
    learner.learn(BEAR, learner.guess(BEAR), ta.Correction("bird", "feathers"))
    assert learner.guess(BEAR) == ta.Guess("mammal", BEAR)
    assert len(learner.inconsistencies) == 1


def test_the_first_item_needs_a_label():
    with pytest.raises(ProtocolError, match="needs a label"):
        ta.DFF().learn(BEAR, ta.Guess(None, None), None)


def test_a_guess_nobody_made_is_an_unknown_round():
    with pytest.raises(ProtocolError, match="unknown round"):
        ta.DFF().learn(BEAR, ta.Guess("bird", DUCK), ta.Correction("mammal", "milk"))
    with pytest.raises(ProtocolError, match="unknown round"):
        taught().learn(BASS, ta.Guess("mammal", DUCK), ta.Correction("fish", "fins"))


def test_a_feature_that_cannot_be_read_changes_nothing():
    learner = taught()
    before = learner.to_json()
    with pytest.raises(ZeroDivisionError):
        learner.learn(BASS, learner.guess(BASS), ta.Correction("fish", lambda item: 1 / 0))
    assert learner.to_json() == before


@pytest.mark.parametrize("damage", ["learner", "parameters", "state", "remember"])
def test_a_damaged_learner_file_is_refused(damage):
    refuses(json.loads(taught().to_json()), damage, lambda broken: broken)


@pytest.mark.parametrize("damage", ["first", "memory", "rounds", "rules"])
def test_a_damaged_state_of_a_learner_is_refused(damage):
    data = json.loads(taught().to_json())
    refuses(data["state"], damage, lambda broken: data | {"state": broken})


def refuses(data, damage, whole):
    for broken in (data | {damage: "?"}, {k: v for k, v in data.items() if k != damage}):
        with pytest.raises(FormatError):
            ta.load_learner(json.dumps(whole(broken)))


def test_a_learner_of_another_format_is_refused():
    with pytest.raises(FormatError, match="format 2"):
        ta.load_learner('{"tellapart":"learner","format":99}')


def test_featureless_corrections_count_toward_the_cap():
    """THEORY: the bounds fail by one if they do not."""
    learner = ta.CappedDFF(m=2)
    learner.learn("x0", learner.guess("x0"), ta.Correction("a"))
    learner.learn("e", learner.guess("e"), ta.Correction("odd"))
    for _ in range(2):
        learner.learn("x1", learner.guess("x1"), ta.Correction("a"))
    assert learner.rules_deleted == 1
    assert learner.guess("x1").label == "a"


def test_featureless_corrections_get_counters_of_their_own():
    learner = ta.RobustDFF(m=2, k=2, s=1)
    learner.learn("x0", learner.guess("x0"), ta.Correction("a"))
    learner.learn("e", learner.guess("e"), ta.Correction("odd"))
    for seen in range(4):  # one counter is set aside (b = 1), three others exceed k = 2
        assert learner.rules_deleted == 0, seen
        learner.learn("x1", learner.guess("x1"), ta.Correction("a"))
    assert learner.rules_deleted == 1


def test_a_class_in_place_of_a_teacher_gets_a_message() -> None:
    with pytest.raises(
        ParameterError, match=r"the teacher is the class Recorded.* Recorded\(\.\.\.\)"
    ):
        ta.teach(ta.DFF(), ta.teachers.Recorded, [])  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(ParameterError, match="the learner is the class DFF"):
        ta.simulate(ta.DFF, ta.worlds.zoo())  # type: ignore[arg-type]  # wrong on purpose
