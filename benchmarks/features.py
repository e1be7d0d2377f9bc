"""What a new feature costs on a table, against Polars alone, in one run.

    python benchmarks/features.py [rows]

For each feature: the time Polars takes for the same condition written by hand (`frame.select`), the
time `table.truth` takes for a feature it has not seen, packed bits included, and their ratio.
Parsing is apart, as it does not depend on the table. Then candidate features on a wide table.
"""

from __future__ import annotations

import re
import statistics
import sys
import time
from collections.abc import Callable
from datetime import date
from functools import partial

import numpy as np
import polars as pl

import tellapart as ta

col = pl.col
FEATURES: dict[str, Callable[[], pl.Expr]] = {
    "legs >= 4": lambda: col("legs") >= 4,
    "feathers AND NOT airborne": lambda: col("feathers") & ~col("airborne"),
    "price > 10": lambda: col("price") > 10,
    "price / quantity > 10": lambda: col("price") / col("quantity") > 10,
    "colour IN ('red', 'blue')": lambda: col("colour").is_in(["red", "blue"]),
    "legs BETWEEN 2 AND 6 OR feathers": lambda: col("legs").is_between(2, 6) | col("feathers"),
    "note IS NULL": lambda: col("note").is_null(),
    "born >= '2000-01-01'": lambda: col("born") >= date(2000, 1, 1),
    "title LIKE '%goalie%'": lambda: col("title").str.contains("goalie", literal=True),
    "title ILIKE '%goalie%'": lambda: col("title").str.contains("(?i)goalie"),
    "lower(colour) = 'green'": lambda: col("colour").str.to_lowercase() == "green",
    "legs >= 4 AND price > 10 AND NOT feathers AND title LIKE 'red%'": lambda: (
        (col("legs") >= 4)
        & (col("price") > 10)
        & ~col("feathers")
        & col("title").str.starts_with("red")
    ),
}


def frame(rows: int, seed: int = 0) -> pl.DataFrame:
    """Random items of every type, a tenth of the prices and notes unknown."""
    rng = np.random.default_rng(seed)
    words = np.array(
        re.findall(r"\w+", "the red goalie mask of an old ice hockey team and a stick")
    )
    titles = words[rng.integers(0, len(words), (rows, 6))]
    price = pl.Series(rng.gamma(2, 8, rows))
    gap = pl.Series(rng.random(rows) < 0.1)
    return pl.DataFrame(
        {
            "legs": rng.integers(0, 9, rows),
            "feathers": rng.random(rows) < 0.3,
            "airborne": rng.random(rows) < 0.4,
            "price": price,
            "quantity": rng.integers(0, 20, rows),
            "colour": np.array(["red", "blue", "Green", "black"])[rng.integers(0, 4, rows)],
            "born": pl.Series(rng.integers(5_000, 20_000, rows).astype("int32")).cast(pl.Date),
            "title": pl.Series(titles.astype(str).tolist()).list.join(" "),
        }
    ).with_columns(price=pl.when(~gap).then(pl.col("price")), note=pl.when(~gap).then(pl.lit("n")))


def timed(work: Callable[[], object]) -> float:
    """Milliseconds."""
    start = time.perf_counter()
    work()
    return 1_000 * (time.perf_counter() - start)


def select(data: pl.DataFrame, make: Callable[[], pl.Expr]) -> pl.DataFrame:
    return data.select(make())


def features(rows: int, times: int = 21) -> None:
    """One line a feature; the two are timed in turns, so that both meet the same machine."""
    table = ta.Table(frame(rows))
    clean = table.frame(table.columns)
    print(f"{rows:,} rows; median of {times}, milliseconds")
    print(f"{'feature':64} {'parse':>6} {'Polars':>8} {'truth':>8} {'ratio':>6}")
    for text, by_hand in FEATURES.items():
        parse, alone, whole = [], [], []
        for _ in range(times):
            feature = table.parse(text)
            table.forget()
            parse.append(timed(partial(table.parse, text)))
            alone.append(timed(partial(select, clean, by_hand)))
            whole.append(timed(partial(table.truth, feature)))
        took, polars, truth = map(statistics.median, (parse, alone, whole))
        print(f"{text:64} {took:6.2f} {polars:8.3f} {truth:8.3f} {truth / polars:6.2f}")


def candidates(rows: int, columns: int = 50) -> None:
    rng = np.random.default_rng(1)
    data = frame(rows)
    while data.width < columns:
        more = rng.normal(size=rows) if data.width % 2 else rng.integers(0, 100, rows)
        data = data.with_columns(pl.Series(f"c{data.width}", more))
    table = ta.Table(data)
    labels = (data["price"].fill_null(0) > 15).to_numpy()
    for known in (100, 10_000):
        history = [(n, bool(labels[n])) for n in range(known)]
        item, example = int(np.argmax(labels)), int(np.argmin(labels))
        work = partial(table.candidates, item, example, history)
        taken = statistics.median(timed(work) for _ in range(5))
        print(f"candidates: {rows:,} rows, {columns} columns, {known:,} labels: {taken:.0f} ms")
    for candidate in table.candidates(item, example, history, limit=5):
        print(f"  {candidate.score:.3f} {candidate}")


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    features(count)
    candidates(count)
