"""OptimalDFF: the fewest mistakes that are possible under a perfect teacher."""

from __future__ import annotations

from tellapart.bounds import optimal_bound
from tellapart.learners.dff import DFF
from tellapart.model import Not
from tellapart.protocol import Correction, Count, Guess, Item


class OptimalDFF(DFF):
    """`DFF` that also believes the reason given on a wrong default guess.

    The feature that tells the item from the first one becomes a literal that the new rule's items
    must have. So the component of the first item never errs on the rule, and every mistake settles
    another pair of components.

    Guarantee. Under a perfect teacher with m components, at most m(m-1)/2 mistakes, and no learner
    can promise fewer (docs/theory.md). None with a single exception.

    Examples
    --------
    >>> from tellapart import Correction
    >>> duck, bear, bass = {"feathers", "eggs"}, {"milk", "hair"}, {"eggs", "fins"}
    >>> learner = OptimalDFF()
    >>> learner.learn(bear, learner.guess(bear), Correction("mammal"))
    >>> learner.learn(duck, learner.guess(duck), Correction("bird", "feathers"))
    >>> learner.learn(bass, learner.guess(bass), Correction("fish", "fins"))
    >>> print(learner.model)
    if feathers: bird, like {'eggs', 'feathers'}
    else if fins: fish, like {'eggs', 'fins'}
    else: mammal, like {'hair', 'milk'}
    >>> learner.bound(m=3, k=0)
    3
    """

    def bound(
        self, *, m: Count = None, k: Count = None, s: Count = None, n: Count = None
    ) -> int | None:
        """`optimal_bound(m)` for a world of m components without exceptions; None otherwise."""
        return None if m is None or k != 0 else optimal_bound(m)

    def update(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        created, odd = self.rules_created, len(self.inconsistencies)
        super().update(item, guess, correction)
        made = self.rules_created > created and len(self.inconsistencies) == odd
        if made and correction and correction.feature is not None:
            self.extend(self.rules[-1], Not(correction.feature))
