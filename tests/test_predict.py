"""`predict_file`: every engine, every kind of file, the same answers, in order, or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import engines
import tellapart as ta
from tellapart.checks.models import ModelMaker
from tellapart.engines import predict_file

ENGINES = ["polars", "duckdb", "spark"]


@pytest.fixture
def engine(request: Any, needs: Any) -> str:
    if request.param == "spark":
        request.getfixturevalue("spark")
    elif request.param == "duckdb":
        needs("duckdb")
    return str(request.param)


every_engine = pytest.mark.parametrize("engine", ENGINES, indirect=True)


def write(rows: pl.DataFrame, path: Path) -> Path:
    method = {".csv": "csv", ".jsonl": "ndjson", ".parquet": "parquet", ".arrow": "ipc"}
    getattr(rows, f"write_{method[path.suffix]}")(path)
    return path


def read(path: Path) -> pl.DataFrame:
    method = {".csv": "csv", ".jsonl": "ndjson", ".parquet": "parquet"}[path.suffix]
    options: dict[str, Any] = {"infer_schema_length": None} if method != "parquet" else {}
    return getattr(pl, f"read_{method}")(path, **options)  # type: ignore[no-any-return]


def answers(model: ta.DecisionList, items: Any) -> list[tuple[Any, int, Any]]:
    clauses = list(model)
    found = [model.match(item) for item in items]
    places = [next(n for n, c in enumerate(clauses, 1) if c is match) for match in found]
    return [(c.label, place, c.example) for c, place in zip(found, places, strict=True)]


@every_engine
@pytest.mark.parametrize("kind", [".csv", ".jsonl", ".parquet", ".arrow"])
def test_every_kind_of_file(engine: str, kind: str, tmp_path: Path) -> None:
    if engine == "spark" and kind == ".arrow":
        pytest.skip("Spark cannot read Arrow files; a message says so (tested below)")
    models = 2 if engine == "spark" else 8
    rows = engines.frame(3, rows=300)
    path = write(rows, tmp_path / f"items{kind}")
    for seed in range(models):
        model = ModelMaker(seed, plain=kind in (".parquet", ".arrow")).model(9)
        out = tmp_path / f"out{['.parquet', '.csv', '.jsonl'][seed % 3]}"
        done = predict_file(model, path, out, engine=engine, keep=["n"])  # type: ignore[arg-type]
        assert done == (300, out)
        got = read(out)
        assert got.columns == ["n", "label", "clause", "example"]
        assert got["n"].cast(pl.Int64).to_list() == rows["n"].to_list()
        wanted = answers(model, rows.to_dicts())
        assert got["clause"].to_list() == [clause for _, clause, _ in wanted]
        if out.suffix != ".csv":  # which cannot tell an empty text from none
            assert got["label"].to_list() == [label for label, _, _ in wanted]
            assert got["example"].to_list() == [example for _, _, example in wanted]
        assert sorted(p.name for p in tmp_path.iterdir()) == sorted({path.name, out.name})
        out.unlink()
