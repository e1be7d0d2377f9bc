"""Who may come in, from where, with how much, and what each may do: every rule of access is here.

A request passes in this order: the Host header must name this server (against DNS rebinding); an
Origin header must be our own; a token or a cookie must say who it is; with a cookie, a change must
say that a page of ours sent it; no body is too large. On the way out every answer gets the headers
that keep browsers strict.

A cookie is a time and a signature made with the person's token. So it outlives a restart of
the server, and ends with the token.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import html
import ipaddress
import logging
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote, urlencode, urlsplit

from fastapi import Depends, Path
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tellapart.errors import FormatError, ParameterError
from tellapart.protocol import Item
from tellapart.sessions import Session
from tellapart.web import errors
from tellapart.web.errors import Refused
from tellapart.web.json_logging import describe_error, log_event

if TYPE_CHECKING:
    from tellapart.web.config import AppState


@dataclass(frozen=True)
class Limits:
    """Which requests are let in.

    Parameters
    ----------
    loopback : bool, default=True
        The server listens on this machine only: no other name or address of it is accepted.
        False: any address (a number cannot be made to lead elsewhere, a name can), and `hosts`.
    hosts : names, default=()
        Names this server goes by.
    public : str, default=None
        The address that people use, such as https://teach.example.org, when a proxy stands before
        the server.
    max_upload : int
        Bytes in a table that the owner adds.
    """

    loopback: bool = True
    hosts: frozenset[str] = frozenset()
    public: str | None = None
    max_upload: int = 50_000_000


MIN_TOKEN_LENGTH = 16
COOKIE_SECONDS = 30 * 24 * 3600
"""Seconds until a browser has to show the token again."""
MAX_STRANGERS = 10_000
"""So many addresses a limiter remembers."""


@dataclass(frozen=True)
class Person:
    """A teacher with a token of their own. An owner may also begin and close sessions."""

    name: str
    token: str = field(repr=False)
    owner: bool = False

    def __post_init__(self) -> None:
        if not self.name.strip() or not self.name.isprintable() or len(self.name) > 100:
            raise ParameterError(
                f"the name of a teacher is 1 to 100 printable characters, got {self.name!r}"
            )
        good = self.token.isascii() and self.token.isprintable() and " " not in self.token
        if not good or len(self.token) < MIN_TOKEN_LENGTH:
            raise ParameterError(
                f"the token of {self.name!r} must have at least {MIN_TOKEN_LENGTH} letters, digits"
                " or signs and no space. Leave it out, and one is made"
            )

    def sign(self, text: str) -> str:
        """A signature that only who knows the token can make."""
        return hmac.new(self.token.encode(), text.encode(), hashlib.sha256).hexdigest()


def new_token() -> str:
    """A token nobody can guess."""
    return secrets.token_urlsafe(24)


class People:
    """Everybody who may call.

    >>> people = People([Person("Ann", "a" * 16, owner=True)], clock=lambda: 0)
    >>> people.by_token("a" * 16), people.by_token("b" * 16)
    (Person(name='Ann', owner=True), None)
    >>> cookie = people.cookie(people.by_token("a" * 16))
    >>> people.by_cookie(cookie).name, people.by_cookie(cookie[:-1] + "!")
    ('Ann', None)
    """

    def __init__(self, people: Iterable[Person], *, clock: Callable[[], float] = time.time) -> None:
        self.all = tuple(people)
        self._clock = clock
        names, tokens = {one.name for one in self.all}, {one.token for one in self.all}
        if not self.all or len(names) < len(self.all) or len(tokens) < len(self.all):
            raise ParameterError("people need names and tokens, each a different one")

    def by_token(self, token: str) -> Person | None:
        """Whose token this is; how long it takes says nothing about tokens."""
        return next((one for one in self.all if _same(one.token, token)), None)

    def cookie(self, person: Person) -> str:
        """What the person's browser keeps."""
        until = int(self._clock()) + COOKIE_SECONDS
        return f"{until}.{person.sign(f'cookie {person.name} {until}')}"

    def by_cookie(self, cookie: str) -> Person | None:
        """Whose cookie this is, if it is not too old."""
        until, _, signature = cookie.partition(".")
        if not until.isascii() or not until.isdecimal() or int(until) <= self._clock():
            return None
        signed = (
            one for one in self.all if _same(one.sign(f"cookie {one.name} {until}"), signature)
        )
        return next(signed, None)


class StrangerLimiter:
    """How often those without a valid token may try, by their address: a reserve of tries, and one
    more every second.

    >>> now = [0.0]
    >>> limiter = StrangerLimiter(reserve=2, clock=lambda: now[0])
    >>> [limiter.wait("10.0.0.1") for _ in range(3)]
    [0.0, 0.0, 1.0]
    >>> now[0] = 1.5
    >>> limiter.wait("10.0.0.1")
    0.0
    """

    def __init__(self, reserve: int = 30, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._reserve, self._clock = reserve, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, address: str) -> float:
        """0 if one more try is fine, which is counted; else seconds until it is."""
        now = self._clock()
        left, at = self._left.pop(address, (float(self._reserve), now))
        left = min(float(self._reserve), left + now - at)
        wait = max(0.0, 1 - left)
        self._left[address] = (left if wait else left - 1, now)
        if len(self._left) > MAX_STRANGERS:
            self._left.popitem(last=False)
        return wait


class Caller:
    """Who sent a request, and what they may do. The middleware makes it."""

    def __init__(self, app: AppState, person: Person, request: Request) -> None:
        self.app, self.pool = app, app.pool
        self.fragment = "x-fragment" in request.headers
        """Whether our script asks, and wants only parts of a page."""
        self.name, self.is_owner = person.name, person.owner

    def must_own(self) -> None:
        """Refuse teachers of a team what only the owner may do."""
        if not self.is_owner:
            raise Refused(403, "OwnerOnly", "only the owner of this server may do that")

    def must_have_answered(self, session: Session, event: str) -> None:
        """Refuse teachers of a team what others answered; the owner may change it."""
        if not self.is_owner and session.answer_of(event, viewer=self.viewer) is None:
            raise Refused(403, "NotYours", "only your own answers, unless you own the server")

    def must_have_made_rule(self, session: Session, example: Item) -> None:
        """Refuse teachers of a team the rules of others; the owner may change them."""
        if not self.is_owner and session.rule_teacher(example, viewer=self.viewer) is None:
            raise Refused(403, "NotYours", "only your own rules, unless you own the server")

    def whose_acts(self, teacher: str | None) -> str:
        """Whose acts to undo: one's own, or, for the owner, anybody's."""
        if teacher not in (None, self.name):
            self.must_own()
        return teacher or self.name

    @property
    def viewer(self) -> str | None:
        """As whom the caller reads a session: see `replies.visible`."""
        return None if self.is_owner else self.name


async def _caller(request: Request) -> Caller:  # without async, FastAPI hands it to a thread
    caller: Caller = request.scope["tellapart.caller"]
    return caller


Call = Annotated[Caller, Depends(_caller)]
SessionName = Annotated[
    str, Path(min_length=1, max_length=200, description="The name of the session.")
]


def read_people(path: FilePath) -> list[Person]:
    """Teachers from a file: a name and, after a space, its token on each line.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = FilePath(folder, "teachers.txt")
    ...     _ = path.write_text("# our team\\nAnn Lee 0123456789abcdef\\n")
    ...     read_people(path)
    [Person(name='Ann Lee', owner=False)]
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"{path} cannot be read: {error}") from error
    found: list[Person] = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, _, token = line.strip().rpartition(" ")
        if not name:
            raise FormatError(
                f"{path} line {number}: a name and a token are wanted, with a space between"
            )
        try:
            found.append(Person(name.strip(), token))
        except ParameterError as error:
            raise FormatError(f"{path} line {number}: {error}") from error
    return found


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode("utf-8", "replace"))


# -- what every request passes

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
LOCAL_NAMES = ("localhost", "localhost.localdomain")
PUBLIC_PATHS = ("/health",)
"""Paths that need no token, beside those under /static/."""
MAX_BODY, BODY_SECONDS = 1_000_000, 20.0
"""Bytes in the body of a request, and seconds for it to arrive."""
UPLOAD, UPLOAD_SECONDS = ("POST", "/upload"), 300.0
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
            await errors.answer(Request(scope), error)(scope, receive, sender)
        except Exception as error:
            log_event("failed", logging.ERROR, request=number, **describe_error(error))
            if not sender.status:
                wrong = Refused(500, "ServerError", errors.MESSAGES[500])
                await errors.answer(Request(scope), wrong)(scope, receive, sender)
        finally:
            _record(state, scope, sender, time.perf_counter() - started, number)

    async def _handle(
        self, state: AppState, scope: Scope, receive: Receive, sender: _Sender
    ) -> None:
        request, path = Request(scope, receive), scope["path"]
        if not is_own_host(state.limits, request.headers.get("host", "")):
            raise Refused(403, "WrongHost", "this server does not go by that name (Host header)")
        _check_origin(state.limits, request)
        if path in PUBLIC_PATHS or path.startswith("/static/"):
            await self.app(scope, receive, sender)
            return
        if (reply := _exchange_token(state, request)) is not None:
            await reply(scope, receive, sender)
            return
        caller = scope["tellapart.caller"] = Caller(state, _identify(state, request), request)
        sender.teacher = caller.name
        most, seconds = MAX_BODY, BODY_SECONDS
        if (scope["method"], path) == UPLOAD and caller.is_owner:
            most, seconds = state.limits.max_upload, UPLOAD_SECONDS
        await self.app(scope, await _read_body(most, seconds, request), sender)


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


def _check_origin(limits: Limits, request: Request) -> None:
    """Refuse what another site's page sends."""
    origin = request.headers.get("origin")
    own = [f"{request.url.scheme}://{request.headers['host']}".lower()]
    if limits.public is not None:
        own.append(limits.public.lower().rstrip("/"))
    cross = request.method not in SAFE and _comes_from_elsewhere(request)
    if cross or (origin is not None and origin.lower() not in own):
        raise Refused(403, "ForeignOrigin", "this request comes from a page of another site")


def _comes_from_elsewhere(request: Request) -> bool:
    return request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin")


def _exchange_token(state: AppState, request: Request) -> Response | None:
    """A page asked for with ?token=: a cookie for it, and the address without it.

    A link on another site could make anybody's browser somebody else's: there, the person is asked
    first, and what they press comes from our own page.
    """
    query = request.query_params.multi_items()
    tokens = [value for name, value in query if name == "token"]
    if not tokens or request.method not in SAFE or request.scope["path"].startswith("/api/"):
        return None
    person = state.people.by_token(tokens[-1])
    if person is None:
        raise _no_token(state, request, "this token is not, or no longer, valid")
    path = "/" + quote(_LEADS_AWAY.sub("", request.scope["path"]))
    if _comes_from_elsewhere(request):
        return HTMLResponse(
            '<!doctype html><html lang="en"><title>tellapart</title><h1>Go on?</h1>'
            "<p>A link on another site led here. Its answers will be those of"
            f" {html.escape(person.name)}. If that is you:"
            f' <a href="{html.escape(f"{path}?{urlencode(query)}")}">go on</a>'
        )
    rest = urlencode([pair for pair in query if pair[0] != "token"])
    reply = RedirectResponse(path + (f"?{rest}" if rest else ""), 303)
    reply.set_cookie(
        _cookie_name(request),
        state.people.cookie(person),
        max_age=COOKIE_SECONDS,
        path="/",
        secure="https" in (request.url.scheme, (state.limits.public or "").partition(":")[0]),
        httponly=True,
        samesite="strict",
    )
    return reply


def _cookie_name(request: Request) -> str:
    """Cookies are shared by all ports of a host: each server has a name of its own."""
    port = request.headers["host"].rpartition(":")[2]
    return f"tellapart-{port}" if port.isascii() and port.isdecimal() else "tellapart"


def _identify(state: AppState, request: Request) -> Person:
    """Who sends the request: it has a token, or the cookie of one."""
    said, cookie = request.headers.get("authorization"), request.cookies.get(_cookie_name(request))
    if said is not None:
        way, _, token = said.partition(" ")
        person = state.people.by_token(token.strip()) if way.lower() == "bearer" else None
        wrong = "this token is not, or no longer, valid"
    elif cookie is not None:
        person = state.people.by_cookie(cookie)
        wrong = "this browser's cookie is too old: open the address with the token again"
        known = request.headers.get("origin") or request.headers.get("sec-fetch-site")
        if person is not None and request.method not in SAFE and not known:
            # every browser sends one of the two with a change, and `_check_origin` looked at it
            wrong = "a change by a page must say from which site it comes"
            raise Refused(403, "ForeignOrigin", wrong)
    else:
        person = None
        wrong = (
            "a token is wanted: open the address that 'tellapart serve' printed, or send"
            " 'Authorization: Bearer TOKEN'"
        )
    if person is None:
        raise _no_token(state, request, wrong)
    return person


def _no_token(state: AppState, request: Request, message: str) -> Refused:
    if wait := state.strangers.wait(request.client.host if request.client else "unknown"):
        seconds = str(max(1, round(wait + 0.5)))
        return Refused(429, "TooMany", "too many requests; slow down", {"Retry-After": seconds})
    return Refused(401, "NoToken", message, {"WWW-Authenticate": "Bearer"})


async def _read_body(most: int, seconds: float, request: Request) -> Receive:
    """The whole body, read here, so that its size is known before anybody looks at it."""
    said = f"too large: at most {most / 1e6:g} MB can be sent at once"
    if request.scope["path"] == UPLOAD[1]:
        said += ". Put the table into the folder of this server, and begin with it there"
    too_large = Refused(413, "TooLarge", said)
    length = request.headers.get("content-length", "0")
    if length.isascii() and length.isdecimal() and int(length) > most:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                body += chunk
                if len(body) > most:
                    raise too_large
    except TimeoutError:
        raise Refused(408, "TooSlow", "the body of the request did not arrive") from None
    except ClientDisconnect:
        pass
    messages: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await request.receive()

    return replay


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
