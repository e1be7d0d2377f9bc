"""What was asked of a model, what it answered, and what that cost: no request is paid twice.

A request is known by the hash of what is sent. It is written down before it is sent, and its reply
before it is used. So after a crash three things can be told apart: what was answered, what was
never sent, and what was on its way: that may have been paid, and is not sent again.
"""

from __future__ import annotations

import hashlib
import threading
import time
from dataclasses import dataclass
from typing import Any

from tellapart.errors import BudgetUsed, ParameterError, check
from tellapart.sessions.events import stamp
from tellapart.sessions.store import Store

TABLE = "tellapart_requests"
_CREATE = f"""CREATE TABLE IF NOT EXISTS {TABLE} (
    hash TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    at TEXT NOT NULL,
    body TEXT NOT NULL,
    sent BIGINT NOT NULL,
    state TEXT NOT NULL,
    reply TEXT,
    tokens_in BIGINT NOT NULL,
    tokens_out BIGINT NOT NULL,
    spend DOUBLE PRECISION NOT NULL
)"""
_COLUMNS = "hash, body, sent, state, reply, tokens_in, tokens_out, spend"
_LATER = ["session", "at", "sent", "state", "reply", "tokens_in", "tokens_out", "spend"]
_WRITE = (
    f"INSERT INTO {TABLE} ({_COLUMNS}, session, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (hash) DO UPDATE SET " + ", ".join(f"{name} = excluded.{name}" for name in _LATER)
)
MILLION = 1_000_000
"""Prices are for so many tokens."""


@dataclass
class Request:
    """A request to a model, and what became of it."""

    hash: str
    body: str
    """What is sent, as JSON."""
    sent: int = 0
    """How often it was sent: again only after a reply that it was not done."""
    state: str = "sent"
    """sent: no reply, or not yet. refused: the server said that it did nothing. answered."""
    reply: str | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    spend: float = 0.0
    """What it cost; the most that it may have cost, as long as there is no reply."""
    own: bool = True
    """Whether it counts for this budget; another session may have paid it."""


class Ledger:
    """Requests and their replies, and a budget. It may be used from many threads.

    Parameters
    ----------
    calls : int, optional
        The most requests that may be sent.
    spend : float, optional
        The most that may be spent, in the unit of the prices.
    price_in, price_out : float
        What a million tokens cost: of requests, and of replies.

    >>> ledger = Ledger(calls=1)
    >>> ledger.begin("{}", 10, 10).sent, ledger.calls
    (1, 1)
    >>> ledger.begin("[]", 10, 10)
    Traceback (most recent call last):
    ...
    tellapart.errors.BudgetUsed: the budget is used up: 1 of 1 calls
    """

    def __init__(
        self,
        calls: int | None = None,
        spend: float | None = None,
        *,
        price_in: float | None = None,
        price_out: float | None = None,
    ) -> None:
        if calls is not None:
            check("the budget", "calls", calls, "an integer >= 1", lambda n: n >= 1)
        for name, value in (("spend", spend), ("price_in", price_in), ("price_out", price_out)):
            if value is not None:
                check("the budget", name, value, ">= 0", lambda v: 0 <= v < 1e12, float)
        if spend is not None and (price_in is None or price_out is None):
            raise ParameterError(
                "a limit on the spend needs the price of a million tokens, of requests (price_in)"
                " and of replies (price_out); 0 if it is free"
            )
        self.most_calls, self.most_spend = calls, spend
        self.price_in, self.price_out = price_in or 0.0, price_out or 0.0
        self.requests: dict[str, Request] = {}
        self._lock = threading.RLock()

    # -- how much

    @property
    def calls(self) -> int:
        """How many requests were sent."""
        return sum(one.sent for one in self._own())

    @property
    def spend(self) -> float:
        """What they cost, at most."""
        return sum(one.spend for one in self._own())

    @property
    def tokens(self) -> tuple[int, int]:
        """Of requests, and of replies."""
        own = self._own()
        return sum(one.tokens_in for one in own), sum(one.tokens_out for one in own)

    def _own(self) -> list[Request]:
        with self._lock:
            return [one for one in self.requests.values() if one.own]

    def price(self, tokens_in: int, tokens_out: int) -> float:
        """What a request costs."""
        return (tokens_in * self.price_in + tokens_out * self.price_out) / MILLION

    # -- one request

    def find(self, body: str) -> Request | None:
        """A request with this content, if there was one."""
        return self.requests.get(_hash(body))

    def begin(self, body: str, tokens_in: int, tokens_out: int) -> Request:
        """A request is about to be sent: it and the most it may cost are written down first.

        Raises `BudgetUsed` if it would be one too many.
        """
        with self._lock:
            calls, spend, more = self.calls, self.spend, self.price(tokens_in, tokens_out)
            if self.most_calls is not None and calls >= self.most_calls:
                raise BudgetUsed(f"the budget is used up: {calls:,} of {self.most_calls:,} calls")
            if self.most_spend is not None and spend + more > self.most_spend:
                raise BudgetUsed(
                    f"the budget is used up: {spend:.6g} of {self.most_spend:g} spent, and the next"
                    f" call may cost {more:.6g}"
                )
            key = _hash(body)
            request = self.requests.get(key)
            if request is None or not request.own:
                request = Request(key, body)
            request.sent, request.state = request.sent + 1, "sent"
            request.spend += more
            self.requests[key] = request
            self.write(request)
            return request

    def unsent(self, request: Request, tokens_in: int, tokens_out: int) -> None:
        """It was not sent after all: there was no connection."""
        with self._lock:
            request.sent -= 1
            self.refused(request, tokens_in, tokens_out)

    def refused(self, request: Request, tokens_in: int, tokens_out: int) -> None:
        """The server did nothing (429, 5xx): the call counts, its price does not."""
        with self._lock:
            request.state = "refused"
            request.spend = max(0.0, request.spend - self.price(tokens_in, tokens_out))
            self.write(request)

    def answered(
        self, request: Request, reply: str, used: tuple[int, int], most: tuple[int, int]
    ) -> None:
        """A reply came; it is written down before anybody uses it."""
        with self._lock:
            request.state, request.reply = "answered", reply
            request.tokens_in, request.tokens_out = used
            request.spend = max(0.0, request.spend - self.price(*most)) + self.price(*used)
            self.write(request)

    def write(self, request: Request) -> None:
        """Keep a request; here in memory only."""


class KeptLedger(Ledger):
    """A ledger beside the log, in the database of a session, by the hash of what was sent.

    The budget is that of the session, for all its time. Replies that another session of the
    database paid for are used, and cost nothing.
    """

    def __init__(self, store: Store, session: str, *limits: Any, **prices: Any) -> None:
        super().__init__(*limits, **prices)
        self._store, self._session = store, session
        with store.connected() as connection:
            connection.execute(_CREATE)
            connection.commit()
            rows = connection.execute(f"SELECT {_COLUMNS}, session FROM {TABLE}").fetchall()
        for *cells, whose in rows:
            request = Request(*cells)
            request.own = whose == session
            self.requests[request.hash] = request

    def write(self, request: Request) -> None:
        """Commit a request, before it is sent and before its reply is used."""
        cells = [getattr(request, name) for name in _COLUMNS.split(", ")]
        with self._store.connected(reads=False) as connection:
            connection.execute(
                self._store._sql(_WRITE), (*cells, self._session, stamp(time.time()))
            )
            connection.commit()


def _hash(body: str) -> str:
    """What a request is known by."""
    return hashlib.sha256(body.encode()).hexdigest()
