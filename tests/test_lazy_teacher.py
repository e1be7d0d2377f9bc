"""The lazy teacher: any true difference, and nothing but differences."""

from __future__ import annotations

from collections import Counter

import tellapart as ta
from tellapart.teachers import LabelOf, Lazy

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
