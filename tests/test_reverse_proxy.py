"""A server behind a real reverse proxy (nginx) with HTTPS, as docs/serve.md describes it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from server_process import ApiTeacher, write_table

TOKEN = "token-of-the-owner-1"
CONFIG = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{}}
http {{
    access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
        location / {{
            proxy_pass http://127.0.0.1:{behind};
            proxy_set_header Host $http_host;
        }}
    }}
}}
"""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Proxied:
    """`tellapart serve`, and nginx before it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port, self.behind = folder, free_port(), free_port()
        self.address = f"https://localhost:{self.port}"
        write_table(folder / "things.csv")
        subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
        files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
        made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *files, *subject]
        subprocess.run(made, check=True, capture_output=True)
        text = CONFIG.format(folder=folder, port=self.port, behind=self.behind)
        (folder / "nginx.conf").write_text(text)

    def serve(self) -> None:
        """Start the server, or start it again."""
        words = ["serve", "things.csv", "--id", "name", "--port", str(self.behind)]
        with (self.folder / "server.log").open("ab") as log:
            self.server = subprocess.Popen(
                [sys.executable, "-m", "tellapart", *words, "--public-url", self.address],
                cwd=self.folder,
                env={**os.environ, "TELLAPART_TOKEN": TOKEN},
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        with self.client() as client:
            end = time.monotonic() + 120
            while client.get("/health").status_code != 200:
                assert self.server.poll() is None
                assert time.monotonic() < end
                time.sleep(0.1)

    def client(self, **headers: str) -> httpx2.Client:
        trust = ssl.create_default_context(cafile=str(self.folder / "cert.pem"))
        return httpx2.Client(base_url=self.address, verify=trust, headers=headers, timeout=30)


@pytest.fixture
def proxied(tmp_path: Path, needs: Callable[[str], None]) -> Iterator[Proxied]:
    needs("nginx")
    made = Proxied(tmp_path)
    program = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin")
    command = [str(program), "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")]
    with running(subprocess.Popen(command, stderr=subprocess.DEVNULL)):
        end = time.monotonic() + 20
        while True:
            try:
                with made.client() as client:
                    client.get("/health")
                break
            except httpx2.TransportError:
                assert time.monotonic() < end
                time.sleep(0.05)
        made.serve()
        try:
            yield made
        finally:
            made.server.kill()
            made.server.wait()


@contextmanager
def running(process: subprocess.Popen[bytes]) -> Iterator[None]:
    try:
        yield
    finally:
        process.terminate()
        process.wait()


@pytest.mark.slow
def test_a_page_behind_a_proxy_teaches_with_a_cookie_for_https_only(proxied: Proxied) -> None:
    with proxied.client() as browser:
        answer = browser.get(f"/s/things/teach?token={TOKEN}")
        assert answer.status_code == 303
        assert answer.headers["location"] == "/s/things/teach"  # no token in the address any more
        cookie = answer.headers["set-cookie"].lower()
        assert set(cookie.split("; ")) >= {"secure", "httponly", "samesite=strict"}
        assert browser.get("/s/things/teach").status_code == 200
        path, own = "/api/sessions/things/next", {"origin": proxied.address}
        given = browser.post(path, json={}, headers=own).json()["given"]
        said = {"id": "a1", "given": given["id"], "answer": "wrong", "label": "odd"}
        answer = browser.post("/api/sessions/things/answers", json=said, headers=own)
        assert answer.status_code == 200
        for foreign in ("https://evil.test", f"http://127.0.0.1:{proxied.behind}"):
            assert browser.post(path, json={}, headers={"origin": foreign}).status_code == 403


@pytest.mark.slow
def test_answers_repeated_while_the_server_is_away_count_once(proxied: Proxied) -> None:
    name = f"Bearer {TOKEN}"
    with proxied.client(authorization=name) as client:
        given = client.post("/api/sessions/things/next", json={}).json()["given"]
        said = {"id": "a1", "given": given["id"], "answer": "wrong", "label": "odd"}
        assert client.post("/api/sessions/things/answers", json=said).status_code == 200
        proxied.server.send_signal(signal.SIGKILL)
        proxied.server.wait()
        assert client.post("/api/sessions/things/answers", json=said).status_code == 502
        proxied.serve()
        again = client.post("/api/sessions/things/answers", json=said)
        assert again.status_code == 200
        log = client.get("/api/sessions/things/log").text.splitlines()
        assert [json.loads(line)["type"] for line in log].count("answered") == 1


@pytest.mark.slow
def test_the_stream_of_events_comes_through_at_once(proxied: Proxied) -> None:
    with (
        proxied.client(authorization=f"Bearer {TOKEN}") as client,
        client.stream("GET", "/api/sessions/things/events") as answer,
    ):
        parts = answer.iter_text()
        assert next(parts)
        given = client.post("/api/sessions/things/next", json={}).json()["given"]
        said = {"id": "a1", "given": given["id"], **ApiTeacher.answer(given, "a1")}
        assert client.post("/api/sessions/things/answers", json=said).status_code == 200
        text, end = "", time.monotonic() + 10
        while '"answered"' not in text and time.monotonic() < end:
            text += next(parts)
        assert '"answered"' in text
