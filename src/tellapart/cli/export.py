"""`tellapart export` and `tellapart import`: a model in the language of somebody else, and back."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from cyclopts import Parameter

from tellapart.cli.open_session import database, load_rules, taught
from tellapart.cli.options import Again, column_types
from tellapart.errors import ExportError, FormatError, ParameterError
from tellapart.export import from_sql, load_model, save_model, to_dbt, to_text, write_model
from tellapart.export.feature_trees import columns_of
from tellapart.export.languages import Language
from tellapart.export.model_files import write_whole
from tellapart.export.sql import Dialect
from tellapart.export.view import labels_of, table_names
from tellapart.features import Expression
from tellapart.model import DecisionList
from tellapart.sessions import Session
from tellapart.sessions.replies import Answered
from tellapart.sessions.rules import rule_changes
from tellapart.simplification import simplify
from tellapart.tables import read_table

To: TypeAlias = Literal[Language, "dbt"]


def export(
    model: str,
    /,
    *,
    to: To,
    dialect: Dialect = "duckdb",
    db: str | None = None,
    table: str | None = None,
    keep: Again = None,
    name: str | None = None,
    diff: Path | None = None,
    type: Again = None,
    unsure: Literal["label", "null"] = "label",
    error: float = 0.05,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
) -> None:
    """Write a model as SQL, a program, sentences or a picture.

    SQL gives every row of a table the label that the model gives it, whatever the
    engine: as one CASE expression (sql), as a SELECT that also says which rule it was and
    why (select), as a view of it, or as the files of a dbt model. Python and JavaScript are
    functions of a row that need no package; JSON rules are for a program of your own.

    Examples:

        tellapart export bank.csv --to sql --dialect postgres
        tellapart export zoo.json --to view --table animals --keep id
        tellapart export zoo --db zoo.csv.sessions.db --to dbt --table animals --keep id -o shop

    Parameters
    ----------
    model
        A model file, as save_model writes it, or a table that was taught; with --db, the name of a
        session.
    to
        The language to write.
    dialect
        Whose SQL.
    db
        The database of a session. Then comments say who taught it, when, and what the error is.
    table
        The table that a SELECT or a view reads, such as animals or zoo.animals.
    keep
        A column of the table to give as well. Again for more.
    name
        What to call the view or the dbt model; by default TABLE_labels, beside the table.
    diff
        An older model file: with --to text, say which rules changed since, and because of what.
    type
        COLUMN=TYPE of a plain column: bool (if not given), integer, number, text, date, datetime or
        timestamptz; "not null" behind it says that it is never unknown. Again for more columns.
    unsure
        What a rule gives whose error may be above --error, by its record: its label, or null.
    error
        The largest error of a rule that is sure.
    output
        Write to this file instead of the screen; for dbt, the folder of the project.
    """
    found = taught(model) if db is None else (db, model)
    made_of = _Taught(load_rules(model)) if found is None else _of_session(*found)
    read = made_of.model.abstain(error) if unsure == "null" else made_of.model
    if diff is not None:
        if to != "text":
            raise ParameterError(f"--diff is written as text: give --to text, not --to {to}")
        return _give("\n".join(rule_changes(load_model(diff), read, made_of.answers)), output)
    if to != "json":  # that one is the model as it is
        read = simplify(read)
    schema = {**made_of.schema, **column_types("--type", type)}
    how: dict[str, Any] = {"table": table or "", "keep": keep or [], "schema": schema}
    how |= {"error": error, "about": made_of.about, "clean": made_of.clean}
    if to in ("select", "view", "dbt") and table is None:
        raise ParameterError(f"--to {to} needs the table that it reads: --table animals")
    if to == "dbt":
        return _write_dbt(output, read, dialect, name, how)
    made = write_model(read, to, dialect=dialect, name=name, meanings=made_of.meanings, **how)
    return _give(made, output)


def _give(made: str, output: Path | None) -> None:
    """Print a text, or write it to a file."""
    made = made.rstrip("\n") + "\n"
    if output is None:
        sys.stdout.write(made)
    else:
        write_whole(output, made.encode())


def _write_dbt(
    folder: Path | None,
    model: DecisionList,
    dialect: Dialect,
    name: str | None,
    how: dict[str, Any],
) -> None:
    """Write the files of a dbt model, and print their names."""
    if folder is None:
        raise ParameterError("--to dbt writes files: name the folder of the project with -o")
    called = name or table_names(labels_of(how["table"]))[-1]
    for path, text in to_dbt(model, dialect, name=called, **how).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_whole(folder / path, text.encode())
        print(folder / path)


class _Taught(NamedTuple):
    """A model, and what is known of where it comes from."""

    model: DecisionList
    schema: Mapping[str, str] = {}
    about: Sequence[str] = ()
    answers: Sequence[Answered] = ()
    clean: bool = False
    """Whether the columns that it reads are `Table.is_clean`."""
    meanings: Mapping[str, str] = {}


def _of_session(db: str | Path, name: str) -> _Taught:
    with database(str(db)) as store, Session.open(store, name, writes=False) as session:
        model, table = session.judged_model(), session.table
        clean = False
        with suppress(ExportError):  # what cannot be written is named later, where it is written
            clean = table.is_clean(columns_of(model))
        about, answers = session.about(), session.history()
        return _Taught(model, table.schema, about, answers, clean, session.meanings)


def import_rules(
    rules: Annotated[str, Parameter(allow_leading_hyphen=True)],
    /,
    *,
    output: Annotated[Path, Parameter(alias="-o")],
    dialect: str = "duckdb",
    table: Path | None = None,
    type: Again = None,
    column: str | None = None,
) -> None:
    """Read rules that are written in SQL, a CASE WHEN, as a model.

    The file has a CASE expression, or a SELECT or a view with one. Conditions are read as
    features (docs/features.md); what cannot be read is named with its place. The model can
    be exported again, used to predict, and taught: 'tellapart teach TABLE --rules MODEL'.

    Examples:

        tellapart import rules.sql -o rules.json
        tellapart import rules.sql -o rules.json --dialect snowflake --table animals.csv
        tellapart import - -o rules.json --type legs=integer < rules.sql

    Parameters
    ----------
    rules
        The file with the SQL; - for the standard input.
    output
        The model file to write.
    dialect
        Whose SQL: any dialect that sqlglot parses.
    table
        A table that has the columns, to know what they hold.
    type
        What a column holds, as COLUMN=TYPE: bool, integer, number, text, date or datetime.
        Otherwise the SQL tells: legs > 3 reads a number. Again for more columns.
    column
        The column that is the label, where a SELECT has several with a CASE.
    """
    try:
        text = sys.stdin.read() if rules == "-" else Path(rules).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{rules} is not UTF-8 ({error.reason}). Save it as UTF-8") from None
    schema = {} if table is None else dict(read_table(table).schema)
    schema |= column_types("--type", type)
    model = from_sql(text, dialect, schema=schema, column=column)
    read = {name for one in model.features if isinstance(one, Expression) for name in one.schema}
    if table is not None and (unknown := sorted(read - schema.keys())):
        raise ParameterError(
            f"{table} has no column {unknown[0]!r}, which the rules read. Columns:"
            f" {', '.join(schema)}"
        )
    save_model(model, output)
    print(to_text(model))
    print(f"Saved in {output}.", file=sys.stderr)
