"""Random models over the table of `checks.expressions`: what an engine must label as we do."""

from __future__ import annotations

import random
from datetime import date
from typing import Any

from tellapart.checks import random_features
from tellapart.features import Above, And, Column, Not, Or, parse_feature
from tellapart.model import Clause, DecisionList, Literal
from tellapart.protocol import Feature

LABELS = ("", "it's", 'a "b"', "back\\slash", "new\nline", "tab\there", "👍 ünïcode", "%s {x} ;--")
_PLAIN: tuple[Feature, ...] = (
    "b", "c", "n", "x", "s", "d", "z", "odd name",
    Column("n", 4), Column("n", 2**53 + 1), Column("n", 0.5), Column("n", None), Column("x", 1),
    Column("x", 2**53 + 1), Column("x", 2**53),
    Column("x", 0.1), Column("s", "a"), Column("s", "it's"), Column("s", None), Column("s", 3),
    Column("b", False), Column("b", 1), Column("b"), Column("odd name", ""),
    Column("d", date(1999, 12, 31)), Above("x", 0.5), Above("n", 2.5), Above("n", 2.0**53),
    And(), Or(),
)  # fmt: skip


class ModelMaker:
    """Makes random models; the same seed makes the same ones."""

    def __init__(self, seed: int, *, plain: bool = True) -> None:
        self.rng, self.plain = random.Random(seed), plain
        self.conditions = random_features.Maker(seed)

    def model(self, clauses: int = 6) -> DecisionList:
        """A random model of so many clauses."""
        labels: tuple[Any, ...] = self.rng.choice((LABELS, LABELS, (1, 2, -3), (True, False)))
        made = [self.clause(labels) for _ in range(clauses)]
        return DecisionList(tuple(made), Clause((), self.rng.choice(labels), example="last"))

    def clause(self, labels: tuple[Any, ...]) -> Clause:
        literals = tuple(
            Literal(self.feature(), self.rng.random() < 0.5) for _ in range(self.rng.randint(1, 3))
        )
        return Clause(literals, self.rng.choice(labels), self.rng.choice(LABELS))

    def feature(self, depth: int = 2) -> Feature:
        choice = self.rng.random()
        if depth and self.plain and choice < 0.25:
            parts = [self.feature(depth - 1) for _ in range(self.rng.randint(1, 3))]
            joined: Feature = self.rng.choice((And, Or))(*parts)
            return Not(joined) if choice < 0.1 else joined
        if self.plain and choice < 0.6:
            return self.rng.choice(_PLAIN)
        condition = self.conditions.condition(self.rng.randint(0, 2)).feature
        return parse_feature(condition, random_features.SCHEMA)
