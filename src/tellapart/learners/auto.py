"""AutoDFF: no parameters, few corrections, and a bound."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from tellapart import codec
from tellapart.learners.adaptive import AdaptiveDFF
from tellapart.learners.base import BaseLearner
from tellapart.learners.difficulty import Told, allowance, least
from tellapart.learners.guarded import Guarded
from tellapart.learners.reasons import Reason
from tellapart.learners.short_list import ShortList
from tellapart.model import Holds, holds
from tellapart.protocol import Correction, Feature, Guess, Item, Label


class AutoDFF(Guarded):
    """The learner to begin with: `ShortList`, guarded by `AdaptiveDFF`. Nothing to set.

    `ShortList` is shown while the mistakes charged to it are at most those charged to
    `AdaptiveDFF`, as in `Guarded`; or at most what any world like this one allows. The corrections
    themselves prove a lower bound on m + k (`difficulty`), hence on the bound B of `AdaptiveDFF`,
    and while ShortList errs less than that there is nothing to guard against. In practice that is
    nearly always.

    Guarantee. In a world of m components and at most k bad rounds, at most 2B+1 mistakes, where B =
    (m-1)(m+2)/2 + (m+k)(m+k+1)/2 - 1. Neither m nor k is asked for. Items that come again are not
    counted: they are answered from memory. There is no guarantee for a teacher who gives one item
    two labels; rules decide on such an item from then on.

    Proof. `AdaptiveDFF` is charged at most B. The last mistake charged to `ShortList` came when it
    was charged at most what `AdaptiveDFF` was, or at most what is allowed; and no more is allowed
    than B, as only what is true of m and k is proven. It does not matter what `ShortList` does.

    Parameters
    ----------
    columns, terms, wary
        As of `ShortList`.
    remember : bool, default=True
        Answer an item seen before from memory.

    Examples
    --------
    >>> import tellapart as ta
    >>> world = ta.worlds.zoo()
    >>> lesson = ta.teach(ta.AutoDFF(), world.teacher(), world.items)
    >>> lesson.mistakes, lesson.bound
    (8, 163)
    """

    def __init__(
        self,
        columns: Iterable[Feature] | None = None,
        terms: int | None = None,
        wary: bool = True,
        *,
        holds: Holds = holds,
        remember: bool = True,
    ) -> None:
        practical = ShortList(columns, terms, wary, holds=holds)
        super().__init__(practical, AdaptiveDFF(holds=holds), holds=holds, remember=remember)
        self.columns, self.terms, self.wary = practical.columns, practical.terms, practical.wary
        self.met: dict[Label, int] = {}
        """How many items of each label came."""
        self.allowed = 0
        """Mistakes that any world like this one allows."""
        self.corrections: list[Told] = []
        """What was charged to either of the two."""

    @property
    def shown(self) -> BaseLearner:
        """The learner whose guess is shown next, if the item is a new one."""
        allowed = max(self.charged[1], self.allowed)
        return self.practical if self.charged[0] <= allowed else self.guaranteed

    @property
    def suspected(self) -> tuple[Hashable, ...]:
        """The columns that go along with the labels but were never named, and are not used."""
        return self.practical.suspected if isinstance(self.practical, ShortList) else ()

    def reasons(self) -> list[Reason]:
        """Every reason given: in which rule of `model` it stands, or why it is not needed."""
        return self.practical.reasons(self.model) if isinstance(self.practical, ShortList) else []

    def begin(self, item: Item, label: Label) -> None:
        super().begin(item, label)
        self.met[label] = 1

    def learn(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        """Take the answer to `guess` on `item`; None when the guess stands."""
        known = self.recall(item)
        super().learn(item, guess, correction)
        if known is not None and correction is not None:  # it has two labels
            self.memory[codec.identity(item)] = None

    def update(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        charged, other = sum(self.charged), self.shown is self.guaranteed
        super().update(item, guess, correction)
        if other and isinstance(self.practical, ShortList):  # it hears answers to any guess
            self.practical.learn(item, guess, correction)
        label = guess.label if correction is None else correction.label
        self.met[label] = self.met.get(label, 0) + 1
        if correction is None or sum(self.charged) == charged:
            return
        self.corrections.append(Told(codec.keep(item), *correction, guess.example))
        if self.charged[0] > max(self.charged[1], self.allowed):
            proven = least(self.corrections, self.holds)
            self.allowed = max(self.allowed, allowance(proven, self.met.values()))
