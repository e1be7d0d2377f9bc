"""How much one may ask for, and from where."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

_LOOPBACK = frozenset({"localhost", "localhost.localdomain"})


@dataclass(frozen=True)
class Limits:
    """What the gate lets through.

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
    largest : int
        Bytes in the body of a request.
    patience : float
        Seconds for the body to arrive.
    """

    loopback: bool = True
    hosts: frozenset[str] = frozenset()
    public: str | None = None
    rate: float = 200.0
    burst: int = 400
    largest: int = 1_000_000
    patience: float = 20.0

    def knows(self, host: str) -> bool:
        """Whether a Host header names this server.

        >>> here = Limits()
        >>> [here.knows(host) for host in ("127.0.0.1:8400", "[::1]", "evil.test", "10.0.0.1", "")]
        [True, True, False, False, False]
        >>> Limits(loopback=False).knows("10.0.0.1:80")
        True
        """
        try:
            parts = urlsplit(f"//{host}")
            name, _ = (parts.hostname or "").lower().rstrip("."), parts.port
        except ValueError:
            return False
        if not name or parts.path or parts.query or parts.fragment or parts.username is not None:
            return False
        if name in self.hosts or name in _LOOPBACK or name == self.public_name:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or not self.loopback

    @property
    def public_name(self) -> str | None:
        """The host in the public address."""
        return None if self.public is None else urlsplit(self.public).hostname

    def is_own(self, origin: str, scheme: str, host: str) -> bool:
        """Whether an Origin header is that of our own pages."""
        if self.public is not None and origin.lower() == self.public.lower().rstrip("/"):
            return True
        return origin.lower() == f"{scheme}://{host}".lower()


class Buckets:
    """So many requests a second for each of many, with a reserve.

    >>> now = [0.0]
    >>> buckets = Buckets(rate=1, burst=2, clock=lambda: now[0])
    >>> [buckets.wait("Ann") for _ in range(3)]
    [0.0, 0.0, 1.0]
    >>> now[0] = 1.5
    >>> buckets.wait("Ann")
    0.0
    """

    def __init__(
        self,
        rate: float,
        burst: int,
        *,
        many: int = 10_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.rate, self.burst = rate, burst
        self._many, self._clock = many, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, who: str) -> float:
        """0 if one more request is fine, which is counted; else seconds until it is."""
        now = self._clock()
        left, at = self._left.pop(who, (float(self.burst), now))
        left = min(float(self.burst), left + (now - at) * self.rate)
        wait = 0.0 if left >= 1 else (1 - left) / self.rate
        self._left[who] = (left - 1 if not wait else left, now)
        if len(self._left) > self._many:
            self._left.popitem(last=False)
        return wait
