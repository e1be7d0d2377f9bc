"""Teachers' programs that call the HTTP API."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.testclient import TestClient

from tellapart.sessions import Store
from tellapart.web import Limits, People, Person, SessionPool, create_app
from tellapart.web.config import AppState

ANN, BOB, CAROL = "token-of-ann-00001", "token-of-bob-00002", "token-of-carol-0003"
HOST = "http://127.0.0.1:8400"
ZOO = """name,milk,feathers,legs,note
bear,true,false,4,=1+1
duck,false,true,2,quacks
bass,false,false,0,@home
lion,true,false,4,-
crow,false,true,2,black
"""


class Client(TestClient):
    """A teacher's program."""

    def __init__(self, app: FastAPI, token: str | None = ANN) -> None:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        super().__init__(app, base_url=HOST, headers=headers, follow_redirects=False)

    def call(self, method: str, path: str, status: int = 200, **how: Any) -> Any:
        answer = self.request(method, path, **how)
        assert answer.status_code == status, answer.text
        return answer.json()

    def next(self) -> dict[str, Any]:
        given: dict[str, Any] = self.call("POST", "/api/sessions/zoo/next")["given"]
        return given

    def answer(self, status: int = 200, **said: Any) -> Any:
        return self.call("POST", "/api/sessions/zoo/answers", status, json=said)


def write_tables(folder: Path) -> Path:
    """A folder with a table, and one that must not be reached beside it."""
    (folder / "tables").mkdir()
    (folder / "tables" / "zoo.csv").write_text(ZOO)
    (folder / "secret.csv").write_text("a\n1\n")
    return folder


def make_state(folder: Path, **limits: Any) -> AppState:
    people = People([Person("Ann", ANN, owner=True), Person("Bob", BOB)])
    pool = SessionPool(Store(folder / "zoo.db"), folder / "tables")
    return AppState(pool, people, Limits(**limits))


@cache
def blank(_number: int) -> FastAPI:
    """To make an app takes a while: all tests furnish the same ones."""
    state = AppState(None, None)
    return create_app(state.pool, state.people)


def make_app(folder: Path, number: int = 0, **limits: Any) -> FastAPI:
    app = blank(number)
    app.state.tellapart = make_state(folder, **limits)
    return app


def begin(client: Client, **more: Any) -> None:
    body = {"name": "zoo", "table": "zoo.csv", "id": "name", "learner": "DFF", **more}
    client.call("POST", "/api/sessions", 201, json=body)


def teach(client: Client) -> None:
    """Two answers: a label, and a mistake with its feature."""
    client.answer(given=client.next()["id"], answer="wrong", label="mammal")
    client.answer(given=client.next()["id"], answer="wrong", label="bird", feature="feathers")


@contextmanager
def three_people(folder: Path) -> Iterator[dict[str, Client]]:
    """Ann owns; Bob and Carol teach. Bob has answered about the bear and the duck."""
    app = make_app(write_tables(folder))
    state: AppState = app.state.tellapart
    state.people = People([*state.people.all, Person("Carol", CAROL)])
    with Client(app, ANN) as ann:
        begin(ann, overlap=1.0)
        bob, carol = Client(app, BOB), Client(app, CAROL)
        bob.answer(given=bob.next()["id"], answer="wrong", label="mammal", id="bob-1")
        duck = bob.next()
        bob.answer(
            given=duck["id"], answer="wrong", label="bird", feature="note = 'quacks'", id="bob-2"
        )
        note = {"text": "bob-is-sure", "item": "duck"}
        bob.call("POST", "/api/sessions/zoo/notes", json=note)
        yield {"stranger": Client(app, None), "Carol": carol, "Bob": bob, "Ann": ann}
