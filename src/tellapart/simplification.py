"""Decision lists without ballast: shorter, with the same label for every possible row.

A rule is a conjunction of literals, and rows are truth assignments to the features. Only one
question is asked of a list. Let j be a rule and `region` a conjunction. *Do the rows of the region
that no rule before j takes get the label of j from the rules after j?* If so,

- with the literals of j as the region, j can go. Its rows get the same label from later rules, and
  no other row comes to j. This includes rules that are contradictory, never reached, or repeated
  by a later rule or the default.
- with one literal of j negated as the region, that literal can go. What j takes in addition are
  rows of the region that no earlier rule takes, and they have the label of j already. This includes
  the merging of "a and b" with "a and not b": the first loses its literal, the second is then never
  reached.

The answer is yes if, for every later rule k with another label, the rows that are in the region and
satisfy k all satisfy some rule before k other than j. Proof: take a row of the region that no rule
before j takes, and let k be the first rule after j that it satisfies; there is one, since the last
rule takes every row. If k had another label, the row would satisfy a rule before k other than j.
That is not one before j, by assumption, and not one between j and k, since k is the first. So k has
the label of j. Every step keeps the label of every row, and so do all of them together.

Whether rules cover a conjunction is decided by splitting it on one feature after the other, until
one rule covers each part, or the rules left are too small to cover a part together: the rules that
need n more features each have a 2^-n part of the assignments. This is exact, but may take long (the
problem is co-NP-complete), so after `_SPLITS` splits the answer is no, and the list stays longer
than it could be. It is never wrong.

Implications between features (`features.implications`) only take assignments away that no row has:
a conjunction is then kept with all that it implies.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeAlias

from tellapart.errors import ParameterError, TellapartError
from tellapart.features.implications import implications
from tellapart.model import Clause, DecisionList, Literal, Not

Wanted: TypeAlias = tuple[Any, bool]
"""A literal: a feature, or anything hashable that stands for one, and the truth it must have."""
Shows: TypeAlias = Callable[[int, Sequence[Wanted]], bool]

_SPLITS = 64  # in one question whether rules cover a conjunction
_WORK = 200  # questions for every literal and rule of the list


def simplify(model: DecisionList) -> DecisionList:
    """A shorter list that gives every possible item the same label.

    Clauses and literals that change nothing are left out; the order of the rest stays. A clause
    keeps its example, and an example that was labelled by its clause still is.

    >>> from tellapart.features import Above
    >>> big, large = Literal(Above("size", 3)), Literal(Above("size", 2))
    >>> model = DecisionList(
    ...     (Clause((Literal("milk"), Literal("hair")), "mammal"),
    ...      Clause((big, large, Literal("milk", False)), "fish"),
    ...      Clause((Literal("milk"),), "mammal"),
    ...      Clause((Literal("eggs"),), "bird")),
    ...     default=Clause((), "bird"))
    >>> print(simplify(model))
    if milk: mammal
    else if size > 3: fish
    else: bird
    """
    clauses = list(model)

    def shows(number: int, literals: Sequence[Wanted]) -> bool:
        example = clauses[number].example
        try:
            asked = Clause(tuple(Literal(*literal) for literal in literals), None)
            return example is not None and asked.covers(example, model.reading)
        except (TellapartError, TypeError, LookupError, AttributeError, ValueError):
            return False  # an example that features cannot be read on, such as a mere name

    plain = [[_plain(literal) for literal in clause.literals] for clause in clauses]
    written = {_plain(literal): literal for clause in clauses for literal in clause.literals}
    kept = shorten(
        [(literals, clause.label) for literals, clause in zip(plain, clauses, strict=True)],
        implied=implications({feature for literals in plain for feature, _ in literals}),
        shows=shows,
    )
    made = [
        Clause(tuple(written[lit] for lit in literals), old.label, old.example, old.origin)
        for old, literals in ((clauses[number], literals) for number, literals in kept)
    ]
    return DecisionList(tuple(made[:-1]), made[-1], model.reading)


def _plain(literal: Literal) -> Wanted:
    """A literal without a negation in its feature."""
    feature, wanted = literal
    return (feature.feature, not wanted) if isinstance(feature, Not) else (feature, wanted)


def shorten(
    rules: Sequence[tuple[Sequence[Wanted], Hashable]],
    *,
    implied: Iterable[tuple[Wanted, Wanted]] = (),
    shows: Shows | None = None,
) -> list[tuple[int, tuple[Wanted, ...]]]:
    """The rules that are left, each by its number in `rules` with the literals it still needs.

    Parameters
    ----------
    rules : sequence of (literals, label)
        The first one that matches decides; the last one has no literals.
    implied : pairs of literals, default=()
        Where the first of a pair is true, so is the second.
    shows : (number, literals) -> bool, default=None
        Whether the example of a rule satisfies some literals. With it, an example that reaches its
        rule still does, or its rule is gone. None: the examples of rules do not matter.

    >>> a, b, not_b = ("a", True), ("b", True), ("b", False)
    >>> shorten([([a, b], "yes"), ([a, not_b], "yes"), ([b], "no"), ([], "maybe")])
    [(0, (('a', True),)), (2, (('b', True),)), (3, ())]
    """
    if not rules or rules[-1][0]:
        raise ParameterError("shorten: the last rule must have no literals, as a default has none")
    return _Shortening(rules, implied, shows).run()


class _Shortening:
    """Rules over numbered literals: 2n for a feature, 2n + 1 for its negation.

    Sets of rules are bits of integers.
    """

    def __init__(
        self,
        rules: Sequence[tuple[Sequence[Wanted], Hashable]],
        implied: Iterable[tuple[Wanted, Wanted]],
        shows: Shows | None,
    ) -> None:
        features: dict[Any, int] = {}
        self.cubes = [
            tuple(
                dict.fromkeys(
                    2 * features.setdefault(feature, len(features)) + (not wanted)
                    for feature, wanted in literals
                )
            )
            for literals, _ in rules
        ]
        """The literals of each rule, in their order."""
        self.sets = [frozenset(cube) for cube in self.cubes]
        self.literals: list[Wanted] = [(f, wanted) for f in features for wanted in (True, False)]
        self.implied = _closures(len(self.literals), features, implied)
        self.closed = [self.close(cube) for cube in self.cubes]
        """The literals of each rule and all that they imply."""
        self.rules_with = [0] * len(self.literals)
        """For each literal, the rules that have or imply it."""
        for number, closed in enumerate(self.closed):
            for literal in closed:
                self.rules_with[literal] |= 1 << number
        alike: dict[Any, int] = {}
        kinds = [(type(label), label) for _, label in rules]  # 1 and True are two labels
        for number, kind in enumerate(kinds):
            alike[kind] = alike.get(kind, 0) | 1 << number
        self.alike = [alike[kind] for kind in kinds]
        """For each rule, the rules with its label."""
        self.left = (1 << len(rules)) - 1
        """The rules that are left."""
        self.changed = self.changed_before = self.left
        """The rules that were changed or left out in this round, and in the last one."""
        self.shows = shows
        self.splits = 0
        self.work = _WORK * sum(len(cube) + 1 for cube in self.cubes)

    def run(self) -> list[tuple[int, tuple[Wanted, ...]]]:
        while self.changed:
            self.changed, self.changed_before = 0, self.changed
            self.drop_literals()
            self.drop_rules()
        literals = self.literals
        return [(n, tuple(literals[lit] for lit in self.cubes[n])) for n in _bits(self.left)]

    def drop_literals(self) -> None:
        """Leave out literals where the rows that come in have the same label already."""
        for number in reversed([*_bits(self.left)]):
            for literal in self.cubes[number]:
                if self.left >> number & 1:
                    self.drop_literal(number, literal)

    def drop_rules(self) -> None:
        """Leave out rules whose rows later rules label the same."""
        for number in reversed([*_bits(self.left)]):
            if not self.cubes[number]:  # it takes every row that is left
                self.remove(self.left & -2 << number)
            elif self.agrees(number, self.closed[number]):
                self.remove(1 << number)

    def drop_literal(self, number: int, literal: int) -> None:
        cube = self.cubes[number]
        region = tuple(lit ^ 1 if lit == literal else lit for lit in cube)
        if not self.agrees(number, self.close(region)):
            return
        moved = self.examples_in(number, region)
        before = self.left, self.changed
        self.replace(number, tuple(lit for lit in cube if lit != literal))
        for other in moved:  # they must not lose their example, so they must go
            if not self.cubes[other] or not self.agrees(other, self.closed[other]):
                self.replace(number, cube)
                self.left, self.changed = before
                return
            self.remove(1 << other)

    def remove(self, rules: int) -> None:
        self.left &= ~rules
        self.changed |= rules

    def replace(self, number: int, cube: tuple[int, ...]) -> None:
        self.changed |= 1 << number
        for literal in self.closed[number]:
            self.rules_with[literal] &= ~(1 << number)
        self.cubes[number], self.sets[number] = cube, frozenset(cube)
        self.closed[number] = self.close(cube)
        for literal in self.closed[number]:
            self.rules_with[literal] |= 1 << number

    def examples_in(self, number: int, region: tuple[int, ...]) -> list[int]:
        """The rules after `number` whose example reaches them now, and is in `region`."""
        if self.shows is None:
            return []
        later = self.left & self.alike[number] & -2 << number
        return [n for n in _bits(later) if self.example_is_in(n, region) and self.reaches(n)]

    def example_is_in(self, number: int, cube: tuple[int, ...]) -> bool:
        assert self.shows is not None
        return self.shows(number, [self.literals[literal] for literal in cube])

    def reaches(self, number: int) -> bool:
        earlier = _bits(self.left & ((1 << number) - 1))
        return not any(self.example_is_in(number, self.cubes[other]) for other in earlier)

    def close(self, literals: Iterable[int]) -> frozenset[int]:
        return frozenset(chain.from_iterable(self.implied[literal] for literal in literals))

    # -- the question

    def agrees(self, number: int, region: frozenset[int]) -> bool:
        """Whether the rows of `region` that no rule before `number` takes get its label from the
        rules after it."""
        if not region.isdisjoint([literal ^ 1 for literal in region]):
            return True  # there is no such row
        changed = self.changed | self.changed_before
        if not changed >> number & 1 and not self.meeting(region, changed):
            return False  # as the last time
        left = self.meeting(region, self.left & ~(1 << number))
        for other in _bits(left & ~self.alike[number] & -2 << number):
            self.splits = _SPLITS
            closed = self.closed[other]
            earlier = self.meeting(closed, left & ((1 << other) - 1))
            if self.work <= 0 or not self.cover(earlier, region | closed):
                return False
        return True

    def meeting(self, literals: frozenset[int], rules: int) -> int:
        """The rules among `rules` that are not excluded by one of `literals`."""
        excluded = 0
        for literal in literals:
            excluded |= self.rules_with[literal ^ 1]
        return rules & ~excluded

    def cover(self, rules: int, region: frozenset[int]) -> bool:
        """Whether every row of `region` satisfies one of `rules`, all of which meet it; no if that
        is hard to tell."""
        self.work -= 1
        share, fewest, first = 0.0, 0, 0
        sets, pending = self.sets, rules
        while pending:  # as in `_bits`, but this is where the time goes
            low = pending & -pending
            pending ^= low
            number = low.bit_length() - 1
            missing = len(sets[number] - region)
            if not missing:
                return True
            share += 0.5**missing
            if not fewest or missing < fewest:
                fewest, first = missing, number
        if share < 1 or not self.splits:
            return False
        self.splits -= 1
        literal = next(literal for literal in self.cubes[first] if literal not in region)
        known = self.implied[literal ^ 1]
        if not self.cover(self.meeting(known, rules), region | known):
            return False
        known = self.implied[literal]
        return fewest == 1 or self.cover(self.meeting(known, rules), region | known)


def _closures(
    literals: int, features: dict[Any, int], implied: Iterable[tuple[Wanted, Wanted]]
) -> list[frozenset[int]]:
    """All that each literal implies, itself included; what is said of two literals also holds for
    their negations, the other way round."""
    said: list[set[int]] = [{literal} for literal in range(literals)]
    for (one, is_true), (other, also_true) in implied:
        if one in features and other in features:
            first, second = 2 * features[one] + (not is_true), 2 * features[other] + (not also_true)
            said[first].add(second)
            said[second ^ 1].add(first ^ 1)
    for start in said:
        pending = [*start]
        while pending:
            new = said[pending.pop()] - start
            start.update(new)
            pending.extend(new)
    return [frozenset(found) for found in said]


def _bits(number: int) -> Iterator[int]:
    """Which bits are set, from the lowest on."""
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low
