"""The lemmas of the paper's Section 5, and those behind our own bounds, on random worlds.

Each run is watched round by round: what the lemma says of every rule is checked after every
correction, not only the total at the end.
"""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellapart as ta
from tellapart import theory
from tellapart.columns import unpack
from tellapart.learners.rule_list import RuleList

quick = settings(max_examples=60, deadline=None, derandomize=True)


@st.composite
def made_worlds(draw, exceptions=None):
    make = draw(st.sampled_from([ta.worlds.tree, ta.worlds.dnf]))
    components = draw(st.integers(1, 6))
    return make(
        draw(st.integers(30, 300)),
        draw(st.sampled_from([24, 60])),
        components,
        draw(st.integers(1, components)),
        draw(st.integers(0, 12) if exceptions is None else exceptions),
        draw(st.integers(0, 10**6)),
        placement=draw(st.sampled_from(["random", "burst", "early"])),
        similar=draw(st.integers(1, 4)),
    )


class Watch:
    """Teach, and look at every rule after every correction."""

    def __init__(self, learner: RuleList, world, teacher=None):
        self.learner, self.world, self.teacher = learner, world, teacher or world.teacher()
        self.columns = {}
        self.mistakes = Counter()  # by the rule's number; None is the default
        self.touched = set()  # numbers of rules on which a bad round erred
        self.deleted = []
        self.rounds = 0

    def exceptional(self, item):
        return self.teacher.label_of(item) != self.label_of_component(item)

    def label_of_component(self, item):
        return self.world.representation.components[self.teacher.component_of(item)].label

    def good(self, rule):
        return not self.exceptional(rule.guess.example)

    def truth(self, feature):
        if feature not in self.columns:
            self.columns[feature] = unpack(self.world.truth(feature), len(self.world))
        return self.columns[feature]

    def covers_component(self, rule):
        inside = self.world.components == self.teacher.component_of(rule.guess.example)
        return all((self.truth(f) == wanted)[inside].all() for f, wanted in rule.clause.literals)

    def separates(self, rule, feature):
        j = self.teacher.component_of(rule.guess.example)
        representation = self.world.representation
        return any(
            representation.separator(i, j) == feature
            for i in range(representation.m)
            if representation.components[i].label != representation.components[j].label
        )

    def run(self, after):
        for item in self.world.items:
            guess = self.learner.guess(item)
            rule = None if guess.label is None else self.learner.match(item)
            before = {rule.number: rule for rule in self.learner.rules}
            correction = self.teacher.answer(item, guess)
            self.learner.learn(item, guess, correction)
            self.rounds += 1
            if correction is None or guess.label is None:
                continue
            self.mistakes[rule and rule.number] += 1
            if rule is not None and self.exceptional(item):
                self.touched.add(rule.number)
            alive = {rule.number for rule in self.learner.rules}
            self.deleted += [rule for number, rule in before.items() if number not in alive]
            after(self)
        assert not self.learner.inconsistencies
        return self


def lemma_gx_and_dup(watch):
    good = [rule for rule in watch.learner.rules if watch.good(rule)]
    for rule in good:
        assert watch.covers_component(rule), "lemma gx: a good rule must cover its component"
        for feature in rule.features:
            assert watch.separates(rule, feature), "lemma gx: a literal separates two components"
    components = [watch.teacher.component_of(rule.guess.example) for rule in good]
    assert len(components) == len(set(components)), "lemma dup: two good rules for one component"


def lemma_delete(watch):
    assert not any(watch.good(rule) for rule in watch.deleted), "lemma delete"


def section_5(watch):
    lemma_gx_and_dup(watch)
    lemma_delete(watch)


@given(made_worlds())
@quick
def test_robust_dff_keeps_every_lemma_of_section_5(world):
    m, k, s = world.m, world.k, world.s
    watch = Watch(ta.RobustDFF(m, k, s), world).run(section_5)
    assert watch.learner.rules_created <= theory.robust_rules(m, k)
    per_rule = [n for rule, n in watch.mistakes.items() if rule is not None]
    assert max(per_rule, default=0) <= theory.robust_mistakes_per_rule(m, k, s)
    assert watch.mistakes[None] <= theory.robust_rules(m, k)
    assert watch.mistakes.total() <= theory.robust_bound(m, k, s)


def untouched_rules_are_sound(watch):
    """The invariant behind `capped_bound`: a good rule no bad round erred on is never harmed."""
    for rule in watch.learner.rules:
        if watch.good(rule) and rule.number not in watch.touched:
            assert watch.covers_component(rule)
            assert all(watch.separates(rule, feature) for feature in rule.features)
    for rule in watch.deleted:
        assert not watch.good(rule) or rule.number in watch.touched


@given(made_worlds())
@quick
def test_capped_dff_keeps_untouched_rules(world):
    m, k = world.m, world.k
    watch = Watch(ta.CappedDFF(m), world).run(untouched_rules_are_sound)
    assert watch.learner.rules_created <= theory.capped_rules(m, k)
    assert all(n <= m for rule, n in watch.mistakes.items() if rule is not None)
    assert watch.mistakes.total() <= theory.capped_bound(m, k)


@given(made_worlds(exceptions=st.just(0)))
@quick
def test_dff_keeps_its_bound_under_a_perfect_teacher(world):
    watch = Watch(ta.DFF(), world).run(lemma_gx_and_dup)
    assert watch.mistakes.total() <= theory.dff_bound(world.m)


@given(made_worlds())
@quick
def test_guarded_errs_little_more_than_twice(world):
    learner = ta.Guarded(ta.DFF(), ta.CappedDFF(world.m))
    lesson = ta.teach(learner, world.teacher(), world.items)
    assert lesson.mistakes <= lesson.bound == 2 * theory.capped_bound(world.m, world.k) + 1
    practical, guaranteed = learner.charged
    assert practical + guaranteed == lesson.mistakes
    assert lesson.mistakes <= 2 * practical
    assert guaranteed <= theory.capped_bound(world.m, world.k)


class Heard(ta.CappedDFF):
    """Keeps what it is told."""

    def __init__(self, m):
        super().__init__(m)
        self._told = []

    def learn(self, item, guess, correction):
        super().learn(item, guess, correction)
        self._told.append((item, correction))


@given(made_worlds())
@quick
def test_what_the_guard_hears_is_a_lesson_of_its_own(world):
    """A part of a legal stream is legal: taught alone, it makes the same learner, within bounds."""
    learner = ta.Guarded(ta.DFF(), Heard(world.m))
    ta.teach(learner, world.teacher(), world.items)
    heard = learner.guaranteed
    items = [item for item, _ in heard._told]
    alone = ta.CappedDFF(world.m)
    teacher = world.teacher()
    lesson = ta.teach(alone, teacher, items)
    assert lesson.mistakes == learner.charged[1] <= theory.capped_bound(world.m, world.k)
    assert alone.model == heard.model


@pytest.mark.parametrize("seed", range(5))
def test_strodff_never_deletes_a_good_rule_on_a_random_stream(seed):
    """Lemmas gxstat, dupstat and deletestat, at the paper's own constants, for these seeds."""
    world = ta.worlds.tree(4000, 60, 3, 3, exceptions=0.02, seed=seed, similar=4)
    learner = ta.StRoDFF(3, epsilon=0.02, sigma=0.002, delta=0.1)
    watch = Watch(learner, world).run(section_5)
    assert learner.rules_created <= theory.stochastic_rules(3, 0.1)
    assert watch.mistakes.total() <= learner.bound(n=len(world))


LEARNERS = [
    lambda m: ta.DFF(),
    lambda m: ta.RobustDFF(m, 0, 0),
    lambda m: ta.RobustDFF(m, 2, 1),
    ta.CappedDFF,
    lambda m: ta.AdaptiveDFF(),
    lambda m: ta.AdaptiveDFF("ruler"),
    lambda m: ta.StRoDFF(m, 0.0, 0.0, 0.1),
    lambda m: ta.Guarded(ta.DFF(), ta.CappedDFF(m)),
]


@pytest.mark.slow
@pytest.mark.parametrize("make", LEARNERS, ids=lambda make: repr(make(8)))
@pytest.mark.parametrize("m", [4, 8, 16])
def test_the_lower_bound_world_costs_every_learner(make, m):
    """Theorem 2: on average over the coins at least |P_m| / 8 mistakes."""
    lessons = []
    for seed in range(40):
        world = ta.worlds.lower_bound(m, seed)
        lessons.append(ta.teach(make(m), world.teacher(), world.items).mistakes)
    assert sum(lessons) / len(lessons) >= theory.lower_bound(m)
