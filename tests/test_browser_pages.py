"""The pages for looking back, every kind of answer, and the page for those who listen or zoom."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from browsing import Desk, history, narrow
from served import Server
from teaching import plain
from tellapart.console import talk
from tellapart.console.keyboard import Piped
from tellapart.sessions import Event, Session, Store
from tellapart.sessions.keys import read_keys

Sit = Callable[..., Desk]
Begin = Callable[..., str]


def go(desk: Desk, path: str) -> Any:
    """Another page of the session."""
    session = desk.page.url.split("/s/")[1].split("/")[0]
    desk.page.goto(f"{desk.server.address}/s/{session}/{path}")
    return desk.page


def log(server: Server, session: str) -> list[Event]:
    with server.client("Ann") as client:
        lines = client.get(f"/api/sessions/{session}/log").text.splitlines()
    return [Event.read(line) for line in lines]


# -- looking back


def test_the_order_is_switched(sit: Sit, begin: Begin, server: Server) -> None:
    session = begin(labels=["mammal"], order="random", seed=1)
    desk = sit(session, path="/progress")
    page = desk.page
    assert page.locator("#order").input_value() == "random"
    page.focus("#order")
    page.keyboard.press("a")  # "as in the file"; and no key of ours while a choice is made
    page.keyboard.press("Tab")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.locator("#order").input_value() == "file"
    assert log(server, session)[-1].data["order"] == "file"
    go(desk, "teach")
    desk.press("1")
    assert desk.item in ("aardvark", "antelope")


def test_two_teachers_are_asked_and_disagree(
    sit: Sit, begin: Begin, server: Server, truth: dict[str, str]
) -> None:
    session = begin(labels=["mammal", "bird"], order="random", seed=1)
    ann, bob = sit(session, path="/progress"), sit(session, who="Bob")
    page = ann.page
    assert page.locator("#overlap").input_value() == "0.0"
    page.select_option("#overlap", label="all")
    with page.expect_navigation():
        page.get_by_role("button", name="switch").last.click()
    assert page.locator("#overlap").input_value() == "1.0"
    assert log(server, session)[-1].data["overlap"] == 1
    go(ann, "teach")
    met = ann.item
    ann.say(truth[met])
    go(bob, "teach")
    while bob.item != met:
        bob.press("s")
    bob.write("l", "stone")
    if "What tells" in bob.heading:
        bob.press("0")
    assert met in go(ann, "disagreements").inner_text("main")


def test_labels_are_renamed_and_merged(
    sit: Sit, begin: Begin, server: Server, truth: dict[str, str]
) -> None:
    session = begin(order="file", labels=["mamal", "fish", "beast"])
    desk = sit(session)
    desk.press("1", "3", "0")
    page = go(desk, "progress")

    def call(label: str, name: str) -> None:
        page.get_by_label(f"rename or merge {label}", exact=True).press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.press("Control+a")
        page.keyboard.type(name)
        with page.expect_navigation():
            page.keyboard.press("Enter")

    call("mamal", "mammal")
    call("beast", "mammal")
    assert "mammal\t2\t" in page.locator("table").first.inner_text()
    go(desk, "teach")
    assert desk.label_key("mammal") == "1"
    desk.say(truth[desk.item])
    assert [one.type for one in log(server, session)].count("labels merged") == 1


def test_a_rule_is_edited_and_another_dropped(
    sit: Sit, begin: Begin, truth: dict[str, str], server: Server
) -> None:
    session = begin(learner="DFF", order="file")
    desk = sit(session)
    while "2 rules" not in desk.page.inner_text("#status"):
        desk.say(truth[desk.item])
    page = go(desk, "rules")
    before = page.locator("tbody tr").count()
    assert before >= 3
    page.locator("summary").first.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type("milk AND hair")
    with page.expect_navigation():
        page.get_by_role("button", name="change the rule").first.click()
    first = page.locator("tbody tr", has_text="by hand")
    assert "if hair and milk." in first.inner_text()
    count = first.get_by_role("link")
    assert "items that rule" in (count.get_attribute("aria-label") or "")
    shown = count.inner_text()
    with page.expect_navigation():
        count.click()
    assert page.inner_text(".hint").startswith(f"{shown} items that rule")
    go(desk, "rules")
    page.locator("summary").last.click()
    with page.expect_navigation():
        page.get_by_role("button", name="drop the rule").last.click()
    assert page.locator("tbody tr").count() == before - 1
    assert [one.type for one in log(server, session)][-2:] == ["rule edited", "rule dropped"]


def test_any_answer_is_changed_in_the_history(
    sit: Sit, begin: Begin, server: Server, truth: dict[str, str]
) -> None:
    session = begin(order="file", labels=["mammal", "fish"])
    desk = sit(session)
    desk.teach(truth, 3)
    desk.say("bird")  # a slip: bear
    page = go(desk, "history")
    page.fill("#q", "bear")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.locator("text=1 of 4 answers").wait_for()
    page.get_by_label("change the answer about bear").press("Enter")
    with page.expect_navigation():
        page.get_by_role("button", name="the guess was right").press("Enter")
    said = history(server, session)
    assert [(one["item"]["name"], one["answer"]) for one in said[3:]] == [("bear", "right")]
    go(desk, "history?mistakes=1")
    assert "bear" not in page.inner_text("main")
    go(desk, "history")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download all as CSV").click()
    lines = saved.value.path().read_text().splitlines()
    assert lines[0] == "item,label,feature,answer,guess,example,teacher,at"
    assert [line.split(",")[0] for line in lines[1:]] == ["aardvark", "antelope", "bass", "bear"]
    assert lines[4].startswith("bear,mammal,,right,mammal,")
    go(desk, "progress")
    labels = page.locator("table").first.locator("tbody tr").all_inner_texts()
    assert [line.split()[:2] for line in labels] == [["mammal", "3"], ["fish", "1"]]
    assert "Ann\t4\t" in page.locator("table").last.inner_text()


def test_the_rules_are_copied(
    sit: Sit, begin: Begin, truth: dict[str, str], server: Server
) -> None:
    session = begin(order="file")
    desk = sit(session)
    desk.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.address)
    desk.teach(truth, 5)
    page = go(desk, "export")
    page.select_option("#to", "sql, postgres")
    with page.expect_navigation():
        page.get_by_role("button", name="show").click()
    page.locator("#text", has_text="CASE").wait_for()
    page.evaluate(
        """const button = document.querySelector('[data-copy]');
           const look = () => button.dataset.said = [button.dataset.said] + button.textContent;
           new MutationObserver(look).observe(button, {childList: true})"""
    )
    page.focus("[data-copy]")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-said=copiedcopy]")  # it says so for a while only
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.locator("#text").text_content()
    assert "WHEN" in copied
    for way in page.locator("#to option").all_inner_texts():
        go(desk, f"export?to={way}")
        assert page.inner_text("#text").strip(), way


# -- every kind of answer


def disagree(desk: Desk) -> str:
    """Say that the guess is wrong; returns the label that was chosen."""
    button = desk.page.locator("#labels button:not(.guess)").first
    label = button.get_attribute("value") or ""
    desk.press(button.get_attribute("data-key") or "")
    assert desk.heading.startswith(f"{desk.item} is {label}. What tells it from")
    return label


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


# -- for those who listen, zoom, or have nothing but keys


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
    sit: Sit, begin: Begin, truth: dict[str, str]
) -> None:
    session = begin(labels=["mammal", "bird", "fish"])
    desk = sit(session)
    page = desk.page
    assert page.get_attribute("#voice", "role") == "status"
    page.evaluate("document.getElementById('voice').dataset.same = 1")
    for turn in range(1, 6):
        desk.say(truth[desk.item])
        told = page.text_content("#voice")
        assert desk.heading in " ".join(str(told).split())
        assert f"Saved up to item {turn}" in str(told)
    desk.press("s")
    assert "Skipped: it comes back later." in str(page.text_content("#voice"))
    assert page.get_attribute("#voice", "data-same") == "1"  # the element itself stays
    assert page.evaluate("document.activeElement.tagName") == "H1"
    seen = names(page)
    assert ("button", "Enter right, next") in seen
    assert ("textbox", "type a label, old or new; Enter takes the first that fits") in seen
    assert [role for role, _ in seen].count("heading") == 1
    disagree(desk)
    assert ("button", "0 no single feature does") in names(page)
    for path in ("teach", "rules", "progress", "history", "odd", "data", "export", "help"):
        go(desk, path)
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
    sit: Sit, begin: Begin, truth: dict[str, str], width: int, height: int
) -> None:
    """640 x 360 is 1280 x 720 at 200 % zoom."""
    session = begin(labels=["mammal", "bird", "fish"])
    desk = sit(session, viewport={"width": width, "height": height})
    desk.teach(truth, 6)
    page = desk.page
    assert narrow(page)
    keys = set(tabbed(page))
    assert {"enter", "s", "d", "u", "h", "l", "n", "1", "2", "3"} <= keys
    disagree(desk)
    assert narrow(page)
    assert {"f", "x", "t", "0", "escape", "1"} <= set(tabbed(page))
    if height > 480:  # where there is room, how it stands is always in sight
        for top in (0, 10_000):
            page.evaluate("top => scrollTo(0, top)", top)
            box = page.locator(".status").bounding_box()
            assert box
            assert 0 < box["y"] < box["y"] + box["height"] <= height


def test_long_labels_push_nothing_aside(sit: Sit, begin: Begin, truth: dict[str, str]) -> None:
    long = "invertebrate" * 15
    desk = sit(begin(labels=["mammal", "invertebrate", long]))
    desk.write("l", long)
    desk.teach(truth, 3)
    for path, last in (
        ("help", ".means input[type=text]"),
        ("rules", ".list thead th:last-child"),
        ("progress", ".list details"),
    ):
        page = go(desk, path)
        assert narrow(page), path
        box = page.locator(last).first.bounding_box()
        assert box, path
        assert box["x"] + box["width"] <= 1280, path
    page = go(desk, "help")
    for form in page.locator(".means").all():  # a name does not run into its box
        name = form.locator("label").evaluate(
            "it => { const r = document.createRange(); r.selectNodeContents(it);"
            " return r.getBoundingClientRect().right }"
        )
        box = form.locator("input[type=text]").bounding_box()
        assert box
        assert name <= box["x"]


def test_nothing_jumps(sit: Sit, begin: Begin, truth: dict[str, str]) -> None:
    """Where the buttons are does not depend on the item, on what was said, or on the guess."""
    desk = sit(begin(labels=["mammal", "bird", "fish"]))
    places = set()
    desk.teach(truth, 1)
    for key in ("s", "d", "u", "s"):
        desk.press(key)
        places.add(
            json.dumps([desk.page.locator(f"[data-key='{k}']").bounding_box() for k in "12s"])
        )
        desk.say(truth[desk.item])
        if "I think" in desk.heading:
            places.add(
                json.dumps([desk.page.locator(f"[data-key='{k}']").bounding_box() for k in "12s"])
            )
    assert len(places) == 1, places
