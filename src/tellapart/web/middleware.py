"""What every request passes: who asks, from where, how much, how often.

In this order: the Host header must name this server (against DNS rebinding); an Origin header must
be our own; a token or a cookie must say who it is; with a cookie, a change must come with the
headers that say that a page of ours sent it; nobody asks too often; no body is too large. On the
way out every answer gets the headers that keep browsers strict.
"""

from __future__ import annotations

import asyncio
import html
import ipaddress
import logging
import re
import secrets
import time
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tellapart.web import errors
from tellapart.web.auth import COOKIE_SECONDS, Caller
from tellapart.web.config import AppState, Limits
from tellapart.web.errors import Refused
from tellapart.web.json_logging import describe_error, log_event

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
LOCAL_NAMES = ("localhost", "localhost.localdomain")
PUBLIC_PATHS = ("/health",)
"""Paths that need no token, beside those under /static/."""
UPLOAD = ("POST", "/upload")
"""Where the owner may send more than others."""
POLICY = (
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self';"
    " frame-ancestors 'none'"
)
_LEADS_AWAY = re.compile(r"^[/\\\s\x00-\x20]+")
"""What browsers take for the beginning of another host, or leave out before it."""
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class AccessMiddleware:
    """ASGI middleware; see the top of this file."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # no web sockets here
            await send({"type": "websocket.close", "code": 1008})
            return
        started = time.perf_counter()
        number = scope["tellapart.request"] = secrets.token_hex(8)
        sender = _Sender(send, scope["path"], number)
        state: AppState = scope["app"].state.tellapart
        try:
            await self._handle(state, scope, receive, sender)
        except Refused as error:
            state.metrics.refused.labels(error.kind).inc()
            await _refuse(scope, receive, sender, error)
        except Exception as error:
            log_event("failed", logging.ERROR, request=number, **describe_error(error))
            if not sender.status:
                wrong = Refused(500, "ServerError", errors.MESSAGES[500])
                await _refuse(scope, receive, sender, wrong)
        finally:
            _record(state, scope, sender, time.perf_counter() - started, number)

    async def _handle(
        self, state: AppState, scope: Scope, receive: Receive, sender: _Sender
    ) -> None:
        headers, path = Headers(scope=scope), scope["path"]
        host = headers.get("host", "")
        if not is_own_host(state.limits, host):
            raise Refused(403, "WrongHost", "this server does not go by that name (Host header)")
        _check_origin(state.limits, scope, headers, host)
        if path in PUBLIC_PATHS or path.startswith("/static/"):
            await self.app(scope, receive, sender)
            return
        if (reply := _exchange_token(state, scope, host)) is not None:
            await reply(scope, receive, sender)
            return
        caller = _identify(state, scope, headers, host)
        sender.teacher = caller.name
        if wait := state.callers.wait(caller.name):
            raise _too_many(wait)
        scope["tellapart.caller"] = caller
        limits = state.limits
        most, seconds = limits.max_body, limits.body_timeout
        if (scope["method"], path) == UPLOAD and caller.is_owner:
            most, seconds = limits.max_upload, limits.upload_timeout
        await self.app(scope, await _read_body(most, seconds, scope, receive), sender)


def is_own_host(limits: Limits, host: str) -> bool:
    """Whether a Host header names this server.

    >>> hosts = ("127.0.0.1:8400", "[::1]", "evil.test", "10.0.0.1", "")
    >>> [is_own_host(Limits(), host) for host in hosts]
    [True, True, False, False, False]
    >>> is_own_host(Limits(loopback=False), "10.0.0.1:80")
    True
    """
    try:
        parts = urlsplit(f"//{host}")
        name, _ = (parts.hostname or "").lower().rstrip("."), parts.port
    except ValueError:
        return False
    if not name or parts.path or parts.query or parts.fragment or parts.username is not None:
        return False
    public = None if limits.public is None else urlsplit(limits.public).hostname
    if name in limits.hosts or name in LOCAL_NAMES or name == public:
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or not limits.loopback


def _check_origin(limits: Limits, scope: Scope, headers: Headers, host: str) -> None:
    """Refuse what another site's page sends."""
    origin = headers.get("origin")
    own = [f"{scope['scheme']}://{host}".lower()]
    if limits.public is not None:
        own.append(limits.public.lower().rstrip("/"))
    site = headers.get("sec-fetch-site", "none")
    cross = scope["method"] not in SAFE and site not in ("none", "same-origin")
    if cross or (origin is not None and origin.lower() not in own):
        raise Refused(403, "ForeignOrigin", "this request comes from a page of another site")


def _exchange_token(state: AppState, scope: Scope, host: str) -> Response | None:
    """A page asked for with ?token=: a cookie for it, and the address without it.

    A link on another site could make anybody's browser somebody else's: there, the person is asked
    first, and what they press comes from our own page.
    """
    if scope["method"] not in ("GET", "HEAD") or scope["path"].startswith("/api/"):
        return None
    query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    tokens = [value for name, value in query if name == "token"]
    if not tokens:
        return None
    person = state.people.by_token(tokens[-1])
    if person is None:
        raise _no_token(state, scope, "this token is not, or no longer, valid")
    path = "/" + quote(_LEADS_AWAY.sub("", scope["path"]))
    if Headers(scope=scope).get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return HTMLResponse(
            '<!doctype html><html lang="en"><title>tellapart</title><h1>Go on?</h1>'
            "<p>A link on another site led here. Its answers will be those of"
            f" {html.escape(person.name)}. If that is you:"
            f' <a href="{html.escape(f"{path}?{urlencode(query)}")}">go on</a>'
        )
    rest = urlencode([pair for pair in query if pair[0] != "token"])
    reply = RedirectResponse(path + (f"?{rest}" if rest else ""), 303)
    reply.set_cookie(
        _cookie_name(host),
        state.people.cookie(person),
        max_age=COOKIE_SECONDS,
        path="/",
        secure="https" in (scope["scheme"], (state.limits.public or "").partition(":")[0]),
        httponly=True,
        samesite="strict",
    )
    return reply


def _identify(state: AppState, scope: Scope, headers: Headers, host: str) -> Caller:
    said, cookie, person = headers.get("authorization"), None, None
    if said is not None:
        way, _, token = said.partition(" ")
        person = state.people.by_token(token.strip()) if way.lower() == "bearer" else None
        wrong = "this token is not, or no longer, valid"
    elif (cookie := _cookie(headers, host)) is not None:
        person = state.people.by_cookie(cookie)
        wrong = "this browser's cookie is too old: open the address with the token again"
    else:
        wrong = (
            "a token is wanted: open the address that 'tellapart serve' printed, or send"
            " 'Authorization: Bearer TOKEN'"
        )
    if person is None:
        raise _no_token(state, scope, wrong)
    said = headers.get("origin") or headers.get("sec-fetch-site")
    if cookie is not None and scope["method"] not in SAFE and not said:
        # every browser sends one of the two with a change, and `_check_origin` has looked at it
        raise Refused(403, "ForeignOrigin", "a change by a page must say from which site it comes")
    return Caller(state, person, gzip="gzip" in headers.get("accept-encoding", ""))


def _no_token(state: AppState, scope: Scope, message: str) -> Refused:
    client = scope.get("client")
    if wait := state.strangers.wait(str(client[0]) if client else "unknown"):
        return _too_many(wait)
    return Refused(401, "NoToken", message, {"WWW-Authenticate": "Bearer"})


async def _read_body(most: int, seconds: float, scope: Scope, receive: Receive) -> Receive:
    """The whole body, read here, so that its size is known before anybody looks at it."""
    length = Headers(scope=scope).get("content-length", "0")
    if length.isascii() and length.isdecimal() and int(length) > most:
        raise _too_large(most, scope["path"])
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for chunk in Request(scope, receive).stream():
                body += chunk
                if len(body) > most:
                    raise _too_large(most, scope["path"])
    except TimeoutError:
        raise Refused(408, "TooSlow", "the body of the request did not arrive") from None
    except ClientDisconnect:
        pass
    messages: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


async def _refuse(scope: Scope, receive: Receive, sender: _Sender, error: Refused) -> None:
    reply = errors.answer(Request(scope), error)
    await reply(scope, receive, sender)


def _record(state: AppState, scope: Scope, sender: _Sender, seconds: float, number: str) -> None:
    """Count the request, and write a line in the log."""
    route = getattr(scope.get("route"), "path", None) or "other"
    if scope["path"].startswith("/api/") and route.startswith("/"):
        route = "/api" + route.removeprefix("/api")
    method = scope["method"] if scope["method"].isalpha() else "other"
    state.metrics.requests.labels(method[:10], route, sender.status).inc()
    state.metrics.seconds.labels(route).observe(seconds)
    log_event(
        "request",
        request=number,
        method=method[:10],
        route=route,
        status=sender.status,
        ms=round(seconds * 1000, 1),
        bytes=sender.bytes,
        teacher=sender.teacher,
    )


class _Sender:
    """Sends an answer with our headers, and keeps count."""

    def __init__(self, send: Send, path: str, number: str) -> None:
        self._send, self._path, self._number = send, path, number
        self.status, self.bytes = 0, 0
        self.teacher: str | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)  # a served picture has a stricter policy
            headers["x-request-id"] = self._number
            if not self._path.startswith("/static/"):
                headers["cache-control"] = "no-store"
        elif message["type"] == "http.response.body":
            self.bytes += len(message.get("body", b""))
        await self._send(message)


def _too_many(wait: float) -> Refused:
    seconds = str(max(1, round(wait + 0.5)))
    return Refused(429, "TooMany", "too many requests; slow down", {"Retry-After": seconds})


def _too_large(most: int, path: str) -> Refused:
    said = f"too large: at most {most / 1e6:g} MB can be sent at once"
    if path == "/upload":
        said += ". Put the table into the folder of this server, and begin with it there"
    return Refused(413, "TooLarge", said)


def _cookie_name(host: str) -> str:
    """Cookies are shared by all ports of a host: each server has a name of its own."""
    port = host.rpartition(":")[2]
    return f"tellapart-{port}" if port.isascii() and port.isdecimal() else "tellapart"


def _cookie(headers: Headers, host: str) -> str | None:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(_cookie_name(host))
    except CookieError:
        return None
    return None if found is None else found.value
