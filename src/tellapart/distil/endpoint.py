"""A chat model behind HTTP, as OpenAI-compatible servers offer it; through httpx.

One request is `POST {url}/chat/completions`. Every request is in a `Ledger` before it is sent, and
its reply before it is used. What comes back is taken as bytes from a stranger: it has a time limit
and a length limit, redirects are not followed, and the key is cut out of it.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Any, NamedTuple

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
RETRIES = 6
"""A request is sent again so often after 429 or 5xx, or if there is no connection."""
MOMENT = 0.1
"""Seconds; nobody waits longer at a time, since Polars keeps an interrupt until a wait is over."""
KEYS = ("TELLAPART_API_KEY", "OPENAI_API_KEY")
"""The variables of the environment that may have the key; the first that is set."""
_FIRST_WAIT = 0.5
_PATH = "/chat/completions"
_LIMITS = ("max_tokens", "max_completion_tokens")
_SHORT_KEY = 8
"""A shorter key, such as "x" or "none" for a local server, is no secret and stands in any text."""
_ADVICE = {
    400: "It may not know response_format json_schema, or the model; a model that reasons first"
    " wants reasoning = true in [distil] of tellapart.toml",
    401: f"Put the key into {KEYS[0]}",
    403: f"The key in {KEYS[0]} may not do this",
    404: "Is the address whole, such as http://127.0.0.1:8080/v1, and the model there?",
}


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


class _Reply(NamedTuple):
    status: int
    wait: float | None
    """Seconds until it may be asked again, where the server says so."""
    data: bytes


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
        ledger: Ledger | None = None,
        reasoning: bool = False,
    ) -> None:
        check("Endpoint", "timeout", timeout, "seconds, more than 0", lambda s: 0 < s < 1e6, float)
        if not isinstance(model, str) or not model.strip() or not model.isprintable():
            raise ParameterError(
                f"the model is the name that the server knows it by, got {model!r}"
            )
        self.__key = _key(key)
        self._client = _client(timeout)
        self.url, self.model = _address(url), model
        self.timeout, self.reasoning = timeout, reasoning
        self.ledger = Ledger() if ledger is None else ledger
        self._reached = False
        self._stopped, self._left = threading.Event(), threading.Event()

    def body(self, messages: Sequence[Any], name: str, schema: Any, reply_tokens: int) -> str:
        """What is sent to get a reply of this schema."""
        limits = {"temperature": 0, _LIMITS[0]: reply_tokens}
        if self.reasoning:
            limits = {_LIMITS[1]: reply_tokens}
        form = {"name": name, "strict": True, "schema": schema}
        sent = {
            "model": self.model,
            "messages": list(messages),
            "response_format": {"type": "json_schema", "json_schema": form},
            **limits,
            "stream": False,
        }
        return json.dumps(sent, ensure_ascii=False, separators=(",", ":"), allow_nan=False)

    def ask(self, body: str) -> Answer:
        """Send a request unless it was sent before, and wait for its reply.

        Raises `BudgetUsed` if it may not be sent, and `EndpointError` if the server cannot be used.
        """
        known = self.ledger.find(body)
        if known is not None and known.state != "refused":
            return read_reply(known)
        most = most_tokens(body)
        seconds = 0.0
        for attempt in range(RETRIES + 1):
            self._wait(seconds)
            request = self.ledger.begin(body, *most)
            answer, asked = self._try(request, most, last=attempt == RETRIES)
            if answer is not None:
                return answer
            seconds = _FIRST_WAIT * 2**attempt if asked is None else asked
        raise AssertionError("unreachable")

    def _try(
        self, request: Request, most: tuple[int, int], *, last: bool
    ) -> tuple[Answer | None, float | None]:
        """Send a request that is in the ledger: the answer, or how long to wait if that is said."""
        import httpx

        try:
            status, seconds, data = self._exchange(request.body)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            self.ledger.unsent(request, *most)
            if last or not self._reached:
                raise EndpointError(
                    f"there is no connection to {self.url}: {error}. Is the server running? What"
                    " was answered is kept; run it again to go on"
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
        if last or (seconds or 0) > LONGEST_WAIT:
            often = f"answered {status} {RETRIES + 1} times: {excerpt(text)}"
            raise EndpointError(
                f"{self.url} {often if last else f'asks to wait {seconds:,.0f} seconds'}. What was"
                " answered is kept; run it again later to go on"
            )
        return None, seconds

    def _exchange(self, body: str) -> _Reply:
        """Send it in a thread of its own, which is left behind when the time is over: for httpx,
        every byte that comes begins the time anew."""
        call: Future[_Reply] = Future()
        threading.Thread(target=self._send, args=(body, call), daemon=True).start()
        end = time.monotonic() + self.timeout
        while not wait([call], MOMENT).done:
            if self._left.is_set() or time.monotonic() > end:
                raise TimeoutError("the reply takes too long")
        return call.result()

    def _send(self, body: str, call: Future[_Reply]) -> None:
        """The status, how long to wait, and the body, no longer than allowed."""
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        headers |= {} if self.__key is None else {"Authorization": f"Bearer {self.__key}"}
        data = bytearray()
        try:
            with self._client.stream(
                "POST", self.url + _PATH, content=body.encode(), headers=headers
            ) as response:
                for part in response.iter_raw(65_536):
                    data += part
                    if len(data) > LONGEST_REPLY:
                        break
            seconds = _retry_after(response.headers.get("Retry-After"))
            call.set_result(_Reply(response.status_code, seconds, bytes(data)))
        except Exception as error:
            call.set_exception(error)

    def _readable(self, data: bytes) -> str:
        """A reply as a text that may be kept: whole or not at all, and without the key."""
        if len(data) > LONGEST_REPLY:
            return f"(a reply of more than {LONGEST_REPLY:,} bytes)"
        text = data.decode("utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
        secret = self.__key is not None and len(self.__key) >= _SHORT_KEY
        return text.replace(str(self.__key), "(key)") if secret else text

    def _wait(self, seconds: float) -> None:
        """Wait before a request is sent; raise if none is to be sent any more."""
        end = time.monotonic() + seconds
        while not self._stopped.wait(max(0.0, min(end - time.monotonic(), MOMENT))):
            if time.monotonic() >= end:
                return
        raise EndpointError("stopped before the server was asked")

    def stop(self, *, now: bool = False) -> None:
        """Let no thread send any more; `now`: nor wait for a reply."""
        self._stopped.set()
        if now:
            self._left.set()


def _client(timeout: float) -> httpx.Client:
    """A client that connects anew for each request: so what was not sent is known. No proxies."""
    try:
        import httpx
    except ImportError:
        raise MissingExtra("a language model as a teacher", "distil") from None
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    return httpx.Client(timeout=timeout, limits=limits, trust_env=False, follow_redirects=False)


def _address(url: str) -> str:
    """The address, without its path for chats; the message about it shows no password."""
    import httpx

    try:
        parts = httpx.URL(url)
        fine = parts.scheme in ("http", "https") and parts.host.encode("idna")
    except (httpx.InvalidURL, TypeError, UnicodeError):
        fine = b""
    if not fine:
        raise ParameterError(
            "the endpoint is the address of an OpenAI-compatible server, such as"
            f" http://127.0.0.1:8080/v1, got {url!r}"
        )
    if parts.userinfo or parts.query or parts.fragment:
        raise ParameterError(
            f"the endpoint is an address without name, password, ? or #; put the key into {KEYS[0]}"
        )
    return url.rstrip("/").removesuffix(_PATH)


def _key(given: str | None) -> str | None:
    """The key; a message about it does not show it."""
    found = given if given is not None else next(filter(None, map(os.environ.get, KEYS)), None)
    found = (found or "").strip()
    if not (found.isascii() and found.isprintable()):
        raise ParameterError(f"the key in {KEYS[0]} has characters that no header may have")
    return found or None


def most_tokens(body: str) -> tuple[int, int]:
    """The most tokens that a request and its reply can have: no token is shorter than a byte."""
    sent = json.loads(body)
    return len(body.encode()) + OVERHEAD, next(int(sent[one]) for one in _LIMITS if one in sent)


def read_reply(request: Request) -> Answer:
    """What the model wrote, out of a whole reply."""
    if request.reply is None:
        return Answer(None, "no reply came", request)
    try:
        message = json.loads(request.reply)["choices"][0]["message"]
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
    return found if all(type(n) is int and 0 <= n <= MOST_TOKENS for n in found) else most


def _retry_after(text: str | None) -> float | None:
    """A number of seconds; a date is left to the usual waits.

    >>> _retry_after("7"), _retry_after("Mon, 01 Jan 2001 00:00:00 GMT")
    (7.0, None)
    """
    try:
        return max(0.0, min(float(text or ""), 1e9))
    except ValueError:
        return None


def excerpt(text: str) -> str:
    """The beginning of what a stranger wrote, as it may be printed."""
    shown = " ".join(text.split())[:200]
    return "".join(sign if sign.isprintable() else "?" for sign in shown) or "(nothing)"
