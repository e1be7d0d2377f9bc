"""The page for those who listen, zoom, or have nothing but keys."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from browser_teacher import DRAWN, BrowserTeacher, disagree, go, narrow

OpenPage = Callable[..., BrowserTeacher]
Begin = Callable[..., str]


def names(page: Any) -> list[tuple[str, str]]:
    """Role and name of everything in the accessibility tree that can be used, or is a heading."""
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")
    wanted = ("button", "link", "textbox", "searchbox", "combobox", "checkbox", "heading", "region")
    return [
        (node["role"]["value"], node.get("name", {}).get("value", "").strip())
        for node in tree["nodes"]
        if not node["ignored"] and node["role"]["value"] in wanted
    ]


def test_everything_has_a_name_and_news_are_told(
    open_page: OpenPage, begin: Begin, truth: dict[str, str]
) -> None:
    session = begin(labels=["mammal", "bird", "fish"])
    teacher = open_page(session)
    page = teacher.page
    assert page.get_attribute("#voice", "role") == "status"
    page.evaluate("document.getElementById('voice').dataset.same = 1")
    for turn in range(1, 6):
        teacher.say(truth[teacher.item])
        told = page.text_content("#voice")
        assert teacher.heading in " ".join(str(told).split())
        assert f"Saved up to item {turn}" in str(told)
    teacher.press("s")
    assert "Skipped: it comes back later." in str(page.text_content("#voice"))
    assert page.get_attribute("#voice", "data-same") == "1"  # the element itself stays
    assert page.evaluate("document.activeElement.tagName") == "H1"
    seen = names(page)
    assert ("button", "Enter right, next") in seen
    assert ("textbox", "type a label, old or new; Enter takes the first that fits") in seen
    assert [role for role, _ in seen].count("heading") == 1
    disagree(teacher)
    assert ("button", "0 no single feature does") in names(page)
    for path in ("teach", "rules", "progress", "history", "odd", "data", "export", "help"):
        go(teacher, path)
        for role, name in names(page):
            assert name, f"{path}: a {role} without a name"
        assert page.locator("h1").count() == 1, path
        assert page.title().split(" · ")[1:] == [session, "tellapart"]


def tabbed(page: Any) -> list[str]:
    """Tab through the whole page: what got the focus. All of it was seen, with a mark around it."""
    look = """() => {
        const one = document.activeElement;
        const box = one.getBoundingClientRect();
        const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
        const there = document.elementFromPoint(x, Math.min(y, innerHeight - 1));
        const style = getComputedStyle(one);
        return {
            what: one.dataset.key ?? one.id ?? "",
            name: one.outerHTML.slice(0, 120),
            seen: Boolean(there) && (one.contains(there) || there.contains(one)),
            marked: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
            end: one === document.body,
        };
    }"""
    page.wait_for_selector(DRAWN)
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    found: list[str] = []
    for _ in range(120):
        page.keyboard.press("Tab")
        told = page.evaluate(look)
        if told["end"]:
            return found
        assert told["marked"], f"no mark around {told['name']}"
        assert told["seen"], f"cannot be seen: {told['name']}"
        found.append(told["what"])
    raise AssertionError(f"Tab does not come to an end: {found}")


@pytest.mark.parametrize(("width", "height"), [(640, 360), (1280, 400), (360, 640)])
def test_everything_can_be_reached(
    open_page: OpenPage, begin: Begin, truth: dict[str, str], width: int, height: int
) -> None:
    """640 x 360 is 1280 x 720 at 200 % zoom."""
    session = begin(labels=["mammal", "bird", "fish"])
    teacher = open_page(session, viewport={"width": width, "height": height})
    teacher.teach(truth, 6)
    page = teacher.page
    assert narrow(page)
    keys = set(tabbed(page))
    assert {"enter", "s", "d", "u", "h", "l", "n", "1", "2", "3"} <= keys
    disagree(teacher)
    assert narrow(page)
    assert {"f", "x", "t", "0", "escape", "1"} <= set(tabbed(page))
    if height > 480:  # where there is room, how it stands is always in sight
        for top in (0, 10_000):
            page.evaluate("top => scrollTo(0, top)", top)
            box = page.locator(".status").bounding_box()
            assert box
            assert 0 < box["y"] < box["y"] + box["height"] <= height


def test_long_labels_push_nothing_aside(
    open_page: OpenPage, begin: Begin, truth: dict[str, str]
) -> None:
    long = "invertebrate" * 15
    teacher = open_page(begin(labels=["mammal", "invertebrate", long]))
    teacher.write("l", long)
    teacher.teach(truth, 3)
    for path, last in (
        ("help", ".means input[type=text]"),
        ("rules", ".list thead th:last-child"),
        ("progress", ".list details"),
    ):
        page = go(teacher, path)
        assert narrow(page), path
        box = page.locator(last).first.bounding_box()
        assert box, path
        assert box["x"] + box["width"] <= 1280, path
    page = go(teacher, "help")
    for form in page.locator(".means").all():  # a name does not run into its box
        name = form.locator("label").evaluate(
            "it => { const r = document.createRange(); r.selectNodeContents(it);"
            " return r.getBoundingClientRect().right }"
        )
        box = form.locator("input[type=text]").bounding_box()
        assert box
        assert name <= box["x"]


def test_tables_fit_a_phone_and_the_status_is_one_line(
    open_page: OpenPage, begin: Begin, truth: dict[str, str]
) -> None:
    teacher = open_page(begin(order="random", seed=2), viewport={"width": 360, "height": 740})
    teacher.teach(truth, 25)
    for path in ("rules", "history", "progress"):
        page = go(teacher, path)
        cut = "[...document.querySelectorAll('.wide')].filter(e => e.scrollWidth > e.clientWidth)"
        assert page.evaluate(f"{cut}.length") == 0, path
    for width in (700, 1000, 1280):
        page.set_viewport_size({"width": width, "height": 740})
        lines = page.evaluate("[...document.querySelectorAll('#status li')].map(e => e.offsetTop)")
        assert len(lines) > 4
        assert len({*lines}) == 1, width


def test_on_a_phone_the_way_back_and_how_far_it_is_are_in_sight(
    open_page: OpenPage, begin: Begin, truth: dict[str, str]
) -> None:
    phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
    teacher = open_page(begin(order="random", seed=2), **phone)
    teacher.teach(truth, 12)
    disagree(teacher)
    sizes = teacher.page.locator(".pair .differs th button").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().height)"
    )
    assert min(sizes) >= 24
    teacher.write("t", "looks wet")
    for path in ("data", "tags", "help"):
        page = go(teacher, path)
        for link in (page.get_by_role("link", name="Teach"), page.locator("nav [aria-current]")):
            box = link.first.bounding_box()
            assert box, path
            assert box["x"] >= 0, path
            assert box["x"] + box["width"] <= 360, path
            centre = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
            seen = "([x, y]) => document.elementFromPoint(x, y).textContent"
            assert page.evaluate(seen, centre) == link.first.text_content(), path
        if path != "help":  # keys are its subject
            assert page.locator("kbd:visible").count() == 0, path
    done, last = page.locator("#status li:visible").all_inner_texts()
    assert "done, " in done
    assert last == page.locator("#status li").last.inner_text()
    page.locator("#status").tap()
    assert page.locator("#status li:visible").count() == page.locator("#status li").count() > 4
    box = page.locator("#status").bounding_box()
    assert box
    assert box["y"] + box["height"] <= 740
    assert narrow(page)


def test_many_labels_leave_the_note_in_sight(open_page: OpenPage, begin: Begin) -> None:
    teacher = open_page(
        begin(labels=[f"label {n}" for n in range(24)]), viewport={"width": 1280, "height": 800}
    )
    teacher.press("1")
    for part in ("#note", "#search"):
        box, foot = (teacher.page.locator(one).bounding_box() for one in (part, "footer"))
        assert box
        assert foot
        assert box["y"] + box["height"] <= foot["y"], part
    teacher.say("label 5")


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_the_line_over_the_next_item_is_drawn_anew_and_keys_do_not_wait(
    open_page: OpenPage, begin: Begin, truth: dict[str, str], motion: str
) -> None:
    teacher = open_page(begin(labels=["mammal", "bird"]), reduced_motion=motion)
    teacher.teach(truth, 3)
    page = teacher.page
    page.evaluate("""() => {
        window.moved = 0;
        const animate = Element.prototype.animate;
        Element.prototype.animate = function (...how) {
            window.moved += 1;
            const one = animate.apply(this, how);
            one.pause();  // as if it took for ever
            return one;
        };
    }""")

    def moved() -> int:
        page.wait_for_timeout(200)
        return int(page.evaluate("window.moved"))

    before = teacher.item
    page.wait_for_timeout(600)  # somebody looks at it
    teacher.press("Enter")
    second, times = teacher.item, moved()
    assert second != before
    assert (times > 0) == (motion == "no-preference")
    other = page.locator("#labels button:not(.guess)").first
    teacher.press(other.get_attribute("data-key") or "")
    assert teacher.item == second
    assert moved() == times, "the same item stays as it is"
    if "What tells" in teacher.heading:
        teacher.press("Escape")
    teacher.say(truth[second])
    assert teacher.item != second


def test_nothing_jumps(open_page: OpenPage, begin: Begin, truth: dict[str, str]) -> None:
    """Where the buttons are does not depend on the item, on what was said, or on the guess."""
    teacher = open_page(begin(labels=["mammal", "bird", "fish"]))
    places = set()

    def look() -> None:
        buttons = [teacher.page.locator(f"[data-key='{key}']") for key in "12s"]
        places.add(json.dumps([button.bounding_box() for button in buttons]))

    teacher.teach(truth, 1)
    for key in ("s", "d", "u", "s"):
        teacher.press(key)
        look()
        teacher.say(truth[teacher.item])
        if "I think" in teacher.heading:
            look()
    assert len(places) == 1, places
