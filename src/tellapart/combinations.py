"""Features made of columns, values, functions, items and other features.

Two combinations that say the same in another order are the same feature: they compare and hash
equal, and print alike. Nothing here lists all features, so there may be infinitely many.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from numbers import Integral
from typing import Any, TypeVar

from tellapart import codec
from tellapart.errors import FeatureError, FormatError, ParameterError
from tellapart.model import (
    Compound,
    DecisionList,
    Holds,
    Literal,
    Not,
    describe,
    holds,
    truth,
)
from tellapart.protocol import Feature, Item

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True, repr=False)
class Column(Compound):
    """The column `name` of a mapping, compared to `value` (True: its truth).

    >>> four = Column("legs", 4)
    >>> four({"legs": 4}), four({"legs": 2}), str(four)
    (True, False, 'legs = 4')
    """

    name: str
    value: Any = True
    _kind: type = field(init=False)  # 1 and True are different values

    def __post_init__(self) -> None:
        object.__setattr__(self, "_kind", type(self.value))

    def truth(self, item: Item, holds: Holds) -> bool:
        if self.value is True:
            return truth(self.name, item, holds)
        return bool(item.get(self.name) == self.value)

    def __str__(self) -> str:
        return self.name if self.value is True else f"{self.name} = {self.value}"

    def __repr__(self) -> str:
        return f"Column({self.name!r})" if self.value is True else f"Column{self.name, self.value}"


@dataclass(frozen=True, slots=True, repr=False)
class Above(Compound):
    """The column `name` of a mapping is a number above `threshold`; no other value is.

    Printed with six digits, compared and written to JSON exactly.

    >>> tall = Above("height", 1.75)
    >>> tall({"height": 1.8}), tall({"height": 1.75}), tall({}), str(tall)
    (True, False, False, 'height > 1.75')
    """

    name: str
    threshold: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", float(self.threshold))

    @property
    def opposite(self) -> AtMost:
        return AtMost(self.name, self.threshold)

    def truth(self, item: Item, holds: Holds) -> bool:
        try:
            value = item.get(self.name)
            return not isinstance(value, str | None) and bool(value > self.threshold)
        except (AttributeError, TypeError):
            raise _no_number(self, item) from None

    def __str__(self) -> str:
        return f"{self.name} > {self.threshold:g}"

    def __repr__(self) -> str:
        return f"Above{self.name, self.threshold}"


@dataclass(frozen=True, slots=True, repr=False)
class AtMost(Compound):
    """The column `name` of a mapping is a number up to `threshold`; no other value is.

    >>> small = AtMost("height", 1.75)
    >>> small({"height": 1.8}), small({"height": 1.75}), small({}), str(small)
    (False, True, False, 'height <= 1.75')
    """

    name: str
    threshold: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", float(self.threshold))

    @property
    def opposite(self) -> Above:
        return Above(self.name, self.threshold)

    def truth(self, item: Item, holds: Holds) -> bool:
        try:
            value = item.get(self.name)
            return not isinstance(value, str | None) and bool(value <= self.threshold)
        except (AttributeError, TypeError):
            raise _no_number(self, item) from None

    def __str__(self) -> str:
        return f"{self.name} <= {self.threshold:g}"

    def __repr__(self) -> str:
        return f"AtMost{self.name, self.threshold}"


def _no_number(feature: Above | AtMost, item: Item) -> FeatureError:
    return FeatureError(
        f"cannot tell whether {feature} on {item!r} ({type(item).__name__}): give items as"
        f" mappings with numbers under {feature.name!r}"
    )


class _Many(Compound):
    """What And and Or share: parts without order or repetition, nested ones laid flat."""

    __slots__ = ("parts",)
    word: str
    parts: frozenset[Feature]

    def __init__(self, *features: Feature) -> None:
        flat: set[Feature] = set()
        for feature in features:
            flat |= feature.parts if type(feature) is type(self) else {feature}
        self.parts = frozenset(flat)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash((type(self), self.parts))

    def __str__(self) -> str:
        shown = (f"({p})" if isinstance(p, And | Or) else describe(p) for p in self.parts)
        return f" {self.word} ".join(sorted(shown)) or f"empty {self.word}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(sorted(map(repr, self.parts)))})"


class And(_Many):
    """Holds where all of `features` do.

    >>> And("milk", "eggs") == And("eggs", "milk"), str(And("milk", "eggs"))
    (True, 'eggs and milk')
    """

    __slots__ = ()
    word = "and"

    def truth(self, item: Item, holds: Holds) -> bool:
        return all(truth(part, item, holds) for part in self.parts)


class Or(_Many):
    """Holds where any of `features` does.

    >>> Or("milk", "eggs")({"eggs"}), Or("milk", "eggs")({"fins"})
    (True, False)
    """

    __slots__ = ()
    word = "or"

    def truth(self, item: Item, holds: Holds) -> bool:
        return any(truth(part, item, holds) for part in self.parts)


@dataclass(frozen=True, slots=True, repr=False, init=False)
class Points(Compound):
    """Holds where the weights of the terms that hold add up to at least `at_least`.

    `terms` has the terms as a tuple: the heaviest first, negative weights last, then by text.

    Parameters
    ----------
    terms : mapping from feature to int, or iterable of pairs (feature, int)
        Whole weights, also negative ones. The weights of a feature given twice add up, and weight 0
        drops out. `Not(f)` of weight w is kept as f of weight -w, with w less for `at_least`.
    at_least : int
        The points from which on it holds.

    >>> risky = Points({"smokes": 2, "old": 1, "fit": -1}, 2)
    >>> risky({"smokes", "old", "fit"}), risky({"old"}), risky.terms
    (True, False, (('smokes', 2), ('old', 1), ('fit', -1)))
    >>> str(risky), str(Points([("a", 1), ("b", 1), ("c", 1)], 2))
    ('at least 2 points (2 for smokes, 1 for old, minus 1 for fit)', 'at least 2 of (a, b, c)')
    >>> Points({"a": 1, Not("b"): 1}, 2) == Points({"b": -1, "a": 1}, 1)
    True
    """

    terms: tuple[tuple[Feature, int], ...]
    at_least: int

    def __init__(
        self, terms: Mapping[Feature, int] | Iterable[tuple[Feature, int]], at_least: int
    ) -> None:
        bound = _whole(at_least, "at_least")
        weights: dict[Feature, int] = {}
        for feature, given in _pairs(terms):
            weight = _whole(given, f"the weight of {describe(feature)!r}")
            if isinstance(feature, Not):
                bound -= weight
                weights[feature.feature] = weights.get(feature.feature, 0) - weight
            else:
                weights[feature] = weights.get(feature, 0) + weight
        if sum(map(abs, weights.values())) > MOST_POINTS or abs(bound) > 2 * MOST_POINTS:
            raise ParameterError(
                f"Points: weights add up to at most {MOST_POINTS:,} points, got {weights!r},"
                f" at least {at_least}"
            )
        kept = [term for term in weights.items() if term[1]]
        kept.sort(key=lambda term: (term[1] < 0, -abs(term[1]), describe(term[0]), repr(term[0])))
        object.__setattr__(self, "terms", tuple(kept))  # it is frozen
        object.__setattr__(self, "at_least", bound)

    def surplus(self, item: Item, holds: Holds = holds) -> int:
        """How many points an item has beyond `at_least`; negative if it has too few.

        >>> Points({"smokes": 2, "old": 1}, 2).surplus({"old"})
        -1
        """
        points = sum(weight for feature, weight in self.terms if truth(feature, item, holds))
        return points - self.at_least

    def truth(self, item: Item, holds: Holds) -> bool:
        return self.surplus(item, holds) >= 0

    def __str__(self) -> str:
        return say_points([(describe(feature), w) for feature, w in self.terms], self.at_least)

    def __repr__(self) -> str:
        inner = ", ".join(f"{feature!r}: {weight}" for feature, weight in self.terms)
        return f"Points({{{inner}}}, {self.at_least})"


def leaves(feature: Feature) -> Iterator[Feature]:
    """The features that a combination is made of; any other feature is its own only one.

    >>> sorted(leaves(Or("fins", And("milk", Not("eggs")))))
    ['eggs', 'fins', 'milk']
    """
    match feature:
        case Not():
            inner: Iterable[Feature] = (feature.feature,)
        case And() | Or():
            inner = feature.parts
        case Points():
            inner = (part for part, _ in feature.terms)
        case _:
            yield feature
            return
    for part in inner:
        yield from leaves(part)


def margin(model: DecisionList, item: Item) -> float:
    """How many points `item` is away from another clause of `model`; infinity if no points matter.

    With so many points fewer, its own clause would not hold; with so many more, an earlier clause
    would.

    >>> from tellapart.model import Clause
    >>> risky = Clause((Literal(Points({"smokes": 2, "old": 1, "fit": -1}, 2)),), "risky")
    >>> model = DecisionList((risky,), Clause((), "fine"))
    >>> margin(model, {"smokes", "old"}), margin(model, {"fit"}), margin(DecisionList(), {"fit"})
    (2, 3, inf)
    """
    nearest = inf
    for clause in model:
        over = [_surplus(literal, item, model.reading) for literal in clause.literals]
        least = min(over, default=inf)
        if least >= 0:
            return min(nearest, least + 1)
        nearest = min(nearest, -least)
    return nearest


def _surplus(literal: Literal, item: Item, holds: Holds) -> float:
    if isinstance(literal.feature, Points):
        more = literal.feature.surplus(item, holds)
        return more if literal.wanted else -1 - more
    return inf if truth(literal.feature, item, holds) == literal.wanted else -inf


MOST_POINTS = 1_000_000_000
"""The most points that weights may add up to: every engine can count so far."""


def _pairs(terms: Any) -> list[tuple[Feature, Any]]:
    try:
        return [(f, w) for f, w in (terms.items() if isinstance(terms, Mapping) else terms)]
    except (TypeError, ValueError):
        raise ParameterError(
            "Points: terms must be a mapping from feature to weight, or pairs (feature, weight),"
            f" got {terms!r}"
        ) from None


def _whole(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ParameterError(
            f"Points: {what} must be a whole number, got {value!r} ({type(value).__name__})"
        )
    return int(value)


def say_points(
    terms: Sequence[tuple[str, int]],
    at_least: int,
    wanted: bool = True,
    verbs: tuple[str, str] = ("", ""),
    most: int | None = None,
) -> str:
    """Points in words, from the words for the features.

    `verbs` stand before "at least 2 of (...)" and before "at least 2 points (...)". Of more terms
    than `most`, the heaviest are said, and how many more there are.

    >>> say_points([("a", 1), ("b", 1)], 2, wanted=False), say_points([("a", -1), ("b", -1)], -1)
    ('fewer than 2 of (a, b)', 'fewer than 2 of (a, b)')
    >>> say_points([("a", 2), ("b", 1), ("c", 1), ("d", -2)], 2, most=2)
    'at least 2 points (2 for a, minus 2 for d, and 2 more)'
    >>> say_points([("a", 1), ("b", 1), ("c", -1)], 1)
    'at least 2 of (a, b, not c)'
    """
    if terms and all(weight < 0 for _, weight in terms):
        return say_points([(s, -w) for s, w in terms], 1 - at_least, not wanted, verbs, most)
    terms, at_least = unsigned(terms, at_least, _denied)
    amount = f"{'at least' if wanted else 'fewer than'} {at_least}"
    shown, more = terms, ""
    if most is not None and len(terms) > most + 1:
        heavy = set(sorted(range(len(terms)), key=lambda n: -abs(terms[n][1]))[:most])
        shown = [term for n, term in enumerate(terms) if n in heavy]
        more = f", and {len(terms) - most} more"
    if all(weight == 1 for _, weight in terms):
        return f"{verbs[0]} {amount} of ({', '.join(said for said, _ in shown)}{more})".lstrip()
    parts = (f"{w} for {said}" if w > 0 else f"minus {-w} for {said}" for said, w in shown)
    noun = "point" if at_least == 1 else "points"
    return f"{verbs[1]} {amount} {noun} ({', '.join(parts)}{more})".lstrip()


def unsigned(
    terms: Sequence[tuple[Part, int]], at_least: int, deny: Callable[[Part], Part]
) -> tuple[Sequence[tuple[Part, int]], int]:
    """Terms of weights 1 and -1 as terms that all count one, some of them denied; others, and those
    that always or never hold, as they are. With the points from which on they hold.

    >>> unsigned([("milk", 1), ("eggs", -1)], 1, Not)
    ([('milk', 1), (Not('eggs'), 1)], 2)
    """
    if {weight for _, weight in terms} != {1, -1}:
        return terms, at_least
    parts = [(part if weight > 0 else deny(part), 1) for part, weight in terms]
    least = at_least + sum(weight < 0 for _, weight in terms)
    return (parts, least) if 1 <= least <= len(parts) else (terms, at_least)


def _denied(said: str) -> str:
    return f"not {said}" if said.isidentifier() else f"not ({said})"


@dataclass(frozen=True, slots=True, repr=False)
class Named(Compound):
    """Any function of an item, under a name: two of the same name are the same feature.

    The name is what is printed and written to JSON; on reading, `features={name: function}`
    brings the function back.

    >>> tall = Named("tall", lambda animal: animal["height"] > 2)
    >>> tall({"height": 3}), str(tall)
    (True, 'tall')
    """

    name: str
    function: Callable[[Item], bool] = field(compare=False)

    def truth(self, item: Item, holds: Holds) -> bool:
        return bool(self.function(item))

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Named({self.name!r})"


@dataclass(frozen=True, slots=True, repr=False)
class Is(Compound):
    """Holds on one item only: a feature that every exception has and nothing else.

    >>> Is("platypus")("platypus"), Is("platypus")("duck")
    (True, False)
    """

    item: Hashable

    def __post_init__(self) -> None:
        object.__setattr__(self, "item", codec.identity(self.item))

    def truth(self, item: Item, holds: Holds) -> bool:
        return codec.identity(item) == self.item

    def __str__(self) -> str:
        return f"is {self.item}"

    def __repr__(self) -> str:
        return f"Is({self.item!r})"


def _write_parts(feature: And | Or) -> Any:
    return codec.encode(feature.parts)["$set"]


def _read_points(value: Any, context: codec.Context) -> Points:
    at_least, terms = value
    return Points([(codec.decode(feature, context), weight) for feature, weight in terms], at_least)


def _read_named(name: str, context: codec.Context) -> Named:
    if name not in context.features:
        raise FormatError(
            f"the feature {name!r} is a function: pass features={{{name!r}: function}} to read it"
        )
    return Named(name, context.features[name])


codec.register(
    Column,
    "$column",
    lambda f: [f.name, codec.encode(f.value)],
    lambda v, c: Column(v[0], codec.decode(v[1], c)),
)
codec.register(
    Above,
    "$above",
    lambda f: [f.name, codec.encode(f.threshold)],
    lambda v, c: Above(v[0], codec.decode(v[1], c)),
)
codec.register(
    AtMost,
    "$at_most",
    lambda f: [f.name, codec.encode(f.threshold)],
    lambda v, c: AtMost(v[0], codec.decode(v[1], c)),
)
codec.register(And, "$and", _write_parts, lambda v, c: And(*codec.decode(v, c)))
codec.register(Or, "$or", _write_parts, lambda v, c: Or(*codec.decode(v, c)))
codec.register(
    Points,
    "$points",
    lambda f: [f.at_least, [[codec.encode(feature), weight] for feature, weight in f.terms]],
    _read_points,
)
codec.register(Named, "$named", lambda f: f.name, _read_named)
codec.register(Is, "$is", lambda f: codec.encode(f.item), lambda v, c: Is(codec.decode(v, c)))
