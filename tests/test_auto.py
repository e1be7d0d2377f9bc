"""AutoDFF keeps its bound whatever is guarded, and needs few corrections."""

from __future__ import annotations

import random
from typing import Any

import pytest

import tellapart as ta
from stub_learners import Fickle
from tellapart.learners.base import BaseLearner
from tellapart.learners.difficulty import Told, least
from tellapart.protocol import Correction, Guess, Item


class Guarding(ta.AutoDFF):
    """AutoDFF with somebody else in the place of `ShortList`."""

    practice: type[BaseLearner] = Fickle

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.practical = self.practice(remember=self.remember)


class GuardingDFF(Guarding):
    practice = ta.DFF


class Hunter:
    """A teacher who picks the items as well: one that is guessed wrong, whenever there is one.

    Component i has the features "i>j", several for each j, which no item of j has; the rest of an
    item is chosen at random. Exceptions, at most k, are used when nothing else errs.
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
                assert least(learner.corrections) <= m + k
                practical, guaranteed = learner.charged
                allowed = max(guaranteed, learner.allowed)
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
        proven = least(
            [
                Told(item, *correction, guess.example)
                for _, item, guess, correction in lesson.corrections
                if guess.label is not None
            ]
        )
        assert proven <= world.m + world.k, world
        most = max(most, proven)
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
    assert learner.charged == [lesson.mistakes, 0]
    again = ta.load_learner(learner.to_json(), items=world.items)
    assert (again.allowed, again.met) == (learner.allowed, learner.met)


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_columns_does_not_matter_where_they_are_equally_good(seed):
    rng = random.Random(seed)
    forth, back = ta.ShortList(), ta.ShortList()
    for _ in range(24):
        bits = [rng.random() < 0.5 for _ in range(4)]
        pairs = [(f"{n}", bit) for n, bit in enumerate(bits)]
        pairs += [(f"as {n}", bit) for n, bit in enumerate(bits)]
        for learner, item in ((forth, dict(pairs)), (back, dict(pairs[::-1]))):
            guess, label = learner.guess(item), f"{bits[0]}"
            learner.learn(item, guess, None if guess.label == label else Correction(label))
    assert forth.model.clauses
    assert list(forth.model) == list(back.model)


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
