"""How much dearer labels are than what an engine does anyway with the same file.

    python benchmarks/predict.py [rows] [--spark]

In one run and on one file: `predict_file` with each engine, against that engine copying the columns
the model reads, counting rows by one condition of the model, and computing the bare CASE. Ratios
are what counts; times depend on the machine.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

import tellapart as ta
from tellapart.engines import predict_file

REPEATS = 5
SCHEMA = {"n": "integer", "k": "integer", "x": "number", "y": "number", "b": "bool", "s": "text"}
CONDITIONS = [
    "n >= 4", "n >= 7 AND k < 3", "k IN (1, 5, 7)", "x > 0.5", "x / y > 2", "x + y < 0.3", "b",
    "NOT b AND n < 2", "s LIKE 'item 1%'", "s ILIKE '%GOAL%'", "k BETWEEN 2 AND 4", "n = k",
]  # fmt: skip


def table(rows: int, path: Path) -> None:
    """A million numbers look alike; a few texts do not."""
    rng = np.random.default_rng(0)
    pl.DataFrame(
        {
            "n": rng.integers(0, 10, rows),
            "k": rng.integers(0, 10, rows),
            "x": rng.random(rows),
            "y": rng.random(rows),
            "b": rng.random(rows) < 0.3,
            "s": pl.Series(rng.integers(0, 2000, rows)).map_elements(
                lambda n: f"item {n} {'goal' if n % 9 == 0 else 'none'}", return_dtype=pl.String
            ),
        }
    ).write_parquet(path)


def model(clauses: int) -> ta.DecisionList:
    """As a lesson makes them: several literals a clause, the same features again and again."""
    rng = np.random.default_rng(1)
    features = [ta.parse_feature(text, SCHEMA) for text in CONDITIONS]
    made = []
    for number in range(clauses):
        chosen = rng.choice(len(features), size=3, replace=False)
        literals = tuple(ta.Literal(features[n], bool(rng.random() < 0.6)) for n in chosen)
        made.append(ta.Clause(literals, f"label {number % 5}", f"example {number}"))
    return ta.DecisionList(tuple(made), ta.Clause((), "label 0", "first"))


def timed(work: Callable[[], object]) -> float:
    """The median of some runs, after one that warms up."""
    work()
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    rows = numbers[0] if numbers else 1_000_000
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "items.parquet"), Path(folder, "out.parquet")
        table(rows, path)
        base = duckdb.connect()
        source = f"read_parquet('{path}')"
        print(f"{rows:,} rows, median of {REPEATS}, in seconds\n")
        bare = {
            "polars: copy the columns": lambda: pl.scan_parquet(path).sink_parquet(out),
            "polars: one filter": lambda: (
                pl.scan_parquet(path)
                .filter((pl.col("n") >= 4) & (pl.col("k") < 3))
                .select(pl.len())
                .collect(engine="streaming")
            ),
            "duckdb: copy the columns": lambda: base.execute(
                f"COPY (SELECT * FROM {source}) TO '{out}' (FORMAT parquet)"
            ),
            "duckdb: one filter": lambda: base.execute(
                f"SELECT count(*) FROM {source} WHERE n >= 4 AND k < 3"
            ).fetchall(),
        }
        for name, work in bare.items():
            print(f"{name:32} {timed(work):8.3f}")
        for clauses in (5, 20, 100):
            made = model(clauses)
            case = ta.to_sql(made, "duckdb")
            copy = f"COPY (SELECT {case} AS label FROM {source}) TO '{out}' (FORMAT parquet)"
            own = timed(partial(base.execute, copy))
            print(f"\n{clauses} clauses\n{'duckdb: its own CASE, label only':32} {own:8.3f}")
            engines = ["polars", "duckdb", *(["spark"] if "--spark" in sys.argv else [])]
            for engine in engines:
                taken = timed(partial(predict_file, made, path, out, engine=engine))
                print(
                    f"{f'predict_file, {engine}':32} {taken:8.3f}  {taken / own:5.2f} x that CASE"
                )
        base.close()


if __name__ == "__main__":
    main()
