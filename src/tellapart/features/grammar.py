"""The parser of the feature language: from text to canonical tree in one pass, with exact places.

Only what is listed here can be read: known signs and words, columns of the schema, literals and
the functions of `FUNCTIONS`. Operators bind as in SQL. Every part knows where it stands in the
text, and its type is checked as soon as it is read. Nothing is ever evaluated.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple, NoReturn

from tellapart.combinations import MOST_POINTS
from tellapart.errors import FeatureError
from tellapart.features import canonical, tree
from tellapart.features.tree import Node, Pattern, Type, Value, Wild

LONGEST = 8_000
"""The most characters of a feature."""
MOST = 1_000
"""The most words and signs of a feature."""
DEEPEST = 24
"""The most levels of nested brackets, NOTs and minus signs."""
LEVELS = 64
"""The most levels of nested operations."""

ALLOWED = (
    "Allowed: columns, numbers, 'texts', DATE '2024-12-31', TIMESTAMP '2024-12-31 23:59:59',"
    " TRUE, FALSE; = <> < <= > >=, BETWEEN, IN (...), LIKE, ILIKE, IS [NOT] NULL/TRUE/FALSE,"
    " AND, OR, NOT, + - * /, brackets, and the functions lower, upper, trim, length, contains,"
    " starts_with, ends_with, abs, coalesce, year, month, day, weekday, at_least."
)
_POINTS = "Write for instance 2 * (a > 1) + (b = 2) >= 3, conditions in brackets."

_DATE_PARTS = ("year", "month", "day", "weekday")
_NUMBERS = (Type.NUMBER, Type.INTEGER)
_TAKES = {"abs": _NUMBERS, **dict.fromkeys(_DATE_PARTS, (Type.DATE, Type.DATETIME))}
"""What functions of one thing take, if not a text."""
FUNCTIONS: dict[str, int | None] = {
    **dict.fromkeys(("abs", "length", "lower", "trim", "upper", *_DATE_PARTS), 1),
    **dict.fromkeys(("contains", "ends_with", "starts_with"), 2),
    **dict.fromkeys(("at_least", "coalesce"), None),
}
"""The functions, and the number of arguments of each; None: two or more."""

_TOKEN = re.compile(
    r"""(?P<space>\s+)|(?P<comment>--[^\n]*|/\*(?s:.*?)(?:\*/|$))|(?P<text>'(?:[^']|'')*')"""
    r"""|(?P<quoted>"(?:[^"]|"")*")"""
    r"|(?P<number>(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
    r"|(?P<word>(?!\s)[A-Za-z_\x80-\U0010ffff](?:(?!\s)[\w\x80-\U0010ffff])*)"
    r"|(?P<sign><=|>=|<>|!=|==|[-+*/=<>(),])|(?P<other>::|\|\||->|.)",
    re.DOTALL,
)
_MOMENT = re.compile(
    "[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?)?"
)
_WORDS = frozenset(
    ("and", "or", "not", "between", "in", "like", "ilike", "escape", "is", "null", "true", "false")
)
"""What is never the name of a column, unless it is quoted."""
_SAME_OP = {"==": "=", "!=": "<>"}

# how tightly operators bind
_OR, _AND, _EQUAL, _ORDER, _PREDICATE, _SUM, _PRODUCT, _SIGN = range(1, 9)
_RANK = {
    **dict.fromkeys(("=", "==", "<>", "!="), _EQUAL),
    **dict.fromkeys(("<", "<=", ">", ">="), _ORDER),
    **dict.fromkeys(("is", "in", "like", "ilike", "between", "not"), _PREDICATE),
    **dict.fromkeys("+-", _SUM),
    **dict.fromkeys("*/", _PRODUCT),
    "or": _OR,
    "and": _AND,
}

_IS = "IS needs a column before it"
_Terms = tuple[tuple[Node, int], ...]
_ONE = Value(True, Type.BOOL)  # true everywhere: a constant in a sum of conditions


def parse(text: str, schema: Mapping[str, Type], *, slack: int = 1) -> Node:
    """The canonical tree of `text` over the columns of `schema`, or a `FeatureError`.

    `slack` multiplies all limits: the canonical text of a feature may be longer than what was
    written, and has to be read back.
    """
    if not isinstance(text, str):
        raise FeatureError(f"a feature is a text, got {text!r} ({type(text).__name__})")
    try:
        return _Parser(text, schema, slack).feature()
    except RecursionError:
        raise FeatureError("the feature is nested too deeply; use fewer brackets") from None


class Names:
    """Finds the column a word means: spelled the same, or the only one that differs in case."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = frozenset(names)
        self._lowered: dict[str, list[str]] = {}
        for name in self.names:
            self._lowered.setdefault(name.lower(), []).append(name)

    def find(self, word: str, *, quoted: bool = False) -> str | None:
        if word in self.names:
            return word
        alike = self._lowered.get(word.lower(), [])
        return alike[0] if len(alike) == 1 and not quoted else None


class Token(NamedTuple):
    kind: str  # text, quoted, number, word, sign or end
    text: str
    start: int
    end: int


def tokenize(text: str, *, slack: int = 1) -> list[Token]:
    """The words, signs and literals of `text`, and an `end`."""
    longest, most, deepest = LONGEST * slack, MOST * slack, DEEPEST * slack
    if len(text) > longest:
        said = f"the feature has {len(text):,} characters"
        refuse(text, said, longest, longest + 1, f"At most {longest:,} are allowed.")
    for spot, letter in enumerate(text):
        if letter == "\0" or "\ud800" <= letter <= "\udfff":
            refuse(text, "a character no engine can hold", spot, spot + 1)
    found: list[Token] = []
    depth = prefixes = 0
    for match in _TOKEN.finditer(text):
        kind, word, (start, end) = match.lastgroup or "", match[0], match.span()
        if kind == "space":
            continue
        if kind == "comment":
            refuse(text, "a comment", start, start + len(word.rstrip()), "Leave it out.")
        if kind == "other":
            what = f"{word!r} cannot be used in a feature"
            if word in "'\"":
                what = "a quote is opened and not closed"
            elif word == ";":
                what = "a semicolon: a feature is one condition"
            refuse(text, what, start, end, ALLOWED)
        depth += (word == "(") - (word == ")")
        prefixes = prefixes + 1 if word.lower() in ("not", "-", "+") else 0
        if depth + prefixes > deepest:
            refuse(text, f"more than {deepest} levels of brackets, NOT and minus", start, end)
        if len(found) == most:
            refuse(text, f"more than {most:,} words and signs", start, end)
        found.append(Token(kind, word, start, end))
    if not found:
        raise FeatureError(f"the feature is empty. {ALLOWED}")
    return [*found, Token("end", "", len(text), len(text))]


class _Part(NamedTuple):
    """A part of the condition, and where it stands."""

    node: Node
    start: int
    end: int
    bare: bool = False
    """It is a condition without brackets."""
    terms: _Terms | None = None
    """What is counted, if it is a sum of conditions times whole numbers; `node` is then idle."""
    height: int = 0
    """How many operations are nested in it."""

    @property
    def value(self) -> Any:
        """What a literal says; None for anything else."""
        return self.node.value if isinstance(self.node, Value) and self.terms is None else None

    @property
    def counts(self) -> bool:
        """Whether arithmetic with it counts points."""
        condition = self.node.type is Type.BOOL and not isinstance(self.node, Value)
        return self.terms is not None or condition


class _Parser:
    def __init__(self, text: str, schema: Mapping[str, Type], slack: int) -> None:
        self.text, self.schema, self.names, self.slack = text, schema, Names(schema), slack
        self.tokens, self.at = tokenize(text, slack=slack), 0

    def feature(self) -> Node:
        made = self.expression(_OR)
        if self.here.kind != "end":
            self.fail("this cannot stand here", self.here, ALLOWED)
        return canonical.feature(self.condition(made))

    # -- tokens

    @property
    def here(self) -> Token:
        return self.tokens[self.at]

    def word(self) -> str:
        """The word or sign at this place, in lower letters."""
        return self.here.text.lower() if self.here.kind in ("word", "sign") else ""

    def take(self, *words: str) -> bool:
        if self.word() in words:
            self.at += 1
            return True
        return False

    def want(self, word: str) -> int:
        """The place behind a word that must stand here."""
        if not self.take(word):
            what = f"{word.upper()} is missing here"
            if word == ")":
                what = "a bracket is opened and not closed"
                if self.here.kind != "end":
                    what = "this cannot stand here"
            self.fail(what, self.here, ALLOWED)
        return self.tokens[self.at - 1].end

    # -- operators

    def expression(self, least: int) -> _Part:
        """What stands here, with all operators that bind at least as tightly as `least`."""
        left = self.prefix()
        while (rank := _RANK.get(self.word(), 0)) >= least:
            if rank <= _AND:
                left = self.joined(left, rank)
            elif rank == _PREDICATE:
                left = self.predicate(left)
            else:
                op = self.word()
                self.at += 1
                right = self.expression(rank + 1)
                made = self.comparison if rank <= _ORDER else self.arithmetic
                left = made(_SAME_OP.get(op, op), left, right)
        return left

    def prefix(self) -> _Part:
        token, word = self.here, self.word()
        self.at += 1
        if token.kind == "number":
            return self.part(self.number(token), token)
        if token.kind == "text":
            return self.part(Value(token.text[1:-1].replace("''", "'"), Type.TEXT), token)
        if token.kind == "quoted":
            return self.part(self.column(token, token.text[1:-1].replace('""', '"')), token)
        if word == "(":
            inner = self.expression(_OR)
            return inner._replace(start=token.start, end=self.want(")"), bare=False)
        if word == "-":
            return self.negative(token, self.expression(_SIGN))
        if word == "+":
            return self.expression(_SIGN)
        if word == "not":
            inner = self.expression(_EQUAL)
            node = canonical.negate(self.condition(inner))
            return self.nested(node, token, inner, bare=True)
        if word in ("true", "false"):
            return self.part(Value(word == "true", Type.BOOL), token)
        if word == "null":
            self.fail("nothing equals NULL", token, "Write IS NULL or IS NOT NULL.")
        if token.kind != "word" or word in _WORDS:
            self.fail("something is missing here", token, ALLOWED)
        return self.named(token, word)

    def named(self, token: Token, word: str) -> _Part:
        """A function, DATE '...', TIMESTAMP '...' or a column."""
        if self.word() == "(":
            if word not in FUNCTIONS:
                self.fail(f"{short(token.text)!r} is no function of features", token, ALLOWED)
            return self.call(token, word)
        if self.here.kind == "text":
            kind = {"date": Type.DATE, "timestamp": Type.DATETIME}.get(word)
            if kind is None:
                self.fail(f"{short(token.text)!r} before a text", token, ALLOWED)
            written = self.prefix()
            return self.part(self.moment(written, kind), token, written)
        return self.part(self.column(token, token.text), token)

    def joined(self, left: _Part, rank: int) -> _Part:
        """A chain of ANDs or of ORs, however long, is one operation."""
        word, parts = self.word(), [left]
        while self.take(word):
            parts.append(self.expression(rank + 1))
        join = canonical.either if word == "or" else canonical.both
        node = join([self.condition(part) for part in parts])
        return self.nested(node, left, *parts[1:], bare=True)

    def predicate(self, left: _Part) -> _Part:
        start, negated = self.here, self.take("not")
        word = self.word()
        self.at += 1
        parts = [left]
        if word == "between":
            parts += [self.expression(_SUM)]
            self.want("and")
            parts += [self.expression(_SUM)]
            if any(part.terms is not None for part in parts):
                self.fail("points are compared by <, <=, > or >=", self.span(left, parts[-1]))
            ends = zip((">=", "<="), parts[1:], strict=True)
            node = canonical.both([self.comparison(op, left, end).node for op, end in ends])
        elif word == "in":
            node = self.member(left)
        elif word in ("like", "ilike"):
            node = self.like(left, fold=word == "ilike")
        elif word == "is" and not negated:
            negated = self.take("not")
            node = self.known_as(left)
        elif word == "null" and negated:  # x NOT NULL
            node = canonical.is_null(self.with_column(self.side(left), left, _IS))
        else:
            self.fail("this cannot stand here", start, ALLOWED)
        node = canonical.negate(node) if negated else node
        return self.nested(node, *parts, bare=True)._replace(end=self.tokens[self.at - 1].end)

    def known_as(self, left: _Part) -> Node:
        """IS NULL, IS TRUE, IS FALSE."""
        operand = self.with_column(self.side(left), left, _IS)
        wanted = self.here
        if self.take("null"):
            return canonical.is_null(operand)
        if not self.take("true", "false"):
            self.fail("IS takes NULL, TRUE or FALSE", wanted)
        made = self.of(left, Type.BOOL)
        return canonical.is_true(made if wanted.text.lower() == "true" else canonical.negate(made))

    def member(self, left: _Part) -> Node:
        what = "IN needs a number, text or date with a column before it"
        operand = self.with_column(self.side(left), left, what)
        if operand.type is Type.BOOL:
            self.fail(what, left)
        self.want("(")
        if self.word() == ")":
            self.fail("an empty list", left)
        values: list[Value] = []
        while True:
            if self.word() == "null":
                self.fail("NULL in a list", self.here, "Write OR ... IS NULL beside it.")
            part = self.expression(_OR)
            value = self.same(part, operand, self.span(left, part))
            if not isinstance(value, Value):
                self.fail("a list holds literals only", part, "Write several conditions with OR.")
            values.append(value)
            if not self.take(","):
                break
        self.want(")")
        return canonical.is_in(operand, values)

    def like(self, left: _Part, *, fold: bool) -> Node:
        operand = self.with_column(self.of(left, Type.TEXT), left, "LIKE needs a column before it")
        wanted = self.expression(_SUM)
        pattern = self.literal_text(wanted, "a pattern must be a text in quotes")
        escape = ""
        if self.take("escape"):
            sign = self.expression(_SUM)
            escape = self.literal_text(sign, "ESCAPE takes one character")
            if len(escape) != 1:
                self.fail("ESCAPE takes one character", sign)
        return canonical.like(operand, self.pattern(pattern, escape, wanted), fold=fold)

    def pattern(self, text: str, escape: str, where: _Part) -> Pattern:
        parts: list[str | Wild] = []
        letters = iter(text)
        for letter in letters:
            if letter == escape:
                escaped = next(letters, "")
                if escaped not in (escape, "%", "_") or not escaped:
                    self.fail(f"in a pattern, {escape} must stand before {escape}, % or _", where)
                parts.append(escaped)
            else:
                parts.append(Wild(letter) if letter in "%_" else letter)
        return tuple(parts)

    def comparison(self, op: str, left: _Part, right: _Part) -> _Part:
        where = self.span(left, right)
        if left.terms is not None or right.terms is not None:
            terms = self.counted(left) + _times(-1, self.counted(right))
            return self.nested(self.points(op, terms, where), left, right, bare=True)
        one, two = self.side(left), self.side(right)
        one, two = self.same(left, two, where), self.same(right, one, where)
        if not any(True for side in (one, two) for _ in tree.columns(side)):
            self.fail("this compares two constants", where, "Name a column.")
        if one.type is Type.BOOL and op not in ("=", "<>"):
            self.fail(f"{op} between conditions", where, "Use = or <>, AND, OR and NOT.")
        return self.nested(canonical.compare(op, one, two), left, right, bare=True)

    # -- numbers, and sums of conditions

    def arithmetic(self, op: str, left: _Part, right: _Part) -> _Part:
        if not left.counts and not right.counts:
            node = canonical.arithmetic(op, self.of(left, *_NUMBERS), self.of(right, *_NUMBERS))
            return self.nested(node, left, right)
        if op in "+-":
            terms = self.counted(left) + _times(-1 if op == "-" else 1, self.counted(right))
        else:
            many, factor = (left, right) if right.value is not None else (right, left)
            if op != "*" or factor.value is None or factor.node.type is not Type.INTEGER:
                what = "conditions can only be added up, and multiplied by whole numbers"
                self.fail(what, self.span(left, right), _POINTS)
            terms = _times(factor.value, self.counted(many))
        return self.nested(_ONE, left, right)._replace(terms=terms)

    def negative(self, sign: Token, part: _Part) -> _Part:
        if part.counts:
            return self.nested(_ONE, sign, part)._replace(terms=_times(-1, self.counted(part)))
        node = self.of(part, *_NUMBERS)
        if isinstance(node, Value):
            return self.part(canonical.number(-node.value), sign, part)
        return self.nested(canonical.call("negative", node), sign, part)

    def counted(self, part: _Part, *, bare: bool = False) -> _Terms:
        """A part of a sum of conditions: such a sum, a condition or a whole number. A condition
        needs brackets, unless it may be `bare`."""
        if part.terms is not None:
            return part.terms
        if part.node.type is Type.INTEGER and part.value is not None:
            return ((_ONE, part.value),)
        if not part.counts:
            what = f"{_shown(part.node)} cannot be counted together with conditions"
            self.fail(what, part, _POINTS)
        if part.bare and not bare:
            self.fail("a condition inside a sum", part, "Put it in brackets.")
        return ((part.node, 1),)

    def points(self, op: str, terms: _Terms, where: tuple[int, int]) -> Node:
        """`terms`, constants among them, compared with 0."""
        if op not in ("<", "<=", ">", ">="):
            self.fail("points are compared by <, <=, > or >=", where)
        if sum(abs(weight) for _, weight in terms) > MOST_POINTS:
            self.fail(f"more than {MOST_POINTS:,} points", where)
        made = canonical.points(_times(1 if op[0] == ">" else -1, terms), 0 if op[1:] else 1)
        if isinstance(made, Value):
            self.fail("there is no condition to count, or all cancel out", where)
        return made

    # -- functions

    def call(self, token: Token, name: str) -> _Part:
        self.want("(")
        parts: list[_Part] = []
        while self.word() != ")":
            parts.append(self.expression(_OR))
            if not self.take(","):
                break
        where, count = (token.start, self.want(")")), FUNCTIONS[name]
        if len(parts) != count if count else len(parts) < 2:
            said = {None: "two or more arguments", 1: "one argument"}.get(count, "two arguments")
            if name == "at_least":
                said = "a whole number and conditions. Write at_least(2, a > 1, b = 2, c)"
            self.fail(f"{name} takes {said}", where)
        if name == "at_least":
            node = self.at_least(parts, where)
        elif name == "coalesce":
            node = self.coalesce(parts, where)
        elif count == 2:
            node = self.found(name, *parts)
        else:
            node = canonical.call(name, self.of(parts[0], *_TAKES.get(name, (Type.TEXT,))))
        return self.nested(node, token, *parts)._replace(end=where[1])

    def found(self, name: str, part: _Part, wanted: _Part) -> Node:
        """contains, starts_with and ends_with."""
        operand = self.with_column(self.of(part, Type.TEXT), part, f"{name} needs a column")
        text = self.literal_text(wanted, f"{name} looks for a text in quotes")
        before = () if name == "starts_with" else (Wild.ANY,)
        after = () if name == "ends_with" else (Wild.ANY,)
        return canonical.like(operand, (*before, text, *after), fold=False)

    def at_least(self, parts: list[_Part], where: tuple[int, int]) -> Node:
        first, *rest = parts
        if first.value is None or first.node.type is not Type.INTEGER:
            self.fail("at_least takes a whole number first", first, "Write at_least(2, a, b, c).")
        terms: _Terms = ((_ONE, -first.value),)
        for part in rest:
            terms += self.counted(part, bare=True)
        return self.points(">=", terms, where)

    def coalesce(self, parts: list[_Part], where: tuple[int, int]) -> Node:
        first = next((p for p in map(self.operand, parts) if not isinstance(p, Value)), None)
        if first is None:
            self.fail("coalesce needs a column", where)
        nodes = [self.same(part, first, where) for part in parts]
        kinds = {node.type for node in nodes}
        kind = nodes[0].type if len(kinds) == 1 else None
        if kind is None:
            kind = Type.NUMBER if Type.NUMBER in kinds else Type.DATETIME
        fitted = (canonical.fit(node, kind) if isinstance(node, Value) else node for node in nodes)
        return canonical.coalesce(tuple(fitted), kind)

    # -- columns and literals

    def column(self, token: Token, name: str) -> Node:
        quoted = token.kind == "quoted"
        found = self.names.find(name, quoted=quoted)
        if found is not None:
            return tree.Column(found, self.schema[found])
        if not quoted and name.lower() in tree.RESERVED:
            self.fail(f"{name!r} cannot be used in a feature", token, ALLOWED)
        near = difflib.get_close_matches(name[:100], list(self.schema), 1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        what = f"unknown column {short(name)!r}"
        self.fail(what, token, f"{hint}Columns: {_list(self.schema)}.")

    def number(self, token: Token) -> Value:
        try:
            value = Decimal(token.text)
            nearest = float(value)
        except (ArithmeticError, ValueError):
            self.fail(f"{token.text[:40]!r} is no number", token)
        if not abs(nearest) < float("inf"):
            self.fail("a number beyond double precision", token)
        if value == value.to_integral_value() and abs(value) < 2**63:
            return Value(int(value), Type.INTEGER)
        return canonical.number(nearest)

    def moment(self, part: _Part, wanted: Type) -> Value:
        """A date, or with a time of day a datetime."""
        written = part.value
        if re.search(r":.*[-+Z]", written):
            self.fail("a time zone", part, "Times are without a zone, in UTC.")
        try:
            if not _MOMENT.fullmatch(written):
                raise ValueError
            moment = datetime.fromisoformat(written)
        except ValueError:
            advice = "Write '2024-12-31' or '2024-12-31 23:59:59'."
            self.fail(f"{short(written)!r} is no date", part, advice)
        if len(written) == 10:
            return canonical.fit(Value(moment.date(), Type.DATE), wanted)
        return Value(moment, Type.DATETIME)

    # -- types

    def operand(self, part: _Part) -> Node:
        """Anything but a sum of conditions."""
        if part.terms is not None:
            advice = "Compare it with a whole number, for instance ... >= 3."
            self.fail("a sum of conditions says nothing by itself", part, advice)
        return part.node

    def condition(self, part: _Part) -> Node:
        """What is true, false or unknown."""
        node = self.operand(part)
        if node.type is not Type.BOOL:
            said = _shown(node)
            advice = f"Compare it with something, for instance {said} = ..."
            self.fail(f"{said} is {_a(node.type)}, not a condition", part, advice)
        if isinstance(node, Value):
            self.fail("TRUE and FALSE alone say nothing of an item", part, "Name a column.")
        return node

    def side(self, part: _Part) -> Node:
        """An operand of a comparison, IN or IS. A condition needs brackets there: engines disagree
        about `a = b IS TRUE`."""
        node = self.operand(part)
        if part.bare:
            self.fail("a condition inside a comparison", part, "Put it in brackets.")
        return node

    def with_column(self, node: Node, part: _Part, what: str) -> Node:
        if not any(tree.columns(node)):
            self.fail(what, part)
        return node

    def same(self, part: _Part, other: Node, where: tuple[int, int]) -> Node:
        """A part in a type that compares with `other`; texts become dates where dates stand."""
        node = self.operand(part)
        if node.type is other.type or (node.type.temporal and other.type.temporal):
            return node
        if part.value is not None and node.type is Type.TEXT and other.type.temporal:
            return self.moment(part, Type.DATE)
        if isinstance(other, Value) and other.type is Type.TEXT and node.type.temporal:
            return node
        if node.type.numeric and other.type.numeric:
            huge = part.value is not None and part.value == int(part.value)
            if huge and node.type is Type.NUMBER and other.type is Type.INTEGER:
                self.fail("no whole number of 64 bits is as large as this", part)
            return node
        said = f"{_shown(node)} is {_a(node.type)} but {_shown(other)} is {_a(other.type)}"
        self.fail(said, where, "They must be of the same kind.")

    def of(self, part: _Part, *wanted: Type) -> Node:
        node = self.operand(part)
        if node.type not in wanted:
            self.fail(f"{_shown(node)} is {_a(node.type)}, not {_a(wanted[0])}", part)
        return node

    def literal_text(self, part: _Part, what: str) -> str:
        if not isinstance(part.value, str):
            self.fail(what, part)
        return part.value

    # -- parts and errors

    def part(self, node: Node, first: Token | _Part, last: Token | _Part | None = None) -> _Part:
        return _Part(node, first.start, (last or first).end)

    def nested(self, node: Node, first: Token | _Part, *others: _Part, bare: bool = False) -> _Part:
        """An operation on parts."""
        parts = (first, *others)
        height = 1 + max(part.height for part in parts if isinstance(part, _Part))
        where = (first.start, max(part.end for part in parts))
        if height > LEVELS * self.slack:
            self.fail(f"more than {LEVELS} operations inside each other", where)
        return _Part(node, *where, bare, None, height)

    def span(self, first: _Part, last: _Part) -> tuple[int, int]:
        return first.start, last.end

    def fail(self, what: str, where: Token | _Part | tuple[int, int], advice: str = "") -> NoReturn:
        start, end = (where.start, where.end) if isinstance(where, Token | _Part) else where
        refuse(self.text, what, start, end, advice)


def _times(factor: int, terms: _Terms) -> _Terms:
    return tuple((condition, weight * factor) for condition, weight in terms)


def short(text: str) -> str:
    """A text cut to 60 characters, for messages."""
    return text if len(text) <= 60 else f"{text[:57]}..."


def _shown(node: Node) -> str:
    return short(tree.text(node))


def _a(kind: Type) -> str:
    names = {Type.BOOL: "a condition", Type.INTEGER: "a number", Type.NUMBER: "a number"}
    return names.get(kind, f"a {kind.value}")


def _list(names: Iterable[str]) -> str:
    shown = sorted(map(short, names))
    return ", ".join(shown[:30]) + (f" and {len(shown) - 30} more" if len(shown) > 30 else "")


def refuse(text: str, what: str, start: int, end: int, advice: str = "") -> NoReturn:
    """Raise a `FeatureError` that points at a part of the text."""
    message = f"{what}. {advice}".rstrip()
    raise FeatureError(f"{message}\n{_underlined(text, start, end)}", spot=(start, end))


def _underlined(text: str, start: int, end: int) -> str:
    """The text around a position, and a line of carets below it."""
    first = max(0, start - 40)
    last = min(len(text), max(start + 60, min(end, start + 60)))
    line = "".join(c if c.isprintable() else " " for c in text[first:last])
    before, after = "..." if first else "", "..." if last < len(text) else ""
    pointer = " " * (len(before) + start - first) + "^" * max(1, min(end, last) - start)
    return f"  {before}{line}{after}\n  {pointer}"
