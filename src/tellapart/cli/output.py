"""Giving a report out: to the screen or as JSON, with its picture."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tellapart.cli import report, report_screen
from tellapart.errors import MissingExtra
from tellapart.lab import curves


def give(findings: report.Report, picture: Path | None, *, as_json: bool) -> None:
    """Save the picture, if one is wanted and can be drawn, and print the rest."""
    saved = None if picture is None else _draw(findings, picture)
    if as_json:
        print(json.dumps(report.as_json(findings, saved), ensure_ascii=False))
        return
    from rich.console import Console

    console = Console(highlight=False)
    report_screen.show(console, findings)
    if saved is not None:
        console.print(f"Picture of the mistakes: {saved}", soft_wrap=True, markup=False)


def _draw(findings: report.Report, picture: Path) -> str | None:
    try:
        curves.draw(findings.trials, picture, title=findings.title, name=findings.words.item)
    except MissingExtra as error:
        print(f"tellapart: going on without a picture: {error}", file=sys.stderr)
        return None
    return str(picture)
