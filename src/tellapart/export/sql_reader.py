"""Conditions written in SQL, by people or by our export, as trees of the feature language.

What an engine's SQL says in a way of its own (`lowering`, `dialects`) is read as what it says:
casts to doubles and limits against infinity go without saying, TRANSLATE and GLOB with both cases
of a letter are ILIKE, sums of CASE are points. A long form is taken for what it guards only if the
export would write it so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, time
from decimal import Decimal
from typing import Any, NoReturn

from sqlglot import exp

from tellapart.errors import ExportError, FeatureError
from tellapart.export.lowering import LARGEST, Lowering
from tellapart.features import canonical, letter_case, tree
from tellapart.features.tree import Node, Pattern, Type, Value, Wild

TRUE, FALSE = Value(True, Type.BOOL), Value(False, Type.BOOL)
_LOWERS = "".join(lower for _, lower in letter_case.PAIRS)
_BACKSLASH = ("bigquery", "clickhouse", "databricks", "mysql", "postgres", "redshift", "spark")
"""The dialects whose LIKE reads a backslash as a sign of its own unless ESCAPE names another."""
_PARTS = {"1,4": "year", "6,2": "month", "9,2": "day"}
_UPPERS = "".join(upper for upper, _ in letter_case.PAIRS)
_LETTERS = (exp.DType.CHAR, exp.DType.NCHAR)
_BYTES = (exp.DType.BINARY, exp.DType.VARBINARY)
_ONE_LETTER = ("postgres", "redshift", "snowflake", "tsql", "oracle", "trino", "presto")
"""The dialects whose CHAR is one letter."""
_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
}  # fmt: skip
_ARITHMETIC: dict[type[exp.Expr], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.SafeAdd: "+",
    exp.SafeSubtract: "-", exp.SafeMultiply: "*", exp.SafeDivide: "/",
}  # fmt: skip
_ARGUMENTS: dict[type[exp.Expr], frozenset[str]] = {
    exp.Between: frozenset({"low", "high"}),
    exp.Case: frozenset({"ifs", "default"}),
    exp.Cast: frozenset({"to", "_type"}),
    exp.Div: frozenset({"typed", "safe"}),
    exp.DPipe: frozenset({"safe"}),
    exp.ILike: frozenset({"negate"}),
    exp.Is: frozenset({"negate"}),
    exp.Length: frozenset({"binary"}),
    exp.Like: frozenset({"negate"}),
    exp.Literal: frozenset({"is_string"}),
    exp.Replace: frozenset({"replacement"}),
    exp.Substring: frozenset({"start", "length"}),
    exp.Translate: frozenset({"from_", "to"}),
    exp.TryCast: frozenset({"to", "_type"}),
    exp.TsOrDsToDate: frozenset({"default_date"}),
}
"""What a node may have besides its operands; sqlglot keeps negation there."""


class SqlReader:
    """Reads conditions of one SQL text over columns of known types."""

    def __init__(
        self,
        types: Mapping[str, Type],
        dialect: str,
        language: Lowering | None,
        given: Collection[str] = (),
    ) -> None:
        self.types, self.dialect, self.language = types, dialect, language
        self.given = given
        """The columns whose type is known, and not only guessed from the SQL."""
        self.folded = {name.lower(): name for name in reversed(list(types))}

    def condition(self, node: exp.Expr) -> Node:
        """Something true, false or unknown; TRUE and FALSE for what always is."""
        made = self.read(node)
        if isinstance(made, Value) and made.value in (0, 1):
            return TRUE if made.value else FALSE
        if made.type is not Type.BOOL:
            self.fail(f"{tree.text(made)} is no condition", node)
        return made

    def read(self, node: exp.Expr) -> Node:
        """The tree of a condition or a value."""
        if isinstance(node, exp.Paren):
            return self.read(node.this)
        for found in (self.weekday(node), self.length_without_end(node)):
            if found is not None:
                return found
        allowed = _ARGUMENTS.get(type(node), frozenset())
        for name, value in node.args.items():
            if name not in ("this", "expression", "expressions", *allowed) and value:
                self.fail(f"{node.key.upper()} with {name!r} cannot be read", node)
        if type(node) in _COMPARISONS:
            return self.comparison(_COMPARISONS[type(node)], node.this, node.expression, node)
        if type(node) in _ARITHMETIC:
            return self.arithmetic(_ARITHMETIC[type(node)], node)
        name = f"_{type(node).__name__.lower()}"
        reader: Callable[[Any], Node] | None = getattr(self, name, None)
        if reader is None:
            self.fail(f"{node.key.upper()} cannot be read", node)
        return reader(node)

    def _and(self, node: exp.Expr) -> Node:
        return both([self.condition(part) for part in _chain(node)])

    def _or(self, node: exp.Expr) -> Node:
        parts = [self.condition(part) for part in _chain(node)]
        return negate(both(map(negate, parts)))

    def _not(self, node: exp.Expr) -> Node:
        return negate(self.condition(node.this))

    def _boolean(self, node: exp.Expr) -> Node:
        return TRUE if node.this else FALSE

    def _is(self, node: exp.Expr) -> Node:
        wanted, negated = node.expression, bool(node.args.get("negate"))
        while isinstance(wanted, exp.Not | exp.Paren):
            negated ^= isinstance(wanted, exp.Not)
            wanted = wanted.this
        if isinstance(wanted, exp.Null):
            made = self.is_null(self.read(node.this))
        elif isinstance(wanted, exp.Boolean) or wanted.sql() in ("0", "1"):
            yes = wanted.sql().upper() in ("1", "TRUE")
            made = self.is_true(self.condition(node.this), yes)
        else:
            self.fail("IS takes NULL, TRUE or FALSE", node)
        return negate(made) if negated else made

    def _nullsafeneq(self, node: exp.Expr) -> Node:
        return negate(self._nullsafeeq(node))

    def _nullsafeeq(self, node: exp.Expr) -> Node:
        """SQLite's x IS 1."""
        if node.expression.sql() not in ("0", "1"):
            self.fail("IS takes NULL, TRUE or FALSE", node)
        return self.is_true(self.condition(node.this), node.expression.sql() == "1")

    def is_true(self, made: Node, yes: bool = True) -> Node:
        made = made if yes else negate(made)
        return made if isinstance(made, Value) else canonical.is_true(made)

    def is_null(self, made: Node) -> Node:
        if isinstance(made, Value):
            return FALSE
        return canonical.is_null(made)

    def _in(self, node: exp.Expr) -> Node:
        if not node.expressions or node.args.get("query"):
            self.fail("IN takes a list of values", node)
        operand = self.read(node.this)
        values = [self.fitted(self.read(part), operand, part) for part in node.expressions]
        literals = [value for value in values if isinstance(value, Value)]
        if len(literals) < len(values):
            self.fail("a list holds literals only", node)
        if operand.type is Type.BOOL:
            return negate(both(negate(canonical.compare("=", operand, v)) for v in literals))
        return canonical.is_in(operand, literals)

    def _between(self, node: exp.Expr) -> Node:
        low, high = node.args["low"], node.args["high"]
        return both(
            [
                self.comparison(">=", node.this, low, node),
                self.comparison("<=", node.this, high, node),
            ]
        )

    def comparison(self, op: str, left: exp.Expr, right: exp.Expr, node: exp.Expr) -> Node:
        if isinstance(left, exp.RegexpInstr) and op == "=" and right.sql() == "1":
            return self._regexplike(left)
        if (made := self.flagged(op, left, right)) is not None:
            return made
        sides = self.terms(left, 1), self.terms(right, -1)
        terms = [term for side in sides for term in side or ()]
        if None not in sides and any(side.find(exp.Case) for side in (left, right)):
            return self.points(op, terms, node)
        one, two = self.read(left), self.read(right)
        one, two = self.fitted(one, two, left), self.fitted(two, one, right)
        if isinstance(one, Value) and isinstance(two, Value):
            return TRUE if tree.OPERATORS[op](one.value, two.value) else FALSE
        if one.type is Type.BOOL and op not in ("=", "<>"):
            self.fail(f"{op} between conditions", node)
        return canonical.compare(op, one, two)

    def flagged(self, op: str, left: exp.Expr, right: exp.Expr) -> Node | None:
        """CASE WHEN ... THEN 1 ELSE 0 END = 1, where an engine has no conditions as values."""
        terms = self.terms(left, 1) if isinstance(left, exp.Case) and op == "=" else None
        if terms is None or right.sql() not in ("0", "1") or terms[0][1] != 1:
            return None
        made = self.is_true(terms[0][0])
        return made if right.sql() == "1" else negate(made)

    def fitted(self, made: Node, other: Node, node: exp.Expr) -> Node:
        """A literal in a type that compares with `other`."""
        if made.type is other.type or (made.type.numeric and other.type.numeric):
            return made
        if made.type.temporal and other.type.temporal:
            return made
        if isinstance(other, Value):
            return made  # which is fitted itself
        if isinstance(made, Value):
            if made.type is Type.TEXT and other.type.temporal:
                return self.moment(made.value, Type.DATE, node)
            if made.value in (0, 1) and other.type is Type.BOOL:
                return TRUE if made.value else FALSE
        self.fail(
            f"{tree.text(made)} is {made.type.value} but {tree.text(other)} is {other.type.value}",
            node,
        )

    # -- points

    def terms(self, node: exp.Expr, sign: int) -> list[tuple[Node, int]] | None:
        """A sum of CASE WHEN ... THEN 2 ELSE 0 END, or a whole number; None for anything else."""
        match node:
            case exp.Paren():
                return self.terms(node.this, sign)
            case exp.Neg():
                return self.terms(node.this, -sign)
            case exp.Add() | exp.Sub():
                left = self.terms(node.this, sign)
                right = self.terms(node.expression, sign if isinstance(node, exp.Add) else -sign)
                return None if left is None or right is None else left + right
            case exp.Literal() if not node.is_string and node.this.isdigit():
                return [(TRUE, sign * int(node.this))]
            case exp.Case() if not node.this and len(node.args["ifs"]) == 1:
                then, default = node.args["ifs"][0].args["true"], node.args.get("default")
                weight = self.terms(then, sign)
                if weight and len(weight) == 1 and default is not None and default.sql() == "0":
                    return [(self.condition(node.args["ifs"][0].this), weight[0][1])]
        return None

    def points(self, op: str, terms: Iterable[tuple[Node, int]], node: exp.Expr) -> Node:
        if op not in ("<", "<=", ">", ">="):
            self.fail("points are compared by <, <=, > or >=", node)
        sign = 1 if op[0] == ">" else -1
        return canonical.points([(one, sign * weight) for one, weight in terms], 0 if op[1:] else 1)

    # -- values

    def _column(self, node: exp.Expr) -> Node:
        name = node.this.name
        found = name if name in self.types else None
        if found is None and not node.this.args.get("quoted"):
            found = self.folded.get(name.lower())
        if found is None:
            self.fail(f"nothing says what the column {name!r} holds", node)
        return tree.Column(found, self.types[found])

    def _literal(self, node: exp.Expr) -> Node:
        if node.is_string:
            return Value(node.this, Type.TEXT)
        value = Decimal(node.this)
        if value == value.to_integral_value() and abs(value) < 2**63:
            return Value(int(value), Type.INTEGER)
        return canonical.number(float(value))

    def _national(self, node: exp.Expr) -> Node:
        """SQL Server's N'...'."""
        return Value(node.name, Type.TEXT)

    def _neg(self, node: exp.Expr) -> Node:
        if isinstance(node.this, exp.Literal) and node.this.this == str(2**63):
            return Value(-(2**63), Type.INTEGER)
        made = self.number(node.this)
        return canonical.number(-made.value) if isinstance(made, Value) else (
            canonical.call("negative", made)
        )  # fmt: skip

    def _null(self, node: exp.Expr) -> Node:
        """A number that is never known: some column's, divided by zero."""
        for name, kind in self.types.items():
            column = tree.Column(name, kind)
            part = {Type.TEXT: "length", Type.DATE: "year", Type.DATETIME: "year"}.get(kind)
            if kind is not Type.BOOL:
                made = canonical.call(part, column) if part else column
                return canonical.arithmetic("/", made, Value(0, Type.INTEGER))
        self.fail("NULL stands here", node)

    def number(self, node: exp.Expr) -> Node:
        made = self.read(node)
        if not made.type.numeric:
            self.fail(f"{tree.text(made)} is no number", node)
        return made

    def arithmetic(self, op: str, node: exp.Expr) -> Node:
        divisor = node.expression
        if op == "/" and isinstance(divisor, exp.Nullif) and self.is_zero(divisor.expression):
            divisor = divisor.this
        return canonical.arithmetic(op, self.number(node.this), self.number(divisor))

    def is_zero(self, node: exp.Expr) -> bool:
        return self.read(node) == Value(0, Type.INTEGER)

    def _cast(self, node: exp.Expr) -> Node:
        kind, inner = node.args["to"].this, node.this
        if kind in exp.DataType.NUMERIC_TYPES:
            if isinstance(inner, exp.Literal) and inner.is_string:
                return canonical.number(float(inner.this))
            if isinstance(inner, exp.Substring):
                return self.date_part(inner)
            made = self.number(inner)
            guessed = isinstance(made, tree.Column) and made.name not in self.given
            if kind in exp.DataType.REAL_TYPES and not node.args["to"].expressions:
                return made
            if made.type is Type.INTEGER and not guessed:
                return made
            self.fail(
                "a cast that rounds cannot be read; if there are only whole numbers, say so"
                " by the type of the column",
                node,
            )
        if kind in exp.DataType.TEMPORAL_TYPES:
            made = self.read(inner)
            wanted = Type.DATE if kind == exp.DType.DATE else Type.DATETIME
            if isinstance(made, Value) and made.type is Type.TEXT:
                return self.moment(made.value, wanted, node)
            if made.type is Type.DATE or made.type is wanted:
                return made
        if kind == exp.DType.BIT and inner.sql() in ("0", "1"):
            return TRUE if inner.sql() == "1" else FALSE
        if kind in exp.DataType.TEXT_TYPES or kind in _BYTES:
            made = self.read(inner)
            length = [one.name.upper() for one in node.args["to"].expressions]
            cuts = length not in ([], ["MAX"]) or (kind in _LETTERS and self.dialect in _ONE_LETTER)
            if made.type is Type.TEXT and not cuts:
                return made
        self.fail(f"a cast to {node.args['to'].sql()} cannot be read", node)

    _trycast = _cast

    def moment(self, text: str, wanted: Type, node: exp.Expr) -> Value:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            self.fail(f"{text!r} is no date", node)
        if len(text) == 10:
            return canonical.fit(Value(moment.date(), Type.DATE), wanted)
        if wanted is Type.DATE and moment.time() == time():
            return Value(moment, Type.DATETIME)
        return Value(moment, Type.DATETIME)

    def _case(self, node: exp.Expr) -> Node:
        """A number with its guards; or a condition as a number, 1 or 0."""
        (first, *more), default = node.args["ifs"], node.args.get("default")
        if len(more) == 1 and [one.args["true"].sql() for one in (first, *more)] == ["1", "0"]:
            made, other = self.condition(first.this), self.condition(more[0].this)
            if other == negate(made) and default is None:
                return made
        if node.this is None and not more and default is None and not first.find(exp.Or):
            condition, made = self.condition(first.this), self.read(first.args["true"])
            parts = condition.parts if isinstance(condition, tree.And) else (condition,)
            if all((part := guarded(one)) is not None and needs(made, part) for one in parts):
                return made  # which is finite or unknown without saying so
        found = {part.sql(): part for part in _outcomes(node) if not isinstance(part, exp.Null)}
        for outcome in found.values():
            if isinstance(outcome, exp.Literal) and len(found) > 1:
                continue
            made = self.read(outcome)
            if any(self.is_written(made, node, clean=clean) for clean in (False, True)):
                return made
        self.fail("a CASE inside a condition", node)

    def is_written(self, made: Node, node: exp.Expr, *, clean: bool) -> bool:
        """Whether the export would write a number as it stands here."""
        if self.language is None:
            return False
        language = type(self.language)(clean=clean)
        here = node.sql(dialect=language.dialect)
        return here in (self.written(language.guarded, made), self.written(language.raw, made))

    def written(self, write: Callable[..., exp.Expr], *arguments: Any) -> str:
        """What the export writes, parsed and written again."""
        from sqlglot import parse_one

        assert self.language is not None
        dialect = self.language.dialect
        try:
            sql = self.language.sql(write(*arguments))
        except ExportError:
            return ""
        return parse_one(sql, dialect=dialect).sql(dialect=dialect)

    def _coalesce(self, node: exp.Expr) -> Node:
        parts = [self.read(part) for part in (node.this, *node.expressions)]
        first = next((part for part in parts if not isinstance(part, Value)), parts[0])
        parts = [self.fitted(part, first, node) for part in parts]
        kinds = {part.type for part in parts}
        kind = parts[0].type
        if len(kinds) > 1:
            kind = Type.NUMBER if Type.NUMBER in kinds else Type.DATETIME
        fitted = [canonical.fit(p, kind) if isinstance(p, Value) else p for p in parts]
        if all(isinstance(part, Value) for part in parts):
            return parts[0]
        return canonical.coalesce(tuple(fitted), kind)

    def _abs(self, node: exp.Expr) -> Node:
        return canonical.call("abs", self.number(node.this))

    def text_call(self, name: str, node: exp.Expr) -> Node:
        made = self.read(node)
        if made.type is not Type.TEXT:
            self.fail(f"{tree.text(made)} is no text", node)
        return canonical.call(name, made)

    def _lower(self, node: exp.Expr) -> Node:
        return self.text_call("lower", node.this)

    def _upper(self, node: exp.Expr) -> Node:
        return self.text_call("upper", node.this)

    def _length(self, node: exp.Expr) -> Node:
        if node.args.get("binary") and self.dialect == "mysql":
            self.fail("LENGTH counts bytes; CHAR_LENGTH counts letters", node)
        return self.text_call("length", node.this)

    def _trim(self, node: exp.Expr) -> Node:
        what = node.args.get("expression")
        if node.args.get("position") or (what is not None and what.this != " "):
            self.fail("TRIM of other than spaces on both sides", node)
        return self.text_call("trim", node.this)

    def _translate(self, node: exp.Expr) -> Node:
        ways = {(_UPPERS, _LOWERS): "lower", (_LOWERS, _UPPERS): "upper"}
        name = ways.get((node.args["from_"].name, node.args["to"].name))
        if name is None:
            self.fail("TRANSLATE", node)
        return self.text_call(name, node.this)

    def _collate(self, node: exp.Expr) -> Node:
        return self.read(node.this)

    def _extract(self, node: exp.Expr) -> Node:
        return self.part(node.this.name.lower(), node.expression, node)

    def _dayofweekiso(self, node: exp.Expr) -> Node:
        return self.part("weekday", node.this, node)

    def weekday(self, node: exp.Expr) -> Node | None:
        """The day of the week, if the export would write it so."""
        kinds = (exp.Extract, exp.Add, exp.Anonymous, exp.Cast, exp.Mod, exp.DayOfWeek)
        if self.language is None or not isinstance(node, kinds):
            return None
        here = node.sql(dialect=self.language.dialect, identify=True)
        if not re.search("dow|day_?of_?week|weekday|strftime|date_?diff", here, re.IGNORECASE):
            return None
        for part in node.find_all(exp.Column, exp.Coalesce):
            made = self.read(part)
            if made.type.temporal:
                written = self.language.part("weekday", self.language.value(made))
                if here in self.forms(written):
                    return canonical.call("weekday", made)
        return None

    def length_without_end(self, node: exp.Expr) -> Node | None:
        """SQL Server's LEN(text + '.') - 1."""
        if not isinstance(node, exp.Sub) or self.dialect != "tsql" or self.language is None:
            return None
        added = next(node.find_all(exp.Add), None)
        if added is None or not isinstance(node.this, exp.Length):
            return None
        made = canonical.call("length", self.read(added.this))
        here = node.sql(dialect="tsql", identify=True)
        return made if here in self.forms(self.language.value(made)) else None

    def forms(self, written: exp.Expr) -> set[str]:
        """SQL that the export writes, parsed and written again, with brackets or without."""
        from sqlglot import parse_one

        assert self.language is not None
        dialect = self.language.dialect
        made = parse_one(self.language.sql(written), dialect=dialect)
        found = {made.sql(dialect=dialect, identify=True)}
        while isinstance(made, exp.Paren):
            made = made.this
            found.add(made.sql(dialect=dialect, identify=True))
        return found

    def part(self, name: str, operand: exp.Expr, node: exp.Expr) -> Node:
        made = self.read(operand)
        if name not in ("year", "month", "day", "weekday") or not made.type.temporal:
            self.fail("only the year, month or day of a date can be read", node)
        return canonical.call(name, made)

    def _tsordstodate(self, node: exp.Expr) -> Node:
        """What sqlglot puts around the date in SQL Server's YEAR(date)."""
        return self.read(node.this)

    def _year(self, node: exp.Expr) -> Node:
        return self.part("year", node.this, node)

    def _month(self, node: exp.Expr) -> Node:
        return self.part("month", node.this, node)

    def _day(self, node: exp.Expr) -> Node:
        return self.part("day", node.this, node)

    def _anonymous(self, node: exp.Expr) -> Node:
        """A function that sqlglot does not know."""
        name, arguments = str(node.this).lower(), node.expressions
        parts = {"toyear": "year", "tomonth": "month", "todayofmonth": "day"}
        if name in parts and len(arguments) == 1:
            return self.part(parts[name], arguments[0], node)
        if name == "translateutf8" and len(arguments) == 3:
            return self._translate(
                exp.Translate(this=arguments[0], from_=arguments[1], to=arguments[2])
            )
        if name in ("todate32", "todatetime64") and arguments:
            kind = exp.DType.DATE if name == "todate32" else exp.DType.TIMESTAMP
            return self._cast(exp.Cast(this=arguments[0], to=exp.DataType.build(kind)))
        self.fail(f"{node.this} cannot be read", node)

    # -- SQLite's dates and case

    def date_part(self, node: exp.Expr) -> Node:
        where = f"{node.args['start'].sql()},{node.args['length'].sql()}"
        return self.part(_PARTS.get(where, "a part"), node.this, node)

    def _substring(self, node: exp.Expr) -> Node:
        column = next(node.find_all(exp.Column), None)
        if self.language is not None and column is not None:
            made = self.read(column)
            if self.written(self.language.of, made, Type.DATETIME) == node.sql(
                dialect=self.language.dialect
            ):
                return made
        self.fail("a part of a text", node)

    def _dpipe(self, node: exp.Expr) -> Node:
        made = self.read(node.this)
        if made.type is Type.DATE and node.expression.this == " 00:00:00.000000":
            return made
        self.fail("texts joined together", node)

    def _subquery(self, node: exp.Expr) -> Node:
        """A walk through the letters of a text, in SQLite and MySQL."""
        start, source = (node.this.args.get(part) for part in ("with_", "from_"))
        first = start.expressions[0].this.find(exp.Select) if start else None
        if source is not None and isinstance(source.this.this, exp.JSONTable):
            first = source.this.this.this
        if self.language is not None and first is not None and first.expressions:
            here = node.sql(dialect=self.language.dialect)
            operand = first.expressions[0]
            bare = operand.this if isinstance(operand, exp.Alias) else operand
            for name in ("lower", "upper"):
                if self.written(self.language.change_case, bare.copy(), name == "lower") == here:
                    return self.text_call(name, bare)
        self.fail("a query inside a condition", node)

    # -- patterns

    def _like(self, node: exp.Expr, escape: str | None = None) -> Node:
        wanted = node.expression
        if not isinstance(wanted, exp.National) and not (
            isinstance(wanted, exp.Literal) and wanted.is_string
        ):
            self.fail("a pattern must be a text in quotes", node)
        if escape is None:
            escape = "\\" if self.dialect in _BACKSLASH else ""
        pattern = self.pattern(wanted.name, escape, node)
        operand, fold = self.unfolded(node.this, pattern)
        made = canonical.like(operand, pattern, fold=fold or isinstance(node, exp.ILike))
        return negate(made) if node.args.get("negate") else made

    _ilike = _like

    def _escape(self, node: exp.Expr) -> Node:
        return self._like(node.this, node.expression.name)

    def pattern(self, text: str, escape: str, node: exp.Expr) -> Pattern:
        parts: list[str | Wild] = []
        letters = iter(text)
        for letter in letters:
            if letter == escape:
                parts.append(next(letters, escape))
            elif letter == "[" and self.dialect == "tsql":
                self.fail("a pattern with square brackets", node)
            else:
                parts.append(Wild(letter) if letter in "%_" else letter)
        return tuple(parts)

    def unfolded(self, node: exp.Expr, pattern: Pattern) -> tuple[Node, bool]:
        """The operand of LIKE; and whether its letters are turned into those of the pattern."""
        while isinstance(node, exp.Paren | exp.Collate):
            node = node.this
        if isinstance(node, exp.Replace) and (
            node.expression.this in ("İ", "\u212a") and node.args["replacement"].this == "·"
        ):
            return self.unfolded(node.this, pattern)
        if isinstance(node, exp.Translate) and node.args["from_"].name != _LOWERS:
            uppers, lowers = node.args["from_"].name, node.args["to"].name
            letters = {c for part in pattern if isinstance(part, str) for c in part}
            pairs = set(zip(uppers, lowers, strict=False)) <= set(letter_case.PAIRS)
            cased = {c for c in letters if len(letter_case.both(c)) > 1}
            if len(uppers) == len(lowers) and pairs and cased <= set(lowers):
                return self.read(node.this), True
        return self.read(node), False

    def _glob(self, node: exp.Expr) -> Node:
        signs = {"*": Wild.ANY, "?": Wild.ONE}
        return self.shape(node, node.expression.this, r"\[(.[^\]]?)\]|(.)", signs)

    def _regexpfullmatch(self, node: exp.Expr) -> Node:
        return self.regular(node, "(?s)", "")

    def _regexplike(self, node: exp.Expr) -> Node:
        return self.regular(node, r"(?s)\A", r"\z")

    def regular(self, node: exp.Expr, start: str, end: str) -> Node:
        """A regular expression of those that the export writes."""
        text = node.expression.this
        inner = text[len(start) : len(text) - len(end)]
        signs_of_its_own = re.compile(r"[+?(){}|^$]|\\[a-zA-Z0-9]")
        simple = not any(map(signs_of_its_own.fullmatch, re.findall(r"\\.|.", inner, re.DOTALL)))
        if not (text.startswith(start) and text.endswith(end) and simple):
            self.fail("a regular expression", node)
        signs = {".*": Wild.ANY, ".": Wild.ONE}
        pieces = r"\[(.[^\]]?)\]|(\.\*|\\.|.)"
        return self.shape(node, inner, pieces, signs)

    def shape(self, node: exp.Expr, text: str, piece: str, signs: Mapping[str, Wild]) -> Node:
        """A pattern in which both cases of a letter stand in square brackets."""
        pattern: list[str | Wild] = []
        fold = plain = False
        for either, single in re.findall(piece, text, re.DOTALL):
            if single in signs:
                pattern.append(signs[single])
                continue
            letter = either or single.removeprefix("\\") or single
            if len(either) == 2:
                if letter_case.both(either[1]) != either:
                    self.fail("square brackets with other than both cases of a letter", node)
                letter, fold = either[1], True
            elif len(letter_case.both(letter)) > 1:
                plain = True
            pattern.append(letter)
        if fold and plain:
            self.fail("a pattern in which case counts for some letters only", node)
        return canonical.like(self.read(node.this), tuple(pattern), fold=fold)

    def affix(self, node: exp.Expr, before: Pattern, after: Pattern) -> Node:
        wanted = self.read(node.expression)
        if not isinstance(wanted, Value) or wanted.type is not Type.TEXT:
            self.fail("a text in quotes is looked for", node)
        return canonical.like(self.read(node.this), (*before, wanted.value, *after), fold=False)

    def _contains(self, node: exp.Expr) -> Node:
        return self.affix(node, (Wild.ANY,), (Wild.ANY,))

    def _startswith(self, node: exp.Expr) -> Node:
        return self.affix(node, (), (Wild.ANY,))

    def _endswith(self, node: exp.Expr) -> Node:
        return self.affix(node, (Wild.ANY,), ())

    def fail(self, what: str, node: exp.Expr) -> NoReturn:
        raise FeatureError(f"{what}{place(node)}")


def _chain(node: exp.Expr) -> Iterator[exp.Expr]:
    kind, stack = type(node), [node]
    while stack:
        here = stack.pop()
        if isinstance(here, exp.Paren) and isinstance(here.this, kind):
            here = here.this
        if isinstance(here, kind):
            stack += [here.expression, here.this]
        else:
            yield here


def both(parts: Iterable[Node]) -> Node:
    """All of `parts`; constants, and limits that say no more than other parts, are left out."""
    found = [part for part in parts if part != TRUE]
    if FALSE in found:
        return FALSE
    kept = [
        part for n, part in enumerate(found)
        if (limited := guarded(part)) is None
        or not any(needs(other, limited) for other in _others(found, n))
    ]  # fmt: skip
    return canonical.both(kept) if kept else TRUE


def _others(parts: Sequence[Node], place: int) -> list[Node]:
    return [part for n, part in enumerate(parts) if n != place and guarded(part) is None]


def _outcomes(node: exp.Expr) -> Iterator[exp.Expr]:
    """All results of a CASE, also of cases inside it."""
    if not isinstance(node, exp.Case):
        yield node
        return
    for branch in node.args["ifs"]:
        yield from _outcomes(branch.args["true"])
    if node.args.get("default") is not None:
        yield from _outcomes(node.args["default"])


def guarded(node: Node) -> Node | None:
    """The operand of a limit that every known number keeps; None for other conditions."""
    if isinstance(node, tree.Compare) and isinstance(node.right, Value):
        limit = (node.op, node.right.value)
        if limit in (("<=", LARGEST), (">=", -LARGEST)):
            left = node.left
            return left.args[0] if isinstance(left, tree.Call) and left.name == "abs" else left
    return None


def needs(condition: Node, part: Node) -> bool:
    """Whether a condition is unknown where `part` is."""
    if condition == part:
        return True
    match condition:
        case tree.Compare() | tree.Arithmetic():
            return needs(condition.left, part) or needs(condition.right, part)
        case tree.In():
            return needs(condition.operand, part)
        case tree.Call(name="abs" | "negative"):
            return needs(condition.args[0], part)
    return False


def place(node: exp.Expr) -> str:
    """Where a node stands, and what it says."""
    said = " ".join(node.sql().split())
    said = said if len(said) <= 60 else said[:59] + "…"
    spots = [one.meta for one in node.walk() if "line" in one.meta]
    where = min(((m["line"], m["col"]) for m in spots), default=None)
    return f": {said}" + ("" if where is None else f" (line {where[0]}, column {where[1]})")


def negate(node: Node) -> Node:
    if isinstance(node, Value):
        return FALSE if node.value else TRUE
    return canonical.negate(node)
