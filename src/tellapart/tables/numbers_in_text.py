"""Numbers as people write them: 1,234.50, 1.234,50, $5, (12), 12-, 5.-, 7 %."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tellapart.tables.options import ReadOptions

if TYPE_CHECKING:
    import polars as pl

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
        import polars as pl

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


def groups_of(decimal: str, options: ReadOptions) -> str:
    """The signs that may stand between thousands beside a decimal mark."""
    if options.thousands is not None:
        return {" ": _SPACES, "'": _BETWEEN}.get(options.thousands, options.thousands)
    return {".": ",", ",": "."}[decimal] + _SPACES + _BETWEEN


def styles(options: ReadOptions) -> list[NumberStyle]:
    """All styles that the options allow, the plainest first."""
    marks = [options.decimal] if options.decimal is not None else [".", ","]
    if options.thousands in (".", ","):
        marks = [mark for mark in marks if mark != options.thousands]
    made = [NumberStyle()] if "." in marks and options.thousands is None else []
    for mark in marks:
        groups = groups_of(mark, options)
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
