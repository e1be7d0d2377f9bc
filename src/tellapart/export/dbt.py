"""A model as two files of a dbt project: the model, and its description with tests."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tellapart.errors import ParameterError
from tellapart.export.sql import Dialect, stamped
from tellapart.export.text import reachable
from tellapart.export.view import OURS, head, query, table_names
from tellapart.model import DecisionList

_ABOUT = {
    "label": "What the rules say that a row is.",
    "rule": "The number of the rule that applied, from 1.",
    "because": "The rule, as a sentence.",
    "like": "The example that was taught for the rule.",
    "is_sure": "Whether the error of the rule is known to be small; null if nothing is known.",
}


def to_dbt(
    model: DecisionList,
    dialect: Dialect = "duckdb",
    *,
    name: str,
    table: str,
    keep: Sequence[str] = (),
    schema: Mapping[str, Any] | None = None,
    clean: bool = False,
    error: float = 0.05,
    about: Sequence[str] = (),
) -> dict[str, str]:
    """The files of a dbt model called `name`, by their paths in the project.

    `table` is what it reads: `animals` is `ref("animals")`, `zoo.animals` is
    `source("zoo", "animals")`. The other arguments are those of `to_select`.

    >>> sorted(to_dbt(DecisionList(), name="labels", table="zoo.animals", keep=["id"]))
    ['models/labels.sql', 'models/labels.yml']
    """
    if not re.fullmatch("[a-z_][a-z0-9_]*", name):
        raise ParameterError(f"a dbt model is called by small letters and _, got {name!r}")
    parts = table_names(table)
    if len(parts) > 2:
        what = "dbt reads a model (animals) or a source (zoo.animals)"
        raise ParameterError(f"{what}, got {table!r}")
    place = f"{'source' if parts[1:] else 'ref'}({', '.join(map(json.dumps, parts))})"
    lines = query(model, dialect, "\0", keep, schema or {}, clean, error)
    sql = stamped(model, _plain("\n".join(lines)).replace("\0", f"{{{{ {place} }}}}"))
    return {
        f"models/{name}.sql": f"{_plain(head(model, table, error, about))}{sql}\n",
        f"models/{name}.yml": _description(model, name, table),
    }


def _plain(text: str) -> str:
    """A text that Jinja leaves as it is."""
    return re.sub("{(?=[{%#])", "{{ '{' }}", text)


def _description(model: DecisionList, name: str, table: str) -> str:
    """The YAML file; JSON is YAML."""
    labels = list(dict.fromkeys(clause.label for clause in reachable(model)))
    known: list[Any] = [label for label in labels if label is not None]
    texts = all(isinstance(label, str) for label in known)
    if texts:  # dbt puts them between quotes as they are
        known = [_plain(label.replace("'", "''")) for label in known]
    accepted = {"arguments": {"values": known, **({} if texts else {"quote": False})}}
    tests: dict[str, list[Any]] = {"rule": ["not_null"], "because": ["not_null"]}
    tests["label"] = ["not_null"] * (None not in labels) + [{"accepted_values": accepted}] * bool(
        known
    )
    columns = [
        {"name": one, "description": _ABOUT[one], "data_tests": tests.get(one, [])} for one in OURS
    ]
    said = _plain(f"A label for every row of {table}, by rules.")
    made = {"version": 2, "models": [{"name": name, "description": said, "columns": columns}]}
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"
