"""AutoDFF keeps its bound whatever is guarded, and needs few corrections."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tellapart as ta
from stub_learners import Fickle
from tellapart import codec
from tellapart.features import Above
from tellapart.learners.auto import Difficulty, Told
from tellapart.learners.base import BaseLearner
from tellapart.learners.hindsight.history import History
from tellapart.learners.hindsight.readings import WAYS, TreeReading
from tellapart.learners.hindsight.tree_growing import Grower
from tellapart.model import holds, truth
from tellapart.protocol import Correction, Guess, Item


class Guarding(ta.AutoDFF):
    """AutoDFF with somebody else in the place of Hindsight."""

    practice: type[BaseLearner] = Fickle

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.practical = self.practice(remember=self.remember)


class GuardingDFF(Guarding):
    practice = ta.DFF


class Hunter:
    """A teacher who picks the items as well: one that is guessed wrong, whenever there is one.

    Component i has the features "i>j", several for each j, which no item of j has; the rest of an
    item is chosen at random. Exceptions, at most k, are used when nothing else errs. This is for
    larger worlds and longer lessons than test_adversary_hindsight.py searches.
    """

    def __init__(self, m: int, k: int, seed: int) -> None:
        self.m, self.k, self.rng = m, k, random.Random(seed)
        pairs = [(i, j) for i in range(m) for j in range(m) if i != j]
        self.features = [(i, j, f"{i}>{j} {n}") for i, j in pairs for n in range(3)]
        self.home: dict[Item, int] = {}
        self.odd: dict[Item, str] = {}

    def item(self) -> Item:
        number = self.rng.randrange(self.m)
        held = {f for i, j, f in self.features if i == number or (j != number and self.coin())}
        item = frozenset(held | {f"name {len(self.home)}"})
        self.home[item] = number
        return item

    def coin(self) -> bool:
        return self.rng.random() < 0.5

    def label(self, item: Item) -> str:
        return self.odd.get(item, f"label {self.home[item]}")

    def correction(self, item: Item, guess: Guess) -> Correction:
        mine, other = self.home[item], self.home[guess.example]
        sound = not {item, guess.example} & self.odd.keys()
        usable = [
            f
            for i, j, f in self.features
            if f in item and f not in guess.example and (not sound or (i, j) == (mine, other))
        ]
        return Correction(self.label(item), self.rng.choice(usable) if usable else None)

    def hunt(self, learner: BaseLearner) -> int:
        first = self.item()
        learner.learn(first, learner.guess(first), Correction(self.label(first)))
        mistakes, k = 0, self.k
        while mistakes < 1000:
            tries = [self.item() for _ in range(8 * self.m)]
            wrong = [x for x in tries if learner.guess(x).label != self.label(x)]
            item = wrong[0] if wrong else tries[0]
            if not wrong or self.rng.random() < 0.1:
                if not k:
                    if not wrong:
                        return mistakes
                else:
                    k -= 1
                    others = {f"label {n}" for n in range(self.m + 1)} - {self.label(item)}
                    self.odd[item] = self.rng.choice(sorted(others - {learner.guess(item).label}))
            guess = learner.guess(item)
            learner.learn(item, guess, self.correction(item, guess))
            mistakes += 1
        return mistakes


@pytest.mark.slow
@pytest.mark.parametrize("kind", [ta.AutoDFF, Guarding, GuardingDFF])
def test_nobody_hunts_it_above_its_bound(kind):
    most, spent = 0.0, False
    for m in (2, 3, 4):
        for k in (0, 1, 3):
            for seed in range(4):
                hunter, learner = Hunter(m, k, seed), kind()
                mistakes, bound = hunter.hunt(learner), learner.bound(m=m, k=k)
                assert mistakes <= bound
                assert learner._difficulty.least <= m + k
                practical, guaranteed = learner._charged
                allowed = max(guaranteed, learner._allowed)
                assert practical <= allowed + 1  # the last one came when it was still allowed
                spent |= practical == allowed + 1
                most = max(most, mistakes / bound)
    assert most > (0.2 if kind is ta.AutoDFF else 0.4)
    assert spent or kind is ta.AutoDFF


def small_worlds():
    rng = random.Random(4)
    for seed in range(40):
        make = rng.choice([ta.worlds.tree, ta.worlds.dnf])
        exceptions = rng.choice([0, 0, 2, 6, 12])
        components = rng.randint(2, 6)
        labels = rng.randint(2, min(4, components))
        yield make(60, rng.choice([8, 20]), components, labels, exceptions, seed=seed)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [ta.AutoDFF, ta.AdaptiveDFF, GuardingDFF, Guarding])
def test_corrections_never_prove_too_much(kind):
    """What is proven about m + k is true, whoever is corrected."""
    most = 0
    for world in small_worlds():
        lesson = ta.teach(kind(), world.teacher(), world.items)
        difficulty = Difficulty()
        for _, item, guess, correction in lesson.corrections:
            if guess.label is not None:
                difficulty.add(Told(item, correction.label, correction.feature, guess.example))
        difficulty.search()
        assert difficulty.least <= world.m + world.k, world
        most = max(most, difficulty.least)
        if kind is ta.AutoDFF:
            assert lesson.mistakes <= lesson.bound
    assert most > 3


@pytest.mark.parametrize(
    "world",
    [
        ta.worlds.zoo(),  # its labels alone show that it is difficult enough
        ta.worlds.tree(300, 20, 6, 4, 0.05, seed=2),  # here it takes what was named
        ta.worlds.dnf(300, 20, 8, 3, seed=3),
    ],
)
def test_the_guard_need_not_step_in(world):
    learner = ta.AutoDFF()
    lesson = ta.teach(learner, world.teacher(), world.items)
    assert learner._charged == [lesson.mistakes, 0]
    again = ta.load_learner(learner.to_json(), items=world.items)
    assert (again._allowed, again._met) == (learner._allowed, learner._met)


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_columns_does_not_matter_where_they_are_equally_good(seed):
    rng = random.Random(seed)
    forth, back = ta.Hindsight(), ta.Hindsight()
    for _ in range(24):
        bits = [rng.random() < 0.5 for _ in range(4)]
        pairs = [(f"{n}", bit) for n, bit in enumerate(bits)]
        pairs += [(f"as {n}", bit) for n, bit in enumerate(bits)]
        for learner, item in ((forth, dict(pairs)), (back, dict(pairs[::-1]))):
            guess, label = learner.guess(item), f"{bits[0]}"
            learner.learn(item, guess, None if guess.label == label else Correction(label))
    assert forth.model.clauses
    assert list(forth.model) == list(back.model)


def test_reasons_that_lead_nowhere_are_soon_not_followed():
    world = ta.worlds.tree(300, 12, 4, 3, seed=0)

    class Whimsical:
        """The right label, and any feature that tells the two apart."""

        def __init__(self) -> None:
            self.teacher, self.rng = world.teacher(), random.Random(0)

        def answer(self, item: Item, guess: Guess) -> Correction | None:
            correction = self.teacher.answer(item, guess)
            if correction is None or guess.label is None:
                return correction
            fit = [f for f in world.features if holds(f, item) > holds(f, guess.example)]
            return Correction(correction.label, self.rng.choice(fit) if fit else None)

    learner = ta.Hindsight(world.features)
    mistakes = ta.teach(learner, Whimsical(), world.items).mistakes
    trusting = ta.Hindsight(world.features, ways=["reasons"])
    assert mistakes * 3 < ta.teach(trusting, Whimsical(), world.items).mistakes
    assert learner.ways[learner._followed] == "labels"


def test_a_reason_and_its_opposite_are_one_column():
    history = History()
    history.add({"milk": True}, "mammal")
    history.add({"eggs": True}, "bird")
    history.name(ta.Not("milk"), 1, 0)
    history.name("milk", 0, 1)
    history.name(ta.features.Is("platypus"), 1, 0)  # true, and says nothing about others
    history.name(None, 1, 0)
    assert history.features == ["milk"]
    assert history.pairs == [(1, 0, 0), (0, 1, 0)]
    assert history.named == {0: 2}


def test_not_a_number_is_no_value():
    history = History()
    for number in (2.0, float("nan"), 3.0, 5.0, 7.0):
        history.add({"size": number}, "thing")
    held = history.truths(np.arange(5))
    assert not held[[f != "size" for f in history.features], 1].any()


def test_only_reasons_that_tell_apart_are_witnessed():
    learner, shown = ta.Hindsight(), Guess("bird", frozenset({"eggs"}))
    learner.overhear(shown.example, "bird")
    learner.witness({"milk"}, shown, Correction("mammal", "milk"))
    learner.witness({"milk", "hair", "eggs"}, shown, Correction("mammal", "eggs"))
    learner.witness({"fins"}, Guess("bird", frozenset({"wings"})), Correction("fish", "fins"))
    told = learner._history.to_list()
    assert [reason for _, _, *reason in told] == [[], [0, "milk"], [], []]
    assert learner._history.labels == ["bird", "mammal", "fish"]


def test_what_it_overhears_hindsight_overhears():
    heard = [({"milk"}, "mammal"), ({"eggs"}, "bird"), ({"eggs"}, "bird"), ({"eggs"}, "fish")]
    auto, alone = ta.AutoDFF(), ta.Hindsight(remember=True)
    for item, label in heard:
        auto.overhear(item, label)
        alone.overhear(item, label)
    assert auto.practical.to_json() == alone.to_json()
    assert auto.rounds == alone.rounds == 3


def test_one_item_with_two_labels():
    """Contradictions are beyond any bound; it still does not do much worse than the best guess."""
    rng = random.Random(1)
    items = [{"colour": rng.choice("rgb"), "size": rng.choice([1, 2])} for _ in range(300)]
    learner, mistakes = ta.AutoDFF(), 0
    for item in items:
        usual = "yes" if item["colour"] == "r" else "no"
        label = usual if rng.random() < 0.8 else {"yes": "no", "no": "yes"}[usual]
        guess = learner.guess(item)
        if guess.label == label:
            learner.learn(item, guess, None)
        else:
            learner.learn(item, guess, Correction(label))
            mistakes += 1
    assert mistakes <= 0.25 * len(items)


@pytest.mark.parametrize("world", [ta.worlds.zoo(), ta.worlds.tree(300, 12, 6, 3, 0.08, seed=2)])
def test_fitting_from_nothing_gives_the_same(world):
    """What is kept between fits changes nothing; nor does a file in between."""
    learner, teacher = ta.Hindsight(), world.teacher()
    names = [f for f in world.features if isinstance(f, str)]
    for number, given in enumerate(world.items):
        item = given
        if not isinstance(given, Mapping):
            item = Numbered(number, (f for f in names if f in given))
        guess = learner.guess(item)
        shown = guess
        if isinstance(guess.example, Numbered):
            shown = Guess(guess.label, world.items[guess.example.number])
        answer = teacher.answer(world.items[number], shown)
        learner.learn(item, guess, answer)
        for reading in learner._readings:
            if answer is None or reading.age(learner._history):
                continue
            anew = WAYS[learner.ways[learner._readings.index(reading)]]()
            if isinstance(anew, TreeReading):
                anew._first_way = reading.way
            anew.fit(learner._history)
            if learner._readings[learner._followed] is reading:
                anew.shorten(learner._history)
            assert anew.literals(learner._history) == reading.literals(learner._history)
            assert anew.labels == reading.labels


@pytest.mark.slow
@pytest.mark.parametrize("kind", [ta.Hindsight, ta.AutoDFF])
@pytest.mark.parametrize("world", [ta.worlds.zoo(), ta.worlds.tree(250, 12, 6, 3, 0.08, seed=2)])
def test_when_a_learner_catches_up_makes_no_difference(world, kind):
    """At once, now and then, or only when the next round comes: nobody can tell."""
    learners = [kind(), kind(), kind()]
    teacher, dice, left = world.teacher(), random.Random(0), 0
    for item in world.items:
        guesses = [learner.guess(item) for learner in learners]
        assert guesses[0] == guesses[1] == guesses[2]
        answer = teacher.answer(item, guesses[0])
        for learner in learners:
            learner.learn(item, guesses[0], answer)
        hindsight = getattr(learners[0], "practical", learners[0])
        left += bool(hindsight._late)
        learners[0].catch_up()
        assert (hindsight._late, hindsight._idle) == ([], False)
        if dice.random() < 0.3:
            learners[1].catch_up()
        assert len({str(learner.model) for learner in learners}) == 1
    assert left > 0
    said = [learner.to_dict() for learner in learners]
    assert said[0] == said[1] == said[2]


def test_a_history_has_the_same_bits_by_row_and_by_column():
    """Columns come late: named, shown a second time, or cut out of numbers."""
    rng, history = random.Random(3), History()
    for number in range(300):
        item = {"colour": rng.choice("rgb"), "size": rng.randrange(90), f"x{number // 7}": True}
        history.add(item, rng.choice("ab"))
        if number % 50 == 20:
            history.name(Above("size", number / 4), number, number - 1)
    columns = len(history.features)
    by_row = np.unpackbits(history.rows, axis=1, count=columns, bitorder="little").view(np.bool_)
    assert columns > 60
    assert np.array_equal(by_row.T, history.truths(np.arange(300)))
    for column, feature in enumerate(history.features):
        assert by_row[:, column].tolist() == [truth(feature, x, holds) for x in history.items]


class Numbered(frozenset):
    """A set of features with a number."""

    def __new__(cls, number, members):
        self = super().__new__(cls, members)
        self.number = number
        return self


@pytest.mark.parametrize(("named", "doubts"), [("a", False), ("noise", True)])
def test_reasons_that_the_rules_contradict_are_believed_less(named: str, doubts: bool) -> None:
    """Labels follow `a`; a teacher who names something else instead is believed less and less."""
    dice = random.Random(5)
    history = History()
    for number in range(120):
        held = {"a": number % 2 == 0} | {f"noise {n}": dice.random() < 0.5 for n in range(12)}
        history.add(held, "yes" if held["a"] else "no")
    reading, again = WAYS["reasons"](), WAYS["reasons"]()
    usual = reading.way.doubt
    for number in range(2, 60, 2):
        item, example = history.items[number], history.items[number - 1]
        told = [f for f in item if f.startswith(named) and item[f] and not example[f]]
        if told:
            history.name(told[0], number, number - 1)
    reading.fit(history)
    again.restore(reading.to_dict(history), history, codec.Context())
    for one in (reading, again):
        one.fit(history)
        assert one.way.doubt is not None
        assert (one.way.doubt > usual) == doubts
    assert again.rules(history) == reading.rules(history)


@pytest.mark.parametrize(("doubt", "first"), [(0.05, "has feathers"), (0.5, "can fly")])
def test_a_reason_weighs_as_much_as_it_is_believed(doubt: float, first: str) -> None:
    """`can fly` fits all labels; but one bird was told apart by its feathers, says the teacher."""
    history = History()
    for feathers, flies, times in ((True, True, 4), (False, False, 4), (False, True, 2)):
        for _ in range(times):
            seen = {"has feathers": feathers, "can fly": flies}
            history.add(seen, "bird" if flies else "fish")
    history.name("has feathers", 0, 4)
    root = Grower(history, replace(WAYS["reasons"]().way, doubt=doubt)).grow()
    assert history.features[root.column] == first
