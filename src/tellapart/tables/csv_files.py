"""CSV files, in any encoding, as texts; with the line and the column of every error.

Polars reads. Python's own csv module, exact and slow, reads the first rows, and the rest only when
something is wrong.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from tellapart.errors import FormatError, ParameterError
from tellapart.features.phrasing import counted
from tellapart.tables.findings import Finding
from tellapart.tables.frames import check_names, first_line
from tellapart.tables.options import ReadOptions, is_utf8

if TYPE_CHECKING:
    import polars as pl

_SEPARATORS = (",", ";", "\t", "|")
_LOOK = 10_000
"""Rows looked at in one go."""

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
    """A CSV file: what its first lines say, its cells as texts, and what is wrong with it."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path, self.name, self.options = path, path.name, options
        encoding = options.encoding or "utf-8"
        self.plain = is_utf8(encoding)
        self.text = "" if self.plain else "".join(decoded(path, encoding))
        self.findings: list[Finding] = []
        if self.plain:
            self.check_bytes()
        given = options.separator
        self.separator = self.sniff() if given is None else _separator(given)
        self.first, self.header = self.names()

    # -- reading

    def scan(self, dtypes: dict[str, Any] | None = None) -> pl.LazyFrame:
        """The table, lazily: `dtypes` of some columns, and all others as texts."""
        import polars as pl

        nulls = list(self.options.nulls)
        return pl.scan_csv(
            self.path if self.plain else io.BytesIO(self.text.encode()),
            separator=self.separator,
            has_header=self.has_header,
            skip_lines=self.first - 1,
            comment_prefix=self.options.comment,
            with_column_names=lambda _: self.header,
            schema_overrides={n: (dtypes or {}).get(n, pl.String) for n in self.header},
            null_values=["", *nulls] if nulls else None,
            infer_schema_length=0,
            glob=False,
        )

    def read(self) -> pl.DataFrame:
        """All cells as texts, or a `FormatError` that says where the file is wrong."""
        import polars as pl

        try:
            frame = self.scan().collect()
        except (pl.exceptions.PolarsError, UnicodeDecodeError, OSError) as error:
            self.explain(error)
        self.check_rows(frame)
        if self.may_have_gaps(frame):
            frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
        self.look_at(frame.head(_LOOK))
        return frame

    def check_rows(self, frame: pl.DataFrame) -> None:
        """Raise if characters are damaged, or a row has too few cells."""
        short = frame.height and frame.to_series(-1).null_count() and self.ragged()
        if short or self.has_escaped_quotes(frame) or self.has_stray_quotes():
            self.check_lengths()

    def has_stray_quotes(self) -> bool:
        """Whether a quote near the beginning stands alone between other characters."""
        with self.lines() as lines:
            start = lines.read(65_536)
        other = f'[^"\r\n{re.escape(self.separator)}]'
        return re.search(f'{other}"{other}', start) is not None

    def has_escaped_quotes(self, frame: pl.DataFrame) -> bool:
        """Whether a backslash may stand for a second quote; Polars leaves such quotes out."""
        import polars as pl

        slashes = pl.any_horizontal(pl.col(pl.String).str.contains("\\", literal=True).any())
        if not frame.select(slashes).item():
            return False
        return '\\"' in self.text or (self.plain and b'\\"' in self.path.read_bytes())

    def may_have_gaps(self, frame: pl.DataFrame) -> bool:
        """Whether there may be empty lines, which do not count as rows."""
        some = frame.height and frame.to_series(-1).null_count() and frame.to_series(0).null_count()
        return bool(some) and self.gaps()

    def look(self) -> None:
        """Raise if something is wrong with the file that can be named."""
        self.check_encoding()
        self.check_lengths()

    def explain(self, error: BaseException) -> NoReturn:
        """Say what is wrong with the file, after reading it has failed."""
        self.look()
        raise FormatError(f"{self.name} cannot be read: {first_line(error)}") from error

    def gaps(self) -> bool:
        """Whether there may be an empty line that was read as a row."""
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

    # -- what is looked at first

    @property
    def has_header(self) -> bool:
        return self.options.header != 0

    def lines(self) -> TextIO:
        if not self.plain:
            return io.StringIO(self.text.removeprefix("\ufeff"), newline="")
        return self.path.open(encoding="utf-8-sig", errors="replace", newline="")

    def rows(self, *, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
        """(line it starts in, cells) of every row from the header on; empty lines and comments are
        left out."""
        before = csv.field_size_limit(2**31 - 1)
        start = self.options.header or 1
        line = start
        comment = self.options.comment
        try:
            with self.lines() as lines:
                for _ in range(start - 1):
                    lines.readline()
                reader = csv.reader(lines, delimiter=self.separator, strict=strict)
                for row in reader:
                    if row and not (comment and row[0].startswith(comment)):
                        yield line, row
                    line = start + reader.line_num
        except csv.Error as error:
            if "unexpected end" not in str(error):
                raise self.stray_quote(line) from error
            raise FormatError(
                f"{self.name} line {line}: a quote is opened and not closed. Close it, or write it"
                " twice if it is meant"
            ) from error
        finally:
            csv.field_size_limit(before)

    def stray_quote(self, line: int) -> FormatError:
        what = (
            f"{self.name} line {line}: a quote stands in the middle of a cell. Put the whole cell"
            f' in quotes and write the quote twice, such as "5"" disk"{self.separator}...,'
            " or remove it"
        )
        if len(self.header) == 1 and self.options.separator is None:
            what += "; or, if spaces stand between cells, pass {separator}"
            return FormatError(what, separator=" ")
        return FormatError(what)

    def check_bytes(self) -> None:
        with self.path.open("rb") as file:
            start = file.read(65_536)
        for begin, kind in _OTHERS.items():
            if start.startswith(begin):
                raise FormatError(
                    f"{self.name} is no CSV file but {kind}. Give it the ending it should have"
                )
        if start[:2] in (_LITTLE, _BIG) or b"\0" in start[:4]:
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

    def sniff(self) -> str:
        """The separator that is most frequent in the first line."""
        if re.search(r"\.(tsv|tab)(\.|$)", self.name.lower()):
            return "\t"
        with self.lines() as lines:
            for _ in range((self.options.header or 1) - 1):
                lines.readline()
            first, comment = lines.readline(), self.options.comment
            while first and (not first.strip() or (comment and first.startswith(comment))):
                first = lines.readline()
        first = re.sub(r'"[^"]*"', "", first)
        if self.options.header is None and first.startswith("sep=") and len(first.strip()) == 5:
            raise FormatError(
                f"{self.name} line 1: {first.strip()!r} is for Excel, and the names of the columns"
                " are in line 2. Pass {header} and {separator}",
                header=2,
                separator=first[4],
            )
        return max(_SEPARATORS, key=first.count)

    def names(self) -> tuple[int, list[str]]:
        """The line where reading begins, and the names of the columns."""
        line, header = next(self.rows(), (1, []))
        if self.options.header and line != self.options.header:
            raise FormatError(
                f"{self.name} line {self.options.header} is empty or a comment, and cannot have the"
                " names of the columns"
            )
        if not self.has_header:
            return line, [f"column_{n}" for n in range(1, len(header) + 1)]
        names = [cell.strip() or f"column_{n}" for n, cell in enumerate(header, 1)]
        if "\ufffd" in "".join(names):
            self.check_encoding()
        try:
            check_names(names, self.name, f" line {line}")
        except FormatError as error:
            self.check_header(line, header)
            raise FormatError(
                f"{error}; or, if there is no header, pass {{header}}", header=0
            ) from None
        for n, cell in enumerate(header, 1):
            if not cell.strip():
                self.findings.append(
                    Finding(f"column_{n}", "a column without a name", "a column of that name")
                )
        return line, names

    def check_header(self, line: int, header: list[str]) -> None:
        """Raise if the names of the columns may stand in a later line."""
        if self.options.header is not None or not self.has_header:
            return
        known = len([cell for cell in header if cell.strip()])
        counts = [(at, len([c for c in row if c.strip()])) for at, row in islice(self.rows(), 20)]
        most = max(count for _, count in counts)
        if known <= max(1, most // 2) and most > 1:
            at = next(at for at, count in counts if count > max(1, most // 2))
            comment = re.match(r"#|//|;|%", header[0].strip())
            remedy = ", or pass {comment}" if comment else ""
            raise FormatError(
                f"{self.name} line {line}: {counted(known, 'cell')}, but line {at} has {most}. If"
                f" the names of the columns are in line {at}, pass {{header}}{remedy}",
                header=at,
                **({"comment": comment.group()} if comment else {}),
            )

    def look_at(self, head: pl.DataFrame) -> None:
        """Find what is odd about the separator."""
        if len(self.header) == 1 and head.height and self.options.separator is None:
            name, cells = self.header[0], head.to_series().drop_nulls()
            if re.search(r"\S  +\S|\t", name) or not re.search(r"\w", name):
                what = (
                    f"a single column called {name[:40]!r}, as in tables drawn with signs or spaces"
                )
                self.findings.append(Finding(name, what, "one column"))
                return
            for sign in (" ", ":", "^", "~", "/"):
                count = name.count(sign)
                if (
                    count
                    and len(cells)
                    and (cells.str.count_matches(sign, literal=True) == count).all()
                ):
                    self.findings.append(
                        Finding(
                            name,
                            f"a single column, with {sign!r} as often in every line",
                            "one column",
                            {"separator": sign},
                        )
                    )
                    break

    def ragged(self) -> bool:
        """Whether a line may have too few or too many cells; quick, and sure if it says no."""
        import polars as pl

        lines = pl.scan_csv(
            self.path if self.plain else io.BytesIO(self.text.encode()),
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

    # -- what went wrong

    def check_encoding(self) -> None:
        if not self.plain:
            return
        with self.path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    line.decode("utf-8")
                except UnicodeDecodeError as error:
                    runs = re.findall(rb"[\x80-\xff]+", line)
                    western = sum(map(len, runs)) < 2 * len(runs)  # single letters with accents
                    raise FormatError(
                        f"{self.name} line {number}: byte 0x{line[error.start]:02x} is not UTF-8."
                        " Save the file as UTF-8, or pass the encoding it has, "
                        + ("likely {encoding}" if western else _ENCODINGS_ELSEWHERE),
                        encoding="cp1252" if western else "cp1251",
                    ) from error

    def check_lengths(self) -> None:
        """Every row has as many cells as the header; empty lines are passed over."""
        wanted = len(self.header)
        header: list[str] = []
        for line, row in self.rows(strict=True):
            header = header or row
            if len(row) != wanted:
                self.check_header(self.first, header)
                cells = counted(len(row), "cell")
                what = f"{self.name} line {line}: {cells}, but the header has {wanted}."
                if row[0].startswith("#") and self.options.comment is None:
                    raise FormatError(f"{what} If it is a comment, pass {{comment}}", comment="#")
                if len(row) == wanted + 1 and row[0] == "1" and row[-1]:
                    raise FormatError(
                        f"{what} If the rows begin with their number, as R writes them, add a name"
                        f" for it to line {self.first}"
                    )
                raise FormatError(
                    f"{what} Fix the line, quote cells that contain {self.separator!r}, or pass"
                    " another separator, such as {separator}",
                    separator=";" if self.separator == "," else ",",
                )
        self.check_quotes()

    def check_quotes(self) -> None:
        """Raise if a quote stands in the middle of a cell, which Python's csv module allows."""
        sign = re.escape(self.separator)
        cell = rf'(?:"(?:[^"]|"")*"|[^"{sign}\r\n]*)'
        right = re.compile(rf"{cell}(?:{sign}{cell})*[\r\n]*")
        seen: list[str] = []
        with self.lines() as lines:
            line = 1
            reader = csv.reader(_kept(lines, seen), delimiter=self.separator)
            for row in reader:
                if any('"' in one for one in row) and not right.fullmatch("".join(seen)):
                    raise self.stray_quote(line)
                line = reader.line_num + 1
                seen.clear()

    def find(self, name: str, odd: Callable[[pl.Series], pl.Series]) -> tuple[str, str] | None:
        """The place of the first odd cell of a column, and the cell."""
        import polars as pl

        place, unknown = self.header.index(name), ("", *self.options.nulls)
        rows = self.rows()
        if self.has_header:
            next(rows)
        cells = ((line, row[place]) for line, row in rows if place < len(row))
        while block := list(islice(cells, _LOOK)):
            known = [(line, cell) for line, cell in block if cell not in unknown]
            found = odd(pl.Series([cell for _, cell in known], dtype=pl.String))
            if found.any():
                line, cell = known[int(found.arg_max() or 0)]
                return f"{self.name} line {line}", cell
        return None


_ENCODINGS_ELSEWHERE = (
    "such as {encoding} for Russian, gb18030 for Chinese or shift_jis for Japanese texts"
)
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


def _kept(lines: Iterable[str], seen: list[str]) -> Iterator[str]:
    """The lines; each is kept in `seen`."""
    for line in lines:
        seen.append(line)
        yield line


def _separator(given: str) -> str:
    if len(given) == 1 and given.isascii() and given not in '"\r\n\0':
        return given
    raise ParameterError(f"a separator is one character such as ';', and no quote, got {given!r}")


def _gap(block: bytes) -> bool:
    return b"\n\n" in block or b"\n\r\n" in block


# -- encodings other than UTF-8


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
    """The file itself if it is UTF-8; else a copy in UTF-8 in `folder`, for the time being."""
    if is_utf8(encoding):
        yield path
        return
    with TemporaryDirectory(dir=folder) as place:
        made = Path(place, path.name)  # the same name, for error messages
        with made.open("wb") as file:
            for text in decoded(path, encoding):
                file.write(text.encode())
        yield made
