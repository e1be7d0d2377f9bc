"""The words of a session: labels, their meanings, tags, and items that are looked for."""

from __future__ import annotations

import pytest

from tellapart.errors import FeatureError, ParameterError, ProtocolError
from tellapart.sessions import Session, Store
from tellapart.sessions.history import MOST_CHARACTERS
from tellapart.tables import Table
from zoo_session import ZOO, answer, give, name, zoo


def test_labels_are_added_renamed_and_merged(store: Store) -> None:
    with zoo(store, labels=["mammal"]) as session:
        answer(session, "Ann", "wrong", "mammal")
        answer(session, "Ann", "wrong", "brid", "wings")
        session.rename_label("Bob", "brid", "bird")
        assert session.labels == ["mammal", "bird"]
        assert session.label_of("duck") == "bird"
        assert session.model.clauses[0].label == "bird"
        with pytest.raises(ParameterError, match="there is a label 'bird' already"):
            session.rename_label("Bob", "mammal", "bird")
        with pytest.raises(ParameterError, match="no label 'fish'; labels are: 'mammal', 'bird'"):
            session.rename_label("Bob", "fish", "pisces")
        answer(session, "Ann", "wrong", "beast", "NOT wings")  # lion
        session.merge_labels("Bob", "beast", "mammal")
        assert session.labels == ["mammal", "bird"]
        assert session.label_of("lion") == "mammal"
        session.undo("Bob")
        assert session.label_of("lion") == "beast"
        session.undo("Bob")
        assert session.label_of("duck") == "brid"
        session.add_label("Ann", "fish")
        assert session.labels == ["mammal", "brid", "beast", "fish"]
        with pytest.raises(ParameterError, match="already"):
            session.add_label("Ann", "fish")


def test_a_label_that_comes_again_after_undo_is_the_last(store: Store) -> None:
    with zoo(store) as session:
        answer(session, "Ann", "wrong", "slip")
        session.undo("Ann")
        session.add_label("Ann", "mammal")
        answer(session, "Ann", "wrong", "bird")
        assert session.labels == ["mammal", "bird"]
        answer(session, "Ann", "wrong", "slip", "wings")
        assert session.labels == ["mammal", "bird", "slip"]


def test_a_label_only_in_undone_answers_is_not_listed(store: Store) -> None:
    with zoo(store) as session:
        answer(session, "Ann", "wrong", "mamal")
        session.undo("Ann")
        assert session.labels == []
        session.redo("Ann")
        assert session.labels == ["mamal"]


def test_an_old_name_still_means_its_label(store: Store) -> None:
    with zoo(store) as session:
        answer(session, "Ann", "wrong", "mammal")
        given = give(session, "Bob")
        session.rename_label("Ann", "mammal", "beast")
        with pytest.raises(ProtocolError, match="the guess was 'mammal' already"):
            session.answer("Bob", given.id, "wrong", "mammal")


def test_tags_are_features_like_any_other(store: Store) -> None:
    with zoo(store) as session:
        answer(session, "Ann", "wrong", "mammal")
        session.set_tag("Ann", "can fly", "duck", True)
        with pytest.raises(ParameterError, match="has a column 'legs'"):
            session.set_tag("Ann", "legs", "duck", True)
        assert answer(session, "Ann", "wrong", "bird", '"can fly"') == "mistake"
        given = give(session, "Ann")  # nobody has said whether the lion can fly: unknown, not false
        assert session.check(given.id, '"can fly"').on_item is None
        session.undo("Ann")
        session.undo("Ann")
        assert session.table.tag("can fly").get("duck") is None
        session.redo("Ann")
        session.redo("Ann")
        assert [c.label for c in session.model] == ["bird", "mammal"]
    with Session.open(store, "zoo", Table(ZOO, id="name")) as session:
        assert session.table.tag("can fly").get("duck") is True


def test_a_label_has_a_meaning_through_all_its_names(store: Store) -> None:
    with zoo(store, labels=["brid", "fish"]) as session:
        session.describe_label("Ann", "brid", "has feathers")
        session.describe_label("Bob", "fish", "has gills", id="f")
        session.describe_label("Bob", "fish", "has gills", id="f")  # a repeat
        session.rename_label("Ann", "brid", "bird")
        assert session.meanings == {"bird": "has feathers", "fish": "has gills"}
        session.describe_label("Ann", "fish", "")
        assert session.meanings == {"bird": "has feathers"}
        session.merge_labels("Ann", "fish", "bird")
        assert session.meanings == {"bird": "has feathers"}
        with pytest.raises(ParameterError, match="there is no label 'bug'"):
            session.describe_label("Ann", "bug", "six legs")
        with pytest.raises(ParameterError, match="a meaning is a text"):
            session.describe_label("Ann", "bird", "two\nlines")
    with Session.open(store, "zoo", Table(ZOO, id="name")) as session:
        assert session.meanings == {"bird": "has feathers"}


def test_items_that_are_looked_for_come_next(store: Store) -> None:
    table = Table(ZOO, id="name")
    winged = [str(row) for row in table.items if row["wings"]]
    with zoo(store) as session:
        before = give(session, "Ann")
        session.search("Ann", "wings")
        assert session.search_of("Ann") == ("wings", len(winged))
        found = []
        for _ in winged:
            given = give(session, "Ann")
            found.append(name(given))
            said = "right" if given.asks == "answer" else "wrong"
            session.answer("Ann", given.id, said, *(["bird"] if said == "wrong" else []))
        assert found == winged
        assert session.search_of("Ann") is None
        assert name(give(session, "Ann")) == name(before)  # and on as before
        with pytest.raises(ParameterError, match="nothing is left of the"):
            session.search("Ann", "wings")
        with pytest.raises(ParameterError, match="no item fits: legs > 100"):
            session.search("Ann", "legs > 100")
        with pytest.raises(FeatureError, match="wigns"):
            session.search("Ann", "wigns")
    with Session.open(store, "zoo", Table(ZOO, id="name")) as session:
        assert [one.item["wings"] for one in session.history()] == [True] * len(winged)


def test_words_are_looked_for_in_all_texts_and_a_search_can_end(store: Store) -> None:
    table = Table({"name": ["Rex", "Tom", "rexina"], "kind": ["dog", "CAT", "cat"]}, id="name")
    with Session.new(store, "pets", table, learner="DFF") as session:
        session.search("Bob", "cat REX")
        assert name(give(session, "Ann")) == "Rex"  # everybody looks for themselves
        assert name(give(session, "Bob")) == "rexina"
        assert session.search_of("Bob") == ("cat REX", 1)  # the one before him is the last
        session.search("Bob", None)
        assert session.search_of("Bob") is None
        session.search("Ann", "tom")
        assert name(give(session, "Ann")) == "Tom"
        session.search("Ann", "  ")
        assert session.search_of("Ann") is None


def test_items_that_were_looked_for_are_no_random_draw(store: Store) -> None:
    rows = {"n": list(range(300)), "even": [n % 2 == 0 for n in range(300)]}
    with Session.new(store, "n", Table(rows), learner="DFF", order="random") as session:
        answer(session, "Ann", "wrong", "number")
        for _ in range(20):
            answer(session, "Ann", "right")
        known = session.summary()
        session.search("Ann", "even")
        for _ in range(60):
            answer(session, "Ann", "right")
        after = session.summary()
        assert after.guesses == known.guesses + 60
        # Right ones that were looked for: the wrong ones may all be left
        assert after.error.wrong_left == known.error.wrong_left > 20
        assert after.error.rows_left == known.error.rows_left - 60 == 300 - 81
        answer(session, "Ann", "skipped")  # looked for once, it stays so
        session.search("Ann", None)
        for _ in range(20):
            answer(session, "Ann", "right")
        assert session.summary().error.high < known.error.high
        given = give(session, "Ann")
    with Session.open(store, "n", Table(rows)) as session:
        assert session.summary().guesses == after.guesses + 20
        assert give(session, "Ann").id == given.id
        sought = sum(event.data.get("sought", False) for event in store.log("n"))
        assert sought >= 61


def test_labels_that_look_the_same_are_one(store: Store) -> None:
    """A letter with an accent can be written in two ways that nobody can tell apart."""
    one, two = "\u00e9l\u00e9phant", "e\u0301le\u0301phant"
    with zoo(store, labels=[one, two]) as session:
        assert session.labels == [one]
        assert answer(session, "Ann", "wrong", two) == "label"
        assert session.label_of("bear") == one
        for spelled in (one, two):
            with pytest.raises(ParameterError, match=r"there is a label .* already"):
                session.add_label("Ann", spelled)
        session.add_label("Ann", "duck")
        with pytest.raises(ParameterError, match=r"there is a label .* already"):
            session.rename_label("Ann", "duck", two)
        session.start_from("column kind", {"duck": "duck", "lion": two})
        assert session.labels == [one, "duck"]


def test_a_session_has_room_for_so_many_labels(store: Store) -> None:
    with zoo(store) as session:
        room = MOST_CHARACTERS // 195
        for n in range(room):
            session.add_label("Ann", f"{n:0195}")
        for label in ("a" * 195, "b" * 195):
            with pytest.raises(ParameterError, match="at most 1,000 labels with 50,000 characters"):
                session.add_label("Ann", label)
        with pytest.raises(ParameterError, match="at most 1,000 labels"):
            answer(session, "Ann", "wrong", "a" * 195)
        answer(session, "Ann", "wrong", f"{3:0195}")
        assert len(session.labels) == room
    with pytest.raises(ParameterError, match="and these are 1,001 with"):
        Session.new(store, "many", Table({"a": [1]}), labels=map(str, range(1001)))
