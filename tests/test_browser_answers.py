"""Every kind of answer, in a real browser and in the console alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from browser_teacher import BrowserTeacher, disagree, go, history
from server_process import Server

OpenPage = Callable[..., BrowserTeacher]
Begin = Callable[..., str]


def test_every_kind_of_answer(open_page: OpenPage, begin: Begin, server: Server) -> None:
    session = begin(order="file", labels=["mammal", "fish"])
    teacher = open_page(session)
    page = teacher.page
    told = page.locator(".learnt")
    teacher.press("1")
    row = teacher.item
    teacher.command("skip")
    assert told.inner_text() == f"Skipped. {row} comes back later."
    teacher.command("uns")
    assert told.inner_text() == "Saved as unsure; nothing is learnt from it."
    teacher.command("note what a bear!")
    assert told.inner_text() == "Note saved."
    before = teacher.screen
    page.keyboard.press("/")
    page.keyboard.type("undp")
    page.keyboard.press("Enter")  # there is no such command: nothing happens
    page.keyboard.press("Escape")
    assert teacher.screen == before
    disagree(teacher)
    teacher.press("Escape")
    assert teacher.guess == "mammal"
    labels = [disagree(teacher)]
    teacher.press("0")
    assert "without a reason" in told.inner_text()
    labels.append(disagree(teacher))
    teacher.type("#looks wet")
    teacher.undo()
    assert told.inner_text().startswith("Undone: ")
    teacher.redo()
    assert told.inner_text().startswith("Redone: ")
    labels.append(disagree(teacher))
    page.keyboard.press("Enter")  # nothing is typed: nothing is taken
    page.wait_for_timeout(100)
    assert teacher.asks_why
    chosen = page.locator("#reasons li:not(.new) button").last
    text, said = (chosen.get_attribute(name) or "" for name in ("value", "data-said"))
    teacher.type(said.upper())
    answers = [(one["answer"], one["label"], one["feature"]) for one in history(server, session)]
    assert answers == [
        ("wrong", "mammal", None),
        ("skipped", None, None),
        ("unsure", None, None),
        ("wrong", labels[0], None),
        ("wrong", labels[1], '"looks wet"'),
        ("wrong", labels[2], text),
    ]
    assert "what a bear!" in go(teacher, "answers?noted=1").inner_text("main")


def test_keys_of_ones_own(open_page: OpenPage, begin: Begin, server: Server, folder: Path) -> None:
    """Letters of old files work with Alt; a letter alone is text."""
    file = folder / "tellapart-keys.toml"
    file.write_text('undo = "z"\nright = "space"\n')
    try:
        session = begin(order="file", labels=["mammal"])
        teacher = open_page(session)
        teacher.press("1")
        teacher.press(" ")
        assert len(history(server, session)) == 2
        teacher.page.keyboard.press("z")
        assert teacher.page.input_value("#say") == "z"
        teacher.page.keyboard.press("Escape")
        teacher.press("Alt+z")
        assert [one["undone"] for one in history(server, session)] == [False, True]
    finally:
        file.unlink()


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
        if teacher.guess == ("mammal" if mammal else "other"):
            teacher.press("Enter")
        else:
            teacher.press("1" if mammal else "2")
            if teacher.asks_why:
                teacher.type("#looks warm" if mammal else "#looks cold")
    said = asks.inner_text()
    tag = "looks warm" if "looks warm?" in said else "looks cold"
    item = teacher.item
    with teacher.new_card():
        asks.get_by_role("button", name="Yes").click()
    assert page.locator(".learnt").inner_text() == f"{tag}: yes."
    assert teacher.item == item  # the same row, with another guess perhaps
    teacher.undo()
    assert tag in asks.inner_text()


def test_two_tabs_of_one_session(open_page: OpenPage, begin: Begin, server: Server) -> None:
    """Both show one row; it is answered once, and the tab that is late goes on with the next."""
    session = begin()
    teacher = open_page(session)
    second = teacher.context.new_page()
    second.goto(teacher.page.url)
    assert second.inner_text("#ask b >> nth=0") == (first := teacher.item)
    teacher.type("mammal")
    following = teacher.item
    assert following != first
    second.keyboard.type("bird")
    second.evaluate("document.getElementById('card').dataset.old = 1")
    second.keyboard.press("Enter")
    second.wait_for_selector("#card:not([data-old])")
    assert "Did you answer it in another tab?" in second.inner_text("body")
    assert second.inner_text("#ask b >> nth=0") == following
    assert [one["label"] for one in history(server, session)] == ["mammal"]
