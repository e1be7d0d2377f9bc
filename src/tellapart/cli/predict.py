"""`tellapart predict`: label every row of a table."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from tellapart.cli.options import (
    Again,
    TomlSettings,
    Whole,
    local_path,
    say_finding,
    table_and_reading,
)
from tellapart.errors import ParameterError


@Parameter(name="*", show=False)
@dataclass(frozen=True)
class Settings:
    """What is in [predict] of tellapart.toml only."""

    prefix: str = ""
    """Stands before the names label, clause and example in the output."""
    split: Whole | None = None
    """Write so many rows to a file; the output is then a folder of files."""
    master: str | None = None
    """The Spark cluster, such as spark://host:7077; this machine if not given."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Options:
    """What is written, and who does the work."""

    output: Annotated[Path, Parameter(alias="-o")]
    """CSV, JSON lines or Parquet, by its ending."""
    engine: Literal["polars", "duckdb", "spark"] = "polars"
    """Who does the work. DuckDB and Spark run the SQL of 'tellapart export', and need the extra of
    that name."""
    keep: Again = None
    """A column of the table to write as well. Again for more."""
    keep_all: bool = False
    """Write all columns of the table as well."""
    unsure: Literal["label", "null"] = "label"
    """What a rule gives whose error may be above --error, by its record: its label, or null."""
    error: float = 0.05
    """The largest error of a rule that is sure."""
    quiet: bool = False
    """No progress bar, and no line at the end."""
    read: Again = None
    """KEY=VALUE: how the table is read, such as separator=tab (docs/tables.md). Again for more."""
    more: Settings = field(default_factory=Settings)


def predict(
    model: Annotated[Path, Parameter(help="The model file, as save_model writes it.")],
    table: Annotated[
        str | None, Parameter(help="A table, as for 'tellapart teach'; - for standard input.")
    ] = None,
    *,
    asked: Options,
    settings: TomlSettings = None,
) -> None:
    """Label every row of a table.

    Writes the label, the number of the clause that fired and the example it shows,
    a row for each row of the table and in its order. The table may be larger than
    memory. After an error nothing is written.

    For example:

        tellapart predict zoo.json animals.csv -o labels.csv
        tellapart predict zoo.json big.parquet -o out.parquet --engine duckdb --keep id
    """
    from tellapart.engines import predict_file
    from tellapart.export import load_model

    start = time.perf_counter()
    table, how = table_and_reading(table, asked.read, settings, sampling=False)
    if table is None:
        raise ParameterError(
            "name the table to label, or a database with --read query=... --read from=..."
        )
    rules = load_model(model)
    if asked.unsure == "null":
        rules = rules.abstain(asked.error)
    with _bar(asked.quiet or not sys.stderr.isatty(), local_path(table).name) as progress:
        done = predict_file(
            rules,
            table,
            asked.output,
            engine=asked.engine,
            keep="all" if asked.keep_all else asked.keep or [],
            prefix=asked.more.prefix,
            split=asked.more.split,
            master=asked.more.master,
            progress=progress,
            warn=None if asked.quiet else say_finding,
            **how,
        )
    if not asked.quiet:
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
