"""AutoDFF: no parameters, few corrections, and a bound."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Self

from tellapart import codec
from tellapart.learners.adaptive import AdaptiveDFF
from tellapart.learners.base import BaseLearner
from tellapart.learners.difficulty import Difficulty, Told, allowance
from tellapart.learners.guarded import Guarded
from tellapart.learners.hindsight.hindsight import Hindsight
from tellapart.model import Holds, holds
from tellapart.protocol import Correction, Feature, Guess, Item, Label


class AutoDFF(Guarded):
    """The learner to begin with: `Hindsight`, guarded by `AdaptiveDFF`. Nothing to set.

    `Hindsight` is shown while the mistakes charged to it are at most those charged to
    `AdaptiveDFF`, as in `Guarded`; or at most what any world like this one allows. The corrections
    themselves show how difficult a world is (`learners.difficulty`): they prove that m + k is at
    least so much, hence that the bound B of `AdaptiveDFF` is, and while Hindsight errs less than
    that there is nothing to guard against. In practice that is nearly always.

    Guarantee. In a world of m components and at most k bad rounds, at most 2B+1 mistakes, where
    B = (m-1)(m+2)/2 + (m+k)(m+k+1)/2 - 1. Neither m nor k is asked for. Items that come again are
    not counted, and need not be: they are answered from memory. Says nothing about a teacher who
    gives one item two labels; memory is then trusted only while it does no worse than the rules.

    Proof. `AdaptiveDFF` is charged at most B. The last mistake charged to `Hindsight` came when it
    was charged at most what `AdaptiveDFF` was, or at most what is allowed; and no more is allowed
    than B, as only what is true of m and k is proven. Nothing here asks what `Hindsight` does. For
    tiny worlds teachers were searched as well, and came as near as 2B (docs/adversary.md says which
    lessons were all tried, and which were not).

    Parameters
    ----------
    columns : features, default=None
        What `Hindsight` may use without having been named. None: every column of mappings and every
        member of sets; of other items, only what was named.
    remember : bool, default=True
        Answer an item seen before from memory.

    Examples
    --------
    >>> import tellapart as ta
    >>> world = ta.worlds.zoo()
    >>> lesson = ta.teach(ta.AutoDFF(), world.teacher(), world.items)
    >>> lesson.mistakes, lesson.bound
    (9, 163)
    """

    parameters = ("columns",)

    def __init__(
        self,
        columns: Iterable[Feature] | None = None,
        *,
        holds: Holds = holds,
        remember: bool = True,
    ) -> None:
        practical = Hindsight(columns, holds=holds, remember=remember)
        super().__init__(practical, AdaptiveDFF(holds=holds), holds=holds, remember=remember)
        self.columns = practical.columns
        self._met: Counter[Label] = Counter()  # items of each label
        self._difficulty = Difficulty(holds)
        self._allowed = 0

    @property
    def shown(self) -> BaseLearner:
        """The learner whose guess is shown next, if the item is a new one."""
        allowed = max(self._charged[1], self._allowed)
        return self.practical if self._charged[0] <= allowed else self.guaranteed

    def clone(self) -> Self:
        """A fresh learner."""
        return BaseLearner.clone(self)

    def read_by(self, reading: Holds) -> None:
        """Read features by `reading` from now on."""
        super().read_by(reading)
        if hasattr(self, "_difficulty"):
            self._difficulty.reading = reading

    @property
    def looks_back(self) -> bool:
        """Yes: `Hindsight` does, and so does what proves how difficult the world is."""
        return True

    def hidden(self) -> Any:
        """Everything: what was told long ago may be weighed again."""
        return BaseLearner.hidden(self)

    def _recall(self, item: Item) -> Label | None:
        return None  # the practical learner's memory is asked

    def _keep(self, item: Item, label: Label) -> None:
        pass

    def _is_known(self, item: Item) -> bool:
        return self.remember and codec.identity(item) in self.practical._memory

    def _begin(self, item: Item, label: Label) -> None:
        super()._begin(item, label)
        self._met[label] += 1

    def _guess(self, item: Item) -> Guess:
        return (self.practical if self._is_known(item) else self.shown).guess(item)

    def _learn(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        if self._is_known(item):
            self._pass_on(self.practical, item, guess, correction)
            return
        charged = sum(self._charged)
        super()._learn(item, guess, correction)
        self._met[guess.label if correction is None else correction.label] += 1
        if correction is not None and sum(self._charged) > charged:
            told = Told(codec.keep(item), correction.label, correction.feature, guess.example)
            self._difficulty.add(told)
            self._allow()

    def _allow(self) -> None:
        """Look for a proof that allows more mistakes, when they are needed."""
        if self._charged[0] > max(self._charged[1], self._allowed):
            self._difficulty.search()
            self._allowed = allowance(self._difficulty.least, self._met.values())

    def _overhear(self, item: Item, label: Label) -> None:
        if self._is_known(item):
            self.rounds += 1
            self.practical.overhear(item, label)
            return
        super()._overhear(item, label)
        self._met[label] += 1

    def _write_parameters(self) -> dict[str, Any]:
        return {"columns": codec.encode(self.columns)}

    @classmethod
    def _read_parameters(cls, data: Mapping[str, Any], context: codec.Context) -> dict[str, Any]:
        return {name: codec.decode(value, context) for name, value in data.items()}

    def _state(self) -> dict[str, Any]:
        return {
            "charged": list(self._charged),
            "practical": self.practical.to_dict(),
            "guaranteed": self.guaranteed.to_dict(),
            "met": [[codec.encode(label), count] for label, count in self._met.items()],
            "allowed": self._allowed,
            "difficulty": self._difficulty.to_dict(),
        }

    def _restore(self, state: Mapping[str, Any], context: codec.Context) -> None:
        self._charged = list(state["charged"])
        self.practical = BaseLearner.from_dict(state["practical"], context)
        self.guaranteed = BaseLearner.from_dict(state["guaranteed"], context)
        self._met = Counter({codec.decode(label, context): n for label, n in state["met"]})
        self._allowed = state["allowed"]
        self._difficulty.restore(state["difficulty"], context)
