"""The teaching page in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from browsing import TEAM, Desk, chromium, write_zoo
from conftest import require
from served import Server, serving

Sit = Callable[..., Desk]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    require("playwright")
    require("chromium")
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="module")
def truth(folder: Path) -> dict[str, str]:
    return write_zoo(folder / "zoo.csv")


@pytest.fixture(scope="module")
def server(folder: Path, truth: dict[str, str]) -> Iterator[Server]:
    with serving("--folder", str(folder), "--rate", "10000", cwd=folder, tokens=TEAM) as found:
        yield found


@pytest.fixture
def begin(server: Server, request: pytest.FixtureRequest) -> Callable[..., str]:
    """Begin a session of one's own."""

    def new(table: str = "zoo.csv", **how: Any) -> str:
        name = request.node.name.replace("[", "-").replace("]", "")
        with server.client("Ann") as client:
            body = {"name": name, "table": table, "id": "name", **how}
            made = client.post("/api/sessions", json=body)
            assert made.status_code == 201, made.text
        return name

    return new


@pytest.fixture
def sit(browser: Any, server: Server) -> Iterator[Sit]:
    """A teacher sits down before a page; at the end nobody's browser may have complained."""
    desks = []

    def down(session: str, who: str = "Ann", path: str = "/teach", **how: Any) -> Desk:
        desk = Desk(browser, server, who, **how)
        desks.append(desk)
        return desk.sit(session, path)

    yield down
    for desk in desks:
        desk.close()


def history(server: Server, session: str) -> list[dict[str, Any]]:
    with server.client("Ann") as client:
        return client.get(f"/api/sessions/{session}/history?limit=500").json()["answers"][::-1]


def test_ten_items_by_keyboard_then_undo_two_then_reload(
    sit: Sit, begin: Callable[..., str], server: Server, truth: dict[str, str]
) -> None:
    session = begin()
    desk = sit(session)
    assert desk.heading == f"What is {desk.item}?"
    seen = []
    for _ in range(10):
        seen.append(desk.item)
        desk.say(truth[desk.item])
    assert len(set(seen)) == 10
    said = history(server, session)
    assert [(one["item"]["name"], one["label"] or one["guess"]) for one in said] == [
        (name, truth[name]) for name in seen
    ]
    assert "10 items labelled" in desk.page.inner_text("#status")
    desk.press("u")
    assert desk.item == seen[9]
    desk.press("u")
    assert desk.item == seen[8]
    before = desk.screen
    desk.page.reload()
    assert desk.screen == before
    assert "8 items labelled" in before[2]
    desk.press("r", "r")
    assert [one["undone"] for one in history(server, session)] == [False] * 10


def test_a_condition_with_a_mistake_in_it_is_mended(
    sit: Sit, begin: Callable[..., str], server: Server
) -> None:
    session = begin(labels=["mammal", "bird"])
    desk = sit(session)
    desk.press("1")
    assert "I think mammal" in desk.heading
    desk.press("2")
    page = desk.page
    page.keyboard.press("x")
    page.keyboard.type("legz >= 0")
    page.locator("#said", has_text="legz").wait_for()
    assert "no" in (page.get_attribute("#said", "class") or "")
    desk.press("Enter")  # refused, and what was written is still there
    assert page.input_value("#write") == "legz >= 0"
    assert history(server, session)[1:] == []
    page.locator("#said", has_text="legz").wait_for()
    told = page.locator("#features button").first.get_attribute("value") or ""
    page.fill("#write", told)
    page.wait_for_selector("#said.ok")
    assert re.search(r"and not on .* \([\d,]+ items\)", page.inner_text("#said"))
    page.focus("#write")
    desk.press("Enter")
    assert history(server, session)[1]["feature"] == told


def test_two_browsers_two_teachers_one_session(
    sit: Sit, begin: Callable[..., str], server: Server, truth: dict[str, str]
) -> None:
    session = begin(overlap=1.0)
    ann, bob = sit(session), sit(session, "Bob")
    assert ann.item != bob.item
    ann.teach(truth, 3)
    bob.teach(truth, 3)
    ann.teach(truth, 1)
    assert {one["teacher"] for one in history(server, session)} == {"Ann", "Bob"}
    bob.page.goto(f"{server.address}/s/{session}/disagreements")
    assert "Disagreements" in bob.page.inner_text("h1")


def test_keys_rest_while_typing(sit: Sit, begin: Callable[..., str], server: Server) -> None:
    session = begin(labels=["mammal", "bird"])
    desk = sit(session)
    desk.press("1")
    before = desk.screen
    page = desk.page
    page.keyboard.press("n")
    page.keyboard.type("u1 s d 2 skip?")
    assert page.input_value("#note") == "u1 s d 2 skip?"
    assert desk.screen == before
    desk.press("Enter")
    with server.client("Ann") as client:
        notes = client.get(f"/api/sessions/{session}/notes").json()["notes"]
    assert [note["text"] for note in notes] == ["u1 s d 2 skip?"]
    page.keyboard.press("l")
    page.keyboard.type("u")
    page.keyboard.press("Escape")
    assert desk.screen == before
    page.keyboard.press("Control+u")  # the browser's own
    assert desk.screen == before


def test_twice_is_once(sit: Sit, begin: Callable[..., str], server: Server) -> None:
    session = begin(labels=["mammal"])
    desk = sit(session)
    desk.press("1")
    page = desk.page
    page.evaluate("document.getElementById('card').dataset.old = 1")
    page.dblclick("button.main")
    page.wait_for_selector("#card:not([data-old])")
    page.wait_for_timeout(150)
    assert len(history(server, session)) == 2
    page.evaluate("document.getElementById('card').dataset.old = 1")
    page.evaluate(
        """for (const _ of [1, 2, 3])
             document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}))"""
    )
    page.wait_for_selector("#card:not([data-old])")
    page.wait_for_timeout(150)
    assert len(history(server, session)) == 3
