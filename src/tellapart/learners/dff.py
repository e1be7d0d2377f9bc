"""DFF: the algorithm for a teacher who never errs."""

from __future__ import annotations

from tellapart.bounds import dff_bound
from tellapart.learners.rule_list import Rule, RuleList
from tellapart.protocol import Count, Feature


class DFF(RuleList):
    """Learn rules from a perfect teacher: every reason is believed at once, nothing is forgotten.

    A wrong guess of a rule adds NOT φ to it; a wrong default guess makes an empty rule. This is
    `RobustDFF` at k = s = 0 without deletion: we know the paper of 2018 (Dasgupta, Dey, Roberts,
    Sabato, *Learning from discriminative feature feedback*) only through its successor.

    Guarantee. Under a perfect teacher with m components, at most (m-1)(m+2)/2 mistakes, whatever
    the number of features. None with a single exception: its rule is never deleted, and may err for
    ever.

    Examples
    --------
    >>> from tellapart import Correction
    >>> duck, bear, bass = {"feathers", "eggs"}, {"milk", "hair"}, {"eggs", "fins"}
    >>> learner = DFF()
    >>> learner.learn(bear, learner.guess(bear), Correction("mammal"))
    >>> learner.learn(duck, learner.guess(duck), Correction("bird", "feathers"))
    >>> learner.learn(bass, learner.guess(bass), Correction("fish", "fins"))
    >>> print(learner.model)
    if not fins: bird, like {'eggs', 'feathers'}
    else: mammal, like {'hair', 'milk'}
    >>> learner.bound(m=3, k=0)
    5
    """

    def bound(
        self, *, m: Count = None, k: Count = None, s: Count = None, n: Count = None
    ) -> int | None:
        """`dff_bound(m)` for a world of m components without exceptions; None otherwise."""
        return None if m is None or k != 0 else dff_bound(m)

    def wrong(self, rule: Rule, feature: Feature) -> None:
        self.extend(rule, feature)
