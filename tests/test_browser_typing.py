"""Letters are for typing: in a real browser, no word that is typed records an answer."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from typing import Any

from browser_teacher import PAGES, BrowserTeacher, disagree, history, log
from server_process import Server

OpenPage = Callable[..., BrowserTeacher]
Begin = Callable[..., str]


def test_a_word_typed_anywhere_filters_labels_or_candidates(
    open_page: OpenPage, begin: Begin, server: Server
) -> None:
    session = begin(order="file", labels=["mammal", "fish", "bird"])
    teacher = open_page(session)
    page = teacher.page
    page.keyboard.type("mam")  # nothing has the focus
    assert page.input_value("#new") == "mam"
    assert page.locator("#labels li:visible button").first.get_attribute("value") == "mammal"
    teacher.press("Enter")
    assert [one["label"] for one in history(server, session)] == ["mammal"]
    item = teacher.item
    page.keyboard.type("bird")
    assert history(server, session)[1:] == []
    assert teacher.item == item
    teacher.press("Enter")
    assert "is bird. What tells it from" in teacher.heading
    chosen = page.locator("#features button").last.get_attribute("value") or ""
    page.keyboard.type(chosen)
    assert page.input_value("#find") == chosen
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
    assert page.input_value("#new") == ""
    assert page.locator("#labels li:visible").count() == 2
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
    page.wait_for_selector("#features")
    page.keyboard.type("s")
    assert page.input_value("#find") == "eggs"


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

    def repair(key: str | None) -> Callable[[], None]:
        def come() -> None:
            page = visit(f"s/{session}/odd")
            with page.expect_navigation():
                page.keyboard.press("1")
            if key is not None:
                with page.expect_navigation():
                    page.keyboard.press(key)

        return come

    def rule() -> None:
        page = visit(f"s/{session}/rules")
        page.locator("summary").first.press("Enter")

    return {
        "a guess": open_("teach"),
        "a feature": feature,
        "a repair": repair(None),
        "a repair with a label": repair("2"),
        "a sweep": open_("sweep?label=mammal"),
        "a rule": rule,
        "home": lambda: visit("?all=1"),
        "an error": lambda: visit("s/none/teach"),
        **{path: open_(path) for path in (*PAGES, "data?taught=yes")},
    }


def test_no_burst_of_letters_records_an_answer(
    open_page: OpenPage, begin: Begin, server: Server, truth: dict[str, str]
) -> None:
    """Fifty words of 3 to 12 letters, in every state a page may be in."""
    dice = random.Random(18)
    session = begin(labels=["mammal", "bird", "fish"])
    teacher = open_page(session)
    teacher.teach(truth, 12)
    teacher.say("fish" if truth[teacher.item] != "fish" else "bird")  # something odd
    ways = states(teacher, session)
    before = [one for one in log(server, session) if one.type != "given"]
    for turn in range(50):
        way = [*ways][turn % len(ways)]
        ways[way]()
        word = "".join(dice.choices(string.ascii_letters, k=dice.randint(3, 12)))
        teacher.page.keyboard.type(word)
        teacher.page.wait_for_load_state("networkidle")
        after = [one for one in log(server, session) if one.type != "given"]
        assert after == before, (way, word)
    teacher.errors.clear()  # the browser logs a 404
