"""`tellapart import`: rules that are written in SQL, as a model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tellapart.cli.options import column_types
from tellapart.errors import FormatError, ParameterError


def import_rules(
    rules: Annotated[str, Parameter(allow_leading_hyphen=True)],
    *,
    output: Annotated[Path, Parameter(alias="-o")],
    dialect: str = "duckdb",
    table: Path | None = None,
    type: Annotated[list[str] | None, Parameter(consume_multiple=False)] = None,
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
    from tellapart.export import from_sql, save_model, to_text
    from tellapart.features import Expression
    from tellapart.tables import read_table

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
