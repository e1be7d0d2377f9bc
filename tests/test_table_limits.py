"""What strangers send is bounded: bombs, far cells, deep and wide tables, endless queries."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest
import xlsxwriter

import tellapart as ta
from tellapart.engines import predict_file
from tellapart.errors import FormatError
from tellapart.tables.databases import read_query
from tellapart.tables.options import Limits, ReadOptions
from tellapart.tables.read_apart import read_apart

ENDLESS = "with recursive t(n) as (select 1 union all select n + 1 from t) select n from t"
BUSY = f"select count(*) from ({ENDLESS}) as t"


def far_cell(path: Path, place: str = "XFD1048576") -> None:
    """A spreadsheet of 5 kB whose last cell is far away."""
    book = xlsxwriter.Workbook(str(path))
    sheet = book.add_worksheet()
    sheet.write(0, 0, "a")
    sheet.write(place, 2)
    book.close()


def test_a_far_cell_does_not_end_the_process(tmp_path: Path) -> None:
    far_cell(tmp_path / "far.xlsx")
    with pytest.raises(
        FormatError, match=r"far\.xlsx has 17,179,869,184 cells, and at most 100,000"
    ):
        ta.read_table(tmp_path / "far.xlsx")
    far_cell(tmp_path / "near.xlsx", "C3")
    assert len(ta.read_table(tmp_path / "near.xlsx", header=1, types={"a": "text"})) == 1


@pytest.mark.parametrize("cell", ['r = "XFD1048576"', "r='xfd1048576'", 'r="XFD1"'])
def test_however_the_far_cell_is_written(cell: str, tmp_path: Path) -> None:
    far_cell(tmp_path / "far.xlsx", "C3")
    with zipfile.ZipFile(tmp_path / "far.xlsx") as old:
        parts = {name: old.read(name).decode() for name in old.namelist()}
    name = "xl/worksheets/sheet1.xml"
    parts[name] = parts[name].replace('r="C3"', cell).replace('row r="3"', 'row r="1048576"')
    with zipfile.ZipFile(tmp_path / "far.xlsx", "w") as new:
        for part, text in parts.items():
            new.writestr(part, text)
    with pytest.raises(FormatError, match=r"far\.xlsx has 17,179,869,184 cells"):
        ta.read_table(tmp_path / "far.xlsx")


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"a,b\n" + b"1,2\n" * 50_000
    gz, packed = tmp_path / "t.csv.gz", tmp_path / "t.zip"
    gz.write_bytes(gzip.compress(text))
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.csv", text)
    few = property(lambda self: Limits(bytes=100_000).more(self.limits))
    monkeypatch.setattr(ReadOptions, "bounds", few)
    for path in (gz, packed):
        with pytest.raises(
            FormatError, match=r"has 200,004 bytes, and .* or pass limits=3"
        ) as error:
            ta.read_table(path)
        assert len(ta.read_table(path, **error.value.advice)) == 50_000
        model = ta.DecisionList((), ta.Clause((), "x"))
        with pytest.raises(FormatError, match="200,004 bytes"):
            predict_file(model, path, tmp_path / "out.csv")


@pytest.mark.parametrize("name", ["t.json", "t.jsonl"])
@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("[" * 5000 + "]" * 5000, "too deeply to be read"),
        ('{"a":' * 5000 + "1" + "}" * 5000, "too deeply to be read"),
        ("9" * 10_000, "a whole number with too many digits"),
    ],
)
def test_deep_values_and_long_numbers_are_refused(
    value: str, said: str, name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    row = f'{{"b":{value}}}'
    path.write_text(f"[{row}]" if name == "t.json" else f'{{"b":1}}\n{row}\n')
    with pytest.raises(FormatError, match=said):
        ta.read_table(path)
    clause = ta.Clause((ta.Literal(ta.parse_feature("b > 1", {"b": "number"})),), "x")
    model = ta.DecisionList((clause,), ta.Clause((), "y"))
    with pytest.raises(FormatError):
        predict_file(model, path, tmp_path / "out.csv")


def test_a_model_file_with_a_long_number_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text('{"tellapart": "model", "format": %s}' % ("9" * 10_000))
    with pytest.raises(FormatError, match="a number of too many digits"):
        ta.load_model(path)


def test_a_table_of_very_many_columns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(",".join(f"c{n}" for n in range(10_001)) + "\n" + "1," * 10_000 + "1\n")
    with pytest.raises(FormatError, match="10,001 columns, and at most 10,000 are read"):
        ta.read_table(path)
    path = tmp_path / "t.json"
    path.write_text(json.dumps([{f"c{n}": n} for n in range(10_001)]))
    with pytest.raises(FormatError, match="10,001 columns, and at most 10,000 are read"):
        ta.read_table(path)
    model = ta.DecisionList((ta.Clause((ta.Literal("milk"),), "y"),), ta.Clause((), "x"))
    for nested in (False, True):
        path = tmp_path / "t.jsonl"
        rows = ({"milk": True, f"c{n}": n} for n in range(20_000))
        path.write_text("\n".join(json.dumps({"a": row} if nested else row) for row in rows))
        start = time.monotonic()
        with pytest.raises(FormatError, match="10,001 columns, and at most 10,000 are read"):
            ta.read_table(path)
        with pytest.raises(FormatError, match="10,001 columns, and at most 10,000 are read"):
            predict_file(model, path, tmp_path / "out.csv")
        assert time.monotonic() - start < 10  # Polars alone takes minutes


def whole_files() -> dict[str, bytes]:
    """A table in every kind of file."""
    rows = pl.DataFrame({"a": range(50), "b": ["x", "y"] * 25})
    text = rows.write_csv().encode()
    made = {"csv": text, "csv.gz": gzip.compress(text), "csv.bz2": bz2.compress(text)}
    made |= {"jsonl": rows.write_ndjson().encode(), "json": json.dumps(rows.to_dicts()).encode()}
    made["xls"] = (Path(__file__).parent / "merged.xls").read_bytes()
    for kind in ("parquet", "arrow", "zip", "xlsx"):
        out = io.BytesIO()
        if kind == "zip":
            with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
                packed.writestr("t.csv", text)
        elif kind == "xlsx":
            rows.write_excel(out)
        else:
            (rows.write_parquet if kind == "parquet" else rows.write_ipc)(out)
        made[kind] = out.getvalue()
    return made


@pytest.mark.parametrize("kind", whole_files())
def test_a_damaged_file_is_read_or_refused(kind: str, tmp_path: Path) -> None:
    """Cut at every tenth, and with some bytes changed."""
    data, chance = whole_files()[kind], random.Random(7)
    damaged = [data[: len(data) * tenth // 10] for tenth in range(10)]
    for count in (1, 3, 20, 200) * 6:
        changed = bytearray(data)
        for _ in range(count):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        damaged.append(bytes(changed))
    read = []
    for content in damaged:
        path = tmp_path / f"t.{kind}"
        path.write_bytes(content)
        with suppress(FormatError):
            ta.read_table(path).summary()
            read.append(content)
    assert data not in read
    assert len(read) < 30


# -- queries


@pytest.fixture
def database(tmp_path: Path) -> str:
    sqlite3.connect(tmp_path / "t.db").close()
    return f"sqlite:{tmp_path / 't.db'}"


@pytest.fixture
def duck(tmp_path: Path, needs: Callable[[str], None]) -> str:
    needs("duckdb")
    import duckdb

    duckdb.connect(str(tmp_path / "t.duckdb")).close()
    return f"duckdb:{tmp_path / 't.duckdb'}"


@pytest.mark.parametrize("which", ["database", "duck"])
def test_a_query_without_an_end_is_stopped(which: str, request: pytest.FixtureRequest) -> None:
    address = request.getfixturevalue(which)
    for limits, said in (
        (Limits(seconds=1), "the query takes more than 1 seconds. Ask for less, or pass limits=10"),
        (Limits(cells=50_000), "cells, and at most 50,000 are read"),
    ):
        start = time.monotonic()
        query = BUSY if limits.seconds == 1 else f"select n, n as m from ({ENDLESS}) as t"
        if which == "duck" and limits.cells == 50_000:  # which ends before it shows a row
            query = "select range as n, range as m from range(10000000000)"
        with pytest.raises(FormatError, match=said):
            read_query(address, query, limits)
        assert time.monotonic() - start < 20


def test_a_query_of_postgresql_is_stopped(postgres: str) -> None:
    for limits, said in (
        (Limits(seconds=1), "takes more than 1 seconds"),
        (Limits(cells=50_000), "cells, and at most 50,000 are read"),
    ):
        with pytest.raises(FormatError, match=said):
            read_query(postgres, BUSY if limits.seconds == 1 else ENDLESS, limits)
    frame, _ = read_query(postgres, "select 1 as a, 'x' as b union all select 2, null", Limits())
    assert frame.to_dict(as_series=False) == {"a": [1, 2], "b": ["x", None]}


@pytest.mark.parametrize("which", ["database", "duck"])
@pytest.mark.slow
def test_ctrl_c_ends_a_query(which: str, request: pytest.FixtureRequest) -> None:
    address = request.getfixturevalue(which)
    program = (
        f"import tellapart as ta\nta.read_table({address!r}, query='select 1 as a')\n"
        "print('asking', flush=True)\n"
        f"try:\n    ta.read_table({address!r}, query={BUSY!r})\n"
        "except KeyboardInterrupt:\n    print('stopped', flush=True)"
    )
    asked = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert asked.stdout is not None
    assert asked.stdout.readline() == "asking\n"
    time.sleep(2.0)
    asked.send_signal(signal.SIGINT)
    try:
        said, _ = asked.communicate(timeout=20)
    finally:
        asked.kill()
    assert said == "stopped\n"


# -- for a server


@pytest.mark.slow
def test_a_table_read_apart_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("name,born,code,wet\nbear,1/2/2024,007,yes\nduck,,12,no\n")
    here, apart = ta.read_table(path), read_apart(path)
    assert apart.schema == here.schema
    assert [apart.values(n) for n in apart.columns] == [here.values(n) for n in here.columns]
    assert list(map(str, apart.findings)) == list(map(str, here.findings))
    assert (apart.name, apart.names()) == ("t.csv", "name")
    assert read_apart(path, dates="month-first").values("born") != here.values("born")
    frame = pl.DataFrame({"a": [1, 2], "t": [["x"], []], "c": ["7", "8"]})
    frame.write_parquet(tmp_path / "t.parquet")
    here, apart = ta.read_table(tmp_path / "t.parquet"), read_apart(tmp_path / "t.parquet")
    assert list(map(str, apart.findings)) == list(map(str, here.findings))


def test_what_is_wrong_is_said_from_apart(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1.5,x\n2.5\n")
    with pytest.raises(FormatError, match="line 3: 1 cell, but the header has 2") as error:
        read_apart(path)
    assert error.value.advice == {"separator": ";"}
    assert "such as --separator" in error.value.said(lambda name, _: f"--{name}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (Limits(cells=10_000), "t.csv has 1,200,000 cells, and at most 10,000 are read"),
        (Limits(memory=2**28), "t.csv needs more than 256 MB of memory to be read"),
        (Limits(seconds=0), "t.csv takes more than 0 seconds to be read"),
    ],
)
def test_what_is_read_apart_has_limits(limits: Limits, said: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    row = ",".join(["some longer text"] * 4)
    path.write_text("a,b,c,d\n" + f"{row}\n" * 300_000)
    with pytest.raises(FormatError, match=said):
        read_apart(path, limits)
