"""Repairing answers and sweeping over guesses, by keyboard alone, in a real browser."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from browser_teacher import LOOK, BrowserTeacher, go, history
from server_process import Server

OpenPage = Callable[..., BrowserTeacher]
Begin = Callable[..., str]
LABELS = ["mammal", "bird", "fish", "insect", "invertebrate", "amphibian", "reptile"]


def teach(
    server: Server, session: str, truth: dict[str, str], answers: int, slips: int = 0
) -> dict[str, str]:
    """Answers over the API, the first candidate for a reason; returns what was said wrongly."""
    dice = random.Random(answers)
    wrong = {*dice.sample(range(answers // 5, answers), slips)}
    made: dict[str, str] = {}
    with server.client("Ann") as client:

        def post(path: str, **body: Any) -> Any:
            got = client.post(f"/api/sessions/{session}/{path}", json=body)
            assert got.status_code == 200, got.text
            return got.json()

        for turn in range(answers):
            given = post("next", candidates=False)["given"]
            name = given["item"]["name"]
            label = truth[name]
            if turn in wrong and given["asks"] != "feature":
                label = made[name] = dice.choice([one for one in LABELS if one != label])
            said: dict[str, Any] = {"given": given["id"], "answer": "right"}
            if label != given["guess"]:
                asked = {"given": given["id"], "label": label, "limit": 1}
                found = client.get(f"/api/sessions/{session}/candidates", params=asked).json()
                said |= {"answer": "wrong", "label": label}
                if found["candidates"]:
                    said["feature"] = found["candidates"][0]["feature"]
            post("answers", **said)
    return made


def press(page: Any, key: str) -> None:
    """Look at the page, and press a key that leads to another one."""
    page.wait_for_timeout(LOOK)
    with page.expect_navigation():
        page.keyboard.press(key)


def told(page: Any) -> str:
    """What is said above."""
    return str(page.inner_text(".learnt .news"))


def now(page: Any) -> tuple[str, str]:
    """The row of the framed answer, and what it was called."""
    case = page.locator(".case.now .claim")
    return case.locator("b").first.inner_text(), case.locator(".label").first.inner_text()


def test_five_slips_among_a_hundred_answers_are_repaired_from_odd_ones(
    open_page: OpenPage, begin: Begin, server: Server, truth: dict[str, str]
) -> None:
    """One key for each slip, and one for each that is right as it is."""
    session = begin(labels=LABELS, order="random", seed=2)
    slips = teach(server, session, truth, 100, slips=5)
    teacher = open_page(session, path="/answers?tab=odd")
    page = teacher.page
    kept: list[str] = []
    left = dict(slips)
    while left:
        row, said = now(page)
        assert row not in kept
        expected = page.locator(".case.now .claim .label").nth(1)
        if row not in left:
            press(page, "Enter")  # the default changes nothing
            assert told(page) == f"{row} stays {said}; it is not listed again."
            kept.append(row)
        elif expected.count() and expected.inner_text() == truth[row]:
            press(page, "1")
            assert told(page).startswith(f"Changed: {row} is {truth[row]} now.")
            del left[row]
        else:  # something else
            page.locator(".case.now a", has_text="Something else").focus()
            press(page, "Enter")
            page.wait_for_timeout(LOOK)
            page.keyboard.type(truth[row])
            press(page, "Enter")
            if page.locator("#why").count():
                press(page, "1" if page.locator("#reasons li:not(.new)").count() else "0")
            del left[row]
    assert len(kept) < 20
    answers = {
        one["item"]["name"]: one["label"] or one["guess"] for one in history(server, session)
    }
    assert {name: answers[name] for name in slips} == {name: truth[name] for name in slips}


def test_an_odd_one_that_is_kept_can_be_listed_again(
    open_page: OpenPage, begin: Begin, server: Server, truth: dict[str, str]
) -> None:
    session = begin(labels=LABELS, order="random", seed=3)
    slips = teach(server, session, truth, 60, slips=3)
    teacher = open_page(session, path="/answers?tab=odd")
    page = teacher.page
    before = page.locator(".case").count()
    row, said = now(page)
    assert said == slips.get(row, said)
    press(page, "Enter")  # the key that is pressed without a thought changes nothing
    assert told(page) == f"{row} stays {said}; it is not listed again."
    assert page.locator(".case").count() == before - 1
    press(page, "Control+z")
    assert told(page) == f"Undone: {row} is {said} again."
    assert now(page) == (row, said)
    assert page.locator(".case").count() == before
    press(page, "1")
    assert told(page).startswith(f"Changed: {row} is ")
    press(page, "Control+z")
    assert told(page) == f"Undone: {row} is {said} again."
    assert now(page) == (row, said)


def test_a_wrong_example_is_repaired_from_teach_and_who_is_asked_again_is_told_why(
    open_page: OpenPage, begin: Begin, server: Server, folder: Path
) -> None:
    rows = ["bear,false,false", "bat,true,false", "bass,false,true", "crow,true,false"]
    (folder / "four.csv").write_text("\n".join(["name,wings,fins", *rows]) + "\n")
    session = begin("four.csv", labels=["mammal", "bird", "fish"], order="file", learner="DFF")
    teacher = open_page(session)
    page = teacher.page
    teacher.press("1", "2", "1")  # the bear is a mammal, the bat a bird: a slip
    teacher.press("3", "1")  # the bass a fish, told from the bat
    assert teacher.heading == "Is crow bird, like bat?"
    page.keyboard.press("/")
    page.keyboard.type("ex")
    press(page, "Enter")
    assert teacher.heading == "You called bat bird. What is it?"
    press(page, "1")  # a mammal, as was guessed
    assert told(page) == "Changed. 1 answer needs a reason again: it comes next."
    assert teacher.heading == "Why is bass fish, unlike bear?"
    why = "It was called fish and told from bat. Then the answer about bat was changed"
    assert page.inner_text(".above") == f"{why}: now it is like bear."
    page.get_by_role("link", name="It is not fish").focus()  # it may be something else altogether
    press(page, "Enter")
    assert teacher.heading == "You called bass fish. What is it?"
    press(page, "2")  # its reason comes later, against what it is like then
    assert told(page) == "Changed. 1 answer needs a reason again: it comes next."
    assert teacher.heading == "Why is bass bird, unlike bear?"
    why = "Its answer was changed to bird. Now it is like bear: a reason is wanted."
    assert page.inner_text(".above") == why
    page.wait_for_timeout(LOOK)
    teacher.press("1")
    assert teacher.item == "crow"  # what was before the teacher when all this began
    said = [(one["answer"], one["outcome"]) for one in history(server, session)]
    assert ("right", "right") in said


@pytest.mark.parametrize("key", ["1", "2"])
def test_the_owner_settles_a_disagreement_with_one_key(
    open_page: OpenPage, begin: Begin, server: Server, key: str
) -> None:
    session = begin(labels=["mammal", "fish"], order="file", overlap=1.0)
    ann, bob = open_page(session), open_page(session, "Bob")
    item = ann.item
    ann.press("1")
    for _ in range(5):
        if bob.item == item:
            break
        bob.command("skip")
    bob.press("2")
    page = go(bob, "answers?tab=disputed")
    assert page.locator(".voice button").count() == 0  # Bob may not
    assert page.get_by_role("link", name="Change your answer").count() == 1
    page = go(ann, "answers?tab=disputed")
    assert "Bob" in page.inner_text(".case.now")
    press(page, key)
    said = [one["label"] for one in history(server, session) if one["item"]["name"] == item]
    if key == "1":  # mammal, as Ann said: nothing changes but that it is settled
        assert "settled" in page.inner_text(".claim")
        assert said == ["mammal", "fish"]
    else:
        assert "Nobody disagrees" in page.inner_text("main")
        assert said == ["fish", "fish"]


def test_many_at_once_by_keyboard(
    open_page: OpenPage, begin: Begin, server: Server, truth: dict[str, str]
) -> None:
    session = begin(labels=LABELS, order="random", seed=4)
    teach(server, session, truth, 40)
    teacher = open_page(session)
    page = teacher.page
    while teacher.guess != "mammal":
        teacher.say(truth[teacher.item])
    item = teacher.item
    page.keyboard.press("/")
    page.keyboard.type("many")
    press(page, "Enter")
    names = page.locator(".sweep b").all_inner_texts()
    assert item in names
    assert all(truth[name] == "mammal" for name in names), names
    before = len(history(server, session))
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#accepts") == f"All {len(names)} are right"
    page.keyboard.press("Space")  # as if the second one were wrong
    assert page.inner_text("#accepts") == f"{len(names) - 1} right, 1 wrong"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    press(page, "Enter")
    accepted = len(names) - 2
    assert told(page) == f"Saved: {accepted} rows are right. Now the 2 you marked."
    page.wait_for_timeout(LOOK)
    for name in names[1:3]:
        assert teacher.item == name
        assert page.inner_text(".above") == "You marked it as wrong: what is it?"
        teacher.press("Enter")  # it was right after all
    assert len(history(server, session)) == before + len(names)
    for _ in range(3):  # one, the other, all of the sweep
        teacher.undo()
    assert told(page) == f"Undone: {accepted} answers given at once."
    assert sum(one["undone"] for one in history(server, session)) == len(names)
    for _ in range(3):
        teacher.redo()
    assert sum(one["undone"] for one in history(server, session)) == 0
    go(teacher, "sweep")
    assert "to check" in page.inner_text("a.main")
    press(page, "Enter")  # the label of which the largest part is left
    go(teacher, "sweep")
    press(page, "2")
    birds = page.locator(".sweep li").count()
    press(page, "Enter")
    assert told(page).startswith(f"Saved: {birds} rows")
    press(page, "Control+z")
    assert page.locator(".sweep li").count() == birds
