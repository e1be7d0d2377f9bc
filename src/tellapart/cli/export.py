"""`tellapart export`: a model in the language of somebody else."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from tellapart.errors import ParameterError

Dialect = Literal["duckdb", "sqlite", "postgres", "spark", "bigquery", "snowflake"]


def export(
    model: Path,
    *,
    to: Literal["sql", "json", "python", "text", "dot", "svg"],
    dialect: Dialect = "duckdb",
    value: Literal["label", "clause", "example", "types"] = "label",
    type: Annotated[list[str] | None, Parameter(consume_multiple=False)] = None,
    clean: bool = False,
    simplify: bool = False,
    unsure: Literal["label", "null"] = "label",
    error: float = 0.05,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
) -> None:
    """Write a model as SQL, Python, sentences or a picture.

    SQL is one CASE expression that gives every row of a table the label that the
    model gives it, whatever the engine. Python is a function that needs no package.

    Examples:

        tellapart export zoo.json --to sql --dialect postgres
        tellapart export zoo.json --to svg -o zoo.svg

    Parameters
    ----------
    model
        The model file, as save_model writes it.
    to
        The language to write.
    dialect
        Whose SQL.
    value
        What the SQL gives: the label, the number of the clause that fired (the
        numbers of '--to text'), the example it shows; or, for SQLite, whether the cells
        have the types that the features state.
    type
        For SQL, what a plain column holds that a feature only names, as
        COLUMN=TYPE: bool (if not given), integer, number, text, date or datetime; or
        timestamptz for a column of times with a zone. Again for more columns.
    clean
        For SQL, promise that no number in the table is NaN or infinite: it becomes
        shorter.
    simplify
        Leave out clauses and conditions that change no label of any row.
    unsure
        What a rule gives whose error may be above --error, by its record: its label all
        the same, or nothing (null). 'tellapart session model --records' writes a
        model with records.
    error
        The largest error of a rule that is sure.
    output
        Write to this file instead of the screen.
    """
    from tellapart.export import WRITERS, load_model, to_sql
    from tellapart.export.files import write_whole

    read = load_model(model)
    if unsure == "null":
        read = read.abstain(error)
    if simplify:
        from tellapart.simplification import simplify as shorter

        read = shorter(read)
    if to == "sql":
        schema = dict(_pair(text) for text in type or ())
        made = to_sql(read, dialect, value=value, schema=schema, clean=clean)
    else:
        made = read.to_json() if to == "json" else WRITERS[to](read)
    made = made.rstrip("\n") + "\n"
    if output is None:
        sys.stdout.write(made)
    else:
        write_whole(output, made.encode())


def _pair(text: str) -> tuple[str, str]:
    column, equals, kind = text.rpartition("=")
    if not equals or not column:
        raise ParameterError(f"--type takes COLUMN=TYPE, such as legs=integer, got {text!r}")
    return column, kind
