"""Files of any size as lazy frames with the columns that are wanted, to be read once.

Where a model gives the type of a column, the file is read with that type, and a cell that does not
fit is an error. Other columns are not read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from tellapart.errors import FormatError
from tellapart.features.tree import Type
from tellapart.tables.csv_files import CsvFile
from tellapart.tables.frames import first_line, no_column
from tellapart.tables.read import find_bad_line, kind_of, refuse_mixed, scan_frame

if TYPE_CHECKING:
    import polars as pl

_LOOK = 10_000
"""Rows from which the types of columns are inferred."""

_JSON: dict[Type, tuple[type, ...]] = {
    Type.BOOL: (bool,),
    Type.INTEGER: (int,),
    Type.NUMBER: (int, float),
    Type.DATE: (str,),
    Type.DATETIME: (str,),
}


class Scan:
    """A file to be read once, as a lazy frame.

    `wanted` has the columns to read, and their types (None: as the file says); `nulls` and
    `separator` are for CSV files. `kind` is csv, jsonl, parquet or ipc; `types` has the types of
    the wanted columns; `columns` are all columns (of JSON lines, those of the first lines and the
    wanted ones).
    """

    def __init__(
        self,
        path: Path,
        wanted: Mapping[str, Type | None],
        nulls: Sequence[str] = (),
        separator: str | None = None,
    ) -> None:
        self.path, self.name, self.nulls = path, path.name, list(nulls)
        self.kind = kind_of(path)
        known = {name: kind for name, kind in wanted.items() if kind is not None}
        self._dtypes: dict[str, Any] = {}
        if self.kind == "csv":
            self.csv = CsvFile(path, {}, separator, "utf-8", self.nulls)
            self.columns = self.csv.header
            self.check(wanted)
            self.csv.types |= known
            if len(known) < len(wanted):
                self._dtypes = self._look_at_csv([n for n in wanted if n not in known])
        elif self.kind == "jsonl":
            self.columns = self._read_jsonl_head(wanted, known)
        else:
            self._dtypes = dict(scan_frame(path, self.kind).collect_schema())
            self.columns = list(self._dtypes)
        self.check(wanted)
        self.types = {name: self._type(name, kind) for name, kind in wanted.items()}

    def lazy(self, keep: Iterable[str] = (), *, without_gaps: bool = False) -> pl.LazyFrame:
        """The wanted columns, cleaned, and after them the columns `keep` as they are.

        A kept column is called `kept 0`, `kept 1`, ... until it is written. `without_gaps` leaves
        out the rows that are empty lines of a CSV file; see `gaps`.
        """
        import polars as pl

        from tellapart.features.to_polars import DTYPE, cleaned

        if self.kind == "csv":
            self.csv.types |= self.types
            frame = self.csv.scan()
            if without_gaps:
                frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
        elif self.kind == "jsonl":
            dtypes = {**self._dtypes, **{n: DTYPE[kind] for n, kind in self.types.items()}}
            frame = pl.scan_ndjson(self.path, schema=dtypes)
        else:
            frame = scan_frame(self.path, self.kind)
        wanted = [
            cleaned(pl.col(name), kind, self._dtypes.get(name)).alias(name)
            for name, kind in self.types.items()
        ]
        kept = [pl.col(name).alias(f"kept {n}") for n, name in enumerate(keep)]
        return frame.select([*wanted, *kept])

    def count(self) -> int | None:
        """How many rows there are, if that is quick to tell."""
        import polars as pl

        if self.kind not in ("parquet", "ipc"):
            return None
        return int(scan_frame(self.path, self.kind).select(pl.len()).collect().item())

    def type_of(self, name: str) -> Type | None:
        """What any column holds, as far as the file tells; None if features cannot read it."""
        from tellapart.features.to_polars import from_dtype

        return self.types.get(name) or (
            from_dtype(self._dtypes[name]) if name in self._dtypes else None
        )

    def blank(self, name: str) -> bool:
        """Whether a column of a Parquet or Arrow file has no type, because it has no value."""
        return self.kind in ("parquet", "ipc") and str(self._dtypes[name]) == "Null"

    def explain(self, error: BaseException) -> NoReturn:
        """Say what is wrong with the file, after reading it has failed."""
        if self.kind == "csv":
            self.csv.explain(error)
        if self.kind == "jsonl":
            find_bad_line(self.path, frozenset())
            self._find_misfit()
        raise FormatError(f"{self.name} cannot be read: {first_line(error)}") from error

    def gaps(self) -> bool:
        """Whether a CSV file has empty lines. Raises if a row has too few cells, which Polars fills
        up silently. Only needed where the last column is empty somewhere."""
        if self.kind != "csv":
            return False
        if self.csv.ragged():
            self.csv.check_lengths()
        return self.csv.gaps()

    # -- columns and types

    def check(self, wanted: Iterable[str]) -> None:
        """Raise unless there are such columns."""
        for name in wanted:
            if name not in self.columns:
                raise no_column(self.name, name, self.columns)

    def _type(self, name: str, wanted: Type | None) -> Type:
        from tellapart.features.to_polars import from_dtype

        if wanted is not None and self.kind in ("csv", "jsonl"):
            return wanted
        found = from_dtype(self._dtypes[name])
        if found is None:
            raise FormatError(
                f"{self.name}: column {name!r} holds {self._dtypes[name]}, which features cannot"
                " read"
            )
        fits = wanted in (None, found) or (found, wanted) in (
            (Type.INTEGER, Type.NUMBER),
            (Type.DATE, Type.DATETIME),
        )
        fits = fits or self.blank(name)
        if not fits:
            assert wanted is not None
            raise FormatError(
                f"{self.name}: column {name!r} should hold {wanted.value}, but holds {found.value}"
                f" ({self._dtypes[name]}). Convert it"
            )
        return wanted or found

    def _look_at_csv(self, open: list[str]) -> dict[str, Any]:
        """The types that the first rows show; those of `open` must not be mixed."""
        import polars as pl

        try:
            frame = self.csv.polars(n_rows=_LOOK)
        except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
            self.csv.explain(error)
        return {**frame.schema, **self.csv.check_mixed(frame.select(open)).schema}

    def _read_jsonl_head(
        self, wanted: Mapping[str, Type | None], known: Mapping[str, Type]
    ) -> list[str]:
        import polars as pl

        from tellapart.features.to_polars import DTYPE

        for length in (_LOOK, None):  # a key may first come in the last line
            try:
                frame = pl.scan_ndjson(self.path, infer_schema_length=length)
                self._dtypes = dict(frame.collect_schema())
            except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
                find_bad_line(self.path)
                raise FormatError(
                    f"{self.name} is no JSON lines file: {first_line(error)}"
                ) from error
            if all(name in self._dtypes for name in wanted):
                break
        columns = list(self._dtypes)
        mixed = [n for n in wanted if n not in known and self._dtypes.get(n) == pl.String]
        if mixed:
            refuse_mixed(self.path, pl.scan_ndjson(self.path, schema=self._dtypes).select(mixed))
        self._dtypes |= {n: DTYPE[kind] for n, kind in known.items() if n in self._dtypes}
        return columns

    def _find_misfit(self) -> None:
        """Say which line of a JSON lines file has a value of another type than is wanted."""
        with self.path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                found = json.loads(line.decode("utf-8-sig")) if line.strip() else {}
                for name, kind in self.types.items():
                    value = found.get(name)
                    allowed = _JSON.get(kind)
                    if value is None or allowed is None:
                        continue
                    odd = type(value) is bool and kind.numeric
                    if odd or not isinstance(value, allowed) or not _is_moment(value, kind):
                        raise FormatError(
                            f"{self.name} line {number}: {name!r} should hold {kind.value}, but is"
                            f" {json.dumps(value)[:40]}. Fix it, or make it null if it is unknown"
                        )


def _is_moment(value: Any, kind: Type) -> bool:
    """Whether a text of JSON is a date, or a time, where one is wanted."""
    if not kind.temporal:
        return True
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return kind is Type.DATETIME or len(value) <= 10
