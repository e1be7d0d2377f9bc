"""Prediction with Polars: features over columns, first match on packed bits, batch by batch."""

from __future__ import annotations

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
    scan, answers, keep, names = job.scan, job.answers, job.keep, job.names
    total = scan.count()
    features = list(
        dict.fromkeys(lit.feature for clause in answers.clauses[:-1] for lit in clause.literals)
    )
    places = {feature: f"holds {n}" for n, feature in enumerate(features)}
    dtype = DTYPE[answers.type]
    labels = pl.Series("label", answers.labels, dtype=dtype, strict=False)
    examples = pl.Series("example", answers.examples, dtype=pl.String)
    rows, gaps = 0, False

    def answer(batch: pl.DataFrame) -> pl.DataFrame:
        nonlocal rows, gaps
        packed: dict[object, Words] = {}

        def truth(feature: object) -> Words:
            if feature not in packed:
                packed[feature] = words(batch.get_column(places[feature]))
            return packed[feature]

        numbers = pl.Series(clause_numbers(answers.clauses, truth, batch.height))
        rows += batch.height
        gaps = gaps or bool(batch.get_column("short").any())
        job.progress(rows, total)
        kept = [batch.get_column(f"kept {n}") for n in range(len(keep))]
        clause = (numbers + 1).cast(pl.UInt32)
        columns = [*kept, labels.gather(numbers), clause, examples.gather(numbers)]
        return pl.DataFrame([c.alias(name) for c, name in zip(columns, names, strict=True)])

    # a null in the last column may be a short row, which Polars fills up with nulls
    short = pl.col(f"kept {len(keep)}").is_null().alias("short")
    holds = [translate(tree_of(f, scan.types), clean=True).alias(places[f]) for f in features]
    kept = [pl.col(f"kept {n}") for n in range(len(keep))]
    try:
        frame = scan.lazy([*keep, scan.columns[-1]], without_gaps=without_gaps).select(
            [short, *holds, *kept]
        )
        found = frame.collect_schema()
        made = [*(found[f"kept {n}"] for n in range(len(keep))), dtype, pl.UInt32(), pl.String()]
        answered = frame.map_batches(
            answer, schema=dict(zip(names, made, strict=True)), streamable=True
        )
        # a CSV row that is too long shows only where all columns are read
        how = pl.QueryOptFlags(projection_pushdown=scan.kind != "csv")
        sink(answered, job.out, job.kind, optimizations=how)
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        scan.explain(error)
    if gaps and not without_gaps and scan.gaps():
        return run(job, without_gaps=True)
    return rows


def sink(frame: pl.LazyFrame, out: Path, kind: str, **options: Any) -> None:
    """Write a lazy frame to a file."""
    name = {"csv": "sink_csv", "jsonl": "sink_ndjson", "parquet": "sink_parquet"}[kind]
    getattr(frame, name)(out, **options)
