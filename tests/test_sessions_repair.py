"""Repairing an answer: what follows, and why an item is asked again."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from tellapart.errors import ProtocolError
from tellapart.samples import animals, write_bank
from tellapart.sessions import Ending, Given, Session, Store, teams
from tellapart.sessions.phrasing import why_again
from tellapart.tables import Table, read_table
from zoo_session import give


def teach_with_slips(store: Store, answers: int, slips: int, seed: int = 0) -> dict[str, str]:
    """The zoo, taught by somebody who errs now and then; returns what was said wrongly."""
    truth = {animal["name"]: label for animal, label in animals()}
    table = zoo_table()
    known = sorted(set(truth.values()))
    dice = random.Random(seed)
    wrong = set(dice.sample(range(10, answers), slips))
    made: dict[str, str] = {}
    session = Session.new(store, "zoo", table, order="random", seed=seed, labels=known)
    for turn in range(answers):
        given = session.next("Ann")
        assert isinstance(given, Given)
        name = str(given.item)
        label = truth[name]
        if turn in wrong and given.asks != "feature":
            label = made[name] = dice.choice([one for one in known if one != label])
        if label == given.guess.label:
            session.answer("Ann", given.id, "right")
            continue
        asks_label = given.guess.label is None
        found = [] if asks_label else session.candidates(given.id, label, limit=1)
        session.answer("Ann", given.id, "wrong", label, str(found[0].feature) if found else None)
    session.close()
    return made


def four_animals() -> Table:
    columns = {"name": ["bear", "duck", "bass", "pike"], "wings": [False, True, False, False]}
    return Table({**columns, "fins": [False, False, True, True]}, id="name")


def test_an_item_that_is_asked_again_says_why(store: Store) -> None:
    with Session.new(store, "zoo", four_animals(), learner="DFF") as session:
        session.answer("Ann", give(session, "Ann").id, "wrong", "mammal")
        duck = session.answer("Ann", give(session, "Ann").id, "wrong", "bird", "wings")
        bass = give(session, "Ann")
        assert session.asked_again(bass.id) is None
        assert str(bass.guess.example) == "duck"
        session.answer("Ann", bass.id, "wrong", "fish", "fins")
        session.change("Ann", duck.id, "right")  # a mammal after all: the bass is like the bear
        again = give(session, "Ann")
        assert (str(again.item), again.asks, str(again.guess.example)) == (
            "bass",
            "feature",
            "bear",
        )
        why = session.asked_again(again.id)
        assert why is not None
        assert (why.label, str(why.example), str(why.changed), why.by) == (
            "fish",
            "duck",
            "duck",
            "Ann",
        )


def test_what_comes_back_comes_before_what_a_teacher_has(store: Store) -> None:
    with Session.new(store, "zoo", four_animals(), learner="DFF") as session:
        session.answer("Ann", give(session, "Ann").id, "wrong", "mammal")
        duck = session.answer("Ann", give(session, "Ann").id, "wrong", "bird", "wings")
        session.answer("Ann", give(session, "Ann").id, "wrong", "fish", "fins")
        assert str(give(session, "Ann").item) == "pike"
        session.change("Ann", duck.id, "right")
        again = give(session, "Ann")
        assert (str(again.item), again.asks) == ("bass", "feature")
        session.answer("Ann", again.id, "wrong", "fish", "fins")
        assert str(give(session, "Ann").item) == "pike"


@pytest.mark.parametrize("who", ["Ann", "Bob"])
def test_an_answer_that_was_changed_while_its_reason_was_asked_is_done(
    store: Store, who: str
) -> None:
    table = Table({"name": ["bear", "lion"], "wings": [False, False]}, id="name")
    with Session.new(store, "zoo", table, learner="DFF") as session:
        bear = session.answer("Ann", give(session, "Ann").id, "wrong", "mammal")
        lion = session.answer("Ann", give(session, "Ann").id, "right")
        session.change("Ann", bear.id, "wrong", "fish")
        again = give(session, who)
        assert (str(again.item), again.asks) == ("lion", "feature")
        session.change("Ann", lion.id, "wrong", "fish")  # as it is guessed now
        assert isinstance(session.next(who), Ending)
        assert session.waiting() == frozenset()


def test_the_reason_of_an_answer_whose_example_is_another_is_asked_once(store: Store) -> None:
    with Session.new(store, "zoo", four_animals(), learner="DFF") as session:
        session.answer("Ann", give(session, "Ann").id, "wrong", "mammal")
        duck = session.answer("Ann", give(session, "Ann").id, "wrong", "bird", "wings")
        bass = session.answer("Ann", give(session, "Ann").id, "wrong", "fish", "fins")
        assert session.guess_now(bass.id) is None
        session.change("Ann", duck.id, "right")
        now = session.guess_now(bass.id)  # it was told from the duck
        assert now is not None
        assert (now.label, str(now.example)) == ("mammal", "bear")
        assert session.guess_now(duck.id) is None
        session.change("Ann", bass.id, "wrong", "insect")
        again = give(session, "Ann")
        assert (str(again.item), again.asks, again.kept) == ("bass", "feature", "insect")
        why = session.asked_again(again.id)
        assert why_again(why, again.guess) == (
            "Its answer was changed to insect. Now it is like bear: a reason is wanted."
        )
        session.answer("Ann", again.id, "wrong", "insect", "fins")
        assert str(give(session, "Ann").item) == "pike"


@pytest.mark.slow
def test_an_answer_needs_a_reason_again_if_its_guess_is_another_now(store: Store) -> None:
    teach_with_slips(store, 50, 4)
    with Session.open(store, "zoo", table=zoo_table()) as session:
        for one in [a for a in session.history() if a.outcome == "mistake"][2:5]:
            session.change("Ann", one.event, "unsure")
        found: set[tuple[str, bool]] = set()
        for one in session.history():
            now = session.guess_now(one.event)
            guessed = one.guess if now is None else now.label
            if one.outcome == "unsure" or guessed is None:
                continue
            label = next(other for other in session.labels if other not in (one.label, guessed))
            session.change("Ann", one.event, "wrong", label)
            waits = one.item.place in session.waiting()
            session.undo("Ann")
            assert now is not None or not waits  # (a reason on file is not asked again)
            found.add((str(one.outcome), waits))
        assert {("right", True), ("right", False), ("mistake", False)} <= found


def test_why_an_accepted_item_is_asked_again(store: Store) -> None:
    """It was like its example; nobody told it from that. The example itself has another label."""
    columns = {"name": ["bear", "lion", "duck"], "wings": [False, False, True]}
    with Session.new(store, "zoo", Table(columns, id="name"), learner="DFF") as session:
        bear = session.answer("Ann", give(session, "Ann").id, "wrong", "mammal")
        session.answer("Ann", give(session, "Ann").id, "right")
        session.change("Ann", bear.id, "wrong", "fish")
        again = give(session, "Ann")
        assert (str(again.item), again.asks) == ("lion", "feature")
        why = session.asked_again(again.id)
        assert why is not None
        assert (why.label, why.example, str(why.like)) == ("mammal", None, "bear")
        assert why_again(why, again.guess) == (
            "It was called mammal, like bear. Then the answer about bear was changed: bear is fish"
            " now."
        )


def test_a_confirmed_answer_is_not_odd_until_it_is_changed_or_undone(store: Store) -> None:
    teach_with_slips(store, 60, 3)
    with Session.open(store, "zoo", table=zoo_table()) as session:
        first, *others = odd(session)
        model, waiting = str(session.model), session.summary().waiting
        done = session.confirm("Ann", first, id="c")
        assert session.confirm("Ann", first, id="c") == done
        assert odd(session) == others
        assert (str(session.model), session.summary().waiting) == (model, waiting)
    with Session.open(store, "zoo", table=zoo_table()) as session:
        assert odd(session) == others
        session.undo("Ann")
        assert odd(session) == [first, *others]
        session.redo("Ann")
        assert odd(session) == others
        (said,) = (one for one in session.history() if one.event == first)
        assert said.confirmed
        assert said.changes == (done.id,)
        session.change("Ann", first, "unsure")
        with pytest.raises(ProtocolError, match="cannot be confirmed: it says 'unsure'"):
            session.confirm("Ann", first)
        words = (
            ("right", None, None)
            if said.answer == "right"
            else (said.answer, said.label, said.feature)
        )
        session.change("Ann", first, *words)  # another answer than "unsure": no confirmation
        assert odd(session) == [first, *others]
        session.change("Ann", first, *words)  # the same once more
        assert odd(session) == others
        session.undo("Ann", first)
        with pytest.raises(ProtocolError, match="was undone; redo it first"):
            session.confirm("Ann", first)


def test_a_confirmed_answer_is_not_why_an_item_is_asked_again(store: Store) -> None:
    with Session.new(store, "zoo", four_animals(), learner="DFF") as session:
        bear = session.answer("Ann", give(session, "Ann").id, "wrong", "mammal")
        duck = session.answer("Ann", give(session, "Ann").id, "wrong", "bird", "wings")
        session.answer("Ann", give(session, "Ann").id, "wrong", "fish", "fins")
        session.change("Ann", duck.id, "right")
        session.confirm("Ann", bear.id)
        why = session.asked_again(give(session, "Ann").id)
        assert why is not None
        assert str(why.changed) == "duck"


def test_to_walk_down_all_answers_is_not_to_judge_them_anew(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    teach_with_slips(store, 30, 3)
    with Session.open(store, "zoo", zoo_table()) as session:
        everything = [one.event for one in session.odd_ones(everything=True)]
        assert len(everything) == 30
        assert 0 < len(odd(session)) < 30
        assert odd(session) == everything[: len(odd(session))]
        judged = session.odd_ones(everything=True)
        with monkeypatch.context() as patched:
            patched.setattr(teams, "slips", lambda *_: pytest.fail("judged anew"))
            for number, one in enumerate(everything[:-1], 1):
                session.confirm("Ann", one)
                assert session.odd_ones(everything=True) == judged[number:]
        session._odd = (-1, False, [], 0.0)  # and judged anew it is the same
        assert session.odd_ones(everything=True) == judged[-1:]
        session.confirm("Ann", everything[-1])
        assert session.odd_ones(everything=True) == []
        session.undo("Ann")
        assert [one.event for one in session.odd_ones(everything=True)] == everything[-1:]


def odd(session: Session) -> list[str]:
    return [one.event for one in session.odd_ones()]


def zoo_table() -> Table:
    by_name = {animal["name"]: animal for animal, _ in animals()}  # there are two frogs
    return Table({name: [a[name] for a in by_name.values()] for name in by_name["bear"]}, id="name")


def _rules(session: Session) -> set[object]:
    return {(frozenset(clause.literals), clause.label) for clause in session.model.clauses}


def test_a_reason_that_was_given_for_the_same_example_is_not_asked_again(store: Store) -> None:
    """A change makes the guess another for a while: at the end it is as it was."""
    teach_with_slips(store, 60, 4, seed=1)
    with Session.open(store, "zoo", table=zoo_table()) as session:
        settled = asked = 0
        for one in [a for a in session.history() if a.outcome == "mistake"][:8]:
            known = {one.label, one.guess}
            other = next(label for label in session.labels if label not in known)
            session.change("Ann", one.event, "wrong", other)
            before = {a.event: a for a in session.history()}
            while isinstance(given := session.next("Ann"), Given) and given.asks == "feature":
                (said,) = (
                    a for a in before.values() if a.item == given.item and a.outcome == "again"
                )
                if said.feature is not None:
                    assert said.guess != given.guess
                asked += 1
                session.answer("Ann", given.id, "skipped")
            kept = {a.event: a.outcome for a in session.history()}
            settled += sum(before[n].outcome == "again" and kept[n] == "mistake" for n in before)
        assert settled
        assert asked


def test_answers_that_wait_for_a_reason_count_for_suggestions(store: Store) -> None:
    table = Table({"name": [f"a{n}" for n in range(8)], "legs": [0, *[4] * 7]}, id="name")
    with Session.new(store, "zoo", table, learner="DFF") as session:
        first = session.answer("Ann", give(session, "Ann").id, "wrong", "mammal")
        for _ in range(7):
            session.answer("Ann", give(session, "Ann").id, "right")
        session.change("Ann", first.id, "wrong", "fish")
        assert session.summary().waiting == 7
        found = session.candidates(give(session, "Ann").id)[0]
        assert (str(found.feature), found.yes, found.no, found.known) == ("legs > 0", 7, 0, 7)


def test_after_45_answers_with_a_slip_few_are_odd_and_each_reason_is_a_line(
    store: Store, tmp_path: Path
) -> None:
    kinds = {
        "rewe|edeka|lidl|aldi|baeckerei": "groceries",
        "vertrieb|mvg|uber|aral": "transport",
        "sushi|cafe|pizzeria|mcdonald": "eating out",
        "apotheke|dr med|fitness": "health",
        "netflix|spotify|audible": "leisure",
        "hausverwaltung|stadtwerke": "home",
        "nordwind": "salary",
        "geldautomat": "cash",
    }
    table = read_table(write_bank(tmp_path))
    with Session.new(store, "bank", table, order="mixed", seed=4) as session:
        for number in range(45):
            given = session.next("Ann")
            assert isinstance(given, Given)
            payee = given.item["payee"].lower()
            label = next(kinds[k] for k in kinds if re.search(k, payee))
            if number == 30:
                label, slip = "home", given.item
            if given.guess.label == label:
                session.answer("Ann", given.id, "right")
                continue
            found = [str(one.feature) for one in session.candidates(given.id, label, limit=9)]
            said = next((text for text in found if "payee" in text), found[0] if found else None)
            session.answer("Ann", given.id, "wrong", label, said)
        odd = session.odd_ones()
        assert odd[0].item == slip
        assert len(odd) <= 3
        reasons = [one.why.partition(", but ")[2] for one in session.odd_ones(everything=True)]
        assert max(map(len, reasons)) <= 120, max(reasons, key=len)
