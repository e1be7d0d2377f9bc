"""The first page and the pages for looking back, with nothing but keys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from browser_teacher import LOOK, PAGES, BrowserTeacher, go, log, narrow
from server_process import Server

OpenPage = Callable[..., BrowserTeacher]
Begin = Callable[..., str]


def tab_to(page: Any, wanted: str, most: int = 80) -> None:
    """Press Tab until what is called so has the focus."""
    look = """() => { const one = document.activeElement;
        return one.getAttribute("aria-label") ?? one.labels?.[0]?.innerText ?? one.innerText }"""
    for _ in range(most):
        page.keyboard.press("Tab")
        if wanted in str(page.evaluate(look)):
            return
    raise AssertionError(f"no Tab leads to {wanted!r}")


def test_from_home_to_a_session_and_back(open_page: OpenPage, begin: Begin) -> None:
    session = begin(labels=["mammal"])
    teacher = open_page(session)
    page = teacher.page
    page.locator("header a").first.focus()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.locator("h1").inner_text() == "Teach a table to sort itself"
    tab_to(page, session)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.url.endswith(f"/s/{session}/teach")


def test_a_table_is_added_at_home(open_page: OpenPage, begin: Begin, tmp_path: Path) -> None:
    teacher = open_page(begin())
    page = teacher.page
    page.goto(f"{teacher.server.address}/?all=1")
    new = tmp_path / "pets of mine.csv"
    new.write_text("pet,legs\n" + "".join(f"pet {n},{n % 5}\n" for n in range(20)))
    bad = tmp_path / "bad.csv"
    bad.write_text("")
    page.set_input_files("#file", str(bad))
    page.locator("#dropped.bad").wait_for()
    assert "bad.csv" in page.inner_text("#dropped")
    teacher.errors.clear()  # the browser logs a 422
    with page.expect_navigation():
        page.set_input_files("#file", str(new))
    assert page.locator("h1").inner_text() == "pets of mine.csv: 20 rows, 2 columns"
    page.wait_for_timeout(LOOK)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.wait_for_selector("#card")
    assert page.url.endswith("/s/pets%20of%20mine/teach")
    assert teacher.item.startswith("pet ")
    page.goto(f"{teacher.server.address}/?all=1")
    zone = page.locator("#drop").bounding_box()
    assert zone
    drop = """name => {
        const data = new DataTransfer();
        data.items.add(new File(["pet,legs\\na,1\\nb,2\\n"], name));
        const drop = document.getElementById("drop");
        drop.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true}));
    }"""
    with page.expect_navigation():
        page.evaluate(drop, "dropped.csv")
    assert page.locator("h1").inner_text() == "dropped.csv: 2 rows, 2 columns"
    page.wait_for_timeout(LOOK)
    with page.expect_navigation():
        page.keyboard.press("Escape")
    assert page.locator("h1").inner_text() == "Teach a table to sort itself"


def test_labels_that_are_there_already_are_taken_with_a_bar(
    open_page: OpenPage, begin: Begin, folder: Path
) -> None:
    rows = "".join(f"p{n},{n % 5},{'big' if n % 5 > 2 else 'small'}\n" for n in range(200))
    (folder / "sizes.csv").write_text("pet,legs,size\n" + rows)
    teacher = open_page(begin())
    page = teacher.page
    page.goto(f"{teacher.server.address}/read?table=sizes.csv")
    page.select_option("#labels", "start:size")
    page.wait_for_timeout(LOOK)
    page.get_by_role("button", name="Begin").click()
    page.locator("h1", has_text="200 labels of size are first answers").wait_for()
    assert page.url.endswith("/s/sizes/take?column=size")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert "That was the last row" in page.inner_text("#card")
    (folder / "sizes.csv").unlink()


def test_an_error_is_a_page(open_page: OpenPage, begin: Begin) -> None:
    teacher = open_page(begin())
    page = teacher.page
    page.goto(f"{teacher.server.address}/s/no such session/rules")
    assert page.locator("h1").inner_text() == "This page does not exist"
    tab_to(page, "All tables")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.locator("h1").inner_text() == "Teach a table to sort itself"
    teacher.errors.clear()  # the browser logs a 404


def test_unsure_rows_are_left_for_a_person(
    open_page: OpenPage, begin: Begin, truth: dict[str, str], server: Server
) -> None:
    session = begin(order="file")
    teacher = open_page(session)
    teacher.teach(truth, 4)
    page = go(teacher, "export?unsure=null")
    tab_to(page, "Do so everywhere")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert log(server, session)[-1].data["unsure"] == "null"
    assert "rows are left empty" in page.inner_text("main")
    assert "NULL" in page.inner_text("#text")


def test_data_is_filtered_and_sorted_by_keys(
    open_page: OpenPage, begin: Begin, truth: dict[str, str]
) -> None:
    teacher = open_page(begin(order="file"))
    teacher.teach(truth, 5)
    page = go(teacher, "data")

    def first() -> str:
        return str(page.locator("tbody tr td").first.inner_text())

    assert first() == "aardvark"
    tab_to(page, "eggs")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.locator("th[aria-sort=ascending]").inner_text().startswith("eggs")
    tab_to(page, "eggs")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.locator("th[aria-sort=descending]").count() == 1
    page.focus("#taught")
    page.keyboard.press("n")  # not yet
    page.keyboard.press("Tab")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.locator("tbody tr >> nth=0 >> td >> nth=2").inner_text().strip() == ""
    assert page.locator("th[aria-sort=descending]").count() == 1  # the order stays


def test_rows_are_assigned_on_the_page(
    open_page: OpenPage, begin: Begin, server: Server, truth: dict[str, str]
) -> None:
    session = begin(order="file")
    teacher = open_page(session, path="/answers?tab=disputed")
    page = teacher.page
    page.locator(".assign", has_text="Bob").locator("[name=where]").focus()
    page.keyboard.type("feathers")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert log(server, session)[-1].data["assignments"] == {"Bob": {"where": "feathers"}}
    bob = open_page(session, who="Bob")
    assert truth[bob.item] == "bird"


@pytest.mark.parametrize("width", [360, 1280])
def test_a_page_weighs_little(
    open_page: OpenPage, begin: Begin, truth: dict[str, str], width: int
) -> None:
    """Under 60 kB is sent for a page, with its style and scripts, without pictures."""
    session = begin(labels=[f"a label with a long name, number {n} of sixty" for n in range(60)])
    teacher = open_page(session, viewport={"width": width, "height": 640})
    teacher.teach(truth, 30)
    page = teacher.page
    weights: dict[str, int] = {}

    def weigh(answer: Any) -> None:
        if "image" not in answer.headers.get("content-type", ""):
            weights[answer.url] = answer.request.sizes()["responseBodySize"]

    page.on("response", weigh)
    for path in (*(f"/s/{session}/{name}" for name in (*PAGES, "teach")), "/?all=1"):
        weights.clear()
        page.goto(teacher.server.address + path, wait_until="networkidle")
        assert narrow(page), path
        assert 0 < sum(weights.values()) < 60_000, (path, weights)


PHONE: dict[str, Any] = {"has_touch": True, "is_mobile": True}


def test_on_a_phone_the_answer_is_in_reach(open_page: OpenPage, begin: Begin) -> None:
    teacher = open_page(begin(labels=["mammal"]), viewport={"width": 390, "height": 740}, **PHONE)
    teacher.press("1")
    page = teacher.page
    assert page.evaluate("document.activeElement.id") != "say", "the keyboard covers the row"
    for part in ("button.yes", "#say"):
        box = page.locator(part).bounding_box()
        assert box
        assert box["y"] + box["height"] <= 740, "an answer needs no scrolling"
        assert box["height"] >= 44
    assert page.locator("kbd:visible").count() == 0
    assert narrow(page)
    page.locator("#say").tap()
    page.keyboard.type("bird")
    page.keyboard.press("Enter")
    page.locator("#why").wait_for()
    box = page.locator(".compose .main").bounding_box()
    assert box
    assert box["y"] + box["height"] <= 740, "Save is in sight"
    assert narrow(page)
    with teacher.new_card():
        word = page.locator(".word:visible, .chip:visible").first
        page.wait_for_timeout(LOOK)
        word.tap()
        page.wait_for_timeout(LOOK)  # a second look, and a second tap
        word.tap()
    assert "New rule" in page.inner_text(".learnt")


@pytest.mark.parametrize("width", [1280, 360])
def test_a_table_with_a_long_name_does_not_widen_the_first_page(
    open_page: OpenPage, begin: Begin, folder: Path, width: int
) -> None:
    table = folder / f"{'a' * 105}.csv"
    table.write_text("name,legs\nbear,4\n")
    try:
        teacher = open_page(begin(), viewport={"width": width, "height": 740})
        teacher.page.goto(f"{teacher.server.address}/?all=1")
        assert table.name in teacher.page.inner_text("select")
        assert narrow(teacher.page)
    finally:
        table.unlink()


def test_a_sample_is_taught_at_once(open_page: OpenPage, begin: Begin) -> None:
    teacher = open_page(begin())
    page = teacher.page
    page.goto(f"{teacher.server.address}/?all=1")
    with page.expect_navigation():
        page.get_by_role("button", name="A bank statement").click()
    assert page.url.endswith("/s/bank/teach")
    assert "400 rows, named by payee." in page.inner_text("#foot")
