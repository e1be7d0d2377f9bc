"""Label every row of a file, on the engine of your choice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from tellapart.engines.output import Answers, Predicted, output_kind, output_names
from tellapart.errors import ParameterError
from tellapart.export.feature_trees import check_reading, columns_of
from tellapart.export.files import replacing
from tellapart.features.expression import types as read_types
from tellapart.features.tree import Type
from tellapart.model import DecisionList
from tellapart.tables import Scan
from tellapart.tables.encodings import in_utf8, is_utf8
from tellapart.tables.read import check_csv, kind_of

Engine: TypeAlias = Literal["polars", "duckdb", "spark"]


def predict_file(
    model: DecisionList,
    table: str | Path,
    out: str | Path,
    *,
    engine: Engine = "polars",
    keep: Sequence[str] | Literal["all"] = (),
    prefix: str = "",
    types: Mapping[str, str] | None = None,
    separator: str | None = None,
    encoding: str = "utf-8",
    nulls: Sequence[str] = (),
    master: str | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Predicted:
    """Write the label, the clause and the example of every row of `table` to `out`.

    Rows keep their order. The table may be larger than memory. After an error nothing is written.

    Parameters
    ----------
    model : DecisionList
    table : path
        CSV, JSON lines, Parquet or Arrow IPC, by its ending.
    out : path
        CSV, JSON lines or Parquet, by its ending.
    engine : {"polars", "duckdb", "spark"}, default="polars"
        Who goes through the table. "duckdb" and "spark" run the exported SQL, and need the extra of
        that name.
    keep : list of str or "all", default=[]
        Columns of the table to write as well, before the others.
    prefix : str, default=""
        Stands before the names label, clause and example.
    types : mapping from column to type, default={}
        For columns of a CSV file of which the model does not say what they hold.
    separator : str, default=None
        What stands between the cells of a CSV file; by default the one that its first line shows.
    encoding : str, default="utf-8"
        Of a CSV file. One that is not UTF-8 is first written again as UTF-8, beside the output.
    nulls : list of str, default=[]
        What a CSV file writes for an unknown value besides an empty cell, such as "NA".
    master : str, default="local[*]"
        The Spark cluster.
    progress : (rows so far, rows in all or None) -> None, default=None

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from tellapart import Clause, Literal
    >>> model = DecisionList((Clause((Literal("milk"),), "mammal", "bear"),), Clause((), "bird"))
    >>> with TemporaryDirectory() as folder:
    ...     table, out = Path(folder, "zoo.csv"), Path(folder, "out.csv")
    ...     _ = table.write_text("name,milk\\ncow,true\\nowl,false\\n")
    ...     _ = predict_file(model, table, out, keep=["name"])
    ...     print(out.read_text().strip())
    name,label,clause,example
    cow,mammal,1,bear
    owl,bird,2,
    """
    table, out = Path(table), Path(out)
    check_reading(model)
    kind = output_kind(out)
    if out.exists() and table.exists() and out.samefile(table):
        raise ParameterError(f"{out} is the table itself; give another name for the output")
    if kind_of(table) != "csv":
        check_csv(table, types or separator or nulls or not is_utf8(encoding))
    answers = Answers.of(model)
    wanted = _wanted(model, types or {})
    tell = progress or (lambda done, total: None)
    with replacing(out) as beside, in_utf8(table, encoding, out.parent) as readable:
        scan = Scan(readable, wanted, nulls, separator)
        kept = scan.columns if keep == "all" else list(keep)
        scan.check([*(types or {}), *kept])
        names = output_names(kept, prefix)
        if engine == "polars":
            from tellapart.engines.polars import run as run_polars

            total = scan.count()
            rows = run_polars(
                scan, answers, beside, kind, kept, names, lambda done: tell(done, total)
            )
        elif engine == "duckdb":
            from tellapart.engines.duckdb import run as run_duckdb

            rows = run_duckdb(scan, model, answers, beside, kind, kept, names, tell)
        elif engine == "spark":
            from tellapart.engines.spark import run as run_spark

            rows = run_spark(scan, model, answers, beside, kind, kept, names, master)
        else:
            raise ParameterError(f"engine must be polars, duckdb or spark, got {engine!r}")
    return Predicted(rows, out)


def _wanted(model: DecisionList, types: Mapping[str, str]) -> dict[str, Type | None]:
    """The columns that a model reads, and what they hold: as it says, or else as `types` says."""
    wanted = columns_of(model)
    for name, given in read_types(types).items():
        known = wanted.get(name)
        if known not in (None, given):
            raise ParameterError(
                f"column {name!r} cannot be read as {given.value}: the model takes it for"
                f" {known.value}"
            )
        if name in wanted:
            wanted[name] = given
    return wanted
