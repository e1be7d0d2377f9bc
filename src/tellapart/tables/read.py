"""`read_table`: whatever holds rows as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from tellapart.errors import FormatError
from tellapart.features.tree import Type
from tellapart.tables.files import Place
from tellapart.tables.options import ReadOptions
from tellapart.tables.source import Opened, open_source, without_new
from tellapart.tables.table import Table


def read_table(
    path: Place,
    *,
    id: str | None = None,
    types: Mapping[str, str] | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    nulls: Sequence[str] = (),
    dates: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    true: Sequence[str] = (),
    false: Sequence[str] = (),
    header: int | None = None,
    comment: str | None = None,
    sheet: str | None = None,
    query: str | None = None,
    sample: int | None = None,
    sample_seed: int = 0,
    limits: int = 1,
    without: Sequence[str] = (),
    title: str | None = None,
) -> Table:
    """The table in a file, in several, in a folder, at an address or in a database.

    Parquet and Arrow files are read column by column, when a feature first asks; the others whole.
    `Table.findings` says what could have been read in another way, and with which argument.

    Parameters
    ----------
    path : str, Path or list of them
        A file that ends in .csv, .tsv, .txt, .jsonl, .ndjson, .json, .parquet, .arrow, .ipc,
        .feather, .xlsx, .xls or .ods, perhaps with .gz, .bz2 or .zip after it; a folder or a
        pattern such as "2024-*.csv"; "-" for standard input; an address such as https://, s3://;
        or a database: postgresql://host/name, duckdb:FILE, sqlite:FILE.
    id : str, default=None
        The column that names an item. None: the number of the row, from 0.
    types : mapping from column to type, default={}
        For columns that should have another type than they seem to, such as
        `{"postcode": "text"}`.
    separator : str, default=None
        The separator of a CSV file; by default the one in its first line.
    encoding : str, default="utf-8"
        Of a CSV file.
    nulls : list of str, default=[]
        What a CSV file or a spreadsheet writes for an unknown value besides an empty cell, such as
        "NA".
    dates : {"day-first", "month-first", "iso"}, default=None
        How dates such as 1/2/2024 are meant; with "iso" they are texts.
    decimal, thousands : str, default=None
        The decimal mark, and the sign between thousands.
    true, false : list of str, default=[]
        Words for true and false besides these two, such as ["yes"] and ["no"]. A column of such
        words alone is read as true and false.
    header : int, default=None
        The line with the names of the columns, from 1; 0 if there is none.
    comment : str, default=None
        What a line begins with that is no row, such as "#".
    sheet : str, default=None
        The sheet of a spreadsheet; by default the first that is not empty.
    query : str, default=None
        What to ask a database: "select ... order by ...".
    sample : int, default=None
        Take so many rows at random, always the same for the same `sample_seed`.
    limits : int, default=1
        How many times as much may be read as usual: by default 2 GB after unpacking, 10,000
        columns, 100 million cells of a sheet or a query, and 10 minutes for a query.
    without : list of str, default=[]
        Columns to leave out, such as the labels when they are to be taught.
    title : str, default=None
        The column that names items in sentences; see `Table`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "zoo.csv")
    ...     _ = path.write_text("name,legs,wild\\nbear,4,yes\\nbass,,no\\n")
    ...     zoo = read_table(path, id="name")
    >>> zoo.item("bass")["legs"] is None, str(zoo.findings[0])
    (True, "wild: only 'no' and 'yes'; read as texts. To change that: true=['yes'], false=['no']")
    """
    options = ReadOptions(
        types, separator, encoding, nulls, dates, decimal, thousands, true, false, header, comment,
        sheet, query, sample, sample_seed, limits,
    )  # fmt: skip
    with open_source(path, options) as source:
        return _table(source.table(), id, title, without)


def read_table_again(path: Place, columns: Mapping[str, str], **reading: Any) -> Table:
    """The table that was once read with these columns and their types, and as `reading` says.

    What this version would read as another type is read as the same one. If the file no longer fits
    that, it has changed, and is read as if for the first time.
    """
    from tellapart.features.to_polars import from_dtype

    naming = {name: reading.pop(name, None) for name in ("id", "title", "without")}
    options = ReadOptions(**reading)
    with open_source(path, options) as source:
        opened = without_new(source.table(), columns)
    kinds = {name: from_dtype(dtype) for name, dtype in opened.frame.collect_schema().items()}
    other = {n: kind for n, kind in columns.items() if n in kinds and kinds[n] is not Type(kind)}
    if other:
        fixed = replace(options, types={**other, **(options.types or {})})
        with suppress(FormatError), open_source(path, fixed) as source:
            opened = without_new(source.table(), columns)
    return _table(opened, naming["id"], naming["title"], naming["without"] or ())


def _table(opened: Opened, id: str | None, title: str | None, without: Sequence[str]) -> Table:
    table = Table(opened, id=id, title=title)
    return table.without(without) if without else table
