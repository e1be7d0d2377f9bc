"""A session opened from a snapshot is the one that its log replays to."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest

from archive_writer import Clock, outcome, table, what_follows
from teaching import animals, state_of, teach, truth
from tellapart.errors import StoreError
from tellapart.review.progress import Told
from tellapart.sessions import Event, Session, Store
from tellapart.sessions.log import parse_log
from tellapart.sessions.replay import EditedLearner
from tellapart.sessions.snapshots import _QUEUE
from tellapart.sessions.state import Act, Question, State

ARCHIVE = Path(__file__).parent / "archive" / "0.1"
LOGS = sorted(ARCHIVE.glob("*.jsonl"))


@pytest.fixture(autouse=True, scope="module")
def _whole_summaries() -> Iterator[None]:
    """Compare all of a summary: the archive leaves out what came after 0.1."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("archive_writer.summary_of", lambda session: asdict(session.summary()))
        yield


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapshots also of short logs, whenever there is one new event."""
    monkeypatch.setattr("tellapart.sessions.snapshots.LEAST", 1)


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many events were taken in, by type."""
    found: Counter[str] = Counter()
    take = State.take

    def counting(self: State, event: Event) -> None:
        found[event.type] += 1
        take(self, event)

    monkeypatch.setattr(State, "take", counting)
    return found


def kept(store: Store) -> list[tuple[str, int]]:
    with store.connected() as connection:
        query = "SELECT session, number FROM tellapart_snapshots ORDER BY session, number"
        return [tuple(row) for row in connection.execute(query).fetchall()]


def events_of(log: Path) -> tuple[list[Event], Callable[[], Any], float]:
    about = json.loads(log.with_suffix(".json").read_text(encoding="utf-8"))
    events = parse_log(log.read_text(encoding="utf-8").splitlines(keepends=True))
    return events, lambda: table(about["table"], ARCHIVE), about["now"]


@pytest.mark.slow
@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_a_snapshot_is_the_log(log: Path, store: Store, taken: Counter[str]) -> None:
    events, items, now = events_of(log)
    store.add("s", events)
    with Session.open(store, "s", items(), clock=Clock(now)) as session:
        wanted = outcome(session)
    assert kept(store) == [("s", len(events))]
    taken.clear()
    with Session.open(store, "s", items(), clock=Clock(now)) as session:
        assert not taken, "nothing is replayed"
        assert outcome(session) == wanted
        follows = what_follows(session)
        after = outcome(session)
    store.add("again", store.log("s")[: len(events)])
    with Session.open(store, "again", items(), clock=Clock(now)) as session:
        assert what_follows(session) == follows
        found = outcome(session)
        for part in (*found.keys() - {"history", "notes", "disagreements", "odd ones"},):
            assert found[part] == after[part], part
    with Session.open(store, "s", items(), clock=Clock(now)) as session:
        assert outcome(session) == after


@pytest.mark.parametrize("part", [0.05, 0.3, 0.5, 0.8, 0.97])
@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_a_snapshot_and_what_came_after(
    log: Path, part: float, store: Store, taken: Counter[str]
) -> None:
    events, items, now = events_of(log)
    cut = max(1, int(part * len(events)))
    store.add("s", events[:cut])
    Session.open(store, "s", items(), clock=Clock(now)).close()
    with store.connected() as connection:
        store.insert(connection, "s", events[cut:])
        connection.commit()
    taken.clear()
    with Session.open(store, "s", items(), clock=Clock(now)) as session:
        assert taken.total() == len(events) - cut
        found = outcome(session)
    store.add("whole", events)
    with Session.open(store, "whole", items(), clock=Clock(now)) as session:
        assert found == outcome(session)


@pytest.mark.parametrize("part", [0.3, 0.8])
@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_what_came_after_a_snapshot_is_not_learnt_again(
    log: Path, part: float, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    events, items, now = events_of(log)
    cut, end = max(1, int(part * len(events))), int(0.95 * len(events))
    store.add("s", events[:cut])
    Session.open(store, "s", items(), clock=Clock(now)).close()
    with store.connected() as connection:
        store.insert(connection, "s", events[cut:end])
        connection.commit()
    session = Session.open(store, "s", items(), clock=Clock(now))
    state = session._log.state
    assert state is not None
    session._log._keep_results(state)
    is_kept = state.replay.kept is not None  # no act before the snapshot was undone or changed
    assert len(kept(store)) == 1 + is_kept
    session._log.writer.close()  # as if it were killed
    learnt = Counter[str]()
    with monkeypatch.context() as patch:
        patch.setattr(EditedLearner, "learn", lambda *_: learnt.update(["learnt"]))
        if is_kept:
            Session.open(store, "s", items(), clock=Clock(now))._log.writer.close()
    assert not learnt
    with store.connected() as connection:
        store.insert(connection, "s", events[end:])
        connection.commit()
    with Session.open(store, "s", items(), clock=Clock(now)) as session:
        found = outcome(session)
        follows = what_follows(session)
    store.add("whole", events)
    with Session.open(store, "whole", items(), clock=Clock(now)) as session:
        assert found == outcome(session)
        assert what_follows(session) == follows


def test_results_are_kept_when_learning_took_long(
    store: Store, taught: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tellapart.sessions.snapshots.LEAST", 30)
    monkeypatch.setattr("tellapart.sessions.snapshots.COST", 0.05)
    with Session.open(store, "zoo", animals()) as session:
        teach(session, "Ann", 2)
        session.catch_up()
        assert kept(store) == [("zoo", taught)]
        state_of(session).replay.cost = 0.06
        session.catch_up()
        assert kept(store) == [("zoo", taught), ("zoo", taught + 4)]
        session.undo("Ann")
        state_of(session).replay.cost = 0.06
        session.catch_up()
        assert kept(store) == [("zoo", taught), ("zoo", taught + 5)]
        wanted = outcome(session)
        session._log.writer.close()
    for damage in (
        "UPDATE tellapart_snapshots SET data = x'00' WHERE digest = ''",
        "UPDATE tellapart_snapshots SET hash = 'x' WHERE digest = ''",
        "DELETE FROM tellapart_snapshots WHERE digest = ''",
    ):
        for _ in range(2):
            session = Session.open(store, "zoo", animals())
            assert outcome(session) == wanted
            session._log.writer.close()
            run(store, damage)


def opened_anew(store: Store, taken: Counter[str]) -> int:
    """How many events are taken in when the session is opened."""
    taken.clear()
    Session.open(store, "zoo", animals()).close()
    return taken.total()


@pytest.fixture
def taught(store: Store) -> int:
    with Session.new(store, "zoo", animals(), learner="AdaptiveDFF") as session:
        teach(session, "Ann", 20)
        return session.number


def run(store: Store, *statements: str) -> None:
    base = sqlite3.connect(store.where)
    for one in statements:
        base.execute(one)
    base.commit()
    base.close()


def test_what_is_not_of_this_log_is_thrown_away(
    store: Store, taught: int, taken: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert opened_anew(store, taken) == 0
    for damage in (
        "UPDATE tellapart_snapshots SET data = x'00'",
        "UPDATE tellapart_snapshots SET data = substr(data, 1, 100) || x'00' || substr(data, 102)",
        "UPDATE tellapart_snapshots SET data = CAST(substr(data, 1, 99) || 'x' AS BLOB)",
        "UPDATE tellapart_snapshots SET hash = 'x'",
        "UPDATE tellapart_snapshots SET digest = 'x'",
        "UPDATE tellapart_snapshots SET code = 'x'",
        "UPDATE tellapart_snapshots SET number = 3",
        "DELETE FROM tellapart_snapshots",
    ):
        run(store, damage)
        assert opened_anew(store, taken) == taught, damage
        assert opened_anew(store, taken) == 0, "a new one was written"
    monkeypatch.setattr("tellapart.sessions.log.code_version", lambda: "another version")
    assert opened_anew(store, taken) == taught
    assert kept(store) == [("zoo", taught)]


def test_nothing_is_left_out(store: Store) -> None:
    """Whoever adds a part to the state must say whether a snapshot has it: `snapshots.py`."""
    with Session.new(store, "zoo", animals(), learner="AdaptiveDFF") as session:
        state = session._log._load()
    parts = {
        "question": Question._fields,
        "act": [field.name for field in fields(Act)],
        "round": Told._fields,
        "state": sorted(vars(state)),
        "queue": sorted(vars(state.queue).keys() - {*_QUEUE}),
        "replay": sorted(vars(state.replay)),
    }
    assert {name: " ".join(names) for name, names in parts.items()} == {
        "question": "id teacher place label example asks kept until sought picked since",
        "act": "id number at kind by place question answer target changes data alive outcome",
        "round": "item label guess correction who",
        "state": "_uses act_of acts answers answers_to ids items labels listed meanings notes"
        " number opened questions queue replay seed settings skipped stopper teachers unsure",
        "queue": "_assignments _ends _given _margins _order _records _rules _state held leases"
        " reviewed reviews"
        " searches",
        "replay": "_copies _first_changed _fresh _is_batch _is_caught_up _learnt_ahead _price"
        " _records _rules _spent _until acts cost grown history items kept labels mistakes models"
        " now rounds settled sizes",
    }


def test_small_logs_have_none(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tellapart.sessions.snapshots.LEAST", 2_000)
    with Session.new(store, "zoo", animals(), learner="AdaptiveDFF") as session:
        teach(session, "Ann", 20)
        session.catch_up()
    assert kept(store) == []


def test_they_are_written_in_quiet_moments_and_when_overdue(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tellapart.sessions.snapshots.LEAST", 10)
    with Session.new(store, "zoo", animals(), learner="AdaptiveDFF") as session:
        teach(session, "Ann", 8)
        assert kept(store) == []
        session.catch_up()
        assert kept(store) == [("zoo", session.number)]
        before = session.number
        teach(session, "Ann", 30)
        assert kept(store)[0][1] > before


def test_a_failed_write_does_not_replay_the_log(
    store: Store, taught: int, taken: Counter[str]
) -> None:
    with Session.open(store, "zoo", animals()) as session:
        teach(session, "Ann", 1)
        number = session.number
        for _ in range(3):
            taken.clear()
            session._log.writer._connect().close()
            with pytest.raises(StoreError), session.together():
                session.note("Ann", "lost")
            assert session.number == number
            assert taken.total() <= number - taught
        session.note("Ann", "kept")
        assert [event.data["text"] for event in session.notes()] == ["kept"]


def test_an_undo_after_opening_goes_back_before_the_snapshot(store: Store, taught: int) -> None:
    with Session.open(store, "zoo", animals()) as session:
        for _ in range(15):
            session.undo("Ann")
        found = outcome(session)
    run(store, "DELETE FROM tellapart_snapshots")
    with Session.open(store, "zoo", animals()) as session:
        assert outcome(session) == found
        assert taught < session.number


@pytest.mark.slow
def test_snapshots_in_postgres(postgres: str, taken: Counter[str]) -> None:
    from test_sessions_load import address

    with Store(address(postgres)) as store:
        with Session.new(store, "snapshots", animals(), learner="AutoDFF") as session:
            teach(session, "Ann", 30)
            wanted = outcome(session)
        taken.clear()
        with Session.open(store, "snapshots", animals()) as session:
            assert not taken
            assert outcome(session) == wanted
        with store.connected() as connection:
            connection.execute("UPDATE tellapart_snapshots SET digest = 'x'")
            connection.commit()
        Session.open(store, "snapshots", animals()).close()
        assert taken.total() == session._log._kept


def test_what_a_learner_has_seen_is_read_in_columns(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is evaluated again: a tag may have been another one when an item came."""
    with Session.new(store, "zoo", animals(), learner="AutoDFF") as session:
        teach(session, "Ann", 20)
        given = session.next("Ann")
        while given.guess.label == truth(given.item):
            session.answer("Ann", given.id, "right")
            given = session.next("Ann")
        session.set_tag("Ann", "odd", given.item, True)
        given = session.next("Ann")
        session.answer("Ann", given.id, "wrong", truth(given.item), "odd")
        session.set_tag("Ann", "odd", given.item, False)
        teach(session, "Ann", 10)
        learner: Any = session.learner
        history = learner.practical._history
        bits, rows, labels = history.words, history.rows, history.label_words
        seen, difficulty = learner.to_dict(), vars(learner._difficulty)

    def asked(*_: object) -> bool:
        raise AssertionError("a feature is asked of an item")

    with monkeypatch.context() as patch:
        patch.setattr("tellapart.learners.hindsight.history.truth", asked)
        patch.setattr("tellapart.learners.auto.truth", asked)
        session = Session.open(store, "zoo", animals())
    with session:
        again: Any = session.learner
        history = again.practical._history
        for one, other in ((bits, history.words), (rows, history.rows)):
            assert (one == other).all()
        assert (labels == history.label_words).all()
        assert vars(again._difficulty) == difficulty
        assert again.to_dict() == seen
        teach(session, "Ann", 10)
        live = session.model
    with Session.open(store, "zoo", animals()) as session:
        assert session.model == live
