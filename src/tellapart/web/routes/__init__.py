"""The HTTP API, a file for each part of it. A route says what it takes and calls a view."""

from typing import Any

from tellapart.web.faults import Fault

FAULTS: dict[int | str, dict[str, Any]] = {
    code: {"model": Fault, "description": said}
    for code, said in {
        400: "The request cannot be read.",
        401: "No token, or a wrong one.",
        403: "Not allowed: wrong Host or Origin, no CSRF seal, or for the owner only.",
        404: "There is no such session.",
        405: "No such method here.",
        408: "The request did not arrive in time.",
        409: "Out of turn, or the session cannot be opened now.",
        413: "Too large.",
        422: "Something in the request is not what it should be.",
        429: "Too many requests.",
        500: "A mistake of the server.",
        501: "An optional dependency is missing.",
        503: "The database cannot be reached.",
    }.items()
}
"""What every route may answer instead: always the same shape."""
