"""The sessions a server has open: not too many, and nothing is lost when one is closed."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

from tellapart.cli.open_session import open_or_begin
from tellapart.cli.options import TableOptions
from tellapart.sessions import Session, Store
from tellapart.tables import read_table
from tellapart.web.session_pool import QUIET, SessionPool

NAMES = [f"zoo {n}" for n in range(6)]


def note(text: str, session: Session) -> int:
    return session.note("Ann", text).number


def words(session: Session) -> list[str]:
    return [event.data["text"] for event in session.notes()]


async def many(pool: SessionPool, table: Path) -> None:
    for name in NAMES:
        await pool.create(name, table, {"id": "name"}, learner="DFF")
        await pool.run(name, lambda s: note("first", s))
    assert pool.open_count == pool.max_open
    assert [pool.is_open(name) for name in NAMES] == [False] * 4 + [True] * 2
    await pool.run(NAMES[4], lambda s: note("used", s))  # so the fifth is not the next to go
    await pool.run(NAMES[0], lambda s: note("again", s))
    assert [name for name in NAMES if pool.is_open(name)] == [NAMES[0], NAMES[4]]
    # all at once, each opened and closed many times over
    jobs = [pool.run(name, lambda s, n=n: note(str(n), s)) for n in range(5) for name in NAMES]
    await asyncio.gather(*jobs)
    assert pool.open_count <= len(NAMES)
    for name in NAMES:
        said = await pool.run(name, words)
        assert said[0] == "first"
        assert sorted(said[-5:]) == list("01234")
    assert pool.open_count == pool.max_open


async def busy(pool: SessionPool, table: Path) -> None:
    for name in NAMES[:3]:
        await pool.create(name, table, {"id": "name"}, learner="DFF")
    wait, started = threading.Event(), threading.Event()

    def long(session: Session) -> int:
        started.set()
        wait.wait(60)
        return len(session.notes())

    slow = asyncio.create_task(pool.read(NAMES[0], long))
    await asyncio.to_thread(started.wait, 60)
    for name in NAMES[1:3]:
        await pool.run(name, words)
    assert pool.is_open(NAMES[0])  # somebody is in it
    wait.set()
    assert await slow == 0


def test_the_session_not_used_for_longest_is_closed_and_nothing_is_lost(tmp_path: Path) -> None:
    table = tmp_path / "zoo.csv"
    table.write_text("name,legs\nbear,4\nduck,2\n")
    for number, work in enumerate((many, busy)):

        async def run(pool: SessionPool, work=work) -> None:
            await work(pool, table)
            await pool.close_all()

        asyncio.run(run(SessionPool(Store(tmp_path / f"{number}.db"), tmp_path, max_open=2)))
    with Store(tmp_path / "0.db") as store:
        for name in NAMES:
            with Session.open(store, name, read_table(table, id="name")) as session:
                assert len(words(session)) >= 6


def test_nothing_is_looked_ahead_for_when_all_is_closed(tmp_path: Path) -> None:
    """Calls that end together leave one timer, and closing leaves none."""
    table = tmp_path / "zoo.csv"
    table.write_text("name,legs\nbear,4\nduck,2\n")
    troubles: list[object] = []

    async def run(pool: SessionPool) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, said: troubles.append(said))
        await pool.create("zoo", table, {"id": "name"}, learner="DFF")
        await asyncio.gather(*(pool.run("zoo", words) for _ in range(5)))
        await pool.close_all()
        await asyncio.sleep(QUIET + 0.1)

    asyncio.run(run(SessionPool(Store(tmp_path / "zoo.db"), tmp_path)))
    assert troubles == []


def test_what_is_begun_for_people_is_drawn_named_and_comes_to_an_end(tmp_path: Path) -> None:
    table = tmp_path / "zoo.csv"
    table.write_text("legs,name\n4,bear\n2,duck\n")
    with Store(tmp_path / "a.db") as store:
        session = open_or_begin(
            store, table, "zoo", None, TableOptions(learner="CappedDFF:m=3"), overlap=0.5
        )
        assert session.settings["order"] == "mixed"
        assert session.settings["overlap"] == 0.5
        assert session.summary().stop is not None
        assert session.table.id == "name"
        begun = store.log("zoo")[0].data
        assert (begun["learner"], begun["parameters"]) == ("CappedDFF", {"m": 3})
        session.close()
        open_or_begin(store, table, "zoo").close()
