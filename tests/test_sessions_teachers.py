"""Several teachers of one session: leases, stale answers, second opinions, agreement."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from teaching import animals, teach, truth, words
from tellapart.sessions import Agreement, Ending, Session, Store
from tellapart.sessions.teams import alpha
from tellapart.tables import Table
from zoo_session import Clock, answer, give, name, zoo


def test_an_item_is_leased_to_one_teacher_until_the_lease_ends(store: Store) -> None:
    clock = Clock()
    with zoo(store, lease=60, clock=clock) as session:
        ann, bob = give(session, "Ann"), give(session, "Bob")
        assert name(ann) != name(bob)
        clock.now += 61
        cid = give(session, "Cid")
        assert name(cid) == name(ann)
        assert name(give(session, "Ann")) == name(bob)  # her own went to Cid, Bob's is free
        # what she says about the first one late is not lost
        assert session.answer("Ann", ann.id, "wrong", "mammal").outcome == "label"
        assert session.answer("Cid", cid.id, "wrong", "mammal").outcome == "opinion"


def test_a_clock_that_is_put_back_ends_leases(store: Store) -> None:
    clock = Clock()
    with zoo(store, lease=60, clock=clock) as session:
        ann = give(session, "Ann")
        clock.now -= 2  # as clocks do
        assert name(give(session, "Bob")) != name(ann)
        clock.now -= 86_400
        assert name(give(session, "Cid")) == name(ann)
        assert session.answer("Ann", ann.id, "wrong", "mammal").outcome == "label"


def test_nobody_gets_an_item_that_another_has(store: Store) -> None:
    with zoo(store) as session:
        held = {name(give(session, f"teacher {n}")) for n in range(6)}
        assert len(held) == 6
        ending = session.next("one more")
        assert isinstance(ending, Ending)
        assert ending.busy == 6
        assert "6 are with other teachers" in str(ending)


def test_a_stale_answer_is_never_lost(store: Store) -> None:
    with zoo(store) as session:
        ann, bob, cid = (give(session, who) for who in ("Ann", "Bob", "Cid"))
        assert [name(g) for g in (ann, bob, cid)] == ["bear", "duck", "lion"]
        assert session.answer("Ann", ann.id, "wrong", "mammal").outcome == "label"
        # the guess has come to agree with what Cid says: it was right
        assert session.answer("Cid", cid.id, "wrong", "mammal").outcome == "right"
        # Bob's label is kept, and he is asked what tells the duck from the bear
        assert session.answer("Bob", bob.id, "wrong", "bird").outcome == "again"
        assert session.label_of("duck") == "bird"
        again = give(session, "Bob")
        assert (name(again), again.asks, again.kept) == ("duck", "feature", "bird")
        assert str(again.guess.example) == "bear"
        assert session.answer("Bob", again.id, "wrong", None, "wings").outcome == "mistake"
        # the same guess with the same example, although the rules have changed: as given
        ann, bob = give(session, "Ann"), give(session, "Bob")
        assert (name(ann), name(bob)) == ("crow", "bass")
        assert session.answer("Ann", ann.id, "right").outcome == "right"
        assert str(bob.guess.example) == "duck"
        assert session.answer("Bob", bob.id, "wrong", "fish", "fins").outcome == "mistake"
        assert session.summary().waiting == 0


def test_an_item_that_waits_is_settled_when_the_guess_agrees(store: Store) -> None:
    with zoo(store) as session:
        ann, bob = give(session, "Ann"), give(session, "Bob")
        session.answer("Ann", ann.id, "wrong", "mammal")
        assert session.answer("Bob", bob.id, "wrong", "bird").outcome == "again"
        assert session.summary().waiting == 1
        session.merge_labels("Ann", "bird", "mammal")
        assert session.summary().waiting == 0  # by the merger itself
        session.undo("Ann")
        assert session.summary().waiting == 1
        answer(session, "Ann", "wrong", "bird")  # a slip: now all are birds
        assert name(give(session, "Bob")) != "duck"
        assert session.summary().waiting == 0
        assert "settled" in {event.type for event in store.log("zoo")}


def test_second_opinions_are_blind_and_compared(store: Store) -> None:
    table = animals(40)
    options: dict[str, Any] = {"learner": "AdaptiveDFF", "parameters": {"remember": True}}
    with Session.new(store, "a", table, overlap=1.0, **options) as session:
        teach(session, "Ann", 20)
        seconds = []
        for number in range(20):
            given = give(session, "Bob")
            assert session.label_of(given.item) is not None
            first = session.history(item=given.item)[0]
            assert given.guess == (
                first.guess,
                first.example,
            )  # asked as Ann was; nothing shows what she said
            label = truth(given.item) if number % 4 else "newt"
            if given.guess.label == label:
                said: tuple[str, ...] = ("right",)
            else:
                said = words(session, given, label)
            seconds.append(session.answer("Bob", given.id, *said).outcome)
        assert seconds == ["opinion"] * 20
        agreed = session.agreement()
        assert (agreed.items, agreed.labels) == (20, 0.75)
        assert agreed.alpha is not None
        assert agreed.alpha < 0.75
        odd = session.disagreements()
        assert len(odd) == 5
        assert [a.teacher for a in odd[0].answers] == ["Ann", "Bob"]
        assert odd[0].answers[1].label == "newt"
        session.change("Cid", odd[0].answers[1].event, "wrong", str(odd[0].answers[0].label))
        assert len(session.disagreements()) == 4
        # a third opinion is not asked for
        given = give(session, "Cid")
        assert session.label_of(given.item) is None


def test_an_overlap_is_a_share(store: Store) -> None:
    with Session.new(store, "a", animals(400), learner="DFF", overlap=0.25, seed=7) as session:
        with session._log.ready() as state:
            assert 70 < sum(state.queue.is_shared(place, {}) for place in range(400)) < 130
        teach(session, "Ann", 60)
        given = give(session, "Bob")
        assert session.label_of(given.item) is not None
        session.set("Ann", overlap=0)
        session.answer("Bob", given.id, "skipped")
        assert session.label_of(give(session, "Bob").item) is None


def test_what_one_is_unsure_of_another_is_asked(store: Store) -> None:
    with zoo(store) as session:
        answer(session, "Ann", "unsure")
        given = give(session, "Bob")
        assert name(given) == "bear"
        session.answer("Bob", given.id, "unsure")
        assert name(give(session, "Cid")) == "duck"
        assert session.summary().unsure == 1


def test_agreement_on_features(store: Store) -> None:
    with zoo(store, overlap=1.0) as session:
        answer(session, "Ann", "wrong", "mammal")
        assert answer(session, "Bob", "wrong", "mammal") == "opinion"
        for who, feature in (("Ann", "wings"), ("Bob", "legs = 2")):
            given = give(session, who)
            assert (name(given), str(given.guess.example)) == ("duck", "bear")
            session.answer(who, given.id, "wrong", "bird", feature)
        found = session.agreement()
        assert (found.items, found.labels) == (2, 1.0)
        assert (found.reasons, found.features) == (1, 0.0)
        session.change("Cid", session.history()[-1].event, "wrong", "bird", "wings")
        assert session.agreement() == Agreement(2, 1.0, 1.0, 1, 1.0)


def test_alpha() -> None:
    assert alpha([]) is None
    assert alpha([["a", "a"], ["a", "a"]]) is None
    assert alpha([["a", "a"], ["b", "b"]]) == 1
    # by hand: o(a,b) = 2 of 8 values, 3 a and 5 b: 1 - 2 / (2 * 15 / 7)
    assert alpha([["a", "a"], ["b", "b"], ["a", "b"], ["b", "b"]]) == pytest.approx(1 - 14 / 30)
    # three teachers of one item, and an item of one teacher, which says nothing
    assert alpha([["a", "a", "b"], ["b", "b"], ["a"]]) == pytest.approx(1 - 2 / (12 / 4))


def test_slips_are_suspected_by_teacher(store: Store) -> None:
    with Session.new(store, "a", animals(300), learner="AdaptiveDFF", order="random") as session:
        slips = []
        for number in range(240):
            teacher = ("Ann", "Bob")[number % 2]
            given = give(session, teacher)
            label = truth(given.item)
            if teacher == "Bob" and number % 30 == 1 and number > 60:
                label = "bird" if label != "bird" else "bear"
                slips.append(given.item)
            session.answer(teacher, given.id, *words(session, given, label))
        odd = session.odd_ones()
        found = [one.item for one in odd[: len(slips)]]
        assert len(set(found) & set(slips)) >= len(slips) - 1
        assert odd[0].teacher == "Bob"
        assert odd[0].expected == truth(odd[0].item)
        assert len(session.odd_ones(viewer="Bob")) > len(session.odd_ones(viewer="Ann"))
        assert all(one.teacher == "Ann" for one in session.odd_ones(viewer="Ann"))


def test_no_feature_is_asked_when_the_guess_has_come_to_agree(tmp_path: Path) -> None:
    """Bob has an item that waits for a feature; Cid's answer makes the guess on it right."""
    table = Table(
        {
            "name": ["x0", "x1", "x2", "x3", "x4", "x5"],
            "a": [False, True, False, False, False, False],
            "c": [False, False, True, True, True, False],
        },
        id="name",
    )
    with (
        Store(tmp_path / "s.db") as store,
        Session.new(store, "s", table, learner="DFF") as session,
    ):
        session.answer("Ann", session.next("Ann").id, "wrong", "X")
        given = {name: session.next(name).id for name in ("Ann", "Bob", "Cid")}
        session.answer("Ann", given["Ann"], "wrong", "Y", "a")
        session.answer("Bob", given["Bob"], "wrong", "Z", "c")
        session.answer("Cid", given["Cid"], "wrong", "Z", "c")
        before = session.next("Bob")
        assert (str(before.item), before.asks, before.guess.label) == ("x2", "feature", "Y")
        for _ in range(2):
            session.answer("Cid", session.next("Cid").id, "wrong", "Z", "c")
        after = session.next("Bob")
        assert str(after.item) == "x5"
        assert session.label_of("x2") == "Z"
        model = session.model
    with Store(tmp_path / "s.db") as store, Session.open(store, "s", table) as session:
        assert session.model == model
        assert session.next("Bob") == after


@pytest.mark.slow
@pytest.mark.parametrize("order", ["least sure", "mixed"])
def test_every_item_comes_to_one_of_three_teachers(tmp_path: Path, order: str) -> None:
    """At the end the items passed by come again, while others are with somebody."""
    table = Table({"n": list(range(80)), "odd": [n % 2 == 1 for n in range(80)]})
    dice = random.Random(1)
    with (
        Store(tmp_path / "s.db") as store,
        Session.new(store, "s", table, learner="CappedDFF:m=3", order=order) as session,
    ):
        for _ in range(400):
            teacher = dice.choice(["Ann", "Bob", "Cid"])
            given = session.next(teacher)
            if isinstance(given, Ending) or dice.random() < 0.5:
                continue
            label = str(given.item["n"] % 2)
            if given.guess.label == label:
                session.answer(teacher, given.id, "right")
            else:
                feature = given.guess.label and ("odd" if label == "1" else "NOT odd")
                session.answer(teacher, given.id, "wrong", label, feature)
        assert session.summary().labelled == 80


def test_about_says_who_taught_when_and_what_is_known(store: Store) -> None:
    clock = Clock()
    session = Session.new(store, "animals", animals(), order="random", clock=clock)
    assert session.about() == ["Session animals: nothing was taught yet."]
    teach(session, "Ann", 12)
    assert session.about()[0].startswith(
        "Session animals: taught by Ann on 2001-09-09; 12 answers, "
    )
    clock.now += 3 * 86_400
    teach(session, "Bob", 5)
    session.undo("Bob")
    who, error = session.about()
    said = (
        "taught by Ann (12 answers) and Bob (4 answers) from 2001-09-09 to 2001-09-12; 16 answers, "
    )
    assert said in who
    assert error == f"Error: {session.summary().error.sentence}."
    session.close()
