"""Small sqlglot nodes: column names, literals, casts, brackets, patterns."""

from __future__ import annotations

import re
from functools import cache

from sqlglot import Dialect, exp

from tellapart.errors import ExportError
from tellapart.features.tree import Pattern

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*", re.ASCII)
_MORE = {
    "account", "add", "connection", "gscluster", "increment", "issue", "nothing", "organization",
    "raise", "start", "transaction", "whenever",
}  # fmt: skip
"""Words that an engine keeps for itself and sqlglot's lists leave out."""


def figures(number: float) -> str:
    """A double in the fewest digits, with no exponent where none is needed."""
    whole_number = number == int(number) and number < 2**53
    return str(int(number)) if whole_number else repr(number).replace("e+", "e")


def whole(number: int) -> exp.Expr:
    made = exp.Literal.number(str(abs(number)))
    return exp.Neg(this=made) if number < 0 else made


def string(text: str) -> exp.Expr:
    """A text literal; what no engine can hold is refused."""
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ExportError(f"the text {text!r} has a character that SQL cannot hold")
    return exp.Literal.string(text)


def cast(operand: exp.Expr, to: exp.DType) -> exp.Expr:
    return exp.Cast(this=operand, to=exp.DataType.build(to))


def anonymous(name: str, *arguments: exp.Expr | str) -> exp.Expr:
    made = [string(part) if isinstance(part, str) else part for part in arguments]
    return exp.Anonymous(this=name, expressions=made)


def opposite(made: exp.Expr) -> exp.Expr:
    return exp.Not(this=wrap(made) if isinstance(made, exp.Connector) else made)


def wrap(made: exp.Expr) -> exp.Expr:
    """In brackets, unless it is one thing already."""
    loose = isinstance(made, exp.Binary | exp.Unary | exp.Predicate)
    return exp.Paren(this=made) if loose and not isinstance(made, exp.Paren) else made


def words(pattern: Pattern) -> str:
    """The characters of a pattern that stand for themselves."""
    return "".join(part for part in pattern if isinstance(part, str))


def identifier(name: str) -> exp.Identifier:
    """The identifier of a column.

    >>> [identifier(name).sql("duckdb") for name in ("legs", "order", "unit price", 'a"b')]
    ['legs', '"order"', '"unit price"', '"a""b"']
    """
    if not name or "\0" in name or any("\ud800" <= letter <= "\udfff" for letter in name):
        raise ExportError(f"the column {name!r} has a name that SQL cannot hold; rename it")
    plain = _PLAIN.fullmatch(name) and name not in _keywords()
    return exp.Identifier(this=name, quoted=not plain)


@cache
def _keywords() -> frozenset[str]:
    words = set(_MORE)
    for name in ("duckdb", "sqlite", "postgres", "spark", "bigquery", "snowflake"):
        dialect = Dialect.get_or_raise(name)
        words.update(word.lower() for word in dialect.tokenizer_class.KEYWORDS)
        words.update(dialect.generator_class.RESERVED_KEYWORDS)
    return frozenset(words)
