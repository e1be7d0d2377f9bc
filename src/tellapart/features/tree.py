"""The syntax tree of a feature: plain frozen values, one class a kind of node.

`grammar` reads a text into a tree, `canonical` has the functions that make its nodes, `text` prints
it, `evaluate` runs it on an item, `to_polars` turns it into a Polars expression, and the export
writes it in other dialects. Truth has three values: a condition is true, false or unknown (None).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, TypeAlias

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
"""What the signs mean, for numbers, arrays and Polars expressions alike."""


class Type(Enum):
    """What a column or an expression holds."""

    BOOL = "bool"
    INTEGER = "integer"
    """Whole numbers of 64 bits; they compare exactly with each other."""
    NUMBER = "number"
    """Double precision; finite, or unknown."""
    TEXT = "text"
    DATE = "date"
    DATETIME = "datetime"
    """Date and time without a zone, in microseconds."""

    @property
    def numeric(self) -> bool:
        return self in (Type.INTEGER, Type.NUMBER)

    @property
    def temporal(self) -> bool:
        return self in (Type.DATE, Type.DATETIME)


class Wild(Enum):
    """The two wildcards of a pattern."""

    ANY = "%"
    """Any characters, or none."""
    ONE = "_"
    """Exactly one character."""


Pattern: TypeAlias = tuple[str | Wild, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Value:
    """A literal: bool, int, float, str, date or datetime. A whole number is always an int."""

    value: Any
    type: Type


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`left op right` for + - * /, in double precision; unknown unless the result is finite."""

    op: str
    left: Node
    right: Node
    type: ClassVar[Type] = Type.NUMBER


@dataclass(frozen=True, slots=True)
class Call:
    """A function: lower, upper, trim, length, abs, negative, coalesce, year, month or day.

    `negative` is the minus sign before anything but a literal.
    """

    name: str
    args: tuple[Node, ...]
    type: Type


class Condition:
    """True, false or unknown."""

    __slots__ = ()
    type: ClassVar[Type] = Type.BOOL


@dataclass(frozen=True, slots=True)
class Compare(Condition):
    """`left op right` for = <> < <= > >=. If either side is a NUMBER both are doubles; if either
    side is a DATETIME a date means its midnight; text compares by code point."""

    op: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Like(Condition):
    """`operand` has the shape of `pattern`; with `fold`, upper and lower letters are alike
    (the pattern then holds lower letters only)."""

    operand: Node
    pattern: Pattern
    fold: bool
    negated: bool = False


@dataclass(frozen=True, slots=True)
class In(Condition):
    """`operand` equals one of two or more `values`, sorted, none of them NULL."""

    operand: Node
    values: tuple[Value, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class IsNull(Condition):
    """`operand` is unknown; never unknown itself."""

    operand: Node
    negated: bool = False


@dataclass(frozen=True, slots=True)
class IsTrue(Condition):
    """`operand` is true, neither false nor unknown; never unknown itself."""

    operand: Node
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Not(Condition):
    """The opposite of a boolean column or call; unknown stays unknown."""

    operand: Node


@dataclass(frozen=True, slots=True)
class And(Condition):
    """False if a part is false, else unknown if a part is unknown, else true."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or(Condition):
    """True if a part is true, else unknown if a part is unknown, else false."""

    parts: tuple[Node, ...]


Node: TypeAlias = (
    Column | Value | Arithmetic | Call | Compare | Like | In | IsNull | IsTrue | Not | And | Or
)


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below `node`."""
    match node:
        case Column() | Value():
            return ()
        case Arithmetic() | Compare():
            return (node.left, node.right)
        case Call():
            return node.args
        case In():
            return (node.operand, *node.values)
        case And() | Or():
            return node.parts
        case _:
            return (node.operand,)


def columns(node: Node) -> Iterator[Column]:
    """Every column below `node`, as often as it is named."""
    stack: list[Node] = [node]
    while stack:
        here = stack.pop()
        if isinstance(here, Column):
            yield here
        stack.extend(children(here))
