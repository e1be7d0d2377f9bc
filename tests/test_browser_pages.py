"""The pages for looking back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from browser_teacher import LOOK, BrowserTeacher, go, history, log
from server_process import Server

OpenPage = Callable[..., BrowserTeacher]
Begin = Callable[..., str]


def test_the_order_is_switched(open_page: OpenPage, begin: Begin, server: Server) -> None:
    session = begin(labels=["mammal"], order="random", seed=1)
    teacher = open_page(session, path="/progress")
    page = teacher.page
    page.locator("#next summary").press("Enter")
    assert page.locator("#order").input_value() == "random"
    page.focus("#order")
    page.keyboard.press("i")  # "in the order of the file": no key of ours in a choice
    page.keyboard.press("Tab")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.locator("#order").input_value() == "file"
    assert log(server, session)[-1].data["order"] == "file"
    go(teacher, "teach")
    teacher.press("1")
    assert teacher.item in ("aardvark", "antelope")


def test_two_teachers_are_asked_and_disagree(
    open_page: OpenPage, begin: Begin, server: Server, truth: dict[str, str]
) -> None:
    session = begin(labels=["mammal", "bird"], order="random", seed=1)
    ann, bob = open_page(session, path="/progress"), open_page(session, who="Bob")
    page = ann.page
    page.locator("#next summary").click()
    assert page.locator("#overlap").input_value() == "0.0"
    page.select_option("#overlap", label="all")
    with page.expect_navigation():
        page.locator("#next button").last.click()
    assert log(server, session)[-1].data["overlap"] == 1
    go(ann, "teach")
    met = ann.item
    ann.say(truth[met])
    go(bob, "teach")
    while bob.item != met:
        bob.command("skip")
    bob.type("stone")
    if bob.asks_why:
        bob.press("0")
    assert met in go(ann, "answers?tab=disputed").inner_text("main")


def test_labels_are_renamed_and_merged(
    open_page: OpenPage, begin: Begin, server: Server, truth: dict[str, str]
) -> None:
    session = begin(order="file", labels=["mamal", "fish", "beast"])
    teacher = open_page(session)
    teacher.press("1", "3", "0")
    page = go(teacher, "progress")

    def call(label: str, name: str) -> None:
        if not page.locator("#labels[open]").count():
            page.locator("#labels summary").press("Enter")
        page.get_by_label(f"another name for {label}", exact=True).focus()
        page.keyboard.press("Control+a")
        page.keyboard.type(name)
        with page.expect_navigation():
            page.keyboard.press("Enter")

    call("mamal", "mammal")
    call("beast", "mammal")
    assert "mammal2" in "".join((page.locator("#labels table").text_content() or "").split())
    go(teacher, "teach")
    assert "mammal" in (teacher.page.text_content("#labels") or "")
    teacher.say(truth[teacher.item])
    assert [one.type for one in log(server, session)].count("labels merged") == 1


def test_a_rule_is_edited_and_another_dropped(
    open_page: OpenPage, begin: Begin, truth: dict[str, str], server: Server
) -> None:
    session = begin(learner="DFF", order="file")
    teacher = open_page(session)
    while teacher.page.locator("#pages small").all_inner_texts() != ["2"]:
        teacher.say(truth[teacher.item])
    page = go(teacher, "rules?by=order")
    before = page.locator(".rule").count()
    assert before >= 3
    page.locator(".rule summary").first.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type("milk AND hair")
    with page.expect_navigation():
        page.get_by_role("button", name="Save the rule").first.click()
    first = page.locator(".rule", has_text="by hand")
    assert "hair and milk" in first.inner_text()
    count = first.get_by_role("link", name="rows that rule")
    shown = count.inner_text()
    with page.expect_navigation():
        count.click()
    assert page.inner_text(".page-head .lede").startswith(
        f"{shown.split()[0]} of 100 rows that rule"
    )
    go(teacher, "rules?by=order")
    page.locator(".rule summary").last.click()
    with page.expect_navigation():
        page.get_by_role("button", name="Drop the rule").last.click()
    go(teacher, "rules?by=order")
    assert page.locator(".rule").count() == before - 1
    assert [one.type for one in log(server, session)][-2:] == ["rule edited", "rule dropped"]


def test_what_is_refused_is_said_in_sight_and_in_one_line(
    open_page: OpenPage, begin: Begin, truth: dict[str, str]
) -> None:
    """On a long page, too: the message is on top, and the form may be far below."""
    teacher = open_page(begin(learner="DFF", order="file"))
    teacher.teach(truth, 3)
    page = go(teacher, "rules")
    page.set_viewport_size({"width": 900, "height": 260})
    page.locator(".rule summary").first.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type("banana > 3")
    page.get_by_role("button", name="Save the rule").first.click()
    trouble = page.locator("#trouble")
    trouble.wait_for()
    assert trouble.inner_text().startswith("unknown column 'banana'")
    assert "^" not in trouble.inner_text()
    box = trouble.bounding_box()
    assert box is not None
    assert box["y"] >= 0
    teacher.errors.clear()  # the browser logs that something was refused


def test_any_answer_is_changed(
    open_page: OpenPage, begin: Begin, server: Server, truth: dict[str, str]
) -> None:
    session = begin(order="file", labels=["mammal", "fish"])
    teacher = open_page(session)
    teacher.teach(truth, 3)
    teacher.say("bird")  # a slip: bear
    page = go(teacher, "answers")
    page.fill("[name=q]", "bear")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.locator("tbody tr").count() == 1
    with page.expect_navigation():
        page.get_by_label("Change the answer about bear").press("Enter")
    assert " ".join(page.inner_text("h1").split()) == "You called bear bird. What is it?"
    page.wait_for_timeout(LOOK)
    with page.expect_navigation():
        page.keyboard.press("1")  # a mammal, as was guessed
    assert "Changed: bear is mammal now." in page.inner_text(".learnt")
    said = history(server, session)
    assert [(one["item"]["name"], one["answer"]) for one in said[3:]] == [("bear", "right")]
    go(teacher, "answers?mistakes=1")
    assert "bear" not in page.inner_text("main")
    go(teacher, "answers")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download as CSV").click()
    lines = saved.value.path().read_text().splitlines()
    assert lines[0] == "item,label,feature,answer,guess,example,teacher,at,outcome"
    assert [line.split(",")[0] for line in lines[1:]] == ["aardvark", "antelope", "bass", "bear"]
    assert lines[4].startswith("bear,mammal,,right,mammal,")
    times = page.locator("tbody time").all_inner_texts()
    assert all(time.startswith("today, ") for time in times)  # as people here say it


def test_long_texts_leave_many_rows_in_sight(
    open_page: OpenPage, begin: Begin, folder: Path
) -> None:
    long = "a long text about many things that nobody reads to its end " * 6
    rows = [f"row {n},{long},{n},{long}" for n in range(12)]
    (folder / "texts.csv").write_text("\n".join(["name,body,size,abstract", *rows]) + "\n")
    teacher = open_page(begin("texts.csv", order="file", labels=["good", "bad"]))
    teacher.press("1", "Enter")
    page = go(teacher, "data")
    heights = "all => all.map(one => one.getBoundingClientRect().height)"
    assert max(page.locator(".stack tbody tr").evaluate_all(heights)) < 160
    cell = page.locator(".long").first
    assert long.strip() in (cell.text_content() or "")  # all of it, for those who search or listen
    cell.locator("summary").click()
    box = cell.bounding_box()
    assert box
    assert box["height"] > 60
    with page.expect_navigation():
        page.get_by_role("link", name="row 1", exact=True).click()
    assert " ".join(page.inner_text("h1").split()) == "You called row 1 good. What is it?"
    page.wait_for_timeout(LOOK)
    with page.expect_navigation():
        page.keyboard.press("Escape")
    assert page.inner_text("h1") == "Data"


def test_the_rules_are_copied(
    open_page: OpenPage, begin: Begin, truth: dict[str, str], server: Server
) -> None:
    session = begin(order="file")
    teacher = open_page(session)
    teacher.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.address)
    teacher.teach(truth, 5)
    page = go(teacher, "export")
    with page.expect_navigation():
        page.select_option("#dialect", "postgres")
    page.locator("#text", has_text="CASE").wait_for()
    page.evaluate(
        """const button = document.querySelector('[data-copy="#text"]');
           const look = () => button.dataset.said = [button.dataset.said] + button.textContent;
           new MutationObserver(look).observe(button, {childList: true})"""
    )
    page.focus('[data-copy="#text"]')
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-said=CopiedCopy]")  # it says so for a while only
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.locator("#text").text_content()
    assert "WHEN" in copied
    for way in ("to=text", "to=python", "to=json-rules", "to=sql&dialect=bigquery"):
        go(teacher, f"export?{way}")
        assert page.inner_text("#text").strip(), way
