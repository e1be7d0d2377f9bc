"""Decision lists, and what it means for a feature to hold.

A `DecisionList` is immutable: ordered clauses, first match wins, then a default. Trees, rule lists
and guards all present themselves this way.

Finding the first clause an item satisfies is an index, not a loop over literals (`FirstMatch`): a
map from feature to the bit set of clauses it violates. A look-up reads a feature at most once, and
its cost never depends on the number of features that exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from tellapart import codec
from tellapart.errors import FeatureError, FormatError, ParameterError, TellapartError
from tellapart.protocol import Feature, Guess, Item, Label, show

Holds: TypeAlias = Callable[[Feature, Item], bool]

FORMAT = 1
"""The version of the model file; see docs/export.md."""


def holds(feature: Feature, item: Item) -> bool:
    """The default reading of a feature.

    A callable is called with the item. Otherwise a feature is the name of a column of a mapping
    (it holds when the value is true) or a member of a set.

    >>> holds("milk", {"milk": True, "legs": 4}), holds("milk", {"eggs"})
    (True, False)
    >>> holds(lambda animal: animal["legs"] == 4, {"milk": True, "legs": 4})
    True
    """
    if callable(feature):
        return bool(feature(item))
    kind = _kinds.get(type(item)) or _kind(item)
    if kind is _MEMBERS:
        return feature in item
    if kind is _MAPPING:
        return bool(item.get(feature))
    raise FeatureError(
        f"cannot tell whether {feature!r} holds on {item!r} ({type(item).__name__}): give items"
        " as mappings or sets, features as callables, or pass holds="
    )


_MAPPING, _MEMBERS, _NEITHER = "mapping", "members", "neither"
_kinds: dict[type, str] = {}  # how items of a type are read: asking an ABC every time is slow


def _kind(item: Item) -> str:
    kind = _NEITHER
    if isinstance(item, Mapping):
        kind = _MAPPING
    elif hasattr(item, "__contains__") and not isinstance(item, str | bytes | list | tuple):
        kind = _MEMBERS
    _kinds[type(item)] = kind
    return kind


class Compound:
    """A feature made of other features; it passes the learner's `holds` on to its parts."""

    __slots__ = ()

    def truth(self, item: Item, holds: Holds) -> bool:
        """Whether it holds on `item` when its parts are read by `holds`."""
        raise NotImplementedError

    @property
    def opposite(self) -> Compound | None:
        """The feature that is true where this one is false, and false, as this one, where something
        is unknown: x < 3 for x >= 3. None if there is no such feature."""
        return None

    def __call__(self, item: Item) -> bool:
        return self.truth(item, holds)

    def __deepcopy__(self, memo: object) -> Compound:
        return self  # a feature never changes


def truth(feature: Feature, item: Item, reading: Holds = holds) -> bool:
    """Whether `feature` holds on `item`; combinations are taken apart first."""
    if isinstance(feature, Compound):
        return feature.truth(item, reading)
    return bool(reading(feature, item))


def tells(feature: Feature, item: Item, example: Item, holds: Holds = holds) -> bool:
    """Whether a feature holds on an item and not on an example."""
    try:
        return truth(feature, item, holds) and not truth(feature, example, holds)
    except (FeatureError, TypeError, LookupError):
        return False


class Not(Compound):
    """Holds where `feature` does not.

    >>> Not("feathers")({"milk"}), Not(Not("milk")) == "milk"
    (True, True)
    """

    __slots__ = ("feature",)
    feature: Feature

    def __new__(cls, feature: Feature) -> Any:
        if isinstance(feature, Not):
            return feature.feature
        made = super().__new__(cls)
        made.feature = feature
        return made

    def __getnewargs__(self) -> tuple[Feature]:
        return (self.feature,)

    def truth(self, item: Item, holds: Holds) -> bool:
        return not truth(self.feature, item, holds)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Not) and self.feature == other.feature

    def __hash__(self) -> int:
        return ~hash(self.feature)

    def __str__(self) -> str:
        inner = describe(self.feature)
        simple = inner.isidentifier() or not isinstance(self.feature, Compound)
        return f"not {inner}" if simple else f"not ({inner})"

    def __repr__(self) -> str:
        return f"Not({self.feature!r})"


codec.register(Not, "$not", lambda f: codec.encode(f.feature), lambda v, c: Not(codec.decode(v, c)))


class Literal(NamedTuple):
    """A feature and the truth it must have.

    >>> str(Literal("feathers", False))
    'not feathers'
    """

    feature: Feature
    wanted: bool = True

    @classmethod
    def forbid(cls, feature: Feature) -> Literal:
        """The literal NOT φ; of a φ that is itself a negation, the plain one.

        >>> str(Literal.forbid("milk")), str(Literal.forbid(Not("milk")))
        ('not milk', 'milk')
        """
        return cls(feature.feature, True) if isinstance(feature, Not) else cls(feature, False)

    def __str__(self) -> str:
        return describe(self.feature) if self.wanted else str(Not(self.feature))


def describe(feature: Feature) -> str:
    """A feature in words: its own `str`, or the name of a function."""
    if isinstance(feature, frozenset):
        return show(feature)
    if isinstance(feature, Compound) or not callable(feature):
        return str(feature)
    return str(getattr(feature, "__name__", feature))


class Record(NamedTuple):
    """What a clause got right and wrong, on items drawn at random, since it last changed."""

    right: int
    wrong: int
    last: int | None
    """The round in which it was last seen, from 1."""
    high: float
    """An upper bound on the share of its items that it gets wrong (`review.ClauseRecords`)."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A conjunction of literals, the label it gives, and the example it shows.

    >>> print(Clause((Literal("milk"), Literal("eggs", False)), "mammal", "bear"))
    if milk and not eggs: mammal, like bear
    """

    literals: tuple[Literal, ...]
    label: Label
    example: Item = None
    origin: Any = None
    """Where it came from: the round that made it, a tree's leaf, a person."""
    record: Record | None = field(default=None, compare=False)

    def covers(self, item: Item, reading: Holds = holds) -> bool:
        """Whether `item` satisfies every literal."""
        return all(truth(f, item, reading) == wanted for f, wanted in self.literals)

    @property
    def guess(self) -> Guess:
        """What this clause says of the items it covers."""
        return Guess(self.label, self.example)

    def __deepcopy__(self, memo: object) -> Clause:
        return self

    def __str__(self) -> str:
        condition = " and ".join(map(str, self.literals))
        like = "" if self.example is None else f", like {describe(self.example)}"
        said = f"{'unknown' if self.label is None else self.label}{like}"
        return f"if {condition}: {said}" if condition else f"always: {said}"


class FirstMatch:
    """Which of many conjunctions an item satisfies first; grows and shrinks one literal at a time.

    Conjunctions live in slots numbered in order of creation; a bit of an integer stands for a slot.
    Removed slots count as violated until the owner builds the index anew.

    >>> index = FirstMatch()
    >>> mammal = index.append([Literal("milk")])
    >>> other = index.append([])
    >>> index.require(other, Literal("wings", False))
    >>> index.first({"milk"}), index.first({"wings"}), index.first({"eggs"})
    (0, None, 1)
    """

    def __init__(self, reading: Holds = holds) -> None:
        self.reading = reading
        self.slots = 0
        self._removed = 0
        self._if_true: dict[Feature, int] = {}  # the slots a feature violates by holding,
        self._if_false: dict[Feature, int] = {}  # and by not holding
        self._literals: list[list[Literal]] = []  # of each slot
        self._calls = False  # whether some feature is a function

    def append(self, literals: Iterable[Literal] = ()) -> int:
        """A new conjunction after all others; returns its slot."""
        slot = self.slots
        self.slots += 1
        self._literals.append([])
        for literal in literals:
            self.require(slot, literal)
        return slot

    def require(self, slot: int, literal: Literal) -> None:
        """Add a literal to the conjunction in `slot`."""
        feature, wanted = literal
        masks = self._if_false if wanted else self._if_true
        masks[feature] = masks.get(feature, 0) | 1 << slot
        self._literals[slot].append(literal)
        self._calls |= callable(feature) and not isinstance(feature, Compound)

    def remove(self, slot: int) -> None:
        """Remove the conjunction in `slot`: it never matches again."""
        self._removed |= 1 << slot

    def first(self, item: Item) -> int | None:
        """The slot of the first conjunction that `item` satisfies.

        A feature is read once, and only where it matters: all conjunctions before are violated.
        """
        violated, literals = self._removed, self._literals
        if_true, if_false, reading = self._if_true, self._if_false, self.reading
        has = self._reader(item)
        known: dict[Feature, bool] = {}
        while (slot := (~violated & (violated + 1)).bit_length() - 1) < self.slots:
            for feature, wanted in literals[slot]:
                held = known.get(feature)
                if held is None:
                    if isinstance(feature, Compound):
                        held = feature.truth(item, reading)
                    else:
                        held = bool(has(feature))
                    known[feature] = held
                    violated |= (if_true if held else if_false).get(feature, 0)
                if held is not wanted:
                    break
            else:
                return slot
        return None

    def _reader(self, item: Item) -> Callable[[Feature], Any]:
        """How to read features that are no compounds on one item."""
        kind = _kinds.get(type(item)) or _kind(item)
        if self.reading is not holds or self._calls or kind is _NEITHER:
            return lambda feature: self.reading(feature, item)
        has: Callable[[Feature], Any] = item.get if kind is _MAPPING else item.__contains__
        return has


@dataclass(frozen=True)
class DecisionList:
    """Ordered clauses and a default: the first clause that covers an item labels it.

    >>> zoo = DecisionList(
    ...     (Clause((Literal("feathers"),), "bird", example="duck"),
    ...      Clause((Literal("milk"),), "mammal", example="bear")),
    ...     default=Clause((), "fish", example="bass"))
    >>> zoo.first_match({"milk", "eggs"})
    Guess(label='mammal', example='bear')
    >>> zoo.predict([{"feathers", "eggs"}, {"fins"}])
    ['bird', 'fish']
    >>> print(zoo)
    if feathers: bird, like duck
    else if milk: mammal, like bear
    else: fish, like bass
    """

    clauses: tuple[Clause, ...] = ()
    default: Clause = Clause((), None)
    reading: Holds = field(default=holds, repr=False, compare=False)
    example_for: Callable[[Item, Label], Item] | None = field(
        default=None, repr=False, compare=False
    )
    """The example that a guess shows, given the item and the label; None: that of the clause."""

    @cached_property
    def _index(self) -> FirstMatch:
        index = FirstMatch(self.reading)
        for clause in self.clauses:
            index.append(clause.literals)
        return index

    def __deepcopy__(self, memo: object) -> DecisionList:
        return self

    def match(self, item: Item) -> Clause:
        """The first clause that covers `item`, or the default."""
        slot = self._index.first(item)
        return self.default if slot is None else self.clauses[slot]

    def first_match(self, item: Item) -> Guess:
        """The guess of the first clause that covers `item`, or of the default."""
        found = self.match(item).guess
        if self.example_for is None or found.label is None:
            return found
        return Guess(found.label, self.example_for(item, found.label))

    def predict(self, items: Iterable[Item]) -> list[Label]:
        """The label of each item."""
        return [self.match(item).label for item in items]

    def abstain(self, error: float = 0.05) -> DecisionList:
        """The same list, saying None ("unknown") where a clause's error may be above `error`.

        That is where its record has a `high` above it, or where it has none
        (`review.ClauseRecords` makes records).

        >>> sure, unsure = Record(200, 1, 340, high=0.03), Record(9, 0, 341, high=0.5)
        >>> model = DecisionList(
        ...     (Clause((Literal("milk"),), "mammal", record=sure),
        ...      Clause((Literal("fins"),), "fish", record=unsure)),
        ...     default=Clause((), "bird", record=unsure))
        >>> print(model.abstain())
        if milk: mammal
        else: unknown
        """
        if not isinstance(error, float | int) or not 0 <= error <= 1:
            raise ParameterError(f"abstain: error must be from 0 to 1, got {error!r}")
        if all(clause.record is None for clause in self):
            raise ParameterError(
                "this model has no records of its clauses, so nothing says which are sure. Sessions"
                " keep records: 'tellapart session model NAME --records' writes a model with them"
            )

        def judged(clause: Clause) -> Clause:
            if clause.record is not None and clause.record.high <= error:
                return clause
            return replace(clause, label=None, example=None)

        clauses, default = [judged(clause) for clause in self.clauses], judged(self.default)
        while clauses and clauses[-1].label is None is default.label:
            clauses.pop()
        return DecisionList(tuple(clauses), default, self.reading)

    @property
    def features(self) -> tuple[Feature, ...]:
        """Every feature the list asks about, once, in order of appearance."""
        return tuple(dict.fromkeys(lit.feature for c in self.clauses for lit in c.literals))

    def __iter__(self) -> Iterator[Clause]:
        yield from self.clauses
        yield self.default

    def __str__(self) -> str:
        lines = [str(clause) for clause in self.clauses]
        lines[1:] = [f"else {line}" if line.startswith("if ") else line for line in lines[1:]]
        lines.append(str(self.default).replace("always: ", "else: " if lines else "always: "))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """A table for notebooks; every word of it escaped.

        >>> "&lt;b&gt;" in DecisionList(default=Clause((), "<b>"))._repr_html_()
        True
        """
        from tellapart.html_views import table

        lines = [
            (
                number,
                " and ".join(map(str, clause.literals)) or "otherwise",
                "unknown" if clause.label is None else clause.label,
                clause.example,
            )
            for number, clause in enumerate(self, 1)
        ]
        return table(("", "if", "then", "like"), lines)

    def to_json(self) -> str:
        """The documented model file (docs/export.md); `DecisionList.from_json` reads it back."""
        return codec.dump(
            {
                "tellapart": "model",
                "format": FORMAT,
                "clauses": [_clause_to_dict(clause) for clause in self.clauses],
                "default": _clause_to_dict(self.default),
            }
        )

    @classmethod
    def from_json(
        cls,
        text: str,
        *,
        reading: Holds = holds,
        items: Sequence[Item] | None = None,
        features: Mapping[str, Callable[[Item], bool]] | None = None,
    ) -> DecisionList:
        """Read a model file. `items` and `features` bring what a text cannot carry.

        >>> model = DecisionList((Clause((Literal("milk"),), "mammal"),), Clause((), "fish"))
        >>> DecisionList.from_json(model.to_json()) == model
        True
        """
        data = codec.parse(text)
        context = codec.Context(items, features or {})
        if data.get("tellapart") != "model" or data.get("format") != FORMAT:
            raise FormatError(
                f"not a tellapart model of format {FORMAT}: it says {data.get('tellapart')!r},"
                f" format {data.get('format')!r}"
            )
        try:
            clauses = tuple(_clause_from_dict(clause, context) for clause in data["clauses"])
            return cls(clauses, _clause_from_dict(data["default"], context), reading)
        except TellapartError:  # which says what is wrong better than we can
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"a damaged model file: {error!r}") from error


def _clause_to_dict(clause: Clause) -> dict[str, Any]:
    record = {} if clause.record is None else {"record": list(clause.record)}
    return {
        "if": [[codec.encode(feature), wanted] for feature, wanted in clause.literals],
        "label": codec.encode(clause.label),
        "example": codec.encode(clause.example),
        "origin": codec.encode(clause.origin),
        **record,
    }


def _clause_from_dict(data: Mapping[str, Any], context: codec.Context) -> Clause:
    literals = tuple(Literal(codec.decode(f, context), w) for f, w in data["if"])
    if not all(type(literal.wanted) is bool for literal in literals):
        raise ValueError(f"a literal is [feature, true or false], got {data['if']!r}")
    label, example, origin = (
        codec.decode(data[name], context) for name in ("label", "example", "origin")
    )
    hash((literals, label))  # what has no hash is neither a feature nor a label
    return Clause(literals, label, example, origin, _record(data.get("record")))


def _record(data: Any) -> Record | None:
    if data is None:
        return None
    right, wrong, last, high = data
    whole = (right, wrong, *([] if last is None else [last]))
    if not all(type(n) is int and n >= 0 for n in whole) or type(high) not in (int, float):
        raise ValueError(f"a record is [right, wrong, last, high], got {data!r}")
    if not 0 <= high <= 1:
        raise ValueError(f"the bound of a record is from 0 to 1, got {high!r}")
    return Record(right, wrong, last, float(high))
