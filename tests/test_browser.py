"""The teaching page in a real browser."""

from __future__ import annotations

import json
import os
import random
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from browser_teacher import (
    LOOK,
    PAGES,
    TEAM,
    BrowserTeacher,
    disagree,
    history,
    narrow,
    violations,
    write_zoo,
)
from server_process import Server, serving
from teaching import fill_disk

OpenPage = Callable[..., BrowserTeacher]


def test_ten_items_by_keyboard_then_undo_two_then_reload(
    open_page: OpenPage, begin: Callable[..., str], server: Server, truth: dict[str, str]
) -> None:
    session = begin()
    teacher = open_page(session)
    assert teacher.heading == f"What is {teacher.item}?"
    assert teacher.page.locator("#pages a").count() == 0  # nothing to look at yet
    seen = []
    for _ in range(10):
        seen.append(teacher.item)
        teacher.say(truth[teacher.item])
    assert len(set(seen)) == 10
    said = history(server, session)
    assert [(one["item"]["name"], one["label"] or one["guess"]) for one in said] == [
        (name, truth[name]) for name in seen
    ]
    assert "Saved. 10 of 100 rows taught." in " ".join(teacher.screen[2].split())
    teacher.undo()
    assert teacher.page.inner_text(".learnt").startswith(f"Undone: {seen[9]} is open again.")
    assert teacher.item == seen[9]
    teacher.undo()
    assert teacher.item == seen[8]
    before = teacher.screen
    teacher.page.reload()
    assert teacher.screen == before
    assert "8 of 100 rows taught." in before[2]
    teacher.redo()
    teacher.redo()
    assert [one["undone"] for one in history(server, session)] == [False] * 10


def test_a_reason_with_a_mistake_in_it_is_mended(
    open_page: OpenPage, begin: Callable[..., str], server: Server
) -> None:
    session = begin(labels=["mammal", "bird"])
    teacher = open_page(session)
    teacher.press("1")
    assert teacher.guess == "mammal"
    teacher.press("2")
    page = teacher.page
    page.keyboard.type("legz >= 0")
    page.locator("#means", has_text="legz").wait_for()
    assert "bad" in (page.get_attribute("#means", "class") or "")
    page.keyboard.press("Escape")
    page.keyboard.type("asdfgh")
    page.locator("#means.bad").wait_for()
    teacher.press("Enter")  # refused, and what was written is still there, to be written anew
    assert page.input_value("#why:focus") == "asdfgh"
    assert page.evaluate("getSelection().toString()") == "asdfgh"
    assert history(server, session)[1:] == []
    page.keyboard.type("x")
    assert page.input_value("#why") == "x"
    told = page.locator("#reasons button").first.get_attribute("data-said") or ""
    page.fill("#why", told)
    page.wait_for_selector("#means.good")
    assert re.search(r"True of this row (and|alone)", page.inner_text("#means"))
    page.focus("#why")
    teacher.press("Enter")
    text = page.text_content("#card") or ""
    assert "New rule" in text
    assert history(server, session)[1]["feature"] is not None


def test_enter_takes_the_reason_that_was_meant_if_it_tells_the_rows_apart(
    open_page: OpenPage, begin: Callable[..., str], server: Server
) -> None:
    session = begin(labels=["mammal", "bird"])
    teacher = open_page(session)
    teacher.press("Enter")  # nothing is typed yet
    assert teacher.page.inner_text(".learnt") == "Type a label first."
    assert teacher.page.input_value("#say:focus") == ""
    teacher.press("1")
    teacher.press("2")
    item = teacher.item
    teacher.page.keyboard.type(item)
    hint = f'Did you mean name contains "{item}"? Enter takes it.'
    teacher.page.locator("#means", has_text=hint).wait_for()
    teacher.press("Enter")
    assert history(server, session)[1]["feature"] == f"name ILIKE '%{item}%'"


def test_two_browsers_two_teachers_one_session(
    open_page: OpenPage, begin: Callable[..., str], server: Server, truth: dict[str, str]
) -> None:
    session = begin(overlap=1.0)
    ann, bob = open_page(session), open_page(session, "Bob")
    assert ann.item != bob.item
    ann.teach(truth, 3)
    bob.teach(truth, 3)
    ann.teach(truth, 1)
    assert {one["teacher"] for one in history(server, session)} == {"Ann", "Bob"}
    bob.page.goto(f"{server.address}/s/{session}/answers?tab=disputed")
    assert "Nobody disagrees" in bob.page.inner_text("h1")


def test_keys_rest_while_typing(
    open_page: OpenPage, begin: Callable[..., str], server: Server
) -> None:
    session = begin(labels=["mammal", "bird"])
    teacher = open_page(session)
    teacher.press("1")
    before = teacher.screen
    page = teacher.page
    page.keyboard.press("/")
    page.keyboard.type("note")
    page.keyboard.press("Enter")
    page.keyboard.type("u1 s d 2 /skip?")
    assert page.input_value("[name=text]:focus") == "u1 s d 2 /skip?"
    assert teacher.screen == before
    teacher.press("Enter")
    with server.client("Ann") as client:
        notes = client.get(f"/api/sessions/{session}/notes").json()["notes"]
    assert [note["text"] for note in notes] == ["u1 s d 2 /skip?"]
    assert page.inner_text(".learnt") == "Note saved."
    page.keyboard.type("what?/2")
    assert page.input_value("#say") == "what?/2"
    assert not page.locator("dialog[open]").count()
    page.keyboard.press("Control+z")  # the text's own
    page.keyboard.press("Escape")
    assert page.input_value("#say") == ""
    assert teacher.screen == before
    page.keyboard.press("Control+u")  # the browser's own
    assert teacher.screen == before
    assert len(history(server, session)) == 1


def test_single_keys_can_be_switched_off(
    open_page: OpenPage, begin: Callable[..., str], server: Server
) -> None:
    session = begin(labels=["mammal", "bird"])
    teacher = open_page(session)
    teacher.press("1")
    page = teacher.page
    page.keyboard.press("?")
    page.locator("dialog[open] [data-single]").click()
    page.keyboard.press("Escape")
    for key in ("2", "0", "/", "?"):
        page.keyboard.press(key)
        page.keyboard.press("Escape")
    assert not page.locator("dialog[open]").count()
    assert len(history(server, session)) == 1
    teacher.press("Enter")  # still yes
    assert [one["answer"] for one in history(server, session)] == ["wrong", "right"]


def test_help_and_commands_are_windows_that_give_the_focus_back(
    open_page: OpenPage, begin: Callable[..., str], server: Server
) -> None:
    session = begin(labels=["mammal", "bird"])
    teacher = open_page(session)
    teacher.press("1")
    page = teacher.page
    focused = "document.activeElement.id"
    assert page.evaluate(focused) == "say"
    for key, name in (("?", "help"), ("/", "menu")):
        page.keyboard.press(key)
        assert page.locator(f"#{name}[open]").count() == 1
        page.keyboard.press("2")
        page.keyboard.press("Escape")
        assert page.locator("dialog[open]").count() == 0
        assert page.evaluate(focused) == "say"
    page.keyboard.press("/")
    page.keyboard.type("ski")
    assert page.locator("#commands li:visible").count() == 1
    teacher.press("Enter")
    assert [one["answer"] for one in history(server, session)] == ["wrong", "skipped"]


PICKING = "name,text,amount\none,red sushi bar,-55\ntwo,green shop,-20\nthree,blue sushi,-70\n"


def test_a_reason_is_picked_in_the_row_by_arrows_or_click(
    open_page: OpenPage, begin: Callable[..., str], server: Server, folder: Path
) -> None:
    (folder / "picking.csv").write_text(PICKING)
    session = begin("picking.csv", order="file", labels=["food", "things"])
    teacher = open_page(session)
    page = teacher.page
    teacher.press("1", "2")
    assert teacher.asks_why
    page.keyboard.press("ArrowRight")
    assert page.input_value("#why") == 'text contains "green"'
    page.locator("#means", has_text="True of this row alone.").wait_for()
    page.keyboard.press("Shift+ArrowRight")
    assert page.input_value("#why") == 'text contains "green shop"'
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.input_value("#why").startswith("amount >= -")
    page.keyboard.type("abc")  # a letter begins anew
    assert page.input_value("#why") == "abc"
    page.keyboard.press("ArrowLeft")  # and arrows move the caret
    assert page.input_value("#why") == "abc"
    page.keyboard.press("Escape")
    word = page.locator(".word", has_text="shop")
    word.click()
    assert page.input_value("#why") == 'text contains "shop"'
    assert word.get_attribute("aria-pressed") == "true"
    assert len(history(server, session)) == 1  # nothing is said yet
    with teacher.new_card():
        word.click()
    assert history(server, session)[1]["feature"] == "text ILIKE '%shop%'"
    assert "New rule: things if text contains" in " ".join(page.inner_text(".learnt").split())


def test_pages_work_without_a_script(
    browser: Any, begin: Callable[..., str], server: Server
) -> None:
    session = begin(labels=["mammal", "bird"])
    teacher = BrowserTeacher(browser, server, "Ann", java_script_enabled=False).open(session)
    page = teacher.page

    def click(what: str) -> None:
        with page.expect_navigation():
            page.locator(what).first.click()

    click('#labels button[value="mammal"]')
    assert "Is" in page.inner_text("#ask")
    click('#labels button[value="bird"]')
    assert "Why is" in page.inner_text("#ask")
    click("#reasons button")
    assert "New rule" in page.inner_text(".learnt")
    click("[data-key='ctrl+z']")
    assert "Undone" in page.inner_text(".learnt")
    click("[data-open=menu]")
    assert "/rules" in page.inner_text("main")
    assert [one["undone"] for one in history(server, session)] == [False, True]
    teacher.close()


def test_typing_filters_and_enter_takes_the_first_unless_it_is_new(
    open_page: OpenPage, begin: Callable[..., str], server: Server
) -> None:
    session = begin(labels=["mandrill", "big cat", "cat"])
    teacher = open_page(session)
    teacher.type("cat")  # the one called so, though another has it in it
    teacher.page.keyboard.type("man")
    lines = teacher.page.locator("#labels li:visible")
    assert [line.split()[-1] for line in lines.all_inner_texts()] == ["mandrill", "man"]
    assert lines.first.get_attribute("class") == "taken"
    teacher.press("Enter")
    assert "mandrill" in teacher.heading
    teacher.press("0")
    teacher.type("new: man")
    teacher.press("0")
    teacher.type("a duck")
    teacher.press("0")
    said = [answer["label"] for answer in history(server, session)]
    assert said == ["cat", "mandrill", "man", "duck"]
    with server.client("Ann") as client:
        assert client.get(f"/api/sessions/{session}").json()["settings"]["articles"] == {
            "duck": "a"
        }


def test_the_next_nine_suggestions_get_the_digits(
    open_page: OpenPage, begin: Callable[..., str], server: Server, folder: Path
) -> None:
    dice = random.Random(4)
    wide = [["a", *["true"] * 14], ["b", *["false"] * 14]]
    wide += [[f"c{n}", *dice.choices(("true", "false"), k=14)] for n in range(40)]
    lines = [",".join(["name", *(f"c{n}" for n in range(14))]), *map(",".join, wide)]
    (folder / "wide.csv").write_text("\n".join(lines) + "\n")
    session = begin("wide.csv", order="file", labels=["one", "other"])
    teacher = open_page(session)
    teacher.press("1", "2")
    lines = teacher.page.locator("#reasons li:not(.new) button")
    wanted = [lines.nth(place).get_attribute("value") for place in range(lines.count())]
    assert len(wanted) > 9

    def with_digits() -> list[str | None]:
        found = [teacher.page.locator(f'#reasons [data-key="{n}"]') for n in range(1, 10)]
        return [one.get_attribute("value") for one in found if one.count()]

    assert with_digits() == wanted[:9]
    teacher.page.keyboard.press("PageDown")
    assert with_digits() == wanted[9:18]
    teacher.page.keyboard.press("PageUp")
    assert with_digits() == wanted[:9]
    teacher.page.keyboard.press("PageDown")
    teacher.press("1")
    assert history(server, session)[-1]["feature"] == wanted[9]


def test_meanings_are_written_and_rows_looked_for_by_keyboard(
    open_page: OpenPage, begin: Callable[..., str], server: Server
) -> None:
    session = begin(labels=["mammal", "bird"])
    teacher = open_page(session)
    page = teacher.page
    teacher.press("1")
    with page.expect_navigation():
        page.keyboard.press("/")
        page.keyboard.type("lab")
        page.keyboard.press("Enter")
    page.locator("#labels summary").press("Enter")
    page.focus("#means-2")
    page.keyboard.type("has feathers")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.wait_for_selector('#means-2[value="has feathers"]', state="attached")
    teacher.open(session)
    assert "has feathers" in page.inner_text("#labels")
    teacher.command("find feathers AND NOT airborne")
    assert "Only rows that fit" in page.inner_text("#card")
    first = teacher.item
    teacher.say("bird")
    assert history(server, session)[1]["label"] == "bird"
    assert teacher.item != first
    page.goto(f"{server.address}/s/{session}/data?q=platypus")
    with page.expect_navigation():
        page.get_by_role("button", name="Teach these rows next").press("Enter")
    assert teacher.item == "platypus"


def test_twice_is_once(open_page: OpenPage, begin: Callable[..., str], server: Server) -> None:
    session = begin(labels=["mammal"])
    teacher = open_page(session)
    teacher.press("1")
    page = teacher.page
    sent: list[str] = []
    page.on("request", lambda asked: sent.append(asked.url) if asked.method == "POST" else None)
    page.evaluate("document.getElementById('card').dataset.old = 1")
    page.dblclick("button.yes")
    page.wait_for_selector("#card:not([data-old])")
    assert len(sent) == 1
    # the second click falls on the next item: it was not meant for that
    page.evaluate(
        """async () => {
             const card = document.getElementById('card');
             window.press = (detail) => document.querySelector('button.yes').dispatchEvent(
               new MouseEvent('click', {bubbles: true, cancelable: true, detail}));
             card.dataset.old = 1;
             await null;
             press(1);
             await new Promise((done) => new MutationObserver(done).observe(
               card, {attributeFilter: ['data-old']}));
             press(2);
           }"""
    )
    assert len(sent) == 2
    assert len(history(server, session)) == 3
    page.wait_for_timeout(300)
    page.evaluate("document.getElementById('card').dataset.old = 1; press(2)")
    page.wait_for_selector("#card:not([data-old])")
    assert len(history(server, session)) == 4  # who clicks on, having looked, is heard
    page.evaluate("document.getElementById('card').dataset.old = 1")
    page.evaluate(
        """for (const _ of [1, 2, 3]) document.body.dispatchEvent(
             new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}))"""
    )
    page.wait_for_selector("#card:not([data-old])")
    assert len(sent) == 4
    assert len(history(server, session)) == 5


def test_an_odd_answer_is_corrected_by_keyboard(
    open_page: OpenPage, begin: Callable[..., str], server: Server, truth: dict[str, str]
) -> None:
    session = begin(labels=["mammal", "fish"])
    teacher = open_page(session)
    teacher.teach(truth, 9)
    while truth[teacher.item] != "mammal":
        teacher.say(truth[teacher.item])
    slipped = teacher.item
    teacher.say("bird")
    page = teacher.page
    page.goto(f"{server.address}/s/{session}/answers?q={slipped}")
    with page.expect_navigation():
        page.get_by_label(f"Change the answer about {slipped}").press("Enter")
    page.wait_for_timeout(LOOK)
    with page.expect_navigation():
        page.keyboard.press("1")  # it is a mammal
    page.wait_for_timeout(LOOK)
    if page.locator("#why").count():
        with page.expect_navigation():
            page.keyboard.press("1")
    said = [one for one in history(server, session) if one["item"]["name"] == slipped]
    assert [one["label"] or one["guess"] for one in said if not one["undone"]] == ["mammal"]
    assert f"Changed: {slipped} is mammal now." in page.inner_text(".learnt")


# -- the server dies


def unused_port() -> int:
    """One that stays free while nobody listens on it: no system gives these away by itself."""
    for port in random.SystemRandom().sample(range(10_000, 30_000), 100):
        with socket.socket() as free:
            try:
                free.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no port is free")


class Teaching:
    """`tellapart teach` on a port and with a token that stay the same."""

    def __init__(self, folder: Path) -> None:
        self.port = unused_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.tokens = {"Ann": TEAM["Ann"]}
        self.folder = folder

    def start(self) -> Teaching:
        words = ["zoo.csv", "--order", "file", "--no-browser", "--name", "Ann"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tellapart", "teach", *words, "--port", str(self.port)],
            cwd=self.folder,
            env={**os.environ, "TELLAPART_TOKEN": self.tokens["Ann"]},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        assert said.startswith("Teach zoo at http://127.0.0.1")
        assert said.endswith("?token=$TELLAPART_TOKEN\n")
        return self

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


def test_the_server_dies_and_comes_back(
    browser: Any, tmp_path: Path, truth: dict[str, str]
) -> None:
    write_zoo(tmp_path / "zoo.csv")
    teaching = Teaching(tmp_path).start()
    try:
        teacher = BrowserTeacher(browser, teaching, "Ann").open("zoo")
        teacher.teach(truth, 4)
        item, label = teacher.item, truth[teacher.item]
        assert teacher.guess == label  # aardvark, antelope, bass, bear, boar
        teaching.kill()
        page = teacher.page
        page.evaluate("document.getElementById('card').dataset.old = 1")
        page.keyboard.press("Enter")
        page.locator("#trouble", has_text="does not answer").wait_for()
        assert teacher.item == item  # nothing has moved
        teaching.start()
        page.wait_for_selector("#card:not([data-old])")
        assert not page.is_visible("#trouble")
        assert teacher.item != item
        before = teacher.screen
        page.reload()
        assert teacher.screen == before
        assert "5 of 100 rows taught." in before[2]
        teacher.undo()
        teaching.kill()
        teaching.start()
        page.reload()
        teacher.redo()  # also across a restart
        assert teacher.screen == before
        assert [said for said in teacher.errors if "net::ERR_" not in said] == []
        teacher.context.close()
    finally:
        teaching.kill()


def test_the_page_says_that_the_disk_is_full(
    browser: Any, small_disk: Path, truth: dict[str, str]
) -> None:
    write_zoo(small_disk / "zoo.csv")
    with serving("zoo.csv", "--id", "name", cwd=small_disk, tokens=TEAM) as server:
        teacher = BrowserTeacher(browser, server, "Ann").open("zoo")
        teacher.teach(truth, 2)
        ballast = fill_disk(small_disk)
        item, page = teacher.item, teacher.page
        page.evaluate("document.getElementById('card').dataset.old = 1")
        for _ in range(200):  # until the pages that SQLite holds already are used up
            page.keyboard.press("/")
            page.keyboard.type("unsure")
            page.keyboard.press("Enter")
            page.wait_for_timeout(50)
            if page.is_visible("#trouble"):
                break
        page.locator("#trouble", has_text="the disk is full").wait_for()
        item = teacher.item
        assert "does not answer" not in page.inner_text("#trouble")
        ballast.unlink()
        page.wait_for_selector("#trouble", state="hidden")
        assert teacher.item != item
        teacher.context.close()


# -- hostile tables, pictures


SCRIPT = "<script>alert('x')</script>"
IMAGE = '<img src=x onerror="alert(2)">'


def write_hostile(path: Path) -> None:
    """Everything that should not hurt: 300 columns, tags and quotes everywhere, a cell of 1 MB."""
    words = [
        SCRIPT,
        IMAGE,
        'it\'s "quoted" & `ticked` \\ {{ 7 * 7 }} ${7*7} %s',
        "\u05e9\u05dc\u05d5\u05dd \u202e reversed \u202c \u0645\u0631\u062d\u0628\u0627",
        "\U0001f9a6\U0001f468\u200d\U0001f469\u200d\U0001f467 e\u0301 \x07",
        "a javascript:alert(3) " * 3,
        "</textarea></title></style>",
        "'; DROP TABLE items; --",
    ]
    with path.open("w") as out:
        for n, word in enumerate(words):
            row: dict[str, Any] = {"name": f"{word} {n}", SCRIPT: word, IMAGE: n % 2 == 0}
            row['it\'s "the" column'] = words[n - 1]
            row["long"] = "word " * 200_000 + str(n) if n < 3 else str(n)
            row |= {f"column {c}": (n * c) % 7 for c in range(296)}
            out.write(json.dumps(row) + "\n")


def test_a_hostile_table_shows_as_text(
    open_page: OpenPage, begin: Callable[..., str], server: Server, folder: Path
) -> None:
    write_hostile(folder / "hostile.jsonl")
    session = begin("hostile.jsonl", labels=[IMAGE, "b"])
    teacher = open_page(session)
    page = teacher.page
    assert SCRIPT in teacher.item
    assert SCRIPT in page.inner_text(".pair tbody")
    started = time.monotonic()
    teacher.press("1", "2")
    page.locator("#reasons li").first.wait_for()
    teacher.press("1")
    assert IMAGE in teacher.heading or teacher.guess == "b"
    teacher.type(SCRIPT)
    teacher.type('"column 1" > 0 AND "it\'s ""the"" column" IS NOT NULL')
    teacher.press("Enter")
    teacher.command("skip")
    assert time.monotonic() - started < 120
    assert history(server, session)[2]["label"] == SCRIPT
    for path in (*PAGES, "teach"):
        answer = page.goto(f"{server.address}/s/{session}/{path}")
        assert answer is not None
        assert answer.ok, path
        made = page.locator("main script, main img:not([src^='/'])")
        assert made.count() == 0, path
        assert narrow(page), path
    assert page.evaluate("document.body.outerHTML.length") < 600_000


def test_pictures_beside_the_table(
    open_page: OpenPage, begin: Callable[..., str], folder: Path, server: Server
) -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect/></svg>'
    (folder / "shots").mkdir()
    (folder / "shots" / "a b.svg").write_text(svg)
    (folder.parent / "outside.svg").write_text(svg)
    (folder / "pictures.csv").write_text(
        "name,picture,other\none,shots/a b.svg,../outside.svg\ntwo,shots/none.png,/etc/x.png\n"
    )
    (folder / "shots" / "link.svg").symlink_to(folder.parent / "outside.svg")
    session = begin("pictures.csv", labels=["it"])
    teacher = open_page(session)
    with server.client("Ann") as client:
        for path, status in (
            ("shots/a b.svg", 200),
            ("../outside.svg", 404),
            (str(folder.parent / "outside.svg"), 404),
            ("shots/link.svg", 404),
            ("pictures.csv", 404),
            ("shots", 404),
        ):
            answer = client.get(f"/s/{session}/file", params={"path": path})
            assert answer.status_code == status, path
            if status == 200:  # opened by itself, it may run nothing
                assert "sandbox" in answer.headers["content-security-policy"]
    assert teacher.page.eval_on_selector("td img", "image => image.naturalWidth") == 9
    assert teacher.page.locator("td img").count() == 1
    assert "../outside.svg" in teacher.page.inner_text(".pair")
    teacher.press("1")
    assert "shots/none.png" in teacher.page.inner_text(".pair")


# -- for everybody


def test_every_page_is_for_everybody(
    open_page: OpenPage, begin: Callable[..., str], server: Server, truth: dict[str, str], axe: str
) -> None:
    """No serious fault for axe-core, and no scrolling sideways when it is narrow or zoomed."""
    session = begin(until={"no mistake in": 3}, labels=["mammal", "bird", "fish"])
    teacher = open_page(session, bypass_csp=True)
    page = teacher.page
    trouble = []

    def look(name: str) -> None:
        trouble.extend(f"{name}: {one}" for one in violations(page, axe))
        for width in (360, 640):  # a phone; half of 1280, as at 200 % zoom
            page.set_viewport_size({"width": width, "height": 640})
            if not narrow(page):
                trouble.append(f"{name} scrolls sideways at {width} px")
        page.set_viewport_size({"width": 1280, "height": 720})

    look("first question")
    teacher.teach(truth, 8)
    teacher.say("fish")  # a slip
    look("guess")
    teacher.command("note a note")
    if teacher.guess is not None:
        disagree(teacher)
    look("reason")
    for key in ("?", "/"):
        page.keyboard.press(key)
        look(f"window of {key}")
        page.keyboard.press("Escape")
    for path in (*PAGES, "sweep?label=mammal", "teach"):
        page.goto(f"{server.address}/s/{session}/{path}")
        look(path)
    item = history(server, session)[-1]["item"]["name"]
    for asked in ("?from=answers", "?from=teach", "?label=bird", "?label=fish"):
        page.goto(f"{server.address}/s/{session}/repair/{item}{asked}")
        look(f"repair{asked}")
    page.goto(f"{server.address}/")
    look("front")
    for path in ("export?to=text&unsure=null", "data?q=legs+%3E+99", "data?q=legz=1"):
        page.goto(f"{server.address}/s/{session}/{path}")
        look(path)
    page.goto(f"{server.address}/s/none/rules")
    look("an error")
    teacher.errors.clear()  # the browser logs a 404
    assert not trouble, "\n".join(trouble)
