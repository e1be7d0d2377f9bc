"""How large and how small the results of arithmetic can be, to know where an engine needs a guard.

Engines agree about doubles as long as nothing overflows. Most arithmetic in features is on whole
numbers of 64 bits and literals, which cannot; the rest gets a guard.
"""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

from tellapart.features.tree import Arithmetic, Call, Node, Type, Value

LARGEST = sys.float_info.max
SMALLEST = math.ulp(0.0)
"""The double next to zero."""


class Range(NamedTuple):
    """The greatest magnitude, and the least one that is not zero."""

    most: float
    least: float

    @property
    def overflows(self) -> bool:
        return self.most > LARGEST

    @property
    def underflows(self) -> bool:
        """Whether a result may be rounded to zero that is not zero."""
        return self.least < SMALLEST


def range_of(node: Node) -> Range:
    """What a number can be, given that it is finite."""
    if isinstance(node, Value):
        size = abs(float(node.value))
        return Range(size, size or LARGEST)
    if node.type is Type.INTEGER:
        return Range(2.0**63, 1.0)
    if isinstance(node, Call):  # abs, negative, coalesce
        parts = [range_of(part) for part in node.args]
        return Range(max(p.most for p in parts), min(p.least for p in parts))
    if isinstance(node, Arithmetic):
        most, least = reach(node)
        return Range(min(most, LARGEST), max(least, SMALLEST))
    return Range(LARGEST, SMALLEST)


def reach(node: Arithmetic) -> Range:
    """What the outcome of an operation on finite numbers can be, infinity included.

    >>> from tellapart.features.tree import Column
    >>> legs, price = Column("legs", Type.INTEGER), Column("price", Type.NUMBER)
    >>> reach(Arithmetic("*", legs, legs)).overflows, reach(Arithmetic("*", price, legs)).overflows
    (False, True)
    """
    (most, least), (other, smallest) = range_of(node.left), range_of(node.right)
    if node.op in "+-":
        return Range(most + other, SMALLEST)
    if node.op == "*":
        return Range(most * other, least * smallest)
    return Range(most / smallest, least / other if other else LARGEST)
