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


def repair(page: Any, label: str) -> int:
    """Say what the item at hand is instead; returns the number of keys."""
    key = page.locator(f'#labels button[value="{label}"]').get_attribute("data-key")
    press(page, key)
    page.wait_for_selector('input[name="label"][type="hidden"]', state="attached")
    press(page, "1" if page.locator("#features button").count() else _last_key(page))
    return 2


def _last_key(page: Any) -> str:
    return "0" if page.locator("[data-key='0']").count() else "Enter"


def test_five_slips_among_a_hundred_answers_are_repaired_from_odd_ones(
    open_page: OpenPage, begin: Begin, server: Server, truth: dict[str, str]
) -> None:
    session = begin(labels=LABELS, order="random", seed=2)
    slips = teach(server, session, truth, 100, slips=5)
    teacher = open_page(session, path="/odd")
    kept = repair_all(teacher.page, truth, slips)
    assert len(kept) < 20
    said = {one["item"]["name"]: one["label"] or one["guess"] for one in history(server, session)}
    assert {name: said[name] for name in slips} == {name: truth[name] for name in slips}


def test_slips_that_no_column_tells_are_repaired_from_odd_ones_too(
    open_page: OpenPage, begin: Begin, server: Server, folder: Path
) -> None:
    """A third of what is round is a ball, and no column tells: no judge doubts the word apple."""
    dice = random.Random(5)
    shapes = [dice.choice(["round", "round", "long", "flat"]) for _ in range(100)]
    rows = [f"thing {n},{shape},{dice.randint(1, 9)}" for n, shape in enumerate(shapes)]
    (folder / "things.csv").write_text("\n".join(["name,shape,size", *rows]) + "\n")
    known = {"long": "pen", "flat": "plate"}
    truth = {
        f"thing {n}": known.get(shape) or dice.choice(["apple", "apple", "ball"])
        for n, shape in enumerate(shapes)
    }
    labels = ["apple", "ball", "pen", "plate"]
    session = begin("things.csv", labels=labels, order="random", seed=1)
    slips = dict.fromkeys([name for name, label in truth.items() if label == "ball"][:5], "apple")
    teach(server, session, truth | slips, 100)
    with server.client("Ann") as client:
        odd = client.get(f"/api/sessions/{session}/odd").json()["odd"]
    assert not {*slips} <= {one["item"]["name"] for one in odd}  # some are not odd at all
    teacher = open_page(session, path="/odd")
    repair_all(teacher.page, truth, slips)
    said = {one["item"]["name"]: one["label"] or one["guess"] for one in history(server, session)}
    assert said == truth


def repair_all(page: Any, truth: dict[str, str], slips: dict[str, str]) -> list[str]:
    """From the top of the list: three keys for each slip, one for each that is right as it is."""
    assert len(slips) == 5
    left = dict(slips)
    kept: list[str] = []
    while left:
        name = names(page)[0]
        assert name not in kept
        if name in left:
            press(page, "1")
            assert 1 + repair(page, truth[name]) <= 3
            assert page.inner_text(".told").startswith("Changed.")
            del left[name]
        else:
            press(page, "Enter")
            assert page.inner_text(".told").startswith(f"{name} stays {truth[name]};")
            kept.append(name)
        assert page.inner_text("h1") == "Odd ones"
    return kept


def test_an_odd_one_is_said_in_two_conditions_and_can_be_kept(
    open_page: OpenPage, begin: Begin, server: Server, truth: dict[str, str]
) -> None:
    session = begin(labels=LABELS, order="random", seed=3)
    slips = teach(server, session, truth, 60, slips=3)
    teacher = open_page(session, path="/odd")
    page = teacher.page
    rows = page.locator(".odd").first.locator("li")  # those below are not odd
    before = rows.count()
    for why in page.locator(".odd li p:first-of-type").all_inner_texts():
        assert why.split(", and ")[0].count(" and ") <= 1, why
    name = page.locator(".odd a").first.inner_text().split("\n")[-1]
    assert name in slips
    press(page, "1")
    assert page.inner_text("h1").startswith(f"You called {name} {slips[name]}")
    assert page.locator(".pair .mine .name").inner_text() == name
    assert page.locator("[data-key='enter']").inner_text().endswith("it is right as it is")
    press(page, "Enter")
    assert page.inner_text("h1") == "Odd ones"
    assert page.inner_text(".told") == f"{name} stays {slips[name]}; it is not listed again."
    assert name not in names(page)
    assert rows.count() == before - 1
    press(page, "Alt+u")
    assert names(page)[0] == name
    assert rows.count() == before


def names(page: Any) -> list[str]:
    """The odd ones, in their order."""
    return [one.split("\n")[-1] for one in page.locator(".odd a").all_inner_texts()]


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
    assert teacher.heading == "I think bird, because it is like bat."
    press(page, "Alt+e")
    assert page.inner_text("h1") == "You called bat bird."
    press(page, "1")  # a mammal, as was guessed
    press(page, "Enter")
    assert page.inner_text(".told") == "Changed. 1 answer needs a reason: it comes next."
    assert teacher.heading == "bass is fish. What tells it from bear (mammal)?"
    why = "It was called fish and told from bat. Then the answer about bat was changed"
    assert page.inner_text(".why") == f"{why}: now it is like bear."
    press(page, "Alt+l")  # it may be something else altogether
    assert page.inner_text("h1") == "You called bass fish."
    page.wait_for_timeout(LOOK)
    press(page, "2")  # its reason comes later, against what it is like then
    page.wait_for_timeout(LOOK)
    press(page, "Enter")
    assert page.inner_text(".told") == "Changed. 1 answer needs a reason: it comes next."
    assert teacher.heading == "bass is bird. What tells it from bear (mammal)?"
    why = "Its answer was changed to bird. Now it is like bear: a reason is wanted."
    assert page.inner_text(".why") == why
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
        bob.press("s")
    bob.press("2")
    page = go(bob, "disagreements")
    assert page.get_by_role("link", name="settle it").count() == 0  # Bob may not
    press(page, "1")
    assert page.locator("legend", has_text="Settle it").count() == 0
    page = go(ann, "disagreements")
    press(page, "1")
    assert "as Bob said" in page.inner_text(".panel")
    press(page, key)
    said = [one["label"] for one in history(server, session) if one["item"]["name"] == item]
    if key == "1":  # mammal, as Ann said: nothing changes but that it is settled
        assert page.inner_text("h2") == f"{item} settled"
        assert said == ["mammal", "fish"]
    else:
        assert "No two teachers" in page.inner_text("main")
        assert said == ["fish", "fish"]


def test_a_sweep_by_keyboard(
    open_page: OpenPage, begin: Begin, server: Server, truth: dict[str, str]
) -> None:
    session = begin(labels=LABELS, order="random", seed=4)
    teach(server, session, truth, 40)
    teacher = open_page(session)
    page = teacher.page
    while not teacher.heading.startswith("I think mammal"):
        teacher.say(truth[teacher.item])
    item = teacher.item
    press(page, "Alt+g")
    names = page.locator(".sweep strong").all_inner_texts()
    assert item in names
    assert all(truth[name] == "mammal" for name in names), names
    before = len(history(server, session))
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#accepts") == f"accept all {len(names)}"
    page.keyboard.press("Space")  # as if the second one were wrong
    assert page.inner_text("#accepts") == f"accept {len(names) - 1}, correct 1"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    press(page, "Enter")
    accepted = len(names) - 2
    assert page.inner_text(".told") == f"Accepted {accepted} items. The 2 you marked come now."
    page.wait_for_timeout(LOOK)
    for name in names[1:3]:
        assert teacher.item == name
        assert page.inner_text(".why") == "You marked it in a sweep: is it not mammal?"
        teacher.press("Enter")  # it was right after all
    assert len(history(server, session)) == before + len(names)
    teacher.press("u", "u", "u")  # one, the other, all of the sweep
    assert page.inner_text(".told") == f"Undone: {accepted} answers of a sweep."
    assert sum(one["undone"] for one in history(server, session)) == len(names)
    teacher.press("r", "r")
    teacher.press("r")
    assert sum(one["undone"] for one in history(server, session)) == 0
    go(teacher, "sweep")
    assert "left" in page.inner_text("a.main")
    press(page, "Enter")  # the label of which the largest part is left
    go(teacher, "sweep")
    press(page, "2")
    birds = page.locator(".sweep li").count()
    press(page, "Enter")
    assert page.inner_text(".told").startswith(f"Accepted {birds} items")
    press(page, "Alt+u")
    assert page.locator(".sweep li").count() == birds
