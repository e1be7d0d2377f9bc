"""The features of a model as trees (`features.resolve`), and the columns they read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from tellapart.combinations import leaves
from tellapart.errors import ExportError
from tellapart.features import Above, AtMost, Column, Expression, Is, canonical, tree
from tellapart.features.expression import types as read_types
from tellapart.features.resolve import resolve
from tellapart.features.tree import Node, Type
from tellapart.model import DecisionList, Literal, describe
from tellapart.model import holds as plain_reading
from tellapart.protocol import Feature

Types = Mapping[str, Type]


def tree_of(feature: Feature, types: Types) -> Node:
    """The tree of a feature over columns of `types`; refused if it says what no tree can."""
    made = resolve(feature, types)
    for leaf in tree.leaves(made):
        if isinstance(leaf, tree.Atom):
            raise ExportError(refusal(leaf.feature))
    return made


def refusal(feature: Feature) -> str:
    """Why a feature cannot be written in another language, and what to do."""
    match feature:
        case Is():
            return (
                f"the feature '{feature}' holds on one item only, which no other language knows."
                " Teach with features of columns, or drop the clause"
            )
        case Above(name) | AtMost(name):
            return f"column {name!r} holds no numbers, and '{feature}' needs them"
        case Column(name, value):
            return (
                f"the feature '{feature}' compares a column with {value!r}"
                f" ({type(value).__name__}), which cannot be written in another language"
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
    for name, kind in _columns(model):
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
    for name, kind in _columns(model):
        if kind is not None:
            said.setdefault(name, kind)
    return {**said, **read_types(schema)}


def _columns(model: DecisionList) -> Iterator[tuple[str, Type | None]]:
    """The columns that features read, with what each takes them for. What no tree can say is left
    out: it is refused with its clause, where that is written."""
    if model.reading is not plain_reading:
        raise ExportError(
            "this model reads features with a `holds` of its own, which cannot be written in"
            " another language. Teach with features that are columns or expressions"
        )
    for leaf in chain.from_iterable(map(leaves, model.features)):
        match leaf:
            case Expression():
                yield from ((column.name, column.type) for column in tree.columns(leaf.tree))
            case str() | Column(name=str()) | Above(name=str()) | AtMost(name=str()):
                yield leaf if isinstance(leaf, str) else leaf.name, None
            case Column(name=name) | Above(name=name) | AtMost(name=name):
                raise ExportError(f"a column has the name {name!r}, and names of columns are texts")
