"""Teaching in a terminal: keys are fed, and the log and the screen are looked at."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console
from starlette.testclient import TestClient

from teaching import plain
from tellapart.console.conversation import talk
from tellapart.console.keyboard import KEYS, Piped, WindowsTerminal, read_keys
from tellapart.errors import ParameterError
from tellapart.sessions import Given, Session, Store
from tellapart.tables import Table
from tellapart.web import People, Person, SessionPool, create_app

TOKEN = "0123456789abcdef"
ZOO = """name,milk,feathers,legs,says
bear,true,false,4,growl
duck,false,true,2,quack
bass,false,false,0,
lion,true,false,4,roar
crow,false,true,2,caw
"""
FIRST = "lmammal\n"
"""bear is a mammal."""


class Room:
    """A table, a store, and a terminal that keeps what was printed."""

    def __init__(self, folder: Path, table: Table | Path, **how: Any) -> None:
        self.store = Store(folder / "zoo.db")
        reading = None if isinstance(table, Table) else {"id": "name"}
        how = {"learner": "DFF", "reading": reading, **how}
        self.session = Session.new(self.store, "zoo", table, **how)
        self.said = ""

    def type(self, text: str, keys: Mapping[str, str] | None = None, **how: Any) -> str:
        """Feed keys; returns what was printed."""
        printed = io.StringIO()
        console = Console(file=printed, width=100, highlight=False, force_terminal=False)
        talk(self.session, "Ann", Piped(io.StringIO(text)), console, keys or read_keys(), **how)
        self.said = printed.getvalue()
        return self.said

    @property
    def answers(self) -> list[tuple[str, str, str | None, str | None]]:
        """Item, answer, label and feature of every answer in force."""
        return [
            (str(one.item), one.answer, one.label, one.feature)
            for one in self.session.history()
            if not one.undone
        ]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Room]]:
    rooms = []

    def make(table: Table | None = None, **how: Any) -> Room:
        path = tmp_path / "zoo.csv"
        path.write_text(ZOO)
        rooms.append(Room(tmp_path, path if table is None else table, **how))
        return rooms[-1]

    yield make
    for room in rooms:
        room.session.close()
        room.store.close()


@pytest.fixture
def room(make: Callable[..., Room]) -> Room:
    return make()


MAMMAL = ("bear", "wrong", "mammal", None)
BIRD = ("duck", "wrong", "bird", "feathers")


# -- answers


def test_a_label_a_feature_and_right(room: Room) -> None:
    feathers = digit(room, "feathers")
    said = room.type(FIRST + "lbird\n" + feathers + "lfish\n" + "0" + "\n")
    assert room.answers[:3] == [MAMMAL, BIRD, ("bass", "wrong", "fish", None)]
    assert [answer for _, answer, _, _ in room.answers[3:]] == ["right"]
    assert "What is bear?" in said
    assert "I think mammal, because it is like bear." in said
    assert "True of duck, not of bear:" in said
    assert "Saved. 4 of 5 items labelled" in said


def digit(room: Room, feature: str, label: str = "bird") -> str:
    """The key that chooses a feature for the duck."""
    room.type(FIRST)
    given = room.session.next("Ann")
    assert isinstance(given, Given)
    offered = [str(one.feature) for one in room.session.candidates(given.id, label)]
    room.session.undo("Ann")
    return str(offered.index(feature) + 1)


def test_labels_by_digit_and_by_typing(make: Callable[..., Room]) -> None:
    room = make(learner="Hindsight", labels=["mammal", "bird", "fish"])
    room.type("2" + "lmam\n0" + "lFISH\n0" + "lbig cat\n0")
    assert [label for _, _, label, _ in room.answers] == ["bird", "mammal", "fish", "big cat"]
    assert room.session.labels == ["mammal", "bird", "fish", "big cat"]


def test_what_is_typed_means_the_first_label_that_fits_unless_it_is_new(room: Room) -> None:
    said = room.type("lmandrill\n" + "lman\n")
    assert room.answers[1] == ("duck", "right", "mandrill", None)
    assert "A new label: type new: man" in said
    room.type("lnew: man\n0" + "lMAN\n0" + "lnew: \n")
    assert [label for _, _, label, _ in room.answers[2:]] == ["man", "man"]
    assert room.session.labels == ["mandrill", "man"]


def test_meanings_are_shown_beside_the_labels(room: Room) -> None:
    said = room.type(FIRST + "mmammal : gives milk\n" + "mbug: six legs\n" + "m\n" + "s")
    assert "I think mammal, because it is like bear." in said
    assert "mammal: gives milk" in said
    assert "there is no label 'bug'" in said
    assert room.session.meanings == {"mammal": "gives milk"}
    assert "mammal: no meaning" in room.type("mmammal\n")


def test_items_can_be_looked_for(room: Room) -> None:
    said = room.type("/feathers\n" + "lbird\n" + "/nothing like it\n" + "/\n")
    assert "2 items fit." in said
    assert "no item has all these words" in said
    assert "Items as they come." in said
    assert room.answers[0][0] == "duck"


def test_a_label_that_is_the_guess_means_right(room: Room) -> None:
    room.type(FIRST + "1")
    assert room.answers[1] == ("duck", "right", "mammal", None)


def test_find_narrows_the_features_and_their_digits(room: Room) -> None:
    said = room.type(FIRST + "lbird\n" + "ffeath\n" + "1")
    assert room.answers == [MAMMAL, BIRD]
    assert "  1  feathers  2 items" in said
    room.type("lfish\nfnothing like it\n1")  # nothing is left to choose from: 1 does nothing
    assert len(room.answers) == 2
    assert "None of the columns" in room.said


def test_a_condition_with_a_mistake_is_mended(room: Room) -> None:
    said = room.type(FIRST + "lbird\n" + "xfeather\n" + "xlegs > 1\n" + "xlegs =\n" + "xlegs < 3\n")
    assert "unknown column 'feather'" in said
    assert "holds on both" in said
    assert room.answers == [MAMMAL, ("duck", "wrong", "bird", "legs < 3")]


def test_a_tag(room: Room) -> None:
    room.type(FIRST + "lbird\n" + 't looks "funny"\n')
    assert room.answers[1] == ("duck", "wrong", "bird", '"looks ""funny"""')
    assert list(room.session.table.tags) == ['looks "funny"']
    room.type("lfish\n" + "tlegs\n")
    assert "has a column 'legs'" in room.said
    assert len(room.answers) == 2


def test_unsure_skip_note(room: Room) -> None:
    said = room.type("d" + "nwhat a day\n" + "s" + "n\n")
    assert room.answers == [("bear", "unsure", None, None), ("duck", "skipped", None, None)]
    (note,) = room.session.notes()
    assert note.data == {"text": "what a day", "item": "duck"}
    assert "Saved as unsure: kept, not learnt from." in said
    assert "Skipped: it comes back later." in said
    assert "Noted." in said


def test_undo_redo_and_back(room: Room) -> None:
    room.type(FIRST + "lbird\n" + "\x1b" + "u")
    assert room.answers == []
    assert "Undone." in room.said
    room.type("r" + "lbird\n" + "ffeathers\n1" + "u" + "r")
    assert room.answers == [MAMMAL, BIRD]
    room.type("r")
    assert "nothing to redo" in room.said
    room.type("uuu")
    assert "nothing to undo" in room.said
    assert room.answers == []


def test_undo_where_the_reason_is_asked(room: Room) -> None:
    room.type(FIRST + "lbird\n" + "u")
    assert room.answers == []


def test_help_names_every_key(room: Room) -> None:
    said = " ".join(room.type("h").split())
    for _, words in KEYS.values():
        assert words in said


def test_keys_that_mean_nothing_do_nothing(room: Room) -> None:
    before = room.session.number
    said = room.type("\n0qé%9" + "l\n")
    assert room.session.number == before + 2  # Ann came, and bear was given
    assert "Saved." in said


def test_no_items_left_is_an_ending_that_can_be_undone(room: Room) -> None:
    assert "no items left" in room.type("lone\n" + "\n\n\n\n")
    said = room.type("u" + "\n")
    assert said.count("no items left") == 2
    assert len(room.answers) == 5


def test_resuming_shows_the_same_item(room: Room) -> None:
    room.type(FIRST)
    number = room.session.number
    room.session.close()
    room.session = Session.open(room.store, "zoo")
    assert "I think mammal, because it is like bear." in room.type("")
    assert room.session.number == number


def test_the_end_of_the_keys_inside_a_question(room: Room) -> None:
    room.type(FIRST + "lbird\nx")
    assert room.answers == [MAMMAL]
    room.type("")
    assert "Saved." in room.said


def test_hints_are_said(room: Room) -> None:
    hints = {"bear": "Mind the bear.", "duck": "Quack."}
    said = room.type("", hint=lambda given: hints.get(str(given.item)))
    assert "Mind the bear." in said
    assert "Quack." not in said
    assert "Quack." in room.type(FIRST, hint=lambda given: hints.get(str(given.item)))


# -- what is shown


HOSTILE = [
    "\x1b]0;owned\x07\x1b[2J",
    "\x9b31m",
    "line\r\nforged: yes",
    "back\x08\x08\x08\x7f",
    "evil\u202etxt.exe",
    "[bold red]markup[/] :boom: [link=file:///]",
    "\u2066\u2028\u0085\x00",
]


@pytest.mark.parametrize("cell", HOSTILE, ids=ascii)
def test_a_cell_does_nothing_to_the_terminal(make: Callable[..., Room], cell: str) -> None:
    names = [f"{cell} one", f"{cell} two", f"{cell} three"]
    room = make(
        Table({"name": names, cell: [cell, cell + "!", cell + "?"], "n": [1, 2, 3]}, id="name")
    )
    note = cell.replace("\n", "")
    said = room.type(f"n{note}\n" + FIRST + "lbird\nf\nxn = 2 AND nope\nxn = 2\n")
    loose = {c for c in said if not c.isprintable()} - {"\n"}
    assert not loose, loose
    assert len(room.answers) == 2
    if "[" in cell and "\x1b" not in cell:
        assert "[bold red]markup[/] :boom:" in said


def test_long_cells_are_cut_and_say_so(make: Callable[..., Room]) -> None:
    long = "word " * 200_000
    said = make(Table({"text": [long, "short"]})).type("")
    assert len(said) < 5_000
    assert "999,600 characters more" in said


def test_right_to_left_text_and_emoji_are_shown_as_they_are(make: Callable[..., Room]) -> None:
    family = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}"
    room = make(Table({"text": ["שלום עולם", "مرحبا"], "who": [family, "é"]}))
    said = room.type("lעברית\n")
    assert "שלום עולם" in said
    assert family in said
    assert room.session.labels == ["עברית"]


def test_numbers_dates_and_unknown(make: Callable[..., Room]) -> None:
    from datetime import date

    room = make(Table({"day": [date(2024, 2, 29), None], "x": [0.1, None], "yes": [True, None]}))
    said = room.type("")
    assert re.search(r"day +2024-02-29", said)
    assert re.search(r"x +0\.1\b", said)
    assert re.search(r"yes +yes", said)
    assert "What is row 0?" in said
    assert "unknown" in room.type("la\n")


# -- keys of one's own


def test_remapped_keys(room: Room, tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    file.write_text('undo = "Z"\nright = "space"\nnone = "-"\nback = "tab"\n')
    keys = read_keys(file)
    assert keys["undo"] == "z"
    assert keys == read_keys({"undo": "Z", "right": "space", "none": "-", "back": "tab"})
    said = room.type(FIRST + " " + "Z" + "lbird\n" + "\t" + "lbird\n" + "-" + "\nu", keys)
    assert room.answers == [MAMMAL, ("duck", "wrong", "bird", None)]
    assert "Space right, next" in said
    assert "z undo" in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('undo = "s"', "'skip' and 'undo' have the same key 's'"),
        ('fly = "q"', "unknown action 'fly'; known are right"),
        ('undo = "5"', "undo = '5' is no key"),
        ('undo = "ctrl-z"', "undo = 'ctrl-z' is no key"),
        ("undo = 7", "undo = 7 is no key"),
        ('undo = ""', "is no key"),
        ("undo = z", "not a list of keys"),
        ("\udcff", "not a list of keys"),
    ],
)
def test_bad_keys_are_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "keys.toml"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ParameterError, match=re.escape(message)):
        read_keys(file)


def test_a_terminal_of_windows(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no termios: a character at a time, arrows are two, Ctrl-Z ends it."""
    typed = iter("l" + "\xe0H" + "l" + "\x1b" + "l" + "0" + "\x1a")
    lines = iter(["mammal", "bird", "bird"])
    windows = SimpleNamespace(getwch=lambda: next(typed))
    monkeypatch.setitem(sys.modules, "msvcrt", windows)
    monkeypatch.setattr("builtins.input", lambda prompt: next(lines))
    talk(room.session, "Ann", WindowsTerminal(), Console(file=io.StringIO()), read_keys())
    assert room.answers == [MAMMAL, ("duck", "wrong", "bird", None)]


# -- the page and the console


def test_the_same_answers_give_the_same_log(make: Callable[..., Room], tmp_path: Path) -> None:
    """What is typed in the console and what the page sends, side by side."""
    room = make()
    page = Page(tmp_path)
    script: list[tuple[str, Callable[[], None]]] = [
        ("nhello\n", lambda: page.send("note", text="hello")),
        ("lmammal\n", lambda: page.answer("wrong", typed="mammal")),
        ("lbird\nxlegs >\n", lambda: page.answer("wrong", label="bird", feature="legs >")),
        ("lbird\nxlegs<3\n", lambda: page.answer("wrong", label="bird", feature="legs<3")),
        ("u", lambda: page.send("turn", do="undo")),
        ("r", lambda: page.send("turn", do="redo")),
        ("lnew: mam\n0", lambda: page.answer("wrong", typed="new: mam")),
        (
            "mmammal: gives milk\n",
            lambda: page.send("meaning", label="mammal", meaning="gives milk"),
        ),
        ("/legs > 0\n", lambda: page.send("search", text="legs > 0")),
        ("/\n", lambda: page.send("search", text="")),
        ("s", lambda: page.answer("skipped")),
        ("d", lambda: page.answer("unsure")),
        ("u", lambda: page.send("turn", do="undo")),
        ("lodd\nttail\n", lambda: page.send("tag", label="odd", tag="tail")),
        ("\n", lambda: page.answer("right")),
    ]
    for keys, act in script:
        room.type(keys)
        act()
        room.session.next("Ann")
        assert plain(room.store.log("zoo")) == plain(page.store.log("zoo")), keys
    kinds = [event.type for event in room.store.log("zoo")]
    assert kinds.count("answered") == 7
    assert kinds.count("tag set") == 2
    page.close()


class Page:
    """The same table taught through the routes of the page."""

    def __init__(self, folder: Path) -> None:
        self.store = Store(folder / "page.db")
        self.session = Session.new(
            self.store, "zoo", folder / "zoo.csv", learner="DFF", reading={"id": "name"}
        )
        pool = SessionPool(self.store, folder)
        pool.add(self.session)
        app = create_app(pool, People([Person("Ann", TOKEN, owner=True)]))
        headers = {"Authorization": f"Bearer {TOKEN}"}
        self.client = TestClient(app, base_url="http://127.0.0.1", headers=headers)
        self.client.__enter__()
        self.given()

    def given(self) -> str:
        """The id of what is before the teacher."""
        found = re.search(r'data-given="([^"]+)"', self.client.get("/s/zoo/card").text)
        return "" if found is None else found[1]

    def send(self, route: str, **values: str) -> None:
        """Send a form, as the page does."""
        answer = self.client.post(f"/s/zoo/{route}", data={"given": self.given(), **values})
        assert answer.status_code == 200, answer.text

    def answer(self, answer: str, **values: str) -> None:
        self.send("answer", answer=answer, **values)

    def close(self) -> None:
        self.client.__exit__(None, None, None)
