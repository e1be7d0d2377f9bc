"""Column names in SQL: bare where every engine takes them so, in quotes elsewhere."""

from __future__ import annotations

import re
from functools import cache

from sqlglot import Dialect, exp

from tellapart.errors import ExportError

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*", re.ASCII)
_MORE = {
    "account", "add", "connection", "gscluster", "increment", "issue", "nothing", "organization",
    "raise", "start", "transaction", "whenever",
}  # fmt: skip
"""Words that an engine keeps for itself and sqlglot's lists leave out."""


@cache
def _keywords() -> frozenset[str]:
    words = set(_MORE)
    for name in ("duckdb", "sqlite", "postgres", "spark", "bigquery", "snowflake"):
        dialect = Dialect.get_or_raise(name)
        words.update(word.lower() for word in dialect.tokenizer_class.KEYWORDS)
        words.update(dialect.generator_class.RESERVED_KEYWORDS)
    return frozenset(words)


def identifier(name: str) -> exp.Identifier:
    """The identifier of a column.

    >>> [identifier(name).sql("duckdb") for name in ("legs", "order", "unit price", 'a"b')]
    ['legs', '"order"', '"unit price"', '"a""b"']
    """
    if not name or "\0" in name or any("\ud800" <= letter <= "\udfff" for letter in name):
        raise ExportError(f"the column {name!r} has a name that SQL cannot hold; rename it")
    plain = _PLAIN.fullmatch(name) and name not in _keywords()
    return exp.Identifier(this=name, quoted=not plain)
