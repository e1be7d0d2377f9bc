"""What does a turn cost at the server, and how many teachers can it take?

    python benchmarks/serve.py [--items 1000000] [--answers 10000] [--team-answers 10000]
                               [--only turn|sqlite|postgres|pages] [--learner NAME] [--json]

turn      Seconds for next + answer, as a teacher's program sees them over HTTP: in a fresh session
          on 100 items, and on a table of a million items after 10 000 answers; by turns, in one
          run. Bars (issue 6): at most twice as long, and a median below 50 ms.
sqlite    8 teachers at once, postgres 50: answers a second beside the bare insert rate of the
          store. Afterwards the log is read: nothing lost or doubled, no item with two at a time.
pages     20 teachers on 100,000 rows for 60 s, who look at pages between their answers. Bars (issue
          36): p99 of answers 0.3 s, of pages 1 s, no errors.

In turns every item comes with its candidate features; teams ask for them when a guess is wrong.
Servers and clients share the machine.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import polars as pl

from tellapart.sessions import Event, Given, Session, Store
from tellapart.sessions.events import new_id, seconds, stamp
from tellapart.sessions.store import Writer

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import postgres_server

OWNER = "token-of-the-owner-1"
WORDS = ["river", "stone", "cloud", "bread", "music", "horse", "paper", "glass", "storm", "field"]


def make_table(path: Path, items: int) -> None:
    """Ten columns: numbers, truths, kinds, words."""
    dice = np.random.default_rng(7)
    words = np.array(WORDS)
    texts = [" ".join(row) for row in words[dice.integers(0, 10, (min(items, 5000), 6))]]
    pl.DataFrame(
        {
            "name": [f"i{n}" for n in range(items)],
            "text": np.array(texts)[dice.integers(0, len(texts), items)],
            **{f"flag{n}": dice.random(items) < 0.3 for n in range(4)},
            "size": dice.integers(0, 1000, items),
            "weight": dice.normal(50, 12, items).round(2),
            "kind": np.array(list("abcdefgh"))[dice.integers(0, 8, items)],
            "year": dice.integers(1990, 2026, items),
        }
    ).write_parquet(path)


def truth(cells) -> str:
    """What an item is."""
    if cells["flag0"]:
        return "red" if cells["size"] < 500 else "green"
    if "river" in cells["text"]:
        return "blue"
    return "black" if cells["kind"] in ("a", "b") else "white"


def answer(cells, guess, asks, kept, candidates) -> tuple[str, str | None, str | None]:
    """(answer, label, feature): right, or wrong with the first candidate."""
    label = kept or truth(cells)
    if asks == "answer" and guess == label:
        return "right", None, None
    return "wrong", label, candidates[0] if candidates else None


def pretaught(store: Store, path: Path, answers: int, learner: str | None) -> None:
    """A session that was taught before, without a server."""
    how = {} if learner is None else {"learner": learner}
    with Session.new(store, path.stem, path, reading={"id": "name"}, **how) as session:
        for _ in range(answers):
            given = session.next("Ann")
            assert isinstance(given, Given)
            offered = []
            if given.asks != "label" and given.guess.label != (given.kept or truth(given.item)):
                offered = [str(one.feature) for one in session.candidates(given.id, limit=3)]
            said = answer(given.item, given.guess.label, given.asks, given.kept, offered)
            session.answer("Ann", given.id, *said)


class Teacher:
    """A teacher's program on one connection."""

    def __init__(self, address: str, token: str, session: str, *, offer: bool = True) -> None:
        parts = urlsplit(address)
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=600)
        self.connection.connect()
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self.base, self.offer = f"/api/sessions/{session}", offer
        self.acknowledged: dict[str, object] = {}
        self.seconds: list[float] = []
        self.trouble: str | None = None

    def post(self, path: str, body: dict) -> dict:
        self.connection.request("POST", self.base + path, json.dumps(body), self.headers)
        reply = self.connection.getresponse()
        text = reply.read()
        if reply.status != 200:
            raise RuntimeError(f"{reply.status}: {text[:300]!r}")
        return json.loads(text)

    def ask(self, given: str) -> list[str]:
        """Candidates, when the guess turned out wrong: as the page asks for them."""
        path = f"{self.base}/candidates?given={given}&limit=1"
        self.connection.request("GET", path, headers=self.headers)
        found = json.loads(self.connection.getresponse().read())
        return [one["feature"] for one in found["candidates"]]

    def turn(self) -> bool:
        start = time.perf_counter()
        given = self.post("/next", {"candidates": self.offer})["given"]
        middle = time.perf_counter()
        if given is None:
            return False
        offered = [one["feature"] for one in given["candidates"][:1]]
        wrong = given["guess"] != (given["kept"] or truth(given["item"]["cells"]))
        if not self.offer and wrong and given["example"] is not None:
            offered = self.ask(given["id"])
        said, label, feature = answer(
            given["item"]["cells"], given["guess"], given["asks"], given["kept"], offered
        )
        body = {"id": new_id(), "given": given["id"], "answer": said}
        body |= {} if label is None else {"label": label}
        body |= {} if feature is None else {"feature": feature}
        again = time.perf_counter()
        self.post("/answers", body)
        self.seconds.append(middle - start + time.perf_counter() - again)
        self.acknowledged[body["id"]] = given["item"]["id"]
        return True

    def teach(self, answers: int) -> None:
        try:
            while len(self.acknowledged) < answers and self.turn():
                pass
        except (RuntimeError, OSError) as error:
            self.trouble = str(error)


@contextmanager
def serving(folder: Path, db: str, tokens: dict[str, str]):
    """A server over a database; gives its address."""
    listed = folder / "teachers.txt"
    listed.write_text("".join(f"{name} {token}\n" for name, token in tokens.items()))
    listed.chmod(0o600)
    command = [sys.executable, "-m", "tellapart", "serve", "--db", db, "--port", "0", "--quiet"]
    command += ["--folder", str(folder), "--teachers", str(listed), "--name", "Owner"]
    process = subprocess.Popen(
        command,
        env={**os.environ, "TELLAPART_TOKEN": OWNER},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        for line in process.stdout:
            if found := re.search(r"(http://\S+)/\?token=", line):
                address = found[1]
            if line.startswith("Stop with"):
                break
        else:
            raise RuntimeError("the server did not start")
        yield address
    finally:
        process.terminate()
        process.wait(60)


def turns(folder: Path, items: int, answers: int, learner: str | None) -> dict:
    """The cost of a turn, small and large by turns."""
    make_table(folder / "large.parquet", items)
    smalls = [f"small{n}" for n in range(3)]
    db = folder / "turns.db"
    with Store(db) as store:
        pretaught(store, folder / "large.parquet", answers, learner)
        for name in smalls:
            make_table(folder / f"{name}.parquet", 100)
            pretaught(store, folder / f"{name}.parquet", 0, learner)
    with serving(folder, str(db), {"Ann": "token-of-ann-000001"}) as address:
        large = Teacher(address, "token-of-ann-000001", "large")
        start = time.perf_counter()
        large.turn()  # opens it: the table is read, the log replayed
        opening = time.perf_counter() - start
        small_seconds: list[float] = []
        large.seconds.clear()
        for name in smalls:
            small = Teacher(address, "token-of-ann-000001", name)
            for _ in range(5):
                small.turn()
            small.seconds.clear()
            while small.turn():
                large.turn()
            small_seconds += small.seconds
    one, other = statistics.median(small_seconds), statistics.median(large.seconds)
    return {
        "items": items,
        "answers before": answers,
        "seconds to open": round(opening, 2),
        "turns measured": [len(small_seconds), len(large.seconds)],
        "median ms, 100 items, fresh": round(one * 1e3, 2),
        "median ms, large": round(other * 1e3, 2),
        "95 % ms, large": round(statistics.quantiles(large.seconds, n=20)[-1] * 1e3, 2),
        "ratio (bar 2)": round(other / one, 2),
        "below 50 ms": other < 0.05,
    }


def bare_rate(place: str | Path, seconds_long: float = 2.0) -> float:
    """Events a second, one insert and commit each, on the store's own writer."""
    with Store(place) as store:
        opened = {"tellapart": "session", "format": 1, "version": "0", "name": "bare"}
        opened |= {"table": {}, "learner": "", "parameters": {}, "seed": 0}
        store.add("bare", [Event(1, new_id(), stamp(0), "opened", None, opened)])
        writer = Writer(store, "bare")
        end, number = time.perf_counter() + seconds_long, 1
        while time.perf_counter() < end:
            number += 1
            data = {"given": new_id(), "item": "i1", "answer": "right"}
            writer.insert(Event(number, new_id(), stamp(0), "answered", "Ann", data))
            writer.commit()
        writer.close()
    return (number - 1) / seconds_long


def team(folder: Path, place: str, teachers: int, answers: int, learner: str | None) -> dict:
    """Many teachers at once, and what the log says afterwards."""
    folder.mkdir()
    make_table(folder / "team.parquet", 4 * answers)
    bare = bare_rate(place)
    with Store(place) as store:
        pretaught(store, folder / "team.parquet", 0, learner)
    tokens = {f"Teacher{n}": f"token-of-teacher-{n:04}" for n in range(teachers)}
    with serving(folder, place, tokens) as address:
        people = [Teacher(address, token, "team", offer=False) for token in tokens.values()]
        people[0].turn()  # opens the session
        share = -(-answers // teachers)
        threads = [threading.Thread(target=one.teach, args=(share,)) for one in people]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        taken = time.perf_counter() - start
    trouble = [one.trouble for one in people if one.trouble]
    acknowledged = dict(pair for one in people for pair in one.acknowledged.items())
    waits = sorted(second for one in people for second in one.seconds)
    with Store(place) as store:
        log = store.log("team")
    told = [event for event in log if event.type == "answered"]
    kept = {event.id: event.data["item"] for event in told}
    # an item whose guess had changed meanwhile comes back for a feature: that is no second answer
    back = {e.id for e in log if e.type == "given" and e.data["asks"] == "feature"}
    times = Counter(e.data["item"] for e in told if e.data["given"] not in back)
    return {
        "teachers": teachers,
        "answers acknowledged": len(acknowledged),
        "lost": len(acknowledged.items() - kept.items()),
        "doubled": len(told) - len(kept) + sum(n > 1 for n in times.values()),
        "came back for a feature": len(told) - times.total(),
        "leased twice at a time": leased_twice(log),
        "trouble": trouble[:3],
        "answers a second": round(len(acknowledged) / taken, 1),
        "events a second": round(len(log) / taken, 1),
        "bare inserts a second": round(bare, 1),
        "median ms a turn": round(statistics.median(waits) * 1e3, 1),
        "95 % ms": round(waits[int(0.95 * len(waits))] * 1e3, 1),
    }


PAGES = ("teach", "rules", "data", "progress", "answers", "answers?tab=odd", "sweep", "export")
MANY, ROWS, LONG, THINK, EVERY = 20, 100_000, 60.0, 1.0, 4
"""Teachers, rows, seconds in all, seconds for an answer, and a page after so many answers."""


class Visitor(Teacher):
    """A teacher who also looks at pages."""

    def visit(self, page: str) -> float:
        start = time.perf_counter()
        headers = {**self.headers, "Accept": "text/html"}
        address = f"{self.base.replace('/api/sessions', '/s')}/{page}"
        self.connection.request("GET", address, headers=headers)
        reply = self.connection.getresponse()
        text = reply.read()
        if reply.status != 200:
            raise RuntimeError(f"{page}: {reply.status}: {text[:300]!r}")
        return time.perf_counter() - start

    def work(self, number: int, end: float, seen: dict[str, list[float]]) -> None:
        dice = np.random.default_rng(number)
        try:
            while time.perf_counter() < end and self.turn():
                time.sleep(dice.exponential(THINK))
                if len(self.acknowledged) % EVERY == number % EVERY:
                    page = PAGES[dice.integers(len(PAGES))]
                    seen[page].append(self.visit(page))
        except (RuntimeError, OSError) as error:
            self.trouble = str(error)


def team_with_pages(folder: Path, learner: str | None) -> dict:
    """Many teachers who answer, and look at pages."""
    folder.mkdir()
    make_table(folder / "team.parquet", ROWS)
    with Store(folder / "team.db") as store:
        pretaught(store, folder / "team.parquet", 300, learner)
    tokens = {f"Teacher{n}": f"token-of-teacher-{n:04}" for n in range(MANY)}
    seen: dict[str, list[float]] = {page: [] for page in PAGES}
    with serving(folder, str(folder / "team.db"), tokens) as address:
        people = [Visitor(address, token, "team", offer=False) for token in tokens.values()]
        people[0].turn()  # opens the session
        people[0].seconds.clear()
        end = time.perf_counter() + LONG
        threads = [
            threading.Thread(target=one.work, args=(n, end, seen)) for n, one in enumerate(people)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    turns = sorted(second for one in people for second in one.seconds)
    pages = sorted(second for some in seen.values() for second in some)
    return {
        "answers": len(turns),
        "pages": len(pages),
        "errors": [one.trouble for one in people if one.trouble],
        "median, 95 %, 99 % s an answer": quantiles(turns),
        "median, 95 %, 99 % s a page": quantiles(pages),
        "slowest s": {page: round(max(some), 2) for page, some in seen.items() if some},
        "machine": os.getloadavg(),
    }


def quantiles(found: list[float]) -> list[float]:
    return [round(float(one), 3) for one in np.quantile(found, (0.5, 0.95, 0.99))]


def leased_twice(log: list[Event]) -> int:
    """How often an item was given to a teacher while another had it."""
    holder: dict[object, tuple[str | None, float]] = {}
    held: dict[str | None, object] = {}
    twice = 0
    for event in log:
        item = event.data.get("item")
        if event.type == "given":
            who, until = holder.get(item, (event.by, 0.0))
            twice += who != event.by and until > seconds(event.at)
            if held.get(event.by) not in (None, item):
                holder.pop(held[event.by], None)
            holder[item] = (event.by, seconds(event.data["until"]))
            held[event.by] = item
        elif event.type == "answered" and holder.get(item, (None, 0))[0] == event.by:
            del holder[item]
            held.pop(event.by, None)
    return twice


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--team-answers", type=int, default=10_000)
    parser.add_argument("--only", choices=["turn", "sqlite", "postgres", "pages"])
    parser.add_argument("--learner")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found: dict[str, object] = {"python": platform.python_version(), "learner": asked.learner}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if asked.only in (None, "turn"):
            found["turn"] = turns(folder, asked.items, asked.answers, asked.learner)
        if asked.only in (None, "sqlite"):
            db = str(folder / "team.db")
            found["sqlite"] = team(folder / "sqlite", db, 8, asked.team_answers, asked.learner)
        if asked.only in (None, "pages"):
            found["pages"] = team_with_pages(folder / "pages", asked.learner)
        if asked.only in (None, "postgres"):
            words = stack.enter_context(postgres_server.server(durable=True))
            parts = dict(part.split("=", 1) for part in words.split())
            url = f"postgresql://{parts['user']}@/{parts['dbname']}?host={parts['host']}"
            found["postgres"] = team(
                folder / "postgres", url, 50, asked.team_answers, asked.learner
            )
    print(json.dumps(found, indent=None if asked.json else 2))


if __name__ == "__main__":
    main()
