"""The search for the worst case misses nothing, plays by the rules, and finds loops."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stub_learners import Contrary
from tellapart.adversary.equivalence import HIDDEN
from tellapart.adversary.moves import Moves, Played, Position
from tellapart.adversary.search import longest, walk
from tellapart.adversary.worst_case import as_lesson, worst_case
from tellapart.learners import (
    DFF,
    AdaptiveDFF,
    BaseLearner,
    CappedDFF,
    Guarded,
    RobustDFF,
)
from tellapart.model import Clause, DecisionList
from tellapart.protocol import Correction, Guess, Item
from worst_cases import assert_legal, attack, replay

# -- lessons without end


@pytest.mark.parametrize(
    ("learner", "m", "k"),
    [
        (CappedDFF(1), 2, 0),
        (CappedDFF(2), 3, 0),
        (CappedDFF(2), 3, 1),
        (DFF(), 1, 1),
        (DFF(), 2, 1),
        (Contrary(), 1, 0),
        (Guarded(Contrary(), CappedDFF(1)), 2, 0),
    ],
    ids=repr,
)
def test_a_loop_is_found(learner, m, k):
    worst = attack(learner, m, k, rounds=60)
    assert worst.mistakes == math.inf
    assert len(worst.items) == 60
    assert replay(learner, worst) >= 50  # the way into the loop may hold right guesses


def test_a_cap_too_small_creates_rules_for_ever_and_dff_does_not():
    assert worst_case(CappedDFF(2), 3, 0).rules_created == math.inf
    assert worst_case(DFF(), 2, 1).rules_created == 2


GRAPHS = st.lists(st.tuples(*[st.integers(0, 4)] * 2, st.integers(0, 1)), max_size=9)


@given(GRAPHS)
@settings(max_examples=200, derandomize=True, deadline=None)
def test_longest_agrees_with_trying_every_walk(steps):
    graph = {node: [(w, then) for here, then, w in steps if here == node] for node in range(5)}
    # A walk that gathers anything it can gather does so on an edge; 5 nodes give at most 4 without
    # a loop. Bellman's recursion, far beyond that, tells the two apart.
    best = dict.fromkeys(graph, 0)
    for _ in range(60):
        best = {node: max([0, *(w + best[t] for w, t in out)]) for node, out in graph.items()}
    found = longest(graph)
    assert found.worth == {n: math.inf if worth > 4 else worth for n, worth in best.items()}
    for node, worth in found.worth.items():
        assert (node in found.step) == (worth > 0)


class Turncoat(Contrary):
    """Is right twice, and then contrary."""

    @property
    def model(self) -> DecisionList:
        return DecisionList((), Clause((), *self._said()))

    def _said(self) -> Guess:
        return self.says if self.first is None or self.rounds > 1 else self.first

    def decide(self, item: Item) -> Guess:
        return self._said()


HIDDEN[Turncoat] = lambda learner: (min(learner.rounds, 2),)


def test_right_guesses_on_the_way_are_found():
    worst = attack(Turncoat(), 1, 0, rounds=10)
    assert worst.mistakes == math.inf
    assert worst.corrections[1:3] == (None, None)
    assert replay(Turncoat(), worst) == 7


# -- the search misses nothing, and no position is taken for another


def all_walks(moves: Moves, position: Position) -> int:
    """The most mistakes, without any thought of positions met before or components alike."""
    everyone = position.like._replace(components=tuple(range(moves.m)))
    rounds = moves.rounds(position._replace(like=everyone))
    return max((played.mistakes + all_walks(moves, played.then) for played in rounds), default=0)


@pytest.mark.parametrize(
    ("learner", "m", "k", "same"),
    [
        (CappedDFF(2), 2, 1, False),
        (CappedDFF(3), 3, 0, False),
        (AdaptiveDFF(), 2, 1, False),
        (AdaptiveDFF("ruler"), 2, 1, False),
        (RobustDFF(2, 1, 1, 0), 2, 1, True),
        (RobustDFF(3, 0, 0), 3, 0, True),
    ],
    ids=repr,
)
def test_nothing_is_lost_by_remembering_positions(learner, m, k, same):
    moves = Moves(m, k, k, same_feature=same)
    found = max(all_walks(moves, opening.then) for opening in moves.openings(learner.clone()))
    assert worst_case(learner, m, k, same_feature=same).mistakes == found


@pytest.mark.parametrize(
    ("learner", "m", "k"),
    [
        (CappedDFF(2), 2, 2),
        (CappedDFF(3), 3, 1),
        (AdaptiveDFF(), 2, 2),
        (AdaptiveDFF("ruler"), 2, 2),
        (RobustDFF(2, 1, 1), 2, 1),
    ],
    ids=repr,
)
def test_what_a_learner_calls_hidden_is_all_that_matters(learner, m, k, monkeypatch):
    same = isinstance(learner, RobustDFF)
    known = worst_case(learner, m, k, same_feature=same)
    monkeypatch.delitem(HIDDEN, type(learner))  # all of it, clock included
    full = worst_case(learner, m, k, same_feature=same)
    assert full.mistakes == known.mistakes
    assert full.positions >= known.positions


def test_a_guard_hides_no_more_than_who_is_next(monkeypatch):
    learner = Guarded(DFF(), CappedDFF(2))
    known = worst_case(learner, 2, 1)
    hidden = HIDDEN[Guarded]
    monkeypatch.setitem(HIDDEN, Guarded, lambda guard: (*guard.charged, *hidden(guard)))
    assert worst_case(learner, 2, 1).mistakes == known.mistakes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "options"),
    [
        (CappedDFF(3), {}),
        (AdaptiveDFF(), {"unnamed": True}),
        (RobustDFF(3, 3, 2), {"same_feature": True}),
        (RobustDFF(3, 3, 1), {"same_feature": True, "unnamed": True}),
        (RobustDFF(3, 3, 3), {}),
        (Guarded(DFF(), RobustDFF(3, 2, 1)), {"same_feature": True}),
    ],
    ids=repr,
)
def test_every_lesson_is_legal_not_only_the_worst(learner, options):
    named = Counter()
    for seed in range(25):
        generator = random.Random(seed)
        moves = Moves(3, 3, 1, **options)

        def anything(_: Any, rounds: list[Played], generator=generator) -> Played | None:
            return generator.choice(rounds) if rounds else None

        line = walk(moves, learner.clone(), anything, 20)
        worst = as_lesson(moves, learner, line, (math.inf, math.inf), 0)
        assert_legal(worst, same_feature=moves.same_feature)
        assert replay(learner, worst) == sum(played.mistakes for played in line)
        for played in line[1:]:
            if played.home.exception:
                named[moves.commitments.sides.get(played.correction.feature) is not None] += 1
    # exceptions use free features, and where features return also those of ordinary items
    assert named[False]
    assert bool(named[True]) == (isinstance(learner, RobustDFF | Guarded))


class Anyone:
    """A random teacher who may do all that is allowed, also what the search leaves out.

    Exceptions with any wrong label, slips, old names; the items are those that hurt now.
    """

    def __init__(self, learner: BaseLearner, m: int, k: int, seed: int) -> None:
        self.random, self.learner, self.m, self.bad = random.Random(seed), learner, m, k
        self.sides: dict[str, tuple[int, int] | None] = {}
        self.homes: dict[Item, tuple[int, bool]] = {}
        self.against: dict[str, set[Item]] = defaultdict(set)

    def mistakes(self, rounds: int) -> int:
        total = 0
        for t in range(rounds):
            component = self.random.randrange(self.m)
            exception = self.bad > 0 and self.random.random() < 0.3
            truths = {f: self.truth(f, component) for f in self.sides}
            names = {f for f, there in truths.items() if there} | {f"item {t}"}
            guess = self.learner.guess(frozenset(names))
            wrong = [f"label {c}" for c in range(self.m) if c != component] + [f"own {t}"]
            label = self.random.choice(wrong) if exception else f"label {component}"
            if guess.label == label:
                continue
            total += guess.label is not None
            self.bad -= exception
            asked = guess.label is None
            feature = None if asked else self.name(t, component, exception, guess, names)
            item = frozenset(names if feature is None else names | {feature})
            self.homes[item] = component, exception
            self.learner.learn(item, guess, Correction(label, feature))
        return total

    def truth(self, feature: str, component: int) -> bool:
        sides = self.sides[feature]
        if sides is not None and component in sides:
            return component == sides[0]
        return self.random.random() < 0.5

    def name(self, t: int, component: int, exception: bool, guess: Guess, names: set[str]) -> str:
        other, its_exception = self.homes[guess.example]
        sides: tuple[int, int] | None = (component, other)
        if exception or its_exception or other == component:
            sides = None
        elif self.bad and self.random.random() < 0.2:
            self.bad, sides = self.bad - 1, None  # a slip
        old = [
            f
            for f in names
            if guess.example in self.against.get(f, ()) and sides in (None, self.sides[f])
        ]
        if old and self.random.random() < 0.5:
            return self.random.choice(sorted(old))
        feature = f"f{t}"
        self.sides[feature] = sides
        self.against[feature].add(guess.example)
        return feature


@pytest.mark.slow
@pytest.mark.parametrize(("m", "k"), [(1, 2), (2, 1), (2, 2), (3, 1)])
@pytest.mark.parametrize("schedule", [None, "growing", "ruler"])
def test_no_random_teacher_does_more_harm(m, k, schedule):
    learner = CappedDFF(m) if schedule is None else AdaptiveDFF(schedule)
    most = worst_case(learner, m, k).mistakes
    tried = [Anyone(learner.clone(), m, k, seed).mistakes(60) for seed in range(150)]
    assert max(tried) <= most
    if schedule != "ruler":  # whose worst cases are too long to happen by chance
        assert max(tried) >= most - 3
