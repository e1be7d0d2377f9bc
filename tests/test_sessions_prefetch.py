"""What is worked out beforehand is what would be said now, never what was to be said earlier."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from teaching import animals, teach
from tellapart.errors import StoreError
from tellapart.sessions import Given, Session, Store, suggestions
from tellapart.sessions.replay import EditedLearner
from tellapart.web.session_pool import QUIET, SessionPool


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """The labels for which candidates were really looked for."""
    found: list[str | None] = []
    plain = suggestions.candidates

    def counted(state: Any, shown: Any, label: str | None, limit: int) -> Any:
        found.append(label)
        return plain(state, shown, label, limit)

    monkeypatch.setattr(suggestions, "candidates", counted)
    return found


def give(session: Session, teacher: str) -> Given:
    given = session.next(teacher)
    assert isinstance(given, Given)
    return given


def look_ahead(session: Session) -> None:
    session.expect()
    while session.look_ahead():
        pass
    session.catch_up()


def test_candidates_found_beforehand_are_those_of_now(
    tmp_path: Path, asked: list[str | None]
) -> None:
    with Store(tmp_path / "a.db") as store, Session.new(store, "a", animals()) as session:
        teach(session, "Ann", 20)
        given = give(session, "Ann")
        before = session.number
        look_ahead(session)
        assert 0 < len(asked) <= 3
        assert given.guess.label not in asked
        assert session.number == before
        label, count = asked[0], len(asked)
        first = session.candidates(given.id, label)
        assert len(asked) == count
        first.clear()  # it is the caller's own
        state = session._log.state
        assert state is not None
        shown = state.questions[given.id]
        assert session.candidates(given.id, label) == suggestions.candidates(
            state, shown, label, 30
        )
        # somebody else teaches meanwhile: another answer, so it is looked for anew
        teach(session, "Bob", 3)
        count = len(asked)
        now = session.candidates(given.id, label)
        assert len(asked) == count + 1
        assert now == suggestions.candidates(state, shown, label, 30)


def test_what_could_wait_is_done_soon_and_changes_nothing(tmp_path: Path) -> None:
    """One session catches up whenever it can, one never: the same at every step, undo too."""
    with Store(tmp_path / "a.db") as store:
        with Session.new(store, "a", animals()) as one, Session.new(store, "b", animals()) as two:
            for turn in range(30):
                for session in (one, two):
                    teach(session, "Ann", 1)
                look_ahead(one)
                look_ahead(one)  # nothing is left to do
                if turn % 7 == 5:
                    for session in (one, two):
                        session.undo("Ann")
                    look_ahead(one)
                if turn % 14 == 12:
                    for session in (one, two):
                        session.redo("Ann")
                assert str(one.model) == str(two.model)
                assert one.summary() == two.summary()
            assert one.learner.to_dict() == two.learner.to_dict()
        with Session.open(store, "a", animals()) as again:
            assert str(again.model) == str(one.model)


@pytest.mark.slow
def test_what_is_foreseen_is_what_is_learnt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Features are chosen, some of them foreseen, some not; a session that foresees nothing is
    always where this one is."""
    learnt: list[object] = []
    plain = EditedLearner.learn

    def counted(learner: EditedLearner, *told: Any) -> None:
        learnt.append(told[2])
        plain(learner, *told)

    monkeypatch.setattr(EditedLearner, "learn", counted)
    foreseen = surprises = 0
    with (
        Store(tmp_path / "a.db") as store,
        Session.new(store, "a", animals()) as one,
        Session.new(store, "b", animals()) as two,
    ):
        for turn in range(40):
            given, other = give(one, "Ann"), give(two, "Ann")
            assert (given.item, given.guess) == (other.item, other.guess)
            if given.guess.label is None or turn % 3 == 1:
                said: tuple[str, ...] = ("wrong", "l0") if given.asks == "label" else ("right",)
            else:
                label = next(x for x in ("l0", "l1", "l2") if x != given.guess.label)
                found = [str(c.feature) for c in one.candidates(given.id, label)]
                one.expect()
                if turn % 2:
                    look_ahead(one)
                if turn == 20:  # somebody else changes the rules meanwhile
                    for session in (one, two):
                        teach(session, "Bob", 2)
                said = ("wrong", label, *found[turn % 4 : turn % 4 + 1])
            before = len(learnt)
            one.answer("Ann", given.id, *said)
            foreseen += said[0] == "wrong" and len(learnt) == before
            surprises += said[0] == "wrong" and len(learnt) > before
            two.answer("Ann", other.id, *said)
            if turn % 9 == 8:
                for session in (one, two):
                    session.undo("Ann")
            assert one.summary() == two.summary()
            assert one.learner.to_dict() == two.learner.to_dict()
    assert foreseen > 3
    assert surprises > 3


def test_a_server_catches_up_when_nobody_asks(tmp_path: Path) -> None:
    async def wait_a_moment() -> None:
        store = Store(tmp_path / "a.db")
        pool = SessionPool(store, tmp_path)
        session = Session.new(store, "a", animals())
        pool.add(session)
        await pool.run("a", lambda s: teach(s, "Ann", 3))
        state = session._log.state
        assert state is not None
        assert not state.replay._is_caught_up
        async with asyncio.timeout(60):
            while not state.replay._is_caught_up:
                await asyncio.sleep(0.01)
        await pool.close_all()

    asyncio.run(wait_a_moment())


def test_nothing_is_shown_that_is_not_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page is drawn while the disk works, and thrown away when that fails."""
    drawn: list[str] = []

    def draw(given: Given) -> str:
        drawn.append(given.id)
        return given.id

    async def try_both() -> None:
        store = Store(tmp_path / "a.db")
        session = Session.new(store, "a", animals())
        pool = SessionPool(store, tmp_path)
        pool.add(session)
        teach(session, "Ann", 3)
        commits: list[int] = []
        commit = session._log.writer.commit

        def slowly() -> None:
            end = time.monotonic() + 60
            while len(drawn) == len(commits) and time.monotonic() < end:
                time.sleep(0.01)
            commits.append(len(drawn))  # it was drawn meanwhile
            commit()

        monkeypatch.setattr(session._log.writer, "commit", slowly)
        shown = await pool.run_and_draw("a", lambda s: give(s, "Ann"), draw)
        assert drawn == [shown]
        assert commits == [1]
        assert [event.id for event in store.events("a")][-1] == shown

        def answer_and_go_on(session: Session) -> Given:
            teach(session, "Ann", 1)
            return give(session, "Ann")

        def full() -> None:
            raise StoreError("the disk is full")

        monkeypatch.setattr(session._log.writer, "commit", full)
        before = session.number
        with pytest.raises(StoreError, match="full"):
            await pool.run_and_draw("a", answer_and_go_on, draw)
        assert session.number == before
        monkeypatch.setattr(session._log.writer, "commit", commit)
        with pytest.raises(ZeroDivisionError):
            await pool.run_and_draw("a", lambda s: give(s, "Ann"), lambda _: 1 // 0)
        await pool.close_all()

    asyncio.run(try_both())


def test_a_server_works_ahead_when_nobody_asks(tmp_path: Path, asked: list[str | None]) -> None:
    async def wait_a_moment() -> None:
        store = Store(tmp_path / "a.db")
        pool = SessionPool(store, tmp_path)
        session = Session.new(store, "a", animals())
        teach(session, "Ann", 20)
        pool.add(session)
        given = await pool.run("a", lambda s: give(s, "Ann"))
        async with asyncio.timeout(60):
            while not asked:
                await asyncio.sleep(QUIET)
        await pool.run("a", lambda s: s.candidates(given.id, asked[0]))
        assert len(asked) == len(set(asked))
        await pool.close_all()

    asyncio.run(wait_a_moment())
