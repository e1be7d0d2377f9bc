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
one rule covers each part, or the rules left are too small to cover a part together: a rule that
needs n more features has a 2^-n part of the assignments. This is exact, but may take long (the
problem is co-NP-complete), so after `_SPLITS` splits the answer is no, and the list stays longer
than it could be. It is never wrong.

Implications between features (`features.implications`) only take assignments away that no row has:
a conjunction is then kept with all that it implies.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any, TypeAlias

from tellapart.errors import TellapartError
from tellapart.features.implications import implications
from tellapart.model import Clause, DecisionList, Literal, Not

Region: TypeAlias = frozenset[Literal]
"""A conjunction of literals, with all that they imply."""

_SPLITS = 64  # in one question whether rules cover a conjunction
_LONGEST = 300  # clauses; a longer list stays as it is, for it would take too long


def simplify(model: DecisionList) -> DecisionList:
    """A shorter list that gives every possible item the same label.

    Clauses and literals that change nothing are left out; the order of the rest stays. A clause
    keeps its example, and an example that was labelled by its clause still is. A list of more than
    300 clauses is returned as it is.

    >>> from tellapart.combinations import Above
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
    if len(model.clauses) > _LONGEST:
        return model
    made = _Shortening(model).run()
    return DecisionList(tuple(made[:-1]), made[-1], model.reading)


class _Rule:
    """A clause, the literals it still needs, and their region."""

    def __init__(self, clause: Clause) -> None:
        self.clause, self.label = clause, (type(clause.label), clause.label)  # 1 is not True
        self.literals = [*dict.fromkeys(map(_plain, clause.literals))]
        self.region: Region = frozenset()


class _Shortening:
    """Rules, from which literals and rules are left out as long as any can be."""

    def __init__(self, model: DecisionList) -> None:
        self.reading, self.rules = model.reading, [_Rule(clause) for clause in model]
        self.written = {_plain(literal): literal for c in model for literal in c.literals}
        self.implied = _closures(self.written)
        for rule in self.rules:
            rule.region = self.close(rule.literals)
        self.splits = 0  # left in the question that is asked

    def run(self) -> list[Clause]:
        """The clauses that are left; the last one has no literals."""
        while self.drop_literals() or self.drop_rules():
            pass
        return [
            Clause(
                tuple(self.written[literal] for literal in rule.literals),
                rule.clause.label,
                rule.clause.example,
                rule.clause.origin,
            )
            for rule in self.rules
        ]

    def drop_literals(self) -> bool:
        """Leave out literals where the rows that come in have the same label already."""
        tried = [(rule, lit) for rule in reversed(self.rules) for lit in rule.literals]
        dropped = [self.drop_literal(rule, lit) for rule, lit in tried if rule in self.rules]
        return any(dropped)

    def drop_rules(self) -> bool:
        """Leave out rules whose rows later rules label the same, and those that nothing reaches."""
        before = len(self.rules)
        for rule in self.rules[-2::-1]:
            if self.agrees(rule, rule.region):
                self.rules.remove(rule)
        always = next(n for n, rule in enumerate(self.rules) if not rule.literals)
        del self.rules[always + 1 :]
        return len(self.rules) < before

    def drop_literal(self, rule: _Rule, literal: Literal) -> bool:
        turned = [_negated(lit) if lit == literal else lit for lit in rule.literals]
        if not self.agrees(rule, self.close(turned)):
            return False
        moved = [other for other in self.examples_in(rule, turned) if other.literals]
        if len(moved) < len(self.examples_in(rule, turned)):
            return False  # the default would lose its example
        before, literals = list(self.rules), rule.literals
        rule.literals = [lit for lit in literals if lit != literal]
        rule.region = self.close(rule.literals)
        for other in moved:  # they must not lose their example, so they must go
            if not self.agrees(other, other.region):
                self.rules, rule.literals, rule.region = before, literals, self.close(literals)
                return False
            self.rules.remove(other)
        return True

    def examples_in(self, rule: _Rule, literals: list[Literal]) -> list[_Rule]:
        """Later rules with the same label whose example reaches them now, and has `literals`."""
        later = self.rules[self.rules.index(rule) + 1 :]
        return [
            other
            for other in later
            if other.label == rule.label
            and self.shows(other, literals)
            and not any(
                self.shows(other, earlier.literals)
                for earlier in self.rules[: self.rules.index(other)]
            )
        ]

    def shows(self, rule: _Rule, literals: list[Literal]) -> bool:
        """Whether the example of a rule has these literals."""
        example = rule.clause.example
        try:
            return example is not None and Clause(tuple(literals), None).covers(
                example, self.reading
            )
        except (TellapartError, TypeError, LookupError, AttributeError, ValueError):
            return False  # an example that features cannot be read on, such as a mere name

    def close(self, literals: Iterable[Literal]) -> Region:
        """Literals and all that they imply."""
        return frozenset(chain.from_iterable(self.implied[literal] for literal in literals))

    # -- the question

    def agrees(self, rule: _Rule, region: Region) -> bool:
        """Whether the rows of `region` that no rule before this one takes get its label from the
        rules after it."""
        if any(_negated(literal) in region for literal in region):
            return True  # there is no such row
        place = self.rules.index(rule)
        for number, other in enumerate(self.rules[place + 1 :], place + 1):
            if other.label != rule.label and _meet(other.region, region):
                earlier = [one for one in self.rules[:number] if one is not rule]
                self.splits = _SPLITS
                if not self.covered(earlier, region | other.region):
                    return False
        return True

    def covered(self, rules: list[_Rule], region: Region) -> bool:
        """Whether `rules` take every row of `region`, as far as can be told."""
        rules = [rule for rule in rules if _meet(rule.region, region)]
        missing = [[lit for lit in rule.literals if lit not in region] for rule in rules]
        if not all(missing):
            return True
        if sum(0.5 ** len(literals) for literals in missing) < 1 or not self.splits:
            return False
        self.splits -= 1
        literal = min(missing, key=len)[0]
        return all(
            self.covered(rules, region | self.implied[one]) for one in (_negated(literal), literal)
        )


def _plain(literal: Literal) -> Literal:
    """A literal without a negation in its feature."""
    feature, wanted = literal
    return Literal(feature.feature, not wanted) if isinstance(feature, Not) else literal


def _negated(literal: Literal) -> Literal:
    return Literal(literal.feature, not literal.wanted)


def _meet(one: Region, other: Region) -> bool:
    """Whether some row may be in both."""
    return not any(_negated(literal) in other for literal in one)


def _closures(literals: Iterable[Literal]) -> dict[Literal, Region]:
    """All that each literal implies, itself included; what is said of two literals also holds for
    their negations, the other way round."""
    features: dict[Any, None] = dict.fromkeys(feature for feature, _ in literals)
    said = {Literal(f, wanted): {Literal(f, wanted)} for f in features for wanted in (True, False)}
    for first, second in implications(features):
        said[first].add(second)
        said[_negated(second)].add(_negated(first))
    for start in said.values():
        pending = [*start]
        while pending:
            new = said[pending.pop()] - start
            start.update(new)
            pending.extend(new)
    return {literal: frozenset(found) for literal, found in said.items()}
