"""Data frames of all kinds as Polars frames."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import polars as pl

from tellapart.errors import FormatError, MissingExtra
from tellapart.features.phrasing import counted

BROKEN = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, UnicodeDecodeError)
"""What Polars raises for a file that is damaged; of a Parquet file it may also panic."""


def to_lazy(data: Any, name: str) -> tuple[pl.LazyFrame, int, bool]:
    """`data` as a lazy frame, how many rows it has, and whether it is all in memory."""
    if isinstance(data, pl.LazyFrame):
        try:
            check_names(data.collect_schema().names(), name)
            return data, data.select(pl.len()).collect().item(), False
        except BROKEN as error:
            raise FormatError(f"{name} cannot be read: {first_line(error)}") from error
    if not isinstance(data, pl.DataFrame):
        data = _eager(data, name)
    check_names(data.columns, name)
    return data.lazy(), data.height, True


def _eager(data: Any, name: str) -> pl.DataFrame:
    of_pandas = type(data).__module__.partition(".")[0] == "pandas"
    if of_pandas and hasattr(data, "columns"):
        return _from_pandas(data, name)
    if hasattr(data, "__arrow_c_stream__") and not of_pandas and not isinstance(data, pl.Series):
        return from_arrow(data, name)
    try:
        if isinstance(data, Mapping):
            return pl.DataFrame(dict(data))
        if isinstance(data, Iterable) and not isinstance(data, str | bytes | pl.Series):
            return _from_rows(list(data))
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise FormatError(f"{name} is no table: {first_line(error)}") from error
    raise FormatError(
        f"{name} is no table: got {type(data).__name__}. Give a DataFrame of Polars,"
        " pandas or pyarrow, a mapping of columns or a list of rows; read files with read_table"
    )


def from_arrow(data: Any, name: str) -> pl.DataFrame:
    """Whatever offers the Arrow C stream: pyarrow, DuckDB relations, Hugging Face sets."""
    try:
        return pl.DataFrame(data)
    except Exception as error:  # of whoever offers it
        check_names(list(getattr(data, "column_names", None) or ["?"]), name)
        said = first_line(error).partition(" Hint:")[0].rstrip(".")
        raise FormatError(
            f"{name}{_unreadable_column(data)} cannot be read: {said}. Cast it to another"
            " type, or leave it out"
        ) from error


def _unreadable_column(data: Any) -> str:
    """Which column of a pyarrow table Polars cannot take, for messages."""
    for column in getattr(data, "column_names", ()) if hasattr(data, "select") else ():
        try:
            pl.DataFrame(data.select([column]))
        except Exception:
            return f": column {column!r}"
    return ""


def _from_rows(rows: list[Any]) -> pl.DataFrame:
    for place, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise TypeError(f"row {place} is no mapping from column to value, but {row!s:.60}")
    made = pl.DataFrame([dict(row) for row in rows], infer_schema_length=None)
    for column in (name for name, dtype in made.schema.items() if dtype == pl.String):
        for place, row in enumerate(rows):  # numbers among texts became texts
            if not isinstance(row.get(column), str | None):
                raise TypeError(
                    f"column {column!r} mixes types: {row[column]!r:.60} in row {place}, texts in"
                    " others. Make it all numbers or all text"
                )
    return made


def _from_pandas(data: Any, name: str) -> pl.DataFrame:
    data = _with_index(data, name)
    columns = [str(column) for column in data.columns]
    check_names(columns, name)
    if find_spec("pyarrow") is None:
        raise MissingExtra("Reading a pandas DataFrame", "pandas")
    made = []
    for place, column in enumerate(columns):
        try:
            made.append(pl.Series(column, pl.from_pandas(data.iloc[:, place])))
        except Exception as error:  # pyarrow's errors are a tree of their own
            raise FormatError(
                f"{name}: column {column!r} mixes types: {first_line(error)}. Make it all numbers"
                " or all text, for instance with .astype(str)"
            ) from error
    return pl.DataFrame(made)


def _with_index(data: Any, name: str) -> Any:
    """pandas' index as a column, unless it is the number of the row."""
    index = data.index
    if index.nlevels == 1 and index.name is None and len(index) == 0:
        return data
    if type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1):
        return data
    names = [str(one) if one is not None else f"index_{n}" for n, one in enumerate(index.names)]
    if index.nlevels == 1 and index.name is None:
        names = ["index"]
    taken = [one for one in names if one in map(str, data.columns)]
    if taken:
        raise FormatError(
            f"{name}: the index and a column are both called {taken[0]!r}. Rename one, or drop the"
            " index with .reset_index(drop=True)"
        )
    return data.reset_index(names=names)


def check_names(columns: list[str], name: str, where: str = "") -> None:
    """There are columns, and every one has a name of its own."""
    if not columns:
        raise FormatError(f"{name} has no columns: there is nothing to tell items apart by")
    if "" in columns:
        place = columns.index("") + 1
        raise FormatError(f"{name}{where}: column number {place} has no name. Give it one")
    twice = [column for column, count in Counter(columns).items() if count > 1]
    if twice:
        places = [n + 1 for n, column in enumerate(columns) if column == twice[0]]
        raise FormatError(
            f"{name}{where}: two columns are called {twice[0]!r}, number {places[0]} and number"
            f" {places[1]}. Rename one of them"
        )


def check_header(where: str, unit: str, counts: Sequence[tuple[int, int]], title: str) -> None:
    """Raise if the names of the columns may stand in a later line or row.

    `counts`: the number of each of the first lines, and how many cells it has that hold something;
    `title`: the first cell.
    """
    known, most = counts[0][1], max(count for _, count in counts)
    if most > 1 and known <= max(1, most // 2):
        at, most = next(one for one in counts if one[1] > max(1, most // 2))
        comment = re.match(r"#|//|;|%", title) if unit == "line" else None
        raise FormatError(
            f"{where}: {counted(known, 'cell')}, but {unit} {at} has {most}. If the names of the"
            f" columns are in {unit} {at}, pass {{header}}"
            + (", or pass {comment}" if comment else ""),
            header=at,
            **({"comment": comment.group()} if comment else {}),
        )


def no_column(table: str, column: str, columns: list[str], note: str = "") -> FormatError:
    """The error for a column that is not there."""
    near = difflib.get_close_matches(column, columns, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    shown = ", ".join(columns[:30]) + (", ..." if len(columns) > 30 else "")
    return FormatError(f"{table} has no column {column!r}{note}.{hint} Columns: {shown}")


def first_line(error: BaseException) -> str:
    """The first line of an error, without advice meant for programmers."""
    return str(error).strip().partition("\n")[0] or type(error).__name__
