"""A real server in a process of its own, and teachers who talk to it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

ITEMS = 4000


def write_table(path: Path, items: int = ITEMS) -> None:
    """A table whose labels follow from three columns; see `truth`."""
    rows = (f"i{n},{n % 2},{n // 2 % 2},{n // 4 % 5},{n * 7919 % 1000}" for n in range(items))
    path.write_text("name,a,b,c,d\n" + "\n".join(rows) + "\n")


def truth(cells: dict[str, Any]) -> str:
    """What an item of `write_table` is."""
    if cells["a"] == 1:
        return "odd"
    return "both" if cells["b"] == 1 and cells["c"] > 1 else "few" if cells["d"] < 200 else "rest"


class ForkServer:
    """A process with everything loaded that forks servers: quicker than starting each anew."""

    CODE = """
import os, signal, sys
import polars, tellapart.web.app, tellapart.cli.serve
from tellapart.cli import main
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for line in sys.stdin:
    cwd, out, log, token, *words = line.rstrip("\\n").split("\\t")
    child = os.fork()
    if child:
        print(child, flush=True)
        continue
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.chdir(cwd)
    os.environ["TELLAPART_TOKEN"] = token
    os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
    sys.exit(main(words))
"""

    def __enter__(self) -> ForkServer:
        self._process = subprocess.Popen(
            [sys.executable, "-c", self.CODE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def fork(self, *words: object) -> int:
        """Start a server; returns its process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\t".join(map(str, words)) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


class Server:
    """`tellapart serve` with tokens that are known."""

    def __init__(self, *words: str, tokens: dict[str, str] | None = None, cwd: Path) -> None:
        self.tokens = tokens or {"Ann": "token-of-the-owner-1"}
        self.cwd, self.words = cwd, ["serve", *words, "--port", "0"]
        self.out, self.log = cwd / "server.out", cwd / "server.log"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, fork_server: ForkServer | None = None) -> Server:
        """Start, and wait until it says that it serves."""
        owner, *others = self.tokens.items()
        listed = self.cwd / "teachers.txt"
        listed.write_text("".join(f"{name} {token}\n" for name, token in others))
        listed.chmod(0o600)
        words = [*self.words, "--name", owner[0], "--teachers", str(listed)]
        self.out.write_bytes(b"")
        if fork_server is not None:
            self.pid = fork_server.fork(self.cwd, self.out, self.log, owner[1], *words)
        else:
            with self.out.open("wb") as out, self.log.open("ab") as log:
                self.process = subprocess.Popen(
                    [sys.executable, "-m", "tellapart", *words],
                    cwd=self.cwd,
                    env={**os.environ, "TELLAPART_TOKEN": owner[1]},
                    stdout=out,
                    stderr=log,
                )
            self.pid = self.process.pid
        end = time.monotonic() + 180
        while time.monotonic() < end and self.is_alive():
            said = self.out.read_text()
            if "Stop with" in said:
                found = re.search(r"(http://\S+)/\?token=", said)
                assert found
                self.address = found[1]
                return self
            time.sleep(0.02)
        raise RuntimeError(f"the server did not start: {self.log.read_text()[-2000:]}")

    def is_alive(self) -> bool:
        if self.process is not None:
            return self.process.poll() is None
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def client(self, name: str) -> httpx2.Client:
        """A teacher's program."""
        headers = {"Authorization": f"Bearer {self.tokens[name]}"}
        return httpx2.Client(base_url=self.address, headers=headers, timeout=30)

    def kill(self) -> None:
        """kill -9, and wait until it is gone."""
        os.kill(self.pid, signal.SIGKILL)
        while self.is_alive():
            time.sleep(0.005)

    def stop(self) -> int:
        """SIGTERM; returns the exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)

    def lines(self) -> list[dict[str, Any]]:
        """The log, line by line."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@contextmanager
def serving(
    *words: str,
    cwd: Path,
    tokens: dict[str, str] | None = None,
    fork_server: ForkServer | None = None,
) -> Iterator[Server]:
    """A server for as long as it is needed."""
    server = Server(*words, tokens=tokens, cwd=cwd)
    try:
        yield server.start(fork_server)
    finally:
        if server.is_alive():
            server.kill()


class ApiTeacher(threading.Thread):
    """A teacher who answers until told to stop, or until the server is gone."""

    def __init__(self, server: Server, name: str, session: str, *, most: int = 1 << 60) -> None:
        super().__init__(daemon=True)
        self.client, self.teacher, self.most = server.client(name), name, most
        self.base = f"/api/sessions/{session}"
        self.enough = threading.Event()
        self.acknowledged: dict[str, str] = {}
        """The ids of answers that the server took, and the items."""
        self.leases: list[tuple[str, float, float]] = []
        self.error: str | None = None
        self.finished = False

    def run(self) -> None:
        number = 0
        try:
            while not self.enough.is_set() and len(self.acknowledged) < self.most:
                number += 1
                if not self.turn(f"{self.teacher}-{time.time_ns()}-{number}"):
                    self.finished = True
                    break
        except httpx2.TransportError:  # the server is gone
            pass
        finally:
            self.client.close()

    def turn(self, id: str) -> bool:
        """One item: ask, answer; whether there was one."""
        asked = time.monotonic()
        found = self.client.post(f"{self.base}/next", json={})
        if found.status_code != 200:
            self.error = found.text
            return False
        given = found.json()["given"]
        if given is None:
            return False
        reply = self.client.post(f"{self.base}/answers", json=self.answer(given, id))
        if reply.status_code != 200:
            self.error = reply.text
            return False
        self.acknowledged[id] = given["item"]["id"]
        self.leases.append((given["item"]["id"], asked, time.monotonic()))
        return True

    @staticmethod
    def answer(given: dict[str, Any], id: str) -> dict[str, Any]:
        """The right answer, with the first feature offered."""
        label = given["kept"] or truth(given["item"]["cells"])
        if given["guess"] == label and given["asks"] == "answer":
            return {"id": id, "given": given["id"], "answer": "right"}
        said = {"id": id, "given": given["id"], "answer": "wrong", "label": label}
        if given["candidates"]:
            said["feature"] = given["candidates"][0]["feature"]
        return said
