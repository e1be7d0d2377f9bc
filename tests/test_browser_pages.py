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
    assert page.locator("#order").input_value() == "random"
    page.focus("#order")
    page.keyboard.press("a")  # "as in the file"; and no key of ours while a choice is made
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
    open_page: OpenPage, begin: Begin, server: Server, truth: dict[str, str]
) -> None:
    session = begin(order="file", labels=["mamal", "fish", "beast"])
    teacher = open_page(session)
    teacher.press("1", "3", "0")
    page = go(teacher, "progress")

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
    go(teacher, "teach")
    assert teacher.label_key("mammal") == "1"
    teacher.say(truth[teacher.item])
    assert [one.type for one in log(server, session)].count("labels merged") == 1


def test_a_rule_is_edited_and_another_dropped(
    open_page: OpenPage, begin: Begin, truth: dict[str, str], server: Server
) -> None:
    session = begin(learner="DFF", order="file")
    teacher = open_page(session)
    while "2 rules" not in teacher.page.inner_text("#status"):
        teacher.say(truth[teacher.item])
    page = go(teacher, "rules")
    before = page.locator("tbody tr").count()
    assert before >= 3
    page.locator("summary").first.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type("milk AND hair")
    page.locator(".said", has_text="Holds on").wait_for()  # checked while it is typed
    with page.expect_navigation():
        page.get_by_role("button", name="change the rule").first.click()
    first = page.locator("tbody tr", has_text="by hand")
    assert "if hair and milk." in first.inner_text()
    count = first.get_by_role("link", name="items that rule")
    assert "items that rule" in (count.get_attribute("aria-label") or "")
    shown = count.inner_text()
    with page.expect_navigation():
        count.click()
    assert page.inner_text(".hint").startswith(f"{shown} items that rule")
    go(teacher, "rules")
    page.get_by_label("edit or drop rule").last.click()
    with page.expect_navigation():
        page.get_by_role("button", name="drop the rule").last.click()
    assert page.locator("tbody tr").count() == before - 1
    assert [one.type for one in log(server, session)][-2:] == ["rule edited", "rule dropped"]


def test_what_is_refused_is_said_in_sight_and_in_one_line(
    open_page: OpenPage, begin: Begin, truth: dict[str, str]
) -> None:
    """On a long page, too: the message is on top, and the form may be far below."""
    teacher = open_page(begin(learner="DFF", order="file"))
    teacher.teach(truth, 3)
    page = go(teacher, "rules")
    page.set_viewport_size({"width": 900, "height": 260})
    page.locator("summary").first.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type("banana > 3")
    page.get_by_role("button", name="change the rule").first.click()
    trouble = page.locator("#trouble")
    trouble.wait_for()
    assert trouble.inner_text().startswith("unknown column 'banana'")
    assert "^" not in trouble.inner_text()
    box = trouble.bounding_box()
    assert box is not None
    assert box["y"] >= 0
    teacher.errors.clear()  # the browser logs that something was refused


def test_any_answer_is_changed_in_the_history(
    open_page: OpenPage, begin: Begin, server: Server, truth: dict[str, str]
) -> None:
    session = begin(order="file", labels=["mammal", "fish"])
    teacher = open_page(session)
    teacher.teach(truth, 3)
    teacher.say("bird")  # a slip: bear
    page = go(teacher, "history")
    page.fill("#q", "bear")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.locator("text=1 of 4 answers").wait_for()
    with page.expect_navigation():
        page.get_by_label("change the answer about bear").press("Enter")
    assert page.inner_text("h1") == "You called bear bird."
    for key in ("1", "Enter"):  # a mammal, as was guessed; save it
        page.wait_for_timeout(LOOK)
        with page.expect_navigation():
            page.keyboard.press(key)
    assert page.inner_text("h1") == "Answers"
    assert page.inner_text(".told").startswith("Changed.")
    said = history(server, session)
    assert [(one["item"]["name"], one["answer"]) for one in said[3:]] == [("bear", "right")]
    go(teacher, "history?mistakes=1")
    assert "bear" not in page.inner_text("main")
    go(teacher, "history")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download all as CSV").click()
    lines = saved.value.path().read_text().splitlines()
    assert lines[0] == "item,label,feature,answer,guess,example,teacher,at,outcome"
    assert [line.split(",")[0] for line in lines[1:]] == ["aardvark", "antelope", "bass", "bear"]
    assert lines[4].startswith("bear,mammal,,right,mammal,")
    go(teacher, "progress")
    labels = page.locator("table").first.locator("tbody tr").all_inner_texts()
    assert [line.split()[:2] for line in labels] == [["mammal", "3"], ["fish", "1"]]
    assert "Ann\t4\t" in page.locator("table").last.inner_text()


def test_long_texts_leave_many_rows_in_sight_and_a_digit_opens_an_answer(
    open_page: OpenPage, begin: Begin, folder: Path
) -> None:
    long = "a long text about many things that nobody reads to its end " * 6
    rows = [f"row {n},{long},{n},{long}" for n in range(12)]
    (folder / "texts.csv").write_text("\n".join(["name,body,size,abstract", *rows]) + "\n")
    teacher = open_page(begin("texts.csv", order="file", labels=["good", "bad"]))
    teacher.press("1", "Enter")
    page = go(teacher, "data")
    heights = "all => all.map(one => one.getBoundingClientRect().height)"
    assert max(page.locator(".stack tbody tr").evaluate_all(heights)) < 110
    cell = page.locator(".clamp").first
    assert cell.inner_text() == long.strip()  # all of it, for those who search or listen
    box = cell.bounding_box()
    assert box
    assert box["width"] >= 180
    cell.click()
    opened = cell.bounding_box()
    assert opened
    assert opened["height"] > 1.5 * box["height"]
    assert [one.inner_text() for one in page.locator(".stack kbd").all()] == ["1", "2"]
    with page.expect_navigation():
        page.keyboard.press("2")
    assert page.inner_text("h1") == "You called row 1 good."
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
    for way in ("SQL", "postgres"):
        page.get_by_role("link", name=way, exact=True).focus()
        with page.expect_navigation():
            page.keyboard.press("Enter")
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
    for way in ("text", "python", "json", "sql, bigquery"):
        go(teacher, f"export?to={way}")
        assert page.inner_text("#text").strip(), way
