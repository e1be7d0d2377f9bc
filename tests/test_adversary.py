"""The adversary meets the tight bounds, breaks none, and plays by the rules."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellapart as ta
from odd_learners import Contrary
from tellapart import theory
from tellapart.errors import ParameterError, ProtocolError, TellapartError
from tellapart.learners import (
    DFF,
    AdaptiveDFF,
    BaseLearner,
    CappedDFF,
    Guarded,
    RobustDFF,
    StRoDFF,
)
from tellapart.model import Clause, DecisionList
from tellapart.protocol import Correction, Guess, Item, Label
from tellapart.teachers.adversary import Adversary, WorstCase, _told, worst_case
from tellapart.teachers.board import Board, Played, Position
from tellapart.teachers.longest import longest
from tellapart.teachers.search import walk

SMALL = [(m, k) for m in (1, 2, 3) for k in (0, 1, 2)]


class Transcript:
    """A teacher who says what was said, whatever the guess."""

    def __init__(self, worst: WorstCase) -> None:
        self.said = dict(zip(worst.items, worst.corrections, strict=True))

    def answer(self, item: Item, guess: Guess) -> Correction | None:
        return self.said[item]


def replay(learner: BaseLearner, worst: WorstCase) -> int:
    """The mistakes of a fresh learner in the lesson."""
    lesson = ta.teach(learner.clone(), Transcript(worst), worst.items)
    assert not lesson.inconsistencies
    return lesson.mistakes


def assert_legal(worst: WorstCase, *, same_feature: bool = False) -> None:
    """The lesson is one of a world with m components, k bad rounds and s alike among them."""
    home = dict(zip(worst.items, worst.homes, strict=True))
    labels = {}
    bad = 0
    alike: Counter[Any] = Counter()
    reasons = defaultdict(set)
    assert len(home) == len(worst.items), "an item came twice"
    for t, (item, guess, correction) in enumerate(
        zip(worst.items, worst.guesses, worst.corrections, strict=True)
    ):
        here = home[item]
        assert 0 <= here.component < worst.m
        bad += here.exception
        label = guess.label if correction is None else correction.label
        if here.exception:
            assert label not in labels.values()
        else:
            assert labels.setdefault(here.component, label) == label
        if correction is None:
            continue
        assert correction.label != guess.label
        if t == 0:
            assert guess == (None, None)
            continue
        there, feature = home[guess.example], correction.feature
        both_ordinary = not here.exception and not there.exception
        if feature is None:
            bad += both_ordinary and here.component != there.component
            continue
        assert feature in item
        assert feature not in guess.example
        if both_ordinary:
            reasons[here.component, there.component].add(feature)
            for other in worst.items:
                if home[other].component == here.component:
                    assert feature in other
                if home[other].component == there.component:
                    assert feature not in other
        if here.exception and not there.exception and guess.example != worst.items[0]:
            alike[feature, there.component] += 1
    assert bad <= worst.k
    assert len(set(labels.values())) == len(labels)
    assert max(alike.values(), default=0) <= worst.s
    if same_feature:
        assert all(len(features) == 1 for features in reasons.values())


def attack(learner: BaseLearner, m: int, k: int, s: int | None = None, **options: Any) -> WorstCase:
    """`worst_case`, its lesson checked and taught."""
    worst = worst_case(learner, m, k, s, **options)
    assert_legal(worst, same_feature=options.get("same_feature", False))
    if worst.mistakes < math.inf:
        assert replay(learner, worst) == worst.mistakes
    return worst


# -- the bounds


@pytest.mark.parametrize(("m", "k"), SMALL)
def test_capped_is_tight(m, k):
    worst = attack(CappedDFF(m), m, k)
    assert worst.mistakes == theory.capped_bound(m, k)
    assert worst.rules_created == theory.capped_rules(m, k)


@pytest.mark.parametrize(("m", "k"), SMALL)
def test_growing_is_tight(m, k):
    assert attack(AdaptiveDFF("growing"), m, k).mistakes == theory.adaptive_bound(m, k)


@pytest.mark.parametrize(("m", "k"), SMALL[:-1])  # the last takes as long as all others together
def test_ruler_keeps_its_bound(m, k):
    worst = attack(AdaptiveDFF("ruler"), m, k)
    assert worst.mistakes <= theory.adaptive_bound(m, k, "ruler")
    assert worst.rules_created <= theory.ruler_rules(m, k)


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_dff_is_tight_without_exceptions(m):
    assert attack(DFF(), m, 0).mistakes == theory.dff_bound(m)


@pytest.mark.parametrize(("m", "cap", "k"), [(1, 2, 2), (1, 3, 1), (2, 3, 2), (2, 4, 1)])
def test_a_cap_too_large_costs_what_it_should(m, cap, k):
    assert attack(CappedDFF(cap), m, k).mistakes == theory.capped_bound(m, k, cap)


ROBUST = [
    (m, k, s, patience)
    for m, k in [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1)]
    for s in range(k + 1)
    for patience in sorted({0, 1, k})
]


@pytest.mark.parametrize(("m", "k", "s", "patience"), ROBUST)
def test_robust_with_patience_is_tight(m, k, s, patience):
    worst = attack(RobustDFF(m, k, s, patience), m, k, s, same_feature=True)
    assert worst.mistakes == theory.patient_bound(m, k, s, patience)
    if patience == k:
        assert worst.mistakes <= theory.robust_bound(m, k, s)
        assert worst.rules_created <= theory.robust_rules(m, k)


@pytest.mark.parametrize(("m", "k", "s"), [(1, 2, 1), (2, 1, 1), (2, 2, 1), (2, 2, 2)])
def test_the_papers_robust_keeps_theorem_3(m, k, s):
    learner = RobustDFF(m, k, s)
    worst = attack(learner, m, k, s, same_feature=True)
    assert worst.mistakes <= learner.bound(m=m, k=k, s=s) == theory.robust_bound(m, k, s)


@pytest.mark.parametrize("patience", [0, 1])
def test_patience_holds_beyond_the_learners_own_k_and_s(patience):
    learner = RobustDFF(2, 1, 1, patience)
    worst = attack(learner, 2, 2, 2, same_feature=True)
    assert worst.mistakes <= learner.bound(m=2, k=2, s=2)


@pytest.mark.parametrize(("m", "k"), [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (3, 0)])
def test_guarded_is_tight(m, k):
    learner = Guarded(Contrary(), CappedDFF(m))
    assert attack(learner, m, k).mistakes == learner.bound(m=m, k=k)


@pytest.mark.parametrize(("m", "k"), [(1, 1), (1, 2), (2, 0), (2, 1), (2, 2), (3, 0)])
def test_guarded_keeps_its_bound(m, k):
    learner = Guarded(DFF(), CappedDFF(m))
    assert attack(learner, m, k).mistakes <= learner.bound(m=m, k=k)


@pytest.mark.parametrize(("m", "k"), [(1, 1), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1)])
def test_reasons_left_out_do_not_hurt_more(m, k):
    assert attack(CappedDFF(m), m, k, unnamed=True).mistakes == theory.capped_bound(m, k)
    assert attack(AdaptiveDFF(), m, k, unnamed=True).mistakes == theory.adaptive_bound(m, k)


@pytest.mark.parametrize("patience", [0, 1, 2])
def test_reasons_left_out_do_not_hurt_robust_more(patience):
    worst = attack(RobustDFF(2, 2, 1, patience), 2, 2, 1, same_feature=True, unnamed=True)
    assert worst.mistakes == theory.patient_bound(2, 2, 1, patience)


@pytest.mark.parametrize(("m", "k"), [(2, 1), (2, 2), (3, 1)])
def test_a_memory_does_not_help_against_fresh_items(m, k):
    assert attack(CappedDFF(m, remember=True), m, k).mistakes == theory.capped_bound(m, k)


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


GRAPHS = st.lists(st.tuples(*[st.integers(0, 4)] * 2, st.integers(0, 2)), max_size=9)


@given(GRAPHS)
@settings(max_examples=200, derandomize=True, deadline=None)
def test_longest_agrees_with_trying_every_walk(steps):
    graph = {node: [(w, then) for here, then, w in steps if here == node] for node in range(5)}
    # A walk that gathers anything it can gather does so on an edge; 5 nodes and steps worth 2 give
    # at most 2 * 4 without a loop. Bellman's recursion, far beyond that, tells the two apart.
    best = dict.fromkeys(graph, 0)
    for _ in range(60):
        best = {node: max([0, *(w + best[t] for w, t in out)]) for node, out in graph.items()}
    found = longest(graph)
    assert found.worth == {n: math.inf if worth > 8 else worth for n, worth in best.items()}
    for node, worth in found.worth.items():
        assert (node in found.step) == (worth > 0)


class Turncoat(Contrary):
    """Is right twice, and then contrary."""

    @property
    def model(self) -> DecisionList:
        return DecisionList((), Clause((), *self._said()))

    def _said(self) -> Guess:
        return self.says if self._first is None or self.rounds > 1 else self._first

    def _guess(self, item: Item) -> Guess:
        return self._said()

    def hidden(self) -> tuple[int]:
        return (min(self.rounds, 2),)


def test_right_guesses_on_the_way_are_found():
    worst = attack(Turncoat(), 1, 0, rounds=10)
    assert worst.mistakes == math.inf
    assert worst.corrections[1:3] == (None, None)
    assert replay(Turncoat(), worst) == 7


# -- looking only a few rounds ahead


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize(
    "learner",
    [CappedDFF(3), AdaptiveDFF(), AdaptiveDFF("ruler"), Guarded(DFF(), CappedDFF(3))],
    ids=repr,
)
def test_lookahead_is_legal_and_keeps_the_bound(learner, depth):
    worst = attack(learner, 3, 2, depth=depth)
    assert not worst.exact
    assert 5 < worst.mistakes <= learner.bound(m=3, k=2)


def test_lookahead_reaches_the_bound_of_a_large_world():
    worst = attack(CappedDFF(6), 6, 4, depth=1)
    assert worst.mistakes == theory.capped_bound(6, 4) == 48


def test_lookahead_goes_on_as_long_as_it_is_told_to():
    learner = StRoDFF(2, 0.1, 0.1, 0.1, scale=0.01)  # has a clock: no position comes twice
    worst = attack(learner, 2, 1, depth=2, rounds=30)
    assert len(worst.items) == 30
    with pytest.raises(ParameterError, match=r"more than 50 positions.*depth="):
        worst_case(learner, 2, 1, most_positions=50)


# -- the search misses nothing, and no position is taken for another


def all_walks(board: Board, position: Position) -> int:
    """The most mistakes, without any thought of positions met before or components alike."""
    everyone = position.like._replace(components=tuple(range(board.m)))
    rounds = board.rounds(position._replace(like=everyone))
    return max((played.mistakes + all_walks(board, played.then) for played in rounds), default=0)


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
    board = Board(m, k, k, same_feature=same)
    found = max(all_walks(board, opening.then) for opening in board.openings(learner.clone()))
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
    monkeypatch.setattr(type(learner), "hidden", BaseLearner.hidden)  # all of it, clock included
    full = worst_case(learner, m, k, same_feature=same)
    assert full.mistakes == known.mistakes
    assert full.positions >= known.positions


def test_a_guard_hides_no_more_than_who_is_next(monkeypatch):
    learner = Guarded(DFF(), CappedDFF(2))
    known = worst_case(learner, 2, 1)
    hidden = Guarded.hidden
    monkeypatch.setattr(Guarded, "hidden", lambda self: (*self._charged, *hidden(self)))
    assert worst_case(learner, 2, 1).mistakes == known.mistakes


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
        board = Board(3, 3, 1, **options)

        def anything(_: Any, rounds: list[Played], generator=generator) -> Played | None:
            return generator.choice(rounds) if rounds else None

        line = walk(board, learner.clone(), anything, 20)
        worst = _told(board, learner, line, math.inf, math.inf, exact=False, positions=0)
        assert_legal(worst, same_feature=board.same_feature)
        assert replay(learner, worst) == sum(played.mistakes for played in line)
        for played in line[1:]:
            if played.home.exception:
                named[board.ledger.sides.get(played.correction.feature) is not None] += 1
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


@pytest.mark.parametrize(("m", "k"), [(1, 2), (2, 1), (2, 2), (3, 1)])
@pytest.mark.parametrize("schedule", [None, "growing", "ruler"])
def test_no_random_teacher_does_more_harm(m, k, schedule):
    learner = CappedDFF(m) if schedule is None else AdaptiveDFF(schedule)
    most = worst_case(learner, m, k).mistakes
    tried = [Anyone(learner.clone(), m, k, seed).mistakes(60) for seed in range(150)]
    assert max(tried) <= most
    if schedule != "ruler":  # whose worst cases are too long to happen by chance
        assert max(tried) >= most - 3


# -- the teacher


def test_the_adversary_answers_any_learner_truly():
    adversary = Adversary(CappedDFF(3), 3, 1)
    lesson = ta.teach(DFF(), adversary, adversary)
    assert not lesson.inconsistencies
    homes = dict(zip(adversary.items, adversary.case.homes, strict=True))
    for _, item, guess, correction in lesson.corrections:
        here, there = homes[item], homes[guess.example]
        assert correction.feature in item
        assert correction.feature not in guess.example
        if not here.exception and not there.exception:
            for other, home in homes.items():
                assert home.component != here.component or correction.feature in other
                assert home.component != there.component or correction.feature not in other


def test_the_same_search_gives_the_same_lesson():
    assert worst_case(CappedDFF(3), 3, 1) == worst_case(CappedDFF(3), 3, 1)


def test_the_learner_given_is_left_alone():
    learner = CappedDFF(2)
    before = learner.to_json()
    worst_case(learner, 2, 1)
    assert learner.to_json() == before


def test_a_foreign_item_is_refused():
    adversary = Adversary(CappedDFF(2), 2, 0)
    with pytest.raises(ProtocolError, match=r"did not pick.*adversary\.items"):
        adversary.answer(frozenset({"milk"}), Guess(None, None))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"m": 0}, "m must be an integer >= 1, got 0"),
        ({"k": -1}, "k must be an integer >= 0, got -1"),
        ({"s": 2}, "s must be an integer from 0 to k = 1, got 2"),
        ({"depth": 0}, "depth must be None or an integer >= 1, got 0"),
        ({"rounds": 0}, "rounds must be an integer >= 1, got 0"),
        ({"learner": "DFF"}, "learner must be a tellapart learner, got 'DFF'"),
        ({"learner": CappedDFF(2, holds=lambda f, x: f in x)}, "cannot copy.*live in a module"),
    ],
)
def test_bad_parameters_are_named(change, message):
    with pytest.raises(ParameterError, match=message):
        worst_case(**({"learner": CappedDFF(2), "m": 2, "k": 1} | change))


class Fickle(CappedDFF):
    """Reads more in an item than its features: how many lessons there were before."""

    lessons = 0

    def _begin(self, item: Item, label: Label) -> None:
        super()._begin(item, label)
        Fickle.lessons += 1

    def _guess(self, item: Item) -> Guess:
        guess = super()._guess(item)
        return guess if Fickle.lessons < 3 else Guess("whim", guess.example)


def test_a_learner_that_does_not_repeat_itself_is_named():
    with pytest.raises(TellapartError, match=r"Fickle.*when taught the same lesson again"):
        worst_case(Fickle(2), 2, 0)
