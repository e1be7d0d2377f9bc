"""A model as one SQL expression that means the same on every engine."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tellapart.errors import ExportError, ParameterError
from tellapart.export import feature_trees
from tellapart.export.text import example_text, reachable
from tellapart.features.expression import zoned
from tellapart.model import Clause, DecisionList
from tellapart.protocol import Label

if TYPE_CHECKING:
    from tellapart.export.lowering import Lowering

Dialect: TypeAlias = Literal[
    "duckdb", "sqlite", "postgres", "spark", "bigquery", "snowflake", "clickhouse", "mysql",
    "databricks", "redshift", "trino", "tsql",
]  # fmt: skip
Wanted: TypeAlias = Literal["label", "clause", "example", "types"]


def to_sql(
    model: DecisionList,
    dialect: Dialect = "duckdb",
    *,
    value: Wanted = "label",
    schema: Mapping[str, Any] | None = None,
    clean: bool = False,
    unsure: Literal["label", "null"] = "label",
    error: float = 0.05,
) -> str:
    """The model as a CASE expression over the columns of a table.

    Every row gets the label that `model.predict` gives it, on every engine; what cannot be said so
    that they agree is refused with an `ExportError`. NaN and infinity count as unknown, as in a
    `Table`.

    Parameters
    ----------
    model : DecisionList
    dialect : str, default="duckdb"
        One of `export.sql.Dialect`.
    value : {"label", "clause", "example", "types"}, default="label"
        What the expression gives: the label; the number of the clause that fired, from 1 on, the
        default last; the example it shows, as text; or, for SQLite, where a column of numbers may
        hold texts, whether the cells that the model reads have the types that its features state.
    schema : mapping from column to type, default={}
        For features that are plain column names: whether such a column holds truths (the default),
        numbers, texts or dates. A Polars schema works too. A column of times with a zone
        ("timestamptz") is converted to UTC.
    clean : bool, default=False
        Promise that no number in the table is NaN or infinite: the SQL becomes shorter.
    unsure : {"label", "null"}, default="label"
        What a clause gives whose error may be above `error`, by its record: its label all the same,
        or NULL (`DecisionList.abstain`).
    error : float, default=0.05

    Examples
    --------
    >>> import tellapart as ta
    >>> walks = ta.parse_feature("legs >= 4", {"legs": "integer"})
    >>> model = DecisionList(
    ...     (Clause((ta.Literal("milk"), ta.Literal(walks, False)), "whale"),
    ...      Clause((ta.Literal("milk"),), "bear")),
    ...     default=Clause((), "duck"))
    >>> print(to_sql(model))
    CASE
      WHEN milk AND (legs >= 4) IS NOT TRUE THEN 'whale'
      WHEN milk THEN 'bear'
      ELSE 'duck'
    END
    """
    from tellapart.export.dialects import lowering

    if unsure not in ("label", "null"):
        raise ParameterError(f"to_sql: unsure must be label or null, got {unsure!r}")
    model = model.abstain(error) if unsure == "null" else model
    language = lowering(dialect)
    feature_trees.check_reading(model)
    types = feature_trees.types_of(model, schema or {})
    made = partial(language, clean=clean, zoned=zoned(schema or {}))
    clauses = reachable(model)
    if value == "types":
        return _types(clauses, types, made())
    values = _values(clauses, value, language())
    *branches, last = zip(clauses, values, strict=True)
    if not branches:
        return last[1]
    lines = [f"  WHEN {_condition(c, types, made)} THEN {then}" for c, then in branches]
    return "\n".join(["CASE", *lines, f"  ELSE {last[1]}", "END"])


def _condition(clause: Clause, types: feature_trees.Types, language: Callable[[], Lowering]) -> str:
    from sqlglot import exp

    parts, made = [], language()
    for literal in clause.literals:
        try:
            parts.append(language().condition(feature_trees.literal_tree(literal, types)))
        except ExportError as error:
            raise ExportError(f"cannot write {str(literal)!r} for {made.name}: {error}") from None
    return made.sql(made.chain(exp.And, parts))


def _types(clauses: Sequence[Clause], types: feature_trees.Types, language: Lowering) -> str:
    """Whether the cells that the clauses read have the types that are stated."""
    from sqlglot import exp

    from tellapart.export.dialects import SQLite
    from tellapart.export.sql_nodes import identifier
    from tellapart.features.tree import columns

    if not isinstance(language, SQLite):
        raise ExportError(
            f"{language.name} checks the types of columns itself; only SQLite does not"
        )
    read = {
        column.name: column.type
        for clause in clauses
        for literal in clause.literals
        for column in columns(feature_trees.literal_tree(literal, types))
    }
    parts = [
        language.has_type(exp.Column(this=identifier(name)), kind)
        for name, kind in sorted(read.items())
    ]
    return language.sql(language.chain(exp.And, parts) if parts else language.truth(True))


def _values(clauses: Sequence[Clause], wanted: str, language: Lowering) -> list[str]:
    """What each clause gives, as literals of one type."""
    from tellapart.export.sql_nodes import string

    if wanted == "clause":
        return [str(number) for number in range(1, len(clauses) + 1)]
    if wanted == "example":
        texts = [example_text(clause.example) for clause in clauses]
        return ["NULL" if text is None else language.sql(string(text)) for text in texts]
    if wanted != "label":
        raise ParameterError(
            f"to_sql: value must be label, clause or example, or types for SQLite, got {wanted!r}"
        )
    return label_values(clauses, language)


def label_values(clauses: Sequence[Clause], language: Lowering) -> list[str]:
    """The label of each clause, as literals of one type."""
    from tellapart.export.sql_nodes import string, whole

    labels: list[Any] = [clause.label for clause in clauses]
    write: dict[type, Callable[[Any], str]] = {
        bool: lambda label: language.sql(language.truth(label)),
        str: lambda label: language.sql(string(label)),
        int: lambda label: language.sql(whole(label)),
        float: lambda label: language.sql(language.typed(float(label))),
    }
    say = write[label_kind(labels)]
    return ["NULL" if label is None else say(label) for label in labels]


def label_kind(labels: Sequence[Label]) -> type:
    """The one type of all labels: str, bool, int or float."""
    known: list[Any] = [label for label in labels if label is not None]
    kinds = {type(label) for label in known}
    if kinds <= {str} or kinds == {bool}:
        return str if kinds <= {str} else bool
    if kinds == {int} and all(-(2**63) <= label < 2**63 for label in known):
        return int
    if kinds <= {int, float} and all(math.isfinite(n) and float(n) == n for n in known):
        return float
    shown = ", ".join(sorted({repr(label) for label in known})[:5])
    raise ExportError(
        "labels must be all texts, all truths or all numbers of 64 bits to stand in one column,"
        f" got {shown}"
    )
