"""CPU time and memory of `predict_file` against the same work written by hand, each in a process.

    python benchmarks/predict_cost.py [rows] [--csv] [--repeats N]

By hand is what an engineer would write with the engine: the CASE as `when/then` of Polars, or as
SQL in DuckDB, with the types of the columns given, label, clause and example written to Parquet.
DIFFERENT on Parquet with Polars 2.1 is not ours: there a streamed select of nothing but when/then
with literals loses the order of the rows. The machine may be busy: CPU time and the largest
resident memory are compared, not the clock.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

SCHEMA = {"n": "integer", "k": "integer", "x": "number", "y": "number", "b": "bool", "s": "text"}
RULES = [
    ("n >= 7 AND k < 3", "a"), ("x > 0.9", "b"), ("s LIKE 'item 1%'", "c"), ("x + y < 0.3", "d"),
    ("b AND n < 2", "e"), ("k IN (1, 5)", "f"),
]  # fmt: skip

RUN = """
import json, resource, sys
import polars as pl
who, engine, path, out, given = sys.argv[1:]
rules = json.loads(given)
csv = path.endswith(".csv")
if who == "ours":
    from tellapart.engines import predict_file
    from tellapart.export import load_model
    predict_file(load_model(rules["model"]), path, out, engine=engine)
elif engine == "polars":
    types = {"n": pl.Int64, "k": pl.Int64, "x": pl.Float64, "y": pl.Float64}
    types |= {"b": pl.Boolean, "s": pl.String}
    frame = pl.scan_csv(path, schema=types) if csv else pl.scan_parquet(path)
    c = pl.col
    rule = [(c("n") >= 7) & (c("k") < 3), c("x") > 0.9, c("s").str.starts_with("item 1"),
            c("x") + c("y") < 0.3, c("b") & (c("n") < 2), c("k").is_in([1, 5])]
    number = pl.when(rule[0]).then(1)
    for place in range(2, 7):
        number = number.when(rule[place - 1]).then(place)
    number = number.otherwise(7)
    clause = c("clause")
    names = ["a", "b", "c", "d", "e", "f", "g"]
    frame.select(number.cast(pl.UInt32).alias("clause")).select(
        clause.replace_strict(list(range(1, 8)), names).alias("label"), clause,
        clause.replace_strict(list(range(1, 8)), [f"row {n}" for n in range(7)]).alias("example"),
    ).sink_parquet(out)
else:
    import duckdb
    types = "{'n':'BIGINT','k':'BIGINT','x':'DOUBLE','y':'DOUBLE','b':'BOOLEAN','s':'VARCHAR'}"
    source = f"read_parquet('{path}')"
    if csv:
        source = f"read_csv('{path}', header=true, columns={types})"
    case = " ".join(f"WHEN {text} THEN {n}" for n, (text, _) in enumerate(rules["rules"], 1))
    def pick(values):
        cases = " ".join(f"WHEN {n} THEN '{v}'" for n, v in enumerate(values, 1))
        return f"CASE clause {cases} END"
    labels = [label for _, label in rules["rules"]] + ["g"]
    duckdb.connect().execute(
        f"COPY (SELECT {pick(labels)} AS label, clause,"
        f" {pick([f'row {n}' for n in range(7)])} AS example FROM (SELECT CASE {case} ELSE 7 END"
        f" AS clause FROM {source})) TO '{out}' (FORMAT parquet)")
used = resource.getrusage(resource.RUSAGE_SELF)
peak = [line for line in open("/proc/self/status") if line.startswith("VmHWM")][0]
print(json.dumps([used.ru_utime + used.ru_stime, int(peak.split()[1]) / 1024]))
"""


def table(rows: int, path: Path) -> None:
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 2000, rows)
    frame = pl.DataFrame(
        {
            "n": rng.integers(0, 10, rows),
            "k": rng.integers(0, 10, rows),
            "x": rng.random(rows),
            "y": rng.random(rows),
            "b": rng.random(rows) < 0.3,
            "s": pl.Series([f"item {n}" for n in range(2000)]).gather(numbers),
        }
    )
    frame.write_csv(path) if path.suffix == ".csv" else frame.write_parquet(path)


def save(path: Path) -> None:
    import tellapart as ta

    parsed = [(ta.parse_feature(text, SCHEMA), label) for text, label in RULES]
    made = [
        ta.Clause((ta.Literal(feature),), label, f"row {n}")
        for n, (feature, label) in enumerate(parsed)
    ]
    ta.save_model(ta.DecisionList(tuple(made), ta.Clause((), "g", "row 6")), path)


def main() -> None:
    words = sys.argv[1:]
    rows = next((int(word) for word in words if word.isdigit()), 1_000_000)
    repeats = int(words[words.index("--repeats") + 1]) if "--repeats" in words else 3
    endings = [".csv"] if "--csv" in words else [".parquet", ".csv"]
    print(f"{rows:,} rows, median of {repeats}: CPU seconds, MB")
    with tempfile.TemporaryDirectory() as folder:
        save(Path(folder, "model.json"))
        given = json.dumps({"rules": RULES, "model": str(Path(folder, "model.json"))})
        for ending in endings:
            path = Path(folder, f"items{ending}")
            table(rows, path)
            for engine in ("polars", "duckdb"):
                cost: dict[str, tuple[float, float]] = {}
                found: dict[str, pl.DataFrame] = {}
                for who in ("hand", "ours"):
                    out = Path(folder, f"{who}.parquet")
                    runs = []
                    for _ in range(repeats):
                        command = [
                            sys.executable,
                            "-c",
                            RUN,
                            who,
                            engine,
                            str(path),
                            str(out),
                            given,
                        ]
                        done = subprocess.run(command, check=True, capture_output=True, text=True)
                        runs.append(json.loads(done.stdout.splitlines()[-1]))
                    used, most = (statistics.median(each) for each in zip(*runs, strict=True))
                    cost[who] = used, most
                    found[who] = pl.read_parquet(out).cast({"clause": pl.Int64})
                same = "same" if found["hand"].equals(found["ours"]) else "DIFFERENT"
                (cpu, memory), (our_cpu, our_memory) = cost["hand"], cost["ours"]
                print(
                    f"{ending:9}{engine:8} by hand {cpu:7.2f} s {memory:7.0f} MB   predict"
                    f" {our_cpu:7.2f} s {our_memory:7.0f} MB   {our_cpu / cpu:5.2f} x CPU"
                    f" {our_memory / memory:5.2f} x memory   {same}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
