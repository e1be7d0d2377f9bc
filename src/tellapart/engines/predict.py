"""Label every row of a file with one of the engines Polars, DuckDB and Spark."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple, TypeAlias

from tellapart.errors import FormatError, ParameterError
from tellapart.export.feature_trees import check_reading, columns_of
from tellapart.export.model_files import replacing
from tellapart.export.sql import label_kind
from tellapart.export.text import example_text, reachable
from tellapart.features.expression import types as read_types
from tellapart.features.tree import Type
from tellapart.model import Clause, DecisionList
from tellapart.tables import Scan
from tellapart.tables.csv_files import in_utf8
from tellapart.tables.databases import is_database
from tellapart.tables.files import Place, find_files, in_plain_files, is_url
from tellapart.tables.findings import Finding
from tellapart.tables.options import ReadOptions, is_utf8
from tellapart.tables.source import name_of, open_source

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
    split: int | None = None
    """How many rows a file has, if `out` is to be a folder."""


def predict_file(
    model: DecisionList,
    table: Place,
    out: str | Path,
    *,
    engine: Engine = "polars",
    keep: Sequence[str] | Literal["all"] = (),
    prefix: str = "",
    split: int | None = None,
    master: str | None = None,
    progress: Callable[[int, int | None], None] | None = None,
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
    split : int, default=None
        Write so many rows to a file: `out` is then a folder of files part-00000, part-00001, ...
    reading
        How the table is read: `types` for columns of which the model does not say what they hold,
        and the other arguments of `read_table` for such a source. A CSV file that is not UTF-8 is
        first written again as UTF-8, beside the output.
    master : str, default="local[*]"
        The Spark cluster.
    progress : (rows so far, rows in all or None) -> None, default=None
    warn : (Finding) -> None, default=None
        Told what could have been read in another way.

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
    out = Path(out)
    check_reading(model)
    kind = _output_kind(out)
    named = Path(table) if isinstance(table, str | Path) else Path()
    if out.exists() and named.exists() and out.samefile(named):
        raise ParameterError(f"{out} is the table itself; give another name for the output")
    if engine not in ("polars", "duckdb", "spark"):
        raise ParameterError(f"engine must be polars, duckdb or spark, got {engine!r}")
    if split is not None and split < 1:
        raise ParameterError(f"split is a number of rows, at least 1, got {split}")
    run: Callable[[Job], int] = importlib.import_module(f"tellapart.engines.{engine}").run
    types = reading.pop("types", None) or {}
    options = ReadOptions(**reading)
    wanted = _wanted(model, types)
    if split is not None and engine != "polars":
        raise ParameterError(f"split needs the engine polars, got {engine!r}")
    place = replacing(out) if split is None else _new_folder(out)
    with _scanned(table, wanted, options, out.parent) as scan, place as beside:
        kept = scan.columns if keep == "all" else list(keep)
        scan.check([*types, *kept])
        if warn is not None:
            for finding in scan.findings:
                warn(finding)
        names = _output_names(kept, prefix)
        tell = progress or (lambda done, total: None)
        job = Job(scan, model, Answers.of(model), beside, kind, kept, names, tell, master, split)
        rows = run(job)
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
    `Table` takes, the answer is a Polars frame. A lazy frame and one of Spark are computed when the
    answer is. `keep` and `prefix` are those of `predict_file`.

    >>> import polars as pl
    >>> from tellapart import Clause, Literal, parse_feature
    >>> walks = parse_feature("legs >= 4", {"legs": "integer"})
    >>> model = DecisionList((Clause((Literal(walks),), "walks", "bear"),), Clause((), "else"))
    >>> predict_frame(model, pl.DataFrame({"legs": [4.0, 2.0]}))["label"].to_list()
    ['walks', 'else']
    """
    import polars as pl

    from tellapart.engines import polars
    from tellapart.tables.frames import to_lazy

    check_reading(model)
    library = type(frame).__module__.partition(".")[0]
    if library == "pyspark":
        from tellapart.engines import spark

        return spark.predict(model, frame, keep, prefix, _output_names)
    lazy, _, _ = to_lazy(frame, "the frame")
    scan = Scan(lazy, columns_of(model), name="the frame")
    kept = scan.columns if keep == "all" else list(keep)
    scan.check(kept)
    names = _output_names(kept, prefix)
    job = Job(scan, model, Answers.of(model), Path(), "", kept, names, lambda done, total: None)
    answered = polars.answered(job)
    if isinstance(frame, pl.LazyFrame):
        return answered
    made = polars.collected(job, answered)
    if library == "pandas":
        return made.to_pandas()
    if library == "pyarrow":
        return made.to_arrow()
    if "duckdb" in library:
        import duckdb

        return duckdb.from_arrow(made.to_arrow())
    return made


@contextmanager
def _new_folder(path: Path) -> Iterator[Path]:
    """A folder beside `path` that becomes `path` at the end, or is removed after an error."""
    if path.exists():
        raise ParameterError(f"{path} is there already, and is to be a folder of files. Remove it")
    with TemporaryDirectory(dir=path.parent) as place:
        made = Path(place, "parts")
        made.mkdir()
        yield made
        made.replace(path)


@contextmanager
def _scanned(
    table: Place, wanted: Mapping[str, Type | None], options: ReadOptions, folder: Path
) -> Iterator[Scan]:
    """A table to read once. Files are unpacked, fetched or rewritten into `folder` if needed."""
    if options.sample is not None:
        raise ParameterError("sample is for teaching; predict labels every row")
    name = name_of(table)
    if is_database(table):
        yield Scan(open_source(table, options).frame.lazy(), wanted, name=name)
        return
    files = find_files(table)
    with ExitStack() as stack:
        remote = files[0].kind in ("parquet", "ipc") and files[0].packed is None
        plain = files if remote else stack.enter_context(in_plain_files(files, folder))
        if plain[0].kind in ("json", "excel"):
            frame = open_source([file.path for file in plain], options).frame.lazy()
            yield Scan(frame, wanted, name=name)
            return
        encoding = options.encoding or "utf-8"
        if plain[0].kind == "csv" and not is_utf8(encoding):
            options = replace(options, encoding=None)
            plain = [
                replace(f, path=str(stack.enter_context(in_utf8(Path(f.path), encoding, folder))))
                for f in plain
            ]
        yield Scan(plain, wanted, options, name if len(plain) == 1 else None)


def check_plain(scan: Scan, engine: str) -> None:
    """Raise if a table is written in a way that this engine does not read as we do."""
    if engine == "duckdb" and scan.kind in ("frame", "csv", "jsonl"):  # read by Polars
        return
    if any(is_url(file.path) for file in scan.files):
        raise FormatError(
            f"{scan.name}: the engine {engine} reads files of this machine. Use the engine polars,"
            " or copy the file"
        )
    if not scan.is_one_plain_file:
        odd = [name for name, reader in scan.readers.items() if not reader.plain]
        what = f"column {odd[0]!r} is" if odd else "it is"
        raise FormatError(
            f"{scan.name}: {what} written in a way that the engine {engine} does not read as the"
            " engine polars does. Use that one"
        )


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
