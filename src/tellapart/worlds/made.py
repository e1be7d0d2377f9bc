"""Made worlds: random columns over as many items and features as you like.

Nothing is stored that is not used. A bit of a column is a hash of (seed, column, item), so a column
exists as soon as it is asked for, and ten million items by a million features cost no memory until
a rule mentions one of the features. Items are views: a number and the world they live in.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from numbers import Integral
from typing import Any, TypeGuard

import numpy as np

from tellapart import codec
from tellapart.errors import FormatError, ParameterError, check
from tellapart.features import And, Is, Or
from tellapart.model import Not, truth
from tellapart.protocol import Feature, Item, Label
from tellapart.simulation import (
    Codes,
    Labels,
    Mind,
    Said,
    Words,
    blank,
    clear_tail,
    column,
    pack,
    words_for,
)
from tellapart.teachers import FromRepresentation
from tellapart.theory.representation import Representation
from tellapart.worlds.base import View, World

_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
_MATERIALISE_AFTER = 32  # single bits read from a column before the whole of it is laid out
_BLOCK = 4096  # words of a column laid out at a time: what fits the cache is quicker
_REASONS = 256  # columns a teacher thinks of before giving up


def _mix(z: int) -> int:
    """The finaliser of splitmix64 (Steele, Lea, Flood 2014): scatters 64 bits."""
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _MASK
    return z ^ z >> 31


def _mix_all(z: Words) -> Words:
    """`_mix` of every word, in place."""
    z ^= z >> np.uint64(30)
    z *= np.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> np.uint64(27)
    z *= np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return z


class Row:
    """One item of a made world: a set-like view of the features that hold on it.

    Two rows are the same item when they have the same number in the same world.
    """

    __slots__ = ("number", "world")

    def __init__(self, world: MadeWorld, number: int) -> None:
        self.world, self.number = world, number

    def __contains__(self, feature: Feature) -> bool:
        number = self.number
        words = self.world.bits.get(feature)
        if words is None:
            return self.world.bit(feature, number)
        return bool(words[number >> 6] >> (number & 63) & 1)

    def __iter__(self) -> Iterator[Feature]:
        return (name for name in self.world.features if name in self)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Row)
            and self.number == other.number
            and (self.world is other.world or self.world.name == other.world.name)
        )

    def __hash__(self) -> int:
        return self.number

    def __repr__(self) -> str:
        return f"item {self.number}"


def _find_row(number: int, context: codec.Context) -> Any:
    if context.items is None:
        raise FormatError(f"item {number} lives in a world: pass items=world.items to read it")
    return context.items[number]


codec.register(Row, "$item", lambda row: row.number, _find_row)


class Columns:
    """Random truth values for (feature, item), found by hashing; features are "f0", "f1", ..."""

    def __init__(self, items: int, features: int, seed: int) -> None:
        self.items, self.features, self.seed = items, features, seed
        self.start = _mix(_mix(seed & _MASK) + _GOLDEN & _MASK)
        self.mind = _mix(self.start - _GOLDEN & _MASK)  # what would be the column before the first

    def number(self, feature: Feature) -> int:
        """The number of a column by its name."""
        if isinstance(feature, str) and feature[:1] == "f" and feature[1:].isdecimal():
            number = int(feature[1:])
            if number < self.features:
                return number
        raise ParameterError(
            f"this world has the features f0 to f{self.features - 1}, asked for {feature!r}"
        )

    def bit(self, column: int, item: int) -> bool:
        """One truth value."""
        start = _mix(self.start + column * _GOLDEN & _MASK)
        return bool(_mix(start + (item >> 6) * _GOLDEN & _MASK) >> (item & 63) & 1)

    def thoughts(self, item: int) -> Iterator[int]:
        """Columns that come to mind at the sight of an item: drawn at random, but ever the same."""
        start = _mix(self.mind + item * _GOLDEN & _MASK)
        for step in range(_REASONS):
            yield _mix(start + step * _GOLDEN & _MASK) % self.features

    def words(self, column: int) -> Words:
        """The whole column, packed."""
        start = np.uint64(_mix(self.start + column * _GOLDEN & _MASK))
        mixed = blank(words_for(self.items))
        for first in range(0, len(mixed), _BLOCK):
            steps = np.arange(first, min(first + _BLOCK, len(mixed)), dtype=np.uint64)
            mixed[first : first + _BLOCK] = _mix_all(steps * np.uint64(_GOLDEN) + start)
        return clear_tail(mixed, self.items)


class MadeWorld(World):
    """A world of random columns; see `tree` and `dnf` for how it comes to its labels.

    Parameters
    ----------
    representation : Representation
        Over features named "f0", "f1", ...
    columns : Columns
        Where truth values come from.
    components : Codes
        The component of every item.
    forced : bool
        Whether items have the literals of their component forced upon them (else they have them by
        nature, as in a tree).
    exceptions : float or int
        A rate, each item by itself, or a count.
    placement : {"random", "burst", "early"}
        Where exceptions fall: anywhere, in runs of about sqrt(k), or in the rounds right after the
        first.
    similar : int, optional
        The limit s; by default the least number that k exceptions over these features can keep.
    laid_out : {feature: column}, optional
        Columns that are known already.
    again : () -> MadeWorld
        Makes the same world: what is sent to another process is this.
    """

    def __init__(
        self,
        name: str,
        representation: Representation,
        columns: Columns,
        components: Codes,
        *,
        forced: bool,
        exceptions: float,
        placement: str,
        similar: int | None,
        laid_out: Mapping[Feature, Words] | None = None,
        again: Callable[[], MadeWorld],
    ) -> None:
        if similar is not None:
            check("a made world", "similar", similar, "an integer >= 0", lambda v: v >= 0)
        self.columns, self.components, self._again = columns, components, again
        given = [component.label for component in representation.components]
        names: list[Label] = list(dict.fromkeys(given))
        if len(names) == 1:
            names.append("odd")
        self.name, self.representation = name, representation
        self.features = View(columns.features, "f{}".format)
        self._columns: dict[Feature, Words] = {}
        self.bits: dict[Feature, memoryview] = {}
        """The columns laid out so far, to be read a word at a time."""
        self.addresses: dict[Feature, int] = {}
        """Where these are in memory: it takes a while to find out, so it is asked once."""
        self._touched: dict[Feature, int] = {}
        self._said: dict[int, Said] = {}
        for feature, words in (laid_out or {}).items():
            self._lay_out(feature, words)
        self._forced = self._forced_literals() if forced else {}
        self._place(exceptions, placement)
        self.usual = tuple(names.index(label) for label in given)
        """The code of the label of each component."""
        codes = components.map(self.usual, len(names))
        generator = random.Random(f"{columns.seed}/labels of exceptions")
        for item in self.exceptions:
            codes[item] = generator.choice([c for c in range(len(names)) if c != codes[item]])
        self.items = View(columns.items, lambda number: Row(self, number))
        self.labels: Labels = Labels(names, codes)
        self.packed_labels = self.labels
        self.m, self.k = representation.m, len(self.exceptions)
        least = max(1, -(-self.k // columns.features))
        self.s = min(self.k, least if similar is None else similar)

    def __reduce__(self) -> tuple[Callable[[], MadeWorld], tuple[()]]:
        return self._again, ()

    def __deepcopy__(self, memo: object) -> MadeWorld:
        return self  # it never changes; its rows know it by identity

    def teacher(self) -> FromRepresentation:
        """A fresh teacher who has this world's representation in mind."""
        names, codes, components = self.labels.names, self.labels.codes.at, self.components.at
        return FromRepresentation(
            self.representation,
            lambda row: names[codes(row.number)],
            component_of=lambda row: components(row.number),
            reasons=self._thoughts,
            reasons_tell=True,
            m=self.m,
            k=self.k,
            s=self.s,
        )

    def bit(self, feature: Feature, item: int) -> bool:
        """Whether `feature`, a column, holds on item number `item`."""
        words = self.bits.get(feature)
        if words is not None:
            return bool(words[item >> 6] >> (item & 63) & 1)
        number = self.columns.number(feature)
        self._touched[feature] = self._touched.get(feature, 0) + 1
        if self._touched[feature] > _MATERIALISE_AFTER:
            self.truth(feature)
        wanted = self._forced.get((self.components[item], feature))
        return self.columns.bit(number, item) if wanted is None else wanted

    def truth(self, feature: Feature) -> Words:
        """Where `feature` holds, as a packed column; columns are laid out once and kept."""
        if feature not in self._columns:
            if callable(feature):
                return self._combined(feature)
            words = self.columns.words(self.columns.number(feature))
            forced = [(n, wanted) for (n, name), wanted in self._forced.items() if name == feature]
            for part in self.components.parts() if forced else ():
                for component, wanted in forced:
                    members = self.components.where(component, part)
                    words[part] |= members
                    if not wanted:
                        words[part] ^= members
            self._lay_out(feature, words)
        return self._columns[feature]

    def _lay_out(self, feature: Feature, words: Words) -> None:
        self._columns[feature], self.bits[feature] = words, words.data
        self.addresses[feature] = words.ctypes.data

    def _combined(self, feature: Feature) -> Words:
        """The column of what is no column by itself; not kept."""
        if isinstance(feature, Not | And | Or):
            return column(self, feature)
        places = self.places(feature)
        if places is None:
            return pack(truth(feature, row) for row in self.items)
        words = np.zeros(words_for(len(self)), dtype=np.uint64)
        for item in places:
            words[item >> 6] = 1 << (item & 63)
        return words

    def places(self, feature: Feature) -> Sequence[int] | None:
        """The item that `Is` is about; None for other features."""
        if not isinstance(feature, Is):
            return None
        row = feature.item
        known = isinstance(row, Row) and row.number < len(self) and row == self.items[row.number]
        return [row.number] if known and isinstance(row, Row) else []

    @cached_property
    def ordinary(self) -> Words:
        """All items but the exceptions: of them the teacher thinks by components alone.

        Where there are none, a column that takes no room.
        """
        if not self.exceptions:
            return np.broadcast_to(np.uint64(_MASK), words_for(len(self)))
        words = blank(words_for(len(self)))
        words.fill(0)
        odd = np.array(self.exceptions, dtype=np.uint64)
        np.bitwise_or.at(words, odd >> np.uint64(6), np.uint64(1) << (odd & np.uint64(63)))
        return clear_tail(np.bitwise_not(words, out=words), len(self))

    def said_against(self, example: Item) -> Said:
        """What the teacher says to an ordinary item of each component, taken to be like `example`.

        None where that depends on the item; None everywhere if the example is of another world.
        """
        if not self.has(example):
            return Said([None] * self.m)
        parts, j = self.representation.components, self.components.at(example.number)
        if j not in self._said:
            self._said[j] = Said(
                None if part.label == parts[j].label else self.representation.separator(i, j)
                for i, part in enumerate(parts)
            )
        return self._said[j]

    @property
    def mind(self) -> Mind | None:
        """How the teacher thinks of reasons for exceptions; None where there are none."""
        if not self.exceptions:
            return None
        forced: list[list[tuple[int, bool]]] = [[] for _ in range(self.m)]
        for (component, feature), wanted in self._forced.items():
            forced[component].append((self.columns.number(feature), wanted))
        return Mind(
            features=self.columns.features,
            draws=_REASONS,
            start=self.columns.start,
            thoughts=self.columns.mind,
            limit=self.s,
            forced=forced,
        )

    def has(self, item: Item) -> TypeGuard[Row]:
        """Whether an item is one of this world."""
        return isinstance(item, Row) and item.world is self

    def home(self, item: Item) -> tuple[int, int, bool] | None:
        """Of an item of this world: its number, its component, and whether it is an exception."""
        if not self.has(item):
            return None
        component = self.components[item.number]
        odd = self.labels.codes[item.number] != self.usual[component]
        return item.number, component, odd

    def _forced_literals(self) -> dict[tuple[int, Feature], bool]:
        parts = enumerate(self.representation.components)
        return {(n, f): wanted for n, part in parts for f, wanted in part.literals}

    def _place(self, exceptions: float, placement: str) -> None:
        n = self.columns.items
        generator = np.random.default_rng([self.columns.seed & _MASK, 7])
        rate = not isinstance(exceptions, Integral)
        k = int(generator.binomial(n, exceptions) if rate else exceptions)
        if placement == "random":
            places = generator.choice(n, size=k, replace=False, shuffle=False)
        elif placement == "early":
            places = np.arange(1, k + 1) if k < n else np.arange(k)
        elif placement == "burst":
            run = max(1, round(k**0.5))
            runs = -(-n // run)
            starts = generator.choice(runs, size=min(runs, -(-k // run) + 1), replace=False)
            places = (starts[:, np.newaxis] * run + np.arange(run)).ravel()
            places = places[places < n][:k]
        else:
            raise ParameterError(
                f"placement must be 'random', 'burst' or 'early', got {placement!r}"
            )
        self.exceptions = sorted(places.tolist())

    def _thoughts(self, item: Row, example: Row) -> Iterable[Feature]:
        """What comes to the teacher's mind about an exception: random facts, its own, in order.

        Of those, the ones that tell it from the example.
        """
        for number in self.columns.thoughts(item.number):
            name = f"f{number}"
            if (holds := name in item) != (name in example):
                yield name if holds else Not(name)


def check_sizes(
    owner: str,
    items: int,
    features: int,
    components: int,
    labels: int,
    exceptions: float,
    seed: int,
) -> None:
    """The one check of sizes that all made worlds share."""
    check(owner, "items", items, "an integer >= 1", lambda v: v >= 1)
    check(owner, "features", features, "an integer >= 1", lambda v: v >= 1)
    check(owner, "components", components, "an integer >= 1", lambda v: v >= 1)
    check(
        owner,
        "labels",
        labels,
        f"an integer from 1 to components = {components}",
        lambda v: 1 <= v <= components,
    )
    check(owner, "seed", seed, "an integer", lambda v: True)
    if isinstance(exceptions, Integral):
        check(owner, "exceptions", exceptions, "a count up to items", lambda v: 0 <= v <= items)
    else:
        check(owner, "exceptions", exceptions, "a rate from 0 to 1", lambda v: 0 <= v <= 1, float)
