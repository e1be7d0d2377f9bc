"""A session as its users see it."""

from __future__ import annotations

from typing import Any

import pytest

from teaching import animals, teach, words
from tellapart.errors import FeatureError, ParameterError, ProtocolError
from tellapart.review import ErrorBelow, NoMistakeIn, Rounds
from tellapart.sessions import Ending, Given, Session, Store
from tellapart.sessions.config import read_stopper, write_stopper
from tellapart.sessions.phrasing import stop_hint
from tellapart.sessions.queue import LATER
from tellapart.tables import Table
from zoo_session import ZOO, answer, give, name, zoo

# -- one teacher


def test_a_lesson_from_the_first_item_to_the_last(store: Store) -> None:
    with zoo(store) as session:
        given = give(session, "Ann")
        assert (name(given), given.asks, given.guess) == ("bear", "label", (None, None))
        assert session.answer("Ann", given.id, "wrong", "mammal").outcome == "label"
        assert answer(session, "Ann", "wrong", "bird", "wings") == "mistake"
        given = give(session, "Ann")
        assert (name(given), given.guess.label, str(given.guess.example)) == (
            "lion",
            "bird",
            "duck",
        )
        assert session.answer("Ann", given.id, "wrong", "mammal", "NOT wings").outcome == "mistake"
        assert answer(session, "Ann", "right") == "right"
        assert answer(session, "Ann", "wrong", "fish") == "mistake"  # cannot say why
        assert answer(session, "Ann", "unsure") == "unsure"
        ending = session.next("Ann")
        assert isinstance(ending, Ending)
        assert str(ending).startswith(
            "no items left: 5 of 6 items labelled, 1 unsure, 0 left; 3 mistakes in 4 guesses"
        )
        assert session.labels == ["mammal", "bird", "fish"]
        assert session.label_of("bass") == "fish"
        assert session.label_of("pike") is None


def test_the_same_item_until_it_is_answered(store: Store) -> None:
    with zoo(store) as session:
        first = give(session, "Ann")
        number = session.number
        assert give(session, "Ann") == first
        assert session.number == number
    with Session.open(store, "zoo", Table(ZOO, id="name")) as session:
        assert give(session, "Ann") == first


def test_a_skipped_item_comes_back_later(store: Store) -> None:
    with Session.new(store, "a", animals(), learner="AdaptiveDFF") as session:
        skipped = give(session, "Ann")
        assert session.answer("Ann", skipped.id, "skipped").outcome == "skipped"
        assert session.summary().skipped == 1
        seen = []
        for _ in range(LATER + 3):
            given = give(session, "Ann")
            seen.append(name(given))
            session.answer("Ann", given.id, *words(session, given))
        assert LATER - 2 <= seen.index(name(skipped)) <= LATER + 1
        assert session.summary().skipped == 0
    with Session.new(store, "b", animals(), learner="AdaptiveDFF") as session:
        first = give(session, "Ann")
        session.answer("Ann", first.id, *words(session, first))
        session.undo("Ann")
        again = give(session, "Ann")
        assert name(again) == name(first)  # whose answer was taken back; now it may wait
        session.answer("Ann", again.id, "skipped")
        assert name(give(session, "Ann")) != name(first)
    with zoo(store) as session:  # the last one comes back at once: there is no other
        for _ in range(5):
            answer(session, "Ann", "unsure")
        last = give(session, "Ann")
        session.answer("Ann", last.id, "skipped")
        assert name(give(session, "Ann")) == name(last)


@pytest.mark.parametrize(
    ("said", "error", "message"),
    [
        (("maybe",), ParameterError, "right, wrong, unsure, skipped, got 'maybe'"),
        (("right", "bird"), ParameterError, "'right' goes without label and feature"),
        (("wrong",), ParameterError, "a label is a text"),
        (("wrong", "\ud800"), ParameterError, "printable characters"),
        (("wrong", "a\nb"), ParameterError, "printable characters"),
        (("wrong", "mammal"), ProtocolError, "the guess was 'mammal' already; answer 'right'"),
        (("wrong", "bird", "wing"), FeatureError, "Did you mean: wings"),
        (("wrong", "bird", "fins"), FeatureError, "fins does not hold on the item duck"),
        (("wrong", "bird", "NOT fins"), FeatureError, "does not tell duck from the example bear"),
        (("wrong", "bird", "wings; DROP TABLE x"), FeatureError, "one condition|';'"),
    ],
)
def test_what_may_not_be_said_is_not_written(
    store: Store, said: tuple[str, ...], error: type[Exception], message: str
) -> None:
    with zoo(store) as session:
        answer(session, "Ann", "wrong", "mammal")
        given = give(session, "Ann")
        number = session.number
        with pytest.raises(error, match=message):
            session.answer("Ann", given.id, *said)
        assert session.number == number
        assert session.answer("Ann", given.id, "wrong", "bird", "wings").outcome == "mistake"


def test_out_of_turn(store: Store) -> None:
    with zoo(store) as session:
        given = give(session, "Ann")
        with pytest.raises(ProtocolError, match="nothing was given under the id 'x'"):
            session.answer("Ann", "x", "right")
        with pytest.raises(ProtocolError, match="was given to 'Ann', not 'Bob'"):
            session.answer("Bob", given.id, "unsure")
        with pytest.raises(ProtocolError, match="the label was asked"):
            session.answer("Ann", given.id, "right")
        with pytest.raises(ProtocolError, match="'Ann' has nothing to undo"):
            session.undo("Ann")
        with pytest.raises(ProtocolError, match="there is no answer 'x' to change"):
            session.change("Ann", "x", "unsure")
        saved = session.answer("Ann", given.id, "wrong", "mammal")
        assert session.answer("Ann", given.id, "wrong", "mammal") == saved  # a double click
        with pytest.raises(ProtocolError, match="was answered already; change that answer"):
            session.answer("Ann", given.id, "wrong", "bird")
        with pytest.raises(ProtocolError, match="'Ann' has nothing to redo"):
            session.redo("Ann")


def test_a_repeat_is_harmless(store: Store) -> None:
    with zoo(store) as session:
        given = give(session, "Ann")
        calls: list[Any] = [
            lambda: session.join("Bob", id="1"),
            lambda: session.answer("Ann", given.id, "wrong", "mammal", id="2"),
            lambda: session.undo("Ann", id="3"),
            lambda: session.redo("Ann", id="4"),
            lambda: session.change("Ann", "2", "wrong", "beast", id="5"),
            lambda: session.rename_label("Ann", "beast", "brute", id="6"),
            lambda: session.add_label("Ann", "bird", id="7"),
            lambda: session.merge_labels("Ann", "bird", "brute", id="8"),
            lambda: session.set_tag("Ann", "odd", "duck", True, id="9"),
            lambda: session.note("Ann", "so be it", id="10"),
            lambda: session.set("Ann", order="random", id="11"),
            lambda: session.next("Ann", id="12"),
        ]
        for call in calls:
            first, number = call(), session.number
            assert call() == first
            assert session.number == number
        for call in calls:
            call()
        assert session.number == number
        with pytest.raises(
            ProtocolError, match=r"the id '2' was used for event 5 .answered. already"
        ):
            session.answer("Ann", given.id, "unsure", id="2")
        with pytest.raises(ProtocolError, match="was used"):
            session.note("Ann", "something else", id="10")
        with pytest.raises(ProtocolError, match="was used"):
            session.undo("Bob", id="3")


# -- undo, redo, change


def test_undo_leaves_no_trace_and_redo_brings_everything_back(store: Store) -> None:
    with Session.new(store, "a", animals(), learner="Hindsight", order="random") as session:
        stations = [(session.model, session.summary())]
        for _ in range(30):
            teach(session, "Ann", 1)
            stations.append((session.model, session.summary()))
        for station in reversed(stations[:-1]):
            session.undo("Ann")
            assert (session.model, session.summary().mistakes) == (station[0], station[1].mistakes)
        assert not session.can_undo("Ann")
    with Session.open(store, "a", animals()) as session:  # also after a restart
        for station in stations[1:]:
            session.redo("Ann")
            assert session.model == station[0]
        assert not session.can_redo("Ann")
        session.undo("Ann")
        given = give(session, "Ann")
        assert name(given) == name_of_last(session)
        session.answer("Ann", given.id, "unsure")
        assert not session.can_redo("Ann")


def name_of_last(session: Session) -> str:
    return str(session.history()[-1].item)


def test_undo_goes_back_to_the_item_and_then_on(store: Store) -> None:
    with zoo(store) as session:
        answer(session, "Ann", "wrong", "mammal")
        answer(session, "Ann", "right")  # the duck: a wrong key
        assert name(give(session, "Ann")) == "lion"
        session.undo("Ann")
        assert name(give(session, "Ann")) == "duck"
        assert answer(session, "Ann", "wrong", "bird", "wings") == "mistake"
        assert name(give(session, "Ann")) == "lion"


def test_each_teacher_undoes_their_own(store: Store) -> None:
    with zoo(store) as session:
        answer(session, "Ann", "wrong", "mammal")
        answer(session, "Bob", "wrong", "bird", "wings")
        session.undo("Ann")
        first, second = session.history()
        assert (first.undone, second.undone) == (True, False)
        # Bob's answer, told to a learner that has seen nothing, is now the first label
        assert [(c.label, str(c.example)) for c in session.model] == [("bird", "duck")]
        with pytest.raises(ProtocolError, match="nothing that 'Bob' can undo"):
            session.undo("Bob", first.event)
        session.redo("Ann")
        assert [c.label for c in session.model] == ["bird", "mammal"]


def test_any_answer_can_be_changed(store: Store) -> None:
    with zoo(store) as session:
        answer(session, "Ann", "wrong", "mammal")
        answer(session, "Ann", "right")  # a slip: the duck is no mammal
        answer(session, "Ann", "right")
        slip = session.history()[1]
        assert session.label_of("duck") == "mammal"
        session.change("Bob", slip.event, "wrong", "bird", "wings")
        assert session.label_of("duck") == "bird"
        changed = session.history()[1]
        assert (changed.teacher, changed.answer, changed.feature) == ("Ann", "wrong", "wings")
        assert len(changed.changes) == 1
        session.undo("Bob")
        assert session.label_of("duck") == "mammal"
        session.redo("Bob")
        # the lion was called right when the guess was like the bear; now the duck's rule covers it
        lion = session.history()[2]
        assert (str(lion.item), lion.outcome) == ("lion", "again")
        given = give(session, "Ann")
        assert (name(given), given.asks, given.kept) == ("lion", "feature", "mammal")
        session.change("Ann", slip.event, "skipped")
        assert session.label_of("duck") is None


# -- rules by hand


def test_a_rule_is_dropped_and_edited_by_a_person(store: Store) -> None:
    with Session.new(store, "a", animals(), learner="CappedDFF", parameters={"m": 9}) as session:
        teach(session, "Ann", 30)
        rules = session.model.clauses
        assert len(rules) >= 2
        session.drop_rule("Bob", rules[0].example)
        assert session.model.clauses == rules[1:]
        session.undo("Bob")
        assert session.model.clauses == rules
        session.edit_rule("Bob", rules[1].example, "fins AND legs > 2", "shark")
        edited = session.model.clauses[1]
        assert ([str(literal) for literal in edited.literals], edited.label) == (
            ["fins AND legs > 2"],
            "shark",
        )
        assert edited.origin == "by hand"
        with pytest.raises(ParameterError, match="no rule with the example"):
            session.drop_rule(
                "Bob", next(i for i in session.table.items if i not in [r.example for r in rules])
            )
        # a wrong guess of the edited rule is corrected like any other
        for _ in range(30):
            given = session.next("Ann")
            if isinstance(given, Ending):
                break
            session.answer("Ann", given.id, *words(session, given))
        model = session.model
        assert len(model.clauses[1].literals) > 1
    with Session.open(store, "a", animals()) as session:
        assert session.model == model


# -- what comes next


def test_the_order_can_be_switched(store: Store) -> None:
    with Session.new(store, "a", animals(200), learner="AdaptiveDFF") as session:
        seen = []
        for order in ("file", "random", "least sure", "mixed", "file"):
            session.set("Ann", order=order)
            for _ in range(10):
                given = give(session, "Ann")
                seen.append(given.item.place)
                session.answer("Ann", given.id, *words(session, given))
        assert seen[:10] == list(range(10))
        assert seen[10:20] != sorted(seen[10:20])
        assert len(set(seen)) == 50
        assert seen[40:] == sorted(set(range(200)) - set(seen[:40]))[:10]
        with pytest.raises(ParameterError, match="an order is one of"):
            session.set("Ann", order="loudest")


def test_stoppers(store: Store) -> None:
    stoppers = NoMistakeIn(4), ErrorBelow(0.9, lately=True), Rounds(1000)
    for stopper in stoppers:
        assert read_stopper(write_stopper(stopper)) == stopper
    run, error, rounds = map(write_stopper, stoppers)
    joined = {"or": [{"and": [run, error]}, rounds]}  # in logs of earlier versions
    assert read_stopper(joined) == stoppers[1]
    assert read_stopper({"or": [rounds, run]}) == stoppers[2]
    with pytest.raises(ParameterError, match="choose one stopper"):
        zoo(store, until=joined)
    for odd in ({"no mistake in": 4, "or": 3}, {"error": 1}, {"and": [None, None]}, 3):
        with pytest.raises(ParameterError, match="stopper"):
            read_stopper(odd)
    with zoo(store, until=NoMistakeIn(2), learner="DFF") as session:
        answer(session, "Ann", "wrong", "mammal")
        assert not session.summary().may_stop
        answer(session, "Ann", "right")
        answer(session, "Ann", "right")
        summary = session.summary()
        assert summary.may_stop
        assert summary.stop is not None
        assert summary.stop.startswith("no mistake in 2 items")
        # what is said assumes that items are drawn; where they are not, it says so
        assert summary.stop.endswith("you may stop (for items in random order)")
        assert (
            stop_hint(summary) == "You may stop: no mistake in 2 items (for items in random order)"
        )
        session.set("Ann", order="random")
        assert stop_hint(session.summary()) == "You may stop: no mistake in 2 items"
        session.undo("Ann")
        assert stop_hint(session.summary()) == "With one more, you may stop"
        assert not session.summary().may_stop
        session.set("Ann", until=Rounds(1), order="file")
        assert stop_hint(session.summary()) == "You may stop: 2 items done"
        session.set("Ann", until=None)
        assert session.summary().stop is None


# -- reasons


def test_candidates_and_a_look_at_an_expression(store: Store) -> None:
    with zoo(store) as session:
        given = give(session, "Ann")
        assert session.candidates(given.id) == []
        session.answer("Ann", given.id, "wrong", "mammal")
        given = give(session, "Ann")
        found = session.candidates(given.id, "bird")
        assert "wings" in [str(candidate.feature) for candidate in found]
        for candidate in found:
            assert session.check(given.id, str(candidate.feature)).tells
        looked = session.check(given.id, "2 = legs")
        assert looked == ("legs = 2", True, False, 2)
        assert not session.check(given.id, "legs > 3").tells
        with pytest.raises(FeatureError):
            session.check(given.id, "legs >")
        assert session.given(given.id) == given
        with pytest.raises(ProtocolError, match="nothing was given"):
            session.check("x", "legs > 3")


def test_a_feature_named_before_is_offered_again_and_its_opposite(store: Store) -> None:
    with zoo(store) as session:
        answer(session, "Ann", "wrong", "mammal")
        feature = str(session.table.parse("legs * 2 = 4 OR wings"))  # not offered by itself
        given = give(session, "Ann")
        assert feature not in {str(c.feature) for c in session.candidates(given.id, "bird")}
        session.answer("Ann", given.id, "wrong", "bird", feature)
        for _ in range(20):
            given = give(session, "Ann")
            said = {str(c.feature): c for c in session.candidates(given.id, "fish", limit=9)}
            example = given.guess.example
            assert example is not None
            holds = {row: bool(session.table.parse(feature)(row)) for row in (given.item, example)}
            if holds[given.item] and not holds[example]:
                assert feature in said
            elif holds[example] and not holds[given.item]:
                assert str(session.table.parse(f"NOT ({feature})")) in said
                return
            session.answer("Ann", given.id, "unsure")
        pytest.fail("no item without it was given")


# -- learners


def test_learners_by_name(store: Store) -> None:
    with pytest.raises(ParameterError, match="unknown learner 'Oracle'; known are AdaptiveDFF"):
        zoo(store, learner="Oracle")
    with pytest.raises(ParameterError, match=r"CappedDFF must be told m"):
        zoo(store, learner="CappedDFF")
    with pytest.raises(ParameterError, match="overlap is a number from 0 to 1"):
        zoo(store, overlap=2)
    with pytest.raises(ParameterError, match="lease is a number of seconds"):
        zoo(store, lease=0)
    assert store.sessions() == []


def test_a_learner_may_look_at_what_the_table_shows(store: Store) -> None:
    weights = [(7 * n) % 40 for n in range(120)]
    pets = Table({"name": [f"pet {n}" for n in range(120)], "weight": weights}, id="name")
    with Session.new(store, "pets", pets, learner="AutoDFF") as session:
        for _ in range(100):
            given = session.next("Ann")
            assert isinstance(given, Given)
            label = "heavy" if given.item["weight"] >= 20 else "light"
            said = ("right",) if given.guess.label == label else ("wrong", label)
            session.answer("Ann", given.id, *said)
        assert "weight >= " in str(session.model), "learnt from labels alone"
        assert session.summary().recent.mistakes <= 2
        before = str(session.model)
    with Session.open(store, "pets", pets) as session:
        assert str(session.model) == before


@pytest.mark.parametrize(
    ("last", "said"), [(True, "if milk: mammal"), (None, "if not (NOT milk): mammal")]
)
def test_rules_have_no_needless_negations(store: Store, last: bool | None, said: str) -> None:
    """Where milk may be unknown, the two are not the same."""
    milk = {"name": ["duck", "bear", "hen", "bat"], "milk": [False, True, False, last]}
    with Session.new(store, "milk", Table(milk, id="name"), learner="DFF") as session:
        answer(session, "Ann", "wrong", "bird")
        answer(session, "Ann", "wrong", "mammal", "milk")
        answer(session, "Ann", "wrong", "bird", "NOT milk")
        assert str(session.model).startswith(said)


@pytest.mark.parametrize(
    ("feature", "known", "unknown"),
    [
        ("sound NOT ILIKE '%oo%'", "sound ILIKE '%oo%'", "not (sound NOT ILIKE '%oo%')"),
        ("sound <> 'moo'", "sound = 'moo'", "not (sound <> 'moo')"),
        ("sound NOT IN ('moo', 'boo')", "sound IN (", "not (sound NOT IN ("),
        ("legs IS NOT NULL", "legs IS NULL", "legs IS NULL"),
        ("(sound = 'moo') + (legs IS NULL) < 1", "if at_least(1, ", "if at_least(1, "),
    ],
)
def test_no_rule_says_unless_not(store: Store, feature: str, known: str, unknown: str) -> None:
    for said, last in ((known, "baa"), (unknown, None)):
        sounds = {"name": ["dog", "cow", "cat", "sheep"], "sound": ["wow", "moo", "miaow", last]}
        table = Table({**sounds, "legs": [4, None, 4, 4]}, id="name")
        with Session.new(store, str(last), table, learner="DFF") as session:
            answer(session, "Ann", "wrong", "pet")
            answer(session, "Ann", "wrong", "cattle", "sound = 'moo'")
            answer(session, "Ann", "wrong", "pet", feature)
            assert said in str(session.model)


def test_texts_alone_are_taught_without_reasons(store: Store) -> None:
    texts = Table({"text": [f"a text that goes on, number {n}" for n in range(60)]})
    with Session.new(store, "texts", texts, order="file") as session:
        for n in range(60):
            given = session.next("Ann")
            assert isinstance(given, Given)
            label = "ab"[n * n % 3 % 2]
            if given.guess.label == label:
                session.answer("Ann", given.id, "right")
            else:
                session.answer("Ann", given.id, "wrong", label)
        assert len(session.history()) == 60
