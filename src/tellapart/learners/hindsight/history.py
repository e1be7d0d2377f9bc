"""The history of a learner as packed columns: items, labels, and the pairs told apart.

A column is a feature, a bit an item. There is a column for every feature the teacher names and
every one that `columns=` lists. When nothing is listed, mappings and sets give columns too: a name
(its truth), "colour = red", "legs > 3", a member. Other items are not looked into: in a world of a
million features only the columns that were named exist.

Nothing depends on the order in which an item lists its columns.
"""

from __future__ import annotations

import base64
import copy
from bisect import bisect_left, insort
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from tellapart import codec
from tellapart.features import Above, Column, Is
from tellapart.features.thresholds import round_cut
from tellapart.model import Holds, Not, holds, truth
from tellapart.protocol import Feature, Item, Label
from tellapart.simulation import Words, pack, unpack, words_for

_CUTS = 15  # thresholds found at a time in a column of numbers
_VALUES = 32  # a column of more different numbers has no "legs = 4"
_ONE = np.uint64(1)
_Bits = TypeVar("_Bits", Words, npt.NDArray[np.uint8])
_Made = TypeVar("_Made")


class Pair(NamedTuple):
    """Two items told apart: `column` holds on the one and not on the other."""

    item: int
    example: int
    column: int


class History:
    """Labelled items in their order, their columns, and the pairs told apart.

    >>> history = History()
    >>> history.add({"milk": True, "legs": 4}, "mammal"), history.add({"legs": 2}, "bird")
    (0, 1)
    >>> history.name("milk", 0, 1)
    >>> history.features, history.pairs
    (['legs', 'milk'], [Pair(item=0, example=1, column=1)])
    """

    def __init__(self, reading: Holds = holds, columns: Iterable[Feature] | None = None) -> None:
        self.reading = reading
        self.allowed = None if columns is None else frozenset(columns)
        self.items: list[Item] = []
        self.labels: list[Label] = []
        """The labels met, in order; the code of a label is its place here."""
        self.codes: list[int] = []
        """The code of every item's label."""
        self.features: list[Feature] = []
        """The feature of every column,"""
        self.texts: list[str] = []
        """and its text, to break ties between equal columns."""
        self.pairs: list[Pair] = []
        self.corrected: dict[int, int] = {}
        """The items that were corrected, and the examples they were told apart from."""
        self.named: dict[int, int] = {}
        """The columns that were named, in order, and how often."""
        self.column_of: dict[Feature, int] = {}
        self._code: dict[Label, int] = {}
        self._bits = np.zeros((16, 4), dtype=np.uint64)
        self._label_bits = np.zeros((4, 4), dtype=np.uint64)
        self._rows = np.zeros((256, 2), dtype=np.uint8)  # the same bits, a row for each item
        self._held: list[int] = []  # columns that hold on the item that is being added
        self._asked: list[int] = []  # columns whose truth is asked of every new item
        self._shown: dict[Hashable, int] = {}  # what items show: its column,
        self._once: dict[Hashable, int] = {}  # or the one item that has shown it
        self._numbers: dict[Hashable, _Numbers] = {}
        self._pair_bits = np.zeros((2, 0, 0), dtype=np.bool_)
        self._reasons: dict[int, Feature] = {}  # of corrected items, where one was named
        self._kept: dict[str, tuple[tuple[int, ...], Any]] = {}

    def __len__(self) -> int:
        return len(self.items)

    def __deepcopy__(self, memo: dict[int, Any]) -> History:
        """Another one, independent. What is in the lists never changes: the lists are copied."""
        made = memo[id(self)] = object.__new__(History)
        for name, value in vars(self).items():
            flat = isinstance(value, list | dict) and name != "_numbers"
            setattr(made, name, copy.copy(value) if flat else copy.deepcopy(value, memo))
        return made

    @property
    def shows_columns(self) -> bool:
        """Whether columns are known that nobody named: items are looked into, or some are given."""
        if self.allowed is not None:
            return bool(self.allowed)
        looked_into = isinstance(self.items[0], Mapping | set | frozenset)
        return looked_into and self.reading is holds

    @property
    def words(self) -> Words:
        """All columns, packed; a row each."""
        return self._bits[: len(self.features), : words_for(len(self))]

    @property
    def label_words(self) -> Words:
        """Where each label stands, packed; a row each."""
        return self._label_bits[: len(self.labels), : words_for(len(self))]

    @property
    def rows(self) -> npt.NDArray[np.uint8]:
        """All items, packed: a row each, a bit for each column. Quicker where items are few."""
        return self._rows[: len(self), : -(-len(self.features) // 8)]

    def truths(
        self, items: npt.NDArray[np.intp], columns: list[int] | None = None
    ) -> npt.NDArray[np.bool_]:
        """The truth of every column, or of some, on some items: columns by items."""
        bits = self._bits[: len(self.features)] if columns is None else self._bits[columns]
        words = bits[:, items >> 6]
        return (words >> (items & 63).astype(np.uint64) & _ONE).astype(np.bool_)

    def pair_truths(self) -> npt.NDArray[np.bool_]:
        """The truth of every column on the items, and on the examples, of all pairs."""
        _, columns, pairs = self._pair_bits.shape
        start = pairs if columns == len(self.features) else 0
        if start < len(self.pairs):
            new = self.pairs[start:]
            sides = [np.array([pair[side] for pair in new], dtype=np.intp) for side in (0, 1)]
            truths = np.stack([self.truths(side) for side in sides])
            self._pair_bits = np.concatenate([self._pair_bits, truths], 2) if start else truths
        return self._pair_bits

    def add(self, item: Item, label: Label) -> int:
        """Take in one more item; returns its number."""
        number = len(self.items)
        self.items.append(codec.keep(item))
        if words_for(number + 1) > self._bits.shape[1]:
            self._bits, self._label_bits = (_doubled(b, 1) for b in (self._bits, self._label_bits))
            self._rows = _doubled(self._rows, 0)
        if label not in self._code:
            self._code[label] = len(self.labels)
            self.labels.append(label)
            if len(self.labels) > len(self._label_bits):
                self._label_bits = _doubled(self._label_bits, 0)
        self.codes.append(self._code[label])
        bit = _ONE << np.uint64(number & 63)
        self._label_bits[self._code[label], number >> 6] |= bit
        for column in self._asked:
            if truth(self.features[column], item, self.reading):
                self._held.append(column)
        if self.reading is holds and isinstance(item, Mapping):
            self._look_into(item, number)
        elif self.reading is holds and isinstance(item, set | frozenset):
            for member in item if self.allowed is None else item & self.allowed:
                self._show(member, number)
        self._bits[self._held, number >> 6] |= bit
        held = np.zeros(self._rows.shape[1] * 8, dtype=np.bool_)
        held[self._held] = True
        self._rows[number] |= np.packbits(held, bitorder="little")
        self._held = []
        if self.allowed is not None and number == 0:
            looked_into = isinstance(item, Mapping | set | frozenset) and self.reading is holds
            for feature in sorted(self.allowed, key=text_of):
                if callable(feature) or not looked_into:
                    self._ask(feature)
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
        self._reasons[item] = feature
        column = self._ask(feature)
        self.named[column] = self.named.get(column, 0) + 1
        self.pairs.append(Pair(item, example, column))

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; compactly, with the bits of all columns, so that none is asked again."""
        looked_into = self._shown or self._once or self._numbers
        if not codec.is_compact() or looked_into:
            return {"history": self.to_list(), "also asked": self.also_asked()}
        columns = {
            "items": codec.encode_many(self.items),
            "labels": codec.encode_many(self.labels),
            "codes": self.codes,
            "features": codec.encode_many(self.features),
            "bits": base64.b64encode(self.words.tobytes()).decode("ascii"),
            "asked": self._asked,
            "corrected": list(self.corrected.items()),
            "named": list(self.named.items()),
            "pairs": self.pairs,
            "reasons": [[item, self.column_of[f]] for item, f in self._reasons.items()],
        }
        return {"columns": columns}

    def restore(self, data: Mapping[str, Any], context: codec.Context) -> None:
        """The inverse of `to_dict`, in a history without items."""
        if "columns" not in data:
            self.extend(data["history"], data["also asked"], context)
            return
        columns = data["columns"]
        self.items = codec.decode_many(columns["items"], context)
        self.labels = codec.decode_many(columns["labels"], context)
        self._code = {label: code for code, label in enumerate(self.labels)}
        self.codes, self._asked = columns["codes"], columns["asked"]
        self.features = codec.decode_many(columns["features"], context)
        self.texts = [text_of(feature) for feature in self.features]
        self.column_of = {feature: column for column, feature in enumerate(self.features)}
        self.corrected, self.named = dict(columns["corrected"]), dict(columns["named"])
        self.pairs = [Pair(*pair) for pair in columns["pairs"]]
        self._reasons = {item: self.features[column] for item, column in columns["reasons"]}
        bits = np.frombuffer(base64.b64decode(columns["bits"]), dtype=np.uint64)
        self._set_bits(bits.reshape(len(self.features), words_for(len(self))))

    def _set_bits(self, words: Words) -> None:
        """Take the truth of every column on every item."""
        n, width = len(self), max(4, words_for(len(self)))
        columns = max(16, -(-len(words) // 8) * 8)
        self._bits = np.zeros((columns, width), dtype=np.uint64)
        self._bits[: len(words), : words.shape[1]] = words
        self._label_bits = np.zeros((max(4, len(self.labels)), width), dtype=np.uint64)
        codes = np.array(self.codes, dtype=np.intp)
        for code in range(len(self.labels)):
            self._label_bits[code, : words_for(n)] = pack(codes == code)
        self._rows = np.zeros((64 * width, columns // 8), dtype=np.uint8)
        for column, packed in enumerate(words):
            held = unpack(packed, n).astype(np.uint8)
            self._rows[:n, column >> 3] |= held << (column & 7)

    def to_list(self) -> list[Any]:
        """Everything told, in order: [item, label], and of corrections the example and the feature,
        if one was named."""
        told = [
            [codec.encode(item), codec.encode(self.labels[code])]
            for item, code in zip(self.items, self.codes, strict=True)
        ]
        for item, example in self.corrected.items():
            told[item].append(example)
        for item, _, column in self.pairs:
            told[item].append(codec.encode(self.features[column]))
        return told

    def also_asked(self) -> list[Any]:
        """The features that are known only because they were named before a `part` began."""
        known = self.allowed or frozenset()
        found = [c for c in self._asked if c not in self.named and self.features[c] not in known]
        return [codec.encode(self.features[c]) for c in sorted(found, key=self.texts.__getitem__)]

    def extend(
        self, told: Iterable[Any], also_asked: Iterable[Any], context: codec.Context
    ) -> None:
        """Take in what `to_list` and `also_asked` gave."""
        asked = [codec.decode(feature, context) for feature in also_asked]
        for item, label, *correction in told:
            number = self.add(codec.decode(item, context), codec.decode(label, context))
            while asked:  # as in `part`
                self._ask(asked.pop(0))
            if correction:
                example, *feature = correction
                self.name(codec.decode(feature[0], context) if feature else None, number, example)

    def part(self, first: int, last: int) -> History:
        """The items from number `first` up to `last`, and the corrections among them.

        Columns that are not to be seen in the items alone are known in the part, too.
        """
        part = History(self.reading, self.allowed)
        for number in range(first, last):
            place = part.add(self.items[number], self.labels[self.codes[number]])
            if number == first:
                for column in self._asked:
                    part._ask(self.features[column])
            if self.corrected.get(number, -1) >= first:
                part.name(self._reasons.get(number), place, self.corrected[number] - first)
        return part

    def without(self, left_out: npt.NDArray[np.intp]) -> History:
        """The history without some items and their corrections. It has the same columns and codes;
        nothing can be added to it."""
        kept = np.setdiff1d(np.arange(len(self)), left_out).tolist()
        place = {number: at for at, number in enumerate(kept)}
        rest = History(self.reading, self.allowed)
        rest.items = [self.items[number] for number in kept]
        rest.codes = [self.codes[number] for number in kept]
        rest.labels, rest.features, rest.texts = self.labels, self.features, self.texts
        rest.column_of = self.column_of
        rest.corrected = {
            place[item]: place[example]
            for item, example in self.corrected.items()
            if item in place and example in place
        }
        for item, example, column in self.pairs:
            if item in place and example in place:
                rest.pairs.append(Pair(place[item], place[example], column))
                rest.named[column] = rest.named.get(column, 0) + 1
        truths = self.truths(np.array(kept, dtype=np.intp))
        rest._set_bits(np.array([pack(column) for column in truths], dtype=np.uint64))
        return rest

    def kept(self, name: str, make: Callable[[History], _Made]) -> _Made:
        """What `make` makes of the history; made only once for the same history."""
        version = len(self.items), len(self.corrected), len(self.pairs), len(self.features)
        known = self._kept.get(name)
        if known is None or known[0] != version:
            known = self._kept[name] = version, make(self)
        made: _Made = known[1]
        return made

    def _ask(self, feature: Feature) -> int:
        """The column of `feature`; a new one is asked of all items so far."""
        column = self.column_of.get(feature)
        if column is None:
            seen = (truth(feature, item, self.reading) for item in self.items)
            column = self._new(feature, pack(seen))
            self._asked.append(column)
        return column

    def _new(self, feature: Feature, words: Words) -> int:
        column = len(self.features)
        if column == len(self._bits):
            self._bits, self._rows = _doubled(self._bits, 0), _doubled(self._rows, 1)
        self.features.append(feature)
        self.texts.append(text_of(feature))
        self.column_of[feature] = column
        self._bits[column, : len(words)] = words
        held = unpack(words, min(len(self), len(words) * 64))
        self._rows[: len(held), column >> 3] |= held.astype(np.uint8) << (column & 7)
        return column

    def _look_into(self, item: Mapping[Any, Any], number: int) -> None:
        for name in item if self.allowed is None else self.allowed & item.keys():
            value = item[name]
            if isinstance(value, np.generic):
                value = value.item()
            if isinstance(value, str):
                self._show((name, value), number, Column)
            elif isinstance(value, int | float):
                if value:
                    self._show(name, number)
                if name in self._numbers:
                    self._numbers[name].take(value, number)
                elif value not in (0, 1):  # no longer just true or false
                    self._numbers[name] = _Numbers(self, name)

    def _show(
        self, key: Any, number: int, make: Callable[[Any, Any], Feature] | None = None
    ) -> None:
        """An item shows a feature; the second one to show it makes it a column."""
        column = self._shown.get(key)
        if column is None:
            feature = key if make is None else make(*key)
            if feature in self.column_of:  # it was asked for before
                return
            if key not in self._once:
                self._once[key] = number
                return
            column = self._shown[key] = self._new(feature, np.zeros(0, dtype=np.uint64))
            self._set(column, self._once.pop(key))
        self._set(column, number)

    def _set(self, column: int, number: int) -> None:
        if number == len(self) - 1:
            self._held.append(column)  # faster all at once
            return
        self._bits[column, number >> 6] |= _ONE << np.uint64(number & 63)
        self._rows[number, column >> 3] |= 1 << (column & 7)


class _Numbers:
    """A column of numbers, not all 0 or 1: what it is equal to, and what it is above."""

    def __init__(self, history: History, name: Any) -> None:
        self.history, self.name = history, name
        self.values: list[float] = []
        self.at: list[int] = []
        self.distinct: set[float] = set()
        self.cuts: list[tuple[float, int]] = []  # thresholds in order, with their columns
        for number, item in enumerate(history.items):
            value = item.get(name)
            if isinstance(value, int | float):
                self.take(value, number)

    def __deepcopy__(self, memo: dict[int, Any]) -> _Numbers:
        made = object.__new__(_Numbers)
        made.history, made.name = copy.deepcopy(self.history, memo), self.name
        made.values, made.at = self.values[:], self.at[:]
        made.distinct, made.cuts = set(self.distinct), self.cuts[:]
        return made

    def take(self, value: float, number: int) -> None:
        """Item `number` has `value`."""
        if value != value:  # not a number
            return
        self.values.append(value)
        self.at.append(number)
        if len(self.distinct) <= _VALUES:
            self.distinct.add(value)
        key = (self.name, int(value) if float(value).is_integer() else value)
        if key in self.history._shown or len(self.distinct) <= _VALUES:
            self.history._show(key, number, Column)
        for _, column in self.cuts[: bisect_left(self.cuts, (value,))]:
            self.history._set(column, number)
        if len(self.values) >= 4 and not len(self.values) & (len(self.values) - 1):
            self._cut()

    def _cut(self) -> None:
        """Find thresholds: between all neighbours when they are few, else at quantiles."""
        values = np.array(self.values, dtype=np.float64)
        points = np.unique(values)
        if len(points) > _CUTS + 1:
            points = np.unique(np.quantile(values, np.linspace(0, 1, _CUTS + 2), method="lower"))
        for low, high in zip(points[:-1].tolist(), points[1:].tolist(), strict=True):
            at = bisect_left(self.cuts, (low,))
            if at < len(self.cuts) and self.cuts[at][0] < high:
                continue  # these two are separated already
            cut = -round_cut(-high, -low)
            truths = np.zeros(len(self.history), dtype=np.bool_)
            truths[self.at] = values > cut
            feature = Above(self.name, cut)
            if feature not in self.history.column_of:
                insort(self.cuts, (cut, self.history._new(feature, pack(truths))))


def _doubled(bits: _Bits, axis: int) -> _Bits:
    return np.concatenate([bits, np.zeros_like(bits)], axis=axis)


def text_of(feature: Feature) -> str:
    """The text of a feature, to break ties between equal columns."""
    return f"{feature}\n{feature!r}"
