"""What the cells of a table show that could be meant otherwise: yes and no, words for unknown,
numbers and dates that are not read, placeholders such as -999, rows that are none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

import polars as pl

from tellapart.features.phrasing import counted
from tellapart.tables import cell_formats as dates
from tellapart.tables.cell_formats import EXACT
from tellapart.tables.findings import Finding, quoted
from tellapart.tables.options import ReadOptions

_LOOK = 10_000
"""Cells that tell what most are."""
_PAIRS = (
    ("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("on", "off"), ("1", "0"),
    ("ja", "nein"), ("j", "n"), ("oui", "non"), ("si", "no"), ("sí", "no"), ("x", ""),
    ("wahr", "falsch"), ("vrai", "faux"), ("✓", "✗"), ("✔", "✘"), ("☑", "☐"),
)  # fmt: skip
_YES, _NO = ({pair[place] for pair in _PAIRS} for place in (0, 1))
_UNKNOWN = frozenset(
    ("na", "n/a", "nan", "null", "none", "nil", "-", "--", "?", "unknown", "#n/a", "#value!",
     "#ref!", "#div/0!", "#name?", "#null!", "(null)", "\\n", "missing", ".", "tbd", "k.a.",
     "not available", "not applicable", "not specified", "no data", "(blank)", "<na>", "n.a.",
     "n.d.", "n/d", "undefined", "keine angabe", "unbekannt", "inconnu", "desconocido", ":", "..",
     "...", "…")
)  # fmt: skip
"""Words for unknown, in lower case."""
UNKNOWN_AMONG_VALUES = sorted(_UNKNOWN - {"nan", "none", "nil", "-", "--"})
"""Words that are unknown where the other cells are numbers, dates, or true and false. NaN is a
number to most programs; none and a dash may be a zero."""
_TOTAL = (
    r"(?i)^(?:(?:grand |overall )?totals?|sum|summe|gesamt|gesamtsumme|insgesamt|somme|suma|totale|"
    r"total g[eé]n[eé]ral):?$|^(?:sub-?total|zwischensumme|sous-total|grand total)\b"
)
_ALMOST_NUMBER = (
    r"^\s*(?:[<>≤≥~≈±]=?|(?:ca|approx|about)\b\.?)?\s*[-+\u2212]?"
    r"[.,]?\p{N}[\p{N}.,_٫٬]*(\s?[^\s\p{N}:/-].{0,11})?$"
)
"""12kg, <0.5, ca. 5, 1.2±0.1, 1,00,000, and digits of other scripts; the group is what follows."""
_VERSION = r"^\s*[0-9]+(?:\.[0-9]+){2,}"
_OTHER_DATE = (
    r"^\s*(?:\p{L}{2,10}\.?,? )?[0-9]{1,2}\.? \p{L}{3,10}\.? [0-9]{4}\b|^[0-9]{8}T[0-9]{4,6}Z?$|"
    r"^(?:19|20)[0-9]{2}[-/](?:0[1-9]|1[0-2])$|^(?:0?[1-9]|1[0-2])[-/](?:19|20)[0-9]{2}$|"
    r"^(?:\p{L}{3} )?\p{L}{3} [0-9]{2} (?:19|20)[0-9]{2}\b|"
    r"^[0-9]{1,2}/\p{L}{3}/[0-9]{4}:[0-9]{2}:|^\p{L}{3} \p{L}{3} [0-9 ]?[0-9] [0-9]{2}:[0-9]{2}:|"
    r"^(?:19|20)[0-9]{2}[- ]?(?:[mMqQwW]|KW ?)[0-9]{1,2}$|"
    r"^(?:[qQ][1-4]|KW ?[0-9]{1,2})[-/ ]?(?:19|20)[0-9]{2}$|"
    r"^(?:[0-9]{1,2}-)?(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*(?:-[0-9]{2,4})?$|"
    r"[0-9]:[0-9]{2}(?::[0-9.]+)?(?: [AP]M)? ?[A-Z]{2,5}(?:/[A-Za-z_]+|[-+][0-9:]{1,5})?\s*$"
)
"""Months and quarters, dates in words, times of log files, times with the name of a zone."""
_NUMBER_NAME = re.compile(r"[-+]?[0-9.,]*[0-9](?:[eE][-+]?[0-9]+)?")
_DATE_NAME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}|^[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4}"
_USUAL_NAMES = frozenset(
    re.findall(
        r"\S+",
        """
    address animal answer article author body book brand category city class code color colour
    comment company content country department description domain email feedback file filename
    food gender group headline id image item key keyword label language line link location mail
    message model name note paragraph path person phrase place plant product prompt query question
    region response review sentence sex species state street string subject summary tag term text
    title token tweet type url user username value word
    """,
    )
)
"""Names of columns of texts, in lower case, without the s of the plural."""


# -- texts


def text_findings(cells: pl.Series, some: pl.Series, options: ReadOptions) -> Iterator[Finding]:
    """What is odd about a column of texts; `some` are the cells that hold something."""
    name = cells.name
    yield from _truth(cells, some, options)
    is_unknown = _lowered(some).is_in(sorted(_UNKNOWN))
    unknown = some.filter(is_unknown)
    if len(unknown):
        words = unknown.unique(maintain_order=True).to_list()[:5]
        facts = {"words": quoted(words, 5), "cells": counted(len(unknown), "cell")}
        yield Finding(name, "unknown among texts", facts, {"nulls": words})
    totals = some.filter(some.str.strip_chars().str.contains(_TOTAL))
    if 0 < 2 * len(totals) < len(some):
        facts = {"shown": totals[0], "cells": counted(len(totals), "cell")}
        yield Finding(name, "totals", facts)
    again = int((some == name).sum())
    if 0 < again < len(some):
        facts = {"shown": f"its name in {counted(again, 'cell')}"}
        yield Finding(name, "no header", facts, {"header": 0})
    values = some.filter(~is_unknown).head(_LOOK)
    if len(values) and (found := _dates(name, values) or _numbers(name, values)):
        yield found
    if some.str.starts_with("#").any() and not some.str.starts_with("#").all():
        yield Finding(name, "perhaps comments", {}, {"comment": "#"})


def _truth(cells: pl.Series, some: pl.Series, options: ReadOptions) -> Iterator[Finding]:
    """Words that may mean true and false."""
    if some.head(1000).n_unique() > 20:
        return
    lowered = _lowered(some)
    given = {word.lower() for word in (*options.true, *options.false)}
    others = some.filter(~lowered.is_in(["true", "false", *given]))
    if given and lowered.is_in(sorted(given)).any() and 2 * len(others) <= len(some):
        words = others.unique(maintain_order=True).to_list()[:5]
        facts = {"words": quoted(words, 5)}
        yield Finding(cells.name, "word beside yes and no", facts, {"nulls": words})
        return
    found = set(lowered.unique().to_list())
    yes, no = sorted(found & _YES), sorted(found & _NO)
    crossed = len(found) == 1 and not found & {"1", "t", "on"} and len(some) < len(cells)
    alike = len(yes) > 1 and max(map(len, yes)) > 1  # not x and y
    if found <= _YES | _NO and yes and (no or crossed or alike):
        facts = {"shown": quoted(sorted(some.unique().to_list()), 4), "read": "texts"}
        option = {"true": yes, "false": no} if no else {"true": yes}
        yield Finding(cells.name, "yes and no", facts, option)


def _numbers(name: str, head: pl.Series) -> Finding | None:
    """Numbers that are written in a way that is not read."""
    almost = head.str.contains(_ALMOST_NUMBER) & ~head.str.contains(_VERSION)
    plain = head.str.contains(r"^\s*[-+]?[0-9][0-9.]*\s*$")
    behind = head.str.extract(_ALMOST_NUMBER, 1).str.replace_all(r"\p{N}+|\s", "")
    if _mostly(almost) and not plain.all() and behind.drop_nulls().n_unique() <= 3 < 2 + len(head):
        return Finding(name, "perhaps numbers", {"shown": head.filter(~plain)[0]})
    words = head.filter(~head.str.contains("[0-9]")).unique(maintain_order=True)
    sizes = head.filter(head.str.contains(r"^\s*[-+]?[0-9]+[.,][0-9]+\s*$"))
    others = head.filter(~head.str.contains(r"^\s*[-+]?[0-9][0-9.,]*\s*$"))
    if 0 < len(words) <= 3 and 10 * len(sizes) >= len(head) and others.is_in(words.to_list()).all():
        facts = {"shown": sizes[0], "words": quoted(words)}
        return Finding(name, "numbers among words", facts, {"nulls": words.to_list()})
    return None


def _dates(name: str, head: pl.Series) -> Finding | None:
    """Dates and times that are written in a way that is not read."""

    def on(made: pl.Expr) -> pl.Series:
        return head.to_frame().select(made).to_series()

    facts = {"shown": head[0], "read": "texts, without an order"}
    if _mostly(head.str.contains(_OTHER_DATE)) or _mostly(
        on(dates.of_form(pl.col(name), dates.ISO))
    ):
        return Finding(name, "perhaps dates", facts)
    made = (dates.moments(pl.col(name), dates.NUMBERS, first) for first in (False, True))
    if any(not on(one).null_count() for one in made):
        return Finding(name, "perhaps dates", facts, {"types": {name: "date"}})
    return None


def _lowered(some: pl.Series) -> pl.Series:
    return some.str.strip_chars().str.to_lowercase()


def _mostly(found: pl.Series) -> bool:
    return 10 * int(found.sum()) >= 9 * len(found)


# -- rows, and the names of columns


def header_findings(cells: pl.DataFrame) -> Iterator[Finding]:
    """What may be wrong about the line with the names of columns of texts."""
    if not cells.height:
        return
    odd = [name for name in cells.columns if _NUMBER_NAME.fullmatch(name)]
    years = all(re.fullmatch(r"(19|20)[0-9]{2}", name) for name in odd)
    if years and len(odd) < cells.width:  # 2019, 2020 and so on are names
        odd = []
    odd += [name for name in cells.columns if _is_code_like(name, cells[name].drop_nulls())]
    if odd:
        facts = {"shown": f"columns whose names are values, such as {odd[0]!r}"}
        yield Finding(None, "no header", facts, {"header": 0})
    elif cells.width == 1 and _is_text_like(cells.columns[0], cells.to_series().drop_nulls()):
        facts = {"shown": "a name like the texts below it"}
        yield Finding(cells.columns[0], "no header", facts, {"header": 0})


def _is_code_like(name: str, some: pl.Series) -> bool:
    """Whether a name looks like a date or a code, and so do all cells of its column."""
    if not len(some):
        return False
    if re.match(_DATE_NAME, name):
        return bool(some.str.contains(_DATE_NAME).all())
    for sign in ("@", "://"):
        if sign in name:
            return bool(some.str.contains(sign, literal=True).all())
    form = re.escape(re.sub(r"[^\W\d_]+", "a", re.sub("[0-9]+", "9", name)))
    if "9" not in form or re.fullmatch(r"column_[0-9]+", name):
        return False
    pattern = form.replace("a", r"\p{L}+").replace("9", "[0-9]+")
    return bool(some.str.contains(f"^{pattern}$").all())


def _is_text_like(name: str, some: pl.Series) -> bool:
    """Whether the name of a column of texts is unusual as a name, and looks like its cells."""
    if not len(some) or name.lower().removesuffix("s") in _USUAL_NAMES:
        return False
    lengths, upper = some.str.len_chars(), some.str.contains(r"^\p{Lu}")
    between = (lengths <= len(name)).any() and (lengths >= len(name)).any()
    signs = {sign for sign in name if not sign.isalpha()}
    alike = name[:1].isupper() == (2 * int(upper.sum()) >= len(some))
    letters = bool(some.str.contains(r"\p{L}").all())
    return bool(between) and alike and letters and signs <= set("".join(some.unique()))


# -- numbers and dates

Option = Callable[[str, Sequence[Any]], Mapping[str, Any]]
"""Which argument makes some values of a column unknown; empty if none does."""

_SMALL = (-1, -7, -8, -9)
_PLACEHOLDERS = (
    *_SMALL, *(sign * (10**n - 1) for n in range(2, 8) for sign in (1, -1)),
    77, 88, 777, 888, 7777, 8888,  # refused, and does not know
    -32768, -(2**31), 2**31 - 1,
    99.9, 999.9, 9999.9, 99.99, 999.99, -99.9, -999.9, -9999.9, -99.99, -999.99,
)  # fmt: skip
_DAYS = tuple(
    date.fromisoformat(day)
    for day in ("0001-01-01", "1601-01-01", "1753-01-01", "1800-01-01", "1899-12-30", "1899-12-31",
                "1900-01-01", "1901-01-01", "1970-01-01", "2099-12-31", "2999-12-31", "9999-12-31")
)  # fmt: skip


def value_findings(
    frame: pl.LazyFrame, option: Option, *, typed: bool = False
) -> Iterator[Finding]:
    """What is odd about the numbers and dates of a table; all rows are looked at.

    `typed`: the columns had a type from the beginning; also look for what only those show.

    >>> import polars as pl
    >>> frame = pl.LazyFrame({"temperature": [12.5, -999.0, 14.0, 11.5, -999.0]})
    >>> for finding in value_findings(frame, lambda column, values: {}):
    ...     print(finding)
    temperature: -999 in 2 cells, and 11.5 to 14.0 in the others, so it may mean unknown; read as a
    number
    """
    columns: dict[str, pl.Expr] = {}
    for name, dtype in frame.collect_schema().items():
        if dtype.is_float():
            columns[name] = pl.when(pl.col(name).is_finite()).then(pl.col(name))
        elif dtype in (pl.Date, pl.Datetime):
            columns[name] = pl.col(name).dt.date()
        elif dtype.is_numeric():
            columns[name] = pl.col(name)
    looks = [
        look.alias(f"{n} {name}")
        for name, one in columns.items()
        for n, look in enumerate((one.min(), one.max(), one.count() < pl.col(name).count()))
    ]
    found = iter(frame.select(looks).collect(engine="streaming").row(0) if looks else ())
    for name, column in columns.items():
        least, most, not_finite = next(found), next(found), next(found)
        if typed and not_finite:
            yield Finding(name, "not finite")
        if least is None:
            continue
        if typed and isinstance(least, int):
            yield from whole_findings(frame, name, least, most, {"types": {name: "bool"}})
        known = _DAYS if isinstance(least, date) else _PLACEHOLDERS
        if least in known or most in known:
            yield from _placeholders(frame, name, column, known, option)


def whole_findings(
    frame: pl.LazyFrame, name: str, least: int, most: int, bools: Mapping[str, Any]
) -> Iterator[Finding]:
    """What whole numbers may be besides; `bools` is the argument that makes true and false of 0
    and 1."""
    facts = {"shown": most, "read": "whole numbers"}
    if max(-least, most) > EXACT:  # spreadsheets round them
        yield Finding(name, "perhaps codes", facts, {"types": {name: "text"}})
    elif (least, most) == (0, 1):
        yield Finding(name, "yes and no", {**facts, "shown": "0 and 1"}, bools)
    elif 19_000_101 <= least < most <= 21_001_231:
        day, month = pl.col(name) % 100, pl.col(name) // 100 % 100
        fits = (day.is_between(1, 31) & month.is_between(1, 12)).all()
        if frame.select(fits).collect(engine="streaming").item():
            yield Finding(name, "perhaps dates", facts, {"types": {name: "date"}})


def _placeholders(
    frame: pl.LazyFrame, name: str, column: pl.Expr, known: Sequence[Any], option: Option
) -> Iterator[Finding]:
    """Values such as -999 and 1900-01-01, if they are far from all others."""
    others = column.filter(~pl.any_horizontal(column == value for value in known))
    counts = [(column == value).sum().alias(f"count {n}") for n, value in enumerate(known)]
    ends = [others.min().alias("min"), others.max().alias("max")]
    low, high, *times = frame.select(ends + counts).collect(engine="streaming").row(0)
    if low is None or low == high:
        return
    pairs = dict(zip(known, times, strict=True))
    meant = [v for v, count in pairs.items() if count and _stands_apart(v, count, low, high)]
    if meant:
        facts = {
            "shown": " and ".join(map(str, meant[:3])),
            "cells": counted(sum(pairs[value] for value in meant), "cell"),
            "low": low,
            "high": high,
            "kind": "date" if isinstance(low, date) else "number",
        }
        yield Finding(name, "placeholder", facts, option(name, meant))


def _stands_apart(value: Any, count: int, low: Any, high: Any) -> bool:
    """Whether a placeholder is far from all other values."""
    if isinstance(value, date):
        far = min(abs(value - low), abs(value - high)) > high - low
        return not low <= value <= high and (value.year in (1, 2999, 9999) or far)
    if value in _SMALL:
        return bool(low >= 0 and count > 1 and high >= (10 if value == -1 else 1))
    if count == 1 and abs(value) < 999:
        return False
    if value > 0:
        return bool(value >= 9 * max(-low, high))  # 999 may be a price
    return bool(value < low - (high - low) or (low >= 0 and count > 1))
