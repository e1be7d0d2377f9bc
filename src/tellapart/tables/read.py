"""`read_table`: CSV, JSON lines, Parquet and Arrow IPC files as tables.

Polars reads. Errors that Polars ignores (short rows, columns of the same name, leading zeros) are
looked for first, and when Polars fails, the line is found and the message says what to do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tellapart.errors import FormatError, ParameterError
from tellapart.features.expression import types as read_types
from tellapart.tables.csv_files import CsvFile, is_utf8
from tellapart.tables.frames import first_line
from tellapart.tables.table import Table

if TYPE_CHECKING:
    import polars as pl

_KINDS = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt"), "csv"),
    **dict.fromkeys((".jsonl", ".ndjson"), "jsonl"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".ipc", ".feather"), "ipc"),
}


def read_table(
    path: str | Path,
    *,
    id: str | None = None,
    types: Mapping[str, str] | None = None,
    separator: str | None = None,
    encoding: str = "utf-8",
    nulls: tuple[str, ...] | list[str] = (),
    without: tuple[str, ...] | list[str] = (),
    title: str | None = None,
) -> Table:
    """The table in a file.

    Parquet and Arrow files are read column by column, when a feature first asks; the others whole.

    Parameters
    ----------
    path : str or Path
        A file that ends in .csv, .tsv, .txt, .jsonl, .ndjson, .parquet, .arrow, .ipc or .feather.
    id : str, default=None
        The column that names an item. None: the number of the row, from 0.
    types : mapping from column to type, default={}
        For columns that should have another type than they seem to, such as
        `{"postcode": "text"}`; for CSV only.
    separator : str, default=None
        The separator of a CSV file; by default the one in its first line.
    encoding : str, default="utf-8"
        Of a CSV file.
    nulls : list of str, default=[]
        What a CSV file writes for an unknown value besides an empty cell, such as "NA".
    without : list of str, default=[]
        Columns to leave out, such as the labels when they are to be taught.
    title : str, default=None
        The column that names items in sentences; see `Table`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "zoo.csv")
    ...     _ = path.write_text("name,legs\\nbear,4\\nbass,\\n")
    ...     read_table(path, id="name").item("bass")["legs"] is None
    True
    """
    path = Path(path)
    kind = kind_of(path)
    if kind == "csv":
        wanted = read_types(types or {})
        csv_file = CsvFile(path, wanted, separator, encoding, list(nulls))
        frame: pl.DataFrame | pl.LazyFrame = csv_file.read()
    else:
        check_csv(path, types or separator or nulls or not is_utf8(encoding))
        frame = _read_jsonl(path) if kind == "jsonl" else scan_frame(path, kind)
    table = Table(frame, id=id, name=path.name, title=title)
    return table.without(without) if without else table


def check_csv(path: Path, given: object) -> None:
    """Raise if options for CSV files were given for another file."""
    if given:
        raise ParameterError(
            f"{path.name} is no CSV file: types, separator, encoding and nulls are only for those"
        )


def kind_of(path: Path) -> str:
    """csv, jsonl, parquet or ipc, by the ending; the file must be there and not be empty."""
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        raise FormatError(
            f"{path}: cannot tell what kind of file this is. Known endings are"
            f" {', '.join(sorted(_KINDS))}"
        )
    try:
        with path.open("rb") as file:
            start = file.read(4096)
    except OSError as error:
        raise FormatError(f"{path}: cannot be read: {error.strerror or error}") from error
    if not start.strip(b"\xef\xbb\xbf \t\r\n"):
        raise FormatError(f"{path.name} is empty: a table begins with the names of its columns")
    return kind


def scan_frame(path: Path, kind: str) -> pl.LazyFrame:
    """A Parquet or Arrow IPC file."""
    import polars as pl

    try:
        frame = pl.scan_parquet(path) if kind == "parquet" else pl.scan_ipc(path)
        frame.collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        name = {"parquet": "Parquet", "ipc": "Arrow IPC"}[kind]
        raise FormatError(f"{path.name} is no {name} file: {first_line(error)}") from error
    return frame


def _read_jsonl(path: Path) -> pl.DataFrame:
    import polars as pl

    try:  # the whole file tells the types: a key may first come in the last line
        frame = pl.read_ndjson(path, infer_schema_length=None)
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
        find_bad_line(path)
        raise FormatError(f"{path.name} is no JSON lines file: {first_line(error)}") from error
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    if texts:
        refuse_mixed(path, frame.lazy().select(texts))
    return frame


def refuse_mixed(path: Path, texts: pl.LazyFrame) -> None:
    """Raise if numbers and texts in one column of a JSON lines file have become `texts`."""
    import polars as pl

    looks = texts.select(pl.all().cast(pl.Float64, strict=False).is_not_null().any())
    try:
        found = looks.collect(engine="streaming").row(0, named=True)
    except pl.exceptions.PolarsError:  # reading the file will report it
        return
    numeric = frozenset(name for name, some in found.items() if some)
    if numeric:
        find_bad_line(path, numeric)


def find_bad_line(path: Path, columns: frozenset[str] | None = None) -> None:
    """Read line by line, and say what is wrong with the first line where something is.

    `columns`: only these are looked at for values of different types.
    """
    kinds: dict[str, tuple[str, int]] = {}
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            where = f"{path.name} line {number}"
            if number == 1 and line.startswith(b"\xef\xbb\xbf"):
                raise FormatError(
                    f"{where}: the file starts with a byte order mark (BOM), which JSON lines must"
                    " not have. Save it as UTF-8 without BOM"
                )
            try:
                odd: list[str] = []
                found = json.loads(line.decode("utf-8"), parse_constant=odd.append)
            except UnicodeDecodeError as error:
                raise FormatError(
                    f"{where}: not UTF-8 ({error.reason}). Save it as UTF-8"
                ) from error
            except json.JSONDecodeError as error:
                raise FormatError(
                    f"{where}, column {error.colno}: not JSON: {error.msg}. Each line is one object"
                    ' like {"legs": 4}'
                ) from error
            if odd:
                raise FormatError(f"{where}: {odd[0]} is not JSON. Write null, which is unknown")
            if not isinstance(found, dict):
                raise FormatError(
                    f'{where}: an object is wanted on each line, like {{"legs": 4}}, found'
                    f" {_json_kind(found)}"
                )
            for name, value in found.items():
                if value is None or (columns is not None and name not in columns):
                    continue
                kind = _json_kind(value)
                before, there = kinds.setdefault(name, (kind, number))
                if before != kind:
                    raise FormatError(
                        f"{where}: {name!r} is {kind} here but {before} in line {there}. Make it"
                        " the same everywhere, or null where it is unknown"
                    )


def _json_kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list) else "an object"
