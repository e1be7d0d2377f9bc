"""Predictions for frames of every library, for many files, in little memory."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import tellapart as ta
from tellapart.engines import predict_file, predict_frame
from tellapart.errors import FormatError, ParameterError

WALKS = ta.parse_feature("legs >= 4", {"legs": "integer"})
MODEL = ta.DecisionList(
    (ta.Clause((ta.Literal(WALKS),), "walks", "bear"),), ta.Clause((), "else", "duck")
)
DATA: dict[str, Any] = {"name": ["cat", "owl", "cod"], "legs": [4.0, 2.0, None]}
ROWS = [("cat", "walks", 1, "bear"), ("owl", "else", 2, "duck"), ("cod", "else", 2, "duck")]


def test_a_frame_gives_a_frame_of_its_kind(needs: Callable[[str], None]) -> None:
    frame = pl.DataFrame(DATA)
    made = predict_frame(MODEL, frame, keep=["name"])
    assert isinstance(made, pl.DataFrame)
    assert made.rows() == ROWS
    lazy = predict_frame(MODEL, frame.lazy(), keep=["name"])
    assert isinstance(lazy, pl.LazyFrame)
    assert lazy.collect().rows() == ROWS
    of_pandas = predict_frame(MODEL, pd.DataFrame(DATA), keep=["name"])
    assert isinstance(of_pandas, pd.DataFrame)
    assert list(of_pandas.itertuples(index=False, name=None)) == ROWS
    assert pl.DataFrame(predict_frame(MODEL, frame.to_arrow(), keep="all")).columns == [
        "name", "legs", "label", "clause", "example",
    ]  # fmt: skip
    assert predict_frame(MODEL, DATA, prefix="our ").columns[0] == "our label"
    needs("duckdb")
    import duckdb

    relation = duckdb.sql("select 'cat' as name, 4 as legs")
    assert predict_frame(MODEL, relation, keep=["name"]).fetchall() == ROWS[:1]


def test_a_frame_that_does_not_fit() -> None:
    with pytest.raises(FormatError, match="the frame has no column 'legs'"):
        predict_frame(MODEL, {"arms": [2]})
    with pytest.raises(FormatError, match=r"row 1: column 'legs' should hold whole .* holds 2\.5"):
        predict_frame(MODEL, {"legs": [4.0, 2.5]})
    with pytest.raises(ParameterError, match="two columns 'label'"):
        predict_frame(MODEL, {"legs": [4], "label": ["x"]}, keep="all")


def test_a_spark_frame(spark: Any) -> None:
    frame = spark.createDataFrame([("cat", 4.0), ("owl", 2.0)], ["name", "legs"])
    made = predict_frame(MODEL, frame, keep=["name"])
    assert type(made) is type(frame)
    assert sorted(map(tuple, made.collect())) == ROWS[:2]
    with pytest.raises(FormatError, match="'legs' should hold integer, but holds string"):
        predict_frame(MODEL, frame.selectExpr("name", "'x' as legs"))


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl"])
def test_the_output_may_be_many_files(ending: str, tmp_path: Path) -> None:
    path, out = tmp_path / "t.csv", tmp_path / f"out{ending}"
    pl.DataFrame({"legs": [n % 5 for n in range(1000)]}).write_csv(path)
    assert predict_file(MODEL, path, out, split=300).rows == 1000
    parts = sorted(out.iterdir())
    assert [part.name for part in parts][:2] == [f"part-00000{ending}", f"part-00001{ending}"]
    read: Any = {".csv": pl.read_csv, ".parquet": pl.read_parquet, ".jsonl": pl.read_ndjson}[ending]
    frames = [read(part) for part in parts]
    assert all(frame.height <= 300 for frame in frames)
    labels = [label for frame in frames for label in frame["label"]]
    assert labels == ["walks" if n % 5 == 4 else "else" for n in range(1000)]
    with pytest.raises(ParameterError, match="is there already"):
        predict_file(MODEL, path, out, split=300)
    with pytest.raises(ParameterError, match="split needs the engine polars"):
        predict_file(MODEL, path, tmp_path / "x.csv", split=300, engine="duckdb")


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_several_and_compressed_tables(
    engine: Any, tmp_path: Path, needs: Callable[[str], None]
) -> None:
    needs("duckdb")
    for year in (2023, 2024):
        folder = tmp_path / "all" / f"year={year}"
        folder.mkdir(parents=True)
        cells = f"legs;size\n4;{year},5\n2;1,5\n"
        (folder / "t.csv.gz").write_bytes(gzip.compress(cells.encode()))
    size = ta.parse_feature("size > 2023.5 AND year = 2024", {"size": "number", "year": "integer"})
    model = ta.DecisionList((ta.Clause((ta.Literal(size),), "yes"),), ta.Clause((), "no"))
    out = tmp_path / "out.csv"
    done = predict_file(model, tmp_path / "all", out, keep=["legs", "year"], engine=engine)
    assert done.rows == 4
    rows = pl.read_csv(out).select("legs", "year", "label").rows()
    assert rows == [(4, 2023, "no"), (2, 2023, "no"), (4, 2024, "yes"), (2, 2024, "no")]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["all", "out.csv"]


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_DATA, (int(sys.argv[4]) << 20,) * 2)
from tellapart.engines import predict_file
from tellapart.export import load_model
print(predict_file(load_model(sys.argv[1]), sys.argv[2], sys.argv[3]).rows)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("ending", "rows"), [(".csv", 12_000_000), (".parquet", 6_000_000)])
def test_a_table_larger_than_memory(ending: str, rows: int, tmp_path: Path) -> None:
    """A row takes 130 bytes in memory; the process may take two thirds of what the rows take."""
    path, limit = tmp_path / f"t{ending}", rows * 130 * 2 // 3 >> 20
    if ending == ".parquet":
        limit = 600
    block = pl.DataFrame({"legs": [n % 5 for n in range(rows // 10)]})
    block = block.with_columns(
        pl.format("a text of more than a hundred letters, {}", pl.lit("x" * 80)).alias("text")
    )
    lazy = pl.concat([block.lazy()] * 10)
    lazy.sink_csv(path) if ending == ".csv" else lazy.sink_parquet(path)
    ta.save_model(MODEL, tmp_path / "m.json")
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, tmp_path / "m.json", path, tmp_path / "o.parquet",
         str(limit)],
        capture_output=True, text=True, timeout=500, check=False,
        env={"POLARS_MAX_THREADS": "2"},
    )  # fmt: skip
    assert done.stdout.strip() == str(rows), done.stderr[-500:]
    labels = pl.scan_parquet(tmp_path / "o.parquet").select((pl.col("label") == "walks").sum())
    assert labels.collect().item() == rows // 5
