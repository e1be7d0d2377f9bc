"""Who may call the HTTP API, how often, and what is said to those who may not."""

from __future__ import annotations

import gzip
import html
import json
import logging
import re
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI
from pydantic import TypeAdapter

from api_clients import ANN, BOB, HOST, Client, make_app, teach, write_tables
from tellapart.web.app import configure, listen
from tellapart.web.errors import Fault
from test_table_limits import far_cell

FAULT = TypeAdapter(Fault)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tables(tmp_path)


def test_no_token_no_entry(app: FastAPI) -> None:
    for token in (None, "wrong", "", ANN[:-1], ANN + "x", "é" * 20):
        client = Client(app, None)
        headers = [] if token is None else [(b"authorization", f"Bearer {token}".encode())]
        for method, path in (("GET", "/"), ("GET", "/api/sessions"), ("GET", "/metrics")):
            answer = client.request(method, path, headers=headers)
            assert answer.status_code == 401, path
            FAULT.validate_python(answer.json())
    assert Client(app, None).get("/health").status_code == 200


def test_guessing_tokens_is_slowed_down(app: FastAPI, ann: Client) -> None:
    stranger = Client(app, "w" * 20)
    codes = [stranger.get("/api/me").status_code for _ in range(60)]
    assert codes[0] == 401
    assert codes[-1] == 429
    assert ann.get("/api/me").status_code == 200


def enter(app: FastAPI, token: str = ANN) -> Client:
    """A browser that opened the address with the token."""
    browser = Client(app, None)
    answer = browser.get(f"/?token={token}&page=2")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/?page=2"
    return browser


def test_the_token_becomes_a_cookie(app: FastAPI) -> None:
    browser = enter(app)
    cookie = browser.get(f"/?token={ANN}").headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert ANN not in cookie
    assert "tellapart-8400=" in cookie
    assert browser.call("GET", "/api/me")["name"] == "Ann"
    assert Client(app, None).get("/?token=wrong").status_code == 401


def test_a_link_on_another_site_works_too(app: FastAPI) -> None:
    browser = Client(app, None)
    answer = browser.get(f"/?token={ANN}", headers={"sec-fetch-site": "cross-site"})
    assert answer.status_code == 200
    link = re.search(r'<a href="([^"]*)">go on</a>', answer.text)
    assert link
    browser.get(html.unescape(link[1]), headers={"sec-fetch-site": "same-origin"})
    assert browser.call("GET", "/api/me")["name"] == "Ann"


def test_another_site_cannot_make_you_somebody_else(app: FastAPI) -> None:
    for browser, who in ((enter(app), "Ann"), (Client(app, None), None)):
        for site in ("cross-site", "same-site"):
            answer = browser.get(f"/?token={BOB}", headers={"sec-fetch-site": site})
            assert "set-cookie" not in answer.headers
            assert "refresh" not in answer.text
            assert "those of Bob" in answer.text
        me = browser.get("/api/me")
        assert (me.json()["name"] if me.status_code == 200 else None) == who


@pytest.mark.parametrize(
    "path",
    ["//evil.test/", "/\\evil.test", "///evil.test", "/%09/evil.test", "/%0a%5Cevil.test"],
)
def test_the_token_leads_nowhere_else(app: FastAPI, path: str) -> None:
    """Browsers leave tabs and line ends out of addresses, and take a backslash for a slash."""
    answer = Client(app, None).get(f"{HOST}{path}?token={ANN}")
    foreign = {"sec-fetch-site": "cross-site"}
    shown = Client(app, None).get(f"{HOST}{path}?token={ANN}", headers=foreign).text
    link = re.search(r'<a href="([^"]*)">', shown)
    assert link
    for to in (answer.headers["location"], html.unescape(link[1])):
        assert re.match(r"/[a-z]", to), to


def test_a_change_with_a_cookie_says_from_which_site_it_comes(app: FastAPI) -> None:
    """Browsers do; a page of another site cannot say that it is one of ours."""
    browser = enter(app)
    for foreign in (
        {},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://evil.test"},
        {"origin": "null"},
        {"origin": "http://evil.test", "sec-fetch-site": "same-origin"},
    ):
        refused = browser.call("POST", "/api/sessions/zoo/next", 403, headers=foreign)
        assert refused["kind"] == "ForeignOrigin"
    for own in ({"sec-fetch-site": "same-origin"}, {"origin": HOST}):
        assert not browser.call("POST", "/api/sessions/zoo/next", headers=own)["done"]
    assert browser.call("GET", "/api/me")["csrf"] is None


def test_a_forged_cookie_is_refused(app: FastAPI) -> None:
    browser = enter(app)
    value = browser.cookies["tellapart-8400"]
    until, seal = value.split(".")
    for forged in (
        f"{int(until) + 1}.{seal}",
        f"{until}.{seal[:-1]}",
        f"{until}.{'0' * len(seal)}",
        "",
        "...",
        f"١.{seal}",
    ):
        cookie = [(b"cookie", f"tellapart-8400={forged}".encode())]
        assert Client(app, None).get("/api/me", headers=cookie).status_code == 401


@pytest.mark.parametrize(
    "origin", ["http://evil.test", "null", "https://127.0.0.1:8400", "http://127.0.0.1:8401"]
)
def test_a_foreign_origin_is_refused(ann: Client, origin: str) -> None:
    for method in ("GET", "POST"):
        refused = ann.call(method, "/api/sessions/zoo/next", 403, headers={"origin": origin})
        assert refused["kind"] == "ForeignOrigin"
    assert ann.next()["item"]["id"] == "bear"
    own = {"origin": HOST}
    assert ann.request("POST", "/api/sessions/zoo/next", headers=own).status_code == 200
    cross = {"sec-fetch-site": "cross-site"}
    ann.call("POST", "/api/sessions/zoo/next", 403, headers=cross)


@pytest.mark.parametrize("host", ["evil.test", "evil.test:8400", "127.0.0.1.evil.test", "", "a b"])
def test_a_wrong_host_is_refused(ann: Client, host: str) -> None:
    refused = ann.call("GET", "/health", 403, headers={"host": host})
    assert refused["kind"] == "WrongHost"


def test_large_bodies_are_refused(ann: Client) -> None:
    big = b'{"text": "' + b"x" * 1_100_000 + b'"}'
    for body in (big, iter([big[:600_000], big[600_000:]])):
        refused = ann.call(
            "POST",
            "/api/sessions/zoo/notes",
            413,
            content=body,
            headers={"content-type": "application/json"},
        )
        assert refused["kind"] == "TooLarge"


def test_every_answer_is_strict(app: FastAPI, ann: Client) -> None:
    for answer in (ann.get("/"), ann.get("/api/me"), ann.get("/nope"), Client(app, None).get("/")):
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'self';")
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-frame-options"] == "DENY"


def test_one_shape_for_everything_that_goes_wrong(ann: Client) -> None:
    cases: list[tuple[int, str, str, dict[str, Any]]] = [
        (404, "GET", "/nope", {}),
        (404, "GET", "/api/nope", {}),
        (404, "GET", "/api/sessions/none/rules", {}),
        (405, "PUT", "/api/me", {}),
        (405, "DELETE", "/api/sessions", {}),
        (422, "POST", "/api/sessions", {"json": {}}),
        (422, "POST", "/api/sessions/zoo/answers", {"json": {"given": 1, "answer": "x"}}),
        (422, "POST", "/api/sessions/zoo/answers", {"content": b"{"}),
        (422, "POST", "/api/sessions/zoo/notes", {"content": b"a=b"}),
        (422, "GET", "/api/sessions/zoo/history?limit=0", {}),
        (409, "POST", "/api/sessions/zoo/undo", {}),
        (409, "POST", "/api/sessions/zoo/answers", {"json": {"given": "no", "answer": "right"}}),
        (403, "GET", "/api/me", {"headers": {"origin": "http://evil.test"}}),
        (401, "GET", "/api/me", {"headers": {"authorization": "Basic x"}}),
    ]
    for status, method, path, how in cases:
        fault = FAULT.validate_python(ann.call(method, path, status, **how))
        assert fault.status == status
        assert not fault.ok
        assert fault.error
        assert fault.request


def test_odd_texts_are_refused_not_failed_on(ann: Client) -> None:
    half = '{"label": "\\ud800"}'
    json_type = {"content-type": "application/json"}
    path = "/api/sessions/zoo/labels"
    ann.call("POST", path, 422, content=half, headers=json_type)
    deep = "[" * 100_000 + "]" * 100_000
    assert ann.post(path, content=deep, headers=json_type).status_code in (400, 422)
    number = '{"label": ' + "9" * 10_000 + "}"
    assert ann.post(path, content=number, headers=json_type).status_code in (400, 422)
    for item in (
        {"$set": [1]},
        {"$row": [1, {}]},
        {"$date": "x"},
        {"$x": 1},
        1e400,
        -1,
        True,
        "no",
    ):
        body = json.dumps({"tag": "t", "item": item, "value": True})
        ann.call("POST", "/api/sessions/zoo/tags", 422, content=body, headers=json_type)


def test_what_nobody_expected_is_said_without_its_words(
    ann: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from tellapart.web.api import teaching

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("the bear weighs 300 kg")

    monkeypatch.setattr(teaching, "show_next", broken)
    with caplog.at_level(logging.INFO, "tellapart.web"):
        fault = ann.call("POST", "/api/sessions/zoo/next", 500)
    assert fault["kind"] == "ServerError"
    failed = [r for r in caplog.records if getattr(r, "event", "") == "failed"]
    assert failed[0].facts["error"] == "RuntimeError"
    assert "300 kg" not in str([vars(record) for record in caplog.records])


def test_logs_have_no_contents(ann: Client, caplog: pytest.LogCaptureFixture) -> None:
    from tellapart.web.json_logging import JsonFormatter

    with caplog.at_level(logging.INFO, "tellapart.web"):
        teach(ann)
        ann.get("/api/sessions/zoo/history?item=platypus")
        ann.get("/platypus?platypus=1")
    written = "\n".join(JsonFormatter().format(record) for record in caplog.records)
    for word in ("bear", "duck", "mammal", "feathers", "platypus", ANN):
        assert word not in written
    line = json.loads(written.splitlines()[0])
    assert line["route"] == "/api/sessions/{session}/next"
    assert line["teacher"] == "Ann"
    assert line["status"] == 200


def test_numbers_for_whoever_watches(ann: Client) -> None:
    teach(ann)
    text = ann.get("/metrics").text
    assert 'tellapart_answers_total{outcome="mistake"} 1' in text
    assert "tellapart_open_sessions 1" in text
    route = 'route="/api/sessions/{session}/answers",status="200"} 2'
    assert route in text


def test_no_web_sockets(app: FastAPI) -> None:
    from starlette.websockets import WebSocketDisconnect

    with (
        pytest.raises(WebSocketDisconnect),
        Client(app).websocket_connect("/ws"),
    ):
        pass


def test_openapi_names_every_fault(ann: Client) -> None:
    schema = ann.call("GET", "/api/openapi.json")
    assert schema["openapi"].startswith("3.1")
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            assert "422" not in operation["responses"], (method, path)
            where = operation["responses"]["4XX"]["content"]["application/json"]["schema"]
            assert where == {"$ref": "#/components/schemas/Fault"}, (method, path)


# -- strangers who keep the server busy


@pytest.fixture
def real(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """A real server in a thread, with little patience; its address."""
    monkeypatch.setattr("tellapart.web.app.HEADERS", 0.5)
    monkeypatch.setattr("tellapart.web.app.CONNECTIONS", 20)
    app = make_app(folder, 2)
    listening = listen("127.0.0.1", 0)
    server = uvicorn.Server(configure(app))
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield listening.getsockname()
    server.should_exit = True
    thread.join(20)


def is_closed(connection: socket.socket, seconds: float) -> bool:
    connection.settimeout(seconds)
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


@pytest.mark.slow
def test_headers_must_arrive_in_time(real: tuple[str, int]) -> None:
    request = f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{real[1]}\r\n\r\n".encode()
    with socket.create_connection(real) as silent, socket.create_connection(real) as slow:
        slow.sendall(request[:20])
        with socket.create_connection(real) as good:
            good.sendall(request)
            assert good.recv(100).startswith(b"HTTP/1.1 200")
            while b"}" not in good.recv(4096):
                pass
            assert is_closed(silent, 3)
            assert is_closed(slow, 3)
            good.sendall(request)  # between two requests there is time
            assert good.recv(100).startswith(b"HTTP/1.1 200")
            while b"}" not in good.recv(4096):
                pass
            good.sendall(request[:20])  # but not in the middle of the next
            assert is_closed(good, 3)


def test_connections_are_limited(real: tuple[str, int]) -> None:
    many = [socket.create_connection(real) for _ in range(40)]
    time.sleep(0.2)
    assert sum(is_closed(one, 0.01) for one in many) >= 20
    for one in many:
        one.close()
    time.sleep(0.2)
    with socket.create_connection(real) as good:
        good.sendall(f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{real[1]}\r\n\r\n".encode())
        assert good.recv(100).startswith(b"HTTP/1.1 200")


def test_ids_that_are_nested_deeply_are_refused(ann: Client) -> None:
    for tag in ('{"$tuple":[', "[", '{"a":'):
        deep: Any = tag * 400 + "1" + {"{": "]}", "[": "]"}.get(tag[0], "}") * 400
        if tag == '{"a":':
            deep = tag * 400 + "1" + "}" * 400
        body = f'{{"tag": "t", "item": {deep}, "value": true}}'
        answer = ann.post(
            "/api/sessions/zoo/tags", content=body, headers={"content-type": "application/json"}
        )
        assert answer.status_code in (400, 422), answer.text


@pytest.mark.parametrize("encoding", ["punycode", "idna", "unicode_escape", "undefined", "hex"])
def test_an_encoding_that_is_none_of_texts(ann: Client, encoding: str) -> None:
    body = {"name": "x", "table": "zoo.csv", "encoding": encoding}
    assert "unknown encoding" in ann.call("POST", "/api/sessions", 422, json=body)["error"]


@pytest.mark.slow
def test_a_hostile_table_costs_one_message_and_nobody_waits(tmp_path: Path) -> None:
    far_cell(tmp_path / "far.xlsx")
    hostile = {
        "far.xlsx": (tmp_path / "far.xlsx").read_bytes(),
        "bomb.csv.gz": gzip.compress(b"1,2\n" * 2_500_000) * 120,
        "deep.json": b"[" * 100_000,
        "long.jsonl": b'{"a": ' + b"9" * 10_000 + b"}\n",
        "wide.csv": b",".join(b"c%d" % n for n in range(5000)) + b"\n" + b"1," * 4999 + b"1\n",
    }
    with Client(make_app(write_tables(tmp_path)), ANN) as ann:
        for name, content in hostile.items():
            waits: list[float] = []
            done = threading.Event()

            def look(done: threading.Event = done, waits: list[float] = waits) -> None:
                while not done.wait(0.05):
                    began = time.monotonic()
                    assert ann.get("/health").status_code == 200
                    waits.append(time.monotonic() - began)

            looking = threading.Thread(target=look)
            looking.start()
            began = time.monotonic()
            answer = ann.post("/upload", params={"name": name}, content=content)
            took = time.monotonic() - began
            done.set()
            looking.join()
            assert answer.status_code == 422, name
            assert answer.json()["error"].startswith(name), name
            assert len(waits) >= int(2 * took), f"{name}: others were not served meanwhile"
