"""How an app is set up: what its pages offer, and what its parts share."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tellapart.web.access import Limits, People, StrangerLimiter
from tellapart.web.api.events import EventStreams
from tellapart.web.api.operations import Metrics
from tellapart.web.session_pool import SessionPool


@dataclass(frozen=True)
class PageOptions:
    """What `tellapart teach` and `tellapart serve` add to the pages."""

    keys: dict[str, str] | None = None
    """Keys of one's own; None: those of a file beside the tables, if there is one."""
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
        self.strangers = StrangerLimiter()
