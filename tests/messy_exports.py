"""Files as spreadsheets, ERP systems, surveys and loggers export them; see `messy_files`."""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import xlsxwriter

from messy_files import DAY, Messy, Write, column, frame, raw, sheet, sqlite_file, text

TIME = datetime.datetime
NAN = float("nan")


def listed(*cells: Any, name: str = "c") -> Write:
    """A CSV file with rows that have names, and one column of such cells."""
    rows = "".join(f"row {n},{cell}\n" for n, cell in enumerate(cells))
    return text(f"n,{name}\n{rows}")


def book(fill: Callable[[Any], None]) -> Write:
    def write(folder: Path) -> Path:
        made = xlsxwriter.Workbook(str(folder / "t.xlsx"))
        fill(made)
        made.close()
        return folder / "t.xlsx"

    return write


def rows(made: Any, *cells: list[Any], name: str | None = None) -> Any:
    sheet = made.add_worksheet(name)
    for at, row in enumerate(cells):
        sheet.write_row(at, 0, row)
    return sheet


def merged(made: Any) -> None:
    sheet = rows(made, ["region", "city"], ["", "Ulm"], ["", "Bonn"], ["South", "Rome"])
    sheet.merge_range(1, 0, 2, 0, "North")


def hidden_sheet(made: Any) -> None:
    rows(made, ["old"], ["o"], name="Old").hide()
    rows(made, ["a", "b"], [2, "x"], [3, "y"], name="New").activate()


def durations(made: Any) -> None:
    sheet = rows(made, ["n", "took"], ["x"], ["y"])
    for row in (1, 2):
        sheet.write(row, 1, 1.5 * row, made.add_format({"num_format": "[h]:mm"}))


def side_by_side(made: Any) -> None:
    sheet = rows(made, ["a", "b"], [2, "x"], [3, "y"])
    sheet.write_column(0, 3, ["c", "q"])


def ods(*sheets: str) -> Write:
    """A file as LibreOffice saves it."""
    space = "urn:oasis:names:tc:opendocument:xmlns:"
    names = "".join(f' xmlns:{n}="{space}{n}:1.0"' for n in ("office", "table", "text"))
    inner = "".join(f'<table:table table:name="S">{one}</table:table>' for one in sheets)
    for around in ("spreadsheet", "body", "document-content"):
        inner = f"<office:{around}{names}>{inner}</office:{around}>"

    def write(folder: Path) -> Path:
        with zipfile.ZipFile(folder / "t.ods", "w") as packed:
            packed.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
            packed.writestr("META-INF/manifest.xml", "<manifest/>")
            packed.writestr("content.xml", inner)
        return folder / "t.ods"

    return write


def cell(words: str, more: str = "") -> str:
    kind = 'office:value-type="string"'
    return f"<table:table-cell {kind} {more}><text:p>{words}</text:p></table:table-cell>"


def row(*cells: str, more: str = "") -> str:
    return f"<table:table-row {more}><table:table-cell/>{''.join(cells)}</table:table-row>"


HIDDEN = 'table:visibility="collapse"'
MERGED_ODS = "".join(
    [
        f'<table:table-column table:number-columns-repeated="2"/><table:table-column {HIDDEN}/>',
        row(cell("region"), cell("city")),
        row(cell("North", 'table:number-rows-spanned="2"'), cell("Ulm")),
        row("<table:covered-table-cell/>", cell("Bonn")),
        row(cell("South"), cell("Rome"), more=HIDDEN),
        row(more=f'table:number-rows-repeated="1000000" {HIDDEN}'),
    ]
)


def texts_in_database(folder: Path) -> str:
    return sqlite_file(
        folder,
        "create table t (price text, made integer)",
        "insert into t values ('1.5', 1700000000), ('2.5', 1700000100), ('n/a', null)",
    )


RED = ["red", "red", "blue"]

FILES: dict[str, Messy] = {
    # -- placeholders
    "-999 among temperatures": Messy(
        listed(12.5, -999, 14.25, 11, -999),
        {"c": [12.5, -999.0, 14.25, 11.0, -999.0]},
        {"c": "-999 in 2 cells, and 11.0 to 14.25 in the others, so it may mean unknown"},
        remedy={"nulls": ["-999"]},
        then={"c": [12.5, None, 14.25, 11.0, None]},
    ),
    "9999.9 of weather stations": Messy(
        listed(12.5, 9999.9, 14.25), warns={"c": "9999.9 in 1 cell"}, remedy={"nulls": ["9999.9"]}
    ),
    "999 and 9999 among ages": Messy(
        listed(33, 44, 9999, 22, 999, name="age"),
        warns={"age": "999 and 9999 in 2 cells"},
        remedy={"nulls": ["999", "9999"]},
        then={"age": [33, 44, None, 22, None]},
    ),
    "99 in a survey": Messy(listed(1, 5, 99, 3, 99), warns={"c": "99 in 2 cells, and 1 to 5"}),
    "-1 for never": Messy(listed(30, -1, 2, -1), warns={"c": "-1 in 2 cells, and 2 to 30"}),
    "negative numbers": Messy(listed(30, -1, 2, -1, -2, -99), {"c": [30, -1, 2, -1, -2, -99]}),
    "prices of 99 and 999": Messy(listed(99, 999, 199, 49), {"c": [99, 999, 199, 49]}),
    "1900-01-01 among days of birth": Messy(
        listed("1988-02-03", "1900-01-01", "1999-09-09", name="born"),
        warns={"born": "1900-01-01 in 1 cell, and 1988-02-03 to 1999-09-09 in the others"},
        remedy={"nulls": ["1900-01-01"]},
        then={"born": [DAY(1988, 2, 3), None, DAY(1999, 9, 9)]},
    ),
    "9999-12-31 for never": Messy(
        listed("2024-02-03", "9999-12-31", "2023-09-09"), warns={"c": "9999-12-31 in 1 cell"}
    ),
    "a history from 1900 on": Messy(listed("1900-01-01", "1950-01-01", "2000-01-01")),
    "99/99/9999": Messy(
        listed("12/31/1988", "99/99/9999", "01/15/1990"),
        refused="line 3, column 'c': '99/99/9999' is no date",
        remedy={"nulls": ["99/99/9999"]},
        then={"c": [DAY(1988, 12, 31), None, DAY(1990, 1, 15)]},
    ),
    "placeholders in Parquet": Messy(
        frame({"f": [12.0, 13.0] * 3000 + [-999.0] * 9}), warns={"f": "-999 in 9 cells"}
    ),
    "blanks of pivot tables": Messy(
        column("red", "(blank)"),
        warns={"c": "'(blank)' in 1 cell"},
        remedy={"nulls": ["(blank)"]},
        then={"c": ["red", None]},
    ),
    # -- rows that are none
    "a total": Messy(
        text("region,sales\nNorth,10\nSouth,20\nTotal,30\n"),
        {"region": ["North", "South", "Total"]},
        {"region": "'Total' in 1 cell, so the row may be a sum of others"},
    ),
    "sums in between": Messy(
        text("region,sales\nN,1\nN,2\nSubtotal N,3\nS,4\nS,5\nSubtotal S,9\nGrand Total,12\n"),
        warns={"region": "'Subtotal N' in 3 cells"},
    ),
    "a last row with a gap": Messy(text("land,people\nMalta,5\nSpain,48\nItaly,\n")),
    "names of columns again": Messy(
        text("name,colour\nbob,red\nann,blue\nname,colour\neva,red\n"),
        warns={"name": "its name in 1 cell", "colour": "its name in 1 cell"},
    ),
    "answers of a form": Messy(
        text("who,Email,Phone\nann,Email,\nbob,,Phone\neva,Email,Phone\n"),
        {"Email": ["Email", None, "Email"]},
    ),
    "no header, and only texts": Messy(
        text("bob,red\nann,blue\neva,red\n"),
        warns={"red": "the first line may be a row"},
        remedy={"header": 0},
        then={"column_2": ["red", "blue", "red"]},
    ),
    "no header, and one column of texts": Messy(
        text("bob\nann\neva\n"),
        warns={"bob": "a name like the texts below it, so the first line may be a row"},
        remedy={"header": 0},
        then={"column_1": ["bob", "ann", "eva"]},
    ),
    "one column of texts": Messy(text("name\nann\neva\n"), {"name": ["ann", "eva"]}),
    "one column of sentences": Messy(text("review_text\nI like it.\nNo, never again!\n", "t.tsv")),
    "no header, and codes": Messy(
        text("AB-12,red\nC-345,blue\n"),
        warns={None: "names are values, such as 'AB-12'"},
        remedy={"header": 0},
        then={"column_1": ["AB-12", "C-345"]},
    ),
    "no header, and addresses": Messy(
        text("bob@example.org,red\nann.lee@example.com,blue\n"),
        warns={None: "names are values, such as 'bob@example.org'"},
        remedy={"header": 0},
    ),
    "answers to numbered questions": Messy(text("q1,q2\nblue,x\nred,y\n")),
    "a table of units": Messy(text("of,to\nkg,lb\ncm,in\n"), {"of": ["kg", "cm"]}),
    "letters that are no units": Messy(text("sex,size\nm,s\nf,l\n"), {"sex": ["m", "f"]}),
    "rows of separators": Messy(text("a,b\n1,x\n,\n2,y\n"), {"a": [1, None, 2]}),
    # -- numbers
    "SAP": Messy(
        text("Text;Betrag\nx;123,00-\ny;1.234,56\nz;1.234,56-\n"),
        {"Betrag": [-123.0, 1234.56, -1234.56]},
        {"Betrag": "numbers such as '123,00-'; read as numbers: -123"},
        remedy={"types": {"Betrag": "text"}},
        then={"Betrag": ["123,00-", "1.234,56", "1.234,56-"]},
    ),
    "minus signs of typesetters": Messy(
        listed("\u22125", "7", "\u22123.5"), {"c": [-5.0, 7.0, -3.5]}, {"c": "'\u22125'"}
    ),
    "phone numbers of different length": Messy(
        listed(5551234567, 15551234567, name="phone"),
        warns={"phone": "may be codes"},
        remedy={"types": {"phone": "text"}},
        then={"phone": ["5551234567", "15551234567"]},
    ),
    "mostly not detected": Messy(
        listed("ND", "ND", "BDL", "3.4", "ND"),
        warns={"c": "numbers such as '3.4' among 'ND' and 'BDL'"},
        remedy={"nulls": ["ND", "BDL"]},
        then={"c": [None, None, None, 3.4, None]},
    ),
    "Eurostat": Messy(
        text("geo,2019,2020\nDE,83.0 b,83.2\nFR,:,67.3 p\nIT,60.4,:\n"),
        warns={"2019": "'83.0 b', which may be numbers", "2020": "':' in 1 cell"},
    ),
    "francs without cents": Messy(
        listed("CHF 1'200.-", "CHF 80.50", "CHF -5.--"),
        {"c": [1200.0, 80.5, -5.0]},
        {"c": '"CHF 1\'200.-"; read as numbers: 1200'},
    ),
    "codes of surveys": Messy(
        listed(1, 888, 2, 999, 3, 888),
        warns={"c": "999 and 888 in 3 cells"},
        remedy={"nulls": ["888", "999"]},
        then={"c": [1, None, 2, None, 3, None]},
    ),
    "postcodes that lost a zero": Messy(
        listed(94110, 1001, name="zip"), {"zip": [94110, 1001]}, {"zip": "may be codes"}
    ),
    "codes that a spreadsheet rounded": Messy(
        listed("4.00638E+12", "5.01235E+12", name="ean"),
        {"ean": [4006380000000.0, 5012350000000.0]},
    ),
    # -- times
    "dates as numbers in Parquet": Messy(
        frame({"d": [20240131, 20240201]}),
        {"d": [20240131, 20240201]},
        {"d": "which may be dates"},
        remedy={"types": {"d": "date"}},
        then={"d": [DAY(2024, 1, 31), DAY(2024, 2, 1)]},
    ),
    "times of runners": Messy(listed("9.58", "9.71", name="time"), {"time": [9.58, 9.71]}),
    "commas in log files": Messy(
        column("2024-01-01 10:00:00,123", "2024-01-02 10:00:00,5"),
        {"c": [TIME(2024, 1, 1, 10, 0, 0, 123000), TIME(2024, 1, 2, 10, 0, 0, 500000)]},
    ),
    "times of mails": Messy(
        column("Mon, 01 Jan 2024 10:00:00 +0100", "Tue, 02 Jan 2024 11:00:00 GMT"),
        {"c": [TIME(2024, 1, 1, 9), TIME(2024, 1, 2, 11)]},
        {"c": "times in UTC"},
    ),
    "years first, of two digits": Messy(
        listed("24-01-31", "24-02-28"), warns={"c": "years from 1969 to 2068: 2031-01-24"}
    ),
    # -- texts
    "quotes after backslashes": Messy(
        text('a,b\n1,"say \\"hi\\""\n2,z\n'), refused="line 2: a quote stands in the middle"
    ),
    "spaces between quoted cells, as R writes them": Messy(
        text('"a" "b"\n1 "x"\n2 "y"\n', "t.txt"),
        refused="line 1: a quote stands in the middle of a cell",
        remedy={"separator": " "},
        then={"a": [1, 2], "b": ["x", "y"]},
    ),
    "several quotes in a cell": Messy(
        text('n,c\n5,"x" and "y"\n6,z\n'), refused="line 2: a quote stands in the middle"
    ),
    "Chinese": Messy(
        text("姓名,年龄\n张三,30\n", encoding="gb18030"),
        refused="line 1: byte 0xd0 is not UTF-8",
        remedy={"encoding": "cp1251"},
    ),
    "a folder in quotes": Messy(text('a,b\n1,"C:\\temp\\"\n2,z\n'), {"b": ["C:\\temp\\", "z"]}),
    "names that differ by case": Messy(
        text("Name,name\n1,2\n3,4\n"), {"Name": [1, 3], "name": [2, 4]}
    ),
    "a drawn table": Messy(
        text("name   size\nbob    12\n", "t.txt"), {"name   size": ["bob    12"]}
    ),
    "JSON called CSV": Messy(text('[{"a": 1}]'), refused="is no CSV file but a JSON file"),
    "no header, and dates": Messy(
        text("bob,2024-01-01\nann,2024-01-02\n"),
        warns={None: "names are values, such as '2024-01-01', so the first line may be a row"},
        remedy={"header": 0},
        then={"column_2": [DAY(2024, 1, 1), DAY(2024, 1, 2)]},
    ),
    "dates as names": Messy(text("land,2024-01-01,2024-01-02\nx,1,2\ny,3,4\n")),
    # -- columns with types
    "NaN far down": Messy(
        frame({"f": [1.0, 2.0] * 6000 + [NAN]}), warns={"f": "NaN or infinity among numbers"}
    ),
    "2 after many 0 and 1": Messy(frame({"f": [0, 1] * 6000 + [2]})),
    "texts and lists in JSON lines": Messy(
        text('{"a": "x"}\n{"a": ["y"]}\n', "t.jsonl"),
        {"a": ["x", '["y"]']},
        {"a": 'values of several types, such as x and ["y"]'},
    ),
    "words for unknown in JSON": Messy(
        text('[{"a": "red"}, {"a": "N/A"}]', "t.json"), warns={"a": "'N/A' in 1 cell"}
    ),
    "texts in a database": Messy(
        texts_in_database,
        refused="say which rows to read",
        remedy={"query": "select * from t order by price"},
        then={"price": ["1.5", "2.5", "n/a"], "made": [1700000000, 1700000100, None]},
    ),
    # -- spreadsheets
    "merged cells": Messy(
        book(merged),
        {"region": ["North", None, "South"]},
    ),
    "merged cells and a hidden row, OpenDocument": Messy(
        ods(MERGED_ODS),
        {"region": ["North", None, "South"], "city": ["Ulm", "Bonn", "Rome"]},
    ),
    "a file without sheets": Messy(ods(), refused="t.ods: it has no sheet"),
    "merged cells, old Excel": Messy(
        raw((Path(__file__).parent / "merged.xls").read_bytes(), "t.xls"),
        {"region": ["North", None, "South"]},
    ),
    "Excel without a header": Messy(
        sheet([[1, "x"], [2, "y"], [3, "z"]]),
        warns={None: "names are values, such as '1', so the first line may be a row"},
        remedy={"header": 0},
        then={"column_1": [1, 2, 3]},
    ),
    "a hidden sheet": Messy(
        book(hidden_sheet),
        {"a": [2, 3], "b": ["x", "y"]},
        {None: "the sheet 'New'"},
        remedy={"sheet": "Old"},
        then={"old": ["o"]},
    ),
    "durations in Excel": Messy(book(durations)),
    "two tables in a sheet": Messy(book(side_by_side), {"c": ["q", None]}),
}
