"""A model as JSON rules (docs/export.md), and as programs made of them: Python and JavaScript.

A condition is written as nested lists, the operation first: `[">=", ["column", "legs", "integer"],
4]`. A program is the rules and a file that reads them (`readers`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import Any

import tellapart
from tellapart.errors import ExportError
from tellapart.export import feature_trees
from tellapart.export.sql import label_kind
from tellapart.export.text import answers, reachable
from tellapart.features.evaluate import LETTERS, written
from tellapart.features.phrasing import counted
from tellapart.model import Clause, DecisionList

FORMAT = 1
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
    >>> rules = json.loads(to_json_rules(model))["rules"]
    >>> [(rule["label"], rule["when"]) for rule in rules]
    [('bear', ['>=', ['column', 'legs', 'integer'], 4]), ('duck', True)]
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
        if isinstance(rule["label"], int) and abs(rule["label"]) > 2**53:
            raise ExportError(f"the label {rule['label']} is a number that JavaScript cannot hold")
    return _program(document, "tellapart.export", "read_rules.js", _json)


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
    ('bear', 'Otherwise it is: duck.')
    """

    def literal(value: Any, depth: int) -> str:
        return _json(value, depth, {True: "True", False: "False", None: "None"})

    document = _document(model, schema, error, about)
    return _program(document, "tellapart.features", "read_rules.py", literal)


def _program(document: Any, place: str, reader: str, write: Callable[[Any, int], str]) -> str:
    """The file that reads rules, with these rules in the place of its own."""
    source = files(place).joinpath(reader).read_text(encoding="utf-8")
    sign = "//" if reader.endswith(".js") else "#"
    before, start, rest = re.split(r"(RULES\b[^=\n]* = )", source, maxsplit=1)
    after = rest.partition(f"{sign} end of the rules\n")[2]
    rules = counted(len(document["rules"]), "rule")
    head = f"{sign} {rules}, written by tellapart {tellapart.__version__}.\n"
    return f"{head}{before}{start}{write(document, 0)}{';' if sign == '//' else ''}\n{after}"


def _document(
    model: DecisionList, schema: Schema | None, error: float, about: Sequence[str]
) -> dict[str, Any]:
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
        document["letters"] = LETTERS
    return document


def _when(clause: Clause, types: feature_trees.Types) -> Any:
    if not clause.literals:
        return True
    try:
        parts = [written(feature_trees.literal_tree(one, types)) for one in clause.literals]
    except ExportError as error:
        raise ExportError(f"cannot write '{clause}' as JSON rules: {error}") from None
    return parts[0] if len(parts) == 1 else ["and", *parts]


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
