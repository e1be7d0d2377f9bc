"""Numbers and dates as people write them, for conditions in plain words."""

from __future__ import annotations

import re
from datetime import MAXYEAR, date, datetime, time
from typing import Any

from tellapart.features import canonical
from tellapart.features.tree import NAMES, Node, Type, Value

_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SMALL = {"a": 1, **{word: n for n, word in enumerate(_WORDS)}}
_LARGE = r"k|hundred|dozen|thousand|millions?|mio|m|bn|billions?|b|percent|%"
WRITTEN = re.compile(
    r"(?:[-+]?[$€£]?(?:\d{1,3}(?:[,_]\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?"
    rf"|(?:{'|'.join(_WORDS)})\b|a(?= (?:hundred|dozen|thousand|million|billion)))"
    rf"(?:\s?(?:{_LARGE})(?!\w))?(?:\s?[$€£](?!\w))?(?![\w.])",
    re.IGNORECASE,
)
"""A number as people write it: 1,000, $5, 10k, two million, a dozen."""
_YEAR = r"\d{4}"
_MONTH = "(?:" + "|".join(f"{name}|{name[:3]}" for name in NAMES["month"]) + ")"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
DATED = re.compile(
    r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?"
    rf"|(?:{_DAY} (?:of )?)?{_MONTH}\.?(?: {_DAY},?)? {_YEAR}(?!\w)",
    re.IGNORECASE,
)
"""A moment of several words: 2020-03-01 12:00, March 2020, 1 May 1997, May 1st, 1997."""
_SCALE = {"k": 1e3, "h": 1e2, "d": 12.0, "t": 1e3, "m": 1e6, "b": 1e9, "p": 1.0, "%": 1.0}
_NUMBER = re.compile(r"[-+]?[$€£]?(\d{1,3}(?:[,_ ]\d{3})+|\d+)?(\.\d+)?(e[-+]?\d+)?", re.IGNORECASE)


_UNIT = re.compile(
    r"\s*[(\[]([^()\[\]]{1,12})[)\]]$|[_ ](kg|m?g|[kcm]?m|mi|miles|lbs?|pounds|ft|m?s|min|minutes|"
    r"h|hours|days|years|eur|usd|gbp|[$€£%]|[kmg]b|k?wh?|mph|kmh|mpg|knots)$",
    re.IGNORECASE,
)


class NotPlain(Exception):
    """The text cannot be read as plain words."""


def number_of(word: str, part: str) -> int:
    """The number of a month or a weekday; 0 for other words."""
    short = word.lower().rstrip(".")
    names = enumerate(NAMES[part], 1)
    return next((n for n, m in names if len(short) > 2 and f"{m}s".lower().startswith(short)), 0)


def unit_of(name: str) -> tuple[str, str]:
    """The name of a column without its unit, and the unit; empty if it names none.

    >>> unit_of("Body Mass (g)"), unit_of("weight_kg"), unit_of("legs")
    (('Body Mass', 'g'), ('weight', 'kg'), ('legs', ''))
    """
    found = _UNIT.search(name)
    if found is None or not found.start():
        return name, ""
    return name[: found.start()], found[1] or found[2]


def literal(text: str, operand: Node) -> Value:
    """A value for an operand, as people write it."""
    kind = operand.type
    if kind is Type.TEXT:
        return Value(text, kind)
    if kind.numeric:
        made = canonical.number(_number(text))
        if kind is Type.INTEGER and abs(made.value) >= 2**63:
            raise NotPlain
        return made
    if kind.temporal:
        moment: Any = _moment(text.strip())
        if kind is Type.DATE and not isinstance(moment, datetime):
            return Value(moment, Type.DATE)
        if not isinstance(moment, datetime):
            moment = datetime.combine(moment, time())
        return Value(moment, Type.DATETIME)
    raise NotPlain


def _number(text: str) -> float:
    """A number as people write it; whole ones are exact."""
    written = text.strip().lower().strip("$€£ ")
    scale = re.search(rf"(?<![a-z])\s*({_LARGE})$", written)
    if scale is not None:
        written = written[: scale.start()].strip()
    if written == "a" and scale is None:
        raise NotPlain
    written = str(_SMALL.get(written, written))
    if not written or _NUMBER.fullmatch(written) is None:
        raise NotPlain
    plain = re.sub(r"[,_ ]", "", written)
    if scale is None and re.fullmatch(r"[-+]?\d{1,20}", plain):
        return int(plain)
    try:
        value = float(plain) * (_SCALE[scale[1][0]] if scale is not None else 1.0)
    except ValueError:
        raise NotPlain from None
    if not abs(value) < float("inf"):
        raise NotPlain
    return value


def following(text: str, operand: Node) -> date | None:
    """The first day after a year or a month; None if a text is neither."""
    year = re.fullmatch(_YEAR, text) is not None
    if not year and re.fullmatch(rf"{_YEAR}-\d\d|{_MONTH}\.? {_YEAR}", text, re.IGNORECASE) is None:
        return None
    found = _moment(text)
    month = 12 if year else found.month
    if found.year == MAXYEAR and month == 12:
        raise NotPlain
    first = date(found.year + month // 12, month % 12 + 1, 1)
    return first if operand.type is Type.DATE else datetime.combine(first, time())


def _moment(text: str) -> date | datetime:
    try:
        if re.fullmatch(_YEAR, text):
            return date(int(text), 1, 1)
        if re.fullmatch(r"\d{4}-\d\d", text):
            return date.fromisoformat(text + "-01")
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            return date.fromisoformat(text)
        if re.fullmatch(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?", text):
            return datetime.fromisoformat(text)
        month = re.search(r"[a-z]{3,}", re.sub(r"\d(?:st|nd|rd|th)|of ", "", text.lower()))
        if DATED.fullmatch(text) and month is not None:
            numbers = [int(digits) for digits in re.findall(r"\d+", text)]
            day = numbers[0] if len(numbers) > 1 else 1
            return date(numbers[-1], number_of(month[0], "month"), day)
        raise NotPlain
    except ValueError:
        raise NotPlain from None
