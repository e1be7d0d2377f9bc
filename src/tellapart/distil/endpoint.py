"""A chat model behind HTTP, as OpenAI-compatible servers offer it; through httpx.

One request is `POST {url}/chat/completions`. Every request is in a `Ledger` before it is sent, and
its reply before it is used. What comes back is taken as bytes from a stranger: it has a time limit
and a length limit, redirects are not followed, and the key is cut out of it.
"""

from __future__ import annotations

import json
import os
import socket
import ssl
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

from tellapart.distil.ledger import Ledger, Request
from tellapart.errors import EndpointError, MissingExtra, ParameterError, check

if TYPE_CHECKING:
    import httpx

LONGEST_REPLY = 1_000_000
"""Bytes; a longer reply is cut off, and is no answer."""
LONGEST_WAIT = 600.0
"""Seconds; a server that wants us to wait longer is left alone."""
OVERHEAD = 200
"""Tokens that a server may add to what is sent: marks of the chat's turns."""
MOST_TOKENS = 1_000_000_000
"""A server that says it took more is not believed."""
_FIRST_WAIT, _MOST_BACKOFF = 0.5, 30.0
MOMENT = 0.1
"""Seconds; nobody waits longer at a time, since Polars keeps an interrupt until a wait is over."""
KEYS = ("TELLAPART_API_KEY", "OPENAI_API_KEY")
"""The variables of the environment that may have the key; the first that is set."""
_PATH = "/chat/completions"
_LIMITS = ("max_tokens", "max_completion_tokens")
_SHORT_KEY = 8
"""A shorter key, such as "x" or "none" for a local server, is no secret and stands in any text."""


class Answer(NamedTuple):
    """What came back for a request."""

    text: str | None
    """What the model wrote; None if there is nothing to read."""
    why: str | None
    """Why there is nothing."""
    request: Request

    @property
    def lost(self) -> bool:
        """Whether no reply came at all: the request may have been paid, and is not sent again."""
        return self.request.state != "answered"


class Endpoint:
    """Sends requests to one model; may be used from many threads.

    Parameters
    ----------
    url : str
        Where the server is, with the version: `http://127.0.0.1:8080/v1`.
    model : str
        The name that the server knows the model by.
    key : str, optional
        Sent as a bearer token; else the environment's TELLAPART_API_KEY or OPENAI_API_KEY.
        It is never printed, logged or stored.
    timeout : float, default=60
        Seconds for a whole reply.
    retries : int, default=6
        How often a request is sent again after 429 or 5xx, or if there is no connection.
    ledger : Ledger, optional
        Budget and memory.
    reasoning : bool, default=False
        Whether the model reasons first: such models take max_completion_tokens, which counts their
        reasoning, instead of max_tokens, and no temperature.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str | None = None,
        timeout: float = 60.0,
        retries: int = 6,
        ledger: Ledger | None = None,
        reasoning: bool = False,
    ) -> None:
        _check_address(url)
        check("Endpoint", "timeout", timeout, "seconds, more than 0", lambda s: 0 < s < 1e6, float)
        check("Endpoint", "retries", retries, "an integer >= 0", lambda n: n >= 0)
        if not isinstance(model, str) or not model.strip() or not model.isprintable():
            raise ParameterError(
                f"the model is the name that the server knows it by, got {model!r}"
            )
        self.url, self.model = url.rstrip("/").removesuffix(_PATH), model
        self.timeout, self.retries, self.reasoning = timeout, retries, reasoning
        self.ledger = Ledger() if ledger is None else ledger
        self.__key = _key(key)
        self._lock, self._pause, self._reached = threading.Lock(), 0.0, False
        self._stopped = threading.Event()
        self._connected: dict[int, socket.socket] = {}  # by thread
        self._client = _client(timeout)

    def body(self, messages: Sequence[Any], name: str, schema: Any, reply_tokens: int) -> str:
        """What is sent to get a reply of this schema."""
        limits = {"temperature": 0, _LIMITS[0]: reply_tokens}
        if self.reasoning:
            limits = {_LIMITS[1]: reply_tokens}
        return _dump(
            {
                "model": self.model,
                "messages": list(messages),
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": name, "strict": True, "schema": schema},
                },
                **limits,
                "stream": False,
            }
        )

    def ask(self, body: str) -> Answer:
        """Send a request unless it was sent before, and wait for its reply.

        Raises `BudgetUsed` if it may not be sent, and `EndpointError` if the server cannot be used.
        """
        known = self.ledger.find(body)
        if known is not None and known.state != "refused":
            return read_reply(known)
        most = most_tokens(body)
        for attempt in range(self.retries + 1):
            self._wait()
            request = self.ledger.begin(body, *most)
            answer, pause = self._try(request, most, last=attempt == self.retries)
            if answer is not None:
                return answer
            self._pause_for(
                min(_MOST_BACKOFF, _FIRST_WAIT * 2.0**attempt) if pause is None else pause
            )
        raise AssertionError("unreachable")

    def _try(
        self, request: Request, most: tuple[int, int], *, last: bool
    ) -> tuple[Answer | None, float | None]:
        """Send a request that is in the ledger: the answer, or how long to wait if that is said."""
        import httpx

        try:
            status, wait, data = self._exchange(request.body)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            self.ledger.unsent(request, *most)
            cause = _cause(error)
            if last or not self._reached or isinstance(cause, ssl.SSLError):
                raise EndpointError(
                    f"there is no connection to {self.url}: {cause.strerror or cause}. Is the"
                    " server running? What was answered is kept; run it again to go on"
                ) from None
            return None, None
        except (httpx.HTTPError, TimeoutError):
            self._reached = True
            return Answer(None, "no reply came", request), None  # it stays "sent"
        self._reached = True
        text = self._readable(data)
        if status == 200:
            self.ledger.answered(request, text, _usage(text, most), most)
            return read_reply(request), None
        self.ledger.refused(request, *most)
        if status != 429 and status < 500:
            raise EndpointError(
                f"{self.url} refuses the request with {status}: {excerpt(text)}."
                f" {_ADVICE.get(status, 'Check the address, the model and the key')}"
            )
        if last:
            raise EndpointError(
                f"{self.url} answered {status} {self.retries + 1} times: {excerpt(text)}. What was"
                " answered is kept; run it again later to go on"
            )
        if wait is not None and wait > LONGEST_WAIT:
            raise EndpointError(
                f"{self.url} asks to wait {wait:,.0f} seconds. What was answered is kept; run"
                " it again then to go on"
            )
        return None, wait

    # -- one exchange

    def _exchange(self, body: str) -> tuple[int, float | None, bytes]:
        """The status, how long to wait, and the body, no longer than allowed."""
        end, mine = time.monotonic() + self.timeout, threading.get_ident()
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        headers |= {"Accept-Encoding": "identity", "Connection": "close"}
        if self.__key is not None:
            headers["Authorization"] = f"Bearer {self.__key}"

        def connected(event: str, about: dict[str, Any]) -> None:
            if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
                self._connected[mine] = about["return_value"].get_extra_info("socket")

        # every byte has the whole time again, and "100 Continue" or a chunk's size may never end
        watch = threading.Timer(self.timeout, lambda: _break_off(self._connected.get(mine)))
        watch.daemon = True
        watch.start()
        data = bytearray()
        try:
            with self._client.stream(
                "POST",
                self.url + _PATH,
                content=body.encode(),
                headers=headers,
                extensions={"trace": connected},
            ) as response:
                for part in response.iter_raw(65_536):
                    data += part
                    if len(data) > LONGEST_REPLY:
                        break
        finally:
            watch.cancel()
            self._connected.pop(mine, None)
        if time.monotonic() >= end:  # it looks like the end of the reply
            raise TimeoutError("the reply takes too long")
        return response.status_code, _retry_after(response.headers.get("Retry-After")), bytes(data)

    def _readable(self, data: bytes) -> str:
        """A reply as a text that may be kept: whole or not at all, and without the key."""
        if len(data) > LONGEST_REPLY:
            return f"(a reply of more than {LONGEST_REPLY:,} bytes)"
        text = data.decode("utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
        secret = self.__key is not None and len(self.__key) >= _SHORT_KEY
        return text.replace(str(self.__key), "(key)") if secret else text

    # -- waiting: when the server is busy, all threads pause

    def _pause_for(self, seconds: float) -> None:
        with self._lock:
            self._pause = max(self._pause, time.monotonic() + seconds)

    def _wait(self) -> None:
        while (left := self._pause - time.monotonic()) > 0 or self._stopped.is_set():
            if self._stopped.wait(max(0.0, min(left, MOMENT))):
                raise EndpointError("stopped before the server was asked")

    def stop(self, *, now: bool = False) -> None:
        """Let no thread send any more, or wait for a busy server; `now`: nor wait for a reply."""
        self._stopped.set()
        for connected in list(self._connected.values()) if now else ():
            _break_off(connected)


def _client(timeout: float) -> httpx.Client:
    """A client that connects anew for each request: so what was not sent is known. No proxies."""
    try:
        import httpx
    except ImportError:
        raise MissingExtra("a language model as a teacher", "distil") from None
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    return httpx.Client(timeout=timeout, limits=limits, trust_env=False, follow_redirects=False)


def _cause(error: BaseException) -> OSError:
    """The error of the system, below those of httpx."""
    while not isinstance(error, OSError) and (error.__cause__ or error.__context__):
        error = error.__cause__ or error.__context__ or error
    return error if isinstance(error, OSError) else OSError(str(error) or type(error).__name__)


def _break_off(connected: socket.socket | None) -> None:
    """Wake the thread that waits for the other side; of a secure connection, too."""
    with suppress(OSError):
        if connected is not None:
            socket.socket.shutdown(connected, socket.SHUT_RDWR)


_ADVICE = {
    400: "It may not know response_format json_schema, or the model; a model that reasons first"
    " wants reasoning = true in [distil] of tellapart.toml",
    401: f"Put the key into {KEYS[0]}",
    403: f"The key in {KEYS[0]} may not do this",
    404: "Is the address whole, such as http://127.0.0.1:8080/v1, and the model there?",
}


def most_tokens(body: str) -> tuple[int, int]:
    """The most tokens that a request and its reply can have: no token is shorter than a byte."""
    sent = json.loads(body)
    return len(body.encode()) + OVERHEAD, next(int(sent[one]) for one in _LIMITS if one in sent)


def read_reply(request: Request) -> Answer:
    """What the model wrote, out of a whole reply."""
    if request.reply is None:
        return Answer(None, "no reply came", request)
    try:
        data = json.loads(request.reply)
        message = data["choices"][0]["message"]
        text = message["content"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return Answer(None, f"the reply is no chat completion: {excerpt(request.reply)}", request)
    if not isinstance(text, str):
        refusal = message.get("refusal") or "it has no text"
        return Answer(None, f"the model refuses: {excerpt(str(refusal))}", request)
    return Answer(text, None, request)


def _usage(text: str, most: tuple[int, int]) -> tuple[int, int]:
    """The tokens that a reply says it took; where it does not say so, the most there can be."""
    try:
        usage = json.loads(text)["usage"]
        found = usage["prompt_tokens"], usage["completion_tokens"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return most
    fine = all(
        isinstance(n, int) and not isinstance(n, bool) and 0 <= n <= MOST_TOKENS for n in found
    )
    return found if fine else most


def http_address(url: str) -> SplitResult | None:
    """The parts of an address that begins with http:// or https://; None if it is none."""
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        return None
    return parts if fine and url.isprintable() and " " not in url else None


def _check_address(url: str) -> None:
    parts = http_address(url)
    try:  # what a request could not be sent to
        fine = parts is not None and (parts.hostname or "").encode("idna") and parts.path.isascii()
    except UnicodeError:
        fine = False
    if parts is None or not fine:
        raise ParameterError(
            "the endpoint is the address of an OpenAI-compatible server, such as"
            f" http://127.0.0.1:8080/v1, got {url!r}"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ParameterError(
            f"the endpoint is an address without name, password, ? or #; put the key into {KEYS[0]}"
        )


def _key(given: str | None) -> str | None:
    """The key; a message about it does not show it."""
    found = given if given is not None else next(filter(None, map(os.environ.get, KEYS)), None)
    found = (found or "").strip()
    if not (found.isascii() and found.isprintable()):
        raise ParameterError(f"the key in {KEYS[0]} has characters that no header may have")
    return found or None


def _retry_after(text: str | None) -> float | None:
    """Seconds, from a number of seconds or a date.

    >>> _retry_after("7"), _retry_after("Mon, 01 Jan 2001 00:00:00 GMT"), _retry_after("soon")
    (7.0, 0.0, None)
    """
    if text is None:
        return None
    try:
        return max(0.0, float(text)) if float(text) < 1e9 else 1e9
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, (moment - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def excerpt(text: str) -> str:
    """The beginning of what a stranger wrote, as it may be printed."""
    shown = " ".join(text.split())[:200]
    return "".join(sign if sign.isprintable() else "?" for sign in shown) or "(nothing)"


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
