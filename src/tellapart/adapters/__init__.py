"""tellapart as a classifier of other libraries."""

from __future__ import annotations

from typing import NamedTuple

from tellapart.export.text import reachable, sentences
from tellapart.model import DecisionList
from tellapart.protocol import Item, Label


class Explanation(NamedTuple):
    """Why an item has its label."""

    label: Label
    clause: int
    """The number of the clause that labels it, from 1 on, the default last; as in sentences."""
    sentence: str
    """That clause in words."""
    example: Item
    """The item that the clause shows."""


def explanations(model: DecisionList) -> list[Explanation]:
    """What every clause of a model says of the items that reach it.

    >>> from tellapart import Clause, Literal
    >>> model = DecisionList((Clause((Literal("milk"),), "mammal"),), Clause((), "bird", "duck"))
    >>> explanations(model)[1]
    Explanation(label='bird', clause=2, sentence='Otherwise it is bird, like duck.', example='duck')
    """
    clauses, said = reachable(model), sentences(model)
    return [
        Explanation(clause.label, number, sentence, clause.example)
        for number, (clause, sentence) in enumerate(zip(clauses, said, strict=True), start=1)
    ]
