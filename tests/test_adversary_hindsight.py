"""Learners that look back are played by a teacher who settles every truth of every item."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator
from typing import Any

import pytest

import tellapart as ta
from stub_learners import Stubborn
from tellapart.errors import ParameterError
from tellapart.learners import AdaptiveDFF, AutoDFF, BaseLearner, CappedDFF, Guarded, Hindsight
from tellapart.model import Not, truth
from tellapart.protocol import Correction, Guess, Item
from tellapart.teachers import Adversary, WorstCase, worst_case
from tellapart.teachers.adversary.equivalence import label_of
from tellapart.teachers.adversary.history_moves import Draft, HistoryMoves, HistoryPosition, Move
from tellapart.teachers.adversary.search import LevelSearch


def assert_legal(worst: WorstCase) -> None:
    """The lesson is one of a world with m components and k bad rounds."""
    home = dict(zip(worst.items, worst.homes, strict=True))
    assert len(home) == len(worst.items), "an item came twice"
    labels: dict[int, Any] = {}
    bad = 0
    for item, guess, correction in zip(worst.items, worst.guesses, worst.corrections, strict=True):
        here = home[item]
        assert 0 <= here.component < worst.m
        label = guess.label if correction is None else correction.label
        if not here.exception:
            assert labels.setdefault(here.component, label) == label
        bad += here.exception
        if correction is None or guess.label is None:
            continue
        assert label != guess.label
        there, feature = home[guess.example], correction.feature
        if feature is not None:
            assert truth(feature, item)
            assert not truth(feature, guess.example)
        if here.exception or there.exception:
            continue
        sides = {here.component: True, there.component: False}
        bad += feature is None or any(
            truth(feature, other) != sides.get(home[other].component, truth(feature, other))
            for other in worst.items
        )
    assert bad <= worst.k


class Transcript:
    """A teacher who says what was said, whatever the guess."""

    def __init__(self, worst: WorstCase) -> None:
        self.said = dict(zip(worst.items, worst.corrections, strict=True))

    def answer(self, item: Item, guess: Guess) -> Correction | None:
        return self.said[item]


def attack(learner: BaseLearner, m: int, k: int, **options: Any) -> WorstCase:
    """`worst_case`, its lesson checked and taught."""
    worst = worst_case(learner, m, k, **options)
    assert_legal(worst)
    lesson = ta.teach(learner.clone(), Transcript(worst), worst.items)
    assert lesson.mistakes == worst.mistakes
    assert not lesson.inconsistencies
    return worst


# -- AutoDFF keeps its bound


@pytest.mark.slow
@pytest.mark.parametrize(
    ("m", "k", "options", "searched"),
    [
        (1, 0, {"rounds": 30}, 30),
        (1, 1, {"features": 2, "most_positions": 60}, 0),
        (2, 0, {"most_positions": 70}, 4),
        (2, 1, {"features": 2, "most_positions": 150}, -1),
        (3, 0, {"features": 3, "most_positions": 100}, -1),
        (2, 0, {"features": 2, "look_into": True, "most_positions": 70}, 0),
        (2, 1, {"features": 2, "look_into": True, "most_positions": 100}, -1),
    ],
)
def test_auto_keeps_its_bound(m, k, options, searched):
    worst = attack(AutoDFF(), m, k, **options)
    assert m + k > 1 or not worst.mistakes
    assert m + k == 1 or worst.mistakes
    assert worst.mistakes <= AutoDFF().bound(m=m, k=k)
    assert worst.searched >= searched


def test_worlds_of_few_items_are_searched_to_the_end():
    """Two features make four items, and a lesson ends when all have come."""
    worst = attack(AutoDFF(), 2, 0, features=2, look_into=True, most_positions=2000)
    assert worst.exact
    assert worst.mistakes <= AutoDFF().bound(m=2, k=0)


@pytest.mark.parametrize(("m", "k"), [(1, 1), (2, 0), (2, 1)])
def test_hindsight_under_guard_keeps_the_bound(m, k):
    learner = Guarded(Hindsight(), CappedDFF(m))
    worst = attack(learner, m, k, features=2, most_positions=60)
    assert 0 < worst.mistakes <= learner.bound(m=m, k=k)


class OnStrings(AutoDFF):
    """AutoDFF with a puppet for its practical learner."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.practical = Stubborn(remember=self.remember)


class Strings(HistoryMoves):
    """A teacher who also says what the puppet shows: any earlier item.

    So what AutoDFF does with any practical learner, Hindsight of today or of tomorrow, is tried.
    """

    def rounds(self, position: HistoryPosition) -> Iterator[Move]:
        learner, items = position.load()
        if not items or learner.shown is not learner.practical:
            yield from super().rounds(position)
            return
        for item, move in zip(items, position.line(), strict=True):
            learner.practical.says = Guess(label_of(move.label), item)
            pickled = pickle.dumps((learner, items))
            yield from super().rounds(position._replace(pickled=pickled))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("m", "k", "features"), [(1, 1, 1), (1, 1, 2), (2, 0, 2), (2, 1, 2), (1, 2, 2), (3, 0, 3)]
)
def test_nobody_in_its_place_brings_it_above_its_bound(m, k, features):
    found = LevelSearch(Strings(m, k, features), OnStrings(), 300, 60).best.mistakes
    bound = OnStrings().bound(m=m, k=k)
    assert 0.7 * bound <= found <= bound


class Unguarded(OnStrings):
    """The practical learner is shown, whatever it costs."""

    @property
    def shown(self) -> BaseLearner:
        return self.practical


class Lax(OnStrings):
    """Every look at the world's difficulty allows one mistake more than it proves."""

    def _allow(self) -> None:
        super()._allow()
        self._allowed += 1


class Free(OnStrings):
    """The guaranteed learner is not charged."""

    def _learn(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        charged = self._charged[0]
        super()._learn(item, guess, correction)
        self._charged = [charged, 0]


@pytest.mark.parametrize("kind", [Unguarded, Lax, Free])
def test_a_broken_guard_is_caught(kind):
    found = LevelSearch(Strings(2, 0, 2), kind(), 100, 20).best.mistakes
    assert found > kind().bound(m=2, k=0)


# -- the search plays by the rules, and misses nothing that is known


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "m", "k", "features"),
    [
        (CappedDFF(1), 1, 1, 2),
        (CappedDFF(2), 2, 0, 2),
        (CappedDFF(2), 2, 1, 2),
        (CappedDFF(3), 3, 0, 3),
        (AdaptiveDFF(), 2, 0, 2),
        (AdaptiveDFF(), 1, 2, 2),
    ],
    ids=repr,
)
def test_both_boards_find_the_same_worst_case(learner, m, k, features):
    found = LevelSearch(HistoryMoves(m, k, features), learner.clone(), 700, 100)
    assert found.best.mistakes == worst_case(learner, m, k).mistakes


@pytest.mark.parametrize("look_into", [False, True])
def test_every_lesson_is_legal_not_only_the_worst(look_into):
    named = set()
    for seed in range(30):
        generator = random.Random(seed)
        moves = HistoryMoves(3, 2, 4, look_into)
        position = moves.start(CappedDFF(3))
        for _ in range(7):
            options = list(moves.rounds(position))
            if not options:
                break
            position = moves.play(generator.choice(options))
        line = position.line()
        _, items = position.load()
        guesses = tuple(
            Guess(move.guess.label, items[items.index(move.guess.example)])
            if move.guess.label is not None
            else move.guess
            for move in line
        )
        corrections = tuple(move.correction for move in line)
        named |= {type(c.feature) for c in corrections if c is not None}
        worst = WorstCase(
            0, 0, tuple(items), guesses, corrections, position.homes, 3, 2, 2, False, 0, -1
        )
        assert_legal(worst)
    assert named == {str, type(None), Not}


def test_levels_are_whole():
    """What is found with few right guesses is found by trying every lesson of that length."""

    def most(position: Any, right: int) -> int:
        found = position.mistakes
        for move in moves.rounds(position):
            if move.answer is not None or right:
                found = max(found, most(moves.play(move), right - (move.answer is None)))
        return found

    moves = HistoryMoves(1, 1, 2)
    levels = LevelSearch(moves, AdaptiveDFF(), 700, 100)
    assert levels.searched >= 1
    assert levels.best.mistakes == most(moves.start(AdaptiveDFF()), 1)


def test_others_can_be_taught_the_same_lesson():
    adversary = Adversary(AutoDFF(), 2, 1, features=2, most_positions=60)
    lesson = ta.teach(CappedDFF(2), adversary, adversary.items)
    assert not lesson.inconsistencies
    assert lesson.mistakes <= lesson.bound
    again = ta.teach(AutoDFF(), adversary, adversary.items)
    assert again.mistakes == adversary.case.mistakes
    sets = Adversary(AutoDFF(), 2, 0, features=2, look_into=True, most_positions=20)
    assert not ta.teach(CappedDFF(2), sets, sets.items).inconsistencies


def test_a_draft_is_known_by_its_number():
    assert Draft(1, {"wings"}) == Draft(1, ()) != Draft(2, {"wings"})
    assert "wings" in Draft(1, {"wings"})
    assert repr(Draft(1, {"wings"})) == "Draft(1, ['wings'])"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": 1}, "looks back"),
        ({"same_feature": True}, "looks back"),
        ({"s": 0}, "looks back"),
        ({"look_into": True}, "features must be given"),
        ({"features": 0}, "features must be"),
        ({"most_positions": 0}, "most_positions must be"),
    ],
)
def test_what_cannot_be_searched_is_said(options, message):
    with pytest.raises(ParameterError, match=message):
        worst_case(AutoDFF(), 1, 1, **options)


def test_rule_learners_do_not_take_what_is_for_others():
    with pytest.raises(ParameterError, match="only for learners that look back"):
        worst_case(CappedDFF(2), 2, 0, features=2)
