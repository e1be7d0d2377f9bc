"""Who may call, how often, and what each may do: people with tokens, or a browser's cookie.

A cookie is a name, a time and a signature made with the person's token. So it outlives a restart of
the server, and ends with the token.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Path
from starlette.requests import Request

from tellapart.errors import FormatError, ParameterError
from tellapart.protocol import Item
from tellapart.sessions import Session
from tellapart.web.errors import Refused

if TYPE_CHECKING:
    from tellapart.web.config import AppState

MIN_TOKEN_LENGTH = 16
COOKIE_SECONDS = 30 * 24 * 3600
"""Seconds until a browser has to show the token again."""
MAX_CALLERS = 10_000
"""So many callers a rate limiter remembers."""


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
        # looked up by hash: how long it takes says nothing about the token
        self._tokens = {_digest(person.token): person for person in self.all}
        self._marks = {_mark(person): person for person in self.all}
        names = {person.name for person in self.all}
        if not self.all or len(names) < len(self.all) or len(self._tokens) < len(self.all):
            raise ParameterError("people need names and tokens, each a different one")

    def by_token(self, token: str) -> Person | None:
        return self._tokens.get(_digest(token))

    def cookie(self, person: Person) -> str:
        """What the person's browser keeps."""
        signed = f"{_mark(person)}.{int(self._clock()) + COOKIE_SECONDS}"
        return f"{signed}.{person.sign('cookie ' + signed)}"

    def by_cookie(self, cookie: str) -> Person | None:
        """Whose cookie this is, if it is not too old."""
        signed, _, signature = cookie.rpartition(".")
        mark, _, until = signed.partition(".")
        person = self._marks.get(mark)
        if person is None or not until.isdecimal() or not until.isascii():
            return None
        good = hmac.compare_digest(signature.encode(), person.sign("cookie " + signed).encode())
        return person if good and int(until) > self._clock() else None


class RateLimiter:
    """A token bucket for each of many callers: so many requests a second, with a reserve.

    >>> now = [0.0]
    >>> limiter = RateLimiter(rate=1, burst=2, clock=lambda: now[0])
    >>> [limiter.wait("Ann") for _ in range(3)]
    [0.0, 0.0, 1.0]
    >>> now[0] = 1.5
    >>> limiter.wait("Ann")
    0.0
    """

    def __init__(
        self, rate: float, burst: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.rate, self.burst, self._clock = rate, burst, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, caller: str) -> float:
        """0 if one more request is fine, which is counted; else seconds until it is."""
        now = self._clock()
        left, at = self._left.pop(caller, (float(self.burst), now))
        left = min(float(self.burst), left + (now - at) * self.rate)
        wait = 0.0 if left >= 1 else (1 - left) / self.rate
        self._left[caller] = (left - 1 if not wait else left, now)
        if len(self._left) > MAX_CALLERS:
            self._left.popitem(last=False)
        return wait


class Caller:
    """Who sent a request, and what they may do. The middleware makes it."""

    def __init__(self, app: AppState, person: Person, *, gzip: bool = False) -> None:
        self.app, self.pool = app, app.pool
        self.gzip = gzip
        """Whether what is sent may be compressed."""
        self.name, self.is_owner = person.name, person.owner

    def must_own(self) -> None:
        """Refuse teachers of a team what only the owner may do."""
        if not self.is_owner:
            raise Refused(403, "OwnerOnly", "only the owner of this server may do that")

    def must_have_answered(self, session: Session, event: str) -> None:
        """Refuse teachers of a team what others answered; the owner may change it."""
        if self.is_owner or any(one.id == event for one in session.history(viewer=self.viewer)):
            return
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


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def _mark(person: Person) -> str:
    return hashlib.sha256(person.name.encode()).hexdigest()[:16]
