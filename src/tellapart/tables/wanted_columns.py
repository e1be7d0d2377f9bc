"""The columns of a source that a model wants, with the model's types, to be read once.

Where a model gives the type of a column, the column is read with that type, and a cell that does
not fit is an error. Other columns are not read. The table may be larger than memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from tellapart.errors import FormatError, ParameterError
from tellapart.features.tree import Type
from tellapart.tables.cell_formats import EXACT
from tellapart.tables.columns import LOOK, ColumnReader, decide, hints
from tellapart.tables.csv_files import CsvFile
from tellapart.tables.files import is_url
from tellapart.tables.frames import broken, first_line, no_column
from tellapart.tables.json_files import check_keys, mixed_columns, objects_in_lines
from tellapart.tables.source import Source

if TYPE_CHECKING:
    import polars as pl

_JSON: dict[Type, tuple[type, ...]] = {
    Type.BOOL: (bool,),
    Type.INTEGER: (int,),
    Type.NUMBER: (int, float),
    Type.DATE: (str,),
    Type.DATETIME: (str,),
}

_FITS = (
    (Type.INTEGER, Type.NUMBER),
    (Type.NUMBER, Type.INTEGER),
    (Type.DATE, Type.DATETIME),
)
"""Types that are read as others."""


def wanted_columns(source: Source, wanted: Mapping[str, Type | None]) -> WantedColumns:
    """Some columns of a source, with their types (None: as the table says)."""
    if source.options.sample is not None:
        raise ParameterError("sample is for teaching; predict labels every row")
    kinds = {"csv": _FromTexts, "jsonl": _FromLines}
    if source.kind == "excel":  # which is in memory anyway
        header = source.texts[0].header
        told = {n: kind.value for n, kind in wanted.items() if kind is not None and n in header}
        source.options = replace(source.options, types=told)
        opened = source.table()
        source = replace(source, frame=opened.frame.lazy(), findings=opened.findings, texts=())
    return kinds.get(source.kind, WantedColumns)(source, wanted)


class WantedColumns:
    """Columns that have a type already."""

    def __init__(self, source: Source, wanted: Mapping[str, Type | None]) -> None:
        self.source, self.name, self.asked = source, source.name, dict(wanted)
        self.columns: list[str] = []
        """All columns of the source; of JSON lines, those of the first lines and the wanted."""
        self.careful = False
        self._dtypes: dict[str, Any] = {}
        self._open()
        self.check(wanted)
        self.types = {name: self._type(name, kind) for name, kind in wanted.items()}
        self.findings = [one for one in source.findings if one.column in wanted]

    def check(self, names: Iterable[str]) -> None:
        """Raise unless there are such columns."""
        for name in names:
            if name not in self.columns:
                raise no_column(self.name, name, self.columns)

    def lazy(self, keep: Iterable[str], *, without_gaps: bool = False) -> pl.LazyFrame:
        """The wanted columns, cleaned; the columns `keep` as they are, called `kept 0`, `kept 1`,
        ...; `misfit`, where a value is not what the model wants; and `short`, where a row of a CSV
        file may have too few cells.

        `without_gaps` leaves out the rows that are empty lines of a CSV file; see `has_gaps`.
        """
        import polars as pl

        made = {name: self._value(name, kind) for name, kind in self.types.items()}
        columns = [value.alias(name) for name, (value, _) in made.items()]
        columns += [pl.col(name).alias(f"kept {n}") for n, name in enumerate(keep)]
        misfits = [odd for _, odd in made.values() if odd is not None]
        odd = pl.any_horizontal([pl.lit(False), *misfits]).alias("misfit")
        frame = self._frame(without_gaps)
        return frame.select([*columns, odd, self._short(bool(columns)).alias("short")])

    def count(self) -> int | None:
        """How many rows there are, if that is quick to tell."""
        import polars as pl

        if self.source.frame is None:
            return None
        return int(self.source.frame.select(pl.len()).collect().item())

    def explain(self, error: BaseException) -> NoReturn:
        """Say what is wrong with the table, after reading it has failed."""
        self.find_error()
        raise FormatError(f"{self.name} cannot be read: {first_line(error)}") from error

    def has_gaps(self) -> bool:
        """Whether a CSV file has empty lines. Raises if a row has too few cells."""
        return False

    def more_carefully(self) -> bool:
        """Whether there is a slower way to read it that takes more; it is used from now on."""
        before, self.careful = self.careful, self.source.frame is None
        return self.careful and not before

    def find_error(self) -> None:
        """Raise if something is wrong with the table that can be named."""
        import polars as pl

        for name in self.whole_floats():
            odd = self._raw.select(pl.col(name)).with_row_index("row")
            found = odd.filter(_not_whole(pl.col(name))).head(1).collect()
            if found.height:
                raise FormatError(
                    f"{self.name} row {found['row'][0]}: column {name!r} should hold whole numbers,"
                    f" but holds {found[name][0]}. Round it, or make it null if it is unknown"
                )

    # -- what depends on the kind of source

    def _open(self) -> None:
        self._raw = self.source.readable()
        self._dtypes = dict(self._raw.collect_schema())
        self.columns = list(self._dtypes)

    def _type(self, name: str, wanted: Type | None) -> Type:
        from tellapart.features.to_polars import from_dtype

        found, dtype = from_dtype(self._dtypes[name]), self._dtypes[name]
        if found is None:
            raise FormatError(
                f"{self.name}: column {name!r} holds {dtype}, which features cannot read"
            )
        if (found, wanted) not in _FITS and wanted not in (None, found) and str(dtype) != "Null":
            raise FormatError(
                f"{self.name}: column {name!r} should hold {wanted.value if wanted else ''}, but"
                f" holds {found.value} ({dtype}). Convert it"
            )
        return wanted or found

    def _frame(self, without_gaps: bool) -> pl.LazyFrame:
        return self._raw

    def _value(self, name: str, kind: Type) -> tuple[pl.Expr, pl.Expr | None]:
        """The values of a column, and where they do not fit."""
        import polars as pl

        from tellapart.features.to_polars import cleaned

        column = pl.col(name)
        if name in self.whole_floats():
            return column.cast(pl.Int64, strict=False), _not_whole(column)
        return cleaned(column, kind, self._dtypes.get(name)), None

    def _short(self, is_read: bool) -> pl.Expr:
        import polars as pl

        # without any column there would be no rows
        return pl.lit(False) if is_read else pl.col(self.columns[-1]).is_null() & False

    def is_converted(self, name: str) -> bool:
        """Whether a column was made readable: a list, a field of an object, a time of day."""
        assert self.source.frame is not None
        return bool(self.source.frame.collect_schema().get(name) != self._dtypes[name])

    def parquet_files(self, keep: Sequence[str]) -> list[str]:
        """The files, if another engine can read the wanted columns and those kept by itself."""
        source, alike = self.source, {name.lower() for name in self.columns}
        if source.kind != "parquet" or source.frame is None or len(alike) < len(self.columns):
            return []
        if any(is_url(file.path) or file.partitions for file in source.files):
            return []
        converted = any(self.is_converted(name) for name in [*self.types, *keep])
        return [] if converted else [file.path for file in source.files]

    def zone(self, name: str) -> str | None:
        """The zone of a column of times, if they have one."""
        return getattr(self._dtypes.get(name), "time_zone", None)

    def whole_floats(self) -> list[str]:
        """Columns of floats where the model wants integers."""
        import polars as pl

        floats = [
            n for n, d in self._dtypes.items() if d in (pl.Float64, pl.Float32) or self.careful
        ]
        return [n for n in floats if self.types.get(n) is Type.INTEGER]


class _FromTexts(WantedColumns):
    """Columns of CSV files."""

    def _open(self) -> None:
        """How the wanted columns are written, as the first rows show."""

        self.csvs = [one for one in self.source.texts if isinstance(one, CsvFile)]
        self.columns = [*self.csvs[0].header, *(k for k, _ in self.source.files[0].partitions)]
        self.check(self.asked)
        self.readers: dict[str, ColumnReader] = {}
        try:
            head = self._part(0, {}).head(LOOK).collect()
        except broken() as error:
            self.explain(error)
        options = self.source.options
        hint = hints(head.get_columns(), options, self.csvs[0].separator)
        for name, kind in self.asked.items():
            self.readers[name], found = decide(head[name], options, kind, hint)
            self.source.findings += found
            if kind is None:
                self.source.raise_misfit(name, self.readers[name], told=False)

    def _part(self, number: int, dtypes: dict[str, Any]) -> pl.LazyFrame:
        import polars as pl

        more = (pl.lit(v).alias(k) for k, v in self.source.files[number].partitions)
        return self.csvs[number].scan(dtypes).select(self.csvs[0].header).with_columns(more)

    def _type(self, name: str, wanted: Type | None) -> Type:
        return self.readers[name].kind

    def _is_native(self, name: str) -> bool:
        """Whether Polars reads it as strictly as we do."""
        native = self.readers[name].native and not self.careful
        return native and name in self.csvs[0].header

    def _frame(self, without_gaps: bool) -> pl.LazyFrame:
        import polars as pl

        from tellapart.features.to_polars import DTYPE

        dtypes = {n: DTYPE[kind] for n, kind in self.types.items() if self._is_native(n)}
        parts = [self._part(n, dtypes) for n in range(len(self.csvs))]
        if without_gaps:
            header = self.csvs[0].header
            parts = [one.filter(~pl.all_horizontal(pl.col(header).is_null())) for one in parts]
        return parts[0] if len(parts) == 1 else pl.concat(parts)

    def _value(self, name: str, kind: Type) -> tuple[pl.Expr, pl.Expr | None]:
        import polars as pl

        from tellapart.features.to_polars import DTYPE, cleaned

        column, reader = pl.col(name), self.readers[name]
        if self._is_native(name):
            return cleaned(column, kind, DTYPE[kind]), None
        odd = None if kind is Type.TEXT else reader.misfits(column)
        return cleaned(reader.read(column), kind, DTYPE[kind]), odd

    def _short(self, is_read: bool) -> pl.Expr:
        import polars as pl

        # Polars fills up a short row with nulls
        return pl.col(self.csvs[0].header[-1]).is_null()

    def has_gaps(self) -> bool:
        for one in self.csvs:
            if one.is_ragged():
                one.check_rows()
        return any(one.has_gaps() for one in self.csvs)

    def find_error(self) -> None:
        for one in self.csvs:
            one.check()
        for name, reader in self.readers.items():
            self.source.raise_misfit(name, reader, told=self.asked[name] is not None)


class _FromLines(WantedColumns):
    """Columns of JSON lines."""

    def _open(self) -> None:
        import polars as pl

        from tellapart.features.to_polars import DTYPE

        self._paths = [Path(file.path) for file in self.source.files]
        for path in self._paths:
            check_keys(path, objects_in_lines(path), self.source.options.bounds)
        untold = any(kind is None for kind in self.asked.values())
        for length in (LOOK, None):  # a key may first come in the last line
            try:
                frame = pl.scan_ndjson(self._paths, infer_schema_length=length)
                self._dtypes = dict(frame.collect_schema())
            except broken() as error:
                for path in self._paths:
                    for _ in objects_in_lines(path):
                        pass
                self.explain(error)
            if all(name in self._dtypes for name in self.asked) and not untold:
                break
        self.columns = list(self._dtypes)
        for name, kind in self.asked.items():
            whole = kind is Type.INTEGER and self._dtypes.get(name) == pl.Float64
            if name in self._dtypes and kind is not None and not whole:
                self._dtypes[name] = DTYPE[kind]
        texts = [n for n, kind in self.asked.items() if kind is None]
        texts = [n for n in texts if self._dtypes.get(n) == pl.String]
        if texts:
            found = (mixed_columns(path, texts) for path in self._paths)
            self.source.findings += [one for some in found for one in some]

    def _type(self, name: str, wanted: Type | None) -> Type:
        return super()._type(name, None) if wanted is None else wanted

    def _frame(self, without_gaps: bool) -> pl.LazyFrame:
        import polars as pl

        from tellapart.features.to_polars import DTYPE

        dtypes = {**self._dtypes, **{n: DTYPE[kind] for n, kind in self.types.items()}}
        dtypes |= {n: pl.Float64() for n in self.whole_floats()}
        return pl.scan_ndjson(self._paths, schema=dtypes)

    def find_error(self) -> None:
        """Say which line has a value of another type than is wanted."""
        for path in self._paths:
            for where, found in objects_in_lines(path):
                for name, kind in getattr(self, "types", {}).items():
                    if not _is_of(found.get(name), kind):
                        raise FormatError(
                            f"{path.name} {where}: {name!r} should hold {kind.value}, but is"
                            f" {json.dumps(found[name])[:40]}. Fix it, or make it null if it is"
                            " unknown"
                        )


def _is_of(value: Any, kind: Type) -> bool:
    """Whether a value of JSON is unknown, or of a type."""
    allowed = _JSON.get(kind)
    if value is None or allowed is None:
        return True
    if kind is Type.INTEGER and isinstance(value, float):
        return value.is_integer() and abs(value) < EXACT
    if (type(value) is bool and kind.numeric) or not isinstance(value, allowed):
        return False
    if not kind.temporal:
        return True
    text = str(value)
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return kind is Type.DATETIME or len(text) <= 10


def _not_whole(number: pl.Expr) -> pl.Expr:
    """Where a float is no whole number; NaN is unknown."""
    import polars as pl

    number = number.cast(pl.Float64)
    odd = (number != number.floor()) | (number.abs() > EXACT)
    return number.is_not_null() & number.is_not_nan() & odd
