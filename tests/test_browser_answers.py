"""Every kind of answer, in a real browser and in the console alike."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from browser_page import Desk, disagree, go, history, log
from server_process import Server
from teaching import plain
from tellapart.console import talk
from tellapart.console.keyboard import Piped, read_keys
from tellapart.sessions import Session, Store

Sit = Callable[..., Desk]
Begin = Callable[..., str]


def test_every_kind_of_answer(sit: Sit, begin: Begin, server: Server) -> None:
    session = begin(order="file", labels=["mammal", "fish"])
    desk = sit(session)
    page = desk.page
    told = page.locator(".told")
    desk.press("1")
    desk.press("s")
    assert told.inner_text() == "Skipped: it comes back later."
    assert "1 skipped" in page.inner_text("#status")
    desk.press("d")
    assert told.inner_text() == "Saved as unsure: kept, not learnt from."
    assert "1 unsure" in page.inner_text("#status")
    desk.write("n", "what a bear!")
    assert told.inner_text() == "Noted."
    disagree(desk)
    desk.press("Escape")
    assert "I think mammal" in desk.heading
    labels = [disagree(desk)]
    desk.press("0")
    labels.append(disagree(desk))
    desk.write("t", "looks wet")
    desk.press("u")
    assert told.inner_text() == "Undone."
    desk.press("r")
    assert told.inner_text() == "Redone."
    desk.press("u")
    desk.press("r")
    with page.expect_navigation():
        page.keyboard.press("h")
    assert page.inner_text("h1") == "Help"
    with page.expect_navigation():
        page.keyboard.press("Escape")  # back to where I was
    labels.append(disagree(desk))
    options = page.locator("#tags option").evaluate_all("all => all.map(one => one.value)")
    assert options == ["looks wet"]
    page.keyboard.press("f")
    page.keyboard.press("Enter")  # nothing is asked for: nothing is taken
    page.keyboard.type("nothing like this")
    page.keyboard.press("Enter")  # nothing is left to choose: nothing is said
    assert page.locator("#features li:visible").count() == 0
    page.keyboard.press("Escape")
    chosen = page.locator("#features li button").last.get_attribute("value") or ""
    desk.write("f", chosen.upper())
    said = [(one["answer"], one["label"], one["feature"]) for one in history(server, session)]
    assert said == [
        ("wrong", "mammal", None),
        ("skipped", None, None),
        ("unsure", None, None),
        ("wrong", labels[0], None),
        ("wrong", labels[1], '"looks wet"'),
        ("wrong", labels[2], chosen),
    ]
    assert "what a bear!" in go(desk, "history?q=bear").inner_text("main")


SAME = [
    ("l", "mammal"),
    ("n", "hello"),
    "\n",
    ("l", "fish"),
    ("x", "fins and"),
    ("x", "fins"),
    "u",
    "r",
    "s",
    "d",
    "\n",
    "u",
    "u",
    "r",
    ("l", "big fish"),
    "0",
    ("l", "odd"),
    ("t", "a beak"),
    "1",
    "\x1b",
    "2",
    "1",
    "1",
]
"""What is typed: a key, or the key of a box with what goes into it."""


def test_the_same_keys_give_the_same_log(
    sit: Sit, begin: Begin, server: Server, folder: Path, tmp_path: Path
) -> None:
    """In the console, and in a real browser."""
    how: dict[str, Any] = {"learner": "DFF", "order": "file", "seed": 3}
    session = begin(**how)
    desk = sit(session)
    piped = ""
    for one in SAME:
        if isinstance(one, tuple):
            desk.write(*one)
            piped += f"{one[0]}{one[1]}\n"
        else:
            desk.press({"\n": "Enter", "\x1b": "Escape"}.get(one, one))
            piped += one
    with (
        Store(tmp_path / "console.db") as store,
        Session.new(store, session, folder / "zoo.csv", reading={"id": "name"}, **how) as here,
    ):
        talk(here, "Ann", Piped(io.StringIO(piped)), Console(file=io.StringIO()), read_keys())
        typed = store.log(session)
    assert plain(typed) == plain(log(server, session))
    answers = [one.data["answer"] for one in typed if one.type == "answered"]
    assert set(answers) == {"wrong", "right", "skipped", "unsure"}
    assert len(answers) >= 10


def test_keys_of_ones_own(sit: Sit, begin: Begin, server: Server, folder: Path) -> None:
    file = folder / "tellapart-keys.toml"
    file.write_text('undo = "z"\nright = "space"\n')
    try:
        session = begin(order="file", labels=["mammal"])
        desk = sit(session)
        desk.press("1")
        assert desk.page.get_by_role("button", name="Space right, next").count() == 1
        desk.press(" ")
        assert len(history(server, session)) == 2
        before = desk.screen
        desk.page.keyboard.press("u")  # no key any more
        desk.page.keyboard.press("Enter")
        desk.page.wait_for_timeout(100)
        assert desk.screen == before
        desk.press("z")
        assert [one["undone"] for one in history(server, session)] == [False, True]
        assert "z" in go(desk, "help").locator("tr", has_text="undo").inner_text()
    finally:
        file.unlink()
