"""What a session says of the rows left, and which guesses it counts for that."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from teaching import animals, words
from tellapart.review import ErrorBelow, NoMistakeIn, Progress, estimate
from tellapart.review.error_bound import Draws
from tellapart.sessions import Given, Session, Store
from tellapart.sessions.phrasing import how_sure, progress_sentence, taught_so_far
from tellapart.sessions.replies import WORTH, Error, error_now
from tellapart.tables import Table
from zoo_session import answer, give, zoo


def numbers(store: Store, rows: int = 300) -> Session:
    table = Table({"n": list(range(rows)), "even": [n % 2 == 0 for n in range(rows)]})
    return Session.new(store, "n", table, learner="DFF", order="random")


def counts(session: Session) -> Progress:
    with session._log.ready() as state:
        return state.learning.mind.progress


def test_the_facts_leave_out_no_item(store: Store) -> None:
    """Those that wait for a reason are neither done nor left."""
    with zoo(store) as session:
        summary = session.summary()
    waits = replace(summary, labelled=1, waiting=2, left=summary.left - 3)
    assert taught_so_far(waits).endswith(" 2 answers need a reason.")
    assert "1 answer needs a reason" in taught_so_far(replace(waits, waiting=1))
    assert "reason" not in taught_so_far(summary)


def test_only_what_was_drawn_or_unsure_makes_a_run_longer(store: Store) -> None:
    """Labels of a column, and rows that somebody chose, do not say that one may stop."""
    names = [f"i{n}" for n in range(200)]
    odd = {name: "odd" if n % 2 else "even" for n, name in enumerate(names)}
    table = Table({"name": names, "odd": [n % 2 == 1 for n in range(200)]}, id="name")
    until = {"no mistake in": 40}
    with Session.new(store, "a", table, order="mixed", until=until) as session:

        def teach(times: int, **how: str) -> None:
            for _ in range(times):
                given = session.next("Ann", **how)
                assert isinstance(given, Given)
                label = odd[str(given.item)]
                right = given.guess.label == label
                session.answer("Ann", given.id, *(("right",) if right else ("wrong", label)))

        session.start_from("column kind", {name: odd[name] for name in names[:60]})
        assert sum(session.mistakes()[-40:]) == 0
        assert counts(session).streak == 0
        assert not session.summary().may_stop
        session.set("Ann", assignments={"Ann": {"where": "odd"}})
        teach(45)
        assert not session.summary().may_stop
        session.set("Ann", assignments={})
        teach(1, item=names[198])
        assert counts(session).streak == 0
        teach(40)  # most of them picked
        assert counts(session).streak == 40
        assert session.summary().may_stop
    with Session.open(store, "a", table) as session:
        assert counts(session).streak == 40


def test_the_rows_left_are_spoken_of_plainly(store: Store) -> None:
    with numbers(store, 60) as session:
        answer(session, "Ann", "wrong", "number")
        for _ in range(40):
            answer(session, "Ann", "right")
        summary = session.summary()
        error = summary.error
        assert error.rows_left == summary.left == 19
        assert error.high == error.wrong_left / 19
        said = f"at most {error.wrong_left} of the 19 rows left are wrong, with 95 % confidence"
        assert error.sentence == said
        assert f"at most {error.wrong_left} of the 19 other rows are wrong" in how_sure(summary)
        for _ in range(19):
            answer(session, "Ann", "right")
        summary = session.summary()
        said = "all rows were seen: none is left to be wrong"
        assert summary.error == Error(0, 0, 0, said, wrong_left=0, rows_left=0)
        assert progress_sentence(summary, 60, 0) == "You have taught 60 of 60 rows."


def test_what_was_put_off_is_no_random_draw_and_not_among_the_rows_left(store: Store) -> None:
    with numbers(store) as session:
        answer(session, "Ann", "wrong", "number")
        for _ in range(20):
            answer(session, "Ann", "right")
        known = session.summary()
        for how in ("skipped", "unsure"):
            answer(session, "Ann", how)
        assert session.summary().error.rows_left == known.error.rows_left - 2
        for _ in range(30):
            answer(session, "Ann", "right")
        back = session.summary()  # the skipped one came back among these
        assert (back.skipped, back.unsure) == (0, 1)
        assert back.error.rows_left == 300 - 1 - 50 - 1
        progress = counts(session)
        assert (progress.guesses, progress.picked, progress.aside) == (49, 1, 1)


def test_least_sure_of_older_versions_is_mixed(store: Store) -> None:
    """What was picked is no random draw; what is drawn from the other line is one."""
    with numbers(store) as session:
        session.set("Ann", order="least sure")
        assert session.settings["order"] == "mixed"
        answer(session, "Ann", "wrong", "number")
        for _ in range(60):
            answer(session, "Ann", "right")
        assert 0 < session.summary().drawn < 30
        session.set("Ann", order="random")
        for _ in range(60):
            answer(session, "Ann", "right")
        assert session.summary().error.wrong_left < 30


def test_an_edited_rule_is_another_model(store: Store) -> None:
    with numbers(store) as session:
        answer(session, "Ann", "wrong", "number")
        while answer(session, "Ann", "wrong", "other") != "mistake":
            pass
        for _ in range(60):
            answer(session, "Ann", "right")
        assert counts(session).model.rounds == 60
        session.edit_rule("Ann", session.model.clauses[0].example, "even", "even number")
        assert counts(session).model.rounds == 0
        answer(session, "Ann", "right")
        session.drop_rule("Ann", session.model.clauses[0].example)
        assert counts(session).model.rounds == 0


def test_a_guess_that_waits_for_its_reason_counts_once_and_as_a_mistake(store: Store) -> None:
    """The model was wrong on it when it was answered, whatever a later one says."""
    with zoo(store, order="file") as session:
        answer(session, "Ann", "wrong", "mammal")
        duck, _, _, bass = (give(session, teacher) for teacher in ("Ann", "Bob", "Cy", "Di"))
        session.answer("Ann", duck.id, "wrong", "bird", "wings")
        assert session.answer("Di", bass.id, "wrong", "fish", "fins").outcome == "again"
        assert (counts(session).guesses, counts(session).mistakes) == (2, 2)
        assert session.summary().guesses == 1  # learnt from
        assert answer(session, "Di", "wrong", "fish", "fins") == "mistake"
        assert (counts(session).guesses, counts(session).mistakes) == (2, 2)
        assert (session.summary().guesses, session.summary().mistakes) == (2, 2)


def test_a_condition_is_made_only_where_it_is_worth_it() -> None:
    steady, noisy = Progress(300), Progress(300)
    for number in range(150):
        steady.add(number in (2, 7))
        noisy.add(number % 12 == 5)
    assert not error_now(steady).lately
    assert error_now(noisy).lately
    assert "if the rules got no worse in the last" in str(error_now(noisy))
    assert not error_now(noisy, refits=False).lately


@pytest.mark.parametrize("seed", range(40))
def test_the_statement_is_the_one_that_both_estimates_give(seed: int) -> None:
    """A shortcut decides whether the second estimate is worth it."""
    chance = random.Random(seed)
    rows, often = chance.choice([30, 100, 1000, 10**5]), chance.choice([0, 0.02, 0.1, 0.3])
    progress = Progress(rows)
    for _ in range(chance.randint(0, min(rows, 300))):
        mistake = chance.random() < often
        progress.add(mistake, changed=mistake or chance.random() < 0.02)
    now, lately = estimate(progress), estimate(progress, lately=True)
    assert error_now(progress) == (lately if lately.high < WORTH * now.high else now)


@pytest.mark.parametrize(("learner", "may"), [("AutoDFF", True), ("AdaptiveDFF", False)])
def test_only_a_learner_that_refits_is_trusted_to_get_no_worse(
    store: Store, learner: str, may: bool
) -> None:
    """The rules of AdaptiveDFF get worse with every exception."""
    said_so = []
    with Session.new(store, "n", animals(300), learner=learner, order="random") as session:
        for number in range(150):
            given = session.next("Ann")
            assert isinstance(given, Given)
            said = words(session, given, "slip" if number % 8 == 3 else None)
            session.answer("Ann", given.id, *said)
            said_so.append("if the rules got no worse" in session.summary().error.sentence)
    assert any(said_so[50:]) == may


def test_a_summary_is_worked_out_once_after_an_event(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everybody who teaches waits for it. The stopper says the estimate that is known already."""
    bounds: list[Draws] = []
    most_wrong = Draws.most_wrong
    monkeypatch.setattr(
        Draws, "most_wrong", lambda draws, risk: bounds.append(draws) or most_wrong(draws, risk)
    )
    with zoo(store, order="random", until=NoMistakeIn(40)) as session:
        answer(session, "Ann", "wrong", "mammal")
        answer(session, "Ann", "right")
        for teacher in ("Bob", "Cy"):  # who joins is in it
            bounds.clear()
            session.join(teacher)
            before = session.summary()
            assert before.stop is not None
            assert "nothing is known" in before.stop
            assert len(bounds) == 1
            assert session.summary() is before
        assert session.summary().teachers == 3


def test_a_stopper_takes_only_the_estimate_that_it_speaks_of() -> None:
    progress = Progress.of([False] * 40)
    now = estimate(progress)
    for stopper in (NoMistakeIn(40), ErrorBelow(0.05)):
        assert stopper.say(progress, now) == stopper.say(progress)
    surer = ErrorBelow(0.05, confidence=0.99)
    assert surer.say(progress, now) == surer.say(progress) != ErrorBelow(0.05).say(progress)
