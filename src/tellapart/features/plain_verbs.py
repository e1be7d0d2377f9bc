"""What people say between a column and a value, and how they write numbers and dates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import MAXYEAR, date, datetime
from functools import cache

from tellapart.features.tree import NAMES, quoted


class NotPlain(Exception):
    """The text cannot be read as plain words."""


# -- numbers and dates as people write them

_SMALL = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_LARGE = r"k|hundred|dozen|thousand|millions?|mio|m|bn|billions?|b|percent|%"
_SCALE = {"k": 1e3, "h": 1e2, "d": 12.0, "t": 1e3, "m": 1e6, "b": 1e9, "p": 1.0, "%": 1.0}
NUMBER = re.compile(
    r"(?:[-+]?[$€£]?(?:\d{1,3}(?:[,_]\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?"
    rf"|(?:{'|'.join(_SMALL)})\b|a(?= (?:hundred|dozen|thousand|million|billion)))"
    rf"(?:\s?(?:{_LARGE})(?!\w))?(?:\s?[$€£](?!\w))?(?![\w.])",
    re.IGNORECASE,
)
"""1,000, $5, 10k, two million, a dozen."""
_MONTH = "(?:" + "|".join(f"{name}|{name[:3]}" for name in NAMES["month"]) + ")"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
DATE = re.compile(
    r"\d{4}(?:-\d\d(?:-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?)?)?(?![\w-])"
    rf"|(?:{_DAY} (?:of )?)?{_MONTH}\.?(?: {_DAY},?)? \d{{4}}(?!\w)",
    re.IGNORECASE,
)
"""2020, 2020-03, 2020-03-01 12:00, March 2020, 1 May 1997, May 1st, 1997."""
_UNIT = re.compile(
    r"\s*[(\[]([^()\[\]]{1,12})[)\]]$|[_ ](kg|m?g|[kcm]?m|mi|miles|lbs?|pounds|ft|m?s|min|minutes|"
    r"h|hours|days|years|eur|usd|gbp|[$€£%]|[kmg]b|k?wh?|mph|kmh|mpg|knots)$",
    re.IGNORECASE,
)


def unit_of(name: str) -> tuple[str, str]:
    """The name of a column without its unit, and the unit; empty if it names none.

    >>> unit_of("Body Mass (g)"), unit_of("weight_kg"), unit_of("legs")
    (('Body Mass', 'g'), ('weight', 'kg'), ('legs', ''))
    """
    found = _UNIT.search(name)
    if found is None or not found.start():
        return name, ""
    return name[: found.start()], found[1] or found[2]


def number(text: str) -> str:
    """A number as SQL writes it; whole ones are exact."""
    written = text.strip().lower().strip("$€£ ")
    scale = re.search(rf"(?<![a-z])\s*({_LARGE})$", written)
    if scale is not None:
        written = written[: scale.start()].strip()
    if written in _SMALL:
        written = str(_SMALL.index(written))
    written = re.sub(r"[,_$€£]", "", "1" if written == "a" and scale else written)
    if re.fullmatch(r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?", written) is None:
        raise NotPlain
    if scale is None:
        return written
    value = float(written) * _SCALE[scale[1][0]]
    return str(int(value)) if value == int(value) else repr(value)


def moment(text: str) -> tuple[str, str | None]:
    """A date as SQL writes it, and the first day after it, if it is a year or a month."""
    try:
        numbers = re.findall(r"\d+", text)
        if re.fullmatch(r"\d{4}-\d\d-\d\d.+", text):
            return quoted(datetime.fromisoformat(text).isoformat(sep=" ")), None
        if word := re.search(_MONTH, re.sub(r"\d(?:st|nd|rd|th)", "", text), re.IGNORECASE):
            year, month = int(numbers[-1]), number_of(word[0], "month")
            day = int(numbers[0]) if numbers[1:] else 0
        else:
            year, month, day = (*map(int, numbers), 0, 0, 0)[:3]
        first = date(year, month or 1, day or 1)
        if day:
            return quoted(first.isoformat()), None
        last = month or 12
        if year == MAXYEAR and last == 12:
            return quoted(first.isoformat()), ""
        return quoted(first.isoformat()), quoted(str(date(year + last // 12, last % 12 + 1, 1)))
    except (ValueError, IndexError, OverflowError):
        raise NotPlain from None


def number_of(word: str, part: str) -> int:
    """The number of a month or a weekday; 0 for other words."""
    short = word.lower().rstrip(".")
    names = enumerate(NAMES[part], 1)
    return next((n for n, m in names if len(short) > 2 and f"{m}s".lower().startswith(short)), 0)


# -- verbs: what stands between a column and a value

_NOT = r"(?P<not>(?:do|does|did|is|are|was|has|can)(?:n['’]?t| not)|not|never|cannot)\s+"
_IS = r"(?:is|are|was|were|(?:must |should |has to |can |will )?be|being|has been|equals?)"
KNOWN = "known|given|present|there|set|filled(?: in| out)?|available|non-?empty|specified|provided"
UNKNOWN = "unknown|empty|missing|blank|null|absent|unset|none|nothing|n/a|left out|not there"
_THAN = r"(?:\s+(?:than|to))?"


def _all_verbs() -> Iterator[tuple[str, str]]:
    """(what it means, the words) of every verb; longer ones first."""
    contain = (
        "contains?|contain(?:ing|ed)|includes?|including|mentions?|(?:has|have) the words?|says?"
        "|matches|(?:has|have|with) the text|(?:has|have) in it|(?:is|talks?|speaks?) about"
    )
    named = "(?: the(?= \\w))?(?: (?:words?|phrase|text|string|term)(?= ))?"
    yield "contains", f"(?:{_NOT})?(?:{contain})(?: both)?{named}"
    lack = "lacks|is without|without|excludes|(?:has|have) no(?= [\"'“])"
    yield "lacks", f"(?:{lack})(?: the(?= \\w))?(?: (?:words?|text)(?= ))?"
    edge = r"(?: (?:with|by|in|on)|(?= [^\w\s]))(?: the words?(?= ))?"
    yield "starts", f"(?:{_NOT})?(?:starts?|begins?|starting|beginning){edge}"
    yield "ends", f"(?:{_NOT})?(?:ends?|ending|finishes){edge}"
    end = r"\b(?! (?!and |or |but )\w)(?: or (?:unknown|empty|missing|blank|null))?"
    value = "exists|(?:has|have) (?:a|any|some) value"
    yield "known", rf"{_IS}(?P<not> not|n['’]?t)? (?:{KNOWN}){end}|{value}"
    yield "unknown", rf"{_IS}(?P<not> not|n['’]?t)? (?:{UNKNOWN}){end}|(?:has|have) no value"
    yield "<>", rf"{_IS} (?:anything|everything|all) (?:but|except)"
    yield "known", rf"{_IS} (?:anything|something)"
    yield "unknown", r"does(?:n['’]?t| not) exist|(?:has|have) nothing"
    isn = rf"(?:(?:{_IS})(?P<not> not|n['’]?t)?\s+|(?P<not2>not )?)"
    yield "= 0", rf"{isn}zero\b(?! \w)"
    yield "> 0", rf"{isn}positive\b"
    yield "< 0", rf"{isn}negative\b"
    lies = "(?:lies|ranges|falls) "
    yield "between", rf"(?:{isn}|{lies})(?:between|from|in the range(?: of)?|within)"
    most = "at most|no (?:more|greater|larger|higher|later|longer) than|up to|until|till|not above"
    most += "|not over|not more than|(?:a )?maximum(?: of)?|max"
    most += "|(?:less|smaller|lower|earlier)(?: than)? or equal(?: to)?"
    least = "at least|no (?:less|fewer|smaller|lower|earlier|shorter) than|since|starting from"
    least += "|not below|not under|not less than|(?:a )?minimum(?: of)?|from|min"
    least += "|(?:greater|more|larger|bigger|higher|later)(?: than)? or equal(?: to)?"
    isn = rf"(?:{isn}|(?:has|have) )?(?:strictly )?"
    yield "<=", rf"{isn}(?:{most}){_THAN}"
    yield ">=", rf"{isn}(?:{least}){_THAN}"
    more = "greater|more|larger|bigger|higher|later|above|over|after|older|longer|exceeding|beyond"
    less = "less|fewer|smaller|lower|earlier|below|under|before|younger|shorter"
    yield ">", rf"{isn}(?:{more}){_THAN}|exceeds"
    yield "<", rf"{isn}(?:{less}){_THAN}"
    yield "neither", rf"{_IS} (?:neither|none of|not (?:one|any|either) (?:of|in)|not in)"
    yield "neither", rf"{_IS}n['’]?t (?:one|any|either) of|not in"
    yield "one of", rf"(?:{_IS} )?(?:one of|any of|either(?: of)?|among|in(?= \()|in the list)"
    yield "in", rf"{isn}(?:in|during|on|at)(?: the)?(?: year| month)?(?: of)?"
    equal = "(?: equal to| the same as| exactly)?"
    yield "<>", rf"{_IS}(?: not|n['’]?t){equal}|does(?:n['’]?t| not) equal"
    yield "<>", r"(?:must|should|can|may)(?:n['’]?t| not) be"
    other = "different (?:from|than|to)|is other than|other than|not equal to"
    yield "<>", rf"differs from|(?:is )?{other}"
    yield "=", rf"(?:{_IS} |on )?the same(?: day| date)? as|{_IS} (?:equal to|exactly|called|named)"
    yield "=", rf"equal to|same as|{_IS}"


@cache  # compiled when first needed: that takes a while
def verbs() -> list[tuple[str, re.Pattern[str]]]:
    return [
        (means, re.compile(rf"(?:{verb})(?=\W|$)", re.IGNORECASE)) for means, verb in _all_verbs()
    ]
