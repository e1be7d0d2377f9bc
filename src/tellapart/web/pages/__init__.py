"""The pages that people see; they call the functions of the API."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from tellapart.web.pages import answers, front, progress, render, results, teach

_HERE = Path(__file__).parent.parent


def install(app: FastAPI) -> None:
    """Give an app its pages."""
    render.prepare()
    app.mount("/static", StaticFiles(directory=_HERE / "static"), name="static")
    for part in (front, teach, progress, answers, results):
        app.include_router(part.router, include_in_schema=False)
