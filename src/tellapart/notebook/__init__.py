"""Teaching in a notebook: the teaching page as a widget of Jupyter, marimo and others."""

from __future__ import annotations

from tellapart.errors import MissingExtra

try:
    from tellapart.notebook.teaching_widget import TeachingWidget, widget
except ModuleNotFoundError as error:
    if (error.name or "").startswith("tellapart"):
        raise
    raise MissingExtra("Teaching in a notebook", "notebook") from error

__all__ = ["TeachingWidget", "widget"]
