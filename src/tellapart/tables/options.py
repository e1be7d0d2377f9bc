"""How a table is read: the arguments of `read_table` that change what is read, and how much may be.

A small file can hold very much: a compressed one, a sheet with a single cell in its last row, a
query without an end. Whoever reads a table looks at `Limits` before the memory or the disk is full.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from tellapart.errors import FormatError, ParameterError
from tellapart.features.expression import types as read_types
from tellapart.features.tree import Type

DATES = ("day-first", "month-first", "iso")
_MARKS = (".", ",", " ", "'")


@dataclass(frozen=True)
class Limits:
    """The most of each.

    >>> Limits().check("a.csv", "columns", 20_000)
    Traceback (most recent call last):
    ...
    tellapart.errors.FormatError: a.csv has 20,000 columns, and at most 10,000 are read. Take fewer,
    or pass limits=2
    """

    bytes: int = 2 * 2**30
    """Of a file, after it was unpacked or fetched."""
    columns: int = 10_000
    """Each is looked at by itself."""
    cells: int = 100_000_000
    """Rows times columns of a sheet or of the rows of a query, which are read at once."""
    seconds: int = 600
    """Of a query, or of a process that reads for a server."""
    memory: int = 2**30
    """Bytes of such a process."""
    times: int = 1
    """How many times as much as usual; 0 if whoever gave the table cannot have more."""

    def check(self, name: str, what: str, found: int) -> None:
        """Raise if there is too much of `bytes`, `columns`, `cells` or `seconds` in a source."""
        most = getattr(self, what)
        if found > most:
            said = f"{name} has {found:,} {what}, and at most {most:,} are read. Take fewer"
            if not self.times:
                raise FormatError(said)
            raise FormatError(
                f"{said}, or pass {{limits}}", limits=self.times * math.ceil(found / most)
            )

    def more(self, times: int) -> Limits:
        """So many times as much of everything."""
        return Limits(*(getattr(self, one.name) * times for one in fields(self)))


STRANGERS = Limits(bytes=2**30, columns=2_000, cells=20_000_000, seconds=60, times=0)
"""For what others send to a server."""


@dataclass(frozen=True)
class ReadOptions:
    """The arguments of `read_table`, checked; None or empty is what the source itself shows."""

    types: Mapping[str, str] | None = None
    separator: str | None = None
    encoding: str | None = None
    nulls: Sequence[str] = ()
    dates: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    true: Sequence[str] = ()
    false: Sequence[str] = ()
    header: int | None = None
    comment: str | None = None
    sheet: str | None = None
    query: str | None = None
    sample: int | None = None
    sample_seed: int = 0
    limits: int | Limits = 1

    def __post_init__(self) -> None:
        if self.dates is not None and self.dates not in DATES:
            raise ParameterError(f"dates is one of {', '.join(DATES)}, got {self.dates!r}")
        if self.decimal not in (None, ".", ","):
            raise ParameterError(f"decimal is '.' or ',', got {self.decimal!r}")
        if self.thousands not in (None, *_MARKS):
            raise ParameterError(
                f"thousands is a point, a comma, a space or an apostrophe, got {self.thousands!r}"
            )
        if self.thousands is not None and self.thousands == (self.decimal or "."):
            raise ParameterError(
                f"thousands={self.thousands!r} is also the decimal mark; pass another decimal, too"
            )
        for name in ("nulls", "true", "false"):
            if isinstance(getattr(self, name), str):
                raise ParameterError(f"{name} is a list of texts, got {getattr(self, name)!r}")
        if self.header is not None and (isinstance(self.header, float) or self.header < 0):
            raise ParameterError(
                f"header is the line with the names of the columns, from 1, or 0 if there is none,"
                f" got {self.header!r}"
            )
        if self.comment == "":
            raise ParameterError("comment is what a comment line begins with, such as '#', got ''")
        whole = isinstance(self.sample, int) and not isinstance(self.sample, bool)
        if self.sample is not None and not (whole and self.sample > 0):
            raise ParameterError(f"sample is a number of rows, at least 1, got {self.sample!r}")
        if not isinstance(self.limits, Limits) and not (
            isinstance(self.limits, int) and self.limits > 0
        ):
            raise ParameterError(
                "limits is how many times as much may be read as usual, a whole number from 1, got"
                f" {self.limits!r}"
            )
        both = {word.lower() for word in self.true} & {word.lower() for word in self.false}
        if both:
            raise ParameterError(f"{both.pop()!r} cannot be both true and false")

    @property
    def wanted(self) -> dict[str, Type]:
        """The types that were asked for."""
        return read_types(self.types or {})

    @property
    def bounds(self) -> Limits:
        """How much may be read."""
        return self.limits if isinstance(self.limits, Limits) else Limits().more(self.limits)

    def refuse(self, name: str, *allowed: str) -> None:
        """Raise if an option was given that says nothing about this kind of source."""
        texts = OF_TEXTS[1:] if self.types else ()  # for the texts that get another type
        for option in fields(self):
            value = getattr(self, option.name)
            if option.name in (*allowed, *texts, *_EVERYWHERE) or value in (option.default, []):
                continue
            if option.name == "encoding" and is_utf8(value):
                continue
            raise ParameterError(
                f"{name} is no {_FOR[option.name]}: {option.name} is only for those"
            )


_EVERYWHERE = ("types", "sample", "sample_seed", "limits")
OF_TEXTS = ("nulls", "dates", "decimal", "thousands", "true", "false")
"""Options about texts that are to become numbers, dates, true and false."""
OF_CSV = (*OF_TEXTS, "separator", "encoding", "header", "comment")
OF_SPREADSHEETS = (*OF_TEXTS, "header", "sheet")
_FOR: dict[str, str] = {
    **dict.fromkeys((*OF_TEXTS, "header"), "CSV file or spreadsheet"),
    **dict.fromkeys(("separator", "encoding", "comment"), "CSV file"),
    "sheet": "spreadsheet",
    "query": "database",
}


def is_utf8(encoding: str) -> bool:
    """Whether a name is one of those of UTF-8.

    >>> is_utf8("utf-8"), is_utf8("UTF_8"), is_utf8("cp1252")
    (True, True, False)
    """
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")
