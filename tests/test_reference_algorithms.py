"""Guess by guess against the pseudo-code, written down once more in the plainest way.

The reference below shares nothing with the library but the words: lists, loops over literals, no
index, no base class. Teachers are wild (any label, any consistent feature), so that every branch is
met, deletions included.
"""

import random
from math import log, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellapart as ta

FEATURES = "abcdefg"


class Reference:
    """Algorithms 1 and 3 with `handle` as Algorithm 2 or its replacement."""

    def __init__(self, handle, *, stochastic=None):
        self.handle, self.stochastic = handle, stochastic
        self.L, self.x0, self.y0 = [], None, None
        self.t = self.N_lr = self.t_lr = 0
        self.created = self.deleted = 0

    def find(self, x):
        for rule in self.L:
            if not any(phi in x for phi in rule["C"]):
                return rule
        return None

    def guess(self, x):
        if self.x0 is None:
            return None, None
        rule = self.find(x)
        return (self.y0, self.x0) if rule is None else (rule["label"], rule["x"])

    def learn(self, x, y, phi):
        """`y` is the true label; `phi` the feature given with a correction."""
        if self.x0 is None:
            self.x0, self.y0 = x, y
            return
        self.t += 1
        rule = self.find(x)
        if rule is not None:
            if y != rule["label"]:
                self.handle(self, rule, phi)
            return
        self.N_lr += 1
        if self.stochastic is None:
            make = y != self.y0
        else:
            gamma, printed = self.stochastic
            enough = self.N_lr >= gamma(self.t - self.t_lr - self.N_lr + 1, self.t)
            make = enough and (y != self.y0 or not printed)
        if make:
            self.created += 1
            self.L.append(
                {"x": x, "label": y, "C": [], "fcount": {}, "t": self.t, "tphi": {}}
                | {"mistakes": 0, "n": self.created}
            )
            self.N_lr, self.t_lr = 0, self.t

    def delete(self, rule):
        self.L = [other for other in self.L if other is not rule]
        self.deleted += 1


def algorithm_2(ref, rule, phi, m, k, s):
    rule["fcount"][phi] = rule["fcount"].get(phi, 0) + 1
    if rule["fcount"][phi] > s:
        rule["C"].append(phi)
        rule["fcount"][phi] = 0
        if len(rule["C"]) >= m:
            ref.delete(rule)
    else:
        b = m - 1 - len(rule["C"])
        counters = sorted(rule["fcount"].values())
        if sum(counters[: max(0, len(counters) - b)]) > k:
            ref.delete(rule)


def robust(m, k, s, patience=None):
    c = k if patience is None else patience
    return Reference(lambda ref, rule, phi: algorithm_2(ref, rule, phi, m, c, s))


def strodff(m, epsilon, sigma, delta, scale, as_printed):
    def q(rate, t, now):
        lg = log(8 * now**3 / delta)
        return rate * t + scale * (2 / 3 * lg + sqrt(2 * rate * t * lg))

    def gamma(r, t):
        return (
            1 / (1 - 2 * epsilon) * (r + scale * 4 * sqrt(r) * log(8 * t**2 / delta) ** 1.5) - r + 1
        )

    def handle(ref, rule, phi):
        if rule["fcount"].get(phi, 0) == 0:
            rule["tphi"][phi] = ref.t
        t1 = ref.t - rule["tphi"][phi] + 1
        if as_printed:
            n_s, n_k = q(sigma, t1, t1) + 1, q(epsilon, t1, t1)
        else:
            n_s, n_k = q(sigma, t1, ref.t) + 1, q(epsilon, ref.t - rule["t"] + 1, ref.t)
        algorithm_2(ref, rule, phi, m, n_k, n_s)

    return Reference(handle, stochastic=(gamma, as_printed))


def capped(cap):
    def handle(ref, rule, phi):
        rule["C"].append(phi)
        rule["mistakes"] += 1
        if cap is not None and rule["mistakes"] >= cap(ref, rule):
            ref.delete(rule)

    return Reference(handle)


class UniqueLabels(Reference):
    """Algorithm 2 of Sabato 2023; without m, it is guessed."""

    def __init__(self, m, p=None, more=None, seed=0):
        super().__init__(None)
        self.guessing, self.M, self.p, self.more, self.seed = m is None, m or 1, p, more, seed
        self.draws, self.told = 0, {}

    def learn(self, x, y, phi):
        if self.x0 is None:
            self.x0, self.y0 = x, y
            return
        rule = self.find(x)
        if y == (self.y0 if rule is None else rule["label"]):
            return
        if rule is not None:
            rule["C"].append(phi)
        else:
            rule = next((one for one in self.L if one["label"] == y), None)
            if rule is not None:
                rule["C"].remove(next(phi for phi in rule["C"] if phi in x))
            else:
                self.draws += 1
                if random.Random(f"{self.seed}/{self.draws}").random() < (self.p or 1 / self.M):
                    self.created += 1
                    self.L.append({"x": x, "label": y, "C": [], "U": -1})
                    rule = self.L[-1]
        if rule is not None:
            rule["U"] += 1
            if rule["U"] >= self.M + (self.more or 2 * self.M) - 1:
                self.delete(rule)
        if self.guessing and y != self.y0:
            self.told[y] = self.told.get(y, 0) + 1
            if len([1 for n in self.told.values() if n > self.M]) >= self.M:
                self.M, self.told = 2 * self.M, {}
                for rule in list(self.L):
                    self.delete(rule)


class Optimal(Reference):
    """A wrong default guess adds the named feature, wanted; the others are forbidden."""

    def find(self, x):
        def met(rule):
            return not any(phi in x for phi in rule["C"]) and rule["wanted"] in x

        return next((rule for rule in self.L if met(rule)), None)

    def learn(self, x, y, phi):
        rule = None if self.x0 is None else self.find(x)
        super().learn(x, y, phi)
        if self.L and self.L[-1]["x"] == x and rule is None:
            self.L[-1]["wanted"] = phi


PAIRS = {
    "OptimalDFF": (ta.OptimalDFF, lambda: Optimal(lambda ref, rule, phi: rule["C"].append(phi))),
    "UniqueLabelDFF": (lambda: ta.UniqueLabelDFF(3), lambda: UniqueLabels(3)),
    "UniqueLabelDFF-p-l": (
        lambda: ta.UniqueLabelDFF(2, 0.8, 2, seed=5),
        lambda: UniqueLabels(2, 0.8, 2, 5),
    ),
    "UniqueLabelDFF-guessing": (ta.UniqueLabelDFF, lambda: UniqueLabels(None)),
    "DFF": (ta.DFF, lambda: capped(None)),
    "CappedDFF": (lambda: ta.CappedDFF(3), lambda: capped(lambda ref, rule: 3)),
    "AdaptiveDFF": (ta.AdaptiveDFF, lambda: capped(lambda ref, rule: 1 + ref.deleted)),
    "AdaptiveDFF-ruler": (
        lambda: ta.AdaptiveDFF("ruler"),
        lambda: capped(lambda ref, rule: rule["n"] & -rule["n"]),
    ),
    "RobustDFF": (lambda: ta.RobustDFF(3, 2, 1), lambda: robust(3, 2, 1)),
    "RobustDFF-k0": (lambda: ta.RobustDFF(3, 0, 0), lambda: robust(3, 0, 0)),
    "RobustDFF-s2": (lambda: ta.RobustDFF(4, 3, 2), lambda: robust(4, 3, 2)),
    "RobustDFF-m1": (lambda: ta.RobustDFF(1, 2, 1), lambda: robust(1, 2, 1)),
    "RobustDFF-patience": (lambda: ta.RobustDFF(4, 3, 2, patience=1), lambda: robust(4, 3, 2, 1)),
    "StRoDFF": (
        lambda: ta.StRoDFF(3, 0.1, 0.05, 0.1, scale=0.02),
        lambda: strodff(3, 0.1, 0.05, 0.1, 0.02, False),
    ),
    "StRoDFF-printed": (
        lambda: ta.StRoDFF(3, 0.1, 0.05, 0.1, scale=0.02, as_printed=True),
        lambda: strodff(3, 0.1, 0.05, 0.1, 0.02, True),
    ),
}


@pytest.mark.parametrize(("make", "make_reference"), PAIRS.values(), ids=PAIRS)
@given(data=st.data(), seed=st.integers(0, 2**32))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_guess_by_guess(make, make_reference, data, seed):
    wild = random.Random(seed)
    learner, reference = make(), make_reference()
    labels = "xyz"[: data.draw(st.integers(2, 3))]
    noise = data.draw(st.sampled_from([0.0, 0.1, 0.5]))
    for number in range(150):
        x = frozenset(f for f in FEATURES if wild.random() < 0.5) | {str(number)}
        y = labels[("a" in x) + ("b" in x and "c" in x)] if labels == "xyz" else "xy"["a" in x]
        if wild.random() < noise:
            y = wild.choice(labels)
        guess = learner.guess(x)
        assert tuple(guess) == reference.guess(x), f"round {number}"
        if guess.label is None or guess.label == y:
            phi = None
        else:  # the item's own number always separates; often something shared does too
            phi = wild.choice([*sorted(x - guess.example - {str(number)}), str(number)])
        correction = None if guess.label == y else ta.Correction(y, phi)
        learner.learn(x, guess, correction)
        reference.learn(x, y, phi)
    assert (learner.rules_created, learner.rules_deleted) == (reference.created, reference.deleted)
    assert [[lit.feature for lit in clause.literals] for clause in learner.model.clauses] == [
        [*([rule["wanted"]] if "wanted" in rule else []), *rule["C"]] for rule in reference.L
    ]
