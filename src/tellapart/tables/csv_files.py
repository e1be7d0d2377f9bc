"""CSV files as texts; with the line and the column of every error.

Polars reads. Python's own csv module, exact and slow, reads the first rows, and the rest only when
something is wrong.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from mmap import ACCESS_READ, mmap
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO

import polars as pl

from tellapart.errors import FormatError, ParameterError
from tellapart.features.phrasing import counted
from tellapart.tables.findings import Finding
from tellapart.tables.frames import check_header, check_names
from tellapart.tables.options import ReadOptions, is_utf8

_SEPARATORS = (",", ";", "\t", "|")
_LOOK = 10_000
"""Rows looked at in one go."""
_OTHERS = {
    b"PK\x03\x04": "a zip file or an Excel file",
    b"\xd0\xcf\x11\xe0": "an old Excel file (.xls)",
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"SQLite format 3": "an SQLite database",
    b"%PDF": "a PDF file",
    b"<!DOCTYPE": "a web page",
    b"<html": "a web page",
    b"<?xml": "an XML file",
    b"[{": "a JSON file",
    b'{"': "a JSON file",
}
"""What files begin with that are no CSV files."""


class CsvFile:
    """A CSV file in UTF-8: what its first lines say, its cells as texts, and what is wrong."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path, self.name, self.options = path, path.name, options
        self.findings: list[Finding] = []
        self._check_bytes()
        given = options.separator
        self.separator = self._sniff() if given is None else _separator(given)
        self.first, self.header = self._names()

    # -- reading

    def scan(self, dtypes: dict[str, Any] | None = None) -> pl.LazyFrame:
        """The table, lazily: `dtypes` of some columns, and all others as texts."""
        nulls = list(self.options.nulls)
        return pl.scan_csv(
            self.path,
            separator=self.separator,
            has_header=self._has_header,
            skip_lines=self.first - 1,
            comment_prefix=self.options.comment,
            with_column_names=lambda _: self.header,
            schema_overrides={n: (dtypes or {}).get(n, pl.String) for n in self.header},
            null_values=["", *nulls] if nulls else None,
            infer_schema_length=0,
            glob=False,
        )

    def checked(self, sample: bool = False) -> pl.LazyFrame:
        """All cells as texts, without empty lines; or a `FormatError` that says where the file is
        wrong. They are read now, unless only a `sample` of them is wanted."""
        frame = self.scan() if sample else self.scan().collect().lazy()
        ends = frame.select(pl.col(self.header[-1], self.header[0]).is_null().any())
        short = ends.collect(engine="streaming").row(0)
        slashes = pl.any_horizontal(pl.all().str.contains("\\", literal=True).any())
        has_slashes = frame.select(slashes).collect(engine="streaming").item()
        # Polars leaves quotes out that stand after a backslash
        escaped = has_slashes and self._contains(b'\\"')
        if (short[0] and self.is_ragged()) or escaped or self._has_stray_quotes():
            self.check_rows()
        if all(short) and self.has_gaps():
            frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
        self._look_at(frame.head(_LOOK).collect())
        return frame

    def _has_stray_quotes(self) -> bool:
        """Whether a quote near the beginning stands alone between other characters."""
        with self._lines() as lines:
            start = lines.read(65_536)
        other = f'[^"\r\n{re.escape(self.separator)}]'
        return re.search(f'{other}"{other}', start) is not None

    def is_ragged(self) -> bool:
        """Whether a line may have too few or too many cells; quick, and sure if it says no. Polars
        fills up short rows silently."""
        lines = pl.scan_csv(
            self.path,
            has_header=False,
            separator="\x01",
            quote_char=None,
            skip_lines=self.first - 1,
            comment_prefix=self.options.comment,
            schema={"line": pl.String},
            truncate_ragged_lines=True,
            glob=False,
        )
        bare = pl.col("line").str.replace_all('"[^"]*"', "")
        odd = bare.str.count_matches(self.separator, literal=True) != len(self.header) - 1
        empty = bare.str.len_bytes() == 0
        try:
            return bool(lines.select((odd & ~empty).any()).collect(engine="streaming").item())
        except pl.exceptions.PolarsError:
            return True

    def has_gaps(self) -> bool:
        """Whether there may be an empty line that was read as a row."""
        return len(self.header) > 1 and self._contains(b"\n\n", b"\n\r\n")

    def _contains(self, *wanted: bytes) -> bool:
        with self.path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
            return any(content.find(one) >= 0 for one in wanted)

    # -- what is looked at first

    @property
    def _has_header(self) -> bool:
        return self.options.header != 0

    def _lines(self) -> TextIO:
        return self.path.open(encoding="utf-8-sig", errors="replace", newline="")

    def _check_bytes(self) -> None:
        with self.path.open("rb") as file:
            start = file.read(65_536)
        for begin, kind in _OTHERS.items():
            if start.startswith(begin):
                raise FormatError(
                    f"{self.name} is no CSV file but {kind}. Give it the ending it should have"
                )
        if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) or b"\0" in start[:4]:
            raise FormatError(
                f"{self.name} is not UTF-8 but looks like UTF-16. Save it as UTF-8, or pass"
                " {encoding}",
                encoding="utf-16",
            )
        if b"\0" in start:
            raise FormatError(
                f"{self.name} is no CSV file: it has zero bytes, as only other files have"
            )
        if b"\r" in start and b"\n" not in start:
            raise FormatError(
                f"{self.name} line 1: lines end in carriage returns only, as on old"
                " Macintoshes. Save it with line feeds"
            )

    def _sniff(self) -> str:
        """The separator that is most frequent in the first line."""
        if re.search(r"\.(tsv|tab)(\.|$)", self.name.lower()):
            return "\t"
        comment = self.options.comment
        with self._lines() as lines:
            after = islice(lines, (self.options.header or 1) - 1, None)
            rows = (one for one in after if one.strip())
            first = next((n for n in rows if not (comment and n.startswith(comment))), "")
        first = re.sub(r'"[^"]*"', "", first)
        if self.options.header is None and first.startswith("sep=") and len(first.strip()) == 5:
            raise FormatError(
                f"{self.name} line 1: {first.strip()!r} is for Excel, and the names of the columns"
                " are in line 2. Pass {header} and {separator}",
                header=2,
                separator=first[4],
            )
        return max(_SEPARATORS, key=first.count)

    def _names(self) -> tuple[int, list[str]]:
        """The line where reading begins, and the names of the columns."""
        line, header, _ = next(self._rows(), (1, [], ""))
        self.options.bounds.check(self.name, "columns", len(header))
        if self.options.header and line != self.options.header:
            raise FormatError(
                f"{self.name} line {self.options.header} is empty or a comment, and cannot have the"
                " names of the columns"
            )
        if not self._has_header:
            return line, [f"column_{n}" for n in range(1, len(header) + 1)]
        names = [cell.strip() or f"column_{n}" for n, cell in enumerate(header, 1)]
        if "\ufffd" in "".join(names):
            self._check_encoding()
        try:
            check_names(names, self.name, f" line {line}")
        except FormatError as error:
            self._check_header(line, header)
            raise FormatError(
                f"{error}; or, if there is no header, pass {{header}}", header=0
            ) from None
        return line, names

    def _check_header(self, line: int, header: list[str]) -> None:
        """Raise if the names of the columns may stand in a later line."""
        if self.options.header is None:
            rows = islice(self._rows(), 20)
            counts = [(at, sum(bool(cell.strip()) for cell in row)) for at, row, _ in rows]
            check_header(f"{self.name} line {line}", "line", counts, header[0].strip())

    def _look_at(self, head: pl.DataFrame) -> None:
        """Find what is odd about the separator."""
        if len(self.header) != 1 or not head.height or self.options.separator is not None:
            return
        name, cells = self.header[0], head.to_series().drop_nulls()
        equal = cells.str.count_matches(" ", literal=True) == name.count(" ")
        if " " in name and len(cells) and equal.all():
            self.findings.append(Finding(name, "one column", {"shown": " "}, {"separator": " "}))

    # -- what went wrong

    def _rows(self, *, strict: bool = False) -> Iterator[tuple[int, list[str], str]]:
        """(line it starts in, cells, how it is written) of every row from the header on; empty
        lines and comments are left out."""
        before = csv.field_size_limit(2**31 - 1)
        start = line = self.options.header or 1
        comment = self.options.comment
        written: list[str] = []
        try:
            with self._lines() as lines:
                after = islice(lines, start - 1, None)
                reader = csv.reader(_kept(after, written), delimiter=self.separator, strict=strict)
                for row in reader:
                    if row and not (comment and row[0].startswith(comment)):
                        yield line, row, "".join(written)
                    written.clear()
                    line = start + reader.line_num
        except csv.Error as error:
            if "unexpected end" not in str(error):
                raise self._stray_quote(line) from error
            raise FormatError(
                f"{self.name} line {line}: a quote is opened and not closed. Close it, or write it"
                " twice if it is meant"
            ) from error
        finally:
            csv.field_size_limit(before)

    def _stray_quote(self, line: int) -> FormatError:
        what = (
            f"{self.name} line {line}: a quote stands in the middle of a cell. Put the whole cell"
            f' in quotes and write the quote twice, such as "5"" disk"{self.separator}...,'
            " or remove it"
        )
        if len(self.header) == 1 and self.options.separator is None:
            what += "; or, if spaces stand between cells, pass {separator}"
            return FormatError(what, separator=" ")
        return FormatError(what)

    def check(self) -> None:
        """Raise if something is wrong with the file that can be named."""
        self._check_encoding()
        self.check_rows()

    def _check_encoding(self) -> None:
        with self.path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    line.decode("utf-8")
                except UnicodeDecodeError as error:
                    runs = re.findall(rb"[\x80-\xff]+", line)
                    western = sum(map(len, runs)) < 2 * len(runs)  # single letters with accents
                    others = (
                        "such as {encoding} for Russian, gb18030 for Chinese or shift_jis for"
                        " Japanese texts"
                    )
                    raise FormatError(
                        f"{self.name} line {number}: byte 0x{line[error.start]:02x} is not UTF-8."
                        " Save the file as UTF-8, or pass the encoding it has, "
                        + ("likely {encoding}" if western else others),
                        encoding="cp1252" if western else "cp1251",
                    ) from error

    def check_rows(self) -> None:
        """Raise unless every row has as many cells as the header, and quotes only around cells.
        Empty lines are passed over; Python's csv module allows quotes within cells."""
        wanted, sign = len(self.header), re.escape(self.separator)
        cell = rf'(?:"(?:[^"]|"")*"|[^"{sign}\r\n]*)'
        right = re.compile(rf"{cell}(?:{sign}{cell})*[\r\n]*")
        header: list[str] = []
        stray = 0
        for line, row, written in self._rows(strict=True):
            header = header or row
            if len(row) != wanted:
                self._check_header(self.first, header)
                cells = counted(len(row), "cell")
                what = f"{self.name} line {line}: {cells}, but the header has {wanted}."
                if row[0].startswith("#") and self.options.comment is None:
                    raise FormatError(f"{what} If it is a comment, pass {{comment}}", comment="#")
                raise FormatError(
                    f"{what} Fix the line, quote cells that contain {self.separator!r}, or pass"
                    " another separator, such as {separator}",
                    separator=";" if self.separator == "," else ",",
                )
            if not stray and '"' in written and not right.fullmatch(written):
                stray = line
        if stray:
            raise self._stray_quote(stray)

    def places(self, name: str) -> Iterator[tuple[str, str]]:
        """Where each cell of a column is, and the cell."""
        place = self.header.index(name)
        rows = self._rows()
        if self._has_header:
            next(rows)
        for line, row, _ in rows:
            if place < len(row):
                yield f"line {line}", row[place]


def _kept(lines: Iterable[str], written: list[str]) -> Iterator[str]:
    """The lines; each is added to `written`."""
    for line in lines:
        written.append(line)
        yield line


def _separator(given: str) -> str:
    if len(given) == 1 and given.isascii() and given not in '"\r\n\0':
        return given
    raise ParameterError(f"a separator is one character such as ';', and no quote, got {given!r}")


# -- encodings other than UTF-8

_OF_NAMES = ("undefined", "idna", "punycode", "unicode-escape", "raw-unicode-escape", "mbcs", "oem")
"""What Python calls encodings of texts, and files are never in."""


@contextmanager
def in_utf8(path: Path, encoding: str | None, folder: Path | None = None) -> Iterator[Path]:
    """The file itself if it is UTF-8; else a copy in UTF-8 in `folder`, for the time being."""
    if encoding is None or is_utf8(encoding):
        yield path
        return
    with TemporaryDirectory(dir=folder) as place:
        made = Path(place, path.name)  # the same name, for error messages
        with made.open("wb") as file:
            for text in _decoded(path, encoding):
                file.write(text.encode())
        yield made


def _decoded(path: Path, encoding: str) -> Iterator[str]:
    """The text of a file, block by block."""
    try:
        found = codecs.lookup(encoding)
        known = found._is_text_encoding and found.name.replace("_", "-") not in _OF_NAMES
    except (LookupError, UnicodeError, ValueError):  # the last for a zero in the name
        known = False
    if not known:
        raise FormatError(
            f"{path.name}: unknown encoding {encoding!r}. Texts are in utf-8, utf-16, cp1252,"
            " latin-1, shift_jis, gb18030 and others of Python's standard encodings"
        )
    before, block = 0, b""
    with path.open("rb") as file:
        # UTF-16 without the mark that says which byte of two comes first: the lower one
        marked = file.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        bare = found.name == "utf-16" and not marked
        decoder = codecs.getincrementaldecoder("utf-16-le" if bare else encoding)()
        try:
            while block := file.read(1 << 20):
                yield decoder.decode(block)
                before += len(block)
            yield decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            place = before + len(block) - len(error.object) + error.start
            raise FormatError(
                f"{path.name}: byte {place} is not {encoding}: {error.reason}"
            ) from error
