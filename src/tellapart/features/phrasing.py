"""A feature in words, where people choose and read; what they write is the language itself."""

from __future__ import annotations

from dataclasses import replace

from tellapart.features.expression import Expression
from tellapart.features.to_text import text
from tellapart.features.tree import (
    And,
    Column,
    Compare,
    In,
    IsNull,
    Like,
    Node,
    Not,
    Or,
    Type,
    Value,
    Wild,
)
from tellapart.model import Literal
from tellapart.protocol import Feature

_LONGEST = 60  # characters of a value


def spoken(feature: Feature, wanted: bool = True) -> str:
    """What an item is when a feature holds (or does not), without the signs of SQL.

    >>> from tellapart.features.expression import parse_feature
    >>> schema = {"fine print": "text", "legs": "integer", "milk": "bool"}
    >>> asked = ("NOT milk AND legs >= 4", "\\"fine print\\" ILIKE '%free%'", "legs IN (2, 4)")
    >>> for written in asked:
    ...     print(spoken(parse_feature(written, schema)))
    legs >= 4 and not milk
    fine print contains "free"
    legs is 2 or 4
    >>> spoken(parse_feature("NOT milk", schema), False), spoken("milk", False)
    ('milk or unknown', 'not milk')
    >>> spoken(parse_feature("legs IS NULL", schema), False)
    'legs is known'
    >>> spoken(parse_feature("legs < 4", schema), False)
    'not (legs < 4)'
    """
    if not isinstance(feature, Expression):
        return str(Literal(feature, wanted))
    tree = feature.tree
    if wanted:
        return _say(tree)
    if isinstance(tree, Not):
        return f"{_part(tree.operand)} or unknown"
    if isinstance(tree, IsNull):
        return _say(replace(tree, negated=not tree.negated))
    return f"not {_say(tree)}" if isinstance(tree, Column) else f"not ({_say(tree)})"


def _say(node: Node) -> str:
    match node:
        case Column():
            return node.name
        case Not():
            return f"not {_part(node.operand)}"
        case And():
            return " and ".join(map(_part, node.parts))
        case Or():
            return " or ".join(map(_part, node.parts))
        case IsNull(operand=Column(name)):
            return f"{name} is {'known' if node.negated else 'unknown'}"
        case In(operand=Column(name)):
            values = [_value(value) for value in node.values]
            joint = "nor" if node.negated else "or"
            several = f" {joint} ".join([", ".join(values[:-1]), values[-1]])
            return f"{name} is {'neither ' if node.negated else ''}{several}"
        case Compare(op, Column(name), Value() as value):
            words = {"<>": "is not"} | ({"=": "is"} if value.type is Type.TEXT else {})
            return f"{name} {words.get(op, op)} {_value(value)}"
        case Like(operand=Column(name)) if verb := _verb(node):
            return f"{name} {verb}"
    return text(node)


def _part(node: Node) -> str:
    return f"({_say(node)})" if isinstance(node, And | Or) else _say(node)


def _verb(node: Like) -> str | None:
    """What a simple pattern asks of a text."""
    match node.pattern:
        case (Wild.ANY, str(wanted), Wild.ANY):
            verb = "contain"
        case (str(wanted), Wild.ANY):
            verb = "start with"
        case (Wild.ANY, str(wanted)):
            verb = "end with"
        case _:
            return None
    first, _, rest = verb.partition(" ")
    said = f"does not {verb}" if node.negated else f"{first}s{rest and ' ' + rest}"
    return f'{said} "{_cut(wanted)}"'


def _value(node: Value) -> str:
    if node.type is Type.TEXT:
        return f'"{_cut(node.value)}"'
    return str(node.value) if node.type.temporal else text(node)


def _cut(value: str) -> str:
    return value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…"
