"""How an app is set up: limits, what its pages offer, and what its parts share."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tellapart.web.api.events import EventStreams
from tellapart.web.api.operations import Metrics
from tellapart.web.auth import People, RateLimiter
from tellapart.web.session_pool import SessionPool


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
    max_upload : int
        Bytes in a table that the owner adds.
    upload_timeout : float
        Seconds for it to arrive.
    """

    loopback: bool = True
    hosts: frozenset[str] = frozenset()
    public: str | None = None
    rate: float = 200.0
    burst: int = 400
    max_body: int = 1_000_000
    body_timeout: float = 20.0
    max_upload: int = 50_000_000
    upload_timeout: float = 300.0


@dataclass(frozen=True)
class PageOptions:
    """What `tellapart teach` and `tellapart serve` add to the pages."""

    keys: dict[str, str] | None = None
    """The keys; None: the usual ones, or those of a file beside the tables."""
    known: Mapping[str, tuple[str | Path, str]] = field(default_factory=dict)
    """By session: its table as it lies now, and the column with known labels, to compare answers
    with."""
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
        self.streams = EventStreams()
        self.started = time.monotonic()
        self.callers = RateLimiter(self.limits.rate, self.limits.burst)
        self.strangers = RateLimiter(1.0, 30)
        """Those without a valid token, by address."""
