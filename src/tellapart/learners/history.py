"""The history of a learner as columns of bits: items, labels, the pairs told apart, and a pool.

There is a column for every feature the teacher names and every one that `columns=` lists. When
nothing is listed, mappings and sets give columns too (`_shown`). Other items are not looked into:
in a world of a million features only the columns that were named exist.
"""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from tellapart import codec
from tellapart.columns.thresholds import between
from tellapart.combinations import Above, AtMost, Column, Is
from tellapart.model import Compound, Holds, Not, describe, holds, truth
from tellapart.protocol import Feature, Item, Label

Bits = npt.NDArray[np.bool_]

_CUTS = 15  # thresholds found at a time in a column of numbers,
_FEWEST = 4  # when there are so many numbers
_VALUES = 32  # a column of more different numbers has no "legs = 4"
_AGAIN = 1.5  # items are looked into again when there are so many times more of them
_COMPARED = re.compile(r"(.+?) (?:=|>|<|>=|<=|is|contains) .+", re.DOTALL)


_WHOLE = 2.0**53  # whole numbers below it are the same as doubles
_EXACT = re.compile(r" (?:=|is) ")


class Pool(Protocol):
    """Rows whose labels nobody knows yet."""

    @property
    def ids(self) -> Sequence[Hashable]:
        """Their identities: `codec.identity` of the items they are."""
        ...

    def truths(self, features: Sequence[Feature]) -> Bits:
        """The truth of features on all rows: features by rows."""
        ...


class Columns(tuple[Feature, ...]):
    """Features that a learner may use unprompted, and what is known of the rows they are read from.

    >>> Columns(["milk", "legs"]).pool is None
    True
    """

    pool: Pool | None
    entered: frozenset[Hashable]
    """Groups of columns that look like keys, numbers of rows or dates of entry: they are used only
    if they are named."""

    def __new__(
        cls,
        features: Iterable[Feature],
        pool: Pool | None = None,
        entered: Iterable[Hashable] = (),
    ) -> Columns:
        made = super().__new__(cls, features)
        made.pool, made.entered = pool, frozenset(entered)
        return made

    def __deepcopy__(self, memo: object) -> Columns:
        return self


class Pair(NamedTuple):
    """Two items told apart: `column` holds on one of them and not on the other."""

    item: int
    example: int
    column: int


class History:
    """Labelled items in their order, their columns, and the pairs told apart.

    >>> history = History(columns=["milk", "legs"])
    >>> history.add({"milk": True, "legs": 4}, "mammal"), history.add({"legs": 2}, "bird")
    (0, 1)
    >>> history.name("milk", 0, 1)
    >>> history.features, history.pairs, history.bits.tolist()
    (['legs', 'milk'], [Pair(item=0, example=1, column=1)], [[True, True], [True, False]])
    """

    def __init__(self, reading: Holds = holds, columns: Iterable[Feature] | None = None) -> None:
        self.reading = reading
        self.listed = columns if isinstance(columns, Columns | None) else Columns(columns)
        self.items: list[Item] = []
        self.labels: list[Label] = []
        """The labels met, in order; the code of a label is its place here."""
        self.codes: list[int] = []
        """The code of every item's label."""
        self.features: list[Feature] = []
        """The feature of every column."""
        self.column_of: dict[Feature, int] = {}
        self.groups: list[Hashable] = []
        """Of every column the group: comparisons of one column of a table belong together."""
        self.pairs: list[Pair] = []
        self.number_of: dict[Hashable, int] = {}
        """By its identity, the number of an item when it first came."""
        self.told: list[list[Any]] = []
        """Everything told, in order: [item, label], and of corrections the example's number and the
        feature that was named, or None."""
        self._bits = np.zeros((64, 16), dtype=np.bool_)
        self._pool_bits: Bits | None = None
        self._cuts = dict[Any, dict[int, float]]()  # the thresholds of columns of numbers
        self._opposite = dict[int, tuple[int, bool]]()  # rows looked at, and whether it is one
        self._looked = 0  # how many items there were when they were last looked into
        for feature in self.listed or ():
            if callable(feature) or reading is not holds:
                self._column(feature)

    def __len__(self) -> int:
        return len(self.items)

    def __deepcopy__(self, memo: object) -> History:
        """Another one, independent. What is in the lists never changes: the lists are copied."""
        made = object.__new__(History)
        for name, value in vars(self).items():
            shared = name in ("listed", "_pool_bits")
            made.__dict__[name] = value if shared else copy.copy(value)
        made._cuts = {name: dict(cuts) for name, cuts in self._cuts.items()}
        return made

    @property
    def bits(self) -> Bits:
        """The truth of every column on every item: items by columns."""
        return self._bits[: len(self.items), : len(self.features)]

    def pool_bits(self, items: int) -> Bits:
        """The same for the rows of the pool that are not among the first `items`."""
        pool = None if self.listed is None else self.listed.pool
        if pool is None or not self.features:
            return np.zeros((0, len(self.features)), dtype=np.bool_)
        known = 0 if self._pool_bits is None else self._pool_bits.shape[1]
        if known < len(self.features):
            new = np.ascontiguousarray(pool.truths(self.features[known:]).T)
            old = self._pool_bits
            self._pool_bits = new if old is None else np.concatenate([old, new], axis=1)
        assert self._pool_bits is not None
        free = [n for n, one in enumerate(pool.ids) if self.number_of.get(one, items) >= items]
        return self._pool_bits[free]

    def column_for(self, feature: Feature) -> int | None:
        """The column of a feature, or of its opposite; None if there is none."""
        other = feature.opposite if isinstance(feature, Compound) else None
        return self.column_of.get(feature, self.column_of.get(other))

    def opposite(self, column: int, items: int) -> Feature | None:
        """The feature that is the opposite of a column on the first `items` and on the pool; None
        if there is none. Where a value is unknown, neither a comparison nor its opposite holds."""
        feature = self.features[column]
        other = feature.opposite if isinstance(feature, Compound) else None
        if other is None:
            return None
        if column not in self._opposite:
            pool = None if self.listed is None else self.listed.pool
            found = pool is None or bool(np.logical_xor(*pool.truths([feature, other])).all())
            self._opposite[column] = 0, found
        seen, found = self._opposite[column]
        if found and seen < items:
            bits = self.bits[seen:items, column].tolist()
            more = zip(self.items[seen:items], bits, strict=True)
            found = all(truth(other, item, self.reading) != bit for item, bit in more)
            self._opposite[column] = items, found
        return other if found else None

    def instead(self, columns: Iterable[int], rows: Bits) -> npt.NDArray[np.intp]:
        """For every column the one to use in its place: of some `columns` of one group that are
        equal on all rows, the most general one; elsewhere itself."""
        found, first = np.arange(len(self.features)), dict[Any, int]()
        for column in sorted(set(columns), key=lambda column: _generality(self.features[column])):
            same = self.groups[column], rows[:, column].tobytes()
            found[column] = first.setdefault(same, column)
        return found

    def add(self, item: Item, label: Label) -> int:
        """Take in one more item; returns its number."""
        number, item = len(self.items), codec.keep(item)
        self.items.append(item)
        self.told.append([item, label])
        self.number_of.setdefault(codec.identity(item), number)
        if label not in self.labels:
            self.labels.append(label)
        self.codes.append(self.labels.index(label))
        if number == len(self._bits):
            self._bits = np.concatenate([self._bits, np.zeros_like(self._bits)])
        self._bits[number, : len(self.features)] = self.bits_of(item)
        if number + 1 >= _AGAIN * self._looked:
            self._look()
        return number

    def name(self, feature: Feature | None, item: int, example: int) -> None:
        """Take a correction and its reason: `feature` holds on `item` and not on `example`.

        "It is this very item" is true and says nothing about others; it is left out.
        """
        if isinstance(feature, Not):
            feature = feature.feature
        if isinstance(feature, Is):
            feature = None
        self.told[item] = [*self.told[item][:2], example, feature]
        if feature is not None:
            self.pairs.append(Pair(item, example, self._column(feature)))

    def bits_of(self, item: Item) -> Bits:
        """The truth of every column on an item."""
        features, reading = self.features, self.reading
        found = np.zeros(len(features), dtype=np.bool_)
        if isinstance(item, Mapping):  # all thresholds of a number at once
            done = set[int]()
            for name, cuts in self._cuts.items():
                value = item.get(name)
                if isinstance(value, int | float) and abs(value) < _WHOLE:
                    found[[*cuts]] = np.greater(value, [*cuts.values()])
                    done |= cuts.keys()
            rest: Iterable[int] = (n for n in range(len(features)) if n not in done)
        else:
            rest = range(len(features))
        plain = reading is holds and isinstance(item, frozenset | set)
        for n in rest:
            feature = features[n]
            named = plain and type(feature) is str
            found[n] = feature in item if named else truth(feature, item, reading)
        return found

    def named(self) -> Bits:
        """Which columns were named."""
        found = np.zeros(len(self.features), dtype=np.bool_)
        found[[pair.column for pair in self.pairs]] = True
        return found

    def unprompted(self) -> Bits:
        """Which columns may be used without having been named."""
        entered = frozenset[Hashable]() if self.listed is None else self.listed.entered
        barred = entered - {self.groups[pair.column] for pair in self.pairs}
        return np.array([group not in barred for group in self.groups], dtype=np.bool_)

    def group_numbers(self) -> npt.NDArray[np.intp]:
        """The groups as numbers."""
        numbers = {group: number for number, group in enumerate(dict.fromkeys(self.groups))}
        return np.array([numbers[group] for group in self.groups], dtype=np.intp)

    def extend(self, told: Iterable[Any]) -> None:
        """Take in what another history was told."""
        for item, label, *correction in told:
            number = self.add(item, label)
            if correction:
                example, *feature = correction
                self.name(feature[0] if feature else None, number, example)

    def _column(self, feature: Feature) -> int:
        """The column of `feature`; a new one is asked of all items so far."""
        column = self.column_of.setdefault(feature, len(self.features))
        if column == len(self.features):
            self.features.append(feature)
            self.groups.append(group_of(feature))
            if isinstance(feature, Above):
                self._cuts.setdefault(feature.name, {})[column] = feature.threshold
            if column == self._bits.shape[1]:
                self._bits = np.concatenate([self._bits, np.zeros_like(self._bits)], axis=1)
            held = (truth(feature, item, self.reading) for item in self.items)
            self._bits[: len(self.items), column] = np.fromiter(held, np.bool_, len(self.items))
        return column

    def _look(self) -> None:
        """Make columns of what the items show by themselves."""
        self._looked = len(self.items)
        names = None if self.listed is None else {f for f in self.listed if not callable(f)}
        if self.reading is holds and names != set():
            for feature in _shown(self.items, names, self.features):
                self._column(feature)


def _generality(feature: Feature) -> tuple[bool, int, str]:
    """Sorts the more general of two features first: "contains" before "is", short before long."""
    said = describe(feature)
    return _EXACT.search(said) is not None, len(said), said


def group_of(feature: Feature) -> Hashable:
    """The column of a table that a feature compares; of features that read several, all of them.

    >>> group_of(Above("legs", 3)), group_of("legs > 3"), group_of("feathers")
    ('legs', 'legs', 'feathers')
    """
    if isinstance(feature, Above | AtMost | Column):
        return feature.name
    schema = getattr(feature, "schema", None)
    if schema:
        return schema if isinstance(schema, str) else " and ".join(schema)
    compared = _COMPARED.fullmatch(describe(feature))
    return compared[1] if compared else describe(feature)


def _shown(
    items: Iterable[Item], names: set[Feature] | None, known: Iterable[Feature]
) -> Iterator[Feature]:
    """What at least two items have in common: members of sets; of mappings a name (its truth) or a
    value, and thresholds between numbers. Only of these `names`, if they are given.

    Nothing depends on the order in which an item lists its columns.
    """
    members, values = Counter[Any](), dict[Any, list[Any]]()
    for item in items:
        if isinstance(item, Mapping):
            for name in item if names is None else names & item.keys():
                values.setdefault(name, []).append(item[name])
        elif isinstance(item, set | frozenset):
            members.update(item if names is None else names & item)
    yield from sorted((member for member, times in members.items() if times > 1), key=str)
    for name in sorted(values, key=str):
        cuts = [f.threshold for f in known if isinstance(f, Above) and f.name == name]
        yield from _shown_by(name, values[name], cuts)


def _shown_by(name: Any, values: Iterable[Any], cuts: Collection[float]) -> Iterator[Feature]:
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    texts = Counter(value for value in plain if isinstance(value, str))
    numbers = [v for v in plain if isinstance(v, int | float) and -1e308 < v < 1e308]
    yield from (Column(name, text) for text in sorted(texts) if texts[text] > 1)
    if sum(map(bool, numbers)) > 1:
        yield name
    times = Counter(numbers)
    if times.keys() <= {0, 1}:
        return
    if len(times) <= _VALUES:
        often = sorted(number for number in times if times[number] > 1)
        yield from (Column(name, int(n) if float(n).is_integer() else n) for n in often)
    if len(numbers) < _FEWEST:
        return
    points = np.unique(np.array(numbers, dtype=np.float64))
    if len(points) > _CUTS + 1:
        places = np.linspace(0, 1, _CUTS + 2)
        points = np.unique(np.quantile(np.array(numbers, np.float64), places, method="lower"))
    for low, high in zip(points[:-1].tolist(), points[1:].tolist(), strict=True):
        if not any(low <= cut < high for cut in cuts):
            yield Above(name, between(low, high))
