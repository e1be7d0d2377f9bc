"""Prediction with Polars: features over columns, first match on packed bits, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from tellapart.engines.predict import Job
from tellapart.export.feature_trees import tree_of
from tellapart.features.to_polars import DTYPE, translate
from tellapart.simulation import Words, clause_numbers
from tellapart.tables.packed_columns import words


def run(job: Job, *, without_gaps: bool = False) -> int:
    """Do the job; returns how many rows there were. `without_gaps` leaves out empty lines."""
    scan, seen = job.scan, Seen()
    # a CSV row that is too long shows only where all columns are read
    how = pl.QueryOptFlags(projection_pushdown=scan.kind != "csv")
    try:
        sink(answered(job, seen, without_gaps), job.out, job.kind, job.split, optimizations=how)
    except (pl.exceptions.PolarsError, UnicodeDecodeError, ValueError) as error:
        scan.find_error()
        if scan.more_carefully():
            return run(job, without_gaps=without_gaps)
        scan.explain(error)
    if seen.gaps and not without_gaps and scan.gaps():
        if job.split is not None:
            for part in job.out.iterdir():
                part.unlink()
        return run(job, without_gaps=True)
    return seen.rows


def collected(job: Job, lazy: pl.LazyFrame) -> pl.DataFrame:
    """The answers, or what is wrong with the table."""
    try:
        return lazy.collect(engine="streaming")
    except (pl.exceptions.PolarsError, ValueError) as error:
        job.scan.explain(error)


@dataclass
class Seen:
    """What was seen on the way."""

    rows: int = 0
    gaps: bool = False
    """Whether the last column is empty somewhere: it may be a short row."""

    def take(self, batch: pl.DataFrame) -> None:
        """Look at the rows of a batch."""
        if batch.get_column("misfit").any():
            raise ValueError("a value is not what the model wants")
        self.rows += batch.height
        self.gaps = self.gaps or bool(batch.get_column("short").any())


def answered(job: Job, seen: Seen | None = None, without_gaps: bool = False) -> pl.LazyFrame:
    """The answers, lazily."""
    scan, answers, keep, names = job.scan, job.answers, job.keep, job.names
    seen, total = seen or Seen(), scan.count()
    features = list(
        dict.fromkeys(lit.feature for clause in answers.clauses[:-1] for lit in clause.literals)
    )
    places = {feature: f"holds {n}" for n, feature in enumerate(features)}
    dtype = DTYPE[answers.type]
    labels = pl.Series("label", answers.labels, dtype=dtype, strict=False)
    examples = pl.Series("example", answers.examples, dtype=pl.String)

    def answer(batch: pl.DataFrame) -> pl.DataFrame:
        seen.take(batch)
        packed: dict[object, Words] = {}

        def truth(feature: object) -> Words:
            if feature not in packed:
                packed[feature] = words(batch.get_column(places[feature]))
            return packed[feature]

        numbers = pl.Series(clause_numbers(answers.clauses, truth, batch.height))
        job.progress(seen.rows, total)
        kept = [batch.get_column(f"kept {n}") for n in range(len(keep))]
        clause = (numbers + 1).cast(pl.UInt32)
        columns = [*kept, labels.gather(numbers), clause, examples.gather(numbers)]
        return pl.DataFrame([c.alias(name) for c, name in zip(columns, names, strict=True)])

    holds = [translate(tree_of(f, scan.types), clean=True).alias(places[f]) for f in features]
    frame = _read(job, holds, without_gaps)
    found = frame.collect_schema()
    made = [*(found[f"kept {n}"] for n in range(len(keep))), dtype, pl.UInt32(), pl.String()]
    return frame.map_batches(answer, schema=dict(zip(names, made, strict=True)), streamable=True)


def _read(job: Job, columns: list[pl.Expr], without_gaps: bool) -> pl.LazyFrame:
    """Some columns of the table and those kept, with `short` and `misfit`, for `Seen`."""
    scan, keep = job.scan, job.keep
    # a null in the last column may be a short row, which Polars fills up with nulls
    whole = scan.kind == "csv" or not (scan.types or keep)
    short = pl.col(f"kept {len(keep)}").is_null() if whole else pl.lit(False)
    kept = [pl.col(f"kept {n}") for n in range(len(keep))]
    last = [scan.columns[-1]] if whole else []
    return scan.lazy([*keep, *last], without_gaps=without_gaps).select(
        [short.alias("short"), pl.col("misfit"), *columns, *kept]
    )


def read_batches(job: Job, seen: Seen, without_gaps: bool) -> tuple[Any, Iterator[Any]]:
    """The columns that the model reads and those kept, for another engine: the schema of Arrow, and
    the batches."""
    frame = _read(job, [pl.col(name) for name in job.scan.types], without_gaps)
    # a CSV row that is too long shows only where all columns are read
    how = pl.QueryOptFlags(projection_pushdown=job.scan.kind != "csv")

    def batches() -> Iterator[Any]:
        for batch in frame.collect_batches(optimizations=how, maintain_order=True):
            seen.take(batch)
            yield from batch.to_arrow(compat_level=pl.CompatLevel.newest()).to_batches()

    schema = frame.collect_schema().to_frame().to_arrow(compat_level=pl.CompatLevel.newest()).schema
    return schema, batches()


def sink(
    frame: pl.LazyFrame, out: Path, kind: str, split: int | None = None, **options: Any
) -> None:
    """Write a lazy frame to a file, or so many rows to each file of a folder."""
    name = {"csv": "sink_csv", "jsonl": "sink_ndjson", "parquet": "sink_parquet"}[kind]
    place: Any = out
    if split is not None:
        place = pl.PartitionBy(
            out,
            max_rows_per_file=split,
            approximate_bytes_per_file=None,
            file_path_provider=lambda part: f"part-{part.index_in_partition:05}.{kind}",
        )
    getattr(frame, name)(place, **options)
