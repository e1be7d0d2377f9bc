"""Rows written at the end of a table's file."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import Any

from tellapart.errors import ParameterError
from tellapart.tables.csv_files import CsvFile, in_utf8
from tellapart.tables.options import ReadOptions, is_utf8

_KINDS = {".csv": "csv", ".tsv": "csv", ".tab": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


@contextmanager
def appended(
    path: Path,
    rows: Sequence[Mapping[str, Any]],
    options: ReadOptions | None = None,
) -> Iterator[None]:
    """Append rows to a CSV file or one of JSON lines; if what is done inside fails, take them back.

    `options` are those that the file is read with.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "zoo.csv")
    ...     _ = path.write_text("name,legs")
    ...     with appended(path, [{"legs": 4, "name": "bear, brown"}]):
    ...         path.read_text()
    'name,legs\\n"bear, brown",4\\n'
    """
    options = options or ReadOptions()
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        raise ParameterError(
            f"rows can be appended to CSV files and JSON lines, not to {path.name}. Add them to the"
            " file yourself, and then let them be taken on"
        )
    if kind == "csv":
        text = _csv_lines(path, rows, options)
    else:
        text = "".join(json.dumps(dict(row), default=_plain) + "\n" for row in rows)
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        if size:
            file.seek(-1, os.SEEK_END)
            text = text if file.read(1) == b"\n" else "\n" + text
        file.write(text.encode("utf-8" if kind == "jsonl" else options.encoding or "utf-8"))
        file.flush()
        os.fsync(file.fileno())
    try:
        yield
    except BaseException:
        os.truncate(path, size)
        raise


def _csv_lines(path: Path, rows: Sequence[Mapping[str, Any]], options: ReadOptions) -> str:
    encoding = options.encoding or "utf-8"
    if not is_utf8(encoding) and len("a\n".encode(encoding)) != 2:
        raise ParameterError(f"rows cannot be appended to a file in {encoding}")
    with in_utf8(path, options.encoding) as copy:
        known = CsvFile(copy, options)
    text = io.StringIO()
    writer = csv.writer(text, delimiter=known.separator, lineterminator="\n")
    for row in rows:
        unknown = [name for name in row if name not in known.header]
        if unknown:
            raise ParameterError(
                f"{path.name} has no column {unknown[0]!r}. Columns: {', '.join(known.header[:30])}"
            )
        cells = [_cell(row.get(name)) for name in known.header]
        if options.decimal == ",":
            cells = [str(c).replace(".", ",") if isinstance(c, float) else c for c in cells]
        writer.writerow(cells)
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, int | float | str):
        return value
    return _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, date | datetime):
        return value.isoformat()
    raise ParameterError(f"a cell is a text, a number, true, false or null, got {value!r}")
