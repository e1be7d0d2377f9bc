"""Write a few rich sessions into a folder, for later versions to open; and read one whole.

    python tests/archive_writer.py tests/archive/VERSION

The folder has the tables `zoo.csv` and `pets.csv`. Every session gets a log (`NAME.jsonl`) and the
state it must replay to (`NAME.json`). `old.db` is a SQLite database with two of them. Run it once
for each version whose logs are kept; what is in the archive is never rewritten.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Any

from tellapart.errors import TellapartError
from tellapart.protocol import Guess
from tellapart.sessions import Answered, Ending, Event, Given, Session, Store, export_log
from tellapart.tables import Row, Table, read_table

TEACHERS = ("Ann", "Bob", "Çelik")
FEATURES = {
    "zoo": ["milk", "feathers", "NOT backbone", "legs = 6 OR legs = 8", "fins AND NOT milk"],
    "pets": ["weight > 3.5", "indoor", "note LIKE '%old%'", "colour = 'black'", "legs < 4"],
}
SESSIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "auto": ("zoo", {"order": "random", "overlap": 0.3, "until": {"no mistake in": 10}}),
    "capped": (
        "pets",
        {"learner": "CappedDFF", "parameters": {"m": 12, "remember": True}, "overlap": 1.0},
    ),
    "robust": (
        "zoo",
        {
            "learner": "RobustDFF",
            "parameters": {"m": 9, "k": 4, "s": 1},
            "order": "least sure",
            "labels": ["mammal", "bird"],
            "seed": 5,
        },
    ),
    "strodff": (
        "pets",
        {
            "learner": "StRoDFF",
            "parameters": {"m": 9, "epsilon": 0.2, "sigma": 0.1, "delta": 0.1, "scale": 0.01},
            "order": "random",
            "lease": 60,
            "until": {"or": [{"error below": 0.05}, {"rounds": 50}]},
        },
    ),
    "adaptive": ("zoo", {"learner": "AdaptiveDFF", "overlap": 0.5, "order": "least sure"}),
    "auto-pets": ("pets", {"labels": ["cat", "dog"], "order": "random", "seed": 11}),
}


def table(name: str, folder: Path) -> Table:
    """A table of the archive."""
    return read_table(folder / f"{name}.csv", id="name" if name == "zoo" else None)


class Clock:
    """Seconds that go by as told."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


# -- what a session comes to

JUDGEMENTS = ("estimate", "error", "wrong_left", "rows_left", "may_stop", "stop")
"""What is said of the error. It is no part of the state: a later version may say it better."""


def summary_of(session: Session) -> dict[str, Any]:
    """The counts of a summary, as they were in 0.1: without what came later."""
    found = asdict(session.summary())
    found["recent"] = list(found["recent"].values())
    for later in ("drawn", "draws_used", "recent_draws"):
        del found[later]
    return without_judgements(found)


def without_judgements(summary: dict[str, Any]) -> dict[str, Any]:
    """A summary, as it was kept by any version, without what is said of the error."""
    return {name: value for name, value in summary.items() if name not in JUDGEMENTS}


def outcome(session: Session) -> dict[str, Any]:
    """All that can be read from a session, as JSON."""
    items = list(session.table.items)
    agreement = session.agreement()
    found = {
        "number": session.number,
        "model": json.loads(session.model.to_json()),
        "learner": str(session.learner),
        "history": [answered(one) for one in session.history()],
        "summary": summary_of(session),
        "mistakes": session.mistakes(),
        "labels": session.labels,
        "meanings": session.meanings,
        "label of": [session.label_of(item) for item in items],
        "tags": {
            name: sorted([place, value] for place, value in tag)
            for name, tag in session.table.tags.items()
        },
        "settings": session.settings,
        "teachers": {
            name: [session.can_undo(name), session.can_redo(name), session.search_of(name)]
            for name in session.teachers
        },
        "notes": [event.line() for event in session.notes()],
        "disagreements": [
            [str(one.item), [answer.event for answer in one.answers]]
            for one in session.disagreements()
        ],
        "agreement": list(vars(agreement).values()),
    }
    return plain(found)


def answered(one: Answered) -> list[Any]:
    guess = [one.guess, one.example and one.example.identity]
    said = list(vars(one).values())
    return [*said[:4], one.item.identity, guess, *said[7:]]


def plain(value: Any) -> Any:
    """As JSON gives it back; numbers to nine digits."""
    return json.loads(json.dumps(value), parse_float=lambda text: float(f"{float(text):.9g}"))


def what_follows(session: Session) -> list[Any]:
    """What teachers are given next, with which features; and the model after some undoing."""
    found: list[Any] = []
    for teacher in session.teachers:
        given = session.next(teacher)
        if isinstance(given, Given):
            features = [str(one.feature) for one in session.candidates(given.id, limit=8)]
            example = given.guess.example and given.guess.example.identity
            shown = [given.item.identity, given.guess.label, example, given.asks, given.kept]
            found.append([teacher, shown, features])
        else:
            found.append([teacher, str(given)])
        for way in (session.undo, session.undo, session.undo, session.redo):
            try:
                saved = way(teacher)
            except TellapartError as error:
                found.append(str(error))
            else:
                found.append([saved.event, str(session.model), session.labels])
    return plain(found)


# -- writing


def truth(name: str, item: Row) -> str:
    """What an item is: of the zoo a kind by its features, of the pets another."""
    if name == "zoo":
        if item["milk"]:
            return "mammal"
        if item["feathers"]:
            return "bird"
        return "fish" if item["fins"] else "insect" if item["legs"] == 6 else "other"
    if item["legs"] == 0:
        return "fish"
    if item["legs"] == 2:
        return "bird"
    return "dog" if (item["weight"] or 0) > 5 else "cat"


class Writer:
    """Teachers who do everything that can be done, by dice."""

    def __init__(self, name: str, session: Session, clock: Clock, seed: int) -> None:
        self.name, self.session, self.clock = name, session, clock
        self.dice, self.numbers = random.Random(seed), count(1)
        self.held: dict[str, Given | Ending] = {}

    def run(self, steps: int) -> None:
        acts: tuple[tuple[int, Callable[[str], object]], ...] = (
            (60, self.answer),
            (6, self.session.undo),
            (4, self.back_and_forth),
            (6, self.change),
            (4, self.tag),
            (4, self.drop),
            (6, self.edit),
            (5, self.label),
            (3, self.search),
            (2, self.settings),
            (2, lambda who: self.session.note(who, "odd \N{BIRD}", self.item())),
            (2, self.session.next),  # shown, and not answered
            (1, self.wait),
        )
        early = [0 if act in (self.drop, self.edit) else weight for weight, act in acts]
        late = [weight for weight, _ in acts]
        for step in range(steps):
            self.clock.now += self.dice.randrange(1, 20)
            who = self.dice.choice(TEACHERS)
            _, act = self.dice.choices(acts, early if step < 0.8 * steps else late)[0]
            with suppress(TellapartError, IndexError, ValueError):
                act(who)

    def back_and_forth(self, who: str) -> None:
        for way in (self.session.undo, self.session.undo, self.session.redo):
            way(who)

    def wait(self, _: str) -> None:
        self.clock.now += 3600

    def item(self) -> Any:
        return self.dice.choice(list(self.session.table.items)).identity

    def answer(self, who: str) -> None:
        for name in TEACHERS:  # others look at an item meanwhile
            if name not in self.held:
                self.held[name] = self.session.next(name)
        given = self.held.pop(who)
        if isinstance(given, Given):
            self.session.answer(who, given.id, *self.said(given), id=f"answer-{next(self.numbers)}")

    def said(self, given: Given) -> tuple[str, ...]:
        luck = self.dice.random()
        if luck < 0.05:
            return ("skipped",)
        if luck < 0.1:
            return ("unsure",)
        label = truth(self.name, given.item)
        if luck > 0.95:
            label = self.dice.choice(self.session.labels or ["odd"])
        if label == given.guess.label:
            return ("right",)
        if given.guess.example is None or luck < 0.15:
            return ("wrong", label)
        for text in self.dice.sample(FEATURES[self.name], 1):
            feature = self.session.table.parse(text)
            if feature(given.item) and not feature(given.guess.example):
                return ("wrong", label, text)
        candidates = self.session.candidates(given.id, label)[:2]
        feature = self.dice.choice(candidates).feature if candidates else None
        return ("wrong", label) if feature is None else ("wrong", label, str(feature))

    def change(self, who: str) -> None:
        one = self.dice.choice(self.session.history())
        given = Given(one.event, who, one.item, Guess(one.guess, one.example), "answer", None, 0.0)
        self.session.change(who, one.event, *self.said(given))

    def tag(self, who: str) -> None:
        tag = self.dice.choice(["looks friendly", "noisy"])
        self.session.set_tag(who, tag, self.item(), self.dice.choice([True, True, False, None]))

    def drop(self, who: str) -> None:
        self.session.drop_rule(who, self.rule())

    def edit(self, who: str) -> None:
        condition = self.dice.choice(FEATURES[self.name])
        label = self.dice.choice(self.session.labels)
        self.session.edit_rule(who, self.rule(), condition, label)

    def rule(self) -> Any:
        return self.dice.choice(self.session.model.clauses).example.identity

    def label(self, who: str) -> None:
        labels = self.session.labels
        name, other = self.dice.sample(labels, 2)
        act = self.dice.randrange(4)
        if act == 0:
            self.session.add_label(who, f"new {len(labels)}")
        elif act == 1:
            self.session.rename_label(who, name, f"{name}'")
        elif act == 2 and len(labels) > 5:
            self.session.merge_labels(who, name, other)
        else:
            self.session.describe_label(who, name, self.dice.choice(["as in books", "", "rare"]))

    def search(self, who: str) -> None:
        text = self.dice.choice([*FEATURES[self.name], "bear", "old black", None])
        self.session.search(who, text)

    def settings(self, who: str) -> None:
        self.session.set(
            who,
            **self.dice.choice(
                [{"order": "file"}, {"order": "least sure"}, {"overlap": 0.8}, {"lease": 300}]
            ),
        )


@contextmanager
def replayed(
    store: Store, events: list[Event], tables: Path, kind: str, clock: Clock
) -> Iterator[Session]:
    """A session opened from these events alone."""
    name = f"copy {len(store.sessions())}"
    store.add(name, events)
    with Session.open(store, name, table(kind, tables), clock=clock) as session:
        yield session


def expected(store: Store, events: list[Event], tables: Path, kind: str, now: float) -> Any:
    """What a log replays to: at its end, earlier, and when it goes on."""
    found: dict[str, Any] = {"table": kind, "now": now, "earlier": {}}
    for part in (1, 2, 3):
        number = part * len(events) // 4
        with replayed(store, events[:number], tables, kind, Clock(now)) as session:
            found["earlier"][str(number)] = plain(
                [str(session.model), summary_of(session), session.labels]
            )
    with replayed(store, events, tables, kind, Clock(now)) as session:
        found["outcome"] = outcome(session)
        found["what follows"] = what_follows(session)
    return found


def write(folder: Path) -> None:
    """Write all sessions, each checked against its own replay."""
    scratch = Path(tempfile.mkdtemp())
    with Store(scratch / "all.db") as store, Store(folder / "old.db") as kept:
        for seed, (name, (kind, options)) in enumerate(SESSIONS.items()):
            clock = Clock(1.8e9 + 1e6 * seed)
            made = kept if name in ("auto", "strodff") else store
            with Session.new(made, name, table(kind, folder), clock=clock, **options) as session:
                Writer(kind, session, clock, seed).run(140)
                live = outcome(session)
            lines = list(export_log(made, name))
            events = made.log(name)
            found = expected(store, events, folder, kind, clock.now)
            assert found["outcome"] == live, name
            (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8", newline="\n")
            text = json.dumps(found, ensure_ascii=False, indent=None, separators=(",", ":"))
            (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8", newline="\n")
            summary = live["summary"]
            print(name, len(lines), summary["labelled"], summary["mistakes"], summary["rules"])
    (folder / "old.db.lock").unlink(missing_ok=True)
    shutil.rmtree(scratch)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
