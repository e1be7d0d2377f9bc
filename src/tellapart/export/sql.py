"""A model as one SQL expression that means the same on every engine."""

from __future__ import annotations

import hashlib
import json
import math
import re
import textwrap
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tellapart import codec
from tellapart.errors import ExportError, FeatureError, FormatError, ParameterError
from tellapart.export import feature_trees
from tellapart.export.text import answers, example_text, reachable
from tellapart.features.expression import filled, zoned
from tellapart.model import Clause, DecisionList
from tellapart.protocol import Label

if TYPE_CHECKING:
    from sqlglot import exp

    from tellapart.export.lowering import Lowering

Dialect: TypeAlias = Literal[
    "duckdb", "sqlite", "postgres", "spark", "bigquery", "snowflake", "clickhouse", "mysql",
    "databricks", "redshift", "trino", "tsql",
]  # fmt: skip
Wanted: TypeAlias = Literal["label", "clause", "example"]

_WIDEST = 100
_STAMP = re.compile(
    r"^\s*-- The model, for tellapart import \(([0-9a-f]{12})\): (\{.*\})\s*$", re.MULTILINE
)


def to_sql(
    model: DecisionList,
    dialect: Dialect = "duckdb",
    *,
    value: Wanted = "label",
    schema: Mapping[str, Any] | None = None,
    clean: bool = False,
) -> str:
    """The model as a CASE expression over the columns of a table.

    Every row gets the label that `model.predict` gives it, on every engine; what cannot be said so
    that they agree is refused with an `ExportError`. NaN and infinity count as unknown, as in a
    `Table`. Behind it stands a line of comment with the model, for `from_sql`; it has a line end,
    so that SQL which goes on after it is none of the comment.

    Parameters
    ----------
    model : DecisionList
    dialect : str, default="duckdb"
        One of `export.sql.Dialect`.
    value : {"label", "clause", "example"}, default="label"
        What the expression gives: the label; the number of the clause that fired, from 1 on, the
        default last; or the example it shows, as text.
    schema : mapping from column to type, default={}
        For features that are plain column names: whether such a column holds truths (the default),
        numbers, texts or dates. A Polars schema works too. A column of times with a zone
        ("timestamptz") is converted to UTC. A column that is "integer not null" (or any other type
        with these words) is never unknown: the SQL becomes shorter.
    clean : bool, default=False
        Promise that the table has nothing that engines take in several ways (`Table.is_clean`):
        numbers that are NaN, infinite, beyond 1e75 or floats of 32 bits; texts with a Kelvin sign
        or a dotted capital I. The SQL becomes shorter, and a comment says what is assumed.

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
      -- IS NOT TRUE: false or NULL.
      -- It is: whale, if milk, unless legs >= 4.
      WHEN milk AND (legs >= 4) IS NOT TRUE THEN 'whale'
      -- It is: bear, if milk.
      WHEN milk THEN 'bear'
      ELSE 'duck'
    END
    -- The model, for tellapart import (...): {...}
    """
    lines = case_lines(model, dialect, value=value, schema=schema or {}, clean=clean)
    return stamped(model, "\n".join(lines)) if value == "label" else "\n".join(lines)


def case_lines(
    model: DecisionList,
    dialect: Dialect,
    *,
    value: Wanted,
    schema: Mapping[str, Any],
    clean: bool,
) -> list[str]:
    """The lines of the CASE; a line may have the end of a line in a text."""
    from tellapart.export.dialects import lowering

    types = feature_trees.types_of(model, schema)
    language = lowering(dialect)(clean=clean, zoned=zoned(schema), filled=filled(schema))
    clauses = reachable(model)
    *branches, last = zip(clauses, _values(clauses, value, language), answers(model), strict=True)
    if not branches:
        return [last[1]]
    lines = []
    for clause, then, answer in branches:
        if value == "label":
            lines += comment(answer.because).split("\n")
        first, *more = language.lines(_condition(clause, types, language))
        lines.append(f"WHEN {first}")
        lines += [f"  {line}" for line in more]
        if more:
            lines.append(f"THEN {then}")
        else:
            lines[-1] += f" THEN {then}"
    lines[:0] = [f"-- {note}" for note in language.notes]
    return ["CASE", *(f"  {line}" for line in lines), f"  ELSE {last[1]}", "END"]


def comment(text: str) -> str:
    """Lines of comment; signs that would end a line are spaces.

    >>> comment("two\\nlines")
    '-- two lines'
    """
    plain = "".join(" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text)
    deep = " " * (len(plain) - len(plain.lstrip()) + 3)
    return "\n".join(
        textwrap.wrap(
            plain, _WIDEST, initial_indent="-- ", subsequent_indent=f"--{deep}",
            break_long_words=False, break_on_hyphens=False,
        )
    )  # fmt: skip


# -- the line with the model


def stamped(model: DecisionList, sql: str) -> str:
    """SQL with a line of comment behind it, before its semicolon, that has the model, which
    `stamp_of` reads.

    An example that is no text is there by its name. A model that JSON cannot hold has no line.
    """
    try:
        data = codec.parse(_with_names(model).to_json())
    except FormatError:
        return sql
    line = json.dumps(data)  # only ASCII, and a space behind every colon
    line = re.sub("{(?=[{%#])", lambda _: "\\u007b", line)  # what looks like Jinja, in texts
    body = sql.removesuffix(";")
    end = sql[len(body) :]
    return f"{body}\n-- The model, for tellapart import ({_digest(sql)}): {line}\n{end}"


def stamp_of(sql: str) -> DecisionList | None:
    """The model of a `stamped` SQL; None if it has no such line."""
    *_, found = None, *_STAMP.finditer(sql)
    if found is None:
        return None
    if _digest(sql) != found[1]:
        raise FeatureError(
            "the SQL was changed after tellapart wrote it, so that its line `-- The model ...` no"
            " longer says what it does. Delete that line to read the SQL as it stands"
        )
    return DecisionList.from_json(found[2])


def _digest(sql: str) -> str:
    """The same for the same SQL, whatever its comments, and its spaces outside of texts."""
    plain = re.sub(r"^\s*--.*$", "", sql.replace("\r\n", "\n"), flags=re.MULTILINE)
    plain = re.sub(r"('[^']*')|\s+", r"\1", plain)
    return hashlib.sha256(plain.rstrip(";").encode()).hexdigest()[:12]


def _with_names(model: DecisionList) -> DecisionList:
    def named(clause: Clause) -> Clause:
        return replace(clause, example=example_text(clause.example))

    return replace(model, clauses=tuple(map(named, model.clauses)), default=named(model.default))


# -- conditions and values


def _condition(clause: Clause, types: feature_trees.Types, language: Lowering) -> exp.Expr:
    try:
        return language.all_of([feature_trees.literal_tree(one, types) for one in clause.literals])
    except ExportError as error:
        for literal in clause.literals:  # which is it?
            try:
                language.condition(feature_trees.literal_tree(literal, types))
            except ExportError as its:
                said = f"cannot write {str(literal)!r} for {language.name}: {its}"
                raise ExportError(said) from error
        raise


def _values(clauses: Sequence[Clause], wanted: str, language: Lowering) -> list[str]:
    """What each clause gives, as literals of one type."""
    from tellapart.export.sql_nodes import string

    if wanted == "clause":
        return [str(number) for number in range(1, len(clauses) + 1)]
    if wanted == "example":
        texts = [example_text(clause.example) for clause in clauses]
        return ["NULL" if text is None else language.sql(string(text)) for text in texts]
    if wanted != "label":
        raise ParameterError(f"to_sql: value must be label, clause or example, got {wanted!r}")
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
