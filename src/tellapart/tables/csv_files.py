"""CSV files, in any encoding, with the line and the column of every error.

Polars reads. Python's own csv module, exact and slow, reads the first rows, and the rest only when
something is wrong.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from tellapart.errors import FormatError, ParameterError
from tellapart.features.tree import Type
from tellapart.tables.frames import check_names, first_line

if TYPE_CHECKING:
    import polars as pl

_SEPARATORS = (",", ";", "\t", "|")
_MOMENT = "^ *[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}.*)?$"
_COMMA = r"^ *[-+]?[0-9]+(\.[0-9]{3})*,[0-9]+ *$"
"""A number with a decimal comma."""
_LOOK = 10_000
"""Rows that tell the types of columns."""

_ENCODINGS = frozenset(
    re.findall(
        r"\S+",
        """
    ascii big5 big5hkscs cp037 cp1006 cp1026 cp1125 cp1140 cp1250 cp1251 cp1252 cp1253 cp1254
    cp1255 cp1256 cp1257 cp1258 cp273 cp424 cp437 cp500 cp720 cp737 cp775 cp850 cp852 cp855
    cp856 cp857 cp858 cp860 cp861 cp862 cp863 cp864 cp865 cp866 cp869 cp874 cp875 cp932 cp949
    cp950 euc_jis_2004 euc_jisx0213 euc_jp euc_kr gb18030 gb2312 gbk hp-roman8 hz iso2022_jp
    iso2022_jp_2 iso2022_kr iso8859-1 iso8859-10 iso8859-11 iso8859-13 iso8859-14 iso8859-15
    iso8859-16 iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-9
    johab koi8-r koi8-t koi8-u kz1048 mac-cyrillic mac-greek mac-iceland mac-latin2 mac-roman
    mac-turkish ptcp154 shift_jis shift_jis_2004 shift_jisx0213 tis-620 utf-16 utf-16-be
    utf-16-le utf-32 utf-32-be utf-32-le utf-7 utf-8 utf-8-sig
    """,
    )
)
"""Python's encodings of texts. Others that it knows under such names are of bytes, or of names."""
_BLOCK = 1 << 20
_LITTLE, _BIG = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE


class CsvFile:
    """A CSV file: what its first lines say, how to read it, and what is wrong with it."""

    def __init__(
        self,
        path: Path,
        types: Mapping[str, Type],
        separator: str | None,
        encoding: str,
        nulls: list[str],
    ) -> None:
        self.path, self.name, self.nulls = path, path.name, nulls
        self.plain = is_utf8(encoding)
        self.text = "" if self.plain else "".join(decoded(path, encoding))
        self.separator = self.sniff() if separator is None else _separator(separator)
        self.cells, self.header = self.names()
        self.types = {**dict.fromkeys(self.leading_zeros(), Type.TEXT), **types}
        unknown = [name for name in types if name not in self.header]
        if unknown:
            raise FormatError(
                f"{self.name} has no column {unknown[0]!r} to give a type to. Columns:"
                f" {', '.join(self.header[:30])}{', ...' if len(self.header) > 30 else ''}"
            )

    def read(self) -> pl.DataFrame:
        """The table, or a `FormatError` that says where the file is wrong and what to do."""
        import polars as pl

        try:
            frame = self.polars()
        except (pl.exceptions.PolarsError, UnicodeDecodeError):
            self.look()
            frame = self.again()
        if "\ufffd" in "".join(self.header):
            self.check_encoding()
        if frame.height and frame.to_series(-1).null_count():  # what a short row leaves behind
            if self.ragged():
                self.check_lengths()
            if frame.to_series(0).null_count() and self.gaps():  # and an empty line
                frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
        return self.check_mixed(frame)

    def again(self) -> pl.DataFrame:
        """The table once more, where the first rows said too little: 1.5 after thousands of 1s."""
        import polars as pl

        try:
            return self.polars(infer_schema_length=None)
        except pl.exceptions.PolarsError as error:
            raise FormatError(f"{self.name} cannot be read: {first_line(error)}") from error

    def look(self) -> None:
        """Raise if something is wrong with the file that can be named."""
        self.check_encoding()
        self.check_lengths()
        self.check_types()

    def explain(self, error: BaseException) -> NoReturn:
        """Say what is wrong with the file, after reading it has failed."""
        self.look()
        raise FormatError(f"{self.name} cannot be read: {first_line(error)}") from error

    def scan(self) -> pl.LazyFrame:
        """The table, lazily: the columns of `types`, and all others as text."""
        import polars as pl

        from tellapart.features.to_polars import DTYPE

        return pl.scan_csv(
            self.path,
            separator=self.separator,
            with_column_names=lambda _: self.header,
            schema_overrides={n: DTYPE[self.types.get(n, Type.TEXT)] for n in self.header},
            null_values=["", *self.nulls] if self.nulls else None,
            try_parse_dates=True,
            infer_schema_length=0,
        )

    def gaps(self) -> bool:
        """Whether there may be an empty line, which is no row but is read as one."""
        if len(self.header) == 1:
            return False
        if not self.plain:
            return _gap(self.text.encode())
        before = b""
        with self.path.open("rb") as file:
            while block := file.read(1 << 24):
                if _gap(block) or _gap(before + block[:2]):
                    return True
                before = block[-2:]
        return False

    def polars(self, **options: Any) -> pl.DataFrame:
        import polars as pl

        from tellapart.features.to_polars import DTYPE

        named = zip(self.cells, self.header, strict=True)
        frame = pl.read_csv(
            self.path if self.plain else io.BytesIO(self.text.encode()),
            separator=self.separator,
            schema_overrides={c: DTYPE[self.types[n]] for c, n in named if n in self.types},
            null_values=["", *self.nulls] if self.nulls else None,
            try_parse_dates=True,
            **{"infer_schema_length": _LOOK, **options},
        )
        frame.columns = self.header
        return frame

    # -- what is looked at first

    def lines(self) -> TextIO:
        if not self.plain:
            return io.StringIO(self.text.removeprefix("\ufeff"), newline="")
        return self.path.open(encoding="utf-8-sig", errors="replace", newline="")

    def rows(self, *, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
        """(line it starts in, cells) of every row, the header first, empty lines left out."""
        before = csv.field_size_limit(2**31 - 1)
        line = 1
        try:
            with self.lines() as lines:
                reader = csv.reader(lines, delimiter=self.separator, strict=strict)
                for row in reader:
                    if row:
                        yield line, row
                    line = reader.line_num + 1
        except csv.Error as error:
            what = str(error)
            if "unexpected end" in what:
                what = "a quote is opened and not closed"
            raise FormatError(f"{self.name} line {line}: {what}") from error
        finally:
            csv.field_size_limit(before)

    def sniff(self) -> str:
        """The separator that is most frequent in the first line."""
        if self.path.suffix.lower() in (".tsv", ".tab"):
            return "\t"
        with self.lines() as lines:
            first = re.sub(r'"[^"]*"', "", lines.readline())
        return max(_SEPARATORS, key=first.count)

    def names(self) -> tuple[list[str], list[str]]:
        """The cells of the first line, and the names they give."""
        if self.plain:
            with self.path.open("rb") as file:
                start = file.read(65_536)
            if start[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in start[:4]:
                raise FormatError(
                    f"{self.name} is not UTF-8 but looks like UTF-16. Save it as UTF-8, or pass"
                    " {encoding}",
                    encoding="utf-16",
                )
            if b"\r" in start and b"\n" not in start:
                raise FormatError(
                    f"{self.name} line 1: lines end in carriage returns only, as on old"
                    " Macintoshes. Save it with line feeds"
                )
        _, header = next(self.rows(), (1, []))
        names = [cell.strip() or f"column_{n}" for n, cell in enumerate(header, 1)]
        check_names(names, self.name, " line 1")
        return header, names

    def leading_zeros(self) -> set[str]:
        """Columns with numbers like 007, which are names rather than numbers."""
        found: set[str] = set()
        for number, (_, row) in enumerate(self.rows()):
            if number == 1_000:
                break
            for name, cell in zip(self.header, row, strict=False):
                if number and len(cell) > 1 and cell[0] == "0" and cell.isdigit():
                    found.add(name)
        return found

    def ragged(self) -> bool:
        """Whether a line may have too few or too many cells; quick, and sure if it says no."""
        import polars as pl

        lines = pl.scan_csv(
            self.path if self.plain else io.BytesIO(self.text.encode()),
            has_header=False,
            separator="\x01",
            quote_char=None,
            schema={"line": pl.String},
            truncate_ragged_lines=True,
        )
        bare = pl.col("line").str.replace_all('"[^"]*"', "")
        odd = bare.str.count_matches(self.separator, literal=True) != len(self.header) - 1
        empty = bare.str.len_bytes() == 0
        try:
            return bool(lines.select((odd & ~empty).any()).collect(engine="streaming").item())
        except pl.exceptions.PolarsError:
            return True

    # -- what went wrong

    def check_encoding(self) -> None:
        if not self.plain:
            return
        with self.path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    line.decode("utf-8")
                except UnicodeDecodeError as error:
                    raise FormatError(
                        f"{self.name} line {number}: byte 0x{line[error.start]:02x} is not UTF-8."
                        " Save the file as UTF-8, or pass the encoding it has, likely"
                        " {encoding}",
                        encoding="cp1252",
                    ) from error

    def check_lengths(self) -> None:
        """Every row has as many cells as the header; empty lines are passed over."""
        wanted = len(self.header)
        for line, row in self.rows(strict=True):
            if len(row) != wanted:
                raise FormatError(
                    f"{self.name} line {line}: {len(row)} cells, but the header has {wanted}. Fix"
                    f" the line, quote cells that contain {self.separator!r}, or pass another"
                    " separator, such as {separator}",
                    separator=";" if self.separator == "," else ",",
                )

    def check_types(self) -> None:
        """Find the first cell that is not what its column looked like in the first rows."""
        import polars as pl

        looks = self.polars(n_rows=_LOOK, ignore_errors=True).schema
        for name, dtype in looks.items():
            if dtype.is_integer() and name not in self.types:
                self.find_misfit(name, pl.Float64())  # a fraction further down is no mistake
            elif dtype != pl.String:
                self.find_misfit(name, dtype)

    def check_mixed(self, frame: pl.DataFrame) -> pl.DataFrame:
        """A column of texts half of which are numbers is most likely a column of numbers.

        It becomes one if all of them are, with spaces around them. Where no comma separates cells,
        what has a decimal comma was meant for a number, too.
        """
        import polars as pl

        texts = [n for n, d in frame.schema.items() if d == pl.String and n not in self.types]
        for name in texts:
            cells = frame[name].head(_LOOK).drop_nulls()
            cells = cells.filter(cells.str.len_chars() > 0)
            for dtype in (pl.Float64(), pl.Date()):
                fits = _fit(cells, dtype)
                if dtype == pl.Float64 and self.separator != ",":
                    fits |= cells.str.contains(_COMMA)
                if 2 * int(fits.sum()) >= len(cells) > 0:
                    self.find_misfit(name, dtype)
                    frame = frame.with_columns(_read_as(frame[name], dtype))
                    break
        return frame

    def find_misfit(self, name: str, dtype: pl.DataType) -> None:
        """Raise if a cell of a column cannot be read as `dtype`."""
        import polars as pl

        place, unknown = self.header.index(name), ("", *self.nulls)
        rows = self.rows()
        next(rows)
        cells = ((line, row[place]) for line, row in rows if place < len(row))
        while block := list(islice(cells, _LOOK)):
            known = [(line, cell) for line, cell in block if cell not in unknown]
            fits = _fit(pl.Series([cell for _, cell in known], dtype=pl.String), dtype)
            for (line, cell), fit in zip(known, fits, strict=True):
                if not fit:
                    self.misfit(line, name, cell[:40], dtype)

    def misfit(self, line: int, name: str, cell: str, dtype: pl.DataType) -> NoReturn:
        told = name in self.types  # the type was given, not inferred
        what = f"{self.name} line {line}, column {name!r}: {cell!r}"
        if dtype.is_numeric() and re.match(_COMMA, cell):
            what += " has a decimal comma, and numbers are read with a point. Replace the commas"
        else:
            why = "which the column is to hold" if told else "but other cells of the column are"
            what += f" is no {_word(dtype)}, {why}. Fix the cell; or, if it means unknown, leave it"
            what += " empty or pass {nulls}"
        if not told:
            what += "; or pass {types}"
        raise FormatError(what, nulls=[cell], types={name: "text"})


def _separator(given: str) -> str:
    if len(given) == 1 and given.isascii() and given not in '"\r\n\0':
        return given
    raise ParameterError(f"a separator is one character such as ';', and no quote, got {given!r}")


def _gap(block: bytes) -> bool:
    return b"\n\n" in block or b"\n\r\n" in block


def _fit(cells: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Which cells can be read as `dtype`."""
    import polars as pl

    if dtype == pl.Boolean:
        return cells.str.to_lowercase().is_in(["true", "false"])
    if dtype == pl.Date:
        return cells.str.to_date("%Y-%m-%d", strict=False).is_not_null()
    if dtype == pl.Datetime:
        day = cells.str.strip_chars().str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False)
        return cells.str.contains(_MOMENT) & day.is_not_null()
    if dtype == pl.Time:
        return cells.str.to_time("%H:%M:%S%.f", strict=False).is_not_null()
    return cells.str.strip_chars().cast(dtype, strict=False).is_not_null()


def _read_as(cells: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Texts that all fit as what they are; whole numbers where they all are."""
    import polars as pl

    if dtype == pl.Date:
        return cells.str.to_date("%Y-%m-%d", strict=False)
    known = cells.str.strip_chars()
    whole = known.cast(pl.Int64, strict=False)
    return whole if whole.null_count() == cells.null_count() else known.cast(dtype, strict=False)


def _word(dtype: pl.DataType) -> str:
    if dtype.is_integer():
        return "whole number"
    if dtype.is_numeric():
        return "number"
    return "date" if dtype.is_temporal() else "true or false"


# -- encodings other than UTF-8


def is_utf8(encoding: str) -> bool:
    """Whether a name is one of those of UTF-8.

    >>> is_utf8("utf-8"), is_utf8("UTF_8"), is_utf8("cp1252")
    (True, True, False)
    """
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")


def decoded(path: Path, encoding: str) -> Iterator[str]:
    """The text of a file, block by block."""
    try:
        known = codecs.lookup(encoding).name in _ENCODINGS
    except (LookupError, UnicodeError, ValueError):  # the last for a zero in the name
        known = False
    if not known:
        raise FormatError(
            f"{path.name}: unknown encoding {encoding!r}. Texts are in utf-8, utf-16, cp1252,"
            " latin-1, shift_jis, gb18030 and others of Python's standard encodings"
        )
    before, block = 0, b""
    with path.open("rb") as file:
        decoder = codecs.getincrementaldecoder(_with_mark(encoding, file.peek(4)))()
        try:
            while block := file.read(_BLOCK):
                yield decoder.decode(block)
                before += len(block)
            yield decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            place = before + len(block) - len(error.object) + error.start
            raise FormatError(
                f"{path.name}: byte {place} is not {encoding}: {error.reason}"
            ) from error


def _with_mark(encoding: str, start: bytes) -> str:
    """UTF-16 without the mark that says which byte of two comes first: the lower one."""
    if codecs.lookup(encoding).name == "utf-16" and start[:2] not in (_LITTLE, _BIG):
        return "utf-16-le"
    return encoding


@contextmanager
def in_utf8(path: Path, encoding: str, folder: Path) -> Iterator[Path]:
    """The file itself if it is UTF-8, else for a while one in `folder` that is."""
    if is_utf8(encoding):
        yield path
        return
    with TemporaryDirectory(dir=folder) as place:
        made = Path(place, path.name)  # the same name, for error messages
        with made.open("wb") as file:
            for text in decoded(path, encoding):
                file.write(text.encode())
        yield made
