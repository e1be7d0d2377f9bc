"""Numbers, dates and times as people write them: 1.234,50, $5, (12), 7 %, 31.12.2024, 5:30 PM."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from tellapart.tables.options import ReadOptions

# -- numbers
EXACT = 2**53
"""Up to here doubles hold every whole number."""
_CODES = "USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF|AUD|CAD|NZD|BRL|MXN|ZAR|TRY|KRW"
_CURRENCY = rf"US\$|[$€£¥₹₩₽]|\b(?:{_CODES})\b"
_SPACES = " \u00a0\u202f\u2009"
_BETWEEN = "'’"
_MINUS = "\u2212"
"""The minus sign of typesetters."""
_NO_CENTS = "[-–—]{1,2}"
"""After the decimal mark of an amount: 5.- and 5,--."""


@dataclass(frozen=True)
class NumberStyle:
    """How numbers are written."""

    decimal: str = "."
    groups: str = ""
    """Signs that may stand between thousands."""
    currency: bool = False
    percent: bool = False

    @property
    def pattern(self) -> str:
        """A regular expression for such a number."""
        signs = "".join(f"\\{sign}" if sign in ".'" else sign for sign in self.groups)
        grouped = rf"|[1-9][0-9]{{0,2}}(?:[{signs}][0-9]{{3}})+" if signs else ""
        mark = "\\" + self.decimal
        part = rf"{mark}(?:[0-9]*|{_NO_CENTS})" if self.currency else rf"{mark}[0-9]*"
        size = rf"(?:(?:[0-9]+{grouped})(?:{part})?|{mark}[0-9]+)(?:[eE][-+]?[0-9]+)?"
        minus = "[-+]" if self.plain else f"[-+{_MINUS}]"
        if self.currency:
            sign = rf"(?:{_CURRENCY})"
            behind = rf"(?:{sign}\s?)?{size}-(?:\s?{sign})?"  # as SAP writes it
            size = rf"(?:{sign}\s?)?{minus}?{size}(?:\s?{sign})?"
            return rf"^\s*(?:{minus}?\s?{size}|\({size}\)|{behind})\s*$"
        behind = r"\s?%" if self.percent else ""
        return rf"^\s*{minus}?{size}{behind}\s*$"

    @property
    def plain(self) -> bool:
        """Whether every program reads them."""
        return self == NumberStyle()

    def fits(self, cells: pl.Expr) -> pl.Expr:
        """Whether a text is such a number."""
        return cells.str.contains(self.pattern)

    def normal(self, cells: pl.Expr) -> pl.Expr:
        """The texts that fit, rewritten as plain numbers; null for others."""
        made = cells.str.strip_chars().str.replace(_MINUS, "-", literal=True)
        if self.currency:
            made = made.str.replace_all(_CURRENCY, "").str.replace_all(r"\s", "")
            made = made.str.replace(rf"\{self.decimal}{_NO_CENTS}$", "")
            negative = made.str.starts_with("(") | made.str.ends_with("-")
            made = made.str.replace_all(r"[()]|-$", "")
            made = pl.when(negative).then("-" + made).otherwise(made)
        if self.percent:
            made = made.str.strip_suffix("%").str.strip_chars()
        for sign in self.groups:
            made = made.str.replace_all(sign, "", literal=True)
        if self.decimal != ".":
            made = made.str.replace(self.decimal, ".", literal=True)
        return pl.when(self.fits(cells)).then(made)


def styles(options: ReadOptions) -> list[NumberStyle]:
    """All styles that the options allow, the plainest first."""
    marks = [options.decimal] if options.decimal is not None else [".", ","]
    if options.thousands in (".", ","):
        marks = [mark for mark in marks if mark != options.thousands]
    made = [NumberStyle()] if "." in marks and options.thousands is None else []
    for mark in marks:
        groups = {".": ",", ",": "."}[mark] + _SPACES + _BETWEEN
        if (given := options.thousands) is not None:
            groups = {" ": _SPACES, "'": _BETWEEN}.get(given, given)
        made += [
            NumberStyle(mark, groups),
            NumberStyle(mark, groups, percent=True),
            NumberStyle(mark, groups, currency=True),
        ]
    return made


THREE = r"^\s*[-+]?[1-9][0-9]{0,2}(?:[.,][0-9]{3})+\s*$"
"""A number whose only mark may stand between thousands, or before decimals."""
ONLY_COMMA = r"^\s*[-+]?(?:[0-9]+|[0-9]{1,3}(?:\.[0-9]{3})+),[0-9]+\s*$"
"""A number with a decimal comma, most likely."""


def currencies(cells: pl.Series) -> list[str]:
    """The signs of currencies in some texts."""
    found = cells.str.extract(f"({_CURRENCY})").drop_nulls().unique().sort()
    return [str(sign) for sign in found.to_list()]


def largest(values: pl.Series) -> int:
    """The largest of whole numbers without their signs; 0 if none is known."""
    ends = (values.min(), values.max())
    return max((abs(end) for end in ends if isinstance(end, int)), default=0)


# -- dates and times

_TIME = (
    r"(?:(?:[T ]|, ?)\s*(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})"
    r"(?P<part>[.,][0-9]+)?)?\s?(?P<half>[AaPp]\.?[Mm]\.?)?"
    r"\s?(?P<zone>Z|UTC|GMT|[-+][0-9]{2}:?[0-9]{2})?)?"
)
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_ISO = (
    rf"^\s*(?P<y>[0-9]{{4}})(?P<mark>[-/.])(?P<m>[0-9]{{1,2}})[-/.](?P<d>[0-9]{{1,2}}){_TIME}\s*$"
)
_COMPACT = r"^\s*(?P<y>(?:19|20)[0-9]{2})(?P<m>[01][0-9])(?P<d>[0-3][0-9])\s*$"
_PAIR = r"^\s*(?P<a>[0-9]{1,2})(?P<mark>[-/.])(?P<b>[0-9]{1,2})[-/.](?P<y>[0-9]{4}|[0-9]{2})"
_NUMBERS = rf"{_PAIR}{_TIME}\s*$"
_NAME = r"(?P<m>[A-Za-z]{3})[a-z]*\.?"
_DAY_NAME = (
    rf"^\s*(?:[A-Z][a-z]{{2,8}},? )?(?P<d>[0-9]{{1,2}})\.?[ -]{_NAME}[ -]"
    rf"(?P<y>[0-9]{{4}}|[0-9]{{2}}){_TIME}\s*$"
)
_NAME_DAY = (
    rf"^\s*(?:[A-Z][a-z]{{2,8}},? )?{_NAME} (?P<d>[0-9]{{1,2}}),? (?P<y>[0-9]{{4}}){_TIME}\s*$"
)
CLOCK = (
    r"^\s*(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?(?: ?[AaPp]\.?[Mm]\.?)?\s*$"
)
"""A time of day."""

ISO, NUMBERS, NAMED, COMPACT = "iso", "numbers", "named", "compact"
FORMS = {ISO: (_ISO,), NUMBERS: (_NUMBERS,), NAMED: (_DAY_NAME, _NAME_DAY), COMPACT: (_COMPACT,)}


def of_form(cells: pl.Expr, form: str) -> pl.Expr:
    """Whether a text has a form; it may still be no date, such as 2024-13-01."""
    return pl.any_horizontal(*(cells.str.contains(pattern) for pattern in FORMS[form]))


def first(cells: pl.Expr) -> pl.Expr:
    """The first number of texts such as 12/31/2024."""
    return cells.str.extract(_PAIR, 1).cast(pl.Int32, strict=False)


def second(cells: pl.Expr) -> pl.Expr:
    """The second number of texts such as 12/31/2024."""
    return cells.str.extract(_PAIR, 3).cast(pl.Int32, strict=False)


def has_time(cells: pl.Expr) -> pl.Expr:
    """Whether a text has a time of day in it."""
    return cells.str.contains(r"[0-9]:[0-9]{2}")


def has_zone(cells: pl.Expr) -> pl.Expr:
    """Whether a text has a time zone at its end."""
    return cells.str.contains(r":[0-9.,]+ ?(?:Z|UTC|GMT|[-+][0-9]{2}:?[0-9]{2})\s*$")


def moments(cells: pl.Expr, form: str, month_first: bool = False) -> pl.Expr:
    """Texts as datetimes in UTC; null where they are none in this form."""
    return pl.coalesce(_moment(cells, pattern, form, month_first) for pattern in FORMS[form])


def _moment(cells: pl.Expr, pattern: str, form: str, month_first: bool) -> pl.Expr:
    parts = cells.str.extract_groups(pattern)
    part = parts.struct.field

    def number(expr: pl.Expr) -> pl.Expr:
        return expr.cast(pl.Int32, strict=False)

    year = number(part("y"))
    short = part("y").str.len_bytes() == 2
    year = (
        pl.when(short & (year < 69)).then(year + 2000).when(short).then(year + 1900).otherwise(year)
    )
    if form == NUMBERS:
        month, day = (part("a"), part("b")) if month_first else (part("b"), part("a"))
    else:
        month, day = part("m"), part("d")
    if form == NAMED:
        names = [str(n) for n in range(1, 13)]
        month = month.str.to_lowercase().replace_strict(_MONTHS, names, default=None)
    # texts, because pl.datetime raises where there is no such day
    text = pl.format(
        "{}-{}-{}", year.cast(pl.String).str.zfill(4), month.str.zfill(2), day.str.zfill(2)
    )
    date = text.str.to_datetime("%Y-%m-%d", strict=False, time_unit="us")
    if form == COMPACT:
        return date
    hour = number(part("hour")).fill_null(0)
    half = part("half").str.slice(0, 1).str.to_lowercase()
    right = pl.when(half.is_null()).then(hour <= 23).otherwise((hour >= 1) & (hour <= 12))
    hour = pl.when(half.is_null()).then(hour).otherwise(hour % 12 + 12 * (half == "p"))
    minute, second = number(part("minute")).fill_null(0), number(part("second")).fill_null(0)
    # the part of a second, in microseconds, without rounding
    micro = (
        part("part").str.slice(1, 6).str.pad_end(6, "0").cast(pl.Int64, strict=False).fill_null(0)
    )
    zone = part("zone").str.replace_all(":", "")
    away = zone.str.slice(1, 2).cast(pl.Int32, strict=False).fill_null(0) * 60
    away += zone.str.slice(3, 2).cast(pl.Int32, strict=False).fill_null(0)
    away = pl.when(zone.str.starts_with("-")).then(-away).otherwise(away)
    since = pl.duration(hours=hour, minutes=minute - away, seconds=second, microseconds=micro)
    return pl.when(right & (minute <= 59) & (second <= 59)).then(date + since)


def clock(cells: pl.Expr) -> pl.Expr:
    """Times of day as texts in one form, so that their order is that of the times."""
    parts = cells.str.extract_groups(
        r"^\s*([0-9]{1,2})(:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?) ?([AaPp])?"
    ).struct
    hour = parts.field("1").cast(pl.Int32, strict=False)
    half = parts.field("3").str.to_lowercase()
    hour = pl.when(half.is_null()).then(hour).otherwise(hour % 12 + 12 * (half == "p"))
    return hour.cast(pl.String).str.zfill(2) + parts.field("2")
