"""How long a session takes to give and to take, to be read back, and to undo.

    python benchmarks/sessions.py hot [--items 1000000] [--answers 10000] [--learner AdaptiveDFF]
    python benchmarks/sessions.py replay [--answers 100000] [--learner AutoDFF]
    python benchmarks/sessions.py teachers [--answers 10000]

hot: the time of `next` and `answer` together, on a large table after many answers, beside that of a
fresh session on a hundred items; and of the candidate features for what was given. The bar: at most
twice as long, and a median under 50 ms.
replay: seconds to open a session with so many answers in its log, without a snapshot, with one, and
after a kill just before the next one is due.
teachers: 50 at once on PostgreSQL (started here, as in the tests, but waiting for the disk), 8 on
SQLite; answers per second beside the rate of bare inserts; then the log is checked: none lost, none
doubled, no item leased twice at a time.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import postgres_server
import teaching
from tellapart.sessions import Event, Given, Session, Store
from tellapart.sessions.events import check_log, new_id, stamp
from tellapart.tables import Row, Table
from test_sessions_load import address, check_leases

AFTER = 3_990  # answers; the next snapshot is due after 4,000
FEATURES = ["a", "b", "c", "NOT a", "NOT b", "NOT c", "n > 50", "n <= 50", "w > 5", "w <= 5"]


def made(items: int) -> Table:
    """A table of eight columns."""
    dice = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "id": np.arange(items),
            "a": dice.random(items) < 0.5,
            "b": dice.random(items) < 0.5,
            "c": dice.random(items) < 0.3,
            "n": dice.integers(0, 100, items),
            "w": dice.random(items) * 10,
            "colour": dice.choice(["red", "green", "blue"], items),
            "text": [f"number {n} of the {n % 7}th kind" for n in dice.integers(0, 500, items)],
        }
    )
    return Table(frame, id="id", name="made")


def truth(item: Row) -> str:
    """What an item is."""
    if item["a"] and item["n"] > 50:
        return "x"
    return "y" if item["b"] else "z"


def words(session: Session, given: Given, dice: random.Random) -> tuple[str, ...]:
    """A right answer, but for one in fifty."""
    label = truth(given.item) if dice.random() > 0.02 else dice.choice("xyz")
    return teaching.words(session, given, label, FEATURES)


def rounds(session: Session, count: int, *, look: bool = False) -> tuple[list[float], list[float]]:
    """Milliseconds of next and answer together, and of the candidates, round by round."""
    dice = random.Random(0)
    spent, looked = [], []
    for _ in range(count):
        start = time.perf_counter()
        given = session.next("Ann")
        middle = time.perf_counter()
        assert isinstance(given, Given)
        if look:
            session.candidates(given.id)
            looked.append(1e3 * (time.perf_counter() - middle))
        said = words(session, given, dice)
        again = time.perf_counter()
        session.answer("Ann", given.id, *said)
        spent.append(1e3 * (time.perf_counter() - again + middle - start))
    return spent, looked


def hot(items: int, answers: int, learner: str, order: str) -> None:
    """The large and the small session, in turns."""
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "a.db")) as store:
        new = partial(Session.new, store, learner=learner, order=order)
        large = new("large", made(items))
        start = time.perf_counter()
        rounds(large, answers)
        print(f"{answers:,} answers on {items:,} items: {time.perf_counter() - start:.1f} s")
        ours, theirs = [], []
        for number in range(5):
            small = new(f"small {number}", made(100))
            theirs.append(rounds(small, 90, look=True))
            ours.append(rounds(large, 90, look=True))
            small.close()
        for what, part in (("next + answer", 0), ("candidates", 1)):
            medians = [min(median(run[part]) for run in runs) for runs in (ours, theirs)]
            worst = max(max(run[part]) for run in ours)
            print(
                f"{what}, best median of 5 x 90: {medians[0]:.2f} ms; fresh on 100 items"
                f" {medians[1]:.2f} ms; ratio {medians[0] / medians[1]:.2f}; worst {worst:.0f} ms"
            )
        for way in ("undo", "redo"):
            times = []
            for _ in range(20):
                start = time.perf_counter()
                getattr(large, way)("Ann")
                times.append(1e3 * (time.perf_counter() - start))
            print(f"{way}: median {median(times):.0f} ms, worst {max(times):.0f} ms")
        large.close()


def replay(answers: int, learner: str) -> None:
    """Make a log without a session, and open it."""
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "a.db")) as store:
        table, dice = made(2 * answers), random.Random(0)
        session = Session.new(store, "long", table, learner=learner)
        rounds(session, min(answers, 3000))
        model = session.model
        session.close()
        events = store.log("long")
        at, number = events[-1].at, len(events)
        more: list[Event] = []
        for place in range(3000, answers):
            item = table.items[place]
            guess = model.first_match(item)
            data = {"item": place, "label": guess.label, "example": guess.example.place}
            given = Event(
                number + 1, new_id(), at, "given", "Ann", {**data, "asks": "answer", "until": at}
            )
            said = {"given": given.id, "item": place, "answer": "right"}
            if truth(item) != guess.label and dice.random() < 0.9:
                said |= {"answer": "wrong", "label": truth(item)}
            more += [given, Event(number + 2, new_id(), at, "answered", "Ann", said)]
            number += 2
        store.add("longer", [*events, *more])
        for how in ("from the log", "from a snapshot", "from a snapshot"):
            opened(store, table, learner, how).close()
        session = opened(store, table, learner, "from a snapshot")
        rounds(session, AFTER)
        for _ in range(3):
            session._log.writer.close()  # as if it were killed
            session = opened(store, table, learner, f"killed {AFTER:,} answers after a snapshot")


def opened(store: Store, table: Table, learner: str, how: str) -> Session:
    """Open the session, and say how long it took."""
    start, used = time.perf_counter(), time.process_time()
    session = Session.open(store, "longer", table)
    seconds, used = time.perf_counter() - start, time.process_time() - used
    print(
        f"{learner}: {seconds:.2f} s ({used:.2f} s of processor time) to open a log of"
        f" {session.number:,} events {how}",
        flush=True,
    )
    return session


def teachers(answers: int) -> None:
    """Many at once."""
    with tempfile.TemporaryDirectory() as folder:
        many(Path(folder, "a.db"), "SQLite", 8, answers)
    with postgres_server.server(durable=True) as postgres:
        many(address(postgres), "PostgreSQL", 50, answers)


def many(place: str | Path, name: str, count: int, answers: int) -> None:
    """So many teachers on one store."""
    with Store(place) as store:
        bare = bare_rate(store)
        session = Session.new(store, "many", made(5 * answers), learner="AdaptiveDFF", overlap=0.1)
        acknowledged: list[str] = []

        def work(teacher: str) -> None:
            dice = random.Random(teacher)
            while len(acknowledged) < answers:
                given = session.next(teacher)
                assert isinstance(given, Given)
                saved = session.answer(teacher, given.id, *words(session, given, dice))
                acknowledged.append(saved.id)

        before = session.number
        start = time.perf_counter()
        threads = [threading.Thread(target=work, args=(f"t{n}",)) for n in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - start
        written = session.number - before
        session.close()
        events = store.log("many")
        check_log(events)
        check_leases(events)
        assert Counter(e.id for e in events if e.type == "answered") == Counter(acknowledged)
        print(
            f"{name}, {count} teachers: {len(acknowledged):,} answers, none lost, none doubled;"
            f" {len(acknowledged) / seconds:,.0f} answers/s = {written / seconds:,.0f} events/s;"
            f" bare inserts {bare:,.0f}/s and {bare_rate(store, 'after'):,.0f}/s after"
        )


def bare_rate(store: Store, name: str = "bare", count: int = 1000) -> float:
    """Events per second without any session behind them."""
    store.add(name, [Event(1, new_id(), stamp(0), "note", None, {"text": "x"})])
    writer = store.writer(name)
    start = time.perf_counter()
    for number in range(2, count + 2):
        data = {"given": new_id(), "item": number, "answer": "wrong", "label": "y", "feature": "a"}
        writer.append(Event(number, new_id(), stamp(time.time()), "answered", "Ann", data))
    rate = count / (time.perf_counter() - start)
    writer.close()
    return rate


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["hot", "replay", "teachers"])
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--answers", type=int)
    parser.add_argument("--learner", default="AdaptiveDFF")
    parser.add_argument("--order", default="file")
    options = parser.parse_args()
    if options.part == "hot":
        hot(options.items, options.answers or 10_000, options.learner, options.order)
    elif options.part == "replay":
        replay(options.answers or 100_000, options.learner)
    else:
        teachers(options.answers or 10_000)


if __name__ == "__main__":
    main()
