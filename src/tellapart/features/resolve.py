"""The one way from any feature to a tree of the feature language.

Teachers name columns, values, functions and combinations of them (`combinations`); people write
conditions (`expression`). Everything that reads both (tables, exports, sentences, implications)
resolves a feature and looks at the tree alone. What no tree can say stays in it as an `Atom`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from tellapart.combinations import Above, And, AtMost, Column, Or, Points
from tellapart.features import canonical, tree
from tellapart.features.expression import Expression
from tellapart.features.tree import FALSE, TRUE, Node, Type, Value
from tellapart.model import Not
from tellapart.protocol import Feature

_EMPTY = {Type.INTEGER: Value(0, Type.INTEGER), Type.NUMBER: Value(0, Type.INTEGER),
          Type.TEXT: Value("", Type.TEXT)}  # fmt: skip
"""What Python takes for false in a column of each type, unknown apart."""


def resolve(feature: Feature, types: Mapping[str, Type]) -> Node:
    """The tree of a feature over columns of `types`; a plain name of no known type is a bool.

    A model asks of a feature only whether it is true, so false and unknown are the same here: a
    column that cannot equal the value it is compared with is false.

    >>> from tellapart.features.tree import text
    >>> text(resolve(And(Column("legs", 4), Not("tail")), {}))
    'legs = 4 AND tail IS NOT TRUE'
    >>> text(resolve("legs", {"legs": Type.INTEGER}))
    'legs <> 0'
    """
    match feature:
        case Expression():
            return feature.tree
        case str():
            return _truthy(feature, types)
        case Column(name, value):
            made = _truthy(name, types) if value is True else _equal(name, value, types)
        case Above(name, threshold):
            made = _above(name, threshold, types)
        case AtMost(name, threshold):
            made = _at_most(name, threshold, types)
        case Not():
            return canonical.negate(canonical.is_true(resolve(feature.feature, types)))
        case And() | Or():
            parts = [resolve(part, types) for part in feature.parts]
            if not parts:
                return TRUE if isinstance(feature, And) else FALSE
            return canonical.both(parts) if isinstance(feature, And) else canonical.either(parts)
        case Points():
            terms = [(resolve(part, types), weight) for part, weight in feature.terms]
            return canonical.points(terms, feature.at_least)
        case _:
            made = None
    return tree.Atom(feature) if made is None else made


def _truthy(name: str, types: Mapping[str, Type]) -> Node:
    kind = types.get(name, Type.BOOL)
    column = tree.Column(name, kind)
    if kind is Type.BOOL:
        return column
    if kind in _EMPTY:
        return canonical.compare("<>", column, _EMPTY[kind])
    return canonical.negate(canonical.is_null(column))


def _equal(name: str, value: Any, types: Mapping[str, Type]) -> Node | None:
    """A column equals a value as Python understands it: True is 1, but '1' is not."""
    if value is None:
        return canonical.is_null(tree.Column(name, types.get(name, Type.TEXT)))
    literal = _value(value)
    if literal is None:
        return None
    kind = types.get(name, literal.type)
    if kind is Type.BOOL and literal.type.numeric:
        if value not in (0, 1):
            return FALSE
        literal = Value(bool(value), Type.BOOL)
    elif kind.numeric and literal.type is Type.BOOL:
        literal = Value(int(value), Type.INTEGER)
    if kind is Type.NUMBER and literal.type is Type.INTEGER and float(value) != value:
        return FALSE  # a whole number that no double is
    if kind is literal.type or (kind is Type.NUMBER and literal.type is Type.INTEGER):
        return canonical.compare("=", tree.Column(name, kind), literal)
    return FALSE


def _above(name: str, threshold: float, types: Mapping[str, Type]) -> Node | None:
    kind = types.get(name, Type.NUMBER)
    if not kind.numeric:
        return None
    if math.isnan(threshold) or threshold == math.inf:
        return FALSE
    column = tree.Column(name, kind)
    if kind is Type.NUMBER:
        if threshold == -math.inf:
            return canonical.negate(canonical.is_null(column))
        return canonical.compare(">", column, canonical.number(threshold))
    if not -(2.0**63) <= threshold < 2.0**63:
        return FALSE if threshold > 0 else canonical.negate(canonical.is_null(column))
    return canonical.compare(">", column, Value(math.floor(threshold), Type.INTEGER))


def _at_most(name: str, threshold: float, types: Mapping[str, Type]) -> Node | None:
    above = _above(name, threshold, types)
    if above is None or math.isnan(threshold):
        return above
    if isinstance(above, tree.Compare):
        return canonical.negate(above)
    known = canonical.negate(canonical.is_null(tree.Column(name, types.get(name, Type.NUMBER))))
    return known if above == FALSE else FALSE


def _value(value: Any) -> Value | None:
    """A value as a literal; None for what is none."""
    match value:
        case bool():
            return Value(value, Type.BOOL)
        case int() if -(2**63) <= value < 2**63:
            return Value(value, Type.INTEGER)
        case int() | float() if math.isfinite(value):
            return canonical.number(float(value))
        case str():
            return Value(value, Type.TEXT)
        case datetime() if value.tzinfo is None:
            return Value(value, Type.DATETIME)
        case date() if not isinstance(value, datetime):
            return Value(value, Type.DATE)
    return None
