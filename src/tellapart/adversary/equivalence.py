"""When two positions of a lesson are equivalent: equal up to names.

Learners know items, features and labels only by name, so renaming them changes nothing, nor does
exchanging two components. `equivalence_of` gives equal keys only to positions that a renaming makes
equal. (It may give different keys to some of those: that costs time, but nothing is missed.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from tellapart.learners.adaptive import AdaptiveDFF
from tellapart.learners.base import BaseLearner
from tellapart.learners.capped import CappedDFF
from tellapart.learners.dff import DFF
from tellapart.learners.guarded import Guarded
from tellapart.learners.optimal import OptimalDFF
from tellapart.learners.robust import RobustDFF
from tellapart.learners.rule_list import Rule, Unnamed
from tellapart.model import Clause, DecisionList, Not
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
class Commitments:
    """What a teacher has committed to: the homes of items, the sides of features."""

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
            return False  # not named yet
        sides = self.sides[feature]
        if sides is None or component not in sides:
            return None
        return component == sides[0]

    def ordinary(self, item: Item) -> int | None:
        """The component of an ordinary item; None for any other."""
        home = self.homes.get(item)
        return None if home is None or home.exception else home.component


class Equivalence(NamedTuple):
    """What `equivalence_of` finds."""

    key: Hashable
    components: tuple[int, ...]
    """One of each set of components that can be exchanged."""
    counted: tuple[Feature, ...]
    """The features the learner keeps count of beside its model's."""


def lists(learner: BaseLearner) -> list[DecisionList]:
    """Every decision list that an item meets: a guard's two, or the learner's one."""
    if isinstance(learner, Guarded):
        return [*lists(learner.practical), *lists(learner.guaranteed)]
    return [learner.model]


def hidden(learner: BaseLearner) -> Any:
    """What later guesses on unseen items depend on besides the model: counts, caps, a clock.

    Two learners alike in their models and in this behave alike from now on. It is everything that
    the learner keeps, unless `HIDDEN` knows its class better: then a search sees when it comes back
    to where it was.
    """
    known = HIDDEN.get(type(learner))
    return _everything(learner) if known is None else known(learner)


def _everything(value: Any) -> Any:
    """What a learner keeps, as structures that `_Outline` knows."""
    match value:
        case BaseLearner():
            known = [n for n in vars(value) if not n.startswith("_") and n != "holds"]
            return [(name, _everything(getattr(value, name))) for name in known]
        case Rule():
            counts, since = list(value.counts.items()), list(value.since.items())
            return _everything((value.guess, value.born, value.features, counts, since))
        case dict():
            return [(_everything(key), _everything(part)) for key, part in value.items()]
        case list() | tuple():
            return tuple(map(_everything, value))
    return value


def _capped(learner: CappedDFF) -> tuple[int, ...]:
    """The mistakes of each rule."""
    return tuple(len(rule.features) for rule in learner.rules)


def _adaptive(learner: AdaptiveDFF) -> tuple[Any, ...]:
    """The mistakes and the cap of each rule, and what the caps of later rules depend on."""
    total = learner.rules_deleted if learner.schedule == "growing" else learner.rules_created
    return (total, *((len(rule.features), learner.cap(rule)) for rule in learner.rules))


def _robust(learner: RobustDFF) -> tuple[Any, ...]:
    """The length and the counters of each rule."""
    return tuple((len(rule.features), *_counters(rule)) for rule in learner.rules)


def _guarded(learner: Guarded) -> tuple[Any, ...]:
    """Who is shown next, and what both keep to themselves."""
    shown = learner.shown is learner.practical
    return shown, hidden(learner.practical), hidden(learner.guaranteed)


HIDDEN: dict[type, Callable[[Any], Any]] = {
    DFF: lambda learner: (),
    OptimalDFF: lambda learner: (),
    CappedDFF: _capped,
    AdaptiveDFF: _adaptive,
    RobustDFF: _robust,
    Guarded: _guarded,
}
"""What learners keep beside their models, by their classes (not by those they derive from)."""


def _counters(rule: Rule) -> tuple[int, dict[Feature, int]]:
    """How many reasons were unnamed, and how often each other one was named."""
    named = {f: count for f, count in rule.counts.items() if type(f) is not Unnamed}
    return len(rule.counts) - len(named), named


def label_of(component: int) -> str:
    """The label of a component's ordinary items."""
    return f"label {component}"


def equivalence_of(
    learner: BaseLearner, commitments: Commitments, used: Mapping[Feature, int]
) -> Equivalence:
    """The key of a position. `used` says how often a feature was used, where that is limited."""
    models = lists(learner)
    clauses = [clause for one in models for clause in one]
    outline = _Outline(commitments)
    outside = tuple((outline.draw(c.label), outline.draw(c.example)) for c in clauses)
    for number, clause in enumerate(clauses):
        for feature, wanted in clause.literals:
            outline.places[feature].append((-1 - number, wanted))
    asked = {feature: len(places) for feature, places in outline.places.items()}
    inside = outline.draw(hidden(learner))
    counted = tuple(f for f, places in outline.places.items() if len(places) > asked.get(f, 0))
    # A free feature that is kept nowhere will not be named again.
    outline.draw({f: n for f, n in used.items() if f in outline.places or commitments.sides[f]})
    # Asked by one clause and met nowhere else: what it does to that clause is all that matters.
    private = {feature for feature in asked if len(outline.places[feature]) == 1}
    shared = sorted(
        (places, number, feature)
        for number, (feature, places) in enumerate(outline.places.items())
        if feature not in private
    )
    columns = [
        (
            tuple(outline.mentions[component]),
            tuple(_effect(clause, component, private, commitments) for clause in clauses),
            tuple(_ternary(commitments.forced(feature, component)) for *_, feature in shared),
        )
        for component in range(commitments.m)
    ]
    features = tuple(
        (tuple(places), outline.numbers.get(commitments.against.get(feature)))
        for places, _, feature in shared
    )
    lengths = tuple(len(one.clauses) for one in models)
    key = (lengths, outside, inside, features, tuple(sorted(columns)))
    first = tuple(c for c in range(commitments.m) if columns.index(columns[c]) == c)
    return Equivalence(key, first, counted)


class _Outline:
    """Copies a structure without the names, and notes where each name stood."""

    def __init__(self, commitments: Commitments) -> None:
        self.places: defaultdict[Feature, list[tuple[int, int]]] = defaultdict(list)
        self.mentions: defaultdict[int, list[int]] = defaultdict(list)
        self.numbers: dict[Hashable, int] = {}  # items and exceptions' labels, as they appear
        self._ledger = commitments
        self._place = 0

    def draw(self, value: Any) -> Hashable:
        kind, commitments = type(value), self._ledger
        same: Hashable = value
        if kind is int:
            return same
        self._place += 1
        place = self._place
        if kind is str:
            if value in commitments.components:
                self.mentions[commitments.components[value]].append(place)
                return "label"
            if value in commitments.sides:
                self.places[value].append((place, 1))
                return "feature"
            if value.startswith(EXCEPTION):
                return EXCEPTION, self.numbers.setdefault(value, len(self.numbers))
        elif kind is frozenset and value in commitments.homes:
            home = commitments.homes[value]
            if not home.exception:
                self.mentions[home.component].append(place)
            return home.exception, self.numbers.setdefault(value, len(self.numbers))
        elif kind is tuple or kind is list:
            return tuple(map(self.draw, value))
        elif kind is Not:
            return "not", self.draw(value.feature)
        elif kind is dict:
            if not all(key in commitments.sides for key in value):
                return tuple((key, self.draw(part)) for key, part in value.items())
            for feature, number in value.items():
                self.places[feature].append((place, number))
            return None
        return same


def _effect(clause: Clause, component: int, private: set[Feature], commitments: Commitments) -> int:
    """What its private literals make of a clause on a component: 0 never met, 1 met, 2 either."""
    effect = 1
    for feature, wanted in clause.literals:
        if feature in private:
            truth = commitments.forced(feature, component)
            if truth is None:
                effect = 2
            elif truth != wanted:
                return 0
    return effect


def _ternary(truth: bool | None) -> int:
    return 2 if truth is None else int(truth)
