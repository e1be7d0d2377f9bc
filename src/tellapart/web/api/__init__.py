"""The HTTP API, a file for each part of it. A route says what it takes and calls a view."""

from typing import Any

from tellapart.web.errors import Fault

FAULTS: dict[int | str, dict[str, Any]] = {
    "4XX": {
        "model": Fault,
        "description": (
            "400 cannot be read; 401 no token, or a wrong one; 403 wrong Host or Origin, no CSRF"
            " seal, or for the owner only; 404 no such session; 405 no such method; 408 came too"
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
