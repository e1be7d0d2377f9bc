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


def odd_ones(open_page: OpenPage, begin: Begin, server: Server, truth: dict[str, str]) -> Any:
    """Odd ones, of which each opens late; the page, and what happened in the session."""
    session = begin(order="file", labels=["mammal", "fish", "bird"])
    teacher = open_page(session)
    teacher.teach(truth, 4)
    page = go(teacher, "odd")
    page.route("**/repair/**", lambda route: (page.wait_for_timeout(500), route.continue_()))
    return page, lambda: [one for one in log(server, session) if one.type != "given"]


def test_what_is_typed_while_a_link_opens_is_kept_for_its_page(
    open_page: OpenPage, begin: Begin, server: Server, truth: dict[str, str]
) -> None:
    page, happened = odd_ones(open_page, begin, server, truth)
    before, first = happened(), page.inner_text(".odd a >> nth=0").split()[-1]
    page.keyboard.press("1")
    page.keyboard.type("bi")
    page.keyboard.press("Enter")  # nobody has seen what it would mean
    page.keyboard.press("2")  # this is typed, too; it does not open the second
    page.keyboard.press("Backspace")
    page.wait_for_selector("#new")
    assert page.inner_text("h1").startswith(f"You called {first} ")
    page.keyboard.type("r")
    assert page.input_value("#new") == "bir"
    assert page.locator("#labels li:visible button").first.get_attribute("value") == "bird"
    assert happened() == before
    page.wait_for_timeout(LOOK)
    page.keyboard.press("Enter")
    page.wait_for_selector('input[name="label"][type="hidden"]', state="attached")
    assert page.inner_text("h1").startswith(f"{first} is bird.")
    assert happened() == before


def test_only_the_first_of_two_keys_opens_a_page(
    open_page: OpenPage, begin: Begin, server: Server, truth: dict[str, str]
) -> None:
    page, happened = odd_ones(open_page, begin, server, truth)
    before, first = happened(), page.inner_text(".odd a >> nth=0").split()[-1]
    page.evaluate("""() => new MutationObserver((_, seen) => {
        if (!document.getElementById("new")) return;
        seen.disconnect();  // the page is there, and at once comes an Enter that was for another
        setTimeout(() => {
            const enter = new KeyboardEvent("keydown", {key: "Enter", bubbles: true});
            document.activeElement.dispatchEvent(enter);
            document.body.dataset.entered = 1;
        });
    }).observe(document.body, {childList: true})""")
    for key in ("1", "2", "Enter", "Alt+u"):
        page.keyboard.press(key)
    page.wait_for_selector("[data-entered]")
    page.wait_for_timeout(LOOK)
    assert page.inner_text("h1").startswith(f"You called {first}")
    assert happened() == before
    page.go_back()
    page.wait_for_selector(".odd")
    page.wait_for_timeout(LOOK)
    with page.expect_navigation():
        page.keyboard.press("Enter")  # back, and all keys are heard again
    assert f"{first} stays " in page.inner_text(".told")
    assert len(happened()) == len(before) + 1


def test_back_shows_the_part_of_a_page_that_was_left(open_page: OpenPage, begin: Begin) -> None:
    teacher = open_page(begin(labels=["mammal"]), viewport={"width": 1280, "height": 500})
    page = teacher.page
    page.get_by_role("link", name="Data").click()
    page.wait_for_selector("h1:has-text('Data')")
    page.evaluate("scrollTo(0, 900)")
    page.evaluate("document.querySelector('nav a[href$=rules]').click()")
    page.wait_for_selector("h1:has-text('Rules')")
    assert page.evaluate("scrollY") == 0
    page.go_back()
    page.wait_for_selector("h1:has-text('Data')")
    page.wait_for_timeout(LOOK)
    assert page.evaluate("scrollY") > 800


def test_a_link_opens_in_another_tab_as_ever(
    open_page: OpenPage, begin: Begin, truth: dict[str, str]
) -> None:
    teacher = open_page(begin())
    with teacher.context.expect_page() as other:
        teacher.page.get_by_role("link", name="Rules").click(modifiers=["Control"])
    other.value.wait_for_selector("h1")
    assert other.value.inner_text("h1") == "Rules"
    assert teacher.page.url.endswith("/teach")
    teacher.teach(truth, 1)


def test_a_link_to_a_part_of_a_page_shows_that_part(open_page: OpenPage, begin: Begin) -> None:
    teacher = open_page(begin(labels=["mammal"]), viewport={"width": 1280, "height": 500})
    page = teacher.page
    with page.expect_navigation():
        page.keyboard.press("Alt+m")
    page.wait_for_timeout(LOOK)
    box = page.locator("h2#labels").bounding_box()
    assert box
    assert 0 <= box["y"] < 400
    with page.expect_navigation():
        page.keyboard.press("Escape")
    assert page.evaluate("scrollY") == 0


def test_alt_keys_work_where_letters_are_not_latin(
    open_page: OpenPage, begin: Begin, server: Server, truth: dict[str, str]
) -> None:
    session = begin(labels=["mammal"])
    teacher = open_page(session)
    teacher.teach(truth, 2)
    page = teacher.page
    for key, code, left in (("г", "KeyU", 1), ("q", "KeyU", 1), ("θ", "KeyU", 0)):
        event = f'{{key: "{key}", code: "{code}", altKey: true, bubbles: true}}'
        page.evaluate(f'document.body.dispatchEvent(new KeyboardEvent("keydown", {event}))')
        page.wait_for_load_state("networkidle")
        said = [one for one in history(server, session) if not one["undone"]]
        assert len(said) == left, key


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
