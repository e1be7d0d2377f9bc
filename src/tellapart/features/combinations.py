"""Features out of features: columns, thresholds, and, or, named functions, this very item.

Two combinations that say the same in another order are the same feature: they compare and hash
equal, and print alike. Nothing here ever lists features, so the space of them may be infinite.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tellapart import codec
from tellapart.errors import FeatureError, FormatError
from tellapart.model import Compound, Holds, describe, truth
from tellapart.protocol import Feature, Item


class Column(Compound):
    """The column `name` of a mapping, compared to `value` (True: its truth).

    >>> four = Column("legs", 4)
    >>> four({"legs": 4}), four({"legs": 2}), str(four)
    (True, False, 'legs = 4')
    """

    __slots__ = ("name", "value")

    def __init__(self, name: str, value: Any = True) -> None:
        self.name, self.value = name, value

    def truth(self, item: Item, holds: Holds) -> bool:
        if self.value is True:
            return truth(self.name, item, holds)
        return bool(item.get(self.name) == self.value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Column):
            return NotImplemented
        return (self.name, self.value, type(self.value)) == (
            other.name,
            other.value,
            type(other.value),
        )

    def __hash__(self) -> int:
        return hash((Column, self.name, self.value))

    def __str__(self) -> str:
        return self.name if self.value is True else f"{self.name} = {self.value}"

    def __repr__(self) -> str:
        return f"Column({self.name!r})" if self.value is True else f"Column{self.name, self.value}"


class Above(Compound):
    """The column `name` of a mapping is a number above `threshold`; a missing value is not.

    Printed with six digits, compared and written to JSON exactly.

    >>> tall = Above("height", 1.75)
    >>> tall({"height": 1.8}), tall({"height": 1.75}), tall({}), str(tall)
    (True, False, False, 'height > 1.75')
    """

    __slots__ = ("name", "threshold")

    def __init__(self, name: str, threshold: float) -> None:
        self.name, self.threshold = name, float(threshold)

    def truth(self, item: Item, holds: Holds) -> bool:
        try:
            value = item.get(self.name)
            return value is not None and bool(value > self.threshold)
        except (AttributeError, TypeError):
            raise FeatureError(
                f"cannot tell whether {self} on {item!r} ({type(item).__name__}): give items as"
                f" mappings with numbers under {self.name!r}"
            ) from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Above) and (self.name, self.threshold) == (
            other.name,
            other.threshold,
        )

    def __hash__(self) -> int:
        return hash((Above, self.name, self.threshold))

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


class Named(Compound):
    """Any function of an item, under a name: two of the same name are the same feature.

    The name is what is printed and written to JSON; on reading, `features={name: function}`
    brings the function back.

    >>> tall = Named("tall", lambda animal: animal["height"] > 2)
    >>> tall({"height": 3}), str(tall)
    (True, 'tall')
    """

    __slots__ = ("function", "name")

    def __init__(self, name: str, function: Callable[[Item], bool]) -> None:
        self.name, self.function = name, function

    def truth(self, item: Item, holds: Holds) -> bool:
        return bool(self.function(item))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and self.name == other.name

    def __hash__(self) -> int:
        return hash((Named, self.name))

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Named({self.name!r})"


class Is(Compound):
    """Holds on one item only: what an exception always has and nothing else does.

    >>> Is("platypus")("platypus"), Is("platypus")("duck")
    (True, False)
    """

    __slots__ = ("item",)

    def __init__(self, item: Item) -> None:
        self.item = codec.identity(item)

    def truth(self, item: Item, holds: Holds) -> bool:
        return codec.identity(item) == self.item

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Is) and self.item == other.item

    def __hash__(self) -> int:
        return hash((Is, self.item))

    def __str__(self) -> str:
        return f"is {self.item}"

    def __repr__(self) -> str:
        return f"Is({self.item!r})"


def _find(name: str, context: codec.Context) -> Named:
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
    And,
    "$and",
    lambda f: codec.encode(f.parts)["$set"],
    lambda v, c: And(*codec.decode(v, c)),
)
codec.register(
    Or,
    "$or",
    lambda f: codec.encode(f.parts)["$set"],
    lambda v, c: Or(*codec.decode(v, c)),
)
codec.register(Named, "$named", lambda f: f.name, _find)
codec.register(Is, "$is", lambda f: codec.encode(f.item), lambda v, c: Is(codec.decode(v, c)))
