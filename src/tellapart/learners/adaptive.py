"""AdaptiveDFF: no parameters, and still a bound."""

from __future__ import annotations

from tellapart.bounds import adaptive_bound
from tellapart.errors import ParameterError
from tellapart.learners.rule_list import Rule, RuleList
from tellapart.model import Holds, holds
from tellapart.protocol import Count, Feature


class AdaptiveDFF(RuleList):
    """`CappedDFF` that finds its cap by itself; it knows neither m nor k nor s.

    Guarantee. With m components and at most k bad rounds, at most `theory.adaptive_bound(m, k,
    schedule)` mistakes:

    - "growing": the cap is one more than the deletions so far;
      (m-1)(m+2)/2 + (m+k)(m+k+1)/2 - 1, met by some teacher. Better for few exceptions.
    - "ruler": the n-th rule created has the cap n & -n (1, 2, 1, 4, 1, 2, 1, 8, ...);
      O(m(m+k) log(m+k)). Better for many: the two cross near k = 40 at m = 4.

    Examples
    --------
    >>> import tellapart as ta
    >>> world = ta.worlds.zoo()
    >>> lesson = ta.teach(ta.AdaptiveDFF(), world.teacher(), world.items)
    >>> lesson.mistakes, lesson.bound
    (32, 81)
    """

    def __init__(
        self, schedule: str = "growing", *, holds: Holds = holds, remember: bool = False
    ) -> None:
        super().__init__(holds=holds, remember=remember)
        if schedule not in ("growing", "ruler"):
            raise ParameterError(
                f"AdaptiveDFF: schedule must be 'growing' or 'ruler', got {schedule!r}"
            )
        self.schedule = schedule

    def bound(
        self, *, m: Count = None, k: Count = None, s: Count = None, n: Count = None
    ) -> int | None:
        """`adaptive_bound` for a world of m components and k bad rounds."""
        return None if m is None or k is None else adaptive_bound(m, k, self.schedule)

    def cap(self, rule: Rule) -> int:
        """How many mistakes `rule` may make before it goes."""
        if self.schedule == "growing":
            return 1 + self.rules_deleted
        return rule.number & -rule.number

    def wrong(self, rule: Rule, feature: Feature) -> None:
        self.extend(rule, feature)
        if len(rule.features) >= self.cap(rule):
            self.delete(rule)
