"""The zoo (`tellapart.samples`): 101 animals, 16 attributes, 7 classes, and a platypus."""

from __future__ import annotations

import random
from typing import Any

from tellapart import codec
from tellapart.combinations import And, Column, Is, Or, Points, say_points, unsigned
from tellapart.model import Literal, Not
from tellapart.protocol import Feature, Label
from tellapart.representations.representation import Component, Representation
from tellapart.samples import animals
from tellapart.worlds.base import Listed


class Animal(dict[str, Any]):
    """A mapping of attributes that prints as its name."""

    def __hash__(self) -> int:  # type: ignore[override]  # a dict has none
        return hash(self["name"])

    def __str__(self) -> str:
        return str(self["name"])

    __repr__ = __str__


codec.register(
    Animal,
    "$animal",
    lambda animal: {key: codec.encode(value) for key, value in animal.items()},
    lambda data, context: Animal(data),
)


def zoo(seed: int | None = None) -> Listed:
    """The animals in alphabetical order, or shuffled by `seed`.

    The teacher has a tree of seven components in mind: what lays no eggs is a mammal, what has
    feathers a bird, and so on. Three animals do not fit: the platypus, the scorpion, the sea snake.

    >>> world = zoo()
    >>> world, [world.items[n] for n in world.exceptions]
    (<zoo(): 101 items, m=7, k=3, s=1>, [platypus, scorpion, seasnake])
    """
    known = animals()
    if seed is not None:
        random.Random(f"{seed}/zoo").shuffle(known)
    items, labels = [Animal(facts) for facts, _ in known], [label for _, label in known]
    attributes: list[Feature] = [c for c in items[0] if c not in ("name", "legs")]
    attributes += [Column("legs", number) for number in (0, 2, 4, 5, 6, 8)]
    name = "zoo()" if seed is None else f"zoo(seed={seed})"
    return Listed(name, items, labels, representation(), features=attributes)


def representation() -> Representation:
    """The tree in the teacher's mind."""
    six = And(Column("legs", 6), "breathes")
    eggs = Literal("eggs")
    bare, dry = Literal("feathers", False), Literal("fins", False)
    spine, soft = (Literal("backbone", wanted) for wanted in (True, False))
    return Representation(
        (
            Component("mammal", (Literal("eggs", False),)),
            Component("bird", (eggs, Literal("feathers"))),
            Component("fish", (eggs, bare, Literal("fins"))),
            Component("amphibian", (eggs, bare, dry, spine, Literal("aquatic"))),
            Component("reptile", (eggs, bare, dry, spine, Literal("aquatic", False))),
            Component("insect", (eggs, bare, dry, soft, Literal(six))),
            Component("invertebrate", (eggs, bare, dry, soft, Literal(six, False))),
        )
    )


_SAID = {
    "hair": ("has hair", "has no hair"),
    "feathers": ("has feathers", "has no feathers"),
    "eggs": ("lays eggs", "lays no eggs"),
    "milk": ("gives milk", "gives no milk"),
    "airborne": ("flies", "does not fly"),
    "aquatic": ("lives in water", "does not live in water"),
    "predator": ("hunts", "does not hunt"),
    "toothed": ("has teeth", "has no teeth"),
    "backbone": ("has a backbone", "has no backbone"),
    "breathes": ("breathes", "does not breathe"),
    "venomous": ("is venomous", "is not venomous"),
    "fins": ("has fins", "has no fins"),
    "tail": ("has a tail", "has no tail"),
    "domestic": ("is domestic", "is not domestic"),
    "catsize": ("is the size of a cat", "is not the size of a cat"),
}


def say_label(label: Label) -> str:
    """A class of animals as a noun.

    >>> say_label("bird"), say_label("insect")
    ('a bird', 'an insect')
    """
    return f"{'an' if str(label)[:1] in 'aeiou' else 'a'} {label}"


def say_feature(feature: Feature, wanted: bool = True) -> str:
    """What an animal does or has when `feature` holds on it, or does not.

    >>> say_feature("eggs"), say_feature(Not(And("eggs", Column("legs", 6))))
    ('lays eggs', 'either does not have 6 legs or lays no eggs')
    """
    match feature:
        case Not(feature=inner):
            return say_feature(inner, not wanted)
        case And(parts=parts) | Or(parts=parts):
            said = sorted(say_feature(part, wanted) for part in parts)
            conjunction = isinstance(feature, And) == wanted
            return f"both {' and '.join(said)}" if conjunction else f"either {' or '.join(said)}"
        case Points(terms=terms, at_least=least):
            signed, least = unsigned(terms, least, Not)
            counted = [(say_feature(part), weight) for part, weight in signed]
            return say_points(counted, least, wanted, verbs=("meets", "has"))
        case Column(name="legs", value=number):
            if number == 0:
                return "has no legs" if wanted else "has legs"
            return f"{'has' if wanted else 'does not have'} {number} legs"
        case Is(item=item):
            return f"is {'' if wanted else 'not '}the {item}"
        case str() if feature in _SAID:
            return _SAID[feature][not wanted]
    return str(Literal(feature, wanted))
