"""What a column of texts holds: numbers, dates, true and false, or texts.

`decide` looks at all cells of a column and says how to read it (`ColumnReader`), and what else it
could have been (`Finding`). Nothing is read as something else without a finding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from tellapart.features.tree import Type
from tellapart.tables import cell_formats as formats
from tellapart.tables.cell_formats import COMPACT, EXACT, ISO, NAMED, NUMBERS, NumberStyle
from tellapart.tables.findings import Finding, quoted
from tellapart.tables.odd_cells import UNKNOWN_AMONG_VALUES, text_findings, whole_findings
from tellapart.tables.options import ReadOptions

LOOK = 10_000
"""Cells that tell whether a column was meant for numbers or dates though some are none."""
_QUICK = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M")
"""Formats read by Polars itself, which is quicker."""
_CODES = {
    r"^[-+]?0[0-9]+$": Type.INTEGER,
    r"^\+[0-9]{7,15}$": Type.INTEGER,
    r"^[-+]?[0-9]{20,}$": Type.NUMBER,
}
"""Forms of codes, and the type that they could also have."""
_CODE_NAMES = re.compile(
    r"(?:^|[^a-z])(?:zip|plz|post ?code|postal|phone|tel|telephone|mobile|fax|ean|isbn|ssn|upc)"
    r"(?:$|[^a-z])"
)
"""Columns of codes."""
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
    form: str = ISO
    """Of dates."""
    month_first: bool = False
    format: str | None = None
    clock: bool = False
    true: tuple[str, ...] = ()
    false: tuple[str, ...] = ()

    @property
    def native(self) -> bool:
        """Whether Polars reads such texts from a CSV file by itself, as strictly as we do."""
        if self.kind is Type.BOOL:
            return not self.true and not self.false
        return self.kind.numeric and self.style.plain

    def read(self, cells: pl.Expr) -> pl.Expr:
        """The values; null where a text does not fit."""
        match self.kind:
            case Type.TEXT:
                return formats.clock(cells) if self.clock else cells
            case Type.BOOL:
                lowered = cells.str.strip_chars().str.to_lowercase()
                yes = lowered.is_in(["true", *self.true])
                return pl.when(yes | lowered.is_in(["false", *self.false])).then(yes)
            case Type.INTEGER:
                texts = self._normal(cells).str.strip_chars()
                whole = texts.str.extract(r"^([-+]?[0-9]+)\.0*$")  # 12.0 is 12
                found = (one.cast(pl.Int64, strict=False) for one in (texts, whole))
                return pl.coalesce(*found)
            case Type.NUMBER:
                return self._normal(cells).str.strip_chars().cast(pl.Float64, strict=False)
            case Type.DATE | Type.DATETIME:
                dtype: Any = pl.Date() if self.kind is Type.DATE else pl.Datetime("us")
                if self.format is not None:
                    quick: pl.Expr = cells.str.strip_chars().str.strptime(
                        dtype, self.format, strict=False
                    )
                    return quick
                moment = formats.moments(cells, self.form, self.month_first)
                if self.kind is Type.DATE:
                    moment = pl.when(~formats.has_time(cells)).then(moment)
                return moment.cast(dtype)

    def misfits(self, cells: pl.Expr) -> pl.Expr:
        """Where a text holds a value that does not fit."""
        if self.kind is Type.TEXT:
            return cells.is_null() & False
        blank = cells.is_null() | (cells.str.strip_chars().str.len_bytes() == 0)
        return self.read(cells).is_null() & ~blank & ~_unknown(cells)

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
            if self.form == NUMBERS:
                return f"date like {'12/31/2024' if self.month_first else '31/12/2024'}"
            return "date"
        if self.style.percent:
            return "percentage"
        return "amount of money" if self.style.currency else "number"


def hints(columns: Iterable[pl.Series], options: ReadOptions, separator: str = "") -> Hints:
    """What the texts of a table show together."""
    comma = month_first = False
    for column in columns:
        some = _some(column.head(LOOK))
        if not len(some):
            continue
        if separator != "," and options.decimal is None:
            looks = some.str.contains(formats.ONLY_COMMA)
            sure = looks & ~some.str.contains(formats.THREE)
            comma = comma or (
                bool(sure.any()) and _share(looks | some.str.contains(r"^[-+0-9.]+$")) >= 0.5
            )
        if _share(_of(some, NUMBERS)) >= 0.5:
            first, second = _ends(some)
            month_first = month_first or (second > 12 and first <= 12)
    return Hints(separator, comma or options.decimal == ",", month_first)


def order_of_dates(readers: Iterable[ColumnReader]) -> str | None:
    """The option `dates` with which the columns are read as these readers do, if one is needed and
    is enough."""
    orders = {one.month_first for one in readers if one.kind.temporal and one.form == NUMBERS}
    if len(orders) != 1:
        return None
    return "month-first" if orders.pop() else "day-first"


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
    price: numbers such as '$1,200'; read as numbers: 1200. To change that: types={'price': 'text'}
    """
    return _Decision(cells, options, hint or Hints()).decide(told)


class _Decision:
    def __init__(self, cells: pl.Series, options: ReadOptions, hint: Hints) -> None:
        self.name, self.cells, self.options, self.hint = cells.name, cells, options, hint
        self.some = _some(cells)
        self.stripped = self.some.str.strip_chars()
        self.findings: list[Finding] = []

    def find(self, code: str, /, option: Any = None, **facts: Any) -> None:
        """Add a finding; `option` is a type that the column could have, or the arguments."""
        if isinstance(option, Type):
            option = {"types": {self.name: option.value}}
        self.findings.append(Finding(self.name, code, facts, option or {}))

    def as_text(self, code: str, /, option: Any = None, **facts: Any) -> ColumnReader:
        self.find(code, option, **facts)
        return ColumnReader(Type.TEXT)

    def decide(self, told: Type | None) -> tuple[ColumnReader, list[Finding]]:
        """How the column is written, and what is odd about it."""
        unknown = _on(self.some, _unknown)
        if unknown.any() and not unknown.all():
            rest = self.some.filter(~unknown)
            reader, self.findings = _Decision(rest, self.options, self.hint).decide(told)
            if reader.kind is not Type.TEXT and not reader.odd(rest).any():
                words = quoted(self.some.filter(unknown).unique(maintain_order=True))
                among = "true and false" if reader.kind is Type.BOOL else "numbers"
                among = "dates" if reader.kind.temporal else among
                self.find("unknown among values", Type.TEXT, words=words, among=among)
                return reader, self.findings
            self.findings = []
        if told is not None:
            return self.told(told), self.findings
        if not len(self.some):
            return ColumnReader(Type.TEXT), self.findings
        found = self.bools() or self.numbers() or self.moments() or self.clocks()
        if found is None:
            found = ColumnReader(Type.TEXT)
            self.findings += text_findings(self.cells, self.some, self.options)
        return found, self.findings

    def told(self, kind: Type) -> ColumnReader:
        """How the column is written, if its type is known."""
        if kind is Type.BOOL:
            return self.bools(told=True) or ColumnReader(kind)
        if kind.numeric:
            best = None if self.are_plain() or not len(self.some) else self.best_style()
            return ColumnReader(kind, style=best[0] if best else formats.styles(self.options)[0])
        if kind.temporal:
            found = self.moments(told=kind) if len(self.some) else None
            return found or ColumnReader(kind)
        return ColumnReader(kind)

    # -- true and false

    def bools(self, told: bool = False) -> ColumnReader | None:
        if not told and self.some.head(1000).n_unique() > 20:
            return None
        true, false = (tuple(map(str.lower, w)) for w in (self.options.true, self.options.false))
        lowered = self.stripped.str.to_lowercase()
        if not told and lowered.is_in(["true", "false"]).all():
            return ColumnReader(Type.BOOL)
        if told or lowered.is_in(["true", "false", *true, *false]).all():
            return ColumnReader(Type.BOOL, true=true, false=false)
        return None

    # -- numbers

    def are_plain(self) -> bool:
        """Whether all cells are numbers that every program reads, and meant as such."""
        if _PLAIN not in formats.styles(self.options) or (self.hint.comma and self.all_three()):
            return False
        if self.stripped.cast(pl.Float64, strict=False).null_count():
            return False
        return bool(self.stripped.str.contains("[0-9]").any())  # nan and inf are words, too

    def numbers(self) -> ColumnReader | None:
        whole = self.stripped.cast(pl.Int64, strict=False)
        if not whole.null_count():
            return self.codes() or self.integers(whole)
        if self.are_plain():
            return self.codes() or self.plain_numbers()
        best = self.best_style()
        if best is None:
            return None
        style, share = best
        if style.decimal == "," and self.hint.separator == "," and self.options.decimal is None:
            if share < 1:
                return None
            return self.as_text("perhaps numbers", {"decimal": ","}, shown=self.some[0])
        reader = ColumnReader(Type.NUMBER, style=style)
        values = reader.values(self.some)
        if values.null_count():  # the misfits will be named
            return reader
        if style.currency and len(formats.currencies(self.some)) > 1:
            return self.as_text("perhaps numbers", shown=self.some[0])
        if codes := self.codes():
            return codes
        is_whole = (values == values.floor()) & (values.abs() < EXACT)
        written = self.some.str.contains(re.escape(style.decimal) + "[0-9]")
        if is_whole.all() and not written.any() and not style.percent:
            reader = replace(reader, kind=Type.INTEGER)
        self.say_style(reader)
        return reader

    def first(self, pattern: str) -> Any:
        """The first cell that has a form, without the spaces around it."""
        found = self.stripped.filter(self.stripped.str.contains(pattern))
        return found[0] if len(found) else None

    def codes(self) -> ColumnReader | None:
        """Texts, if a cell has the form of a code."""
        shown = self.first("|".join(_CODES))
        if shown is None:
            return None
        kind = next(kind for pattern, kind in _CODES.items() if re.match(pattern, shown))
        return self.as_text("perhaps codes", kind, shown=shown, read="texts")

    def say_style(self, reader: ColumnReader) -> None:
        """Say how numbers are written that are not plain."""
        style, plain = reader.style, self.some.str.contains(_PLAIN.pattern)
        shown = str(self.some[int((~plain).arg_max() or 0)])
        kinds = "whole numbers" if reader.kind is Type.INTEGER else "numbers"
        read = f"{kinds}: {reader.values(pl.Series([shown]))[0]:.15g}"
        code = "number style"
        option: dict[str, Any] = {"types": {self.name: "text"}}
        if not style.percent and not style.currency:
            if self.options.decimal is not None or self.options.thousands is not None:
                return  # as was asked
            if self.all_three():
                other = "." if style.decimal == "," else ","
                code, option = "mark or thousands", {"decimal": other}
            elif style.decimal == ",":
                code, option = "decimal comma", {"decimal": "."}
        self.find(code, option, shown=shown, read=read)

    def best_style(self) -> tuple[NumberStyle, float] | None:
        """The style that fits most cells, and their share; None if it fits less than half."""
        allowed = formats.styles(self.options)
        if self.hint.comma and self.options.decimal is None:
            allowed = sorted(allowed, key=lambda style: style.decimal != ",")
        head = self.some.head(LOOK)
        if not head.str.contains("[0-9]").any():
            return None
        shares = {style: _share(_on(head, style.fits)) for style in allowed}
        best = max(shares, key=lambda style: shares[style])
        # numbers in a style that was ruled out are no texts either
        others = (style for style in formats.styles(ReadOptions()) if style not in shares)
        share = max(shares[best], *(_share(_on(head, style.fits)) for style in others), 0.0)
        return (best, shares[best]) if share >= 0.5 else None

    def all_three(self) -> bool:
        """Whether every number with a sign in it has three digits after it."""
        odd = self.some.filter(self.some.str.contains(r"[.,]"))
        return len(odd) > 0 and bool(odd.str.contains(formats.THREE).all())

    def integers(self, values: pl.Series) -> ColumnReader:
        frame = values.to_frame(self.name).lazy()
        least: Any = values.min()
        most: Any = values.max()
        found = list(whole_findings(frame, self.name, least, most, {"true": ["1"], "false": ["0"]}))
        digits = self.stripped.str.len_bytes()
        long = digits.min() == digits.max() and int(digits[0]) >= 7 and len(values) > 1
        if not found and (long or (most > 999 and _CODE_NAMES.search(self.name.lower()))):
            self.find("perhaps codes", Type.TEXT, shown=self.stripped[0], read="whole numbers")
        self.findings += found
        return ColumnReader(Type.INTEGER)

    def plain_numbers(self) -> ColumnReader:
        if self.all_three():
            option, shown = {"decimal": ","}, self.first("[.]")
            self.find("mark or thousands", option, shown=shown, read="decimals")
        if (code := self.first(r"^[0-9]+[eE][0-9]+$")) is not None:
            self.find("perhaps codes", Type.TEXT, shown=code, read=f"numbers: {float(code):g}")
        if not self.stripped.cast(pl.Float64, strict=False).is_finite().all():
            self.find("not finite", Type.TEXT)
        return ColumnReader(Type.NUMBER)

    # -- dates and times

    def moments(self, told: Type | None = None) -> ColumnReader | None:
        head = self.some.head(LOOK)
        known = (ISO, NUMBERS, NAMED) if told is None else (ISO, NUMBERS, NAMED, COMPACT)
        shares = {form: _share(_of(head, form)) for form in known}
        form = max(shares, key=lambda one: shares[one])
        if shares[form] < 0.5:
            return None
        if told is None and form == NUMBERS and not _are_dates(head):
            return None
        timed = _on(self.some, formats.has_time)
        kind = told or (Type.DATETIME if timed.any() else Type.DATE)
        reader = ColumnReader(kind, form=form)
        if told is None and self.options.dates == "iso" and form != ISO:
            option = {"dates": "day-first"}
            return self.as_text("perhaps dates", option, shown=self.some[0], read="texts")
        if form == NUMBERS:
            reader = replace(reader, month_first=self.is_month_first())
        elif form == ISO:
            for pattern in _QUICK[:1] if kind is Type.DATE else _QUICK[1:]:
                quick = replace(reader, format=pattern)
                if not quick.values(self.some).null_count():
                    reader = quick
                    break
        if told is None:
            if 2 * int(reader.values(head).count()) < len(head):
                return None
            self.say_times(reader, timed)
        return reader

    def is_month_first(self) -> bool:
        first, second = _ends(self.some)
        if self.options.dates in ("day-first", "month-first"):
            return self.options.dates == "month-first"
        if first > 12 and second > 12:  # both: the rarer are misfits
            parts = (formats.first, formats.second)
            a, b = (int((_on(self.some, part) > 12).sum()) for part in parts)
            return b > a
        if first > 12:
            return False
        month, shown, but = second > 12 or self.hint.month_first, self.some[0], ""
        if second > 12:
            shown = self.some.filter(_on(self.some, formats.second) > 12)[0]
        else:
            but = ", which do not show whether the day or the month comes first"
        option = {"dates": "day-first" if month else "month-first"}
        read = "month" if month else "day"
        self.find("day or month first", option, shown=shown, but=but, read=read)
        return month

    def say_times(self, reader: ColumnReader, timed: pl.Series) -> None:
        first = reader.values(self.some.head(1))[0]
        read = "" if first is None else f": {str(first)[:10]}"
        short = r"^\s*[0-9]{1,2}[-/. ][0-9A-Za-z]+[-/. ][0-9]{2}\b(?:[^0-9]|$)"
        if self.some.str.contains(short).any():
            self.find("short years", Type.TEXT, shown=self.some[0], read=read)
        if reader.kind is Type.DATETIME:
            if _on(self.some, formats.has_zone).any():
                self.find("zones", Type.TEXT)
            if not timed.all():
                self.find("some times", Type.TEXT)

    def clocks(self) -> ColumnReader | None:
        if not all(some.str.contains(formats.CLOCK).all() for some in (self.some[:100], self.some)):
            return None
        self.find("clocks", shown=self.some[0])
        return ColumnReader(Type.TEXT, clock=True)


# -- small things


def _unknown(cells: pl.Expr) -> pl.Expr:
    return cells.str.strip_chars().str.to_lowercase().is_in(UNKNOWN_AMONG_VALUES)


def _some(cells: pl.Series) -> pl.Series:
    """The cells that hold something."""
    known = cells.drop_nulls()
    return known.filter(known.str.strip_chars().str.len_bytes() > 0)


def _on(cells: pl.Series, make: Callable[[pl.Expr], pl.Expr]) -> pl.Series:
    return cells.alias("cells").to_frame().select(make(pl.col("cells"))).to_series()


def _of(cells: pl.Series, form: str) -> pl.Series:
    return _on(cells, lambda texts: formats.of_form(texts, form))


def _share(found: pl.Series) -> float:
    return int(found.sum()) / max(1, len(found))


def _ends(cells: pl.Series) -> tuple[int, int]:
    """The largest of the first, and of the second numbers of texts such as 12/31/2024."""
    return formats.largest(_on(cells, formats.first)), formats.largest(_on(cells, formats.second))


def _are_dates(head: pl.Series) -> bool:
    """Whether texts such as 1.2.24 are dates, and no versions."""
    fixed = head.str.contains(r"^\s*[0-9]{2}([-/.])[0-9]{2}[-/.][0-9]{2}\b")
    long = head.str.contains(r"^\s*[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{4}")
    slashes = head.str.contains(r"^\s*[0-9]{1,2}/[0-9]{1,2}/[0-9]{2}\b")
    return _share(fixed | long | slashes) >= 0.5
