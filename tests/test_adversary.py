"""The adversary meets the tight bounds and breaks none; a teacher like any other."""

from __future__ import annotations

import pytest

import tellapart as ta
from stub_learners import Contrary
from tellapart import theory
from tellapart.adversary import worst_case
from tellapart.errors import ParameterError, TellapartError
from tellapart.learners import (
    DFF,
    SRDFF,
    AdaptiveDFF,
    CappedDFF,
    Guarded,
    OptimalDFF,
    RobustDFF,
    StRoDFF,
    UniqueLabelDFF,
)
from tellapart.protocol import Guess, Item, Label
from worst_cases import attack

SMALL = [
    *((m, k) for m in (1, 2, 3) for k in (0, 1, 2) if (m, k) != (3, 2)),
    pytest.param(3, 2, marks=pytest.mark.slow),
]


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


@pytest.mark.parametrize("m", [1, 2, 3, *(pytest.param(m, marks=pytest.mark.slow) for m in (4, 5))])
def test_believing_the_first_reason_too_is_optimal(m):
    assert attack(OptimalDFF(), m, 0).mistakes == theory.optimal_bound(m) == [0, 1, 3, 6, 10][m - 1]


def test_one_exception_ends_the_guarantee_of_the_optimal_learner():
    """The first item is the exception; each other one is told from it by a reason of its own."""
    items = [frozenset({n}) for n in range(40)]
    answers = [(item, ta.Correction("plain" if n else "odd", n)) for n, item in enumerate(items)]
    assert ta.teach(OptimalDFF(), ta.teachers.Recorded(answers), items).mistakes == 39


@pytest.mark.parametrize(("m", "k"), SMALL)
def test_theorem_1_of_2023_is_false_beyond_few_exceptions(m, k):
    """As printed, m(m-1) + mk: too small exactly if k > (m-1)(m-2)/2."""
    most = worst_case(SRDFF(m), m, k).mistakes
    assert (most > m * (m - 1) + m * k) == (k > (m - 1) * (m - 2) / 2)
    assert most <= theory.srdff_bound(m, k)


@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_chance_has_no_say_in_a_world_of_one_component(k):
    """p = 1: each exception makes a rule, which errs twice."""
    assert worst_case(UniqueLabelDFF(1), 1, k).mistakes == theory.unique_label_bound(1, k) == 3 * k


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
def test_the_papers_robust_keeps_theorem_3_and_meets_a_smaller_bound(m, k, s):
    learner = RobustDFF(m, k, s)
    worst = attack(learner, m, k, s, same_feature=True)
    assert worst.mistakes == learner.bound(m=m, k=k, s=s) < theory.robust_bound(m, k, s)


@pytest.mark.parametrize("patience", [0, 1])
def test_patience_holds_beyond_the_learners_own_k_and_s(patience):
    learner = RobustDFF(2, 1, 1, patience)
    worst = attack(learner, 2, 2, 2, same_feature=True)
    assert worst.mistakes <= learner.bound(m=2, k=2, s=2)


@pytest.mark.parametrize(("m", "k"), [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (3, 0)])
def test_guarded_is_tight(m, k):
    learner = Guarded(Contrary(), CappedDFF(m))
    assert attack(learner, m, k).mistakes == learner.bound(m=m, k=k)


@pytest.mark.slow
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


# -- the search


def test_a_search_that_would_take_too_long_is_given_up():
    learner = StRoDFF(2, 0.1, 0.1, 0.1, scale=0.01)  # has a clock: no position comes twice
    with pytest.raises(ParameterError, match=r"more than 50 positions.*most_positions="):
        worst_case(learner, 2, 1, most_positions=50)


def test_the_worst_lesson_can_be_given_to_another_learner():
    worst = worst_case(CappedDFF(2), 2, 2)
    told = zip(worst.items, worst.guesses, worst.corrections, strict=True)
    answers = [(item, said or ta.Correction(guess.label)) for item, guess, said in told]
    for learner, mistakes in ((CappedDFF(2), worst.mistakes), (AdaptiveDFF(), 7)):
        assert ta.teach(learner, ta.teachers.Recorded(answers), worst.items).mistakes == mistakes


def test_the_same_search_gives_the_same_lesson():
    assert worst_case(CappedDFF(3), 3, 1) == worst_case(CappedDFF(3), 3, 1)


def test_the_learner_given_is_left_alone():
    learner = CappedDFF(2)
    before = learner.to_json()
    worst_case(learner, 2, 1)
    assert learner.to_json() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"m": 0}, "m must be an integer >= 1, got 0"),
        ({"k": -1}, "k must be an integer >= 0, got -1"),
        ({"s": 2}, "s must be an integer from 0 to k = 1, got 2"),
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

    def begin(self, item: Item, label: Label) -> None:
        super().begin(item, label)
        Fickle.lessons += 1

    def decide(self, item: Item) -> Guess:
        guess = super().decide(item)
        return guess if Fickle.lessons < 3 else Guess("whim", guess.example)


def test_a_learner_that_does_not_repeat_itself_is_named():
    with pytest.raises(TellapartError, match=r"Fickle.*when taught the same lesson again"):
        worst_case(Fickle(2), 2, 0)


class Keeping(CappedDFF):
    """Not known to the search, and with features that it keeps only as their negation."""

    def __init__(self, m, **options):
        super().__init__(m, **options)
        self.kept = []

    def wrong(self, rule, feature):
        self.kept.append(ta.Not(feature))
        super().wrong(rule, feature)


def test_a_negated_feature_is_known_by_its_place_like_any_other():
    assert worst_case(Keeping(2), m=2, k=1).mistakes == theory.capped_bound(2, 1)
