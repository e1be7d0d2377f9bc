"""When two moments of a lesson are the same to an adversary.

Learners know items, features and labels only by name, so renaming them changes nothing, nor does
exchanging two components. `likeness` gives equal keys only to moments that a renaming makes equal.
(It may give different keys to such moments: that costs time, not truth.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from tellapart.learners import BaseLearner, Guarded
from tellapart.model import Clause, DecisionList
from tellapart.protocol import Feature, Item

EXCEPTION = "exception "
"""How the label of an exception begins."""

Sides: TypeAlias = tuple[int, int] | None
"""The component a feature holds on, and the one it does not hold on; None when it is free."""


class Home(NamedTuple):
    """Where an item comes from: its component, and whether it is an exception to it."""

    component: int
    exception: bool = False


@dataclass
class Ledger:
    """What a teacher has committed himself to: the homes of items, the sides of features."""

    m: int
    homes: dict[Item, Home] = field(default_factory=dict)
    sides: dict[Feature, Sides] = field(default_factory=dict)
    against: dict[Feature, Item] = field(default_factory=dict)
    """The example a feature was first named against."""

    def __post_init__(self) -> None:
        self.components = {label_of(component): component for component in range(self.m)}

    def forced(self, feature: Feature, component: int) -> bool | None:
        """The truth of `feature` on all items of `component`; None where each may choose."""
        if feature not in self.sides:
            return False  # nobody named it
        sides = self.sides[feature]
        if sides is None or component not in sides:
            return None
        return component == sides[0]

    def ordinary(self, item: Item) -> int | None:
        """The component of an ordinary item; None for any other."""
        home = self.homes.get(item)
        return None if home is None or home.exception else home.component


class Likeness(NamedTuple):
    """What `likeness` finds out."""

    key: Hashable
    components: tuple[int, ...]
    """One of each set of components that can be exchanged."""
    counted: tuple[Feature, ...]
    """The features the learner keeps in mind beside its model's."""


def lists(learner: BaseLearner) -> list[DecisionList]:
    """Every decision list that an item meets: a guard's two, or the learner's one."""
    if isinstance(learner, Guarded):
        return [*lists(learner.practical), *lists(learner.guaranteed)]
    return [learner.model]


def label_of(component: int) -> str:
    """The label of a component's ordinary items."""
    return f"label {component}"


def likeness(learner: BaseLearner, ledger: Ledger, used: Mapping[Feature, int]) -> Likeness:
    """Compare moments. `used` says how often a feature was used where there is a limit to that."""
    models = lists(learner)
    clauses = [clause for one in models for clause in one]
    sketch = _Sketch(ledger)
    outside = tuple((sketch.draw(c.label), sketch.draw(c.example)) for c in clauses)
    for number, clause in enumerate(clauses):
        for feature, wanted in clause.literals:
            sketch.places[feature].append((-1 - number, wanted))
    asked = {feature: len(places) for feature, places in sketch.places.items()}
    inside = sketch.draw(learner.hidden())
    counted = tuple(f for f, places in sketch.places.items() if len(places) > asked.get(f, 0))
    # A free feature that nobody keeps in mind will not be named again.
    sketch.draw({f: n for f, n in used.items() if f in sketch.places or ledger.sides[f]})
    # Asked by one clause and met nowhere else: what it does to that clause is all that matters.
    private = {feature for feature in asked if len(sketch.places[feature]) == 1}
    shared = sorted(
        (places, number, feature)
        for number, (feature, places) in enumerate(sketch.places.items())
        if feature not in private
    )
    columns = [
        (
            tuple(sketch.mentions[component]),
            tuple(_effect(clause, component, private, ledger) for clause in clauses),
            tuple(_ternary(ledger.forced(feature, component)) for *_, feature in shared),
        )
        for component in range(ledger.m)
    ]
    features = tuple(
        (tuple(places), sketch.numbers.get(ledger.against.get(feature)))
        for places, _, feature in shared
    )
    lengths = tuple(len(one.clauses) for one in models)
    key = (lengths, outside, inside, features, tuple(sorted(columns)))
    first = tuple(c for c in range(ledger.m) if columns.index(columns[c]) == c)
    return Likeness(key, first, counted)


class _Sketch:
    """Draws a structure with the names left out, and notes where each name stood."""

    def __init__(self, ledger: Ledger) -> None:
        self.places: defaultdict[Feature, list[tuple[int, int]]] = defaultdict(list)
        self.mentions: defaultdict[int, list[int]] = defaultdict(list)
        self.numbers: dict[Hashable, int] = {}  # items and exceptions' labels, as they appear
        self._ledger = ledger
        self._place = 0

    def draw(self, value: Any) -> Hashable:
        kind, ledger = type(value), self._ledger
        same: Hashable = value
        if kind is int:
            return same
        self._place += 1
        place = self._place
        if kind is str:
            if value in ledger.components:
                self.mentions[ledger.components[value]].append(place)
                return "label"
            if value in ledger.sides:
                self.places[value].append((place, 1))
                return "feature"
            if value.startswith(EXCEPTION):
                return EXCEPTION, self.numbers.setdefault(value, len(self.numbers))
        elif kind is frozenset and value in ledger.homes:
            home = ledger.homes[value]
            if not home.exception:
                self.mentions[home.component].append(place)
            return home.exception, self.numbers.setdefault(value, len(self.numbers))
        elif kind is tuple or kind is list:
            return tuple(map(self.draw, value))
        elif kind is dict:
            if not all(key in ledger.sides for key in value):
                return tuple((key, self.draw(part)) for key, part in value.items())
            for feature, number in value.items():
                self.places[feature].append((place, number))
            return None
        return same


def _effect(clause: Clause, component: int, private: set[Feature], ledger: Ledger) -> int:
    """What its private literals make of a clause on a component: 0 never met, 1 met, 2 either."""
    effect = 1
    for feature, wanted in clause.literals:
        if feature in private:
            truth = ledger.forced(feature, component)
            if truth is None:
                effect = 2
            elif truth != wanted:
                return 0
    return effect


def _ternary(truth: bool | None) -> int:
    return 2 if truth is None else int(truth)
