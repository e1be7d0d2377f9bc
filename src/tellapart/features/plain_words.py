"""Conditions in plain words: `summary contains "game"`, `tags is known`, `size is at least 10k`.

`parse_feature` reads a text as SQL first, and then as plain words. Every phrase that
`phrasing.spoken` shows can be read here. `read` makes the syntax tree; `near_misses` finds the
nearest condition to a text that cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

from tellapart.features import canonical, tree
from tellapart.features.combinations import MOST_POINTS
from tellapart.features.plain_values import (
    DATED,
    WRITTEN,
    NotPlain,
    following,
    literal,
    number_of,
    unit_of,
)
from tellapart.features.plain_verbs import KNOWN, UNKNOWN, patterns
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
_LEAD = re.compile(
    r"(?:(?:where|if|when|because|that|which|whose|with|since|as|and|it is|items?|rows?|ones?|all"
    r"|everything|the|its|their|a|an|of|value of|column|field|it|they|this|there is|there are|has"
    r"|have|having|gives?|is|are|was|were|he|she)\s+)+",
    re.IGNORECASE,
)
_PART = re.compile(r"(?:the )?(year|month|day|length|weekday) (?:of|in) (?:the )?", re.IGNORECASE)
_AFTER = re.compile(r"(?:['’]s\s+)?(year|month|day|length|weekday)\b", re.IGNORECASE)
_SIGN = r"<=|>=|=<|=>|<>|!=|==|[=<>≤≥≠]"
_NOT_IT = (
    r"(?:(?:it |they )?(?:is|are|has|have|does|do)(?: not|n['’]?t)(?: have| give| be)?(?: any)?"
    r"|(?:it |there )?(?:has|have|is|are) no|not|no|without|lacks)(?=[\s(])"
)
_KNOWN_OR_NOT = re.compile(
    rf"(?P<not>not )?(?:(?:{KNOWN})|(?P<unknown>{UNKNOWN}))\b(?=\s*(?:$|[,)]|(?:and|or|but)\s))",
    re.IGNORECASE,
)
_RANGE = re.compile(
    r"(?:is |in )?(\d+(?:\.\d+)?)(?:\s*(?:\.\.+|–|-)\s*| to )(\d+(?:\.\d+)?)(?![\w.-])",
    re.IGNORECASE,
)
_SIGN_MEANT = re.compile(
    r"\b(?:with|in|by|contains?|containing|has|an?|the) [.;!?]+$", re.IGNORECASE
)
"""A sign that does not end the sentence: `title ends with a ?`."""
_COMPARING = re.compile(
    r"(?:not )?(?:at (?:least|most)|(?:more|less|greater|larger|smaller|longer|shorter|fewer|higher"
    r"|lower) than)\b",
    re.IGNORECASE,
)
_TIMES = re.compile(r"(twice|double|half|(\d+(?:\.\d+)?) ?(?:times|x|\*))(?=\s)", re.IGNORECASE)
_WEIGHT = r"(minus )?(\d{1,9}) for(?=[\s(])"
_OR_MORE = re.compile(
    r"(?:(?:more|over|above|greater|later|higher|up|upwards|larger|after|older|newer|longer)"
    r"|(?P<less>less|fewer|below|under|earlier|lower|smaller|before|younger|shorter))"
    r"(?!\w)(?! than)",
    re.IGNORECASE,
)


def read(text: str, schema: Mapping[str, Type]) -> Node | None:
    """The tree of a condition in plain words; None if the text cannot be read.

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
        self.text, self.at, self.schema = text.strip(), 0, schema
        if not _SIGN_MEANT.search(self.text):
            self.text = self.text.rstrip(".;!?").strip()
        written = [
            *((name, name) for name in schema),
            *((f"{sign}{name}{sign}", name) for name in schema for sign in "\"'`"),
            *((name.replace("_", " "), name) for name in schema),
            *((name.replace(" ", "_"), name) for name in schema),
            *((unit_of(name)[0].replace("_", " "), name) for name in schema),
        ]
        self.shown: dict[str, list[tuple[str, str]]] = {}
        for shown, name in sorted(written, key=lambda pair: -len(pair[0])):
            self.shown.setdefault(shown[:1].lower(), []).append((shown.lower(), name))
        """How columns may be written, by the first letter, the longest first; of two alike, the
        exact one."""
        self.last: Node | None = None
        """What was spoken of last."""
        self.means = ""
        """The verb of its last pattern."""
        self.following: date | None = None
        """When the year or month ends that was read last."""

    # -- and, or, not, brackets

    def condition(self) -> Node:
        made = self.either()
        if self.rest().strip():
            raise NotPlain
        return made

    def either(self) -> Node:
        if not {"both", "either"} & self.schema.keys():
            self.take(r"(?:it )?(?:has |is )?(?:both|either)(?=\s)")
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
        if self.take(r"(?:it (?:is|has) )?neither(?=\s)"):
            parts = [self.one()]
            while self.take(r",?\s*nor(?=\s)"):
                parts.append(self.one())
            return canonical.both(map(canonical.negate, parts))
        while self.take(_NOT_IT):
            negated = not negated
            if negated and (made := self.nothing()) is not None:
                return made
        if self.take(r"\("):
            made = self.either()
            if not self.take(r"\)"):
                raise NotPlain
        else:
            made = self.points() or self.statement(negated=negated)
        return canonical.negate(made) if negated else made

    def nothing(self) -> Node | None:
        """`No legs`: there are 0; `no tags`: they are not known. None if more is said."""
        start = self.at
        operand = self.operand()
        if operand is None or operand.type is Type.BOOL or self.rest_before_joint().strip():
            self.at = start
            return None
        if operand.type.numeric:
            return canonical.compare("=", operand, Value(0, Type.INTEGER))
        return canonical.is_null(operand)

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

    def statement(self, *, negated: bool = False) -> Node:
        operand = self.operand()
        if operand is None:
            first = self.amount() or self.quoted_in()
            if first is not None:
                return first
            if self.last is None:
                raise NotPlain
            operand = self.last  # "size is above 5 and below 10"
            if self.means and (self.is_quoted() or negated):  # "contains a but not b"
                return self.pattern(self.means, operand)
        elif (bare := self.take_pattern(_KNOWN_OR_NOT)) is not None:
            null = canonical.is_null(operand)
            unknown = (bare["unknown"] is not None) != (bare["not"] is not None)
            return null if unknown else canonical.negate(null)
        self.last, self.means = operand, ""
        if sign := self.take(_SIGN):
            return self.compared(_OPS[sign[0]], operand)
        if operand.type.numeric and (ends := self.take_pattern(_RANGE)):
            sides = ((">=", ends[1]), ("<=", ends[2]))
            return canonical.both(
                canonical.compare(op, operand, literal(x, operand)) for op, x in sides
            )
        for means, verb in patterns():
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
        if operand.type.numeric and self.peek(WRITTEN):  # "legs 4 or more"
            return self.compared("=", operand)
        if operand.type is not Type.BOOL and self.take(r"not(?=\s)"):  # "package not vim"
            return self.compared("<>", operand)
        raise NotPlain

    def quoted_in(self) -> Node | None:
        """The text first: "chess" is in the summary."""
        start = self.at
        self.skip()
        token = _TOKEN.match(self.text, self.at)
        if token is not None and token["quoted"] and len(token["quoted"]) > 2:
            self.at = token.end()
            said = self.take(
                r"(?:is|are|appears?|occurs?|stands?)?(?P<not> ?not)? ?(?:in|inside|part of)(?=\s)"
            )
            column = self.operand() if said is not None else None
            if said is not None and isinstance(column, Column) and column.type is Type.TEXT:
                self.last = column
                wanted = (Wild.ANY, token["quoted"][1:-1], Wild.ANY)
                made = canonical.like(column, wanted, fold=True)
                return canonical.negate(made) if said["not"] else made
        self.at = start
        return None

    def amount(self) -> Node | None:
        """The number first: more than 4 legs, between 2 and 6 legs, 10 < size < 100."""
        start, op = self.at, "="
        self.take(r"(?:the|this|it|an?) \w+(?= (?:has|have|with)\s)")  # the animal has
        self.take_pattern(_LEAD)
        for means, verb in patterns():
            if means in ("<", "<=", ">", ">=", "between") and self.take_pattern(verb):
                op = means
                break
        low = self.take_pattern(WRITTEN)
        if op == "=" and (more := self.take(rf"or {_OR_MORE.pattern}")):
            op = "<=" if more["less"] else ">="
        chained = self.take(_SIGN) if low is not None and op == "=" else None
        high = None
        if op == "between" and low is not None and self.take(r"and|to|-|–"):
            high = self.take_pattern(WRITTEN)
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
        if chained is not None:
            parts = [canonical.compare(_OPS[chained[0]], literal(low[0], operand), operand)]
            if sign := self.take(_SIGN):
                parts.append(self.compared(_OPS[sign[0]], operand))
            return canonical.both(parts)
        if high is None:
            return canonical.compare(op, operand, literal(low[0], operand))
        return canonical.both(
            canonical.compare(sign, operand, literal(side[0], operand))
            for sign, side in ((">=", low), ("<=", high))
        )

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
            return canonical.both(
                [canonical.compare(">=", operand, low), self.compared("<=", operand)]
            )
        if means in ("one of", "neither"):
            made = canonical.is_in(operand, self.values(operand))
            return canonical.negate(made) if means == "neither" else made
        if means == "in":
            return self.within(operand)
        return self.compared(means, operand)

    def pattern(self, means: str, operand: Node) -> Node:
        if operand.type is not Type.TEXT:
            raise NotPlain
        self.means = means
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
        start = self.at
        times = self.take_pattern(_TIMES) if operand.type.numeric else None
        other = self.operand(of=operand)
        if other is not None and times is not None:
            factor = {"twice": "2", "double": "2", "half": "0.5"}.get(times[1].lower(), times[2])
            other = canonical.arithmetic("*", literal(factor, operand), other)
        if other is not None:
            return canonical.compare(op, operand, other)
        self.at = start
        if op in ("=", "<>"):
            if operand.type is Type.TEXT and self.peek(_COMPARING):
                raise NotPlain
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
            bare = re.search(
                r"(?:longer|shorter)(?: than)?\s*$", self.text[: self.at], re.IGNORECASE
            )
            unit = r"\s*(?:characters?|chars?|letters?)(?!\w)"
            longer = self.take(rf"(\d+)(?:{unit}{'|(?![^ ])' if bare else ''})")
            if longer is None:
                raise NotPlain
            length = canonical.call("length", operand)
            return canonical.compare(op, length, Value(int(longer[1]), Type.INTEGER))
        value = self.value(operand)
        if self.following is not None and op in (">", "<="):  # after 2010: after its last day
            value = canonical.literal(self.following, operand.type)
            op = ">=" if op == ">" else "<"
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
                number = Value(number_of(said[1], part), Type.INTEGER)
                parts.append(canonical.compare("=", canonical.call(part, operand), number))
        call = canonical.call("year", operand)
        if decade := self.take(r"([12]\d{2}0|['’]?[1-9]0)['’]?s(?!\w)"):  # the 90s
            first = int(decade[1].lstrip("'’"))
            first += 0 if first > 99 else 1900 if first >= 30 else 2000
            for op, end in ((">=", first), ("<=", first + 9)):
                parts.append(canonical.compare(op, call, Value(end, Type.INTEGER)))
        elif year := self.take(r"(?:of )?(\d{4})(?![-\d])"):
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
        named, said = self.at, self.take(r"(?:['’]s )?(?:name|value|field|column|of)(?=\s)")
        verbs = (WRITTEN, *(verb for _, verb in patterns()))
        if said is None or not any(map(self.peek, verbs)):
            self.at = named
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
        for shown, name in self.shown.get(self.text[self.at : self.at + 1].lower(), ()):
            after = self.at + len(shown)
            if self.text[self.at : after].lower() == shown:
                following = self.text[after : after + 1]
                if not (following.isalnum() or following == "_") or not shown[-1].isalnum():
                    self.at = after
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
                    means not in ("=", "in") and self.peek(verb) for means, verb in patterns()
                )
            if re.match(r"\s*[=<>≤≥≠!]", self.rest()):
                return True
            if re.match(r"\s*(?:$|\)|and\b|or\b)", self.rest()):
                return alone
            if comma and self.rest().lstrip().startswith(","):
                return True
            return any(self.peek(verb) for _, verb in patterns())
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
        self.following = None
        self.take(r"(?:an?|the)\s+(?=[^\w\s]|\w(?:$|\s+(?:and|or|but)\s))")
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
        if part in NAMES and (n := number_of(words[0], part)):
            self.at = end
            return Value(n, Type.INTEGER)
        if operand.type.temporal:
            longer = DATED.match(self.text, self.at)
            written = longer[0] if longer else words[0]
            end = self.at + len(written)
            words = [written]
            self.following = following(written, operand)
        made = literal(" ".join(words), operand)
        self.at = end
        units = "characters?|letters?|chars?|years?|days?|items?|dollars?|units?"
        if isinstance(operand, Column) and (unit := unit_of(operand.name)[1]):
            units += f"|{re.escape(unit)}"
        self.take(rf"(?:{units})(?=\W|$)")
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

    def rest(self) -> str:
        return self.text[self.at :]

    def rest_before_joint(self) -> str:
        return re.split(r"(?:^|\s)(?:and|or|nor|but)\s|[,)]", self.rest(), maxsplit=1)[0]

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
