"""Files as people have them: each is read right, refused with a remedy, or read with a warning.

`FILES` maps what is odd to a `Messy`: how to write the file, and what is expected of it.
"""

from __future__ import annotations

import bz2
import datetime
import gzip
import sqlite3
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import xlsxwriter

Write = Callable[[Path], "Path | str"]
DAY = datetime.date


@dataclass(frozen=True)
class Messy:
    """A file, and what becomes of it."""

    write: Write
    """Writes it into a folder; returns where it is."""
    values: dict[str, list[Any]] = field(default_factory=dict)
    """Columns as they are read."""
    warns: dict[str | None, str] = field(default_factory=dict)
    """What is said of columns."""
    refused: str = ""
    """What the error says, if it cannot be read."""
    remedy: dict[str, Any] | None = None
    """Arguments that the error or the warning names; with these the file is read..."""
    then: dict[str, list[Any]] = field(default_factory=dict)
    """... so."""


def text(content: str, name: str = "t.csv", encoding: str = "utf-8") -> Write:
    def write(folder: Path) -> Path:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode(encoding))
        return path

    return write


def raw(content: bytes, name: str) -> Write:
    def write(folder: Path) -> Path:
        (folder / name).write_bytes(content)
        return folder / name

    return write


def column(*cells: str, name: str = "c", first: str = "n") -> Write:
    """A CSV file with numbered rows and one column of such cells, quoted."""
    rows = "".join(f'{n},"{cell}"\n' for n, cell in enumerate(cells, 5))
    return text(f"{first},{name}\n{rows}")


def sheet(rows: list[list[Any]], others: tuple[str, ...] = ()) -> Write:
    def write(folder: Path) -> Path:
        path = folder / "t.xlsx"
        book = xlsxwriter.Workbook(str(path), {"default_date_format": "yyyy-mm-dd"})
        first = book.add_worksheet("Data")
        for at, row in enumerate(rows):
            for place, cell in enumerate(row):
                if cell is not None:  # a formula has a format and a value, too
                    first.write(at, place, *(cell if isinstance(cell, tuple) else (cell,)))
        for other in others:
            book.add_worksheet(other).write(0, 0, "else")
        book.close()
        return path

    return write


def frame(data: dict[str, Any]) -> Write:
    def write(folder: Path) -> Path:
        pl.DataFrame(data).write_parquet(folder / "t.parquet")
        return folder / "t.parquet"

    return write


def parquets(*contents: dict[str, Any]) -> Write:
    def write(folder: Path) -> Path:
        (folder / "all").mkdir()
        for n, content in enumerate(contents):
            pl.DataFrame(content).write_parquet(folder / "all" / f"{n}.parquet")
        return folder / "all"

    return write


def packed(pack: Callable[[bytes], bytes], name: str) -> Write:
    return raw(pack(b"a,b\n1,x\n2,y\n"), name)


def zipped(*names: str) -> Write:
    def write(folder: Path) -> Path:
        with zipfile.ZipFile(folder / "t.zip", "w") as archive:
            for name in names:
                archive.writestr(name, "a,b\n1,x\n2,y\n")
        return folder / "t.zip"

    return write


def several(*contents: str, folders: tuple[str, ...] = (), pattern: str = "") -> Write:
    def write(folder: Path) -> Path | str:
        for n, content in enumerate(contents):
            inside = folder / "all" / (folders[n] if folders else "")
            inside.mkdir(parents=True, exist_ok=True)
            (inside / f"part{n}.csv").write_text(content)
        return str(folder / "all" / pattern) if pattern else folder / "all"

    return write


def sqlite_file(folder: Path, *statements: str) -> str:
    opened = sqlite3.connect(folder / "t.db")
    for statement in statements:
        opened.execute(statement)
    opened.commit()
    opened.close()
    return f"sqlite:{folder / 't.db'}"


def database(folder: Path) -> str:
    return sqlite_file(
        folder,
        "create table pets (name text, legs integer, born text)",
        "insert into pets values ('rex', 4, '2024-01-31'), ('tom', null, '2024-02-01')",
    )


GERMAN = "Ort;Größe;Fläche;gebaut\nKöln;3,5;1.234,5;31.12.2024\nUlm;4,25;2.000;01.02.2023\n"
TWO = {"a": [1, 2], "b": ["x", "y"]}
PETS = {"query": "select * from pets order by name"}

TEXTS: dict[str, tuple[str, list[str]]] = {
    "two currencies": ("'$5', which may be numbers", ["$5", "7 €"]),
    "leading zeros": ("'007', which may be codes; read as texts", ["007", "12"]),
    "phone numbers": ("which may be codes; read as texts", ["+4930123456", "+4930123457"]),
    "beyond 64 bits": ("which may be codes; read as texts", ["99999999999999999999", "1"]),
    "versions": ("", ["1.2.10", "10.14.11", "31.4.12"]),
    "days before months in ISO dates": (
        "'2024-13-01', which may be dates; read as texts",
        ["2024-13-01", "2024-25-02"],
    ),
    "names of zones": (
        "which may be dates",
        ["2024-01-02 03:04 EST", "2024-07-02 03:04:05 CET"],
    ),
    "units": ("'12kg', which may be numbers", ["12kg", "14.5kg"]),
    "speeds": ("which may be numbers", ["12 km/h", "80 km/h"]),
    "digits of another script": ("which may be numbers", ["٣", "٤٥"]),
    "fractions": ("which may be numbers", ["½", "¾"]),
    "underscores between thousands": ("which may be numbers", ["1_000", "2_000"]),
    "codes with letters behind": ("", ["12A", "7B", "9C", "3D"]),
    "addresses of computers": ("", ["192.168.0.1", "10.0.0.2"]),
    "Y and N": ("only 'N' and 'Y'", ["Y", "N"]),
    "spaces that make a difference": ("", ["red", "red "]),
    "no value but n/a": ("'n/a' in 2 cells", ["n/a", "n/a"]),
    "wide digits among others": ("which may be numbers", ["１２", "３", "4"]),
    "below the limit of detection": ("'<0.5', which may be numbers", ["<0.5", "<0.5", "3.4"]),
    "thousands and millions": ("'1.2K', which may be numbers", ["1.2K", "3M", "500"]),
    "uncertain numbers": ("'1.2±0.1', which may be numbers", ["1.2±0.1", "1.5 ± 0.2", "2"]),
    "about": ("'ca. 5', which may be numbers", ["ca. 5", "ca. 10", "12"]),
    "per mille": ("which may be numbers", ["5‰", "12‰"]),
    "millions of euros": ("'12 k€', which may be numbers", ["12 k€", "1.5 Mio. €"]),
    "hexadecimal numbers": ("which may be numbers", ["0x1F", "0xA0"]),
    "codes of letters and digits": ("", ["c39", "c52", "c7"]),
    "drives of cars": ("", ["4", "f", "r", "f", "4", "f"]),
    "quarters": ("'2024Q1', which may be dates", ["2024Q1", "2023-Q4"]),
    "weeks": ("which may be dates", ["2024-W01", "2024-W02"]),
    "months of Stata": ("which may be dates", ["2024m1", "2024m12"]),
    "times of web servers": (
        "which may be dates",
        ["10/Oct/2000:13:55:36 -0700", "11/Oct/2000:13:55:36 -0700"],
    ),
    "times of Twitter": (
        "which may be dates",
        ["Wed Oct 10 20:19:24 +0000 2018", "Thu Oct 11 20:19:24 +0000 2018"],
    ),
    "times of Google Forms": (
        "which may be dates",
        ["2024/01/02 3:04:05 PM MEZ", "2024/01/03 4:04:05 PM GMT+1"],
    ),
    "ranges that a spreadsheet took for dates": (
        "",
        ["Oct-20", "21-30", "31-40"],
    ),
    "months": ("'2024-01', which may be dates", ["2024-01", "2024-02"]),
    "German months": ("which may be dates", ["31. März 2024", "1. Mai 2024"]),
    "genes that a spreadsheet took for dates": (
        "",
        ["1-Mar", "TP53", "BRCA1"],
    ),
}
"""What is said, if anything, of columns whose cells stay texts as they are."""

FILES: dict[str, Messy] = {
    **{
        what: Messy(column(*cells), {"c": cells}, {"c": said} if said else {})
        for what, (said, cells) in TEXTS.items()
    },
    # -- numbers
    "German Excel": Messy(
        text(GERMAN, encoding="cp1252"),
        refused="line 1: byte 0xf6 is not UTF-8",
        remedy={"encoding": "cp1252"},
        then={
            "Größe": [3.5, 4.25],
            "Fläche": [1234.5, 2000.0],
            "gebaut": [DAY(2024, 12, 31), DAY(2023, 2, 1)],
        },
    ),
    "decimal commas": Messy(
        text("n;c\n1;3,5\n2;4\n"), {"c": [3.5, 4.0]}, {"c": "decimal comma, such as '3,5'"}
    ),
    "thousands or decimals": Messy(
        text("n;c\n1;1.234\n2;2.500\n"),
        {"c": [1.234, 2.5]},
        {"c": "before decimals or between thousands"},
        remedy={"decimal": ","},
        then={"c": [1234, 2500]},
    ),
    "commas between thousands": Messy(
        column("1,234", "12,345,678", "5"), {"c": [1234, 12345678, 5]}, {"c": "'1,234'"}
    ),
    "Swiss thousands": Messy(column("1'234.50", "7"), {"c": [1234.5, 7.0]}, {"c": "1234.5"}),
    "French thousands": Messy(
        column("1\u202f234,50", "7,1"),
        {"c": ["1\u202f234,50", "7,1"]},
        {"c": "which may be numbers"},
        remedy={"decimal": ","},
        then={"c": [1234.5, 7.1]},
    ),
    "money": Messy(
        column("$1,234.50", "-$5", "($7)"),
        {"c": [1234.5, -5.0, -7.0]},
        {"c": "numbers such as '$1,234.50'"},
    ),
    "percent": Messy(
        column("5%", "12.5 %"),
        {"c": [5.0, 12.5]},
        {"c": "numbers such as '5%'; read as numbers: 5"},
    ),
    "percent here and there": Messy(
        column("5%", "7%", "8"), refused="line 4, column 'c': '8' is no percentage"
    ),
    "a word among numbers": Messy(
        column("1.5", "2.5", "low"),
        refused="t.csv line 4, column 'c': 'low' is no number",
        remedy={"nulls": ["low"]},
        then={"c": [1.5, 2.5, None]},
    ),
    "a dash among numbers": Messy(
        column("1.5", "2.5", "-"),
        refused="t.csv line 4, column 'c': '-' is no number",
        remedy={"nulls": ["-"]},
        then={"c": [1.5, 2.5, None]},
    ),
    "words for unknown among numbers": Messy(
        column("1", "NA", " n/a ", "?"),
        {"c": [1, None, None, None]},
        {"c": "'NA' and ' n/a ' and '?' among numbers"},
        remedy={"types": {"c": "text"}},
        then={"c": ["1", "NA", " n/a ", "?"]},
    ),
    "words for unknown among decimal commas": Messy(
        text("c;d\n1,5;a\nNULL;b\n2,5;c\n"), {"c": [1.5, None, 2.5]}, {"c": "'NULL' among numbers"}
    ),
    "words for unknown among dates": Messy(
        column("2024-01-02", "NA"),
        {"c": [datetime.date(2024, 1, 2), None]},
        {"c": "'NA' among dates"},
    ),
    "truths as R writes them": Messy(
        column("TRUE", "FALSE", "NA"),
        {"c": [True, False, None]},
        {"c": "'NA' among true and false"},
    ),
    "nan and inf": Messy(
        column("1.5", "nan", "inf"),
        {"c": [1.5, None, None]},
        {"c": "NaN or infinity among numbers; read as unknown"},
    ),
    "spaces around numbers": Messy(text("n, c\n1, 2.5\n2, 3\n"), {"c": [2.5, 3.0]}),
    # -- codes
    "leading zeros far down": Messy(
        column(*["12"] * 15_000, "007"), {"c": ["12"] * 15_000 + ["007"]}, {"c": "'007'"}
    ),
    "scientific codes": Messy(
        column("1e5", "12"),
        {"c": [100000.0, 12.0]},
        {"c": "'1e5', which may be codes; read as numbers: 100000"},
        remedy={"types": {"c": "text"}},
        then={"c": ["1e5", "12"]},
    ),
    "phone numbers without a sign": Messy(
        column("5551234567", "5551234568"), {"c": [5551234567, 5551234568]}, {"c": "codes"}
    ),
    "beyond 2^53": Messy(
        column("9007199254740993", "1"), {"c": [9007199254740993, 1]}, {"c": "which may be codes"}
    ),
    "dates without signs": Messy(
        column("20240131", "20240201"),
        {"c": [20240131, 20240201]},
        {"c": "which may be dates"},
        remedy={"types": {"c": "date"}},
        then={"c": [DAY(2024, 1, 31), DAY(2024, 2, 1)]},
    ),
    "versions or dates": Messy(
        column("1.2.10", "10.4.11"),
        {"c": ["1.2.10", "10.4.11"]},
        {"c": "'1.2.10', which may be dates; read as texts"},
        remedy={"types": {"c": "date"}},
        then={"c": [DAY(2010, 2, 1), DAY(2011, 4, 10)]},
    ),
    # -- numbers that are not read
    "lakhs": Messy(
        text('n,c\na,"1,00,000"\nb,"12,34,567"\n'),
        {"c": ["1,00,000", "12,34,567"]},
        {"c": "'1,00,000', which may be numbers"},
    ),
    # -- true and false
    "ticks": Messy(
        column("✓", "✗"),
        {"c": ["✓", "✗"]},
        {"c": "only '✓' and '✗'"},
        remedy={"true": ["✓"], "false": ["✗"]},
        then={"c": [True, False]},
    ),
    "true, 1 and false": Messy(
        column("true", "1", "false"),
        {"c": ["true", "1", "false"]},
        {"c": "only '1' and 'false' and 'true'"},
        remedy={"true": ["1", "true"], "false": ["false"]},
        then={"c": [True, True, False]},
    ),
    "yes and no": Messy(
        column("yes", "no", ""),
        {"c": ["yes", "no", ""]},
        {"c": "only 'no' and 'yes'"},
        remedy={"true": ["yes"], "false": ["no"]},
        then={"c": [True, False, None]},
    ),
    "0 and 1": Messy(
        column("1", "0", "1"),
        {"c": [1, 0, 1]},
        {"c": "only 0 and 1"},
        remedy={"true": ["1"], "false": ["0"]},
        then={"c": [True, False, True]},
    ),
    "TRUE and False": Messy(column("TRUE", "False"), {"c": [True, False]}),
    # -- dates
    "days or months first": Messy(
        column("1/2/2024", "3/4/2024"),
        {"c": [DAY(2024, 2, 1), DAY(2024, 4, 3)]},
        {"c": "read as dates with the day first"},
        remedy={"dates": "month-first"},
        then={"c": [DAY(2024, 1, 2), DAY(2024, 3, 4)]},
    ),
    "months first": Messy(
        column("12/31/2024", "1/2/2024"),
        {"c": [DAY(2024, 12, 31), DAY(2024, 1, 2)]},
        {"c": "dates with the month first"},
    ),
    "months first, as the other column says": Messy(
        text("a,b\n1/2/2024,12/31/2024\n3/4/2024,1/2/2024\n"),
        {"a": [DAY(2024, 1, 2), DAY(2024, 3, 4)]},
        {"a": "dates with the month first", "b": "dates with the month first"},
    ),
    "mixed dates": Messy(
        column("31/12/2024", "30/12/2024", "12/31/2024"),
        refused="line 4, column 'c': '12/31/2024' is no date like 31/12/2024",
    ),
    "ISO among others": Messy(
        column("2024-12-31", "2024-12-30", "31.12.2024"),
        refused="line 4, column 'c': '31.12.2024' is no date",
    ),
    "no such day": Messy(
        column("2024-02-28", "2024-02-30"), refused="line 3, column 'c': '2024-02-30' is no date"
    ),
    "years of two digits": Messy(
        column("31/12/68", "30/12/69"),
        {"c": [DAY(2068, 12, 31), DAY(1969, 12, 30)]},
        {"c": "two digits"},
    ),
    "names of months": Messy(
        column("31 Dec 2024", "1-Jan-2025", "Feb 3, 2025"),
        {"c": [DAY(2024, 12, 31), DAY(2025, 1, 1), DAY(2025, 2, 3)]},
    ),
    "times with zones": Messy(
        column("2024-01-01T10:00:00+02:00", "2024-01-01T10:00:00Z"),
        {"c": [datetime.datetime(2024, 1, 1, 8), datetime.datetime(2024, 1, 1, 10)]},
        {"c": "times in UTC"},
    ),
    "American times": Messy(
        column("1/31/2024 1:05 PM", "2/1/2024 12:00 AM"),
        {"c": [datetime.datetime(2024, 1, 31, 13, 5), datetime.datetime(2024, 2, 1)]},
        {"c": "dates with the month first"},
    ),
    "times of day": Messy(
        column("9:30", "10:00"), {"c": ["09:30", "10:00"]}, {"c": "times of day"}
    ),
    # -- texts
    "words for unknown": Messy(
        column("red", "N/A"),
        {"c": ["red", "N/A"]},
        {"c": "may mean unknown"},
        remedy={"nulls": ["N/A"]},
        then={"c": ["red", None]},
    ),
    "an empty column": Messy(text("a,b\n1,\n2,\n"), {"b": [None, None]}),
    # -- the form of CSV files
    "a column without a name": Messy(
        text(",a\n0,x\n1,y\n"), {"column_1": [0, 1]}, {"column_1": "only 0 and 1"}
    ),
    "separators at the end": Messy(
        text("a,b,\n1,x,\n2,y,\n"),
        {**TWO, "column_3": [None, None]},
    ),
    "one cell too many": Messy(
        text("a,b\n1,x,\n2,y,\n"), refused="line 2: 3 cells, but the header has 2"
    ),
    "no header": Messy(
        text("1,x\n2,y\n3,z\n"),
        warns={None: "the first line may be a row"},
        remedy={"header": 0},
        then={"column_1": [1, 2, 3], "column_2": ["x", "y", "z"]},
    ),
    "a title above": Messy(
        text("Report of 2024\n\na,b\n1,x\n2,y\n"),
        refused="If the names of the columns are in line 3",
        remedy={"header": 3},
        then=TWO,
    ),
    "comments above": Messy(
        text("# made by hand\na,b\n1,x\n2,y\n"),
        refused="line 1: 1 cell, but line 2 has 2",
        remedy={"comment": "#"},
        then=TWO,
    ),
    "a comment in the middle": Messy(
        text("a,b\n1,x\n# so far\n2,y\n"),
        refused="line 3: 1 cell, but the header has 2. If it is a comment",
        remedy={"comment": "#"},
        then=TWO,
    ),
    "a comment with as many cells": Messy(
        text("a,b\n1,x\n# 5,10\n2,y\n"),
        refused="line 3, column 'a': '# 5' is no number",
        remedy={"comment": "#"},
        then=TWO,
    ),
    "a line for Excel": Messy(
        text("sep=;\na;b\n1;x\n2;y\n"),
        refused="line 1: 'sep=;' is for Excel",
        remedy={"header": 2, "separator": ";"},
        then=TWO,
    ),
    "spaces between cells": Messy(
        text("a b\n1 x\n2 y\n", "t.txt"),
        warns={"a b": "a single column"},
        remedy={"separator": " "},
        then=TWO,
    ),
    "a byte order mark": Messy(text("\ufeffa,b\n1,x\n2,y\n"), TWO),
    "a byte order mark and no header": Messy(
        text("\ufeff1,x\n2,y\n"),
        warns={None: "the first line may be a row"},
        remedy={"header": 0},
        then={"column_1": [1, 2]},
    ),
    "UTF-16": Messy(
        text("a,b\n1,x\n2,y\n", encoding="utf-16"),
        refused="looks like UTF-16",
        remedy={"encoding": "utf-16"},
        then=TWO,
    ),
    "carriage returns only": Messy(text("a,b\r1,x\r2,y\r"), refused="carriage returns only"),
    "Windows line ends": Messy(text("a,b\r\n1,x\r\n2,y\r\n"), TWO),
    "line feeds in cells": Messy(text('a,b\n1,"x\n\ny"\n2,z\n'), {"b": ["x\n\ny", "z"]}),
    "a quote in a cell": Messy(
        text('a,b\n1,5" disk\n2,y\n'),
        refused="line 2: a quote stands in the middle of a cell",
    ),
    "two quotes in two cells": Messy(
        text('a,b\n1,5" disk\n2,6" disk\n'), refused="line 2: a quote stands in the middle"
    ),
    "something after a quote": Messy(
        text('a,b\n1,"x"y\n2,z\n'), refused="line 2: a quote stands in"
    ),
    "a quote left open": Messy(
        text('a,b\n1,"x\n2,y\n'), refused="line 2: a quote is opened and not"
    ),
    "Excel called CSV": Messy(
        raw(b"PK\x03\x04 and so on", "t.csv"), refused="is no CSV file but a zip"
    ),
    "a web page called CSV": Messy(text("<!DOCTYPE html>\n<html>"), refused="but a web page"),
    # -- JSON
    "an array in an object": Messy(
        text('{"rows": [{"a": 1}]}', "t.json"),
        refused="an array of objects is wanted, such as what is in 'rows'",
    ),
    "broken JSON": Messy(
        text('[{"a": 1},\n{"a": }]', "t.json"), refused="line 2, column 7: not JSON"
    ),
    "nested JSON lines": Messy(
        text('{"a": 1, "t": ["red", "big"], "s": {"x": {"y": 1}}}\n{"a": 2}\n', "t.jsonl"),
        {"a": [1, 2], "t": ["red, big", None], "s.x.y": [1, None]},
        {"t": "lists; read as texts", "s": "objects with fields", "s.x": "s.x.y"},
    ),
    "dates in JSON": Messy(
        text('{"d": "2024-01-31"}\n{"d": "2024-02-01"}\n', "t.jsonl"),
        {"d": ["2024-01-31", "2024-02-01"]},
        {"d": "look like dates"},
        remedy={"types": {"d": "date"}},
        then={"d": [DAY(2024, 1, 31), DAY(2024, 2, 1)]},
    ),
    # -- compressed, and several
    "gzip": Messy(packed(gzip.compress, "t.csv.gz"), TWO),
    "gzip by another name": Messy(packed(gzip.compress, "t.csv"), TWO),
    "bzip2": Messy(packed(bz2.compress, "t.csv.bz2"), TWO),
    "zip": Messy(zipped("inner/t.csv"), TWO),
    "zip with two files": Messy(zipped("a.csv", "b.csv"), refused="holds 2 files (a.csv, b.csv)"),
    "a broken gzip file": Messy(
        raw(gzip.compress(b"a,b\n1,x\n" * 99)[:-20], "t.csv.gz"),
        refused="t.csv.gz cannot be unpacked",
    ),
    "a folder": Messy(several("a,b\n1,x\n", "b,a\ny,2\n"), TWO),
    "a pattern": Messy(several("a,b\n1,x\n", "a,b\n2,y\n", pattern="part*.csv"), TWO),
    "Hive folders": Messy(
        several("a\n1\n", "a\n2\n", folders=("year=2023", "year=2024")),
        {"a": [1, 2], "year": [2023, 2024]},
    ),
    "other columns in another file": Messy(
        several("a,b\n1,x\n", "a\n2\n"), refused="has a column 'b' and part1.csv has none"
    ),
    "a word in the second file": Messy(
        several("a\n1\n2\n", "a\n3\nx\n"), refused="part1.csv line 3, column 'a': 'x' is no number"
    ),
    # -- spreadsheets
    "Excel": Messy(
        sheet(
            [
                ["a", "d", "t", "z"],
                [1, DAY(2024, 1, 31), datetime.time(9, 30), "007"],
                [2.5, DAY(2024, 2, 1), datetime.time(10), "12"],
            ]
        ),
        {
            "a": [1.0, 2.5],
            "d": [DAY(2024, 1, 31), DAY(2024, 2, 1)],
            "t": ["09:30:00", "10:00:00"],
            "z": ["007", "12"],
        },
        {"t": "times of day", "z": "which may be codes"},
    ),
    "Excel with a title": Messy(
        sheet([["Sales"], [], ["a", "b", "c"], [1, "x", 3], [2, "y", 4]]),
        refused="If the names of the columns are in row 3",
        remedy={"header": 3},
        then=TWO,
    ),
    "Excel with error cells": Messy(
        sheet([["a", "b"], [1, 5], [2, ("=1/0", None, "#DIV/0!")], [3, 7]]),
        {"a": [1, 2, 3], "b": [5, None, 7]},
    ),
    "Excel with several sheets": Messy(
        sheet([["a", "b"], [1, "x"], [2, "y"]], ("Notes",)),
        TWO,
        {None: "2 sheets: Data, Notes; read as the sheet 'Data'"},
    ),
    "Excel with a word among numbers": Messy(
        sheet([["a"], [1], [2], ["many"]]), refused="t.xlsx row 4, column 'a': 'many' is no number"
    ),
    "CSV called Excel": Messy(
        text("a,b\n1,x\n", "t.xlsx"), refused="give it that ending, such as .csv"
    ),
    # -- several ways to say one thing
    "three words for unknown": Messy(
        column("NULL", "-", "n/a", "x7", "y8"),
        {"c": ["NULL", "-", "n/a", "x7", "y8"]},
        {"c": "'NULL' and '-' and 'n/a' in 3 cells"},
        remedy={"nulls": ["NULL", "-", "n/a"]},
        then={"c": [None, None, None, "x7", "y8"]},
    ),
    "a key twice in JSON lines": Messy(
        text('{"a":1,"b":"x","a":2}\n', "t.jsonl"),
        refused="t.jsonl line 1: an object has 'a' twice",
    ),
    "a key twice in JSON": Messy(
        text('[{"a":1,"a":2}]', "t.json"), refused="t.json: an object has 'a' twice"
    ),
    # -- typed columns
    "Parquet files of different types": Messy(
        parquets({"a": [1]}, {"a": [1.5]}),
        refused="1.parquet: column 'a' holds Float64 here and holds Int64 in 0.parquet",
    ),
    "Parquet files of different columns": Messy(
        parquets({"a": [1], "b": [2]}, {"a": [1]}),
        refused="1.parquet: column 'b' is missing here and holds Int64 in 0.parquet",
    ),
    "Parquet files": Messy(parquets({"a": [1]}, {"a": [2]}), {"a": [1, 2]}),
    "infinity and NaN in Parquet": Messy(
        frame({"f": [1.0, float("inf"), float("nan")]}),
        {"f": [1.0, None, None]},
        {"f": "NaN or infinity among numbers; read as unknown"},
    ),
    "lists, decimals and zones": Messy(
        frame(
            {
                "l": [["red", None, "big"], []],
                "n": [[1, 2], None],
                "m": pl.Series([Decimal("1.5"), None], dtype=pl.Decimal(10, 2)),
                "z": pl.Series([datetime.datetime(2024, 1, 1)] * 2).dt.replace_time_zone(
                    "Asia/Tokyo"
                ),
                "k": pl.Series(["x", "y"], dtype=pl.Categorical),
                "u": pl.Series([1, 2], dtype=pl.UInt64),
                "t": [datetime.time(9, 30), None],
            }
        ),
        {
            "l": ["red, big", ""],
            "n": ["1, 2", None],
            "m": [1.5, None],
            "k": ["x", "y"],
            "z": [datetime.datetime(2023, 12, 31, 15)] * 2,
            "u": [1.0, 2.0],
            "t": ["09:30:00", None],
        },
        {
            "l": "lists",
            "n": "lists",
            "m": "numbers of the type Decimal",
            "z": "Asia/Tokyo",
            "u": "UInt64",
            "t": "times of day",
        },
    ),
    "numbers as texts in Parquet": Messy(
        frame({"c": ["1,5", "2,25"], "d": ["1.5", "x"]}),
        {"c": ["1,5", "2,25"]},
        {"c": "look like numbers", "d": "look like numbers, but for 'x'"},
        remedy={"types": {"c": "number"}},
        then={"c": [1.5, 2.25]},
    ),
    "a database": Messy(
        database,
        refused="say which rows to read, such as query=",
        remedy=PETS,
        then={"name": ["rex", "tom"], "legs": [4, None], "born": ["2024-01-31", "2024-02-01"]},
    ),
}
