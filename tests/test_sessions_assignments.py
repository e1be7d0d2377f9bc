"""Who is asked about which rows, and labels to start from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tellapart import Store, Table, worlds
from tellapart.errors import FeatureError, ParameterError
from tellapart.sessions import Ending, Given, Session
from tellapart.sessions.phrasing import ending_text

NAMES = ["bear", "duck", "bass", "lion", "crow", "tuna", "wolf", "swan"]
KINDS = ["mammal", "bird", "fish", "mammal", "bird", "fish", "mammal", "bird"]
COLUMNS = {
    "name": NAMES,
    "legs": [4, 2, 0, 4, 2, 0, 4, 2],
    "wings": [kind == "bird" for kind in KINDS],
}
TRUTH = dict(zip(NAMES, KINDS, strict=True))


def zoo() -> Table:
    return Table(COLUMNS, id="name")


def animals() -> tuple[Table, dict[str, str]]:
    """101 animals and their labels."""
    world = worlds.zoo()
    names = [f"{item['name']} {n}" for n, item in enumerate(world.items)]
    columns = {name: [item[name] for item in world.items] for name in world.items[0]}
    table = Table({**columns, "name": names}, id="name")
    return table, dict(zip(names, world.labels, strict=True))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "zoo.db") as opened:
        yield opened


def teach_all(session: Session, teacher: str) -> list[str]:
    """Answer until nothing is left for this teacher; returns the items."""
    met = []
    while isinstance(given := session.next(teacher), Given):
        label = TRUTH[str(given.item)]
        right = given.guess.label == label
        session.answer(teacher, given.id, *(("right",) if right else ("wrong", label)))
        met.append(str(given.item))
    return met


def test_rows_go_to_those_they_are_assigned_to(store: Store) -> None:
    with Session.new(store, "zoo", zoo(), order="random") as session:
        session.set("Ann", assignments={"Bob": {"where": "legs=4"}, "Eve": {"where": "legs = 4"}})
        assert session.settings["assignments"]["Bob"] == {"where": "legs = 4"}
        first = session.next("Bob")
        assert isinstance(first, Given)
        session.answer("Bob", first.id, "skipped")
        assert sorted([*teach_all(session, "Eve"), *teach_all(session, "Bob")]) == [
            "bear",
            "lion",
            "wolf",
        ]
        assert sorted(teach_all(session, "Ann")) == ["bass", "crow", "duck", "swan", "tuna"]
        assert session.summary().left == 0


def test_second_opinions_wait_for_those_who_may_give_them(store: Store) -> None:
    with Session.new(store, "zoo", zoo(), order="file", overlap=1.0) as session:
        fours = {"where": "legs = 4"}
        session.set("Ann", assignments={"Bob": fours, "Eve": fours})
        assert teach_all(session, "Bob") == ["bear", "lion", "wolf"]
        assert isinstance(session.next("Ann"), Given)  # she is offered, and loses, none of these
        assert teach_all(session, "Eve") == ["bear", "lion", "wolf"]


def test_assigned_rows_are_no_random_draw(store: Store) -> None:
    with Session.new(store, "zoo", zoo(), order="random") as session:
        session.set("Ann", assignments={"Bob": {"where": "legs = 4"}})
        teach_all(session, "Ann")
        assert session.summary().drawn == 0


def test_the_log_says_the_same_again(store: Store) -> None:
    wanted = {"Bob": {"where": "legs = 4"}}
    with Session.new(store, "zoo", zoo(), order="random", seed=3) as session:
        session.set("Ann", assignments={**wanted, "Eve": {}})
        before = str(session.next("Bob").item)
    with Session.open(store, "zoo", zoo()) as session:
        assert session.settings["assignments"] == wanted
        assert str(session.next("Bob").item) == before
        session.set("Ann", assignments={})
        assert session.settings["assignments"] == {}


def test_the_end_says_that_others_have_rows_left(store: Store) -> None:
    with Session.new(store, "zoo", zoo(), order="random") as session:
        session.set("Ann", assignments={"Bob": {"where": "legs = 4"}})
        teach_all(session, "Ann")
        ending = session.next("Ann")
        assert isinstance(ending, Ending)
        assert ending_text(ending) == "That was the last row for you."
        session.next("Bob")
        ending = session.next("Ann")
        assert isinstance(ending, Ending)
        assert ending.busy == 1
        assert "1 row with others may come back" in ending_text(ending)


@pytest.mark.parametrize(
    "wrong",
    [[], {"Bob": "all"}, {"Bob": {"where": 4}}, {"Bob": {"rows": "x"}}, {"Bob": {"labels": [1]}}],
)
def test_what_is_no_assignment(store: Store, wrong: object) -> None:
    with Session.new(store, "zoo", zoo()) as session:
        number = session.number
        with pytest.raises(ParameterError, match="assignment"):
            session.set("Ann", assignments=wrong)
        with pytest.raises(FeatureError, match="unknown column 'leg'"):
            session.set("Ann", assignments={"Bob": {"where": "leg = 4"}})
        assert session.number == number


# -- labels to start from


def test_labels_are_first_answers_an_event_each(store: Store) -> None:
    known = {name: TRUTH[name] for name in NAMES[:5]}
    with Session.new(store, "zoo", zoo(), order="random") as session:
        assert session.start_from("column kind", known) == 5
        said = {str(one.item): one.label or one.guess for one in session.history()}
        assert said == known
        assert {one.teacher for one in session.history()} == {"column kind"}
        assert session.summary().labelled + session.summary().waiting == 5
        assert session.summary().drawn == 0  # nobody drew them
        number = session.number
        assert session.start_from("column kind", known) == 0  # a second time changes nothing
        assert session.number == number
        assert sorted(teach_all(session, "Ann")) == ["swan", "tuna", "wolf"]
    log = [event.type for event in store.log("zoo")]
    assert log.count("answered") == 8
    with Session.open(store, "zoo", zoo()) as session:
        assert len(session.history()) == 8


def test_labels_to_start_from_are_all_taken_or_none(store: Store) -> None:
    with Session.new(store, "zoo", zoo()) as session:
        with pytest.raises(ParameterError):
            session.start_from("column kind", {"bear": "mammal", "duck": "a\nb"})
        assert session.history() == []


def test_no_label_to_start_from_needs_a_reason_when_another_is_changed(store: Store) -> None:
    """They never had one: a change of one of them must not undo what the others taught."""
    table, labels = animals()
    with Session.new(store, "zoo", table) as session:
        assert session.start_from("column type", labels) == 101
        rules = session.summary().rules
        for event in [one.event for one in session.history()][:3]:
            session.change("Ann", event, "wrong", "reptile")
            assert session.summary().waiting == 0
            assert session.summary().labelled == 101
        assert session.summary().rules > rules / 2
        model = session.model
    with Session.open(store, "zoo", animals()[0]) as session:
        assert session.model == model


def test_a_column_is_not_the_first_of_two_teachers(store: Store) -> None:
    """People are asked about the rows that have no label; the overlap is among people."""
    known = {name: TRUTH[name] for name in NAMES[:5]}
    with Session.new(store, "zoo", zoo(), order="random", overlap=1.0) as session:
        session.start_from("column kind", known)
        assert sorted(teach_all(session, "Ann")) == ["swan", "tuna", "wolf"]
        assert sorted(teach_all(session, "Bob")) == ["swan", "tuna", "wolf"]
        assert isinstance(session.next("Eve"), Ending)
