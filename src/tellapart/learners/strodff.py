"""StRoDFF: the paper's algorithm for the stochastic setting (Algorithm 3)."""

from __future__ import annotations

from math import exp

from tellapart.bounds import gamma, q, stochastic_bound
from tellapart.errors import ParameterError, check
from tellapart.learners.base import Idle
from tellapart.learners.robust import HandleMistake
from tellapart.learners.rule_list import Rule
from tellapart.model import Holds, holds
from tellapart.protocol import Count, Feature, Item, Label


class StRoDFF(HandleMistake):
    r"""Learn rules from a random stream with a fixed share of exceptions.

    As `RobustDFF`, with thresholds that grow with time (`theory.q`), and with rules created only
    when enough of the stream falls outside the rules (`theory.gamma`).

    Three things in the printed Algorithm 3 do not fit its proof (docs/theory.md, errata). By
    default they are repaired; `as_printed=True` gives the text to the letter:

    - n_k counts from the rule's creation, t(x̂), not from t(x̂, φ);
    - the logarithm in q uses the current round;
    - a rule is created at the uncovered round in which the condition is met, whatever its label,
      not only when the default guess is wrong.

    Guarantee (Theorem 4, for the corrected algorithm; docs/theory.md). If items are drawn
    independently, an exception has probability at most epsilon, and exceptions that name one
    feature against one component at most sigma, then with probability 1-delta the rate of mistakes
    in n rounds is
    $O((\sigma m + \epsilon) m \log(1/\delta) + m^2\log^2(n/\delta)/\sqrt n)$; `bound(n=...)` has
    the constants of the proof, which are large: in all settings tried they allow more than one
    mistake a round up to n = 10^7. Nothing is proven, and `bound` is None, as printed, with another
    `scale`, or with a memory of seen items.

    Parameters
    ----------
    m : int
        The most components.
    epsilon : float in [0, 1/4)
        The largest rate of exceptions.
    sigma : float in [0, epsilon]
        The largest rate of exceptions that name the same feature against the same component.
    delta : float in (0, e^-2]
        The probability with which the guarantee may fail.
    scale : float, default=1.0
        Multiplies the deviation terms of q and gamma. At 1 no rule can appear before round 242 to
        488 (delta from .1 to .05, epsilon from 0 to .2); smaller values start sooner and give up
        the guarantee.
    as_printed : bool, default=False
        Follow the printed text instead of the corrected one.

    Examples
    --------
    >>> import tellapart as ta
    >>> world = ta.worlds.tree(20_000, 30, 4, 2, exceptions=0.02, seed=3)
    >>> learner = ta.StRoDFF(world.m, epsilon=0.02, sigma=0.02, delta=0.1, scale=0.1)
    >>> lesson = ta.teach(learner, world.teacher(), world.items)
    >>> lesson.mistakes < 0.1 * lesson.rounds
    True
    """

    idle: Idle = "covered"

    def __init__(
        self,
        m: int,
        epsilon: float,
        sigma: float,
        delta: float,
        scale: float = 1.0,
        as_printed: bool = False,
        *,
        holds: Holds = holds,
        remember: bool = False,
    ) -> None:
        super().__init__(holds=holds, remember=remember)
        owner = "StRoDFF"
        check(owner, "m", m, "an integer >= 1", lambda m: m >= 1)
        check(owner, "epsilon", epsilon, "in [0, 1/4)", lambda e: 0 <= e < 0.25, float)
        up_to = f"from 0 to epsilon = {epsilon}"
        check(owner, "sigma", sigma, up_to, lambda s: 0 <= s <= epsilon, float)
        check(owner, "delta", delta, "in (0, e^-2 = 0.1353...]", lambda d: 0 < d <= exp(-2), float)
        check(owner, "scale", scale, "a number >= 0", lambda c: 0 <= c < float("inf"), float)
        if not isinstance(as_printed, bool):
            raise ParameterError(f"{owner}: as_printed must be True or False, got {as_printed!r}")
        self.m, self.epsilon, self.sigma = int(m), float(epsilon), float(sigma)
        self.delta, self.scale, self.as_printed = float(delta), float(scale), as_printed
        self.uncovered_rounds = 0  # N_lr: uncovered rounds since the last rule was created
        self.last_rule = 0  # t_lr: the round of that creation

    def bound(
        self, *, m: Count = None, k: Count = None, s: Count = None, n: Count = None
    ) -> float | None:
        """Theorem 4 with the constants of its proof, for `n` rounds; None where nothing is
        proven."""
        proven = self.scale == 1 and not self.as_printed and not self.remember
        if not proven or n is None or n < 1 or (m is not None and m > self.m):
            return None
        return stochastic_bound(self.m, self.epsilon, self.sigma, self.delta, n).total

    def _q(self, rate: float, since: int) -> float:
        now = None if self.as_printed else self.rounds
        return q(rate, self.rounds - since + 1, self.delta, now=now, scale=self.scale)

    def n_s(self, rule: Rule, feature: Feature) -> float:
        return self._q(self.sigma, rule.since[feature]) + 1

    def n_k(self, rule: Rule, feature: Feature) -> float:
        return self._q(self.epsilon, rule.since[feature] if self.as_printed else rule.born)

    def wrong(self, rule: Rule, feature: Feature) -> None:
        if feature not in rule.counts:
            rule.since[feature] = self.rounds  # t(x̂, φ) ← t
        super().wrong(rule, feature)

    def uncovered(self, item: Item, label: Label) -> None:
        """Line "newrule": enough of the stream since the last rule falls outside the rules."""
        self.uncovered_rounds += 1
        assert self.first is not None
        if self.as_printed and label == self.first.label:
            return
        t, outside = self.rounds, self.uncovered_rounds
        r = t - self.last_rule - outside + 1
        if outside >= gamma(self.epsilon, r, t, self.delta, scale=self.scale):
            self.create(item, label)
            self.uncovered_rounds, self.last_rule = 0, t
