"""Features as SQL conditions over the columns of a table.

`parse_feature` parses a text into an `Expression`: a feature that is callable on an item, hashable,
and equal to every expression of the same canonical form. It holds where its condition is true, not
where it is unknown. docs/features.md has the grammar and what every operator means.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tellapart import codec
from tellapart.errors import FeatureError, FormatError
from tellapart.features import evaluate, grammar
from tellapart.features.tree import Node, Type, columns, text
from tellapart.model import Compound, Holds
from tellapart.protocol import Item

if TYPE_CHECKING:
    import polars as pl

_NAMES = {
    **{kind.value: kind for kind in Type},
    "boolean": Type.BOOL,
    "int": Type.INTEGER,
    "float": Type.NUMBER,
    "double": Type.NUMBER,
    "str": Type.TEXT,
    "string": Type.TEXT,
    "timestamp": Type.DATETIME,
}


class Expression(Compound):
    """A feature written as a condition; made by `parse_feature`.

    `tree` is its canonical syntax tree (tellapart.features.tree), `str` its canonical text.
    """

    __slots__ = ("_hash", "_read", "_schema", "_text", "tree")

    def __init__(self, tree: Node) -> None:
        self.tree = tree
        self._text = text(tree)
        self._hash = hash((Expression, self._text))
        self._read: evaluate.Read | None = None
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
            self._read = evaluate.reader(self.tree)
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
        A condition in SQL, such as `legs >= 4 AND NOT aquatic`.
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
    tellapart.errors.FeatureError: unknown column 'leg'. Did you mean 'legs'? Columns: aquatic, ...
      leg = 4
      ^^^
    """
    return Expression(grammar.parse(text, types(schema)))


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


def _read(value: Any) -> Expression:
    condition, schema = value
    try:
        return Expression(grammar.parse(condition, types(schema), slack=2))
    except FeatureError as error:
        raise FormatError(f"a feature that cannot be read back: {error}") from error


codec.register(Expression, "$sql", lambda f: [str(f), f.schema], lambda v, c: _read(v))
