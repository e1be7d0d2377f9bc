"""RobustDFF: the paper's algorithm for the adversarial setting (Algorithms 1 and 2).

The paper is Dasgupta, Sabato, *Robust Learning from Discriminative Feature Feedback*, AISTATS 2020.

Algorithm 1 is the loop of every rule list. `RuleList` finds the first rule C[x̂] that x_t satisfies
and guesses its label, or y_0 where there is none. If a rule was wrong, it calls `wrong`, which is
HandleMistake. If the default was, it adds the empty rule C[x_t] to L. What is kept of a rule:

    rule.guess       label[x̂] and x̂
    rule.features    the φ of the literals NOT φ of C[x̂]
    rule.counts      fcount[x̂], where it is not zero
"""

from __future__ import annotations

from abc import abstractmethod

from tellapart.bounds import patient_bound
from tellapart.errors import check
from tellapart.learners.rule_list import Rule, RuleList
from tellapart.model import Holds, holds
from tellapart.protocol import Count, Feature


class HandleMistake(RuleList):
    """Algorithm 2, which `RobustDFF` and `StRoDFF` share; they differ in k and s."""

    m: int

    @abstractmethod
    def n_s(self, rule: Rule, feature: Feature) -> float:
        """s: how many may name `feature` against `rule` before it becomes a literal."""

    @abstractmethod
    def n_k(self, rule: Rule, feature: Feature) -> float:
        """k: how many may speak against `rule`, now that one more has named `feature`."""

    def wrong(self, rule: Rule, feature: Feature) -> None:
        """Algorithm 2, line by line."""
        fcount = rule.counts
        fcount[feature] = fcount.get(feature, 0) + 1
        if fcount[feature] > self.n_s(rule, feature):
            self.extend(rule, feature)
            del fcount[feature]
            if len(rule.features) >= self.m:
                self.delete(rule)
        else:
            b = self.m - 1 - len(rule.features)
            but_the_b_largest = sorted(fcount.values(), reverse=True)[b:]
            if sum(but_the_b_largest) > self.n_k(rule, feature):
                self.delete(rule)


class RobustDFF(HandleMistake):
    """Learn rules from corrections that name one telling feature, at most k of them bad.

    A rule is an example, its label, and the features its items must not have. The guess is the
    label of the first rule, in order of creation, that covers the item. A feature becomes a literal
    once more than s corrections named it; a rule goes when it has m literals, or when more
    corrections than `patience` speak against it after its m-1-|C| most frequent reasons are set
    aside. A correction without a feature is counted as a feature of its own, shared by nothing.
    docs/theory.md says how we read what the text leaves open.

    Guarantee. With at most m components, at most k bad rounds, of which at most s name the same
    feature against the same component, at most m+k rules and (m-1) + (s+1)m(m-1)/2 +
    k((s+1)(m-1)+k+2) mistakes, which is less than the (m+k)((s+1)(m-1)+k+2) of the paper's Theorem
    3. With `patience` = c, (m-1) + (s+1)m(m-1)/2 + k((s+1)(m-1)+c+2), where k is the true number
    and s the learner's own, right or wrong: patience 0 has the smallest bound.

    Parameters
    ----------
    m : int
        The most components the teacher may have in mind.
    k : int
        The most bad rounds.
    s : int
        The most bad rounds that name the same feature against the same component; at most k.
    patience : int, default=k
        Odd corrections a rule survives before it is dropped. The paper's is k.

    Examples
    --------
    >>> import tellapart as ta
    >>> world = ta.worlds.zoo()
    >>> lesson = ta.teach(ta.RobustDFF(world.m, world.k, world.s), world.teacher(), world.items)
    >>> lesson.mistakes, lesson.bound
    (34, 99)
    """

    def __init__(
        self,
        m: int,
        k: int,
        s: int,
        patience: int | None = None,
        *,
        holds: Holds = holds,
        remember: bool = False,
    ) -> None:
        super().__init__(holds=holds, remember=remember)
        check("RobustDFF", "m", m, "an integer >= 1", lambda m: m >= 1)
        check("RobustDFF", "k", k, "an integer >= 0", lambda k: k >= 0)
        check("RobustDFF", "s", s, f"an integer from 0 to k = {k}", lambda s: 0 <= s <= k)
        if patience is not None:
            check("RobustDFF", "patience", patience, "None or an integer >= 0", lambda c: c >= 0)
        self.m, self.k, self.s = int(m), int(k), int(s)
        self.patience = None if patience is None else int(patience)

    def bound(
        self, *, m: Count = None, k: Count = None, s: Count = None, n: Count = None
    ) -> int | None:
        """`patient_bound`, which is below Theorem 3; None for a world beyond its parameters."""
        if m is not None and m > self.m:
            return None
        if self.patience is not None:
            return None if k is None else patient_bound(self.m, k, self.s, self.patience)
        if (k is not None and k > self.k) or (s is not None and s > self.s):
            return None
        return patient_bound(self.m, self.k if k is None else k, self.s, self.k)

    def n_s(self, rule: Rule, feature: Feature) -> float:
        return self.s

    def n_k(self, rule: Rule, feature: Feature) -> float:
        return self.k if self.patience is None else self.patience
