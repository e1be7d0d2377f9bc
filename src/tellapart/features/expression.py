"""Features as SQL conditions over the columns of a table.

`parse_feature` parses a text into an `Expression`: a feature that is callable on an item, hashable,
and equal to every expression of the same canonical form. It holds where its condition is true, not
where it is unknown. docs/features.md has the grammar and what every operator means.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tellapart import codec
from tellapart.errors import FeatureError, FormatError
from tellapart.features import canonical, grammar, plain_words
from tellapart.features.evaluate import reader
from tellapart.features.grammar import refuse
from tellapart.features.read_rules import Read
from tellapart.features.tree import Compare, Node, Points, Type, columns, text
from tellapart.model import Compound, Holds
from tellapart.protocol import Item

if TYPE_CHECKING:
    import polars as pl

_SQL = re.compile(
    r"\b(?:NULL|I?LIKE|IN|ESCAPE|CASE|CAST|SELECT|BETWEEN|DATE|TIMESTAMP|IS)\b|\w\(|;|--|/\*"
)
"""What nobody writes in plain words."""

_NOT_NULL = " not null"
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
    def opposite(self) -> Expression | None:
        """Of a comparison that asks what is greater, the opposite one.

        >>> str(parse_feature("legs >= 4", {"legs": "integer"}).opposite)
        'legs < 4'
        """
        if isinstance(self.tree, Compare) and self.tree.op not in ("=", "<>"):
            return Expression(canonical.negate(self.tree))
        return None

    @property
    def schema(self) -> dict[str, str]:
        """The columns it reads, and the type of each."""
        if self._schema is None:
            named = {column.name: column.type.value for column in columns(self.tree)}
            self._schema = dict(sorted(named.items()))
        return self._schema

    @property
    def terms(self) -> tuple[tuple[Expression, int], ...]:
        """What it counts, each with its weight, if it counts points; else nothing.

        >>> [str(part) for part, _ in parse_feature("a + b >= 1", {"a": "bool", "b": "bool"}).terms]
        ['a', 'b']
        """
        counted = self.tree.terms if isinstance(self.tree, Points) else ()
        return tuple((Expression(part), weight) for part, weight in counted)

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
        plain = _written(plain_words.rewritten(text, kinds), kinds)
        if plain is None:
            raise _with_nearest(error, text, kinds) from None
        return _clear(text, plain, _THOUSANDS, _COMMA)
    return _clear(text, Expression(made), _THOUSANDS)


def _written(condition: str | None, kinds: Mapping[str, Type]) -> Expression | None:
    """What `plain_words` made of a text, if it is a condition."""
    if condition is None:
        return None
    try:
        return Expression(grammar.parse(condition, kinds, slack=2))
    except FeatureError:
        return None


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
    made = _written(plain_words.nearest(text, kinds), kinds)
    if made is None:
        return error
    from tellapart.features.phrasing import spoken

    said = f"{what}. Did you mean: {spoken(made)}"
    return FeatureError("\n".join([said, *shown]), spot=error.spot, meant=str(made))


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
        or (isinstance(given, str) and given.lower().startswith("timestamptz"))
    )


def filled(schema: Mapping[str, Any]) -> frozenset[str]:
    """The columns of a schema that are never unknown: "integer not null".

    >>> sorted(filled({"legs": "integer not null", "milk": "bool"}))
    ['legs']
    """
    return frozenset(
        name
        for name, given in schema.items()
        if isinstance(given, str) and given.lower().endswith(_NOT_NULL)
    )


def _type(name: str, given: Any) -> Type | None:
    if isinstance(given, Type):
        return given
    if isinstance(given, str) and given.lower().removesuffix(_NOT_NULL) in _NAMES:
        return _NAMES[given.lower().removesuffix(_NOT_NULL)]
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
