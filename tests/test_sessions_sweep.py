"""Sweeps: many guesses accepted at once, each a round like any other."""

from __future__ import annotations

from typing import Any

import pytest

from tellapart.errors import ParameterError, ProtocolError
from tellapart.sessions import Event, Session, Store, Swept
from tellapart.sessions.items import Items
from tellapart.sessions.log import State
from tellapart.sessions.replies import Summary, summary
from tellapart.tables import Table
from zoo_session import Clock, give

COUNT = 40


def table() -> Table:
    names = [f"i{n}" for n in range(COUNT)]
    return Table({"name": names, "wings": [n % 4 == 1 for n in range(COUNT)]}, id="name")


def begin(store: Store, **how: Any) -> Session:
    """Two items are taught: i0 is a beast, i1 a bird."""
    session = Session.new(store, "zoo", table(), learner="DFF", **how)
    session.answer("Ann", give(session, "Ann").id, "wrong", "beast")
    session.answer("Ann", give(session, "Ann").id, "wrong", "bird", "wings")
    session.answer("Ann", give(session, "Ann").id, "wrong", "beast", "NOT wings")
    return session


def names(items: Any) -> list[str]:
    return [str(item) for item in items]


def test_a_sweep_shows_what_a_label_or_a_rule_covers(store: Store) -> None:
    with begin(store) as session:
        rule = next(n for n, clause in enumerate(session.model, 1) if clause.label == "bird")
        for sweep in (session.sweep("Ann", label="bird"), session.sweep("Ann", rule=rule)):
            assert sweep.label == "bird"
            assert names(sweep.items) == [f"i{n}" for n in range(5, COUNT, 4)]
        assert names(session.sweep("Ann", label="bird", limit=2).items) == ["i5", "i9"]
        assert session.sweep("Ann", label="bird", limit=2).left == 9
        assert session.left_to_sweep("Ann") == {"beast": (28, 30), "bird": (9, 10)}
        for wrong in ({"rule": 99}, {"label": "fish"}, {}, {"rule": 1, "label": "bird"}):
            with pytest.raises(ParameterError):
                session.sweep("Ann", **wrong)


def test_what_is_accepted_is_answered_and_what_is_marked_comes_next(store: Store) -> None:
    with begin(store) as session:
        items = session.sweep("Ann", label="bird").items
        before, summary = session.number, session.summary()
        assert session.accept("Ann", "bird", items[2:], items[:2], id="s") == Swept(7, 2, 0)
        assert session.number == before + 1 + 2 * 7
        assert session.accept("Ann", "bird", items[2:], items[:2], id="s") == Swept(7, 2, 0)
        assert session.number == before + 1 + 2 * 7  # a repeat is harmless
        with pytest.raises(ProtocolError):
            session.accept("Ann", "bird", items[3:], items[:2], id="s")
        said = session.history()[3:]
        assert names(one.item for one in said) == names(items[2:])
        assert {(one.answer, one.outcome, one.guess) for one in said} == {
            ("right", "right", "bird")
        }
        after = session.summary()
        assert after.labelled == summary.labelled + 7
        assert after.drawn == summary.drawn  # no random draw
        assert session.sweep("Ann", label="bird").left == 2
        for item in items[:2]:
            given = give(session, "Ann")
            assert given.item == item
            assert given.marked
            session.answer("Ann", given.id, "wrong", "bat")
        assert not give(session, "Ann").marked
        log = store.log("zoo")
    with Session.open(store, "zoo", table()) as again:  # the log says it all
        assert again.summary() == session_summary(log)
        assert again.summary().labelled == summary.labelled + 9


def session_summary(log: list[Event]) -> Summary:
    return summary(State(Items(table()), log))


def test_undo_takes_the_whole_sweep_back_and_redo_brings_it_again(store: Store) -> None:
    with begin(store) as session:
        before, rules = session.summary(), str(session.model)
        items = session.sweep("Ann", label="bird").items
        session.accept("Ann", "bird", items)
        after = session.summary()
        session.undo("Ann", id="u")
        number = session.number
        session.undo("Ann", id="u")
        assert session.number == number
        assert (session.summary().labelled, str(session.model)) == (before.labelled, rules)
        assert session.sweep("Ann", label="bird").left == len(items)
        session.redo("Ann")
        assert session.summary() == after
        session.undo("Ann")
        session.undo("Ann")  # the answer before the sweep
        assert session.summary().labelled == before.labelled - 1


def test_what_others_have_or_said_is_left_out(store: Store) -> None:
    clock = Clock()
    with begin(store, clock=clock, order="file") as session:
        items = session.sweep("Ann", label="bird").items
        session.search("Bob", "wings")
        bobs = give(session, "Bob").item
        assert bobs == items[0]
        assert session.sweep("Ann", label="bird").items == items[1:]
        session.accept("Cid", "bird", items[1:3])
        assert session.accept("Ann", "bird", items) == Swept(6, 0, 3)
        assert session.accept("Ann", "beast", [items[0]]) == Swept(0, 0, 1)  # guessed otherwise
        with pytest.raises(ParameterError, match="right or wrong, not both"):
            session.accept("Ann", "bird", items[:1], items[:1])
        with pytest.raises(ParameterError, match="needs items"):
            session.accept("Ann", "bird", [])
        clock.now += 3600  # Bob has gone
        assert session.accept("Ann", "bird", [items[0]]) == Swept(1, 0, 0)
