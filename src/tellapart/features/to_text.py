"""A syntax tree as SQL text: what a teacher reads, and what `parse_feature` reads back."""

from __future__ import annotations

import re
from datetime import datetime

from tellapart.features.tree import (
    And,
    Arithmetic,
    Call,
    Column,
    Compare,
    In,
    IsNull,
    IsTrue,
    Like,
    Node,
    Not,
    Or,
    Pattern,
    Type,
    Value,
    Wild,
)

RESERVED = frozenset(
    re.findall(
        r"\w+",
        """all and any as asc between both by case cast check collate column create cross
        current_date current_time current_timestamp date default delete desc distinct drop else end
        escape except exists false for foreign from full glob group having ilike in inner insert
        intersect interval into is isnull join leading left like limit natural not notnull null
        offset on or order outer primary regexp right select set similar some table then timestamp
        to trailing true union unique unknown update user using values when where window with""",
    )
)
"""Column names that are quoted although they look plain."""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def identifier(name: str) -> str:
    """A column's name, in quotes where it needs them.

    >>> identifier("legs"), identifier("unit price"), identifier("order")
    ('legs', '"unit price"', '"order"')
    """
    if _PLAIN.fullmatch(name) and name.lower() not in RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def quoted(text: str) -> str:
    """A text literal."""
    return "'" + text.replace("'", "''") + "'"


def text(node: Node) -> str:
    """The SQL text of a tree."""
    match node:
        case Column():
            return identifier(node.name)
        case Value():
            return literal(node)
        case Arithmetic():
            # the right operand of equal rank keeps its brackets: doubles are not associative
            left, right = _rank(node.left) < _rank(node), _rank(node.right) <= _rank(node)
            return f"{_wrap(node.left, left)} {node.op} {_wrap(node.right, right)}"
        case Call(name="negative"):
            inner = text(node.args[0])
            bare = isinstance(node.args[0], Column | Call) and not inner.startswith("-")
            return f"-{inner}" if bare else f"-({inner})"
        case Call():
            return f"{node.name}({', '.join(map(text, node.args))})"
        case Compare():
            return f"{_operand(node.left)} {node.op} {_operand(node.right)}"
        case Like():
            verb = f"{'NOT ' if node.negated else ''}{'ILIKE' if node.fold else 'LIKE'}"
            return f"{_operand(node.operand)} {verb} {pattern(node.pattern)}"
        case In():
            verb = "NOT IN" if node.negated else "IN"
            return f"{_operand(node.operand)} {verb} ({', '.join(map(text, node.values))})"
        case IsNull():
            return f"{_operand(node.operand)} IS {'NOT ' if node.negated else ''}NULL"
        case IsTrue():
            word = "NOT " if node.negated else ""
            if isinstance(node.operand, Not):
                return f"{_operand(node.operand.operand)} IS {word}FALSE"
            return f"{_operand(node.operand)} IS {word}TRUE"
        case Not():
            return f"NOT {text(node.operand)}"
        case And():
            return " AND ".join(_wrap(part, isinstance(part, Or)) for part in node.parts)
        case Or():
            return " OR ".join(_wrap(part, isinstance(part, And)) for part in node.parts)


def literal(node: Value) -> str:
    """A literal as SQL text."""
    if node.type is Type.TEXT:
        return quoted(node.value)
    if node.type is Type.BOOL:
        return "TRUE" if node.value else "FALSE"
    if node.type is Type.DATE:
        return f"DATE '{node.value.isoformat()}'"
    if isinstance(node.value, datetime):
        return f"TIMESTAMP '{node.value.isoformat(sep=' ')}'"
    return repr(node.value)


def pattern(parts: Pattern) -> str:
    """A pattern as SQL text; `!` escapes a % or _ that stands for itself.

    >>> pattern(("10%", Wild.ANY)), pattern((Wild.ANY, "wow!"))
    ("'10!%%' ESCAPE '!'", "'%wow!'")
    """
    if not any("%" in part or "_" in part for part in parts if not isinstance(part, Wild)):
        return quoted("".join(p.value if isinstance(p, Wild) else p for p in parts))
    escaped = (p.value if isinstance(p, Wild) else re.sub("[!%_]", r"!\g<0>", p) for p in parts)
    return f"{quoted(''.join(escaped))} ESCAPE '!'"


def _operand(node: Node) -> str:
    """A side of a comparison: conditions are put in brackets."""
    return _wrap(node, node.type is Type.BOOL and not isinstance(node, Column | Call | Value))


def _wrap(node: Node, brackets: bool) -> str:
    return f"({text(node)})" if brackets else text(node)


def _rank(node: Node) -> int:
    if isinstance(node, Arithmetic):
        return 1 if node.op in "+-" else 2
    return 3
