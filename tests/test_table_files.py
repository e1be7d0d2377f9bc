"""Every kind of file and frame as a table; bad ones get a message to act on."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import tellapart as ta
from tellapart.errors import FormatError
from zoo_table import ZOO, zoo

# -- kinds of files and frames


def write_csv(path: Path) -> Path:
    pl.DataFrame(ZOO).write_csv(path / "zoo.csv")
    return path / "zoo.csv"


def write_tsv(path: Path) -> Path:
    pl.DataFrame(ZOO).write_csv(path / "zoo.tsv", separator="\t")
    return path / "zoo.tsv"


def write_semicolons(path: Path) -> Path:
    pl.DataFrame(ZOO).write_csv(path / "zoo.txt", separator=";", include_bom=True)
    return path / "zoo.txt"


def write_parquet(path: Path) -> Path:
    pl.DataFrame(ZOO).write_parquet(path / "zoo.parquet")
    return path / "zoo.parquet"


def write_ipc(path: Path) -> Path:
    pl.DataFrame(ZOO).write_ipc(path / "zoo.arrow")
    return path / "zoo.arrow"


@pytest.mark.parametrize(
    "write", [write_csv, write_tsv, write_semicolons, write_parquet, write_ipc]
)
def test_every_kind_of_file_reads_the_same(write: Callable[[Path], Path], tmp_path: Path) -> None:
    table = ta.read_table(write(tmp_path), id="name")
    assert table.schema == zoo().schema
    assert len(table) == 4
    assert [dict(row) for row in table.items] == [dict(row) for row in zoo().items]
    assert table.item("wasp")["legs"] == 6
    assert table.summary().startswith(f"{table.name}: 4 items, 5 columns")


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "zoo.jsonl"
    path.write_text(
        '{"name": "bear", "legs": 4}\n\n' + '{"name": "bass"}\n' * 200 + '{"fins": 2}\n'
    )
    table = ta.read_table(path)
    assert table.schema == {"name": "text", "legs": "integer", "fins": "integer"}
    assert len(table) == 202
    assert table.count(table.parse("fins = 2")) == 1


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "mapping", "rows"])
def test_every_kind_of_frame_reads_the_same(kind: str) -> None:
    frame = pl.DataFrame(ZOO)
    rows = frame.to_dicts()
    data: Any = {"polars": frame, "lazy": frame.lazy(), "mapping": ZOO, "rows": rows}.get(kind)
    if kind == "pandas":
        data = pd.DataFrame({name: pd.array(values) for name, values in ZOO.items()})
    table = ta.Table(data, id="name")
    assert table.schema == zoo().schema
    assert [dict(row) for row in table.items] == rows


def test_odd_types_are_brought_to_one_of_each_kind() -> None:
    zoned = pl.Series([datetime.datetime(2020, 1, 1, 0, 30)]).dt.replace_time_zone("Europe/Paris")
    table = ta.Table(
        pl.DataFrame(
            {
                "small": pl.Series([7], dtype=pl.UInt8),
                "single": pl.Series([0.5], dtype=pl.Float32),
                "nan": [float("nan")],
                "infinite": [float("inf")],
                "kind": pl.Series(["a"], dtype=pl.Categorical),
                "zoned": zoned,
                "nothing": [None],
                "list": [[1, 2]],
                "bytes": [b"x"],
            }
        )
    )
    assert table.schema == {
        "small": "integer",
        "single": "number",
        "nan": "number",
        "infinite": "number",
        "kind": "text",
        "zoned": "datetime",
        "nothing": "text",
        "list": "text",
    }
    assert table.unreadable == {"bytes": "Binary"}
    assert dict(table.items[0]) == {
        "small": 7,
        "single": 0.5,
        "nan": None,
        "infinite": None,
        "kind": "a",
        "zoned": datetime.datetime(2019, 12, 31, 23, 30),
        "nothing": None,
        "list": "1, 2",
    }
    assert "not readable by features: bytes" in table.summary()
    with pytest.raises(FormatError, match="no column 'bytes' that can be read"):
        table.values("bytes")


def test_a_parquet_file_is_read_column_by_column(tmp_path: Path) -> None:
    table = ta.read_table(write_parquet(tmp_path))
    assert table.count(table.parse("legs > 0")) == 3
    assert table.loaded([]).columns == ["legs"]
    assert table.items[0]["name"] == "bear"  # a row does not load the columns
    assert table.loaded([]).columns == ["legs"]


# -- bad files: a message a person can act on

BAD = {
    "empty": (b"", "bad.csv is empty"),
    "blank": (b"\xef\xbb\xbf \n\n", "bad.csv is empty"),
    "too few cells": (b"a,b\n1,2\n3\n4,5\n", "line 3: 1 cell, but the header has 2"),
    "too few, after a quoted line feed": (b'a,b\n"x\ny",2\n3\n', "line 4: 1 cell"),
    "a word far down": (
        b"a,b\n" + b"1,x\n" * 20_000 + b"three,y\n",
        "line 20002, column 'a': 'three' is no number",
    ),
    "not UTF-8 in the header": ("é,b\n1,2\n".encode("latin-1"), "line 1: byte 0xe9 is not UTF-8"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_csv_file_gets_a_message_with_the_spot(name: str, tmp_path: Path) -> None:
    content, message = BAD[name]
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        ta.read_table(path)
    assert message in str(caught.value)
    assert "bad.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


BAD_LINES = {
    "not JSON": ('{"a": 1}\n{"a": }\n', "bad.jsonl line 2, column 7: not JSON"),
    "cut off": ('{"a": 1}\n{"a": 2', "bad.jsonl line 2"),
    "no object": ("[1, 2]\n", "line 1: an object is wanted"),
    "not UTF-8": (b'{"a": "\xe9"}\n', "line 1: not UTF-8"),
    "BOM": (b'\xef\xbb\xbf{"a": 1}\n', "line 1: the file starts with a byte order mark"),
    "not a number": ('{"a": 1}\n{"a": NaN}\n', "line 2: NaN is not JSON. Write null"),
    "no name": ('{"": 1, "a": 2}\n', "column number 1 has no name"),
    "nothing": ("{}\n{}\n", "no columns"),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_json_lines_file_gets_a_message_with_the_line(name: str, tmp_path: Path) -> None:
    content, message = BAD_LINES[name]
    path = tmp_path / "bad.jsonl"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(FormatError) as caught:
        ta.read_table(path)
    assert message in str(caught.value)


@pytest.mark.parametrize("rows", [1, 500])
@pytest.mark.parametrize("other", ['"x"', "true", '["y"]', '{"b": 1}'])
@pytest.mark.parametrize("lines", [True, False], ids=["lines", "array"])
def test_a_column_of_several_types_in_json_is_texts(
    rows: int, other: str, lines: bool, tmp_path: Path
) -> None:
    path = tmp_path / ("t.jsonl" if lines else "t.json")
    made = ['{"a": 1, "b": 2}'] * rows + [f'{{"a": {other}, "b": 3}}']
    path.write_text("\n".join(made) if lines else f"[{','.join(made)}]")
    table = ta.read_table(path)
    assert table.schema == {"a": "text", "b": "integer"}
    assert table.values("a") == ["1"] * rows + [other.strip('"')]
    [finding] = table.findings
    assert finding.code == "mixed"
    assert "a: values of several types, such as 1 and" in str(finding)


def test_films_as_vega_has_them(tmp_path: Path) -> None:
    """Titles that are numbers among others, and nulls."""
    path = tmp_path / "movies.json"
    path.write_text(
        '[{"Title": "Jaws", "US Gross": 260000000, "Rating": 8.3, "Source": null},\n'
        ' {"Title": 1776, "US Gross": null, "Rating": null, "Source": "Play"},\n'
        ' {"Title": null, "US Gross": 12, "Rating": 7, "Source": null}]'
    )
    table = ta.read_table(path)
    assert table.values("Title") == ["Jaws", "1776", None]
    assert table.values("Rating") == [8.3, None, 7.0]
    assert [(one.column, one.code) for one in table.findings] == [("Title", "mixed")]


def test_other_bad_files(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="No such file"):
        ta.read_table(tmp_path / "none.csv")
    with pytest.raises(FormatError, match="Known endings are"):
        ta.read_table(tmp_path / "zoo.doc")
    with pytest.raises(FormatError, match="cannot be read"):
        ta.read_table(tmp_path.with_suffix(".csv"))
    for name in ("zoo.parquet", "zoo.arrow"):
        (tmp_path / name).write_text("no such thing")
        with pytest.raises(FormatError, match=f"{name} is no"):
            ta.read_table(tmp_path / name)
    with pytest.raises(FormatError, match=r"no column 'kind'.*Did you mean 'kinds'"):
        ta.Table({"kinds": ["a"]}).labels("kind")
    with pytest.raises(FormatError, match="two columns are called 'a'"):
        ta.Table(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(FormatError, match="column 'a' mixes types"):
        ta.Table(pd.DataFrame({"a": pd.Series([1, "x"], dtype=object)}))
    with pytest.raises(FormatError, match="is no table: got int"):
        ta.Table(7)
    with pytest.raises(FormatError, match="no columns"):
        ta.Table(pl.DataFrame())
    with pytest.raises(FormatError, match="no columns"):
        ta.Table(pl.LazyFrame())
    with pytest.raises(FormatError, match="column number 2 has no name"):
        ta.Table(pl.DataFrame({"a": [1], "": [2]}))
    with pytest.raises(FormatError, match="row 0 is no mapping"):
        ta.Table(pd.Series([1, 2]))
    with pytest.raises(FormatError, match="column 'a' mixes types: 1 in row 0"):
        ta.Table([{"a": 1}, {"a": "x"}])
    late = pl.LazyFrame({"a": ["1", "x"]}).select(pl.col("a").cast(pl.Int64))
    with pytest.raises(FormatError, match=r"table cannot be read: .*failed in column 'a'"):
        ta.Table(late).values("a")
    for days in (-800_000, 3_000_000):
        far = pl.DataFrame({"d": pl.Series([days], dtype=pl.Int32).cast(pl.Date)})
        with pytest.raises(FormatError, match="'d' holds a date outside the years 1 to 9999"):
            ta.Table(far).values("d")


@pytest.mark.slow
def test_good_files_that_look_odd(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_bytes("\ufeffid, name ,\n007,'x',\n\n012,,2\n".encode())
    table = ta.read_table(path, id="id")
    assert table.schema == {"id": "text", "name": "text", "column_3": "integer"}
    assert [str(row) for row in table.items] == ["007", "012"]
    path.write_bytes(b"a,b\n1,NA\n2,3\n")
    assert ta.read_table(path).values("b") == [None, 3]
    assert not ta.read_table(path, nulls=["NA"]).findings
    assert ta.read_table(path, types={"b": "text"}).values("b") == ["NA", "3"]
    path.write_bytes("a;b\n1;é\n".encode("cp1252"))
    assert ta.read_table(path, encoding="cp1252").values("b") == ["é"]
    path.write_text(",".join(f"c{n}" for n in range(300)) + "\n" + ",".join(["1"] * 300) + "\n")
    assert len(ta.read_table(path).columns) == 300
    path.write_text("a,b\n")
    assert len(ta.read_table(path)) == 0
    path.write_text('a,b\n"x,y\nz",1\n,\n')
    assert ta.read_table(path).values("a") == ["x,y\nz", None]  # unknown cells are a row
    path.write_text("a,b\n\n1,2\n\n3,\n\n")  # an empty line is none
    assert ta.read_table(path).values("a") == [1, 3]
    path.write_text("a\n" + "1\n" * 20_000 + "1.5\n")  # a fraction far down
    assert ta.read_table(path).values("a")[-2:] == [1.0, 1.5]
    path.write_text("a, b, c\n 1, 2.5,nan\n 3, 4,1\n")  # spaces after the commas
    table = ta.read_table(path)
    assert table.schema == {"a": "integer", "b": "number", "c": "number"}
    assert next(dict(row) for row in table.items) == {"a": 1, "b": 2.5, "c": None}


def test_decimal_commas_are_read_and_said(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for cells, values in {
        "3,5;4": [3.5, 4],
        "4;3,5": [4, 3.5],
        "1.234,5;-2,25": [1234.5, -2.25],
        " 0,5;n/a": [0.5, None],
    }.items():
        path.write_text("size\n" + cells.replace(";", "\n") + "\n")
        table = ta.read_table(path, separator=";", nulls=["n/a"])
        assert table.values("size") == values
        assert "size: numbers with a decimal comma" in str(table.findings[0])
        assert ta.read_table(path, separator=";", types={"size": "text"}).schema["size"] == "text"
        with pytest.raises(FormatError, match=r"line [23], .*is no number.*nulls=.*types="):
            ta.read_table(path, separator=";", nulls=["n/a"], decimal=".", thousands=" ")
    path.write_text("size;code\n1.5;1,5 or so\n2.5;7,8 kg\n")
    assert ta.read_table(path).schema == {"size": "number", "code": "text"}
    path.write_text('size,pair\n1.5,"1,2"\n2.5,"3,4"\n')  # with commas between cells: a list
    table = ta.read_table(path)
    assert table.schema == {"size": "number", "pair": "text"}
    assert "pair: texts such as '1,2', which may be numbers" in str(table.findings[0])
    path.write_text("size;n\n1.5;1\n2,5;2\n")  # both: one of them is wrong
    with pytest.raises(FormatError, match=r"line 2.*has a decimal point"):
        ta.read_table(path)


@pytest.mark.parametrize(
    "encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "UTF_8"]
)
def test_files_in_other_encodings(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(("name,legs\n" + "Bär,4\n" * 300_000).encode(encoding))  # several blocks
    table = ta.read_table(path, encoding=encoding)
    assert len(table) == 300_000
    assert set(table.values("name")) == {"Bär"}


def test_where_a_file_is_not_in_its_encoding(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"name\n" + b"a\n" * 700_000 + "ä\n".encode())
    with pytest.raises(FormatError, match=r"t\.csv: byte 1400005 is not ascii: ordinal not in"):
        ta.read_table(path, encoding="ascii")
    path.write_bytes("name\nä\n".encode("utf-16-le"))  # no mark: the lower byte comes first
    assert ta.read_table(path, encoding="utf-16").values("name") == ["ä"]
    path.write_bytes("name\nä\n".encode("utf-16") + b"x")
    with pytest.raises(FormatError, match="byte 16 is not utf-16: truncated data"):
        ta.read_table(path, encoding="utf-16")
    for unknown in ("cp9999", "base64", "undefined", "rot13"):
        with pytest.raises(FormatError, match=f"unknown encoding '{unknown}'"):
            ta.read_table(path, encoding=unknown)


def test_columns_can_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("name,legs,class\nbear,4,mammal\n", encoding="utf-8")
    assert ta.read_table(path, id="name", without=["class"]).columns == ["name", "legs"]
    with pytest.raises(FormatError, match=r"has no column 'clas'.* Did you mean 'class'"):
        ta.read_table(path, without=["clas"])
