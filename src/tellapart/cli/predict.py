"""`tellapart predict`: label every row of a table."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from tellapart.cli.options import (
    Reading,
    Whole,
    local_path,
    say_finding,
    table_arguments,
    table_place,
)
from tellapart.errors import ParameterError


def predict(
    model: Path,
    table: str | None = None,
    *,
    output: Annotated[Path, Parameter(alias="-o")],
    engine: Literal["polars", "duckdb", "spark"] = "polars",
    keep: Annotated[list[str] | None, Parameter(consume_multiple=False)] = None,
    keep_all: bool = False,
    prefix: str = "",
    unsure: Literal["label", "null"] = "label",
    error: float = 0.05,
    reading: Reading | None = None,
    split: Whole | None = None,
    master: str | None = None,
    quiet: bool = False,
) -> None:
    """Label every row of a table.

    Writes the label, the number of the clause that fired and the example it shows,
    a row for each row of the table and in its order. The table may be larger than
    memory. After an error nothing is written.

    Examples:

        tellapart predict zoo.json animals.csv -o labels.csv
        tellapart predict zoo.json big.parquet -o out.parquet --engine duckdb --keep id

    Parameters
    ----------
    model
        The model file, as save_model writes it.
    table
        CSV, JSON, Parquet, Arrow or a spreadsheet, by its ending, perhaps compressed; a
        folder or a pattern such as '2024-*.csv'; - for standard input; an address; or a
        database for --query.
    output
        CSV, JSON lines or Parquet, by its ending.
    engine
        Who does the work. DuckDB and Spark run the SQL of 'tellapart export', and
        need the extra of that name.
    keep
        A column of the table to write as well. Again for more.
    keep_all
        Write all columns of the table as well.
    prefix
        Stands before the names label, clause and example in the output.
    unsure
        What a rule gives whose error may be above --error, by its record: its label all
        the same, or nothing (null). 'tellapart session model --records' writes a
        model with records.
    error
        The largest error of a rule that is sure.
    split
        Write so many rows to a file; the output is then a folder of files.
    master
        The Spark cluster, such as spark://host:7077; this machine if not given.
    quiet
        No progress bar, and no line at the end.
    """
    from tellapart.engines import predict_file
    from tellapart.export import load_model

    start = time.perf_counter()
    table = table_place(reading, table)
    if table is None:
        raise ParameterError("name the table to label, or a database with --query and --from")
    read = load_model(model)
    if unsure == "null":
        read = read.abstain(error)
    with _bar(quiet or not sys.stderr.isatty(), local_path(table).name) as progress:
        done = predict_file(
            read,
            table,
            output,
            engine=engine,
            keep="all" if keep_all else keep or [],
            prefix=prefix,
            split=split,
            master=master,
            progress=progress,
            warn=None if quiet else say_finding,
            **table_arguments(reading, table),
        )
    if not quiet:
        taken = time.perf_counter() - start
        print(f"{done.rows:,} rows labelled in {taken:.1f} s: {done.path}")


@contextmanager
def _bar(hidden: bool, name: str) -> Iterator[Callable[[int, int | None], None] | None]:
    """A bar on stderr."""
    if hidden:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
