"""The parser of the feature language: from text to syntax tree.

There are three checks, each a list of what is allowed: the tokens (`tokens`); then every node of
sqlglot's parse tree (dialect duckdb) and every argument of every node; then the types of columns.
Nothing is ever evaluated.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from tellapart.errors import FeatureError
from tellapart.features import canonical, tree
from tellapart.features.combinations import MOST_POINTS
from tellapart.features.tokens import ALLOWED, FUNCTIONS, Names, refuse, short, tokenize
from tellapart.features.tree import Node, Pattern, Type, Value, Wild

if TYPE_CHECKING:
    from sqlglot import Token, exp

LEVELS = 64
"""The most levels of nested operations."""

_MOMENT = re.compile(
    "[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?)?"
)
_COMPARISONS = {"EQ": "=", "NEQ": "<>", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}
_ARITHMETIC = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/"}

# The arguments each kind of node may have. sqlglot keeps negation (negate=) there.
_ARGUMENTS: dict[str, frozenset[str]] = {
    **dict.fromkeys(_COMPARISONS, frozenset({"this", "expression"})),
    **dict.fromkeys(("Add", "Sub", "Mul", "And", "Or"), frozenset({"this", "expression"})),
    **dict.fromkeys(("Contains", "StartsWith", "EndsWith"), frozenset({"this", "expression"})),
    **dict.fromkeys(("Lower", "Upper", "Length", "Abs", "Trim"), frozenset({"this"})),
    **dict.fromkeys(("Year", "Month", "Day", "Paren", "Not", "Neg", "Column"), frozenset({"this"})),
    "Div": frozenset({"this", "expression", "typed", "safe"}),
    "Like": frozenset({"this", "expression", "negate"}),
    "ILike": frozenset({"this", "expression", "negate"}),
    "Escape": frozenset({"this", "expression"}),
    "In": frozenset({"this", "expressions"}),
    "Between": frozenset({"this", "low", "high"}),
    "Is": frozenset({"this", "expression"}),
    "Coalesce": frozenset({"this", "expressions"}),
    "Cast": frozenset({"this", "to", "_type"}),
    "Identifier": frozenset({"this", "quoted"}),
    "Literal": frozenset({"this", "is_string"}),
    "Boolean": frozenset({"this"}),
    "Null": frozenset(),
    "Anonymous": frozenset({"this", "expressions"}),
}

_POINTS = "Write for instance 2 * (a > 1) + (b = 2) >= 3, conditions in brackets."

_ONE = Value(True, Type.BOOL)  # true everywhere: a constant in a sum of conditions


@dataclass(frozen=True, slots=True)
class _Sum:
    """A sum of conditions times whole numbers."""

    terms: tuple[tuple[Node, int], ...]
    type: ClassVar[Type] = Type.INTEGER

    def times(self, factor: int) -> _Sum:
        return _Sum(tuple((condition, weight * factor) for condition, weight in self.terms))


def parse(text: str, schema: Mapping[str, Type], *, slack: int = 1) -> Node:
    """The canonical tree of `text` over the columns of `schema`, or a `FeatureError`.

    `slack` multiplies all limits: the canonical text of a feature may be longer than what was
    written, and has to be read back.
    """
    if not isinstance(text, str):
        raise FeatureError(f"a feature is a text, got {text!r} ({type(text).__name__})")
    return _Parser(text, schema, slack).feature()


class _Parser:
    def __init__(self, text: str, schema: Mapping[str, Type], slack: int) -> None:
        self.text, self.schema, self.names = text, schema, Names(schema)
        self.slack = slack
        self.tokens: list[Token] = []

    def feature(self) -> Node:
        from sqlglot import Dialect
        from sqlglot.errors import ParseError

        tokens = self.tokens = tokenize(self.text, self.names, slack=self.slack)
        try:
            trees = Dialect.get_or_raise("duckdb").parser().parse(tokens, self.text)
            if len(trees) != 1 or trees[0] is None:
                self.fail("not one condition", (0, len(self.text)))
            self.measure(trees[0])
            return canonical.feature(self.condition(trees[0]))
        except ParseError as error:
            self.misparsed(error)
        except RecursionError:
            raise FeatureError("the feature is nested too deeply; use fewer brackets") from None

    def measure(self, root: exp.Expr) -> None:
        """Refuse what is nested too deeply; a chain of ANDs or ORs is one level."""
        stack = [(root, 1)]
        while stack:
            node, level = stack.pop()
            if level > LEVELS * self.slack:
                self.fail(f"more than {LEVELS} operations inside each other", node)
            for child in node.iter_expressions():
                chained = type(child) is type(node) and type(node).__name__ in ("And", "Or")
                stack.append((child, level + (not chained)))

    # -- conditions

    def condition(self, node: exp.Expr) -> Node:
        """`node` as something true, false or unknown."""
        made = self.operand(node)
        if made.type is not Type.BOOL:
            self.fail(
                f"{_shown(made)} is {_a(made.type)}, not a condition",
                node,
                f"Compare it with something, for instance {_shown(made)} = ...",
            )
        if isinstance(made, Value):
            self.fail("TRUE and FALSE alone say nothing of an item", node, "Name a column.")
        return made

    def operand(self, node: exp.Expr) -> Node:
        """The tree of any allowed node but a sum of conditions."""
        made = self.term(node)
        if isinstance(made, _Sum):
            advice = "Compare it with a whole number, for instance ... >= 3."
            self.fail("a sum of conditions says nothing by itself", node, advice)
        return made

    def term(self, node: exp.Expr) -> Node | _Sum:
        """The tree of any allowed node, or a sum of conditions."""
        kind = type(node).__name__
        if kind not in _ARGUMENTS:
            self.fail(f"{_name(node)} cannot be used in a feature", node, ALLOWED)
        for name, value in node.args.items():
            if name not in _ARGUMENTS[kind] and value not in (None, False, []):
                self.fail(f"{_name(node)} with {name!r} cannot be used here", node, ALLOWED)
        if kind in _COMPARISONS:
            return self.comparison(_COMPARISONS[kind], node, node.this, node.expression)
        if kind in _ARITHMETIC:
            sides = self.term(node.this), self.term(node.expression)
            if any(map(_counts, sides)):
                return self.sum(_ARITHMETIC[kind], node, *sides)
            spots = node.this, node.expression
            left, right = (self.numeric(*pair) for pair in zip(sides, spots, strict=True))
            return canonical.arithmetic(_ARITHMETIC[kind], left, right)
        reader: Callable[[Any], Node | _Sum] = getattr(self, f"_{kind.lower()}", self.function)
        return reader(node)

    def comparison(self, op: str, node: exp.Expr, first: exp.Expr, second: exp.Expr) -> Node:
        left, right = self.term(first), self.term(second)
        if isinstance(left, _Sum) or isinstance(right, _Sum):
            terms = self.counted(left, first).terms + self.counted(right, second).times(-1).terms
            return self.points(op if type(node).__name__ in _COMPARISONS else "", node, terms)
        left, right = self.bracketed(left, first), self.bracketed(right, second)
        left, right = self.same(left, right, first), self.same(right, left, second)
        if not any(True for side in (left, right) for _ in tree.columns(side)):
            self.fail("this compares two constants", node, "Name a column.")
        if left.type is Type.BOOL and op not in ("=", "<>"):
            self.fail(f"{op} between conditions", node, "Use = or <>, AND, OR and NOT.")
        return canonical.compare(op, left, right)

    def side(self, node: exp.Expr) -> Node:
        """An operand of IN or of IS."""
        return self.bracketed(self.operand(node), node)

    def bracketed(self, made: Node, node: exp.Expr) -> Node:
        """An operand of a comparison, IN or IS. A condition needs brackets there: engines disagree
        about `a = b IS TRUE`."""
        if made.type is Type.BOOL and _bare(node):
            self.fail("a condition inside a comparison", node, "Put it in brackets.")
        return made

    # -- points

    def sum(self, op: str, node: exp.Expr, left: Node | _Sum, right: Node | _Sum) -> _Sum:
        """Arithmetic with conditions: sums, differences and whole multiples."""
        if op in "+-":
            sides = self.counted(left, node.this), self.counted(right, node.expression)
            return _Sum(sides[0].terms + sides[1].times(-1 if op == "-" else 1).terms)
        if op == "*" and isinstance(right, Value):
            left, right, many = right, left, node.this
        else:
            many = node.expression
        if op != "*" or not isinstance(left, Value) or left.type is not Type.INTEGER:
            self.fail(
                "conditions can only be added up, and multiplied by whole numbers", node, _POINTS
            )
        return self.counted(right, many).times(left.value)

    def counted(self, made: Node | _Sum, node: exp.Expr, *, bare: bool = False) -> _Sum:
        """A part of a sum of conditions: such a sum, a condition or a whole number. A condition
        needs brackets, unless it may be `bare`."""
        if isinstance(made, _Sum):
            return made
        if isinstance(made, Value) and made.type is Type.INTEGER:
            return _Sum(((_ONE, made.value),))
        if made.type is not Type.BOOL or isinstance(made, Value):
            what = f"{_shown(made)} cannot be counted together with conditions"
            self.fail(what, node, _POINTS)
        if _bare(node) and not bare:
            self.fail("a condition inside a sum", node, "Put it in brackets.")
        return _Sum(((made, 1),))

    def points(self, op: str, node: exp.Expr, terms: Iterable[tuple[Node, int]]) -> Node:
        """`terms`, constants among them, compared with 0."""
        if op not in ("<", "<=", ">", ">="):
            self.fail("points are compared by <, <=, > or >=", node)
        sign = 1 if op[0] == ">" else -1
        terms = tuple((condition, sign * weight) for condition, weight in terms)
        if sum(abs(weight) for _, weight in terms) > MOST_POINTS:
            self.fail(f"more than {MOST_POINTS:,} points", node, "Use small weights.")
        made = canonical.points(terms, 0 if op[1:] else 1)
        if isinstance(made, Value):
            self.fail("there is no condition to count, or all cancel out", node)
        return made

    def _anonymous(self, node: exp.Expr) -> Node:
        """The functions that sqlglot does not know: at_least(3, 2 * (a > 1), b = 2, ...) and
        weekday(d)."""
        name = str(node.this).lower()
        if name == "weekday" and len(node.expressions) == 1:
            return self.part_of_date(name, node.expressions[0])
        if name != "at_least":
            self.fail(f"{_name(node)} cannot be used in a feature", node, ALLOWED)
        if len(node.expressions) < 2:
            advice = "Write at_least(2, a > 1, b = 2, c)."
            self.fail("at_least takes a whole number and conditions", node, advice)
        first, *rest = node.expressions
        bound = self.operand(first)
        if not isinstance(bound, Value) or bound.type is not Type.INTEGER:
            self.fail("at_least takes a whole number first", first, "Write at_least(2, a, b, c).")
        terms: list[tuple[Node, int]] = [(_ONE, -bound.value)]
        for part in rest:
            terms += self.counted(self.term(part), part, bare=True).terms
        return self.points(">=", node, terms)

    def same(self, made: Node, other: Node, node: exp.Expr) -> Node:
        """`made` in a type that compares with `other`; texts become dates where dates stand."""
        if made.type is other.type or (made.type.temporal and other.type.temporal):
            return made
        if isinstance(made, Value) and made.type is Type.TEXT and other.type.temporal:
            return self.moment(made.value, node, Type.DATE)
        if isinstance(other, Value) and other.type is Type.TEXT and made.type.temporal:
            return made
        if made.type.numeric and other.type.numeric:
            huge = isinstance(made, Value) and made.value == int(made.value)
            if huge and made.type is Type.NUMBER and other.type is Type.INTEGER:
                self.fail("no whole number of 64 bits is as large as this", node)
            return made
        said = f"{_shown(made)} is {_a(made.type)} but {_shown(other)} is {_a(other.type)}"
        self.fail(said, node.parent or node, "They must be of the same kind.")

    # -- nodes

    def _paren(self, node: exp.Expr) -> Node | _Sum:
        return self.term(node.this)

    def _and(self, node: exp.Expr) -> Node:
        return canonical.both(map(self.condition, _chain(node)))

    def _or(self, node: exp.Expr) -> Node:
        return canonical.either(map(self.condition, _chain(node)))

    def _not(self, node: exp.Expr) -> Node:
        return canonical.negate(self.condition(node.this))

    def _between(self, node: exp.Expr) -> Node:
        low, high = node.args["low"], node.args["high"]
        return canonical.both(
            [
                self.comparison(">=", node, node.this, low),
                self.comparison("<=", node, node.this, high),
            ]
        )

    def _in(self, node: exp.Expr) -> Node:
        operand = self.side(node.this)
        if operand.type is Type.BOOL or not any(tree.columns(operand)):
            self.fail("IN needs a number, text or date with a column before it", node.this)
        values = []
        for part in node.expressions:
            if type(part).__name__ == "Null":
                self.fail("NULL in a list", part, "Write OR ... IS NULL beside it.")
            value = self.same(self.operand(part), operand, part)
            if not isinstance(value, Value):
                self.fail("a list holds literals only", part, "Write several conditions with OR.")
            values.append(value)
        if not values:
            self.fail("an empty list", node)
        return canonical.is_in(operand, values)

    def _is(self, node: exp.Expr) -> Node:
        operand, wanted = self.side(node.this), node.expression
        if not any(tree.columns(operand)):
            self.fail("IS needs a column before it", node.this)
        if type(wanted).__name__ == "Null":
            return canonical.is_null(operand)
        if type(wanted).__name__ != "Boolean":
            self.fail("IS takes NULL, TRUE or FALSE", wanted)
        if operand.type is not Type.BOOL:
            self.fail(f"{_shown(operand)} is {_a(operand.type)}, not a condition", node.this)
        return canonical.is_true(operand if wanted.this else canonical.negate(operand))

    def _like(self, node: exp.Expr, escape: str = "") -> Node:
        operand = self.of(node.this, Type.TEXT)
        if not any(tree.columns(operand)):
            self.fail("LIKE needs a column before it", node.this)
        wanted = self.operand(node.expression)
        if not isinstance(wanted, Value) or wanted.type is not Type.TEXT:
            self.fail("a pattern must be a text in quotes", node.expression)
        pattern = self.pattern(wanted.value, escape, node.expression)
        made = canonical.like(operand, pattern, fold=type(node).__name__ == "ILike")
        return canonical.negate(made) if node.args.get("negate") else made

    _ilike = _like

    def _escape(self, node: exp.Expr) -> Node:
        if type(node.this).__name__ not in ("Like", "ILike"):
            self.fail("ESCAPE belongs to LIKE or ILIKE", node)
        self.operand(node.this)
        sign = self.operand(node.expression)
        if not isinstance(sign, Value) or sign.type is not Type.TEXT or len(sign.value) != 1:
            self.fail("ESCAPE takes one character", node.expression)
        return self._like(node.this, sign.value)

    def pattern(self, text: str, escape: str, node: exp.Expr) -> Pattern:
        parts: list[str | Wild] = []
        letters = iter(text)
        for letter in letters:
            if letter == escape:
                escaped = next(letters, "")
                if escaped not in (escape, "%", "_") or not escaped:
                    self.fail(f"in a pattern, {escape} must stand before {escape}, % or _", node)
                parts.append(escaped)
            else:
                parts.append(Wild(letter) if letter in "%_" else letter)
        return tuple(parts)

    def _column(self, node: exp.Expr) -> Node:
        identifier = node.this
        if type(identifier).__name__ != "Identifier":
            self.fail(f"{_name(identifier)} cannot be used in a feature", node, ALLOWED)
        name = self.names.find(identifier.this, quoted=bool(identifier.args.get("quoted")))
        if name is None:
            near = difflib.get_close_matches(identifier.this[:100], list(self.schema), 1)
            hint = f"Did you mean {near[0]!r}? " if near else ""
            self.fail(
                f"unknown column {short(identifier.this)!r}",
                node,
                f"{hint}Columns: {_list(self.schema)}.",
            )
        return tree.Column(name, self.schema[name])

    def _literal(self, node: exp.Expr) -> Node:
        if node.args.get("is_string"):
            return Value(node.this, Type.TEXT)
        try:
            value = Decimal(node.this)
            nearest = float(value)
        except (ArithmeticError, ValueError, OverflowError):
            self.fail(f"{node.this[:40]!r} is no number", node)
        if not abs(nearest) < float("inf"):
            self.fail("a number beyond double precision", node)
        if value == value.to_integral_value() and abs(value) < 2**63:
            return Value(int(value), Type.INTEGER)
        return canonical.number(nearest)

    def _neg(self, node: exp.Expr) -> Node | _Sum:
        part = self.term(node.this)
        if _counts(part):
            return self.counted(part, node.this).times(-1)
        made = self.numeric(part, node.this)
        if isinstance(made, Value):
            return canonical.number(-made.value)
        return canonical.call("negative", made)

    def _boolean(self, node: exp.Expr) -> Node:
        return Value(bool(node.this), Type.BOOL)

    def _null(self, node: exp.Expr) -> Node:
        self.fail("nothing equals NULL", node, "Write IS NULL or IS NOT NULL.")

    def _cast(self, node: exp.Expr) -> Node:
        """DATE '...' and TIMESTAMP '...' come as casts of a text; the words kept others out."""
        kinds = {"DATE": Type.DATE, "TIMESTAMP": Type.DATETIME, "TIMESTAMPNTZ": Type.DATETIME}
        kind = kinds.get(node.args["to"].this.name)
        if kind is None or type(node.this).__name__ != "Literal":
            self.fail("a cast", node, ALLOWED)
        return self.moment(node.this.this, node, kind)

    def moment(self, written: str, node: exp.Expr, wanted: Type) -> Value:
        """A date, or with a time of day a datetime."""
        if re.search(r":.*[-+Z]", written):
            self.fail("a time zone", node, "Times are without a zone, in UTC.")
        try:
            if not _MOMENT.fullmatch(written):
                raise ValueError
            moment = datetime.fromisoformat(written)
        except ValueError:
            advice = "Write '2024-12-31' or '2024-12-31 23:59:59'."
            self.fail(f"{short(written)!r} is no date", node, advice)
        if len(written) == 10:
            return canonical.fit(Value(moment.date(), Type.DATE), wanted)
        return Value(moment, Type.DATETIME)

    # -- functions

    def function(self, node: exp.Expr) -> Node:
        name = {"StartsWith": "starts_with", "EndsWith": "ends_with"}.get(
            type(node).__name__, type(node).__name__.lower()
        )
        if name not in FUNCTIONS:
            self.fail(f"{name!r} cannot be used in a feature", node, ALLOWED)
        if name == "coalesce":
            return self.coalesce(node)
        if FUNCTIONS[name] == 2:
            operand, wanted = self.of(node.this, Type.TEXT), self.operand(node.expression)
            if not isinstance(wanted, Value) or wanted.type is not Type.TEXT:
                self.fail(f"{name} looks for a text in quotes", node.expression)
            if not any(tree.columns(operand)):
                self.fail(f"{name} needs a column", node.this)
            before = () if name == "starts_with" else (Wild.ANY,)
            after = () if name == "ends_with" else (Wild.ANY,)
            return canonical.like(operand, (*before, wanted.value, *after), fold=False)
        if name == "abs":
            return canonical.call(name, self.number(node.this))
        if name in ("year", "month", "day"):
            return self.part_of_date(name, node.this)
        return canonical.call(name, self.of(node.this, Type.TEXT))

    def part_of_date(self, name: str, node: exp.Expr) -> Node:
        made = self.operand(node)
        if not made.type.temporal:
            self.fail(f"{name} takes a date, {_shown(made)} is {_a(made.type)}", node)
        return canonical.call(name, made)

    def coalesce(self, node: exp.Expr) -> Node:
        if not node.expressions:
            self.fail("coalesce takes two or more arguments", node)
        parts = [self.operand(part) for part in (node.this, *node.expressions)]
        first = next((p for p in parts if not isinstance(p, Value)), None)
        if first is None:
            self.fail("coalesce needs a column", node)
        pairs = zip(parts, (node.this, *node.expressions), strict=True)
        parts = [self.same(part, first, spot) for part, spot in pairs]
        kinds = {part.type for part in parts}
        kind = parts[0].type if len(kinds) == 1 else None
        if kind is None:
            kind = Type.NUMBER if Type.NUMBER in kinds else Type.DATETIME
        fitted = tuple(canonical.fit(p, kind) if isinstance(p, Value) else p for p in parts)
        return canonical.coalesce(fitted, kind)

    def number(self, node: exp.Expr) -> Node:
        return self.numeric(self.operand(node), node)

    def numeric(self, made: Node | _Sum, node: exp.Expr) -> Node:
        assert not isinstance(made, _Sum)  # which `sum` and `counted` take
        if not made.type.numeric:
            self.fail(f"{_shown(made)} is {_a(made.type)}, not a number", node)
        return made

    def of(self, node: exp.Expr, wanted: Type) -> Node:
        made = self.operand(node)
        if made.type is not wanted:
            self.fail(f"{_shown(made)} is {_a(made.type)}, not {_a(wanted)}", node)
        return made

    # -- errors

    def misparsed(self, error: Any) -> NoReturn:
        """sqlglot's complaint, at the spot it names."""
        where = error.errors[0] if error.errors else {}
        said = str(where.get("description") or "")
        what = "this cannot stand here"
        if said.startswith("Expecting )"):
            what = "a bracket is opened and not closed"
        elif said.startswith("Required"):
            what = "something is missing here"
        context, highlight = where.get("start_context") or "", where.get("highlight") or ""
        start = len(self.text) - 1
        if highlight:
            start = max(self.text.find(context[-40:] + highlight), 0) + len(context[-40:])
        self.fail(what, (start, start + max(len(highlight), 1)), ALLOWED)

    def fail(self, what: str, where: exp.Expr | tuple[int, int], advice: str = "") -> NoReturn:
        start, end = where if isinstance(where, tuple) else self.spot(where)
        refuse(self.text, what, start, end, advice)

    def spot(self, node: exp.Expr) -> tuple[int, int]:
        """First and one past the last character of a node."""
        if type(node).__name__ in ("Null", "Boolean"):  # these do not know where they are
            alike = [n for n in node.root().dfs() if type(n) is type(node)]
            kinds = ("NULL",) if type(node).__name__ == "Null" else ("TRUE", "FALSE")
            words = [token for token in self.tokens if token.token_type.name in kinds]
            if len(alike) == len(words):
                word = words[next(n for n, other in enumerate(alike) if other is node)]
                return word.start, word.end + 1
        where: exp.Expr | None = node
        while where is not None:
            spots = [n.meta for n in where.walk() if "start" in n.meta]
            if spots:
                return min(s["start"] for s in spots), max(s["end"] for s in spots) + 1
            where = where.parent
        return 0, len(self.text)


def _chain(node: exp.Expr) -> Iterable[exp.Expr]:
    """The parts of a chain of ANDs or ORs, however long, left to right."""
    kind, stack = type(node), [node]
    while stack:
        here = stack.pop()
        if type(here) is kind:
            stack += [here.expression, here.this]
        else:
            yield here


def _bare(node: exp.Expr) -> bool:
    """Whether it is a condition without brackets."""
    return type(node).__name__ in {
        *_COMPARISONS, "And", "Or", "Not", "Like", "ILike", "Escape", "In", "Between", "Is",
    }  # fmt: skip


def _counts(made: Node | _Sum) -> bool:
    """Whether arithmetic with it counts points."""
    return isinstance(made, _Sum) or (made.type is Type.BOOL and not isinstance(made, Value))


def _name(node: exp.Expr) -> str:
    kind = type(node).__name__
    if kind == "Alias":
        return "two things side by side without an operator"
    name = node.args.get("this") if kind == "Anonymous" else None
    return repr(short(name)) if isinstance(name, str) else kind.upper()


def _shown(node: Node) -> str:
    return short(tree.text(node))


def _a(kind: Type) -> str:
    names = {Type.BOOL: "a condition", Type.INTEGER: "a number", Type.NUMBER: "a number"}
    return names.get(kind, f"a {kind.value}")


def _list(names: Iterable[str]) -> str:
    shown = sorted(map(short, names))
    return ", ".join(shown[:30]) + (f" and {len(shown) - 30} more" if len(shown) > 30 else "")
