"""Requests to language models and their replies, beside the log: what was paid is not paid again.

They are in a table of the session's database, by the hash of what was sent, for all its sessions.
"""

from __future__ import annotations

import time
from typing import Any

from tellapart.sessions.events import stamp
from tellapart.sessions.store import Store
from tellapart.teachers.ledger import Ledger, Request

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


class KeptLedger(Ledger):
    """A ledger in the database of a session. The budget is that of the session, for all its time.

    Replies that another session of the database paid for are used, and cost nothing.
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
