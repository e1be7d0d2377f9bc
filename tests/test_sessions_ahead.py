"""What is worked out beforehand is what would be said now, never what was to be said earlier."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from teaching import animals, teach
from tellapart.sessions import Given, Session, Store, reasons
from tellapart.web.shelf import QUIET, Shelf


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """The labels for which candidates were really looked for."""
    found: list[str | None] = []
    plain = reasons.candidates

    def counted(state: Any, shown: Any, label: str | None, limit: int) -> Any:
        found.append(label)
        return plain(state, shown, label, limit)

    monkeypatch.setattr(reasons, "candidates", counted)
    return found


def give(session: Session, teacher: str) -> Given:
    given = session.next(teacher)
    assert isinstance(given, Given)
    return given


def test_candidates_found_beforehand_are_those_of_now(
    tmp_path: Path, asked: list[str | None]
) -> None:
    with Store(tmp_path / "a.db") as store, Session.new(store, "a", animals()) as session:
        teach(session, "Ann", 20)
        given = give(session, "Ann")
        before = session.number
        while session.look_ahead():
            pass
        assert 0 < len(asked) <= 3
        assert given.guess.label not in asked
        assert session.number == before
        label, count = asked[0], len(asked)
        first = session.candidates(given.id, label)
        assert len(asked) == count
        first.clear()  # it is the caller's own
        state = session._state
        assert state is not None
        shown = state.shown[given.id]
        assert session.candidates(given.id, label) == reasons.candidates(state, shown, label, 30)
        # somebody else teaches meanwhile: another answer, so it is looked for anew
        teach(session, "Bob", 3)
        count = len(asked)
        now = session.candidates(given.id, label)
        assert len(asked) == count + 1
        assert now == reasons.candidates(state, shown, label, 30)


def test_a_server_works_ahead_when_nobody_asks(tmp_path: Path, asked: list[str | None]) -> None:
    async def wait_a_moment() -> None:
        store = Store(tmp_path / "a.db")
        shelf = Shelf(store, tmp_path)
        session = Session.new(store, "a", animals())
        teach(session, "Ann", 20)
        shelf.adopt(session)
        given = await shelf.run("a", lambda s: give(s, "Ann"))
        for _ in range(100):
            if asked:
                break
            await asyncio.sleep(QUIET)
        await shelf.run("a", lambda s: s.candidates(given.id, asked[0]))
        assert len(asked) == len(set(asked))
        await shelf.close_all()

    asyncio.run(wait_a_moment())
