"""How an app is set up: limits, what its pages offer, and what its parts share."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tellapart.web.auth import People
from tellapart.web.metrics import Metrics
from tellapart.web.session_pool import SessionPool

_LOOPBACK = frozenset({"localhost", "localhost.localdomain"})


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
    rate, burst : float and int
        Requests a second for each teacher, and how many may come at once.
    max_body : int
        Bytes in the body of a request.
    body_timeout : float
        Seconds for the body to arrive.
    """

    loopback: bool = True
    hosts: frozenset[str] = frozenset()
    public: str | None = None
    rate: float = 200.0
    burst: int = 400
    max_body: int = 1_000_000
    body_timeout: float = 20.0

    def is_own_host(self, host: str) -> bool:
        """Whether a Host header names this server.

        >>> hosts = ("127.0.0.1:8400", "[::1]", "evil.test", "10.0.0.1", "")
        >>> [Limits().is_own_host(host) for host in hosts]
        [True, True, False, False, False]
        >>> Limits(loopback=False).is_own_host("10.0.0.1:80")
        True
        """
        try:
            parts = urlsplit(f"//{host}")
            name, _ = (parts.hostname or "").lower().rstrip("."), parts.port
        except ValueError:
            return False
        if not name or parts.path or parts.query or parts.fragment or parts.username is not None:
            return False
        public = None if self.public is None else urlsplit(self.public).hostname
        if name in self.hosts or name in _LOOPBACK or name == public:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or not self.loopback

    def is_own_origin(self, origin: str, scheme: str, host: str) -> bool:
        """Whether an Origin header is that of our own pages."""
        if self.public is not None and origin.lower() == self.public.lower().rstrip("/"):
            return True
        return origin.lower() == f"{scheme}://{host}".lower()


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
        self,
        rate: float,
        burst: int,
        *,
        max_callers: int = 10_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.rate, self.burst = rate, burst
        self._max_callers, self._clock = max_callers, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, caller: str) -> float:
        """0 if one more request is fine, which is counted; else seconds until it is."""
        now = self._clock()
        left, at = self._left.pop(caller, (float(self.burst), now))
        left = min(float(self.burst), left + (now - at) * self.rate)
        wait = 0.0 if left >= 1 else (1 - left) / self.rate
        self._left[caller] = (left - 1 if not wait else left, now)
        if len(self._left) > self._max_callers:
            self._left.popitem(last=False)
        return wait


@dataclass(frozen=True)
class PageOptions:
    """What `tellapart teach` adds to the pages; `tellapart serve` leaves it at the defaults."""

    keys: dict[str, str] | None = None
    """The keys; None: the usual ones, or those of a file beside the tables."""
    known: tuple[Path, str] | None = None
    """The table as it lies now, and its column with known labels, to compare answers with."""
    tour: bool = False
    """Whether to show a hint with some items."""


class AppState:
    """What middleware, routes and pages share; `app.state.tellapart`."""

    def __init__(
        self,
        pool: SessionPool,
        people: People,
        limits: Limits | None = None,
        pages: PageOptions | None = None,
    ) -> None:
        self.pool, self.people = pool, people
        self.limits, self.pages = limits or Limits(), pages or PageOptions()
        self.metrics = Metrics()
        self.started = time.monotonic()
        self.callers = RateLimiter(self.limits.rate, self.limits.burst)
        self.strangers = RateLimiter(1.0, 30)
        """Those without a valid token, by address."""
