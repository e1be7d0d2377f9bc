"""An OpenAI-compatible server whose answers are scripted; it records every request."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Document = dict[str, Any]


class ChatServer:
    """Answers from `label(cells)`, and with the first difference, unless `script` says otherwise.

    `script(number, document, reply)` is called for every request: it may return a text instead of
    the reply, a message, or a status, a text and headers; raise `Cut` to cut the connection; sleep.
    `slips` is the share of labels that are wrong, chosen by the cells alone.
    """

    def __init__(
        self,
        label: Callable[[Document], str],
        *,
        slips: float = 0.0,
        script: Callable[[int, Document, Document], Any] | None = None,
        difference: Callable[[Document], int | None] = lambda document: 1,
    ) -> None:
        self.label, self.slips, self.script, self.difference = label, slips, script, difference
        self.bodies: list[str] = []
        self.headers: list[Mapping[str, str]] = []
        self.times: list[float] = []
        self.replied = 0
        self.lock = threading.Lock()

    @property
    def documents(self) -> list[Document]:
        return [json.loads(json.loads(body)["messages"][-1]["content"]) for body in self.bodies]

    def said(self, cells: Document, labels: list[str]) -> str:
        right = self.label(cells)
        chance = random.Random(json.dumps(cells, sort_keys=True))
        if chance.random() < self.slips:
            return chance.choice([name for name in labels if name != right])
        return right

    def reply(self, document: Document) -> Document:
        if document["ask"] == "difference":
            return {"difference": self.difference(document) if document["differences"] else None}
        labels = list(document["labels"])
        return {
            "answers": [
                {"id": one["id"], "label": self.said(one["cells"], labels)}
                for one in document["items"]
            ]
        }


class Cut(Exception):
    """Cut the connection."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    owner: ChatServer


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        owner = self.server.owner
        length = int(self.headers["Content-Length"])
        sent = self.rfile.read(length)
        if len(sent) < length:  # who sent it was killed meanwhile: no model saw it
            self.close_connection = True
            return
        body = sent.decode()
        with owner.lock:
            number = len(owner.bodies)
            owner.bodies.append(body)
            owner.headers.append(dict(self.headers))
            owner.times.append(time.monotonic())
        document = json.loads(json.loads(body)["messages"][-1]["content"])
        reply = owner.reply(document)
        status, content, headers = 200, json.dumps(reply), {}
        message: Document = {"role": "assistant"}
        if owner.script is not None:
            try:
                found = owner.script(number, document, reply)
            except Cut:
                self.connection.close()
                return
            if isinstance(found, tuple):
                status, content, headers = found
            elif isinstance(found, dict):
                message |= found
            elif found is not None:
                content = found
        if status == 200:
            usage = {"prompt_tokens": len(body) // 4, "completion_tokens": len(content) // 4}
            usage = message.pop("usage", usage)
            message.setdefault("content", content)
            content = json.dumps({"choices": [{"message": message}], "usage": usage})
        data = content.encode()
        try:
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)
            with owner.lock:
                owner.replied += 1
        except OSError:
            pass

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def serving(server: ChatServer) -> Iterator[str]:
    """The address of the server while it runs."""
    http = _Server(("127.0.0.1", 0), _Handler)
    http.owner = server
    thread = threading.Thread(target=http.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_port}/v1"
    finally:
        http.shutdown()
        http.server_close()
        thread.join()
