"""The pages for looking back."""

from __future__ import annotations

from collections.abc import Callable

from browser_page import Desk, go, history, log
from server_process import Server

Sit = Callable[..., Desk]
Begin = Callable[..., str]


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
