"""The pages that people see; they draw what the views say."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.responses import HTMLResponse, Response


def install(app: FastAPI) -> None:
    """Give an app its pages."""

    @app.get("/", include_in_schema=False)
    async def home() -> Response:
        return HTMLResponse(
            '<!doctype html><html lang="en"><title>tellapart</title><h1>tellapart</h1>'
            "<p>The server runs. Its API is described in"
            ' <a href="/api/openapi.json">/api/openapi.json</a>.'
        )
