"""What a model becomes outside: SQL, programs, sentences, pictures, files."""

from collections.abc import Callable

from tellapart.export.case_when import from_sql
from tellapart.export.dbt import to_dbt
from tellapart.export.json_rules import to_javascript, to_json_rules, to_pandas
from tellapart.export.model_files import load_model, replacing, save_model
from tellapart.export.picture import to_dot, to_svg
from tellapart.export.polars import to_polars
from tellapart.export.python import to_python
from tellapart.export.sql import to_sql
from tellapart.export.text import Words, name_of, plainly, sentences, to_text
from tellapart.export.views import to_select, to_view
from tellapart.model import DecisionList

WRITERS: dict[str, Callable[[DecisionList], str]] = {
    "python": to_python,
    "text": to_text,
    "dot": to_dot,
    "svg": to_svg,
}
"""The languages that take no options."""

PROGRAMS: dict[str, Callable[..., str]] = {
    "polars": to_polars,
    "pandas": to_pandas,
    "javascript": to_javascript,
    "json-rules": to_json_rules,
}
"""Those that take the types of columns, and the error of a sure rule. `to_sql`, `to_select`,
`to_view`, `to_dbt` and `DecisionList.to_json` write the others."""

__all__ = [
    "Words",
    "from_sql",
    "load_model",
    "name_of",
    "plainly",
    "replacing",
    "save_model",
    "sentences",
    "to_dbt",
    "to_dot",
    "to_javascript",
    "to_json_rules",
    "to_pandas",
    "to_polars",
    "to_python",
    "to_select",
    "to_sql",
    "to_svg",
    "to_text",
    "to_view",
]
