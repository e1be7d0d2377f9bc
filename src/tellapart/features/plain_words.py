"""Conditions in plain words, rewritten as conditions for the one parser (`grammar`).

`summary contains "game"` becomes `summary ILIKE '%game%'`, `size is at least 10k` `size >= 10000`.
`parse_feature` reads a text as SQL first, then what `rewritten` makes of it; if that is nothing,
`nearest` finds the condition to propose. Every phrase that `phrasing.spoken` shows can be read.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from datetime import MAXYEAR, date, datetime
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from tellapart.features.canonical import MIRROR
from tellapart.features.tree import NAMES, Type, Wild, identifier, pattern, quoted

LONGEST = 1_000
"""The most characters of a condition in plain words."""
LONGEST_SHOWN = 60
"""The most characters of a value that people are shown."""


class NotPlain(Exception):
    """The text cannot be read as plain words."""


def rewritten(text: str, schema: Mapping[str, Type]) -> str | None:
    """The condition that plain words say; None if the text cannot be read.

    >>> schema = {"summary": Type.TEXT, "installed size": Type.INTEGER, "milk": Type.BOOL}
    >>> rewritten('summary contains "game" and installed size is at least 10k but not milk', schema)
    '(summary ILIKE \\'%game%\\') AND ("installed size" >= 10000) AND (NOT (milk))'
    """
    if len(text) > LONGEST or not text.isprintable():
        return None
    try:
        return _Reader(text, schema).condition()
    except (NotPlain, RecursionError):
        return None


# -- numbers and dates as people write them

_SMALL = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_LARGE = r"k|hundred|dozen|thousand|millions?|mio|m|bn|billions?|b|percent|%"
_SCALE = {"k": 1e3, "h": 1e2, "d": 12.0, "t": 1e3, "m": 1e6, "b": 1e9, "p": 1.0, "%": 1.0}
_NUMBER = (
    r"(?:[-+]?[$€£]?(?:\d{1,3}(?:[,_]\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?"
    rf"|(?:{'|'.join(_SMALL)})\b|a(?= (?:hundred|dozen|thousand|million|billion)))"
    rf"(?:\s?(?:{_LARGE})(?!\w))?(?:\s?[$€£](?!\w))?(?![\w.])"
)
"""1,000, $5, 10k, two million, a dozen."""
_READ = re.compile(
    rf"(?:a(?=\s)|({'|'.join(_SMALL)})|([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?))\s*({_LARGE})?"
)
_MONTH = "(?:" + "|".join(f"{name}|{name[:3]}" for name in NAMES["month"]) + ")"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_DATE = (
    r"(?:\d{4}(?:-\d\d(?:-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?)?)?(?![\w-])"
    rf"|(?:{_DAY} (?:of )?)?{_MONTH}\.?(?: {_DAY},?)? \d{{4}}(?!\w))"
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


def _number(text: str) -> str:
    """A number as SQL writes it; whole ones are exact."""
    found = _READ.fullmatch(re.sub(r"[,_$€£]", "", text.lower()).strip())
    if found is None:
        raise NotPlain
    word, digits, scale = found.groups()
    if scale is None:
        return digits or str(_SMALL.index(word))
    value = float(digits or (_SMALL.index(word) if word else 1)) * _SCALE[scale[0]]
    return str(int(value)) if value == int(value) else repr(value)


def _moment(text: str) -> tuple[str, str | None]:
    """A date as SQL writes it, and the first day after it, if it is a year or a month."""
    try:
        numbers = [int(digits) for digits in re.findall(r"\d+", text)]
        if len(numbers) > 3:
            return quoted(datetime.fromisoformat(text).isoformat(sep=" ")), None
        if word := re.search(_MONTH, re.sub(r"\d(?:st|nd|rd|th)", "", text), re.IGNORECASE):
            numbers[:] = [numbers[-1], _number_of(word[0], "month"), *numbers[:-1]]
        year, month, day = (*numbers, 0, 0)[:3]
        first = date(year, month or 1, day or 1)
        if day:
            return quoted(first.isoformat()), None
        last = month or 12
        if year == MAXYEAR and last == 12:
            return quoted(first.isoformat()), ""
        return quoted(first.isoformat()), quoted(str(date(year + last // 12, last % 12 + 1, 1)))
    except (ValueError, IndexError, OverflowError):
        raise NotPlain from None


def _number_of(word: str, part: str) -> int:
    """The number of a month or a weekday; 0 for other words."""
    short = word.lower().rstrip(".")
    names = enumerate(NAMES[part], 1)
    return next((n for n, m in names if len(short) > 2 and f"{m}s".lower().startswith(short)), 0)


# -- what stands between a column and a value

_SIGN = r"<=|>=|=<|=>|<>|!=|==|[=<>≤≥≠]"
_MEANT = {"==": "=", "!=": "<>", "≠": "<>", "=<": "<=", "≤": "<=", "=>": ">=", "≥": ">="}
_BE = r"(?:is|are|was|were|(?:must |should |has to |can |will )?be|being|has been)"
_NOT = (
    rf"(?:(?:{_BE}|do|does|did|has|have|can|must|should|may)(?P<not> not| never|n['’]?t)?"
    r"(?: be)?\s+|(?P<not2>not|never|cannot)\s+)?(?:strictly )?"
)
"""What may stand before a verb."""
_KNOWN = "known|given|present|there|set|filled(?: in| out)?|available|non-?empty|specified|provided"
_UNKNOWN = "unknown|empty|missing|blank|null|absent|unset|none|nothing|n/a|left out|not there"
_ENDS = r"\b(?! (?!and |or |but )\w)(?: or (?:unknown|empty|missing|blank|null))?"
_NAMED = r"(?: both)?(?: the(?= \w))?(?: (?:words?|phrase|text|string|term)(?= ))?"
_EDGE = r"(?: (?:with|by|in|on)|(?= [^\w\s]))(?: the words?(?= ))?"
_MORE = "greater|more|larger|bigger|higher|later|above|over|after|older|longer"
_LESS = "less|fewer|smaller|lower|earlier|below|under|before|younger|shorter"
_VERBS = {
    "contains": "(?:contain(?:s|ing|ed)?|includ(?:es?|ing)|mentions?|says?|matches"
    f"|(?:with )?the words?|with the text|(?:talks? |speaks? )?about){_NAMED}",
    "lacks": rf"(?:lacks|without|excludes|no(?= [\"'“])){_NAMED}",
    "starts": f"(?:start|begin)(?:s|n?ing)?{_EDGE}",
    "ends": f"(?:end(?:s|ing)?|finishes){_EDGE}",
    "known": f"(?:{_KNOWN}){_ENDS}|exists?|(?:a|any|some) value|(?:any|some)thing(?! but| except)",
    "unknown": f"(?:{_UNKNOWN}){_ENDS}|no value",
    "<>": "(?:any|every)thing (?:but|except)|different (?:from|than|to)|differs from|other than"
    "|neither|none of",
    "= 0": r"zero\b(?! \w)",
    "> 0": r"positive\b",
    "< 0": r"negative\b",
    "between": "(?:(?:lies|ranges|falls) )?(?:between|from|in the range(?: of)?|within)",
    "<=": f"at most|no (?:{_MORE}) than|up to|until|till|(?:a )?max(?:imum)?(?: of)?"
    f"|(?:{_LESS})(?: than)? or equal(?: to)?",
    ">=": f"at least|no (?:{_LESS}) than|since|starting from|(?:a )?min(?:imum)?(?: of)?|from"
    f"|(?:{_MORE})(?: than)? or equal(?: to)?",
    ">": f"(?:{_MORE}|beyond|exceeding)(?: than)?|exceeds",
    "<": f"(?:{_LESS})(?: than)?",
    "=": r"one of|any of|either(?: of)?|among|in(?= ?\()|in the list|equal to|equals?|exactly"
    "|called|named|(?:on )?the same(?: day| date)? as|same as",
    "in": r"(?:in|during|on|at(?! least| most))(?: the)?(?: year| month)?(?: of)?",
}
"""What a verb means, and its words; of two that fit, the first is meant."""


@cache  # compiled when first needed: that takes a while
def _verbs() -> list[tuple[str, re.Pattern[str]]]:
    verbs = [(means, rf"{_NOT}(?:{words})") for means, words in _VERBS.items()]
    verbs.append(
        ("=", rf"(?:{_BE}(?P<not> not|n['’]?t)?|(?:must|should)(?P<not2> not|n['’]?t) be)")
    )
    return [(m, re.compile(rf"(?:{words})(?=\W|$)", re.IGNORECASE)) for m, words in verbs]


_LEAD = (
    r"(?:(?:where|if|when|because|that|which|whose|with|since|as|and|it is|items?|rows?|ones?|all"
    r"|everything|the|its|their|a|an|of|value of|column|field|it|they|this|there is|there are|has"
    r"|have|having|gives?|is|are|was|were|he|she|any)\s+)+"
)
_DENIED = (
    r"(?:(?:it |they )?(?:is|are|has|have|does|do)(?: not|n['’]?t)(?: have| give| be)?(?: any)?"
    r"|(?:it |there )?(?:has|have|is|are) no|not|no|without|lacks)(?=[\s(])"
)
_PARTS = "(year|month|day|length|weekday)"
_OR_MORE = rf"(?:{_MORE}|up|upwards|(?P<less>{_LESS}))(?!\w)(?! than)"
_AMOUNT = (  # the number first: more than 4 legs, six or more legs, 10 < size
    rf"(?:(?:the|this|it|an?) \w+ (?:has|have|with)\s+)?(?:{_LEAD})?"
    rf"(?P<said>(?:(?:{'|'.join(_VERBS[op] for op in ('<=', '>=', '<', '>', 'between', '='))})\s+)?"
    rf"{_NUMBER}(?:\s+(?:and|to)\s+{_NUMBER}|\s+or {_OR_MORE.replace('?P<less>', '')})?)"
    rf"(?:\s*(?P<sign>{_SIGN})|(?=\s))"
)
_RANGE = r"(?:is |in )?(\d+(?:\.\d+)?)(?:\s*(?:\.\.+|–|-)\s*| to )(\d+(?:\.\d+)?)(?![\w.-])"
_NO_VALUE = (
    rf"(?:not )?(?:at (?:least|most)|(?:{_MORE}|{_LESS}) than|(?:one|any|none) of|n?either)\b"
)
_ENDED = r"[,)]|(?:and|or|nor|but|&&?|\|\|?)(?=\s)"
_WEIGHT = r"(minus )?(\d{1,9}) for(?=[\s(])"
_SIGN_MEANT = re.compile(
    r"\b(?:with|in|by|contains?|containing|has|an?|the) [.;!?]+$", re.IGNORECASE
)
"""A sign that does not end the sentence: `title ends with a ?`."""
_QUOTED = re.compile(r"""\s*("[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|(?<!\w)'[^']*'(?!\w)|`[^`]*`)""")


class _Operand(NamedTuple):
    """A column, or a part of it, as SQL writes it."""

    text: str
    type: Type
    column: str
    part: str = ""


class _Reader:
    """Reads a text from left to right, and writes a condition."""

    def __init__(self, text: str, schema: Mapping[str, Type]) -> None:
        self.text, self.at, self.schema = text.strip(), 0, schema
        if not _SIGN_MEANT.search(self.text):
            self.text = self.text.rstrip(".;!?").strip()
        self.names = _names(tuple(schema))
        self.last: _Operand | None = None
        """What was spoken of last."""
        self.means = ""
        """The verb of its last pattern."""

    # -- the text

    @property
    def rest(self) -> str:
        return self.text[self.at :]

    def take(self, words: str | re.Pattern[str]) -> re.Match[str] | None:
        pattern = re.compile(words, re.IGNORECASE) if isinstance(words, str) else words
        start = self.at + len(self.rest) - len(self.rest.lstrip())
        found = pattern.match(self.text, start)
        if found is None or found.end() == start:
            return None
        self.at = found.end()
        return found

    def peek(self, words: str | re.Pattern[str]) -> bool:
        start = self.at
        found = self.take(words) is not None
        self.at = start
        return found

    def want(self, words: str | re.Pattern[str]) -> re.Match[str]:
        found = self.take(words)
        if found is None:
            raise NotPlain
        return found

    # -- and, or, not, brackets

    def condition(self) -> str:
        made = self.either()
        if self.rest.strip():
            raise NotPlain
        return made

    def either(self) -> str:
        if not {"both", "either"} & self.schema.keys():
            self.take(r"(?:it )?(?:has |is )?(?:both|either)(?=\s)")
        parts = [self.both()]
        while self.take(r",?\s*(?:or(?: else)?|\|\|?)(?=[\s(\"])"):
            parts.append(self.both())
        return _joined(parts, "OR")

    def both(self) -> str:
        parts = [self.one()]
        while self.take(r",?\s*(?:and(?: also)?|but(?: also)?|&&?)(?=[\s(\"])"):
            parts.append(self.one())
        return _joined(parts, "AND")

    def one(self) -> str:
        if self.take(r"(?:it (?:is|has) )?neither(?=\s)"):
            parts = [self.one()]
            while self.take(r",?\s*nor(?=\s)"):
                parts.append(self.one())
            return _not(_joined(parts, "OR"))
        negated = False
        while self.take(_DENIED):
            negated = not negated
        if self.take(r"\("):
            made = self.either()
            self.want(r"\)")
            return _not(made, negated)
        return self.points(negated) or self.statement(negated)

    def points(self, negated: bool) -> str | None:
        """At least 2 of (a, b, c), or at least 3 points (2 for a, 1 for b, minus 1 for c)."""
        amount = self.take(r"(?:it (?:has|is) )?(at least|fewer than) (-?\d{1,9}) (of|points?) ?\(")
        if amount is None:
            return None
        terms: list[str] = []
        while not terms or not self.take(r"\)"):
            if terms:
                self.want(",")
            weight = ""
            if amount[3].lower() != "of":
                said = self.want(_WEIGHT)
                weight = f"{'-' if said[1] else ''}{said[2]} * "
            terms.append(f"{weight}({self.either()})")
        made = f"at_least({', '.join([amount[2], *terms])})"
        return _not(made, negated != (amount[1].lower() != "at least"))

    # -- statements

    def statement(self, negated: bool) -> str:
        """A column, a verb and values; or what is said of the last column again."""
        operand = self.operand()
        if operand is None and self.number_first(negated):
            operand = self.operand()
        if operand is None:
            if self.last is None:
                raise NotPlain
            operand = self.last  # "size is above 5 and below 10"
            if self.means and (negated or _QUOTED.match(self.rest)):  # "contains a but not b"
                return _not(self.pattern(self.means, operand), negated)
        self.last, self.means = operand, ""
        if self.peek(_ENDED) or not self.rest.strip():
            if operand.type is Type.BOOL:
                return _not(operand.text, negated)
            if negated:  # no legs: there are 0; no tags: they are not known
                return f"{operand.text} {'= 0' if operand.type.numeric else 'IS NULL'}"
            raise NotPlain
        return _not(self.said(operand), negated)

    def said(self, operand: _Operand) -> str:
        """What is said of a column."""
        if sign := self.take(_SIGN):
            return self.compared(_MEANT.get(sign[0], sign[0]), operand)
        if operand.type.numeric and (ends := self.take(_RANGE)):
            return f"{operand.text} BETWEEN {ends[1]} AND {ends[2]}"
        start = self.at
        for means, verb in _verbs():
            if found := self.take(verb):
                groups = found.groupdict()
                try:
                    made = self.meant(means, operand)
                    return _not(made, bool(groups.get("not") or groups.get("not2")))
                except NotPlain:
                    self.at = start
        if operand.type.numeric and self.peek(_NUMBER):  # "legs 4 or more"
            return self.compared("=", operand)
        if operand.type is not Type.BOOL and self.take(r"not(?=\s)"):  # "package not vim"
            return self.compared("<>", operand)
        raise NotPlain

    def number_first(self, negated: bool) -> bool:
        """Turn `more than 4 legs` into `legs more than 4`, `10 < size < 20` into `size > 10 and
        < 20`."""
        start, found = self.at, self.take(_AMOUNT)
        operand = self.operand() if found else None
        if found is None or operand is None or not operand.type.numeric or operand.part:
            self.at = start
            return False
        said, sign, twice = found["said"], found["sign"], self.peek(_SIGN)
        if sign is not None:
            if negated and twice:
                raise NotPlain
            sign = _MEANT.get(sign, sign)
            said = f"{MIRROR.get(sign, sign)} {said}{' and' if twice else ''}"
        self.text, self.at = f"{operand.text} {said}{self.rest}", 0
        return True

    def meant(self, means: str, operand: _Operand) -> str:
        """What a verb says of a column; what follows the verb is read."""
        if means in ("known", "unknown"):
            return f"{operand.text} IS {'NOT ' if means == 'known' else ''}NULL"
        if means in ("contains", "lacks", "starts", "ends"):
            return self.pattern(means, operand)
        if means.endswith("0"):
            if not operand.type.numeric:
                raise NotPlain
            return f"{operand.text} {means}"
        if means == "between":
            low = self.value(operand)[0]
            self.want(r"and|to|-|–|until|till")
            return f"{operand.text} >= {low} AND {self.compared('<=', operand)}"
        if means == "in" and operand.type.temporal:
            return self.within(operand)
        return self.compared("=" if means == "in" else means, operand)

    def pattern(self, means: str, operand: _Operand) -> str:
        """Contains, lacks, starts with or ends with one of some values, or all of them."""
        if operand.type is not Type.TEXT:
            raise NotPlain
        made, (values, joint), self.means = [], self.values(operand), means
        for value in values:
            wanted = value[1:-1].replace("''", "'")
            if not wanted:
                raise NotPlain
            before = () if means == "starts" else (Wild.ANY,)
            after = () if means == "ends" else (Wild.ANY,)
            verb = "LIKE" if self.take(r"\(case matters\)") else "ILIKE"
            made.append(f"{operand.text} {verb} {pattern((*before, wanted, *after))}")
        return _not(_joined(made, "AND" if joint == "and" else "OR"), means == "lacks")

    def compared(self, op: str, operand: _Operand) -> str:
        if operand.type is Type.BOOL:
            word = self.want(r"(?:true|yes|y|false|no|n|1|0)(?=\W|$)")
            if op not in ("=", "<>"):
                raise NotPlain
            return f"{operand.text} {op} {word[0].lower() in ('true', 'yes', 'y', '1')}"
        other = self.operand(of=operand)
        if other is not None:
            return f"{operand.text} {op} {other.text}"
        if op in ("=", "<>"):
            return self.equal(op, operand)
        if operand.type is Type.TEXT:  # "longer than 40 characters"; texts have no other order
            bare = re.search(
                r"(?:longer|shorter)(?: than)?\s*$", self.text[: self.at], re.IGNORECASE
            )
            unit = r"\s*(?:characters?|chars?|letters?)(?!\w)"
            longer = self.want(rf"(\d+)(?:{unit}{'|(?![^ ])' if bare else ''})")
            return f"length({operand.text}) {op} {longer[1]}"
        value, following = self.value(operand)
        if following is None or op in ("<", ">="):
            return f"{operand.text} {op} {value}"
        if not following:
            raise NotPlain
        return f"{operand.text} {'>=' if op == '>' else '<'} {following}"  # after its last day

    def equal(self, op: str, operand: _Operand) -> str:
        """One value, or one of several; or a number or date "or more"."""
        bracket, (values, _) = self.take(r"\("), self.values(operand)
        if bracket:
            self.want(r"\)")
        elif len(values) == 1 and (more := self.take(rf"(?:or|and) {_OR_MORE}")):
            if operand.type is Type.TEXT:
                raise NotPlain
            return f"{operand.text} {'<=' if more['less'] else '>='} {values[0]}"
        return f"{operand.text} {'NOT ' if op == '<>' else ''}IN ({', '.join(values)})"

    def within(self, operand: _Operand) -> str:
        """In 2012, in July, in July 2012, on a Monday, on weekends; or on a day."""
        made = []
        if self.take(r"(?:an? |the )?weekends?(?!\w)"):
            made.append(f"weekday({operand.text}) IN (6, 7)")
        elif self.take(r"(?:an? )?(?:week|work|working )days?(?!\w)"):
            made.append(f"weekday({operand.text}) <= 5")
        for part, names in NAMES.items():
            said = self.take("(?:an? )?(" + "|".join(f"{n}s?|{n[:3]}" for n in names) + r")(?!\w)")
            if said is not None:
                made.append(f"{part}({operand.text}) = {_number_of(said[1], part)}")
        if year := self.take(r"(?:of )?(\d{4})(?![-\d])"):
            made.append(f"year({operand.text}) = {year[1]}")
        return _joined(made, "AND") if made else f"{operand.text} = {self.value(operand)[0]}"

    # -- columns and values

    def operand(self, of: _Operand | None = None) -> _Operand | None:
        """A column, or its year, month or length; after a comparison, one of the same kind.

        What is quoted and compared with a text is a text.
        """
        start = self.at
        if of is not None and of.type is Type.TEXT and _QUOTED.match(self.rest):
            return None
        self.take(_LEAD)
        part = self.take(rf"(?:the )?{_PARTS} (?:of|in) (?:the )?")
        name = self.column()
        if name is None:
            self.at, part = start, None
            name = self.column()  # a column may be called as a filling word is
        if name is None:
            return None
        self.take(r"(?:['’]s )?(?:name|value|field|column|of)(?=\s)")
        kind, text = self.schema[name], identifier(name)
        part = part or self.take(rf"(?:['’]s\s+)?{_PARTS}(?=\s)")  # date year is 2012
        if part is not None:
            called = part[1].lower()
            if not (kind.temporal or (called == "length" and kind is Type.TEXT)):
                raise NotPlain
            made = _Operand(f"{called}({text})", Type.INTEGER, name, called)
        else:
            made = _Operand(text, kind, name)
        if of is not None and _kind(made.type) != _kind(of.type):
            self.at = start
            return None
        return made

    def column(self) -> str | None:
        text = self.rest.lstrip()
        for shown, name in self.names.get(text[:1].lower(), ()):
            following = text[len(shown) : len(shown) + 1]
            if text[: len(shown)].lower() == shown and not (
                shown[-1].isalnum() and (following.isalnum() or following == "_")
            ):
                self.at = len(self.text) - len(text) + len(shown)
                return name
        return None

    def values(self, operand: _Operand) -> tuple[list[str], str]:
        """Values, and what joins them: a comma, or, nor; `and` only where they are quoted."""
        found, joint = [self.value(operand)[0]], ""
        while True:
            start, sign = self.at, self.take(r",?\s*(or|nor|and)(?=\s)|,")
            quote = _QUOTED.match(self.rest) is not None
            if (
                sign is None
                or ((sign[1] or "").lower() == "and" and not quote)
                or self.peek(rf"{_OR_MORE}|{_WEIGHT}")
                or self.begins_statement(quote=quote and operand.type is Type.TEXT)
            ):
                self.at = start
                return found, joint
            joint = (sign[1] or joint).lower()
            found.append(self.value(operand)[0])

    def begins_statement(self, *, quote: bool) -> bool:
        """Whether a column comes next, not a value; in quotes only if a verb follows."""
        start = self.at
        self.take(rf"(?:(?:not|no|it|has|is|the|its|an?|gives?)\s+)*(?:{_PARTS} (?:of|in)\s+)?")
        begins = self.column() is not None and not quote
        begins = begins or self.peek(_SIGN)
        begins = begins or any(self.peek(verb) for means, verb in _verbs() if means != "in")
        self.at = start
        return begins

    def value(self, operand: _Operand) -> tuple[str, str | None]:
        """A literal for an operand, as SQL writes it; of a year or month, also the day after it."""
        self.take(r"(?:an?|the)\s+(?=[^\w\s]|\w(?:$|\s+(?:and|or|but)\s))")
        if operand.type is Type.BOOL:
            raise NotPlain
        if found := self.take(_QUOTED):
            written = found[1][1:-1]
            if len(written) == LONGEST_SHOWN and written.endswith("…"):
                raise NotPlain  # `phrasing` has cut it short
            return self.literal(written, operand)
        if operand.type is Type.TEXT:  # the words up to `and`, `or`, a comma or the end
            found = self.want(r"(?:(?!\s+(?:and|or|nor|but)(?:\s|$))[^,)])+")
            written = found[0].strip()
            if not written or set(written) & set('(=<>≤≥≠"“”') or written[0] in "'`":
                raise NotPlain
            if re.match(_NO_VALUE, written, re.IGNORECASE):
                raise NotPlain
            return quoted(written), None
        if operand.part in NAMES and (word := self.take(r"[a-z]+\.?")):
            if known := _number_of(word[0], operand.part):
                return str(known), None
            raise NotPlain
        made = self.literal(self.want(_NUMBER if operand.type.numeric else _DATE)[0], operand)
        units = "characters?|letters?|chars?|years?|days?|items?|dollars?|units?"
        if not operand.part and (unit := unit_of(operand.column)[1]):
            units += f"|{re.escape(unit)}"
        self.take(rf"(?:{units})(?=\W|$)")
        return made

    def literal(self, written: str, operand: _Operand) -> tuple[str, str | None]:
        if operand.type is Type.TEXT:
            return quoted(written), None
        if operand.type.numeric:
            return _number(written), None
        if not re.fullmatch(_DATE, written, re.IGNORECASE):
            raise NotPlain
        return _moment(written)


@cache
def _names(columns: tuple[str, ...]) -> dict[str, list[tuple[str, str]]]:
    """How columns may be written, by the first letter, the longest first; of two alike, the exact
    one."""
    written = [
        *((name, name) for name in columns),
        *((f"{sign}{name}{sign}", name) for name in columns for sign in "\"'`"),
        *((name.replace("_", " "), name) for name in columns),
        *((name.replace(" ", "_"), name) for name in columns),
        *((unit_of(name)[0].replace("_", " "), name) for name in columns),
    ]
    found: dict[str, list[tuple[str, str]]] = {}
    for shown, name in sorted(written, key=lambda pair: -len(pair[0])):
        found.setdefault(shown[:1].lower(), []).append((shown.lower(), name))
    return found


def _kind(kind: Type) -> str:
    return "number" if kind.numeric else "moment" if kind.temporal else kind.value


def _joined(parts: list[str], word: str) -> str:
    return parts[0] if len(parts) == 1 else f" {word} ".join(f"({part})" for part in parts)


def _not(condition: str, negated: bool = True) -> str:
    return f"NOT ({condition})" if negated else condition


# -- the nearest condition

_SPELLED = sorted({*re.findall("[a-z]{4,}", " ".join(_VERBS.values())), "unknown"})
_JOINTS = ("and", "or", "but", "not")
_FILL = frozenset(
    re.findall(
        r"\w+",
        """is are was the a an of in it its has have contains contain containing with word words
        text not no any some there like ilike than more less greater at least most equals equal to
        be""",
    )
)
_MOST_WORDS = 40  # are compared with the names of all columns


def nearest(text: str, schema: Mapping[str, Type]) -> str | None:
    """The nearest condition to a text that is none, if one is found.

    Names of columns and verbs are spelled right, a missing verb is added, and units and an
    unfinished end are left out.

    >>> schema = {"weight": Type.NUMBER, "name": Type.TEXT}
    >>> for said in ("wieght is biger then 5", "weight over 5 kg", "name contians cat and"):
    ...     print(nearest(said, schema))
    weight > 5
    weight > 5
    name ILIKE '%cat%'
    """
    if len(text) > LONGEST or not schema:
        return None
    words = re.findall(r"(?:[^\s:=<>]|:(?=[^\s=]))+|[=<>]+", text)[:_MOST_WORDS]
    while words and words[-1].lower() in _JOINTS:
        words.pop()
    name, before, after = _column_among(words, schema)
    if name is not None:
        spelled = [*map(_spelled, before), f'"{name}"', *map(_spelled, after)]
        for way in ([*before, f'"{name}"', *after], spelled, _without_units(spelled)):
            if (made := rewritten(" ".join(way), schema)) is not None:
                return made
    value = " ".join(w for w in (*before, *after) if w.lower() not in _FILL).strip("\"'%*=<>: ")
    if name is None and 0 < len(value) <= 100:
        name = next((name for name, kind in schema.items() if kind is Type.TEXT), None)
    return name and _about(name, schema[name], value)


def _column_among(
    words: list[str], schema: Mapping[str, Type]
) -> tuple[str | None, list[str], list[str]]:
    """The column that some of the words are nearly called, and the words before and after."""
    for size in (3, 2, 1):
        names = {
            name.lower().replace("_", " "): name
            for name in schema
            if len(re.split(r"[\s_]", name)) == size or size == 1
        }
        for start in range(len(words) - size + 1):
            some = " ".join(words[start : start + size]).strip("\"'`").lower()
            close = difflib.get_close_matches(some, names, 1, 0.75) or [
                name for name in names if some in name.split()
            ]
            if close and len(some) > 2:
                return names[close[0]], words[:start], words[start + size :]
    return None, words, []


def _spelled(word: str) -> str:
    """A misspelled word of a verb, spelled right; other words as they are."""
    if word.lower() == "then":
        return "than"
    if not word.isalpha() or len(word) < 4 or word.lower() in _SPELLED:
        return word
    return next(iter(difflib.get_close_matches(word.lower(), _SPELLED, 1, 0.8)), word)


def _without_units(words: list[str]) -> list[str]:
    """The words without those that follow a number."""
    return [
        word
        for before, word in pairwise(["", *words])
        if word.lower() in _JOINTS or not (word.isalpha() and re.fullmatch(_NUMBER, before))
    ]


def _about(name: str, kind: Type, value: str) -> str:
    """The plainest condition on a column with a value."""
    column = identifier(name)
    if kind is Type.BOOL:
        return column
    if kind is Type.TEXT and value:
        return f"{column} ILIKE {pattern((Wild.ANY, value, Wild.ANY))}"
    words = value.split()
    first = next((word for word in words if any(map(str.isdigit, word))), value.lower())
    try:
        found = _number(first) if kind.numeric else _moment(first)[0]
    except NotPlain:
        return f"{column} IS NOT NULL"
    return f"{column} {'=' if kind is Type.INTEGER else '>='} {found}"
