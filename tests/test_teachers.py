"""Teachers: what each of them says, from the truth, a seed or a transcript."""

from __future__ import annotations

from collections import Counter

import pytest

import tellapart as ta
from tellapart.errors import ParameterError
from tellapart.teachers import Hostile, Informed, LabelOf, Lazy, Recorded, Silent, Slipping

# -- lazy

DUCK, BEAR = {"eggs", "feathers", "tail"}, {"milk", "tail"}


def label_of(item: set[str]) -> str:
    return "bird" if "feathers" in item else "mammal"


def lazy(seed: int = 0) -> Lazy:
    return Lazy(label_of, ["tail", "eggs", "feathers", "milk", "fins"], seed=seed)


def test_every_difference_is_equally_likely_and_nothing_else_is_said() -> None:
    teacher = lazy()
    answers = [teacher.answer(DUCK, ta.Guess("mammal", BEAR)) for _ in range(600)]
    said = Counter(answer.feature for answer in answers if answer)
    assert set(said) == {"eggs", "feathers", ta.Not("milk")}
    assert all(150 < count < 250 for count in said.values())


def test_right_guesses_stand_and_a_question_is_answered() -> None:
    assert lazy().answer(DUCK, ta.Guess("bird", DUCK)) is None
    assert lazy().answer(DUCK, ta.Guess(None, None)) == ta.Correction("bird")


def test_no_difference_no_reason() -> None:
    teacher = Lazy(label_of, ["tail"])
    assert teacher.answer(DUCK, ta.Guess("mammal", BEAR)) == ta.Correction("bird", None)


def test_same_seed_same_lesson() -> None:
    world = ta.worlds.zoo()

    def corrections(seed: int) -> list[ta.Correction]:
        teacher = Lazy(LabelOf(world.items, world.labels), world.features, seed=seed)
        lesson = ta.teach(ta.CappedDFF(world.m), teacher, world.items)
        assert not lesson.inconsistencies
        return [corrected.correction for corrected in lesson.corrections]

    assert corrections(1) == corrections(1) != corrections(2)


# -- informed


def test_the_informed_teacher_names_what_tells_the_labels_apart() -> None:
    world = ta.worlds.zoo()
    teacher = Informed(world.items, world.labels, world.features)
    by_name = {str(animal): animal for animal in world.items}
    duck, bear, frog = by_name["duck"], by_name["bear"], by_name["frog"]
    assert teacher.answer(duck, ta.Guess("mammal", bear)).feature == "feathers"
    assert teacher.answer(duck, ta.Guess("bird", duck)) is None
    assert teacher.answer(frog, ta.Guess("mammal", bear)).feature == ta.Not("milk")
    assert teacher.answer(duck, ta.Guess(None, None)) == ta.Correction("bird")
    lesson = ta.teach(ta.AdaptiveDFF(), teacher, world.items)
    assert not lesson.inconsistencies


def test_an_informed_teacher_without_words() -> None:
    items, labels = [{"a"}, {"b"}], ["x", "y"]
    teacher = Informed(items, labels, features=["c"])
    assert teacher.answer({"a"}, ta.Guess("y", {"b"})) == ta.Correction("x", None)


# -- silent


def animals(rate: float, seed: int = 0) -> list[ta.Correction | None]:
    """To the same guess about every animal: it is like the first one."""
    world = ta.worlds.zoo()
    teacher = Silent(world.teacher(), rate, seed=seed)
    guess = ta.Guess(world.labels[0], world.items[0])
    return [teacher.answer(item, guess) for item in world.items]


def test_labels_are_those_of_the_other_teacher_and_reasons_too_if_given() -> None:
    for said, whole in zip(animals(0.5), animals(0.0), strict=True):
        if whole is None:
            assert said is None
        else:
            assert said in (whole, whole._replace(feature=None))
            assert whole.feature is not None


def test_the_share_of_reasons_is_the_rate() -> None:
    given = [
        sum(answer.feature is not None for answer in animals(rate) if answer)
        for rate in (0.0, 0.5, 1.0)
    ]
    assert given[0] == 60
    assert 20 < given[1] < 40
    assert given[2] == 0


def test_same_seed_same_silence() -> None:
    assert animals(0.5, 1) == animals(0.5, 1) != animals(0.5, 2)


# -- slipping

LABELS = ("amphibian", "bird", "fish", "insect", "invertebrate", "mammal", "reptile")


def slipping(rate: float, seed: int = 0) -> Slipping:
    world = ta.worlds.zoo(seed)
    return Slipping(world.teacher(), rate, labels=LABELS, features=world.features, seed=seed)


@pytest.mark.parametrize("seed", range(5))
def test_slips_fall_in_the_same_rounds_for_every_learner(seed: int) -> None:
    world = ta.worlds.zoo(seed)
    for learner in (ta.DFF(), ta.CappedDFF(m=7)):
        teacher = slipping(0.1, seed)
        ta.teach(learner, teacher, world.items)
        assert [slip.round for slip in teacher.made] == teacher.rounds(len(world))


def test_a_slip_is_recorded_as_said_and_as_meant() -> None:
    world = ta.worlds.zoo(1)
    teacher, honest = slipping(0.3, 1), world.teacher()
    learner = ta.CappedDFF(m=7)
    for number, item in enumerate(world.items):
        guess = learner.guess(item)
        answer, truth = teacher.answer(item, guess), honest.answer(item, guess)
        if teacher.made and teacher.made[-1].round == number:
            slip = teacher.made[-1]
            assert (slip.item, slip.meant, slip.said) == (item, truth, answer)
            assert slip.said != slip.meant
            assert slip.said.label != guess.label
        else:
            assert answer == truth
        learner.learn(item, guess, answer)
    assert 15 < teacher.slips < 50


def test_rates_of_nothing_and_everything() -> None:
    world = ta.worlds.zoo()
    teacher = slipping(0.0)
    assert ta.teach(ta.CappedDFF(m=7), teacher, world.items).mistakes == 22
    assert not teacher.slips
    teacher = slipping(1.0)
    assert ta.teach(ta.CappedDFF(m=7), teacher, world.items).mistakes == 100
    assert teacher.slips == 101


def test_with_nothing_to_slip_to_it_does_not_slip() -> None:
    world = ta.worlds.zoo()
    teacher = Slipping(world.teacher(), 1.0, labels=["mammal"])
    assert teacher.answer(world.items[0], ta.Guess(None, None)) == ta.Correction("mammal")
    assert not teacher.slips


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan"), "often"])
def test_a_rate_is_from_0_to_1(rate: float) -> None:
    teacher = ta.worlds.zoo().teacher()
    with pytest.raises(ParameterError, match="rate must be from 0 to 1"):
        Slipping(teacher, rate, labels=LABELS)
    with pytest.raises(ParameterError, match="rate must be from 0 to 1"):
        Silent(teacher, rate)


# -- recorded, hostile


def test_a_recorded_lesson_plays_again() -> None:
    world = ta.worlds.zoo()
    lesson = ta.teach(ta.CappedDFF(world.m), world.teacher(), world.items)
    first = [(world.items[0], ta.Correction(world.labels[0]))]
    transcript = first + [(r.item, r.correction) for r in lesson.corrections]
    named = {id(item) for item, _ in transcript}
    items = [item for item in world.items if id(item) in named]
    again = ta.teach(ta.CappedDFF(world.m), Recorded(transcript), items)
    assert [r.item for r in again.corrections] == [r.item for r in lesson.corrections]
    with pytest.raises(ta.TellapartError, match="says nothing"):
        Recorded([]).answer("bear", ta.Guess(None, None))
    with pytest.raises(ta.TellapartError, match="contradicts itself"):
        Recorded([("x", ta.Correction("a")), ("x", ta.Correction("b"))])


def test_a_hostile_teacher_keeps_to_s() -> None:
    """On islands an exception has but one reason of its own, so any s will do."""
    world = ta.worlds.islands(5_000, 3, seed=4)
    for s in (1, 20):
        teacher = Hostile(world.teacher(), k=20, s=s)
        lesson = ta.teach(ta.RobustDFF(3, 20, s), teacher, world.items)
        assert (teacher.lies, teacher.s) == (20, s)
        assert lesson.bound == ta.theory.patient_bound(3, 20, s, patience=20)
        assert lesson.bound / 2 < lesson.mistakes <= lesson.bound
