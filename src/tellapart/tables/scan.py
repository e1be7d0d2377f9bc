"""Tables of any size as lazy frames with the columns that are wanted, to be read once.

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
from tellapart.tables.files import TableFile, find_files
from tellapart.tables.findings import Finding
from tellapart.tables.frames import first_line, no_column
from tellapart.tables.json_files import find_bad_line, refuse_mixed
from tellapart.tables.numbers_in_text import EXACT
from tellapart.tables.options import OF_CSV, ReadOptions
from tellapart.tables.source import check_headers, raise_misfit, scan_typed
from tellapart.tables.text_columns import ColumnReader, decide, hints
from tellapart.tables.typed_columns import CHANGED, readable

if TYPE_CHECKING:
    import polars as pl

_LOOK = 10_000
"""Rows from which the types of columns are inferred."""
_NATIVE = (Type.BOOL, Type.INTEGER, Type.NUMBER)
"""Types that Polars reads from plain texts as strictly as we do."""

_JSON: dict[Type, tuple[type, ...]] = {
    Type.BOOL: (bool,),
    Type.INTEGER: (int,),
    Type.NUMBER: (int, float),
    Type.DATE: (str,),
    Type.DATETIME: (str,),
}


class Scan:
    """A table to be read once, as a lazy frame.

    `source` is a plain file, several, or a frame; `wanted` has the columns to read, and their types
    (None: as the table says). `kind` is csv, jsonl, parquet, ipc or frame; `types` has the types of
    the wanted columns; `columns` are all columns (of JSON lines, those of the first lines and the
    wanted ones); `findings` says what could have been read in another way.
    """

    def __init__(
        self,
        source: str | Path | Sequence[TableFile] | pl.LazyFrame,
        wanted: Mapping[str, Type | None],
        options: ReadOptions | None = None,
        name: str | None = None,
    ) -> None:
        import polars as pl

        options = options or ReadOptions()
        self.options, self.wanted, self.careful = options, dict(wanted), False
        self.findings: list[Finding] = []
        self.csvs: list[CsvFile] = []
        self.readers: dict[str, ColumnReader] = {}
        self._dtypes: dict[str, Any] = {}
        self._frame: pl.LazyFrame | None = None
        known = {name: kind for name, kind in wanted.items() if kind is not None}
        if isinstance(source, pl.LazyFrame):
            self.files, self.kind, self.name = [], "frame", name or "the table"
            self._frame, self.findings = readable(source)
            self._dtypes = dict(self._frame.collect_schema())
            self.columns = list(self._dtypes)
        else:
            self.files = find_files(source) if isinstance(source, str | Path) else list(source)
            self.kind, self.name = self.files[0].kind, name or self.files[0].name
            if self.kind == "csv":
                options.refuse(self.name, *OF_CSV)
                self.csvs = [CsvFile(Path(file.path), options) for file in self.files]
                check_headers(self.csvs)
                self.columns = [*self.csvs[0].header, *(k for k, _ in self.files[0].partitions)]
                self.check(wanted)
                self._look_at_csv()
            elif self.kind == "jsonl":
                options.refuse(self.name)
                self.columns = self._read_jsonl_head(known)
            else:
                options.refuse(self.name)
                self._frame, self.findings = readable(scan_typed(self.files))
                self._dtypes = dict(self._frame.collect_schema())
                self.columns = list(self._dtypes)
        self.check(wanted)
        self.findings = [one for one in self.findings if one.column in wanted]
        self.types = {name: self._type(name, kind) for name, kind in wanted.items()}

    @property
    def path(self) -> Path:
        """The only file."""
        return Path(self.files[0].path)

    @property
    def is_one_plain_file(self) -> bool:
        """Whether any engine reads it by itself, as we do."""
        plain = all(reader.plain for reader in self.readers.values())
        plain = plain and not any(one.what.startswith(CHANGED) for one in self.findings)
        options = self.options.header is None and self.options.comment is None
        return len(self.files) == 1 and not self.files[0].partitions and plain and options

    def lazy(self, keep: Iterable[str] = (), *, without_gaps: bool = False) -> pl.LazyFrame:
        """The wanted columns, cleaned, and after them the columns `keep` as they are.

        A kept column is called `kept 0`, `kept 1`, ... until it is written; `misfit` says where a
        value is not what the model wants. `without_gaps` leaves out the rows that are empty lines
        of a CSV file; see `gaps`.
        """
        import polars as pl

        from tellapart.features.to_polars import DTYPE, cleaned

        if self.kind == "csv":
            frame = self._csv_lazy(without_gaps)
        elif self.kind == "jsonl":
            dtypes = {**self._dtypes, **{n: DTYPE[kind] for n, kind in self.types.items()}}
            dtypes |= {n: pl.Float64() for n in self._as_floats()}
            frame = pl.scan_ndjson([file.path for file in self.files], schema=dtypes)
        else:
            assert self._frame is not None
            frame = self._frame
        columns, misfits = [], [pl.lit(False)]
        for name, kind in self.types.items():
            column = pl.col(name)
            if name in self.readers:
                reader = self.readers[name]
                if not self._is_native(name):
                    if kind is not Type.TEXT:
                        misfits.append(reader.misfits(column))
                    column = reader.read(column)
                columns.append(cleaned(column, kind, DTYPE[kind]).alias(name))
                continue
            if name in self._as_floats():
                misfits.append(_not_whole(column))
                columns.append(column.cast(pl.Int64, strict=False).alias(name))
                continue
            columns.append(cleaned(column, kind, self._dtypes.get(name)).alias(name))
        kept = [pl.col(name).alias(f"kept {n}") for n, name in enumerate(keep)]
        odd = pl.any_horizontal(misfits).alias("misfit")
        return frame.select([*columns, *kept, odd])

    def _csv_lazy(self, without_gaps: bool) -> pl.LazyFrame:
        import polars as pl

        from tellapart.features.to_polars import DTYPE

        dtypes = {n: DTYPE[kind] for n, kind in self.types.items() if self._is_native(n)}
        header = self.csvs[0].header
        parts = []
        for file, one in zip(self.files, self.csvs, strict=True):
            frame = one.scan(dtypes)
            if without_gaps:
                frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
            if len(self.csvs) > 1:
                frame = frame.select(header)
            parts.append(frame.with_columns(pl.lit(v).alias(k) for k, v in file.partitions))
        return parts[0] if len(parts) == 1 else pl.concat(parts)

    def _is_native(self, name: str) -> bool:
        reader = self.readers[name]
        native = not self.careful and reader.kind in _NATIVE and reader.plain
        return native and name in self.csvs[0].header

    def _as_floats(self) -> list[str]:
        """Columns of whole floats where the model wants integers."""
        import polars as pl

        found = [
            n for n, d in self._dtypes.items() if d in (pl.Float64, pl.Float32) or self.careful
        ]
        return [n for n in found if self.types.get(n) is Type.INTEGER and n not in self.readers]

    def lazy_frame(self) -> pl.LazyFrame:
        """All columns of a frame, or of Parquet or Arrow files."""
        assert self._frame is not None
        return self._frame

    def count(self) -> int | None:
        """How many rows there are, if that is quick to tell."""
        import polars as pl

        if self._frame is None:
            return None
        return int(self._frame.select(pl.len()).collect().item())

    def type_of(self, name: str) -> Type | None:
        """What any column holds, as far as the file tells; None if features cannot read it."""
        from tellapart.features.to_polars import from_dtype

        return self.types.get(name) or (
            from_dtype(self._dtypes[name]) if name in self._dtypes else None
        )

    def blank(self, name: str) -> bool:
        """Whether a column of a Parquet or Arrow file has no type, because it has no value."""
        return self._frame is not None and str(self._dtypes[name]) == "Null"

    def is_float(self, name: str) -> bool:
        """Whether a column holds floats where the model wants integers."""
        return name in self._as_floats()

    def explain(self, error: BaseException) -> NoReturn:
        """Say what is wrong with the table, after reading it has failed."""
        self.find_error()
        raise FormatError(f"{self.name} cannot be read: {first_line(error)}") from error

    def find_error(self) -> None:
        """Raise if something is wrong with the table that can be named."""
        for one in self.csvs:
            one.look()
        for name, reader in self.readers.items():
            told = self.wanted[name] is not None
            raise_misfit(name, reader, self.csvs, self.options, told=told)
        if self.kind == "jsonl":
            for file in self.files:
                find_bad_line(Path(file.path), frozenset())
                self._find_misfit(Path(file.path))
        elif self._frame is not None:
            self._find_fraction()

    def more_carefully(self) -> bool:
        """Whether there is a slower way to read it that takes more; it is used from now on."""
        if self.careful or self._frame is not None:
            return False
        self.careful = True
        return True

    def gaps(self) -> bool:
        """Whether a CSV file has empty lines. Raises if a row has too few cells, which Polars fills
        up silently. Only needed where the last column is empty somewhere."""
        for one in self.csvs:
            if one.ragged():
                one.check_lengths()
        return any(one.gaps() for one in self.csvs)

    # -- columns and types

    def check(self, wanted: Iterable[str]) -> None:
        """Raise unless there are such columns."""
        for name in wanted:
            if name not in self.columns:
                raise no_column(self.name, name, self.columns)

    def _type(self, name: str, wanted: Type | None) -> Type:
        from tellapart.features.to_polars import from_dtype

        if name in self.readers:
            return self.readers[name].kind
        if wanted is not None and self.kind == "jsonl":
            return wanted
        found = from_dtype(self._dtypes[name])
        if found is None:
            raise FormatError(
                f"{self.name}: column {name!r} holds {self._dtypes[name]}, which features cannot"
                " read"
            )
        fits = wanted in (None, found) or (found, wanted) in (
            (Type.INTEGER, Type.NUMBER),
            (Type.NUMBER, Type.INTEGER),
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

    def _look_at_csv(self) -> None:
        """How the wanted columns are written, as the first rows show."""
        import polars as pl

        try:
            head = self._csv_lazy_texts().head(_LOOK).collect()
        except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
            for one in self.csvs:
                one.look()
            raise FormatError(f"{self.name} cannot be read: {first_line(error)}") from error
        hint = hints(head.get_columns(), self.options, self.csvs[0].separator)
        for name, kind in self.wanted.items():
            reader, found = decide(head[name], self.options, kind, hint)
            self.readers[name] = reader
            self.findings += found
            if kind is None:
                raise_misfit(name, reader, self.csvs, self.options, told=False)

    def _csv_lazy_texts(self) -> pl.LazyFrame:
        import polars as pl

        file, one = self.files[0], self.csvs[0]
        return one.scan().with_columns(pl.lit(v).alias(k) for k, v in file.partitions)

    def _read_jsonl_head(self, known: Mapping[str, Type]) -> list[str]:
        import polars as pl

        from tellapart.features.to_polars import DTYPE

        paths = [file.path for file in self.files]
        for length in (_LOOK, None):  # a key may first come in the last line
            try:
                frame = pl.scan_ndjson(paths, infer_schema_length=length)
                self._dtypes = dict(frame.collect_schema())
            except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
                for path in paths:
                    find_bad_line(Path(path))
                raise FormatError(
                    f"{self.name} is no JSON lines file: {first_line(error)}"
                ) from error
            if all(name in self._dtypes for name in self.wanted):
                break
        columns = list(self._dtypes)
        mixed = [n for n in self.wanted if n not in known and self._dtypes.get(n) == pl.String]
        for path in paths if mixed else ():
            refuse_mixed(Path(path), pl.scan_ndjson(path, schema=self._dtypes).select(mixed))
        floats = [n for n, d in self._dtypes.items() if d == pl.Float64]
        self._dtypes |= {
            n: DTYPE[kind]
            for n, kind in known.items()
            if n in self._dtypes and not (kind is Type.INTEGER and n in floats)
        }
        return columns

    def _find_misfit(self, path: Path) -> None:
        """Say which line of a JSON lines file has a value of another type than is wanted."""
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                found = json.loads(line.decode("utf-8-sig")) if line.strip() else {}
                for name, kind in self.types.items():
                    value = found.get(name)
                    allowed = _JSON.get(kind)
                    if value is None or allowed is None:
                        continue
                    whole = isinstance(value, float) and value.is_integer() and abs(value) < EXACT
                    if kind is Type.INTEGER and whole:
                        continue
                    odd = type(value) is bool and kind.numeric
                    if odd or not isinstance(value, allowed) or not _is_moment(value, kind):
                        raise FormatError(
                            f"{path.name} line {number}: {name!r} should hold {kind.value}, but is"
                            f" {json.dumps(value)[:40]}. Fix it, or make it null if it is unknown"
                        )

    def _find_fraction(self) -> None:
        """Say which row has a fraction where the model wants whole numbers."""
        import polars as pl

        assert self._frame is not None
        for name in self._as_floats():
            odd = (
                self._frame.select(pl.col(name))
                .with_row_index("row")
                .filter(_not_whole(pl.col(name)))
            )
            found = odd.head(1).collect()
            if found.height:
                raise FormatError(
                    f"{self.name} row {found['row'][0]}: column {name!r} should hold whole numbers,"
                    f" but holds {found[name][0]}. Round it, or make it null if it is unknown"
                )


def _not_whole(number: pl.Expr) -> pl.Expr:
    """Where a float is no whole number; NaN is unknown."""
    import polars as pl

    number = number.cast(pl.Float64)
    odd = (number != number.floor()) | (number.abs() > EXACT)
    return number.is_not_null() & number.is_not_nan() & odd


def _is_moment(value: Any, kind: Type) -> bool:
    """Whether a text of JSON is a date, or a time, where one is wanted."""
    if not kind.temporal:
        return True
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return kind is Type.DATETIME or len(value) <= 10
