"""Made worlds: random columns over as many items and features as you like.

Nothing is stored that is not used. A bit of a column is a hash of (seed, column, item), so a column
exists as soon as it is asked for, and ten million items by a million features cost no memory until
a rule mentions one of the features. Items are views: a number and the world they live in.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tellapart import codec
from tellapart.columns import Labels, Words, clear_tail, pack, words_for
from tellapart.combinations import Is
from tellapart.errors import FormatError, ParameterError, check
from tellapart.model import Not, truth
from tellapart.protocol import Feature, Label
from tellapart.representations.representation import Representation
from tellapart.teachers import FromRepresentation
from tellapart.worlds.base import View, World

_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
_MATERIALISE_AFTER = 32  # single bits read from a column before the whole of it is laid out
_BLOCK = 4096  # words of a column laid out at a time: what fits the cache is quicker
_REASONS = 256  # random columns that a teacher tries before giving up
_STEP = np.uint64(_GOLDEN)


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
        # the seed of `drawn`: it would be the column before the first
        self._draws = _mix(self.start - _GOLDEN & _MASK)

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

    def drawn(self, item: int) -> Iterator[int]:
        """Random columns for an item, the same in every call."""
        start = _mix(self._draws + item * _GOLDEN & _MASK)
        for step in range(_REASONS):
            yield _mix(start + step * _GOLDEN & _MASK) % self.features

    def words(self, column: int) -> Words:
        """The whole column, packed."""
        start = np.uint64(_mix(self.start + column * _GOLDEN & _MASK))
        mixed = np.empty(words_for(self.items), dtype=np.uint64)
        for first in range(0, len(mixed), _BLOCK):
            steps = np.arange(first, min(first + _BLOCK, len(mixed)), dtype=np.uint64)
            mixed[first : first + _BLOCK] = _mix_all(steps * _STEP + start)
        return clear_tail(mixed, self.items)


class Sizes(NamedTuple):
    """The arguments that all made worlds take."""

    items: int
    features: int
    components: int
    labels: int
    exceptions: float
    seed: int
    placement: str
    similar: int | None

    def check(self, owner: str) -> None:
        """Raise if one of them cannot be."""
        for name in ("items", "features", "components"):
            check(owner, name, getattr(self, name), "an integer >= 1", lambda v: v >= 1)
        allowed = f"an integer from 1 to components = {self.components}"
        check(owner, "labels", self.labels, allowed, lambda v: 1 <= v <= self.components)
        check(owner, "seed", self.seed, "an integer", lambda v: True)
        if self.similar is not None:
            check(owner, "similar", self.similar, "None or an integer >= 0", lambda v: v >= 0)
        k, most = self.exceptions, self.items
        if isinstance(k, Integral):
            check(owner, "exceptions", k, "a count up to items", lambda v: 0 <= v <= most)
        else:
            check(owner, "exceptions", k, "a rate from 0 to 1", lambda v: 0 <= v <= 1, float)


class MadeWorld(World):
    """A world of random columns over features named "f0", "f1", ...; see `tree` and `dnf`.

    What is sent to another process is the function that made it, and its arguments.
    """

    def __init__(
        self,
        make: Callable[..., MadeWorld],
        sizes: Sizes,
        representation: Representation,
        columns: Columns,
        components: npt.NDArray[np.integer[Any]],
        *,
        forced: bool,
        laid_out: Mapping[Feature, Words] | None = None,
    ) -> None:
        """`components` has the component of every item. Items have its literals by nature, as in a
        tree, or they are `forced` upon them. `laid_out` are columns that are known already."""
        *plain, placement, similar = sizes
        self._again = partial(make, *plain, placement=placement, similar=similar)
        name = f"{make.__name__}({', '.join(map(str, plain[:-1]))}, seed={sizes.seed}"
        name += "" if placement == "random" else f", placement={placement!r}"
        self.name = name + (")" if similar is None else f", similar={similar})")
        self.representation, self.columns = representation, columns
        self.components = components.astype(np.min_scalar_type(sizes.components - 1), copy=False)
        self.features = View(columns.features, "f{}".format)
        self.items = View(columns.items, lambda number: Row(self, number))
        self.bits = {feature: words.data for feature, words in (laid_out or {}).items()}
        """The columns laid out so far, to be read a word at a time."""
        self._touched: dict[Feature, int] = {}
        self._forced: dict[tuple[int, Feature], bool] = {}
        for number, part in enumerate(representation.components if forced else ()):
            self._forced |= {(number, feature): wanted for feature, wanted in part.literals}
        self.exceptions = _places(sizes)
        self.labels: Labels = self._label()
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
        names, codes, components = self.labels.names, self.labels.codes.data, self.components.data
        return FromRepresentation(
            self.representation,
            lambda row: names[codes[row.number]],
            component_of=lambda row: components[row.number],
            reasons=self._random_reasons,
            k=self.k,
            s=self.s,
        )

    def bit(self, feature: Feature, item: int) -> bool:
        """Whether `feature`, a column, holds on item number `item`."""
        number = self.columns.number(feature)
        self._touched[feature] = self._touched.get(feature, 0) + 1
        if self._touched[feature] > _MATERIALISE_AFTER:
            self.truth(feature)
        wanted = self._forced.get((int(self.components[item]), feature))
        return self.columns.bit(number, item) if wanted is None else wanted

    def truth(self, feature: Feature) -> Words:
        """Where `feature` holds, as a packed column; columns are laid out once and kept."""
        if feature not in self.bits:
            if callable(feature):
                return self._combined(feature)
            words = self.columns.words(self.columns.number(feature))
            forced = [self._forced.get((number, feature)) for number in range(self.m)]
            if any(wanted is not None for wanted in forced):
                for wanted in (True, False):
                    members = pack(np.array([f is wanted for f in forced])[self.components])
                    words |= members
                    if not wanted:
                        words ^= members
            self.bits[feature] = words.data
        return np.asarray(self.bits[feature])

    def _combined(self, feature: Feature) -> Words:
        """The column of what is no column by itself; not kept."""
        if not isinstance(feature, Is):
            return pack(truth(feature, row) for row in self.items)
        words, row = np.zeros(words_for(len(self)), dtype=np.uint64), feature.item
        if isinstance(row, Row) and row.number < len(self) and row == self.items[row.number]:
            words[row.number >> 6] = 1 << (row.number & 63)
        return words

    def _label(self) -> Labels:
        """The labels of the components, and others for the exceptions."""
        given = [component.label for component in self.representation.components]
        names: list[Label] = list(dict.fromkeys(given))
        if len(names) == 1:
            names.append("odd")
        usual = np.array([names.index(label) for label in given], np.min_scalar_type(len(names)))
        codes = usual[self.components]
        generator = random.Random(f"{self.columns.seed}/labels of exceptions")
        for item in self.exceptions:
            codes[item] = generator.choice([c for c in range(len(names)) if c != codes[item]])
        return Labels(names, codes)

    def _random_reasons(self, item: Row, example: Row) -> Iterable[Feature]:
        """Of the random columns of an exception, those that tell it from the example."""
        for number in self.columns.drawn(item.number):
            name = f"f{number}"
            if (holds := name in item) != (name in example):
                yield name if holds else Not(name)


def _places(sizes: Sizes) -> list[int]:
    """Where the exceptions fall."""
    n, exceptions, placement = sizes.items, sizes.exceptions, sizes.placement
    generator = np.random.default_rng([sizes.seed & _MASK, 7])
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
        raise ParameterError(f"placement must be 'random', 'burst' or 'early', got {placement!r}")
    return sorted(places.tolist())
