"""What a model becomes outside: SQL, programs, sentences, pictures, files."""

from tellapart.export.dbt import to_dbt
from tellapart.export.languages import write_model
from tellapart.export.model_files import load_model, replacing, save_model
from tellapart.export.picture import to_svg
from tellapart.export.programs import to_javascript, to_json_rules, to_python
from tellapart.export.read_sql import from_sql
from tellapart.export.sql import to_sql
from tellapart.export.text import Words, name_of, plainly, sentences, to_text
from tellapart.export.view import to_select, to_view

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
    "to_javascript",
    "to_json_rules",
    "to_python",
    "to_select",
    "to_sql",
    "to_svg",
    "to_text",
    "to_view",
    "write_model",
]
