"""A model as one SELECT over a table, or as a view: label, rule, because, like and is_sure of rows.

One part of the query has the number of the first rule that applies to each row, the other is the
list of rules as a table; they are joined by the number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import tellapart
from tellapart.errors import ParameterError
from tellapart.export.sql import Dialect, case_lines, comment, label_kind, label_values, stamped
from tellapart.export.text import Answer, answers, reachable
from tellapart.features.phrasing import counted
from tellapart.model import DecisionList

if TYPE_CHECKING:
    from tellapart.export.lowering import Lowering

OURS = Answer._fields
"""The columns of the SELECT, after those that are kept."""


def to_select(
    model: DecisionList,
    dialect: Dialect = "duckdb",
    *,
    table: str,
    keep: Sequence[str] = (),
    schema: Mapping[str, Any] | None = None,
    clean: bool = False,
    error: float = 0.05,
    about: Sequence[str] = (),
) -> str:
    """The model as one SELECT over a table.

    It gives every row the columns that are kept and then `label`, `rule` (the number of the clause
    that applied, from 1, as in `to_text`), `because` (its sentence), `like` (its example) and
    `is_sure`: whether the error of the clause is at most `error`, by its record; NULL for a model
    without records. Labels are those of `model.predict`, as in `to_sql`.

    Parameters
    ----------
    model : DecisionList
    dialect : str, default="duckdb"
    table : str
        What to read: a name, or several with dots between them (`zoo.animals`). A name with other
        signs stands in double quotes.
    keep : sequence of str
        Columns of the table to give as well.
    schema, clean
        As in `to_sql`.
    error : float, default=0.05
    about : sequence of str
        Lines of comment, such as `Session.about` writes: who taught the model, and what is known of
        its error.
    """
    language = _language(dialect)
    lines = query(model, dialect, _place(table, language), keep, schema or {}, clean, error)
    return head(model, table, error, about) + stamped(model, "\n".join(lines))


def to_view(
    model: DecisionList,
    dialect: Dialect = "duckdb",
    *,
    name: str,
    table: str,
    keep: Sequence[str] = (),
    schema: Mapping[str, Any] | None = None,
    clean: bool = False,
    error: float = 0.05,
    about: Sequence[str] = (),
) -> str:
    """The statement that makes, or replaces, a view of what `to_select` gives.

    >>> print(to_view(DecisionList(), "sqlite", name="labels", table="animals"))
    -- A label for every row of animals, by 1 rule.
    --   1. Nothing has been learnt yet.
    ...
    DROP VIEW IF EXISTS labels;
    CREATE VIEW labels AS
    SELECT
    ...
    """
    language = _language(dialect)
    create = language.create_view(_place(name, language, "name"))
    lines = query(model, dialect, _place(table, language), keep, schema or {}, clean, error)
    return head(model, table, error, about) + stamped(model, "\n".join([create, *lines]) + ";")


def head(model: DecisionList, table: str, error: float, about: Sequence[str]) -> str:
    """What stands before the SQL: the rules as sentences."""
    given = answers(model, error)
    lines = [
        f"A label for every row of {table}, by {counted(len(given), 'rule')}"
        + (": the first that applies wins." if given[1:] else "."),
        *(f"  {answer.rule}. {answer.because}" for answer in given),
        *about,
        f"Written by tellapart {tellapart.__version__}.",
    ]
    return "".join(f"{comment(line)}\n" for line in lines)


def query(
    model: DecisionList,
    dialect: Dialect,
    source: str,
    keep: Sequence[str],
    schema: Mapping[str, Any],
    clean: bool,
    error: float,
) -> list[str]:
    """The lines of the SELECT, from a table as SQL writes it."""
    from tellapart.export.sql_nodes import identifier

    if isinstance(keep, str):
        raise ParameterError(f"keep is a list of columns, got the text {keep!r}")
    if taken := [name for name in keep if name.lower() in OURS]:
        raise ParameterError(
            f"the SELECT has a column {taken[0]!r} of its own, so it cannot keep the table's."
            " Rename that column in a view, and read the view"
        )
    language = _language(dialect)
    kept = [language.sql(identifier(name)) for name in dict.fromkeys(keep)]
    case = case_lines(model, dialect, value="clause", schema=schema, clean=clean)
    rule = language.named("rule")
    case[-1] += f" AS {rule}"
    given = [*(f"matched.{name}" for name in kept), *(f"rules.{language.named(n)}" for n in OURS)]
    inner = [*(f"{name}," for name in kept), *case]
    return [
        "SELECT",
        *_indented([*(f"{name}," for name in given[:-1]), given[-1]]),
        "FROM (",
        *_indented(["SELECT", *_indented(inner), f"FROM {source}"]),
        ") AS matched",
        "JOIN (",
        *_indented(_rules(model, language, error)),
        f") AS rules ON rules.{rule} = matched.{rule}",
    ]


def _rules(model: DecisionList, language: Lowering, error: float) -> list[str]:
    """The list of rules as a table."""
    from tellapart.export.sql_nodes import string

    given, clauses = answers(model, error), reachable(model)
    cells: dict[str, list[str]] = {
        "rule": [str(one.rule) for one in given],
        "label": label_values(clauses, language),
        "like": ["NULL" if o.like is None else language.sql(string(o.like)) for o in given],
        "is_sure": [
            "NULL" if o.is_sure is None else language.sql(language.truth(o.is_sure)) for o in given
        ],
        "because": [language.sql(string(one.because)) for one in given],
    }
    kinds = {"like": str, "is_sure": bool, "label": label_kind([c.label for c in clauses])}
    for name, kind in kinds.items():
        if cells[name][0] == "NULL":  # the first row says which type a column has
            cells[name][0] = language.sql(language.unknown(kind))
    first, *rows = zip(*cells.values(), strict=True)
    named = [f"{cell} AS {language.named(name)}" for name, cell in zip(cells, first, strict=True)]
    more = [f"UNION ALL SELECT {', '.join(row)}" for row in rows]
    return ["SELECT", *_indented([*(f"{cell}," for cell in named[:-1]), named[-1]]), *more]


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _language(dialect: str) -> Lowering:
    from tellapart.export.dialects import lowering

    return lowering(dialect)()


def _place(table: str, language: Lowering, what: str = "table") -> str:
    """The name of a table or a view as SQL."""
    from tellapart.export.sql_nodes import identifier

    return ".".join(language.sql(identifier(part)) for part in table_names(table, what))


def labels_of(table: str) -> str:
    """What a view of a table's labels is called: it stands beside the table.

    >>> labels_of("animals"), labels_of('zoo."old.animals"')
    ('animals_labels', 'zoo."old.animals_labels"')
    """
    *places, last = table_names(table)
    parts = [*places, f"{last}_labels"]
    plain = re.compile(r'[^".]+')
    return ".".join(
        part if plain.fullmatch(part) else '"' + part.replace('"', '""') + '"' for part in parts
    )


def table_names(table: str, what: str = "table") -> list[str]:
    """The parts of a name with dots; in double quotes, a dot is a dot.

    >>> table_names('zoo."old.animals"')
    ['zoo', 'old.animals']
    """
    if not re.fullmatch(r'(?:"(?:[^"]|"")+"|[^".]+)(?:\.(?:"(?:[^"]|"")+"|[^".]+))*', table):
        raise ParameterError(
            f'{what} is a name such as animals, zoo.animals or zoo."old.animals", got {table!r}'
        )
    found = re.findall(r'"((?:[^"]|"")+)"|([^".]+)', table)
    return [quoted.replace('""', '"') or plain for quoted, plain in found]
