"""Predictions for frames of every library, for many files, in little memory."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import tellapart as ta
from tellapart.engines import predict_file, predict_frame
from tellapart.errors import FormatError, ParameterError, TellapartError

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

    for legs in ("4", "4.0", "4::double", "4::utinyint", "4::hugeint"):
        relation = duckdb.sql(f"select 'cat' as name, {legs} as legs")
        assert predict_frame(MODEL, relation, keep=["name"]).fetchall() == ROWS[:1]
    with pytest.raises(duckdb.Error, match=r"tellapart: 4\.5 does not fit"):
        predict_frame(MODEL, duckdb.sql("select 4.5::double as legs")).fetchall()
    with pytest.raises(FormatError, match="'legs' should hold integer, but holds text"):
        predict_frame(MODEL, duckdb.sql("select 'x' as legs"))
    red = ta.parse_feature("tags LIKE '%red%'", {"tags": "text"})
    with pytest.raises(FormatError, match="holds lists, objects or times"):
        predict_frame(
            ta.DecisionList((ta.Clause((ta.Literal(red),), "red"),), ta.Clause((), "no")),
            duckdb.sql("select ['red'] as tags"),
        )


def test_times_with_a_zone_in_a_relation_are_read_in_utc(needs: Callable[[str], None]) -> None:
    needs("duckdb")
    import duckdb

    early = ta.parse_feature("seen < '2024-01-01 12:00'", {"seen": "datetime"})
    model = ta.DecisionList((ta.Clause((ta.Literal(early),), "early"),), ta.Clause((), "late"))
    times = "(timestamptz '2024-01-01 13:30+02'), (timestamptz '2024-01-01 11:30-01'), (NULL)"
    relation = duckdb.sql(f"select * from (values {times}) t(seen)")
    labels = [row[0] for row in predict_frame(model, relation).fetchall()]
    assert labels == ["early", "late", "late"]


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
    with pytest.raises(FormatError, match="'legs' should hold integer, but holds text"):
        predict_frame(MODEL, frame.selectExpr("name", "'x' as legs"))
    with pytest.raises(FormatError, match="column 'legs' should hold integer"):
        predict_frame(MODEL, frame.selectExpr("array(1) as legs"))
    for kind in ("tinyint", "float", "decimal(4, 1)"):
        made = predict_frame(MODEL, frame.selectExpr("name", f"cast(legs as {kind}) as legs"))
        assert sorted(row.label for row in made.collect()) == ["else", "walks"]


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
print(predict_file(load_model(sys.argv[1]), sys.argv[2], sys.argv[3], **eval(sys.argv[5])).rows)
# not ru_maxrss, which a process inherits from the one that started it
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(int(peak.split()[1]) >> 10)
"""
LIMIT = 1100
"""MiB. It counts what the allocators reserve, which is twice what they use."""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Path]]:
    """Writes a table of 2 GB; random texts, so that it is as large in memory."""
    folder = tmp_path_factory.mktemp("large")
    chance = random.Random(0)
    texts = [f"{chance.getrandbits(480):0120x}" for _ in range(160_000)]
    block = pl.DataFrame({"legs": [n % 5 for n in range(len(texts))], "text": texts})

    def write(ending: str) -> Path:
        path = folder / f"t{ending}"
        if path.exists():
            return path
        if ending == ".csv":
            rows = block.write_csv(include_header=False).encode()
            with path.open("wb") as file:
                file.write(b"legs,text\n")
                for _ in range(100):
                    file.write(rows)
            return path
        import pyarrow.parquet as pq

        cells = block.to_arrow(compat_level=pl.CompatLevel.oldest())
        with pq.ParquetWriter(path, cells.schema, compression="none", use_dictionary=False) as file:
            for _ in range(100):
                file.write_table(cells)
        return path

    yield write
    shutil.rmtree(folder)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits and tells memory this way")
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("how", [{}, {"engine": "duckdb"}], ids=["by default", "duckdb"])
def test_a_table_larger_than_memory(
    how: dict[str, str],
    ending: str,
    large: Callable[[str], Path],
    tmp_path: Path,
    needs: Callable[[str], None],
) -> None:
    """Every cell is read; the limit is half of the file, and what is used is less than a third."""
    needs("duckdb")
    path = large(ending)
    feature = ta.parse_feature(
        "legs = 4 AND NOT contains(text, 'z')", {"legs": "integer", "text": "text"}
    )
    model = ta.DecisionList((ta.Clause((ta.Literal(feature),), "walks"),), ta.Clause((), "else"))
    ta.save_model(model, tmp_path / "m.json")
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, tmp_path / "m.json", path, tmp_path / "o.parquet",
         str(LIMIT), str(how)],
        capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "POLARS_MAX_THREADS": "2"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-500:]
    rows, used = map(int, done.stdout.split())
    size = path.stat().st_size >> 20
    assert rows == 16_000_000
    assert size > 1.7 * LIMIT
    assert size > 3 * used
    labels = pl.scan_parquet(tmp_path / "o.parquet").select((pl.col("label") == "walks").sum())
    assert labels.collect().item() == rows // 5


def test_duckdb_says_that_memory_is_used_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, needs: Callable[[str], None]
) -> None:
    needs("duckdb")
    import duckdb

    connect = duckdb.connect
    monkeypatch.setattr(
        duckdb, "connect", lambda: connect(config={"memory_limit": "1MB", "threads": "1"})
    )
    pl.DataFrame({"legs": [4] * 300_000}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(TellapartError, match=r"not enough memory for DuckDB.*engine polars"):
        predict_file(MODEL, tmp_path / "t.parquet", tmp_path / "o.parquet", engine="duckdb")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["t.parquet"]
