"""Conditions in plain words, rewritten as conditions for the one parser (`grammar`).

`summary contains "game"` becomes `summary ILIKE '%game%'`, `size is at least 10k` `size >= 10000`.
`parse_feature` reads a text as SQL first, and then what `rewritten` makes of it. Every phrase that
`phrasing.spoken` shows can be read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from tellapart.features.plain_verbs import (
    DATE,
    KNOWN,
    NUMBER,
    UNKNOWN,
    NotPlain,
    moment,
    number,
    number_of,
    unit_of,
    verbs,
)
from tellapart.features.tree import NAMES, Type, Wild, identifier, pattern, quoted

LONGEST = 1_000
"""The most characters of a condition in plain words."""
LONGEST_SHOWN = 60
"""The most characters of a value that people are shown."""


_TOKEN = re.compile(
    r"""(?P<quoted>"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|(?<!\w)'[^']*'(?!\w)|`[^`]*`)"""
    r"|(?P<sign><=|>=|=<|=>|<>|!=|==|[=<>≤≥≠(),])|(?P<word>[^\s=<>≤≥≠(),\"“”„«»`]+)"
)
_SIGN = r"<=|>=|=<|=>|<>|!=|==|[=<>≤≥≠]"
_SIGNS = {"==": "=", "!=": "<>", "≠": "<>", "=<": "<=", "≤": "<=", "=>": ">=", "≥": ">="}
_OPPOSITE = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_LEAD = (
    r"(?:(?:where|if|when|because|that|which|whose|with|since|as|and|it is|items?|rows?|ones?|all"
    r"|everything|the|its|their|a|an|of|value of|column|field|it|they|this|there is|there are|has"
    r"|have|having|gives?|is|are|was|were|he|she)\s+)+"
)
_PARTS = "(year|month|day|length|weekday)"
_NOT_IT = (
    r"(?:(?:it |they )?(?:is|are|has|have|does|do)(?: not|n['’]?t)(?: have| give| be)?(?: any)?"
    r"|(?:it |there )?(?:has|have|is|are) no|not|no|without|lacks)(?=[\s(])"
)
_BARE = rf"(?P<not>not )?(?:(?:{KNOWN})|(?P<unknown>{UNKNOWN}))\b(?=\s*(?:$|[,)]|(?:and|or|but)\s))"
_RANGE = r"(?:is |in )?(\d+(?:\.\d+)?)(?:\s*(?:\.\.+|–|-)\s*| to )(\d+(?:\.\d+)?)(?![\w.-])"
_SIGN_MEANT = re.compile(
    r"\b(?:with|in|by|contains?|containing|has|an?|the) [.;!?]+$", re.IGNORECASE
)
"""A sign that does not end the sentence: `title ends with a ?`."""
_COMPARING = (
    r"(?:not )?(?:at (?:least|most)|(?:more|less|greater|larger|smaller|longer|shorter|fewer|higher"
    r"|lower) than)\b"
)
_WEIGHT = r"(minus )?(\d{1,9}) for(?=[\s(])"
_OR_MORE = (
    r"(?:(?:more|over|above|greater|later|higher|up|upwards|larger|after|older|newer|longer)"
    r"|(?P<less>less|fewer|below|under|earlier|lower|smaller|before|younger|shorter))"
    r"(?!\w)(?! than)"
)


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
        self.shown = _names(tuple(schema))
        self.last: _Operand | None = None
        """What was spoken of last."""
        self.means = ""
        """The verb of its last pattern."""
        self.following: str | None = None
        """When the year or month ends that was read last."""
        self.joint = ""

    # -- and, or, not, brackets

    def condition(self) -> str:
        made = self.either()
        if self.rest().strip():
            raise NotPlain
        return made

    def either(self) -> str:
        if not {"both", "either"} & self.schema.keys():
            self.take(r"(?:it )?(?:has |is )?(?:both|either)(?=\s)")
        parts = [self.both()]
        while self.take(r",?\s*(?:or(?: else)?|\|\|?)(?=[\s(\"])"):
            if self.last is not None and self.take(r"unknown(?!\w)"):
                parts.append(f"{self.last.text} IS NULL")
            else:
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
        while self.take(_NOT_IT):
            negated = not negated
            if negated and (made := self.nothing()):
                return made
        if self.take(r"\("):
            made = self.either()
            self.want(r"\)")
        else:
            made = self.points() or self.statement(negated=negated)
        return _not(made, negated)

    def nothing(self) -> str | None:
        """`No legs`: there are 0; `no tags`: they are not known. None if more is said."""
        start, operand = self.at, self.operand()
        if operand is None or operand.type is Type.BOOL or self.rest_before_joint().strip():
            self.at = start
            return None
        return f"{operand.text} {'= 0' if operand.type.numeric else 'IS NULL'}"

    def points(self) -> str | None:
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
        return _not(made, amount[1].lower() != "at least")

    # -- statements

    def statement(self, *, negated: bool = False) -> str:
        operand = self.operand()
        if operand is None:
            if (first := self.amount()) is not None:
                return first
            if self.last is None:
                raise NotPlain
            operand = self.last  # "size is above 5 and below 10"
            if self.means and (self.is_quoted() or negated):  # "contains a but not b"
                return self.pattern(self.means, operand)
        elif (bare := self.take(_BARE)) is not None:
            unknown = (bare["unknown"] is not None) != (bare["not"] is not None)
            return f"{operand.text} IS {'' if unknown else 'NOT '}NULL"
        self.last, self.means = operand, ""
        if sign := self.take(_SIGN):
            return self.compared(_SIGNS.get(sign[0], sign[0]), operand)
        if operand.type.numeric and (ends := self.take(_RANGE)):
            return f"{operand.text} BETWEEN {ends[1]} AND {ends[2]}"
        for means, verb in verbs():
            start = self.at
            found = self.take(verb)
            if found is not None:
                groups = found.groupdict()
                try:
                    made = self.said(means, operand)
                    return _not(made, bool(groups.get("not") or groups.get("not2")))
                except NotPlain:
                    self.at = start
        if operand.type is Type.BOOL and not re.match(r"\s*\w", self.rest_before_joint()):
            return operand.text
        if operand.type.numeric and self.peek(NUMBER):  # "legs 4 or more"
            return self.compared("=", operand)
        if operand.type is not Type.BOOL and self.take(r"not(?=\s)"):  # "package not vim"
            return self.compared("<>", operand)
        raise NotPlain

    def amount(self) -> str | None:
        """The number first: more than 4 legs, between 2 and 6 legs, 10 < size < 100."""
        start, op = self.at, "="
        self.take(r"(?:the|this|it|an?) \w+(?= (?:has|have|with)\s)")  # the animal has
        self.take(_LEAD)
        for means, verb in verbs():
            if means in ("<", "<=", ">", ">=", "between") and self.take(verb):
                op = means
                break
        low, high = self.take(NUMBER), None
        if op == "=" and (more := self.take(rf"or {_OR_MORE}")):
            op = "<=" if more["less"] else ">="
        chained = self.take(_SIGN) if low is not None and op == "=" else None
        if op == "between" and low is not None and self.take(r"and|to|-|–"):
            high = self.take(NUMBER)
        operand = self.operand()
        if (
            low is None
            or operand is None
            or not operand.type.numeric
            or (op == "between") != (high is not None)
        ):
            self.at = start
            return None
        self.last, self.means = operand, ""
        if high is not None:
            return f"{operand.text} BETWEEN {number(low[0])} AND {number(high[0])}"
        if chained is None:
            return f"{operand.text} {op} {number(low[0])}"
        sign = _SIGNS.get(chained[0], chained[0])
        made = f"{operand.text} {_OPPOSITE.get(sign, sign)} {number(low[0])}"
        if more := self.take(_SIGN):
            made += f" AND {self.compared(_SIGNS.get(more[0], more[0]), operand)}"
        return made

    def said(self, means: str, operand: _Operand) -> str:
        if means in ("known", "unknown"):
            return f"{operand.text} IS {'NOT ' if means == 'known' else ''}NULL"
        if means in ("contains", "lacks", "starts", "ends"):
            return self.pattern(means, operand)
        if means.endswith("0"):
            if not operand.type.numeric:
                raise NotPlain
            return f"{operand.text} {means}"
        if means == "between":
            low = self.value(operand)
            self.want(r"and|to|-|–|until|till")
            return f"{operand.text} >= {low} AND {self.compared('<=', operand)}"
        if means in ("one of", "neither"):
            return self.member(operand, self.values(operand), means == "neither")
        return self.within(operand) if means == "in" else self.compared(means, operand)

    def member(self, operand: _Operand, values: list[str], negated: bool) -> str:
        return f"{operand.text} {'NOT ' if negated else ''}IN ({', '.join(values)})"

    def pattern(self, means: str, operand: _Operand) -> str:
        if operand.type is not Type.TEXT:
            raise NotPlain
        self.means = means
        made = []
        for value in self.listed(operand):
            wanted = value[1:-1].replace("''", "'")
            if not wanted:
                raise NotPlain
            before = () if means == "starts" else (Wild.ANY,)
            after = () if means == "ends" else (Wild.ANY,)
            verb = "LIKE" if self.take(r"\(case matters\)") else "ILIKE"
            made.append(f"{operand.text} {verb} {pattern((*before, wanted, *after))}")
        return _not(_joined(made, "AND" if self.joint == "and" else "OR"), means == "lacks")

    def compared(self, op: str, operand: _Operand) -> str:
        if operand.type is Type.BOOL:
            word = self.take(r"(?:true|yes|y|false|no|n|1|0)(?=\W|$)")
            if word is None or op not in ("=", "<>"):
                raise NotPlain
            return f"{operand.text} {op} {word[0].lower() in ('true', 'yes', 'y', '1')}"
        other = self.operand(of=operand)
        if other is not None:
            return f"{operand.text} {op} {other.text}"
        if op in ("=", "<>"):
            return self.equal(op, operand)
        if operand.type is Type.TEXT:  # "longer than 40 characters"; texts have no other order
            before = self.text[: self.at]
            bare = re.search(r"(?:longer|shorter)(?: than)?\s*$", before, re.IGNORECASE)
            unit = r"\s*(?:characters?|chars?|letters?)(?!\w)"
            longer = self.want(rf"(\d+)(?:{unit}{'|(?![^ ])' if bare else ''})")
            return f"length({operand.text}) {op} {longer[1]}"
        value = self.value(operand)
        if self.following is not None and op in (">", "<="):  # after 2010: after its last day
            if not self.following:
                raise NotPlain
            return f"{operand.text} {'>=' if op == '>' else '<'} {self.following}"
        return f"{operand.text} {op} {value}"

    def equal(self, op: str, operand: _Operand) -> str:
        if operand.type is Type.TEXT and self.peek(_COMPARING):
            raise NotPlain
        whole = self.take(r"(?:either|one of|any of)(?=\s)") is not None
        values = self.values(operand) if whole else self.listed(operand)
        start, joint = self.at, self.take(r"(?:or|and)(?=\s)")
        direction = self.take(_OR_MORE) if joint is not None else None
        if direction is not None and len(values) == 1 and operand.type is not Type.TEXT:
            return f"{operand.text} {'<=' if direction['less'] else '>='} {values[0]}"
        self.at = start
        return self.member(operand, values, op == "<>")

    def within(self, operand: _Operand) -> str:
        """In 2012, in July, in July 2012; or one of some values."""
        if not operand.type.temporal:
            return self.member(operand, self.values(operand), negated=False)
        parts: list[str] = []
        if self.take(r"(?:a |the )?weekends?(?!\w)"):
            parts.append(f"weekday({operand.text}) IN (6, 7)")
        elif self.take(r"(?:a )?(?:weekdays?|workdays?|working days?)(?!\w)"):
            parts.append(f"weekday({operand.text}) <= 5")
        for part, names in NAMES.items():
            said = self.take("(?:an? )?(" + "|".join(f"{n}s?|{n[:3]}" for n in names) + r")(?!\w)")
            if said is not None:
                parts.append(f"{part}({operand.text}) = {number_of(said[1], part)}")
        if year := self.take(r"(?:of )?(\d{4})(?![-\d])"):
            parts.append(f"year({operand.text}) = {year[1]}")
        return _joined(parts, "AND") if parts else f"{operand.text} = {self.value(operand)}"

    # -- columns and values

    def operand(self, of: _Operand | None = None) -> _Operand | None:
        """A column, or its year, month or length; after a comparison, one of the same kind.

        What is quoted and compared with a text is a text.
        """
        start = self.at
        if of is not None and of.type is Type.TEXT and self.is_quoted():
            return None
        self.take(_LEAD)
        part = self.take(rf"(?:the )?{_PARTS} (?:of|in) (?:the )?")
        name = self.column()
        if name is None:
            self.at, part = start, None
            name = self.column()  # a column may be called as a filling word is
        if name is None:
            self.at = start
            return None
        named, said = self.at, self.take(r"(?:['’]s )?(?:name|value|field|column|of)(?=\s)")
        said_next = (NUMBER, *(verb for _, verb in verbs()))
        if said is None or not any(map(self.peek, said_next)):
            self.at = named
        if part is None and re.match(rf"(?:['’]s)? {_PARTS} ", self.rest(), re.IGNORECASE):
            part = self.take(rf"(?:['’]s\s+)?{_PARTS}\b")  # date year is 2012
        made = _Operand(identifier(name), self.schema[name], name)
        if part is not None:
            called = part[1].lower()
            if not (made.type.temporal or (called == "length" and made.type is Type.TEXT)):
                raise NotPlain
            made = _Operand(f"{called}({made.text})", Type.INTEGER, name, called)
        if of is not None and _kind(made) != _kind(of):
            self.at = start
            return None
        return made

    def column(self) -> str | None:
        self.skip()
        for shown, name in self.shown.get(self.text[self.at : self.at + 1].lower(), ()):
            after = self.at + len(shown)
            if self.text[self.at : after].lower() == shown:
                following = self.text[after : after + 1]
                if not (following.isalnum() or following == "_") or not shown[-1].isalnum():
                    self.at = after
                    return name
        return None

    def values(self, operand: _Operand) -> list[str]:
        """A, B or C; with or without brackets."""
        if not self.take(r"\("):
            return self.listed(operand)
        found = self.listed(operand)
        self.want(r"\)")
        return found

    def listed(self, operand: _Operand) -> list[str]:
        """Values joined by commas, or, nor; `and` joins only what is quoted."""
        self.joint = ""
        was_quoted = self.is_quoted()
        found = [self.value(operand)]
        while True:
            start = self.at
            joint = self.take(r",?\s*(or|nor|and)(?=\s)|(,)(?=\s|\S)")
            is_text = operand.type is Type.TEXT and self.is_quoted()
            comma = was_quoted and not is_text  # quoted values, then a word: a column
            word = "" if joint is None else (joint[1] or "").lower()
            if (
                joint is None
                or self.peek(_OR_MORE)
                or (joint[2] and self.peek(_WEIGHT))
                or self.begins_statement(alone=not is_text, comma=comma)
                or (word == "and" and not re.match(r"\s*[\"'“]", self.rest()))
            ):
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
                return any(means not in ("=", "in") and self.peek(v) for means, v in verbs())
            if re.match(r"\s*[=<>≤≥≠!]", self.rest()):
                return True
            if re.match(r"\s*(?:$|\)|and\b|or\b)", self.rest()):
                return alone
            if comma and self.rest().lstrip().startswith(","):
                return True
            return any(self.peek(verb) for _, verb in verbs())
        except NotPlain:
            return False
        finally:
            self.at = start

    def value(self, operand: _Operand) -> str:
        """A literal for an operand, as SQL writes it."""
        self.following = None
        self.take(r"(?:an?|the)\s+(?=[^\w\s]|\w(?:$|\s+(?:and|or|but)\s))")
        self.skip()
        token = _TOKEN.match(self.text, self.at)
        if token is None or token["sign"] or operand.type is Type.BOOL:
            raise NotPlain
        if token["quoted"]:
            self.at = token.end()
            written = token["quoted"][1:-1]
            if len(written) == LONGEST_SHOWN and written.endswith("…"):
                raise NotPlain  # `phrasing` has cut it short
            return self.literal(written, operand)
        if operand.type is Type.TEXT:
            return quoted(self.unquoted())
        if operand.part in NAMES and (n := number_of(token["word"], operand.part)):
            self.at = token.end()
            return str(n)
        found = (NUMBER if operand.type.numeric else DATE).match(self.text, self.at)
        written, self.at = (
            (token["word"], token.end()) if found is None else (found[0], found.end())
        )
        made = self.literal(written, operand)
        units = "characters?|letters?|chars?|years?|days?|items?|dollars?|units?"
        if not operand.part and (unit := unit_of(operand.column)[1]):
            units += f"|{re.escape(unit)}"
        self.take(rf"(?:{units})(?=\W|$)")
        return made

    def literal(self, written: str, operand: _Operand) -> str:
        if operand.type is Type.TEXT:
            return quoted(written)
        if operand.type.numeric:
            return number(written)
        if not DATE.fullmatch(written):
            raise NotPlain
        made, self.following = moment(written)
        return made

    def unquoted(self) -> str:
        """The words up to `and`, `or`, a comma or the end."""
        ends = re.search(r"\s+(?:and|or|nor|but)(?:\s|$)|,|\)|$", self.rest())
        assert ends is not None
        written = self.rest()[: ends.start()].strip()
        if not written or set(written) & set('=<>≤≥≠"“”') or written[0] in "'`":
            raise NotPlain
        self.at += ends.start()
        return written

    # -- the text

    def is_quoted(self) -> bool:
        return re.match(r"\s*[\"'“„«]", self.rest()) is not None

    def rest(self) -> str:
        return self.text[self.at :]

    def rest_before_joint(self) -> str:
        return re.split(r"(?:^|\s)(?:and|or|nor|but)\s|[,)]", self.rest(), maxsplit=1)[0]

    def skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def peek(self, words: str | re.Pattern[str]) -> bool:
        start = self.at
        found = self.take(words) is not None
        self.at = start
        return found

    def take(self, words: str | re.Pattern[str]) -> re.Match[str] | None:
        start = self.at
        self.skip()
        found = re.compile(words, re.IGNORECASE if isinstance(words, str) else 0).match(
            self.text, self.at
        )
        if found is not None and found.end() > self.at:
            self.at = found.end()
            return found
        self.at = start
        return None

    def want(self, words: str) -> re.Match[str]:
        found = self.take(words)
        if found is None:
            raise NotPlain
        return found


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


def _kind(operand: _Operand) -> str:
    kind = operand.type
    return "number" if kind.numeric else "moment" if kind.temporal else kind.value


def _joined(parts: list[str], word: str) -> str:
    return parts[0] if len(parts) == 1 else f" {word} ".join(f"({part})" for part in parts)


def _not(condition: str, negated: bool = True) -> str:
    return f"NOT ({condition})" if negated else condition
