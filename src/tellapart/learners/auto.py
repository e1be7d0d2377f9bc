"""AutoDFF: no parameters, few corrections, and a bound."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tellapart import codec
from tellapart.learners.adaptive import AdaptiveDFF
from tellapart.learners.base import BaseLearner
from tellapart.learners.difficulty import Difficulty, Told
from tellapart.learners.guarded import Guarded
from tellapart.learners.hindsight import Hindsight
from tellapart.model import Holds, holds
from tellapart.protocol import Correction, Feature, Guess, Item, Label
from tellapart.theory import adaptive_bound


class AutoDFF(Guarded):
    """`Hindsight`, guarded by `AdaptiveDFF`: the learner to use when you do not know which."""

    parameters = ("columns",)

    def __init__(
        self,
        columns: Iterable[Feature] | None = None,
        *,
        holds: Holds = holds,
        remember: bool = True,
    ) -> None:
        super().__init__(
            Hindsight(columns, holds=holds, remember=remember),
            AdaptiveDFF(holds=holds, remember=remember),
            holds=holds,
            remember=remember,
        )
        self.columns = self.practical.columns
        self._difficulty = Difficulty(holds)
        self._allowed = 0
        self._met = {}

    @property
    def shown(self) -> BaseLearner:
        """Hindsight, unless its mistakes exceed all that is known to be allowed."""
        allowed = max(self._charged[1], self._allowed)
        return self.practical if self._charged[0] <= allowed else self.guaranteed

    def _recall(self, item: Item) -> Label | None:
        return None  # the two within remember for themselves

    def _keep(self, item: Item, label: Label) -> None:
        pass

    def _learn(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        label = guess.label if correction is None else correction.label
        odd = isinstance(self.practical, Hindsight) and self.practical.contradicts(item, label)
        before = list(self._charged)
        super()._learn(item, guess, correction)
        if odd: self._charged = before
        self._met[label] = self._met.get(label, 0) + 1
        if correction is not None:
            self._difficulty.add(Told(item, correction.label, correction.feature, guess.example))
            if self._charged[0] > max(self._charged[1], self._allowed):
                self._difficulty.search()
                self._allowed = allowance(self._difficulty.least, self._met.values())


def allowance(least: int, labels: Iterable[int]) -> int:
    """The least bound of AdaptiveDFF in a world with m + k >= `least`.

    A label without a component has exceptions only, so k is at least the number of its items.
    """
    counts = sorted(labels)
    best = None
    for m in range(1, max(1, len(counts)) + 1):
        total = max(least, m + sum(counts[: len(counts) - m]))
        bound = adaptive_bound(m, total - m)
        best = bound if best is None else min(best, bound)
    return best
