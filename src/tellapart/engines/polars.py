"""Prediction with Polars: features over columns, first match on packed bits, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tellapart.engines.match import clause_numbers
from tellapart.engines.output import Answers
from tellapart.export.feature_trees import tree_of
from tellapart.features.to_polars import DTYPE, translate
from tellapart.simulation.bits import Words
from tellapart.tables import Scan
from tellapart.tables.bits import words

if TYPE_CHECKING:
    import polars as pl


def run(
    scan: Scan,
    answers: Answers,
    out: Path,
    kind: str,
    keep: Sequence[str],
    names: Sequence[str],
    progress: Callable[[int], None],
    *,
    sieve: bool = False,
) -> int:
    """Write the answers for every row of `scan` to `out`; returns how many rows there were."""
    import polars as pl

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
        progress(rows)
        kept = [batch.get_column(f"kept {n}") for n in range(len(keep))]
        clause = (numbers + 1).cast(pl.UInt32)
        columns = [*kept, labels.gather(numbers), clause, examples.gather(numbers)]
        return pl.DataFrame([c.alias(name) for c, name in zip(columns, names, strict=True)])

    # the last column tells of short rows, which are filled up with nulls
    short = pl.col(f"kept {len(keep)}").is_null().alias("short")
    holds = [translate(tree_of(f, scan.types), clean=True).alias(places[f]) for f in features]
    kept = [pl.col(f"kept {n}") for n in range(len(keep))]
    try:
        frame = scan.lazy([*keep, scan.columns[-1]], sieve=sieve).select([short, *holds, *kept])
        found = frame.collect_schema()
        made = [*(found[f"kept {n}"] for n in range(len(keep))), dtype, pl.UInt32(), pl.String()]
        answered = frame.map_batches(
            answer, schema=dict(zip(names, made, strict=True)), streamable=True
        )
        # a CSV row that is too long shows only where all columns are read
        how = pl.QueryOptFlags(projection_pushdown=scan.kind != "csv")
        if kind == "parquet":
            answered.sink_parquet(out, optimizations=how)
        elif kind == "csv":
            answered.sink_csv(out, optimizations=how)
        else:
            answered.sink_ndjson(out, optimizations=how)
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        scan.explain(error)
    if gaps and not sieve and scan.gaps():
        return run(scan, answers, out, kind, keep, names, progress, sieve=True)
    return rows
