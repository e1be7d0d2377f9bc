"""A model in any language that is one text; `to_dbt` writes several files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from tellapart import codec
from tellapart.errors import ParameterError
from tellapart.export.picture import to_svg
from tellapart.export.programs import to_javascript, to_json_rules, to_python
from tellapart.export.sql import Dialect, to_sql
from tellapart.export.text import to_text
from tellapart.export.view import labels_of, to_select, to_view
from tellapart.model import DecisionList

Language: TypeAlias = Literal[
    "sql", "select", "view", "json", "python", "javascript", "json-rules", "text", "svg"
]


def write_model(
    model: DecisionList,
    language: str,
    *,
    dialect: Dialect = "duckdb",
    schema: Mapping[str, Any] | None = None,
    clean: bool = False,
    table: str = "",
    keep: Sequence[str] = (),
    name: str | None = None,
    error: float = 0.05,
    about: Sequence[str] = (),
    meanings: Mapping[str, str] | None = None,
) -> str:
    """The model in a `Language`, as a text that ends with the end of a line.

    Every language takes what it needs: what the arguments mean is said at `to_view`. `meanings` are
    those of the labels; JSON and sentences have them.

    >>> print(write_model(DecisionList(), "text", meanings={"bear": "It walks."}), end="")
    1. Nothing has been learnt yet.
    <BLANKLINE>
    bear: It walks.
    """
    told: dict[str, Any] = {"schema": schema, "error": error, "about": about}
    match language:
        case "sql":
            text = to_sql(model, dialect, schema=schema, clean=clean)
        case "select":
            text = to_select(model, dialect, table=table, keep=keep, clean=clean, **told)
        case "view":
            told |= {"name": name or labels_of(table), "table": table}
            text = to_view(model, dialect, keep=keep, clean=clean, **told)
        case "json":
            more = {"meanings": dict(meanings)} if meanings else {}
            text = codec.dump({**codec.parse(model.to_json()), **more})
        case "python":
            text = to_python(model, **told)
        case "javascript":
            text = to_javascript(model, **told)
        case "json-rules":
            text = to_json_rules(model, **told)
        case "text":
            said = [f"{label}: {meaning}" for label, meaning in (meanings or {}).items()]
            text = "\n".join([to_text(model), *([""] if said else []), *said])
        case "svg":
            text = to_svg(model)
        case _:
            raise ParameterError(f"there is no language {language!r}")
    return text.rstrip("\n") + "\n"
