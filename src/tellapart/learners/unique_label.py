"""UniqueLabelDFF: a constant number of mistakes an exception, if every label has one component."""

from __future__ import annotations

from random import Random

from tellapart.errors import ParameterError, check
from tellapart.learners.base import Idle
from tellapart.learners.rule_list import Rule, RuleList
from tellapart.model import Holds, holds, truth
from tellapart.protocol import Correction, Feature, Guess, Item, Label


class UniqueLabelDFF(RuleList):
    """Make rules by chance, one a label, and take back literals that were believed wrongly.

    This is Algorithm 2 of Sabato, *Improved Robust Algorithms for Learning with Discriminative
    Feature Feedback*, AISTATS 2023, line by line. A rule that guesses wrong gets NOT φ if the
    answer is consistent. On a wrong default guess with the right label y: if no rule has the label
    y, an empty rule is made with probability p; if one has it, a literal that the item violates is
    taken out of it. Each rule counts these updates, and goes at m + l - 1. (Our reading: taking a
    literal out is an update too, and the first such literal goes.)

    Guarantee. If all components have different labels, at most `theory.unique_label_bound(m, k)`
    mistakes are expected, whatever the teacher does who does not foresee the draws. The paper says
    2m(m-1) + 6k for suitable p and l. We derived p = 1/m and l = 2m, with which
    (m-1)(2m-1) + (4 - 1/m)k holds; docs/theory.md has the proof. Every exception costs less than 4,
    where `CappedDFF` can pay m+1. This is an average: for one lesson nothing is promised, and
    `bound` is None.

    Without m, it is guessed: 1, 2, 4, ... (ours). The guess is doubled, and the rules are dropped,
    as soon as as many labels have been corrections more often than the guess. At most
    (m-1)(20m' + 1 + 3 log2 m') + 17k mistakes are expected, m' the least power of two >= m.

    Examples
    --------
    >>> import tellapart as ta
    >>> world = ta.worlds.islands(2_000, m=16, seed=1)
    >>> for learner in ta.UniqueLabelDFF(m=16), ta.CappedDFF(m=16):
    ...     teacher = ta.teachers.Hostile(world.teacher(), k=100)
    ...     print(ta.teach(learner, teacher, world.items).mistakes)
    937
    1834
    """

    idle: Idle = "right"

    def __init__(
        self,
        m: int | None = None,
        p: float | None = None,
        l: int | None = None,  # noqa: E741  (the paper's name)
        seed: int = 0,
        *,
        holds: Holds = holds,
        remember: bool = False,
    ) -> None:
        super().__init__(holds=holds, remember=remember)
        owner = "UniqueLabelDFF"
        if m is None and (p, l) != (None, None):
            raise ParameterError(f"{owner}: m must be given where p or l is; got p={p!r}, l={l!r}")
        if m is not None:
            check(owner, "m", m, "an integer >= 1", lambda m: m >= 1)
        if p is not None:
            check(owner, "p", p, "in (0, 1]", lambda p: 0 < p <= 1, float)
        if l is not None:
            check(owner, "l", l, "an integer >= 1", lambda v: v >= 1)
        check(owner, "seed", seed, "an integer >= 0", lambda seed: seed >= 0)
        self.m, self.p, self.l, self.seed = m, p, l, int(seed)
        self.size = 1 if m is None else int(m)
        """The number of components it reckons with: m, or a guess."""
        self.draws = 0
        """How often chance was asked."""
        self.updates: dict[int, int] = {}
        """The updates of each rule, by its number."""
        self.told: dict[Label, int] = {}
        """How often each label was a correction, while m is guessed."""

    def update(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        rule = self.match(item)
        super().update(item, guess, correction)
        if correction is not None:
            if rule is not None:
                self._count(rule)
            if self.m is None:
                self._reckon(correction.label)

    def wrong(self, rule: Rule, feature: Feature) -> None:
        self.extend(rule, feature)

    def uncovered(self, item: Item, label: Label) -> None:
        assert self.first is not None
        if label == self.first.label:
            return
        rule = next((rule for rule in self.rules if rule.guess.label == label), None)
        if rule is None:
            self.draws += 1
            p = 1 / self.size if self.p is None else self.p
            if Random(f"{self.seed}/{self.draws}").random() < p:
                self.create(item, label)
        else:
            violated = (f for f in rule.features if truth(f, item, self.holds))
            self.retract(rule, next(violated))
            self._count(rule)

    def _count(self, rule: Rule) -> None:
        """One update more; at m + l - 1 the rule goes."""
        updates = self.updates[rule.number] = self.updates.get(rule.number, 0) + 1
        if updates >= self.size - 1 + (2 * self.size if self.l is None else self.l):
            self.delete(rule)
            del self.updates[rule.number]

    def _reckon(self, label: Label) -> None:
        """Double the guessed m when that many labels were corrections more often than it says."""
        assert self.first is not None
        if label == self.first.label:
            return
        self.told[label] = self.told.get(label, 0) + 1
        if sum(count > self.size for count in self.told.values()) >= self.size:
            self.size *= 2
            self.told, self.updates = {}, {}
            for rule in list(self.rules):
                self.delete(rule)
