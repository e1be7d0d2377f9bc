"""`tellapart export`: a model in the language of somebody else."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias

from cyclopts import Parameter

from tellapart.cli.options import column_types
from tellapart.errors import ParameterError
from tellapart.export.sql import Dialect

if TYPE_CHECKING:
    from tellapart.model import DecisionList
    from tellapart.sessions.replies import Answered


Language: TypeAlias = Literal[
    "sql", "select", "view", "dbt", "json", "python", "polars", "pandas", "javascript",
    "json-rules", "text", "dot", "svg",
]  # fmt: skip


def export(
    model: str,
    *,
    to: Language,
    dialect: Dialect = "duckdb",
    db: str | None = None,
    table: str | None = None,
    keep: Annotated[list[str] | None, Parameter(consume_multiple=False)] = None,
    name: str | None = None,
    diff: Path | None = None,
    value: Literal["label", "clause", "example", "types"] = "label",
    type: Annotated[list[str] | None, Parameter(consume_multiple=False)] = None,
    clean: bool = False,
    simplify: bool = False,
    unsure: Literal["label", "null"] = "label",
    error: float = 0.05,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
) -> None:
    """Write a model as SQL, a program, sentences or a picture.

    SQL gives every row of a table the label that the model gives it, whatever the
    engine: as one CASE expression (sql), as a SELECT that also says which rule it was and
    why (select), as a view of it, or as the files of a dbt model. Python and JavaScript are
    functions of a row that need no package; Polars and pandas are functions of a frame; JSON
    rules are for a program of your own.

    Examples:

        tellapart export zoo.json --to sql --dialect postgres
        tellapart export zoo.json --to view --table animals --keep id
        tellapart export zoo --db zoo.csv.sessions.db --to dbt --table animals --keep id -o shop
        tellapart export zoo.json --to svg -o zoo.svg

    Parameters
    ----------
    model
        The model file, as save_model writes it; with --db, the name of a session.
    to
        The language to write.
    dialect
        Whose SQL.
    db
        The database of a session: a file, or the address of a PostgreSQL database. Then
        comments say who taught it, when, and what is known of the error.
    table
        The table that a SELECT or a view reads, such as animals or zoo.animals.
    keep
        A column of the table to give as well. Again for more.
    name
        What to call the view or the dbt model; by default TABLE_labels, beside the table.
    diff
        An older model file. Instead of the rules, say which of them changed; for a session,
        also because of which row, and who said so. With --to text.
    value
        What the SQL gives: the label, the number of the clause that fired (the
        numbers of '--to text'), the example it shows; or, for SQLite, whether the cells
        have the types that the features state.
    type
        What a plain column holds that a feature only names, as
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
        Write to this file instead of the screen; for dbt, the folder of the project.
    """
    from tellapart.export import PROGRAMS, WRITERS, load_model, to_python, to_sql
    from tellapart.export.model_files import write_whole

    taught = _Taught(load_model(model)) if db is None else _of_session(db, model)
    read = taught.model
    if unsure == "null":
        read = read.abstain(error)
    if simplify:
        from tellapart.simplification import simplify as shorter

        read = shorter(read)
    if diff is not None:
        from tellapart.sessions.rules import rule_changes

        if to != "text":
            raise ParameterError(f"--diff is written as text: give --to text, not --to {to}")
        made = "\n".join(rule_changes(load_model(diff), read, taught.answers))
        (sys.stdout.write(made + "\n") if output is None else write_whole(output, made.encode()))
        return
    schema = {**taught.schema, **column_types("--type", type)}
    if to == "sql":
        made = to_sql(read, dialect, value=value, schema=schema, clean=clean)
    elif to in ("select", "view", "dbt"):
        if table is None:
            raise ParameterError(f"--to {to} needs the table that it reads: --table animals")
        how: dict[str, Any] = {"table": table, "keep": keep or [], "schema": schema, "clean": clean}
        how |= {"error": error, "about": taught.about}
        if to == "dbt":
            _write_dbt(output, read, dialect, name, taught.rows, how)
            return
        made = _over_table(to, read, dialect, name, how)
    elif to == "python":
        made = to_python(read, about=taught.about)
    elif to in PROGRAMS:
        made = PROGRAMS[to](read, schema=schema, error=error, about=taught.about)
    else:
        made = read.to_json() if to == "json" else WRITERS[to](read)
    made = made.rstrip("\n") + "\n"
    if output is None:
        sys.stdout.write(made)
    else:
        write_whole(output, made.encode())


def _over_table(
    to: Language, model: DecisionList, dialect: Dialect, name: str | None, how: dict[str, Any]
) -> str:
    """A SELECT over a table, or a view of one."""
    from tellapart.export import to_select, to_view
    from tellapart.export.views import labels_of

    if to == "select":
        return to_select(model, dialect, **how)
    return to_view(model, dialect, name=name or labels_of(how["table"]), **how)


def _write_dbt(
    folder: Path | None,
    model: DecisionList,
    dialect: Dialect,
    name: str | None,
    rows: _Rows,
    how: dict[str, Any],
) -> None:
    """Write the files of a dbt model, and print their names."""
    from tellapart.export import to_dbt
    from tellapart.export.model_files import write_whole
    from tellapart.export.views import labels_of, table_names

    if folder is None:
        raise ParameterError("--to dbt writes files: name the folder of the project with -o")
    called = name or table_names(labels_of(how["table"]))[-1]
    for path, text in to_dbt(model, dialect, name=called, taught=rows, **how).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_whole(folder / path, text.encode())
        print(folder / path)


_Rows: TypeAlias = Sequence[tuple[str, Mapping[str, Any], str | None]]


class _Taught(NamedTuple):
    """A model, and what is known of where it comes from."""

    model: DecisionList
    schema: Mapping[str, str] = {}
    about: Sequence[str] = ()
    rows: _Rows = ()
    answers: Sequence[Answered] = ()


def _of_session(db: str, name: str) -> _Taught:
    from tellapart.sessions import Session, Store

    if "://" not in db and not Path(db).exists():
        raise ParameterError(f"there is no database {db}; a table's is called TABLE.sessions.db")
    with Store(db) as store, Session.open(store, name) as session:
        answers = session.history()
        items = {one.item.identity: one.item for one in answers if not one.undone}
        rows = [(str(item), item, session.label_of(item)) for item in items.values()]
        return _Taught(session.judged_model(), session.table.schema, session.about(), rows, answers)
