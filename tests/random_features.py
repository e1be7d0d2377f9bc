"""Random features and models over a random table, to test an engine.

An engine must give every item of `table(...)` the truth that `Said.feature` has, and the label that
a model of `ModelMaker` has. `Said.duckdb` and `Said.sqlite` are written side by side with the
feature, not translated from its tree, so that they test the tree: they rely on the functions of
`DUCKDB` and `SQLITE`, which say in a line each what the language means by case, by finite numbers
and by those that arithmetic takes.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from tellapart.errors import ExportError
from tellapart.export import to_sql
from tellapart.features import Above, And, Column, Not, Or, Points, letter_case, parse_feature
from tellapart.model import Clause, DecisionList, Literal
from tellapart.protocol import Feature

SCHEMA = {
    "n": "integer",
    "k": "integer",
    "x": "number",
    "y": "number",
    "b": "bool",
    "c": "bool",
    "s": "text",
    "odd name": "text",
    "d": "date",
    "order": "date",
    "z": "datetime",
}

_WORDS = r"""( ) , ; . * + - / % = <> < >= != == || :: -> ? @ $1 :x [ ] { } -- /* */ ' " 'a' '%_' ''
1 -1 0.5 1e9 1e999 99999999999999999999 AND OR NOT LIKE ILIKE IN BETWEEN IS NULL TRUE FALSE
ESCAPE DATE TIMESTAMP CASE WHEN THEN END CAST AS SELECT FROM WHERE UNION EXISTS ANY ALL DISTINCT
INTERVAL OVER SIMILAR TO GLOB lower( coalesce( length( abs( year( contains( sum( read_csv( DROP
at_least( at_least(2, TABLE SYMMETRIC COLLATE UNKNOWN ISNULL LAMBDA é 👍"""
PIECES = (*SCHEMA, '"odd name"', *_WORDS.split(), "\n", "\t", "\0", "\u2028", "\ud800")
"""What a hostile text may be made of."""

_UPPERS, _LOWERS = ("".join(side) for side in zip(*letter_case.PAIRS, strict=True))

DUCKDB = (
    "CREATE MACRO fin(v) AS CASE WHEN isfinite(v) THEN v END",
    "CREATE MACRO lim(v) AS CASE WHEN v = 0 OR abs(v) BETWEEN 1e-75 AND 1e75 THEN v END",
    f"CREATE MACRO low(v) AS translate(v, '{_UPPERS}', '{_LOWERS}')",
    f"CREATE MACRO up(v) AS translate(v, '{_LOWERS}', '{_UPPERS}')",
)


def _known(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: None if None in args else function(*args)


SQLITE: dict[str, tuple[int, Callable[..., Any]]] = {
    "fin": (1, _known(lambda v: v if math.isfinite(v) else None)),
    "lim": (1, _known(lambda v: v if v == 0 or 1e-75 <= abs(v) <= 1e75 else None)),
    "low": (1, _known(letter_case.lower)),
    "up": (1, _known(letter_case.upper)),
    "contains": (2, _known(lambda text, part: part in text)),
    "starts_with": (2, _known(lambda text, part: text.startswith(part))),
    "ends_with": (2, _known(lambda text, part: text.endswith(part))),
}
"""Name, number of arguments, function. LIKE must be case sensitive there (a pragma)."""

_TEXTS = (
    "", " ", "a", "A", "b", "ab", "aB", " ab ", "é", "É", "e\u0301", "ß", "ẞ", "SS", "İ",
    "ı", "Σ", "σ", "ς",     "a%b", "a_b", "a!b", "a\\b", "it's", "a\nb", "👍", "👨‍👩‍👧", "я", "Я",
    "10", "-1", "\t", "[a]", "a.b", "ｱ", "Ａ",
)  # fmt: skip
_WHOLE = (0, 1, -1, 2, 3, 4, -7, 10, 100, 2**53 + 1, -(2**53) - 1, 2**62, 2**63 - 1, -(2**63))
_FRACTIONS = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 0.1, 0.3, 1e-300, 1e300, -1e300, 2.0**53, 3.25)


def table(rows: int, seed: int, *, dirty: bool = False) -> dict[str, list[Any]]:
    """Columns of random values, a fifth of them unknown; `dirty` adds NaN and infinities."""
    rng = random.Random(seed)
    strange = (math.nan, math.inf, -math.inf) if dirty else ()
    start = date(1999, 12, 30)
    days = [start + timedelta(days=offset) for offset in (0, 1, 2, 60, 366, -40_000, 400_000)]
    moments = [datetime(d.year, d.month, d.day, h, 0, 0, u) for d in days for h, u in _HOURS]
    values: dict[str, tuple[Any, ...]] = {
        "integer": _WHOLE,
        "number": (*_FRACTIONS, *strange),
        "bool": (True, False),
        "text": _TEXTS,
        "date": tuple(days),
        "datetime": tuple(moments),
    }
    return {
        name: [None if rng.random() < 0.2 else rng.choice(values[kind]) for _ in range(rows)]
        for name, kind in SCHEMA.items()
    }


_HOURS = ((0, 0), (0, 1), (23, 999_999))


class Said(NamedTuple):
    """One condition, or a part of one, in three ways."""

    feature: str
    duckdb: str
    sqlite: str
    kind: str = "bool"
    limited: bool = False
    """Whether arithmetic takes it only within limits: numbers of columns, not results."""


def say(template: str, *parts: Said, kind: str = "bool") -> Said:
    """The same template in all three; `{0}` is the first part."""
    feature, duckdb, sqlite = (template.format(*(p[i] for p in parts)) for i in range(3))
    return Said(feature, duckdb, sqlite, kind)


def alike(text: str, kind: str = "bool") -> Said:
    """What all three write alike."""
    return Said(text, text, text, kind)


class Maker:
    """Makes random conditions of the whole grammar; the same seed makes the same ones."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def condition(self, depth: int = 3) -> Said:
        """A random condition that names at least one column."""
        simple = (self.compared, self.compared, self.liked, self.listed, self.null, self.flag)
        nested = (
            self.joined, self.joined, self.joined, self.denied, self.certain, self.equal,
            self.counted,
        )  # fmt: skip
        return self.rng.choice(nested if depth > 0 and self.rng.random() < 0.7 else simple)(depth)

    # -- conditions

    def flag(self, depth: int) -> Said:
        return alike(self.rng.choice("bc"))

    def joined(self, depth: int) -> Said:
        word = self.rng.choice((" AND ", " OR "))
        parts = [self.condition(depth - 1) for _ in range(self.rng.randint(2, 4))]
        return say(word.join(f"({{{i}}})" for i in range(len(parts))), *parts)

    def denied(self, depth: int) -> Said:
        return say("NOT ({0})", self.condition(depth - 1))

    def counted(self, depth: int) -> Said:
        parts = [self.condition(depth - 1) for _ in range(self.rng.randint(1, 4))]
        weights = [self.rng.choice((1, 1, 1, 2, 3, -1, -2)) for _ in parts]
        if self.rng.random() < 0.3:
            weights = [1] * len(parts)
        bound = self.rng.randint(-2, 4)
        places = [f"({{{i}}})" for i in range(len(parts))]
        cases = (f"CASE WHEN {p} THEN {w} ELSE 0 END" for p, w in zip(places, weights, strict=True))
        total = f"({' + '.join(cases)})"
        terms = [p if w == 1 else f"{w} * {p}" for p, w in zip(places, weights, strict=True)]
        if self.rng.random() < 0.5:
            said = say(f"{total} >= {bound}", *parts)
            written = f"at_least({', '.join((str(bound), *terms))})"
        else:
            op = self.rng.choice((">=", ">", "<", "<="))
            said = say(f"{total} {op} {bound}", *parts)
            terms += [f"1 * {places[0]}", f"-{places[0]}"]  # one condition alone is no sum
            written = f"{' + '.join(terms)} {op} {bound}"
        return said._replace(feature=written.format(*(part.feature for part in parts)))

    def certain(self, depth: int) -> Said:
        what = self.rng.choice(("TRUE", "FALSE", "NULL", "NOT TRUE", "NOT FALSE", "NOT NULL"))
        return say(f"({{0}}) IS {what}", self.condition(depth - 1))

    def equal(self, depth: int) -> Said:
        op = self.rng.choice(("=", "<>", "!="))
        left = self.condition(depth - 1)
        if self.rng.random() < 0.4:
            right = self.rng.choice(("TRUE", "FALSE"))
            return say(self.rng.choice((f"({{0}}) {op} {right}", f"{right} {op} ({{0}})")), left)
        if self.rng.random() < 0.3:
            return say("coalesce(({0}), ({1}))", left, self.condition(depth - 1))
        return say(f"({{0}}) {op} ({{1}})", left, self.condition(depth - 1))

    def null(self, depth: int) -> Said:
        operand = self.rng.choice((self.number, self.text, self.moment))(1)
        return say(f"{{0}} IS {self.rng.choice(('', 'NOT '))}NULL", operand)

    def compared(self, depth: int) -> Said:
        operand, literal = self.pair()
        left = operand(2)
        right = literal() if self.rng.random() < 0.6 else operand(2)
        if self.rng.random() < 0.15:
            high = literal() if self.rng.random() < 0.6 else operand(2)
            word = self.rng.choice(("", "NOT "))
            left, right, high = self.meet(left, right, high)
            return say(f"{{0}} {word}BETWEEN {{1}} AND {{2}}", left, right, high)
        left, right = self.meet(left, right)
        op = self.rng.choice(("=", "<>", "!=", "<", "<=", ">", ">=", "=="))
        return say(
            f"{{0}} {op} {{1}}", *((left, right) if self.rng.random() < 0.8 else (right, left))
        )

    def listed(self, depth: int) -> Said:
        operand, literal = self.pair()
        parts = self.meet(operand(1), *(literal() for _ in range(self.rng.randint(1, 4))))
        values = ", ".join(f"{{{i}}}" for i in range(1, len(parts)))
        return say(f"{{0}} {self.rng.choice(('', 'NOT '))}IN ({values})", *parts)

    def liked(self, depth: int) -> Said:
        operand = self.text(1)
        if self.rng.random() < 0.3:
            name = self.rng.choice(("contains", "starts_with", "ends_with"))
            return say(f"{name}({{0}}, {{1}})", operand, self.quote(self.rng.choice(_TEXTS)))
        pieces = self.rng.choices(
            ("%", "_", "a", "A", "b", "é", "É", "ß", "Σ", "\\", ".", " "), k=4
        )
        pattern, escape = "".join(pieces[: self.rng.randint(0, 4)]), ""
        if self.rng.random() < 0.4:
            pattern += self.rng.choice(("#%", "#_", "##")) + self.rng.choice(("", "%", "b"))
            escape = " ESCAPE '#'"
        word = self.rng.choice(("LIKE", "NOT LIKE"))
        if self.rng.random() < 0.5:
            return say(f"{{0}} {word} {{1}}{escape}", operand, self.quote(pattern))
        folded = f"low({{0}}) {word} low({{1}}){escape}"
        said = say(folded, operand, self.quote(pattern))
        written = f"{operand.feature} {word.replace('LIKE', 'ILIKE')} '{pattern}'{escape}"
        return said._replace(feature=written)

    # -- things compared

    def pair(self) -> tuple[Callable[[int], Said], Callable[[], Said]]:
        return self.rng.choice(
            ((self.number, self.figure), (self.number, self.figure), (self.text, self.phrase),
             (self.moment, self.day))
        )  # fmt: skip

    def meet(self, *parts: Said) -> tuple[Said, ...]:
        """Doubles if one is a double, moments if one is a moment: SQLite has to be told."""
        kinds = {part.kind for part in parts}
        if "number" in kinds:
            return tuple(p._replace(sqlite=f"CAST({p.sqlite} AS REAL)") for p in parts)
        if {"date", "datetime"} <= kinds:
            late = " || ' 00:00:00.000000'"
            return tuple(
                p._replace(sqlite=f"({p.sqlite}{late})") if p.kind == "date" else p for p in parts
            )
        return parts

    def figure(self) -> Said:
        if self.rng.random() < 0.6:
            return alike(str(self.rng.choice((0, 1, -1, 2, 3, 10, 2**53 + 1))), "integer")
        text = self.rng.choice(("0.5", "-2.50", "0.1", ".3", "1.0", "4e0"))
        if not float(text).is_integer():
            return alike(text, "fraction")
        whole = str(int(float(text)))  # in a list, 4e0 would make DuckDB compare all as doubles
        return Said(text, whole, whole, "fraction")

    def number(self, depth: int) -> Said:
        if depth == 0 or self.rng.random() < 0.4:
            name = self.rng.choice("nkxy")
            return Said(name, name, name, SCHEMA[name], SCHEMA[name] == "number")
        choice = self.rng.randrange(7)
        if choice < 3:
            left = self.number(depth - 1)
            right = self.number(depth - 1) if self.rng.random() < 0.6 else self.figure()
            if self.rng.random() < 0.2:
                left, right = right, left
            op = self.rng.choice("+-*/")
            said = say(f"fin({{0}} {op} {{1}})", _double(left), _double(right), kind="number")
            return said._replace(feature=f"({left.feature} {op} {right.feature})")
        if choice == 3:
            name = self.rng.choice(("abs", "-"))
            made = self.number(depth - 1)
            said = say(f"{name}({{0}})", made, kind="number")
            return said._replace(
                duckdb=f"{name}(({made.duckdb})::DOUBLE)",
                sqlite=f"{name}(CAST({made.sqlite} AS REAL))",
                limited=made.limited,
            )
        if choice == 4:
            return say("length({0})", self.text(depth - 1), kind="integer")
        if choice == 5:
            parts = ("year", "month", "day", "weekday")
            part, made = self.rng.choice(parts), self.moment(depth - 1)
            said = say(f"{part}({{0}})", made, kind="integer")
            if part == "weekday":
                sunday = f"CAST(strftime('%w', {made.sqlite}) AS INTEGER)"
                return said._replace(
                    duckdb=f"isodow({made.duckdb})", sqlite=f"(({sunday} + 6) % 7 + 1)"
                )
            sign = {"year": "%Y", "month": "%m", "day": "%d"}[part]
            return said._replace(sqlite=f"CAST(strftime('{sign}', {made.sqlite}) AS INTEGER)")
        first, second = self.number(depth - 1), self.number(depth - 1)
        kind = "number" if "number" in (first.kind, second.kind) else "integer"
        if kind == "number":
            first, second = self.meet(first, second)
        made = say("coalesce({0}, {1})", first, second, kind=kind)
        return made._replace(limited=kind == "number")

    def phrase(self) -> Said:
        return self.quote(self.rng.choice(_TEXTS))

    def quote(self, text: str) -> Said:
        escaped = text.replace("'", "''").replace("{", "{{").replace("}", "}}")
        return alike(f"'{escaped}'", "text")

    def text(self, depth: int) -> Said:
        if depth == 0 or self.rng.random() < 0.5:
            return alike(self.rng.choice(("s", '"odd name"')), "text")
        made = self.text(depth - 1)
        name = self.rng.choice(("lower", "upper", "trim", "coalesce"))
        if name == "coalesce":
            return say("coalesce({0}, {1})", made, self.phrase(), kind="text")
        if name == "trim":
            return say("trim({0})", made, kind="text")
        said = say(f"{name.removesuffix('per').removesuffix('er')}({{0}})", made, kind="text")
        return said._replace(feature=f"{name}({made.feature})")

    def day(self) -> Said:
        day = self.rng.choice(("1999-12-30", "1999-12-31", "2000-02-28", "2001-01-01"))
        if self.rng.random() < 0.6:
            word = self.rng.choice(("", "DATE "))
            return Said(f"{word}'{day}'", f"DATE '{day}'", f"'{day}'", "date")
        moment = f"{day} {self.rng.choice(('00:00:00', '23:00:00.999999'))}"
        full = moment if "." in moment else f"{moment}.000000"
        return Said(f"TIMESTAMP '{moment}'", f"TIMESTAMP '{moment}'", f"'{full}'", "datetime")

    def moment(self, depth: int) -> Said:
        name = self.rng.choice(("d", "order", "z"))
        quoted = f'"{name}"'
        said = Said(name, quoted, quoted, SCHEMA[name])
        if depth and self.rng.random() < 0.2:
            other = self.moment(0)
            kind = "datetime" if "datetime" in (said.kind, other.kind) else "date"
            return say("coalesce({0}, {1})", *self.meet(said, other), kind=kind)
        return said


def _double(said: Said) -> Said:
    """What arithmetic computes with."""
    duckdb, sqlite = f"({said.duckdb})::DOUBLE", f"CAST({said.sqlite} AS REAL)"
    if said.limited:
        duckdb, sqlite = f"lim({duckdb})", f"lim({sqlite})"
    return said._replace(duckdb=duckdb, sqlite=sqlite)


LABELS = ("", "it's", 'a "b"', "back\\slash", "new\nline", "tab\there", "👍 ünïcode", "%s {x} ;--")
_PLAIN: tuple[Feature, ...] = (
    "b", "c", "n", "x", "s", "d", "z", "odd name",
    Column("n", 4), Column("n", 2**53 + 1), Column("n", 0.5), Column("n", None), Column("x", 1),
    Column("x", 2**53 + 1), Column("x", 2**53),
    Column("x", 0.1), Column("s", "a"), Column("s", "it's"), Column("s", None), Column("s", 3),
    Column("b", False), Column("b", 1), Column("b"), Column("odd name", ""),
    Column("d", date(1999, 12, 31)), Above("x", 0.5), Above("n", 2.5), Above("n", 2.0**53),
    And(), Or(), Points({}, 0), Points({}, 1),
)  # fmt: skip


class ModelMaker:
    """Makes random models; the same seed makes the same ones. With `sql`, all that they say can be
    written as SQL."""

    def __init__(self, seed: int, *, plain: bool = True, sql: bool = True) -> None:
        self.rng, self.plain, self.sql = random.Random(seed), plain, sql
        self.conditions = Maker(seed)

    def model(self, clauses: int = 6) -> DecisionList:
        """A random model of so many clauses."""
        labels: tuple[Any, ...] = self.rng.choice((LABELS, LABELS, (1, 2, -3), (True, False)))
        made = [self.clause(labels) for _ in range(clauses)]
        return DecisionList(tuple(made), Clause((), self.rng.choice(labels), example="last"))

    def clause(self, labels: tuple[Any, ...]) -> Clause:
        literals = tuple(
            Literal(self.feature(), self.rng.random() < 0.5) for _ in range(self.rng.randint(1, 3))
        )
        return Clause(literals, self.rng.choice(labels), self.rng.choice(LABELS))

    def feature(self, depth: int = 2) -> Feature:
        choice = self.rng.random()
        if depth and self.plain and choice < 0.25:
            parts = [self.feature(depth - 1) for _ in range(self.rng.randint(1, 3))]
            weights = [self.rng.choice((1, 1, 2, 3, -1)) for _ in parts]
            joined: Feature = self.rng.choice(
                (
                    And(*parts),
                    Or(*parts),
                    Points(zip(parts, weights, strict=True), sum(weights) - 1),
                )
            )
            return Not(joined) if choice < 0.1 else joined
        if self.plain and choice < 0.6:
            return self.rng.choice(_PLAIN)
        for _ in range(1_000):
            condition = self.conditions.condition(self.rng.randint(0, 2)).feature
            feature = parse_feature(condition, SCHEMA)
            if not self.sql or sayable(feature):
                return feature
        raise AssertionError("nearly nothing can be written as SQL")


def sayable(feature: Feature) -> bool:
    """Whether a feature can be written as SQL: engines differ about lower(x) as a value, and about
    doubles that overflow."""
    try:
        to_sql(DecisionList((Clause((Literal(feature),), "yes"),), Clause((), "no")))
    except ExportError as error:
        if not re.search("only where it is compared|too large or too small", str(error)):
            raise
        return False
    return True
