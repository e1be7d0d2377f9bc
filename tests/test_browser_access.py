"""The page for those who listen, zoom, or have nothing but keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from browser_teacher import PAGES, BrowserTeacher, disagree, go, narrow

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
        assert turn
    teacher.command("skip")
    assert "comes back later." in str(page.text_content("#voice"))
    assert page.get_attribute("#voice", "data-same") == "1"  # the element itself stays
    assert page.evaluate("document.activeElement.id") == "say"
    assert page.evaluate("document.activeElement.getAttribute('aria-describedby')") == "ask"
    seen = names(page)
    assert any(role == "button" and name.startswith("Yes, ") for role, name in seen)
    assert ("textbox", "No, it is") in seen
    assert [role for role, _ in seen].count("heading") == 1
    disagree(teacher)
    assert ("button", "0 I cannot name one thing") in names(page)
    for path in ("teach", *PAGES):
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
            what: one.dataset.action ?? one.dataset.key ?? one.id,
            name: one.outerHTML.slice(0, 120),
            seen: Boolean(there) && (one.contains(there) || there.contains(one)),
            marked: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
            end: one === document.body,
        };
    }"""
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
    seen = set(tabbed(page))
    assert {"right", "say", "more"} <= seen
    disagree(teacher)
    assert narrow(page)
    assert {"why", "none", "back", "1"} <= set(tabbed(page))
    for top in (0, 10_000):  # how it stands is always in sight, but where Save needs the room
        page.evaluate("top => scrollTo(0, top)", top)
        box = page.locator(".foot" if width > 544 else ".compose").bounding_box()
        assert box
        assert 0 <= box["y"] < box["y"] + box["height"] <= height


def test_long_labels_push_nothing_aside(
    open_page: OpenPage, begin: Begin, truth: dict[str, str]
) -> None:
    long = "invertebrate" * 15
    teacher = open_page(begin(labels=["mammal", "invertebrate", long]))
    teacher.type(long)
    assert narrow(teacher.page)
    teacher.teach(truth, 3)
    for path in ("teach", *PAGES):
        assert narrow(go(teacher, path)), path


def test_pages_fit_a_phone(open_page: OpenPage, begin: Begin, truth: dict[str, str]) -> None:
    phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
    teacher = open_page(begin(order="random", seed=2), **phone)
    teacher.teach(truth, 20)
    for path in PAGES:
        page = go(teacher, path)
        assert narrow(page), path
        link = page.locator("nav [aria-current]").first
        if link.count() and path != "help":
            box = link.bounding_box()
            assert box, path
            assert 0 <= box["x"] < box["x"] + box["width"] <= 361, path


def test_nothing_jumps(open_page: OpenPage, begin: Begin, truth: dict[str, str]) -> None:
    """The digit of a label stays its own, whatever is asked and guessed."""
    teacher = open_page(begin(labels=["mammal", "bird", "fish"]))
    for _ in range(8):
        teacher.say(truth[teacher.item])
        for digit, label in (("1", "mammal"), ("2", "bird"), ("3", "fish")):
            yes = teacher.page.locator("button.yes")
            if teacher.guess == label:
                assert digit in (yes.get_attribute("data-key") or "").split()
            else:
                assert teacher.label_key(label) == digit
