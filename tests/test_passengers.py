"""Whatever raises beside the log, no answer is lost, no session is locked, and undo works."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from teaching import animals, teach, truth
from tellapart import AutoDFF, CappedDFF
from tellapart.errors import ParameterError, TableChanged
from tellapart.review import ClauseRecords, Progress
from tellapart.sessions import (
    Ending,
    Event,
    Given,
    Session,
    Store,
    export_log,
    queue,
    replies,
    suggestions,
    teams,
)
from tellapart.sessions import log as log_module
from tellapart.sessions.edited_learner import EditedLearner
from tellapart.sessions.history import History
from tellapart.sessions.kept_learner import code_version
from tellapart.sessions.learning import Mind
from tellapart.tables import Table
from test_history import said

LESSONS = int(os.environ.get("TELLAPART_LESSONS", "60"))
"""So many lessons with faults; the measurements are made with 10,000."""
FAULTS = (IndexError, ValueError, ZeroDivisionError, KeyError, RuntimeError, ParameterError)
PLACES: list[tuple[Any, str]] = [
    (CappedDFF, "guess"),
    (CappedDFF, "learn"),
    (CappedDFF, "model"),
    (CappedDFF, "__deepcopy__"),
    (EditedLearner, "guess"),
    (EditedLearner, "learn"),
    (EditedLearner, "model"),
    (EditedLearner, "edit"),
    (Mind, "copy"),
    (suggestions, "candidates"),
    (suggestions, "_named"),
    (suggestions, "_habits"),
    (Progress, "ask"),
    (Progress, "add"),
    (Progress, "pick"),
    (Progress, "change"),
    (Progress, "recent"),
    (Progress, "draws"),
    (ClauseRecords, "add"),
    (ClauseRecords, "judge"),
    (replies, "estimate"),
    (replies, "error_now"),
    (replies, "open_tags"),
    (teams, "answers_to_judge"),
    (teams, "odd_one"),
    (teams, "suspects"),
    (teams, "reviews"),
    (queue.Doubts, "of"),
    (queue.Doubts, "_follow"),
    (log_module, "pack"),
    (log_module, "unpack"),
]
"""Everything that rides along: learner, suggestions, error statement, odd ones, what is kept."""


@contextmanager
def faults(dice: random.Random, rate: float, places: list[tuple[Any, str]]) -> Iterator[None]:
    """Some functions raise at random."""
    with pytest.MonkeyPatch.context() as patch:
        for where, name in places:
            patch.setattr(where, name, _at_times(getattr(where, name), dice, rate))
        yield


def _at_times(work: Any, dice: random.Random, rate: float) -> Any:
    def fails(*arguments: Any, **named: Any) -> Any:
        if dice.random() < rate:
            raise dice.choice(FAULTS)("a secret cell")
        return work(*arguments, **named)

    if isinstance(work, property):
        return property(lambda self: fails_property(work, self, dice, rate))
    return fails


def fails_property(work: property, owner: Any, dice: random.Random, rate: float) -> Any:
    if dice.random() < rate:
        raise dice.choice(FAULTS)("a secret cell")
    assert work.fget is not None
    return work.fget(owner)


def of_bot(given: Given) -> tuple[str, ...]:
    """It calls everything the same."""
    return ("right",) if given.guess.label == "bird" else ("wrong", "bird")


def lesson(session: Session, dice: random.Random, steps: int = 10) -> list[str]:
    """Teach, undo, redo, change; returns the ids of all answers that were acknowledged."""
    told: list[str] = []
    session.join("bot", model="m1")
    for step in range(steps):
        if step % 4 == 1 and isinstance(found := session.next("bot"), Given):
            told.append(session.answer("bot", found.id, *of_bot(found)).id)
        given = session.next("Ann")
        if isinstance(given, Ending):
            break
        label = truth(given.item) if dice.random() < 0.9 else "odd"
        found = session.candidates(given.id, label)
        words: tuple[Any, ...] = ("wrong", label, *(str(one.feature) for one in found[:1]))
        words = ("right",) if given.guess.label == label else words
        told.append(session.answer("Ann", given.id, *words).id)
        session.summary()
        luck = dice.random()
        if luck < 0.15:
            session.undo("Ann")
            if dice.random() < 0.5:
                session.redo("Ann")
        elif luck < 0.25:
            alive = [one.event for one in session.history() if not one.undone]
            session.change("Ann", dice.choice(alive), "unsure")
        elif luck < 0.35:
            session.odd_ones(everything=True)
        elif luck < 0.4:
            session.judged_model()
            session.chosen_model("null")
        elif luck < 0.5 and session.model.clauses:
            with suppress(ParameterError):  # the rule went meanwhile
                session.drop_rule("Ann", session.model.clauses[0].example)
    return told


@pytest.mark.slow
def test_no_fault_beside_the_log_loses_an_answer(tmp_path: Path) -> None:
    """In many short lessons everything that rides along raises at random."""
    store, troubled = Store(tmp_path / "s.db"), 0
    for number in range(LESSONS):
        dice, name = random.Random(number), f"s{number}"
        places = PLACES if number % 3 else dice.sample(PLACES, 2)
        rate = dice.choice([0.02, 0.1, 0.5, 1.0])
        items = animals(12, number)
        with faults(dice, rate, places):
            session = Session.new(store, name, items, learner="CappedDFF:m=4", order="mixed")
            with session.together():
                told = lesson(session, dice)
            troubled += bool(session.trouble)
            assert "secret" not in " ".join(session.trouble)
            answers = [replace(one, outcome=None) for one in session.history()]
            assert [one.event for one in answers] == told
            if session.can_undo("Ann"):
                session.undo("Ann")
                session.redo("Ann")
            session._log.keep_learner()
            labels = session.labels
            session.close()
            Session.open(store, name, animals(12, number)).close()
        with Session.open(store, name, animals(12, number)) as again:  # a mended version
            assert again.trouble == []
            assert [replace(one, outcome=None) for one in again.history()] == answers
            assert again.labels == labels
            if again.can_undo("Ann"):
                again.undo("Ann")
    assert troubled > LESSONS / 3
    store.close()


def test_a_history_is_the_same_byte_for_byte_with_and_without_faults(store: Store) -> None:
    with Session.new(store, "s", animals(40), learner="CappedDFF:m=4") as session:
        lesson(session, random.Random(1), 40)
    log, lines = store.log("s"), list(export_log(store, "s"))
    fine = repr(said(History.of(log)))
    with faults(random.Random(2), 1.0, PLACES), Session.open(store, "s", animals(40)) as session:
        assert repr(said(History.of(store.log("s")))) == fine
        assert list(export_log(store, "s")) == lines
        assert session.trouble


def test_after_three_faults_the_last_rules_stand_and_labels_are_asked(store: Store) -> None:
    with Session.new(store, "s", animals(80), learner="CappedDFF:m=4") as session:
        teach(session, "Ann", 30)
        rules, known = str(session.model), session.taught()
        learn = CappedDFF.learn

        def breaks(self: CappedDFF, item: Any, *rest: Any) -> None:
            if item.place not in known:
                raise IndexError
            learn(self, item, *rest)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(CappedDFF, "learn", breaks)
            for failures in range(1, 4):
                outcome = _answer(session)
                assert len(session.trouble) == failures
                assert "is not learnt" in session.trouble[-1]
            assert outcome in ("right", "mistake")
            given = session.next("Ann")
            assert isinstance(given, Given)
            assert given.asks == "answer"  # it goes on
            _answer(session)
            assert "the learner is off" in session.trouble[-1]
            assert str(session.model) == rules
            given = session.next("Ann")
            assert isinstance(given, Given)
            assert (given.asks, given.guess.label) == ("label", None)
            assert session.answer("Ann", given.id, "wrong", "bird").outcome == "label"
            assert session.summary().labelled == 35
            assert session.label_of(given.item) == "bird"
    with Session.open(store, "s", animals(80)) as session:  # a mended version
        assert session.trouble == []
        assert session.summary().labelled + session.summary().waiting == 35


def _answer(session: Session) -> str | None:
    given = session.next("Ann")
    assert isinstance(given, Given)
    label = truth(given.item)
    words = ("right",) if given.guess.label == label else ("wrong", label)
    return session.answer("Ann", given.id, *words).outcome


def test_a_learner_that_only_fails_is_off_soon(store: Store) -> None:
    with Session.new(store, "s", animals(80), learner="CappedDFF:m=4") as session:
        teach(session, "Ann", 30)
        rules = str(session.model)
        with faults(random.Random(0), 1.0, [(CappedDFF, "learn")]):
            for _ in range(4):
                _answer(session)
            assert "the learner is off" in session.trouble[-1]
            assert str(session.model) == rules
            assert teach(session, "Ann", 5) == 5
            assert session.summary().labelled == 39


def test_to_undo_the_answer_that_breaks_the_learner_heals_it(store: Store) -> None:
    with Session.new(store, "s", animals(80), learner="CappedDFF:m=4") as session:
        teach(session, "Ann", 20)
        given = session.next("Ann")
        assert isinstance(given, Given)
        learn = CappedDFF.learn

        def breaks(self: CappedDFF, item: Any, *rest: Any) -> None:
            if item == given.item:
                raise IndexError
            learn(self, item, *rest)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(CappedDFF, "learn", breaks)
            session.answer("Ann", given.id, "wrong", "odd")
            assert len(session.trouble) == 1
            session.undo("Ann")
            assert session.next("Ann") is not None
            teach(session, "Ann", 1)
            assert session.summary().mistakes >= 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["texts", "tags", "one column", "one label", "no column"])
@pytest.mark.parametrize("reasons", [True, False])
def test_small_tables_are_taught_without_an_error(kind: str, reasons: bool, store: Store) -> None:
    """The practical learner, 200 answers each."""
    dice, rows = random.Random(3), 210
    names = [f"item {n}" for n in range(rows)]
    words = ["red", "blue", "small", "large", "old"]
    columns: dict[str, list[Any]] = {"name": names}
    if kind == "texts":
        columns["said"] = [" ".join(dice.choices(words, k=6)) for _ in names]
        columns["more"] = [" ".join(dice.choices(words, k=9)) for _ in names]
    elif kind in ("one column", "one label"):
        columns["legs"] = [dice.randrange(5) for _ in names]
    labels = ["a"] if kind == "one label" else ["a", "b", "c"]
    with Session.new(store, "s", Table(columns, id="name"), order="random") as session:
        for number in range(200):
            if kind == "tags" and number % 3 == 0:
                session.set_tag("Ann", "odd", dice.choice(names), dice.random() < 0.5)
            given = session.next("Ann")
            assert isinstance(given, Given)
            label = dice.choice(labels)
            found = session.candidates(given.id, label)[:1] if reasons else []
            words_said: tuple[str, ...] = ("wrong", label, *(str(one.feature) for one in found))
            session.answer(
                "Ann", given.id, *(("right",) if given.guess.label == label else words_said)
            )
        assert len(session.history()) == 200
        assert session.trouble == []


def test_what_a_learner_came_to_is_kept_and_only_a_cache(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.db")
    with Session.new(store, "s", animals(80), learner="AutoDFF") as session:
        session.set_tag("Ann", "odd", "animal 3", True)
        teach(session, "Ann", 50)
        session.drop_rule("Ann", session.model.clauses[0].example)
        session.undo("Ann")
        session._log.state.learning.cost = 1.0
        fine = _came_to(session)
    learnt = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AutoDFF, "learn", lambda *_: learnt.append(1))
        with Session.open(store, "s", animals(80)) as session:
            assert _came_to(session) == fine
            assert not learnt
    store.close()
    for damage in (
        "UPDATE tellapart_kept SET data = x'00'",
        "UPDATE tellapart_kept SET data = substr(data, 1, 100) || x'00' || substr(data, 102)",
        "UPDATE tellapart_kept SET digest = 'x'",
        "UPDATE tellapart_kept SET number = 3",
        "DELETE FROM tellapart_kept",
        "DROP TABLE tellapart_kept",
    ):
        connection = sqlite3.connect(tmp_path / "s.db")
        connection.execute(damage)
        connection.commit()
        connection.close()
        with Store(tmp_path / "s.db") as store, Session.open(store, "s", animals(80)) as session:
            assert _came_to(session) == fine
            session._log.state.learning.cost = 1.0


def test_a_kept_learner_goes_on_with_the_rows_that_nobody_labelled(tmp_path: Path) -> None:
    """As if the session had not been closed between."""
    came_to = []
    for closes in (False, True):
        store = Store(tmp_path / f"{closes}.db")
        session = Session.new(store, "s", animals(80), learner="ShortList", order="file")
        for _ in range(8):
            teach(session, "Ann", 4)
            if closes:
                session._log.state.learning.cost = 1.0
                session.close()
                session = Session.open(store, "s", animals(80))
        came_to.append(_came_to(session))
        session.close()
        store.close()
    assert came_to[0] == came_to[1]


def keep(store: Store, kind: str, data: bytes) -> None:
    """Put other bytes in the place of what is kept, with their right digest."""
    code = code_version() if kind == "learner" else ""
    found = store.kept("s", kind, code)
    assert found is not None
    with store.connected() as connection:
        store.keep(connection, "s", found._replace(data=data), kind, code)
        connection.commit()


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"minds":' * 50_000,
        f'{{"minds": [[{"9" * 5000}]]}}',
        "{}",
        "null",
        '{"x": 1}',
    ],
    ids=["deep list", "deep object", "long number", "empty", "nothing", "another"],
)
def test_a_kept_learner_that_somebody_wrote_is_not_used(text: str, tmp_path: Path) -> None:
    """Whatever is in it, with its right digest: the log is replayed."""
    with Store(tmp_path / "s.db") as store:
        with Session.new(store, "s", animals(80), learner="CappedDFF:m=4") as session:
            teach(session, "Ann", 30)
            session._log.state.learning.cost = 1.0
            fine = _came_to(session)
        keep(store, "learner", zlib.compress(text.encode()))
        with Session.open(store, "s", animals(80)) as session:
            assert _came_to(session) == fine


def test_an_earlier_copy_that_cannot_be_read_is_passed_over(store: Store) -> None:
    """It is read when somebody undoes; then the log is replayed."""
    with Session.new(store, "s", animals(80), learner="CappedDFF:m=4") as session:
        teach(session, "Ann", 40)
        session._log.state.learning._copy()
        teach(session, "Ann", 10)
        session._log.state.learning.cost = 1.0
    kept = store.kept("s", "learner", code_version())
    assert kept is not None
    data = json.loads(zlib.decompress(kept.data))
    for earlier in data["minds"][:-1]:
        earlier[-1] = {"learner": "none"}
    assert len(data["minds"]) == 2
    keep(store, "learner", zlib.compress(json.dumps(data).encode()))
    with Session.open(store, "s", animals(80)) as session:
        for _ in range(9):
            session.undo("Ann")
        assert session.trouble == []
        found = str(session.model), session.summary(), session.history()
    with store.connected() as connection:
        connection.execute("DELETE FROM tellapart_kept")
        connection.commit()
    with Session.open(store, "s", animals(80)) as session:
        assert (str(session.model), session.summary(), session.history()) == found


@pytest.mark.parametrize("text", ["[" * 100_000, "9" * 5000, "{}", "[]"])
def test_a_kept_model_that_somebody_wrote_locks_no_session(text: str, tmp_path: Path) -> None:
    """Without its table, what was said can be read and undone all the same."""
    table = tmp_path / "a.csv"
    table.write_text("name,legs\nduck,2\nbear,4\nlion,4\n")
    with Store(tmp_path / "s.db") as store:
        with Session.new(store, "s", table, learner="DFF", reading={"id": "name"}) as session:
            given = session.next("Ann")
            assert isinstance(given, Given)
            session.answer("Ann", given.id, "wrong", "bird")
        keep(store, "model", text.encode())
        table.unlink()
        with Session.open(store, "s", needs_table=False) as session:
            with pytest.raises(TableChanged, match="the model that was kept cannot be read"):
                _ = session.model
            assert len(session.history()) == 1
            session.undo("Ann")


def _came_to(session: Session) -> Any:
    with session._log.ready() as state:
        learning = state.learning
        return (
            str(session.model),
            learning.mind.taught,
            learning.mind.outcomes,
            learning.mind.tags,
            vars(learning.mind.progress),
            learning.rounds,
            learning.mistakes,
            session.summary(),
        )


def test_a_kept_learner_of_another_log_is_not_used(store: Store) -> None:
    """Undo after opening, and what came after the learner was kept."""
    with Session.new(store, "s", animals(80), learner="CappedDFF:m=4") as session:
        teach(session, "Ann", 40)
        session._log.state.learning.cost = 1.0
        session._log.keep_learner()
        teach(session, "Ann", 5)
        for _ in range(9):
            session.undo("Ann")
        live = str(session.model), session.summary(), session.history()
        session._log.writer.close()  # as if it were killed
    with Session.open(store, "s", animals(80)) as session:
        assert (str(session.model), session.summary(), session.history()) == live


def test_a_failed_write_does_not_teach_the_learner_anew(store: Store) -> None:
    learnt: list[Event] = []
    with Session.new(store, "s", animals(80), learner="CappedDFF:m=4") as session:
        teach(session, "Ann", 30)
        before = session.history(), str(session.model)
        given = session.next("Ann")
        assert isinstance(given, Given)
        learn = CappedDFF.learn
        with pytest.MonkeyPatch.context() as patch:

            def counted(*arguments: Any) -> None:
                learnt.append(arguments[1])
                learn(*arguments)

            patch.setattr(CappedDFF, "learn", counted)
            session._log.writer._connect().close()
            with pytest.raises(Exception, match="cannot be written"):
                session.answer("Ann", given.id, "wrong", "odd")
            assert (session.history(), str(session.model)) == before
        assert len(learnt) <= 1
