"""Features made of columns, values, functions, items and other features.

Two combinations that say the same in another order are the same feature: they compare and hash
equal, and print alike. Nothing here lists all features, so there may be infinitely many.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from tellapart import codec
from tellapart.errors import FeatureError, FormatError
from tellapart.model import Compound, Holds, describe, truth
from tellapart.protocol import Feature, Item


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
    """The column `name` of a mapping is a number above `threshold`; a missing value is not.

    Printed with six digits, compared and written to JSON exactly.

    >>> tall = Above("height", 1.75)
    >>> tall({"height": 1.8}), tall({"height": 1.75}), tall({}), str(tall)
    (True, False, False, 'height > 1.75')
    """

    name: str
    threshold: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", float(self.threshold))

    def truth(self, item: Item, holds: Holds) -> bool:
        try:
            value = item.get(self.name)
            return value is not None and bool(value > self.threshold)
        except (AttributeError, TypeError):
            raise FeatureError(
                f"cannot tell whether {self} on {item!r} ({type(item).__name__}): give items as"
                f" mappings with numbers under {self.name!r}"
            ) from None

    def __str__(self) -> str:
        return f"{self.name} > {self.threshold:g}"

    def __repr__(self) -> str:
        return f"Above{self.name, self.threshold}"


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
codec.register(And, "$and", _write_parts, lambda v, c: And(*codec.decode(v, c)))
codec.register(Or, "$or", _write_parts, lambda v, c: Or(*codec.decode(v, c)))
codec.register(Named, "$named", lambda f: f.name, _read_named)
codec.register(Is, "$is", lambda f: codec.encode(f.item), lambda v, c: Is(codec.decode(v, c)))
