"""Label every row of a file with one of the engines Polars, DuckDB and Spark."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from tellapart.errors import ParameterError
from tellapart.export.feature_trees import check_reading, columns_of
from tellapart.export.files import replacing
from tellapart.export.sql import label_kind
from tellapart.export.text import example_text, reachable
from tellapart.features.expression import types as read_types
from tellapart.features.tree import Type
from tellapart.model import Clause, DecisionList
from tellapart.tables import Scan
from tellapart.tables.csv_files import in_utf8, is_utf8
from tellapart.tables.read import check_csv, kind_of

Engine: TypeAlias = Literal["polars", "duckdb", "spark"]

KINDS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
COLUMNS = ("label", "clause", "example")

_TYPES = {str: Type.TEXT, bool: Type.BOOL, int: Type.INTEGER, float: Type.NUMBER}


class Predicted(NamedTuple):
    """What was done."""

    rows: int
    path: Path


@dataclass(frozen=True)
class Answers:
    """What each clause says, by number."""

    clauses: Sequence[Clause]
    labels: list[Any]
    type: Type
    """What the labels are: text, bool, integer or number."""
    examples: list[str | None]

    @classmethod
    def of(cls, model: DecisionList) -> Answers:
        clauses = reachable(model)
        labels: list[Any] = [clause.label for clause in clauses]
        examples = [example_text(clause.example) for clause in clauses]
        return cls(clauses, labels, _TYPES[label_kind(labels)], examples)


@dataclass(frozen=True)
class Job:
    """What an engine has to do: write the answers for every row of `scan` to `out`."""

    scan: Scan
    model: DecisionList
    answers: Answers
    out: Path
    kind: str
    """The format of `out`: csv, jsonl or parquet."""
    keep: Sequence[str]
    """Columns of the table to write as well."""
    names: Sequence[str]
    """The columns of `out`."""
    progress: Callable[[int, int | None], None]
    master: str | None = None


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
    separator, encoding, nulls
        Of a CSV file, as for `read_table`. A file that is not UTF-8 is first written again as
        UTF-8, beside the output.
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
    kind = _output_kind(out)
    if out.exists() and table.exists() and out.samefile(table):
        raise ParameterError(f"{out} is the table itself; give another name for the output")
    if kind_of(table) != "csv":
        check_csv(table, types or separator or nulls or not is_utf8(encoding))
    if engine not in ("polars", "duckdb", "spark"):
        raise ParameterError(f"engine must be polars, duckdb or spark, got {engine!r}")
    run: Callable[[Job], int] = importlib.import_module(f"tellapart.engines.{engine}").run
    answers = Answers.of(model)
    wanted = _wanted(model, types or {})
    tell = progress or (lambda done, total: None)
    with replacing(out) as beside, in_utf8(table, encoding, out.parent) as readable:
        scan = Scan(readable, wanted, nulls, separator)
        kept = scan.columns if keep == "all" else list(keep)
        scan.check([*(types or {}), *kept])
        names = _output_names(kept, prefix)
        rows = run(Job(scan, model, answers, beside, kind, kept, names, tell, master))
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


def _output_kind(path: Path) -> str:
    """csv, jsonl or parquet, by the ending."""
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        raise ParameterError(f"the output must end in {', '.join(KINDS)}, got {path.name!r}")
    return kind


def _output_names(keep: Sequence[str], prefix: str) -> list[str]:
    """The columns of the output: those kept, then ours; a name that is taken is refused."""
    names = [*keep, *(prefix + name for name in COLUMNS)]
    for name in names:
        if names.count(name) > 1:
            raise ParameterError(
                f"the output would have two columns {name!r}: give a prefix for ours, such as"
                " --prefix predicted_, or do not keep the other"
            )
    return names
