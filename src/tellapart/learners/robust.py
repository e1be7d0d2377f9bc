"""RobustDFF: the paper's algorithm for the adversarial setting (Algorithms 1 and 2)."""

from __future__ import annotations

from abc import abstractmethod

from tellapart.bounds import patient_bound
from tellapart.errors import check
from tellapart.learners.rule_list import Rule, RuleList
from tellapart.model import Holds, holds
from tellapart.protocol import Count, Feature


class HandleMistake(RuleList):
    """Algorithm 2, shared by `RobustDFF` and `StRoDFF`."""

    m: int

    @abstractmethod
    def n_k(self, rule: Rule, first: int) -> float:
        """k, for a feature first counted against `rule` in round `first`; it never falls."""

    @abstractmethod
    def n_s(self, first: int) -> float:
        """s, for a feature first counted in round `first`; it never falls."""

    def wrong(self, rule: Rule, feature: Feature) -> None:
        """Algorithm 2, line by line; k and s may be real numbers (StRoDFF's thresholds)."""
        count, first = rule.counts.get(feature, (0, self.rounds))  # t(x̂, φ)
        count += 1
        if count > self.n_s(first):
            self.extend(rule, feature)
            rule.counted -= rule.counts.pop(feature, (0, 0))[0]
            if len(rule.features) >= self.m:
                self.delete(rule)
            return
        rule.counts[feature], rule.counted = (count, first), rule.counted + 1
        k = self.n_k(rule, first)
        # (if all counters do not sum to more than k, no part of them does)
        if rule.counted > k and self.odd_counts(rule) > k:
            self.delete(rule)

    def odd_counts(self, rule: Rule) -> int:
        """The sum of all counters but the b largest: what speaks against the rule."""
        b = self.m - 1 - len(rule.features)
        return sum(sorted((n for n, _ in rule.counts.values()), reverse=True)[b:])


class RobustDFF(HandleMistake):
    """Learn rules from corrections that name one telling feature, at most k of them bad.

    A rule is an example, its label, and the features its items must not have. The guess is the
    label of the first rule, in order of creation, that covers the item. A feature becomes a literal
    once more than s corrections named it; a rule goes when it has m literals, or when more
    corrections than `patience` speak against it after its m-1-|C| most frequent reasons are set
    aside. Follows Algorithms 1 and 2 of [^1] line by line, read as docs/theory.md says.

    A correction without a feature is counted as a feature of its own, shared by nothing.

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

    References
    ----------
    [^1]: Dasgupta, Sabato, *Robust Learning from Discriminative Feature Feedback*, AISTATS 2020.
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

    def n_k(self, rule: Rule, first: int) -> float:
        return self.k if self.patience is None else self.patience

    def n_s(self, first: int) -> float:
        return self.s
