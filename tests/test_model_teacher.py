"""A language model as a teacher for `teach`, and functions as teachers."""

from __future__ import annotations

import json
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import tellapart as ta
from chat_server import ChatServer, Cut, serving
from tellapart.distil import KeptLedger, Ledger, Model
from tellapart.distil.endpoint import most_tokens
from tellapart.errors import BudgetUsed, MissingExtra, ParameterError, ProtocolError
from tellapart.sessions import Store
from tellapart.teachers import Checked

PETS = [
    {"name": "duck", "legs": 2, "feathers": True},
    {"name": "bear", "legs": 4, "feathers": False},
    {"name": "crow", "legs": 2, "feathers": True},
    {"name": "lion", "legs": 4, "feathers": False},
]


def truth(cells: dict[str, Any]) -> str:
    return "bird" if cells["legs"] == 2 else "mammal"


def test_a_model_teaches() -> None:
    server = ChatServer(truth)
    with serving(server) as url:
        teacher = Model(url, "m", "What is it?", ["bird", "mammal"], columns=["legs", "feathers"])
        learner = ta.DFF()
        lesson = ta.teach(learner, teacher, PETS)
    assert lesson.mistakes == 2
    assert learner.model.predict(PETS) == ["bird", "mammal", "bird", "mammal"]
    asked = [document["ask"] for document in server.documents]
    assert asked == ["labels", "labels", "difference", "difference"]  # all have cells of two kinds
    texts = [one["text"] for one in server.documents[2]["differences"]]
    assert texts == ["legs = 4", "not feathers"]
    assert "duck" not in "".join(server.bodies)


def test_rows_of_a_table_offer_their_candidates() -> None:
    table = ta.Table(
        {"name": ["duck", "bear"], "legs": [2, 4], "noise": ["quack", "growl"]}, id="name"
    )
    server = ChatServer(truth)
    with serving(server) as url:
        teacher = Model(url, "m", "What is it?", {"bird": "it lays eggs", "mammal": ""})
        ta.teach(ta.DFF(), teacher, table.items)
    offered = [one["text"] for one in server.documents[-1]["differences"]]
    assert any("legs" in text for text in offered)


def test_unsure_lets_the_guess_stand() -> None:
    server = ChatServer(lambda cells: "unsure" if cells["name"] == "bear" else truth(cells))
    with serving(server) as url:
        teacher = Model(url, "m", "What is it?", ["bird", "mammal"])
        assert ta.teach(ta.DFF(), teacher, PETS[:2]).mistakes == 0
        with pytest.raises(ProtocolError, match="unsure"):
            ta.teach(ta.DFF(), Model(url, "m", "What is it?", ["bird", "mammal"]), PETS[1:])


def test_one_ledger_for_many_threads_keeps_the_budget() -> None:
    server = ChatServer(truth)
    with serving(server) as url:
        ledger = Ledger(calls=20)
        teacher = Model(url, "m", "What is it?", ["bird", "mammal"], ledger=ledger)
        used: list[BudgetUsed] = []

        def ask(start: int) -> None:
            for n in range(start, start + 10):
                try:
                    teacher.label([(n, {"legs": n})])
                except BudgetUsed as error:
                    used.append(error)

        threads = [threading.Thread(target=ask, args=(10 * n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(server.bodies) == ledger.calls == 20
    assert len(used) == 60


def test_what_was_paid_is_not_paid_again() -> None:
    server = ChatServer(truth)
    with serving(server) as url:
        ledger = Ledger()
        for _ in range(2):
            teacher = Model(url, "m", "What is it?", ["bird", "mammal"], ledger=ledger)
            assert teacher.label([(7, PETS[0]), (8, PETS[1])])[8].label == "mammal"
        assert len(server.bodies) == 1
        Model(url, "m", "Another task?", ["bird", "mammal"], ledger=ledger).label([(7, PETS[0])])
        assert len(server.bodies) == 2


@pytest.mark.parametrize("tokens", [10**30, -1, 1.5, True, "many", None])
def test_what_a_server_cannot_have_used_is_not_believed(tokens: Any, tmp_path: Path) -> None:
    """The most that the request may take is counted instead, and the reply is kept."""
    used = {"usage": {"prompt_tokens": tokens, "completion_tokens": 1}}
    server = ChatServer(truth, script=lambda *_: used)
    with serving(server) as url, Store(tmp_path / "s.db") as store:
        ledger = KeptLedger(store, "pets", price_in=1, price_out=1)
        teacher = Model(url, "m", "What is it?", ["bird", "mammal"], ledger=ledger)
        assert teacher.label([(7, PETS[0])])[7].label == "bird"
        assert ledger.tokens == most_tokens(server.bodies[0])
        assert KeptLedger(store, "pets").tokens == ledger.tokens


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "drip"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"", b"H"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n", b" "),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"a"),  # a chunk's size
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n", b"a"),
    ],
)
def test_a_server_that_never_ends_its_reply_is_left(first: bytes, drip: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        over = threading.Event()

        def serve() -> None:
            connection, _ = listening.accept()
            with connection, suppress(OSError):
                connection.sendall(first)
                while not over.wait(0.05):
                    connection.sendall(drip)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        teacher = Model(url, "m", "What is it?", ["bird", "mammal"], timeout=0.5)
        ending = threading.Timer(10, over.set)  # so that the test ends, too
        ending.start()
        said = teacher.label([(7, PETS[0])])[7]
        assert not over.is_set()
        over.set()
        ending.cancel()
        thread.join()
    assert said.lost
    assert teacher.ledger.calls == 1


def test_what_was_lost_in_earlier_runs_is_asked_again() -> None:
    """A program that was killed twice on its way is no answer of the model."""

    def cut(number: int, *_: Any) -> None:
        if number < 3:
            raise Cut

    server = ChatServer(truth, script=cut)
    with serving(server) as url:
        ledger = Ledger()
        for _ in range(3):  # three runs
            teacher = Model(url, "m", "What is it?", ["bird", "mammal"], ledger=ledger)
            assert teacher.label([(7, PETS[0])])[7].lost
        teacher = Model(url, "m", "What is it?", ["bird", "mammal"], ledger=ledger)
        assert teacher.label([(7, PETS[0])])[7].label == "bird"
    said = [document.get("again") for document in server.documents]
    assert said == [None, "no reply came", "no reply came, 2 times", "no reply came, 3 times"]
    assert len(set(server.bodies)) == ledger.calls == 4


def test_two_losses_in_one_run_count_as_unsure() -> None:
    def cut(*_: Any) -> None:
        raise Cut

    server = ChatServer(truth, script=cut)
    with serving(server) as url:
        teacher = Model(url, "m", "What is it?", ["bird", "mammal"])
        said = [teacher.label([(7, PETS[0])])[7] for _ in range(3)]
    assert [(one.label, one.lost) for one in said] == [(None, True), (None, False), (None, False)]
    assert len(server.bodies) == 2


def test_a_reply_after_a_loss_is_asked_again_once_if_it_does_not_fit() -> None:
    def script(number: int, *_: Any) -> str | None:
        if number == 0:
            raise Cut
        return "no" if number == 1 else None

    server = ChatServer(truth, script=script)
    with serving(server) as url:
        teacher = Model(url, "m", "What is it?", ["bird", "mammal"])
        assert teacher.label([(7, PETS[0])])[7].lost
        assert teacher.label([(7, PETS[0])])[7].label == "bird"
    assert len(set(server.bodies)) == 3


@pytest.mark.parametrize("mark", ["```", "```json"])
def test_a_reply_in_a_block_of_markdown_is_read(mark: str) -> None:
    server = ChatServer(truth, script=lambda n, d, reply: f"{mark}\n{json.dumps(reply)}\n```\n")
    with serving(server) as url:
        teacher = Model(url, "m", "What is it?", ["bird", "mammal"])
        assert teacher.label([(7, PETS[0])])[7].label == "bird"
    assert len(server.bodies) == 1


def test_no_difference_tells_what_was_cut_off() -> None:
    """Neither a word after the shortened part of a cell, nor one that is missing there."""
    table = ta.Table(
        {
            "text": ["red cat " * 20 + "secret", "blue dog " * 20 + "hidden"],
            "kind": ["a" * 60, "b" * 60],
            "legs": [2, 4],
        }
    )
    item, example = table.items
    seen = [table.parse(text) for text in ("text ILIKE '%red%'", "legs = 2", "NOT legs = 4")]
    cut = [
        table.parse(text)
        for text in ("text ILIKE '%secret%'", "NOT text ILIKE '%hidden%'", f"kind = '{'a' * 60}'")
    ]
    short = Model("http://127.0.0.1:9/v1", "m", "Which?", ["bird", "bug"], cell=20)
    assert short.offer([*cut, *seen], item, example) == seen
    whole = Model("http://127.0.0.1:9/v1", "m", "Which?", ["bird", "bug"])
    assert whole.offer([*cut, *seen], item, example) == [*cut, *seen]


@pytest.mark.parametrize("key", ["1", "bird", "null"])
def test_a_short_key_is_not_cut_out_of_replies(key: str) -> None:
    """Local servers are given any text for a key, which may stand in every reply."""
    server = ChatServer(truth, script=lambda *_: {"refusal": None})
    with serving(server) as url:
        teacher = Model(url, "m", "What is it?", ["bird", "mammal"], key=key)
        assert teacher.label([(11, PETS[0])])[11].label == "bird"
    assert server.headers[0]["Authorization"] == f"Bearer {key}"


def test_the_whole_address_will_do() -> None:
    teacher = Model("http://127.0.0.1:9/v1/chat/completions/", "m", "Which?", ["a", "b"])
    assert teacher.endpoint.url == "http://127.0.0.1:9/v1"


def test_cells_are_shortened() -> None:
    teacher = Model("http://127.0.0.1:9/v1", "m", "Long?", ["yes", "no"], cell=10)
    body = json.loads(teacher.labels_request([(0, {"text": "x" * 5000, "n": float("inf")})]))
    cells = json.loads(body["messages"][-1]["content"])["items"][0]["cells"]
    assert cells == {"text": "x" * 9 + "…", "n": "inf"}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"task": " "}, "the task is a text"),
        ({"labels": "ab"}, "two or more different names"),
        ({"labels": ["a", "a"]}, "two or more different names"),
        ({"model": ""}, "the model is the name"),
        ({"cell": 0}, "cell must be an integer >= 1"),
        ({"endpoint": "ftp://host"}, "the endpoint is the address"),
        ({"endpoint": "http://a..b/v1"}, "the endpoint is the address"),
        ({"timeout": 0}, "timeout must be"),
    ],
)
def test_bad_arguments_are_named(wrong: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {
        "endpoint": "http://h/v1", "model": "m", "task": "t", "labels": ["a", "b"],
    }  # fmt: skip
    with pytest.raises(ParameterError, match=message):
        Model(**(good | wrong))


def test_a_missing_client_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingExtra, match=r"pip install 'tellapart\[distil\]'"):
        Model("http://127.0.0.1:9/v1", "m", "Which?", ["a", "b"])


def test_a_function_is_checked_and_asked_again() -> None:
    said = iter(["fish", "bird", "fish", "fish"])

    def odd(*_: Any) -> Any:
        return next(said)

    teacher = Checked(odd, ["bird", "mammal"])
    assert teacher.answer(PETS[0], ta.Guess("mammal", PETS[1])) == ta.Correction("bird")
    assert teacher.answer(PETS[0], ta.Guess("mammal", PETS[1])) is None  # the guess stands
    assert len(teacher.failures) == 3
    assert "none of the labels" in teacher.failures[0]
    with pytest.raises(ProtocolError, match="no guess yet"):
        teacher.answer(PETS[0], ta.Guess(None, None))
