"""What a column that stays texts may mean: true and false, unknown, numbers, dates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tellapart.features.phrasing import counted
from tellapart.tables import dates_in_text as dates
from tellapart.tables.findings import Finding
from tellapart.tables.options import ReadOptions

if TYPE_CHECKING:
    import polars as pl

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
_INVISIBLE = r"[\u00a0\u00ad\u200b-\u200f\u202f\u2060\ufeff\u0300-\u036f]"
_MARKED = (
    r"^\s*(?:[<>≤≥~≈±][<>=]?|(?:ca|approx|about)(?:\.|\b))\s*[0-9][0-9.,]*\s*$|"
    r"^\s*[-+]?[0-9][0-9.,]*\s?(?:[*†‡]+|(?:±|\+/-)\s?[0-9.,]+)\s*$|^\s*0[xX][0-9a-fA-F]{1,16}\s*$"
)
_TWO_NUMBERS = r"^\s*[-+]?[0-9]+(?:\.[0-9]+)?\s?[/x×,;]\s?[-+]?[0-9]+(?:\.[0-9]+)?\s*$"
_NUMBER = r"^\s*[-+]?[0-9][0-9.,]*\s*$"
_DURATION = (
    r"^\s*[-+]?[0-9]+:[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]+)?)?\s*$|^P(?:[0-9.]+[YMWD])*(?:T[0-9HMS.]+)?$|"
    r"^\s*(?:[0-9.,]+ ?(?:d|h|hrs?|m|mins?|s|secs?)\b\s*)+$"
)
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_DAY_OF_MONTH = f"^[0-9]{{1,2}}-{_MONTH}$|^{_MONTH}-[0-9]{{2}}$"
_OTHER_DATE = (
    r"^\s*(?:\p{L}{2,10}\.?,? )?[0-9]{1,2}\.? \p{L}{3,10}\.? [0-9]{4}\b|^[0-9]{8}T[0-9]{4,6}Z?$|"
    r"^(?:19|20)[0-9]{2}[-/](?:0[1-9]|1[0-2])$|^(?:0?[1-9]|1[0-2])[-/](?:19|20)[0-9]{2}$|"
    r"^(?:\p{L}{3} )?\p{L}{3} [0-9]{2} (?:19|20)[0-9]{2}\b|"
    r"^[0-9]{1,2}/\p{L}{3}/[0-9]{4}:[0-9]{2}:|^\p{L}{3} \p{L}{3} [0-9 ]?[0-9] [0-9]{2}:[0-9]{2}:|"
    r"^(?:19|20)[0-9]{2}[- ]?(?:[mMqQwW]|KW ?)[0-9]{1,2}$|"
    r"^(?:[qQ][1-4]|KW ?[0-9]{1,2})[-/ ]?(?:19|20)[0-9]{2}$|"
    r"^(?:[0-9]{1,2}-)?(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*(?:-[0-9]{2,4})?$"
)
_UNIT = (
    r"^\s*[-+]?[0-9][0-9.,]*\s?"
    r"((?:[A-Za-zµμ°Ω‰]{1,6}[.²³]?)(?:/[A-Za-z]{1,4}[²³]?)?(?: ?[€$£])?)\s*$"
)
_GROUPED = r"^\s*[-+]?[0-9]{1,3}(?:[,_][0-9]{2,3})+(?:\.[0-9]+)?\s*$"
_OTHER_DIGITS = r"^\s*[-+\u2212]?[\p{N}.,٫٬]*[\p{N}--[0-9]][\p{N}.,٫٬]*\s*$"
_NAMED_ZONE = (
    r"[0-9]:[0-9]{2}(?::[0-9.]+)?(?: [AP]M)? ?[A-Z]{2,5}(?:/[A-Za-z_]+|[-+][0-9:]{1,5})?\s*$"
)

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
_UNITS = frozenset(
    re.findall(
        r"\S+",
        """
    kg mg µg μg ug ng lb lbs oz km cm mm µm μm um nm mi ft yd km² km2 m² m2 cm² cm2 m³ m3 cm³ cm3
    ha ml dl cl µl μl ul gal sec secs ms µs min mins hr hrs day days week weeks month months yr yrs
    year years °c °f °k deg % ‰ hz khz mhz ghz mv kv ma kw mw gw kwh mwh gwh kj mj cal kcal pa hpa
    kpa mpa mbar mmhg ppm ppb mol mmol µmol μmol umol nmol iu bpm rpm mph db kbps mbps kb mb gb usd
    eur gbp chf jpy € £ ¥ mcg count pcs int integer float double number numeric string str text
    varchar char date datetime timestamp bool boolean continuous discrete nominal categorical
    """,
    )
)
"""Units, and types of columns, in lower case. Single letters are left out: they are codes, too."""
_NO_UNIT = r"^(?:[-–—./1]|[A-Za-z]|none|unitless|n/a|na)$"


def text_findings(cells: pl.Series, some: pl.Series, options: ReadOptions) -> Iterator[Finding]:
    """What is odd about a column of texts; `some` are the cells that hold something."""
    name = cells.name
    yield from _truth(cells, some, options)
    if some.str.contains("\ufffd", literal=True).any():
        yield Finding(name, "characters that are damaged (\ufffd)", "texts")
    elif some.str.contains(r"Ã[\u0080-\u00bf]|â€|Â[\u00a0-\u00bf]").any():
        what = "characters such as 'Ã¤', of a text in UTF-8 that was taken for another encoding"
        yield Finding(name, what, "texts")
    is_unknown = _lowered(some).is_in(sorted(_UNKNOWN))
    unknown = some.filter(is_unknown)
    if len(unknown):
        words = unknown.unique(maintain_order=True).to_list()[:5]
        shown = " and ".join(map(repr, words))
        what = f"{shown} in {counted(len(unknown), 'cell')}, which may mean unknown"
        yield Finding(name, what, "texts", {"nulls": words})
    yield from _rows(name, some)
    values = some.filter(~is_unknown).head(_LOOK)
    if len(values) and (found := _numbers(name, values) or _dates(name, values)):
        yield found
    yield from _signs(name, some)
    edges = some.str.contains(r"^\s|\s$")
    if edges.any():
        if some.str.strip_chars().n_unique() < some.n_unique():
            what = "cells that differ only by spaces at their ends"
            yield Finding(name, what, "different texts")
        elif 2 * int(edges.sum()) >= len(some):
            what = f"spaces at the ends of cells, such as {some.filter(edges)[0]!r:.40}"
            yield Finding(name, what, "texts with these spaces")
    if some.str.starts_with("#").any() and not some.str.starts_with("#").all():
        what = "cells that begin with '#', as comment lines do"
        yield Finding(name, what, "texts", {"comment": "#"})


def _rows(name: str, some: pl.Series) -> Iterator[Finding]:
    """Rows that are not data: sums of the others, and the names of the columns once more."""
    totals = some.filter(some.str.strip_chars().str.contains(_TOTAL))
    if 0 < 2 * len(totals) < len(some):
        what = f"{totals[0]!r} in {counted(len(totals), 'cell')}, so the row may be a sum of others"
        yield Finding(name, what, "a row like the others")
    again = int((some == name).sum())
    if 0 < again < len(some):
        what = (
            f"its name in {counted(again, 'cell')}, so the first line may be a row, or the names"
            " of the columns may stand in several lines"
        )
        yield Finding(name, what, "the name of the column", {"header": 0})


def row_findings(cells: pl.DataFrame) -> Iterator[Finding]:
    """Rows that may not be data: empty ones, a note at the end, names in another order."""
    import polars as pl

    if cells.width < 2 or not cells.height:
        return
    known = pl.sum_horizontal(pl.all().is_not_null() & (pl.all().str.len_bytes() > 0))
    counts = cells.select(known.alias("known")).to_series()
    empty = int((counts == 0).sum())
    if empty:
        what = f"{counted(empty, 'row')} without any value"
        yield Finding(None, what, "rows; remove them if they are none")
    if len(counts) > 2 and counts[-1] == 1 and (counts[:-1] != 1).all():
        name, text = next((n, c) for n, c in cells.row(-1, named=True).items() if c)
        if (cells[name][:-1].str.len_chars() < len(text)).all():
            what = f"a last row with nothing but {text!r:.60}, which may be a note"
            yield Finding(name, what, "a row like the others; remove it if it is none")
    names = pl.all_horizontal(pl.all().str.strip_chars().is_in(cells.columns))
    for row in cells.filter(names).unique(maintain_order=True).iter_rows():
        if sorted(row) == sorted(cells.columns) and list(row) != cells.columns:
            what = f"a row with the names of the columns in another order ({', '.join(row):.60})"
            yield Finding(None, what, "rows, the cells below it too; sort the columns alike")


def header_findings(cells: pl.DataFrame) -> Iterator[Finding]:
    """What may be wrong about the line with the names of columns of texts, and about the next."""
    if not cells.height:
        return
    odd = [name for name in cells.columns if _NUMBER_NAME.fullmatch(name)]
    years = all(re.fullmatch(r"(19|20)[0-9]{2}", name) for name in odd)
    if years and len(odd) < cells.width:  # 2019, 2020 and so on are names
        odd = []
    odd += [name for name in cells.columns if _is_code_like(name, cells[name].drop_nulls())]
    if odd:
        what = f"columns whose names are values, such as {odd[0]!r}, so the first line may be a row"
        yield Finding(None, what, "the names of the columns", {"header": 0})
    elif cells.width == 1 and _is_text_like(cells.columns[0], cells.to_series().drop_nulls()):
        name = cells.columns[0]
        what = "a name like the texts below it, so the first line may be a row"
        yield Finding(name, what, "the name of the column", {"header": 0})
    units = {n: c for n, c in cells.row(0, named=True).items() if c and c.strip()}
    sure = [name for name, unit in units.items() if _is_unit(unit)]
    others = [u for n, u in units.items() if n not in sure and not re.match(_NO_UNIT, u)]
    if len(units) < 2 or not sure or others:
        return
    if not any(_is_unit(cell) for n in sure for cell in cells[n][1:].drop_nulls().unique()):
        what = f"{units[sure[0]]!r} in the first row alone, which may be a row of units or types"
        yield Finding(sure[0], what, "a row like the others; remove it if it is none")


def _is_unit(cell: str) -> bool:
    """Whether a cell is a unit such as kg, mg/l or [cm]."""
    bare = re.sub(r"^\[(.*)\]$|^\((.*)\)$", r"\1\2", cell.strip()).lower()
    parts = re.split(r"[/*·]", bare)
    known = any(part in _UNITS for part in parts) or bare != cell.strip().lower()
    return known and all(part in _UNITS or re.fullmatch(r"\w[²³0-9]?", part) for part in parts)


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


def name_findings(names: Sequence[str]) -> Iterator[Finding]:
    """Columns whose names differ only by case: most databases take them for one."""
    first: dict[str, str] = {}
    for name in names:
        other = first.setdefault(name.lower(), name)
        if other != name:
            what = f"a name that differs from {other!r} only by case"
            yield Finding(name, what, "a column of its own")


def _lowered(some: pl.Series) -> pl.Series:
    return some.str.strip_chars().str.to_lowercase()


def _signs(name: str, some: pl.Series) -> Iterator[Finding]:
    """Characters that are probably there by accident."""
    if some.str.contains("\0", literal=True).any():
        yield Finding(name, "zero bytes in cells", "parts of the texts")
    days = some.filter(some.str.contains(_DAY_OF_MONTH))
    if 0 < len(days) < 0.9 * len(some):
        what = f"{days[0]!r} among other texts, which a spreadsheet may have made of a name"
        yield Finding(name, what, "texts")
    entities = some.filter(some.str.contains(r"&(?:amp|lt|gt|quot|nbsp|#[0-9]{2,5});"))
    if len(entities):
        what = f"signs as web pages write them, such as in {entities[0][:40]!r}"
        yield Finding(name, what, "texts as they stand")
    if some.str.contains(r"^'.+$|^=\".*\"$").all():
        what = f"signs for spreadsheets around texts, such as in {some[0][:40]!r}"
        yield Finding(name, what, "parts of the texts")
    if some.str.contains(_INVISIBLE).any():
        plain = some.str.normalize("NFKC").str.replace_all(r"[\u00ad\u200b-\u200f\u2060\ufeff]", "")
        if plain.n_unique() < some.n_unique():
            yield Finding(name, "cells that differ only by invisible signs", "different texts")
    words = some.str.strip_chars().unique()
    if len(words) <= 100 and 2 * len(words) <= len(some):
        alike = words.filter(words.str.to_lowercase().is_duplicated()).sort()
        if len(alike):
            shown = " and ".join(map(repr, alike.to_list()[:3]))
            yield Finding(name, f"{shown}, which differ only by case", "different texts")


def _truth(cells: pl.Series, some: pl.Series, options: ReadOptions) -> Iterator[Finding]:
    """Words that may mean true and false."""
    if some.head(1000).n_unique() > 20:
        return
    lowered = _lowered(some)
    given = {word.lower() for word in (*options.true, *options.false)}
    others = some.filter(~lowered.is_in(["true", "false", *given]))
    if given and lowered.is_in(sorted(given)).any() and 2 * len(others) <= len(some):
        words = others.unique(maintain_order=True).to_list()[:5]
        shown = " and ".join(map(repr, words))
        what = f"{shown} among the words for true and false"
        yield Finding(cells.name, what, "texts", {"nulls": words})
        return
    found = set(lowered.unique().to_list())
    option: dict[str, Any] = {}
    for yes, no in _PAIRS:
        alone = len(found) == 1 and yes in found and yes not in ("1", "t", "on")
        if found == {yes, no} or (alone and len(some) < len(cells)):
            option = {"true": [yes], "false": [no]} if no in found else {"true": [yes]}
            break
    mixed = len(found) > 1 and found <= _YES | _NO and any(len(word) > 1 for word in found)
    if not option and mixed:
        option = {"true": sorted(found & _YES), "false": sorted(found & _NO)}
    if option:
        shown = " and ".join(map(repr, sorted(some.unique().to_list())[:4]))
        yield Finding(
            cells.name, f"only {shown}", "texts", {n: words for n, words in option.items() if words}
        )


def _mostly(found: pl.Series) -> bool:
    return 10 * int(found.sum()) >= 9 * len(found)


def _numbers(name: str, head: pl.Series) -> Finding | None:
    """Numbers that are written in a way that is not read."""
    units, plain = head.str.extract(_UNIT, 1), head.str.contains(_NUMBER)
    others = [head.str.contains(one) for one in (_GROUPED, _OTHER_DIGITS, _MARKED)]
    few = units.drop_nulls().n_unique() <= 3 and len(head) > 1
    if (few and units.is_not_null().any() and _mostly(units.is_not_null() | plain)) or any(
        found.any() and _mostly(found | plain) for found in others
    ):
        shown = [*head.filter(~plain).head(1), *head.head(1)][0]
        what = f"texts such as {shown!r}, which may be numbers"
        return Finding(name, what, "texts, which have no size")
    words = head.filter(~plain).unique(maintain_order=True)
    sizes = head.filter(head.str.contains(r"^\s*[-+]?[0-9]+[.,][0-9]+\s*$"))
    if (
        0 < len(words) <= 3
        and 10 * len(sizes) >= len(head)
        and not words.str.contains("[0-9]").any()
    ):
        what = f"numbers such as {sizes[0]!r} among {' and '.join(map(repr, words))}"
        return Finding(name, what, "texts, which have no size", {"nulls": words.to_list()})
    return None


def _dates(name: str, head: pl.Series) -> Finding | None:
    """Dates and times that are written in a way that is not read; or two numbers in a cell."""
    import polars as pl

    def of_form(form: str) -> pl.Series:
        return head.to_frame().select(dates.of_form(pl.col(name), form)).to_series()

    def are_dates(*, month_first: bool) -> bool:
        read = dates.moments(pl.col(name), (dates.NUMBERS,), month_first)
        return not head.to_frame().select(read).to_series().null_count()

    if _mostly(head.str.contains(_NAMED_ZONE)):
        what = f"times with the name of a zone, such as {head[0]!r}"
        return Finding(name, what, "texts, which have no order in time")
    what = f"texts such as {head[0]!r}, which"
    if _mostly(head.str.contains(_DURATION)):
        return Finding(name, f"{what} may be durations", "texts, which have no size")
    if _mostly(head.str.contains(_OTHER_DATE)):
        return Finding(name, f"{what} may be dates", "texts, which have no order in time")
    if _mostly(of_form(dates.ISO)):
        return Finding(name, f"{what} are no dates", "texts")
    if are_dates(month_first=False) or are_dates(month_first=True):
        return Finding(name, f"{what} may be dates", "texts", {"types": {name: "date"}})
    if _mostly(head.str.contains(_TWO_NUMBERS)):
        return Finding(name, f"{what} may be two numbers", "texts, which have no size")
    return None
