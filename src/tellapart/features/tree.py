"""The syntax tree of a feature, one frozen class per kind of node, and its text.

`grammar` parses a text into a tree, `canonical` has the functions that make nodes, `text` prints
them, `expression` evaluates a tree on an item, `to_polars` makes a Polars expression of it, and the
export writes it in other dialects. A condition is true, false or unknown (None).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, ClassVar, TypeAlias

from tellapart.model import describe
from tellapart.protocol import Feature

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
"""They work on numbers, arrays and Polars expressions alike."""

LEAST, MOST = 1e-75, 1e75
"""Arithmetic takes no number beyond these sizes, zero apart: it is unknown there. So a product of
four numbers neither overflows nor vanishes, and all engines agree about it."""

NAMES = {
    "month": (
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December",
    ),
    "weekday": (
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
    ),
}  # fmt: skip
"""What the numbers of months and weekdays are called."""


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


def wider(*kinds: Type) -> Type:
    """The type in which values of `kinds` meet."""
    for kind in (Type.NUMBER, Type.DATETIME):
        if kind in kinds:
            return kind
    return kinds[0]


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
    """`left op right` for + - * /, in double precision; unknown unless the result is finite, and
    every number of a column in it is 0 or of a size from `LEAST` to `MOST`."""

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


@dataclass(frozen=True, slots=True)
class Points(Condition):
    """The weights of the true conditions of `terms` add up to at least `at_least`; what is false or
    unknown counts nothing, so it is never unknown itself."""

    terms: tuple[tuple[Node, int], ...]
    at_least: int
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Atom(Condition):
    """A feature that is no condition on columns, such as a function; never unknown."""

    feature: Feature


Node: TypeAlias = (
    Column | Value | Arithmetic | Call | Compare | Like | In | IsNull | IsTrue | Not | And | Or
    | Points | Atom
)  # fmt: skip

TRUE, FALSE = Value(True, Type.BOOL), Value(False, Type.BOOL)


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below `node`."""
    match node:
        case Column() | Value() | Atom():
            return ()
        case Arithmetic() | Compare():
            return (node.left, node.right)
        case Call():
            return node.args
        case In():
            return (node.operand, *node.values)
        case And() | Or():
            return node.parts
        case Points():
            return tuple(condition for condition, _ in node.terms)
        case _:
            return (node.operand,)


def leaves(node: Node) -> Iterator[Column | Value | Atom]:
    """Every column, value and atom below `node`, as often as it occurs."""
    stack: list[Node] = [node]
    while stack:
        here = stack.pop()
        if isinstance(here, Column | Value | Atom):
            yield here
        stack.extend(children(here))


def columns(node: Node) -> Iterator[Column]:
    """Every column below `node`, as often as it is named."""
    return (leaf for leaf in leaves(node) if isinstance(leaf, Column))


def is_bounded(node: Node) -> bool:
    """Whether a part of arithmetic is unknown beyond `LEAST` and `MOST`: numbers of columns are,
    literals, whole numbers and results are not."""
    return isinstance(node, Column | Call) and node.type is Type.NUMBER


RESERVED = frozenset(
    re.findall(
        r"\w+",
        """all and any as asc between both by call case cast check collate column create cross
        current_date current_time current_timestamp date default delete desc distinct drop else end
        escape except execute exists explain false fetch for foreign from full glob group having
        ilike in inner insert intersect interval into is isnull join leading left like limit natural
        not notnull null offset on optimize or order outer prepare primary regexp rename reset right
        select set similar some table then timestamp to trailing true union unique unknown
        update user using vacuum values when where window with""",
    )
)
"""Column names that are quoted although they are plain words: SQL has them for itself."""

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
        case Points():
            terms = (_term(condition, weight) for condition, weight in node.terms)
            said = f"at_least({', '.join((str(node.at_least), *terms))})"
            return f"NOT {said}" if node.negated else said
        case Atom():
            return describe(node.feature)


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
        return quoted(escape(parts, ""))
    return f"{quoted(escape(parts, '!'))} ESCAPE '!'"


def escape(parts: Pattern, sign: str, wild: str = "%_") -> str:
    """The text of a pattern, with `sign` before what would be read as a wildcard, and itself."""
    special = f"[{re.escape(wild + sign)}]"
    return "".join(
        part.value if isinstance(part, Wild) else re.sub(special, lambda c: sign + c[0], part)
        for part in parts
    )


def _operand(node: Node) -> str:
    """A side of a comparison: conditions are put in brackets."""
    return _wrap(node, node.type is Type.BOOL and not isinstance(node, Column | Call | Value))


def _term(node: Node, weight: int) -> str:
    """A condition, times its weight."""
    if weight == 1:
        return text(node)
    called = isinstance(node, Column | Call) or (isinstance(node, Points) and not node.negated)
    return f"{'-' if weight == -1 else f'{weight} * '}{_wrap(node, not called)}"


def _wrap(node: Node, brackets: bool) -> str:
    return f"({text(node)})" if brackets else text(node)


def _rank(node: Node) -> int:
    if isinstance(node, Arithmetic):
        return 1 if node.op in "+-" else 2
    return 3
