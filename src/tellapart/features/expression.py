"""Features as SQL conditions over the columns of a table.

`parse_feature` parses a text into an `Expression`: a feature that is callable on an item, hashable,
and equal to every expression of the same canonical form. It holds where its condition is true, not
where it is unknown. docs/features.md has the grammar and what every operator means.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Set
from datetime import UTC, date, datetime, time
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from tellapart import codec
from tellapart.errors import FeatureError, FormatError
from tellapart.features import grammar, letter_case, near_misses, plain_words, tree
from tellapart.features.tokens import refuse
from tellapart.features.tree import Node, Pattern, Type, Value, Wild, columns, text
from tellapart.model import Compound, Holds
from tellapart.protocol import Item

if TYPE_CHECKING:
    import polars as pl

Read: TypeAlias = Callable[[Any], Any]

_SQL = re.compile(
    r"\b(?:NULL|I?LIKE|IN|ESCAPE|CASE|CAST|SELECT|BETWEEN|DATE|TIMESTAMP|IS)\b|\w\(|;|--|/\*"
)
"""What nobody writes in plain words."""

_NAMES = {
    **{kind.value: kind for kind in Type},
    "boolean": Type.BOOL,
    "int": Type.INTEGER,
    "float": Type.NUMBER,
    "double": Type.NUMBER,
    "str": Type.TEXT,
    "string": Type.TEXT,
    "timestamp": Type.DATETIME,
    "timestamptz": Type.DATETIME,
}


class Expression(Compound):
    """A feature written as a condition; made by `parse_feature`.

    `tree` is its canonical syntax tree (tellapart.features.tree), `str` its canonical text.
    """

    __slots__ = ("_hash", "_read", "_schema", "_text", "tree")

    def __init__(self, root: Node) -> None:
        self.tree = root
        self._text = text(root)
        self._hash = hash((Expression, self._text))
        self._read: Read | None = None
        self._schema: dict[str, str] | None = None

    def truth(self, item: Item, holds: Holds) -> bool:
        return self.value(item) is True

    def value(self, item: Item) -> bool | None:
        """True, False, or None where it is unknown.

        >>> large = parse_feature("legs > 3", {"legs": "integer"})
        >>> large.value({"legs": 4}), large.value({"legs": 2}), large.value({"legs": None})
        (True, False, None)
        """
        if self._read is None:
            self._read = reader(self.tree)
        found: bool | None = self._read(item)
        return found

    @property
    def schema(self) -> dict[str, str]:
        """The columns it reads, and the type of each."""
        if self._schema is None:
            named = {column.name: column.type.value for column in columns(self.tree)}
            self._schema = dict(sorted(named.items()))
        return self._schema

    def to_polars(self, *, clean: bool = False) -> pl.Expr:
        """A Polars expression that is true where this feature holds, false or null elsewhere.

        `clean` promises that the frame has the very types of `schema` and no NaN or infinity in
        it, as the frame of a `Table`; otherwise columns are cast and checked on the way.
        """
        from tellapart.features.to_polars import translate

        return translate(self.tree, clean=clean)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.tree == other.tree

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"parse_feature({self._text!r}, {self.schema})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Expression, (self.tree,)


def parse_feature(text: str, schema: Mapping[str, Any]) -> Expression:
    """The feature that `text` says, over the columns of `schema`.

    Parameters
    ----------
    text : str
        A condition in SQL, such as `legs >= 4 AND NOT aquatic`, or in plain words, such as
        `legs is at least 4 and not aquatic`.
    schema : mapping from column to type
        bool, integer, number, text, date or datetime; or a Polars schema.

    Examples
    --------
    >>> schema = {"legs": "integer", "aquatic": "bool", "name": "text"}
    >>> feature = parse_feature("NOT aquatic AND 4 <= legs", schema)
    >>> str(feature), feature({"legs": 4, "aquatic": False}), feature({"legs": 4})
    ('NOT aquatic AND legs >= 4', True, False)
    >>> feature == parse_feature("legs >= 4.0 AND NOT (aquatic)", schema)
    True
    >>> parse_feature("leg = 4", schema)
    Traceback (most recent call last):
    ...
    tellapart.errors.FeatureError: unknown column 'leg'. Did you mean: legs = 4
      leg = 4
      ^^^
    """
    kinds = types(schema)
    try:
        made = grammar.parse(text, kinds)
    except FeatureError as error:
        if not isinstance(text, str) or _SQL.search(re.sub('"[^"]*"', "", text)):
            raise  # of SQL, all that is allowed is the better help
        plain = plain_words.read(text, kinds)
        if plain is None:
            raise _with_nearest(error, text, kinds) from None
        return _clear(text, Expression(plain), _THOUSANDS, _COMMA)
    return _clear(text, Expression(made), _THOUSANDS)


_QUOTED = r"""'[^']*'|"[^"]*"|“[^”]*”"""
_THOUSANDS = re.compile(r"(?<![\w.,'])[1-9]\d{0,2}\.\d\d0(?![\w.,'])")
_COMMA = re.compile(r"(?<![\w.,'(])\d+,\d{1,2}(?![\w.,')])")


def _clear(text: str, made: Expression, *numbers: re.Pattern[str]) -> Expression:
    """Raise if a number is written so that people read it in two ways."""
    if not any(Type(kind).numeric for kind in made.schema.values()):
        return made
    bare = re.sub(_QUOTED, lambda found: "'" * len(found[0]), text)
    for pattern in numbers:
        for found in pattern.finditer(bare):
            first, second = re.split("[.,]", found[0])
            ways = (f"{first}.{second}", f"{first} or {second}")
            if "." in found[0]:
                ways = (f"{float(found[0]):g}", first + second)
            what = f"{found[0]} can be read as {ways[0]} and as {ways[1]}"
            refuse(text, what, *found.span(), "Write the one you mean")
    return made


def _with_nearest(error: FeatureError, text: str, kinds: Mapping[str, Type]) -> FeatureError:
    """The error with the nearest valid form in place of all that is allowed."""
    first, *shown = str(error).splitlines()
    what, _, advice = first.partition(". ")
    if not advice.startswith(("Allowed", "They must", "Columns", "Did you mean")):
        return error
    made = near_misses.nearest(text, kinds)
    if made is None:
        return error
    from tellapart.features.phrasing import spoken

    said = f"{what}. Did you mean: {spoken(Expression(made))}"
    return FeatureError("\n".join([said, *shown]), spot=error.spot)


def types(schema: Mapping[str, Any]) -> dict[str, Type]:
    """The types of a schema: names, our own types, or Polars data types.

    A column of a kind that features cannot read (lists, binary) is left out.
    """
    if not isinstance(schema, Mapping):
        raise FeatureError(
            f"a schema is a mapping from column to type, got {type(schema).__name__}. For instance"
            " {'legs': 'integer', 'name': 'text'}, or the schema of a Polars frame"
        )
    found = {name: _type(name, given) for name, given in schema.items()}
    return {name: kind for name, kind in found.items() if kind is not None}


def zoned(schema: Mapping[str, Any]) -> frozenset[str]:
    """The columns of a schema whose times have a zone: "timestamptz", or so in Polars.

    >>> sorted(zoned({"at": "timestamptz", "sold": "timestamp", "legs": "integer"}))
    ['at']
    """
    return frozenset(
        name
        for name, given in schema.items()
        if getattr(given, "time_zone", None)
        or (isinstance(given, str) and given.lower() == "timestamptz")
    )


def _type(name: str, given: Any) -> Type | None:
    if isinstance(given, Type):
        return given
    if isinstance(given, str) and given.lower() in _NAMES:
        return _NAMES[given.lower()]
    if type(given).__module__.startswith("polars.") or (
        isinstance(given, type) and given.__module__.startswith("polars.")
    ):
        from tellapart.features.to_polars import from_dtype

        return from_dtype(given)
    raise FeatureError(
        f"column {name!r} has the type {given!r}; types are"
        f" {', '.join(kind.value for kind in Type)}, or those of Polars"
    )


def _from_json(value: Any) -> Expression:
    condition, schema = value
    try:
        kinds = types(schema)
        return _parse_written(condition, tuple(kinds.items()))
    except FeatureError as error:
        raise FormatError(f"a feature that cannot be read back: {error}") from error


@lru_cache(4096)  # a learner writes the same ones many times
def _parse_written(condition: str, schema: tuple[tuple[str, Type], ...]) -> Expression:
    return Expression(grammar.parse(condition, dict(schema), slack=2))


codec.register(Expression, "$sql", lambda f: [str(f), f.schema], lambda v, c: _from_json(v))


# -- evaluation on one item; `to_polars` does the same for whole columns


def reader(node: Node) -> Read:
    """A function from an item to the value of `node` on it."""
    match node:
        case tree.Column():
            return _column(node.name, node.type)
        case Value():
            value = node.value
            return lambda item: value
        case tree.Arithmetic():
            return _arithmetic(tree.OPERATORS[node.op], _number(node.left), _number(node.right))
        case tree.Call():
            return _call(node)
        case tree.Compare():
            return _compare(node)
        case tree.Like():
            return _opposite(_like(reader(node.operand), node.pattern, node.fold), node.negated)
        case tree.In():
            return _in(node)
        case tree.IsNull():
            operand, wanted = reader(node.operand), not node.negated
            return lambda item: (operand(item) is None) is wanted
        case tree.IsTrue():
            operand, wanted = reader(node.operand), not node.negated
            return lambda item: (operand(item) is True) is wanted
        case tree.Not():
            return _opposite(reader(node.operand), True)
        case tree.And():
            return _all(tuple(map(reader, node.parts)), deciding=False)
        case tree.Or():
            return _all(tuple(map(reader, node.parts)), deciding=True)
        case tree.Points():
            return _points(node)


def _column(name: str, kind: Type) -> Read:
    clean = CLEAN[kind]

    def read(item: Any) -> Any:
        if isinstance(item, Mapping):
            value = item.get(name)
        elif isinstance(item, Set) and kind is Type.BOOL:
            return name in item
        else:
            raise FeatureError(
                f"cannot read column {name!r} of {item!r} ({type(item).__name__}): give items as"
                " mappings from column to value"
            )
        if value is None:
            return None
        try:
            return clean(value)
        except (TypeError, ValueError, OverflowError):
            raise FeatureError(
                f"column {name!r} should hold {kind.value}, but the item has {value!r}"
                f" ({type(value).__name__})"
            ) from None

    return read


def _bool(value: Any) -> bool:
    if isinstance(value, str) or value not in (0, 1):
        raise TypeError
    return bool(value)


def _whole(value: Any) -> int | None:
    if type(value) is int and -(2**63) <= value < 2**63:
        return value
    if isinstance(value, str | bool):
        raise TypeError
    if math.isnan(value):
        return None
    if value != int(value) or not -(2**63) <= value < 2**63:
        raise ValueError
    return int(value)


def _double(value: Any) -> float | None:
    if isinstance(value, str | bool):
        raise TypeError
    value = float(value)
    return value if math.isfinite(value) else None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _date(value: Any) -> date:
    if isinstance(value, datetime) or not isinstance(value, date):
        raise TypeError
    return value


def _datetime(value: Any) -> datetime:
    if not isinstance(value, datetime):
        return datetime.combine(_date(value), time())
    return value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)


CLEAN: dict[Type, Callable[[Any], Any]] = {
    Type.BOOL: _bool,
    Type.INTEGER: _whole,
    Type.NUMBER: _double,
    Type.TEXT: _text,
    Type.DATE: _date,
    Type.DATETIME: _datetime,
}
"""How a value of a column is read; the Python export copies these functions."""


def _as(node: Node, kind: Type) -> Read:
    """The value of `node` where a double or a datetime is wanted."""
    change: Callable[[Any], Any]
    if kind is Type.NUMBER and node.type is Type.INTEGER:
        change = float
    elif kind is Type.DATETIME and node.type is Type.DATE:
        change = _datetime
    else:
        return reader(node)
    if isinstance(node, Value):
        changed = change(node.value)
        return lambda item: changed
    read = reader(node)

    def changing(item: Any) -> Any:
        value = read(item)
        return None if value is None else change(value)

    return changing


def _number(node: Node) -> Read:
    return _as(node, Type.NUMBER)


def wider(*kinds: Type) -> Type:
    """The type in which values of `kinds` meet."""
    for kind in (Type.NUMBER, Type.DATETIME):
        if kind in kinds:
            return kind
    return kinds[0]


def _arithmetic(compute: Callable[[Any, Any], Any], left: Read, right: Read) -> Read:
    def read(item: Any) -> float | None:
        a = left(item)
        b = right(item)
        if a is None or b is None:
            return None
        try:
            result = compute(a, b)
        except ZeroDivisionError:
            return None
        return result if math.isfinite(result) else None

    return read


def _compare(node: tree.Compare) -> Read:
    kind = wider(node.left.type, node.right.type)
    compute, left = tree.OPERATORS[node.op], _as(node.left, kind)
    if isinstance(node.right, Value):
        constant = _as(node.right, kind)(None)

        def read_constant(item: Any) -> bool | None:
            a = left(item)
            return None if a is None else compute(a, constant)

        return read_constant
    right = _as(node.right, kind)

    def read(item: Any) -> bool | None:
        a = left(item)
        b = right(item)
        return None if a is None or b is None else compute(a, b)

    return read


def _in(node: tree.In) -> Read:
    kind = wider(node.operand.type, *(value.type for value in node.values))
    operand = _as(node.operand, kind)
    values = frozenset(_as(value, kind)(None) for value in node.values)
    wanted = not node.negated

    def read(item: Any) -> bool | None:
        value = operand(item)
        return None if value is None else (value in values) is wanted

    return read


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
    return f"\\{letter}" if letter in r"\.+*?()|[]{}^$#&-~" else letter


def _like(operand: Read, pattern: Pattern, fold: bool) -> Read:
    test = _matcher(pattern, fold)

    def read(item: Any) -> bool | None:
        text = operand(item)
        return None if text is None else bool(test(text))

    return read


def _matcher(pattern: Pattern, fold: bool) -> Callable[[str], object]:
    match pattern:  # the common shapes need no regular expression
        case (Wild.ANY, str(part), Wild.ANY) if not fold:
            return lambda text: part in text
        case (str(part), Wild.ANY) if not fold:
            return lambda text: text.startswith(part)
        case (Wild.ANY, str(part)) if not fold:
            return lambda text: text.endswith(part)
    return re.compile(regex(pattern, fold), re.DOTALL).fullmatch


def _call(node: tree.Call) -> Read:
    if node.name == "coalesce":
        parts = tuple(_as(part, node.type) for part in node.args)

        def first_known(item: Any) -> Any:
            return next((v for v in (part(item) for part in parts) if v is not None), None)

        return first_known
    numeric = node.name in ("abs", "negative")
    operand = _number(node.args[0]) if numeric else reader(node.args[0])
    function = _FUNCTIONS[node.name]

    def read(item: Any) -> Any:
        value = operand(item)
        return None if value is None else function(value)

    return read


_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "abs": abs,
    "negative": operator.neg,
    "lower": letter_case.lower,
    "upper": letter_case.upper,
    "trim": lambda text: text.strip(" "),
    "length": len,
    "year": operator.attrgetter("year"),
    "month": operator.attrgetter("month"),
    "day": operator.attrgetter("day"),
    "weekday": operator.methodcaller("isoweekday"),
}


def _opposite(read: Read, negated: bool) -> Read:
    if not negated:
        return read

    def opposite(item: Any) -> bool | None:
        value: bool | None = read(item)
        return None if value is None else not value

    return opposite


def _points(node: tree.Points) -> Read:
    terms = tuple((reader(condition), weight) for condition, weight in node.terms)
    at_least, wanted = node.at_least, not node.negated

    def read(item: Any) -> bool:
        points = sum(weight for condition, weight in terms if condition(item) is True)
        return (points >= at_least) is wanted

    return read


def _all(parts: tuple[Read, ...], *, deciding: bool) -> Read:
    """And (decided by a False) and Or (decided by a True)."""

    def read(item: Any) -> bool | None:
        unknown = False
        for part in parts:
            value: bool | None = part(item)
            if value is deciding:
                return deciding
            unknown = unknown or value is None
        return None if unknown else not deciding

    return read
