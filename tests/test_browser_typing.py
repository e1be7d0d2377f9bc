"""Letters are for typing: in a real browser, no word that is typed records an answer."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from typing import Any

from browser_teacher import LOOK, PAGES, BrowserTeacher, disagree, go, history, log
from server_process import Server

OpenPage = Callable[..., BrowserTeacher]
Begin = Callable[..., str]


def test_a_word_typed_anywhere_filters_labels_or_reasons(
    open_page: OpenPage, begin: Begin, server: Server
) -> None:
    session = begin(order="file", labels=["mammal", "fish", "bird"])
    teacher = open_page(session)
    page = teacher.page
    page.keyboard.type("mam")  # nothing has the focus
    assert page.input_value("#say") == "mam"
    assert page.locator("#labels li:visible button").first.get_attribute("value") == "mammal"
    teacher.press("Enter")
    assert [one["label"] for one in history(server, session)] == ["mammal"]
    item = teacher.item
    page.keyboard.type("bird")
    assert history(server, session)[1:] == []
    assert teacher.item == item
    teacher.press("Enter")
    assert teacher.asks_why
    chosen = page.locator("#reasons li:not(.new) button").last.get_attribute("value") or ""
    page.keyboard.type(chosen)
    assert page.input_value("#why") == chosen
    teacher.press("Enter")
    assert history(server, session)[1]["feature"] == chosen


def test_what_is_erased_or_left_is_no_longer_typed(
    open_page: OpenPage, begin: Begin, server: Server
) -> None:
    session = begin(order="file", labels=["mammal", "fish"])
    teacher = open_page(session)
    teacher.press("1")
    page = teacher.page
    page.keyboard.type("fi")
    page.keyboard.press("Backspace")
    page.keyboard.press("Backspace")
    teacher.press("Enter")  # nothing is typed: Enter is a key again
    page.keyboard.type("fi")
    page.keyboard.press("Escape")
    assert page.input_value("#say") == ""
    assert page.locator("#labels li:visible").count() == 1  # and the guess
    teacher.press("Enter")
    assert [one["answer"] for one in history(server, session)] == ["wrong", "right", "right"]


def test_what_is_typed_before_the_page_is_there_is_kept_for_it(
    open_page: OpenPage, begin: Begin
) -> None:
    teacher = open_page(begin(order="file", labels=["mammal", "fish"]))
    teacher.press("1")
    page = teacher.page
    page.route("**/label?*", lambda route: (page.wait_for_timeout(300), route.continue_()))
    page.keyboard.press("2")
    page.keyboard.type("egg")
    page.wait_for_selector("#reasons")
    page.keyboard.type("s")
    assert page.input_value("#why") == "eggs"


def test_what_comes_too_soon_for_anybody_to_have_looked_records_nothing(
    open_page: OpenPage, begin: Begin, server: Server, truth: dict[str, str]
) -> None:
    session = begin(order="file", labels=["mammal", "fish", "bird"])
    teacher = open_page(session)
    teacher.teach(truth, 4)
    page = teacher.page

    def happened() -> list[Any]:
        return [one for one in log(server, session) if one.type != "given"]

    before = happened()
    go(teacher, "rules")
    page.add_init_script(
        """addEventListener("DOMContentLoaded", () => setTimeout(() => {
            for (const key of ["Enter", "1", "2"])
                (document.activeElement ?? document.body).dispatchEvent(
                    new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
            document.body.dataset.entered = 1;
        }))"""
    )
    with page.expect_navigation():
        page.get_by_role("link", name="Teach", exact=True).click()
    page.wait_for_selector("[data-entered]")
    page.wait_for_timeout(LOOK)
    assert happened() == before
    page.keyboard.press("/")  # and now all keys are heard
    assert page.locator("dialog[open]").count() == 1


def test_while_the_server_thinks_digits_and_enter_are_not_kept_for_what_nobody_has_seen(
    open_page: OpenPage, begin: Begin, server: Server
) -> None:
    session = begin(order="file", labels=["mammal", "fish"])
    teacher = open_page(session)
    teacher.press("1")
    page = teacher.page
    page.route("**/answer", lambda route: (page.wait_for_timeout(400), route.continue_()))
    with teacher.new_card():
        for key in ("Enter", "Enter", "1", "2", "Enter"):
            page.keyboard.press(key)
    page.wait_for_timeout(LOOK)
    assert len(history(server, session)) == 2
    assert page.input_value("#say") == ""


def test_a_link_opens_in_another_tab_as_ever(
    open_page: OpenPage, begin: Begin, truth: dict[str, str]
) -> None:
    teacher = open_page(begin())
    teacher.teach(truth, 1)
    with teacher.context.expect_page() as other:
        teacher.page.get_by_role("link", name="Rules").click(modifiers=["Control"])
    other.value.wait_for_selector("h1")
    assert "rules" in other.value.inner_text("h1")
    assert teacher.page.url.endswith("/teach")
    teacher.page.focus("#say")
    teacher.teach(truth, 1)


def states(teacher: BrowserTeacher, session: str) -> dict[str, Callable[[], Any]]:
    """Everything that a page may ask, and how to come to it."""

    def visit(path: str) -> Any:
        teacher.page.goto(f"{teacher.server.address}/{path}")
        return teacher.page

    def open_(path: str) -> Callable[[], Any]:
        return lambda: visit(f"s/{session}/{path}")

    def feature() -> None:
        visit(f"s/{session}/teach")
        disagree(teacher)

    def repair(more: str) -> Callable[[], None]:
        name = history(teacher.server, session)[-1]["item"]["name"]
        return lambda: visit(f"s/{session}/repair/{name}?from=answers{more}")

    def rule() -> None:
        page = visit(f"s/{session}/rules")
        page.locator(".rule summary").first.press("Enter")

    def window(key: str) -> Callable[[], None]:
        def come() -> None:
            visit(f"s/{session}/teach")
            teacher.page.keyboard.press(key)

        return come

    return {
        "a guess": open_("teach"),
        "a reason": feature,
        "a repair": repair(""),
        "a repair with a label": repair("&label=bird"),
        "help": window("?"),
        "everything else": window("/"),
        "a sweep": open_("sweep?label=mammal"),
        "a rule": rule,
        "home": lambda: visit("?all=1"),
        "an error": lambda: visit("s/none/teach"),
        **{path: open_(path) for path in (*PAGES, "data?taught=yes")},
    }


def test_no_burst_of_letters_records_an_answer(
    open_page: OpenPage, begin: Begin, server: Server, truth: dict[str, str]
) -> None:
    """Words of 3 to 12 letters, in every state a page may be in."""
    dice = random.Random(18)
    session = begin(labels=["mammal", "bird", "fish"])
    teacher = open_page(session)
    teacher.teach(truth, 12)
    teacher.say("fish" if truth[teacher.item] != "fish" else "bird")  # something odd
    ways = states(teacher, session)
    before = [one for one in log(server, session) if one.type != "given"]
    for turn in range(60):
        way = [*ways][turn % len(ways)]
        ways[way]()
        word = "".join(dice.choices(string.ascii_letters, k=dice.randint(3, 12)))
        teacher.page.keyboard.type(word)
        teacher.page.wait_for_load_state("networkidle")
        after = [one for one in log(server, session) if one.type != "given"]
        assert after == before, (way, word)
    teacher.errors.clear()  # the browser logs a 404
