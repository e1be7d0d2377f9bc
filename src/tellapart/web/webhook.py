"""A webhook: every event of every session is sent to an address, signed, in order, at least once.

It has a thread of its own, which reads the log from the store: a receiver that is slow or away
delays nobody. How far each session is sent is kept in the database. So after a restart it goes on
where it was; an event whose receipt was not kept is sent again, with the same id.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import http.client
import logging
import random
import socket
import ssl
import threading
import time
from contextlib import suppress
from typing import Any
from urllib.parse import SplitResult

from tellapart import codec
from tellapart.errors import FormatError, ParameterError, SessionError
from tellapart.sessions import Event, Store
from tellapart.teachers.endpoint import http_address
from tellapart.web.json_logging import describe_error, log_event

SECRET = "TELLAPART_WEBHOOK_SECRET"
"""The variable of the environment that has the secret."""
TIMEOUT = 10.0
"""Seconds to connect, and between two parts of a reply."""
MOST_BACKOFF = 300.0
"""Seconds between two tries, at most; the first waits are 1, 2, 4 ..."""
BLOCK = 500
"""So many events are read at a time."""
KEEP = 1.0
"""Seconds after which the place is kept, while events are sent."""
QUIET = 60.0
"""Seconds after which the log is looked at though nobody said that it has grown."""
LONGEST_REPLY = 65_536
_TABLE = "tellapart_webhooks"
_CREATE = f"""CREATE TABLE IF NOT EXISTS {_TABLE} (
    receiver TEXT NOT NULL,
    session TEXT NOT NULL,
    number BIGINT NOT NULL,
    PRIMARY KEY (receiver, session)
)"""


def sign(key: bytes, id: str, timestamp: int, body: bytes) -> str:
    """The signature of a message, as standardwebhooks.com defines it.

    >>> sign(b"0" * 24, "a", 1, b"{}")
    'v1,mPEBmxvEotL2+wyY+0IEVeA1jeZwx801wp/tlrt/Agc='
    """
    made = hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return "v1," + base64.b64encode(made).decode()


class Webhook:
    """Sends the events of a store to one address.

    Parameters
    ----------
    url : str
        Where to: https, or http on this machine and in your own network.
    secret : str
        whsec_ and then 24 to 64 bytes in base64. It is never printed, logged or stored.
    """

    def __init__(self, url: str, secret: str | None) -> None:
        self._parts = _split(url)
        self.__key = _key(secret)
        # the address may be a secret itself
        self._receiver = hashlib.sha256(url.encode()).hexdigest()
        self._connection: http.client.HTTPConnection | None = None
        self._changed: set[str] = set()
        self._sent: dict[str, int] = {}
        self._unkept: set[str] = set()
        self._kept = 0.0
        self._woken, self._stopped = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="webhook", daemon=True)

    def start(self, store: Store) -> None:
        """Begin to send what happens from now on, or since this receiver was last sent to."""
        self._store = store
        with store.connected() as connection:
            connection.execute(_CREATE)
            connection.commit()
            query = f"SELECT session, number FROM {_TABLE} WHERE receiver = ?"
            self._sent = dict(self._execute(connection, query, self._receiver).fetchall())
        names = store.names()
        if not self._sent:  # a new one: "" says that it is known from now on
            events = {listed.name: listed.events for listed in store.sessions()}
            self._sent = {"": 0, **events}
            self._unkept.update(self._sent)
            self._keep()
        self._changed.update(names)
        self._thread.start()

    def wake(self, session: str) -> None:
        """Say that a session may have grown."""
        self._changed.add(session)
        self._woken.set()

    def stop(self) -> None:
        """Send nothing more. What is under way may arrive, and is then sent again."""
        self._stopped.set()
        self._woken.set()
        connection = self._connection
        if connection is not None and connection.sock is not None:
            with suppress(OSError):  # wakes the thread if it waits for a reply
                connection.sock.shutdown(socket.SHUT_RDWR)
        self._thread.join(1.0)

    # -- in its thread

    def _run(self) -> None:
        waits, name = 1.0, ""
        while not self._stopped.is_set():
            self._woken.clear()
            try:
                while self._changed and not self._stopped.is_set():
                    name = self._changed.pop()
                    self._deliver(name)
                if not self._woken.wait(KEEP if self._unkept else QUIET):
                    self._changed.update(() if self._unkept else self._sent)
                if self._stopped.is_set() or time.monotonic() - self._kept > KEEP:
                    self._keep()
                waits = 1.0
            except Exception as error:  # such as a database that is away
                log_event("webhook", logging.WARNING, **describe_error(error), waits=waits)
                self._changed.add(name)
                self._stopped.wait(waits)
                waits = min(2 * waits, MOST_BACKOFF)
        self._drop()

    def _deliver(self, name: str) -> None:
        """Send what a session has beyond what was sent."""
        while name and not self._stopped.is_set():
            try:
                events = self._store.tail(name, self._sent.get(name, 0), BLOCK)
            except SessionError:  # another session of that name took its place
                self._sent[name] = 0
                continue
            except FormatError as error:  # damaged: the others go on
                log_event("webhook", logging.ERROR, **describe_error(error))
                return
            for event in events:
                if not self._send(name, event):
                    return
                self._sent[name] = event.number
                self._unkept.add(name)
                if time.monotonic() - self._kept > KEEP:
                    self._keep()
            if not events:
                return

    def _send(self, name: str, event: Event) -> bool:
        """Send an event until it is received; False if we are to stop first."""
        line = event.line()
        body = f'{{"session":{codec.dump(name)},"event":{line}}}'.encode()
        key = hashlib.sha256(f"{name}\n{line}".encode()).hexdigest()[:32]
        tries = 0
        while not self._stopped.is_set():
            said, wait = self._post(key, body)
            if said is None:
                if tries:
                    log_event("webhook", received_after=tries + 1)
                return True
            backoff = min(MOST_BACKOFF, 2.0**tries) if wait is None else min(wait, MOST_BACKOFF)
            tries = min(tries + 1, 1000)
            backoff *= random.uniform(0.8, 1.2)
            log_event("webhook", logging.WARNING, tries=tries, waits=round(backoff, 1), **said)
            self._stopped.wait(backoff)
        return False

    def _post(self, id: str, body: bytes) -> tuple[dict[str, Any] | None, float | None]:
        """What went wrong, or None; and how long the receiver wants us to wait."""
        now = int(time.time())
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "tellapart",
            "Webhook-Id": id,
            "Webhook-Timestamp": str(now),
            "Webhook-Signature": sign(self.__key, id, now, body),
        }
        parts = self._parts
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            if self._connection is None:
                self._connection = self._connect()
            self._connection.request("POST", path, body, headers)
            response = self._connection.getresponse()
            if len(response.read(LONGEST_REPLY)) == LONGEST_REPLY:
                self._drop()
            if 200 <= response.status < 300:
                return None, None
            after = response.getheader("Retry-After", "")
            wait = float(after) if after.isascii() and after.isdecimal() else None
            return {"status": response.status}, wait  # a redirect is not followed
        except (OSError, http.client.HTTPException) as error:
            self._drop()
            return {"error": type(error).__name__}, None

    def _connect(self) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._parts.scheme == "https":
            secure = ssl.create_default_context()
            return http.client.HTTPSConnection(host, port, timeout=TIMEOUT, context=secure)
        return http.client.HTTPConnection(host, port, timeout=TIMEOUT)

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # -- the place in each log

    def _keep(self) -> None:
        """Keep in the database how far sessions are sent."""
        self._kept = time.monotonic()
        names = list(self._unkept)
        if not names:
            return
        with self._store.connected(reads=False) as connection:
            delete = f"DELETE FROM {_TABLE} WHERE receiver = ? AND session = ?"
            insert = f"INSERT INTO {_TABLE} (receiver, session, number) VALUES (?, ?, ?)"
            for name in names:
                self._execute(connection, delete, self._receiver, name)
                self._execute(connection, insert, self._receiver, name, self._sent[name])
            connection.commit()
        self._unkept.difference_update(names)

    def _execute(self, connection: Any, query: str, *values: Any) -> Any:
        return connection.execute(query.replace("?", self._store.database.mark), values)


def _split(url: str) -> SplitResult:
    parts = http_address(url)
    if parts is None or not url.isascii():
        raise ParameterError(
            "--webhook is the address of a receiver, such as https://example.org/hook"
        )
    if parts.username or parts.password or parts.fragment:
        raise ParameterError(
            f"--webhook is an address without name, password or #. What is sent is signed with the"
            f" secret in {SECRET}"
        )
    return parts


def _key(secret: str | None) -> bytes:
    """The key in a secret; a message about it does not show it."""
    try:
        key = base64.b64decode((secret or "").strip().removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not 24 <= len(key) <= 64:
        raise ParameterError(
            f"{SECRET} must have whsec_ and then 24 to 64 random bytes in base64. To make one:"
            " python -c \"import base64, secrets; print('whsec_' +"
            ' base64.b64encode(secrets.token_bytes(32)).decode())"'
        )
    return key
