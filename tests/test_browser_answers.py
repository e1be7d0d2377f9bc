"""Every kind of answer, in a real browser and in the console alike."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from browser_teacher import LOOK, BrowserTeacher, disagree, go, history, log
from server_process import Server
from teaching import plain
from tellapart.console.conversation import talk
from tellapart.console.keyboard import Piped, read_keys
from tellapart.sessions import Session, Store

OpenPage = Callable[..., BrowserTeacher]
Begin = Callable[..., str]


def test_every_kind_of_answer(open_page: OpenPage, begin: Begin, server: Server) -> None:
    session = begin(order="file", labels=["mammal", "fish"])
    teacher = open_page(session)
    page = teacher.page
    told = page.locator(".told")
    teacher.press("1")
    teacher.press("s")
    assert told.inner_text() == "Skipped: it comes back later."
    assert "1 skipped" in page.inner_text("#status")
    teacher.press("d")
    assert told.inner_text() == "Saved as unsure: kept, not learnt from."
    assert "1 unsure" in page.inner_text("#status")
    teacher.write("n", "what a bear!")
    assert told.inner_text() == "Noted."
    disagree(teacher)
    teacher.press("Escape")
    assert "I think mammal" in teacher.heading
    labels = [disagree(teacher)]
    teacher.press("0")
    labels.append(disagree(teacher))
    teacher.write("t", "looks wet")
    teacher.press("u")
    assert told.inner_text() == "Undone."
    teacher.press("r")
    assert told.inner_text() == "Redone."
    teacher.press("u")
    teacher.press("r")
    with page.expect_navigation():
        page.keyboard.press("Alt+h")
    assert page.inner_text("h1") == "Help"
    with page.expect_navigation():
        page.keyboard.press("Escape")  # back to where I was
    page.wait_for_timeout(LOOK)
    labels.append(disagree(teacher))
    options = page.locator("#tags option").evaluate_all("all => all.map(one => one.value)")
    assert options == ["looks wet"]
    page.keyboard.press("Alt+f")
    page.keyboard.press("Enter")  # nothing is asked for: nothing is taken
    page.keyboard.type("nothing like this")
    page.keyboard.press("Enter")  # nothing is left to choose: nothing is said
    assert page.locator("#features li:visible").count() == 0
    page.keyboard.press("Escape")
    chosen = page.locator("#features li button").last.get_attribute("value") or ""
    teacher.write("f", chosen.upper())
    said = [(one["answer"], one["label"], one["feature"]) for one in history(server, session)]
    assert said == [
        ("wrong", "mammal", None),
        ("skipped", None, None),
        ("unsure", None, None),
        ("wrong", labels[0], None),
        ("wrong", labels[1], '"looks wet"'),
        ("wrong", labels[2], chosen),
    ]
    assert "what a bear!" in go(teacher, "history?q=bear").inner_text("main")


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
    "0",
]
"""What is typed: a key, or the key of a box with what goes into it."""


def test_the_same_keys_give_the_same_log(
    open_page: OpenPage, begin: Begin, server: Server, folder: Path, tmp_path: Path
) -> None:
    """In the console, and in a real browser."""
    how: dict[str, Any] = {"learner": "DFF", "order": "file", "seed": 3}
    session = begin(**how)
    teacher = open_page(session)
    piped = ""
    for one in SAME:
        if isinstance(one, tuple):
            teacher.write(*one)
            piped += f"{one[0]}{one[1]}\n"
        else:
            teacher.press({"\n": "Enter", "\x1b": "Escape"}.get(one, one))
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


def test_keys_of_ones_own(open_page: OpenPage, begin: Begin, server: Server, folder: Path) -> None:
    file = folder / "tellapart-keys.toml"
    file.write_text('undo = "z"\nright = "space"\n')
    try:
        session = begin(order="file", labels=["mammal"])
        teacher = open_page(session)
        teacher.press("1")
        assert teacher.page.get_by_role("button", name="Space right, next").count() == 1
        teacher.press(" ")
        assert len(history(server, session)) == 2
        before = teacher.screen
        teacher.page.keyboard.press("Alt+u")  # no key any more
        teacher.page.keyboard.press("Enter")
        teacher.page.wait_for_timeout(100)
        assert teacher.screen == before
        teacher.press("z")
        assert [one["undone"] for one in history(server, session)] == [False, True]
        assert "z" in go(teacher, "help").locator("tr", has_text="undo").inner_text()
    finally:
        file.unlink()


def test_a_cell_that_differs_shows_the_candidates_of_its_column(
    open_page: OpenPage, begin: Begin
) -> None:
    teacher = open_page(begin(labels=["mammal", "bird"]))
    teacher.press("1")  # what the first item is
    cells = teacher.page.locator(".pair tr.differs")
    assert cells.first.locator("button").is_disabled()  # what it is comes first
    teacher.press("2")
    column = str(cells.first.locator("button").get_attribute("value"))
    everything = teacher.page.locator("#features button").all_inner_texts()
    assert "(of 1 answer)" in teacher.page.inner_text("legend")
    assert any("0 bird, 0 others" in text for text in everything)
    cells.first.locator("td").first.click()
    teacher.page.locator("legend", has_text=f"only {column}").wait_for()
    values = [
        str(one.get_attribute("value")) for one in teacher.page.locator("#features button").all()
    ]
    assert values
    assert all(column in value for value in values)
    teacher.page.get_by_role("button", name="all columns").click()
    teacher.page.locator("legend", has_not_text="only").first.wait_for()
    assert teacher.page.locator("#features button").all_inner_texts() == everything


def test_a_tag_that_the_guess_does_not_know_is_asked(
    open_page: OpenPage, begin: Begin, truth: dict[str, str]
) -> None:
    teacher = open_page(begin(labels=["mammal", "other"]))
    page = teacher.page
    asks = page.locator(".asks-tag")
    for _ in range(15):
        if asks.count():
            break
        mammal = truth[teacher.item] == "mammal"
        if f"I think {'mammal' if mammal else 'other'}" in teacher.heading:
            teacher.press("Enter")
        else:
            asked = teacher.heading.startswith("What is")
            teacher.press("1" if mammal else "2")
            if not asked:
                teacher.write("t", "looks warm" if mammal else "looks cold")
    said = asks.inner_text()
    tag = "looks warm" if "looks warm?" in said else "looks cold"
    assert f"The guess does not know: {tag}?" in said
    item = teacher.item
    teacher.press("y")
    assert page.locator(".told").inner_text() == f"{tag}: yes."
    assert teacher.item == item  # the same item, with another guess perhaps
    teacher.press("u")
    assert tag in asks.inner_text()
    page.goto(f"{page.url.rsplit('/', 1)[0]}/tags?tag={tag}")
    before = page.inner_text(".tags [aria-current]")
    with page.expect_navigation():
        page.keyboard.press("Alt+o")
    assert page.inner_text(".tags [aria-current]") != before
