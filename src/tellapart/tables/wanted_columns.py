"""The columns of a source that a model wants, with the model's types, to be read once.

Where a model gives the type of a column, the column is read with that type, and a cell that does
not fit is an error. Other columns are not read. The table may be larger than memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import polars as pl

from tellapart.errors import FormatError, ParameterError
from tellapart.features.to_polars import DTYPE, cleaned, from_dtype
from tellapart.features.tree import Type
from tellapart.tables.cell_formats import EXACT
from tellapart.tables.columns import LOOK, ColumnReader, decide, hints
from tellapart.tables.csv_files import CsvFile
from tellapart.tables.files import is_url
from tellapart.tables.frames import BROKEN, no_column
from tellapart.tables.source import Source

_FITS = (
    (Type.INTEGER, Type.NUMBER),
    (Type.NUMBER, Type.INTEGER),
    (Type.DATE, Type.DATETIME),
)
"""Types that are read as others."""


class WantedColumns:
    """Some columns of a source; the type is None where the table says it."""

    def __init__(self, source: Source, wanted: Mapping[str, Type | None]) -> None:
        if source.options.sample is not None:
            raise ParameterError("sample is for teaching; predict labels every row")
        self.source, self.name, self.asked = source, source.name, dict(wanted)
        self._csvs = [one for one in source.texts if isinstance(one, CsvFile)]
        self._careful = None in wanted.values() and source.kind == "jsonl"
        self._open()
        self.findings = [one for one in source.findings if one.column in wanted]

    def _open(self) -> None:
        source = self.source
        self._readers: dict[str, ColumnReader] = {}
        look = None if self._careful else LOOK
        try:
            if source.texts:
                self._cells = source.cells(later=True)
            else:
                self._cells = source.readable(later=True, look=look)
            self._dtypes = dict(self._cells.collect_schema())
            self.columns = list(self._dtypes)
            """All columns of the source."""
            missing = not self.asked.keys() <= self._dtypes.keys()
            if missing and not self._csvs and self.more_carefully():
                return
            self.check(self.asked)
            self._decide()
        except BROKEN as error:
            source.explain(error)
        self.types = {name: self._type(name, kind) for name, kind in self.asked.items()}

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
        made = {name: self._value(name, kind) for name, kind in self.types.items()}
        columns = [value.alias(name) for name, (value, _) in made.items()]
        columns += [pl.col(name).alias(f"kept {n}") for n, name in enumerate(keep)]
        misfits = [odd for _, odd in made.values() if odd is not None]
        odd = pl.any_horizontal([pl.lit(False), *misfits]).alias("misfit")
        frame, short = self._cells, pl.lit(False)
        if self._csvs:
            native = {n: DTYPE[kind] for n, kind in self.types.items() if self._is_native(n)}
            frame = self.source.cells(native, later=True, without_gaps=without_gaps)
            short = pl.col(self._csvs[0].header[-1]).is_null()  # Polars fills up a short row
        elif not columns:
            short = pl.col(self.columns[-1]).is_null() & False  # else there would be no rows
        return frame.select([*columns, odd, short.alias("short")])

    def count(self) -> int | None:
        """How many rows there are, if that is quick to tell."""
        if self.source.kind not in ("frame", "lazy", "parquet", "ipc"):
            return None
        return int(self._cells.select(pl.len()).collect().item())

    def has_gaps(self) -> bool:
        """Whether a CSV file has empty lines. Raises if a row has too few cells."""
        for one in self._csvs:
            if one.is_ragged():
                one.check_rows()
        return any(one.has_gaps() for one in self._csvs)

    def more_carefully(self) -> bool:
        """Whether there is a slower way to read it that takes more; it is used from now on."""
        before, self._careful = self._careful, bool(self._csvs) or self.source.kind == "jsonl"
        if self._careful and not before and not self._csvs:
            self.source.frame = None
            self._open()
        return self._careful and not before

    def find_error(self) -> None:
        """Raise if something is wrong with the table that can be named."""
        self.source.check()
        for name, reader in self._readers.items():
            self.source.raise_misfit(name, reader, told=self.asked[name] is not None)
        for name in self.whole_floats():
            rows = self._cells.select(name).with_row_index("row")
            for row, value in rows.filter(_not_whole(pl.col(name))).head(1).collect().iter_rows():
                where, _ = next(islice(self.source.places(name), row, None))
                raise FormatError(
                    f"{where}: column {name!r} should hold whole numbers, but holds {value}. Round"
                    " it, or make it null if it is unknown"
                )

    # -- for engines that read files and frames themselves

    def is_converted(self, name: str) -> bool:
        """Whether a column was made readable: a list, a field of an object, a time of day."""
        assert self.source.frame is not None
        return bool(self.source.frame.collect_schema().get(name) != self._dtypes[name])

    def parquet_files(self, keep: Sequence[str]) -> list[str]:
        """The files, if another engine can read the wanted columns and those kept by itself."""
        source, alike = self.source, {name.lower() for name in self.columns}
        if source.kind != "parquet" or len(alike) < len(self.columns):
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
        whole = (name for name, kind in self.types.items() if kind is Type.INTEGER)
        return [name for name in whole if self._dtypes[name].is_float()]

    # -- how columns are read

    def _decide(self) -> None:
        """How the first rows show texts to be written that are to become something else."""
        source = self.source
        names = list(self.asked)
        if not source.texts:
            to_read = (n for n, kind in self.asked.items() if kind not in (None, Type.TEXT))
            names = [n for n in to_read if source.is_json and self._dtypes[n] == pl.String]
        if not names:
            return
        head = self._cells.select(self.columns if source.texts else names).head(LOOK).collect()
        hint = hints(head.get_columns(), source.options, source.separator)
        for name in names:
            kind = self.asked[name]
            self._readers[name], found = decide(head[name], source.options, kind, hint)
            source.findings += found
            if kind is None:
                source.raise_misfit(name, self._readers[name], told=False)

    def _type(self, name: str, wanted: Type | None) -> Type:
        if name in self._readers:
            return self._readers[name].kind
        dtype = self._dtypes[name]
        found = from_dtype(dtype)
        if found is None:
            raise FormatError(
                f"{self.name}: column {name!r} holds {dtype}, which features cannot read"
            )
        fits = wanted in (None, found) or (found, wanted) in _FITS or str(dtype) == "Null"
        if not fits and not (wanted is Type.TEXT and self.source.is_json):
            raise FormatError(
                f"{self.name}: column {name!r} should hold {wanted.value if wanted else ''}, but"
                f" holds {found.value} ({dtype}). Convert it"
            )
        return wanted or found

    def _is_native(self, name: str) -> bool:
        """Whether Polars reads it from a CSV file as strictly as we do."""
        native = self._readers[name].native and not self._careful
        return native and name in self._csvs[0].header

    def _value(self, name: str, kind: Type) -> tuple[pl.Expr, pl.Expr | None]:
        """The values of a column, and where they do not fit."""
        column, dtype = pl.col(name), self._dtypes[name]
        if name in self._readers:
            if self._csvs and self._is_native(name):
                return cleaned(column, kind, DTYPE[kind]), None
            reader = self._readers[name]
            odd = None if kind is Type.TEXT else reader.misfits(column)
            return cleaned(reader.read(column), kind, DTYPE[kind]), odd
        if kind is Type.INTEGER and dtype.is_float():
            return column.cast(pl.Int64, strict=False), _not_whole(column)
        if kind is Type.TEXT and self.source.is_json:
            return column.cast(pl.String), None
        return cleaned(column, kind, dtype), None


def _not_whole(number: pl.Expr) -> pl.Expr:
    """Where a float is no whole number; NaN is unknown."""
    number = number.cast(pl.Float64)
    odd = (number != number.floor()) | (number.abs() > EXACT)
    return number.is_not_null() & number.is_not_nan() & odd
