"""schemathesis: whatever fits the schema, or nearly, the server answers in a documented way."""

from __future__ import annotations

import importlib
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import schemathesis
import uvicorn
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tellapart.sessions import Session, Store
from tellapart.web import People, Person, SessionPool, create_app
from tellapart.web.app import listen

TOKEN = "token-of-the-owner-1"
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


class Served:
    """A server in a thread, with a session that has been taught a little."""

    def __init__(self, folder: Path) -> None:
        (folder / "zoo.csv").write_text(
            "name,milk,legs\nbear,true,4\nduck,false,2\nbass,false,0\nlion,true,4\ncrow,false,2\n"
        )
        store = Store(folder / "zoo.db")
        session = Session.new(store, "zoo", folder / "zoo.csv", reading={"id": "name"})
        pool = SessionPool(store, folder)
        pool.add(session)
        people = People([Person("Ann", TOKEN, owner=True)])
        self.app = create_app(pool, people)
        self.session = session
        listening = listen("127.0.0.1", 0)
        self.address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        config = uvicorn.Config(self.app, log_config=None, access_log=False, lifespan="on")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([listening],), daemon=True)

    def __enter__(self) -> Served:
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        for label, feature in (("mammal", None), ("bird", "NOT milk")):
            given = self.session.next("Ann")
            self.session.answer("Ann", given.id, "wrong", label, feature)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(20)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    # NumPy imports it when it is needed, which would be in the server's thread, and parses programs
    # then; so does Hypothesis here, and CPython 3.11 cannot do both at the same time
    importlib.import_module("numpy.ma")
    with Served(tmp_path_factory.mktemp("schema")) as served:
        yield served


@pytest.mark.slow
def test_any_request_has_a_documented_answer(served: Served) -> None:
    found: Counter[int] = Counter()
    schema = schemathesis.openapi.from_dict(served.app.openapi())
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.path.endswith(("/close", "/events")):  # a stream has no end
            continue

        @hypothesis.settings(
            max_examples=int(os.environ.get("TELLAPART_EXAMPLES", "6")),
            derandomize=True,
            database=None,
            deadline=None,
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        @hypothesis.given(case=operation.as_strategy())
        def try_it(case: Any) -> None:
            found[_send(case, served)] += 1

        try_it()
    assert found[200] > 50
    assert found[404]
    assert found[409]
    assert found[422]


def _send(case: Any, served: Served) -> int:
    """Send a request, most of them about what is there; returns its status."""
    parameters, body = case.path_parameters, case.body
    if parameters and len(str(parameters.get("session", ""))) % 4:  # the others: no such session
        parameters["session"] = "zoo"
    if isinstance(body, dict):
        if isinstance(body.get("given"), str) and len(body["given"]) % 3:
            given = served.session.next("Ann")
            body["given"] = getattr(given, "id", body["given"])
        for name in ("item", "example"):
            if isinstance(body.get(name), str) and len(body[name]) % 2:
                body[name] = "duck"
        if body.get("table"):
            body["table"] = "zoo.csv"
    headers = {"Authorization": f"Bearer {TOKEN}"}
    answer = case.call_and_validate(base_url=served.address, headers=headers, checks=CHECKS)
    return int(answer.status_code)
