"""A model as the source of a Python function that needs no package."""

from __future__ import annotations

import builtins
import inspect
import keyword
import math
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from typing import Any

from tellapart.errors import ExportError, ParameterError
from tellapart.export.feature_trees import check_reading, refusal
from tellapart.export.text import answers, reachable
from tellapart.export.views import comment
from tellapart.features import Expression, expression, letter_case, tree
from tellapart.features.combinations import Above, And, Column, Or, Points
from tellapart.features.tree import Node, Pattern, Type, Value, Wild
from tellapart.model import Clause, DecisionList, Literal, Not
from tellapart.protocol import Feature

_OPERATORS = {
    "=": "eq", "<>": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge",
    "+": "add", "-": "sub", "*": "mul", "/": "truediv",
}  # fmt: skip


def to_python(model: DecisionList, *, name: str = "predict", about: Sequence[str] = ()) -> str:
    """The source text of a function from an item to its label, and of `explain`, which also gives
    the number of the clause that applied, and its sentence.

    The item is a mapping from column to value, where None or nothing is unknown, or a set of names.
    The functions need Python 3.11 or later and no package, and have types (`mypy --strict`); the
    label is that of `model.predict`. `about` are lines of comment.

    >>> import tellapart as ta
    >>> walks = ta.parse_feature("legs >= 4", {"legs": "integer"})
    >>> model = DecisionList(
    ...     (ta.Clause((ta.Literal("milk"), ta.Literal(walks, False)), "whale"),),
    ...     default=ta.Clause((), "duck"))
    >>> source = to_python(model)
    >>> print(source[source.index("    if row.get") :].rstrip())
        if row.get('milk') and not known(operator.ge, read(row, 'legs', _whole), 4):
            return Answer('whale', 1, 'It is whale, if milk, unless legs >= 4.')
        return Answer('duck', 2, 'Otherwise it is duck.')
    ...
    >>> program = {"__name__": "exported"}
    >>> exec(source, program)
    >>> program["predict"]({"milk": True, "legs": None})
    'whale'
    >>> program["explain"]({"milk": True, "legs": 4})
    Answer(label='duck', rule=2, because='Otherwise it is duck.')
    """
    taken = name in _TAKEN or keyword.iskeyword(name)
    if not name.isidentifier() or name.startswith("_") or taken:
        raise ParameterError(
            f"to_python: name must be a free name of Python without _ before it, got {name!r}"
        )
    check_reading(model)
    return _Program(name).source(model, about)


class _Program:
    """The program being written: the function, and what comes before it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.parts: dict[str, Callable[..., Any]] = {}
        self.imports: set[str] = set()
        self.constants: dict[str, str] = {}

    def source(self, model: DecisionList, about: Sequence[str]) -> str:
        lines = []
        clauses, said = reachable(model), answers(model)
        for number, clause in enumerate(clauses, 1):
            label = self.plain(clause.label, "label")
            answer = f"return Answer({label}, {number}, {said[number - 1].because!r})"
            if number < len(clauses):
                parts = [self.literal(literal) for literal in clause.literals]
                condition = " and ".join(
                    f"({p})" if " or " in p and parts[1:] else p for p in parts
                )
                lines += [f"    if {condition}:", f"        {answer}"]
            else:
                lines.append(f"    {answer}")
        parts = [inspect.getsource(part).rstrip() for part in self.parts.values()]
        if any("math." in part for part in parts):
            self.imports.add("import math")
        self.imports |= {"from collections.abc import Mapping, Set"}
        self.imports |= {"from typing import Any, NamedTuple"}
        head = [f'"""{self.name}(item): {len(clauses)} clauses, written by tellapart."""']
        head += [*([""] if about else []), *(comment(line, "#") for line in about)]
        head += ["", "from __future__ import annotations", "", *sorted(self.imports)]
        constants = [f"{name} = {value}" for value, name in self.constants.items()]
        answer, items = label_type(clauses), "Mapping[str, Any] | Set[str]"
        given = [
            "class Answer(NamedTuple):",
            '    """What is said of an item."""',
            "",
            f"    label: {answer}",
            "    rule: int",
            "    because: str",
        ]
        function = [
            f"def explain(item: {items}) -> Answer:",
            '    """The label of an item, the rule that gives it, and its sentence."""',
            "    row = item if isinstance(item, Mapping) else dict.fromkeys(item, True)",
            *lines,
        ]
        short = [
            f"def {self.name}(item: {items}) -> {answer}:",
            '    """The label of an item: a mapping from column to value, or a set of names."""',
            "    return explain(item).label",
        ]
        blocks = [head, *([part] for part in parts), constants, given, function, short]
        texts = ("\n".join(block).rstrip() for block in blocks)
        return "\n\n\n".join(text for text in texts if text) + "\n"

    # -- features

    def literal(self, literal: Literal) -> str:
        made = self.feature(literal.feature)
        return made if literal.wanted else f"not {_bracket(made)}"

    def feature(self, feature: Feature) -> str:
        """An expression that Python takes for true where the feature holds."""
        match feature:
            case str() | Column(value=True):
                name = feature if isinstance(feature, str) else feature.name
                return f"row.get({name!r})"
            case Column():
                value = self.plain(feature.value, "value")
                return f"row.get({feature.name!r}) == {value}"
            case Above():
                threshold = self.plain(feature.threshold, "threshold")
                return f"{self.part(above)}(row.get({feature.name!r}), {threshold})"
            case Not():
                return f"not {_bracket(self.feature(feature.feature))}"
            case And() | Or():
                ordered = sorted(feature.parts, key=repr)  # the same program in every run
                parts = sorted(_bracket(self.feature(part)) for part in ordered)
                word = " and " if isinstance(feature, And) else " or "
                return word.join(parts) or str(isinstance(feature, And))
            case Points():
                terms = [(self.feature(part), weight) for part, weight in feature.terms]
                return _points(terms, ">=", feature.at_least)
            case Expression():
                return self.true(feature.tree)
        raise ExportError(refusal(feature))

    # -- trees

    def true(self, node: Node) -> str:
        """An expression that Python takes for true where the condition is true."""
        match node:
            case tree.And():
                return " and ".join(_bracket(self.true(part)) for part in node.parts)
            case tree.Or():
                return " or ".join(_bracket(self.true(part)) for part in node.parts)
            case tree.IsTrue():
                made = self.true(node.operand)
                return f"not {_bracket(made)}" if node.negated else made
            case _:
                return self.value(node)

    def value(self, node: Node) -> str:
        """An expression for a value; for a condition True, False or None."""
        match node:
            case tree.Column():
                clean = self.part(expression.CLEAN[node.type])
                return f"{self.part(read)}(row, {node.name!r}, {clean})"
            case Value():
                return self.plain(node.value, "literal")
            case tree.Arithmetic():
                function, op = self.part(compute), self.operator(node.op)
                return f"{function}({op}, {self.value(node.left)}, {self.value(node.right)})"
            case tree.Call():
                return self.call(node)
            case tree.Compare():
                kind = expression.wider(node.left.type, node.right.type)
                sides = (self.of(side, kind) for side in (node.left, node.right))
                return self.known(self.operator(node.op), *sides)
            case tree.Like():
                return self.opposite(self.like(node), node.negated)
            case tree.In():
                kind = expression.wider(node.operand.type, *(v.type for v in node.values))
                values = ", ".join(self.of(value, kind) for value in node.values)
                found = self.known(f"({values},).__contains__", self.of(node.operand, kind))
                return self.opposite(found, node.negated)
            case tree.IsNull():
                return f"({self.value(node.operand)} is {'not ' if node.negated else ''}None)"
            case tree.IsTrue():
                return f"({self.value(node.operand)} is {'not ' if node.negated else ''}True)"
            case tree.Not():
                return self.opposite(self.value(node.operand), True)
            case tree.And() | tree.Or():
                join = both if isinstance(node, tree.And) else either
                return f"{self.part(join)}({', '.join(map(self.value, node.parts))})"
            case tree.Points():
                terms = [(self.true(part), weight) for part, weight in node.terms]
                return _points(terms, "<" if node.negated else ">=", node.at_least)

    def of(self, node: Node, kind: Type) -> str:
        """A value where a double or a datetime is wanted."""
        if node.type is kind or kind not in (Type.NUMBER, Type.DATETIME):
            return self.value(node)
        if isinstance(node, Value):
            change: Any = float if kind is Type.NUMBER else expression._datetime
            return self.plain(change(node.value), "literal")
        if kind is Type.NUMBER:
            return self.known("float", self.value(node))
        return self.known(self.part(expression.CLEAN[kind]), self.value(node))

    def call(self, node: tree.Call) -> str:
        if node.name == "coalesce":
            parts = ", ".join(self.of(part, node.type) for part in node.args)
            return f"{self.part(first_known)}({parts})"
        operand = node.args[0]
        match node.name:
            case "abs" | "negative":
                function = "abs" if node.name == "abs" else self.operator("-", "neg")
                return self.known(function, self.of(operand, Type.NUMBER))
            case "lower" | "upper":
                uppers, lowers = ("".join(side) for side in zip(*letter_case.PAIRS, strict=True))
                pair = (uppers, lowers) if node.name == "lower" else (lowers, uppers)
                table = self.constant(f"str.maketrans({pair[0]!r}, {pair[1]!r})")
                return self.known("str.translate", self.value(operand), table)
            case "trim":
                return self.known("str.strip", self.value(operand), "' '")
            case "length":
                return self.known("len", self.value(operand))
            case "weekday":
                function = self.operator("", "methodcaller('isoweekday')")
                return self.known(function, self.value(operand))
            case part:
                function = self.operator("", f"attrgetter({part!r})")
                return self.known(function, self.value(operand))

    def like(self, node: tree.Like) -> str:
        operand, pattern = self.value(node.operand), node.pattern
        match pattern:
            case (Wild.ANY, str(part), Wild.ANY) if not node.fold:
                return self.known("str.__contains__", operand, repr(part))
            case (str(part), Wild.ANY) if not node.fold:
                return self.known("str.startswith", operand, repr(part))
            case (Wild.ANY, str(part)) if not node.fold:
                return self.known("str.endswith", operand, repr(part))
        return f"({self.known(self.shape(pattern, node.fold), operand)})"

    def shape(self, pattern: Pattern, fold: bool) -> str:
        self.imports.add("import re")
        made = self.constant(f"re.compile({expression.regex(pattern, fold)!r}, re.DOTALL)")
        return f"(lambda text: {made}.fullmatch(text) is not None)"

    # -- pieces

    def known(self, function: str, *values: str) -> str:
        return f"{self.part(known)}({', '.join((function, *values))})"

    def opposite(self, made: str, negated: bool) -> str:
        return self.known(self.operator("", "not_"), made) if negated else made

    def operator(self, op: str, name: str = "") -> str:
        self.imports.add("import operator")
        return f"operator.{name or _OPERATORS[op]}"

    def part(self, function: Callable[..., Any]) -> str:
        name = function.__name__
        self.parts.setdefault(name, function)
        if function is expression._datetime:
            self.parts = {"_date": expression._date, **self.parts}
            self.imports.add("from datetime import UTC, date, datetime, time")
        elif function is expression._date:
            self.imports.add("from datetime import date, datetime")
        return name

    def constant(self, value: str) -> str:
        return self.constants.setdefault(value, f"_{len(self.constants)}")

    def plain(self, value: Any, what: str) -> str:
        """A value as source text that makes it again."""
        if isinstance(value, float) and repr(value) in ("nan", "inf", "-inf"):
            return f"float({str(value)!r})"
        if value is None or type(value) in (bool, int, float, str):
            return repr(value)
        if type(value) in (date, datetime) and getattr(value, "tzinfo", None) is None:
            self.imports.add("from datetime import date, datetime")
            return re.sub(r"^datetime\.", "", repr(value))
        if type(value) is tuple:
            return f"({''.join(f'{self.plain(part, what)}, ' for part in value)})"
        if isinstance(value, frozenset):
            parts = ", ".join(sorted(self.plain(part, what) for part in value))
            return f"frozenset([{parts}])"
        raise ExportError(
            f"the {what} {value!r} ({type(value).__name__}) cannot be written as Python; use texts,"
            " numbers, dates or tuples of them"
        )


def label_type(clauses: Iterable[Clause]) -> str:
    """The type of the labels, as an annotation."""
    kinds = {type(clause.label) for clause in clauses}
    if not kinds <= {bool, int, float, str, type(None)}:
        return "Any"
    names = sorted(kind.__name__ for kind in kinds if kind is not type(None))
    return " | ".join([*names, "None"] if type(None) in kinds else names)


def _points(terms: Iterable[tuple[str, int]], op: str, at_least: int) -> str:
    counted = ", ".join(f"{weight} if {made} else 0" for made, weight in terms)
    return f"(sum([{counted}]) {op} {at_least})"


def _bracket(made: str) -> str:
    """In brackets, if it has an `and` or `or`."""
    return f"({made})" if " and " in made or " or " in made else made


# -- functions that are copied into the exported program as they stand here; None is unknown


def read(item: Any, column: str, clean: Any) -> Any:
    """A value of an item, or None where it has none."""
    value = item.get(column)
    return None if value is None else clean(value)


def known(function: Any, *values: Any) -> Any:
    """What a function says of values, or None where one of them is unknown."""
    return None if None in values else function(*values)


def compute(function: Any, a: Any, b: Any) -> Any:
    """The result of arithmetic, or None where it is not finite."""
    if a is None or b is None:
        return None
    try:
        result = function(float(a), float(b))
    except ZeroDivisionError:
        return None
    return result if math.isfinite(result) else None


def first_known(*values: Any) -> Any:
    """The first value that is not unknown."""
    return next((value for value in values if value is not None), None)


def both(*truths: Any) -> Any:
    """False if one is false, else None if one is unknown, else True."""
    if any(truth is False for truth in truths):
        return False
    return None if None in truths else True


def either(*truths: Any) -> Any:
    """True if one is true, else None if one is unknown, else False."""
    if any(truth is True for truth in truths):
        return True
    return None if None in truths else False


def above(value: Any, threshold: float) -> bool:
    """Whether a number is known and above a threshold."""
    return value is not None and bool(value > threshold)


_PARTS = (read, known, compute, first_known, both, either, above)
_MODULES = {
    "Answer", "Any", "Mapping", "NamedTuple", "Set", "UTC", "annotations", "date", "datetime",
    "explain", "math", "operator", "re", "time",
}  # fmt: skip
_TAKEN = {*dir(builtins), *(part.__name__ for part in _PARTS), *_MODULES}
"""Names that the exported program may use itself."""
