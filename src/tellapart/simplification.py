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
        self.literals: list[Wanted] = [(f, wanted) for f in features for wanted in (True, False)]
        self.implied = _closures(len(self.literals), features, implied)
        self.closed = [self.close(cube) for cube in self.cubes]
        """The literals of each rule and all that they imply."""
        self.having = [0] * len(self.literals)
        """For each literal, the rules that have it,"""
        self.implying = [0] * len(self.literals)
        """and those that have or imply it."""
        self.counts = [0] * max(map(len, self.cubes)).bit_length()
        """How many literals each rule has, in binary: bit b of the count is in number b."""
        for number in range(len(rules)):
            self.flip(number)
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
        self.refuted: dict[tuple[int, frozenset[int]], tuple[int, frozenset[int]]] = {}
        """For a rule and a region: a later rule with another label, and rows that it takes."""
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
        self.flip(number)
        self.cubes[number], self.closed[number] = cube, self.close(cube)
        self.flip(number)

    def flip(self, number: int) -> None:
        """Put a rule into the sets of rules, or take it out of them."""
        bit = 1 << number
        for literal in self.cubes[number]:
            self.having[literal] ^= bit
        for literal in self.closed[number]:
            self.implying[literal] ^= bit
        for place in range(len(self.counts)):
            if len(self.cubes[number]) >> place & 1:
                self.counts[place] ^= bit

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
        if self.refuted_before(number, region):
            return False
        left = self.meeting(region, self.left & ~(1 << number))
        missing = self.less(self.counts, region)
        for other in _bits(left & ~self.alike[number] & -2 << number):
            self.splits = _SPLITS
            closed = self.closed[other]
            earlier = self.meeting(closed, left & ((1 << other) - 1))
            needed = self.less(missing, closed - region)
            part = self.uncovered(earlier, region | closed, needed) if self.work > 0 else region
            if part is not None:
                self.refuted[number, region] = other, part
                return False
        return True

    def refuted_before(self, number: int, region: frozenset[int]) -> bool:
        """Whether the reason why the last answer was no still stands."""
        other, part = self.refuted.get((number, region), (None, region))
        if other is None or not self.left >> other & 1:
            return False
        changed = (self.changed | self.changed_before) & self.left & ((1 << other) - 1)
        return not self.meeting(part, changed)

    def meeting(self, literals: frozenset[int], rules: int) -> int:
        """The rules among `rules` that are not excluded by one of `literals`."""
        excluded = 0
        for literal in literals:
            excluded |= self.implying[literal ^ 1]
        return rules & ~excluded

    def less(self, counts: list[int], literals: Iterable[int]) -> list[int]:
        """The counts of literals, without those that are among `literals`."""
        made = counts.copy()
        for literal in literals:
            borrow, place = self.having[literal], 0
            while borrow:
                made[place] ^= borrow
                borrow &= made[place]  # it was 0 and is 1 now
                place += 1
        return made

    def uncovered(
        self, rules: int, region: frozenset[int], missing: list[int]
    ) -> frozenset[int] | None:
        """A part of `region` that `rules` do not cover, as far as can be told; None if they cover
        all of it.

        All the rules meet the region. `missing` counts their literals that are not in the region.
        """
        self.work -= 1
        ones, twos = (*missing, 0, 0)[:2]
        more = 0
        for bits in missing[2:]:
            more |= bits
        if rules & ~(ones | twos | more):
            return None
        few = rules & ~more
        one, two, three, more = few & ~twos, few & ~ones, few & ones & twos, rules & more
        share = one.bit_count() * 8 + two.bit_count() * 4 + three.bit_count() * 2
        if share + more.bit_count() < 16 or not self.splits:
            return region
        self.splits -= 1
        best = one or two or three or more
        cube = self.cubes[(best & -best).bit_length() - 1]
        literal = next(literal for literal in cube if literal not in region)
        for known in (self.implied[literal ^ 1], self.implied[literal]):
            left = self.less(missing, known - region)
            part = self.uncovered(self.meeting(known, rules), region | known, left)
            if part is not None or one:  # a rule that lacks one literal covers the other half
                return part
        return None


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
