"""AutoDFF: no parameters, few corrections, and a bound."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from tellapart import codec
from tellapart.learners.adaptive import AdaptiveDFF
from tellapart.learners.base import BaseLearner
from tellapart.learners.guarded import Guarded
from tellapart.learners.hindsight.hindsight import Hindsight
from tellapart.model import Holds, holds, truth
from tellapart.protocol import Correction, Feature, Guess, Item, Label
from tellapart.theory import adaptive_bound

_POOL = 512  # corrections among which sets are looked for
_STARTS = 24  # sets tried in one search


class AutoDFF(Guarded):
    """The learner to begin with: `Hindsight`, guarded by `AdaptiveDFF`. Nothing to set.

    `Hindsight` is shown while the mistakes charged to it are at most those charged to
    `AdaptiveDFF`, as in `Guarded`; or at most what any world like this one allows. The corrections
    themselves show how difficult a world is (`Difficulty`): they prove a lower bound on m + k,
    hence on the bound B of `AdaptiveDFF`, and while Hindsight errs less than that there is nothing
    to guard against. In practice that is nearly always.

    Guarantee. In a world of m components and at most k bad rounds, at most 2B+1 mistakes, where B =
    (m-1)(m+2)/2 + (m+k)(m+k+1)/2 - 1. Neither m nor k is asked for. Items that come again are not
    counted: they are answered from memory. There is no guarantee for a teacher who gives one item
    two labels; memory is then trusted only while it does no worse than the rules.

    Proof. `AdaptiveDFF` is charged at most B. The last mistake charged to `Hindsight` came when it
    was charged at most what `AdaptiveDFF` was, or at most what is allowed; and no more is allowed
    than B, as only what is true of m and k is proven. It does not matter what `Hindsight` does. In
    tiny worlds, a search for bad lessons found some with 2B mistakes (docs/adversary.md says where
    it was exhaustive).

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

    @property
    def forgotten(self) -> Sequence[tuple[int, int]]:
        """What `Hindsight` has forgotten."""
        return self.practical.forgotten

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


class Told(NamedTuple):
    """A correction."""

    item: Item
    label: Label
    feature: Feature | None
    example: Item


class Difficulty:
    """What the corrections prove about m + k.

    A set of corrections of which no two items can share a component shows how large m + k is. Two
    corrected items cannot share a component

    - if their labels differ, or
    - if the feature named for the one does not hold on the other, since a feature named for x holds
      on the whole component of x (where none was named, take one that holds on nothing else),

    unless a round was bad. Let no item of the set be an example in it. An exception among the items
    takes one item out of the set. An exception among the examples makes the features named against
    it worthless, and its items still need a component for each of their labels. So if j of the
    examples are exceptions, m + k is at least j, plus the number of items with other examples, or
    plus the number of labels in the set, whichever is more. The least of this over all j is proven.

    >>> world = Difficulty()
    >>> world.add(Told({"milk"}, "mammal", "milk", {"eggs"}))
    >>> world.add(Told({"fins"}, "fish", "fins", {"eggs", "wings"}))
    >>> world.search()
    >>> world.least
    2
    """

    def __init__(self, reading: Holds = holds) -> None:
        self.reading = reading
        self.least = 1
        """The proven lower bound on m + k."""
        self.pool: list[Told] = []
        self._apart: list[int] = []  # for each correction, the bit set of those it is apart from
        self._clash: list[int] = []  # of those that must not be in one set with it
        self._same: list[int] = []  # and of those with the same example
        self._seen: dict[Hashable, tuple[int, int]] = {}  # as item, as example: bit sets
        self._searched = 0

    def __deepcopy__(self, memo: object) -> Difficulty:
        made = object.__new__(Difficulty)
        for name, value in vars(self).items():
            setattr(made, name, copy.copy(value))
        return made

    def add(self, told: Told) -> None:
        """Take in a correction."""
        number, bit = len(self.pool), 1 << len(self.pool)
        if number >= _POOL:
            return
        item, example = codec.identity(told.item), codec.identity(told.example)
        as_item, as_example = self._seen.get(item, (0, 0))
        other_item, same = self._seen.get(example, (0, 0))
        clash = as_item | as_example | other_item
        apart = 0
        for place, other in enumerate(self.pool):
            if self._separates(told, other) or self._separates(other, told):
                apart |= 1 << place
                self._apart[place] |= bit
            if clash >> place & 1:
                self._clash[place] |= bit
            if same >> place & 1:
                self._same[place] |= bit
        self.pool.append(told)
        self._apart.append(apart)
        self._clash.append(clash)
        self._same.append(same)
        self._see(told, bit)

    def _see(self, told: Told, bit: int) -> None:
        for one, (mark, other) in ((told.item, (bit, 0)), (told.example, (0, bit))):
            key = codec.identity(one)
            as_item, as_example = self._seen.get(key, (0, 0))
            self._seen[key] = (as_item | mark, as_example | other)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; compactly, with what was compared, so that nothing is compared again."""
        if codec.is_compact():
            parts: Any = zip(*self.pool, strict=True) if self.pool else ((),) * 4
            pool: Any = [codec.encode_many(part) for part in parts]
            sets = [[f"{bits:x}" for bits in one] for one in (self._apart, self._clash, self._same)]
            return {"least": self.least, "searched": self._searched, "columns": pool, "sets": sets}
        pool = [[codec.encode(part) for part in told] for told in self.pool]
        return {"least": self.least, "searched": self._searched, "pool": pool}

    def restore(self, data: Mapping[str, Any], context: codec.Context) -> None:
        """The inverse of `to_dict`."""
        for told in data.get("pool", ()):
            self.add(Told(*(codec.decode(part, context) for part in told)))
        if "columns" in data:
            columns = (codec.decode_many(part, context) for part in data["columns"])
            self.pool = [Told(*told) for told in zip(*columns, strict=True)]
            self._apart, self._clash, self._same = (
                [int(bits, 16) for bits in one] for one in data["sets"]
            )
            for number, told in enumerate(self.pool):
                self._see(told, 1 << number)
        self.least, self._searched = data["least"], data["searched"]

    def search(self) -> None:
        """Look for a set that proves more, if there is a new correction."""
        if self._searched == len(self.pool):
            return
        self._searched = len(self.pool)
        order = sorted(range(len(self.pool)), key=lambda n: (-self._apart[n].bit_count(), n))
        for start in [None, *order[1:_STARTS]]:
            chosen = self._choose(order if start is None else [start, *order])
            self.least = max(self.least, self._proven(chosen))

    def _choose(self, order: list[int]) -> list[int]:
        """A set whose items are all in different components: first items with their own
        examples."""
        chosen: list[int] = []
        fit, own = -1, -1  # bit sets of those that still fit
        for once in (True, False):
            for number in order:
                if fit >> number & 1 and (not once or own >> number & 1):
                    chosen.append(number)
                    fit &= self._apart[number] & ~self._clash[number]
                    own &= ~self._same[number]
        return chosen

    def _proven(self, chosen: list[int]) -> int:
        examples = Counter(codec.identity(self.pool[n].example) for n in chosen)
        labels = len({self.pool[n].label for n in chosen})
        sizes = sorted(examples.values())
        left = [sum(sizes[: len(sizes) - j]) for j in range(len(sizes) + 1)]
        return min(j + max(left[j], labels) for j in range(len(sizes) + 1))

    def _separates(self, told: Told, other: Told) -> bool:
        if told.label != other.label or told.feature is None:
            return True
        return not truth(told.feature, other.item, self.reading)


def allowance(least: int, labels: Iterable[int]) -> int:
    """The least bound of `AdaptiveDFF` in any world with m + k >= `least`.

    `labels` are the numbers of items of each label. A label without a component has exceptions
    only.

    >>> allowance(4, [20]), allowance(4, [20, 20]), allowance(4, [20, 1])
    (9, 11, 9)
    """
    counts = sorted(labels)
    bounds = (
        adaptive_bound(m, max(least - m, sum(counts[: len(counts) - m]), 0))
        for m in range(1, max(1, len(counts)) + 1)
    )
    return min(bounds)
