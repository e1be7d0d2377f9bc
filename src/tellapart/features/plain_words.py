"""Conditions in plain words: `summary contains "game"`, `tags is known`, `size is at least 10k`.

`parse_feature` reads a text as SQL first, and then as plain words. What `phrasing.spoken` shows can
be written. `read` makes the syntax tree, of which nothing is evaluated; `near_misses` finds a valid
form for a text that is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import MAXYEAR, date, datetime, time
from functools import cache
from typing import Any

from tellapart.features import canonical, tree
from tellapart.features.combinations import MOST_POINTS
from tellapart.features.tree import NAMES, Column, Node, Type, Value, Wild

LONGEST = 1_000
"""The most characters of a condition in plain words."""
LONGEST_SHOWN = 60
"""The most characters of a value that people are shown."""

_TOKEN = re.compile(
    r"""(?P<quoted>"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|(?<!\w)'[^']*'(?!\w)|`[^`]*`)"""
    r"|(?P<sign><=|>=|=<|=>|<>|!=|==|[=<>≤≥≠(),])|(?P<word>[^\s=<>≤≥≠(),\"“”„«»`]+)"
)
_OPS = {"=": "=", "==": "=", "!=": "<>", "<>": "<>", "≠": "<>", "<": "<", ">": ">"}
_OPS |= {"<=": "<=", "=<": "<=", "≤": "<=", ">=": ">=", "=>": ">=", "≥": ">="}
_NOT = r"(?P<not>(?:do|does|did|is|are|was|has|can)(?:n['’]?t| not)|not|never|cannot)\s+"
_IS = r"(?:is|are|was|were|be|being|has been|equals?)"
_THAN = r"(?:\s+(?:than|to))?"


def _verbs() -> Iterator[tuple[str, str]]:
    """(what it means, the words) of every verb; longer ones first."""
    maybe = f"(?:{_NOT})?"
    contain = (
        "contains?|contain(?:ing|ed)|includes?|including|mentions?|has the words?|have the words?"
    )
    contain += "|says?|matches|(?:has|have|with) the text|(?:has|have) in it"
    yield (
        "contains",
        f"{maybe}(?:{contain})(?: the(?= \\w))?(?: (?:words?|phrase|text|string|term)(?= ))?",
    )
    yield (
        "lacks",
        "(?:lacks|is without|without|excludes)(?: the(?= \\w))?(?: (?:words?|text)(?= ))?",
    )
    yield (
        "starts",
        f"{maybe}(?:starts?|begins?|starting|beginning) (?:with|by|in)(?: the words?(?= ))?",
    )
    yield "ends", f"{maybe}(?:ends?|ending|finishes) (?:with|in|on|by)(?: the words?(?= ))?"
    known = (
        "known|given|present|there|set|filled(?: in| out)?|available|non-?empty|specified|provided"
    )
    unknown = "unknown|empty|missing|blank|null|absent|unset|none|nothing|n/a|left out|not there"
    end = r"\b(?! (?!and |or |but )\w)(?: or (?:unknown|empty|missing|blank|null))?"
    yield (
        "known",
        rf"{_IS}(?P<not> not|n['’]?t)? (?:{known}){end}|exists|(?:has|have) (?:a|any|some) value",
    )
    yield "unknown", rf"{_IS}(?P<not> not|n['’]?t)? (?:{unknown}){end}|(?:has|have) no value"
    yield "known", rf"{_IS} (?:anything|something)"
    yield "unknown", r"does(?:n['’]?t| not) exist|(?:has|have) nothing"
    isn = rf"(?:(?:{_IS})(?P<not> not|n['’]?t)?\s+|(?P<not2>not )?)"
    yield "zero", rf"{isn}zero\b(?! \w)"
    yield "positive", rf"{isn}positive\b"
    yield "negative", rf"{isn}negative\b"
    yield "between", rf"{isn}(?:between|from|in the range(?: of)?|within)"
    most = "at most|no (?:more|greater|larger|higher|later|longer) than|up to|until|till|not above"
    most += "|not over|not more than|maximum|less than or equal to|smaller than or equal to|max"
    least = "at least|no (?:less|fewer|smaller|lower|earlier|shorter) than|since|starting from"
    least += "|not below|not under|not less than|minimum|from|greater than or equal to"
    least += "|more than or equal to|larger than or equal to|min"
    yield "<=", rf"(?:{isn})?(?:{most}){_THAN}"
    yield ">=", rf"(?:{isn})?(?:{least}){_THAN}"
    more = "greater|more|larger|bigger|higher|later|above|over|after|older|longer|exceeding"
    less = "less|fewer|smaller|lower|earlier|below|under|before|younger|shorter"
    yield ">", rf"(?:{isn})?(?:{more}){_THAN}|exceeds"
    yield "<", rf"(?:{isn})?(?:{less}){_THAN}"
    yield "neither", rf"{_IS} (?:neither|none of|not (?:one|any|either) (?:of|in)|not in)"
    yield "neither", rf"{_IS}n['’]?t (?:one|any|either) of|not in"
    yield "one of", rf"(?:{_IS} )?(?:one of|any of|either(?: of)?|among|in(?= \()|in the list)"
    yield "in", rf"{isn}(?:in|during|on)(?: the)?(?: year| month)?(?: of)?"
    yield (
        "<>",
        rf"{_IS}(?: not|n['’]?t)(?: equal to| the same as| exactly)?|does(?:n['’]?t| not) equal",
    )
    yield "<>", r"differs from|is different (?:from|than|to)|is other than|other than|not equal to"
    yield "=", rf"{_IS} (?:equal to|the same as|exactly|called|named)|{_IS}|equal to|same as"


@cache  # compiled when first needed: that takes a while
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    return [(means, re.compile(rf"(?:{verb})(?=\W|$)", re.IGNORECASE)) for means, verb in _verbs()]


_LEAD = re.compile(
    r"(?:(?:where|if|when|because|that|which|whose|with|since|as|and|it is|items?|rows?|ones?|all"
    r"|everything|the|its|their|a|an|of|value of|column|field|it|they|this|there is|there are|has"
    r"|have|having|is|are|he|she)\s+)+",
    re.IGNORECASE,
)
_PART = re.compile(r"(?:the )?(year|month|day|length|weekday) (?:of|in) (?:the )?", re.IGNORECASE)
_AFTER = re.compile(r"(?:['’]s\s+)?(year|month|day|length|weekday)\b", re.IGNORECASE)
WRITTEN = re.compile(
    r"[-+]?[$€£]?(?:\d{1,3}(?:[,_]\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?"
    r"(?:\s?(?:k|thousand|millions?|mio|m|bn|billions?|b|percent|%)(?!\w))?(?![\w.])",
    re.IGNORECASE,
)
_SCALE = {"k": 1e3, "t": 1e3, "m": 1e6, "b": 1e9, "p": 1.0, "%": 1.0}
_NUMBER = re.compile(r"[-+]?[$€£]?(\d{1,3}(?:[,_ ]\d{3})+|\d+)?(\.\d+)?(e[-+]?\d+)?", re.IGNORECASE)
_SMALL = {
    word: n
    for n, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    )
}


_WEIGHT = r"(minus )?(\d{1,9}) for(?=[\s(])"
_OR_MORE = re.compile(
    r"(?:(?:more|over|above|greater|later|higher|up|upwards|larger|after|older|newer|longer)"
    r"|(?P<less>less|fewer|below|under|earlier|lower|smaller|before|younger|shorter))"
    r"(?!\w)(?! than)",
    re.IGNORECASE,
)


class NotPlain(Exception):
    """A text that is no condition in plain words."""


def read(text: str, schema: Mapping[str, Type]) -> Node | None:
    """The tree of a condition in plain words; None if it is none.

    >>> schema = {"summary": Type.TEXT, "installed size": Type.INTEGER, "milk": Type.BOOL}
    >>> said = 'summary contains "game" and installed size is at least 10k, but not milk'
    >>> made = read(said, schema)
    >>> tree.text(made) if made else None
    '"installed size" >= 10000 AND NOT milk AND summary ILIKE \\'%game%\\''
    """
    if len(text) > LONGEST or not text.isprintable():
        return None
    try:
        return canonical.feature(_Reader(text, schema).condition())
    except (NotPlain, RecursionError):
        return None


class _Reader:
    """Reads a text from left to right."""

    def __init__(self, text: str, schema: Mapping[str, Type]) -> None:
        self.text, self.at, self.schema = text.strip().rstrip(".;!?").strip(), 0, schema
        self.names = sorted(schema, key=lambda name: -len(name))
        self.last: Node | None = None

    # -- and, or, not, brackets

    def condition(self) -> Node:
        made = self.either()
        if self.rest().strip():
            raise NotPlain
        return made

    def either(self) -> Node:
        parts = [self.both()]
        while self.take(r",?\s*(?:or(?: else)?|\|\|?)(?=[\s(\"])"):
            if self.last is not None and self.take(r"unknown(?!\w)"):
                parts.append(canonical.is_null(self.last))
            else:
                parts.append(self.both())
        return canonical.either(parts)

    def both(self) -> Node:
        parts = [self.one()]
        while self.take(r",?\s*(?:and(?: also)?|but(?: also)?|&&?)(?=[\s(\"])"):
            parts.append(self.one())
        return canonical.both(parts)

    def one(self) -> Node:
        negated = False
        while self.take(
            r"(?:not|no|without|it is not|it has no|has no|does not have|lacks)(?=[\s(])"
        ):
            negated = not negated
        if self.take(r"\("):
            made = self.either()
            if not self.take(r"\)"):
                raise NotPlain
        else:
            made = self.points() or self.statement()
        return canonical.negate(made) if negated else made

    def points(self) -> Node | None:
        """At least 2 of (a, b, c), or at least 3 points (2 for a, 1 for b, minus 1 for c)."""
        start = self.at
        amount = self.take(r"(?:it (?:has|is) )?(at least|fewer than) (-?\d{1,9}) (of|points?) ?\(")
        if amount is None:
            self.at = start
            return None
        terms: list[tuple[Node, int]] = []
        while True:
            weight = 1
            if amount[3] != "of":
                said = self.take(_WEIGHT)
                if said is None:
                    raise NotPlain
                weight = int(said[2]) * (-1 if said[1] else 1)
            terms.append((self.either(), weight))
            if self.take(r"\)"):
                break
            if not self.take(","):
                raise NotPlain
        if sum(abs(weight) for _, weight in terms) > MOST_POINTS:
            raise NotPlain
        made = canonical.points(terms, int(amount[2]))
        return made if amount[1].lower() == "at least" else canonical.negate(made)

    # -- statements

    def statement(self) -> Node:
        operand = self.operand()
        if operand is None:
            if self.last is None:
                raise NotPlain
            operand = self.last  # "size is above 5 and below 10"
        self.last = operand
        if sign := self.take(r"<=|>=|=<|=>|<>|!=|==|[=<>≤≥≠]"):
            return self.compared(_OPS[sign[0]], operand)
        for means, verb in _patterns():
            start = self.at
            found = self.take_pattern(verb)
            if found is not None:
                groups = found.groupdict()
                negated = bool(groups.get("not") or groups.get("not2"))
                try:
                    return self.said(means, operand, negated)
                except NotPlain:
                    self.at = start
        if operand.type is Type.BOOL and not re.match(r"\s*\w", self.rest_before_joint()):
            return operand
        raise NotPlain

    def said(self, means: str, operand: Node, negated: bool) -> Node:
        if means in ("known", "unknown"):
            null = canonical.is_null(operand)
            return null if (means == "unknown") != negated else canonical.negate(null)
        made = self._said(means, operand)
        return canonical.negate(made) if negated else made

    def _said(self, means: str, operand: Node) -> Node:
        if means in ("contains", "lacks", "starts", "ends"):
            return self.pattern(means, operand)
        if means in ("zero", "positive", "negative"):
            if not operand.type.numeric:
                raise NotPlain
            op = {"zero": "=", "positive": ">", "negative": "<"}[means]
            return canonical.compare(op, operand, Value(0, Type.INTEGER))
        if means == "between":
            low = self.value(operand)
            if not self.take(r"and|to|-|–|until|till"):
                raise NotPlain
            high = self.value(operand)
            parts = [canonical.compare(">=", operand, low), canonical.compare("<=", operand, high)]
            return canonical.both(parts)
        if means in ("one of", "neither"):
            made = canonical.is_in(operand, self.values(operand))
            return canonical.negate(made) if means == "neither" else made
        if means == "in":
            return self.within(operand)
        return self.compared(means, operand)

    def pattern(self, means: str, operand: Node) -> Node:
        if operand.type is not Type.TEXT:
            raise NotPlain
        made = []
        for value in self.listed(operand):
            wanted = str(value.value)
            if not wanted:
                raise NotPlain
            before = () if means == "starts" else (Wild.ANY,)
            after = () if means == "ends" else (Wild.ANY,)
            exact = self.take(r"\(case matters\)") is not None
            made.append(canonical.like(operand, (*before, wanted, *after), fold=not exact))
        found = canonical.both(made) if self.joint == "and" else canonical.either(made)
        return canonical.negate(found) if means == "lacks" else found

    def compared(self, op: str, operand: Node) -> Node:
        if operand.type is Type.BOOL:
            word = self.take(r"(?:true|yes|y|false|no|n|1|0)(?=\W|$)")
            if word is None or op not in ("=", "<>"):
                raise NotPlain
            wanted = word[0].lower() in ("true", "yes", "y", "1")
            return operand if wanted == (op == "=") else canonical.negate(operand)
        other = self.operand(of=operand)
        if other is not None:
            return canonical.compare(op, operand, other)
        if op in ("=", "<>"):
            whole = self.take(r"(?:either|one of|any of)(?=\s)") is not None
            values = self.values(operand) if whole else self.listed(operand)
            start, joint = self.at, self.take(r"(?:or|and)(?=\s)")
            direction = self.take_pattern(_OR_MORE) if joint is not None else None
            if direction is None or len(values) > 1 or operand.type is Type.TEXT:
                self.at = start
            else:
                return canonical.compare("<=" if direction["less"] else ">=", operand, values[0])
            made = canonical.is_in(operand, values)
            return canonical.negate(made) if op == "<>" else made
        if operand.type is Type.TEXT:  # "longer than 40 characters"; texts have no other order
            longer = self.take(r"(\d+)\s*(?:characters?|chars?|letters?)(?!\w)")
            if longer is None:
                raise NotPlain
            length = canonical.call("length", operand)
            return canonical.compare(op, length, Value(int(longer[1]), Type.INTEGER))
        value = self.value(operand)
        if operand.type.temporal and op in (">", "<=") and self.year_only:
            # after 2010 means after its last day
            if (year := value.value.year + 1) > MAXYEAR:
                raise NotPlain
            moment = canonical.literal(value.value.replace(year=year), operand.type)
            return canonical.compare(">=" if op == ">" else "<", operand, moment)
        return canonical.compare(op, operand, value)

    def within(self, operand: Node) -> Node:
        """In 2012, in July, in July 2012; or one of some values."""
        if not operand.type.temporal:
            return canonical.is_in(operand, self.values(operand))
        parts: list[Node] = []
        if self.take(r"(?:a |the )?weekends?(?!\w)"):
            days = [Value(n, Type.INTEGER) for n in (6, 7)]
            parts.append(canonical.is_in(canonical.call("weekday", operand), days))
        elif self.take(r"(?:a )?(?:weekdays?|workdays?|working days?)(?!\w)"):
            five = Value(5, Type.INTEGER)
            parts.append(canonical.compare("<=", canonical.call("weekday", operand), five))
        for part, names in NAMES.items():
            said = self.take("(?:an? )?(" + "|".join(f"{n}s?|{n[:3]}" for n in names) + r")(?!\w)")
            if said is not None:
                number = Value(_number_of(said[1], part), Type.INTEGER)
                parts.append(canonical.compare("=", canonical.call(part, operand), number))
        if year := self.take(r"(?:of )?(\d{4})(?![-\d])"):
            call = canonical.call("year", operand)
            parts.append(canonical.compare("=", call, Value(int(year[1]), Type.INTEGER)))
        if not parts:
            return canonical.compare("=", operand, self.value(operand))
        return canonical.both(parts)

    # -- columns and values

    def operand(self, of: Node | None = None) -> Node | None:
        """A column, or its year, month or length; after a comparison, one of the same kind.

        What is quoted and compared with a text is a text.
        """
        start = self.at
        if of is not None and of.type is Type.TEXT and self.is_quoted():
            return None
        self.take_pattern(_LEAD)
        call = self.take_pattern(_PART)
        column = self.column()
        if column is None:
            self.at = start
            column = self.column()  # a column may be called as a filling word is
            call = None
        if column is None:
            self.at = start
            return None
        made: Node = column
        part = call or (self.take_pattern(_AFTER) if self.after_verb() else None)
        if part is not None:
            name = part[1].lower()
            if (name == "length" and column.type is Type.TEXT) or column.type.temporal:
                made = canonical.call(name, column)
            else:
                raise NotPlain
        if of is not None and not _same_kind(made.type, of.type):
            self.at = start
            return None
        return made

    def after_verb(self) -> bool:
        """Whether a part of a date stands behind its column: `date year is 2012`."""
        return (
            re.match(r"(?:['’]s)? (?:year|month|day|length|weekday) ", self.rest(), re.I)
            is not None
        )

    def column(self) -> Column | None:
        self.skip()
        rest = self.rest()
        for name in self.names:
            for shown in {name, name.replace("_", " "), f'"{name}"', f"'{name}'", f"`{name}`"}:
                if rest[: len(shown)].lower() == shown.lower():
                    after = rest[len(shown) : len(shown) + 1]
                    if (
                        not after
                        or not (after.isalnum() or after == "_")
                        or not shown[-1].isalnum()
                    ):
                        self.at += len(shown)
                        return Column(name, self.schema[name])
        return None

    def values(self, operand: Node) -> list[Value]:
        """A, B or C; with or without brackets."""
        if self.take(r"\("):
            found = self.listed(operand)
            if not self.take(r"\)"):
                raise NotPlain
            return found
        return self.listed(operand)

    def listed(self, operand: Node) -> list[Value]:
        """Values joined by commas, or, nor; `and` joins only what is quoted."""
        self.joint = ""
        was_quoted = self.is_quoted()
        found = [self.value(operand)]
        while True:
            start = self.at
            joint = self.take(r",?\s*(or|nor|and)(?=\s)|(,)(?=\s|\S)")
            is_text = operand.type is Type.TEXT and self.is_quoted()
            comma = was_quoted and not is_text  # quoted values, then a word: a column
            if (
                joint is None
                or self.peek(_OR_MORE)
                or (joint[2] and self.peek(re.compile(_WEIGHT)))
                or self.begins_statement(alone=not is_text, comma=comma)
            ):
                self.at = start
                return found
            word = (joint[1] or "").lower()
            if word == "and" and not re.match(r"\s*[\"'“]", self.rest()):
                self.at = start
                return found
            self.joint = word or self.joint
            found.append(self.value(operand))

    def begins_statement(self, *, alone: bool = True, comma: bool = False) -> bool:
        """Whether a column with a verb comes next, not a value; or a column `alone`, which may be
        followed by a `comma`."""
        start = self.at
        try:
            self.take(r"(?:not|no|it|has)(?=\s)")
            if self.operand() is None:
                return any(
                    means not in ("=", "in") and self.peek(verb) for means, verb in _patterns()
                )
            if re.match(r"\s*[=<>≤≥≠!]", self.rest()):
                return True
            if re.match(r"\s*(?:$|\)|and\b|or\b)", self.rest()):
                return alone
            if comma and self.rest().lstrip().startswith(","):
                return True
            return any(self.peek(verb) for _, verb in _patterns())
        except NotPlain:
            return False
        finally:
            self.at = start

    def is_quoted(self) -> bool:
        return re.match(r"\s*[\"'“„«]", self.rest()) is not None

    def peek(self, pattern: re.Pattern[str]) -> bool:
        start = self.at
        found = self.take_pattern(pattern) is not None
        self.at = start
        return found

    def value(self, operand: Node) -> Value:
        """A literal for an operand."""
        self.year_only = False
        self.skip()
        token = _TOKEN.match(self.text, self.at)
        if token is None or token["sign"]:
            raise NotPlain
        if token["quoted"]:
            self.at = token.end()
            written = token["quoted"][1:-1]
            if len(written) == LONGEST_SHOWN and written.endswith("…"):
                raise NotPlain  # `phrasing` has cut it short
            return literal(written, operand)
        if operand.type is Type.TEXT:
            return literal(self.unquoted(), operand)
        words = [token["word"]]
        end = token.end()
        if operand.type.numeric and (number := WRITTEN.match(self.text, self.at)):
            words, end = [number[0]], number.end()
        part = operand.name if isinstance(operand, tree.Call) else ""
        if part in NAMES and (n := _number_of(words[0], part)):
            self.at = end
            return Value(n, Type.INTEGER)
        if operand.type.temporal:
            longer = re.match(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?", self.text[self.at :])
            written = longer[0] if longer else words[0]
            end = self.at + len(written)
            self.year_only = re.fullmatch(r"\d{4}", written) is not None
            words = [written]
        made = literal(" ".join(words), operand)
        self.at = end
        self.take(r"(?:characters?|letters?|chars?|years?|days?|items?|dollars?|units?)(?=\W|$)")
        return made

    def unquoted(self) -> str:
        """The words up to `and`, `or`, a comma or the end."""
        ends = re.search(r"\s+(?:and|or|nor|but)\s|,|\)|$", self.rest())
        assert ends is not None
        written = self.rest()[: ends.start()].strip()
        if not written or set(written) & set('=<>≤≥≠"“”') or written[0] in "'`":
            raise NotPlain
        self.at += ends.start()
        return written

    # -- the text

    def rest(self) -> str:
        return self.text[self.at :]

    def rest_before_joint(self) -> str:
        return re.split(r"(?:^|\s)(?:and|or|but)\s|[,)]", self.rest(), maxsplit=1)[0]

    def skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def take(self, pattern: str) -> re.Match[str] | None:
        return self.take_pattern(re.compile(pattern, re.IGNORECASE))

    def take_pattern(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        self.skip()
        found = pattern.match(self.text, self.at)
        if found is not None and found.end() > self.at:
            self.at = found.end()
            return found
        return None


def _same_kind(one: Type, other: Type) -> bool:
    return one is other or (one.numeric and other.numeric) or (one.temporal and other.temporal)


def _number_of(word: str, part: str) -> int:
    """The number of a month or a weekday, 0 if it is none."""
    short = word.lower().rstrip(".")
    names = enumerate(NAMES[part], 1)
    return next((n for n, m in names if len(short) > 2 and f"{m}s".lower().startswith(short)), 0)


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
    written = text.strip().lower().lstrip("$€£")
    if written in _SMALL:
        return _SMALL[written]
    scale = re.search(r"\s*(k|thousand|millions?|mio|m|billions?|bn|b|percent|%)$", written)
    if scale is not None:
        written = written[: scale.start()]
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


def _moment(text: str) -> date | datetime:
    try:
        if re.fullmatch(r"\d{4}", text):
            return date(int(text), 1, 1)
        if re.fullmatch(r"\d{4}-\d\d", text):
            return date.fromisoformat(text + "-01")
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            return date.fromisoformat(text)
        if re.fullmatch(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?", text):
            return datetime.fromisoformat(text)
        raise NotPlain
    except ValueError:
        raise NotPlain from None
