"""Tags as questions: what the guess does not know is asked."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tellapart.sessions import Given, Session, Store
from tellapart.tables import Table
from tellapart.web.pages.comparison import compare

TAGS = ("round", "red", "striped")


def kind(tags: tuple[bool, ...]) -> str:
    if tags[0]:
        return "tomato" if tags[1] else "melon"
    return "candy cane" if tags[2] else "pepper" if tags[1] else "leek"


class Teacher:
    """Knows the tags of every picture, says one when it tells two apart, answers when asked."""

    def __init__(self, session: Session, truth: dict[str, tuple[bool, ...]]) -> None:
        self.session, self.truth = session, truth
        self.asked = 0

    def shown(self) -> Given:
        """The next item, when all that is asked of it is answered."""
        while True:
            given = self.session.next("Ann")
            assert isinstance(given, Given)
            if not given.tags:
                return given
            for tag in given.tags[:1]:
                self.asked += 1
                value = self.truth[str(given.item)][TAGS.index(tag)]
                self.session.set_tag("Ann", tag, given.item, value)

    def teach(self) -> bool:
        """Answer about an item; whether the guess was right."""
        given = self.shown()
        mine = self.truth[str(given.item)]
        label = kind(mine)
        if given.guess.label == label:
            self.session.answer("Ann", given.id, "right")
            return True
        feature = None
        if given.guess.example is not None:
            theirs = self.truth[str(given.guess.example)]
            n = next(n for n in range(len(TAGS)) if mine[n] != theirs[n])
            feature = f'"{TAGS[n]}"' if mine[n] else f'NOT "{TAGS[n]}"'
            self.session.set_tag("Ann", TAGS[n], given.item, mine[n])
            self.session.set_tag("Ann", TAGS[n], given.guess.example, theirs[n])
        self.session.answer("Ann", given.id, "wrong", label, feature)
        return False


@pytest.fixture
def lesson(tmp_path: Path) -> Iterator[Teacher]:
    rng = random.Random(0)
    truth = {f"p{n}.png": tuple(rng.random() < 0.5 for _ in TAGS) for n in range(60)}
    table = Table({"picture": list(truth)}, id="picture")
    with Store(tmp_path / "a.db") as store, Session.new(store, "pictures", table) as session:
        yield Teacher(session, truth)


def test_a_picture_that_names_an_item_is_shown(lesson: Teacher) -> None:
    given = lesson.shown()
    shown = compare(given, lambda path: f"/file?path={path}")
    assert [(line.column, line.seen) for line in shown.lines] == [("picture", True)]
    assert compare(given).lines == []  # without the file, its name is in the heading


@pytest.mark.slow
def test_sixty_pictures_are_taught_with_three_tags(lesson: Teacher) -> None:
    right = [lesson.teach() for _ in range(60)]
    print(
        f"first time right: {sum(right)} of 60, {sum(right[20:])} of the last 40; {lesson.asked=}"
    )
    assert sum(right) >= 0.75 * 60
    assert sum(right[20:]) >= 0.9 * 40


def test_a_guess_that_depends_on_an_unknown_tag_says_so(lesson: Teacher) -> None:
    for _ in range(12):
        lesson.teach()
    session = lesson.session
    rules = {
        tag
        for tag in TAGS
        for clause in session.model
        if f'"{tag}"' in str(clause) or tag in str(clause)
    }
    assert rules
    given = session.next("Ann")
    assert isinstance(given, Given)
    assert given.tags
    assert set(given.tags) <= rules
    tag = given.tags[0]
    session.set_tag("Ann", tag, given.item, True)
    again = session.next("Ann")
    assert isinstance(again, Given)
    assert again.item == given.item
    assert tag not in again.tags
    session.undo("Ann")  # a slip of the finger
    undone = session.next("Ann")
    assert isinstance(undone, Given)
    assert tag in undone.tags


def test_known_tags_are_candidates_like_columns(lesson: Teacher) -> None:
    for _ in range(12):
        lesson.teach()
    given = lesson.shown()
    assert given.guess.example is not None
    item, example = given.item, given.guess.example
    for tag in ("round", "shiny"):
        lesson.session.set_tag("Ann", tag, item, True)
        lesson.session.set_tag("Ann", tag, example, False)
    shown = lesson.session.next("Ann")
    assert isinstance(shown, Given)
    found = [str(c.feature) for c in lesson.session.candidates(shown.id, "tomato")]
    assert "shiny" in found


def test_that_a_tag_is_unknown_is_no_feature() -> None:
    table = Table({"picture": [f"p{n}.png" for n in range(9)]}, id="picture")
    table.tag("round").set("p1.png", False)
    assert table.candidates("p0.png", "p1.png", {"p1.png": "cube"}, label="ball") == []


def test_a_tag_that_was_undone_is_still_known_when_the_kept_learner_is_read(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tellapart.sessions.log._WORTH", 0.0)  # keep it whatever it cost
    columns = {"name": ["a", "b"], "legs": [2, 4]}
    with Session.new(store, "s", Table(columns, id="name"), learner="AdaptiveDFF") as session:
        session.set_tag("Ann", "odd", "a", True)
        session.undo("Ann")
        for label in ("bird", "cat"):
            given = session.next("Ann")
            assert isinstance(given, Given)
            session.answer("Ann", given.id, "wrong", label)
        session.keep()
    with Session.open(store, "s", Table(columns, id="name")) as session:
        odd = session.table.parse("odd")
        assert not any(odd(item) for item in session.table.items)
