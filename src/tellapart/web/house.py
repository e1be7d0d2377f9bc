"""What an app is made of."""

from __future__ import annotations

import time

from tellapart.web.auth import People
from tellapart.web.limits import Buckets, Limits
from tellapart.web.manner import Manner
from tellapart.web.metrics import Metrics
from tellapart.web.session_pool import Shelf


class House:
    """Sessions, people, and what they may do; `app.state.house`."""

    def __init__(
        self, shelf: Shelf, people: People, limits: Limits, manner: Manner | None = None
    ) -> None:
        self.shelf, self.people, self.limits = shelf, people, limits
        self.manner = manner or Manner()
        self.metrics = Metrics()
        self.started = time.monotonic()
        self.rates = Buckets(limits.rate, limits.burst)
        self.strangers = Buckets(1.0, 30)
        """Those who come without a token, or with a wrong one, by address."""
