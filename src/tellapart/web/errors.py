"""One shape for everything that goes wrong.

{"ok": false, "status": 422, "kind": "FeatureError", "error": "unknown column 'leg' ...",
 "errors": [{"where": "feature", "message": "...", "spot": [0, 3]}], "request": "5f3c..."}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from tellapart import errors
from tellapart.errors import FeatureError, TellapartError

_STATUS: dict[int, tuple[type[TellapartError], ...]] = {
    503: (errors.StoreError,),
    409: (errors.SessionError, errors.ProtocolError),
    501: (errors.MissingExtra,),
    422: (errors.ParameterError, errors.FeatureError, errors.FormatError, errors.ExportError),
}
MESSAGES = {
    400: "the request cannot be read",
    401: "a token is wanted",
    403: "not allowed",
    404: "there is nothing at this address",
    405: "this address knows no such method",
    406: "not to be had in this form",
    413: "too much in one request",
    415: "send JSON, as application/json",
    429: "too many requests",
    500: "the server made a mistake",
}


@dataclass(kw_only=True)
class Detail:
    """One thing that was wrong."""

    where: Annotated[str, Field(description="The field of the request.")]
    message: str
    spot: Annotated[
        list[int] | None,
        Field(description="In an expression: the first and one past the last character at fault."),
    ] = None


@dataclass(kw_only=True)
class Fault:
    """What every route answers when it cannot do what was asked."""

    ok: bool = False
    status: int
    kind: Annotated[str, Field(description="The kind of error, for programs.")]
    error: Annotated[str, Field(description="What was wrong and what to do, for people.")]
    errors: Annotated[list[Detail], Field(json_schema_extra={"default": []})] = field(
        default_factory=list
    )
    request: Annotated[str, Field(description="The number of the request, as in the log.")] = ""


RESPONSES: dict[int | str, dict[str, Any]] = {
    "4XX": {
        "model": Fault,
        "description": (
            "400 cannot be read; 401 no token, or a wrong one; 403 wrong Host or Origin,"
            " or for the owner only; 404 no such session; 405 no such method; 408 came too"
            " slowly; 409 out of turn, or the session cannot be opened now; 413 too large; 422 not"
            " what it should be; 429 too many requests"
        ),
    },
    "5XX": {
        "model": Fault,
        "description": (
            "500 a mistake of the server; 501 an optional dependency is missing; 503 the database"
            " cannot be reached: send the same again"
        ),
    },
}
"""What every route may answer instead: always the same shape."""


class Refused(HTTPException):
    """A refusal of our own, with a kind."""

    def __init__(
        self, status: int, kind: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status, message, dict(headers or {}))
        self.kind = kind


def _fault(error: Exception, request: str) -> tuple[Fault, Mapping[str, str] | None]:
    """What is said of an error that tellapart, FastAPI or Starlette raised on purpose."""
    details: list[Detail] = []
    headers: Mapping[str, str] | None = None
    if isinstance(error, TellapartError):
        status = next((code for code, kinds in _STATUS.items() if isinstance(error, kinds)), 400)
        kind, message = type(error).__name__, str(error)
        if isinstance(error, FeatureError):
            spot = None if error.spot is None else list(error.spot)
            details = [Detail(where="feature", message=message.splitlines()[0], spot=spot)]
        headers = {"Retry-After": "2"} if status == 503 else None
    elif isinstance(error, RequestValidationError):
        status, kind = 422, "InvalidRequest"
        details = [
            Detail(where=".".join(map(str, part["loc"])), message=str(part["msg"]))
            for part in error.errors()[:20]
        ]
        message = "; ".join(f"{one.where}: {one.message}" for one in details[:3])
    else:
        assert isinstance(error, HTTPException)
        status, headers = error.status_code, error.headers
        kind = getattr(error, "kind", None) or f"http {status}"
        usual = None if isinstance(error, Refused) else MESSAGES.get(status)
        message = str(error.detail) if usual is None else usual
    fault = Fault(status=status, kind=kind, error=message, errors=details, request=request)
    return fault, headers


def answer(request: Request, error: Exception) -> Response:
    """The answer to an error: a page for who looks at pages, else JSON."""
    fault, headers = _fault(error, str(request.scope.get("tellapart.request", "")))
    page = "text/html" in request.headers.get("accept", "") and "x-fragment" not in request.headers
    if page and not request.url.path.startswith("/api/"):
        from tellapart.web.pages.render import OUTSIDE, draw

        inside, message = "tellapart.caller" in request.scope, fault.error
        if isinstance(error, RequestValidationError):
            message = "this address asks for something that there is not"
        drawn = draw("error.html", fault=fault, message=message, inside=inside, **OUTSIDE)
        return HTMLResponse(drawn, fault.status, headers)
    text = json.dumps(asdict(fault), ensure_ascii=False, separators=(",", ":"))
    body = text.encode("utf-8", "backslashreplace")  # what cannot be UTF-8 is escaped
    return Response(body, fault.status, headers, media_type="application/json")


def install(app: FastAPI) -> None:
    """Give an app these answers. The middleware answers for errors that nobody expected."""

    async def handle(request: Request, error: Exception) -> Response:
        return answer(request, error)

    for kind in (HTTPException, TellapartError, RequestValidationError):
        app.add_exception_handler(kind, handle)
