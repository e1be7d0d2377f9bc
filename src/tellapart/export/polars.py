"""A model as Polars expressions, written down while `features.to_polars` makes them."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

import tellapart
from tellapart.errors import ExportError
from tellapart.export import feature_trees
from tellapart.export.sql import label_kind
from tellapart.export.text import answers, reachable
from tellapart.export.views import comment, condition_name, slug
from tellapart.features import letter_case, tree
from tellapart.features.expression import types as read_types
from tellapart.features.phrasing import counted
from tellapart.features.to_polars import DTYPE, Translator
from tellapart.features.tree import Node, Type
from tellapart.model import DecisionList

_UPPERS, _LOWERS = (list(side) for side in zip(*letter_case.PAIRS, strict=True))
_OPERATORS = {
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "add": "+", "sub": "-",
    "mul": "*", "truediv": "/",
}  # fmt: skip
_TYPES = {str: Type.TEXT, bool: Type.BOOL, int: Type.INTEGER, float: Type.NUMBER}


def to_polars(
    model: DecisionList,
    *,
    schema: Mapping[str, Any] | None = None,
    error: float = 0.05,
    about: Sequence[str] = (),
) -> str:
    """A Python module with a Polars expression for each of `label`, `rule`, `because`, `like` and
    `is_sure`, and `predict(frame)`, which selects them from a DataFrame or a LazyFrame.

    It needs Polars 1 or later. `schema`, `error` and `about` are as in `to_select`.

    >>> import tellapart as ta
    >>> walks = ta.parse_feature("legs >= 4", {"legs": "integer"})
    >>> model = DecisionList(
    ...     (ta.Clause((ta.Literal("milk"), ta.Literal(walks, False)), "whale"),),
    ...     ta.Clause((), "duck"))
    >>> source = to_polars(model)
    >>> print(source[source.index("milk =") : source.index("def")].rstrip())
    milk = pl.col('milk').cast(pl.Boolean)
    legs = pl.col('legs').cast(pl.Int64)
    <BLANKLINE>
    milk_is_true = milk
    legs_at_least_4 = (legs >= 4)
    <BLANKLINE>
    RULE = (
        pl.when(milk_is_true, legs_at_least_4.ne_missing(True)).then(1)
        .otherwise(2)
    )
    LABEL = RULE.replace_strict({1: 'whale', 2: 'duck'}, return_dtype=pl.String)
    BECAUSE = RULE.replace_strict(
        {
            1: 'It is whale, if milk, unless legs >= 4.',
            2: 'Otherwise it is duck.',
        },
        return_dtype=pl.String,
    )
    LIKE = RULE.replace_strict({1: None, 2: None}, return_dtype=pl.String)
    IS_SURE = RULE.replace_strict({1: None, 2: None}, return_dtype=pl.Boolean)
    """
    feature_trees.check_reading(model)
    return _Program(read_types(schema or {})).source(model, error, about)


class _Program(Translator):
    """The program being written: columns and conditions, each named once, and the rules."""

    def __init__(self, types: feature_trees.Types) -> None:
        super().__init__(clean=False, polars=Written("pl"))
        self.types = types
        self.names = {"datetime", "pl", "predict"}
        self.columns: dict[tree.Column, str] = {}
        self.conditions: dict[Node, str] = {}
        self.lines: dict[str, list[str]] = {"columns": [], "conditions": []}

    def column(self, node: tree.Column) -> Any:
        if node not in self.columns:
            self.columns[node] = self.define("columns", node.name, super().column(node))
        return Written(self.columns[node])

    def define(self, part: str, wanted: str, made: Any) -> str:
        """A name for an expression."""
        plain = slug(wanted)
        name, number = plain, 1
        while name in self.names or keyword.iskeyword(name):
            number += 1
            name = f"{plain}_{number}"
        self.names.add(name)
        self.lines[part].append(f"{name} = {made!r}")
        return name

    def satisfied(self, node: Node) -> str:
        """A literal of a clause."""
        denied = isinstance(node, tree.IsTrue) and node.negated
        inner = node.operand if isinstance(node, tree.IsTrue) and node.negated else node
        if inner not in self.conditions:
            made = self.truth(inner)
            self.conditions[inner] = self.define("conditions", condition_name(inner), made)
        name = self.conditions[inner]
        return f"{name}.ne_missing(True)" if denied else name

    def source(self, model: DecisionList, error: float, about: Sequence[str]) -> str:
        *clauses, _ = reachable(model)
        given = answers(model, error)
        dtypes = {"because": "String", "like": "String", "is_sure": "Boolean"}
        dtypes["label"] = repr(DTYPE[_TYPES[label_kind([one.label for one in given])]])
        whens = []
        for number, clause in enumerate(clauses, 1):
            try:
                trees = [feature_trees.literal_tree(one, self.types) for one in clause.literals]
            except ExportError as wrong:
                raise ExportError(f"cannot write '{clause}' for Polars: {wrong}") from None
            whens.append(f"when({', '.join(map(self.satisfied, trees))}).then({number})")
        if whens:
            chain = [f"    pl.{whens[0]}", *(f"    .{one}" for one in whens[1:])]
            rule = ["RULE = (", *chain, f"    .otherwise({len(given)})", ")"]
        else:
            rule = ["RULE = pl.lit(1)"]
        for name in ("label", "because", "like", "is_sure"):
            rule += self.lookup(name, {one.rule: getattr(one, name) for one in given}, dtypes[name])
        blocks = [
            [f'"""{counted(len(given), "rule")}, written by tellapart {tellapart.__version__}."""'],
            [comment(line, "#") for line in about],
            ["from __future__ import annotations"],
            [*(["import datetime"] if "datetime." in repr(self.lines) else []),
             "from typing import TypeVar", "", "import polars as pl"],
            ['Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)'],
            self.letters(),
            self.lines["columns"],
            self.lines["conditions"],
            rule,
        ]  # fmt: skip
        text = "\n\n".join("\n".join(block) for block in blocks if block)
        return f"{text}\n{_PREDICT}"

    def lookup(self, name: str, values: Mapping[int, Any], dtype: str) -> list[str]:
        """The expression of a column that follows from the number of the rule."""
        line = f"{name.upper()} = RULE.replace_strict({values!r}, return_dtype=pl.{dtype})"
        if len(line) <= 100:
            return [line]
        cells = [f"        {number}: {value!r}," for number, value in values.items()]
        head, tail = f"{name.upper()} = RULE.replace_strict(", f"    return_dtype=pl.{dtype},"
        return [head, "    {", *cells, "    },", tail, ")"]

    def letters(self) -> list[str]:
        if "UPPERS" not in repr(self.lines):
            return []
        sides = {"UPPERS": _UPPERS, "LOWERS": _LOWERS}
        return [f"{name} = list({''.join(side)!r})" for name, side in sides.items()]


_PREDICT = '''

def predict(frame: Frame) -> Frame:
    """Label, rule, because, like and is_sure of every row."""
    made = frame.with_columns(
        label=LABEL, rule=RULE, because=BECAUSE, like=LIKE, is_sure=IS_SURE
    )
    return made.select("label", "rule", "because", "like", "is_sure")
'''


class Written:
    """Something of Polars as source text: attributes, calls and operators make longer texts.

    >>> frame = Written("pl")
    >>> ~(frame.col("x").cast(pl.Float64()) > 0.5)
    (~(pl.col('x').cast(pl.Float64) > 0.5))
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text

    def __getattr__(self, name: str) -> Written:
        return Written(f"{self._text}.{name}")

    def __call__(self, *values: Any, **options: Any) -> Written:
        said = [_literal(value) for value in values]
        said += [f"{name}={_literal(value)}" for name, value in options.items()]
        return Written(f"{self._text}({', '.join(said)})")

    def __invert__(self) -> Written:
        return Written(f"(~{self._text})")

    def __neg__(self) -> Written:
        return Written(f"(-{self._text})")

    __hash__ = object.__hash__


def _binary(sign: str) -> Callable[[Written, Any], Written]:
    return lambda left, right: Written(f"({left!r} {sign} {_literal(right)})")


for _name, _sign in _OPERATORS.items():
    setattr(Written, f"__{_name}__", _binary(_sign))


def _literal(value: Any) -> str:
    if isinstance(value, list | tuple):
        if list(value) in (_UPPERS, _LOWERS):
            return "UPPERS" if list(value) == _UPPERS else "LOWERS"
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, pl.DataType | type):
        return f"pl.{value!r}"
    return repr(value)
