"""Every kind of feature as a syntax tree of the feature language, so that one translation suffices.

A model asks of a feature only whether it is true, so false and unknown are the same here: a column
that cannot equal the value it is compared with is false.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime
from typing import Any

from tellapart.errors import ExportError
from tellapart.features import Above, And, Column, Expression, Is, Not, Or, Points, canonical, tree
from tellapart.features.expression import types as read_types
from tellapart.features.tree import Node, Type, Value
from tellapart.model import DecisionList, Literal, describe
from tellapart.model import holds as plain_reading
from tellapart.protocol import Feature

Types = Mapping[str, Type]

TRUE, FALSE = Value(True, Type.BOOL), Value(False, Type.BOOL)
_EMPTY = {Type.INTEGER: Value(0, Type.INTEGER), Type.NUMBER: Value(0, Type.INTEGER),
          Type.TEXT: Value("", Type.TEXT)}  # fmt: skip
"""What Python takes for false in a column of each type, unknown apart."""


def tree_of(feature: Feature, types: Types) -> Node:
    """The tree of a feature over columns of `types`; a plain name of no known type is a bool.

    >>> from tellapart.features.tree import text
    >>> text(tree_of(And(Column("legs", 4), Not("tail")), {}))
    'legs = 4 AND tail IS NOT TRUE'
    >>> text(tree_of("legs", {"legs": Type.INTEGER}))
    'legs <> 0'
    """
    if isinstance(feature, Expression):
        return feature.tree
    if isinstance(feature, str):
        return _truthy(feature, types)
    if isinstance(feature, Column):
        return _equal(feature.name, feature.value, types)
    if isinstance(feature, Above):
        return _above(feature.name, feature.threshold, types)
    if isinstance(feature, Not):
        return canonical.negate(canonical.is_true(tree_of(feature.feature, types)))
    if isinstance(feature, And | Or):
        parts = [tree_of(part, types) for part in feature.parts]
        if not parts:
            return TRUE if isinstance(feature, And) else FALSE
        return canonical.both(parts) if isinstance(feature, And) else canonical.either(parts)
    if isinstance(feature, Points):
        terms = [(tree_of(part, types), weight) for part, weight in feature.terms]
        return canonical.points(terms, feature.at_least)
    raise ExportError(refusal(feature))


def refusal(feature: Feature) -> str:
    """Why a feature cannot be written in another language, and what to do."""
    if isinstance(feature, Is):
        return (
            f"the feature '{feature}' holds on one item only, which no other language knows. Teach"
            " with features of columns, or drop the clause"
        )
    what = "is a function" if callable(feature) else f"is {feature!r} ({type(feature).__name__})"
    return (
        f"the feature {describe(feature)!r} {what}, and only columns, their combinations and"
        " parse_feature can be written in another language"
    )


def literal_tree(literal: Literal, types: Types) -> Node:
    """When a literal is satisfied, as a tree."""
    made = tree_of(literal.feature, types)
    return made if literal.wanted else canonical.negate(canonical.is_true(made))


def columns_of(model: DecisionList) -> dict[str, Type | None]:
    """The columns a model reads, and what each holds; None where no feature says so.

    >>> from tellapart.features import parse_feature
    >>> from tellapart.model import Clause
    >>> literals = (Literal(parse_feature("legs > 2", {"legs": "integer"})), Literal("milk"))
    >>> columns_of(DecisionList((Clause(literals, "bear"),)))
    {'legs': <Type.INTEGER: 'integer'>, 'milk': None}
    """
    found: dict[str, Type | None] = {}
    for feature in model.features:
        for name, kind in _columns(feature):
            before = found.get(name)
            if before is not None and kind not in (None, before):
                raise ExportError(
                    f"the model takes column {name!r} for {before.value} in one feature and for"
                    f" {kind.value if kind else ''} in another; it was taught on two kinds of table"
                )
            found[name] = before or kind
    return found


def types_of(model: DecisionList, schema: Mapping[str, Any]) -> Types:
    """What columns hold, as the schema says; or else as the first condition says that names them.

    >>> from tellapart.features import parse_feature
    >>> from tellapart.model import Clause
    >>> literals = (Literal(parse_feature("legs > 2", {"legs": "integer"})), Literal("milk"))
    >>> types_of(DecisionList((Clause(literals, "bear"),)), {"milk": "bool"})
    {'legs': <Type.INTEGER: 'integer'>, 'milk': <Type.BOOL: 'bool'>}
    """
    said: dict[str, Type] = {}
    for feature in model.features:
        with suppress(ExportError):  # what cannot be written is named with its clause, later
            for name, kind in _columns(feature):
                if kind is not None:
                    said.setdefault(name, kind)
    return {**said, **read_types(schema)}


def _columns(feature: Feature) -> Iterator[tuple[str, Type | None]]:
    match feature:
        case Expression():
            yield from ((column.name, column.type) for column in tree.columns(feature.tree))
        case str():
            yield feature, None
        case Column() | Above():
            yield feature.name, None
        case Not():
            yield from _columns(feature.feature)
        case And() | Or():
            for part in feature.parts:
                yield from _columns(part)
        case Points():
            for part, _ in feature.terms:
                yield from _columns(part)
        case _:
            raise ExportError(refusal(feature))


def check_reading(model: DecisionList) -> None:
    """A model that reads features in its own way cannot be written down."""
    names: list[Any] = []
    for feature in model.features:
        with suppress(ExportError):  # what cannot be written is named with its clause, later
            names += (name for name, _ in _columns(feature))
    if odd := [name for name in names if not isinstance(name, str)]:
        raise ExportError(f"a column has the name {odd[0]!r}, and names of columns are texts")
    if model.reading is not plain_reading:
        raise ExportError(
            "this model reads features with a `holds` of its own, which cannot be written in"
            " another language. Teach with features that are columns or expressions"
        )


def _truthy(name: str, types: Types) -> Node:
    kind = types.get(name, Type.BOOL)
    column = tree.Column(name, kind)
    if kind is Type.BOOL:
        return column
    if kind in _EMPTY:
        return canonical.compare("<>", column, _EMPTY[kind])
    return canonical.negate(canonical.is_null(column))


def _equal(name: str, value: Any, types: Types) -> Node:
    """A column equals a value as Python understands it: True is 1, but '1' is not."""
    if value is True:
        return _truthy(name, types)
    literal = _value(name, value)
    if literal is None:
        return canonical.is_null(tree.Column(name, types.get(name, Type.TEXT)))
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


def _above(name: str, threshold: float, types: Types) -> Node:
    kind = types.get(name, Type.NUMBER)
    if not kind.numeric:
        raise ExportError(
            f"column {name!r} holds {kind.value}, and '> {threshold:g}' needs numbers"
        )
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


def _value(name: str, value: Any) -> Value | None:
    match value:
        case None:
            return None
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
    raise ExportError(
        f"the feature '{name} = {value}' compares a column with {value!r}"
        f" ({type(value).__name__}), which cannot be written in another language"
    )
