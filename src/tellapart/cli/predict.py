"""`tellapart predict`: label every row of a table."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.console import Console
from rich.progress import Progress

from tellapart.cli.open_session import load_rules, taught
from tellapart.cli.options import (
    Again,
    TomlSettings,
    local_path,
    say_finding,
    table_and_reading,
)
from tellapart.engines import predict_file
from tellapart.engines.predict import KINDS
from tellapart.errors import ParameterError
from tellapart.model import DecisionList
from tellapart.sessions import Session, Store
from tellapart.simplification import simplify
from tellapart.tables.options import ReadOptions

_MODEL = (
    "A model file, as save_model writes it; or a table that was taught: its session is beside it."
)

_TABLE = "A table, as for 'tellapart teach'; - for standard input."


@Parameter(name="*", show=False)
@dataclass(frozen=True)
class Settings:
    """What is in [predict] of tellapart.toml only."""

    prefix: str = ""
    """Stands before the names label, clause and example in the output."""
    master: str | None = None
    """The Spark cluster, such as spark://host:7077; this machine if not given."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Options:
    """What is written, and who does the work."""

    output: Annotated[Path | None, Parameter(alias="-o")] = None
    """CSV, JSON lines or Parquet, by its ending; november-labelled.csv beside november.csv if not
    given."""
    engine: Literal["polars", "duckdb", "spark"] = "polars"
    """Who does the work. DuckDB and Spark run the SQL of 'tellapart export', and need the extra of
    that name."""
    keep: Again = None
    """A column of the table to write as well. Again for more."""
    keep_all: bool = False
    """Write all columns of the table as well; so it is for a taught table without --keep."""
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
    model: Annotated[str, Parameter(help=_MODEL)],
    table: Annotated[str | None, Parameter(help=_TABLE, allow_leading_hyphen=True)] = None,
    /,
    *,
    asked: Options | None = None,
    settings: TomlSettings = None,
) -> None:
    """Label every row of a table.

    Writes the label, the number of the clause that fired and the example it shows,
    a row for each row of the table and in its order. The table may be larger than
    memory. After an error nothing is written.

    For example:

        tellapart predict bank.csv november.csv
        tellapart predict zoo.json animals.csv -o labels.csv
        tellapart predict --engine duckdb zoo.json big.parquet -o out.parquet
    """
    start, asked = time.perf_counter(), asked or Options()
    table, how = table_and_reading(table, asked.read, settings, sampling=False)
    if table is None:
        raise ParameterError(
            "name the table to label, or a database with --read query=... --read from=..."
        )
    rules, reading = _rules(model, judged=asked.unsure == "null")
    if reading is not None:
        how = {**_same_reading(reading, model, table), **how}
    if asked.unsure == "null":
        rules = rules.abstain(asked.error)
    keep_all = asked.keep_all or (reading is not None and not asked.keep)
    with _bar(asked.quiet or not sys.stderr.isatty(), local_path(table).name) as progress:
        done = predict_file(
            simplify(rules),
            table,
            asked.output or _labelled(table),
            engine=asked.engine,
            keep="all" if keep_all else asked.keep or [],
            prefix=asked.more.prefix,
            master=asked.more.master,
            progress=progress,
            warn=None if asked.quiet else say_finding,
            **how,
        )
    if not asked.quiet:
        taken = time.perf_counter() - start
        print(f"{done.rows:,} rows labelled in {taken:.1f} s: {done.path}")


def _rules(model: str, *, judged: bool) -> tuple[DecisionList, dict[str, Any] | None]:
    """The rules of a model file; or those that were taught about a table, and how it is read."""
    found = taught(model)
    if found is None:
        return load_rules(model), None
    kept, name = found
    with Store(kept) as store:
        with Session.open(store, name, needs_table=judged, writes=False) as session:
            rules = session.judged_model() if judged else session.model
        begun = store.opened(name).data
        dates = {"dates": begun["dates"]} if "dates" in begun else {}
        return rules, {**dates, **(begun.get("source") or {})}


def _same_reading(reading: Mapping[str, Any], taught: str, table: str) -> dict[str, Any]:
    """How a taught table was said to be read, for a table of the same kind."""
    if local_path(taught).suffix != local_path(table).suffix:
        return {}
    about = {one.name for one in fields(ReadOptions)} - {"query", "sample", "sample_seed"}
    return {name: value for name, value in reading.items() if name in about}


def _labelled(table: str) -> Path:
    """Where the labels of a table go: beside it.

    >>> _labelled("data/november.csv").name, _labelled("november.xlsx.gz").name
    ('november-labelled.csv', 'november-labelled.csv')
    """
    if table == "-":
        raise ParameterError("standard input has no name: say where the labels go with -o")
    place = local_path(table)
    if place.suffix in (".gz", ".bz2", ".zip"):
        place = place.with_suffix("")
    ending = place.suffix if place.suffix in KINDS else ".csv"
    return place.with_name(f"{place.stem}-labelled{ending}")


@contextmanager
def _bar(hidden: bool, name: str) -> Iterator[Callable[[int, int | None], None] | None]:
    """A bar on stderr."""
    if hidden:
        yield None
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
