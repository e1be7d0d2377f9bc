"""A model as files of a dbt project: a model, its description and tests, and a seed of taught rows.

The SELECT is a macro, so that the test of the seed runs the same SQL as the model does.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tellapart.errors import ExportError, ParameterError
from tellapart.export.sql import Dialect
from tellapart.export.views import OURS, Select, comment, table_names
from tellapart.features.tree import Type
from tellapart.model import DecisionList

_TAUGHT = ("taught_row", "taught_label", "expected_label", "expected_rule")
"""The columns of the seed, before those that the model reads."""


def to_dbt(
    model: DecisionList,
    dialect: Dialect = "duckdb",
    *,
    name: str,
    table: str,
    keep: Sequence[str],
    schema: Mapping[str, Any] | None = None,
    clean: bool = False,
    error: float = 0.05,
    about: Sequence[str] = (),
    taught: Sequence[tuple[Any, Mapping[str, Any], str | None]] = (),
) -> dict[str, str]:
    """The files of a dbt model, by their paths in the project.

    Parameters
    ----------
    name : str
        What the model is called.
    table : str
        What it reads: `animals` is `ref('animals')`, `zoo.animals` is `source('zoo', 'animals')`.
    keep : sequence of str
        Columns to give as well, at least one.
    taught : sequence of (name, row, label)
        Rows that were taught, as mappings, and the label each was given. They become a seed, and a
        test that the SQL gives them the labels that the model gives.

    The other arguments are those of `to_select`.

    >>> model = DecisionList()
    >>> files = to_dbt(model, name="labels", table="zoo.animals", keep=["id"])
    >>> sorted(files)
    ['macros/labels.sql', 'models/labels.sql', 'models/labels.yml']
    >>> print(files["models/labels.sql"].rstrip())
    {{ labels(source("zoo", "animals"), ["id"]) }}
    """
    if not re.fullmatch("[a-z_][a-z0-9_]*", name):
        raise ParameterError(f"a dbt model is called by small letters and _, got {name!r}")
    if dialect == "tsql":
        raise ExportError(
            "SQL Server has no WITH inside another query, which the tests of a dbt model need;"
            " make a view instead"
        )
    if not keep:
        raise ParameterError("a dbt model needs columns to keep, such as the id of a row")
    parts = table_names(table)
    if len(parts) > 2:
        raise ParameterError(
            f"dbt reads a model (animals) or a source (zoo.animals), got {table!r}"
        )
    made = _Macro(model, dialect, keep, schema or {}, clean, error)
    source = f"{'source' if parts[1:] else 'ref'}({', '.join(map(_text, parts))})"
    kept = ", ".join(_text(made.quoted(column)) for column in keep)
    files = {
        f"macros/{name}.sql": (
            f"{{% macro {name}(rows, keep) %}}\n{made.head(table, about)}"
            f"{made.query('{{ rows }}')}\n{{% endmacro %}}\n"
        ),
        f"models/{name}.sql": f"{{{{ {name}({source}, [{kept}]) }}}}\n",
        f"models/{name}.yml": _description(made, name, table, seed=bool(taught)),
    }
    if taught:
        files[f"seeds/{name}_taught.csv"] = _seed(made, taught)
        given = ", ".join(map(_text, ("taught_row", "expected_label", "expected_rule")))
        test = [
            comment(
                f"The rows that were taught get the labels and rules that {name} has for them."
            ),
            "SELECT *",
            f"FROM (\n{{{{ {name}(ref({_text(name + '_taught')}), [{given}]) }}}}\n) AS found",
            f"WHERE {made.ours('rule')} <> expected_rule OR label <> expected_label",
        ]
        files[f"tests/{name}_agrees.sql"] = "\n".join(test) + "\n"
    return files


class _Macro(Select):
    """The SELECT with Jinja for the columns that are kept; what looks like Jinja is escaped."""

    def kept(self, before: str = "", also: Sequence[str] = ()) -> list[str]:
        columns = "keep"
        if also:
            names = ", ".join(_text(self.quoted(name)) for name in also)
            columns = f"(keep + [{names}]) | unique(true)"
        return [
            f"{{% for column in {columns} %}}{before}{{{{ column }}}}"
            "{{ ', ' if not loop.last }}{% endfor %}"
        ]

    def escaped(self, sql: str) -> str:
        return _plain(sql)

    def head(self, table: str, about: Sequence[str]) -> str:
        return _plain(super().head(table, about))

    def type_of(self, kind: Type) -> str:
        """A type as this engine calls it."""
        from sqlglot import exp

        language = self.language
        kinds = {
            Type.BOOL: exp.DType.BOOLEAN, Type.INTEGER: exp.DType.BIGINT,
            Type.NUMBER: language.double, Type.TEXT: exp.DType.TEXT, Type.DATE: exp.DType.DATE,
            Type.DATETIME: language.moment,
        }  # fmt: skip
        return exp.DataType.build(kinds[kind]).sql(dialect=language.dialect)


def _plain(text: str) -> str:
    """A text that Jinja leaves as it is."""
    return re.sub("{(?=[{%#])", "{{ '{' }}", text)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _description(made: _Macro, name: str, table: str, *, seed: bool) -> str:
    """The YAML file; JSON is YAML."""
    labels = list(dict.fromkeys(c.label for c in made.clauses if c.label is not None))
    texts = any(isinstance(label, str) for label in labels)
    # dbt puts values between quotes as they are
    values: list[Any] = [_plain(str(x).replace("'", "''")) if texts else x for x in labels]
    rules = list(range(1, len(made.clauses) + 1))
    about = {
        "label": "What the rules say that a row is.",
        "rule": "The number of the rule that applied, from 1.",
        "because": "The rule, as a sentence.",
        "like": "The example that was taught for the rule.",
        "is_sure": "Whether the error of the rule is known to be small; null if nothing is known.",
    }
    tests: dict[str, list[str]] = {
        "label": _accepted(values, texts) if values else [],
        "rule": ["- not_null", *_accepted(rules, False)],
        "because": ["- not_null"],
    }
    if labels and all(clause.label is not None for clause in made.clauses):
        tests["label"].insert(0, "- not_null")
    lines = ["version: 2", "models:", f"  - name: {name}"]
    lines.append(
        f"    description: {_text(_plain(f'A label for every row of {table}, by rules.'))}"
    )
    lines.append("    columns:")
    for column in OURS:
        lines += [f"      - name: {column}", f"        description: {_text(about[column])}"]
        if tests.get(column):
            lines.append("        data_tests:")
            lines += [f"          {line}" for line in tests[column]]
    if seed:
        types = {one.name: made.type_of(one.type) for one in made.read}
        types |= {
            "taught_row": made.type_of(Type.TEXT),
            "expected_rule": made.type_of(Type.INTEGER),
        }
        lines += ["seeds:", f"  - name: {name}_taught"]
        lines.append('    description: "Rows that were taught, and what the rules say of them."')
        lines += ["    config:", "      column_types:"]
        lines += [f"        {_text(column)}: {kind}" for column, kind in types.items()]
    return "\n".join(lines) + "\n"


def _accepted(values: list[Any], texts: bool) -> list[str]:
    lines = ["- accepted_values:", "    arguments:"]
    lines.append(f"      values: {json.dumps(values, ensure_ascii=False)}")
    return lines if texts else [*lines, "      quote: false"]


def _seed(made: _Macro, taught: Sequence[tuple[Any, Mapping[str, Any], str | None]]) -> str:
    names = [one.name for one in made.read]
    number = {id(clause): n for n, clause in enumerate(made.model, 1)}
    clash = {name.lower() for name in names} & set(_TAUGHT)
    if clash:
        raise ParameterError(f"the seed has a column {min(clash)!r} of its own; rename the table's")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_TAUGHT, *names])
    for called, row, label in taught:
        cells = [row.get(name) for name in names]
        if any(isinstance(c, str) and c.strip().lower() in ("", "null") for c in cells):
            continue  # dbt would read it as unknown
        clause = made.model.match(row)
        writer.writerow([called, label, clause.label, number[id(clause)], *cells])
    return text.getvalue()
