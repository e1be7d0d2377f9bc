"""What a column of texts holds: numbers, dates, true and false, or texts.

`decide` looks at all cells of a column and says how to read it (`ColumnReader`), and what else it
could have been (`Finding`). Nothing is read as something else without a finding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tellapart.errors import FormatError
from tellapart.features.tree import Type
from tellapart.tables import dates_in_text as dates
from tellapart.tables.dates_in_text import COMPACT, ISO, NAMED, NUMBERS
from tellapart.tables.findings import Finding
from tellapart.tables.numbers_in_text import (
    EXACT,
    ONLY_COMMA,
    THREE,
    NumberStyle,
    currencies,
    groups_of,
    largest,
    styles,
)
from tellapart.tables.options import ReadOptions
from tellapart.tables.text_findings import UNKNOWN_AMONG_VALUES, text_findings
from tellapart.tables.value_findings import is_epoch

if TYPE_CHECKING:
    import polars as pl

_LOOK = 10_000
"""Cells that tell whether a column was meant for numbers or dates though some are none."""
_FORMATS = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M")
"""Read by Polars itself, which is quicker."""
_CODE_NAMES = re.compile(
    r"(?:^|[^a-z])(?:id|ids|code|codes|sku|account|konto|number|no|nr)(?:$|[^a-z])"
)
"""Columns of codes, if the numbers have as many digits each."""
_SURE_CODE_NAMES = re.compile(
    r"(?:^|[^a-z])(?:zip|plz|post ?code|postal|phone|tel|telephone|mobile|fax|ean|isbn|ssn|upc)"
    r"(?:$|[^a-z])"
)


_PLAIN = NumberStyle()


@dataclass(frozen=True)
class Hints:
    """What the other columns of a table show."""

    separator: str = ""
    comma: bool = False
    """Whether decimal commas are used."""
    month_first: bool = False


@dataclass(frozen=True)
class ColumnReader:
    """How the texts of a column become values."""

    kind: Type
    style: NumberStyle = _PLAIN
    forms: tuple[str, ...] = ()
    month_first: bool = False
    format: str | None = None
    clock: bool = False
    true: tuple[str, ...] = ()
    false: tuple[str, ...] = ()

    @property
    def plain(self) -> bool:
        """Whether every program reads them so."""
        if self.kind is Type.BOOL:
            return not self.true and not self.false
        if self.kind.temporal:
            return self.format in _FORMATS[:1] or self.forms == (ISO,)
        return self.style.plain and not self.clock

    def read(self, cells: pl.Expr) -> pl.Expr:
        """The values; null where a text does not fit."""
        import polars as pl

        match self.kind:
            case Type.TEXT:
                return dates.clock(cells) if self.clock else cells
            case Type.BOOL:
                lowered = cells.str.strip_chars().str.to_lowercase()
                yes = lowered.is_in(["true", *self.true])
                return pl.when(yes | lowered.is_in(["false", *self.false])).then(yes)
            case Type.INTEGER:
                texts = self._normal(cells)
                whole = texts.str.strip_chars().cast(pl.Int64, strict=False)
                return pl.coalesce(whole, _whole(texts.str.strip_chars()))
            case Type.NUMBER:
                return self._normal(cells).str.strip_chars().cast(pl.Float64, strict=False)
            case Type.DATE | Type.DATETIME:
                dtype: Any = pl.Date() if self.kind is Type.DATE else pl.Datetime("us")
                if self.format is not None:
                    found: pl.Expr = cells.str.strip_chars().str.strptime(
                        dtype, self.format, strict=False
                    )
                    return found
                found = dates.moments(cells, self.forms, self.month_first)
                if self.kind is Type.DATE:
                    found = pl.when(~dates.has_time(cells)).then(found)
                return found.cast(dtype)

    def misfits(self, cells: pl.Expr) -> pl.Expr:
        """Where a text holds a value that does not fit."""
        if self.kind is Type.TEXT:
            return cells.is_null() & False
        return self.read(cells).is_null() & ~_blank(cells) & ~_unknown(cells)

    def values(self, cells: pl.Series) -> pl.Series:
        """`read`, of a series."""
        return _on(cells, self.read).alias(cells.name)

    def odd(self, cells: pl.Series) -> pl.Series:
        """`misfits`, of a series."""
        return _on(cells, self.misfits)

    def _normal(self, cells: pl.Expr) -> pl.Expr:
        return cells if self.style.plain else self.style.normal(cells)

    @property
    def word(self) -> str:
        """What a value is called."""
        if self.kind is Type.INTEGER:
            return "whole number"
        if self.kind is Type.BOOL:
            return "true or false"
        if self.kind.temporal:
            if self.forms == (NUMBERS,):
                return f"date like {'12/31/2024' if self.month_first else '31/12/2024'}"
            return "date"
        if self.style.percent:
            return "percentage"
        return "amount of money" if self.style.currency else "number"


def _blank(cells: pl.Expr) -> pl.Expr:
    return cells.is_null() | (cells.str.strip_chars().str.len_bytes() == 0)


def _unknown(cells: pl.Expr) -> pl.Expr:
    return cells.str.strip_chars().str.to_lowercase().is_in(UNKNOWN_AMONG_VALUES)


def _whole(texts: pl.Expr) -> pl.Expr:
    """12.0 as 12; null where there is a fraction."""
    import polars as pl

    return texts.str.extract(r"^([-+]?[0-9]+)\.0*$").cast(pl.Int64, strict=False)


# -- deciding


def hints(columns: Iterable[pl.Series], options: ReadOptions, separator: str = "") -> Hints:
    """What the texts of a table show together."""
    comma = month_first = False
    for column in columns:
        some = _some(column.head(_LOOK))
        if not len(some):
            continue
        if separator != "," and options.decimal is None:
            looks = some.str.contains(ONLY_COMMA)
            sure = looks & ~some.str.contains(THREE)
            comma = comma or (
                bool(sure.any()) and _mostly(looks | some.str.contains(r"^[-+0-9.]+$"))
            )
        if _mostly(_of(some, NUMBERS)):
            first, second = _ends(some)
            month_first = month_first or (second > 12 and first <= 12)
    return Hints(separator, comma or options.decimal == ",", month_first)


def decide(
    cells: pl.Series, options: ReadOptions, told: Type | None = None, hint: Hints | None = None
) -> tuple[ColumnReader, list[Finding]]:
    """How to read a column, and what it could also be.

    Some cells may not fit what most are; `ColumnReader.misfits` finds them.

    >>> import polars as pl
    >>> cells = pl.Series("price", ["$1,200", "$80.50"])
    >>> reader, [finding] = decide(cells, ReadOptions())
    >>> reader.values(cells).to_list()
    [1200.0, 80.5]
    >>> print(finding)
    price: amounts of money such as '$1,200'; read as numbers: 1200. To change that: types={'price':
    'text'}
    """
    return _Decision(cells, options, hint or Hints()).decide(told)


class _Decision:
    def __init__(self, cells: pl.Series, options: ReadOptions, hint: Hints) -> None:
        self.name, self.cells, self.options, self.hint = cells.name, cells, options, hint
        self.some = _some(cells)
        self.findings: list[Finding] = []

    def find(self, what: str, assumed: str, **option: Any) -> None:
        self.findings.append(Finding(self.name, what, assumed, option))

    def as_text(self, what: str, assumed: str = "texts", **option: Any) -> ColumnReader:
        self.find(what, assumed, **option)
        return ColumnReader(Type.TEXT)

    def other_type(self, kind: Type) -> dict[str, Any]:
        return {"types": {self.name: kind.value}}

    def decide(self, told: Type | None) -> tuple[ColumnReader, list[Finding]]:
        """How the column is written, and what is odd about it."""
        unknown = _on(self.some, _unknown)
        if unknown.any() and not unknown.all():
            rest = self.some.filter(~unknown)
            reader, findings = _Decision(rest, self.options, self.hint).decide(told)
            if reader.kind is not Type.TEXT and not reader.odd(rest).any():
                return reader, [*findings, self.say_unknown(self.some.filter(unknown), reader)]
        if told is not None:
            return self.told(told), self.findings
        if not len(self.some):
            if len(self.cells):
                self.find("no value in any row", "texts")
            return ColumnReader(Type.TEXT), self.findings
        found = self.bools() or self.numbers() or self.moments() or self.clocks()
        if found is None:
            found = ColumnReader(Type.TEXT)
            self.findings += text_findings(self.cells, self.some, self.options)
        return found, self.findings

    def say_unknown(self, cells: pl.Series, reader: ColumnReader) -> Finding:
        words = " and ".join(map(repr, cells.unique(maintain_order=True).head(3).to_list()))
        others = "true and false" if reader.kind is Type.BOOL else "numbers"
        among = "dates" if reader.kind.temporal else others
        return Finding(self.name, f"{words} among {among}", "unknown", self.other_type(Type.TEXT))

    def told(self, kind: Type) -> ColumnReader:
        """How the column is written, if its type is known."""
        if kind is Type.BOOL:
            words = tuple(tuple(word.lower() for word in some) for some in self.words())
            return ColumnReader(kind, true=words[0], false=words[1])
        if kind.numeric:
            allowed = styles(self.options)
            plain = NumberStyle() in allowed
            plain = plain and _all(self.some.str.strip_chars().cast(_float(), strict=False))
            if plain and not (self.hint.comma and self.all_three()):
                return ColumnReader(kind)
            best = self.best_style() if len(self.some) else None
            return ColumnReader(kind, style=best[0] if best else allowed[0])
        if kind.temporal:
            found = self.moments(told=kind) if len(self.some) else None
            return found or ColumnReader(kind, forms=(ISO,))
        return ColumnReader(kind)

    # -- true and false

    def words(self) -> tuple[Sequence[str], Sequence[str]]:
        return self.options.true, self.options.false

    def bools(self) -> ColumnReader | None:
        if self.some.head(1000).n_unique() > 20:
            return None
        true, false = (tuple(word.lower() for word in some) for some in self.words())
        lowered = self.some.str.strip_chars().str.to_lowercase()
        if not lowered.is_in(["true", "false", *true, *false]).all():
            return None
        reader = ColumnReader(Type.BOOL)
        plain = lowered.is_in(["true", "false"])
        return reader if plain.all() else replace(reader, true=true, false=false)

    # -- numbers

    def numbers(self) -> ColumnReader | None:
        import polars as pl

        stripped = self.some.str.strip_chars()
        if _all(stripped.cast(pl.Int64, strict=False)):
            return self.integers(stripped)
        allowed = styles(self.options)
        if NumberStyle() in allowed and _all(stripped.cast(pl.Float64, strict=False)):
            found = self.plain_numbers(stripped)
            if found is not None:
                return found
        best = self.best_style()
        if best is None:
            return None
        style, share = best
        if style.decimal == "," and self.hint.separator == "," and self.options.decimal is None:
            if share < 1:
                return None
            return self.as_text(
                f"texts such as {self.some[0]!r}, which may be numbers with a decimal comma",
                decimal=",",
            )
        reader = ColumnReader(Type.NUMBER, style=style)
        values = reader.values(self.some)
        if not _all(values):  # the misfits will be named
            return reader
        signs = currencies(self.some) if style.currency else []
        if len(signs) > 1:
            return self.as_text(f"amounts in several currencies ({', '.join(signs[:4])})")
        if stripped.str.contains(r"^[-+]?0[0-9]").any():
            return self.zeros(stripped)
        is_whole = (values == values.floor()) & (values.abs() < EXACT)
        written = self.some.str.contains(re.escape(style.decimal) + "[0-9]")
        if is_whole.all() and not written.any() and not style.percent:
            reader = replace(reader, kind=Type.INTEGER)
        kinds = "whole numbers" if reader.kind is Type.INTEGER else "numbers"
        shown = self.shown()
        value = reader.values(pl.Series([shown]))[0]
        self.say_style(style, shown, f"{kinds}: {value:.15g}")
        return reader

    def shown(self) -> str:
        """A cell that shows how numbers are written, if there is one."""
        odd = self.some.filter(~self.some.str.contains(NumberStyle().pattern))
        return str(odd[0] if len(odd) else self.some[0])

    def say_style(self, style: NumberStyle, shown: str, assumed: str) -> None:
        text = self.other_type(Type.TEXT)
        if style.percent:
            self.find(f"percentages such as {shown!r}", assumed, **text)
        elif style.currency:
            kind = "amounts of money" if currencies(self.some) else "numbers"
            self.find(f"{kind} such as {shown!r}", assumed, **text)
        elif self.options.decimal is not None or self.options.thousands is not None:
            return  # as was asked
        elif self.all_three():
            other = "." if style.decimal == "," else ","
            self.find(
                f"numbers such as {shown!r}, whose sign may stand before decimals or between"
                " thousands",
                assumed,
                decimal=other,
            )
        elif style.decimal == ",":
            self.find(f"numbers with a decimal comma, such as {shown!r}", assumed, decimal=".")
        else:
            grouped = re.search(f"[{re.escape(style.groups)}]", shown.strip())
            how = "numbers with thousands separators," if grouped else "numbers"
            self.find(f"{how} such as {shown!r}", assumed, **text)

    def best_style(self) -> tuple[NumberStyle, float] | None:
        """The style that fits most cells, and their share; None if it fits less than half."""

        allowed = styles(self.options)
        if self.hint.comma and self.options.decimal is None:
            allowed = sorted(allowed, key=lambda style: style.decimal != ",")
        head = self.some.head(_LOOK)
        if not head.str.contains("[0-9]").any():
            return None
        best: tuple[NumberStyle, float] | None = None
        for style in allowed:
            found = _share(_on(head, style.fits))
            if best is None or found > best[1]:
                best = style, found
        assert best is not None
        # numbers in a style that was ruled out are no texts either
        any_style = [style for style in styles(ReadOptions()) if style not in allowed]
        share = best[1]
        for style in any_style:
            share = max(share, _share(_on(head, style.fits)))
        return best if share >= 0.5 else None

    def all_three(self) -> bool:
        """Whether every number with a sign in it has three digits after it."""
        odd = self.some.filter(self.some.str.contains(r"[.,]"))
        return len(odd) > 0 and bool(odd.str.contains(THREE).all())

    def integers(self, stripped: pl.Series) -> ColumnReader:
        import polars as pl

        if stripped.str.contains(r"^[-+]?0[0-9]").any():
            return self.zeros(stripped)
        phones = stripped.str.contains(r"^\+[0-9]{7,15}$")
        if phones.any():
            shown = stripped.filter(phones)[0]
            return self.as_text(f"phone numbers such as {shown!r}", **self.other_type(Type.INTEGER))
        text = self.other_type(Type.TEXT)
        values = stripped.cast(pl.Int64, strict=False)
        digits = stripped.str.len_bytes()
        most = largest(values)
        if most > EXACT:
            self.find(
                f"whole numbers beyond 2^53, such as {most}, which spreadsheets round",
                "whole numbers",
                **text,
            )
        elif set(values.head(1000).unique().to_list()) == {0, 1} and values.is_in([0, 1]).all():
            self.find("only 0 and 1", "whole numbers", true=["1"], false=["0"])
        elif len(values) > 1 and _all(ColumnReader(Type.DATE, forms=(COMPACT,)).values(stripped)):
            self.find(
                f"numbers such as {stripped[0]}, which may be dates",
                "whole numbers",
                **self.other_type(Type.DATE),
            )
        elif is_epoch(*_ends_of(values)):
            pass  # `value_findings` says so
        elif digits.min() == digits.max() and int(digits[0]) >= 7 and len(values) > 1:
            self.find(
                f"numbers of {digits[0]} digits each, such as {stripped[0]}, which may be codes",
                "whole numbers",
                **text,
            )
        elif most > 999 and (
            _SURE_CODE_NAMES.search(self.name.lower())
            or (_CODE_NAMES.search(self.name.lower()) and digits.min() == digits.max())
        ):
            self.find(f"numbers such as {stripped[0]}, which may be codes", "whole numbers", **text)
        return ColumnReader(Type.INTEGER)

    def zeros(self, stripped: pl.Series) -> ColumnReader:
        shown = stripped.filter(stripped.str.contains(r"^[-+]?0[0-9]"))[0]
        return self.as_text(
            f"numbers with leading zeros, such as {shown!r}", **self.other_type(Type.INTEGER)
        )

    def plain_numbers(self, stripped: pl.Series) -> ColumnReader | None:
        import polars as pl

        if not stripped.str.contains("[0-9]").any():  # nan and inf are words, too
            return None
        if stripped.str.contains(r"^[-+]?0[0-9]+$").any():
            return self.zeros(stripped)
        long = stripped.str.contains(r"^[-+]?[0-9]{19,}$")
        if long.any():
            return self.as_text(
                f"numbers too long to be exact, such as {stripped.filter(long)[0]}",
                **self.other_type(Type.NUMBER),
            )
        if self.all_three():
            if self.hint.comma:
                return None
            self.find(
                f"numbers such as {stripped.filter(stripped.str.contains('[.]'))[0]!r}, whose point"
                " may stand between thousands",
                "decimals",
                decimal=",",
            )
        text = self.other_type(Type.TEXT)
        if stripped.str.contains(r"^[1-9](?:\.[0-9]{1,6})?E\+1[0-9]$").all():
            what = f"numbers such as {stripped[0]!r}, as spreadsheets write long codes"
            self.find(what, "numbers; their last digits are lost")
        codes = stripped.str.contains(r"^[0-9]+[eE][0-9]+$")
        if codes.any():
            shown = stripped.filter(codes)[0]
            self.find(f"{shown!r}, which may be a code", f"the number {float(shown):g}", **text)
        odd = ~stripped.cast(pl.Float64, strict=False).is_finite()
        if odd.any():
            words = sorted(stripped.filter(odd).unique().to_list())
            self.find(f"{' and '.join(map(repr, words[:3]))} among numbers", "unknown", **text)
        return ColumnReader(Type.NUMBER)

    # -- dates and times

    def moments(self, told: Type | None = None) -> ColumnReader | None:

        head = self.some.head(_LOOK)
        forms = (ISO, NUMBERS, NAMED) if told is None else (ISO, NUMBERS, NAMED, COMPACT)
        shares = {form: _share(_of(head, form)) for form in forms}
        form = max(shares, key=lambda one: shares[one])
        if shares[form] < 0.5:
            return None
        if told is None and form == NUMBERS and not self.is_date(head):
            return None
        timed = _on(self.some, dates.has_time)
        kind = told or (Type.DATETIME if timed.any() else Type.DATE)
        reader = ColumnReader(kind, forms=(form,))
        if told is None and self.options.dates == "iso" and form != ISO:
            return self.as_text(f"dates such as {self.some[0]!r}", dates="day-first")
        if form == NUMBERS:
            reader = self.order(reader)
        elif form == ISO:
            for pattern in _FORMATS[:1] if kind is Type.DATE else _FORMATS[1:]:
                quick = replace(reader, format=pattern)
                if _all(quick.values(self.some)):
                    reader = quick
                    break
        fitting = int(reader.values(head).count())
        if told is None and 2 * fitting < len(head):
            return None
        if told is None:
            self.say_times(reader, timed)
        return reader

    def is_date(self, head: pl.Series) -> bool:
        """Whether texts such as 1.2.24 are dates, and no versions."""
        fixed = head.str.contains(r"^\s*[0-9]{2}([-/.])[0-9]{2}[-/.][0-9]{2}\b")
        long = head.str.contains(r"^\s*[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{4}")
        slashes = head.str.contains(r"^\s*[0-9]{1,2}/[0-9]{1,2}/[0-9]{2}\b")
        return _mostly(fixed | long | slashes)

    def order(self, reader: ColumnReader) -> ColumnReader:
        """Whether the day or the month comes first."""

        first, second = _ends(self.some)
        shown = self.some[0]
        if self.options.dates in ("day-first", "month-first"):
            return replace(reader, month_first=self.options.dates == "month-first")
        if first > 12 and second > 12:  # both: the rarer are misfits
            a, b = (int((_on(self.some, part) > 12).sum()) for part in (dates.first, dates.second))
            return replace(reader, month_first=b > a)
        if second > 12:
            shown = self.some.filter(_on(self.some, dates.second) > 12)[0]
            self.find(f"dates such as {shown!r}", "dates with the month first", dates="day-first")
            return replace(reader, month_first=True)
        if first > 12:
            return reader
        if self.hint.month_first:
            self.find(
                f"dates such as {shown!r}, which do not show whether the day comes first",
                "dates with the month first, as in another column",
                dates="day-first",
            )
            return replace(reader, month_first=True)
        self.find(
            f"dates such as {shown!r}, which do not show whether the day or the month comes first",
            "dates with the day first",
            dates="month-first",
        )
        return reader

    def say_times(self, reader: ColumnReader, timed: pl.Series) -> None:
        kind, first = reader.kind, reader.values(self.some.head(1))[0]
        read = "" if first is None else f": {str(first)[:10]}"
        if self.some.str.contains(
            r"^\s*[0-9]{1,2}[-/. ][0-9A-Za-z]+[-/. ][0-9]{2}\b(?:[^0-9]|$)"
        ).any():
            self.find(
                f"years of two digits, as in {self.some[0]!r}",
                f"years from 1969 to 2068{read}",
                **self.other_type(Type.TEXT),
            )
        if kind is Type.DATETIME:
            zoned = _on(self.some, dates.has_zone)
            if zoned.all():
                self.find("times with a zone", "times in UTC", **self.other_type(Type.TEXT))
            elif zoned.any():
                self.find(
                    "times of which only some have a zone",
                    "times in UTC, also where there is none",
                    **self.other_type(Type.TEXT),
                )
            if not timed.all():
                self.find(
                    "dates of which only some have a time",
                    "times at midnight where there is none",
                    **self.other_type(Type.TEXT),
                )

    def clocks(self) -> ColumnReader | None:
        if not self.some.head(100).str.contains(dates.CLOCK).all():
            return None
        if not self.some.str.contains(dates.CLOCK).all():
            return None
        self.find(
            f"times of day such as {self.some[0]!r}",
            "texts like '09:30', which can be compared with each other",
        )
        return ColumnReader(Type.TEXT, clock=True)


# -- cells that do not fit


def misfit(
    where: str,
    column: str,
    cell: str,
    reader: ColumnReader,
    *,
    told: bool,
    options: ReadOptions,
    csv: bool = True,
) -> FormatError:
    """The error for a cell that is not what its column holds."""
    what = f"{where}, column {column!r}: {cell[:40]!r}"
    advice: dict[str, Any] = {}
    if (
        reader.kind.numeric
        and reader.style.decimal == "."
        and re.match(ONLY_COMMA, cell)
        and options.decimal is None
    ):
        what += " has a decimal comma, and numbers are read with a point. Replace the commas"
        advice["decimal"] = ","
        what += ", or pass {decimal}"
    elif reader.style.decimal == "," and re.match(r"\s*[-+]?\d+\.\d+\s*$", cell):
        what += (
            " has a decimal point, and numbers are read with a decimal comma. Replace the points"
        )
    else:
        why = "which the column is to hold" if told else "but other cells of the column are"
        what += f" is no {reader.word}, {why}. Fix the cell; or, if it means unknown, leave it"
        what += " empty or pass {nulls}" if csv else " empty"
        advice["nulls"] = [cell[:40]]
        if cell.startswith("#") and csv and options.comment is None:
            what += "; or, if the line is a comment, pass {comment}"
            advice["comment"] = "#"
        if reader.kind is Type.BOOL:
            what += "; or, if it means true or false, pass {true} or {false}"
            advice |= {"true": [cell[:40]], "false": [cell[:40]]}
        elif reader.forms == (NUMBERS,) and re.match(r"\s*\d{1,2}[-/.]\d{1,2}[-/.]", cell):
            what += "; or pass {dates}"
            advice["dates"] = "day-first" if reader.month_first else "month-first"
    if not told:
        what += "; or pass {types}"
        advice["types"] = {column: "text"}
    return FormatError(what, **advice)


# -- small things


def _float() -> Any:
    import polars as pl

    return pl.Float64()


def _some(cells: pl.Series) -> pl.Series:
    """The cells that hold something."""
    known = cells.drop_nulls()
    return known.filter(known.str.strip_chars().str.len_bytes() > 0)


def _on(cells: pl.Series, make: Callable[[pl.Expr], pl.Expr]) -> pl.Series:
    import polars as pl

    return cells.alias("cells").to_frame().select(make(pl.col("cells"))).to_series()


def _of(cells: pl.Series, form: str) -> pl.Series:
    return _on(cells, lambda texts: dates.of_form(texts, form))


def _share(found: pl.Series) -> float:
    return int(found.sum()) / max(1, len(found))


def _ends_of(values: pl.Series) -> tuple[int, int]:
    least, most = values.min(), values.max()
    assert isinstance(least, int)
    assert isinstance(most, int)
    return least, most


def _ends(cells: pl.Series) -> tuple[int, int]:
    """The largest of the first, and of the second numbers of texts such as 12/31/2024."""
    return largest(_on(cells, dates.first)), largest(_on(cells, dates.second))


def _all(values: pl.Series) -> bool:
    return not values.null_count()


def _mostly(found: pl.Series) -> bool:
    return 2 * int(found.sum()) >= len(found) > 0


__all__ = ["ColumnReader", "Hints", "decide", "groups_of", "hints", "misfit"]
