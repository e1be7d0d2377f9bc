"""The bounds: against brute force, against each other, and met by explicit teachers."""

from __future__ import annotations

import re
from itertools import permutations
from math import comb, exp, log, nan
from pathlib import Path
from random import Random
from statistics import fmean, stdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellapart import (
    DFF,
    AdaptiveDFF,
    CappedDFF,
    Correction,
    Guarded,
    RobustDFF,
    StRoDFF,
    UniqueLabelDFF,
    theory,
)
from tellapart.errors import ParameterError
from tellapart.learners import BaseLearner

quick = settings(derandomize=True, max_examples=100, deadline=None)
ms, ks = st.integers(1, 40), st.integers(0, 60)


# -- formulas, as the paper and docs/theory.md print them


@quick
@given(ms, ks)
def test_the_ruler_bound_is_its_sum(m: int, k: int) -> None:
    caps = [n & -n for n in range(1, theory.ruler_rules(m, k) + 1)]
    least = min(power for power in (2**i for i in range(7)) if power >= m)
    assert len(caps) == least * (m + k - 1)
    bound = theory.adaptive_bound(m, k, "ruler")
    assert bound == sum(1 + cap for cap in caps)
    if caps:
        assert bound <= len(caps) * (int(log(len(caps), 2) + 1e-9) + 4) / 2


@quick
@given(ms, ks)
def test_the_growing_bound_is_its_sum(m: int, k: int) -> None:
    perfect = (m - 1) + sum(1 for i in range(m) for j in range(i))
    assert theory.dff_bound(m) == perfect
    assert theory.adaptive_bound(m, k) == perfect + sum(n + 1 for n in range(1, m + k))


@quick
@given(ms, ks, st.integers(0, 60), st.integers(0, 9), st.integers(0, 80))
def test_bounds_grow_with_every_parameter(m: int, k: int, s: int, c: int, more: int) -> None:
    def grows(small: float, large: float) -> None:
        assert small <= large

    for wider, odder in ((m + 1, k), (m, k + 1)):
        grows(theory.capped_bound(m, k), theory.capped_bound(wider, odder))
        grows(theory.capped_rules(m, k), theory.capped_rules(wider, odder))
        grows(theory.robust_rules(m, k), theory.robust_rules(wider, odder))
        for schedule in ("growing", "ruler"):
            grows(theory.adaptive_bound(m, k, schedule),
                  theory.adaptive_bound(wider, odder, schedule))  # fmt: skip
    for value in (theory.robust_bound, theory.robust_mistakes_per_rule):
        grows(value(m, k, s), value(m + 1, k, s))
        grows(value(m, k, s), value(m, k + 1, s))
        grows(value(m, k, s), value(m, k, s + 1))
    grows(theory.patient_bound(m, k, s, c), theory.patient_bound(m + 1, k, s, c))
    grows(theory.patient_bound(m, k, s, c), theory.patient_bound(m, k + 1, s, c))
    grows(theory.patient_bound(m, k, s, c), theory.patient_bound(m, k, s + 1, c))
    grows(theory.patient_bound(m, k, s, c), theory.patient_bound(m, k, s, c + 1))
    grows(theory.capped_bound(m, k, cap=m + more), theory.capped_bound(m, k, cap=m + more + 1))
    grows(theory.reduction_size(m, k, more), theory.reduction_size(m, k, more + 1))
    grows(theory.dff_bound(m), theory.dff_bound(m + 1))
    grows(theory.lower_bound(m), theory.lower_bound(m + 1))
    grows(theory.guarded_bound(c), theory.guarded_bound(c + 1))


@quick
@given(ms, ks, st.integers(0, 60))
def test_bounds_stand_to_each_other_as_they_should(m: int, k: int, s: int) -> None:
    assert theory.capped_bound(m, 0) == theory.dff_bound(m)
    assert theory.capped_bound(m, k) <= theory.patient_bound(m, k, s, patience=0)
    assert theory.patient_bound(m, k, s, patience=k) <= theory.robust_bound(m, k, s)
    assert theory.robust_bound(m, k, s) == theory.robust_rules(m, k) * (
        theory.robust_mistakes_per_rule(m, k, s) + 1
    )
    assert theory.lower_bound(m) <= theory.optimal_bound(m) == theory.dff_bound(m) - (m - 1)
    printed, creations = m * (m - 1) + m * k, m + k
    assert theory.srdff_bound(m, k) == printed + creations
    assert theory.srdff_bound(m, k) - theory.capped_bound(m, k) == m * (m - 1) // 2 + 1
    assert theory.reduction_size(m, k, d=7) == m + 7 * k
    assert theory.reduction_size(m, k, 7, shared=m) == m + k + 6 * m * k


@quick
@given(ms, ks, st.floats(0.01, 1), st.integers(1, 90))
def test_the_bound_on_the_mean_has_the_terms_of_its_proof(
    m: int, k: int, p: float, more: int
) -> None:
    """docs/theory.md: what a component costs, and an exception of either kind."""
    component = 1 / p + (m - 1)
    on_a_good_rule = 1 + 1 + component / (more / 2)
    that_may_make_a_rule = 1 + p * (m + more - 1)
    bound = (m - 1) * component + k * max(on_a_good_rule, that_may_make_a_rule)
    assert theory.unique_label_bound(m, k, p, more) == pytest.approx(bound)
    usual = (m - 1) * (2 * m - 1) + k * (4 - 1 / m)
    assert theory.unique_label_bound(m, k) == pytest.approx(usual)
    assert usual <= 2 * m * (m - 1) + 6 * k  # what the paper says


@quick
@given(ms, ks)
def test_the_bound_without_m_is_the_sum_of_its_phases(m: int, k: int) -> None:
    enough = min(2**i for i in range(7) if 2**i >= m)
    sizes = [2**i for i in range(9) if 2**i <= 2 * enough]
    phases = sum((m - 1) * (5 * size + 3) for size in sizes)
    assert theory.unique_label_bound(m, k, told=False) == phases + 17 * k


@pytest.mark.parametrize("m", [2, 3, 4])
def test_without_exceptions_the_mean_is_met(m: int) -> None:
    """m wrong guesses to make a rule, and one for each pair of components: for m = 2 the bound."""
    totals = []
    for seed in range(1500):
        script = Script(UniqueLabelDFF(m, seed=seed))
        for j in range(1, m):
            while len(script.learner.rules) < j:
                script.err(j)
        for _ in range(1, m):
            script.err(0)
        totals.append(script.mistakes)
    mean, error = fmean(totals), stdev(totals) / len(totals) ** 0.5
    expected = m * (m - 1) + m * (m - 1) / 2
    assert abs(mean - expected) < 4 * error
    assert expected <= theory.unique_label_bound(m, 0)
    assert (expected == theory.unique_label_bound(m, 0)) == (m == 2)


def test_schedules_cross_where_the_docs_say() -> None:
    def better(m: int, k: int) -> bool:
        return theory.adaptive_bound(m, k, "ruler") < theory.adaptive_bound(m, k)

    first = {m: next(k for k in range(500) if better(m, k)) for m in (2, 4, 8)}
    assert first == {2: 12, 4: 36, 8: 87}


@pytest.mark.parametrize(
    ("epsilon", "t", "delta", "value"),
    # worked out by hand: log(8000) = 8.987197, log(8e9/.05) = 25.798430
    [(0.0, 10, 1.0, 5.991464), (0.1, 10, 1.0, 1 + 5.991464 + 4.239622)],
)
def test_q_by_hand(epsilon: float, t: float, delta: float, value: float) -> None:
    assert theory.q(epsilon, t, delta) == pytest.approx(value, abs=1e-5)


def test_q_with_a_clock_and_a_scale() -> None:
    window, now, delta = 10, 1000, 0.05
    logarithm = log(8 * now**3 / delta)
    assert logarithm == pytest.approx(25.798430, abs=1e-5)
    deviation = 2 / 3 * logarithm + (2 * 0.1 * window * logarithm) ** 0.5
    for scale in (1.0, 0.1, 0.0):
        value = theory.q(0.1, window, delta, now=now, scale=scale)
        assert value == pytest.approx(0.1 * window + scale * deviation)
    assert theory.q(0.1, now, delta, now=now) == theory.q(0.1, now, delta)


def test_the_union_bound_needs_the_present_round_in_the_logarithm() -> None:
    """docs/theory.md, "The logarithm in q": δ/(4t'^3) for all t' <= t adds up without end."""
    delta, rounds = 0.1, range(1, 101)
    printed = sum(delta / 4 * sum(window**-3 for window in range(1, now + 1)) for now in rounds)
    assert printed > 1 > delta / 2 > sum(delta / 4 * now * now**-3 for now in rounds)


def test_gamma_by_hand() -> None:
    # delta = 8/e^4 makes log(8 t²/delta) = 4 at t = 1, and 4^(3/2) = 8
    delta = 8 / exp(4)
    assert theory.gamma(0, 1, 1, delta) == pytest.approx(1 + 32)
    assert theory.gamma(0.25, 9, 1, delta) == pytest.approx(2 * (9 + 4 * 3 * 8) - 9 + 1)
    assert theory.gamma(0.25, 9, 1, delta, scale=0.5) == pytest.approx(2 * (9 + 48) - 9 + 1)


@pytest.mark.parametrize(
    ("epsilon", "delta", "first"),
    [(0.0, 0.1, 242), (0.0, 0.05, 263), (0.2, 0.1, 454), (0.2, 0.05, 488)],
)
def test_the_first_rule_of_strodff_waits(epsilon: float, delta: float, first: int) -> None:
    ready = [t for t in range(1, 600) if t >= theory.gamma(epsilon, 1, t, delta)]
    assert ready == list(range(first, 600))
    learner = StRoDFF(2, epsilon, 0.0, delta)
    for n in range(600):
        guess = learner.guess({n})
        label = "first" if n == 0 else "other"
        learner.learn({n}, guess, Correction(label) if guess.label != label else None)
        if learner.rules_created:
            break
    assert n == first


def test_the_stochastic_bound_has_the_terms_of_its_proof() -> None:
    m, epsilon, sigma, delta, n = 3, 0.02, 0.01, 0.1, 10_000
    rules = 4 * m * log(4 / delta) + 1
    terms = theory.stochastic_bound(m, epsilon, sigma, delta, n)
    assert terms.uncovered == pytest.approx(
        8 * epsilon * n + 8 * (rules * n) ** 0.5 * log(8 * n**2 / delta) ** 1.5
    )
    per_rule = (m - 1) * (theory.q(sigma, n, delta) + 2) + theory.q(epsilon, n, delta) + 1
    assert terms.covered == pytest.approx(rules * per_rule)
    assert terms.total == terms.uncovered + terms.covered
    # the rate falls towards a constant as the stream grows
    rates = [theory.stochastic_bound(m, epsilon, sigma, delta, 10**e).total / 10**e
             for e in range(4, 12)]  # fmt: skip
    assert rates == sorted(rates, reverse=True)


@pytest.mark.parametrize("m", range(3, 60))
def test_theorem_2_follows_from_a_recursion(m: int) -> None:
    """docs/theory.md, "Theorem 2": what must be expected after each item; the first is asked."""
    pairs = m * (m - 1) // 2
    expected = most = 0.0
    for seen in range(1, pairs):
        expected += 0.5 * (1 - expected / (pairs - seen))
        most = max(most, expected)
    assert most >= pairs / 4 - 0.07
    assert most > theory.lower_bound(m) == pairs / 8


@pytest.mark.parametrize("m", [1, 2, 5, 20])
@pytest.mark.parametrize("delta", [exp(-2), 0.05, 0.001])
def test_the_repaired_strodff_makes_few_rules(m: int, delta: float) -> None:
    """docs/theory.md: with R rules, each made by an exception with chance 1/2, m are good."""
    rules = int(theory.stochastic_rules(m, delta))
    few = sum(comb(rules, good) for good in range(m)) / 2**rules
    assert few <= delta / 4


def test_the_page_names_every_function() -> None:
    page = (Path(__file__).parents[1] / "docs" / "theory.md").read_text(encoding="utf-8")
    missing = [name for name in theory.__all__ if not re.search(rf"`(\w+\()?{name}\b", page)]
    assert not missing


# -- parameters


@pytest.mark.parametrize("bad", [0, -1, 1.5, "3", None, True, nan])
def test_a_bound_says_what_m_must_be(bad: object) -> None:
    calls = [
        lambda: theory.dff_bound(bad),
        lambda: theory.capped_bound(bad, 1),
        lambda: theory.adaptive_bound(bad, 1),
        lambda: theory.robust_bound(bad, 1, 1),
        lambda: theory.reduction_size(bad, 1, 1),
        lambda: theory.lower_bound(bad),
    ]
    for call in calls:
        with pytest.raises(ParameterError, match=r"m must be an integer >= 1, got"):
            call()


def test_other_parameters_are_checked_too() -> None:
    for call, message in (
        (lambda: theory.capped_bound(3, -1), "k must be"),
        (lambda: theory.capped_bound(3, 1, cap=2), "cap must be an integer >= m = 3"),
        (lambda: theory.patient_bound(3, 1, 1, patience=-1), "patience must be"),
        (lambda: theory.adaptive_bound(3, 1, "slow"), "schedule must be"),
        (lambda: theory.reduction_size(3, 1, -1), "d must be"),
        (lambda: theory.reduction_size(3, 1, 1, shared=4), "shared must be an integer from 1 to"),
    ):
        with pytest.raises(ParameterError, match=message):
            call()


# -- the bounds under every kind of bad round


class Careless:
    """Components of random items, and a teacher who errs in every way; counts its bad rounds.

    Item x of component i has ("apart", i, j) for every j, lacks ("apart", j, i), and has random
    others; so ("apart", i, j) separates i from j. Labels may be shared by components.
    """

    def __init__(self, learner: BaseLearner, m: int, labels: int, seed: int) -> None:
        self.learner, self.m, self.random = learner, m, Random(seed)
        self.labels = [n % labels for n in range(m)]
        self.home: dict[frozenset[object], int] = {}
        self.odd: set[frozenset[object]] = set()
        self.bad = self.mistakes = 0

    def item(self, i: int) -> frozenset[object]:
        present: set[object] = {("item", len(self.home))}
        for j, k in permutations(range(self.m), 2):
            if j == i or (k != i and self.random.random() < 0.5):
                present.add(("apart", j, k))
        return frozenset(present)

    def round(self, risk: float) -> None:
        i = self.random.randrange(self.m)
        item = self.item(i)
        self.home[item] = i
        label: object = self.labels[i]
        if odd := self.random.random() < risk:
            self.odd.add(item)
            label = self.random.choice([n for n in [*self.labels, "odd"] if n != label])
        guess = self.learner.guess(item)
        if guess.label == label:
            self.bad += odd
            self.learner.learn(item, guess, None)
            return
        if guess.label is None:
            self.bad += odd
            self.learner.learn(item, guess, Correction(label))
            return
        right = ("apart", i, self.home[guess.example])
        own, none, faulty = ("item", len(self.home) - 1), None, ("item", -1)
        ordinary = not odd and guess.example not in self.odd
        said = self.random.choice([own, none, faulty]) if self.random.random() < risk else right
        if not ordinary and said == right:
            said = own
        self.bad += odd or said == faulty or (ordinary and said != right)
        self.mistakes += 1
        self.learner.learn(item, guess, Correction(label, said))


@settings(quick, max_examples=150)
@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 10**6), st.data())
def test_bounds_hold_under_every_kind_of_bad_round(
    m: int, labels: int, seed: int, data: st.DataObject
) -> None:
    s, patience = data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2))
    learner = data.draw(
        st.sampled_from(
            [
                CappedDFF(m),
                CappedDFF(m + 2),
                AdaptiveDFF(),
                AdaptiveDFF("ruler"),
                RobustDFF(m, max(s, 1), s, patience=patience),
                Guarded(DFF(), CappedDFF(m)),
            ]
        ),
        label="learner",
    ).clone()
    teacher = Careless(learner, m, min(m, labels), seed)
    risk = data.draw(st.sampled_from([0.0, 0.02, 0.1, 0.5]))
    for _ in range(150):
        teacher.round(risk)
        bound = learner.bound(m=m, k=teacher.bad)
        assert bound is not None
        assert teacher.mistakes <= bound


# -- tightness: explicit teachers that meet a bound


class Script:
    """Rounds told one by one, every one of them a mistake.

    Component j has items {j, own number} and the label j; component 0 is the default's. Exceptions
    have labels of their own. A reason is the component of the item, or its own number.
    """

    def __init__(self, learner: BaseLearner) -> None:
        self.learner, self.mistakes, self.items = learner, 0, 0
        first = frozenset({0, "item 0"})
        learner.learn(first, learner.guess(first), Correction(0))

    def err(self, component: int, *, odd: bool = False, own: bool = False) -> None:
        self.items += 1
        name = f"item {self.items}"
        item, label = frozenset({component, name}), (name if odd else component)
        guess = self.learner.guess(item)
        assert guess.label != label
        self.learner.learn(item, guess, Correction(label, name if own else component))
        self.mistakes += 1

    def perfect(self, m: int) -> None:
        """Every component but 0 made a rule, every pair told apart once."""
        for j in range(1, m):
            for _ in range(j):  # j - 1 times against the earlier rules, then a rule of its own
                self.err(j)
        for _ in range(1, m):
            self.err(0)


@pytest.mark.parametrize("m", range(1, 7))
@pytest.mark.parametrize("k", range(5))
def test_the_capped_bound_is_met(m: int, k: int) -> None:
    script = Script(CappedDFF(m))
    for _ in range(k):
        script.err(0, odd=True)
        for j in range(m):
            script.err(j, own=True)
    script.perfect(m)
    assert script.mistakes == theory.capped_bound(m, k)
    assert script.learner.rules_created == theory.capped_rules(m, k)


@pytest.mark.parametrize("m", range(1, 7))
@pytest.mark.parametrize("k", range(5))
def test_the_growing_bound_is_met(m: int, k: int) -> None:
    script = Script(AdaptiveDFF())
    for cap in range(1, m):  # good rules that die young
        script.err(1)
        for j in range(cap):
            script.err((2 + j) % m if m > 2 else 0)
    for cap in range(m, m + k):
        script.err(0, odd=True)
        for _ in range(cap):
            script.err(0, own=True)
    script.perfect(m)
    assert script.mistakes == theory.adaptive_bound(m, k)
