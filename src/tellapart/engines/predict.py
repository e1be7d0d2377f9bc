"""Label every row of a table: features over columns, first match on packed bits, batch by batch.

Polars reads the table and, by default, evaluates the model. `sql_engines` gives the columns that
the model wants to DuckDB or Spark instead, which run the exported SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import polars as pl

from tellapart.columns import Words, clause_numbers
from tellapart.engines import sql_engines
from tellapart.errors import ParameterError
from tellapart.export.feature_trees import columns_of, tree_of
from tellapart.export.model_files import replacing
from tellapart.export.sql import label_kind
from tellapart.export.text import answers, reachable
from tellapart.features.expression import types as read_types
from tellapart.features.to_polars import DTYPE, translate
from tellapart.features.tree import Type
from tellapart.model import DecisionList
from tellapart.tables.files import Place
from tellapart.tables.findings import Finding
from tellapart.tables.options import ReadOptions
from tellapart.tables.packed_columns import words
from tellapart.tables.source import frame_source, open_source
from tellapart.tables.wanted_columns import WantedColumns

Engine: TypeAlias = Literal["polars", "duckdb", "spark"]
Progress: TypeAlias = Callable[[int, "int | None"], None]

KINDS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
COLUMNS = ("label", "clause", "example")
_TYPES = {str: Type.TEXT, bool: Type.BOOL, int: Type.INTEGER, float: Type.NUMBER}


class Predicted(NamedTuple):
    """What was done."""

    rows: int
    path: Path


def predict_file(
    model: DecisionList,
    table: Place,
    out: str | Path,
    *,
    engine: Engine = "polars",
    keep: Sequence[str] | Literal["all"] = (),
    prefix: str = "",
    master: str | None = None,
    progress: Progress | None = None,
    warn: Callable[[Finding], None] | None = None,
    **reading: Any,
) -> Predicted:
    """Write the label, the clause and the example of every row of `table` to `out`.

    Rows keep their order. The table may be larger than memory. After an error nothing is written.

    Parameters
    ----------
    model : DecisionList
    table : path, or list of paths
        Whatever `read_table` reads. CSV, JSON lines, Parquet and Arrow files may be larger than
        memory.
    out : path
        CSV, JSON lines or Parquet, by its ending.
    engine : {"polars", "duckdb", "spark"}, default="polars"
        Who goes through the table. "duckdb" and "spark" run the exported SQL, and need the extra of
        that name.
    keep : list of str or "all", default=[]
        Columns of the table to write as well, before the others.
    prefix : str, default=""
        Stands before the names label, clause and example.
    reading
        How the table is read: `types` for columns of which the model does not say what they hold,
        and the other arguments of `read_table` for such a source. A CSV file that is not UTF-8 is
        first written again as UTF-8, beside the output.
    master : str, default="local[*]"
        The Spark cluster.
    progress : (rows so far, rows in all or None) -> None, default=None
    warn : (Finding) -> None, default=None
        Told what could have been read in another way.
    """
    out = Path(out)
    kind = _output_kind(out)
    named = Path(table) if isinstance(table, str | Path) else Path()
    if out.exists() and named.exists() and out.samefile(named):
        raise ParameterError(f"{out} is the table itself; give another name for the output")
    if engine not in _WRITE:
        raise ParameterError(f"engine must be polars, duckdb or spark, got {engine!r}")
    types = reading.pop("types", None) or {}
    wanted, options = _wanted(model, types), ReadOptions(**reading)
    with open_source(table, options, out.parent) as source, replacing(out) as beside:
        columns = WantedColumns(source, wanted)
        kept = columns.columns if keep == "all" else list(keep)
        columns.check([*types, *kept])
        if warn is not None:
            for finding in columns.findings:
                warn(finding)
        names = _output_names(kept, prefix)
        job = Job(model, columns, kept, names, progress, master)
        rows = job.run(_WRITE[engine], beside, kind)
    return Predicted(rows, out)


def predict_frame(
    model: DecisionList,
    frame: Any,
    *,
    keep: Sequence[str] | Literal["all"] = (),
    prefix: str = "",
) -> Any:
    """The label, the clause and the example of every row of a frame, as a frame of the same kind.

    `frame` is one of Polars (lazy or not), pandas, pyarrow, DuckDB, or Spark; of anything else that
    `Table` takes, the answer is a Polars frame. A lazy frame and those of Spark and DuckDB are
    computed when the answer is. `keep` and `prefix` are those of `predict_file`.

    >>> import polars as pl
    >>> from tellapart import Clause, Literal, parse_feature
    >>> walks = parse_feature("legs >= 4", {"legs": "integer"})
    >>> model = DecisionList((Clause((Literal(walks),), "walks", "bear"),), Clause((), "else"))
    >>> predict_frame(model, pl.DataFrame({"legs": [4.0, 2.0]}))["label"].to_list()
    ['walks', 'else']
    """
    library = type(frame).__module__.partition(".")[0]
    dialects: dict[str, sql_engines.Dialect] = {"pyspark": "spark", "duckdb": "duckdb"}
    dialect = dialects.get(library.lstrip("_"))
    read = frame if dialect is None else sql_engines.without_rows(frame)
    columns = WantedColumns(frame_source(read, "the frame"), columns_of(model))
    kept = columns.columns if keep == "all" else list(keep)
    columns.check(kept)
    job = Job(model, columns, kept, _output_names(kept, prefix))
    if dialect is not None:
        return sql_engines.answered(job, frame, dialect)
    lazy = job.answered(Seen())
    if isinstance(frame, pl.LazyFrame):
        return lazy
    try:
        made = lazy.collect(engine="streaming")
    except (pl.exceptions.PolarsError, ValueError) as error:
        columns.find_error()
        columns.source.explain(error)
    if library == "pandas":
        return made.to_pandas()
    return made.to_arrow() if library == "pyarrow" else made


@dataclass
class Seen:
    """What was seen on the way."""

    rows: int = 0
    gaps: bool = False
    """Whether a row may be short, or an empty line."""

    def take(self, batch: pl.DataFrame) -> None:
        """Look at the rows of a batch."""
        if batch.get_column("misfit").any():
            raise ValueError("a value is not what the model wants")
        self.rows += batch.height
        self.gaps = self.gaps or bool(batch.get_column("short").any())


@dataclass(frozen=True)
class Job:
    """What an engine has to do: the answers of a model for the rows of a table."""

    model: DecisionList
    columns: WantedColumns
    keep: Sequence[str]
    """Columns of the table to write as well."""
    names: Sequence[str]
    """The columns of the output."""
    progress: Progress | None = None
    master: str | None = None

    def run(self, write: Write, out: Path, kind: str) -> int:
        """Let an engine write the answers to `out`; returns how many rows there were. If that fails
        and nothing is wrong with the table, it is read more carefully."""
        without_gaps = False
        while True:
            seen = Seen()
            try:
                write(self, seen, out, kind, without_gaps)
            except (pl.exceptions.PolarsError, ValueError) as error:
                self.columns.find_error()
                if self.columns.more_carefully():
                    continue
                self.columns.source.explain(error)
            if not seen.gaps or without_gaps or not self.columns.has_gaps():
                return seen.rows
            without_gaps = True

    def _read(self, columns: Sequence[pl.Expr], without_gaps: bool) -> pl.LazyFrame:
        """Some columns of the table and those kept, with `short` and `misfit`, for `Seen`."""
        kept = [pl.col(f"kept {n}") for n in range(len(self.keep))]
        frame = self.columns.lazy(self.keep, without_gaps=without_gaps)
        return frame.select([pl.col("short", "misfit"), *columns, *kept])

    def items(self, seen: Seen, without_gaps: bool) -> pl.LazyFrame:
        """The columns that the model reads, and those kept, for another engine; see `query`."""
        names = {name: f"c{n}" for n, name in enumerate(self.columns.types)}
        frame = self._read([pl.col(name).alias(c) for name, c in names.items()], without_gaps)

        def take(batch: pl.DataFrame) -> pl.DataFrame:
            seen.take(batch)
            if self.progress is not None:
                self.progress(seen.rows, None)
            return batch

        return frame.map_batches(take, streamable=True)

    def answered(self, seen: Seen, without_gaps: bool = False) -> pl.LazyFrame:
        """The answers, lazily."""
        clauses, said, total = reachable(self.model), answers(self.model), self.columns.count()
        features = list(
            dict.fromkeys(lit.feature for clause in clauses[:-1] for lit in clause.literals)
        )
        places = {feature: f"holds {n}" for n, feature in enumerate(features)}
        given: list[Any] = [one.label for one in said]
        dtype = DTYPE[_TYPES[label_kind(given)]]
        labels = pl.Series("label", given, dtype=dtype, strict=False)
        examples = pl.Series("example", [one.like for one in said], dtype=pl.String)
        kept = [f"kept {n}" for n in range(len(self.keep))]

        def answer(batch: pl.DataFrame) -> pl.DataFrame:
            seen.take(batch)
            packed: dict[object, Words] = {}

            def truth(feature: object) -> Words:
                if feature not in packed:
                    packed[feature] = words(batch.get_column(places[feature]))
                return packed[feature]

            numbers = pl.Series(clause_numbers(clauses, truth, batch.height))
            if self.progress is not None:
                self.progress(seen.rows, total)
            clause = (numbers + 1).cast(pl.UInt32)
            made = [*batch.select(kept), labels.gather(numbers), clause, examples.gather(numbers)]
            return pl.DataFrame([c.alias(name) for c, name in zip(made, self.names, strict=True)])

        types = self.columns.types
        holds = [translate(tree_of(f, types), clean=True).alias(places[f]) for f in features]
        frame = self._read(holds, without_gaps)
        found = frame.collect_schema()
        schema = [*(found[name] for name in kept), dtype, pl.UInt32(), pl.String()]
        return frame.map_batches(
            answer, schema=dict(zip(self.names, schema, strict=True)), streamable=True
        )

    def optimizations(self) -> pl.QueryOptFlags:
        """A CSV row that is too long shows only where all columns are read."""
        return pl.QueryOptFlags(projection_pushdown=self.columns.source.kind != "csv")


def _with_polars(job: Job, seen: Seen, out: Path, kind: str, without_gaps: bool) -> None:
    made = job.answered(seen, without_gaps)
    sql_engines.sink(made, out, kind, optimizations=job.optimizations())


Write: TypeAlias = Callable[[Job, Seen, Path, str, bool], None]
_WRITE: dict[str, Write] = {
    "polars": _with_polars,
    "duckdb": sql_engines.with_duckdb,
    "spark": sql_engines.with_spark,
}


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
                f"the output would have two columns {name!r}: do not keep the table's, or give a"
                " prefix for ours (on the command line: prefix in [predict] of tellapart.toml)"
            )
    return names
