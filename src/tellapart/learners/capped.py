"""CappedDFF: better than the paper's bound, by a smaller algorithm."""

from __future__ import annotations

from tellapart.bounds import capped_bound
from tellapart.errors import check
from tellapart.learners.rule_list import Rule, RuleList
from tellapart.model import Holds, holds
from tellapart.protocol import Count, Feature


class CappedDFF(RuleList):
    """Believe every reason at once; drop a rule that has been wrong m times.

    Needs neither k nor s. A correction without a feature counts toward the cap.

    Guarantee. With m components and at most k bad rounds (a round is bad when its item is an
    exception, or when its feature does not separate the two components), at most
    (m-1)(m+2)/2 + k(m+1) mistakes and m+k-1 rules; both are met by some teacher. If the world has
    fewer than m components the bound holds with its own number and k(m+1); if it has more, nothing
    is promised: a cap of m-1 can err for ever.

    Examples
    --------
    >>> import tellapart as ta
    >>> world = ta.worlds.zoo()
    >>> lesson = ta.teach(ta.CappedDFF(m=world.m), world.teacher(), world.items)
    >>> lesson.mistakes, lesson.bound
    (22, 51)

    The algorithm is SR-DFF of Sabato, *Improved Robust Algorithms for Learning with Discriminative
    Feature Feedback*, AISTATS 2023. The bound is ours; docs/theory.md has its proof, and what is
    wrong with the printed one.
    """

    def __init__(self, m: int, *, holds: Holds = holds, remember: bool = False) -> None:
        super().__init__(holds=holds, remember=remember)
        check("CappedDFF", "m", m, "an integer >= 1", lambda m: m >= 1)
        self.m = int(m)

    def bound(
        self, *, m: Count = None, k: Count = None, s: Count = None, n: Count = None
    ) -> int | None:
        """`capped_bound` for a world of m components (its own m if not given) and k bad rounds."""
        components = self.m if m is None else m
        if k is None or components > self.m:
            return None
        return capped_bound(components, k, cap=self.m)

    def wrong(self, rule: Rule, feature: Feature) -> None:
        self.extend(rule, feature)
        if len(rule.features) >= self.m:
            self.delete(rule)


SRDFF = CappedDFF
"""The name that its author gave it."""
