"""One shape for everything that goes wrong.

{"ok": false, "status": 422, "kind": "FeatureError", "error": "unknown column 'leg' ...",
 "errors": [{"where": "feature", "message": "...", "spot": [0, 3]}], "request": "5f3c..."}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from tellapart.errors import (
    ExportError,
    FeatureError,
    FormatError,
    MissingExtra,
    ParameterError,
    ProtocolError,
    SessionError,
    StoreError,
    TellapartError,
)

_STATUS: tuple[tuple[type[TellapartError], int], ...] = (
    (StoreError, 503),
    (SessionError, 409),
    (ProtocolError, 409),
    (MissingExtra, 501),
    (ParameterError, 422),
    (FeatureError, 422),
    (FormatError, 422),
    (ExportError, 422),
)
_WORDS = {
    400: "the request cannot be read",
    401: "a token is wanted",
    403: "not allowed",
    404: "there is nothing at this address",
    405: "this address knows no such method",
    406: "not to be had in this form",
    413: "too much in one request",
    415: "send JSON, as application/json",
    429: "too many requests",
    500: "the server made a mistake; what was acknowledged is kept",
}


class Detail(BaseModel):
    """One thing that was wrong."""

    where: str = Field(description="The field of the request.")
    message: str
    spot: list[int] | None = Field(
        None, description="In an expression: the first and one past the last character at fault."
    )


class Fault(BaseModel):
    """What every route answers when it cannot do what was asked."""

    ok: bool = False
    status: int
    kind: str = Field(description="The kind of error, for programs.")
    error: str = Field(description="What was wrong and what to do, for people.")
    errors: list[Detail] = []
    request: str = Field("", description="The number of the request, as in the log.")


class Refused(HTTPException):
    """A refusal of our own, with a kind."""

    def __init__(
        self, status: int, kind: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status, message, dict(headers or {}))
        self.kind = kind


def written(value: Any) -> bytes:
    """JSON; what cannot be UTF-8 (half a character) is escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "backslashreplace")


def fault(
    status: int,
    kind: str,
    message: str,
    *,
    errors: list[dict[str, Any]] | None = None,
    headers: Mapping[str, str] | None = None,
    request: str = "",
) -> Response:
    """The answer that says so."""
    body = {
        "ok": False,
        "status": status,
        "kind": kind,
        "error": message,
        "errors": errors or [],
        "request": request,
    }
    return Response(written(body), status, dict(headers or {}), media_type="application/json")


def of_refusal(error: HTTPException, request: str = "") -> Response:
    """For what Starlette, FastAPI or the gate refuse."""
    kind = getattr(error, "kind", None) or f"http {error.status_code}"
    plain = _WORDS.get(error.status_code)
    ours = isinstance(error, Refused) or plain is None
    message = str(error.detail) if ours else str(plain)
    return fault(error.status_code, kind, message, headers=error.headers, request=request)


def of_error(error: TellapartError, request: str = "") -> Response:
    """For what tellapart raises on purpose."""
    status = next((code for kind, code in _STATUS if isinstance(error, kind)), 400)
    details: list[dict[str, Any]] = []
    if isinstance(error, FeatureError):
        spot = None if error.spot is None else list(error.spot)
        details = [{"where": "feature", "message": str(error).splitlines()[0], "spot": spot}]
    headers = {"Retry-After": "2"} if status == 503 else None
    kind = type(error).__name__
    return fault(status, kind, str(error), errors=details, headers=headers, request=request)


def of_body(error: RequestValidationError, request: str = "") -> Response:
    """For a body or a query that is not what it should be."""
    details = [
        {
            "where": ".".join(map(str, part["loc"])),
            "message": str(part["msg"]),
            "spot": None,
        }
        for part in error.errors()[:20]
    ]
    said = "; ".join(f"{part['where']}: {part['message']}" for part in details[:3])
    return fault(422, "InvalidRequest", said, errors=details, request=request)


def install(app: FastAPI) -> None:
    """Give an app these answers. What nobody expected is the gate's to answer."""

    def number(request: Request) -> str:
        return str(request.scope.get("tellapart.request", ""))

    async def refused(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return of_refusal(error, number(request))

    async def raised(request: Request, error: Exception) -> Response:
        assert isinstance(error, TellapartError)
        return of_error(error, number(request))

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return of_body(error, number(request))

    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(TellapartError, raised)
    app.add_exception_handler(RequestValidationError, invalid)
