"""The history of a learner as columns of bits: items, labels, the pairs told apart, and a pool.

There is a column for every feature the teacher names and every one that `columns=` lists. When
nothing is listed, mappings and sets give columns too: a name (its truth), "colour = red",
"legs > 3", a member. Other items are not looked into: in a world of a million features only the
columns that were named exist.

A list of columns may know unlabelled rows (`Pool`), such as the other rows of a table. Nothing
depends on the order in which an item lists its columns.
"""

from __future__ import annotations

import copy
import re
from bisect import bisect_left, insort
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from tellapart import codec
from tellapart.columns.thresholds import round_cut
from tellapart.combinations import Above, Column, Is
from tellapart.model import Holds, Not, describe, holds, truth
from tellapart.protocol import Feature, Item, Label

Bits = npt.NDArray[np.bool_]

_CUTS = 15  # thresholds found at a time in a column of numbers
_VALUES = 32  # a column of more different numbers has no "legs = 4"
_COMPARED = re.compile(r"(.+?) (?:=|>|<|>=|<=|is|contains) .+", re.DOTALL)


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

    >>> history = History()
    >>> history.add({"milk": True, "legs": 4}, "mammal"), history.add({"legs": 2}, "bird")
    (0, 1)
    >>> history.name("milk", 0, 1)
    >>> history.features, history.pairs, history.bits.tolist()
    (['legs', 'milk'], [Pair(item=0, example=1, column=1)], [[True, True], [True, False]])
    """

    def __init__(self, reading: Holds = holds, columns: Iterable[Feature] | None = None) -> None:
        self.reading = reading
        known = Columns(()) if columns is None else columns
        self.listed = None if columns is None else tuple(columns)
        self.pool = known.pool if isinstance(known, Columns) else None
        self.entered = known.entered if isinstance(known, Columns) else frozenset()
        self.items: list[Item] = []
        self.labels: list[Label] = []
        """The labels met, in order; the code of a label is its place here."""
        self.codes: list[int] = []
        """The code of every item's label."""
        self.features: list[Feature] = []
        """The feature of every column."""
        self.pairs: list[Pair] = []
        self.corrected: dict[int, int] = {}
        """The items that were corrected, and the examples they were told apart from."""
        self.named: dict[int, int] = {}
        """The columns that were named, in order, and how often."""
        self.column_of: dict[Feature, int] = {}
        self.number_of: dict[Hashable, int] = {}
        """By its identity, the number of an item when it first came."""
        self._code: dict[Label, int] = {}
        self._bits = np.zeros((64, 16), dtype=np.bool_)
        self._pool_bits: Bits | None = None
        self._asked: list[int] = []  # columns whose truth is asked of every new item
        self._look = _Look(self)
        if self.listed is not None:
            for feature in self.listed:
                if callable(feature) or reading is not holds:
                    self._ask(feature)

    def __len__(self) -> int:
        return len(self.items)

    def __deepcopy__(self, memo: dict[int, Any]) -> History:
        """Another one, independent. What is in the lists never changes: the lists are copied."""
        made = memo[id(self)] = object.__new__(History)
        for name, value in vars(self).items():
            shared = name in ("pool", "_pool_bits", "listed", "entered", "reading")
            made.__dict__[name] = value if shared else copy.copy(value)
        made._look = self._look.copy(made)
        return made

    @property
    def bits(self) -> Bits:
        """The truth of every column on every item: items by columns."""
        return self._bits[: len(self.items), : len(self.features)]

    def pool_bits(self, items: int) -> Bits:
        """The same for the rows of the pool that are not among the first `items`."""
        if self.pool is None or not self.features:
            return np.zeros((0, len(self.features)), dtype=np.bool_)
        known = 0 if self._pool_bits is None else self._pool_bits.shape[1]
        if known < len(self.features):
            new = np.ascontiguousarray(self.pool.truths(self.features[known:]).T)
            old = self._pool_bits
            self._pool_bits = new if old is None else np.concatenate([old, new], axis=1)
        assert self._pool_bits is not None
        known_at = self.number_of
        free = [n for n, one in enumerate(self.pool.ids) if known_at.get(one, items) >= items]
        return self._pool_bits[free]

    def add(self, item: Item, label: Label) -> int:
        """Take in one more item; returns its number."""
        number = len(self.items)
        self.items.append(codec.keep(item))
        self.number_of.setdefault(codec.identity(item), number)
        if label not in self._code:
            self._code[label] = len(self.labels)
            self.labels.append(label)
        self.codes.append(self._code[label])
        if number == len(self._bits):
            self._bits = np.concatenate([self._bits, np.zeros_like(self._bits)])
        for column in self._asked:
            self._bits[number, column] = truth(self.features[column], item, self.reading)
        if self.reading is holds:
            self._look.into(item, number)
        return number

    def name(self, feature: Feature | None, item: int, example: int) -> None:
        """Take a correction and its reason: `feature` holds on `item` and not on `example`.

        "It is this very item" is true and says nothing about others; it is left out.
        """
        self.corrected[item] = example
        if isinstance(feature, Not):
            feature = feature.feature
        if feature is None or isinstance(feature, Is):
            return
        column = self._ask(feature)
        self.named[column] = self.named.get(column, 0) + 1
        self.pairs.append(Pair(item, example, column))

    def bits_of(self, item: Item) -> Bits:
        """The truth of every column on an item that is not in the history."""
        features, reading = self.features, self.reading
        if reading is holds and isinstance(item, frozenset | set):
            held = (f in item if type(f) is str else truth(f, item, reading) for f in features)
        else:
            held = (truth(feature, item, reading) for feature in features)
        return np.fromiter(held, dtype=np.bool_, count=len(features))

    def unprompted(self) -> Bits:
        """Which columns may be used without having been named."""
        named = {group_of(self.features[column]) for column in self.named}
        barred = self.entered - named
        return np.array([group_of(f) not in barred for f in self.features], dtype=np.bool_)

    def groups(self) -> npt.NDArray[np.intp]:
        """For each column the number of its group: comparisons of one column of a table belong
        together."""
        numbers: dict[Hashable, int] = {}
        found = [numbers.setdefault(group_of(f), len(numbers)) for f in self.features]
        return np.array(found, dtype=np.intp)

    def told(self) -> list[list[Any]]:
        """Everything told, in order: [item, label], and of corrections the example's number and the
        feature, if one was named."""
        told = [[i, self.labels[code]] for i, code in zip(self.items, self.codes, strict=True)]
        for item, example in self.corrected.items():
            told[item].append(example)
        for item, _, column in self.pairs:
            told[item].append(self.features[column])
        return told

    def extend(self, told: Iterable[Any]) -> None:
        """Take in what `told` gave."""
        for item, label, *correction in told:
            number = self.add(item, label)
            if correction:
                example, *feature = correction
                self.name(feature[0] if feature else None, number, example)

    def new_column(self, feature: Feature) -> int:
        """A column for a feature, false everywhere so far."""
        column = self.column_of[feature] = len(self.features)
        if column == self._bits.shape[1]:
            self._bits = np.concatenate([self._bits, np.zeros_like(self._bits)], axis=1)
        self.features.append(feature)
        return column

    def set_bits(self, column: int, numbers: Sequence[int] | npt.NDArray[np.intp]) -> None:
        """A column holds on these items."""
        self._bits[numbers, column] = True

    def _ask(self, feature: Feature) -> int:
        """The column of `feature`; a new one is asked of all items so far."""
        column = self.column_of.get(feature)
        if column is None:
            column = self.new_column(feature)
            held = (truth(feature, item, self.reading) for item in self.items)
            self._bits[: len(self.items), column] = np.fromiter(held, np.bool_, len(self.items))
            self._asked.append(column)
        return column


def group_of(feature: Feature) -> Hashable:
    """The column of a table that a feature compares; of features that read several, all of them.

    >>> group_of(Above("legs", 3)), group_of("legs > 3"), group_of("feathers")
    ('legs', 'legs', 'feathers')
    """
    if isinstance(feature, Above | Column):
        return feature.name
    schema = getattr(feature, "schema", None)
    if schema:
        return schema if isinstance(schema, str) else " and ".join(schema)
    compared = _COMPARED.fullmatch(describe(feature))
    return compared[1] if compared else describe(feature)


class _Look:
    """Columns that items show by themselves: members of sets, names and values of mappings."""

    def __init__(self, history: History) -> None:
        self.history = history
        listed = history.listed
        self.allowed = None if listed is None else {f for f in listed if not callable(f)}
        self._once: dict[Hashable, int] = {}  # what one item has shown, and which
        self._shown: dict[Hashable, int] = {}  # the columns of what more items have shown
        self._numbers: dict[Hashable, _Numbers] = {}

    def copy(self, history: History) -> _Look:
        """The same for a copy of the history."""
        made = copy.copy(self)
        made.history = history
        made._once, made._shown = dict(self._once), dict(self._shown)
        made._numbers = {name: numbers.copy(made) for name, numbers in self._numbers.items()}
        return made

    def into(self, item: Item, number: int) -> None:
        """Look into an item of the history."""
        if self.allowed is not None and not self.allowed:
            return
        if isinstance(item, Mapping):
            names = item if self.allowed is None else self.allowed & item.keys()
            for name in sorted(names, key=str):
                self._value(name, item[name], number)
        elif isinstance(item, set | frozenset):
            self._members(item if self.allowed is None else item & self.allowed, number)

    def _members(self, members: Iterable[Any], number: int) -> None:
        new = [member for member in members if member not in self._shown]
        for member in sorted(new, key=str):
            self.show(member, number)
        known = [self._shown[member] for member in members if member in self._shown]
        self.history._bits[number, known] = True

    def _value(self, name: Any, value: Any, number: int) -> None:
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, str):
            self.show((name, value), number, Column)
        elif isinstance(value, int | float):
            if value:
                self.show(name, number)
            if name in self._numbers:
                self._numbers[name].take(value, number)
            elif value not in (0, 1) and value == value:  # no longer just true or false
                self._numbers[name] = _Numbers(self, name)
                self._numbers[name].begin()

    def has(self, key: Hashable) -> bool:
        """Whether it is a column."""
        return key in self._shown

    def show(
        self, key: Any, number: int, make: Callable[[Any, Any], Feature] | None = None
    ) -> None:
        """An item shows a feature; the second one to show it makes it a column."""
        column = self._shown.get(key)
        if column is None:
            if key not in self._once:
                self._once[key] = number
                return
            feature = key if make is None else make(*key)
            if feature in self.history.column_of:  # it was named before, and is asked
                return
            column = self._shown[key] = self.history.new_column(feature)
            self.history.set_bits(column, [self._once.pop(key)])
        self.history.set_bits(column, [number])


class _Numbers:
    """A column of numbers, not all 0 or 1: what it is equal to, and what it is above."""

    def __init__(self, look: _Look, name: Any) -> None:
        self.look, self.name = look, name
        self.values: list[float] = []
        self.at: list[int] = []
        self.distinct: set[float] = set()
        self.cuts: list[tuple[float, int]] = []  # thresholds in order, with their columns

    def copy(self, look: _Look) -> _Numbers:
        """The same for a copy of the history."""
        made = _Numbers(look, self.name)
        made.values, made.at, made.cuts = self.values[:], self.at[:], self.cuts[:]
        made.distinct = set(self.distinct)
        return made

    def begin(self) -> None:
        """Take the numbers of all items so far."""
        for number, item in enumerate(self.look.history.items):
            value = item.get(self.name) if isinstance(item, Mapping) else None
            if isinstance(value, int | float):
                self.take(value, number)

    def take(self, value: float, number: int) -> None:
        """Item `number` has `value`."""
        if value != value or value in (float("inf"), float("-inf")):
            return
        self.values.append(float(value))
        self.at.append(number)
        if len(self.distinct) <= _VALUES:
            self.distinct.add(value)
        key = (self.name, int(value) if float(value).is_integer() else value)
        if self.look.has(key) or len(self.distinct) <= _VALUES:
            self.look.show(key, number, Column)
        above = [column for _, column in self.cuts[: bisect_left(self.cuts, (value,))]]
        self.look.history._bits[number, above] = True
        if len(self.values) >= 4 and not len(self.values) & (len(self.values) - 1):
            self._cut()

    def _cut(self) -> None:
        """Find thresholds: between all neighbours when they are few, else at quantiles."""
        values, history = np.array(self.values), self.look.history
        points = np.unique(values)
        if len(points) > _CUTS + 1:
            points = np.unique(np.quantile(values, np.linspace(0, 1, _CUTS + 2), method="lower"))
        for low, high in zip(points[:-1].tolist(), points[1:].tolist(), strict=True):
            at = bisect_left(self.cuts, (low,))
            if at < len(self.cuts) and self.cuts[at][0] < high:
                continue  # these two are separated already
            cut = -round_cut(-high, -low)
            feature = Above(self.name, cut)
            if feature not in history.column_of:
                column = history.new_column(feature)
                history.set_bits(column, np.array(self.at)[values > cut])
                insort(self.cuts, (cut, column))
