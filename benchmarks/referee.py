"""How often "at most N of the rows left are wrong, with 95 % confidence" is false in a session.

    python benchmarks/referee.py [--lessons 100] [--rows 150] [--kind sweeps ...] [--first 0]

Lessons are real sessions with the default learner: tables are drawn, labels follow a made list of
rules, and some rows are exceptions. Whenever a summary states a bound, it is compared with the rows
that nobody answered and that the present rules label wrongly. A lesson is false if that was above
the bound once. Printed are the share of false lessons with its own 95 % interval (Clopper and
Pearson), and how large the bound was, as a share of the rows left, when half of them were answered.
A statement about models that "got no worse" is judged as if it made no such condition; the last
column has the lessons in which only such statements were false.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tellapart.columns import predict
from tellapart.sessions import Given, Session, Store
from tellapart.tables import Table

LABELS = ("ant", "bee", "crab", "duck")


class Kind(NamedTuple):
    """What happens in a lesson, beside right answers."""

    order: str = "random"
    undone: float = 0.0
    """So many answers are taken back at once."""
    slips: float = 0.0
    """So many answers are wrong at first, and changed some answers later."""
    sweep_every: int = 0
    """After so many answers, a list of up to ten guesses is looked through."""
    teachers: Sequence[str] = ("Ann",)
    mute: float = 0.2
    """How often no reason is given."""


KINDS = {
    "random order": Kind(),
    "mixed order": Kind("mixed"),
    "undo": Kind(undone=0.1),
    "repairs": Kind(slips=0.08),
    "sweeps": Kind("mixed", sweep_every=20),
    "two teachers": Kind(teachers=("Ann", "Bob"), undone=0.03, slips=0.03),
    "all of it": Kind("mixed", 0.05, 0.05, 30, ("Ann", "Bob")),
}


class World:
    """A table, the label of each row, and reasons that may be given."""

    def __init__(self, rows: int, dice: random.Random) -> None:
        bits = [f"b{n}" for n in range(5)]
        cells: dict[str, list[Any]] = {
            name: [dice.random() < 0.5 for _ in range(rows)] for name in bits
        }
        cells["size"] = [round(dice.gauss(10, 4), 1) for _ in range(rows)]
        self.table = Table({"name": [f"r{n}" for n in range(rows)], **cells}, id="name")
        texts = [*bits, *(f"NOT {name}" for name in bits), "size > 10", "size <= 10"]
        self.features = [self.table.parse(text) for text in texts]
        rules = [dice.sample(self.features, dice.randint(1, 2)) for _ in range(dice.randint(1, 5))]
        made = [dice.choice(LABELS) for _ in range(len(rules) + 1)]
        exceptions = dice.choice([0.0, 0.03, 0.1])

        def label(row: Any) -> str:
            if dice.random() < exceptions:
                return dice.choice(LABELS)
            first = (n for n, rule in enumerate(rules) if all(feature(row) for feature in rule))
            return made[next(first, -1)]

        self.labels = [label(row) for row in self.table.items]

    def label(self, item: Any) -> str:
        return self.labels[self.table.place(item)]

    def reason(self, given: Given, dice: random.Random) -> str | None:
        """Something that is true of the item and not of the example."""
        if given.guess.example is None:
            return None
        telling = [f for f in self.features if f(given.item) and not f(given.guess.example)]
        return str(dice.choice(telling)) if telling else None

    def wrong(self, session: Session) -> int:
        """How many rows that nobody answered the present rules label wrongly."""
        said = list(predict(session.model, self.table))
        done = session.taught().keys() | session.waiting()
        return sum(
            said[place] != label for place, label in enumerate(self.labels) if place not in done
        )


class Found(NamedTuple):
    """What a referee saw in a lesson."""

    false: bool = False
    false_lately: bool = False
    rounds: int = 0
    width: float | None = None


def lesson(kind: Kind, rows: int, seed: int, store: Store) -> Found:
    dice = random.Random(f"{kind} {rows} {seed}")
    world = World(rows, dice)
    found, slips = Found(), dict[str, str]()
    with Session.new(store, f"s{seed}", world.table, order=kind.order, seed=seed) as session:
        for turn in range(2 * rows):
            teacher = dice.choice(kind.teachers)
            given = session.next(teacher)
            if not isinstance(given, Given):
                break
            truth = world.label(given.item)
            slip = given.asks != "feature" and dice.random() < kind.slips
            label = dice.choice([one for one in LABELS if one != truth]) if slip else truth
            saved = answer(session, teacher, given, label, world, kind, dice)
            found = judged(found, session, world)
            if slip:
                slips[saved] = teacher
            elif dice.random() < kind.undone and session.can_undo(teacher):
                session.undo(teacher)
                found = judged(found, session, world)
            if slips and dice.random() < 0.2:
                repair(session, world, *slips.popitem())
                found = judged(found, session, world)
            if kind.sweep_every and turn % kind.sweep_every == kind.sweep_every - 1:
                sweep(session, teacher, world, dice)
                found = judged(found, session, world)
    return found


def answer(
    session: Session,
    teacher: str,
    given: Given,
    label: str,
    world: World,
    kind: Kind,
    dice: random.Random,
) -> str:
    """Answer what is given, and return the id of the answer."""
    if given.guess.label == label:
        return session.answer(teacher, given.id, "right").id
    mute = given.asks != "feature" and dice.random() < kind.mute
    reason = None if mute else world.reason(given, dice)
    return session.answer(teacher, given.id, "wrong", label, reason).id


def repair(session: Session, world: World, event: str, teacher: str) -> None:
    """Change an answer that was wrong."""
    known = next((one for one in session.history() if one.event == event), None)
    if known is None or known.undone:
        return
    truth = world.label(known.item)
    words = ("right",) if known.guess == truth else ("wrong", truth)
    session.change(teacher, event, *words)


def sweep(session: Session, teacher: str, world: World, dice: random.Random) -> None:
    """Look through some rows that get one label."""
    left = [label for label, (open_, _) in session.left_to_sweep(teacher).items() if open_]
    if not left:
        return
    label = dice.choice(left)
    items = session.sweep(teacher, label=label, limit=10).items
    right = [item for item in items if world.label(item) == label]
    session.accept(teacher, label, right, [item for item in items if item not in right])


def judged(found: Found, session: Session, world: World) -> Found:
    """Whether what the summary says is false."""
    said = session.summary()
    found = found._replace(rounds=found.rounds + 1)
    if said.error.high > 0.99 or not said.error.rows_left:  # nothing is stated
        return found
    if found.width is None and said.labelled > said.items / 2:
        found = found._replace(width=said.error.wrong_left / said.error.rows_left)
    if world.wrong(session) <= said.error.wrong_left:
        return found
    lately = "got no worse" in said.error.sentence
    return found._replace(
        false=found.false or not lately, false_lately=found.false_lately or lately
    )


def interval(found: int, of: int) -> tuple[float, float]:
    """The 95 % interval of Clopper and Pearson for a share."""

    def share(below: Callable[[float], bool]) -> float:
        low, high = 0.0, 1.0
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if below(middle) else (low, middle)
        return low

    def at_most(count: int, p: float) -> float:
        term = total = (1 - p) ** of
        for n in range(count):
            term *= (of - n) / (n + 1) * p / (1 - p) if p < 1 else 0.0
            total += term
        return total

    low = 0.0 if not found else share(lambda p: 1 - at_most(found - 1, p) < 0.025)
    high = 1.0 if found == of else share(lambda p: at_most(found, p) > 0.025)
    return low, high


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lessons", type=int, default=100)
    parser.add_argument("--rows", type=int, default=150)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--kind", action="append", choices=KINDS)
    chosen = parser.parse_args(arguments)
    for name in chosen.kind or KINDS:
        seen = []
        with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
            for seed in range(chosen.first, chosen.first + chosen.lessons):
                with Store(Path(folder, f"{seed}.db")) as store:
                    seen.append(lesson(KINDS[name], chosen.rows, seed, store))
        false = sum(one.false or one.false_lately for one in seen)
        low, high = interval(false, len(seen))
        lately = sum(one.false_lately and not one.false for one in seen)
        widths = sorted(one.width for one in seen if one.width is not None)
        middle = f"{widths[len(widths) // 2]:.2f}" if widths else "none"
        rounds = sum(one.rounds for one in seen)
        print(
            f"{name}: false in {false} of {len(seen)} lessons, {false / len(seen):.3f}"
            f" [{low:.3f}, {high:.3f}]; {rounds} rounds; bound half-way {middle};"
            f" {lately} only if rules got no worse",
            flush=True,
        )


if __name__ == "__main__":
    main()
