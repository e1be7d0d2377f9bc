"""Teaching in a terminal: keys are fed, and the log and the screen are looked at."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console
from starlette.testclient import TestClient

from teaching import plain
from tellapart.console.conversation import talk
from tellapart.console.keyboard import Piped, WindowsTerminal
from tellapart.sessions import Given, Session, Store
from tellapart.sessions.phrasing import COMMANDS
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
FIRST = "mammal\n"
"""bear is a mammal."""


class Room:
    """A table, a store, and a terminal that keeps what was printed."""

    def __init__(self, folder: Path, table: Table | Path, **how: Any) -> None:
        self.store = Store(folder / "zoo.db")
        reading = None if isinstance(table, Table) else {"id": "name"}
        how = {"learner": "DFF", "reading": reading, **how}
        self.session = Session.new(self.store, "zoo", table, **how)
        self.said = ""

    def type(self, text: str, **how: Any) -> str:
        """Feed lines; returns what was printed."""
        printed = io.StringIO()
        console = Console(file=printed, width=100, highlight=False, force_terminal=False)
        talk(self.session, "Ann", Piped(io.StringIO(text)), console, **how)
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


def test_a_label_a_reason_and_right(make: Callable[..., Room]) -> None:
    room = make(learner="AutoDFF")
    feathers = digit(room, "feathers")
    said = room.type(FIRST + "bird\n" + feathers + "\n" + "fish\n" + "0\n" + "\n")
    assert room.answers[:3] == [MAMMAL, BIRD, ("bass", "wrong", "fish", None)]
    assert "What is bear?" in said
    assert "Is duck mammal, like bear?" in said
    assert "Why is duck bird, unlike bear?" in said
    assert "New rule: bird if feathers." in said
    assert "It decides 1 more row, which was mammal until now." in said
    assert "Saved. 4 of 5 rows taught" in said
    assert "tellapart predict zoo.csv" in said


def digit(room: Room, feature: str, label: str = "bird") -> str:
    """The digit that chooses a reason for the duck."""
    room.type(FIRST)
    given = room.session.next("Ann")
    assert isinstance(given, Given)
    offered = [str(one.feature) for one in room.session.candidates(given.id, label, limit=27)]
    room.session.undo("Ann")
    return str(offered.index(feature) + 1)


def test_labels_by_digit_and_by_typing(make: Callable[..., Room]) -> None:
    room = make(learner="Hindsight", labels=["mammal", "bird", "fish"])
    room.type("2\n" + "mam\n0\n" + "FISH\n0\n" + "big cat\n0\n")
    assert [label for _, _, label, _ in room.answers] == ["bird", "mammal", "fish", "big cat"]
    assert room.session.labels == ["mammal", "bird", "fish", "big cat"]


def test_what_is_typed_means_the_first_label_that_fits_unless_it_is_new(room: Room) -> None:
    said = room.type("mandrill\n" + "man\n")
    assert room.answers[1] == ("duck", "right", "mandrill", None)
    assert '"man" is mandrill.' in said
    room.type("new: man\n0\n" + "MAN\n0\n" + "new: \n")
    assert [label for _, _, label, _ in room.answers[2:]] == ["man", "man"]
    assert room.session.labels == ["mandrill", "man"]


def test_a_word_is_a_label_and_never_commands(room: Room) -> None:
    """`Europe` was an example, an undo, a redo, and more."""
    room.type("Europe\n" + "undo\n0\n")
    assert [label for _, _, label, _ in room.answers] == ["Europe", "undo"]


def test_a_line_with_several_digits_is_a_word(room: Room) -> None:
    room.type("12\n" + "45\n0\n")
    assert [label for _, _, label, _ in room.answers] == ["12", "45"]


def test_an_article_is_kept_for_sentences(room: Room) -> None:
    said = room.type("a mammal\n")
    assert room.answers[0][2] == "mammal"
    assert "Is duck a mammal, like bear?" in said


def test_meanings_are_shown_beside_the_labels(room: Room) -> None:
    said = room.type(FIRST + "/labels mammal : gives milk\n" + "/labels bug: six\n" + "/skip\n")
    assert "mammal: gives milk" in said
    assert "there is no label 'bug'" in said
    assert room.session.meanings == {"mammal": "gives milk"}
    assert "mammal: no meaning" in room.type("/labels mammal:\n")


def test_rows_can_be_looked_for(room: Room) -> None:
    said = room.type("/find feathers\n" + "bird\n" + "/f nothing like it\n" + "/find\n")
    assert "2 left" in said
    assert "no item has all these words" in said
    assert "All rows come again." in said
    assert room.answers[0][0] == "duck"


def test_a_label_that_is_the_guess_means_right(room: Room) -> None:
    room.type(FIRST + "1\n")
    assert room.answers[1] == ("duck", "right", "mammal", None)


def test_words_narrow_the_reasons_and_their_digits(room: Room) -> None:
    said = room.type(FIRST + "bird\n" + "feath\n" + "1\n")
    assert room.answers == [MAMMAL, BIRD]
    assert "  1  feathers  2 rows" in said
    room.type("fish\nunheard\n")  # no reason, and nothing fits
    assert len(room.answers) == 2
    assert '"unheard" is no reason yet' in room.said


def test_a_reason_with_a_mistake_is_mended(room: Room) -> None:
    said = room.type(FIRST + "bird\n" + "feather = 1\n" + "legs > 1\n" + "legs =\n" + "legs < 3\n")
    assert "unknown column 'feather'" in said
    assert "holds on both" in said
    assert room.answers == [MAMMAL, ("duck", "wrong", "bird", "legs < 3")]


def test_a_tag(room: Room) -> None:
    room.type(FIRST + "bird\n" + '# looks "funny"\n')
    assert room.answers[1] == ("duck", "wrong", "bird", '"looks ""funny"""')
    assert list(room.session.table.tags) == ['looks "funny"']
    room.type("fish\n" + "#legs\n")
    assert "has a column 'legs'" in room.said
    assert len(room.answers) == 2


def test_unsure_skip_note(room: Room) -> None:
    said = room.type("/uns\n" + "/note what a day\n" + "/s\n" + "/n\n")
    assert room.answers == [("bear", "unsure", None, None), ("duck", "skipped", None, None)]
    (note,) = room.session.notes()
    assert note.data == {"text": "what a day", "item": "duck"}
    assert "Saved as unsure; nothing is learnt from it." in said
    assert "Skipped. duck comes back later." in said
    assert "Note saved." in said


def test_undo_redo_and_back(room: Room) -> None:
    room.type(FIRST + "bird\n" + "\x1b\n" + "/u\n")
    assert room.answers == []
    assert "Undone" in room.said
    room.type("/redo\n" + "bird\n" + "feathers\n" + "/u\n" + "/r\n")
    assert room.answers == [MAMMAL, BIRD]
    room.type("/redo\n")
    assert "nothing to redo" in room.said
    room.type("/undo\n/undo\n/undo\n")
    assert "nothing to undo" in room.said
    assert room.answers == []


def test_undo_where_the_reason_is_asked(room: Room) -> None:
    room.type(FIRST + "bird\n" + "/undo\n")
    assert room.answers == []


def test_an_unknown_command_does_nothing(room: Room) -> None:
    before = room.type(FIRST) and room.session.number
    said = room.type("/undp\n/\n")
    assert "There is no command /undp. Did you mean /undo?" in said
    assert room.session.number == before


def test_rules_progress_and_the_earlier_row(make: Callable[..., Room]) -> None:
    room = make(learner="AutoDFF")
    said = room.type(FIRST + "bird\nfeathers\n" + "/rules\n/progress\n/quit\n" + "no\n")
    assert "It is: bird, like duck, if feathers" in said
    assert "You have taught 2 of 5 rows." in said
    room.type("/example\nfish\n")
    assert ("fish" in {label for _, _, label, _ in room.answers}) is True


def test_help_names_every_command(room: Room) -> None:
    talk(room.session, "Ann", OneKey("?"), Console(file=(out := io.StringIO()), width=200))
    for command in COMMANDS.keys() - {"many", "answers", "data", "export"}:  # they are on the page
        assert f"/{command}" in out.getvalue()
    assert "Ctrl" not in out.getvalue()
    assert "/skip" in room.type("?\n")  # and a line of a pipe


def test_help_and_the_list_of_commands_answer_nothing(room: Room) -> None:
    room.type(FIRST)
    said = room.type("?\n/\n")
    assert said.count("/skip") == 2
    assert said.count("Yes, the guess is right") == 1
    assert room.answers == [MAMMAL]


def test_no_key_that_acts_at_once_is_help(room: Room) -> None:
    keys = OneKey("?")
    talk(room.session, "Ann", keys, Console(file=io.StringIO()))
    assert not set(keys.single) & set("?/")  # the Enter after it would be another answer


class OneKey:
    """A terminal on which one key is pressed."""

    def __init__(self, key: str) -> None:
        self.keys = [key]
        self.single = ""

    def word(self, prompt: str, single: str = "") -> str | None:
        self.single += single
        return self.keys.pop() if self.keys else None


def test_what_means_nothing_does_nothing(room: Room) -> None:
    before = room.session.number
    said = room.type("\n\x1b\n9\n")
    assert room.session.number == before + 2  # Ann came, and bear was given
    assert said.count("What is bear?") == 2  # Enter asks again
    assert "Nothing has the digit 9 here." in said
    assert "Saved." in said


def test_no_rows_left_is_an_ending_that_can_be_undone(room: Room) -> None:
    assert "That was the last row." in room.type("one\n" + "\n\n\n\n")
    said = room.type("/undo\n" + "\n")
    assert said.count("That was the last row.") == 2
    assert len(room.answers) == 5


def test_resuming_shows_the_same_row(room: Room) -> None:
    room.type(FIRST)
    number = room.session.number
    room.session.close()
    room.session = Session.open(room.store, "zoo")
    assert "Is duck mammal, like bear?" in room.type("")
    assert room.session.number == number


def test_the_end_of_the_lines_inside_a_question(room: Room) -> None:
    room.type(FIRST + "bird\n")
    assert room.answers == [MAMMAL]
    room.type("")
    assert "Saved." in room.said


def test_hints_are_said(room: Room) -> None:
    hints = {"bear": "Mind the bear.", "duck": "Quack."}
    said = room.type("", hint=lambda given, *_: hints.get(str(given.item)))
    assert "Mind the bear." in said
    assert "Quack." not in said
    assert "Quack." in room.type(FIRST, hint=lambda given, *_: hints.get(str(given.item)))


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
    said = room.type(f"/note {note}\n" + FIRST + "bird\nn = 2 AND nope\nn = 2\n")
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
    said = room.type("עברית\n")
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
    assert "nothing known" in room.type("a\n")


def test_a_terminal_of_windows(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no termios: a character at a time, arrows are two, Ctrl-Z ends it."""
    typed = iter("mamma" + "\xe0H" + "l\r" + "bird\x08d\r" + "\x1b" + "bird\r" + "0" + "\x1a")
    windows = SimpleNamespace(getwch=lambda: next(typed))
    monkeypatch.setitem(sys.modules, "msvcrt", windows)
    talk(room.session, "Ann", WindowsTerminal(), Console(file=io.StringIO()))
    assert room.answers == [MAMMAL, ("duck", "wrong", "bird", None)]


# -- the page and the console


def test_the_same_answers_give_the_same_log(make: Callable[..., Room], tmp_path: Path) -> None:
    """What is typed in the console and what the page sends, side by side."""
    room = make()
    page = Page(tmp_path)
    script: list[tuple[str, Callable[[], None]]] = [
        ("/note hello\n", lambda: page.send("note", text="hello")),
        ("mammal\n", lambda: page.answer("wrong", typed="mammal")),
        ("bird\nlegs >\n", lambda: page.answer("wrong", label="bird", feature="legs >")),
        ("bird\nlegs<3\n", lambda: page.answer("wrong", label="bird", feature="legs<3")),
        ("/undo\n", lambda: page.send("turn", do="undo")),
        ("/redo\n", lambda: page.send("turn", do="redo")),
        ("new: mam\n0\n", lambda: page.answer("wrong", typed="new: mam")),
        (
            "/labels mammal: gives milk\n",
            lambda: page.send("meaning", label="mammal", meaning="gives milk"),
        ),
        ("/find legs > 0\n", lambda: page.send("search", text="legs > 0")),
        ("/find\n", lambda: page.send("search", text="")),
        ("/skip\n", lambda: page.answer("skipped")),
        ("/unsure\n", lambda: page.answer("unsure")),
        ("/undo\n", lambda: page.send("turn", do="undo")),
        ("odd\n#tail\n", lambda: page.send("tag", label="odd", tag="tail")),
        ("\n\n", lambda: page.answer("right")),  # the tag is left open, and the guess is right
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
