"""A model as JSON rules (docs/export.md), and as programs made of them: Python and JavaScript.

A condition is written as nested lists, the operation first: `[">=", ["column", "legs", "integer"],
4]`. A program is the rules and a file that reads them (`readers`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from importlib.resources import files
from typing import Any

import tellapart
from tellapart.errors import ExportError
from tellapart.export import feature_trees
from tellapart.export.sql import label_kind
from tellapart.export.text import answers, reachable
from tellapart.features import letter_case, tree
from tellapart.features.evaluate import regex
from tellapart.features.phrasing import counted
from tellapart.features.tree import Node, Pattern, Type, Value
from tellapart.model import Clause, DecisionList

FORMAT = 1
_SAFE = 2**53
"""Whole numbers up to here are the same in every JSON parser."""
_WIDE = 100

Schema = Mapping[str, Any]


def to_json_rules(
    model: DecisionList,
    *,
    schema: Schema | None = None,
    error: float = 0.05,
    about: Sequence[str] = (),
) -> str:
    """The rules as JSON that a program of some fifty lines can execute.

    Every rule has what a view has (`label`, `rule`, `because`, `like`, `is_sure`) and `when`, its
    condition. The first rule whose condition is true gives the answer. `schema`, `error`
    and `about` are as in `to_select`.

    >>> import tellapart as ta
    >>> walks = ta.parse_feature("legs >= 4", {"legs": "integer"})
    >>> model = DecisionList((Clause((ta.Literal(walks),), "bear"),), Clause((), "duck"))
    >>> print(to_json_rules(model))
    {
      "tellapart": "rules",
      "format": 1,
      "rules": [
        {
          "label": "bear",
          "rule": 1,
          "because": "It is bear, if legs >= 4.",
          "like": null,
          "is_sure": null,
          "when": [">=", ["column", "legs", "integer"], 4]
        },
        {
          "label": "duck",
          "rule": 2,
          "because": "Otherwise it is duck.",
          "like": null,
          "is_sure": null,
          "when": true
        }
      ]
    }
    """
    return _json(_document(model, schema, error, about), 0)


def to_javascript(
    model: DecisionList,
    *,
    schema: Schema | None = None,
    error: float = 0.05,
    about: Sequence[str] = (),
) -> str:
    """An ES module whose `predict(row)` gives label, rule, because, like and is_sure of a row.

    The row is an object; null or nothing is unknown. It needs no package.
    """
    document = _document(model, schema, error, about)
    for rule in document["rules"]:
        if isinstance(rule["label"], int) and abs(rule["label"]) > _SAFE:
            raise ExportError(f"the label {rule['label']} is a number that JavaScript cannot hold")
    return _program(document, "read_rules.js", _json)


def to_python(
    model: DecisionList,
    *,
    schema: Schema | None = None,
    error: float = 0.05,
    about: Sequence[str] = (),
) -> str:
    """A Python module whose `predict(item)` gives the label of an item, and `explain(item)` also
    rule, because, like and is_sure.

    The item is a mapping from column to value, where None or nothing is unknown, or a set of names.
    It needs Python 3.11 or later and no package.

    >>> import tellapart as ta
    >>> model = DecisionList((Clause((ta.Literal("milk"),), "bear"),), Clause((), "duck"))
    >>> program = {"__name__": "exported"}
    >>> exec(to_python(model), program)
    >>> program["predict"]({"milk"}), program["explain"]({}).because
    ('bear', 'Otherwise it is duck.')
    """

    def literal(value: Any, depth: int) -> str:
        return _json(value, depth, {True: "True", False: "False", None: "None"})

    return _program(_document(model, schema, error, about), "read_rules.py", literal)


def _program(document: Any, reader: str, write: Callable[[Any, int], str]) -> str:
    """The file that reads rules, with these rules in the place of its own."""
    source = files("tellapart.export").joinpath("readers", reader).read_text(encoding="utf-8")
    sign = "//" if reader.endswith(".js") else "#"
    before, start, rest = re.split(r"(RULES\b[^=\n]* = )", source, maxsplit=1)
    after = rest.partition(f"{sign} end of the rules\n")[2]
    rules = counted(len(document["rules"]), "rule")
    head = f"{sign} {rules}, written by tellapart {tellapart.__version__}.\n"
    return f"{head}{before}{start}{write(document, 0)}{';' if sign == '//' else ''}\n{after}"


def _document(
    model: DecisionList, schema: Schema | None, error: float, about: Sequence[str]
) -> dict[str, Any]:
    feature_trees.check_reading(model)
    types, clauses = feature_trees.types_of(model, schema or {}), reachable(model)
    label_kind([clause.label for clause in clauses])
    rules = [
        {**answer._asdict(), "when": _when(clause, types)}
        for answer, clause in zip(answers(model, error), clauses, strict=True)
    ]
    document: dict[str, Any] = {"tellapart": "rules", "format": FORMAT}
    document |= {"about": list(about)} if about else {}
    document["rules"] = rules
    if any(f'["{name}", ' in json.dumps(rules) for name in ("lower", "upper")):
        uppers, lowers = ("".join(side) for side in zip(*letter_case.PAIRS, strict=True))
        document["letters"] = {"upper": uppers, "lower": lowers}
    return document


def _when(clause: Clause, types: feature_trees.Types) -> Any:
    if not clause.literals:
        return True
    try:
        parts = [_write(feature_trees.literal_tree(one, types)) for one in clause.literals]
    except ExportError as error:
        raise ExportError(f"cannot write '{clause}' as JSON rules: {error}") from None
    return parts[0] if len(parts) == 1 else ["and", *parts]


def _write(node: Node) -> Any:
    """A condition or a value."""
    match node:
        case tree.Column():
            return ["column", node.name, node.type.value]
        case Value():
            return _literal(node, node.type)
        case tree.Arithmetic():
            return [node.op, _operand(node.left), _operand(node.right)]
        case tree.Call(name="coalesce"):
            return ["coalesce", *(_as(part, node.type) for part in node.args)]
        case tree.Call(name="abs" | "negative"):
            return [node.name, _as(node.args[0], Type.NUMBER)]
        case tree.Call():
            return [node.name, _write(node.args[0])]
        case tree.Compare():
            kind = tree.wider(node.left.type, node.right.type)
            return [node.op, _as(node.left, kind), _as(node.right, kind)]
        case tree.In():
            kind = tree.wider(node.operand.type, *(value.type for value in node.values))
            made = ["in", _as(node.operand, kind), *(_as(value, kind) for value in node.values)]
        case tree.Like():
            made = ["matches", _write(node.operand), _shape(node.pattern, node.fold)]
        case tree.IsNull():
            made = ["unknown", _write(node.operand)]
        case tree.IsTrue():
            made = ["true", _write(node.operand)]
        case tree.Not():
            return ["not", _write(node.operand)]
        case tree.And() | tree.Or():
            return [type(node).__name__.lower(), *map(_write, node.parts)]
        case tree.Points():
            made = ["points", node.at_least, *([w, _write(part)] for part, w in node.terms)]
        case tree.Atom():
            raise ExportError(feature_trees.refusal(node.feature))
    return ["not", made] if node.negated else made


def _operand(node: Node) -> Any:
    """What arithmetic computes with."""
    if isinstance(node, tree.Call) and node.name in ("abs", "negative"):
        return [node.name, _operand(node.args[0])]
    made = _as(node, Type.NUMBER)
    return ["within", made] if tree.is_bounded(node) else made


def _as(node: Node, kind: Type) -> Any:
    """A value where a double or a datetime is wanted."""
    if node.type is kind or kind not in (Type.NUMBER, Type.DATETIME):
        return _write(node)
    if isinstance(node, Value):
        return _literal(node, kind)
    return ["to_number" if kind is Type.NUMBER else "midnight", _write(node)]


def _literal(node: Value, kind: Type) -> Any:
    value = node.value
    if kind is Type.NUMBER:
        return float(value)
    if kind is Type.INTEGER and abs(value) > _SAFE:
        return ["integer", str(value)]
    if kind is Type.DATE:
        return ["date", value.isoformat()]
    if kind is Type.DATETIME:
        moment = value if isinstance(value, datetime) else datetime(*value.timetuple()[:3])
        return ["datetime", moment.isoformat(timespec="microseconds")]
    return value


def _shape(pattern: Pattern, fold: bool) -> str:
    """A regular expression for the whole text, in which only what must be is escaped."""
    return re.sub(
        r"\\(.)", lambda sign: sign[1] if sign[1] in "#&-~" else sign[0], regex(pattern, fold)
    )


def _json(value: Any, depth: int, words: Mapping[Any, str] | None = None) -> str:
    """JSON with a line for every rule's key; conditions are broken where they are long.

    `words` are those for true, false and null, if they are not JSON's.
    """
    if not isinstance(value, dict | list):
        known = value is None or isinstance(value, bool)
        return words[value] if words and known else json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        parts = [_json(part, depth + 1, words) for part in value]
        flat = f"[{', '.join(parts)}]"
        if len(flat) <= _WIDE and not any(isinstance(part, dict) for part in value):
            return flat
    else:
        parts = [
            f"{json.dumps(key)}: {_json(part, depth + 1, words)}" for key, part in value.items()
        ]
    inner, outer = "\n" + "  " * (depth + 1), "\n" + "  " * depth
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}{inner}{f',{inner}'.join(parts)}{outer}{closing}"
