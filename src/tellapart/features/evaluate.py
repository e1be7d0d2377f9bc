"""A condition on one item; `to_polars` does the same for whole columns.

`written` makes nested lists of a tree, the operation first, with all that a tree leaves unsaid:
what is converted, and which numbers arithmetic takes. `read_rules` evaluates them; JSON rules and
programs are made of them, too (docs/export.md).
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from tellapart.errors import FeatureError
from tellapart.features import letter_case, read_rules, tree
from tellapart.features.tree import Node, Pattern, Type, Value, Wild

_SAFE = 2**53
"""Whole numbers up to here are the same in every JSON parser."""

UPPERS, LOWERS = ("".join(side) for side in zip(*letter_case.PAIRS, strict=True))
LETTERS = {"upper": UPPERS, "lower": LOWERS}
"""What `lower` and `upper` change, for those who read rules."""
read_rules.RULES["letters"] = LETTERS


def reader(node: Node) -> Callable[[Any], Any]:
    """A function from an item to the value of `node` on it.

    >>> walks = reader(tree.Compare(">", tree.Column("legs", Type.INTEGER), Value(3, Type.INTEGER)))
    >>> walks({"legs": 4}), walks({"legs": 2}), walks({})
    (True, False, None)
    """
    read = read_rules.read(written(node))

    def value(item: Any) -> Any:
        try:
            return read(item)
        except TypeError as error:
            raise FeatureError(str(error)) from None

    return value


def written(node: Node) -> Any:
    """A condition or a value as nested lists."""
    match node:
        case tree.Column():
            return ["column", node.name, node.type.value]
        case Value():
            return _literal(node, node.type)
        case tree.Arithmetic():
            return [node.op, _operand(node.left), _operand(node.right)]
        case tree.Call(name="coalesce"):
            return ["coalesce", *(_as(part, node.type) for part in node.args)]
        case tree.Call(name="abs" | "negative"):
            return [node.name, _as(node.args[0], Type.NUMBER)]
        case tree.Call():
            return [node.name, written(node.args[0])]
        case tree.Compare():
            kind = tree.wider(node.left.type, node.right.type)
            return [node.op, _as(node.left, kind), _as(node.right, kind)]
        case tree.In():
            kind = tree.wider(node.operand.type, *(value.type for value in node.values))
            made = ["in", _as(node.operand, kind), *(_as(value, kind) for value in node.values)]
        case tree.Like():
            made = ["matches", written(node.operand), regex(node.pattern, node.fold)]
        case tree.IsNull():
            made = ["unknown", written(node.operand)]
        case tree.IsTrue():
            made = ["true", written(node.operand)]
        case tree.Not():
            return ["not", written(node.operand)]
        case tree.And() | tree.Or():
            return [type(node).__name__.lower(), *map(written, node.parts)]
        case tree.Points():
            made = ["points", node.at_least, *([w, written(part)] for part, w in node.terms)]
        case tree.Atom():
            raise FeatureError(f"{tree.text(node)} is no condition on columns")
    return ["not", made] if node.negated else made


def _operand(node: Node) -> Any:
    """What arithmetic computes with."""
    if isinstance(node, tree.Call) and node.name in ("abs", "negative"):
        return [node.name, _operand(node.args[0])]
    made = _as(node, Type.NUMBER)
    return ["within", made] if tree.is_bounded(node) else made


def _as(node: Node, kind: Type) -> Any:
    """A value where a double or a datetime is wanted."""
    if node.type is kind or kind not in (Type.NUMBER, Type.DATETIME):
        return written(node)
    if isinstance(node, Value):
        return _literal(node, kind)
    return ["to_number" if kind is Type.NUMBER else "midnight", written(node)]


def _literal(node: Value, kind: Type) -> Any:
    value = node.value
    if kind is Type.NUMBER:
        return float(value)
    if kind is Type.INTEGER and abs(value) > _SAFE:
        return ["integer", str(value)]
    if kind is Type.DATE:
        return ["date", value.isoformat()]
    if kind is Type.DATETIME:
        moment = value if isinstance(value, datetime) else datetime(*value.timetuple()[:3])
        return ["datetime", moment.isoformat(timespec="microseconds")]
    return value


def regex(pattern: Pattern, fold: bool) -> str:
    """A pattern as a regular expression for the whole text; `(?s)` is up to the caller.

    Case is written out letter by letter, so that no engine's idea of case matters.

    >>> regex(("é!", Wild.ANY), True)
    '[Éé]!.*'
    """
    return "".join(
        {Wild.ANY: ".*", Wild.ONE: "."}[part]
        if isinstance(part, Wild)
        else "".join(_letter(letter, fold) for letter in part)
        for part in pattern
    )


def _letter(letter: str, fold: bool) -> str:
    either = letter_case.both(letter) if fold else letter
    if len(either) > 1:
        return f"[{either}]"
    return f"\\{letter}" if letter in r"\.+*?()|[]{}^$" else letter
